//! Values of a task in the address of its page.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;

/// An address that was opened with values of parameters that nobody typed: the page without them, and the address with the parameters in
/// their places. `None` where it holds none, as the whole of a value in its query or of a part of its path.
pub fn split_address(
    address: &str,
    params: &BTreeMap<String, String>,
    used: &mut BTreeSet<String>,
) -> Option<(String, String)> {
    let (front, fragment) =
        address.split_once('#').map_or((address, None), |it| (it.0, Some(it.1)));
    let (base, query) = front.split_once('?').map_or((front, None), |it| (it.0, Some(it.1)));
    let host = base.find("://").map(|at| at + 3)?;
    let (origin, path) = base.split_at(base[host..].find('/').map_or(base.len(), |at| host + at));
    let mut place = |written: &str| {
        let plain = percent_decode_str(&written.replace('+', " ")).decode_utf8_lossy().into_owned();
        let (name, _) = params.iter().find(|it| *it.1 == plain && !plain.is_empty())?;
        used.insert(name.clone()).then(|| format!("{{{name}}}"))
    };
    let mut of_path = false;
    let parts: Vec<String> = path
        .split('/')
        .map(|it| {
            let new = place(it);
            of_path |= new.is_some();
            new.unwrap_or_else(|| it.to_owned())
        })
        .collect();
    let (mut kept, mut pairs) = (Vec::new(), Vec::new());
    for pair in query.into_iter().flat_map(|it| it.split('&')) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if let Some(new) = place(value) {
            pairs.push(format!("{name}={new}"));
        } else {
            kept.push(pair);
            pairs.push(pair.to_owned());
        }
    }
    if !of_path && kept.len() == pairs.len() {
        return None;
    }
    let with = |path: &str, pairs: &str| {
        let query = if pairs.is_empty() { String::new() } else { format!("?{pairs}") };
        format!("{origin}{path}{query}")
    };
    let start = if of_path { with("/", "") } else { with(path, &kept.join("&")) };
    let fragment = fragment.map_or(String::new(), |it| format!("#{it}"));
    Some((start, with(&parts.join("/"), &pairs.join("&")) + &fragment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gives_values_that_nobody_typed() {
        let params = |all: &[(&str, &str)]| {
            all.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect()
        };
        let check = |address: &str, all: &[(&str, &str)], expected: Option<(&str, &str)>| {
            let mut used = BTreeSet::new();
            let found = split_address(address, &params(all), &mut used);
            let found = found.as_ref().map(|it| (it.0.as_str(), it.1.as_str()));
            assert_eq!(found, expected, "{address}");
            assert_eq!(used.is_empty(), expected.is_none(), "{address}");
        };
        let q = [("q", "garden hose")];
        check(
            "http://a.test/s?q=garden+hose&n=10#top",
            &q,
            Some(("http://a.test/s?n=10", "http://a.test/s?q={q}&n=10#top")),
        );
        check(
            "http://a.test/s?q=garden%20hose",
            &q,
            Some(("http://a.test/s", "http://a.test/s?q={q}")),
        );
        check(
            "http://a.test/in/garden%20hose/list?n=1",
            &q,
            Some(("http://a.test/", "http://a.test/in/{q}/list?n=1")),
        );
        check("http://a.test/s?q=garden+hoses", &q, None);
        check("http://a.test/s?q=", &[("q", "")], None);
        check("http://a.test", &q, None);
        // What was typed as well is in the steps.
        let mut used = BTreeSet::from(["q".to_owned()]);
        assert_eq!(split_address("http://a.test/s?q=garden+hose", &params(&q), &mut used), None);
    }
}
