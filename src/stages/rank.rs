//! rank: which exchanges could have carried the data, best first, with every signal's share of the score.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use serde_json::Value;
use url::Url;

pub use super::endpoint::operation;
use super::{
    doubts::{Doubt, doubts},
    download::last_download,
    endpoint::{body_names, endpoint_key, is_further_page},
    extraction::holds_references,
    pages::continues,
    rivals,
    scored_exchange::ScoredExchange,
    signals::{NOTHING, NOTHING_TYPED, SignalContext, WEIGHTS, signals},
    target_block,
    terms::ExchangeWords,
};
use commis_artifacts::{
    payloads::{Candidate, CandidateSet, DataSource, Judged, Reason, Reject, SecondRecording},
    recording::{BodyStatus, Driver, Excerpt, Exchange, Place, ResourceType, SessionRecording},
};
use commis_base::settings::RankingSettings;
use commis_net::egress::site_of;
use commis_recipe::{
    model::Framing,
    shape::{similarity_bp, with_sorted_keys},
};

/// How many candidates are kept (seed 1.3).
const TOP: usize = 8;
/// Share of an embedded document's text that a list must hold to be what it is for.
const MOST_BP: u32 = 5000;

/// Pure. Rejects with `no_data_request`, `needs_login` or `anti_bot` when the recording itself shows that.
pub fn rank(
    recording: &SessionRecording,
    second: &SecondRecording,
    settings: &RankingSettings,
) -> Judged<CandidateSet> {
    ranked(recording, second, settings).0
}

/// What [`rank`] gives, and every doubt about the best candidate.
pub fn ranked(
    recording: &SessionRecording,
    second: &SecondRecording,
    settings: &RankingSettings,
) -> (Judged<CandidateSet>, Vec<Doubt>) {
    let Ranking { ranked, main, endpoints, scored, set_aside } = order(recording, second, settings);
    if let Some(reject) = wall_rejection(recording, &endpoints) {
        return (Judged::Rejected(reject), Vec::new());
    }
    let doubts = doubts(&ranked, 0, recording);
    let mut candidates: Vec<Candidate> =
        ranked.into_iter().map(|it| it.0).filter(|it| it.score_bp > 0).take(TOP).collect();
    for (i, it) in candidates.iter_mut().enumerate() {
        it.rank = i as u32 + 1;
    }
    if candidates.is_empty() {
        let why =
            format!("none of {} requests carried data for this task", recording.exchanges.len());
        return (Judged::Rejected(Reject::new(Reason::NoDataRequest, why)), doubts);
    }
    let doubt = doubts.first().map(|it| it.text.clone());
    (Judged::Done(CandidateSet { candidates, scored, set_aside, doubt, main }), doubts)
}

/// Every endpoint that could have carried the data, best first.
pub struct Ranking<'a> {
    pub ranked: Vec<(Candidate, ScoredExchange<'a>)>,
    /// The block of the page that the task was about.
    pub main: Option<u32>,
    /// Keys of all that were scored.
    endpoints: BTreeSet<String>,
    /// Exchanges that were scored, of which some are one endpoint.
    scored: u32,
    /// How many could not carry data, by why.
    set_aside: BTreeMap<String, u32>,
}

/// Scores, merges what is one endpoint, sorts and says how sure each is. Pure.
pub fn order<'a>(
    recording: &'a SessionRecording,
    second: &SecondRecording,
    settings: &RankingSettings,
) -> Ranking<'a> {
    let weights = weights(settings);
    let (mut all, mut set_aside) = scored(recording, second);
    without_opaque(&mut all);
    let is_scored = |id: &u32| all.iter().any(|it| it.exchange.id == *id);
    let download = last_download(recording).filter(is_scored);
    if let Some(id) = download {
        let others = all.len() as u32 - 1;
        all.retain(|it| it.exchange.id == id);
        set_aside.insert("not the downloaded file".to_owned(), others);
    }
    let main = target_block::of_first(recording, second).map(|it| it.at);
    if let Some(main) = main {
        weigh_by_page_items(&mut all, recording, main);
    } else if recording.driver == Driver::Har {
        demote_earlier_documents(&mut all, recording);
    }
    let is_unseen = recording.driver == Driver::Har && main.is_none();
    let share = |it: &ScoredExchange<'_>, name: &str| it.shares.get(name).copied().unwrap_or(0);
    let count = all.len() as u32;
    let mut best: BTreeMap<String, (Candidate, ScoredExchange<'_>)> = BTreeMap::new();
    for it in all {
        let candidate = weigh(&it, &weights);
        match best.entry(it.endpoint_key.clone()) {
            Entry::Vacant(slot) => _ = slot.insert((candidate, it)),
            Entry::Occupied(mut slot) => {
                // The last of equals: the answer that ended up on the page. Of several pages, the first.
                let held = slot.get();
                if continues(it.exchange, held.1.exchange) {
                    continue;
                }
                let by_names = query_names(held.1.exchange).cmp(&query_names(it.exchange));
                let is_better = candidate.score_bp.cmp(&held.0.score_bp).then(by_names).is_ge();
                // Where nobody saw the page, what it was last asked for is what the session came to.
                let is_last = is_unseen
                    && share(&it, "typed_in_request") >= share(&held.1, "typed_in_request");
                if is_better || is_last {
                    slot.insert((candidate, it));
                }
            }
        }
    }
    let endpoints = best.keys().cloned().collect();
    let mut ranked: Vec<(Candidate, ScoredExchange<'_>)> = best.into_values().collect();
    ranked.sort_by(|(a, _), (b, _)| b.score_bp.cmp(&a.score_bp).then(a.exchange.cmp(&b.exchange)));
    drop_variants(&mut ranked, &recording.page.url, is_unseen);
    let nothing = NOTHING + if recording.typed.is_empty() { 0 } else { NOTHING_TYPED };
    let confidences = match download {
        // What the steps came to is known.
        Some(_) => vec![10_000; ranked.len()],
        None => confidences(&ranked, &weights, nothing),
    };
    for (it, confidence) in ranked.iter_mut().zip(confidences) {
        it.0.confidence_bp = confidence;
    }
    Ranking { ranked, main: main.map(|it| it as u32), endpoints, scored: count, set_aside }
}

/// Leaves out answers in forms that are not decoded, where a page that carries what was typed says the same in HTML.
fn without_opaque(all: &mut Vec<ScoredExchange<'_>>) {
    let carries = |it: &ScoredExchange<'_>| !it.exchange.measures.typed_in_request.is_empty();
    let is_opaque = |it: &ScoredExchange<'_>| match &it.exchange.excerpt {
        Some(Excerpt::Json(it)) => holds_references(it),
        Some(Excerpt::Text(_)) => it.exchange.mime == "text/x-component",
        _ => false,
    };
    let is_page =
        |it: &ScoredExchange<'_>| carries(it) && !it.exchange.measures.listings.is_empty();
    if all.iter().any(is_page) {
        all.retain(|it| !is_opaque(it));
    }
}

/// Holds every answer to the items of the page's block that the task was about: where one has most of them, what has few is
/// something beside the data, such as suggestions before a search.
fn weigh_by_page_items(all: &mut [ScoredExchange<'_>], recording: &SessionRecording, main: usize) {
    const MOST: i32 = 600;
    const FEW: i32 = 300;
    let block = &recording.page.shown[main];
    let items = match block.rows.first() {
        Some(it) if block.is_record => {
            it.iter().flatten().filter(|it| it.chars().nth(2).is_some()).count() as u32
        }
        _ => block.count,
    };
    // One text says little, unless it is all that the page shows.
    if items < 2 && !(block.is_record && recording.page.shown.len() == 1) {
        return;
    }
    let carries = |it: &ScoredExchange<'_>| !it.exchange.measures.typed_in_request.is_empty();
    let held = |it: &ScoredExchange<'_>| -> i32 {
        let held = it.exchange.measures.holds.get(main).copied().unwrap_or(0);
        (1000 * held.min(items)).checked_div(items).unwrap_or(0) as i32
    };
    // A page shows nothing of what was asked for before it was opened, where it or a later answer has the items.
    let is_document = |it: &&Exchange| it.resource_type == ResourceType::Document;
    let opened = recording.exchanges.iter().rfind(is_document).map_or(0, |it| it.id);
    let since = all.iter().any(|it| it.exchange.id >= opened && carries(it) && held(it) >= MOST);
    let is_before = |it: &ScoredExchange<'_>| since && it.exchange.id < opened;
    let share = |it: &ScoredExchange<'_>| if is_before(it) { 0 } else { held(it) };
    let mut holders = all.iter().filter(|it| share(it) >= MOST).peekable();
    if holders.peek().is_none() {
        return;
    }
    // Where none of them carries what was typed, the call that does led to them.
    let chained = !holders.any(carries);
    for it in all {
        let share = share(it);
        if share > 0 {
            it.shares.insert("holds_items", share);
        }
        if share < FEW && !(chained && carries(it)) {
            it.shares.insert("lacks_items", 1000);
        }
    }
}

/// Where nobody saw the page: of several documents that carry what was typed, the last is what the session came to.
fn demote_earlier_documents(all: &mut [ScoredExchange<'_>], recording: &SessionRecording) {
    let is_page = |it: &ScoredExchange<'_>| {
        it.exchange.resource_type == ResourceType::Document
            && !it.exchange.measures.typed_in_request.is_empty()
    };
    if !all.iter().any(|it| is_page(it) && it.exchange.url == recording.page.url) {
        return;
    }
    for it in all.iter_mut().filter(|it| is_page(it) && it.exchange.url != recording.page.url) {
        it.shares.insert("left_behind", 1000);
    }
}

/// One path called with more and with fewer query names, answered in one shape, no call nearer to the task than the other, is
/// one endpoint: the page that the session ended at stays, or else the call that asks for the least. Where nobody saw the page
/// (`is_unseen`), the last one of them is what the session came to.
fn drop_variants(ranked: &mut Vec<(Candidate, ScoredExchange<'_>)>, page: &str, is_unseen: bool) {
    const TASK: &[&str] =
        &["typed_in_request", "task_values", "url_task_overlap", "follows_input", "holds_items"];
    let is_page = |it: &ScoredExchange<'_>| it.exchange.url == page;
    let alike = |a: &ScoredExchange<'_>, b: &ScoredExchange<'_>| {
        let path = |it: &Exchange| it.url.split('?').next().map(str::to_owned);
        a.exchange.method == b.exchange.method
            && path(a.exchange) == path(b.exchange)
            && operation(a.exchange) == operation(b.exchange)
            && body_names(a.exchange) == body_names(b.exchange)
            && TASK.iter().all(|it| a.shares.get(it) == b.shares.get(it))
            && similarity_bp(&a.exchange.measures.shape, &b.exchange.measures.shape) >= 8500
    };
    let mut kept: Vec<(Candidate, ScoredExchange<'_>)> = Vec::with_capacity(ranked.len());
    // Where those with one method and path stand in `kept`.
    let mut places: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for it in ranked.drain(..) {
        let path = it.1.exchange.url.split('?').next().unwrap_or("").to_owned();
        let places = places.entry((it.1.exchange.method.clone(), path)).or_default();
        match places.iter().copied().find(|at| alike(&kept[*at].1, &it.1)) {
            None => {
                places.push(kept.len());
                kept.push(it);
            }
            Some(at) if is_page(&kept[at].1) => {}
            Some(at) if is_unseen => {
                let known = kept[at].1.exchange;
                let (first, last) = if it.0.exchange > known.id {
                    (known, it.1.exchange)
                } else {
                    (it.1.exchange, known)
                };
                let wanted = if is_further_page(last, first) { first } else { last };
                if wanted.id == it.0.exchange {
                    kept[at] = it;
                }
            }
            Some(at)
                if is_page(&it.1)
                    || query_names(it.1.exchange) < query_names(kept[at].1.exchange) =>
            {
                kept[at] = it;
            }
            Some(_) => {}
        }
    }
    kept.sort_by(|(a, _), (b, _)| b.score_bp.cmp(&a.score_bp).then(a.exchange.cmp(&b.exchange)));
    *ranked = kept;
}

/// How sure each candidate is the one, basis points: a softmax over all candidates and over "none of them", whose weight is
/// `nothing`. Weights are thousandths of a logit, fitted on recorded sessions (`scripts/fit-ranking.py`).
fn confidences(
    ranked: &[(Candidate, ScoredExchange<'_>)],
    weights: &BTreeMap<&str, i32>,
    nothing: i32,
) -> Vec<u32> {
    let logit = |shares: &BTreeMap<&str, i32>| {
        let sum: i64 = shares
            .iter()
            .map(|(name, share)| {
                i64::from(weights.get(name).copied().unwrap_or(0)) * i64::from(*share)
            })
            .sum();
        sum as f64 / 1e6
    };
    let logits: Vec<f64> = ranked.iter().map(|it| logit(&it.1.shares)).collect();
    let nothing = f64::from(nothing) / 1e3;
    let most = logits.iter().copied().fold(nothing, f64::max);
    let whole: f64 = logits.iter().chain([&nothing]).map(|it| (it - most).exp()).sum();
    logits.iter().map(|it| ((it - most).exp() / whole * 10_000.0).round() as u32).collect()
}

fn query_names(exchange: &Exchange) -> usize {
    Url::parse(&exchange.url).map_or(0, |it| it.query_pairs().count())
}

fn weights(settings: &RankingSettings) -> BTreeMap<&str, i32> {
    let mut out: BTreeMap<&str, i32> = WEIGHTS.iter().copied().collect();
    for (name, weight) in &settings.weights {
        if let Some(it) = out.get_mut(name.as_str()) {
            *it = *weight;
        }
    }
    out
}

/// Every signal there is, for checking settings.
pub fn signal_names() -> impl Iterator<Item = &'static str> {
    WEIGHTS.iter().map(|it| it.0)
}

/// Why an exchange cannot be the data request, whatever it says.
fn unfit(exchange: &Exchange) -> Option<&'static str> {
    match exchange.resource_type {
        // A picture that the site gives as a file was read as such.
        ResourceType::Image | ResourceType::Font | ResourceType::Media
            if exchange.framing != Some(Framing::File) =>
        {
            return Some("image, font or media");
        }
        ResourceType::Stylesheet => return Some("stylesheet"),
        // A script that is nothing but data (JSONP) was read as such.
        ResourceType::Script
            if !matches!(exchange.excerpt, Some(Excerpt::Json(_)))
                || exchange.framing == Some(Framing::Script) =>
        {
            return Some("script");
        }
        ResourceType::Preflight => return Some("preflight"),
        ResourceType::Websocket | ResourceType::EventSource => return Some("stream"),
        ResourceType::Ping => return Some("beacon"),
        ResourceType::Manifest => return Some("manifest"),
        ResourceType::Prefetch => return Some("prefetch"),
        _ => {}
    }
    match exchange.method.as_str() {
        "GET" | "POST" => {}
        _ => return Some("method"),
    }
    match exchange.status {
        None => return Some("no answer"),
        Some(200..300) => {}
        Some(_) => return Some("status"),
    }
    let json = exchange.mime.ends_with("json");
    match (&exchange.excerpt, exchange.body_status) {
        (Some(_), _) => None,
        (None, BodyStatus::Binary) => Some("binary"),
        (None, BodyStatus::Empty) => Some("empty"),
        // A body that was lost can still be told by its request.
        (None, BodyStatus::Evicted | BodyStatus::TooLarge | BodyStatus::Absent) if json => None,
        (None, _) => Some("no data in the body"),
    }
}

/// Every exchange that could have carried the data, in recorded order; and how many could not, by why.
pub fn scored<'a>(
    recording: &'a SessionRecording,
    second: &SecondRecording,
) -> (Vec<ScoredExchange<'a>>, BTreeMap<String, u32>) {
    let mut set_aside = BTreeMap::new();
    let mut fit = Vec::new();
    let mut session = SignalContext::new(recording);
    for exchange in &recording.exchanges {
        commis_base::work::step(64);
        if let Some(why) = unfit(exchange) {
            *set_aside.entry(why.to_owned()).or_insert(0) += 1;
        } else {
            fit.push((exchange, endpoint_key(exchange), session.texts(exchange)));
        }
    }
    let one_each: BTreeMap<&str, &ExchangeWords> =
        fit.iter().map(|it| (it.1.as_str(), &it.2)).collect();
    session.count(one_each.into_values());
    let feeders = token_feeders(&fit);
    let mut all: Vec<ScoredExchange<'_>> = fit
        .iter()
        .map(|(exchange, key, texts)| {
            let mut shares = signals(exchange, texts, &session);
            if feeders.contains(&exchange.id) {
                shares.insert("hands_out_token", 1000);
            }
            let (second_exchange, follows) =
                second.recording.as_ref().map_or((None, 0), |it| follow(exchange, key, it));
            if follows > 0 {
                shares.insert("follows_input", follows);
            }
            ScoredExchange { exchange, endpoint_key: key.clone(), shares, second_exchange }
        })
        .collect();
    rivals::compare(&mut all, recording, &session);
    (all, set_aside)
}

/// A secret or a whole object in a request.
struct SentValue {
    id: u32,
    path: Option<String>,
    what: String,
}

/// Exchanges whose answer holds a secret or a whole object that a later request to another path sends: calls made in order
/// to ask.
fn token_feeders(fit: &[(&Exchange, String, ExchangeWords)]) -> BTreeSet<u32> {
    let path = |it: &Exchange| it.url.split('?').next().map(str::to_owned);
    let mut sent: Vec<SentValue> = Vec::new();
    for (it, ..) in fit {
        let url = Url::parse(&it.url).ok();
        let objects = url.iter().flat_map(Url::query_pairs).filter_map(|(_, value)| object(&value));
        let secrets = it.origins.iter().map(|it| it.placeholder.clone());
        let secrets = secrets.filter(|it| it.starts_with("[REDACTED:"));
        let all = objects.chain(secrets);
        sent.extend(all.map(|what| SentValue { id: it.id, path: path(it), what }));
    }
    let mut wanted: Vec<&str> = sent.iter().map(|it| it.what.as_str()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let objects = wanted.iter().any(|it| it.starts_with('{'));
    // Of each, the last request that sends it, and the last that sends it to another path than that.
    let mut last: BTreeMap<&str, [Option<&SentValue>; 2]> = BTreeMap::new();
    for it in sent.iter().rev() {
        let [first, other] = last.entry(&it.what).or_default();
        match first {
            None => *first = Some(it),
            Some(known) if known.path == it.path => {}
            Some(_) => *other = other.or(Some(it)),
        }
    }
    let mut out = BTreeSet::new();
    for (it, ..) in fit {
        let Some(Excerpt::Json(answer)) = &it.excerpt else { continue };
        let mut held = BTreeSet::new();
        placeholders(answer, &wanted, objects, &mut held);
        let own = path(it);
        let later = |what: &&str| {
            let sends = last.get(what).into_iter().flatten().flatten();
            sends.filter(|to| to.path != own).any(|to| to.id > it.id)
        };
        if held.iter().any(later) {
            out.insert(it.id);
        }
    }
    out
}

fn placeholders<'a>(value: &Value, wanted: &[&'a str], objects: bool, out: &mut BTreeSet<&'a str>) {
    match value {
        Value::String(text) if text.starts_with(['[', '{']) => {
            if let Ok(at) = wanted.binary_search(&text.as_str()) {
                out.insert(wanted[at]);
            }
        }
        Value::Array(items) => items.iter().for_each(|it| placeholders(it, wanted, objects, out)),
        Value::Object(fields) => {
            // Objects are only written out where somebody sent one.
            if objects && let Ok(at) = wanted.binary_search(&value.to_string().as_str()) {
                out.insert(wanted[at]);
            }
            fields.values().for_each(|it| placeholders(it, wanted, objects, out));
        }
        _ => {}
    }
}

/// A value that is a JSON object of some size, in one spelling.
fn object(text: &str) -> Option<String> {
    let text = Some(text).filter(|it| it.starts_with('{') && it.len() >= 24)?;
    serde_json::from_str::<Value>(text).ok().map(|it| with_sorted_keys(it).to_string())
}

/// What every positive signal in full adds up to. What the page bears witness to comes on top of that.
fn sum_of_weights(weights: &BTreeMap<&str, i32>) -> i64 {
    let positive = weights.iter().filter(|it| *it.1 > 0 && *it.0 != "holds_items");
    positive.map(|it| i64::from(*it.1)).sum::<i64>().max(1)
}

/// What a signal in full adds to a score by the weights of the program, basis points.
pub(super) fn full_signal_bp(signal: &str) -> i32 {
    let weights: BTreeMap<&str, i32> = WEIGHTS.iter().copied().collect();
    let weight = i64::from(weights.get(signal).copied().unwrap_or(0));
    (weight * 10_000 / sum_of_weights(&weights)) as i32
}

fn weigh(it: &ScoredExchange<'_>, weights: &BTreeMap<&str, i32>) -> Candidate {
    let ScoredExchange { exchange, endpoint_key, shares, second_exchange, .. } = it;
    let whole = sum_of_weights(weights);
    let features: BTreeMap<String, i32> = shares
        .iter()
        .map(|(name, share)| {
            let weight = i64::from(weights.get(name).copied().unwrap_or(0));
            ((*name).to_owned(), (weight * i64::from(*share) * 10 / whole) as i32)
        })
        .filter(|it| it.1 != 0)
        .collect();
    let score_bp = features.values().sum::<i32>().clamp(0, 10_000);
    Candidate {
        exchange: exchange.id,
        rank: 0,
        score_bp,
        features,
        method: exchange.method.clone(),
        url_summary: shorten(&exchange.url, 160),
        content_type: exchange.mime.clone(),
        operation: operation(exchange),
        endpoint_key: endpoint_key.clone(),
        source: source(exchange),
        second_exchange: *second_exchange,
        confidence_bp: 0,
    }
}

/// The same endpoint in the second recording, and how surely its answer follows the input: the second values stand where the
/// first stood, and the answers differ.
fn follow(exchange: &Exchange, key: &str, second: &SessionRecording) -> (Option<u32>, i32) {
    let same: Vec<&Exchange> = second
        .exchanges
        .iter()
        .filter(|it| {
            unfit(it).is_none() && (endpoint_key(it) == key || same_but_typed(exchange, it))
        })
        .collect();
    let places = |it: &Exchange| -> Vec<(String, String)> {
        it.measures.typed_in_request.iter().map(|hit| (hit.name.clone(), hit.key.clone())).collect()
    };
    let wanted = places(exchange);
    let is_first = |it: &&&Exchange| !same.iter().any(|other| continues(it, other));
    let twin = same
        .iter()
        .rev()
        .filter(is_first)
        .find(|it| !wanted.is_empty() && wanted.iter().all(|place| places(it).contains(place)))
        .or_else(|| same.last().filter(|_| wanted.is_empty()));
    match twin {
        None => (None, 0),
        Some(it) => {
            let differs = it.excerpt != exchange.excerpt;
            (Some(it.id), if !wanted.is_empty() && differs { 1000 } else { 0 })
        }
    }
}

/// Two requests to one endpoint whose path or host holds the typed value.
fn same_but_typed(a: &Exchange, b: &Exchange) -> bool {
    let generic = |it: &Exchange| -> Option<(String, String, Vec<String>)> {
        let url = Url::parse(&it.url).ok()?;
        let typed: Vec<usize> = it
            .measures
            .typed_in_request
            .iter()
            .filter(|hit| hit.place == Place::Path)
            .filter_map(|hit| hit.key.parse().ok())
            .collect();
        let hits = &it.measures.typed_in_request;
        let is_host_typed = hits.iter().any(|hit| hit.place == Place::Host);
        if typed.is_empty() && !is_host_typed {
            return None;
        }
        let host = if is_host_typed { "*" } else { url.host_str()? };
        let segments = url
            .path_segments()?
            .enumerate()
            .map(|(i, it)| if typed.contains(&i) { "*".to_owned() } else { it.to_owned() })
            .collect();
        Some((it.method.clone(), host.to_owned(), segments))
    };
    generic(a).is_some_and(|it| Some(it) == generic(b))
}

fn source(exchange: &Exchange) -> DataSource {
    match &exchange.excerpt {
        Some(Excerpt::Html(_)) => {
            let best = exchange.measures.embedded_json.iter().map(|it| it.leaves_visible).max();
            // The script must hold most of what the page shows; a page often embeds settings too.
            match best {
                Some(seen) if seen > 0 && seen * 2 >= exchange.measures.leaves_visible => {
                    DataSource::EmbeddedJson
                }
                // Nobody saw the page that its script draws: what the server sent has nothing else.
                Some(_) if exchange.measures.listings.is_empty() && embeds_a_list(exchange) => {
                    DataSource::EmbeddedJson
                }
                _ => DataSource::Html,
            }
        }
        Some(Excerpt::Text(_)) => DataSource::Text,
        _ => DataSource::Json,
    }
}

/// A script of the page holds little more than a list of things.
fn embeds_a_list(exchange: &Exchange) -> bool {
    let lists = exchange.measures.embedded_json.iter().flat_map(|it| &it.lists);
    lists.into_iter().any(|it| it.of_objects && it.len >= 2 && it.share_bp >= MOST_BP)
}

/// The recording shows by itself that the data stayed behind a wall.
fn wall_rejection(recording: &SessionRecording, endpoints: &BTreeSet<String>) -> Option<Reject> {
    let walled = recording.exchanges.iter().rev().find(|it| {
        matches!(it.status, Some(401 | 403))
            && matches!(
                it.resource_type,
                ResourceType::Xhr | ResourceType::Fetch | ResourceType::Document
            )
            && !it.measures.typed_in_request.is_empty()
    });
    let challenged = recording.exchanges.iter().any(|it| {
        matches!(it.status, Some(403 | 429 | 503))
            && site_of(&it.url) == site_of(&recording.page.url)
            && matches!(
                it.resource_type,
                ResourceType::Document | ResourceType::Xhr | ResourceType::Fetch
            )
            && it.response_headers.iter().any(|header| header.name == "cf-mitigated")
    });
    if challenged {
        return Some(Reject::new(
            Reason::AntiBot,
            "the site answered with a challenge for browsers it distrusts",
        ));
    }
    let it = walled?;
    if endpoints.contains(&endpoint_key(it)) {
        return None;
    }
    Some(Reject::new(
        Reason::NeedsLogin,
        format!("{} {} answered {}", it.method, shorten(&it.url, 100), it.status.unwrap_or(0)),
    ))
}

/// A URL for people: cut with an ellipsis.
pub fn shorten(url: &str, max: usize) -> String {
    if url.chars().count() <= max {
        return url.to_owned();
    }
    url.chars().take(max - 1).chain(['…']).collect()
}
