//! verify: what counts as proof, and everything that only looks like it.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::{
    publish::without,
    verify::{Expectation, verify},
};
use commis_artifacts::payloads::VerificationReport;
use commis_recipe::{
    model::{LoginProof, Pair, ResponseSpec, ResponseType},
    steps::Step,
};

const A: &str = "lantern";
const B: &str = "teapot";

fn url(word: &str) -> String {
    format!("http://shop.test/api/search?q={word}&page=1")
}

/// A session that searched for a word in a shop which answers as `data` says.
fn searched(word: &str, data: &Value) -> SessionRecording {
    session(&[("q", word)], &page_text(data), vec![get(url(word), data)])
}

fn honest(request: &PreparedRequest) -> Value {
    hits(&query(request, "q"), &query(request, "page"))
}

/// Two driven examples in an honest shop.
fn both() -> (RecipeDraftMinimized, BaselineFingerprint) {
    let (a, b) = (searched(A, &hits(A, "1")), searched(B, &hits(B, "1")));
    let out = prepared(&mut FakeReplayer::new(|_, it| ok(&honest(it))), &a, &driven(&b));
    assert!(out.0.captured.is_some() && out.0.second_seen.len() > 6 && out.0.compared);
    out
}

fn judge(
    (draft, base): &(RecipeDraftMinimized, BaselineFingerprint),
    answer: impl FnMut(TransportKind, &PreparedRequest) -> Result<Reply> + Send,
) -> Result<VerificationReport> {
    block_on(verify(&mut FakeReplayer::new(answer), draft, base, &Expectation::default()))
}

/// By one transport only: why it was not verified, or empty.
fn reason(
    prepared: &(RecipeDraftMinimized, BaselineFingerprint),
    mut answer: impl FnMut(&PreparedRequest) -> Value + Send,
) -> String {
    let mut server = FakeReplayer::new(|_, it| ok(&answer(it)));
    server.transports.truncate(1);
    let report = block_on(verify(&mut server, &prepared.0, &prepared.1, &Expectation::default()));
    let report = report.unwrap();
    assert_eq!(report.verified, report.reason.is_none());
    report.reason.unwrap_or_default()
}

/// Replays that follow no list.
fn without_pages(report: &VerificationReport) -> usize {
    report.replays.iter().filter(|it| !it.what.contains(", page ")).count()
}

#[test]
fn an_honest_answer_is_verified_by_a_stranger() {
    let (draft, base) = both();
    let mut server = FakeReplayer::new(|_, it| ok(&honest(it)));
    let report = block_on(verify(&mut server, &draft, &base, &Expectation::default())).unwrap();
    assert!(report.verified && !report.requires_session && !report.fell_back, "{report:?}");
    assert_eq!(report.transport, TransportKind::PublicHttp);
    assert_eq!(server.strangers, 1, "the recorded session is not used");
    let asked: Vec<String> = server.sent.iter().map(|it| query(&it.1, "q")).collect();
    assert_eq!(asked[..5], [A, B, A, A, "zqvwxkyj"]);
    // What follows turns pages, of a list that has no end here.
    assert!(asked[5..].iter().all(|it| it == A) && report.pages.is_none());
    assert_eq!(without_pages(&report), 5);
    // The fourth one turned the page, which had an effect; the last asked for nothing.
    assert_eq!(
        (report.effective, report.frozen),
        (vec!["q".to_owned(), "page".to_owned()], vec![])
    );
}

#[test]
fn what_only_looks_like_proof() {
    let both = both();
    let no_effect = reason(&both, |_| hits(A, "1"));
    assert!(no_effect.contains("no effect"), "{no_effect}");
    // Something else of the same shape for B: neither captured nor seen.
    let other = reason(&both, |it| match query(it, "q").as_str() {
        A => honest(it),
        _ => hits("mirror", "1"),
    });
    assert!(other.contains("not the one that the second recording captured"), "{other}");
    // B is empty: of any shape, and not what was seen.
    let empty =
        reason(&both, |it| if query(it, "q") == A { honest(it) } else { json!({"hits": []}) });
    assert!(!empty.is_empty());
    // B has another shape.
    let drift = reason(&both, |it| {
        if query(it, "q") == A { honest(it) } else { json!({"hits": [{"suggestion": B}]}) }
    });
    assert!(drift.contains("SHAPE_DRIFT"), "{drift}");
    // Only the echo differs.
    let echo = reason(&both, |it| {
        let mut out = hits(A, "1");
        out["hits"][0]["maker"] = json!(query(it, "q"));
        out
    });
    assert!(!echo.is_empty());
}

/// As whom a request is sent: nobody, where it is not sent in a session.
fn whose(request: &PreparedRequest) -> &str {
    request.headers.iter().find(|it| it.0 == "as").map_or("", |it| &it.1)
}

/// Learned with one login or two; the recording shows what the first one sees.
fn behind_login(
    logins: usize,
    answer: impl Fn(&PreparedRequest) -> Result<Reply> + Send + Sync,
) -> VerificationReport {
    let (a, b) = (searched(A, &hits(A, "1")), searched(B, &hits(B, "1")));
    let mut server = FakeReplayer::new(|_, it| answer(it));
    server.logins = logins;
    server.transports.insert(1, TransportKind::LoginHttp);
    let (draft, base) = prepared(&mut server, &a, &driven(&b));
    block_on(verify(&mut server, &draft, &base, &Expectation::default())).unwrap()
}

#[test]
fn a_login_is_needed_where_a_stranger_gets_something_else() {
    let nothing = json!({"hits": []});
    let own = |it: &PreparedRequest, other: &Value| match whose(it) {
        "Login" => ok(&honest(it)),
        "SecondLogin" => ok(other),
        // A site that shows strangers an empty list, with status 200.
        _ => ok(&nothing),
    };
    let theirs = hits("mirror", "1");
    for (logins, proof) in [(1, LoginProof::OneLogin), (2, LoginProof::TwoLogins)] {
        let report = behind_login(logins, |it| own(it, &theirs));
        assert!(report.verified, "{report:?}");
        assert_eq!(report.login, Some(proof));
        assert_eq!(report.transport, TransportKind::LoginHttp);
        assert!(!report.requires_session);
    }
    // The second account may rightly be refused.
    let refused = behind_login(2, |it| match whose(it) {
        "Login" => ok(&honest(it)),
        _ => status(403),
    });
    assert_eq!((refused.verified, refused.login), (true, Some(LoginProof::TwoLogins)));
    // It gets the first one's things.
    let leaked = behind_login(2, |it| match whose(it) {
        "Login" | "SecondLogin" => ok(&honest(it)),
        _ => status(403),
    });
    assert!(!leaked.verified && leaked.login.is_none(), "{leaked:?}");
    assert!(leaked.reason.unwrap().contains("what the first one got"));
}

#[test]
fn a_second_account_that_is_refused_what_its_page_shows_proves_nothing() {
    let (a, b) = (searched(A, &hits(A, "1")), searched(B, &hits(B, "1")));
    let mut server = FakeReplayer::new(|_, it| match whose(it) {
        "Login" => ok(&honest(it)),
        _ => status(403),
    });
    server.logins = 2;
    server.transports.insert(1, TransportKind::LoginHttp);
    let (mut draft, base) = prepared(&mut server, &a, &driven(&b));
    let shown = json!({"heading": "Hits", "about": [], "fields": ["title"], "is_record": false, "count": 1, "rows": [["a mirror"]], "weight": 8});
    draft.second_login_shown = Some(serde_json::from_value(shown).unwrap());
    let report = block_on(verify(&mut server, &draft, &base, &Expectation::default())).unwrap();
    assert!(!report.verified && report.login.is_none(), "{report:?}");
    assert!(report.reason.unwrap().contains("refused what its own page shows"));
}

#[test]
fn what_strangers_get_as_well_needs_no_login() {
    let public = behind_login(1, |it| ok(&honest(it)));
    assert_eq!((public.verified, public.login), (true, None));
    assert_eq!(public.transport, TransportKind::PublicHttp);
    // In a session of their own they do.
    let in_session =
        behind_login(1, |it| if whose(it).is_empty() { status(403) } else { ok(&honest(it)) });
    assert_eq!((in_session.verified, in_session.login), (true, None));
    assert!(in_session.requires_session);
    assert_eq!(in_session.transport, TransportKind::ContextRequest);
}

#[test]
fn a_stranger_who_was_not_heard_proves_nothing() {
    let (a, b) = (searched(A, &hits(A, "1")), searched(B, &hits(B, "1")));
    let mut server = FakeReplayer::new(|_, it| match whose(it) {
        "Login" => ok(&honest(it)),
        "Stranger" => fails(Code::Timeout),
        _ => status(403),
    });
    server.logins = 1;
    let (draft, base) = prepared(&mut server, &a, &driven(&b));
    let err = block_on(verify(&mut server, &draft, &base, &Expectation::default())).unwrap_err();
    assert_eq!(err.code(), Code::Timeout);
}

/// With these words for examples after the second.
fn with_further(
    (draft, base): &(RecipeDraftMinimized, BaselineFingerprint),
    words: &[&str],
    answer: impl Fn(&PreparedRequest) -> Value + Send + Sync,
) -> VerificationReport {
    let values = |it: &&str| BTreeMap::from([("q".to_owned(), (*it).to_owned())]);
    let expect =
        Expectation { further: words.iter().map(values).collect(), ..Expectation::default() };
    let mut server = FakeReplayer::new(|_, it| ok(&answer(it)));
    server.transports.truncate(1);
    block_on(verify(&mut server, draft, base, &expect)).unwrap()
}

#[test]
fn a_third_example_speaks_where_the_second_rightly_finds_nothing() {
    let none = json!({"hits": []});
    let (a, b) = (searched(A, &hits(A, "1")), searched(B, &none));
    let shop =
        |it: &PreparedRequest| if query(it, "q") == B { json!({"hits": []}) } else { honest(it) };
    let prepared = prepared(&mut FakeReplayer::new(|_, it| ok(&shop(it))), &a, &driven(&b));
    let why = reason(&prepared, shop);
    assert!(why.contains("a third one may find something"), "{why}");
    let report = with_further(&prepared, &["kettle"], shop);
    assert!(report.verified, "{report:?}");
    assert_eq!(report.second.unwrap()["q"], "kettle");
    // A third one that finds what the first does, or fails, proves nothing.
    let same =
        |it: &PreparedRequest| if query(it, "q") == B { json!({"hits": []}) } else { hits(A, "1") };
    assert!(!with_further(&prepared, &["kettle"], same).verified);
    let drifts = |it: &PreparedRequest| match query(it, "q").as_str() {
        "kettle" => json!({"hits": [{"suggestion": "kettle"}]}),
        _ => shop(it),
    };
    let why = with_further(&prepared, &["kettle"], drifts).reason.unwrap();
    assert!(why.starts_with("example 3: SHAPE_DRIFT"), "{why}");
    // Finding nothing, a third time too, is no data: a request that is good for one value alone does that.
    let only_a =
        |it: &PreparedRequest| if query(it, "q") == A { honest(it) } else { json!({"hits": []}) };
    assert!(!with_further(&prepared, &["kettle", "mirror"], only_a).verified);
    // The second answer is that to another word than was recorded.
    let falls_back =
        |it: &PreparedRequest| if query(it, "q") == B { hits(A, "1") } else { honest(it) };
    assert!(!with_further(&both(), &["kettle"], falls_back).verified);
    // The second page showed something: an empty answer is not it.
    assert!(!with_further(&both(), &["kettle"], shop).verified);
}

#[test]
fn every_example_has_to_be_answered() {
    let both = both();
    let report = with_further(&both, &["kettle", "mirror"], honest);
    assert!(
        report.verified && report.second.is_none() && without_pages(&report) == 7,
        "{report:?}"
    );
    let breaks = |it: &PreparedRequest| match query(it, "q").as_str() {
        "mirror" => json!({"oops": true}),
        _ => honest(it),
    };
    let why = with_further(&both, &["kettle", "mirror"], breaks).reason.unwrap();
    assert!(why.starts_with("example 4: "), "{why}");
}

#[test]
fn without_a_captured_second_answer_the_page_decides() {
    let (mut draft, base) = both();
    draft.captured = None;
    let other =
        |it: &PreparedRequest| if query(it, "q") == A { honest(it) } else { hits("mirror", "1") };
    let both = (draft.clone(), base.clone());
    assert_eq!(reason(&both, honest), "");
    let why = reason(&both, other);
    assert!(why.contains("nothing of the second answer was on the second page"), "{why}");
    // Nothing to compare with is no proof either.
    draft.second_seen.clear();
    draft.compared = false;
    let why = reason(&(draft, base), honest);
    assert!(why.contains("no page shows that it is right"), "{why}");
}

#[test]
fn noise_is_not_an_effect_and_does_not_hide_one() {
    let counted = |word: &str, n: u32| {
        let mut out = hits(word, "1");
        out["served"] = json!(n);
        for it in out["hits"].as_array_mut().unwrap() {
            it["seen"] = json!(n);
        }
        out
    };
    let n = AtomicU32::new(1000);
    let next = || n.fetch_add(1, Ordering::Relaxed);
    let (a, b) = (searched(A, &counted(A, 7)), searched(B, &counted(B, 8)));
    let mut server = FakeReplayer::new(|_, it| ok(&counted(&query(it, "q"), next())));
    let both = prepared(&mut server, &a, &driven(&b));
    assert_eq!(reason(&both, |it| counted(&query(it, "q"), next())), "");
    let why = reason(&both, |_| counted(A, next()));
    assert!(why.contains("no effect"), "{why}");
}

/// `city` and `day`, both typed.
fn forecast(city: &str, day: &str) -> Value {
    hits(&format!("{city} {day}"), "1")
}

fn two() -> (RecipeDraftMinimized, BaselineFingerprint) {
    let asked = |city: &str, day: &str| {
        let data = forecast(city, day);
        let url = format!("http://shop.test/api/search?city={city}&day={day}");
        session(&[("city", city), ("day", day)], &page_text(&data), vec![get(url, &data)])
    };
    let answer = |it: &PreparedRequest| forecast(&query(it, "city"), &query(it, "day"));
    let second = driven(&asked("bergen", "friday"));
    prepared(&mut FakeReplayer::new(|_, it| ok(&answer(it))), &asked("oslo", "monday"), &second)
}

#[test]
fn each_parameter_alone_must_change_the_data() {
    let both = two();
    let mut asked = Vec::new();
    let why = reason(&both, |it| {
        asked.push((query(it, "city"), query(it, "day")));
        forecast(&query(it, "city"), &query(it, "day"))
    });
    assert_eq!(why, "");
    let pair = |city: &str, day: &str| (city.to_owned(), day.to_owned());
    assert_eq!(
        asked[3..],
        [pair("bergen", "monday"), pair("oslo", "friday"), pair("zqvwxkyj", "monday")]
    );
    for (inert, city, day) in [("day", true, false), ("city", false, true)] {
        let why = reason(&both, |it| {
            let of = |used: bool, name: &str, fixed: [&str; 2]| {
                let second = if used {
                    query(it, name) == fixed[1]
                } else {
                    query(it, "city") == "bergen" && query(it, "day") == "friday"
                };
                fixed[usize::from(second)].to_owned()
            };
            forecast(&of(city, "city", ["oslo", "bergen"]), &of(day, "day", ["monday", "friday"]))
        });
        assert_eq!(why, format!("parameter `{inert}` has no effect"));
    }
    // Both examples alike in one: nobody knows what it does.
    let (mut draft, base) = both;
    draft.second.as_mut().unwrap().insert("day".to_owned(), "monday".to_owned());
    draft.second_seen.clear();
    draft.captured = None;
    let why = reason(&(draft, base), |it| forecast(&query(it, "city"), &query(it, "day")));
    assert!(why.contains("both examples give `day` the same value"), "{why}");
}

#[test]
fn paging_without_effect_is_frozen() {
    let report = judge(&both(), |_, it| ok(&hits(&query(it, "q"), "1"))).unwrap();
    assert!(report.verified, "{report:?}");
    assert_eq!((report.effective, report.frozen), (vec!["q".to_owned()], vec!["page".to_owned()]));
    // An error on the next page is no effect.
    let report =
        judge(
            &both(),
            |_, it| {
                if query(it, "page") == "1" { ok(&honest(it)) } else { status(500) }
            },
        );
    assert_eq!(report.unwrap().frozen, ["page"]);
    // One that may pass says nothing of it.
    for code in [503, 429] {
        let report =
            judge(
                &both(),
                |_, it| {
                    if query(it, "page") == "1" { ok(&honest(it)) } else { status(code) }
                },
            );
        assert!(report.unwrap_err().retryable(), "{code}");
    }
}

#[test]
fn what_cannot_be_proven_is_said_before_anything_is_sent() {
    let (draft, base) = both();
    let unsent = |draft: RecipeDraftMinimized| {
        let mut server = FakeReplayer::new(|_, _| panic!("something was sent"));
        let report = block_on(verify(&mut server, &draft, &base, &Expectation::default()));
        let report = report.unwrap();
        assert_eq!((report.verified, report.frozen), (false, vec!["page".to_owned()]));
        report.reason.unwrap()
    };
    assert_eq!(
        unsent(RecipeDraftMinimized { captured_only: true, ..draft.clone() }),
        "captured_only"
    );
    assert_eq!(
        unsent(RecipeDraftMinimized { second: None, ..draft }),
        "NEEDS_SECOND_EXAMPLE_FOR_VERIFY"
    );
}

#[test]
fn without_parameters_two_alike_answers_are_enough() {
    let data = hits("new", "1");
    let recording = session(&[], &page_text(&data), vec![get("http://shop.test/api/hits", &data)]);
    let both = prepared(&mut FakeReplayer::new(|_, _| ok(&data)), &recording, &alone());
    assert!(both.0.parameters.is_empty());
    assert_eq!(reason(&both, |_| hits("new", "1")), "");
    let mut n = 0;
    let why = reason(&both, |_| {
        n += 1;
        if n == 1 { hits("new", "1") } else { json!({"hits": [{"flag": true}]}) }
    });
    assert!(why.starts_with("A again: SHAPE_DRIFT"), "{why}");
}

#[test]
fn the_manifest_may_expect_more() {
    let both = both();
    let check = |min_items, path: &str| {
        let required_paths = vec![path.to_owned()];
        let expect = Expectation { min_items, required_paths, further: Vec::new() };
        let mut server = FakeReplayer::new(|_, it| ok(&honest(it)));
        block_on(verify(&mut server, &both.0, &both.1, &expect)).unwrap().reason.unwrap_or_default()
    };
    assert_eq!(check(Some(6), "hits[].title"), "");
    assert!(check(Some(7), "hits[].title").contains("EXTRACT_EMPTY"));
    assert!(check(None, "hits[].isbn").contains("EXTRACT_EMPTY"));
}

#[test]
fn a_session_is_used_where_a_stranger_is_refused_and_the_page_where_that_is_not_enough() {
    let all =
        [TransportKind::PublicHttp, TransportKind::ContextRequest, TransportKind::InPageFetch];
    for refused in [|| status(401), || fails(Code::SessionRequired)] {
        for accepted in &all[1..] {
            let report =
                judge(
                    &both(),
                    |transport, it| {
                        if transport < *accepted { refused() } else { ok(&honest(it)) }
                    },
                );
            let report = report.unwrap();
            assert!(report.verified && report.requires_session && report.fell_back, "{report:?}");
            assert_eq!(report.transport, *accepted);
            let mut tried: Vec<_> = report.replays.iter().map(|it| it.transport).collect();
            tried.dedup();
            assert!(all.starts_with(&tried), "{tried:?}");
        }
    }
    let report = judge(&both(), |_, _| status(401)).unwrap();
    assert!(report.reason.unwrap().contains("AUTH_REQUIRED"));
    // What has no effect publicly is not asked again in a session.
    let mut in_session = 0;
    let report = judge(&both(), |transport, _| {
        in_session += u32::from(transport.uses_session());
        ok(&hits(A, "1"))
    });
    assert!(!report.unwrap().verified);
    assert_eq!(in_session, 0);
}

#[test]
fn passing_trouble_is_no_verdict() {
    let on_b = |it: &PreparedRequest, trouble: fn() -> Result<Reply>| {
        if query(it, "q") == B { trouble() } else { ok(&honest(it)) }
    };
    let err = judge(&both(), |_, it| on_b(it, || status(429))).err().unwrap();
    assert_eq!(err.code(), Code::RateLimited);
    let err = judge(&both(), |_, it| on_b(it, || fails(Code::Timeout))).err().unwrap();
    assert_eq!(err.code(), Code::Timeout);
    // One parameter alone is refused for now.
    let err =
        judge(&two(), |_, it| match (query(it, "city").as_str(), query(it, "day").as_str()) {
            ("bergen", "monday") => status(503),
            (city, day) => ok(&forecast(city, day)),
        });
    assert_eq!(err.err().unwrap().code(), Code::ServerError);
}

#[test]
fn a_step_that_the_answer_does_not_need_is_cut() {
    let (mut draft, base) = both();
    let find = json!({"method": "GET", "url": "http://shop.test/api/find", "allowed_domains": ["shop.test"], "query": [{"name": "q", "value": "{q}"}]});
    draft.steps = vec![Step {
        name: "find".to_owned(),
        for_each: None,
        request: serde_json::from_value(find).unwrap(),
        response: ResponseSpec::new(ResponseType::Json),
        choose: None,
        poll: None,
        into: None,
        position: None,
        optional: false,
    }];
    draft.taken = BTreeMap::from([("find.word".to_owned(), A.to_owned())]);
    let list = Pair { name: "list".to_owned(), value: "{find.word}".to_owned(), ..Pair::default() };
    draft.request.query.push(list);
    for is_needed in [true, false] {
        let report = judge(&(draft.clone(), base.clone()), |_, it| {
            if it.url.contains("/api/find") {
                return ok(&json!({"word": query(it, "q")}));
            }
            let word = query(it, if is_needed { "list" } else { "q" });
            ok(&hits(&word, &query(it, "page")))
        });
        let report = report.unwrap();
        assert!(report.verified, "{:?}", report.reason);
        let (steps, request) = without(&draft, &draft.taken, &report.needless);
        let value = request.query.iter().find(|it| it.name == "list").unwrap().value.clone();
        assert_eq!(
            (steps.len(), value.as_str()),
            if is_needed { (1, "{find.word}") } else { (0, A) }
        );
    }
    // With a login its value may be the account's, which answers that account as well as the step does.
    let mut server = FakeReplayer::new(|_, it| match whose(it) {
        "Login" if it.url.contains("/api/find") => ok(&json!({"word": query(it, "q")})),
        "Login" => ok(&hits(&query(it, "q"), &query(it, "page"))),
        _ => status(403),
    });
    server.logins = 1;
    server.transports.insert(1, TransportKind::LoginHttp);
    let report = block_on(verify(&mut server, &draft, &base, &Expectation::default())).unwrap();
    assert!(report.verified && report.needless.is_empty(), "{report:?}");
}
