//! rank and analyze: the right request, or why nobody can know.

use super::*;
use commis_artifacts::payloads::{Candidate, CandidateSet, Reason};

const SEARCH: &str = "http://shop.test/api/search?q=lantern";

fn ranked(recording: &SessionRecording) -> CandidateSet {
    done(rank(recording, &alone(), &RankingSettings::default()))
}

fn first(recording: &SessionRecording) -> Candidate {
    ranked(recording).candidates.remove(0)
}

fn lantern(entries: Vec<Entry>) -> SessionRecording {
    session(&[("q", "lantern")], &page_text(&hits("lantern", "1")), entries)
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
fn a_list_of_ids_whose_things_are_fetched_one_by_one_leads_to_the_data() {
    let list = json!([5141, 4619, 9567, 3251, 1045]);
    let entry = |id: u64| {
        let answer = json!({ "id": id, "title": format!("Lantern news {id}"), "points": id % 97 });
        get(format!("http://shop.test/entry/{id}"), &answer)
    };
    let recorded = |fetched: &[u64]| {
        let mut entries = vec![get("http://shop.test/api/search?q=lantern", &list)];
        entries.extend(fetched.iter().map(|it| entry(*it)));
        session(&[("q", "lantern")], "Lantern news", entries)
    };
    let all = [5141, 4619, 9567, 3251, 1045];
    let chosen = done(choose(&recorded(&all), &alone())).chosen;
    assert_eq!((chosen.exchange, &chosen.response.extract), (0, &None));
    // The page went no further.
    let chosen = done(choose(&recorded(&all[..3]), &alone())).chosen;
    assert_eq!((chosen.exchange, chosen.response.extract.as_deref()), (0, Some("[:3]")));
    // Whose things were chosen from the midst, by nobody knows what.
    let reject = rejected(choose(&recorded(&[4619, 9567, 1045]), &alone()));
    assert_eq!(reject.reason, Reason::SeveralCalls, "{}", reject.detail);
    // Two may be an accident, and things that nobody listed are their own.
    for fetched in [&[5141, 4619][..], &[11, 12, 13]] {
        if let Judged::Rejected(reject) = choose(&recorded(fetched), &alone()) {
            assert_ne!(reject.reason, Reason::SeveralCalls, "{fetched:?}");
        }
    }
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
fn candidates_that_hold_the_page_alike_share_their_confidence() {
    let recording = lantern(vec![
        get(SEARCH, &hits("lantern", "1")),
        get("http://shop.test/api/lookup?q=lantern", &hits("lantern", "1")),
    ]);
    let check_at = |min_confidence_bp, confidences: [u32; 2], held: [i32; 2], follows, expected| {
        let mut set = ranked(&recording);
        set.doubt = None;
        for (i, it) in set.candidates.iter_mut().enumerate() {
            it.confidence_bp = confidences[i];
            it.features.insert("holds_items".to_owned(), held[i]);
            it.features.insert("follows_input".to_owned(), follows);
            it.features.remove("visible_on_page");
        }
        let chosen = matches!(
            analyze(&recording, &set, &DecisionSettings { min_confidence_bp }).unwrap(),
            Judged::Done(_)
        );
        assert_eq!(chosen, expected, "{confidences:?} {held:?} {follows}");
    };
    let check = |confidences, held, follows, expected| {
        check_at(6000, confidences, held, follows, expected);
    };
    check([4000, 3900], [700, 700], 150, true);
    check([4000, 3900], [700, 600], 150, false);
    // The page confirms or refuses it; without a second recording nothing does.
    check([4200, 0], [700, 0], 150, true);
    check([4199, 0], [700, 0], 150, false);
    check([5999, 4000], [700, 700], 0, false);
    // A setting above the usual one is a user's wish.
    check_at(10_001, [10_000, 0], [700, 0], 150, false);
    // What the page does not show needs all of the threshold.
    check([5999, 4000], [0, 0], 150, false);
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
    let of = |word: &str| {
        session(&[("q", word)], &page_text(&hits(word, "1")), entries(word, "lantern"))
    };
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
fn an_answer_that_came_besides_is_not_the_one_that_was_refused() {
    let first = || get(SEARCH, &hits("lantern", "1"));
    let refused =
        |url: &str| Entry { status: 429, ..get(url, &json!({"reason": "log in to see this"})) };
    // A page that showed the answer would speak for it.
    let chosen = |entries| choose(&session(&[("q", "lantern")], "", entries), &alone());
    let again = "http://shop.test/api/search?q=lantern&mode=all";
    assert_eq!(rejected(chosen(vec![first(), refused(again)])).reason, Reason::Ambiguous);
    // Tried again, and a further page.
    done(chosen(vec![refused(again), first()]));
    done(chosen(vec![first(), refused(&format!("{SEARCH}&page=2"))]));
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

/// What a HAR shows: nobody saw the page.
fn of_har(url: &str, task: &str, entries: Vec<Entry>) -> SessionRecording {
    let document = entries.iter().rfind(|it| it.mime == "text/html" && it.url == url);
    let text = document.map_or_else(
        || "lantern number 0 and what else the shop says of it".to_owned(),
        |it| commis_redact::markup::visible_text(&it.answer, 9_000),
    );
    let mut it = session(&[("q", "lantern")], &text, entries);
    it.driver = Driver::Har;
    it.task = task.to_owned();
    it.page.url = url.to_owned();
    it
}

fn html(url: &str, body: String) -> Entry {
    Entry { mime: "text/html", answer: body, ..get(url, &Value::Null) }
}

/// So many items on a page of their own.
fn listed(word: &str, count: usize) -> String {
    let item = |i: usize| format!("<li><b>{word} number {i}</b> <i>by {word} maker {i}</i></li>");
    let items: String = (0..count).map(item).collect();
    format!("<html><body><h1>{word}</h1><ul class='r'>{items}</ul></body></html>")
}

#[test]
fn of_two_pages_the_one_that_the_session_came_to() {
    let (one, two) = ("http://shop.test/thing/lantern", "http://shop.test/part/lantern");
    let entries = || vec![html(one, listed("lantern", 6)), html(two, listed("lantern", 6))];
    for url in [one, two] {
        let recording = of_har(url, "Search the shop for lantern", entries());
        let chosen = done(choose(&recording, &alone())).chosen;
        assert_eq!(recording.exchanges[chosen.exchange as usize].url, url);
    }
}

#[test]
fn a_fragment_that_is_a_list_is_one() {
    let entry = Entry {
        mime: "text/html",
        ..html("http://shop.test/part?q=lantern", listed("lantern", 6))
    };
    let mut recording = of_har("http://shop.test/", "Search the shop for lantern", vec![entry]);
    recording.exchanges[0].resource_type = ResourceType::Fetch;
    let chosen = done(choose(&recording, &alone())).chosen;
    assert_eq!(chosen.response.html.unwrap().items, "ul.r > li");
}

#[test]
fn data_that_a_script_draws_is_taken_from_the_script() {
    let state = json!({"props": {"hits": hits("lantern", "1")["hits"]}});
    let body = format!(
        "<html><body><h1>lantern</h1><div id='out'></div><script type='application/json' id='s'>{state}</script></body></html>"
    );
    let url = "http://shop.test/find?q=lantern";
    let recording = of_har(url, "Search the shop for lantern", vec![html(url, body)]);
    let response = done(choose(&recording, &alone())).chosen.response;
    assert_eq!(response.embedded.as_deref(), Some("script#s"));
    assert_eq!(response.extract.as_deref(), Some("props.hits"));
}

#[test]
fn an_answer_that_is_none_is_not_chosen() {
    for (answer, why) in [
        (
            json!({"job": "1c3efb51", "state": "queued", "poll": "/jobs/1c", "links": [{"href": "/a"}, {"href": "/b"}]}),
            "beside",
        ),
        (
            json!({"job": "1c3efb51", "state": "queued", "steps": [{"name": "wait"}, {"name": "go"}]}),
            "not done",
        ),
        (json!({"error": {"code": "down"}, "tried": ["lantern", "lamp"]}), "went wrong"),
        (json!({"facets": [{"name": "red", "count": 4}, {"name": "blue", "count": 2}]}), "beside"),
        (json!({"terms": ["lantern", "lantern oil", "lantern glass"]}), "go on typing"),
    ] {
        let entries = vec![get(SEARCH, &answer)];
        let recording = of_har("http://shop.test/", "Search the shop for lantern", entries);
        let set = ranked(&recording);
        let doubt = set.doubt.unwrap_or_default();
        assert!(doubt.contains(why), "{answer}: {doubt}");
    }
    let recording = of_har(
        "http://shop.test/",
        "Search the shop for lantern",
        vec![get(SEARCH, &hits("lantern", "1"))],
    );
    assert_eq!(ranked(&recording).doubt, None);
}

#[test]
fn of_one_thing_no_list_within_it() {
    let versions =
        json!({"0.1.7": {"words": ["old", "older"]}, "0.2.0": {"words": ["new", "newer"]}});
    let answer = json!({"name": "lantern", "versions": versions, "latest": {"words": ["new", "newer"]},
        "about": "A lantern for long nights by the sea", "by": "Ann of Kiel"});
    let url = "http://shop.test/api/thing/lantern";
    let recording = of_har("http://shop.test/", "Show the lantern", vec![get(url, &answer)]);
    assert_eq!(done(choose(&recording, &alone())).chosen.response.extract, None);
    let lists = &recording.exchanges[0].measures.lists;
    let paths = crate::extraction::ranked(lists, "List the words of the lantern");
    assert!(paths.iter().all(|it| !it.path.contains("0.1.7")), "{paths:?}");
}

#[test]
fn a_refused_request_that_ends_in_what_is_asked_for_is_a_doubt() {
    let doubt = |status: u16, path: &str| {
        let zone = json!({"data": {"domain": "wkmag.test", "plan": "free", "state": "active"}});
        let refused = Entry {
            status,
            ..get(format!("http://shop.test/domains/wkmag.test/{path}"), &json!({"message": "no"}))
        };
        let entries = vec![get("http://shop.test/domains/wkmag.test", &zone), refused];
        let mut recording = session(&[("domain", "wkmag.test")], "", entries);
        recording.task = "Show the DNS records of wkmag.test".to_owned();
        ranked(&recording).doubt
    };
    assert!(doubt(404, "dns-records").unwrap().starts_with("a request of the site that ends"));
    assert!(doubt(404, "quota").is_none());
}

#[test]
fn an_answer_that_only_serves_a_later_request_leaves_a_doubt() {
    let doubt = |later: &str| {
        let asked =
            json!({"time": "2021-01-01 2021-01-05", "resolution": "DAY", "keyword": "pizza"});
        let widgets = json!({"widgets": [{"request": asked, "id": "SERIES"}]});
        let mut url = url::Url::parse(later).unwrap();
        url.query_pairs_mut().append_pair("req", &asked.to_string());
        let series = json!({"points": [{"at": 1, "value": 7}, {"at": 2, "value": 8}]});
        let entries =
            vec![get("http://shop.test/explore?q=pizza", &widgets), get(url.as_str(), &series)];
        let mut recording = session(&[], "", entries);
        recording.task = "Explore the interest over time for pizza".to_owned();
        let ranked = ranked(&recording);
        let first = ranked.candidates.iter().find(|it| it.exchange == 0).unwrap();
        let is_token = first.features.contains_key("hands_out_token");
        (is_token, ranked.doubt.unwrap_or_default())
    };
    let (is_token, doubt_of_token) = doubt("http://shop.test/lines");
    assert!(is_token && doubt_of_token.starts_with("a later request sends"), "{doubt_of_token}");
    let (is_token, doubt_of_page) = doubt("http://shop.test/explore?q=pizza");
    assert!(!is_token && !doubt_of_page.starts_with("a later request"), "{doubt_of_page}");
}
