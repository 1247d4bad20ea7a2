//! Response stubs made by asking a live site: what it answers to both examples and to values nobody has, and which parts
//! of the request it looks at.
//!
//! Every part is left out once and what needs it is noted; the answers go through redaction like a recording's. A request
//! that may change something is never sent: for it the recorded answer stands in.

mod chained;
mod finish;
mod sent;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use url::Url;

use super::{
    request_parts::{RequestParts, decode, edit},
    stubs::{Answer, Body, Need, Response, Rule, Stubs, fill},
};
use commis_artifacts::{
    payloads::{BaselineFingerprint, RecipeDraftMinimized},
    recording::{Excerpt, Exchange, Place, SessionRecording},
};
use commis_base::error::{Class, Code, Result};
use commis_learn::{LearnContext, TaskReplayer};
use commis_net::transport::{Reply, Timings};
use commis_recipe::{
    framing::{apply_framing, detect},
    model::{RequestTemplate, Slot, TransportKind},
    request::prepare_request,
    shape,
};
use commis_redact::markup::visible_text;
use commis_stages::{
    ReplayCall, Replayer as _, data_difference_bp, effect::judge_recorded, replay_template, verify,
};

/// A value that finds nothing.
const UNKNOWN: &str = "zzzqx";
/// A value that no site hands out.
const OTHER: &str = "another-value";
/// What an answer may differ by from itself and still be the same, basis points, beyond what two equal calls differ by.
const MARGIN_BP: u32 = 500;
/// What is tried where a stranger is refused, least risky first.
const IN_SESSION: [TransportKind; 2] = [TransportKind::ContextRequest, TransportKind::InPageFetch];
/// Bytes of a page or script in a stub.
const MAX_TEXT: usize = 128 * 1024;

/// An exchange to make a rule of.
pub struct ProbeTarget<'a> {
    pub exchange: &'a Exchange,
    /// The same call in the second recording.
    pub twin: Option<&'a Exchange>,
    /// Every part is tried, not only the examples.
    pub thorough: bool,
    /// Learning it, with everything the recorded session knew, was told to log in.
    pub refused: bool,
}

/// A proof of several requests, steps or pages, that no recording holds all of.
pub struct ProofToRepeat<'a> {
    pub draft: &'a RecipeDraftMinimized,
    pub baseline: &'a BaselineFingerprint,
    pub expect: &'a verify::Expectation,
}

/// What was found out about one target.
pub struct ProbeResult {
    /// The least risky transport that was answered; `None` where nothing could be sent.
    pub transport: Option<TransportKind>,
    /// Two equal calls got different data.
    pub volatile: bool,
}

/// Asks the live site and returns stubs, and what was found out about each target. Fails with `BROWSER_*` only.
pub async fn probe(
    replayer: &mut TaskReplayer<'_>,
    cx: &LearnContext,
    recording: &SessionRecording,
    (second, further): (&BTreeMap<String, String>, &[BTreeMap<String, String>]),
    targets: &[ProbeTarget<'_>],
    proof: Option<ProofToRepeat<'_>>,
) -> Result<(Stubs, Vec<ProbeResult>)> {
    let mut prober = Prober {
        replayer,
        cx,
        recording,
        second,
        further,
        stubs: Stubs { transports: vec![TransportKind::PublicHttp], ..Stubs::default() },
        seen: Vec::new(),
        marks: Vec::new(),
        chained: Vec::new(),
    };
    let mut found = Vec::new();
    for target in targets {
        found.push(prober.target(target).await?);
    }
    if let Some(it) = proof {
        prober.repeat(it).await?;
    }
    Ok((prober.finish(second).await, found))
}

struct Prober<'a, 'w> {
    replayer: &'a mut TaskReplayer<'w>,
    cx: &'a LearnContext,
    recording: &'a SessionRecording,
    second: &'a BTreeMap<String, String>,
    /// Values of examples after the second.
    further: &'a [BTreeMap<String, String>],
    stubs: Stubs,
    /// Raw answers; rules name them by their number until the end.
    seen: Vec<Reply>,
    /// By rule: parts that might tell it from others at the same URL.
    marks: Vec<BTreeMap<String, Value>>,
    /// Slots that a plain GET fills, and what stands for the value.
    chained: Vec<(Slot, String)>,
}

/// The recorded request as it is asked, and what it answered.
struct ProbedRequest {
    template: RequestTemplate,
    slots: Vec<Slot>,
    transport: TransportKind,
    /// Slots stand for themselves.
    parts: RequestParts,
    answer: usize,
    /// Difference of two equal calls, basis points.
    noise: u32,
}

impl Prober<'_, '_> {
    async fn target(&mut self, target: &ProbeTarget<'_>) -> Result<ProbeResult> {
        let exchange = target.exchange;
        let nothing = ProbeResult { transport: None, volatile: false };
        let Some((template, slots)) = replay_template(exchange) else { return Ok(nothing) };
        self.learn_slots(&slots).await?;
        let Some(parts) = self.parts(&template, &slots).await else { return Ok(nothing) };
        // Values that are good once, or for one request, have no rule: what the session itself was told holds for all.
        if target.refused && !slots.is_empty() {
            for kind in IN_SESSION {
                self.offer(kind);
            }
            self.refuse(target, &parts);
            return Ok(nothing);
        }
        let harmless = judge_recorded(exchange, self.recording).into_result().is_ok();
        let first = if harmless { self.first(&template, &slots).await? } else { None };
        let Some((transport, answer, outside)) = first else {
            self.recorded(target, &parts).await;
            return Ok(nothing);
        };
        let mut rule = Rule {
            method: parts.method.clone(),
            url: String::new(),
            is: BTreeMap::new(),
            outside_session: outside.map(name),
            needs: Vec::new(),
            answers: Vec::new(),
            default: Some(name(answer)),
        };
        let mut probed = ProbedRequest { template, slots, transport, parts, answer, noise: 0 };
        let mut keys = BTreeSet::new();
        let good = self.good(answer);
        if good {
            if let Some(again) = self.send_edited(&probed, &[]).await? {
                probed.noise = self.difference(answer, again);
            }
            keys = self.examples(&probed, target, &mut rule).await?;
            if target.thorough {
                self.leave_out(&probed, &keys, &mut rule).await?;
                self.count_on(&probed, &keys, &mut rule).await?;
            }
        }
        let (volatile, transport) = (probed.noise > 0, probed.transport);
        self.add(rule, &probed.parts, &keys, target);
        Ok(ProbeResult { transport: good.then_some(transport), volatile })
    }

    /// The first answer: by a stranger's transport, or else in a session; then with what strangers are told.
    async fn first(
        &mut self,
        template: &RequestTemplate,
        slots: &[Slot],
    ) -> Result<Option<(TransportKind, usize, Option<usize>)>> {
        let public = self.send(TransportKind::PublicHttp, template, slots).await?;
        if let Some(it) = public.filter(|it| self.good(*it)) {
            return Ok(Some((TransportKind::PublicHttp, it, None)));
        }
        let mut inside = None;
        for kind in IN_SESSION {
            let answer = self.send(kind, template, slots).await?;
            if let Some(it) = answer.filter(|it| self.good(*it)) {
                inside = Some((kind, it));
                break;
            }
        }
        let Some((kind, inside)) = inside else {
            // Refused to all: each may ask, and hears so.
            for kind in IN_SESSION {
                self.offer(kind);
            }
            return Ok(public.map(|it| (TransportKind::PublicHttp, it, None)));
        };
        self.offer(kind);
        // A stranger has no values of the session: what are they told without them?
        let outside = if public.is_some() {
            public
        } else {
            let mut bare = template.clone();
            let parts = self.parts(template, slots).await;
            let held: BTreeSet<&String> = self.stubs.session.values().collect();
            for (part, value) in parts.iter().flat_map(|it| &it.values) {
                if value.as_str().is_some_and(|it| held.iter().any(|held| it.contains(*held))) {
                    edit(&mut bare, part, None);
                }
            }
            self.send(TransportKind::PublicHttp, &bare, &[]).await?
        };
        Ok(Some((kind, inside, outside.filter(|it| !self.good(*it)))))
    }

    fn offer(&mut self, kind: TransportKind) {
        if !self.stubs.transports.contains(&kind) {
            self.stubs.transports.push(kind);
            self.stubs.transports.sort_unstable();
        }
    }

    /// What both examples and unknown values answer. Returns the parts that decide.
    async fn examples(
        &mut self,
        probed: &ProbedRequest,
        target: &ProbeTarget<'_>,
        rule: &mut Rule,
    ) -> Result<BTreeSet<String>> {
        let mut changes = self.changes(probed, target).await;
        let mut keys = BTreeSet::new();
        let mut single = BTreeMap::new();
        for (part, value) in &changes {
            let edits = [(part.clone(), Some(value.clone()))];
            if let Some(it) = self.send_edited(probed, &edits).await?
                && !self.same(probed, it)
            {
                keys.insert(part.clone());
                single.insert(part.clone(), it);
            }
        }
        let all: Vec<(String, Option<Value>)> =
            changes.iter().map(|(part, value)| (part.clone(), Some(value.clone()))).collect();
        let b = if all.is_empty() { None } else { self.send_edited(probed, &all).await? };
        if keys.is_empty() && b.is_some_and(|it| !self.same(probed, it)) {
            keys = changes.keys().cloned().collect();
        }
        let further: Vec<BTreeMap<String, Value>> =
            self.further.iter().map(|it| self.typed_as(it, probed, target)).collect();
        for (part, value) in further.iter().flatten() {
            let edits = [(part.clone(), Some(value.clone()))];
            if !keys.contains(part)
                && let Some(it) = self.send_edited(probed, &edits).await?
                && !self.same(probed, it)
            {
                keys.insert(part.clone());
            }
        }
        if keys.is_empty() {
            return Ok(keys);
        }
        // All of them as they are, and each alone in the first example.
        for values in &further {
            let all: Vec<(String, Option<Value>)> =
                values.iter().map(|(part, value)| (part.clone(), Some(value.clone()))).collect();
            let each = all.iter().map(std::slice::from_ref);
            for edits in std::iter::once(&all[..]).chain(each.filter(|_| all.len() > 1)) {
                if let Some(answer) = self.send_edited(probed, edits).await? {
                    rule.answers.push(answer_to(probed, &keys, edits, answer));
                }
            }
        }
        changes.retain(|part, _| keys.contains(part));
        let list: Vec<(&String, &Value)> = changes.iter().collect();
        // Each parameter alone is looked at by verify, so that all combinations must be known.
        let combinations = if list.len() <= 4 { 1_u32 << list.len() } else { 0 };
        for mask in 1..combinations.saturating_sub(1) {
            let chosen: Vec<usize> = (0..list.len()).filter(|i| mask & (1 << i) != 0).collect();
            let edits: Vec<(String, Option<Value>)> =
                chosen.iter().map(|i| (list[*i].0.clone(), Some(list[*i].1.clone()))).collect();
            let answer = match &chosen[..] {
                [one] if single.contains_key(list[*one].0) => single.get(list[*one].0).copied(),
                _ => self.send_edited(probed, &edits).await?,
            };
            if let Some(answer) = answer {
                rule.answers.push(answer_to(probed, &keys, &edits, answer));
            }
        }
        // A name that comes more than once holds several parameters: each alone again.
        for (part, other) in &list {
            let Some((now, other)) =
                probed.parts.values.get(*part).and_then(Value::as_array).zip(other.as_array())
            else {
                continue;
            };
            for i in (0..now.len()).filter(|i| other.get(*i).is_some_and(|it| *it != now[*i])) {
                let mut mixed = now.clone();
                mixed[i] = other[i].clone();
                let edits = [((*part).clone(), Some(Value::Array(mixed)))];
                if let Some(answer) = self.send_edited(probed, &edits).await? {
                    rule.answers.push(answer_to(probed, &keys, &edits, answer));
                }
            }
        }
        rule.answers.insert(0, answer_to(probed, &keys, &[], probed.answer));
        if let Some(it) = b {
            let edits: Vec<_> = list.iter().map(|it| (it.0.clone(), Some(it.1.clone()))).collect();
            rule.answers.insert(1, answer_to(probed, &keys, &edits, it));
        }
        let unknown: Vec<(String, Option<Value>)> =
            keys.iter().map(|it| (it.clone(), Some(self.unknown(probed, it)))).collect();
        rule.default = self.send_edited(probed, &unknown).await?.map(name);
        Ok(keys)
    }

    /// Parts that the second example has otherwise, and how.
    async fn changes(
        &mut self,
        probed: &ProbedRequest,
        target: &ProbeTarget<'_>,
    ) -> BTreeMap<String, Value> {
        let mut out = BTreeMap::new();
        if let Some((template, slots)) = target.twin.and_then(replay_template)
            && let Some(other) = self.parts(&template, &slots).await
            && other.path.len() == probed.parts.path.len()
        {
            for (part, value) in &other.values {
                if probed.parts.values.get(part).is_some_and(|it| it != value) {
                    out.insert(part.clone(), value.clone());
                }
            }
            return out;
        }
        // It was not driven.
        self.typed_as(self.second, probed, target)
    }

    /// The parts that hold what was typed, with these values instead.
    fn typed_as(
        &self,
        values: &BTreeMap<String, String>,
        probed: &ProbedRequest,
        target: &ProbeTarget<'_>,
    ) -> BTreeMap<String, Value> {
        let mut out = BTreeMap::new();
        for hit in &target.exchange.measures.typed_in_request {
            let part = part_of(hit.place, &hit.key);
            let (Some(now), Some(typed), Some(other)) = (
                probed.parts.values.get(&part).and_then(Value::as_str),
                self.recording.typed.get(&hit.name),
                values.get(&hit.name),
            ) else {
                continue;
            };
            out.insert(part, Value::String(replaced(now, typed, other)));
        }
        out
    }

    /// The part's value with what was typed made into what nobody has.
    fn unknown(&self, probed: &ProbedRequest, part: &str) -> Value {
        match probed.parts.values.get(part) {
            Some(Value::Number(_)) => json!(999_983),
            Some(Value::String(now)) => {
                let typed =
                    self.recording.typed.values().find(|it| {
                        !it.is_empty() && now.to_lowercase().contains(&it.to_lowercase())
                    });
                match typed {
                    Some(typed) => Value::String(replaced(now, typed, UNKNOWN)),
                    None if now.parse::<i64>().is_ok() => json!("999983"),
                    None => json!(UNKNOWN),
                }
            }
            _ => json!(UNKNOWN),
        }
    }

    /// Leaves out each part once, and the headers all at once.
    async fn leave_out(
        &mut self,
        probed: &ProbedRequest,
        keys: &BTreeSet<String>,
        rule: &mut Rule,
    ) -> Result<()> {
        let parts = removable(&probed.parts);
        let mut telling = false;
        for part in &parts {
            let edits = [(part.clone(), None)];
            let Some(answer) = self.send_edited(probed, &edits).await? else { continue };
            if self.same(probed, answer) {
                continue;
            }
            telling |= part.starts_with("header:");
            if self.good(answer) {
                rule.answers.push(answer_to(probed, keys, &edits, answer));
                continue;
            }
            let mut value = None;
            let is_key = keys.iter().any(|it| it == part || it.starts_with(&format!("{part}/")));
            if !is_key && probed.parts.values.get(part).is_some_and(Value::is_string) {
                let other = self.send_edited(probed, &[(part.clone(), Some(json!(OTHER)))]).await?;
                if other.is_none_or(|it| !self.same(probed, it)) {
                    value = probed.parts.values.get(part).cloned();
                }
            }
            rule.needs.push(Need { part: part.clone(), value, otherwise: name(answer) });
        }
        let headers: Vec<(String, Option<Value>)> = parts
            .iter()
            .filter(|it| it.starts_with("header:"))
            .map(|it| (it.clone(), None))
            .collect();
        if !telling
            && headers.len() > 1
            && let Some(answer) = self.send_edited(probed, &headers).await?
            && !self.same(probed, answer)
        {
            rule.answers.push(answer_to(probed, keys, &headers, answer));
        }
        Ok(())
    }

    /// Numbers that page through results: the next value and half of it.
    async fn count_on(
        &mut self,
        probed: &ProbedRequest,
        keys: &BTreeSet<String>,
        rule: &mut Rule,
    ) -> Result<()> {
        for (part, value) in &probed.parts.values {
            if keys.contains(part) || part.starts_with("header:") || part.starts_with("path:") {
                continue;
            }
            let number = match value {
                Value::Number(it) => it.as_i64(),
                Value::String(it) => it.parse::<i64>().ok().filter(|it| *it < 1_000_000),
                _ => None,
            };
            let Some(number) = number else { continue };
            for other in
                [Some(number + 1), (number >= 5).then_some(number / 2)].into_iter().flatten()
            {
                let other = if value.is_string() { json!(other.to_string()) } else { json!(other) };
                let edits = [(part.clone(), Some(other))];
                if let Some(answer) = self.send_edited(probed, &edits).await?
                    && !self.same(probed, answer)
                {
                    rule.answers.push(answer_to(probed, keys, &edits, answer));
                }
            }
        }
        Ok(())
    }

    /// A rule out of the recordings alone, for what cannot or must not be sent.
    async fn recorded(&mut self, target: &ProbeTarget<'_>, parts: &RequestParts) {
        let Some(answer) = self.keep_recorded(target.exchange) else { return };
        let mut rule = Rule {
            method: parts.method.clone(),
            url: String::new(),
            is: BTreeMap::new(),
            outside_session: None,
            needs: Vec::new(),
            answers: Vec::new(),
            default: None,
        };
        // A value that only the session had is taken to be needed, and to be good for this one call.
        let live: BTreeSet<&String> = self
            .stubs
            .session
            .iter()
            .filter(|it| it.0.starts_with("live:"))
            .map(|it| it.1)
            .collect();
        let held = parts.values.iter().filter(|(_, value)| {
            value.as_str().is_some_and(|it| live.iter().any(|held| it.contains(held.as_str())))
        });
        let held: Vec<(String, Value)> =
            held.map(|(part, value)| (part.clone(), value.clone())).collect();
        if !held.is_empty() {
            let refusal = self.refusal(target);
            for (part, value) in held {
                rule.needs.push(Need { part, value: Some(value), otherwise: name(refusal) });
            }
            let typed = target.exchange.measures.typed_in_request.iter();
            let keys: BTreeSet<String> = typed.map(|it| part_of(it.place, &it.key)).collect();
            let pair = |it: &String| Some((it.clone(), parts.values.get(it)?.clone()));
            let when = keys.iter().filter_map(pair).collect();
            rule.answers.push(Answer { when, response: name(answer) });
            rule.default = Some(name(refusal));
            self.add(rule, parts, &keys, target);
            return;
        }
        let mut keys = BTreeSet::new();
        let twin = target.twin.and_then(replay_template);
        if let Some((template, slots)) = twin
            && let Some(other) = self.parts(&template, &slots).await
            && let Some(second) = target.twin.and_then(|it| self.keep_recorded(it))
        {
            let differ = |part: &&String| parts.values.get(*part) != other.values.get(*part);
            keys = parts.values.keys().filter(differ).cloned().collect();
            for (values, answer) in [(&parts.values, answer), (&other.values, second)] {
                let pair = |it: &String| Some((it.clone(), values.get(it)?.clone()));
                let when = keys.iter().filter_map(pair).collect();
                rule.answers.push(Answer { when, response: name(answer) });
            }
        } else {
            rule.default = Some(name(answer));
        }
        self.add(rule, parts, &keys, target);
    }

    fn refuse(&mut self, target: &ProbeTarget<'_>, parts: &RequestParts) {
        let refusal = self.refusal(target);
        let rule = Rule {
            method: parts.method.clone(),
            url: String::new(),
            is: BTreeMap::new(),
            outside_session: None,
            needs: Vec::new(),
            answers: Vec::new(),
            default: Some(name(refusal)),
        };
        self.add(rule, parts, &BTreeSet::new(), target);
    }

    /// What a site says to whoever has not the right values.
    fn refusal(&mut self, target: &ProbeTarget<'_>) -> usize {
        self.seen.push(Reply {
            status: 403,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: b"{}".to_vec(),
            url: target.exchange.url.clone(),
            hops: 0,
            timings: Timings::default(),
        });
        self.seen.len() - 1
    }

    fn keep_recorded(&mut self, exchange: &Exchange) -> Option<usize> {
        let (mime, body) = match exchange.excerpt.as_ref()? {
            Excerpt::Json(it) if exchange.framing.is_some() => {
                (exchange.mime.as_str(), apply_framing(exchange.framing, it))
            }
            Excerpt::Json(it) => ("application/json", it.to_string()),
            Excerpt::Html(it) => ("text/html", it.clone()),
            Excerpt::Text(it) => ("text/plain", it.clone()),
        };
        self.seen.push(Reply {
            status: exchange.status?,
            headers: vec![("content-type".to_owned(), mime.to_owned())],
            body: body.into_bytes(),
            url: exchange.url.clone(),
            hops: 0,
            timings: Timings::default(),
        });
        Some(self.seen.len() - 1)
    }

    fn add(
        &mut self,
        mut rule: Rule,
        parts: &RequestParts,
        keys: &BTreeSet<String>,
        target: &ProbeTarget<'_>,
    ) {
        let typed: BTreeSet<String> = target
            .exchange
            .measures
            .typed_in_request
            .iter()
            .map(|it| part_of(it.place, &it.key))
            .collect();
        let url = Url::parse(&target.exchange.url).ok();
        let raw = url.iter().flat_map(|it| it.path_segments().into_iter().flatten());
        let path: Vec<&str> = raw
            .enumerate()
            .map(|(i, it)| {
                let part = format!("path:{i}");
                // What a slot puts there is another value each time.
                let filled = parts.path.get(i).is_some_and(|own| *own != decode(it));
                if keys.contains(&part) || typed.contains(&part) || filled { "*" } else { it }
            })
            .collect();
        rule.url = format!("{}/{}", parts.origin, path.join("/"));
        // What varies from call to call tells no operation.
        let marks = parts
            .values
            .iter()
            .filter(|(part, value)| {
                !keys.contains(*part)
                    && !part.starts_with("header:")
                    && !part.starts_with("path:")
                    && value.as_str().is_some_and(|it| it.parse::<i64>().is_err())
            })
            .map(|(part, value)| (part.clone(), value.clone()))
            .collect();
        self.stubs.rules.push(rule);
        self.marks.push(marks);
    }

    /// The request by its parts, with stand-ins for slots.
    async fn parts(&self, template: &RequestTemplate, slots: &[Slot]) -> Option<RequestParts> {
        let raw = self.raw();
        let values = fill(&raw, slots, true).await.ok()?;
        RequestParts::from_request(&prepare_request(template, &[], &values).ok()?)
    }

    /// The stubs so far with raw answers, good for filling slots only.
    fn raw(&self) -> Stubs {
        let mut out = self.stubs.clone();
        for rule in &out.rules {
            for at in rule.default.iter().filter_map(|it| it.parse::<usize>().ok()) {
                let reply = &self.seen[at];
                out.responses.insert(
                    name(at),
                    Response {
                        status: reply.status,
                        mime: reply.mime(),
                        body: Body::Text(String::from_utf8_lossy(&reply.body).into_owned()),
                    },
                );
            }
        }
        out
    }

    async fn send_edited(
        &mut self,
        probed: &ProbedRequest,
        edits: &[(String, Option<Value>)],
    ) -> Result<Option<usize>> {
        let mut template = probed.template.clone();
        for (part, value) in edits {
            edit(&mut template, part, value.as_ref());
        }
        self.send(probed.transport, &template, &probed.slots).await
    }

    /// The number of the answer; `None` when it could not be sent or nothing answered.
    async fn send(
        &mut self,
        transport: TransportKind,
        request: &RequestTemplate,
        slots: &[Slot],
    ) -> Result<Option<usize>> {
        let values = BTreeMap::new();
        let call = ReplayCall {
            transport,
            request,
            parameters: &[],
            values: &values,
            slots,
            steps: &[],
            assembly: None,
        };
        match self.replayer.send(call).await {
            Ok(reply) => {
                self.seen.push(reply);
                Ok(Some(self.seen.len() - 1))
            }
            Err(err) if matches!(err.code(), Code::BrowserMissing | Code::BrowserFailed) => {
                Err(err)
            }
            Err(err) if err.code().class() == Class::Bug => Err(err),
            Err(_) => Ok(None),
        }
    }

    fn good(&self, at: usize) -> bool {
        (200..300).contains(&self.seen[at].status)
    }

    fn same(&self, probed: &ProbedRequest, at: usize) -> bool {
        self.seen[probed.answer].status == self.seen[at].status
            && self.difference(probed.answer, at)
                <= probed.noise + if probed.noise > 0 { MARGIN_BP } else { 0 }
    }

    /// Basis points; of pages, whether a person sees another.
    fn difference(&self, a: usize, b: usize) -> u32 {
        let (a, b) = (&self.seen[a], &self.seen[b]);
        if a.body == b.body {
            return 0;
        }
        let json = |it: &Reply| {
            let text = String::from_utf8_lossy(&it.body).into_owned();
            detect(&text, &it.mime(), true).map(|it| it.value)
        };
        if let (Some(a), Some(b)) = (json(a), json(b)) {
            return data_difference_bp(&a, &b).max(1);
        }
        let seen = |it: &Reply| visible_text(&String::from_utf8_lossy(&it.body), MAX_TEXT);
        // What a page holds unseen may be its data or a token of the day: two equal calls tell which.
        if a.mime().contains("html") && seen(a) == seen(b) { 1 } else { 10_000 }
    }
}

/// Answers are named by their number until the end.
fn name(at: usize) -> String {
    at.to_string()
}

fn bare(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

/// The values of the deciding parts after these edits.
fn answer_to(
    probed: &ProbedRequest,
    keys: &BTreeSet<String>,
    edits: &[(String, Option<Value>)],
    answer: usize,
) -> Answer {
    let mut when: BTreeMap<String, Value> = keys
        .iter()
        .filter_map(|it| Some((it.clone(), probed.parts.values.get(it)?.clone())))
        .collect();
    for (part, value) in edits {
        when.retain(|it, _| !it.starts_with(&format!("{part}/")));
        when.insert(part.clone(), value.clone().unwrap_or(Value::Null));
    }
    Answer { when, response: name(answer) }
}

/// Every part that can be left out: headers, pairs, and JSON members down to the third level.
fn removable(parts: &RequestParts) -> Vec<String> {
    let mut out = BTreeSet::new();
    for part in parts.values.keys() {
        let Some((place, key)) = part.split_once(':') else { continue };
        match place {
            "header" if key == "content-type" => {}
            "header" | "query" | "form" => _ = out.insert(part.clone()),
            "json" => {
                let mut at = String::from("json:");
                for segment in key.split('/').skip(1).take(3) {
                    at = format!("{at}/{segment}");
                    out.insert(at.clone());
                }
            }
            _ => {}
        }
    }
    out.into_iter().collect()
}

fn part_of(place: Place, key: &str) -> String {
    let place = match place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Json => "json",
        Place::Form => "form",
        Place::Text => return "text:".to_owned(),
        Place::Header => "header",
        Place::Host => return "host".to_owned(),
    };
    format!("{place}:{key}")
}

/// What was typed replaced wherever it stands, whatever its case; all of it where it stands nowhere as typed.
fn replaced(text: &str, typed: &str, other: &str) -> String {
    if text.contains(typed) {
        return text.replace(typed, other);
    }
    let (lower, wanted) = (text.to_lowercase(), typed.to_lowercase());
    if lower.len() == text.len() && lower.contains(&wanted) {
        lower.replace(&wanted, &other.to_lowercase())
    } else {
        other.to_owned()
    }
}

/// The shape of the stubbed answer to the request as recorded; empty where that is no JSON.
pub fn shape_of(stubs: &Stubs, rule_url: impl Fn(&Rule) -> bool) -> Vec<String> {
    let rule = stubs.rules.iter().find(|it| rule_url(it));
    let name =
        rule.and_then(|it| it.answers.first().map(|it| &it.response).or(it.default.as_ref()));
    let Some(response) = name.and_then(|it| stubs.responses.get(it)) else { return Vec::new() };
    match &response.body {
        Body::Json(it) => shape::paths(it),
        Body::Text(it) if !response.mime.contains("html") => {
            detect(it, &response.mime, false).map_or_else(Vec::new, |it| shape::paths(&it.value))
        }
        _ => Vec::new(),
    }
}
