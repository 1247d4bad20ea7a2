//! Each data call: what it answers, and what it refuses.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::{client, json_of, url};
use crate::Testbed;
use crate::sites::docs;

#[tokio::test]
async fn data_calls_answer_and_depend_on_their_parameter() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    // The call with `{}` for the parameter, and where its list is.
    for (call, list) in [
        ("shop.test/api/search?q={}&page=1", "/items"),
        ("shop.test/api/suggest?q={}", "/suggestions"),
        ("city.test/api/weather/v2/{}/forecast", "/days"),
        ("library.test/v1/books?search={}&page=1&per_page=20", "/items"),
        ("stats.test/data/series?country={}", "/points"),
        ("flights.test/api/offers?from={}&to=Oslo&limit=20", "/offers"),
        ("flights.test/api/offers?from=Oslo&to={}&limit=20", "/offers"),
        ("archive.test/api/records?term={}", "/result/records"),
        ("widget.framehost.test/api/quotes?q={}", "/quotes"),
        ("worker.test/api/stars?name={}", "/stars"),
        ("redirect.test/api/v2/items?q={}", "/items"),
    ] {
        let get = async |value: &str| {
            json_of(client.get(url(&testbed, &call.replace("{}", value)))).await
        };
        let (status, rust) = get("rust").await;
        assert_eq!(status, 200, "{call}");
        assert!(!rust.pointer(list).unwrap().as_array().unwrap().is_empty(), "{call}");
        assert_eq!(rust, get("rust").await.1, "{call}: same again");
        assert_ne!(rust.pointer(list), get("sqlite").await.1.pointer(list), "{call}: other");
        if call.contains('?') {
            assert_eq!(rust, get("rust&_t=17&unknown=x").await.1, "{call}: unknown parameters");
        }
        let (status, refusal) = get("").await;
        assert_eq!((status.as_u16(), refusal["error"].is_string()), (400, true), "{call}: missing");
    }
}

#[tokio::test]
async fn pages_follow_one_another() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let mut call = "/v1/books?search=rust&page=1&per_page=5".to_owned();
    let mut seen = Vec::new();
    let total = loop {
        let (_, page) = json_of(client.get(url(&testbed, &format!("library.test{call}")))).await;
        seen.extend(page["items"].as_array().unwrap().iter().map(|book| book["isbn"].to_string()));
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut call),
            None => break page["total"].as_u64().unwrap(),
        }
    };
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len() as u64, total);
}

#[tokio::test]
async fn searchkit_wants_its_public_key() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let page = client.get(url(&testbed, "docs.test/")).send().await.unwrap().text().await.unwrap();
    assert!(page.contains(docs::APPLICATION) && page.contains(docs::KEY));

    let at = url(&testbed, "abc123-dsn.searchkit.test/1/indexes/docs/query");
    for (application, key, query, expected) in [
        (docs::APPLICATION, docs::KEY, "caching", 200),
        (docs::APPLICATION, docs::KEY, " ", 400),
        (docs::APPLICATION, "00000000000000000000000000000000", "caching", 403),
        ("", "", "caching", 403),
    ] {
        let request = client
            .post(&at)
            .header("x-searchkit-application-id", application)
            .header("x-searchkit-api-key", key)
            .header("origin", "http://docs.test")
            .body(json!({ "query": query, "hitsPerPage": 10, "facets": ["*"] }).to_string());
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), expected, "{application} {key} {query}");
        assert_eq!(response.headers()["access-control-allow-origin"], "http://docs.test");
    }

    let preflight = client
        .request(Method::OPTIONS, &at)
        .header("origin", "http://docs.test")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,x-searchkit-api-key")
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 204);
    assert_eq!(
        preflight.headers()["access-control-allow-headers"],
        "content-type,x-searchkit-api-key"
    );
}

#[tokio::test]
async fn graphql_tells_its_operations_apart() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let at = url(&testbed, "code.test/graphql");
    let search = json!({ "operationName": "RepoSearch", "variables": { "q": "parser" } });
    for (body, status, pointer) in [
        (json!({ "operationName": "Viewer" }), 200, "/data/viewer"),
        (json!({ "operationName": "Notifications" }), 200, "/data/notifications/nodes/0/title"),
        (json!({ "operationName": "Trending" }), 200, "/data/trending/nodes/0/name"),
        (search, 200, "/data/search/edges/0/node/nameWithOwner"),
        (json!({ "query": "query Viewer { viewer { login } }" }), 200, "/data/viewer"),
        (json!({ "operationName": "RepoSearch", "variables": {} }), 400, "/errors/0/message"),
        (json!({ "operationName": "Other" }), 400, "/errors/0/message"),
    ] {
        let (got, answer) = json_of(client.post(&at).body(body.to_string())).await;
        assert_eq!(got, status, "{body}");
        assert!(answer.pointer(pointer).is_some(), "{body}: {answer}");
    }
}

#[tokio::test]
async fn jobs_are_sent_as_a_form() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let at = url(&testbed, "jobs.test/search");
    let post = async |form: &'static str| json_of(client.post(&at).body(form)).await;
    let (_, full) = post("keywords=data+analyst&sort=relevance&source=homepage").await;
    assert!(full["jobs"][0]["position"].as_str().unwrap().contains("Data Analyst"));
    assert_eq!(post("keywords=data+analyst").await.1, full);
    assert_ne!(post("keywords=data+analyst&sort=date").await.1, full);
    assert_eq!(post("sort=relevance&keywords=").await.0, 400);
}

#[tokio::test]
async fn documents_hold_the_data() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let get = async |rest: &str| {
        let response = client.get(url(&testbed, rest)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (status, news) = get("news.test/search?q=harbour").await;
    assert_eq!((status, get("news.test/search").await.0), (200, 400));
    assert!(news.contains("results for harbour</h1>"));
    assert!(news.matches(r#"<li class="result">"#).count() >= 7);
    assert_ne!(news, get("news.test/search?q=election").await.1);

    let (status, recipes) = get("recipes.test/find?q=barley").await;
    assert_eq!((status, get("recipes.test/find").await.0), (200, 400));
    let page = scraper::Html::parse_document(&recipes);
    let script = scraper::Selector::parse("script#__PAGE_DATA__").unwrap();
    let text: String = page.select(&script).next().unwrap().text().collect();
    let data: Value = serde_json::from_str(&text).unwrap();
    let name = data["props"]["recipes"][0]["name"].as_str().unwrap();
    assert_eq!(recipes.matches(name).count(), 1, "{name} stands in the JSON alone");
}

/// The cookie as a client sends it back.
fn cookie(response: &reqwest::Response) -> String {
    let set = response.headers()["set-cookie"].to_str().unwrap();
    assert!(set.contains("HttpOnly"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn forum_wants_a_session() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let visit = async || cookie(&client.get(url(&testbed, "forum.test/")).send().await.unwrap());
    let (one, two) = (visit().await, visit().await);
    assert_ne!(one, two);
    let forged = format!("{}0", &one[..one.len() - 1]);
    for (cookie, call, status) in [
        (one.as_str(), "forum.test/api/threads?q=gearbox", 200),
        (two.as_str(), "forum.test/api/threads?q=gearbox", 200),
        (two.as_str(), "forum.test/api/threads", 400),
        (forged.as_str(), "forum.test/api/threads?q=gearbox", 401),
        ("", "forum.test/api/threads?q=gearbox", 401),
    ] {
        let request = client.get(url(&testbed, call)).header("cookie", cookie);
        assert_eq!(json_of(request).await.0, status, "{cookie} {call}");
    }
}

#[tokio::test]
async fn tickets_want_the_token_of_the_session() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let visit = async || {
        let response = client.get(url(&testbed, "tickets.test/")).send().await.unwrap();
        let cookie = cookie(&response);
        let page = response.text().await.unwrap();
        let (_, rest) = page.split_once(r#"name="csrf-token" content=""#).unwrap();
        (cookie, rest.split('"').next().unwrap().to_owned())
    };
    let ((cookie, token), (other_cookie, other_token)) = (visit().await, visit().await);
    let page = "http://tickets.test";
    for (cookie, token, origin, text, status) in [
        (&*cookie, &*token, page, "leak", 200),
        (&*other_cookie, &*other_token, page, "leak", 200),
        (&*cookie, &*token, page, "", 400),
        (&*cookie, &*other_token, page, "leak", 403),
        (&*cookie, "", page, "leak", 403),
        ("", &*token, page, "leak", 403),
        (&*cookie, &*token, "http://shop.test", "leak", 403),
        (&*cookie, &*token, "", "leak", 403),
    ] {
        let request = client
            .post(url(&testbed, "tickets.test/api/tickets/search"))
            .header("origin", origin)
            .header("cookie", cookie)
            .header("x-csrf-token", token)
            .body(json!({ "text": text }).to_string());
        assert_eq!(json_of(request).await.0, status, "{cookie} {token} {origin} {text}");
    }
    let bare = client
        .post(url(&testbed, "tickets.test/api/tickets/search"))
        .body(json!({ "text": "leak" }).to_string());
    assert_eq!(json_of(bare).await.0, 403, "neither cookie nor token");
}

#[tokio::test]
async fn archive_compresses_as_accepted() {
    let testbed = Testbed::start(0).await.unwrap();
    rustls::crypto::ring::default_provider().install_default().ok();
    let plain = Client::builder()
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .resolve("archive.test", testbed.addr())
        .build()
        .unwrap();
    let at = url(&testbed, "archive.test/api/records?term=shipwreck");
    let whole = client(&testbed).get(&at).send().await.unwrap().bytes().await.unwrap();
    assert!((400_000..700_000).contains(&whole.len()), "{}", whole.len());
    for (accepted, coding) in [
        ("gzip, deflate, br, zstd", Some("br")),
        ("gzip;q=0.8, deflate", Some("gzip")),
        ("identity", None),
        ("", None),
    ] {
        let response = plain.get(&at).header("accept-encoding", accepted).send().await.unwrap();
        let named = response.headers().get("content-encoding").map(|v| v.to_str().unwrap());
        assert_eq!(named, coding, "{accepted}");
        let bytes = response.bytes().await.unwrap();
        assert_eq!(bytes == whole, coding.is_none(), "{accepted}");
    }
}

#[tokio::test]
async fn orders_are_counted_and_members_stay_out() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let orders = async || json_of(client.get(url(&testbed, "control.test/orders"))).await.1;
    assert_eq!(orders().await, json!({ "orders": 0 }));
    let order = json!({ "sku": "KETTLE-15", "quantity": 1, "note": "ring twice" });
    let place = async |body: Value| {
        json_of(client.post(url(&testbed, "store.test/api/orders")).body(body.to_string())).await
    };
    let (status, receipt) = place(order).await;
    assert_eq!((status.as_u16(), &receipt["status"]), (201, &json!("placed")));
    assert_eq!(place(json!({})).await.0, 400);
    assert_eq!(orders().await, json!({ "orders": 1 }));

    let (status, refusal) =
        json_of(client.get(url(&testbed, "members.test/api/members?q=Moreau"))).await;
    assert_eq!((status.as_u16(), refusal), (401, json!({ "error": "login required" })));
}
