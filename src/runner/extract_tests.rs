//! Extraction from JSON, HTML and JSON inside HTML.

use serde_json::json;

use super::*;

fn spec(value: Value) -> ResponseSpec {
    serde_json::from_value(value).unwrap()
}

fn check(spec_json: Value, body: &str, want: &str) {
    let got = extract(&spec(spec_json.clone()), HttpAnswer::from_body("", body.as_bytes()))
        .map_or_else(
            |err| err.code().to_string(),
            |it| {
                assert_eq!(it.items, it.data.as_array().map(|it| it.len() as u64));
                it.data.to_string()
            },
        );
    assert_eq!(got, want, "{spec_json} {body}");
}

#[test]
fn json_answers() {
    let hits = r#"{"hits": [{"t": "a"}, {"t": "b", "u": 1}], "none": [], "nil": null}"#;
    for (spec, want) in [
        (json!({"extract": "hits[].t"}), r#"["a","b"]"#),
        (json!({"extract": "none"}), "[]"),
        (json!({"extract": "hits[?t=='z']"}), "[]"),
        (json!({"extract": "none", "min_items": 1}), "EXTRACT_EMPTY"),
        (json!({"extract": "hits", "min_items": 3}), "EXTRACT_EMPTY"),
        (json!({"extract": "hits[0]", "min_items": 1}), r#"{"t":"a"}"#),
        (json!({"extract": "gone[].t"}), "EXTRACT_EMPTY"),
        (json!({"extract": "nil"}), "EXTRACT_EMPTY"),
        (json!({"extract": "hits[].{x: gone}"}), "EXTRACT_EMPTY"),
        (
            json!({"extract": "length(hits)", "required_paths": ["hits[].t", "$.hits[].u", "none[].x", "nil.x"]}),
            "2",
        ),
        (json!({"extract": "hits", "required_paths": ["hits[].v"]}), "EXTRACT_EMPTY"),
        (json!({"extract": "hits", "required_paths": ["hits.t"]}), "EXTRACT_EMPTY"),
    ] {
        let mut spec = spec;
        spec["type"] = json!("json");
        check(spec, hits, want);
    }
    let plain = json!({"type": "json"});
    for (body, want) in [
        ("{\"a\":1}", "{\"a\":1}"),
        ("\u{feff} {\"a\":1}", "{\"a\":1}"),
        (")]}'\n[1]", "[1]"),
        (")]}',\n[1]", "[1]"),
        ("null", "null"),
        ("", "PARSE_ERROR"),
        ("<html>", "PARSE_ERROR"),
        ("{\"a\":1} x", "PARSE_ERROR"),
        ("[1e999]", "PARSE_ERROR"),
    ] {
        check(plain.clone(), body, want);
    }
    check(plain, &"[".repeat(10_000), "PARSE_ERROR");
}

#[test]
fn required_paths_with_odd_keys() {
    let value = json!({"a.b": [{"c:d": 1}], "": {"": 1}});
    let has = |path: &str| has_path(&Document::from(&value), &parse_path(path));
    assert!(has("$.\"a.b\"[].\"c:d\""));
    for missing in ["a.b", "[0]", "\"a", "\"a.b\"[0]"] {
        assert!(!has(missing), "{missing}");
    }
    for typed in shape::paths(&value) {
        let path = typed.rsplit_once(':').unwrap().0;
        assert!(has(path), "{path}");
    }
}

#[test]
fn html_answers() {
    let page = "<table><tr><th>x</th></tr>
        <tr><td class=t><a href='/1'>One  <b>bold</b>er\n two</a></td><td class=p>3&nbsp;&euro;</td></tr>
        <tr><td class=t><a href=/2>Two</a></td></tr></table>";
    let of = |fields: Value| json!({"type": "html", "html": {"items": "tr", "fields": fields}});
    check(
        of(json!({"name": "td.t", "link": "a@href", "price": ".p"})),
        page,
        "[{\"link\":\"/1\",\"name\":\"One bolder two\",\"price\":\"3 €\"},\
          {\"link\":\"/2\",\"name\":\"Two\",\"price\":null}]",
    );
    check(of(json!({"gone": ".gone"})), page, "EXTRACT_EMPTY");
    check(
        json!({"type": "html", "html": {"items": ".gone", "fields": {"a": ""}}}),
        page,
        "EXTRACT_EMPTY",
    );
    check(
        json!({"type": "html", "html": {"items": ".gone", "fields": {"a": ""}}, "min_items": 0}),
        page,
        "[]",
    );
    check(
        json!({"type": "html", "html": {"items": "a", "fields": {"text": "", "to": "@href"}}, "min_items": 2}),
        page,
        "[{\"text\":\"One bolder two\",\"to\":\"/1\"},{\"text\":\"Two\",\"to\":\"/2\"}]",
    );
    check(of(json!({"a": "td"})), &"<div>".repeat(100_000), "PARSE_ERROR");
}

#[test]
fn what_selectors_find_is_in_proportion() {
    // An item within an item is a part of it, so that what stands in both is read once.
    let nested = |inside: &str| format!("{}{inside}", "<div>".repeat(500));
    let text = json!({"type": "html", "html": {"items": "div", "fields": {"t": ""}}});
    let got = extract(
        &spec(text.clone()),
        HttpAnswer::from_body("", nested(&"word ".repeat(4_000)).as_bytes()),
    )
    .unwrap();
    assert!(got.items.unwrap() <= 16);
    check(text, &nested(&"word ".repeat(1_000_000)), "RESPONSE_TOO_LARGE");
    let fields: Value =
        (0..100).map(|n| (n.to_string(), json!("u"))).collect::<serde_json::Map<_, _>>().into();
    let nothing = json!({"type": "html", "html": {"items": "div", "fields": fields}});
    check(nothing, &nested(&"<i></i>".repeat(20_000)), "WORK_LIMIT");
    let beside = json!({"type": "html", "html": {"items": "p", "fields": {"a": "", "b": "b"}}});
    let page = format!("<p><b>{}</b></p>", "x".repeat(1_000)).repeat(900);
    let got = extract(&spec(beside), HttpAnswer::from_body("", page.as_bytes())).unwrap();
    assert_eq!(got.items, Some(900));
}

#[test]
fn embedded_answers() {
    let page = |text: &str| format!("<p><script id=d type=application/json>{text}</script>");
    let of = |extract: &str| json!({"type": "html", "embedded": "script#d", "extract": extract});
    check(of("a.b"), &page("{\"a\":{\"b\":\"</p>\"}}"), "\"</p>\"");
    check(of("a"), &page("window.__S__ = {\"a\":[1]};"), "[1]");
    check(of("a"), &page("var debug=false; window.__S__ = {\"a\":[1]};"), "[1]");
    check(of("a"), &page("var x = y"), "PARSE_ERROR");
    let named = |name: &str| json!({"type": "html", "embedded": "script", "variable": name, "extract": "a"});
    let two = "<script>w.dataLayer=[];w.one={\"a\":1}</script><script>w.two={\"a\":2}</script>";
    check(named("w.two"), two, "2");
    check(named("w.one"), two, "1");
    check(named("w.three"), two, "PARSE_ERROR");
    check(of("a"), "<p>", "EXTRACT_EMPTY");
    check(of("gone"), &page("{}"), "EXTRACT_EMPTY");
}

#[test]
fn text_answers() {
    check(json!({"type": "text"}), " hello\n", "\"hello\"");
    check(json!({"type": "text"}), " ", "EXTRACT_EMPTY");
    let part = |after: &str, until: &str| json!({"type": "text", "between": {"after": after, "until": until}});
    check(part("id=\"", "\""), "<i id=\"7\"> id=\"8\"", "\"7\"");
    check(part("", ";"), "a; b", "\"a\"");
    check(part("a", ""), "a b", "\"b\"");
    check(part("x", "y"), "a b", "EXTRACT_EMPTY");
    check(json!({"type": "text", "header": "x-token"}), "a", "EXTRACT_EMPTY");
}

#[test]
fn fingerprints() {
    let html = spec(
        json!({"type": "html", "html": {"items": "li", "fields": {"name": "b", "to": "a@href"}}}),
    );
    let of = |page: &str| {
        fingerprint(&html, &extract(&html, HttpAnswer::from_body("", page.as_bytes())).unwrap())
    };
    let one = of("<li><b>x</b><a href=/1>");
    assert_eq!(one, [".name:1:text", ".to:1:text", "items:1:text"]);
    let many = of(&"<li><b>x</b><a href=/1></a></li>".repeat(20));
    assert_eq!(many, [".name:10-99:text", ".to:10-99:text", "items:10-99:text"]);
    assert_eq!(similarity_bp(&html, &one, &many), 10_000);
    let other = of("<li><b>x</b>");
    assert!(similarity_bp(&html, &one, &other) < 8_500);

    let json = spec(json!({"type": "json", "extract": "hits"}));
    let got = extract(&json, HttpAnswer::from_body("", br#"{"hits":[{"t":1}],"n":2}"#)).unwrap();
    assert_eq!(fingerprint(&json, &got), ["$:list", "$[].t:num", "$[]:object"]);
    assert_eq!(got.whole.unwrap()["n"], 2);
}

#[test]
fn framed_json() {
    let check = |framing: &str, body: &str, want: &str| {
        let spec = spec(json!({"type": "json", "framing": framing, "extract": "[].t"}));
        let got = extract(&spec, HttpAnswer::from_body("text/javascript", body.as_bytes()))
            .map_or_else(|err| err.code().to_string(), |it| it.data.to_string());
        assert_eq!(got, want, "{framing}: {body}");
    };
    check("prefix", ")]}'\n[{\"t\":1}]", "[1]");
    check("prefix", "{}&&[{\"t\":1}]", "[1]");
    check("jsonp", "/**/callback([{\"t\":1}]);", "[1]");
    check("jsonp", "[{\"t\":1}]", "PARSE_ERROR");
    check("jsonp", "callback([{\"t\":1}]); more()", "PARSE_ERROR");
    check("lines", "{\"t\":1}\n\n{\"t\":2}\n", "[1,2]");
    check("lines", "", "[]");
    check("lines", "{\"t\":1}\n<html>", "PARSE_ERROR");
}

/// A page without items is an answer where it says so in the line that gave the totals before.
#[test]
fn a_page_that_states_that_there_is_nothing() {
    let line = "{total} rows where kind";
    let of = |line: &str, more: Value, body: &str| {
        let mut it = json!({"type": "html", "html": {"items": "li", "fields": {"name": "b"}},
            "page_info": {"line": line, "page_size": 100}});
        it.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        extract(&spec(it), HttpAnswer::from_body("text/html", body.as_bytes()))
            .map(|it| (it.data.to_string(), it.length.total, it.length.complete))
            .map_err(|err| err.code())
    };
    let none = Ok(("[]".to_owned(), Some(0), Some(true)));
    let empty = Err(Code::ExtractEmpty);
    let plain = json!({});
    let head = "<h3>0 rows\n where kind = nothing</h3>";
    assert_eq!(of(line, plain.clone(), head), none);
    // It says that there are some, says nothing, says both, or has more to show.
    for body in [
        "<h3>161 rows where kind = red</h3>",
        "<h3>Nothing here</h3>",
        "<h3>0 rows where kind = a</h3><h3>7 rows where kind = b</h3>",
        "<h3>0 rows where kind = a</h3><a rel=next href='/?page=2'>next</a>",
    ] {
        assert_eq!(of(line, plain.clone(), body), empty, "{body}");
    }
    // One word is said of other things, too; and where a recipe wants items, it gets them or fails.
    assert_eq!(of("{total} items", plain, "<p>0 items in your cart</p>"), empty);
    assert_eq!(of(line, json!({"min_items": 1}), head), empty);
}
