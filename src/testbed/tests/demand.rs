//! The sites that stand for kinds of task: what an account, another account and a stranger get.

use serde_json::json;

use super::*;
use crate::demand::password;

/// Signs in by the form and gives the session's cookies back, as a header holds them.
async fn sign_in(testbed: &Testbed, host: &str, account: &str) -> String {
    let fields = format!("name={account}&password={}", password(account));
    let answer = client(testbed)
        .post(url(testbed, &format!("{host}/login")))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(fields)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 303, "{host} {account}");
    let cookies = answer.headers().get_all("set-cookie").iter().map(|it| it.to_str().unwrap());
    cookies.map(|it| it.split(';').next().unwrap()).collect::<Vec<_>>().join("; ")
}

#[tokio::test]
async fn each_account_gets_its_own_until_its_session_ends() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let loans = async |cookies: &str| {
        json_of(client.get(url(&testbed, "shelfmark.test/my/loans.json")).header("cookie", cookies))
            .await
    };
    let (ada, ben) = (
        sign_in(&testbed, "shelfmark.test", "ada-lund").await,
        sign_in(&testbed, "shelfmark.test", "ben-okoro").await,
    );
    for (account, cookies, count) in [("ada-lund", &ada, 7), ("ben-okoro", &ben, 4)] {
        let expected =
            url(&testbed, &format!("control.test/expected?site=shelfmark.test&account={account}"));
        let (_, expected) = json_of(client.get(expected)).await;
        assert_eq!(expected.as_array().unwrap().len(), count);
        assert_eq!(loans(cookies).await.1, json!({ "loans": expected }));
    }
    let none = json!({ "loans": [] });
    assert_eq!(loans("").await, (StatusCode::OK, none.clone()), "a stranger");
    client
        .get(url(&testbed, "control.test/expire?site=shelfmark.test&account=ada-lund"))
        .send()
        .await
        .unwrap();
    assert_eq!(loans(&ada).await.1, none);
    assert_ne!(loans(&ben).await.1, none);
}

#[tokio::test]
async fn a_ticket_needs_its_owner_and_the_repeated_cookie() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let cookies = sign_in(&testbed, "desk.test", "ada-lund").await;
    let csrf = cookies.split_once("desk_csrf=").unwrap().1.to_owned();
    let ticket = async |number: u32, csrf: &str| {
        let call = client.get(url(&testbed, &format!("desk.test/rest/tickets/{number}")));
        json_of(call.header("cookie", &cookies).header("x-csrf", csrf)).await
    };
    let (status, own) = ticket(3, &csrf).await;
    assert_eq!((status.as_u16(), own.as_object().unwrap().len()), (200, 11));
    let (status, other) = ticket(4, &csrf).await;
    assert_eq!((status.as_u16(), other.as_object().unwrap().len()), (404, 11));
    assert_eq!(ticket(3, "").await.0, 403);
}

#[tokio::test]
async fn a_refresh_token_is_good_for_one_use() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let call = async |path: &str, body: Value| {
        json_of(client.post(url(&testbed, &format!("api.huddle.test{path}"))).json(&body)).await
    };
    let (_, first) =
        call("/session", json!({ "name": "ada-lund", "password": password("ada-lund") })).await;
    let rooms = async |token: &Value, workspace: &str| {
        let at = url(&testbed, &format!("api.huddle.test/rooms?workspace={workspace}"));
        json_of(client.get(at).bearer_auth(token.as_str().unwrap())).await.0.as_u16()
    };
    assert_eq!(rooms(&first["access"], "millrace").await, 200);
    assert_eq!(rooms(&first["access"], "stonecrop").await, 403);
    client.get(url(&testbed, "control.test/expire?site=api.huddle.test")).send().await.unwrap();
    assert_eq!(rooms(&first["access"], "millrace").await, 401);
    let refresh = json!({ "refresh": first["refresh"] });
    let (status, second) = call("/session/refresh", refresh.clone()).await;
    assert_eq!((status.as_u16(), rooms(&second["access"], "millrace").await), (200, 200));
    assert_eq!(call("/session/refresh", refresh).await.0, 401);
}

#[tokio::test]
async fn pages_of_finds_overlap_and_end_by_a_repeated_mark() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let mut lengths = std::collections::BTreeSet::new();
    for place in ["oakham", "firwood", "marsh", "dune", "fen"] {
        let (_, all) =
            json_of(client.get(url(
                &testbed,
                &format!("control.test/expected?site=spore.test&place={place}"),
            )))
            .await;
        let all = all.as_array().unwrap();
        let (mut mark, mut seen) = (String::new(), Vec::new());
        loop {
            let (_, page) = json_of(
                client.get(url(&testbed, &format!("spore.test/finds?place={place}&mark={mark}"))),
            )
            .await;
            seen.extend(page["finds"].as_array().unwrap().iter().cloned());
            let next = page["mark"].as_str().unwrap();
            if next == mark || page["finds"].as_array().unwrap().len() == all.len() {
                break;
            }
            next.clone_into(&mut mark);
        }
        seen.dedup();
        for it in all {
            assert!(seen.contains(it), "{place}: {it}");
        }
        lengths.insert(all.len());
    }
    assert!(lengths.len() > 1, "{lengths:?}");
}

#[tokio::test]
async fn what_ends_with_time_ends_when_a_site_is_turned() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let turn = async |site: &str| {
        client.get(url(&testbed, &format!("control.test/turn?site={site}"))).send().await.unwrap();
    };
    let page = client.get(url(&testbed, "pawns.test/")).send().await.unwrap().text().await.unwrap();
    let visitor = page
        .split_once("visitor=")
        .unwrap()
        .1
        .split_once("visitor=")
        .unwrap()
        .1
        .split_once(';')
        .unwrap()
        .0
        .to_owned();
    let rank = async || {
        let call = client.get(url(&testbed, "pawns.test/api/rank?league=north"));
        call.header("cookie", format!("visitor={visitor}")).send().await.unwrap().status().as_u16()
    };
    assert_eq!(rank().await, 200);
    turn("pawns.test").await;
    assert_eq!(rank().await, 403);

    let (_, poster) = json_of(client.get(url(&testbed, "playbill.test/poster/7.json"))).await;
    let file = poster["renderings"]["large"].as_str().unwrap().trim_start_matches('/').to_owned();
    let kind = async || {
        let answer = client.get(url(&testbed, &file)).send().await.unwrap();
        answer.headers()["content-type"].to_str().unwrap().to_owned()
    };
    assert_eq!(kind().await, "image/png");
    turn("playbill.test").await;
    assert_eq!(kind().await, "text/html; charset=utf-8");
}
