//! Events of a browser, told in the orders in which browsers tell them.

use serde_json::{Value, json};

use super::*;

fn recorder() -> Recorder {
    let mut it = Recorder::new(Instant::now(), "main");
    assert!(it.hurry().is_empty());
    it
}

fn tell(recorder: &mut Recorder, session: &str, what: &str, params: &Value) -> Vec<ReadRequest> {
    let event = Event::literal(session, &format!("Network.{what}"), params);
    recorder.take(&event, TargetKind::Page)
}

fn sent(id: &str, url: &str) -> Value {
    json!({
        "requestId": id, "documentURL": "http://a.test/", "timestamp": 1.0, "type": "Fetch", "newInThisBrowser": [1],
        "request": { "url": url, "method": "GET", "headers": { "Accept": "*/*" } }, "initiator": { "type": "script" },
    })
}

fn received(id: &str) -> Value {
    json!({
        "requestId": id, "timestamp": 1.5, "hasExtraInfo": true,
        "response": { "status": 200, "mimeType": "application/json", "headers": {} },
    })
}

fn finished(id: &str) -> Value {
    json!({ "requestId": id, "timestamp": 2.0, "encodedDataLength": 100 })
}

fn body(session: &str, index: usize) -> ReadRequest {
    ReadRequest { what: ReadKind::Body, session: session.into(), index, id: "1".to_owned() }
}

#[test]
fn bodies_of_the_page_wait_until_there_is_time_or_no_room() {
    let mut it = Recorder::new(Instant::now(), "main");
    let load = |it: &mut Recorder, id: &str, bytes: u64, target: TargetKind| {
        let data = json!({ "requestId": id, "dataLength": bytes });
        let mut read = Vec::new();
        for (what, params) in [
            ("requestWillBeSent", sent(id, "http://a.test/")),
            ("responseReceived", received(id)),
            ("dataReceived", data),
            ("loadingFinished", finished(id)),
        ] {
            let event = Event::literal("p", &format!("Network.{what}"), &params);
            read.extend(it.take(&event, target));
        }
        read.into_iter().map(|it| it.id).collect::<String>()
    };
    assert_eq!(load(&mut it, "1", 10, TargetKind::Page), "");
    assert_eq!(load(&mut it, "2", 10, TargetKind::Worker), "2", "it may end at any time");
    assert!(it.awaited("a.test") == RequestProgress::Ended && !it.has_read_all());
    for id in ["3", "4", "5"] {
        assert_eq!(load(&mut it, id, 8 << 20, TargetKind::Page), "");
    }
    assert_eq!(load(&mut it, "6", 8 << 20, TargetKind::Page), "13456");
    assert_eq!(load(&mut it, "8", 10, TargetKind::Page), "");
    assert_eq!(it.hurry().len(), 1);
    assert_eq!(load(&mut it, "9", 10, TargetKind::Page), "9");
}

#[test]
fn a_redirect_is_two_exchanges_with_their_own_extra_headers() {
    let mut it = recorder();
    // Extra headers may come before the request that they belong to.
    let first = json!({ "requestId": "1", "headers": { "Cookie": "hop=1" } });
    tell(&mut it, "p", "requestWillBeSentExtraInfo", &first);
    tell(&mut it, "p", "requestWillBeSent", &sent("1", "http://a.test/1"));
    let answer =
        json!({ "requestId": "1", "statusCode": 302, "headers": { "Set-Cookie": "a=1\nb=2" } });
    tell(&mut it, "p", "responseReceivedExtraInfo", &answer);
    let mut hop = sent("1", "http://a.test/2");
    hop["redirectResponse"] = json!({ "status": 302, "headers": {} });
    hop["redirectHasExtraInfo"] = true.into();
    tell(&mut it, "p", "requestWillBeSent", &hop);
    tell(&mut it, "p", "responseReceived", &received("1"));
    let second = json!({ "requestId": "1", "headers": { "Cookie": "hop=2", "Proxy-Connection": "x", "Pragma": "y" } });
    tell(&mut it, "p", "requestWillBeSentExtraInfo", &second);
    let answer = json!({ "requestId": "1", "statusCode": 304, "headers": {} });
    tell(&mut it, "p", "responseReceivedExtraInfo", &answer);
    assert_ne!(it.idle_in(Duration::ZERO, Instant::now()), Some(Duration::ZERO));
    assert!(it.awaited("/2") != RequestProgress::Ended);
    let read = tell(&mut it, "p", "loadingFinished", &finished("1"));
    assert_eq!(read, [body("p", 1)]);
    assert!(it.awaited("/2") == RequestProgress::Ended && !it.has_read_all());
    it.read_body(1, Some(ReadBody::Text("{}".to_owned())));
    assert!(it.has_read_all());
    assert_eq!(it.idle_in(Duration::ZERO, Instant::now()), Some(Duration::ZERO));

    let (_, all) = it.finish();
    let owned = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(all[0].request_headers, [owned("Cookie", "hop=1")]);
    assert_eq!(all[0].status, Some(302));
    let cookies = [owned("Set-Cookie", "a=1"), owned("Set-Cookie", "b=2")];
    assert_eq!(all[0].response_headers, cookies);
    assert_eq!(all[1].request_headers, [owned("Cookie", "hop=2")]);
    assert_eq!((all[1].status, all[1].redirected_from), (Some(304), Some(0)));
    assert_eq!((all[1].timing.ttfb_ms, all[1].timing.total_ms), (500, 1000));
}

#[test]
fn what_two_sessions_report_is_one_exchange() {
    let mut it = recorder();
    for session in ["page", "worker"] {
        tell(&mut it, session, "requestWillBeSent", &sent("1", "http://a.test/w.js"));
    }
    tell(&mut it, "worker", "responseReceived", &received("1"));
    let read = tell(&mut it, "worker", "loadingFinished", &finished("1"));
    assert_eq!(read, [body("worker", 0)]);
    it.read_body(0, Some(ReadBody::Text("x".to_owned())));
    assert_eq!(tell(&mut it, "page", "loadingFinished", &finished("1")), []);
    assert_eq!(it.finish().1.len(), 1);
}

#[test]
fn an_answer_that_nobody_reads_holds_nobody_up() {
    let mut it = recorder();
    tell(&mut it, "p", "requestWillBeSent", &sent("1", "http://a.test/"));
    let ms = Duration::from_millis;
    let idle_in = |it: &Recorder, after: u64| it.idle_in(ms(150), it.changed + ms(after));
    assert_eq!(idle_in(&it, 2000), None, "no head yet");
    tell(&mut it, "p", "responseReceived", &received("1"));
    assert_eq!(idle_in(&it, 200), Some(ms(200)));
    assert_eq!(idle_in(&it, 400), Some(Duration::ZERO));
    tell(&mut it, "p", "loadingFinished", &finished("1"));
    assert_eq!((idle_in(&it, 149), idle_in(&it, 150)), (Some(ms(1)), Some(Duration::ZERO)));
}

#[test]
fn why_a_body_is_missing() {
    let check = |patch: Value, decoded: u64, body: Option<&[u8]>, expected: BodyStatus| {
        let mut it = recorder();
        tell(&mut it, "p", "requestWillBeSent", &sent("1", "http://a.test/"));
        let mut answer = received("1");
        for (key, value) in patch.as_object().unwrap() {
            answer["response"][key] = value.clone();
        }
        tell(&mut it, "p", "responseReceived", &answer);
        let data = json!({ "requestId": "1", "dataLength": decoded });
        tell(&mut it, "p", "dataReceived", &data);
        if !tell(&mut it, "p", "loadingFinished", &finished("1")).is_empty() {
            it.read_body(0, body.map(|it| ReadBody::Bytes(it.to_vec())));
        }
        let (_, all) = it.finish();
        match &all[0].body {
            RawBody::Missing(status) => assert_eq!(*status, expected),
            RawBody::Captured(_) => assert_eq!(BodyStatus::Captured, expected),
            RawBody::Elsewhere(_) => panic!("let go"),
        }
    };
    check(json!({}), 5, Some(b"12345"), BodyStatus::Captured);
    check(json!({}), 5, None, BodyStatus::Evicted);
    check(json!({}), 5, Some(b""), BodyStatus::Evicted);
    check(json!({}), 0, None, BodyStatus::Empty);
    check(json!({ "status": 204 }), 0, None, BodyStatus::Empty);
    check(json!({ "mimeType": "image/png" }), 5, None, BodyStatus::Binary);
    check(json!({}), 9 << 20, None, BodyStatus::TooLarge);
    let refused = json!({ "headers": { "X-Commis-Blocked": "DNS_BLOCKED" } });
    check(refused, 0, None, BodyStatus::Failed);
}

#[test]
fn an_answer_that_was_given_up_when_all_of_it_had_come() {
    let check = |body: &str, whole: bool| {
        let mut it = Recorder::new(Instant::now(), "main");
        let data = json!({ "requestId": "1", "dataLength": body.len() });
        let failed = json!({ "requestId": "1", "timestamp": 2.0, "canceled": true });
        tell(&mut it, "p", "requestWillBeSent", &sent("1", "http://a.test/"));
        tell(&mut it, "p", "responseReceived", &received("1"));
        tell(&mut it, "p", "dataReceived", &data);
        // The page may go on to anything, so it is read at once.
        assert_eq!(tell(&mut it, "p", "loadingFailed", &failed), [self::body("p", 0)]);
        it.read_body(0, Some(ReadBody::Text(body.to_owned())));
        assert_eq!(it.awaited("a.test") == RequestProgress::Ended, whole, "{body}");
        let (_, all) = it.finish();
        assert_eq!(matches!(all[0].body, RawBody::Captured(_)), whole, "{body}");
    };
    check("{\"type\":\"data\"}\n", true);
    check("{\"type\":\"data\"}\n{\"type\":\"chunk\"}\n", true);
    check("{\"type\":\"da", false);
}

#[test]
fn unknown_and_inner_requests_are_ignored() {
    let mut it = recorder();
    tell(&mut it, "p", "requestWillBeSent", &sent("1", "data:text/plain,x"));
    tell(&mut it, "p", "responseReceived", &received("2"));
    tell(&mut it, "p", "loadingFailed", &json!({ "requestId": "3", "timestamp": 1.0 }));
    tell(&mut it, "p", "requestWillBeSent", &json!({ "requestId": 4 }));
    assert!(it.finish().1.is_empty());
}

#[test]
fn of_what_a_scroll_provoked_the_first_further_page_stays() {
    let mut it = recorder();
    let load = |it: &mut Recorder, id: &str, url: &str| {
        tell(it, "p", "requestWillBeSent", &sent(id, url));
        tell(it, "p", "responseReceived", &received(id));
        tell(it, "p", "loadingFinished", &finished(id));
    };
    load(&mut it, "1", "http://a.test/list");
    load(&mut it, "2", "http://a.test/me");
    let before = it.requests();
    // The same again and another endpoint are no further page.
    load(&mut it, "3", "http://a.test/list");
    load(&mut it, "4", "http://a.test/seen?until=9");
    assert_eq!(it.first_repeat_after(before), None);
    load(&mut it, "5", "http://a.test/list?after=c5");
    load(&mut it, "6", "http://a.test/list?after=c9");
    let first = it.first_repeat_after(before);
    assert_eq!(first, Some(4));
    it.forget_after(before, first);
    let (told, _) = it.told_from(0, Instant::now());
    assert_eq!(told.len(), 3);
    let urls: Vec<String> = it.finish().1.into_iter().map(|it| it.url.to_string()).collect();
    assert_eq!(urls, ["http://a.test/list", "http://a.test/me", "http://a.test/list?after=c5"]);
}
