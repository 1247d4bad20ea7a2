//! The wire decides: what an act asked for when it was recorded, held against what it asks for when it is done again.
//!
//! No score tells an element that moved from one that is gone. So a request is stopped before it leaves unless it is one that
//! the recorded act made: the same method, place, and parameters, but for what was asked to be another value.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use commis_net::egress::site_of;

/// Requests of one act that are remembered.
const MOST: usize = 50;
const PARAMETERS: usize = 100;
const VALUE: usize = 120;
/// Links to one place whose parameters are told apart from what they all carry.
const FEWEST: usize = 3;
pub const MASK: &str = "[masked]";
/// Parameters that are another each time.
const VOLATILE: &[&str] = &["csrf", "token", "nonce", "timestamp", "_"];

/// A request as it left, secrets left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sent {
    pub method: String,
    pub origin: String,
    pub path: String,
    /// Of the query, and of a body that is a form or JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

/// What may be another than it was.
#[derive(Clone, Debug, Default)]
pub struct Other {
    /// Values: as recorded, as given now.
    pub values: Vec<(String, String)>,
    /// Origins, likewise.
    pub origins: Vec<(String, String)>,
    /// What may come in addition where nothing is changed.
    pub carried: Vec<Carried>,
}

/// A parameter that every link of a page to that place carries, with that value: the page's, and not what one of them asks for. A later
/// version of an application may say how long its lists are where the one before did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    origin: String,
    path: String,
    name: String,
    value: String,
}

/// What the links of a page to a place have in common, where there are several that differ.
pub fn carried(links: &[String]) -> Vec<Carried> {
    let mut places: BTreeMap<(String, String), Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for it in links.iter().filter_map(|it| Sent::of("GET", it, None)) {
        let all = places.entry((it.origin, it.path)).or_default();
        if !it.parameters.is_empty() && !all.contains(&it.parameters) {
            all.push(it.parameters);
        }
    }
    let mut out = Vec::new();
    for ((origin, path), all) in places {
        let Some((first, others)) = all.split_first().filter(|it| it.1.len() + 1 >= FEWEST) else {
            continue;
        };
        for (name, value) in first {
            if others.iter().all(|it| it.get(name) == Some(value)) {
                let (origin, path) = (origin.clone(), path.clone());
                out.push(Carried { origin, path, name: name.clone(), value: value.clone() });
            }
        }
    }
    out
}

impl Sent {
    /// `None` for what is no HTTP.
    pub fn of(method: &str, url: &str, body: Option<&str>) -> Option<Self> {
        let url = Url::parse(url).ok().filter(|it| matches!(it.scheme(), "http" | "https"))?;
        let mut parameters = BTreeMap::new();
        let mut put = |name: &str, value: &str| {
            if parameters.len() < PARAMETERS {
                let value = match commis_redact::typed_secret(name, value) {
                    Some(_) => MASK.to_owned(),
                    None => commis_redact::message(value).chars().take(VALUE).collect(),
                };
                parameters.insert(commis_redact::message(name), value);
            }
        };
        url.query_pairs().for_each(|(name, value)| put(&name, &value));
        match body.map(|it| (it, serde_json::from_str::<Value>(it))) {
            Some((_, Ok(Value::Object(all)))) => {
                for (name, value) in &all {
                    put(name, &value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
            }
            Some((text, _)) if text.contains('=') && !text.contains(char::is_whitespace) => {
                url::form_urlencoded::parse(text.as_bytes())
                    .for_each(|(name, value)| put(&name, &value));
            }
            Some((text, _)) => put("", &format!("{} bytes", text.len())),
            None => {}
        }
        Some(Self {
            method: method.to_ascii_uppercase(),
            origin: url.origin().ascii_serialization(),
            path: commis_redact::message(url.path()),
            parameters,
        })
    }

    /// Whether it may change something where it goes.
    pub fn changes(&self) -> bool {
        !matches!(&*self.method, "GET" | "HEAD" | "OPTIONS")
    }

    pub fn site(&self) -> Option<String> {
        site(&self.origin)
    }

    pub fn told(&self) -> String {
        format!("{} {}{}", self.method, self.origin, self.path)
    }

    /// Whether `now` is this request again.
    pub fn fits(&self, now: &Self, other: &Other) -> bool {
        let moved = |from: &str, to: &str, among: &[(String, String)]| {
            from == to || among.iter().any(|it| it.0 == from && it.1 == to)
        };
        let segment = |(was, is): (&str, &str)| {
            let decode = |it: &str| {
                percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned()
            };
            was == is || moved(&decode(was), &decode(is), &other.values) || is_build(was, is)
        };
        let value = |name: &str, was: &str, is: &str| {
            let masked = was == MASK || is == MASK;
            let lower = name.to_ascii_lowercase();
            let volatile = VOLATILE.iter().any(|it| *it == lower)
                || (lower.contains("csrf") || lower.ends_with("token"));
            // What is asked for while one types.
            let typed = |it: &(String, String)| it.0.starts_with(was) && it.1.starts_with(is);
            let typing = !self.changes() && !was.is_empty() && !is.is_empty();
            masked
                || volatile
                || moved(was, is, &other.values)
                || (typing && other.values.iter().any(typed))
        };
        let added = |name: &str, is: &str| {
            let it = Carried {
                origin: now.origin.clone(),
                path: now.path.clone(),
                name: name.to_owned(),
                value: is.to_owned(),
            };
            !self.changes() && !self.parameters.contains_key(name) && other.carried.contains(&it)
        };
        let parameters: Vec<(&String, &String)> =
            now.parameters.iter().filter(|(name, is)| !added(name, is)).collect();
        self.method == now.method
            && moved(&self.origin, &now.origin, &other.origins)
            && self.path.split('/').count() == now.path.split('/').count()
            && self.path.split('/').zip(now.path.split('/')).all(segment)
            && self.parameters.keys().eq(parameters.iter().map(|it| it.0))
            && self
                .parameters
                .iter()
                .zip(parameters)
                .all(|((name, was), (_, is))| value(name, was, is))
    }
}

/// The registrable domain of an address.
pub fn site(url: &str) -> Option<String> {
    Some(site_of(url)).filter(|it| !it.is_empty())
}

/// Hashes that a new build of an application changes.
fn is_build(was: &str, is: &str) -> bool {
    let hash = |it: &str| {
        it.len() >= 16
            && it.bytes().all(|it| it.is_ascii_hexdigit())
            && it.bytes().any(|it| it.is_ascii_alphabetic())
    };
    hash(was) && hash(is)
}

/// Notes what pages ask for, and stops what was not expected.
#[derive(Debug, Default)]
pub struct Tap {
    pub sent: Vec<Sent>,
    pub hold: Option<Hold>,
}

#[derive(Debug, Default)]
pub struct Hold {
    /// What the act asked for when it was recorded.
    pub expected: Vec<Sent>,
    /// What else pages of that session asked for, whatever was done.
    pub known: Vec<Sent>,
    /// What timers of acts before may ask for.
    pub timed: Vec<Sent>,
    pub other: Other,
    pub fitted: bool,
    /// Where the page is. What it tells others, and may change something there, is stopped and no difference.
    pub site: Option<String>,
    /// The first that was stopped.
    pub stopped: Option<String>,
}

impl Tap {
    /// Whether it may leave.
    pub fn admits(&mut self, sent: Sent) -> bool {
        let admitted = self.hold.as_mut().is_none_or(|it| it.admits(&sent));
        if admitted && self.sent.len() < MOST {
            self.sent.push(sent);
        }
        admitted
    }
}

impl Hold {
    fn admits(&mut self, sent: &Sent) -> bool {
        let among = |all: &[Sent]| all.iter().any(|it| it.fits(sent, &self.other));
        if among(&self.expected) {
            self.fitted = true;
            return true;
        }
        if among(&self.timed) {
            return true;
        }
        // What a page asks for by itself, and what follows from what fitted.
        if !sent.changes() && (self.fitted || among(&self.known)) {
            return true;
        }
        if !(sent.changes()
            && self.site.as_ref().is_some_and(|it| sent.site().as_ref() != Some(it)))
        {
            self.stopped.get_or_insert_with(|| sent.told());
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(method: &str, url: &str, body: Option<&str>) -> Sent {
        Sent::of(method, url, body).unwrap()
    }

    #[test]
    fn only_the_same_request_fits() {
        let was = sent("POST", "http://shop.test/cart?x=1", Some("item=17&csrf=abc"));
        let none = Other::default();
        for (method, url, body, fits) in [
            ("POST", "http://shop.test/cart?x=1", "item=17&csrf=def", true),
            ("POST", "http://shop.test/cart?x=1", "item=20&csrf=abc", false),
            ("POST", "http://shop.test/cart?x=1", "item=17&csrf=abc&all=1", false),
            ("PUT", "http://shop.test/cart?x=1", "item=17&csrf=abc", false),
            ("POST", "http://shop.test/cart/all?x=1", "item=17&csrf=abc", false),
            ("POST", "http://other.test/cart?x=1", "item=17&csrf=abc", false),
        ] {
            assert_eq!(was.fits(&sent(method, url, Some(body)), &none), fits, "{url} {body}");
        }
        let other = Other { values: vec![("17".into(), "20".into())], ..none };
        assert!(
            was.fits(&sent("POST", "http://shop.test/cart?x=1", Some("item=20&csrf=")), &other)
        );
        let page = sent("GET", "http://shop.test/items/17", None);
        assert!(!page.fits(&sent("GET", "http://shop.test/items/18", None), &other));
        assert!(page.fits(&sent("GET", "http://shop.test/items/20", None), &other));
    }

    #[test]
    fn what_every_link_carries_may_come_in_addition() {
        let links = |all: &[&str]| -> Vec<String> {
            all.iter().map(|it| format!("http://a.test/ships/{it}")).collect()
        };
        let all = links(&["", "?sort=1&size=20", "?sort=2&size=20", "?page=2&size=20", "7?size=9"]);
        let other = Other { carried: carried(&all), ..Other::default() };
        let was = sent("GET", "http://a.test/ships/?sort=1", None);
        for (now, fits) in [
            ("?sort=1", true),
            ("?sort=1&size=20", true),
            ("?sort=1&size=50", false),
            ("?sort=2&size=20", false),
            ("?sort=1&desc=1&size=20", false),
            ("?size=20", false),
        ] {
            let now = sent("GET", &format!("http://a.test/ships/{now}"), None);
            assert_eq!(was.fits(&now, &other), fits, "{now:?}");
        }
        // Two may agree by chance, and what changes something is never more than it was.
        assert_eq!(carried(&links(&["?sort=1&size=20", "?sort=2&size=20"])), []);
        let was = sent("POST", "http://a.test/ships/?sort=1", None);
        assert!(!was.fits(&sent("POST", "http://a.test/ships/?sort=1&size=20", None), &other));
    }

    #[test]
    fn nothing_that_changes_leaves_unless_it_is_expected() {
        let act = sent("POST", "http://a.test/save", Some(r#"{"id":1}"#));
        let poll = sent("GET", "http://a.test/poll", None);
        let hold =
            Hold { expected: vec![act.clone()], known: vec![poll.clone()], ..Hold::default() };
        let mut tap = Tap { hold: Some(hold), ..Tap::default() };
        assert!(tap.admits(poll));
        assert!(!tap.admits(sent("POST", "http://a.test/save", Some(r#"{"id":2}"#))));
        assert!(!tap.admits(sent("GET", "http://a.test/remove", None)));
        assert!(tap.admits(act));
        assert!(tap.admits(sent("GET", "http://a.test/list", None)));
        assert!(!tap.admits(sent("POST", "http://a.test/track", None)));
        assert_eq!(tap.hold.unwrap().stopped.unwrap(), "POST http://a.test/save");
    }

    #[test]
    fn secrets_are_left_out() {
        let it = sent("POST", "http://a.test/login", Some("user=ann&password=correct-horse-9"));
        assert_eq!(it.parameters["password"], MASK);
    }
}
