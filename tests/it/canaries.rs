//! 64 canaries in every corner of a live session on a hostile-enough site, and five more that are typed: none of them, in no
//! form, reaches a file, a terminal or the model; and the recipe that needs two of them is verified and runs.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use aho_corasick::AhoCorasick;
use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};

use crate::support::{Home, batch_report, has_chromium, wait_until, write};

const COUNT: usize = 64;
/// Typed: into a field for passwords, under a name that the manifest calls secret, by a step, and as two ways to fail. Words
/// and numbers, which nothing but where they were typed gives away.
const TYPED: [&str; 5] = ["sunshine", "83920617", "correct horse <3", "marmalade", "elderberry"];

/// Those that stand in the source of the page under no name: a cookie in base64, parts of a list, a constant;
/// and a ticket in an address of the network's list.
const UNKNOWN: [usize; 6] = [0, 29, 30, 31, 32, 53];

/// Values shaped as real ones are, never twice the same. Put together here, so that no scanner takes this file for a leak.
pub fn canaries() -> Vec<String> {
    let mut seed = 0x5EED_u64;
    let mut next = move || {
        seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let it = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 11
    };
    let mut of = |len: usize, alphabet: &str| -> String {
        let all: Vec<char> = alphabet.chars().collect();
        (0..len).map(|_| all[(next() % all.len() as u64) as usize]).collect()
    };
    let hex = "0123456789abcdef";
    let small = "abcdefghijklmnopqrstuvwxyz0123456789";
    let mixed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    (0..COUNT)
        .map(|i| match i % 16 {
            0 => of(32, hex),
            1 => of(40, hex),
            2 => of(43, &format!("{mixed}-_")),
            3 => format!("gh{}_{}", 'p', of(36, mixed)),
            4 => format!("sk_{}_{}", "live", of(24, mixed)),
            5 => format!(
                "{}-{}-{}-{}-{}",
                of(8, hex),
                of(4, hex),
                of(4, hex),
                of(4, hex),
                of(12, hex)
            ),
            6 => format!("xox{}-{}-{}", 'b', of(12, "123456789"), of(24, mixed)),
            7 => format!("AK{}{}", "IA", of(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
            8 => format!("AI{}{}", "za", of(35, mixed)),
            9 => format!("glp{}-{}", "at", of(20, mixed)),
            10 => format!(
                "{}.{}.{}",
                URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#),
                URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"{}"}}"#, of(12, small))),
                of(43, mixed)
            ),
            11 => of(16, small),
            12 => format!("q/{}+{}==", of(12, mixed), of(9, mixed)),
            13 => format!("{}!{}&{}<", of(9, mixed), of(6, mixed), of(7, mixed)),
            14 => of(18, "0123456789"),
            _ => of(64, hex),
        })
        .collect()
}

struct Site {
    all: Vec<String>,
    addr: String,
}

impl Site {
    fn start() -> Arc<Self> {
        let (listener, addr) = listen();
        let mut all = canaries();
        all.extend(TYPED.map(str::to_owned));
        let site = Arc::new(Self { all, addr });
        serve(listener, Router::new().fallback(answer).with_state(Arc::clone(&site)));
        site
    }

    fn is_logged_in(&self, headers: &HeaderMap) -> bool {
        let has = |name: &str, value: &str| {
            headers.get(name).and_then(|it| it.to_str().ok()).is_some_and(|it| it.contains(value))
        };
        has("cookie", &self.all[0]) && has("x-csrf-token", &self.all[2])
    }
}

pub fn listen() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    (listener, addr)
}

pub fn serve(listener: std::net::TcpListener, app: Router) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, app).await.unwrap();
        });
    });
}

async fn answer(
    State(site): State<Arc<Site>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let c = &site.all;
    let typed = |mime: &str, body: String| ([(header::CONTENT_TYPE, mime.to_owned())], body);
    match (method.as_str(), uri.path()) {
        ("GET", "/") => {
            let cookie = format!("sid={}; Path=/; HttpOnly", c[0]);
            ([(header::SET_COOKIE, cookie)], typed("text/html; charset=utf-8", page(c)))
                .into_response()
        }
        ("GET", "/api/search") if !site.is_logged_in(&headers) => {
            let text = format!("<h1>Not allowed</h1><p>invalid access_token={}</p>", c[11]);
            (StatusCode::FORBIDDEN, typed("text/html", text)).into_response()
        }
        ("GET", "/api/search") => {
            let query = url::form_urlencoded::parse(uri.query().unwrap_or("").as_bytes())
                .find(|it| it.0 == "q")
                .map_or(String::new(), |it| it.1.into_owned());
            let items: Vec<Value> = ["brass", "oak", "wool", "slate"]
                .iter()
                .enumerate()
                .map(|(i, kind)| {
                    json!({"title": format!("{query} of {kind}"), "price": query.len() * 7 + i})
                })
                .collect();
            let session = json!({"csrf_token": c[2], "echo": URL_SAFE_NO_PAD.encode(format!("sid={};", c[0]))});
            Json(json!({"results": items, "session": session})).into_response()
        }
        ("GET", "/session") => {
            let mut answer = typed("application/json", session(c)).into_response();
            let names = ["x-auth-token", "x-csrf-token", "set-cookie", "www-authenticate"];
            let values = [
                c[34].clone(),
                c[36].clone(),
                format!("remember_token={}; Path=/", c[35]),
                format!("Digest realm=\"shop\", nonce=\"{}\"", c[33]),
            ];
            for (name, value) in names.into_iter().zip(values) {
                answer.headers_mut().append(name, value.parse().unwrap());
            }
            answer
        }
        // As a server that says back whatever it was told.
        ("POST", "/login") => {
            let told = String::from_utf8_lossy(&body).into_owned();
            let mut answer = typed("application/json", told.clone()).into_response();
            let cookie = format!("last={}; Path=/", STANDARD_NO_PAD.encode(&told));
            answer.headers_mut().append(header::SET_COOKIE, cookie.parse().unwrap());
            answer
        }
        ("GET", "/moved") => {
            let to = format!("/plain?ticket={}", percent(&c[32]));
            (StatusCode::FOUND, [(header::LOCATION, to)]).into_response()
        }
        ("GET", "/plain") => {
            typed("text/plain", format!("ok token={} and {}", c[57], hex(&c[0]))).into_response()
        }
        ("GET", "/config.js") => typed(
            "text/javascript",
            format!("const API_KEY = {}; const o = {{password: p.password}};", quoted(&c[58])),
        )
        .into_response(),
        ("GET", "/data.xml") => {
            typed("application/xml", format!("<r><accessToken>{}</accessToken></r>", html(&c[59])))
                .into_response()
        }
        ("GET", "/events") => {
            typed("text/plain", format!("data: {}\n\n", json!({"refresh_token": c[60]})))
                .into_response()
        }
        _ => typed("text/plain", "ok".to_owned()).into_response(),
    }
}

/// The page; what a script of it sends is in `script`.
fn page(c: &[String]) -> String {
    let props = html(&json!({"accessToken": c[10]}).to_string());
    let config = json!({"apiKey": c[5], "nested": json!({"token": c[6]}).to_string()});
    format!(
        "<!doctype html><html><head><title>Shop token={title}</title><meta name=csrf-token content=\"{meta}\">\
         <!-- api_key: \"{comment}\" --><script>window.__CONFIG__ = {config};</script><script src=/config.js></script></head>\
         <body><form id=f><input type=hidden name=authenticity_token value=\"{hidden}\">\
         <input type=password aria-label=\"Your word\" id=word><input aria-label=\"Number\" id=number>\
         <input type=password aria-label=\"Second word\" id=second><p id=hello></p>\
         <input type=search aria-label=\"Search the shop\" name=q><button>Search</button></form>\
         <div data-api-token=\"{data}\" data-props=\"{props}\"></div><p id=state>Nothing yet</p>\
         <p>Your API key: {text}</p><p>{sid}</p><ul id=rows></ul>\
         <iframe src=\"/frame?access_token={frame}\"></iframe><script>{script}</script></body></html>",
        title = html(&c[9]),
        meta = html(&c[2]),
        comment = c[7],
        hidden = html(&c[3]),
        data = html(&c[4]),
        text = html(&c[8]),
        sid = html(&STANDARD.encode(format!("a{}", c[0]))),
        frame = percent(&c[62]),
        script = script(c),
    )
}

fn script(c: &[String]) -> String {
    let all = |from: usize, to: usize| {
        serde_json::to_string(&c[from..to]).unwrap().replace('<', "\\u003c").replace('/', "\\/")
    };
    let log = format!(
        "/log?access_token={}&sig={}&api_key={}&next={}&token={}&ctx={}",
        percent(&c[37]),
        percent(&c[38]),
        percent(&c[39]),
        percent(&format!("/a?token={}", percent(&percent(&c[40])))),
        percent(&c[41]),
        percent(&STANDARD.encode(json!({"auth_token": c[42]}).to_string())),
    );
    let posted = json!({
        "auth": {"token": c[43]}, "password": c[44], "otp": c[45], "inner": json!({"secret": c[46]}).to_string(),
        "fields": [{"name": "token", "value": c[47]}], "variables": {"accessToken": c[48]},
    });
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("client_secret", &c[49])
        .append_pair("refresh_token", &c[50])
        .append_pair("basic_auth", &STANDARD.encode(format!("user:{}", c[51])))
        .append_pair("SAMLResponse", &STANDARD.encode(format!("<a>{}</a>", c[52])))
        .finish();
    let beacon = json!({"session_id": c[61]}).to_string();
    let [log, posted, form, beacon] = [log, posted.to_string(), form, beacon].map(|it| quoted(&it));
    format!(
        "const ws = {ws}, hash = {hash};
         localStorage.setItem('authToken', {local}); sessionStorage.setItem('session_token', {session});
         document.cookie = 'auth_token=' + encodeURIComponent({cookie}) + '; path=/';
         history.replaceState(null, '', '#access_token=' + encodeURIComponent(hash));
         const get = (url, options) => fetch(url, options).then(it => it.text()).catch(() => '');
         const ready = (async () => {{
           await get('/session', {{ headers: {{ 'authorization': 'Bearer ' + {bearer}[0], 'x-api-key': {bearer}[1],
             'x-amz-security-token': {bearer}[2], 'x-auth-token': localStorage.getItem('authToken') }} }});
           await get({log} + '&session_token=' + encodeURIComponent(sessionStorage.getItem('session_token')));
           await get('/log', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: {posted} }});
           await get('/log', {{ method: 'POST', headers: {{ 'content-type': 'application/x-www-form-urlencoded' }}, body: {form} }});
           await get('/reset/' + encodeURIComponent({reset})); await get('/page;jsessionid=' + encodeURIComponent({jsession}) + '?x=1');
           await get('/moved'); await get('/data.xml'); await get('/events'); await get('/api/search?q=x');
           navigator.sendBeacon('/beacon', {beacon});
           new Image().src = '/pixel.png?token=' + encodeURIComponent({pixel});
           try {{ new WebSocket('ws://' + location.host + '/feed?token=' + encodeURIComponent(ws)); }} catch {{}}
         }})();
         const at = id => document.getElementById(id).value;
         for (const id of ['word', 'number', 'second']) document.getElementById(id).addEventListener('input', () => {{
           get('/meter?so_far=' + encodeURIComponent(at(id)));
           localStorage.setItem(id, at(id)); document.title = 'Hello ' + at(id);
         }});
         document.querySelector('#f').addEventListener('submit', async event => {{
           event.preventDefault();
           await ready;
           const all = {{ user: 'ada', word: at('word'), n: at('number'), again: [at('second'), btoa(at('word'))] }};
           await get('/login', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify(all) }});
           await get('/hello/' + encodeURIComponent(at('word')) + '?n=' + at('number') + '#' + at('second'));
           document.querySelector('#hello').textContent = 'Welcome, ' + at('word') + ' or ' + at('number') + ' or ' + at('second');
           const q = event.target.elements.q.value.trim();
           const token = document.querySelector('meta[name=csrf-token]').content;
           const answer = await (await fetch('/api/search?q=' + encodeURIComponent(q), {{ headers: {{ 'x-csrf-token': token }} }})).json();
           document.querySelector('#rows').replaceChildren(...answer.results.map(it => {{
             const row = document.createElement('li'); row.textContent = it.title + ' for ' + it.price; return row; }}));
           document.querySelector('#state').textContent = answer.results.length + ' results for ' + q;
         }});",
        ws = quoted(&c[53]),
        hash = quoted(&c[54]),
        local = quoted(&c[12]),
        session = quoted(&c[13]),
        cookie = quoted(&c[1]),
        bearer = all(29, 32),
        reset = quoted(&c[55]),
        jsession = quoted(&c[56]),
        pixel = quoted(&c[63]),
    )
}

/// JSON with some of its strings escaped as some servers do.
fn session(c: &[String]) -> String {
    let escaped: Vec<String> = c[27].chars().map(|it| format!("\\u{:04x}", it as u32)).collect();
    let escaped = escaped.concat();
    let value = json!({
        "session": {"token": c[14], "refresh_token": c[15], "id_token": c[16]}, "apiKey": c[17], "client_secret": c[18],
        "password": c[19], "nested": {"deep": {"jwt": c[20]}}, "sessions": [{"session_id": c[21]}],
        "field": {"name": "csrf", "value": c[22]}, "settings": json!({"secret": c[23]}).to_string(),
        "link": format!("http://shop.test/x?access_token={}", percent(&c[24])),
        "database": format!("http://user:{}@db.test/", percent(&c[25])),
        "state": STANDARD_NO_PAD.encode(json!({"token": c[26]}).to_string()), "auth": {"signature": c[28]},
    });
    let text = value.to_string();
    format!("{},\"escaped_token\":\"{escaped}\"}}", &text[..text.len() - 1])
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('<', "\\u003c")
}

fn percent(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

fn hex(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().concat()
}

/// All that a leak could look like.
fn forms(canary: &str) -> Vec<String> {
    let json = Value::from(canary).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let mut out = vec![
        canary.to_owned(),
        percent(canary),
        percent(&percent(canary)),
        percent(canary).replace("%2F", "%2f").replace("%3D", "%3d").replace("%2B", "%2b"),
        json.replace('/', "\\/"),
        Value::from(json.as_str()).to_string().trim_matches('"').to_owned(),
        canary.replace('<', "\\u003c").replace('&', "\\u0026"),
        json,
        html(canary),
        hex(canary),
        hex(canary).to_uppercase(),
    ];
    for skip in 0..3 {
        let bytes = [&vec![0; skip][..], canary.as_bytes()].concat();
        let (from, to) = ((skip * 8).div_ceil(6), bytes.len() * 8 / 6);
        out.push(STANDARD_NO_PAD.encode(&bytes)[from..to].to_owned());
        out.push(URL_SAFE_NO_PAD.encode(&bytes)[from..to].to_owned());
    }
    out
}

/// Every form of every canary, looked for at once: a browser's profile is large.
pub struct CanaryScanner {
    /// Which canary a form is of.
    owners: Vec<usize>,
    forms: AhoCorasick,
}

impl CanaryScanner {
    pub fn new(all: &[String]) -> Self {
        let (owners, forms): (Vec<usize>, Vec<String>) =
            all.iter().enumerate().flat_map(|(i, it)| forms_of(i, it)).unzip();
        Self { owners, forms: AhoCorasick::new(&forms).unwrap() }
    }

    pub fn through(&self, place: &str, bytes: &[u8], caught: &mut Vec<String>) {
        for hit in self.forms.find_iter(bytes) {
            let around = &bytes[hit.start().saturating_sub(60)..hit.start()];
            let canary = self.owners[hit.pattern().as_usize()];
            caught.push(format!(
                "{place}: canary {canary} after {:?}",
                around.escape_ascii().to_string()
            ));
        }
    }

    pub fn below(&self, folder: &Path, caught: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                self.below(&path, caught);
            } else if kind.is_file() {
                let bytes = std::fs::read(&path).unwrap_or_default();
                self.through(&path.display().to_string(), &bytes, caught);
            }
        }
    }
}

fn forms_of(i: usize, canary: &str) -> Vec<(usize, String)> {
    let mut all = forms(canary);
    all.sort();
    all.dedup();
    all.into_iter().map(|it| (i, it)).collect()
}

/// Takes the search out of whatever it is offered, and keeps what it was told.
#[derive(Default)]
struct Model(Mutex<Vec<u8>>);

async fn advise(State(model): State<Arc<Model>>, headers: HeaderMap, body: Bytes) -> Response {
    {
        let mut seen = model.0.lock().unwrap();
        seen.extend_from_slice(format!("{headers:?}\n").as_bytes());
        seen.extend_from_slice(&body);
    }
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let lines = &asked["response_format"]["json_schema"]["schema"]["properties"]["request"]["enum"];
    let mut lines = lines.as_array().into_iter().flatten();
    let line = lines.find(|it| it.as_str().unwrap().contains("/api/search"));
    let said = json!({"request": line, "path": "none"});
    Json(json!({
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": said.to_string()}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }))
    .into_response()
}

const FAILING: &str = r#"
version: 1
defaults: { delay_s: 0, timeout_s: 2, retries: 0 }
recipes:
  - name: waits
    task: "Log in"
    url: http://shop.test/
    examples: [{ word: env:CANARY_WORD }]
    record:
      - fill: { label: Your word, value: "{word}" }
      - wait_for: { text: "no such text as {word}" }
  - name: unnamed
    task: "Log in"
    url: http://shop.test/
    examples: [{ w: marmalade }]
    record:
      - fill: { css: input#word, value: "{w}" }
  - name: unset
    task: "Log in"
    url: http://shop.test/
    examples: [{ word: env:CANARY_IS_NOT_SET }]
    record:
      - fill: { label: Your word, value: "{word}" }
"#;

const MANIFEST: &str = r#"
version: 1
defaults: { delay_s: 0 }
recipes:
  - name: canary
    task: "Search the shop for {query}"
    url: http://shop.test/
    parameters: { number: { secret: true } }
    examples:
      - { query: lantern, word: env:CANARY_WORD, number: 83920617 }
      - { query: garden hose, word: env:CANARY_WORD, number: 83920617 }
    record:
      - fill: { label: Your word, value: "{word}" }
      - fill: { label: Number, value: "{number}" }
      - fill: { css: input#second, value: env:CANARY_SECOND }
      - fill: { role: searchbox, name: Search the shop, value: "{query}" }
      - press: Enter
      - wait_for: { text: "results for {query}" }
    expect: { min_items: 1 }
"#;

#[test]
fn no_canary_leaves_a_live_session() {
    if !has_chromium() {
        return;
    }
    let site = Site::start();
    let hunt = CanaryScanner::new(&site.all);
    let model = Arc::new(Model::default());
    let (listener, endpoint) = listen();
    serve(listener, Router::new().fallback(advise).with_state(Arc::clone(&model)));
    let home = Home::new();
    let temp = Home::new();
    write(
        &home.path().join("config.toml"),
        &format!(
            "[decision]\nmin_confidence_bp = 10001\n[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"http://{endpoint}/v1\"\napi_key_env = \"COMMIS_TEST_KEY\"\n[auth.allow]\nCANARY_WORD = [\"shop.test\"]\nCANARY_SECOND = [\"shop.test\"]\nCANARY_IS_NOT_SET = [\"shop.test\"]\n"
        ),
    );
    // Who writes a secret into a file has it there; so it is not where it is looked for.
    let given = Home::new();
    let manifest = given.path().join("canary.yaml");
    write(&manifest, MANIFEST);
    let pin = format!("shop.test={}", site.addr);
    let mut caught = Vec::new();
    let command = |args: &[&str]| {
        let mut it = home.command(args);
        it.args(["--test-host", &pin])
            .env("TMPDIR", temp.path())
            .env("COMMIS_TEST_KEY", "the-model-s-key")
            .env("CANARY_WORD", TYPED[0])
            .env("CANARY_SECOND", TYPED[2]);
        it
    };
    let learn = ["recipe", "learn-batch", "--manifest", manifest.to_str().unwrap(), "--json"];

    // Killed in the middle: when the browser has started, when it has been watched, while its recording is judged.
    let stored = |step: &str| {
        let tasks =
            std::fs::read_dir(home.path().join("artifacts")).into_iter().flatten().flatten();
        let mut files =
            tasks.flat_map(|it| std::fs::read_dir(it.path()).into_iter().flatten().flatten());
        files.any(|it| it.file_name().to_string_lossy().starts_with(step))
    };
    let started = || std::fs::read_dir(temp.path()).unwrap().next().is_some();
    let moments: [&dyn Fn() -> bool; 3] = [&started, &|| stored("01_"), &|| stored("03_")];
    for come in moments {
        let mut child = command(&[&learn[..], &["--resume"]].concat())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        wait_until("moment of the crash", || child.try_wait().unwrap().is_some() || come());
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        hunt.below(home.path(), &mut caught);
        hunt.below(temp.path(), &mut caught);
    }
    assert!(caught.is_empty(), "after a crash: {caught:#?}");

    let mut run = |args: &[&str]| -> Value {
        let out = command(args).output().unwrap();
        let mut told = Vec::new();
        hunt.through(&format!("stdout of {args:?}"), &out.stdout, &mut told);
        let is_source = matches!(args, ["browse", "html" | "network" | "text"]);
        told.retain(|it| {
            !is_source || !UNKNOWN.iter().any(|n| it.contains(&format!("canary {n} ")))
        });
        caught.extend(told);
        hunt.through(&format!("stderr of {args:?}"), &out.stderr, &mut caught);
        let text = String::from_utf8_lossy(&out.stdout);
        let events = || batch_report(&text);
        serde_json::from_str(&text)
            .ok()
            .or_else(events)
            .unwrap_or_else(|| json!(String::from_utf8_lossy(&out.stderr)))
    };
    let report = run(&[&learn[..], &["--resume"]].concat());
    let entry = &report["entries"][0];
    assert_eq!(entry["outcome"], "verified", "{report:#}");
    let id = entry["task_id"].as_str().unwrap().to_owned();
    run(&["recipe", "debug", "--task-id", &id]);
    run(&["recipe", "debug", "--task-id", &id, "--json"]);
    run(&["recipe", "get", "canary"]);
    run(&["recipe", "explain", "canary"]);
    run(&["recipe", "verify", "canary"]);
    let out = run(&["recipe", "run", "canary", "-p", "query=teapot", "--json"]);
    assert_eq!(out["success"], true, "{out:#}");
    assert!(out["data"].to_string().contains("teapot of brass"), "{out:#}");

    // What fails does not tell either: a step that waits for a secret, a password that nothing calls one, one that is allowed
    // and then typed where it is not awaited.
    let failing = given.path().join("failing.yaml");
    write(&failing, FAILING);
    let report = run(&["recipe", "learn-batch", "--manifest", failing.to_str().unwrap(), "--json"]);
    let codes: Vec<&Value> =
        report["entries"].as_array().unwrap().iter().map(|it| &it["error_code"]).collect();
    assert_eq!(codes, ["STEP_FAILED", "SECRET_IN_TASK", "AUTH_ENV_MISSING"], "{report:#}");
    let steps = given.path().join("steps.yaml");
    write(
        &steps,
        "- fill: { label: Your word, value: \"{password}\" }\n- click: { role: link, name: Nowhere }\n",
    );
    let learn =
        ["recipe", "learn", "--url", "http://shop.test/", "--steps", steps.to_str().unwrap()];
    let task = ["--task", "Log in", "--name", "log-in", "-p", "password=elderberry", "--json"];
    let out = run(&[&learn[..], &task].concat());
    assert_eq!(out["error_code"], "SECRET_IN_TASK", "{out:#}");
    let out = run(&[&learn[..], &task, &["--allow-task-secrets"]].concat());
    assert_eq!(out["error_code"], "STEP_FAILED", "{out:#}");
    run(&["artifacts", "ls"]);

    // The rest of a day: a page that stays, a session of it, what is exported, tasks in a sentence.
    run(&["session", "record", "day", "http://shop.test/"]);
    run(&["browse", "fill", "searchbox \"Search the shop\"", "lantern"]);
    run(&["browse", "press", "Enter"]);
    // The source of the page, where the user asks for it, has what programs say of values in expressions of their own, and a cookie
    // in base64 of something else: no rule knows those. They reach no file and no model.
    run(&["browse", "html"]);
    run(&["browse", "text"]);
    for what in ["snapshot", "links", "forms", "network", "console", "cookies"] {
        run(&["browse", what]);
    }
    run(&["browse", "storage"]);
    run(&["session", "end"]);
    let archive = home.path().join("day.tar.zst");
    run(&["session", "export", "day-1", archive.to_str().unwrap(), "--yes"]);
    let packed = std::fs::read(&archive).unwrap();
    let whole = zstd::decode_all(&packed[..]).unwrap();
    let folder = temp.path().join("day.tar");
    write(&folder, &String::from_utf8_lossy(&whole));
    for form in ["openapi", "curl", "python", "postman", "mcp", "skill"] {
        run(&["recipe", "export", "canary", "--as", form, "-p", "query=lantern"]);
    }
    run(&["do", "Search the shop for {query}", "-p", "query=lantern", "--json"]);
    let page = ["--url", "http://shop.test/", "--no-recipe", "--no-learn", "--json"];
    run(&[&["do", "Say what the page shows"][..], &page].concat());
    run(&["daemon", "stop"]);

    let prompt = model.0.lock().unwrap();
    assert!(!prompt.is_empty(), "the model was asked");
    hunt.through("the wire to the model", &prompt, &mut caught);
    hunt.below(home.path(), &mut caught);
    hunt.below(temp.path(), &mut caught);
    assert!(caught.is_empty(), "{caught:#?}");
}
