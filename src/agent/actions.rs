//! What the model may call beside the browser's own actions, and how a call becomes an action.

use serde_json::{Map, Value, json};

use super::Action;
use commis_model::{Call, Tool};

pub const COMPLETE: &str = "complete_task";
pub const APPROVAL: &str = "request_human_approval";
pub const ASK: &str = "ask";
pub const REMEMBER: &str = "remember";

/// Characters of one argument.
const LONGEST: usize = 4000;

/// Tools that no browser has (seed 002, 2.3).
pub fn virtual_tools() -> Vec<Tool> {
    let text = |help: &str| json!({"type": "string", "description": help});
    let tool = |name: &str, help: &str, properties: Value, required: &[&str]| Tool {
        name: name.to_owned(),
        help: help.to_owned(),
        input: json!({"type": "object", "properties": properties, "required": required}),
    };
    vec![
        tool(
            COMPLETE,
            "Say that the task is done, or that it cannot be done. Success is checked against the page.",
            json!({
                "status": {"type": "string", "enum": ["success", "failed"], "description": "Whether the goal was reached"},
                "reason": text("Why, in one sentence"),
                "answer": {"type": ["string", "array"], "items": {"type": "string"},
                    "description": "What was asked for, word for word as the pages show it; a list where there are several"},
                "evidence": text("A text on the present page that shows that the goal was reached, word for word"),
                "other_values": {"type": "object",
                    "description": "For each parameter of the task another value that would find something as well",
                    "additionalProperties": {"type": "string"}},
            }),
            &["status", "reason"],
        ),
        tool(
            APPROVAL,
            "Pause and ask a person before going on.",
            json!({"action": text("What needs their word"), "reason": text("Why")}),
            &["action", "reason"],
        ),
        tool(
            ASK,
            "Ask a person for a value that the task lacks.",
            json!({"name": text("What it is called"), "reason": text("What it is for")}),
            &["name"],
        ),
        tool(
            REMEMBER,
            "Note a fact for later: old pages are cut from this conversation.",
            json!({"fact": text("What to remember")}),
            &["fact"],
        ),
    ]
}

/// The browser's actions and ours; ours stand where both have one of a name.
pub fn merged(own: Vec<Tool>) -> Vec<Tool> {
    let ours = virtual_tools();
    let mut out: Vec<Tool> =
        own.into_iter().filter(|it| ours.iter().all(|mine| mine.name != it.name)).collect();
    out.extend(ours);
    out
}

/// The action of a call. `Err` says to the model what is wrong with it.
pub fn act(call: &Call, tools: &[Tool]) -> Result<Action, String> {
    let Some(tool) = tools.iter().find(|it| it.name == call.name) else {
        let names: Vec<&str> = tools.iter().map(|it| it.name.as_str()).collect();
        return Err(format!("unknown tool; the tools are {}", names.join(", ")));
    };
    let arguments: Map<String, Value> = match &call.arguments {
        Value::Object(it) => it.clone(),
        Value::Null => Map::new(),
        _ => return Err("arguments are an object".to_owned()),
    };
    let long = |it: &Value| it.as_str().is_some_and(|it| it.chars().count() > LONGEST);
    if let Some((name, _)) = arguments.iter().find(|it| long(it.1)) {
        return Err(format!("`{name}` is longer than {LONGEST} characters"));
    }
    let required = tool.input["required"].as_array();
    let missing = required.into_iter().flatten().filter_map(Value::as_str);
    for name in missing {
        if arguments.get(name).is_none_or(Value::is_null) {
            return Err(format!("`{name}` is missing"));
        }
    }
    Ok(Action { name: call.name.clone(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn click() -> Tool {
        let input = json!({"type": "object", "properties": {"target": {"type": "string"}}, "required": ["target"]});
        Tool { name: "click".into(), help: "Click".into(), input }
    }

    #[test]
    fn ac_3_1_virtual_tools_are_in_the_list() {
        let impostor = Tool { name: COMPLETE.into(), ..click() };
        let all = merged(vec![click(), impostor]);
        let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["click", COMPLETE, APPROVAL, ASK, REMEMBER]);
        assert!(all[1].input["properties"]["status"]["enum"].is_array(), "ours stands");
    }

    #[test]
    fn calls_are_checked() {
        let tools = merged(vec![click()]);
        let call = |name: &str, arguments: Value| {
            act(&Call { id: "1".into(), name: name.into(), arguments, kept: Vec::new() }, &tools)
        };
        assert_eq!(call("click", json!({"target": "@e1"})).unwrap().text("target"), Some("@e1"));
        assert!(call("click", json!({})).unwrap_err().contains("`target` is missing"));
        assert!(call("click", json!({"target": null})).is_err());
        assert!(call("click", json!("@e1")).unwrap_err().contains("object"));
        assert!(call("approve", json!({})).unwrap_err().contains("unknown tool"));
        assert!(call("click", json!({"target": "x".repeat(5000)})).is_err());
        assert!(call(COMPLETE, json!({"status": "success"})).is_err());
    }
}
