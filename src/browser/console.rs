//! What a page writes to its console, as lines.

use serde::Deserialize;
use serde_json::Value;

use super::cdp_event::Event;

const MAX_LINE: usize = 400;

/// One message, exception, or entry of the browser's log. `None` for what says nothing.
pub fn line(event: &Event) -> Option<String> {
    let (kind, text) = match &*event.method {
        "Runtime.consoleAPICalled" => {
            let it: ConsoleApiCalled = event.read()?;
            (it.kind, it.args.iter().map(Argument::to_text).collect::<Vec<_>>().join(" "))
        }
        "Runtime.exceptionThrown" => {
            let it = event.read::<ExceptionThrown>()?.exception_details;
            let what = it.exception.map(|it| it.description).filter(|it| !it.is_empty());
            // Its own frames; the first line says what it is.
            let what = what.unwrap_or(it.text);
            ("exception".to_owned(), what.lines().take(2).collect::<Vec<_>>().join(" "))
        }
        _ => {
            let it = event.read::<LogEntryAdded>()?.entry;
            let at = it.url.map(|it| format!(" ({it})")).unwrap_or_default();
            (it.level, format!("{}{at}", it.text))
        }
    };
    let line: String = format!("{kind}: {text}").chars().take(MAX_LINE).collect();
    (!text.trim().is_empty()).then_some(line)
}

#[derive(Deserialize)]
struct ConsoleApiCalled {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    args: Vec<Argument>,
}

#[derive(Deserialize)]
struct Argument {
    #[serde(default)]
    value: Value,
    #[serde(default)]
    description: String,
}

impl Argument {
    fn to_text(&self) -> String {
        match &self.value {
            Value::String(it) => it.clone(),
            Value::Null => self.description.clone(),
            other => other.to_string(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionThrown {
    exception_details: ExceptionDetails,
}

#[derive(Deserialize)]
struct ExceptionDetails {
    #[serde(default)]
    text: String,
    exception: Option<RemoteObject>,
}

#[derive(Deserialize)]
struct RemoteObject {
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
struct LogEntryAdded {
    entry: LogEntry,
}

#[derive(Deserialize)]
struct LogEntry {
    level: String,
    text: String,
    url: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_lines() {
        let check = |method: &str, params: Value, expected: Option<&str>| {
            assert_eq!(
                line(&Event::literal("s", method, &params)).as_deref(),
                expected,
                "{params}"
            );
        };
        let args = json!([{ "type": "string", "value": "no" }, { "type": "object", "description": "Object" }, { "value": 7 }]);
        check(
            "Runtime.consoleAPICalled",
            json!({ "type": "error", "args": args }),
            Some("error: no Object 7"),
        );
        check("Runtime.consoleAPICalled", json!({ "type": "log", "args": [] }), None);
        let thrown = json!({ "text": "Uncaught", "exception": { "description": "TypeError: x\n    at a.js:1\n    at b.js:2" } });
        check(
            "Runtime.exceptionThrown",
            json!({ "exceptionDetails": thrown }),
            Some("exception: TypeError: x     at a.js:1"),
        );
        let entry = json!({ "level": "error", "text": "404", "url": "http://a.test/x", "source": "network" });
        check("Log.entryAdded", json!({ "entry": entry }), Some("error: 404 (http://a.test/x)"));
    }
}
