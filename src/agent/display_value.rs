//! A value for a person's eyes: in quotes, everything in it seen as what it is, secrets left out.
//!
//! Nothing is dropped and nothing is made to look like something else. What cannot be seen, turns what is seen around, or looks like a
//! plain letter and is none, stands there as `\u{…}`; bytes that are no UTF-8 as `\xff`. What follows the closing quote, or stands
//! outside of quotes, is ours.

use std::fmt::Write as _;

use commis_browser::is_unseen;

/// A longer secret is not a secret that people know of: what is behind a placeholder is approved unseen.
const SECRET: usize = 1024;
/// A secret of more characters has its length told.
const TELLING: usize = 64;
const PLACEHOLDER: &str = "[REDACTED]";

/// A value as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub struct DisplayValue {
    pub text: String,
    /// Something in it is a secret and was left out.
    pub hidden: bool,
}

/// `None` where so much of it is a secret that nobody could say what they approve.
pub fn display_value(name: &str, value: &[u8]) -> Option<DisplayValue> {
    let Ok(text) = std::str::from_utf8(value) else {
        // What is no text is shown byte for byte, unless it holds a secret.
        let lossy = String::from_utf8_lossy(value);
        let secret = commis_redact::typed_secret(name, &lossy).is_some();
        return if secret { placeholder(&lossy) } else { Some(visible_value(quoted(value))) };
    };
    let without = without_secrets(text);
    if commis_redact::typed_secret(name, text).is_some() {
        let in_prose =
            text.contains(char::is_whitespace) && commis_redact::probable_secret(text).is_some();
        if !in_prose || without == text {
            return placeholder(text);
        }
    }
    if without == text {
        return Some(visible_value(quoted(value)));
    }
    let left_out = text.len().saturating_sub(without.len());
    (left_out <= SECRET).then(|| DisplayValue { text: quoted(without.as_bytes()), hidden: true })
}

/// Words without the secrets among them.
pub fn without_secrets(text: &str) -> String {
    let out = commis_redact::message(text);
    if commis_redact::probable_secret(&out).is_none() {
        return out;
    }
    // `password=letmein`, which only a person would write.
    out.split_inclusive(char::is_whitespace)
        .map(|it| match commis_redact::probable_secret(it) {
            Some(_) => {
                let word = it.trim_end();
                format!("{PLACEHOLDER}{}", &it[word.len()..])
            }
            None => it.to_owned(),
        })
        .collect()
}

fn visible_value(text: String) -> DisplayValue {
    DisplayValue { text, hidden: false }
}

fn placeholder(value: &str) -> Option<DisplayValue> {
    let all = value.chars().count();
    let text = match all {
        0..=TELLING => PLACEHOLDER.to_owned(),
        _ => format!("{PLACEHOLDER} ({all} characters)"),
    };
    (all <= SECRET).then_some(DisplayValue { text, hidden: true })
}

/// A name as it is where it is plain, else in quotes.
pub fn name(text: &[u8]) -> String {
    let plain = |it: &u8| it.is_ascii_alphanumeric() || b"_-.:/[]~".contains(it);
    match std::str::from_utf8(text) {
        Ok(it) if !it.is_empty() && text.iter().all(plain) => it.to_owned(),
        _ => quoted(commis_redact::message(&String::from_utf8_lossy(text)).as_bytes()),
    }
}

/// In quotes, with everything in it to be seen.
pub fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        escape_text(chunk.valid(), &mut out);
        for byte in chunk.invalid() {
            _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

fn escape_text(text: &str, out: &mut String) {
    let foreign = Script::of_text(text);
    let mut before = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
        if len == 0 {
            escape_char(first, before, false, out);
            before = Some(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(len);
        let disguised = is_disguised(word, foreign);
        for it in word.chars() {
            escape_char(it, before, disguised, out);
            before = Some(it);
        }
        rest = after;
    }
}

fn escape_char(it: char, before: Option<char>, disguised: bool, out: &mut String) {
    let escaped = match it {
        '"' | '\\' => {
            out.push('\\');
            out.push(it);
            return;
        }
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        // The second blank in a row: many of them would push what follows out of sight.
        ' ' if before == Some(' ') => "",
        ' '..='~' => {
            out.push(it);
            return;
        }
        _ => "",
    };
    if !escaped.is_empty() {
        out.push_str(escaped);
        return;
    }
    let over_nothing =
        is_mark(it) && before.is_none_or(|before| is_mark(before) || !before.is_alphanumeric());
    let in_disguise = disguised && Script::from_char(it).is_some();
    let odd = it.is_control() || it.is_whitespace() || is_unseen(it) || is_stand_in(it);
    let shown = !odd && !over_nothing && !in_disguise;
    if shown {
        out.push(it);
    } else {
        _ = write!(out, "\\u{{{:x}}}", u32::from(it));
    }
}

/// Marks that are drawn over the letter before.
const fn is_mark(it: char) -> bool {
    matches!(it, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Drawn like plain letters, digits, blanks or the marks that addresses are made of; private use and what has no meaning.
const fn is_stand_in(it: char) -> bool {
    matches!(it,
        // Letters in other dress.
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}'
        | '\u{2100}'..='\u{214f}' | '\u{2160}'..='\u{217f}' | '\u{249c}'..='\u{24e9}' | '\u{1f110}'..='\u{1f1a5}'
        | '\u{1d00}'..='\u{1d2b}' | '\u{a730}'..='\u{a731}' | '\u{a7f2}'..='\u{a7f4}' | '\u{2c60}'..='\u{2c7f}'
        // Points, colons, slashes, at signs, question marks.
        | '\u{2024}' | '\u{fe52}' | '\u{ff0e}' | '\u{ff61}' | '\u{2236}' | '\u{a789}' | '\u{fe55}' | '\u{fe13}' | '\u{ff1a}' | '\u{2d0}'
        | '\u{5c3}' | '\u{589}' | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{2571}' | '\u{ff0f}' | '\u{fe6b}' | '\u{ff20}' | '\u{fe56}'
        | '\u{ff1f}' | '\u{ff03}' | '\u{ff05}' | '\u{ff06}' | '\u{ff1d}' | '\u{a78a}' | '\u{1400}' | '\u{30a0}' | '\u{1c3}' | '\u{2d0e}'
        // Blanks that are drawn as something.
        | '\u{2800}' | '\u{fe0f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{fff9}'..='\u{ffff}' | '\u{f0000}'..='\u{10ffff}')
}

/// Scripts with letters that are drawn as Latin ones are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
    /// Latin letters of phonetics, Lisu, Coptic.
    Other,
}

impl Script {
    const fn from_char(it: char) -> Option<Self> {
        match it {
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Self::Greek),
            '\u{400}'..='\u{52f}'
            | '\u{1c80}'..='\u{1c8f}'
            | '\u{2de0}'..='\u{2dff}'
            | '\u{a640}'..='\u{a69f}' => Some(Self::Cyrillic),
            '\u{530}'..='\u{58f}' => Some(Self::Armenian),
            '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Some(Self::Cherokee),
            '\u{250}'..='\u{2af}'
            | '\u{10a0}'..='\u{10ff}'
            | '\u{2c80}'..='\u{2cff}'
            | '\u{a4d0}'..='\u{a4ff}' => Some(Self::Other),
            _ => None,
        }
    }

    /// The one that a text is written in, as far as letters tell that no Latin text could have.
    fn of_text(text: &str) -> Option<Self> {
        text.chars().filter(|it| !is_lookalike(*it)).find_map(Self::from_char)
    }
}

/// A letter that no reader tells from a Latin one.
fn is_lookalike(it: char) -> bool {
    const LOOKALIKES: &str = "аеорсухіјѕԁһӏѵԛԝАВЕКМНОРСТУХІЈЅѴԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορτυχցօոսհզքՏՕՍ";
    LOOKALIKES.contains(it)
}

/// A word that passes for a Latin one: letters of another script among Latin ones, or none but such as are drawn alike in a text that is
/// not written in that script.
fn is_disguised(word: &str, text: Option<Script>) -> bool {
    let latin =
        word.chars().any(|it| it.is_ascii_alphabetic() || matches!(it, '\u{c0}'..='\u{24f}'));
    let mut scripts = word.chars().filter_map(Script::from_char);
    let Some(first) = scripts.next() else { return false };
    latin
        || scripts.any(|it| it != first)
        || (text != Some(first) && word.chars().filter(|it| !it.is_numeric()).all(is_lookalike))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(quoted(text.as_bytes()), format!("\"{expected}\""), "{text:?}");
    }

    #[test]
    fn what_is_not_seen_is_seen() {
        check("17", "17");
        check("Zürich, ça va? 東京 Привет мир", "Zürich, ça va? 東京 Привет мир");
        check("one\ntwo\r\n\tthree\0", "one\\ntwo\\r\\n\\tthree\\u{0}");
        check("a\u{1b}[2Jb\u{9b}c\u{7f}", "a\\u{1b}[2Jb\\u{9b}c\\u{7f}");
        // Directions.
        check("10\u{202e}001\u{202c}", "10\\u{202e}001\\u{202c}");
        check("a\u{2066}b\u{2069}\u{200f}\u{61c}", "a\\u{2066}b\\u{2069}\\u{200f}\\u{61c}");
        // Widths of nothing, tags, selectors.
        check("a\u{200b}b\u{feff}c\u{ad}d\u{2060}", "a\\u{200b}b\\u{feff}c\\u{ad}d\\u{2060}");
        check("x\u{e0041}\u{e007f}\u{fe0f}\u{e0100}", "x\\u{e0041}\\u{e007f}\\u{fe0f}\\u{e0100}");
        check("a\u{3164}b\u{2800}c\u{115f}", "a\\u{3164}b\\u{2800}c\\u{115f}");
        // Blanks.
        check("a\u{a0}b\u{2003}c\u{2028}d\u{3000}e", "a\\u{a0}b\\u{2003}c\\u{2028}d\\u{3000}e");
        check(" a   b ", " a \\u{20}\\u{20}b ");
        // Quotes of ours, and placeholders of ours.
        check("\" (yours) \\", "\\\" (yours) \\\\");
        check("[REDACTED]", "[REDACTED]");
        // Marks.
        check("e\u{301}", "e\u{301}");
        check("e\u{301}\u{335}\u{336}", "e\u{301}\\u{335}\\u{336}");
        check("\u{336}x", "\\u{336}x");
        assert_eq!(quoted(b"a\xff\xc3(b"), "\"a\\xff\\xc3(b\"");
    }

    #[test]
    fn letters_in_disguise_are_told() {
        // Cyrillic а in a Latin word; Greek ο; a whole word that is drawn as a Latin one.
        check("p\u{430}ypal", "p\\u{430}ypal");
        check("g\u{3bf}\u{3bf}gle.test", "g\\u{3bf}\\u{3bf}gle.test");
        check("\u{441}\u{43e}\u{441}\u{43e}", "\\u{441}\\u{43e}\\u{441}\\u{43e}");
        check("send to \u{430}\u{440}\u{435}", "send to \\u{430}\\u{440}\\u{435}");
        // The same word in a text that is written so.
        check("это сосо", "это сосо");
        check("Αθήνα", "Αθήνα");
        check("μ and λ", "μ and λ");
        // Two scripts in one word, neither Latin.
        check("\u{430}\u{3b1}", "\\u{430}\\u{3b1}");
        check("ɡoogle", "\\u{261}oogle");
        check("ｐａｙ １２", "\\u{ff50}\\u{ff41}\\u{ff59} \\u{ff11}\\u{ff12}");
        check("𝐩𝐚𝐲", "\\u{1d429}\\u{1d41a}\\u{1d432}");
        check("shop.test\u{2215}pay\u{2024}x", "shop.test\\u{2215}pay\\u{2024}x");
        check("100\u{2103}", "100\\u{2103}");
        check("straße naïve Łódź", "straße naïve Łódź");
    }

    #[test]
    fn secrets_are_left_out_and_what_looks_left_out_is_not() {
        let text = |name: &str, value: &str| {
            display_value(name, value.as_bytes()).map(|it| (it.text, it.hidden))
        };
        let hidden = |text: &str| Some((text.to_owned(), true));
        let plain = |text: &str| Some((text.to_owned(), false));
        assert_eq!(text("password", "correct-horse-9"), hidden("[REDACTED]"));
        assert_eq!(text("qty", "2"), plain("\"2\""));
        assert_eq!(text("note", "[REDACTED]"), plain("\"[REDACTED]\""));
        let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        assert_eq!(text("token", token), hidden("[REDACTED]"));
        let (shown, left_out) = text("note", &format!("use {token} to deploy")).unwrap();
        assert!(left_out && !shown.contains("16C7e42F") && shown.contains("to deploy"), "{shown}");
        let long = |n: usize| "kJ8fQ2".repeat(n);
        assert_eq!(text("csrf_token", &long(40)), hidden("[REDACTED] (240 characters)"));
        assert_eq!(text("csrf_token", &long(400)), None);
        assert_eq!(display_value("password", b"corr\xffect-horse").map(|it| it.hidden), Some(true));
    }

    #[test]
    fn names_are_plain_or_in_quotes() {
        assert_eq!(name(b"items[0].qty"), "items[0].qty");
        assert_eq!(name(b"/items/0"), "/items/0");
        assert_eq!(name(b""), "\"\"");
        assert_eq!(name("qty = \"1\"\nto".as_bytes()), "\"qty = \\\"1\\\"\\nto\"");
        assert_eq!(name(b"a b"), "\"a b\"");
    }
}
