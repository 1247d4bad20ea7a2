//! public_http against hostile servers on loopback.

use std::{
    io::Write as _,
    sync::atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Path,
    http::{HeaderMap as Headers, StatusCode},
    response::IntoResponse,
    routing::{any, get},
};

use super::*;
use commis_base::settings::EgressSettings;

async fn serve(app: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    addr
}

fn transport(addr: SocketAddr, caps: TransportLimits) -> PublicHttp {
    let policy = EgressPolicy::new(&EgressSettings {
        test_hosts: vec![format!("*.test={addr}")],
        allowed_ports: vec![8443],
        ..EgressSettings::default()
    });
    PublicHttp::with_limits(Arc::new(policy.unwrap()), caps).unwrap()
}

fn get_from(url: &str) -> PreparedRequest {
    PreparedRequest {
        method: "GET".into(),
        url: url.into(),
        headers: vec![],
        body: None,
        allowed_domains: vec![],
        own_host: None,
    }
}

fn code(result: &Result<Reply>) -> &'static str {
    result.as_ref().err().map_or("ok", |it| it.code().as_str())
}

/// Answers with what it was asked: method, host, interesting headers, body.
async fn echo(method: axum::http::Method, headers: Headers, body: Bytes) -> String {
    let of = |name: &str| headers.get(name).map_or("-", |it| it.to_str().unwrap()).to_owned();
    format!(
        "{method} {} {} {} {} {} {}",
        of("host"),
        of("authorization"),
        of("x-key"),
        of("content-type"),
        of("user-agent"),
        String::from_utf8_lossy(&body)
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn app() -> Router {
    Router::new()
        .route("/echo", any(echo))
        .route(
            "/to/{status}/{n}",
            any(|Path((status, n)): Path<(u16, u32)>| async move {
                let location =
                    if n == 0 { "/echo".to_owned() } else { format!("/to/{status}/{}", n - 1) };
                (StatusCode::from_u16(status).unwrap(), [("location", location)])
            }),
        )
        .route(
            "/away/{*target}",
            any(|Path(target): Path<String>| async move {
                (StatusCode::TEMPORARY_REDIRECT, [("location", target)])
            }),
        )
        .route(
            "/zeros",
            get(|| async { ([("content-encoding", "gzip")], gzip(&vec![0; 10 * 1024 * 1024])) }),
        )
        .route("/zipped", get(|| async { ([("content-encoding", "gzip")], gzip(b"hello")) }))
        .route("/broken", get(|| async { ([("content-encoding", "gzip")], "not gzip at all") }))
        .route(
            "/drip",
            get(|| async {
                let drops = futures::stream::unfold((), |()| async {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Some((Ok::<_, std::io::Error>("x"), ()))
                });
                Body::from_stream(drops)
            }),
        )
        .route(
            "/flood/{n}/{len}",
            get(|Path((n, len)): Path<(usize, usize)>| async move {
                let mut headers = Headers::new();
                for i in 0..n {
                    let name = format!("x-{i}").parse::<HeaderName>().unwrap();
                    headers.insert(name, "y".repeat(len).parse().unwrap());
                }
                (headers, "").into_response()
            }),
        )
}

#[tokio::test]
async fn a_pinned_port_stands_in() {
    let addr = serve(app()).await;
    let http = transport(addr, TransportLimits::DEFAULT);
    for (url, host) in [
        ("http://x.test/echo".to_owned(), "x.test".to_owned()),
        (format!("http://x.test:{}/echo", addr.port()), format!("x.test:{}", addr.port())),
        ("http://x.test:8443/echo".to_owned(), "x.test:8443".to_owned()),
    ] {
        let reply = http.send(&get_from(&url)).await.unwrap();
        let want = format!("GET {host} - - - {USER_AGENT} ");
        assert_eq!(String::from_utf8(reply.body).unwrap(), want);
        assert_eq!((reply.status, reply.hops), (200, 0));
        assert_eq!(
            reply.headers.iter().find(|it| it.0 == "content-type"),
            Some(&("content-type".to_owned(), "text/plain; charset=utf-8".to_owned()))
        );
    }
}

#[tokio::test]
async fn connections_are_reused() {
    let seen: Arc<Mutex<Vec<u16>>> = Arc::default();
    let inner = Arc::clone(&seen);
    let app = Router::new().route(
        "/",
        get(
            |axum::extract::ConnectInfo(from): axum::extract::ConnectInfo<SocketAddr>| async move {
                inner.lock().unwrap().push(from.port());
                "hi"
            },
        ),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
    let http = transport(addr, TransportLimits::DEFAULT);
    for _ in 0..3 {
        http.send(&get_from("http://x.test/")).await.unwrap();
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|it| *it == seen[0]), "{seen:?}");
}

#[tokio::test]
async fn redirects_on_one_host() {
    let http = transport(serve(app()).await, TransportLimits::DEFAULT);
    let post = |status: u16, n: u32| PreparedRequest {
        method: "POST".into(),
        headers: vec![
            ("authorization".into(), "secret".into()),
            ("content-type".into(), "text/csv".into()),
        ],
        body: Some(b"a,b".to_vec()),
        ..get_from(&format!("http://x.test/to/{status}/{n}"))
    };
    for status in [301, 302, 303] {
        let reply = http.send(&post(status, 4)).await.unwrap();
        assert_eq!(reply.hops, 5);
        let want = format!("GET x.test secret - - {USER_AGENT} ");
        assert_eq!(String::from_utf8(reply.body).unwrap(), want, "{status}");
        assert_eq!(reply.url, "http://x.test/echo");
    }
    for status in [307, 308] {
        let reply = http.send(&post(status, 0)).await.unwrap();
        let want = format!("POST x.test secret - text/csv {USER_AGENT} a,b");
        assert_eq!(String::from_utf8(reply.body).unwrap(), want, "{status}");
    }
    assert_eq!(code(&http.send(&post(302, 5)).await), "TOO_MANY_REDIRECTS");
    // Not a redirect for `fetch` either.
    assert_eq!(http.send(&post(300, 0)).await.unwrap().status, 300);
}

#[tokio::test]
async fn redirects_to_elsewhere() {
    let http = transport(serve(app()).await, TransportLimits::DEFAULT);
    let hits = AtomicUsize::new(0);
    for (target, want) in [
        ("http://y.test/echo", "REDIRECT_BLOCKED"),
        ("http://127.0.0.1/echo", "REDIRECT_BLOCKED"),
        ("http://169.254.169.254/", "REDIRECT_BLOCKED"),
        ("https://x.test/echo", "REDIRECT_BLOCKED"),
        ("http://x.test:22/echo", "REDIRECT_BLOCKED"),
        ("file:///etc/passwd", "REDIRECT_BLOCKED"),
        ("http://z.test/echo", "ok"),
    ] {
        let request = PreparedRequest {
            headers: vec![
                ("authorization".into(), "secret".into()),
                ("x-key".into(), "secret".into()),
            ],
            allowed_domains: vec!["x.test".into(), "z.test".into()],
            ..get_from(&format!("http://x.test/away/{target}"))
        };
        let result = http.send(&request).await;
        assert_eq!(code(&result), want, "{target}");
        if let Ok(reply) = result {
            let want = format!("GET z.test - - - {USER_AGENT} ");
            assert_eq!(String::from_utf8(reply.body).unwrap(), want);
            hits.fetch_add(1, Ordering::Relaxed);
        }
    }
    assert_eq!(hits.into_inner(), 1);
    // A body does not cross origins: it may hold a token.
    let request = PreparedRequest {
        method: "POST".into(),
        body: Some(b"token=secret".to_vec()),
        allowed_domains: vec!["x.test".into(), "z.test".into()],
        ..get_from("http://x.test/away/http://z.test/echo")
    };
    assert_eq!(code(&http.send(&request).await), "REDIRECT_BLOCKED");
}

#[tokio::test]
async fn what_may_not_be_sent() {
    let http = transport(serve(app()).await, TransportLimits::DEFAULT);
    let with = |name: &str, value: &str| PreparedRequest {
        headers: vec![(name.into(), value.into())],
        ..get_from("http://x.test/echo")
    };
    for (request, want) in [
        (get_from("http://127.0.0.1/"), "URL_BLOCKED"),
        (get_from("http://localhost/"), "URL_BLOCKED"),
        (get_from("http://x.test:9/"), "URL_BLOCKED"),
        (
            PreparedRequest { method: "DELETE".into(), ..get_from("http://x.test/echo") },
            "METHOD_NOT_ALLOWED",
        ),
        (
            PreparedRequest {
                allowed_domains: vec!["y.test".into()],
                ..get_from("http://x.test/echo")
            },
            "DOMAIN_NOT_ALLOWED",
        ),
        (with("host", "y.test"), "RECIPE_INVALID"),
        (with("transfer-encoding", "chunked"), "RECIPE_INVALID"),
        (with("x-a", "b\r\nx-c: d"), "RECIPE_INVALID"),
        (with("x a", "b"), "RECIPE_INVALID"),
    ] {
        assert_eq!(code(&http.send(&request).await), want, "{}", request.url);
    }
}

#[tokio::test]
async fn answers_are_capped() {
    let caps = TransportLimits { total: Duration::from_millis(300), ..TransportLimits::DEFAULT };
    let http = transport(serve(app()).await, caps);
    for (path, want) in [
        ("/zeros", "RESPONSE_TOO_LARGE"),
        ("/zipped", "ok"),
        ("/broken", "PARSE_ERROR"),
        ("/drip", "TIMEOUT"),
        ("/flood/5/1000", "ok"),
        ("/flood/500/1", "HEADERS_TOO_LARGE"),
        ("/flood/80/1000", "HEADERS_TOO_LARGE"),
        ("/flood/90/10000", "HEADERS_TOO_LARGE"),
    ] {
        let result = http.send(&get_from(&format!("http://x.test{path}"))).await;
        assert_eq!(code(&result), want, "{path} {:?}", result.err());
    }
}

#[tokio::test]
async fn nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let http = transport(addr, TransportLimits::DEFAULT);
    let result = http.send(&get_from("http://x.test/")).await;
    assert_eq!(code(&result), "CONNECT_FAILED");
}

#[tokio::test]
async fn nothing_is_cached() {
    let count = Arc::new(AtomicUsize::new(0));
    let fresh_for_a_day = move || {
        let n = count.fetch_add(1, Ordering::SeqCst);
        let headers = [("cache-control", "public, max-age=86400, immutable"), ("etag", "\"1\"")];
        async move { (headers, n.to_string()) }
    };
    let app = Router::new().route("/", get(fresh_for_a_day));
    let http = transport(serve(app).await, TransportLimits::DEFAULT);
    for n in 0..3 {
        let reply = http.send(&get_from("http://x.test/")).await.unwrap();
        assert_eq!(reply.body, n.to_string().as_bytes());
    }
}
