//! What stands right behind a word for a credential, without a sign between, and looks like what a program makes up:
//! `shop token 9f0c…`, `Your API key is 4f2a…`.

use super::{
    class::{KeyClass, Place},
    identifiers,
    keys::classify,
    message_spans::{AsciiRun, MessageSecret},
    randomness::{bits, is_hex, is_host, is_scattered, is_timestamp, is_uuid, natural, random},
    stand_in::is_stand_in,
    step_counter,
};

/// Bytes of a run: shorter ones are numbers of things.
const LEAST: usize = 16;
const MOST: usize = 512;
/// Bytes between a word and the run.
const GAP: usize = 24;

/// Runs behind a word for a credential, from left to right, not overlapping.
pub fn find(text: &str, runs: &[AsciiRun], out: &mut Vec<MessageSecret>) {
    let mut done = 0;
    for run in runs.iter().filter(|it| it.digits > 0 && it.upper + it.lower > 0) {
        if run.from < done {
            continue;
        }
        let (from, to) = whole(text, run);
        done = to;
        let value = &text[from..to];
        if !(LEAST..=MOST).contains(&value.len()) {
            continue;
        }
        // What is called is part of a program.
        if text[to..].starts_with('(') {
            continue;
        }
        step_counter::record_bytes(value.len() + GAP);
        let shape = shape(value);
        if shape > Shape::Other && names_credential(&text[..from], value, shape) {
            out.push(MessageSecret { from, to, name: "token" });
        } else if let Some(part) = after_own_name(value) {
            out.push(MessageSecret { from: to - part.len(), to, name: "token" });
        }
    }
}

/// The run with the signs that credentials hold, which begin and end none.
fn whole(text: &str, run: &AsciiRun) -> (usize, usize) {
    let holds = |b: &u8| b.is_ascii_alphanumeric() || b"-_.~+/=".contains(b);
    let bytes = text.as_bytes();
    let before = bytes[..run.from].iter().rev().take(MOST).take_while(|b| holds(b)).count();
    let after = bytes[run.to..].iter().take(MOST).take_while(|b| holds(b)).count();
    let (from, to) = (run.from - before, run.to + after);
    let part = &text[from..to];
    let begin = part.len() - part.trim_start_matches(['-', '.', '/', '+', '=', '~']).len();
    let end = part.trim_end_matches(['.', '/', '-', '~']).len();
    if begin < end { (from + begin, from + end) } else { (run.from, run.to) }
}

/// How much a value looks like a credential.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    /// What words, numbers of things, addresses and times look like.
    Other,
    /// Letters and digits that are no words.
    Mixed,
    /// As programs make credentials up, and not as they number what everybody may see.
    Issued,
}

fn shape(value: &str) -> Shape {
    // `name=value` is read elsewhere, and so is an address.
    let is_one = !value.trim_end_matches('=').contains('=') && !value.contains("//");
    if !is_one
        || bits(value) < 2.8
        || identifiers::is_public(value)
        || is_host(value)
        || is_timestamp(value)
        || is_stand_in(value)
    {
        return Shape::Other;
    }
    if random(value) || is_scattered(value) || is_hex(value) && value.len() >= 20 || is_uuid(value)
    {
        return Shape::Issued;
    }
    let is_plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    if value.len() >= 20 && is_plain && digits >= 4 && !natural(value) {
        Shape::Mixed
    } else {
        Shape::Other
    }
}

/// Whether the last word before a value is one for a credential: `token`, `client secret`, `pass`.
fn names_credential(front: &str, value: &str, shape: Shape) -> bool {
    let quotes = ['"', '\'', '`', '“', '«', '{', '(', '<'];
    let bare = |it: &'_ str| -> usize {
        it.trim_end_matches(|c: char| c.is_whitespace() || quotes.contains(&c)).len()
    };
    let mut end = bare(front);
    let spaced = front[end..].contains(char::is_whitespace);
    let unsigned = front[..end].trim_end_matches(['-', ':', '>', '=', '–', '→']).len();
    let signed = unsigned < end;
    end = bare(&front[..unsigned]);
    // "… is", "… are"
    let linked = [" is", " are", " was"].iter().find_map(|it| front[..end].strip_suffix(it));
    if let Some(it) = linked.filter(|_| spaced) {
        end = bare(it);
    }
    let is_near = shape == Shape::Issued || !front[end..].contains('\n');
    if front.len() - end > GAP || !is_near || !(spaced || signed) {
        return false;
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let word = last_word(&front[..end], is_word);
    if word.len() < 3 || word.len() > 64 {
        return false;
    }
    let before = last_word(front[..end - word.len()].trim_end_matches(' '), is_word);
    let is_strong = |class: KeyClass| matches!(class, KeyClass::Always | KeyClass::Likely);
    // A number of a thing is no credential because a word such as `session` stands before it.
    let is_number = is_uuid(value) || is_hex(value) && !matches!(value.len(), 32 | 40 | 64);
    let both = format!("{before} {word}");
    let whole = classify(&both, Place::Form);
    if before.len() >= 2 && whole == KeyClass::Harmless {
        return false;
    }
    if before.len() >= 2 && is_strong(whole) || is_strong(classify(word, Place::Form)) {
        return !is_uuid(value) || ends_in_secret(word);
    }
    let is_key = ["key", "access", "private", "pass"].iter().any(|it| ends_with(word, it));
    is_key
        && shape == Shape::Issued
        && !is_number
        && matches!(whole, KeyClass::Perhaps | KeyClass::Silent)
}

/// `shop-token-9f0c…`: a run that names itself.
fn after_own_name(value: &str) -> Option<&str> {
    let at = value.find(['-', '_'].as_slice())?;
    let mut rest = &value[at + 1..];
    let mut name = &value[..at];
    loop {
        let names = ends_in_secret(name) || ends_with(name, "key");
        if names && rest.len() >= 20 && is_one_part(rest) && shape(rest) == Shape::Issued {
            return Some(rest);
        }
        let next = rest.find(['-', '_'].as_slice())?;
        (name, rest) = (&rest[..next], &rest[next + 1..]);
    }
}

fn is_one_part(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn ends_in_secret(word: &str) -> bool {
    ["secret", "token", "password"].iter().any(|it| ends_with(word, it))
}

fn ends_with(word: &str, end: &str) -> bool {
    word.len() >= end.len()
        && word.as_bytes()[word.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

fn last_word(text: &str, is_word: impl Fn(char) -> bool) -> &str {
    let len: usize =
        text.chars().rev().take(65).take_while(|c| is_word(*c)).map(char::len_utf8).sum();
    &text[text.len() - len..]
}
