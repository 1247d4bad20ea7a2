//! The numbers, amounts, percentages, dates and times that stand in a text, found in one pass.

use super::{
    dates::{is_valid_day, parse_month},
    normal::NormalizedValue,
    numerals::{Decimal, ONE},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Digits,
    Word,
    Sign(char),
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    /// White space stands before it.
    gap: bool,
}

/// Longer texts are not looked through to their end.
const MAX_TOKENS: usize = 4096;

/// Adds what a text holds; returns how many words and further numbers stand beside the first of it.
pub fn scan(text: &str, out: &mut Vec<NormalizedValue>) -> usize {
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return usize::from(!text.is_empty());
    }
    let tokens = tokens(text);
    let (mut rest, mut numbers, mut days) = (0, 0, 0);
    let mut i = 0;
    while i < tokens.len() {
        let it = &tokens[i..];
        if let Some(taken) = date(it, out).or_else(|| time(it, out)) {
            days = 1;
            i += taken;
        } else if let Some(taken) = number(&tokens, i, out) {
            numbers += 1;
            i += taken;
        } else {
            let is_unit = is_currency(it[0].text) && i + 1 < tokens.len();
            rest += usize::from(it[0].kind == Kind::Word && !is_unit);
            i += 1;
        }
    }
    rest + (numbers + days).max(1) - 1
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut gap = false;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if out.len() >= MAX_TOKENS {
            break;
        }
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        let kind = if c.is_ascii_digit() {
            Kind::Digits
        } else if c.is_alphabetic() {
            Kind::Word
        } else {
            Kind::Sign(c)
        };
        let mut end = start + c.len_utf8();
        while let Some((at, next)) = chars.peek().copied() {
            let goes_on = match kind {
                Kind::Digits => next.is_ascii_digit(),
                Kind::Word => next.is_alphabetic(),
                Kind::Sign(_) => false,
            };
            if !goes_on {
                break;
            }
            end = at + next.len_utf8();
            chars.next();
        }
        out.push(Token { kind, text: &text[start..end], gap });
        gap = false;
    }
    out
}

fn digits(it: Option<&Token<'_>>, lengths: std::ops::RangeInclusive<usize>) -> Option<i16> {
    let it = it.filter(|it| it.kind == Kind::Digits && lengths.contains(&it.text.len()))?;
    it.text.parse().ok()
}

fn is_sign(it: Option<&Token<'_>>, signs: &[char]) -> bool {
    it.is_some_and(|it| matches!(it.kind, Kind::Sign(c) if signs.contains(&c)))
}

fn is_year(year: i16) -> bool {
    (1000..=2999).contains(&year)
}

/// Tokens that a date takes.
fn date(it: &[Token<'_>], out: &mut Vec<NormalizedValue>) -> Option<usize> {
    match it[0].kind {
        Kind::Digits => {
            iso_date(it, out).or_else(|| numeric_date(it, out)).or_else(|| day_first(it, out))
        }
        Kind::Word => month_first(it, out),
        Kind::Sign(_) => None,
    }
}

fn push(out: &mut Vec<NormalizedValue>, year: Option<i16>, month: i16, day: i16) -> bool {
    let (month, day) = (month as i8, day as i8);
    let real = is_valid_day(year, month, day);
    if real {
        out.push(NormalizedValue::Date { year, month, day });
    }
    real
}

/// `2026-11-22`, `2026/11/22`.
fn iso_date(it: &[Token<'_>], out: &mut Vec<NormalizedValue>) -> Option<usize> {
    let year = digits(it.first(), 4..=4).filter(|it| is_year(*it))?;
    let sign = it.get(1)?;
    let joined = is_sign(Some(sign), &['-', '/', '.']) && it.get(3)?.kind == sign.kind;
    let (month, day) = (digits(it.get(2), 1..=2)?, digits(it.get(4), 1..=2)?);
    if !joined || !push(out, Some(year), month, day) {
        return None;
    }
    let is_t = it.get(5).is_some_and(|it| !it.gap && it.text.eq_ignore_ascii_case("t"));
    Some(if is_t { 6 } else { 5 })
}

/// `22.11.2026`, `11/22/2026`, `22. 11. 2026`, `22.11.`; of two that both are days, both.
fn numeric_date(it: &[Token<'_>], out: &mut Vec<NormalizedValue>) -> Option<usize> {
    let a = digits(it.first(), 1..=2)?;
    let sign = it.get(1).filter(|it| !it.gap && is_sign(Some(it), &['.', '/', '-']))?;
    let b = digits(it.get(2), 1..=2)?;
    let second = it.get(3).filter(|it| !it.gap && it.kind == sign.kind)?;
    let year = match it.get(4) {
        Some(it) if it.kind == Kind::Digits && it.text.len() == 4 => digits(Some(it), 4..=4),
        Some(it) if it.kind == Kind::Digits && it.text.len() == 2 && !it.gap => {
            digits(Some(it), 2..=2).map(|it| 2000 + it)
        }
        _ => None,
    };
    if let Some(year) = year {
        let european = push(out, Some(year), b, a);
        let american = sign.kind != Kind::Sign('.') && a != b && push(out, Some(year), a, b);
        return (european || american).then_some(5);
    }
    // `22.11.`
    let ends = second.kind == Kind::Sign('.')
        && it.get(4).is_none_or(|it| it.gap && it.kind != Kind::Digits);
    (ends && push(out, None, b, a)).then_some(4)
}

/// `22 Nov`, `22nd of November 2026`, `22. November 2026`, `22-Nov-2026`, `22 de noviembre de 2026`.
fn day_first(it: &[Token<'_>], out: &mut Vec<NormalizedValue>) -> Option<usize> {
    let day = digits(it.first(), 1..=2)?;
    let mut at = 1;
    let is_word = |at: usize, words: &[&str]| {
        it.get(at).is_some_and(|it| words.iter().any(|word| it.text.eq_ignore_ascii_case(word)))
    };
    if is_word(at, &["st", "nd", "rd", "th", "er"]) && !it[at].gap {
        at += 1;
    }
    if is_sign(it.get(at), &['.', '-', '/']) {
        at += 1;
    }
    if is_word(at, &["of", "de"]) {
        at += 1;
    }
    let month = i16::from(parse_month(it.get(at)?.text)?);
    at += 1;
    if is_sign(it.get(at), &['.', '-', ',', '/']) && it.get(at + 1)?.kind == Kind::Digits {
        at += 1;
    }
    if is_word(at, &["de"]) {
        at += 1;
    }
    let year = digits(it.get(at), 4..=4).filter(|it| is_year(*it));
    push(out, year, month, day).then(|| at + usize::from(year.is_some()))
}

/// `Nov 22`, `November 22nd, 2026`, `Nov. 22`, `November 2026`.
fn month_first(it: &[Token<'_>], out: &mut Vec<NormalizedValue>) -> Option<usize> {
    let month = parse_month(it[0].text)?;
    let mut at = 1;
    if is_sign(it.get(at), &['.', '-', ',']) {
        at += 1;
    }
    if let Some(year) = digits(it.get(at), 4..=4).filter(|it| is_year(*it)) {
        out.push(NormalizedValue::Month(year, month));
        return Some(at + 1);
    }
    let day = digits(it.get(at), 1..=2)?;
    at += 1;
    let suffix = |it: &Token<'_>| {
        !it.gap && ["st", "nd", "rd", "th"].iter().any(|end| it.text.eq_ignore_ascii_case(end))
    };
    if it.get(at).is_some_and(suffix) {
        at += 1;
    }
    let comma = usize::from(is_sign(it.get(at), &[',', '.', '-']));
    let year = digits(it.get(at + comma), 4..=4).filter(|it| is_year(*it));
    // `May 10:30` is a time in a month.
    if year.is_none() && is_sign(it.get(at), &[':']) {
        return None;
    }
    let taken = if year.is_some() { at + comma + 1 } else { at };
    push(out, year, i16::from(month), day).then_some(taken)
}

/// `10:30`, `10:30:15`, `9:05 pm`, `9 pm`.
fn time(it: &[Token<'_>], out: &mut Vec<NormalizedValue>) -> Option<usize> {
    let hour = digits(it.first(), 1..=2)?;
    let half = |at: usize| {
        let text = it.get(at)?.text;
        let dotted =
            is_sign(it.get(at + 1), &['.']) && it.get(at + 2)?.text.eq_ignore_ascii_case("m");
        match text {
            "am" | "AM" | "Am" => Some((0, at + 1)),
            "pm" | "PM" | "Pm" => Some((12, at + 1)),
            "a" if dotted => Some((0, at + 3)),
            "p" if dotted => Some((12, at + 3)),
            _ => None,
        }
    };
    let twelve = |hour: i16, plus: i16| hour % 12 + plus;
    if !is_sign(it.get(1), &[':']) || it[1].gap {
        let (plus, end) = half(1).filter(|_| (1..=12).contains(&hour))?;
        out.push(NormalizedValue::Time((twelve(hour, plus) * 60) as u16));
        return Some(end);
    }
    let minute = digits(it.get(2), 2..=2).filter(|it| *it < 60)?;
    if hour > 23 {
        return None;
    }
    let mut end = 3;
    if is_sign(it.get(3), &[':']) && digits(it.get(4), 2..=2).is_some() {
        end = 5;
    }
    let (hour, end) = match half(end) {
        Some((plus, end)) => (twelve(hour, plus), end),
        None => (hour, end),
    };
    out.push(NormalizedValue::Time((hour * 60 + minute) as u16));
    Some(end)
}

/// A number with whatever stands around it: sign, currency, percent sign, `k`.
fn number(all: &[Token<'_>], i: usize, out: &mut Vec<NormalizedValue>) -> Option<usize> {
    let it = &all[i..];
    if it[0].kind != Kind::Digits {
        return None;
    }
    let (values, taken) = value(it);
    let before = i.checked_sub(1).and_then(|at| all.get(at));
    let earlier = i.checked_sub(2).and_then(|at| all.get(at));
    // A part of a word, such as `mp3`.
    if !it[0].gap && before.is_some_and(|it| it.kind == Kind::Word && !is_currency(it.text)) {
        return Some(taken);
    }
    let minus = |it: Option<&Token<'_>>| is_sign(it, &['-', '\u{2212}']);
    let is_money_before = before.is_some_and(|it| is_currency(it.text));
    let negative = if is_money_before {
        minus(earlier)
    } else {
        minus(before)
            && !it[0].gap
            && earlier.is_none_or(|it| {
                all[i - 1].gap || matches!(it.kind, Kind::Sign(c) if c != ')' && c != ']')
            })
    };
    let after = it.get(taken);
    let is_percent = is_sign(after, &['%', '\u{ff05}']);
    let is_money = is_money_before || after.is_some_and(|it| is_currency(it.text));
    let unit = after.and_then(|it| parse_unit(it.text));
    for (amount, two_places) in values {
        let amount = if negative { -amount } else { amount };
        if is_percent {
            out.push(NormalizedValue::Percent(amount));
        } else if let Some((power, is_size)) = unit {
            let hundredths = (amount / (ONE / 100)) as i64;
            out.push(if is_size {
                NormalizedValue::Size(hundredths, power)
            } else {
                NormalizedValue::About(hundredths, power)
            });
        } else if is_money {
            out.push(NormalizedValue::Money(amount));
        } else {
            out.push(NormalizedValue::Number(amount));
            if two_places {
                out.push(NormalizedValue::Money(amount));
            }
        }
    }
    let belongs = is_percent || unit.is_some() || after.is_some_and(|it| is_currency(it.text));
    Some(taken + usize::from(belongs))
}

/// What digits and separators may mean, each with whether it has two decimal places, and the tokens they take.
fn value(it: &[Token<'_>]) -> (Vec<(i128, bool)>, usize) {
    let mut groups = vec![it[0].text];
    let mut signs: Vec<char> = Vec::new();
    let mut at = 1;
    while groups.len() < 8 {
        let next = it.get(at);
        let after = it.get(at + 1);
        if let (Some(Token { kind: Kind::Sign(c), gap: false, .. }), Some(part)) = (next, after)
            && matches!(c, '.' | ',' | '\'' | '\u{2019}')
            && part.kind == Kind::Digits
            && !part.gap
        {
            signs.push(*c);
            groups.push(part.text);
            at += 2;
        } else if let Some(part) = next
            && part.kind == Kind::Digits
            && part.gap
            && part.text.len() == 3
            && groups[0].len() <= 3
            && signs.iter().all(|it| *it == ' ')
            && !groups[0].starts_with('0')
        {
            signs.push(' ');
            groups.push(part.text);
            at += 1;
        } else {
            break;
        }
    }
    let amount = |whole: &[&str], part: &str| {
        let text = format!("{}{}{part}", whole.concat(), if part.is_empty() { "" } else { "." });
        Decimal::parse(&text).map(|it| (it.millionths, part.len() == 2))
    };
    let grouped = |groups: &[&str]| {
        (1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|it| it.len() == 3)
    };
    let mut out = Vec::new();
    match signs.as_slice() {
        [] => out.extend(amount(&groups, "")),
        [.., last] => {
            let (whole, part) = (&groups[..groups.len() - 1], groups[groups.len() - 1]);
            let alike = signs.iter().all(|it| it == last);
            if alike && grouped(&groups) {
                out.extend(amount(&groups, ""));
            }
            let is_decimal = matches!(last, '.' | ',')
                && signs[..signs.len() - 1].iter().all(|it| it != last && *it == signs[0])
                && (whole.len() == 1 || grouped(whole));
            if is_decimal {
                out.extend(amount(whole, part));
            }
        }
    }
    // `1.2.3` is a version, and `12 345` may be two numbers.
    if signs.contains(&' ') {
        out.extend(amount(&groups[..1], ""));
    }
    (out, at)
}

fn is_currency(text: &str) -> bool {
    const SIGNS: &[char] = &['£', '$', '€', '¥', '₹', '₽', '₩', '₺', '₴', '₫', '฿', '₪', '₦'];
    const CODES: &[&str] = &[
        "usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "aud", "cad", "nzd", "sek", "nok", "dkk",
        "pln", "czk", "huf", "ron", "brl", "mxn", "zar", "kr", "zł", "zl", "kč", "ft", "rs", "fr",
        "us", "r", "euro", "euros", "dollars",
    ];
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if SIGNS.contains(&c) => true,
        _ => text.len() <= 7 && CODES.iter().any(|it| text.eq_ignore_ascii_case(it)),
    }
}

/// How often a thousand, and whether of bytes.
fn parse_unit(text: &str) -> Option<(u8, bool)> {
    Some(match text {
        "k" | "K" | "tsd" => (1, false),
        "m" | "M" | "mio" | "Mio" | "mil" => (2, false),
        "B" | "bn" | "Bn" => (3, false),
        "kB" | "KB" | "KiB" | "kb" | "Kb" => (1, true),
        "MB" | "MiB" | "mb" | "Mb" => (2, true),
        "GB" | "GiB" | "gb" | "Gb" => (3, true),
        "TB" | "TiB" => (4, true),
        _ => return None,
    })
}
