//! Lists that are followed over their pages: learned, run whole, in parts, and after kills.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Home, Web, has_chromium, write};

const STEPS: &str = "
- fill: {role: textbox, name: Place, value: '{place}'}
- click: {role: button, name: Show finds}
- wait_for: {selector: '#finds tr'}
";

/// A recipe for the finds of `spore.test`, whose pages overlap and whose last one names itself.
fn finds(home: &Home) {
    home.proven(
        "finds",
        "
version: 2
name: finds
task: List all finds in {place}
status: verified
source_url: http://spore.test/
parameters:
- {name: place, type: str, required: true, source: task_input, examples: [oakham, firwood]}
request:
  method: GET
  url: http://spore.test/finds
  query: [{name: place, value: '{place}'}]
  allowed_domains: [spore.test]
response: {type: json, extract: finds, min_items: 1}
pages:
  by: cursor
  parameter: mark
  next: mark
  ends: [same]
  all: true
  seen: {pages: 7, items: 104, repeated: 10}
verification:
  fingerprint_version: 1
  fingerprint_sha256: x
  verified_at: '2026-01-02T03:04:05Z'
  transport: public_http
  requires_session: false
",
    );
}

fn numbers(items: &[Value]) -> Vec<String> {
    items.iter().map(|it| it["number"].as_str().unwrap_or_default().to_owned()).collect()
}

/// `F001` to `F041`, each once.
#[track_caller]
fn are_whole(items: &[Value], count: usize) {
    let all = numbers(items);
    let expected: Vec<String> = (1..=count).map(|it| format!("F{it:03}")).collect();
    let begun: Vec<&str> = all.iter().filter_map(|it| it.split('-').next()).collect();
    assert_eq!(begun, expected);
}

#[test]
fn a_list_is_learned_with_its_pages() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let at = ["--test-host", &web.test_host];
    let steps = home.path().join("steps.yaml");
    write(&steps, STEPS);
    let learn = [
        "recipe",
        "learn",
        "--url",
        "http://spore.test/",
        "--steps",
        steps.to_str().unwrap(),
        "--task",
        "List all mushroom finds in {place}",
        "--name",
        "spore",
        "-p",
        "place=oakham",
        "--second",
        "place=firwood",
        "--json",
    ];
    let (code, entry) = home.json(&[&learn[..], &at].concat());
    assert_eq!((code, &entry["outcome"]), (0, &json!("verified")), "{entry}");
    for (place, count) in [("marsh", 7), ("oakham", 41), ("firwood", 63)] {
        let value = format!("place={place}");
        let run = ["recipe", "run", "spore", "-p", &value, "--json"];
        let (code, ran) = home.json(&[&run[..], &at].concat());
        assert_eq!((code, &ran["complete"]), (0, &json!(true)), "{place}: {ran}");
        are_whole(ran["data"].as_array().unwrap(), count);
    }
    let explained = home.run(&["recipe", "explain", "spore"]);
    let text = String::from_utf8_lossy(&explained.stdout);
    assert!(text.contains("pages: by cursor, `mark` takes `mark`"), "{text}");
}

#[test]
fn a_list_is_given_in_parts() {
    let home = Home::new();
    let web = Web::start(&home);
    finds(&home);
    let run = |more: &[&str]| {
        let own = ["recipe", "run", "finds", "-p", "place=firwood", "--json", "--test-host"];
        home.json(&[&own[..], &[web.test_host.as_str()], more].concat())
    };
    let mut all = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..20 {
        let more = token.as_ref().map(|it| ["--continue-from", it.as_str()]);
        let mut args = vec!["--max-items", "9"];
        args.extend(more.iter().flatten());
        let (code, ran) = run(&args);
        assert_eq!(code, 0, "{ran}");
        all.extend(ran["data"].as_array().unwrap().clone());
        token = ran["continue_from"].as_str().map(str::to_owned);
        assert_eq!(ran["complete"], json!(token.is_none()));
        if token.is_none() {
            break;
        }
    }
    are_whole(&all, 63);
    // A token of other values is refused.
    let (_, first) = run(&["--max-pages", "1"]);
    let token = first["continue_from"].as_str().unwrap();
    let other = home.run(&[
        "recipe",
        "run",
        "finds",
        "-p",
        "place=oakham",
        "--continue-from",
        token,
        "--test-host",
        &web.test_host,
    ]);
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(said.contains("[PARAM_INVALID]"), "{said}");
}

#[test]
fn less_of_a_list_is_given_and_said() {
    let home = Home::new();
    let web = Web::start(&home);
    finds(&home);
    let run = |more: &[&str]| {
        let own = ["recipe", "run", "finds", "-p", "place=firwood", "--json", "--test-host"];
        home.json(&[&own[..], &[web.test_host.as_str()], more].concat())
    };
    let (code, ran) = run(&["--fields", "number", "--where", "starts_with(number, 'F02')"]);
    assert_eq!((code, &ran["complete"], &ran["filtered"]), (0, &json!(true), &json!(53)), "{ran}");
    // Times are those of all pages: the first opens the connection that the others use.
    assert!(ran["timings_ms"]["connect"].as_f64().unwrap() > 0.0, "{ran}");
    let items = ran["data"].as_array().unwrap();
    assert_eq!(items.len(), 10);
    assert!(items.iter().all(|it| it.as_object().unwrap().len() == 1), "{ran}");
    // What a limit cut is where the list goes on.
    let limited =
        ["--all", "--fields", "number", "--where", "starts_with(number, 'F02')", "--limit", "4"];
    let (code, first) = run(&limited);
    assert_eq!((code, &first["complete"]), (0, &json!(false)), "{first}");
    let token = first["continue_from"].as_str().unwrap();
    let (code, rest) = run(&[&limited[..6], &["99", "--continue-from", token]].concat());
    assert_eq!((code, &rest["complete"]), (0, &json!(true)), "{rest}");
    let both =
        [first["data"].as_array().unwrap().clone(), rest["data"].as_array().unwrap().clone()];
    assert_eq!(&both.concat(), items);
    let (code, ran) = run(&["--max-bytes", "900"]);
    assert_eq!((code, &ran["complete"]), (0, &json!(false)), "{ran}");
    let given = ran["data"].to_string().len();
    assert!((500..=900).contains(&given), "{given}");
    for wrong in [["--fields", "a..b"], ["--where", "[?"], ["--where", "abs(number) > `1`"]] {
        let (code, ran) = run(&wrong);
        assert_eq!((code, &ran["error_code"]), (2, &json!("PARAM_INVALID")), "{wrong:?}: {ran}");
    }
}

#[test]
fn each_line_of_a_map_has_its_whole_list() {
    let home = Home::new();
    let web = Web::start(&home);
    finds(&home);
    let inputs = home.path().join("places.ndjson");
    write(&inputs, "{\"place\": \"marsh\"}\n{\"place\": \"firwood\"}\n");
    let map = ["recipe", "map", "finds", "--ordered", "--inputs", inputs.to_str().unwrap()];
    let done = home.run(&[&map[..], &["--test-host", &web.test_host]].concat());
    let text = String::from_utf8(done.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    for (line, count) in lines.iter().zip([7, 63]) {
        assert!(line["complete"].is_null(), "{line}");
        are_whole(line["data"].as_array().unwrap(), count);
    }
    assert_eq!(lines.len(), 2, "{text}");
}

#[test]
fn a_file_of_items_survives_kills() {
    let home = Home::new();
    // More runs than a host is asked a minute.
    write(&home.path().join("config.toml"), "[limits]\nper_minute = 6000\nburst = 6000\n");
    let web = Web::start(&home);
    finds(&home);
    let out = home.path().join("finds.ndjson");
    let state = home.path().join("finds.ndjson.commis-part");
    let args = [
        "recipe",
        "run",
        "finds",
        "-p",
        "place=firwood",
        "--out",
        out.to_str().unwrap(),
        "--test-host",
        &web.test_host,
    ];
    let written = || std::fs::read(&state).unwrap_or_default();
    // The first runs end before they write anything, each later one soon after a page counts:
    // every round goes on by a page, however slow the machine is.
    for round in 0_u64.. {
        assert!(round < 40, "never whole");
        let before = written();
        let mut child =
            home.command(&args).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let early = Instant::now() + Duration::from_millis(5 + 12 * round);
        let waits = || match round {
            0..4 => Instant::now() < early,
            _ => written() == before,
        };
        while child.try_wait().unwrap().is_none() && waits() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Each round ends at another moment of a page.
        std::thread::sleep(Duration::from_millis(3 * round));
        _ = child.kill();
        child.wait().unwrap();
        // The state goes when the file is whole, and so may the run be killed after that.
        if out.exists() && !state.exists() {
            break;
        }
    }
    let text = std::fs::read_to_string(&out).unwrap();
    let items: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    are_whole(&items, 63);
}
