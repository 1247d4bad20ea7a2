//! A step that fails says why: what was asked for and what is there, on pages that are made for it.

use std::{fmt::Write as _, os::unix::fs::PermissionsExt as _};

use serde_json::Value;

use crate::support::{Home, Web, has_chromium, write};

/// Name, page, steps, the error's code, and what is told: any of it would do for a person.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "missing",
        "stumbles.test/",
        "- click: {role: button, name: Export everything}",
        "STEP_FAILED",
        &["no such element", "elements, nearest first: button \"Find\""],
    ),
    (
        "ambiguous",
        "stumbles.test/twice",
        "- click: {role: button, name: Buy}",
        "STEP_FAILED",
        &["2 elements fit equally well", "2: button \"Buy\" near \"Hose Buy\""],
    ),
    (
        "covered",
        "stumbles.test/covered",
        "- click: {role: button, name: Show lamps}",
        "STEP_FAILED",
        &["dialog \"We value your privacy\" covers the element"],
    ),
    (
        "disabled",
        "stumbles.test/disabled",
        "- click: {role: button, name: Send}",
        "STEP_FAILED",
        &["the element is disabled", "button \"Send\", disabled"],
    ),
    (
        "role",
        "stumbles.test/",
        "- click: {role: button, name: Help}",
        "STEP_FAILED",
        &["link \"Help\" has that name: its role is link"],
    ),
    (
        "near-miss",
        "stumbles.test/",
        "- fill: {role: searchbox, name: Serach, value: lamp}",
        "STEP_FAILED",
        &[
            "searchbox \"Search\" is called nearly so",
            "elements, nearest first: searchbox \"Search\"",
        ],
    ),
    (
        "frame",
        "stumbles.test/framed",
        "- frame: {name: ads}\n      - click: {role: button, name: Pay}",
        "STEP_FAILED",
        &["button \"Pay\" is outside the frame that the steps act in: put `frame: main` before"],
    ),
    (
        "closed",
        "stumbles.test/menu",
        "- click: {role: link, name: Export}",
        "STEP_FAILED",
        &["link \"Export\" is in the page, but hidden", "perhaps by button \"More\""],
    ),
    (
        "option",
        "stumbles.test/",
        "- select: {name: Kind, value: Ceiling lamp}",
        "STEP_FAILED",
        &["has no such option; it has \"Floor lamp\", \"Table lamp\""],
    ),
    (
        "text",
        "stumbles.test/",
        "- fill: {role: searchbox, name: Search, value: lamp}\n      - press: Enter\n      - wait_for: {text: lamps found}",
        "STEP_FAILED",
        &["wait_for text \"lamps found\": it did not happen in time", "text: Lamps", "no lamps"],
    ),
    (
        "hangs",
        "stumbles.test/hangs",
        "- wait_for: {request: /slow}",
        "STEP_FAILED",
        &["GET http://endless.test/slow?ms=120000 has not ended"],
    ),
    (
        "refused",
        "stumbles.test/refused",
        "- wait_for: {request: /api/lamps}",
        "STEP_FAILED",
        &["the policy refused http://10.0.0.1/api/lamps (URL_BLOCKED", "console: error: no lamps"],
    ),
    (
        "server",
        "stumbles.test/broken",
        "- click: {role: button, name: Find}",
        "SERVER_ERROR",
        &["the site is down: http://stumbles.test/broken answered 500", "opening the page"],
    ),
    (
        "down",
        "down.test/",
        "- click: {role: button, name: Find}",
        "CONNECT_FAILED",
        &["cannot open http://down.test/: cannot connect to down.test: Connection refused"],
    ),
    (
        "shaky",
        "stumbles.test/shaky",
        "- click: {role: button, name: Find}",
        "STEP_FAILED",
        &["GET http://stumbles.test/broken was answered with 500"],
    ),
    (
        "login",
        "stumbles.test/private",
        "- fill: {role: searchbox, name: Search, value: lamp}",
        "STEP_FAILED",
        &[
            "the page is http://stumbles.test/login, where http://stumbles.test/private was opened last, and asks for a password",
        ],
    ),
    (
        "dialog",
        "stumbles.test/confirm",
        "- click: {role: button, name: Delete}\n      - wait_for: {text: are gone}",
        "STEP_FAILED",
        &["confirm \"Delete all lamps?\" was dismissed", "All lamps are there"],
    ),
    (
        "popup",
        "stumbles.test/popup",
        "- click: {role: link, name: Details}\n      - wait_for: {text: all about the lamp}",
        "STEP_FAILED",
        &["a popup to http://stumbles.test/details was closed"],
    ),
];

/// Seconds that a step may take, one round after the other. A step that fails waits that long, so the first round gives little. On a
/// machine under load a page may not open in that time, which is another failure than the one that is tested: only those cases get
/// more time.
const ROUNDS: [u32; 3] = [3, 15, 60];

/// What is tried again: where the site is down, not reached, or in trouble.
const RETRYABLE: [&str; 3] = ["server", "down", "shaky"];

#[test]
fn a_failing_step_says_why() {
    if !has_chromium() {
        return;
    }
    let web_home = Home::new();
    let web = Web::start(&web_home);
    let mut cases: Vec<&Case> = CASES.iter().collect();
    for timeout_s in ROUNDS {
        let wrong = failures(&web, &cases, timeout_s);
        cases.retain(|it| wrong.iter().any(|(name, _)| *name == it.0));
        let last = timeout_s == ROUNDS[ROUNDS.len() - 1];
        let said: Vec<&str> = wrong.iter().map(|it| it.1.as_str()).collect();
        assert!(!last || wrong.is_empty(), "{}", said.join("\n\n"));
        if wrong.is_empty() {
            break;
        }
    }
}

/// Lets each case fail in a home of its own. Returns what is not as the case says, by its name.
fn failures(web: &Web, cases: &[&Case], timeout_s: u32) -> Vec<(&'static str, String)> {
    let home = Home::new();
    // A port that nobody listens on, since its listener is gone again.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut text = format!(
        "version: 1\ndefaults: {{ delay_s: 0, timeout_s: {timeout_s}, retries: 1 }}\nrecipes:\n"
    );
    for (name, page, steps, ..) in cases {
        let _ = writeln!(
            text,
            "  - name: {name}\n    task: Look for lamps\n    url: http://{page}\n    record:\n      {steps}"
        );
    }
    let manifest = home.path().join("failing.yaml");
    write(&manifest, &text);
    let page = home.path().join("report.html");
    let down = format!("down.test={closed}");
    let hosts = ["--test-host", &web.test_host, "--test-host", &down];
    let learn = ["recipe", "learn-batch", "--manifest", manifest.to_str().unwrap(), "--json"];
    let report = ["--report", page.to_str().unwrap()];
    let (code, totals) = home.batch(&[&learn[..], &report, &hosts].concat());
    assert_eq!(code, 1, "{totals}");
    let report = std::fs::read_to_string(page).unwrap();
    let mut failures = Vec::new();
    for ((name, _, steps, code, parts), entry) in
        cases.iter().zip(totals["entries"].as_array().unwrap())
    {
        let mut wrong = Vec::new();
        let id = entry["task_id"].as_str().unwrap();
        let out = home.run(&["recipe", "debug", "--task-id", id]);
        let shown = String::from_utf8(out.stdout).unwrap();
        println!("== {name}: {}\n{shown}", steps.replace("\n      ", "\n"));
        // As it reads: headings with what follows them.
        let read = shown.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let read = ["elements, nearest first", "text", "console"]
            .into_iter()
            .fold(read, |it, head| it.replace(&format!("\n{head}\n"), &format!("\n{head}: ")));
        let (exit, debug) = home.json(&["recipe", "debug", "--task-id", id, "--json"]);
        let failure = &debug["failure"];
        if (exit, failure["error_code"].as_str()) != (0, Some(*code)) {
            wrong.push(failure.to_string());
        }
        if entry["retryable"] != RETRYABLE.contains(name) {
            wrong.push(format!("whether it is tried again: {entry}"));
        }
        let missing: Vec<_> = parts.iter().filter(|it| !read.contains(**it)).collect();
        if !missing.is_empty() {
            wrong.push(format!("{missing:?} is not in {read}"));
        }
        let folder = home.path().join("artifacts").join(id);
        for file in ["failure.json", "failure.png"] {
            let it = std::fs::metadata(folder.join(file));
            let mode = it.map(|it| it.permissions().mode() & 0o777);
            // The proxy's own answer is a page without anything, which can be drawn as well.
            if mode.ok() != Some(0o600) {
                wrong.push(format!("no {file}, or not private: {}", failure["no_picture"]));
            }
        }
        let png = std::fs::read(folder.join("failure.png")).unwrap_or_default();
        assert!(png.is_empty() || png.starts_with(b"\x89PNG"), "{name}");
        assert!(report.contains(&format!("{id}/failure.png")), "{name} is not linked");
        assert!(report.contains(&format!("{id}/page.html")), "{name} has no page");
        let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
        assert_eq!(page.contains("src=\"data:image/png;base64,"), !png.is_empty(), "{name}");
        assert!(page.contains("Where it failed"), "{name}: {page}");
        if *name == "role" && !report.contains("link &quot;Help&quot; has that name") {
            wrong.push("the report does not say why".to_owned());
        }
        if !wrong.is_empty() {
            failures.push((*name, format!("{name}: {}", wrong.join("\n"))));
        }
    }
    let (_, found) = home.json(&["artifacts", "verify", "--json"]);
    assert!(!found.to_string().contains("failure."), "{found}");
    failures
}

fn tried(home: &Home, web: &Web, page: &str, steps: &str, more: &[&str]) -> (i32, Value) {
    let manifest = home.path().join("try.yaml");
    let text = format!(
        "version: 1\ndefaults: {{ timeout_s: 3 }}\nrecipes:\n  - name: tried\n    task: 'Look for {{q}}'\n    url: http://stumbles.test{page}\n    examples: [{{ q: lamp }}, {{ q: rake }}]\n    record:\n      {steps}\n"
    );
    write(&manifest, &text);
    let args = ["recipe", "try", manifest.to_str().unwrap(), "--json"];
    home.json(&[&args[..], &["--test-host", &web.test_host], more].concat())
}

#[test]
fn steps_are_tried_without_learning() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let steps = "- fill: {label: Search, value: '{q}'}\n      - press: Enter\n      - wait_for: {text: no lamps}";
    let (code, out) = tried(&home, &web, "/", steps, &["--example", "2"]);
    assert_eq!((code, &out["success"]), (0, &Value::Bool(true)), "{out}");
    let done = out["steps"].as_array().unwrap();
    assert_eq!(done.len(), 4, "{out}");
    assert_eq!(done[0]["requests"][0], "GET http://stumbles.test/ 200");
    assert_eq!(done[1]["took"], "searchbox \"Search\"");
    let lamps = out["page"]["blocks"].as_array().unwrap();
    assert!(lamps.iter().any(|it| it["items"] == 3 && it["first"][0] == "Anna"), "{out}");
    assert!(!home.path().join("recipes").exists(), "nothing is learned");
    let listed = home.run(&["recipe", "debug"]);
    assert!(listed.stdout.is_empty(), "and no task begun");

    let (code, out) = tried(&home, &web, "/menu", "- click: {role: link, name: Export}", &[]);
    assert_eq!((code, &out["error_code"]), (1, &Value::from("STEP_FAILED")), "{out}");
    assert!(out["failure"]["picture"].as_str().unwrap().ends_with("failure.png"), "{out}");
    assert_eq!(out["steps"].as_array().unwrap().len(), 1);

    // What a page lists can be done as it says.
    let url = "http://stumbles.test/twice";
    let out = home.run(&["recipe", "steps", url, "--test-host", &web.test_host]);
    let text = String::from_utf8(out.stdout).unwrap();
    let last =
        text.lines().rfind(|it| it.starts_with("- click")).unwrap_or_else(|| panic!("{text}"));
    assert!(last.starts_with("- click: { role: button, name: \"Buy\", nth: 2 }"), "{text}");
    let (code, out) = tried(&home, &web, "/twice", last, &[]);
    assert_eq!((code, &out["steps"][1]["took"]), (0, &Value::from("button \"Buy\"")), "{out}");
    // Controls without an accessible name, by what their form calls them.
    let url = "http://stumbles.test/unnamed";
    let out = home.run(&["recipe", "steps", url, "--test-host", &web.test_host]);
    let text = String::from_utf8(out.stdout).unwrap();
    let all: Vec<&str> = text.lines().filter(|it| it.starts_with("- ")).collect();
    assert_eq!(
        all,
        [
            r#"- fill: { css: "input[name=\"is\"]", nth: 1, value: "{is}" }"#,
            r#"- fill: { css: "input[name=\"is\"]", nth: 2, value: "{is}" }  # near "kind maker""#,
            r#"- fill: { css: "textarea[name=\"a[\\\"b\\\"]\"]", value: "{a_b}" }"#,
            // A placeholder is a name to the browser.
            r#"- fill: { role: textbox, name: "Town", value: "{town}" }"#,
            r#"- fill: { role: textbox, name: "Street", value: "{street}" }"#,
            r#"- select: { css: "select[name=\"field\"]", value: "kind" }  # of kind, maker"#,
        ],
        "{text}"
    );
    assert!(text.contains("1 elements have no name"), "{text}");
    let both =
        format!("{}\n      {}", all[1].replace("{is}", "{q}"), all[2].replace("{a_b}", "{q}"));
    let (code, out) = tried(&home, &web, "/unnamed", &both, &[]);
    assert_eq!(code, 0, "{out}");
    let url = "http://stumbles.test/";
    let out = home.run(&["recipe", "steps", url, "--test-host", &web.test_host]);
    let text = String::from_utf8(out.stdout).unwrap();
    for part in [
        "- fill: { role: searchbox, name: \"Search\", value: \"{search}\" }",
        "- select: { role: combobox, name: \"Kind\", value: \"Floor lamp\" }  # of Floor lamp, Table lamp",
        "- check: { role: checkbox, name: \"In stock\" }",
        "- click: { role: button, name: \"Find\" }",
        "- click: { role: link, name: \"Help\" }",
        "#lamps > li",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

const SECRET: &str = "hunter2hunter2";

/// A secret that was typed, and one that the page shows, are in nothing that is kept; nor is there a picture.
#[test]
fn a_failing_step_keeps_no_secrets() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let manifest = home.path().join("steps.yaml");
    write(
        &manifest,
        &format!(
            "- fill: {{role: textbox, name: User, value: {SECRET}-user}}\n- fill: {{role: textbox, name: Password, value: {SECRET}}}\n- click: {{role: button, name: Nowhere}}\n"
        ),
    );
    let args = [
        "recipe",
        "learn",
        "--url",
        "http://stumbles.test/login",
        "--name",
        "secret",
        "--task",
        "Sign in",
    ];
    let more = [
        "--steps",
        manifest.to_str().unwrap(),
        "--allow-task-secrets",
        "--test-host",
        &web.test_host,
    ];
    let out = home.run(&[&args[..], &more].concat());
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
    let (_, debug) = home.json(&["recipe", "debug", "--task-id", "secret", "--json"]);
    let failure = &debug["failure"];
    assert_eq!(failure["no_picture"], "a secret was typed in this session", "{failure}");
    assert_eq!(failure["picture"], Value::Null);
    let id = debug["task_id"].as_str().unwrap();
    let kept = home.artifacts(id);
    assert!(!kept.contains_key("failure.png"));
    let text = String::from_utf8_lossy(&kept["failure.json"]);
    assert!(!text.contains(SECRET) && !failure.to_string().contains(SECRET), "{text}");
    assert!(failure["elements"].to_string().contains("Password"), "{failure}");
}
