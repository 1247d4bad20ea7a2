//! Amounts of money in a text, as people of several countries write them; in doubt the larger reading.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of one text. Where there are more, the largest.
const MOST: usize = 32;
/// Bytes of a text that are read.
const TEXT: usize = 256 * 1024;

/// An amount, whatever stood before or after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// Of ISO 4217; the sign itself where several countries have it (`$`, `¥`, `kr`, `Rs`).
    pub currency: String,
    /// Hundredths, rounded up.
    pub hundredths: u64,
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, part) = (self.hundredths / 100, self.hundredths % 100);
        match part {
            0 => write!(f, "{whole} {}", self.currency),
            _ => write!(f, "{whole}.{part:02} {}", self.currency),
        }
    }
}

/// Signs, the longer ones first.
const SIGNS: &[(&str, &str)] = &[
    ("US$", "USD"),
    ("AU$", "AUD"),
    ("CA$", "CAD"),
    ("NZ$", "NZD"),
    ("HK$", "HKD"),
    ("NT$", "TWD"),
    ("MX$", "MXN"),
    ("R$", "BRL"),
    ("A$", "AUD"),
    ("C$", "CAD"),
    ("S$", "SGD"),
    ("$", "$"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("₹", "INR"),
    ("¥", "¥"),
    ("￥", "¥"),
    ("元", "CNY"),
    ("円", "JPY"),
    ("₩", "KRW"),
    ("원", "KRW"),
    ("₽", "RUB"),
    ("₺", "TRY"),
    ("₴", "UAH"),
    ("₫", "VND"),
    ("₪", "ILS"),
    ("฿", "THB"),
    ("₱", "PHP"),
    ("₦", "NGN"),
    ("₿", "BTC"),
];

/// Words, in small letters. Codes are words, too.
const WORDS: &[(&str, &str)] = &[
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("dollar", "$"),
    ("dollars", "$"),
    ("bucks", "$"),
    ("pounds", "GBP"),
    ("quid", "GBP"),
    ("rupees", "INR"),
    ("yen", "JPY"),
    ("yuan", "CNY"),
    ("rmb", "CNY"),
    ("kr", "kr"),
    ("rs", "Rs"),
    ("zł", "PLN"),
    ("kč", "CZK"),
    ("ft", "HUF"),
    ("fr", "CHF"),
    ("sfr", "CHF"),
    ("руб", "RUB"),
    ("лв", "BGN"),
    ("lei", "RON"),
];

const CODES: &[&str] = &[
    "USD", "EUR", "GBP", "INR", "JPY", "CNY", "CHF", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK",
    "ISK", "PLN", "CZK", "HUF", "RON", "BGN", "TRY", "RUB", "UAH", "BRL", "MXN", "ARS", "CLP",
    "COP", "PEN", "ZAR", "NGN", "KES", "EGP", "MAD", "AED", "SAR", "QAR", "KWD", "ILS", "THB",
    "VND", "IDR", "MYR", "SGD", "HKD", "TWD", "KRW", "PHP", "PKR", "BDT", "LKR", "KZT", "BTC",
    "ETH", "USDT", "USDC",
];

/// What makes an amount larger. `m` is left out: it is a metre as often.
const SCALES: &[(&str, u64)] = &[
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("mn", 1_000_000),
    ("mio", 1_000_000),
    ("Mio", 1_000_000),
    ("million", 1_000_000),
    ("millions", 1_000_000),
    ("millionen", 1_000_000),
    ("Millionen", 1_000_000),
    ("B", 1_000_000_000),
    ("bn", 1_000_000_000),
    ("billion", 1_000_000_000),
    ("thousand", 1_000),
    ("Tsd", 1_000),
    ("lakh", 100_000),
    ("lakhs", 100_000),
    ("crore", 10_000_000),
    ("crores", 10_000_000),
];

/// Every amount with a currency beside it, in order, each once.
pub fn amounts(text: &str) -> Vec<Amount> {
    let text: Vec<char> = text.chars().take(TEXT).map(digit).collect();
    let mut out: Vec<Amount> = Vec::new();
    let mut at = 0;
    // Of the amount before, and where it ended.
    let mut range: Option<(String, usize)> = None;
    while at < text.len() {
        if !text[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let (end, mut hundredths) = number(&text, at);
        let scaled = scale(&text, end);
        if let Some((_, times)) = scaled {
            hundredths = hundredths.saturating_mul(times);
        }
        let until = scaled.map_or(end, |it| it.0);
        let after = after(&text, until);
        let to = range.take().filter(|it| spans(&text[it.1..at])).map(|it| it.0);
        let before = before(&text, at).filter(|it| it != "$").or_else(|| {
            let sign = before(&text, at)?;
            // `$12 CAD`: the code says more than the sign.
            after.clone().filter(|it| it.len() == 3).or(Some(sign))
        });
        if let Some(currency) = before.or_else(|| after.clone()).or(to) {
            range = Some((currency.clone(), until));
            let it = Amount { currency, hundredths };
            if !out.contains(&it) {
                out.push(it);
            }
        }
        at = end;
    }
    if out.len() > MOST {
        let mut largest: Vec<usize> = (0..out.len()).collect();
        largest.sort_by_key(|it| std::cmp::Reverse(out[*it].hundredths));
        largest.truncate(MOST);
        largest.sort_unstable();
        out = largest.into_iter().map(|it| out[it].clone()).collect();
    }
    out
}

/// Digits of other scripts as ours.
fn digit(it: char) -> char {
    let zero = match it {
        '\u{660}'..='\u{669}' => 0x660,
        '\u{6f0}'..='\u{6f9}' => 0x6f0,
        '\u{966}'..='\u{96f}' => 0x966,
        '\u{ff10}'..='\u{ff19}' => 0xff10,
        _ => return it,
    };
    char::from_digit(u32::from(it) - zero, 10).unwrap_or(it)
}

fn is_blank(it: char) -> bool {
    matches!(it, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{2007}')
}

/// Where the number ends that begins there, and its hundredths.
fn number(text: &[char], from: usize) -> (usize, u64) {
    // Groups of digits, each with what stands before it.
    let mut groups: Vec<(char, String)> = vec![(' ', String::new())];
    let mut at = from;
    while let Some(&it) = text.get(at) {
        if it.is_ascii_digit() {
            if let Some(last) = groups.last_mut() {
                last.1.push(it);
            }
            at += 1;
            continue;
        }
        let next = text[at + 1..].iter().take_while(|it| it.is_ascii_digit()).count();
        let here = groups.last().map_or(0, |it| it.1.len());
        // A blank, and what people put up high, is only ever between thousands.
        let goes_on = match it {
            '.' | ',' => next > 0,
            '\'' | '’' | '٬' => next == 3,
            _ if is_blank(it) => next == 3 && here <= 3 && groups[0].1.len() <= 3,
            _ => false,
        };
        if !goes_on {
            break;
        }
        groups.push((if is_blank(it) { ' ' } else { it }, String::new()));
        at += 1;
    }
    (at, value(&groups))
}

fn value(groups: &[(char, String)]) -> u64 {
    let marks: Vec<char> = groups[1..].iter().map(|it| it.0).collect();
    let part = match marks.as_slice() {
        [.., last] if matches!(last, '.' | ',') => {
            let often = marks.iter().filter(|it| *it == last).count();
            let others = marks.iter().any(|it| it != last);
            let digits = groups[groups.len() - 1].1.len();
            // One mark before three digits: thousands, as that is more.
            let thousands = digits == 3 && groups[0].1.len() <= 3 && groups[0].1 != "0";
            often == 1 && (others || !thousands)
        }
        _ => false,
    };
    let (whole, rest) = groups.split_at(groups.len() - usize::from(part));
    let whole: String = whole.iter().map(|it| it.1.as_str()).collect();
    let rest = rest.first().map_or("", |it| it.1.as_str());
    let mut hundredths = 0_u64;
    let padded = rest.chars().chain("00".chars()).take(2);
    for it in whole.chars().chain(padded) {
        let it = u64::from(it.to_digit(10).unwrap_or(0));
        hundredths = hundredths.saturating_mul(10).saturating_add(it);
    }
    let more = rest.chars().skip(2).any(|it| it != '0');
    hundredths.saturating_add(u64::from(more))
}

/// Where a word ends that makes it larger, and how often.
fn scale(text: &[char], from: usize) -> Option<(usize, u64)> {
    let start = from + usize::from(text.get(from).is_some_and(|it| is_blank(*it)));
    let word: String = text[start..].iter().take(12).take_while(|it| it.is_alphabetic()).collect();
    let (_, times) = SCALES.iter().find(|it| it.0 == word)?;
    Some((start + word.chars().count(), *times))
}

/// The currency that stands before a number.
fn before(text: &[char], at: usize) -> Option<String> {
    let mut end = at;
    while end > 0 && at - end < 2 && (is_blank(text[end - 1]) || text[end - 1] == '.') {
        end -= 1;
    }
    let from = end.saturating_sub(8);
    let head: String = text[from..end].iter().collect();
    let sign = SIGNS.iter().find(|it| head.ends_with(it.0)).map(|it| it.1.to_owned());
    // `USD $12`.
    if sign.as_deref() == Some("$") {
        let ahead = head.trim_end_matches('$').trim_end();
        return word_at_end(ahead).or(sign);
    }
    sign.or_else(|| word_at_end(&head))
}

fn word_at_end(text: &str) -> Option<String> {
    let start = text.char_indices().rev().take_while(|it| it.1.is_alphabetic()).last()?.0;
    currency(&text[start..])
}

/// The currency that stands after a number.
fn after(text: &[char], from: usize) -> Option<String> {
    let mut start = from;
    // `12,- €`, `12.– €`.
    if matches!(text.get(start), Some(',' | '.'))
        && matches!(text.get(start + 1), Some('-' | '–' | '—'))
    {
        start += 2;
    }
    while start - from < 4 && text.get(start).is_some_and(|it| is_blank(*it)) {
        start += 1;
    }
    let tail: String = text[start..].iter().take(10).collect();
    if let Some(it) = SIGNS.iter().find(|it| tail.starts_with(it.0)) {
        // `2 $5 vouchers`: it is the next number's.
        let next = tail[it.0.len()..].chars().next();
        return (!next.is_some_and(|it| it.is_ascii_digit())).then(|| it.1.to_owned());
    }
    let end = tail.find(|it: char| !it.is_alphabetic()).unwrap_or(tail.len());
    currency(&tail[..end])
}

fn currency(word: &str) -> Option<String> {
    if CODES.contains(&word) {
        return Some(word.to_owned());
    }
    let lower = word.to_lowercase();
    let code = CODES.iter().find(|it| it.eq_ignore_ascii_case(word) && lower != "try");
    let word = WORDS.iter().find(|it| it.0 == lower).map(|it| it.1.to_owned());
    word.or_else(|| code.map(|it| (*it).to_owned()))
}

/// From one amount to another: `€10–20`.
fn spans(between: &[char]) -> bool {
    let text: String = between.iter().collect();
    matches!(text.trim(), "-" | "–" | "—" | "to" | "bis" | "à" | "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        amounts(text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn amounts_as_people_write_them() {
        for (text, expected) in [
            ("$12", "12 $"),
            ("$ 11.90", "11.90 $"),
            ("$1,234.56", "1234.56 $"),
            ("US$1,234", "1234 USD"),
            ("A$5.5", "5.50 AUD"),
            ("$12 CAD", "12 CAD"),
            ("USD $12", "12 USD"),
            ("USD 12.30", "12.30 USD"),
            ("12.30 USD", "12.30 USD"),
            ("12 usd", "12 USD"),
            ("1.234,56 €", "1234.56 EUR"),
            ("1 234,56 €", "1234.56 EUR"),
            ("1\u{202f}234,56\u{a0}€", "1234.56 EUR"),
            ("€12,-", "12 EUR"),
            ("12,- €", "12 EUR"),
            ("€ 0,99", "0.99 EUR"),
            ("EUR 1.234.567,89", "1234567.89 EUR"),
            ("CHF 1'234.50", "1234.50 CHF"),
            ("Fr. 12.50", "12.50 CHF"),
            ("₹34,944", "34944 INR"),
            ("₹1,23,456.00", "123456 INR"),
            ("Rs. 500", "500 Rs"),
            ("£1,234", "1234 GBP"),
            ("¥1,000", "1000 ¥"),
            ("1,000円", "1000 JPY"),
            ("R$ 10,50", "10.50 BRL"),
            ("199 kr", "199 kr"),
            ("49,90 zł", "49.90 PLN"),
            ("1 299 Kč", "1299 CZK"),
            ("1500 руб.", "1500 RUB"),
            ("five or 20 euros", "20 EUR"),
            ("٢٥٠ SAR", "250 SAR"),
            ("￥１２３", "123 ¥"),
            ("$1.5M", "1500000 $"),
            ("$1.5 million", "1500000 $"),
            ("€10k", "10000 EUR"),
            ("₹2 lakh", "200000 INR"),
            // In doubt the larger: thousands, and what is cut off counts.
            ("1.234 €", "1234 EUR"),
            ("$1,234", "1234 $"),
            ("$0.125", "0.13 $"),
            ("$0.001", "0.01 $"),
            ("$1234.567", "1234.57 $"),
            ("$1,234.5678", "1234.57 $"),
        ] {
            assert_eq!(told(text), [expected], "{text}");
        }
        let most = told("$99999999999999999999999999");
        assert_eq!(most, ["184467440737095516.15 $"]);
    }

    #[test]
    fn several_and_none() {
        for (text, expected) in [
            ("€10–20", &["10 EUR", "20 EUR"][..]),
            ("from $5 to $7", &["5 $", "7 $"]),
            ("$5 to 7", &["5 $", "7 $"]),
            ("2 $5 vouchers", &["5 $"]),
            ("Total: $ 12.50 (incl. 2,00 € fee)", &["12.50 $", "2 EUR"]),
            ("$5, $5 and $5", &["5 $"]),
            ("24 x 1kg, ₹34,944", &["34944 INR"]),
            ("17 items", &[]),
            ("2024-03-28, room 5", &[]),
            ("5 k", &[]),
            ("12 try again", &[]),
            ("frame 5", &[]),
            ("", &[]),
            ("$", &[]),
            ("100 m", &[]),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn many_small_ones_hide_no_large_one() {
        let mut text = (1..500).map(|it| format!("${it}.01 ")).collect::<Vec<_>>().concat();
        text.push_str("and $9,000 in the end");
        let all = amounts(&text);
        assert_eq!(all.len(), MOST);
        assert!(all.iter().any(|it| it.hundredths == 900_000));
    }
}
