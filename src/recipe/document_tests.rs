//! What is left out of a document is not missed, and what is done without the interpreter comes out the same.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{expression::Query, projection::FieldMask, shape::with_sorted_keys};

/// Text of JSON with few keys, some of them twice in an object, some escaped.
fn any_text() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "-1",
        "2.50",
        "1e2",
        "12345678901234567890",
        "\"\"",
        "\"x\"",
        "\"\\u00e9\\n\"",
        "[]",
        "{}",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(6, 64, 4, |inner| {
        let key = prop::sample::select(vec!["a", "b", "c", "\\u0061", ""]);
        let list = prop::collection::vec(inner.clone(), 0..4);
        let object = prop::collection::vec((key, inner), 0..5);
        prop_oneof![
            list.prop_map(|all| format!("[{}]", all.join(" ,"))),
            object.prop_map(|all| {
                let all = all.iter().map(|(key, it)| format!("\"{key}\": {it}"));
                format!("{{{}}}", all.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

/// Expressions that learning writes, and all else that the language has.
fn any_expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a", "b", "c", "@", "*", "a.b", "[]", "[*]", "a[]", "b[*].c", "[0]", "[-1]", "a[1:]",
        "`1`", "'x'", "\"\"", "[].a", "*.b", "[][]",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 12, 3, |inner| {
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            4 => two().prop_map(|(a, b)| format!("{a} | {b}")),
            2 => two().prop_map(|(a, b)| format!("a[].{{x: {a}, b: {b}}}")),
            2 => two().prop_map(|(a, b)| format!("{{a: {a}, b: {b}, a: {b}}}")),
            2 => two().prop_map(|(a, b)| format!("[{a}, {b}]")),
            2 => inner.clone().prop_map(|a| format!("({a})[].a")),
            2 => inner.clone().prop_map(|a| format!("({a}).*")),
            1 => two().prop_map(|(a, b)| format!("({a}) || ({b})")),
            1 => two().prop_map(|(a, b)| format!("({a}) && ({b})")),
            1 => inner.clone().prop_map(|a| format!("!({a})")),
            1 => two().prop_map(|(a, b)| format!("[?({a}) == `1`].{{c: {b}}}")),
            1 => two().prop_map(|(a, b)| format!("a[?({a})] | [0].[{b}]")),
            1 => inner.clone().prop_map(|a| format!("length({a})")),
            1 => two().prop_map(|(a, b)| format!("map(&({a}), {b})")),
            1 => inner.clone().prop_map(|a| format!("sort_by({a}, &b)[].a")),
            1 => inner.clone().prop_map(|a| format!("not_null({a}, b).c")),
            1 => inner.prop_map(|a| format!("keys({a})")),
        ]
    })
}

fn search_or_code(
    query: &Query,
    document: &Document<'_>,
) -> Result<Value, commis_base::error::Code> {
    query.search(document).map_err(|err| err.code())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_same_is_found_in_what_is_in_reach(text in any_text(), expression in any_expression()) {
        let query = Query::compile(&expression).unwrap();
        let whole = Document::parse(&text, FieldMask::ALL).unwrap();
        let kept = Document::parse(&text, query.reach()).unwrap();
        prop_assert_eq!(search_or_code(&query, &kept), search_or_code(&query, &whole), "{:?}", query.reach());
    }

    #[test]
    fn the_interpreter_finds_the_same(text in any_text(), expression in any_expression()) {
        let query = Query::compile(&expression).unwrap();
        let whole = Document::parse(&text, FieldMask::ALL).unwrap();
        let interpreted = query.interpret(&whole).map_err(|err| err.code());
        prop_assert_eq!(search_or_code(&query, &whole), interpreted);
    }

    #[test]
    fn a_document_reads_as_a_value(text in any_text()) {
        let value: Value = with_sorted_keys(serde_json::from_str(&text).unwrap());
        let read = Document::parse(&text, FieldMask::ALL).unwrap();
        prop_assert_eq!(&read, &Document::from(&value));
        prop_assert_eq!(read.into_value().to_string(), value.to_string());
    }

    #[test]
    fn what_is_left_out_must_be_json_as_well(text in r#"[{\["a: \]]{1,3}(a|"|\\u[dD]8|\\u0041|1e9{1,4}|-|0|[{}\[\],:.]|tru|e|null| ){0,16}"#) {
        let as_value = serde_json::from_str::<Value>(&text).is_ok();
        for reach in [FieldMask::ALL, FieldMask::NONE, &FieldMask::field("b", FieldMask::ALL.clone())] {
            prop_assert_eq!(Document::parse(&text, reach).is_ok(), as_value);
        }
    }
}

#[test]
fn what_is_left_out_must_be_json_all_the_same() {
    let only_b = FieldMask::field("b", FieldMask::ALL.clone());
    let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
    for (inside, ok) in [
        ("{\"b\": [1, -2.5e-3, \"\\ud83d\\ude00\", {}]}", true),
        (deep.as_str(), true),
        (&format!("[{deep}]"), false),
        ("1e999", false),
        ("\"\\ud800\"", false),
        ("\"\u{1}\"", false),
        ("01", false),
        ("[1,]", false),
        ("{\"a\" 1}", false),
        ("{1: 1}", false),
        ("nul", false),
    ] {
        let text = format!("{{\"a\": {inside}, \"b\": 2}}");
        assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), ok, "{text}");
        let read = Document::parse(&text, &only_b);
        assert_eq!(read.is_ok(), ok, "{text}");
        let b = Document::Object(vec![("b".into(), Document::Number(2.into()))]);
        assert!(read.is_ok_and(|it| it == b) == ok, "{text}");
    }
    assert!(Document::parse("{\"b\": 1} x", &only_b).is_err());
}
