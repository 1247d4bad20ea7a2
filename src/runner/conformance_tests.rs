//! What others agreed on: JSONTestSuite through what reads strangers' answers, the JMESPath suite through recipes' queries.

use std::collections::BTreeMap;

use serde_json::Value;

use super::extract::{HttpAnswer, extract};
use commis_recipe::{document::Document, expression::Query, model::ResponseSpec};

/// The files of a shared archive by name; none, with a line saying so, where it is not.
fn unpacked(archive: &str) -> BTreeMap<String, Vec<u8>> {
    let Some(path) = commis_base::testing::shared(&format!("vectors/{archive}")) else {
        return BTreeMap::new();
    };
    let folder = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "unpacks test data with the system's tar")]
    let mut tar = std::process::Command::new("tar");
    let done = tar.arg("-xJf").arg(path).arg("-C").arg(folder.path()).status().unwrap();
    assert!(done.success(), "tar and xz are needed to unpack {archive}");
    let mut out = BTreeMap::new();
    let mut folders = vec![folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "json") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                out.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    assert!(!out.is_empty());
    out
}

#[test]
fn answers_are_json_by_the_book() {
    let spec: ResponseSpec = serde_json::from_value(serde_json::json!({"type": "json"})).unwrap();
    let mut wrong = Vec::new();
    for (name, body) in unpacked("json_test_suite.tar.xz") {
        let result = extract(&spec, HttpAnswer::from_body("application/json", &body));
        // y: must be read; n: must not; i: as one likes, without a crash.
        match (&name[..2], &result) {
            ("y_", Err(err)) => wrong.push(format!("{name}: {err}")),
            ("n_", Ok(it)) => wrong.push(format!("{name}: read as {}", it.data)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn queries_find_what_jmespath_says() {
    let mut wrong = Vec::new();
    for (name, text) in unpacked("jmespath_test.tar.xz") {
        let Ok(Value::Array(suites)) = serde_json::from_slice(&text) else { continue };
        for suite in suites {
            let document = Document::from(&suite["given"]);
            for case in suite["cases"].as_array().unwrap() {
                let expression = case["expression"].as_str().unwrap();
                let got = Query::compile(expression).and_then(|it| it.search(&document));
                let right = match (&got, case.get("result")) {
                    (Ok(got), Some(want)) => same(got, want),
                    (Ok(_), None) => case.get("error").is_none(),
                    // The crate fails where nothing is averaged; a run then fails instead of finding nothing.
                    (Err(err), Some(Value::Null)) => {
                        println!("stricter: {expression}: {err}");
                        true
                    }
                    (Err(_), want) => want.is_none(),
                };
                if !right {
                    wrong.push(format!("{name} {expression}: {got:?}, expected {case}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Equal, where `1` and `1.0` are one number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}
