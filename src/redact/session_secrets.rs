//! The secrets of a recording, to be found in whatever else is kept of the session that it was made of.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    Learner, LiveValues, Place, RedactRules, Walk, Writer, placeholders::SecretIndex,
    rules::SecretSink as _,
};

/// In memory only, wiped when dropped.
pub struct RecordingSecrets(pub(super) SecretIndex);

impl RecordingSecrets {
    /// One more named value, such as an item of a page's storage: a secret if the rules say so.
    pub fn judge(&mut self, name: &str, value: &str) {
        let rules = RedactRules::new(&[], std::iter::empty());
        Walk::new(&rules, &mut Learner(&mut self.0)).leaf(name, value, Place::Json);
    }

    /// The text without them.
    pub fn hide<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        Writer::new(&mut self.0).replace_known(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// The same for every text in it, keys included; how many there were.
    pub fn hide_in(&mut self, value: &mut Value) -> usize {
        match value {
            Value::String(it) => match self.hide(it) {
                Cow::Owned(hidden) => {
                    *it = hidden;
                    1
                }
                Cow::Borrowed(_) => 0,
            },
            Value::Array(all) => all.iter_mut().map(|it| self.hide_in(it)).sum(),
            Value::Object(all) => {
                let mut found = 0;
                if all.keys().any(|it| matches!(self.hide(it), Cow::Owned(_))) {
                    found += 1;
                    *all = std::mem::take(all)
                        .into_iter()
                        .map(|(name, it)| (self.hide(&name).into_owned(), it))
                        .collect();
                }
                found + all.values_mut().map(|it| self.hide_in(it)).sum::<usize>()
            }
            _ => 0,
        }
    }

    /// What a replay of the recording may need.
    pub fn into_live(self) -> LiveValues {
        self.0.into_live()
    }
}

/// How often something was left out of a text, by the name in its placeholder.
pub fn count(text: &str, into: &mut std::collections::BTreeMap<String, u64>) {
    for (open, close) in [("[REDACTED:", "]"), ("%5BREDACTED%3A", "%5D")] {
        for (at, _) in text.match_indices(open) {
            let rest = &text[at + open.len()..];
            let Some((name, _)) = rest.split_once(close) else { continue };
            let name = name.split(['#', '%']).next().unwrap_or_default();
            // A page may write the like.
            let plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
            if (1..=40).contains(&name.len()) && name.bytes().all(plain) {
                *into.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
}
