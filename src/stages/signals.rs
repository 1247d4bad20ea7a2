//! Signals of one exchange: what speaks for and against its being the request that carried the data.
//!
//! Each signal is a share between 0 and 1,000 of its weight. The first eighteen names are the seed's (section 1.3); the
//! others are ours: what the person typed, what the page showed, and whether the answer follows the input. A signal looks at
//! reasons, never at who the host is, with two exceptions that are facts of the field: tracker hosts and tracker paths.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use crate::artifacts::recording::{
    BodyStatus, Excerpt, Exchange, InitiatorKind, RequestBody, ResourceType, SessionRecording,
};
use crate::egress::site_of;

/// Name and weight. The composite is their weighted sum, scaled so that all positive ones in full make 10,000 basis points.
/// Overridden by `ranking.weights` in settings.
pub const WEIGHTS: &[(&str, i32)] = &[
    // What the person did and saw.
    ("typed_in_request", 2200),
    ("visible_on_page", 2300),
    ("follows_input", 1200),
    ("echoes_input", 300),
    ("after_action", 500),
    // What the answer looks like.
    ("content_type", 800),
    ("has_list", 1100),
    ("json_richness", 500),
    ("body_size", 200),
    ("body_task_overlap", 600),
    // What the request looks like.
    ("url_task_overlap", 600),
    ("url_result_overlap", 100),
    ("resource_type", 400),
    ("initiator_stack", 100),
    ("initiator_type", 50),
    ("same_site", 100),
    ("api_path", 300),
    ("latency", 50),
    // Against.
    ("telemetry", -5000),
    ("tracker_path", -2000),
    ("housekeeping_path", -900),
    ("suggestion_path", -700),
    ("cache_buster", -50),
    ("lost_body", -600),
];

/// Hosts whose business is measuring or advertising: a data request is never there (categories ads, analytics, tag manager,
/// consent of the third-party-web list, the largest by traffic). Whole-category lists lose data hosts, so it stays short.
const TELEMETRY_HOSTS: &[&str] = &[
    "google-analytics.com",
    "googletagmanager.com",
    "doubleclick.net",
    "googlesyndication.com",
    "googleadservices.com",
    "adservice.google.com",
    "segment.io",
    "segment.com",
    "mixpanel.com",
    "amplitude.com",
    "hotjar.com",
    "hotjar.io",
    "fullstory.com",
    "newrelic.com",
    "nr-data.net",
    "sentry.io",
    "bugsnag.com",
    "datadoghq.com",
    "browser-intake-datadoghq.com",
    "clarity.ms",
    "scorecardresearch.com",
    "quantserve.com",
    "criteo.com",
    "criteo.net",
    "adnxs.com",
    "rubiconproject.com",
    "pubmatic.com",
    "openx.net",
    "taboola.com",
    "outbrain.com",
    "facebook.net",
    "bat.bing.com",
    "snowplowanalytics.com",
    "heapanalytics.com",
    "optimizely.com",
    "cookielaw.org",
    "onetrust.com",
    "cookiebot.com",
    "trustarc.com",
    "chartbeat.net",
    "parsely.com",
    "statcounter.com",
    "matomo.cloud",
    "plausible.io",
    "amazon-adsystem.com",
    "demdex.net",
    "omtrdc.net",
    "moatads.com",
    "casalemedia.com",
    "smartadserver.com",
];

const TRACKER_WORDS: &[&str] = &[
    "collect",
    "pixel",
    "beacon",
    "telemetry",
    "analytics",
    "track",
    "tracking",
    "rum",
    "metrics",
    "adsct",
    "impression",
    "impressions",
    "bid",
    "bids",
    "prebid",
    "gtm",
    "heartbeat",
    "stats_log",
    "csp_report",
    "logging",
    "logs",
    "errorlog",
];

/// Calls every page makes for itself, whatever the task is.
const HOUSEKEEPING_WORDS: &[&str] = &[
    "feature",
    "features",
    "flags",
    "flag",
    "experiments",
    "experiment",
    "locale",
    "locales",
    "i18n",
    "translations",
    "translation",
    "messages",
    "config",
    "configuration",
    "settings",
    "manifest",
    "session",
    "consent",
    "me",
    "viewer",
    "notifications",
    "whoami",
    "csrf",
    "token",
    "ping",
    "health",
    "geoip",
    "bootstrap",
    "preferences",
    "abtest",
    "version",
];

const SUGGESTION_WORDS: &[&str] = &[
    "suggest",
    "suggestion",
    "suggestions",
    "autocomplete",
    "autosuggest",
    "typeahead",
    "complete",
    "completion",
    "trending",
    "recommended",
    "recommendations",
    "recommend",
    "popular",
    "related",
];

const API_WORDS: &[&str] =
    &["api", "graphql", "search", "query", "rest", "ajax", "gql", "rpc", "json", "find", "lookup"];

/// Words of a task that say nothing about which request it is.
const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "with", "from", "show", "find", "search", "get", "list", "look", "see",
    "all", "any", "that", "this", "what", "which", "who", "are", "was", "its", "into", "about",
    "page", "site", "www", "com", "http", "https", "results",
];

/// What every exchange of a session is measured against.
pub struct Session<'a> {
    pub recording: &'a SessionRecording,
    task_words: BTreeSet<String>,
    last_action: Option<u32>,
    page_site: String,
}

impl<'a> Session<'a> {
    pub fn new(recording: &'a SessionRecording) -> Self {
        let last_action = recording
            .actions
            .iter()
            .rposition(|it| it.kind != crate::artifacts::recording::ActionKind::WaitFor)
            .map(|it| it as u32);
        let mut task_words = words(&recording.task);
        task_words.retain(|it| !STOP_WORDS.contains(&it.as_str()));
        Self { recording, task_words, last_action, page_site: site_of(&recording.page.url) }
    }
}

/// Shares of every signal that is not zero. `follows_input` comes from the second recording and is the caller's.
pub fn signals(exchange: &Exchange, session: &Session<'_>) -> BTreeMap<&'static str, i32> {
    let mut out = BTreeMap::new();
    let mut put = |name: &'static str, share: i32| {
        if share != 0 {
            out.insert(name, share.clamp(0, 1000));
        }
    };
    let measures = &exchange.measures;
    let url = Url::parse(&exchange.url).ok();
    let path_words = url.as_ref().map(path_words).unwrap_or_default();
    let host = url.as_ref().and_then(|it| it.host_str()).unwrap_or("").to_owned();

    put("typed_in_request", typed_share(exchange, session.recording));
    put("visible_on_page", visible_share(exchange));
    if !session.recording.typed.is_empty() && !measures.typed_in_response.is_empty() {
        put(
            "echoes_input",
            (1000 * measures.typed_in_response.len() / session.recording.typed.len()) as i32,
        );
    }
    if exchange.after_action.is_some() && exchange.after_action == session.last_action {
        put("after_action", 1000);
    } else if exchange.after_action.is_some_and(|it| it > 0) {
        put("after_action", 400);
    }
    put("content_type", content_type_share(exchange));
    put("has_list", list_share(exchange));
    put("json_richness", richness_share(measures.json_nodes, measures.json_depth));
    put(
        "body_size",
        match exchange.decoded_bytes.unwrap_or(0) {
            0..200 => 0,
            200..1000 => 600,
            _ => 1000,
        },
    );
    let request_text = format!("{} {}", exchange.url, body_text(exchange));
    put("url_task_overlap", overlap(&session.task_words, &words(&request_text)));
    put("body_task_overlap", overlap(&session.task_words, &excerpt_words(exchange)));
    if let Some(answer) = &session.recording.final_answer {
        put("url_result_overlap", overlap(&words(&request_text), &words(answer)));
    }
    put(
        "resource_type",
        match exchange.resource_type {
            ResourceType::Xhr | ResourceType::Fetch => 1000,
            ResourceType::Document => 700,
            ResourceType::Iframe | ResourceType::Other => 500,
            _ => 0,
        },
    );
    put("initiator_stack", if exchange.initiator.has_stack { 1000 } else { 0 });
    put("initiator_type", if exchange.initiator.kind == InitiatorKind::Script { 1000 } else { 0 });
    put("same_site", if site_of(&exchange.url) == session.page_site { 1000 } else { 0 });
    put("api_path", if path_words.iter().any(|it| is_api_word(it)) { 1000 } else { 0 });
    put("latency", if exchange.timing.total_ms > 0 { 1000 } else { 0 });

    put("telemetry", if is_telemetry(&host) { 1000 } else { 0 });
    put("tracker_path", if off_topic(&path_words, TRACKER_WORDS, session) { 1000 } else { 0 });
    put(
        "housekeeping_path",
        if off_topic(&path_words, HOUSEKEEPING_WORDS, session) { 1000 } else { 0 },
    );
    put(
        "suggestion_path",
        if off_topic(&path_words, SUGGESTION_WORDS, session) { 1000 } else { 0 },
    );
    if let Some(url) = &url
        && url.query_pairs().any(|(name, value)| is_cache_buster(&name, &value))
    {
        put("cache_buster", 1000);
    }
    if exchange.excerpt.is_none()
        && !matches!(exchange.body_status, BodyStatus::Captured | BodyStatus::Truncated)
    {
        put("lost_body", 1000);
    }
    out
}

/// How much of what was typed the request carries; exact hits count whole, contained ones six tenths.
fn typed_share(exchange: &Exchange, recording: &SessionRecording) -> i32 {
    if recording.typed.is_empty() {
        return 0;
    }
    let sum: i32 = recording
        .typed
        .keys()
        .map(|name| {
            let hits = exchange.measures.typed_in_request.iter().filter(|it| it.name == *name);
            hits.map(|it| if it.exact { 1000 } else { 600 }).max().unwrap_or(0)
        })
        .sum();
    sum / recording.typed.len() as i32
}

/// Rare leaves seen on the page, saturating, and the share of the page's words that the answer explains.
fn visible_share(exchange: &Exchange) -> i32 {
    let weight = u64::from(exchange.measures.visible_weight);
    let leaves = 600 * weight / (weight + 4000).max(1);
    let coverage = (u64::from(exchange.measures.page_coverage_bp) * 2 / 10).min(400);
    (leaves + coverage).min(1000) as i32
}

fn content_type_share(exchange: &Exchange) -> i32 {
    match &exchange.excerpt {
        Some(Excerpt::Json(_)) => 1000,
        Some(Excerpt::Html(_)) if !exchange.measures.embedded_json.is_empty() => 750,
        Some(Excerpt::Html(_)) => 700,
        Some(Excerpt::Text(_)) => 300,
        None if exchange.mime.ends_with("json") => 800,
        None => 0,
    }
}

fn list_share(exchange: &Exchange) -> i32 {
    let lists = exchange
        .measures
        .lists
        .iter()
        .chain(exchange.measures.embedded_json.iter().flat_map(|it| &it.lists));
    let best = lists
        .map(|it| match (it.of_objects, it.len) {
            (_, 0) => 200,
            (true, 1) => 700,
            (true, _) => 1000,
            (false, 1) => 100,
            (false, _) => 300,
        })
        .max();
    match (best, &exchange.excerpt) {
        (Some(best), _) => best,
        // A result page in HTML is a list by its markup; how many leaves of it were seen stands in for that.
        (None, Some(Excerpt::Html(_))) if exchange.measures.leaves_visible >= 8 => 700,
        (None, _) => 0,
    }
}

fn richness_share(nodes: u32, depth: u32) -> i32 {
    let by_nodes = match nodes {
        0..4 => 0,
        4..10 => 300,
        10..30 => 700,
        _ => 1000,
    };
    if depth <= 1 { by_nodes / 2 } else { by_nodes }
}

/// Share of `wanted` found in `have`.
fn overlap(wanted: &BTreeSet<String>, have: &BTreeSet<String>) -> i32 {
    if wanted.is_empty() {
        return 0;
    }
    let found = wanted.iter().filter(|it| have.contains(*it)).count();
    (1000 * found / wanted.len()) as i32
}

fn excerpt_words(exchange: &Exchange) -> BTreeSet<String> {
    let text = match &exchange.excerpt {
        Some(Excerpt::Json(it)) => it.to_string(),
        Some(Excerpt::Html(it) | Excerpt::Text(it)) => it.clone(),
        None => String::new(),
    };
    let end =
        text.char_indices().map(|(i, _)| i).take_while(|i| *i < 16 * 1024).last().unwrap_or(0);
    words(&text[..end])
}

fn body_text(exchange: &Exchange) -> String {
    match &exchange.request_body {
        Some(RequestBody::Json(it)) => it.to_string(),
        Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
            let pairs: Vec<String> =
                fields.iter().map(|it| format!("{} {}", it.name, it.value)).collect();
            pairs.join(" ")
        }
        Some(RequestBody::Text(it)) => it.clone(),
        _ => String::new(),
    }
}

/// Distinct lower-case words of three characters or more; camel case, digits and punctuation separate.
pub fn words(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && was_lower {
                flush(&mut word, &mut out);
            }
            was_lower = c.is_lowercase();
            word.extend(c.to_lowercase());
        } else {
            flush(&mut word, &mut out);
            was_lower = false;
        }
    }
    flush(&mut word, &mut out);
    out
}

fn flush(word: &mut String, out: &mut BTreeSet<String>) {
    if word.chars().count() >= 3 {
        // A plural is the same word.
        let stem = word.strip_suffix('s').filter(|it| it.len() >= 3 && !it.ends_with('s'));
        out.insert(stem.unwrap_or(word).to_owned());
    }
    word.clear();
}

/// Every word of a URL's path, short ones too.
fn path_words(url: &Url) -> Vec<String> {
    url.path()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|it| !it.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// A word of the path is in the list, and the task does not ask for it ("show the trending topics").
fn off_topic(path: &[String], list: &[&str], session: &Session<'_>) -> bool {
    path.iter().any(|it| list.contains(&it.as_str()) && words(it).is_disjoint(&session.task_words))
}

fn is_api_word(word: &str) -> bool {
    API_WORDS.contains(&word)
        || (word.len() <= 3
            && word
                .strip_prefix('v')
                .is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit())))
}

fn is_telemetry(host: &str) -> bool {
    let listed = TELEMETRY_HOSTS
        .iter()
        .any(|it| host == *it || host.strip_suffix(it).is_some_and(|rest| rest.ends_with('.')));
    let first = host.split('.').next().unwrap_or("");
    listed
        || matches!(
            first,
            "metrics"
                | "telemetry"
                | "analytics"
                | "stats-collector"
                | "beacon"
                | "pixel"
                | "ads"
                | "tracking"
                | "tracker"
        )
}

/// Query names and values that only defeat caches (seed 1.3, phase A).
pub fn is_cache_buster(name: &str, value: &str) -> bool {
    const NAMES: &[&str] = &[
        "_",
        "_t",
        "t",
        "ts",
        "cb",
        "cachebust",
        "cachebuster",
        "nocache",
        "nonce",
        "rand",
        "random",
        "rnd",
        "timestamp",
        "cache",
    ];
    let name = name.to_ascii_lowercase();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    NAMES.contains(&name.as_str())
        && digits >= 6
        && value.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stemmed_and_split() {
        let got = words("searchProducts?q=Red-Shoes&v=2");
        assert_eq!(got.into_iter().collect::<Vec<_>>(), ["product", "red", "search", "shoe"]);
    }

    #[test]
    fn cache_busters() {
        assert!(is_cache_buster("_t", "1763762345123"));
        assert!(is_cache_buster("cb", "0.8273645123"));
        for (name, value) in
            [("t", "thread"), ("q", "1763762345123"), ("ts", "12"), ("page", "100000")]
        {
            assert!(!is_cache_buster(name, value), "{name}={value}");
        }
    }

    #[test]
    fn telemetry_by_host() {
        assert!(is_telemetry("www.google-analytics.com"));
        assert!(is_telemetry("metrics.tracker.test"));
        assert!(!is_telemetry("notgoogle-analytics.com"));
        assert!(!is_telemetry("api.github.com"));
    }
}
