//! XML as the value that JSON would say it with, and back: feeds, and interfaces that answer in XML.
//!
//! An element with nothing but text is that text; any other is an object of its attributes, of its elements by name, and of its own text
//! under `text`. Elements that stand beside others of their name are a list, and so are all of that name in the same place of the
//! document. Names keep their prefix (`dc:creator`). All values are texts, as XML has no others.
//!
//! Nothing outside of the document is read, and entities that it defines are refused (`roxmltree` knows no DTD here).

use std::{collections::BTreeSet, fmt::Write as _};

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::{Map, Value};

use super::projection::FieldMask;

/// Under which an element with attributes or elements has its own text.
const TEXT: &str = "text";
/// As far as JSON goes.
const MAX_DEPTH: u32 = 120;
const MAX_NODES: u32 = 1_000_000;

/// Whether a MIME type is that of XML that holds data: no page, no picture.
pub fn is_data_xml(mime: &str) -> bool {
    let kind = mime.split(';').next().unwrap_or_default().trim();
    let is_xml = matches!(kind, "text/xml" | "application/xml") || kind.ends_with("+xml");
    is_xml && !matches!(kind, "application/xhtml+xml" | "image/svg+xml")
}

/// The value of a document; `None` where it is no XML, or a page.
pub fn read(text: &str) -> Option<Value> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..Default::default() };
    let document = Document::parse_with_options(text.trim_start(), options).ok()?;
    let root = document.root_element();
    let name = root.tag_name();
    if name.name() == "html" || name.namespace() == Some("http://www.w3.org/1999/xhtml") {
        return None;
    }
    let mut lists = BTreeSet::new();
    find_lists(root, "", 0, &mut lists)?;
    let mut out = Map::new();
    out.insert(qualified_name(root), value(root, "", &lists));
    Some(Value::Object(out))
}

/// The value as an expression with that reach looks for it: what it goes through as a list is one, also where the document has one
/// element or none of its kind has a second.
pub fn with_lists(value: Value, reach: &FieldMask) -> Value {
    if reach.is_all() {
        return value;
    }
    match value {
        Value::Array(all) => {
            let below = reach.get_elements().unwrap_or(FieldMask::NONE);
            all.into_iter().map(|it| with_lists(it, below)).collect()
        }
        one if reach.get_elements().is_some() => with_lists(vec![one].into(), reach),
        Value::Object(all) => {
            let with = all.into_iter().map(|(name, it)| {
                let it = match reach.get_field(&name) {
                    Some(below) => with_lists(it, below),
                    None => it,
                };
                (name, it)
            });
            Value::Object(with.collect())
        }
        plain => plain,
    }
}

/// A document that reads as the value; what no element can be called is left out.
pub fn write(value: &Value) -> String {
    let mut out = String::from("<?xml version=\"1.0\"?>");
    match value.as_object().and_then(|it| it.iter().next()) {
        Some((name, it)) => write_element(name, it, &mut out),
        None => out.push_str("<none/>"),
    }
    // Prefixes need an address, and any will do.
    let prefixes: BTreeSet<&str> =
        names(value).iter().filter_map(|it| Some(it.split_once(':')?.0)).collect();
    let prefixes = prefixes.into_iter().filter(|it| *it != "xml");
    let mut declared = String::new();
    for it in prefixes {
        let _ = write!(declared, " xmlns:{it}=\"urn:{it}\"");
    }
    match value.as_object().and_then(|it| it.keys().next()) {
        Some(root) if !declared.is_empty() => {
            out.replacen(&format!("<{root}>"), &format!("<{root}{declared}>"), 1)
        }
        _ => out,
    }
}

fn names(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(all) => all.iter().flat_map(names).collect(),
        Value::Object(all) => {
            all.iter().flat_map(|(name, it)| [vec![name.as_str()], names(it)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

fn write_element(name: &str, value: &Value, out: &mut String) {
    let is_name = name.starts_with(|it: char| it.is_alphabetic() || it == '_')
        && name.chars().all(|it| it.is_alphanumeric() || "_-.:".contains(it));
    if !is_name {
        return;
    }
    match value {
        Value::Array(all) => all.iter().for_each(|it| write_element(name, it, out)),
        Value::Object(all) => {
            let _ = write!(out, "<{name}>");
            for (key, it) in all {
                match it {
                    Value::String(own) if key == TEXT => out.push_str(&escape(own)),
                    it => write_element(key, it, out),
                }
            }
            let _ = write!(out, "</{name}>");
        }
        Value::String(text) => {
            let _ = write!(out, "<{name}>{}</{name}>", escape(text));
        }
        Value::Null => {
            let _ = write!(out, "<{name}></{name}>");
        }
        other => {
            let _ = write!(out, "<{name}>{other}</{name}>");
        }
    }
}

fn escape(text: &str) -> String {
    let allowed = |it: &char| matches!(it, '\t' | '\n' | ' '..);
    let text: String = text.chars().filter(allowed).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn qualified_name(node: Node<'_, '_>) -> String {
    let name = node.tag_name();
    match name.namespace().and_then(|it| node.lookup_prefix(it)).filter(|it| !it.is_empty()) {
        Some(prefix) => format!("{prefix}:{}", name.name()),
        None => name.name().to_owned(),
    }
}

/// Places whose elements stand beside others of their name; `None` where the document is too deep.
fn find_lists(node: Node<'_, '_>, at: &str, depth: u32, out: &mut BTreeSet<String>) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    let place = format!("{at}/{}", qualified_name(node));
    let mut seen = BTreeSet::new();
    for it in node.children().filter(Node::is_element) {
        let name = qualified_name(it);
        let below = format!("{place}/{name}");
        if !seen.insert(name) {
            out.insert(below);
        }
        find_lists(it, &place, depth + 1, out)?;
    }
    Some(())
}

fn value(node: Node<'_, '_>, at: &str, lists: &BTreeSet<String>) -> Value {
    let place = format!("{at}/{}", qualified_name(node));
    let own: String = node.children().filter(Node::is_text).filter_map(|it| it.text()).collect();
    let own = own.trim();
    let mut out = Map::new();
    for it in node.attributes() {
        out.insert(it.name().to_owned(), it.value().into());
    }
    for it in node.children().filter(Node::is_element) {
        let name = qualified_name(it);
        let below = value(it, &place, lists);
        if lists.contains(&format!("{place}/{name}")) {
            match out.get_mut(&name) {
                Some(Value::Array(all)) => all.push(below),
                _ => _ = out.insert(name, vec![below].into()),
            }
        } else {
            out.insert(name, below);
        }
    }
    if out.is_empty() {
        return own.into();
    }
    if !own.is_empty() && !out.contains_key(TEXT) {
        out.insert(TEXT.to_owned(), own.into());
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{document::Document as Read, expression::Query};

    const FEED: &str = r#"<?xml version="1.0"?>
        <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News &amp; more</title>
        <item><title>One</title><dc:creator>Ash</dc:creator><guid isPermaLink="false">7</guid><category>a</category><category>b</category></item>
        <item><title><![CDATA[<Two>]]></title><category>c</category></item></channel></rss>"#;

    #[test]
    fn a_feed_is_read_as_what_json_would_say() {
        let want = json!({"rss": {"version": "2.0", "channel": {"title": "News & more", "item": [
            {"title": "One", "dc:creator": "Ash", "guid": {"isPermaLink": "false", "text": "7"}, "category": ["a", "b"]},
            {"title": "<Two>", "category": ["c"]},
        ]}}});
        assert_eq!(read(FEED), Some(want.clone()));
        assert_eq!(read(&write(&want)), Some(want));
    }

    #[test]
    fn one_element_is_a_list_where_an_expression_goes_through_it() {
        let one = "<found><hit id='3'><name>Elm</name></hit></found>";
        let none = "<found/>";
        let query = Query::compile("found.hit[].{id: id, name: name}").unwrap();
        let of = |text: &str| {
            let value = with_lists(read(text).unwrap(), query.reach());
            query.search(&Read::from(&value)).unwrap()
        };
        assert_eq!(of(one), json!([{"id": "3", "name": "Elm"}]));
        assert_eq!(of(none), Value::Null);
        let two = one.replace("</hit>", "</hit><hit id='4'/>");
        assert_eq!(of(&two), json!([{"id": "3", "name": "Elm"}, {"id": "4", "name": null}]));
    }

    #[test]
    fn what_is_no_data_is_not_read() {
        let bomb = "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>";
        let deep = format!("{}x{}", "<a>".repeat(500), "</a>".repeat(500));
        for it in
            [bomb, &deep, "", "{}", "<a>", "<html><body/></html>", "<a/><b/>", "<a>&nope;</a>"]
        {
            assert_eq!(read(it), None, "{it:.60}");
        }
        for (mime, want) in [
            ("application/rss+xml; charset=utf-8", true),
            ("text/xml", true),
            ("application/xhtml+xml", false),
            ("image/svg+xml", false),
            ("text/html", false),
        ] {
            assert_eq!(is_data_xml(mime), want, "{mime}");
        }
    }
}
