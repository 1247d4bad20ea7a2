//! parameterize: where what was typed stands, and what it means when it stands nowhere or somewhere else the second time.

use super::*;
use crate::request::template;
use commis_artifacts::payloads::Reason;
use commis_recipe::model::{ParamType, Parameter, ResponseSpec, ResponseType, SlotSource};

/// Weaves the only request of each session, as recorded.
fn weave(
    first: &SessionRecording,
    second: Option<&SessionRecording>,
) -> Judged<RecipeDraftMinimized> {
    weave_at(first, 0, second)
}

fn weave_at(
    first: &SessionRecording,
    at: u32,
    second: Option<&SessionRecording>,
) -> Judged<RecipeDraftMinimized> {
    let (request, slots) = template(&first.exchanges[at as usize]).unwrap();
    let analysis =
        ResponseSpec { extract: Some("hits".to_owned()), ..ResponseSpec::new(ResponseType::Json) };
    let draft = RecipeDraft {
        exchange: at,
        second_exchange: second.map(|_| 0),
        request,
        slots,
        response: analysis,
        transport: TransportKind::PublicHttp,
        deterministic: true,
        captured_only: false,
        needs_login: false,
        carries: Vec::new(),
        compared: true,
        shape: Vec::new(),
        items: None,
        replays: Vec::new(),
    };
    let second = second.map_or_else(alone, driven);
    parameterize(first, &second, &draft, &unchanged(&draft)).unwrap()
}

fn one(typed: &[(&str, &str)], entry: Entry) -> SessionRecording {
    session(typed, "", vec![entry])
}

fn at(url: &str) -> Entry {
    get(url, &hits("any", "1"))
}

fn form(body: &str) -> Entry {
    Entry {
        method: "POST",
        body: Some(("application/x-www-form-urlencoded", body.to_owned())),
        ..at("http://shop.test/search")
    }
}

fn json_body(body: &Value) -> Entry {
    post("http://shop.test/search", body, &hits("any", "1"))
}

#[test]
fn a_typed_value_becomes_a_parameter_where_it_stands() {
    let cases = [
        (
            "garden hose",
            "fern",
            at("http://shop.test/s?q=garden+hose&sort=asc"),
            at("http://shop.test/s?q=fern&sort=asc"),
            "{q}",
            ParamType::Str,
        ),
        (
            "garden hose",
            "fern",
            at("http://shop.test/find/garden%20hose/all"),
            at("http://shop.test/find/fern/all"),
            "/find/{q}/all",
            ParamType::Str,
        ),
        (
            "garden hose",
            "red fern",
            at("http://shop.test/find/garden-hose.html"),
            at("http://shop.test/find/red-fern.html"),
            "/find/{q|slug}.html",
            ParamType::Str,
        ),
        (
            "Garden Hose",
            "Red Fern",
            at("http://shop.test/s?kind=garden-hose"),
            at("http://shop.test/s?kind=red-fern"),
            "{q|slug}",
            ParamType::Str,
        ),
        (
            "garden hose",
            "fern",
            form("term=garden+hose&x=1"),
            form("term=fern&x=1"),
            "{q}",
            ParamType::Str,
        ),
        (
            "garden hose",
            "fern",
            json_body(&json!({"a": [{"q": "garden hose"}]})),
            json_body(&json!({"a": [{"q": "fern"}]})),
            r#"{"a":[{"q":"{q}"}]}"#,
            ParamType::Str,
        ),
        (
            "garden hose",
            "fern",
            json_body(&json!({"q": "name:garden hose AND in:shop"})),
            json_body(&json!({"q": "name:fern AND in:shop"})),
            "name:{q} AND in:shop",
            ParamType::Str,
        ),
        (
            "1987",
            "2003",
            json_body(&json!({"year": 1987})),
            json_body(&json!({"year": 2003})),
            r#"{"year":"{q}"}"#,
            ParamType::Int,
        ),
        (
            "19.5",
            "20.25",
            json_body(&json!({"most": 19.5})),
            json_body(&json!({"most": 20.25})),
            r#"{"most":"{q}"}"#,
            ParamType::Float,
        ),
    ];
    for (typed, other, first, second, woven, kind) in cases {
        let (first, second) = (one(&[("q", typed)], first), one(&[("q", other)], second));
        let out = done(weave(&first, Some(&second)));
        let text = serde_json::to_string(&out.request).unwrap();
        assert!(text.contains(woven), "{woven} is not in {text}");
        let [it] = &out.parameters[..] else { panic!("{:?}", out.parameters) };
        assert_eq!((it.name.as_str(), it.kind, it.required), ("q", kind, true));
        assert_eq!(it.examples.len(), 2);
        // The template and the second values make the second request.
        let values = out.second.unwrap();
        let made = prepare_request(&out.request, &out.parameters, &values).unwrap();
        let (twin, _) = template(&second.exchanges[0]).unwrap();
        let sent = prepare_request(&twin, &[], &BTreeMap::new()).unwrap();
        assert_eq!(
            (made.url.replace("%20", "+"), made.body),
            (sent.url.replace("%20", "+"), sent.body)
        );
    }
}

#[test]
fn a_value_changed_on_its_way_becomes_a_parameter() {
    for ((typed, url), (other, second), woven) in [
        (
            ("ada lovelace", "http://wiki.test/api/Ada_lovelace"),
            ("grace hopper", "http://wiki.test/api/Grace_hopper"),
            "/api/{q|capital|underscore}",
        ),
        (
            ("tern.test", "http://nest.test/find/7465726e2e74657374"),
            ("gull.test", "http://nest.test/find/67756c6c2e74657374"),
            "/find/{q|hex}",
        ),
        (
            ("garden hose", "http://shop.test/s?q=Z2FyZGVuIGhvc2U%3D"),
            ("fern", "http://shop.test/s?q=ZmVybg%3D%3D"),
            "{q|base64}",
        ),
        (
            ("2026-11-22", "http://bus.test/s?on=22.11.2026"),
            ("2027-01-02", "http://bus.test/s?on=02.01.2027"),
            "{q|date_dmy}",
        ),
        // The first alone would be a day before its month.
        (
            ("2026-05-05", "http://bus.test/s?on=05%2F05%2F2026"),
            ("2027-01-02", "http://bus.test/s?on=01%2F02%2F2027"),
            "{q|date_mdy}",
        ),
        (
            ("2026-11-22", "http://bus.test/s?from=1795305600"),
            ("2027-01-02", "http://bus.test/s?from=1798848000"),
            "{q|epoch_s}",
        ),
        (
            ("30", "http://shop.test/s?most=30.0"),
            ("45", "http://shop.test/s?most=45.0"),
            "{q|decimal1}",
        ),
        (
            ("11.81", "http://shop.test/s?cents=1181"),
            ("20.50", "http://shop.test/s?cents=2050"),
            "{q|minor}",
        ),
        (
            ("garden hose", "http://shop.test/garden/hose"),
            ("red fern", "http://shop.test/red/fern"),
            "/{q|word1}/{q|word2}",
        ),
    ] {
        let (first, second) = (one(&[("q", typed)], at(url)), one(&[("q", other)], at(second)));
        let out = done(weave(&first, Some(&second)));
        let text = serde_json::to_string(&out.request).unwrap();
        assert!(text.contains(woven), "{woven} is not in {text}");
        assert_eq!((out.first["q"].as_str(), out.second.unwrap()["q"].as_str()), (typed, other));
    }
    let (first, second) = (json_body(&json!({"most": 30.0})), json_body(&json!({"most": 45.0})));
    let (first, second) = (one(&[("q", "30")], first), one(&[("q", "45")], second));
    let out = done(weave(&first, Some(&second)));
    let sent = prepare_request(&out.request, &out.parameters, &out.second.unwrap()).unwrap();
    assert_eq!(sent.body.unwrap(), br#"{"most":45.0}"#);
    // What explains the first only is no explanation.
    let first = one(&[("q", "30")], at("http://shop.test/s?most=30.0"));
    let second = one(&[("q", "45")], at("http://shop.test/s?most=45.5"));
    assert_eq!(rejected(weave(&first, Some(&second))).reason, Reason::SeveralCalls);
}

#[test]
fn what_the_page_made_up_is_no_earlier_call() {
    for (a, b) in [
        ("r=0.3712345678901", "r=0.9912345678901"),
        ("time=1795380843.3", "time=1795380911.12"),
        ("stamp=1763762345123", "stamp=1763762399123"),
        ("rq=0b2f3e0a-8a55-4f6e-9f0d-1f2e3d4c5b6a", "rq=1c2f3e0a-8a55-4f6e-9f0d-1f2e3d4c5b6a"),
        ("draw=2", "draw=5"),
    ] {
        let of =
            |q: &str, more: &str| one(&[("q", q)], at(&format!("http://shop.test/s?q={q}&{more}")));
        let out = done(weave(&of("lantern", a), Some(&of("teapot", b))));
        assert_eq!(out.second.unwrap()["q"], "teapot", "{a}");
    }
    // One that an earlier answer gave.
    let id = "0b2f3e0a-8a55-4f6e-9f0d-1f2e3d4c5b6a";
    let before = get("http://shop.test/find?q=lantern", &json!({"id": id}));
    let first = session(
        &[("q", "lantern")],
        "",
        vec![before, at(&format!("http://shop.test/s?q=lantern&rq={id}"))],
    );
    let second = one(
        &[("q", "teapot")],
        at("http://shop.test/s?q=teapot&rq=1c2f3e0a-8a55-4f6e-9f0d-1f2e3d4c5b6a"),
    );
    assert_eq!(rejected(weave_at(&first, 1, Some(&second))).reason, Reason::SeveralCalls);
}

#[test]
fn of_equal_values_the_second_recording_tells_them_apart() {
    let of = |a: &str, b: &str, query: &str| {
        one(&[("from", a), ("to", b)], at(&format!("http://shop.test/s?{query}")))
    };
    let values = |out: &RecipeDraftMinimized| {
        out.request.query.iter().map(|it| it.value.clone()).collect::<Vec<_>>()
    };
    let first = of("12", "12", "x=12&y=12");
    for (a, b, query, expected) in [
        ("31", "12", "x=31&y=12", ["{from}", "{to}"]),
        ("31", "12", "x=12&y=31", ["{to}", "{from}"]),
        ("31", "44", "x=44&y=31", ["{to}", "{from}"]),
    ] {
        let out = done(weave(&first, Some(&of(a, b, query))));
        assert_eq!(values(&out), expected, "{query}");
    }
    // Without a second request each has a place, by its name if it can.
    assert_eq!(values(&done(weave(&of("12", "12", "to=12&x=12"), None))), ["{to}", "{from}"]);
    // A constant that is the typed value by chance.
    let of = |q: &str, n: &str| one(&[("q", q)], at(&format!("http://shop.test/s?q={q}&v={n}")));
    let out = done(weave(&of("12", "12"), Some(&of("31", "12"))));
    assert_eq!(values(&out), ["{q}", "12"]);
}

#[test]
fn what_does_not_follow_the_typing_comes_from_an_earlier_call() {
    let lantern = || one(&[("q", "lantern")], at("http://shop.test/s?q=lantern&key=17"));
    let cases = [
        // It stands nowhere.
        (one(&[("q", "alpine")], at("http://shop.test/s?place=77")), None, "`q`"),
        // One of two stands nowhere.
        (
            one(
                &[("q", "lantern"), ("city", "bergen")],
                at("http://shop.test/s?q=lantern&place=77"),
            ),
            None,
            "`city`",
        ),
        // Inside another word it does not stand.
        (one(&[("q", "rust")], at("http://shop.test/s?q=trusty")), None, "`q`"),
        // Another part differs, of every kind.
        (
            lantern(),
            Some(one(&[("q", "teapot")], at("http://shop.test/s?q=teapot&key=18"))),
            "query `key`",
        ),
        (
            lantern(),
            Some(one(&[("q", "teapot")], at("http://shop.test/t?q=teapot&key=17"))),
            "path segment",
        ),
        (
            one(&[("q", "lantern")], form("q=lantern&id=4")),
            Some(one(&[("q", "teapot")], form("q=teapot&id=5"))),
            "form field `id`",
        ),
        (
            one(&[("q", "lantern")], json_body(&json!({"q": "lantern", "in": {"ids": [1, 2]}}))),
            Some(one(
                &[("q", "teapot")],
                json_body(&json!({"q": "teapot", "in": {"ids": [1, 3]}})),
            )),
            "body `/in/ids/1`",
        ),
        (
            one(&[("q", "lantern")], json_body(&json!({"q": "lantern", "ids": [1]}))),
            Some(one(&[("q", "teapot")], json_body(&json!({"q": "teapot", "ids": [1, 2]})))),
            "body `/ids`",
        ),
        // The second value is not what was typed.
        (
            lantern(),
            Some(one(&[("q", "teapot")], at("http://shop.test/s?q=lantern&key=17"))),
            "`q` of the second request",
        ),
        // A spelling that holds for the first only.
        (
            one(&[("q", "Garden Hose")], at("http://shop.test/in/garden-hose")),
            Some(one(&[("q", "Red Fern")], at("http://shop.test/in/Red-Fern"))),
            "path segment",
        ),
    ];
    for (first, second, named) in cases {
        let reject = rejected(weave(&first, second.as_ref()));
        assert_eq!(reject.reason, Reason::SeveralCalls, "{}", reject.detail);
        assert!(reject.detail.contains(named), "{named}: {}", reject.detail);
    }
}

#[test]
fn one_value_in_two_places_is_one_parameter() {
    let first = one(&[("q", "lantern")], at("http://shop.test/in/lantern?q=lantern"));
    let second = one(&[("q", "teapot")], at("http://shop.test/in/teapot?q=teapot"));
    let out = done(weave(&first, Some(&second)));
    assert_eq!((out.request.url.as_str(), out.parameters.len()), ("http://shop.test/in/{q}", 1));
    assert_eq!(out.request.query[0].value, "{q}");
    // In two spellings too.
    let first = one(&[("q", "Garden hose")], at("http://shop.test/in/garden-hose?q=Garden+hose"));
    let second = one(&[("q", "Red fern")], at("http://shop.test/in/red-fern?q=Red+fern"));
    let out = done(weave(&first, Some(&second)));
    assert_eq!(out.request.url, "http://shop.test/in/{q|slug}");
    assert_eq!(out.request.query[0].value, "{q}");
    assert_eq!(out.second.unwrap()["q"], "Red fern");
    // Two typed values of which one is part of the other.
    let two = |a, b, url| one(&[("q", a), ("city", b)], at(url));
    let first = two("bergen hotels", "bergen", "http://shop.test/s?q=bergen+hotels&city=bergen");
    let second = two("oslo bars", "oslo", "http://shop.test/s?q=oslo+bars&city=oslo");
    let out = done(weave(&first, Some(&second)));
    let values: Vec<&str> = out.request.query.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(values, ["{q}", "{city}"]);
}

#[test]
fn a_typed_value_inside_an_encoded_value() {
    let inner = |q: &str| json!({"filters": {"q": q}, "v": 2}).to_string();
    let algolia = |q: &str| json!({"requests": [{"indexName": "shop", "params": q}]});
    let pair = |it: &str| {
        let pairs = [("f", it)];
        let query =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        at(&format!("http://shop.test/s?{query}"))
    };
    let odd = r#"red "fern" & ivy"#;
    for (first, second, woven) in [
        (pair(&inner("garden hose")), pair(&inner(odd)), r#"{\"q\":\"{q|json}\"}"#),
        (
            json_body(&algolia("query=garden%20hose&hitsPerPage=10")),
            json_body(&algolia("query=red%20%22fern%22%20%26%20ivy&hitsPerPage=10")),
            "query={q|url}&hitsPerPage=10",
        ),
        (
            json_body(&json!({"variables": inner("garden hose")})),
            json_body(&json!({"variables": inner(odd)})),
            "{q|json}",
        ),
        (
            pair("http://shop.test/find?term=garden+hose&x=1"),
            pair("http://shop.test/find?term=red%20%22fern%22+%26+ivy&x=1"),
            "/find?term={q|url}&x=1",
        ),
    ] {
        let (first, second) = (one(&[("q", "garden hose")], first), one(&[("q", odd)], second));
        let out = done(weave(&first, Some(&second)));
        let text = serde_json::to_string(&out.request).unwrap();
        assert!(text.contains(woven), "{woven} is not in {text}");
        assert_eq!(out.second.unwrap()["q"], odd);
    }
    // Another part of the same value differs.
    let first = one(&[("q", "hose")], json_body(&algolia("query=hose&page=0&userToken=a1")));
    let second = one(&[("q", "fern")], json_body(&algolia("query=fern&page=0&userToken=b2")));
    assert_eq!(rejected(weave(&first, Some(&second))).reason, Reason::SeveralCalls);
}

#[test]
fn dates_stay_dates() {
    let on = |day: &str| one(&[("day", day)], at(&format!("http://shop.test/s?on={day}")));
    let format = |a: &str, b: &str| {
        done(weave(&on(a), Some(&on(b)))).parameters[0].constraints.format.is_some()
    };
    assert!(format("2026-03-28", "2026-04-02"));
    assert!(!format("2026-03-28", "today"));
}

#[test]
fn what_an_earlier_answer_gave_is_no_constant() {
    let after = |before: Vec<Entry>, url: &str| {
        let mut entries = before;
        entries.push(at(url));
        let recording = session(&[("q", "lantern")], "", entries);
        let at = recording.exchanges.len() as u32 - 1;
        weave_at(&recording, at, None)
    };
    let lookup = |answer: &Value| get("http://shop.test/suggest?term=lantern", answer);
    let anyone = |answer: &Value| get("http://shop.test/config", answer);
    let place = json!({"places": [{"id": 77, "lat": 60.392}]});
    for (before, url, named) in [
        (vec![lookup(&place)], "http://shop.test/s?q=lantern&place=77", Some("suggest.id")),
        (vec![lookup(&place)], "http://shop.test/in/60.392?q=lantern", Some("suggest.lat")),
        // The page before of the same endpoint.
        (
            vec![get(
                "http://shop.test/s?q=lantern",
                &json!({"hits": [], "next_cursor": "b2Zmc2V0OjIw"}),
            )],
            "http://shop.test/s?q=lantern&cursor=b2Zmc2V0OjIw",
            Some("query `cursor`"),
        ),
        // Anybody gets it; it stands there by chance; it is from a later answer.
        (vec![anyone(&place), lookup(&place)], "http://shop.test/s?q=lantern&place=77", None),
        (vec![lookup(&place)], "http://shop.test/s?q=lantern&v=77", None),
        (vec![anyone(&place)], "http://shop.test/s?q=lantern&place=77", None),
    ] {
        match named {
            Some(named) if named.contains('.') => {
                let out = done(after(before, url));
                assert_eq!(out.steps.len(), 1);
                assert!(out.taken.contains_key(named), "{:?}", out.taken);
            }
            Some(named) => {
                let reject = rejected(after(before, url));
                assert_eq!(reject.reason, Reason::SeveralCalls);
                assert!(reject.detail.contains(named), "{named}: {}", reject.detail);
            }
            None => _ = done(after(before, url)),
        }
    }
}

#[test]
fn a_token_of_an_earlier_answer_is_chained_unless_that_needs_the_input() {
    const TOKEN: &str = "Zk3vQ9xT7bLm2pWc8RfYhN4sZk3vQ9xT";
    let with = |url: &'static str, mime: &'static str, answer: String| {
        let first = Entry { mime, answer, ..get(url, &json!({})) };
        let search =
            Entry { headers: vec![("x-csrf-token", TOKEN)], ..at("http://shop.test/s?q=lantern") };
        let recording = session(&[("q", "lantern")], "", vec![first, search]);
        weave_at(&recording, 1, None)
    };
    let json = format!("{{\"csrf\": {{\"token\": \"{TOKEN}\"}}}}");
    for (mime, answer) in [
        ("application/json", json.clone()),
        ("application/json", format!(")]}}'\n{json}")),
        ("text/javascript", format!("cb({json});")),
    ] {
        let out = done(with("http://shop.test/session?callback=cb", mime, answer));
        let [slot] = &out.slots[..] else { panic!("{:?}", out.slots) };
        let SlotSource::Response { url, path } = &slot.from else { panic!("{:?}", slot.from) };
        assert_eq!(
            (url.as_str(), path.as_str()),
            ("http://shop.test/session?callback=cb", "csrf.token")
        );
        assert!(!serde_json::to_string(&out).unwrap().contains(TOKEN));
    }
    // What has to be asked for with the input is a step.
    let out = done(with("http://shop.test/session?for=lantern", "application/json", json));
    assert!(out.slots.is_empty() && !serde_json::to_string(&out).unwrap().contains(TOKEN));
    let [step] = &out.steps[..] else { panic!("{:?}", out.steps) };
    assert_eq!(step.request.query[0].value, "{q}");
    assert_eq!(step.response.extract.as_deref(), Some("csrf.token"));
    assert_eq!(out.request.headers["x-csrf-token"], "{session}");
}

#[test]
fn the_build_of_a_site_is_taken_from_its_page() {
    const BUILD: &str = "Zk3vQ9xT7bLm2pWc8RfYh";
    let page = |id: &str| Entry {
        mime: "text/html",
        answer: format!(
            r#"<main>hi</main><script id="__NEXT_DATA__" type="application/json">{{"page":"/","buildId":"{id}"}}</script>"#
        ),
        ..get("http://shop.test/", &json!({}))
    };
    let search =
        |q: &str, id: &str| at(&format!("http://shop.test/_next/data/{id}/find.json?q={q}"));
    let of = |q: &str| session(&[("q", q)], "", vec![page(BUILD), search(q, BUILD)]);
    let first = of("lantern");
    let out = done(weave_at(&first, 1, None));
    assert_eq!(out.request.url, "http://shop.test/_next/data/{slot_buildid}/find.json");
    let [slot] = &out.slots[..] else { panic!("{:?}", out.slots) };
    let from = SlotSource::Document {
        url: "http://shop.test/".to_owned(),
        after: "\"buildId\":\"".to_owned(),
        until: "\"".to_owned(),
    };
    assert_eq!(slot.from, from);
    // Another build by the second recording.
    let second = session(
        &[("q", "teapot")],
        "",
        vec![search("teapot", "Qq3vQ9xT7bLm2pWc8RfYh"), page("Qq3vQ9xT7bLm2pWc8RfYh")],
    );
    assert_eq!(done(weave_at(&first, 1, Some(&second))).second.unwrap()["q"], "teapot");
}

#[test]
fn a_request_about_the_time_of_the_recording_is_said_to_be_one() {
    let of = |url: &str| {
        let mut it = one(&[("q", "lantern")], at(url));
        it.exchanges[0].response_headers.push(commis_artifacts::recording::Header {
            name: "date".to_owned(),
            value: "Sun, 22 Nov 2026 10:00:03 GMT".to_owned(),
        });
        done(weave(&it, None)).moment
    };
    let part = of("http://bus.test/s?q=lantern&from=2026-11-22T10:00");
    assert_eq!(part.as_deref(), Some("query `from`"));
    assert_eq!(of("http://bus.test/s?q=lantern&from=2026-10-02T10:00"), None);
}

#[test]
fn a_value_that_only_the_session_knew_needs_a_login() {
    let entry = Entry {
        headers: vec![("x-csrf-token", "Zk3vQ9xT7bLm2pWc8RfYhN4s")],
        ..at("http://shop.test/s?q=lantern")
    };
    let reject = rejected(weave(&one(&[("q", "lantern")], entry), None));
    assert_eq!(reject.reason, Reason::NeedsLogin);
    assert!(
        reject.detail.contains("slot_x_csrf_token") && !reject.detail.contains("Zk3v"),
        "{}",
        reject.detail
    );
}

#[test]
fn paging_is_optional_with_its_recorded_value() {
    let check = |entry: Entry, expected: &[(&str, &str)]| {
        let out = done(weave(&one(&[("q", "lantern")], entry), None));
        let optional: Vec<&Parameter> = out.parameters.iter().filter(|it| !it.required).collect();
        let got: Vec<(&str, &str)> =
            optional.iter().map(|it| (it.name.as_str(), it.default.as_deref().unwrap())).collect();
        assert_eq!(got, expected);
        assert!(optional.iter().all(|it| it.kind == ParamType::Int));
        assert!(out.second.is_none() && out.first.keys().eq(["q"]));
        // Without a value of its own it is sent as recorded, a number as a number.
        prepare_request(&out.request, &out.parameters, &out.first).unwrap()
    };
    let sent = check(
        at("http://shop.test/s?q=lantern&page=3&perPage=20&v=2"),
        &[("page", "3"), ("perpage", "20")],
    );
    assert_eq!(sent.url, "http://shop.test/s?q=lantern&page=3&perPage=20&v=2");
    let sent =
        check(json_body(&json!({"q": "lantern", "from": 10, "size": "many"})), &[("from", "10")]);
    let body: Value = serde_json::from_slice(&sent.body.unwrap()).unwrap();
    assert_eq!(body, json!({"q": "lantern", "from": 10, "size": "many"}));
    check(form("q=lantern&limit=5"), &[("limit", "5")]);
    let sent = check(
        json_body(
            &json!({"query": "{ x }", "variables": {"q": "lantern", "first": 10, "in": {"a": {"page": 1}}}}),
        ),
        &[("first", "10")],
    );
    let body: Value = serde_json::from_slice(&sent.body.unwrap()).unwrap();
    assert_eq!(body["variables"]["first"], 10);
    // Not a page number.
    check(at("http://shop.test/s?q=lantern&page=next&start=20260101"), &[]);
    // A typed value keeps its name.
    let out = done(weave(&one(&[("page", "7")], at("http://shop.test/s?p=7&page=1")), None));
    let names: Vec<&str> = out.parameters.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["page", "page_2"]);
}

#[test]
fn values_that_were_not_driven_verify_too() {
    let first = one(&[("q", "lantern")], at("http://shop.test/s?q=lantern"));
    let (request, slots) = template(&first.exchanges[0]).unwrap();
    assert!(slots.is_empty());
    let base = done(weave(&first, None));
    assert_eq!((base.second, base.captured, base.second_seen.len()), (None, None, 0));
    let with = |q: &str| SecondRecording {
        recording: None,
        values: BTreeMap::from([("q".to_owned(), q.to_owned())]),
        second_login: None,
    };
    let mut server = FakeReplayer::new(|_, _| ok(&hits("any", "1")));
    let (draft, _) = {
        let shown = session(
            &[("q", "lantern")],
            &page_text(&hits("any", "1")),
            vec![at("http://shop.test/s?q=lantern")],
        );
        validated(&mut server, &shown, &alone())
    };
    assert_eq!(draft.request, request);
    let second =
        |q| done(parameterize(&first, &with(q), &draft, &unchanged(&draft)).unwrap()).second;
    assert_eq!(second("teapot").unwrap()["q"], "teapot");
    assert_eq!(second("lantern"), None, "the same value again proves nothing");
}

#[test]
fn a_word_is_a_choice_where_the_form_sends_something_else_for_it() {
    use commis_artifacts::recording::{Control, ControlOption, Place, TypedHit};
    let option = |(label, value): (&str, &str)| ControlOption {
        label: label.to_owned(),
        value: value.to_owned(),
    };
    let chosen = |word: &str, url: &str| {
        let mut it = one(&[("kind", word)], at(url));
        it.actions[1].control = Some(Control {
            kind: "select".to_owned(),
            options: [("Any", ""), ("Fish", "12"), ("Fowl", "7"), ("Meat", "9"), ("Meat", "10")]
                .map(option)
                .to_vec(),
            ..Control::default()
        });
        it.exchanges[0].measures.typed_in_request = vec![TypedHit {
            name: "kind".to_owned(),
            place: Place::Query,
            key: "cat".to_owned(),
            exact: true,
            option: true,
        }];
        it
    };
    let first = chosen("Fish", "http://shop.test/search?cat=12&page=12");
    let second = chosen("Fowl", "http://shop.test/search?cat=7&page=12");
    let Judged::Done(it) = weave(&first, Some(&second)) else { panic!("rejected") };
    assert_eq!(it.request.query[0].value, "{kind}");
    assert_eq!((&*it.first["kind"], &*it.second.unwrap()["kind"]), ("Fish", "Fowl"));
    let parameter = &it.parameters[0];
    assert_eq!(parameter.examples, ["Fish", "Fowl"]);
    assert_eq!(parameter.constraints.one_of, ["Fish", "Fowl"]);
    let map = &parameter.constraints.map;
    assert_eq!((map.len(), &*map["Fish"], &*map["Fowl"]), (2, "12", "7"));
    // Another value than the one that the word stands for.
    let other = chosen("Fowl", "http://shop.test/search?cat=9&page=12");
    assert!(matches!(weave(&first, Some(&other)), Judged::Rejected(_)));
}

#[test]
fn a_host_is_a_parameter_where_the_page_lists_the_choices() {
    use commis_artifacts::recording::{Control, ControlOption, Place, TypedHit};
    let option = |(label, value): (&str, &str)| ControlOption {
        label: label.to_owned(),
        value: value.to_owned(),
    };
    let chosen = |options: &[(&str, &str)], word: &str, url: &str| {
        let mut it = one(&[("hall", word)], at(url));
        let options = options.iter().copied().map(option).collect();
        it.actions[1].control =
            Some(Control { kind: "select".to_owned(), options, ..Control::default() });
        let control = it.actions[1].control.as_ref().unwrap();
        let sent = control.sent_value(word).unwrap_or(word);
        let host = url.split('/').nth(2).unwrap();
        if host == sent || host.split('.').next() == Some(sent) {
            it.exchanges[0].measures.typed_in_request = vec![TypedHit {
                name: "hall".to_owned(),
                place: Place::Host,
                key: String::new(),
                exact: true,
                option: control.sent_value(word).is_some(),
            }];
        }
        it
    };
    let plain = [("north", "north"), ("south", "south"), ("elsewhere", "a.b/")];
    let first = chosen(&plain, "north", "http://north.shop.test/stock");
    let learn = |options: &[(&str, &str)], word, url| {
        let own = chosen(options, options[0].0, &format!("http://{}/stock", host_of(options[0].1)));
        weave(&own, Some(&chosen(options, word, url)))
    };
    let it = done(learn(&plain, "south", "http://south.shop.test/stock"));
    assert_eq!(it.request.host.as_deref(), Some("{hall}.shop.test"));
    assert_eq!(it.request.allowed_domains, ["north.shop.test", "south.shop.test"]);
    assert_eq!(it.parameters[0].constraints.one_of, ["north", "south"]);
    // Whole hosts by other words; one of another site is not gone to.
    let hosts = [("North", "north.shop.test"), ("South", "south.shop.test"), ("Ads", "ads.test")];
    let it = done(learn(&hosts, "South", "http://south.shop.test/stock"));
    assert_eq!(it.request.host.as_deref(), Some("{hall}"));
    assert_eq!(it.request.allowed_domains, ["north.shop.test", "south.shop.test"]);
    assert_eq!(it.parameters[0].constraints.map.len(), 2);
    assert_eq!((&*it.first["hall"], &*it.second.unwrap()["hall"]), ("North", "South"));
    // The second one was asked for at the first one's host, or at a third.
    for url in ["http://north.shop.test/stock", "http://west.shop.test/stock"] {
        assert!(matches!(learn(&plain, "south", url), Judged::Rejected(_)), "{url}");
    }
    // What one recording alone shows may be a name by chance.
    assert!(matches!(weave(&first, None), Judged::Rejected(_)));
}

fn host_of(value: &str) -> String {
    if value.contains('.') { value.to_owned() } else { format!("{value}.shop.test") }
}
