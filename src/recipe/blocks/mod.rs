//! What repeats in a page, and what stands beside a label: lists, tables, records, by structure rather than by name.
//!
//! One reading for two purposes. Of the page that a browser drew, the texts are the witness that answers are held to; of the
//! page that a server sent, [`find`] also says by which selectors a recipe takes the same items from the next one, and
//! [`read`](read::Reader) takes them. Nothing here looks at how large a page is beyond what `nesting` allows.

mod column;
mod columns;
mod element_text;
mod fallbacks;
mod fields;
mod groups;
pub mod heads;
pub mod no_results;
pub mod numbers;
pub mod read;
mod records;
mod repeated_labels;
mod select;
mod stable_names;
mod table;
mod totals;

pub use element_text::UNDRAWN;
pub use no_results::{lines_before_items, lines_without_items};

use ego_tree::NodeId;
use scraper::{ElementRef, Html};

use super::{
    html_parser::parse_document,
    model::HtmlSpec,
    shape::{fragment, keys, nesting},
};
use commis_base::work;

/// Name of the column with the heading of each item's group.
pub const GROUP: &str = "group";
/// Blocks of one page that are kept, the weightiest.
const MAX_BLOCKS: usize = 12;
/// A larger page is not looked through: its parts are compared with each other.
const MAX_NODES: usize = 300_000;
/// What looking through a page may take: so many steps, and for each node so many more: ten times what recorded pages take
/// (194 for a node at most, of 78).
const STEPS: u64 = 4_000_000;
const STEPS_EACH: u64 = 2_000;
/// Characters of one item that count for its block's weight: one long item is no list.
const MAX_WEIGHT: usize = 400;

/// Something of the page that holds data: items alike, or one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Names of the columns of `rows`; a record's labels.
    pub fields: Vec<String>,
    /// An item's texts by column, `None` where it has none. A record is one row.
    pub rows: Vec<Vec<Option<String>>>,
    /// One thing with its properties, not a list.
    pub is_record: bool,
    /// Text of the heading that stands before it.
    pub heading: Option<String>,
    /// What the markup calls it: words of classes and ids, and of the paths that most of its links share.
    pub about: Vec<String>,
    /// Characters of its items, each counted up to 400; less where it stands in what surrounds the content.
    pub weight: usize,
    /// Share of the page's text that it holds, in basis points.
    pub share_bp: u32,
    /// How the same is read from such a page: asked for where the page is an answer.
    pub spec: Option<HtmlSpec>,
    /// Other selectors that mean the same items of this page.
    pub ways: Vec<String>,
    /// Titles of the columns of the table that its items are rows of, in their order; empty where one has none, or none that may
    /// be written down.
    pub heads: Vec<String>,
}

/// A page as a tree, unless it would keep the parser busy.
pub fn parse_bounded(text: &str) -> Option<Html> {
    nesting::check(text).is_ok().then(|| parse(text))
}

/// Parses a page that `nesting` has passed. A shadow root that the server wrote down stands in its template, as a browser shows
/// it; other templates hold what nobody reads. What a script writes in its place is read from the `noscript` after it. Rows without
/// their table stand in one.
pub fn parse(text: &str) -> Html {
    let mut page = parse_document(&fragment::with_table_context(&fallbacks::replace_scripts(text)));
    if !text.contains("shadowrootmode") {
        return page;
    }
    let roots: Vec<NodeId> = page
        .tree
        .nodes()
        .filter(|it| {
            let parent = it.parent().and_then(|it| it.value().as_element().cloned());
            it.value().is_fragment() && parent.is_some_and(|it| it.attr("shadowrootmode").is_some())
        })
        .map(|it| it.id())
        .collect();
    for root in roots {
        let Some(mut fragment) = page.tree.get_mut(root) else { continue };
        let Some(template) = fragment.parent().map(|it| it.id()) else { continue };
        fragment.detach();
        if let Some(mut template) = page.tree.get_mut(template) {
            template.reparent_from_id_append(root);
        }
    }
    page
}

/// How many things a task asks for, as far as its words tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskCardinality {
    /// "Show ticket 12".
    One,
    /// "List tickets", "search for tickets".
    Many,
    /// "Show the papers of the ship": of one thing, or a list of them.
    Either,
}

pub fn task_cardinality(task: &str) -> TaskCardinality {
    const ONE: &[&str] = &["show", "open", "read", "get", "view", "display", "see", "what", "look"];
    const MANY: &[&str] =
        &["list", "history", "all", "results", "search", "find", "commits", "rows", "entries"];
    /// Many in name only.
    const OF_ONE: &[&str] =
        &["details", "properties", "facts", "contents", "settings", "statistics", "specs", "news"];
    let low = task.to_lowercase();
    let mut words = low.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
    if !words.clone().next().is_some_and(|it| ONE.contains(&it))
        || words.clone().any(|it| MANY.contains(&it))
    {
        return TaskCardinality::Many;
    }
    let thing = words.find(|it| !ONE.contains(it) && !matches!(*it, "the" | "me" | "is" | "are"));
    let is_plural = thing.is_some_and(|it| {
        it.len() > 3
            && it.ends_with('s')
            && !["ss", "us", "is"].iter().any(|end| it.ends_with(end))
            && !OF_ONE.contains(&it)
    });
    if is_plural { TaskCardinality::Either } else { TaskCardinality::One }
}

/// The task asks to see one thing and not to list or search.
pub fn asks_for_one(task: &str) -> bool {
    task_cardinality(task) == TaskCardinality::One
}

/// A question for one fact: "how often", "when".
pub fn asks_for_fact(task: &str) -> bool {
    const FACTS: &[&str] =
        &["how", "when", "where", "who", "whose", "is", "are", "does", "do", "can", "has"];
    let low = task.to_lowercase();
    let first = low.split(|c: char| !c.is_alphanumeric()).find(|it| !it.is_empty());
    first.is_some_and(|it| FACTS.contains(&it))
}

/// Every block of a page, weightiest first. With `selectors`, only those that selectors can name.
///
/// With `prose`, what the page is about counts as a thing where it is nothing but text: only where one thing is asked for.
///
/// Of a page that is built to take long, such as one of hundreds of levels that each hold a list, there are none.
pub fn find(page: &Html, selectors: bool, prose: bool) -> Vec<Block> {
    let nodes = page.tree.nodes().len();
    if nodes > MAX_NODES {
        return Vec::new();
    }
    let budget = work::STAGE.with_steps(STEPS + STEPS_EACH * nodes as u64);
    work::run_bounded(budget, || collect_blocks(page, selectors, prose)).unwrap_or_default()
}

fn collect_blocks(page: &Html, selectors: bool, prose: bool) -> Vec<Block> {
    let mut groups = groups::groups(page);
    records::name_tables(page, &mut groups);
    records::add(page, &mut groups);
    if prose {
        records::add_prose(page, &mut groups);
    }
    records::add_rows(page, &mut groups);
    let all = element_text::chars(page.root_element()).max(1);
    groups.sort_by_key(|it| std::cmp::Reverse(it.weight));
    let mut out: Vec<Block> = Vec::new();
    for group in groups {
        if out.len() >= MAX_BLOCKS {
            break;
        }
        let columns = columns::columns(&group);
        if columns.is_empty() {
            continue;
        }
        let (spec, ways) = if selectors {
            match select::spec(page, &group, &columns) {
                Some((spec, ways)) => (Some(spec), ways),
                None => continue,
            }
        } else {
            (None, Vec::new())
        };
        let shown: Vec<&column::Column<'_>> = columns.iter().filter(|it| it.is_shown()).collect();
        let rows = (0..group.items.len())
            .map(|i| shown.iter().map(|it| it.texts[i].clone()).collect())
            .collect();
        out.push(Block {
            fields: shown.iter().map(|it| it.name.clone()).collect(),
            rows,
            is_record: group.is_record,
            heading: group.heading.map(element_text::text),
            about: stable_names::context_words(group.items.iter().map(Item::first)),
            weight: group.weight,
            share_bp: (group.items.iter().map(Item::chars).sum::<usize>() * 10_000 / all) as u32,
            spec,
            ways,
            heads: heads(&group),
        });
    }
    out
}

fn heads(group: &Group<'_>) -> Vec<String> {
    let titles = group.tables.first().map(table::Grid::titles).unwrap_or_default();
    let is_written = |it: String| if keys::is_plain_name(&it) { it } else { String::new() };
    titles.into_iter().map(is_written).collect()
}

/// Items alike, or the one container of a record.
struct Group<'a> {
    items: Vec<Item<'a>>,
    /// Items go on with the siblings that follow them.
    is_run: bool,
    is_record: bool,
    /// The tables whose rows the items are.
    tables: Vec<table::Grid<'a>>,
    /// Each item's group heading, where there are several groups.
    headings: Vec<Option<ElementRef<'a>>>,
    heading: Option<ElementRef<'a>>,
    weight: usize,
}

/// One item: an element, in a run with those after it.
#[derive(Clone)]
struct Item<'a> {
    parts: Vec<ElementRef<'a>>,
}

impl<'a> Item<'a> {
    fn from_element(element: ElementRef<'a>) -> Self {
        Self { parts: vec![element] }
    }

    fn first(&self) -> ElementRef<'a> {
        self.parts[0]
    }

    fn chars(&self) -> usize {
        self.parts.iter().map(|it| element_text::chars(*it)).sum()
    }
}

fn weight(items: &[Item<'_>]) -> usize {
    let all: usize = items.iter().map(|it| it.chars().min(MAX_WEIGHT)).sum();
    let first = items.first().map(Item::first);
    all * first.map_or(0, element_text::position_weight) / 100
}

#[cfg(test)]
mod markup_tests;
#[cfg(test)]
mod record_tests;
#[cfg(test)]
pub mod tests;
