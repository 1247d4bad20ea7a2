//! Takes the items that a recipe's selectors mean from a page.

use scraper::{ElementRef, Html};
use serde_json::{Map, Value};

use super::{
    Item,
    element_text::{children, is_heading, is_hidden, is_mark, text},
    table::Grid,
};
use crate::{
    expression::{MAX_TEXT, too_large_error},
    matching::Selector,
    model::HtmlSpec,
    selector::{self, Field, FieldSource},
};
use commis_base::{error::Result, work};

/// Elements that all fields of all items may look through. Items beside each other stay far below; 512 in each other with the
/// rest of the page in the last would be minutes of work.
const VISITS: usize = 16_000_000;
/// Levels at which an item may hold what its own selector means.
const MAX_NESTING: usize = 32;
/// What selectors may take on a page: so many steps, and for each of its nodes so many more. A step is one element looked at:
/// a hundred fields may look at every element, at its attributes and at what is above it.
const STEPS: u64 = 1_000_000;
const STEPS_EACH: u64 = 256;
/// Siblings that one item of a run may go on with.
const MAX_RUN: usize = 64;

/// The selectors of an [`HtmlSpec`], compiled.
#[derive(Clone, Debug)]
pub struct HtmlReader {
    items: Selector,
    is_run: bool,
    group: Option<Selector>,
    fields: Vec<(String, Field)>,
    /// A field looks at tables.
    in_tables: bool,
}

impl HtmlReader {
    /// Fails with `RECIPE_INVALID`.
    pub fn new(spec: &HtmlSpec) -> Result<Self> {
        let fields: Vec<(String, Field)> = spec
            .fields
            .iter()
            .map(|(name, text)| Ok((name.clone(), selector::compile_field(text)?)))
            .collect::<Result<_>>()?;
        Ok(Self {
            items: selector::compile(&spec.items)?,
            is_run: spec.run,
            group: spec.group.as_deref().map(selector::compile).transpose()?,
            in_tables: fields
                .iter()
                .any(|it| matches!(it.1.place, FieldSource::Title(_) | FieldSource::Column(_))),
            fields,
        })
    }

    /// The items in document order, those left out that have nothing to say, such as the head of a table.
    ///
    /// Fails with `RESPONSE_TOO_LARGE` when the selectors repeat parts of the page out of proportion, and with `WORK_LIMIT` when
    /// they look at its elements over and over.
    pub fn read(&self, page: &Html) -> Result<Vec<Map<String, Value>>> {
        let steps = STEPS + STEPS_EACH * page.tree.nodes().len() as u64;
        work::run_bounded(work::ANSWER.with_steps(steps), || self.read_items(page))?
    }

    fn read_items(&self, page: &Html) -> Result<Vec<Map<String, Value>>> {
        let mut left = SelectorBudget { text: MAX_TEXT, visits: VISITS };
        let mut grids: Vec<(ElementRef<'_>, Option<Grid<'_>>)> = Vec::new();
        let mut headings = self.group.as_ref().map(|it| it.select_in_page(page).peekable());
        let mut order = self.group.is_some().then(|| DocumentOrder::new(page));
        let mut group: Option<ElementRef<'_>> = None;
        let mut out = Vec::new();
        let mut last: Option<ElementRef<'_>> = None;
        for first in self.items.select_in_page(page) {
            // What stands in an item is a part of it.
            if last.is_some_and(|it| {
                first.ancestors().take(MAX_NESTING).any(|above| above.id() == it.id())
            }) {
                continue;
            }
            last = Some(first);
            // Nobody sees it: a row to copy, one of another state.
            if is_hidden(first) {
                continue;
            }
            if let (Some(all), Some(order)) = (&mut headings, &mut order) {
                let at = order.position(first);
                while let Some(it) = all.next_if(|it| order.position(*it) < at) {
                    group = Some(it);
                }
            }
            let item = if self.is_run { self.item_from(first) } else { Item::from_element(first) };
            let below: usize = item.parts.iter().map(|it| it.descendants().count()).sum();
            left.visit(below * self.fields.len())?;
            let grid = if self.in_tables { grid(first, &mut grids, &mut left)? } else { None };
            if let Some(grid) = grid.and_then(|at| grids[at].1.as_ref())
                && grid.is_non_data_row(first)
            {
                continue;
            }
            let mut fields = Map::with_capacity(self.fields.len());
            for (name, field) in &self.fields {
                left.take(name.len())?;
                let grid = grid.and_then(|at| grids[at].1.as_ref());
                fields.insert(name.clone(), left.value(&item.parts, self.is_run, field, grid)?);
            }
            if fields.values().all(|it| it.is_null() || it.as_str() == Some(""))
                || item.parts.iter().all(|it| is_mark(*it))
            {
                continue;
            }
            if self.group.is_some() {
                let value = group.map(|it| left.text(it)).transpose()?;
                fields.insert("group".to_owned(), value.map_or(Value::Null, Value::from));
            }
            out.push(fields);
        }
        Ok(out)
    }

    /// What the items are made of: the elements that the selector means, and those that they go on with.
    pub fn elements<'a>(&self, page: &'a Html) -> Vec<ElementRef<'a>> {
        let found = self.items.select_in_page(page);
        if !self.is_run {
            return found.collect();
        }
        found.flat_map(|it| self.item_from(it).parts).collect()
    }

    /// The element and those after it, up to the next that begins an item.
    fn item_from<'a>(&self, first: ElementRef<'a>) -> Item<'a> {
        let mut parts = vec![first];
        for it in first.next_siblings().filter_map(ElementRef::wrap) {
            // Nor does an item reach over a heading that is no part of any.
            let ends = self.items.matches(it) || (is_heading(it) && !is_heading(first));
            if ends || parts.len() >= MAX_RUN {
                break;
            }
            parts.push(it);
        }
        Item { parts }
    }
}

/// Where elements stand in the document.
struct DocumentOrder(std::collections::BTreeMap<ego_tree::NodeId, usize>);

impl DocumentOrder {
    fn new(page: &Html) -> Self {
        Self(page.root_element().descendants().enumerate().map(|(i, it)| (it.id(), i)).collect())
    }

    fn position(&self, element: ElementRef<'_>) -> usize {
        self.0.get(&element.id()).copied().unwrap_or(0)
    }
}

/// Which of the grids is that of the row's table; made when it is first asked for.
fn grid<'a>(
    row: ElementRef<'a>,
    known: &mut Vec<(ElementRef<'a>, Option<Grid<'a>>)>,
    left: &mut SelectorBudget,
) -> Result<Option<usize>> {
    let table =
        row.ancestors().filter_map(ElementRef::wrap).find(|it| it.value().name() == "table");
    let Some(table) = table else { return Ok(None) };
    if let Some(at) = known.iter().rposition(|it| it.0.id() == table.id()) {
        return Ok(Some(at));
    }
    left.visit(table.descendants().count())?;
    known.push((table, Grid::new(table)));
    Ok(Some(known.len() - 1))
}

/// What a field means in an item: one element, all that match, or none.
pub fn elements<'a>(parts: &[ElementRef<'a>], is_run: bool, field: &Field) -> Vec<ElementRef<'a>> {
    let Some(selector) = &field.selector else { return vec![parts[0]] };
    let own = parts.iter().flat_map(|part| {
        let itself = (is_run && selector.matches(*part)).then_some(*part);
        itself.into_iter().chain(selector.select_within(*part))
    });
    match field.nth {
        None => own.collect(),
        Some(nth) => own.skip(nth - 1).take(1).collect(),
    }
}

/// The value beside a label within an element.
pub fn find_labelled<'a>(element: ElementRef<'a>, label: &str) -> Vec<ElementRef<'a>> {
    super::records::pairs(element)
        .into_iter()
        .filter(|it| super::records::label(it.0) == label)
        .map(|it| it.1)
        .collect()
}

/// What selectors may still do on one page.
struct SelectorBudget {
    /// Bytes of names and of text.
    text: usize,
    visits: usize,
}

impl SelectorBudget {
    fn value(
        &mut self,
        parts: &[ElementRef<'_>],
        is_run: bool,
        field: &Field,
        grid: Option<&Grid<'_>>,
    ) -> Result<Value> {
        let places: Vec<ElementRef<'_>> = match &field.place {
            FieldSource::Item => Vec::new(),
            FieldSource::Label(label) => {
                self.visit(parts.iter().map(|it| it.descendants().count()).sum())?;
                parts.iter().flat_map(|it| find_labelled(*it, label)).collect()
            }
            FieldSource::Title(title) => {
                let cell = grid.and_then(|it| it.cell(parts[0], it.column(title)?));
                cell.into_iter().collect()
            }
            FieldSource::Column(at) => {
                grid.and_then(|it| it.cell(parts[0], *at)).into_iter().collect()
            }
        };
        let found = match (&field.place, &field.selector) {
            (FieldSource::Item, _) => elements(parts, is_run, field),
            (_, None) => places,
            (_, Some(_)) => places.iter().flat_map(|it| elements(&[*it], false, field)).collect(),
        };
        let mut values = Vec::new();
        for it in found {
            values.push(self.read_element(it, field.attribute.as_deref())?);
        }
        if field.nth.is_none() {
            values.retain(|it| !it.is_null() && it.as_str() != Some(""));
            return Ok(if values.is_empty() { Value::Null } else { values.into() });
        }
        // A label may stand more than once; what stands beside it the first time is meant.
        Ok(values.into_iter().next().unwrap_or(Value::Null))
    }

    fn read_element(&mut self, element: ElementRef<'_>, attribute: Option<&str>) -> Result<Value> {
        Ok(match attribute {
            Some(name) => match element.attr(name) {
                Some(it) => {
                    self.take(it.len())?;
                    it.trim().into()
                }
                None => Value::Null,
            },
            None => self.text(element)?.into(),
        })
    }

    /// As a reader sees it.
    fn text(&mut self, element: ElementRef<'_>) -> Result<String> {
        let bytes = element.text().map(str::len).sum();
        self.take(bytes)?;
        Ok(text(element))
    }

    fn take(&mut self, bytes: usize) -> Result<()> {
        self.text = self.text.checked_sub(bytes).ok_or_else(too_large_error)?;
        Ok(())
    }

    fn visit(&mut self, elements: usize) -> Result<()> {
        self.visits = self.visits.checked_sub(elements).ok_or_else(too_large_error)?;
        Ok(())
    }
}

impl Grid<'_> {
    /// A row that is none of the data: a head, or one that names those below it.
    fn is_non_data_row(&self, row: ElementRef<'_>) -> bool {
        children(row).count() > 0 && self.contains_row(row) && !self.is_row(row)
    }
}

/// What the shape of items is compared by, sorted: one `field:how many:text or none` for `items` and for each field that every
/// item has (buckets 0, 1, 2-9, 10-99, 100+).
pub fn shape<'a>(
    spec: &HtmlSpec,
    items: impl Iterator<Item = &'a Map<String, Value>> + Clone,
) -> Vec<String> {
    let mut out: Vec<String> = spec
        .fields
        .keys()
        .filter(|it| !spec.optional.contains(it))
        .map(|name| {
            let said = items.clone().filter_map(|it| it.get(name)).filter(|it| !it.is_null());
            let has_text = said.clone().any(|it| it.as_str() != Some(""));
            line(&format!(".{name}"), said.count(), has_text)
        })
        .collect();
    let count = items.count();
    out.push(line("items", count, count > 0));
    out.sort();
    out
}

fn line(name: &str, count: usize, has_text: bool) -> String {
    let bucket = match count {
        0 => "0",
        1 => "1",
        2..=9 => "2-9",
        10..=99 => "10-99",
        _ => "100+",
    };
    format!("{name}:{bucket}:{}", if has_text { "text" } else { "none" })
}
