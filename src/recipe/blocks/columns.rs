//! The columns of a group of items.

use std::collections::{BTreeMap, BTreeSet};

use ego_tree::NodeId;
use scraper::ElementRef;

use super::{
    GROUP, Group,
    column::{Column, ColumnSource, MAX_COLUMNS, SAID},
    element_text::chars,
    fields::{column, columns_by_path, descendants, find_picture_by, is_link},
    numbers::{has_varying_number, without_numbers},
    records,
    stable_names::{classes, field_name},
};

/// Fewer terms are no record of each item.
const MIN_TERMS: usize = 2;

/// The columns of a group, those that say most first among equals; names are distinct.
pub fn columns<'a>(group: &Group<'a>) -> Vec<Column<'a>> {
    let mut out = if group.is_record && group.tables.is_empty() {
        records::columns(group.items[0].first())
    } else if group.tables.is_empty() {
        name_terms(group, columns_by_path(&group.items, group.is_run))
    } else {
        columns_by_cell(group)
    };
    if !group.headings.is_empty() {
        let elements: Vec<Vec<ElementRef<'_>>> =
            group.headings.iter().map(|it| it.iter().copied().collect()).collect();
        out.push(column(GROUP.to_owned(), ColumnSource::Heading, None, elements, false));
    }
    out.truncate(MAX_COLUMNS);
    make_names_distinct(&mut out);
    out
}

/// Items with a list of terms each: columns by term, in place of those by the position of a value. A term that some items lack
/// moves no other.
fn name_terms<'a>(group: &Group<'a>, columns: Vec<Column<'a>>) -> Vec<Column<'a>> {
    let pairs: Vec<Vec<(ElementRef<'a>, ElementRef<'a>)>> = group
        .items
        .iter()
        .map(|it| it.parts.iter().flat_map(|part| records::term_pairs(*part)).collect())
        .collect();
    let mut terms: Vec<String> = Vec::new();
    let mut with = BTreeMap::<String, usize>::new();
    for of_item in &pairs {
        let own: Vec<String> = of_item.iter().map(|it| records::label(it.0)).collect();
        let distinct: BTreeSet<&String> = own.iter().collect();
        if distinct.len() < own.len() {
            return columns;
        }
        for it in own.into_iter().filter(|it| !it.is_empty()) {
            let count = with.entry(it.clone()).or_default();
            if *count == 0 {
                terms.push(it);
            }
            *count += 1;
        }
    }
    let is_usual = |it: &&String| with[*it] * 3 >= group.items.len() * 2;
    if group.items.len() < 2 || terms.iter().filter(is_usual).count() < MIN_TERMS {
        return columns;
    }
    let known: BTreeSet<NodeId> =
        pairs.iter().flatten().flat_map(|it| [it.0.id(), it.1.id()]).collect();
    let is_known = |it: ElementRef<'_>| {
        known.contains(&it.id()) || it.ancestors().any(|it| known.contains(&it.id()))
    };
    let mut out: Vec<Column<'a>> = columns
        .into_iter()
        .filter(|it| {
            it.attribute.is_some() || !it.elements.iter().flatten().any(|it| is_known(*it))
        })
        .collect();
    for term in terms {
        let values = pairs.iter().map(|of_item| {
            let found = of_item.iter().find(|it| records::label(it.0) == term);
            found.map(|it| it.1).into_iter().collect()
        });
        let values = values.collect();
        out.push(column(field_name(&term), ColumnSource::Label(term), None, values, false));
    }
    out
}

fn columns_by_cell<'a>(group: &Group<'a>) -> Vec<Column<'a>> {
    let Some(first) = group.tables.first() else { return Vec::new() };
    let titles = first.titles();
    let cell = |row: ElementRef<'a>, at: usize| {
        group.tables.iter().find(|it| it.contains_row(row)).and_then(|it| it.cell(row, at))
    };
    let mut out = Vec::new();
    let mut has_link = false;
    for (at, title) in titles.iter().enumerate() {
        let cells: Vec<Vec<ElementRef<'a>>> =
            group.items.iter().map(|it| cell(it.first(), at).into_iter().collect()).collect();
        let all = || cells.iter().flatten().copied();
        // One class that all of them have says what they are.
        let class = all().next().and_then(|it| {
            classes(it).find(|class| all().all(|it| it.value().classes().any(|it| it == *class)))
        });
        // A count in a title is none of its name, unless it tells columns apart.
        let own = if has_varying_number(title, &titles) {
            field_name(&without_numbers(title))
        } else {
            field_name(title)
        };
        let name = match (own, class) {
            (it, _) if !it.is_empty() => it,
            (_, Some(class)) => field_name(class),
            _ => format!("column_{}", at + 1),
        };
        // A link in most cells; the first of them leads to the item.
        let links: Vec<Vec<ElementRef<'a>>> = cells
            .iter()
            .map(|it| it.iter().flat_map(|it| descendants(*it)).filter(is_link).take(1).collect())
            .collect();
        if all().any(|it| chars(it) > 0) {
            out.push(column(name.clone(), ColumnSource::Cell(at), None, cells, false));
        } else if let Some(it) = column_by_sign(&name, title, at, &cells) {
            out.push(it);
        }
        if links.iter().filter(|it| !it.is_empty()).count() * 2 >= group.items.len() {
            let name = if has_link { format!("{name}_url") } else { "url".to_owned() };
            has_link = true;
            out.push(column(name, ColumnSource::Cell(at), Some("href".to_owned()), links, false));
        }
    }
    out
}

/// A column of cells without a text, by what the pictures in them say: a tick, a flag, a coloured dot. Of a column without a title,
/// and the same in all rows, it is no more than a button.
fn column_by_sign<'a>(
    name: &str,
    title: &str,
    at: usize,
    cells: &[Vec<ElementRef<'a>>],
) -> Option<Column<'a>> {
    SAID.iter().find_map(|attribute| {
        let signs: Vec<Vec<ElementRef<'a>>> = cells
            .iter()
            .map(|it| it.iter().filter_map(|it| find_picture_by(*it, attribute)).take(1).collect())
            .collect();
        let out = column(
            name.to_owned(),
            ColumnSource::Cell(at),
            Some((*attribute).to_owned()),
            signs,
            false,
        );
        let distinct: BTreeSet<&String> = out.texts.iter().flatten().collect();
        (distinct.len() > 1 || (distinct.len() == 1 && !title.is_empty())).then_some(out)
    })
}

/// Makes names of columns differ by a number at the end.
pub fn make_names_distinct(columns: &mut [Column<'_>]) {
    let mut taken = BTreeSet::new();
    for it in columns {
        if it.name.is_empty() {
            "text".clone_into(&mut it.name);
        }
        let plain = it.name.clone();
        let mut n = 2;
        while !taken.insert(it.name.clone()) {
            it.name = format!("{plain}_{n}");
            n += 1;
        }
    }
}
