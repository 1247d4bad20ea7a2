//! What `wild.test` answers: exact bytes by name, redirects by name, and what has to be made while it is sent.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use serde_json::Value;

use super::{
    ReceivedRequest, Step,
    bombs::{bomb, pack},
};

/// Deeper, wider and longer than this nothing is made.
const MAX_N: usize = 4 << 20;

/// `/raw/NAME`: these bytes, then the connection ends. `/held/NAME`: these bytes, and it stays open for the next request.
pub const RAW: &[(&str, &str)] = &[
    ("plain", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    ("old-version", "HTTP/1.0 200 OK\r\n\r\nok"),
    ("no-reason", "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok"),
    ("bare-newlines", "HTTP/1.1 200 OK\ncontent-length: 2\n\nok"),
    ("status-999", "HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\nok"),
    // Status lines.
    ("no-status-line", "hello, this is no HTTP\r\n\r\n"),
    ("only-body", "ok"),
    ("status-letters", "HTTP/1.1 abc OK\r\ncontent-length: 2\r\n\r\nok"),
    ("status-99", "HTTP/1.1 99 Low\r\ncontent-length: 2\r\n\r\nok"),
    ("status-1000", "HTTP/1.1 1000 High\r\ncontent-length: 2\r\n\r\nok"),
    ("status-negative", "HTTP/1.1 -200 OK\r\ncontent-length: 2\r\n\r\nok"),
    ("version-2", "HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    ("version-icy", "ICY 200 OK\r\n\r\nok"),
    ("reason-control", "HTTP/1.1 200 O\u{1}K\r\ncontent-length: 2\r\n\r\nok"),
    ("tls-alert", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}("),
    // Headers.
    ("header-space", "HTTP/1.1 200 OK\r\nx y: 1\r\ncontent-length: 2\r\n\r\nok"),
    ("header-space-colon", "HTTP/1.1 200 OK\r\nx-y : 1\r\ncontent-length: 2\r\n\r\nok"),
    ("header-folded", "HTTP/1.1 200 OK\r\nx-y: 1\r\n  2\r\ncontent-length: 2\r\n\r\nok"),
    ("header-no-colon", "HTTP/1.1 200 OK\r\nnothing\r\ncontent-length: 2\r\n\r\nok"),
    ("header-nul", "HTTP/1.1 200 OK\r\nx-y: a\u{0}b\r\ncontent-length: 2\r\n\r\nok"),
    ("header-no-name", "HTTP/1.1 200 OK\r\n: 1\r\ncontent-length: 2\r\n\r\nok"),
    ("header-utf8", "HTTP/1.1 200 OK\r\nx-y: é\u{202e}\r\ncontent-length: 2\r\n\r\nok"),
    (
        "header-of-our-proxy",
        "HTTP/1.1 200 OK\r\nx-commis-blocked: INTERNAL\r\nx-commis-error: INTERNAL\r\ncontent-length: 2\r\n\r\nok",
    ),
    // Lengths.
    ("length-short", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok and more"),
    ("length-long", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nok"),
    ("length-two", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok!"),
    ("length-list", "HTTP/1.1 200 OK\r\ncontent-length: 2, 3\r\n\r\nok!"),
    ("length-negative", "HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok"),
    ("length-plus", "HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nok"),
    ("length-hex", "HTTP/1.1 200 OK\r\ncontent-length: 0x2\r\n\r\nok"),
    ("length-empty", "HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\nok"),
    ("length-overflow", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999999\r\n\r\nok"),
    ("length-gigabytes", "HTTP/1.1 200 OK\r\ncontent-length: 4294967296\r\n\r\nok"),
    (
        "length-and-chunks",
        "HTTP/1.1 200 OK\r\ncontent-length: 99\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ),
    // Chunks.
    ("chunk-letters", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n"),
    (
        "chunk-negative",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n",
    ),
    (
        "chunk-overflow",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nok\r\n0\r\n\r\n",
    ),
    ("chunk-cut", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\nok"),
    ("chunk-no-end", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n"),
    (
        "chunk-too-long",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nokok\r\n0\r\n\r\n",
    ),
    // One answer that wants to be two.
    (
        "split-body",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil",
    ),
    (
        "split-location",
        "HTTP/1.1 302 Found\r\nlocation: /ok\r\nset-cookie: injected=1\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil",
    ),
    // Redirects.
    ("redirect-nowhere", "HTTP/1.1 302 Found\r\ncontent-length: 2\r\n\r\nok"),
    (
        "redirect-twice",
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\nlocation: /ok\r\ncontent-length: 0\r\n\r\n",
    ),
    (
        "redirect-300",
        "HTTP/1.1 300 Many\r\nlocation: http://127.0.0.1/\r\ncontent-length: 2\r\n\r\nok",
    ),
    ("redirect-304", "HTTP/1.1 304 Same\r\nlocation: http://127.0.0.1/\r\n\r\n"),
    (
        "redirect-305",
        "HTTP/1.1 305 Proxy\r\nlocation: http://127.0.0.1/\r\ncontent-length: 2\r\n\r\nok",
    ),
    (
        "location-without-redirect",
        "HTTP/1.1 201 Made\r\nlocation: http://127.0.0.1/\r\ncontent-length: 2\r\n\r\nok",
    ),
    (
        "refresh",
        "HTTP/1.1 200 OK\r\nrefresh: 0; url=http://127.0.0.1/\r\ncontent-length: 2\r\n\r\nok",
    ),
    // Codings.
    (
        "coding-lie",
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 8\r\n\r\nno gzip!",
    ),
    ("coding-unknown", "HTTP/1.1 200 OK\r\ncontent-encoding: rot13\r\ncontent-length: 2\r\n\r\nbx"),
    (
        "coding-identity",
        "HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-length: 2\r\n\r\nok",
    ),
    // Protocols.
    (
        "switching",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\nok",
    ),
    (
        "early-hints",
        "HTTP/1.1 103 Early Hints\r\nlink: <http://127.0.0.1/>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    ),
    (
        "unauthorized",
        "HTTP/1.1 401 Who\r\nwww-authenticate: Basic realm=x, Negotiate, NTLM\r\ncontent-length: 2\r\n\r\nno",
    ),
    ("forbidden", "HTTP/1.1 403 No\r\ncontent-length: 2\r\n\r\nno"),
    (
        "proxy-auth",
        "HTTP/1.1 407 Who\r\nproxy-authenticate: Basic realm=x\r\ncontent-length: 2\r\n\r\nno",
    ),
    ("no-content", "HTTP/1.1 204 None\r\n\r\n"),
    ("not-modified", "HTTP/1.1 304 Same\r\n\r\n"),
    // Where a connection can break.
    ("cut-nothing", ""),
    ("cut-status", "HTTP/1.1 20"),
    ("cut-headers", "HTTP/1.1 200 OK\r\ncontent-le"),
    ("cut-before-body", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"),
];

/// `/to/STATUS/NAME`: a redirect to there. `{self}` is the server's own address and port.
pub const LOCATIONS: &[(&str, &str)] = &[
    ("relative", "/ok"),
    ("dots", "../../../../ok"),
    ("query", "?x=1"),
    ("upper-case", "HTTP://WILD.TEST/ok"),
    ("trailing-dot", "http://wild.test./ok"),
    ("own-port", "http://wild.test:80/ok"),
    ("away", "http://away.test/echo"),
    ("away-relative", "//away.test/echo"),
    ("elsewhere", "http://else.test/echo"),
    ("look-alike", "http://wi1d.test/ok"),
    ("look-alike-idn", "http://wіld.test/ok"),
    ("self", "http://{self}/reached"),
    ("loopback", "http://127.0.0.1/"),
    ("loopback-relative", "//127.0.0.1/"),
    ("loopback-v6", "http://[::1]/"),
    ("mapped", "http://[::ffff:127.0.0.1]/"),
    ("dword", "http://2130706433/"),
    ("octal", "http://0177.0.0.1/"),
    ("short", "http://127.1/"),
    ("full-width", "http://１２７.０.０.１/"),
    ("localhost", "http://localhost/"),
    ("private", "http://10.0.0.1/"),
    ("metadata", "http://169.254.169.254/latest/meta-data/"),
    ("metadata-name", "http://metadata.google.internal/"),
    ("https", "https://wild.test/ok"),
    ("bad-port", "http://wild.test:22/ok"),
    ("file", "file:///etc/passwd"),
    ("chrome", "chrome://version/"),
    ("data", "data:text/plain,hello"),
    ("javascript", "javascript:alert(1)"),
    ("about", "about:blank"),
    ("view-source", "view-source:http://wild.test/"),
    ("websocket", "ws://wild.test/"),
    ("ftp", "ftp://wild.test/"),
    ("gopher", "gopher://127.0.0.1:6379/_x"),
    ("userinfo", "http://user:pass@wild.test/ok"),
    ("userinfo-host", "http://wild.test@127.0.0.1/"),
    ("backslash", "\\\\127.0.0.1\\"),
    ("backslash-path", "/\\127.0.0.1/"),
    ("backslash-at", "http://127.0.0.1\\@wild.test/"),
    ("tab", "http://127.0.\t0.1/"),
    ("space", "/a b"),
    ("control", "/a\u{1}b"),
    ("no-host", "http:///127.0.0.1/"),
    ("nothing", "http://"),
    ("no-slashes", "http:127.0.0.1"),
];

const LONG: &str = "HTTP/1.1 302 Found\r\nconnection: close\r\ncontent-length: 0\r\nlocation: /";

/// What to do for a request, and whether the connection takes another one afterwards. `told` is the answer of `/echo`.
pub fn steps(ask: &ReceivedRequest, addr: SocketAddr, told: &Value) -> (Vec<Step>, bool) {
    let path = ask.path.split('?').next().unwrap_or("");
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let n = |text: &str| text.parse::<usize>().unwrap_or(0).min(MAX_N);
    let named = |table: &[(&str, &'static str)], name: &str| {
        table.iter().find(|it| it.0 == name).map(|it| it.1)
    };
    let answer = match parts[..] {
        ["raw", name] => named(RAW, name).map(|it| vec![send(it)]),
        ["held", name] => return (named(RAW, name).into_iter().map(send).collect(), true),
        ["hung", name] => named(RAW, name).map(|it| vec![send(it), Step::Hang]),
        ["reset", name] => named(RAW, name).map(|it| vec![send(it), Step::Reset]),
        ["to", status, name] => named(LOCATIONS, name).map(|it| {
            let location = it.replace("{self}", &addr.to_string());
            vec![send(head(status, &format!("location: {location}\r\ncontent-length: 0\r\n")))]
        }),
        ["to-long", n_bytes] => {
            Some(vec![send(LONG), send("a".repeat(n(n_bytes))), send("\r\n\r\n")])
        }
        ["chain", status, left] => Some(vec![send(match n(left) {
            0 => json("[\"the end\"]"),
            left => {
                let next = left - 1;
                head(status, &format!("location: /chain/{status}/{next}\r\ncontent-length: 0\r\n"))
            }
        })]),
        ["loop"] => Some(vec![send(head("302", "location: /loop\r\ncontent-length: 0\r\n"))]),
        ["status", code, after] => {
            let after = percent_encoding::percent_decode_str(after).decode_utf8_lossy();
            let lines = format!("retry-after: {after}\r\ncontent-length: 2\r\n");
            Some(vec![send(head(code, &lines) + "no")])
        }
        ["bomb", codings] => {
            let codings = codings.replace('+', ", ");
            let name = codings.replace("raw-", "");
            let lines = format!("content-encoding: {name}\r\ncontent-type: application/json\r\n");
            let mut out = vec![send(head("200", &lines))];
            out.extend(bomb(&codings));
            Some(out)
        }
        ["packed", codings] => {
            let codings = codings.replace('+', ", ");
            let body = codings.split(", ").fold(b"ok".to_vec(), |it, coding| pack(coding, &it));
            let lines =
                format!("content-encoding: {codings}\r\ncontent-length: {}\r\n", body.len());
            Some(vec![send(head("200", &lines)), Step::Send(body.into())])
        }
        ["headers", name, count, size] => {
            let line = format!("{name}: {}\r\n", "y".repeat(n(size)));
            Some(vec![
                send("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n"),
                Step::Repeat(line.into(), n(count) as u64),
                send("\r\nok"),
            ])
        }
        ["size", size] => Some(vec![
            send(head("200", &format!("content-length: {}\r\n", n(size)))),
            send("x".repeat(n(size))),
        ]),
        ["deep", levels] => {
            let (open, close) = ("[".repeat(n(levels)), "]".repeat(n(levels)));
            Some(vec![send(json(&(open + &close)))])
        }
        ["wide", count] => {
            let items = vec!["1"; n(count)].join(",");
            Some(vec![send(json(&format!("[{items}]")))])
        }
        ["not-utf8"] => Some(vec![
            send(head("200", "content-type: application/json\r\ncontent-length: 5\r\n")),
            Step::Send(Bytes::from_static(b"\"\xff\xfe\xc0\"")),
        ]),
        ["drip", part] => drip(part),
        ["endless", part] => endless(part),
        ["cookies"] => Some(vec![send(
            head(
                "200",
                "set-cookie: own=1\r\nset-cookie: shared=1; Domain=test\r\n\
                 set-cookie: other=1; Domain=away.test\r\nset-cookie: suffix=1; Domain=co.uk\r\n\
                 set-cookie: __Host-x=1; Path=/; Domain=wild.test\r\ncontent-length: 2\r\n",
            ) + "ok",
        )]),
        ["ok" | "reached" | ""] => Some(vec![send(json("[\"ok\"]"))]),
        ["echo" | "seen"] => Some(vec![send(json(&told.to_string()))]),
        _ => None,
    };
    let none = || vec![send(head("404", "content-length: 0\r\n"))];
    (answer.unwrap_or_else(none), false)
}

/// Answers of which a part comes a few bytes at a time.
fn drip(part: &str) -> Option<Vec<Step>> {
    match part {
        "head" => Some(vec![
            send("HTTP/1.1 200 OK\r\nx-slow: "),
            Step::Drip(Bytes::from_static(b"x"), Duration::from_millis(50), 1200),
        ]),
        "headers" => Some(vec![
            send("HTTP/1.1 200 OK\r\n"),
            Step::Drip(Bytes::from_static(b"x-slow: y\r\n"), Duration::from_millis(300), 200),
        ]),
        "body" => Some(vec![
            send(head("200", "content-type: application/json\r\n")),
            Step::Drip(Bytes::from_static(b" "), Duration::from_millis(50), 1200),
        ]),
        _ => None,
    }
}

/// Answers of which a part has no end.
fn endless(part: &str) -> Option<Vec<Step>> {
    match part {
        "head" => Some(vec![
            send("HTTP/1.1 200 OK\r\nx-long: "),
            Step::Repeat("y".repeat(64 * 1024).into(), 16 * 1024),
        ]),
        "headers" => Some(vec![
            send("HTTP/1.1 200 OK\r\n"),
            Step::Repeat("x-more: 1\r\n".repeat(1000).into(), 64 * 1024),
        ]),
        "body" => Some(vec![
            send(head("200", "content-type: application/json\r\n")),
            Step::Repeat(vec![b' '; 64 * 1024].into(), 16 * 1024),
        ]),
        "chunks" => Some(vec![
            send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"),
            Step::Repeat("10\r\n0123456789abcdef\r\n".repeat(1000).into(), 16 * 1024),
        ]),
        "interim" => Some(vec![Step::Drip(
            "HTTP/1.1 100 Continue\r\n\r\n".repeat(100).into(),
            Duration::from_millis(5),
            10_000,
        )]),
        "extension" => Some(vec![
            send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;"),
            Step::Repeat("x".repeat(64 * 1024).into(), 16 * 1024),
        ]),
        "trailers" => Some(vec![
            send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"),
            Step::Repeat("x-more: 1\r\n".repeat(1000).into(), 64 * 1024),
        ]),
        _ => None,
    }
}

fn send(text: impl Into<Bytes>) -> Step {
    Step::Send(text.into())
}

fn head(status: &str, lines: &str) -> String {
    format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{lines}\r\n")
}

fn json(text: &str) -> String {
    let lines = format!("content-type: application/json\r\ncontent-length: {}\r\n", text.len());
    head("200", &lines) + text
}
