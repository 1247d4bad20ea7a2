//! `commis testbed model`: a transcript is served to whoever asks, until whoever started it is gone.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::Stdio,
};

use serde_json::{Value, json};

use crate::support::{Home, write};

/// Body of the answer, asked for by POST where there is something to send.
fn request(base: &str, path: &str, body: Option<&Value>) -> (String, Value) {
    let host = base.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let method = if body.is_some() { "POST" } else { "GET" };
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close");
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), serde_json::from_str(body).unwrap())
}

#[test]
fn a_transcript_is_served_until_whoever_asked_for_it_is_gone() {
    let home = Home::new();
    let file = home.path().join("talk.yaml");
    write(
        &file,
        "scripts:\n  - when: [books]\n    turns:\n      - call: {name: look}\n      - fail: 418\n",
    );
    let mut child = home
        .command(&["testbed", "model", "--port", "0", "--until-eof", "--transcript"])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let base = lines.next().unwrap().unwrap();
    assert!(base.starts_with("http://127.0.0.1:") && base.ends_with("/v1/"), "{base}");

    let user = json!({"role": "user", "content": "Find books"});
    let ask = json!({"model": "small", "messages": [user]});
    let (status, said) = request(&base, "/v1/chat/completions", Some(&ask));
    assert_eq!(status, "HTTP/1.1 200 OK");
    let message = &said["choices"][0]["message"];
    assert_eq!(message["tool_calls"][0]["function"]["name"], "look");
    let result =
        json!({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "x"});
    let more = json!({"model": "small", "messages": [user, message, result]});
    assert!(request(&base, "/v1/chat/completions", Some(&more)).0.starts_with("HTTP/1.1 418 "));
    let (_, seen) = request(&base, "/seen", None);
    assert_eq!(seen, json!({"requests": 2, "bodies": [ask, more]}));

    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_is_no_transcript_is_told_with_its_place() {
    let home = Home::new();
    let file = home.path().join("talk.yaml");
    let run = |args: &[&str]| {
        let all = ["testbed", "model", "--port", "0"].iter().chain(args).copied();
        let out = home.run(&all.collect::<Vec<_>>());
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let path = file.to_str().unwrap();
    for (text, part) in [
        (
            "scripts:\n  - turns:\n      - {say: x, fail: 500}\n",
            "turn 1 of script 1: it cannot both",
        ),
        ("scripts: 7\n", "talk.yaml: "),
        ("scripts:\n  - turns: [{call: &a {name: x}}, {call: *a}]\n", "talk.yaml: "),
    ] {
        write(&file, text);
        let (code, said) = run(&["--transcript", path]);
        assert!(code == Some(2) && said.contains(part), "{text}: {code:?} {said}");
    }
    let (code, said) = run(&["--transcript", "/no/such/file"]);
    assert!(code == Some(2) && said.contains("/no/such/file"), "{code:?} {said}");
    assert_eq!(run(&[]).0, Some(2), "nothing to say, and nobody to obey");
}
