//! How long a list is: whether an answer holds all of it, by what the answer itself says.
//!
//! Evidence comes first: a number that is never below the count of items, moves with the input, and equals the count where the list
//! is short, is a total, whatever it is called. Names that APIs have for totals and next pages decide only where answers cannot.

use std::collections::{BTreeMap, BTreeSet};

use scraper::Html;
use serde_json::Value;

use super::{
    blocks::{lines_without_items, read::HtmlReader},
    document::Document,
    expression::Query,
    model::{FirstPage, HtmlSpec, PageInfo},
    next_page::has_next_page,
    projection::FieldMask,
};
use commis_base::error::Result;

pub use super::next_page::{next_address, next_page_hint};

/// Objects within objects in which totals are looked for.
const MAX_DEPTH: usize = 5;
/// Words on each side of a total that a line is found again by.
const AROUND: usize = 3;
/// Characters of a line that states a total.
const MAX_LINE: usize = 160;
/// Numbers of such a line: "1–20 of 345 in 12 categories".
const MAX_NUMBERS: usize = 4;

/// How long the list of an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// Items that there are, where the answer says so.
    pub total: Option<u64>,
    /// Whether the answer holds all of them; `None` where nothing says so.
    pub complete: Option<bool>,
}

impl Length {
    fn from_counts(items: u64, total: Option<u64>, next: Option<bool>) -> Self {
        let by_total = total.map(|it| it <= items);
        let complete = match (by_total, next) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (None, None) => None,
            _ => Some(true),
        };
        Self { total, complete }
    }
}

/// `6 of 15 items, first page`.
pub fn describe(items: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("{items} of {total} items, first page"),
        None => format!("{items} items, and more may follow"),
    }
}

impl FirstPage {
    /// `6 of 15 items, first page`.
    pub fn describe(&self) -> String {
        describe(self.items, self.total)
    }
}

/// A [`PageInfo`] with its expressions compiled.
#[derive(Clone, Debug, Default)]
pub struct PageInfoReader {
    total: Option<Query>,
    next: Option<Query>,
    line: Option<TotalLine>,
    page_size: Option<u64>,
}

impl PageInfoReader {
    /// Fails with `RECIPE_INVALID`.
    pub fn new(info: &PageInfo) -> Result<Self> {
        Ok(Self {
            total: info.total.as_deref().map(Query::compile).transpose()?,
            next: info.next.as_deref().map(Query::compile).transpose()?,
            line: info.line.as_deref().map(TotalLine::parse),
            page_size: info.page_size,
        })
    }

    /// Whether an answer without items contradicts itself: it says that there are some.
    pub fn denies_empty(&self, document: &Document<'_>) -> bool {
        let length = self.read_json(document, 0);
        length.total.is_some_and(|it| it > 0)
    }

    /// What it looks at in a JSON document.
    pub fn reach(&self) -> FieldMask {
        let all = [&self.total, &self.next].into_iter().flatten();
        all.fold(FieldMask::default(), |out, it| out.union(it.reach().clone()))
    }

    /// The length of a JSON document's list, of which the answer gave so many items.
    pub fn read_json(&self, document: &Document<'_>, items: u64) -> Length {
        let find =
            |it: &Option<Query>| it.as_ref().map(|it| it.search(document).unwrap_or_default());
        let total = find(&self.total).as_ref().and_then(whole_number);
        let next = find(&self.next).as_ref().map(is_continuation);
        self.infer_from_size(items, Length::from_counts(items, total, next))
    }

    /// The same of a page that was found at `url`.
    pub fn read_page(&self, page: &Html, url: &str, items: u64) -> Length {
        let total = self.line.as_ref().and_then(|line| {
            let lines = lines_without_items(page, None);
            let stated = lines.iter().find_map(|it| line.total(it)).filter(|it| *it >= items);
            stated.or_else(|| lines.iter().find_map(|it| line.total_in_other_words(it, items)))
        });
        let next = has_next_page(page, url, items).then_some(true);
        self.infer_from_size(items, Length::from_counts(items, total, next))
    }

    /// Whether a page says that there is nothing, in the line in which the site states its totals. A line with one word beside
    /// the number, such as "0 items", may be that of a cart.
    pub fn states_none(&self, page: &Html, url: &str) -> bool {
        let Some(line) = self.line.as_ref().filter(|it| it.count_words() > 1) else { return false };
        let lines = lines_without_items(page, None);
        let totals: Vec<u64> = lines.iter().filter_map(|it| line.total(it)).collect();
        !totals.is_empty() && totals.iter().all(|it| *it == 0) && !has_next_page(page, url, 0)
    }

    fn infer_from_size(&self, items: u64, found: Length) -> Length {
        match (found.complete, self.page_size) {
            (None, Some(size)) if items >= size => Length { complete: Some(false), ..found },
            // A page that does not say its total as others do may be of another kind.
            (None, Some(_)) if self.line.is_none() => Length { complete: Some(true), ..found },
            _ => found,
        }
    }
}

/// What headers of an answer say of its list: a link to the next page (RFC 8288), a range of all items (RFC 9110, 14.4), and the
/// headers in which many APIs give the total.
pub fn length_from_headers(headers: &[(String, String)], items: u64) -> Length {
    const TOTALS: &[&str] = &["x-total-count", "x-total", "x-wp-total", "x-pagination-total-count"];
    let all =
        |name: &'static str| headers.iter().filter(move |it| it.0 == name).map(|it| it.1.as_str());
    let next = all("link").flat_map(split_links).any(is_next_link);
    let mut ranges = all("content-range").filter(|it| !it.starts_with("bytes"));
    let ranged = ranges.find_map(|it| it.rsplit_once('/')?.1.trim().parse().ok());
    let total = ranged.or_else(|| TOTALS.iter().find_map(|it| all(it).next()?.trim().parse().ok()));
    Length::from_counts(items, total.filter(|it| *it >= items), next.then_some(true))
}

fn whole_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(it) => it.as_u64(),
        Value::String(it) => it.parse().ok(),
        _ => None,
    }
}

/// The address of the next page that the headers of an answer give.
pub fn next_url_in_headers(headers: &[(String, String)]) -> Option<String> {
    let links = headers.iter().filter(|it| it.0 == "link").flat_map(|it| split_links(&it.1));
    links.filter(|it| is_next_link(it)).find_map(|it| {
        let (_, rest) = it.split_once('<')?;
        Some(rest.split_once('>')?.0.trim().to_owned())
    })
}

/// The links of one header: a comma within an address parts none.
fn split_links(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.split(move |c| {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            _ => {}
        }
        c == ',' && !inside
    })
}

fn is_next_link(link: &str) -> bool {
    let Some((_, parameters)) = link.split_once('>') else { return false };
    parameters.split(';').any(|it| {
        let (name, value) = it.split_once('=').unwrap_or_default();
        let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
        name.trim().eq_ignore_ascii_case("rel")
            && relations.any(|it| it.eq_ignore_ascii_case("next"))
    })
}

/// There, and not empty: a flag that is set, a cursor, an address.
pub fn is_continuation(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(it) => *it,
        Value::Number(it) => it.as_f64().is_some_and(|it| it > 0.0),
        Value::String(it) => !it.is_empty() && it != "0" && it != "false",
        Value::Array(all) => !all.is_empty(),
        Value::Object(all) => !all.is_empty(),
    }
}

/// A JSON answer, to learn from.
#[derive(Clone, Copy)]
pub struct JsonSample<'a> {
    /// The whole document.
    pub document: &'a Value,
    /// Items that were taken from it.
    pub items: u64,
}

/// How answers like these say how long their list is. Each sample is the answer to another input; those without items tell totals
/// from counters that only look like one.
pub fn learn(samples: &[JsonSample<'_>]) -> Option<PageInfo> {
    let (full, empty): (Vec<&JsonSample<'_>>, Vec<_>) = samples.iter().partition(|it| it.items > 0);
    let fields: Vec<BTreeMap<Vec<String>, &Value>> =
        full.iter().map(|it| scalars(it.document)).collect();
    let without: Vec<_> = empty.iter().map(|it| scalars(it.document)).collect();
    let first = fields.first()?;
    let counts: Vec<u64> = full.iter().map(|it| it.items).collect();
    let total = first
        .keys()
        .filter_map(|path| Some((certainty(path, &fields, &counts, &without)?, path)))
        .filter(|it| is_expression(&expression(it.1)))
        .max_by_key(|it| it.0)
        .map(|it| it.1);
    let mut next = first
        .keys()
        .filter_map(|path| Some((path, continuation(path, first)?)))
        .filter(|(_, query)| {
            let Ok(query) = Query::compile(query) else { return false };
            let says = |it: &Value| {
                is_continuation(&query.search(&Document::from(it)).unwrap_or_default())
            };
            // It has ended where nothing is left.
            empty.iter().all(|it| !says(it.document))
                && total.is_none_or(|path| {
                    let total = |it: &JsonSample<'_>| {
                        scalars(it.document).get(path).copied().and_then(whole_number)
                    };
                    full.iter()
                        .all(|it| total(it).is_none_or(|n| n > it.items || !says(it.document)))
                })
        })
        .map(|it| it.1);
    let (total, next) = (total.map(|it| expression(it)), next.next());
    (total.is_some() || next.is_some()).then(|| PageInfo { total, next, ..PageInfo::default() })
}

/// Fields of both answers that say what was asked for, as JMESPath by parameter: each is the first example's value in one, and the
/// second's in the other. Of several beside one another all count, as a list: one may say what was asked for, the other what was
/// looked for instead.
pub fn find_echoes(
    (a, first): (&Value, &BTreeMap<String, String>),
    (b, second): (&Value, &BTreeMap<String, String>),
) -> BTreeMap<String, String> {
    let (a, b) = (scalars(a), scalars(b));
    let says = |it: Option<&&Value>, value: &String| it.is_some_and(|it| is_echo(it, value));
    first
        .iter()
        .filter_map(|(name, value)| {
            let other = second.get(name).filter(|it| *it != value)?;
            let mut saying = a
                .iter()
                .filter(|it| says(Some(it.1), value) && says(b.get(it.0), other))
                .map(|it| it.0)
                .filter(|it| is_expression(&expression(it)));
            let path = saying.next()?;
            let home = path.split_last().map(|it| it.1);
            let mut all = vec![expression(path)];
            let beside = saying.filter(|it| it.split_last().map(|it| it.1) == home);
            all.extend(beside.take(MAX_ECHOES - 1).map(|it| expression(it)));
            let expression =
                if all.len() > 1 { format!("[{}]", all.join(", ")) } else { all.remove(0) };
            Some((name.clone(), expression))
        })
        .collect()
}

/// Fields of one object that repeat a value.
const MAX_ECHOES: usize = 3;

/// Whether a field says that this was asked for, or each of several does.
pub fn is_echo(said: &Value, value: &str) -> bool {
    match said {
        Value::Array(all) => !all.is_empty() && all.iter().all(|it| is_echo(it, value)),
        Value::String(it) => it.trim().to_lowercase() == value.trim().to_lowercase(),
        Value::Number(it) => it.to_string() == value.trim(),
        _ => false,
    }
}

/// `path == value` as JMESPath.
pub fn equals(path: &[String], value: &Value) -> String {
    format!("{} == `{value}`", expression(path))
}

/// The only element of a list, in a path.
const ONLY: &str = "[0]";

/// Scalars of an answer that stand in no list of several, by path.
pub fn scalars(document: &Value) -> BTreeMap<Vec<String>, &Value> {
    fn go<'v>(
        value: &'v Value,
        path: &mut Vec<String>,
        out: &mut BTreeMap<Vec<String>, &'v Value>,
    ) {
        match value {
            Value::Object(all) if path.len() < MAX_DEPTH && all.len() <= 64 => {
                for (key, it) in all {
                    path.push(key.clone());
                    go(it, path, out);
                    path.pop();
                }
            }
            // The answers to one question among others that were not asked.
            Value::Array(all) if all.len() == 1 && path.len() < MAX_DEPTH => {
                path.push(ONLY.to_owned());
                go(&all[0], path, out);
                path.pop();
            }
            Value::Array(_) | Value::Object(_) => {}
            other => _ = out.insert(path.clone(), other),
        }
    }
    let mut out = BTreeMap::new();
    if document.is_object() {
        go(document, &mut Vec::new(), &mut out);
    }
    out
}

/// Whether a field of the answer that is named like a total holds this number.
pub fn states_total(document: &Value, items: u64) -> bool {
    scalars(document).iter().any(|(path, value)| {
        whole_number(value) == Some(items)
            && path
                .last()
                .is_some_and(|it| words(it).iter().any(|it| TOTALS.contains(&it.as_str())))
    })
}

/// How sure it is that the field is the number of all items; `None` where it is not.
fn certainty(
    path: &[String],
    full: &[BTreeMap<Vec<String>, &Value>],
    counts: &[u64],
    empty: &[BTreeMap<Vec<String>, &Value>],
) -> Option<u32> {
    let of = |it: &BTreeMap<Vec<String>, &Value>| it.get(path).copied().and_then(whole_number);
    let totals: Vec<u64> = full.iter().map(of).collect::<Option<_>>()?;
    if totals.iter().zip(counts).any(|(total, items)| total < items) {
        return None;
    }
    let zero = empty.iter().filter_map(of).count();
    if empty.iter().filter_map(of).any(|it| it > 0) {
        return None;
    }
    let words: Vec<String> = path.iter().rev().take(2).flat_map(|it| words(it)).collect();
    let has = |all: &[&str]| words.iter().any(|it| all.contains(&it.as_str()));
    let own = self::words(path.last()?);
    let is_other = own.iter().any(|it| NO_TOTALS.contains(&it.as_str()));
    let named = has(TOTALS) && !is_other;
    let sure = has(SURE_TOTALS) && !is_other;
    let differ = |all: &[u64]| all.windows(2).any(|it| it[0] != it[1]);
    let partial = totals.iter().zip(counts).any(|(total, items)| total > items);
    let met = totals.iter().zip(counts).any(|(total, items)| total == items);
    let moves = differ(&totals);
    // What is always the count may be that of the page alone.
    if !partial {
        return (sure && (differ(counts) || totals.len() == 1 || zero > 0)).then_some(1);
    }
    match (moves, met, zero > 0) {
        (true, true, _) | (true, _, true) if !is_other => Some(4),
        (true, ..) if named => Some(3),
        // Of another input another part, and the same number: it counts the whole collection.
        (false, ..) if named && !differ(counts) => Some(2),
        _ => None,
    }
}

/// Words of fields that hold a total.
const TOTALS: &[&str] = &[
    "total", "totals", "count", "counts", "hits", "found", "matches", "results", "records",
    "filtered", "items", "rows", "elements", "entries",
];
/// Those that are never the count of one page.
const SURE_TOTALS: &[&str] = &["total", "totals", "found", "hits", "matches", "filtered"];
/// Words of fields that hold other numbers of a list, or of the call.
const NO_TOTALS: &[&str] = &[
    "page", "pages", "per", "limit", "offset", "size", "start", "skip", "from", "time", "ms",
    "took", "seconds", "duration", "id", "status", "code", "version", "max", "min", "index",
    "position",
];

/// An expression that is true while further pages follow, where the field is one that says so.
fn continuation(path: &[String], all: &BTreeMap<Vec<String>, &Value>) -> Option<String> {
    let value = *all.get(path)?;
    let own = words(path.last()?);
    let has = |it: &str| own.iter().any(|word| word == it);
    let beside = |name: &[&str]| {
        all.keys().find(|it| {
            it.len() == path.len()
                && it[..it.len() - 1] == path[..path.len() - 1]
                && it.last().is_some_and(|it| name.contains(&words(it).join("_").as_str()))
        })
    };
    let it = expression(path);
    let names = own.join("_");
    match value {
        Value::Bool(_) if has("more") || has("next") || has("truncated") => Some(it),
        Value::Bool(_)
            if matches!(
                names.as_str(),
                "last" | "is_last" | "is_last_page" | "last_page" | "is_end" | "done"
            ) =>
        {
            Some(format!("{it} == `false`"))
        }
        Value::String(_) | Value::Null | Value::Number(_)
            if has("next") || names == "continuation" || names == "continuation_token" =>
        {
            Some(it)
        }
        Value::Number(_)
            if matches!(
                names.as_str(),
                "pages" | "total_pages" | "page_count" | "last_page" | "nb_pages" | "num_pages"
            ) =>
        {
            let page = beside(&["page", "current_page", "page_number", "this_page"])?;
            // Pages that are counted from 0 say nothing by this.
            all.get(page).copied().and_then(whole_number).filter(|it| *it > 0)?;
            Some(format!("{it} > {}", expression(page)))
        }
        _ => None,
    }
}

/// Words of a key, in lower case: `totalCount`, `total_count`, `@odata.count`.
pub fn words(key: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut was_lower = false;
    for c in key.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            out.push(String::new());
        }
        if c.is_alphanumeric() {
            out.last_mut().expect("begins with one").extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    out.retain(|it| !it.is_empty());
    out
}

/// Whether a recipe may hold this expression: keys of strangers may be long.
pub fn is_expression(text: &str) -> bool {
    Query::compile(text).is_ok()
}

/// A path of keys as JMESPath.
pub fn expression(path: &[String]) -> String {
    let is_plain = |it: &str| {
        !it.starts_with(|c: char| c.is_ascii_digit())
            && it.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let mut out = String::new();
    for it in path {
        if !out.is_empty() && it != ONLY {
            out.push('.');
        }
        match it {
            it if it == ONLY || is_plain(it) => out.push_str(it),
            it => out.push_str(&Value::from(it.as_str()).to_string()),
        }
    }
    out
}

/// A word or a number of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Number(u64),
}

/// Words around a total.
#[derive(Clone, Debug)]
struct TotalLine {
    before: Vec<String>,
    after: Vec<String>,
}

/// Where the total stands.
const TOTAL: &str = "{total}";
/// Any number.
const NUMBER: &str = "#";

impl TotalLine {
    fn parse(text: &str) -> Self {
        let (before, after) = text.split_once(TOTAL).unwrap_or((text, ""));
        let words = |it: &str| it.split_whitespace().map(str::to_owned).collect();
        Self { before: words(before), after: words(after) }
    }

    fn count_words(&self) -> usize {
        self.before.iter().chain(&self.after).filter(|it| *it != NUMBER).count()
    }

    /// The total of a line that states it beside the count of items, with half of these words: "10 of exactly 33" and "10 of
    /// about 33".
    fn total_in_other_words(&self, line: &str, items: u64) -> Option<u64> {
        if line.chars().count() > MAX_LINE {
            return None;
        }
        let tokens = tokens(line);
        let (at, total) = find_total(&tokens, items)?;
        let before = tokens[..at].iter().rev().zip(self.before.iter().rev());
        let after = tokens[at + 1..].iter().zip(&self.after);
        let is_word = |it: &String| it != NUMBER;
        let same =
            before.chain(after).filter(|it| is_word(it.1) && matches_word(it.0, it.1)).count();
        let words = self.before.iter().chain(&self.after).filter(|it| is_word(it)).count();
        (same > 0 && same * 2 >= words).then_some(total)
    }

    fn total(&self, line: &str) -> Option<u64> {
        let tokens = tokens(line);
        (0..tokens.len()).find_map(|at| {
            let Token::Number(total) = tokens[at] else { return None };
            let (before, after) = (&tokens[..at], &tokens[at + 1..]);
            let own = before.len().checked_sub(self.before.len())?;
            let fits_before =
                before[own..].iter().zip(&self.before).all(|(it, word)| matches_word(it, word));
            let fits_after = after.len() >= self.after.len()
                && after.iter().zip(&self.after).all(|(it, word)| matches_word(it, word));
            (fits_before && fits_after).then_some(total)
        })
    }
}

fn matches_word(token: &Token, word: &str) -> bool {
    match token {
        Token::Word(it) => it == word,
        Token::Number(_) => word == NUMBER,
    }
}

/// Words in lower case and whole numbers. Decimals, shares, amounts and numbers that are part of a word are words.
fn tokens(line: &str) -> Vec<Token> {
    let chars: Vec<char> = line.chars().collect();
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let from = at;
        if chars[at].is_ascii_digit() {
            let mut text = String::new();
            while at < chars.len() {
                let groups =
                    matches!(chars[at], ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}')
                        && (at - from) <= 3 + text.len() / 3
                        && (1..=3).all(|n| digit(at + n))
                        && !digit(at + 4)
                        && !text.is_empty();
                if chars[at].is_ascii_digit() {
                    text.push(chars[at]);
                } else if !groups {
                    break;
                }
                at += 1;
            }
            let before = from.checked_sub(1).map(|it| chars[it]);
            let after = chars.get(at);
            let is_part = before.is_some_and(|it| it.is_alphanumeric() || "$€£¥#.".contains(it))
                || after.is_some_and(|it| it.is_ascii_alphabetic() || "%€£°".contains(*it))
                || (after.is_some_and(|it| ".,:".contains(*it)) && digit(at + 1));
            match text.parse().ok().filter(|_| !is_part) {
                Some(number) => out.push(Token::Number(number)),
                None => out.push(Token::Word(text)),
            }
        } else if chars[at].is_alphabetic() {
            while at < chars.len() && chars[at].is_alphabetic() {
                at += 1;
            }
            let word: String = chars[from..at].iter().collect();
            out.push(Token::Word(word.to_lowercase()));
        } else {
            at += 1;
        }
    }
    out
}

/// The place and the number of the total that a line states beside the count of items, or beside their range: `Showing 6 of 15`,
/// `1–6 / 15`. It is later in the line and greater, or the same.
fn find_total(tokens: &[Token], items: u64) -> Option<(usize, u64)> {
    let numbers: Vec<(usize, u64)> = tokens
        .iter()
        .enumerate()
        .filter_map(|(at, it)| if let Token::Number(n) = it { Some((at, *n)) } else { None })
        .collect();
    if items < 2 || numbers.len() > MAX_NUMBERS || tokens.len() > 24 {
        return None;
    }
    let range = numbers.windows(3).find(|it| {
        it[1].1.checked_sub(it[0].1).is_some_and(|n| n.saturating_add(1) == items) && it[0].1 > 0
    });
    let count = || numbers.windows(2).find(|it| it[0].1 == items);
    let found = range.map(|it| it[2]).or_else(|| count().map(|it| it[1]));
    found.filter(|it| it.1 >= items)
}

/// What a page says, to learn from.
pub struct PageSample {
    /// Lines beside the items.
    pub lines: Vec<String>,
    /// Items that it showed, or that were taken from it.
    pub items: u64,
}

impl PageSample {
    /// Of a page whose items are read so.
    pub fn from_page(page: &Html, spec: &HtmlSpec, items: u64) -> Self {
        let reader = HtmlReader::new(spec).ok();
        Self { lines: lines_without_items(page, reader.as_ref()).into_iter().collect(), items }
    }

    /// Numbers of its short lines that are greater than the count of items, at most eight.
    pub fn candidate_totals(&self) -> Vec<u64> {
        let short = self.lines.iter().filter(|it| it.chars().count() <= MAX_LINE);
        let numbers = short.flat_map(|it| tokens(it)).filter_map(|it| match it {
            Token::Number(it) if it > self.items => Some(it),
            _ => None,
        });
        numbers.collect::<BTreeSet<_>>().into_iter().take(8).collect()
    }
}

/// How pages like these say how long their list is: a line that states it beside the count, or a number of the same line of each
/// page that meets the count on one of them and moves with the input. `typed` is what was typed.
///
/// Returns the words around the total, as [`PageInfo::line`] has them.
pub fn learn_line(samples: &[PageSample], typed: &[&str]) -> Option<String> {
    let typed: Vec<String> =
        typed.iter().flat_map(|it| it.split_whitespace()).map(str::to_lowercase).collect();
    [PatternSide::Both, PatternSide::Before, PatternSide::After]
        .into_iter()
        .find_map(|around| learn_line_by(samples, &typed, around))
}

/// Which words around a total say that it is one. A noun changes its form with the number, and what stands before it does not; or
/// the other way round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PatternSide {
    Both,
    Before,
    After,
}

fn learn_line_by(samples: &[PageSample], typed: &[String], around: PatternSide) -> Option<String> {
    let (full, empty): (Vec<&PageSample>, Vec<_>) = samples.iter().partition(|it| it.items > 0);
    let found = full.iter().flat_map(|it| it.lines.iter().map(|line| (line, it.items))).filter_map(
        |(line, items)| {
            if line.chars().count() > MAX_LINE {
                return None;
            }
            let tokens = tokens(line);
            let beside = find_total(&tokens, items).filter(|_| around == PatternSide::Both);
            (0..tokens.len()).find_map(|place| {
                let Token::Number(_) = tokens[place] else { return None };
                let pattern = pattern(&tokens, place, typed, around)?;
                let line = TotalLine::parse(&pattern);
                let of = |it: &&PageSample| it.lines.iter().find_map(|it| line.total(it));
                if empty.iter().filter_map(of).any(|it| it > 0) {
                    return None;
                }
                if beside.is_some_and(|it| it.0 == place) {
                    return Some((true, pattern));
                }
                let totals: Vec<u64> = full.iter().map(of).collect::<Option<_>>()?;
                let pairs = || totals.iter().zip(full.iter().map(|it| it.items));
                let moves = totals.windows(2).any(|it| it[0] != it[1]);
                let met = pairs().any(|(total, items)| *total == items && items > 1);
                let zero = empty.iter().filter_map(of).count() > 0;
                // A page that is cut is as long as pages are.
                let longest = full.iter().map(|it| it.items).max();
                let holds = |(total, items): (&u64, u64)| {
                    *total == items || (*total > items && Some(items) == longest)
                };
                (pairs().all(holds) && moves && (met || zero)).then_some((false, pattern))
            })
        },
    );
    found.max_by_key(|it| it.0).map(|it| it.1)
}

/// Items of a full page: the count of those pages that state a greater total, where it is the same on each.
pub fn page_size(samples: &[PageSample], line: &str) -> Option<u64> {
    let line = TotalLine::parse(line);
    let total = |it: &PageSample| it.lines.iter().find_map(|it| line.total(it));
    let partial = samples.iter().filter(|it| total(it).is_some_and(|n| n > it.items));
    let sizes: BTreeSet<u64> = partial.map(|it| it.items).collect();
    sizes.first().copied().filter(|_| sizes.len() == 1)
}

/// The total that pages state as [`learn_line`] says, of the first of them.
pub fn stated_total(samples: &[PageSample], typed: &[&str]) -> Option<u64> {
    let line = TotalLine::parse(&learn_line(samples, typed)?);
    samples.first()?.lines.iter().find_map(|it| line.total(it))
}

/// The words around a number, or those on one side of it, up to what was typed. `None` where one side alone has no word.
fn pattern(tokens: &[Token], at: usize, typed: &[String], around: PatternSide) -> Option<String> {
    let word = |it: &Token| match it {
        Token::Word(it) => (!typed.contains(it)).then(|| it.clone()),
        Token::Number(_) => Some(NUMBER.to_owned()),
    };
    let mut before: Vec<String> = tokens[..at].iter().rev().map_while(word).take(AROUND).collect();
    before.reverse();
    let mut after: Vec<String> = tokens[at + 1..].iter().map_while(word).take(AROUND).collect();
    let kept = match around {
        PatternSide::Both => {
            return Some([before, vec![TOTAL.to_owned()], after].concat().join(" "));
        }
        PatternSide::Before => {
            after.clear();
            &before
        }
        PatternSide::After => {
            before.clear();
            &after
        }
    };
    let says = kept.iter().any(|it| it != NUMBER);
    says.then(|| [before, vec![TOTAL.to_owned()], after].concat().join(" "))
}

#[cfg(test)]
#[path = "pagination_tests.rs"]
mod tests;
