//! What was typed that the user did not say: it stays at the site where it was typed.
//!
//! A page may be honest and still send what is typed in it elsewhere: a partner's search form, a preview that fetches what it is told
//! of, suggestions of a third party. So a request is held against what was typed before it leaves to another site.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode;

use commis_net::egress::site_of;

/// Letters and digits of a value that tell it, wherever in it they stand.
const PART: usize = 8;
/// The same of its beginning, which pages send while the rest is typed; of a shorter value all of it.
const BEGINNING: usize = 6;
/// Shorter ones stand anywhere.
const SHORTEST: usize = 4;
/// Bytes of a body that are looked at. What is larger may hold anything.
const BODY: usize = 256 * 1024;

/// By the site where it was typed.
#[derive(Default)]
pub struct TypedValues {
    parts: BTreeMap<String, Parts>,
    /// The address that is opened by what was decided, and not by a page.
    opens: Option<String>,
}

#[derive(Default)]
struct Parts {
    beginnings: BTreeSet<Vec<char>>,
    parts: BTreeSet<Vec<char>>,
}

impl TypedValues {
    /// A value was typed in a page there.
    pub fn add(&mut self, at: &str, value: &str) {
        let all = squeezed(value);
        let parts = self.parts.entry(site_of(at)).or_default();
        if all.len() >= SHORTEST {
            parts.beginnings.insert(all[..all.len().min(BEGINNING)].to_vec());
        }
        parts.parts.extend(all.windows(PART).map(<[char]>::to_vec));
    }

    pub fn has_any(&self) -> bool {
        !self.parts.is_empty()
    }

    /// That page is opened next.
    pub fn opens(&mut self, url: &str) {
        self.opens = Some(url.to_owned());
    }

    /// The site of which something leaves to another with that request, where it does.
    pub fn find_leak(&self, url: &str, body: Option<&[u8]>) -> Option<&str> {
        let to = site_of(url);
        let others: Vec<_> = self.parts.iter().filter(|it| *it.0 != to).collect();
        if others.is_empty() || self.opens.as_deref() == Some(url) {
            return None;
        }
        let body = body.unwrap_or_default();
        if let Some((site, _)) = others.first().filter(|_| body.len() > BODY) {
            return Some(site);
        }
        let sent = [squeezed(url), squeezed(&String::from_utf8_lossy(body))];
        let held = |parts: &Parts| {
            sent.iter().any(|it| {
                it.windows(PART).any(|it| parts.parts.contains(it))
                    || (SHORTEST..=BEGINNING)
                        .any(|n| it.windows(n).any(|it| parts.beginnings.contains(it)))
            })
        };
        others.into_iter().find(|it| held(it.1)).map(|it| it.0.as_str())
    }

    /// The site of which something may leave to another, in whatever coding, with a request that a page makes there; `None` for `at`:
    /// it is not known which page.
    pub fn may_leave(&self, at: Option<&str>, url: &str) -> Option<&str> {
        let to = site_of(url);
        let at = at.filter(|it| it.starts_with("http")).map(site_of);
        let from = |it: &&String| **it != to && at.as_ref().is_none_or(|at| at == *it);
        self.parts.keys().find(from).map(String::as_str)
    }
}

/// Letters and digits alone, small, with what is percent-coded undone, twice at most.
fn squeezed(text: &str) -> Vec<char> {
    let mut text = text.to_owned();
    for _ in 0..2 {
        text = percent_decode(text.as_bytes()).decode_utf8_lossy().into_owned();
    }
    text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_stays_at_its_site() {
        let mut it = TypedValues::default();
        it.add("http://bank.test/letter", "IBAN DE00 1234 5678");
        it.add("http://bank.test/letter", "k7#Qx");
        let leaves = |url: &str, body: &str| it.find_leak(url, Some(body.as_bytes())).is_some();
        for (url, body) in [
            ("http://shop.test/x?c=IBAN+DE00+1234+5678", ""),
            ("http://shop.test/x?c=DE00%201234%205678", ""),
            ("http://shop.test/x?c=DE00%25201234%25205678", ""),
            ("http://shop.test/IBAN/DE/00", ""),
            ("http://iban-de00-1234.shop.test/", ""),
            ("http://cdn.test/a.png", "{\"a\":[\"iban de00\"]}"),
            ("http://shop.test/suggest?q=ibande", ""),
            ("http://shop.test/s?q=k7%23Qx", ""),
        ] {
            assert!(leaves(url, body), "{url} {body}");
        }
        for (url, body) in [
            ("http://bank.test/x?c=IBAN+DE00+1234+5678", ""),
            ("http://www.bank.test/x", "IBAN DE00 1234 5678"),
            ("http://shop.test/x?c=lantern", ""),
            ("http://shop.test/urbane/5678", ""),
        ] {
            assert!(!leaves(url, body), "{url} {body}");
        }
        let large = vec![b'a'; BODY + 1];
        assert!(it.find_leak("http://shop.test/", Some(&large)).is_some());
        it.opens("http://shop.test/?q=IBAN+DE00+1234+5678");
        assert!(it.find_leak("http://shop.test/?q=IBAN+DE00+1234+5678", None).is_none());
        assert!(it.find_leak("http://shop.test/?r=IBAN+DE00+1234+5678", None).is_some());
    }

    #[test]
    fn where_something_was_typed_it_may_leave_in_any_coding() {
        let mut it = TypedValues::default();
        assert_eq!(it.may_leave(None, "http://shop.test/"), None);
        it.add("http://bank.test/letter", "x");
        for (at, to, expected) in [
            (Some("http://bank.test/a"), "http://shop.test/", true),
            (Some("http://www.bank.test/a"), "http://shop.test/", true),
            (None, "http://shop.test/", true),
            (Some("about:blank"), "http://shop.test/", true),
            (Some("http://shop.test/"), "http://shop.test/a", false),
            (Some("http://shop.test/"), "http://bank.test/", false),
            (Some("http://bank.test/"), "http://bank.test/a", false),
        ] {
            assert_eq!(it.may_leave(at, to).is_some(), expected, "{at:?} {to}");
        }
    }
}
