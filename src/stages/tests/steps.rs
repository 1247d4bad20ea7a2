//! parameterize: requests whose values earlier answers gave, and those that only look like it.

use super::*;
use crate::request::template;
use commis_artifacts::{
    payloads::Reason,
    recording::{Header, ShownBlock},
};
use commis_recipe::{
    model::{BodyTemplate, ResponseSpec, ResponseType},
    steps::{Assembly, Choose, Step},
};

/// Weaves the last request of two sessions.
fn weave(
    first: &[(&str, &str)],
    second: &[(&str, &str)],
    entries: impl Fn(bool) -> Vec<Entry>,
) -> Judged<RecipeDraftMinimized> {
    let (a, b) = (session(first, "", entries(true)), session(second, "", entries(false)));
    let last = a.exchanges.len() as u32 - 1;
    let (request, slots) = template(&a.exchanges[last as usize]).unwrap();
    let second = Some(b.exchanges.len() as u32 - 1);
    let draft = RecipeDraft { exchange: last, second_exchange: second, request, slots, ..draft() };
    parameterize(&a, &driven(&b), &draft, &unchanged(&draft)).unwrap()
}

fn draft() -> RecipeDraft {
    let nothing =
        json!({"method": "GET", "url": "http://shop.test/", "allowed_domains": ["shop.test"]});
    RecipeDraft {
        exchange: 0,
        second_exchange: None,
        request: serde_json::from_value(nothing).unwrap(),
        slots: Vec::new(),
        response: ResponseSpec::new(ResponseType::Json),
        transport: TransportKind::PublicHttp,
        deterministic: true,
        captured_only: false,
        needs_login: false,
        carries: Vec::new(),
        compared: true,
        shape: Vec::new(),
        items: None,
        replays: Vec::new(),
    }
}

const A: &[(&str, &str)] = &[("crew", "North pier")];
const B: &[(&str, &str)] = &[("crew", "Dry dock")];

fn crews() -> Entry {
    let crew = |number: u32, name: &str, harbour: &str| json!({"number": number, "name": name, "harbour": {"name": harbour}});
    let all = [
        crew(8812, "South mole", "Norby"),
        crew(8813, "North pier", "Kalvik"),
        crew(8814, "Dry dock", "Kalvik"),
        crew(8815, "South mole", "Eskholm"),
    ];
    get("http://shop.test/api/crews", &json!({"crews": all}))
}

fn roster(number: u32) -> Entry {
    get(format!("http://shop.test/api/crews/{number}/roster"), &hits("watch", "1"))
}

fn one_of(is_first: bool, a: u32, b: u32) -> u32 {
    if is_first { a } else { b }
}

#[track_caller]
fn steps(it: Judged<RecipeDraftMinimized>) -> (Vec<Step>, RecipeDraftMinimized) {
    let it = done(it);
    (it.steps.clone(), it)
}

fn conditions(it: &Step) -> Vec<(String, String)> {
    match &it.choose {
        Some(Choose::Where(all)) => {
            all.iter().map(|it| (it.0.clone(), it.1.as_str().unwrap().to_owned())).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_item_of_that_name_gives_the_number() {
    let (steps, draft) =
        steps(weave(A, B, |first| vec![crews(), roster(one_of(first, 8813, 8814))]));
    assert_eq!(steps.len(), 1);
    assert_eq!((&*steps[0].name, steps[0].response.extract.as_deref()), ("crews", Some("crews")));
    assert_eq!(steps[0].request.url, "http://shop.test/api/crews");
    assert_eq!(conditions(&steps[0]), [("name".to_owned(), "{crew}".to_owned())]);
    assert_eq!(draft.request.url, "http://shop.test/api/crews/{crews.number}/roster");
    assert_eq!(draft.taken["crews.number"], "8813");
    assert_eq!(
        (&*draft.first["crew"], &*draft.second.unwrap()["crew"]),
        ("North pier", "Dry dock")
    );
}

#[test]
fn where_one_name_is_not_enough_another_typed_value_tells() {
    let a = &[("crew", "South mole"), ("harbour", "Eskholm")];
    let b = &[("crew", "South mole"), ("harbour", "Norby")];
    let (steps, _) = steps(weave(a, b, |first| vec![crews(), roster(one_of(first, 8815, 8812))]));
    let wanted = [("harbour.name", "{harbour}"), ("name", "{crew}")];
    assert_eq!(conditions(&steps[0]), wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn a_look_up_gives_what_the_detail_takes() {
    let found = |first: bool| one_of(first, 701, 702);
    let entries = |first: bool| {
        let q = if first { "q=North+pier" } else { "q=Dry+dock" };
        vec![
            get(
                format!("http://shop.test/api/find?{q}"),
                &json!({"best": {"id": found(first), "score": 1}}),
            ),
            post(
                "http://shop.test/api/detail",
                &json!({"wanted": {"id": found(first)}}),
                &hits("part", "1"),
            ),
        ]
    };
    let (steps, draft) = steps(weave(A, B, entries));
    assert_eq!((steps[0].request.query[0].value.as_str(), &steps[0].choose), ("{crew}", &None));
    assert_eq!(
        draft.request.body,
        Some(BodyTemplate::Json(json!({"wanted": {"id": "{find.best.id|number}"}})))
    );
}

#[test]
fn each_answer_leads_to_the_next() {
    let entries = |depth: u32| {
        move |first: bool| {
            let own = |n: u32| one_of(first, 5100, 6200) + n;
            let mut all = vec![get(
                format!(
                    "http://shop.test/find?q={}",
                    if first { "North+pier" } else { "Dry+dock" }
                ),
                &json!({"id": own(0)}),
            )];
            for n in 0..depth {
                let next = json!({"next": {"id": own(n + 1)}});
                all.push(get(format!("http://shop.test/level{n}/{}", own(n)), &next));
            }
            all.push(get(format!("http://shop.test/last/{}", own(depth)), &hits("x", "1")));
            all
        }
    };
    let (steps, draft) = steps(weave(A, B, entries(2)));
    let urls: Vec<&str> = steps.iter().map(|it| it.request.url.as_str()).collect();
    assert_eq!(
        urls,
        [
            "http://shop.test/find",
            "http://shop.test/level0/{find.id}",
            "http://shop.test/level1/{level0.next.id}"
        ]
    );
    assert_eq!(draft.request.url, "http://shop.test/last/{level1.next.id}");
    let Judged::Rejected(why) = weave(A, B, entries(3)) else { panic!() };
    assert_eq!(why.reason, Reason::SeveralCalls);
    assert!(why.detail.contains("more than four requests"), "{}", why.detail);
}

#[test]
fn what_looks_like_steps_and_is_one_request() {
    let search = |more: &str, first: bool| {
        let q = if first { "North+pier" } else { "Dry+dock" };
        get(format!("http://shop.test/api/search?q={q}{more}"), &hits("watch", "1"))
    };
    // The answer before holds what was typed, a constant that the request has, or what the page makes up.
    let cases: [&dyn Fn(bool) -> Vec<Entry>; 3] = [
        &|first| vec![crews(), search("", first)],
        &|first| vec![crews(), search("&list=8815", first)],
        &|first| {
            let at = one_of(first, 0, 5000);
            vec![
                get("http://shop.test/api/now", &json!({"server": "up"})),
                search(&format!("&rid={}", 1_762_300_000 + u64::from(at)), first),
            ]
        },
    ];
    for entries in cases {
        let (steps, draft) = steps(weave(A, B, entries));
        assert!(steps.is_empty() && draft.taken.is_empty());
        assert_eq!(draft.request.query[0].value, "{crew}");
    }
    // An item that nothing typed names: taken by a rule that nobody knows.
    let entries = |first: bool| vec![crews(), roster(one_of(first, 8812, 8815))];
    let Judged::Rejected(why) = weave(A, B, entries) else { panic!() };
    assert_eq!(why.reason, Reason::SeveralCalls);
}

/// Boats of a crew by numbers that say nothing.
fn boats(first: bool, count: usize) -> Vec<String> {
    let start = if first { 0 } else { 40 };
    (0..count).map(|it| format!("b{:05}", 70_001 + (start + it) * 37)).collect()
}

/// A list of boats by crew, then one call with the numbers of `sent`.
fn fleet(first: bool, (count, sent): (usize, &[String]), separator: &str) -> Vec<Entry> {
    let q = if first { "North+pier" } else { "Dry+dock" };
    let all: Vec<Value> =
        boats(first, count).iter().map(|it| json!({"no": it, "berth": 3})).collect();
    vec![
        get(format!("http://shop.test/api/boats?crew={q}"), &json!({"boats": all})),
        get(
            format!("http://shop.test/api/positions?boats={}", sent.join(separator)),
            &hits("position", "1"),
        ),
    ]
}

#[test]
fn the_items_of_a_list_go_into_one_request() {
    let of = |counts: (usize, usize), separator: &'static str, take: usize| {
        weave(A, B, move |first| {
            let count = if first { counts.0 } else { counts.1 };
            let sent = boats(first, count.min(take));
            fleet(first, (count, &sent), separator)
        })
    };
    for (separator, sent) in [(",", ","), ("|", "|"), ("%20", " "), ("%2C", ",")] {
        let (steps, draft) = steps(of((3, 5), separator, 100));
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].choose, Some(Choose::All(sent.to_owned())));
        assert_eq!(steps[0].response.extract.as_deref(), Some("boats"));
        assert_eq!(steps[0].request.query[0].value, "{crew}");
        assert_eq!(draft.request.query[0].value, "{boats.no}");
    }
    // The first three, where there are so many.
    for counts in [(5, 4), (2, 7), (9, 3)] {
        let (steps, _) = steps(of(counts, ",", 3));
        assert_eq!(steps[0].response.extract.as_deref(), Some("boats[:3]"), "{counts:?}");
    }
}

#[test]
fn what_looks_like_all_items_and_is_not() {
    let rejected = |entries: &dyn Fn(bool) -> Vec<Entry>| {
        let Judged::Rejected(why) = weave(A, B, entries) else { panic!() };
        assert_eq!(why.reason, Reason::SeveralCalls);
    };
    // In another order, without one in the middle, and of one example three and of the other four.
    rejected(&|first| {
        let mut sent = boats(first, 4);
        sent.reverse();
        fleet(first, (4, &sent), ",")
    });
    rejected(&|first| {
        let mut sent = boats(first, 4);
        sent.remove(1);
        fleet(first, (4, &sent), ",")
    });
    rejected(&|first| fleet(first, (6, &boats(first, 3 + usize::from(first))), ","));
    // Typed by the user: one request, though the page's list holds the values.
    let typed = |first: bool| boats(first, 4).join(",");
    let (a, b) = (typed(true), typed(false));
    let (first, second) = ([("boats", a.as_str())], [("boats", b.as_str())]);
    let entries = |first: bool| {
        let mut all = fleet(first, (4, &boats(first, 4)), ",");
        all[0] = get("http://shop.test/api/boats", &json!({"boats": boats(first, 4)}));
        all
    };
    let (steps, draft) = steps(weave(&first, &second, entries));
    assert!(steps.is_empty());
    assert_eq!(draft.request.query[0].value, "{boats}");
}

#[test]
fn who_i_am_is_asked_first() {
    // The account's number is the same in both examples: nobody typed it, and another login has another.
    let entries = |word: &str, with_me: bool| {
        let me = get("http://shop.test/api/me", &json!({"user": {"id": 48_151, "name": "ada"}}));
        let orders =
            get(format!("http://shop.test/api/users/48151/orders?q={word}"), &hits(word, "1"));
        let mut all = vec![orders];
        if with_me {
            all.insert(0, me);
        }
        all
    };
    let learned = |with_me: bool| {
        let recorded = |word: &str| {
            let mut it = session(&[("q", word)], "", entries(word, with_me));
            it.login_site = Some("shop.test".to_owned());
            it
        };
        let (a, b) = (recorded("lamp"), recorded("rope"));
        let last = a.exchanges.len() as u32 - 1;
        let (request, slots) = template(&a.exchanges[last as usize]).unwrap();
        let draft =
            RecipeDraft { exchange: last, second_exchange: Some(last), request, slots, ..draft() };
        parameterize(&a, &driven(&b), &draft, &unchanged(&draft)).unwrap()
    };
    let (steps, draft) = steps(learned(true));
    assert_eq!(steps[0].request.url, "http://shop.test/api/me");
    assert_eq!(draft.request.url, "http://shop.test/api/users/{me.user.id}/orders");
    assert!(done(learned(false)).steps.is_empty());
}

#[test]
fn a_script_packs_the_codes_of_names() {
    let table = "window.piers = 'NP:North pier|DD:Dry dock|SM:South mole|SM2:South mole';";
    let entries = |first: bool| {
        let code = if first { "NP" } else { "DD" };
        let script = Entry {
            mime: "text/javascript",
            answer: table.to_owned(),
            ..get("http://shop.test/piers.js", &json!(null))
        };
        vec![script, get(format!("http://shop.test/api/at?pier={code}"), &hits("watch", "1"))]
    };
    let (steps, draft) = steps(weave(A, B, entries));
    assert_eq!(steps[0].response.extract.as_deref(), Some("\"window.piers\""));
    assert_eq!(conditions(&steps[0]), [("1".to_owned(), "{crew}".to_owned())]);
    assert_eq!(draft.request.query[0].value, "{piers.0}");
    // A code that the script gives to another name.
    let other = |first: bool| {
        let mut all = entries(first);
        all[1].url = all[1].url.replace("NP", "SM").replace("DD", "SM2");
        all
    };
    let Judged::Rejected(why) = weave(A, B, other) else { panic!() };
    assert_eq!(why.reason, Reason::SeveralCalls);
}

#[test]
fn a_page_and_a_header_give_values_where_both_examples_agree() {
    let word = |first: bool| if first { "North+pier" } else { "Dry+dock" };
    let number = |first: bool| one_of(first, 70_113, 70_446);
    let roster =
        |first: bool| get(format!("http://shop.test/api/r/{}", number(first)), &hits("watch", "1"));
    let page = |first: bool| {
        let html = format!(
            "<html><body><h1>Crew</h1><p>Seen 70999 times</p><div id=\"crew\" data-crew=\"{}\">{}</div></body></html>",
            number(first),
            word(first)
        );
        Entry {
            mime: "text/html",
            answer: html,
            ..get(format!("http://shop.test/crew?q={}", word(first)), &json!(null))
        }
    };
    let learned = |mut recordings: [SessionRecording; 2]| {
        for (it, number) in recordings.iter_mut().zip(["70113", "70446"]) {
            let header = |name: &str, value: String| Header { name: name.to_owned(), value };
            let asked = &mut it.exchanges[0];
            asked.response_headers.push(header("x-version", "70113".to_owned()));
            if asked.mime != "text/html" {
                asked.response_headers.push(header("x-roster", format!("/r/{number}")));
            }
        }
        let [a, b] = recordings;
        let (request, slots) = template(&a.exchanges[1]).unwrap();
        let draft =
            RecipeDraft { exchange: 1, second_exchange: Some(1), request, slots, ..draft() };
        steps(parameterize(&a, &driven(&b), &draft, &unchanged(&draft)).unwrap())
    };
    let shown = |typed, first| {
        let entries = vec![page(first), roster(first)];
        session(typed, &format!("Crew\nSeen 70999 times\n{}", word(first)), entries)
    };
    let (found, woven) = learned([shown(A, true), shown(B, false)]);
    let between = found[0].response.between.as_ref().unwrap();
    assert_eq!((&*between.after, &*between.until), ("data-crew=\"", "\""));
    assert_eq!(found[0].request.query[0].value, "{crew}");
    assert_eq!(woven.request.url, "http://shop.test/api/r/{crew_2}");

    let start = |first: bool| {
        let url = format!("http://shop.test/api/open?q={}", word(first));
        Entry { headers: vec![("x-made", "1")], ..get(url, &json!({"ok": true})) }
    };
    let sent = |typed, first| session(typed, "", vec![start(first), roster(first)]);
    let (found, _) = learned([sent(A, true), sent(B, false)]);
    assert_eq!(found[0].response.header.as_deref(), Some("x-roster"));
    assert_eq!(found[0].response.between.as_ref().unwrap().after, "/r/");
}

#[test]
fn a_member_that_is_called_as_typed_has_the_address() {
    let a = &[("number", "71"), ("size", "small")];
    let b = &[("number", "82"), ("size", "Large")];
    let address = |number: u32, size: &str| {
        let seal = if number == 71 { "9f2ac01b77d3" } else { "51b0ce9d4ae8" };
        format!("//files.shop.test/{number}/{size}.png?nth={}&seal={seal}{size}", number - 70)
    };
    let entries = |first: bool| {
        let (number, size) = if first { (71, "small") } else { (82, "large") };
        let links = json!({"small": address(number, "small"), "large": address(number, "large")});
        let asked = format!("http:{}", address(number, size));
        vec![
            get(
                format!("http://shop.test/poster/{number}.json"),
                &json!({"title": "x", "links": links}),
            ),
            get(asked, &hits("poster", "1")),
        ]
    };
    let (steps, draft) = steps(weave(a, b, entries));
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].request.url, "http://shop.test/poster/{number}.json");
    assert_eq!(steps[0].response.extract.as_deref(), Some("links"));
    assert_eq!(steps[0].choose, Some(Choose::Key("{size}".to_owned())));
    let request = &draft.request;
    assert_eq!(request.address.as_deref(), Some("{poster}"));
    assert_eq!((&*request.url, request.query.len()), ("http://files.shop.test/", 0));
}

/// A member's record and what else is asked for beside it.
fn member(first: bool, other: &str, shown: &[(&str, &str)]) -> SessionRecording {
    let name = if first { "Aster" } else { "Brook" };
    let own = |a: &'static str, b: &'static str| if first { a } else { b };
    let at = |path: &str| format!("http://shop.test/api/{path}?name={name}");
    let entries = vec![
        get(at("likes"), &json!({"likes": own("Sea buckthorn", "Bog myrtle")})),
        get(
            other.replace("{name}", name),
            &json!({"ayes": own("807", "693"), "last": own("2025-12-19", "2024-03-18")}),
        ),
        get(
            at("member"),
            &json!({"office": own("Luminous Engine", "Zesty Compass"), "seat": own("362", "305")}),
        ),
    ];
    let mut it = session(&[("name", name)], "", entries);
    it.task = "Show office, seat and votes of the member".to_owned();
    it.page.shown = vec![ShownBlock {
        fields: shown.iter().map(|it| it.0.to_owned()).collect(),
        rows: vec![shown.iter().map(|it| Some(it.1.to_owned())).collect()],
        count: 1,
        is_record: true,
        weight: 90,
        ..ShownBlock::default()
    }];
    it
}

#[test]
fn what_one_answer_lacks_another_one_gives() {
    let votes = "http://shop.test/api/votes?name={name}";
    let rows = |office, seat, ayes, last| {
        [
            ("title", "Members"),
            ("office", office),
            ("seat", seat),
            ("votes_for", ayes),
            ("last_vote", last),
        ]
    };
    let learn = |other: &str, ayes: (&'static str, &'static str)| {
        let a = member(true, other, &rows("Luminous Engine", "362", ayes.0, "2025-12-19"));
        let b = member(false, other, &rows("Zesty Compass", "305", ayes.1, "2024-03-18"));
        let (request, slots) = template(&a.exchanges[2]).unwrap();
        let draft =
            RecipeDraft { exchange: 2, second_exchange: Some(2), request, slots, ..draft() };
        done(parameterize(&a, &driven(&b), &draft, &unchanged(&draft)).unwrap())
    };
    let it = learn(votes, ("807", "693"));
    let Some(Assembly::Output(output)) = &it.assembly else { panic!("{:?}", it.assembly) };
    assert_eq!(output.expression, "{member: member, votes: votes}");
    // What the page does not show is not asked for, and what the site may not have is not demanded.
    assert_eq!(
        it.steps.iter().map(|it| (&*it.name, it.optional)).collect::<Vec<_>>(),
        [("votes", true)]
    );
    assert_eq!(it.steps[0].request.query[0].value, "{name}");
    // It is asked for by a value of the chosen answer.
    let detail = |first: bool, asked: u32, rows: &[(&str, &str)]| {
        let mut it = member(first, votes, rows);
        let number = one_of(first, 40_411, 51_322);
        let own = |a: &'static str, b: &'static str| if first { a } else { b };
        let name = own("Aster", "Brook");
        let body = json!({"office": own("Luminous Engine", "Zesty Compass"), "seat": own("362", "305"), "number": number});
        let member = get(format!("http://shop.test/api/member?name={name}"), &body);
        let ayes = json!({"ayes": own("807", "693"), "last": own("2025-12-19", "2024-03-18")});
        let entries = vec![member, get(format!("http://shop.test/api/tally/{asked}"), &ayes)];
        it.exchanges = session(&[("name", name)], "", entries).exchanges;
        it
    };
    let by_number = |asked: (u32, u32)| {
        let a = detail(true, asked.0, &rows("Luminous Engine", "362", "807", "2025-12-19"));
        let b = detail(false, asked.1, &rows("Zesty Compass", "305", "693", "2024-03-18"));
        let (request, slots) = template(&a.exchanges[0]).unwrap();
        let draft = RecipeDraft { second_exchange: Some(0), request, slots, ..draft() };
        done(parameterize(&a, &driven(&b), &draft, &unchanged(&draft)).unwrap())
    };
    let it = by_number((40_411, 51_322));
    let Some(Assembly::Output(output)) = &it.assembly else { panic!("{:?}", it.assembly) };
    assert_eq!(output.expression, "{member: member, tally: tally}");
    assert_eq!(it.request.url, "http://shop.test/api/tally/{member.number}");
    assert_eq!((it.steps.len(), it.steps[0].optional), (1, false));
    assert!(by_number((40_411, 51_323)).assembly.is_none());
    // The other one is asked for something else than the input, or the page shows more than both say.
    assert_eq!(learn("http://shop.test/api/votes?name={name}&n=7", ("807", "693")).steps.len(), 1);
    assert!(learn("http://shop.test/api/votes?of=all", ("807", "693")).assembly.is_none());
    assert!(
        learn(votes, ("over eight hundred in two sittings of the house", "under seven hundred"))
            .assembly
            .is_none()
    );
}
