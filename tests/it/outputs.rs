//! What commands print with `--json` is what `docs/reference/outputs.schema.json` says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, UNLIMITED},
    session::searched,
    support::{Home, has_chromium, write},
};

const SCHEMAS: &str = include_str!("../../docs/reference/outputs.schema.json");
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");
const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/quickstart.yaml");

struct Outputs {
    schemas: Value,
    seen: BTreeSet<String>,
}

impl Outputs {
    fn read() -> Self {
        let mut it: Value = serde_json::from_str(SCHEMAS).unwrap();
        Self { schemas: it["$defs"].take(), seen: BTreeSet::new() }
    }

    /// Nothing is wrong, nothing missing, and at the top nothing that the schema does not name.
    #[track_caller]
    fn hold(&mut self, command: &str, printed: &Value) {
        let mut schema = self.schemas[command].clone();
        let at = if schema["type"] == "array" { "/items" } else { "" };
        let object = schema.pointer_mut(at).unwrap();
        if object.is_object() {
            object["unevaluatedProperties"] = json!(false);
        }
        let schema = jsonschema::draft202012::new(&schema).unwrap();
        let wrong: Vec<String> =
            schema.iter_errors(printed).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(wrong.is_empty(), "{command}: {wrong:#?}\n{printed:#}");
        let mut more = printed.clone();
        let first = if more.is_array() { more.get_mut(0) } else { Some(&mut more) };
        if let Some(it) = first {
            it["nobody"] = json!(1);
            assert!(!schema.is_valid(&more), "{command}: its schema takes anything");
        }
        self.seen.insert(command.to_owned());
    }

    /// Runs it with `--json`.
    #[track_caller]
    fn run(&mut self, home: &Home, command: &str, more: &[&str]) -> Value {
        let (group, rest) = command.split_once(' ').unwrap_or((command, ""));
        let args: Vec<&str> = if group == "browse" {
            [&[group, "--json", rest][..], more].concat()
        } else {
            let words = command.split(' ').chain(more.iter().copied());
            words.chain(["--json"]).collect()
        };
        let (_, printed) = home.json(&args);
        assert!(printed["error_code"].is_null() || printed["success"] != false, "{printed}");
        self.hold(command, &printed);
        printed
    }
}

#[test]
fn outputs_are_what_their_schemas_say() {
    let mut outputs = Outputs::read();
    let home = Home::new();
    home.recipe("broken", "version: [");
    let listed = outputs.run(&home, "recipe list", &[]);
    let broken = |it: &Value| it["name"] == "broken" && it["error_code"].is_string();
    assert!(listed.as_array().unwrap().iter().any(broken), "{listed}");
    outputs.run(&home, "recipe get", &["github-repositories"]);
    outputs.run(&home, "recipe explain", &["github-repositories"]);
    outputs.run(&home, "recipe validate", &["github-repositories"]);
    outputs.run(&home, "artifacts verify", &[]);
    mapped(&mut outputs);
    let store = home.path().join("shared");
    let shared = [
        "stage",
        "run",
        "--manifest",
        MANIFEST,
        "--task",
        "shop-search",
        "--stage",
        "record",
        "--store",
        &store.display().to_string(),
        "--no-network",
    ];
    // Nothing is recorded without a network; the store is there.
    home.run(&shared);
    outputs.run(&home, "artifacts shared", &["--store", &store.display().to_string()]);
    outputs.run(&home, "doctor", &[]);
    let har = ["--har", FIXTURE, "--task", "Find books about {query}", "-p", "query=harbour"];
    outputs.run(&home, "recipe learn", &[&har[..], &["--no-network"]].concat());
    if !has_chromium() {
        return;
    }

    let learn = ["--manifest", MANIFEST, "--testbed", "--only", "shop-search"];
    let batch = [&["recipe", "learn-batch"][..], &learn, &["--json"]].concat();
    let events = home.run(&batch);
    let events = String::from_utf8(events.stdout).unwrap();
    let kinds: Vec<Value> = events
        .lines()
        .map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            outputs.hold("recipe learn-batch, each line", &event);
            event["event"].clone()
        })
        .collect();
    for kind in ["batch_started", "stage_finished", "task_finished", "batch_finished"] {
        assert!(kinds.iter().any(|it| it == kind), "{kind}: {events}");
    }
    let given = ["shop-search", "-p", "query=teapot", "--testbed"];
    outputs.run(&home, "recipe run", &given);
    outputs.run(&home, "recipe dry-run", &given);
    let told = outputs.run(&home, "recipe explain", &given);
    assert!(told["health"].is_object() && told["request"].is_object(), "{told}");
    let named = ["shop-search", "--testbed"];
    for command in ["recipe verify", "recipe check", "recipe heal"] {
        outputs.run(&home, command, &named);
    }
    outputs.run(&home, "recipe verify", &["nobody", "--testbed"]);
    outputs.run(&home, "recipe list", &[]);
    let tasks = outputs.run(&home, "artifacts ls", &[]);
    assert_eq!(tasks.as_array().unwrap().len(), 2, "{tasks}");
    outputs.run(&home, "artifacts verify", &[]);
    of_the_daemon(&mut outputs);
    let unseen: Vec<&String> = outputs
        .schemas
        .as_object()
        .unwrap()
        .keys()
        .filter(|it| !outputs.seen.contains(*it))
        .collect();
    assert!(unseen.is_empty(), "never held to their schemas: {unseen:?}");
}

/// A line with data, one with an error, and the totals.
fn mapped(outputs: &mut Outputs) {
    let home = Home::new();
    let (_, text) = home.json(&["recipe", "get", "github-repositories", "--json"]);
    let parameter = text["parameters"][0]["name"].as_str().unwrap().to_owned();
    let inputs = home.path().join("in.ndjson");
    write(&inputs, &format!("nothing\n{{\"{parameter}\": 1}}\n"));
    let inputs = inputs.display().to_string();
    let args = ["recipe", "map", "github-repositories", "--draft", "--json", "--inputs", &inputs];
    let args = [&args[..], &["--nameserver", "127.0.0.1:9"]].concat();
    let out = home.run(&args);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(text.lines().count(), 3, "{text}");
    for line in text.lines() {
        outputs.hold("recipe map, each line", &serde_json::from_str(line).unwrap());
    }
    let data = json!({"line": 1, "input": {"query": "lamp"}, "data": [1]});
    outputs.hold("recipe map, each line", &data);
}

fn of_the_daemon(outputs: &mut Outputs) {
    let daemon = Daemon::start(UNLIMITED, &["--testbed"]);
    let (first, second) = (searched(&daemon, "one", "lantern"), searched(&daemon, "two", "hose"));
    for (command, more) in [
        ("session ls", &[][..]),
        ("session show", &[&*first, "--requests"]),
        ("session diff", &[&*first, &*second]),
        ("session audit", &[&*first]),
        ("session purge", &[&*second]),
        ("session record", &["three", "https://shop.test/"]),
        ("browse goto", &["https://shop.test/"]),
        ("browse snapshot", &[]),
        ("browse steps", &[]),
        ("session end", &[]),
        ("browse close", &[]),
    ] {
        outputs.run(&daemon.home, command, more);
    }
}
