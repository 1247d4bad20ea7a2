//! Which change of a typed value an address needs, where one example alone does not tell: `Saw` as `saw` is lower case, or a slug.
//! The recorded pages and requests name other things of the kind, and where the second example's is among them, the change must
//! give it.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use url::Url;

use commis_artifacts::recording::{Excerpt, SessionRecording};
use commis_recipe::template::{Filter, Piece, Template, escape};

/// Addresses of one recording that are looked at.
const MAX_ADDRESSES: usize = 4_000;

/// The address with another change of its parameters, where both give the first example's, only the other gives one that was
/// recorded for the second's, and that stands behind the same part of the path.
pub fn respelled(
    url: &str,
    (first, second): (&BTreeMap<String, String>, &BTreeMap<String, String>),
    recordings: &[&SessionRecording],
) -> Option<String> {
    let parts: Vec<&str> = url.split('/').collect();
    let is_literal = |it: &str| Template::parse(it).is_ok_and(|it| it.is_literal());
    let (at, part) = parts.iter().enumerate().skip(3).find(|it| !is_literal(it.1))?;
    let before = parts[at - 1];
    if at == 3 || !is_literal(before) || parts[at + 1..].iter().any(|it| !is_literal(it)) {
        return None;
    }
    let known = beside(before, recordings);
    let made = |part: &str, values: &BTreeMap<String, String>| -> Option<String> {
        Template::parse(part).ok()?.render(|it| values.get(it).cloned().ok_or(())).ok()
    };
    let own = made(part, first)?;
    if made(part, second).is_none_or(|it| known.contains(&it)) {
        return None;
    }
    let fits = |other: &String| {
        made(other, first).as_ref() == Some(&own)
            && made(other, second).is_some_and(|it| known.contains(&it))
    };
    let other = Filter::CHAINS.iter().find_map(|it| changed(part, it).filter(fits))?;
    let mut parts: Vec<&str> = parts.clone();
    parts[at] = &other;
    Some(parts.join("/"))
}

/// The part of a path with this change of its one parameter.
fn changed(part: &str, chain: &[Filter]) -> Option<String> {
    let template = Template::parse(part).ok()?;
    let mut values = 0;
    let out = template
        .pieces()
        .map(|it| match it {
            Piece::Literal(text) => escape(text),
            Piece::Value(name, _) => {
                values += 1;
                let parts = std::iter::once(name).chain(chain.iter().map(|it| it.as_str()));
                format!("{{{}}}", parts.collect::<Vec<_>>().join("|"))
            }
        })
        .collect();
    (values == 1).then_some(out)
}

/// What stands behind a part of a path, in the addresses of requests, pages and links.
fn beside(before: &str, recordings: &[&SessionRecording]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut add = |path: &str| {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let parts: Vec<String> = path
            .split('/')
            .map(|it| percent_decode_str(it).decode_utf8_lossy().into_owned())
            .collect();
        let pairs = parts.windows(2).filter(|it| it[0] == before && !it[1].is_empty());
        out.extend(pairs.map(|it| it[1].clone()));
    };
    for recording in recordings {
        let exchanges = recording.exchanges.iter().take(MAX_ADDRESSES);
        for url in exchanges.clone().map(|it| &it.url).chain([&recording.page.url]) {
            if let Ok(url) = Url::parse(url) {
                add(url.path());
            }
        }
        for it in exchanges {
            let Some(Excerpt::Html(text)) = &it.excerpt else { continue };
            let links = text.split("href=\"").skip(1).take(MAX_ADDRESSES);
            links.filter_map(|it| it.split('"').next()).for_each(&mut add);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures::{Entry, get, session};

    #[test]
    fn the_second_address_tells_the_change() {
        let values = |it: &str| BTreeMap::from([("kind".to_owned(), it.to_owned())]);
        let page = "<ul><li><a href=\"/kinds/drill-press/\">Drill press</a></li><li><a href=\"/kinds/saw/\">Saw</a></li></ul>";
        let home = Entry {
            mime: "text/html",
            answer: page.to_owned(),
            ..get("http://shop.test/", &json!({}))
        };
        let recording = session(&[("kind", "Saw")], "Drill press Saw", vec![home]);
        let check =
            |url: &str, a: &str, b: &str| respelled(url, (&values(a), &values(b)), &[&recording]);
        let url = "http://shop.test/page-data/kinds/{kind|lower}/page-data.json";
        let slug = "http://shop.test/page-data/kinds/{kind|slug}/page-data.json";
        assert_eq!(check(url, "Saw", "Drill press").as_deref(), Some(slug));
        assert_eq!(
            check("http://shop.test/kinds/{kind}", "saw", "drill press").as_deref(),
            Some("http://shop.test/kinds/{kind|slug}")
        );
        // It is given already, was not recorded, or stands behind something else.
        assert_eq!(check(slug, "Saw", "Drill press"), None);
        assert_eq!(check(url, "Saw", "Band saw"), None);
        assert_eq!(check("http://shop.test/tools/{kind|lower}", "Saw", "Drill press"), None);
        // Another change would not give the first.
        assert_eq!(check("http://shop.test/kinds/{kind|upper}", "Saw", "Drill press"), None);
    }
}
