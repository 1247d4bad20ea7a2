//! How an answer is read: the list that is the data, from structure, from sight, and against real traffic.

use super::*;
use crate::extraction::{ranked, response, widen_by_pages};
use commis_artifacts::payloads::{Analyst, Choice, DataSource, Reason};
use commis_recipe::{
    blocks,
    document::Document,
    expression::Query,
    model::{Framing, ResponseSpec, ResponseType},
};
use commis_redact::har;

/// The path chosen for an answer to a task, the page having shown some text.
fn path_of(task: &str, page: &str, answer: &Value) -> Option<String> {
    let mut recording = session(&[], page, vec![get("http://shop.test/api/x", answer)]);
    recording.task = task.to_owned();
    response(&recording.exchanges[0], DataSource::Json, &recording, None).unwrap().extract
}

fn things(n: usize, of: &str) -> Value {
    (0..n)
        .map(|i| json!({"title": format!("{of} number {i}"), "text": format!("about {of} {i}")}))
        .collect()
}

#[test]
fn what_is_asked_for_beside_the_list_is_not_left_out() {
    let points = json!([{"year": 2000, "value": 40_563}, {"year": 2001, "value": 40_963}]);
    let answer = json!({"source": {"office": "Statistics Bureau"}, "points": points});
    let page = "Figures of the Statistics Bureau\n2000: 40563\n2001: 40963";
    assert_eq!(path_of("Which office counts, and when?", page, &answer), None);
    assert_eq!(path_of("List the points", page, &answer).as_deref(), Some("points"));
    // What the page did not show was not asked for.
    let page = "2000: 40563\n2001: 40963";
    assert_eq!(path_of("Which office counts?", page, &answer).as_deref(), Some("points"));
}

#[test]
fn state_that_a_script_assigns_is_data_of_the_page() {
    let state = json!({"theme": "dark", "shows": things(4, "lamp")});
    let lines: Vec<String> = (0..4).map(|i| format!("lamp number {i}\nabout lamp {i}")).collect();
    let page = lines.join("\n");
    let html = format!(
        "<p>Lamps</p><script>dataLayer=[]</script><script>window.__S__ = {state};</script>"
    );
    let mut exchange = get("http://shop.test/search", &json!({}));
    exchange.mime = "text/html";
    exchange.answer = html;
    let recording = session(&[], &format!("Lamps\n{page}"), vec![exchange]);
    let found =
        response(&recording.exchanges[0], DataSource::EmbeddedJson, &recording, None).unwrap();
    assert_eq!(found.variable.as_deref(), Some("window.__S__"));
    assert_eq!(
        (found.embedded.as_deref(), found.extract.as_deref()),
        (Some("script"), Some("shows"))
    );
}

#[test]
fn what_only_a_program_reads_is_no_answer() {
    let read = |answer: &Value| {
        let recording = session(&[], "Lamps", vec![get("http://shop.test/api/x", answer)]);
        response(&recording.exchanges[0], DataSource::Json, &recording, None)
    };
    // SvelteKit and Nuxt: values by their number, one of a type that nobody else knows.
    let graph = |last: Value| {
        json!([
            {"goods": 1, "total": 7}, [2, 5], {"title": 3, "price": 4}, "Lamp of brass", 12,
            {"title": 6, "price": 4}, "Lamp of copper", last
        ])
    };
    let read_of = read(&graph(json!(2))).unwrap();
    assert_eq!(
        (read_of.framing, read_of.extract.as_deref()),
        (Some(Framing::References), Some("goods"))
    );
    let graph = graph(json!(["Lamp", 3]));
    for answer in [graph.clone(), json!({"type": "data", "nodes": [null, {"data": graph}]})] {
        assert!(read(&answer).unwrap_err().contains("refer to one another"));
    }
    for answer in [
        things(9, "lamp"),
        json!([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [1, 2], [3, 4], [5, 6]]),
        json!([{"id": 1, "n": 2}, {"id": 2, "n": 4}, {"id": 3, "n": 4}, {"id": 4, "n": 4}, {"id": 5, "n": 4}, {"id": 6, "n": 4}, {"id": 7, "n": 4}, {"id": 8, "n": 4}]),
        json!([
            "lamp",
            ["lamp one", "lamp two", "lamp three", "lamp four"],
            [1, 2, 3, 4],
            ["a", "b"],
            "x",
            "y",
            "z",
            "w"
        ]),
    ] {
        assert!(read(&answer).is_ok(), "{answer}");
    }
    // A text counts where the page shows it.
    let text = |page: &str| {
        let mut exchange = get("http://shop.test/api/x", &json!({}));
        exchange.mime = "text/plain";
        exchange.answer = "M1  Brass lamp\nM2  Copper lamp".to_owned();
        let recording = session(&[], page, vec![exchange]);
        response(&recording.exchanges[0], DataSource::Text, &recording, None)
    };
    assert!(text("Lamps\nM1 Brass lamp M2 Copper lamp\nImprint").is_ok());
    assert!(text("Lamps\nBrass lamp\nCopper lamp").unwrap_err().contains("did not show"));
}

#[test]
fn structure_decides_where_nothing_was_seen() {
    let facets = json!([{"name": "colour", "values": [{"v": "red red"}, {"v": "blue"}]}, {"name": "size of it", "values": []}]);
    for (task, answer, expected) in [
        ("Search", json!({"hits": things(5, "lamp"), "facets": facets}), Some("hits")),
        (
            "Search",
            json!({"facets": things(9, "lamp"), "x": {"y": things(4, "lamp")}}),
            Some("x.y"),
        ),
        ("Search", json!(things(3, "lamp")), Some("@")),
        ("Show tags", json!({"tags": things(3, "t"), "posts": []}), Some("tags")),
        // GraphQL.
        (
            "Search",
            json!({"data": {"search": {"nodes": things(3, "lamp"), "pageInfo": {"next": "abc"}}}}),
            Some("data.search.nodes"),
        ),
        (
            "Search",
            json!({"data": {"all": {"edges": [{"node": {"t": "one one"}, "cursor": "a"}, {"node": {"t": "two two"}, "cursor": "b"}]}}}),
            Some("data.all.edges[].node"),
        ),
        // A wrapper around the list, and a list inside single items.
        (
            "Search",
            json!({"groups": [{"kind": "a", "items": things(6, "lamp")}]}),
            Some("groups[].items[]"),
        ),
        (
            "Search",
            json!({"results": [{"title": "a long title", "text": "a long text", "more": "and more", "contacts": things(2, "c")}]}),
            Some("results"),
        ),
        // Maps by id, lists by name, tuples, scalars.
        (
            "Show",
            json!({"result": {"10": {"t": "one one"}, "11": {"t": "two two"}, "12": {"t": "three"}}}),
            Some("result.*"),
        ),
        (
            "Show",
            json!({"result": {"uids": ["10"], "10": {"t": "one one"}, "11": {"t": "two two"}, "12": {"t": "three"}, "13": {"t": "four"}}}),
            Some("values(result)[?type(@) == 'object']"),
        ),
        ("Show", json!({"packages": {"a/b": things(3, "release")}}), Some("packages.*[]")),
        ("Search", json!(["lamp", ["lamp oil", "lamp post", "lamp shade"], {}]), Some("[1]")),
        // One thing, two alike lists, a number that is asked for.
        (
            "Show",
            json!({"name": "a project", "stars": 120, "description": "long text here", "topics": ["one"], "more": "text", "owner": {"name": "someone", "bio": "a text"}, "badges": []}),
            None,
        ),
        ("Show", json!({"a": things(4, "x"), "b": things(4, "y")}), None),
        ("Count lamps", json!({"total": 1200, "docs": things(4, "lamp")}), None),
    ] {
        let path = path_of(task, "", &answer);
        assert_eq!(path.as_deref(), expected, "{answer}");
        if let Some(path) = path {
            let data = Query::compile(&path).unwrap().search(&Document::from(&answer));
            assert!(data.unwrap().as_array().is_some_and(|it| !it.is_empty()), "{path}");
        }
    }
}

#[test]
fn what_the_page_showed_goes_before_structure() {
    let answer = json!({"results": things(8, "lantern"), "mine": things(3, "teapot")});
    let page =
        "Shop\nteapot number 0\nabout teapot 0\nteapot number 1\nabout teapot 1\nteapot number 2";
    assert_eq!(path_of("Search", page, &answer).as_deref(), Some("mine"));
    assert_eq!(path_of("Search", "", &answer).as_deref(), Some("results"));
    // Nothing of the lists: no verdict from sight.
    assert_eq!(path_of("Search", "Another page", &answer).as_deref(), Some("results"));
}

#[test]
fn each_path_says_why() {
    let answer = json!({"hits": things(5, "lamp"), "facets": things(2, "lamp")});
    let recording = session(&[], "", vec![get("http://shop.test/api/x", &answer)]);
    let all = ranked(&recording.exchanges[0].measures.lists, "Search lamps");
    let paths: Vec<&str> = all.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["hits", "facets"]);
    assert_eq!(all[0].reason, "holds 71 % of the text, objects, named like results");
    assert!(all[1].reason.ends_with("named like what stands beside results"), "{}", all[1].reason);
    assert!(all[0].score_bp > all[1].score_bp);
}

/// URL, MIME type, frame, what it is, path, and what the request sends.
type Case<'a> =
    (&'static str, &'static str, &'a dyn Fn(&Value) -> String, Framing, &'static str, &'static str);

/// From the recording to the draft: the answer comes in a frame, once and again.
#[test]
fn framed_answers_are_learned_and_read() {
    let lines = |it: &Value| -> String {
        let all = it["hits"].as_array().unwrap();
        all.iter().flat_map(|it| [it.to_string(), "\n".to_owned()]).collect()
    };
    let plain = |it: &Value| format!(")]}}'\n{it}");
    let js = "application/javascript";
    let jsonp = |it: &Value| format!("/**/ jQuery36_1763({it});");
    let cases: [Case<'_>; 4] = [
        (
            "http://shop.test/api/search?q=lantern&cb=jQuery36_1763&_=1763762345123",
            js,
            &jsonp,
            Framing::Jsonp,
            "hits",
            "cb=callback",
        ),
        (
            "http://shop.test/api/search?q=lantern",
            "application/json",
            &plain,
            Framing::Prefix,
            "hits",
            "q=lantern",
        ),
        (
            "http://shop.test/api/search?q=lantern",
            "application/x-ndjson",
            &lines,
            Framing::Lines,
            "@",
            "q=lantern",
        ),
        (
            "http://shop.test/api/search?q=lantern",
            "text/plain",
            &lines,
            Framing::Lines,
            "@",
            "q=lantern",
        ),
    ];
    for (url, mime, frame, framing, path, sent) in cases {
        let answer = hits("lantern", "1");
        let entry = Entry { mime, answer: frame(&answer), ..get(url, &json!({})) };
        let recording = session(&[("q", "lantern")], &page_text(&answer), vec![entry]);
        let exchange = &recording.exchanges[0];
        assert_eq!(exchange.framing, Some(framing), "{mime}");
        // The choice is rank's business; here the only request is taken.
        let analysis = RecipeAnalysis {
            chosen: Choice {
                exchange: 0,
                second_exchange: None,
                source: DataSource::Json,
                response: response(exchange, DataSource::Json, &recording, None).unwrap(),
            },
            by: Analyst::Heuristic,
        };
        assert_eq!(analysis.chosen.response.extract.as_deref(), Some(path));
        let set = done(rank(&recording, &alone(), &RankingSettings::default()));
        assert_eq!(set.candidates[0].exchange, 0);
        let text = frame(&answer).replace("jQuery36_1763", "callback");
        let mut server = FakeReplayer::new(|_, _| Ok(reply(200, mime, text.clone())));
        let draft = done(block_on(run_validate(&mut server, &recording, &analysis)).unwrap());
        assert_eq!((draft.items, draft.compared), (Some(6), true));
        assert!(server.sent[0].1.url.contains(sent), "{}", server.sent[0].1.url);
        // The frame is gone: that is no answer.
        if framing == Framing::Jsonp {
            let mut server = FakeReplayer::new(|_, _| ok(&answer));
            let judged = block_on(run_validate(&mut server, &recording, &analysis)).unwrap();
            assert_eq!(rejected(judged).reason, Reason::ReplayFailed);
        }
    }
    // A program, and a call that the request did not name, are no data.
    for (url, text) in [
        ("http://shop.test/app.js?q=lantern", "start({\"hits\": [1]});"),
        ("http://shop.test/app.js?cb=start", "go();start({\"hits\": [1]});"),
    ] {
        let entry = Entry { mime: js, answer: text.to_owned(), ..get(url, &json!({})) };
        let recording = session(&[("q", "lantern")], "", vec![entry]);
        assert_eq!(
            (&recording.exchanges[0].framing, &recording.exchanges[0].excerpt),
            (&None, &None)
        );
    }
}

/// Whether a text holds the literal parts of a regular expression, in order.
fn like(text: &str, regex: &str) -> bool {
    if let Some((_, rest)) = regex.split_once("(?!.*")
        && text.contains(rest.trim_end_matches(')'))
    {
        return false;
    }
    let literal = ["\\s*", "\\d+", "\\d", "[^/]*"]
        .iter()
        .fold(regex.split("(?!").next().unwrap_or(regex).to_owned(), |it, any| it.replace(any, "*"))
        .replace('\\', "");
    let mut rest = text;
    literal.split(['*', '?', '^', '$', '(', ')', '[', ']', '|', '+']).all(|part| {
        let part = part.trim_matches('.');
        match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        }
    })
}

/// The list of the right answer is found in nine of ten real recordings.
#[test]
fn real_answers() {
    let Some(folder) = commis_base::testing::shared("realworld") else { return };
    let cases = std::fs::read_to_string(folder.join("cases.jsonl")).unwrap();
    let cases: Vec<Value> = cases.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    for case in cases.iter().filter(|it| it["expect"]["items_pointer"].is_string()) {
        let id = case["id"].as_str().unwrap();
        let har = std::fs::read(folder.join(case["har"].as_str().unwrap())).unwrap();
        let task = case["task"].as_str().unwrap();
        let mut raw = har::import(&har, task, BTreeMap::new()).unwrap().recording;
        let wanted = &case["expect"]["request"];
        let found = raw.exchanges.iter().position(|it| {
            let body = String::from_utf8_lossy(it.request_body.as_deref().unwrap_or_default());
            it.method == wanted["method"]
                && like(it.url.as_str(), wanted["url_regex"].as_str().unwrap())
                && wanted["body_regex"].as_str().is_none_or(|it| like(&body, it))
                && matches!(&it.body, RawBody::Captured(it) if !it.is_empty())
        });
        all += 1;
        let Some(at) = found else {
            wrong.push(format!("{id}: no exchange"));
            continue;
        };
        let RawBody::Captured(body) = &raw.exchanges[at].body else { continue };
        let text = String::from_utf8_lossy(body).into_owned();
        let mime = raw.exchanges[at].mime.clone();
        let Some(whole) = commis_recipe::framing::detect(&text, &mime, true) else {
            wrong.push(format!("{id}: no JSON"));
            continue;
        };
        let whole = whole.value;
        raw.exchanges = vec![raw.exchanges.swap_remove(at)];
        let recording = redact(raw, &RedactSettings::default()).recording;
        let exchange = &recording.exchanges[0];
        let path = response(exchange, DataSource::Json, &recording, None).unwrap().extract;
        let pointer = case["expect"]["items_pointer"].as_str().unwrap().trim_end_matches('/');
        let Some(expected) = whole.pointer(pointer).cloned() else {
            wrong.push(format!("{id}: the answer has no {pointer}"));
            continue;
        };
        let good = match &path {
            // A single value is in the whole answer.
            None => !expected.is_array() && !expected.is_object(),
            Some(path) => {
                let document = Document::from(&whole);
                let data = Query::compile(path).unwrap().search(&document).unwrap();
                data == expected || is_map_of(&expected, &data)
            }
        };
        if good {
            right += 1;
        } else {
            let best = ranked(&exchange.measures.lists, task);
            let best: Vec<_> = best.iter().take(2).map(|it| (&it.path, it.score_bp)).collect();
            wrong.push(format!("{id}: {path:?} instead of {pointer}; {best:?}"));
        }
    }
    eprintln!("real answers: the right list in {right} of {all}\n{}", wrong.join("\n"));
    assert!(right * 10 >= all * 9, "{right} of {all}");
}

/// The data are the objects of that map, in any order.
fn is_map_of(map: &Value, data: &Value) -> bool {
    let (Some(map), Some(data)) = (map.as_object(), data.as_array()) else { return false };
    let objects: Vec<&Value> = map.values().filter(|it| it.is_object()).collect();
    !data.is_empty() && objects.len() == data.len() && objects.iter().all(|it| data.contains(it))
}

#[test]
fn the_second_page_shows_what_the_first_lacks() {
    let page = |stock: &str, notes: &str| {
        format!(
            "<main><article><h1>Lamp</h1><dl><dt>Price</dt><dd>3 crowns</dd><dt>Town</dt><dd>Kiel</dd>{stock}</dl>{notes}</article></main>"
        )
    };
    let a = page("<dt>Stock</dt><dd>12 left</dd>", "<p>Made of brass.</p>");
    let b = page("", "<p>Made of copper.</p><p>Comes by ship.</p>");
    let blocks = blocks::find(&blocks::parse_bounded(&a).unwrap(), true, true);
    let spec = blocks.into_iter().find_map(|it| it.spec.filter(|it| it.single)).unwrap();
    let own = ResponseSpec { html: Some(spec), ..ResponseSpec::new(ResponseType::Html) };
    let seen = |other: &str| widen_by_pages(&own, a.as_bytes(), other.as_bytes()).html.unwrap();
    let it = seen(&b);
    assert_eq!(it.fields["text"], "p[]");
    assert_eq!(it.optional, ["stock"]);
    assert_eq!(Some(seen(&a)), own.html);
    assert_eq!(Some(seen("<p>Another page</p>")), own.html);
}
