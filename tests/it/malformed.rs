//! Recipes that are wrong in every way: each is named with a code, and told what to do.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Home, write};

const GOOD: &str = r#"version: 1
name: good
task: "Look for {query}"
status: draft
source_url: http://shop.test/
parameters:
  - { name: query, type: str, required: true, source: task_input, examples: [lantern] }
request:
  method: GET
  url: http://shop.test/api
  query: [{ name: q, value: "{query}" }]
  headers: { accept: application/json }
  allowed_domains: [shop.test]
slots: []
response: { type: json, extract: items }
"#;

/// What stands there, and what is put in its place.
const WRONG: &[(&str, &str)] = &[
    // No YAML, or YAML that a recipe may not be.
    ("version: 1", "\u{0}"),
    ("version: 1", "- version"),
    ("version: 1", "[unclosed"),
    ("version: 1", "version: 1\nversion: 1"),
    ("version: 1", "version: &a 1"),
    ("version: 1", "version: 1\nmore: *a"),
    ("version: 1", "version: 1\n<<: {a: b}"),
    ("version: 1", "version: !!binary aGk="),
    ("version: 1", "\tversion: 1"),
    ("version: 1", "version: 1\n---\nversion: 1"),
    // Fields that are missing, too many, or of another type.
    ("version: 1\n", ""),
    ("version: 1", "version: one"),
    ("version: 1", "version: 3"),
    ("version: 1", "version: -1"),
    ("version: 1", "version: 1\nunknown: 1"),
    ("name: good", "name: Good Name"),
    ("name: good", "name: ../good"),
    ("name: good", "name: [good]"),
    ("name: good\n", ""),
    ("task: \"Look for {query}\"", "task: \"\""),
    ("task: \"Look for {query}\"\n", ""),
    ("status: draft", "status: fine"),
    ("status: draft", "status: verified"),
    ("status: draft", "status: draft\ndemotion: { at: \"2026-01-01T00:00:00Z\", reason: drift }"),
    ("source_url: http://shop.test/", "source_url: shop.test"),
    ("source_url: http://shop.test/", "source_url: file:///etc/passwd"),
    ("source_url: http://shop.test/\n", ""),
    // Parameters.
    ("name: query, type", "name: Query, type"),
    ("name: query, type", "name: \"\", type"),
    ("type: str", "type: word"),
    ("type: str", "type: int"),
    ("examples: [lantern]", "examples: lantern"),
    ("examples: [lantern]", "examples: [lantern], constraints: { min: 2, max: 1 }"),
    ("examples: [lantern]", "examples: [lantern], constraints: { nope: 1 }"),
    (
        "examples: [lantern] }",
        "examples: [lantern] }\n  - { name: query, type: str, required: true, source: task_input }",
    ),
    // The request.
    ("method: GET", "method: DELETE"),
    ("method: GET", "method: get"),
    ("method: GET", "method: GET\n  body: { text: x }"),
    ("  method: GET\n", ""),
    ("url: http://shop.test/api", "url: ftp://shop.test/api"),
    ("url: http://shop.test/api", "url: http://{query}/api"),
    ("url: http://shop.test/api", "url: /api"),
    ("url: http://shop.test/api", "url: http://user:word@shop.test/api"),
    ("url: http://shop.test/api", "url: http://shop.test/{nobody}"),
    ("url: http://shop.test/api", "url: http://shop.test/{"),
    ("value: \"{query}\"", "value: \"{other}\""),
    ("value: \"{query}\"", "value: \"}\""),
    ("value: \"{query}\"", "value: \"{query|nofilter}\""),
    ("query: [{ name: q, value: \"{query}\" }]", "query: { q: x }"),
    ("accept: application/json", "Accept: application/json"),
    ("accept: application/json", "cookie: a=b"),
    ("accept: application/json", "x-api-key: kitchen"),
    ("accept: application/json", "accept: \"a\\nb\""),
    ("accept: application/json", "\"a b\": c"),
    ("allowed_domains: [shop.test]", "allowed_domains: []"),
    ("allowed_domains: [shop.test]", "allowed_domains: [other.test]"),
    ("allowed_domains: [shop.test]", "allowed_domains: [shop.test, SHOP.test]"),
    ("allowed_domains: [shop.test]", "allowed_domains: [shop.test, \"shop.test:80\"]"),
    ("allowed_domains: [shop.test]", "allowed_domains: [shop.test]\n  allowed_sites: [other.test]"),
    // Slots.
    ("slots: []", "slots: [{ name: slot_a, from: { cookie: { name: \"\" } } }]"),
    ("slots: []", "slots: [{ name: slot_a, from: { live: { placeholder: x } } }]"),
    ("slots: []", "slots: [{ name: slot_a, from: { nowhere: {} } }]"),
    (
        "slots: []",
        "slots: [{ name: slot_a, from: { response: { url: \"http://other.test/\", path: a } } }]",
    ),
    (
        "slots: []",
        "slots: [{ name: slot_a, from: { response: { url: \"http://shop.test/\", path: \"a[\" } } }]",
    ),
    (
        "slots: []",
        "slots: [{ name: slot_a, from: { document: { url: \"http://shop.test/\", after: \"\", until: x } } }]",
    ),
    ("slots: []", "auth: { type: bearer }"),
    ("slots: []", "auth: { type: bearer, env: \"not a name\" }"),
    ("slots: []", "auth: { type: bearer, env: EXAMPLE_TOKEN }"),
    ("slots: []", "auth: { type: magic, env: EXAMPLE_TOKEN }"),
    // The answer.
    ("type: json, extract: items", "type: yaml"),
    ("type: json, extract: items", "type: json, extract: \"items[\""),
    ("type: json, extract: items", "type: text, extract: items"),
    ("type: json, extract: items", "type: html"),
    ("type: json, extract: items", "type: json, embedded: script"),
    ("type: json, extract: items", "type: html, embedded: \"<<\""),
    ("type: json, extract: items", "type: html, html: { items: \"\", fields: { a: a } }"),
    ("type: json, extract: items", "type: html, html: { items: li, fields: {} }"),
    ("type: json, extract: items", "type: html, html: { items: li, fields: { a: \"a[\" } }"),
    ("type: json, extract: items", "type: html, embedded: script, variable: \"1a\""),
    ("type: json, extract: items", "type: text, framing: lines"),
];

#[test]
fn every_malformed_recipe_has_a_code_and_a_hint() {
    let home = Home::new();
    let validated = |text: &str| -> Value {
        let file = home.path().join("recipe.yaml");
        write(&file, text);
        home.json(&[
            "recipe",
            "validate",
            file.to_str().unwrap(),
            "--json",
            "--test-host",
            "*.test=127.0.0.1:9",
        ])
        .1
    };
    assert_eq!(validated(GOOD)["valid"], true, "{}", validated(GOOD));
    let large = format!("{GOOD}# {}\n", "x".repeat(300_000));
    let all = WRONG.iter().map(|(was, is)| {
        assert!(GOOD.contains(was), "{was}");
        GOOD.replacen(was, is, 1)
    });
    let mut silent: BTreeMap<String, String> = BTreeMap::new();
    let mut count = 0;
    for text in all.chain([large, String::new(), "\u{feff}".to_owned(), "null".to_owned()]) {
        let out = validated(&text);
        // Of what is no recipe's text at all, the command itself fails.
        let told = if out["error_code"].is_null() { &out["errors"][0] } else { &out };
        let code = told["code"].as_str().or(told["error_code"].as_str()).unwrap_or_default();
        let hint = told["hint"].as_str().unwrap_or_default();
        if code.is_empty() || hint.is_empty() {
            silent.insert(text.chars().take(4000).collect(), out.to_string());
        }
        count += 1;
    }
    assert!(count >= 80, "{count}");
    assert!(silent.is_empty(), "{} of {count}: {silent:#?}", silent.len());
}
