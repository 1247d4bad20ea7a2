//! Logins: put into a page's context, taken out of one, listed, looked at, removed. No answer holds a value of one.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asked, Kind, Length, Meta, Row, Spec, Tool, Verb, plain, row};
use crate::{answer::Trouble, desks::Desks, principal::Need};
use commis_base::error::{Code, Error};
use commis_browser::desk::Desk;
use commis_vault::{Card, Name, Vault, verdict};

type Out<T> = std::result::Result<(T, Meta), Box<Trouble>>;

/// For the page of a login to come up.
const OPEN: Duration = Duration::from_secs(20);

fn first() -> String {
    "default".to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mount {
    /// As `vault_list` names it.
    name: String,
    /// The page's context; nothing may have been done in it.
    #[serde(default = "first")]
    context: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Save {
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
struct One {
    /// As `vault_list` names it.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

pub fn rows(out: &mut Vec<Row>) {
    out.extend([
        row(
            Spec { tool: Tool::Browse, ..spec("vault_mount", &[(Verb::Post, "/api/vault/mount")], Need::Login, Kind::Write, "Put a login of the vault into a fresh context.\nIts cookies go to its own site alone. A model needs a token that names the login.") },
            mount,
        ),
        row(
            spec("vault_save", &[(Verb::Post, "/api/vault/save")], Need::Root, Kind::Write, "Seal what a context holds of its page's site as a login.\nA login with fewer cookies does not replace a fuller one, unless forced."),
            save,
        ),
        row(
            spec("vault_list", &[(Verb::Post, "/api/vault/list")], Need::Root, Kind::Read, "List the logins of the vault: names, sites, counts and when they end, never values."),
            list,
        ),
        row(
            spec("vault_check", &[(Verb::Post, "/api/vault/check")], Need::Login, Kind::Write, "Open a login's page and say whether it still holds, as far as the page tells."),
            check,
        ),
        row(
            spec("vault_remove", &[(Verb::Post, "/api/vault/remove")], Need::Root, Kind::Write, "Remove a login, all states of it."),
            remove,
        ),
    ]);
}

const fn spec(
    name: &'static str,
    routes: &'static [(Verb, &'static str)],
    need: Need,
    kind: Kind,
    help: &'static str,
) -> Spec {
    Spec { name, kind, need, routes, tool: Tool::Never, length: Length::Now, help }
}

fn vault(asked: &Asked) -> Vault {
    Vault::new(&asked.daemon.home)
}

#[derive(Serialize, JsonSchema)]
struct Mounted {
    name: String,
    site: String,
    /// How many of its cookies the browser did not take.
    refused: usize,
}

async fn mount(asked: Asked, it: Mount) -> Out<Mounted> {
    let name: Name = it.name.parse()?;
    let (card, held) = vault(&asked).open(&name)?;
    if held.is_over() {
        return Err(over(&name).into());
    }
    let of = (&asked.who, &*it.context);
    let refused =
        Desks::with(&asked.daemon, of, async |desk: &mut Desk| desk.mount(&name, &held).await);
    plain(Mounted { name: card.name, site: card.site, refused: refused.await? })
}

/// That a login holds no longer.
pub fn over(name: &Name) -> Error {
    Error::new(Code::SessionRequired, format!("the login `{name}` is over: all its cookies ended"))
        .hint("log in again: `commis session login`")
}

async fn save(asked: Asked, it: Save) -> Out<Card> {
    let name: Name = it.name.parse()?;
    let vault = vault(&asked);
    // Where the page is elsewhere by now, what is saved is still the login's.
    let known = vault.open(&name).ok().map(|it| it.1.url().to_owned());
    let of = (&asked.who, &*it.context);
    let held =
        Desks::with(&asked.daemon, of, async |desk: &mut Desk| desk.held(known.as_deref()).await);
    plain(vault.seal(&name, &held.await?, it.force)?)
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    logins: Vec<Card>,
}

async fn list(asked: Asked, _: Nothing) -> Out<Listed> {
    plain(Listed { logins: vault(&asked).list()? })
}

#[derive(Serialize, JsonSchema)]
struct Looked {
    name: String,
    site: String,
    holds: bool,
    why: String,
}

async fn check(asked: Asked, it: One) -> Out<Looked> {
    let name: Name = it.name.parse()?;
    let vault = vault(&asked);
    let (card, held) = vault.open(&name)?;
    let (holds, why) = if held.is_over() {
        (false, "all its cookies ended")
    } else {
        let mut context = asked.daemon.world().browser.context().await?;
        context.mount(&held).await?;
        verdict(&held, &context.look_in(held.url(), OPEN).await?)
    };
    let checked = vault.checked(&name, holds, why)?;
    plain(Looked { name: card.name, site: card.site, holds, why: checked.why })
}

#[derive(Serialize, JsonSchema)]
struct Removed {
    removed: bool,
}

async fn remove(asked: Asked, it: One) -> Out<Removed> {
    vault(&asked).remove(&it.name.parse()?)?;
    plain(Removed { removed: true })
}
