//! How a path asks: by the operation that stands at its end.

use super::{
    address::{Segment, is_record_of_questions},
    names::{NameMeaning, operation_meaning as operation_says},
    verbs::{ASKS, CALLED, ENDPOINTS, MADE, PREFIXES, TURNS, is_in_lists},
};

/// How the last segment of a path asks, where the operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathPurpose {
    No,
    /// By a noun: `/suggestions`, `/prices`.
    Noun,
    /// By a verb that may name a thing as well, of a collection: `/domains/list`, `/orders/filter`.
    Word,
    /// By what only turns what it is given into something: `/preview`, `/validate`.
    Turns,
    /// By a verb that asks: `/search`.
    Verb,
    /// By a verb that asks and its thing: `/order-search`.
    Compound,
    /// The same as programs call it, the verb first or behind a mark: `/getPrices`, `/list-records`, `/Record.List`.
    Operation,
}

/// How a path asks.
pub fn path_purpose(segments: &[Segment]) -> PathPurpose {
    let is_version =
        |it: &Segment| it.raw.strip_prefix('v').is_some_and(|it| it.parse::<u8>().is_ok());
    let Some(last) = segments.iter().rev().find(|it| !it.is_id() && !is_version(it)) else {
        return PathPurpose::No;
    };
    let text = if last.extension.is_empty() { &last.text } else { &last.stem };
    let is_lead = |it: &&String| is_in_lists(it, &[PREFIXES, &["multi"]]);
    let leads = last.words.iter().take_while(is_lead).count();
    let all = last.words.get(leads..).filter(|it| !it.is_empty()).unwrap_or(&last.words);
    let (Some(first), Some(end)) = (all.first(), all.last()) else {
        return PathPurpose::No;
    };
    let before = segments.iter().rev().filter(|it| !it.is_id() && !is_version(it)).nth(1);
    if is_record_of_questions(last) {
        return PathPurpose::No;
    }
    // Many at once: `/contacts/batch/read`.
    if last.is(&["read"]) && before.is_some_and(|it| it.is(&["batch", "bulk"])) {
        return PathPurpose::Operation;
    }
    if operation_says(text) != NameMeaning::Reads {
        // Slack's `search.messages`.
        let is_marked = last.marked.is_some() && last.words.len() == 2;
        let of_many = is_marked && is_in_lists(first, &[ASKS]) && end.ends_with('s');
        return if of_many && !is_in_lists(end, &[MADE]) {
            PathPurpose::Operation
        } else {
            PathPurpose::No
        };
    }
    let is_one = last.words.len() == 1;
    if is_in_lists(first, &[TURNS]) {
        PathPurpose::Turns
    } else if is_one {
        let is_of_many = before.is_some_and(|it| {
            let lists = last.is(&["count", "info", "list"]) && !it.is(ENDPOINTS);
            it.plain.ends_with('s') || lists
        });
        let is_noun =
            last.plain.ends_with('s') || is_in_lists(first, &[&["availability", "info", "price"]]);
        match (last.is(ASKS), last.is(CALLED)) {
            (true, _) => PathPurpose::Verb,
            (_, true) if is_noun => PathPurpose::Noun,
            // Stores call what they do so: `_count`.
            (_, true) if last.raw.starts_with('_') => PathPurpose::Verb,
            (_, true) if is_of_many && last.is(&["count", "info", "list"]) => PathPurpose::Verb,
            // `/tasks/17/check` ticks it off.
            (_, true) if is_of_many && !last.is(&["check"]) => PathPurpose::Word,
            _ => PathPurpose::No,
        }
    } else {
        let asks = |it: &String| {
            is_in_lists(it, &[ASKS, &["count", "describe", "info", "list", "read", "retrieve"]])
        };
        match (asks(first) || last.marked.is_some() && asks(end), last.words.iter().any(asks)) {
            (true, _) => PathPurpose::Operation,
            (_, true) => PathPurpose::Compound,
            _ => PathPurpose::Noun,
        }
    }
}

/// Whether the last segment stands behind the number of what it is done to, and is no name of many: `/tickets/17/convert`.
pub fn is_on_one_item(segments: &[Segment]) -> bool {
    let [.., before, last] = segments else { return false };
    before.is_id() && !last.is_id() && !is_plural(segments) && last.words.len() == 1
}

/// Whether a path ends in what is done to a thing by looking at it, and may be noted.
pub fn is_marking(segments: &[Segment]) -> bool {
    segments.last().is_some_and(|it| it.is(&["read", "seen", "view", "viewed"]))
}

/// Whether the last segment is what many things of a kind are called.
pub fn is_plural(segments: &[Segment]) -> bool {
    segments.last().is_some_and(|it| {
        let word = it.words.last().map_or("", String::as_str);
        it.words.len() == 1 && word.len() > 3 && word.ends_with('s') && !word.ends_with("ss")
    })
}
