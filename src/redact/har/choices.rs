//! What the documents of a HAR let a reader choose: a word of a list, a link or a button, and what the page sends for it.
//!
//! A HAR tells no actions. Where a typed word stands in no request, and one document offers it beside others, it was chosen there.

use std::collections::{BTreeMap, BTreeSet};

use scraper::{ElementRef, Html, Selector};
use serde_json::Value;
use url::Url;

use crate::{
    choice_spelling::{HOST, is_in_host, is_spelled},
    encode::decode_percent,
    raw::RawExchange,
};
use commis_artifacts::recording::{Action, ActionKind, Control, ControlOption, ResourceType};
use commis_recipe::blocks;

/// Documents that are read, and bytes of each.
const MAX_DOCUMENTS: usize = 8;
const MAX_BYTES: usize = 2 << 20;
const MAX_OPTIONS: usize = 500;
/// Links of one kind that a reader chooses from; more are a list of things.
const MAX_LINKS: usize = 100;
const MAX_TEXT: usize = 200;

/// For each typed word that stands in no request, how it was chosen.
pub fn choices(exchanges: &[RawExchange], typed: &BTreeMap<String, String>) -> Vec<Action> {
    let words: Vec<&String> = typed.values().filter(|it| !is_sent(exchanges, it)).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let is_page =
        |it: &&RawExchange| it.resource_type == ResourceType::Document && it.mime.contains("html");
    let mut found: Vec<Control> = Vec::new();
    for it in exchanges.iter().filter(is_page).take(MAX_DOCUMENTS) {
        let Some(bytes) = it.body.bytes().filter(|it| it.len() <= MAX_BYTES) else { continue };
        let Some(html) = blocks::parse_bounded(&String::from_utf8_lossy(&bytes)) else { continue };
        found.extend(lists(&html));
        found.extend(words.iter().filter_map(|word| links(&html, &it.url, word)));
        found.extend(words.iter().filter_map(|word| buttons(&html, word)));
    }
    let mut out = Vec::new();
    for (name, word) in typed.iter().filter(|it| words.contains(&it.1)) {
        let asked = |it: &Control| {
            it.sent_value(word).is_some_and(|value| sends(exchanges, &it.name, value))
        };
        if let Some(control) = found.iter().find(|it| asked(it)) {
            let kind = ActionKind::Select;
            let value = Some(format!("{{{name}}}"));
            let control = Some(control.clone());
            out.push(Action { kind, role: None, name: None, value, at_ms: 0, control });
        }
    }
    out
}

/// Lists of forms, with their options in order.
pub fn lists(html: &Html) -> Vec<Control> {
    let Ok(selects) = Selector::parse("select") else { return Vec::new() };
    let Ok(options) = Selector::parse("option") else { return Vec::new() };
    let option = |it: ElementRef<'_>| {
        let label = it.attr("label").map_or_else(|| text(it), str::to_owned);
        let value = it.attr("value").map_or_else(|| label.clone(), str::to_owned);
        ControlOption { label, value }
    };
    let list = |it: ElementRef<'_>| Control {
        kind: "select".to_owned(),
        name: it.attr("name").unwrap_or_default().to_owned(),
        options: short(it.select(&options).map(option).take(MAX_OPTIONS)),
        ..Control::default()
    };
    html.select(&selects).map(list).collect()
}

/// The links beside the one with this text that go to the same place but for one value.
fn links(html: &Html, base: &Url, word: &str) -> Option<Control> {
    let all: Vec<LabeledLink<'_>> = html
        .select(&Selector::parse("a[href]").ok()?)
        .filter_map(|it| {
            let parts = parts(&base.join(it.attr("href")?).ok()?);
            Some(LabeledLink { label: text(it), parts, element: it })
        })
        .filter(|it| !it.label.is_empty())
        .collect();
    let own = all.iter().find(|it| plain_text(&it.label) == plain_text(word))?;
    let beside =
        |at: usize| -> Vec<&LabeledLink<'_>> {
            let is_beside =
                |it: &&LabeledLink<'_>| {
                    it.parts.len() == own.parts.len()
                        && it.parts.iter().zip(&own.parts).enumerate().all(|(n, (a, b))| {
                            a.name == b.name && (n == at) == (a.value != b.value)
                        })
                };
            all.iter().filter(is_beside).collect()
        };
    // Of two kinds, the one with more to choose from, and then the one that stands closest.
    let many =
        |it: &[&LabeledLink<'_>]| it.iter().map(|it| &it.label).collect::<BTreeSet<_>>().len();
    let closest =
        |it: &[&LabeledLink<'_>]| it.iter().map(|it| levels(own.element, it.element)).min();
    let (at, others) = (0..own.parts.len())
        .map(|at| (at, beside(at)))
        .filter(|it| (1..MAX_LINKS).contains(&many(&it.1)))
        .min_by_key(|it| (std::cmp::Reverse(many(&it.1)), closest(&it.1)))?;
    let mut options: Vec<ControlOption> = Vec::new();
    for it in std::iter::once(own).chain(others) {
        let it = ControlOption { label: it.label.clone(), value: it.parts[at].value.clone() };
        if !options.contains(&it) {
            options.push(it);
        }
    }
    let control = Control {
        kind: "link".to_owned(),
        name: own.parts[at].name.clone(),
        options: short(options.into_iter()),
        ..Control::default()
    };
    (!is_spelled(&control)).then_some(control)
}

/// The buttons and tabs beside the one with this text that carry another value in one `data-` attribute, or as their own value.
fn buttons(html: &Html, word: &str) -> Option<Control> {
    const KINDS: &str = "button,[role=tab],[role=button],[role=radio],[role=option],[role=menuitem],[role=menuitemradio]";
    let all: Vec<ElementRef<'_>> = html.select(&Selector::parse(KINDS).ok()?).collect();
    let own = *all.iter().find(|it| plain_text(&text(**it)) == plain_text(word))?;
    let is_alike = |it: &ElementRef<'_>| {
        it.value().name() == own.value().name() && it.attr("role") == own.attr("role")
    };
    let all: Vec<_> = all.into_iter().filter(is_alike).collect();
    let near = all.iter().filter(|it| **it != own).map(|it| levels(own, *it)).min()?;
    let beside = |it: &ElementRef<'_>| *it == own || levels(own, *it) == near;
    let group: Vec<_> = all.into_iter().filter(beside).collect();
    if !(2..=MAX_LINKS).contains(&group.len()) {
        return None;
    }
    let key = own.value().attrs().map(|it| it.0).find(|key| {
        let values: BTreeSet<_> =
            group.iter().filter_map(|it| it.attr(key)).filter(|it| !it.is_empty()).collect();
        (*key == "value" || key.starts_with("data-")) && values.len() == group.len()
    })?;
    let option = |it: ElementRef<'_>| {
        Some(ControlOption { label: text(it), value: it.attr(key)?.to_owned() })
    };
    let control = Control {
        kind: "button".to_owned(),
        name: key.strip_prefix("data-").unwrap_or_default().to_owned(),
        options: short(group.into_iter().filter_map(option)),
        ..Control::default()
    };
    (!is_spelled(&control)).then_some(control)
}

struct LabeledLink<'a> {
    label: String,
    parts: Vec<UrlPart>,
    element: ElementRef<'a>,
}

/// Levels from one element up to what holds the other, too.
fn levels(from: ElementRef<'_>, to: ElementRef<'_>) -> usize {
    let above: Vec<_> = to.ancestors().map(|it| it.id()).collect();
    from.ancestors().position(|it| above.contains(&it.id())).unwrap_or(usize::MAX)
}

/// A part of an address: a segment of its path, without a name, or a pair of its query.
#[derive(Clone, PartialEq, Eq)]
struct UrlPart {
    name: String,
    value: String,
}

fn parts(url: &Url) -> Vec<UrlPart> {
    let host =
        UrlPart { name: HOST.to_owned(), value: url.host_str().unwrap_or_default().to_owned() };
    let path = url.path_segments().into_iter().flatten();
    let path =
        path.map(|it| UrlPart { name: String::new(), value: decode_percent(it).into_owned() });
    let query = url.query_pairs();
    let query = query.map(|(name, value)| UrlPart { name: name.into(), value: value.into() });
    std::iter::once(host).chain(path).chain(query).collect()
}

/// Each value that a request sends, by its name; segments of a path have none.
fn sent_values(it: &RawExchange) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> =
        parts(&it.url).into_iter().skip(1).map(|it| (it.name, it.value)).collect();
    if let Some(body) = it.request_body.as_deref() {
        match serde_json::from_slice(body) {
            Ok(json) => leaves("", &json, &mut out),
            Err(_) => out.extend(url::form_urlencoded::parse(body).into_owned()),
        }
    }
    let mut inside = Vec::new();
    for (name, value) in out.iter().filter(|it| it.1.starts_with(['{', '['])) {
        if let Ok(json) = serde_json::from_str(value) {
            leaves(name, &json, &mut inside);
        }
    }
    out.extend(inside);
    out
}

/// Each value in JSON, by its own name.
fn leaves(name: &str, json: &Value, out: &mut Vec<(String, String)>) {
    match json {
        Value::Object(fields) => fields.iter().for_each(|(name, it)| leaves(name, it, out)),
        Value::Array(items) => items.iter().for_each(|it| leaves(name, it, out)),
        Value::String(it) => out.push((name.to_owned(), it.clone())),
        Value::Number(it) => out.push((name.to_owned(), it.to_string())),
        _ => {}
    }
}

fn sends(exchanges: &[RawExchange], name: &str, value: &str) -> bool {
    let is_it = |it: &(String, String)| {
        it.1 == value && (name.is_empty() || it.0.is_empty() || it.0 == name)
    };
    exchanges.iter().any(|it| sent_values(it).iter().any(is_it) || is_in_host(&it.url, value))
}

/// A request holds the word itself.
fn is_sent(exchanges: &[RawExchange], word: &str) -> bool {
    let word = plain_text(word);
    exchanges.iter().any(|it| {
        let in_json =
            |it: &[u8]| plain_text(&String::from_utf8_lossy(it)).contains(&format!("\"{word}\""));
        sent_values(it).iter().any(|it| plain_text(&it.1) == word)
            || it.request_body.as_deref().is_some_and(in_json)
    })
}

fn short(options: impl Iterator<Item = ControlOption>) -> Vec<ControlOption> {
    let fits = |it: &str| it.chars().count() <= MAX_TEXT;
    options.filter(|it| fits(&it.label) && fits(&it.value)).collect()
}

fn text(it: ElementRef<'_>) -> String {
    it.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn plain_text(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::har::import;

    fn recorded(page: &str, asked: &str, word: &str) -> Option<Control> {
        let entry = |url: &str, mime: &str, text: &str| {
            json!({
                "startedDateTime": "2026-11-27T08:00:00Z", "time": 5, "_resourceType": if mime == "text/html" { "document" } else { "xhr" },
                "request": {"method": "GET", "url": url, "headers": [], "queryString": []},
                "response": {"status": 200, "headers": [{"name": "content-type", "value": mime}], "content": {"mimeType": mime, "text": text}},
            })
        };
        let har = json!({"log": {"entries": [entry("http://a.test/start", "text/html", page), entry(asked, "text/html", "<p>x</p>")]}});
        let typed = BTreeMap::from([("kind".to_owned(), word.to_owned())]);
        let it = import(har.to_string().as_bytes(), "List", typed).unwrap().recording;
        it.actions.into_iter().find_map(|it| it.control)
    }

    #[test]
    fn options_of_the_list_that_was_asked_by() {
        let page = "<select name=m><option value=01>Jan<option value=02>Fév<option value=03>Mar</select>\
            <select name=year><option>2025</select>";
        let it = recorded(page, "http://a.test/stats?year=2025&m=02", "Fév").unwrap();
        assert_eq!((it.name.as_str(), it.sent_value("Mar")), ("m", Some("03")));
        // It sent another value, or the word itself.
        assert!(recorded(page, "http://a.test/stats?year=2025&m=05", "Fév").is_none());
        assert!(recorded(page, "http://a.test/stats?m=F%C3%A9v", "Fév").is_none());
    }

    #[test]
    fn buttons_that_carry_another_value() {
        let page = "<button data-menu=1>Menu</button><div role=tablist><button role=tab data-key=a data-league=no>North league</button>\
            <button role=tab data-key=a data-league=so>South league</button></div>";
        let it = recorded(page, "http://a.test/rank?league=no", "North league").unwrap();
        assert_eq!((it.name.as_str(), it.sent_value("South league")), ("league", Some("so")));
        let inside = "http://a.test/q?variables=%7B%22f%22%3A%7B%22league%22%3A%22no%22%7D%7D";
        assert!(recorded(page, inside, "North league").is_some());
        assert!(recorded(page, "http://a.test/rank?league=so", "North league").is_none());
        assert!(recorded(page, "http://a.test/rank?menu=1", "Menu").is_none());
    }

    #[test]
    fn links_that_differ_in_one_value() {
        let page = "<nav><a href='/'>Home</a></nav><ul><li><a href='?mat=ZN&o=1'>Zinn</a><li><a href='?mat=SI&o=1'>Silber</a>\
            <li><a href='?mat=ZN&o=2'>Wert</a></ul><a href='/group/deck_4/'>Deck</a> <a href='/group/galley_1/'>Galley</a>";
        let it = recorded(page, "http://a.test/start?mat=ZN&o=1", "Zinn").unwrap();
        assert_eq!(
            (it.name.as_str(), it.sent_value("silber"), it.sent_value("Wert")),
            ("mat", Some("SI"), None)
        );
        let it = recorded(page, "http://a.test/group/deck_4/", "Deck").unwrap();
        assert_eq!((it.name.as_str(), it.sent_value("Galley")), ("", Some("galley_1")));
        assert!(recorded(page, "http://a.test/", "Home").is_none());
    }
}
