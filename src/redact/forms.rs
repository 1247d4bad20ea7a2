//! Requests of pages in other charsets than UTF-8: their queries and forms are read in the page's charset, and kept in UTF-8.

use url::form_urlencoded;

use super::raw::{RawBody, RawExchange};
use commis_base::charset::{self, Charset, guess};

/// Writes the queries and forms of requests anew in UTF-8, where they hold a value in another charset; the names of those charsets.
pub fn all_to_utf8(all: &mut [RawExchange], values: &[&str]) -> Vec<Option<&'static str>> {
    if values.iter().all(|it| it.is_ascii()) {
        return vec![None; all.len()];
    }
    let declared: Vec<Option<&'static Charset>> = all.iter().map(declared).collect();
    let addresses: Vec<String> = all.iter().map(|it| it.url.to_string()).collect();
    all.iter_mut()
        .enumerate()
        .map(|(at, it)| {
            let is_referrer = |name: &str| name.eq_ignore_ascii_case("referer");
            let form = it.request_headers.iter().find(|it| is_referrer(&it.0));
            let form = form.and_then(|it| addresses.iter().position(|url| *url == it.1));
            let own = [form.and_then(|it| declared[it]), declared[at]];
            to_utf8(it, values, &own.into_iter().flatten().collect::<Vec<_>>())
        })
        .collect()
}

/// The charset that the answer declares.
fn declared(it: &RawExchange) -> Option<&'static Charset> {
    let header = it.response_headers.iter().find(|it| it.0.eq_ignore_ascii_case("content-type"));
    let body = if let RawBody::Captured(it) = &it.body { it.as_slice() } else { &[] };
    charset::declared_charset(header.map_or(&it.mime, |it| &it.1), body)
}

/// Writes the query and the form of a request anew in UTF-8, where they hold one of the values in another charset; its name.
fn to_utf8(
    raw: &mut RawExchange,
    values: &[&str],
    declared: &[&'static Charset],
) -> Option<&'static str> {
    let is_form = raw.request_headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("content-type")
            && value.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded")
    });
    let query = raw.url.query().unwrap_or("").as_bytes().to_vec();
    let form = raw.request_body.clone().filter(|_| is_form).unwrap_or_default();
    let bytes: Vec<u8> = [&query, &form]
        .into_iter()
        .flat_map(|it| pairs(it))
        .flat_map(|it| [it.0, it.1].concat())
        .collect();
    let charset = guess(&bytes, values, declared)?;
    let rewritten = |text: &[u8]| {
        let mut out = form_urlencoded::Serializer::new(String::new());
        for (name, value) in pairs(text) {
            out.append_pair(&charset.decode(&name).0, &charset.decode(&value).0);
        }
        out.finish()
    };
    if !query.is_empty() {
        raw.url.set_query(Some(&rewritten(&query)));
    }
    if !form.is_empty() {
        raw.request_body = Some(rewritten(&form).into_bytes());
    }
    Some(charset.name())
}

/// Names and values of a form, decoded to bytes.
fn pairs(text: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let decoded = |it: &[u8]| {
        let plain: Vec<u8> = it.iter().map(|b| if *b == b'+' { b' ' } else { *b }).collect();
        percent_encoding::percent_decode(&plain).collect()
    };
    text.split(|b| *b == b'&')
        .filter(|it| !it.is_empty())
        .map(|it| {
            let at = it.iter().position(|b| *b == b'=').unwrap_or(it.len());
            (decoded(&it[..at]), decoded(it.get(at + 1..).unwrap_or_default()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use commis_artifacts::recording::ResourceType;

    use super::*;
    use crate::tests::exchange;

    #[test]
    fn queries_in_other_charsets() {
        let check = |query: &str, value: &str, expected: Option<(&str, &str)>| {
            let url = format!("http://a.test/find?{query}");
            let raw = exchange("GET", &url, ResourceType::Document, "text/html", "");
            let mut all = [raw];
            let charset = all_to_utf8(&mut all, &[value])[0];
            let found = charset.map(|it| (it, all[0].url.query().unwrap()));
            assert_eq!(found, expected, "{query}");
        };
        let oak = "q=%D0%B4%D1%83%D0%B1&n=1";
        check("q=%E4%F3%E1&n=1", "дуб", Some(("windows-1251", oak)));
        check("q=%C4%D5%C2&n=1", "дуб", Some(("KOI8-R", oak)));
        check("q=%93%8C%8B%9E", "東京", Some(("Shift_JIS", "q=%E6%9D%B1%E4%BA%AC")));
        check("q=caf%E9+noir", "café noir", Some(("windows-1252", "q=caf%C3%A9+noir")));
        check(oak, "дуб", None);
        check("q=oak", "oak", None);
        check("q=%E4%F3%E1", "клён", None);
    }
    #[test]
    fn kana_are_the_same_bytes_in_several_charsets() {
        let town = "http://a.test/find?q=%A5%EA%A5%E8%A5%F3";
        let both = format!("{town}+%C1%D2%B8%CB");
        let page = |url: &str, mime: &str, body: &str| {
            exchange("GET", url, ResourceType::Document, mime, body)
        };
        // All that was typed tells.
        let mut all = [page(&both, "text/html", "")];
        assert_eq!(all_to_utf8(&mut all, &["リヨン", "倉庫"]), [Some("EUC-JP")]);
        // Else the answer, or the page of the form.
        let meta = "<meta charset=euc-jp>";
        let mut all = [page(town, "text/html", meta)];
        assert_eq!(all_to_utf8(&mut all, &["リヨン"]), [Some("EUC-JP")]);
        let mut all =
            [page("http://a.test/", "text/html; charset=EUC-JP", ""), page(town, "text/html", "")];
        all[1].request_headers.push(("Referer".to_owned(), "http://a.test/".to_owned()));
        assert_eq!(all_to_utf8(&mut all, &["リヨン"]), [None, Some("EUC-JP")]);
    }
}
