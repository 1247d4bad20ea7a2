//! A small site on loopback, all of it under `.test` names.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, Uri},
    response::{Html, IntoResponse, Redirect},
    routing::{get, post},
};

/// Every request line that reached the server, with its Host.
pub type Log = Arc<Mutex<Vec<String>>>;

pub struct Site {
    pub addr: SocketAddr,
    pub log: Log,
}

/// What is served as a download.
pub const DOWNLOAD: &str = "these bytes are saved nowhere";

/// Answers everything by itself.
const SERVICE: &str = "
addEventListener('install', () => skipWaiting());
addEventListener('activate', it => it.waitUntil(clients.claim()));
addEventListener('fetch', it => it.respondWith(new Response('{\"items\":[{\"name\":\"poison\"}]}')));
";

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
fetch('http://other.test/preflighted', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }).catch(() => {});
fetch('/hop').then(r => r.text());
new EventSource('/never');
</script>"#;

const FORBIDDEN: &str = r#"<!doctype html><title>Bad</title><p id="out"></p>
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

const RTC: &str = r#"<p id="out"></p><script>
const pc = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + location.search.slice(1) }] });
let n = 0;
pc.onicecandidate = e => { if (e.candidate && e.candidate.candidate) n++; };
pc.onicegatheringstatechange = () => { if (pc.iceGatheringState === 'complete') out.textContent = 'gathered ' + n; };
pc.createDataChannel('x');
pc.createOffer().then(it => pc.setLocalDescription(it));
setTimeout(() => out.textContent ||= 'gathered ' + n, 2000);
</script>"#;

/// Goes to another site, to a page of its own making, or takes away the frame that has asked: as soon as it has the whole
/// answer and the browser has told of its end, which comes a moment later.
const LEAVE: &str = r#"<p id="out">leaving</p><script>
const way = location.search.slice(1);
const own = URL.createObjectURL(new Blob(['<p>second page'], { type: 'text/html' }));
const frame = document.createElement('iframe');
function take() {
  frame.remove();
  out.textContent = 'second page';
}
if (way === 'frame') {
  frame.srcdoc = '<script>fetch("/big").then(r => r.text()).then(() => setTimeout(() => parent.take(), 50))<\/script>';
  document.body.append(frame);
} else {
  const next = way === 'own' ? own : 'http://other.test/next';
  fetch('/big').then(r => r.text()).then(() => setTimeout(() => location.href = next, 50));
}
</script>"#;

/// Shows what an earlier visit left, and leaves something everywhere.
const STATE: &str = r#"<p id="out"></p><script>
addEventListener('load', async () => {
  const bases = (await indexedDB.databases()).map(it => it.name);
  const found = [document.cookie, localStorage.length, sessionStorage.length, window.name, bases.length];
  document.cookie = 'left=1; max-age=9999';
  localStorage.left = sessionStorage.left = window.name = 'left';
  await new Promise(done => { indexedDB.open('left').onsuccess = done; });
  await (await fetch('/cached', { cache: 'force-cache' })).text();
  out.textContent = 'found ' + JSON.stringify(found);
});
</script>"#;

const MANY: &str = r#"<p id="out"></p><script>
Promise.all(Array.from({ length: 300 }, (_, i) => fetch('/echo-get?n=' + i).then(r => r.text())))
  .then(all => out.textContent = 'done ' + all.length);
</script>"#;

pub async fn serve() -> Site {
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
        .route("/service.js", get(move || async move { js(SERVICE) }))
        .route("/shared.js", get(move || async move { js("fetch('/from-shared')") }))
        .route("/from-worker", get(move || async move { json("{\"from\":\"worker\"}") }))
        .route("/from-shared", get(move || async move { json("{\"from\":\"shared\"}") }))
        .route("/post", post(|body: String| async move { body }))
        .route("/hop", get(|| async { Redirect::temporary("/hop2") }))
        .route("/nothing", get(|| async { StatusCode::NO_CONTENT }))
        .route("/hop2", get(|| async { "hopped" }))
        .route("/never", get(|| async {
            futures::future::pending::<()>().await;
        }))
        .route(
            "/leave",
            get(|| async {
                Html(LEAVE)
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
        .route("/html", get(|Query(query): Query<BTreeMap<String, String>>| async move {
            let ms = query.get("ms").map_or(0, |it| it.parse().unwrap());
            tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
            Html(query["html"].clone())
        }))
        .route("/state", get(|| async { Html(STATE) }))
        .route("/cached", get(|| async { ([("cache-control", "max-age=9999, immutable")], "x") }))
        .route("/headers", get(headers_seen).post(headers_seen))
        .route("/set", get(set_cookies))
        .route("/away", get(|uri: Uri| async move { Redirect::temporary(uri.query().unwrap_or("")) }))
        .route("/rtc", get(|| async { Html(RTC) }))
        .route("/file", get(|| async { ([("content-disposition", "attachment; filename=commis-download.bin")], DOWNLOAD) }))
        .route("/login", get(login))
        .route("/to-local", get(|| async { Redirect::temporary("http://127.0.0.1/") }))
        .route("/hang", get(|| async { futures::future::pending::<()>().await; }))
        .route("/many", get(|| async { ([("set-cookie", "one=1")], Html(MANY)) }))
        .route("/slow", get(|Query(query): Query<BTreeMap<String, String>>| async move {
            let ms = query["ms"].parse().unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
            axum::Json(serde_json::json!({ "slow": query.get("q") }))
        }))
        .route("/echo-get", get(|uri: Uri| async move { uri.query().unwrap_or("").to_owned() }))
        .route("/open", get(move || async move { (cors, "open").into_response() }))
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(&log),
            |State(log): State<Log>, uri: Uri, headers: HeaderMap, request: axum::extract::Request, next: axum::middleware::Next| async move {
                let host = headers.get("host").map_or("", |it| it.to_str().unwrap_or(""));
                log.lock().unwrap().push(format!("{host}{uri}"));
                next.run(request).await
            },
        ));
    let door = commis_testbed::TestbedListener::open(listener);
    tokio::spawn(async move { axum::serve(door, router).await.unwrap() });
    Site { addr, log }
}

/// Basic authentication, of whoever comes with a password.
async fn login(headers: HeaderMap) -> impl IntoResponse {
    let known = headers.contains_key("authorization");
    let status = if known { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
    (status, [("www-authenticate", "Basic realm=shop")], if known { "inside" } else { "outside" })
}

/// The request's headers as JSON.
async fn headers_seen(headers: HeaderMap) -> impl IntoResponse {
    let all: BTreeMap<String, String> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or("?").to_owned()))
        .collect();
    ([("access-control-allow-origin", "*")], axum::Json(all))
}

/// Sets every `c` of the query, and goes on to `to`.
async fn set_cookies(Query(query): Query<Vec<(String, String)>>) -> impl IntoResponse {
    let mut headers = HeaderMap::new();
    for (name, value) in &query {
        let name = if name == "to" { "location" } else { "set-cookie" };
        headers.append(name, value.parse().unwrap());
    }
    let redirects = headers.contains_key("location");
    let status = if redirects { StatusCode::FOUND } else { StatusCode::OK };
    (status, headers)
}
