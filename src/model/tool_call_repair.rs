//! Tool calls as small models write them and small servers pass them on, in a form that the client crate takes.
//!
//! It refuses a whole answer for one call whose arguments are no JSON, or that has no id. A model that made such a call is to be
//! told of it like of any other mistake, so the call goes through, with whatever it made of its arguments.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

const CALLS: &str = "/choices/0/message/tool_calls";

/// The answer, rewritten if it holds such calls in the OpenAI form; any other to the byte.
pub fn repair_tool_calls(body: Vec<u8>) -> Vec<u8> {
    let Ok(mut answer) = serde_json::from_slice::<Value>(&body) else { return body };
    let Some(found) = answer.pointer_mut(CALLS) else { return body };
    let before = found.clone();
    match found {
        Value::Array(calls) => {
            let mut ids = BTreeSet::new();
            for (n, call) in calls.iter_mut().enumerate() {
                *call = complete_call(call, n, &mut ids);
            }
        }
        _ => *found = Value::Null,
    }
    if *found == before { body } else { answer.to_string().into_bytes() }
}

fn complete_call(call: &Value, n: usize, ids: &mut BTreeSet<String>) -> Value {
    let text = |it: Option<&Value>| it.and_then(Value::as_str).map(str::to_owned);
    let mut id = text(call.get("id")).filter(|it| !it.is_empty() && !ids.contains(it));
    let id = id.take().unwrap_or_else(|| format!("call_{n}"));
    ids.insert(id.clone());
    let name = text(call.pointer("/function/name")).unwrap_or_default();
    let arguments = match call.pointer("/function/arguments") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(it)) if it.trim().is_empty() => "{}".to_owned(),
        Some(Value::String(it)) if serde_json::from_str::<IgnoredAny>(it).is_ok() => it.clone(),
        Some(it) => it.to_string(),
    };
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(calls: Value, expected: Value) {
        let body = json!({"choices": [{"message": {"content": "x", "tool_calls": calls}}]});
        let out = repair_tool_calls(body.to_string().into_bytes());
        let out: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(out.pointer(CALLS), Some(&expected), "{body}");
        assert_eq!(out["choices"][0]["message"]["content"], "x");
    }

    #[test]
    fn calls_are_made_whole() {
        let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "fill", "arguments": arguments}});
        let good = call("a", r#"{"value":"x"}"#);
        check(json!([good]), json!([good]));
        // Whatever is no JSON is a text to the model's reader.
        check(json!([call("a", "{value: x")]), json!([call("a", r#""{value: x""#)]));
        check(json!([call("a", " ")]), json!([call("a", "{}")]));
        check(
            json!([{"function": {"name": "fill", "arguments": {"value": "x"}}}]),
            json!([call("call_0", r#"{"value":"x"}"#)]),
        );
        check(
            json!([call("", "{}"), call("a", "{}"), call("a", "{}")]),
            json!([call("call_0", "{}"), call("a", "{}"), call("call_2", "{}"),]),
        );
        let nothing = json!({"id": "call_0", "type": "function", "function": {"name": "", "arguments": "{}"}});
        check(json!([{}]), json!([nothing]));
        check(json!(["fill"]), json!([nothing]));
        check(json!({"name": "fill"}), Value::Null);
        check(Value::Null, Value::Null);
    }

    #[test]
    fn all_else_is_as_it_was() {
        let good = r#"{ "choices": [{"message": {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]}"#;
        for body in ["", "{", "null", r#"{ "content": [] }"#, good] {
            assert_eq!(repair_tool_calls(body.as_bytes().to_vec()), body.as_bytes());
        }
    }
}
