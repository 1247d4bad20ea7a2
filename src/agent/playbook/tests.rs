//! Conditions, playbooks and the shelf that they are on.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{registry::Source, *};
use commis_base::settings::Home;

fn seen(url: &str, title: &str, content: &str) -> PageView {
    PageView { url: url.to_owned(), title: title.to_owned(), content: content.to_owned() }
}

fn act(name: &str, arguments: Value) -> Action {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    Action { name: name.to_owned(), arguments }
}

fn condition(yaml: &str) -> Condition {
    serde_saphyr::from_str(yaml).unwrap()
}

/// The smallest that there is, with lines instead of others or more.
fn text(lines: &[&str]) -> String {
    let base = [
        "version: 1",
        "name: small",
        "task: Look",
        "url: https://shop.example/a",
        "goal: Look.",
        "success: [{text: found}]",
    ];
    let mut out = String::new();
    let key = |it: &str| it.split(':').next().unwrap_or_default().to_owned();
    for line in base.iter().filter(|it| !lines.iter().any(|line| key(line) == key(it))).chain(lines)
    {
        writeln!(out, "{line}").unwrap();
    }
    out
}

fn book(lines: &[&str]) -> Playbook {
    parse(&text(lines)).unwrap()
}

fn given(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The conditions of seed 002, 2.5.3, as data.
const STREAMING: &[&str] = &[
    "checkpoints:",
    "  - text: [finish, cancel]",
    "  - url: /confirm",
    "  - url: /cancelplan",
    "  - {action: click, target: finish}",
    "  - {action: click, target: confirm}",
    "  - {action: click, target: complete}",
];

#[test]
fn ac_5_1_an_action_is_stopped_before_it_is_done() {
    let book = book(&[&STREAMING.join("\n")]);
    let account = seen(
        "https://tv.example/account",
        "Account",
        "@e1 link \"Cancel Membership\"\n@e2 button \"Weiter\"\n@e3 button \"COMPLETE\"",
    );
    let last = seen("https://tv.example/cancel", "Cancel", "button \"Finish Cancellation\"");
    let click = |target: &str| act("click", json!({ "target": target }));
    let playwright = |element: &str, target: &str| {
        act("browser_click", json!({ "element": element, "ref": target }))
    };
    for (act, seen, want) in [
        (click("link \"Cancel Membership\""), &account, None),
        (click("@e2"), &account, None),
        (click("button \"Finish\""), &account, Some(3)),
        // Under a ref, and whatever the model calls it.
        (click("@e3"), &account, Some(5)),
        (playwright("Weiter", "e3"), &account, Some(5)),
        (playwright("Complete purchase", "e2"), &account, Some(5)),
        (act("fill", json!({ "target": "@e3", "value": "finish" })), &account, None),
        (act("click", json!({})), &account, None),
        (act("snapshot", json!({})), &last, Some(0)),
        (
            click("@e1"),
            &PageView { url: "https://tv.example/Confirm?a".to_owned(), ..account.clone() },
            Some(1),
        ),
        (
            click("@e1"),
            &PageView { url: "https://tv.example/cancelPlan".to_owned(), ..account.clone() },
            Some(2),
        ),
    ] {
        assert_eq!(book.stops(&act, seen), want.map(|it: usize| &book.checkpoints[it]), "{act:?}");
    }
}

#[test]
fn all_of_a_condition_must_hold() {
    let page = seen(
        "https://shop.example/Orders/7?a=b",
        "Order  placed – Shop",
        "heading \"Danke für Ihre\u{a0}Bestellung\" [level 1]\n@e1 link \"Über uns\"\n\"Order\u{200b} placed: R-1001\"",
    );
    let click = act("browser_click", json!({ "element": "Über uns" }));
    for (yaml, without, with) in [
        ("url: /orders/", true, true),
        ("url: [shop.example, a=b]", true, true),
        ("url: [shop.example, other.example]", false, false),
        ("title: order placed", true, true),
        ("title: 'placed - shop'", true, true),
        ("text: DANKE FUR IHRE BESTELLUNG", true, true),
        ("text: 'order placed: r-'", true, true),
        ("text: über uns", true, true),
        // Lines are one text.
        ("text: \"bestellung\\\" [level 1] @e1\"", true, true),
        ("text: not there", false, false),
        ("{url: /orders, title: placed, text: danke}", true, true),
        ("{url: /orders, title: placed, text: gone}", false, false),
        ("{url: /nowhere, title: placed, text: danke}", false, false),
        ("action: click", false, true),
        ("action: fill", false, false),
        ("target: uber uns", false, true),
        ("{action: click, target: [uber, uns]}", false, true),
        ("{action: click, target: [uber, ihnen]}", false, false),
        ("{action: click, url: /nowhere}", false, false),
        ("{}", false, false),
    ] {
        let it = condition(yaml);
        assert_eq!(it.matches(&page, None), without, "{yaml}");
        assert_eq!(it.matches(&page, Some(&click)), with, "{yaml} {click:?}");
    }
    assert!(!condition("text: x").matches(&PageView::default(), None));
    let shown = condition("{text: [a, \"b\\u001b\"], url: /c}").to_string();
    assert_eq!(shown, r#"url "/c" and text "a", "b\u{1b}""#);
}

#[test]
fn a_page_that_says_both_has_failed() {
    let it = book(&[
        "success: [{title: cancelled}, {text: membership ends}, {url: /cancelsuccess}]",
        "failure: [{url: error}, {text: something went wrong}]",
    ]);
    let page = |url: &str, title: &str, content: &str| {
        let seen = seen(&format!("https://tv.example{url}"), title, content);
        match it.outcome(&seen) {
            PageOutcome::Succeeded(which) => format!("succeeded: {which}"),
            PageOutcome::Failed(which) => format!("failed: {which}"),
            PageOutcome::Neither => "neither".to_owned(),
        }
    };
    for (url, title, content, want) in [
        ("/a", "Cancelled", "", "succeeded: title \"cancelled\""),
        ("/a", "", "Your membership ends on", "succeeded: text \"membership ends\""),
        ("/CancelSuccess", "", "", "succeeded: url \"/cancelsuccess\""),
        ("/a", "Account", "Cancel membership", "neither"),
        ("/error", "Cancelled", "membership ends", "failed: url \"error\""),
        ("/a", "Cancelled", "Something went wrong", "failed: text \"something went wrong\""),
    ] {
        assert_eq!(page(url, title, content), want);
    }
}

#[test]
fn values_go_where_braces_are() {
    let it = book(&[
        "task: Find {query} in {place|upper}",
        "url: https://shop.example/{place}/search?q={query}",
        "goal: 'Find {query}, {{literally}}.'",
        "success: [{text: ['results for {query}', '{{']}]",
        "failure: [{title: 'no {query}'}]",
        "checkpoints: [{url: '/{place}', target: order}]",
    ]);
    assert_eq!(it.parameters().into_iter().collect::<Vec<_>>(), ["place", "query"]);
    let full = it.with_values(&given(&[("query", "red & {hat}"), ("place", "a/b?c#d")])).unwrap();
    assert_eq!(full.task, "Find red & {hat} in A/B?C#D");
    assert_eq!(full.url, "https://shop.example/a%2Fb%3Fc%23d/search?q=red%20%26%20%7Bhat%7D");
    assert_eq!(full.goal, "Find red & {hat}, {literally}.");
    assert_eq!(full.success[0].to_string(), "text \"results for red & {hat}\", \"{\"");
    assert_eq!(full.failure[0].to_string(), "title \"no red & {hat}\"");
    assert_eq!(full.checkpoints[0].to_string(), "url \"/a/b?c#d\" and target \"order\"");
    let page = seen("https://shop.example", "", "7 results for Red & {Hat} {");
    assert_eq!(full.outcome(&page), PageOutcome::Succeeded(&full.success[0]));
    assert_eq!(it.outcome(&page), PageOutcome::Neither, "one that is not filled believes nothing");

    let check = |values: &[(&str, &str)], message: &str, hint: &str| {
        let err = it.with_values(&given(values)).unwrap_err();
        assert_eq!(err.code(), Code::ParamInvalid);
        assert!(err.message().contains(message), "{err}");
        assert!(err.hint_text().unwrap_or_default().contains(hint), "{err} {:?}", err.hint_text());
    };
    check(&[("query", "a")], "needs a value for `place`", "-p place=VALUE");
    check(&[], "needs a value for `place`", "");
    check(
        &[("query", "a"), ("place", "b"), ("colour", "c")],
        "has no parameter `colour`",
        "place, query",
    );
    for value in ["", "  ", "a\u{1b}[31m", "a\nb", "a\u{202e}b", &"x".repeat(201)] {
        check(&[("query", value), ("place", "b")], "the value of `query`", "");
    }
    for value in [".", ".."] {
        check(&[("query", "a"), ("place", value)], "make no address", "");
    }
    let none = book(&[]);
    assert_eq!(none.with_values(&BTreeMap::new()).unwrap(), none);
    let err = none.with_values(&given(&[("a\u{1b}b", "c")])).unwrap_err();
    assert!(
        err.message().contains("no parameter `ab`") && err.hint_text() == Some("it takes none")
    );
}

#[test]
fn reads_and_changes_are_of_its_hosts_and_no_others() {
    let it = book(&[
        "url: https://shop.example/account",
        "hosts: [pay.example]",
        "reads: [/account/cancel*, /pay/**]",
        "changes:",
        "  - {method: POST, path: /account/cancel}",
        "  - {method: DELETE, path: /card/*, host: pay.example, most: 2}",
        "  - {method: GET, path: '/account/cancel?now=1'}",
    ]);
    let url = |it: &str| Url::parse(it).unwrap();
    for (at, want) in [
        ("https://shop.example/account/cancel", true),
        ("https://shop.example/account/cancel?from=menu", true),
        ("https://pay.example/account/cancelled", true),
        ("https://pay.example/pay/a/b?c=d/e", true),
        // It changes something.
        ("https://shop.example/account/cancel?now=1", false),
        ("https://pay.example/account/cancel?now=1", true),
        ("https://shop.example/account/cancel/confirm", false),
        ("https://shop.example/account/cancel/../cancel/x", false),
        ("https://shop.example/ACCOUNT/cancel", false),
        ("https://shop.example/account/%63ancel", false),
        ("https://evil.example/account/cancel", false),
        ("https://shop.example.evil.example/account/cancel", false),
        ("data:/account/cancel", false),
    ] {
        assert_eq!(it.is_page(&url(at)), want, "{at}");
    }
    for (method, at, want) in [
        ("POST", "https://shop.example/account/cancel", Some(1)),
        ("POST", "https://shop.example:8443/account/cancel", Some(1)),
        ("POST", "https://shop.example/account/cancel?x=1", None),
        ("post", "https://shop.example/account/cancel", None),
        ("PUT", "https://shop.example/account/cancel", None),
        ("POST", "https://pay.example/account/cancel", None),
        ("POST", "https://evil.example/account/cancel", None),
        ("DELETE", "https://pay.example/card/7", Some(2)),
        ("DELETE", "https://shop.example/card/7", None),
        ("GET", "https://shop.example/account/cancel?now=1", Some(1)),
        ("GET", "https://shop.example/account/cancel", None),
    ] {
        assert_eq!(it.change(method, &url(at)).map(|it| it.most), want, "{method} {at}");
    }
    let hosts: Vec<String> = it.all_hosts().into_iter().collect();
    assert_eq!(hosts, ["pay.example", "shop.example"]);
    let with = book(&["url: 'https://shop.example/{a}'", "hosts: [shop.example]"]);
    assert_eq!(with.all_hosts().len(), 1);
}

#[test]
fn what_is_wrong_is_refused_and_said() {
    let many = |key: &str, it: &str| format!("{key}: [{}]", vec![it; 33].join(", "));
    for (lines, says) in [
        (&["version: 2"][..], "has version 2"),
        (&["version: one"], "does not parse"),
        (&["name: A b"], "does not parse"),
        (&["name: ../x"], "does not parse"),
        (&["task: ' '"], "task must have"),
        (&[&format!("task: {}", "x".repeat(501))], "task must have"),
        (&["task: 'Find {Query}'"], "task: the template"),
        (&["goal: '}'"], "goal: the template"),
        (&["goal: \"a\\u001b[2J\""], "goal holds a character"),
        (&["notes: \"a\\u202eb\""], "notes holds a character"),
        (&["url: /a"], "not an http or https address"),
        (&["url: ftp://a.example/"], "not an http or https address"),
        (&["url: javascript:alert(1)"], "not an http or https address"),
        (&["url: https://:pw@a.example/"], "not an http or https address"),
        (&["url: https://me:pw@a.example/"], "not an http or https address"),
        (&["url: 'https://{host}/'"], "values may be in path"),
        (&["url: 'https://a.example{host}/'"], "values may be in path"),
        (&["url: 'https://{who}@a.example/'"], "not an http or https address"),
        (&["url: 'https://a.example:{port}/'"], "not an http or https address"),
        (&["url: 'http{s}://a.example/'"], "not an http or https address"),
        (&["hosts: [A.example]"], "not the name of a host"),
        (&["hosts: ['a.example:80']"], "not the name of a host"),
        (&["hosts: ['https://a.example']"], "not the name of a host"),
        (&["hosts: ['*.example']"], "not the name of a host"),
        (&["hosts: ['']"], "not the name of a host"),
        (&[&many("hosts", "a.example")], "hosts has more than 32"),
        (&["reads: [account]"], "does not begin with a slash"),
        (&["reads: ['']"], "reads must have"),
        (&["changes: [{method: POST, path: 'https://a.example/'}]"], "does not begin with a slash"),
        (&["changes: [{method: HEAD, path: /}]"], "does not parse"),
        (&["changes: [{method: POST, path: /, most: 0}]"], "most is 1 to 20"),
        (&["changes: [{method: POST, path: /, most: 21}]"], "most is 1 to 20"),
        (&["changes: [{method: POST, path: /, most: -1}]"], "does not parse"),
        (&["changes: [{method: POST, path: /, host: b.example}]"], "not among the hosts"),
        (&["changes: [{method: POST, path: /, body: x}]"], "unknown field"),
        (&["amount: {most: 50, currency: eur}"], "three capital letters"),
        (&["amount: {most: 50}"], "does not parse"),
        (&["amount: {most: '1,50', currency: EUR}"], "does not parse"),
        (&["amount: {most: -5, currency: EUR}"], "does not parse"),
        (&["success: []"], "success is empty"),
        (&["success: [{}]"], "always holds"),
        (&["success: [{text: a}]"], "success: text must have 2"),
        (&["success: [{text: ''}]"], "success: text must have 2"),
        (&["success: [{text: '   '}]"], "success: text must have 2"),
        (&["success: [{text: \"a\\u200b\"}]"], "two characters or more"),
        (&["success: [{text: []}]"], "text has 1 to 32"),
        (&["success: [{text: [ok, [ok]]}]"], "does not parse"),
        (&["success: [{text: {contains: ok}}]"], "a text or a list of texts"),
        (&["success: [{text: 12}]"], "a text or a list of texts"),
        (&["success: [{text: ok, script: 'return true'}]"], "unknown field"),
        (&["success: [{text: ok, action: click}]"], "for checkpoints alone"),
        (&["failure: [{target: ok}]"], "for checkpoints alone"),
        (&["success: [{text: '{a'}]"], "success: text: the template"),
        (&["checkpoints: [{}]"], "always holds"),
        (&[&many("failure", "{text: ok}")], "failure has more than 32"),
        (&["steps: [{click: ok}]"], "unknown field"),
        (&["success: [{text: ok}]", "success: [{text: no}]"], "does not parse"),
    ] {
        let err = parse(&text(lines)).expect_err(says);
        assert_eq!(err.code(), Code::PlaybookInvalid, "{lines:?}");
        assert!(err.message().contains(says), "{lines:?}: {err}");
        assert!(!err.message().chars().any(char::is_control), "{lines:?}: {err}");
    }
    for needed in ["version", "name", "task", "url", "goal", "success"] {
        let all = text(&[]);
        let less: Vec<&str> = all.lines().filter(|it| !it.starts_with(needed)).collect();
        let err = parse(&less.join("\n")).unwrap_err();
        assert!(err.message().contains(needed), "{needed}: {err}");
    }
}

#[test]
fn hostile_files_are_refused_in_time() {
    let deep =
        |open: &str, close: &str| format!("notes: {}{}", open.repeat(5000), close.repeat(5000));
    let laughs =
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nhosts: [*b,*b,*b,*b,*b,*b,*b]";
    for (what, yaml) in [
        ("huge", text(&[&format!("notes: {}", "x".repeat(70_000))])),
        ("long", format!("{}# {}", text(&[]), "x".repeat(70_000))),
        ("many", text(&[&format!("hosts: [{}]", "a,".repeat(20_000))])),
        ("deep lists", text(&[&deep("[", "]")])),
        ("deep maps", text(&[&deep("{a: ", "}")])),
        (
            "deep blocks",
            text(&[&format!(
                "notes:\n{}",
                (1..200).fold(String::new(), |it, n| it + &" ".repeat(n) + "- a:\n")
            )]),
        ),
        ("aliases", text(&[laughs])),
        ("an anchor", text(&["notes: &a x"])),
        ("a merge", text(&["<<: {notes: x}"])),
        ("two documents", format!("{}---\n{}", text(&[]), text(&[]))),
        ("a control character", text(&["notes: a\u{1b}[2Jb"])),
        ("a zero", text(&["notes: a\0b"])),
        ("a bidi mark", text(&["task: pay\u{202e}100"])),
        ("a list", "- a\n- b".to_owned()),
        ("nothing", String::new()),
        ("a word", "playbook".to_owned()),
        ("no yaml", "{{{".to_owned()),
        ("a tab", "version:\n\t- 1".to_owned()),
    ] {
        let err = parse(&yaml).expect_err(what);
        assert_eq!(err.code(), Code::PlaybookInvalid, "{what}");
        assert!(
            err.message().len() < 500 && !err.message().chars().any(char::is_control),
            "{what}: {err}"
        );
    }
}

fn home(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::find(Some(folder.path())).unwrap();
    if !files.is_empty() {
        let dir = commis_base::files::open_or_create(&home.playbooks).unwrap();
        for (name, bytes) in files {
            dir.write(name, bytes).unwrap();
        }
    }
    (folder, home)
}

#[test]
fn ac_6_1_a_playbook_is_found_by_name() {
    let (_kept, none) = home(&[]);
    let it = load(&none, "cancel-membership").unwrap();
    assert_eq!((it.name.as_str(), &*it.url), ("cancel-membership", "http://club.test/account"));
    assert!(!it.success.is_empty() && !it.failure.is_empty() && !it.checkpoints.is_empty());

    let own = text(&["name: look-up", "task: Mine"]);
    let files: [(&str, &[u8]); 6] = [
        ("look-up.yaml", own.as_bytes()),
        ("small.yaml", text(&[]).leak().as_bytes()),
        ("broken.yaml", b"version: 7"),
        ("other.yaml", text(&["name: small"]).leak().as_bytes()),
        ("Not a name.yaml", b"x"),
        ("notes.txt", b"x"),
    ];
    let (_kept, home) = home(&files);
    assert_eq!(load(&home, "look-up").unwrap().task, "Mine", "the user's stands before");
    assert_eq!(load(&home, "small").unwrap().task, "Look");
    assert_eq!(load(&home, "order-again").unwrap().name.as_str(), "order-again");
    for (name, says) in [("broken", "broken.yaml: "), ("other", "called `small` inside")] {
        let err = load(&home, name).unwrap_err();
        assert!(err.code() == Code::PlaybookInvalid && err.message().contains(says), "{err}");
    }
    let listed: Vec<String> = all(&home)
        .unwrap()
        .iter()
        .map(|it| {
            let whose = if it.source == Source::User { "user" } else { "built in" };
            assert_eq!(it.path.is_some(), it.source == Source::User);
            format!("{} {whose} {}", it.name, it.playbook.is_ok())
        })
        .collect();
    assert_eq!(
        listed,
        [
            "broken user false",
            "cancel-membership built in true",
            "look-up user true",
            "order-again built in true",
            "other user false",
            "small user true"
        ]
    );
}

#[test]
fn ac_6_2_an_unknown_playbook_says_which_there_are() {
    let (_kept, home) = home(&[("mine.yaml", b"wrong"), ("Not a name.yaml", b"x")]);
    for name in ["netflix", "../mine", "mine.yaml", "", "MINE", "a\u{1b}[2J"] {
        let err = load(&home, name).unwrap_err();
        assert_eq!(err.code(), Code::PlaybookNotFound, "{name}");
        assert!(!err.message().contains('\u{1b}'));
        let hint = err.hint_text().unwrap();
        assert_eq!(hint, "there are cancel-membership, look-up, mine, order-again");
    }
    let long = [
        ("long.yaml", text(&["name: long", &format!("# {}", "x".repeat(70_000))]).into_bytes()),
        ("odd.yaml", vec![0xff, 0xfe]),
    ];
    let long: Vec<(&str, &[u8])> = long.iter().map(|(name, it)| (*name, &**it)).collect();
    let (_kept, home) = self::home(&long);
    for name in ["long", "odd"] {
        assert_eq!(load(&home, name).unwrap_err().code(), Code::PlaybookInvalid);
    }
}

#[test]
fn those_that_come_with_the_program_are_consistent() {
    assert!(registry::BUILT_IN.is_sorted());
    for (name, yaml) in registry::BUILT_IN {
        let it = parse(yaml).unwrap_or_else(|err| panic!("{name}: {err}"));
        assert_eq!(it.name.as_str(), *name);
        assert!(yaml.starts_with("# "), "{name} says what it is for");
        let wanted = it.parameters();
        let values = wanted.iter().map(|it| (it.clone(), "rust".to_owned())).collect();
        let full = it.with_values(&values).unwrap();
        assert!(full.parameters().is_empty(), "{name}");
        let host = Url::parse(&full.url).unwrap().host_str().unwrap().to_owned();
        assert!(commis_testbed::HOSTS.contains(&&*host), "{name}: {host}");
        // What may be changed is asked for before it is clicked.
        assert_eq!(it.changes.is_empty(), it.checkpoints.is_empty(), "{name}");
        let back: Playbook = serde_json::from_value(serde_json::to_value(&it).unwrap()).unwrap();
        assert_eq!(back, it, "{name}");
    }
    let order = parse(registry::BUILT_IN[2].1).unwrap();
    let most = order.amount.unwrap();
    assert_eq!((most.most.hundredths(), &*most.currency), (10_000, "EUR"));
}

/// What the testbed's own pages say, as a snapshot has it.
#[test]
fn those_that_come_with_the_program_judge_the_pages_they_are_for() {
    let standing = |name: &str, values: &[(&str, &str)], url: &str, content: &str| {
        let (_kept, home) = home(&[]);
        let it = load(&home, name).unwrap().with_values(&given(values)).unwrap();
        match it.outcome(&seen(url, "Site", content)) {
            PageOutcome::Succeeded(_) => "succeeded",
            PageOutcome::Failed(_) => "failed",
            PageOutcome::Neither => "neither",
        }
    };
    let club = |path: &str, content: &str| {
        standing("cancel-membership", &[], &format!("http://club.test{path}"), content)
    };
    let ends = "heading \"Goodbye, Ada\" [level 1]\n\"Your membership ends on 30 November 2026. We have sent you a mail.\"";
    assert_eq!(club("/account/cancelled", ends), "succeeded");
    assert_eq!(club("/account", "link \"Cancel membership\""), "neither");
    let failed = "\"Something went wrong on our side, and your membership is not cancelled.\"";
    assert_eq!(club("/account/cancel/confirm?fail=1", failed), "failed");
    assert_eq!(club("/account/paused", "Your membership is paused until 1 March 2027."), "failed");
    let reorder = |content: &str| {
        let values = [("item", "Espresso beans"), ("quantity", "1")];
        standing("order-again", &values, "http://reorder.test/again?order=R-0913", content)
    };
    assert_eq!(reorder("status\n\"Order placed: R-1001\""), "succeeded");
    assert_eq!(reorder("button \"Place order\""), "neither");
    assert_eq!(reorder("\"The order was not placed: Failed to fetch\""), "failed");
    let library =
        |content: &str| standing("look-up", &[("query", "Rust")], "http://library.test/", content);
    assert_eq!(library("heading \"46 results for rust\" [level 2]"), "succeeded");
    assert_eq!(library("heading \"46 results for lantern\" [level 2]"), "neither");
}

#[test]
fn its_schema_says_what_may_stand_there() {
    let it = schema();
    assert_eq!(it["additionalProperties"], false);
    let needed: Vec<&str> =
        it["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(needed, ["version", "name", "task", "url", "goal", "success"]);
    let condition = &it["$defs"]["Condition"];
    assert_eq!(condition["additionalProperties"], false);
    for field in ["url", "title", "text", "action", "target"] {
        assert!(condition["properties"][field].is_object(), "{field}");
    }
}
