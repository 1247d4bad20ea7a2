//! The bench measures what it says and holds it to a baseline. How fast anything is, is no test's business.

use serde_json::{Value, json};

use crate::support::{Home, write};

#[test]
fn every_arm_of_every_scenario_is_measured() {
    let home = Home::new();
    let page = home.path().join("bench.html");
    let (code, out) =
        home.json(&["bench", "--runs", "8", "--json", "--report", page.to_str().unwrap()]);
    assert_eq!(code, 0);
    let scenarios = out["scenarios"].as_array().unwrap();
    let names: Vec<&str> = scenarios.iter().map(|it| it["scenario"].as_str().unwrap()).collect();
    let html = std::fs::read_to_string(page).unwrap();
    for it in scenarios {
        let name = it["scenario"].as_str().unwrap();
        for arm in ["floor", "parse", "run"] {
            for what in ["wall_us", "cpu_us"] {
                let it = &it[what][arm];
                let [p50, p95, p99] = ["p50", "p95", "p99"].map(|at| it[at].as_f64().unwrap());
                assert!(0.0 < p50 && p50 <= p95 && p95 <= p99, "{name} {what} {arm}: {it}");
            }
        }
        // A run may come before the connection of the last one is back in the pool.
        let [runs, reused] = ["runs", "reused_connections"].map(|at| it[at].as_u64().unwrap());
        assert!(2 * reused > runs, "{name}: {reused} of {runs} warm runs found a connection");
        assert!(html.contains(&format!("<b>{name}</b>")), "{name} is not on the page");
    }
    // Each does what it is called.
    let of = |name: &str| &scenarios[names.iter().position(|it| *it == name).unwrap()];
    assert!(of("json-large")["bytes"].as_u64() > of("gzip")["bytes"].as_u64());
    assert!(of("gzip")["bytes"].as_u64() > of("json-small")["bytes"].as_u64());
    assert_eq!(of("concurrent")["at_once"], 32);
    assert!(html.contains("style-src 'sha256-") && !html.contains(" style="));
}

#[test]
fn a_slower_run_fails_and_is_named() {
    let home = Home::new();
    let file = home.path().join("baseline.json");
    let usual = ["bench", "--runs", "8", "--json", "--only", "json-small", "--baseline"];
    let bench = |with: &str| home.json(&[&usual[..], &[file.to_str().unwrap(), with]].concat());
    assert_eq!(bench("--ci").1["error_code"], "USAGE", "there is no baseline yet");
    assert_eq!(bench("--update-baseline").0, 0);

    let mut kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let mut keep = |ratio: f64| {
        for profile in kept["profiles"].as_object_mut().unwrap().values_mut() {
            profile["json-small"] = json!({ "floor": 1000.0, "parse": 1000.0, "cpu": ratio });
        }
        write(&file, &kept.to_string());
    };
    keep(1000.0);
    assert_eq!(bench("--ci").0, 0);
    // A run costs more than a hundredth of what its bytes and one parse of them cost.
    keep(0.01);
    let (code, out) = bench("--ci");
    assert_eq!(code, 1);
    let slower = out["slower"].as_array().unwrap();
    assert_eq!(slower.len(), 1, "{slower:?}");
    assert_eq!(slower[0]["what"], "cpu to floor and parse");
    assert_eq!(slower[0]["scenario"], "json-small");
}

#[test]
fn an_unknown_scenario_is_refused() {
    let out = Home::new().json(&["bench", "--json", "--only", "json-huge"]);
    assert_eq!((out.0, &out.1["error_code"]), (2, &json!("USAGE")));
}

#[test]
fn what_recording_costs_is_measured() {
    let home = Home::new();
    let (code, out) =
        home.json(&["bench", "--recorder", "--only", "light", "--runs", "2", "--json"]);
    if out["error_code"] == "BROWSER_MISSING" {
        return;
    }
    assert_eq!(code, 0, "{out}");
    let page = &out["pages"][0];
    let ms = |at: &Value| at.as_f64().unwrap();
    assert_eq!((&page["page"], &page["turns"]), (&json!("light"), &json!(2)));
    // Its document, two scripts, a style sheet, four shelves; and they are whole.
    assert!(page["exchanges"].as_u64().unwrap() >= 8, "{page}");
    assert!(page["bytes"].as_u64().unwrap() > 4 * 15_000, "{page}");
    // The page's own time is inside the whole turn. How the other times compare is nothing to test: machines are noisy.
    assert!(0.0 < ms(&page["recorded"]["p50"]), "{page}");
    assert!(ms(&page["recorded"]["p50"]) < ms(&page["whole"]["p50"]), "{page}");
    let parts = page["parts"].as_object().unwrap();
    assert_eq!(parts.len(), 6, "{page}");
    assert!(parts.values().all(Value::is_number), "{page}");
    let (code, out) = home.json(&["bench", "--recorder", "--only", "no-such-page", "--json"]);
    assert_eq!((code, &out["error_code"]), (2, &json!("USAGE")));
}

#[test]
fn what_reading_a_har_costs_is_measured() {
    let home = Home::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");
    let (code, out) = home.json(&["bench", "--har", file, "--runs", "2", "--json"]);
    assert_eq!(code, 0, "{out}");
    let it = &out["files"][0];
    let bytes = std::fs::metadata(file).unwrap().len();
    assert_eq!((it["bytes"].as_u64(), it["rounds"].as_u64()), (Some(bytes), Some(2)));
    for (arm, what) in [("parse", "cpu"), ("read", "cpu"), ("parse", "wall"), ("read", "wall")] {
        assert!(it[arm][what].as_f64().unwrap() > 0.0, "{it}");
    }
    // It holds the parse, and more.
    assert!(it["to_parse"]["cpu"].as_f64().unwrap() > 1.0, "{it}");
    let (code, out) = home.json(&["bench", "--har", "absent.har", "--json"]);
    assert_eq!((code, &out["error_code"]), (2, &json!("USAGE")));
}

#[test]
fn cost_of_the_daemon() {
    let (code, out) = Home::new().json(&["bench", "--daemon", "--runs", "4", "--json"]);
    assert_eq!(code, 0, "{out}");
    assert_eq!(out["many_failed"], 0, "{out}");
    for arm in ["inside", "rest", "mcp"] {
        assert!(out[arm]["p50"].as_f64().unwrap() > 0.0, "{arm} {out}");
    }
    assert!(out["idle_rss_kib"].as_u64().unwrap() > 0, "{out}");
}
