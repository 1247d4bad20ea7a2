//! Identifiers that were checked once and are trusted from then on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Code, Error, Result};

/// A random word of 32 hexadecimal digits, which nobody can guess. Fails with [`Code::Internal`] without randomness.
pub fn random_token() -> Result<String> {
    let mut random = [0; 16];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut random)
        .map_err(|_| Error::new(Code::Internal, "the system provides no random bytes"))?;
    Ok(hex(&random))
}

/// A recipe's name: `[a-z0-9-]`, 1 to 64 characters, no hyphen at either end. Safe as a file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct RecipeName(String);

impl RecipeName {
    /// Fails with [`Code::RecipeInvalid`].
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let ok = (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !name.starts_with('-')
            && !name.ends_with('-');
        if ok {
            Ok(Self(name))
        } else {
            let shown: String = name.chars().filter(|it| !it.is_control()).take(80).collect();
            Err(Error::new(Code::RecipeInvalid, format!("`{shown}` is not a recipe name"))
                .hint("use 1 to 64 of a-z, 0-9 and -, not starting or ending with -"))
        }
    }

    /// The nearest valid name to free text: lower case, runs of anything else become one hyphen.
    pub fn slug(text: &str) -> Self {
        let mut out = String::new();
        for c in text.chars() {
            if c.is_ascii_alphanumeric() {
                out.push(c.to_ascii_lowercase());
            } else if !out.is_empty() && !out.ends_with('-') {
                out.push('-');
            }
            if out.len() >= 48 {
                break;
            }
        }
        let out = out.trim_matches('-');
        Self(if out.is_empty() { "recipe".to_owned() } else { out.to_owned() })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RecipeName {
    type Error = Error;
    fn try_from(it: String) -> Result<Self> {
        Self::new(it)
    }
}

impl From<RecipeName> for String {
    fn from(it: RecipeName) -> Self {
        it.0
    }
}

impl fmt::Display for RecipeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one task's folder: recipe name and eight hex digits of SHA-256 over manifest name and recipe name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct TaskId(String);

impl TaskId {
    pub fn new(manifest: &str, recipe: &RecipeName) -> Self {
        let mut hash = Sha256::new();
        hash.update(manifest.as_bytes());
        hash.update([0]);
        hash.update(recipe.as_str().as_bytes());
        let hex = hex(&hash.finalize()[..4]);
        Self(format!("{recipe}-{hex}"))
    }

    /// Reads an id that a person typed or a file holds. Fails with [`Code::TaskNotFound`].
    pub fn parse(text: &str) -> Result<Self> {
        let ok = text.len() <= 80
            && !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if ok {
            Ok(Self(text.to_owned()))
        } else {
            let shown: String = text.chars().filter(|it| !it.is_control()).take(80).collect();
            Err(Error::new(Code::TaskNotFound, format!("`{shown}` is not a task id"))
                .hint("`commis recipe debug` without --task-id lists the tasks"))
        }
    }

    /// Which of `n` parts of a manifest it belongs to, from 0: evenly, and whatever other tasks there are.
    pub fn shard(&self, n: u32) -> u32 {
        shard_of(&self.0, n)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TaskId {
    type Error = Error;
    fn try_from(it: String) -> Result<Self> {
        Self::parse(&it)
    }
}

impl From<TaskId> for String {
    fn from(it: TaskId) -> Self {
        it.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let mut out = String::with_capacity(2 * bytes.len());
    for it in bytes {
        out.push(char::from(DIGITS[usize::from(it >> 4)]));
        out.push(char::from(DIGITS[usize::from(it & 15)]));
    }
    out
}

/// Control characters, and format characters of Unicode that change how their surroundings are read. Joiners (U+200C, U+200D)
/// belong to words and pictures and stay.
pub fn is_unsafe_char(it: char) -> bool {
    it.is_control()
        || matches!(it,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The text with U+FFFD for each unsafe character; lines stay lines.
pub fn plain(text: &str) -> String {
    text.chars().map(|it| if is_unsafe_char(it) && it != '\n' { '\u{fffd}' } else { it }).collect()
}

/// Which of `n` parts that belongs to, from 0: evenly, and whatever else there is.
pub fn shard_of(of: &str, n: u32) -> u32 {
    let hash = Sha256::digest(of.as_bytes());
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) % n.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipe_names() {
        for good in ["a", "hn-search", "x1"] {
            assert!(RecipeName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a b", "../x", "a/b", "é", &"a".repeat(65)] {
            assert!(RecipeName::new(bad).is_err(), "{bad}");
        }
        // What looks like another name, or like nothing: Cyrillic, full width, combining, zero width, a line break.
        for bad in ["\u{430}bc", "\u{ff41}bc", "ab\u{301}", "a\u{200b}bc", "abc\u{202e}", "abc\n"] {
            assert!(RecipeName::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(RecipeName::slug("Search  Hacker News!").as_str(), "search-hacker-news");
        assert_eq!(RecipeName::slug("…").as_str(), "recipe");
    }

    #[test]
    fn task_ids_differ_by_manifest() {
        let name = RecipeName::new("shop").unwrap();
        assert_ne!(TaskId::new("a", &name), TaskId::new("b", &name));
        assert!(TaskId::parse("../etc").is_err());
    }
}
