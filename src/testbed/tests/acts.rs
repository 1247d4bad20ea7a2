//! Sites on which something is done: how often, and what was sent.

use reqwest::Client;
use serde_json::{Value, json};

use super::{client, json_of, url};
use crate::Testbed;

async fn page(client: &Client, testbed: &Testbed, rest: &str) -> String {
    client.get(url(testbed, rest)).send().await.unwrap().text().await.unwrap()
}

async fn count(client: &Client, testbed: &Testbed, host: &str) -> Value {
    json_of(client.get(url(testbed, &format!("{host}/api/count")))).await.1
}

#[tokio::test]
async fn a_membership_is_cancelled_by_its_last_form_alone() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let post = async |rest: &str| {
        let form = client.post(url(&testbed, rest)).body("membership=M-4471");
        let answer = form.send().await.unwrap();
        let location = answer.headers().get("location").map(|it| it.to_str().unwrap().to_owned());
        (answer.status().as_u16(), location, answer.text().await.unwrap())
    };
    // Each page leads to the next, with what was asked for at the beginning.
    for carried in ["", "?fail=1"] {
        for (at, says, next) in [
            ("account", "Next payment", "/account/cancel"),
            ("account/cancel", "Keep 50% off", "/account/cancel/pause"),
            ("account/cancel/pause", "Pause for 3 months", "/account/cancel/confirm"),
        ] {
            let shown = page(&client, &testbed, &format!("club.test/{at}{carried}")).await;
            assert!(shown.contains(says), "{at}");
            assert!(shown.contains(&format!("href=\"{next}{carried}\"")), "{at}: {next}{carried}");
        }
        let confirm = format!("club.test/account/cancel/confirm{carried}");
        let confirm = page(&client, &testbed, &confirm).await;
        let action = format!("action=\"/account/cancel/confirm{carried}\"");
        assert!(confirm.contains(&action) && confirm.contains("Finish cancellation"));
        assert!(!confirm.contains("{carried}"));
    }
    let early = client.get(url(&testbed, "club.test/account/cancelled")).send().await.unwrap();
    assert_eq!(early.status(), 302, "nothing was cancelled yet");
    let none = json!({ "count": 0, "kept": 0, "paused": 0 });
    assert_eq!(count(&client, &testbed, "club.test").await, none);

    let (status, _, text) = post("club.test/account/cancel/confirm?fail=1").await;
    assert!(status == 200 && text.contains("Something went wrong"));
    assert_eq!(count(&client, &testbed, "club.test").await, none);
    assert_eq!(post("club.test/account/offer").await.1.as_deref(), Some("/account/kept"));
    assert_eq!(post("club.test/account/pause").await.1.as_deref(), Some("/account/paused"));
    for n in 1..=2 {
        let (status, location, _) = post("club.test/account/cancel/confirm").await;
        assert_eq!((status, location.as_deref()), (303, Some("/account/cancelled")));
        let want = json!({ "count": n, "kept": 1, "paused": 1 });
        assert_eq!(
            count(&client, &testbed, "club.test").await,
            want,
            "done again is counted again"
        );
    }
    for at in ["account", "account/cancelled"] {
        let shown = page(&client, &testbed, &format!("club.test/{at}")).await;
        assert!(shown.contains("Your membership ends on 30 November 2026"), "{at}");
    }
    let other = Testbed::start(0).await.unwrap();
    let client = super::client(&other);
    assert_eq!(count(&client, &other, "club.test").await, none, "each web has its own");
}

#[tokio::test]
async fn orders_are_placed_again_as_they_were_sent() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let post = async |rest: &str, body: &Value| {
        let sent = client.post(url(&testbed, rest)).body(body.to_string()).send().await.unwrap();
        let location = sent.headers().get("location").map(|it| it.to_str().unwrap().to_owned());
        (sent.status().as_u16(), location, sent.json::<Value>().await.unwrap_or_default())
    };
    let list = page(&client, &testbed, "reorder.test/?drift=1&second=1").await;
    assert!(list.contains("€34.94") && list.contains("Espresso beans, 1 kg"));
    assert!(list.contains("/again?order=R-0913&amp;drift=1&amp;second=1"));
    let again = page(&client, &testbed, "reorder.test/again?order=R-0913&redirect=1").await;
    assert!(again.contains("data-variants=\"redirect\"") && again.contains("€34.94"));
    let gone = client.get(url(&testbed, "reorder.test/again?order=R-1")).send().await.unwrap();
    assert_eq!(gone.status(), 404);

    let order =
        json!({ "order": "R-0913", "quantity": 2, "date": "2026-12-03", "total": "€69.88" });
    for refused in [
        json!({}),
        json!({ "order": "R-0913", "quantity": 10 }),
        json!({ "order": "R-1", "quantity": 1 }),
    ] {
        assert_eq!(post("reorder.test/orders", &refused).await.0, 422, "{refused}");
    }
    let (status, location, _) = post("reorder.test/orders?redirect=1", &order).await;
    assert_eq!((status, location.as_deref()), (307, Some("//courier.test/orders")));
    assert_eq!(count(&client, &testbed, "reorder.test").await, json!({ "count": 0, "bodies": [] }));

    let (status, _, placed) = post("reorder.test/orders", &order).await;
    assert_eq!((status, &placed["id"]), (201, &json!("R-1001")));
    let extra = json!({ "extra": "insurance" });
    assert_eq!(post("reorder.test/orders", &extra).await.2["id"], "R-1002");
    let both = json!({ "count": 2, "bodies": [order.to_string(), extra.to_string()] });
    assert_eq!(count(&client, &testbed, "reorder.test").await, both);

    assert_eq!(count(&client, &testbed, "courier.test").await["count"], 0);
    let asked = client.request(reqwest::Method::OPTIONS, url(&testbed, "courier.test/orders"));
    let asked = asked.send().await.unwrap();
    assert_eq!(asked.headers()["access-control-allow-origin"], "*");
    assert_eq!(post("courier.test/orders", &order).await.0, 201);
    assert_eq!(count(&client, &testbed, "courier.test").await["count"], 1);
}

#[tokio::test]
async fn a_page_hears_when_it_is_to_change() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let mut before =
        client.get(url(&testbed, "reorder.test/api/bumps?after=0")).send().await.unwrap();
    assert_eq!(before.chunk().await.unwrap().unwrap(), "retry: 60000\n\n");
    let bump = async || json_of(client.get(url(&testbed, "reorder.test/api/bump"))).await.1;
    let risen = async || json_of(client.get(url(&testbed, "reorder.test/api/risen"))).await.1;
    assert_eq!(bump().await, json!({ "bumps": 1 }));
    assert_eq!(before.chunk().await.unwrap().unwrap(), "data: 1\n\n");
    assert!(before.chunk().await.unwrap().is_none());
    // A page that asks for what comes after the bump has followed it.
    assert_eq!(risen().await, json!({ "risen": 0 }));
    let again = client.get(url(&testbed, "reorder.test/api/bumps?after=1"));
    let _follows = again.send().await.unwrap();
    assert_eq!(risen().await, json!({ "risen": 1 }));
    // One that was opened since knows of it, and one that came late is not left waiting.
    let again = page(&client, &testbed, "reorder.test/again?order=R-0790&drift=1").await;
    assert!(again.contains("data-bumps=\"1\""));
    assert!(page(&client, &testbed, "reorder.test/api/bumps?after=0").await.contains("data: 1"));
}
