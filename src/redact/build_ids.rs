//! Which build of a site a request names: `/_next/data/<id>/search.json`. It is no secret, and gone with the next deploy; the
//! page that made the request holds it, so a run can take it from there.

use std::collections::BTreeMap;

use url::Url;

use super::{encode::decode_percent, raw::RawExchange};
use commis_artifacts::recording::{Exchange, Origin, ResourceType, ValueOrigin};

/// Words of the names under which pages hold such a value; lower case.
const NAMES: &[&str] = &["build", "deploy", "commit", "release", "revision", "version", "hash"];
const LENGTHS: std::ops::RangeInclusive<usize> = 6..=64;

/// Values that may name a build, and the pages that hold them.
pub struct BuildIds {
    /// By exchange: the place in the request, and the value.
    wanted: Vec<(usize, String, String)>,
    /// By value: the exchange and the text before it.
    found: BTreeMap<String, (usize, String)>,
    scripts: Vec<BuiltScript>,
}

/// A script whose name changes with the build: `/static/app.1a2b3c4d.js`.
struct BuiltScript {
    exchange: usize,
    value: String,
    /// Its path before and after the value.
    before: String,
    after: String,
    /// The first page that names it.
    page: Option<usize>,
}

impl BuiltScript {
    fn of(exchange: usize, raw: &RawExchange) -> Option<Self> {
        if raw.resource_type != ResourceType::Script {
            return None;
        }
        let path = raw.url.path();
        let start = path.rfind('/')? + 1;
        let mut at = start;
        for part in path[start..].split(['.', '-', '_']) {
            let end = at + part.len();
            if looks_built(part) {
                return Some(Self {
                    exchange,
                    value: part.to_owned(),
                    before: path[..at].to_owned(),
                    after: path[end..].to_owned(),
                    page: None,
                });
            }
            at = end + 1;
        }
        None
    }

    /// The page names it once, and what stands before the value there stands before nothing else.
    fn is_named_by(&self, page: &str) -> bool {
        let is_once = |it: &str| page.matches(it).take(2).count() == 1;
        !self.after.is_empty()
            && is_once(&self.before)
            && is_once(&format!("{}{}{}", self.before, self.value, self.after))
    }
}

impl BuildIds {
    /// `known` are texts that a person gave or saw: addresses and typed values.
    pub fn new(exchanges: &[RawExchange], known: &[&str]) -> Self {
        let is_known = |it: &str| {
            let low = it.to_lowercase();
            known.iter().any(|text| text.to_lowercase().contains(&low))
        };
        let mut wanted = Vec::new();
        for (i, raw) in exchanges.iter().enumerate() {
            let mut add = |at: String, value: &str| {
                if looks_built(value) && !is_known(value) {
                    wanted.push((i, at, value.to_owned()));
                }
            };
            for segment in raw.url.path_segments().into_iter().flatten() {
                add("path".to_owned(), &decode_percent(segment));
            }
            for (name, value) in raw.url.query_pairs() {
                add(format!("query:{name}"), &value);
            }
        }
        let scripts = exchanges.iter().enumerate().filter_map(|(i, it)| BuiltScript::of(i, it));
        Self { wanted, found: BTreeMap::new(), scripts: scripts.collect() }
    }

    /// Looks for the values in a page that anybody gets.
    pub fn find_in_page(&mut self, i: usize, page: &str, raw: &RawExchange, stored: &Exchange) {
        let asked = raw.method.eq_ignore_ascii_case("GET") && raw.status == Some(200);
        if !asked || !stored.measures.typed_in_request.is_empty() || stored.url.contains("REDACTED")
        {
            return;
        }
        for it in self.scripts.iter_mut().filter(|it| it.exchange > i && it.page.is_none()) {
            if it.is_named_by(page) {
                it.page = Some(i);
            }
        }
        for (at, _, value) in &self.wanted {
            if *at > i
                && !self.found.contains_key(value)
                && let Some(after) = before(page, value)
            {
                self.found.insert(value.clone(), (i, after));
            }
        }
    }

    /// Adds the origins of what was found.
    pub fn trace(self, exchanges: &mut [Exchange], urls: &[String]) {
        let host = |it: &str| Url::parse(it).ok()?.host_str().map(str::to_owned);
        for it in self.scripts {
            let Some(page) = it.page else { continue };
            // Of use is what a request takes a value from.
            let is_source = |origin: &ValueOrigin| matches!(&origin.origin, Some(Origin::Document { url, .. }) if *url == urls[it.exchange]);
            let is_used = exchanges.iter().flat_map(|it| &it.origins).any(is_source);
            if is_used && host(&urls[page]) == host(&urls[it.exchange]) {
                exchanges[it.exchange].origins.push(ValueOrigin {
                    placeholder: it.value,
                    at: "path".to_owned(),
                    origin: Some(Origin::Document {
                        url: urls[page].clone(),
                        after: it.before,
                        until: it.after,
                    }),
                });
            }
        }
        for (i, at, value) in self.wanted {
            let Some((page, after)) = self.found.get(&value).filter(|it| it.0 < i) else {
                continue;
            };
            // A build is of one site.
            if host(&urls[*page]) == host(&urls[i]) {
                exchanges[i].origins.push(ValueOrigin {
                    placeholder: value,
                    at,
                    origin: Some(Origin::Document {
                        url: urls[*page].clone(),
                        after: after.clone(),
                        until: "\"".to_owned(),
                    }),
                });
            }
        }
    }
}

fn looks_built(value: &str) -> bool {
    let plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let has = |is: fn(&u8) -> bool| value.bytes().any(|b| is(&b));
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && value.len() >= 16;
    LENGTHS.contains(&value.len())
        && plain
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || mixed)
}

/// `"buildId":"` before the value, if that stands once.
fn before(page: &str, value: &str) -> Option<String> {
    let at = page.find(&format!("\"{value}\""))?;
    let key_end = page[..at].trim_end().strip_suffix(':')?.trim_end().strip_suffix('"')?.len();
    let key_start = page[..key_end].rfind('"')? + 1;
    let key = &page[key_start..key_end];
    let low = key.to_ascii_lowercase();
    let after = &page[key_start - 1..=at];
    let named = key.len() <= 40 && NAMES.iter().any(|it| low.contains(it));
    (named && page.matches(after).take(2).count() == 1).then(|| after.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_before_a_build_id() {
        let page = r#"{"page":"/","buildId": "Zk3vQ9xT7bLm2pWc8","slug":"a1b2c3d4"}"#;
        assert_eq!(before(page, "Zk3vQ9xT7bLm2pWc8").as_deref(), Some("\"buildId\": \""));
        assert_eq!(before(page, "a1b2c3d4"), None);
        assert_eq!(before(&page.repeat(2), "Zk3vQ9xT7bLm2pWc8"), None);
        let script: Url = "http://a.test/static/app.0f3e9a1b.js".parse().unwrap();
        let it = BuiltScript {
            exchange: 1,
            value: "0f3e9a1b".to_owned(),
            before: script.path()[..12].to_owned(),
            after: ".js".to_owned(),
            page: None,
        };
        assert_eq!(it.before, "/static/app.");
        let page = r#"<script src="/static/app.0f3e9a1b.js"></script>"#;
        assert!(it.is_named_by(page) && !it.is_named_by(&page.repeat(2)));
        assert!(!it.is_named_by(r#"<script src="/static/app.11111111.js"></script>"#));
        assert!(looks_built("0f3e9a1b") && !looks_built("products") && !looks_built("20261122"));
    }
}
