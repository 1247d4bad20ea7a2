//! A page that has nothing to list, told from one that the site has changed.

use std::collections::{BTreeMap, BTreeSet};

use ego_tree::NodeId;
use scraper::{ElementRef, Html};

use super::{
    element_text::{children, is_read, text},
    read::HtmlReader,
    stable_names::{is_stable, segment},
};
use crate::model::{EmptyAnswer, HtmlSpec};

/// Kinds of elements that are kept.
const MAX_KINDS: usize = 24;
/// Fewer are those of any page.
const FEW_KINDS: usize = 3;
/// Of those, per cent that a page must have to be the site as it was.
const ENOUGH: usize = 80;
/// Characters of a line that says something.
const LINE: std::ops::RangeInclusive<usize> = 4..=200;
const MAX_DEPTH: usize = 6;

/// What tells pages without items from pages with some. `spec` says how the items are read; `typed` are the values that pages
/// without items were asked for.
///
/// `None` where that cannot be known: a page without items is built otherwise than those with some (a login, a challenge, an
/// error), or it says nothing that they do not say. Without such words a page whose items were renamed looks the same.
pub fn learn(
    without: &[&Html],
    with: &[&Html],
    spec: &HtmlSpec,
    typed: &[&str],
) -> Option<EmptyAnswer> {
    let reader = HtmlReader::new(spec).ok();
    let mut around = kinds_without_items(with.first()?, reader.as_ref());
    for page in with {
        let own = element_kinds(page);
        around.retain(|it| own.contains(it));
    }
    if around.len() < FEW_KINDS || !without.iter().all(|page| is_built_like(page, &around)) {
        return None;
    }
    for page in without {
        let own = element_kinds(page);
        around.retain(|it| own.contains(it));
    }
    let says = empty_phrase(without, with, typed)?;
    let around = around.into_iter().take(MAX_KINDS).collect();
    Some(EmptyAnswer { around, says: Some(says), ..EmptyAnswer::default() })
}

/// What all pages without items say and no page with some does: the shortest such line, or part of a line beside what was typed.
/// Of several, one with a word for nothing in a language that is known here; no word decides whether there is one.
fn empty_phrase(without: &[&Html], with: &[&Html], typed: &[&str]) -> Option<String> {
    let typed: Vec<&str> = typed.iter().copied().filter(|it| !it.is_empty()).collect();
    let said: Vec<String> = with.iter().flat_map(|page| lines(page)).collect();
    let is_own = |part: &str| {
        LINE.contains(&part.chars().count())
            && part.chars().any(char::is_alphabetic)
            && !said.iter().any(|line| line.contains(part))
    };
    // By text, whether it is only a part of its line.
    let mut parts: BTreeMap<String, bool> = BTreeMap::new();
    for line in lines(without.first()?) {
        let of_line = split_around(&line, &typed);
        let is_part = of_line.len() > 1;
        let own = of_line.into_iter().filter(|it| is_own(it));
        parts.extend(own.max_by_key(String::len).map(|it| (it, is_part)));
    }
    for page in &without[1..] {
        let lines = lines(page);
        parts.retain(|part, _| lines.iter().any(|line| line.contains(part.as_str())));
    }
    let best =
        parts.into_iter().min_by_key(|(text, is_part)| (!says_empty(text), *is_part, text.len()));
    best.map(|it| it.0)
}

/// The parts of a line between the values that were typed, in whatever case the page repeats them.
fn split_around(line: &str, typed: &[&str]) -> Vec<String> {
    let mut parts = vec![line.to_owned()];
    for value in typed {
        let value: Vec<char> = value.chars().collect();
        let is_value =
            |it: &[char]| it.iter().zip(&value).all(|(a, b)| a.to_lowercase().eq(b.to_lowercase()));
        parts = parts
            .iter()
            .flat_map(|part| {
                let chars: Vec<char> = part.chars().collect();
                let (mut out, mut from, mut at) = (Vec::new(), 0, 0);
                while at + value.len() <= chars.len() {
                    if is_value(&chars[at..at + value.len()]) {
                        out.push(chars[from..at].iter().collect::<String>());
                        at += value.len();
                        from = at;
                    } else {
                        at += 1;
                    }
                }
                out.push(chars[from..].iter().collect());
                out
            })
            .collect();
    }
    let trimmed = |it: &String| it.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    // A line that holds nothing typed stays whole.
    if let [whole] = &parts[..] { vec![whole.clone()] } else { parts.iter().map(trimmed).collect() }
}

/// Whether a page has most kinds of elements.
fn is_built_like<'a>(page: &Html, kinds: impl IntoIterator<Item = &'a String>) -> bool {
    let own = self::element_kinds(page);
    let (mut all, mut kept) = (0, 0);
    for it in kinds {
        all += 1;
        kept += usize::from(own.contains(it));
    }
    all > 0 && kept * 100 >= all * ENOUGH
}

/// Whether a page without items says that it has none, as the one did that was seen.
pub fn is_empty_result(page: &Html, seen: &EmptyAnswer) -> bool {
    let says = seen.says.as_ref().filter(|_| !seen.unseen);
    says.is_some_and(|it| {
        is_built_like(page, &seen.around) && lines(page).iter().any(|line| line.contains(it))
    })
}

fn says_empty(line: &str) -> bool {
    let low = line.to_lowercase();
    let words: Vec<&str> =
        low.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    words.iter().any(|it| {
        matches!(
            *it,
            "no" | "not"
                | "none"
                | "nothing"
                | "0"
                | "zero"
                | "empty"
                | "sorry"
                | "keine"
                | "keinen"
                | "kein"
                | "nichts"
                | "aucun"
                | "aucune"
                | "ninguno"
                | "ningún"
                | "nessun"
                | "nessuno"
                | "nenhum"
                | "geen"
                | "ingen"
                | "inga"
        )
    })
}

/// Kinds of the elements near the root, as they nest.
fn element_kinds(page: &Html) -> BTreeSet<String> {
    kinds_without_items(page, None)
}

/// The same without the items, what is in them, and the elements that hold them.
fn kinds_without_items(page: &Html, items: Option<&HtmlReader>) -> BTreeSet<String> {
    fn go(
        element: ElementRef<'_>,
        depth: usize,
        (items, lists): (&BTreeSet<NodeId>, &BTreeSet<NodeId>),
        out: &mut BTreeSet<String>,
    ) {
        for child in children(element) {
            if items.contains(&child.id()) {
                continue;
            }
            let name = match child.value().id().filter(|it| is_stable(it)) {
                Some(id) => format!("{}#{id}", child.value().name()),
                None => segment(child),
            };
            // Texts and their marks come and go.
            if !matches!(
                child.value().name(),
                "p" | "br"
                    | "b"
                    | "i"
                    | "em"
                    | "strong"
                    | "a"
                    | "span"
                    | "img"
                    | "li"
                    | "tr"
                    | "td"
            ) && !lists.contains(&child.id())
            {
                out.insert(name);
            }
            if depth > 1 {
                go(child, depth - 1, (items, lists), out);
            }
        }
    }
    let found = items.map(|it| it.elements(page)).unwrap_or_default();
    let lists = found.iter().filter_map(|it| it.parent()).map(|it| it.id()).collect();
    let items = found.iter().map(|it| it.id()).collect();
    let mut out = BTreeSet::new();
    go(page.root_element(), MAX_DEPTH, (&items, &lists), &mut out);
    out
}

/// Texts of elements that have some of their own.
fn lines(page: &Html) -> BTreeSet<String> {
    lines_without_items(page, None)
}

/// The same without the items, each with what it goes on with.
pub fn lines_without_items(page: &Html, items: Option<&HtmlReader>) -> BTreeSet<String> {
    let items: BTreeSet<NodeId> =
        items.into_iter().flat_map(|it| it.elements(page)).map(|it| it.id()).collect();
    let mut out = BTreeSet::new();
    let mut stack = vec![page.root_element()];
    while let Some(at) = stack.pop() {
        if !is_read(at) || items.contains(&at.id()) {
            continue;
        }
        if super::element_text::has_own_text(at) {
            out.insert(text(at));
        }
        stack.extend(at.child_elements());
    }
    out
}

/// Texts of elements that have some of their own, between the last heading before the first item and that item.
pub fn lines_before_items(page: &Html, items: &HtmlReader) -> Vec<String> {
    let items: BTreeSet<NodeId> = items.elements(page).into_iter().map(|it| it.id()).collect();
    let mut out = Vec::new();
    let mut stack = vec![page.root_element()];
    while let Some(at) = stack.pop() {
        if items.contains(&at.id()) {
            return out;
        }
        if !is_read(at) || at.value().name() == "nav" {
            continue;
        }
        if super::element_text::is_heading(at) {
            out.clear();
            continue;
        }
        if super::element_text::has_own_text(at) {
            out.push(text(at));
            continue;
        }
        let from = stack.len();
        stack.extend(at.child_elements());
        stack[from..].reverse();
    }
    Vec::new()
}
