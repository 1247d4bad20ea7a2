//! What conditions and walls say of pages as a real browser shows them: those that playbooks come for, and all others of the test web.
//! Where no Chromium is installed, each test says so and does not test.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    Action, PageView,
    blockers::{Blocker, wall},
    playbook::{self, PageOutcome, Playbook},
};
use commis_base::settings::{EgressSettings, Home};
use commis_browser::{
    Browser, find_chromium,
    page_session::{Command, PageController, SnapshotOptions, WaitCondition},
};
use commis_net::egress::EgressPolicy;
use commis_testbed::{HOSTS, Testbed};

struct Web {
    testbed: Testbed,
    browser: Browser,
    controller: PageController,
}

async fn web() -> Option<Web> {
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return None;
    };
    let testbed = Testbed::start(0).await.unwrap();
    let settings = EgressSettings {
        test_hosts: vec![format!("*.test={}", testbed.addr())],
        test_ca_pem: Some(commis_testbed::authority_pem()),
        ..EgressSettings::default()
    };
    let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
    let browser = Browser::launch(&exe, policy).await.unwrap();
    let context = browser.context().await.unwrap();
    let controller = PageController::new(context, Duration::from_secs(20), None).unwrap();
    Some(Web { testbed, browser, controller })
}

impl Web {
    async fn run(&mut self, command: Command) -> String {
        self.controller.run(command).await.unwrap().text
    }

    async fn goto(&mut self, url: &str) -> PageView {
        self.run(Command::Goto(url.to_owned())).await;
        self.look().await
    }

    async fn click(&mut self, target: &str) -> PageView {
        self.run(Command::Click(target.parse().unwrap())).await;
        self.look().await
    }

    async fn until(&mut self, text: &str) -> PageView {
        let waited = self.controller.run(Command::Wait(WaitCondition::Text(text.to_owned()))).await;
        let view = self.look().await;
        assert!(waited.is_ok(), "no {text}: {view:#?} {waited:?}");
        view
    }

    async fn look(&mut self) -> PageView {
        look(&mut self.controller).await
    }

    /// Asked from outside, as somebody who looks on would.
    async fn ask(&self, host: &str, path: &str) -> Value {
        let url = format!("http://{}{path}", self.testbed.addr());
        let asked = reqwest::Client::builder().no_proxy().build().unwrap().get(url);
        let answer = asked.header("host", host).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    async fn count(&self, host: &str) -> u64 {
        self.ask(host, "/api/count").await["count"].as_u64().unwrap()
    }
}

async fn look(controller: &mut PageController) -> PageView {
    let command =
        Command::Snapshot { wish: SnapshotOptions::default(), clickable: false, within: None };
    let mut run = async |it| controller.run(it).await.unwrap().text;
    let content = run(command).await;
    let content = content.split_once('\n').map_or("", |it| it.1).to_owned();
    let (url, title) = (run(Command::Url).await, run(Command::Title).await);
    PageView { url, title: title.trim_matches('"').to_owned(), content }
}

fn named(name: &str, values: &[(&str, &str)]) -> Playbook {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::find(Some(folder.path())).unwrap();
    let values: BTreeMap<String, String> =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    playbook::load(&home, name).unwrap().with_values(&values).unwrap()
}

fn click(target: &str) -> Action {
    let Value::Object(arguments) = json!({ "target": target }) else { unreachable!() };
    Action { name: "click".to_owned(), arguments }
}

fn standing(book: &Playbook, view: &PageView) -> &'static str {
    match book.outcome(view) {
        PageOutcome::Succeeded(_) => "succeeded",
        PageOutcome::Failed(_) => "failed",
        PageOutcome::Neither => "neither",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_membership_is_cancelled_past_both_offers() {
    let Some(mut web) = web().await else { return };
    let book = named("cancel-membership", &[]);
    let finish = "button \"Finish cancellation\"";
    for (begin, end, count) in [("?fail=1", "failed", 0), ("", "succeeded", 1)] {
        let mut view = web.goto(&format!("{}{begin}", book.url)).await;
        for next in ["Cancel membership", "Continue to cancel", "Continue to cancel"] {
            let target = format!("link \"{next}\"");
            assert_eq!(standing(&book, &view), "neither", "{view:?}");
            assert_eq!(book.stops(&click(&target), &view), None, "{target}");
            view = web.click(&target).await;
        }
        assert_eq!(standing(&book, &view), "neither", "{view:?}");
        // By name and by ref.
        let line = view.content.lines().find(|it| it.ends_with(finish)).unwrap();
        for target in [finish, line.split(' ').next().unwrap()] {
            assert!(book.stops(&click(target), &view).is_some(), "{target}");
        }
        assert_eq!(web.count("club.test").await, 0);
        let view = web.click(finish).await;
        assert_eq!(standing(&book, &view), end, "{view:?}");
        assert_eq!(web.count("club.test").await, count);
    }
    let taken = web.ask("club.test", "/api/count").await;
    assert_eq!((&taken["kept"], &taken["paused"]), (&json!(0), &json!(0)));
    // An offer that is taken is no success.
    web.goto("http://club.test/account/cancel").await;
    let view = web.click("button \"Keep 50% off\"").await;
    assert_eq!(standing(&book, &view), "failed");
    web.browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_placed_again_and_its_variants_do_what_they_are_for() {
    let Some(mut web) = web().await else { return };
    let book = named("order-again", &[("item", "Espresso beans"), ("quantity", "2")]);
    let place = "button \"Place order\"";
    let list = web.goto(&book.url).await;
    let line = list.content.lines().find(|it| it.contains("Order again") && it.contains("@e"));
    assert!(line.is_some() && list.content.contains("€34.94"), "{list:?}");
    let page = "http://reorder.test/again?order=R-0913";

    let view = web.goto(page).await;
    assert_eq!(standing(&book, &view), "neither");
    assert!(book.stops(&click(place), &view).is_some());
    web.run(Command::Fill("spinbutton Quantity".parse().unwrap(), "2".to_owned())).await;
    assert!(web.look().await.content.contains("€69.88"));
    web.run(Command::Click(place.parse().unwrap())).await;
    let view = web.until("Order placed: R-1001").await;
    assert_eq!(standing(&book, &view), "succeeded", "{view:?}");
    let sent = json!({ "order": "R-0913", "quantity": 2, "date": "2026-12-03", "total": "€69.88" });
    let told = web.ask("reorder.test", "/api/count").await;
    let body: Value = serde_json::from_str(told["bodies"][0].as_str().unwrap()).unwrap();
    assert_eq!((&told["count"], &body), (&json!(1), &sent));

    // The total rises when somebody outside says so, once each time, and is what is sent.
    web.goto(&format!("{page}&drift=1")).await;
    web.ask("reorder.test", "/api/bump").await;
    web.until("€35.94").await;
    web.ask("reorder.test", "/api/bump").await;
    web.until("€36.94").await;
    web.run(Command::Click(place.parse().unwrap())).await;
    web.until("Order placed: R-1002").await;
    let told = web.ask("reorder.test", "/api/count").await;
    assert!(told["bodies"][1].as_str().unwrap().contains("€36.94"), "{told}");
    // A page that was opened since begins anew.
    assert!(web.goto(&format!("{page}&drift=1")).await.content.contains("€34.94"));

    web.goto(&format!("{page}&redirect=1")).await;
    web.run(Command::Click(place.parse().unwrap())).await;
    web.until("Order placed: R-1001").await;
    assert_eq!((web.count("reorder.test").await, web.count("courier.test").await), (2, 1));

    web.goto(&format!("{page}&second=1")).await;
    web.run(Command::Click(place.parse().unwrap())).await;
    web.until("Order placed: R-1003").await;
    // The page says nothing of the second.
    let second = async {
        while web.count("reorder.test").await < 4 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), second).await.unwrap();
    let told = web.ask("reorder.test", "/api/count").await;
    assert!(told["bodies"][3].as_str().unwrap().contains("insurance"), "{told}");
    web.browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_is_found() {
    let Some(mut web) = web().await else { return };
    let book = named("look-up", &[("query", "rust")]);
    for (typed, want) in [("lantern", "neither"), ("rust", "succeeded")] {
        let view = web.goto(&book.url).await;
        assert_eq!(standing(&book, &view), "neither");
        let field = "searchbox \"Search the catalogue\"".parse().unwrap();
        web.run(Command::Fill(field, typed.to_owned())).await;
        web.run(Command::Click("button \"Find books\"".parse().unwrap())).await;
        let view = web.until(&format!("results for {typed}")).await;
        assert_eq!(standing(&book, &view), want, "{typed}");
    }
    web.browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn of_all_pages_of_the_test_web_only_logins_are_walls() {
    let Some(mut web) = web().await else { return };
    let apart = ["abc123", "ads.", "api.", "config.", "control.", "metrics.", "hostile."];
    let hosts = HOSTS.iter().filter(|host| !apart.iter().any(|it| host.starts_with(it)));
    let mut pages: Vec<String> = hosts.map(|it| format!("http://{it}/")).collect();
    let lures = web.goto("http://lures.test/").await.content;
    let names = lures.lines().filter_map(|it| it.split("link \"").nth(1)?.strip_suffix('"'));
    let names = names.filter_map(|it| it.split_once(' '));
    pages.extend(names.map(|(kind, name)| format!("http://lures.test/{kind}/{name}")));
    assert!(pages.len() > 100, "{}", pages.len());
    // Pages are waited for more than worked at.
    let judged = async |pages: &[String]| {
        let context = web.browser.context().await.unwrap();
        let mut controller = PageController::new(context, Duration::from_secs(20), None).unwrap();
        let mut found = Vec::new();
        for url in pages {
            controller.run(Command::Goto(url.clone())).await.unwrap();
            let view = look(&mut controller).await;
            found.extend(wall(&view, url, None).map(|it| (url.clone(), it)));
        }
        found
    };
    let parts = pages.chunks(pages.len().div_ceil(6)).map(judged);
    let found = futures::future::join_all(parts).await.concat();
    let found: Vec<(&str, Blocker)> = found.iter().map(|it| (&*it.0, it.1)).collect();
    let logins = [
        "accounts.test/",
        "crateful.test/",
        "gitfarm.test/",
        "hearth.test/",
        "huddle.test/",
        "leaky.test/",
        "lectern.test/",
        "ledgerly.test/",
        "lund.ledgerly.test/",
        "marsh.ledgerly.test/",
        "meterbox.test/",
        "okoro.ledgerly.test/",
        "orchardgit.test/",
        "plank.test/",
        "pocket.test/",
        "postbox.test/",
        "rosterly.test/",
        "shelfmark.test/",
        "shiftly.test/",
        "shutterly.test/",
        "sound.test/",
        "surgery.test/",
        "thicket.test/",
        "wages.test/",
        "warble.test/",
        "lures.test/clean/login",
    ];
    let logins = logins.map(|it| format!("http://{it}"));
    assert_eq!(found, logins.each_ref().map(|it| (&**it, Blocker::Login)));

    // A form that comes when it is needed.
    web.goto("http://members.test/").await;
    let before = web.look().await;
    let field = "searchbox \"Search members\"".parse().unwrap();
    web.run(Command::Fill(field, "Moreau".to_owned())).await;
    web.run(Command::Press("Enter".to_owned())).await;
    let view = web.until("Please log in").await;
    assert_eq!(wall(&view, "http://members.test/", Some(&before)), Some(Blocker::Login));
    web.browser.close().await.unwrap();
}
