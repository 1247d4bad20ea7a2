//! The browser and its session over https: what is recorded, which cookies and referrers go where, what a secure page may mix.

use super::{
    session::{get, names, seen, setting_at},
    *,
};
use commis_net::transport::public_http::PublicHttp;
use commis_recipe::model::TransportKind;
use commis_testbed::{HostileServer, Testbed};

async fn browser(test_hosts: Vec<String>) -> Option<Browser> {
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return None;
    };
    let test_ca_pem = Some(commis_testbed::authority_pem());
    let settings = EgressSettings { test_hosts, test_ca_pem, ..EgressSettings::default() };
    let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
    Some(Browser::launch(&exe, policy).await.unwrap())
}

/// Redirected to https, remembered to be so, with a session that only https knows, and what it embeds in the clear refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_over_https_is_recorded() {
    let web = Testbed::start(0).await.unwrap();
    let Some(browser) = browser(vec![format!("*.test={}", web.addr())]).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    let steps = "
- fill: {role: searchbox, name: Search boxes, value: silver}
- click: {role: button, name: Search}
- wait_for: {text: results for silver}
";
    let recording = context.record(&plan("http://vault.test/", steps)).await.unwrap();
    let lines = urls(&recording);
    println!("{lines:#?}");
    let first = &recording.exchanges[0];
    assert_eq!((first.url.as_str(), first.status), ("http://vault.test/", Some(308)));
    let page = &recording.exchanges[1];
    assert_eq!((page.url.as_str(), page.redirected_from), ("https://vault.test/", Some(0)));
    let search = exchange(&recording, "/api/boxes");
    assert_eq!((search.url.scheme(), search.status), ("https", Some(200)));
    let cookies: Vec<&str> = search
        .request_headers
        .iter()
        .filter(|it| it.0.eq_ignore_ascii_case("cookie"))
        .map(|it| it.1.as_str())
        .collect();
    assert!(cookies.iter().any(|it| it.contains("__Host-vault=")), "{cookies:?}");
    assert!(text(search).contains("insured"));
    assert!(recording.page.cookies.iter().any(|it| it.0 == "__Host-vault"));
    // A picture is upgraded, a script is not fetched at all.
    let hits = web.hits();
    assert!(!hits.keys().any(|it| it.contains("/js/insecure.js")), "{hits:?}");
    assert!(exchange(&recording, "page=vault.test").url.scheme() == "https", "{lines:#?}");
    // One request in the clear: the next visit goes to https by itself.
    context.open("http://vault.test/", Duration::from_secs(10)).await.unwrap();
    assert_eq!(web.protocols()["http/1.1"], 1, "{:?}", web.protocols());
    assert!(web.protocols()["h2"] > 5, "{:?}", web.protocols());

    // Both transports of the session, and a stranger.
    let url = "https://vault.test/api/boxes?q=tin";
    for transport in [TransportKind::ContextRequest, TransportKind::InPageFetch] {
        let reply = context.transport(transport).send(&alone(url)).await.unwrap();
        assert_eq!(reply.status, 200, "{transport:?}");
    }
    let stranger = PublicHttp::new(Arc::clone(browser.policy())).unwrap();
    assert_eq!(stranger.send(&alone(url)).await.unwrap().status, 401);
    // In the clear its cookies go nowhere.
    let plain = context.context_request().send(&alone("http://vault.test/api/boxes?q=tin")).await;
    assert_eq!(plain.map(drop).unwrap_err().code(), Code::RedirectBlocked);
    browser.close().await.unwrap();
}

fn alone(url: &str) -> PreparedRequest {
    PreparedRequest { allowed_domains: Vec::new(), ..get(url) }
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_over_https_are_kept_as_a_browser_keeps_them() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let cookies = [
        "plain=1",
        "secure=1; Secure",
        "__Host-a=1; Path=/; Secure",
        "__Host-b=1; Path=/headers; Secure",
        "__Host-c=1; Path=/; Secure; Domain=shop.test",
        "__Host-d=1; Path=/",
        "__Secure-e=1; Secure; Domain=shop.test",
        "__Secure-f=1",
        "cross=1; SameSite=None; Secure",
        "crossbare=1; SameSite=None",
    ];
    let mut all = Vec::new();
    for ours in [true, false] {
        let mut context = browser.context().await.unwrap();
        context.open("https://shop.test/", Duration::from_secs(10)).await.unwrap();
        let kind = if ours { TransportKind::ContextRequest } else { TransportKind::InPageFetch };
        let set = setting_at("https://shop.test/set", &cookies, "");
        assert_eq!(context.transport(kind).send(&get(&set)).await.unwrap().status, 200);
        let mut sent = Vec::new();
        for url in [
            "https://shop.test/headers",
            "https://sub.shop.test/headers",
            "http://shop.test/headers",
        ] {
            sent.push(names(&seen(&context.context_request(), url).await));
        }
        context.dispose().await.unwrap();
        all.push(sent);
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(
        all[0][0],
        ["__Host-a", "__Secure-e", "cross", "plain", "secure", "sid"],
        "over https"
    );
    assert_eq!(all[0][1], ["__Secure-e"], "at a subdomain");
    // The same host in the clear is another site (schemeful same-site): not even what is not `Secure` goes there.
    assert!(all[0][2].is_empty(), "{all:?}");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn referrers_and_mixed_content() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    context.open("https://shop.test/?a#b", Duration::from_secs(10)).await.unwrap();
    let (ours, pages) = (context.context_request(), context.in_page_fetch());
    for (url, referer) in [
        ("https://shop.test/headers", Some("https://shop.test/?a")),
        ("https://other.test/headers", Some("https://shop.test/")),
    ] {
        for transport in [&ours as &dyn Transport, &pages] {
            let headers = seen(transport, url).await;
            assert_eq!(headers["referer"].as_str(), referer, "{:?} {url}", transport.kind());
        }
    }
    // In the clear nobody is told where one came from; a page may not even ask.
    let headers = seen(&ours, "http://other.test/headers").await;
    assert_eq!(headers.get("referer"), None);
    let refused = pages.send(&get("http://other.test/headers")).await.map(drop).unwrap_err();
    assert_eq!(refused.code(), Code::ConnectFailed);
    // The other way round the origin is told.
    context.open("http://shop.test/", Duration::from_secs(10)).await.unwrap();
    for transport in [&ours as &dyn Transport, &pages] {
        let headers = seen(transport, "https://other.test/headers").await;
        assert_eq!(headers["referer"], "http://shop.test/", "{:?}", transport.kind());
    }
    browser.close().await.unwrap();
}

/// What only HTTP/2 can do, in a recording: the whole answers are there, the cut ones are not taken for whole.
#[tokio::test(flavor = "multi_thread")]
async fn oddities_of_http2_are_recorded() {
    let web = HostileServer::start(0).await.unwrap();
    let site = serve().await;
    let hosts = vec![format!("*.test={}", site.addr), format!("h2.wild.test={}", web.addr())];
    let Some(browser) = browser(hosts).await else {
        return;
    };
    let whole = ["early-hints", "many-hints", "trailers", "reset-after-body", "goaway-after"];
    let cut = ["reset-after-head", "reset-in-body", "goaway-in-body", "cut"];
    let calls: Vec<String> = whole.iter().chain(&cut).map(|it| format!("'/h2/{it}'")).collect();
    let html = format!(
        "<p id=out></p><script>(async () => {{ for (const it of [{}]) \
         await fetch('https://h2.wild.test' + it).then(r => r.text()).catch(() => {{}}); \
         out.textContent = 'done'; }})()</script>",
        calls.join(",")
    );
    let mut page = url::Url::parse("https://shop.test/html").unwrap();
    page.query_pairs_mut().append_pair("html", &html);
    let mut context = browser.context().await.unwrap();
    let recording = context.record(&plan(page.as_str(), "- wait_for: {text: done}")).await.unwrap();
    println!("{:#?}", urls(&recording));
    for name in whole {
        let it = exchange(&recording, &format!("/h2/{name}"));
        assert_eq!((it.status, text(it)), (Some(200), "ok".to_owned()), "{name}");
    }
    for name in cut {
        let it = exchange(&recording, &format!("/h2/{name}"));
        let missing = matches!(it.body, RawBody::Missing(BodyStatus::Failed));
        assert!(missing, "{name}: {:?}", it.status);
    }
    let early: Vec<_> =
        web.requests().into_iter().filter(|it| it.path.contains("hinted")).collect();
    assert!(early.is_empty(), "{early:?}");
    assert!(recording.exchanges.iter().all(|it| !it.url.path().contains("hinted")));
    browser.close().await.unwrap();
}
