//! What words announce and its form tells: keys of authenticators, lists of codes for when a device is lost, words of a wallet.

use super::{
    dates::is_calendar_date,
    lexicon::{Sense, WordHit},
    message_spans::{AsciiRun, MessageSecret, NEAR, touches},
    randomness::{bits, erratic, natural},
    step_counter,
};

/// How far a list of codes goes on after it was announced.
const LIST: usize = 2400;

/// Keys of authenticators near words about them.
pub fn seeds(text: &str, runs: &[AsciiRun], hits: &[WordHit], out: &mut Vec<MessageSecret>) {
    let near = |from: usize, to: usize| {
        let hit =
            |it: &&WordHit| it.sense == Sense::Seed && it.to + NEAR >= from && it.from <= to + NEAR;
        hits.iter().find(hit).is_some()
    };
    for it in runs.iter().filter(|it| it.is_base32(text)) {
        let value = it.text(text);
        let fits = it.digits > 0 || value.len() >= 26 && !natural(value);
        if fits && bits(value) > 2.5 && !touches(text, it.from, it.to) && near(it.from, it.to) {
            out.push(MessageSecret { from: it.from, to: it.to, name: "seed" });
        }
    }
    // In groups of four or eight, as they are read out.
    let is_group = |it: &str, len: usize| {
        it.len() == len
            && it.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'2'..=b'7'))
            && !(it.bytes().any(|b| b.is_ascii_lowercase())
                && it.bytes().any(|b| b.is_ascii_uppercase()))
    };
    let words: Vec<&str> = text.split([' ', '\n', '\t', '\u{a0}', '-']).collect();
    let place = |it: &str| it.as_ptr() as usize - text.as_ptr() as usize;
    for (size, counts) in [(4, &[32, 26, 16, 13, 10, 8, 6, 5, 4][..]), (8, &[8, 4, 3, 2][..])] {
        let mut i = 0;
        while i < words.len() {
            step_counter::record_bytes(1);
            let mut end = i;
            while end < words.len() && is_group(trimmed(words[end]), size) && end - i < 32 {
                end += 1;
            }
            // A word may follow that looks like one more: keys have lengths of their own.
            let fits = counts.iter().copied().find(|it| *it <= end - i);
            if let Some(count) = fits {
                let end = i + count;
                let first = trimmed(words[i]);
                let last = trimmed(words[end - 1]);
                let (from, to) = (place(first), place(last) + last.len());
                let digits = text[from..to].bytes().filter(u8::is_ascii_digit).count();
                if digits >= 2 && near(from, to) {
                    out.push(MessageSecret { from, to, name: "seed" });
                }
            }
            i = end.max(i + 1);
        }
    }
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_ascii_alphanumeric())
}

/// Codes of one form, one after the other, once they were announced.
pub fn lists(text: &str, hits: &[WordHit], out: &mut Vec<MessageSecret>) {
    let mut done = 0;
    for hit in hits.iter().filter(|it| it.sense == Sense::Recovery) {
        if hit.to < done {
            continue;
        }
        let mut end = (hit.to + LIST).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        done = end;
        let window = &text[hit.to..end];
        step_counter::record_bytes(window.len());
        let by_line =
            entries(window, |c| matches!(c, '\n' | ',' | ';' | '•' | '·' | '|' | '"' | '\t'));
        let by_word = entries(window, char::is_whitespace);
        let place = |it: &str| it.as_ptr() as usize - text.as_ptr() as usize;
        for it in if by_line.len() >= by_word.len() { by_line } else { by_word } {
            let from = place(it);
            out.push(MessageSecret { from, to: from + it.len(), name: "recovery-code" });
        }
    }
}

/// The first row of at least two entries of one form; what is no code may stand before it.
fn entries(window: &str, splits: impl Fn(char) -> bool) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    let mut gap = 0;
    for entry in window.split(splits) {
        let entry = entry.trim();
        // `1.`, `2)`, bullets.
        let bare = entry.trim_start_matches(['-', '*', '–', '☐', '✓', ' ', '.', ':']);
        let bare = match bare.split_once(['.', ')']) {
            Some((number, rest))
                if number.len() <= 2 && number.bytes().all(|b| b.is_ascii_digit()) =>
            {
                rest.trim()
            }
            _ => bare,
        };
        let bare = bare.trim_end_matches(['.', ')', ']', ' ']).trim_start_matches(['(', '[']);
        if bare.is_empty() {
            continue;
        }
        let code = is_recovery_code(bare);
        match out.first() {
            Some(first) if code && form(first) == form(bare) => {
                out.push(bare);
                gap = 0;
            }
            Some(_) if out.len() >= 2 => {
                gap += 1;
                if gap > 3 {
                    break;
                }
            }
            _ => out = if code { vec![bare] } else { Vec::new() },
        }
    }
    if out.len() >= 2 || out.first().is_some_and(|it| it.len() >= 16) { out } else { Vec::new() }
}

/// As services print them: letters and digits in groups, 6 to 64 of them.
pub fn is_recovery_code(text: &str) -> bool {
    let chars = text.bytes().filter(u8::is_ascii_alphanumeric).count();
    let plain =
        text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b' ' | b'_' | b'.'));
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let spaces = text.bytes().filter(|b| *b == b' ').count();
    plain
        && (6..=64).contains(&chars)
        && (digits > 0 || chars >= 8 && !natural(text))
        && (spaces == 0
            || text.split(' ').all(|it| {
                it.len() >= 3
                    && (digits == chars
                        || digits > 0 && !natural(it)
                        || erratic(it)
                        || it.bytes().any(|b| b.is_ascii_digit()))
            }))
        && !natural(text)
        && !is_calendar_date(text)
}

/// Length, where its separators are, and whether there is anything but digits between them.
fn form(text: &str) -> (usize, Vec<usize>, bool) {
    let signs = text.bytes().enumerate().filter(|it| !it.1.is_ascii_alphanumeric());
    let mixed = text.bytes().any(|b| b.is_ascii_alphabetic());
    (text.len(), signs.map(|it| it.0).collect(), mixed)
}

/// Twelve to 24 words of a wallet.
pub fn phrases(text: &str, hits: &[WordHit], out: &mut Vec<MessageSecret>) {
    for hit in hits.iter().filter(|it| it.sense == Sense::Phrase) {
        let mut end = (hit.to + 600).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let window = &text[hit.to..end];
        let place = |it: &str| it.as_ptr() as usize - text.as_ptr() as usize;
        let words =
            window.split(|c: char| c.is_whitespace() || c == ',').filter(|it| !it.is_empty());
        // Numbers may stand before them.
        let numbered =
            |it: &str| it.trim_end_matches(['.', ')']).bytes().all(|b| b.is_ascii_digit());
        let is_word =
            |it: &str| (3..=8).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_lowercase());
        let mut row: Vec<&str> = Vec::new();
        for it in words {
            let it = it.trim_matches(['"', '\'', '.', ':', '}', ']', '\\']);
            if is_word(it) {
                row.push(it);
            } else if !numbered(it) || it.is_empty() {
                if row.len() >= 12 {
                    break;
                }
                row.clear();
            }
        }
        if matches!(row.len(), 12 | 15 | 18 | 21 | 24) {
            let last = row[row.len() - 1];
            out.push(MessageSecret {
                from: place(row[0]),
                to: place(last) + last.len(),
                name: "phrase",
            });
        }
    }
}
