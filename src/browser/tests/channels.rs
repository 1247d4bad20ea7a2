//! A page that tries every way out it can think of at servers that must not be reached: one server for each way.
//!
//! The same page is opened twice. First every way leads to a host that is allowed, and the hits tell which ways Chromium
//! really takes; then each leads to a port on loopback, where nobody may knock, and what was taken before must be named.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, Ipv6Addr},
    path::PathBuf,
    sync::Mutex,
};

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use tokio::net::{TcpListener, UdpSocket};

use super::*;
use commis_testbed::Dns;

const PAGE: &str = include_str!("channels/page.html");
const WORKER: &str = include_str!("channels/worker.js");
const SHARED: &str = include_str!("channels/shared.js");
const SERVICE: &str = include_str!("channels/service.js");
const REFRESH: &str = "<meta http-equiv=refresh content='0;url=http://{{meta-refresh}}/'>";
const XSLT: &str = "<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='/redir/302?http://{{xslt}}/'?><a/>";
const MAPPED: &str = "1;\n//# sourceMappingURL=http://{{source-map}}/";
const PRERENDERED: &str = "<img src='http://{{prerendered-img}}/'>";
const CSP: &str =
    "img-src 'none'; report-uri http://{{csp-report-uri}}/, font-src 'none'; report-to away";
const LINK: &str = "<http://{{link-preload}}/>; rel=preload; as=image, <http://{{link-prefetch}}/>; rel=prefetch, \
                    <http://{{link-preconnect}}>; rel=preconnect, <http://{{link-stylesheet}}/>; rel=stylesheet";
const ENDPOINTS: &str =
    "away=\"http://{{reporting-endpoint}}/\", default=\"http://{{reporting-default}}/\"";
const REPORT_TO: &str =
    r#"{"group":"nel","max_age":600,"endpoints":[{"url":"http://{{report-to}}/"}]}"#;
const NEL: &str = r#"{"report_to":"nel","max_age":600,"success_fraction":1}"#;
const ALL: &[&str] = &[
    PAGE,
    WORKER,
    SHARED,
    SERVICE,
    REFRESH,
    XSLT,
    MAPPED,
    PRERENDERED,
    CSP,
    LINK,
    ENDPOINTS,
    REPORT_TO,
];

/// Without these the page is not what it should be.
const TAKEN: &[&str] = &[
    "a-ping",
    "audio",
    "beacon",
    "beacon-redirect",
    "blob-worker-fetch",
    "css-import",
    "css-url",
    "embed",
    "eventsource",
    "eventsource-redirect",
    "fetch",
    "fetch-no-cors",
    "fetch-preflight",
    "fetch@name",
    "font-face",
    "form-frame",
    "iframe",
    "iframe-redirect",
    "img",
    "img-redirect",
    "img-srcset",
    "import",
    "import-scripts",
    "keepalive",
    "link-preload",
    "meta-refresh",
    "module",
    "modulepreload",
    "nested-worker-fetch",
    "object",
    "poster",
    "prefetch",
    "preload",
    "redirect-301",
    "redirect-302",
    "redirect-303",
    "redirect-307",
    "redirect-308",
    "redirect-twice",
    "sandboxed-fetch",
    "script",
    "script-redirect",
    "shared-worker-fetch",
    "stylesheet",
    "track",
    "video",
    "websocket",
    "worker-fetch",
    "worker-fetch-redirect",
    "worker-websocket",
    "worker-xhr",
    "xhr",
    "xhr-redirect",
];

/// Every way there is, by the names in the texts.
fn ways() -> BTreeSet<&'static str> {
    let all = ALL.iter().flat_map(|it| it.split("{{").skip(1));
    all.map(|it| it.split("}}").next().unwrap()).collect()
}

fn filled(text: &str, place: &dyn Fn(&str) -> String) -> String {
    let mut parts = text.split("{{");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (way, rest) = part.split_once("}}").unwrap();
        out.push_str(&place(way));
        out.push_str(rest);
    }
    out
}

/// Where a way leads when it is allowed.
fn open_host(way: &str) -> String {
    format!("{}.open.test", way.replace('@', "--"))
}

/// Listens on one port for each way, TCP on both loopbacks and UDP, and notes who knocks.
struct Doors {
    ports: BTreeMap<&'static str, u16>,
    knocks: Arc<Mutex<Vec<String>>>,
}

impl Doors {
    async fn open() -> Self {
        let knocks = Arc::<Mutex<Vec<String>>>::default();
        let mut ports = BTreeMap::new();
        for way in ways() {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let second = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await.ok();
            for listener in second.into_iter().chain([listener]) {
                let knocks = Arc::clone(&knocks);
                tokio::spawn(async move {
                    while listener.accept().await.is_ok() {
                        knocks.lock().unwrap().push(format!("{way} by TCP"));
                    }
                });
            }
            if let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).await {
                let knocks = Arc::clone(&knocks);
                tokio::spawn(async move {
                    while socket.recv_from(&mut [0; 64]).await.is_ok() {
                        knocks.lock().unwrap().push(format!("{way} by UDP"));
                    }
                });
            }
            ports.insert(way, port);
        }
        Self { ports, knocks }
    }

    fn place(&self, way: &str) -> String {
        let port = self.ports[way];
        match way.split_once('@').map(|it| it.1) {
            Some("localhost") => format!("localhost:{port}"),
            Some("v6") => format!("[::1]:{port}"),
            Some("name") => format!("loop.example.com:{port}"),
            _ => format!("127.0.0.1:{port}"),
        }
    }
}

struct Web {
    addr: std::net::SocketAddr,
    /// Hosts under `open.test` that were asked.
    hits: Arc<Mutex<BTreeSet<String>>>,
}

async fn web(place: Box<dyn Fn(&str) -> String + Send + Sync>) -> Web {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let hits = Arc::<Mutex<BTreeSet<String>>>::default();
    let (place, seen) = (Arc::new(place), Arc::clone(&hits));
    let app = Router::new().fallback(move |request: Request| {
        let (place, seen) = (Arc::clone(&place), Arc::clone(&seen));
        async move {
            let host = request.headers()["host"].to_str().unwrap().to_owned();
            if let Some(way) = host.strip_suffix(".open.test") {
                seen.lock().unwrap().insert(way.replace("--", "@"));
                let allow =
                    [("access-control-allow-origin", "*"), ("access-control-allow-methods", "*")];
                return (allow, "").into_response();
            }
            page(&request, &*place)
        }
    });
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    Web { addr, hits }
}

fn page(request: &Request, place: &dyn Fn(&str) -> String) -> Response {
    let kind = |mime: &'static str, text: &str| {
        ([(header::CONTENT_TYPE, mime)], filled(text, place)).into_response()
    };
    let path = request.uri().path();
    if let Some(status) = path.strip_prefix("/redir/") {
        let status = StatusCode::from_bytes(status.as_bytes()).unwrap();
        return (status, [("location", request.uri().query().unwrap())]).into_response();
    }
    match path {
        "/" => {
            let mut headers = HeaderMap::new();
            for (name, value) in [
                ("content-security-policy-report-only", CSP),
                ("link", LINK),
                ("reporting-endpoints", ENDPOINTS),
                ("report-to", REPORT_TO),
                ("nel", NEL),
            ] {
                headers.insert(name, filled(value, place).parse().unwrap());
            }
            (headers, Html(filled(PAGE, place))).into_response()
        }
        "/worker.js" => kind("text/javascript", WORKER),
        "/shared.js" => kind("text/javascript", SHARED),
        "/service.js" => kind("text/javascript", SERVICE),
        "/mapped.js" => kind("text/javascript", MAPPED),
        "/refresh" => kind("text/html", REFRESH),
        "/prerendered" => kind("text/html", PRERENDERED),
        "/xslt.xml" => kind("text/xml", XSLT),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Chromiums on this machine; both kinds where both are there.
pub fn chromiums() -> Vec<PathBuf> {
    let kinds = ["/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium"];
    let (found, missing): (Vec<_>, Vec<_>) =
        kinds.into_iter().map(PathBuf::from).partition(|it| it.is_file());
    for it in missing {
        println!("no {} here: not tested", it.display());
    }
    found
}

/// A browser that takes `http://shop.test` for safe where its build heeds that, so that pages have what only safe ones get.
async fn daring(exe: &Path, settings: &EgressSettings) -> Browser {
    let policy = Arc::new(EgressPolicy::new(settings).unwrap());
    let safe = "--unsafely-treat-insecure-origin-as-secure=http://shop.test".to_owned();
    Browser::start(exe, policy, &[safe], None).await.unwrap()
}

/// Opens the page, tries everything, and waits until nothing new comes to light.
async fn try_all(browser: &Browser, page: &str, news: &dyn Fn(&Context) -> usize) -> Context {
    let mut context = browser.context().await.unwrap();
    // With a person's click, and by itself later on, should that have missed.
    let steps = "- click: {role: button, name: Go}";
    if let Err(err) = context.record(&plan(page, steps)).await {
        assert_eq!(err.code(), Code::StepFailed, "{err}");
    }
    // What does not come leaves no event, so this waits for silence.
    let (begun, mut last) = (Instant::now(), (Instant::now(), 0));
    while last.0.elapsed() < Duration::from_millis(2500)
        && begun.elapsed() < Duration::from_secs(20)
    {
        let now = news(&context);
        if now != last.1 {
            last = (Instant::now(), now);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    context
}

#[tokio::test(flavor = "multi_thread")]
async fn no_way_out_leads_to_a_forbidden_place() {
    for exe in chromiums() {
        let open = web(Box::new(open_host)).await;
        let settings = EgressSettings {
            test_hosts: vec![format!("*.test={}", open.addr)],
            ..EgressSettings::default()
        };
        let browser = daring(&exe, &settings).await;
        drop(try_all(&browser, "http://shop.test/", &|_| open.hits.lock().unwrap().len()).await);
        browser.close().await.unwrap();
        let taken = open.hits.lock().unwrap().clone();
        // Full Chromium heeds `--no-pings`; headless-shell does not know it.
        let shut = |way: &str| exe.ends_with("chromium") && way == "a-ping";
        let idle: Vec<_> = TAKEN.iter().filter(|it| !taken.contains(**it) && !shut(it)).collect();
        let not: Vec<_> = ways().into_iter().filter(|it| !taken.contains(*it)).collect();
        println!(
            "{}: {} of {} ways are taken; not {not:?}",
            exe.display(),
            taken.len(),
            ways().len()
        );
        assert!(idle.is_empty(), "the page does not even try {idle:?}");

        for company in [Company::Nobody, Company::OwnHosts, Company::AtOne] {
            denied(&exe, &taken, company).await;
        }
    }
}

/// What else the settings open while the page tries the doors.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Company {
    Nobody,
    /// Each door is a host of the user's own.
    OwnHosts,
    /// So it is, and the page that tries them is of one more.
    AtOne,
}

/// Each way leads to a door, and none may be opened.
async fn denied(exe: &Path, taken: &BTreeSet<String>, company: Company) {
    let doors = Arc::new(Doors::open().await);
    let inside = Arc::clone(&doors);
    let shop = web(Box::new(move |it| inside.place(it))).await;
    let dns = Dns::start(0).await.unwrap();
    let mut settings = EgressSettings {
        test_hosts: vec![format!("*.test={}", shop.addr)],
        allowed_ports: doors.ports.values().copied().collect(),
        nameserver: Some(dns.addr()),
        ..EgressSettings::default()
    };
    if company != Company::Nobody {
        for port in doors.ports.values().chain([&shop.addr.port()]) {
            for (name, address) in
                [("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")]
            {
                settings.own.insert(format!("{name}:{port}"), address.to_owned());
            }
        }
    }
    let page = match company {
        Company::AtOne => format!("http://localhost:{}/", shop.addr.port()),
        _ => "http://shop.test/".to_owned(),
    };
    let browser = daring(exe, &settings).await;
    let context = try_all(&browser, &page, &|it| it.blocked().len()).await;
    let blocked = context.blocked();
    browser.close().await.unwrap();
    let knocks = doors.knocks.lock().unwrap().clone();
    assert!(knocks.is_empty(), "{company:?}: reached: {knocks:?}");
    let mut silent = Vec::new();
    for way in taken {
        let port = format!(":{}/", doors.ports[&**way]);
        let found = blocked.iter().find(|it| it.url.contains(&port));
        let code = if way.ends_with("@name") { "DNS_BLOCKED" } else { "URL_BLOCKED" };
        // Frames of other sites are refused there whatever they resolve to.
        let frame = company == Company::AtOne && way.starts_with("iframe");
        match found {
            Some(it) if it.code == code && !it.reason.is_empty() => {}
            Some(it) if frame && it.code == "URL_BLOCKED" => {}
            other => silent.push(format!("{way}: {other:?}")),
        }
    }
    assert!(silent.is_empty(), "{company:?}: not named as it should be: {silent:#?}");
}
