//! Sessions: what is done on a page that stays, kept, shown, done again, begun from and compared.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    HttpMethod, Kind, Meta, Operation, OperationContext, Params,
    action_history::{self, ActionHistory, LearnRequest},
    row, spec, with_default_meta,
};
use crate::{
    answer::ApiError,
    page_sessions::{PageSessions, TIMEOUT},
    principal::{AccessRequirement, AccessRight, Area, Principal},
    task_database::TaskView,
};
use commis_base::error::{Code, Error, Result};
use commis_browser::{
    page_session::{PageController, ReplayOptions, ReplayOutcome, ReplayedAction},
    sessions::{
        Manifest, SessionAction, SessionRecorder, SessionStore, Verdict,
        audit::Finding,
        compare::{ComparedAction, compare},
        learn,
        locator_cache::{self, ElementMemory, RememberedElement},
        pictures::{Picture, StepDiff},
        traffic,
    },
};

type OperationOutput<T> = std::result::Result<(T, Meta), Box<ApiError>>;

/// No replay takes longer.
const MOST_TIME: Duration = Duration::from_secs(30 * 60);
const WRITE: AccessRequirement = AccessRequirement::May(Area::Browse, AccessRight::Write);
/// About sessions and no page: each is looked at ([`is_theirs`]).
const LOOK: AccessRequirement = AccessRequirement::Sessions(AccessRight::Read);
const CHANGE: AccessRequirement = AccessRequirement::Sessions(AccessRight::Write);

fn first() -> String {
    super::FIRST.to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordArgs {
    /// The page's context.
    #[serde(default = "first")]
    context: String,
    /// What it is called.
    name: String,
    /// Where it begins: an absolute address.
    url: String,
    /// What it is about.
    #[serde(default)]
    task: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EndArgs {
    /// The page's context.
    #[serde(default = "first")]
    context: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// Words of its name, task or address: those that share most of them come first.
    #[serde(default)]
    query: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionIdArgs {
    /// As `session_list` names it.
    id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShowArgs {
    /// As `session_list` names it.
    id: String,
    /// Also what the page showed after that action, where it led elsewhere or failed.
    at: Option<u32>,
    /// Also what was asked for, once it has ended.
    #[serde(default)]
    requests: bool,
    /// Also pictures of the page, by action.
    #[serde(default)]
    pictures: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplayArgs {
    /// As `session_list` names it.
    id: String,
    /// The page's context.
    #[serde(default = "first")]
    context: String,
    /// Other values, by number of the action that takes them.
    #[serde(default)]
    values: Params,
    /// Numbers of actions that may change something where they go; others of that kind are refused.
    #[serde(default)]
    allow: Vec<u32>,
    /// Another address to begin at; its origin stands in for the recorded one.
    url: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForkArgs {
    /// As `session_list` names it.
    id: String,
    /// How many of its actions are done again.
    at: u32,
    /// What the new one is called.
    name: String,
    /// The page's context.
    #[serde(default = "first")]
    context: String,
    /// Numbers of actions that may change something where they go; others of that kind are refused.
    #[serde(default)]
    allow: Vec<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiffArgs {
    /// As `session_list` names it.
    first: String,
    /// Likewise.
    second: String,
    /// Compare what the pages showed as well: pixels of their pictures, and their elements.
    #[serde(default)]
    pictures: bool,
    /// Also pictures of where pixels differ.
    #[serde(default)]
    drawn: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LearnArgs {
    /// As `session_list` names it.
    id: String,
    /// What it is about, with `{parameter}` where values go.
    task: String,
    /// The recipe's name; else made of the task.
    name: Option<String>,
    /// Values that were typed or chosen, by parameter.
    #[serde(default)]
    params: Params,
    /// Other values, to prove the recipe on.
    #[serde(default)]
    second: Params,
    /// A login of the vault to do it with. A token has to name it.
    login: Option<String>,
    /// Another account's login, which must be refused or get something else.
    second_login: Option<String>,
}

pub fn rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            spec("session_record", &[(HttpMethod::Post, "/api/sessions/record")], WRITE, Kind::Write, "Open a page and keep what is done there from now on.\nEach act is on disk before it is answered; what was typed and is secret is left out."),
            record,
        ),
        row(
            spec("session_end", &[(HttpMethod::Post, "/api/sessions/end")], WRITE, Kind::Write, "End the session that a page's acts are kept in."),
            end,
        ),
        row(
            spec("session_list", &[(HttpMethod::Post, "/api/sessions/list")], LOOK, Kind::Read, "List sessions, the newest first; with words, the best first."),
            list,
        ),
        row(
            spec("session_show", &[(HttpMethod::Post, "/api/sessions/show")], LOOK, Kind::Read, "Show what was done in a session."),
            show,
        ),
        row(
            spec("session_replay", &[(HttpMethod::Post, "/api/sessions/replay")], WRITE, Kind::Write, "Do a session again, on the page as it is now.\nElements are found anew. What an act asks for has to be what was recorded, else it is stopped before it leaves."),
            replay,
        ),
        row(
            spec("session_fork", &[(HttpMethod::Post, "/api/sessions/fork")], WRITE, Kind::Write, "Do the first actions of a session again, and keep what is done from there on as another."),
            fork,
        ),
        row(
            spec("session_diff", &[(HttpMethod::Post, "/api/sessions/diff")], LOOK, Kind::Read, "Compare what was done in two sessions."),
            diff,
        ),
        row(
            spec("session_learn", &[(HttpMethod::Post, "/api/sessions/learn")], CHANGE, Kind::Write, "Learn what was done in a session, as a recipe, now or later.\nValues that were typed or chosen become parameters where `params` says so; the steps are driven anew, with these values and with the second ones. Needs `learn:write`, too."),
            learn_session,
        ),
        row(
            spec("session_audit", &[(HttpMethod::Post, "/api/sessions/audit")], LOOK, Kind::Read, "Say what the traffic of a session shows of how its sites keep logins: cookies, forms, addresses, redirects, headers.\nNo value is shown."),
            audited,
        ),
        row(
            spec("session_purge", &[(HttpMethod::Post, "/api/sessions/purge")], CHANGE, Kind::Write, "Remove what was done in a session, and leave its manifest."),
            purge,
        ),
    ]);
}

fn all(cx: &OperationContext) -> SessionStore {
    SessionStore::new(&cx.daemon.home.sessions)
}

/// What their replays found anew.
fn memory(cx: &OperationContext) -> ElementMemory {
    let whose = if cx.principal.scopes.is_some() { &*cx.principal.id } else { "" };
    ElementMemory::new(&cx.daemon.home.sessions, whose)
}

/// Whether a session is theirs to see, or to change: their own, or one of a page that they were granted.
fn is_theirs(principal: &Principal, it: &Manifest, right: AccessRight) -> bool {
    if principal.scopes.is_none() {
        return true;
    }
    if it.owner.is_empty() {
        return principal.is_granted(&it.context) && principal.may_at(&it.context, right);
    }
    it.owner == principal.id && principal.may(AccessRequirement::May(Area::Browse, right), None)
}

/// Somebody else's is not there.
fn owned_session(cx: &OperationContext, id: &str, right: AccessRight) -> Result<Manifest> {
    let it = all(cx).manifest(id)?;
    if !is_theirs(&cx.principal, &it, right) {
        return Err(Error::new(Code::TaskNotFound, "there is no such session")
            .hint("`session ls` lists them"));
    }
    Ok(it)
}

/// Begins one at that page. Fails with `ARTIFACT_IO`.
fn begin_recording(
    cx: &OperationContext,
    context: &str,
    (name, task, url): (&str, &str, &str),
) -> Result<SessionRecorder> {
    let mut it = all(cx).record(name, task, url, cx.principal.owner_of(context))?;
    it.at_page(context)?;
    Ok(it)
}

async fn record(cx: OperationContext, it: RecordArgs) -> OperationOutput<Manifest> {
    let of = (&cx.principal, &*it.context);
    let rules = cx.daemon.runtime().settings.redact.clone();
    let done = PageSessions::with(&cx.daemon, of, async |controller: &mut PageController| {
        let begun = begin_recording(&cx, &it.context, (&it.name, &it.task, &it.url))?.by(&rules);
        controller.record(begun, &it.url).await
    });
    with_default_meta(done.await?)
}

async fn end(cx: OperationContext, it: EndArgs) -> OperationOutput<Manifest> {
    let of = (&cx.principal, &*it.context);
    with_default_meta(
        PageSessions::with(&cx.daemon, of, async |controller: &mut PageController| {
            controller.end().await
        })
        .await?,
    )
}

#[derive(Serialize, JsonSchema)]
struct SessionList {
    sessions: Vec<Manifest>,
}

async fn list(cx: OperationContext, it: ListArgs) -> OperationOutput<SessionList> {
    let mut sessions = all(&cx).list(None, &it.query)?;
    sessions.retain(|it| is_theirs(&cx.principal, it, AccessRight::Read));
    with_default_meta(SessionList { sessions })
}

#[derive(Serialize, JsonSchema)]
struct SessionDetails {
    session: Manifest,
    actions: Vec<SessionAction>,
    /// What a reader should know, as Markdown; empty until it has ended.
    findings: String,
    /// What the page showed after the action that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    /// Elements that replays found anew, by action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remembered: Vec<RememberedElement>,
    /// What was asked for, each with its action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requests: Vec<traffic::RequestRow>,
    /// Pictures of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<Picture>,
}

async fn show(cx: OperationContext, it: ShowArgs) -> OperationOutput<SessionDetails> {
    owned_session(&cx, &it.id, AccessRight::Read)?;
    let (session, actions) = all(&cx).load(&it.id)?;
    let findings = all(&cx).findings(&it.id)?;
    let snapshot = match it.at {
        Some(n) => all(&cx).snapshot(&it.id, n)?,
        None => None,
    };
    let memory = memory(&cx);
    let told = |it: &SessionAction| {
        memory.describe(it.n, &locator_cache::host(&it.url_before)?, it.element.as_ref()?)
    };
    let remembered = actions.iter().filter_map(told).collect();
    let recording = if it.requests { all(&cx).traffic(&it.id)? } else { None };
    let requests = recording.map(|it| traffic::list_requests(&it, &actions)).unwrap_or_default();
    let pictures = if it.pictures { all(&cx).pictures(&it.id)? } else { Vec::new() };
    with_default_meta(SessionDetails {
        session,
        actions,
        findings,
        snapshot,
        remembered,
        requests,
        pictures,
    })
}

/// How long so many actions may take.
fn limit(lines: &[SessionAction]) -> Duration {
    TIMEOUT.saturating_mul(u32::try_from(lines.len()).unwrap_or(u32::MAX)).min(MOST_TIME)
}

async fn fork(cx: OperationContext, it: ForkArgs) -> OperationOutput<Manifest> {
    owned_session(&cx, &it.id, AccessRight::Read)?;
    let sessions = all(&cx);
    let (parent, mut lines) = sessions.load(&it.id)?;
    if it.at == 0 || it.at as usize > lines.len() {
        let why = format!("session {} has {} actions", it.id, lines.len());
        return Err(Error::new(Code::ParamInvalid, why)
            .hint("give the number of the last one to be done again")
            .into());
    }
    lines.truncate(it.at as usize);
    let options = ReplayOptions { allow: it.allow.clone(), ..ReplayOptions::default() };
    let rules = cx.daemon.runtime().settings.redact.clone();
    let begin = || {
        let begun = begin_recording(&cx, &it.context, (&it.name, &parent.task, &parent.url))?;
        let mut begun = begun.by(&rules);
        begun.of_parent(&it.id, it.at)?;
        Ok(begun)
    };
    let of = (&cx.principal, &*it.context);
    let done = PageSessions::within(
        &cx.daemon,
        of,
        limit(&lines),
        async |controller: &mut PageController| controller.fork(&lines, &options, begin).await,
    );
    with_default_meta(done.await?)
}

#[derive(Serialize, JsonSchema)]
struct DiffResult {
    /// Both did the same, and their pages showed the same where that was asked.
    same: bool,
    actions: Vec<ComparedAction>,
    /// What the pages showed, action by action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepDiff>,
}

async fn diff(cx: OperationContext, it: DiffArgs) -> OperationOutput<DiffResult> {
    owned_session(&cx, &it.first, AccessRight::Read)?;
    owned_session(&cx, &it.second, AccessRight::Read)?;
    let sessions = all(&cx);
    let actions = compare(&sessions.load(&it.first)?.1, &sessions.load(&it.second)?.1);
    let mut same =
        actions.iter().all(|it| it.place == commis_browser::sessions::compare::Presence::Both);
    let mut steps = Vec::new();
    if it.pictures || it.drawn {
        steps = sessions.seen_beside(&it.first, &it.second, it.drawn)?;
        same &= !steps.iter().any(StepDiff::differs);
    }
    with_default_meta(DiffResult { same, actions, steps })
}

#[derive(Serialize, JsonSchema)]
struct ReplayReport {
    verdict: Verdict,
    /// Those that were tried.
    actions: Vec<ReplayedAction>,
    /// The first that was refused or differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_difference: Option<String>,
}

async fn replay(cx: OperationContext, it: ReplayArgs) -> OperationOutput<ReplayReport> {
    owned_session(&cx, &it.id, AccessRight::Read)?;
    let (_, lines) = all(&cx).load(&it.id)?;
    let values: BTreeMap<String, String> = it.values.into();
    let number = |(n, value): (String, String)| Some((n.parse().ok()?, value));
    let values: Option<BTreeMap<u32, String>> = values.into_iter().map(number).collect();
    let values = values.ok_or_else(|| {
        Error::new(Code::ParamInvalid, "a key of `values` is not the number of an action")
    })?;
    let memory = Some(memory(&cx));
    let options = ReplayOptions { values, allow: it.allow, url: it.url, memory };
    let of = (&cx.principal, &*it.context);
    let done = PageSessions::within(
        &cx.daemon,
        of,
        limit(&lines),
        async |controller: &mut PageController| controller.replay(&lines, &options).await,
    );
    let actions = done.await?;
    let differs = actions
        .iter()
        .find(|it| matches!(it.outcome, ReplayOutcome::Refused | ReplayOutcome::Differs));
    let first_difference = differs.map(|it| {
        format!("action {}, {}: {}", it.n, it.command, it.why.as_deref().unwrap_or_default())
    });
    let verdict = match (&first_difference, actions.len()) {
        (None, 1..) => Verdict::Pass,
        (Some(_), 2..) => Verdict::Partial,
        _ => Verdict::Fail,
    };
    with_default_meta(ReplayReport { verdict, actions, first_difference })
}

async fn learn_session(cx: OperationContext, it: LearnArgs) -> OperationOutput<TaskView> {
    owned_session(&cx, &it.id, AccessRight::Read)?;
    let (_, lines) = all(&cx).load(&it.id)?;
    let learn::ActionHistory { url, steps, lost } = learn::trail(&lines)?;
    let wanted = LearnRequest {
        task: it.task,
        name: it.name,
        params: it.params,
        second: it.second,
        reads_only: false,
        force: false,
        answer: None,
        second_login: it.second_login,
    };
    action_history::start_learning(cx, ActionHistory { url, steps, lost, login: it.login }, wanted)
        .await
}

#[derive(Serialize, JsonSchema)]
struct AuditResult {
    /// The gravest first.
    findings: Vec<Finding>,
}

async fn audited(cx: OperationContext, it: SessionIdArgs) -> OperationOutput<AuditResult> {
    owned_session(&cx, &it.id, AccessRight::Read)?;
    let Some(findings) = all(&cx).audit(&it.id)? else {
        let err = Error::new(Code::ParamInvalid, "the session has no stored traffic");
        return Err(err
            .hint("the session has not ended, or was interrupted; record it again")
            .into());
    };
    with_default_meta(AuditResult { findings })
}

#[derive(Serialize, JsonSchema)]
struct PurgeResult {
    purged: bool,
}

async fn purge(cx: OperationContext, it: SessionIdArgs) -> OperationOutput<PurgeResult> {
    owned_session(&cx, &it.id, AccessRight::Write)?;
    all(&cx).purge(&it.id)?;
    with_default_meta(PurgeResult { purged: true })
}
