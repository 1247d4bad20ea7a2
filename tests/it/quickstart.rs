//! The main job in real Chromium: learn the quickstart batch, survive `kill -9`, resume, serve without a browser.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::Stdio,
};

use serde_json::{Value, json};

use crate::daemon::{Daemon, UNLIMITED};
use crate::support::{Home, Web, has_chromium, write};

const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/quickstart.yaml");

/// Task, outcome, reason, and the right endpoint: what the testbed is known to do.
const EXPECTED: &[(&str, &str, &str, &str)] = &[
    ("shop-search", "verified", "", "GET https://shop.test/api/search"),
    ("city-forecast", "verified", "", "GET https://city.test/api/weather/v2/{city}/forecast"),
    ("library-books", "verified", "", "GET https://library.test/v1/books"),
    ("docs-search", "verified", "", "POST https://abc123-dsn.searchkit.test/1/indexes/docs/query"),
    ("code-repositories", "verified", "", "POST https://code.test/graphql"),
    ("jobs-search", "verified", "", "POST https://jobs.test/search"),
    ("news-search", "verified", "", "GET http://news.test/search"),
    ("recipes-find", "verified", "", "GET https://recipes.test/find"),
    ("forum-threads", "verified", "", "GET https://forum.test/api/threads"),
    ("tickets-search", "verified", "", "POST https://tickets.test/api/tickets/search"),
    ("stats-population", "verified", "", "GET https://stats.test/data/series"),
    ("flights-offers", "verified", "", "GET http://flights.test/api/offers"),
    ("archive-records", "verified", "", "GET https://archive.test/api/records"),
    ("store-order", "non_recipeable", "mutation", ""),
    ("members-search", "non_recipeable", "needs_login", ""),
    ("frames-quotes", "verified", "", "GET https://widget.framehost.test/api/quotes"),
    ("worker-stars", "verified", "", "GET http://worker.test/api/stars"),
    ("nothing-filter", "non_recipeable", "no_data_request", ""),
];

#[test]
fn learns_survives_a_kill_and_serves() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let batch =
        ["recipe", "learn-batch", "--manifest", MANIFEST, "--test-host", &web.test_host, "--json"];

    let finished = kill_after(&home, &batch, 3);
    let before: BTreeMap<String, _> =
        finished.iter().map(|it| (it.clone(), home.artifacts(it))).collect();
    assert!(before.len() >= 3);

    let recordings = recordings(&home);

    // Begun work is not started over by accident.
    assert_eq!(home.run(&batch).status.code(), Some(2));

    let (code, report) = home.batch(&[&batch[..], &["--resume"]].concat());
    assert_eq!(code, 0, "{report}");
    let entries = report["entries"].as_array().unwrap();
    assert_eq!(entries.len(), EXPECTED.len());
    for (entry, (name, outcome, reason, endpoint)) in entries.iter().zip(EXPECTED) {
        assert_eq!(
            (entry["name"].as_str(), entry["outcome"].as_str()),
            (Some(*name), Some(*outcome)),
            "{entry}"
        );
        assert_eq!(entry["reason"].as_str().unwrap_or(""), *reason, "{entry}");
        assert_eq!(entry["live_values_lost"], false, "{entry}");
        let recipe = home.path().join(format!("recipes/{name}.yaml"));
        assert_eq!(
            recipe.exists(),
            !endpoint.is_empty(),
            "{name}: a recipe is saved only for what can be learned"
        );
        if !endpoint.is_empty() {
            let yaml = std::fs::read_to_string(recipe).unwrap();
            let (method, url) = endpoint.split_once(' ').unwrap();
            assert!(
                yaml.contains(&format!("method: {method}\n")) && yaml.contains(url),
                "{name}:\n{yaml}"
            );
        }
    }
    for (task, files) in &before {
        assert_eq!(home.artifacts(task), *files, "{task}: finished work is kept, byte for byte");
    }
    for (path, bytes) in &recordings {
        assert!(
            std::fs::read(path).unwrap() == *bytes,
            "{}: a finished recording is not made again",
            path.display()
        );
    }
    // Browsers and our client agree on HTTP/2 where there is TLS; four sites are asked without.
    let protocols = web.control(&home, "protocols");
    println!("{protocols}");
    assert!(protocols["h2"].as_u64() > protocols["http/1.1"].as_u64(), "{protocols}");
    assert!(protocols["http/1.1"].as_u64() > Some(0), "{protocols}");
    // The recording ordered something, once; nothing else did.
    assert_eq!(web.control(&home, "orders")["orders"], 1);

    one_weight_reruns_rank_only(&home, &batch);
    serves_without_a_browser(&home, &web);
    answers_agents_as_it_declares(home, &web);
}

/// Every verified recipe, called as an agent calls it, on each of its examples: the answer fits the schema that its tool declares.
fn answers_agents_as_it_declares(home: Home, web: &Web) {
    write(&home.path().join("config.toml"), UNLIMITED);
    let daemon = Daemon::start_in(home, &["--test-host", &web.test_host]);
    let call = |method: &str, name: Option<&str>, params: Value| -> Value {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (host, token) =
            (format!("127.0.0.1:{}", daemon.port), format!("Bearer {}", daemon.token));
        let mut headers = vec![
            ("Host", host.as_str()),
            ("Authorization", token.as_str()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        headers.extend(name.map(|it| ("Mcp-Name", it)));
        let answer = daemon.ask("POST", "/mcp?tools=recipes", &headers, &body.to_string());
        let out = answer.json();
        assert!(out["result"].is_object(), "{method} {name:?}: {answer:?}");
        out["result"].clone()
    };
    let listed = call("tools/list", None, json!({}));
    let (mut tools, mut answers) = (0, 0);
    for (name, _, _, endpoint) in EXPECTED.iter().filter(|it| !it.3.is_empty()) {
        let tool = format!("recipe_{name}");
        let all = listed["tools"].as_array().unwrap();
        let it = all.iter().find(|it| it["name"] == tool.as_str());
        let it = it.unwrap_or_else(|| panic!("{tool} is not listed, of {endpoint}"));
        let schema = jsonschema::draft202012::new(&it["outputSchema"]).unwrap();
        let (_, told) = daemon.api("GET", &format!("/api/recipes/{name}"), &Value::Null);
        let whole = jsonschema::draft202012::new(&told["data"]["output_schema"]).unwrap();
        let recipe =
            std::fs::read_to_string(daemon.home.path().join(format!("recipes/{name}.yaml")));
        let recipe: Value = serde_saphyr::from_str(&recipe.unwrap()).unwrap();
        let parameters = recipe["parameters"].as_array().cloned().unwrap_or_default();
        tools += 1;
        for n in 0..2 {
            let args: Value = parameters
                .iter()
                .filter_map(|it| {
                    let value = it["examples"].get(n)?.clone();
                    Some((it["name"].as_str()?.to_owned(), value))
                })
                .collect::<serde_json::Map<_, _>>()
                .into();
            let said = call("tools/call", Some(&tool), json!({"name": tool, "arguments": args}));
            let answer = &said["structuredContent"];
            assert_eq!(answer["ok"], true, "{tool} {args}: {said}");
            assert!(schema.is_valid(answer), "{tool} {args}: {answer}\n{}", it["outputSchema"]);
            assert!(whole.is_valid(&answer["data"]), "{tool} {args}: {answer}");
            answers += 1;
        }
    }
    assert_eq!((tools, answers), (15, 30));
}

/// Kills the batch with SIGKILL once `n` tasks have ended; returns the ids of those that had.
fn kill_after(home: &Home, batch: &[&str], n: usize) -> Vec<String> {
    let mut child =
        home.command(batch).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut ended = Vec::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some((name, _)) = line.split_once(": ")
            && ["verified", "non_recipeable", "needs_selection", "saved_draft"]
                .iter()
                .any(|it| line.contains(it))
        {
            ended.push(name.to_owned());
        }
        if ended.len() == n {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let ids: Vec<String> = std::fs::read_dir(home.path().join("artifacts"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    let of = |name: &String| {
        ids.iter().find(|it| it.rsplit_once('-').is_some_and(|it| it.0 == name)).unwrap().clone()
    };
    ended.iter().map(of).collect()
}

/// Every recording that was on disk when the batch was killed, finished tasks or not.
fn recordings(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    let tasks =
        std::fs::read_dir(home.path().join("artifacts")).unwrap().map(|it| it.unwrap().path());
    tasks
        .flat_map(|task| {
            ["01_session_recording.json", "01b_session_recording.json"].map(|it| task.join(it))
        })
        .filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?)))
        .collect()
}

fn one_weight_reruns_rank_only(home: &Home, batch: &[&str]) {
    write(&home.path().join("config.toml"), "[ranking.weights]\nvisible_on_page = 2299\n");
    let (_, state) = home.json(&["recipe", "debug", "--task-id", "shop-search", "--json"]);
    let stage = |name: &str| {
        let all = state["stages"].as_array().unwrap();
        all.iter().find(|it| it["stage"] == name).unwrap()["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(stage("record"), "fresh");
    assert!(stage("rank").contains("settings changed"), "{}", stage("rank"));

    let (code, report) = home.batch(&[batch, &["--resume"]].concat());
    assert_eq!(code, 0, "{report}");
    for entry in report["entries"].as_array().unwrap() {
        for stage in entry["ran"].as_array().unwrap() {
            assert!(
                ["rank", "summarize", "consult", "analyze"].contains(&stage.as_str().unwrap()),
                "{entry}"
            );
        }
        assert_eq!(entry["ran"][0], "rank", "{entry}");
    }
    // And then nothing at all.
    let (_, report) = home.batch(&[batch, &["--resume"]].concat());
    let idle = report["entries"]
        .as_array()
        .unwrap()
        .iter()
        .all(|it| it["ran"].as_array().unwrap().is_empty());
    assert!(idle, "{report}");
}

fn serves_without_a_browser(home: &Home, web: &Web) {
    let ran = |args: &[&str]| {
        let (code, out) = home
            .json(&[&["recipe", "run"], args, &["--json", "--test-host", &web.test_host]].concat());
        assert_eq!((code, &out["success"]), (0, &Value::Bool(true)), "{args:?}: {out}");
        assert!(out["items"].as_u64().unwrap() > 0, "{out}");
        out
    };
    let out = ran(&["shop-search", "-p", "query=umbrella"]);
    assert_eq!(out["transport_used"], "public_http");
    for phase in ["validate", "dns", "connect", "ttfb", "download", "extract", "total"] {
        assert!(out["timings_ms"][phase].is_number(), "{out}");
    }
    assert_ne!(out["data"], ran(&["shop-search", "-p", "query=teapot"])["data"]);
    // The key is fetched from the page it was found on; no recipe holds it.
    ran(&["docs-search", "-p", "query=plugins"]);
    ran(&["news-search", "-p", "query=harbour"]);
    ran(&["recipes-find", "-p", "ingredient=leek"]);
    // A session: the page is opened, and our client asks with its cookies.
    let out = ran(&["forum-threads", "-p", "query=gearbox"]);
    assert_eq!(out["transport_used"], "context_request");
    // A site that wants to be asked by its page: the token is read from it, the request is sent in it.
    let out = ran(&["tickets-search", "-p", "text=heating"]);
    assert_eq!(out["transport_used"], "in_page_fetch");
}
