//! Items alike: siblings of one structure, rows of tables, runs of siblings that belong together; and the same under several
//! parents, which is one list in groups.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use ego_tree::NodeId;
use scraper::{ElementRef, Html};

use commis_base::work::step;

use super::{
    Group, Item,
    element_text::{chars, children, has_own_text, is_heading, is_inline, is_mark, is_read, text},
    fields::columns_by_path,
    repeated_labels::repeated_label_lists,
    stable_names::{classes, is_sponsored, segment},
    table::Grid,
    weight,
};

/// Fewer are no list.
const MIN_ITEMS: usize = 2;
/// Groups that are looked at for standing in each other.
const MAX_GROUPS: usize = 64;
/// Per cent of a group's text that a list within it must hold to be what it is about.
const WRAPPED: usize = 60;
/// Levels of markup that say whether two elements are of one kind.
const DEPTH: usize = 3;
/// So many of a kind in every item are parts of it.
const MAX_CELLS: usize = 8;
/// Kinds of children that one parent has; a page with more is made to keep us busy.
const MAX_KINDS: usize = 64;
/// Levels of a path that tell one kind of parent from another.
const MAX_PATH: usize = 32;
/// Columns that a cell may span, and rows.
const MAX_WIDE: usize = 64;
const MAX_TALL: usize = 1_000;
/// Longer is no heading of a group.
const MAX_HEADING: usize = 160;

/// Per cent of the text of elements that do nothing but lay out what they hold.
const LAID_OUT: usize = 98;

type TagPaths = BTreeSet<String>;

/// Items of a list under a heading that are no parts of one thing.
const MIN_LISTED: usize = 4;
/// So few things beside each other may be parts of a page, where one of them holds so many per cent of their text.
const MAX_PANELS: usize = 3;
const PANEL: usize = 60;

/// All groups of the page outside navigation, none within an item of another.
pub fn groups(page: &Html) -> Vec<Group<'_>> {
    let mut found = Vec::new();
    let records = repeated_label_lists(page);
    let mut stack = vec![page.root_element()];
    while let Some(element) = stack.pop() {
        if !is_read(element) {
            continue;
        }
        let descend = match element.value().name() {
            // An item of a list, and no list.
            "table" | "dl" if records.contains(&element.id()) => false,
            "table" => collect_table_rows(element, &mut found),
            "dl" => {
                collect_term_list(element, &mut found);
                true
            }
            "select" | "nav" => false,
            _ => {
                collect_children(element, &mut found);
                true
            }
        };
        if descend {
            let at = stack.len();
            stack.extend(element.child_elements());
            stack[at..].reverse();
        }
    }
    let mut merged = merge(found);
    for it in &mut merged {
        without_marks(it);
    }
    for it in &mut merged {
        it.weight = weight(&it.items);
    }
    merged.retain(|it| it.weight > 0 && it.items.len() >= MIN_ITEMS);
    merged.sort_by_key(|it| std::cmp::Reverse(it.weight));
    merged.truncate(MAX_GROUPS);
    merged.retain(|it| !is_assorted(it));
    let mut out = resolve_nested(merged);
    for it in &mut out {
        it.heading = it.items.first().and_then(|it| heading_before(it.first()));
    }
    out
}

/// Two or three things of which no two have a text in the same place: parts of a page, and no list.
fn is_assorted(group: &Group<'_>) -> bool {
    group.items.len() <= MAX_PANELS
        && group.tables.is_empty()
        && columns_by_path(&group.items, group.is_run)
            .iter()
            .all(|it| it.texts.iter().flatten().count() < 2)
}

fn without_marks(group: &mut Group<'_>) {
    let is_mark = |it: &Item<'_>| it.parts.iter().all(|it| is_mark(*it));
    let marks: Vec<bool> = group.items.iter().map(is_mark).collect();
    let mut at = marks.iter();
    group.items.retain(|_| !at.next().is_some_and(|it| *it));
    if group.headings.len() == marks.len() {
        let mut at = marks.iter();
        group.headings.retain(|_| !at.next().is_some_and(|it| *it));
    }
}

fn group(items: Vec<Item<'_>>) -> Group<'_> {
    Group {
        items,
        is_run: false,
        is_record: false,
        tables: Vec::new(),
        headings: Vec::new(),
        heading: None,
        weight: 0,
    }
}

/// Rows of a table that holds data. Whether to look inside, which is where a table only lays out.
fn collect_table_rows<'a>(element: ElementRef<'a>, out: &mut Vec<Group<'a>>) -> bool {
    // Rows in pairs are found among the children of their body.
    if children(element).any(|it| find_runs(it).is_some()) {
        return true;
    }
    let Some(grid) = Grid::new(element).filter(Grid::is_data) else { return true };
    if grid.is_label_table() {
        // A record; see `records`.
        return false;
    }
    let (rows, headings): (Vec<_>, Vec<_>) = grid.data_rows().into_iter().unzip();
    let headings = if headings.iter().all(Option::is_none) { Vec::new() } else { headings };
    let items = rows.into_iter().map(Item::from_element).collect();
    out.push(Group { headings, tables: vec![grid], ..group(items) });
    false
}

fn collect_term_list<'a>(element: ElementRef<'a>, out: &mut Vec<Group<'a>>) {
    let mut items: Vec<Item<'a>> = Vec::new();
    let mut wrapped = Vec::new();
    for child in children(element) {
        match (child.value().name(), items.last_mut()) {
            ("dt", Some(last)) if !last.parts.iter().any(|it| it.value().name() == "dd") => {
                last.parts.push(child);
            }
            ("dt", _) => items.push(Item::from_element(child)),
            ("dd", Some(last)) => last.parts.push(child),
            ("div", _) => wrapped.push(Item::from_element(child)),
            _ => {}
        }
    }
    if items.len() >= MIN_ITEMS {
        out.push(Group { is_run: true, ..group(items) });
    } else if wrapped.len() >= MIN_ITEMS {
        out.push(group(wrapped));
    }
}

fn collect_children<'a>(parent: ElementRef<'a>, out: &mut Vec<Group<'a>>) {
    if let Some(items) = find_runs(parent) {
        out.push(Group { is_run: true, ..group(items) });
    }
    for items in clusters(parent) {
        out.push(group(items.into_iter().map(Item::from_element).collect()));
    }
}

/// Children of one kind, for each kind that comes at least once: other parents may have more of it.
fn clusters(parent: ElementRef<'_>) -> Vec<Vec<ElementRef<'_>>> {
    let mut buckets: Vec<(&str, BTreeSet<&str>, TagPaths, Vec<ElementRef<'_>>)> = Vec::new();
    for child in children(parent) {
        let tag = child.value().name();
        if is_heading(child)
            || is_inline(child)
            || matches!(tag, "hr" | "img" | "input" | "button" | "form" | "span" | "label")
        {
            continue;
        }
        if chars(child) == 0 || is_sponsored(child) || is_head(child) {
            continue;
        }
        let names: BTreeSet<&str> = classes(child).collect();
        let own = tag_paths(child);
        let is_own = |it: &(&str, BTreeSet<&str>, TagPaths, Vec<ElementRef<'_>>)| {
            it.0 == tag && it.1 == names && have_similar_paths(&it.2, &own)
        };
        if let Some(at) = buckets.iter().position(is_own) {
            buckets[at].3.push(child);
        } else if buckets.len() < MAX_KINDS {
            buckets.push((tag, names, own, vec![child]));
        }
    }
    // Zebra rows, a class that some have, none at all.
    let mut out: Vec<(&str, BTreeSet<&str>, TagPaths, Vec<ElementRef<'_>>)> = Vec::new();
    for it in buckets {
        let same = out.iter_mut().find(|known| {
            let shared = known.1.intersection(&it.1).next().is_some();
            let nameless = known.1.is_empty() || it.1.is_empty();
            let several = known.3.len() >= 2 && it.3.len() >= 2;
            known.0 == it.0
                && (shared || nameless || several)
                && have_similar_paths(&known.2, &it.2)
        });
        match same {
            Some(known) => known.3.extend(it.3),
            None => out.push(it),
        }
    }
    let place: BTreeMap<NodeId, usize> =
        parent.child_elements().enumerate().map(|(at, it)| (it.id(), at)).collect();
    for it in &mut out {
        it.3.sort_by_key(|it| place.get(&it.id()).copied());
    }
    out.into_iter().map(|it| it.3).collect()
}

/// A row of column heads among rows that are no table by their tags.
fn is_head(element: ElementRef<'_>) -> bool {
    let heads = element.descendants().inspect(|_| step(1)).filter_map(ElementRef::wrap);
    heads.filter(|it| it.value().attr("role") == Some("columnheader")).count() > 1
}

/// Tag paths below, without what only changes how letters look.
fn tag_paths(element: ElementRef<'_>) -> TagPaths {
    fn go(element: ElementRef<'_>, path: &str, depth: usize, out: &mut TagPaths) {
        for child in children(element).filter(|it| !is_inline(*it)) {
            let path = format!("{path}/{}", child.value().name());
            if depth > 1 {
                go(child, &path, depth - 1, out);
            }
            out.insert(path);
        }
    }
    let mut out = TagPaths::new();
    go(element, "", DEPTH, &mut out);
    out
}

/// One holds most of the other, and is not much larger: parts are left out where there is nothing to say.
fn have_similar_paths(a: &TagPaths, b: &TagPaths) -> bool {
    let (small, large) = (a.len().min(b.len()), a.len().max(b.len()));
    step(large);
    let common = a.intersection(b).count();
    common * 10 >= small * 7 && (small + 1) * 10 >= (large + 1) * 3
}

/// Half of the smaller one is in the other: enough of a kind for elements of one name.
fn share_half_of_paths(a: &TagPaths, b: &TagPaths) -> bool {
    let (small, large) = (a.len().min(b.len()), a.len().max(b.len()));
    a.intersection(b).count() * 2 >= small && (small + 1) * 10 >= (large + 1) * 3
}

/// Both have the same classes, and some.
fn have_same_classes(a: ElementRef<'_>, b: ElementRef<'_>) -> bool {
    let (a, b): (BTreeSet<&str>, BTreeSet<&str>) = (classes(a).collect(), classes(b).collect());
    !a.is_empty() && a == b
}

/// Children that belong together without an element around them: from one kind to the next of that kind.
fn find_runs(parent: ElementRef<'_>) -> Option<Vec<Item<'_>>> {
    let all: Vec<ElementRef<'_>> = children(parent)
        .filter(|it| !matches!(it.value().name(), "br" | "hr" | "script" | "style"))
        .collect();
    if all.len() < 2 * MIN_ITEMS
        || matches!(parent.value().name(), "ul" | "ol" | "tr" | "dl" | "head" | "html" | "p")
    {
        return None;
    }
    let keys = keys(parent, &all);
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for it in &keys {
        *count.entry(it).or_default() += 1;
    }
    let start = keys.iter().position(|it| count[it.as_str()] >= MIN_ITEMS)?;
    let first = &keys[start];
    let starts: Vec<usize> = (start..keys.len()).filter(|at| keys[*at] == *first).collect();
    let is_row = all[start].value().name() == "tr";
    // The last one has no end of its own: it ends like those before it.
    let ends = starts.iter().skip(1).copied().chain([keys.len()]);
    let mut items: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
    let longest = items[..items.len() - 1].iter().map(|it| it.1 - it.0).max()?;
    let last = items.last_mut()?;
    last.1 = last.1.min(last.0 + longest);
    let follower = keys.get(start + 1)?;
    let like_first =
        items.iter().filter(|it| keys.get(it.0 + 1) == Some(follower) && it.1 > it.0 + 1).count();
    if follower == first || like_first * 10 < items.len() * 8 {
        return None;
    }
    let repeats = |it: &(usize, usize)| {
        let kinds: BTreeSet<&String> = keys[it.0..it.1].iter().collect();
        kinds.len() < it.1 - it.0
    };
    let is_term = is_heading(all[start]) || matches!(all[start].value().name(), "dt");
    // One row above several of a kind is the heading of a group.
    if items.iter().any(repeats) && (is_row || !is_term) {
        return None;
    }
    // Sections with lists in them are found by their lists.
    let text =
        |range: std::ops::Range<usize>| -> usize { all[range].iter().map(|it| chars(*it)).sum() };
    let heads: usize = items.iter().map(|it| text(it.0..it.0 + 1)).sum();
    let whole: usize = items.iter().map(|it| text(it.0..it.1)).sum();
    if heads == 0 || whole <= heads {
        return None;
    }
    if !is_row && !is_term && all[start].value().name() == "div" && has_parts(all[start]) {
        return None;
    }
    Some(items.into_iter().map(|(from, to)| Item { parts: all[from..to].to_vec() }).collect())
}

/// Holds several texts by itself: an item, not the beginning of one.
fn has_parts(element: ElementRef<'_>) -> bool {
    children(element).filter(|it| chars(*it) > 0 && !is_inline(*it)).count() >= 2
}

/// How siblings are called in a sequence; rows also by how many cells they have, and where columns have titles by those that reach
/// into them from rows above: each of those rows has one for each title.
fn keys(parent: ElementRef<'_>, all: &[ElementRef<'_>]) -> Vec<String> {
    let is_titled = all.iter().any(|it| it.value().name() == "tr") && has_titles(parent);
    // Columns that a cell above spans, and rows that it still reaches into.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut out = Vec::with_capacity(all.len());
    for it in all {
        let name = segment(*it);
        if it.value().name() != "tr" {
            out.push(name);
            continue;
        }
        step(open.len());
        let (mut count, mut wide) = (open.len(), open.iter().map(|it| it.0).sum::<usize>());
        open.retain_mut(|it| {
            it.1 -= 1;
            it.1 > 0
        });
        for cell in it.child_elements() {
            let span = |name: &str, most: usize| {
                let it = cell.value().attr(name).and_then(|it| it.trim().parse::<usize>().ok());
                it.unwrap_or(1).min(most)
            };
            let own = span("colspan", MAX_WIDE);
            count += 1;
            wide += own;
            let tall = span("rowspan", MAX_TALL);
            if is_titled && tall > 1 && open.len() < MAX_WIDE {
                open.push((own, tall - 1));
            }
        }
        out.push(format!("{name}/{count}/{wide}"));
    }
    out
}

/// Whether a row of titles stands above the rows of a table, or of a part of it.
fn has_titles(rows: ElementRef<'_>) -> bool {
    let table = match rows.value().name() {
        "table" => rows,
        "tbody" => match rows.parent().and_then(ElementRef::wrap) {
            Some(it) => it,
            None => return false,
        },
        _ => return false,
    };
    let head = children(table).find(|it| matches!(it.value().name(), "thead" | "tbody" | "tr"));
    let row =
        head.and_then(|it| if it.value().name() == "tr" { Some(it) } else { children(it).next() });
    row.is_some_and(|row| {
        children(row).count() > 1 && children(row).all(|it| it.value().name() == "th")
    })
}

/// Path from the root, by kind and not by position.
fn signature(element: ElementRef<'_>) -> String {
    let mut out = segment(element);
    for it in element.ancestors().filter_map(ElementRef::wrap).take(MAX_PATH) {
        out.push('<');
        out.push_str(&segment(it));
    }
    out
}

/// Groups of one kind under several parents are one.
fn merge(found: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut out: Vec<Group<'_>> = Vec::new();
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for it in found {
        let Some(parent) = it.items[0].first().parent().and_then(ElementRef::wrap) else {
            continue;
        };
        let heads = it.tables.first().map(Grid::titles).unwrap_or_default();
        let id = parent.value().id();
        let place = format!(
            "{} {} {} {heads:?}",
            signature(parent),
            it.items[0].first().value().name(),
            it.is_run
        );
        let own = tag_paths(it.items[0].first());
        let known = places.entry(place).or_default();
        let same = known.iter().copied().find(|at| {
            let first = out[*at].items[0].first();
            let other = first.parent().and_then(ElementRef::wrap);
            // Two that have names of their own are groups of one list only under headings.
            let named = other.is_some_and(|it| it.value().id() != id);
            let headed = || has_heading(parent) && other.is_some_and(has_heading);
            let same = || have_same_classes(first, it.items[0].first());
            let shape = tag_paths(first);
            (have_similar_paths(&shape, &own) || (same() && share_half_of_paths(&shape, &own)))
                && (!named || headed())
        });
        if let Some(at) = same {
            let (had, new) = (out[at].items.len(), it.items.len());
            let held = &mut out[at];
            if !held.headings.is_empty() || !it.headings.is_empty() {
                held.headings.resize(had, None);
                let mut more = it.headings;
                more.resize(new, None);
                held.headings.extend(more);
            }
            held.items.extend(it.items);
            held.tables.extend(it.tables);
        } else {
            known.push(out.len());
            out.push(it);
        }
    }
    for it in &mut out {
        if it.headings.is_empty() {
            sort_by_position(&mut it.items);
            it.headings = headings(&it.items);
        }
    }
    out
}

/// Items of one parent in the order in which they stand there: two kinds of them were found one after the other.
fn sort_by_position(items: &mut [Item<'_>]) {
    let mut places: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut parents: BTreeMap<NodeId, usize> = BTreeMap::new();
    for it in items.iter() {
        let Some(parent) = it.first().parent() else { return };
        let known = parents.len();
        if let Entry::Vacant(new) = parents.entry(parent.id()) {
            new.insert(known);
            places.extend(parent.children().enumerate().map(|(at, it)| (it.id(), at)));
        }
    }
    let parent = |it: &Item<'_>| Some(parents[&it.first().parent()?.id()]);
    items.sort_by_key(|it| (parent(it), places[&it.first().id()]));
}

/// What stands above each item's list, where there are several lists and each has something above it.
fn headings<'a>(items: &[Item<'a>]) -> Vec<Option<ElementRef<'a>>> {
    let mut lists: BTreeMap<NodeId, Option<ElementRef<'a>>> = BTreeMap::new();
    let mut all = Vec::with_capacity(items.len());
    for it in items {
        let Some(parent) = it.first().parent().and_then(ElementRef::wrap) else {
            return Vec::new();
        };
        let heading = lists.entry(parent.id()).or_insert_with(|| title(parent));
        all.push(*heading);
    }
    // What stands before a list is none of its heading where it is one of the lists, or holds one.
    let is_list = |it: ElementRef<'a>| it.descendants().any(|it| lists.contains_key(&it.id()));
    if lists.len() < 2 || lists.values().any(|it| it.is_none_or(is_list)) {
        return Vec::new();
    }
    // One heading for all of them is the heading of the page.
    let distinct: BTreeSet<_> = lists.values().flatten().map(|it| it.id()).collect();
    if distinct.len() < lists.len() { Vec::new() } else { all }
}

fn has_heading(list: ElementRef<'_>) -> bool {
    let mut before = list.prev_siblings().filter_map(ElementRef::wrap).filter(|it| is_read(*it));
    before.next().is_some_and(is_heading)
}

/// The heading of a list: before it, or before what it alone stands in.
fn title(list: ElementRef<'_>) -> Option<ElementRef<'_>> {
    let mut at = list;
    for _ in 0..3 {
        let mut before = at
            .prev_siblings()
            .filter_map(ElementRef::wrap)
            .filter(|it| is_read(*it) && chars(*it) > 0);
        if let Some(it) = before.next() {
            if is_heading(it) {
                return Some(it);
            }
            let inner =
                it.descendants().filter_map(ElementRef::wrap).filter(|it| is_heading(*it)).last();
            if let Some(inner) = inner {
                return Some(inner);
            }
            if it.value().name() == "table" {
                return caption(it).filter(|it| chars(*it) <= MAX_HEADING);
            }
            let is_short =
                chars(it) <= MAX_HEADING && !matches!(it.value().name(), "ul" | "ol" | "form");
            return is_short.then_some(it);
        }
        if has_own_text(at.parent().and_then(ElementRef::wrap)?) {
            return None;
        }
        at = at.parent().and_then(ElementRef::wrap)?;
        if at.value().name() == "body" {
            return None;
        }
    }
    None
}

/// The head cell of a table that says nothing else: it stands above the next table.
fn caption(table: ElementRef<'_>) -> Option<ElementRef<'_>> {
    let all = chars(table);
    let cells = table.descendants().filter_map(ElementRef::wrap);
    cells.into_iter().find(|it| it.value().name() == "th" && chars(*it) == all)
}

/// The nearest heading before an element.
pub fn heading_before(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    let mut at = element;
    for _ in 0..8 {
        for it in at.prev_siblings().filter_map(ElementRef::wrap).filter(|it| is_read(*it)) {
            if is_heading(it) {
                return Some(it);
            }
            if let Some(inner) =
                it.descendants().filter_map(ElementRef::wrap).filter(|it| is_heading(*it)).last()
            {
                return Some(inner);
            }
        }
        at = at.parent().and_then(ElementRef::wrap)?;
        if at.value().name() == "table"
            && let Some(caption) = children(at).find(|it| it.value().name() == "caption")
        {
            return Some(caption);
        }
    }
    None
}

/// Of groups that stand in each other, one: the inner where the outer is hardly more than headings around it, else the outer.
fn resolve_nested(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let owners: Vec<BTreeMap<NodeId, usize>> = groups
        .iter()
        .map(|it| {
            let parts = it.items.iter().enumerate();
            parts.flat_map(|(i, it)| it.parts.iter().map(move |part| (part.id(), i))).collect()
        })
        .collect();
    let mut dropped = vec![false; groups.len()];
    // Inner groups first decide with those right around them; weight is no order of nesting, so all pairs are looked at.
    for inner in 0..groups.len() {
        for outer in 0..groups.len() {
            if inner == outer || dropped[inner] || dropped[outer] {
                continue;
            }
            let Some(held) = count_within(&groups[inner], &owners[outer]) else { continue };
            // Of the same elements, those that belong together.
            let same =
                groups[inner].items.iter().all(|it| owners[outer].contains_key(&it.first().id()));
            if same && groups[inner].is_run != groups[outer].is_run {
                dropped[if groups[inner].is_run { outer } else { inner }] = true;
                continue;
            }
            if inner_wins(&groups[inner], &groups[outer], &held) {
                dropped[outer] = true;
            } else {
                dropped[inner] = true;
            }
        }
    }
    groups.into_iter().zip(dropped).filter(|it| !it.1).map(|it| it.0).collect()
}

/// For each outer item how many of the inner ones it holds; `None` when most stand elsewhere.
fn count_within(
    inner: &Group<'_>,
    outer: &BTreeMap<NodeId, usize>,
) -> Option<BTreeMap<usize, usize>> {
    let mut held = BTreeMap::new();
    let mut outside = 0;
    for it in &inner.items {
        let first = it.first();
        let above = std::iter::once(first).chain(first.ancestors().filter_map(ElementRef::wrap));
        let mut above = above.into_iter().inspect(|_| step(1));
        match above.find_map(|it| outer.get(&it.id())) {
            Some(at) => *held.entry(*at).or_insert(0) += 1,
            None => outside += 1,
        }
    }
    (outside * 5 <= inner.items.len()).then_some(held)
}

/// A few lists, each under its own heading and longer than their number. Where their items begin with the same words, one
/// list as the other, those are labels of things.
fn is_headed(inner: &Group<'_>, held: &BTreeMap<usize, usize>) -> bool {
    let least = held.values().min().copied().unwrap_or(0);
    if inner.headings.is_empty() || least < MIN_LISTED || least <= held.len() {
        return false;
    }
    let mut lists: BTreeMap<Option<NodeId>, Vec<String>> = BTreeMap::new();
    for (it, heading) in inner.items.iter().zip(&inner.headings) {
        let text = text(it.first());
        let first = text.split_whitespace().next().unwrap_or_default().to_owned();
        lists.entry(heading.map(|it| it.id())).or_default().push(first);
    }
    let mut lists = lists.values();
    let Some(first) = lists.next() else { return false };
    let labels = first
        .iter()
        .enumerate()
        .filter(|(i, it)| lists.clone().all(|list| list.get(*i) == Some(*it)))
        .count();
    lists.len() > 0 && labels * 2 < first.len()
}

/// Columns and the like that hold differing numbers of one kind of element, and nothing else: they lay out the items.
fn is_layout(inner: &Group<'_>, outer: &Group<'_>, held: &BTreeMap<usize, usize>) -> bool {
    let counts: BTreeSet<usize> = held.values().copied().collect();
    let first = inner.items[0].first();
    let is_kind = |class: &str| {
        inner.items.iter().all(|it| it.first().value().classes().any(|own| own == class))
    };
    let whole = inner.items.iter().filter(|it| inner.is_run || has_parts(it.first())).count();
    let chars = |it: &Group<'_>| it.items.iter().map(Item::chars).sum::<usize>();
    counts.len() > 1
        && classes(first).any(is_kind)
        && whole * 2 >= inner.items.len()
        && chars(inner) * 100 >= chars(outer) * LAID_OUT
}

fn inner_wins(inner: &Group<'_>, outer: &Group<'_>, held: &BTreeMap<usize, usize>) -> bool {
    let sum = |it: &Group<'_>| it.items.iter().map(Item::chars).sum::<usize>();
    // A panel and what stands below it are no list; what one of them lists is.
    if let [(at, _)] = held.iter().collect::<Vec<_>>()[..]
        && outer.items.len() <= MAX_PANELS
        && inner.items.len() + usize::from(!inner.tables.is_empty()) > outer.items.len()
        && outer.items[*at].chars() * 100 >= sum(outer) * PANEL
    {
        return true;
    }
    // What stands above the rows of tables is none of what they hold.
    let heads: usize = inner.tables.iter().map(Grid::head_chars).sum();
    if sum(inner) * 100 < sum(outer).saturating_sub(heads) * WRAPPED
        || inner.items.len() <= outer.items.len()
    {
        return false;
    }
    if is_headed(inner, held) {
        return true;
    }
    if is_layout(inner, outer, held) {
        return true;
    }
    let tag = inner.items[0].first().value().name();
    if matches!(tag, "li" | "tr" | "article")
        && !matches!(outer.items[0].first().value().name(), "tr")
    {
        return true;
    }
    // So many of a kind in one item are no parts of it.
    if held.values().any(|it| *it > MAX_CELLS) {
        return true;
    }
    // Right below the item they are its parts, unless they are many and each holds several texts.
    let direct = inner.items.iter().all(|it| {
        let parent = it.first().parent().map(|it| it.id());
        outer.items.iter().any(|outer| outer.parts.iter().any(|part| Some(part.id()) == parent))
    });
    let whole = inner.items.iter().filter(|it| inner.is_run || has_parts(it.first())).count();
    if direct && (inner.items.len() < outer.items.len() * 3 || whole * 10 < inner.items.len() * 8) {
        return false;
    }
    let counts: BTreeSet<usize> = held.values().copied().collect();
    let even = counts.len() == 1 && held.len() * 10 >= outer.items.len() * 9;
    let plain = inner.items.len() - whole;
    // The same number in each, and not all of them of several texts: its cells.
    !(even
        && counts.first().is_some_and(|it| *it <= MAX_CELLS)
        && plain * 10 > inner.items.len() * 2)
        && inner.items.len() >= outer.items.len() * 3 / 2
        && plain * 10 < inner.items.len() * 8
}
