//! Canaries through a whole recording, origins, and the detector against published values.

use std::{collections::BTreeMap, io::Read as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rayon::prelude::*;
use serde_json::{Value, json};
use url::Url;

use super::{class::Place, raw::*, *};
use commis_artifacts::recording::*;
use commis_recipe::model::StorageArea;

/// A raw exchange that tests fill in.
pub(crate) fn exchange(
    method: &str,
    url: &str,
    kind: ResourceType,
    mime: &str,
    body: &str,
) -> RawExchange {
    RawExchange {
        method: method.to_owned(),
        url: Url::parse(url).unwrap(),
        request_headers: Vec::new(),
        request_body: None,
        status: Some(200),
        response_headers: Vec::new(),
        mime: mime.to_owned(),
        resource_type: kind,
        initiator: Initiator {
            kind: InitiatorKind::Script,
            has_stack: false,
            page_url: "https://shop.example/".to_owned(),
            target: TargetKind::Page,
        },
        timing: Timing::default(),
        after_action: Some(0),
        redirected_from: None,
        encoded_bytes: None,
        body: RawBody::Captured(body.as_bytes().to_vec()),
    }
}

pub(crate) fn recording(exchanges: Vec<RawExchange>) -> RawRecording {
    RawRecording {
        task: "search for lamps".to_owned(),
        url: "https://shop.example/".to_owned(),
        driver: Driver::Steps,
        typed: BTreeMap::from([("query".to_owned(), "red lamp".to_owned())]),
        actions: Vec::new(),
        final_answer: None,
        page: RawPage { url: "https://shop.example/".to_owned(), ..RawPage::default() },
        exchanges,
        blocked: Vec::new(),
        secrets: Vec::new(),
        notes: Vec::new(),
        duration_ms: 0,
        producer: "test".to_owned(),
    }
}

pub(crate) fn headers(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect()
}

const COOKIE: &str = "c00kie-K9x2Lq/7+Zp=81";
const HEADER: &str = "h3ader.Tok3n.9Qm2Xv7Lp4";
const QUERY: &str = "qu3ry/Key+5Rt8Yw1Bn6";
const FIELD: &str = "js0n\"F1eld\\7Ud3Ke9";
const FORM: &str = "f0rm S3cret&4Gh7Jk2";
const INPUT: &str = "1nputV4lue8Mn3Bv6Cx9";
const NESTED: &str = "n3sted7Xz4Ws1Qa8Lk5";
const META: &str = "m3ta2Pl9Ok6Ij4Uh1Yg";
const PASSWORD: &str = "hunter2!Xy";
const JWT: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";

fn planted() -> RawRecording {
    let page = format!(
        "<html><head><title>Lamps</title><meta name=csrf-token content='{META}'></head><body>\
         <form><input type=hidden name=authenticity_token value=\"{INPUT}\"></form>\
         <div class=list data-token=\"{HEADER}\"><p>Red lamp of brass {HEADER}</p><p>Second item</p></div>\
         <script>var config = {{\"apiKey\":\"{NESTED}\"}};</script></body></html>"
    );
    let mut document =
        exchange("GET", "https://shop.example/", ResourceType::Document, "text/html", &page);
    document.response_headers = headers(&[
        ("Set-Cookie", &format!("sid={COOKIE}; Path=/; HttpOnly")),
        (
            "Location",
            &format!(
                "https://shop.example/in?next=%2Fa%3Ftoken%3D{}",
                encode::percent(&encode::percent(QUERY))
            ),
        ),
        (":status", "200"),
    ]);
    let mut session = exchange(
        "GET",
        "https://shop.example/session",
        ResourceType::Fetch,
        "application/json",
        "",
    );
    session.body = RawBody::Captured(
        json!({"auth": {"items": [{"token": FIELD}]}, "n": 1}).to_string().into_bytes(),
    );
    let mut api = exchange(
        "POST",
        &format!("https://shop.example/api/red-lamp?api_key={}&q=red+lamp&blob={}",
            encode::percent(QUERY), STANDARD.encode(format!("{{\"token\":\"{NESTED}\"}}")).replace('=', "%3D")),
        ResourceType::Fetch,
        "application/json",
        &json!({"items": [{"name": "Red lamp of brass", "id": "e8e4df51-2054-49b0-ab1c-516ac95c691d",
            "hash": "d7db0ec3334230608d45644926b269c100305171", "url": "https://shop.example/p/red-lamp-1"}],
            "session": {"jwt": JWT}, "echo": format!("cookie was {COOKIE} and {}", encode::percent(QUERY))}).to_string(),
    );
    api.request_headers = headers(&[
        ("Cookie", &format!("theme=dark; sid={COOKIE}")),
        ("X-Csrf-Token", META),
        ("Authorization", &format!("Bearer {JWT}")),
        ("X-Api-Token", HEADER),
        ("X-Input", INPUT),
        ("Content-Type", "application/json"),
    ]);
    api.request_body = Some(
        json!({"auth_token": FIELD, "password": PASSWORD, "inner": json!({"secret": FORM}).to_string(), "q": "red lamp"})
            .to_string()
            .into_bytes(),
    );
    let mut form =
        exchange("POST", "https://shop.example/log/x", ResourceType::Xhr, "text/plain", "");
    form.request_headers =
        headers(&[("content-type", "application/x-www-form-urlencoded"), ("x-sid", COOKIE)]);
    form.request_body = Some(
        url::form_urlencoded::Serializer::new(String::new())
            .append_pair("client_secret", FORM)
            .append_pair("basic", &STANDARD.encode(format!("user:{NESTED}")))
            .finish()
            .into_bytes(),
    );
    form.body = RawBody::Captured(
        format!("ok token={JWT} sid {COOKIE} {}", STANDARD.encode(format!("ab{QUERY}cd")))
            .into_bytes(),
    );
    let mut raw = recording(vec![document, session, api, form]);
    raw.page.visible_text = format!("Red lamp of brass\nSecond item\nYour key: {QUERY} {HEADER}");
    raw.page.url = format!("https://shop.example/#access_token={HEADER}");
    raw.page.title = format!("Lamps {NESTED}");
    raw.page.metas = vec![("csrf-token".to_owned(), META.to_owned())];
    raw.final_answer = Some(format!("It is the brass one, {COOKIE}"));
    raw.typed.insert("password".to_owned(), PASSWORD.to_owned());
    raw.actions = vec![Action {
        kind: ActionKind::Fill,
        role: Some("textbox".to_owned()),
        name: Some("Password".to_owned()),
        value: Some(PASSWORD.to_owned()),
        at_ms: 5,
        control: None,
    }];
    raw.blocked = vec![BlockedRequest {
        url: format!("https://evil.example/?k={}", encode::percent(HEADER)),
        code: "URL_BLOCKED".to_owned(),
        reason: format!("not {HEADER}"),
    }];
    raw
}

#[test]
fn no_canary_leaves() {
    let out = redact(planted(), &RedactSettings::default());
    let stored = serde_json::to_string_pretty(&out.recording).unwrap();
    for secret in [COOKIE, HEADER, QUERY, FIELD, FORM, INPUT, NESTED, META, PASSWORD, JWT] {
        for guise in forms(secret) {
            let lines: Vec<&str> = stored.lines().filter(|it| it.contains(&guise)).collect();
            assert!(lines.is_empty(), "{secret} as {guise}: {lines:#?}");
        }
    }
    // Nothing else was destroyed.
    for kept in [
        "e8e4df51-2054-49b0-ab1c-516ac95c691d",
        "d7db0ec3334230608d45644926b269c100305171",
        "https://shop.example/p/red-lamp-1",
        "Red lamp of brass",
        "search for lamps",
        "red+lamp",
    ] {
        assert!(stored.contains(kept), "{kept} in {stored}");
    }
    assert_eq!(out.recording.typed["query"], "red lamp");
    assert_eq!(out.recording.typed["password"], "[REDACTED:password]");
}

#[test]
fn live_values_bring_requests_back() {
    let raw = planted();
    let (url, token) = (raw.exchanges[2].url.to_string(), format!("Bearer {JWT}"));
    let out = redact(raw, &RedactSettings::default());
    let api = &out.recording.exchanges[2];
    let header =
        |name: &str| api.request_headers.iter().find(|it| it.name == name).unwrap().value.clone();
    let back = Url::parse(&out.live.resolve(&api.url).unwrap()).unwrap();
    let pairs = |it: &Url| it.query_pairs().into_owned().collect::<Vec<_>>();
    assert_eq!(pairs(&back), pairs(&Url::parse(&url).unwrap()));
    assert_eq!(header("authorization"), "Bearer [REDACTED:authorization]");
    assert_eq!(out.live.resolve(&header("authorization")).unwrap(), token);
    assert!(out.live.resolve(&header("cookie")).unwrap().contains(COOKIE));
    assert!(!format!("{:?}", out.live).contains(COOKIE));
}

#[test]
fn origins_are_found() {
    let out = redact(planted(), &RedactSettings::default());
    let origins: BTreeMap<&str, &Option<Origin>> = out.recording.exchanges[2..]
        .iter()
        .flat_map(|it| &it.origins)
        .map(|it| (it.at.as_str(), &it.origin))
        .collect();
    assert_eq!(
        origins["header:x-csrf-token"],
        &Some(Origin::Meta { name: "csrf-token".to_owned() })
    );
    assert_eq!(
        origins["json:/auth_token"],
        &Some(Origin::Response {
            url: "https://shop.example/session".to_owned(),
            path: "auth.items[0].token".to_owned()
        })
    );
    assert_eq!(
        origins["header:x-input"],
        &Some(Origin::Document {
            url: "https://shop.example/".to_owned(),
            after: "nput type=hidden name=authenticity_token value=\"".to_owned(),
            until: "\"".to_owned()
        })
    );
    assert_eq!(
        origins["header:x-sid"],
        &Some(Origin::Cookie { name: "sid".to_owned(), decoded: false })
    );
    assert_eq!(origins["header:authorization"], &None);
    assert!(!origins.contains_key("header:cookie"));
}

#[test]
fn what_names_an_account_and_is_no_secret_has_an_origin() {
    let mut raw = planted();
    raw.page.url = "https://shop.example/".to_owned();
    let entry = |key: &str, value: &str| RawStorageEntry {
        area: StorageArea::Local,
        key: key.to_owned(),
        value: value.to_owned().into(),
    };
    raw.page.stored = vec![
        entry("tenant", "lund"),
        entry("user", &json!({"profile": {"id": 7_719_043}}).to_string()),
        entry("seen", "lamps-2026"),
    ];
    raw.page.cookies.push(("zone".to_owned(), "north%20west".to_owned()));
    raw.page.cookies.push(("team".to_owned(), "t%3A4711".to_owned()));
    let at = 2;
    raw.exchanges[at].url =
        "https://shop.example/users/7719043/lund?team=t:4711&of=lamps-2026".parse().unwrap();
    raw.exchanges[at].request_headers.push(("X-Tenant".to_owned(), "lund".to_owned()));
    raw.exchanges[at].request_headers.push(("X-Org".to_owned(), "org-5512".to_owned()));
    let session = json!({"orgs": [{"id": "org-5512"}], "seats": ["org-5512", "x"]}).to_string();
    raw.exchanges[1].body = RawBody::Captured(session.into_bytes());
    raw.typed.insert("of".to_owned(), "lamps-2026".to_owned());
    let ids = AccountIds::new(&raw);
    let mut out = redact(raw, &RedactSettings::default()).recording;
    ids.trace(&mut out.exchanges);
    let found = |place: &str| {
        let all = &out.exchanges[at].origins;
        all.iter()
            .filter(|it| it.at == place)
            .map(|it| it.origin.clone().unwrap())
            .collect::<Vec<_>>()
    };
    let stored = |key: &str, path: Option<&str>| Origin::Storage {
        area: StorageArea::Local,
        key: key.to_owned(),
        path: path.map(str::to_owned),
    };
    assert_eq!(found("header:x-tenant"), [stored("tenant", None)]);
    let answer = Origin::Response {
        url: "https://shop.example/session".to_owned(),
        path: "orgs[0].id".to_owned(),
    };
    assert_eq!(found("header:x-org"), [answer]);
    // A word in an address names a thing.
    assert_eq!(found("path"), [stored("user", Some("profile.id"))]);
    assert_eq!(found("query:team"), [Origin::Cookie { name: "team".to_owned(), decoded: true }]);
    assert!(found("query:of").is_empty(), "it was typed");
}

#[test]
fn what_the_source_page_stored_is_an_origin() {
    let found = |url: &str, key: &str, value: &str| {
        let mut raw = planted();
        raw.page.url = url.to_owned();
        let stored = RawStorageEntry {
            area: StorageArea::Session,
            key: key.to_owned(),
            value: value.to_owned().into(),
        };
        raw.page.stored = vec![stored];
        let out = redact(raw, &RedactSettings::default());
        let text = serde_json::to_string(&out.recording).unwrap();
        assert!(!text.contains(JWT));
        let api = &out.recording.exchanges[2];
        api.origins.iter().find(|it| it.at == "header:authorization").unwrap().origin.clone()
    };
    let (here, area) = ("https://shop.example/#x", StorageArea::Session);
    let inside = json!({"tokens": [{"access": JWT}]}).to_string();
    let path = Some("tokens[0].access".to_owned());
    let place = |path| Some(Origin::Storage { area, key: "session".to_owned(), path });
    assert_eq!(found(here, "session", &inside), place(path));
    assert_eq!(found(here, "session", JWT), place(None));
    assert_eq!(found(here, "session", &json!(JWT).to_string()), place(Some("@".to_owned())));
    // Another origin's, and a key that is a secret itself.
    assert_eq!(found("https://www.shop.example/", "session", JWT), None);
    assert_eq!(found(here, &format!("token of {JWT}"), JWT), None);
}

#[test]
fn measures_of_the_whole_answer() {
    let out = redact(planted(), &RedactSettings::default());
    let api = &out.recording.exchanges[2];
    assert_eq!(api.measures.leaves_visible, 1);
    assert_eq!(api.measures.visible_weight, 1000);
    assert_eq!(api.measures.lists[0].path, "items");
    assert_eq!(api.measures.typed_in_response, ["query"]);
    let hits: Vec<String> = api
        .measures
        .typed_in_request
        .iter()
        .map(|it| format!("{} {:?} {} {}", it.name, it.place, it.key, it.exact))
        .collect();
    assert_eq!(
        hits,
        [
            "query Path 1 true",
            "query Query q true",
            "password Json /password true",
            "query Json /q true"
        ]
    );
    assert_eq!(api.body_status, BodyStatus::Captured);
    let Some(Excerpt::Html(markup)) = &out.recording.exchanges[0].excerpt else { panic!() };
    assert!(markup.contains("<p>Red lamp of brass [REDACTED:"), "{markup}");
    assert!(!markup.contains("script"), "{markup}");
}

#[test]
fn a_secret_as_a_key_leaves_no_trace() {
    let mut it = exchange(
        "GET",
        "https://shop.example/api/sessions",
        ResourceType::Fetch,
        "application/json",
        &json!({"sessions": {JWT: {"items": [{"a": "red lamp"}, {"a": "blue lamp"}]}}, JWT: [1, 2]}).to_string(),
    );
    it.request_headers = headers(&[("Authorization", &format!("Bearer {JWT}"))]);
    let out = redact(recording(vec![it]), &RedactSettings::default());
    let stored = serde_json::to_string(&out.recording).unwrap();
    assert!(stored.contains("[REDACTED:authorization]") && !stored.contains(JWT), "{stored}");
    assert!(!out.recording.exchanges[0].measures.shape.is_empty());
}

#[test]
fn allowed_names_are_kept() {
    let url = "https://a.example/?page_mark=gHjrT345rflePOKazE2Bj47hF56U9dsVwMdSiY73";
    let stored = |allow: &[&str]| {
        let raw =
            recording(vec![exchange("GET", url, ResourceType::Fetch, "application/json", "{}")]);
        let settings = RedactSettings { allow: allow.iter().map(|it| (*it).to_owned()).collect() };
        redact(raw, &settings).recording.exchanges[0].url.clone()
    };
    assert_eq!(stored(&["Page_Mark"]), url);
    assert_eq!(stored(&[]), "https://a.example/?page_mark=%5BREDACTED%3Apage_mark%5D");
}

#[test]
fn secrets_inside_values() {
    for (key, value, kept) in [
        (
            "line",
            "curl -H 'Authorization: Bearer q9ZxKd81uw3mZ' x",
            "curl -H 'Authorization: Bearer ",
        ),
        (
            "u",
            "https://chat.example/api/webhooks/2370171308503301/hdfkjlfossxidotremal",
            "https://chat.example/api/webhooks/",
        ),
        ("u", "https://hooks.chat.example/services/T0/B0/hdfkjlfossxidotremal", "/services/T0/B0/"),
        ("db", "postgres://ann:q9Z/xKd81@db.example/shop", "@db.example/shop"),
        ("user", "johns:h0pk1ns~21s", ""),
    ] {
        let mut it = Redactor::new(&RedactSettings::default());
        let mut both = || {
            let mut json = json!({ key: value });
            it.json(&mut json, Place::Json);
            it.write();
            it.json(&mut json, Place::Json);
            json[key].as_str().unwrap().to_owned()
        };
        let new = both();
        let secret = ["q9ZxKd81uw3mZ", "hdfkjlfossxidotremal", "xKd81", "h0pk1ns~21s"];
        assert!(new.contains(kept) && secret.iter().all(|it| !new.contains(it)), "{new}");
    }
}

#[test]
fn secrets_in_tasks() {
    for (secret, task) in [
        (true, "log in with password=letmein and list orders"),
        (true, "log in with password: Tr0ub4dor&3 please"),
        (true, "use sk-proj-4fJ8sKd92LmQx71ZpWv0 to search"),
        (true, "use ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
        (true, "key 6fe4476ee5a1832882e326b506d14126 for lamps"),
        (true, &format!("call with {JWT}")),
        (false, "find how to reset my password: step by step"),
        (false, "search for minecraft volume alpha"),
        (false, "search npm for jsonwebtoken and list versions 9.0.2"),
        (false, "Zeige Donaudampfschifffahrtsgesellschaft am 2024-03-01"),
        (false, "compare iPhone15 with Pixel8Pro on https://shop.example/list?q=phones&page=2"),
        (false, "token economics, session: 10:30-11:00"),
    ] {
        assert_eq!(probable_secret(task).is_some(), secret, "{task}");
    }
    assert_eq!(
        text("failed with password=hunter22x and the rest", &RedactSettings::default()),
        "failed with password=[REDACTED:password] and the rest"
    );
}

#[test]
fn hostile_bodies_are_survived() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let nested = "<div>".repeat(20_000);
    // No tag is closed by another's end.
    let disguised = "<div></x>".repeat(20_000);
    for (mime, body) in [
        ("application/json", deep.as_str()),
        ("application/json", "{\"a\": 1e999}"),
        ("application/json", "\u{0}\u{1}\u{fffd}"),
        ("text/html", nested.as_str()),
        ("text/html", disguised.as_str()),
        ("text/html", "<a b='"),
        ("text/html", "<script>{\"a\":"),
        ("text/plain", "token=token=token=token="),
        ("application/json", "{\"[REDACTED:x]\": \"[REDACTED:y\"}"),
        ("", "%zz%%%=&=&&;=?#"),
        // An end before any begin.
        ("text/plain", ">C:*</E:<U"),
    ] {
        let mut it =
            exchange("POST", "https://a.example/%zz?%%%&=&a=%5B", ResourceType::Fetch, mime, body);
        it.request_body = Some(body.as_bytes().to_vec());
        it.request_headers =
            headers(&[("Content-Type", "multipart/form-data; boundary="), ("", "x"), ("a", body)]);
        let out = redact(recording(vec![it]), &RedactSettings::default());
        assert!(serde_json::to_string(&out.recording).unwrap().len() < 200_000);
    }
}

/// Every labelled value in each place of a request, as a recording would have it.
#[test]
fn published_secrets() {
    let Some(path) = commis_base::testing::shared("vectors/secrets.jsonl.gz") else {
        return;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    let rows: Vec<Value> = text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .filter(|it: &Value| it["ambiguous"] != true && it["is_secret"].is_boolean())
        .collect();
    assert!(!rows.is_empty());
    for place in [Place::Query, Place::Json, Place::Header, Place::Form] {
        let outcome: Vec<(bool, bool)> = rows
            .par_iter()
            .map(|row| {
                let secret = row["is_secret"] == true;
                let (key, value) =
                    (row["context_key"].as_str().unwrap(), row["value"].as_str().unwrap());
                let caught = is_replaced(key, value, place);
                if caught != secret {
                    let what = if secret { "missed" } else { "false" };
                    println!("{what}: {place:?} {} {key} = {value:.60}", row["kind"]);
                }
                let kind = row["kind"].as_str().unwrap();
                // What only traffic holds, as opposed to configuration and code.
                assert!(!secret || caught || kind.contains(':'), "{kind} in {place:?}: {key}");
                (secret, caught)
            })
            .collect();
        let count = |secret| outcome.iter().filter(|it| it.0 == secret).count();
        let caught = |secret| outcome.iter().filter(|it| **it == (secret, true)).count();
        println!(
            "{place:?}: recall {}/{}, false positives {}/{}",
            caught(true),
            count(true),
            caught(false),
            count(false)
        );
        assert!(caught(true) as f64 >= 0.99 * count(true) as f64);
        assert!(caught(false) as f64 <= 0.026 * count(false) as f64);
    }
}

/// Whether a value of a request is stored as something else.
fn is_replaced(key: &str, value: &str, place: Place) -> bool {
    let mut it =
        exchange("POST", "https://a.example/in", ResourceType::Fetch, "application/json", "{}");
    let form = |key: &str, value: &str| {
        url::form_urlencoded::Serializer::new(String::new()).append_pair(key, value).finish()
    };
    let of_type = |it: &str| vec![("content-type".to_owned(), it.to_owned())];
    match place {
        Place::Query => it.url.set_query(Some(&form(key, value))),
        Place::Header => it.request_headers = vec![(key.to_owned(), value.to_owned())],
        Place::Form => {
            it.request_headers = of_type("application/x-www-form-urlencoded");
            it.request_body = Some(form(key, value).into_bytes());
        }
        Place::Json | Place::Answer => {
            it.request_headers = of_type("application/json");
            it.request_body = Some(json!({ key: value }).to_string().into_bytes());
        }
    }
    let stored =
        redact(recording(vec![it]), &RedactSettings::default()).recording.exchanges.remove(0);
    let kept = match (place, &stored.request_body) {
        (Place::Query, _) => {
            Url::parse(&stored.url).unwrap().query_pairs().next().unwrap().1.into_owned()
        }
        (Place::Header, _) => stored.request_headers[0].value.clone(),
        (_, Some(RequestBody::Form(fields))) => fields[0].value.clone(),
        (_, Some(RequestBody::Json(json))) => {
            json.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned()
        }
        _ => panic!("{key} = {value}"),
    };
    kept != super::body::cut(value, kept.len().max(64))
}

/// A value as it may stand somewhere, in all the ways that programs write it.
pub(crate) fn forms(secret: &str) -> Vec<String> {
    let escaped = |escape: &dyn Fn(char) -> String| -> String {
        secret
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { escape(c) })
            .collect()
    };
    let json = Value::from(secret).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let percent = encode::percent(secret);
    let mut out = vec![
        secret.to_owned(),
        // `%2f`.
        each(secret, |b| match b {
            _ if b.is_ascii_alphanumeric() => char::from(b).to_string(),
            _ => format!("%{b:02x}"),
        }),
        encode::percent(&percent),
        percent,
        url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
        json.replace('/', "\\/"),
        Value::from(json.as_str()).to_string().trim_matches('"').to_owned(),
        json,
        escaped(&|c| format!("\\u{:04x}", c as u32)),
        escaped(&|c| format!("\\u{:04X}", c as u32)),
        escaped(&|c| format!("&#{};", c as u32)),
        escaped(&|c| format!("&#x{:X};", c as u32)),
        secret.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;"),
        each(secret, |b| format!("{b:02x}")),
        each(secret, |b| format!("{b:02X}")),
    ];
    encode::each_base64_core(secret, |it| out.push(String::from_utf8_lossy(it).into_owned()));
    out
}

fn each(secret: &str, write: impl Fn(u8) -> String) -> String {
    secret.bytes().map(write).collect::<Vec<_>>().concat()
}

#[test]
fn what_was_typed_as_a_password_stays_nowhere_whatever_it_looks_like() {
    for word in ["sunshine", "1234", "lamp oil", "open"] {
        let answer =
            json!({"echo": format!("you said {word}."), "list": [word, "lamp"]}).to_string();
        let mut api = exchange(
            "POST",
            &format!("https://shop.example/in?note={}", encode::percent(word)),
            ResourceType::Fetch,
            "application/json",
            &answer,
        );
        api.request_body = Some(json!({"note": word}).to_string().into_bytes());
        let mut raw = recording(vec![api]);
        raw.page.visible_text = format!("Welcome, {word}!");
        raw.task = format!("Find lamps with {word}");
        raw.typed = BTreeMap::from([("q".to_owned(), word.to_owned())]);
        raw.secrets = vec![Zeroizing::new(word.to_owned())];
        let stored = redact(raw, &RedactSettings::default()).recording;
        let text = serde_json::to_string(&stored).unwrap();
        assert!(!text.contains(word) && text.contains("[REDACTED:password]"), "{text}");
        assert!(text.contains("lamp"));
    }
}

/// A browser shows JSON as it came: each value is judged by its name there, too, a list of codes without a digit among them.
#[test]
fn json_that_a_page_shows_is_read_as_json() {
    let shown = json!({"user": "ann", "recovery_codes": ["wjrefncbip", "kqvtzhlmse"]});
    for text in [shown.to_string(), serde_json::to_string_pretty(&shown).unwrap()] {
        let mut raw = recording(Vec::new());
        raw.page.visible_text = text;
        let stored = redact(raw, &RedactSettings::default()).recording.page.visible_text;
        assert!(!stored.contains("wjrefncbip") && !stored.contains("kqvtzhlmse"), "{stored}");
        assert!(stored.contains("ann"), "{stored}");
    }
}
