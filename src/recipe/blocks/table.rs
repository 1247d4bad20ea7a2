//! A table as rows and columns: spans resolved, header cells told from data.

use std::collections::BTreeMap;

use ego_tree::NodeId;
use scraper::ElementRef;

use super::{
    element_text::{chars, children, is_read, text},
    totals::{RowCells, find_totals},
};

/// More columns are no table that a person reads.
const MAX_COLUMNS: usize = 128;
/// Marks of how a table is sorted, or can be: no part of what a column is called.
const SORTED: &str = "▲▼△▽▴▾▵▿⏶⏷⮝⮟↑↓↕⇅⇵⬆⬇🔼🔽\u{fe0e}\u{fe0f}";
/// Rows that a cell may reach down.
const MAX_SPAN: usize = 1_000;

pub struct Grid<'a> {
    table: ElementRef<'a>,
    rows: Vec<Row<'a>>,
    at: BTreeMap<NodeId, usize>,
    titles: Vec<String>,
    /// Most rows say something in several columns.
    is_full: bool,
}

struct Row<'a> {
    element: ElementRef<'a>,
    kind: Kind,
    /// One a column; a cell that spans several stands in each.
    cells: Vec<Option<ElementRef<'a>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Head,
    Data,
    Foot,
}

/// The rows of a table in the order of the document, each with the kind of the group that it is in.
fn lines(table: ElementRef<'_>) -> Vec<(ElementRef<'_>, Kind)> {
    let mut out = Vec::new();
    for child in children(table) {
        let kind = match child.value().name() {
            "tr" => {
                out.push((child, Kind::Data));
                continue;
            }
            "thead" => Kind::Head,
            "tfoot" => Kind::Foot,
            "tbody" => Kind::Data,
            _ => continue,
        };
        out.extend(children(child).filter(|it| it.value().name() == "tr").map(|it| (it, kind)));
    }
    out
}

fn own_cells(row: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    children(row).filter(|it| matches!(it.value().name(), "td" | "th"))
}

/// The cell of each column of a row. `open` holds for each column the cell that reaches down into it, and for how many rows.
fn cells<'a>(
    row: ElementRef<'a>,
    open: &mut Vec<Option<(ElementRef<'a>, usize)>>,
) -> Vec<Option<ElementRef<'a>>> {
    let mut own = own_cells(row);
    let mut out = Vec::new();
    let mut column = 0;
    while column < MAX_COLUMNS {
        if open.len() <= column {
            open.resize(column + 1, None);
        }
        if let Some((cell, left)) = open[column] {
            out.push(Some(cell));
            open[column] = (left > 1).then_some((cell, left - 1));
            column += 1;
        } else if let Some(cell) = own.next() {
            let span = |name: &str, most: usize| {
                let it = cell.value().attr(name).and_then(|it| it.trim().parse::<usize>().ok());
                it.unwrap_or(1).clamp(1, most)
            };
            let (wide, tall) = (span("colspan", MAX_COLUMNS), span("rowspan", MAX_SPAN));
            for at in column..(column + wide).min(MAX_COLUMNS) {
                if open.len() <= at {
                    open.resize(at + 1, None);
                }
                out.push(Some(cell));
                open[at] = (tall > 1).then_some((cell, tall - 1));
            }
            column += wide;
        } else if open[column..].iter().any(Option::is_some) {
            out.push(None);
            column += 1;
        } else {
            break;
        }
    }
    out
}

/// The title of one of `columns` columns: the texts of the header cells above it.
fn title(rows: &[Row<'_>], column: usize, columns: usize) -> String {
    let mut out = String::new();
    let mut last = None;
    let heads = rows.iter().filter(|it| it.kind == Kind::Head);
    for cell in heads.filter_map(|it| *it.cells.get(column)?) {
        if last == Some(cell.id()) {
            continue;
        }
        last = Some(cell.id());
        let own = text(cell);
        let own = without_sort_marks(&own);
        // A title above all columns names the table.
        let spans = cell.value().attr("colspan").and_then(|it| it.parse::<usize>().ok());
        if own.is_empty() || (columns > 1 && spans.unwrap_or(1) >= columns) {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(own);
    }
    out
}

impl<'a> Grid<'a> {
    /// `None` when the table has no cells.
    pub fn new(table: ElementRef<'a>) -> Option<Self> {
        let lines = lines(table);
        let mut open = Vec::new();
        let mut rows: Vec<Row<'a>> = Vec::with_capacity(lines.len());
        let mut seen_data = false;
        for (element, kind) in lines {
            let cells = cells(element, &mut open);
            let own: Vec<ElementRef<'a>> = own_cells(element).collect();
            // Some write header cells as data cells, and say so.
            let all_heads = own.iter().all(|it| it.value().name() == "th")
                || own.iter().all(|it| it.value().attr("role") == Some("columnheader"));
            let kind = match kind {
                Kind::Data if !seen_data && own.len() > 1 && all_heads => Kind::Head,
                it => it,
            };
            seen_data |=
                kind == Kind::Data && cells.iter().flatten().any(|it| it.value().name() == "td");
            rows.push(Row { element, kind, cells });
        }
        let columns = rows.iter().map(|it| it.cells.len()).max().filter(|it| *it > 0)?;
        let titles = (0..columns).map(|it| title(&rows, it, columns)).collect();
        mark_totals(&mut rows, columns);
        let at = rows.iter().enumerate().map(|(i, it)| (it.element.id(), i)).collect();
        let says = |row: &Row<'a>| row.cells.iter().flatten().filter(|it| chars(**it) > 0).count();
        let data = || rows.iter().filter(|it| it.kind == Kind::Data);
        let is_full = data().filter(|it| says(it) > 1).count() * 2 > data().count();
        Some(Self { table, rows, at, titles, is_full })
    }

    /// The titles of its columns, empty where a column has none.
    pub fn titles(&self) -> Vec<String> {
        self.titles.clone()
    }

    pub fn column_count(&self) -> usize {
        self.titles.len()
    }

    pub fn contains_row(&self, row: ElementRef<'_>) -> bool {
        self.at.contains_key(&row.id())
    }

    /// The cell of that row in a column.
    pub fn cell(&self, row: ElementRef<'_>, column: usize) -> Option<ElementRef<'a>> {
        *self.rows[*self.at.get(&row.id())?].cells.get(column)?
    }

    /// The first column with this title, however the table is sorted.
    pub fn column(&self, title: &str) -> Option<usize> {
        let title = without_sort_marks(title);
        self.titles.iter().position(|it| it.eq_ignore_ascii_case(title))
    }

    /// A table that holds data and does not lay out a page: rows, and no tables in its cells.
    pub fn is_data(&self) -> bool {
        let nested = self.table.descendants().skip(1).filter_map(ElementRef::wrap).any(|it| {
            it.value().name() == "table"
                && is_read(it)
                && it
                    .descendants()
                    .filter_map(ElementRef::wrap)
                    .filter(|it| it.value().name() == "tr")
                    .count()
                    > 1
        });
        let blocks = |cell: ElementRef<'_>| {
            cell.descendants()
                .filter_map(ElementRef::wrap)
                .filter(|it| matches!(it.value().name(), "h1" | "h2" | "h3" | "form" | "article"))
                .count()
        };
        let rows = self.data_rows();
        let lays_out = rows.len() <= 3
            && self.titles.iter().all(String::is_empty)
            && rows.iter().any(|it| children(it.0).any(|it| blocks(it) > 1));
        // Small tables within the cells of one that has titles are what its cells say.
        let is_listed = nested && rows.len() > 1 && self.titles.iter().any(|it| !it.is_empty());
        (!nested || is_listed) && !lays_out && !rows.is_empty()
    }

    /// Each row is a label and its value: a record, not a list.
    pub fn is_label_table(&self) -> bool {
        let rows = self.data_rows();
        let is_pair = |row: ElementRef<'_>| {
            let cells: Vec<ElementRef<'_>> =
                children(row).filter(|it| matches!(it.value().name(), "td" | "th")).collect();
            let label =
                |it: ElementRef<'_>| it.value().name() == "th" || text(it).ends_with([':', '?']);
            cells.len().is_multiple_of(2)
                && cells.chunks(2).all(|it| label(it[0]) && it[1].value().name() == "td")
        };
        self.titles.iter().all(String::is_empty)
            && !rows.is_empty()
            && rows.iter().all(|it| is_pair(it.0))
    }

    /// Label and value cells of a table of pairs.
    pub fn pairs(&self) -> Vec<(ElementRef<'a>, ElementRef<'a>)> {
        let mut out = Vec::new();
        for row in self.rows.iter().filter(|it| it.kind != Kind::Head) {
            let cells: Vec<ElementRef<'a>> = children(row.element)
                .filter(|it| matches!(it.value().name(), "td" | "th"))
                .collect();
            out.extend(cells.chunks_exact(2).map(|it| (it[0], it[1])));
        }
        out
    }

    /// Characters of the heads of its columns.
    pub fn head_chars(&self) -> usize {
        self.rows.iter().filter(|it| it.kind == Kind::Head).map(|it| chars(it.element)).sum()
    }

    /// Every row below the head, those that name others among them.
    pub fn body_rows(&self) -> impl Iterator<Item = ElementRef<'a>> {
        self.rows.iter().filter(|it| it.kind == Kind::Data).map(|it| it.element)
    }

    /// Every row.
    pub fn rows(&self) -> impl Iterator<Item = ElementRef<'a>> {
        self.rows.iter().map(|it| it.element)
    }

    /// Whether the row is one of [`Grid::data_rows`].
    pub fn is_row(&self, row: ElementRef<'_>) -> bool {
        self.at.get(&row.id()).is_some_and(|at| self.is_data_row(&self.rows[*at]))
    }

    /// The cell of a row that names those below it: it spans all columns, or it stands alone among rows that say something in
    /// several. Of a row with empty cells it has to be written as a heading is.
    fn spanning_cell(&self, row: &Row<'a>) -> Option<ElementRef<'a>> {
        let first = (*row.cells.first()?)?;
        let mut others = row.cells.iter().flatten().filter(|it| it.id() != first.id()).peekable();
        if self.column_count() < 2 {
            return None;
        }
        if others.peek().is_none() {
            return (row.cells.len() == self.column_count() || self.is_full).then_some(first);
        }
        let is_alone = chars(first) > 0 && others.all(|it| chars(*it) == 0);
        (self.is_full && is_alone && is_emphasized(first)).then_some(first)
    }

    fn is_data_row(&self, row: &Row<'a>) -> bool {
        let mut own = row.cells.iter().flatten();
        // A head that is said again.
        let is_head = own.clone().count() > 1
            && own.all(|it| it.value().name() == "th")
            && !self.titles.iter().all(String::is_empty);
        row.kind == Kind::Data
            && !is_head
            && self.spanning_cell(row).is_none()
            && chars(row.element) > 0
    }

    /// Rows that hold data, with the row above that spans all columns and so names those below it.
    pub fn data_rows(&self) -> Vec<(ElementRef<'a>, Option<ElementRef<'a>>)> {
        let mut heading = None;
        let mut out = Vec::new();
        for row in self.rows.iter().filter(|it| it.kind == Kind::Data) {
            if let Some(cell) = self.spanning_cell(row) {
                heading = Some(cell).filter(|it| chars(*it) > 0);
            } else if self.is_data_row(row) {
                out.push((row.element, heading));
            }
        }
        out
    }
}

/// Makes rows of totals a part of the foot.
fn mark_totals(rows: &mut [Row<'_>], columns: usize) {
    // A cell over the whole row names those below it.
    let is_single = |it: &Row<'_>| children(it.element).nth(1).is_none();
    let is_data = |it: &usize| rows[*it].kind == Kind::Data && !is_single(&rows[*it]);
    let data: Vec<usize> = (0..rows.len()).filter(is_data).collect();
    let cells: Vec<RowCells<'_, '_>> =
        data.iter().map(|it| (rows[*it].element, &*rows[*it].cells)).collect();
    for it in find_totals(&cells, columns) {
        rows[data[it]].kind = Kind::Foot;
    }
}

/// A header cell, or one whose text is bold.
fn is_emphasized(cell: ElementRef<'_>) -> bool {
    let is_bold = |it: ElementRef<'_>| {
        matches!(it.value().name(), "b" | "strong" | "h2" | "h3" | "h4" | "h5" | "h6")
            && chars(it) == chars(cell)
    };
    cell.value().name() == "th" || cell.descendants().filter_map(ElementRef::wrap).any(is_bold)
}

/// A title without marks of sorting at its ends.
fn without_sort_marks(title: &str) -> &str {
    title.trim_matches(|it: char| it.is_whitespace() || SORTED.contains(it))
}
