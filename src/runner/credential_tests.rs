//! Where a key goes, and what comes back of it.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, StatusCode},
    routing::any,
};

use super::*;
use commis_base::settings::EgressSettings;
use commis_net::{egress::EgressPolicy, transport::public_http::PublicHttp};

const KEY: &str = "s3same/open+42=";

fn auth(kind: AuthKind, header: Option<&str>, query: Option<&str>) -> Auth {
    let own = |it: Option<&str>| it.map(str::to_owned);
    Auth { kind, header: own(header), query: own(query), env: "K".to_owned() }
}

fn credential(auth: &Auth, value: &str) -> Result<Credential> {
    let url = Url::parse("http://shop.test/x").unwrap();
    Credential::new(auth, &url, Zeroizing::new(value.to_owned()))
}

fn get(url: &str) -> PreparedRequest {
    PreparedRequest {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        allowed_domains: vec!["shop.test".to_owned(), "other.test".to_owned()],
        own_host: None,
    }
}

#[test]
fn where_the_value_goes() {
    for (auth, value, url, header) in [
        (
            auth(AuthKind::Bearer, None, None),
            KEY,
            "http://shop.test/x?a=1",
            Some(("authorization", "Bearer s3same/open+42=")),
        ),
        (
            auth(AuthKind::Basic, None, None),
            "ann:s3same",
            "http://shop.test/x?a=1",
            Some(("authorization", "Basic YW5uOnMzc2FtZQ==")),
        ),
        (
            auth(AuthKind::ApiKey, Some("x-key"), None),
            KEY,
            "http://shop.test/x?a=1",
            Some(("x-key", KEY)),
        ),
        (
            auth(AuthKind::ApiKey, None, Some("k&")),
            KEY,
            "http://shop.test/x?a=1&k%26=s3same%2Fopen%2B42%3D",
            None,
        ),
    ] {
        let it = credential(&auth, value).unwrap();
        let sent = it.sign(&get("http://shop.test/x?a=1")).unwrap();
        let got: Vec<_> = sent.headers.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
        assert_eq!((sent.url.as_str(), got), (url, header.into_iter().collect()));
        for other in [
            "https://shop.test/x",
            "http://shop.test:81/x",
            "http://a.shop.test/x",
            "http://other.test/",
        ] {
            let sent = it.sign(&get(other)).unwrap();
            assert!(sent.headers.is_empty() && sent.url == other, "{other}");
        }
    }
}

#[test]
fn values_that_cannot_be_sent_are_refused_without_being_told() {
    let bearer = auth(AuthKind::Bearer, None, None);
    let basic = auth(AuthKind::Basic, None, None);
    let query = auth(AuthKind::ApiKey, None, Some("k"));
    for (auth, value) in [
        (&bearer, "zqx"),
        (&bearer, "zqxzqx\r\nx-admin: 1"),
        (&bearer, "zqxzqx\n"),
        (&bearer, "zqxzqx\0"),
        (&bearer, "zqxzqxé"),
        (&bearer, " zqxzqx"),
        (&bearer, "zqxzqx".repeat(700).as_str()),
        (&basic, "zqxzqx"),
        (&basic, "zqxzqx:zqx"),
        (&query, "zqxzqx\t"),
    ] {
        let err = credential(auth, value).err().unwrap_or_else(|| panic!("{value:?}"));
        assert_eq!(err.code(), Code::AuthEnvInvalid);
        assert!(!format!("{err:?} {:?}", err.hint_text()).contains("zqx"), "{err}");
    }
}

/// What arrived at a server that answers for every host: host and headers.
async fn server() -> (PublicHttp, Arc<Mutex<Vec<HeaderMap>>>) {
    let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let arrived = Arc::clone(&seen);
    let app = Router::new().fallback(any(move |request: Request| {
        arrived.lock().unwrap().push(request.headers().clone());
        let to = request.uri().path().strip_prefix("/to/").map(|it| format!("http://{it}/end"));
        let echo =
            format!("you sent {:?} to {}", request.headers().get("authorization"), request.uri());
        async move {
            match to {
                Some(to) => (StatusCode::TEMPORARY_REDIRECT, [("location", to)], String::new()),
                None => (StatusCode::OK, [("x-echo", echo.clone())], echo),
            }
        }
    }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let settings =
        EgressSettings { test_hosts: vec![format!("*.test={addr}")], ..EgressSettings::default() };
    (PublicHttp::new(Arc::new(EgressPolicy::new(&settings).unwrap())).unwrap(), seen)
}

#[tokio::test]
async fn a_redirect_takes_the_key_no_further_than_its_origin() {
    let (http, seen) = server().await;
    let it = credential(&auth(AuthKind::Bearer, None, None), KEY).unwrap();
    let signed = SigningTransport::new(&http, &it).unwrap();
    for (url, with_key) in [
        ("http://shop.test/x", vec![true]),
        ("http://shop.test/to/shop.test", vec![true, true]),
        ("http://shop.test/to/other.test", vec![true, false]),
        ("http://other.test/x", vec![false]),
        ("http://other.test/to/shop.test", vec![false, false]),
    ] {
        seen.lock().unwrap().clear();
        signed.send(&get(url)).await.unwrap();
        let got: Vec<bool> =
            seen.lock().unwrap().iter().map(|it| it.contains_key("authorization")).collect();
        assert_eq!(got, with_key, "{url}");
    }
}

#[tokio::test]
async fn an_answer_that_repeats_the_key_comes_back_without_it() {
    let (http, _) = server().await;
    for (auth, want) in [
        (auth(AuthKind::Bearer, None, None), "you sent Some(Sensitive) to /x"),
        (auth(AuthKind::ApiKey, None, Some("k")), "you sent None to /x?k=[REDACTED:K]"),
    ] {
        let it = credential(&auth, KEY).unwrap();
        let reply = SigningTransport::new(&http, &it)
            .unwrap()
            .send(&get("http://shop.test/x"))
            .await
            .unwrap();
        let body = String::from_utf8(reply.body.clone()).unwrap();
        let all = format!("{body} {} {:?}", reply.url, reply.headers);
        assert!(!all.contains("s3same"), "{all}");
        if auth.query.is_some() {
            assert_eq!(body, want);
        } else {
            assert!(body.contains("Bearer [REDACTED:K]"), "{body}");
        }
    }
}

#[test]
fn a_page_never_gets_it() {
    struct Page;
    impl Transport for Page {
        fn kind(&self) -> TransportKind {
            TransportKind::InPageFetch
        }
        fn send<'a>(&'a self, _: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
            unreachable!("nothing is sent")
        }
    }
    let it = credential(&auth(AuthKind::Bearer, None, None), KEY).unwrap();
    assert_eq!(SigningTransport::new(&Page, &it).err().unwrap().code(), Code::RecipeInvalid);
}
