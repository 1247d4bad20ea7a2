//! What a stage came to, as named facts: so that two attempts can be held side by side.

use serde_json::Value;

use super::{
    request,
    task_view::StageRow,
    terminal_text::{array, join, str_of},
};
use commis_artifacts::kinds::Kind;

/// The first fact of each stage.
pub const OUTCOME: &str = "outcome";

/// Name and value, in an order for reading; names are the same for what is the same in two tasks.
pub fn facts(row: Option<&StageRow>, rows: &[StageRow]) -> Vec<(String, String)> {
    let mut out = Facts(Vec::new());
    let Some(row) = row else {
        out.add(OUTCOME, "not reached");
        return out.0;
    };
    if let Some(it) = row.rejected() {
        out.add(OUTCOME, format!("rejected: {} — {}", str_of(it, "reason"), str_of(it, "detail")));
        return out.0;
    }
    let Some(done) = row.product() else {
        out.add(OUTCOME, row.freshness.describe());
        return out.0;
    };
    out.add(OUTCOME, "done");
    match row.spec.writes {
        Kind::SessionRecording => recording(done, &mut out),
        Kind::SecondRecording => {
            out.add_leaves("value", &done["values"]);
            match done.get("recording").filter(|it| !it.is_null()) {
                Some(it) => recording(it, &mut out),
                None => out.add("driven", "no"),
            }
        }
        Kind::CandidateSet => candidates(done, &mut out),
        Kind::CandidateSummary => {
            for it in array(done, "summaries") {
                let line = str_of(it, "request_line");
                let path = |it: &Value| format!("{} ({})", str_of(it, "path"), it["score_bp"]);
                let paths: Vec<String> = array(it, "paths").iter().map(path).collect();
                out.add(format!("lists of {line}"), paths.join(", "));
                out.add(format!("{line} carries"), join(it.get("carries")));
            }
        }
        Kind::ModelAnswer => match done.get("consultation").filter(|it| !it.is_null()) {
            Some(it) => {
                out.add("model", str_of(it, "model"));
                out.add("attempts", array(it, "attempts").len().to_string());
                out.add_leaves("verdict", &it["verdict"]);
            }
            None => out.add("model", "none was asked"),
        },
        Kind::RecipeAnalysis => {
            let chosen = &done["chosen"];
            out.add("chosen", endpoint(&chosen["exchange"], rows));
            out.add("by", str_of(done, "by"));
            out.add_leaves("source", &chosen["source"]);
            out.add_leaves("response", &chosen["response"]);
        }
        Kind::RecipeDraft => {
            out.add_leaves("transport", &done["transport"]);
            out.add_leaves("deterministic", &done["deterministic"]);
            out.add_leaves("captured_only", &done["captured_only"]);
            template(done, &mut out);
            replays(done, &mut out);
        }
        Kind::BaselineFingerprint => {
            out.add_leaves("items", &done["items"]);
            for it in array(done, "shape").iter().filter_map(Value::as_str) {
                out.add(format!("path {it}"), "yes");
            }
        }
        Kind::MinimizationReport => {
            for it in array(done, "trials") {
                let verdict = if it["dropped"] == true { "dropped" } else { "kept" };
                let name = format!("without {}", join(it.get("without")));
                out.add(name, format!("{verdict}: {}", str_of(it, "why")));
            }
            out.add_leaves("budget_exhausted", &done["budget_exhausted"]);
            template(done, &mut out);
        }
        Kind::RecipeDraftMinimized => {
            out.add_leaves("transport", &done["transport"]);
            template(done, &mut out);
            for it in array(done, "parameters") {
                out.add_leaves(&format!("parameter {}", str_of(it, "name")), it);
            }
        }
        Kind::VerificationReport => {
            out.add_leaves("verified", &done["verified"]);
            out.add_leaves("reason", &done["reason"]);
            out.add_leaves("transport", &done["transport"]);
            out.add_leaves("requires_session", &done["requires_session"]);
            out.add("effective", join(done.get("effective")));
            out.add("frozen", join(done.get("frozen")));
            replays(done, &mut out);
        }
    }
    out.0
}

struct Facts(Vec<(String, String)>);

impl Facts {
    /// A name that is there already gets a number.
    fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        let again = |it: &&(String, String)| {
            it.0.strip_prefix(&name).is_some_and(|it| it.is_empty() || it.starts_with(" #"))
        };
        let n = self.0.iter().filter(again).count();
        let name = if n == 0 { name } else { format!("{name} #{}", n + 1) };
        self.0.push((name, value.into()));
    }

    fn add_leaves(&mut self, name: &str, value: &Value) {
        match value {
            Value::Null => {}
            Value::Object(all) => {
                all.iter().for_each(|(key, it)| self.add_leaves(&format!("{name}.{key}"), it));
            }
            Value::Array(all) => {
                all.iter()
                    .enumerate()
                    .for_each(|(i, it)| self.add_leaves(&format!("{name}[{i}]"), it));
            }
            Value::String(it) => self.add(name, it.clone()),
            other => self.add(name, other.to_string()),
        }
    }
}

fn recording(it: &Value, out: &mut Facts) {
    for name in ["task", "url", "producer", "typed"] {
        out.add_leaves(name, &it[name]);
    }
    out.add("exchanges", array(it, "exchanges").len().to_string());
    out.add("blocked", array(it, "blocked").len().to_string());
}

fn candidates(done: &Value, out: &mut Facts) {
    let all = array(done, "candidates");
    if let Some(it) = all.first() {
        out.add("first", str_of(it, "endpoint_key"));
    }
    out.add_leaves("doubt", &done["doubt"]);
    out.add_leaves("scored", &done["scored"]);
    out.add_leaves("set aside", &done["set_aside"]);
    for it in all {
        let key = str_of(it, "endpoint_key");
        out.add_leaves(&format!("rank of {key}"), &it["rank"]);
        out.add_leaves(&format!("score of {key}"), &it["score_bp"]);
        out.add_leaves(&format!("confidence of {key}"), &it["confidence_bp"]);
        out.add_leaves(&format!("signals of {key}"), &it["features"]);
    }
}

/// The endpoint of an exchange: numbers differ between recordings.
fn endpoint(exchange: &Value, rows: &[StageRow]) -> String {
    let set =
        rows.iter().find(|it| it.spec.writes == Kind::CandidateSet).and_then(StageRow::product);
    let all = set.map_or(&[][..], |it| array(it, "candidates"));
    let found = all.iter().find(|it| it["exchange"] == *exchange);
    found.map_or_else(|| format!("exchange {exchange}"), |it| str_of(it, "endpoint_key"))
}

fn template(done: &Value, out: &mut Facts) {
    for (part, value) in request::split(&done["request"]) {
        out.add(part, value);
    }
    for it in array(done, "slots") {
        out.add_leaves(&format!("slot {}", str_of(it, "name")), &it["from"]);
    }
}

fn replays(done: &Value, out: &mut Facts) {
    for it in array(done, "replays") {
        let code = it.get("code").and_then(Value::as_str).unwrap_or("ok");
        let value = format!(
            "{code} by {}: status {} items {} similarity {}",
            str_of(it, "transport"),
            it["status"],
            it["items"],
            it["similarity_bp"]
        );
        out.add(format!("replay {}", str_of(it, "what")), value);
    }
}
