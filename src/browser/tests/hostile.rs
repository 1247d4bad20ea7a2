//! What pages may not do.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_places_are_not_reached() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    let steps = "- wait_for: {text: failed 5}";
    let recording = context.record(&plan("http://shop.test/forbidden", steps)).await.unwrap();
    println!("{:#?}\n{:#?}", urls(&recording), recording.blocked);
    let here = site.addr.to_string();
    let places = [&*here, "169.254.169.254", "[::1]", "user.internal", "10.0.0.1", "192.168.0.1"];
    for part in places {
        let named = recording.blocked.iter().any(|it| it.url.contains(part));
        assert!(named, "{part} {:#?}", recording.blocked);
    }
    // A WebSocket is refused by the proxy, and a recording does not wait for one.
    let is_socket = |it: &BlockedRequest| it.url.contains("127.0.0.1:1234");
    wait_until("refusal of the WebSocket", || context.blocked().iter().any(is_socket)).await;
    let metadata = exchange(&recording, "169.254");
    assert!(matches!(metadata.body, RawBody::Missing(BodyStatus::Failed)));
    assert_eq!(metadata.status, None);
    let reached = site.log.lock().unwrap().clone();
    assert!(reached.iter().all(|it| it.starts_with("shop.test/")), "{reached:?}");

    for (url, code) in [
        ("http://127.0.0.1/", Code::UrlBlocked),
        ("file:///etc/passwd", Code::UrlBlocked),
        ("chrome://version", Code::UrlBlocked),
    ] {
        let err = context.open(url, Duration::from_secs(5)).await.unwrap_err();
        assert!(err.code() == code || err.code() == Code::UrlInvalid, "{url} {err:?}");
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_are_dismissed_and_popups_closed() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    let steps = "- click: {role: button, name: Ask}";
    let recording = context.record(&plan("http://shop.test/", steps)).await.unwrap();
    assert_eq!(recording.page.title, "asked");
    let reached = site.log.lock().unwrap().clone();
    assert!(!reached.iter().any(|it| it.contains("/popup")), "{reached:?}");
    let steps = "- click: {role: link, name: Next page}\n- wait_for: {text: second page}";
    let recording = context.record(&plan("http://shop.test/", steps)).await.unwrap();
    assert_eq!(recording.page.url, "http://shop.test/next");
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_beside_the_proxy() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let stun = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut context = browser.context().await.unwrap();
    let url = format!("http://shop.test/rtc?{}", stun.local_addr().unwrap());
    let steps = "- wait_for: {text: gathered}";
    let recording = context.record(&plan(&url, steps)).await.unwrap();
    assert_eq!(recording.page.visible_text.trim(), "gathered 0");
    let mut packet = [0; 64];
    assert!(stun.try_recv(&mut packet).is_err());
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn navigation_fails_with_a_reason() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    let mut check = async |url: &str, code: Code| {
        let err = context.open(url, Duration::from_secs(2)).await.unwrap_err();
        assert_eq!(err.code(), code, "{url}: {err}");
    };
    check("http://shop.test/file", Code::DownloadBlocked).await;
    check("http://shop.test/to-local", Code::UrlBlocked).await;
    check("http://shop.test/hang", Code::Timeout).await;
    check("https://expired.wrong.test/", Code::TlsFailed).await;
    check("http://shop.example/", Code::UrlBlocked).await;
    context.open("http://shop.test/next", Duration::from_secs(5)).await.unwrap();
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn contexts_are_apart_and_nothing_is_lost_under_load() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let browser = browser.clone();
            tokio::spawn(async move {
                let mut context = browser.context().await.unwrap();
                let steps = "- wait_for: {text: done 300}";
                let mut recording =
                    context.record(&plan("http://shop.test/many", steps)).await.unwrap();
                recording.exchanges.retain(|it| it.url.path() == "/echo-get");
                assert_eq!(recording.exchanges.len(), 300);
                for it in &recording.exchanges {
                    assert_eq!(text(it), it.url.query().unwrap());
                }
                assert_eq!(recording.page.cookies.len(), 1);
                context.dispose().await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    browser.close().await.unwrap();
}
