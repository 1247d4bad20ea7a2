//! The library and the commands that look at recipes: nothing here leaves loopback.

use serde_json::{Value, json};

use crate::support::{Home, Web, write};

fn shop(status: &str, query: &str, examples: &str) -> String {
    format!(
        "version: 1\nname: shop\ntask: Search the shop for {{query}}\nstatus: {status}\nsource_url: http://shop.test/\nparameters:\n  - {{ name: query, type: str, required: true, source: task_input, constraints: {{ max_len: 60 }}, examples: [{examples}] }}\nrequest:\n  method: GET\n  url: http://shop.test/api/search\n  query: [{{ name: q, value: '{query}' }}]\n  allowed_domains: [shop.test]\nresponse: {{ type: json, extract: 'items[].{{title: title, price: price}}', required_paths: ['items[].title'] }}\n"
    )
}

fn err(home: &Home, args: &[&str]) -> (i32, String) {
    let out = home.run(args);
    (out.status.code().unwrap(), String::from_utf8_lossy(&out.stderr).into_owned())
}

fn text(home: &Home, args: &[&str]) -> String {
    let out = home.run(args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn library_recipes_are_there_read_only_and_under_ones_own() {
    let home = Home::new();
    let list = |with: &[&str]| home.json(&[&["recipe", "list", "--json"], with].concat()).1;
    let all = list(&[]);
    assert!(all.as_array().unwrap().len() >= 24);
    assert!(
        all.as_array()
            .unwrap()
            .iter()
            .all(|it| it["source"] == "library" && it["status"] == "draft")
    );
    assert_eq!(list(&["--source", "user"]), json!([]));
    let weather = list(&["--category", "weather"]);
    assert!(weather.as_array().unwrap().iter().all(|it| it["category"] == "weather"));
    assert!(weather.as_array().unwrap().len() >= 2);

    let (code, said) = err(&home, &["recipe", "delete", "hn-search"]);
    assert!(
        code == 2 && said.contains("[RECIPE_READ_ONLY]") && said.contains("recipe fork"),
        "{said}"
    );
    let (code, said) = err(&home, &["recipe", "run", "hn-search", "-p", "query=x"]);
    assert!(
        code == 2 && said.contains("[RECIPE_NOT_VERIFIED]") && said.contains("--draft"),
        "{said}"
    );
    let (_, said) = err(&home, &["recipe", "get", "hn-serch"]);
    assert!(said.contains("did you mean hn-search"), "{said}");

    // One's own copy under the same name stands before it, and says so when it is used.
    text(&home, &["recipe", "fork", "hn-search", "hn-search"]);
    let (code, said) = err(&home, &["recipe", "fork", "hn-newest", "hn-search"]);
    assert!(code == 2 && said.contains("[RECIPE_EXISTS]"), "{said}");
    let own = list(&["--source", "user"]);
    assert_eq!((&own[0]["name"], &own[0]["shadows"]), (&json!("hn-search"), &json!(true)));
    assert_eq!(list(&[]).as_array().unwrap().len(), all.as_array().unwrap().len());
    let (_, said) = err(&home, &["recipe", "run", "hn-search", "-p", "query=x"]);
    assert!(said.contains("info: your own hn-search stands before the library's"), "{said}");
    text(&home, &["recipe", "delete", "hn-search"]);
    assert_eq!(list(&["--source", "user"]), json!([]));
}

#[test]
fn dry_run_shows_what_would_be_sent() {
    let home = Home::new();
    let (code, out) = home.json(&["recipe", "dry-run", "hn-search", "-p", "query=a&b c", "--json"]);
    assert_eq!(code, 0);
    assert_eq!(out["url"], "https://hn.algolia.com/api/v1/search?query=a%26b+c&tags=story&page=0");
    assert_eq!(out["headers"], json!({"accept": "application/json"}));
    let (code, said) = err(&home, &["recipe", "dry-run", "hn-search"]);
    assert!(code == 2 && said.contains("[PARAM_INVALID]"), "{said}");

    home.recipe(
        "keyed",
        "version: 1\nname: keyed\ntask: t\nstatus: draft\nsource_url: https://a.example.com/\nparameters:\n  - { name: q, type: int, required: true, source: task_input }\nrequest:\n  method: POST\n  url: https://a.example.com/{key}\n  headers: { x-api-key: '{key}' }\n  body: { json: { q: '{q}', k: '{key}' } }\n  allowed_domains: [a.example.com]\nslots:\n  - { name: key, from: { document: { url: 'https://a.example.com/app.js', after: 'k=', until: ';' } } }\nresponse: { type: json }\n",
    );
    let shown = text(&home, &["recipe", "dry-run", "keyed", "-p", "q=7"]);
    let from = "<from the page https://a.example.com/app.js>";
    assert!(shown.starts_with(&format!("POST https://a.example.com/{from}\n")), "{shown}");
    assert!(shown.contains(&format!("x-api-key: {from}")), "{shown}");
    assert!(shown.contains(&format!("{{\"q\":7,\"k\":\"{from}\"}}")), "{shown}");

    home.recipe(
        "inside",
        "version: 1\nname: inside\ntask: t\nstatus: draft\nsource_url: http://127.0.0.1/\nrequest:\n  method: GET\n  url: http://127.0.0.1/\n  allowed_domains: [127.0.0.1]\nresponse: { type: json }\n",
    );
    let (code, said) = err(&home, &["recipe", "dry-run", "inside"]);
    assert!(code == 1 && said.contains("[URL_BLOCKED]"), "{said}");
    let (code, out) = home.json(&["recipe", "validate", "inside", "--json"]);
    assert_eq!((code, &out["errors"][0]["code"]), (1, &json!("URL_BLOCKED")), "{out}");
}

#[test]
fn validate_finds_errors_and_doubts() {
    let home = Home::new();
    let file = home.path().join("shop.yaml");
    let check = |yaml: &str, with: &[&str]| {
        write(&file, yaml);
        home.json(&[&["recipe", "validate", file.to_str().unwrap(), "--json"], with].concat())
    };
    let pin = ["--test-host", "*.test=127.0.0.1:9"];
    let codes = |out: &Value, of: &str| -> Vec<String> {
        out[of]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["code"].as_str().unwrap().to_owned())
            .collect()
    };
    let (code, out) = check(&shop("draft", "{query}", "lantern, teapot"), &pin);
    assert_eq!((code, &out["valid"]), (0, &json!(true)), "{out}");
    assert_eq!(codes(&out, "warnings"), ["plain_http", "not_verified"]);

    let (code, out) = check(&shop("draft", "lantern", "lantern"), &pin);
    assert_eq!(code, 0, "{out}");
    assert_eq!(codes(&out, "warnings")[..2], ["unused_parameter", "few_examples"], "{out}");

    let (code, out) = check(&shop("draft", "{query", "lantern, teapot"), &pin);
    assert_eq!((code, codes(&out, "errors")), (1, vec!["RECIPE_INVALID".to_owned()]), "{out}");
    let long = format!("query={}", "x".repeat(61));
    let with = [&pin[..], &["-p", &long]].concat();
    let (code, out) = check(&shop("draft", "{query}", "lantern, teapot"), &with);
    assert_eq!((code, codes(&out, "errors")), (1, vec!["PARAM_INVALID".to_owned()]), "{out}");
    assert_eq!(home.run(&["recipe", "validate", "./absent.yaml"]).status.code(), Some(2));

    // Every library recipe is valid, and draft is the only thing to say of it.
    let (_, all) = home.json(&["recipe", "list", "--json"]);
    for it in all.as_array().unwrap().iter().take(6) {
        let (code, out) =
            home.json(&["recipe", "validate", it["name"].as_str().unwrap(), "--json"]);
        assert_eq!(
            (code, codes(&out, "warnings")),
            (0, vec!["not_verified".to_owned()]),
            "{it}: {out}"
        );
    }
}

#[test]
fn explain_says_what_a_recipe_does() {
    let home = Home::new();
    let out = text(&home, &["recipe", "explain", "usgs-earthquakes"]);
    for part in [
        "a recipe of the library, read-only",
        "status: draft: written by hand",
        "the client alone, not tried yet",
        "may reach: earthquake.usgs.gov, and no other host",
        "magnitude: a number, required, at least 0, at most 10, for example 6 or 7",
        "limit: a whole number, 50 when it is not given",
        "there must be features[].properties.mag",
    ] {
        assert!(out.contains(part), "{part}:\n{out}");
    }
    let out = text(&home, &["recipe", "explain", "hn-search", "-p", "query=pots"]);
    assert!(
        out.contains("with these values: GET https://hn.algolia.com/api/v1/search?query=pots&"),
        "{out}"
    );
}

#[test]
fn verify_proves_on_examples() {
    let home = Home::new();
    let web = Web::start(&home);
    let at = ["--test-host", &web.test_host];
    let verify = |with: &[&str]| {
        home.json(&[&["recipe", "verify", "shop", "--json"], &at[..], with].concat())
    };
    let status =
        || home.json(&["recipe", "list", "--json", "--source", "user"]).1[0]["status"].clone();

    home.recipe("shop", &shop("draft", "{query}", "lantern, teapot"));
    let (code, out) = verify(&[]);
    let it = &out[0]["result"];
    assert_eq!((code, &it["verified"], &it["calls"]), (0, &json!(true), &json!(3)), "{out}");
    assert_eq!(it["effective"], json!(["query"]));
    assert_eq!(status(), "verified");
    let run = ["recipe", "run", "shop", "-p", "query=umbrella", "--json"];
    assert_eq!(home.json(&[&run[..], &at].concat()).1["success"], true);
    let words = text(&home, &["recipe", "explain", "shop"]);
    assert!(words.contains("status: verified on 20") && words.contains("fingerprint: "), "{words}");
    let told = home.json(&["recipe", "explain", "shop", "--json"]).1;
    assert_eq!(told["input_schema"]["properties"]["query"]["type"], "string", "{told}");
    assert_eq!(told["output_schema"]["items"]["properties"]["title"]["type"], "string", "{told}");
    // And once more: the proof is held to the shape of the first time.
    assert_eq!(verify(&[]).0, 0);

    // A parameter that nothing depends on, and one with a single example.
    for (query, examples, why) in [
        ("lantern{query}", "'', ' '", "no effect"),
        ("{query}", "lantern", "NEEDS_SECOND_EXAMPLE_FOR_VERIFY"),
    ] {
        let fixed = shop("draft", query, examples);
        let fixed = if why == "no effect" {
            fixed
                .replace("value: 'lantern{query}'", "value: lantern }, { name: z, value: '{query}'")
                .replace("'', ' '", "a, b")
        } else {
            fixed
        };
        home.recipe("shop", &fixed);
        let (code, out) = verify(&[]);
        assert_eq!((code, status()), (1, json!("draft")), "{out}");
        assert!(out[0]["result"]["reason"].as_str().unwrap().contains(why), "{out}");
    }

    // What could not be reached is not judged; a recipe that is not there does not keep another from its turn.
    home.recipe("shop", &shop("draft", "{query}", "lantern, teapot"));
    let out = home.run(
        &[
            &["recipe", "verify", "hn-search", "absent", "shop", "--nameserver", &web.nameserver],
            &at[..],
        ]
        .concat(),
    );
    let table = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{table}");
    let line = |name: &str| table.lines().find(|it| it.contains(name)).unwrap().to_owned();
    assert!(line("hn-search").contains("could not tell"), "{table}");
    assert!(line("absent").contains("failed"), "{table}");
    assert!(line("shop ").contains("verified"), "{table}");
    assert!(!home.path().join("recipes/library").exists());
}

/// What was learned offline is a draft; proven later on its examples, it stays proven when the task is learned again.
#[test]
fn a_draft_that_was_proven_is_not_written_over() {
    let home = Home::new();
    let web = Web::start(&home);
    let at = ["--test-host", &web.test_host];
    home.recipe(
        "raw",
        &shop("draft", "{query}", "lantern, teapot")
            .replace("name: shop", "name: raw")
            .replace("extract: 'items[].{title: title, price: price}', ", ""),
    );
    let (_, whole) = home.json(
        &[&["recipe", "run", "raw", "--draft", "--json", "-p", "query=lantern"], &at[..]].concat(),
    );
    let body = whole["data"].to_string();
    let har = json!({"log": {"creator": {"name": "test"}, "entries": [{
        "startedDateTime": "2026-11-20T10:00:00.000Z", "time": 5, "_resourceType": "fetch",
        "request": {"method": "GET", "url": "http://shop.test/api/search?q=lantern", "headers": []},
        "response": {"status": 200, "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"mimeType": "application/json", "text": body, "size": body.len()}}
    }]}});
    let path = home.path().join("shop.har");
    write(&path, &har.to_string());
    let learn = [
        "recipe",
        "learn",
        "--har",
        path.to_str().unwrap(),
        "--task",
        "Search the shop for {query}",
        "-p",
        "query=lantern",
        "--second",
        "query=teapot",
        "--no-network",
        "--json",
    ];
    let (_, out) = home.json(&learn);
    assert_eq!(out["outcome"], "saved_draft", "{out}");
    let (code, out) = home.json(&[&["recipe", "verify", "shop", "--json"], &at[..]].concat());
    assert_eq!(code, 0, "{out}");
    let file = home.path().join("recipes/shop.yaml");
    let proven = std::fs::read_to_string(&file).unwrap();
    assert!(proven.contains("status: verified"), "{proven}");
    home.json(&[&learn[..], &["--resume"]].concat());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), proven);
    // Another recipe than the one that was proven is written all the same.
    write(&file, &proven.replace("q\n", "other\n").replace("task: ", "task: Please "));
    home.json(&[&learn[..], &["--resume"]].concat());
    assert!(std::fs::read_to_string(&file).unwrap().contains("status: draft"));
}
