//! The wire decides: what an act asked for when it was recorded, held against what it asks for when it is done again.
//!
//! No score tells an element that moved from one that is gone. So a request is stopped before it leaves unless it is one that
//! the recorded act made: the same method, place, and parameters, but for what was asked to be another value.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::moment::{self, VolatileContext};
use commis_net::egress::site_of;
use commis_recipe::trackers;

/// Requests of one act that are remembered.
const MOST: usize = 50;
const PARAMETERS: usize = 200;
/// How deep a body of JSON is looked into.
const DEPTH: usize = 8;
const VALUE: usize = 120;
/// Links to one place whose parameters are told apart from what they all carry.
const FEWEST: usize = 3;
pub const MASK: &str = "[masked]";
/// Parameters that a message names.
const NAMED: usize = 3;

/// A request as it left, secrets left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentRequest {
    pub method: String,
    pub origin: String,
    pub path: String,
    /// Of the query, and of a body that is a form or JSON, whose members are named `variables.page` and `ids[0]`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// Nobody waits for its answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beacon: bool,
}

/// What may be another than it was.
#[derive(Clone, Debug, Default)]
pub struct AllowedDifferences {
    /// Values: as recorded, as given now.
    pub values: Vec<(String, String)>,
    /// Origins, likewise.
    pub origins: Vec<(String, String)>,
    /// What may come in addition where nothing is changed.
    pub carried: Vec<LinkParameter>,
    /// What a path begins with since the site leads to another of its pages, where nothing is changed.
    pub prefix: Option<String>,
    pub moment: VolatileContext,
}

/// A parameter that every link of a page to that place carries, with that value: the page's, and not what one of them asks for. A later
/// version of an application may say how long its lists are where the one before did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkParameter {
    origin: String,
    path: String,
    name: String,
    value: String,
}

/// What the links of a page to a place have in common, where there are several that differ.
pub fn carried(links: &[String]) -> Vec<LinkParameter> {
    let mut places: BTreeMap<(String, String), Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for it in links.iter().filter_map(|it| SentRequest::from_parts("GET", it, None)) {
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
                out.push(LinkParameter { origin, path, name: name.clone(), value: value.clone() });
            }
        }
    }
    out
}

impl SentRequest {
    /// `None` for what is no HTTP.
    pub fn from_parts(method: &str, url: &str, body: Option<&str>) -> Option<Self> {
        let url = Url::parse(url).ok().filter(|it| matches!(it.scheme(), "http" | "https"))?;
        let mut parameters = BTreeMap::new();
        url.query_pairs()
            .for_each(|(name, value)| insert_parameter(&mut parameters, &name, &value));
        match body.map(|it| (it, serde_json::from_str::<Value>(it))) {
            Some((_, Ok(it @ (Value::Object(_) | Value::Array(_))))) => {
                flatten(&mut parameters, "", &it, DEPTH);
            }
            Some((text, _)) if text.contains('=') && !text.contains(char::is_whitespace) => {
                url::form_urlencoded::parse(text.as_bytes())
                    .for_each(|(name, value)| insert_parameter(&mut parameters, &name, &value));
            }
            Some((text, _)) => {
                insert_parameter(&mut parameters, "", &format!("{} bytes", text.len()));
            }
            None => {}
        }
        Some(Self {
            method: method.to_ascii_uppercase(),
            origin: url.origin().ascii_serialization(),
            path: commis_redact::message(url.path()),
            parameters,
            beacon: false,
        })
    }

    /// Whether it may change something where it goes.
    pub fn changes(&self) -> bool {
        // Headers, which may name what is done, are not kept: only a question by its method can be known to read.
        let is_question = matches!(&*self.method, "GET" | "HEAD" | "OPTIONS");
        !is_question || self.url().is_none_or(|it| commis_effect::names_change(&it))
    }

    /// Its address, as far as it is kept.
    fn url(&self) -> Option<Url> {
        let mut url = Url::parse(&format!("{}{}", self.origin, self.path)).ok()?;
        if !self.parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.parameters);
        }
        Some(url)
    }

    pub fn site(&self) -> Option<String> {
        site(&self.origin)
    }

    /// What tells somebody else of what is done, and does nothing.
    pub fn is_aside(&self) -> bool {
        let host = Url::parse(&self.origin).ok().and_then(|it| it.host_str().map(str::to_owned));
        self.beacon || host.is_some_and(|it| trackers::is_telemetry(&it))
    }

    pub fn describe(&self) -> String {
        format!("{} {}{}", self.method, self.origin, self.path)
    }

    /// Every part of it that may name something.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').chain(self.parameters.values().map(String::as_str))
    }

    /// Whether `now` is this request again.
    pub fn fits(&self, now: &Self, other: &AllowedDifferences) -> bool {
        self.differs(now, other).is_some_and(|it| it.is_empty())
    }

    /// The parameters in which `now` is another request than this; `None` where it goes to another place.
    pub fn differs<'a>(
        &'a self,
        now: &'a Self,
        other: &AllowedDifferences,
    ) -> Option<Vec<&'a str>> {
        let moved = |from: &str, to: &str, among: &[(String, String)]| {
            from == to || among.iter().any(|it| it.0 == from && it.1 == to)
        };
        // What a secret was nobody knows, but what it looked like.
        let hidden = |it: &str| it == MASK || commis_redact::is_placeholder(it);
        let unknown = |it: &str| hidden(it) || other.moment.is_free(it, self.changes());
        let masked =
            |was: &str, is: &str| (hidden(was) || hidden(is)) && unknown(was) && unknown(is);
        let segment = |(was, is): (&str, &str)| {
            let decode = |it: &str| {
                percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned()
            };
            was == is
                || moved(&decode(was), &decode(is), &other.values)
                || masked(was, is)
                || (!self.changes() && is_build(was, is))
                || other.moment.allows(was, is, self.changes())
        };
        let path = |was: &str| {
            was.split('/').count() == now.path.split('/').count()
                && was.split('/').zip(now.path.split('/')).all(segment)
        };
        let prefixed = || {
            let prefix = other.prefix.as_ref().filter(|_| !self.changes());
            prefix.is_some_and(|it| path(&format!("{it}{}", self.path)))
        };
        let is_there = self.method == now.method
            && moved(&self.origin, &now.origin, &other.origins)
            && (path(&self.path) || prefixed());
        if !is_there {
            return None;
        }
        let value = |was: &str, is: &str| {
            // What is asked for while one types.
            let typed = |it: &(String, String)| it.0.starts_with(was) && it.1.starts_with(is);
            let typing = !self.changes() && !was.is_empty() && !is.is_empty();
            masked(was, is)
                || moved(was, is, &other.values)
                || (typing && other.values.iter().any(typed))
                || other.moment.allows(was, is, self.changes())
        };
        let added = |name: &str, is: &str| {
            let it = LinkParameter {
                origin: now.origin.clone(),
                path: now.path.clone(),
                name: name.to_owned(),
                value: is.to_owned(),
            };
            !self.changes() && other.carried.contains(&it)
        };
        let changed = self.parameters.iter().filter_map(|(name, was)| {
            let same = now.parameters.get(name).is_some_and(|is| value(was, is));
            (!same).then_some(name.as_str())
        });
        let new = now.parameters.iter().filter_map(|(name, is)| {
            let known = self.parameters.contains_key(name) || added(name, is);
            (!known).then_some(name.as_str())
        });
        Some(changed.chain(new).collect())
    }
}

fn insert_parameter(out: &mut BTreeMap<String, String>, name: &str, value: &str) {
    // A list or an object in a parameter is one.
    if value.starts_with(['{', '['])
        && let Ok(it @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(value)
    {
        return flatten(out, name, &it, DEPTH);
    }
    if out.len() < PARAMETERS {
        let last = name.rsplit('.').next().unwrap_or(name);
        let shown = commis_redact::message(value);
        let is_hidden = shown != value && moment::is_generated(value);
        let value = if is_hidden || commis_redact::typed_secret(last, value).is_some() {
            MASK.to_owned()
        } else {
            shown.chars().take(VALUE).collect()
        };
        out.insert(commis_redact::message(name), value);
    }
}

fn flatten(out: &mut BTreeMap<String, String>, name: &str, it: &Value, depth: usize) {
    let Some(deeper) = depth.checked_sub(1) else {
        return insert_parameter(out, name, &format!("{} bytes", it.to_string().len()));
    };
    match it {
        Value::Object(all) if !all.is_empty() => {
            for (key, it) in all {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(out, &name, it, deeper);
            }
        }
        Value::Array(all) if !all.is_empty() => {
            for (at, it) in all.iter().enumerate() {
                flatten(out, &format!("{name}[{at}]"), it, deeper);
            }
        }
        Value::String(it) => insert_parameter(out, name, it),
        Value::Object(_) | Value::Array(_) => {
            out.insert(commis_redact::message(name), it.to_string());
        }
        other => insert_parameter(out, name, &other.to_string()),
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
pub struct RequestTap {
    pub sent: Vec<SentRequest>,
    pub hold: Option<ReplayGuard>,
}

#[derive(Debug, Default)]
pub struct ReplayGuard {
    /// What the act asked for when it was recorded.
    pub expected: Vec<SentRequest>,
    /// What else pages of that session asked for, whatever was done.
    pub known: Vec<SentRequest>,
    /// What timers of acts before may ask for.
    pub timed: Vec<SentRequest>,
    pub other: AllowedDifferences,
    pub fitted: bool,
    /// Whose requests tell what the act does: the page's site, and others where it asks for nothing there; all where there are none.
    /// What else is asked of other sites may be another each time, and where it is one that may change something there, is stopped.
    pub sites: BTreeSet<String>,
    /// The first that was stopped.
    pub stopped: Option<StoppedRequest>,
}

/// A request that did not leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedRequest {
    pub told: String,
    /// In which it differs from a recorded one to the same place.
    pub parameters: Vec<String>,
}

impl std::fmt::Display for StoppedRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.parameters[..] {
            [] => write!(f, "{}, which it did not when it was recorded", self.told),
            all => {
                let named: Vec<String> =
                    all.iter().take(NAMED).map(|it| format!("`{it}`")).collect();
                write!(
                    f,
                    "{}, with another {} than when it was recorded",
                    self.told,
                    named.join(", ")
                )
            }
        }
    }
}

/// The sites whose requests tell what an act on a page of that site does.
pub fn deciding(site: Option<String>, requests: &[SentRequest]) -> BTreeSet<String> {
    let told: Vec<&SentRequest> = requests.iter().filter(|it| !it.is_aside()).collect();
    let mut out: BTreeSet<String> = site.into_iter().collect();
    if !told.iter().any(|it| it.site().is_some_and(|it| out.contains(&it))) {
        out.extend(told.iter().filter_map(|it| it.site()));
    }
    out
}

impl RequestTap {
    /// Whether it may leave. `is_page`: it is for the page itself, which goes where it leads.
    pub fn admits(&mut self, sent: SentRequest, is_page: bool) -> bool {
        let admitted = self.hold.as_mut().is_none_or(|it| it.admits(&sent, is_page));
        if admitted && self.sent.len() < MOST {
            self.sent.push(sent);
        }
        admitted
    }
}

impl ReplayGuard {
    /// Whether it tells what the act does.
    pub fn decides(&self, it: &SentRequest) -> bool {
        let is_own = it.site().is_some_and(|it| self.sites.contains(&it));
        !it.is_aside() && (self.sites.is_empty() || is_own)
    }

    /// The first request that the act has to make again, where there is one. What a timer asked for, too, comes when it comes.
    pub fn required(&self) -> Option<&SentRequest> {
        let timed = |it: &SentRequest| {
            !it.changes() && self.timed.iter().any(|of| of.fits(it, &self.other))
        };
        self.expected.iter().find(|it| self.decides(it) && !timed(it))
    }

    fn admits(&mut self, sent: &SentRequest, is_page: bool) -> bool {
        let among = |all: &[SentRequest]| all.iter().any(|it| it.fits(sent, &self.other));
        let decides = is_page || self.decides(sent);
        if among(&self.expected) {
            self.fitted |= decides;
            return true;
        }
        if among(&self.timed) {
            return true;
        }
        // What a page asks for by itself, and what follows from what fitted.
        if !sent.changes() && (self.fitted || among(&self.known)) {
            return true;
        }
        let knows = |all: &[SentRequest]| all.iter().any(|it| it.origin == sent.origin);
        if !decides && !sent.changes() && (knows(&self.expected) || knows(&self.known)) {
            return true;
        }
        if decides && self.stopped.is_none() {
            let near = self.expected.iter().chain(&self.known);
            let near = near.filter_map(|it| it.differs(sent, &self.other)).min_by_key(Vec::len);
            let parameters = near.unwrap_or_default().into_iter().map(str::to_owned).collect();
            self.stopped = Some(StoppedRequest { told: sent.describe(), parameters });
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(method: &str, url: &str, body: Option<&str>) -> SentRequest {
        SentRequest::from_parts(method, url, body).unwrap()
    }

    #[test]
    fn only_the_same_request_fits() {
        let was = sent("POST", "http://shop.test/cart?x=1", Some("item=17&kind=abc"));
        let none = AllowedDifferences::default();
        for (method, url, body, fits) in [
            ("POST", "http://shop.test/cart?x=1", "item=17&kind=abc", true),
            ("POST", "http://shop.test/cart?x=1", "item=17&kind=def", false),
            ("POST", "http://shop.test/cart?x=1", "item=20&kind=abc", false),
            ("POST", "http://shop.test/cart?x=1", "item=17&kind=abc&all=1", false),
            ("PUT", "http://shop.test/cart?x=1", "item=17&kind=abc", false),
            ("POST", "http://shop.test/cart/all?x=1", "item=17&kind=abc", false),
            ("POST", "http://other.test/cart?x=1", "item=17&kind=abc", false),
        ] {
            assert_eq!(was.fits(&sent(method, url, Some(body)), &none), fits, "{url} {body}");
        }
        let other = AllowedDifferences { values: vec![("17".into(), "20".into())], ..none };
        assert!(
            was.fits(&sent("POST", "http://shop.test/cart?x=1", Some("item=20&kind=abc")), &other)
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
        let other = AllowedDifferences { carried: carried(&all), ..AllowedDifferences::default() };
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
        let hold = ReplayGuard {
            expected: vec![act.clone()],
            known: vec![poll.clone()],
            ..ReplayGuard::default()
        };
        let mut tap = RequestTap { hold: Some(hold), ..RequestTap::default() };
        assert!(tap.admits(poll, false));
        assert!(!tap.admits(sent("POST", "http://a.test/save", Some(r#"{"id":2}"#)), false));
        assert!(!tap.admits(sent("GET", "http://a.test/remove", None), false));
        assert!(tap.admits(act, false));
        assert!(tap.admits(sent("GET", "http://a.test/list", None), false));
        assert!(!tap.admits(sent("POST", "http://a.test/track", None), false));
        let stopped = tap.hold.unwrap().stopped.unwrap();
        assert_eq!(
            stopped.to_string(),
            "POST http://a.test/save, with another `id` than when it was recorded"
        );
    }

    #[test]
    fn values_of_the_moment_are_found_wherever_they_stand() {
        let (a, b) = ("a8B3kQ92LmZ4", "Zq7Rt51xWv8k");
        let url = |it: &str| format!("http://a.test/graphql/{it}?run={it}");
        let body = |it: &str, page: u32| {
            format!(r#"{{"query":"q","variables":{{"page":{page},"deep":[{{"n":"{it}"}}]}}}}"#)
        };
        let was = sent("POST", &url(a), Some(&body(a, 1)));
        assert_eq!(was.parameters["variables.deep[0].n"], a);
        let other = AllowedDifferences {
            moment: VolatileContext { is_sure: true, ..VolatileContext::default() },
            ..AllowedDifferences::default()
        };
        assert!(was.fits(&sent("POST", &url(b), Some(&body(b, 1))), &other));
        let now = sent("POST", &url(b), Some(&body(b, 2)));
        assert_eq!(was.differs(&now, &other), Some(vec!["variables.page"]));
        let named =
            |it: &str| format!("http://a.test/x?v={}", urlencoded(&format!(r#"{{"n":"{it}"}}"#)));
        assert!(sent("GET", &named(a), None).fits(&sent("GET", &named(b), None), &other));
        let unsure = AllowedDifferences::default();
        assert_eq!(
            was.differs(&sent("POST", &url(a), Some(&body(b, 1))), &unsure),
            Some(vec!["variables.deep[0].n"])
        );
    }

    fn urlencoded(text: &str) -> String {
        url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
    }

    #[test]
    fn what_other_sites_are_asked_for_decides_nothing_unless_it_is_all() {
        let (shop, ads) = ("http://shop.test", "http://partner.test");
        let act = sent("POST", &format!("{shop}/save"), Some("id=1"));
        let picture = sent("GET", &format!("{ads}/px?r=1"), None);
        let beacon =
            SentRequest { beacon: true, ..sent("POST", &format!("{shop}/seen"), Some("x=1")) };
        let hold = |requests: &[&SentRequest]| {
            let expected: Vec<SentRequest> = requests.iter().map(|it| (*it).clone()).collect();
            let sites = deciding(Some("shop.test".into()), &expected);
            ReplayGuard { expected, sites, ..ReplayGuard::default() }
        };
        // A beacon came first, and is not asked for again.
        let all = hold(&[&beacon, &picture, &act]);
        assert_eq!(all.required(), Some(&act));
        let mut tap = RequestTap { hold: Some(all), ..RequestTap::default() };
        assert!(tap.admits(sent("GET", &format!("{ads}/px?r=2"), None), false));
        assert!(!tap.admits(sent("POST", &format!("{ads}/log"), Some("x=2")), false));
        assert!(!tap.admits(sent("GET", "http://new.test/px", None), false));
        let hold_now = tap.hold.as_ref().unwrap();
        assert!(hold_now.stopped.is_none() && !hold_now.fitted);
        assert!(tap.admits(act, false));
        // Where an act asks for nothing else, that is what it does.
        let only = hold(&[&picture]);
        assert_eq!(only.required(), Some(&picture));
        let mut tap = RequestTap { hold: Some(only), ..RequestTap::default() };
        assert!(!tap.admits(sent("GET", &format!("{ads}/px?r=2"), None), false));
        assert!(tap.hold.unwrap().stopped.unwrap().to_string().contains("another `r`"));
        assert_eq!(hold(&[&beacon]).required(), None);
    }

    #[test]
    fn secrets_are_left_out() {
        let login = |password: &str| {
            sent("POST", "http://a.test/login", Some(&format!("user=ann&password={password}")))
        };
        let it = login("correct-horse-9");
        assert_eq!(it.parameters["password"], MASK);
        assert!(it.fits(&login("battery-staple-7"), &AllowedDifferences::default()));
        // A name that says nothing: what was masked is not just anything.
        let go = |value: &str| sent("POST", "http://a.test/go", Some(&format!("v={value}")));
        let was = SentRequest { parameters: [("v".to_owned(), MASK.to_owned())].into(), ..go("x") };
        assert!(!was.fits(&go("yes"), &AllowedDifferences::default()));
        let sure = VolatileContext { is_sure: true, ..VolatileContext::default() };
        let sure = AllowedDifferences { moment: sure, ..AllowedDifferences::default() };
        assert!(was.fits(&go("a8B3kQ92LmZ4"), &sure));
        assert!(!was.fits(&go("a8B3kQ92LmZ4"), &AllowedDifferences::default()));
        // As the end of a session writes it.
        let placeholder = [("v".to_owned(), "[REDACTED:ticket#3]".to_owned())].into();
        let written = SentRequest { parameters: placeholder, ..go("x") };
        assert!(written.fits(&go("a8B3kQ92LmZ4"), &sure) && !written.fits(&go("yes"), &sure));
        let values = vec![(MASK.to_owned(), "hunter".to_owned())];
        assert!(
            was.fits(
                &go("hunter"),
                &AllowedDifferences { values, ..AllowedDifferences::default() }
            )
        );
    }
}
