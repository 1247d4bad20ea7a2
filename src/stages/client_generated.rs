//! Values that a page makes up for each request: a random number, the time, a request's id, a counter. They differ between two
//! recordings although nobody typed them, and say nothing of an earlier call.

use super::template_match::literal_of;
use commis_recipe::trackers::is_random_fraction;

/// Names of counters, lower case.
const COUNTERS: &[&str] = &[
    "draw",
    "seq",
    "sequence",
    "counter",
    "echo",
    "secho",
    "rid",
    "reqid",
    "req_id",
    "requestid",
    "request_id",
    "requestnumber",
    "callcount",
    "_n",
    "nth",
];

/// Whether both texts of a part named `part` (templates) are such values of one kind. Proof that the old value works is for
/// verify.
pub fn is_client_generated(part: &str, a: &str, b: &str) -> bool {
    let (Some(a), Some(b)) = (literal_of(a), literal_of(b)) else { return false };
    let name = part.split('`').nth(1).unwrap_or_default();
    let name = name.rsplit(['/', '.']).next().unwrap_or_default().to_ascii_lowercase();
    let is_count = |it: &str| (1..=6).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit());
    kind(&a).is_some_and(|it| kind(&b) == Some(it))
        || (COUNTERS.contains(&name.as_str()) && is_count(&a) && is_count(&b))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Uuid,
    Fraction,
    Seconds,
    Millis,
    Micros,
}

fn kind(text: &str) -> Option<Kind> {
    if is_uuid(text) {
        return Some(Kind::Uuid);
    }
    if is_random_fraction(text) {
        return Some(Kind::Fraction);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |it: &str| it.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let n: u64 = whole.parse().ok()?;
    match n {
        // 2008 to 2100.
        1_200_000_000..4_102_444_800 => Some(Kind::Seconds),
        1_200_000_000_000..4_102_444_800_000 => Some(Kind::Millis),
        1_200_000_000_000_000..4_102_444_800_000_000 => Some(Kind::Micros),
        _ => None,
    }
}

pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_page_makes() {
        for (part, a, b, expected) in [
            ("query `r`", "0.3712345678", "0.9912345678", true),
            ("query `time`", "1795380843.3", "1795380911.12", true),
            ("query `_`", "1763762345123", "1763762399123", true),
            (
                "query `id`",
                "0b2f3e0a-8a55-4f6e-9f0d-1f2e3d4c5b6a",
                "1c2f3e0a-8a55-4f6e-9f0d-1f2e3d4c5b6a",
                true,
            ),
            ("query `draw`", "1", "3", true),
            ("body `/meta/request_id`", "1", "3", true),
            ("query `place`", "17", "18", false),
            ("query `price`", "0.5", "0.7", false),
            ("query `t`", "1763762345123", "0.9912345678", false),
            ("query `t`", "{q}", "1763762345123", false),
        ] {
            assert_eq!(is_client_generated(part, a, b), expected, "{part} {a} {b}");
        }
    }
}
