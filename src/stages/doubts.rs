//! Reasons not to choose a candidate, however well its request fits: its answer is not the data, or it was asked for something
//! else.
//!
//! A request says what was wanted and nothing of what came. Where no second recording and no page speaks for an answer, it has
//! to look like data.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;
use url::Url;

use super::{
    endpoint::{is_answer_lost, is_further_page, operation},
    extraction::has_only_what_stands_beside,
    item_text::stem,
    pages::asks_otherwise,
    scored_exchange::ScoredExchange,
    terms::Terms,
};
use commis_artifacts::{
    payloads::Candidate,
    recording::{
        BodyStatus, Driver, Excerpt, Exchange, RequestBody, ResourceType, SessionRecording,
    },
};
use commis_net::egress::site_of;
use commis_recipe::blocks::asks_for_one;

/// The page showed so much of an answer, in thousandths, that it is data.
const SHOWN: i32 = 300;
/// From this value of `refused_tail`, in thousandths, the choice is in doubt.
const REFUSED_TAIL: i32 = 500;
/// From this lead of another request in what the task names first, in thousandths, the choice is in doubt.
const EARLIER: i32 = 500;
/// Of the task's words, in thousandths, that are keys of an answer which is what it asks for.
const MOST_KEYS: i32 = 700;
/// Values of an object that is more than an error's.
const MIN_FACTS: usize = 3;
/// Values of a receipt for work that goes on.
const MAX_RECEIPT: usize = 10;
/// Per cent of a list's objects that describe columns, for it to describe a table.
const COLUMNS: usize = 80;
/// Names of query pairs and fields that hold what is searched for.
const QUERIES: &[&str] = &["q", "query", "search", "searchterm", "keyword", "keywords", "term"];
/// What a list of suggestions says of each beside its text.
const SCORES: &[&str] = &["score", "weight", "rank", "relevance", "frequency", "freq"];
/// Names of query pairs and fields that say how many items are wanted.
const LIMITS: &[&str] =
    &["limit", "size", "rows", "per_page", "perpage", "pagesize", "hitsperpage", "count", "first"];

/// Why the best candidate may not be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The kind of doubt, by which `eval --reasons` counts.
    pub kind: &'static str,
    /// A sentence for people.
    pub text: String,
}

impl Doubt {
    fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// Every doubt about choosing the candidate `at` this place, gravest first. None where it alone followed the input of a second
/// recording.
pub fn doubts(
    ranked: &[(Candidate, ScoredExchange<'_>)],
    at: usize,
    recording: &SessionRecording,
) -> Vec<Doubt> {
    let Some(top) = ranked.get(at) else { return Vec::new() };
    let others: Vec<_> = ranked.iter().filter(|it| it.0.exchange != top.0.exchange).collect();
    let follows = |it: &ScoredExchange<'_>| share(it, "follows_input") > 0;
    if follows(&top.1) && !others.iter().any(|it| follows(&it.1)) {
        return Vec::new();
    }
    let terms = Terms::new(&recording.task, &[]);
    let mut out = asked_for_something_else(top, &others, recording, &terms);
    if share(&top.1, "hands_out_token") > 0 && !is_shown(&top.1) {
        out.push(Doubt::new(
            "hands_out_token",
            "a later request sends what its answer gave, and the page shows nothing of that answer",
        ));
    }
    if share(&top.1, "refused_tail") >= REFUSED_TAIL {
        out.push(Doubt::new(
            "refused_tail",
            "a request of the site that ends in what the task asks for was refused",
        ));
    }
    if share(&top.1, "one_of_many") > 0 && !is_shown(&top.1) {
        out.push(Doubt::new(
            "one_of_many",
            "the request is for one thing, and the task asks for all of its kind",
        ));
    }
    out.extend(other_kind(&top.1));
    out.extend(no_data(&top.1, recording, &terms));
    out.extend(
        better_call_failed(&top.1, recording, &terms).map(|it| Doubt::new("refused_before", it)),
    );
    // A HAR's page is rendered from the recording, and knows nothing of what that does not hold.
    let is_seen = recording.driver != Driver::Har && share(&top.1, "holds_items") > 0;
    if !is_seen && is_asked_again_in_vain(top.1.exchange, &recording.exchanges) {
        out.push(Doubt::new(
            "lost_later",
            "the site was asked for something else afterwards, and the recording does not hold that answer",
        ));
    }
    out
}

fn share(it: &ScoredExchange<'_>, name: &str) -> i32 {
    it.shares.get(name).copied().unwrap_or(0)
}

/// The page showed something of the answer.
fn is_shown(it: &ScoredExchange<'_>) -> bool {
    share(it, "shown_share") > 0 || share(it, "visible_on_page") >= SHOWN
}

fn asked_for_something_else(
    top: &(Candidate, ScoredExchange<'_>),
    others: &[&(Candidate, ScoredExchange<'_>)],
    recording: &SessionRecording,
    terms: &Terms,
) -> Vec<Doubt> {
    let mut out = Vec::new();
    let typed = !recording.typed.is_empty();
    if !typed
        && let Some((kind, other)) = value_of_another_kind(&top.1.exchange.url, &recording.task)
    {
        out.push(Doubt::new(
            "other_kind_of_value",
            format!("it asks for `{kind}`, where the task says `{other}`"),
        ));
    }
    if asks_to_suggest(&recording.task) && searches(top.1.exchange) {
        out.push(Doubt::new(
            "search_for_suggestions",
            "it searches, and the task asks for suggestions",
        ));
    }
    if !terms.counts() && asks_for_no_items(top.1.exchange) {
        out.push(Doubt::new("no_items_asked", "it asks for no items"));
    }
    let path = |it: &Exchange| it.url.split('?').next().map(str::to_owned);
    let told = |it: &ScoredExchange<'_>| share(it, "task_keys") + share(it, "body_task_overlap");
    // The page that the session ended at shows what it came to.
    let is_document = |it: &ScoredExchange<'_>| it.exchange.resource_type == ResourceType::Document;
    let came_to = is_document(&top.1) && top.1.exchange.url == recording.page.url;
    let rival = others.iter().find(|(_, it)| {
        it.exchange.method == top.1.exchange.method
            && path(it.exchange) == path(top.1.exchange)
            && operation(it.exchange) == operation(top.1.exchange)
            && !is_further_page(it.exchange, top.1.exchange)
            && share(it, "has_list") >= 700
            && share(it, "lacks_items") == 0
            && share(it, "holds_items") >= share(&top.1, "holds_items")
            && !(came_to && is_document(it))
            && share(it, "typed_in_request") >= share(&top.1, "typed_in_request")
            && 100 * told(it) >= 85 * told(&top.1)
    });
    if rival.is_some() && share(&top.1, "nouns_off") >= 300 {
        out.push(Doubt::new(
            "same_path_twice",
            "the same path was called in another way with an answer as good, and neither request says what the task asks for",
        ));
    }
    let keys = |it: &ScoredExchange<'_>| share(it, "task_keys");
    let named = others.iter().find(|(_, it)| {
        keys(it) >= MOST_KEYS
            && share(it, "typed_in_request") >= share(&top.1, "typed_in_request")
            && share(it, "visible_on_page") > 0
    });
    if asks_for_one(&recording.task)
        && share(&top.1, "has_list") > 0
        && keys(&top.1) == 0
        && named.is_some()
    {
        out.push(Doubt::new(
            "list_for_one",
            "its answer is a list, and another answer has what the task names of one thing",
        ));
    }
    out
}

/// The request is for a thing of another kind than the task names, or for another of that kind. What the page shows is asked for,
/// whatever it is called.
fn other_kind(top: &ScoredExchange<'_>) -> Vec<Doubt> {
    if is_shown(top) {
        return Vec::new();
    }
    let earlier = share(top, "earlier_elsewhere") >= EARLIER && share(top, "head_missing") >= 1000;
    let all = [
        (
            share(top, "named_elsewhere") > 0 || earlier,
            "named_elsewhere",
            "another request of the site ends in what the task names, and this one does not name it",
        ),
        (
            share(top, "other_kind") > 0,
            "other_kind",
            "its items say that they are of another kind than the one that the task names and other answers have",
        ),
        (
            share(top, "other_value") > 0,
            "other_value",
            "it has another value under a name to which the task gives one",
        ),
    ];
    all.into_iter().filter(|it| it.0).map(|it| Doubt::new(it.1, it.2)).collect()
}

/// Why the answer is none, whatever was asked for.
fn no_data(top: &ScoredExchange<'_>, recording: &SessionRecording, terms: &Terms) -> Vec<Doubt> {
    let mut out = Vec::new();
    let exchange = top.exchange;
    let measures = &exchange.measures;
    if is_page_for_data(exchange) {
        out.push(Doubt::new("page_for_data", "a script asked for data and got a page"));
    }
    let shown = is_shown(top);
    let counts = terms.counts();
    if !shown && !counts && has_only_what_stands_beside(&measures.lists, &recording.task) {
        out.push(Doubt::new(
            "lists_beside",
            "the lists of its answer are what stands beside results",
        ));
    }
    let Some(Excerpt::Json(answer)) = &exchange.excerpt else { return out };
    if says_what_went_wrong(answer) {
        out.push(Doubt::new("error_answer", "its answer says what went wrong"));
    }
    if is_pending(answer) || (exchange.status == Some(202) && facts(answer) <= MAX_RECEIPT) {
        out.push(Doubt::new("pending_answer", "its answer says that the work is not done"));
    }
    if !shown && !counts && tells_nothing(answer, recording) {
        out.push(Doubt::new("tells_nothing", "its answer says nothing that the task does not"));
    }
    if describes_columns(answer) {
        out.push(Doubt::new("column_names", "its answer describes the columns of a table"));
    }
    let typed = recording.typed.values().cloned().chain(named_by_task(exchange, &recording.task));
    if !asks_to_suggest(&recording.task) && suggests(answer, typed) {
        out.push(Doubt::new("suggestions", "its answer lists ways to go on typing"));
    }
    out
}

/// Data was asked for (`Accept: application/json`, a body of JSON, an API's address) and HTML came: a login, a challenge, an
/// error.
fn is_page_for_data(exchange: &Exchange) -> bool {
    if !matches!(exchange.excerpt, Some(Excerpt::Html(_))) {
        return false;
    }
    let Ok(url) = Url::parse(&exchange.url) else { return false };
    let accept = exchange.request_headers.iter().find(|it| it.name == "accept");
    let accepts = |what: &str| accept.is_some_and(|it| it.value.contains(what));
    let of_api = url.host_str().is_some_and(|it| it.starts_with("api.") || it.starts_with("api-"))
        || Path::new(url.path()).extension().is_some_and(|it| it == "json");
    let like_api = of_api
        || accepts("json")
        || url.path_segments().is_some_and(|mut it| it.any(|it| it == "api"))
        || matches!(exchange.request_body, Some(RequestBody::Json(_)));
    let opened = exchange.resource_type == ResourceType::Document;
    !accepts("html") && if opened { of_api } else { like_api }
}

/// A word of the task that can only be a value (a digit, marks within, all capitals), and that stands nowhere.
pub fn lost_value<'t>(exchange: &Exchange, task: &'t str) -> Option<&'t str> {
    if exchange.body_status != BodyStatus::Captured {
        return None;
    }
    let answer = match exchange.excerpt.as_ref()? {
        Excerpt::Json(it) => it.to_string(),
        Excerpt::Html(it) | Excerpt::Text(it) => it.clone(),
    };
    let url = percent_encoding::percent_decode_str(&exchange.url).decode_utf8_lossy();
    let body = exchange.request_body.as_ref().map(|it| serde_json::to_string(it).ok());
    let said = format!("{url} {answer} {}", body.flatten().unwrap_or_default()).to_lowercase();
    let is_value = |it: &&str| {
        it.len() >= 3
            && !it.contains('.')
            && (it.bytes().any(|b| b.is_ascii_digit())
                || it.contains(['/', '_'])
                // `guest-starred` is a word of two.
                || it.contains('-') && it.bytes().any(|b| b.is_ascii_uppercase())
                || it.bytes().all(|b| b.is_ascii_uppercase()))
    };
    let parts = |it: &str| -> Vec<String> {
        let digits = it.bytes().any(|b| b.is_ascii_digit());
        it.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|it| it.len() >= 3 && (!digits || it.bytes().any(|b| b.is_ascii_digit())))
            .map(str::to_owned)
            .collect()
    };
    task.split(|c: char| c.is_whitespace() || "\",()".contains(c))
        .map(|it| it.trim_matches(|c: char| ".,:;?!'".contains(c)))
        .filter(is_value)
        .find(|it| parts(it).iter().any(|part| !said.contains(part.as_str())))
}

/// What the request searches for, where no word of it stands in the task.
pub fn searched_for(exchange: &Exchange, task: &str) -> Option<String> {
    let task = task.to_lowercase();
    let is_other = |name: &str, value: &str| {
        let value = value.to_lowercase();
        let mut words = value.split(|c: char| !c.is_alphanumeric()).filter(|it| it.len() >= 2);
        QUERIES.contains(&name.to_ascii_lowercase().as_str())
            // GraphQL and SPARQL, which are no words.
            && !value.contains('{')
            && words.clone().next().is_some()
            && !words.any(|it| task.contains(it))
    };
    let url = Url::parse(&exchange.url).ok()?;
    let mut all: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    match &exchange.request_body {
        Some(RequestBody::Json(it)) => texts(it, &mut all),
        Some(RequestBody::Form(it) | RequestBody::Multipart(it)) => {
            all.extend(it.iter().map(|it| (it.name.clone(), it.value.clone())));
        }
        _ => {}
    }
    all.into_iter().find(|it| is_other(&it.0, &it.1)).map(|it| it.1)
}

/// Every text of a body, by the name it stands under.
fn texts(value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(all) => all.iter().for_each(|(key, it)| match it {
            Value::String(it) => out.push((key.clone(), it.clone())),
            inner => texts(inner, out),
        }),
        Value::Array(all) => all.iter().for_each(|it| texts(it, out)),
        _ => {}
    }
}

/// `/release/44edee69…` where the task says `recording 44edee69…`, and the request says nothing of recordings.
fn value_of_another_kind(url: &str, task: &str) -> Option<(String, String)> {
    let plain = |it: &str| it.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is_word = |it: &str| it.len() >= 4 && it.bytes().all(|b| b.is_ascii_lowercase());
    let url = Url::parse(url).ok()?;
    let request = format!("{} {}", url.path(), url.query().unwrap_or("")).to_lowercase();
    let segments: Vec<String> = url.path_segments()?.map(plain).collect();
    let words: Vec<String> = task.split_whitespace().map(plain).collect();
    segments.windows(2).find_map(|pair| {
        let [kind, value] = pair else { return None };
        let is_value = value.len() >= 3 && value.bytes().any(|b| b.is_ascii_digit());
        let at = words.iter().position(|it| it == value).filter(|_| is_value && is_word(kind))?;
        let said = words.get(at.checked_sub(1)?).filter(|it| is_word(it))?;
        let is_named = |it: &str| words.iter().any(|word| stem(word) == stem(it));
        (!is_named(kind) && !request.contains(stem(said))).then(|| (kind.clone(), said.clone()))
    })
}

/// What was asked for was refused or is still being made: the same call later, or one that names what the task does where the
/// candidate does not. The candidate is but what came besides.
fn better_call_failed(
    top: &ScoredExchange<'_>,
    recording: &SessionRecording,
    terms: &Terms,
) -> Option<String> {
    if share(top, "shown_share") >= SHOWN {
        return None;
    }
    let seen = share(top, "visible_on_page") >= SHOWN;
    let it = top.exchange;
    let own = Url::parse(&it.url).ok()?;
    let asked = |url: &Url| -> (bool, usize) {
        // `dns-records` is asked for where one of its words is.
        let named: Vec<bool> = url
            .path_segments()
            .into_iter()
            .flatten()
            .map(|it| it.split(['-', '_']).any(|it| terms.ask_for(it)))
            .collect();
        (named.last() == Some(&true), named.iter().filter(|it| **it).count())
    };
    let (ends_so, own_names) = asked(&own);
    let followed: BTreeSet<u32> =
        recording.exchanges.iter().filter_map(|it| it.redirected_from).collect();
    let refused = recording.exchanges.iter().find(|other| {
        let failed = other.status.is_some_and(|status| match status {
            202 | 204 | 400.. => true,
            300..400 => !followed.contains(&other.id),
            _ => is_page_for_data(other) || is_no_answer(other),
        });
        let Some(url) = Url::parse(&other.url).ok().filter(|_| failed) else { return false };
        let again = other.id > it.id
            && other.method == it.method
            && url.path() == own.path()
            && operation(other) == operation(it)
            && !is_further_page(other, it);
        let names = || {
            let (so, names) = asked(&url);
            so && names > own_names && !ends_so
        };
        url.host() == own.host() && (again || !seen && names())
    })?;
    let status = refused.status.unwrap_or(0);
    Some(format!("what fits the task better was answered with {status} and no data"))
}

/// Whether the recording does not hold the answer to a later request of the site which carries as much of what was typed, and which
/// asks for something else, or goes to another path after this answer came: the session went on to what nobody can see.
fn is_asked_again_in_vain(own: &Exchange, exchanges: &[Exchange]) -> bool {
    let path = |it: &Exchange| it.url.split('?').next().map(str::to_owned);
    let is_call_of = |it: &Exchange| {
        it.method == own.method && path(it) == path(own) && operation(it) == operation(own)
    };
    let is_of_site = |it: &Exchange| site_of(&it.url) == site_of(&own.url);
    // What is asked for together is shown together.
    let came = own.timing.start_ms.saturating_add(own.timing.total_ms);
    let is_after = |it: &Exchange| it.timing.start_ms >= came;
    let carried = |it: &Exchange| it.measures.typed_in_request.len();
    exchanges.iter().any(|it| {
        it.id > own.id
            && is_answer_lost(it)
            && carried(it) >= carried(own)
            && if is_call_of(it) {
                asks_otherwise(it, own)
            } else {
                // A library that is loaded says nothing of the task, whatever stands in its address.
                it.resource_type != ResourceType::Script
                    && is_of_site(it)
                    && is_after(it)
                    && carried(it) > 0
            }
    })
}

fn is_no_answer(exchange: &Exchange) -> bool {
    let Some(Excerpt::Json(answer)) = &exchange.excerpt else { return false };
    says_what_went_wrong(answer) || is_pending(answer)
}

fn asks_to_suggest(text: &str) -> bool {
    let low = text.to_lowercase();
    ["suggest", "complet", "typeahead"].iter().any(|it| low.contains(it))
}

/// The last segment of its path is `search`, and nothing of the request says that it suggests.
fn searches(exchange: &Exchange) -> bool {
    let url = Url::parse(&exchange.url).ok();
    let last = url.as_ref().and_then(|it| it.path_segments()?.next_back().map(str::to_owned));
    let body = exchange.request_body.as_ref().and_then(|it| serde_json::to_string(it).ok());
    last.is_some_and(|it| it.split('.').next() == Some("search"))
        && !asks_to_suggest(&exchange.url)
        && !body.is_some_and(|it| asks_to_suggest(&it))
}

fn asks_for_no_items(exchange: &Exchange) -> bool {
    let is_none = |name: &str, value: &str| {
        value == "0" && LIMITS.contains(&name.to_ascii_lowercase().as_str())
    };
    let url = Url::parse(&exchange.url).ok();
    let in_url = url.iter().flat_map(Url::query_pairs).any(|it| is_none(&it.0, &it.1));
    in_url
        || match &exchange.request_body {
            Some(RequestBody::Json(Value::Object(fields))) => {
                fields.iter().any(|(name, value)| is_none(name, &value.to_string()))
            }
            Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
                fields.iter().any(|it| is_none(&it.name, &it.value))
            }
            _ => false,
        }
}

/// An error, or a failure, and beside it nothing that could be data.
fn says_what_went_wrong(answer: &Value) -> bool {
    const ERRORS: &[&str] =
        &["error", "errors", "fault", "exception", "error_message", "errormessage"];
    /// False where the answer is none.
    const DENIALS: &[&str] = &["success", "ok", "loggedin", "logged_in", "authenticated"];
    let Value::Object(fields) = answer else { return false };
    let is_error = |key: &str| ERRORS.contains(&key.to_ascii_lowercase().as_str());
    let says = |it: &Value| match it {
        Value::Null | Value::Bool(false) => false,
        Value::String(it) => !it.is_empty(),
        Value::Array(it) => !it.is_empty(),
        Value::Object(it) => !it.is_empty(),
        other => other.as_f64() != Some(0.0),
    };
    // Problem details, RFC 9457.
    let is_problem = |key: &str, it: &Value| {
        ["status", "code", "statuscode"].contains(&key)
            && it.as_u64().is_some_and(|it| (400..600).contains(&it))
    };
    let failed = fields.iter().any(|(key, it)| {
        (is_error(key) && says(it))
            || is_problem(&key.to_ascii_lowercase(), it)
            || (DENIALS.contains(&key.to_ascii_lowercase().as_str()) && *it == Value::Bool(false))
    });
    let is_data = |it: &Value| {
        outer_lists(it).iter().any(|it| it.iter().any(|it| it.is_object() || it.is_array()))
            || (it.is_object() && facts(it) >= MIN_FACTS)
    };
    failed && !fields.iter().any(|(key, it)| !is_error(key) && is_data(it))
}

/// Every value of the answer stands in the task or was typed.
fn tells_nothing(answer: &Value, recording: &SessionRecording) -> bool {
    let mut said = recording.task.to_lowercase();
    recording.typed.values().for_each(|it| said.extend([" ", &it.to_lowercase()]));
    facts(answer) > 0 && is_said(answer, &said)
}

fn is_said(value: &Value, said: &str) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(it) => said.contains(&it.to_string()),
        Value::String(it) => said.contains(&it.to_lowercase()),
        Value::Array(all) => all.iter().all(|it| is_said(it, said)),
        Value::Object(all) => all.values().all(|it| is_said(it, said)),
    }
}

/// The work is not done: whoever asks again later gets the answer.
fn is_pending(answer: &Value) -> bool {
    const STATES: &[&str] = &[
        "accepted",
        "queued",
        "pending",
        "running",
        "processing",
        "in_progress",
        "scheduled",
        "started",
        "waiting",
    ];
    let Value::Object(fields) = answer else { return false };
    let goes_on = |(key, it): (&String, &Value)| {
        let key = key.to_ascii_lowercase();
        (["status", "state"].iter().any(|end| key.ends_with(end))
            && it.as_str().is_some_and(|it| STATES.contains(&it.to_ascii_lowercase().as_str())))
            || (["done", "finished", "ready"].contains(&key.as_str()) && *it == Value::Bool(false))
    };
    let inner = fields.values().filter_map(Value::as_object).flatten();
    fields.iter().chain(inner).any(goes_on) && facts(answer) <= MAX_RECEIPT
}

/// Names of columns with the types of what stands in them.
fn describes_columns(answer: &Value) -> bool {
    const TYPES: &[&str] = &[
        "string",
        "integer",
        "int",
        "number",
        "boolean",
        "bool",
        "float",
        "double",
        "date",
        "datetime",
        "object",
        "array",
        "text",
        "varchar",
        "scalar",
        "timestamp",
    ];
    let is_type = |(key, it): (&String, &Value)| {
        let key = key.to_ascii_lowercase();
        ["type", "kind", "format"].iter().any(|end| key.ends_with(end))
            && it.as_str().is_some_and(|it| TYPES.contains(&it.to_ascii_lowercase().as_str()))
    };
    let describes = |it: &Value| {
        it.as_object().is_some_and(|fields| {
            let inner = fields.values().filter_map(Value::as_object).flatten();
            fields.iter().chain(inner).any(is_type)
        })
    };
    outer_lists(answer).iter().any(|all| {
        let columns = all.iter().filter(|it| describes(it)).count();
        all.len() >= 2 && all.iter().all(Value::is_object) && columns * 100 >= all.len() * COLUMNS
    })
}

/// Values of the query that the task holds word for word.
fn named_by_task(exchange: &Exchange, task: &str) -> Vec<String> {
    let task = task.to_lowercase();
    let url = Url::parse(&exchange.url).ok();
    let values = url.iter().flat_map(Url::query_pairs).map(|it| it.1.to_lowercase());
    values.filter(|it| it.len() >= 3 && task.contains(it.as_str())).collect()
}

/// Two thirds of its longest list begin with what was typed, and say nothing else.
fn suggests(answer: &Value, typed: impl Iterator<Item = String>) -> bool {
    let typed: BTreeSet<String> =
        typed.map(|it| it.trim_matches('"').to_lowercase()).filter(|it| !it.is_empty()).collect();
    // `["typed", ["one", "two"]]`
    let is_inner = |all: &[Value]| all.iter().skip(1).any(Value::is_array);
    let lists = match answer {
        Value::Array(all) if all.first().is_some_and(Value::is_string) && is_inner(all) => {
            all.iter().skip(1).flat_map(outer_lists).collect()
        }
        other => outer_lists(other),
    };
    let Some(longest) = lists.into_iter().max_by_key(|it| it.len()) else { return false };
    let text = |it: &'_ Value| -> Option<String> {
        match it {
            Value::String(it) => Some(it.to_lowercase()),
            Value::Array(all) => all.first()?.as_str().map(str::to_lowercase),
            Value::Object(fields) => {
                let scores = |it: &&String| SCORES.contains(&it.to_ascii_lowercase().as_str());
                let mut other = fields.iter().filter(|(key, _)| !scores(key));
                let only = other.next().filter(|_| other.next().is_none())?;
                only.1.as_str().map(str::to_lowercase)
            }
            _ => None,
        }
    };
    let texts: Option<Vec<String>> = longest.iter().map(text).collect();
    texts.is_some_and(|all| {
        let goes_on = |it: &&String| typed.iter().any(|typed| it.starts_with(typed.as_str()));
        all.len() >= 2 && 3 * all.iter().filter(goes_on).count() >= 2 * all.len()
    })
}

/// Lists that stand in no other.
fn outer_lists(value: &Value) -> Vec<&Vec<Value>> {
    match value {
        Value::Array(all) => vec![all],
        Value::Object(fields) => fields.values().flat_map(outer_lists).collect(),
        _ => Vec::new(),
    }
}

/// Values within, not counting those that are null.
fn facts(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Array(all) => all.iter().map(facts).sum(),
        Value::Object(fields) => fields.values().map(facts).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pages::tests::exchange;

    #[test]
    fn what_went_wrong_is_no_data() {
        for (answer, expected) in [
            (json!({"error": {"code": 404, "message": "no such thing", "id": "x"}}), true),
            (json!({"errors": [{"message": "boom", "path": ["a"]}], "data": null}), true),
            (json!({"success": false, "reason": "quota"}), true),
            (json!({"loggedIn": false, "redirect": "/login"}), true),
            (json!({"loggedIn": false, "items": [{"a": 1}]}), false),
            (
                json!({"title": "Gone", "status": 410, "detail": "It was here", "traceId": "a"}),
                true,
            ),
            (json!({"status": 200, "text": "fine"}), false),
            (json!({"error": null, "items": []}), false),
            (json!({"errors": [{"message": "partly"}], "data": {"items": [{"a": 1}]}}), false),
            (json!({"ok": true, "result": {"a": 1}}), false),
        ] {
            assert_eq!(says_what_went_wrong(&answer), expected, "{answer}");
        }
    }

    #[test]
    fn what_a_request_says_of_itself() {
        let task = "List the works of recording 44edee69 by the band";
        let kind = |url: &str| {
            value_of_another_kind(&format!("http://music.test{url}"), task).map(|it| it.0)
        };
        assert_eq!(kind("/ws/release/44edee69?inc=artists").as_deref(), Some("release"));
        for fits in ["/ws/recording/44edee69", "/works/44edee69", "/release/44edee69?of=recording"]
        {
            assert_eq!(kind(fits), None, "{fits}");
        }
        let query = |query: &str, body| searched_for(&exchange(0, query, body), task);
        assert_eq!(query("q=hello&band=1", None).as_deref(), Some("hello"));
        let body = json!({"variables": {"query": "hello"}, "size": 7});
        assert_eq!(query("", Some(body)).as_deref(), Some("hello"));
        for fits in ["q=Band", "q=", "lang=de", "query=%7Bbands%7D"] {
            assert_eq!(query(fits, None), None, "{fits}");
        }
    }

    #[test]
    fn a_later_answer_that_was_lost_leaves_a_doubt() {
        let is_doubted = |later: &str, body: Option<Value>, lost: bool| {
            let first = exchange(0, "region=moor&_=1795388400123", Some(json!({"sort": "name"})));
            let mut second = exchange(1, later, body);
            second.method.clone_from(&first.method);
            if lost {
                (second.body_status, second.excerpt) = (BodyStatus::Absent, None);
            }
            let all = [first, second];
            is_asked_again_in_vain(&all[0], &all)
        };
        let name = || Some(json!({"sort": "name"}));
        let length = || Some(json!({"sort": "length"}));
        assert!(is_doubted("region=moor&_=1795388400777", length(), true));
        assert!(is_doubted("region=moor&sort=length", name(), true));
        assert!(!is_doubted("region=moor&_=1795388400777", length(), false));
        assert!(is_doubted("region=moor&_=1795388400123&kind=8", name(), true));
        assert!(!is_doubted("region=moor&_=1795388400777", name(), true), "the same once more");
        assert!(!is_doubted("region=moor&_=1795388400123&page=2", name(), true), "its next page");
        assert!(!is_doubted("region=moor&_=1795388400123&blad=2", name(), true), "a count");

        let hit = json!([{"name": "query", "place": "query", "key": "q", "exact": true}]);
        let is_left_behind = |start_ms: u64| {
            let mut all = [exchange(0, "q=oak", None), exchange(1, "q=oak", None)];
            for it in &mut all {
                it.measures.typed_in_request = serde_json::from_value(hit.clone()).unwrap();
            }
            all[0].timing.total_ms = 40;
            all[1].url = "http://a.test/api/find?q=oak".to_owned();
            all[1].timing.start_ms = start_ms;
            (all[1].body_status, all[1].excerpt) = (BodyStatus::Absent, None);
            is_asked_again_in_vain(&all[0], &all)
        };
        assert!(is_left_behind(900) && !is_left_behind(12), "what was asked for together");
    }

    #[test]
    fn a_receipt_is_no_answer() {
        assert!(is_pending(&json!({"job": "1c", "state": "queued", "poll": "/jobs/1c"})));
        assert!(is_pending(&json!({"task": {"id": "1c", "done": false}, "results": null})));
        assert!(!is_pending(&json!({"id": 7, "title": "Mend the crane", "state": "open"})));
        let todo = |i| json!({"id": i, "title": "Mend the crane", "done": false});
        let list: Vec<Value> = (0..9).map(todo).collect();
        assert!(!is_pending(&json!({"items": list})));
    }

    #[test]
    fn columns_are_no_rows() {
        assert!(describes_columns(
            &json!({"fields": [{"name": "id", "type": "integer"}, {"name": "t", "type": "text"}]})
        ));
        assert!(!describes_columns(
            &json!({"hits": [{"name": "id", "type": "post"}, {"name": "t", "type": "page"}]})
        ));
    }

    #[test]
    fn ways_to_go_on_typing() {
        let typed = |it: &str| std::iter::once(it.to_owned());
        assert!(suggests(&json!(["lam", ["lamp", "lamb", "lamella"]]), typed("lam")));
        assert!(suggests(&json!({"s": [{"text": "lamp"}, {"text": "lamb"}]}), typed("lam")));
        let scored = json!({"s": [{"text": "lamp", "score": 9}, {"text": "lamb", "score": 7}]});
        assert!(suggests(&scored, typed("lam")));
        assert!(!suggests(&json!({"s": [{"text": "a red lamp"}, {"text": "lamb"}]}), typed("lam")));
        assert!(!suggests(
            &json!([{"t": "lamp", "price": 7}, {"t": "lamb", "price": 9}]),
            typed("lam")
        ));
    }
}
