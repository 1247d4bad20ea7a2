//! A request that nothing typed stands in, and that is the one all the same: it asks by values of an earlier answer that what was typed
//! chose, and its answer holds what the page showed.

use std::collections::BTreeMap;

use super::{
    provenance::Examples,
    request::template,
    request_weaver::RequestWeaver,
    templating::USUAL,
    trace::{SentRequest, TracedSteps, trace},
};
use commis_artifacts::{
    payloads::{Candidate, CandidateSet},
    recording::{Exchange, SessionRecording},
};
use commis_base::error::Result;
use commis_recipe::model::{ResponseSpec, ResponseType};

/// By how much more of what the page showed such an answer must hold than any that carries what was typed.
const MORE: u32 = 2;
/// Per cent of what the page showed of an answer that stand in the list which is all of it.
const MOST: u32 = 80;

/// The candidate, where there is one; `carries` says whether a request carries what was typed.
pub fn detail<'a>(
    recording: &SessionRecording,
    candidates: &'a CandidateSet,
    carries: impl Fn(&Candidate) -> bool,
) -> Result<Option<&'a Candidate>> {
    if recording.typed.is_empty() {
        return Ok(None);
    }
    let main = candidates.main.map(|it| it as usize);
    let weight = |it: &Exchange| {
        let items = main.and_then(|at| it.measures.holds.get(at)).copied().unwrap_or(0);
        (items, it.measures.visible_weight)
    };
    let mut best: Option<(&Candidate, &Exchange)> = None;
    let mut rival = (0, 0);
    for it in &candidates.candidates {
        let exchange = recording.exchange(it.exchange)?;
        if carries(it) {
            rival = rival.max(weight(exchange));
        } else if best.is_none_or(|known| weight(known.1) < weight(exchange)) {
            best = Some((it, exchange));
        }
    }
    let Some((candidate, exchange)) = best else { return Ok(None) };
    let own = weight(exchange);
    let is_more = own.0 > MORE * rival.0 || (own.0 == rival.0 && own.1 > MORE * rival.1);
    Ok((is_more && is_traced(exchange, recording)).then_some(candidate))
}

/// How the answer is read: of one thing with a list in it, all of the thing, where the page showed much beside the list.
pub fn whole_thing(mut response: ResponseSpec, exchange: &Exchange) -> ResponseSpec {
    let measures = &exchange.measures;
    let list = measures.lists.iter().find(|it| Some(&it.path) == response.extract.as_ref());
    let is_part = list.is_some_and(|it| it.leaves_visible * 100 < measures.leaves_visible * MOST);
    if is_part && response.kind == ResponseType::Json {
        response.extract = None;
        response.min_items = None;
    }
    response
}

/// Every typed value stands in the request or chose a value of it.
fn is_traced(exchange: &Exchange, recording: &SessionRecording) -> bool {
    let Some((request, _)) = template(exchange) else { return false };
    let nothing = BTreeMap::new();
    let examples = Examples {
        first: recording,
        second: None,
        typed: &recording.typed,
        second_typed: &nothing,
    };
    let mut weave = RequestWeaver::new(request, USUAL);
    weave.typed(exchange, &recording.typed);
    let traced = trace(
        examples,
        SentRequest { exchange, twin: None },
        &mut weave,
        (&[], TracedSteps::default()),
    );
    traced.is_ok_and(|it| !it.steps.is_empty()) && weave.has_all(recording.typed.keys())
}
