//! Selectors that mean exactly what was found: by ids and classes that last, by structure where there are none.

use std::collections::{BTreeMap, BTreeSet};

use ego_tree::NodeId;
use scraper::{ElementRef, Html};

use super::{
    Group, Item,
    column::{Column, ColumnSource},
    element_text::{is_hidden, is_mark},
    numbers::has_varying_number,
    read::HtmlReader,
    stable_names::{classes, is_stable},
    table::Grid,
};
use crate::{matching::Selector, model::HtmlSpec, shape::keys};

/// Steps up from an element that a selector may begin at.
const MAX_STEPS: usize = 14;
/// Items that a field's selector is tried on.
const TRIED: usize = 120;
const MAX_SELECTOR: usize = 400;
/// Ways to mean the same items that are kept.
const MAX_WAYS: usize = 4;
/// Kinds of children that all items have and that are tried.
const MAX_CHILD_KINDS: usize = 4;
/// Elements of one kind before the one that is meant.
const MAX_POSITION: usize = 6;

/// How the group is read, and other selectors of the same items; `None` when no selector means these items and no others.
pub fn spec(
    page: &Html,
    group: &Group<'_>,
    columns: &[Column<'_>],
) -> Option<(HtmlSpec, Vec<String>)> {
    let firsts: Vec<ElementRef<'_>> = group.items.iter().map(Item::first).collect();
    // Of a table, rows that are none of the data are told apart as they are read.
    let below = || group.tables.iter().flat_map(Grid::body_rows).collect::<Vec<_>>();
    let all = || group.tables.iter().flat_map(Grid::rows).collect::<Vec<_>>();
    let mut ways = find_unique_selectors(page, &firsts);
    if ways.is_empty() && !below().is_empty() {
        ways = find_unique_selectors(page, &below());
    }
    if ways.is_empty() && !all().is_empty() {
        ways = find_unique_selectors(page, &all());
    }
    let items = ways.first()?.clone();
    ways.remove(0);
    let headings: Vec<ElementRef<'_>> = {
        let mut seen = BTreeSet::new();
        group.headings.iter().flatten().copied().filter(|it| seen.insert(it.id())).collect()
    };
    let heading = if headings.is_empty() {
        None
    } else {
        find_unique_selectors(page, &headings).into_iter().next()
    };
    let mut fields = BTreeMap::new();
    let mut optional = Vec::new();
    for it in columns {
        let text = match &it.place {
            ColumnSource::Heading => continue,
            // What could be more than a name is not written down.
            ColumnSource::Label(label) if !keys::is_plain_name(label) => None,
            ColumnSource::Label(label) => {
                let own = format!(":labelled({})", quote_css(label));
                Some(match &it.attribute {
                    None => own,
                    Some(name) => format!("{own} {}[{name}]@{name}", common_tag(it)),
                })
            }
            ColumnSource::Cell(at) => {
                let title = group
                    .tables
                    .first()
                    .map(|grid| (grid.titles()[*at].clone(), grid.column(&grid.titles()[*at])));
                let own = match title {
                    Some((title, Some(first)))
                        if !title.is_empty()
                            && keys::is_plain_name(&title)
                            && first == *at
                            && !has_varying_number(&title, &group.tables[0].titles()) =>
                    {
                        title_column_selector(&title)
                    }
                    _ => format!(":column({})", at + 1),
                };
                Some(match &it.attribute {
                    None => own,
                    Some(name) if name == "href" => format!("{own} a@{name}"),
                    Some(name) => format!("{own} {}[{name}]@{name}", common_tag(it)),
                })
            }
            ColumnSource::Path(at) => path(&group.items, it, *at, group.is_run),
        };
        let Some(text) = text.filter(|it| it.len() <= MAX_SELECTOR) else { continue };
        if it.texts.iter().any(Option::is_none) {
            optional.push(it.name.clone());
        }
        fields.insert(it.name.clone(), text);
    }
    if fields.is_empty() {
        return None;
    }
    let out = HtmlSpec {
        items,
        run: group.is_run,
        single: group.is_record,
        group: heading,
        fields,
        optional,
        types: BTreeMap::new(),
    };
    // What it reads is what was found.
    let read = HtmlReader::new(&out).ok()?.read(page).ok()?;
    (read.len() == group.items.len()).then_some((out, ways))
}

/// The place of a column with that title.
pub fn title_column_selector(title: &str) -> String {
    format!(":column({})", quote_css(title))
}

/// The tag that all elements of a column have; empty where they differ.
fn common_tag<'a>(column: &Column<'a>) -> &'a str {
    let mut tags = column.elements.iter().flatten().map(|it| it.value().name());
    let first = tags.next().unwrap_or("");
    if tags.all(|it| it == first) { first } else { "" }
}

/// As a string of CSS.
fn quote_css(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// Selectors that match exactly these elements of the page, the best first; none where there is none.
fn find_unique_selectors(page: &Html, wanted: &[ElementRef<'_>]) -> Vec<String> {
    let ids: BTreeSet<NodeId> = wanted.iter().map(|it| it.id()).collect();
    let means = |text: &str| {
        text.len() <= MAX_SELECTOR
            && Selector::parse(text).is_ok_and(|it| {
                let mut found = BTreeSet::new();
                // What is but a mark, or hidden, is left out as it is read.
                it.select_in_page(page).all(|it| {
                    if ids.contains(&it.id()) {
                        found.insert(it.id())
                    } else {
                        is_mark(it) || is_hidden(it)
                    }
                }) && found.len() == ids.len()
            })
    };
    let mut out: Vec<String> = Vec::new();
    // A bare tag that happens to mean them says nothing of another page.
    let mut bare = None;
    for own in element_selectors(wanted) {
        if out.len() >= MAX_WAYS {
            break;
        }
        match extend_with_ancestors(&own, wanted, &means) {
            (Some(it), _) => out.push(it),
            (None, Some(it)) if bare.is_none() => bare = Some(it),
            _ => {}
        }
    }
    if out.is_empty() {
        out.extend(bare);
    }
    out
}

/// The selector, put behind its ancestors until it means what is wanted; one that says more than tags, and one that does not.
fn extend_with_ancestors(
    own: &str,
    wanted: &[ElementRef<'_>],
    means: &dyn Fn(&str) -> bool,
) -> (Option<String>, Option<String>) {
    let mut bare = None;
    if means(own) {
        if is_anchored(own) {
            return (Some(own.to_owned()), None);
        }
        bare = Some(own.to_owned());
    }
    let mut level: Vec<ElementRef<'_>> = wanted.to_vec();
    // From the element up, by kind; each level by position too, where all stand in one.
    let mut texts = vec![own.to_owned()];
    for _ in 0..MAX_STEPS {
        let Some(above) = parents(&level) else { break };
        level = above;
        let names = level_selectors(&level);
        let is_last = names.iter().any(|it| it.starts_with('#'));
        let mut next = Vec::new();
        for below in &texts {
            for name in &names {
                let text = format!("{name} > {below}");
                if means(&text) {
                    if is_anchored(&text) {
                        return (Some(text), bare);
                    }
                    // Longer says more.
                    bare = Some(text.clone());
                }
                if text.len() <= MAX_SELECTOR {
                    next.push(text);
                }
            }
        }
        // Nothing above an id tells more.
        if is_last || level.iter().all(|it| matches!(it.value().name(), "body" | "html")) {
            break;
        }
        next.truncate(6);
        texts = next;
    }
    (None, bare)
}

/// Says more than tags and positions.
fn is_anchored(selector: &str) -> bool {
    selector.contains(['.', '#', '['])
        || selector.contains("main >")
        || selector.contains("article >")
}

/// How all of these may be called, the most telling first.
fn element_selectors(wanted: &[ElementRef<'_>]) -> Vec<String> {
    let first = wanted[0];
    let tag = first.value().name();
    let same_tag = wanted.iter().all(|it| it.value().name() == tag);
    let mut out = Vec::new();
    if wanted.len() == 1
        && let Some(id) = first.value().id().filter(|it| is_stable(it))
    {
        out.push(format!("#{id}"));
    }
    for name in ["itemtype", "itemprop", "role", "colspan", "data-testid", "data-test"] {
        let value = first
            .value()
            .attr(name)
            .filter(|it| !it.is_empty() && it.len() <= 80 && !it.contains(['"', '\\']));
        if let Some(value) =
            value.filter(|value| wanted.iter().all(|it| it.value().attr(name) == Some(value)))
        {
            out.push(format!("{}[{name}=\"{value}\"]", if same_tag { tag } else { "" }));
        }
    }
    let common = classes(first)
        .filter(|class| wanted.iter().all(|it| it.value().classes().any(|it| it == *class)));
    for class in common {
        out.push(format!("{}.{class}", if same_tag { tag } else { "" }));
    }
    if same_tag {
        out.push(tag.to_owned());
        let inside: BTreeSet<NodeId> = wanted.iter().map(|it| it.id()).collect();
        let theirs: BTreeSet<&str> = wanted.iter().flat_map(|it| it.value().classes()).collect();
        let others =
            first.parent().into_iter().flat_map(|it| it.children()).filter_map(ElementRef::wrap);
        let marks: BTreeSet<&str> = others
            .filter(|it| !inside.contains(&it.id()) && it.value().name() == tag)
            .flat_map(|it| it.value().classes())
            .filter(|it| is_stable(it) && !theirs.contains(it))
            .collect();
        let base =
            out.iter().find(|it| it.contains('.')).cloned().unwrap_or_else(|| tag.to_owned());
        out.extend(marks.into_iter().take(3).map(|it| format!("{base}:not(.{it})")));
        // What the others lack.
        let all = wanted
            .iter()
            .map(|it| child_kinds(*it))
            .reduce(|a, b| a.intersection(&b).cloned().collect());
        for child in all.into_iter().flatten().take(MAX_CHILD_KINDS) {
            out.push(format!("{tag}:has(> {child})"));
        }
    }
    out
}

/// How the children of an element may be called: by tag, and by tag and role.
fn child_kinds(element: ElementRef<'_>) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for child in element.child_elements() {
        let tag = child.value().name();
        out.insert(tag.to_owned());
        let role =
            child.value().attr("role").filter(|it| it.bytes().all(|b| b.is_ascii_lowercase()));
        if let Some(role) = role {
            out.insert(format!("{tag}[role=\"{role}\"]"));
        }
    }
    out
}

fn parents<'a>(level: &[ElementRef<'a>]) -> Option<Vec<ElementRef<'a>>> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for it in level {
        let parent = it.parent().and_then(ElementRef::wrap)?;
        if seen.insert(parent.id()) {
            out.push(parent);
        }
    }
    Some(out)
}

/// Names of elements on the way: an id of one, else kind, and position where there is one of them.
fn level_selectors(level: &[ElementRef<'_>]) -> Vec<String> {
    let first = level[0];
    let tag = first.value().name();
    if level.iter().any(|it| it.value().name() != tag) {
        return vec!["*".to_owned()];
    }
    let mut out = Vec::new();
    if level.len() == 1
        && let Some(id) = first.value().id().filter(|it| is_stable(it))
    {
        return vec![format!("#{id}")];
    }
    let common = classes(first)
        .find(|class| level.iter().all(|it| it.value().classes().any(|it| it == *class)));
    out.push(common.map_or_else(|| tag.to_owned(), |it| format!("{tag}.{it}")));
    if level.len() == 1 && !matches!(tag, "html" | "body" | "main" | "tbody") {
        let position = first
            .prev_siblings()
            .filter_map(ElementRef::wrap)
            .filter(|it| it.value().name() == tag)
            .count()
            + 1;
        out.push(format!("{tag}:nth-of-type({position})"));
    }
    out
}

/// A selector that finds a column's elements in each item, and nothing where an item has none.
fn path(items: &[Item<'_>], column: &Column<'_>, at: usize, is_run: bool) -> Option<String> {
    let attribute = column.attribute.as_ref().map(|it| format!("@{it}")).unwrap_or_default();
    let one = column.elements.iter().flatten().next()?;
    let own_item = items.iter().find(|it| it.parts.iter().any(|part| contains(*part, *one)))?;
    if !is_run && one.id() == own_item.first().id() {
        return Some(attribute);
    }
    let end = if column.is_list { "[]" } else { "" };
    let targets: Vec<ElementRef<'_>> =
        column.elements.iter().flatten().copied().take(TRIED).collect();
    let mut tried: Vec<String> = Vec::new();
    let tag = one.value().name();
    if let Some(it) = one.value().attr("itemprop").filter(|it| is_stable(it))
        && targets.iter().all(|target| target.value().attr("itemprop") == Some(it))
    {
        tried.push(format!("[itemprop=\"{it}\"]"));
    }
    let shared: Vec<&str> = classes(*one)
        .filter(|class| targets.iter().all(|it| it.value().classes().any(|it| it == *class)))
        .collect();
    tried.extend(shared.iter().map(|it| format!("{tag}.{it}")));
    if let Some(attribute) = &column.attribute {
        tried.push(format!("{tag}[{attribute}]"));
    }
    tried.push(tag.to_owned());
    // Up to the item.
    let mut own = shared.first().map_or_else(|| tag.to_owned(), |it| format!("{tag}.{it}"));
    let mut level = *one;
    let top: BTreeSet<NodeId> = own_item.parts.iter().map(|it| it.id()).collect();
    for _ in 0..MAX_STEPS {
        if top.contains(&level.id()) {
            break;
        }
        let Some(parent) = level.parent().and_then(ElementRef::wrap) else { break };
        if top.contains(&parent.id()) && !is_run {
            tried.push(format!(":scope > {own}"));
            break;
        }
        let name = classes(parent).next().map_or_else(
            || parent.value().name().to_owned(),
            |it| format!("{}.{it}", parent.value().name()),
        );
        own = format!("{name} > {own}");
        tried.push(own.clone());
        level = parent;
    }
    if !is_run {
        tried.push(position_selector(*one, own_item.first()));
    }
    for css in &tried {
        let positions = (2..=MAX_POSITION.max(at + 1)).map(|it| format!(":nth-match({it})"));
        for nth in std::iter::once(String::new()).chain(positions) {
            if column.is_list && !nth.is_empty() {
                break;
            }
            let text = format!("{css}{nth}{end}{attribute}");
            if selects_column(items, column, &text, is_run) {
                return Some(text);
            }
        }
    }
    None
}

fn contains(element: ElementRef<'_>, other: ElementRef<'_>) -> bool {
    element.id() == other.id() || other.ancestors().any(|it| it.id() == element.id())
}

/// `:scope > div:nth-child(2) > span:nth-child(1)`.
fn position_selector(element: ElementRef<'_>, item: ElementRef<'_>) -> String {
    let mut steps = Vec::new();
    let mut at = element;
    while at.id() != item.id() {
        let position = at.prev_siblings().filter_map(ElementRef::wrap).count() + 1;
        steps.push(format!("{}:nth-child({position})", at.value().name()));
        match at.parent().and_then(ElementRef::wrap) {
            Some(it) => at = it,
            None => break,
        }
    }
    steps.push(":scope".to_owned());
    steps.reverse();
    steps.join(" > ")
}

fn selects_column(items: &[Item<'_>], column: &Column<'_>, text: &str, is_run: bool) -> bool {
    let Ok(field) = crate::selector::compile_field(text) else { return false };
    let check = |i: usize| {
        let found = super::read::elements(&items[i].parts, is_run, &field);
        let wanted = &column.elements[i];
        let same = |found: &[ElementRef<'_>]| {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| a.id() == b.id())
        };
        // An element without the attribute, or empty, says as little as none.
        let silent = |it: &ElementRef<'_>| match &column.attribute {
            Some(name) => it.attr(name).is_none_or(|it| it.trim().is_empty()),
            None => super::element_text::chars(*it) == 0,
        };
        same(&found)
            || found
                .iter()
                .filter(|it| !silent(it))
                .copied()
                .collect::<Vec<_>>()
                .as_slice()
                .iter()
                .map(|it| it.id())
                .eq(wanted.iter().map(|it| it.id()))
    };
    (0..items.len().min(TRIED)).all(check)
}
