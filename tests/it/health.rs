//! Recipes over time: what runs are counted as, when a recipe is put out of service, and how it comes back.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};

use crate::support::{Home, Web, write};

fn levels(extract: &str) -> String {
    format!(
        "version: 1\nname: levels\ntask: Levels of {{river}}\nstatus: draft\nsource_url: http://api.gauges.test/\nparameters:\n  - {{ name: river, type: str, required: true, source: task_input, examples: [thames, severn] }}\nrequest:\n  method: GET\n  url: http://api.gauges.test/v1/levels\n  query: [{{ name: river, value: '{{river}}' }}]\n  allowed_domains: [api.gauges.test]\nresponse: {{ type: json{extract} }}\n"
    )
}

/// The recipe, proven against the web.
fn proven(home: &Home, web: &Web) {
    home.recipe("levels", &levels(", extract: levels"));
    assert_eq!(verify(home, web), 0);
}

fn verify(home: &Home, web: &Web) -> i32 {
    home.json(&["recipe", "verify", "levels", "--json", "--test-host", &web.test_host]).0
}

fn listed(home: &Home) -> Value {
    let (_, all) = home.json(&["recipe", "list", "--json", "--source", "user"]);
    let all = all.as_array().unwrap();
    all.iter().find(|it| it["name"] == "levels").unwrap().clone()
}

/// Exit code, what it printed and what it said.
fn run(home: &Home, web: &Web) -> (i32, Value, String) {
    let at = ["--json", "--test-host", &web.test_host];
    let out = home.run(&[&["recipe", "run", "levels", "-p", "river=avon"], &at[..]].concat());
    let value = serde_json::from_slice(&out.stdout).unwrap();
    (out.status.code().unwrap(), value, String::from_utf8_lossy(&out.stderr).into_owned())
}

fn check(home: &Home, test_host: &str) -> (i32, Value) {
    home.json(&["recipe", "check", "--all", "--json", "--test-host", test_host])
}

fn lose_the_database(home: &Home) {
    for it in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(home.path().join(format!("artifacts/state.db{it}")));
    }
}

#[test]
fn drift_puts_a_recipe_out_of_service_until_it_is_proven_again() {
    let home = Home::new();
    let web = Web::start(&home);
    proven(&home, &web);
    let (code, out, said) = run(&home, &web);
    assert_eq!((code, &out["similarity_bp"]), (0, &json!(10_000)), "{out}");
    assert!(!said.contains("deprecated"), "{said}");
    let before = listed(&home);
    assert_eq!(
        (&before["status"], &before["health"]["ok"], &before["health"]["last_similarity_bp"]),
        (&json!("verified"), &json!(1), &json!(10_000))
    );

    web.control(&home, "gauges/drifted");
    let (code, out, said) = run(&home, &web);
    assert_eq!((code, &out["error_code"]), (1, &json!("SHAPE_DRIFT")), "{out}");
    assert!(said.contains("deprecated from now on") && said.contains("recipe verify levels"));
    let now = listed(&home);
    assert_eq!(
        (&now["status"], &now["demotion"]["reason"]),
        (&json!("deprecated"), &json!("drift"))
    );
    assert_eq!(now["health"]["last_code"], "SHAPE_DRIFT");

    // The file says so: without a database it is refused all the same, and proven only when the site is as it was.
    lose_the_database(&home);
    let (code, out, said) = run(&home, &web);
    assert_eq!((code, &out["error_code"]), (2, &json!("RECIPE_NOT_VERIFIED")), "{out}");
    assert!(out["hint"].as_str().unwrap().contains("recipe verify levels"), "{out} {said}");
    assert_eq!((verify(&home, &web), &listed(&home)["status"]), (1, &json!("deprecated")));
    web.control(&home, "gauges/well");
    assert_eq!(verify(&home, &web), 0);
    let now = listed(&home);
    assert_eq!((&now["status"], &now["demotion"]), (&json!("verified"), &Value::Null));
    assert_eq!(run(&home, &web).0, 0);
}

#[test]
fn five_failures_in_a_row_put_a_recipe_out_of_service() {
    let home = Home::new();
    let web = Web::start(&home);
    proven(&home, &web);
    web.control(&home, "gauges/gone");
    for n in 1..5 {
        assert_eq!(run(&home, &web).1["error_code"], "NOT_FOUND", "{n}");
        let it = listed(&home);
        assert_eq!(
            (&it["status"], &it["health"]["failed_in_a_row"]),
            (&json!("verified"), &json!(n))
        );
    }
    // What the caller gets wrong is no failure of the recipe.
    let wrong = ["recipe", "run", "levels", "--json", "--test-host", &web.test_host];
    assert_eq!(home.json(&wrong).1["error_code"], "PARAM_INVALID");
    assert_eq!(listed(&home)["status"], "verified");
    let (_, _, said) = run(&home, &web);
    assert!(said.contains("it failed five times in a row"), "{said}");
    let it = listed(&home);
    assert_eq!(
        (&it["status"], &it["demotion"]["reason"]),
        (&json!("deprecated"), &json!("failures"))
    );
    let words = home.run(&["recipe", "explain", "levels"]).stdout;
    let words = String::from_utf8_lossy(&words).into_owned();
    assert!(words.contains("put out of service on 20"), "{words}");
    assert!(words.contains("health: 5 runs, 5 failed"), "{words}");
}

#[test]
fn a_check_says_what_works_what_does_not_and_what_nobody_knows() {
    let home = Home::new();
    let web = Web::start(&home);
    proven(&home, &web);
    let (code, out) = check(&home, &web.test_host);
    assert_eq!((code, out.as_array().unwrap().len()), (0, 1), "{out}");
    assert_eq!((&out[0]["verdict"], &out[0]["items"]), (&json!("ok"), &json!(8)), "{out}");

    // Nobody listens there, and the site has trouble: neither says anything about the recipe.
    let (code, out) = check(&home, "*.test=127.0.0.1:9");
    assert_eq!(
        (code, &out[0]["verdict"], &out[0]["blame"]),
        (3, &json!("unknown"), &json!("network"))
    );
    web.control(&home, "gauges/busy");
    let (code, out) = check(&home, &web.test_host);
    assert_eq!(
        (code, &out[0]["verdict"], &out[0]["blame"]),
        (3, &json!("unknown"), &json!("site"))
    );
    assert_eq!(listed(&home)["status"], "verified");

    web.control(&home, "gauges/drifted");
    let (code, out) = check(&home, &web.test_host);
    assert_eq!(
        (code, &out[0]["verdict"], &out[0]["demoted"]),
        (1, &json!("drifted"), &json!("drift"))
    );
    assert_eq!(listed(&home)["status"], "deprecated");
    // Only verified ones are called; one that is asked for by name and is none is not passed over.
    assert_eq!(check(&home, &web.test_host), (0, json!([])));
    web.control(&home, "gauges/well");
    assert_eq!(verify(&home, &web), 0);
    // Verifying sees it, too.
    web.control(&home, "gauges/drifted");
    assert_eq!((verify(&home, &web), &listed(&home)["status"]), (1, &json!("deprecated")));
    let (code, out) = home.json(&["recipe", "check", "levels", "--json"]);
    assert_eq!((code, &out[0]["error_code"]), (1, &json!("RECIPE_NOT_VERIFIED")), "{out}");
    assert_eq!(home.run(&["recipe", "check"]).status.code(), Some(2));
}

#[test]
fn a_run_is_none_the_worse_for_a_database_that_cannot_be_written() {
    let home = Home::new();
    let web = Web::start(&home);
    proven(&home, &web);
    lose_the_database(&home);
    // A folder in its place.
    std::fs::create_dir_all(home.path().join("artifacts/state.db")).unwrap();
    let (code, out, said) = run(&home, &web);
    assert_eq!((code, &out["success"]), (0, &json!(true)));
    assert!(!said.contains("state.db"), "{said}");
    web.control(&home, "gauges/drifted");
    assert_eq!(run(&home, &web).0, 1);
    assert_eq!(listed(&home)["status"], "deprecated");
}

/// What was taken back when its task was learned again may change something: it is not called to find out.
#[test]
fn what_learning_took_back_is_not_proven_again() {
    let home = Home::new();
    let web = Web::start(&home);
    proven(&home, &web);
    let file = home.path().join("recipes/levels.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    home.recipe("levels", &text.replace("status: verified", "status: deprecated"));
    let hits = || web.control(&home, "hits")["api.gauges.test GET /v1/levels"].clone();
    let before = hits();
    assert_eq!(verify(&home, &web), 1);
    assert_eq!(run(&home, &web).0, 2);
    assert_eq!((hits(), &listed(&home)["status"]), (before, &json!("deprecated")));
}

/// Artifacts that are older than a demotion are no reason to run the recipe again.
#[test]
fn a_demoted_recipe_is_not_given_back_by_what_was_learned_before() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe("levels", &levels(""));
    let raw = ["recipe", "run", "levels", "--draft", "--json", "-p", "river=thames"];
    let (_, out) = home.json(&[&raw[..], &["--test-host", &web.test_host]].concat());
    let body = out["data"].to_string();
    home.run(&["recipe", "delete", "levels"]);
    let har = json!({"log": {"creator": {"name": "test"}, "entries": [{
        "startedDateTime": "2026-11-20T10:00:00.000Z", "time": 5, "_resourceType": "fetch",
        "request": {"method": "GET", "url": "http://api.gauges.test/v1/levels?river=thames", "headers": []},
        "response": {"status": 200, "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"mimeType": "application/json", "text": body, "size": body.len()}}
    }]}});
    let path = home.path().join("levels.har");
    write(&path, &har.to_string());
    let task = ["recipe", "learn", "--har", path.to_str().unwrap(), "--name", "levels", "--json"];
    let inputs = ["--task", "Levels of {river}", "-p", "river=thames", "--second", "river=severn"];
    let learn = |with: &[&str]| {
        let at = ["--test-host", &web.test_host];
        home.json(&[&task[..], &inputs, &at, with].concat())
    };
    let (code, out) = learn(&[]);
    assert_eq!((code, &out["outcome"]), (0, &json!("verified")), "{out}");
    web.control(&home, "gauges/drifted");
    assert_eq!(run(&home, &web).0, 1);
    web.control(&home, "gauges/well");
    let (code, out) = learn(&["--resume"]);
    assert_eq!((code, &out["ran"]), (0, &json!([])), "{out}");
    assert!(out["detail"].as_str().unwrap().starts_with("out of service since 20"), "{out}");
    assert_eq!(listed(&home)["status"], "deprecated");
    // A proof that is newer than the demotion is one.
    let at = listed(&home)["demotion"]["at"].as_str().unwrap().to_owned();
    let file = home.path().join("recipes/levels.yaml");
    let text = std::fs::read_to_string(file).unwrap();
    home.recipe("levels", &text.replace(&at, "2020-01-01T00:00:00Z"));
    learn(&["--resume"]);
    assert_eq!(listed(&home)["status"], "verified");
}

#[test]
fn data_and_recipes_come_in_the_form_that_is_asked_for() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe("levels", &levels(", extract: levels"));
    let run = |more: &[&str]| {
        let args = ["recipe", "run", "levels", "--draft", "-p", "river=thames"];
        let out = home.run(&[&args[..], more, &["--test-host", &web.test_host]].concat());
        (out.status.code(), String::from_utf8(out.stdout).unwrap())
    };
    let (_, text) = run(&[]);
    let data: Vec<Value> = serde_json::from_str(&text).unwrap();
    let (code, lines) = run(&["--format", "ndjson"]);
    let lines: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!((code, &lines), (Some(0), &data));
    let (code, rows) = run(&["--format", "csv"]);
    let keys: Vec<&String> = data[0].as_object().unwrap().keys().collect();
    let heading: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    assert_eq!((code, rows.lines().count()), (Some(0), data.len() + 1), "{rows}");
    assert_eq!(keys, heading);
    assert_eq!(run(&["--format", "csv", "--json"]).0, Some(2));

    let (_, got) = home.json(&["recipe", "get", "levels", "--json"]);
    assert_eq!(got["parameters"], listed(&home)["parameters"]);
    assert_eq!(got["parameters"][0]["type"], "str");
    let told = ["recipe", "explain", "levels", "--json", "-p", "river=tees"];
    let (_, told) = home.json(&[&told[..], &["--test-host", &web.test_host]].concat());
    assert_eq!(told["request"]["url"], "http://api.gauges.test/v1/levels?river=tees", "{told}");
    assert!(told["words"].as_array().unwrap().len() > 5, "{told}");
    assert_eq!(told["input_schema"]["required"], json!(["river"]), "{told}");
    assert_eq!(told["output_schema"], json!({}), "nothing is proven: {told}");
    let (code, it) = home.json(&["recipe", "get", "nothing-here", "--json"]);
    assert_eq!((code, &it["error_code"]), (2, &json!("RECIPE_NOT_FOUND")));
}

/// A run that proves less than an earlier one takes nothing away.
#[test]
fn what_was_proven_stays_when_learning_again_proves_less() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe("levels", &levels(""));
    let raw = ["recipe", "run", "levels", "--draft", "--json", "-p", "river=thames"];
    let (_, out) = home.json(&[&raw[..], &["--test-host", &web.test_host]].concat());
    let body = out["data"].to_string();
    home.run(&["recipe", "delete", "levels"]);
    let har = json!({"log": {"creator": {"name": "test"}, "entries": [{
        "startedDateTime": "2026-11-20T10:00:00.000Z", "time": 5, "_resourceType": "fetch",
        "request": {"method": "GET", "url": "http://api.gauges.test/v1/levels?river=thames", "headers": []},
        "response": {"status": 200, "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"mimeType": "application/json", "text": body, "size": body.len()}}
    }]}});
    let path = home.path().join("levels.har");
    write(&path, &har.to_string());
    let task = ["recipe", "learn", "--har", path.to_str().unwrap(), "--name", "levels", "--json"];
    let about = ["--task", "Levels of {river}", "-p", "river=thames"];
    let learn = |second: &[&str]| {
        home.json(&[&task[..], &about, second, &["--test-host", &web.test_host]].concat())
    };
    let (code, out) = learn(&["--second", "river=severn"]);
    assert_eq!((code, &out["outcome"]), (0, &json!("verified")), "{out}");
    let file = std::fs::read_to_string(home.path().join("recipes/levels.yaml")).unwrap();
    let (_, out) = learn(&["--force"]);
    assert_eq!(out["outcome"], "saved_draft", "{out}");
    assert!(out["detail"].as_str().unwrap().contains("stays in service"), "{out}");
    assert_eq!(std::fs::read_to_string(home.path().join("recipes/levels.yaml")).unwrap(), file);
    assert_eq!(listed(&home)["status"], "verified");
}

/// A site of pages that `page` makes of the first line of a request; its port.
fn serve_pages(page: impl Fn(&str) -> String + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.take_while(|it| !it.is_empty()).for_each(drop);
            let page = page(&first);
            let head = format!("content-type: text/html\r\ncontent-length: {}", page.len());
            let _ = stream.write_all(
                format!("HTTP/1.1 200 OK\r\n{head}\r\nconnection: close\r\n\r\n{page}").as_bytes(),
            );
        }
    });
    port
}

/// A site whose pages never say in words that there is nothing. Once it has changed, its list is built in another way.
fn quays(changed: &Arc<AtomicBool>) -> u16 {
    let changed = Arc::clone(changed);
    serve_pages(move |first| {
        let list = match (first.contains("q=thames"), changed.load(Ordering::Relaxed)) {
            (true, false) => "<ul class=quays><li>East</li><li>West</li></ul>",
            (true, true) => "<ol class=other><li>East</li><li>West</li></ol>",
            (false, _) => "<p>Try another river.</p>",
        };
        format!("<!doctype html><title>Quays</title><h1>Quays</h1>{list}")
    })
}

/// A site with a page for each lamp. Number 7 has no price; once the site has changed, a script fills in all prices.
fn lamps(changed: &Arc<AtomicBool>) -> u16 {
    let changed = Arc::clone(changed);
    serve_pages(move |first| {
        let has_price = !first.contains("id=7") && !changed.load(Ordering::Relaxed);
        let price = if has_price { "31.97" } else { "" };
        let row = format!(
            "<td class=name>Lamp</td><td class=kind>brass</td><td class=price>{price}</td>"
        );
        format!("<!doctype html><title>Lamp</title><table class=lamp><tr>{row}</tr></table>")
    })
}

#[test]
fn an_empty_field_of_a_record_is_an_answer_while_the_example_has_text_there() {
    let (home, changed) = (Home::new(), Arc::new(AtomicBool::new(false)));
    let pin = format!("lamps.test=127.0.0.1:{}", lamps(&changed));
    let proof = "{ fingerprint_version: 1, fingerprint_sha256: x, shape: ['.kind:1:text', '.name:1:text', '.price:1:text', 'items:1:text'], verified_at: '2026-01-01T00:00:00Z', transport: public_http, requires_session: false }";
    home.proven(
        "lamp",
        &format!(
            "version: 1\nname: lamp\ntask: 'Show lamp {{id}}'\nstatus: verified\nsource_url: http://lamps.test/\nparameters:\n  - {{ name: id, type: str, required: true, source: task_input, examples: ['8'] }}\nrequest:\n  method: GET\n  url: http://lamps.test/\n  query: [{{ name: id, value: '{{id}}' }}]\n  allowed_domains: [lamps.test]\nresponse: {{ type: html, html: {{ items: 'table.lamp tr', single: true, fields: {{ name: .name, kind: .kind, price: .price }} }} }}\nverification: {proof}\n"
        ),
    );
    let run = || home.json(&["recipe", "run", "lamp", "-p", "id=7", "--json", "--test-host", &pin]);
    for _ in 0..3 {
        let (code, out) = run();
        assert_eq!((code, &out["success"]), (0, &json!(true)), "{out}");
        assert_eq!(out["data"], json!({"name": "Lamp", "kind": "brass", "price": ""}));
        assert_eq!(out["warnings"], json!(["`price` is empty"]));
    }
    let inputs = home.path().join("ids.ndjson");
    write(&inputs, "{\"id\": \"7\"}\n{\"id\": \"8\"}\n");
    let inputs = inputs.to_str().unwrap();
    let map = ["recipe", "map", "lamp", "--ordered", "--inputs", inputs, "--test-host", &pin];
    let out = home.run(&map);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let line = String::from_utf8_lossy(&out.stdout).lines().next().unwrap().to_owned();
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["warnings"], json!(["`price` is empty"]), "{line}");
    changed.store(true, Ordering::Relaxed);
    let (code, out) = run();
    assert_eq!((code, &out["error_code"]), (1, &json!("SHAPE_DRIFT")), "{out}");
    assert_eq!(run().1["error_code"], "RECIPE_NOT_VERIFIED");
}

#[test]
fn pages_without_items_put_nothing_out_of_service_while_the_example_has_some() {
    let (home, changed) = (Home::new(), Arc::new(AtomicBool::new(false)));
    let pin = format!("quays.test=127.0.0.1:{}", quays(&changed));
    let proof = "{ fingerprint_version: 1, fingerprint_sha256: x, verified_at: '2026-01-01T00:00:00Z', transport: public_http, requires_session: false, complete: { shown: 2, given: 2, fields_shown: 1, fields_given: 1 } }";
    home.proven(
        "quays",
        &format!(
            "version: 1\nname: quays\ntask: Quays on {{river}}\nstatus: verified\nsource_url: http://quays.test/\nparameters:\n  - {{ name: river, type: str, required: true, source: task_input, examples: [thames] }}\nrequest:\n  method: GET\n  url: http://quays.test/\n  query: [{{ name: q, value: '{{river}}' }}]\n  allowed_domains: [quays.test]\nresponse: {{ type: html, html: {{ items: 'ul.quays > li', fields: {{ name: '' }} }} }}\nverification: {proof}\n"
        ),
    );
    let args = ["recipe", "run", "quays", "-p", "river=avon", "--json", "--test-host", &pin];
    let hints: Vec<bool> = (0..10)
        .map(|_| {
            let (_, out) = home.json(&args);
            assert_eq!(out["error_code"], "EXTRACT_EMPTY", "{out}");
            out["hint"].as_str().unwrap_or_default().contains("its example still works")
        })
        .collect();
    // The fifth is looked into, and the count begins anew.
    let looked_into: Vec<usize> = (0..10).filter(|at| hints[*at]).collect();
    assert_eq!(looked_into, [4, 9]);
    changed.store(true, Ordering::Relaxed);
    let codes: Vec<Value> = (0..6).map(|_| home.json(&args).1["error_code"].take()).collect();
    let gone = "RECIPE_NOT_VERIFIED";
    assert_eq!(codes[..5], ["EXTRACT_EMPTY"; 5].map(Value::from));
    assert_eq!(codes[5], gone);
}
