//! The gateway, asked as a browser asks its proxy.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;
use commis_base::settings::EgressSettings;
use commis_testbed::Testbed;

/// Orders wait, what another site would have of a page is refused, all else goes.
fn judge() -> RequestJudge {
    Arc::new(|it: &OutgoingRequest<'_>| match (it.method, it.is_page) {
        ("POST", _) if it.follows_act => RequestDecision::Hold("it orders".to_owned()),
        ("POST", _) => RequestDecision::Refuse("nobody did anything".to_owned()),
        (_, true) if it.url.starts_with("http://almanac.test/") => {
            RequestDecision::Refuse("it leads elsewhere".to_owned())
        }
        _ => RequestDecision::Go,
    })
}

async fn gateway(web: &Testbed) -> Gateway {
    let test_hosts = vec![format!("*.test={}", web.addr())];
    let test_ca_pem = Some(commis_testbed::authority_pem());
    let settings = EgressSettings { test_hosts, test_ca_pem, ..EgressSettings::default() };
    Gateway::start(&EgressPolicy::new(&settings).unwrap(), judge()).await.unwrap()
}

fn client(gateway: &Gateway) -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let proxy = reqwest::Proxy::all(gateway.url()).unwrap();
    let (user, word) = gateway.credentials();
    reqwest::Client::builder()
        .proxy(proxy.basic_auth(user, word))
        .tls_danger_accept_invalid_certs(true)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

const ORDER: &str = r#"{"order":"R-0913","quantity":1,"date":"2026-12-03","total":"€34.94"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_the_browser_is_answered() {
    let web = Testbed::start(0).await.unwrap();
    let gateway = gateway(&web).await;
    for head in ["GET http://reorder.test/", "CONNECT reorder.test:443", "GET http://10.0.0.1/"] {
        let mut stream = TcpStream::connect(gateway.addr).await.unwrap();
        let head = format!("{head} HTTP/1.1\r\nhost: reorder.test\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut line = vec![0; 12];
        stream.read_exact(&mut line).await.unwrap();
        assert_eq!(line, b"HTTP/1.1 407", "{head}");
    }
    assert!(gateway.ends().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_what_leaves_once() {
    let web = Testbed::start(0).await.unwrap();
    let gateway = gateway(&web).await;
    let client = client(&gateway);
    let post = || {
        let sent = client.post("http://reorder.test/orders");
        sent.header("content-type", "application/json").header("cookie", "sid=1").body(ORDER).send()
    };
    // Nothing was done on the page.
    assert_eq!(post().await.unwrap().status(), 403);
    assert_eq!(
        gateway.ends(),
        [("http://reorder.test/orders".into(), "nobody did anything".into())]
    );

    gateway.begins(true, None);
    let first = tokio::spawn(post());
    gateway.wait_for_held().await;
    let waits = gateway.held_requests();
    assert_eq!((waits.len(), waits[0].number), (1, 1));
    assert_eq!(waits[0].body.as_deref(), Some(ORDER.as_bytes()));
    assert_eq!((waits[0].method.as_str(), waits[0].why.as_str()), ("POST", "it orders"));
    let names: Vec<&str> = waits[0].headers.iter().map(|it| it.0.as_str()).collect();
    assert!(names.contains(&"content-type"), "{names:?}");
    assert!(!names.contains(&"cookie") && !names.contains(&"proxy-authorization"), "{names:?}");
    let sent = |web: &Testbed| -> u64 {
        web.hits().iter().filter(|it| it.0.contains("/orders")).map(|it| *it.1).sum()
    };
    assert_eq!(sent(&web), 0, "{:?}", web.hits());
    assert_eq!(gateway.let_leave(7).await.unwrap_err().code(), Code::ApprovalStale);
    // That took back the one that waited.
    assert_eq!(first.await.unwrap().unwrap().status(), 403);
    assert_eq!(sent(&web), 0);

    gateway.begins(true, None);
    let second = tokio::spawn(post());
    gateway.wait_for_held().await;
    let number = gateway.held_requests()[0].number;
    assert_eq!(number, 2);
    let left = gateway.let_leave(number).await.unwrap();
    let answer = second.await.unwrap().unwrap();
    assert_eq!(left, ReleaseOutcome::Sent(Some(answer.status().as_u16())));
    assert_eq!(sent(&web), 1, "{:?}", web.hits());
    assert_eq!(gateway.let_leave(number).await.unwrap_err().code(), Code::ApprovalStale);
    assert!(gateway.held_requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_given_up_and_sent_when_it_is_made_again() {
    let web = Testbed::start(0).await.unwrap();
    let gateway = gateway(&web).await;
    let client = client(&gateway);
    let post = async |body: &'static str| {
        let form =
            client.post("http://reorder.test/orders").header("upgrade-insecure-requests", "1");
        let form = form.header("content-type", "application/x-www-form-urlencoded");
        form.body(body).send().await.unwrap().status()
    };
    let sent =
        || web.hits().iter().filter(|it| it.0.contains("/orders")).map(|it| *it.1).sum::<u64>();
    gateway.begins(true, None);
    // The page stays where it is.
    assert_eq!(post("order=1").await, 205);
    gateway.wait_for_held().await;
    let number = gateway.held_requests()[0].number;
    assert!(gateway.ends().is_empty(), "it waits, and was not refused");
    assert_eq!(gateway.let_leave(number).await.unwrap(), ReleaseOutcome::Again);
    // Another one waits, and is none that was let go.
    assert_eq!(post("order=2").await, 205);
    assert_eq!(sent(), 0);
    let status = post("order=1").await;
    assert_ne!(status, 205);
    assert_eq!(sent(), 1);
    // The same once more is another one.
    assert_eq!(post("order=1").await, 205);
    assert_eq!(gateway.settled().await, Some(Some(status.as_u16())));
    assert_eq!(sent(), 1, "{:?}", web.hits());
    assert_eq!(gateway.held_requests().len(), 2);

    let number = gateway.held_requests()[0].number;
    assert_eq!(gateway.let_leave(number).await.unwrap(), ReleaseOutcome::Again);
    assert!(gateway.held_requests().is_empty(), "the other was of the same page");
    assert_eq!(gateway.settled().await, None);
    assert_eq!(post("order=2").await, 205);
    assert_eq!(sent(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_does_not_wait_any_more_has_sent_nothing() {
    let web = Testbed::start(0).await.unwrap();
    let gateway = gateway(&web).await;
    let client = client(&gateway);
    gateway.begins(true, None);
    let one = tokio::spawn(client.post("http://reorder.test/orders").body(ORDER).send());
    gateway.wait_for_held().await;
    let number = gateway.held_requests()[0].number;
    one.abort();
    let _ = one.await;
    drop(client);
    // As soon as its connection is seen to be closed.
    let gone = async {
        while !gateway.held_requests().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap();
    assert_eq!(gateway.let_leave(number).await.unwrap_err().code(), Code::ApprovalStale);
    assert!(!web.hits().keys().any(|it| it.contains("/orders")));
}

#[tokio::test(flavor = "multi_thread")]
async fn https_is_judged_by_what_is_in_it() {
    let web = Testbed::start(0).await.unwrap();
    let gateway = gateway(&web).await;
    let client = client(&gateway);
    let page = client.get("https://vault.test/").send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(page.text().await.unwrap().contains("<html"));
    gateway.begins(true, None);
    let one = tokio::spawn(client.post("https://vault.test/api/boxes").body("a=1").send());
    gateway.wait_for_held().await;
    let waits = gateway.held_requests();
    assert_eq!(waits[0].url, "https://vault.test/api/boxes");
    assert_eq!(waits[0].body.as_deref(), Some(&b"a=1"[..]));
    gateway.take_back();
    assert_eq!(one.await.unwrap().unwrap().status(), 403);
    assert!(!web.hits().keys().any(|it| it.contains("/api/boxes")), "{:?}", web.hits());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_elsewhere_inside_or_on_a_socket_is_refused() {
    let web = Testbed::start(0).await.unwrap();
    let gateway = gateway(&web).await;
    let client = client(&gateway);
    let get = |url: &str| client.get(url).send();
    for (url, status) in [
        ("http://10.0.0.1/", 403),
        ("http://169.254.169.254/latest/meta-data/", 403),
        ("http://localhost/", 403),
        ("http://reorder.test/", 200),
    ] {
        assert_eq!(get(url).await.unwrap().status(), status, "{url}");
    }
    assert!(get("https://10.0.0.1/").await.is_err());
    // A page stays where it is.
    let page = client.get("http://almanac.test/").header("upgrade-insecure-requests", "1");
    assert_eq!(page.send().await.unwrap().status(), 205);
    let socket = client.get("http://reorder.test/").header("upgrade", "websocket");
    assert_eq!(socket.header("connection", "upgrade").send().await.unwrap().status(), 403);
    let told = gateway.ends();
    let says = |url: &str, why: &str| told.iter().any(|it| it.0 == url && it.1.contains(why));
    assert!(says("http://almanac.test/", "elsewhere"), "{told:?}");
    assert!(says("http://reorder.test/", "WebSocket"), "{told:?}");
    assert!(told.iter().any(|it| it.0.contains("10.0.0.1")), "{told:?}");
}

#[test]
fn what_a_request_is_for() {
    let check = |headers: &[(&'static str, &'static str)], expected: (bool, &str)| {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.insert(*name, HeaderValue::from_static(value));
        }
        assert_eq!(purpose(&all), expected, "{headers:?}");
    };
    check(&[("sec-fetch-dest", "document")], (true, "Document"));
    check(&[("sec-fetch-dest", "iframe"), ("upgrade-insecure-requests", "1")], (false, "Document"));
    check(&[("sec-fetch-dest", "empty"), ("sec-fetch-mode", "cors")], (false, "Fetch"));
    check(&[("sec-fetch-dest", "empty"), ("sec-fetch-mode", "no-cors")], (false, "Ping"));
    check(&[("sec-fetch-dest", "image")], (false, "Other"));
    check(&[("upgrade-insecure-requests", "1")], (true, "Document"));
    check(&[("accept", "image/avif,image/webp,*/*;q=0.8")], (false, "Other"));
    check(&[("accept", "*/*")], (false, "Fetch"));
}
