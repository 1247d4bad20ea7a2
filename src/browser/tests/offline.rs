//! Recorded pages drawn again, without a network.

use serde_json::{Value, json};

use super::*;
use crate::archive::Archive;
use commis_redact::{har, raw::RawPage};

const PAGE: &str = r#"<!doctype html><title>Shop</title><style>.sample{display:none}</style>
<form><input type="search" aria-label="Search"></form><ul id="out"><li class="sample">Sample row</li></ul>
<script>
document.forms[0].onsubmit = async event => {
  event.preventDefault();
  const found = await (await fetch('/api/search?q=' + encodeURIComponent(document.querySelector('input').value))).json();
  document.getElementById('out').innerHTML += found.map(it => `<li>${it}</li>`).join('');
};
new Image().src = 'http://other.test/pixel';
fetch('/unknown').catch(() => {});
fetch('http://other.test/post', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }).catch(() => {});
try { new WebSocket('ws://other.test/socket'); } catch {}
navigator.sendBeacon('http://other.test/beacon', 'x');
</script>"#;

fn entry(method: &str, url: &str, mime: &str, kind: &str, body: &str) -> Value {
    json!({
        "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1, "_resourceType": kind,
        "request": {"method": method, "url": url, "headers": [], "queryString": [], "cookies": [], "headersSize": -1, "bodySize": -1, "httpVersion": "HTTP/1.1"},
        "response": {"status": 200, "statusText": "OK", "headers": [{"name": "content-type", "value": mime}], "cookies": [], "redirectURL": "",
            "headersSize": -1, "bodySize": body.len(), "httpVersion": "HTTP/1.1", "content": {"size": body.len(), "mimeType": mime, "text": body}},
        "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0},
    })
}

fn recording(typed: &str, entries: &[Value]) -> RawRecording {
    let har = json!({"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": entries}});
    let typed = BTreeMap::from([("q".to_owned(), typed.to_owned())]);
    har::import(har.to_string().as_bytes(), "Search", typed).unwrap().recording
}

async fn draw(browser: &Browser, raw: RawRecording) -> Option<RawPage> {
    let mut context = browser.context().await.unwrap();
    let archive = Archive::from_recording(&raw).unwrap();
    context.render(archive, &raw.typed, &raw.actions).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_page_is_drawn_from_its_recording_alone() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let page = entry("GET", "http://shop.test/", "text/html", "document", PAGE);
    let data = |q: &str| {
        let url = format!("http://shop.test/api/search?q={q}");
        entry("GET", &url, "application/json", "fetch", r#"["Desk lamp","Floor lamp"]"#)
    };
    let draw = async |raw| draw(&browser, raw).await;
    // It asks when something is typed; what is hidden is not drawn.
    let drawn = draw(recording("lamp", &[page.clone(), data("lamp")])).await.unwrap();
    assert!(drawn.visible_text.contains("Desk lamp"), "{}", drawn.visible_text);
    assert!(drawn.documents[0].contains("Floor lamp") && !drawn.documents[0].contains("Sample"));
    // Typed where the recording has another word.
    assert!(draw(recording("chair", &[page.clone(), data("chair%20")])).await.is_none());
    // The page that a form was answered with.
    let answer = entry("POST", "http://shop.test/", "text/html", "document", "<p>12 lamps</p>");
    let drawn = draw(recording("lamp", &[page, answer])).await.unwrap();
    assert_eq!(drawn.visible_text, "12 lamps");
    assert_eq!(*site.log.lock().unwrap(), Vec::<String>::new(), "nothing reached a server");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_searches_after_a_pause_is_drawn() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let page = r#"<!doctype html><title>Names</title><form><input type="search" aria-label="Search"></form><ul id="out"></ul><script>
let timer;
document.querySelector('input').oninput = event => {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const found = await (await fetch('/api/suggest?q=' + encodeURIComponent(event.target.value))).json();
    document.getElementById('out').innerHTML = found.map(it => `<li>${it}</li>`).join('');
  }, 600);
};
</script>"#;
    let raw = recording(
        "lamp",
        &[
            entry("GET", "http://shop.test/", "text/html", "document", page),
            entry(
                "GET",
                "http://shop.test/api/suggest?q=lamp",
                "application/json",
                "fetch",
                r#"["Desk lamp","Floor lamp"]"#,
            ),
        ],
    );
    let drawn = draw(&browser, raw).await.unwrap();
    assert!(drawn.visible_text.contains("Floor lamp"), "{}", drawn.visible_text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_loads_when_it_is_opened_is_drawn() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let page = r#"<!doctype html><title>Plant</title><h1>Fern</h1><div role="tablist">
<button role="tab" aria-selected="true">About</button><button role="tab" aria-selected="false">Care</button></div><div id="out"></div><script>
document.querySelectorAll('[role=tab]')[1].onclick = async () => {
  document.getElementById('out').innerHTML = await (await fetch('/plants/fern/care')).text();
};
</script>"#;
    let raw = recording(
        "fern",
        &[
            entry("GET", "http://shop.test/plants/fern", "text/html", "document", page),
            entry(
                "GET",
                "http://shop.test/plants/fern/care",
                "text/html",
                "fetch",
                "<p>Half shade</p>",
            ),
        ],
    );
    let drawn = draw(&browser, raw).await.unwrap();
    assert!(drawn.visible_text.contains("Half shade"), "{}", drawn.visible_text);
    assert!(!drawn.documents_before[0].contains("Half shade"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_by_itself_is_waited_for_as_long_as_its_timers_say() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let page = |start: &str| {
        format!(
            r#"<!doctype html><title>Plant</title><h1>Fern</h1><div id="out"></div><script>
const load = async () => {{
  document.getElementById('out').innerHTML = await (await fetch('/plants/fern/care')).text();
}};
{start}
</script>"#
        )
    };
    let care = entry(
        "GET",
        "http://shop.test/plants/fern/care",
        "text/html",
        "fetch",
        "<p>Half shade</p>",
    );
    for (start, is_drawn) in [
        ("setTimeout(load, 3000);", true),
        // Each sets the next.
        ("const wait = n => n ? setTimeout(wait, 500, n - 1) : load(); wait(6);", true),
        ("let n = 0; setInterval(() => { if (++n === 3) load(); }, 900);", true),
        // Nothing is to be waited for.
        ("setTimeout(load, 3600000);", false),
        ("clearTimeout(setTimeout(load, 1000));", false),
    ] {
        let url = "http://shop.test/plants/fern";
        let document = entry("GET", url, "text/html", "document", &page(start));
        let drawn = draw(&browser, recording("fern", &[document, care.clone()])).await;
        let text = drawn.map(|it| it.visible_text).unwrap_or_default();
        assert_eq!(text.contains("Half shade"), is_drawn, "{start}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_goes_on_by_scrolling_says_so() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let page = |goes_on: bool| {
        let more =
            if goes_on { "addEventListener('scroll', () => setTimeout(load, 100));" } else { "" };
        format!(
            r#"<!doctype html><title>Names</title><form><input type="search" aria-label="Search"></form><ul id="out"></ul>
<p style="height: 3000px">The end</p><script>
let at = 0, timer;
const load = async () => {{
  at += 1;
  const q = encodeURIComponent(document.querySelector('input').value);
  const found = await (await fetch(`/api/names?q=${{q}}&page=${{at}}`)).json();
  document.getElementById('out').innerHTML += found.map(it => `<li>${{it}}</li>`).join('');
}};
document.querySelector('input').oninput = () => {{ clearTimeout(timer); timer = setTimeout(load, 300); }};
document.forms[0].onsubmit = event => event.preventDefault();
{more}
</script>"#
        )
    };
    let url = "http://shop.test/api/names?q=lamp&page=1";
    let data = entry("GET", url, "application/json", "fetch", r#"["Desk lamp","Floor lamp"]"#);
    for goes_on in [true, false] {
        let document = entry("GET", "http://shop.test/", "text/html", "document", &page(goes_on));
        let drawn = draw(&browser, recording("lamp", &[document, data.clone()])).await.unwrap();
        assert!(drawn.visible_text.contains("Floor lamp"), "{}", drawn.visible_text);
        assert_eq!(drawn.grows, goes_on);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_of_a_drawn_page_runs_faster_and_is_a_clock() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let page = r#"<!doctype html><title>Clock</title><form><input type="search" aria-label="Search"></form><p id="out"></p><script>
const begun = Date.now(), at = new Date();
const checks = [at instanceof Date, typeof Date() === 'string', new Date(0).getTime() === 0, Date.UTC(1970, 0, 2) === 864e5,
  new (class extends Date {})() instanceof Date, Math.abs(at - begun) < 1000, `${new Date(2026, 0, 2).getFullYear()}` === '2026'];
let timer;
const ask = async () => {
  // As libraries do: a timer that comes early is set once more.
  const left = 1500 - (Date.now() - timer);
  if (left > 0) return setTimeout(ask, left);
  await fetch('/api/late?q=' + encodeURIComponent(document.querySelector('input').value));
  document.getElementById('out').textContent = checks.every(it => it) ? 'all is well' : checks.join();
};
document.querySelector('input').oninput = event => { if (!timer) setTimeout(ask, 1500); timer = Date.now(); };
document.forms[0].onsubmit = event => event.preventDefault();
</script>"#;
    let raw = recording(
        "lamp",
        &[
            entry("GET", "http://shop.test/", "text/html", "document", page),
            entry("GET", "http://shop.test/api/late?q=lamp", "application/json", "fetch", "[]"),
        ],
    );
    // This is longer than a page is waited for, by any other clock.
    let drawn = draw(&browser, raw).await.unwrap();
    assert!(drawn.visible_text.contains("all is well"), "{}", drawn.visible_text);
}
