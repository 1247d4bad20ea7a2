//! The last step of probing: answers redacted, named, and each kept once; rules of one URL told apart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use url::Url;

use super::{
    super::stubs::{Body, Response, Rule, Stubs, fill},
    MAX_TEXT, Prober,
};
use commis_artifacts::recording::{
    Driver, Excerpt, Initiator, InitiatorKind, ResourceType, TargetKind, Timing,
};
use commis_net::transport::Reply;
use commis_recipe::framing::apply_framing;
use commis_redact::{
    raw::{RawBody, RawExchange, RawPage, RawRecording},
    redact,
};

impl Prober<'_, '_> {
    /// Redacts the answers that rules name and gives the stubs their final form.
    pub(super) async fn finish(mut self, second: &BTreeMap<String, String>) -> Stubs {
        self.tell_apart();
        let used: BTreeSet<usize> = self
            .stubs
            .rules
            .iter_mut()
            .flat_map(names_of)
            .filter_map(|it| it.parse().ok())
            .collect();
        let responses = self.redacted(&used, second);
        let mut names: BTreeMap<usize, String> = BTreeMap::new();
        let mut kept: Vec<(String, Response)> = Vec::new();
        for (at, response) in responses {
            let known = kept.iter().find(|it| it.1 == response).map(|it| it.0.clone());
            let name = known.unwrap_or_else(|| {
                let name = format!("r{:02}", kept.len() + 1);
                kept.push((name.clone(), response));
                name
            });
            names.insert(at, name);
        }
        for rule in &mut self.stubs.rules {
            for it in names_of(rule) {
                if let Some(new) = it.parse().ok().and_then(|at: usize| names.get(&at)) {
                    it.clone_from(new);
                }
            }
            // The first answer to the same values holds.
            let mut told = BTreeSet::new();
            rule.answers.retain(|it| told.insert(json!(it.when).to_string()));
        }
        self.stubs.responses = kept.into_iter().collect();
        // Redaction may have renamed a stand-in: what a stub hands out is what the others want.
        for (slot, stand_in) in std::mem::take(&mut self.chained) {
            let Ok(now) = fill(&self.stubs, std::slice::from_ref(&slot), true).await else {
                continue;
            };
            if let Some(now) = now.get(&slot.name).filter(|it| **it != stand_in) {
                for value in self.stubs.rules.iter_mut().flat_map(values_of) {
                    if let Value::String(it) = value {
                        *it = it.replace(&stand_in, now);
                    }
                }
            }
        }
        self.stubs
    }

    /// Calls to one URL get as marks what differs between them; a second rule with the same marks is dropped.
    fn tell_apart(&mut self) {
        let mut rules: Vec<Rule> = Vec::new();
        let all: Vec<(String, String)> =
            self.stubs.rules.iter().map(|it| (it.method.clone(), it.url.clone())).collect();
        for (i, mut rule) in std::mem::take(&mut self.stubs.rules).into_iter().enumerate() {
            let others: Vec<&BTreeMap<String, Value>> = (0..all.len())
                .filter(|other| *other != i && all[*other] == all[i])
                .map(|other| &self.marks[other])
                .collect();
            let telling =
                |part: &String, value: &Value| others.iter().any(|it| it.get(part) != Some(value));
            rule.is = self.marks[i]
                .iter()
                .filter(|(part, value)| telling(part, value))
                .map(|(part, value)| (part.clone(), value.clone()))
                .collect();
            let known =
                |it: &Rule| it.method == rule.method && it.url == rule.url && it.is == rule.is;
            if !rules.iter().any(known) {
                rules.push(rule);
            }
        }
        self.stubs.rules = rules;
    }

    /// Answers as they may be stored, by their number.
    fn redacted(
        &self,
        used: &BTreeSet<usize>,
        second: &BTreeMap<String, String>,
    ) -> Vec<(usize, Response)> {
        let mut typed = self.recording.typed.clone();
        typed.extend(second.iter().map(|(name, value)| (format!("{name}_second"), value.clone())));
        let raw = RawRecording {
            task: self.recording.task.clone(),
            url: self.recording.url.clone(),
            driver: Driver::Har,
            typed,
            actions: Vec::new(),
            final_answer: None,
            page: RawPage::default(),
            exchanges: used.iter().filter_map(|at| raw_exchange(&self.seen[*at])).collect(),
            blocked: Vec::new(),
            secrets: Vec::new(),
            notes: Vec::new(),
            duration_ms: 0,
            producer: String::new(),
        };
        let exchanges = redact(raw, &self.cx.settings.redact).recording.exchanges;
        used.iter()
            .zip(exchanges)
            .map(|(at, exchange)| {
                let reply = &self.seen[*at];
                let mime = reply.mime();
                let text = || {
                    let text = String::from_utf8_lossy(&reply.body);
                    let text: String = text.chars().take(MAX_TEXT).collect();
                    commis_redact::text(&text, &self.cx.settings.redact)
                };
                let body = match exchange.excerpt {
                    // The frame is part of the answer: a recipe reads through it.
                    Some(Excerpt::Json(it)) if exchange.framing.is_some() => {
                        Body::Text(apply_framing(exchange.framing, &it))
                    }
                    Some(Excerpt::Json(it)) => Body::Json(it),
                    Some(Excerpt::Text(it)) => Body::Text(it),
                    _ => Body::Text(text()),
                };
                (*at, Response { status: reply.status, mime, body })
            })
            .collect()
    }
}

fn raw_exchange(reply: &Reply) -> Option<RawExchange> {
    Some(RawExchange {
        method: "GET".to_owned(),
        url: Url::parse(&reply.url).ok()?,
        request_headers: Vec::new(),
        request_body: None,
        status: Some(reply.status),
        response_headers: Vec::new(),
        mime: reply.mime(),
        resource_type: ResourceType::Fetch,
        initiator: Initiator {
            kind: InitiatorKind::Other,
            has_stack: false,
            page_url: String::new(),
            target: TargetKind::Page,
        },
        timing: Timing::default(),
        after_action: None,
        redirected_from: None,
        encoded_bytes: None,
        body: RawBody::Captured(reply.body.clone()),
    })
}

fn names_of(rule: &mut Rule) -> impl Iterator<Item = &mut String> {
    let needs = rule.needs.iter_mut().map(|it| &mut it.otherwise);
    let answers = rule.answers.iter_mut().map(|it| &mut it.response);
    rule.outside_session.iter_mut().chain(needs).chain(answers).chain(&mut rule.default)
}

fn values_of(rule: &mut Rule) -> impl Iterator<Item = &mut Value> {
    let needs = rule.needs.iter_mut().filter_map(|it| it.value.as_mut());
    let answers = rule.answers.iter_mut().flat_map(|it| it.when.values_mut());
    rule.is.values_mut().chain(needs).chain(answers)
}
