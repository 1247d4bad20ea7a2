//! Addresses that earlier answers give: the whole address of a request, or a part of it, such as a signature.

use serde_json::Value;

use super::{
    chained::{follows_typed, is_distinctive},
    provenance::{Examples, MAX_PLACES, ValueSource, answer},
};
use commis_artifacts::recording::Exchange;
use commis_recipe::{
    model::{Between, ResponseSpec, ResponseType},
    steps::MAX_STEPS,
};

/// How placeholders begin.
const REDACTED: &str = "[REDACTED:";

impl<'a> Examples<'a> {
    /// Ways to the whole address of a request, as JSON answers have addresses: with scheme and host, without the scheme, or the path
    /// alone. Each with its text in the first example.
    pub fn addresses(
        &self,
        asked: &Exchange,
        twin: Option<&Exchange>,
    ) -> Vec<(String, ValueSource<'a>)> {
        let (ours, theirs) = (address_forms(&asked.url), twin.map(|it| address_forms(&it.url)));
        let mut out = Vec::new();
        for (at, own) in ours.into_iter().enumerate() {
            let other = theirs.as_ref().and_then(|it| it.get(at)).map(String::as_str);
            // What is kept out of the recordings may differ.
            let is_same = other == Some(own.as_str()) && !own.contains(REDACTED);
            if is_same || theirs.is_some() != other.is_some() {
                continue;
            }
            let all = self.sources(asked, &own, other).into_iter();
            let of_json = all.filter(|it| it.response.kind == ResponseType::Json);
            out.extend(of_json.map(|it| (own.clone(), it)));
        }
        out
    }

    /// Ways to a part of an address that a JSON answer has as a text. It is read between what stands around it in the address.
    pub(super) fn in_addresses(
        &self,
        exchange: &'a Exchange,
        ours: &str,
        theirs: Option<&str>,
    ) -> Vec<ValueSource<'a>> {
        let is_known = match theirs {
            Some(theirs) => theirs != ours,
            None => follows_typed(exchange, self.first, MAX_STEPS - 2),
        };
        let Some(own) = answer(exchange).filter(|_| is_known && is_distinctive("", ours)) else {
            return Vec::new();
        };
        let mut addresses = Vec::new();
        find_addresses(own, ours, &mut addresses);
        if addresses.is_empty() {
            return Vec::new();
        }
        let text = own.to_string();
        let mut out = Vec::new();
        for twin in self.twins(exchange) {
            let other = twin.and_then(answer).map(Value::to_string);
            let is_there = |it: &Between| {
                gives(it, &text, ours)
                    && other
                        .as_deref()
                        .zip(theirs)
                        .is_none_or(|(text, value)| gives(it, text, value))
            };
            let found = addresses.iter().filter_map(|it| around(it, ours)).find(is_there);
            out.extend(found.map(|between| {
                let between = Some(between);
                let text = ResponseSpec { between, ..ResponseSpec::new(ResponseType::Text) };
                ValueSource::whole(exchange, twin, text)
            }));
        }
        out
    }
}

/// An address as answers write it: whole, without its scheme, without scheme and host.
fn address_forms(url: &str) -> Vec<String> {
    let from = |at: Option<usize>| at.map(|at| url[at..].to_owned());
    let host = url.find("://").map(|it| it + 1);
    let path = host.and_then(|it| Some(it + 2 + url[it + 2..].find('/')?));
    // `/` alone stands anywhere.
    let path = path.filter(|it| url.len() > it + 1);
    let mut forms: Vec<String> =
        [from(Some(0)), from(host), from(path)].into_iter().flatten().collect();
    // A text of an answer has placeholders as they are, an address encoded.
    if url.contains("%5BREDACTED%3A") {
        let plain = |it: &String| {
            it.replace("%5B", "[").replace("%5D", "]").replace("%3A", ":").replace("%23", "#")
        };
        forms.extend(forms.iter().map(plain).collect::<Vec<_>>());
    }
    forms
}

/// Texts that are addresses, and hold a value.
fn find_addresses<'v>(value: &'v Value, wanted: &str, out: &mut Vec<&'v str>) {
    match value {
        Value::Array(all) => all.iter().for_each(|it| find_addresses(it, wanted, out)),
        Value::Object(all) => all.values().for_each(|it| find_addresses(it, wanted, out)),
        Value::String(it) if out.len() < MAX_PLACES => {
            let is_address = it.starts_with('/') || it.contains("://");
            if is_address && it.contains(wanted) && !it.contains(char::is_whitespace) {
                out.push(it);
            }
        }
        _ => {}
    }
}

/// What stands around a value in an address: `signature=` and `&`, `plates/` and the end of the text.
fn around(address: &str, value: &str) -> Option<Between> {
    let at = address.find(value)?;
    let before = &address[..at];
    let is_part = |it: char| matches!(it, '/' | '?' | '&' | '=' | '#' | ';');
    let start = before.trim_end_matches(is_part).rfind(is_part).map_or(0, |it| it + 1);
    let end = address[at + value.len()..].chars().next();
    let until = end.map_or_else(|| "\"".to_owned(), String::from);
    let after = before[start..].to_owned();
    (after.ends_with(is_part) && end.is_none_or(is_part) && !after.contains(['"', '\\']))
        .then_some(Between { after, until })
}

/// How a secret is read out of an address that a JSON answer has as a text; `placeholder` stands for it in the recording.
pub fn in_address(exchange: &Exchange, placeholder: &str) -> Option<Between> {
    let own = answer(exchange)?;
    let text = own.to_string();
    let encoded: String = url::form_urlencoded::byte_serialize(placeholder.as_bytes()).collect();
    [placeholder, &encoded].into_iter().find_map(|written| {
        let mut addresses = Vec::new();
        find_addresses(own, written, &mut addresses);
        let it = addresses.into_iter().find_map(|it| around(it, written))?;
        gives(&it, &text, written).then_some(it)
    })
}

/// Whether a text has the value there, and nothing else in the same place.
fn gives(it: &Between, text: &str, value: &str) -> bool {
    it.of(text) == Some(value) && text.matches(&it.after).take(2).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_part_of_an_address() {
        let of = |address: &str, value: &str| {
            around(address, value).map(|it| format!("{}|{}", it.after, it.until))
        };
        let signed = "https://a.test/plates/8f3a?part=all&sig=c0ffee42";
        assert_eq!(of(signed, "8f3a").as_deref(), Some("plates/|?"));
        assert_eq!(of(signed, "c0ffee42").as_deref(), Some("sig=|\""));
        assert_eq!(of("/plates/8f3a", "8f3a").as_deref(), Some("plates/|\""));
        // A part of a part is none.
        assert_eq!(of(signed, "c0ffee"), None);
        assert_eq!(of("/plates/x8f3a?y", "8f3a"), None);

        let text = r#"{"a":"/plates/1/a","b":"/plates/8f3a?part=all"}"#;
        let of = |after: &str| Between { after: after.to_owned(), until: "?".to_owned() };
        assert!(!gives(&of("plates/"), text, "8f3a"), "it stands there twice");
        assert!(gives(&of("\"b\":\"/plates/"), text, "8f3a"));
    }
}
