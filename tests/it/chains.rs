//! Recipes of several requests, everywhere that recipes run: REST, MCP, `recipe map`, `recipe check` and `heal`, and the library.

use std::{process::Stdio, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, UNLIMITED},
    support::{Home, Web, has_chromium, write},
};

const ROSTER: &str = "version: 2
name: roster
task: Show the roster of the crew {crew}
status: draft
source_url: http://rosters.test/
parameters:
- {name: crew, type: str, required: true, source: task_input, examples: [North pier, Dry dock]}
steps:
- name: crews
  request: {method: GET, url: 'http://rosters.test/api/crews', allowed_domains: [rosters.test]}
  response: {type: json, extract: crews}
  choose: {where: {name: '{crew}'}}
- name: watches
  request: {method: GET, url: 'http://rosters.test/api/crews/{crews.number}/roster', allowed_domains: [rosters.test]}
  response: {type: json, extract: watches}
";

const NEWS: &str = "version: 2
name: news
task: Show the entries of the {list} list
status: draft
source_url: http://frontrow.test/
parameters:
- {name: list, type: str, required: true, source: task_input, examples: [top, best]}
steps:
- name: ids
  request: {method: GET, url: 'http://frontrow.test/feed/ids', query: [{name: list, value: '{list}'}, {name: limit, value: '12'}], allowed_domains: [frontrow.test]}
  response: {type: json}
- name: entry
  for_each: ids
  request: {method: GET, url: 'http://frontrow.test/feed/entry/{ids}', allowed_domains: [frontrow.test]}
  response: {type: json}
  position: rank
";

const POSTER: &str = "version: 2
name: poster
task: Get the {rendering} file of poster {number}
status: draft
source_url: http://playbill.test/
parameters:
- {name: number, type: str, required: true, source: task_input, examples: ['7', '12']}
- {name: rendering, type: str, required: true, source: task_input, examples: [small, large]}
steps:
- name: poster
  request: {method: GET, url: 'http://playbill.test/poster/{number}.json', allowed_domains: [playbill.test]}
  response: {type: json, extract: renderings}
  choose: {key: '{rendering}'}
- name: file
  request: {method: GET, url: 'http://files.playbill.test/', address: '{poster}', allowed_domains: [files.playbill.test]}
  response: {type: json, framing: file, media_type: image/png}
";

fn proven() -> (Home, Web) {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe("roster", ROSTER);
    home.recipe("news", NEWS);
    home.recipe("poster", POSTER);
    for name in ["roster", "news", "poster"] {
        let args = ["recipe", "verify", name, "--json", "--test-host", &web.test_host];
        let (code, rows) = home.json(&args);
        assert_eq!((code, &rows[0]["result"]["verified"]), (0, &json!(true)), "{rows}");
    }
    (home, web)
}

#[test]
fn rest_and_mcp_run_them() {
    let (home, web) = proven();
    write(&home.path().join("config.toml"), UNLIMITED);
    let daemon = Daemon::start_in(home, &["--test-host", &web.test_host]);
    let run = |name: &str, params: Value| {
        daemon.api("POST", &format!("/api/recipes/{name}/run"), &json!({"params": params}))
    };
    let (status, roster) = run("roster", json!({"crew": "lighthouse"}));
    assert_eq!((status, roster["data"].as_array().map(Vec::len)), (200, Some(6)), "{roster}");
    let (_, ambiguous) = run("roster", json!({"crew": "South mole"}));
    assert!(ambiguous.to_string().contains("CHOICE_AMBIGUOUS"), "{ambiguous}");
    let (status, news) = run("news", json!({"list": "best"}));
    assert_eq!(status, 200, "{news}");
    let rows = news["data"].as_array().unwrap();
    assert!(rows.iter().all(|it| it["title"].is_string()), "{news}");
    assert!(rows.is_sorted_by_key(|it| it["rank"].as_u64()) && rows[0]["rank"] == 1, "{news}");

    let message =
        daemon.mcp("commis_run", &json!({"name": "roster", "params": {"crew": "lighthouse"}}));
    let answer = &message["result"]["structuredContent"];
    assert_eq!(answer["data"], roster["data"], "{message}");
}

/// An answer that is a file: what can be said of it is the data, and who asks gets the bytes.
#[test]
fn a_file_is_written_and_handed_over() {
    let (home, web) = proven();
    let print = |home: &Home, more: &[&str]| {
        let args = ["run", "poster", "-p", "number=31", "-p", "rendering=Print"];
        let args = [&args[..], more, &["--test-host", &web.test_host]].concat();
        let out = home.command(&args).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let folder = home.path().join("files");
    std::fs::create_dir(&folder).unwrap();
    let to = folder.to_str().unwrap();
    assert_eq!(print(&home, &["--out", to]).0, Some(0));
    let (code, said) = print(&home, &["--out", to]);
    assert!(code == Some(2) && said.contains("exists"), "{said}");
    let bytes = std::fs::read(folder.join("poster-31-print.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    // Not of the type that was learned.
    let other = POSTER.replace("image/png", "image/gif");
    home.recipe("other", &other.replace("name: poster\ntask", "name: other\ntask"));
    let args = ["run", "other", "--draft", "-p", "number=31", "-p", "rendering=print", "--json"];
    let (_, failed) = home.json(&[&args[..], &["--test-host", &web.test_host]].concat());
    assert_eq!(failed["error_code"], "PARSE_ERROR", "{failed}");

    write(&home.path().join("config.toml"), UNLIMITED);
    let daemon = Daemon::start_in(home, &["--test-host", &web.test_host]);
    let params = json!({"number": "31", "rendering": "print"});
    let (status, answer) =
        daemon.api("POST", "/api/recipes/poster/run", &json!({"params": params}));
    assert_eq!((status, &answer["data"]["size"]), (200, &json!(bytes.len())), "{answer}");
    let encoded = STANDARD.encode(&bytes);
    assert_eq!(answer["meta"]["file"], json!(encoded), "{answer}");
    let message = daemon.mcp("commis_run", &json!({"name": "poster", "params": params}));
    let resource = &message["result"]["content"][1]["resource"];
    assert_eq!(resource["blob"], json!(encoded), "{message}");
    assert_eq!(resource["mimeType"], "image/png", "{message}");
    assert!(!message["result"]["_meta"].to_string().contains(&encoded), "{message}");
}

#[test]
fn map_counts_every_request_of_a_host() {
    let (home, web) = proven();
    let limits = "[limits]\ntest_hosts = true\nper_minute = 120\nburst = 1\n";
    write(&home.path().join("config.toml"), limits);
    let inputs = home.path().join("in.ndjson");
    let crews = ["North pier", "Dry dock", "Outer bar"];
    let lines: String = crews.iter().map(|it| json!({"crew": it}).to_string() + "\n").collect();
    write(&inputs, &lines);
    let args = ["recipe", "map", "roster", "--jobs", "10", "--inputs", inputs.to_str().unwrap()];
    let begun = std::time::Instant::now();
    let out = home
        .command(&[&args[..], &["--test-host", &web.test_host]].concat())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    let text = String::from_utf8_lossy(&out.stdout);
    let rows: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(rows.len(), 3, "{text}");
    assert!(
        rows.iter()
            .all(|it| it["items"] == 6 || it["data"].as_array().is_some_and(|it| it.len() == 6)),
        "{text}"
    );
    // Six calls, each half a second after another.
    assert!(begun.elapsed() >= Duration::from_millis(2_400), "{:?}", begun.elapsed());
}

#[test]
fn check_and_heal_say_which_step_failed() {
    let (home, web) = proven();
    let path = home.path().join("recipes/roster.yaml");
    let learned = std::fs::read_to_string(&path).unwrap();
    for (old, new, step) in [
        ("/api/crews\n", "/api/crews/v0\n", "step `crews`"),
        ("}/roster\n", "}/list\n", "step `watches`"),
    ] {
        let broken = learned.replace(old, new);
        assert_ne!(broken, learned, "{learned}");
        home.proven("roster", &broken);
        for command in ["check", "heal"] {
            let args = ["recipe", command, "roster", "--json", "--test-host", &web.test_host];
            let (_, rows) = home.json(&args);
            assert!(rows.to_string().contains(step), "{command}: {rows}");
        }
    }
}

/// A token that an earlier answer has in a header is asked for anew by each run, and stands in no file.
#[test]
fn a_token_in_a_header_is_asked_for_each_time() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    for (name, header) in [("sluice", "x-visit"), ("weirs", "x-session-token")] {
        let url = format!("http://{name}.test/");
        let steps = home.path().join("steps.json");
        let fill = json!({"fill": {"role": "textbox", "name": "Canal", "value": "{canal}"}});
        let wait = json!({"wait_for": {"text": "Sluices of {canal}"}});
        write(&steps, &json!([{"navigate": url}, fill, {"press": "Enter"}, wait]).to_string());
        let learn = ["recipe", "learn", "--url", &url, "--steps", steps.to_str().unwrap()];
        let task = ["--task", "List the sluices of {canal}", "--name", name, "--json"];
        let values = ["-p", "canal=Rochdale", "--second", "canal=Stroud"];
        let pin = ["--test-host", &web.test_host];
        let (code, learned) = home.json(&[&learn[..], &task, &values, &pin].concat());
        assert_eq!(code, 0, "{learned}");
        let recipe = std::fs::read_to_string(home.path().join(format!("recipes/{name}.yaml")));
        let recipe = recipe.unwrap();
        assert!(recipe.contains(&format!("header: {header}")), "{recipe}");
        assert!(recipe.contains(&format!("{header}: \"{{hello}}\"")), "{recipe}");
        let is_token = |it: &str| it.len() >= 40 && it.bytes().all(|it| it.is_ascii_hexdigit());
        let request = recipe.split("verification:").next().unwrap();
        assert!(!request.split(|c: char| !c.is_ascii_alphanumeric()).any(is_token), "{recipe}");
        let run = ["recipe", "run", name, "-p", "canal=Bude", "--json"];
        let (code, answer) = home.json(&[&run[..], &pin].concat());
        assert_eq!((code, answer["success"].clone()), (0, json!(true)), "{answer}");
        assert!(answer["data"][0]["keeper"].is_string(), "{answer}");
    }
}
