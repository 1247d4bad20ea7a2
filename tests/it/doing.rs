//! `commis do` with a model that plays a transcript: done once, answered by a recipe from then on; what may change something is held,
//! approved once and sent once.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, UNLIMITED},
    session::{ProgramOutput, run, well},
    support::{Home, has_chromium, wait_for, wait_until, write},
};

/// `commis testbed model`, which ends with this.
pub struct Model {
    child: Child,
    pub endpoint: String,
    _home: Home,
}

impl Model {
    pub fn start(scripts: &Value) -> Self {
        Self::start_with(scripts, &[])
    }

    pub fn start_with(scripts: &Value, more: &[&str]) -> Self {
        let home = Home::new();
        let file = home.path().join("talk.yaml");
        write(&file, &json!({ "scripts": scripts }).to_string());
        let mut child = home
            .command(&["testbed", "model", "--port", "0", "--until-eof", "--transcript"])
            .arg(&file)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, endpoint: line.trim().to_owned(), _home: home }
    }

    /// How often it was asked, and what.
    pub fn requests(&self) -> Value {
        let place = self.endpoint.trim_start_matches("http://").split('/').next().unwrap();
        let mut stream = std::net::TcpStream::connect(place).unwrap();
        stream
            .write_all(
                format!("GET /seen HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n")
                    .as_bytes(),
            )
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

pub fn settings(endpoint: &str) -> String {
    format!(
        "{UNLIMITED}\n[model]\nprovider = \"anthropic\"\nname = \"claude-script\"\nendpoint = \"{endpoint}\"\n"
    )
}

pub fn start(scripts: &Value) -> Option<(Daemon, Model)> {
    if !has_chromium() {
        return None;
    }
    let model = Model::start(scripts);
    let daemon = Daemon::start(&settings(&model.endpoint), &["--testbed"]);
    Some((daemon, model))
}

pub fn call(name: &str, arguments: &Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

pub fn click(target: &str) -> Value {
    call("click", &json!({ "target": target }))
}

pub fn fill(target: &str, value: &str) -> Value {
    call("fill", &json!({"target": target, "value": value}))
}

pub fn complete_task(more: &Value) -> Value {
    let mut all = json!({"status": "success", "reason": "it is there"});
    for (name, value) in more.as_object().unwrap() {
        all[name] = value.clone();
    }
    call("complete_task", &all)
}

pub fn parsed(said: &ProgramOutput) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{} {}", said.out, said.err))
}

/// How often something was done at a site of the test web, as it says itself.
pub fn count(daemon: &Daemon, site: &str) -> u64 {
    let context = ["browse", "--context", "counts"];
    let url = format!("http://{site}/api/count");
    well(daemon, &[&context[..], &["goto", &url]].concat());
    let text = well(daemon, &[&context[..], &["text"]].concat());
    let at = text.find("\"count\":").unwrap_or_else(|| panic!("{text}"));
    let digits: String = text[at + 8..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

pub fn search(query: &str, other: &str) -> Value {
    json!({"when": [format!("news for {query}")], "turns": [
        fill("searchbox \"Search the news\"", query),
        call("press", &json!({"key": "Enter"})),
        call("wait", &json!({"text": format!("results for {query}")})),
        complete_task(&json!({"evidence": format!("results for {query}"), "other_values": {"query": other}})),
    ]})
}

#[test]
fn a_task_told_in_a_sentence_is_done_once_and_answered_by_a_recipe_from_then_on() {
    let Some((daemon, _model)) = start(&json!([search("harbour", "election")])) else { return };
    let task = "Search the news for harbour and list the headlines";
    let without = run(&daemon, &["do", task, "--json"]);
    assert_eq!(
        (without.code, parsed(&without)["error_code"].as_str()),
        (2, Some("RECIPE_NOT_FOUND"))
    );

    let first = run(&daemon, &["do", task, "--url", "http://news.test/", "--json"]);
    let told = parsed(&first);
    assert_eq!((first.code, &told["status"], &told["by"]), (0, &json!("done"), &json!("model")));
    let model = &told["model"];
    assert_eq!(model["turns"], 4);
    assert!(model["tokens_in"].as_u64().unwrap() > 1000, "{model}");
    assert!(model["learns"].is_string(), "{model}");

    // Another value than any that was typed: nothing but a recipe answers, and the model would not know what to say.
    let second = parsed(&run(&daemon, &["do", &task.replace("harbour", "tides"), "--json"]));
    assert_eq!((&second["status"], &second["by"]), (&json!("done"), &json!("recipe")), "{second}");
    assert!(second["data"].to_string().contains("Tides"), "{second}");
    assert_eq!(second["saved"]["turns"], 4);
    assert_eq!(second["trace"][0], format!("SENTENCE_OF:{}", second["recipe"].as_str().unwrap()));
    let log = well(&daemon, &["do", "--log", model["run"].as_str().unwrap()]);
    assert!(log.lines().count() > 8 && log.contains("\"reason\":\"completed\""), "{log}");
    assert_eq!(run(&daemon, &["do", "--log", "../x"]).code, 2);
    let books = well(&daemon, &["do", "--playbooks"]);
    assert!(books.contains("order-again") && books.contains("cancel-membership"), "{books}");
    // Its page is gone, and what happened is written down.
    let pages = well(&daemon, &["browse", "--context", "counts", "tabs"]);
    assert!(!pages.contains("news.test"), "{pages}");
    let file = format!("runs/{}.ndjson", model["run"].as_str().unwrap());
    let lines = std::fs::read_to_string(daemon.home.path().join(file)).unwrap();
    let lines: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines[0]["what"]["kind"], "begin");
    assert_eq!(lines.last().unwrap()["what"]["reason"], "completed");
}

#[test]
fn a_sentence_in_other_words_is_chosen_for_and_a_recipe_that_fails_is_learned_anew() {
    let name = "search-the-news-for-query";
    let chooses = |words: &str, values: &Value| {
        json!({"when": ["which of these recipes", words],
            "turns": [call("choose_recipe", &json!({"name": name, "values": values}))]})
    };
    let scripts = json!([
        chooses("these days", &json!({"query": "tides"})),
        chooses("on the news", &json!({"query": "weather"})),
        search("harbour", "election"),
        search("election", "harbour"),
    ]);
    let Some((daemon, _model)) = start(&scripts) else { return };
    let begin = ["--url", "http://news.test/", "--json"];
    let first = run(&daemon, &[&["do", "Search the news for harbour"][..], &begin].concat());
    assert!(parsed(&first)["model"]["learns"].is_string(), "{}", first.out);

    let other = parsed(&run(&daemon, &["do", "What is in the news on tides these days", "--json"]));
    assert_eq!((&other["by"], &other["recipe"]), (&json!("recipe"), &json!(name)), "{other}");
    assert!(other["data"].to_string().contains("Tides"), "{other}");
    assert!(other["trace"][1].as_str().unwrap().starts_with("MODEL_CHOSE:"), "{other}");
    // What the sentence does not say is no value, whatever a model says.
    let made_up = run(&daemon, &["do", "Is anything on the news at all", "--json"]);
    assert_eq!(parsed(&made_up)["error_code"], "RECIPE_NOT_FOUND", "{}", made_up.out);

    // The site answers elsewhere now, as far as the recipe knows.
    let file = daemon.home.path().join(format!("recipes/{name}.yaml"));
    let text = std::fs::read_to_string(&file).unwrap();
    let was = text.lines().find(|it| it.trim_start().starts_with("url: ")).unwrap().to_owned();
    assert!(was.contains("news.test/"), "{text}");
    let moved = text.replacen(&was, &was.replace("news.test/", "news.test/gone/"), 1);
    daemon.home.proven(name, &moved);
    let healed = run(&daemon, &[&["do", "Search the news for election"][..], &begin].concat());
    let told = parsed(&healed);
    assert_eq!((&told["status"], &told["by"]), (&json!("done"), &json!("model")), "{told}");
    assert!(told["trace"].to_string().contains("RECIPE_FAILED:"), "{told}");
    assert!(told["model"]["learns"].is_string(), "{told}");
    let after = parsed(&run(&daemon, &["do", "Search the news for tides", "--json"]));
    assert_eq!((&after["by"], &after["recipe"]), (&json!("recipe"), &json!(name)), "{after}");
    assert!(after["data"].to_string().contains("Tides"), "{after}");
}

pub fn order() -> Value {
    json!({"when": ["espresso"], "turns": [
        click("link \"Order again\" in \"R-0913\""),
        fill("spinbutton \"Quantity\"", "2"),
        click("button \"Place order\""),
        complete_task(&json!({"answer": "R-1001"})),
    ]})
}

pub const ORDER: &[&str] = &[
    "do",
    "Order {item} again, {quantity} of it",
    "-p",
    "item=Espresso beans, 1 kg",
    "-p",
    "quantity=2",
    "--playbook",
    "order-again",
    "--no-checkpoint",
    "--json",
];

/// What came of an operation; where it took long the daemon says which task it became.
fn wait_for_result(daemon: &Daemon, answer: Value) -> Value {
    let Some(task) = answer["data"]["task_id"].as_str().map(str::to_owned) else { return answer };
    if answer["data"]["state"].is_null() {
        return answer;
    }
    wait_for("result of the task", || {
        let answer = daemon.api("GET", &format!("/api/tasks/{task}/result"), &Value::Null).1;
        let open = answer["error"]["error_code"] == "TASK_NOT_DONE";
        if open { Err(answer.to_string()) } else { Ok(answer) }
    })
}

#[test]
fn an_order_is_shown_and_then_sent_once_by_whoever_approves_first() {
    let Some((daemon, _model)) = start(&json!([order()])) else { return };
    let dry = run(&daemon, ORDER);
    let told = parsed(&dry);
    assert_eq!((dry.code, &told["status"]), (0, &json!("dry_run")), "{told}");
    let held = told["model"]["held"][0].as_str().unwrap();
    assert!(held.starts_with("POST http://reorder.test/orders\n"), "{held}");
    assert!(held.contains("json /quantity (yours) = 2"), "{held}");
    assert!(held.contains("json /order (seen on reorder.test) = \"R-0913\""), "{held}");
    assert_eq!(count(&daemon, "reorder.test"), 0);

    let args = [ORDER, &["--allow-submit"]].concat();
    let told = parsed(&run(&daemon, &args));
    assert_eq!(told["status"], "waiting_for_approval", "{told}");
    let id = told["model"]["approvals"][0].as_str().unwrap().to_owned();
    let all = parsed(&run(&daemon, &["approve", "--json"]));
    let shown = all["approvals"].as_array().unwrap().iter().find(|it| it["id"] == *id).unwrap();
    assert_eq!(shown["state"], "waiting");
    let digest = shown["digest"].as_str().unwrap().to_owned();
    // Nobody types here, and another digest is not what was shown.
    assert_eq!(run(&daemon, &["approve", &id]).code, 2);
    let other = "0".repeat(64);
    assert_eq!(run(&daemon, &["approve", &id, "--digest", &other]).code, 1);
    assert_eq!(count(&daemon, "reorder.test"), 0);

    // Two at once, by two ways.
    let path = format!("/api/approvals/{id}/approve");
    let body = json!({ "digest": digest });
    let (terminal, rest) = std::thread::scope(|scope| {
        let rest = scope.spawn(|| daemon.api("POST", &path, &body).1);
        let terminal = run(&daemon, &["approve", &id, "--digest", &digest, "--json"]);
        (terminal, rest.join().unwrap())
    });
    let rest = wait_for_result(&daemon, rest);
    let (won, lost) = match terminal.code {
        0 => (parsed(&terminal), rest),
        _ => (rest["data"].clone(), json!({ "error": parsed(&terminal) })),
    };
    assert_eq!((&won["status"], &won["data"]), (&json!("done"), &json!("R-1001")), "{won}");
    assert_eq!(lost["error"]["error_code"], "APPROVAL_SETTLED", "{lost}");
    assert_eq!(count(&daemon, "reorder.test"), 1);
    let again = run(&daemon, &["approve", &id, "--digest", &digest, "--json"]);
    assert_eq!(parsed(&again)["error_code"], "APPROVAL_SETTLED");
    assert_eq!(count(&daemon, "reorder.test"), 1);
    let all = parsed(&run(&daemon, &["approve", "--json"]));
    assert_eq!(all["approvals"][0]["state"], "sent", "{all}");
}

#[test]
fn a_form_that_is_approved_is_sent_as_it_was_shown_and_one_that_is_rejected_is_not() {
    let script = json!([{"when": ["Cancel my membership"], "turns": [
        click("link \"Cancel membership\""),
        click("link \"Continue to cancel\""),
        click("link \"Continue to cancel\""),
        click("button \"Finish cancellation\""),
        complete_task(&json!({"evidence": "Your membership ends on"})),
    ]}]);
    let Some((daemon, _model)) = start(&script) else { return };
    let args = [
        "do",
        "Cancel my membership at the rowing club",
        "--playbook",
        "cancel-membership",
        "--no-checkpoint",
        "--allow-submit",
        "--json",
    ];
    let told = parsed(&run(&daemon, &args));
    let id = told["model"]["approvals"][0].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    assert_eq!(well(&daemon, &["reject", &id]), "");
    let digest = "0".repeat(64);
    let late = run(&daemon, &["approve", &id, "--digest", &digest, "--json"]);
    assert_eq!(parsed(&late)["error_code"], "APPROVAL_SETTLED");
    assert_eq!(count(&daemon, "club.test"), 0);

    let told = parsed(&run(&daemon, &args));
    let id = told["model"]["approvals"][0].as_str().unwrap().to_owned();
    let all = parsed(&run(&daemon, &["approve", "--json"]));
    let shown = all["approvals"].as_array().unwrap().iter().find(|it| it["id"] == *id).unwrap();
    let text = shown["text"].as_str().unwrap();
    assert!(text.contains("POST http://club.test/account/cancel/confirm"), "{text}");
    let digest = shown["digest"].as_str().unwrap().to_owned();
    let sent = run(&daemon, &["approve", &id, "--digest", &digest, "--json"]);
    assert_eq!((sent.code, &parsed(&sent)["status"]), (0, &json!("done")), "{}", sent.out);
    assert_eq!(count(&daemon, "club.test"), 1);
}

#[test]
fn ac_8_3_and_8_6_what_is_missing_is_said_and_a_dry_run_does_nothing() {
    let Some((daemon, _model)) = start(&json!([search("harbour", "election")])) else { return };
    let news = ["do", "Search the news for harbour", "--url", "http://news.test/"];
    // The daemon's environment has no key, and no other one is asked for where a model of its own is named.
    let said = run(&daemon, &[&news[..], &["--model", "gpt-4o", "--json"]].concat());
    assert_eq!(said.code, 2, "{}", said.out);
    assert_eq!(parsed(&said)["error_code"], "MODEL_KEY_MISSING", "{}", said.out);
    let said = run(&daemon, &[&news[..], &["--model", "llama", "--json"]].concat());
    assert_eq!((said.code, &parsed(&said)["error_code"]), (2, &json!("SETTINGS_INVALID")));
    let said = run(&daemon, &["do", "x", "--playbook", "nothing-of-the-kind", "--json"]);
    assert_eq!((said.code, &parsed(&said)["error_code"]), (2, &json!("PLAYBOOK_NOT_FOUND")));
    let dry = run(&daemon, &[&news[..], &["--dry-run", "--json"]].concat());
    let told = parsed(&dry);
    assert_eq!((dry.code, &told["status"]), (0, &json!("dry_run")), "{told}");
    assert_eq!(told["model"]["steps"], json!(["goto http://news.test/"]));
    assert!(told["detail"].as_str().unwrap().contains("fill searchbox"), "{told}");
}

/// An order that waits, of a page of that variant; its id and digest.
fn order_and_wait(daemon: &Daemon, variant: &str) -> (String, String) {
    let url = format!("http://reorder.test/?{variant}=1");
    let args = [ORDER, &["--allow-submit", "--url", &url]].concat();
    let told = parsed(&run(daemon, &args));
    let id = told["model"]["approvals"][0].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    let all = parsed(&run(daemon, &["approve", "--json"]));
    let shown = all["approvals"].as_array().unwrap().iter().find(|it| it["id"] == *id).unwrap();
    (id, shown["digest"].as_str().unwrap().to_owned())
}

/// Raises the total of the page that waits, once, and returns when the page shows it. That page cannot be asked, so the site is.
pub fn raise_total(daemon: &Daemon) {
    let bumps = ["browse", "--context", "bumps"];
    well(daemon, &[&bumps[..], &["goto", "http://reorder.test/api/bump"]].concat());
    wait_until("page that has followed", || {
        well(daemon, &[&bumps[..], &["goto", "http://reorder.test/api/risen"]].concat());
        well(daemon, &[&bumps[..], &["text"]].concat()).contains("\"risen\":1")
    });
}

#[test]
fn what_changes_after_it_was_shown_is_not_sent_and_what_follows_it_waits_anew() {
    let Some((daemon, _model)) = start(&json!([order()])) else { return };
    // The total on the page is another by then.
    let (id, digest) = order_and_wait(&daemon, "drift");
    raise_total(&daemon);
    let late = run(&daemon, &["approve", &id, "--digest", &digest, "--json"]);
    assert_eq!(parsed(&late)["error_code"], "APPROVAL_STALE", "{}", late.out);
    assert_eq!(count(&daemon, "reorder.test"), 0);

    // A second order behind the first is held, and shown by itself.
    let (id, digest) = order_and_wait(&daemon, "second");
    let then = parsed(&run(&daemon, &["approve", &id, "--digest", &digest, "--json"]));
    assert_eq!(count(&daemon, "reorder.test"), 1, "{then}");
    assert_eq!(then["reason"], "needs_person", "{then}");
    assert!(then["detail"].as_str().unwrap().contains("the playbook allows 1 of these"), "{then}");

    // So is what a redirect asks for again.
    let (id, digest) = order_and_wait(&daemon, "redirect");
    let then = parsed(&run(&daemon, &["approve", &id, "--digest", &digest, "--json"]));
    assert_ne!(then["status"], "done", "{then}");
    assert_eq!(count(&daemon, "reorder.test"), 1, "{then}");
}
