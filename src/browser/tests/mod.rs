//! Real Chromium against a small site on loopback. Where no Chromium is installed, each test says so and does not test.

mod acts;
mod apart;
mod certificates;
mod channels;
mod denied;
mod desk;
mod drift;
mod holding;
mod hostile;
mod kept;
mod moments;
mod offline;
mod own;
mod parity;
mod session;
mod site;
mod steps;
mod tls;
mod vectors;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use self::site::{Site, serve};
use super::*;
use commis_artifacts::recording::{
    ActionKind, BlockedRequest, BodyStatus, ResourceType, TargetKind,
};
use commis_base::settings::EgressSettings;
use commis_net::transport::{PreparedRequest, Transport, TransportLimits};
use commis_redact::raw::{RawBody, RawExchange, RawRecording};

fn policy(site: &Site) -> Arc<EgressPolicy> {
    let settings = EgressSettings {
        test_hosts: vec![format!("*.test={}", site.addr)],
        test_ca_pem: Some(commis_testbed::authority_pem()),
        ..EgressSettings::default()
    };
    Arc::new(EgressPolicy::new(&settings).unwrap())
}

async fn start(site: &Site) -> Option<Browser> {
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return None;
    };
    Some(Browser::launch(&exe, policy(site)).await.unwrap())
}

fn plan(url: &str, yaml: &str) -> Plan {
    Plan {
        task: "a task".to_owned(),
        url: url.to_owned(),
        typed: BTreeMap::new(),
        steps: if yaml.is_empty() { Vec::new() } else { serde_saphyr::from_str(yaml).unwrap() },
        secrets: Vec::new(),
        bound: Vec::new(),
        timeout: Duration::from_secs(30),
    }
}

/// Looks until the condition holds. Panics after a time that only ends a test that would hang.
async fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(120), "no {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
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
            RawBody::Elsewhere(_) => "let go".to_owned(),
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
        RawBody::Elsewhere(_) => panic!("let go"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_is_recorded() {
    let site = serve().await;
    let begun = Instant::now();
    let Some(browser) = start(&site).await else {
        return;
    };
    println!("launch {:?} {}", begun.elapsed(), browser.version());
    let begun = Instant::now();
    let mut context = browser.context().await.unwrap();
    println!("context {:?}", begun.elapsed());
    assert_eq!(browser.sandboxed().await, Some(true));
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
    let recording = context.record(&plan("http://shop.test/", steps)).await.unwrap();
    println!("record {:?}; steps {} ms", begun.elapsed(), recording.duration_ms);

    let home = exchange(&recording, "shop.test/");
    assert_eq!(home.resource_type, ResourceType::Document);
    assert_eq!(home.status, Some(200));
    assert!(home.response_headers.iter().any(|it| it.1.starts_with("sid=abc")));
    let search = exchange(&recording, "/api/search");
    assert!(search.url.as_str().contains("q=red%20hat"), "{}", search.url);
    assert!(text(search).contains("red hat item 2"));
    assert!(search.mime.starts_with("application/json"));
    assert!(search.initiator.has_stack);
    assert!(search.request_headers.iter().any(|it| it.1.contains("sid=abc")));
    let press = recording.actions.iter().position(|it| it.kind == ActionKind::Press);
    assert_eq!(search.after_action.map(|it| it as usize), press);
    let suggestions = recording.exchanges.iter().filter(|it| it.url.path() == "/suggest").count();
    // Seven keys, once more after the field was emptied, and the Backspace.
    assert_eq!(suggestions, 15, "{:#?}", urls(&recording));
    assert_eq!(exchange(&recording, "/sorted").url.query(), Some("by=price"));
    let searches = urls(&recording).iter().filter(|it| it.contains("/api/search")).count();
    assert_eq!(searches, 2);
    assert!(recording.page.visible_text.contains("red hat item 1"));
    assert_eq!(recording.page.title, "Shop");
    assert_eq!(recording.page.metas, [("csrf".to_owned(), "tok-123".to_owned())]);
    assert_eq!(recording.page.cookies, [("sid".to_owned(), "abc".to_owned())]);
    assert!(recording.blocked.is_empty());

    let err = {
        let mut plan = plan("http://shop.test/", "- click: {role: button, name: Nope}");
        plan.timeout = Duration::from_millis(400);
        context.record(&plan).await.map(drop).unwrap_err()
    };
    assert_eq!(err.code(), Code::StepFailed);
    assert!(err.message().contains("click button \"Nope\""), "{err}");
    assert!(err.hint_text().unwrap().contains("button \"Find things\""), "{:?}", err.hint_text());
    let begun = Instant::now();
    context.dispose().await.unwrap();
    println!("dispose {:?}", begun.elapsed());
    let begun = Instant::now();
    let second = browser.context().await.unwrap();
    println!("second context {:?}", begun.elapsed());
    drop(second);
    let begun = Instant::now();
    browser.close().await.unwrap();
    println!("close {:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_and_workers_are_recorded_once() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    let steps = "
- wait_for: {request: /from-worker}
- wait_for: {request: /from-shared}
- click: {role: button, name: Press me}
- wait_for: {request: /clicked}
- fill: {role: textbox, name: Code, value: ab}
- click: {role: button, name: Inner}
- wait_for: {request: /inner-click}
";
    let recording = context.record(&plan("http://shop.test/parts", steps)).await.unwrap();
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
    check("/from-shared", TargetKind::SharedWorker, "{\"from\":\"shared\"}");
    exchange(&recording, "/code?ab");
    let once = |part: &str| {
        let n = urls(&recording).iter().filter(|it| it.contains(part)).count();
        assert_eq!(n, 1, "{part}");
    };
    let asks = |it: &&RawExchange| it.resource_type == ResourceType::Preflight;
    let preflight = recording.exchanges.iter().find(asks).unwrap();
    assert_eq!(preflight.method, "OPTIONS");
    once("/worker.js");
    once("/from-worker");
    once("other.test/frame");
    assert_eq!(exchange(&recording, "other.test/frame").resource_type, ResourceType::Iframe);
    let post = exchange(&recording, "/post");
    let sent = String::from_utf8(post.request_body.clone().unwrap()).unwrap();
    assert_eq!(sent, text(post));
    let second = exchange(&recording, "/hop2");
    let first = &recording.exchanges[second.redirected_from.unwrap() as usize];
    assert_eq!((first.url.path(), first.status), ("/hop", Some(307)));
    assert!(first.response_headers.iter().any(|it| it.0.eq_ignore_ascii_case("location")));
    let stream = exchange(&recording, "/never");
    assert_eq!(stream.resource_type, ResourceType::EventSource);
    for part in ["outer", "inside other", "inside same"] {
        assert!(recording.page.visible_text.contains(part), "{part}");
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_survives_its_document() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    for (way, end) in [("away", "http://other.test/next"), ("own", "blob:"), ("frame", "/leave")] {
        let mut context = browser.context().await.unwrap();
        let steps = "- wait_for: {text: second page}";
        let page = format!("http://shop.test/leave?{way}");
        let recording = context.record(&plan(&page, steps)).await.unwrap();
        assert!(text(exchange(&recording, "/big")).len() > 300_000, "{:#?}", urls(&recording));
        assert!(recording.page.url.contains(end), "{}", recording.page.url);
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn fetch_in_the_page() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    context.open("http://shop.test/", Duration::from_secs(10)).await.unwrap();
    assert_eq!(context.meta("csrf").await.unwrap().as_deref(), Some("tok-123"));
    assert_eq!(context.meta("other").await.unwrap(), None);
    assert_eq!(context.cookie("sid", "http://shop.test/x").await.unwrap().as_deref(), Some("abc"));
    assert_eq!(context.cookie("nope", "http://shop.test/x").await.unwrap(), None);
    assert_eq!(context.cookie("sid", "http://other.test/x").await.unwrap(), None);
    let transport = context.in_page_fetch();
    let get = |url: &str| PreparedRequest {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    };
    let mut echo = get("http://shop.test/echo");
    echo.method = "POST".to_owned();
    echo.headers = [("x-y", "1"), ("cookie", "forged=1"), ("origin", "http://evil.test")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    echo.body = Some("hé".as_bytes().to_vec());
    let begun = Instant::now();
    let reply = transport.send(&echo).await.unwrap();
    println!("in_page_fetch {:?} {:?}", begun.elapsed(), reply.timings);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.mime(), "application/json");
    let body: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(body, serde_json::json!({ "cookie": "sid=abc", "x": "1", "body": "hé" }));

    let code = async |request: &PreparedRequest, transport: &fetch::InPageFetch| {
        transport.send(request).await.map(drop).unwrap_err().code()
    };
    assert_eq!(code(&get("http://shop.test/hop"), &transport).await, Code::RedirectBlocked);
    assert_eq!(code(&get("http://127.0.0.1/"), &transport).await, Code::UrlBlocked);
    assert_eq!(code(&get("http://other.test/next"), &transport).await, Code::ConnectFailed);
    let mut elsewhere = get("http://other.test/open");
    assert_eq!(transport.send(&elsewhere).await.unwrap().body, b"open");
    elsewhere.allowed_domains = vec!["shop.test".to_owned()];
    assert_eq!(code(&elsewhere, &transport).await, Code::DomainNotAllowed);
    let small =
        transport.clone().with_caps(TransportLimits { body: 1000, ..TransportLimits::DEFAULT });
    assert_eq!(code(&get("http://shop.test/big"), &small).await, Code::ResponseTooLarge);
    let hasty = transport.clone().with_caps(TransportLimits {
        total: Duration::from_millis(300),
        ..TransportLimits::DEFAULT
    });
    assert_eq!(code(&get("http://shop.test/never"), &hasty).await, Code::Timeout);
    browser.close().await.unwrap();
    let err = transport.send(&get("http://shop.test/")).await.map(drop).unwrap_err();
    assert_eq!(err.code(), Code::BrowserFailed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_does_not_start_says_why() {
    let site = serve().await;
    let err = Browser::launch(Path::new("/bin/false"), policy(&site)).await.map(drop).unwrap_err();
    assert_eq!(err.code(), Code::BrowserFailed);
}
