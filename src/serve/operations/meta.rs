//! The daemon about itself: version, health, tokens, its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Spec, ToolExposure, row,
    with_default_meta,
};
use crate::{
    answer::ApiError,
    lifecycle,
    principal::{AccessRequirement, AccessRight, Area, Scope},
    remote_listener::PairingKey,
    task_database::TokenView,
    tokens::new_token,
};
use commis_base::error::{Code, Error};

/// As `Scope::parse` reads it.
const SCOPE: &str = r"^(run:(\*|[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)|vault:[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?|(recipes|tasks|learn|browse):(read|write)|browse:(read|write):[A-Za-z0-9_-]{1,40})$";

type OperationOutput<T> = Result<(T, Meta), Box<ApiError>>;

pub fn rows(out: &mut Vec<Operation>) {
    let meta = |name, routes, need, help| Spec {
        name,
        kind: Kind::Meta,
        need,
        routes,
        tool: ToolExposure::Never,
        length: ExecutionMode::Now,
        help,
    };
    out.push(row(
        Spec {
            tool: ToolExposure::All,
            ..meta(
                "health_check",
                &[(HttpMethod::Get, "/api/health")],
                AccessRequirement::Any,
                "Say how the daemon does: its version, what waits and what runs.",
            )
        },
        health,
    ));
    out.push(row(
        meta(
            "version",
            &[(HttpMethod::Get, "/api/version")],
            AccessRequirement::Any,
            "Say which commis this is.",
        ),
        version,
    ));
    out.push(row(
        meta(
            "token_create",
            &[(HttpMethod::Post, "/api/tokens")],
            AccessRequirement::Root,
            "Make a token for a purpose.\nIt is shown once; what is kept is a digest of it.",
        ),
        token_create,
    ));
    out.push(row(
        meta(
            "token_list",
            &[(HttpMethod::Get, "/api/tokens")],
            AccessRequirement::Root,
            "List tokens that hold.",
        ),
        token_list,
    ));
    out.push(row(
        meta(
            "token_revoke",
            &[(HttpMethod::Delete, "/api/tokens/{id}")],
            AccessRequirement::Root,
            "Take a token back.",
        ),
        token_revoke,
    ));
    out.push(row(
        meta(
            "remote_on",
            &[(HttpMethod::Post, "/api/remote/on")],
            AccessRequirement::Root,
            "Open the remote listener, for tokens that were made for a purpose.\nAn address that other machines reach has to be allowed with `allow_remote`.",
        ),
        remote_on,
    ));
    out.push(row(
        meta(
            "remote_off",
            &[(HttpMethod::Post, "/api/remote/off")],
            AccessRequirement::Root,
            "Close the remote listener.",
        ),
        remote_off,
    ));
    out.push(row(
        meta(
            "remote_pair",
            &[(HttpMethod::Post, "/api/remote/pair")],
            AccessRequirement::Root,
            "Make a key that another machine trades once, at `/connect`, for a token.",
        ),
        remote_pair,
    ));
    out.push(row(
        meta(
            "reload",
            &[(HttpMethod::Post, "/api/reload")],
            AccessRequirement::Root,
            "Read the settings again; what runs goes on with the old ones.",
        ),
        reload,
    ));
    out.push(row(
        meta(
            "shutdown",
            &[(HttpMethod::Post, "/api/shutdown")],
            AccessRequirement::Root,
            "End the daemon.\nWith `if_idle` only when nothing waits or runs, and the remote listener is closed.",
        ),
        shutdown,
    ));
    out.push(row(
        meta(
            "dashboard_code",
            &[(HttpMethod::Post, "/api/dashboard/code")],
            AccessRequirement::Root,
            "Make a code that opens the dashboard once, within a minute.",
        ),
        dashboard_code,
    ));
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

/// How the daemon does.
#[derive(Serialize, JsonSchema)]
struct HealthReport {
    version: String,
    /// Since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime_sec: Option<u64>,
    /// Tasks that wait, and that are at work; told to who may read of tasks, as is how long it has served and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    queued: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<usize>,
    recipes: usize,
    verified: usize,
    /// Where the remote listener is, when it is open.
    remote: Option<String>,
}

async fn health(cx: OperationContext, _: NoArgs) -> OperationOutput<HealthReport> {
    let daemon = &cx.daemon;
    let all = daemon.recipes.all()?;
    let seen = || all.iter().filter(|it| cx.principal.sees(it.recipe.name.as_str()));
    let all_told = cx.principal.may(AccessRequirement::May(Area::Tasks, AccessRight::Read), None);
    with_default_meta(HealthReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_sec: all_told.then(|| daemon.started_at.elapsed().as_secs()),
        queued: all_told.then(|| daemon.queue.queued_count()),
        running: all_told.then(|| daemon.queue.at_work()),
        recipes: seen().count(),
        verified: seen().filter(|it| it.is_served()).count(),
        remote: daemon.remote.addr().map(|it| it.to_string()).filter(|_| all_told),
    })
}

/// Which commis this is.
#[derive(Serialize, JsonSchema)]
struct VersionReport {
    version: String,
    /// Which file the program is: another one has another word.
    binary: Option<String>,
    /// Revisions of the Model Context Protocol.
    mcp: Vec<String>,
}

async fn version(cx: OperationContext, _: NoArgs) -> OperationOutput<VersionReport> {
    with_default_meta(VersionReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        binary: cx.daemon.binary.clone(),
        mcp: crate::mcp::versions::versions(),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TokenArgs {
    /// What it may do: `run:NAME` or `run:*`; `recipes`, `tasks`, `learn` or `browse` with `:read` or `:write`; `browse:read:NAME` or `browse:write:NAME` for the owner's page of that name alone.
    #[schemars(length(min = 1, max = 100), inner(regex(pattern = SCOPE)))]
    can: Vec<String>,
    /// How long it holds; for good when absent.
    #[schemars(range(min = 1, max = 31_536_000))]
    expires_sec: Option<u32>,
    /// What it is for.
    #[serde(default)]
    #[schemars(length(max = 50))]
    note: String,
}

#[derive(Serialize, JsonSchema)]
struct CreatedToken {
    /// The token. It is not kept.
    token: String,
    #[serde(flatten)]
    view: TokenView,
}

/// What the schema says of a token to be made. Fails with `PARAM_INVALID`.
fn check_token_request(
    can: &[String],
    expires_sec: Option<u32>,
    note: &str,
) -> commis_base::error::Result<()> {
    let wrong = if !(1..=100).contains(&can.len()) {
        "give 1 to 100 scopes"
    } else if expires_sec.is_some_and(|it| !(1..=31_536_000).contains(&it)) {
        "`expires_sec` is from 1 to 31536000, which is a year"
    } else if note.chars().count() > 50 {
        "`note` has at most 50 characters"
    } else {
        return Ok(());
    };
    Err(Error::new(Code::ParamInvalid, wrong))
}

async fn token_create(cx: OperationContext, args: TokenArgs) -> OperationOutput<CreatedToken> {
    check_token_request(&args.can, args.expires_sec, &args.note)?;
    let scopes = args
        .can
        .iter()
        .map(|it| Scope::parse(it))
        .collect::<commis_base::error::Result<Vec<_>>>()?;
    let (token, view) = new_token(&cx.daemon, &scopes, args.expires_sec, &args.note).await?;
    with_default_meta(CreatedToken { token, view })
}

#[derive(Serialize, JsonSchema)]
struct TokenList {
    tokens: Vec<TokenView>,
}

async fn token_list(cx: OperationContext, _: NoArgs) -> OperationOutput<TokenList> {
    with_default_meta(TokenList { tokens: cx.daemon.read_tokens()? })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TokenIdArgs {
    /// The token's id, as it is listed.
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct RevokedToken {
    id: String,
}

async fn token_revoke(cx: OperationContext, args: TokenIdArgs) -> OperationOutput<RevokedToken> {
    let there = cx.daemon.database.revoke(&args.id).await?;
    cx.daemon.read_tokens()?;
    if !there {
        return Err(Error::new(Code::NoSuchAddress, "there is no such token").into());
    }
    with_default_meta(RevokedToken { id: args.id })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RemoteArgs {
    /// Address and port; port 0 is any that is free.
    bind: String,
    /// Also an address that other machines reach.
    #[serde(default)]
    allow_remote: bool,
}

#[derive(Serialize, JsonSchema)]
struct RemoteStatus {
    /// Where; absent when it is closed.
    addr: Option<String>,
}

async fn remote_on(cx: OperationContext, args: RemoteArgs) -> OperationOutput<RemoteStatus> {
    let bind = args.bind.parse().map_err(|_| {
        Error::new(Code::ParamInvalid, "`bind` is an address and a port, such as 127.0.0.1:0")
    })?;
    let addr = cx.daemon.dispatcher.open_remote(&cx.daemon, bind, args.allow_remote).await?;
    with_default_meta(RemoteStatus { addr: Some(addr.to_string()) })
}

async fn remote_off(cx: OperationContext, _: NoArgs) -> OperationOutput<RemoteStatus> {
    cx.daemon.remote.close();
    with_default_meta(RemoteStatus { addr: None })
}

async fn remote_pair(cx: OperationContext, args: TokenArgs) -> OperationOutput<PairingKey> {
    check_token_request(&args.can, args.expires_sec, &args.note)?;
    with_default_meta(cx.daemon.remote.pair(&args.can, args.expires_sec, args.note)?)
}

#[derive(Serialize, JsonSchema)]
struct ReloadResult {
    reloaded: bool,
}

async fn reload(cx: OperationContext, _: NoArgs) -> OperationOutput<ReloadResult> {
    cx.daemon.reload()?;
    with_default_meta(ReloadResult { reloaded: true })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShutdownArgs {
    /// Only when nothing waits or runs.
    #[serde(default)]
    if_idle: bool,
}

#[derive(Serialize, JsonSchema)]
struct ShutdownResult {
    /// It ends now.
    stopping: bool,
    /// What is at work.
    running: usize,
}

async fn shutdown(cx: OperationContext, args: ShutdownArgs) -> OperationOutput<ShutdownResult> {
    let running = cx.daemon.queue.at_work() + cx.daemon.queue.queued_count();
    let is_idle = running == 0 && cx.daemon.remote.addr().is_none();
    let stopping = !args.if_idle || is_idle;
    if stopping {
        let stop = cx.daemon.stop.clone();
        tokio::spawn(async move {
            // The answer goes out first.
            tokio::time::sleep(lifecycle::BEFORE_THE_END).await;
            stop.cancel();
        });
    }
    with_default_meta(ShutdownResult { stopping, running })
}

#[derive(Serialize, JsonSchema)]
struct DashboardCode {
    /// Stands behind `#` in the dashboard's address.
    code: String,
    url: String,
}

async fn dashboard_code(cx: OperationContext, _: NoArgs) -> OperationOutput<DashboardCode> {
    let code = cx.daemon.dashboard_auth.new_code()?;
    let url = format!("http://{}/#{code}", cx.daemon.addr);
    with_default_meta(DashboardCode { code, url })
}
