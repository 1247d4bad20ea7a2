//! Numbers, amounts of money and dates that the texts of an HTML page are, read beside the text.
//!
//! A type is learned from the texts of two answers: every one of them must be readable in one way alone. `1,234` may be a thousand or
//! one; `03/04/2026` may be March or April. Another text of the same column decides, or else the other columns of the page, or the
//! column stays text. A text that a later answer has and that cannot be read gives `null` and a warning. The text itself stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{civil::DateTime, fmt::strtime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::{selector, shape::profile::Kinds};
use commis_base::error::{Code, Error, Result};

/// A double holds so many significant digits.
const MAX_DIGITS: usize = 15;
/// Of a text that may be a number or a date.
const MAX_TEXT: usize = 60;
/// Of a unit.
const MAX_UNIT: usize = 12;
/// Of a pattern for dates.
const MAX_PATTERN: usize = 40;
/// Different texts of a column that say what it is.
const MIN_TEXTS: usize = 2;
/// Orders of a date, the year first, and what stands between the parts.
#[rustfmt::skip]
const DATES: &[&str] = &[
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d %B %Y",
    "%B %d, %Y", "%d-%B-%Y",
];
/// What may follow a date.
const TIMES: &[&str] = &["", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", ", %H:%M", ", %H:%M:%S"];

/// What the texts of a field are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// A number, with or without one unit after it. An item has it as `NAME_number`, and the unit as `NAME_unit`.
    Number(NumberFormat),
    /// An amount of money with its currency before or after it. An item has the number as `NAME_amount`, and the currency as the page
    /// writes it as `NAME_currency`.
    Money(NumberFormat),
    /// A date, with or without a time of the day, by a pattern of `strptime` (`%d.%m.%Y`). An item has it as `NAME_date`:
    /// `2026-11-28` or `2026-11-28T14:05:00`, in the time zone of the page.
    Date(String),
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NumberFormat {
    /// What stands before the decimals. The other sign, a space or an apostrophe then separates groups of digits. Without it the
    /// number is digits alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalSign>,
    /// The unit that every text ends in.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unit: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_false(it: &bool) -> bool {
    !*it
}

/// What stands before decimals.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DecimalSign {
    Point,
    Comma,
}

impl DecimalSign {
    const fn sign(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

/// A text around a number.
struct Amount<'t> {
    is_negative: bool,
    before: &'t str,
    digits: &'t str,
    after: &'t str,
}

impl<'t> Amount<'t> {
    /// `None` for what has no digits, or more than one run of them.
    fn parse(text: &'t str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_TEXT {
            return None;
        }
        let start = text.find(|it: char| it.is_ascii_digit())?;
        let end = text.rfind(|it: char| it.is_ascii_digit())? + 1;
        let digits = &text[start..end];
        if !digits.chars().all(|it| it.is_ascii_digit() || is_separator(it)) {
            return None;
        }
        let is_minus = |it: char| matches!(it, '-' | '\u{2212}');
        let before = text[..start].trim();
        let unsigned = before.trim_start_matches(is_minus).trim_end_matches(is_minus).trim();
        let signs = before.chars().filter(|it| is_minus(*it)).count();
        let own = unsigned.chars().filter(|it| is_minus(*it)).count();
        (signs - own <= 1 && own == 0).then_some(Self {
            is_negative: signs == 1,
            before: unsigned.trim_start_matches('+').trim(),
            digits,
            after: text[end..].trim(),
        })
    }

    /// The currency that stands before or after it; not on both sides.
    fn currency(&self) -> Option<&'t str> {
        match (self.before, self.after) {
            (it, "") | ("", it) if is_currency(it) => Some(it),
            _ => None,
        }
    }

    /// The unit that stands after it, empty for none.
    fn unit(&self) -> Option<&'t str> {
        let is_unit = |it: &str| {
            it.len() <= MAX_UNIT
                && !it.contains(char::is_whitespace)
                && it.chars().all(|it| {
                    it.is_alphabetic() || matches!(it, '%' | '‰' | '°' | '/' | '²' | '³' | 'µ')
                })
        };
        (self.before.is_empty() && is_unit(self.after)).then_some(self.after)
    }

    /// The number, where its digits can be read with that sign before the decimals.
    fn number(&self, decimal: Option<DecimalSign>) -> Option<Number> {
        let (whole, fraction) = match decimal.and_then(|it| self.digits.rsplit_once(it.sign())) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (self.digits, None),
        };
        let is_fraction = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
        if !fraction.is_none_or(is_fraction) {
            return None;
        }
        let mut groups = Vec::new();
        let mut sign = None;
        for part in whole.split_inclusive(is_separator) {
            let digits = part.trim_end_matches(is_separator);
            if let Some(it) = part.strip_prefix(digits).and_then(|it| it.chars().next()) {
                let is_allowed = decimal.is_some_and(|decimal| it != decimal.sign())
                    && sign.is_none_or(|sign| sign == it);
                if !is_allowed {
                    return None;
                }
                sign = Some(it);
            }
            groups.push(digits);
        }
        let is_whole = |it: &str| it == "0" || !it.starts_with('0');
        let (last, rest) = groups.split_last()?;
        let is_grouped = match rest.split_first() {
            None => true,
            // Groups of two stand before the last three in India.
            Some((first, middle)) => {
                let sizes: BTreeSet<usize> = middle.iter().map(|it| it.len()).collect();
                last.len() == 3
                    && (1..=3).contains(&first.len())
                    && (sizes.is_empty()
                        || sizes == BTreeSet::from([3])
                        || sizes == BTreeSet::from([2]))
            }
        };
        if !is_grouped || !is_whole(groups[0]) {
            return None;
        }
        let whole = groups.concat();
        if whole.len() + fraction.map_or(0, str::len) > MAX_DIGITS {
            return None;
        }
        let minus = if self.is_negative { "-" } else { "" };
        let text = match fraction {
            Some(it) => format!("{minus}{whole}.{it}"),
            None => format!("{minus}{whole}"),
        };
        serde_json::from_str(&text).ok()
    }

    /// The sign that stands before the decimals, where the digits alone say so.
    fn decimal(&self) -> Option<DecimalSign> {
        let points = self.digits.matches('.').count();
        let commas = self.digits.matches(',').count();
        let (sign, count, is_last) = match (points, commas) {
            (0, 0) => return None,
            (_, 0) => (DecimalSign::Point, points, true),
            (0, _) => (DecimalSign::Comma, commas, true),
            _ if self.digits.rfind('.') > self.digits.rfind(',') => {
                (DecimalSign::Point, points, false)
            }
            _ => (DecimalSign::Comma, commas, false),
        };
        if !is_last {
            return Some(sign);
        }
        // A sign that comes twice separates groups.
        if count > 1 {
            return Some(sign.other());
        }
        let (whole, fraction) = self.digits.split_once(sign.sign())?;
        let may_be_a_group = fraction.len() == 3
            && !whole.starts_with('0')
            && whole.len() <= 3
            && !whole.contains(is_separator);
        (!may_be_a_group).then_some(sign)
    }

    fn decimals(&self, sign: DecimalSign) -> Option<&str> {
        self.digits.rsplit_once(sign.sign()).map(|it| it.1)
    }
}

fn is_separator(it: char) -> bool {
    matches!(it, '.' | ',' | ' ' | '\u{a0}' | '\u{202f}' | '\'' | '\u{2019}')
}

/// A sign of a currency, with letters or without (`US$`), or a code of ISO 4217.
fn is_currency(text: &str) -> bool {
    let is_sign = |it: char| matches!(it, '$' | '\u{a2}'..='\u{a5}' | '\u{20a0}'..='\u{20cf}');
    let signs = text.chars().filter(|it| is_sign(*it)).count();
    let letters = text.chars().filter(|it| it.is_alphabetic()).count();
    let all = text.chars().count();
    (signs == 1 && letters <= 3 && signs + letters == all)
        || iso_currency::Currency::from_code(text).is_some()
}

/// What the texts of each field are, of the items of all answers together. `fields` are the selectors of a page's fields; `answers`
/// are lists of items, or single ones.
pub fn infer_types(
    fields: &BTreeMap<String, String>,
    answers: &[&Value],
) -> BTreeMap<String, ColumnType> {
    let columns: Vec<(&String, Vec<&str>)> = fields
        .iter()
        .filter(|(_, written)| selector::compile_field(written).is_ok_and(|it| it.nth.is_some()))
        .filter_map(|(name, _)| Some((name, texts(answers, name)?)))
        .collect();
    let signs: BTreeSet<DecimalSign> = columns.iter().filter_map(|it| common_sign(&it.1)).collect();
    let sign = signs.first().copied().filter(|_| signs.len() == 1);
    let orders: BTreeSet<&str> = columns.iter().filter_map(|it| only_pattern(&it.1)).collect();
    let mut out = BTreeMap::new();
    for (name, texts) in &columns {
        let found = number_type(texts, sign).or_else(|| date_type(texts, &orders));
        let is_free = |it: &ColumnType| it.names(name).iter().all(|it| !fields.contains_key(it));
        if let Some(it) = found.filter(is_free) {
            out.insert((*name).clone(), it);
        }
    }
    out
}

/// The texts of a column that are not empty; `None` where they say nothing.
fn texts<'a>(answers: &[&'a Value], name: &str) -> Option<Vec<&'a str>> {
    let items = answers.iter().flat_map(|it| match it {
        Value::Array(all) => &all[..],
        one => std::slice::from_ref(*one),
    });
    let mut all = 0;
    let mut out = Vec::new();
    for it in items {
        all += 1;
        let text = it.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if !text.is_empty() {
            out.push(text);
        }
    }
    let different: BTreeSet<&&str> = out.iter().collect();
    (different.len() >= MIN_TEXTS && out.len() * 2 >= all).then_some(out)
}

/// The sign before decimals in all texts of a column that say so.
fn common_sign(texts: &[&str]) -> Option<DecimalSign> {
    let amounts: Vec<Amount<'_>> =
        texts.iter().map(|it| Amount::parse(it)).collect::<Option<_>>()?;
    let signs: BTreeSet<DecimalSign> = amounts.iter().filter_map(Amount::decimal).collect();
    signs.first().copied().filter(|_| signs.len() == 1)
}

fn number_type(texts: &[&str], of_page: Option<DecimalSign>) -> Option<ColumnType> {
    let amounts: Vec<Amount<'_>> =
        texts.iter().map(|it| Amount::parse(it)).collect::<Option<_>>()?;
    let signs: BTreeSet<DecimalSign> = amounts.iter().filter_map(Amount::decimal).collect();
    let has_signs = amounts.iter().any(|it| it.digits.contains(is_separator));
    let decimal = match signs.len() {
        0 if !has_signs => None,
        0 => Some(of_page?),
        1 => signs.first().copied(),
        _ => return None,
    };
    if !amounts.iter().all(|it| it.number(decimal).is_some()) {
        return None;
    }
    if amounts.iter().all(|it| it.currency().is_some()) {
        return Some(ColumnType::Money(NumberFormat { decimal, unit: false }));
    }
    let units: BTreeSet<&str> = amounts.iter().map(Amount::unit).collect::<Option<_>>()?;
    if units.len() != 1 || is_numbering(&amounts, decimal) {
        return None;
    }
    let unit = !units.contains("");
    Some(ColumnType::Number(NumberFormat { decimal, unit }))
}

/// `1.9` beside `1.10`: versions and sections are counted, and are no numbers.
fn is_numbering(amounts: &[Amount<'_>], decimal: Option<DecimalSign>) -> bool {
    let Some(sign) = decimal else { return false };
    let decimals: Vec<&str> = amounts.iter().filter_map(|it| it.decimals(sign)).collect();
    let lengths: BTreeSet<usize> = decimals.iter().map(|it| it.len()).collect();
    lengths.len() > 1 && decimals.iter().any(|it| it.ends_with('0'))
}

fn patterns() -> impl Iterator<Item = (&'static str, String)> {
    DATES.iter().flat_map(|date| TIMES.iter().map(move |time| (*date, format!("{date}{time}"))))
}

/// The order and signs of the dates of a column, where one alone fits.
fn only_pattern(texts: &[&str]) -> Option<&'static str> {
    let mut found = fitting(texts);
    let (first, _) = found.next()?;
    found.next().is_none().then_some(first)
}

/// Patterns by which all texts can be read, those that read them alike once.
fn fitting<'a>(texts: &'a [&str]) -> impl Iterator<Item = (&'static str, String)> + 'a {
    let mut seen: Vec<Vec<DateTime>> = Vec::new();
    patterns().filter(move |(_, pattern)| {
        let read: Option<Vec<DateTime>> = texts.iter().map(|it| parse_date(pattern, it)).collect();
        let Some(read) = read else { return false };
        let is_new = !seen.contains(&read);
        if is_new {
            seen.push(read);
        }
        is_new
    })
}

fn date_type(texts: &[&str], orders: &BTreeSet<&str>) -> Option<ColumnType> {
    let has_digits = |it: &str| it.len() <= MAX_TEXT && it.bytes().any(|it| it.is_ascii_digit());
    if !texts.iter().all(|it| has_digits(it)) {
        return None;
    }
    let found: Vec<(&str, String)> = fitting(texts).collect();
    let pattern = match &found[..] {
        [(_, only)] => only,
        // The day or the month first: another column of the page says which.
        several => {
            let mut known = several.iter().filter(|it| orders.contains(it.0));
            let (it, None) = (known.next()?, known.next()) else { return None };
            &it.1
        }
    };
    Some(ColumnType::Date(pattern.clone()))
}

fn parse_date(pattern: &str, text: &str) -> Option<DateTime> {
    let text = text.trim();
    // Months are named whole or in three letters.
    let short = || {
        let pattern = pattern.contains("%B").then(|| pattern.replace("%B", "%b"))?;
        strtime::parse(pattern, text).ok()
    };
    let parsed = strtime::parse(pattern, text).ok().or_else(short)?;
    let date = parsed.to_date().ok()?;
    let time =
        if pattern.contains("%H") { parsed.to_time().ok()? } else { jiff::civil::Time::midnight() };
    (1000..3000).contains(&date.year()).then(|| date.to_datetime(time))
}

impl ColumnType {
    /// The fields that it gives an item, by the field whose text is read: the value, and what belongs to it.
    pub fn names(&self, field: &str) -> Vec<String> {
        match self {
            Self::Number(NumberFormat { unit: false, .. }) => vec![format!("{field}_number")],
            Self::Number(_) => vec![format!("{field}_number"), format!("{field}_unit")],
            Self::Money(_) => vec![format!("{field}_amount"), format!("{field}_currency")],
            Self::Date(_) => vec![format!("{field}_date")],
        }
    }

    /// Of what kinds these are, beside `null`.
    pub const fn kinds(&self) -> [Kinds; 2] {
        match self {
            Self::Number(_) | Self::Money(_) => [Kinds::NUM, Kinds::STR],
            Self::Date(_) => [Kinds::STR, Kinds::STR],
        }
    }

    /// What a text is, in the order of [`Self::names`]; `None` where it cannot be read.
    pub fn read(&self, text: &str) -> Option<Vec<Value>> {
        match self {
            Self::Number(format) => {
                let amount = Amount::parse(text)?;
                let number = Value::Number(amount.number(format.decimal)?);
                let unit = amount.unit()?;
                match (format.unit, unit) {
                    (false, "") => Some(vec![number]),
                    (true, it) if !it.is_empty() => Some(vec![number, it.into()]),
                    _ => None,
                }
            }
            Self::Money(format) => {
                let amount = Amount::parse(text)?;
                let number = amount.number(format.decimal)?;
                Some(vec![Value::Number(number), amount.currency()?.into()])
            }
            Self::Date(pattern) => {
                let it = parse_date(pattern, text)?;
                let has_time = pattern.contains("%H");
                Some(vec![if has_time { it.to_string() } else { it.date().to_string() }.into()])
            }
        }
    }

    /// Fails with `RECIPE_INVALID` for a pattern that is none, and for an amount of money with a unit beside its currency.
    pub fn check(&self, field: &str) -> Result<()> {
        let pattern = match self {
            Self::Number(_) | Self::Money(NumberFormat { unit: false, .. }) => return Ok(()),
            Self::Money(_) => {
                let why = format!("the type of the field `{field}` is money with a unit");
                return Err(Error::new(Code::RecipeInvalid, why)
                    .hint("leave out `unit`: the currency of an amount is read beside it"));
            }
            Self::Date(pattern) => pattern,
        };
        let at = DateTime::constant(2026, 11, 28, 14, 5, 9, 0);
        let reads = |written: String| parse_date(pattern, &written).is_some();
        if pattern.len() <= MAX_PATTERN && strtime::format(pattern, at).is_ok_and(reads) {
            return Ok(());
        }
        Err(Error::new(
            Code::RecipeInvalid,
            format!("the type of the field `{field}` is no pattern for dates: `{pattern}`"),
        )
        .hint("write it as `%d.%m.%Y` or `%Y-%m-%d %H:%M`"))
    }
}

/// Adds to each item what its texts are, by the types of its fields. Returns a warning for each column that has a text which cannot
/// be read; its values are `null` there.
pub fn add_values(types: &BTreeMap<String, ColumnType>, data: &mut Value) -> Vec<String> {
    let items = match data {
        Value::Array(all) => all.iter_mut(),
        one => std::slice::from_mut(one).iter_mut(),
    };
    let mut columns: Vec<Column<'_>> = types.iter().map(Column::new).collect();
    for item in items.filter_map(Value::as_object_mut) {
        for it in &mut columns {
            it.add_to(item);
        }
    }
    let unread = columns.iter().filter(|it| it.unread > 0);
    unread
        .map(|it| {
            format!(
                "`{}` of {} items is not written as when it was learned: its value is null, its text stands",
                it.field, it.unread
            )
        })
        .collect()
}

/// A field whose texts are read in one answer.
struct Column<'r> {
    field: &'r str,
    kind: &'r ColumnType,
    names: Vec<String>,
    /// Items whose text could not be read.
    unread: u64,
}

impl<'r> Column<'r> {
    fn new((field, kind): (&'r String, &'r ColumnType)) -> Self {
        Self { field, kind, names: kind.names(field), unread: 0 }
    }

    /// Adds what the text is, `null` where there is none or it cannot be read.
    fn add_to(&mut self, item: &mut Map<String, Value>) {
        let text = item.get(self.field).and_then(Value::as_str).map(str::trim).unwrap_or_default();
        let values = self.kind.read(text);
        self.unread += u64::from(values.is_none() && !text.is_empty());
        let values = values.into_iter().flatten().chain(std::iter::repeat(Value::Null));
        for (name, value) in self.names.iter().zip(values) {
            item.insert(name.clone(), value);
        }
    }
}

#[cfg(test)]
mod tests;
