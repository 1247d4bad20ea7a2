//! minimize through its loop: budget, journal, and what is never left out.

use super::*;
use crate::minimize::minimize;
use commis_recipe::model::BodyTemplate;

fn entry() -> Entry {
    Entry {
        headers: vec![("x-shop", "main"), ("accept", "application/json"), ("x-request-id", "81")],
        ..post(
            "http://shop.test/api/search?v=3&lang=en",
            &json!({"filter": {"text": {"q": "lantern"}, "kind": "all"}, "facets": ["maker"], "page": 0}),
            &hits("lantern", "0"),
        )
    }
}

/// Needs `v` and the header `x-shop`, or it answers something else of the same shape.
fn picky(request: &PreparedRequest) -> Result<Reply> {
    let header = request.headers.iter().any(|it| it.0 == "x-shop");
    let known = header && query(request, "v") == "3";
    ok(&hits(if known { "lantern" } else { "default" }, "0"))
}

fn drafted() -> (RecipeDraft, BaselineFingerprint) {
    let recording = session(&[("q", "lantern")], &page_text(&hits("lantern", "0")), vec![entry()]);
    validated(&mut FakeReplayer::new(|_, it| picky(it)), &recording, &alone())
}

#[test]
fn keeps_what_the_answer_needs_and_what_was_typed() {
    let (draft, base) = drafted();
    let mut server = FakeReplayer::new(|_, it| picky(it));
    let report = block_on(minimize(&mut server, &draft, &base)).unwrap();
    assert!(!report.budget_exhausted);
    let query: Vec<&str> = report.request.query.iter().map(|it| it.name.as_str()).collect();
    let headers: Vec<&str> = report.request.headers.keys().map(String::as_str).collect();
    assert_eq!((query, headers), (vec!["v"], vec!["content-type", "x-shop"]));
    let body = json!({"filter": {"text": {"q": "lantern"}}, "page": 0});
    assert_eq!(report.request.body, Some(BodyTemplate::Json(body)));
}

#[test]
fn a_parent_of_what_was_typed_is_never_left_out() {
    let (draft, base) = drafted();
    assert_eq!(draft.carries, ["json:/filter/text/q"]);
    // This one answers the same to everything.
    let mut server = FakeReplayer::new(|_, _| ok(&hits("lantern", "0")));
    let report = block_on(minimize(&mut server, &draft, &base)).unwrap();
    assert!(server.sent.len() > 3);
    for (_, sent) in &server.sent {
        let body = String::from_utf8_lossy(sent.body.as_deref().unwrap()).into_owned();
        assert!(body.contains("lantern"), "{body}");
    }
    let body = json!({"filter": {"text": {"q": "lantern"}}, "page": 0});
    assert_eq!(report.request.body, Some(BodyTemplate::Json(body)));
}

#[test]
fn an_interrupted_run_sends_only_what_was_not_journalled() {
    let (draft, base) = drafted();
    let mut whole = FakeReplayer::new(|_, it| picky(it));
    let expected = block_on(minimize(&mut whole, &draft, &base)).unwrap();
    let total = whole.sent.len();
    assert!(total > 4, "{:?}", expected.trials);
    for stop in [0, 1, 3, total - 1] {
        let mut n = 0;
        let mut first = FakeReplayer::new(|_, it| {
            n += 1;
            if n > stop { fails(Code::Interrupted) } else { picky(it) }
        });
        let err = block_on(minimize(&mut first, &draft, &base)).err().unwrap();
        assert_eq!((err.code(), first.journal.len()), (Code::Interrupted, stop));
        let mut second = FakeReplayer::new(|_, it| picky(it));
        second.journal = first.journal;
        let report = block_on(minimize(&mut second, &draft, &base)).unwrap();
        assert_eq!((second.sent.len(), &report), (total - stop, &expected), "stopped after {stop}");
    }
}

#[test]
fn a_spent_budget_keeps_the_rest() {
    let (draft, base) = drafted();
    for budget in [0, 2] {
        let mut server = FakeReplayer::new(|_, _| ok(&hits("lantern", "0")));
        server.budget = budget;
        let report = block_on(minimize(&mut server, &draft, &base)).unwrap();
        assert!(report.budget_exhausted);
        assert_eq!((report.trials.len(), server.sent.len()), (budget, budget));
        assert_eq!(report.request.body, draft.request.body, "bodies come after headers");
        assert_eq!(report.request == draft.request, budget == 0);
    }
    // Nothing to leave out needs no budget.
    let bare = get("http://shop.test/api/search?q=lantern", &hits("lantern", "1"));
    let recording = session(&[("q", "lantern")], &page_text(&hits("lantern", "1")), vec![bare]);
    let mut server = FakeReplayer::new(|_, _| ok(&hits("lantern", "1")));
    let (draft, base) = validated(&mut server, &recording, &alone());
    server.budget = 0;
    assert!(!block_on(minimize(&mut server, &draft, &base)).unwrap().budget_exhausted);
}

#[test]
fn data_that_changes_by_itself_keeps_query_and_body() {
    let (mut draft, base) = drafted();
    draft.deterministic = false;
    let mut n = 0;
    let mut server = FakeReplayer::new(|_, _| {
        n += 1;
        ok(&hits("lantern", &n.to_string()))
    });
    let report = block_on(minimize(&mut server, &draft, &base)).unwrap();
    assert_eq!(
        (&report.request.query, &report.request.body),
        (&draft.request.query, &draft.request.body)
    );
    // Headers go by the shape.
    assert_eq!(report.request.headers.keys().collect::<Vec<_>>(), ["content-type"]);
}
