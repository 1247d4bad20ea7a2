//! Seed 002's criteria of the command line, by their numbers, and that each of all criteria has a test of its number.

use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, UNLIMITED},
    doing::{Model, call, click, complete_task, fill, parsed, search},
    session::{run, well},
    support::{Home, Web, has_chromium, shared, wait_until, write},
};

/// Criteria of each group: AC-1.1 to AC-1.5, and so on.
const CRITERIA: [u32; 8] = [5, 5, 3, 6, 7, 4, 3, 6];

fn cancel() -> Value {
    json!([{"when": ["Cancel my membership"], "turns": [
        click("link \"Cancel membership\""),
        click("link \"Continue to cancel\""),
        click("link \"Continue to cancel\""),
        click("button \"Finish cancellation\""),
        complete_task(&json!({"evidence": "Your membership ends on"})),
    ]}])
}

const CANCEL: &[&str] = &[
    "do",
    "Cancel my membership at the rowing club",
    "--playbook",
    "cancel-membership",
    "--no-checkpoint",
];

/// A daemon that asks that model, of that provider, with a key of its environment.
fn with_key(model: &Model, provider: &str, name: &str) -> Daemon {
    let home = Home::new();
    let settings = format!(
        "{UNLIMITED}\n[model]\nprovider = \"{provider}\"\nname = \"{name}\"\nendpoint = \"{}\"\napi_key_env = \"SCRIPT_KEY\"\n",
        model.endpoint
    );
    write(&home.path().join("config.toml"), &settings);
    Daemon::of_env(home, &["--testbed"], &[("SCRIPT_KEY", "sk-script-0123456789abcdef")])
}

#[test]
fn ac_8_1_a_playbook_runs_without_error() {
    if !has_chromium() {
        return;
    }
    let model = Model::start(&cancel());
    let daemon = with_key(&model, "anthropic", "claude-script");
    let said = run(&daemon, CANCEL);
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    // A line a turn, and in the end what would be sent.
    for line in [
        "[turn 1] click link \"Cancel membership\"",
        "[turn 4] click button \"Finish cancellation\"",
        "DRY RUN: would send POST http://club.test/account/cancel/confirm",
    ] {
        assert!(said.err.contains(line), "{line}: {}", said.err);
    }
    // The key went to the model and nowhere else.
    for file in walk(daemon.home.path()) {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(12).any(|it| it == b"sk-script-01");
        assert!(!found, "{}", file.display());
    }
}

/// Every file below.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for it in std::fs::read_dir(folder).unwrap().flatten() {
        let path = it.path();
        let Ok(kind) = std::fs::symlink_metadata(&path) else { continue };
        if kind.is_dir() {
            out.extend(walk(&path));
        } else if kind.is_file() {
            out.push(path);
        }
    }
    out
}

#[test]
fn ac_8_2_gpt_4o_is_asked_in_openais_format() {
    if !has_chromium() {
        return;
    }
    let model = Model::start_with(&json!([search("harbour", "election")]), &["--wire", "openai"]);
    let daemon = with_key(&model, "openai", "another");
    let news =
        ["do", "Search the news for harbour", "--url", "http://news.test/", "--no-learn", "--json"];
    let said = run(&daemon, &[&news[..], &["--model", "gpt-4o"]].concat());
    let told = parsed(&said);
    assert_eq!((said.code, &told["model"]["name"]), (0, &json!("openai/gpt-4o")), "{told}");
    let seen = model.requests();
    let asked = seen["bodies"][0].as_object().unwrap();
    assert_eq!(asked["model"], "gpt-4o");
    assert_eq!(asked["tools"][0]["type"], "function");
    assert!(asked["tools"][0]["function"]["parameters"].is_object(), "{asked:?}");
    // Any name that begins so is OpenAI's; one of another provider's does not reach this model.
    let said = run(&daemon, &[&news[..], &["--model", "gpt-of-next-year"]].concat());
    assert_eq!(parsed(&said)["model"]["name"], "openai/gpt-of-next-year", "{}", said.out);
    let said = run(&daemon, &[&news[..], &["--model", "claude-opus-4-1"]].concat());
    assert_eq!(parsed(&said)["error_code"], "MODEL_KEY_MISSING", "{}", said.out);
}

/// Every process below that one.
fn below(pid: u32) -> Vec<u32> {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let all: Vec<u32> = all.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
    let (mut out, mut from) = (Vec::new(), vec![pid]);
    while let Some(of) = from.pop() {
        let children = all.iter().copied().filter(|it| parent(*it) == Some(of));
        let children: Vec<u32> = children.collect();
        out.extend(&children);
        from.extend(children);
    }
    out
}

#[test]
fn ac_8_4_ctrl_c_exits_with_130_and_leaves_nothing_behind() {
    if !has_chromium() {
        return;
    }
    // A model that thinks for as long as it takes to press Ctrl-C.
    let slow = json!([{"when": ["news for harbour"], "turns": [
        fill("searchbox \"Search the news\"", "harbour"),
        {"slow_ms": 600_000},
    ]}]);
    let model = Model::start(&slow);
    let daemon = with_key(&model, "anthropic", "claude-script");
    let args = ["do", "Search the news for harbour", "--url", "http://news.test/"];
    let mut child = daemon
        .home
        .command(&args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the second turn", || model.requests()["requests"].as_u64() == Some(2));
    let renderers = |of: &[u32]| {
        let is_one = |it: &&u32| {
            std::fs::read_to_string(format!("/proc/{it}/cmdline"))
                .is_ok_and(|it| it.contains("--type=renderer"))
        };
        of.iter().filter(is_one).count()
    };
    assert!(renderers(&below(daemon.pid())) > 0);
    kill_process(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), Signal::INT).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    // The task is over, with its reason, and so is its page.
    let mut runs = Value::Null;
    wait_until("the run's end", || {
        runs = parsed(&run(&daemon, &["do", "runs", "--json"]))["runs"][0].take();
        runs["status"] != "working"
    });
    assert_eq!(
        (&runs["status"], &runs["reason"]),
        (&json!("failed"), &json!("CANCELLED")),
        "{runs}"
    );
    let tasks = daemon.api("GET", "/api/tasks", &Value::Null).1;
    assert_eq!(tasks["data"]["tasks"][0]["state"], "cancelled", "{tasks}");
    let pages = well(&daemon, &["browse", "tabs"]);
    assert!(!pages.contains("news.test"), "{pages}");
    // Nothing waits for a person, no temporary file is left, and what was started ends with the daemon.
    assert_eq!(parsed(&run(&daemon, &["approve", "--json"]))["approvals"], json!([]));
    let left = walk(&daemon.home.path().join("runs"));
    assert!(!left.iter().any(|it| it.to_string_lossy().contains(".tmp-")), "{left:?}");
    let all = below(daemon.pid());
    drop(daemon);
    let alive = |it: &u32| {
        std::fs::read_to_string(format!("/proc/{it}/stat"))
            .is_ok_and(|it| it.rsplit_once(')').is_some_and(|it| !it.1.starts_with(" Z")))
    };
    wait_until("the end of what was started", || !all.iter().any(alive));
}

#[test]
fn ac_8_5_success_exits_with_0() {
    if !has_chromium() {
        return;
    }
    let mut scripts = json!([search("harbour", "election")]);
    scripts.as_array_mut().unwrap().push(json!({"when": ["news for nothing"], "turns": [
        call("complete_task", &json!({"status": "failed", "reason": "there is no such news"})),
    ]}));
    scripts.as_array_mut().unwrap().push(cancel()[0].clone());
    let model = Model::start(&scripts);
    let daemon = with_key(&model, "anthropic", "claude-script");
    let news = |of: &str| {
        let task = format!("Search the news for {of}");
        run(&daemon, &["do", &task, "--url", "http://news.test/", "--no-learn"])
    };
    let said = news("harbour");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("✓ completed (4 turns"), "{}", said.err);
    let said = news("nothing");
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("✗ gave_up"), "{}", said.err);
    // What changed something, approved by a person, counts as well: done, and seen to be done.
    let waits = run(&daemon, &[CANCEL, &["--allow-submit", "--json"]].concat());
    assert_eq!(waits.code, 1, "it is not done yet: {}", waits.out);
    let id = parsed(&waits)["model"]["approvals"][0].as_str().unwrap().to_owned();
    let shown = parsed(&run(&daemon, &["approve", "--json"]));
    let digest = shown["approvals"][0]["digest"].as_str().unwrap().to_owned();
    let said = run(&daemon, &["approve", &id, "--digest", &digest]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("✓ completed (5 turns"), "{}", said.err);
}

#[test]
fn ac_7_1_a_login_is_made_once_and_later_runs_have_it() {
    if !has_chromium() {
        return;
    }
    let script = json!([{"when": ["my account"], "turns": [
        complete_task(&json!({"evidence": "Signed in as ada", "answer": "Signed in as ada"})),
    ]}]);
    let model = Model::start(&script);
    let home = Home::new();
    let settings = format!(
        "{UNLIMITED}\n[model]\nprovider = \"anthropic\"\nname = \"claude-script\"\nendpoint = \"{}\"\n",
        model.endpoint
    );
    write(&home.path().join("config.toml"), &settings);
    // In a process of its own, so that it goes on knowing who is logged in.
    let web = Web::start(&home);
    let pin = ["--test-host", &*web.test_host];
    let daemon = Daemon::start_in(home, &pin);
    let said = |daemon: &Daemon, args: &[&str]| {
        let mut command = daemon.home.command(&[args, &pin].concat());
        command
            .env("ACCOUNTS_USER", "ada@accounts.test")
            .env("ACCOUNTS_WORD", "marmalade-and-toast");
        let out = command.output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    let login = [
        "session",
        "login",
        "ada",
        "http://accounts.test/",
        "--fill",
        "textbox \"Email\"=env:ACCOUNTS_USER",
        "--fill",
        "css=input[name=password]=env:ACCOUNTS_WORD",
        "--click",
        "button \"Sign in\"",
        "--until",
        "Signed in as ada",
    ];
    assert_eq!(said(&daemon, &login).0, Some(0));
    let task = [
        "do",
        "Say who my account is of",
        "--url",
        "http://accounts.test/",
        "--no-learn",
        "--json",
    ];
    let of = |out: &str| -> Value { serde_json::from_str(out).unwrap_or_else(|_| panic!("{out}")) };
    let (code, out) = said(&daemon, &task);
    assert_eq!((code, &of(&out)["status"]), (Some(1), &json!("needs_person")), "{out}");
    let logged_in = [&task[..], &["--as", "ada"]].concat();
    // Before and after the daemon ended, as often as one likes.
    let home = {
        let (code, out) = said(&daemon, &logged_in);
        assert_eq!((code, &of(&out)["data"]), (Some(0), &json!("Signed in as ada")), "{out}");
        daemon.kill()
    };
    let daemon = Daemon::start_in(home, &pin);
    for _ in 0..2 {
        let (code, out) = said(&daemon, &logged_in);
        assert_eq!((code, &of(&out)["data"]), (Some(0), &json!("Signed in as ada")), "{out}");
    }
    // Neither to another site's task, nor one that is not there.
    let other =
        ["do", "Say who my account is of", "--url", "http://news.test/", "--json", "--as", "ada"];
    let (code, out) = said(&daemon, &other);
    assert_eq!((code, &of(&out)["error_code"]), (Some(2), &json!("PARAM_INVALID")), "{out}");
    let (code, out) = said(&daemon, &[&task[..], &["--as", "nobody"]].concat());
    assert_eq!(code, Some(2), "{out}");
}

/// The numbers in a name such as `ac_5_2_and_5_3_a_person_decides`.
fn numbers(name: &str) -> Vec<(u32, u32)> {
    let words: Vec<&str> = name.split('_').collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at + 2 < words.len() {
        let number = |n: usize| words.get(at + n).and_then(|it| it.parse().ok());
        match (words[at], number(1), number(2)) {
            ("ac", Some(group), Some(n)) => out.push((group, n)),
            ("and", Some(group), Some(n)) if !out.is_empty() => out.push((group, n)),
            _ => {}
        }
        at += 1;
    }
    out
}

/// Names of tests in a source that bear numbers.
fn tests(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(at) = line.find("fn ") {
            let name: String = line[at + 3..]
                .chars()
                .take_while(|it| it.is_ascii_alphanumeric() || *it == '_')
                .collect();
            if std::mem::take(&mut is_test) && name.starts_with("ac_") {
                out.push(name);
            }
        }
    }
    out
}

#[test]
fn every_criterion_has_a_test_of_its_number() {
    assert_eq!(numbers("ac_5_2_and_5_3_a_person_decides"), [(5, 2), (5, 3)]);
    assert_eq!(numbers("ac_1_1_ac_1_2_ac_5_7_the_real"), [(1, 1), (1, 2), (5, 7)]);
    assert_eq!(numbers("back_1_2"), []);
    assert_eq!(tests("fn ac_1_1_a() {}\n#[test]\nfn ac_1_2_b() {}"), ["ac_1_2_b"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
    for folder in ["src", "tests"] {
        for path in walk(&root.join(folder)) {
            if path.extension().is_none_or(|it| it != "rs") {
                continue;
            }
            for name in tests(&std::fs::read_to_string(&path).unwrap()) {
                for it in numbers(&name) {
                    found.entry(it).or_default().push(name.clone());
                }
            }
        }
    }
    let known: Vec<(u32, u32)> =
        (1..).zip(CRITERIA).flat_map(|(group, n)| (1..=n).map(move |it| (group, it))).collect();
    for (group, n) in &known {
        let names = found.get(&(*group, *n)).map(|it| it.join(", "));
        println!("AC-{group}.{n}: {}", names.as_deref().unwrap_or("none"));
    }
    let missing: Vec<_> = known.iter().filter(|it| !found.contains_key(it)).collect();
    assert!(missing.is_empty(), "criteria without a test: {missing:?}");
    let unknown: Vec<_> = found.keys().filter(|it| !known.contains(it)).collect();
    assert!(unknown.is_empty(), "tests of no criterion: {unknown:?}");
    // That the list is whole, is said by the seed itself.
    let Some(seeds) = shared("seeds") else { return };
    let seed = std::fs::read_dir(seeds).unwrap().flatten().map(|it| it.path());
    let seed = seed
        .into_iter()
        .find(|it| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with("002")));
    let text = std::fs::read_to_string(seed.unwrap()).unwrap();
    let rows = text.lines().filter_map(|it| it.strip_prefix("| AC-")?.split(' ').next());
    let mut rows: Vec<(u32, u32)> = rows
        .filter_map(|it| it.split_once('.'))
        .map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()))
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, known);
}

/// The command of Playwright's real server, or `None` with a line saying so.
fn playwright() -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "where the server is, is told by the environment"
    )]
    let named = std::env::var("COMMIS_PLAYWRIGHT_MCP").ok();
    if named.is_none() {
        eprintln!("skipped: COMMIS_PLAYWRIGHT_MCP names no server of Playwright's");
    }
    named
}

#[test]
fn a_playbook_is_done_through_the_real_server_of_playwright() {
    let Some(server) = playwright().filter(|_| has_chromium()) else { return };
    let turns = json!([{"when": ["books about rust"], "turns": [
        call("browser_type", &json!({"target": "searchbox \"Search the catalogue\"", "text": "rust", "submit": true})),
        call("browser_wait_for", &json!({"text": "results for rust"})),
        complete_task(&json!({})),
    ]}]);
    let model = Model::start(&turns);
    let settings = format!(
        "{UNLIMITED}\n[agent]\nplaywright_mcp = {server:?}\n[model]\nprovider = \"anthropic\"\nname = \"claude-script\"\nendpoint = \"{}\"\n",
        model.endpoint
    );
    let daemon = Daemon::start(&settings, &["--testbed"]);
    let task = "Find books about {query} in the county library";
    let said = run(
        &daemon,
        &[
            "do",
            task,
            "-p",
            "query=rust",
            "--playbook",
            "look-up",
            "--backend",
            "playwright-mcp",
            "--json",
        ],
    );
    let told = parsed(&said);
    assert_eq!((said.code, &told["status"]), (0, &json!("done")), "{told}");
    assert_eq!(told["model"]["not_learned"], "what is done with Playwright MCP is not recorded");
    let kept = parsed(&run(&daemon, &["do", "runs", "--json"]))["runs"][0].take();
    assert_eq!(
        (&kept["backend"], &kept["status"]),
        (&json!("playwright-mcp"), &json!("done")),
        "{kept}"
    );
    // Nothing of it is left when it is over.
    let node = |it: &u32| {
        std::fs::read_to_string(format!("/proc/{it}/cmdline")).is_ok_and(|it| it.contains("cli.js"))
    };
    wait_until("the server's end", || !below(daemon.pid()).iter().any(node));
}
