//! Real Chromium against a small site on loopback. Where no Chromium is installed, each test says so and passes.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::{Query, State},
    http::{HeaderMap, Uri},
    response::{Html, IntoResponse, Redirect},
    routing::{get, post},
};

use super::*;
use crate::{
    artifacts::recording::{ActionKind, BodyStatus, ResourceType, TargetKind},
    redact::raw::{RawBody, RawExchange, RawRecording},
    settings::EgressSettings,
    transport::{Caps, Outgoing, Transport},
};

/// Every request line that reached the server, with its Host.
type Log = Arc<Mutex<Vec<String>>>;

struct Site {
    addr: SocketAddr,
    log: Log,
}

const HOME: &str = r#"<!doctype html><title>Shop</title><meta name="csrf" content="tok-123">
<h1>Shop</h1>
<label>Search <input type="search" id="q"></label>
<label>Sort <select id="sort"><option value="new">Newest</option><option value="price">Price</option></select></label>
<button id="go">Find things</button> <button id="dlg">Ask</button>
<a href="/next">Next page</a>
<ul id="out"></ul>
<script>
let n = 0;
const q = document.getElementById('q');
q.addEventListener('keydown', () => n++);
q.addEventListener('input', () => fetch('/suggest?q=' + encodeURIComponent(q.value)));
async function find() {
  const r = await fetch('/api/search?q=' + encodeURIComponent(q.value) + '&keys=' + n);
  const j = await r.json();
  document.getElementById('out').innerHTML = j.items.map(it => '<li>' + it.name + '</li>').join('');
}
q.addEventListener('keydown', e => { if (e.key === 'Enter') find(); });
document.getElementById('go').onclick = find;
document.getElementById('sort').onchange = e => fetch('/sorted?by=' + e.target.value);
document.getElementById('dlg').onclick = () => { if (!confirm('sure?')) window.open('/popup'); document.title = 'asked'; };
</script>"#;

const PARTS: &str = r#"<!doctype html><title>Parts</title><p>outer
<iframe src="http://other.test/frame"></iframe><iframe src="/inner"></iframe>
<script>
const w = new Worker('/worker.js'); w.onmessage = e => document.title = 'worker ' + e.data;
new SharedWorker('/shared.js');
fetch('/post', { method: 'POST', body: JSON.stringify({ deep: 'x'.repeat(200) }), headers: { 'content-type': 'application/json' } });
fetch('/hop').then(r => r.text());
new EventSource('/never');
</script>"#;

const FORBIDDEN: &str = r#"<!doctype html><title>Bad</title><p id="out">
<script>
const all = [PORT, 'http://169.254.169.254/latest', 'http://[::1]/x', 'http://user.internal/', 'https://10.0.0.1/y'];
Promise.allSettled(all.map(u => fetch(u, { mode: 'no-cors' }))).then(r => {
  document.getElementById('out').textContent = 'failed ' + r.filter(it => it.status === 'rejected').length;
});
try { new WebSocket('ws://127.0.0.1:1234/'); } catch (e) {}
new Worker(URL.createObjectURL(new Blob(['fetch(' + JSON.stringify(all[0]) + ')'])));
new Image().src = all[0] + 'img';
navigator.sendBeacon(all[0] + 'beacon', 'x');
</script><iframe src="http://192.168.0.1/"></iframe>"#;

async fn serve() -> Site {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let log = Log::default();
    let json = |text: &'static str| ([("content-type", "application/json")], text);
    let js = |text: &'static str| ([("content-type", "text/javascript")], text);
    let cors = [("access-control-allow-origin", "*")];
    let search = |Query(query): Query<BTreeMap<String, String>>| async move {
        let items: Vec<_> = (0..3)
            .map(|i| serde_json::json!({ "name": format!("{} item {i}", query["q"]) }))
            .collect();
        axum::Json(serde_json::json!({ "items": items, "keys": query["keys"] }))
    };
    let forbidden = FORBIDDEN.replace("PORT", &format!("'http://{addr}/'"));
    let router = Router::new()
        .route(
            "/",
            get(|| async { ([("set-cookie", "sid=abc; HttpOnly; Path=/")], Html(HOME)) }),
        )
        .route("/suggest", get(move || async move { json("[]") }))
        .route("/sorted", get(move || async move { json("{}") }))
        .route("/api/search", get(search))
        .route("/next", get(|| async { Html("<title>Next</title><p>second page") }))
        .route("/popup", get(|| async { Html("popup") }))
        .route("/parts", get(|| async { Html(PARTS) }))
        .route(
            "/frame",
            get(|| async {
                Html("<p>inside other<button onclick=\"fetch('/clicked')\">Press me</button>\
                      <label>Code <input oninput=\"fetch('/code?'+this.value)\"></label><script>fetch('/from-frame')</script>")
            }),
        )
        .route("/inner", get(|| async { Html("<p>inside same<button onclick=\"fetch('/inner-click')\">Inner</button>") }))
        .route("/from-frame", get(move || async move { json("{\"from\":\"frame\"}") }))
        .route("/clicked", get(move || async move { json("{\"clicked\":1}") }))
        .route("/code", get(move || async move { json("{}") }))
        .route("/inner-click", get(move || async move { json("{\"clicked\":2}") }))
        .route(
            "/worker.js",
            get(move || async move { js("fetch('/from-worker').then(r=>r.json()).then(j=>postMessage(j.from))") }),
        )
        .route("/shared.js", get(move || async move { js("fetch('/from-shared')") }))
        .route("/from-worker", get(move || async move { json("{\"from\":\"worker\"}") }))
        .route("/from-shared", get(move || async move { json("{\"from\":\"shared\"}") }))
        .route("/post", post(|body: String| async move { body }))
        .route("/hop", get(|| async { Redirect::temporary("/hop2") }))
        .route("/hop2", get(|| async { "hopped" }))
        .route("/never", get(|| async {
            futures::future::pending::<()>().await;
        }))
        .route(
            "/leave",
            get(|| async {
                Html("<p>leaving<script>fetch('/big').then(r => { r.text(); setTimeout(() => location.href = 'http://other.test/next', 0) })</script>")
            }),
        )
        .route(
            "/big",
            get(move || async move { axum::Json(serde_json::json!({ "big": "y".repeat(300_000) })) }),
        )
        .route("/forbidden", get(move || async move { Html(forbidden) }))
        .route(
            "/echo",
            post(|headers: HeaderMap, body: String| async move {
                let header = |name: &str| headers.get(name).map(|it| it.to_str().unwrap().to_owned());
                axum::Json(serde_json::json!({ "cookie": header("cookie"), "x": header("x-y"), "body": body }))
            }),
        )
        .route("/open", get(move || async move { (cors, "open").into_response() }))
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(&log),
            |State(log): State<Log>, uri: Uri, headers: HeaderMap, request: axum::extract::Request, next: axum::middleware::Next| async move {
                let host = headers.get("host").map_or("", |it| it.to_str().unwrap_or(""));
                log.lock().unwrap().push(format!("{host}{uri}"));
                next.run(request).await
            },
        ));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Site { addr, log }
}

fn policy(site: &Site) -> Arc<EgressPolicy> {
    let settings = EgressSettings {
        test_hosts: vec![format!("*.test={}", site.addr)],
        ..EgressSettings::default()
    };
    Arc::new(EgressPolicy::new(&settings).unwrap())
}

async fn start(site: &Site) -> Option<Browser> {
    let Ok(exe) = find_chromium(None) else {
        println!("no Chromium here: not tested");
        return None;
    };
    Some(Browser::launch(&exe, policy(site)).await.unwrap())
}

fn plan(url: &str, yaml: &str) -> Plan {
    Plan {
        task: "a task".to_owned(),
        url: url.to_owned(),
        typed: BTreeMap::new(),
        steps: if yaml.is_empty() {
            Vec::new()
        } else {
            serde_saphyr::from_str(yaml).unwrap()
        },
        timeout: Duration::from_secs(10),
    }
}

fn exchange<'a>(recording: &'a RawRecording, part: &str) -> &'a RawExchange {
    recording
        .exchanges
        .iter()
        .find(|it| it.url.as_str().contains(part))
        .unwrap_or_else(|| panic!("no {part} in {:#?}", urls(recording)))
}

fn urls(recording: &RawRecording) -> Vec<String> {
    let line = |it: &RawExchange| {
        let body = match &it.body {
            RawBody::Captured(body) => format!("{} B", body.len()),
            RawBody::Missing(status) => format!("{status:?}"),
        };
        format!(
            "{} {} {:?} {:?} {:?} {body}",
            it.method, it.url, it.status, it.resource_type, it.initiator.target
        )
    };
    recording.exchanges.iter().map(line).collect()
}

fn text(exchange: &RawExchange) -> String {
    match &exchange.body {
        RawBody::Captured(body) => String::from_utf8_lossy(body).into_owned(),
        RawBody::Missing(status) => panic!("{status:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_is_recorded() {
    let site = serve().await;
    let begun = Instant::now();
    let Some(browser) = start(&site).await else {
        return;
    };
    println!("launch {:?} {}", begun.elapsed(), browser.version().await);
    assert_eq!(browser.sandboxed().await, Some(true));
    let begun = Instant::now();
    let mut context = browser.context().await.unwrap();
    println!("context {:?}", begun.elapsed());
    let begun = Instant::now();
    let steps = "
- fill: {role: searchbox, name: Search, value: red hät}
- fill: {role: combobox, name: Sort, value: Price}
- fill: {role: searchbox, name: Search, value: red hat}
- press: Enter
- wait_for: {text: red hat item 2}
- wait_for: {request: /api/search}
- wait_for: {selector: 'li:nth-child(3)'}
- click: {role: button, name: find THINGS}
";
    let recording = context
        .record(&plan("http://shop.test/", steps))
        .await
        .unwrap();
    println!(
        "record {:?}; steps {} ms",
        begun.elapsed(),
        recording.duration_ms
    );

    let home = exchange(&recording, "shop.test/");
    assert_eq!(home.resource_type, ResourceType::Document);
    assert_eq!(home.status, Some(200));
    assert!(
        home.response_headers
            .iter()
            .any(|it| it.1.starts_with("sid=abc"))
    );
    let search = exchange(&recording, "/api/search");
    assert!(
        search.url.as_str().contains("q=red%20hat"),
        "{}",
        search.url
    );
    assert!(text(search).contains("red hat item 2"));
    assert!(search.mime.starts_with("application/json"));
    assert!(search.initiator.has_stack);
    assert!(
        search
            .request_headers
            .iter()
            .any(|it| it.1.contains("sid=abc"))
    );
    let press = recording
        .actions
        .iter()
        .position(|it| it.kind == ActionKind::Press);
    assert_eq!(search.after_action.map(|it| it as usize), press);
    let suggestions = recording
        .exchanges
        .iter()
        .filter(|it| it.url.path() == "/suggest")
        .count();
    // Seven keys, once more after the field was emptied, and the Backspace.
    assert_eq!(suggestions, 15, "{:#?}", urls(&recording));
    assert_eq!(
        exchange(&recording, "/sorted").url.query(),
        Some("by=price")
    );
    let searches = urls(&recording)
        .iter()
        .filter(|it| it.contains("/api/search"))
        .count();
    assert_eq!(searches, 2);
    assert!(recording.page.visible_text.contains("red hat item 1"));
    assert_eq!(recording.page.title, "Shop");
    assert_eq!(
        recording.page.metas,
        [("csrf".to_owned(), "tok-123".to_owned())]
    );
    assert_eq!(
        recording.page.cookies,
        [("sid".to_owned(), "abc".to_owned())]
    );
    assert!(recording.blocked.is_empty());

    let err = {
        let mut plan = plan("http://shop.test/", "- click: {role: button, name: Nope}");
        plan.timeout = Duration::from_millis(400);
        context.record(&plan).await.map(drop).unwrap_err()
    };
    assert_eq!(err.code(), Code::StepFailed);
    assert!(err.message().contains("click button \"Nope\""), "{err}");
    assert!(
        err.hint_text().unwrap().contains("button \"Find things\""),
        "{:?}",
        err.hint_text()
    );
    let begun = Instant::now();
    context.dispose().await.unwrap();
    println!("dispose {:?}", begun.elapsed());
    let begun = Instant::now();
    let profile = format!("commis-browser-{}", std::process::id());
    browser.close().await.unwrap();
    println!("close {:?} {profile}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_and_workers_are_recorded_once() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    let steps = "
- click: {role: button, name: Press me}
- fill: {role: textbox, name: Code, value: ab}
- click: {role: button, name: Inner}
- wait_for: {request: /clicked}
- wait_for: {request: /inner-click}
- wait_for: {request: /from-worker}
- wait_for: {request: /from-shared}
";
    let recording = context
        .record(&plan("http://shop.test/parts", steps))
        .await
        .unwrap();
    println!("{:#?}", urls(&recording));
    let check = |part: &str, target: TargetKind, body: &str| {
        let it = exchange(&recording, part);
        assert_eq!(it.initiator.target, target, "{part}");
        assert_eq!(text(it), body);
    };
    check("/from-frame", TargetKind::Iframe, "{\"from\":\"frame\"}");
    check("/clicked", TargetKind::Iframe, "{\"clicked\":1}");
    check("/inner-click", TargetKind::Page, "{\"clicked\":2}");
    check("/from-worker", TargetKind::Worker, "{\"from\":\"worker\"}");
    check(
        "/from-shared",
        TargetKind::SharedWorker,
        "{\"from\":\"shared\"}",
    );
    exchange(&recording, "/code?ab");
    let once = |part: &str| {
        let n = urls(&recording)
            .iter()
            .filter(|it| it.contains(part))
            .count();
        assert_eq!(n, 1, "{part}");
    };
    once("/worker.js");
    once("/from-worker");
    once("other.test/frame");
    assert_eq!(
        exchange(&recording, "other.test/frame").resource_type,
        ResourceType::Iframe
    );
    let post = exchange(&recording, "/post");
    let sent = String::from_utf8(post.request_body.clone().unwrap()).unwrap();
    assert_eq!(sent, text(post));
    let second = exchange(&recording, "/hop2");
    let first = &recording.exchanges[second.redirected_from.unwrap() as usize];
    assert_eq!((first.url.path(), first.status), ("/hop", Some(307)));
    assert!(
        first
            .response_headers
            .iter()
            .any(|it| it.0.eq_ignore_ascii_case("location"))
    );
    let stream = exchange(&recording, "/never");
    assert_eq!(stream.resource_type, ResourceType::EventSource);
    for part in ["outer", "inside other", "inside same"] {
        assert!(recording.page.visible_text.contains(part), "{part}");
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_survives_navigation() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    for _ in 0..5 {
        let mut context = browser.context().await.unwrap();
        let steps = "- wait_for: {text: second page}";
        let recording = context
            .record(&plan("http://shop.test/leave", steps))
            .await
            .unwrap();
        assert!(
            text(exchange(&recording, "/big")).len() > 300_000,
            "{:#?}",
            urls(&recording)
        );
        assert_eq!(recording.page.url, "http://other.test/next");
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_places_are_not_reached() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    let steps = "- wait_for: {text: failed 5}";
    let recording = context
        .record(&plan("http://shop.test/forbidden", steps))
        .await
        .unwrap();
    println!("{:#?}\n{:#?}", urls(&recording), recording.blocked);
    let here = site.addr.to_string();
    for part in [
        &*here,
        "169.254.169.254",
        "[::1]",
        "user.internal",
        "10.0.0.1",
        "192.168.0.1",
        "127.0.0.1:1234",
    ] {
        assert!(
            recording.blocked.iter().any(|it| it.url.contains(part)),
            "{part}"
        );
    }
    let metadata = exchange(&recording, "169.254");
    assert!(matches!(
        metadata.body,
        RawBody::Missing(BodyStatus::Failed)
    ));
    assert_eq!(metadata.status, None);
    let reached = site.log.lock().unwrap().clone();
    assert!(
        reached.iter().all(|it| it.starts_with("shop.test/")),
        "{reached:?}"
    );

    for (url, code) in [
        ("http://127.0.0.1/", Code::UrlBlocked),
        ("file:///etc/passwd", Code::UrlBlocked),
        ("chrome://version", Code::UrlBlocked),
    ] {
        let err = context.open(url, Duration::from_secs(5)).await.unwrap_err();
        assert!(
            err.code() == code || err.code() == Code::UrlInvalid,
            "{url} {err:?}"
        );
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_are_dismissed_and_popups_closed() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    let steps = "- click: {role: button, name: Ask}";
    let recording = context
        .record(&plan("http://shop.test/", steps))
        .await
        .unwrap();
    assert_eq!(recording.page.title, "asked");
    let reached = site.log.lock().unwrap().clone();
    assert!(
        !reached.iter().any(|it| it.contains("/popup")),
        "{reached:?}"
    );
    let steps = "- click: {role: link, name: Next page}\n- wait_for: {text: second page}";
    let recording = context
        .record(&plan("http://shop.test/", steps))
        .await
        .unwrap();
    assert_eq!(recording.page.url, "http://shop.test/next");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn fetch_in_the_page() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    context
        .open("http://shop.test/", Duration::from_secs(10))
        .await
        .unwrap();
    assert_eq!(
        context.meta("csrf").await.unwrap().as_deref(),
        Some("tok-123")
    );
    assert_eq!(context.meta("other").await.unwrap(), None);
    assert_eq!(context.cookie("sid").await.unwrap().as_deref(), Some("abc"));
    assert_eq!(context.cookie("nope").await.unwrap(), None);
    let transport = context.in_page_fetch();
    let get = |url: &str| Outgoing {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        allowed_domains: Vec::new(),
    };
    let mut echo = get("http://shop.test/echo");
    echo.method = "POST".to_owned();
    echo.headers = [
        ("x-y", "1"),
        ("cookie", "forged=1"),
        ("origin", "http://evil.test"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    echo.body = Some("hé".as_bytes().to_vec());
    let begun = Instant::now();
    let reply = transport.send(&echo).await.unwrap();
    println!("in_page_fetch {:?} {:?}", begun.elapsed(), reply.timings);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.mime(), "application/json");
    let body: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(
        body,
        serde_json::json!({ "cookie": "sid=abc", "x": "1", "body": "hé" })
    );

    let code = async |request: &Outgoing, transport: &InPageFetch| {
        transport.send(request).await.map(drop).unwrap_err().code()
    };
    assert_eq!(
        code(&get("http://shop.test/hop"), &transport).await,
        Code::RedirectBlocked
    );
    assert_eq!(
        code(&get("http://127.0.0.1/"), &transport).await,
        Code::UrlBlocked
    );
    assert_eq!(
        code(&get("http://other.test/next"), &transport).await,
        Code::ConnectFailed
    );
    let mut elsewhere = get("http://other.test/open");
    assert_eq!(transport.send(&elsewhere).await.unwrap().body, b"open");
    elsewhere.allowed_domains = vec!["shop.test".to_owned()];
    assert_eq!(code(&elsewhere, &transport).await, Code::DomainNotAllowed);
    let small = transport.clone().with_caps(Caps {
        body: 1000,
        ..Caps::DEFAULT
    });
    assert_eq!(
        code(&get("http://shop.test/big"), &small).await,
        Code::ResponseTooLarge
    );
    let hasty = transport.clone().with_caps(Caps {
        total: Duration::from_millis(300),
        ..Caps::DEFAULT
    });
    assert_eq!(
        code(&get("http://shop.test/never"), &hasty).await,
        Code::Timeout
    );
    browser.close().await.unwrap();
    let err = transport
        .send(&get("http://shop.test/"))
        .await
        .map(drop)
        .unwrap_err();
    assert_eq!(err.code(), Code::BrowserFailed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_does_not_start_says_why() {
    let site = serve().await;
    let err = Browser::launch(Path::new("/bin/false"), policy(&site))
        .await
        .map(drop)
        .unwrap_err();
    assert_eq!(err.code(), Code::BrowserFailed);
}
