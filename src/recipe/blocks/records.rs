//! One thing with its properties: labels and values, and the texts around them.

use std::collections::{BTreeMap, BTreeSet};

use ego_tree::NodeId;
use scraper::{ElementRef, Html};

use super::{
    Group, Item,
    column::{Column, ColumnSource},
    element_text::{
        chars, children, has_own_text, is_heading, is_inline, is_read, position_weight, text,
    },
    fields::{column, columns_by_path, find_picture_text},
    stable_names::{field_name, segment},
    table::Grid,
};

/// Longer is no label.
const MAX_LABEL: usize = 60;
/// Fewer labels are no record.
const MIN_PAIRS: usize = 2;
/// Labels that nothing but their class tells.
const MIN_CALLED: usize = 3;
/// Values of records count for what they are: few, and all of them meant.
const WEIGHT: usize = 120;
/// Columns of a record beside its labels.
const MAX_BESIDE: usize = 16;
/// Characters of a text that is what a page is about, at least, and as much as counts.
const MIN_PROSE: usize = 40;
const MAX_PROSE: usize = 1_500;
/// Per cent of a page's text that one part holds, for the page to be nothing else.
const NEARLY_ALL: usize = 90;
/// Per cent of a group's text.
const MOST: usize = 60;

/// Adds the page's records, each with the container that holds it and its heading.
pub fn add<'a>(page: &'a Html, groups: &mut Vec<Group<'a>>) {
    let mut found: BTreeMap<NodeId, (ElementRef<'a>, usize)> = BTreeMap::new();
    let mut homes = PairContainers::default();
    for (label, value) in pairs(page.root_element()) {
        // One record is what has a heading of its own.
        let Some(home) = homes.find_container(label) else { continue };
        let weight = chars(value).min(WEIGHT) + chars(label).min(MAX_LABEL);
        let it = found.entry(home.id()).or_insert((home, 0));
        it.1 += weight;
    }
    for (home, weight) in found.into_values() {
        let labels: BTreeSet<String> = pairs(home).into_iter().map(|it| label(it.0)).collect();
        // The same labels again and again are a list of records.
        let all = pairs(home).len();
        if labels.len() < MIN_PAIRS || all > labels.len() * 3 / 2 {
            continue;
        }
        groups.push(Group {
            items: vec![Item::from_element(home)],
            is_run: false,
            is_record: true,
            tables: Vec::new(),
            headings: Vec::new(),
            heading: children(home)
                .find(|it| is_heading(*it))
                .or_else(|| super::groups::heading_before(home)),
            weight: weight * position_weight(home) / 100,
        });
    }
}

/// Names tables that stand as the value of a label by that label.
pub fn name_tables<'a>(page: &'a Html, groups: &mut [Group<'a>]) {
    let labelled = find_labelled_pairs(page.root_element());
    for (label, value) in labelled.into_iter().filter(|it| holds_rows(it.1)) {
        let is_within = |it: &Group<'_>| {
            it.items.iter().all(|it| it.first().ancestors().any(|it| it.id() == value.id()))
        };
        for it in groups.iter_mut().filter(|it| is_within(it)) {
            it.heading = Some(label);
        }
    }
}

/// Adds tables of one row under titles: one thing, where the task asks for one.
pub fn add_rows<'a>(page: &'a Html, groups: &mut Vec<Group<'a>>) {
    let tables = page
        .root_element()
        .descendants()
        .filter_map(ElementRef::wrap)
        .filter(|it| it.value().name() == "table");
    for table in tables {
        let Some(grid) = Grid::new(table).filter(Grid::is_data) else { continue };
        let rows = grid.data_rows();
        let titled = grid.titles().iter().filter(|it| !it.is_empty()).count();
        if let [(row, _)] = rows[..]
            && titled >= MIN_PAIRS
        {
            let weight = (2 * chars(row) + MIN_PROSE / 2) * position_weight(row) / 100;
            groups.push(Group {
                items: vec![Item::from_element(row)],
                is_run: false,
                is_record: true,
                tables: vec![grid],
                headings: Vec::new(),
                heading: super::groups::heading_before(table),
                weight,
            });
        }
    }
}

/// Adds what the page is about where that is prose: its one article, or the element with the first heading and most of the text.
pub fn add_prose<'a>(page: &'a Html, groups: &mut Vec<Group<'a>>) {
    let body = page.root_element();
    if let Some((article, title, weight)) = find_article(body, groups) {
        groups.push(make_record(article, Some(title), weight));
        return;
    }
    let title = body
        .descendants()
        .filter_map(ElementRef::wrap)
        .filter(|it| it.value().name() == "h1" && chars(*it) > 0 && is_read(*it))
        .find(|it| position_weight(*it) == 100);
    let Some(title) = title else {
        groups.extend(preformatted_text(body).filter(|_| groups.is_empty()));
        return;
    };
    // What stands in items is theirs, but for the parts of a page of which one holds nearly all.
    let is_list = |it: &&Group<'_>| {
        let all = it.items.iter().map(Item::chars);
        !it.is_record && all.clone().max().unwrap_or(0) * 100 < all.sum::<usize>() * MOST
    };
    let items: BTreeSet<NodeId> = groups
        .iter()
        .filter(is_list)
        .flat_map(|it| it.items.iter().flat_map(|it| it.parts.iter().map(|it| it.id())))
        .collect();
    let prose = |it: ElementRef<'_>| count_prose(it, &items);
    let whole = prose(body);
    let mut at = title;
    // Up to what holds most of it.
    while prose(at) * 10 < whole * 8 {
        let Some(above) = at.parent().and_then(ElementRef::wrap) else { return };
        at = above;
    }
    if at.id() == title.id()
        || whole < MIN_PROSE
        || groups.iter().any(|it| it.is_record && it.items[0].first().id() == at.id())
    {
        return;
    }
    groups.push(make_record(at, Some(title), whole));
}

/// The one preformatted text of a page without a title (a log, a letter), where it is nearly all that the page says.
fn preformatted_text(body: ElementRef<'_>) -> Option<Group<'_>> {
    let all = body.descendants().filter_map(ElementRef::wrap);
    let mut texts = all.filter(|it| it.value().name() == "pre" && is_read(*it));
    let (one, None) = (texts.next()?, texts.next()) else { return None };
    let own = chars(one);
    let home = one.parent().and_then(ElementRef::wrap)?;
    (own >= MIN_PROSE && own * 100 >= chars(body) * NEARLY_ALL)
        .then(|| make_record(home, None, own))
}

fn make_record<'a>(home: ElementRef<'a>, title: Option<ElementRef<'a>>, chars: usize) -> Group<'a> {
    Group {
        items: vec![Item::from_element(home)],
        is_run: false,
        is_record: true,
        tables: Vec::new(),
        headings: Vec::new(),
        heading: title,
        // A list beside it is more often what was asked for.
        weight: chars.min(MAX_PROSE) * position_weight(home) / 200,
    }
}

/// The one article of a page, its title, and the characters of its text, where a paragraph has a plain list of points beside it: the
/// list alone is half of it. An article with a record or with items of several texts is found by those.
fn find_article<'a>(
    body: ElementRef<'a>,
    groups: &[Group<'a>],
) -> Option<(ElementRef<'a>, ElementRef<'a>, usize)> {
    let is_article =
        |it: &ElementRef<'_>| it.value().name() == "article" || it.attr("role") == Some("article");
    let all = || body.descendants().filter_map(ElementRef::wrap).filter(|it| is_read(*it));
    let mut articles = all().filter(is_article);
    let (one, None) = (articles.next()?, articles.next()) else { return None };
    let within = |it: ElementRef<'_>| it.ancestors().any(|it| it.id() == one.id());
    let is_record = |it: &Group<'_>| {
        it.is_record && (it.items[0].first().id() == one.id() || within(it.items[0].first()))
    };
    if position_weight(one) < 100 || groups.iter().any(is_record) {
        return None;
    }
    let inner = || one.descendants().filter_map(ElementRef::wrap).filter(|it| is_read(*it));
    let title =
        inner().find(|it| matches!(it.value().name(), "h1" | "h2" | "h3") && chars(*it) > 0)?;
    let is_point = |it: ElementRef<'_>| it.value().name() == "li" && children(it).all(is_inline);
    let is_plain =
        |it: ElementRef<'_>| matches!(it.value().name(), "ul" | "ol") && children(it).all(is_point);
    let is_text = |it: ElementRef<'_>| it.value().name() == "p" && chars(it) > 0;
    let mut lists = inner().filter(|it| is_plain(*it)).filter(|it| {
        it.prev_siblings().chain(it.next_siblings()).filter_map(ElementRef::wrap).any(is_text)
    });
    lists.next()?;
    let plain = count_prose(one, &BTreeSet::new());
    let points: usize = inner().filter(|it| is_point(*it)).map(chars).sum();
    let others = groups.iter().filter(|it| within(it.items[0].first())).any(|it| {
        it.items
            .iter()
            .any(|it| !it.parts.iter().all(|it| is_point(*it) || it.value().name() == "a"))
    });
    (!others && plain + points >= MIN_PROSE).then_some((one, title, plain + points))
}

/// Characters of paragraphs and headings outside lists, items and navigation.
fn count_prose(element: ElementRef<'_>, items: &BTreeSet<NodeId>) -> usize {
    children(element)
        .filter(|it| !items.contains(&it.id()))
        .map(|it| match it.value().name() {
            "p" | "h1" | "h2" | "h3" | "blockquote" | "pre" => chars(it),
            "nav" | "header" | "footer" | "aside" | "ul" | "ol" | "table" | "form" | "select"
            | "dl" => 0,
            _ => count_prose(it, items),
        })
        .sum()
}

/// What is known of elements around pairs: many pairs stand in one.
#[derive(Default)]
struct PairContainers {
    headed: BTreeMap<NodeId, bool>,
    titled: BTreeMap<NodeId, bool>,
}

impl PairContainers {
    /// The nearest element around a pair that has a heading, or says that it is one thing.
    fn find_container<'a>(&mut self, label: ElementRef<'a>) -> Option<ElementRef<'a>> {
        let mut at = label.parent().and_then(ElementRef::wrap)?;
        let mut list = None;
        loop {
            let name = at.value().name();
            if matches!(name, "table" | "dl") {
                list = Some(at);
            }
            let is_thing = matches!(name, "article" | "main" | "body")
                || at.value().attr("itemscope").is_some();
            let has_heading = || at.child_elements().any(|it| is_read(it) && is_heading(it));
            if is_thing
                || name != "table" && *self.headed.entry(at.id()).or_insert_with(has_heading)
            {
                // What all of the page holds is no one thing.
                return if name == "body" {
                    list.or_else(|| self.find_titled_container(label))
                } else {
                    Some(at)
                };
            }
            at = at.parent().and_then(ElementRef::wrap)?;
        }
    }

    /// The nearest element around a pair that begins with a title in an element of its own.
    fn find_titled_container<'a>(&mut self, label: ElementRef<'a>) -> Option<ElementRef<'a>> {
        let is_title = |it: ElementRef<'_>| matches!(it.value().name(), "h1" | "h2" | "h3");
        let above = label.ancestors().skip(1).filter_map(ElementRef::wrap);
        let mut above = above.take_while(|it| it.value().name() != "body");
        above.find(|it| {
            *self.titled.entry(it.id()).or_insert_with(|| {
                let first = children(*it).find(|it| chars(*it) > 0);
                first.is_some_and(|it| children(it).any(is_title) && position_weight(it) == 100)
            })
        })
    }
}

/// Labels and their values below an element, in document order, but for those above tables of data.
pub fn pairs(element: ElementRef<'_>) -> Vec<(ElementRef<'_>, ElementRef<'_>)> {
    let mut out = find_labelled_pairs(element);
    out.retain(|it| !holds_rows(it.1));
    out
}

/// Terms of `dl` elements and the text that each names.
pub fn term_pairs(element: ElementRef<'_>) -> Vec<(ElementRef<'_>, ElementRef<'_>)> {
    find_labelled_pairs(element).into_iter().filter(|it| it.0.value().name() == "dt").collect()
}

/// The same as [`pairs`], with those above tables.
fn find_labelled_pairs(element: ElementRef<'_>) -> Vec<(ElementRef<'_>, ElementRef<'_>)> {
    let mut out = Vec::new();
    let mut stack = vec![element];
    while let Some(at) = stack.pop() {
        if !is_read(at) || at.value().name() == "nav" {
            continue;
        }
        match at.value().name() {
            "table" => {
                if let Some(grid) = Grid::new(at).filter(|it| it.is_data() && it.is_label_table()) {
                    out.extend(grid.pairs());
                    continue;
                }
            }
            "dl" => {
                let mut label = None;
                for child in children(at) {
                    match (child.value().name(), label) {
                        ("dt", _) => label = Some(child),
                        ("dd", Some(it)) => {
                            out.push((it, child));
                            label = None;
                        }
                        ("div", _) => {
                            let mut parts = children(child);
                            if let (Some(a), Some(b), None) =
                                (parts.next(), parts.next(), parts.next())
                                && a.value().name() == "dt"
                            {
                                out.push((a, b));
                            }
                        }
                        _ => {}
                    }
                }
                continue;
            }
            _ => {
                if let Some(pair) = split_label_value(at) {
                    out.push(pair);
                    continue;
                }
            }
        }
        let from = stack.len();
        stack.extend(at.child_elements());
        stack[from..].reverse();
    }
    out.retain(|it| is_label(it.0) && (chars(it.1) > 0 || find_picture_text(it.1).is_some()));
    out
}

/// A table of data, which is a list of its own.
fn holds_rows(value: ElementRef<'_>) -> bool {
    let tables = value.descendants().filter_map(ElementRef::wrap);
    tables
        .filter(|it| it.value().name() == "table")
        .any(|it| Grid::new(it).is_some_and(|it| it.is_data() && !it.is_label_table()))
}

/// An element of two: a label that is called one or ends in a colon, and a value.
fn split_label_value(element: ElementRef<'_>) -> Option<(ElementRef<'_>, ElementRef<'_>)> {
    if has_own_text(element)
        || matches!(element.value().name(), "tr" | "ul" | "ol" | "body" | "html" | "form" | "main")
    {
        return None;
    }
    let mut parts =
        children(element).filter(|it| chars(*it) > 0 || find_picture_text(*it).is_some());
    let (a, b) = (parts.next()?, parts.next()?);
    if parts.next().is_some()
        || is_heading(a)
        || matches!(a.value().name(), "ul" | "ol" | "table" | "dl")
    {
        return None;
    }
    let valued = b.value().classes().any(|it| {
        let it = it.to_ascii_lowercase();
        it.split(|c: char| !c.is_ascii_alphabetic())
            .any(|it| matches!(it, "value" | "val" | "data" | "content" | "text"))
    });
    let called = a.value().classes().any(is_label_class);
    let is_said = a.value().name() == "label"
        || (a.value().name() != "p"
            && (text(a).ends_with(':')
                || (called && valued)
                || (is_small(a) && !is_small(b) && is_repeated(element))))
        || (called && is_label_class_beside(element, a));
    is_said.then_some((a, b))
}

/// A class says that it is a label.
fn is_label_class(class: &str) -> bool {
    let it = class.to_ascii_lowercase();
    it.split(|c: char| !c.is_ascii_alphabetic())
        .any(|it| matches!(it, "label" | "key" | "term" | "caption" | "name" | "title"))
        && !it.contains("value")
}

/// Elements beside it begin with labels of that class as well, each with words of its own.
fn is_label_class_beside(element: ElementRef<'_>, label: ElementRef<'_>) -> bool {
    let is_label = |it: &str| {
        let it = it.to_ascii_lowercase();
        it.split(|c: char| !c.is_ascii_alphabetic()).any(|it| it == "label")
    };
    let own: BTreeSet<&str> = label.value().classes().filter(|it| is_label(it)).collect();
    if own.is_empty() {
        return false;
    }
    let is_alike = |it: &ElementRef<'_>| {
        it.value().name() == label.value().name() && it.value().classes().any(|it| own.contains(it))
    };
    let beside = element.parent().into_iter().flat_map(|it| it.children());
    let beside = beside.filter_map(ElementRef::wrap).filter_map(|it| children(it).next());
    let labels: Vec<String> = beside.filter(is_alike).map(text).collect();
    let distinct: BTreeSet<&String> = labels.iter().collect();
    labels.len() >= MIN_CALLED && distinct.len() == labels.len()
}

fn is_small(element: ElementRef<'_>) -> bool {
    element.value().name() == "small"
}

/// Others beside it are called as it is and begin with small print as well: names of what stands below them.
fn is_repeated(element: ElementRef<'_>) -> bool {
    let mut others =
        element.prev_siblings().chain(element.next_siblings()).filter_map(ElementRef::wrap);
    others.any(|it| segment(it) == segment(element) && children(it).next().is_some_and(is_small))
}

fn is_label(element: ElementRef<'_>) -> bool {
    let it = text(element);
    !it.is_empty() && it.chars().count() <= MAX_LABEL && it.chars().any(char::is_alphabetic)
}

/// A label as it is written down.
pub fn label(element: ElementRef<'_>) -> String {
    text(element).trim_end_matches([':', ' ']).to_owned()
}

/// A head of a column, or within one: what stands below it says something of the record, if anything does.
fn is_head(element: ElementRef<'_>) -> bool {
    let own = std::iter::once(element).chain(element.ancestors().filter_map(ElementRef::wrap));
    let head = own.into_iter().find(|it| matches!(it.value().name(), "th" | "td"));
    head.filter(|it| it.value().name() == "th").is_some_and(|it| {
        let row = it.parent().and_then(ElementRef::wrap);
        let cells: Vec<_> = row.into_iter().flat_map(|it| it.child_elements()).collect();
        cells.len() > 1 && cells.iter().all(|it| it.value().name() == "th")
    })
}

/// The columns of a record: its labels, and what else its container says.
pub fn columns<'a>(home: ElementRef<'a>) -> Vec<Column<'a>> {
    let pairs = pairs(home);
    let mut known: BTreeSet<NodeId> = BTreeSet::new();
    for (label, value) in &find_labelled_pairs(home) {
        known.insert(label.id());
        known.insert(value.id());
    }
    // Rows of data are a list of their own.
    let tables: BTreeSet<NodeId> = home
        .descendants()
        .filter_map(ElementRef::wrap)
        .filter(|it| it.value().name() == "table")
        .filter(|it| Grid::new(*it).is_some_and(|it| it.is_data() && !it.is_label_table()))
        .map(|it| it.id())
        .collect();
    let mut out: Vec<Column<'a>> = columns_by_path(&[Item::from_element(home)], false)
        .into_iter()
        .filter(|it| {
            let first = it.elements.iter().flatten().next();
            // Neither a part of a pair nor what is made of one.
            let inside = |it: &&ElementRef<'a>| {
                known.contains(&it.id())
                    || it.ancestors().any(|it| tables.contains(&it.id()))
                    || it.ancestors().any(|it| known.contains(&it.id()))
                    || it.descendants().any(|it| known.contains(&it.id()))
            };
            first.is_some_and(|it| !inside(&it) && !is_head(*it) && position_weight(*it) == 100)
        })
        .collect();
    // What says most, and what it is called, before what stands around.
    out.sort_by_key(|it| {
        let chars: usize = it.texts.iter().flatten().map(String::len).sum();
        (!it.name.starts_with("title"), it.attribute.is_some(), std::cmp::Reverse(chars))
    });
    out.truncate(MAX_BESIDE);
    let mut seen = BTreeSet::new();
    for (at, value) in pairs {
        let label = label(at);
        if seen.insert(label.clone()) {
            let (value, attribute) = match find_picture_text(value) {
                Some((it, attribute)) => (it, Some(attribute.to_owned())),
                None => (value, None),
            };
            let name = field_name(&label);
            out.push(column(name, ColumnSource::Label(label), attribute, vec![vec![value]], false));
        }
    }
    out
}
