//! What MCP clients met, as it stands on the wire; `ci/mcp` is the clients themselves.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{Home, wait_for, write};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");
const REVISION: &str = "2026-07-28";

/// `commis serve`, which ends with this.
struct ServeProcess {
    child: Child,
    port: u64,
    token: String,
    home: Home,
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ServeProcess {
    fn start() -> Self {
        Self::with_rate(100_000, 100_000)
    }

    fn with_rate(per_minute: u32, burst: u32) -> Self {
        let home = Home::new();
        let settings = format!("[serve]\nmcp_per_minute = {per_minute}\nmcp_burst = {burst}\n");
        write(&home.path().join("config.toml"), &settings);
        let mut command = home.command(&["serve"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let file = home.path().join("serve/daemon.json");
        let state: Value = wait_for("daemon", || {
            assert!(child.try_wait().unwrap().is_none(), "the daemon ended");
            let text = std::fs::read(&file).map_err(|err| err.to_string())?;
            serde_json::from_slice(&text).map_err(|err| err.to_string())
        });
        let token = state["token"].as_str().unwrap().to_owned();
        Self { child, port: state["port"].as_u64().unwrap(), token, home }
    }

    /// The status, the head, and the message that comes back, as JSON or as the last event of a stream.
    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> (u16, String, Value) {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut text = format!(
            "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n",
            self.port,
            self.token,
            body.len()
        );
        for (name, value) in headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut out = Vec::new();
        let _ = stream.read_to_end(&mut out);
        let out = String::from_utf8_lossy(&out).into_owned();
        let (head, body) = out.split_once("\r\n\r\n").unwrap();
        let mut found = body.lines().rev().filter_map(|it| {
            let it = it.strip_prefix("data:").unwrap_or(it).trim();
            serde_json::from_str(it).ok().filter(Value::is_object)
        });
        let message = found.next().unwrap_or_default();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), message)
    }

    /// A request of the revision without sessions, of a client that can do that much.
    fn ask(&self, method: &str, mut params: Value, capabilities: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let name = ["name", "uri", "taskId"].iter().find_map(|it| params[it].as_str());
        let mut headers = vec![("MCP-Protocol-Version", REVISION), ("Mcp-Method", method)];
        headers.extend(name.map(|it| ("Mcp-Name", it)));
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let (_, _, message) = self.send("POST", &headers, &body.to_string());
        assert_eq!(message["id"], 7, "{method}: {message}");
        message
    }
}

#[test]
fn prompts_resources_and_completions() {
    let it = ServeProcess::start();
    let typed = r#"the "umbrella""#;
    let prompt = json!({"name": "answer", "arguments": {"task": typed}});
    let message = it.ask("prompts/get", prompt, json!({}));
    let text = message["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.ends_with(&format!(": {typed}")), "{text}");
    let message = it.ask("prompts/get", json!({"name": "answer"}), json!({}));
    assert_eq!(message["error"]["code"], -32602);

    let uri = "commis://recipes/there-is-none";
    let message = it.ask("resources/read", json!({"uri": uri}), json!({}));
    assert_eq!(message["error"]["data"]["uri"], uri);

    let template = json!({"type": "ref/resource", "uri": "commis://recipes/{name}"});
    let argument = json!({"name": "name", "value": "hn-"});
    let asked = json!({"ref": template, "argument": argument});
    let message = it.ask("completion/complete", asked, json!({}));
    assert_eq!(message["result"]["completion"]["values"], json!(["hn-newest", "hn-search"]));
}

/// Python's SDK takes 202 for a session that could not be ended.
#[test]
fn a_session_that_is_ended_is_gone() {
    let it = ServeProcess::start();
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let (status, head, _) = it.send("POST", &[], &body.to_string());
    assert_eq!(status, 200);
    let session = head.lines().find_map(|it| it.strip_prefix("mcp-session-id: ")).unwrap();
    let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")];
    assert_eq!(it.send("DELETE", &headers, "").0, 204);
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert_eq!(it.send("POST", &headers, &body.to_string()).0, 404);
}

/// A client of the command line is no stranger to wait out: it is answered late, and not refused.
#[test]
fn a_client_over_stdin_waits_for_its_turn() {
    let it = ServeProcess::with_rate(60, 3);
    let mut command = it.home.command(&["mcp"]);
    let mut client =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let who = json!({"name": "a client", "version": "1"});
    let begin = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who});
    let mut input = client.stdin.take().unwrap();
    let mut messages = vec![
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    messages.extend((2..6).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})));
    for line in messages {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let out = String::from_utf8(client.wait_with_output().unwrap().stdout).unwrap();
    let answers: Vec<Value> = out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let lists = answers.iter().filter(|it| it["result"]["tools"].is_array()).count();
    assert_eq!(lists, 4, "{out}");
}

/// Nothing is run, and nothing is sent: every answer here is one that asks, or refuses.
#[test]
fn a_value_that_is_missing_is_asked_for_until_it_is_given_or_refused() {
    let it = ServeProcess::start();
    let can = json!({"elicitation": {"form": {}}});
    let call = |responses: Value, state: &Value| {
        let mut params = json!({"name": "commis_run", "arguments": {"name": "hn-search"}});
        if !responses.is_null() {
            params["inputResponses"] = responses;
        }
        if !state.is_null() {
            params["requestState"] = state.clone();
        }
        it.ask("tools/call", params, can.clone())
    };
    let first = call(Value::Null, &Value::Null)["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    let schema = &first["inputRequests"]["values"]["params"]["requestedSchema"];
    assert_eq!(schema["required"], json!(["query"]), "{first}");

    // An answer that nobody asked for, none at all, and one that is no answer.
    let given = json!({"values": {"action": "accept", "content": {"query": "x"}}});
    let unasked = call(given.clone(), &Value::Null)["result"].clone();
    assert_eq!(unasked["resultType"], "input_required");
    let again = call(json!({}), &first["requestState"])["result"].clone();
    assert_eq!(again["resultType"], "input_required");
    assert_ne!(again["requestState"], first["requestState"]);

    // A state is used once.
    assert_eq!(call(given, &first["requestState"])["error"]["code"], -32602);
    let declined = call(json!({"values": {"action": "decline"}}), &again["requestState"]);
    assert_eq!(declined["result"]["isError"], true, "{declined}");
}

#[test]
fn a_client_that_knows_tasks_is_given_one() {
    let it = ServeProcess::start();
    let can = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let args = json!({
        "task": "Find books about {query}", "name": "books", "har": FIXTURE, "no_network": true,
        "params": {"query": "harbour"},
    });
    // A value that the address lacks is refused at once.
    let url = "https://shop.test/";
    let lacks = json!({"task": "Find {query}", "url": url, "params": {"query": "harbour"}});
    let asked = json!({"name": "recipe_learn", "arguments": lacks});
    let refused = it.ask("tools/call", asked, json!({}))["result"].clone();
    assert_eq!(refused["structuredContent"]["error"]["error_code"], "USAGE", "{refused}");
    let asked = json!({"name": "recipe_learn", "arguments": args});
    let made = it.ask("tools/call", asked, can.clone())["result"].clone();
    assert_eq!(made["resultType"], "task", "{made}");
    let id = made["taskId"].clone();
    let end = wait_for("end of the task", || {
        let now = it.ask("tasks/get", json!({"taskId": id}), can.clone())["result"].clone();
        if now["status"] == "working" { Err(now.to_string()) } else { Ok(now) }
    });
    assert_eq!(end["status"], "completed", "{end}");
    assert_eq!(end["result"]["structuredContent"]["ok"], true, "{end}");
    let message = it.ask("tasks/cancel", json!({"taskId": id}), can);
    assert_eq!(message["result"]["resultType"], "complete");
    // To a client that did not say so, there are none.
    let message = it.ask("tasks/get", json!({"taskId": id}), json!({}));
    assert_eq!(message["error"]["code"], -32021);
}
