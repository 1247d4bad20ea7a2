//! Hosts of the user's own in the browser: their pages work, and have no company. That other sites' pages do not reach them is
//! seen in `channels.rs`.

use super::*;

/// The site under its test names, and as two hosts of the user's own.
fn open_policy(site: &Site) -> Arc<EgressPolicy> {
    let port = site.addr.port();
    let own = ["localhost", "127.0.0.1"].map(|it| (format!("{it}:{port}"), "127.0.0.1".to_owned()));
    let settings = EgressSettings {
        test_hosts: vec![format!("*.test={}", site.addr)],
        own: own.into(),
        ..EgressSettings::default()
    };
    Arc::new(EgressPolicy::new(&settings).unwrap())
}

async fn begin(site: &Site) -> Option<Browser> {
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return None;
    };
    Some(Browser::launch(&exe, open_policy(site)).await.unwrap())
}

fn page_of(origin: &str, html: &str) -> String {
    let html: String = url::form_urlencoded::byte_serialize(html.as_bytes()).collect();
    format!("{origin}/html?html={html}")
}

fn log(site: &Site) -> Vec<String> {
    site.log.lock().unwrap().clone()
}

async fn came(site: &Site, line: &str) {
    wait_until(line, || log(site).iter().any(|it| it.starts_with(line))).await;
}

async fn was_blocked(context: &Context, part: &str) {
    let is_it = |it: &BlockedRequest| it.url.contains(part) && it.code == "URL_BLOCKED";
    wait_until(part, || context.blocked().iter().any(is_it)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_host_of_ones_own_work_and_have_no_company() {
    let site = serve().await;
    let Some(browser) = begin(&site).await else { return };
    let port = site.addr.port();
    let own = format!("http://localhost:{port}");
    let mut context = browser.context().await.unwrap();
    let recording = context.record(&plan(&format!("{own}/parts"), "")).await.unwrap();
    for path in ["/parts", "/inner", "/from-worker", "/from-shared", "/post", "/hop", "/hop2"] {
        came(&site, &format!("localhost:{port}{path}")).await;
    }
    assert!(exchange(&recording, "/post").status == Some(200));
    // Another site may be asked for data; none of its pages is opened.
    came(&site, "other.test/preflighted").await;
    was_blocked(&context, "http://other.test/frame").await;

    // Whatever opens a page, and whatever comes back by way of another site.
    let back = format!("http://evil.test/away?{own}/by-redirect");
    let html = format!(
        "<p>company</p>
        <iframe src='http://evil.test/open?iframe'></iframe>
        <iframe sandbox='allow-scripts' src='http://evil.test/open?sandboxed'></iframe>
        <iframe src='/away?http://evil.test/open?redirected'></iframe>
        <iframe srcdoc=\"<iframe src='http://evil.test/open?nested'></iframe>\"></iframe>
        <object data='http://evil.test/open?object' type='text/html'></object>
        <embed src='http://evil.test/open?embed' type='text/html'>
        <iframe name='posted'></iframe>
        <form method=post target=posted action='http://evil.test/open?form'></form>
        <img src='{back}?img'><script src='{back}?script'></script>
        <img src='/away?{own}/own-redirect'>
        <img src='http://127.0.0.1:{port}/other-own'><img src='http://localhost:1/other-port'>
        <script>
          document.forms[0].submit();
          fetch('{back}?fetch', {{ mode: 'no-cors' }}).catch(() => {{}});
          fetch('/set?c=a%3D1&to={own}/own-hop').catch(() => {{}});
          new WebSocket('ws://localhost:{port}/socket');
          new WebSocket('ws://127.0.0.1:{port}/other-socket');
          window.open('http://evil.test/open?popup');
          new Worker(URL.createObjectURL(new Blob([`fetch('{back}?worker', {{ mode: 'no-cors' }})`])));
        </script>"
    );
    let mut context = browser.context().await.unwrap();
    context.record(&plan(&page_of(&own, &html), "- wait_for: {text: company}")).await.unwrap();
    for part in [
        "?iframe",
        "?sandboxed",
        "?redirected",
        "?nested",
        "?object",
        "?embed",
        "?form",
        "/by-redirect?img",
        "/by-redirect?script",
        "/by-redirect?fetch",
        "/by-redirect?worker",
        "/other-own",
        ":1/",
        &format!("127.0.0.1:{port}/"),
    ] {
        was_blocked(&context, part).await;
    }
    for path in ["/own-redirect", "/own-hop", "/socket"] {
        came(&site, &format!("localhost:{port}{path}")).await;
    }
    // Nor does the page itself go there, and who leads it there is told.
    let away = plan(&own, "- navigate: http://evil.test/open?by-plan");
    let mut context = browser.context().await.unwrap();
    let err = context.record(&away).await.err().unwrap();
    assert_eq!(err.code(), Code::UrlBlocked, "{err}");
    let leave = "<p>leaving<script>location = 'http://evil.test/open?by-itself'</script>";
    let mut context = browser.context().await.unwrap();
    let _ = context.record(&plan(&page_of(&own, leave), "- wait_for: {text: leaving}")).await;
    was_blocked(&context, "?by-itself").await;
    browser.close().await.unwrap();

    let wrong: Vec<_> = log(&site)
        .into_iter()
        .filter(|it| {
            it.starts_with("127.0.0.1")
                || it.contains("/by-redirect") && it.starts_with("localhost")
                || it.starts_with("evil.test/open")
                || it.starts_with("other.test/frame")
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_names_it_comes_to_a_host_of_ones_own() {
    let site = serve().await;
    let Some(browser) = begin(&site).await else { return };
    let port = site.addr.port();
    let (own, place) = (format!("http://localhost:{port}"), format!("localhost:{port}"));
    let code = |it: Result<()>| it.err().map_or("ok", |it| it.code().as_str());

    let mut context = browser.context().await.unwrap();
    let from_elsewhere = plan("http://shop.test/", &format!("- navigate: {own}/next"));
    let end = context.record(&from_elsewhere).await.map(drop);
    assert_eq!(code(end), "URL_BLOCKED");
    // It is decided before the first page.
    context.visit(Some(&place));
    let open = context.open(&own, Duration::from_secs(10)).await;
    assert_eq!(code(open), "URL_BLOCKED");
    let mut context = browser.context().await.unwrap();
    let open = context.open(&own, Duration::from_secs(10)).await;
    assert_eq!(code(open), "URL_BLOCKED");
    assert!(log(&site).iter().all(|it| !it.starts_with("localhost")));

    let mut context = browser.context().await.unwrap();
    context.visit(Some(&place));
    context.open(&own, Duration::from_secs(10)).await.unwrap();
    let request = |url: String, own_host: Option<&str>| PreparedRequest {
        method: "GET".to_owned(),
        url,
        headers: Vec::new(),
        body: None,
        allowed_domains: Vec::new(),
        own_host: own_host.map(str::to_owned),
    };
    let second = format!("127.0.0.1:{port}");
    let elsewhere = format!("http://{second}/next");
    for (url, own_host, want) in [
        (format!("{own}/next"), Some(&*place), "ok"),
        (format!("{own}/next"), None, "URL_BLOCKED"),
        (format!("{own}/next"), Some(&*second), "URL_BLOCKED"),
        (elsewhere.clone(), Some(&*place), "URL_BLOCKED"),
        (elsewhere, None, "URL_BLOCKED"),
    ] {
        let request = request(url, own_host);
        let transports: [Box<dyn Transport>; 2] =
            [Box::new(context.in_page_fetch()), Box::new(context.context_request())];
        for it in transports {
            let end = it.send(&request).await.map(drop);
            assert_eq!(code(end), want, "{} {own_host:?} {:?}", request.url, it.kind());
        }
    }
    // The page of another site lends its session to none of it.
    let mut context = browser.context().await.unwrap();
    context.open("http://shop.test/", Duration::from_secs(10)).await.unwrap();
    let end = context.in_page_fetch().send(&request(format!("{own}/sneaked"), Some(&place))).await;
    assert_ne!(code(end.map(drop)), "ok");
    browser.close().await.unwrap();
    assert!(log(&site).iter().all(|it| !it.contains("/sneaked")), "{:#?}", log(&site));
}

/// A page that stays is at a host of the user's own from its first page on, or never.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_stays_is_at_a_host_of_ones_own_or_elsewhere() {
    use crate::page_session::{Command, PageController};
    let site = serve().await;
    let Some(browser) = begin(&site).await else { return };
    let own = format!("http://localhost:{}/next", site.addr.port());
    let elsewhere = "http://shop.test/next".to_owned();
    for (first, second) in [(&own, &elsewhere), (&elsewhere, &own)] {
        let context = browser.context().await.unwrap();
        let mut desk = PageController::new(context, Duration::from_secs(20), None).unwrap();
        desk.run(Command::Goto(first.clone())).await.unwrap();
        let err = desk.run(Command::Goto(second.clone())).await.unwrap_err();
        assert_eq!(err.code(), Code::UrlBlocked, "{err}");
        assert!(err.hint_text().unwrap().contains("another --context"), "{err}");
        let at = desk.run(Command::Url).await.unwrap().text;
        assert_ne!(at, *second);
    }
    browser.close().await.unwrap();
}
