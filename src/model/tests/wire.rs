//! The client over HTTP: what goes out in each wire format, and what every kind of bad server comes to.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use futures::StreamExt as _;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{
    super::{client, prompt::MAX_PROMPT},
    *,
};
use crate::{Client, Model as _, Question, question};
use commis_base::{
    error::{Code, Error},
    settings::{ModelSettings, Provider},
};

pub(super) const KEY: &str = "k3y-Zk3vQ9xT7bLm2pWc8RfYhN4s";
const GOOD: &str = r#"{"request": "GET http://shop.test/api/search?q=lantern", "path": "hits"}"#;
pub(super) const ALL: [Provider; 3] = [Provider::Anthropic, Provider::Openai, Provider::Gemini];

/// How the server behaves.
#[derive(Clone)]
pub(super) enum ServerScript {
    /// Text and the provider's word for why it ended.
    Text(String, &'static str),
    /// Status, type, body.
    Raw(u16, &'static str, String),
    Redirect,
    Slow,
    /// The head, and then more and more.
    Endless,
}

pub(super) struct SeenRequest {
    pub(super) uri: String,
    headers: HeaderMap,
    pub(super) body: Value,
}

struct Server {
    provider: Provider,
    say: ServerScript,
    seen: Mutex<Vec<SeenRequest>>,
}

/// The good ending in each provider's word.
fn ended(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "end_turn",
        Provider::Openai => "stop",
        Provider::Gemini => "STOP",
    }
}

fn wrapped(provider: Provider, text: &str, stop: &str) -> Value {
    match provider {
        Provider::Anthropic => json!({
            "id": "m1", "type": "message", "role": "assistant", "model": "small",
            "content": [{"type": "text", "text": text}], "stop_reason": stop,
            "usage": {"input_tokens": 700, "output_tokens": 30},
        }),
        Provider::Openai => json!({
            "id": "c1", "object": "chat.completion", "model": "small",
            "choices": [{"index": 0, "finish_reason": stop,
                "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 700, "completion_tokens": 30, "total_tokens": 730},
        }),
        Provider::Gemini => json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": text}]},
                "finishReason": stop}],
            "usageMetadata": {"promptTokenCount": 700, "candidatesTokenCount": 30,
                "totalTokenCount": 730},
        }),
    }
}

async fn answer(
    State(server): State<Arc<Server>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap();
    server.seen.lock().unwrap().push(SeenRequest { uri: uri.to_string(), headers, body });
    let json = [(header::CONTENT_TYPE, "application/json")];
    match &server.say {
        ServerScript::Text(text, stop) => {
            (json, wrapped(server.provider, text, stop).to_string()).into_response()
        }
        ServerScript::Raw(status, mime, body) => {
            let status = StatusCode::from_u16(*status).unwrap();
            (status, [(header::CONTENT_TYPE, *mime)], body.clone()).into_response()
        }
        ServerScript::Redirect => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/elsewhere")]).into_response()
        }
        ServerScript::Slow => std::future::pending().await,
        ServerScript::Endless => {
            let chunk = Ok::<_, Infallible>(Bytes::from(vec![b' '; 16 * 1024]));
            let body = Body::from_stream(futures::stream::repeat(chunk).boxed());
            (json, body).into_response()
        }
    }
}

fn asked() -> Question {
    let summaries = two();
    let recording = recording("Search for lantern", &[("q", "lantern")], "Six lanterns");
    question(&recording, &offers(&summaries)).unwrap()
}

/// One call to a server that behaves so; what came back and what it saw.
async fn call(
    provider: Provider,
    say: ServerScript,
    key: Option<&str>,
) -> (Result<Answer, Error>, Vec<SeenRequest>) {
    with(provider, say, key, async |client| client.ask(&asked()).await).await
}

/// Whatever a client does with a server that behaves so.
pub(super) async fn with<T>(
    provider: Provider,
    say: ServerScript,
    key: Option<&str>,
    calls: impl AsyncFnOnce(&Client) -> T,
) -> (T, Vec<SeenRequest>) {
    let server = Arc::new(Server { provider, say, seen: Mutex::default() });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let limit = axum::extract::DefaultBodyLimit::max(4 << 20);
    let app = Router::new().fallback(answer).layer(limit).with_state(Arc::clone(&server));
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    let settings = ModelSettings {
        endpoint: Some(format!("http://{addr}/api/v1")),
        timeout_s: 1,
        max_tokens: 99,
        ..ModelSettings::default()
    };
    let key = key.map(|it| Zeroizing::new(it.to_owned()));
    let client = Client::with_key(&settings, provider, "small-1", key).unwrap();
    let out = calls(&client).await;
    serving.abort();
    let seen = std::mem::take(&mut *server.seen.lock().unwrap());
    (out, seen)
}

#[tokio::test]
async fn each_wire_format_carries_the_schema_and_the_key_in_a_header() {
    for provider in ALL {
        let say = ServerScript::Text(GOOD.to_owned(), ended(provider));
        let (out, seen) = call(provider, say, Some(KEY)).await;
        let expected = Answer {
            text: GOOD.to_owned(),
            end: EndReason::Complete,
            stop: ended(provider).to_owned(),
            tokens_in: 700,
            tokens_out: 30,
        };
        assert_eq!(out.unwrap(), expected, "{provider:?}");
        let [seen] = &seen[..] else { panic!("{} calls", seen.len()) };
        let (uri, name, value, schema, tokens) = match provider {
            Provider::Anthropic => (
                "/api/v1/messages",
                "x-api-key",
                KEY.to_owned(),
                "/output_config/format/schema",
                "/max_tokens",
            ),
            Provider::Openai => (
                "/api/v1/chat/completions",
                "authorization",
                format!("Bearer {KEY}"),
                "/response_format/json_schema/schema",
                "/max_tokens",
            ),
            Provider::Gemini => (
                "/api/v1/models/small-1:generateContent",
                "x-goog-api-key",
                KEY.to_owned(),
                "/generationConfig/responseJsonSchema",
                "/generationConfig/maxOutputTokens",
            ),
        };
        assert_eq!(seen.uri, uri);
        assert_eq!(seen.headers[name], value);
        let keyed = seen.headers.values().filter(|it| it.to_str().unwrap().contains(KEY)).count();
        assert_eq!(keyed, 1);
        let body = seen.body.to_string();
        assert!(!body.contains(KEY) && !seen.uri.contains(KEY));
        assert!(body.len() <= MAX_PROMPT, "{}", body.len());
        assert_eq!(seen.body.pointer(schema), Some(&asked().schema), "{provider:?} {body}");
        assert_eq!(seen.body.pointer(tokens), Some(&json!(99)));
        assert!(body.contains("You") || body.contains("Choose that request"), "{body}");
        assert!(body.contains("Which of the 2 requests"), "{body}");
    }
}

#[tokio::test]
async fn without_a_key_nothing_stands_in_its_place() {
    for provider in ALL {
        let say = ServerScript::Text(GOOD.to_owned(), ended(provider));
        let (out, seen) = call(provider, say, None).await;
        assert_eq!(out.unwrap().text, GOOD);
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(seen[0].headers.get(name), None);
        }
    }
}

#[tokio::test]
async fn a_server_that_fails_is_a_failure_that_says_nothing_of_its_words() {
    let echo = json!({"error": {"message": format!("bad key {KEY}"), "type": "x"}}).to_string();
    let json = "application/json";
    let cases = [
        (ServerScript::Raw(429, json, echo.clone()), 1, "status 429"),
        (ServerScript::Raw(500, json, echo.clone()), 1, "status 500"),
        (ServerScript::Raw(401, json, echo.clone()), 1, "status 401"),
        (ServerScript::Raw(200, "text/html", echo.clone()), 1, "cannot be read"),
        (ServerScript::Raw(200, json, format!("{{\"{KEY}")), 1, "cannot be read"),
        (ServerScript::Redirect, 1, "status 307"),
        (ServerScript::Slow, 1, "in time"),
        (ServerScript::Endless, 1, "more than 262144 bytes"),
    ];
    for provider in ALL {
        for (say, calls, expected) in cases.clone() {
            let (out, seen) = call(provider, say, Some(KEY)).await;
            let err = out.unwrap_err();
            assert_eq!(err.code(), Code::ModelFailed);
            let text = format!("{err} {err:?} {:?}", err.hint_text());
            assert!(text.contains(expected), "{provider:?}: {text}");
            assert!(!text.contains(KEY) && !text.contains("lantern"), "{text}");
            assert_eq!(seen.len(), calls, "no redirect is followed and nothing sent twice: {text}");
        }
    }
}

#[tokio::test]
async fn an_answer_of_another_form_has_no_text() {
    for provider in ALL {
        let refusal = r#"{"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": null, "refusal": "no"}}]}"#;
        let none = r#"{"choices": [], "content": [], "candidates": []}"#;
        for body in ["{}", "[]", "null", none, refusal] {
            let say = ServerScript::Raw(200, "application/json", body.to_owned());
            match call(provider, say, None).await.0 {
                Ok(it) => assert_eq!(it.text, "", "{provider:?} {body}"),
                Err(err) => assert_eq!(err.code(), Code::ModelFailed, "{provider:?} {body}"),
            }
        }
    }
}

#[tokio::test]
async fn how_an_answer_ended_is_told() {
    use Provider::{Anthropic, Gemini, Openai};
    let check = async |provider, stop, end| {
        let (out, _) = call(provider, ServerScript::Text(GOOD.to_owned(), stop), None).await;
        // Some formats treat a refusal as no answer at all.
        match out {
            Ok(it) => assert_eq!((it.end, it.stop.as_str()), (end, stop), "{provider:?}"),
            Err(err) => panic!("{provider:?} {stop}: {err}"),
        }
    };
    check(Anthropic, "refusal", EndReason::Refused).await;
    check(Anthropic, "max_tokens", EndReason::Cut).await;
    check(Openai, "content_filter", EndReason::Refused).await;
    check(Openai, "length", EndReason::Cut).await;
    check(Gemini, "SAFETY", EndReason::Refused).await;
    check(Gemini, "MAX_TOKENS", EndReason::Cut).await;
}

#[tokio::test]
async fn nobody_at_the_endpoint() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let settings =
        ModelSettings { endpoint: Some(format!("http://{addr}/")), ..ModelSettings::default() };
    let client = Client::with_key(&settings, Provider::Openai, "small", None).unwrap();
    let err = client.ask(&asked()).await.unwrap_err();
    assert_eq!(err.code(), Code::ModelFailed);
    assert!(err.to_string().contains("cannot be reached"), "{err}");
}

#[test]
fn an_endpoint_is_https_or_loopback() {
    let check = |text: &str| {
        let settings =
            ModelSettings { endpoint: Some(text.to_owned()), ..ModelSettings::default() };
        client::endpoint(&settings).map(|it| it.to_string()).map_err(|it| it.code())
    };
    for (text, expected) in [
        ("https://models.example/v1", "https://models.example/v1/"),
        ("https://models.example", "https://models.example/"),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/"),
        ("http://localhost:8080/v1", "http://localhost:8080/v1/"),
        ("http://[::1]:8080", "http://[::1]:8080/"),
    ] {
        assert_eq!(check(text).as_deref(), Ok(expected));
    }
    for text in [
        "http://models.example/v1",
        "http://10.0.0.1/",
        "http://localhost.models.example/",
        "http://127.0.0.1.models.example/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "https://user:secret@models.example/",
        "https://models.example/v1?key=secret",
        "models.example",
        "",
    ] {
        assert_eq!(check(text), Err(Code::SettingsInvalid), "{text}");
    }
}

#[test]
fn settings_of_a_model_are_checked() {
    let check = |change: &dyn Fn(&mut ModelSettings)| {
        let mut settings = ModelSettings {
            endpoint: Some("http://127.0.0.1:1/".to_owned()),
            ..ModelSettings::default()
        };
        settings.choose("openai/small").unwrap();
        change(&mut settings);
        Client::new(&settings).map(|it| it.is_some()).map_err(|it| it.code())
    };
    assert_eq!(check(&|_| ()), Ok(true));
    assert_eq!(check(&|it| (it.provider, it.name) = (None, None)), Ok(false));
    let wrong: [&dyn Fn(&mut ModelSettings); 8] = [
        &|it| it.name = None,
        &|it| it.provider = None,
        &|it| it.name = Some("../../admin".to_owned()),
        &|it| it.name = Some("a b".to_owned()),
        &|it| it.name = Some("gemini::small".to_owned()),
        &|it| it.timeout_s = 0,
        &|it| it.max_tokens = 1,
        &|it| it.price_in_per_mtok = Some(f64::NAN),
    ];
    for change in wrong {
        assert_eq!(check(change), Err(Code::SettingsInvalid));
    }
    let missing = check(&|it| it.api_key_env = Some("COMMIS_NO_SUCH_KEY".to_owned()));
    assert_eq!(missing, Err(Code::ModelKeyMissing));
    // Another provider on the command line takes nothing along that was meant for the first.
    let mut settings = ModelSettings {
        provider: Some(Provider::Openai),
        endpoint: Some("https://models.example/".to_owned()),
        api_key_env: Some("SOME_KEY".to_owned()),
        price_in_per_mtok: Some(1.0),
        timeout_s: 7,
        ..ModelSettings::default()
    };
    settings.choose("openai/vendor/large").unwrap();
    assert_eq!(
        (settings.key_variable(), settings.name.as_deref()),
        (Some("SOME_KEY"), Some("vendor/large"))
    );
    settings.choose("gemini/small").unwrap();
    assert_eq!((settings.key_variable(), &settings.endpoint), (Some("GEMINI_API_KEY"), &None));
    assert_eq!((settings.price_in_per_mtok, settings.timeout_s), (None, 7));
    for text in ["small", "other/small", "openai/", "/small", ""] {
        assert_eq!(settings.choose(text).unwrap_err().code(), Code::SettingsInvalid, "{text}");
    }
}
