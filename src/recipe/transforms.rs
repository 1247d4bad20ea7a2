//! How a page changes what was typed before it sends it: spaces, case, dates, numbers, Unicode's forms, one word of several.
//!
//! Pure functions over text. What a function does not understand it returns as it is.

use std::fmt::Write as _;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use jiff::civil::Date;

/// Runs of white space as one `joint`, none at the ends.
pub fn join_words(text: &str, joint: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(joint)
}

/// The first letter of each word as a capital; what follows it stays.
pub fn title_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_word = false;
    for c in text.chars() {
        if !in_word && c.is_alphabetic() {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
        in_word = c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}');
    }
    out
}

/// The first letter of the text as a capital.
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |it| it.to_uppercase().collect::<String>() + chars.as_str())
}

/// The word at that place, from 1.
pub fn nth_word(text: &str, n: usize) -> String {
    text.split_whitespace().nth(n - 1).unwrap_or_default().to_owned()
}

/// The bytes in UTF-8, in lower-case hexadecimal.
pub fn to_hex(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len() * 2), |mut out, it| {
        let _ = write!(out, "{it:02x}");
        out
    })
}

pub fn nfc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

pub fn nfd(text: &str) -> String {
    DecomposingNormalizerBorrowed::new_nfd().normalize(text).into_owned()
}

/// Letters that are no letter with an accent, and what they are written as without one.
const LETTERS: &[(char, &str)] = &[
    ('ß', "ss"),
    ('æ', "ae"),
    ('Æ', "AE"),
    ('œ', "oe"),
    ('Œ', "OE"),
    ('ø', "o"),
    ('Ø', "O"),
    ('ł', "l"),
    ('Ł', "L"),
    ('đ', "d"),
    ('Đ', "D"),
    ('ð', "d"),
    ('Ð', "D"),
    ('þ', "th"),
    ('Þ', "TH"),
    ('ı', "i"),
];

/// Letters without accents.
pub fn remove_accents(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in nfd(text).chars().filter(|it| !matches!(it, '\u{300}'..='\u{36f}')) {
        match LETTERS.iter().find(|it| it.0 == c) {
            Some((_, plain)) => out.push_str(plain),
            None => out.push(c),
        }
    }
    out
}

/// `2026-11-22`, `22.11.2026`, `11/22/2026` (`22/11/2026` where that is no month), `20261122`.
pub fn parse_date(text: &str) -> Option<Date> {
    let text = text.trim();
    if text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit()) {
        return civil(&text[..4], &text[4..6], &text[6..]);
    }
    let sign = text.chars().find(|c| !c.is_ascii_digit())?;
    let parts: Vec<&str> = text.split(sign).collect();
    let &[a, b, c] = &parts[..] else { return None };
    match sign {
        '-' if a.len() == 4 => civil(a, b, c),
        '/' if c.len() == 4 => civil(c, a, b).or_else(|| civil(c, b, a)),
        '.' | '-' if c.len() == 4 => civil(c, b, a),
        _ => None,
    }
}

fn civil(year: &str, month: &str, day: &str) -> Option<Date> {
    let is_day = |it: &str| (1..=2).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit());
    if !is_day(month) || !is_day(day) {
        return None;
    }
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

/// A date as `write` has it of year, month and day.
pub fn format_date(text: &str, write: impl Fn(i16, i8, i8) -> String) -> String {
    parse_date(text).map_or_else(|| text.to_owned(), |it| write(it.year(), it.month(), it.day()))
}

/// Seconds since 1970 at midnight in UTC, times `unit`.
pub fn format_epoch(text: &str, unit: i64) -> String {
    let at = parse_date(text).and_then(|it| it.to_zoned(jiff::tz::TimeZone::UTC).ok());
    at.map_or_else(|| text.to_owned(), |it| (it.timestamp().as_second() * unit).to_string())
}

/// A number with that many decimal places at least.
pub fn with_decimals(text: &str, places: usize) -> String {
    match number(text) {
        Some((whole, part)) if part.len() < places => format!("{whole}.{part:0<places$}"),
        _ => text.to_owned(),
    }
}

/// Without separators of thousands: `1,234.5` becomes `1234.5`.
pub fn remove_grouping(text: &str) -> String {
    let bare = text.replace([',', '\'', ' ', '\u{a0}', '\u{202f}', '\u{2019}'], "");
    if number(&bare).is_some() { bare } else { text.to_owned() }
}

/// With a decimal point: `11,81` becomes `11.81`.
pub fn with_decimal_point(text: &str) -> String {
    let bare = text.replace('.', "").replace(',', ".");
    if text.contains(',') && number(&bare).is_some() { bare } else { text.to_owned() }
}

/// `11.81` as hundredths: `1181`.
pub fn to_minor_units(text: &str) -> String {
    match number(text) {
        Some((whole, part)) if part.len() <= 2 => {
            let digits = format!("{whole}{part:0<2}");
            let (sign, digits) =
                digits.strip_prefix('-').map_or(("", digits.as_str()), |it| ("-", it));
            let digits = digits.trim_start_matches('0');
            format!("{sign}{}", if digits.is_empty() { "0" } else { digits })
        }
        _ => text.to_owned(),
    }
}

/// `1181` hundredths as `11.81`.
pub fn to_major_units(text: &str) -> String {
    match number(text) {
        Some((whole, "")) => {
            let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |it| ("-", it));
            let digits = format!("{digits:0>3}");
            let (whole, part) = digits.split_at(digits.len() - 2);
            format!("{sign}{whole}.{part}")
        }
        _ => text.to_owned(),
    }
}

/// The digits before and after the decimal point of a plain number.
fn number(text: &str) -> Option<(&str, &str)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |it: &str| it.bytes().all(|b| b.is_ascii_digit());
    let unsigned = whole.strip_prefix('-').unwrap_or(whole);
    let fits = !unsigned.is_empty() && unsigned.len() <= 15 && part.len() <= 9;
    (fits && digits(unsigned) && digits(part)).then_some((whole, part))
}
