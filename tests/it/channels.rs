//! By which ways a person is asked: an MCP client in the newer era, a chat, a webhook; judged by what arrived at the site.
//!
//! The chat is a small server of our own that speaks the four calls that are used; `ci/channels` has one that others wrote, and real
//! clients of both eras.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    daemon::Daemon,
    doing::{Model, ORDER, click, complete_task, count, order, parsed, raise_total, settings},
    session::{run, well},
    support::{Home, has_chromium, wait_for, write},
};

const TOKEN: &str = "4711:a-bots-token_that-is-none";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ANN: u64 = 7;
const STRANGER: u64 = 8;

/// What came to the server on loopback, and what it says next.
#[derive(Default)]
struct ChannelTraffic {
    /// Calls of the bot, by name.
    calls: Vec<(String, Value)>,
    /// What is to be told of pressed buttons.
    updates: Vec<Value>,
    /// Buttons that were pressed so far.
    presses: usize,
    /// Requests to the webhook: headers and body.
    hooks: Vec<(BTreeMap<String, String>, String)>,
    /// What the webhook answers first.
    statuses: Vec<u16>,
}

/// The Bot API and a webhook at once, until the process ends.
#[derive(Clone)]
struct ChannelServers {
    port: u16,
    heard: Arc<Mutex<ChannelTraffic>>,
    pressed: Arc<Condvar>,
}

impl ChannelServers {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let out = Self {
            port: listener.local_addr().unwrap().port(),
            heard: Arc::default(),
            pressed: Arc::default(),
        };
        let serving = out.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let it = serving.clone();
                std::thread::spawn(move || it.serve(stream.unwrap()));
            }
        });
        out
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let mut headers = BTreeMap::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let Some((name, value)) = line.trim_end().split_once(": ") else { break };
                headers.insert(name.to_lowercase(), value.to_owned());
            }
            let length = headers.get("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let (status, answer) = self.answer(&path, headers, String::from_utf8(body).unwrap());
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", answer.len());
            if stream.write_all(format!("{head}{answer}").as_bytes()).is_err() {
                return;
            }
        }
    }

    fn answer(&self, path: &str, headers: BTreeMap<String, String>, body: String) -> (u16, String) {
        if path == "/hook" {
            let mut heard = self.heard.lock().unwrap();
            heard.hooks.push((headers, body));
            let status = if heard.statuses.is_empty() { 200 } else { heard.statuses.remove(0) };
            // Whatever it says, it approves nothing.
            return (status, r#"{"decision":"send_once","approved":true}"#.to_owned());
        }
        let Some(method) = path.strip_prefix(&format!("/bot{TOKEN}/")) else {
            return (404, json!({"ok": false, "error_code": 404, "description": path}).to_string());
        };
        let said: Value = serde_json::from_str(&body).unwrap();
        let result = match method {
            "getUpdates" => {
                let offset = said["offset"].as_i64().unwrap_or(0);
                let mut heard = self.heard.lock().unwrap();
                heard.updates.retain(|it| it["update_id"].as_i64().unwrap() >= offset);
                // A long poll, as the real server answers it.
                let poll = Duration::from_millis(300);
                let none = |it: &mut ChannelTraffic| it.updates.is_empty();
                let (heard, _) = self.pressed.wait_timeout_while(heard, poll, none).unwrap();
                json!(heard.updates)
            }
            "sendMessage" => json!({"message_id": self.heard.lock().unwrap().calls.len() + 1}),
            _ => json!(true),
        };
        if method != "getUpdates" {
            self.heard.lock().unwrap().calls.push((method.to_owned(), said));
        }
        (200, json!({"ok": true, "result": result}).to_string())
    }

    /// The first of what came that is looked for.
    fn until<T>(&self, what: &str, find: impl Fn(&ChannelTraffic) -> Option<T>) -> T {
        wait_for(what, || {
            let heard = self.heard.lock().unwrap();
            find(&heard).ok_or_else(|| format!("{} calls", heard.calls.len()))
        })
    }

    /// The message about that approval, and what its buttons bring back.
    fn approval_message(&self, id: &str) -> (String, Vec<String>) {
        let told = self.until("message", |heard| {
            let mut all = heard.calls.iter().filter(|it| it.0 == "sendMessage");
            let about = |it: &Value| {
                it["text"].as_str().unwrap().contains(id)
                    || it["reply_markup"].to_string().contains(id)
            };
            all.find(|it| about(&it.1)).map(|it| it.1.clone())
        });
        let row =
            told["reply_markup"]["inline_keyboard"][0].as_array().cloned().unwrap_or_default();
        let data = row.iter().map(|it| it["callback_data"].as_str().unwrap().to_owned());
        (told["text"].as_str().unwrap().to_owned(), data.collect())
    }

    /// Somebody presses a button; what they are told.
    fn press(&self, sender: u64, data: &str) -> String {
        let id = {
            let mut heard = self.heard.lock().unwrap();
            heard.presses += 1;
            let number = 100 + heard.presses;
            let id = format!("q{number}");
            // As the chat has it, and another chat than the one it was said in.
            heard.updates.push(json!({"update_id": number, "callback_query": {
                "id": id, "from": {"id": sender, "is_bot": false, "first_name": "A"},
                "chat_instance": "1", "data": data,
            }}));
            self.pressed.notify_all();
            id
        };
        self.until("answer to who pressed", |heard| {
            let mut all = heard.calls.iter().filter(|it| it.0 == "answerCallbackQuery");
            let it = all.find(|it| it.1["callback_query_id"] == id)?;
            Some(it.1["text"].as_str().unwrap().to_owned())
        })
    }

    /// What a message says in the end.
    fn edited(&self, part: &str) -> String {
        self.until(part, |heard| {
            let edits = heard.calls.iter().filter(|it| it.0 == "editMessageText");
            let mut texts = edits.map(|it| it.1["text"].as_str().unwrap().to_owned());
            texts.find(|it| it.contains(part))
        })
    }
}

/// A daemon whose settings say where people are asked, and what it talks to.
struct ChannelSetup {
    daemon: Daemon,
    outside: ChannelServers,
    _model: Model,
}

fn place(agent: &str, scripts: &Value) -> Option<ChannelSetup> {
    if !has_chromium() {
        return None;
    }
    let (model, outside, home) = (Model::start(scripts), ChannelServers::start(), Home::new());
    let at = format!("127.0.0.1:{}", outside.port);
    let text = agent.replace("AT", &at);
    let own = format!("[egress.own]\n\"{at}\" = \"127.0.0.1\"\n");
    write(
        &home.path().join("config.toml"),
        &format!("{}\n{text}\n{own}", settings(&model.endpoint)),
    );
    // A variable that names the home would make the file somebody else's word.
    let root = home.path().to_str().unwrap().to_owned();
    let env = [("BOT", TOKEN), ("HOOK", SECRET)];
    let daemon = Daemon::of_env(home, &["--home", &root, "--testbed"], &env);
    Some(ChannelSetup { daemon, outside, _model: model })
}

const CHAT: &str = "[agent.telegram]\ntoken_env = \"BOT\"\nchat = 99\nsenders = [7]\napi = \"http://AT\"\napproves = \"all\"";

/// An order that waits; its id and digest.
fn waits(daemon: &Daemon, more: &[&str]) -> (String, String) {
    let told = parsed(&run(daemon, &[ORDER, &["--allow-submit"], more].concat()));
    let id = told["model"]["approvals"][0].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    let all = parsed(&run(daemon, &["approve", "--json"]));
    let it = all["approvals"].as_array().unwrap().iter().find(|it| it["id"] == *id).unwrap();
    (id, it["digest"].as_str().unwrap().to_owned())
}

fn state(daemon: &Daemon, id: &str) -> Value {
    let file = daemon.home.path().join(format!("approvals/{id}.json"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn until_settled(daemon: &Daemon, id: &str) -> Value {
    wait_for("end of the approval", || {
        let it = state(daemon, id)["state"].clone();
        let open = matches!(it["is"].as_str(), Some("waiting" | "approved" | "releasing"));
        if open { Err(it.to_string()) } else { Ok(it) }
    })
}

#[test]
fn a_button_in_a_chat_sends_once_and_only_for_who_is_listed() {
    let Some(ChannelSetup { daemon, outside, _model }) = place(CHAT, &json!([order()])) else {
        return;
    };
    let (id, digest) = waits(&daemon, &[]);
    let (text, data) = outside.approval_message(&id);
    assert!(text.contains("POST http://reorder.test/orders\n") && text.contains(&digest), "{text}");
    let [yes, no] = data.as_slice() else { panic!("{data:?}") };
    assert!(yes.len() <= 64 && no.len() <= 64);
    for (sender, data) in [
        (STRANGER, yes.as_str()),
        (STRANGER, no),
        (ANN, &format!("y:{id}:{}", "0".repeat(32))),
        (ANN, &format!("y:{}:{}", "0".repeat(16), &yes[19..])),
        (ANN, "y"),
        (ANN, ""),
    ] {
        let said = outside.press(sender, data);
        assert!(said.contains("not open") || said.contains("not one of those"), "{said}");
        assert_eq!(state(&daemon, &id)["state"]["is"], "waiting");
    }
    assert_eq!(count(&daemon, "reorder.test"), 0);

    assert_eq!(outside.press(ANN, yes), "approved");
    let end = until_settled(&daemon, &id);
    assert_eq!((&end["is"], &end["by"]["who"]), (&json!("sent"), &json!("telegram 7")), "{end}");
    assert_eq!(end["by"]["channel"], "telegram");
    let told = outside.edited("sent: telegram 7");
    assert!(told.starts_with(&text), "{told}");
    assert_eq!(count(&daemon, "reorder.test"), 1);

    // A button and a terminal at once: one of them.
    let (id, digest) = waits(&daemon, &[]);
    let (_, data) = outside.approval_message(&id);
    for old in [yes, no] {
        assert!(outside.press(ANN, old).contains("not open"));
    }
    std::thread::scope(|scope| {
        scope.spawn(|| outside.press(ANN, &data[0]));
        run(&daemon, &["approve", &id, "--digest", &digest, "--json"]);
    });
    assert_eq!(until_settled(&daemon, &id)["is"], "sent");
    assert_eq!(count(&daemon, "reorder.test"), 2);

    // Never, and what was decided elsewhere is told here.
    let (id, _) = waits(&daemon, &[]);
    let (_, data) = outside.approval_message(&id);
    assert_eq!(outside.press(ANN, &data[1]), "it is never sent");
    assert_eq!(state(&daemon, &id)["state"]["is"], "rejected");
    outside.edited("rejected: telegram 7");
    let (id, _) = waits(&daemon, &[]);
    outside.approval_message(&id);
    well(&daemon, &["reject", &id]);
    outside.edited("rejected: root, in a terminal");
    assert_eq!(count(&daemon, "reorder.test"), 2);
}

#[test]
fn a_button_sends_nothing_after_its_time_or_from_another_page() {
    let Some(ChannelSetup { daemon, outside, _model }) = place(CHAT, &json!([order()])) else {
        return;
    };
    // The total rises after it was shown.
    let (id, _) = waits(&daemon, &["--url", "http://reorder.test/?drift=1"]);
    let (_, data) = outside.approval_message(&id);
    raise_total(&daemon);
    let said = outside.press(ANN, &data[0]);
    assert!(said.contains("the request is no longer valid"), "{said}");
    assert_eq!(state(&daemon, &id)["state"]["is"], "stale");
    outside.edited("out of date: telegram 7");

    // A quarter of an hour later, as the file has it.
    let (id, _) = waits(&daemon, &[]);
    let (_, data) = outside.approval_message(&id);
    let mut it = state(&daemon, &id);
    it["expires_ms"] = json!(it["created_ms"].as_i64().unwrap() + 1);
    write(&daemon.home.path().join(format!("approvals/{id}.json")), &it.to_string());
    outside.press(ANN, &data[0]);
    assert_eq!(until_settled(&daemon, &id)["is"], "expired");
    outside.edited("\n\nexpired");
    assert_eq!(count(&daemon, "reorder.test"), 0);
}

#[test]
fn a_webhook_is_told_with_a_signature_and_decides_nothing() {
    let hook = "[agent.webhook]\nurl = \"http://AT/hook\"\nsecret_env = \"HOOK\"";
    let Some(ChannelSetup { daemon, outside, _model }) = place(hook, &json!([order()])) else {
        return;
    };
    outside.heard.lock().unwrap().statuses = vec![500];
    let (id, digest) = waits(&daemon, &[]);
    let told = outside.until("second attempt", |it| it.hooks.get(1).cloned());
    let reader = standardwebhooks::Webhook::new(SECRET).unwrap();
    let mut headers = http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, told.0[name].parse().unwrap());
    }
    reader.verify(told.1.as_bytes(), &headers).unwrap();
    assert!(reader.verify(told.1.replace('2', "3").as_bytes(), &headers).is_err());
    assert_eq!(told.0["webhook-id"], outside.heard.lock().unwrap().hooks[0].0["webhook-id"]);
    let body: Value = serde_json::from_str(&told.1).unwrap();
    let it = &body["data"];
    assert_eq!((&body["type"], &it["id"]), (&json!("approval.waiting"), &json!(id)));
    assert_eq!((&it["digest"], &it["host"]), (&json!(digest), &json!("http://reorder.test")));
    assert!(it["text"].as_str().unwrap().contains("json /quantity (yours) = 2"), "{it}");
    assert!(it["more_than_small"].is_string(), "{it}");
    let at = format!("http://127.0.0.1:{}/approvals", daemon.port);
    assert_eq!(it["dashboard"], at);
    assert_eq!(state(&daemon, &id)["state"]["is"], "waiting");
    assert_eq!(count(&daemon, "reorder.test"), 0);
}

/// One call of a tool in the newer era.
fn tool(daemon: &Daemon, token: &str, args: &Value, more: &Value, can: &Value) -> Value {
    let revision = "2026-07-28";
    let mut params = json!({"name": "run", "arguments": args, "_meta": {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": can,
    }});
    for (name, it) in more.as_object().unwrap() {
        params[name] = it.clone();
    }
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let answer = daemon.ask(
        "POST",
        "/mcp",
        &[
            ("Host", &format!("127.0.0.1:{}", daemon.port)),
            ("Authorization", &format!("Bearer {token}")),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", revision),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "run"),
        ],
        &body.to_string(),
    );
    let lines = answer.body.lines().rev();
    let mut all = lines.filter_map(|it| {
        let it = it.strip_prefix("data:").unwrap_or(it).trim();
        serde_json::from_str::<Value>(it).ok().filter(Value::is_object)
    });
    all.next().unwrap_or_else(|| panic!("{answer:?}"))
}

#[test]
fn a_client_is_asked_and_only_its_own_answer_to_that_question_sends() {
    let Some(ChannelSetup { daemon, outside: _outside, _model }) =
        place("[agent]\nelicitation = \"all\"", &json!([order()]))
    else {
        return;
    };
    let args = json!({
        "task": "Order {item} again, {quantity} of it", "url": "http://reorder.test/", "allow_submit": true,
        "params": {"item": "Espresso beans, 1 kg", "quantity": "2"},
    });
    let can = json!({"elicitation": {"form": {}}});
    let root = daemon.token.clone();
    let ask = |args: &Value, more: Value| tool(&daemon, &root, args, &more, &can);
    let said = |decision: &str| json!({"approve": {"action": "accept", "content": {"decision": decision}}});

    // What decides is no argument.
    let mut with = args.clone();
    with["decision"] = json!("send_once");
    let it = ask(&with, json!({}));
    assert_eq!(it["result"]["structuredContent"]["error"]["error_code"], "PARAM_INVALID", "{it}");

    // What only a person says is none, either.
    let mut with = args.clone();
    with["no_checkpoint"] = json!(true);
    let it = ask(&with, json!({}));
    assert_eq!(it["result"]["structuredContent"]["error"]["error_code"], "FORBIDDEN", "{it}");

    // An answer that was brought before anything was asked is none.
    let asked = ask(&args, json!({"inputResponses": said("send_once")}))["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["approve"]["params"];
    let text = question["message"].as_str().unwrap();
    assert!(
        text.starts_with("one request, sent once:\n\nPOST http://reorder.test/orders\n"),
        "{text}"
    );
    assert!(!text.contains("code") && !text.contains('#'), "it lets nobody in: {text}");
    assert_eq!(question["requestedSchema"]["required"], json!(["decision"]), "{question}");
    let state = asked["requestState"].clone();

    // Another caller, another call, a state that is made up.
    let scopes = json!({"can": ["browse:write", "approvals:write"]});
    let other = daemon.api("POST", "/api/tokens", &scopes).1["data"]["token"].clone();
    let other = other.as_str().unwrap_or_else(|| panic!("{other}")).to_owned();
    let brought = json!({"inputResponses": said("send_once"), "requestState": state});
    assert_eq!(tool(&daemon, &other, &args, &brought, &can)["error"]["code"], -32602);
    let mut another = args.clone();
    another["params"]["quantity"] = json!("3");
    assert_eq!(ask(&another, brought.clone())["error"]["code"], -32602);
    let made_up = json!({"inputResponses": said("send_once"), "requestState": "AAAA"});
    assert_eq!(ask(&args, made_up)["error"]["code"], -32602);
    assert_eq!(count(&daemon, "reorder.test"), 0);

    // Once, and by whom.
    let it = ask(&args, brought.clone());
    assert_eq!(it["result"]["structuredContent"]["data"]["status"], "done", "{it}");
    assert_eq!(count(&daemon, "reorder.test"), 1);
    let all = parsed(&run(&daemon, &["approve", "--json"]));
    let id = all["approvals"][0]["id"].as_str().unwrap().to_owned();
    let end = self::state(&daemon, &id)["state"].clone();
    assert_eq!((&end["is"], &end["by"]["channel"]), (&json!("sent"), &json!("mcp")), "{end}");
    assert_eq!(ask(&args, brought)["error"]["code"], -32602, "a state is used once");

    // No answer, another one, a cancelled one: it waits on. A no is a no.
    for answer in [
        json!({}),
        json!({"values": said("send_once")["approve"]}),
        json!({"approve": {"action": "cancel"}}),
        said("yes"),
        json!({"approve": {"action": "decline"}}),
        said("no"),
    ] {
        let asked = ask(&args, json!({}))["result"].clone();
        let brought = json!({"inputResponses": answer, "requestState": asked["requestState"]});
        let it = ask(&args, brought);
        assert_eq!(it["result"]["isError"], true, "{answer} {it}");
    }
    assert_eq!(count(&daemon, "reorder.test"), 1);

    // Who cannot ask, or may not decide, is told where a person can.
    let may = tool(&daemon, &root, &args, &json!({}), &json!({}));
    let limited = daemon.api("POST", "/api/tokens", &json!({"can": ["browse:write"]}));
    let limited = limited.1["data"]["token"].as_str().unwrap().to_owned();
    let may_not = tool(&daemon, &limited, &args, &json!({}), &can);
    for it in [may, may_not] {
        let data = &it["result"]["structuredContent"]["data"];
        assert_eq!(data["status"], "waiting_for_approval", "{it}");
        let detail = data["detail"].as_str().unwrap();
        assert!(
            detail.contains(&format!("http://127.0.0.1:{}/approvals", daemon.port)),
            "{detail}"
        );
        assert!(detail.contains("commis approve"), "{detail}");
    }
    assert_eq!(count(&daemon, "reorder.test"), 1);
}

#[test]
fn what_weighs_more_is_not_asked_of_a_client_or_a_chat() {
    let chat = CHAT.replace("approves = \"all\"", "");
    let keep = json!({"when": ["Remember it"], "turns": [
        click("button \"Keep as a favourite\""),
        complete_task(&json!({"evidence": "Kept as a favourite"})),
    ]});
    let Some(ChannelSetup { daemon, outside, _model }) = place(&chat, &json!([keep, order()]))
    else {
        return;
    };
    let (id, _) = waits(&daemon, &[]);
    let (text, data) = outside.approval_message(&id);
    assert!(data.is_empty() && text.contains("It cannot be approved here"), "{text}");
    assert!(text.contains(&format!("commis approve {id}")), "{text}");
    let said = outside.press(ANN, &format!("y:{id}:{}", "0".repeat(32)));
    assert!(said.contains("not open"), "{said}");
    let can = json!({"elicitation": {"form": {}}});
    let args = json!({
        "task": "Order {item} again, {quantity} of it", "url": "http://reorder.test/", "allow_submit": true,
        "params": {"item": "Espresso beans, 1 kg", "quantity": "2"},
    });
    let it = tool(&daemon, &daemon.token, &args, &json!({}), &can);
    assert_eq!(it["result"]["structuredContent"]["data"]["status"], "waiting_for_approval", "{it}");
    assert_eq!(count(&daemon, "reorder.test"), 0);

    // What costs nothing is, by both.
    let args = json!({
        "task": "Remember it as a favourite", "url": "http://reorder.test/again?order=R-0913",
        "allow_submit": true, "no_learn": true,
    });
    let asked = tool(&daemon, &daemon.token, &args, &json!({}), &can)["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let answer = json!({"approve": {"action": "accept", "content": {"decision": "send_once"}}});
    let brought = json!({"inputResponses": answer, "requestState": asked["requestState"]});
    let it = tool(&daemon, &daemon.token, &args, &brought, &can);
    assert_eq!(it["result"]["structuredContent"]["data"]["status"], "done", "{it}");
    outside.edited("sent: root, asked by an MCP client");
}

#[test]
fn a_variable_that_names_the_home_opens_no_channel() {
    let Some(ChannelSetup { daemon, outside, _model }) = place(CHAT, &json!([order()])) else {
        return;
    };
    let home = daemon.kill();
    let daemon = Daemon::of_env(home, &["--testbed"], &[("BOT", TOKEN)]);
    let before = outside.heard.lock().unwrap().calls.len();
    waits(&daemon, &[]);
    assert_eq!(outside.heard.lock().unwrap().calls.len(), before);
}
