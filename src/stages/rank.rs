//! rank: which exchanges could have carried the data, best first, with every signal's share of the score.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::signals::{Session, WEIGHTS, signals};
use crate::{
    artifacts::{
        payloads::{Candidate, CandidateSet, DataSource, Judged, Reason, Reject, SecondRecording},
        recording::{BodyStatus, Excerpt, Exchange, RequestBody, ResourceType, SessionRecording},
    },
    settings::RankingSettings,
};

/// How many candidates are kept (seed 1.3).
const TOP: usize = 8;
/// Basis points. Below this an exchange has nothing to do with the task: neither typed values nor visible data move it past this.
const FLOOR_BP: i32 = 1500;

/// Pure. Rejects with `no_data_request`, `needs_login` or `anti_bot` when the recording itself shows that.
pub fn rank(
    recording: &SessionRecording,
    second: &SecondRecording,
    settings: &RankingSettings,
) -> Judged<CandidateSet> {
    let session = Session::new(recording);
    let weights = weights(settings);
    let second = second.recording.as_ref();
    let mut set_aside = BTreeMap::new();
    let mut scored = 0;
    let mut best: BTreeMap<String, Candidate> = BTreeMap::new();
    for exchange in &recording.exchanges {
        if let Some(why) = unfit(exchange) {
            *set_aside.entry(why.to_owned()).or_insert(0) += 1;
            continue;
        }
        scored += 1;
        let candidate = score(exchange, &session, second, &weights);
        let slot = best.entry(candidate.endpoint_key.clone());
        slot.and_modify(|held| {
            // The last of equals: the answer that ended up on the page.
            if candidate.score_bp >= held.score_bp {
                *held = candidate.clone();
            }
        })
        .or_insert(candidate);
    }
    if let Some(reject) = refused(recording, best.values()) {
        return Judged::Rejected(reject);
    }
    let mut candidates: Vec<Candidate> =
        best.into_values().filter(|it| it.score_bp >= FLOOR_BP).collect();
    candidates.sort_by(|a, b| b.score_bp.cmp(&a.score_bp).then(a.exchange.cmp(&b.exchange)));
    candidates.truncate(TOP);
    for (i, it) in candidates.iter_mut().enumerate() {
        it.rank = i as u32 + 1;
    }
    if candidates.is_empty() {
        return Judged::Rejected(Reject::new(
            Reason::NoDataRequest,
            format!("none of {} requests carried data for this task", recording.exchanges.len()),
        ));
    }
    Judged::Done(CandidateSet { candidates, scored, set_aside })
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
        ResourceType::Image | ResourceType::Font | ResourceType::Media => {
            return Some("image, font or media");
        }
        ResourceType::Stylesheet => return Some("stylesheet"),
        // A script that is nothing but data (JSONP) was read as such.
        ResourceType::Script if !matches!(exchange.excerpt, Some(Excerpt::Json(_))) => {
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

fn score(
    exchange: &Exchange,
    session: &Session<'_>,
    second: Option<&SessionRecording>,
    weights: &BTreeMap<&str, i32>,
) -> Candidate {
    let endpoint_key = endpoint_key(exchange);
    let (second_exchange, follows) = match second {
        Some(second) => follow(exchange, &endpoint_key, second),
        None => (None, 0),
    };
    let mut shares = signals(exchange, session);
    if follows > 0 {
        shares.insert("follows_input", follows);
    }
    // Scaled so that every positive signal in full makes 10,000.
    let whole: i64 =
        weights.values().filter(|it| **it > 0).map(|it| i64::from(*it)).sum::<i64>().max(1);
    let features: BTreeMap<String, i32> = shares
        .into_iter()
        .map(|(name, share)| {
            let weight = i64::from(weights.get(name).copied().unwrap_or(0));
            (name.to_owned(), (weight * i64::from(share) * 10 / whole) as i32)
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
        endpoint_key,
        source: source(exchange),
        second_exchange,
    }
}

/// The same endpoint in the second recording, and how surely its answer follows the input: the second values stand where the
/// first stood, and the answers differ.
fn follow(exchange: &Exchange, key: &str, second: &SessionRecording) -> (Option<u32>, i32) {
    let same: Vec<&Exchange> = second
        .exchanges
        .iter()
        .filter(|it| {
            unfit(it).is_none() && (endpoint_key(it) == key || same_but_path(exchange, it))
        })
        .collect();
    let places = |it: &Exchange| -> Vec<(String, String)> {
        it.measures.typed_in_request.iter().map(|hit| (hit.name.clone(), hit.key.clone())).collect()
    };
    let wanted = places(exchange);
    let twin = same
        .iter()
        .rev()
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

/// Two requests to one endpoint whose path holds the typed value.
fn same_but_path(a: &Exchange, b: &Exchange) -> bool {
    let generic = |it: &Exchange| -> Option<(String, String, Vec<String>)> {
        let url = Url::parse(&it.url).ok()?;
        let typed: Vec<usize> = it
            .measures
            .typed_in_request
            .iter()
            .filter(|hit| hit.place == crate::artifacts::recording::Place::Path)
            .filter_map(|hit| hit.key.parse().ok())
            .collect();
        if typed.is_empty() {
            return None;
        }
        let segments = url
            .path_segments()?
            .enumerate()
            .map(|(i, it)| if typed.contains(&i) { "*".to_owned() } else { it.to_owned() })
            .collect();
        Some((it.method.clone(), url.host_str()?.to_owned(), segments))
    };
    generic(a).is_some_and(|it| Some(it) == generic(b))
}

/// Equal keys are one endpoint: method, host, path, sorted query names, operation (seed 1.3). An operation that says which
/// data is meant is part of the key, or all of GraphQL would be one endpoint.
pub fn endpoint_key(exchange: &Exchange) -> String {
    let Ok(url) = Url::parse(&exchange.url) else {
        return exchange.url.clone();
    };
    let mut names: Vec<String> = url.query_pairs().map(|it| it.0.into_owned()).collect();
    names.sort_unstable();
    names.dedup();
    let operation = operation(exchange).map(|it| format!(" #{it}")).unwrap_or_default();
    format!(
        "{} {}{}?{}{operation}",
        exchange.method,
        url.host_str().unwrap_or(""),
        url.path(),
        names.join("&")
    )
}

/// GraphQL `operationName` (or the query's first field), persisted-query hash, or JSON-RPC `method`.
pub fn operation(exchange: &Exchange) -> Option<String> {
    let from_query = || {
        let url = Url::parse(&exchange.url).ok()?;
        url.query_pairs().find(|it| it.0 == "operationName").map(|it| it.1.into_owned())
    };
    let Some(RequestBody::Json(body)) = &exchange.request_body else {
        return from_query();
    };
    let body = body.get(0).unwrap_or(body);
    let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    text("operationName")
        .or_else(|| body.get("jsonrpc").and_then(|_| text("method")))
        .or_else(|| {
            let query = text("query").filter(|it| it.contains('{'))?;
            let inner = query.split_once('{')?.1;
            let name: String = inner
                .trim_start()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            (!name.is_empty()).then_some(name)
        })
        .or_else(from_query)
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
                _ => DataSource::Html,
            }
        }
        Some(Excerpt::Text(_)) => DataSource::Text,
        _ => DataSource::Json,
    }
}

/// The recording shows by itself that the data stayed behind a wall.
fn refused<'a>(
    recording: &SessionRecording,
    mut candidates: impl Iterator<Item = &'a Candidate>,
) -> Option<Reject> {
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
            && it.resource_type == ResourceType::Document
            && it.response_headers.iter().any(|header| header.name == "cf-mitigated")
    });
    if challenged {
        return Some(Reject::new(
            Reason::AntiBot,
            "the site answered with a challenge for browsers it distrusts",
        ));
    }
    let it = walled?;
    let key = endpoint_key(it);
    if candidates.any(|candidate| candidate.endpoint_key == key) {
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
