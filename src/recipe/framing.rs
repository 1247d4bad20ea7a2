//! How JSON is framed by the text that carries it: a guard in front, a callback around, one value a line, XML that says the same.
//!
//! The recording and the runner both ask here, so that what was measured is what a run reads. Nothing is executed: of a
//! script only `name(JSON)` is understood.

use serde_json::Value;

use std::borrow::Cow;

use super::{
    digits::quote_long_numbers, document::Document, file_facts, model::Framing,
    projection::FieldMask, references, script_data, xml,
};

/// The name that a recipe sends as JSONP callback, whatever the page sent.
pub const CALLBACK: &str = "callback";

/// Guards against inclusion as a script, longest first among those with a common beginning.
const GUARDS: &[&str] = &[
    ")]}',",
    ")]}'",
    ")]}",
    "for(;;);",
    "for (;;);",
    "while(1);",
    "while (1);",
    "&&&START&&&",
    "{}&&",
    "{} &&",
];
/// As `serde_json` has it.
const MAX_DEPTH: usize = 128;
/// Longer is no callback that a page makes up.
const MAX_CALLBACK: usize = 200;

/// JSON that was found in a text.
#[derive(Debug, PartialEq)]
pub struct FramedJson<'a> {
    /// Absent for plain JSON.
    pub framing: Option<Framing>,
    pub value: Value,
    /// The function called, for JSONP.
    pub callback: Option<&'a str>,
}

/// The JSON of a text and how it is framed; `None` when it holds none. Plain numbers and strings count as JSON only where
/// `declared` says that the text is some kind of JSON (its MIME type), and lines are otherwise two or more objects.
pub fn detect<'a>(text: &'a str, mime: &str, declared: bool) -> Option<FramedJson<'a>> {
    let body = trim_bom(text);
    let plain = |framing, value| Some(FramedJson { framing, value, callback: None });
    if xml::is_data_xml(mime) && body.starts_with('<') {
        return plain(Some(Framing::Xml), xml::read(body)?);
    }
    if is_line_delimited(mime) {
        return plain(Some(Framing::Lines), parse_lines(body)?);
    }
    if let Some(rest) = strip_guard(body) {
        return plain(Some(Framing::Prefix), parse_strict(rest)?);
    }
    if body.starts_with(['{', '[']) || declared {
        if let Some(value) = parse_strict(body) {
            if let Some(inner) = parse_inner_text(&value) {
                return plain(Some(Framing::Text), inner);
            }
            return match references::resolve_detected(&value) {
                Some(inner) => plain(Some(Framing::References), inner),
                None => plain(None, value),
            };
        }
        if body.starts_with('{')
            && let Some(Value::Array(all)) = parse_lines(body)
            && all.len() >= 2
            && all.iter().all(Value::is_object)
        {
            return plain(Some(Framing::Lines), Value::Array(all));
        }
        if body.starts_with(['{', '[', '/'])
            && declared
            && let Some(value) = parse_lenient(body)
        {
            return plain(Some(Framing::Lenient), value);
        }
        if body.starts_with(['{', '[']) {
            return None;
        }
    }
    let (callback, argument) = split_callback(body)?;
    let value = parse_strict(argument)?;
    // `init(3)` is a program, not data.
    (value.is_object() || value.is_array()).then_some(FramedJson {
        framing: Some(Framing::Jsonp),
        value,
        callback: Some(callback),
    })
}

/// The JSON of a text framed as said, so much of it as is in reach; without framing plain, or behind a guard, which sites add at
/// will. The error is what the parser said, or `None` when the frame is not there.
pub fn unframe<'a>(
    framing: Option<Framing>,
    text: &'a str,
    reach: &'a FieldMask,
) -> Result<Document<'a>, Option<serde_json::Error>> {
    let body = trim_bom(text);
    let json = match framing {
        None | Some(Framing::Prefix) => strip_guard(body).unwrap_or(body),
        Some(Framing::Jsonp) => split_callback(body).ok_or(None)?.1,
        Some(Framing::Text) => {
            let value = parse_strict(body).ok_or(None)?;
            let inner = parse_inner_text(&value).ok_or(None)?;
            return Ok(Document::from(&inner).into_owned());
        }
        Some(Framing::References) => {
            let value = parse_strict(body).ok_or(None)?;
            let inner = references::resolve(&value).ok_or(None)?;
            return Ok(Document::from(&inner).into_owned());
        }
        Some(Framing::Xml) => {
            let value = xml::with_lists(xml::read(body).ok_or(None)?, reach);
            return Ok(Document::from(&value).into_owned());
        }
        Some(Framing::Script) => {
            let value = script_data::read(body).ok_or(None)?;
            return Ok(Document::from(&value).into_owned());
        }
        // What was recorded of it. The bytes themselves are no text.
        Some(Framing::File) => body,
        // Strict JSON is lenient, too: a site may have mended what it sends.
        Some(Framing::Lenient) => {
            let value = parse_strict(body).or_else(|| parse_lenient(body)).ok_or(None)?;
            return Ok(Document::from(&value).into_owned());
        }
        Some(Framing::Lines) => {
            let reach = reach.get_elements().unwrap_or(FieldMask::NONE);
            let all = each_line(body).map(|it| parse_document(it, reach));
            return all.collect::<Result<_, _>>().map(Document::List).map_err(Some);
        }
    };
    parse_document(json, reach).map_err(Some)
}

/// A text of JSON, numbers with all their digits.
fn parse_document<'a>(
    json: &'a str,
    reach: &'a FieldMask,
) -> Result<Document<'a>, serde_json::Error> {
    match quote_long_numbers(json) {
        Cow::Borrowed(json) => Document::parse(json, reach),
        Cow::Owned(json) => Document::parse(&json, reach).map(Document::into_owned),
    }
}

/// The same as a value.
fn parse_strict(json: &str) -> Option<Value> {
    serde_json::from_str(&quote_long_numbers(json)).ok()
}

/// The list or the object that the one text of an object holds.
fn parse_inner_text(value: &Value) -> Option<Value> {
    let all = value.as_object().filter(|it| it.len() == 1)?;
    let text = all.values().next()?.as_str()?;
    let is_document = text.trim_start().starts_with(['{', '[']);
    parse_strict(text).filter(|it| is_document && (it.is_object() || it.is_array()))
}

/// A list or an object of JSON5. What has no value in JSON is `null`.
fn parse_lenient(text: &str) -> Option<Value> {
    let is_deep = |text: &str| {
        let mut depth = 0_usize;
        text.bytes().any(|it| {
            match it {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > MAX_DEPTH
        })
    };
    if is_deep(text) {
        return None;
    }
    json5::from_str(text).ok().filter(|it: &Value| it.is_object() || it.is_array())
}

/// The value as a text framed so: what a recording that kept only the value stands for.
pub fn apply_framing(framing: Option<Framing>, value: &Value) -> String {
    match (framing, value) {
        (None | Some(Framing::Lenient | Framing::File), _) => value.to_string(),
        (Some(Framing::Xml), _) => xml::write(value),
        (Some(Framing::Script), _) => script_data::write(value),
        (Some(Framing::Text), _) => serde_json::json!({ "d": value.to_string() }).to_string(),
        (Some(Framing::References), _) => references::to_reference_list(value).to_string(),
        (Some(Framing::Prefix), _) => format!(")]}}'\n{value}"),
        (Some(Framing::Jsonp), _) => format!("{CALLBACK}({value});"),
        (Some(Framing::Lines), Value::Array(all)) => {
            all.iter().flat_map(|it| [it.to_string(), "\n".to_owned()]).collect()
        }
        (Some(Framing::Lines), it) => format!("{it}\n"),
    }
}

/// The MIME type of a text that is framed so.
pub const fn mime(framing: Option<Framing>) -> &'static str {
    match framing {
        Some(Framing::Xml) => "application/xml",
        Some(Framing::Script) => "text/javascript",
        Some(Framing::File) => file_facts::RECORDED,
        _ => "application/json",
    }
}

fn trim_bom(text: &str) -> &str {
    let text = text.trim_start();
    text.strip_prefix('\u{feff}').unwrap_or(text).trim()
}

fn strip_guard(text: &str) -> Option<&str> {
    GUARDS.iter().find_map(|it| text.strip_prefix(it)).map(str::trim_start)
}

/// Types that say one value a line.
fn is_line_delimited(mime: &str) -> bool {
    ["ndjson", "jsonl", "json-lines", "jsonlines", "json-seq"].iter().any(|it| mime.contains(it))
}

/// One JSON value a line.
fn parse_lines(text: &str) -> Option<Value> {
    let all = each_line(text).map(parse_strict);
    all.collect::<Option<Vec<Value>>>().map(Value::Array)
}

/// Lines that hold something, the record separators of RFC 7464 apart.
fn each_line(text: &str) -> impl Iterator<Item = &str> {
    let all = text.lines().map(|it| it.trim_start_matches('\u{1e}').trim());
    all.filter(|it| !it.is_empty())
}

/// Function and argument of `name(…);`, behind comments and the check that the function is there
/// (`typeof name === 'function' && name(…)`).
fn split_callback(text: &str) -> Option<(&str, &str)> {
    let mut rest = text;
    while let Some(comment) = rest.strip_prefix("/*") {
        rest = comment.split_once("*/")?.1.trim_start();
    }
    let inner =
        rest.trim_end_matches(|it: char| it == ';' || it.is_whitespace()).strip_suffix(')')?;
    let (head, argument) = inner.split_once('(')?;
    let name = head.rsplit("&&").next()?.trim();
    let (name, before) = (name, head[..head.len() - head.rsplit("&&").next()?.len()].trim());
    let check = before.strip_suffix("&&").map_or("", str::trim);
    let checks = [String::new(), name.to_owned(), format!("window.{name}")]
        .into_iter()
        .chain(["'", "\""].map(|it| format!("typeof {name} === {it}function{it}")));
    let is_call = is_callback(name) && checks.into_iter().any(|it| it == check);
    is_call.then_some((name, argument.trim()))
}

/// Names joined by dots.
fn is_callback(name: &str) -> bool {
    name.len() <= MAX_CALLBACK
        && name.split('.').all(|it| {
            it.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
                && it.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value_of(framing: Option<Framing>, text: &str) -> Value {
        unframe(framing, text, FieldMask::ALL).unwrap().into_value()
    }

    #[test]
    fn frames() {
        use Framing::{Jsonp, Lines, Prefix};
        let x = || json!({"a": [1]});
        for (text, mime, expected) in [
            (r#"{"a": [1]}"#, "text/plain", Some((None, x(), None))),
            ("\u{feff} {\"a\": [1]}", "text/html", Some((None, x(), None))),
            (")]}'\n{\"a\":[1]}", "application/json", Some((Some(Prefix), x(), None))),
            (")]}',\n{\"a\":[1]}", "text/plain", Some((Some(Prefix), x(), None))),
            ("while(1);{\"a\":[1]}", "application/json", Some((Some(Prefix), x(), None))),
            ("for(;;);{\"a\":[1]}", "text/javascript", Some((Some(Prefix), x(), None))),
            ("{}&&{\"a\":[1]}", "text/json-comment", Some((Some(Prefix), x(), None))),
            ("cb({\"a\":[1]});", "text/javascript", Some((Some(Jsonp), x(), Some("cb")))),
            (
                "/**/ $.j_1.b ( {\"a\":[1]} )\n",
                "text/html",
                Some((Some(Jsonp), x(), Some("$.j_1.b"))),
            ),
            (
                "/**/ typeof cb === 'function' && cb({\"a\":[1]});",
                "text/javascript",
                Some((Some(Jsonp), x(), Some("cb"))),
            ),
            ("cb && cb({\"a\":[1]})", "text/javascript", Some((Some(Jsonp), x(), Some("cb")))),
            (
                "{\"a\":1}\n{\"a\":2}\n",
                "text/plain",
                Some((Some(Lines), json!([{"a": 1}, {"a": 2}]), None)),
            ),
            ("{\"a\":1}", "application/x-ndjson", Some((Some(Lines), json!([{"a": 1}]), None))),
            (
                "\u{1e}1\n\u{1e}2\n",
                "application/json-seq",
                Some((Some(Lines), json!([1, 2]), None)),
            ),
            (
                r#"{"d": "{\"a\": [1]}"}"#,
                "application/json",
                Some((Some(Framing::Text), x(), None)),
            ),
            ("", "application/jsonl", Some((Some(Lines), json!([]), None))),
            // Programs, prose, pages, broken data.
            ("cb({\"a\":[1]}); other()", "text/javascript", None),
            ("cb({\"a\":[1]}, 2)", "text/javascript", None),
            ("init(3)", "text/javascript", None),
            ("evil();cb({})", "text/javascript", None),
            ("other && cb({})", "text/javascript", None),
            ("a b({})", "text/javascript", None),
            ("(function(){})({})", "text/javascript", None),
            ("3", "text/plain", None),
            ("{\"a\":1}\nand more", "text/plain", None),
            ("[1]\n[2]", "text/plain", None),
            ("{\"a\":1", "application/json", None),
            ("<html>", "text/html", None),
        ] {
            let declared = mime.ends_with("json");
            let found = detect(text, mime, declared).map(|it| (it.framing, it.value, it.callback));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(detect("3", "application/json", true).unwrap().value, json!(3));
    }

    #[test]
    fn a_frame_that_was_said_must_be_there() {
        assert!(unframe(Some(Framing::Jsonp), "{}", FieldMask::ALL).is_err());
        assert!(unframe(Some(Framing::Lines), "{}\nx", FieldMask::ALL).is_err());
        assert_eq!(value_of(None, ")]}'\n[1]"), json!([1]));
        assert_eq!(value_of(Some(Framing::Prefix), "[1]"), json!([1]));
        let deep = format!("cb({}{})", "[".repeat(5000), "]".repeat(5000));
        assert!(unframe(Some(Framing::Jsonp), &deep, FieldMask::ALL).is_err());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            // Larger ones become texts: see `digits`.
            (-(1_i64 << 53)..=1 << 53).prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(".{0,6}", inner, 0..5)
                    .prop_map(|it| Value::Object(it.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn what_sites_write_for_json() {
        for (text, want) in [
            (
                "{\"a\": NaN, \"b\": [Infinity, -Infinity, 1.5]}",
                json!({"a": null, "b": [null, null, 1.5]}),
            ),
            ("[1, 2,]", json!([1, 2])),
            ("// made by hand\n{a: 'x', /* two */ \"b\": 1,}", json!({"a": "x", "b": 1})),
            ("{\"a\": \"one\ttwo\"}", json!({"a": "one\ttwo"})),
        ] {
            let found = detect(text, "application/json", true).unwrap();
            assert_eq!((found.framing, &found.value), (Some(Framing::Lenient), &want), "{text}");
            assert_eq!(value_of(found.framing, text), want);
            // What is mended is read as well.
            assert_eq!(value_of(found.framing, &apply_framing(found.framing, &want)), want);
            assert!(detect(text, "text/javascript", false).is_none(), "{text}");
        }
        for text in ["{\"a\": undefined}", "{\"a\": 1", "[1] [2]", "NaN"] {
            assert!(detect(text, "application/json", true).is_none(), "{text}");
        }
        let deep = "[".repeat(200_000);
        assert!(detect(&deep, "application/json", true).is_none());
        let long = detect("{\"id\": 18446744073709551617}", "application/json", true).unwrap();
        assert_eq!((long.framing, long.value), (None, json!({"id": "18446744073709551617"})));
    }

    proptest! {
        #[test]
        fn unframed_is_what_was_framed(value in any_json()) {
            for framing in [None, Some(Framing::Prefix), Some(Framing::Jsonp)] {
                prop_assert_eq!(value_of(framing, &apply_framing(framing, &value)), value.clone());
            }
            let list = json!([value, {"a": 1}]);
            let text = apply_framing(Some(Framing::Lines), &list);
            prop_assert_eq!(value_of(Some(Framing::Lines), &text), list);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            for mime in ["", "application/x-ndjson", "text/javascript"] {
                let _ = detect(&text, mime, false);
            }
        }
    }
}
