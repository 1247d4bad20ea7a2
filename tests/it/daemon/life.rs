//! How a daemon begins, is found, replaced and ended.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Daemon, UNLIMITED};
use crate::support::{Home, wait_until};

#[test]
fn it_is_started_found_and_ended() {
    let home = Home::new();
    let (code, _) = home.json(&["daemon", "status", "--json"]);
    assert_eq!(code, 1);
    let (code, first) = home.json(&["daemon", "start", "--json"]);
    assert_eq!(code, 0);
    let (_, again) = home.json(&["daemon", "start", "--json"]);
    assert_eq!(first["pid"], again["pid"]);
    // Homes stand side by side.
    let other = Home::new();
    let (_, beside) = other.json(&["daemon", "start", "--json"]);
    assert_ne!(beside["pid"], first["pid"]);
    assert_ne!(beside["url"], first["url"]);
    // A second one of the same home is none.
    let out = home.run(&["serve"]);
    assert_eq!(out.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&out.stderr).contains("another daemon serves this home"));
    let (_, status) = home.json(&["daemon", "status", "--json"]);
    assert_eq!(status["running"], true);
    assert!(status["health"]["recipes"].as_u64().unwrap() > 10);
    let (_, restarted) = home.json(&["daemon", "restart", "--json"]);
    assert_ne!(restarted["pid"], first["pid"]);
    for it in [&home, &other] {
        let (code, stopped) = it.json(&["daemon", "stop", "--json"]);
        assert_eq!((code, &stopped["stopped"]), (0, &json!(true)));
        assert_eq!(it.json(&["daemon", "stop", "--json"]).1["stopped"], false);
        assert!(!it.path().join("serve/daemon.json").exists());
    }
}

#[test]
fn one_of_another_program_is_replaced_when_nothing_runs_in_it() {
    let home = Home::new();
    let (_, first) = home.json(&["daemon", "start", "--json"]);
    let file = home.path().join("serve/daemon.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    state["binary"] = "other".into();
    crate::support::write(&file, &state.to_string());
    let (_, second) = home.json(&["daemon", "start", "--json"]);
    assert_ne!(first["pid"], second["pid"]);
    home.run(&["daemon", "stop"]);
}

#[test]
fn a_file_of_a_daemon_that_is_gone_misleads_nobody() {
    let daemon = Daemon::start(UNLIMITED, &[]);
    let port = daemon.port;
    let home = daemon.kill();
    assert!(home.path().join("serve/daemon.json").exists());
    // Another program has the port now, and is not sent the token.
    let other = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    other.set_nonblocking(true).unwrap();
    assert_eq!(home.json(&["daemon", "status", "--json"]).0, 1);
    let (_, it) = home.json(&["daemon", "start", "--json"]);
    assert_ne!(it["url"], format!("http://127.0.0.1:{port}"));
    assert!(other.accept().is_err());
    home.run(&["daemon", "stop"]);
}

#[test]
fn settings_are_read_again_and_bad_ones_change_nothing() {
    let daemon = Daemon::start(UNLIMITED, &[]);
    let of_tools = || {
        let (status, it) = daemon.api("POST", "/api/reload", &json!({}));
        (status, it["error"]["error_code"].clone())
    };
    let file = daemon.home.path().join("config.toml");
    crate::support::write(&file, &format!("{UNLIMITED}tools = \"all\"\n"));
    assert_eq!(of_tools(), (200, Value::Null));
    for bad in ["queue = 0", "tools = \"core,everything\"", "tools = \"top:many\""] {
        crate::support::write(&file, &format!("[serve]\n{bad}\n"));
        assert_eq!(of_tools(), (422, json!("SETTINGS_INVALID")), "{bad}");
    }
    assert_eq!(daemon.api("GET", "/api/version", &Value::Null).0, 200);
    let (_, code, _) = daemon.terminate();
    assert_eq!(code, Some(0));
}

#[test]
fn a_token_may_what_it_says_until_it_is_taken_back() {
    let daemon = Daemon::start(UNLIMITED, &[]);
    let out = daemon.home.run(&[
        "token",
        "create",
        "--can",
        "run:archive-search,tasks:read",
        "--expires",
        "1h",
        "--note",
        "for a test",
        "--json",
    ]);
    let made: Value = serde_json::from_slice(&out.stdout).unwrap();
    let token = made["token"].as_str().unwrap();
    let asked = |method: &str, path: &str, body: &str| {
        daemon
            .ask(
                method,
                path,
                &[
                    ("Host", &format!("127.0.0.1:{}", daemon.port)),
                    ("Authorization", &format!("Bearer {token}")),
                    ("Content-Type", "application/json"),
                ],
                body,
            )
            .status
    };
    assert_eq!(asked("GET", "/api/recipes/archive-search", ""), 200);
    assert_eq!(asked("GET", "/api/recipes/hn-search", ""), 404);
    assert_eq!(asked("POST", "/api/recipes/hn-search/run", "{}"), 403);
    assert_eq!(asked("POST", "/api/recipes/archive-search/run", "{}"), 409, "it is a draft");
    assert_eq!(asked("DELETE", "/api/recipes/archive-search", ""), 403);
    assert_eq!(asked("POST", "/api/recipes/learn", r#"{"task":"t","url":"http://a.test/"}"#), 403);
    assert_eq!(asked("GET", "/api/tasks", ""), 200);
    for path in ["/api/tokens", "/api/shutdown", "/api/reload", "/api/dashboard/code"] {
        let status = asked("POST", path, r#"{"can":["run:*"]}"#);
        assert!(status == 403 || status == 400, "{path}: {status}");
    }
    assert_eq!(asked("GET", "/api/events", ""), 403);
    // What is kept is no token.
    let kept = std::fs::read(daemon.home.path().join("serve/daemon.db-wal")).unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains(token));
    daemon.home.run(&["token", "revoke", made["id"].as_str().unwrap()]);
    assert_eq!(asked("GET", "/api/tasks", ""), 401);
}

#[test]
fn a_service_manager_is_told_when_it_serves_and_when_it_ends() {
    let home = Home::new();
    let socket = home.path().join("notify");
    let manager = std::os::unix::net::UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut child = home.command(&["serve"]).env("NOTIFY_SOCKET", &socket).spawn().unwrap();
    let told = || {
        let mut bytes = [0; 256];
        let n = manager.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..n]).trim().to_owned()
    };
    assert_eq!(told(), "READY=1");
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    // Settings are read again, and it goes on.
    crate::support::write(&home.path().join("config.toml"), "[serve]\nqueue = \"none\"\n");
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    wait_until("word of the wrong settings in the log", || {
        let logs = std::fs::read_dir(home.path().join("logs")).into_iter().flatten().flatten();
        logs.flat_map(|it| std::fs::read_to_string(it.path()))
            .any(|it| it.contains("settings could not be read again"))
    });
    assert!(child.try_wait().unwrap().is_none());
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(told(), "STOPPING=1");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let home = crate::support::Home::new();
    let program = home.command(&[]).get_program().to_string_lossy().into_owned();
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/commis.service");
    let text = std::fs::read_to_string(unit).unwrap().replace("%h/.cargo/bin/commis", &program);
    // It looks for the page, which is installed by a package alone.
    let text = text.replace("Documentation=man:commis(1)\n", "");
    let path = home.path().join("commis.service");
    crate::support::write(&path, &text);
    #[expect(clippy::disallowed_methods, reason = "systemd judges its own files")]
    let judged = std::process::Command::new("systemd-analyze").arg("verify").arg(&path).output();
    let Ok(out) = judged else {
        println!("skipped: there is no systemd-analyze");
        return;
    };
    assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
}

#[test]
fn the_remote_listener_knows_scopes_and_no_root() {
    let daemon = Daemon::start(UNLIMITED, &[]);
    let on = |args: &[&str]| daemon.home.run(&[&["remote"], args].concat());
    // Nobody could get in, or everybody could come.
    assert_eq!(on(&["on"]).status.code(), Some(2));
    let key = on(&["pair", "--can", "run:archive-search,tasks:read", "--expires", "1h"]);
    let key = String::from_utf8_lossy(&key.stdout).trim().to_owned();
    assert_eq!(on(&["on", "--bind", "0.0.0.0:0"]).status.code(), Some(2));
    let out = on(&["on"]);
    let addr: std::net::SocketAddr = String::from_utf8_lossy(&out.stdout).trim().parse().unwrap();
    let ask = |method: &str, path: &str, token: &str, more: &str, body: &str| {
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: elsewhere\r\nContent-Type: application/json\r\n{token}{more}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut stream = std::net::TcpStream::connect(addr).unwrap();
        std::io::Write::write_all(&mut stream, text.as_bytes()).unwrap();
        let mut out = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut out);
        super::Answer::read(&out)
    };
    let root = format!("Authorization: Bearer {}\r\n", daemon.token);
    assert_eq!(ask("GET", "/api/version", &root, "", "").status, 403);
    assert_eq!(ask("GET", "/api/version", "", "", "").status, 401);
    assert_eq!(ask("POST", "/connect", "", "", r#"{"key": "wrong"}"#).status, 401);
    let made = ask("POST", "/connect", "", "", &json!({"key": key}).to_string());
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(ask("POST", "/connect", "", "", &json!({"key": key}).to_string()).status, 401);
    let token =
        format!("Authorization: Bearer {}\r\n", made.json()["data"]["token"].as_str().unwrap());
    assert_eq!(ask("GET", "/api/recipes/archive-search", &token, "", "").status, 200);
    assert_eq!(ask("GET", "/api/recipes/hn-search", &token, "", "").status, 404);
    assert_eq!(ask("POST", "/api/tokens", &token, "", r#"{"can": ["run:*"]}"#).status, 404);
    assert_eq!(ask("GET", "/", &token, "", "").status, 404);
    assert_eq!(ask("GET", "/api/version", &token, "Origin: http://elsewhere\r\n", "").status, 403);
    assert!(on(&["off"]).status.success());
    assert!(std::net::TcpStream::connect(addr).is_err());
}
