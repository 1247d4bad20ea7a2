//! `recipe map`: a recipe over many inputs, and `recipe check` of many recipes.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use crate::support::{Home, Web, wait_until, write};

const LEVELS: &str = "version: 1\nname: levels\ntask: Levels of {river}\nstatus: draft\nsource_url: http://api.gauges.test/\nparameters:\n  - { name: river, type: str, required: true, source: task_input, examples: [thames, severn] }\nrequest:\n  method: GET\n  url: http://api.gauges.test/v1/levels\n  query: [{ name: river, value: '{river}' }]\n  allowed_domains: [api.gauges.test]\nresponse: { type: json, extract: levels }\n";

/// Answers after so many milliseconds.
const SLOW: &str = "version: 1\nname: slow\ntask: Wait {ms}\nstatus: draft\nsource_url: http://endless.test/\nparameters:\n  - { name: ms, type: int, required: true, source: task_input, examples: ['1', '2'] }\nrequest:\n  method: GET\n  url: http://endless.test/slow\n  query: [{ name: ms, value: '{ms}' }]\n  allowed_domains: [endless.test]\nresponse: { type: json }\n";

struct MapSetup {
    home: Home,
    web: Web,
}

impl MapSetup {
    fn new() -> Self {
        let home = Home::new();
        let web = Web::start(&home);
        home.recipe("levels", LEVELS);
        home.recipe("slow", SLOW);
        Self { home, web }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn inputs(&self, text: &str) -> String {
        let path = self.at("in.ndjson");
        write(&path, text);
        path.display().to_string()
    }

    fn out(&self) -> String {
        self.at("out.ndjson").display().to_string()
    }

    fn map(&self, args: &[&str]) -> Output {
        let at = ["--test-host", &self.web.test_host];
        self.home.run(&[&["recipe", "map"], args, &at[..]].concat())
    }

    fn verify(&self) {
        let at = ["--test-host", &self.web.test_host];
        let out = self.home.run(&[&["recipe", "verify", "levels"], &at[..]].concat());
        assert_eq!(out.status.code(), Some(0), "{}", stderr_text(&out));
    }

    fn status(&self) -> Value {
        let (_, all) = self.home.json(&["recipe", "list", "--json", "--source", "user"]);
        let all = all.as_array().unwrap().clone();
        all.into_iter().find(|it| it["name"] == "levels").unwrap()
    }

    /// How often the web was asked that.
    fn hits(&self, of: &str) -> u64 {
        self.web.control(&Home::new(), "hits")[of].as_u64().unwrap_or(0)
    }
}

fn stderr_text(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .map(|it| serde_json::from_str(it).unwrap_or_else(|err| panic!("{err}: {it}")))
        .collect()
}

fn numbers(all: &[Value]) -> Vec<u64> {
    all.iter().filter_map(|it| it["line"].as_u64()).collect()
}

#[test]
fn each_line_has_its_result_and_a_bad_one_touches_no_other() {
    let place = MapSetup::new();
    let inputs = place.inputs(
        "{\"river\": \"avon\"}\n\nnothing\n{\"lake\": \"x\"}\n{\"river\": \"dry\"}\n{\"river\": [1]}\n{\"river\": 7}\n",
    );
    // Only what is known to read.
    let out = place.map(&["levels", "--inputs", &inputs]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{}", stderr_text(&out));
    assert!(stderr_text(&out).contains("RECIPE_NOT_VERIFIED"));
    place.home.recipe("levels", &LEVELS.replace("GET", "POST"));
    let out = place.map(&["levels", "--draft", "--inputs", &inputs]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr_text(&out));
    assert!(stderr_text(&out).contains("may change something"), "{}", stderr_text(&out));
    place.home.recipe("levels", LEVELS);

    place.verify();
    let out = place.map(&["levels", "--ordered", "--json", "--inputs", &inputs]);
    let all = lines(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{}", stderr_text(&out));
    assert_eq!(numbers(&all), [1, 3, 4, 5, 6, 7]);
    let codes: Vec<&Value> = all.iter().map(|it| &it["error"]["code"]).collect();
    let bad = json!("PARAM_INVALID");
    let none = &Value::Null;
    assert_eq!(codes, [none, &bad, &bad, &json!("NOT_FOUND"), &bad, none, none]);
    assert_eq!(all[0]["input"], json!({"river": "avon"}));
    assert_eq!(all[0]["data"].as_array().unwrap().len(), 8);
    assert_eq!((&all[0]["error"], &all[3]["data"]), (none, none));
    assert_eq!((&all[1]["input"], &all[3]["error"]["retryable"]), (none, &json!(false)));
    let last = &all[6];
    assert_eq!(
        (&last["event"], &last["ok"], &last["failed"], &last["errors"]["PARAM_INVALID"]),
        (&json!("map_finished"), &json!(2), &json!(4), &json!(3)),
        "{last}"
    );
    assert!(
        stderr_text(&out).contains("2 ok, 4 failed (PARAM_INVALID 3, NOT_FOUND 1)"),
        "{}",
        stderr_text(&out)
    );

    // What comes in, in the order in which they end.
    let mut child = place
        .home
        .command(&[
            "recipe",
            "map",
            "slow",
            "--draft",
            "--inputs",
            "-",
            "--test-host",
            &place.web.test_host,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"ms\": 1500}\n{\"ms\": 0}\n").unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), numbers(&lines(&out.stdout))), (Some(0), vec![2, 1]));

    // A pipe that nobody reads ends it, long before the inputs do.
    let inputs = place.inputs(&"{\"ms\": 5}\n".repeat(20_000));
    let mut child = place
        .home
        .command(&[
            "recipe",
            "map",
            "slow",
            "--draft",
            "--inputs",
            &inputs,
            "--test-host",
            &place.web.test_host,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.wait().unwrap();
    assert!(place.hits("endless.test GET /slow") < 2_000);
}

#[test]
fn what_seems_a_secret_is_sent_and_not_written_down() {
    let place = MapSetup::new();
    let recipe = LEVELS
        .replace("river", "password")
        .replace("{ name: password, value", "{ name: river, value");
    place.home.recipe("levels", &recipe);
    let inputs = place.inputs("{\"password\": \"hunter2-thames\"}\n");
    let out = place.map(&["levels", "--draft", "--inputs", &inputs, "--out", &place.out()]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr_text(&out));
    let all = lines(&std::fs::read(place.out()).unwrap());
    assert_eq!(all[0]["input"], json!({"password": "[REDACTED:password]"}));
    assert_eq!(all[0]["data"].as_array().unwrap().len(), 8);
}

#[test]
fn it_goes_on_where_it_stopped_and_runs_nothing_twice() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = MapSetup::new();
    let inputs: Vec<String> = (50..110).map(|ms| format!("{{\"ms\": {ms}}}\n")).collect();
    let text = inputs.concat();
    let inputs = place.inputs(&text);
    let out = place.out();
    let args = ["slow", "--draft", "--inputs", &inputs, "--out", &out];
    let begin = |more: &[&str]| {
        let at = ["--test-host", &place.web.test_host];
        let args = [&["recipe", "map"], &args[..], more, &at[..]].concat();
        place.home.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let done = || std::fs::read_to_string(&out).map_or(0, |it| it.lines().count());
    let until = |n: usize| wait_until("line of results", || done() >= n);

    // Killed, with half a line at the end.
    let mut child = begin(&[]);
    until(5);
    child.kill().unwrap();
    child.wait().unwrap();
    let mode = std::fs::metadata(&out).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let whole = std::fs::read(&out).unwrap();
    let before = lines(&whole).len();
    assert!((5..60).contains(&before), "{before}");
    std::fs::OpenOptions::new()
        .append(true)
        .open(&out)
        .unwrap()
        .write_all(b"{\"line\":6,\"inp")
        .unwrap();
    let refused = place.map(&args);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr_text(&refused));
    assert!(stderr_text(&refused).contains("--resume"));

    // Interrupted: what was begun ends, and two do not write to one file.
    let child = begin(&["--resume", "--jobs", "2"]);
    until(before + 5);
    let other = place.map(&[&args[..], &["--resume"]].concat());
    assert!(stderr_text(&other).contains("another process writes"), "{}", stderr_text(&other));
    let pid = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", stderr_text(&ended));
    assert!(
        stderr_text(&ended).contains("cut short")
            && stderr_text(&ended).contains("--resume goes on"),
        "{}",
        stderr_text(&ended)
    );
    let after = std::fs::read(&out).unwrap();
    assert!(after.starts_with(&whole) && after.ends_with(b"\n"));

    let asked = place.hits("endless.test GET /slow");
    let left = 60 - lines(&after).len();
    let last = place.map(&[&args[..], &["--resume", "--json"]].concat());
    assert_eq!(last.status.code(), Some(0), "{}", stderr_text(&last));
    assert_eq!(place.hits("endless.test GET /slow") - asked, left as u64);
    let mut all = numbers(&lines(&std::fs::read(&out).unwrap()));
    all.sort_unstable();
    assert_eq!(all, (1..=60).collect::<Vec<u64>>());
    let totals = &lines(&last.stdout)[0];
    assert_eq!(
        (&totals["lines"], &totals["before"]),
        (&json!(left), &json!(60 - left)),
        "{totals}"
    );

    // Nothing is left; other inputs are refused, and so is a file of something else.
    let again = place.map(&[&args[..], &["--resume"]].concat());
    assert_eq!(again.status.code(), Some(0));
    place.inputs(&text.replace("\"ms\": 51}", "\"ms\": 52}"));
    let other = place.map(&[&args[..], &["--resume"]].concat());
    assert_eq!(other.status.code(), Some(2), "{}", stderr_text(&other));
    assert!(
        stderr_text(&other).contains("line 2 of the inputs differs"),
        "{}",
        stderr_text(&other)
    );
    write(&place.at("out.ndjson"), "a note\n");
    let foreign = place.map(&[&args[..], &["--resume"]].concat());
    assert!(stderr_text(&foreign).contains("ARTIFACT_CORRUPT"), "{}", stderr_text(&foreign));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "a note\n");
}

#[test]
fn what_may_pass_is_run_again_when_asked_for() {
    let place = MapSetup::new();
    place.verify();
    let inputs =
        place.inputs("{\"river\": \"avon\"}\n{\"river\": \"dry\"}\n{\"river\": \"wye\"}\n");
    let out = place.out();
    let args = ["levels", "--inputs", &inputs, "--out", &out];
    place.web.control(&place.home, "gauges/busy");
    let it = place.map(&args);
    assert_eq!(it.status.code(), Some(1), "{}", stderr_text(&it));
    let failed = |all: &[Value]| all.iter().filter(|it| it["error"]["retryable"] == true).count();
    assert_eq!(failed(&lines(&std::fs::read(&out).unwrap())), 2);
    place.web.control(&place.home, "gauges/well");
    let it = place.map(&[&args[..], &["--resume", "--retry-failed"]].concat());
    // The river of which nothing is known stays so.
    assert_eq!(it.status.code(), Some(1), "{}", stderr_text(&it));
    let all = lines(&std::fs::read(&out).unwrap());
    let mut there = numbers(&all);
    there.sort_unstable();
    assert_eq!((there, failed(&all)), (vec![1, 2, 3], 0));
}

#[test]
fn odd_inputs_put_no_recipe_out_of_service_and_a_site_that_changed_does() {
    let place = MapSetup::new();
    place.verify();
    let odd = "{\"river\": \"tidal\"}\n{\"river\": \"dry\"}\n".repeat(10);
    let inputs = place.inputs(&format!("{odd}{{\"river\": \"avon\"}}\n"));
    let out = place.map(&["levels", "--ordered", "--inputs", &inputs]);
    let all = lines(&out.stdout);
    assert_eq!((out.status.code(), all.len()), (Some(1), 21), "{}", stderr_text(&out));
    assert_eq!(
        (&all[0]["error"]["code"], &all[20]["error"]),
        (&json!("SHAPE_DRIFT"), &Value::Null)
    );
    assert_eq!(place.status()["status"], "verified");

    place.web.control(&place.home, "gauges/drifted");
    let inputs = place.inputs(&"{\"river\": \"avon\"}\n".repeat(200));
    let out = place.map(&["levels", "--inputs", &inputs, "--out", &place.out()]);
    assert_eq!(out.status.code(), Some(1), "{}", stderr_text(&out));
    assert!(stderr_text(&out).contains("deprecated from now on"), "{}", stderr_text(&out));
    assert_eq!(place.status()["status"], "deprecated");
    let done = lines(&std::fs::read(place.out()).unwrap()).len();
    assert!((1..100).contains(&done), "{done}");
    // Proven again, it goes on with what was not run.
    place.web.control(&place.home, "gauges/well");
    place.verify();
    let out = place.map(&["levels", "--inputs", &inputs, "--out", &place.out(), "--resume"]);
    assert_eq!(lines(&std::fs::read(place.out()).unwrap()).len(), 200, "{}", stderr_text(&out));
}

#[test]
fn where_nobody_answers_it_stops() {
    let place = MapSetup::new();
    let inputs = place.inputs(&"{\"ms\": 0}\n".repeat(300));
    let args = [
        "recipe",
        "map",
        "slow",
        "--draft",
        "--jobs",
        "64",
        "--inputs",
        &inputs,
        "--out",
        &place.out(),
    ];
    let out = place.home.run(&[&args[..], &["--test-host", "*.test=127.0.0.1:9"]].concat());
    assert_eq!(out.status.code(), Some(1), "{}", stderr_text(&out));
    assert!(stderr_text(&out).contains("the last 50 lines failed"), "{}", stderr_text(&out));
    assert!(lines(&std::fs::read(place.out()).unwrap()).len() < 200);
}

#[test]
fn limits_of_a_host_are_waited_for_by_all_processes() {
    let place = MapSetup::new();
    write(&place.at("config.toml"), "[limits]\ntest_hosts = true\nper_minute = 120\nburst = 1\n");
    let inputs = place.inputs(&"{\"ms\": 0}\n".repeat(4));
    let args = ["recipe", "map", "slow", "--draft", "--jobs", "50", "--inputs", &inputs];
    let begun = std::time::Instant::now();
    let all: Vec<_> = (0..2)
        .map(|_| {
            let args = [&args[..], &["--test-host", &place.web.test_host]].concat();
            place.home.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in all {
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", stderr_text(&out));
        assert!(stderr_text(&out).contains("2 at a time to endless.test"), "{}", stderr_text(&out));
        assert_eq!(lines(&out.stdout).len(), 4);
    }
    // Eight calls, each half a second after another.
    assert!(begun.elapsed() >= std::time::Duration::from_millis(3_400), "{:?}", begun.elapsed());
}

#[test]
fn many_recipes_are_checked_host_by_host_in_parts_and_go_on() {
    let place = MapSetup::new();
    for i in 0..40 {
        // Eight hosts under one domain that answers whatever it is asked.
        let (name, host) = (format!("many-{i}"), format!("h{}.load.test", i % 8));
        let draft = format!(
            "version: 1\nname: {name}\ntask: Get it\nstatus: draft\nsource_url: http://{host}/\nparameters:\n  - {{ name: q, type: str, required: true, source: task_input, examples: [a, b] }}\nrequest:\n  method: GET\n  url: http://{host}/small.json\n  query: [{{ name: q, value: '{{q}}' }}]\n  allowed_domains: [{host}]\nresponse: {{ type: json }}\n"
        );
        let verified = draft.replace("status: draft", "status: verified")
            + "verification: { fingerprint_version: 1, fingerprint_sha256: x, verified_at: '2026-01-01T00:00:00Z', transport: public_http, requires_session: false }\n";
        place.home.proven(&name, &verified);
    }
    let at = ["--json", "--test-host", &place.web.test_host];
    let check = |more: &[&str]| {
        let (code, rows) =
            place.home.json(&[&["recipe", "check", "--all"], more, &at[..]].concat());
        assert_eq!(code, 0, "{rows}");
        let rows = rows.as_array().unwrap().clone();
        let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
        rows.iter().map(name).collect::<Vec<_>>()
    };
    let parts: Vec<Vec<String>> =
        ["1/3", "2/3", "3/3"].iter().map(|it| check(&["--shard", it, "--jobs", "8"])).collect();
    assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 40);
    for it in &parts {
        // All of a host or none: five each.
        assert_eq!(it.len() % 5, 0, "{parts:?}");
    }
    assert!(check(&["--unchecked-for", "1"]).is_empty());
    assert_eq!(check(&[]).len(), 40);

    // A host that does not answer is not asked by each of its recipes.
    let rows = place.home.json(&[
        "recipe",
        "check",
        "--all",
        "--json",
        "--jobs",
        "8",
        "--test-host",
        "*.test=127.0.0.1:9",
    ]);
    assert_eq!(rows.0, 3);
    for i in 40..48 {
        place.home.proven(
            &format!("many-{i}"),
            &std::fs::read_to_string(place.at("recipes/many-0.yaml"))
                .unwrap()
                .replace("many-0", &format!("many-{i}")),
        );
    }
    let args = [
        "recipe",
        "check",
        "--all",
        "--json",
        "--shard",
        "1/1",
        "--test-host",
        "*.test=127.0.0.1:9",
    ];
    let (_, rows) = place.home.json(&args);
    let skipped = rows
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["error"].as_str().unwrap().contains("not asked"))
        .count();
    assert_eq!(skipped, 13 - 5, "{rows}");
}
