//! What the other answers of a session say of one: how many come from the page's own site, by how much it is nearer to the task than
//! the next best, and whether a request that says more of the task was refused.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    answer_kind::{add_kinds, own_kind},
    endpoint::endpoint_key,
    linked_ids::link,
    relevance::Relevance,
    scored_exchange::ScoredExchange,
    signals::SignalContext,
};
use commis_artifacts::recording::{Exchange, ResourceType, SessionRecording};
use commis_net::egress::site_of;

/// Signals whose lead over every other endpoint counts, and the name of that lead.
const LEADS: &[(&str, &str)] =
    &[("words_anywhere", "words_lead"), ("answer_values", "values_lead")];
/// From this likeness, in thousandths, a word of a path is one of the task.
const NAMED: i32 = 700;
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
        refused.iter().map(|it| (carried(it), session.named_by_tail(&it.url))).collect();
    for it in all.iter_mut() {
        let share = |name: &str| it.shares.get(name).copied().unwrap_or(0);
        let lead = said.iter().map(|other| other - share("words_in_request")).max().unwrap_or(0);
        let own = carried(it.exchange);
        let tail = tails.iter().filter(|other| other.0 >= own).map(|other| other.1).max();
        let tail = tail.unwrap_or(0) - session.named_by_tail(&it.exchange.url);
        for (name, lead) in [("refused_lead", lead), ("refused_tail", tail)] {
            if lead > 0 {
                it.shares.insert(name, lead);
            }
        }
    }
    name_elsewhere(all, recording, session);
    set_other_kind(all, session);
    link(all, session.wording(), session.brands());
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

/// The path of another request of the site names what the task asks for, which this request does not say.
fn name_elsewhere(
    all: &mut [ScoredExchange<'_>],
    recording: &SessionRecording,
    session: &SignalContext<'_>,
) {
    let of_site = |url: &str| site_of(url) == site_of(&recording.page.url);
    let paths: BTreeSet<&str> = recording
        .exchanges
        .iter()
        .filter(|it| {
            of_site(&it.url) && matches!(it.resource_type, ResourceType::Xhr | ResourceType::Fetch)
        })
        .filter_map(|it| it.url.split('?').next())
        .collect();
    let tails: Vec<(&str, Relevance)> = paths.iter().map(|it| (*it, session.tail(it))).collect();
    for it in all.iter_mut().filter(|it| of_site(&it.exchange.url)) {
        let own = it.exchange.url.split('?').next().unwrap_or_default();
        let tail = session.tail(own);
        let others = || tails.iter().filter(|it| it.0 != own).map(|it| it.1);
        if tail.tail_named >= NAMED {
            let most = others().map(|it| it.tail_early).max().unwrap_or(0);
            if most > tail.tail_early {
                it.shares.insert("earlier_elsewhere", most - tail.tail_early);
            }
        } else if tail.tail_unnamed > 0 && session.named_in_path(own) < NAMED {
            let most = others().map(|it| it.tail_named).max().unwrap_or(0);
            if most >= NAMED {
                it.shares.insert("named_elsewhere", most);
            }
        }
    }
}

/// Every item of an answer says that it is of one kind, and answers of the session have another, which the task names.
fn set_other_kind(all: &mut [ScoredExchange<'_>], session: &SignalContext<'_>) {
    let mut kinds = BTreeSet::new();
    for it in all.iter() {
        add_kinds(it.exchange, &mut kinds);
    }
    let named = |kind: &str| session.wording().names_thing(kind, session.brands(), false) >= NAMED;
    if !kinds.iter().any(|it| named(it)) {
        return;
    }
    for it in all.iter_mut() {
        if own_kind(it.exchange).is_some_and(|it| !named(&it)) {
            it.shares.insert("other_kind", 1000);
        }
    }
}

/// Data was asked for, and an error came.
fn is_refused(it: &Exchange) -> bool {
    matches!(it.resource_type, ResourceType::Xhr | ResourceType::Fetch | ResourceType::Document)
        && it.status.is_some_and(|it| it >= 400)
}
