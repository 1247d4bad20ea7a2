//! Miniature HARs of each dialect, hostile files, and every file of the shared corpus.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::redact;
use commis_artifacts::recording::{Excerpt, InitiatorKind};
use commis_base::settings::RedactSettings;

fn read(har: &Value) -> ImportedHar {
    import(har.to_string().as_bytes(), "find lamps", BTreeMap::new()).unwrap()
}

fn log(creator: &str, entries: Value) -> Value {
    json!({"log": {"version": "1.2", "creator": {"name": creator, "version": "1"}, "pages": [
        {"id": "page_1", "title": "https://shop.example/", "startedDateTime": "2026-01-01T00:00:00.000Z"}],
        "entries": entries}})
}

fn captured(raw: &RawExchange) -> &str {
    match &raw.body {
        RawBody::Captured(bytes) => std::str::from_utf8(bytes).unwrap(),
        RawBody::Missing(status) => panic!("{status:?}"),
        RawBody::Elsewhere(_) => panic!("let go"),
    }
}

#[test]
fn chrome_devtools() {
    let it = read(&log(
        "WebInspector",
        json!([
            {"_initiator": {"type": "other"}, "_priority": "VeryHigh", "_resourceType": "document", "pageref": "page_1",
             "startedDateTime": "2026-01-01T00:00:00.100Z", "time": 50.5, "timings": {"wait": 20.1, "send": 0.1, "blocked": -1},
             "request": {"method": "GET", "url": "http://shop.example/", "headers": []},
             "response": {"status": 301, "redirectURL": "https://shop.example/#x", "headers": [],
                          "content": {"size": 0, "mimeType": ""}, "_transferSize": 300}},
            {"_initiator": {"type": "other"}, "_resourceType": "document", "pageref": "page_1",
             "startedDateTime": "2026-01-01T00:00:00.200Z", "time": 10,
             "request": {"method": "GET", "url": "https://shop.example/", "headers": []},
             "response": {"status": 200, "headers": [], "content": {"size": 90, "mimeType": "text/html",
                "text": "<title>Shop</title><meta name=csrf content=abc><p>Hello <b>you</b></p><input type=\"password\">"}}},
            {"_initiator": {"type": "script", "stack": {"callFrames": [{"functionName": "f", "url": "https://shop.example/a.js"}]}},
             "_resourceType": "fetch", "startedDateTime": "2026-01-01T00:00:00.300+00:00", "time": 10, "pageref": "page_1",
             "request": {"method": "POST", "url": "https://api.example/q?x=1#frag",
                "headers": [{"name": ":authority", "value": "api.example"}, {"name": "Content-Type", "value": "application/json"}],
                "postData": {"mimeType": "application/json", "text": "{\"q\":1}"}},
             "response": {"status": 200, "headers": [], "content": {"size": 9, "mimeType": "application/json",
                "text": "eyJhIjogMX0=", "encoding": "base64"}}},
            {"_resourceType": "websocket", "request": {"method": "GET", "url": "wss://shop.example/s", "headers": []},
             "response": {"status": 101}}
        ]),
    ));
    let raw = &it.recording;
    assert_eq!((raw.exchanges.len(), it.skipped, raw.url.as_str()), (3, 1, "http://shop.example/"));
    assert_eq!(raw.exchanges[1].redirected_from, Some(0));
    assert_eq!(raw.exchanges[1].timing.start_ms, 100);
    assert_eq!((raw.exchanges[0].timing.total_ms, raw.exchanges[0].timing.ttfb_ms), (50, 20));
    assert_eq!(raw.exchanges[0].encoded_bytes, Some(300));
    assert!(matches!(raw.exchanges[0].body, RawBody::Missing(BodyStatus::Empty)));
    assert_eq!(captured(&raw.exchanges[2]), "{\"a\": 1}");
    assert_eq!(raw.exchanges[2].url.as_str(), "https://api.example/q?x=1");
    assert_eq!(raw.exchanges[2].request_body.as_deref(), Some(&b"{\"q\":1}"[..]));
    assert!(raw.exchanges[2].initiator.has_stack);
    assert_eq!(raw.exchanges[2].initiator.page_url, "https://shop.example/");
    assert_eq!((raw.page.title.as_str(), raw.page.visible_text.trim()), ("Shop", "Hello you"));
    assert_eq!(raw.page.metas, [("csrf".to_owned(), "abc".to_owned())]);
    assert!(raw.page.has_password_field);
    assert_eq!(raw.producer, "WebInspector 1");
}

#[test]
fn an_answer_that_the_browser_had_stored_is_whole() {
    let entry = |content: Value| {
        json!({"_resourceType": "fetch", "startedDateTime": "2026-03-02T10:00:00.000Z", "time": 1,
            "request": {"method": "GET", "url": "http://shop.example/api", "headers": []},
            "response": {"status": 304, "headers": [], "content": content}})
    };
    let stored = entry(json!({"size": 7, "mimeType": "application/json", "text": "{\"a\":1}"}));
    let absent = entry(json!({"size": 0, "mimeType": "application/json"}));
    let it = read(&log("WebInspector", json!([stored, absent])));
    let [stored, absent] = &it.recording.exchanges[..] else { panic!() };
    assert_eq!((stored.status, captured(stored)), (Some(200), "{\"a\":1}"));
    assert!(matches!(absent.body, RawBody::Missing(BodyStatus::Absent)));
    // The server did not say when; the file does.
    let date = stored.response_headers.iter().find(|it| it.0 == "date").map(|it| it.1.as_str());
    assert_eq!(date, Some("Mon, 02 Mar 2026 10:00:00 GMT"));
}

#[test]
fn kinds_without_a_resource_type() {
    let kind = |method: &str, url: &str, mime: &str, headers: Value| {
        let it = read(&log(
            "Firefox",
            json!([{"startedDateTime": "2026-01-01T01:00:00.100+01:00",
            "request": {"method": method, "url": url, "headers": headers},
            "response": {"status": 200, "headers": [], "content": {"mimeType": mime, "size": 2, "text": "xx"}}}]),
        ));
        it.recording.exchanges[0].resource_type
    };
    let header = |name: &str, value: &str| json!([{"name": name, "value": value}]);
    for (expected, method, url, mime, headers) in [
        (
            ResourceType::Document,
            "GET",
            "https://a.example/",
            "text/html",
            header("Accept", "text/html,*/*"),
        ),
        (
            ResourceType::Xhr,
            "GET",
            "https://a.example/part",
            "text/html",
            header("X-Requested-With", "XMLHttpRequest"),
        ),
        (ResourceType::Xhr, "GET", "https://a.example/j", "application/json", json!([])),
        (
            ResourceType::Fetch,
            "GET",
            "https://a.example/j",
            "application/json",
            header("Sec-Fetch-Dest", "empty"),
        ),
        (
            ResourceType::Document,
            "GET",
            "https://a.example/j",
            "application/json",
            header("accept", "text/html"),
        ),
        (
            ResourceType::Preflight,
            "OPTIONS",
            "https://a.example/j",
            "",
            header("Access-Control-Request-Method", "POST"),
        ),
        (
            ResourceType::Script,
            "GET",
            "https://a.example/x",
            "text/javascript; charset=utf-8",
            json!([]),
        ),
        (ResourceType::Image, "GET", "https://a.example/x", "image/webp", json!([])),
        (ResourceType::Script, "GET", "https://a.example/x.js", "", json!([])),
        (
            ResourceType::Iframe,
            "GET",
            "https://a.example/",
            "text/html",
            header("Sec-Fetch-Dest", "iframe"),
        ),
    ] {
        assert_eq!(
            kind(method, url, mime, headers.clone()),
            expected,
            "{method} {url} {mime} {headers}"
        );
    }
}

#[test]
fn safari_mitmproxy_and_playwright() {
    let form = json!({"mimeType": "application/x-www-form-urlencoded",
        "params": [{"name": "q", "value": "red lamp"}, {"name": "n%5B%5D", "value": "a%26b"}]});
    let it = read(&log(
        "WebKit Web Inspector",
        json!([
            {"_resourceType": "XHR", "request": {"method": "post", "url": "https://a.example/f", "headers": {"X-A": "1", "n": 2},
                "postData": form}, "response": {"status": 0, "content": {}}},
            {"request": {"method": "POST", "url": "https://a.example/b", "headers": [],
                "postData": {"mimeType": "application/octet-stream", "text": "aGVsbG8=", "encoding": "base64"}},
             "response": {"status": "200", "content": {"size": "5", "mimeType": "text/plain"}}},
            {"_initiator": "https://a.example/app.js", "_initiator_type": "script",
             "request": {"method": "GET", "url": "https://a.example/c", "headers": []},
             "response": {"status": 200, "content": {"size": 7, "mimeType": "application/json", "text": {"a": [1]}}}},
        ]),
    ));
    let all = &it.recording.exchanges;
    assert_eq!(all[0].request_body.as_deref(), Some(&b"q=red+lamp&n%5B%5D=a%26b"[..]));
    assert_eq!(
        all[0].request_headers,
        [("X-A".to_owned(), "1".to_owned()), ("n".to_owned(), "2".to_owned())]
    );
    assert_eq!((all[0].resource_type, all[0].status), (ResourceType::Xhr, None));
    assert!(matches!(all[0].body, RawBody::Missing(BodyStatus::Failed)));
    assert_eq!(all[1].request_body.as_deref(), Some(&b"hello"[..]));
    assert!(matches!(all[1].body, RawBody::Missing(BodyStatus::Absent)));
    assert_eq!(all[2].initiator.kind, InitiatorKind::Script);
    assert_eq!(captured(&all[2]), "{\"a\":[1]}");
}

#[test]
fn files_that_are_no_har() {
    let good =
        log("x", json!([{"request": {"url": "https://a.example/"}, "response": {"status": 200}}]))
            .to_string();
    for bytes in [
        &good.as_bytes()[..good.len() - 3],
        b"",
        b"[]",
        b"{\"log\": {}}",
        b"{\"log\": {\"entries\": {}}}",
        b"{\"log\": {\"entries\": []}}",
        b"{\"log\": {\"entries\": [1, null, \"x\", {}]}}",
        b"\xff\xfe\x00",
        "[".repeat(100_000).as_bytes(),
    ] {
        let err = import(bytes, "t", BTreeMap::new()).map(|_| ()).unwrap_err();
        assert_eq!(err.code(), Code::HarInvalid);
        assert!(err.hint_text().is_some());
    }
    // A byte order mark and odd entries beside a good one are no reason to give up.
    let odd = format!("\u{feff}{}", good.replace("\"entries\":[", &format!(
        "\"entries\":[{{\"request\":{{\"url\":\"https://a.example/\"}},\"n\":1e999}},{}{},{{\"request\":{{\"url\":\"https://b.example/\\u0000\",\
         \"method\":7,\"headers\":\"x\",\"postData\":[]}},\"response\":[],\"time\":\"soon\",\"startedDateTime\":5}},",
        "[".repeat(300), "]".repeat(300))));
    let it = import(odd.as_bytes(), "t", BTreeMap::new()).unwrap();
    assert_eq!((it.recording.exchanges.len(), it.skipped), (2, 2));
}

#[test]
fn only_the_web_is_imported() {
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "blob:https://a.example/1",
        "chrome://version/",
        "about:blank",
        "ws://a.example/",
        "ftp://a.example/",
        "view-source:http://a.example/",
        "http://",
        "http://exa mple/",
        "//a.example/",
        "/x",
        "",
    ] {
        let har = log("x", json!([{"request": {"url": url}, "response": {"status": 200}}]));
        let err = import(har.to_string().as_bytes(), "t", BTreeMap::new()).map(|_| ()).unwrap_err();
        assert_eq!(err.code(), Code::HarInvalid, "{url}");
    }
}

#[test]
fn a_body_is_what_post_data_says_where_no_header_does() {
    let part = "--XX\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nTr0ub4dor-x9\r\n--XX--\r\n";
    let har = log(
        "x",
        json!([{"request": {"method": "POST", "url": "https://a.example/", "headers": [],
            "postData": {"mimeType": "multipart/form-data; boundary=XX", "text": part}}, "response": {"status": 200}}]),
    );
    let redacted = crate::redact(read(&har).recording, &RedactSettings::default());
    let stored = serde_json::to_string(&redacted.recording).unwrap();
    assert!(stored.contains("password") && !stored.contains("Tr0ub4dor"), "{stored}");
}

#[test]
fn lies_about_sizes_and_codings_are_bounded() {
    use std::io::Write as _;
    let bomb = {
        let mut out = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
        out.write_all(&vec![b' '; bytes::MAX_BODY + 1]).unwrap();
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, out.finish().unwrap())
    };
    let big = "y".repeat(10 << 20);
    let entry = |response: Value| {
        json!([{"request": {"method": "GET", "url": "https://a.example/x", "headers": [{"name": "x-big", "value": big}]},
            "response": response}])
    };
    let gzip = json!([{"name": "Content-Encoding", "value": "gzip"}]);
    let with = |content: Value| json!({"status": 200, "headers": gzip, "content": content});
    let mime = "application/json";
    for (response, want) in [
        (
            with(json!({"mimeType": mime, "size": 3, "text": bomb, "encoding": "base64"})),
            "TooLarge",
        ),
        (with(json!({"mimeType": mime, "size": -1, "text": "[1]"})), "[1]"),
        (with(json!({"mimeType": mime, "size": 1e300, "text": "[1]"})), "[1]"),
        (with(json!({"mimeType": mime, "size": "many", "text": "[1]"})), "[1]"),
        (
            with(json!({"mimeType": mime, "text": "*not base64*", "encoding": "base64"})),
            "*not base64*",
        ),
        (with(json!({"mimeType": mime, "text": "a\u{0}b", "encoding": 7})), "a\u{0}b"),
        (with(json!({"mimeType": mime, "text": "y".repeat(17 << 20)})), "TooLarge"),
        (with(json!({"mimeType": big, "text": "[1]"})), "[1]"),
        (with(json!({"mimeType": {}, "text": true})), "Absent"),
        (json!({"status": 1e99, "headers": {"x": [1]}, "content": {"text": "[1]"}}), "[1]"),
        // Not 200 with something above it.
        (json!({"status": 65736, "headers": [], "content": {"text": "[1]"}}), "[1]"),
        (json!({"status": -200, "headers": 3, "content": "x"}), "Failed"),
        (json!([]), "Failed"),
    ] {
        let shown: String = response.to_string().chars().take(200).collect();
        let it = read(&log("x", entry(response.clone())));
        let raw = &it.recording.exchanges[0];
        let got = match &raw.body {
            RawBody::Captured(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            RawBody::Missing(status) => format!("{status:?}"),
            RawBody::Elsewhere(_) => "let go".to_owned(),
        };
        assert_eq!(got, want, "{shown}");
        assert_eq!(raw.status, (response["status"] == 200).then_some(200), "{shown}");
        assert!(raw.mime.len() <= 1024 && raw.request_headers.is_empty(), "{shown}");
    }
    let many: Vec<Value> = (0..20_001)
        .map(|_| json!({"request": {"url": "https://a.example/"}, "response": {}}))
        .collect();
    let err = import(log("x", many.into()).to_string().as_bytes(), "t", BTreeMap::new());
    assert_eq!(err.map(|_| ()).unwrap_err().code(), Code::HarInvalid);
}

#[test]
fn the_shared_corpus_is_read_and_redacted() {
    let Some(folder) = commis_base::testing::shared("realworld/hars") else {
        return;
    };
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let counts: Vec<[usize; 4]> = files
        .par_iter()
        .map(|file| {
            let bytes = std::fs::read(file).unwrap();
            let it = import(&bytes, "find lamps", BTreeMap::new())
                .unwrap_or_else(|err| panic!("{}: {err}", file.display()));
            let out = redact(it.recording, &RedactSettings::default());
            let mut sum = [0; 4];
            for it in &out.recording.exchanges {
                sum[0] += 1;
                sum[1] += it.measures.lists.len();
                sum[2] += it.measures.leaves as usize;
                sum[3] += serde_json::to_string(it).unwrap().matches("REDACTED").count();
                match &it.excerpt {
                    Some(Excerpt::Json(it)) => assert!(it.to_string().len() <= 32 * 1024),
                    Some(Excerpt::Html(it)) => assert!(it.len() <= 32 * 1024),
                    Some(Excerpt::Text(it)) => assert!(it.len() <= 4 * 1024),
                    None => {}
                }
            }
            sum
        })
        .collect();
    let sum = |i: usize| counts.iter().map(|it| it[i]).sum::<usize>();
    println!(
        "{} files, {} exchanges, {} lists, {} leaves, {} placeholders",
        files.len(),
        sum(0),
        sum(1),
        sum(2),
        sum(3)
    );
}

/// Whatever a hostile or odd exporter makes of a field, what is secret in it goes.
#[test]
fn odd_shapes_hide_nothing() {
    const X: &str = "q9ZxKd81uw3mZr7LpT2v";
    let bearer = format!("Bearer {X}");
    let (cookie, line) = (format!("sid={X}"), format!("Set-Cookie: sid={X}"));
    for (side, field, odd) in [
        ("request", "headers", json!({"authorization": [bearer]})),
        ("request", "headers", json!({"cookie": {"v": cookie}})),
        ("request", "headers", json!([["Authorization", bearer]])),
        ("request", "headers", json!(["Authorization", bearer])),
        ("request", "headers", json!([{"name": "Authorization", "Value": bearer}])),
        ("request", "headers", json!([{"name": "Authorization", "value": [bearer]}])),
        ("response", "headers", json!(line)),
        ("response", "headers", json!(["Date: x", line])),
        ("request", "cookies", json!(cookie)),
        ("request", "cookies", json!({"sid": {"value": X}})),
        ("request", "queryString", json!(format!("api_key={X}"))),
        ("request", "queryString", json!([["api_key", X]])),
        ("request", "postData", json!(format!("{{\"api_key\": \"{X}\"}}"))),
        (
            "response",
            "content",
            json!({"mimeType": "application/json", "encoding": "BASE64", "text":
                base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("{{\"password\": \"{X}\"}}"))}),
        ),
        ("response", "statusText", json!(format!("Ok {X}"))),
        ("response", "httpVersion", json!(X)),
        ("response", "_error", json!(format!("failed at {X}"))),
        ("response", "comment", json!(format!("seen with {X}"))),
        ("", "_webSocketMessages", json!([format!("AUTH {X}")])),
        (
            "",
            "_webSocketMessages",
            json!([{"type": "send", "opcode": 1, "data": format!("AUTH {X}")}]),
        ),
        ("", "_webSocketMessages", json!([["token", {"api_key": X}]])),
    ] {
        let mut entry = json!({"request": {"method": "GET", "url": "https://shop.example/"},
            "response": {"status": 200}});
        match side {
            "" => entry[field] = odd.clone(),
            side => entry[side][field] = odd.clone(),
        }
        let har = log("test", json!([entry])).to_string();
        let (out, _) = share::share(har.as_bytes(), &RedactSettings::default()).unwrap();
        let text = String::from_utf8(out.clone()).unwrap();
        let encoded = odd["text"].as_str().unwrap_or(X);
        assert!(!text.contains(X) && !text.contains(encoded), "{odd} is {text}");
        let (again, _) = share::share(&out, &RedactSettings::default()).unwrap();
        assert_eq!(String::from_utf8(again).unwrap(), text, "{odd}");
    }
}
