//! Stages against a small web in memory: recordings are made by `redact` from literals, replays are answered by a function.

#![expect(
    clippy::unnecessary_wraps,
    reason = "every answer of a server stands beside one that fails"
)]

mod choose;
mod extraction;
mod minimize;
mod offers;
mod parameterize;
mod validate;
mod verify;

use std::collections::BTreeMap;

use futures::{executor::block_on, future::BoxFuture};
use serde_json::{Value, json};
use url::Url;

use super::{
    Call, Replayer, analyze::analyze, baseline::baseline, parameterize::parameterize, rank::rank,
    validate::validate as run_validate,
};
use crate::{
    artifacts::{
        payloads::{
            BaselineFingerprint, Judged, MinimizationReport, RecipeAnalysis, RecipeDraft,
            RecipeDraftMinimized, Reject, Replay, SecondRecording,
        },
        recording::{
            Action, ActionKind, Driver, Initiator, InitiatorKind, ResourceType, SessionRecording,
            TargetKind, Timing,
        },
    },
    error::{Code, Error, Result},
    recipe::{
        model::TransportKind,
        request::{Outgoing, prepare_request},
    },
    redact::{
        raw::{RawBody, RawExchange, RawPage, RawRecording},
        redact,
    },
    settings::{DecisionSettings, RankingSettings, RedactSettings},
    transport::{Reply, Timings},
};

type Answer<'a> = Box<dyn FnMut(TransportKind, &Outgoing) -> Result<Reply> + Send + 'a>;

/// The world of the replaying stages: one function answers every request; what was sent is kept.
struct Server<'a> {
    transports: Vec<TransportKind>,
    answer: Answer<'a>,
    sent: Vec<(TransportKind, Outgoing)>,
    /// Replays until `spent`.
    budget: usize,
    journal: BTreeMap<String, Replay>,
    strangers: u32,
}

impl<'a> Server<'a> {
    /// Answered over `public_http` and, where that fails, in a session: by the client, then in the page.
    fn new(answer: impl FnMut(TransportKind, &Outgoing) -> Result<Reply> + Send + 'a) -> Self {
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
        }
    }
}

impl Replayer for Server<'_> {
    fn transports(&self) -> Vec<TransportKind> {
        self.transports.clone()
    }

    fn send<'b>(&'b mut self, call: Call<'b>) -> BoxFuture<'b, Result<Reply>> {
        Box::pin(async move {
            let mut values = call.values.clone();
            values.extend(call.slots.iter().map(|it| (it.name.clone(), "live".to_owned())));
            let outgoing = prepare_request(call.request, call.parameters, &values)?;
            let reply = (self.answer)(call.transport, &outgoing);
            self.sent.push((call.transport, outgoing));
            reply
        })
    }

    fn fresh(&mut self) {
        self.strangers += 1;
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
fn query(request: &Outgoing, name: &str) -> String {
    let url = Url::parse(&request.url).unwrap();
    url.query_pairs().find(|it| it.0 == name).map(|it| it.1.into_owned()).unwrap_or_default()
}

/// Six things that a shop sells under a word, on a page of its list.
fn hits(word: &str, page: &str) -> Value {
    let kinds = ["Harbour", "Meadow", "Copper", "Winter", "Velvet", "Granite"];
    let price = word.bytes().chain(page.bytes()).map(u64::from).sum::<u64>();
    let hits: Vec<Value> = (0_u64..)
        .zip(kinds)
        .map(|(i, kind)| {
            json!({"title": format!("{kind} {word} no {i} of page {page}"), "price": price * 7 + i, "maker": format!("{kind} and {word} works")})
        })
        .collect();
    json!({"hits": hits})
}

/// The page that shows those hits.
fn shown(hits: &Value) -> String {
    let line = |it: &Value| {
        let text = |key: &str| it[key].as_str().unwrap().to_owned();
        format!("{}\n{}\n{}", text("title"), text("maker"), it["price"])
    };
    let lines: Vec<String> = hits["hits"].as_array().unwrap().iter().map(line).collect();
    format!("The shop\n{}\nImprint", lines.join("\n"))
}

/// One request of a recorded session.
struct Entry {
    method: &'static str,
    url: String,
    headers: Vec<(&'static str, &'static str)>,
    /// MIME type and text.
    body: Option<(&'static str, String)>,
    status: u16,
    mime: &'static str,
    answer: String,
}

fn get(url: impl Into<String>, answer: &Value) -> Entry {
    Entry {
        method: "GET",
        url: url.into(),
        headers: Vec::new(),
        body: None,
        status: 200,
        mime: "application/json",
        answer: answer.to_string(),
    }
}

fn post(url: &str, body: &Value, answer: &Value) -> Entry {
    Entry { method: "POST", body: Some(("application/json", body.to_string())), ..get(url, answer) }
}

/// A session in which `typed` was typed and `page` was seen at the end; every request followed the typing.
fn session(typed: &[(&str, &str)], page: &str, entries: Vec<Entry>) -> SessionRecording {
    let text = |it: &&str| (*it).to_owned();
    let action = |kind, name: &str, value: &str| Action {
        kind,
        role: Some("searchbox".to_owned()),
        name: Some(name.to_owned()),
        value: Some(value.to_owned()),
        at_ms: 1,
        control: None,
    };
    let mut actions = vec![action(ActionKind::Navigate, "", "http://shop.test/")];
    actions.extend(typed.iter().map(|it| action(ActionKind::Fill, "What", it.1)));
    let last = actions.len() as u32 - 1;
    let values: Vec<String> = typed.iter().map(|it| text(&it.1)).collect();
    let raw = RawRecording {
        task: format!("Look for {} in the shop", values.join(" and ")),
        url: "http://shop.test/".to_owned(),
        driver: Driver::Steps,
        typed: typed.iter().map(|it| (text(&it.0), text(&it.1))).collect(),
        actions,
        final_answer: None,
        page: RawPage {
            url: "http://shop.test/".to_owned(),
            visible_text: page.to_owned(),
            ..RawPage::default()
        },
        exchanges: entries.into_iter().map(|it| it.raw(last)).collect(),
        blocked: Vec::new(),
        secrets: Vec::new(),
        notes: Vec::new(),
        duration_ms: 1,
        producer: "test".to_owned(),
    };
    redact(raw, &RedactSettings::default()).recording
}

impl Entry {
    fn raw(self, after_action: u32) -> RawExchange {
        let pair = |it: (&str, &str)| (it.0.to_owned(), it.1.to_owned());
        let mut request_headers: Vec<_> = self.headers.into_iter().map(pair).collect();
        if let Some((mime, _)) = &self.body {
            request_headers.push(pair(("content-type", mime)));
        }
        let document = self.mime == "text/html";
        RawExchange {
            method: self.method.to_owned(),
            url: Url::parse(&self.url).unwrap(),
            request_headers,
            request_body: self.body.map(|it| it.1.into_bytes()),
            status: Some(self.status),
            response_headers: vec![pair(("content-type", self.mime))],
            mime: self.mime.to_owned(),
            resource_type: if document {
                ResourceType::Document
            } else if self.mime.contains("javascript") {
                ResourceType::Script
            } else {
                ResourceType::Fetch
            },
            initiator: Initiator {
                kind: if document { InitiatorKind::Other } else { InitiatorKind::Script },
                has_stack: !document,
                page_url: "http://shop.test/".to_owned(),
                target: TargetKind::Page,
            },
            timing: Timing { start_ms: 1, ttfb_ms: 1, total_ms: 1 },
            after_action: Some(after_action),
            redirected_from: None,
            encoded_bytes: None,
            body: RawBody::Captured(self.answer.into_bytes()),
        }
    }
}

fn alone() -> SecondRecording {
    SecondRecording { recording: None, values: BTreeMap::new() }
}

fn driven(recording: &SessionRecording) -> SecondRecording {
    SecondRecording { recording: Some(recording.clone()), values: recording.typed.clone() }
}

fn done<T>(judged: Judged<T>) -> T {
    match judged {
        Judged::Done(it) => it,
        Judged::Rejected(it) => panic!("{it:?}"),
    }
}

fn rejected<T: std::fmt::Debug>(judged: Judged<T>) -> Reject {
    match judged {
        Judged::Done(it) => panic!("{it:?}"),
        Judged::Rejected(it) => it,
    }
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
    server: &mut Server<'_>,
    first: &SessionRecording,
    second: &SecondRecording,
) -> (RecipeDraftMinimized, BaselineFingerprint) {
    let (draft, base) = validated(server, first, second);
    (done(parameterize(first, second, &draft, &unchanged(&draft)).unwrap()), base)
}

fn validated(
    server: &mut Server<'_>,
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
