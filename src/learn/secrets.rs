//! Secrets of a task: what stands for each where the task is written down, and its value only while it is typed.
//!
//! `env:NAME` stands for itself: its value is read from the environment for each recording. A value that was given in clear is
//! held here, under a placeholder. Digests of what a stage is asked are taken over what stands for a value, never over it: a
//! digest of a short password is as good as the password.

use std::collections::{BTreeMap, BTreeSet};

use zeroize::Zeroizing;

use commis_base::{
    error::{Code, Error, Result},
    settings,
};

/// Fewer bytes cannot be told from data, so they could not be found again where they must not stand.
const LEAST: usize = 4;
const MOST: usize = 200;

/// Wiped on drop.
#[derive(Default)]
pub struct TaskSecrets {
    /// By what stands for them.
    held: BTreeMap<String, SecretSource>,
    /// The sentence, the URL or what a step waits for holds one, which the user allowed.
    pub in_text: bool,
    /// Variables that the user named on the command line: a file's are bound to hosts.
    given: BTreeSet<String>,
}

enum SecretSource {
    /// In the environment, under that name.
    Variable(String),
    Given(Zeroizing<String>),
}

/// The variable that a value names: `env:NAME`, as one is written for a shell.
pub fn variable(value: &str) -> Option<&str> {
    let name = value.strip_prefix("env:")?;
    let begins = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let rest = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (begins && name.len() <= 100 && name.bytes().all(rest)).then_some(name)
}

impl TaskSecrets {
    /// Takes a value in; what stands for it from now on. `name` is what it is called. Fails with [`Code::ManifestInvalid`]
    /// where it is too short to be kept out of what is recorded.
    pub fn keep(&mut self, name: &str, value: &str) -> Result<String> {
        if self.name(value) {
            return Ok(value.to_owned());
        }
        if value.len() < LEAST {
            let message = format!("the secret `{name}` has fewer than {LEAST} bytes");
            return Err(Error::new(Code::ManifestInvalid, message).hint(TOO_SHORT));
        }
        let known = self
            .held
            .iter()
            .find(|it| matches!(it.1, SecretSource::Given(known) if **known == value));
        if let Some((stands, _)) = known {
            return Ok(stands.clone());
        }
        let mut stands = format!("[REDACTED:{name}]");
        let mut n = 2;
        while self.held.contains_key(&stands) {
            stands = format!("[REDACTED:{name}#{n}]");
            n += 1;
        }
        self.held.insert(stands.clone(), SecretSource::Given(Zeroizing::new(value.to_owned())));
        Ok(stands)
    }

    /// Whether the text names a variable, which it then stands for.
    pub fn name(&mut self, text: &str) -> bool {
        let Some(name) = variable(text) else { return false };
        self.held.insert(text.to_owned(), SecretSource::Variable(name.to_owned()));
        true
    }

    /// The user's own word: that variable is typed wherever the steps say.
    pub fn named_by_the_user(&mut self, name: &str) {
        self.given.insert(name.to_owned());
    }

    /// Variables that a file names.
    pub fn named_by_a_file(&self) -> Vec<&str> {
        let all = self.held.values().filter_map(|it| match it {
            SecretSource::Variable(name) => Some(name.as_str()),
            SecretSource::Given(_) => None,
        });
        all.filter(|it| !self.given.contains(*it)).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether the text stands for a secret.
    pub fn holds(&self, text: &str) -> bool {
        self.held.contains_key(text)
    }

    /// Some of them end with this process.
    pub fn are_given(&self) -> bool {
        self.held.values().any(|it| matches!(it, SecretSource::Given(_)))
    }

    /// What the text stands for; `None` where it stands for itself. From here on the value is hidden wherever this process
    /// writes. Fails with [`Code::AuthEnvMissing`] and [`Code::AuthEnvInvalid`].
    pub fn value(&self, text: &str) -> Result<Option<Zeroizing<String>>> {
        let value = match self.held.get(text) {
            None => return Ok(None),
            Some(SecretSource::Given(it)) => it.clone(),
            Some(SecretSource::Variable(name)) => read(name)?,
        };
        commis_redact::hide(&value);
        Ok(Some(value))
    }

    /// All values, as [`value`](Self::value) gives them.
    pub fn values(&self) -> Result<Vec<Zeroizing<String>>> {
        let all = self.held.keys().map(|it| self.value(it));
        all.filter_map(Result::transpose).collect()
    }
}

const TOO_SHORT: &str =
    "a value this short cannot be distinguished from data, so it could not be redacted";

fn read(name: &str) -> Result<Zeroizing<String>> {
    let value = settings::secret(name).ok_or_else(|| {
        Error::new(Code::AuthEnvMissing, format!("the variable {name}, which the task types, is not set"))
            .hint("set it and run the command again; commis reads it while recording and does not store it")
    })?;
    let wrong = |why: &str| Error::new(Code::AuthEnvInvalid, format!("the variable {name} {why}"));
    if value.len() < LEAST {
        return Err(wrong(&format!("holds fewer than {LEAST} bytes")).hint(TOO_SHORT));
    }
    if value.len() > MOST || value.chars().any(char::is_control) {
        return Err(wrong("holds what cannot be typed")
            .hint(format!("give at most {MOST} bytes without control characters")));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_named_as_in_a_shell() {
        for (text, name) in [
            ("env:SHOP_PASSWORD", Some("SHOP_PASSWORD")),
            ("env:_A1", Some("_A1")),
            ("env:", None),
            ("env:1A", None),
            ("env:shop", Some("shop")),
            ("env:a-b", None),
            ("env:A B", None),
            (" env:A", None),
            ("environment", None),
        ] {
            assert_eq!(variable(text), name, "{text:?}");
        }
    }

    #[test]
    fn what_stands_for_a_value_says_nothing_of_it() {
        let mut it = TaskSecrets::default();
        assert_eq!(it.keep("pin", "opensesame").unwrap(), "[REDACTED:pin]");
        assert_eq!(it.keep("pin", "opensesame").unwrap(), "[REDACTED:pin]");
        assert_eq!(it.keep("pin", "other-one").unwrap(), "[REDACTED:pin#2]");
        assert!(it.holds("[REDACTED:pin]") && !it.holds("opensesame") && it.are_given());
        assert_eq!(it.value("[REDACTED:pin#2]").unwrap().unwrap().as_str(), "other-one");
        assert!(it.value("other-one").unwrap().is_none());
        assert_eq!(it.keep("pin", "abc").unwrap_err().code(), Code::ManifestInvalid);
        // Messages do not repeat what was once asked for.
        assert_eq!(
            commis_redact::message("no such page: other-one"),
            "no such page: [REDACTED:password]"
        );
    }

    #[test]
    fn a_variable_that_is_not_there_is_named() {
        let mut it = TaskSecrets::default();
        assert_eq!(it.keep("pin", "env:COMMIS_NO_SUCH").unwrap(), "env:COMMIS_NO_SUCH");
        assert!(!it.are_given());
        let err = it.value("env:COMMIS_NO_SUCH").unwrap_err();
        assert_eq!(err.code(), Code::AuthEnvMissing);
        assert!(err.message().contains("COMMIS_NO_SUCH") && err.hint_text().is_some());
    }
}
