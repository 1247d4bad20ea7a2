//! What the other answers of a session say of one: how many come from the page's own site, by how much it is nearer to the task than
//! the next best, and whether a request that says more of the task was refused.

use std::collections::{BTreeMap, BTreeSet};

use super::{endpoint::endpoint_key, scored_exchange::ScoredExchange, signals::SignalContext};
use commis_artifacts::recording::{Exchange, ResourceType, SessionRecording};
use commis_net::egress::site_of;

/// Signals whose lead over every other endpoint counts, and the name of that lead.
const LEADS: &[(&str, &str)] =
    &[("words_anywhere", "words_lead"), ("answer_values", "values_lead")];
/// Endpoints of the page's own site from which it is crowded.
const CROWDED: usize = 4;

/// Adds the signals that compare exchanges of one session.
pub fn compare(
    all: &mut [ScoredExchange<'_>],
    recording: &SessionRecording,
    session: &SignalContext<'_>,
) {
    let answered: BTreeSet<&str> = all.iter().map(|it| it.endpoint_key.as_str()).collect();
    let refused: Vec<&Exchange> = recording
        .exchanges
        .iter()
        .filter(|it| {
            is_refused(it)
                && site_of(&it.url) == site_of(&recording.page.url)
                // An endpoint that also answered was refused only for a moment.
                && !answered.contains(endpoint_key(it).as_str())
        })
        .collect();
    let said: Vec<i32> = refused.iter().map(|it| session.said_in_request(it)).collect();
    // One that carries less of what was typed than the answer does was asked for something else.
    let carried = |it: &Exchange| it.measures.typed_in_request.len();
    let tails: Vec<(usize, i32)> =
        refused.iter().map(|it| (carried(it), session.named_by_tail(it))).collect();
    for it in all.iter_mut() {
        let share = |name: &str| it.shares.get(name).copied().unwrap_or(0);
        let lead = said.iter().map(|other| other - share("words_in_request")).max().unwrap_or(0);
        let own = carried(it.exchange);
        let tail = tails.iter().filter(|other| other.0 >= own).map(|other| other.1).max();
        let tail = tail.unwrap_or(0) - session.named_by_tail(it.exchange);
        for (name, lead) in [("refused_lead", lead), ("refused_tail", tail)] {
            if lead > 0 {
                it.shares.insert(name, lead);
            }
        }
    }
    let own = |it: &ScoredExchange<'_>| it.shares.contains_key("same_site");
    let sites: BTreeSet<String> =
        all.iter().filter(|it| own(it)).map(|it| it.endpoint_key.clone()).collect();
    for it in all.iter_mut().filter(|it| own(it)) {
        let others = (sites.len() - 1).min(CROWDED) as i32;
        if others > 0 {
            it.shares.insert("crowded_site", 1000 * others / CROWDED as i32);
        }
    }
    // Where the task's words are those of no request and of no answer, they are of another language.
    let speaks = |it: &ScoredExchange<'_>| {
        it.shares.contains_key("words_in_keys") || it.shares.contains_key("tail_named")
    };
    if !all.iter().any(speaks) {
        for it in all.iter_mut() {
            it.shares.remove("head_missing");
        }
    }
    for (signal, lead) in LEADS {
        let mut best: BTreeMap<&str, i32> = BTreeMap::new();
        for it in all.iter() {
            let share = it.shares.get(signal).copied().unwrap_or(0);
            let of_endpoint = best.entry(&it.endpoint_key).or_default();
            *of_endpoint = share.max(*of_endpoint);
        }
        let mut order: Vec<(i32, String)> =
            best.into_iter().map(|it| (it.1, it.0.to_owned())).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let next = order.get(1).map_or(0, |it| it.0);
        let Some((_, first)) = order.first() else { return };
        for it in all.iter_mut().filter(|it| it.endpoint_key == *first) {
            let share = it.shares.get(signal).copied().unwrap_or(0);
            if share > next {
                it.shares.insert(lead, share - next);
            }
        }
    }
}

/// Data was asked for, and an error came.
fn is_refused(it: &Exchange) -> bool {
    matches!(it.resource_type, ResourceType::Xhr | ResourceType::Fetch | ResourceType::Document)
        && it.status.is_some_and(|it| it >= 400)
}
