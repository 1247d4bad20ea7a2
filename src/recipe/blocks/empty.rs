//! A page that has nothing to list, told from one that the site has changed.

use std::collections::BTreeSet;

use ego_tree::NodeId;
use scraper::{ElementRef, Html, Selector};

use super::{
    cells::{children, is_read, text},
    names::{lasts, segment},
};
use crate::model::EmptyAnswer;

/// Kinds of elements that are kept.
const MAX_KINDS: usize = 24;
/// Fewer are those of any page.
const FEW_KINDS: usize = 3;
/// Of those, per cent that a page must have to be the site as it was.
const ENOUGH: usize = 80;
/// Characters of a line that says something.
const LINE: std::ops::RangeInclusive<usize> = 4..=200;
const MAX_DEPTH: usize = 6;

/// What tells the page without items from the pages with some; `None` when nothing of them stays the same. Lines that hold
/// what was `typed` are not the same for every input.
pub fn learn(without: &Html, with: &[&Html], typed: &[&str]) -> Option<EmptyAnswer> {
    let mut around = kinds(without);
    let mut lines = lines(without);
    for page in with {
        let own = kinds(page);
        around.retain(|it| own.contains(it));
        let own = self::lines(page);
        lines.retain(|it| !own.contains(it));
    }
    let typed: Vec<String> = typed.iter().map(|it| it.to_lowercase()).collect();
    lines.retain(|it| {
        let low = it.to_lowercase();
        LINE.contains(&it.chars().count())
            && it.chars().any(char::is_alphabetic)
            && !typed.iter().any(|it| low.contains(it.as_str()))
    });
    // Words for nothing, before words that happen to be new.
    let says = lines.into_iter().min_by_key(|it| (!speaks_of_nothing(it), it.len()));
    let says = says.filter(|it| speaks_of_nothing(it));
    let around: Vec<String> = around.into_iter().take(MAX_KINDS).collect();
    (!around.is_empty()).then_some(EmptyAnswer { around, says, unseen: false })
}

/// What pages with items have in common beside these and what holds them, where none without was to be had. `items` is their
/// selector. `None` when that is too little to know the site by.
pub fn guess(with: &[&Html], items: &str) -> Option<EmptyAnswer> {
    let items = Selector::parse(items).ok();
    let mut around = kinds_beside(with.first()?, items.as_ref());
    for page in with {
        let own = kinds(page);
        around.retain(|it| own.contains(it));
    }
    let around: Vec<String> = around.into_iter().take(MAX_KINDS).collect();
    (around.len() >= FEW_KINDS).then_some(EmptyAnswer { around, says: None, unseen: true })
}

/// Whether a page without items is the one that was seen.
pub fn is_like(page: &Html, seen: &EmptyAnswer) -> bool {
    let own = kinds(page);
    let kept = seen.around.iter().filter(|it| own.contains(*it)).count();
    if seen.around.is_empty() || kept * 100 < seen.around.len() * ENOUGH {
        return false;
    }
    let lines = || lines(page);
    match &seen.says {
        Some(it) => lines().contains(it),
        None if seen.unseen => {
            lines().iter().any(|it| LINE.contains(&it.chars().count()) && speaks_of_nothing(it))
        }
        None => true,
    }
}

fn speaks_of_nothing(line: &str) -> bool {
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
fn kinds(page: &Html) -> BTreeSet<String> {
    kinds_beside(page, None)
}

/// The same without the items, what is in them, and the elements that hold them.
fn kinds_beside(page: &Html, items: Option<&Selector>) -> BTreeSet<String> {
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
            let name = match child.value().id().filter(|it| lasts(it)) {
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
    let found: Vec<_> = items.into_iter().flat_map(|it| page.select(it)).collect();
    let lists = found.iter().filter_map(|it| it.parent()).map(|it| it.id()).collect();
    let items = found.iter().map(|it| it.id()).collect();
    let mut out = BTreeSet::new();
    go(page.root_element(), MAX_DEPTH, (&items, &lists), &mut out);
    out
}

/// Texts of elements that have some of their own.
fn lines(page: &Html) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut stack = vec![page.root_element()];
    while let Some(at) = stack.pop() {
        if !is_read(at) {
            continue;
        }
        if super::cells::has_own_text(at) {
            out.insert(text(at));
        }
        stack.extend(at.child_elements());
    }
    out
}
