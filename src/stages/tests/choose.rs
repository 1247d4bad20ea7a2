//! rank and analyze: the right request, or why nobody can know.

use super::*;
use crate::artifacts::payloads::{Candidate, CandidateSet, Reason};

const SEARCH: &str = "http://shop.test/api/search?q=lantern";

fn ranked(recording: &SessionRecording) -> CandidateSet {
    done(rank(recording, &alone(), &RankingSettings::default()))
}

fn first(recording: &SessionRecording) -> Candidate {
    ranked(recording).candidates.remove(0)
}

fn lantern(entries: Vec<Entry>) -> SessionRecording {
    session(&[("q", "lantern")], &shown(&hits("lantern", "1")), entries)
}

/// What pages ask for besides.
fn around() -> Vec<Entry> {
    vec![
        get(
            "http://shop.test/api/feature-flags",
            &json!({"flags": [{"name": "new_cart", "on": true}]}),
        ),
        get("http://shop.test/api/suggest?q=lantern", &json!(["lantern", "lantern oil"])),
        post(
            "http://metrics.tracker.test/collect",
            &json!({"event": "search", "term": "lantern"}),
            &json!({"ok": true}),
        ),
    ]
}

#[test]
fn the_request_that_carried_the_data_is_chosen() {
    let mut entries = around();
    entries.insert(1, get(SEARCH, &hits("lantern", "1")));
    let recording = lantern(entries);
    let chosen = done(choose(&recording, &alone())).chosen;
    assert_eq!((chosen.exchange, chosen.response.extract.as_deref()), (1, Some("hits")));
}

#[test]
fn below_the_threshold_nobody_knows() {
    let recording = lantern(vec![get(SEARCH, &hits("lantern", "1"))]);
    let set = ranked(&recording);
    let confidence = set.candidates[0].confidence_bp;
    let judge = |min_confidence_bp| {
        analyze(&recording, &set, &DecisionSettings { min_confidence_bp }).unwrap()
    };
    done(judge(confidence));
    assert_eq!(rejected(judge(confidence + 1)).reason, Reason::Ambiguous);
    // Two endpoints gave the same answer to the same word.
    let twins = lantern(vec![
        get(SEARCH, &hits("lantern", "1")),
        get("http://shop.test/api/lookup?q=lantern", &hits("lantern", "1")),
    ]);
    let reject = rejected(choose(&twins, &alone()));
    assert_eq!(reject.reason, Reason::Ambiguous);
    assert!(reject.detail.contains("confidence"), "{}", reject.detail);
}

#[test]
fn a_word_against_a_path_does_not_count_when_the_task_asks_for_it() {
    let penalty = |task: &str| {
        let mut recording =
            lantern(vec![get("http://shop.test/api/trending", &hits("lantern", "1"))]);
        recording.task = task.to_owned();
        first(&recording).features.get("suggestion_path").copied()
    };
    assert!(penalty("Search the shop for lantern").is_some_and(|it| it < 0));
    assert_eq!(penalty("Show what is trending in the shop"), None);
}

#[test]
fn a_second_recording_breaks_the_tie() {
    let entries = |word: &str, fixed: &str| {
        vec![
            get(format!("http://shop.test/api/search?q={word}"), &hits(word, "1")),
            get(format!("http://shop.test/api/lookup?q={word}"), &hits(fixed, "1")),
        ]
    };
    let of =
        |word: &str| session(&[("q", word)], &shown(&hits(word, "1")), entries(word, "lantern"));
    let (one, two) = (of("lantern"), of("teapot"));
    assert_eq!(rejected(choose(&one, &alone())).reason, Reason::Ambiguous);
    let chosen = done(choose(&one, &driven(&two))).chosen;
    assert_eq!((chosen.exchange, chosen.second_exchange), (0, Some(0)));
}

#[test]
fn no_request_carried_what_was_typed() {
    // Everything was loaded before, and filtered in the page.
    let recording = lantern(vec![get("http://shop.test/api/all", &hits("lantern", "1"))]);
    assert_eq!(rejected(choose(&recording, &alone())).reason, Reason::NoDataRequest);
    // Nothing of interest at all.
    let recording = lantern(vec![get("http://shop.test/logo", &json!({}))]);
    assert_eq!(rejected(choose(&recording, &alone())).reason, Reason::NoDataRequest);
    assert_eq!(rejected(choose(&lantern(Vec::new()), &alone())).reason, Reason::NoDataRequest);
    // The data came without the value; a tracker with it.
    let mut entries = around();
    entries.push(get("http://shop.test/api/all", &hits("lantern", "1")));
    let reason = rejected(choose(&lantern(entries), &alone())).reason;
    assert!(matches!(reason, Reason::NoDataRequest | Reason::Ambiguous), "{reason:?}");
}

#[test]
fn a_mutation_on_top_is_not_sent_again() {
    let order = |path: &str, body: &Value| {
        let answer = hits("lantern", "1");
        let recording = lantern(vec![post(&format!("http://shop.test{path}"), body, &answer)]);
        choose(&recording, &alone())
    };
    for (path, body) in [
        ("/api/orders", json!({"item": "lantern"})),
        ("/api/search/save", json!({"query": "lantern"})),
        (
            "/graphql",
            json!({"query": "mutation Buy($q: String!) { buy(name: $q) { id } }", "variables": {"q": "lantern"}}),
        ),
        ("/api/things", json!({"name": "lantern"})),
    ] {
        assert_eq!(rejected(order(path, &body)).reason, Reason::Mutation, "{path}");
    }
    for (path, body) in [
        ("/api/search", json!({"term": "lantern"})),
        (
            "/graphql",
            json!({"query": "query Find($q: String!) { find(name: $q) { id } }", "variables": {"q": "lantern"}}),
        ),
    ] {
        done(order(path, &body));
    }
}

#[test]
fn a_wall_is_a_wall() {
    let walled = |status: u16, url: &str, entries: Vec<Entry>| {
        let mut all = vec![Entry { status, ..get(url, &json!({"error": "log in"})) }];
        all.extend(entries);
        choose(&lantern(all), &alone())
    };
    for status in [401, 403] {
        let reject = rejected(walled(status, SEARCH, Vec::new()));
        assert_eq!(reject.reason, Reason::NeedsLogin, "{}", reject.detail);
    }
    // It was asked again, with a fresh token perhaps, and answered.
    done(walled(401, SEARCH, vec![get(SEARCH, &hits("lantern", "1"))]));
    // A refusal of something else says nothing.
    done(walled(401, "http://shop.test/api/me", vec![get(SEARCH, &hits("lantern", "1"))]));
}

#[test]
fn of_one_endpoint_the_call_that_followed_the_typing() {
    let call = |word: &str| get(format!("http://shop.test/api/search?q={word}"), &hits(word, "1"));
    for order in [["popular", "lantern"], ["lantern", "popular"]] {
        let recording = lantern(order.map(call).into());
        assert_eq!(ranked(&recording).candidates.len(), 1);
        let url = first(&recording).url_summary;
        assert!(url.ends_with("q=lantern"), "{url}");
    }
    // Of equals the last, whose answer ended up on the page.
    assert_eq!(first(&lantern(["lantern", "lantern"].map(call).into())).exchange, 1);
}

#[test]
fn operations_of_one_url_are_separate() {
    let call = |name: &str, variables: &Value, answer: &Value| {
        let text = format!("query {name} {{ {name} {{ id }} }}");
        post(
            "http://shop.test/graphql",
            &json!({"operationName": name, "query": text, "variables": variables}),
            answer,
        )
    };
    let recording = lantern(vec![
        call("Viewer", &json!({}), &json!({"data": {"viewer": {"name": "guest", "cart": []}}})),
        call("Search", &json!({"term": "lantern"}), &hits("lantern", "1")),
        call("Banner", &json!({}), &json!({"data": {"banner": {"text": "Sale"}}})),
    ]);
    let chosen = done(choose(&recording, &alone())).chosen;
    assert_eq!(chosen.exchange, 1);
    let names: Vec<Option<String>> =
        ranked(&recording).candidates.into_iter().map(|it| it.operation).collect();
    assert_eq!(names[0].as_deref(), Some("Search"));
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "{names:?}");
    // Without a name the first field tells them apart, and JSON-RPC by its method.
    let unnamed = |text: &str, page: &str| {
        let body = json!({"query": text, "variables": {"q": "lantern"}});
        post("http://shop.test/graphql", &body, &hits("lantern", page))
    };
    let recording =
        lantern(vec![unnamed("{ search(q: 1) { id } }", "1"), unnamed("{ viewer { id } }", "2")]);
    assert_eq!(ranked(&recording).candidates.len(), 2);
    let rpc = |method: &str, answer: &Value| {
        post(
            "http://shop.test/rpc",
            &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": ["lantern"]}),
            answer,
        )
    };
    let recording = lantern(vec![
        rpc("shop.search", &hits("lantern", "1")),
        rpc("shop.count", &hits("lantern", "1")),
    ]);
    assert_eq!(ranked(&recording).candidates.len(), 2);
}
