//! Replay on pages that have changed since: 14 changes of 12 sites, several at once, and what became of each act. What is acted on is told by the page
//! itself (`drift/drift.js`), not by us.

use std::{collections::BTreeMap, fmt::Write as _, net::SocketAddr};

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::*;
use crate::{
    page_session::{Command, PageController, ReplayOptions, ReplayOutcome},
    sessions::{SessionAction, SessionStore, locator_cache::ElementMemory},
};
use commis_testbed::Testbed;

const SCRIPT: &str = include_str!("drift/drift.js");
const WAYS: &[&str] = &[
    "rename",
    "synonym",
    "translate",
    "reorder",
    "wrap",
    "unwrap",
    "nodes",
    "contents",
    "tag",
    "remove",
    "duplicate",
    "form",
    "shadow",
    "frame",
];
/// Several of them at once; labels change together.
const SEVERAL: &[&str] = &["labels", "several", "redesign", "welcome", "crowd"];
/// What is acted on is not there any more.
const GONE: &[&str] = &["remove", "labels-gone", "several-gone"];
const STALL: &str = "<!doctype html><title>Stall</title><h1>Stall</h1><ul></ul><p id=out></p><script>
for (const it of ['Rake', 'Hose', 'Lantern', 'Spade', 'Kettle', 'Rope'])
  document.querySelector('ul').insertAdjacentHTML('beforeend', `<li><h3>${it}</h3><button>Add to cart</button></li>`);
document.querySelector('ul').onclick = async e => {
  if (e.target.tagName !== 'BUTTON') return;
  const item = e.target.closest('li').querySelector('h3').textContent;
  await fetch('/post', { method: 'POST', body: JSON.stringify({ item }), headers: { 'content-type': 'application/json' } });
  document.getElementById('out').textContent = 'added ' + item;
};
</script>";

/// What is done, and on what; `""` for no value.
type Act = (&'static str, &'static str, &'static str);

struct Case {
    url: &'static str,
    acts: &'static [Act],
    /// Which of them is on the element that changes; from 0.
    on: usize,
    /// Where that is.
    css: &'static str,
    /// What else it may be called: something unlike, a synonym, in another language.
    names: [&'static str; 3],
}

const CASES: &[Case] = &[
    Case {
        url: "https://shop.test/",
        acts: &[
            ("fill", "searchbox \"Search products\"", "lantern"),
            ("click", "button \"Search\"", ""),
        ],
        on: 1,
        css: "form[role=search] button, header button",
        names: ["Go ahead", "Find", "Suchen"],
    },
    Case {
        url: "https://wines.test/",
        acts: &[("select", "combobox \"Colour\"", "White"), ("click", "button \"Show wines\"", "")],
        on: 0,
        css: "#colour",
        names: ["Kind", "Shade", "Farbe"],
    },
    Case {
        url: "https://ballot.test/",
        acts: &[
            ("fill", "searchbox \"Candidate\"", "moss"),
            ("click", "button \"Find candidates\"", ""),
        ],
        on: 1,
        css: "#ask button",
        names: ["Go", "Search candidates", "Kandidaten finden"],
    },
    Case {
        url: "https://jobs.test/",
        acts: &[
            ("fill", "textbox \"Keywords\"", "carpenter"),
            ("click", "button \"Find jobs\"", ""),
        ],
        on: 1,
        css: "#jobs button",
        names: ["Start", "Search jobs", "Stellen suchen"],
    },
    Case {
        url: "https://tickets.test/",
        acts: &[
            ("fill", "searchbox \"Search tickets\"", "leak"),
            ("click", "button \"Search tickets\"", ""),
        ],
        on: 1,
        css: "#desk button",
        names: ["Go", "Find tickets", "Tickets suchen"],
    },
    Case {
        url: "https://basket.test/",
        acts: &[
            ("fill", "textbox \"Item\"", "rye bread"),
            ("click", "button \"Add to basket\"", ""),
        ],
        on: 1,
        css: "#ask button",
        names: ["Take it", "Put in cart", "In den Korb"],
    },
    Case {
        url: "https://reviews.test/",
        acts: &[("fill", "css=#text", "Good soup"), ("click", "css=#ask button", "")],
        on: 1,
        css: "#ask button",
        names: ["Done", "Post", "Ver\u{f6}ffentlichen"],
    },
    Case {
        url: "https://bikes.test/",
        acts: &[
            ("fill", "spinbutton \"Minimum price\"", "120"),
            ("fill", "spinbutton \"Maximum price\"", "480"),
            ("click", "button \"Show bicycles\"", ""),
        ],
        on: 2,
        css: "#ask button",
        names: ["Next", "List bicycles", "Fahrr\u{e4}der zeigen"],
    },
    Case {
        url: "https://store.test/",
        acts: &[
            ("fill", "textbox \"Delivery note\"", "ring twice"),
            ("click", "button \"Place order\"", ""),
        ],
        on: 1,
        css: "#order",
        names: ["Continue", "Buy now", "Bestellen"],
    },
    Case {
        url: "http://news.test/",
        acts: &[
            ("fill", "searchbox \"Search the news\"", "harbour"),
            ("click", "button \"Search\"", ""),
        ],
        on: 1,
        css: "form[role=search] button",
        names: ["Go", "Find", "Suche"],
    },
    Case {
        url: "https://cabins.test/",
        acts: &[
            ("fill", "textbox \"Arrival\"", "2025-07-04"),
            ("fill", "textbox \"Departure\"", "2025-07-11"),
            ("click", "button \"Show cabins\"", ""),
        ],
        on: 0,
        css: "#arrival",
        names: ["Day one", "Check in", "Anreise"],
    },
    Case {
        url: "http://stall.test/html",
        acts: &[("click", "button \"Add to cart\" in \"Lantern\"", "")],
        on: 0,
        css: "li:nth-child(3) button",
        names: ["Have it", "Put in basket", "In den Warenkorb"],
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// On the element that is meant, and said so.
    Right,
    /// On another, and said that all was well.
    Wrong,
    /// Not at all.
    Refused,
    /// Done, and stopped before anything left.
    Stopped,
}

fn command((kind, target, value): Act) -> Command {
    let on = || target.parse().unwrap();
    match kind {
        "fill" => Command::Fill(on(), value.to_owned()),
        "select" => Command::Select(on(), value.to_owned()),
        _ => Command::Click(on()),
    }
}

fn address(case: &Case) -> String {
    let mut url = url::Url::parse(case.url).unwrap();
    if url.path() == "/html" {
        url.query_pairs_mut().append_pair("html", STALL);
    }
    url.into()
}

async fn start(testbed: SocketAddr, site: SocketAddr) -> Option<Browser> {
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return None;
    };
    let settings = EgressSettings {
        test_hosts: vec![format!("stall.test={site}"), format!("*.test={testbed}")],
        test_ca_pem: Some(commis_testbed::authority_pem()),
        ..EgressSettings::default()
    };
    Some(Browser::launch(&exe, Arc::new(EgressPolicy::new(&settings).unwrap())).await.unwrap())
}

async fn desk(browser: &Browser) -> PageController {
    PageController::new(browser.context().await.unwrap(), Duration::from_secs(5), None).unwrap()
}

async fn recorded(browser: &Browser, all: &SessionStore, case: &Case) -> Vec<SessionAction> {
    let mut desk = desk(browser).await;
    let url = address(case);
    desk.record(all.record("drift", "", &url, "").unwrap(), &url).await.unwrap();
    for act in case.acts {
        desk.run(command(*act)).await.unwrap_or_else(|err| panic!("{}: {act:?}: {err}", case.url));
    }
    let id = desk.end().await.unwrap().id;
    all.load(&id).unwrap().1
}

/// What became of it, and in words.
async fn ended(
    browser: &Browser,
    case: &Case,
    lines: &[SessionAction],
    way: &str,
) -> (End, String) {
    let mut desk = desk(browser).await;
    let shared = desk.shared();
    let session = shared.page().unwrap().session;
    let given = json!({ "op": way, "target": case.css, "names": case.names, "value": case.acts[case.on].2 }).to_string();
    let script = json!({ "source": SCRIPT.replace("DRIFT", &given) });
    shared.cdp.run(Some(&session), "Page.addScriptToEvaluateOnNewDocument", script).await.unwrap();
    let how =
        ReplayOptions { allow: lines.iter().map(|it| it.n).collect(), ..ReplayOptions::default() };
    let done = desk.replay(lines, &how).await.unwrap();
    let read = json!({ "expression": "sessionStorage.getItem('drift') ?? ''" });
    let told: Value = shared.cdp.call(Some(&session), "Runtime.evaluate", read).await.unwrap();
    let told = told["result"]["value"].as_str().unwrap_or_default().to_owned();
    let on_other = told.contains("w ");
    let last = done.last().unwrap();
    let words = format!(
        "{told:60} action {} {:?} {}",
        last.n,
        last.outcome,
        last.why.as_deref().unwrap_or("")
    );
    // The page is opened by the first.
    let there = done.iter().find(|it| it.n as usize == case.on + 2);
    let end = match there.map(|it| it.outcome) {
        Some(ReplayOutcome::Same | ReplayOutcome::Healed) if on_other => End::Wrong,
        Some(ReplayOutcome::Same | ReplayOutcome::Healed) => match last.outcome {
            // Acted on well, and what came of it is another's affair: counted with those that were stopped.
            ReplayOutcome::Refused | ReplayOutcome::Differs => End::Stopped,
            _ => End::Right,
        },
        Some(ReplayOutcome::Differs) => End::Stopped,
        _ if on_other => End::Wrong,
        _ => End::Refused,
    };
    (end, words)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_moved_is_found_and_what_is_gone_is_not() {
    let (testbed, site) = (Testbed::start(0).await.unwrap(), serve().await);
    let Some(browser) = start(testbed.addr(), site.addr).await else { return };
    let home = tempfile::tempdir().unwrap();
    let all = SessionStore::new(home.path());
    let mut lines = Vec::new();
    for case in CASES {
        lines.push(recorded(&browser, &all, case).await);
    }
    let pairs = CASES.iter().zip(&lines);
    let asked = pairs.flat_map(|(case, lines)| {
        let ways = std::iter::once(&"none").chain(WAYS).chain(SEVERAL).chain(&GONE[1..]);
        ways.map(move |way| (case, lines, *way))
    });
    let browser = &browser;
    let ends: Vec<_> =
        futures::stream::iter(asked)
            .map(|(case, lines, way)| async move {
                (way, case.url, ended(browser, case, lines, way).await)
            })
            .buffer_unordered(3)
            .collect()
            .await;
    let mut table: BTreeMap<&str, BTreeMap<End, usize>> = BTreeMap::new();
    let mut text = String::new();
    for (way, url, (end, words)) in &ends {
        *table.entry(way).or_default().entry(*end).or_default() += 1;
        if *end != End::Right {
            writeln!(text, "{way:12} {url:24} {end:?} {words}").unwrap();
        }
    }
    for way in WAYS.iter().chain(SEVERAL).chain(&GONE[1..]) {
        let count = |end| table[way].get(&end).copied().unwrap_or(0);
        writeln!(
            text,
            "{way:12} right {:2} wrong {:2} refused {:2} stopped {:2}",
            count(End::Right),
            count(End::Wrong),
            count(End::Refused),
            count(End::Stopped)
        )
        .unwrap();
    }
    println!("{text}");
    let sum = |ways: &[&str], end| -> usize {
        ways.iter().map(|it| table[it].get(&end).copied().unwrap_or(0)).sum()
    };
    let moved: Vec<&str> = WAYS.iter().copied().filter(|it| *it != "remove").collect();
    assert_eq!(sum(&["none"], End::Right), CASES.len(), "{text}");
    // At least 85 % right, at most 1 % wrong; and what is gone is never acted on.
    assert!(sum(&moved, End::Right) * 100 >= 85 * moved.len() * CASES.len(), "{text}");
    assert!(sum(&moved, End::Wrong) * 100 <= moved.len() * CASES.len(), "{text}");
    assert_eq!(sum(GONE, End::Refused), GONE.len() * CASES.len(), "{text}");
    // The same of several changes at once.
    let all = SEVERAL.len() * CASES.len();
    assert!(sum(SEVERAL, End::Right) * 100 >= 85 * all, "{text}");
    assert!(sum(SEVERAL, End::Wrong) * 100 <= all, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_wire_proved_twice_is_remembered_until_it_fails() {
    let (testbed, site) = (Testbed::start(0).await.unwrap(), serve().await);
    let Some(browser) = start(testbed.addr(), site.addr).await else { return };
    let home = tempfile::tempdir().unwrap();
    let all = SessionStore::new(home.path());
    let case = CASES.iter().find(|it| it.url == "https://shop.test/").unwrap();
    let lines = recorded(&browser, &all, case).await;
    let n = case.on as u32 + 2;
    let was = lines[case.on + 1].element.clone().unwrap();
    let memory = ElementMemory::new(home.path(), "");
    let replayed = async |way: &str, allow: Vec<u32>| {
        let mut desk = desk(&browser).await;
        let shared = desk.shared();
        let session = shared.page().unwrap().session;
        let given = json!({ "op": way, "target": case.css, "names": case.names, "value": "" });
        let script = json!({ "source": SCRIPT.replace("DRIFT", &given.to_string()) });
        shared
            .cdp
            .run(Some(&session), "Page.addScriptToEvaluateOnNewDocument", script)
            .await
            .unwrap();
        let how = ReplayOptions { allow, memory: Some(memory.clone()), ..ReplayOptions::default() };
        let done = desk.replay(&lines, &how).await.unwrap();
        let it = done.iter().find(|it| it.n == n);
        it.map(|it| (it.outcome, serde_json::to_value(it.found_by).unwrap()))
    };
    let known = || memory.describe(n, "shop.test", &was).map(|it| it.proven);
    let healed = |by: &str| Some((ReplayOutcome::Healed, json!(by)));
    assert_eq!(replayed("rename", vec![]).await, healed("likeness"));
    assert_eq!((known(), memory.get("shop.test", &was)), (Some(1), None));
    assert_eq!(replayed("rename", vec![]).await, healed("likeness"));
    assert_eq!(replayed("rename", vec![]).await, healed("memory"));
    assert_eq!(known(), Some(3));
    // As it was recorded is as it was recorded, whatever is remembered.
    assert_eq!(replayed("none", vec![]).await, Some((ReplayOutcome::Same, Value::Null)));
    assert_eq!(known(), Some(3));
    assert!(memory.describe(n, "stall.test", &was).is_none());
    let gone = replayed("remove", vec![]).await;
    assert!(gone.is_none_or(|it| it.0 != ReplayOutcome::Healed && it.0 != ReplayOutcome::Same));
    assert_eq!(known(), None);
}

/// A field that is saved a while after it was typed into: between two acts, when nobody waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_timer_changes_leaves_only_where_that_is_allowed() {
    let site = serve().await;
    let Some(browser) = super::start(&site).await else { return };
    let home = tempfile::tempdir().unwrap();
    let all = SessionStore::new(home.path());
    let html = "<input aria-label=Note oninput=\"clearTimeout(globalThis.t); globalThis.t = setTimeout(save, 200)\">
        <button onclick=\"out.textContent = 'seen'\">Look</button><p id=out></p><p id=saved></p>
        <script>function save() { fetch('/post', { method: 'POST', body: 'note=1' }).then(() => { saved.textContent = 'saved'; }); }</script>";
    let mut url = url::Url::parse("http://shop.test/html").unwrap();
    url.query_pairs_mut().append_pair("html", html);
    let posts = || site.log.lock().unwrap().iter().filter(|it| it.contains("/post")).count();
    let mut desk = self::desk(&browser).await;
    desk.record(all.record("note", "", url.as_str(), "").unwrap(), url.as_str()).await.unwrap();
    // Nothing is asked of the page while the timer runs, as when somebody thinks.
    desk.run(Command::Fill("textbox Note".parse().unwrap(), "rope".into())).await.unwrap();
    wait_until("request of the timer", || posts() > 0).await;
    desk.run(Command::Click("button Look".parse().unwrap())).await.unwrap();
    let id = desk.end().await.unwrap().id;
    let lines = all.load(&id).unwrap().1;
    assert_eq!(lines[2].between.len(), 1, "{lines:?}");
    for (allow, ends, wanted) in
        [(vec![], ReplayOutcome::Refused, 0), (vec![2], ReplayOutcome::Same, 1)]
    {
        let before = posts();
        let how = ReplayOptions { allow, ..ReplayOptions::default() };
        let mut desk = self::desk(&browser).await;
        let done = desk.replay(&lines, &how).await.unwrap();
        assert_eq!(done.last().unwrap().outcome, ends, "{done:?}");
        wait_until("request of the timer", || wanted == 0 || posts() > before).await;
        assert_eq!(posts() - before, wanted);
    }
    // A page that did not do so when it was recorded: it is stopped, and told with the next act.
    let mut lines = lines;
    lines[2].between.clear();
    lines.insert(
        2,
        SessionAction {
            n: 0,
            command: "wait_text".into(),
            value: Some("saved".into()),
            ..SessionAction::default()
        },
    );
    for (n, it) in lines.iter_mut().enumerate() {
        it.n = n as u32 + 1;
    }
    let before = posts();
    let context = browser.context().await.unwrap();
    let mut desk = PageController::new(context, Duration::from_secs(2), None).unwrap();
    let done = desk.replay(&lines, &ReplayOptions::default()).await.unwrap();
    let last = done.last().unwrap();
    assert!(last.why.as_ref().unwrap().contains("POST http://shop.test/post"), "{done:?}");
    assert_eq!((last.outcome, posts()), (ReplayOutcome::Differs, before));
    browser.close().await.unwrap();
}
