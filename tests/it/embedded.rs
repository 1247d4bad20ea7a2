//! The crate as another program uses it: public items only.

use std::{collections::BTreeMap, net::SocketAddr};

use commis::{
    Code, EgressPolicy, HarTask, LearnStatus, Limits, Recipe, RedactOptions, Registry, Request,
    Runner, SafeClient, learn_from_har, redact_har,
};
use serde_json::{Value, json};

use crate::support::{Home, Web};

const SHOP: &str = "
version: 1
name: shop-search
task: Search the shop for {query}
status: draft
source_url: http://shop.test/
parameters:
- {name: query, type: str, required: true, source: task_input, examples: [lamp, chair]}
request:
  method: GET
  url: http://shop.test/api/search
  query: [{name: q, value: '{query}'}]
  allowed_domains: [shop.test]
response: {type: json, extract: items}
";

fn at(web: &Web) -> SocketAddr {
    web.test_host.rsplit_once('=').unwrap().1.parse().unwrap()
}

fn policy(at: SocketAddr) -> EgressPolicy {
    EgressPolicy::builder().test_host("*.test", at).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipe_is_run_and_its_failures_have_codes() {
    let home = Home::new();
    let web = Web::start(&home);
    let at = at(&web);
    let recipe = Recipe::from_yaml(SHOP).unwrap();
    assert_eq!(Recipe::from_yaml(&recipe.to_yaml().unwrap()).unwrap(), recipe);
    let state = home.path().join("state");
    let runner = Runner::builder().policy(&policy(at)).state(&state).build().unwrap();
    let answer = runner.run(&recipe, [("query", "lamp")]).await.unwrap();
    assert_eq!((answer.status, answer.attempts), (200, 1));
    assert!(answer.items.unwrap() > 0 && answer.data.is_array());
    assert_eq!(answer.items, answer.data.as_array().map(|it| it.len() as u64));
    let none: [(&str, &str); 0] = [];
    assert_eq!(runner.run(&recipe, none).await.unwrap_err().code(), Code::ParamInvalid);
    // The host is not pinned there, and no name of a stranger leads inside.
    let strict = Runner::builder().policy(&EgressPolicy::public().unwrap()).build().unwrap();
    assert_eq!(strict.run(&recipe, [("query", "x")]).await.unwrap_err().code(), Code::UrlBlocked);
    let offline = EgressPolicy::builder().test_host("*.test", at).offline().build().unwrap();
    let offline = Runner::builder().policy(&offline).build().unwrap();
    let err = offline.run(&recipe, [("query", "x")]).await.unwrap_err();
    assert_eq!(err.code(), Code::NetworkDisabled);
    let mut never = Limits::default();
    never.runs = 0;
    let none = Runner::builder().policy(&policy(at)).limits(never).build();
    assert_eq!(none.err().map(|it| it.code()), Some(Code::SettingsInvalid));
    let exported =
        commis::export(std::slice::from_ref(&recipe), commis::ExportForm::Curl, &BTreeMap::new())
            .unwrap();
    assert!(exported.files[0].text.contains("http://shop.test/api/search?q=lamp"), "{exported:?}");
    // A registry is a folder of such files.
    let recipes = Registry::open(&home.path().join("recipes"));
    recipes.save(&recipe).unwrap();
    assert_eq!(recipes.get(&recipe.name).unwrap().recipe, recipe);
}

/// What a browser would have recorded of a search in the shop, and of what goes on beside it.
async fn har(at: SocketAddr, query: &str) -> Vec<u8> {
    let client = SafeClient::new(&policy(at)).unwrap();
    let mut entries = Vec::new();
    for url in [
        "http://shop.test/".to_owned(),
        format!("http://shop.test/api/suggest?q={query}"),
        format!("http://shop.test/api/search?q={query}"),
    ] {
        let got = client.send(&Request::get(&url)).await.unwrap();
        let header = |name: &str| {
            let found = got.headers.iter().find(|it| it.0 == name);
            found.map(|it| it.1.clone()).unwrap_or_default()
        };
        entries.push(json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "timings": {},
            "request": {
                "method": "GET", "url": url, "httpVersion": "HTTP/1.1", "queryString": [],
                "headers": [{"name": "cookie", "value": "session=Zk3vQ9xT7bLm2pWc8RfYhN4s"}], "cookies": [],
            },
            "response": {
                "status": got.status, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [],
                "content": {
                    "mimeType": header("content-type"), "size": got.body.len(),
                    "text": String::from_utf8(got.body).unwrap(),
                },
            },
        }));
    }
    json!({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries}})
        .to_string()
        .into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipe_is_learned_from_a_har_and_proven_where_that_is_allowed() {
    let home = Home::new();
    let web = Web::start(&home);
    let at = at(&web);
    let har = har(at, "lamp").await;
    let task = HarTask::new("shop-search", "search the shop for {query}")
        .parameter("query", "lamp", "chair");
    let offline = learn_from_har(&har, &task, None).await.unwrap();
    assert_eq!(offline.status, LearnStatus::Draft);
    assert_eq!(offline.reason.as_deref(), Some("captured_only"));
    let proven = learn_from_har(&har, &task, Some(&policy(at))).await.unwrap();
    assert_eq!(proven.status, LearnStatus::Verified, "{:?} {:?}", proven.reason, proven.detail);
    assert!(proven.candidates[0].url.contains("/api/search"), "{:?}", proven.candidates);
    let recipe = proven.recipe.unwrap();
    let text = recipe.to_yaml().unwrap();
    assert!(text.contains("verified") && !text.contains("Zk3vQ9xT7bLm2pWc8RfYhN4s"), "{text}");
    let runner = Runner::builder().policy(&policy(at)).build().unwrap();
    let answer = runner.run(&recipe, [("query", "table")]).await.unwrap();
    assert!(answer.similarity_bp.is_some_and(|it| it >= 8_500), "{answer:?}");

    let err = learn_from_har(b"{}", &task, None).await.unwrap_err();
    assert_eq!(err.code(), Code::HarInvalid);
    let named = HarTask::new("No Name", "x");
    assert_eq!(learn_from_har(&har, &named, None).await.unwrap_err().code(), Code::RecipeInvalid);
    let secret = HarTask::new("x", "log in with ghp_0123456789abcdefghijABCDEFGHIJ012345");
    let err = learn_from_har(&har, &secret, None).await.unwrap_err();
    assert_eq!(err.code(), Code::SecretInTask);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_har_is_redacted_and_a_strangers_address_reaches_nothing_inside() {
    let home = Home::new();
    let web = Web::start(&home);
    let har = har(at(&web), "lamp").await;
    let (out, report) = redact_har(&har, &RedactOptions::default()).unwrap();
    let text = String::from_utf8(out.clone()).unwrap();
    assert!(!text.contains("Zk3vQ9xT7bLm2pWc8RfYhN4s") && text.contains("lamp"));
    assert_eq!((report.entries, report.entries_touched), (3, 3));
    assert_eq!((report.by_reason["cookie"], report.bodies_dropped), (3, 0), "{report:?}");
    let (again, report) = redact_har(&out, &RedactOptions::default()).unwrap();
    assert_eq!((again, report.by_reason), (out, BTreeMap::new()));
    let har: Value = serde_json::from_str(&text).unwrap();
    assert!(
        har["log"]["entries"][2]["response"]["content"]["text"].as_str().unwrap().contains("items")
    );

    let client = SafeClient::new(&EgressPolicy::public().unwrap()).unwrap();
    for (url, code) in [
        ("http://127.0.0.1/", Code::UrlBlocked),
        ("http://[::ffff:10.0.0.1]/", Code::UrlBlocked),
        ("http://169.254.169.254/latest/meta-data", Code::UrlBlocked),
        ("http://2130706433/", Code::UrlBlocked),
        ("http://shop.test/", Code::UrlBlocked),
        ("file:///etc/passwd", Code::UrlBlocked),
        ("http://example.com:22/", Code::UrlBlocked),
        ("nonsense", Code::UrlInvalid),
    ] {
        let err = client.send(&Request::get(url)).await.unwrap_err();
        assert_eq!(err.code(), code, "{url}: {err}");
    }
}

const FINDS: &str = "
version: 2
name: finds
task: List all mushroom finds in {place}
status: draft
source_url: http://spore.test/
parameters:
- {name: place, type: str, required: true, source: task_input, examples: [oakham, dune]}
request:
  method: GET
  url: http://spore.test/finds
  query: [{name: place, value: '{place}'}]
  allowed_domains: [spore.test]
response: {type: json, extract: finds}
pages: {by: cursor, parameter: mark, next: mark, ends: [same], key: number, seen: {pages: 3, items: 41, repeated: 2}}
";

#[tokio::test(flavor = "multi_thread")]
async fn all_pages_of_a_list_are_followed_when_asked() {
    let home = Home::new();
    let web = Web::start(&home);
    let runner = Runner::builder().policy(&policy(at(&web))).build().unwrap();
    let recipe = Recipe::from_yaml(FINDS).unwrap();
    let mut followed = 0;
    for place in ["oakham", "firwood", "marsh", "dune"] {
        let first = runner.run(&recipe, [("place", place)]).await.unwrap();
        let all = runner.run_all(&recipe, [("place", place)], 10).await.unwrap();
        let items = all.data.as_array().unwrap();
        let numbers: std::collections::BTreeSet<&str> =
            items.iter().map(|it| it["number"].as_str().unwrap()).collect();
        assert_eq!((numbers.len(), all.items), (items.len(), Some(items.len() as u64)));
        assert_eq!(all.complete, Some(true), "{:?}", all.warnings);
        if first.items == Some(20) {
            followed += 1;
            assert!(items.len() > 20 && all.attempts > 2);
            let part = runner.run_all(&recipe, [("place", place)], 1).await.unwrap();
            assert_eq!((part.items, part.complete), (Some(20), Some(false)));
        }
    }
    assert!(followed > 0);
    let shop = Recipe::from_yaml(SHOP).unwrap();
    let err = runner.run_all(&shop, [("query", "lamp")], 2).await.unwrap_err();
    assert_eq!(err.code(), Code::ParamInvalid);
}
