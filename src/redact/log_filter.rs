//! Secrets that this process types itself: whatever they look like, no message or line of the log repeats them.
//!
//! The one thing here that belongs to the process and not to a recording, because an error may come from anywhere and be told
//! anywhere. In memory only.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{PoisonError, RwLock},
};

use zeroize::Zeroizing;

use super::known_secrets::SecretFilter;

static HIDDEN: RwLock<Option<SecretFilter>> = RwLock::new(None);
const PLACEHOLDER: &str = "[REDACTED:password]";

/// From here on the value is hidden in every text that goes through [`super::message`].
pub fn hide(value: &str) {
    let mut hidden = HIDDEN.write().unwrap_or_else(PoisonError::into_inner);
    let mut all: Vec<&str> = hidden.iter().flat_map(SecretFilter::values).collect();
    if !all.contains(&value) {
        all.push(value);
        let known = SecretFilter::new(PLACEHOLDER.to_owned(), &all);
        *hidden = Some(known);
    }
}

/// [`hide`] of many.
pub fn hide_all(values: &[Zeroizing<String>]) {
    let mut hidden = HIDDEN.write().unwrap_or_else(PoisonError::into_inner);
    let known = {
        let mut all: BTreeSet<&str> = hidden.iter().flat_map(SecretFilter::values).collect();
        let before = all.len();
        all.extend(values.iter().map(|it| it.as_str()));
        if all.len() == before {
            return;
        }
        let all: Vec<&str> = all.into_iter().collect();
        SecretFilter::new(PLACEHOLDER.to_owned(), &all)
    };
    *hidden = Some(known);
}

/// The text without them.
pub fn without(text: &str) -> Cow<'_, str> {
    match &*HIDDEN.read().unwrap_or_else(PoisonError::into_inner) {
        Some(it) => it.hide(text),
        None => Cow::Borrowed(text),
    }
}
