//! Recipes run against a server on loopback.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, Query as Q},
    http::{HeaderMap, StatusCode},
    routing::{get, post},
};
use serde_json::json;

use super::*;
use commis_base::settings::EgressSettings;
use commis_net::{egress::EgressPolicy, transport::public_http::PublicHttp};
use commis_recipe::yaml;

type Strings = BTreeMap<String, String>;

const RECORDED: &str = commis_recipe::file_facts::RECORDED;
const FACTS: &str = r#"{"name": "a.pdf", "type": "application/pdf", "size": 1, "sha256": "0"}"#;

fn strings(all: &[(&str, &str)]) -> Strings {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A shop: its page holds a token, its API wants it.
async fn shop(pages: Arc<AtomicUsize>) -> PublicHttp {
    let page = move || {
        pages.fetch_add(1, Ordering::Relaxed);
        async {
            (
                [("content-type", "text/html")],
                "<meta name=csrf content=\"T-1\"><ul><li><b>Pot</b> <a href=/pot>see</a><li><b>Pan</b> <a href=/pan>see</a></ul>\
                 <script id=s>{\"build\":\"b7\"}</script>",
            )
        }
    };
    let search = |Q(query): Q<Strings>| async move {
        let q = query.get("q").cloned().unwrap_or_default();
        let hits = if q == "nothing" { json!([]) } else { json!([{"title": q, "price": 3}]) };
        Json(if q == "drift" {
            json!({"results": {"a": {"b": [1]}}})
        } else {
            json!({"hits": hits, "n": 1})
        })
    };
    let guarded = |headers: HeaderMap, body: Bytes| async move {
        let token = headers.get("x-csrf-token").and_then(|it| it.to_str().ok());
        if token != Some("T-1") {
            return (StatusCode::FORBIDDEN, "no".to_owned());
        }
        let body: Value = serde_json::from_slice(&body).unwrap();
        (StatusCode::OK, json!({"got": body}).to_string())
    };
    let app = Router::new()
        .route("/", get(page))
        .route("/search", get(search))
        .route("/guarded", post(guarded))
        // A PDF, and what only says that it is one.
        .route("/price-list", get(|| async { ([("content-type", "application/pdf")], "%PDF-1.7") }))
        .route("/said", get(|| async { ([("content-type", RECORDED)], FACTS) }))
        .route("/config", get(|| async { Json(json!({"keys": {"token": "T-1"}})) }))
        .route(
            "/status/{n}",
            get(|Path(n): Path<u16>| async move {
                (StatusCode::from_u16(n).unwrap(), [("retry-after", "600")], "sorry")
            }),
        );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let settings = EgressSettings {
        test_hosts: vec![format!("shop.test={addr}")],
        ..EgressSettings::default()
    };
    PublicHttp::new(Arc::new(EgressPolicy::new(&settings).unwrap())).unwrap()
}

fn recipe(request: &str, rest: &str) -> CompiledRecipe {
    let text = format!(
        "version: 1\nname: shop\ntask: search {{q}}\nstatus: draft\nsource_url: http://shop.test/\n\
         parameters:\n  - {{name: q, type: str, required: true, source: task_input, examples: [pot]}}\n\
         request:\n  allowed_domains: [shop.test]\n{request}\n{rest}"
    );
    compile(&yaml::parse(&text).unwrap()).unwrap()
}

fn search() -> CompiledRecipe {
    recipe(
        "  method: GET\n  url: http://shop.test/search\n  query: [{name: q, value: '{q}'}]",
        "response: {type: json, extract: hits}\n\
         verification:\n  fingerprint_version: 1\n  fingerprint_sha256: x\n  verified_at: null\n  transport: public_http\n  \
         requires_session: false\n  shape: ['$:list', '$[]:object', '$[].price:num', '$[].title:str']",
    )
}

#[tokio::test]
async fn a_search() {
    let http = shop(Arc::default()).await;
    let run_with =
        async |all: &[(&str, &str)]| run(&search(), &strings(all), &Strings::new(), &http).await;
    let out = run_with(&[("q", "a & b")]).await;
    assert_eq!(out.data, json!([{"title": "a & b", "price": 3}]));
    assert!(out.success && out.error_code.is_none() && out.raw_response.is_none());
    assert_eq!((out.items, out.status_code), (Some(1), Some(200)));
    assert!(out.timings_ms.total >= out.timings_ms.ttfb && out.timings_ms.ttfb > 0.0);
    let wire = serde_json::to_value(&out).unwrap();
    assert_eq!(wire["transport_used"], "public_http");
    assert!(wire["timings_ms"]["connect"].as_f64().unwrap() > 0.0, "a new connection takes time");

    let out = run_with(&[("q", "nothing")]).await;
    assert!(out.success, "{:?}", out.error);
    assert_eq!(out.data, json!([]));
    let out = run_with(&[("q", "drift")]).await;
    assert_eq!(out.error_code, Some("EXTRACT_EMPTY"));
    assert!(out.raw_response.unwrap().contains("results"));
    let out = run_with(&[]).await;
    assert_eq!((out.error_code, out.status_code), (Some("PARAM_INVALID"), None));
    assert!(out.hint.unwrap().contains("pot"));
    let out = run_with(&[("q", "x"), ("z", "y")]).await;
    assert_eq!(out.error_code, Some("PARAM_INVALID"));
}

#[tokio::test]
async fn a_site_does_not_say_what_a_file_is() {
    let http = shop(Arc::default()).await;
    let ask = async |path: &str| {
        let request = format!(
            "  method: GET\n  url: http://shop.test/{path}\n  query: [{{name: q, value: '{{q}}'}}]"
        );
        let response = "response: {type: json, framing: file, media_type: application/pdf}";
        let q = strings(&[("q", "pot")]);
        run(&recipe(&request, response), &q, &Strings::new(), &http).await
    };
    let file = ask("price-list").await;
    assert!(file.success, "{:?}", file.error);
    assert_eq!((&file.data["name"], &file.data["size"]), (&json!("price-list"), &json!(8)));
    let said = ask("said").await;
    assert_eq!((said.error_code, &said.data), (Some("PARSE_ERROR"), &Value::Null));
}

#[tokio::test]
async fn drift_keeps_the_data() {
    let http = shop(Arc::default()).await;
    let mut compiled = search();
    compiled.recipe.response.extract = None;
    compiled.extractor = Extractor::new(&compiled.recipe.response).unwrap();
    let out = run(&compiled, &strings(&[("q", "drift")]), &Strings::new(), &http).await;
    assert_eq!(out.error_code, Some("SHAPE_DRIFT"));
    assert!(!out.success && out.data["results"].is_object());
}

#[tokio::test]
async fn slots_come_first() {
    let request = "  method: POST\n  url: http://shop.test/guarded\n  headers: {x-csrf-token: '{token}'}\n  \
                   body: {json: {q: '{q}', b: '{build}'}}";
    let chained = "slots:\n  - name: token\n    from: {document: {url: 'http://shop.test/', after: 'content=\"', until: '\"'}}\n  \
                   - name: build\n    from: {document: {url: 'http://shop.test/', after: '\"build\":\"', until: '\"'}}\n\
                   response: {type: json, extract: got}";
    let pages = Arc::new(AtomicUsize::new(0));
    let http = shop(Arc::clone(&pages)).await;
    let q = strings(&[("q", "pot")]);
    let out = run(&recipe(request, chained), &q, &Strings::new(), &http).await;
    assert!(out.success, "{:?}", out.error);
    assert_eq!(out.data, json!({"q": "pot", "b": "b7"}));
    assert_eq!(pages.load(Ordering::Relaxed), 1);

    let given = strings(&[("token", "wrong"), ("build", "b")]);
    let out = run(&recipe(request, chained), &q, &given, &http).await;
    assert_eq!(out.error_code, Some("AUTH_REQUIRED"));
    assert_eq!(pages.load(Ordering::Relaxed), 1);

    let with = |from: &str| {
        chained
            .replace("document: {url: 'http://shop.test/', after: 'content=\"', until: '\"'}", from)
    };
    for (from, want) in [
        ("response: {url: 'http://shop.test/config', path: keys.token}", None),
        ("response: {url: 'http://shop.test/config', path: keys}", Some("EXTRACT_EMPTY")),
        ("response: {url: 'http://shop.test/', path: keys}", Some("PARSE_ERROR")),
        ("document: {url: 'http://shop.test/', after: nowhere, until: x}", Some("EXTRACT_EMPTY")),
        (
            "document: {url: 'http://shop.test/status/503', after: a, until: x}",
            Some("SERVER_ERROR"),
        ),
        ("cookie: {name: sid}", Some("SESSION_REQUIRED")),
        ("meta: {name: csrf}", Some("SESSION_REQUIRED")),
    ] {
        let out = run(&recipe(request, &with(from)), &q, &Strings::new(), &http).await;
        assert_eq!(out.error_code, want, "{from} {:?}", out.error);
    }
    let out = run(
        &recipe(request, &with("cookie: {name: sid}")),
        &q,
        &strings(&[("token", "T-1")]),
        &http,
    )
    .await;
    assert!(out.success);
}

#[tokio::test]
async fn pages() {
    let http = shop(Arc::default()).await;
    let q = strings(&[("q", "x")]);
    let page = "  method: GET\n  url: http://shop.test/";
    let out = run(
        &recipe(page, "response: {type: html, html: {items: li, fields: {name: b, to: 'a@href'}}}"),
        &q,
        &Strings::new(),
        &http,
    )
    .await;
    assert_eq!(out.data, json!([{"name": "Pot", "to": "/pot"}, {"name": "Pan", "to": "/pan"}]));
    let out = run(
        &recipe(page, "response: {type: html, embedded: 'script#s', extract: build}"),
        &q,
        &Strings::new(),
        &http,
    )
    .await;
    assert_eq!(out.data, json!("b7"));
}

#[tokio::test]
async fn statuses() {
    let http = shop(Arc::default()).await;
    for (status, want, retryable, after) in [
        (204, "PARSE_ERROR", false, None),
        (304, "HTTP_STATUS", false, Some(600)),
        (401, "AUTH_REQUIRED", false, Some(600)),
        (403, "AUTH_REQUIRED", false, Some(600)),
        (404, "NOT_FOUND", false, Some(600)),
        (429, "RATE_LIMITED", true, Some(600)),
        (500, "SERVER_ERROR", true, Some(600)),
        (503, "SERVER_ERROR", true, Some(600)),
    ] {
        let request = format!("  method: GET\n  url: http://shop.test/status/{status}");
        let out = run(
            &recipe(&request, "response: {type: json}"),
            &strings(&[("q", "x")]),
            &Strings::new(),
            &http,
        )
        .await;
        assert_eq!(
            (out.error_code, out.retryable, out.retry_after_sec),
            (Some(want), retryable, after),
            "{status}"
        );
        assert_eq!(out.status_code, Some(status));
        assert!(out.raw_response.is_some());
    }
}

/// The caller's, so that it does not count against the recipe.
#[tokio::test]
async fn an_empty_value_is_named_where_the_site_refuses_it() {
    let http = shop(Arc::default()).await;
    for (status, value, want) in [
        (400, "", "PARAM_INVALID"),
        (404, " ", "PARAM_INVALID"),
        (422, "", "PARAM_INVALID"),
        (404, "x", "NOT_FOUND"),
        (500, "", "SERVER_ERROR"),
    ] {
        let request = format!("  method: GET\n  url: http://shop.test/status/{status}");
        let recipe = recipe(&request, "response: {type: json}");
        let out = run(&recipe, &strings(&[("q", value)]), &Strings::new(), &http).await;
        assert_eq!(out.error_code, Some(want), "{status} {value:?}");
        assert_eq!(out.status_code, Some(status));
    }
}

#[test]
fn raw_text_is_bounded() {
    assert_eq!(truncated_text(&vec![b'x'; 100_000], MAX_RAW).len(), MAX_RAW);
    assert!(truncated_text(&vec![0xff; 100_000], MAX_RAW).len() <= MAX_RAW);
    assert_eq!(truncated_text("ä".as_bytes(), MAX_RAW), "ä");
}
