//! The values behind the placeholders, for replays within the same run.

use std::{collections::BTreeMap, fmt};

use zeroize::Zeroizing;

#[cfg(test)]
use super::encode::percent;

/// In memory only: not `Serialize`, wiped on drop, silent in `Debug`.
#[derive(Default)]
pub struct LiveValues {
    values: BTreeMap<String, Zeroizing<String>>,
}

impl LiveValues {
    pub(super) fn new(values: impl Iterator<Item = (String, Zeroizing<String>)>) -> Self {
        Self { values: values.collect() }
    }

    /// The value of a placeholder such as `[REDACTED:x-csrf-token]`.
    pub fn get(&self, placeholder: &str) -> Option<&str> {
        self.values.get(placeholder).map(|it| it.as_str())
    }

    /// For tests of what is stored: the text with every placeholder replaced by its value; a percent-encoded placeholder (as in a stored URL) by the
    /// percent-encoded value. `None` when a placeholder is unknown: its value died with another process.
    #[cfg(test)]
    pub fn resolve(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        // Earliest first; the encoded forms do not contain each other.
        while let Some((at, level, open, close)) = MARKS
            .iter()
            .filter_map(|(level, open, close)| {
                rest.find(open).map(|at| (at, *level, *open, *close))
            })
            .min()
        {
            out.push_str(&rest[..at]);
            let name = &rest[at + open.len()..];
            let end = name.find(close)?;
            let key =
                format!("[REDACTED:{}]", name[..end].replace("%2523", "#").replace("%23", "#"));
            let value = self.get(&key)?;
            match level {
                0 => out.push_str(value),
                1 => out.push_str(&percent(value)),
                _ => out.push_str(&percent(&percent(value))),
            }
            rest = &name[end + close.len()..];
        }
        out.push_str(rest);
        Some(out)
    }
}

#[cfg(test)]
/// How often percent-encoded, how a placeholder opens, how it closes.
const MARKS: &[(u8, &str, &str)] =
    &[(0, "[REDACTED:", "]"), (1, "%5BREDACTED%3A", "%5D"), (2, "%255BREDACTED%253A", "%255D")];

impl fmt::Debug for LiveValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_resolve_plain_and_encoded() {
        let live = LiveValues::new(
            [("[REDACTED:t]", "a/b c"), ("[REDACTED:t#2]", "x")]
                .into_iter()
                .map(|(k, v)| (k.to_owned(), Zeroizing::new(v.to_owned()))),
        );
        for (text, expected) in [
            ("no placeholder", Some("no placeholder")),
            ("Bearer [REDACTED:t]!", Some("Bearer a/b c!")),
            ("?q=%5BREDACTED%3At%5D&r=%5BREDACTED%3At%232%5D", Some("?q=a%2Fb%20c&r=x")),
            ("u=%255BREDACTED%253At%255D", Some("u=a%252Fb%2520c")),
            ("[REDACTED:unknown]", None),
            ("[REDACTED:t", None),
        ] {
            assert_eq!(live.resolve(text).as_deref(), expected, "{text}");
        }
        assert!(!format!("{live:?}").contains("a/b"));
    }
}
