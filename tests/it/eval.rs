//! Learning measured offline: the corpus as it stands, and that an eval notices what nobody meant to change.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Home, write};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");

/// Runs `eval` on a corpus; exit code, its JSON, and what it said on stderr.
fn eval(home: &Home, corpus: &Path, with: &[&str]) -> (i32, Value, String) {
    let usual = ["eval", "--corpus", corpus.to_str().unwrap(), "--no-network", "--json"];
    let out = home.run(&[&usual[..], with].concat());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let value = serde_json::from_slice(&out.stdout).unwrap_or_else(|err| panic!("{err}: {said}"));
    (out.status.code().unwrap(), value, said)
}

/// A corpus of some of the cases, with a baseline of its own.
fn some(home: &Home, names: &[&str]) -> PathBuf {
    let corpus = home.path().join("corpus");
    for name in names {
        let (from, to) = (Path::new(CORPUS).join(name), corpus.join(name));
        std::fs::create_dir_all(&to).unwrap();
        for file in std::fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    assert_eq!(eval(home, &corpus, &["--update-baseline"]).0, 0);
    assert_eq!(eval(home, &corpus, &["--ci"]).0, 0);
    corpus
}

/// The differences that are one case's or one stage's.
fn stages(out: &Value) -> Vec<&str> {
    out["differences"].as_array().unwrap().iter().filter_map(|it| it["stage"].as_str()).collect()
}

#[test]
fn the_corpus_is_as_in_its_baseline() {
    let home = Home::new();
    let args = ["eval", "--corpus", CORPUS, "--no-network", "--ci", "--json"];
    let first = home.run(&args);
    let said = String::from_utf8_lossy(&first.stderr);
    assert_eq!(first.status.code(), Some(0), "{said}");
    let out: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(out["differences"], json!([]));
    assert_eq!(out["model_calls"], 0);
    assert!(out["tallies"]["(all)"]["right"].as_u64().unwrap() > 0);
    // The same bytes again, also on one core.
    let again = home.command(&args).env("RAYON_NUM_THREADS", "1").output().unwrap();
    assert_eq!(first.stdout, again.stdout);
}

#[test]
fn a_corpus_gone_through_twice_answers_the_same_twice() {
    let home = Home::new();
    let corpus = some(&home, &["shop-search", "flights-offers"]);
    let (code, once, _) = eval(&home, &corpus, &["--ci"]);
    assert_eq!(code, 0);
    let (code, twice, _) = eval(&home, &corpus, &["--ci", "--repeat", "2"]);
    assert_eq!((code, &twice["differences"]), (0, &json!([])));
    let mut expected = once["cases"].as_array().unwrap().clone();
    for it in once["cases"].as_array().unwrap() {
        let mut it = it.clone();
        it["id"] = json!(format!("{}#2", it["id"].as_str().unwrap()));
        expected.push(it);
    }
    assert_eq!(twice["cases"], json!(expected));
    // Each time counts, and is held to the baseline.
    write(&home.path().join("config.toml"), "[ranking.weights]\ntyped_in_request = -4000\n");
    let (code, twice, _) = eval(&home, &corpus, &["--ci", "--repeat", "2"]);
    assert_eq!(code, 1);
    let differs: Vec<&str> = twice["differences"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["stage"] == "rank")
        .filter_map(|it| it["case"].as_str())
        .collect();
    for case in ["shop-search", "shop-search#2"] {
        assert!(differs.contains(&case), "{differs:?}");
    }
}

#[test]
fn a_spoiled_weight_is_noticed() {
    let home = Home::new();
    let corpus = some(&home, &["shop-search", "flights-offers"]);
    write(&home.path().join("config.toml"), "[ranking.weights]\ntyped_in_request = -4000\n");
    let (code, out, _) = eval(&home, &corpus, &["--ci"]);
    assert_eq!(code, 1);
    assert!(stages(&out).contains(&"rank"), "{}", out["differences"]);
    // Other settings are another question: no version is forgotten.
    assert_eq!(out["forgotten"], json!([]));
}

#[test]
fn a_forgotten_version_is_noticed_and_not_accepted() {
    let home = Home::new();
    let corpus = some(&home, &["shop-search"]);
    // As if rank had answered differently when the baseline was written, under the same version.
    let file = corpus.join("baseline.json");
    let mut baseline: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let rank = &mut baseline["cases"]["shop-search"]["stages"]["rank"];
    rank["payload_sha256"] = json!("0".repeat(64));
    let version = rank["version"].clone();
    let doctored = baseline.to_string();
    write(&file, &doctored);
    let reminder = format!("stage rank answers differently but is still version {version}");
    for flag in ["--ci", "--update-baseline"] {
        let (code, out, said) = eval(&home, &corpus, &[flag]);
        assert_eq!(code, 1, "{flag}");
        assert!(said.contains(&reminder), "{flag}: {said}");
        assert_eq!(stages(&out), ["rank"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), doctored, "{flag}");
    }
    // With another version it is meant.
    baseline["cases"]["shop-search"]["stages"]["rank"]["version"] = json!(0);
    write(&file, &baseline.to_string());
    assert_eq!(eval(&home, &corpus, &["--ci"]).0, 1);
    assert_eq!(eval(&home, &corpus, &["--update-baseline"]).0, 0);
    assert_eq!(eval(&home, &corpus, &["--ci"]).0, 0);
}

#[test]
fn a_changed_answer_of_a_stub_is_noticed() {
    let home = Home::new();
    let corpus = some(&home, &["shop-search"]);
    let file = corpus.join("shop-search/response_stub.json");
    let mut stubs: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for it in stubs["responses"].as_object_mut().unwrap().values_mut() {
        it["body"] = json!({"json": {"results": "moved"}});
    }
    write(&file, &stubs.to_string());
    let (code, out, _) = eval(&home, &corpus, &["--ci"]);
    assert_eq!(code, 1);
    assert!(stages(&out).contains(&"validate"), "{}", out["differences"]);
    assert!(!stages(&out).contains(&"rank"), "{}", out["differences"]);
    assert_eq!(out["cases"][0]["verdict"], "abstained");
    // It is another question, so that another answer is no mistake of a stage.
    assert_eq!(out["forgotten"], json!([]));
}

#[test]
fn without_a_baseline_there_is_nothing_to_hold() {
    let home = Home::new();
    let folder = home.path().join("hars");
    std::fs::create_dir(&folder).unwrap();
    write(&folder.join("cases.jsonl"), "");
    let folder = folder.to_str().unwrap();
    let (code, out) = home.json(&["eval", "--corpus", folder, "--ci", "--json"]);
    assert_eq!((code, &out["error_code"]), (2, &json!("USAGE")));
    let elsewhere = home.path().join("kept.json");
    let elsewhere = ["--baseline", elsewhere.to_str().unwrap()];
    let args = ["eval", "--corpus", folder, "--json"];
    assert_eq!(home.json(&[&args[..], &elsewhere, &["--update-baseline"]].concat()).0, 0);
    assert_eq!(home.json(&[&args[..], &elsewhere, &["--ci"]].concat()).0, 0);
}

#[test]
fn a_report_stands_alone() {
    let home = Home::new();
    let corpus = some(&home, &["shop-search"]);
    let file = home.path().join("report.html");
    eval(&home, &corpus, &["--report", file.to_str().unwrap()]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("default-src 'none'") && text.contains("shop-search"));
    // Nothing is loaded: addresses stand in text only.
    for loads in ["src=", "href=", "@import", "url("] {
        assert!(!text.contains(loads), "{loads}");
    }
}
