//! A model at a close call, the whole way: a local server speaks the OpenAI format, the test web is learned through it.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use crate::support::{Home, Web, batch_report, write};

const KEY: &str = "Zk3vQ9xT7bLm2pWc8RfYhN4s-test-key";

#[derive(Clone, Copy, PartialEq)]
enum ModelBehavior {
    /// Takes the search from the list it is given.
    Choose,
    NoneFits,
    /// Wants something that is not in the list.
    Wild,
    /// 429, and repeats the key.
    Limit,
}

struct Server {
    mood: Mutex<ModelBehavior>,
    seen: Mutex<Vec<(Option<String>, Value)>>,
    endpoint: String,
}

impl Server {
    fn start() -> Arc<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let server = Arc::new(Self {
            mood: Mutex::new(ModelBehavior::Choose),
            seen: Mutex::default(),
            endpoint: format!("http://{}/v1", listener.local_addr().unwrap()),
        });
        let app = Router::new().fallback(answer).with_state(Arc::clone(&server));
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, app).await.unwrap();
            });
        });
        server
    }

    fn calls(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

async fn answer(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let key = headers.get("authorization").map(|it| it.to_str().unwrap().to_owned());
    server.seen.lock().unwrap().push((key.clone(), body.clone()));
    let mood = *server.mood.lock().unwrap();
    let lines = &body["response_format"]["json_schema"]["schema"]["properties"]["request"]["enum"];
    let mut lines = lines.as_array().unwrap().iter().filter_map(Value::as_str);
    let said = match mood {
        ModelBehavior::Choose => {
            json!({"request": lines.find(|it| it.contains("/api/search")), "path": "none"})
        }
        ModelBehavior::NoneFits => json!({"request": "none of these", "path": "none"}),
        ModelBehavior::Wild => json!({"request": "GET http://127.0.0.1:9/", "path": "none"}),
        ModelBehavior::Limit => {
            let text = format!("too many requests for {key:?}");
            return (StatusCode::TOO_MANY_REQUESTS, text).into_response();
        }
    };
    Json(json!({
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": said.to_string()}}],
        "usage": {"prompt_tokens": 2000, "completion_tokens": 30, "total_tokens": 2030},
    }))
    .into_response()
}

/// A HAR of a search on the test web, and settings under which no lead is enough.
fn prepare(home: &Home, web: &Web, server: &Server) -> String {
    home.recipe(
        "raw",
        "version: 1\nname: raw\ntask: Get it whole\nstatus: draft\nsource_url: http://shop.test/\nrequest:\n  method: GET\n  url: http://shop.test/api/search\n  query: [{ name: q, value: lantern }]\n  allowed_domains: [shop.test]\nresponse: { type: json }\n",
    );
    let (_, whole) =
        home.json(&["recipe", "run", "raw", "--draft", "--json", "--test-host", &web.test_host]);
    let entry = |url: &str, body: &str| {
        json!({
            "startedDateTime": "2026-11-20T10:00:00.000Z", "time": 5, "_resourceType": "fetch",
            "request": {"method": "GET", "url": url, "headers": []},
            "response": {"status": 200,
                "headers": [{"name": "content-type", "value": "application/json"}],
                "content": {"mimeType": "application/json", "text": body, "size": body.len()}}
        })
    };
    let har = json!({"log": {"creator": {"name": "test"}, "entries": [
        entry("http://shop.test/api/suggest?q=lantern", r#"["lantern","lantern oil"]"#),
        entry("http://shop.test/api/search?q=lantern", &whole["data"].to_string()),
    ]}});
    let path = home.path().join("shop.har");
    write(&path, &har.to_string());
    settings(home, server, "openai");
    path.to_str().unwrap().to_owned()
}

fn settings(home: &Home, server: &Server, provider: &str) {
    write(
        &home.path().join("config.toml"),
        &format!(
            "[decision]\nmin_confidence_bp = 10001\n[model]\nprovider = \"{provider}\"\nname = \"small\"\nendpoint = \"{}\"\napi_key_env = \"COMMIS_TEST_KEY\"\ntimeout_s = 20\nprice_in_per_mtok = 3\nprice_out_per_mtok = 15.5\n",
            server.endpoint
        ),
    );
}

/// Runs with the key in the environment.
fn run(home: &Home, args: &[&str]) -> (i32, Value, String) {
    let out = home.command(args).env("COMMIS_TEST_KEY", KEY).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let err = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!text.contains(KEY) && !err.contains(KEY), "{text}{err}");
    let value = serde_json::from_str(&text).ok().or_else(|| batch_report(&text));
    let value = value.unwrap_or_else(|| json!(text));
    (out.status.code().unwrap_or(-1), value, err)
}

/// The key is in no file below the home.
fn no_key(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            no_key(&path);
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(KEY), "{}", path.display());
        }
    }
}

#[test]
fn a_close_call_is_decided_by_the_model_and_proven_as_ever() {
    let home = Home::new();
    let web = Web::start(&home);
    let server = Server::start();
    let har = prepare(&home, &web, &server);
    let usual = [
        "recipe",
        "learn",
        "--har",
        &har,
        "--task",
        "Search the shop for {query}",
        "-p",
        "query=lantern",
        "--second",
        "query=teapot",
        "--json",
    ];
    let online = ["--test-host", &web.test_host];
    let learn = |more: &[&str]| run(&home, &[&usual[..], &online, more].concat());

    // Offline nobody is asked.
    let (code, out, _) = learn(&["--no-network"]);
    assert_eq!((code, &out["reason"], &out["model"]), (1, &json!("ambiguous"), &Value::Null));
    assert_eq!(server.calls(), 0);

    // No key: nothing is begun.
    let missing = home.run(&[&usual[..], &online, &["--resume"]].concat());
    assert_eq!(missing.status.code(), Some(2));
    let out: Value = serde_json::from_slice(&missing.stdout).unwrap();
    assert_eq!(out["error_code"], "MODEL_KEY_MISSING", "{out}");

    // A server that will not: a failure, not an answer.
    *server.mood.lock().unwrap() = ModelBehavior::Limit;
    let (code, out, _) = learn(&["--resume"]);
    assert_eq!((code, &out["error_code"]), (1, &json!("MODEL_FAILED")), "{out}");
    assert_eq!((&out["retryable"], server.calls()), (&json!(true), 1));

    // Answers that are none of the list: twice, and then it stays as it was.
    *server.mood.lock().unwrap() = ModelBehavior::Wild;
    let (code, out, _) = learn(&["--resume"]);
    assert_eq!((code, &out["reason"], server.calls()), (1, &json!("ambiguous"), 3), "{out}");
    assert!(out["detail"].as_str().unwrap().contains("no answer of the model"), "{out}");
    assert_eq!(out["model"]["calls"], 2);

    *server.mood.lock().unwrap() = ModelBehavior::NoneFits;
    let (code, out, _) = learn(&["--force"]);
    assert_eq!((code, &out["outcome"], server.calls()), (1, &json!("needs_selection"), 4), "{out}");

    // Another name is another question.
    *server.mood.lock().unwrap() = ModelBehavior::Choose;
    let (code, out, err) = learn(&["--resume", "--model", "openai/other"]);
    assert_eq!((code, &out["outcome"]), (0, &json!("verified")), "{out}{err}");
    // And the same once more in reverse order.
    let used = json!({"name": "openai/other", "calls": 2, "tokens_in": 4000, "tokens_out": 60, "cost_micros": 12930});
    assert_eq!(out["model"], used);
    assert_eq!(server.calls(), 6);
    let id = out["task_id"].as_str().unwrap().to_owned();
    let files = home.artifacts(&id);
    let analysis: Value = serde_json::from_slice(&files["03_recipe_analysis.json"]).unwrap();
    assert_eq!(analysis["payload"]["done"]["by"], "model");

    // Learned again from the start, the answer is known.
    let (code, out, _) = learn(&["--force", "--model", "openai/other"]);
    assert_eq!((code, &out["model"]["calls"], server.calls()), (0, &json!(0), 6), "{out}");

    let (_, shown, _) = run(&home, &["recipe", "debug", "--task-id", &id]);
    let shown = shown.as_str().unwrap();
    assert!(shown.contains("asked openai/other, prompt version 2, "), "{shown}");
    assert!(shown.contains("accepted; stop: stop, 2000 tokens in, 30 out"), "{shown}");
    assert!(shown.contains("by model"), "{shown}");

    for (key, body) in server.seen.lock().unwrap().iter() {
        assert_eq!(key.as_deref(), Some(&*format!("Bearer {KEY}")));
        let text = body.to_string();
        assert!(text.len() <= 32 * 1024 && !text.contains(KEY), "{}", text.len());
    }
    no_key(home.path());
}

#[test]
fn a_batch_counts_what_it_asked_and_doctor_knows_the_key_is_there() {
    let home = Home::new();
    let web = Web::start(&home);
    let server = Server::start();
    let har = prepare(&home, &web, &server);
    let manifest = home.path().join("two.yaml");
    let entry = |name: &str| {
        format!(
            "  - {{ name: {name}, task: \"Search the shop for {{query}}\", har: {har}, examples: [{{ query: lantern }}, {{ query: teapot }}] }}\n"
        )
    };
    write(&manifest, &format!("version: 1\nrecipes:\n{}{}", entry("one"), entry("two")));
    let args = [
        "recipe",
        "learn-batch",
        "--manifest",
        manifest.to_str().unwrap(),
        "--jobs",
        "1",
        "--json",
        "--test-host",
        &web.test_host,
    ];
    let (code, out, err) = run(&home, &args);
    assert_eq!(code, 0, "{out}{err}");
    // The second task asks the same question.
    let used = json!({"calls": 2, "tokens_in": 4000, "tokens_out": 60, "cost_micros": 12930});
    assert_eq!((&out["model"], server.calls()), (&used, 2), "{out}");
    for entry in out["entries"].as_array().unwrap() {
        assert_eq!(
            (&entry["outcome"], &entry["model"]["name"]),
            (&json!("verified"), &json!("openai/small"))
        );
    }
    let (_, checks, _) = run(&home, &["doctor", "--json"]);
    let found = |checks: &Value| {
        let all = checks.as_array().unwrap();
        let it = all.iter().find(|it| it["what"] == "model").unwrap();
        (it["ok"].as_bool().unwrap(), it["found"].as_str().unwrap().to_owned())
    };
    let said = format!("openai/small at {}/, key in COMMIS_TEST_KEY", server.endpoint);
    assert_eq!(found(&checks), (true, said));
    let without = home.json(&["doctor", "--json"]).1;
    assert!(!found(&without).0 && found(&without).1.contains("COMMIS_TEST_KEY"), "{without}");
    // Another provider from the environment takes neither endpoint nor key along.
    let mut other = home.command(&["doctor", "--json"]);
    other.env("COMMIS_MODEL", "gemini/x").env("COMMIS_TEST_KEY", KEY).env_remove("GEMINI_API_KEY");
    let other = other.output().unwrap();
    let (ok, said) = found(&serde_json::from_slice(&other.stdout).unwrap());
    assert!(!ok && said.contains("GEMINI_API_KEY"), "{said}");
    no_key(home.path());
}
