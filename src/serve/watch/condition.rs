//! What of a difference counts: `added`, `removed`, `change`, `change:items[].price`.

use super::diff::Kind;
use commis_base::error::{Code, Error, Result};

const MAX: usize = 200;

/// One condition, as a person wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Added,
    Removed,
    Change(Option<Place>),
}

/// A field of the items of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where the list stands in the answer; empty where the answer is the list.
    list: String,
    path: String,
}

impl Condition {
    /// Fails with `PARAM_INVALID`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::new(Code::ParamInvalid, "`on` is added, removed, change or change:PATH")
                .hint("for example change:items[].price; without it everything counts")
        };
        match text.split_once(':') {
            None if text == "added" => Ok(Self::Added),
            None if text == "removed" => Ok(Self::Removed),
            None if text == "change" => Ok(Self::Change(None)),
            Some(("change", path)) if !path.is_empty() && path.len() <= MAX => {
                Ok(Self::Change(Some(Place::parse(path))))
            }
            _ => Err(wrong()),
        }
    }

    /// All that were given; without any, everything counts.
    pub fn all(texts: &[String]) -> Vec<Self> {
        if texts.is_empty() {
            return vec![Self::Added, Self::Removed, Self::Change(None)];
        }
        texts.iter().filter_map(|it| Self::parse(it).ok()).collect()
    }

    pub fn holds(&self, kind: Kind, at: &str) -> bool {
        match (self, kind) {
            (Self::Added, Kind::Added)
            | (Self::Removed, Kind::Removed)
            | (Self::Change(None), Kind::Changed) => true,
            (Self::Change(Some(it)), Kind::Changed) => at
                .strip_prefix(&it.path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
            _ => false,
        }
    }

    /// The field that is watched.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Change(Some(it)) => Some(&it.path),
            _ => None,
        }
    }

    /// The list that it is about, where it says so.
    pub fn list(&self) -> Option<&str> {
        match self {
            Self::Change(Some(it)) if !it.list.is_empty() => Some(&it.list),
            _ => None,
        }
    }
}

impl Place {
    /// Reads `price`, `[].price`, `$[].price`, `items[].price.amount`.
    fn parse(text: &str) -> Self {
        let text = text.strip_prefix('$').unwrap_or(text);
        let (list, path) = text.rsplit_once("[]").unwrap_or(("", text));
        let plain = |it: &str| it.replace("[]", "").trim_matches('.').to_owned();
        Self { list: plain(list), path: plain(path) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_for_what_they_name() {
        let check = |text: &str, path: Option<&str>, list: Option<&str>| {
            let it = Condition::parse(text).unwrap();
            assert_eq!((it.path(), it.list()), (path, list), "{text}");
            it
        };
        let it = check("change:items[].price", Some("price"), Some("items"));
        assert!(it.holds(Kind::Changed, "price") && it.holds(Kind::Changed, "price.amount"));
        assert!(!it.holds(Kind::Changed, "price_before") && !it.holds(Kind::Added, ""));
        check("change:$[].price.amount", Some("price.amount"), None);
        check("change:price", Some("price"), None);
        let it = check("change", None, None);
        assert!(it.holds(Kind::Changed, "anything") && !it.holds(Kind::Removed, ""));
        assert_eq!(Condition::all(&[]).len(), 3);
        for bad in ["", "changed", "change:", "price", "added:x", "removed:"] {
            assert!(Condition::parse(bad).is_err(), "{bad}");
        }
    }
}
