//! parameterize: what a caller may vary, typed, with the values to verify it by.
//!
//! A typed value that stands in the request becomes a parameter, named as the manifest names it. Paging keys become optional
//! parameters whose effect verify must show. What differs between the two recordings without having been typed came from
//! somewhere else, so the task needs several calls.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    account::{AccountPart, given_by_page, named_by_second_login, names_account},
    address::respelled,
    chained::{answered_before, borrowed, typed_slot},
    extraction::widened,
    judge::leaf_lines,
    minimize::PAGING,
    moment::frozen_moment,
    options::Choices,
    page_made::page_made,
    pages::{moved, pages},
    read_back::{literal_of, read_back},
    request::{identifier, template},
    subject::second_login_shown,
    validate::captured,
    weave::{Found, USUAL, as_number, forms, weave},
    witness::{list_length, witness},
};
use commis_artifacts::{
    payloads::{
        Captured, Judged, ListLength, MinimizationReport, Reason, RecipeDraft,
        RecipeDraftMinimized, Reject, SecondRecording, Witness,
    },
    recording::{Exchange, Place, SessionRecording, TypedHit},
};
use commis_base::error::Result;
use commis_recipe::{
    model::{
        BodyTemplate, Constraints, Format, Pair, ParamSource, ParamType, Parameter,
        RequestTemplate, SlotSource,
    },
    template::{Filter, Template},
    values::is_date,
};

/// Pure. Rejects with `several_calls` or `needs_login`.
pub fn parameterize(
    recording: &SessionRecording,
    second: &SecondRecording,
    draft: &RecipeDraft,
    report: &MinimizationReport,
) -> Result<Judged<RecipeDraftMinimized>> {
    let Some(choices) = Choices::of(recording, recording.exchange(draft.exchange)?, second) else {
        return woven(recording, second, draft, report);
    };
    let (sent, second_sent) = choices.sent(recording, second);
    let mut out = woven(&sent, &second_sent, draft, report)?;
    if let Judged::Done(it) = &mut out {
        choices.name(it);
        it.second_seen = second_seen(recording, second);
        it.witness = find_witness(recording, second, draft)?;
    }
    Ok(out)
}

/// What the pages showed of the data, in terms of what was typed.
fn find_witness(
    recording: &SessionRecording,
    second: &SecondRecording,
    draft: &RecipeDraft,
) -> Result<Option<Witness>> {
    let further = second.recording.as_ref().zip(twin(second, draft)?);
    let further = further.map_or_else(Vec::new, |(it, twin)| pages(it, twin, &draft.response));
    let own = pages(recording, recording.exchange(draft.exchange)?, &draft.response);
    Ok(witness(recording, second, (&own, &further)))
}

/// The request of the second recording.
fn twin<'a>(second: &'a SecondRecording, draft: &RecipeDraft) -> Result<Option<&'a Exchange>> {
    let both = second.recording.as_ref().zip(draft.second_exchange);
    both.map(|(it, id)| it.exchange(id)).transpose()
}

fn woven(
    recording: &SessionRecording,
    second: &SecondRecording,
    draft: &RecipeDraft,
    report: &MinimizationReport,
) -> Result<Judged<RecipeDraftMinimized>> {
    let try_with = |chains: &[&[Filter]], used: &mut Vec<Vec<Filter>>| {
        attempt((recording, second), draft, report, chains, used)
    };
    let driven = second.recording.is_some() && draft.second_exchange.is_some();
    let usual = try_with(USUAL, &mut Vec::new())?;
    // With no second request to prove it by, a change is thought of only where nothing else explains the first.
    let usual = match usual {
        Judged::Done(mut it) if !driven => {
            let recordings: Vec<_> = std::iter::once(recording).chain(&second.recording).collect();
            let values = it.second.as_ref().map(|second| (&it.first, second));
            let other = values.and_then(|values| respelled(&it.request.url, values, &recordings));
            it.request.url = other.unwrap_or(it.request.url);
            return Ok(Judged::Done(it));
        }
        it => it,
    };
    let mut used = Vec::new();
    let changed = try_with(Filter::CHAINS, &mut used)?;
    if matches!(changed, Judged::Done(_)) {
        return Ok(changed);
    }
    // Of two changes that explain the first example the second may refute one: `05.05.2026`.
    for banned in used.into_iter().take(MAX_BANNED) {
        let left: Vec<&[Filter]> =
            Filter::CHAINS.iter().copied().filter(|it| **it != *banned).collect();
        let other = try_with(&left, &mut Vec::new())?;
        if matches!(other, Judged::Done(_)) {
            return Ok(other);
        }
    }
    Ok(usual)
}

/// Changes that are tried without, one at a time.
const MAX_BANNED: usize = 6;

fn attempt(
    (recording, second): (&SessionRecording, &SecondRecording),
    draft: &RecipeDraft,
    report: &MinimizationReport,
    chains: &[&[Filter]],
    used: &mut Vec<Vec<Filter>>,
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
    if names_account(recording, &report.request) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::NeedsLogin,
            "the request names the account that signed in, so it would answer anybody with its things",
        )));
    }
    if let Some(name) = typed_slot(&report.slots, recording) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::SeveralCalls,
            format!("`{name}` comes from an earlier call that itself needs what was typed"),
        )));
    }
    let twin_exchange = twin(second, draft)?;
    let twin = twin_exchange.and_then(template).map(|it| it.0);
    let mut out = Weave {
        request: report.request.clone(),
        parameters: Vec::new(),
        evidence: BTreeMap::new(),
        first: BTreeMap::new(),
        chains,
        used: Vec::new(),
    };
    for (place, key, names) in parts(&exchange.measures.typed_in_request) {
        let mut typed: Vec<(&str, &str)> = names
            .into_iter()
            .filter_map(|it| Some((it, recording.typed.get(it)?.as_str())))
            .collect();
        if let Some((theirs, asked)) = twin_exchange.zip(twin.as_ref()) {
            let at = (place, key);
            follow(&mut typed, at, &report.request, (theirs, asked), recording, &second.values);
        }
        // `bergen hotels` before `bergen`; of equal ones that of the same name, and one that stands nowhere yet.
        typed.sort_by_key(|it| {
            (std::cmp::Reverse(it.1.len()), it.0 != key, out.first.contains_key(it.0))
        });
        out.part(place, key, &typed);
    }
    used.extend(out.used.iter().map(|it| it.1.clone()));
    used.dedup();
    if let Some(name) = words_missing(&out.used, &out.first) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::SeveralCalls,
            format!("only a part of `{name}` stands in the request"),
        )));
    }
    if let Some(name) = recording.typed.keys().find(|it| !out.first.contains_key(*it)) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::SeveralCalls,
            format!(
                "`{name}` does not stand in the request as it was typed: its value comes from an earlier call"
            ),
        )));
    }
    // Where there is a second request, it tells better what is constant.
    if twin.is_none()
        && let Some(part) = borrowed(&out.request, exchange, recording)
    {
        return Ok(Judged::Rejected(Reject::new(
            Reason::SeveralCalls,
            format!("{part} was not typed: its value stands in the answer to an earlier call"),
        )));
    }
    let mut second_values = None;
    if let Some(twin) = &twin {
        let known = answered_before(exchange, recording);
        let passing = |part: &str, ours: &str, theirs: &str| {
            page_made(part, ours, theirs) && literal_of(ours).is_none_or(|it| !known.contains(&it))
        };
        match read_back(&out.request, twin, &second.values, &passing) {
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
    let mut account_part = None;
    match named_by_second_login(&out.request, exchange, second.second_login.as_ref(), &out.first) {
        AccountPart::Named(part) => {
            return Ok(Judged::Rejected(Reject::new(
                Reason::NeedsLogin,
                format!(
                    "{part} is another with the second login: the request names the account, and would answer anybody with its things"
                ),
            )));
        }
        AccountPart::None => {}
        AccountPart::Unknown => account_part = given_by_page(&out.request, exchange, recording),
    }
    out.dates();
    out.paging();
    let moment = frozen_moment(&out.request, exchange);
    let witness = find_witness(recording, second, draft)?;
    let distinct = second_values.filter(|it| *it != out.first && !it.is_empty());
    Ok(Judged::Done(RecipeDraftMinimized {
        request: out.request,
        parameters: out.parameters,
        slots: report.slots.clone(),
        response: widened(&draft.response, exchange, twin_exchange),
        transport: draft.transport,
        captured_only: draft.captured_only,
        needs_login: draft.needs_login,
        evidence: out.evidence,
        first: out.first,
        second: distinct,
        second_seen: second_seen(recording, second),
        captured: twin_exchange.and_then(|twin| {
            let lines = |it| Some(leaf_lines(&captured(it, &draft.response)?.data, MAX_LEAVES));
            Some(Captured { first: lines(exchange)?, second: lines(twin)? })
        }),
        compared: draft.compared,
        moment,
        account_part,
        second_login_shown: second_login_shown(recording, second),
        list: ListLength {
            moved: moved(recording, exchange),
            ..list_length(recording, second, witness.as_ref())
        },
        witness,
    }))
}

/// Leaves of the values that could stand in a part those that the second request has there, where it tells: a part that stayed
/// the same although its value did not is constant, and of two equal values one follows.
fn follow(
    typed: &mut Vec<(&str, &str)>,
    (place, key): (Place, &str),
    ours: &RequestTemplate,
    (theirs, asked): (&Exchange, &RequestTemplate),
    recording: &SessionRecording,
    second: &BTreeMap<String, String>,
) {
    let hits = &theirs.measures.typed_in_request;
    let there = |name: &str| {
        hits.iter().any(|it| (it.name.as_str(), it.place, &*it.key) == (name, place, key))
    };
    let part = part_text(ours, place, key);
    let constant = part.is_some() && part == part_text(asked, place, key);
    typed.retain(|(name, value)| {
        let elsewhere = hits.iter().any(|it| it.name == *name);
        there(name) || !constant || !elsewhere || second.get(*name).is_none_or(|it| it == value)
    });
    let rivals = |it: &&str| {
        let value = recording.typed.get(*it);
        typed.iter().any(|other| other.0 != *it && recording.typed.get(other.0) == value)
    };
    let contested: Vec<String> =
        typed.iter().map(|it| it.0).filter(|it| rivals(it)).map(str::to_owned).collect();
    if contested.iter().any(|it| there(it)) {
        typed.retain(|it| there(it.0) || !contested.iter().any(|name| name == it.0));
    }
}

/// What stands in one part of a request, as text.
fn part_text(request: &RequestTemplate, place: Place, key: &str) -> Option<String> {
    let named = |pairs: &[Pair]| {
        let values: Vec<&str> =
            pairs.iter().filter(|it| it.name == key).map(|it| it.value.as_str()).collect();
        (!values.is_empty()).then(|| values.join("\n"))
    };
    match (place, &request.body) {
        (Place::Query, _) => named(&request.query),
        (Place::Form, Some(BodyTemplate::Form(fields))) => named(fields),
        (Place::Json, Some(BodyTemplate::Json(body))) => body.pointer(key).map(Value::to_string),
        (Place::Text, Some(BodyTemplate::Text(text))) => Some(text.clone()),
        (Place::Path, _) => {
            let path = request.url.splitn(4, '/').nth(3)?;
            path.split('/').nth(key.parse().ok()?).map(str::to_owned)
        }
        _ => None,
    }
}

/// The parameter of which some words stand in the request, but not all.
fn words_missing<'a>(
    used: &'a [(String, Vec<Filter>)],
    first: &BTreeMap<String, String>,
) -> Option<&'a str> {
    let word = |chain: &[Filter]| chain.iter().find_map(|it| it.word());
    used.iter().filter(|it| word(&it.1).is_some()).find_map(|(name, _)| {
        let words = first.get(name)?.split_whitespace().count();
        let has = |n| used.iter().any(|it| it.0 == *name && word(&it.1) == Some(n));
        (!(1..=words).all(has)).then_some(name.as_str())
    })
}

/// Objects within objects that are looked through for paging keys.
const PAGING_DEPTH: usize = 2;

struct Weave<'a> {
    request: RequestTemplate,
    parameters: Vec<Parameter>,
    evidence: BTreeMap<String, String>,
    first: BTreeMap<String, String>,
    chains: &'a [&'a [Filter]],
    /// By which changes what was put in.
    used: Vec<(String, Vec<Filter>)>,
}

impl Weave<'_> {
    /// Puts parameters where typed values stand in one part. A part that was minimized away, or that holds a slot, is passed over.
    fn part(&mut self, place: Place, key: &str, typed: &[(&str, &str)]) {
        let before = self.request.clone();
        let what = (typed, self.chains);
        let woven = match (place, &mut self.request.body) {
            (Place::Path, _) => weave_path(&mut self.request.url, key, what),
            (Place::Query, _) => weave_pairs(&mut self.request.query, key, what),
            (Place::Form, Some(BodyTemplate::Form(fields))) => weave_pairs(fields, key, what),
            (Place::Json, Some(BodyTemplate::Json(body))) => match body.pointer_mut(key) {
                Some(Value::String(it)) => weave_template(it, what),
                Some(it @ Value::Number(_)) => weave_number(it, what),
                _ => None,
            },
            (Place::Text, Some(BodyTemplate::Text(it))) => weave_template(it, what),
            _ => None,
        };
        let Some(found) = woven else { return };
        // One parameter cannot be set to two values: the second place stays as it is, and the second recording decides.
        let differs = |it: &Found| {
            let known = found.iter().find(|known| known.name == it.name).map(|it| &it.value);
            self.first.get(&it.name).or(known).is_some_and(|known| *known != it.value)
        };
        if found.iter().any(differs) {
            self.request = before;
            return;
        }
        for it in found {
            if !it.chain.is_empty() {
                self.used.push((it.name.clone(), it.chain.clone()));
            }
            if let Some(known) = self.parameters.iter_mut().find(|known| known.name == it.name) {
                // A number in one place is a number everywhere.
                if known.kind == ParamType::Str {
                    known.kind = it.kind;
                }
                continue;
            }
            self.evidence.insert(
                it.name.clone(),
                format!("typed value found in {place:?} {key}").to_lowercase(),
            );
            self.first.insert(it.name.clone(), it.value.clone());
            self.parameters.push(Parameter {
                name: it.name,
                kind: it.kind,
                required: true,
                source: ParamSource::TaskInput,
                default: None,
                constraints: Constraints { max_len: Some(200), ..Constraints::default() },
                examples: vec![it.value],
            });
        }
    }

    /// A parameter whose examples are dates takes dates.
    fn dates(&mut self) {
        for it in &mut self.parameters {
            if it.kind == ParamType::Str && it.examples.iter().all(|it| is_date(it)) {
                it.constraints.format = Some(Format::Date);
            }
        }
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
            Some(BodyTemplate::Json(body)) => {
                paging_json(body, "", 0, &self.parameters, &mut found);
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

/// In the body's objects and those within, such as GraphQL's variables.
fn paging_json(
    value: &mut Value,
    pointer: &str,
    depth: usize,
    taken: &[Parameter],
    found: &mut Vec<(String, String, String)>,
) {
    let Value::Object(fields) = value else { return };
    for (key, it) in fields {
        if it.is_u64()
            && let Some(value) = paging_value(key, &it.to_string())
        {
            let name = unique(taken, found, key);
            *it = Value::String(format!("{{{name}}}"));
            found.push((name, value, format!("json {pointer}/{key}")));
        } else if depth < PAGING_DEPTH {
            paging_json(it, &format!("{pointer}/{key}"), depth + 1, taken, found);
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

/// Typed values by name, and how they may have been changed.
type Typed<'a> = (&'a [(&'a str, &'a str)], &'a [&'a [Filter]]);

fn weave_template(text: &mut String, what: Typed<'_>) -> Option<Vec<Found>> {
    let template = Template::parse(text).ok().filter(Template::is_literal)?;
    let literal = template.render(|_| Err::<String, ()>(())).ok()?;
    // Of two values that differ in case alone, the one that is written so.
    let mut typed = what.0.to_vec();
    typed.sort_by_key(|it| (std::cmp::Reverse(it.1.len()), !literal.contains(it.1)));
    let woven = weave(&literal, &typed, what.1)?;
    *text = woven.text;
    Some(woven.found)
}

/// A name may come more than once, each time with a value of its own.
fn weave_pairs(pairs: &mut [Pair], name: &str, what: Typed<'_>) -> Option<Vec<Found>> {
    let named = pairs.iter_mut().filter(|it| it.name == name);
    let found: Vec<Found> =
        named.filter_map(|it| weave_template(&mut it.value, what)).flatten().collect();
    (!found.is_empty()).then_some(found)
}

/// A number stays a number.
fn weave_number(it: &mut Value, what: Typed<'_>) -> Option<Vec<Found>> {
    let Value::Number(number) = &*it else { return None };
    let found = as_number(number, what.0, what.1)?;
    let filters = found.chain.iter().map(|it| it.as_str());
    let mut parts: Vec<&str> = std::iter::once(found.name.as_str()).chain(filters).collect();
    if !found.chain.is_empty() {
        parts.push(Filter::Number.as_str());
    }
    *it = Value::String(format!("{{{}}}", parts.join("|")));
    Some(vec![found])
}

fn weave_path(url: &mut String, index: &str, what: Typed<'_>) -> Option<Vec<Found>> {
    let index: usize = index.parse().ok()?;
    let authority_end = url.find("://").map(|it| it + 3)?;
    let path_start = authority_end + url[authority_end..].find('/')?;
    let (base, path) = url.split_at(path_start);
    let mut segments: Vec<String> = path[1..].split('/').map(str::to_owned).collect();
    let segment = segments.get_mut(index)?;
    let mut decoded =
        percent_encoding::percent_decode_str(segment).decode_utf8().ok()?.into_owned();
    let found = weave_template(&mut decoded, what)?;
    // What stands around goes back to its percent-encoded form; braces, bars and names need none.
    *segment = percent_encoding::utf8_percent_encode(&decoded, PATH_SEGMENT).to_string();
    *url = format!("{base}/{}", segments.join("/"));
    Some(found)
}

/// The parts that typed values stand in, those first that hold nothing else, each with the names of its values.
fn parts(hits: &[TypedHit]) -> Vec<(Place, &str, Vec<&str>)> {
    let mut hits: Vec<&TypedHit> = hits.iter().collect();
    hits.sort_by_key(|it| (!it.exact, it.place));
    let mut out: Vec<(Place, &str, Vec<&str>)> = Vec::new();
    let mut whole: Vec<(Place, &str)> = Vec::new();
    for hit in hits {
        let part = (hit.place, hit.key.as_str());
        if hit.exact {
            whole.push(part);
        }
        match out.iter_mut().find(|it| (it.0, it.1) == part) {
            None => out.push((part.0, part.1, vec![&hit.name])),
            // Under a name that comes twice, each of two values can be a whole one.
            Some(_) if whole.contains(&part) && !hit.exact => {}
            Some(it) => it.2.push(&hit.name),
        }
    }
    out
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
    fn a_name_that_comes_twice_takes_two_values() {
        let pair = |value: &str| Pair {
            name: "tag".to_owned(),
            value: value.to_owned(),
            ..Pair::default()
        };
        let hit = |name: &str| TypedHit {
            name: name.to_owned(),
            place: Place::Query,
            key: "tag".to_owned(),
            exact: true,
            option: false,
        };
        let hits = [hit("first"), hit("second")];
        let (_, key, names) = parts(&hits).remove(0);
        assert_eq!((key, names), ("tag", vec!["first", "second"]));
        let typed: Typed = (&[("first", "sunset"), ("second", "pier")], USUAL);
        let mut pairs = [pair("sunset"), pair("sea"), pair("pier")];
        assert_eq!(weave_pairs(&mut pairs, "tag", typed).unwrap().len(), 2);
        assert_eq!(pairs, [pair("{first}"), pair("sea"), pair("{second}")]);
        assert!(weave_pairs(&mut pairs, "label", typed).is_none());
    }

    #[test]
    fn weaves_into_a_path_segment() {
        for (index, url, typed, woven, value) in [
            (
                "1",
                "http://city.test/api/New%20York/forecast",
                "New York",
                "http://city.test/api/{city}/forecast",
                "New York",
            ),
            (
                "0",
                "http://city.test/New%20York.html",
                "new york",
                "http://city.test/{city}.html",
                "New York",
            ),
            (
                "1",
                "http://city.test/in/new-york%2Fus",
                "New York",
                "http://city.test/in/{city|slug}%2Fus",
                "New York",
            ),
        ] {
            let mut text = url.to_owned();
            let found = weave_path(&mut text, index, (&[("city", typed)], USUAL)).unwrap();
            assert_eq!((text.as_str(), found[0].value.as_str()), (woven, value));
        }
    }
}
