//! Threats that no other file is about: the environment's proxies, strangers' text on a terminal, names in the table of
//! SECURITY.md that are not there.

use std::{
    net::TcpListener,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;

use crate::support::{Home, Web, write};

const RECIPE: &str = "version: 1\nname: x\ntask: Look\nstatus: draft\nsource_url: http://x.test/\nrequest:\n  method: GET\n  url: http://x.test/\n  allowed_domains: [x.test]\nresponse: { type: text }\n";

#[test]
fn proxies_of_the_environment_are_ignored() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for _ in proxy.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let home = Home::new();
    let web = Web::start(&home);
    let recipe = RECIPE.replace("http://x.test/\n  allowed", "http://control.test/hits\n  allowed");
    home.recipe("x", &recipe.replace("[x.test]", "[control.test]"));
    let mut command =
        home.command(&["recipe", "run", "x", "--draft", "--json", "--test-host", &web.test_host]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(name, &address).env(name.to_lowercase(), &address);
    }
    let out = command.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("\"success\": true"), "{text}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

/// Colour, a bell, a title, the 8-bit forms, a carriage return that hides a line, what turns a line around or is not seen.
const STRANGE: &str = "\u{1b}[2Jx\u{7}\u{1b}]0;t\u{7}\u{9b}31m\u{85}\u{7f}\r\u{202e}\u{2066}\u{200b}\u{feff}\u{61c}\u{200e}\u{200f}\u{202a}\u{2069}ok";

#[test]
fn nothing_strange_reaches_the_terminal() {
    let home = Home::new();
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let quoted = json!(STRANGE).to_string();
    write(
        Path::new(&at("name.yaml")),
        &format!("version: 1\nrecipes: [{{name: {quoted}, task: t, url: 'http://a.test/'}}]"),
    );
    write(
        Path::new(&at("field.yaml")),
        &format!("version: 1\nrecipes: [{{{quoted}: a, name: a, task: t, url: 'http://a.test/'}}]"),
    );
    write(Path::new(&at("recipe.yaml")), &RECIPE.replace("task: Look", &format!("task: {quoted}")));
    let example = format!(
        "parameters: [{{name: q, type: str, required: true, source: task_input, examples: [{}]}}]\nrequest:",
        json!("a\u{9b}b")
    );
    let stored = RECIPE.replace("task: Look", &format!("task: {quoted}\ncategory: {quoted}"));
    let stored =
        stored.replace("request:", &example).replace("x.test/\n  allowed", "x.test/{q}\n  allowed");
    home.recipe("x", &stored);
    home.recipe("broken", &format!("{quoted}: [a"));
    write(Path::new(&at("key.yaml")), &RECIPE.replace("task:", &format!("{quoted}: a\ntask:")));
    let answer = |n: u32| {
        json!({"hits": [{"title": format!("lantern {n} {STRANGE}"), STRANGE: n}], "n": n})
            .to_string()
    };
    let entry = |path: &str, n: u32| {
        json!({"request": {"method": "GET", "url": format!("http://a.test/{path}?q=lantern&{STRANGE}={STRANGE}"),
               "headers": [{"name": STRANGE, "value": STRANGE}]},
               "response": {"status": 200, "headers": [{"name": "server", "value": STRANGE}],
                            "content": {"mimeType": format!("application/json;{STRANGE}"), "text": answer(n)}}})
    };
    let har = json!({"log": {"creator": {"name": STRANGE, "version": STRANGE},
                             "entries": [entry("api/search", 1), entry(STRANGE, 2), entry("other", 3)]}});
    write(Path::new(&at("strange.har")), &har.to_string());
    let learn = at("strange.har");
    for args in [
        &["recipe", "run", STRANGE] as &[&str],
        &[
            "recipe",
            "run",
            "hn-search",
            "-p",
            &format!("{STRANGE}={STRANGE}"),
            "--draft",
            "--no-network",
        ],
        &["recipe", "debug", "--task-id", STRANGE],
        &["recipe", "learn-batch", "--manifest", &at("name.yaml")],
        &["recipe", "learn-batch", "--manifest", &at("field.yaml")],
        &["recipe", "learn-batch", "--manifest", &at(STRANGE)],
        &["recipe", "validate", &at("recipe.yaml")],
        &["recipe", "validate", &at("key.yaml")],
        &[
            "recipe",
            "learn",
            "--har",
            &learn,
            "--task",
            "Search for {query}",
            "-p",
            "query=lantern",
            "--no-network",
        ],
        &[
            "recipe",
            "learn",
            "--har",
            &learn,
            "--task",
            "Search for {query}",
            "-p",
            "query=lantern",
            "--no-network",
            "--json",
        ],
        &["recipe", "list"],
        &["recipe", "list", "--json"],
        &["recipe", "get", "x"],
        &["recipe", "explain", "x"],
        &["recipe", "run", "x", "--draft"],
        &["recipe", "dry-run", "x", "-p", "q=a", "--test-host", "x.test=127.0.0.1:9"],
        &["recipe", "debug", "--task-id", "strange"],
        &["doctor", "--test-host", STRANGE],
    ] {
        let out = home.run(args);
        for text in [&out.stdout, &out.stderr] {
            let text = String::from_utf8_lossy(text);
            let strange = text.chars().find(|it| {
                it.is_control() && *it != '\n' || STRANGE.contains(*it) && *it > '\u{ff}'
            });
            assert_eq!(strange, None, "{args:?}: {text:?}");
        }
    }
}

#[test]
fn every_test_that_security_md_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let mut sources = String::new();
    let mut folders = vec![root.join("src"), root.join("tests/it")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                sources += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip_while(|it| *it != "## Threats")
        .filter(|it| it.starts_with("| ") && !it.starts_with("| threat"))
        .map(|it| it.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(!rows.is_empty());
    for row in rows {
        let [threat, guard, tests] = row[..] else { panic!("{row:?}") };
        let quoted =
            |it: &str| it.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        for file in quoted(guard) {
            assert!(root.join(&file).exists(), "{threat}: {file}");
        }
        let names = quoted(tests);
        assert!(!names.is_empty(), "{threat} has no test");
        for name in names {
            // As a function, or in a table of a macro that makes one.
            let there = sources.contains(&format!("fn {name}("))
                || sources.contains(&format!("{name}: \""));
            assert!(there, "{threat}: {name}");
        }
    }
}
