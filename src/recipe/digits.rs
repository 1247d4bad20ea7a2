//! Numbers of JSON with every digit that was sent.
//!
//! `serde_json` reads a number as 64 bits. An integer above 2^64 and a decimal of more than 17 digits lose digits then, without
//! a word; an integer above 2^53 loses them in what reads our output (RFC 8259, section 6). Such a number becomes a string of the
//! same digits before anything reads it, in recordings and in runs alike.

use std::borrow::Cow;

/// The largest integer up to which a double holds all.
const MAX_INTEGER: u64 = 1 << 53;
/// So many significant digits a double always holds.
const SAFE_DIGITS: usize = 15;

/// A text of JSON in which numbers that would lose digits stand in quotes. What is not JSON stays as it is.
pub fn quote_long_numbers(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if !has_long_number(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let (mut copied, mut at, mut in_string) = (0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'0'..=b'9' | b'-' if !in_string => {
                let len = bytes[at..].iter().take_while(|it| is_number_byte(**it)).count();
                let token = &text[at..at + len];
                if len > SAFE_DIGITS && loses_digits(token) {
                    out.push_str(&text[copied..at]);
                    out.push('"');
                    out.push_str(token);
                    out.push('"');
                    copied = at + len;
                }
                at += len - 1;
            }
            _ => {}
        }
        at += 1;
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Whether a number that would lose digits stands anywhere, be it inside a string.
///
/// A number of more than [`SAFE_DIGITS`] characters covers one of the bytes that are so far apart, so only these are read: of most
/// answers a sixteenth.
fn has_long_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = SAFE_DIGITS;
    while at < bytes.len() {
        if is_number_byte(bytes[at]) {
            let before = bytes[..at].iter().rev().take_while(|it| is_number_byte(**it)).count();
            let after = bytes[at..].iter().take_while(|it| is_number_byte(**it)).count();
            if before + after > SAFE_DIGITS && loses_digits(&text[at - before..at + after]) {
                return true;
            }
            at += after;
        }
        at += SAFE_DIGITS + 1;
    }
    false
}

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Whether the number, of more than [`SAFE_DIGITS`] characters, is another one after it was read.
fn loses_digits(token: &str) -> bool {
    let Ok(number) = token.parse::<f64>() else { return false };
    if !token.contains(['.', 'e', 'E']) {
        let digits = token.trim_start_matches('-');
        return digits.parse::<u64>().map_or(true, |it| it > MAX_INTEGER);
    }
    let Some(sent) = parse_decimal(token) else { return false };
    // As short as may be, or with the 17 digits that many programs write of each double.
    let same = |text: String| parse_decimal(&text).as_ref() == Some(&sent);
    number.is_finite() && !same(format!("{number:e}")) && !same(format!("{number:.16e}"))
}

/// Significant digits and the exponent of the first of them.
fn parse_decimal(token: &str) -> Option<(String, i64)> {
    let token = token.trim_start_matches('-');
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let significant = digits.trim_matches('0').to_owned();
    if significant.is_empty() {
        return Some((significant, 0));
    }
    Some((significant, exponent + whole.len() as i64 - leading as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers() {
        for (text, want) in [
            ("[9007199254740992]", "[9007199254740992]"),
            ("[9007199254740993]", "[\"9007199254740993\"]"),
            ("{\"id\":-1418166648477179904,\"n\":1}", "{\"id\":\"-1418166648477179904\",\"n\":1}"),
            ("[18446744073709551617 , 2]", "[\"18446744073709551617\" , 2]"),
            ("[2936.23380448434092597]", "[\"2936.23380448434092597\"]"),
            // What a double holds stays a number, however it is written.
            (
                "[0.1000000000000000, 1.0000000000000000e0, 12345678901234.5]",
                "[0.1000000000000000, 1.0000000000000000e0, 12345678901234.5]",
            ),
            ("[52.379188999999997, 4.899431000000000]", "[52.379188999999997, 4.899431000000000]"),
            ("[0.30000000000000004]", "[0.30000000000000004]"),
            (
                "[\"18446744073709551617\", \"a\\\" 18446744073709551617\"]",
                "[\"18446744073709551617\", \"a\\\" 18446744073709551617\"]",
            ),
            ("[1.7976931348623157e308, 5e-324]", "[1.7976931348623157e308, 5e-324]"),
        ] {
            assert_eq!(quote_long_numbers(text), want);
        }
    }

    #[test]
    fn long_numbers_anywhere() {
        for before in 0..40 {
            for text in ["9007199254740993", "-1418166648477179904", "2936.23380448434092597"] {
                let others = "1,".repeat(before / 2) + &" ".repeat(before % 2);
                let sent = format!("[{others}{text},1]");
                assert_eq!(quote_long_numbers(&sent), format!("[{others}\"{text}\",1]"));
            }
        }
    }
}
