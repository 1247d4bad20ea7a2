//! Signals of one exchange: what speaks for and against its being the request that carried the data.
//!
//! Each signal is a share between 0 and 1,000 of its weight. The first eighteen names are the seed's (section 1.3); the
//! others are ours: what the person typed, what the page showed, and whether the answer follows the input. A signal looks at
//! reasons, never at who the host is, with two exceptions that are facts of the field: tracker hosts and tracker paths.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::{
    answer_kind::kind_shares,
    doubts::{lost_value, searched_for},
    relevance::{Relevance, TaskWording},
    terms::{ExchangeWords, Terms, split, words},
};
use commis_artifacts::recording::{
    Action, ActionKind, BodyStatus, Excerpt, Exchange, InitiatorKind, ResourceType,
    SessionRecording,
};
use commis_net::egress::site_of;
use commis_recipe::blocks::asks_for_one;
use commis_recipe::trackers::{
    STATIC_WORDS, TRACKER_WORDS, is_cache_buster, is_telemetry, path_words, tracker_category,
};

/// Name and weight. The composite is their weighted sum, scaled so that all positive ones in full make 10,000 basis points.
/// Overridden by `ranking.weights` in settings.
pub const WEIGHTS: &[(&str, i32)] = &[
    // What the person did and saw.
    ("typed_in_request", 2220),
    ("visible_on_page", 630),
    ("shown_share", 2200),
    ("follows_input", 500),
    ("echoes_input", 810),
    ("after_action", 850),
    ("holds_items", 4500),
    // What the task asks for.
    ("task_values", 2830),
    ("url_task_overlap", 50),
    ("task_host", 0),
    ("task_keys", 560),
    ("body_task_overlap", 50),
    ("words_in_request", 0),
    ("words_in_keys", 410),
    ("head_in_keys", 1130),
    ("words_in_answer", 0),
    ("words_anywhere", 100),
    ("names_in_request", 950),
    ("names_in_answer", 640),
    ("things_in_answer", 20),
    ("kind_named", 1170),
    ("id_named", 1320),
    ("words_lead", 2170),
    ("values_lead", 2480),
    ("tail_named", 1160),
    ("tail_covered", 240),
    ("tail_early", 730),
    ("abbreviated", 2800),
    ("dates_in_request", 480),
    ("dates_in_answer", 160),
    ("pairs_in_answer", 1000),
    // What the answer looks like.
    ("content_type", 1030),
    ("has_list", 790),
    ("json_richness", 1280),
    ("body_size", 20),
    ("answer_values", 810),
    // What the request looks like.
    ("url_result_overlap", 500),
    ("result_held", 1500),
    ("resource_type", 370),
    ("initiator_stack", 0),
    ("initiator_type", 0),
    ("same_site", 3780),
    ("api_path", 20),
    ("latency", 0),
    // Against.
    ("crowded_site", -1440),
    ("refused_lead", -1130),
    ("refused_tail", -2070),
    ("no_list", -950),
    ("one_of_many", -2040),
    ("head_missing", -570),
    ("part_of_thing", -2060),
    ("record_for_many", -1240),
    ("value_missing", -2400),
    ("other_search", -1820),
    ("lacks_items", -4500),
    ("typed_missing", -2550),
    ("tail_unnamed", -940),
    ("part_beside", -1020),
    ("unasked_values", -440),
    ("other_dates", -1130),
    ("nouns_off", 0),
    // Doubts alone: see `doubts.rs`.
    ("named_elsewhere", 0),
    ("earlier_elsewhere", 0),
    ("other_kind", 0),
    ("other_value", 0),
    ("other_collection", -650),
    ("hands_out_token", -1370),
    ("telemetry", -5000),
    ("tracker_path", -220),
    ("housekeeping_path", -300),
    ("housekeeping_answer", -80),
    ("suggestion_path", -1210),
    ("further_page", -640),
    ("left_behind", -3000),
    ("static_path", -100),
    ("error_answer", -1070),
    ("cache_buster", -50),
    ("lost_body", -1420),
];

/// Share of a fragment's text that a list must hold for the fragment to be one.
const LIST_BP: u32 = 8000;

/// The weight of there being no data request at all, against which every candidate stands; by 220 more than fitted, which makes a
/// threshold of 63.3 % one of 68.25 as fitted.
pub const NOTHING: i32 = 7700;
/// What is added to it where something was typed, as fitted: a request that carries that may be another than the one that was meant.
pub const NOTHING_TYPED: i32 = 790;

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
    "relatedposts",
    "similar",
    "alternatives",
    "alsolike",
    "upsell",
    "crosssell",
];

/// Calls for what comes after the first page.
const FURTHER_WORDS: &[&str] = &["older", "more", "next", "loadmore", "continuation"];

const API_WORDS: &[&str] =
    &["api", "graphql", "search", "query", "rest", "ajax", "gql", "rpc", "json", "find", "lookup"];

/// Top-level keys of an answer that serves the page itself: what to show to whom, in which language, with whose consent.
const HOUSEKEEPING_KEYS: &[&str] = &[
    "feature",
    "flag",
    "featureflag",
    "experiment",
    "config",
    "configuration",
    "setting",
    "locale",
    "translation",
    "i18n",
    "consent",
    "purpose",
    "vendor",
    "csrf",
    "token",
    "accesstoken",
    "session",
    "sessionid",
    "preference",
    "segment",
    "abtest",
    "variation",
    "toggle",
    "visitor",
    "geo",
    "gvlspecificationversion",
    "tcfpolicyversion",
    "cookie",
];

/// What every exchange of a session is measured against.
pub struct SignalContext<'a> {
    pub recording: &'a SessionRecording,
    terms: Terms,
    wording: TaskWording,
    /// Words of the page's own host name.
    brands: BTreeSet<String>,
    last_action: Option<u32>,
    page_site: String,
}

impl<'a> SignalContext<'a> {
    pub fn new(recording: &'a SessionRecording) -> Self {
        let last_action = last_action(&recording.actions);
        let typed: Vec<&str> = recording.typed.values().map(String::as_str).collect();
        let terms = Terms::new(&recording.task, &typed);
        let hosts = [&recording.page.url, &recording.url].map(|it| Url::parse(it).ok());
        let brands = hosts.iter().flatten().filter_map(Url::host_str).flat_map(split).collect();
        Self {
            recording,
            wording: TaskWording::new(&recording.task, typed),
            terms,
            brands,
            last_action,
            page_site: site_of(&recording.page.url),
        }
    }
}

impl SignalContext<'_> {
    /// How much of the task a request says, in thousandths, whatever was answered.
    pub fn said_in_request(&self, exchange: &Exchange) -> i32 {
        self.wording.relevance(exchange, &self.brands).words_in_request
    }

    /// How early the task names what the path of a request ends in, in thousandths.
    pub fn named_by_tail(&self, url: &str) -> i32 {
        self.tail(url).tail_early
    }

    /// What the path of an address says.
    pub(super) fn tail(&self, url: &str) -> Relevance {
        self.wording.tail(url, &self.brands)
    }

    /// How well the best word of a path is one by which the task names things.
    pub(super) fn named_in_path(&self, url: &str) -> i32 {
        let Ok(url) = Url::parse(url) else { return 0 };
        let words = path_words(&url);
        words.iter().map(|it| self.wording.names_thing(it, &self.brands, true)).max().unwrap_or(0)
    }

    pub(super) fn brands(&self) -> &BTreeSet<String> {
        &self.brands
    }

    pub(super) fn wording(&self) -> &TaskWording {
        &self.wording
    }

    pub fn texts(&self, exchange: &Exchange) -> ExchangeWords {
        ExchangeWords::new(exchange, &self.terms)
    }

    /// `fit` are the texts of the exchanges that could have carried data, one an endpoint: rarity is counted over them.
    pub fn count<'b>(&mut self, fit: impl IntoIterator<Item = &'b ExchangeWords>) {
        fit.into_iter().for_each(|it| self.terms.learn(it));
    }

    /// What the request asks for beside the data, if the task does not: the last path segment (`/articles/facets`), or the value
    /// of a key that says which kind of thing (`type=album`).
    pub fn aside(&self, exchange: &Exchange) -> Option<String> {
        const PARTS: &[&str] = &[
            "facet",
            "facets",
            "count",
            "stats",
            "metrics",
            "categories",
            "revisions",
            "history",
            "versions",
            "followers",
            "aggregations",
            "aggregates",
            "histogram",
            "schema",
            "tags",
            "summary",
            "status",
            "alerts",
            "subscription",
            "preferences",
            "permissions",
        ];
        const KINDS: &[&str] = &["type", "kind", "entity", "resource", "section", "tags"];
        let url = Url::parse(&exchange.url).ok()?;
        let last = url.path_segments()?.next_back().unwrap_or_default().to_ascii_lowercase();
        if PARTS.contains(&last.as_str()) && !self.terms.ask_for(&last) {
            return Some(last);
        }
        let end = last.rsplit(['_', '-']).next().unwrap_or_default();
        if ["count", "counts"].contains(&end) && !self.terms.counts() && !self.terms.ask_for(end) {
            return Some(last);
        }
        let typed: Vec<&str> = self.recording.typed.values().map(String::as_str).collect();
        // Where the task names no kind of thing, any will do.
        let names_kind = self.terms.names_a_kind();
        url.query_pairs()
            .filter(|it| names_kind && KINDS.contains(&it.0.to_ascii_lowercase().as_str()))
            .map(|it| it.1.into_owned())
            .find(|it| {
                it.len() >= 3
                    && it.bytes().all(|b| b.is_ascii_lowercase())
                    && !["json", "html", "xml", "all", "any", "text", "search", "web"]
                        .contains(&it.as_str())
                    && !typed.iter().any(|typed| typed.eq_ignore_ascii_case(it))
                    && !self.terms.ask_for(it)
            })
    }
}

/// The last action that was no waiting, by its position.
pub fn last_action(actions: &[Action]) -> Option<u32> {
    actions.iter().rposition(|it| it.kind != ActionKind::WaitFor).map(|it| it as u32)
}

/// Shares of every signal that is not zero. `follows_input` comes from the second recording and is the caller's.
pub fn signals(
    exchange: &Exchange,
    texts: &ExchangeWords,
    session: &SignalContext<'_>,
) -> BTreeMap<&'static str, i32> {
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
    put("shown_share", shown_share(exchange));
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
    if session.terms.counts() {
        // The answer to "how many" is one number.
        put("has_list", 500);
        put("json_richness", 500);
    } else {
        put("has_list", list_share(exchange));
        put("json_richness", richness_share(measures.json_nodes, measures.json_depth));
    }
    put(
        "body_size",
        match exchange.decoded_bytes.unwrap_or(0) {
            0..200 => 0,
            200..1000 => 600,
            _ => 1000,
        },
    );
    let held = session.terms.term_shares(texts);
    put("task_values", held.by_value);
    put("url_task_overlap", held.by_name);
    put("task_host", held.by_host);
    put("task_keys", held.by_keys);
    put("body_task_overlap", held.by_answer);
    put("nouns_off", held.nouns_off);
    let relevance = session.wording.relevance(exchange, &session.brands);
    put("words_in_request", relevance.words_in_request);
    put("words_in_keys", relevance.words_in_keys);
    put("words_in_answer", relevance.words_in_answer);
    put("words_anywhere", relevance.words_anywhere);
    put("names_in_request", relevance.names_in_request);
    put("names_in_answer", relevance.names_in_answer);
    put("things_in_answer", relevance.things_in_answer);
    if !held.is_half {
        put("tail_named", relevance.tail_named);
        put("tail_early", relevance.tail_early);
    }
    put("head_missing", relevance.head_missing);
    put("head_in_keys", relevance.head_in_keys);
    if measures.typed_in_request.is_empty() {
        put("one_of_many", relevance.one_of_many);
    }
    let kind = kind_shares(exchange, &session.wording, &session.brands);
    put("kind_named", kind.kind_named);
    put("part_of_thing", kind.part_of_thing);
    put("other_value", kind.other_value);
    put("tail_covered", relevance.tail_covered);
    put("tail_unnamed", relevance.tail_unnamed);
    put("unasked_values", relevance.unasked_values);
    put("abbreviated", relevance.abbreviated);
    put("dates_in_request", relevance.dates_in_request);
    put("dates_in_answer", relevance.dates_in_answer);
    put("other_dates", relevance.other_dates);
    put("pairs_in_answer", relevance.pairs_in_answer);
    put("answer_values", relevance.answer_values);
    put("part_beside", if session.aside(exchange).is_some() { 1000 } else { 0 });
    let shown = measures.leaves_visible > 0 || !measures.listings.is_empty();
    put("no_list", if lists_nothing(exchange, session) && !shown { 1000 } else { 0 });
    put("record_for_many", if is_record_for_many(exchange, session) && !shown { 1000 } else { 0 });
    let is_typed = !session.recording.typed.is_empty();
    if !is_typed {
        let task = &session.recording.task;
        put("value_missing", 1000 * i32::from(lost_value(exchange, task).is_some()));
        put("other_search", 1000 * i32::from(searched_for(exchange, task).is_some()));
    }
    put("typed_missing", if is_typed && measures.typed_in_request.is_empty() { 1000 } else { 0 });
    put("other_collection", if session.terms.other_collection(texts) { 1000 } else { 0 });
    if let Some(answer) = &session.recording.final_answer {
        put("url_result_overlap", overlap(&words(&exchange.url), &words(answer)));
        put("result_held", texts.share_in_answer(&words(answer)));
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

    // Whoever opens `metrics.example` wants what it says.
    let opened = Url::parse(&session.recording.url).is_ok_and(|it| it.host_str() == Some(&*host));
    let measures_visitors =
        if opened { tracker_category(&host).is_some() } else { is_telemetry(&host) };
    put("telemetry", if measures_visitors { 1000 } else { 0 });
    put("tracker_path", if off_topic(&path_words, TRACKER_WORDS, session) { 1000 } else { 0 });
    put(
        "housekeeping_path",
        if off_topic(&path_words, HOUSEKEEPING_WORDS, session) { 1000 } else { 0 },
    );
    put(
        "suggestion_path",
        if off_topic(&path_words, SUGGESTION_WORDS, session) { 1000 } else { 0 },
    );
    put("further_page", if off_topic(&path_words, FURTHER_WORDS, session) { 1000 } else { 0 });
    put("static_path", if off_topic(&path_words, STATIC_WORDS, session) { 1000 } else { 0 });
    put("housekeeping_answer", housekeeping_share(exchange, session));
    put("error_answer", if is_error(exchange) { 1000 } else { 0 });
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

/// How much of the answer the page shows: of a small right answer nearly all, of a rich one beside it a little.
fn shown_share(exchange: &Exchange) -> i32 {
    let measures = &exchange.measures;
    let json = matches!(exchange.excerpt, Some(Excerpt::Json(_)));
    if !json || measures.leaves_visible < 2 {
        return 0;
    }
    (1000 * u64::from(measures.leaves_visible) / u64::from(measures.leaves.max(1))) as i32
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
            (_, 0) => 500,
            (true, 1) => 700,
            (true, _) => 1000,
            (false, 1) => 100,
            (false, _) => 300,
        })
        .max();
    match (best, &exchange.excerpt) {
        (Some(best), _) => best,
        // A part of a page that is hardly more than a list.
        (None, _) if exchange.resource_type != ResourceType::Document && is_a_list(exchange) => {
            1000
        }
        // A result page in HTML is a list by its markup; how many leaves of it were seen stands in for that.
        (None, Some(Excerpt::Html(_))) if exchange.measures.leaves_visible >= 8 => 700,
        (None, _) => 0,
    }
}

/// Many things are asked for, and the answer has no list.
fn lists_nothing(exchange: &Exchange, session: &SignalContext<'_>) -> bool {
    let one = asks_for_one(&session.recording.task);
    !one && !session.terms.counts() && list_share(exchange) == 0
}

/// Many things are asked for, and no list is most of the answer.
fn is_record_for_many(exchange: &Exchange, session: &SignalContext<'_>) -> bool {
    let lists = &exchange.measures.lists;
    let most = lists.iter().map(|it| it.share_bp).max().unwrap_or(0);
    matches!(exchange.excerpt, Some(Excerpt::Json(_)))
        && !asks_for_one(&session.recording.task)
        && !session.terms.counts()
        && most < 5000
}

fn is_a_list(exchange: &Exchange) -> bool {
    let lists = &exchange.measures.listings;
    lists.iter().any(|it| it.items >= 3 && it.share_bp >= LIST_BP && !it.html.single)
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

/// Share of the answer's top keys that serve the page itself, unless the task asks for such a thing.
fn housekeeping_share(exchange: &Exchange, session: &SignalContext<'_>) -> i32 {
    let keys = &exchange.measures.top_keys;
    let own = |key: &&String| {
        words(key)
            .iter()
            .any(|it| HOUSEKEEPING_KEYS.contains(&it.as_str()) && !session.terms.ask_for(it))
    };
    (1000 * keys.iter().filter(own).count()).checked_div(keys.len()).unwrap_or(0) as i32
}

/// An answer that says only what went wrong.
fn is_error(exchange: &Exchange) -> bool {
    const KEYS: &[&str] =
        &["error", "errors", "message", "code", "status", "detail", "statusCode", "success", "ok"];
    let keys = &exchange.measures.top_keys;
    exchange.measures.json_nodes < 12
        && keys.iter().any(|it| matches!(it.as_str(), "error" | "errors" | "message"))
        && keys.iter().all(|it| KEYS.contains(&it.as_str()))
}

/// A word of the path is in the list, and the task does not ask for it ("show the trending topics").
fn off_topic(path: &[String], list: &[&str], session: &SignalContext<'_>) -> bool {
    path.iter().any(|it| list.contains(&it.as_str()) && !session.terms.ask_for(it))
}

fn is_api_word(word: &str) -> bool {
    API_WORDS.contains(&word)
        || (word.len() <= 3
            && word
                .strip_prefix('v')
                .is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit())))
}
