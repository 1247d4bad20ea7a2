//! What is not data: pages, limits, counters, the server itself.

use reqwest::Client;
use serde_json::json;

use super::{client, json_of, url};
use crate::{HOSTS, Testbed};

#[test]
fn hosts_are_sorted() {
    assert!(HOSTS.is_sorted());
}

#[tokio::test]
async fn transports_find_their_traps() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    for (call, status, location) in [
        ("endless.test/loop", 302, Some("/loop")),
        ("endless.test/to-private", 302, Some("http://127.0.0.1/")),
        ("endless.test/to-metadata", 302, Some("http://169.254.169.254/")),
        ("endless.test/status/503", 503, None),
        ("endless.test/status/204", 204, None),
        ("endless.test/status/abc", 400, None),
        ("endless.test/slow?ms=1", 200, None),
        ("redirect.test/old-api?q=red%20glove", 302, Some("/api/v2/items?q=red+glove")),
        ("shop.test/no/such/page", 404, None),
    ] {
        let response = client.get(url(&testbed, call)).send().await.unwrap();
        assert_eq!(response.status(), status, "{call}");
        let named = response.headers().get("location").map(|v| v.to_str().unwrap());
        assert_eq!(named, location, "{call}");
    }
    for (call, size) in [
        ("endless.test/bomb.gz", 10 << 20..(10 << 20) + 1),
        ("endless.test/big.json", 1_400_000..1_700_000),
    ] {
        let body = client.get(url(&testbed, call)).send().await.unwrap().bytes().await.unwrap();
        assert!(size.contains(&body.len()), "{call}: {}", body.len());
    }
    let mut drip = client.get(url(&testbed, "endless.test/drip")).send().await.unwrap();
    assert_eq!(drip.chunk().await.unwrap().unwrap(), ".");
}

#[tokio::test]
async fn every_page_loads_with_all_that_it_names() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let named = scraper::Selector::parse("script[src], img[src], link[href]:not([rel=canonical])");
    let named = named.unwrap();
    let third = ["abc123", "ads.", "api.", "config.", "control.", "files.", "metrics.", "widget."];
    // Answers over https alone.
    let third = [&third[..], &["sound.", "vault."]].concat();
    // Want a name and a password of everybody.
    let third = [&third[..], &["annex.", "vanpool."]].concat();
    // Strangers are sent to another host.
    let third = [&third[..], &["id.", "lectern.", "lund.", "okoro.", "marsh."]].concat();
    let sites = HOSTS.iter().filter(|host| !third.iter().any(|start| host.starts_with(start)));
    for host in sites {
        let mut page = client.get(url(&testbed, &format!("{host}/"))).send().await.unwrap();
        // Where strangers are sent from everywhere else.
        if page.headers().get("location").is_some_and(|it| it == "/login") {
            page = client.get(url(&testbed, &format!("{host}/login"))).send().await.unwrap();
        }
        assert_eq!(page.status(), 200, "{host}");
        let page = page.text().await.unwrap();
        assert!(!page.contains("{{"), "{host}: placeholder left");
        let links: Vec<String> = scraper::Html::parse_document(&page)
            .select(&named)
            .filter(|element| element.attr("rel") != Some("preconnect"))
            .filter_map(|element| element.attr("src").or(element.attr("href")))
            .map(str::to_owned)
            .collect();
        for link in links {
            let rest = match link.strip_prefix("http://").or(link.strip_prefix("//")) {
                Some(absolute) => absolute.to_owned(),
                None => format!("{host}{link}"),
            };
            let status = client.get(url(&testbed, &rest)).send().await.unwrap().status();
            assert_eq!(status, 200, "{host}: {link}");
        }
    }
}

#[tokio::test]
async fn hits_are_counted_under_the_host_that_was_asked_for() {
    let testbed = Testbed::start(0).await.unwrap();
    let client = client(&testbed);
    let get = async |at: String, host: &str| {
        client.get(at).header("host", host).send().await.unwrap().status().as_u16()
    };
    let direct = |path: &str| format!("http://{}{path}", testbed.addr());
    assert_eq!(get(direct("/hit"), "127.0.0.1:80").await, 404);
    assert_eq!(get(direct("/"), "localhost").await, 404);
    assert_eq!(get(direct("/"), "[::1]:80").await, 404);
    assert_eq!(get(direct("/api/search?q=rust"), "SHOP.test").await, 200);
    assert_eq!(get(direct("/api/search?q=sqlite"), "shop.test:8080").await, 200);
    let expected = [
        ("127.0.0.1 GET /hit", 1),
        ("[::1] GET /", 1),
        ("localhost GET /", 1),
        ("shop.test GET /api/search", 2),
    ];
    let expected = expected.map(|(key, count)| (key.to_owned(), count));
    assert_eq!(testbed.hits(), expected.into());
    let (_, told) = json_of(client.get(url(&testbed, "control.test/hits"))).await;
    assert_eq!(told, json!(testbed.hits()));
}

#[tokio::test]
async fn a_proxy_request_names_its_host_in_the_request_line() {
    let testbed = Testbed::start(0).await.unwrap();
    rustls::crypto::ring::default_provider().install_default().ok();
    let proxy = reqwest::Proxy::http(format!("http://{}", testbed.addr())).unwrap();
    let client = Client::builder().proxy(proxy).build().unwrap();
    let (status, answer) = json_of(client.get("http://shop.test/api/search?q=rust")).await;
    assert_eq!((status.as_u16(), &answer["query"]), (200, &json!("rust")));
}

#[tokio::test]
async fn a_dropped_testbed_stops_listening() {
    let testbed = Testbed::start(0).await.unwrap();
    let addr = testbed.addr();
    drop(testbed);
    // The listener closes when its task next runs; yield to it until it has.
    while tokio::net::TcpStream::connect(addr).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
