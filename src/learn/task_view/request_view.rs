//! A draft's request part by part: as recorded, after minimize, and with parameters.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{
    StageRow,
    terminal_text::{array, cut, join, str_of},
};
use commis_artifacts::kinds::Kind;

/// One part of the request.
#[derive(Debug, Serialize)]
pub struct PartTrial {
    /// `method`, `url`, `query:q`, `header:accept`, `json:/a/0`, `form:q`, `text`; a name's second value ends in ` #2`.
    pub part: String,
    /// What it is in each; `null` where it is not there. `last` is with parameters and slots.
    pub recorded: Option<String>,
    pub minimized: Option<String>,
    pub last: Option<String>,
    /// Why it was kept or dropped.
    pub why: String,
}

/// The parts of a request template as JSON, in order.
pub fn split(request: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for name in ["method", "url"] {
        out.push((name.to_owned(), text(&request[name])));
    }
    pairs("query", array(request, "query"), &mut out);
    for (name, it) in request["headers"].as_object().into_iter().flatten() {
        out.push((format!("header:{name}"), text(it)));
    }
    let body = &request["body"];
    pairs("form", array(body, "form"), &mut out);
    if let Some(it) = body.get("json") {
        members("", it, &mut out);
    }
    if let Some(it) = body.get("text") {
        out.push(("text".to_owned(), text(it)));
    }
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for (name, _) in &mut out {
        let n = seen.entry(name.clone()).or_default();
        *n += 1;
        if *n > 1 {
            *name = format!("{name} #{n}");
        }
    }
    out
}

fn pairs(place: &str, all: &[Value], out: &mut Vec<(String, String)>) {
    for it in all {
        let name = it["name"].as_str().unwrap_or_default();
        out.push((format!("{place}:{name}"), text(&it["value"])));
    }
}

fn members(pointer: &str, value: &Value, out: &mut Vec<(String, String)>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(all) => {
            all.iter().map(|(key, it)| (key.replace('~', "~0").replace('/', "~1"), it)).collect()
        }
        Value::Array(all) => all.iter().enumerate().map(|(i, it)| (i.to_string(), it)).collect(),
        _ => Vec::new(),
    };
    if below.is_empty() {
        out.push((format!("json:{pointer}"), text(value)));
    }
    for (key, it) in below {
        members(&format!("{pointer}/{key}"), it, out);
    }
}

fn text(it: &Value) -> String {
    it.as_str().map_or_else(|| it.to_string(), str::to_owned)
}

/// The draft before and after minimize, and with parameters; empty before there is a draft.
pub fn parts(rows: &[StageRow]) -> Vec<PartTrial> {
    let of = |kind| rows.iter().find(|it| it.spec.writes == kind)?.product();
    let Some(draft) = of(Kind::RecipeDraft) else { return Vec::new() };
    let report = of(Kind::MinimizationReport);
    let request = |it: Option<&Value>| -> Option<BTreeMap<String, String>> {
        Some(split(&it?["request"]).into_iter().collect())
    };
    let (after, last) = (request(report), request(of(Kind::RecipeDraftMinimized)));
    let trials = report.map_or(&[][..], |it| array(it, "trials"));
    split(&draft["request"])
        .into_iter()
        .map(|(part, recorded)| {
            let of = |it: &Option<BTreeMap<String, String>>| it.as_ref()?.get(&part).cloned();
            let minimized = of(&after);
            let dropped = after.is_some() && minimized.is_none();
            PartTrial {
                why: why(&part, dropped, trials),
                recorded: Some(recorded),
                minimized,
                last: of(&last),
                part,
            }
        })
        .collect()
}

/// Of the trial that settled it; one of several parts at once settles nothing when they were kept.
fn why(part: &str, dropped: bool, trials: &[Value]) -> String {
    let name = part.split(" #").next().unwrap_or(part);
    let holds = |tried: &str| {
        name == tried
            || (tried.starts_with("json:")
                && name.strip_prefix(tried).is_some_and(|it| it.starts_with('/')))
    };
    let of = |it: &&Value| {
        let without = array(it, "without");
        (it["dropped"] == dropped)
            && (dropped || without.len() == 1)
            && without.iter().filter_map(Value::as_str).any(holds)
    };
    trials.iter().find(of).map(|it| str_of(it, "why")).unwrap_or_default()
}

/// Parameters and slots of a draft, a line each.
pub fn inputs(draft: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for it in array(draft, "parameters") {
        let name = str_of(it, "name");
        let why = draft["evidence"].get(&name).and_then(Value::as_str).unwrap_or("");
        let default = it.get("default").and_then(Value::as_str);
        let default = default.map(|it| format!(" default {}", cut(it, 60))).unwrap_or_default();
        let examples = join(it.get("examples"));
        out.push(format!(
            "{{{name}}} {} required: {}{default} — {}{}",
            str_of(it, "type"),
            it["required"],
            cut(why, 120),
            if examples.is_empty() { String::new() } else { format!("; such as {examples}") },
        ));
    }
    for it in array(draft, "slots") {
        out.push(format!("{{{}}} from {}", str_of(it, "name"), cut(&it["from"].to_string(), 160)));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_split_into_the_parts_that_minimize_tries() {
        let request = json!({
            "method": "POST", "url": "http://a.test/s",
            "query": [{"name": "f", "value": "1"}, {"name": "f", "value": "2"}],
            "headers": {"accept": "*/*"}, "body": {"json": {"a/b": {"c": [1, "x"], "d": {}}}},
        });
        let parts: Vec<String> =
            split(&request).into_iter().map(|it| format!("{} {}", it.0, it.1)).collect();
        let expected = [
            "method POST",
            "url http://a.test/s",
            "query:f 1",
            "query:f #2 2",
            "header:accept */*",
            "json:/a~1b/c/0 1",
            "json:/a~1b/c/1 x",
            "json:/a~1b/d {}",
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn a_part_is_explained_by_the_trial_that_settled_it() {
        let trials = [
            json!({"without": ["header:a", "header:b"], "dropped": false, "why": "together"}),
            json!({"without": ["header:a"], "dropped": false, "why": "needed"}),
            json!({"without": ["json:/x"], "dropped": true, "why": "same"}),
        ];
        assert_eq!(why("header:a", false, &trials), "needed");
        assert_eq!(why("header:b", false, &trials), "");
        assert_eq!(why("json:/x/0", true, &trials), "same");
        assert_eq!(why("json:/xy", true, &trials), "");
    }
}
