//! Texts of strangers in the languages of others: each stays inside its literal, or its comment, whatever it holds.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use commis_base::ids::is_unsafe_char;

/// Of a comment.
const MAX: usize = 300;

/// One line for a comment, of characters that are seen: no comment ends before it.
pub fn comment(text: &str) -> String {
    let mut out = String::new();
    for it in text.chars().take(MAX) {
        out.push(if it == '\n' || it == '\t' || it == '\r' {
            ' '
        } else if is_unsafe_char(it) {
            '\u{fffd}'
        } else {
            it
        });
    }
    // What ends comments of C's kin.
    out.replace("*/", "* /").trim().to_owned()
}

/// One word of a shell.
pub fn quote_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A string of Python.
pub fn quote_python(text: &str) -> String {
    quote(text, |it| format!("\\U{it:08x}"))
}

/// A string of JavaScript.
pub fn quote_javascript(text: &str) -> String {
    quote(text, |it| format!("\\u{{{it:x}}}"))
}

/// Escapes that both know; `far` writes what four digits do not.
fn quote(text: &str, far: fn(u32) -> String) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            it if is_unsafe_char(it) && u32::from(it) <= 0xffff => {
                let _ = write!(out, "\\u{:04x}", u32::from(it));
            }
            it if is_unsafe_char(it) => out.push_str(&far(u32::from(it))),
            it => out.push(it),
        }
    }
    out.push('"');
    out
}

/// Everything but RFC 3986 "unreserved": a value in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What the URL standard encodes in a path; a `%` is one already.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

pub fn encode_segment(value: &str) -> String {
    utf8_percent_encode(value, SEGMENT).to_string()
}

/// A literal of a path.
pub fn encode_path(literal: &str) -> String {
    utf8_percent_encode(literal, PATH).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literals() {
        for (text, py, js) in [
            ("a", "\"a\"", "\"a\""),
            ("\"\"\"\\", "\"\\\"\\\"\\\"\\\\\"", "\"\\\"\\\"\\\"\\\\\""),
            ("a\r\n\tb\0", "\"a\\r\\n\\tb\\u0000\"", "\"a\\r\\n\\tb\\u0000\""),
            ("\u{2028}ä", "\"\\u2028ä\"", "\"\\u2028ä\""),
            ("\u{e0041}", "\"\\U000e0041\"", "\"\\u{e0041}\""),
            ("{{x}} $(id)", "\"{{x}} $(id)\"", "\"{{x}} $(id)\""),
        ] {
            assert_eq!(quote_python(text), py);
            assert_eq!(quote_javascript(text), js);
        }
        assert_eq!(comment("a\n# */ b\u{202e}\u{1b}[1m"), "a # * / b\u{fffd}\u{fffd}[1m");
        assert_eq!(encode_path("/a b/{c}/%20"), "/a%20b/%7Bc%7D/%20");
        assert_eq!(encode_segment("a/b ü"), "a%2Fb%20%C3%BC");
    }

    proptest! {
        /// What JSON reads is what was written: Python and JavaScript read those escapes alike.
        #[test]
        fn a_literal_is_read_back(text in "[^\u{e0000}-\u{e007f}]{0,40}") {
            let read: String = serde_json::from_str(&quote_javascript(&text)).unwrap();
            prop_assert_eq!(&read, &text);
            prop_assert_eq!(quote_python(&text), quote_javascript(&text));
        }

        #[test]
        fn a_word_stays_a_word(text in "[^\0]{0,40}") {
            prop_assert_eq!(shlex::split(&quote_shell(&text)), Some(vec![text.clone()]));
        }

        #[test]
        fn a_comment_ends_with_its_line(text in any::<String>()) {
            let it = comment(&text);
            let ends = ["\n", "\r", "\u{2028}", "\u{85}", "*/"];
            prop_assert!(ends.iter().all(|end| !it.contains(end)));
        }
    }
}
