//! For tests: sessions recorded from literals, as redaction leaves them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests alone compile it")]

use commis_artifacts::{
    payloads::{Judged, Reject, SecondRecording},
    recording::{
        Action, ActionKind, Driver, Initiator, InitiatorKind, ResourceType, SessionRecording,
        TargetKind, Timing,
    },
};
use commis_base::settings::RedactSettings;
use commis_redact::{
    raw::{RawBody, RawExchange, RawPage, RawRecording},
    redact,
};
use serde_json::{Value, json};
use url::Url;

/// Six things that a shop sells under a word, on a page of its list.
pub fn hits(word: &str, page: &str) -> Value {
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
pub fn page_text(hits: &Value) -> String {
    let line = |it: &Value| {
        let text = |key: &str| it[key].as_str().unwrap().to_owned();
        format!("{}\n{}\n{}", text("title"), text("maker"), it["price"])
    };
    let lines: Vec<String> = hits["hits"].as_array().unwrap().iter().map(line).collect();
    format!("The shop\n{}\nImprint", lines.join("\n"))
}

/// One request of a recorded session.
#[derive(Clone)]
pub struct Entry {
    pub method: &'static str,
    pub url: String,
    pub headers: Vec<(&'static str, &'static str)>,
    /// MIME type and text.
    pub body: Option<(&'static str, String)>,
    pub status: u16,
    pub mime: &'static str,
    pub answer: String,
}

pub fn get(url: impl Into<String>, answer: &Value) -> Entry {
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

pub fn post(url: &str, body: &Value, answer: &Value) -> Entry {
    Entry { method: "POST", body: Some(("application/json", body.to_string())), ..get(url, answer) }
}

/// A session in which `typed` was typed and `page` was seen at the end; every request followed the typing.
pub fn session(typed: &[(&str, &str)], page: &str, entries: Vec<Entry>) -> SessionRecording {
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

pub fn alone() -> SecondRecording {
    SecondRecording::default()
}

pub fn done<T>(judged: Judged<T>) -> T {
    match judged {
        Judged::Done(it) => it,
        Judged::Rejected(it) => panic!("{it:?}"),
    }
}

pub fn rejected<T: std::fmt::Debug>(judged: Judged<T>) -> Reject {
    match judged {
        Judged::Done(it) => panic!("{it:?}"),
        Judged::Rejected(it) => it,
    }
}
