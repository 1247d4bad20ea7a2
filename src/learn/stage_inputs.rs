//! What a stage is asked besides its inputs, field by field: for a person who wants to know why an artifact is stale.
//!
//! Fields have the names that they have in the manifest and in the settings. Values are redacted: a field whose redacted
//! values are equal is not told apart, although its digests are.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use commis_stages::WEIGHTS;
use commis_stages::table::Stage;

/// A field that is not what it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// `ranking.weights.visible_on_page`, `examples[0].query`, `record[2].press`.
    pub field: String,
    /// `null`: was not set.
    pub was: Option<Value>,
    pub is: Option<Value>,
}

/// Replaces what must not be written down, in every text of it.
pub fn redact(value: &mut Value) {
    match value {
        Value::String(it) => *it = commis_redact::redact_written(it),
        Value::Array(all) => all.iter_mut().for_each(redact),
        Value::Object(all) => all.values_mut().for_each(redact),
        _ => {}
    }
}

/// Fields in which two questions to a stage differ, by name; both as [`redact`] leaves them.
pub fn differences(stage: Stage, was: &Value, is: &Value) -> Vec<Difference> {
    let (was, is) = (fields(stage, was), fields(stage, is));
    let mut names: Vec<&String> = was.keys().chain(is.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter(|it| was.get(*it) != is.get(*it))
        .map(|it| Difference {
            field: setting_name(stage, it),
            was: was.get(it).cloned(),
            is: is.get(it).cloned(),
        })
        .collect()
}

/// Leaves by path; what is not set is absent, but a weight, which then is the built-in one.
fn fields(stage: Stage, question: &Value) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    if stage == Stage::Rank {
        out.extend(WEIGHTS.iter().map(|it| (it.0.to_owned(), it.1.into())));
    }
    leaves("", question, &mut out);
    out
}

fn leaves(path: &str, value: &Value, out: &mut BTreeMap<String, Value>) {
    match value {
        Value::Null => {}
        Value::Array(all) => {
            for (i, it) in all.iter().enumerate() {
                leaves(&format!("{path}[{i}]"), it, out);
            }
        }
        Value::Object(all) => {
            for (key, it) in all {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(&path, it, out);
            }
        }
        leaf => _ = out.insert(path.to_owned(), leaf.clone()),
    }
}

/// The name in the manifest or the settings of a path in a stage's question.
fn setting_name(stage: Stage, path: &str) -> String {
    let (head, rest) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
    match (stage, head) {
        (Stage::Record, _) => entry(0, path),
        (Stage::RecordSecond, "of") => entry(1, rest.trim_start_matches('.')),
        (Stage::RecordSecond, _) => "examples: a second one".to_owned(),
        (Stage::Rank, _) => format!("ranking.weights.{path}"),
        (Stage::Consult, "decision") => path.to_owned(),
        (Stage::Consult, _) => format!("model.{path}"),
        (Stage::Analyze, "endpoint_key" | "extract") => format!("choice.{path}"),
        (Stage::Analyze, _) => format!("decision.{path}"),
        (_, "offline") => "--no-network".to_owned(),
        (_, "replays") => "learning.max_replays".to_owned(),
        (Stage::Verify, "min_items") => "expect.min_items".to_owned(),
        (Stage::Verify, "further") => format!("examples after the second{rest}"),
        (Stage::Verify, "paths") => format!("expect.required_paths{rest}"),
        _ => path.to_owned(),
    }
}

fn entry(example: usize, path: &str) -> String {
    const PLACES: &[(&str, &str)] = &[
        ("source.url", "url"),
        ("source.by_hand", "url (by hand)"),
        ("source.steps", "record"),
        ("source.har", "har (SHA-256)"),
        ("allow", "redact.allow"),
    ];
    if let Some(rest) = path.strip_prefix("example.") {
        return format!("examples[{example}].{rest}");
    }
    let place = PLACES.iter().find_map(|it| Some((it.1, path.strip_prefix(it.0)?)));
    place.map_or_else(|| path.to_owned(), |(name, rest)| format!("{name}{rest}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(stage: Stage, was: &Value, is: &Value, expected: &[&str]) {
        let told: Vec<String> = differences(stage, was, is)
            .into_iter()
            .map(|it| {
                let value = |it: Option<Value>| it.map_or("-".to_owned(), |it| it.to_string());
                format!("{} {} {}", it.field, value(it.was), value(it.is))
            })
            .collect();
        assert_eq!(told, expected, "{stage:?}");
    }

    #[test]
    fn fields_have_the_names_that_people_write() {
        let weight = WEIGHTS[0];
        let line = format!("ranking.weights.{} {} 7", weight.0, weight.1);
        check(Stage::Rank, &json!({}), &json!({weight.0: 7}), &[&line]);
        check(Stage::Rank, &json!({}), &json!({weight.0: weight.1}), &[]);
        check(
            Stage::Record,
            &json!({"task": "a", "source": {"url": "u", "steps": [{"press": "Enter"}]}, "example": {"q": "lantern"}, "allow": []}),
            &json!({"task": "a", "source": {"url": "v", "steps": [{"press": "Tab"}]}, "example": {"q": "lamp"}, "allow": ["id"]}),
            &[
                "redact.allow[0] - \"id\"",
                "examples[0].q \"lantern\" \"lamp\"",
                "record[0].press \"Enter\" \"Tab\"",
                "url \"u\" \"v\"",
            ],
        );
        check(
            Stage::RecordSecond,
            &json!({"second": false, "of": {"example": {}}}),
            &json!({"second": true, "of": {"example": {"q": "hose"}}}),
            &["examples[1].q - \"hose\"", "examples: a second one false true"],
        );
        check(
            Stage::Minimize,
            &json!({"replays": 24, "offline": true}),
            &json!({"replays": 25, "offline": false}),
            &["--no-network true false", "learning.max_replays 24 25"],
        );
        check(
            Stage::Verify,
            &json!({"min_items": null, "paths": []}),
            &json!({"min_items": 3, "paths": ["a"]}),
            &["expect.min_items - 3", "expect.required_paths[0] - \"a\""],
        );
        check(
            Stage::Analyze,
            &json!({"min_confidence_bp": 6000}),
            &json!({"endpoint_key": "GET a", "extract": null}),
            &["choice.endpoint_key - \"GET a\"", "decision.min_confidence_bp 6000 -"],
        );
        check(
            Stage::Consult,
            &Value::Null,
            &json!({"name": "m", "decision": {"min_confidence_bp": 1}}),
            &["decision.min_confidence_bp - 1", "model.name - \"m\""],
        );
    }
}
