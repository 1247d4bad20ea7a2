//! Looking on at a page that stays, handing it to a person, and who may see which.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, ChildStdout, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    daemon::{Answer, Daemon, UNLIMITED},
    manual::XServer,
    support::{Home, has_chromium, wait_for, write},
};

const PATIENCE: Duration = Duration::from_secs(60);
/// What a page that stores something was, and shows, when nothing was left.
const CLEAN: &str = "found [\"\",0,0]";

/// Says what was left here before, and leaves something; asks for what it is told to, and says who asked.
const PAGE: &str = "<!doctype html><title>State</title><p id=out></p>
<label>Password <input type=password name=password></label><button onclick=\"fetch('/check?v=' + document.querySelector('input').value)\">Check</button>
<button onclick=\"alert('good day')\">Say</button><button onclick=\"fetch('http://10.0.0.1/x').catch(() => 0)\">Reach</button>
<script>
document.querySelector('#out').textContent = 'found ' + JSON.stringify([document.cookie, localStorage.length, sessionStorage.length]);
if (!document.cookie) { document.cookie = 'left=1'; document.cookie = 'stays=1; Max-Age=600; SameSite=Strict'; }
localStorage.left = 'l1'; sessionStorage.left = 's1';
</script>";

/// A server of one page, at `state.test`.
fn site() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut stream = stream;
                let mut head = Vec::new();
                let mut part = [0; 4096];
                while !head.windows(4).any(|it| it == b"\r\n\r\n") {
                    match stream.read(&mut part) {
                        Ok(n) if n > 0 => head.extend_from_slice(&part[..n]),
                        _ => return,
                    }
                }
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{PAGE}",
                    PAGE.len()
                );
                let _ = stream.write_all(answer.as_bytes());
            });
        }
    });
    addr
}

fn daemon_at(site: SocketAddr, env: &[(&str, &str)]) -> Daemon {
    let home = Home::new();
    write(&home.path().join("config.toml"), UNLIMITED);
    Daemon::of_env(home, &["--test-host", &format!("state.test={site}")], env)
}

fn browse(daemon: &Daemon, args: &[&str]) -> (i32, String, String) {
    let all: Vec<&str> = ["browse"].iter().chain(args).copied().collect();
    let out = daemon.home.run(&all);
    let text = |it: &[u8]| String::from_utf8_lossy(it).trim_end().to_owned();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

fn well(daemon: &Daemon, args: &[&str]) -> String {
    let (code, out, err) = browse(daemon, args);
    assert_eq!(code, 0, "{args:?}: {out} {err}");
    out
}

fn well_or_not(daemon: &Daemon, args: &[&str]) -> bool {
    browse(daemon, args).0 == 0
}

fn token(daemon: &Daemon, can: &[&str]) -> (String, String) {
    let (status, it) = daemon.api("POST", "/api/tokens", &json!({"can": can, "note": ""}));
    assert_eq!(status, 200, "{it}");
    let text = |name: &str| it["data"][name].as_str().unwrap().to_owned();
    (text("token"), text("id"))
}

/// One request at an address, with a token or a cookie.
fn ask(addr: SocketAddr, what: (&str, &str), header: &str, body: &str) -> Answer {
    let (method, path) = what;
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {addr}\r\n{header}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut out = Vec::new();
    let _ = stream.read_to_end(&mut out);
    Answer::read(&out)
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// A stream that is open, read to its end or to what is waited for.
struct EventStream(BufReader<TcpStream>, Instant);

impl EventStream {
    fn open(daemon: &Daemon, path: &str, headers: &str) -> Self {
        let addr = daemon.addr();
        let mut it = TcpStream::connect(addr).unwrap();
        it.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(it, "GET {path} HTTP/1.1\r\nHost: {addr}\r\n{headers}\r\n\r\n").unwrap();
        let mut it = Self(BufReader::new(it), Instant::now());
        assert_eq!(it.line().unwrap(), "HTTP/1.1 200 OK");
        it
    }

    fn line(&mut self) -> Option<String> {
        // What keeps it alive comes for ever.
        assert!(self.1.elapsed() < 2 * PATIENCE, "the stream does not end");
        let mut line = String::new();
        let n = self.0.read_line(&mut line).unwrap();
        (n > 0).then(|| line.trim_end().to_owned())
    }

    fn next(&mut self) -> Option<Value> {
        while let Some(it) = self.line() {
            if let Some(it) = it.strip_prefix("data: ") {
                return Some(serde_json::from_str(it).unwrap());
            }
        }
        None
    }
}

/// `commis browse watch --json`.
struct WatchProcess(Child, BufReader<ChildStdout>);

impl WatchProcess {
    fn start(daemon: &Daemon) -> Self {
        let mut child = daemon.home.command(&["browse", "--json", "watch"]);
        let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self(child, out)
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|err| panic!("{err}: {line:?}"))
    }

    /// Events up to one of that kind.
    fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut out = vec![self.next()];
        while out.last().unwrap()["kind"] != kind {
            out.push(self.next());
        }
        out
    }
}

#[test]
fn who_looks_on_is_told_what_happens_as_it_happens() {
    if !has_chromium() {
        return;
    }
    let daemon = daemon_at(site(), &[]);
    // Nothing to look at yet.
    let (code, _, err) = browse(&daemon, &["watch"]);
    assert!(code == 2 && err.contains("no page is open in this context"), "{err}");
    well(&daemon, &["goto", "http://state.test/"]);
    let mut watch = WatchProcess::start(&daemon);
    let here = watch.next();
    assert_eq!((&here["kind"], &here["text"]), (&json!("here"), &json!("at http://state.test/")));
    well(&daemon, &["fill", "textbox \"Password\"", "correct-horse-9"]);
    well(&daemon, &["click", "button \"Check\""]);
    let filled = watch.until("done");
    let clicked = watch.until("done");
    assert_eq!((&filled[0]["kind"], &filled[0]["command"]), (&json!("begun"), &json!("fill")));
    let asked = clicked.iter().find(|it| it["kind"] == "request").unwrap();
    assert_eq!(
        (&asked["request"]["method"], &asked["request"]["status"]),
        (&json!("GET"), &json!(200))
    );
    let done = clicked.last().unwrap();
    assert!(
        done["text"].as_str().unwrap().contains("clicked button \"Check\": GET /check"),
        "{done}"
    );
    assert_eq!(done["effect"]["requests"].as_array().unwrap().len(), 1, "{done}");
    for (button, kind, text) in
        [("Say", "dialog", "good day"), ("Reach", "refused", "http://10.0.0.1/x was refused")]
    {
        well(&daemon, &["click", &format!("button \"{button}\"")]);
        let all = watch.until("done");
        let it = all.iter().find(|it| it["kind"] == kind).unwrap_or_else(|| panic!("{all:?}"));
        assert!(it["text"].as_str().unwrap().contains(text), "{it}");
    }
    // What was read is not repeated, what failed is.
    well(&daemon, &["text"]);
    let read = watch.until("done").pop().unwrap();
    assert!(read["text"].as_str().unwrap().starts_with("text: "), "{read}");
    browse(&daemon, &["click", "button \"Not there\""]);
    assert_eq!(watch.until("failed").pop().unwrap()["error_code"], "STEP_FAILED");
    well(&daemon, &["goto", "http://state.test/next"]);
    let went = watch.until("done");
    let text = |kind: &str| went.iter().find(|it| it["kind"] == kind).unwrap()["text"].clone();
    assert_eq!(text("went"), "http://state.test/next");
    browse(&daemon, &["goto", "http://10.0.0.1/"]);
    let failed = watch.until("failed").pop().unwrap();
    assert_eq!(failed["error_code"], "URL_BLOCKED", "{failed}");
    well(&daemon, &["newtab"]);
    assert!(watch.until("tab")[1..].iter().any(|it| it["tab"] == 2));
    // From after an event on, by what its id was.
    let after = asked["id"].as_u64().unwrap();
    let token = bearer(&daemon.token);
    let mut again = EventStream::open(
        &daemon,
        "/api/browse/events",
        &format!("{token}\r\nLast-Event-ID: {after}"),
    );
    assert_eq!(again.next().unwrap()["id"], after + 1);
    well(&daemon, &["close"]);
    let rest = watch.until("closed");
    let all: Vec<&Value> = [&filled, &clicked, &went, &rest].into_iter().flatten().collect();
    let ids: Vec<u64> = all.iter().map(|it| it["id"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted() && all.iter().all(|it| !it.to_string().contains("correct-horse-9")));
    assert_eq!(watch.0.wait().unwrap().code(), Some(0));
    let mut last = None;
    while let Some(it) = again.next() {
        last = Some(it);
    }
    assert_eq!(last.unwrap()["kind"], "closed");
}

#[test]
fn who_looks_on_sees_one_page_and_can_do_nothing() {
    if !has_chromium() {
        return;
    }
    let daemon = daemon_at(site(), &[]);
    for name in ["shop", "other"] {
        well(&daemon, &["--context", name, "goto", "http://state.test/"]);
    }
    let at = daemon.addr();
    let (looks, id) = token(&daemon, &["browse:read:shop"]);
    let asks = |name: &str, token: &str| {
        ask(
            at,
            ("POST", "/api/browse/watch"),
            &bearer(token),
            &json!({"context": name}).to_string(),
        )
    };
    assert_eq!(asks("other", &looks).status, 403);
    assert_eq!(asks("gone", &daemon.token).status, 404);
    let made = asks("shop", &looks).json();
    let url = made["data"]["url"].as_str().unwrap_or_else(|| panic!("{made}"));
    let (place, code) = url.split_once('#').unwrap();
    assert_eq!(place, format!("http://{at}/watch"));
    let door = ask(at, ("GET", "/watch"), "Accept: text/html", "");
    assert!(door.status == 200 && door.body.contains("commis browse watch --page"), "{door:?}");
    let enters = format!("/watch/in?code={code}");
    let entered = ask(at, ("GET", &enters), "Accept: text/html", "");
    let cookie = entered.header("set-cookie").unwrap_or_else(|| panic!("{entered:?}")).to_owned();
    assert_eq!((entered.status, entered.header("location")), (303, Some("/watch")));
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/watch; Max-Age=1800"), "{cookie}");
    assert_eq!(ask(at, ("GET", &enters), "Accept: text/html", "").status, 401);
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let page = ask(at, ("GET", "/watch"), &cookie, "");
    assert!(
        page.body.contains("<h1>shop</h1>") && page.body.contains("data-stream=\"/watch/events\""),
        "{page:?}"
    );
    let picture = ask(at, ("GET", "/watch/picture"), &cookie, "");
    assert_eq!((picture.status, picture.header("content-type")), (200, Some("image/jpeg")));
    // It opens nothing else: no page, no command, no other stream, and makes no further one.
    let others = [
        ("GET", "/"),
        ("GET", "/browser"),
        ("GET", "/browser/live?context=shop"),
        ("GET", "/browser/picture?context=shop"),
        ("GET", "/api/browse/events?context=shop"),
        ("GET", "/api/events"),
        ("POST", "/api/browse/watch"),
        ("POST", "/api/browse/click"),
        ("POST", "/api/browse/url"),
        ("POST", "/api/sessions/list"),
        ("POST", "/watch/events"),
        ("POST", "/mcp"),
    ];
    for (method, path) in others {
        let body = if method == "POST" { "{}" } else { "" };
        let it = ask(at, (method, path), &cookie, body);
        assert!(
            !it.body.contains("state.test") && !it.body.contains("data-signed"),
            "{path}: {it:?}"
        );
        assert!(path == "/" || matches!(it.status, 401 | 403 | 405), "{path}: {it:?}");
    }
    // Nor is it a token, and nor is a code.
    for it in [cookie.split_once('=').unwrap().1, code] {
        assert_eq!(ask(at, ("POST", "/api/browse/url"), &bearer(it), "{}").status, 401);
    }
    let mut seen = EventStream::open(&daemon, "/watch/events", &cookie);
    assert_eq!(seen.next().unwrap()["kind"], "here");
    // As many as a token with scopes may have, together.
    let more = [(); 2].map(|()| EventStream::open(&daemon, "/watch/events", &cookie));
    assert_eq!(ask(at, ("GET", "/watch/events"), &cookie, "").status, 429);
    drop(more);
    well(&daemon, &["--context", "other", "title"]);
    well(&daemon, &["--context", "shop", "title"]);
    assert_eq!(seen.next().unwrap()["command"], "a look");
    // It ends with the token that it came of.
    assert_eq!(daemon.api("DELETE", &format!("/api/tokens/{id}"), &Value::Null).0, 200);
    while seen.next().is_some() {}
    assert_eq!(ask(at, ("GET", "/watch/events"), &cookie, "").status, 401);
    // A picture waits for no command, and none waits for it.
    let mut waits = daemon.home.command(&["browse", "--context", "shop", "wait", "--ms", "8000"]);
    let mut waits = waits.stdout(Stdio::null()).spawn().unwrap();
    let root = bearer(&daemon.token);
    let mut told = EventStream::open(
        &daemon,
        "/api/browse/events?context=shop",
        &format!("{root}\r\nLast-Event-ID: 0"),
    );
    while told.next().unwrap()["command"] != "wait" {}
    let it = ask(at, ("GET", "/browser/picture?context=shop"), &root, "");
    assert_eq!(it.status, 200);
    assert!(waits.try_wait().unwrap().is_none(), "the picture is there before the command ended");
    assert!(waits.wait().unwrap().success());
}

#[test]
fn contexts_share_nothing_and_a_scope_of_one_page_is_that_page() {
    if !has_chromium() {
        return;
    }
    let daemon = daemon_at(site(), &[]);
    let at = daemon.addr();
    let (one, _) = token(&daemon, &["browse:write"]);
    let (two, _) = token(&daemon, &["browse:write"]);
    let asks = |token: &str, command: &str, args: Value| {
        let path = format!("/api/browse/{command}");
        let it = ask(at, ("POST", &path), &bearer(token), &args.to_string());
        (it.status, it.json())
    };
    let shows = |token: &str, name: &str| {
        let (status, it) =
            asks(token, "goto", json!({"context": name, "url": "http://state.test/"}));
        assert_eq!(status, 200, "{it}");
        asks(token, "text", json!({"context": name})).1["data"]["text"].to_string()
    };
    let root = daemon.token.clone();
    let clean = |text: &str| text.contains(&CLEAN.replace('"', "\\\""));
    for token in [&one, &two, &root] {
        for name in ["shop", "other"] {
            let first = shows(token, name);
            assert!(clean(&first), "{first}");
        }
    }
    // What was left there is still there.
    let again = shows(&one, "shop");
    assert!(again.contains("left=1") && !clean(&again), "{again}");
    // Refs and trails are a page's own.
    asks(&root, "snapshot", json!({"context": "shop"}));
    let (status, it) = asks(&one, "click", json!({"context": "other", "target": "@e1"}));
    assert_eq!((status, &it["error"]["error_code"]), (409, &json!("REF_STALE")), "{it}");
    asks(&root, "clear", json!({"context": "shop"}));
    assert_eq!(
        asks(&one, "steps", json!({"context": "shop"})).1["data"]["url"],
        "http://state.test/"
    );

    // One page of the owner's, to look at.
    let (looks, _) = token(&daemon, &["browse:read:shop"]);
    let (acts, _) = token(&daemon, &["browse:write:shop"]);
    let url = |token: &str, name: &str| asks(token, "url", json!({"context": name}));
    asks(&root, "goto", json!({"context": "shop", "url": "http://state.test/owners"}));
    assert_eq!(url(&looks, "shop").1["data"]["text"], "http://state.test/owners");
    assert_eq!(asks(&looks, "reload", json!({"context": "shop"})).0, 403);
    assert_eq!(asks(&acts, "reload", json!({"context": "shop"})).0, 200);
    for token in [&looks, &acts] {
        assert_eq!((url(token, "other").0, url(token, "default").0), (403, 403));
        assert_eq!(asks(token, "url", json!({})).0, 403);
        // Nothing else is mounted there.
        assert_eq!(asks(token, "url", json!({"context": "shop", "as": "bank"})).0, 403);
        let events = ask(at, ("GET", "/api/browse/events?context=other"), &bearer(token), "");
        assert_eq!(events.status, 403);
        let events =
            ask(at, ("GET", "/api/browse/events?context=shop&of=tok-1"), &bearer(token), "");
        assert_eq!(events.status, 403);
    }
    // Sessions: those that were recorded there.
    let session = |token: &str, command: &str, args: Value| {
        let path = format!("/api/sessions/{command}");
        let it = ask(at, ("POST", &path), &bearer(token), &args.to_string());
        (it.status, it.json())
    };
    let mut ids = Vec::new();
    for (token, name) in [(&root, "shop"), (&root, "other"), (&one, "shop")] {
        let args = json!({"context": name, "name": "kept", "url": "http://state.test/"});
        let (status, it) = session(token, "record", args);
        assert_eq!(status, 200, "{it}");
        ids.push(it["data"]["id"].as_str().unwrap().to_owned());
        assert_eq!(session(token, "end", json!({"context": name})).0, 200);
    }
    let listed = |token: &str| -> Vec<String> {
        let (_, it) = session(token, "list", json!({}));
        let all = it["data"]["sessions"].as_array().unwrap_or_else(|| panic!("{it}")).clone();
        all.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((listed(&looks), listed(&acts)), (vec![ids[0].clone()], vec![ids[0].clone()]));
    assert_eq!(
        (listed(&one), listed(&two), listed(&root).len()),
        (vec![ids[2].clone()], vec![], 3)
    );
    assert_eq!(session(&looks, "show", json!({"id": ids[0]})).0, 200);
    for id in &ids[1..] {
        assert_eq!(session(&acts, "show", json!({"id": id})).0, 404);
        assert_eq!(session(&acts, "purge", json!({"id": id})).0, 404);
        let diff = json!({"first": ids[0], "second": id});
        assert_eq!(session(&looks, "diff", diff).0, 404);
        let replay = json!({"id": id, "context": "shop"});
        assert_eq!(session(&acts, "replay", replay).0, 404);
    }
    assert_eq!(session(&looks, "purge", json!({"id": ids[0]})).0, 403);
    assert_eq!(session(&acts, "purge", json!({"id": ids[0]})).0, 200);
    // What is recorded there is the owner's.
    let (status, it) = session(
        &acts,
        "record",
        json!({"context": "shop", "name": "more", "url": "http://state.test/"}),
    );
    assert_eq!(status, 200, "{it}");
    let mine = listed(&root);
    assert!(mine.contains(&it["data"]["id"].as_str().unwrap().to_owned()), "{mine:?}");
}

/// What the table says of an operation, and what the remote listener makes of it for each kind of token.
#[test]
fn the_remote_listener_shows_what_a_scope_names_and_nothing_else() {
    let table: Vec<Value> =
        serde_json::from_str(include_str!("../golden/operations.json")).unwrap();
    let reference = include_str!("../../docs/reference/operations.md");
    let daemon = Daemon::start(UNLIMITED, &[]);
    let begun = Instant::now();
    let tokens = [
        "browse:read",
        "browse:write",
        "browse:read:shop",
        "browse:write:shop",
        "run:*",
        "recipes:write",
        "tasks:write",
        "learn:write",
    ]
    .map(|it| (it, token(&daemon, &[it]).0));
    let out = daemon.home.run(&["remote", "on"]);
    let addr: SocketAddr = String::from_utf8_lossy(&out.stdout).trim().parse().unwrap();
    let mut looked_at = 0;
    for row in &table {
        let name = row["name"].as_str().unwrap();
        if !name.starts_with("browse_") && !name.starts_with("session_") {
            continue;
        }
        let line = reference.lines().find(|it| it.starts_with(&format!("| [{name}]"))).unwrap();
        let need = line.split('|').nth(4).unwrap().trim().trim_matches('`');
        let writes = match need {
            "browse:read" => false,
            "browse:write" => true,
            it => panic!("{name} needs {it}"),
        };
        let of_page = row["input"]["properties"]["context"].is_object();
        let path = row["routes"][0].as_str().unwrap().strip_prefix("post ").unwrap();
        // A page of that name, and an argument that nothing takes: whoever may ask is told so before anything is done.
        let body = |page: &str| {
            let mut it = json!({"nothing-takes-this": 1});
            if of_page {
                it["context"] = page.into();
            }
            it.to_string()
        };
        let status =
            |token: &str, page: &str| ask(addr, ("POST", path), &bearer(token), &body(page)).status;
        assert_eq!(status(&daemon.token, "shop"), 403, "{name}: the root token");
        // Strangers who ask often are let wait.
        wait_for("answer to a stranger", || match status("cms_none", "shop") {
            429 => Err("a stranger is let wait".to_owned()),
            other => {
                assert_eq!(other, 401, "{name}: no token");
                Ok(())
            }
        });
        for (scope, token) in &tokens {
            for page in ["shop", "other"] {
                let mut parts = scope.split(':');
                let own = parts.next() == Some("browse");
                let right = parts.next() == Some("write") || !writes;
                // Templates are nobody's page.
                let of_all = name.starts_with("session_template_") && !of_page;
                let there = parts.next().is_none_or(|it| !of_all && (!of_page || it == page));
                let named = own && right && there && name != "browse_watch";
                let expected = if named { 400 } else { 404 };
                assert_eq!(status(token, page), expected, "{name} with {scope} at {page}");
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 700, "{looked_at}");
    // Nobody looks on from elsewhere.
    for path in
        ["/api/browse/events?context=shop", "/watch", "/watch/events", "/browser", "/api/events"]
    {
        for (scope, token) in &tokens {
            assert_eq!(
                ask(addr, ("GET", path), &bearer(token), "").status,
                404,
                "{path} with {scope}"
            );
        }
        assert_eq!(ask(addr, ("GET", path), &bearer(&daemon.token), "").status, 403, "{path}");
    }
    // What was refused is in the log, and does not fill it.
    let log: String = std::fs::read_dir(daemon.home.path().join("logs"))
        .unwrap()
        .flatten()
        .map(|it| std::fs::read_to_string(it.path()).unwrap_or_default())
        .collect();
    let lines = log.lines().filter(|it| it.contains("refused")).count();
    // Sixty at once, and then one a second.
    let most = 65 + usize::try_from(begun.elapsed().as_secs()).unwrap();
    assert!((1..=most).contains(&lines), "{lines}");
}

#[test]
fn a_person_takes_over_and_gives_back() {
    let Some(desk) = XServer::new() else { return };
    let site = site();
    // Without a display it is said what to do.
    let blind = daemon_at(site, &[]);
    well(&blind, &["goto", "http://state.test/"]);
    let (code, _, err) = browse(&blind, &["handoff"]);
    assert!(
        code == 3 && err.contains("no display") && err.contains("daemon restart"),
        "{code} {err}"
    );
    assert_eq!(well(&blind, &["url"]), "http://state.test/");
    drop(blind);

    let daemon = daemon_at(site, &[("DISPLAY", &desk.display)]);
    well(&daemon, &["goto", "http://state.test/"]);
    let cookies = well(&daemon, &["cookies"]);
    let recorded = daemon.home.run(&["session", "record", "with help", "http://state.test/a"]);
    assert!(recorded.status.success(), "{recorded:?}");
    let mut watch = WatchProcess::start(&daemon);
    let told = well(&daemon, &["handoff", "--note", "log in, please"]);
    assert_eq!(told, "a person has the page: log in, please");
    assert_eq!(watch.until("handed_off").pop().unwrap()["text"], told);
    // What was there went along: cookies with how long they hold, and what the page stores.
    assert_eq!(well(&daemon, &["url"]), "http://state.test/a");
    assert_eq!(well(&daemon, &["cookies"]), cookies);
    let text = well(&daemon, &["text"]);
    assert!(
        text.contains("left=1") && text.contains("stays=1") && text.contains(",1,1]"),
        "{text}"
    );
    // What acts waits.
    let refusals = [
        &["click", "button \"Check\""][..],
        &["goto", "http://state.test/"],
        &["type", "x"],
        &["handoff"],
    ];
    for args in refusals {
        let (code, _, err) = browse(&daemon, args);
        assert!(code == 1 && err.contains("a person is using this page"), "{args:?}: {err}");
    }
    let (status, it) = daemon.api("POST", "/api/browse/reload", &json!({}));
    assert_eq!((status, &it["error"]["error_code"]), (409, &json!("PAGE_HANDED_OFF")));
    // The person: a key into the page, which asks for something.
    let goes_to = |target: &str| {
        let focused = || well_or_not(&daemon, &["is", target, "focused"]);
        let begun = Instant::now();
        while !focused() {
            assert!(begun.elapsed() < PATIENCE, "{target}");
            desk.presses(&["Tab"]);
        }
    };
    goes_to("textbox \"Password\"");
    desk.types("letmein99");
    goes_to("button \"Check\"");
    desk.presses(&["Return"]);
    let asked = watch.until("request").pop().unwrap();
    assert_eq!(asked["request"]["method"], "GET", "{asked}");
    let back = well(&daemon, &["resume"]);
    assert!(
        back.starts_with(
            "the page is back, still at http://state.test/a; the person's part asked for 1"
        ),
        "{back}"
    );
    assert_eq!(browse(&daemon, &["resume"]).0, 2);
    well(&daemon, &["reload"]);
    // It is known of the trail and of the session, and cannot be done again.
    let (_, _, lost) = browse(&daemon, &["steps"]);
    assert!(lost.contains("a person's part"), "{lost}");
    let ended = daemon.home.run(&["session", "end", "--json"]);
    let ended: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let id = ended["id"].as_str().unwrap();
    let (_, shown) = daemon.home.json(&["session", "show", id, "--json"]);
    let part = shown["actions"].as_array().unwrap().iter().find(|it| it["command"] == "handoff");
    assert_eq!(part.unwrap()["requests"][0]["path"], "/check", "{shown}");
    assert!(shown["findings"].as_str().unwrap().contains("a person's part"), "{shown}");
    let replayed = daemon.home.run(&["session", "replay", id, "--json"]);
    let replayed: Value = serde_json::from_slice(&replayed.stdout).unwrap();
    assert_ne!(replayed["verdict"], "pass", "{replayed}");
    well(&daemon, &["close"]);
    watch.until("closed");
}
