//! Forms that send something else than the words they show.

use serde_json::{Value, json};

use crate::support::{Home, Web, has_chromium, write};

const MANIFEST: &str = r#"
version: 1
defaults: { delay_s: 0 }
recipes:
  - name: landed
    task: "List the prices of {catch} that was landed {day}"
    url: http://quay.test/
    examples: [{ catch: Whole fish, day: Today }, { catch: Seaweed, day: Yesterday }]
    record:
      - select: { name: Catch, value: "{catch}" }
      - check: { role: radio, name: "{day}" }
      - click: { role: button, name: Show prices }
      - wait_for: { text: "results for {catch}, {day}" }
    expect: { min_items: 1 }
"#;

#[test]
fn words_of_a_form_are_sent_as_its_values() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let manifest = home.path().join("forms.yaml");
    write(&manifest, MANIFEST);
    let batch = ["recipe", "learn-batch", "--manifest", manifest.to_str().unwrap(), "--json"];
    let (code, report) = home.batch(&[&batch[..], &["--test-host", &web.test_host]].concat());
    assert_eq!((code, &report["entries"][0]["outcome"]), (0, &json!("verified")), "{report}");
    let yaml = std::fs::read_to_string(home.path().join("recipes/landed.yaml")).unwrap();
    for part in ["Whole fish: '12'", "Seaweed: '47'", "Yesterday: 'y'", "value: '{catch}'"] {
        assert!(yaml.replace('"', "'").contains(part), "{part} is not in\n{yaml}");
    }
    let run = |catch: &str| {
        let catch = format!("catch={catch}");
        let args = ["recipe", "run", "landed", "-p", &catch, "-p", "day=Today", "--json"];
        home.json(&[&args[..], &["--test-host", &web.test_host]].concat())
    };
    let (code, out) = run("Shellfish");
    assert_eq!((code, &out["success"]), (0, &json!(true)), "{out}");
    let (_, out) = run("Poultry");
    let said = out.to_string();
    assert_eq!(out["success"], Value::Bool(false), "{out}");
    assert!(
        said.contains("PARAM_INVALID") && said.contains("Seaweed, Shellfish, Whole fish"),
        "{out}"
    );
}
