//! Where secrets stand: each place in a recording and in a document that is shared, by example.

use serde_json::{Value, json};

use super::{
    tests::{exchange, headers, recording},
    *,
};
use commis_artifacts::recording::ResourceType;

const SECRET: &str = "q9ZxKd81uw3mZ0pLw2Vb";
/// What only its place gives away.
const WORD: &str = "sunshine7";

/// A body of an answer, through a recording and through a document to share.
fn of_answer(mime: &str, body: &str) -> (String, String) {
    let mut it = exchange("GET", "https://shop.example/a", ResourceType::Fetch, mime, body);
    it.response_headers = headers(&[("content-type", mime)]);
    (stored(it), shared(body, mime, Place::Answer))
}

/// The same of a request.
fn of_request(mime: &str, body: &str) -> (String, String) {
    let mut it =
        exchange("POST", "https://shop.example/a", ResourceType::Fetch, "application/json", "{}");
    it.request_headers = headers(&[("Content-Type", mime)]);
    it.request_body = Some(body.as_bytes().to_vec());
    (stored(it), shared(body, mime, Place::Json))
}

fn stored(it: raw::RawExchange) -> String {
    let out = redact(recording(vec![it]), &RedactSettings::default());
    serde_json::to_string(&out.recording).unwrap()
}

fn shared(body: &str, mime: &str, place: Place) -> String {
    let mut it = Redactor::new(&RedactSettings::default());
    it.body(body, mime, place);
    it.write();
    it.body(body, mime, place).unwrap_or_else(|| body.to_owned())
}

#[test]
fn a_page_with_json_in_it_is_read_whole() {
    let meta = format!("<meta name=\"csrf-token\" content=\"{SECRET}\">");
    for body in [
        meta.clone(),
        format!("{meta}<script>var c=1;</script>"),
        format!("{meta}<script>var c={{\"a\":\"b\"}};</script>"),
        format!(
            "<!doctype html><html><head><title>S</title>{meta}</head><body><script>window.x={{\"a\":1}}</script></body></html>"
        ),
        format!(
            "<script type='application/json'>{{\"password\": \"{WORD}\", \"token\": \"{SECRET}\"}}</script>"
        ),
        format!("token={SECRET}&json={{\"a\":1}}"),
        format!("var token = '{SECRET}'; var c = {{\"a\": 1}};"),
        format!("{{\"a\": 1}} // token={SECRET}"),
    ] {
        for mime in
            ["text/html", "text/html; charset=utf-8", "text/plain", "application/javascript", ""]
        {
            let (_, out) = of_answer(mime, &body);
            assert!(!out.contains(SECRET), "{mime}: {body}: {out}");
            assert!(!out.contains(WORD) || !mime.contains("html"), "{mime}: {body}: {out}");
        }
    }
    let form = format!("token={SECRET}&password={WORD}&json={{\"a\":1}}");
    let (stored, out) = of_request("application/x-www-form-urlencoded", &form);
    assert!(![stored, out].iter().any(|it| it.contains(SECRET) || it.contains(WORD)));
}

#[test]
fn answers_hide_secrets_wherever_they_stand() {
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    for (mime, body) in [
        ("application/json", json!({"html": format!("<form><input type=hidden name='csrf_token' value='{SECRET}'></form>")}).to_string()),
        ("application/json", json!({"html": format!("<input value=\"{SECRET}\" name=\"authenticity_token\">")}).to_string()),
        ("application/json", json!({"html": format!("<meta name=csrf-token content={SECRET}>")}).to_string()),
        ("application/json", json!({"html": format!("<a data-csrf-token='{SECRET}'>x</a>")}).to_string()),
        ("application/json", json!({"all": [["user", "ann"], ["session_token", SECRET]]}).to_string()),
        ("application/json", json!({token.clone(): {"seen": 1}}).to_string()),
        ("application/xml", format!("<user><name>ann</name><apiKey>{SECRET}</apiKey></user>")),
        ("application/xml", format!("<user name='ann' sessionToken='{SECRET}'/>")),
        ("application/xml", format!("<member><name>token</name><value><string>{SECRET}</string></value></member>")),
        ("application/xml", format!("<token><![CDATA[{SECRET}]]></token>")),
        ("text/event-stream", format!("event: login\ndata: {{\"password\": \"{WORD}\"}}\n\n")),
        ("text/event-stream", format!("data: password={WORD}\n\n")),
        ("text/plain", format!("user=ann\npassword={WORD}\n")),
        ("text/plain", format!("user: ann\nPassword: {WORD}\n")),
    ] {
        let (stored, out) = of_answer(mime, &body);
        for it in [stored, out] {
            assert!(![SECRET, WORD, &token].iter().any(|hidden| it.contains(hidden)), "{body}: {it}");
            assert!(it.contains("REDACTED"), "{body}: {it}");
        }
    }
}

#[test]
fn code_under_a_telling_name_is_no_secret() {
    for body in [
        "for(i=0;i<n.length;i++)k(i);s.prototype.lastIndexOfSignature=function(e){return this.a};if(a>b)c()",
        "if(a<b){o.password=e=>e.length>3}",
    ] {
        let (stored, out) = of_answer("application/javascript", body);
        assert!(!stored.contains("REDACTED") && !out.contains("REDACTED"), "{body}: {out}");
    }
}

#[test]
fn requests_hide_secrets_wherever_they_stand() {
    let token = "glpat-Zk3vQ9xT7bLm2pWc8Rt4";
    for (mime, body) in [
        ("text/xml", format!("<?xml version='1.0'?><methodCall><methodName>auth.login</methodName><params><param><value><string>ann</string></value></param><param><value>{WORD}</value></param></params></methodCall>")),
        ("text/xml", format!("<methodCall><methodName>wp.getPosts</methodName><params><param><value><int>1</int></value></param><param><value>ann</value></param><param><value><string>{WORD}</string></value></param></params></methodCall>")),
        ("text/xml", format!("<s:Envelope><s:Header><w:UsernameToken><w:Username>ann</w:Username><w:Password Type=\"http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText\">{WORD}</w:Password></w:UsernameToken></s:Header></s:Envelope>")),
        ("application/soap+xml", format!("<s:Body><t:login><arg0>ann</arg0><arg1>{WORD}</arg1></t:login></s:Body>")),
        ("text/xml", format!("<login user='ann' password='{WORD}'/>")),
        ("text/x-gwt-rpc", format!("7|0|7|https://a.example/m/|29F4|com.a.LoginService|login|java.lang.String/2004016611|ann|{WORD}|1|2|3|4|2|5|5|6|7|")),
        ("application/json", json!({"jsonrpc": "2.0", "method": "login", "params": ["ann", WORD]}).to_string()),
        ("application/json", json!([{"method": "User.signIn", "params": ["ann", WORD]}]).to_string()),
        ("application/json", json!({"method": "call", "params": {"service": "common", "method": "login", "args": ["db", "x", WORD]}}).to_string()),
        ("application/json", json!([["user", "ann"], ["password", WORD]]).to_string()),
        ("application/json", json!({"fields": [["password", WORD]]}).to_string()),
        ("application/json", json!({"source": format!("jdbc:sqlserver://db.example:1433;user=ann;password={WORD};encrypt=false")}).to_string()),
        ("application/json", json!({token: 1}).to_string()),
        ("application/x-www-form-urlencoded", format!("{token}=1&user=ann")),
        ("text/plain", format!("user=ann\npassword={WORD}")),
        ("multipart/form-data; boundary=b", format!("--b\r\nContent-Disposition: form-data; name=password\r\n\r\n{WORD}\r\n--b--\r\n")),
        ("multipart/form-data; charset=utf-8; Boundary=\"b\"", format!("--b\r\nContent-Disposition: form-data; name=password\r\n\r\n{WORD}\r\n--b--\r\n")),
        ("multipart/form-data", format!("--b\r\nContent-Disposition: form-data; name=password\r\n\r\n{WORD}\r\n--b--\r\n")),
        ("multipart/form-data; boundary=b", format!("--b\nContent-Disposition: form-data; name=\"password\"\n\n{WORD}\n--b--\n")),
        ("multipart/form-data; boundary=b", format!("--b\r\nContent-Disposition: form-data; name*=UTF-8''password\r\n\r\n{WORD}\r\n--b--\r\n")),
    ] {
        let (stored, out) = of_request(mime, &body);
        for it in [stored, out] {
            assert!(!it.contains(WORD) && !it.contains(token), "{body}: {it}");
            assert!(it.contains("REDACTED") && (it.contains("ann") || !body.contains("ann")), "{body}: {it}");
        }
    }
}

#[test]
fn addresses_hide_what_their_paths_hold() {
    for (hidden, path) in [
        (SECRET, format!("session/{SECRET}")),
        (SECRET, format!("auth/{SECRET}/me")),
        (SECRET, format!("oauth/{SECRET}")),
        (SECRET, format!("Login/{SECRET}")),
        (SECRET, format!("api-key/{SECRET}/usage")),
        (
            "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
            "bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0/getMe".to_owned(),
        ),
        ("8f14e45fceea167a5a36dedd", "reset-password.php?t=8f14e45fceea167a5a36dedd".to_owned()),
        ("lit3py55t21z5v55vlm25s55", "(S(lit3py55t21z5v55vlm25s55))/list.aspx".to_owned()),
        ("lit3py55t21z5v55vlm25s55", "(X(1)S(lit3py55t21z5v55vlm25s55))/list.aspx".to_owned()),
        ("glpat-Zk3vQ9xT7bLm2pWc8Rt4", "list?glpat-Zk3vQ9xT7bLm2pWc8Rt4=1".to_owned()),
    ] {
        let url = format!("https://shop.example/{path}");
        let it = exchange("GET", &url, ResourceType::Fetch, "application/json", "{}");
        let mut redactor = Redactor::new(&RedactSettings::default());
        redactor.url(&url);
        redactor.write();
        for out in [stored(it), redactor.url(&url).unwrap_or(url.clone())] {
            assert!(!out.contains(hidden) && out.contains("REDACTED"), "{out}");
        }
    }
    for path in [
        "session/list-of-sessions-2024",
        "login/main.3f2a1b9c.js",
        "oauth/authorize",
        "auth/realms/customers-europe",
        "bot123/(x)/list",
    ] {
        let url = format!("https://shop.example/{path}");
        let it = exchange("GET", &url, ResourceType::Fetch, "application/json", "{}");
        assert!(stored(it).contains(path), "{path}");
    }
}

#[test]
fn what_made_a_recording_is_no_hiding_place() {
    let mut raw = recording(Vec::new());
    raw.producer = format!("tool {SECRET} 1.2");
    let out = redact(raw, &RedactSettings::default());
    assert_eq!(out.recording.producer, "tool [REDACTED:value] 1.2");
}

/// What looks like one of these places and is none.
#[test]
fn labels_and_lists_stay() {
    for (mime, body) in [
        ("application/xml", "<form><password>Wachtwoord</password><login>Anmelden</login></form>"),
        ("application/json", r#"{"method":"login","params":["ann"]}"#),
        ("application/json", r#"{"method":"catalog.search","params":["red lamp","brass lamp"]}"#),
        ("application/json", r#"{"all":[["Colour","red"],["Size","300x250"]]}"#),
        ("text/plain", "Token: a word of a text\nlamp = brass\n"),
        ("text/event-stream", "data: {\"token\": \"next\", \"text\": \"lamp\"}\n"),
    ] {
        let (_, out) = of_answer(mime, body);
        assert_eq!(out, body);
        let value: Result<Value, _> = serde_json::from_str(&out);
        assert!(value.is_ok() || mime != "application/json");
    }
}
