//! How an answer is read: which list of it holds the data.
//!
//! Every list of the answer is scored by what it holds, what the page showed of it and how it is called; the best is taken
//! when it is good enough and ahead, else the JSON is returned whole. A facet list beside the results, a list within an
//! item of another list, and a list that the page did not show while it showed another are never taken.

use std::collections::BTreeSet;

use serde_json::Value;

use super::item_kinds::of_one_kind;
use commis_artifacts::{
    payloads::{DataSource, ListPath},
    recording::{Driver, Excerpt, Exchange, ListMeasure, Listing, ResourceType, SessionRecording},
};
pub use commis_recipe::references::holds_references;
use commis_recipe::{
    blocks::{self, TaskCardinality, asks_for_one, heads, task_cardinality},
    model::{Framing, HtmlSpec, ResponseSpec, ResponseType},
    shape,
};

/// Below this a list is taken only when the answer has no other.
const ENOUGH_BP: i32 = 3000;
const ENOUGH_ALONE_BP: i32 = 800;
/// Nearer to the next list than this, nobody can know.
const LEAD_BP: i32 = 200;
/// Share of a group's text that its inner list must hold for the group to be a mere wrapper.
const WRAPPED_BP: u32 = 7000;

/// What lists of results are called, in APIs of all kinds.
const RESULTS: &[&str] = &[
    "result",
    "item",
    "hit",
    "doc",
    "document",
    "record",
    "rec",
    "entry",
    "row",
    "node",
    "edge",
    "feature",
    "collection",
    "data",
    "list",
    "content",
    "object",
    "match",
    "element",
    "value",
    "member",
    "response",
    "binding",
];
/// What stands beside results: ways to narrow them, to leave them, to pay for them, or words about the answer itself.
const BESIDE: &[&str] = &[
    "ad",
    "ads",
    "agg",
    "aggregation",
    "badge",
    "banner",
    "breadcrumb",
    "button",
    "category",
    "chip",
    "column",
    "config",
    "correction",
    "didyoumean",
    "error",
    "experiment",
    "facet",
    "field",
    "filter",
    "flag",
    "header",
    "icon",
    "image",
    "language",
    "link",
    "locale",
    "menu",
    "message",
    "meta",
    "metadata",
    "nav",
    "navigation",
    "notification",
    "option",
    "page",
    "pagination",
    "paging",
    "param",
    "preload",
    "promotion",
    "recommendation",
    "recommended",
    "refinement",
    "related",
    "schema",
    "setting",
    "sort",
    "sorting",
    "sponsored",
    "suggest",
    "suggestion",
    "tag",
    "tracking",
    "var",
    "warning",
];
/// Share of a listing's texts that the page must have held.
const SHOWN_BP: u32 = 6000;
/// Share of a document's text that its data must hold where nobody saw the page.
const MIN_SHARE_BP: u32 = 2000;
/// Share of an answer about one thing that a list must hold to be all that was asked for.
const OF_ALL_BP: u32 = 5000;
/// Fields of a listing, with those of the second page.
const MAX_FIELDS: usize = 60;
/// Characters of a text that a page does not show by chance.
const MIN_FACT: usize = 6;
/// Words of a task that say nothing about what is listed.
const STOP: &[&str] = &[
    "the", "and", "for", "with", "from", "show", "find", "search", "get", "look", "see", "all",
    "any", "that", "this", "what", "which", "who", "are", "was", "its", "into", "about",
];
/// Keys under which a list's items wrap their payload, and keys that may be lost with the wrapper.
const PAYLOAD: &[&str] =
    &["node", "item", "document", "resource", "record", "entity", "result", "hit"];
const ENVELOPE: &[&str] = &["cursor", "__typename", "position", "rank", "score"];

/// How to read the answer. `Err` says why it cannot be read: an HTML page without a list that can be told apart, a text that the page
/// did not show, JSON of a form that is not decoded.
///
/// `main` is the block of the page that the task was about.
pub fn response(
    exchange: &Exchange,
    source: DataSource,
    recording: &SessionRecording,
    main: Option<u32>,
) -> Result<ResponseSpec, &'static str> {
    let mut spec =
        ResponseSpec { framing: exchange.framing, ..ResponseSpec::new(ResponseType::Json) };
    match source {
        DataSource::Json if exchange.framing == Some(Framing::File) => {
            spec.media_type = Some(exchange.mime.clone());
        }
        DataSource::Json => {
            if let Some(Excerpt::Json(it)) = &exchange.excerpt
                && holds_references(it)
            {
                return Err(REFERENCES);
            }
            let beside = asked_beside(exchange, recording);
            let one = asks_for_one(&recording.task);
            let of_one = |path: &String| {
                let lists = &exchange.measures.lists;
                one && !lists.iter().any(|it| {
                    let same = it.path == "@" || path.starts_with(&it.path);
                    same && it.share_bp >= OF_ALL_BP
                })
            };
            spec.extract =
                best(&exchange.measures.lists, &recording.task).filter(|it| !beside && !of_one(it));
            // XML does not say that an only element is one of a list; the expression does.
            if exchange.framing == Some(Framing::Xml) {
                spec.extract = spec.extract.map(|it| format!("{it}[]"));
            } else if let Some(extract) =
                spec.extract.as_deref().and_then(|it| of_one_kind(it, exchange, recording))
            {
                spec.extract = Some(extract);
            }
        }
        DataSource::EmbeddedJson => {
            spec.kind = ResponseType::Html;
            let all = exchange.measures.embedded_json.iter();
            let found = all.max_by_key(|it| it.leaves_visible).ok_or(NO_LIST)?;
            spec.embedded = Some(found.selector.clone());
            spec.variable.clone_from(&found.variable);
            spec.extract = best(&found.lists, &recording.task);
        }
        DataSource::Html => {
            spec.kind = ResponseType::Html;
            spec.html = Some(listing(exchange, recording, main).ok_or(NO_LIST)?.html.clone());
        }
        DataSource::Text => {
            if !is_shown_as_text(exchange, recording) {
                return Err(NOT_SHOWN);
            }
            spec.kind = ResponseType::Text;
        }
    }
    Ok(spec)
}

const NO_LIST: &str = "the answer is a page in which no list of results could be told apart";
const NOT_SHOWN: &str =
    "the answer is text in a form that is not known, and the page did not show it as it is";
const REFERENCES: &str =
    "the answer is JSON whose values refer to one another by number, a form that is not decoded";
/// Whether the page showed the text as it is. A text that only a program reads (data in a form that is not known, a body that broke
/// off) is no answer.
fn is_shown_as_text(exchange: &Exchange, recording: &SessionRecording) -> bool {
    const COMPARED: usize = 200;
    let Some(Excerpt::Text(text)) = &exchange.excerpt else { return false };
    let plain = |text: &str, most: usize| -> String {
        let words = text.split_whitespace().flat_map(|it| [it, " "]);
        words.flat_map(str::chars).take(most).collect::<String>().trim_end().to_lowercase()
    };
    let wanted = plain(text, COMPARED);
    !wanted.is_empty() && plain(&recording.page.visible_text, usize::MAX).contains(&wanted)
}

/// What of a page is the data: what holds the items of the block that the task was about; where no page was seen, the
/// weightiest that the page's text held.
fn listing<'a>(
    exchange: &'a Exchange,
    recording: &SessionRecording,
    main: Option<u32>,
) -> Option<&'a Listing> {
    let one = asks_for_one(&recording.task);
    // A table that has one row today is a list all the same, unless one thing is asked for.
    let is_row = |it: &Listing| {
        it.html.single && it.html.fields.values().any(|it| it.starts_with(":column("))
    };
    let all = || exchange.measures.listings.iter().filter(|it| one || !is_row(it));
    let fits = |it: &Listing| match (task_cardinality(&recording.task), it.html.single) {
        (TaskCardinality::One, true) | (TaskCardinality::Many, false) => 6,
        // Labels and values are a list of pairs as well.
        (TaskCardinality::Either, true) => 5,
        (TaskCardinality::Either, false) => 3,
        (TaskCardinality::One, false) | (TaskCardinality::Many, true) => 2,
    };
    let shown = main.and_then(|it| recording.page.shown.get(it as usize));
    if let (Some(main), Some(shown)) = (main, shown) {
        let held = |it: &Listing| it.holds.get(main as usize).copied().unwrap_or(0);
        return all()
            .filter(|it| held(it) > 0 && it.html.single == shown.is_record)
            .max_by_key(|it| (held(it), std::cmp::Reverse(it.items.abs_diff(shown.count))));
    }
    // Of a HAR nobody knows what became of a part that a script fetched.
    let is_part =
        recording.driver == Driver::Har && exchange.resource_type != ResourceType::Document;
    all()
        .filter(|it| is_part || it.visible_bp >= SHOWN_BP || recording.page.visible_text.is_empty())
        // With no page that says what it was about, a small part of the document is none of it.
        .filter(|it| it.share_bp >= MIN_SHARE_BP)
        .max_by_key(|it| (u64::from(it.weight) * fits(it), std::cmp::Reverse(it.items)))
}

/// The same with what the items of the second page have and those of the first have not, and the other way round.
pub fn widen_by_twin(
    response: &ResponseSpec,
    first: &Exchange,
    twin: Option<&Exchange>,
) -> ResponseSpec {
    let html = response.html.as_ref();
    let other = html.zip(twin).and_then(|(html, twin)| same_listing(html, first, twin));
    other.map_or_else(
        || response.clone(),
        |(items, own, theirs)| {
            merge_columns(response, items, &own.heads, (&theirs.html, &theirs.heads))
        },
    )
}

/// The same, by the pages that were answered.
pub fn widen_by_pages(response: &ResponseSpec, first: &[u8], second: &[u8]) -> ResponseSpec {
    let Some(html) = &response.html else { return response.clone() };
    let listings = |page: &[u8]| -> Vec<(HtmlSpec, Vec<String>, Vec<String>)> {
        let page = blocks::parse_bounded(&String::from_utf8_lossy(page));
        let all = page.map(|it| blocks::find(&it, true, html.single)).into_iter().flatten();
        let all = all.filter_map(|it| {
            let spec = it.spec.filter(|it| it.run == html.run && it.single == html.single)?;
            let ways = std::iter::once(spec.items.clone()).chain(it.ways).collect();
            Some((spec, ways, it.heads))
        });
        all.collect()
    };
    let own = listings(first).into_iter().find(|it| it.1.contains(&html.items));
    let (mine, own_heads) =
        own.map_or_else(|| (vec![html.items.clone()], Vec::new()), |it| (it.1, it.2));
    let theirs = listings(second);
    let same = theirs.iter().find_map(|(spec, ways, heads)| {
        Some((mine.iter().find(|it| ways.contains(it))?.clone(), spec, heads))
    });
    same.map_or_else(
        || response.clone(),
        |(items, other, heads)| merge_columns(response, items, &own_heads, (other, heads)),
    )
}

/// `own` are the titles of the columns that the response reads; `theirs` what is read of the other page, and its titles.
fn merge_columns(
    response: &ResponseSpec,
    items: String,
    own: &[String],
    theirs: (&HtmlSpec, &[String]),
) -> ResponseSpec {
    let mut out = response.clone();
    let Some(html) = &mut out.html else { return out };
    html.items = items;
    let mut other = theirs.0.clone();
    heads::align((html, own), (&mut other, theirs.1));
    let narrow = html.clone();
    // One of them here and several there: a list.
    for selector in html.fields.values_mut() {
        let all = format!("{selector}[]");
        if other.fields.values().any(|it| *it == all) {
            *selector = all;
        }
    }
    let known = |selector: &str| {
        let one = selector.strip_suffix("[]");
        let mut all = other.fields.iter().filter(|it| *it.1 == selector || Some(&**it.1) == one);
        all.next().as_ref().is_some_and(|it| !other.optional.contains(it.0))
    };
    for (name, selector) in &html.fields {
        let is_sure = known(selector);
        if !is_sure && !html.optional.contains(name) {
            html.optional.push(name.clone());
        }
    }
    for (name, selector) in &other.fields {
        if !html.fields.values().any(|it| it == selector || it.strip_suffix("[]") == Some(selector))
            && !html.fields.contains_key(name)
            && html.fields.len() < MAX_FIELDS
        {
            html.fields.insert(name.clone(), selector.clone());
            html.optional.push(name.clone());
        }
    }
    // Something must be there in every item, or nothing tells a page that has changed.
    if html.optional.len() == html.fields.len() {
        html.optional = narrow.optional;
        let new = html.fields.keys().filter(|it| !narrow.fields.contains_key(*it));
        html.optional.extend(new.cloned());
    }
    html.optional.sort();
    html.optional.dedup();
    out
}

/// The listing of the second page that is the same, and a selector that means its items on both.
fn same_listing<'a>(
    html: &HtmlSpec,
    first: &'a Exchange,
    twin: &'a Exchange,
) -> Option<(String, &'a Listing, &'a Listing)> {
    let own = first.measures.listings.iter().find(|it| it.html == *html)?;
    let alike = |it: &&Listing| it.html.run == html.run && it.html.single == html.single;
    let ways = |it: &Listing| -> Vec<String> {
        std::iter::once(it.html.items.clone()).chain(it.ways.iter().cloned()).collect()
    };
    let mine = ways(own);
    twin.measures.listings.iter().filter(alike).find_map(|it| {
        let theirs = ways(it);
        let common = mine.iter().find(|it| theirs.contains(it))?;
        Some((common.clone(), own, it))
    })
}

/// The path of the list that holds the data, when that is sure.
fn best(lists: &[ListMeasure], task: &str) -> Option<String> {
    let ranked = ranked(lists, task);
    let top = ranked.first()?;
    let seen = lists.iter().any(|it| it.items_visible >= 2);
    // A task that asks for a number is answered by what stands beside the list.
    if !seen && asks_for_a_number(task) {
        return None;
    }
    let (enough, lead) = match ranked.get(1) {
        None => (ENOUGH_ALONE_BP, 0),
        Some(next) => (ENOUGH_BP, top.score_bp - next.score_bp),
    };
    let sure = top.score_bp >= enough && (ranked.len() == 1 || lead >= LEAD_BP);
    sure.then(|| top.path.clone())
}

/// Whether the task asks for something that stands beside every list and that the page showed: a list alone would leave it out.
fn asked_beside(exchange: &Exchange, recording: &SessionRecording) -> bool {
    let Some(Excerpt::Json(answer)) = &exchange.excerpt else { return false };
    let wanted = task_nouns(&recording.task);
    let named = |key: &str| {
        let last = words(key).last().map(|it| singular(&it));
        last.is_some_and(|it| wanted.contains(&it))
    };
    // A word that a list or its items bear is answered there.
    let in_lists = |key: &str| {
        let last = words(key).last();
        let same = |other: &str| {
            words(other).any(|it| Some(singular(&it)) == last.as_deref().map(singular))
        };
        exchange.measures.lists.iter().any(|it| same(&it.path) || it.keys.iter().any(|it| same(it)))
    };
    let page = recording.page.visible_text.to_lowercase();
    let shown = |text: &str| {
        let text = text.trim().to_lowercase();
        text.chars().count() >= MIN_FACT
            && page.contains(&text)
            && !recording.typed.values().any(|it| it.to_lowercase().contains(&text))
    };
    let mut all = Vec::new();
    facts(answer, &mut all);
    all.into_iter().any(|(key, text)| named(key) && !in_lists(key) && shown(text))
}

/// Texts outside every list, with their keys.
fn facts<'a>(value: &'a Value, out: &mut Vec<(&'a str, &'a str)>) {
    let Value::Object(fields) = value else { return };
    for (key, it) in fields {
        match it {
            Value::String(text) => out.push((key, text)),
            it => facts(it, out),
        }
    }
}

/// Every list that could be the data, best first, as a JMESPath.
pub fn ranked(lists: &[ListMeasure], task: &str) -> Vec<ListPath> {
    let wanted = task_nouns(task);
    let candidates: Vec<(&ListMeasure, ListPosition)> = lists
        .iter()
        .filter(|it| !it.path.contains("REDACTED") && !is_of_one_id(&it.path))
        .filter_map(|it| Some((it, list_position(it, lists)?)))
        .collect();
    let most = candidates.iter().map(|it| it.0.leaves_visible).max().unwrap_or(0);
    let shown = candidates.iter().any(|it| it.0.items_visible >= 2);
    let mut out: Vec<(ListPath, usize)> = candidates
        .into_iter()
        .filter(|(it, _)| !shown || it.items_visible > 0)
        .map(|(it, standing)| (scored(it, standing, &wanted, most.max(1), shown), depth(&it.path)))
        .collect();
    out.sort_by(|a, b| {
        b.0.score_bp.cmp(&a.0.score_bp).then(a.1.cmp(&b.1)).then_with(|| a.0.path.cmp(&b.0.path))
    });
    out.into_iter().map(|it| it.0).collect()
}

/// The path goes through the id of one thing: of another input it is another.
fn is_of_one_id(path: &str) -> bool {
    path.split('"').skip(1).step_by(2).any(shape::keys::is_data_key)
}

/// What the task names.
fn task_nouns(task: &str) -> BTreeSet<String> {
    words(task)
        .map(|it| singular(&it))
        .filter(|it| it.len() > 2 && !STOP.contains(&it.as_str()))
        .collect()
}

/// Where a list stands that may be the data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListPosition {
    Free,
    /// In a group that is hardly more than a wrapper around it; the path is flattened.
    Wrapped,
}

fn list_position(it: &ListMeasure, lists: &[ListMeasure]) -> Option<ListPosition> {
    let path = it.path.as_str();
    // A map of lists: all of them together.
    if path.ends_with(".*") && !it.of_map && !path[..path.len() - 2].contains(['*', '[']) {
        return Some(ListPosition::Wrapped);
    }
    let inner = if it.of_map { path.trim_end_matches(".*") } else { path };
    if inner.contains(".*") || inner.starts_with("*.") {
        return None;
    }
    let Some(at) = inner.rfind("[]") else { return Some(ListPosition::Free) };
    let outer = if at == 0 { "@" } else { &path[..at] };
    let outer = lists.iter().find(|it| it.path == outer)?;
    let wraps = it.share_bp * 10_000 >= outer.share_bp.max(1) * WRAPPED_BP;
    (it.instances == 1 && it.of_objects && it.len >= 2 && wraps).then_some(ListPosition::Wrapped)
}

fn scored(
    it: &ListMeasure,
    standing: ListPosition,
    wanted: &BTreeSet<String>,
    most: u32,
    shown: bool,
) -> ListPath {
    let mut score = 0;
    let mut reasons: Vec<String> = Vec::new();
    let mut add = |bp: i32, why: &str| {
        score += bp;
        if bp != 0 && !why.is_empty() {
            reasons.push(why.to_owned());
        }
    };
    let share = (it.share_bp / 100).min(100);
    if shown {
        add((it.leaves_visible * 3000 / most) as i32, "the page showed it");
        add((it.share_bp / 10) as i32, "");
    } else {
        add((it.share_bp * 2 / 5) as i32, &format!("holds {share} % of the text"));
    }
    if standing == ListPosition::Wrapped {
        add(1500, "is wrapped in groups");
    }
    add(if it.of_objects { 1500 } else { 0 }, "objects");
    add(if it.len >= 2 { 500 } else { 0 }, "");
    add(if it.len == 0 { -1000 } else { 0 }, "is empty");
    let all: Vec<String> = words(&it.path).map(|it| singular(&it)).collect();
    let last: Vec<String> = words(last_key(&it.path)).map(|it| singular(&it)).collect();
    let named =
        |list: &[&str], words: &[String]| words.iter().any(|it| list.contains(&it.as_str()));
    let asked = |words: &[String]| words.iter().any(|it| wanted.contains(it));
    add(if named(RESULTS, &last) || all.is_empty() { 1500 } else { 0 }, "named like results");
    if asked(&last) {
        add(1500, "named in the task");
    } else if asked(&all) {
        add(700, "under a word of the task");
    }
    let beside = is_beside(&it.path, wanted);
    add(if beside { -3000 } else { 0 }, "named like what stands beside results");
    add(-100 * depth(&it.path) as i32, "");
    ListPath {
        path: expression(it, standing),
        score_bp: score.clamp(-10_000, 10_000),
        reason: reasons.join(", "),
    }
}

fn is_beside(path: &str, wanted: &BTreeSet<String>) -> bool {
    path.split(['.', '[', ']', '"']).any(|key| {
        // `facetResults`, `searchFilters`; but `twoColumnBrowser` is no column.
        let mut words = words(key).map(|it| singular(&it));
        let first = words.next();
        let last = words.last();
        let is_beside = |it: &String| BESIDE.contains(&it.as_str()) && !wanted.contains(it);
        first.iter().chain(&last).any(is_beside)
    })
}

/// An answer that has lists, and all of them are named like what stands beside results and nothing else.
pub fn has_only_what_stands_beside(lists: &[ListMeasure], task: &str) -> bool {
    let wanted = task_nouns(task);
    // Things are called so too.
    let things = ["page", "category", "image", "language", "message", "option", "tag", "metadata"];
    let is_thing =
        |path: &str| words(last_key(path)).any(|it| things.contains(&singular(&it).as_str()));
    let mut outer = lists.iter().filter(|it| !it.path.contains("[]")).peekable();
    outer.peek().is_some() && outer.all(|it| is_beside(&it.path, &wanted) && !is_thing(&it.path))
}

/// The path, flattened where it goes through groups, and past the wrapper of each item.
fn expression(it: &ListMeasure, standing: ListPosition) -> String {
    let path = match (standing, it.path.as_str()) {
        (ListPosition::Free, path) => path.to_owned(),
        (ListPosition::Wrapped, path) => format!("{path}[]"),
    };
    let mut payload = it.keys.iter().filter(|it| !ENVELOPE.contains(&it.as_str()));
    match (payload.next(), payload.next()) {
        (Some(key), None) if it.of_objects && PAYLOAD.contains(&key.as_str()) => {
            let path = if path == "@" { String::new() } else { path };
            let open = if path.ends_with(']') || path.ends_with('*') { "" } else { "[]" };
            format!("{path}{open}.{key}")
        }
        _ => path,
    }
}

fn asks_for_a_number(task: &str) -> bool {
    let task = task.to_lowercase();
    task.contains("how many")
        || task.contains("number of")
        || task.split_whitespace().next().is_some_and(|it| it == "count")
}

fn depth(path: &str) -> usize {
    path.matches(['.', '[']).count() + usize::from(path != "@")
}

/// The key nearest the list: `nodes` of `data.search.nodes`, `packages` of `packages.*`.
fn last_key(path: &str) -> &str {
    let path = path
        .trim_end_matches(|it: char| matches!(it, '*' | '[' | ']' | '.') || it.is_ascii_digit());
    path.rsplit(['.', '[', ']', '(']).next().unwrap_or(path)
}

/// Words in lower case, camel case taken apart.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut lower = false;
    for c in text.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && lower) {
            out.push(std::mem::take(&mut word));
        }
        lower = c.is_lowercase();
        word.extend(c.to_lowercase().filter(|it| it.is_alphabetic()));
    }
    out.push(word);
    out.into_iter().filter(|it| !it.is_empty())
}

/// English plurals cut, well enough to compare two words.
fn singular(word: &str) -> String {
    for (end, instead) in
        [("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")]
    {
        if let Some(stem) = word.strip_suffix(end) {
            return format!("{stem}{instead}");
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if word.len() > 3 && !stem.ends_with('s') => stem.to_owned(),
        _ => word.to_owned(),
    }
}
