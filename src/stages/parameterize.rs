//! parameterize: what a caller may vary, typed, with the values to verify it by.
//!
//! A typed value that stands in the request becomes a parameter, named as the manifest names it. Paging keys become optional
//! parameters whose effect verify must show. What differs between the two recordings without having been typed came from
//! somewhere else, so the task needs several calls.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::{
    minimize::PAGING,
    request::{identifier, template},
};
use crate::{
    artifacts::{
        payloads::{
            Judged, MinimizationReport, Reason, RecipeDraft, RecipeDraftMinimized, Reject,
            SecondRecording,
        },
        recording::{Place, SessionRecording, TypedHit},
    },
    recipe::{
        model::{
            BodyTemplate, Constraints, ParamSource, ParamType, Parameter, RequestTemplate,
            SlotSource,
        },
        template::escape,
    },
};

/// Pure. Rejects with `several_calls` or `needs_login`.
pub fn parameterize(
    recording: &SessionRecording,
    second: &SecondRecording,
    draft: &RecipeDraft,
    report: &MinimizationReport,
) -> Judged<RecipeDraftMinimized> {
    let exchange = &recording.exchanges[draft.exchange as usize];
    if let Some(slot) = report.slots.iter().find(|it| matches!(it.from, SlotSource::Live { .. })) {
        return Judged::Rejected(Reject::new(
            Reason::NeedsLogin,
            format!(
                "the request needs `{}`, a value that only the recorded session knew",
                slot.name
            ),
        ));
    }
    let mut out = Weave {
        request: report.request.clone(),
        parameters: Vec::new(),
        evidence: BTreeMap::new(),
        first: BTreeMap::new(),
        woven: BTreeSet::new(),
    };
    let mut hits: Vec<&TypedHit> = exchange.measures.typed_in_request.iter().collect();
    hits.sort_by_key(|it| (!it.exact, it.place));
    for hit in hits {
        if let Some(typed) = recording.typed.get(&hit.name) {
            out.typed(hit, typed);
        }
    }
    let twin = second
        .recording
        .as_ref()
        .zip(draft.second_exchange)
        .and_then(|(it, id)| it.exchanges.get(id as usize))
        .and_then(template)
        .map(|it| it.0);
    let mut second_values = None;
    if let Some(twin) = &twin {
        match read_back(&out.request, twin) {
            Ok(values) => second_values = Some(values),
            Err(part) => {
                return Judged::Rejected(Reject::new(
                    Reason::SeveralCalls,
                    format!(
                        "{part} differs between the two examples and was not typed: it comes from an earlier call"
                    ),
                ));
            }
        }
    } else if !second.values.is_empty()
        && out.parameters.iter().all(|it| second.values.contains_key(&it.name))
    {
        second_values = Some(second.values.clone());
    }
    if let Some(values) = &mut second_values {
        values.retain(|name, _| out.first.contains_key(name));
        for it in &mut out.parameters {
            if let Some(value) = values.get(&it.name)
                && !it.examples.contains(value)
            {
                it.examples.push(value.clone());
            }
        }
    }
    out.paging();
    let distinct = second_values.filter(|it| *it != out.first && !it.is_empty());
    Judged::Done(RecipeDraftMinimized {
        request: out.request,
        parameters: out.parameters,
        slots: report.slots.clone(),
        response: draft.response.clone(),
        transport: draft.transport,
        captured_only: draft.captured_only,
        evidence: out.evidence,
        first: out.first,
        second: distinct,
        second_seen: second_seen(recording, second),
    })
}

struct Weave {
    request: RequestTemplate,
    parameters: Vec<Parameter>,
    evidence: BTreeMap<String, String>,
    first: BTreeMap<String, String>,
    /// Parts that already hold a parameter.
    woven: BTreeSet<String>,
}

impl Weave {
    /// Puts `{name}` where the typed value stands. A hit whose part was minimized away, or that another parameter took, is passed over.
    fn typed(&mut self, hit: &TypedHit, typed: &str) {
        let name = identifier(&hit.name);
        let part = format!("{:?}:{}", hit.place, hit.key);
        if self.woven.contains(&part) {
            return;
        }
        let known = self.first.get(&name).cloned();
        let mut kind = ParamType::Str;
        let found = match (hit.place, &mut self.request.body) {
            (Place::Path, _) => weave_path(&mut self.request.url, &hit.key, typed, &name),
            (Place::Query, _) => {
                let pair = self.request.query.iter_mut().find(|it| it.name == hit.key);
                pair.and_then(|it| weave(&mut it.value, typed, &name))
            }
            (Place::Form, Some(BodyTemplate::Form(fields))) => {
                let field = fields.iter_mut().find(|it| it.name == hit.key);
                field.and_then(|it| weave(&mut it.value, typed, &name))
            }
            (Place::Json, Some(BodyTemplate::Json(body))) => match body.pointer_mut(&hit.key) {
                Some(Value::String(it)) => weave(it, typed, &name),
                Some(it @ Value::Number(_)) if *it.to_string() == *typed => {
                    kind =
                        if it.is_i64() || it.is_u64() { ParamType::Int } else { ParamType::Float };
                    *it = Value::String(format!("{{{name}}}"));
                    Some(typed.to_owned())
                }
                _ => None,
            },
            (Place::Text, Some(BodyTemplate::Text(it))) => weave(it, typed, &name),
            _ => None,
        };
        let Some(found) = found else { return };
        self.woven.insert(part);
        if known.is_some() {
            return;
        }
        self.evidence.insert(
            name.clone(),
            format!("typed value found in {:?} {}", hit.place, hit.key).to_lowercase(),
        );
        self.first.insert(name.clone(), found.clone());
        self.parameters.push(Parameter {
            name,
            kind,
            required: true,
            source: ParamSource::TaskInput,
            default: None,
            constraints: Constraints { max_len: Some(200), ..Constraints::default() },
            examples: vec![found],
        });
    }

    /// Paging keys with a whole number as value: optional, the recorded value is the default.
    fn paging(&mut self) {
        let mut found = Vec::new();
        for it in &mut self.request.query {
            if let Some(value) = paging_value(&it.name, &it.value) {
                let name = self_unique(&self.first, &it.name);
                it.value = format!("{{{name}}}");
                found.push((name, value, format!("query {}", it.name)));
            }
        }
        match &mut self.request.body {
            Some(BodyTemplate::Form(fields)) => {
                for it in fields {
                    if let Some(value) = paging_value(&it.name, &it.value) {
                        let name = self_unique(&self.first, &it.name);
                        it.value = format!("{{{name}}}");
                        found.push((name, value, format!("form {}", it.name)));
                    }
                }
            }
            Some(BodyTemplate::Json(Value::Object(fields))) => {
                for (key, it) in fields {
                    if it.is_u64()
                        && let Some(value) = paging_value(key, &it.to_string())
                    {
                        let name = self_unique(&self.first, key);
                        *it = Value::String(format!("{{{name}}}"));
                        found.push((name, value, format!("json /{key}")));
                    }
                }
            }
            _ => {}
        }
        for (name, value, place) in found {
            if self.parameters.iter().any(|it| it.name == name) {
                continue;
            }
            self.evidence.insert(name.clone(), format!("paging key, {place}"));
            self.parameters.push(Parameter {
                name,
                kind: ParamType::Int,
                required: false,
                source: ParamSource::TaskInput,
                default: Some(value.clone()),
                constraints: Constraints {
                    min: Some(0),
                    max: Some(1000),
                    ..Constraints::default()
                },
                examples: vec![value],
            });
        }
    }
}

fn self_unique(taken: &BTreeMap<String, String>, key: &str) -> String {
    let name = identifier(key);
    if taken.contains_key(&name) { format!("{name}_number") } else { name }
}

fn paging_value(name: &str, value: &str) -> Option<String> {
    let known = PAGING.contains(&name.to_ascii_lowercase().as_str());
    (known && value.len() <= 4 && !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()))
        .then(|| value.to_owned())
}

/// Replaces the typed value in a template by `{name}` and returns it as it stands there (its case may differ).
fn weave(value: &mut String, typed: &str, name: &str) -> Option<String> {
    for form in forms(typed) {
        let wanted = escape(&form);
        let found = find_ignoring_case(value, &wanted)?;
        if let Some((start, end)) = found {
            let as_found = value[start..end].replace("{{", "{").replace("}}", "}");
            value.replace_range(start..end, &format!("{{{name}}}"));
            return Some(as_found);
        }
    }
    None
}

/// The value as typed, and as paths and old-fashioned queries spell its spaces.
fn forms(typed: &str) -> Vec<String> {
    let mut out = vec![typed.to_owned()];
    if typed.contains(' ') {
        out.extend(["-", "_", "+"].map(|it| typed.replace(' ', it)));
    }
    out
}

/// Byte range of the match. The outer option is `None` when lower-casing changes lengths and nothing can be said.
#[expect(clippy::option_option, reason = "unknown and absent are different answers")]
fn find_ignoring_case(text: &str, wanted: &str) -> Option<Option<(usize, usize)>> {
    if let Some(start) = text.find(wanted) {
        return Some(Some((start, start + wanted.len())));
    }
    let (lower, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    if lower.len() != text.len() {
        return None;
    }
    Some(
        lower
            .find(&wanted)
            .map(|start| (start, start + wanted.len()))
            .filter(|it| text.is_char_boundary(it.0) && text.is_char_boundary(it.1)),
    )
}

fn weave_path(url: &mut String, index: &str, typed: &str, name: &str) -> Option<String> {
    let index: usize = index.parse().ok()?;
    let authority_end = url.find("://").map(|it| it + 3)?;
    let path_start = authority_end + url[authority_end..].find('/')?;
    let (base, path) = url.split_at(path_start);
    let mut segments: Vec<String> = path[1..].split('/').map(str::to_owned).collect();
    let segment = segments.get_mut(index)?;
    let mut decoded =
        percent_encoding::percent_decode_str(segment).decode_utf8().ok()?.into_owned();
    let found = weave(&mut decoded, typed, name)?;
    // The rest of the segment goes back to its percent-encoded form.
    let (before, after) = decoded.split_once(&format!("{{{name}}}"))?;
    let encode = |it: &str| percent_encoding::utf8_percent_encode(it, PATH_SEGMENT).to_string();
    *segment = format!("{}{{{name}}}{}", encode(before), encode(after));
    *url = format!("{base}/{}", segments.join("/"));
    Some(found)
}

/// What a path segment may not hold raw (WHATWG URL, path percent-encode set, and `/`).
const PATH_SEGMENT: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'/')
    .add(b'%');

/// The values that make the template into the second request. `Err` names a part that differs without holding a parameter.
fn read_back(
    template: &RequestTemplate,
    twin: &RequestTemplate,
) -> Result<BTreeMap<String, String>, String> {
    let mut out = BTreeMap::new();
    let mut read = |part: String, template: &str, literal: &str| {
        if read_text(template, literal, &mut out) { Ok(()) } else { Err(part) }
    };
    let decode = |it: &str| {
        let path = Url::parse(it).map_or_else(|_| it.to_owned(), |it| it.path().to_owned());
        path.split('/')
            .map(|it| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned())
            .collect::<Vec<_>>()
    };
    let path_of = |it: &str| {
        let rest = it.split_once("://").map_or(it, |it| it.1);
        rest.split_once('/').map_or(String::new(), |it| format!("/{}", it.1))
    };
    let ours: Vec<String> = path_of(&template.url)
        .split('/')
        .map(|it| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned())
        .collect();
    let theirs = decode(&twin.url.replace("{{", "{").replace("}}", "}"));
    if ours.len() != theirs.len() {
        return Err("the path".to_owned());
    }
    for (i, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        read(format!("path segment {i}"), a, &escape(b))?;
    }
    for pair in &template.query {
        if let Some(it) = twin.query.iter().find(|it| it.name == pair.name) {
            read(format!("query `{}`", pair.name), &pair.value, &it.value)?;
        }
    }
    match (&template.body, &twin.body) {
        (Some(BodyTemplate::Form(a)), Some(BodyTemplate::Form(b))) => {
            for pair in a {
                if let Some(it) = b.iter().find(|it| it.name == pair.name) {
                    read(format!("form field `{}`", pair.name), &pair.value, &it.value)?;
                }
            }
        }
        (Some(BodyTemplate::Json(a)), Some(BodyTemplate::Json(b))) => {
            read_json(a, b, "", &mut read)?;
        }
        (Some(BodyTemplate::Text(a)), Some(BodyTemplate::Text(b))) => {
            read("the body".to_owned(), a, b)?;
        }
        _ => {}
    }
    Ok(out)
}

fn read_json(
    a: &Value,
    b: &Value,
    pointer: &str,
    read: &mut impl FnMut(String, &str, &str) -> Result<(), String>,
) -> Result<(), String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                if let Some(other) = b.get(key) {
                    read_json(value, other, &format!("{pointer}/{key}"), read)?;
                }
            }
            Ok(())
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .try_for_each(|(i, (x, y))| read_json(x, y, &format!("{pointer}/{i}"), read)),
        (Value::String(a), Value::String(b)) => read(format!("body `{pointer}`"), a, b),
        (Value::String(a), Value::Number(b)) => {
            read(format!("body `{pointer}`"), a, &b.to_string())
        }
        (a, b) if a == b => Ok(()),
        _ => Err(format!("body `{pointer}`")),
    }
}

/// Matches a template with at most one `{name}` against a literal template text. Slots match anything.
fn read_text(template: &str, literal: &str, out: &mut BTreeMap<String, String>) -> bool {
    let plain = |it: &str| it.replace("{{", "{").replace("}}", "}");
    let Some((before, name, after)) = split_hole(template) else {
        return template == literal;
    };
    if name.starts_with("slot_") {
        return true;
    }
    let (Some(rest), true) =
        (literal.strip_prefix(before), literal.len() >= before.len() + after.len())
    else {
        return false;
    };
    let Some(value) = rest.strip_suffix(after) else {
        return false;
    };
    out.entry(name.to_owned()).or_insert_with(|| plain(value)) == &plain(value)
}

/// The first `{name}` that is not an escaped brace.
fn split_hole(template: &str) -> Option<(&str, &str, &str)> {
    let bytes = template.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'{' | b'}' if bytes.get(i + 1) == Some(&bytes[i]) => i += 2,
            b'{' => {
                let end = i + template[i..].find('}')?;
                return Some((&template[..i], &template[i + 1..end], &template[end + 1..]));
            }
            _ => i += 1,
        }
    }
    None
}

/// Lines that only the second page showed; the second answer must hold one of them.
fn second_seen(recording: &SessionRecording, second: &SecondRecording) -> Vec<String> {
    let Some(second) = &second.recording else {
        return Vec::new();
    };
    let lines = |text: &str| -> BTreeSet<String> {
        text.lines()
            .map(|it| it.trim().to_owned())
            .filter(|it| (4..=160).contains(&it.len()))
            .collect()
    };
    let first = lines(&recording.page.visible_text);
    let typed: Vec<String> = second.typed.values().map(|it| it.to_lowercase()).collect();
    lines(&second.page.visible_text)
        .into_iter()
        // What was typed is shown by any page; it proves nothing.
        .filter(|it| !first.contains(it) && !typed.contains(&it.to_lowercase()))
        .take(200)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weaves_and_reads_back() {
        let cases = [
            ("rust", "rust", "sqlite", "{q}", "sqlite"),
            ("Rust", "rust", "sqlite", "{q}", "sqlite"),
            ("new york", "city/new-york", "city/san-francisco", "city/{q}", "san-francisco"),
            ("a b", "x a b y", "x c d y", "x {q} y", "c d"),
        ];
        for (typed, value, other, template, second) in cases {
            let mut text = value.to_owned();
            weave(&mut text, typed, "q").unwrap();
            assert_eq!(text, template);
            let mut out = BTreeMap::new();
            assert!(read_text(&text, other, &mut out), "{other}");
            assert_eq!(out["q"], second);
        }
        let mut out = BTreeMap::new();
        assert!(!read_text("literal", "other", &mut out));
        assert!(!read_text("a{q}b", "xyz", &mut out));
    }

    #[test]
    fn weaves_into_a_path_segment() {
        let mut url = "http://city.test/api/New%20York/forecast".to_owned();
        assert_eq!(weave_path(&mut url, "1", "new york", "city").unwrap(), "New York");
        assert_eq!(url, "http://city.test/api/{city}/forecast");
    }
}
