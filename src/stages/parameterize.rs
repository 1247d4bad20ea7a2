//! parameterize: what a caller may vary, typed, with the values to verify it by.
//!
//! A typed value that stands in the request becomes a parameter, named as the manifest names it. Paging keys become optional
//! parameters whose effect verify must show. What differs between the two recordings without having been typed came from
//! somewhere else, so the task needs several calls.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::{
    judge::leaf_lines,
    minimize::PAGING,
    request::{identifier, template},
    validate::captured,
};
use crate::{
    artifacts::{
        payloads::{
            Captured, Judged, MinimizationReport, Reason, RecipeDraft, RecipeDraftMinimized,
            Reject, SecondRecording,
        },
        recording::{Place, SessionRecording, TypedHit},
    },
    error::Result,
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
) -> Result<Judged<RecipeDraftMinimized>> {
    let exchange = recording.exchange(draft.exchange)?;
    if let Some(slot) = report.slots.iter().find(|it| matches!(it.from, SlotSource::Live { .. })) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::NeedsLogin,
            format!(
                "the request needs `{}`, a value that only the recorded session knew",
                slot.name
            ),
        )));
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
    if let Some(name) = recording.typed.keys().find(|it| !out.first.contains_key(*it)) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::SeveralCalls,
            format!(
                "`{name}` does not stand in the request as it was typed: its value comes from an earlier call"
            ),
        )));
    }
    let twin_exchange = second
        .recording
        .as_ref()
        .zip(draft.second_exchange)
        .map(|(it, id)| it.exchange(id))
        .transpose()?;
    let twin = twin_exchange.and_then(template).map(|it| it.0);
    let mut second_values = None;
    if let Some(twin) = &twin {
        match read_back(&out.request, twin) {
            Ok(values) => {
                if let Some(name) = mistyped(&values, &out.first, second) {
                    return Ok(Judged::Rejected(Reject::new(
                        Reason::SeveralCalls,
                        format!(
                            "`{name}` of the second request is not what was typed: it comes from an earlier call"
                        ),
                    )));
                }
                second_values = Some(values);
            }
            Err(part) => {
                return Ok(Judged::Rejected(Reject::new(
                    Reason::SeveralCalls,
                    format!(
                        "{part} differs between the two examples and was not typed: it comes from an earlier call"
                    ),
                )));
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
    Ok(Judged::Done(RecipeDraftMinimized {
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
        captured: twin_exchange.and_then(|twin| {
            let lines = |it| Some(leaf_lines(&captured(it, &draft.response)?.data, MAX_LEAVES));
            Some(Captured { first: lines(exchange)?, second: lines(twin)? })
        }),
        compared: draft.compared,
    }))
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
        let name = hit.name.clone();
        let part = format!("{:?}:{}", hit.place, hit.key);
        if self.woven.contains(&part) {
            return;
        }
        let mut kind = ParamType::Str;
        let before = self.request.clone();
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
        if let Some(known) = self.first.get(&name) {
            // One parameter cannot be spelled in two ways: the second place stays as it is, and the second recording decides.
            if *known == found {
                self.woven.insert(part);
            } else {
                self.request = before;
            }
            return;
        }
        self.woven.insert(part);
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
        let mut found: Vec<(String, String, String)> = Vec::new();
        for it in &mut self.request.query {
            if let Some(value) = paging_value(&it.name, &it.value) {
                let name = unique(&self.parameters, &found, &it.name);
                it.value = format!("{{{name}}}");
                found.push((name, value, format!("query {}", it.name)));
            }
        }
        match &mut self.request.body {
            Some(BodyTemplate::Form(fields)) => {
                for it in fields {
                    if let Some(value) = paging_value(&it.name, &it.value) {
                        let name = unique(&self.parameters, &found, &it.name);
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
                        let name = unique(&self.parameters, &found, key);
                        *it = Value::String(format!("{{{name}}}"));
                        found.push((name, value, format!("json /{key}")));
                    }
                }
            }
            _ => {}
        }
        for (name, value, place) in found {
            self.evidence.insert(name.clone(), format!("paging key, {place}"));
            self.parameters.push(Parameter {
                name,
                kind: ParamType::Int,
                required: false,
                source: ParamSource::TaskInput,
                default: Some(value.clone()),
                constraints: Constraints {
                    min: Some(0),
                    max: Some(1000.max(value.parse().unwrap_or(0))),
                    ..Constraints::default()
                },
                examples: vec![value],
            });
        }
    }
}

/// A name that no parameter has yet.
fn unique(taken: &[Parameter], found: &[(String, String, String)], key: &str) -> String {
    let base = identifier(key);
    let free = |name: &str| {
        !taken.iter().any(|it| it.name == name) && !found.iter().any(|it| it.0 == name)
    };
    let mut name = base.clone();
    let mut n = 2;
    while !free(&name) {
        name = format!("{base}_{n}");
        n += 1;
    }
    name
}

fn paging_value(name: &str, value: &str) -> Option<String> {
    let known = PAGING.contains(&name.to_ascii_lowercase().as_str());
    (known && value.len() <= 4 && !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()))
        .then(|| value.to_owned())
}

/// Replaces every occurrence of the typed value in a template by `{name}` and returns it as it stands there (its case may
/// differ, but all occurrences must be spelled alike). An occurrence inside a word is none, and a value inside JSON inside a
/// string is not touched, since it would have to be escaped.
fn weave(value: &mut String, typed: &str, name: &str) -> Option<String> {
    let nested = value.trim_start().starts_with(['[', '"']) || value.trim_start().starts_with("{{");
    for form in forms(typed) {
        let wanted = escape(&form);
        let found = occurrences(value, &wanted);
        let Some(first) = found.first() else { continue };
        let as_found = value[first.clone()].to_owned();
        if (nested && value.len() != as_found.len())
            || found.iter().any(|it| value[it.clone()] != as_found)
        {
            return None;
        }
        for range in found.iter().rev() {
            value.replace_range(range.clone(), &format!("{{{name}}}"));
        }
        return Some(as_found.replace("{{", "{").replace("}}", "}"));
    }
    None
}

/// Byte ranges of whole-word matches, ignoring case; none where lower-casing changes lengths.
fn occurrences(text: &str, wanted: &str) -> Vec<std::ops::Range<usize>> {
    let (lower, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    if lower.len() != text.len() || wanted.is_empty() {
        return Vec::new();
    }
    lower
        .match_indices(&wanted)
        .map(|(start, it)| start..start + it.len())
        .filter(|it| text.is_char_boundary(it.start) && text.is_char_boundary(it.end))
        .filter(|it| {
            let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !word(text[..it.start].chars().next_back()) && !word(text[it.end..].chars().next())
        })
        .collect()
}

/// The value as typed, and as paths and old-fashioned queries spell its spaces.
fn forms(typed: &str) -> Vec<String> {
    let mut out = vec![typed.to_owned()];
    if typed.contains(' ') {
        out.extend(["-", "_", "+"].map(|it| typed.replace(' ', it)));
    }
    out
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

/// A value read back from the second request that is not a spelling of what was typed the second time.
fn mistyped<'a>(
    values: &'a BTreeMap<String, String>,
    first: &BTreeMap<String, String>,
    second: &SecondRecording,
) -> Option<&'a String> {
    let typed = &second.recording.as_ref()?.typed;
    values.iter().filter(|(name, _)| first.contains_key(*name)).find_map(|(name, value)| {
        let forms = forms(typed.get(name)?);
        let same = forms.iter().any(|it| it.to_lowercase() == value.to_lowercase());
        (!same).then_some(name)
    })
}

/// Matches a template with against a literal template text. Slots match anything.
fn read_text(template: &str, literal: &str, out: &mut BTreeMap<String, String>) -> bool {
    let Some((before, name, after)) = split_hole(template) else {
        return template == literal;
    };
    let Some(rest) = literal.strip_prefix(before) else { return false };
    if name.starts_with("slot_") && split_hole(after).is_none() {
        return rest.ends_with(after);
    }
    // Up to the literal text before the next hole; the last hole takes what its tail leaves.
    let (end, tail) = match split_hole(after) {
        Some(("", _, _)) => return false,
        Some((literal_between, _, _)) => match rest.find(literal_between) {
            Some(end) => (end, after),
            None => return false,
        },
        None => match rest.strip_suffix(after) {
            Some(value) => (value.len(), after),
            None => return false,
        },
    };
    let value = rest[..end].replace("{{", "{").replace("}}", "}");
    let same = name.starts_with("slot_")
        || *out.entry(name.to_owned()).or_insert_with(|| value.clone()) == value;
    same && read_text(tail, &rest[end..], out)
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

/// Lines that only the second page showed, without what was typed: any page shows that, so it proves nothing.
fn second_seen(recording: &SessionRecording, second: &SecondRecording) -> Vec<String> {
    let Some(second) = &second.recording else { return Vec::new() };
    let lines = |text: &str| -> BTreeSet<String> {
        text.lines()
            .map(|it| it.trim().to_lowercase())
            .filter(|it| (2..=400).contains(&it.len()))
            .collect()
    };
    let first = lines(&recording.page.visible_text);
    lines(&second.page.visible_text)
        .into_iter()
        .filter(|it| !first.contains(it))
        .map(|it| {
            second.typed.values().fold(it, |it, typed| it.replace(&typed.to_lowercase(), " "))
        })
        .map(|it| it.trim().to_owned())
        .filter(|it| it.len() >= 2)
        .take(200)
        .collect()
}

/// Leaves of a captured answer that are kept to compare with.
const MAX_LEAVES: usize = 60;

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
            ("rust", "rust in:title rust", "go in:title go", "{q} in:title {q}", "go"),
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
        assert!(!read_text("{q} in:title {q}", "go in:title rust", &mut BTreeMap::new()));
        for (typed, value) in [("rust", "trust"), ("rust", "Rust rust"), ("a", "{{\"q\":\"a\"}}")] {
            assert_eq!(weave(&mut value.to_owned(), typed, "q"), None, "{value}");
        }
    }

    #[test]
    fn weaves_into_a_path_segment() {
        let mut url = "http://city.test/api/New%20York/forecast".to_owned();
        assert_eq!(weave_path(&mut url, "1", "new york", "city").unwrap(), "New York");
        assert_eq!(url, "http://city.test/api/{city}/forecast");
    }
}
