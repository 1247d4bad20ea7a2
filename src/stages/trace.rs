//! A request whose values earlier answers gave, as steps: each answer that a value comes from is asked for first.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    answer_addresses::in_address,
    chained::{answered_before, is_distinctive},
    client_generated::is_client_generated,
    provenance::{Examples, ValueSource, twin_of},
    request::{identifier, put_in_json, template},
    request_weaver::RequestWeaver,
    template_match::literal_of,
    templating::FoundParameter,
};
use commis_artifacts::recording::{Exchange, SessionRecording};
use commis_recipe::{
    model::{
        Between, BodyTemplate, Pair, ParamType, RequestTemplate, ResponseSpec, ResponseType, Slot,
        SlotSource,
    },
    steps::{Choose, MAX_STEPS, Step},
    template::{Filter, escape, is_name},
    trackers::is_cache_buster,
};

/// What a request takes from earlier answers.
#[derive(Clone, Default)]
pub struct TracedSteps {
    pub steps: Vec<Step>,
    /// What the values were in the first example, by their names in templates. Of a secret it is not known.
    pub taken: BTreeMap<String, String>,
    /// Slots whose values steps give.
    pub filled: Vec<String>,
    /// Slots that these steps need.
    pub slots: Vec<Slot>,
}

/// Why there are no steps.
#[derive(Debug, PartialEq, Eq)]
pub enum TraceFailure {
    /// A part of the request whose value stands in no earlier answer, or in none that tells.
    Unknown(String),
    TooMany,
}

/// Where in a request a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestPlace {
    Path(usize),
    Query(usize),
    Header(String),
    Form(usize),
    Json(String),
}

pub(super) struct LiteralPart {
    pub at: RequestPlace,
    /// For a person.
    name: String,
    /// What it is called in the request.
    key: String,
    pub literal: String,
    pub is_number: bool,
}

/// A request as both recordings have it.
#[derive(Clone, Copy)]
pub struct SentRequest<'a> {
    pub exchange: &'a Exchange,
    pub twin: Option<&'a Exchange>,
}

/// Finds where the request's values came from that nobody typed, and puts the names of steps in their place. A slot of an answer that
/// itself needs what was typed becomes a step, too.
pub fn trace(
    examples: Examples<'_>,
    sent: SentRequest<'_>,
    weave: &mut RequestWeaver<'_>,
    (slots, mut out): (&[Slot], TracedSteps),
) -> Result<TracedSteps, TraceFailure> {
    let tracer = Tracer { examples };
    for slot in slots {
        if out.filled.contains(&slot.name) {
            continue;
        }
        let Some((exchange, response)) = answer_of(slot, sent.exchange, examples.first) else {
            continue;
        };
        let twin = examples.second.and_then(|it| twin_of(exchange, it));
        let response = ResponseSpec { framing: exchange.framing, ..response };
        let source = ValueSource::whole(exchange, twin, response);
        let name = tracer.step(&source, weave, &mut out)?;
        rename(&mut weave.request, &slot.name, &name);
        out.filled.push(slot.name.clone());
    }
    let parts = literals(&weave.request).into_iter().chain(header_literals(&weave.request));
    let (mut woven, mut traced) = (weave.fork(weave.request.clone()), out.clone());
    let by_parts = tracer.request(sent, parts.collect(), &mut woven, &mut traced);
    let is_left =
        |it: &Slot| matches!(it.from, SlotSource::Live { .. }) && !traced.filled.contains(&it.name);
    let needs_session = super::minimize::used_slots(&woven.request, slots).iter().any(is_left);
    // Not by its parts: an earlier answer may have the whole address.
    if (by_parts.is_err() || needs_session)
        && let Some(it) = tracer.address(sent, weave, &out)
    {
        return Ok(it);
    }
    by_parts?;
    *weave = woven;
    Ok(traced)
}

/// The earlier exchange that gave a slot's value, where it has to be a step, and how it is read there: an answer that itself needs what
/// was typed, a header, or a part of an address.
fn answer_of<'a>(
    slot: &Slot,
    asked: &Exchange,
    recording: &'a SessionRecording,
) -> Option<(&'a Exchange, ResponseSpec)> {
    let (url, response) = match &slot.from {
        SlotSource::Response { url, path } => {
            let extract = Some(path.clone());
            (url, ResponseSpec { extract, ..ResponseSpec::new(ResponseType::Json) })
        }
        SlotSource::Document { url, after, until } => (url, between(after, until)),
        SlotSource::Live { placeholder } => {
            let is_given = |it: &&Exchange| {
                it.id < asked.id && it.method == "GET" && matches!(it.status, Some(200..300))
            };
            let text = ResponseSpec::new(ResponseType::Text);
            return recording.exchanges.iter().filter(is_given).find_map(|it| {
                let header = it.response_headers.iter().find(|it| it.value == *placeholder);
                let header = header.map(|it| it.name.clone());
                let between =
                    if header.is_none() { Some(in_address(it, placeholder)?) } else { None };
                Some((it, ResponseSpec { header, between, ..text.clone() }))
            });
        }
        _ => return None,
    };
    let asks = |it: &&Exchange| {
        it.method == "GET" && it.url == *url && !it.measures.typed_in_request.is_empty()
    };
    recording.exchanges.iter().find(asks).map(|it| (it, response))
}

/// Steps for values that stand in a script whose name changes with each build of the site: the page says what it is called now.
pub fn trace_build_files(
    recording: &SessionRecording,
    weave: &mut RequestWeaver<'_>,
    slots: &[Slot],
) -> TracedSteps {
    let mut out = TracedSteps::default();
    for slot in slots {
        let SlotSource::Document { url, after, until } = &slot.from else { continue };
        let Some(exchange) = recording.exchanges.iter().find(|it| it.url == *url) else { continue };
        let Some((mut request, own)) = template(exchange) else { continue };
        request.headers.clear();
        let own = super::minimize::used_slots(&request, &own);
        let is_of_page = |it: &Slot| matches!(it.from, SlotSource::Document { .. });
        if own.is_empty() || !own.iter().all(is_of_page) || out.steps.len() + 1 >= MAX_STEPS {
            continue;
        }
        for mut it in own {
            let known = out.slots.iter().find(|known| known.from == it.from);
            if let Some(known) = known.map(|it| it.name.clone()) {
                rename(&mut request, &it.name, &known);
                continue;
            }
            let is_taken = |name: &str| slots.iter().chain(&out.slots).any(|it| it.name == name);
            let mut n = 1;
            while is_taken(&format!("slot_script_{n}")) {
                n += 1;
            }
            let name = format!("slot_script_{n}");
            rename(&mut request, &it.name, &name);
            it.name = name;
            out.slots.push(it);
        }
        let is_free = |name: &str| {
            !recording.typed.contains_key(name) && out.steps.iter().all(|it| it.name != name)
        };
        let name = name_of(&request, is_free);
        rename(&mut weave.request, &slot.name, &name);
        out.filled.push(slot.name.clone());
        out.steps.push(Step {
            name,
            for_each: None,
            request,
            response: between(after, until),
            choose: None,
            poll: None,
            into: None,
            position: None,
            optional: false,
        });
    }
    out
}

fn between(after: &str, until: &str) -> ResponseSpec {
    let between = Some(Between { after: after.to_owned(), until: until.to_owned() });
    ResponseSpec { between, ..ResponseSpec::new(ResponseType::Text) }
}

/// Another name for a value of the request.
fn rename(request: &mut RequestTemplate, from: &str, to: &str) {
    let (from, to) = (format!("{{{from}}}"), format!("{{{to}}}"));
    let put = |it: &mut String| *it = it.replace(&from, &to);
    put(&mut request.url);
    request.query.iter_mut().for_each(|it| put(&mut it.value));
    request.address.iter_mut().for_each(put);
    request.headers.values_mut().for_each(put);
    match &mut request.body {
        Some(BodyTemplate::Form(all)) => all.iter_mut().for_each(|it| put(&mut it.value)),
        Some(BodyTemplate::Json(body)) => put_in_json(body, &put),
        Some(BodyTemplate::Text(it)) => put(it),
        None => {}
    }
}

#[derive(Clone, Copy)]
struct Tracer<'a> {
    examples: Examples<'a>,
}

impl Tracer<'_> {
    fn request(
        self,
        sent: SentRequest<'_>,
        parts: Vec<LiteralPart>,
        weave: &mut RequestWeaver<'_>,
        out: &mut TracedSteps,
    ) -> Result<(), TraceFailure> {
        let twin = sent.twin.and_then(template).map(|it| it.0);
        let known = answered_before(sent.exchange, self.examples.first);
        let behind_login = self.examples.first.login_site.is_some();
        for part in parts {
            let same = twin.as_ref().map(|it| same_place(&weave.request, it, &part.at));
            let (before, ours, after, theirs) = match &same {
                // Its twin does without.
                Some(None) => continue,
                // An account's number is the same in both examples of one login.
                Some(Some(it)) if *it == part.literal => {
                    if !behind_login || !is_number_of_account(&part.literal) {
                        continue;
                    }
                    ("", part.literal.as_str(), "", Some(part.literal.as_str()))
                }
                Some(Some(it)) => {
                    if is_client_generated(&part.name, &escape(&part.literal), &escape(it))
                        && !known.contains(&part.literal)
                    {
                        continue;
                    }
                    let (before, ours, theirs, after) = differing(&part.literal, it);
                    (before, ours, after, Some(theirs))
                }
                None => ("", part.literal.as_str(), "", None),
            };
            if let Some(name) = self.typed_as(ours, theirs) {
                self.add_typed(&name, weave);
                let hole = format!("{}{{{name}}}{}", escape(before), escape(after));
                set_value(&mut weave.request, &part.at, hole);
                continue;
            }
            let whole = same.as_ref().and_then(Option::as_deref);
            let batches = self.examples.lists(sent.exchange, &part.literal, whole);
            let (before, ours, after, theirs) = if batches.is_empty() {
                (before, ours, after, theirs)
            } else {
                ("", part.literal.as_str(), "", whole)
            };
            let is_same = theirs == Some(ours);
            let is_certain = theirs.is_some() || is_distinctive(&part.key, ours);
            let fits = |it: &ValueSource<'_>| match &it.choose {
                // One example alone: a short value stands anywhere by chance, but not in the item that was named.
                Some(Choose::Where(_)) => !is_same,
                // What is the same in both examples is chosen by neither.
                Some(_) => !is_same && is_certain,
                None => is_certain,
            };
            let sources = if batches.is_empty() {
                self.examples.sources(sent.exchange, ours, theirs)
            } else {
                batches
            };
            let sources = sources.into_iter().filter(fits);
            let mut too_many = false;
            let mut name = None;
            for source in sources {
                let mut tried = out.clone();
                let mut woven = weave.fork(weave.request.clone());
                match self.step(&source, &mut woven, &mut tried) {
                    Ok(it) => {
                        (*out, name) = (tried, Some(it));
                        weave.join(woven);
                        break;
                    }
                    Err(why) => too_many |= why == TraceFailure::TooMany,
                }
            }
            let Some(name) = name else {
                if is_same || theirs.is_none() {
                    continue;
                }
                return Err(if too_many {
                    TraceFailure::TooMany
                } else {
                    TraceFailure::Unknown(part.name)
                });
            };
            out.taken.insert(name.clone(), ours.to_owned());
            let filter = if part.is_number {
                format!("|{}", Filter::Number.as_str())
            } else {
                String::new()
            };
            let hole = format!("{}{{{name}{filter}}}{}", escape(before), escape(after));
            set_value(&mut weave.request, &part.at, hole);
        }
        Ok(())
    }

    /// The steps where an earlier answer gives the whole address.
    fn address(
        self,
        sent: SentRequest<'_>,
        weave: &mut RequestWeaver<'_>,
        known: &TracedSteps,
    ) -> Option<TracedSteps> {
        if sent.exchange.method != "GET" {
            return None;
        }
        for (ours, source) in self.examples.addresses(sent.exchange, sent.twin) {
            let (mut woven, mut out) = (weave.fork(weave.request.clone()), known.clone());
            let Ok(name) = self.step(&source, &mut woven, &mut out) else { continue };
            weave.join(woven);
            let request = &mut weave.request;
            if let Some(at) = path_start(&request.url) {
                request.url.truncate(at);
            }
            request.query.clear();
            request.address = Some(format!("{{{name}}}"));
            out.taken.insert(name, ours);
            return Some(out);
        }
        None
    }

    /// The step of a source, and what its value is called in templates.
    fn step(
        self,
        source: &ValueSource<'_>,
        weave: &mut RequestWeaver<'_>,
        out: &mut TracedSteps,
    ) -> Result<String, TraceFailure> {
        let exchange = source.exchange;
        let unknown = || TraceFailure::Unknown("the request before".to_owned());
        let (mut request, slots) = template(exchange).ok_or_else(unknown)?;
        request
            .headers
            .retain(|name, it| literal_of(it).is_some() && !(name == "accept" && it == "*/*"));
        request.query.retain(|it| !is_cache_buster(&it.name, &it.value));
        if !matches!(request.method.as_str(), "GET" | "POST")
            || !super::minimize::used_slots(&request, &slots).is_empty()
        {
            return Err(unknown());
        }
        let mut own = weave.fork(request);
        own.typed(exchange, self.examples.typed);
        // Headers of a step were not minimized: what differs in them may not matter.
        let parts = literals(&own.request);
        self.request(SentRequest { exchange, twin: source.twin }, parts, &mut own, out)?;
        for name in &source.names {
            self.add_typed(name, &mut own);
        }
        let response = source.response.clone();
        let request = own.request.clone();
        let same = |it: &&Step| {
            it.request == request && it.response == response && it.choose == source.choose
        };
        let known = out.steps.iter().find(same).map(|it| it.name.clone());
        let name = if let Some(it) = known {
            it
        } else {
            if out.steps.len() + 1 >= MAX_STEPS {
                return Err(TraceFailure::TooMany);
            }
            let name = self.name(&request, out);
            out.steps.push(Step {
                name: name.clone(),
                for_each: None,
                request,
                response,
                choose: source.choose.clone(),
                poll: None,
                into: None,
                position: None,
                optional: false,
            });
            name
        };
        weave.join(own);
        Ok(source.field.as_ref().map_or_else(|| name.clone(), |it| format!("{name}.{it}")))
    }

    /// The parameter that has these values in both examples: a part of a text that is too short to be known as typed by one alone.
    fn typed_as(self, ours: &str, theirs: Option<&str>) -> Option<String> {
        let theirs = theirs.filter(|it| *it != ours)?;
        let Examples { typed, second_typed, .. } = self.examples;
        let fits = |(name, own): &(&String, &String)| {
            *own == ours && second_typed.get(*name).is_some_and(|it| it == theirs)
        };
        typed.iter().find(fits).map(|it| it.0.clone())
    }

    fn add_typed(self, name: &str, weave: &mut RequestWeaver<'_>) {
        let found = FoundParameter {
            name: name.to_owned(),
            value: self.examples.typed.get(name).cloned().unwrap_or_default(),
            kind: ParamType::Str,
            chain: Vec::new(),
        };
        weave.add(found, "typed value found in the answer of an earlier step");
    }

    /// What the last word of its address says.
    fn name(self, request: &RequestTemplate, out: &TracedSteps) -> String {
        name_of(request, |name| {
            !self.examples.typed.contains_key(name) && out.steps.iter().all(|it| it.name != name)
        })
    }
}

/// A name for a step, by the last word of its address that is no value.
pub fn name_of(request: &RequestTemplate, is_free: impl Fn(&str) -> bool) -> String {
    let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
    let words = path
        .split('/')
        .rev()
        .filter(|it| it.contains(|c: char| c.is_ascii_alphabetic()) && !it.contains(['{', '%']));
    let words = words.map(|it| identifier(it.split('.').next().unwrap_or_default()));
    let base = words.into_iter().find(|it| is_name(it) && it != "value" && it.len() <= 30);
    let base = base.unwrap_or_else(|| "answer".to_owned());
    let mut name = base.clone();
    let mut n = 2;
    while !is_free(&name) {
        name = format!("{base}_{n}");
        n += 1;
    }
    name
}

/// A value that one account goes by, and not how things are asked for.
fn is_number_of_account(value: &str) -> bool {
    value.len() > 2 && value.len() <= 64 && value.bytes().any(|it| it.is_ascii_digit())
}

/// Two texts without what both begin and end with, up to a sign that is part of no value: `77` and `80` of `77.json` and `80.json`.
pub(super) fn differing<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str, &'t str, &'t str) {
    let common = a.bytes().zip(b.bytes()).take_while(|it| it.0 == it.1).count();
    let is_sign = |it: char| !it.is_alphanumeric() && it.is_ascii();
    let start = a.get(..common).and_then(|it| it.rfind(is_sign)).map_or(0, |it| it + 1);
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let common = rest_a.bytes().rev().zip(rest_b.bytes().rev()).take_while(|it| it.0 == it.1);
    let common = common.count().min(rest_a.len()).min(rest_b.len());
    let tail = rest_a.get(rest_a.len() - common..).unwrap_or_default();
    let end = tail.find(is_sign).map_or(0, |it| tail.len() - it);
    let (end_a, end_b) = (rest_a.len() - end, rest_b.len() - end);
    (&a[..start], &rest_a[..end_a], &rest_b[..end_b], &rest_a[end_a..])
}

fn path_start(url: &str) -> Option<usize> {
    let authority = url.find("://").map(|it| it + 3)?;
    Some(authority + url[authority..].find('/')? + 1)
}

fn segments(url: &str) -> Vec<String> {
    let path = path_start(url).map_or("", |it| &url[it..]);
    let decode =
        |it: &str| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned();
    path.split('/').map(decode).collect()
}

/// Parts of a request that hold neither parameter nor slot.
pub(super) fn literals(request: &RequestTemplate) -> Vec<LiteralPart> {
    let mut out = Vec::new();
    let mut add = |at: RequestPlace, name: String, key: &str, text: &str, is_number: bool| {
        if let Some(literal) = literal_of(text).filter(|it| !it.is_empty()) {
            out.push(LiteralPart { at, name, key: key.to_owned(), literal, is_number });
        }
    };
    for (i, it) in segments(&request.url).iter().enumerate() {
        add(RequestPlace::Path(i), format!("path segment {}", i + 1), "", it, false);
    }
    for (i, it) in request.query.iter().enumerate() {
        add(RequestPlace::Query(i), format!("query `{}`", it.name), &it.name, &it.value, false);
    }
    match &request.body {
        Some(BodyTemplate::Form(all)) => {
            for (i, it) in all.iter().enumerate() {
                add(
                    RequestPlace::Form(i),
                    format!("form field `{}`", it.name),
                    &it.name,
                    &it.value,
                    false,
                );
            }
        }
        Some(BodyTemplate::Json(body)) => in_json(body, "", &mut add),
        _ => {}
    }
    out
}

/// The same of its headers.
fn header_literals(request: &RequestTemplate) -> impl Iterator<Item = LiteralPart> {
    request.headers.iter().filter_map(|(name, it)| {
        Some(LiteralPart {
            at: RequestPlace::Header(name.clone()),
            name: format!("header `{name}`"),
            key: name.clone(),
            literal: literal_of(it)?,
            is_number: false,
        })
    })
}

fn in_json(
    value: &Value,
    pointer: &str,
    add: &mut dyn FnMut(RequestPlace, String, &str, &str, bool),
) {
    let key = pointer.rsplit('/').next().unwrap_or_default();
    let name = || format!("body `{pointer}`");
    match value {
        Value::Object(all) => {
            for (key, it) in all {
                let key = key.replace('~', "~0").replace('/', "~1");
                in_json(it, &format!("{pointer}/{key}"), add);
            }
        }
        Value::Array(all) => {
            for (i, it) in all.iter().enumerate() {
                in_json(it, &format!("{pointer}/{i}"), add);
            }
        }
        Value::String(it) => add(RequestPlace::Json(pointer.to_owned()), name(), key, it, false),
        Value::Number(it) => {
            add(RequestPlace::Json(pointer.to_owned()), name(), key, &it.to_string(), true);
        }
        _ => {}
    }
}

/// What the second recording's request has at the same place.
pub(super) fn same_place(
    ours: &RequestTemplate,
    theirs: &RequestTemplate,
    at: &RequestPlace,
) -> Option<String> {
    let nth = |ours: &[Pair], theirs: &[Pair], i: usize| {
        let pair = ours.get(i)?;
        let before = ours[..i].iter().filter(|it| it.name == pair.name).count();
        let found = theirs.iter().filter(|it| it.name == pair.name).nth(before)?;
        literal_of(&found.value)
    };
    match (at, &ours.body, &theirs.body) {
        (RequestPlace::Path(i), ..) => {
            let (own, all) = (segments(&ours.url), segments(&theirs.url));
            (own.len() == all.len()).then(|| all.get(*i).and_then(|it| literal_of(it)))?
        }
        (RequestPlace::Query(i), ..) => nth(&ours.query, &theirs.query, *i),
        (RequestPlace::Header(name), ..) => literal_of(theirs.headers.get(name)?),
        (RequestPlace::Form(i), Some(BodyTemplate::Form(a)), Some(BodyTemplate::Form(b))) => {
            nth(a, b, *i)
        }
        (RequestPlace::Json(at), _, Some(BodyTemplate::Json(body))) => match body.pointer(at)? {
            Value::String(it) => literal_of(it),
            Value::Number(it) => Some(it.to_string()),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn set_value(request: &mut RequestTemplate, at: &RequestPlace, hole: String) {
    match (at, &mut request.body) {
        (RequestPlace::Path(i), _) => {
            let Some(start) = path_start(&request.url) else { return };
            let mut all: Vec<String> = request.url[start..].split('/').map(str::to_owned).collect();
            let Some(it) = all.get_mut(*i) else { return };
            *it = percent_encoding::utf8_percent_encode(&hole, super::request_weaver::PATH_SEGMENT)
                .to_string();
            request.url = format!("{}{}", &request.url[..start], all.join("/"));
        }
        (RequestPlace::Query(i), _) => request.query[*i].value = hole,
        (RequestPlace::Header(name), _) => _ = request.headers.insert(name.clone(), hole),
        (RequestPlace::Form(i), Some(BodyTemplate::Form(all))) => all[*i].value = hole,
        (RequestPlace::Json(at), Some(BodyTemplate::Json(body))) => {
            if let Some(it) = body.pointer_mut(at) {
                *it = Value::from(hole);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_of_two_texts() {
        for (a, b, expected) in [
            ("77", "80", ("", "77", "80", "")),
            ("177", "187", ("", "177", "187", "")),
            ("77.json", "80.json", ("", "77", "80", ".json")),
            ("list-177", "list-187", ("list-", "177", "187", "")),
            ("a:b-1.x", "a:c-1.x", ("a:", "b", "c", "-1.x")),
            ("abc", "", ("", "abc", "", "")),
        ] {
            assert_eq!(differing(a, b), expected, "{a} {b}");
        }
    }
}
