//! What stubs answer, and what they refuse to.

use futures::executor::block_on;
use serde_json::json;

use super::*;
use commis_recipe::model::RequestTemplate;

fn stubs() -> Stubs {
    let answer =
        |text: &str| json!({"status": 200, "mime": "application/json", "body": {"json": text}});
    serde_json::from_value(json!({
        "transports": ["public_http", "in_page_fetch"],
        "session": {"meta:csrf": "stub-csrf"},
        "rules": [
            {"method": "GET", "url": "http://a.test/key.js", "default": "key"},
            {"method": "POST", "url": "http://a.test/api/*/search",
             "needs": [
                {"part": "header:x-key", "value": "stub-key", "otherwise": "denied"},
                {"part": "json:/filter", "otherwise": "bad"}],
             "answers": [
                {"when": {"json:/q": "a"}, "response": "a"},
                {"when": {"json:/q": "a", "json:/page": 2}, "response": "a2"},
                {"when": {"json:/q": null}, "response": "all"}],
             "default": "none"},
            {"method": "POST", "url": "http://a.test/graphql", "is": {"json:/op": "One"}, "default": "a"},
            {"method": "POST", "url": "http://a.test/graphql", "is": {"json:/op": "Two"}, "default": "a2"},
            {"method": "GET", "url": "http://a.test/mine", "outside_session": "denied",
             "needs": [{"part": "header:x-csrf", "value": "stub-csrf", "otherwise": "bad"}], "default": "all"}
        ],
        "responses": {
            "key": {"status": 200, "mime": "text/javascript", "body": {"text": "var k='stub-key';"}},
            "a": answer("a"), "a2": answer("a2"), "all": answer("all"), "none": answer("none"),
            "denied": {"status": 403, "mime": "text/plain", "body": {"text": "no"}},
            "bad": {"status": 400, "mime": "application/octet-stream", "body": {"base64": "AP8="}}
        }
    }))
    .unwrap()
}

fn template(method: &str, url: &str, headers: Value, body: Value) -> RequestTemplate {
    let mut out = json!({"method": method, "url": url, "headers": headers, "allowed_domains": []});
    if !body.is_null() {
        out["body"] = json!({"json": body});
    }
    serde_json::from_value(out).unwrap()
}

/// Sends and says what came: the status, and the body as text.
fn ask(
    replayer: &mut StubReplayer<'_>,
    transport: TransportKind,
    request: &RequestTemplate,
    slots: &[Slot],
) -> Result<(u16, String)> {
    let values = BTreeMap::new();
    let call = ReplayCall {
        transport,
        request,
        parameters: &[],
        values: &values,
        slots,
        steps: &[],
        assembly: None,
    };
    let reply = block_on(replayer.send(call))?;
    Ok((reply.status, String::from_utf8_lossy(&reply.body).into_owned()))
}

#[test]
fn rules_answer_by_parts() {
    let stubs = stubs();
    let mut replayer = StubReplayer::new(&stubs, 3);
    let slots = [Slot {
        name: "key".to_owned(),
        from: SlotSource::Document {
            url: "http://a.test/key.js".to_owned(),
            after: "k='".to_owned(),
            until: "'".to_owned(),
        },
    }];
    let url = "http://a.test/api/v1/search";
    let mut check = |headers: Value, body: Value, status: u16, text: &str| {
        let request = template("POST", url, headers, body.clone());
        let got = ask(&mut replayer, TransportKind::PublicHttp, &request, &slots).unwrap();
        assert_eq!(got, (status, text.to_owned()), "{body}");
    };
    let key = || json!({"x-key": "{key}"});
    check(key(), json!({"q": "a", "filter": {"x": 1}}), 200, "\"a\"");
    check(key(), json!({"q": "a", "page": 2, "filter": []}), 200, "\"a2\"");
    check(key(), json!({"q": "b", "filter": {"x": 1}}), 200, "\"none\"");
    check(key(), json!({"filter": {"x": 1}}), 200, "\"all\"");
    check(key(), json!({"q": "a"}), 400, "\0\u{fffd}");
    check(json!({"x-key": "guess"}), json!({"q": "a", "filter": {"x": 1}}), 403, "no");
    check(json!({}), json!({"q": "a", "filter": {"x": 1}}), 403, "no");
}

#[test]
fn calls_to_one_url_are_told_apart() {
    let stubs = stubs();
    let mut replayer = StubReplayer::new(&stubs, 3);
    for (op, text) in [("One", "\"a\""), ("Two", "\"a2\"")] {
        let request = template("POST", "http://a.test/graphql", json!({}), json!({"op": op}));
        let got = ask(&mut replayer, TransportKind::PublicHttp, &request, &[]).unwrap();
        assert_eq!(got.1, text);
    }
    let request = template("POST", "http://a.test/graphql", json!({}), json!({"op": "Three"}));
    let err = ask(&mut replayer, TransportKind::PublicHttp, &request, &[]).unwrap_err();
    assert_eq!(err.code(), Code::NetworkDisabled);
}

#[test]
fn a_session_is_who_asks_from_its_page() {
    let stubs = stubs();
    let mut replayer = StubReplayer::new(&stubs, 3);
    let slots = [Slot { name: "t".to_owned(), from: SlotSource::Meta { name: "csrf".to_owned() } }];
    let with = template("GET", "http://a.test/mine", json!({"x-csrf": "{t}"}), Value::Null);
    let without = template("GET", "http://a.test/mine", json!({}), Value::Null);
    let page = TransportKind::InPageFetch;
    assert_eq!(ask(&mut replayer, page, &with, &slots).unwrap(), (200, "\"all\"".to_owned()));
    assert_eq!(ask(&mut replayer, page, &without, &[]).unwrap().0, 400);
    assert_eq!(ask(&mut replayer, TransportKind::PublicHttp, &without, &[]).unwrap().0, 403);
    let err = ask(&mut replayer, TransportKind::PublicHttp, &with, &slots).unwrap_err();
    assert_eq!(err.code(), Code::SessionRequired);
    // A call that cannot be made is none: three were, in a budget of three.
    assert!(replayer.spent() && replayer.sent == 3);
    replayer.begin();
    assert!(!replayer.spent());
}

#[test]
fn what_no_rule_covers_is_no_network() {
    let stubs = stubs();
    let mut replayer = StubReplayer::new(&stubs, 3);
    for (method, url) in [
        ("GET", "http://a.test/other"),
        ("GET", "http://b.test/mine"),
        ("GET", "https://a.test/mine"),
        ("POST", "http://a.test/mine"),
        ("POST", "http://a.test/api/v1/v2/search"),
    ] {
        let request = template(method, url, json!({}), Value::Null);
        let err = ask(&mut replayer, TransportKind::PublicHttp, &request, &[]).unwrap_err();
        assert_eq!(err.code(), Code::NetworkDisabled, "{method} {url}");
    }
}

#[test]
fn a_file_that_names_no_response_is_refused() {
    let mut stubs = stubs();
    stubs.responses.remove("none");
    let bytes = serde_json::to_vec(&stubs).unwrap();
    let err = Stubs::parse(Path::new("response_stub.json"), &bytes).unwrap_err();
    assert!(err.to_string().contains("`none`"), "{err}");
}
