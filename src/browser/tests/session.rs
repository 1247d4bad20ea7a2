//! `context_request`: our client in the browser's session.

use serde_json::Value;

use super::*;
use commis_base::settings::Home;
use commis_net::transport::public_http::PublicHttp;
use commis_vault::{Login, LoginHttp, Vault};

pub fn get(url: &str) -> PreparedRequest {
    PreparedRequest {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        allowed_domains: ["shop.test", "other.test", "sub.shop.test"].map(str::to_owned).to_vec(),
        own_host: None,
    }
}

pub async fn seen(transport: &dyn Transport, url: &str) -> Value {
    let reply = transport.send(&get(url)).await.unwrap();
    assert_eq!(reply.status, 200, "{url}");
    assert!(reply.headers.iter().all(|it| it.0 != "set-cookie"));
    serde_json::from_slice(&reply.body).unwrap()
}

/// Names of the cookies that arrived, in order.
pub fn names(headers: &Value) -> Vec<String> {
    let cookies = headers["cookie"].as_str().unwrap_or("");
    cookies
        .split("; ")
        .map(|it| it.split('=').next().unwrap().to_owned())
        .filter(|it| !it.is_empty())
        .collect()
}

pub fn setting(cookies: &[&str], to: &str) -> String {
    setting_at("http://shop.test/set", cookies, to)
}

pub fn setting_at(url: &str, cookies: &[&str], to: &str) -> String {
    let mut url = url::Url::parse(url).unwrap();
    for it in cookies {
        url.query_pairs_mut().append_pair("c", it);
    }
    if !to.is_empty() {
        url.query_pairs_mut().append_pair("to", to);
    }
    url.into()
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_asks_as_the_browser_would() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    context.open("http://shop.test/?a#b", Duration::from_secs(10)).await.unwrap();
    let (ours, pages) = (context.context_request(), context.in_page_fetch());
    let url = "http://shop.test/headers";
    let (mine, theirs) = (seen(&ours, url).await, seen(&pages, url).await);
    for name in ["cookie", "user-agent", "accept-language", "referer", "host", "accept"] {
        assert_eq!(mine[name], theirs[name], "{name}");
    }
    assert_eq!(mine["cookie"], "sid=abc");
    assert!(mine["user-agent"].as_str().unwrap().contains("Chrom"));
    assert_eq!(mine["referer"], "http://shop.test/?a");
    // What the request says itself stays, but for cookies.
    let mut request = get(url);
    request.headers = [("accept-language", "nn"), ("cookie", "forged=1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    let reply = ours.send(&request).await.unwrap();
    let mine: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((&mine["accept-language"], &mine["cookie"]), (&"nn".into(), &"sid=abc".into()));
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_that_answers_set_are_kept_as_a_browser_keeps_them() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let cookies = [
        "host=1",
        "wide=1; Domain=shop.test",
        "deep=1; Path=/headers",
        "elsewhere=1; Path=/other",
        "hidden=1; HttpOnly; SameSite=Strict",
        "kept=1; Max-Age=600",
        "dated=1; Expires=Wed, 01 Jan 2098 00:00:00 GMT",
        "gone=1; Max-Age=0",
        "suffix=1; Domain=test",
        "foreign=1; Domain=other.test",
        "below=1; Domain=sub.shop.test",
        "secure=1; Secure",
        "cross=1; SameSite=None",
        "__Host-a=1; Path=/",
        "__Secure-a=1",
        "sid=; Max-Age=0",
        "quoted=\"a b\"",
    ];
    // By our client, and by Chromium itself: the same cookies go on.
    let mut all = Vec::new();
    for ours in [true, false] {
        let mut context = browser.context().await.unwrap();
        context.open("http://shop.test/", Duration::from_secs(10)).await.unwrap();
        let setter: Box<dyn Transport> = if ours {
            Box::new(context.context_request())
        } else {
            Box::new(context.in_page_fetch())
        };
        assert_eq!(setter.send(&get(&setting(&cookies, ""))).await.unwrap().status, 200);
        let mut sent = Vec::new();
        for url in [
            "http://shop.test/headers",
            "http://shop.test/headers/not",
            "http://sub.shop.test/headers",
        ] {
            let reply = context.context_request().send(&get(url)).await.unwrap();
            let headers = serde_json::from_slice(&reply.body).unwrap_or_default();
            sent.push((url, names(&headers), headers["cookie"].clone()));
        }
        context.dispose().await.unwrap();
        all.push(sent);
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0][0].1, ["deep", "dated", "hidden", "host", "kept", "quoted", "wide"]);
    assert_eq!(all[0][2].1, ["wide"]);
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_sent_as_a_browser_sends_its_cookies() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    context.open("http://shop.test/", Duration::from_secs(10)).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let vault = Vault::new(&Home::find(Some(home.path())).unwrap());
    let name = "shop".parse().unwrap();
    vault.seal(&name, &context.capture_login(None, "context").await.unwrap(), false).unwrap();
    let login = Login::open(vault.clone(), &name).unwrap();
    let http = PublicHttp::new(policy(&site)).unwrap();
    let by_login = LoginHttp::new(&http, Some(&login));
    let by_browser = context.context_request();
    let both: [&dyn Transport; 2] = [&by_login, &by_browser];
    let cookies = [
        "host=1",
        "wide=1; Domain=shop.test",
        "deep=1; Path=/headers",
        "hidden=1; HttpOnly; SameSite=Strict",
        "kept=1; Max-Age=600",
        "gone=1; Max-Age=0",
        "suffix=1; Domain=test",
        "foreign=1; Domain=other.test",
        "secure=1; Secure",
        "__Host-a=1; Path=/",
        "sid=rotated; Path=/; HttpOnly",
        "quoted=\"a b\"",
    ];
    // Set on the way, and sent at the next hop of the same origin.
    let hop = setting(&cookies, "/headers");
    let mut sent = Vec::new();
    for transport in both {
        let mut all = vec![seen(transport, &hop).await["cookie"].clone()];
        for url in ["http://shop.test/headers", "http://sub.shop.test/headers"] {
            all.push(seen(transport, url).await["cookie"].clone());
        }
        sent.push(all);
    }
    assert_eq!(sent[0], sent[1]);
    assert!(sent[0][1].as_str().unwrap().contains("sid=rotated"), "{}", sent[0][1]);
    // Sealed: another process goes on with what the answer set.
    let again = Login::open(vault, &name).unwrap();
    let other = LoginHttp::new(&http, Some(&again));
    assert_eq!(seen(&other, "http://shop.test/headers").await["cookie"], sent[0][1]);
    // Neither to another site, nor back from there; nor by a stranger.
    let back = "http://other.test/away?http://shop.test/headers";
    for url in [
        "http://other.test/headers",
        &setting(&[], "http://other.test/headers"),
        &setting(&[], back),
    ] {
        assert_eq!(seen(&by_login, url).await.get("cookie"), None, "{url}");
    }
    let stranger = LoginHttp::new(&http, None);
    assert_eq!(seen(&stranger, "http://shop.test/headers").await.get("cookie"), None);
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_where_a_redirect_leaves_its_origin() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    context.open("http://other.test/set?c=theirs%3D1", Duration::from_secs(10)).await.unwrap();
    context.open("http://shop.test/", Duration::from_secs(10)).await.unwrap();
    let ours = context.context_request();
    // A cookie that a redirect sets is there at the next hop of the same origin.
    let url = setting(&["hop=1"], "/headers");
    assert_eq!(names(&seen(&ours, &url).await), ["hop", "sid"]);
    let away = "http://other.test/headers";
    let back = "http://other.test/away?http://shop.test/headers";
    for url in [away, back] {
        let headers = seen(&ours, &setting(&[], url)).await;
        assert_eq!(headers.get("cookie"), None, "{url}");
        assert_eq!(headers.get("referer"), None, "{url}");
    }
    // Another site's cookies do not go along with what this page asks for; it learns of the origin only.
    let headers = seen(&ours, away).await;
    assert_eq!(headers.get("cookie"), None);
    assert_eq!(headers["referer"], "http://shop.test/");
    // Nor may the other site set any, at the end of a redirect or at once.
    let set = "http://other.test/set?c=planted%3D1%3B%20Domain%3Dother.test";
    for url in [set.to_owned(), setting(&[], set)] {
        ours.send(&get(&url)).await.unwrap();
    }
    context.open("http://other.test/next", Duration::from_secs(10)).await.unwrap();
    assert_eq!(names(&seen(&ours, away).await), ["theirs"]);
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_keeps_its_rules_in_a_session() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    context.open("http://shop.test/", Duration::from_secs(10)).await.unwrap();
    let ours = context.context_request();
    let code = async |url: &str, transport: &dyn Transport| {
        let mut request = get(url);
        request.allowed_domains.clear();
        transport.send(&request).await.map(drop).unwrap_err().code()
    };
    let here = site.addr;
    for (url, expected) in [
        (format!("http://{here}/"), Code::UrlBlocked),
        ("http://localhost/".to_owned(), Code::UrlBlocked),
        ("http://shop.test/away?http://127.0.0.1/".to_owned(), Code::RedirectBlocked),
        ("http://shop.test/away?http://other.test/next".to_owned(), Code::RedirectBlocked),
        ("http://shop.test/away?/away".to_owned(), Code::TooManyRedirects),
    ] {
        assert_eq!(code(&url, &ours).await, expected, "{url}");
    }
    assert_eq!(ours.send(&get("http://shop.test/away?/next")).await.unwrap().hops, 1);
    let small = ours.clone().with_caps(TransportLimits { body: 1000, ..TransportLimits::DEFAULT });
    assert_eq!(code("http://shop.test/big", &small).await, Code::ResponseTooLarge);
    let hasty = ours.clone().with_caps(TransportLimits {
        total: Duration::from_millis(300),
        ..TransportLimits::DEFAULT
    });
    assert_eq!(code("http://shop.test/never", &hasty).await, Code::Timeout);
    browser.close().await.unwrap();
    assert_eq!(code("http://shop.test/", &ours).await, Code::BrowserFailed);
}
