//! validate: which transport answers like the recording, and what is said when none does.

use super::*;
use commis_artifacts::payloads::{DataSource, Reason};

const SEARCH: &str = "http://shop.test/api/search?q=lantern&page=1";

/// The transport, a reason of rejection or the code of an error; and how many requests were sent.
fn check(
    recording: &SessionRecording,
    answer: impl FnMut(TransportKind, &PreparedRequest) -> Result<Reply> + Send,
) -> (String, usize) {
    let analysis = done(choose(recording, &alone()));
    let mut server = FakeReplayer::new(answer);
    let said = match block_on(run_validate(&mut server, recording, &analysis)) {
        Ok(Judged::Done(it)) => it.transport.as_str().to_owned(),
        Ok(Judged::Rejected(it)) => it.reason.as_str().to_owned(),
        Err(err) => err.code().as_str().to_owned(),
    };
    (said, server.sent.len())
}

#[derive(Clone, Copy)]
enum Respond {
    Good,
    Other,
    Status(u16),
    Code(Code),
}
use Respond::{Code as Fails, Good, Other, Status};

#[test]
fn the_least_risky_transport_that_answers_like_the_recording() {
    let recording = session(
        &[("q", "lantern")],
        &page_text(&hits("lantern", "1")),
        vec![get(SEARCH, &hits("lantern", "1"))],
    );
    let answer = |by: Respond| match by {
        Good => ok(&hits("lantern", "1")),
        Other => ok(&json!({"hits": [{"id": 1, "html": "<b>log in</b>"}], "error": true})),
        Status(it) => status(it),
        Fails(it) => fails(it),
    };
    // `public_http`, `context_request`, `in_page_fetch`.
    let cases = [
        (Good, Good, Good, "public_http", 2),
        (Status(401), Good, Good, "context_request", 3),
        (Other, Good, Good, "context_request", 3),
        (Fails(Code::SessionRequired), Good, Good, "context_request", 3),
        (Status(401), Status(403), Good, "in_page_fetch", 4),
        (Other, Other, Good, "in_page_fetch", 4),
        (Status(401), Fails(Code::Timeout), Good, "in_page_fetch", 4),
        (Status(401), Status(403), Status(403), "needs_login", 3),
        (Status(503), Status(503), Status(503), "SERVER_ERROR", 3),
        (Fails(Code::Timeout), Fails(Code::Timeout), Fails(Code::Timeout), "TIMEOUT", 3),
        (Status(429), Status(429), Status(429), "RATE_LIMITED", 3),
        (Other, Other, Other, "replay_failed", 3),
        (Status(404), Status(404), Status(410), "replay_failed", 3),
        // The page is the better witness, and it was not heard.
        (Status(401), Status(401), Fails(Code::Timeout), "TIMEOUT", 3),
        (Status(503), Status(503), Status(401), "needs_login", 3),
        // No further request can help.
        (Fails(Code::BrowserFailed), Good, Good, "BROWSER_FAILED", 1),
    ];
    for (i, (public, ours, in_page, said, sent)) in cases.into_iter().enumerate() {
        let got = check(&recording, |transport, _| match transport {
            TransportKind::PublicHttp => answer(public),
            TransportKind::ContextRequest => answer(ours),
            _ => answer(in_page),
        });
        assert_eq!(got, (said.to_owned(), sent), "case {i}");
    }
}

#[test]
fn an_answer_that_changes_is_not_deterministic() {
    let recording = session(
        &[("q", "lantern")],
        &page_text(&hits("lantern", "1")),
        vec![get(SEARCH, &hits("lantern", "1"))],
    );
    for changes in [false, true] {
        let mut n = 1;
        let mut server = FakeReplayer::new(|_, _| {
            n += u32::from(changes);
            ok(&hits("lantern", &n.to_string()))
        });
        let (draft, _) = validated(&mut server, &recording, &alone());
        // Other values than the recorded ones prove nothing.
        assert_eq!((draft.deterministic, draft.compared), (!changes, !changes));
        assert_eq!(draft.carries, ["query:q"]);
    }
}

#[test]
fn a_header_that_the_answer_depends_on_is_kept() {
    let german = ("accept-language", "de-AT,de;q=0.9");
    let recorded = Entry {
        headers: vec![("user-agent", "Mozilla/5.0 of somebody"), german],
        ..get(SEARCH, &hits("Laterne", "1"))
    };
    let page = page_text(&hits("Laterne", "1"));
    let recording = session(&[("q", "lantern")], &page, vec![recorded]);
    let mut server = FakeReplayer::new(|_, it| {
        let is_german = it.headers.iter().any(|it| it.0 == german.0 && it.1 == german.1);
        ok(&hits(if is_german { "Laterne" } else { "lantern" }, "1"))
    });
    let (draft, _) = validated(&mut server, &recording, &alone());
    let headers: Vec<_> = draft.request.headers.iter().map(|it| (&**it.0, &**it.1)).collect();
    assert_eq!((headers, draft.compared), (vec![german], true));
    assert_eq!(draft.replays[1].what, "with accept-language");
}

fn with_state(state: &Value) -> String {
    format!(
        "<html><body><h1>Shop</h1><script id=\"state\" type=\"application/json\">{state}</script></body></html>"
    )
}

fn document(url: &str, html: &str) -> Entry {
    Entry { mime: "text/html", answer: html.to_owned(), ..get(url, &Value::Null) }
}

#[test]
fn json_in_a_page_must_have_its_shape() {
    let lantern = hits("lantern", "1");
    let recording = session(
        &[("q", "lantern")],
        &page_text(&lantern),
        vec![document("http://shop.test/find?q=lantern", &with_state(&lantern))],
    );
    assert_eq!(done(choose(&recording, &alone())).chosen.source, DataSource::EmbeddedJson);
    assert_eq!(check(&recording, |_, _| page(with_state(&lantern))).0, "public_http");
    // A list under the same name, of other things.
    let other =
        json!({"hits": [{"flag": true, "rollout": {"share": 3, "of": [1, 2]}}], "user": {"id": 4}});
    assert_eq!(check(&recording, |_, _| page(with_state(&other))).0, "replay_failed");
}

fn list(n: usize) -> String {
    let item = |i| {
        format!(
            "<li class=\"hit\"><h3>Copper lantern number {i}</h3><p class=\"maker\">Granite works of lantern {i}</p></li>"
        )
    };
    let items = (0..n).map(item).collect::<Vec<_>>().concat();
    format!("<html><body><main><ul id=\"results\">{items}</ul></main></body></html>")
}

#[test]
fn a_page_must_have_about_as_many_items() {
    let line = |i| format!("Copper lantern number {i}\nGranite works of lantern {i}\n");
    let text = (0..12).map(line).collect::<Vec<_>>().concat();
    let recording = session(
        &[("q", "lantern")],
        &text,
        vec![document("http://shop.test/find?q=lantern", &list(12))],
    );
    assert_eq!(done(choose(&recording, &alone())).chosen.source, DataSource::Html);
    for (n, said) in
        [(12, "public_http"), (10, "public_http"), (3, "replay_failed"), (40, "replay_failed")]
    {
        assert_eq!(check(&recording, |_, _| page(list(n))).0, said, "{n} items");
    }
}

#[test]
fn a_body_that_is_no_template_is_rejected_unsent() {
    let validate = |parts: &str| {
        let mut entry = post("http://shop.test/api/search", &Value::Null, &hits("lantern", "1"));
        let query = "--xx\r\nContent-Disposition: form-data; name=\"query\"\r\n\r\nlantern\r\n";
        entry.body =
            Some(("multipart/form-data; boundary=xx", format!("{query}{parts}--xx--\r\n")));
        let page = page_text(&hits("lantern", "1"));
        let recording = session(&[("q", "lantern")], &page, vec![entry]);
        let mut server = FakeReplayer::new(|_, _| ok(&hits("lantern", "1")));
        let analysis = done(choose(&recording, &alone()));
        let judged = block_on(run_validate(&mut server, &recording, &analysis)).unwrap();
        (judged, server.sent.len())
    };
    let file =
        "--xx\r\nContent-Disposition: form-data; name=\"like\"; filename=\"a.png\"\r\n\r\nabc\r\n";
    let (judged, sent) = validate(file);
    assert_eq!((rejected(judged).reason, sent), (Reason::ReplayFailed, 0));
    // Without the file it is a form.
    let (judged, sent) = validate("");
    done(judged);
    assert!(sent > 0);
}
