//! Values of the moment: times, nonces, tokens and random numbers that are another each time a page asks.
//!
//! No name tells them. Both values have to look as if a program made them, in the same way; the recorded one is nowhere on the page any
//! more, in no address and not part of the element, because what still stands there names something that can be asked for again.

use std::collections::BTreeSet;

use commis_recipe::trackers::is_random_fraction;

/// A clock of a page may be wrong by so much.
const DAY_MS: i64 = 86_400_000;
/// Characters of a token.
const SHORTEST: usize = 8;
/// Digits of a random number; shorter ones are numbers of articles, people, telephones.
const DIGITS: usize = 16;

/// What is known of the page that asks, and of the act.
#[derive(Clone, Debug, Default)]
pub struct VolatileContext {
    /// Recorded values that still stand on the page.
    pub standing: BTreeSet<String>,
    /// Values that the page carries unseen, one to a name: hidden fields and what its head says.
    pub tokens: BTreeSet<String>,
    /// Address and attributes of what was recorded.
    pub identity: String,
    /// The element is the recorded one beyond doubt.
    pub is_sure: bool,
    /// Milliseconds since 1970.
    pub now_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Milliseconds since 1970.
    Time(i64),
    Fraction,
    Uuid,
    Hex,
    Number,
    Token,
}

impl VolatileContext {
    /// Whether one may stand for the other in a request. `changes`: it may change something where it goes.
    pub fn allows(&self, was: &str, is: &str, changes: bool) -> bool {
        let kind = match (kind(was), kind(is)) {
            (Some(Kind::Time(was)), Some(Kind::Time(is))) => {
                // The page says what time it is, and not a time that somebody chose.
                was <= is + DAY_MS && (is - self.now_ms).abs() <= DAY_MS
            }
            (Some(was), Some(is)) => was == is,
            _ => false,
        };
        let is_named = self.standing.contains(was) || self.identity.contains(was);
        kind && alike_in_length(was, is) && !is_named && self.is_free(is, changes)
    }

    /// Whether a program made it, and it may be any such value there.
    pub fn is_free(&self, is: &str, changes: bool) -> bool {
        is_generated(is) && (!changes || self.is_sure || self.tokens.contains(is))
    }
}

/// Whether a program made it, as far as one value tells.
pub fn is_generated(value: &str) -> bool {
    kind(value).is_some()
}

fn alike_in_length(a: &str, b: &str) -> bool {
    a.len().abs_diff(b.len()) <= 2.max(a.len() / 4)
}

fn kind(value: &str) -> Option<Kind> {
    if value.bytes().all(|it| it.is_ascii_digit()) && !value.is_empty() {
        return match (value.len(), value.parse::<i64>()) {
            (10, Ok(it)) if is_recent(it * 1000) => Some(Kind::Time(it * 1000)),
            (13, Ok(it)) if is_recent(it) => Some(Kind::Time(it)),
            (16, Ok(it)) if is_recent(it / 1000) => Some(Kind::Time(it / 1000)),
            (DIGITS.., _) => Some(Kind::Number),
            _ => None,
        };
    }
    if let Ok(it) = value.parse::<jiff::Timestamp>() {
        return Some(Kind::Time(it.as_millisecond()));
    }
    if let Some((whole, fraction)) = value.split_once('.')
        && whole.bytes().all(|it| it.is_ascii_digit())
        && is_random_fraction(&format!("0.{fraction}"))
    {
        return Some(Kind::Fraction);
    }
    let part = value.split(|it: char| !it.is_ascii_alphanumeric()).max_by_key(|it| it.len())?;
    if !value.is_ascii() || value.contains(char::is_whitespace) {
        return None;
    }
    let lengths: Vec<usize> = value.split('-').map(str::len).collect();
    let is_hex = |it: &str| it.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    if lengths == [8, 4, 4, 4, 12] && is_hex(value) {
        return Some(Kind::Uuid);
    }
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.len() - digits;
    let turns = part.as_bytes().windows(2);
    let turns = turns.filter(|it| it[0].is_ascii_digit() != it[1].is_ascii_digit()).count();
    if part.len() < SHORTEST || digits < 2 || letters < 2 || turns < 2 {
        return None;
    }
    let one = value.bytes().all(|it| it.is_ascii_hexdigit());
    Some(if one { Kind::Hex } else { Kind::Token })
}

/// Of the years in which there are recordings.
fn is_recent(ms: i64) -> bool {
    const FIRST: i64 = 1_577_836_800_000; // 2020
    const LAST: i64 = 2_840_140_800_000; // 2060
    (FIRST..LAST).contains(&ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_780_000_000_000;

    #[test]
    fn what_a_program_made_is_told_from_what_a_person_chose() {
        for it in [
            "1779999999999",
            "1779999999",
            "0.8273645123",
            "2026-05-28T10:11:12Z",
            "3f2a9c1e-7b5d-4e8f-9a0b-1c2d3e4f5a6b",
            "9f86d081884c7d65",
            "k3j9x2qw1",
            "csrf_a8B3kQ92LmZ",
            "12345678901234567890",
        ] {
            assert!(is_generated(it), "{it}");
        }
        for it in [
            "",
            "17",
            "lantern",
            "Rust in Action 2",
            "2025-07-04",
            "4006381333931",
            "iphone-15-pro-max-256gb",
            "galaxy-s24-ultra-512gb",
            "AddToCartMutation",
            "52.520008",
            "+49 30 901820",
            "0.5",
            "page2-section3",
            "ann@example.test",
        ] {
            assert!(!is_generated(it), "{it}");
        }
    }

    #[test]
    fn it_may_be_another_where_nothing_on_the_page_is_called_so() {
        let page = VolatileContext { now_ms: NOW, ..VolatileContext::default() };
        let (a, b) = ("a8B3kQ92LmZ4", "Zq7Rt51xWv8k");
        assert!(page.allows(a, b, false));
        // What changes something needs the element itself, or the page's own token.
        assert!(!page.allows(a, b, true));
        assert!(VolatileContext { is_sure: true, ..page.clone() }.allows(a, b, true));
        assert!(
            VolatileContext { tokens: [b.to_owned()].into(), ..page.clone() }.allows(a, b, true)
        );
        // It still names something there.
        let standing =
            VolatileContext { standing: [a.to_owned()].into(), is_sure: true, ..page.clone() };
        assert!(!standing.allows(a, b, false));
        let identity =
            VolatileContext { identity: format!("http://a.test/items/{a}"), ..page.clone() };
        assert!(!identity.allows(a, b, false));
        // Another kind, another length, a time that is not now.
        assert!(!page.allows(a, "1780000000000", false));
        assert!(!page.allows(a, "Zq7Rt51xWv8kZq7Rt51xWv8k", false));
        assert!(page.allows("1770000000000", "1780000000123", false));
        assert!(!page.allows("1770000000000", "1690000000000", false));
        assert!(!page.allows("17", "20", false));
    }
}
