//! `commis browse`: a page that stays, from the shell, and what was done on it learned.

use std::{io::Write as _, process::Stdio};

use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, UNLIMITED},
    support::has_chromium,
};

fn browse(daemon: &Daemon, args: &[&str]) -> (i32, String, String) {
    let all: Vec<&str> = ["browse"].iter().chain(args).copied().collect();
    let out = daemon.home.run(&all);
    let text = |it: &[u8]| String::from_utf8_lossy(it).trim_end().to_owned();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

fn chain(daemon: &Daemon, lines: &str) -> (i32, String, String) {
    let mut child = daemon.home.command(&["browse", "chain"]);
    let mut child =
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn what_was_browsed_is_learned() {
    if !has_chromium() {
        return;
    }
    // With the limits that everybody has: waiting for a task must not use them up.
    let daemon = Daemon::start("", &["--testbed"]);
    let (code, text, _) = browse(&daemon, &["goto", "http://shop.test/"]);
    assert_eq!((code, &*text), (0, "http://shop.test/ \"Tidewater Supply\""));
    let (_, shown, _) = browse(&daemon, &["snapshot", "-i"]);
    let field = shown.lines().find(|it| it.contains("searchbox \"Search products\"")).unwrap();
    let field = field.split(' ').next().unwrap();
    let (code, told, _) = browse(&daemon, &["fill", field, "lantern"]);
    assert!(code == 0 && told.contains("GET /api/suggest?q=lantern 200"), "{told}");
    let (_, told, _) = browse(&daemon, &["--json", "press", "Enter"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["effect"]["requests"][0]["path"], "/api/search?q=lantern&page=1", "{told}");
    let (_, steps, _) = browse(&daemon, &["steps"]);
    assert!(steps.contains("press: Enter") && steps.contains("value: lantern"), "{steps}");
    // What the settings do not name is not done, and no step of the task.
    let (code, _, err) = browse(&daemon, &["js", "1 + 1"]);
    assert!(code != 0 && err.contains("browse.allow_js"), "{err}");
    let (code, _, err) = browse(&daemon, &["upload", field, "/etc/hostname"]);
    assert!(code != 0 && err.contains("browse.uploads"), "{err}");
    let (_, help, _) = browse(&daemon, &["help"]);
    assert!(help.contains("Show the page, one line per element"), "{help}");
    let picture = daemon.home.path().join("page.png");
    let (code, _, err) = browse(&daemon, &["screenshot", "-a", picture.to_str().unwrap()]);
    assert!(code == 0 && std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"), "{err}");
    // A value that nobody typed is no parameter.
    let learn = ["learn", "--task", "Search the shop for {query}", "--name", "shop"];
    let with = |more: &[&'static str]| {
        learn.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>()
    };
    let (code, _, err) = browse(&daemon, &with(&["-p", "query=kettle"]));
    assert!(code == 1 || code == 2, "{err}");
    assert!(err.contains("`query` was neither typed nor chosen"), "{err}");
    let (code, out, err) =
        browse(&daemon, &with(&["-p", "query=lantern", "--second", "query=hose"]));
    assert_eq!((code, &*out), (0, "shop: verified"), "{err}");
    let (_, ran) =
        daemon.api("POST", "/api/recipes/shop/run", &json!({"params": {"query": "kettle"}}));
    assert!(ran["data"].to_string().to_lowercase().contains("kettle"), "{ran}");
}

#[test]
fn a_chain_stops_where_it_fails_and_contexts_share_nothing() {
    if !has_chromium() {
        return;
    }
    let daemon = Daemon::start(UNLIMITED, &["--testbed"]);
    let lines = "goto http://shop.test/\nurl\nclick 'button \"Not there\"'\ntitle\n";
    let (code, out, err) = chain(&daemon, lines);
    assert!(
        code != 0 && out.contains("http://shop.test/\n") && !out.ends_with("Supply\n"),
        "{out}"
    );
    assert!(
        err.contains("line 3: nothing on the page is button \"Not there\"") && err.contains("@e"),
        "{err}"
    );
    let (_, other, _) = browse(&daemon, &["--context", "other", "status"]);
    assert!(!other.contains("shop.test"), "{other}");
    // A token has pages of its own, and does with them what its scopes say.
    let token = |scope: &str| {
        let (_, it) = daemon.api("POST", "/api/tokens", &json!({"can": [scope], "note": ""}));
        it["data"]["token"].as_str().unwrap().to_owned()
    };
    let ask = |token: &str, path: &str, body: &str| {
        let host = format!("127.0.0.1:{}", daemon.port);
        let bearer = format!("Bearer {token}");
        let headers =
            [("Host", &*host), ("Authorization", &*bearer), ("Content-Type", "application/json")];
        let it = daemon.ask("POST", path, &headers, body);
        (it.status, it.json())
    };
    let reads = token("browse:read");
    let (status, it) = ask(&reads, "/api/browse/url", "{}");
    assert!(status == 200 && !it.to_string().contains("shop.test"), "{it}");
    assert_eq!(ask(&reads, "/api/browse/goto", r#"{"url": "http://shop.test/"}"#).0, 403);
    assert_eq!(ask(&token("run:*"), "/api/browse/url", "{}").0, 403);
    // Learning is more than browsing.
    let writes = token("browse:write");
    assert_eq!(ask(&writes, "/api/browse/goto", r#"{"url": "http://shop.test/"}"#).0, 200);
    let (status, it) = ask(&writes, "/api/browse/learn", r#"{"task": "look"}"#);
    assert_eq!((status, &it["error"]["error_code"]), (403, &json!("FORBIDDEN")), "{it}");
    let (status, it) = ask(&writes, "/api/browse/goto", r#"{"url": "http://127.0.0.1/"}"#);
    assert!(status == 424 && it["error"]["error_code"] == "URL_BLOCKED", "{it}");
    let (_, closed, _) = browse(&daemon, &["--json", "close"]);
    let closed: Value = serde_json::from_str(&closed).unwrap();
    assert_eq!(closed, json!({"closed": true}));
}
