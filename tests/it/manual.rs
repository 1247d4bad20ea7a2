//! A person at a visible window: real keys and clicks in an X server of the test's own, and what is learned, kept, hidden and
//! left behind.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    extract::State,
    http::{Method, Uri},
    response::{Html, IntoResponse as _, Response},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Home, Web};

const PATIENCE: Duration = Duration::from_secs(60);
/// Words, as people choose them: nothing about it looks random.
const PASSWORD: &str = "sunshine";
/// Pages send what stands in a field after each key.
const PART: &str = "sunsh";

/// An X server without a desktop.
pub struct XServer {
    server: Child,
    pub display: String,
}

#[expect(clippy::disallowed_methods, reason = "the tests run programs")]
fn program(name: &str) -> Command {
    Command::new(name)
}

impl XServer {
    /// `None`, with a line saying so, where something is missing.
    pub fn new() -> Option<Self> {
        if !Path::new("/usr/lib/chromium/chromium").exists() {
            commis_base::testing::skip_without("a Chromium that can show a window");
            return None;
        }
        if !Path::new("/usr/bin/xdotool").exists() {
            commis_base::testing::skip_without("xdotool");
            return None;
        }
        let server = program("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1300x950x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            commis_base::testing::skip_without("Xvfb");
            return None;
        };
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            let _ = server.wait();
            eprintln!("skipped: Xvfb does not start on this machine");
            return None;
        }
        Some(Self { server, display: format!(":{}", line.trim()) })
    }

    fn does(&self, args: &[&str]) {
        let done = program("xdotool").args(args).env("DISPLAY", &self.display).status().unwrap();
        assert!(done.success(), "{args:?}");
    }

    pub fn types(&self, text: &str) {
        self.does(&["type", "--delay", "20", text]);
    }

    pub fn presses(&self, keys: &[&str]) {
        for key in keys {
            self.does(&["key", key]);
        }
    }

    /// `commis recipe learn --manual` at this desk.
    fn learns(&self, home: &Home, args: &[&str]) -> Session {
        let mut command = home.command(&[&["recipe", "learn"], args].concat());
        command
            .env("DISPLAY", &self.display)
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("XAUTHORITY");
        Session::start(command)
    }
}

impl Drop for XServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The program at work, and what it has said so far.
struct Session {
    child: Child,
    said: Arc<(Mutex<OutputLines>, Condvar)>,
    read: usize,
}

#[derive(Default)]
struct OutputLines {
    lines: Vec<String>,
    done: bool,
}

impl Session {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Arc::new((Mutex::new(OutputLines::default()), Condvar::new()));
        let (stderr, to) = (child.stderr.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                to.0.lock().unwrap().lines.push(line);
                to.1.notify_all();
            }
            to.0.lock().unwrap().done = true;
            to.1.notify_all();
        });
        Self { child, said, read: 0 }
    }

    /// Waits for a line that was not waited for before.
    fn wait_for_line(&mut self, what: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut said = self.said.0.lock().unwrap();
        loop {
            if let Some(at) = said.lines[self.read..].iter().position(|it| it.contains(what)) {
                self.read += at + 1;
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!said.done && !left.is_zero(), "{what:?} was not said: {:#?}", said.lines);
            said = self.said.1.wait_timeout(said, left).unwrap().0;
        }
    }

    /// Exit code, what it said, and what it printed.
    fn ends(self) -> (i32, String, String) {
        let out = self.child.wait_with_output().unwrap();
        let lines = self.said.0.lock().unwrap().lines.join("\n");
        (out.status.code().unwrap_or(-1), lines, String::from_utf8_lossy(&out.stdout).into_owned())
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }
}

/// Processes with this in their command line.
fn running(what: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|it| it.unwrap().file_name().to_str().and_then(|it| it.parse::<u32>().ok()));
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(what)
    })
    .collect()
}

/// Nothing of a process's browsers is there any more, a moment later at most.
fn has_left_nothing(pid: u32) {
    let mark = format!("commis-browser-{pid}-");
    let deadline = Instant::now() + Duration::from_secs(10);
    let profiles = || {
        let all = std::fs::read_dir(std::env::temp_dir()).unwrap();
        all.map(|it| it.unwrap().file_name().into_string().unwrap_or_default())
            .filter(|it| it.starts_with(&mark))
            .collect::<Vec<_>>()
    };
    while !running(&mark).is_empty() {
        assert!(Instant::now() < deadline, "left running: {:?}", running(&mark));
        std::thread::yield_now();
    }
    assert_eq!(profiles(), Vec::<String>::new());
}

fn recording(home: &Home) -> Value {
    let tasks =
        std::fs::read_dir(home.path().join("artifacts")).unwrap().map(|it| it.unwrap().path());
    let folder = tasks.into_iter().find(|it| it.is_dir()).unwrap();
    let text = std::fs::read_to_string(folder.join("01_session_recording.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["payload"].take()
}

/// `fill searchbox "Search": lantern`, without navigation.
fn actions(recording: &Value) -> Vec<String> {
    let all = recording["actions"].as_array().unwrap();
    let text = |it: &Value| it.as_str().unwrap_or("-").to_owned();
    all.iter()
        .filter(|it| it["kind"] != "navigate")
        .map(|it| ["kind", "role", "name", "value"].map(|key| text(&it[key])).join(" "))
        .collect()
}

#[test]
fn what_is_typed_in_a_window_becomes_a_verified_recipe() {
    let Some(desk) = XServer::new() else { return };
    let home = Home::new();
    let web = Web::start(&home);
    let steps = home.path().join("steps.yaml");
    let asked = [
        "--manual",
        "http://shop.test/",
        "--name",
        "shop",
        "--second",
        "query=hose",
        "--task",
        "Search the shop for {query} and list the products with their prices",
        "--test-host",
        &web.test_host,
        "--json",
        "--save-steps",
        steps.to_str().unwrap(),
    ];
    let mut session = desk.learns(&home, &asked);
    session.wait_for_line("page read");
    // The shop's name and six sections come before the search.
    desk.presses(&["Tab"; 8]);
    desk.types("lantern");
    desk.presses(&["Return"]);
    session.wait_for_line("fill searchbox \"Search products\": lantern");
    session.wait_for_line("press Enter");
    session.wait_for_line("page read");
    desk.presses(&["ctrl+w"]);
    let pid = session.pid();
    let (code, said, out) = session.ends();
    let learned: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &learned["outcome"]), (0, &json!("verified")), "{said}\n{learned}");
    has_left_nothing(pid);
    let recording = recording(&home);
    assert_eq!(recording["typed"], json!({"query": "lantern"}));
    let done = ["fill searchbox Search products lantern", "press - - Enter"];
    assert_eq!(actions(&recording), done);
    let written = std::fs::read_to_string(&steps).unwrap();
    assert!(
        written.contains("value: \"{query}\"") && written.contains("press: Enter"),
        "{written}"
    );

    // Without a window: there is no display, and nothing is left to be recorded.
    let again = home.run(&[&["recipe", "learn"], &asked[..], &["--resume"]].concat());
    let learned: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(learned["ran"], json!([]), "{learned}");
    let (code, out) = home.json(&[
        "recipe",
        "run",
        "shop",
        "-p",
        "query=umbrella",
        "--test-host",
        &web.test_host,
        "--json",
    ]);
    assert_eq!((code, &out["success"]), (0, &json!(true)), "{out}");
}

#[test]
fn what_a_person_ordered_is_ordered_once() {
    let Some(desk) = XServer::new() else { return };
    let home = Home::new();
    let web = Web::start(&home);
    let asked = [
        "--manual",
        "http://store.test/",
        "--name",
        "order",
        "--second",
        "note=ring twice",
        "--task",
        "Order the kettle with the delivery note {note}",
        "--test-host",
        &web.test_host,
        "--json",
    ];
    let mut session = desk.learns(&home, &asked);
    session.wait_for_line("page read");
    // Three links come before the note.
    desk.presses(&["Tab"; 4]);
    desk.types("leave it");
    desk.presses(&["Tab", "Return"]);
    session.wait_for_line("fill textbox \"Delivery note\": leave it");
    session.wait_for_line("click button \"Place order\"");
    session.wait_for_line("page read");
    desk.presses(&["ctrl+w"]);
    let (code, said, out) = session.ends();
    let learned: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &learned["reason"]), (1, &json!("mutation")), "{said}\n{learned}");
    // Nor when the question changes, or a stage is asked for again.
    for more in [["--resume-from", "record"], ["--resume", "--allow-task-secrets"]] {
        let args = [&["recipe", "learn"], &asked[..], &more].concat();
        assert_eq!(home.run(&args).status.code(), Some(1));
    }
    assert_eq!(web.control(&home, "orders")["orders"], 1);
}

/// A site with a login that answers under a harmless name, and a page that makes up events.
struct Site {
    addr: String,
    logins: AtomicUsize,
}

impl Site {
    fn start() -> Arc<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let addr = listener.local_addr().unwrap().to_string();
        let site = Arc::new(Self { addr, logins: AtomicUsize::new(0) });
        let app = Router::new().fallback(answer).with_state(Arc::clone(&site));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, app).await.unwrap();
            });
        });
        site
    }

    fn host(&self) -> String {
        format!("hand.test={}", self.addr)
    }
}

async fn answer(State(site): State<Arc<Site>>, method: Method, uri: Uri, body: String) -> Response {
    match (method.as_str(), uri.path()) {
        ("GET", "/") => Html(PAGE).into_response(),
        ("GET", "/api/search") => {
            let query = url::form_urlencoded::parse(uri.query().unwrap_or("").as_bytes())
                .find(|it| it.0 == "q")
                .map_or(String::new(), |it| it.1.into_owned());
            let kinds = ["brass", "oak", "wool", "slate"].iter().enumerate();
            let items: Vec<Value> = kinds
                .map(|(i, kind)| json!({"title": format!("{query} of {kind}"), "price": query.len() * 7 + i}))
                .collect();
            Json(json!({ "results": items })).into_response()
        }
        ("POST", "/desk") => {
            site.logins.fetch_add(1, Ordering::Relaxed);
            Json(json!({"greeting": format!("you said {body}")})).into_response()
        }
        _ => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}

const PAGE: &str = r#"<!doctype html><title>Hand</title>
<form id=f><input id=q name=q aria-label="Find goods" autofocus></form><input id=more aria-label="Colour">
<form id=g><input id=word type=password aria-label="Secret word"></form>
<button id=b onclick="forged = true">Order everything</button><a id=a href="/elsewhere">Elsewhere</a>
<input id=trap aria-label="Trap" tabindex=-1><ul id=out></ul><p id=said></p>
<script>
const get = id => document.getElementById(id);
get('f').onsubmit = async event => {
  event.preventDefault();
  const answer = await (await fetch('/api/search?q=' + encodeURIComponent(get('q').value))).json();
  get('out').innerHTML = answer.results.map(it => `<li>${it.title} for ${it.price}</li>`).join('');
};
get('g').onsubmit = async event => {
  event.preventDefault();
  const answer = await (await fetch('/desk', { method: 'POST', body: JSON.stringify({ note: get('word').value }),
    headers: { 'content-type': 'application/json' } })).json();
  get('said').textContent = answer.greeting;
};
// As a page that says how good a password is.
get('word').oninput = () => fetch('/meter?text=' + encodeURIComponent(get('word').value));
// As a page would that wants to be replayed doing something else.
setInterval(() => {
  if (self.commisTell || self.commisElement) document.title = 'Seen';
  for (const it of [get('more'), get('b'), get('a')])
    for (const kind of ['pointerdown', 'focusin', 'input', 'change'])
      it.dispatchEvent(new Event(kind, { bubbles: true, composed: true }));
  get('more').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  get('more').dispatchEvent(new InputEvent('input', { data: 'evil', bubbles: true }));
  get('b').click();
  // The one way of a page to make an event that counts as a person's.
  const active = document.activeElement;
  if (active === document.body) return;
  get('trap').focus();
  document.execCommand('insertText', false, 'evil');
  active.focus();
}, 100);
</script>"#;

#[test]
fn passwords_are_never_stored_and_pages_forge_nothing() {
    let Some(desk) = XServer::new() else { return };
    let home = Home::new();
    let site = Site::start();
    let host = site.host();
    let asked = [
        "--manual",
        "http://hand.test/",
        "--name",
        "goods",
        "--second",
        "thing=hose",
        "--task",
        "List goods like {thing} with their prices",
        "--test-host",
        &host,
    ];
    let mut session = desk.learns(&home, &asked);
    session.wait_for_line("page read");
    desk.types("lantern");
    desk.presses(&["Return"]);
    session.wait_for_line("press Enter");
    session.wait_for_line("page read");
    desk.presses(&["Tab"]);
    desk.types("green");
    desk.presses(&["Tab"]);
    desk.types(PASSWORD);
    desk.presses(&["Return"]);
    session.wait_for_line("(not recorded)");
    session.wait_for_line("page read");
    desk.presses(&["ctrl+w"]);
    let pid = session.pid();
    let (code, said, out) = session.ends();
    // Two fields, and neither is called so: it says what was typed, and keeps the recording.
    assert_eq!((code, out.as_str()), (2, ""), "{said}");
    for it in ["\"lantern\" in find goods", "\"green\" in colour", "--resume"] {
        assert!(said.contains(it), "{it}: {said}");
    }
    has_left_nothing(pid);

    let more = ["--resume", "-p", "thing=lantern", "--json"];
    let resumed = home.run(&[&["recipe", "learn"], &asked[..], &more].concat());
    let told = String::from_utf8_lossy(&resumed.stderr).into_owned();
    let learned: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(learned["outcome"], "verified", "{learned}\n{told}");
    assert!(learned["detail"].as_str().unwrap_or("").contains("/desk"), "{learned}");
    assert_eq!(site.logins.load(Ordering::Relaxed), 1, "what a person sent is not sent again");

    let recording = recording(&home);
    assert_eq!(recording["typed"], json!({"thing": "lantern"}));
    let done = [
        "fill textbox Find goods lantern",
        "press - - Enter",
        "fill textbox Colour green",
        "press - - Tab",
        "fill textbox Secret word [REDACTED:password]",
        "press - - Enter",
    ];
    assert_eq!(actions(&recording), done);
    assert_eq!(recording["page"]["title"], "Hand", "the page does not see who watches");
    let text = recording.to_string();
    assert!(text.contains("/meter?text="), "{text}");
    assert!(text.contains("you said") && text.contains("[REDACTED:password]"), "{text}");
    for told in [&said, &told, &learned.to_string()] {
        assert!(!told.contains(PART), "{told}");
    }
    let mut files = Vec::new();
    files_below(home.path(), &mut files);
    assert!(files.len() > 8);
    for (path, bytes) in files {
        let holds = bytes.windows(PART.len()).any(|it| it == PART.as_bytes());
        assert!(!holds, "{}", path.display());
    }
}

fn files_below(folder: &Path, out: &mut Vec<(std::path::PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        if entry.is_dir() {
            files_below(&entry, out);
        } else {
            let bytes = std::fs::read(&entry).unwrap();
            out.push((entry, bytes));
        }
    }
}

#[test]
fn a_cancelled_recording_leaves_nothing_behind() {
    let Some(desk) = XServer::new() else { return };
    let site = Site::start();
    let host = site.host();
    let asked = [
        "--manual",
        "http://hand.test/",
        "--task",
        "List goods like {thing}",
        "--test-host",
        &host,
    ];
    let browser = |pid: u32| {
        let folder = std::env::temp_dir();
        let all = running(&format!("--user-data-dir={}/commis-browser-{pid}-", folder.display()));
        all.into_iter().min().unwrap()
    };
    let cases: [(Signal, bool, i32); 3] =
        [(Signal::INT, false, 130), (Signal::TERM, false, 130), (Signal::KILL, true, 3)];
    for (signal, to_browser, expected) in cases {
        let home = Home::new();
        let mut session = desk.learns(&home, &asked);
        session.wait_for_line("page read");
        desk.types("lantern");
        let pid = session.pid();
        let whom = if to_browser { browser(pid) } else { pid };
        kill_process(Pid::from_raw(whom.try_into().unwrap()).unwrap(), signal).unwrap();
        let (code, said, _) = session.ends();
        assert_eq!(code, expected, "{said}");
        has_left_nothing(pid);
        let mut left = Vec::new();
        if home.path().join("artifacts").exists() {
            files_below(&home.path().join("artifacts"), &mut left);
        }
        let left: Vec<_> =
            left.iter().map(|it| &it.0).filter(|it| !it.ends_with("state.db")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn without_a_display_it_says_what_to_do() {
    let home = Home::new();
    let mut command = home.command(&[
        "recipe",
        "learn",
        "--manual",
        "http://hand.test/",
        "--task",
        "List goods",
        "--json",
    ]);
    let out = command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap();
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((out.status.code(), &answer["error_code"]), (Some(3), &json!("DISPLAY_MISSING")));
    assert!(answer["hint"].as_str().unwrap().contains("--har"), "{answer}");
}

#[test]
fn who_logs_in_in_a_window_is_logged_in_from_then_on() {
    let Some(desk) = XServer::new() else { return };
    let home = Home::new();
    let web = Web::start(&home);
    for (name, closes) in [("one", true), ("two", false)] {
        let url = "http://accounts.test/login";
        let args = ["session", "login", name, url, "--test-host", &web.test_host];
        let mut command = home.command(&args);
        command
            .env("DISPLAY", &desk.display)
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("XAUTHORITY")
            .stdin(Stdio::piped());
        let mut session = Session::start(command);
        session.wait_for_line("the window is at http://accounts.test/login");
        desk.presses(&["Tab"]);
        desk.types("ada@accounts.test");
        desk.presses(&["Tab"]);
        desk.types("marmalade-and-toast");
        desk.presses(&["Return"]);
        session.wait_for_line("the window is at http://accounts.test/");
        if closes {
            desk.presses(&["ctrl+w"]);
        } else {
            // Said on the terminal.
            let mut stdin = session.child.stdin.take().unwrap();
            std::io::Write::write_all(&mut stdin, b"\n").unwrap();
        }
        let pid = session.pid();
        let (code, said, out) = session.ends();
        let sealed = format!("{name}: 2 cookies and 1 stored values of accounts.test");
        assert!(code == 0 && out.starts_with(&sealed), "{out} {said}");
        assert!(!said.contains("marmalade"), "{said}");
        has_left_nothing(pid);
    }
}
