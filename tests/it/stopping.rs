//! What strangers wrote may take long to compute over. Ctrl-C ends that: soon, with the code for it, with nothing torn, and the
//! same command with `--resume` goes on.

use std::{
    fmt::Write as _,
    io::{Read as _, Write as _},
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Home, wait_until, write};

/// Far more than ending takes, and less than any of the work here would.
const SOON: Duration = Duration::from_secs(30);

/// A program under way, ended with the test in any case.
struct RunningProgram(Child);

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // It has ended already, most times.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl RunningProgram {
    fn start(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command(args);
        Self(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Waits until it is in the middle of its work.
    fn until(&mut self, what: &str, mut there: impl FnMut(u32) -> bool) {
        wait_until(what, || {
            let there = there(self.0.id());
            assert!(there || self.0.try_wait().unwrap().is_none(), "it ended before {what}");
            there
        });
    }

    /// Ctrl-C. What it then ends with, and what it said on stdout.
    fn interrupt(mut self) -> (Option<i32>, Value) {
        let pid = Pid::from_raw(self.0.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        // This is what the test measures: it ends because of Ctrl-C, not because its work is done.
        let told = Instant::now();
        let code = loop {
            if let Some(it) = self.0.try_wait().unwrap() {
                break it.code();
            }
            assert!(told.elapsed() < SOON, "it does not hear Ctrl-C");
            std::thread::sleep(Duration::from_millis(1));
        };
        let mut text = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        (code, serde_json::from_str(&text).unwrap_or_default())
    }
}

/// Hundredths of a second of work that the process has done.
fn worked(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit_once(')').map(|it| it.1.split_whitespace().collect()).unwrap_or_default();
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    ticks(11) + ticks(12)
}

fn entry(url: &str, mime: &str, text: &str) -> Value {
    json!({
        "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 5, "timings": {},
        "request": {"method": "GET", "url": url, "headers": [{"name": "x-requested-with", "value": "fetch"}]},
        "response": {
            "status": 200, "headers": [{"name": "content-type", "value": mime}],
            "content": {"mimeType": mime, "text": text},
        },
    })
}

fn har(home: &Home, entries: &[Value]) -> String {
    let path = home.path().join("big.har");
    let log =
        json!({"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": entries});
    write(&path, &json!({"log": log}).to_string());
    path.to_str().unwrap().to_owned()
}

/// Answers of which each is searched for the data.
fn many_answers(home: &Home, n: usize) -> String {
    let answer = |i: usize| {
        let item = |j| json!({"id": i * 10 + j, "title": format!("lantern {i} {j}"), "price": j * 3 + i % 7});
        let text = json!({"items": (0..6).map(item).collect::<Vec<_>>(), "n": i}).to_string();
        entry(&format!("http://shop.test/api/search?q=lantern&page={i}"), "application/json", &text)
    };
    har(home, &(0..n).map(answer).collect::<Vec<_>>())
}

/// Pages full of secrets.
fn many_secrets(home: &Home, pages: usize) -> String {
    let mut page = String::new();
    for i in 0..20_000 {
        let _ = write!(page, "<meta name=token{i} content='q9Zx{i}Kd81uw3mZ'>");
    }
    let each = |i| entry(&format!("http://shop.test/{i}"), "text/html", &page);
    har(home, &(0..pages).map(each).collect::<Vec<_>>())
}

/// Every file below, but for the database.
fn names(folder: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for it in std::fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path()) {
        if it.is_dir() {
            out.extend(names(&it));
        } else {
            out.push(it.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    // A lease stays with what its holder left; it counts no longer.
    out.retain(|it| !it.starts_with("state.db") && it != "lease.json");
    out.sort();
    out
}

/// What a file is called until it is whole; the next to hold the task sweeps it away.
fn is_temporary(name: &str) -> bool {
    name.starts_with(".tmp-")
}

#[test]
fn learning_ends_in_the_middle_of_a_stage_and_goes_on_from_there() {
    let home = Home::new();
    let file = many_answers(&home, 20_000);
    let task = "Search the shop for {query}";
    let learn =
        ["recipe", "learn", "--har", &file, "--task", task, "-p", "query=lantern", "--no-network"];
    let artifacts = home.path().join("artifacts");
    let recorded = |_: u32| names(&artifacts).iter().any(|it| it == "01_session_recording.json");
    let resume = [&learn[..], &["--json", "--resume"]].concat();

    let mut run = RunningProgram::start(&home, &resume);
    run.until("a recording", recorded);
    let (code, out) = run.interrupt();
    assert_eq!((code, &out["error_code"]), (Some(130), &json!("INTERRUPTED")), "{out}");
    assert!(out["hint"].as_str().unwrap().contains("--resume"), "{out}");
    // Ranking had begun, and takes about what it is given. What was just being written down has no name yet.
    let left = names(&artifacts);
    let is_json = |it: &String| Path::new(it).extension().is_some_and(|it| it == "json");
    assert!(left.iter().all(|it| is_json(it) || is_temporary(it)), "{left:?}");
    assert!(!left.iter().any(|it| it.starts_with("03")), "{left:?}");
    let ranked = left.iter().any(|it| it.starts_with("02"));

    let (code, out) = home.json(&resume);
    assert_eq!(
        (code, &out["outcome"], &out["reused"][0]),
        (0, &json!("saved_draft"), &json!("record"))
    );
    assert_eq!(out["ran"].as_array().unwrap().contains(&json!("rank")), !ranked, "{out}");
    let before = names(&artifacts);
    assert!(!before.iter().any(|it| is_temporary(it)), "{before:?}");

    // A choice reads all of it again.
    let id = out["task_id"].as_str().unwrap();
    let choose = ["recipe", "create-from-candidate", "--task-id", id, "--candidate", "1"];
    let mut run =
        RunningProgram::start(&home, &[&choose[..], &["--no-network", "--json"]].concat());
    run.until("its work", |pid| worked(pid) >= 100);
    let (code, out) = run.interrupt();
    assert_eq!((code, &out["error_code"]), (Some(130), &json!("INTERRUPTED")), "{out}");
    let mut left = names(&artifacts);
    left.retain(|it| !is_temporary(it));
    assert_eq!(left, before);
}

#[test]
fn reading_a_har_ends_when_it_is_told_to() {
    let home = Home::new();
    // Minutes of work.
    let file = many_secrets(&home, 40);
    let shared = home.path().join("out").join("shared.har");
    std::fs::create_dir(shared.parent().unwrap()).unwrap();
    let learn = ["recipe", "learn", "--har", &file, "--task", "Look", "--no-network", "--json"];
    let redact = ["redact", &file, "--out", shared.to_str().unwrap(), "--json"];
    for args in [&learn[..], &redact] {
        let mut run = RunningProgram::start(&home, args);
        run.until("its work", |pid| worked(pid) >= 200);
        let (code, out) = run.interrupt();
        assert_eq!((code, &out["error_code"]), (Some(130), &json!("INTERRUPTED")), "{out}");
    }
    assert_eq!(names(shared.parent().unwrap()), Vec::<String>::new());
    let left = names(&home.path().join("artifacts"));
    assert!(!left.iter().any(|it| it.starts_with("01")), "{left:?}");
}

/// A site whose one page is read for as long as an answer may be: that is bounded, and takes a second or two.
fn slow_to_read(home: &Home) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!("big.test={}", listener.local_addr().unwrap());
    let body: String = (0..95_000).fold(String::new(), |it, i| it + &format!("<p>a{i}"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = [0; 4096];
            // Whoever goes away early is what is tested.
            let _ = stream.read(&mut asked);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let (mut fields, mut optional) = (String::new(), String::new());
    for i in 0..4 {
        let _ = write!(fields, ", f{i}: 'b.f{i}'");
        let _ = write!(optional, "{}f{i}", if i > 0 { ", " } else { "" });
    }
    home.recipe(
        "big",
        &format!(
            "version: 1\nname: big\ntask: List {{q}}\nstatus: verified\nsource_url: http://big.test/\n\
             parameters: [{{name: q, type: str, required: true, source: task_input, examples: [a, b]}}]\n\
             request: {{method: GET, url: 'http://big.test/', query: [{{name: q, value: '{{q}}'}}], allowed_domains: [big.test]}}\n\
             response: {{type: html, html: {{items: 'p', fields: {{title: ''{fields}}}, optional: [{optional}]}}}}\n\
             verification: {{fingerprint_version: 1, fingerprint_sha256: '', verified_at: null, transport: public_http, requires_session: false}}\n"
        ),
    );
    host
}

#[test]
fn proving_a_recipe_ends_while_an_answer_is_read() {
    let home = Home::new();
    let host = slow_to_read(&home);
    let file = home.path().join("recipes/big.yaml");
    let before = std::fs::read(&file).unwrap();
    for command in ["verify", "heal"] {
        let args = ["recipe", command, "big", "--json", "--test-host", &host];
        let mut run = RunningProgram::start(&home, &args);
        run.until("its work", |pid| worked(pid) >= 20);
        let (code, out) = run.interrupt();
        assert_eq!(
            (code, &out["error_code"]),
            (Some(130), &json!("INTERRUPTED")),
            "{command}: {out}"
        );
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
}
