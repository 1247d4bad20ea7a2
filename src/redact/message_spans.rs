//! Runs of letters and digits in a message, and what of it is a secret.

/// Bytes between a key and the words that announce it; a picture and an explanation may be between.
pub const NEAR: usize = 420;

/// A secret in a text, and what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageSecret {
    pub from: usize,
    pub to: usize,
    pub name: &'static str,
}

/// Letters and digits of ASCII with single hyphens inside.
#[derive(Clone, Copy)]
pub struct AsciiRun {
    pub from: usize,
    pub to: usize,
    pub digits: usize,
    pub upper: usize,
    pub lower: usize,
    pub hyphens: usize,
}

impl AsciiRun {
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.from..self.to]
    }

    /// As authenticators take keys, 80 bits and more.
    pub fn is_base32(&self, text: &str) -> bool {
        self.hyphens == 0
            && (16..=128).contains(&(self.to - self.from))
            && (self.lower == 0 || self.upper == 0)
            && self.text(text).bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'2'..=b'7'))
    }
}

/// Part of a longer word, an address, a date, a price, a time, a version.
pub fn touches(text: &str, from: usize, to: usize) -> bool {
    let before = text[..from].chars().next_back();
    let after = text[to..].chars().next();
    let more = |at: usize| text[at..].chars().nth(1);
    let joins = |c: char| {
        matches!(c, '_' | '/' | '@' | '#' | '$' | '€' | '£' | '¥' | '+' | '=' | '&' | '%' | '\\')
    };
    before.is_some_and(|c| {
        joins(c) && !matches!(c, '=')
            || matches!(c, '.' | ',' | ':')
                && text[..from].chars().rev().nth(1).is_some_and(|c| c.is_ascii_digit())
    }) || before.is_some_and(|c| c.is_alphabetic() && c.is_ascii())
        || after.is_some_and(|c| {
            // `2081#`, as a keypad takes it.
            let ends = c == '#' && !more(to).is_some_and(char::is_alphanumeric);
            joins(c) && !ends
                || matches!(c, '.' | ',' | ':')
                    && more(to).is_some_and(|c| c.is_ascii_alphanumeric())
                || c == '-' && more(to).is_some_and(char::is_alphanumeric)
        })
        || before == Some('-')
        || text[to..].starts_with(" %")
        || text[to..].starts_with(" €")
        || text[to..].starts_with(" $")
}
