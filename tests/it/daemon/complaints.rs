//! What people complain about in daemons of this kind, one test each.

use std::{
    collections::BTreeSet,
    net::TcpListener,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Answer, Daemon, UNLIMITED};
use crate::support::{has_chromium, wait_for, wait_until};

/// Every process below that one.
fn below(pid: u32) -> BTreeSet<u32> {
    let mut all = Vec::new();
    for it in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = it.file_name().to_str().and_then(|it| it.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(it.path().join("stat")) else { continue };
        let parent =
            stat.rsplit_once(')').and_then(|it| it.1.split_whitespace().nth(1)?.parse().ok());
        all.extend(parent.map(|it: u32| (id, it)));
    }
    let mut out = BTreeSet::new();
    let mut from = vec![pid];
    while let Some(parent) = from.pop() {
        for (id, _) in all.iter().filter(|it| it.1 == parent) {
            if out.insert(*id) {
                from.push(*id);
            }
        }
    }
    out
}

fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|it| it.rsplit_once(')').is_some_and(|it| !it.1.starts_with(" Z")))
}

const SHOP: &str = r#"{"task": "Search the shop for {query}", "name": "shop", "url": "http://shop.test/",
  "steps": [{"fill": {"label": "Search", "value": "{query}"}}, {"press": "Enter"}, {"wait_for": {"text": "results for {query}"}}],
  "params": {"query": "lantern"}, "second": {"query": "hose"}}"#;

/// Daemons and browsers that stay for days.
#[test]
fn nothing_is_left_behind() {
    if !has_chromium() {
        return;
    }
    for stop in ["kill", "terminate"] {
        let daemon = Daemon::start(UNLIMITED, &["--testbed"]);
        let (status, made) =
            daemon.api("POST", "/api/recipes/learn", &serde_json::from_str(SHOP).unwrap());
        assert_eq!(status, 202, "{made}");
        let children = wait_for("browser", || {
            let all = below(daemon.pid());
            if all.len() < 3 { Err(format!("{all:?}")) } else { Ok(all) }
        });
        if stop == "kill" {
            daemon.kill();
        } else {
            let (_, code, _) = daemon.terminate();
            assert_eq!(code, Some(0));
        }
        wait_until(&format!("end of the browser after {stop}"), || {
            !children.iter().copied().any(is_alive)
        });
    }
    // And a daemon that nobody asks ends by itself.
    let home = crate::support::Home::new();
    let out = home.run(&["serve", "--idle", "1"]);
    assert!(out.status.success(), "{out:?}");
}

/// A site that never answers, and a daemon that hangs with it.
#[test]
fn one_that_never_answers_holds_up_nobody_else() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let pinned = format!("silent.test={}", silent.local_addr().unwrap());
    let daemon = Daemon::start(UNLIMITED, &["--test-host", &pinned]);
    daemon.home.recipe("silent", "{version: 1, name: silent, task: t, status: draft, source_url: 'http://silent.test/', request: {method: GET, url: 'http://silent.test/', allowed_domains: [silent.test]}, response: {type: json}}");
    let ids: Vec<String> = (0..8)
        .map(|_| {
            let (status, it) =
                daemon.api("POST", "/api/recipes/silent/run", &json!({"draft": true}));
            assert_eq!(status, 202, "{it}");
            it["data"]["task_id"].as_str().unwrap().to_owned()
        })
        .collect();
    // Each was waited for two seconds and became a task. How long another one waits is what this measures: a machine may stand
    // still for a moment, but not three times.
    let quick = (0..3).any(|_| {
        let asked = Instant::now();
        assert_eq!(daemon.api("GET", "/api/version", &Value::Null).0, 200);
        asked.elapsed() < Duration::from_secs(1)
    });
    assert!(quick);
    for id in ids {
        let end = daemon.wait_for_task(&id);
        assert_eq!(end["error"]["error_code"], "TIMEOUT", "{end}");
        let took = end["ended_ms"].as_i64().unwrap() - end["began_ms"].as_i64().unwrap();
        assert!(took < 70_000, "{took} ms");
    }
    drop(silent);
}

/// A daemon that is at work is taken for dead, killed, and its work lost.
#[test]
fn one_that_is_busy_stays() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let pinned = format!("silent.test={}", silent.local_addr().unwrap());
    let daemon = Daemon::start(UNLIMITED, &["--test-host", &pinned]);
    daemon.home.recipe("silent", "{version: 1, name: silent, task: t, status: draft, source_url: 'http://silent.test/', request: {method: GET, url: 'http://silent.test/', allowed_domains: [silent.test]}, response: {type: json}}");
    let (status, _) = daemon.api("POST", "/api/recipes/silent/run", &json!({"draft": true}));
    assert_eq!(status, 202);
    // A client of another version comes.
    let file = daemon.home.path().join("serve/daemon.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    state["binary"] = "other".into();
    state["version"] = "0.0.1".into();
    crate::support::write(&file, &state.to_string());
    let out = daemon.home.run(&["daemon", "start", "--json"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let now: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(now["pid"], daemon.pid(), "{said}");
    assert!(said.contains("1 tasks are at work in it"), "{said}");
    drop(silent);
}

/// Lists of tools that fill the context.
#[test]
fn a_list_of_tools_is_small_and_an_answer_is_bounded() {
    let daemon = Daemon::start(&format!("{UNLIMITED}tools = \"recipes\"\n"), &[]);
    for i in 0..100 {
        daemon.home.proven(
            &format!("site-{i}-search"),
            &format!("{{version: 1, name: site-{i}-search, task: 'Search {{query}}', status: verified, source_url: 'http://site-{i}.test/', \
             parameters: [{{name: query, type: str, required: true, source: task_input, examples: [lantern, hose]}}], \
             request: {{method: GET, url: 'http://site-{i}.test/api', query: [{{name: q, value: '{{query}}'}}], allowed_domains: [site-{i}.test]}}, \
             response: {{type: json, extract: hits}}, verification: {{fingerprint_version: 1, fingerprint_sha256: x, \
             shape: ['$:list', '$[]:object', '$[].title:str', '$[].price:num', '$[].seller:object', '$[].seller.name:str'], \
             verified_at: '2026-01-01T00:00:00Z', transport: public_http, requires_session: false}}}}"),
        );
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let asked = |path: &str| -> Vec<Value> {
        let answer: Answer = daemon.ask(
            "POST",
            path,
            &[
                ("Host", &format!("127.0.0.1:{}", daemon.port)),
                ("Authorization", &format!("Bearer {}", daemon.token)),
                ("Content-Type", "application/json"),
                ("Accept", "application/json, text/event-stream"),
                ("Mcp-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/list"),
            ],
            list,
        );
        answer.json()["result"]["tools"].as_array().cloned().unwrap_or_else(|| panic!("{answer:?}"))
    };
    let tools = asked("/mcp");
    let (own, recipes): (Vec<&Value>, Vec<&Value>) =
        tools.iter().partition(|it| !it["name"].as_str().unwrap().starts_with("recipe_"));
    let bytes = |it: &Value| it.to_string().len();
    let always: usize = own.iter().map(|it| bytes(it)).sum();
    let mut sizes: Vec<usize> = recipes.iter().map(|it| bytes(it)).collect();
    sizes.sort_unstable();
    let all: usize = tools.iter().map(bytes).sum();
    eprintln!(
        "tools/list: {all} bytes, {always} for the three, median {} a recipe of {}",
        sizes[50],
        sizes.len()
    );
    assert_eq!((own.len(), recipes.len()), (3, 100));
    assert!(always <= 1536 && sizes[50] <= 520, "{always} {}", sizes[50]);
    for it in recipes {
        assert!(it["outputSchema"]["properties"]["data"]["type"].is_string(), "{it}");
    }
    // Thirty by default, in the same order each time.
    let default = asked("/mcp?tools=core,top:30");
    assert_eq!(default.len(), 33);
    assert_eq!(default, asked("/mcp?tools=core,top:30"));
}

/// A daemon that answers nothing for a while is taken for dead, killed and replaced, and what was open in it is lost.
#[test]
fn one_that_is_stopped_for_a_while_is_waited_for() {
    use std::io::{BufRead as _, BufReader};
    let daemon = Daemon::start(UNLIMITED, &[]);
    let pid = rustix::process::Pid::from_raw(daemon.pid().cast_signed()).unwrap();
    let signal = |it| rustix::process::kill_process(pid, it).unwrap();
    signal(rustix::process::Signal::STOP);
    let mut child = daemon.home.command(&["token", "list", "--json"]);
    let mut child = child
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // It says so while it waits.
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains(&daemon.pid().to_string()), "{line}");
    assert!(line.contains("it is waited for, not replaced"), "{line}");
    assert!(child.try_wait().unwrap().is_none());
    signal(rustix::process::Signal::CONT);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let (_, status) = daemon.home.json(&["daemon", "status", "--json"]);
    assert_eq!(
        (status["running"].clone(), status["pid"].clone()),
        (json!(true), json!(daemon.pid()))
    );
}
