//! One thing that several answers give: the page shows what no answer alone has.

use commis_artifacts::{
    payloads::{RecipeDraftMinimized, SecondRecording},
    recording::{Exchange, SessionRecording},
};
use commis_recipe::{
    model::{RequestTemplate, ResponseSpec, ResponseType},
    request::CompiledRequest,
    steps::{Assembly, JoinedOutput, MAX_STEPS, Step},
};
use serde_json::Value;

use super::{
    chained::same_endpoint,
    effect::judge_recorded,
    minimize::used_slots,
    provenance::{Examples, answer, twin_of},
    request::{plain, template},
    request_weaver::RequestWeaver,
    template_match::read_back,
    templating::USUAL,
    trace::{SentRequest, TracedSteps, name_of, trace},
    validate::captured,
    witness::coverage,
};

/// Makes of a draft of one answer that of several, where the page showed one thing of which the answer says too little, and other
/// answers to the same input say the rest. Without them the draft stays as it is, and the proof says what it lacks.
pub fn join(
    draft: &mut RecipeDraftMinimized,
    exchange: &Exchange,
    (recording, second): (&SessionRecording, &SecondRecording),
) {
    let (Some(witness), Some(theirs)) = (&draft.witness, &second.recording) else { return };
    let is_alone = draft.steps.is_empty() && draft.assembly.is_none() && draft.slots.is_empty();
    if !witness.first.is_record || !is_alone || draft.response.kind != ResponseType::Json {
        return;
    }
    let Some(own) = captured(exchange, &draft.response) else { return };
    let held = |data: &Value| coverage(data, &witness.first, &witness.task);
    let mut best = held(&own.data);
    if best.is_whole() {
        return;
    }
    let later = recording.exchanges.iter().filter(|it| it.id > exchange.id);
    let mut others = Vec::new();
    let mut parts = vec![own.data.clone()];
    let asks_same = |it: &&Exchange| {
        let typed = |it: &Exchange| {
            let mut out: Vec<String> =
                it.measures.typed_in_request.iter().map(|hit| hit.name.clone()).collect();
            out.sort_unstable();
            out.dedup();
            out
        };
        !same_endpoint(it, exchange) && typed(it) == typed(exchange)
    };
    for it in recording.exchanges.iter().filter(asks_same) {
        let Some(step) = half(it, draft, (recording, second), theirs) else { continue };
        let Some(data) = answer(it) else { continue };
        parts.push(data.clone());
        let with = held(&Value::Array(parts.clone()));
        if with.fields_held > best.fields_held && others.len() + 2 <= MAX_STEPS {
            best = with;
            others.push(step);
        } else {
            parts.pop();
        }
    }
    if others.is_empty() || !best.is_whole() {
        let pair = |it: &Value| held(&Value::Array(vec![own.data.clone(), it.clone()]));
        let completes = |it: &&Exchange| answer(it).is_some_and(|it| pair(it).is_whole());
        let found = later
            .filter(|it| !same_endpoint(it, exchange))
            .filter(completes)
            .find_map(|it| detail_of(it, draft, (recording, second), theirs));
        if let Some((steps, request, output)) = found {
            draft.taken = steps.taken;
            draft.steps = steps.steps;
            draft.request = request;
            draft.assembly = Some(Assembly::Output(output));
            draft.response = ResponseSpec::new(ResponseType::Json);
        }
        return;
    }
    let mut names: Vec<String> = Vec::new();
    for request in std::iter::once(&draft.request).chain(others.iter().map(|it| &it.request)) {
        let name = name_of(request, |name| {
            names.iter().all(|it| it != name) && !draft.first.contains_key(name)
        });
        names.push(name);
    }
    let members: Vec<String> = names.iter().map(|it| format!("{it}: {it}")).collect();
    let last = names.remove(0);
    for (step, name) in others.iter_mut().zip(names) {
        step.name = name;
    }
    draft.steps = others;
    draft.assembly = Some(Assembly::Output(JoinedOutput {
        expression: format!("{{{}}}", members.join(", ")),
        last,
        response: draft.response.clone(),
    }));
    draft.response = ResponseSpec::new(ResponseType::Json);
}

/// The request of an answer that is one thing, with what was typed in its places. `None` where it may change something, or needs a value
/// that only the recorded session knew.
fn weave_reading<'a>(
    exchange: &Exchange,
    draft: &RecipeDraftMinimized,
    recording: &SessionRecording,
) -> Option<RequestWeaver<'a>> {
    answer(exchange)?.is_object().then_some(())?;
    judge_recorded(exchange, recording).is_read().then_some(())?;
    let (request, slots) = template(exchange)?;
    let is_sendable = matches!(request.method.as_str(), "GET" | "POST");
    (is_sendable && used_slots(&request, &slots).is_empty()).then_some(())?;
    let mut weave = RequestWeaver::new(plain(request), USUAL);
    weave.first.clone_from(&draft.first);
    weave.parameters.clone_from(&draft.parameters);
    weave.typed(exchange, &recording.typed);
    Some(weave)
}

/// The requests of another half that is asked for by a value of the draft's answer, and how both are put together. `None` where its
/// values come from elsewhere.
fn detail_of(
    exchange: &Exchange,
    draft: &RecipeDraftMinimized,
    (recording, second): (&SessionRecording, &SecondRecording),
    theirs: &SessionRecording,
) -> Option<(TracedSteps, RequestTemplate, JoinedOutput)> {
    let twin = Some(twin_of(exchange, theirs)?);
    let mut weave = weave_reading(exchange, draft, recording)?;
    let examples = Examples {
        first: recording,
        second: Some(theirs),
        typed: &recording.typed,
        second_typed: &second.values,
    };
    let sent = SentRequest { exchange, twin };
    let traced = trace(examples, sent, &mut weave, (&[], TracedSteps::default())).ok()?;
    let is_known = weave.parameters.len() == draft.parameters.len() && traced.slots.is_empty();
    let [own] = &traced.steps[..] else { return None };
    let is_own = own.request.url == draft.request.url
        && own.request.query == draft.request.query
        && own.request.body == draft.request.body
        && own.choose.is_none()
        && own.response.extract.is_none();
    (is_known && is_own).then_some(())?;
    let last = name_of(&weave.request, |name| name != own.name && !draft.first.contains_key(name));
    let of_own = match &draft.response.extract {
        None => own.name.clone(),
        Some(path) if path.starts_with(char::is_alphabetic) => format!("{}.{path}", own.name),
        Some(_) => return None,
    };
    let output = JoinedOutput {
        expression: format!("{{{0}: {of_own}, {last}: {last}}}", own.name),
        last,
        response: ResponseSpec {
            framing: exchange.framing,
            ..ResponseSpec::new(ResponseType::Json)
        },
    };
    Some((traced, weave.request, output))
}

/// The step that asks for the other half, with what was typed in its places; `None` where something else than the input tells what it
/// asks for.
fn half(
    exchange: &Exchange,
    draft: &RecipeDraftMinimized,
    (recording, second): (&SessionRecording, &SecondRecording),
    theirs: &SessionRecording,
) -> Option<Step> {
    let twin = twin_of(exchange, theirs)?;
    let weave = weave_reading(exchange, draft, recording)?;
    let values = read_back(&weave.request, &template(twin)?.0, &second.values, &|_, _, _| false);
    let is_followed =
        values.ok()?.iter().all(|(name, value)| second.values.get(name) == Some(value));
    let sent = CompiledRequest::new(&weave.request).ok()?;
    let names = sent.names();
    // Each parameter tells what is asked for, and nothing else does.
    let is_told = draft.parameters.iter().all(|it| !it.required || names.contains(&&*it.name));
    let is_known = weave.parameters.len() == draft.parameters.len();
    (is_followed && is_told && is_known).then(|| Step {
        name: String::new(),
        for_each: None,
        request: weave.request,
        response: ResponseSpec {
            framing: exchange.framing,
            ..ResponseSpec::new(ResponseType::Json)
        },
        choose: None,
        poll: None,
        into: None,
        position: None,
        optional: true,
    })
}
