//! The dashboard by plain HTTP: who gets in, what pages say of themselves, and that whatever others wrote stays text. That it
//! works in a browser is for `ci/dashboard`.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::support::{Home, has_chromium, shared, write};

/// A daemon of its own home, which ends with this.
struct Daemon {
    home: Home,
    port: u16,
    token: String,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.home.run(&["daemon", "stop"]);
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|err| panic!("{err}: {self:?}"))
    }
}

impl Daemon {
    fn start() -> Self {
        let home = Home::new();
        write(
            &home.path().join("config.toml"),
            "[serve]\nrest_per_minute = 6000\nrest_burst = 1000\n",
        );
        let out = home.run(&["--testbed", "daemon", "start"]);
        assert!(out.status.success(), "{out:?}");
        let text = std::fs::read_to_string(home.path().join("serve/daemon.json")).unwrap();
        let state: Value = serde_json::from_str(&text).unwrap();
        let port = u16::try_from(state["port"].as_u64().unwrap()).unwrap();
        Self { token: state["token"].as_str().unwrap().to_owned(), home, port }
    }

    /// One request on a connection of its own.
    fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let host = format!("127.0.0.1:{}", self.port);
        write!(stream, "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n").unwrap();
        for (name, value) in headers {
            write!(stream, "{name}: {value}\r\n").unwrap();
        }
        if !body.is_empty() {
            let (kind, length) = ("application/json", body.len());
            write!(stream, "Content-Type: {kind}\r\nContent-Length: {length}\r\n").unwrap();
        }
        write!(stream, "\r\n{body}").unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .filter_map(|it| it.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Answer { status, headers, body: body.to_owned() }
    }

    fn api(&self, line: &str, body: &str) -> Answer {
        self.ask(line, &[("Authorization", &format!("Bearer {}", self.token))], body)
    }

    fn code(&self) -> String {
        let out = self.home.run(&["--testbed", "dashboard"]);
        let said = String::from_utf8(out.stdout).unwrap();
        let (address, code) = said.trim().split_once("/#").unwrap_or_else(|| panic!("{said}"));
        assert_eq!(address, format!("http://127.0.0.1:{}", self.port));
        code.to_owned()
    }

    /// `Cookie` and what a page proves itself with.
    fn enter(&self) -> (String, String) {
        let got = self.ask(&format!("GET /bootstrap?code={}", self.code()), &[], "");
        assert_eq!((got.status, got.headers["location"].as_str()), (303, "/"), "{got:?}");
        let cookie = &got.headers["set-cookie"];
        for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=1800"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let page = self.open_page("/", &cookie);
        let (_, rest) = page.body.split_once("<meta name=\"csrf\" content=\"").unwrap();
        (cookie, rest.split('"').next().unwrap().to_owned())
    }

    /// A page, held to what holds of all.
    fn open_page(&self, path: &str, cookie: &str) -> Answer {
        let got =
            self.ask(&format!("GET {path}"), &[("Cookie", cookie), ("Accept", "text/html")], "");
        assert_eq!(got.headers["content-type"], "text/html; charset=utf-8", "{path}: {got:?}");
        is_plain(path, &got);
        got
    }
}

/// Headers of a page, and that nothing in it is a script, a style or a handler but what is served as such.
fn is_plain(path: &str, it: &Answer) {
    let policy = &it.headers["content-security-policy"];
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(it.headers[name], value, "{path}");
    }
    let page = scraper::Html::parse_document(&it.body);
    for element in page.tree.values().filter_map(|it| it.as_element()) {
        let name = element.name();
        assert!(
            !matches!(name, "style" | "iframe" | "object" | "embed" | "base"),
            "{path}: <{name}>"
        );
        if name == "script" {
            assert_eq!(element.attr("src"), Some("/assets/app.js"), "{path}");
        }
        if name == "img" {
            assert_eq!(element.attr("src"), Some("/assets/icon.svg"), "{path}");
        }
        for (attribute, value) in element.attrs() {
            assert!(!attribute.starts_with("on") && attribute != "style", "{path}: {attribute}");
            if matches!(attribute, "href" | "src" | "action") {
                let goes = ["/", "#", "http://", "https://"].iter().any(|it| value.starts_with(it));
                assert!(goes, "{path}: {attribute}={value}");
            }
            if attribute == "href" && value.starts_with("http") {
                assert_eq!(element.attr("rel"), Some("noreferrer noopener"), "{path}: {value}");
            }
        }
    }
    let strange = |it: &char| {
        it.is_control() && *it != '\n'
            || matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(it.body.chars().find(strange), None, "{path}");
}

#[test]
fn who_gets_in() {
    let daemon = Daemon::start();
    let page = [("Accept", "text/html")];
    let door = daemon.ask("GET /", &page, "");
    assert_eq!(door.status, 200);
    is_plain("/", &door);
    assert!(door.body.contains("commis dashboard") && !door.body.contains("csrf"), "{}", door.body);
    // Whoever asks for a page is shown the door, whoever asks for data is told why.
    for path in [
        "/tasks",
        "/recipes",
        "/recipes/arxiv-papers",
        "/learn",
        "/approvals",
        "/tasks/t-1",
        "/browser",
        "/browser/live",
        "/browser/sessions/x-1",
        "/runs",
        "/runs/r000000000000",
    ] {
        let closed = daemon.ask(&format!("GET {path}"), &page, "");
        assert_eq!(closed.status, 401, "{path}");
        is_plain(path, &closed);
        assert!(closed.body.contains("The dashboard is closed"), "{path}");
        assert_eq!(
            daemon.ask(&format!("GET {path}"), &[], "").json()["error"]["error_code"],
            "UNAUTHORIZED"
        );
    }
    let api = daemon.ask("GET /api/tasks", &page, "");
    assert_eq!(
        (api.status, api.json()["error"]["error_code"].as_str()),
        (401, Some("UNAUTHORIZED"))
    );

    // A code is for one use.
    let code = daemon.code();
    let get = format!("GET /bootstrap?code={code}");
    let got = daemon.ask(&get, &page, "");
    assert_eq!(got.status, 303);
    assert!(got.body.is_empty(), "{got:?}");
    for wrong in [
        get.as_str(),
        "GET /bootstrap?code=",
        "GET /bootstrap",
        "GET /bootstrap?code=0123456789abcdef0123456789abcdef",
    ] {
        let again = daemon.ask(wrong, &page, "");
        assert_eq!((again.status, again.headers.get("set-cookie")), (401, None), "{wrong}");
        is_plain(wrong, &again);
        assert_eq!(daemon.ask(wrong, &[], "").json()["error"]["error_code"], "UNAUTHORIZED");
    }

    // Two that are in have different proofs, and one's is not the other's.
    let (cookie, csrf) = daemon.enter();
    let (other, others) = daemon.enter();
    assert!(cookie != other && csrf != others);
    for path in [
        "/",
        "/tasks",
        "/tasks?state=failed&page=3",
        "/recipes",
        "/recipes?page=2",
        "/recipes?page=999999",
        "/learn",
        "/recipes?q=jobs",
        "/approvals",
        "/browser",
        "/browser?q=jobs",
        "/runs",
        "/browser/live",
    ] {
        assert_eq!(daemon.open_page(path, &cookie).status, 200, "{path}");
    }
    // A cookie may look, and no more.
    let cancel = "POST /api/tasks/t-none/cancel";
    for proof in [None, Some(""), Some(&others), Some(&"0".repeat(32))]
        .map(|it: Option<&str>| it.map(str::to_owned))
    {
        let mut headers = vec![("Cookie", cookie.as_str())];
        headers.extend(proof.as_deref().map(|it| ("X-CSRF", it)));
        let got = daemon.ask(cancel, &headers, "{}");
        assert_eq!(
            (got.status, got.json()["error"]["error_code"].as_str()),
            (403, Some("FORBIDDEN")),
            "{proof:?}"
        );
    }
    let got = daemon.ask(cancel, &[("Cookie", &cookie), ("X-CSRF", &csrf)], "{}");
    assert_eq!(got.json()["error"]["error_code"], "TASK_NOT_FOUND");
    // Not even with the proof what is for the root token.
    let got =
        daemon.ask("POST /api/dashboard/code", &[("Cookie", &cookie), ("X-CSRF", &csrf)], "{}");
    assert_eq!(got.status, 403);
    // Another site's page may not ask at all, whatever the browser sends along.
    for header in [("Origin", "http://evil.test"), ("Sec-Fetch-Site", "cross-site")] {
        assert_eq!(daemon.ask("GET /tasks", &[("Cookie", &cookie), header], "").status, 403);
    }

    // A token with scopes has no pages.
    let made = daemon
        .api("POST /api/tokens", &json!({"can": ["recipes:read", "tasks:read"]}).to_string())
        .json();
    let token = made["data"]["token"].as_str().unwrap_or_else(|| panic!("{made}"));
    let bearer = format!("Bearer {token}");
    let got = daemon.ask("GET /tasks", &[("Authorization", &bearer), ("Accept", "text/html")], "");
    assert_eq!(got.status, 403);
    let got = daemon.ask("GET /", &[("Authorization", &bearer)], "");
    assert!(!got.body.contains("data-signed"), "{}", got.body);

    for (path, kind) in
        [("app.js", "text/javascript"), ("app.css", "text/css"), ("icon.svg", "image/svg+xml")]
    {
        let got = daemon.ask(&format!("GET /assets/{path}"), &[], "");
        assert!(got.status == 200 && got.headers["content-type"].starts_with(kind), "{path}");
        assert_eq!(got.headers["x-content-type-options"], "nosniff");
    }
}

/// Files of a folder that hold those bytes.
fn holders(folder: &std::path::Path, bytes: &[u8]) -> Vec<std::path::PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            out.extend(holders(&entry.path(), bytes));
        } else if kind.is_file() {
            let text = std::fs::read(entry.path()).unwrap();
            if text.windows(bytes.len()).any(|it| it == bytes) {
                out.push(entry.path());
            }
        }
    }
    out
}

#[test]
fn an_uploaded_file_leaves_no_secret_on_disk() {
    const CANARY: &str = "Qz7wN2kX9sLb4TfV8cRm";
    let daemon = Daemon::start();
    let (cookie, csrf) = daemon.enter();
    let proof = [("Cookie", cookie.as_str()), ("X-CSRF", csrf.as_str())];
    let mut har: Value = serde_json::from_str(include_str!("../fixtures/books.har")).unwrap();
    for entry in har["log"]["entries"].as_array_mut().unwrap() {
        let headers = entry["request"]["headers"].as_array_mut().unwrap();
        headers.push(json!({"name": "Authorization", "value": format!("Bearer {CANARY}")}));
        headers.push(json!({"name": "Cookie", "value": format!("session={CANARY}")}));
    }
    let har = har.to_string();
    let post = "POST /api/uploads/har";
    // With the page's proof alone, and of those who are in alone.
    let code = |it: &Answer| (it.status, it.json()["error"]["error_code"].clone());
    assert_eq!(code(&daemon.ask(post, &proof[..1], &har)), (403, json!("FORBIDDEN")));
    assert_eq!(code(&daemon.ask(post, &[], &har)), (401, json!("UNAUTHORIZED")));
    let made = daemon.api("POST /api/tokens", &json!({"can": ["learn:write"]}).to_string()).json();
    let bearer = format!("Bearer {}", made["data"]["token"].as_str().unwrap());
    assert_eq!(
        code(&daemon.ask(post, &[("Authorization", &bearer)], &har)),
        (403, json!("FORBIDDEN"))
    );
    assert_eq!(code(&daemon.ask(post, &proof, "{}")), (422, json!("HAR_INVALID")));
    // Elsewhere a body is as small as ever.
    let long = json!({"task": "x".repeat(300 * 1024)}).to_string();
    assert_eq!(daemon.ask("POST /api/recipes/learn", &proof, &long).status, 413);
    assert!(har.len() < 256 * 1024);
    let padded = format!("{har}{}", " ".repeat(1 << 20));
    let upload = daemon.ask(post, &proof, &padded).json()["data"]["upload"].clone();
    assert!(upload.is_string());

    let asked = json!({
        "task": "Find books about {query}", "params": {"query": "harbour"}, "upload": upload,
        "no_network": true, "name": "books",
    });
    // Another caller's file is none.
    let learn = |who: &[(&str, &str)], more: &Value| {
        let made = daemon.ask("POST /api/recipes/learn", who, &more.to_string()).json();
        let id = made["data"]["task_id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        crate::support::wait_for("end of the task", || {
            let task = daemon.api(&format!("GET /api/tasks/{id}"), "").json();
            let state = task["data"]["state"].as_str().unwrap_or_default().to_owned();
            if ["done", "failed"].contains(&state.as_str()) { Ok(state) } else { Err(state) }
        })
    };
    let root = format!("Bearer {}", daemon.token);
    let mut other = asked.clone();
    other["name"] = "others".into();
    assert_eq!(learn(&[("Authorization", &root)], &other), "failed");
    assert_eq!(learn(&proof, &asked), "done");
    assert_eq!(holders(daemon.home.path(), CANARY.as_bytes()), Vec::<std::path::PathBuf>::new());
    assert!(!holders(daemon.home.path(), b"harbour").is_empty());
}

/// What others wrote and wants to be more, with how it shows.
fn seeds() -> Vec<String> {
    let Some(file) = shared("vectors/local_server.json") else { return Vec::new() };
    let text = std::fs::read_to_string(file).unwrap();
    // A lone surrogate is none of the texts that Rust knows; it is asked for below, as JSON writes it.
    assert!(text.contains("\"\\ud800\"") || text.contains("\"\\uD800\""));
    let text = text.replace("\"\\ud800\"", "\"\"").replace("\"\\uD800\"", "\"\"");
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let of = all.iter().filter(|it| it["group"] == "stored-xss");
    let seeds: Vec<String> = of
        .filter_map(|it| it["request"]["seed"].as_str())
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect();
    assert_eq!(seeds.len(), 8);
    seeds
}

fn sanitized(seed: &str) -> String {
    seed.replace(['\u{1b}', '\u{7}', '\u{202e}'], "\u{fffd}")
}

/// All text of a page, as a person reads it.
fn text(page: &Answer) -> String {
    scraper::Html::parse_document(&page.body).root_element().text().collect()
}

#[test]
fn what_others_wrote_is_text() {
    let mut seeds = seeds();
    seeds.push("</script><script src=//evil.test></script>".to_owned());
    seeds.push("data:text/html,<script>alert(1)</script>".to_owned());
    let daemon = Daemon::start();
    let (cookie, _) = daemon.enter();
    for (i, seed) in seeds.iter().enumerate() {
        // What is a secret's form is not kept; none of these is.
        let args = json!({"task": seed, "url": "http://evil.test/", "params": {"x": seed}, "steps": [{"wait_for": {"text": seed}}]});
        let made = daemon.api("POST /api/recipes/learn", &args.to_string());
        // One with braces names parameters that are not given, one with control characters is no sentence.
        if seed.contains('{') || seed.chars().any(char::is_control) {
            assert_eq!(made.status, 422, "{made:?}");
        } else {
            assert_eq!(made.status, 202, "{made:?}");
            let id = made.json()["data"]["task_id"].as_str().unwrap().to_owned();
            let page = daemon.open_page(&format!("/tasks/{id}"), &cookie);
            assert_eq!(page.status, 200, "{page:?}");
            assert!(text(&page).contains(&sanitized(seed)), "{seed}");
            let list = daemon.open_page("/tasks", &cookie);
            assert!(text(&list).contains(&sanitized(seed)), "{seed}");
        }

        let quoted = json!(seed);
        let plain = seed.chars().all(|it| it.is_ascii_graphic());
        let source = json!(format!("http://evil.test/?x={}", if plain { seed } else { "" }));
        daemon.home.recipe(
            &format!("hostile-{i}"),
            &format!(
                "{{version: 1, name: hostile-{i}, task: {quoted}, category: {quoted}, status: draft, source_url: {source}, \
                 parameters: [{{name: x, type: str, required: false, source: task_input, default: {quoted}, examples: [{quoted}]}}], \
                 request: {{method: GET, url: 'http://evil.test/', query: [{{name: q, value: 'a'}}], allowed_domains: [evil.test]}}, \
                 response: {{type: json, required_paths: []}}}}"
            ),
        );
        let page = daemon.open_page(&format!("/recipes/hostile-{i}"), &cookie);
        let id = format!("kept-{i}");
        let folder = daemon.home.path().join("sessions").join(&id);
        std::fs::create_dir_all(&folder).unwrap();
        let manifest = json!({
            "id": id, "name": seed, "task": seed, "url": seed, "begun_ms": 0, "state": "complete", "actions": 1, "context": "shop",
        });
        write(&folder.join("manifest.yaml"), &manifest.to_string());
        let act =
            json!({"n": 1, "command": seed, "value": seed, "url_before": seed, "url_after": ""});
        write(&folder.join("trajectory.ndjson"), &format!("{act}\n"));
        write(&folder.join("findings.md"), seed);
        let kept = daemon.open_page(&format!("/browser/sessions/{id}"), &cookie);
        assert_eq!(kept.status, 200, "{seed}: {kept:?}");
        assert!(text(&kept).matches(&sanitized(seed)).count() >= 3, "{seed}: {}", text(&kept));
        assert!(text(&daemon.open_page("/browser", &cookie)).contains(&sanitized(seed)), "{seed}");
        // One whose braces are no template is no recipe; what is said of that is text, too.
        if page.status == 200 {
            assert!(text(&page).contains(&sanitized(seed)), "{seed}");
        }
    }
    let list = daemon.open_page(
        "/recipes?q=%3Cscript%3Ealert(1)%3C/script%3E&status=%22%3E&health=%22onload=%22",
        &cookie,
    );
    assert_eq!(list.status, 200);
    daemon.open_page("/", &cookie);
    // What is asked for is text as well.
    for path in [
        "/recipes/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/recipes/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
        "/tasks/%3Csvg%20onload=alert(1)%3E",
        "/tasks/%1b%5D8;;x%07",
        "/tasks/%E2%80%AEgpj.exe",
        "/tasks?state=%3Cscript%3E&limit=-1",
        "/browser?q=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/browser/live?context=shop&of=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/browser/live?context=%3Cscript%3E",
        "/browser/sessions/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
    ] {
        daemon.open_page(path, &cookie);
    }
    // No character, so no JSON; and nobody falls over it.
    for text in ["\\ud800", "\\udfff", "a\\ud83d"] {
        let made = daemon.api(
            "POST /api/recipes/learn",
            &format!("{{\"task\": \"{text}\", \"url\": \"http://a.test/\"}}"),
        );
        assert_eq!(
            (made.status, made.json()["error"]["error_code"].as_str()),
            (400, Some("PARAM_INVALID")),
            "{text}"
        );
    }
    assert_eq!(daemon.open_page("/tasks", &cookie).status, 200);
}

#[test]
fn a_recipe_says_what_it_is_and_how_it_does() {
    let daemon = Daemon::start();
    let (cookie, csrf) = daemon.enter();
    daemon.home.recipe(
        "shop",
        "{version: 1, name: shop, task: 'Search the shop for {query}', status: draft, source_url: 'https://shop.test/', \
         parameters: [{name: query, type: str, required: true, source: task_input, examples: [lantern]}], \
         request: {method: GET, url: 'https://shop.test/api/search', query: [{name: q, value: '{query}'}], allowed_domains: [shop.test]}, \
         response: {type: json, extract: items}}",
    );
    let page = daemon.open_page("/recipes/shop", &cookie);
    let said = text(&page);
    for part in [
        "Search the shop for {query}",
        "https://shop.test/api/search",
        "q={query}",
        "It has not been run yet.",
        "It was not proven.",
        "Run the draft",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // As the page's form sends it.
    let headers = [
        ("Cookie", cookie.as_str()),
        ("X-CSRF", csrf.as_str()),
        ("Origin", &format!("http://127.0.0.1:{}", daemon.port)),
        ("Sec-Fetch-Site", "same-origin"),
    ];
    let ran = daemon.ask(
        "POST /api/recipes/shop/run",
        &headers,
        r#"{"params": {"query": "lantern"}, "draft": true}"#,
    );
    assert_eq!(ran.status, 200, "{ran:?}");
    assert!(!ran.json()["data"].as_array().unwrap().is_empty());
    let said = text(&daemon.open_page("/recipes/shop", &cookie));
    assert!(said.contains("1\u{a0}run on 1\u{a0}day of the last 90; all worked."), "{said}");
    let overview = text(&daemon.open_page("/", &cookie));
    assert!(overview.contains("1runs in 7 days0 failed"), "{overview}");
}

#[test]
fn logins_are_listed_with_what_uses_them_and_without_a_value() {
    if !has_chromium() {
        return;
    }
    let daemon = Daemon::start();
    let (cookie, _) = daemon.enter();
    let empty = text(&daemon.open_page("/browser", &cookie));
    assert!(empty.contains("The vault is empty."), "{empty}");
    let commis = |args: &[&str]| {
        let all: Vec<&str> = ["--testbed"].iter().chain(args).copied().collect();
        let mut command = daemon.home.command(&all);
        command
            .env("ACCOUNTS_USER", "ada@accounts.test")
            .env("ACCOUNTS_WORD", "marmalade-and-toast");
        let out = command.output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let login = [
        "session",
        "login",
        "shop",
        "http://accounts.test/",
        "--fill",
        "textbox \"Email\"=env:ACCOUNTS_USER",
        "--fill",
        "textbox \"Password\"=env:ACCOUNTS_WORD",
        "--until",
        "Signed in as ada",
    ];
    let (code, said) = commis(&login);
    assert_eq!(code, Some(0), "{said}");
    daemon.home.recipe(
        "orders",
        "{version: 1, name: orders, task: List my orders, status: draft, source_url: 'http://accounts.test/', \
         login: {site: accounts.test, stranger: refused}, \
         request: {method: GET, url: 'http://accounts.test/api/orders', allowed_domains: [accounts.test]}, response: {type: json}}",
    );
    let section = || {
        let page = daemon.open_page("/browser", &cookie);
        assert!(!page.body.contains("marmalade"), "{}", page.body);
        let html = scraper::Html::parse_document(&page.body);
        let found = html.select(&scraper::Selector::parse("#logins").unwrap()).next().unwrap();
        let uses = scraper::Selector::parse("a[href='/recipes/orders']").unwrap();
        assert!(found.select(&uses).next().is_some(), "{}", found.html());
        found.text().collect::<Vec<_>>().join(" ")
    };
    let listed = section();
    for word in ["shop", "accounts.test", "orders", "sealed"] {
        assert!(listed.contains(word), "{word}: {listed}");
    }
    // Another test web knows nobody: the login has ended there.
    let (code, said) = commis(&["vault", "check", "shop"]);
    assert_eq!(code, Some(1), "{said}");
    let listed = section();
    assert!(listed.contains("ended") && !listed.contains("sealed"), "{listed}");
}
