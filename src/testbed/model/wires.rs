//! The three wire formats, as their servers see them: a request read into a conversation, what is said written into an answer.
//!
//! What the providers answer with status 400 is refused here as well, as far as a client of tools can get it wrong.

use serde_json::{Map, Value, json};

use super::script::Call;

/// Ids of calls that a page commanded begin so, which is how they are known again.
pub const OBEYED: &str = "obeyed_";
/// What Gemini takes for a signature where there is none.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    Anthropic,
    Openai,
    Gemini,
}

/// A request, of whatever format.
#[derive(Debug)]
pub struct ChatRequest {
    model: String,
    pub said: Vec<Message>,
}

/// One thing that was said.
#[derive(Debug)]
pub enum Message {
    User(String),
    Model { calls: Vec<ToolCall> },
    Result { id: String, text: String },
}

/// A call as the request repeats it.
#[derive(Debug)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

type ParseResult<T> = Result<T, String>;

impl ChatRequest {
    /// The first message.
    pub fn first(&self) -> &str {
        let text = |it: &'_ Message| matches!(it, Message::User(_));
        match self.said.iter().find(|it| text(it)) {
            Some(Message::User(text)) => text,
            _ => "",
        }
    }

    /// How often the model spoke.
    fn spoken(&self) -> usize {
        self.said.iter().filter(|it| matches!(it, Message::Model { .. })).count()
    }
}

impl WireFormat {
    /// By the path of the request, whatever stands before it.
    pub fn from_path(path: &str) -> Option<Self> {
        if path.ends_with("/chat/completions") {
            Some(Self::Openai)
        } else if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.contains("/models/") && path.ends_with(":generateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// The conversation; the error is why such a request is refused.
    pub fn read(self, body: &Value) -> ParseResult<ChatRequest> {
        let said = match self {
            Self::Anthropic => anthropic(body)?,
            Self::Openai => openai(body)?,
            Self::Gemini => gemini(body)?,
        };
        self.check_tools(body)?;
        check_order(&said)?;
        let model = body["model"].as_str().unwrap_or("scripted").to_owned();
        Ok(ChatRequest { model, said })
    }

    /// Names and schemas. The strictest of the three is asked of all.
    fn check_tools(self, body: &Value) -> ParseResult<()> {
        let tools: Vec<[&Value; 2]> = match self {
            Self::Anthropic => {
                list(&body["tools"]).map(|it| [&it["name"], &it["input_schema"]]).collect()
            }
            Self::Openai => list(&body["tools"])
                .map(|it| &it["function"])
                .map(|it| [&it["name"], &it["parameters"]])
                .collect(),
            Self::Gemini => list(&body["tools"])
                .flat_map(|it| list(&it["functionDeclarations"]))
                .map(|it| {
                    [&it["name"], it.get("parametersJsonSchema").unwrap_or(&it["parameters"])]
                })
                .collect(),
        };
        for [name, schema] in tools {
            let plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
            let name = name.as_str().unwrap_or_default();
            if !(1..=64).contains(&name.len()) || !name.chars().all(plain) {
                return Err(format!("no tool may be called `{name}`"));
            }
            if schema["type"] != "object" {
                return Err(format!("what `{name}` takes is no object"));
            }
        }
        Ok(())
    }

    /// What is said next, with a quarter of the bytes as tokens.
    pub fn write(
        self,
        chat: &ChatRequest,
        text: &str,
        calls: &[Call],
        obeyed: bool,
        asked: usize,
    ) -> Value {
        let turn = chat.spoken();
        let kind = if obeyed { OBEYED } else { "call_" };
        let calls = calls.iter().enumerate().map(|(n, it)| (format!("{kind}{turn}_{n}"), it));
        let mut out = match self {
            Self::Anthropic => {
                let mut content = Vec::new();
                if !text.is_empty() {
                    content.push(json!({"type": "text", "text": text}));
                }
                content.extend(calls.map(|(id, it)| {
                    json!({"type": "tool_use", "id": id, "name": it.name, "input": it.arguments})
                }));
                let calls = content.iter().any(|it| it["type"] == "tool_use");
                json!({
                    "id": format!("msg_{turn}"), "type": "message", "role": "assistant",
                    "model": chat.model, "content": content, "stop_sequence": null,
                    "stop_reason": if calls { "tool_use" } else { "end_turn" },
                })
            }
            Self::Openai => {
                let calls: Vec<Value> = calls
                    .map(|(id, it)| {
                        let arguments = match &it.arguments {
                            Value::String(it) => it.clone(),
                            it => it.to_string(),
                        };
                        json!({"id": id, "type": "function", "function": {"name": it.name, "arguments": arguments}})
                    })
                    .collect();
                let stop = if calls.is_empty() { "stop" } else { "tool_calls" };
                let mut message = json!({"role": "assistant", "content": text, "refusal": null});
                if !calls.is_empty() {
                    message["tool_calls"] = Value::Array(calls);
                }
                json!({
                    "id": format!("chatcmpl-{turn}"), "object": "chat.completion", "created": 0,
                    "model": chat.model,
                    "choices": [{"index": 0, "message": message, "finish_reason": stop}],
                })
            }
            Self::Gemini => {
                let mut parts = Vec::new();
                if !text.is_empty() {
                    parts.push(json!({"text": text}));
                }
                for (n, (id, it)) in calls.enumerate() {
                    let signature = signature(&id);
                    let mut part =
                        json!({"functionCall": {"id": id, "name": it.name, "args": it.arguments}});
                    // As it does: on the first of several.
                    if n == 0 {
                        part["thoughtSignature"] = Value::String(signature);
                    }
                    parts.push(part);
                }
                json!({
                    "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts}}],
                    "modelVersion": "scripted",
                })
            }
        };
        let (read, written) = (asked / 4, out.to_string().len() / 4);
        let (place, usage) = match self {
            Self::Anthropic => ("usage", json!({"input_tokens": read, "output_tokens": written})),
            Self::Openai => (
                "usage",
                json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}),
            ),
            Self::Gemini => (
                "usageMetadata",
                json!({"promptTokenCount": read, "candidatesTokenCount": written, "totalTokenCount": read + written}),
            ),
        };
        out[place] = usage;
        out
    }
}

/// Each call has its result, right after it and nowhere else; the conversation begins with a person.
fn check_order(said: &[Message]) -> ParseResult<()> {
    if !matches!(said.first(), Some(Message::User(_))) {
        return Err("a conversation begins with a message of the user".to_owned());
    }
    let mut open: Vec<&str> = Vec::new();
    for it in said {
        match it {
            Message::Result { id, .. } => {
                let at = open.iter().position(|it| it == id);
                open.remove(at.ok_or_else(|| format!("nobody asked for the result `{id}`"))?);
            }
            _ if !open.is_empty() => return Err(format!("the call `{}` has no result", open[0])),
            Message::Model { calls } => open = calls.iter().map(|it| it.id.as_str()).collect(),
            Message::User(_) => (),
        }
    }
    open.first().map_or(Ok(()), |it| Err(format!("the call `{it}` has no result")))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A text, or the texts of a list of blocks.
fn texts(content: &Value) -> String {
    match content {
        Value::String(it) => it.clone(),
        it => list(it).filter_map(|it| it["text"].as_str()).collect::<Vec<_>>().join("\n"),
    }
}

fn anthropic(body: &Value) -> ParseResult<Vec<Message>> {
    if body["max_tokens"].as_u64().is_none_or(|it| it == 0) {
        return Err("max_tokens is missing".to_owned());
    }
    let mut out = Vec::new();
    for message in list(&body["messages"]) {
        let content = &message["content"];
        let is_empty = |it: &Value| it["type"] == "text" && it["text"] == "";
        if content == "" || content == &json!([]) || list(content).any(is_empty) {
            return Err("a text is empty".to_owned());
        }
        if message["role"] == "assistant" {
            let calls = list(content).filter(|it| it["type"] == "tool_use");
            let calls = calls.map(|it| tool_call(&it["id"], &it["name"], it["input"].clone()));
            out.push(Message::Model { calls: calls.collect() });
            continue;
        }
        for result in list(content).filter(|it| it["type"] == "tool_result") {
            let (id, text) = (text_of(&result["tool_use_id"]), texts(&result["content"]));
            out.push(Message::Result { id, text });
        }
        let text = texts(content);
        if !text.is_empty() {
            out.push(Message::User(text));
        }
    }
    Ok(out)
}

fn openai(body: &Value) -> ParseResult<Vec<Message>> {
    let mut out = Vec::new();
    for message in list(&body["messages"]) {
        let text = texts(&message["content"]);
        out.push(match message["role"].as_str() {
            Some("user") => Message::User(text),
            Some("tool") => Message::Result { id: text_of(&message["tool_call_id"]), text },
            Some("assistant") => {
                let calls = list(&message["tool_calls"]).map(|it| {
                    let function = &it["function"];
                    let arguments = function["arguments"].as_str().unwrap_or_default();
                    let arguments = serde_json::from_str(arguments);
                    tool_call(&it["id"], &function["name"], arguments.unwrap_or_default())
                });
                Message::Model { calls: calls.collect() }
            }
            Some("system" | "developer") => continue,
            _ => return Err("a message has a role that there is not".to_owned()),
        });
    }
    Ok(out)
}

fn gemini(body: &Value) -> ParseResult<Vec<Message>> {
    let mut out = Vec::new();
    for message in list(&body["contents"]) {
        let parts = &message["parts"];
        if message["role"] == "model" {
            let mut calls = Vec::new();
            for part in list(parts).filter(|it| it["functionCall"].is_object()) {
                let call = &part["functionCall"];
                let it = tool_call(call_id(call), &call["name"], call["args"].clone());
                let signed = part["thoughtSignature"].as_str();
                let good = signed.is_some_and(|by| by == signature(&it.id) || by == UNSIGNED);
                if calls.is_empty() && !good {
                    return Err(format!("the call `{}` lacks its thought_signature", it.id));
                }
                calls.push(it);
            }
            out.push(Message::Model { calls });
            continue;
        }
        for part in list(parts) {
            let came = &part["functionResponse"];
            if came.is_object() {
                let text = match &came["response"]["content"] {
                    Value::String(it) => it.clone(),
                    _ => came["response"].to_string(),
                };
                out.push(Message::Result { id: text_of(call_id(came)), text });
            }
        }
        let text = texts(parts);
        if !text.is_empty() {
            out.push(Message::User(text));
        }
    }
    Ok(out)
}

fn tool_call(id: &Value, name: &Value, arguments: Value) -> ToolCall {
    let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
    ToolCall { id: text_of(id), name: text_of(name), arguments }
}

/// A call without an id is known by its name.
fn call_id(call: &Value) -> &Value {
    call.get("id").unwrap_or(&call["name"])
}

fn signature(id: &str) -> String {
    format!("thought of {id}")
}
