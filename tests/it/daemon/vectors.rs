//! Requests that a local server must tell apart: `local_server.json`, each by what it expects.

use std::{
    io::Write as _,
    net::TcpStream,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Answer, Daemon, INITIALIZE, UNLIMITED};
use crate::support::{shared, write};

const NAMES: &str = "local_server.json";

#[test]
fn a_local_server_is_asked_by_strangers() {
    let Some(file) = shared("vectors").map(|it| it.join(NAMES)).filter(|it| it.exists()) else {
        eprintln!("no {NAMES} here: not tested");
        return;
    };
    // Half a character is no text here, and would be refused as such.
    let text = std::fs::read_to_string(file).unwrap().replace("\\ud800\"", "\\ufffd\"");
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let daemon = Daemon::start(UNLIMITED, &[]);
    let world = VectorRunner::new(&daemon);
    let wrong: Vec<String> = all.iter().filter_map(|it| world.checked(it).err()).collect();
    eprintln!("{NAMES}: {} of {} as expected", all.len() - wrong.len(), all.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

struct VectorRunner<'a> {
    daemon: &'a Daemon,
    cookie: String,
    csrf: String,
}

impl<'a> VectorRunner<'a> {
    fn new(daemon: &'a Daemon) -> Self {
        let answer = Self::bootstrap(daemon, &Self::code(daemon));
        let cookie = answer.header("set-cookie").unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let host = format!("localhost:{}", daemon.port);
        let page = daemon.ask("GET", "/", &[("Host", &host), ("Cookie", &cookie)], "");
        let csrf = page.body.split("name=\"csrf\" content=\"").nth(1);
        let csrf = csrf.and_then(|it| it.split('"').next()).unwrap_or("none").to_owned();
        Self { daemon, cookie, csrf }
    }

    fn code(daemon: &Daemon) -> String {
        let (_, it) = daemon.api("POST", "/api/dashboard/code", &json!({}));
        it["data"]["code"].as_str().unwrap().to_owned()
    }

    fn bootstrap(daemon: &Daemon, code: &str) -> Answer {
        let host = format!("localhost:{}", daemon.port);
        daemon.ask("GET", &format!("/bootstrap?code={code}"), &[("Host", &host)], "")
    }

    /// What speaks of times gets three tries: a machine may stand still for a moment.
    fn checked(&self, vector: &Value) -> Result<(), String> {
        let tries = if vector["group"] == "dos" { 3 } else { 1 };
        let mut out = Ok(());
        for _ in 0..tries {
            out = self.check(vector);
            if out.is_ok() {
                break;
            }
        }
        out
    }

    fn check(&self, vector: &Value) -> Result<(), String> {
        let id = vector["id"].as_str().unwrap();
        let request = &vector["request"];
        let outcome = match id {
            "ls-055" => self.preflight(request),
            "ls-077" => self.once(),
            "ls-078" => self.guesses(),
            "ls-079" => self.never_told(),
            "ls-080" => self.state_file(),
            "ls-081" => Ok(()), // `principal::same`, and its test.
            "ls-088" => self.override_is_ignored(request),
            "ls-118" | "ls-128" => self.large(id == "ls-118"),
            "ls-119" => self.slow(b"POST /mcp HTTP/1.1\r\nHost: {H}\r\nAuthorization: Bearer {T}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 30),
            "ls-120" => self.slow(b"GET /health HTTP/1.1\r\n", b"X", 10),
            "ls-121" => self.expects(&json!(431), &self.raw(&format!("GET /health HTTP/1.1\r\nHost: {{H}}\r\nX-A: {}\r\n\r\n", "a".repeat(100 * 1024)))),
            "ls-122" => self.expects(&json!(400), &self.raw("POST /mcp HTTP/1.1\r\nHost: {H}\r\nAuthorization: Bearer {T}\r\nContent-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
            "ls-123" => self.expects(&json!(400), &self.post(&"[".repeat(100_000), &[])),
            "ls-124" => self.idle_connections(),
            "ls-125" => self.slow_reader(),
            "ls-127" => self.duplicates(),
            "ls-130" => self.unknown_session_of_today(),
            "ls-131" | "ls-132" => self.session_of_another(id == "ls-132"),
            "ls-134" => self.contradiction(),
            "ls-136" => self.state_of_another(),
            "ls-139" => self.other_address(),
            "ls-142" => self.port_is_taken(),
            _ if request["seed"].is_string() => self.seed(request["seed"].as_str().unwrap()),
            _ if vector["group"] == "headers" => self.header(vector["expect"].as_str().unwrap()),
            _ if request["http2"].is_boolean() => self.no_http2(),
            _ if request["raw"].is_string() => {
                self.expects(&vector["expect"], &self.raw(request["raw"].as_str().unwrap()))
            }
            _ => self.expects(&vector["expect"], &self.send(request)),
        };
        outcome.map_err(|it| format!("{id} {}: {it}", vector["why"]))
    }

    fn fill_placeholders(&self, text: &str) -> String {
        let token = &self.daemon.token;
        let cookie = self.cookie.split_once('=').unwrap();
        text.replace("session={COOKIE}", &format!("{}={}", cookie.0, cookie.1))
            .replace("{TOKEN[:-1]}", &token[..token.len() - 1])
            .replace("{TOKEN}", token)
            .replace("{T}", token)
            .replace("{H}", "localhost:{PORT}")
            .replace("{PORT}", &self.daemon.port.to_string())
            .replace("{CSRF}", &self.csrf)
    }

    fn raw(&self, text: &str) -> Answer {
        Answer::read(
            &self.daemon.raw(self.fill_placeholders(text).as_bytes(), Duration::from_secs(15)),
        )
    }

    fn send(&self, request: &Value) -> Answer {
        let (method, path) =
            (request["method"].as_str().unwrap_or("GET"), request["path"].as_str().unwrap());
        let headers: Vec<(String, String)> = request["headers"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), self.fill_placeholders(value.as_str().unwrap())))
            .collect();
        let mut all: Vec<(&str, &str)> =
            headers.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
        let mut body = request["body"].as_str().unwrap_or("").to_owned();
        if request["ws"] == true {
            all.extend([
                ("Connection", "Upgrade"),
                ("Upgrade", "websocket"),
                ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
            ]);
        }
        if method == "POST" && path == "/mcp" && body.is_empty() {
            INITIALIZE.clone_into(&mut body);
            all.extend([
                ("Content-Type", "application/json"),
                ("Accept", "application/json, text/event-stream"),
            ]);
        }
        self.daemon.ask(method, &self.fill_placeholders(path), &all, &body)
    }

    /// To `/mcp`, with the token.
    fn post(&self, body: &str, more: &[(&str, &str)]) -> Answer {
        self.post_as(&self.daemon.token, body, more)
    }

    fn post_as(&self, token: &str, body: &str, more: &[(&str, &str)]) -> Answer {
        let (host, token) = (format!("localhost:{}", self.daemon.port), format!("Bearer {token}"));
        let mut all = vec![
            ("Host", host.as_str()),
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        all.extend_from_slice(more);
        self.daemon.ask("POST", "/mcp", &all, body)
    }

    fn expects(&self, expected: &Value, answer: &Answer) -> Result<(), String> {
        let _ = self;
        let fits = match expected {
            Value::Number(it) => it.as_u64() == Some(u64::from(answer.status)),
            Value::String(it) if it.contains("no byte of the target") => {
                matches!(answer.status, 400 | 404) && !answer.body.contains("root:")
            }
            Value::String(it) => it.split('|').any(|it| it == answer.status.to_string()),
            _ => false,
        };
        if fits { Ok(()) } else { Err(format!("{} {}", answer.status, answer.body)) }
    }

    fn preflight(&self, request: &Value) -> Result<(), String> {
        let answer = self.send(request);
        match answer.header("access-control-allow-origin") {
            None => Ok(()),
            Some(it) => Err(it.to_owned()),
        }
    }

    fn once(&self) -> Result<(), String> {
        let code = Self::code(self.daemon);
        let first = Self::bootstrap(self.daemon, &code);
        let cookie = first.header("set-cookie").unwrap_or_default();
        let second = Self::bootstrap(self.daemon, &code);
        let fits = first.status == 303
            && ["HttpOnly", "SameSite=Strict", "Path=/"].iter().all(|it| cookie.contains(it))
            && second.status == 401;
        if fits { Ok(()) } else { Err(format!("{} {cookie} {}", first.status, second.status)) }
    }

    /// In a home of its own: whoever guesses is slowed down, and so is everyone else who guesses here.
    fn guesses(&self) -> Result<(), String> {
        let _ = self;
        let daemon = Daemon::start("", &[]);
        let world = VectorRunner { daemon: &daemon, cookie: "a=b".to_owned(), csrf: String::new() };
        let statuses: Vec<u16> = (0..1000)
            .map(|i| world.post_as(&format!("wrong{i}"), INITIALIZE, &[]).status)
            .collect();
        let refused = statuses.iter().filter(|it| **it == 401).count();
        let slowed = statuses.iter().filter(|it| **it == 429).count();
        let (right, _) = daemon.api("GET", "/api/version", &Value::Null);
        let fits = refused + slowed == 1000 && slowed > 800 && right == 200;
        if fits { Ok(()) } else { Err(format!("{refused} refused, {slowed} slowed, then {right}")) }
    }

    fn never_told(&self) -> Result<(), String> {
        let token = &self.daemon.token;
        let mut seen: Vec<(String, String)> = Vec::new();
        for path in [
            "/",
            "/health",
            "/api/health",
            "/api/version",
            "/api/tasks",
            "/api/openapi.json",
            "/api/tokens",
            "/nothing",
            "/tasks",
            "/recipes",
        ] {
            let host = format!("localhost:{}", self.daemon.port);
            let root = format!("Bearer {token}");
            for headers in [
                vec![("Host", host.as_str()), ("Authorization", root.as_str())],
                vec![("Host", host.as_str()), ("Cookie", self.cookie.as_str())],
                vec![("Host", host.as_str())],
            ] {
                let answer = self.daemon.ask("GET", path, &headers, "");
                seen.push((path.to_owned(), format!("{:?}{}", answer.headers, answer.body)));
            }
        }
        for file in ["cmdline", "environ"] {
            let text = std::fs::read(format!("/proc/{}/{file}", self.daemon.pid())).unwrap();
            seen.push((file.to_owned(), String::from_utf8_lossy(&text).into_owned()));
        }
        for it in std::fs::read_dir(self.daemon.home.path().join("logs")).unwrap() {
            let path = it.unwrap().path();
            seen.push((path.display().to_string(), std::fs::read_to_string(path).unwrap()));
        }
        let told: Vec<&String> =
            seen.iter().filter(|it| it.1.contains(token)).map(|it| &it.0).collect();
        if told.is_empty() { Ok(()) } else { Err(format!("{told:?}")) }
    }

    fn state_file(&self) -> Result<(), String> {
        let file = self.daemon.home.path().join("serve/daemon.json");
        let (of, folder) =
            (std::fs::metadata(&file).unwrap(), std::fs::metadata(file.parent().unwrap()).unwrap());
        let me = rustix::process::geteuid().as_raw();
        let fits = of.permissions().mode() & 0o777 == 0o600
            && folder.permissions().mode() & 0o777 == 0o700
            && of.uid() == me;
        // A link in its place is not followed.
        let home = crate::support::Home::new();
        let other = home.path().join("other.json");
        write(&other, &std::fs::read_to_string(&file).unwrap());
        std::fs::create_dir(home.path().join("serve")).unwrap();
        std::os::unix::fs::symlink(&other, home.path().join("serve/daemon.json")).unwrap();
        let out = home.run(&["daemon", "status"]);
        let followed = out.status.success();
        if fits && !followed { Ok(()) } else { Err(format!("{of:?} {folder:?} {followed}")) }
    }

    fn override_is_ignored(&self, request: &Value) -> Result<(), String> {
        let answer = self.send(request);
        if matches!(answer.status, 404 | 405) { Ok(()) } else { Err(answer.status.to_string()) }
    }

    fn large(&self, announced: bool) -> Result<(), String> {
        let memory = || -> u64 {
            let text =
                std::fs::read_to_string(format!("/proc/{}/status", self.daemon.pid())).unwrap();
            let line = text.lines().find(|it| it.starts_with("VmRSS")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        let before = memory();
        let begun = Instant::now();
        let length =
            if announced { "Content-Length: 1073741824" } else { "Transfer-Encoding: chunked" };
        let head = self.fill_placeholders(&format!("POST /mcp HTTP/1.1\r\nHost: {{H}}\r\nAuthorization: Bearer {{T}}\r\nContent-Type: application/json\r\n{length}\r\n\r\n"));
        let part = if announced {
            vec![0_u8; 64 * 1024]
        } else {
            [b"10000\r\n".as_slice(), &vec![0; 65536], b"\r\n"].concat()
        };
        let mut bytes = head.into_bytes();
        for _ in 0..32 {
            bytes.extend_from_slice(&part);
        }
        let answer = Answer::read(&self.daemon.raw(&bytes, Duration::from_millis(900)));
        let (took, grown) = (begun.elapsed(), memory().saturating_sub(before));
        let fits = answer.status == 413 && took < Duration::from_secs(2) && grown < 16 * 1024;
        if fits {
            Ok(())
        } else {
            Err(format!("{} after {took:?}, {grown} KiB more", answer.status))
        }
    }

    /// Something each second, and nothing whole.
    fn slow(&self, head: &[u8], part: &[u8], most: u64) -> Result<(), String> {
        let mut stream = TcpStream::connect(self.daemon.addr()).unwrap();
        stream
            .write_all(self.fill_placeholders(&String::from_utf8_lossy(head)).as_bytes())
            .unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let begun = Instant::now();
        let mut got = Vec::new();
        while begun.elapsed() < Duration::from_secs(most + 1) {
            if stream.write_all(part).is_err() {
                break;
            }
            let mut bytes = [0; 4096];
            match std::io::Read::read(&mut stream, &mut bytes) {
                Ok(0) => break,
                Ok(n) => got.extend_from_slice(&bytes[..n]),
                Err(_) => {}
            }
            if !got.is_empty() {
                break;
            }
        }
        let (status, took) = (Answer::read(&got).status, begun.elapsed());
        if status == 408 && took <= Duration::from_secs(most) {
            Ok(())
        } else {
            Err(format!("{status} after {took:?}"))
        }
    }

    fn idle_connections(&self) -> Result<(), String> {
        // As many as this process may open.
        let held: Vec<TcpStream> =
            (0..900).filter_map(|_| TcpStream::connect(self.daemon.addr()).ok()).collect();
        let begun = Instant::now();
        let (status, _) = self.daemon.api("GET", "/api/version", &Value::Null);
        let took = begun.elapsed();
        let fits = status == 200 && took < Duration::from_secs(1) && held.len() > 500;
        if fits { Ok(()) } else { Err(format!("{} held, {status} after {took:?}", held.len())) }
    }

    fn slow_reader(&self) -> Result<(), String> {
        let mut stream = TcpStream::connect(self.daemon.addr()).unwrap();
        stream
            .write_all(
                self.fill_placeholders(
                    "GET /api/events HTTP/1.1\r\nHost: {H}\r\nAuthorization: Bearer {T}\r\n\r\n",
                )
                .as_bytes(),
            )
            .unwrap();
        // It is a listener once the head of the answer is here; it reads nothing after that.
        let mut head = [0; 12];
        std::io::Read::read_exact(&mut stream, &mut head).unwrap();
        for i in 0..600 {
            let name = format!("copy-{i}");
            self.daemon.api("POST", "/api/recipes/archive-search/fork", &json!({"new_name": name}));
        }
        let (status, _) = self.daemon.api("GET", "/api/version", &Value::Null);
        for i in 0..600 {
            self.daemon.api("DELETE", &format!("/api/recipes/copy-{i}"), &Value::Null);
        }
        if status == 200 { Ok(()) } else { Err(status.to_string()) }
    }

    fn duplicates(&self) -> Result<(), String> {
        let body = r#"{"params":{},"name":"a","name":"b","params":{}}"#;
        let host = format!("localhost:{}", self.daemon.port);
        let token = format!("Bearer {}", self.daemon.token);
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
        ];
        let rest = self.daemon.ask("POST", "/api/recipes/validate", &headers, body);
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list","params":{"name":"a","name":"b"}}"#;
        let mcp = self.post(call, &[]);
        // Of what is said twice the last counts, in REST; MCP refuses it.
        let fits =
            rest.status == 404 && rest.body.contains("`b`") && (400..500).contains(&mcp.status);
        if fits {
            Ok(())
        } else {
            Err(format!("{} {} {} {}", rest.status, rest.body, mcp.status, mcp.body))
        }
    }

    fn modern(&self, method: &str, more: Value) -> String {
        let _ = self;
        let mut params = more;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        });
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
    }

    fn unknown_session_of_today(&self) -> Result<(), String> {
        let answer = self.post(
            &self.modern("tools/list", json!({})),
            &[
                ("Mcp-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/list"),
                ("Mcp-Session-Id", "guess"),
            ],
        );
        let fits = answer.status == 200 && answer.header("mcp-session-id").is_none();
        if fits { Ok(()) } else { Err(format!("{} {}", answer.status, answer.body)) }
    }

    fn session_of_another(&self, ended: bool) -> Result<(), String> {
        let begun = self.post(INITIALIZE, &[]);
        let id = begun.header("mcp-session-id").unwrap_or_default().to_owned();
        let session = [("Mcp-Session-Id", id.as_str()), ("Mcp-Protocol-Version", "2025-11-25")];
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.post(ready, &session);
        let own = self.post(list, &session).status;
        let other = if ended {
            let host = format!("localhost:{}", self.daemon.port);
            let token = format!("Bearer {}", self.daemon.token);
            let mut all = vec![("Host", host.as_str()), ("Authorization", token.as_str())];
            all.extend(session);
            self.daemon.ask("DELETE", "/mcp", &all, "");
            self.post(list, &session).status
        } else {
            let (_, made) = self.daemon.api("POST", "/api/tokens", &json!({"can": ["run:*"]}));
            self.post_as(made["data"]["token"].as_str().unwrap(), list, &session).status
        };
        if own == 200 && matches!(other, 403 | 404) {
            Ok(())
        } else {
            Err(format!("{own}, then {other}"))
        }
    }

    fn contradiction(&self) -> Result<(), String> {
        let call =
            self.modern("tools/call", json!({"name": "commis_find", "arguments": {"words": "a"}}));
        let with = |value: &str| {
            let headers = [
                ("Mcp-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", "commis_find"),
                ("Mcp-Param-Words", value),
            ];
            self.post(&call, &headers).status
        };
        let (same, other) = (with("a"), with("b"));
        if same == 200 && other == 400 { Ok(()) } else { Err(format!("{same}, {other}")) }
    }

    /// A value is missing, and a client carries the state of the question; another one may not.
    fn state_of_another(&self) -> Result<(), String> {
        let call = |state: Option<&str>| {
            let mut params = json!({"name": "commis_run", "arguments": {"name": "archive-search", "draft": true}});
            if let Some(it) = state {
                params["requestState"] = it.into();
                params["inputResponses"] = json!({"values": {"action": "decline"}});
            }
            self.modern("tools/call", params)
        };
        let headers = [
            ("Mcp-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "commis_run"),
        ];
        let first = self.post(&call(None), &headers).json();
        let Some(state) = first["result"]["requestState"].as_str() else {
            return Err(first.to_string());
        };
        let (_, made) = self.daemon.api("POST", "/api/tokens", &json!({"can": ["run:*"]}));
        let other =
            self.post_as(made["data"]["token"].as_str().unwrap(), &call(Some(state)), &headers);
        let own = self.post(&call(Some(state)), &headers);
        let again = self.post(&call(Some(state)), &headers);
        let refused = |it: &Answer| it.status == 403 || it.json()["error"]["code"] == -32602;
        let fits = refused(&other) && !refused(&own) && refused(&again);
        if fits { Ok(()) } else { Err(format!("{other:?}\n{own:?}\n{again:?}")) }
    }

    fn other_address(&self) -> Result<(), String> {
        let _ = self;
        let home = crate::support::Home::new();
        let out = home.run(&["serve", "--host", "0.0.0.0"]);
        if out.status.code() == Some(2) { Ok(()) } else { Err(format!("{out:?}")) }
    }

    fn port_is_taken(&self) -> Result<(), String> {
        let _ = self;
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = other.local_addr().unwrap().port().to_string();
        let home = crate::support::Home::new();
        let out = home.run(&["serve", "--port", &port]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        other.set_nonblocking(true).unwrap();
        let asked = other.accept().is_ok();
        if out.status.code() == Some(3) && said.contains("DAEMON_FAILED") && !asked {
            Ok(())
        } else {
            Err(said)
        }
    }

    /// A stranger's words in the dashboard's pages, which say them as text.
    fn seed(&self, seed: &str) -> Result<(), String> {
        let (_, made) = self.daemon.api(
            "POST",
            "/api/recipes/learn",
            &json!({"task": seed, "name": "seed", "url": "http://seed.test/", "force": true}),
        );
        let Some(id) = made["data"]["task_id"].as_str() else { return Ok(()) };
        self.daemon.wait_for_task(id);
        let host = format!("localhost:{}", self.daemon.port);
        for path in ["/", "/tasks", &format!("/tasks/{id}")] {
            let page =
                self.daemon.ask("GET", path, &[("Host", &host), ("Cookie", &self.cookie)], "");
            let raw = [
                "<script>alert",
                "<img src=x",
                "<svg onload",
                "href=\"javascript:",
                "\u{1b}",
                "\u{202e}",
            ];
            if let Some(it) = raw.iter().find(|it| page.body.contains(**it)) {
                return Err(format!("{path} holds {it}"));
            }
        }
        Ok(())
    }

    fn header(&self, expected: &str) -> Result<(), String> {
        let root = format!("Bearer {}", self.daemon.token);
        for path in
            ["/", "/health", "/api/tasks", "/api/tasks/none", "/nothing", "/api/openapi.json"]
        {
            for host in [format!("localhost:{}", self.daemon.port), "evil.example".to_owned()] {
                let answer =
                    self.daemon.ask("GET", path, &[("Host", &host), ("Authorization", &root)], "");
                let (name, value) = expected.split_once(": ").unwrap();
                let value = value.split(" and no ").next().unwrap();
                let there = answer.header(&name.to_lowercase());
                let fits = if value == "absent" { there.is_none() } else { there == Some(value) };
                if !fits {
                    return Err(format!("{path} {there:?}"));
                }
            }
        }
        Ok(())
    }

    fn no_http2(&self) -> Result<(), String> {
        let out = self
            .daemon
            .raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", Duration::from_secs(2));
        // A settings frame would be a server that speaks it.
        if out.get(3) == Some(&4) { Err("it speaks HTTP/2".to_owned()) } else { Ok(()) }
    }
}
