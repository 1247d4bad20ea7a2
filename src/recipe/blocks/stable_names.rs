//! Which names of a page's markup last: classes that say what something is, not how a build or a row's number calls it.

use std::collections::{BTreeMap, BTreeSet};

use scraper::ElementRef;

use crate::shape::keys;

/// Elements above an item that may say what it is.
const MAX_ABOVE: usize = 3;
/// Nodes of an item that are looked at for its link.
const MAX_LOOK: usize = 64;
/// Per cent of the links that share a part of their path.
const SHARED: usize = 80;
const MAX_ABOUT: usize = 24;

/// Classes that tell neighbours apart and nothing else.
const STATE: &[&str] = &[
    "odd",
    "even",
    "dark",
    "light",
    "alt",
    "alternate",
    "first",
    "last",
    "active",
    "selected",
    "current",
    "highlight",
    "highlighted",
    "hover",
    "focus",
    "visited",
    "new",
    "open",
    "closed",
    "zebra",
    "striped",
    "row1",
    "row2",
    "r0",
    "r1",
    "clearfix",
    "cf",
    "left",
    "right",
    "hidden",
    "visible",
    "show",
    "hide",
    "loaded",
    "lazy",
    "disabled",
    "enabled",
    "expanded",
    "collapsed",
    "checked",
    "unread",
    "read",
];

/// An element's classes that last, in their order.
pub fn classes(element: ElementRef<'_>) -> impl Iterator<Item = &str> {
    element.value().classes().filter(|it| is_stable(it) && !is_state(it))
}

pub fn is_state(class: &str) -> bool {
    let lower = class.to_ascii_lowercase();
    let plain =
        lower.trim_start_matches("is-").trim_start_matches("row-").trim_start_matches("row_");
    STATE.contains(&plain) || STATE.contains(&lower.as_str())
}

/// Something that is paid for stands among the items.
pub fn is_sponsored(element: ElementRef<'_>) -> bool {
    const PAID: &[&str] =
        &["ad", "ads", "advert", "advertisement", "sponsored", "promoted", "promo"];
    element.value().classes().any(|it| {
        let low = it.to_ascii_lowercase();
        low.split(['-', '_']).any(|it| PAID.contains(&it))
    })
}

/// Classes made by a build (`css-1x2y3z`, `sc-bdVaJa`) change with every deployment; numbers count.
pub fn is_stable(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let plain = !name.is_empty()
        && name.len() <= 40
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    // What ends in a number counts or ranks: `item-17`, `prio4`.
    plain
        && (digits == 0 || (digits == 1 && name.len() == 2 && name.starts_with('h')))
        && !name.split(['-', '_']).any(is_random)
}

/// Letters in no order of a language: capitals within (`bdVaJa`) or five consonants in a row.
fn is_random(part: &str) -> bool {
    if part.len() < 5 {
        return false;
    }
    let bytes = part.as_bytes();
    let turns = bytes
        .windows(2)
        .filter(|it| it[0].is_ascii_lowercase() && it[1].is_ascii_uppercase())
        .count();
    let mixed = bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_alphabetic)
        && !bytes[bytes.len() - 1].is_ascii_digit();
    let mut run = 0;
    let mut longest = 0;
    for b in part.to_ascii_lowercase().bytes() {
        run = if b"aeiouy".contains(&b) || !b.is_ascii_alphabetic() { 0 } else { run + 1 };
        longest = longest.max(run);
    }
    mixed || longest >= 6 || (turns >= 2 && part.len() <= 8)
}

/// `tag.class` with the first class that lasts; how an element is called among its neighbours.
pub fn segment(element: ElementRef<'_>) -> String {
    let tag = element.value().name();
    match classes(element).next() {
        Some(class) => format!("{tag}.{class}"),
        None => tag.to_owned(),
    }
}

/// Words of the classes and ids of items and of what they stand in, and of the paths that most of their links share.
pub fn context_words<'a>(items: impl Iterator<Item = ElementRef<'a>> + Clone) -> Vec<String> {
    let mut out: BTreeSet<String> = BTreeSet::new();
    let mut add = |text: &str| {
        let all = text.split(|c: char| !c.is_ascii_alphanumeric());
        out.extend(all.filter(|it| it.len() > 2 && it.len() <= 20).map(str::to_ascii_lowercase));
    };
    let link = |item: ElementRef<'a>| {
        let below = item.descendants().take(MAX_LOOK).filter_map(ElementRef::wrap);
        below.into_iter().find(|it| it.value().name() == "a" && it.attr("href").is_some())
    };
    let links: Vec<ElementRef<'a>> = items.clone().filter_map(link).collect();
    if let Some(first) = items.clone().next() {
        let above = first.ancestors().filter_map(ElementRef::wrap).take(MAX_ABOVE);
        for it in std::iter::once(first).chain(above).chain(links.first().copied()) {
            let lasting = it.value().id().filter(|it| is_stable(it));
            classes(it).chain(lasting).for_each(&mut add);
        }
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for it in &links {
        let path = it.attr("href").unwrap_or("").split(['?', '#']).next().unwrap_or("");
        let segments: BTreeSet<&str> = path.split('/').filter(|it| is_stable(it)).collect();
        for it in segments {
            *counts.entry(it).or_default() += 1;
        }
    }
    let shared = counts.iter().filter(|it| it.1 * 100 >= links.len() * SHARED && links.len() > 1);
    shared.for_each(|it| add(it.0));
    out.into_iter().take(MAX_ABOUT).collect()
}

/// A field's name: words in lower case with `_` between them, at most 40 characters; empty when nothing is left, and of what could be
/// more than a name.
pub fn field_name(text: &str) -> String {
    let mut out = String::new();
    if !keys::is_plain_name(text.trim()) {
        return out;
    }
    for c in text.trim().chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if out.len() >= 40 {
            break;
        }
    }
    out.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_classes_last() {
        for (name, expected) in [
            ("result", true),
            ("search-result", true),
            ("mw-search-results", true),
            ("mt-4", false),
            ("h2", true),
            ("md-search-result__item", true),
            ("css-1q2w3e4r", false),
            ("sc-1a2b3c4d", false),
            ("css-0x9q8z7", false),
            ("item-17", false),
            ("bdVaJa", false),
            ("sc-bdVaJa", false),
            ("MuiTableCell-root", true),
            ("jss142", false),
            ("resultTitle", true),
            ("1st", false),
        ] {
            assert_eq!(is_stable(name), expected, "{name}");
        }
    }
}
