//! What a stage decided, in lines for a person.

use serde_json::Value;

use super::{
    BOLD, DIM, YELLOW, request,
    terminal_text::{array, bounded, cut, join, str_of, value},
};
use crate::context;
use commis_artifacts::kinds::Kind;

/// Lines of the payload; of each list at most so many.
pub fn describe(kind: Kind, payload: &Value, most: usize) {
    for it in lines(kind, payload, most) {
        context::line(&format!("  {it}"));
    }
}

fn lines(kind: Kind, payload: &Value, most: usize) -> Vec<String> {
    if let Some(it) = payload.get("rejected") {
        return vec![format!("ended here: {} — {}", str_of(it, "reason"), str_of(it, "detail"))];
    }
    let done = payload.get("done").unwrap_or(payload);
    match kind {
        Kind::SessionRecording => recording(done, most),
        Kind::SecondRecording => match done.get("recording").filter(|it| !it.is_null()) {
            Some(it) => recording(it, most),
            None => vec!["not driven".to_owned()],
        },
        Kind::CandidateSet => candidates(done),
        Kind::CandidateSummary => bounded(array(done, "summaries").iter().map(summary), most),
        Kind::ModelAnswer => match done.get("consultation").filter(|it| !it.is_null()) {
            Some(it) => consultation(it),
            None => vec!["no model was asked".to_owned()],
        },
        Kind::RecipeAnalysis => {
            let chosen = &done["chosen"];
            let response = cut(&chosen["response"].to_string(), 300);
            vec![format!(
                "chose exchange {} by {}; {response}",
                chosen["exchange"],
                str_of(done, "by")
            )]
        }
        Kind::RecipeDraft => {
            let how = format!(
                "replayed by {}, deterministic: {}",
                str_of(done, "transport"),
                done["deterministic"]
            );
            [vec![how], template(&done["request"], most), replays(done, most)].concat()
        }
        Kind::BaselineFingerprint => vec![format!(
            "{} typed paths, {} items, {}",
            array(done, "shape").len(),
            done["items"],
            str_of(done, "fingerprint_sha256")
        )],
        Kind::MinimizationReport => {
            let mut out = bounded(array(done, "trials").iter().map(trial), most);
            if done["budget_exhausted"] == true {
                out.push("the budget ended before every part was tried".to_owned());
            }
            out
        }
        Kind::RecipeDraftMinimized => {
            let inputs = bounded(request::inputs(done).into_iter(), most);
            [template(&done["request"], most), inputs].concat()
        }
        Kind::VerificationReport => {
            let why = done.get("reason").and_then(Value::as_str);
            let why = why.map(|it| format!(" — {}", cut(it, 200))).unwrap_or_default();
            let verdict = format!(
                "verified: {}{why}; effective: {}; frozen: {}",
                done["verified"],
                join(done.get("effective")),
                join(done.get("frozen"))
            );
            [vec![verdict], replays(done, most)].concat()
        }
    }
}

fn recording(it: &Value, most: usize) -> Vec<String> {
    let mut out = vec![format!(
        "{} — {} exchanges, {} blocked, {} ms, {}",
        str_of(it, "task"),
        array(it, "exchanges").len(),
        array(it, "blocked").len(),
        it["duration_ms"],
        str_of(it, "producer")
    )];
    let line = |it: &Value| {
        let it = it.as_str().unwrap_or_default().to_owned();
        format!("  {DIM}{}{DIM:#}", cut(&it, 150))
    };
    out.extend(bounded(array(it, "exchanges").iter().map(line), most));
    let blocked = |it: &Value| {
        format!(
            "  {YELLOW}blocked{YELLOW:#} {} {} ({})",
            str_of(it, "url"),
            str_of(it, "code"),
            str_of(it, "reason")
        )
    };
    out.extend(bounded(array(it, "blocked").iter().map(blocked), most));
    out
}

fn candidates(done: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for it in array(done, "candidates") {
        out.push(format!(
            "{}. {BOLD}{:>5}{BOLD:#} {} {}  sure: {} %",
            it["rank"],
            it["score_bp"],
            str_of(it, "method"),
            str_of(it, "url_summary"),
            (it["confidence_bp"].as_u64().unwrap_or(0) + 50) / 100,
        ));
        let mut features: Vec<(&String, i64)> = it["features"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, share)| (name, share.as_i64().unwrap_or(0)))
            .collect();
        features.sort_by_key(|it| std::cmp::Reverse(it.1.abs()));
        let text: Vec<String> =
            features.iter().map(|(name, share)| format!("{name} {share:+}")).collect();
        out.push(format!("   {DIM}{}{DIM:#}", cut(&text.join(", "), 600)));
    }
    if let Some(it) = done.get("doubt").and_then(Value::as_str) {
        out.push(format!("{YELLOW}the first is in doubt{YELLOW:#}: {}", cut(it, 300)));
    }
    out.push(format!("scored {}, set aside {}", done["scored"], value(&done["set_aside"])));
    out
}

fn summary(it: &Value) -> String {
    let path = |it: &Value| format!("{} ({})", str_of(it, "path"), it["score_bp"]);
    let paths: Vec<String> = array(it, "paths").iter().map(path).collect();
    format!("{} → {}", str_of(it, "request_line"), paths.join(", "))
}

fn consultation(it: &Value) -> Vec<String> {
    let mut out = vec![format!(
        "asked {}, prompt version {}, {} bytes; verdict: {}",
        str_of(it, "model"),
        it["prompt_version"],
        it["prompt_bytes"],
        value(&it["verdict"])
    )];
    for it in array(it, "attempts") {
        let why = it.get("refused").and_then(Value::as_str);
        let verdict = why.map_or_else(
            || "accepted".to_owned(),
            |it| format!("{YELLOW}not accepted{YELLOW:#}: {}", cut(it, 200)),
        );
        out.push(format!(
            "  {} — {verdict}; stop: {}, {} tokens in, {} out",
            cut(&str_of(it, "answer"), 200),
            str_of(it, "stop"),
            it["tokens_in"],
            it["tokens_out"]
        ));
    }
    out
}

fn template(it: &Value, most: usize) -> Vec<String> {
    let query: Vec<String> = array(it, "query")
        .iter()
        .map(|it| format!("{}={}", str_of(it, "name"), str_of(it, "value")))
        .collect();
    let mark = if query.is_empty() { "" } else { "?" };
    let query = cut(&query.join("&"), 300);
    let mut out = vec![format!("{} {}{mark}{query}", str_of(it, "method"), str_of(it, "url"))];
    if let Some(headers) = it.get("headers").and_then(Value::as_object) {
        let line = |(name, value): (&String, &Value)| {
            format!("  {}: {}", cut(name, 80), cut(value.as_str().unwrap_or(""), 200))
        };
        let lines: Vec<String> = headers.iter().map(line).collect();
        out.extend(bounded(lines.into_iter(), most));
    }
    if let Some(body) = it.get("body").filter(|it| !it.is_null()) {
        out.push(format!("  {}", cut(&body.to_string(), 300)));
    }
    out
}

fn trial(it: &Value) -> String {
    let verdict = if it["dropped"] == true { "dropped" } else { "kept   " };
    let replay = it.get("replay").filter(|it| !it.is_null());
    let replay = replay.map(|it| format!(" — {}", replay_line(it))).unwrap_or_default();
    format!("{verdict} {}: {}{DIM}{replay}{DIM:#}", join(it.get("without")), str_of(it, "why"))
}

fn replays(it: &Value, most: usize) -> Vec<String> {
    bounded(array(it, "replays").iter().map(replay_line), most)
}

/// A replay with its outcome.
pub fn replay_line(it: &Value) -> String {
    let code = it.get("code").and_then(Value::as_str).unwrap_or("ok");
    let detail = it.get("detail").and_then(Value::as_str);
    let detail = detail.map(|it| format!(": {}", cut(it, 160))).unwrap_or_default();
    let data = it.get("data_sha256").and_then(Value::as_str).map(super::why::short);
    let data = data.map(|it| format!(" data {}", cut(&it, 12))).unwrap_or_default();
    format!(
        "replay {} {} by {}: {} status {} items {} similarity {}{data}{detail}",
        it["n"],
        str_of(it, "what"),
        str_of(it, "transport"),
        cut(code, 40),
        it["status"],
        it["items"],
        it["similarity_bp"]
    )
}
