//! Logins: put into a page's context, taken out of one, listed, looked at, removed. No answer holds a value of one.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Spec, ToolExposure, row,
    with_default_meta,
};
use crate::{answer::ApiError, page_sessions::PageSessions, principal::AccessRequirement};
use commis_base::error::{Code, Error};
use commis_browser::page_session::PageController;
use commis_vault::{LoginName, LoginSummary, Vault, judge_probe};

type OperationOutput<T> = std::result::Result<(T, Meta), Box<ApiError>>;

/// For the page of a login to come up.
const OPEN: Duration = Duration::from_secs(20);

fn first() -> String {
    "default".to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MountArgs {
    /// As `vault_list` names it.
    name: String,
    /// The page's context; nothing may have been done in it.
    #[serde(default = "first")]
    context: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SaveArgs {
    /// What the login is called.
    name: String,
    /// The page's context.
    #[serde(default = "first")]
    context: String,
    /// Also where it has fewer cookies than before.
    #[serde(default)]
    force: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoginNameArgs {
    /// As `vault_list` names it.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

pub fn rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            Spec { tool: ToolExposure::Browse, ..spec("vault_mount", &[(HttpMethod::Post, "/api/vault/mount")], AccessRequirement::Login, Kind::Write, "Put a login of the vault into a fresh context.\nIts cookies go to its own site alone. A model needs a token that names the login.") },
            mount,
        ),
        row(
            spec("vault_save", &[(HttpMethod::Post, "/api/vault/save")], AccessRequirement::Root, Kind::Write, "Seal what a context holds of its page's site as a login.\nA login with fewer cookies does not replace a fuller one, unless forced."),
            save,
        ),
        row(
            spec("vault_list", &[(HttpMethod::Post, "/api/vault/list")], AccessRequirement::Root, Kind::Read, "List the logins of the vault: names, sites, counts and when they end, never values."),
            list,
        ),
        row(
            spec("vault_check", &[(HttpMethod::Post, "/api/vault/check")], AccessRequirement::Login, Kind::Write, "Open a login's page and say whether it still holds, as far as the page tells."),
            check,
        ),
        row(
            spec("vault_remove", &[(HttpMethod::Post, "/api/vault/remove")], AccessRequirement::Root, Kind::Write, "Remove a login, all states of it."),
            remove,
        ),
    ]);
}

const fn spec(
    name: &'static str,
    routes: &'static [(HttpMethod, &'static str)],
    need: AccessRequirement,
    kind: Kind,
    help: &'static str,
) -> Spec {
    Spec { name, kind, need, routes, tool: ToolExposure::Never, length: ExecutionMode::Now, help }
}

fn vault(cx: &OperationContext) -> Vault {
    Vault::new(&cx.daemon.home)
}

#[derive(Serialize, JsonSchema)]
struct MountResult {
    name: String,
    site: String,
    /// How many of its cookies the browser did not take.
    refused: usize,
}

async fn mount(cx: OperationContext, it: MountArgs) -> OperationOutput<MountResult> {
    let name: LoginName = it.name.parse()?;
    let (card, held) = vault(&cx).open(&name)?;
    if held.has_expired() {
        return Err(login_expired(&name).into());
    }
    let of = (&cx.principal, &*it.context);
    let refused = PageSessions::with(&cx.daemon, of, async |controller: &mut PageController| {
        controller.mount(&name, &held).await
    });
    with_default_meta(MountResult { name: card.name, site: card.site, refused: refused.await? })
}

/// That a login holds no longer.
pub fn login_expired(name: &LoginName) -> Error {
    Error::new(
        Code::SessionRequired,
        format!("the login `{name}` has expired: all its cookies have ended"),
    )
    .hint("log in again: `commis session login`")
}

async fn save(cx: OperationContext, it: SaveArgs) -> OperationOutput<LoginSummary> {
    let name: LoginName = it.name.parse()?;
    let vault = vault(&cx);
    // Where the page is elsewhere by now, what is saved is still the login's.
    let known = vault.open(&name).ok().map(|it| it.1.url().to_owned());
    let of = (&cx.principal, &*it.context);
    let held = PageSessions::with(&cx.daemon, of, async |controller: &mut PageController| {
        controller.capture_login(known.as_deref()).await
    });
    with_default_meta(vault.seal(&name, &held.await?, it.force)?)
}

#[derive(Serialize, JsonSchema)]
struct LoginList {
    logins: Vec<LoginSummary>,
}

async fn list(cx: OperationContext, _: NoArgs) -> OperationOutput<LoginList> {
    with_default_meta(LoginList { logins: vault(&cx).list()? })
}

#[derive(Serialize, JsonSchema)]
struct LoginCheck {
    name: String,
    site: String,
    holds: bool,
    why: String,
}

async fn check(cx: OperationContext, it: LoginNameArgs) -> OperationOutput<LoginCheck> {
    let name: LoginName = it.name.parse()?;
    let vault = vault(&cx);
    let (card, held) = vault.open(&name)?;
    let (holds, why) = if held.has_expired() {
        (false, "all its cookies ended")
    } else {
        let mut context = cx.daemon.runtime().browser.context().await?;
        context.mount(&held).await?;
        judge_probe(&held, &context.look_in(held.url(), OPEN).await?)
    };
    let checked = vault.record_check(&name, holds, why)?;
    with_default_meta(LoginCheck { name: card.name, site: card.site, holds, why: checked.why })
}

#[derive(Serialize, JsonSchema)]
struct RemoveResult {
    removed: bool,
}

async fn remove(cx: OperationContext, it: LoginNameArgs) -> OperationOutput<RemoveResult> {
    vault(&cx).remove(&it.name.parse()?)?;
    with_default_meta(RemoveResult { removed: true })
}
