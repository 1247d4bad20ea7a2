//! The daemon as clients meet it.

mod complaints;
mod life;
mod pressure;
mod queue;
mod rest;
mod vectors;

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Home, wait_for};

/// Limits that tests do not run into.
pub const UNLIMITED: &str = "[serve]
mcp_per_minute = 10000000
mcp_burst = 1000000
rest_per_minute = 10000000
rest_burst = 1000000
run_per_minute = 10000000
run_burst = 1000000
";

/// `commis serve` of a home, which ends with this.
pub struct Daemon {
    pub home: Home,
    child: Child,
    pub port: u16,
    pub token: String,
}

impl Daemon {
    pub fn start(settings: &str, args: &[&str]) -> Self {
        let home = Home::new();
        crate::support::write(&home.path().join("config.toml"), settings);
        Self::start_in(home, args)
    }

    /// In a home that is there already.
    pub fn start_in(home: Home, args: &[&str]) -> Self {
        Self::of_env(home, args, &[])
    }

    /// The same with these variables.
    pub fn of_env(home: Home, args: &[&str], env: &[(&str, &str)]) -> Self {
        let all: Vec<&str> = args.iter().copied().chain(["serve"]).collect();
        let file = home.path().join("serve/daemon.json");
        let _ = std::fs::remove_file(&file);
        let mut child = home
            .command(&all)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .envs(env.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let state: Value = wait_for("daemon", || {
            assert!(child.try_wait().unwrap().is_none(), "the daemon ended");
            let text = std::fs::read(&file).map_err(|err| err.to_string())?;
            serde_json::from_slice(&text).map_err(|err| err.to_string())
        });
        let port = u16::try_from(state["port"].as_u64().unwrap()).unwrap();
        Self { home, child, port, token: state["token"].as_str().unwrap().to_owned() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// As a power cut would.
    pub fn kill(mut self) -> Home {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.home, Home::new())
    }

    /// As a service manager would; how it ended, and how long that took.
    pub fn terminate(mut self) -> (Home, Option<i32>, Duration) {
        let pid = rustix::process::Pid::from_raw(self.child.id().cast_signed()).unwrap();
        let begun = Instant::now();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let end = self.child.wait().unwrap();
        (std::mem::replace(&mut self.home, Home::new()), end.code(), begun.elapsed())
    }

    pub fn addr(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Bytes in, and all that comes back until the other side ends or says nothing for so long.
    pub fn raw(&self, bytes: &[u8], patience: Duration) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.addr()).unwrap();
        stream.set_read_timeout(Some(patience.max(Duration::from_secs(30)))).unwrap();
        // It may have ended already.
        let _ = stream.write_all(bytes);
        let mut out = Vec::new();
        let mut part = [0; 16 * 1024];
        while let Ok(n) = stream.read(&mut part) {
            if n == 0 {
                break;
            }
            out.extend_from_slice(&part[..n]);
            stream.set_read_timeout(Some(patience)).unwrap();
        }
        out
    }

    /// One request, with these headers and no others but the body's length.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in headers {
            text = format!("{text}{name}: {value}\r\n");
        }
        if !body.is_empty() {
            text = format!("{text}{}", format_args!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("Connection: close\r\n\r\n");
        text.push_str(body);
        Answer::read(&self.raw(text.as_bytes(), Duration::from_secs(30)))
    }

    /// One request of whoever has the root token.
    pub fn api(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.ask(
            method,
            path,
            &[
                ("Host", &format!("127.0.0.1:{}", self.port)),
                ("Authorization", &format!("Bearer {}", self.token)),
                ("Content-Type", "application/json"),
            ],
            &body,
        );
        (answer.status, answer.json())
    }

    /// What a tool of MCP answered, in the revision without sessions.
    pub fn mcp(&self, tool: &str, arguments: &Value) -> Value {
        const REVISION: &str = "2026-07-28";
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let answer = self.ask(
            "POST",
            "/mcp",
            &[
                ("Host", &format!("127.0.0.1:{}", self.port)),
                ("Authorization", &format!("Bearer {}", self.token)),
                ("Accept", "application/json, text/event-stream"),
                ("Content-Type", "application/json"),
                ("MCP-Protocol-Version", REVISION),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", tool),
            ],
            &body.to_string(),
        );
        let found = answer.body.lines().rev().find_map(|it| {
            let it = it.strip_prefix("data:").unwrap_or(it).trim();
            serde_json::from_str(it).ok().filter(Value::is_object)
        });
        found.unwrap_or_else(|| panic!("{answer:?}"))
    }

    /// What a task came to.
    pub fn wait_for_task(&self, id: &str) -> Value {
        wait_for("end of the task", || {
            let (status, it) = self.api("GET", &format!("/api/tasks/{id}"), &Value::Null);
            assert_eq!(status, 200, "{it}");
            if it["data"]["ended_ms"].is_null() {
                Err(it.to_string())
            } else {
                Ok(it["data"].clone())
            }
        })
    }

    /// Until no task is queued or at work.
    pub fn wait_until_idle(&self) {
        wait_for("idle daemon", || {
            let (_, it) = self.api("GET", "/api/health", &Value::Null);
            let idle = it["data"]["queued"] == 0 && it["data"]["running"] == 0;
            if idle { Ok(()) } else { Err(it.to_string()) }
        });
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer as it came.
#[derive(Debug, Default)]
pub struct Answer {
    /// 0: none came.
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { return Self::default() };
        let mut lines = head.lines();
        let status = lines.next().and_then(|it| it.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let headers = lines
            .filter_map(|it| it.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        Self { status, headers, body: body.to_owned() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// The body; of a stream, or in pieces, what of it is an object.
    pub fn json(&self) -> Value {
        let (Some(from), Some(to)) = (self.body.find('{'), self.body.rfind('}')) else {
            return Value::Null;
        };
        serde_json::from_str(&self.body[from..=to]).unwrap_or_default()
    }
}

/// The first message of a client of the older revision.
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
