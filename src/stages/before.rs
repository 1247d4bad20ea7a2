//! Is a request known to read, before there is an answer? What is not known to waits for a person.
//!
//! Unlike [`super::reads`], which looks at what came back and where it stood in a task, this sees one request that is about to leave. A
//! GET reads unless its address says in a verb that something is done: sites that change by GET do say so, and those that do not are
//! told from no other link. The verb has to stand where verbs stand: `/orders/17/delete` and not `/tags/delete`, `?action=remove` and
//! not `?q=remove`. Forms that a GET shows (`/issues/new`, `?action=edit`) read, unless they carry what would be filled in.

use serde_json::Value;
use url::Url;

use super::{
    reads::changes,
    verbs::{
        ABOUT, ACTIONS, ASKS, ASSETS, BEHIND, CARTS, FILES, FORMS, IN_CARTS, LEAVING, LOOSE, NAMED,
        PAGES, PATHS, PROGRAMS, PROOFS, SEARCHED, SOCIAL, STATIC, TEXTS, THINGS, TITLED, VERBS,
    },
};
use crate::redact;

/// Larger bodies are not looked through.
const BODY: usize = 256 * 1024;
const FIELDS: usize = 500;
/// Of a path; one with more is not looked through.
const SEGMENTS: usize = 60;

/// Whether nothing but reading is to be expected of a request; `Err` says why not.
///
/// - GET, HEAD and OPTIONS read unless path or query speak of a change by a verb.
/// - A POST reads if it is a GraphQL query whose text is there and holds no mutation, or if the last word of its path that is known
///   asks, and no field keeps a text or says what is to be done.
/// - Nothing else does.
pub fn known_to_read(
    method: &str,
    url: &str,
    content_type: Option<&str>,
    body: Option<&[u8]>,
) -> Result<(), String> {
    let parsed = Url::parse(url).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
    let Some(url) = parsed else { return Err(format!("{method} goes to no address of the web")) };
    let line = || told(method, &url);
    let unknown = || Err(format!("{} shows no evidence that it only reads", line()));
    let body = body.filter(|it| !it.is_empty());
    let is_deep = url.path().bytes().filter(|it| *it == b'/').count() > SEGMENTS;
    if is_deep || !matches!(method, "GET" | "HEAD" | "OPTIONS" | "POST") {
        return unknown();
    }
    if let Some(word) = change(&url) {
        return Err(format!("{} is about `{word}`", line()));
    }
    if method != "POST" {
        return if body.is_none() { Ok(()) } else { unknown() };
    }
    let segments = segments(url.path());
    if is_graphql(&segments) {
        return graphql(&url, body.unwrap_or_default()).map_err(|why| format!("{} {why}", line()));
    }
    match last_known(&segments) {
        Some((true, _)) => {}
        Some((false, word)) => return Err(format!("{} is about `{word}`", line())),
        None => return unknown(),
    }
    let Some(fields) =
        body.map_or_else(|| Some(Vec::new()), |it| fields(content_type.unwrap_or_default(), it))
    else {
        return unknown();
    };
    for (name, value) in &fields {
        if let Some(word) = in_pair(name, value, true) {
            return Err(format!("{} is about `{word}`", line()));
        }
        let key = name.rsplit('/').find(|it| !it.bytes().all(|it| it.is_ascii_digit()));
        let all = words(key.unwrap_or_default());
        // `indexName` names what is searched.
        let text = all.last().filter(|it| TEXTS.contains(&it.as_str()));
        let text = text.filter(|_| !SEARCHED.contains(&all[0].as_str()));
        if let Some(text) = text.filter(|_| !value.trim().is_empty()) {
            return Err(format!("{} has a text to be kept, under `{text}`", line()));
        }
    }
    Ok(())
}

fn told(method: &str, url: &Url) -> String {
    let mut path = redact::message(url.path());
    if let Some((at, _)) = path.char_indices().nth(120) {
        path.truncate(at);
        path.push('…');
    }
    format!("{method} {path}")
}

/// The verb by which an address says that something is done.
fn change(url: &Url) -> Option<String> {
    let query: Vec<(String, String)> =
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let segments = segments(url.path());
    let carries = query.iter().any(|it| !is_about(&it.0));
    in_path(&segments, &query, carries).or_else(|| in_query(&segments, &query, carries))
}

struct Segment {
    /// In small letters.
    raw: String,
    /// The same without an extension and marks.
    plain: String,
    words: Vec<String>,
    /// Behind the last point.
    extension: String,
    /// As functions are called: `removeItem`.
    is_camel: bool,
}

impl Segment {
    fn new(text: &str) -> Self {
        let text = text.split(';').next().unwrap_or_default();
        let (stem, extension) = match text.rsplit_once('.') {
            Some((stem, end)) if !stem.is_empty() && end.len() <= 5 => {
                (stem, end.to_ascii_lowercase())
            }
            _ => (text, String::new()),
        };
        let words = words(stem);
        let is_camel = stem.starts_with(|it: char| it.is_ascii_lowercase())
            && stem.bytes().any(|it| it.is_ascii_uppercase());
        Self { raw: text.to_lowercase(), plain: words.concat(), words, extension, is_camel }
    }

    fn is_program(&self) -> bool {
        PROGRAMS.contains(&self.extension.as_str())
    }

    fn is(&self, list: &[&str]) -> bool {
        list.contains(&self.plain.as_str())
    }

    /// A number, or a word as machines make them. A year is none.
    fn is_id(&self) -> bool {
        let digits = self.plain.bytes().filter(u8::is_ascii_digit).count();
        let all = digits == self.plain.len() && digits > 0;
        let year =
            all && digits == 4 && (self.plain.starts_with("19") || self.plain.starts_with("20"));
        // `4.32.0` is a version.
        let version = self.raw.matches('.').count() > 1;
        !version && ((all && !year) || (digits >= 2 && self.plain.len() >= 8))
    }
}

/// Segments of a path, a language at its beginning left out.
fn segments(path: &str) -> Vec<Segment> {
    let all: Vec<String> = path
        .split('/')
        .filter(|it| !it.is_empty())
        .map(|it| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned())
        .collect();
    let language = |it: &str| {
        let bytes = it.as_bytes();
        matches!(bytes.len(), 2 | 5)
            && bytes[..2].iter().all(u8::is_ascii_lowercase)
            && (bytes.len() == 2
                || matches!(bytes[2], b'-' | b'_')
                    && bytes[3..].iter().all(u8::is_ascii_alphabetic))
    };
    let skip = usize::from(all.len() > 1 && language(&all[0]));
    all.iter().skip(skip).take(SEGMENTS).map(|it| Segment::new(it)).collect()
}

/// Words in small letters; verbs of two words as one.
fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut fresh = true;
    let mut was_lower = false;
    for it in text.chars().take(300) {
        if !it.is_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || (was_lower && it.is_uppercase()) {
            out.push(String::new());
        }
        fresh = false;
        was_lower = it.is_lowercase();
        if let Some(word) = out.last_mut() {
            word.extend(it.to_lowercase());
        }
    }
    let mut joined: Vec<String> = Vec::new();
    for it in out {
        let pair = |it: &str, before: &str| match it {
            "out" | "off" | "in" => matches!(before, "log" | "sign" | "opt" | "check"),
            "up" => before == "sign",
            _ => false,
        };
        match joined.last_mut() {
            Some(last) if pair(&it, last) => last.push_str(&it),
            _ => joined.push(it),
        }
    }
    joined
}

fn in_path(segments: &[Segment], query: &[(String, String)], carries: bool) -> Option<String> {
    let named = query.iter().any(|it| is_id_name(&it.0));
    let is_asset = segments.last().is_some_and(|it| ASSETS.contains(&it.extension.as_str()));
    let (mut is_title, mut has_title, mut ids) = (false, false, 0);
    for (at, it) in segments.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| &segments[at]);
        let next_id = segments.get(at + 1).is_some_and(Segment::is_id);
        let is_last = at + 1 == segments.len();
        let in_cart = before.is_some_and(|it| it.is(CARTS));
        // Part of a page, but for scripts that are answers: `/cart/add.js`.
        let part = is_last || STATIC.contains(&it.raw.as_str());
        if is_asset && part && !in_cart || at >= 2 && it.is(FILES) {
            return None;
        }
        let place = Around { before, at, ids, is_last, next_id, named, carries, has_title };
        // A title says nothing, unless something is named that it could be done to.
        let is_special = it.words.first().is_some_and(|it| it == "special");
        let exempt = is_title && !is_special && !(named || carries || next_id);
        let is_form = it.is(&["add"]) && is_last && !carries && segments[0].is(&["admin"]);
        if let Some(word) = verb_of(it, &place).filter(|_| !exempt && !is_form) {
            return Some(word);
        }
        if it.is_id() {
            ids += 1;
            is_title = false;
        } else if it.is(TITLED) {
            (is_title, has_title) = (true, true);
        }
    }
    None
}

/// What stands around a segment.
struct Around<'a> {
    before: Option<&'a Segment>,
    at: usize,
    /// How many before it are numbers.
    ids: u32,
    is_last: bool,
    next_id: bool,
    /// The query names one thing.
    named: bool,
    /// The query says more than what a page is about.
    carries: bool,
    has_title: bool,
}

fn verb_of(it: &Segment, around: &Around<'_>) -> Option<String> {
    let (first, last) = (it.words.first()?, it.words.last()?);
    let plain = || Some(it.plain.clone());
    let (carries, next_id, is_last) = (around.carries, around.next_id, around.is_last);
    let of_cart = around.before.is_some_and(|it| it.is(CARTS));
    if it.is(VERBS) || (it.is(IN_CARTS) && of_cart) {
        return plain();
    }
    if it.is(BEHIND) && is_last && around.at > 0 {
        let of_id = around.before.is_some_and(Segment::is_id) || around.ids > 0;
        if of_id || (it.is(SOCIAL) && around.at >= 2) {
            return plain();
        }
    }
    if (it.is(LOOSE) && (next_id || is_last && (around.ids > 0 || around.named || carries)))
        || (it.is(FORMS) && (next_id || is_last && carries))
    {
        return plain();
    }
    if it.words.len() < 2 || it.words.len() > 4 {
        return None;
    }
    if LEAVING.contains(&last.as_str()) && it.words.len() <= 3 {
        return Some(last.clone());
    }
    let among =
        |word: &String, lists: &[&[&str]]| lists.iter().any(|it| it.contains(&word.as_str()));
    let made = matches!(first.as_str(), "place" | "post");
    let does = made || among(first, &[VERBS, LOOSE, BEHIND]) || (carries && among(first, &[FORMS]));
    let thing = |word: &String| among(word, &[THINGS, CARTS]);
    let called = it.is_camel || it.is_program();
    // `/questions/17/remove-item` is a title.
    let slug = around.has_title && !called;
    if does && !slug && (thing(last) || (called && !made)) {
        return Some(first.clone());
    }
    (it.words.len() == 2 && !slug && thing(first) && among(last, &[VERBS])).then(|| last.clone())
}

fn in_query(segments: &[Segment], query: &[(String, String)], carries: bool) -> Option<String> {
    for (name, value) in query {
        let key = name.to_ascii_lowercase();
        if PROOFS.contains(&key.as_str()) && !query.iter().any(|it| it.0 == "_wp_http_referer") {
            return Some(key);
        }
        let asked = key == "q" && segments.iter().any(|it| !it.is_program());
        let is_path = value.bytes().all(|it| it.is_ascii_alphanumeric() || b"/_.-".contains(&it))
            && (value.contains('/') || PAGES.contains(&key.as_str()));
        let is_special = key == "title" && value.starts_with("Special:");
        if (PATHS.contains(&key.as_str()) && is_path && !asked) || is_special {
            let found = in_path(&self::segments(value), &[], carries);
            if found.is_some() {
                return found;
            }
        }
        if let Some(word) = in_pair(name, value, carries) {
            return Some(word);
        }
    }
    None
}

/// The verb that a name and its value say.
fn in_pair(name: &str, value: &str, carries: bool) -> Option<String> {
    let key = name.rsplit('/').next().unwrap_or_default();
    let lower = key.to_ascii_lowercase();
    if matches!(&*lower, "_method" | "_httpmethod" | "x-http-method-override" | "x-http-method") {
        let method = value.trim().to_ascii_uppercase();
        return (!matches!(&*method, "" | "GET" | "HEAD" | "POST"))
            .then(|| method.to_ascii_lowercase());
    }
    if ACTIONS.contains(&lower.as_str()) {
        let all = words(value);
        let among =
            |it: &String, lists: &[&[&str]]| lists.iter().any(|list| list.contains(&it.as_str()));
        let asks = all.first().is_some_and(|it| among(it, &[ASKS, &["list", "show", "view"]]));
        let anywhere = all.iter().find(|it| !asks && among(it, &[VERBS, LOOSE]));
        let ends = all.first().into_iter().chain(all.last());
        let at_an_end =
            ends.into_iter().find(|it| among(it, &[BEHIND]) || (carries && among(it, &[FORMS])));
        if let Some(it) = anywhere.or(at_an_end).filter(|_| all.len() <= 5) {
            return Some(it.clone());
        }
    }
    let is_off = matches!(value.trim().to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off");
    if is_off {
        return None;
    }
    let all = words(key);
    let (first, last) = (all.first()?, all.last()?);
    if all.len() == 1 {
        return NAMED.contains(&first.as_str()).then(|| first.clone());
    }
    let does = NAMED.contains(&first.as_str())
        && (THINGS.contains(&last.as_str()) || CARTS.contains(&last.as_str()));
    if does && all.len() <= 4 {
        return Some(first.clone());
    }
    (LEAVING.contains(&last.as_str()) && all.len() <= 3).then(|| last.clone())
}

fn is_id_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "id" || lower.ends_with("_id") || name.ends_with("Id") || name.ends_with("ID")
}

/// Whether a parameter says no more than what a page is about.
fn is_about(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ABOUT.contains(&lower.as_str()) || is_id_name(name) || lower.starts_with("utm_")
}

/// Whether the last word of a path that is known asks, and which it is.
fn last_known(segments: &[Segment]) -> Option<(bool, String)> {
    // Algolia's; elsewhere a plural is what is made.
    if segments.iter().any(|it| it.is(&["indexes"]))
        && segments.last().is_some_and(|it| it.is(&["queries"]))
    {
        return Some((true, "queries".to_owned()));
    }
    let judged = |word: &String| {
        let does = changes(word)
            || [VERBS, LOOSE, BEHIND, FORMS].iter().any(|it| it.contains(&word.as_str()));
        let asks = ASKS.contains(&word.as_str());
        (asks || does).then(|| (asks, word.clone()))
    };
    segments.iter().flat_map(|it| &it.words).filter_map(judged).next_back()
}

fn is_graphql(segments: &[Segment]) -> bool {
    let is = |it: &Segment| it.is(&["graphql", "gql", "graph"]);
    match segments {
        [.., before, last] if last.is(&["query"]) => is(before),
        [.., last] => is(last),
        [] => false,
    }
}

/// A query whose text is there. Which of two texts counts is for the server to choose, so there must be one.
fn graphql(url: &Url, body: &[u8]) -> Result<(), &'static str> {
    const KEYS: &[&str] = &["query", "variables", "operationName", "extensions"];
    let text = std::str::from_utf8(body).ok().filter(|it| it.len() <= BODY && !it.is_empty());
    let text = text.ok_or("calls an operation whose text is not there")?;
    // In any document, comment or name: a text that says so is read by a person.
    let says = |text: &str| text.to_ascii_lowercase().contains("mutation");
    let address = percent_encoding::percent_decode_str(url.as_str()).decode_utf8_lossy();
    if says(text) || says(&address) {
        return Err("is a GraphQL mutation");
    }
    let asked = ["query", "operationname", "extensions", "doc_id", "id", "hash"];
    // Letters have no need to be escaped.
    if url.query_pairs().any(|it| asked.contains(&it.0.to_ascii_lowercase().as_str()))
        || text.contains("\\u00")
    {
        return Err("shows no evidence that it only reads");
    }
    let value: Value =
        serde_json::from_str(text).map_err(|_| "shows no evidence that it only reads")?;
    let calls = value.as_array().map_or_else(|| vec![&value], |it| it.iter().collect());
    let reads = |it: &&Value| {
        let known =
            it.as_object().is_some_and(|it| it.keys().all(|it| KEYS.contains(&it.as_str())));
        known && it.get("query").and_then(Value::as_str).is_some_and(|it| it.contains('{'))
    };
    if calls.is_empty() || !calls.iter().all(reads) {
        return Err("calls an operation whose text is not there");
    }
    Ok(())
}

/// Names (pointers) and values of a body; `None` where it is none that is known.
fn fields(content_type: &str, body: &[u8]) -> Option<Vec<(String, String)>> {
    let text = std::str::from_utf8(body).ok().filter(|it| it.len() <= BODY)?;
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let mut out = Vec::new();
    if kind == "multipart/form-data" {
        parts(content_type, text, &mut out)?;
    } else if kind.ends_with("ndjson") {
        for line in text.lines().filter(|it| !it.trim().is_empty()) {
            leaves("", &serde_json::from_str(line).ok()?, &mut out);
        }
    } else if text.trim_start().starts_with(['{', '[']) {
        leaves("", &serde_json::from_str(text).ok()?, &mut out);
    } else if kind == "application/x-www-form-urlencoded"
        || (text.contains('=') && !text.contains(char::is_whitespace))
    {
        out.extend(
            url::form_urlencoded::parse(body)
                .map(|(name, value)| (name.into_owned(), value.into_owned())),
        );
    } else {
        return None;
    }
    (out.len() <= FIELDS).then_some(out)
}

fn leaves(at: &str, value: &Value, out: &mut Vec<(String, String)>) {
    if out.len() > FIELDS {
        return;
    }
    match value {
        Value::Object(all) => {
            all.iter().for_each(|(name, it)| leaves(&format!("{at}/{name}"), it, out));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(n, it)| leaves(&format!("{at}/{n}"), it, out));
        }
        Value::String(it) => out.push((at.to_owned(), it.clone())),
        it => out.push((at.to_owned(), if it.is_null() { String::new() } else { it.to_string() })),
    }
}

/// A form without files, in parts.
fn parts(content_type: &str, text: &str, out: &mut Vec<(String, String)>) -> Option<()> {
    let boundary = content_type.split(';').find_map(|it| it.trim().strip_prefix("boundary="))?;
    let line = format!("--{}", boundary.trim_matches('"'));
    for part in text.split(&line).skip(1).filter(|it| !it.starts_with("--")) {
        let (head, value) = part.split_once("\r\n\r\n")?;
        let (_, name) = head.split_once("; name=\"")?;
        let (name, rest) = name.split_once('"')?;
        if rest.to_ascii_lowercase().contains("filename") {
            return None;
        }
        out.push((name.to_owned(), value.strip_suffix("\r\n")?.to_owned()));
    }
    Some(())
}

#[cfg(test)]
#[path = "before_tests.rs"]
mod tests;
