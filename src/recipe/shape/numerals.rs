//! Numbers as JSON writes them and as pages do: separators, money in minor units, shares as percentages, rounded counts.

use super::normal::NormalizedValue;

/// One whole unit.
pub const ONE: i128 = 1_000_000;
/// Beyond this a number is an id, and no page rounds or groups it.
const MAX: i128 = 1_000_000_000_000_000 * ONE;

/// Letters before a number that are a word of their own.
const WORD: usize = 3;

/// A number that stands right behind a word, as the 12 of `issue12` does; `v12` and `x12` are names.
pub fn is_part_of_word(before: &str, number: &str) -> bool {
    let letters = before.bytes().rev().take(WORD).filter(u8::is_ascii_alphabetic).count();
    number.len() > 1 && number.bytes().all(|b| b.is_ascii_digit()) && letters == WORD
}

/// An exact decimal of at most six places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    pub millionths: i128,
    /// As written; `1.50` has two.
    pub places: u8,
}

impl Decimal {
    /// Of a JSON number's text. `None` for an exponent, for more than it can hold, and for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(it) => (true, it),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_digits = |it: &str| it.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || whole.len() > 15 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        if digits.contains('.') && fraction.is_empty() {
            return None;
        }
        let whole: i128 = whole.parse().ok()?;
        let places = fraction.len().min(6);
        let mut part: i128 = if places == 0 { 0 } else { fraction[..places].parse().ok()? };
        part *= 10_i128.pow(6 - places as u32);
        if fraction.as_bytes().get(6).is_some_and(|b| *b >= b'5') {
            part += 1;
        }
        let millionths = whole * ONE + part;
        Some(Self {
            millionths: if negative { -millionths } else { millionths },
            places: places as u8,
        })
    }

    pub fn as_integer(&self) -> Option<i64> {
        (self.places == 0).then_some((self.millionths / ONE) as i64)
    }
}

/// What a number may be shown as.
pub fn push_readings(it: &Decimal, out: &mut Vec<NormalizedValue>) {
    let n = it.millionths;
    out.push(NormalizedValue::Number(n));
    out.push(NormalizedValue::Money(n));
    if n.abs() > MAX {
        return;
    }
    if it.places == 0 {
        out.push(NormalizedValue::Percent(n));
        // 1181 pence.
        out.push(NormalizedValue::Money(n / 100));
        if n.abs() >= 1000 * ONE {
            push_abbreviations(n, out);
        }
        return;
    }
    for places in 0..it.places.min(4) {
        let rounded = round(n, places);
        out.push(NormalizedValue::Percent(rounded));
        if places > 0 || n.abs() >= 100 * ONE {
            out.push(NormalizedValue::Number(rounded));
            out.push(NormalizedValue::Money(rounded));
        }
    }
    out.push(NormalizedValue::Percent(n));
    if n.abs() <= ONE {
        out.extend((0..3).map(|places| NormalizedValue::Percent(round(n * 100, places))));
    }
    if n.abs() >= 1000 * ONE {
        push_abbreviations(n, out);
    }
}

fn push_abbreviations(n: i128, out: &mut Vec<NormalizedValue>) {
    for (base, is_size) in [(1000_i128, false), (1000, true), (1024, true)] {
        let mut unit = ONE;
        for power in 1..=4_u8 {
            unit *= base;
            if n.abs() < unit {
                break;
            }
            let hundredths = n * 100 / unit;
            if hundredths.abs() >= 102_400 {
                continue;
            }
            for it in [
                hundredths,
                round_half(n * 100, unit),
                n * 10 / unit * 10,
                round_half(n * 10, unit) * 10,
                n / unit * 100,
                round_half(n, unit) * 100,
            ] {
                let it = it as i64;
                out.push(if is_size {
                    NormalizedValue::Size(it, power)
                } else {
                    NormalizedValue::About(it, power)
                });
            }
        }
    }
}

/// To so many decimal places, half away from zero.
fn round(millionths: i128, places: u8) -> i128 {
    let unit = 10_i128.pow(6 - u32::from(places.min(6)));
    round_half(millionths, unit) * unit
}

fn round_half(n: i128, unit: i128) -> i128 {
    (n.abs() + unit / 2) / unit * n.signum()
}

/// How a page may write a number: `1181`, `1,181`, `1.181`, `11.81`, `11,81`, `31%`.
pub fn push_spellings(it: &Decimal, out: &mut Vec<String>) {
    let n = it.millionths;
    let places = it.places as usize;
    for (group, point) in
        [("", '.'), (",", '.'), (".", ','), ("\u{202f}", ','), ("'", '.'), ("", ',')]
    {
        out.push(format_number(n, places, group, point));
        if places > 2 {
            out.push(format_number(round(n, 2), 2, group, point));
        }
        if places < 2 {
            out.push(format!("€{}", format_number(n, 2, group, point)));
        }
        if places == 0 && n.abs() >= ONE {
            out.push(format!("€{}", format_number(n / 100, 2, group, point)));
            if n.abs() >= 100 * ONE {
                out.push(format_number(n / 100, 2, group, point));
            }
        }
    }
    if places > 0 && n.abs() <= ONE {
        for places in 0..3_u8 {
            let share = format_number(round(n * 100, places), places as usize, "", '.');
            out.push(format!("{share}%"));
            out.push(format!("{share} %"));
        }
    } else if n.abs() <= 1000 * ONE {
        out.push(format!("{}%", format_number(n, places, "", '.')));
    }
    if places == 0 && n.abs() >= 1000 * ONE && n.abs() < 1_000_000_000 * ONE {
        let (unit, letter) =
            if n.abs() >= 1_000_000 * ONE { (1_000_000, "M") } else { (1000, "k") };
        out.push(format!("{}{letter}", format_number(round(n / unit, 1), 1, "", '.')));
    }
}

fn format_number(millionths: i128, places: usize, group: &str, point: char) -> String {
    let rounded = round(millionths, places as u8);
    let (whole, part) = (rounded.abs() / ONE, rounded.abs() % ONE);
    let digits = whole.to_string();
    let mut out = if rounded < 0 { "-".to_owned() } else { String::new() };
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push_str(group);
        }
        out.push(c);
    }
    if places > 0 {
        out.push(point);
        out.push_str(&format!("{part:06}")[..places]);
    }
    out
}
