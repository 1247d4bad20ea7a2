//! parameterize: what a caller may vary, typed, with the values to verify it by.
//!
//! A typed value that stands in the request becomes a parameter, named as the manifest names it. Paging keys become optional
//! parameters whose effect verify must show. What differs between the two recordings without having been typed came from
//! somewhere else, so the task needs several calls.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::{
    account::{AccountPart, given_by_page, named_by_second_login, names_account},
    address::respelled,
    chained::{answered_before, borrowed, typed_slot},
    client_generated::is_client_generated,
    endpoint::endpoint_key,
    extraction::widen_by_twin,
    fan_out::{MAX_LEAVES, spread},
    host_list::close_hosts,
    item_kinds::other_kinds,
    joined::join,
    minimize::used_slots,
    options::ParameterControls,
    pages::{counted_part, further_items, moved, pages},
    polling::polled,
    provenance::{Examples, twin_of},
    recorded_timestamps::frozen_moment,
    replay::leaf_lines,
    request::template,
    request_weaver::{RequestWeaver, parts},
    target_block::second_login_shown,
    template_match::{literal_of, read_back},
    templating::{USUAL, forms},
    trace::{SentRequest, TraceFailure, TracedSteps, name_of, trace, trace_build_files},
    validate::captured,
    witness::{list_length, without_entries, witness},
};
use commis_artifacts::{
    payloads::{
        Captured, Judged, ListLength, MinimizationReport, Reason, RecipeDraft,
        RecipeDraftMinimized, Reject, SecondRecording, Witness,
    },
    recording::{Exchange, Place, SessionRecording, ShownBlock},
};
use commis_base::error::Result;
use commis_recipe::{
    model::{
        BodyTemplate, Framing, Pair, RequestTemplate, ResponseSpec, ResponseType, Slot, SlotSource,
    },
    steps::{MAX_STEPS, Step, split_step_name as step_parts},
    template::{Filter, Template},
};

/// Pure. Rejects with `several_calls` or `needs_login`.
pub fn parameterize(
    recording: &SessionRecording,
    second: &SecondRecording,
    draft: &RecipeDraft,
    report: &MinimizationReport,
) -> Result<Judged<RecipeDraftMinimized>> {
    let mut out = with_choices(recording, second, draft, report)?;
    if let Judged::Done(it) = &mut out {
        let has_twin = twin(second, draft)?.is_some() || it.captured.is_some();
        if let Err(why) = close_hosts(it, recording, has_twin) {
            return Ok(Judged::Rejected(Reject::new(Reason::SeveralCalls, why)));
        }
    }
    if let Judged::Done(it) = &mut out {
        let exchange = recording.exchange(draft.exchange)?;
        let twin = twin(second, draft)?;
        if let Err(why) = spread(it, exchange, recording, (second, twin)) {
            return Ok(Judged::Rejected(Reject::new(Reason::SeveralCalls, why)));
        }
        join(it, exchange, (recording, second));
    }
    Ok(out)
}

/// With the page's choices in place of what they send.
fn with_choices(
    recording: &SessionRecording,
    second: &SecondRecording,
    draft: &RecipeDraft,
    report: &MinimizationReport,
) -> Result<Judged<RecipeDraftMinimized>> {
    let Some(choices) =
        ParameterControls::from_recordings(recording, recording.exchange(draft.exchange)?, second)
    else {
        return weave_typed_values(recording, second, draft, report);
    };
    let (sent, second_sent) = choices.with_sent_values(recording, second);
    let mut out = weave_typed_values(&sent, &second_sent, draft, report)?;
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
    // Of a file no page shows the text: what the page got has the digest that each replay is compared with.
    if draft.response.framing == Some(Framing::File) {
        return Ok(None);
    }
    let both = second.recording.as_ref().zip(twin(second, draft)?);
    let further = both.map_or_else(Vec::new, |(it, twin)| pages(it, twin, &draft.response));
    let exchange = recording.exchange(draft.exchange)?;
    let own = pages(recording, exchange, &draft.response);
    let apart = |it| {
        let extract = draft.response.extract.as_deref();
        extract.map_or_else(Vec::new, |extract| other_kinds(extract, it))
    };
    let apart_second = both.map_or_else(Vec::new, |it| apart(it.1));
    Ok(witness(recording, second, (&own, &further), (&apart(exchange), &apart_second)))
}

/// What the second login's page showed of the data.
fn shown_to_second_login(
    recording: &SessionRecording,
    second: &SecondRecording,
    (exchange, response): (&Exchange, &ResponseSpec),
) -> Option<ShownBlock> {
    let mut out = second_login_shown(recording, second)?;
    let theirs = second.second_login.as_ref()?;
    let key = endpoint_key(exchange);
    if let Some(extract) = &response.extract
        && let Some(it) = theirs.exchanges.iter().find(|it| endpoint_key(it) == key)
    {
        without_entries(&mut out, &other_kinds(extract, it), &pages(theirs, it, response));
    }
    Some(out)
}

/// The request of the second recording.
fn twin<'a>(second: &'a SecondRecording, draft: &RecipeDraft) -> Result<Option<&'a Exchange>> {
    let both = second.recording.as_ref().zip(draft.second_exchange);
    both.map(|(it, id)| it.exchange(id)).transpose()
}

fn weave_typed_values(
    recording: &SessionRecording,
    second: &SecondRecording,
    draft: &RecipeDraft,
    report: &MinimizationReport,
) -> Result<Judged<RecipeDraftMinimized>> {
    let try_with = |chains: &[&[Filter]], used: &mut Vec<Vec<Filter>>| {
        attempt((recording, second), draft, report, (chains, ValueScope::Request), used)
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
    // Nothing that was typed explains it: what earlier requests were answered may.
    let (chains, reach) = (USUAL, ValueScope::Recording);
    match attempt((recording, second), draft, report, (chains, reach), &mut Vec::new())? {
        Judged::Rejected(why) if why.detail != TOO_MANY => Ok(usual),
        other => Ok(other),
    }
}

/// What is looked at for where a request's values came from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueScope {
    /// What was typed.
    Request,
    /// Earlier answers, too.
    Recording,
}

const TOO_MANY: &str = "its values come from more than four requests in a row";

const NAMES_ACCOUNT: &str =
    "the request names the account that signed in, so it would answer anybody with its things";

/// A template that takes a value of an earlier step.
fn is_of_step(template: &str, steps: &[Step]) -> bool {
    let of_step = |name: &str| steps.iter().any(|it| it.name == step_parts(name).0);
    Template::parse(template).is_ok_and(|it| it.names().any(of_step))
}

/// Changes that are tried without, one at a time.
const MAX_BANNED: usize = 6;

fn several_calls<T>(why: impl Into<String>) -> Judged<T> {
    Judged::Rejected(Reject::new(Reason::SeveralCalls, why))
}

/// The steps that give what stands in the request and was not typed. Fails with why there are none.
fn trace_answers(
    examples: Examples<'_>,
    sent: SentRequest<'_>,
    slots: &[Slot],
    out: &mut RequestWeaver<'_>,
    traced: TracedSteps,
) -> std::result::Result<TracedSteps, Reject> {
    trace(examples, sent, out, (slots, traced)).map_err(|why| {
        let why = match why {
            TraceFailure::TooMany => TOO_MANY.to_owned(),
            TraceFailure::Unknown(part) => format!("{part} stands in no earlier answer"),
        };
        Reject::new(Reason::SeveralCalls, why)
    })
}

/// Why a request whose slots no step fills cannot be sent for other inputs, or by others.
fn bound_to_session(
    slots: &[Slot],
    recording: &SessionRecording,
    request: &RequestTemplate,
) -> Option<Reject> {
    if let Some(reject) = session_value(slots) {
        return Some(reject);
    }
    if let Some(name) = typed_slot(slots, recording) {
        let why = format!("`{name}` comes from an earlier page that itself needs what was typed");
        return Some(Reject::new(Reason::SeveralCalls, why));
    }
    names_account(recording, request).then(|| Reject::new(Reason::NeedsLogin, NAMES_ACCOUNT))
}

/// The values of both recorded answers.
fn captured_leaves(
    exchange: &Exchange,
    twin: &Exchange,
    response: &ResponseSpec,
) -> Option<Captured> {
    let lines = |it| Some(leaf_lines(&captured(it, response)?.data, MAX_LEAVES));
    Some(Captured { first: lines(exchange)?, second: lines(twin)? })
}

/// What the recordings say of the length of the list.
fn known_length(
    (recording, exchange): (&SessionRecording, &Exchange),
    second: &SecondRecording,
    response: &ResponseSpec,
    witness: Option<&Witness>,
) -> ListLength {
    ListLength {
        moved: moved(recording, exchange),
        further: further_items(&pages(recording, exchange, response)),
        counted: counted_part(recording, exchange, response),
        ..list_length(recording, second, witness)
    }
}

/// Why what was typed does not explain the request. Where there is a second one (`has_twin`), it tells better what is constant.
fn unexplained(
    out: &RequestWeaver<'_>,
    recording: &SessionRecording,
    exchange: &Exchange,
    has_twin: bool,
) -> Option<String> {
    if let Some(name) = words_missing(&out.used, &out.first) {
        return Some(format!("only a part of `{name}` stands in the request"));
    }
    if let Some(name) = recording.typed.keys().find(|it| !out.first.contains_key(*it)) {
        return Some(format!(
            "`{name}` does not stand in the request as it was typed: its value comes from an earlier call"
        ));
    }
    if has_twin {
        return None;
    }
    let part = borrowed(&out.request, exchange, recording)?;
    Some(format!("{part} was not typed: its value stands in the answer to an earlier call"))
}

/// The parameters' values in the second request. Fails with why that is another request, or what in it was not typed.
fn read_second(
    out: &RequestWeaver<'_>,
    twin: &RequestTemplate,
    steps: &[Step],
    (recording, exchange): (&SessionRecording, &Exchange),
    second: &SecondRecording,
) -> Result<BTreeMap<String, String>, String> {
    let known = answered_before(exchange, recording);
    let passing = |part: &str, ours: &str, theirs: &str| {
        is_of_step(ours, steps)
            || is_client_generated(part, ours, theirs)
                && literal_of(ours).is_none_or(|it| !known.contains(&it))
    };
    let values = read_back(&out.request, twin, &second.values, &passing).map_err(|part| {
        format!("{part} differs between the two examples and was not typed: it comes from an earlier call")
    })?;
    match find_mistyped_value(&values, &out.first, second) {
        None => Ok(values),
        Some(name) => Err(format!(
            "`{name}` of the second request is not what was typed: it comes from an earlier call"
        )),
    }
}

/// Why a request with these slots cannot be sent by others, where one is known to the recorded session alone.
fn session_value(slots: &[Slot]) -> Option<Reject> {
    let slot = slots.iter().find(|it| matches!(it.from, SlotSource::Live { .. }))?;
    let why =
        format!("the request needs `{}`, a value that only the recorded session knew", slot.name);
    Some(Reject::new(Reason::NeedsLogin, why))
}

fn needs_login<T>(why: impl Into<String>) -> Judged<T> {
    Judged::Rejected(Reject::new(Reason::NeedsLogin, why))
}

/// Why a request that is sent alone would lack a value, where it would. An earlier answer may have given it in a header.
fn needs_earlier_answers<T>(
    recording: &SessionRecording,
    report: &MinimizationReport,
) -> Option<Judged<T>> {
    if let Some(reject) = session_value(&report.slots) {
        return Some(Judged::Rejected(reject));
    }
    if names_account(recording, &report.request) {
        return Some(needs_login(NAMES_ACCOUNT));
    }
    let name = typed_slot(&report.slots, recording)?;
    Some(several_calls(format!(
        "`{name}` comes from an earlier call that itself needs what was typed"
    )))
}

/// The values of the second input: read from its request where there is one, else those that were typed where they are all. Fails
/// with the reason why they cannot be read.
fn values_of_second(
    out: &mut RequestWeaver<'_>,
    twin: Option<&RequestTemplate>,
    steps: &[Step],
    first: (&SessionRecording, &Exchange),
    second: &SecondRecording,
) -> Result<Option<BTreeMap<String, String>>, String> {
    let mut values = if let Some(twin) = twin {
        Some(read_second(out, twin, steps, first, second)?)
    } else {
        let has_all = out.parameters.iter().all(|it| second.values.contains_key(&it.name));
        (!second.values.is_empty() && has_all).then(|| second.values.clone())
    };
    if let Some(values) = &mut values {
        complete(values, out, &second.values, !steps.is_empty());
    }
    Ok(values)
}

fn attempt(
    (recording, second): (&SessionRecording, &SecondRecording),
    draft: &RecipeDraft,
    report: &MinimizationReport,
    (chains, reach): (&[&[Filter]], ValueScope),
    used: &mut Vec<Vec<Filter>>,
) -> Result<Judged<RecipeDraftMinimized>> {
    let exchange = recording.exchange(draft.exchange)?;
    let second_typed = &second.values;
    if reach == ValueScope::Request
        && let Some(rejected) = needs_earlier_answers(recording, report)
    {
        return Ok(rejected);
    }
    let twin_exchange = match (twin(second, draft)?, reach, &second.recording) {
        (None, ValueScope::Recording, Some(it)) => twin_of(exchange, it),
        (it, ..) => it,
    };
    let twin = twin_exchange.and_then(template).map(|it| it.0);
    let mut out = RequestWeaver::new(report.request.clone(), chains);
    weave_typed(
        &mut out,
        recording,
        (exchange, &report.request),
        (twin_exchange.zip(twin.as_ref()), &second.values),
    );
    used.extend(out.used.iter().map(|it| it.1.clone()));
    used.dedup();
    let mut traced = trace_build_files(recording, &mut out, &report.slots);
    let mut slots = report.slots.clone();
    slots.retain(|it| !traced.filled.contains(&it.name));
    slots.extend(traced.slots.iter().cloned());
    if reach == ValueScope::Recording {
        let second = second.recording.as_ref().filter(|_| twin.is_some());
        let examples = Examples { first: recording, second, typed: &recording.typed, second_typed };
        let sent = SentRequest { exchange, twin: twin_exchange };
        match trace_answers(examples, sent, &report.slots, &mut out, traced) {
            Ok(it) => traced = it,
            Err(reject) => return Ok(Judged::Rejected(reject)),
        }
        slots.retain(|it| !traced.filled.contains(&it.name));
        if out.request.address.is_some() {
            // What stood in the address is not needed by itself.
            slots = used_slots(&out.request, &slots);
            slots.extend(traced.slots.iter().cloned());
        }
        if let Some(reject) = bound_to_session(&slots, recording, &out.request) {
            return Ok(Judged::Rejected(reject));
        }
    }
    if let Some(why) = unexplained(&out, recording, exchange, twin.is_some()) {
        return Ok(several_calls(why));
    }
    let first = (recording, exchange);
    let second_values =
        match values_of_second(&mut out, twin.as_ref(), &traced.steps, first, second) {
            Ok(values) => values,
            Err(why) => return Ok(several_calls(why)),
        };
    let mut account_part = None;
    match named_by_second_login(&out.request, exchange, second.second_login.as_ref(), &out.first) {
        AccountPart::Named(part) => {
            return Ok(needs_login(format!(
                "{part} is another with the second login: the request names the account, and would answer anybody with its things"
            )));
        }
        AccountPart::None => {}
        AccountPart::Unknown => account_part = given_by_page(&out.request, exchange, recording),
    }
    out.dates();
    out.paging();
    let moment = frozen_moment(&out.request, exchange);
    let both = second.recording.as_ref().zip(twin_exchange);
    traced.steps.extend(ready_step((recording, exchange), both, &out.request, &traced.steps));
    let witness = find_witness(recording, second, draft)?;
    let distinct = second_values.filter(|it| *it != out.first && !it.is_empty());
    Ok(Judged::Done(RecipeDraftMinimized {
        request: out.request,
        parameters: out.parameters,
        slots,
        steps: traced.steps,
        taken: traced.taken,
        assembly: None,
        response: widen_by_twin(&draft.response, exchange, twin_exchange),
        transport: draft.transport,
        captured_only: draft.captured_only,
        needs_login: draft.needs_login,
        evidence: out.evidence,
        first: out.first,
        second: distinct,
        second_seen: second_seen(recording, second),
        captured: twin_exchange.and_then(|it| captured_leaves(exchange, it, &draft.response)),
        compared: draft.compared,
        moment,
        account_part,
        second_login_shown: shown_to_second_login(recording, second, (exchange, &draft.response)),
        list: known_length((recording, exchange), second, &draft.response, witness.as_ref()),
        witness,
    }))
}

/// The step that waits until the answer is ready, where the page had asked until it was.
fn ready_step(
    first: (&SessionRecording, &Exchange),
    second: Option<(&SessionRecording, &Exchange)>,
    request: &RequestTemplate,
    steps: &[Step],
) -> Option<Step> {
    let poll = polled(first, second?).filter(|_| steps.len() + 1 < MAX_STEPS)?;
    let is_free =
        |name: &str| !first.0.typed.contains_key(name) && steps.iter().all(|it| it.name != name);
    Some(Step {
        name: name_of(request, is_free),
        for_each: None,
        request: request.clone(),
        response: ResponseSpec {
            framing: first.1.framing,
            ..ResponseSpec::new(ResponseType::Json)
        },
        choose: None,
        poll: Some(poll),
        into: None,
        position: None,
        optional: false,
    })
}

/// Puts parameters into every part of the request that was typed.
fn weave_typed(
    out: &mut RequestWeaver<'_>,
    recording: &SessionRecording,
    (exchange, ours): (&Exchange, &RequestTemplate),
    (twin, second): (Option<(&Exchange, &RequestTemplate)>, &BTreeMap<String, String>),
) {
    for (place, key, names) in parts(&exchange.measures.typed_in_request) {
        let mut typed: Vec<(&str, &str)> = names
            .into_iter()
            .filter_map(|it| Some((it, recording.typed.get(it)?.as_str())))
            .collect();
        if let Some((theirs, asked)) = twin {
            let at = (place, key);
            follow(&mut typed, at, ours, (theirs, asked), recording, second);
        }
        // `bergen hotels` before `bergen`; of equal ones that of the same name, and one that stands nowhere yet.
        typed.sort_by_key(|it| {
            (std::cmp::Reverse(it.1.len()), it.0 != key, out.first.contains_key(it.0))
        });
        out.part(place, key, &typed);
    }
}

/// Adds what chooses an item of an earlier answer, drops what no template uses, and keeps the values as examples.
fn complete(
    values: &mut BTreeMap<String, String>,
    out: &mut RequestWeaver<'_>,
    typed: &BTreeMap<String, String>,
    has_steps: bool,
) {
    // What chooses an item of an earlier answer is in no request.
    for name in out.first.keys().filter(|_| has_steps) {
        if let (false, Some(it)) = (values.contains_key(name), typed.get(name)) {
            values.insert(name.clone(), it.clone());
        }
    }
    values.retain(|name, _| out.first.contains_key(name));
    for it in &mut out.parameters {
        if let Some(value) = values.get(&it.name)
            && !it.examples.contains(value)
        {
            it.examples.push(value.clone());
        }
    }
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
        (Place::Host, _) => Url::parse(&request.url).ok()?.domain().map(str::to_owned),
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

/// A value read back from the second request that is not a spelling of what was typed the second time.
fn find_mistyped_value<'a>(
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
