//! What of Playwright's tools the loop's model may call, and with which arguments.
//!
//! A list of what may be done, since that server grows: scripts, files, cookies, other people's tabs and logs are not on it. What an
//! action is done to is a ref of the page or a role and a name, never a selector: checkpoints and approvals name what is pressed,
//! and nobody can tell what a selector finds.

use serde_json::{Map, Value, json};

use crate::{
    Action, PageView,
    snapshot_parser::{find_by_ref, fold, read, reference},
};
use commis_base::error::{Code, Error, Result};
use commis_browser::{cut, plain};
use commis_model::Tool;

/// What has to be there (seed 002, AC-1.2).
pub const NEEDED: &[&str] =
    &["browser_snapshot", "browser_click", "browser_navigate", "browser_type"];

/// Tools and their arguments; `ref` is how older versions call `target`. Whether a change may follow from it.
const ALLOWED: &[(&str, &[&str], bool)] = &[
    ("browser_navigate", &["url"], false),
    ("browser_navigate_back", &[], false),
    ("browser_snapshot", &[], false),
    ("browser_find", &["text"], false),
    ("browser_click", &["element", "target", "ref", "doubleClick"], true),
    ("browser_hover", &["element", "target", "ref"], true),
    ("browser_type", &["element", "target", "ref", "text", "submit", "slowly"], true),
    ("browser_fill_form", &["fields"], true),
    ("browser_select_option", &["element", "target", "ref", "values"], true),
    ("browser_press_key", &["key"], true),
    ("browser_handle_dialog", &["accept", "promptText"], true),
    ("browser_wait_for", &["time", "text", "textGone"], false),
    ("browser_tabs", &["action", "index"], false),
];

/// Characters of a tool's description.
const HELP: usize = 400;
/// Seconds that are waited in one action.
const LONGEST: f64 = 30.0;

/// Of what the server offers, what the model is shown. Fails with `MCP_FAILED` where something is missing without which no task can
/// be done.
pub fn offered(all: &[(String, String, Value)]) -> Result<Vec<Tool>> {
    let missing: Vec<&str> =
        NEEDED.iter().copied().filter(|it| all.iter().all(|tool| tool.0 != *it)).collect();
    if !missing.is_empty() {
        return Err(Error::new(
            Code::McpFailed,
            format!("Playwright's server has no {}", missing.join(", ")),
        )
        .hint(super::HOW));
    }
    let known = |name: &str| ALLOWED.iter().find(|it| it.0 == name);
    let tools = all.iter().filter_map(|(name, help, input)| {
        let mut input = narrowed(input, known(name)?.1);
        if name == "browser_tabs" {
            input["properties"]["action"]["enum"] = json!(["list", "select", "close"]);
        }
        Some(Tool { name: name.clone(), help: cut(&plain(help), HELP), input })
    });
    Ok(tools.collect())
}

/// A schema with no other arguments.
fn narrowed(input: &Value, arguments: &[&str]) -> Value {
    let properties: Map<String, Value> = input["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|it| arguments.contains(&it.0.as_str()))
        .map(|(name, it)| (name.clone(), it.clone()))
        .collect();
    let required = input["required"].as_array().into_iter().flatten();
    let required: Vec<&Value> =
        required.filter(|it| it.as_str().is_some_and(|it| properties.contains_key(it))).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// Whether a change may follow from it: what a page asks for while it is opened or looked at is its own wish.
pub fn acts(name: &str) -> bool {
    ALLOWED.iter().any(|it| it.0 == name && it.2)
}

/// The control that an action is done to, by role and name, as the page has it.
pub fn pressed(act: &Action, seen: &PageView) -> Option<(String, String)> {
    let target = act.text("target").or_else(|| act.text("ref"))?;
    let line = find_by_ref(&seen.content, target).unwrap_or(target);
    let line = read(line).into_iter().next().filter(|it| it.role != "text")?;
    Some((line.role.to_owned(), line.name))
}

/// The call that an action is. Fails with `PARAM_INVALID`, and with `REF_STALE` for what is not on the page.
pub fn call(act: &Action, seen: &PageView) -> Result<(String, Map<String, Value>)> {
    let wrong = |what: &str| Err(Error::new(Code::ParamInvalid, what.to_owned()));
    // The loop's own way to begin.
    let name = if act.name == "goto" { "browser_navigate" } else { &act.name };
    let Some((_, known, _)) = ALLOWED.iter().find(|it| it.0 == name) else {
        return wrong("there is no such action");
    };
    let mut out = Map::new();
    for (name, value) in act.arguments.iter().filter(|it| !it.1.is_null()) {
        if !known.contains(&name.as_str()) {
            return Err(Error::new(Code::ParamInvalid, format!("`{name}` is not allowed here")));
        }
        let value = match (name.as_str(), value) {
            ("target" | "ref", Value::String(it)) => json!(resolve_ref(it, &seen.content)?),
            ("fields", Value::Array(all)) => {
                let all: Result<Vec<Value>> =
                    all.iter().map(|it| field(it, &seen.content)).collect();
                Value::Array(all?)
            }
            ("target" | "ref" | "fields", _) => return wrong("what it is done to is no text"),
            (_, it) => it.clone(),
        };
        out.insert(name.clone(), value);
    }
    match name {
        "browser_press_key" if types(act.text("key").unwrap_or_default()) => {
            return wrong(
                "press keys such as Enter or ArrowDown; a text is typed with browser_type",
            );
        }
        "browser_tabs" if !matches!(act.text("action"), Some("list" | "select" | "close")) => {
            return wrong("`action` is list, select or close");
        }
        "browser_wait_for"
            if out.get("time").and_then(Value::as_f64).is_some_and(|it| it > LONGEST) =>
        {
            return wrong("30 seconds are waited at most");
        }
        _ => {}
    }
    Ok((name.to_owned(), out))
}

/// A field of a form, with no other arguments.
fn field(it: &Value, content: &str) -> Result<Value> {
    let target = it["target"].as_str().or_else(|| it["ref"].as_str());
    let target =
        target.ok_or_else(|| Error::new(Code::ParamInvalid, "`target` is missing for a field"))?;
    let mut out = Map::new();
    let key = if it["target"].is_string() { "target" } else { "ref" };
    out.insert(key.to_owned(), json!(resolve_ref(target, content)?));
    let texts = ["element", "name", "type", "value"].into_iter();
    out.extend(
        texts.filter(|name| it[name].is_string()).map(|name| (name.to_owned(), it[name].clone())),
    );
    Ok(Value::Object(out))
}

/// Whether a key writes something. What was read elsewhere is not written letter by letter.
fn types(key: &str) -> bool {
    let (with, last) = key.rsplit_once('+').unwrap_or(("", key));
    last.chars().count() <= 1
        && !["Control", "ControlOrMeta", "Meta", "Alt"].iter().any(|it| with.contains(it))
}

/// The ref of what is meant: a ref of the page, or a role and a name, with `in "…"` where there are several. Fails with `REF_STALE` and
/// `PARAM_INVALID`.
pub fn resolve_ref(target: &str, content: &str) -> Result<String> {
    let target = target.trim();
    let bare = target.trim_start_matches('@');
    let lines: Vec<&str> = content.lines().collect();
    if bare.chars().all(|it| it.is_ascii_alphanumeric()) {
        let found = lines.iter().find_map(|it| reference(it).filter(|it| *it == bare));
        return found.map(str::to_owned).ok_or_else(|| {
            Error::new(Code::RefStale, format!("there is no {} on the page now", cut(bare, 20)))
        });
    }
    let meant = read(target).into_iter().next();
    let meant = meant.filter(|it| it.role != "text" && !it.name.is_empty()).ok_or_else(|| {
        Error::new(
            Code::ParamInvalid,
            "give a ref of the page such as e12, or a role and a name such as button \"Search\"",
        )
    })?;
    let within = meant.rest.trim().strip_prefix("in ").map(|it| fold(it.trim().trim_matches('"')));
    let mut all: Vec<(usize, &str)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(it) = read(line).into_iter().next() else { continue };
        if it.role == meant.role
            && it.name == meant.name
            && let Some(number) = reference(line)
        {
            all.push((at, number));
        }
    }
    if let Some(words) = within.filter(|_| all.len() > 1) {
        // The smallest part of the page that has both.
        let sizes = all.iter().map(|it| (around(&lines, it.0, &words), it.1));
        let mut sized: Vec<(usize, &str)> = sizes.filter_map(|it| Some((it.0?, it.1))).collect();
        sized.sort_unstable();
        let least = sized.first().map_or(0, |it| it.0);
        all = sized.into_iter().filter(|it| it.0 == least).collect();
    }
    let shown = cut(&plain(target), 100);
    match all.as_slice() {
        [(_, it)] => Ok((*it).to_owned()),
        [] => Err(Error::new(Code::RefStale, format!("there is no {shown} on the page now"))),
        _ => Err(Error::new(
            Code::ParamInvalid,
            format!("{} elements match {shown} on the page", all.len()),
        )
        .hint("give the ref of one of them")),
    }
}

/// Lines of the smallest block around a line that says those words.
fn around(lines: &[&str], at: usize, words: &str) -> Option<usize> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut top = at;
    loop {
        let end = lines[top + 1..].iter().position(|it| depth(it) <= depth(lines[top]));
        let block = &lines[top..end.map_or(lines.len(), |it| top + 1 + it)];
        if block.iter().any(|it| fold(it).contains(words)) {
            return Some(block.len());
        }
        top = lines[..top].iter().rposition(|it| depth(it) < depth(lines[top]))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = "- generic [active] [ref=e1]:
  - link \"Order again\" [ref=e9]:
    - /url: /help
  - table [ref=e16]:
    - row [ref=e25]:
      - cell \"R-0913\" [ref=e26]
      - cell [ref=e30]:
        - link \"Order again\" [ref=e31] [cursor=pointer]:
          - /url: /again?order=R-0913
    - row [ref=e32]:
      - cell \"R-0877\" [ref=e33]
      - cell [ref=e37]:
        - link \"Order again\" [ref=e38] [cursor=pointer]:
  - spinbutton \"Quantity\" [ref=f2e40]: \"2\"
  - button \"[ref=e31] Pay\" [ref=e41]
";

    fn act(name: &str, arguments: Value) -> Action {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        Action { name: name.into(), arguments }
    }

    fn called(name: &str, arguments: Value) -> Result<Value> {
        let seen =
            PageView { url: "http://a.test/".into(), title: String::new(), content: ORDERS.into() };
        call(&act(name, arguments), &seen).map(|it| json!([it.0, it.1]))
    }

    #[test]
    fn what_is_meant_is_found() {
        for (target, expected) in [
            ("e31", Ok("e31")),
            ("@f2e40", Ok("f2e40")),
            ("e99", Err(Code::RefStale)),
            ("link \"Order again\" in \"R-0877\"", Ok("e38")),
            ("link \"order  again\" in \"r-0913\"", Ok("e31")),
            ("link \"Order again\"", Err(Code::ParamInvalid)),
            ("link \"Order again\" in \"R-1\"", Err(Code::RefStale)),
            ("spinbutton \"Quantity\"", Ok("f2e40")),
            ("button \"Quantity\"", Err(Code::RefStale)),
            ("#pay", Err(Code::ParamInvalid)),
            ("css=button", Err(Code::ParamInvalid)),
            ("text=Pay", Err(Code::ParamInvalid)),
            ("role=button[name=\"Pay\"]", Err(Code::ParamInvalid)),
            ("", Err(Code::RefStale)),
        ] {
            let found = resolve_ref(target, ORDERS).map_err(|it| it.code());
            assert_eq!(found.as_deref().map_err(|it| *it), expected, "{target}");
        }
    }

    #[test]
    fn only_what_is_on_the_list_is_called() {
        for (name, arguments) in [
            ("browser_evaluate", json!({"function": "() => 1"})),
            ("browser_run_code_unsafe", json!({"code": "x"})),
            ("browser_file_upload", json!({"paths": ["/etc/passwd"]})),
            ("browser_install", json!({})),
            ("browser_network_requests", json!({"static": true})),
            ("browser_take_screenshot", json!({})),
            ("browser_close", json!({})),
            ("click", json!({"target": "e31"})),
            ("browser_snapshot", json!({"filename": "x.yml"})),
            ("browser_find", json!({"text": "a", "filename": "x"})),
            ("browser_click", json!({"target": "e31", "modifiers": ["Alt"]})),
            ("browser_click", json!({"target": 31})),
            ("browser_tabs", json!({"action": "new"})),
            ("browser_tabs", json!({"action": "new", "url": "http://a.test/"})),
            ("browser_press_key", json!({"key": "a"})),
            ("browser_press_key", json!({"key": "Shift+a"})),
            ("browser_wait_for", json!({"time": 3000})),
            ("browser_fill_form", json!({"fields": [{"name": "q", "value": "x"}]})),
            ("browser_fill_form", json!({"fields": [{"target": "#q", "value": "x"}]})),
        ] {
            let told = format!("{name} {arguments}");
            assert_eq!(called(name, arguments).unwrap_err().code(), Code::ParamInvalid, "{told}");
        }
        for (name, arguments, expected) in [
            (
                "goto",
                json!({"url": "http://a.test/"}),
                json!(["browser_navigate", {"url": "http://a.test/"}]),
            ),
            (
                "browser_click",
                json!({"element": "Order again", "target": "link \"Order again\" in \"R-0913\"", "doubleClick": null}),
                json!(["browser_click", {"element": "Order again", "target": "e31"}]),
            ),
            (
                "browser_press_key",
                json!({"key": "Enter"}),
                json!(["browser_press_key", {"key": "Enter"}]),
            ),
            (
                "browser_press_key",
                json!({"key": "Control+a"}),
                json!(["browser_press_key", {"key": "Control+a"}]),
            ),
            (
                "browser_fill_form",
                json!({"fields": [{"target": "@f2e40", "name": "q", "type": "textbox", "value": "x", "script": "y"}]}),
                json!(["browser_fill_form", {"fields": [{"target": "f2e40", "name": "q", "type": "textbox", "value": "x"}]}]),
            ),
        ] {
            assert_eq!(called(name, arguments).unwrap(), expected);
        }
    }

    #[test]
    fn a_tool_keeps_only_the_arguments_that_are_known() {
        let tool =
            |name: &str, input: Value| (name.to_owned(), "Does it\u{1b}[2J".to_owned(), input);
        let mut all: Vec<_> = NEEDED.iter().map(|it| tool(it, json!({"type": "object"}))).collect();
        all.push(tool("browser_evaluate", json!({})));
        all.push(tool(
            "browser_tabs",
            json!({"$schema": "x", "properties": {"action": {"enum": ["new"]}, "url": {}}, "required": ["action", "url"]}),
        ));
        let offered = offered(&all).unwrap();
        let names: Vec<&str> = offered.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "browser_snapshot",
                "browser_click",
                "browser_navigate",
                "browser_type",
                "browser_tabs"
            ]
        );
        let tabs = &offered[4];
        assert_eq!(
            tabs.input,
            json!({"type": "object", "properties": {"action": {"enum": ["list", "select", "close"]}}, "required": ["action"]})
        );
        assert!(!tabs.help.contains('\u{1b}'));
        let err = super::offered(&all[1..]).unwrap_err();
        assert_eq!(err.code(), Code::McpFailed);
        assert!(err.message().contains("browser_snapshot"), "{err}");
    }
}
