//! One value in the words of a page: `1181` is shown as "£11.81", `2026-11-22T10:00Z` as "22 Nov", `0.31` as "31 %".
//!
//! Both sides are read into [`NormalizedValue`]: what a JSON leaf may be shown as ([`readings`]) and what stands in a text ([`normal`]).
//! They agree where the two sets meet, so many leaves are compared with a page by one look-up each. Relative dates
//! ("yesterday"), durations and units of measure are absent on purpose: too much agrees with them by chance.

use serde_json::Value;

pub use super::normal::NormalizedValue;
use super::{
    dates::Moment,
    numerals::{self, Decimal},
    value_spans,
};

impl NormalizedValue {
    /// Whether it agrees with few others by chance, so that it may count as evidence.
    pub fn is_evidence(&self) -> bool {
        match self {
            Self::Number(it) | Self::Money(it) | Self::Percent(it) => {
                it % 1_000_000 != 0 || it.abs() >= 100_000_000
            }
            Self::About(it, _) | Self::Size(it, _) => it % 100 != 0,
            Self::Date { .. } => true,
            Self::Month(..) | Self::Time(_) | Self::Truth(_) => false,
            Self::Text(it) => it.chars().nth(2).is_some(),
        }
    }
}

/// Longer texts are read as text alone.
const MAX_TYPED: usize = 64;

/// What a leaf may be shown as. Objects, lists and null are nothing.
pub fn readings(leaf: &Value) -> Vec<NormalizedValue> {
    let mut out = Vec::new();
    match leaf {
        Value::Bool(it) => out.push(NormalizedValue::Truth(*it)),
        Value::Number(it) => push_number(&it.to_string(), &mut out),
        Value::String(text) => push_string(text.trim(), &mut out),
        Value::Null | Value::Array(_) | Value::Object(_) => {}
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// What stands in a text, sorted: itself, and each number, amount, percentage, date and time in it.
pub fn normalize_text(text: &str) -> Vec<NormalizedValue> {
    let mut out = Vec::new();
    value_spans::scan(text, &mut out);
    out.extend(parse_truth(text));
    out.extend(Some(words(text)).filter(|it| !it.is_empty()).map(NormalizedValue::Text));
    out.sort_unstable();
    out.dedup();
    out
}

/// Whether a text shows a leaf: as a whole where the leaf is text, else somewhere in it.
pub fn is_shown_as(leaf: &Value, shown: &str) -> bool {
    let there = normalize_text(shown);
    readings(leaf).iter().any(|it| there.binary_search(it).is_ok())
}

/// Days since 1970 of a date or moment as answers and requests hold them: ISO 8601, seconds or milliseconds since 1970.
pub fn parse_epoch_day(text: &str) -> Option<i64> {
    let epoch = || Moment::from_epoch(text.parse().ok()?);
    Moment::parse(text).or_else(epoch).map(|it| it.day())
}

/// How a page may write a leaf. Each is [`same`] as the leaf.
pub fn spellings(leaf: &Value) -> Vec<String> {
    let mut out = Vec::new();
    match leaf {
        Value::Bool(it) => {
            let words = if *it { TRUE } else { FALSE };
            out.extend(words.iter().map(|it| (*it).to_owned()));
        }
        Value::Number(it) => {
            if let Some(it) = Decimal::parse(&it.to_string()) {
                numerals::push_spellings(&it, &mut out);
                if let Some(it) = it.as_integer().and_then(Moment::from_epoch) {
                    it.push_spellings(&mut out);
                }
            }
        }
        Value::String(text) => {
            out.push(text.clone());
            if let Some(it) = Decimal::parse(text.trim()) {
                numerals::push_spellings(&it, &mut out);
            }
            if let Some(it) = Moment::parse(text.trim()) {
                it.push_spellings(&mut out);
            }
            if let Some(phrase) = to_phrase(text) {
                out.push(phrase);
            }
        }
        Value::Null | Value::Array(_) | Value::Object(_) => {}
    }
    out.retain(|it| it.chars().any(|c| c.is_alphanumeric() || matches!(c, '✓'..='❌')));
    out.sort_unstable();
    out.dedup();
    out
}

fn push_number(text: &str, out: &mut Vec<NormalizedValue>) {
    let Some(it) = Decimal::parse(text) else { return };
    numerals::push_readings(&it, out);
    if let Some(it) = it.as_integer().and_then(Moment::from_epoch) {
        it.push_readings(out);
    }
}

fn push_string(text: &str, out: &mut Vec<NormalizedValue>) {
    let plain = words(text);
    if !plain.is_empty() {
        out.push(NormalizedValue::Text(plain));
    }
    if text.len() > MAX_TYPED {
        return;
    }
    if let Some(it) = Moment::parse(text) {
        it.push_readings(out);
    } else if text.bytes().any(|b| b.is_ascii_digit()) {
        if Decimal::parse(text).is_some() {
            push_number(text, out);
        } else {
            let mut found = Vec::new();
            // `£11.81` and `22 November 2026`, but no sentence with a number in it.
            if value_spans::scan(text, &mut found) == 0 {
                out.append(&mut found);
            }
        }
    } else {
        out.extend(parse_truth(text));
    }
    out.extend(to_phrase(text).map(|it| NormalizedValue::Text(words(&it))));
}

/// `inStock`, `IN_STOCK` and `https://schema.org/InStock` as people write them.
fn to_phrase(text: &str) -> Option<String> {
    let name = match text.split_once("://schema.org/") {
        Some((_, name)) => name,
        None => text,
    };
    let is_name = name.len() <= MAX_TYPED
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !is_name {
        return None;
    }
    let mut out = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            out.push(' ');
        }
        out.push(if matches!(c, '_' | '-') { ' ' } else { c.to_ascii_lowercase() });
        before = c;
    }
    (out != text).then_some(out)
}

const TRUE: &[&str] =
    &["yes", "true", "in stock", "available", "on", "enabled", "active", "open", "✓", "✔", "✅"];
const FALSE: &[&str] = &[
    "no",
    "false",
    "out of stock",
    "sold out",
    "unavailable",
    "off",
    "disabled",
    "inactive",
    "closed",
    "✗",
    "✘",
    "❌",
];

/// Of a text that says yes or no and nothing else, but for a label before a colon.
fn parse_truth(text: &str) -> Option<NormalizedValue> {
    let last = text.rsplit(':').next().unwrap_or(text).trim();
    let is = |all: &[&str]| last.len() <= 14 && all.iter().any(|it| last.eq_ignore_ascii_case(it));
    if is(TRUE) {
        Some(NormalizedValue::Truth(true))
    } else {
        is(FALSE).then_some(NormalizedValue::Truth(false))
    }
}

/// Letters and digits in lower case, one blank for whatever is between.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars() {
        if c.is_alphanumeric() {
            if gap && !out.is_empty() {
                out.push(' ');
            }
            gap = false;
            out.extend(c.to_lowercase());
        } else {
            gap = true;
        }
    }
    out
}

#[cfg(test)]
#[path = "display_forms_tests.rs"]
mod tests;
