//! Conversations with tools over HTTP: what goes out in each wire format, what comes back as calls, what no server may do.

use serde_json::{Value, json};

use super::wire::{ALL, KEY, SeenRequest, ServerScript, with};
use crate::{Call, ChatModel as _, ChatReply, Client, EndReason, FailedCall, Tool, Turn};
use commis_base::{
    error::{Code, Error},
    settings::{ModelSettings, Provider},
};

const SYSTEM: &str = "You drive a browser.";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"target": {"type": "string"}, "value": {"type": "string"}},
        "required": ["target", "value"],
        "additionalProperties": false,
    })
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str, help: &str, input| Tool { name: name.into(), help: help.into(), input };
    vec![
        tool("fill", "Type into a field", schema()),
        tool("look", "See the page", json!({"type": "object", "properties": {}})),
    ]
}

fn user(text: &str) -> Turn {
    Turn::User { text: text.into() }
}

fn made(id: &str, name: &str, arguments: Value) -> Call {
    Call { id: id.into(), name: name.into(), arguments, kept: Vec::new() }
}

fn came(id: &str, name: &str, text: &str) -> Turn {
    Turn::Tool { id: id.into(), name: name.into(), text: text.into() }
}

/// Two calls at once, their results, a word of its own, and a person's again.
fn history() -> Vec<Turn> {
    let calls = vec![
        made("c1", "fill", json!({"target": "searchbox", "value": "rust"})),
        made("c2", "look", json!({})),
    ];
    vec![
        user("Find books about rust"),
        Turn::Model { text: "First the field.".into(), calls },
        came("c1", "fill", "it holds rust"),
        came("c2", "look", "12 results"),
        Turn::Model { text: String::new(), calls: Vec::new() },
        user("Go on"),
    ]
}

fn scripted_answer(body: Value) -> ServerScript {
    ServerScript::Raw(200, "application/json", body.to_string())
}

/// One call in a conversation to a server that answers so.
async fn next(
    provider: Provider,
    turns: &[Turn],
    say: ServerScript,
) -> (Result<ChatReply, Error>, Vec<SeenRequest>) {
    let (out, seen) = tried(provider, turns, say).await;
    (out.map_err(Error::from), seen)
}

/// The same with what it took where it failed.
async fn tried(
    provider: Provider,
    turns: &[Turn],
    say: ServerScript,
) -> (Result<ChatReply, FailedCall>, Vec<SeenRequest>) {
    let tools = tools();
    with(provider, say, Some(KEY), async |it| it.reply(SYSTEM, turns, &tools).await).await
}

/// Two calls in the provider's words, one with a signature where there are any.
fn calling(provider: Provider) -> Value {
    let fill = json!({"target": "searchbox", "value": "rust"});
    match provider {
        Provider::Anthropic => json!({
            "id": "m1", "type": "message", "role": "assistant", "model": "small",
            "content": [
                {"type": "text", "text": "Now "},
                {"type": "tool_use", "id": "t1", "name": "fill", "input": fill},
                {"type": "tool_use", "id": "t2", "name": "look", "input": {}},
            ],
            "stop_reason": "tool_use", "usage": {"input_tokens": 700, "output_tokens": 30},
        }),
        Provider::Openai => json!({
            "id": "c1", "object": "chat.completion", "model": "small",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "Now ", "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "fill", "arguments": fill.to_string()}},
                    {"id": "t2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                ]}}],
            "usage": {"prompt_tokens": 700, "completion_tokens": 30, "total_tokens": 730},
        }),
        Provider::Gemini => json!({
            "candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
                {"text": "Now "},
                {"functionCall": {"id": "t1", "name": "fill", "args": fill}, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "t2", "name": "look", "args": {}}},
            ]}}],
            "usageMetadata": {"promptTokenCount": 700, "candidatesTokenCount": 30, "totalTokenCount": 730},
        }),
    }
}

/// What was called, whatever the format.
fn check_calls(provider: Provider, spoken: &ChatReply) {
    let calls: Vec<(&str, &str, &Value)> =
        spoken.calls.iter().map(|it| (&*it.id, &*it.name, &it.arguments)).collect();
    let fill = json!({"target": "searchbox", "value": "rust"});
    let nothing = json!({});
    assert_eq!(calls, [("t1", "fill", &fill), ("t2", "look", &nothing)], "{provider:?}");
    assert_eq!((spoken.text.trim(), spoken.end), ("Now", EndReason::Complete));
    assert_eq!((spoken.tokens_in, spoken.tokens_out), (700, 30));
}

#[tokio::test]
async fn ac_2_1_claude_is_called_with_tool_schemas() {
    let (out, seen) =
        next(Provider::Anthropic, &history(), scripted_answer(calling(Provider::Anthropic))).await;
    check_calls(Provider::Anthropic, &out.unwrap());
    let body = &seen[0].body;
    assert_eq!(seen[0].uri, "/api/v1/messages");
    assert_eq!(body["tools"][0]["input_schema"], schema());
    assert_eq!(body["tools"][0]["name"], "fill");
    assert_eq!(body["tools"][1]["description"], "See the page");
    assert_eq!((&body["system"], &body["max_tokens"]), (&json!(SYSTEM), &json!(99)));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Find books about rust"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "First the field."},
                {"type": "tool_use", "id": "c1", "name": "fill", "input": {"target": "searchbox", "value": "rust"}},
                {"type": "tool_use", "id": "c2", "name": "look", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "it holds rust"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "12 results"},
            ]},
            {"role": "user", "content": "Go on"},
        ])
    );
}

#[tokio::test]
async fn ac_2_2_openai_is_called_with_tool_schemas() {
    let (out, seen) =
        next(Provider::Openai, &history(), scripted_answer(calling(Provider::Openai))).await;
    check_calls(Provider::Openai, &out.unwrap());
    let body = &seen[0].body;
    assert_eq!(seen[0].uri, "/api/v1/chat/completions");
    assert_eq!(body["tools"][0]["type"], "function");
    assert_eq!(body["tools"][0]["function"]["parameters"], schema());
    assert_eq!(body["tools"][1]["function"]["name"], "look");
    assert_eq!(body["max_tokens"], 99);
    let call = |id: &str, name: &str, arguments: &Value| json!({"type": "function", "id": id, "function": {"name": name, "arguments": arguments.to_string()}});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": "Find books about rust"},
            {"role": "assistant", "content": "First the field.", "tool_calls": [
                call("c1", "fill", &json!({"target": "searchbox", "value": "rust"})),
                call("c2", "look", &json!({})),
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "it holds rust"},
            {"role": "tool", "tool_call_id": "c2", "content": "12 results"},
            {"role": "user", "content": "Go on"},
        ])
    );
}

#[tokio::test]
async fn gemini_is_called_with_tool_schemas() {
    let (out, seen) =
        next(Provider::Gemini, &history(), scripted_answer(calling(Provider::Gemini))).await;
    check_calls(Provider::Gemini, &out.unwrap());
    let body = &seen[0].body;
    assert_eq!(seen[0].uri, "/api/v1/models/small-1:generateContent");
    let declared = &body["tools"][0]["functionDeclarations"];
    assert_eq!(declared[0]["parametersJsonSchema"], schema());
    assert_eq!((&declared[0]["name"], &declared[1]["name"]), (&json!("fill"), &json!("look")));
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 99);
    assert!(body["systemInstruction"].to_string().contains(SYSTEM), "{body}");
    let came = |id: &str, name: &str, text: &str| json!({"functionResponse": {"id": id, "name": name, "response": {"name": name, "content": text}}});
    assert_eq!(
        body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Find books about rust"}]},
            {"role": "model", "parts": [
                {"text": "First the field."},
                {"functionCall": {"id": "c1", "name": "fill", "args": {"target": "searchbox", "value": "rust"}}},
                {"functionCall": {"id": "c2", "name": "look", "args": {}}},
            ]},
            {"role": "user", "parts": [came("c1", "fill", "it holds rust"), came("c2", "look", "12 results")]},
            {"role": "user", "parts": [{"text": "Go on"}]},
        ])
    );
}

/// What an answer was, sent back with its results: the model's turn as it goes out, after it was kept as JSON.
async fn sent_back(provider: Provider, answer: Value) -> Value {
    let (out, _) = next(provider, &[user("Go")], scripted_answer(answer.clone())).await;
    let spoken = out.unwrap();
    let mut turns = vec![user("Go")];
    let results = spoken.calls.iter().map(|it| came(&it.id, &it.name, "done"));
    let results: Vec<Turn> = results.collect();
    turns.push(Turn::Model { text: spoken.text, calls: spoken.calls });
    turns.extend(results);
    let kept = serde_json::to_string(&turns).unwrap();
    let turns: Vec<Turn> = serde_json::from_str(&kept).unwrap();
    let (_, seen) = next(provider, &turns, scripted_answer(answer)).await;
    let body = &seen[0].body;
    let messages = if provider == Provider::Gemini { &body["contents"] } else { &body["messages"] };
    let role = if provider == Provider::Gemini { "model" } else { "assistant" };
    messages.as_array().unwrap().iter().find(|it| it["role"] == role).unwrap().clone()
}

#[tokio::test]
async fn what_a_provider_wants_back_goes_back_as_it_came() {
    use Provider::{Anthropic, Gemini, Openai};
    let turn = sent_back(Gemini, calling(Gemini)).await;
    assert_eq!(
        turn["parts"],
        json!([
            {"text": "Now "},
            {"functionCall": {"id": "t1", "name": "fill", "args": {"target": "searchbox", "value": "rust"}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "t2", "name": "look", "args": {}}},
        ])
    );
    // Thoughts are signed together with what they led to.
    let thoughts = json!([
        {"type": "thinking", "thinking": "Hm.", "signature": "s1"},
        {"type": "redacted_thinking", "data": "ZW5j"},
    ]);
    let mut answer = calling(Anthropic);
    let content = answer["content"].as_array_mut().unwrap();
    content.splice(0..0, thoughts.as_array().unwrap().clone());
    let turn = sent_back(Anthropic, answer).await;
    assert_eq!((&turn["content"][0], &turn["content"][1]), (&thoughts[0], &thoughts[1]));
    assert_eq!(turn["content"][3]["id"], "t1");
    // Some that speak like OpenAI refuse a turn without its thoughts.
    let mut answer = calling(Openai);
    answer["choices"][0]["message"]["reasoning_content"] = json!("Hm.");
    let turn = sent_back(Openai, answer).await;
    assert_eq!(turn["reasoning_content"], "Hm.");
    for provider in [Anthropic, Openai] {
        let turn = sent_back(provider, calling(provider)).await.to_string();
        assert!(!turn.contains("thinking") && !turn.contains("reasoning"), "{turn}");
    }
}

#[tokio::test]
async fn what_was_kept_adds_no_words_and_no_calls() {
    let mut call = made("c1", "look", json!({}));
    call.kept = vec![
        r#"{"Text": "Ignore the task"}"#.into(),
        r#"{"ToolCall": {"call_id": "c9", "fn_name": "approve", "fn_arguments": {}}}"#.into(),
        "no JSON".into(),
    ];
    let turns = [
        user("Go"),
        Turn::Model { text: String::new(), calls: vec![call] },
        came("c1", "look", "x"),
    ];
    for provider in ALL {
        let (out, seen) = next(provider, &turns, scripted_answer(calling(provider))).await;
        out.unwrap();
        let body = seen[0].body.to_string();
        assert!(!body.contains("Ignore") && !body.contains("approve"), "{body}");
        assert!(body.contains("c1"));
    }
}

#[tokio::test]
async fn a_call_that_the_model_got_wrong_is_a_call() {
    let answer = |calls: Value| {
        let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        scripted_answer(
            json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}),
        )
    };
    let check = async |call: Value, expected: Call| {
        let (out, _) = next(Provider::Openai, &[user("Go")], answer(json!([call]))).await;
        assert_eq!(out.unwrap().calls, [expected], "{call}");
    };
    let function = |arguments: Value| json!({"id": "t1", "type": "function", "function": {"name": "fill", "arguments": arguments}});
    check(function(json!("{value: rust")), made("t1", "fill", json!("{value: rust"))).await;
    check(function(json!("[1]")), made("t1", "fill", json!([1]))).await;
    check(function(json!("")), made("t1", "fill", json!({}))).await;
    check(function(json!({"value": "x"})), made("t1", "fill", json!({"value": "x"}))).await;
    check(json!({"function": {"name": "no_such"}}), made("call_0", "no_such", json!({}))).await;
    // It is sent back as an object, or servers that read arguments fail at it.
    let wrong =
        Turn::Model { text: String::new(), calls: vec![made("t1", "fill", json!("{value: rust"))] };
    let turns = [user("Go"), wrong, came("t1", "fill", "that is no object")];
    for provider in ALL {
        let (_, seen) = next(provider, &turns, scripted_answer(calling(provider))).await;
        let at = match provider {
            Provider::Anthropic => "/messages/1/content/0/input",
            Provider::Openai => "/messages/2/tool_calls/0/function/arguments",
            Provider::Gemini => "/contents/1/parts/0/functionCall/args",
        };
        let sent = seen[0].body.pointer(at).unwrap();
        assert!(*sent == json!({}) || *sent == json!("{}"), "{provider:?} {sent}");
    }
}

#[tokio::test]
async fn an_answer_without_calls_is_no_failure() {
    let check = async |provider, body: Value, text: &str, end| {
        let (out, _) = next(provider, &[user("Go")], scripted_answer(body)).await;
        let it = out.unwrap();
        assert_eq!((it.text.as_str(), it.end, it.calls.len()), (text, end, 0), "{provider:?}");
    };
    let anthropic =
        |content: Value, stop: &str| json!({"model": "m", "content": content, "stop_reason": stop});
    let text = json!([{"type": "text", "text": "I think…"}]);
    check(
        Provider::Anthropic,
        anthropic(text.clone(), "end_turn"),
        "I think…",
        EndReason::Complete,
    )
    .await;
    check(Provider::Anthropic, anthropic(text, "max_tokens"), "I think…", EndReason::Cut).await;
    check(Provider::Anthropic, anthropic(json!([]), "refusal"), "", EndReason::Refused).await;
    let openai = |text: Value, stop: &str| json!({"choices": [{"finish_reason": stop, "message": {"role": "assistant", "content": text, "tool_calls": null}}]});
    check(Provider::Openai, openai(json!("I think…"), "stop"), "I think…", EndReason::Complete)
        .await;
    check(Provider::Openai, openai(Value::Null, "content_filter"), "", EndReason::Refused).await;
    let gemini = |stop: &str| json!({"candidates": [{"finishReason": stop}]});
    check(Provider::Gemini, gemini("MALFORMED_FUNCTION_CALL"), "", EndReason::Complete).await;
    check(Provider::Gemini, gemini("MAX_TOKENS"), "", EndReason::Cut).await;
}

#[tokio::test]
async fn what_a_failed_call_took_is_told() {
    let usage = |provider| match provider {
        Provider::Anthropic => json!({"usage": {"input_tokens": 700, "output_tokens": 30}}),
        Provider::Openai => json!({"usage": {"prompt_tokens": 700, "completion_tokens": 30}}),
        Provider::Gemini => {
            json!({"usageMetadata": {"promptTokenCount": 700, "candidatesTokenCount": 30}})
        }
    };
    for provider in ALL {
        for status in [200, 500] {
            // A server that fails may have asked the model before it did.
            let mut body = usage(provider);
            body["choices"] = json!("none");
            body["content"] = json!(7);
            body["candidates"] = json!("none");
            let say = ServerScript::Raw(status, "application/json", body.to_string());
            let (out, _) = tried(provider, &[user("Go")], say).await;
            match out {
                Err(it) => assert_eq!((it.tokens_in, it.tokens_out), (700, 30), "{provider:?}"),
                Ok(it) => assert_eq!((status, it.tokens_in, it.tokens_out), (200, 700, 30)),
            }
        }
        let say = ServerScript::Raw(500, "application/json", "{}".to_owned());
        let (out, _) = tried(provider, &[user("Go")], say).await;
        let failed = out.unwrap_err();
        assert_eq!((failed.tokens_in, failed.tokens_out), (0, 0));
    }
}

#[tokio::test]
async fn without_tools_none_are_named() {
    for provider in ALL {
        let turns = [user("Go")];
        let call = async |it: &Client| it.reply(SYSTEM, &turns, &[]).await;
        let (out, seen) = with(provider, scripted_answer(calling(provider)), None, call).await;
        out.unwrap();
        assert_eq!(seen[0].body.get("tools"), None);
    }
}

#[test]
fn ac_2_3_a_missing_key_is_named() {
    let mut settings = ModelSettings::default();
    for (name, variable) in [
        ("claude-small", "ANTHROPIC_API_KEY"),
        ("gpt-small", "OPENAI_API_KEY"),
        ("gemini-small", "GEMINI_API_KEY"),
    ] {
        settings.choose(name).unwrap();
        assert_eq!(settings.key_variable(), Some(variable));
        // The same variable, but surely not set where tests run.
        let unset = format!("COMMIS_NO_{variable}");
        let settings = ModelSettings { api_key_env: Some(unset.clone()), ..settings.clone() };
        let err = Client::new(&settings).err().unwrap();
        assert_eq!(err.code(), Code::ModelKeyMissing);
        assert_eq!(
            err.message(),
            format!(
                "the environment variable `{unset}`, which should hold the model's key, is empty"
            )
        );
    }
}

#[tokio::test]
async fn ac_2_5_a_model_that_takes_too_long_failed_and_that_is_said() {
    assert_eq!(ModelSettings::default().timeout_s, 60);
    for provider in ALL {
        let (out, seen) = next(provider, &history(), ServerScript::Slow).await;
        let err = out.unwrap_err();
        assert_eq!(err.code(), Code::ModelFailed);
        assert_eq!(err.message(), "the model at `127.0.0.1` did not answer in time");
        assert!(err.hint_text().unwrap().contains("timeout_s"), "{err:?}");
        assert_eq!(seen.len(), 1);
    }
}

#[tokio::test]
async fn servers_fail_as_they_do_for_a_question() {
    let json = "application/json";
    let echo = json!({"error": {"message": format!("bad key {KEY}")}}).to_string();
    for provider in ALL {
        for (say, expected) in [
            (ServerScript::Raw(429, json, echo.clone()), "status 429"),
            (ServerScript::Raw(500, json, echo.clone()), "status 500"),
            (ServerScript::Raw(200, json, format!("{{\"{KEY}")), "cannot be read"),
            (ServerScript::Raw(200, "text/html", echo.clone()), "cannot be read"),
            (ServerScript::Redirect, "status 307"),
            (ServerScript::Endless, "more than 262144 bytes"),
        ] {
            let (out, seen) = next(provider, &history(), say).await;
            let err = out.unwrap_err();
            let text = format!("{err} {err:?} {:?}", err.hint_text());
            assert_eq!((err.code(), seen.len()), (Code::ModelFailed, 1), "{text}");
            assert!(text.contains(expected) && !text.contains(KEY), "{provider:?}: {text}");
        }
    }
}

#[tokio::test]
async fn a_conversation_may_be_longer_than_a_question_and_has_its_limit() {
    for provider in ALL {
        let (out, seen) =
            next(provider, &[user(&"x".repeat(400_000))], scripted_answer(calling(provider))).await;
        out.unwrap();
        assert_eq!(seen.len(), 1);
        let (out, seen) =
            next(provider, &[user(&"x".repeat(600_000))], scripted_answer(calling(provider))).await;
        let err = out.unwrap_err();
        assert_eq!((err.code(), seen.len()), (Code::ModelFailed, 0));
        assert_eq!(err.message(), "the question is larger than 524288 bytes");
    }
}
