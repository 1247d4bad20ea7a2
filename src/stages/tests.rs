//! Stages against a small web in memory: recordings are made by `redact` from literals, replays are answered by a function.

#![expect(
    clippy::unnecessary_wraps,
    reason = "every answer of a server stands beside one that fails"
)]

mod choose;
mod extraction;
mod fan_out;
mod kinds;
mod minimize;
mod parameterize;
mod steps;
mod validate;
mod verify;

use std::collections::BTreeMap;

use futures::{executor::block_on, future::BoxFuture};
use serde_json::{Value, json};
use url::Url;

use super::{
    Identity, ReplayCall, Replayer,
    analyze::analyze,
    baseline::baseline,
    fixtures::{Entry, alone, done, get, hits, page_text, post, rejected, session},
    parameterize::parameterize,
    rank::rank,
    validate::validate as run_validate,
};
use commis_artifacts::{
    payloads::{
        BaselineFingerprint, Judged, MinimizationReport, RecipeAnalysis, RecipeDraft,
        RecipeDraftMinimized, Replay, SecondRecording,
    },
    recording::{Driver, ResourceType, SessionRecording},
};
use commis_base::{
    error::{Code, Error, Result},
    settings::{DecisionSettings, RankingSettings, RedactSettings},
};
use commis_net::transport::{Reply, Timings};
use commis_recipe::{
    model::TransportKind,
    request::{PreparedRequest, prepare_request},
};
use commis_redact::{raw::RawBody, redact};

type Answer<'a> = Box<dyn FnMut(TransportKind, &PreparedRequest) -> Result<Reply> + Send + 'a>;

/// The world of the replaying stages: one function answers every request; what was sent is kept.
struct FakeReplayer<'a> {
    transports: Vec<TransportKind>,
    answer: Answer<'a>,
    sent: Vec<(TransportKind, PreparedRequest)>,
    /// Replays until `spent`.
    budget: usize,
    journal: BTreeMap<String, Replay>,
    strangers: u32,
    logins: usize,
    identity: Identity,
}

impl<'a> FakeReplayer<'a> {
    /// Answered over `public_http` and, where that fails, in a session: by the client, then in the page.
    fn new(
        answer: impl FnMut(TransportKind, &PreparedRequest) -> Result<Reply> + Send + 'a,
    ) -> Self {
        Self {
            transports: vec![
                TransportKind::PublicHttp,
                TransportKind::ContextRequest,
                TransportKind::InPageFetch,
            ],
            answer: Box::new(answer),
            sent: Vec::new(),
            budget: usize::MAX,
            journal: BTreeMap::new(),
            strangers: 0,
            logins: 0,
            identity: Identity::default(),
        }
    }
}

impl FakeReplayer<'_> {
    fn answered(
        &mut self,
        transport: TransportKind,
        mut outgoing: PreparedRequest,
    ) -> Result<Reply> {
        // A stranger's client has no cookies at all.
        let is_nobody = self.identity == Identity::Stranger && !transport.uses_session();
        if self.logins > 0 && transport.sends_cookies() && !is_nobody {
            outgoing.headers.push(("as".to_owned(), format!("{:?}", self.identity)));
        }
        let reply = (self.answer)(transport, &outgoing);
        self.sent.push((transport, outgoing));
        reply
    }
}

impl Replayer for FakeReplayer<'_> {
    fn transports(&self) -> Vec<TransportKind> {
        self.transports.clone()
    }

    fn send<'b>(&'b mut self, call: ReplayCall<'b>) -> BoxFuture<'b, Result<Reply>> {
        Box::pin(async move {
            let mut values = call.values.clone();
            values.extend(call.slots.iter().map(|it| (it.name.clone(), "live".to_owned())));
            let draft = call.draft(&values)?;
            let mut walk = draft.start();
            while let Some(request) = walk.request()? {
                let reply = self.answered(call.transport, request.clone())?;
                walk.take(request, reply)?;
            }
            walk.reply()
        })
    }

    fn fresh(&mut self) {
        self.strangers += 1;
    }

    fn logins(&self) -> usize {
        self.logins
    }

    fn act_as(&mut self, identity: Identity) {
        self.identity = identity;
        self.fresh();
    }

    fn spent(&self) -> bool {
        self.sent.len() >= self.budget
    }

    fn recall(&mut self, key: &str) -> Option<Replay> {
        self.journal.get(key).cloned()
    }

    fn note(&mut self, key: &str, replay: &Replay) -> Result<()> {
        self.journal.insert(key.to_owned(), replay.clone());
        Ok(())
    }
}

fn ok(data: &Value) -> Result<Reply> {
    Ok(reply(200, "application/json", data.to_string()))
}

fn page(html: impl Into<String>) -> Result<Reply> {
    Ok(reply(200, "text/html", html))
}

fn status(status: u16) -> Result<Reply> {
    Ok(reply(status, "application/json", "{}"))
}

fn fails(code: Code) -> Result<Reply> {
    Err(Error::new(code, "it failed"))
}

fn reply(status: u16, mime: &str, body: impl Into<String>) -> Reply {
    Reply {
        status,
        headers: vec![("content-type".to_owned(), mime.to_owned())],
        body: body.into().into_bytes(),
        url: String::new(),
        hops: 0,
        timings: Timings::default(),
    }
}

/// A query value of a request, empty when it is not there.
fn query(request: &PreparedRequest, name: &str) -> String {
    let url = Url::parse(&request.url).unwrap();
    url.query_pairs().find(|it| it.0 == name).map(|it| it.1.into_owned()).unwrap_or_default()
}

fn driven(recording: &SessionRecording) -> SecondRecording {
    let (recording, values) = (Some(recording.clone()), recording.typed.clone());
    SecondRecording { recording, values, second_login: None }
}

/// rank and analyze with the default settings.
fn choose(first: &SessionRecording, second: &SecondRecording) -> Judged<RecipeAnalysis> {
    match rank(first, second, &RankingSettings::default()) {
        Judged::Done(set) => analyze(first, &set, &DecisionSettings::default()).unwrap(),
        Judged::Rejected(it) => Judged::Rejected(it),
    }
}

/// Everything up to verify against one server, without minimizing.
fn prepared(
    server: &mut FakeReplayer<'_>,
    first: &SessionRecording,
    second: &SecondRecording,
) -> (RecipeDraftMinimized, BaselineFingerprint) {
    let (draft, base) = validated(server, first, second);
    (done(parameterize(first, second, &draft, &unchanged(&draft)).unwrap()), base)
}

fn validated(
    server: &mut FakeReplayer<'_>,
    first: &SessionRecording,
    second: &SecondRecording,
) -> (RecipeDraft, BaselineFingerprint) {
    let analysis = done(choose(first, second));
    let draft = done(block_on(run_validate(server, first, &analysis)).unwrap());
    let base = baseline(first, &draft).unwrap();
    (draft, base)
}

/// A report of minimize that left everything in.
fn unchanged(draft: &RecipeDraft) -> MinimizationReport {
    MinimizationReport {
        trials: Vec::new(),
        request: draft.request.clone(),
        slots: draft.slots.clone(),
        budget_exhausted: false,
    }
}
