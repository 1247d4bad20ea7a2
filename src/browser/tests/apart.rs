//! What the browser keeps apart: tasks from each other, pages from the machine, and itself from the network.

use std::{collections::BTreeSet, fs, sync::Mutex};

use super::*;
use commis_base::settings::BrowserMode;
use commis_testbed::Dns;

#[tokio::test(flavor = "multi_thread")]
async fn strict_mode_asks_the_resolver_before_the_proxy_hears_of_it() {
    let site = serve().await;
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return;
    };
    let dns = Dns::start(0).await.unwrap();
    for mode in [BrowserMode::Lite, BrowserMode::Strict] {
        let settings = EgressSettings {
            test_hosts: vec![format!("*.test={}", site.addr)],
            nameserver: Some(dns.addr()),
            browser_mode: mode,
            ..EgressSettings::default()
        };
        let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
        let browser = Browser::launch(&exe, policy).await.unwrap();
        let mut context = browser.context().await.unwrap();
        let mut url = url::Url::parse("http://shop.test/html").unwrap();
        let html = "<img src='http://loop.example.com/x'><p>shown";
        url.query_pairs_mut().append_pair("html", html);
        let recording = context.record(&plan(url.as_str(), "- wait_for: {text: shown}")).await;
        let blocked: Vec<_> =
            recording.unwrap().blocked.into_iter().map(|it| (it.url, it.code)).collect();
        let expected = ("http://loop.example.com/x".to_owned(), "DNS_BLOCKED".to_owned());
        assert_eq!(blocked, [expected], "{mode:?}");
        let heard = context.blocked_by_proxy().len();
        assert_eq!(heard, usize::from(mode == BrowserMode::Lite), "{mode:?}");
        browser.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_chromium_listens() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let mut context = browser.context().await.unwrap();
    context.open("http://shop.test/parts", Duration::from_secs(10)).await.unwrap();
    let family = family(browser.0.pid);
    assert!(family.len() > 2, "{family:?}");
    let sockets: BTreeSet<String> = family.iter().flat_map(|it| sockets(*it)).collect();
    assert!(!sockets.is_empty(), "it talks to the proxy, at least");
    let mut open = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        for line in
            fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default().lines().skip(1)
        {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (peer, state, inode) = (fields[2], fields[3], fields[9]);
            // 0A is LISTEN; a datagram socket without a peer hears everyone.
            let hears =
                if table.starts_with("tcp") { state == "0A" } else { peer.ends_with(":0000") };
            if hears && sockets.contains(inode) {
                open.push(format!("{table} {line}"));
            }
        }
    }
    assert!(open.is_empty(), "{open:#?}");
    browser.close().await.unwrap();
}

/// A process and all below it.
fn family(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|it| {
            let pid: u32 = it.ok()?.file_name().to_str()?.parse().ok()?;
            let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let parent =
                status.lines().find_map(|it| it.strip_prefix("PPid:"))?.trim().parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(parents.iter().filter(|it| it.1 == parent).map(|it| it.0));
        at += 1;
    }
    found
}

/// Inodes of the sockets that a process holds.
fn sockets(pid: u32) -> Vec<String> {
    let fds = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = fds.filter_map(|it| Some(fs::read_link(it.path()).ok()?.to_str()?.to_owned()));
    links
        .filter_map(|it| Some(it.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_page_is_opened_without_a_sandbox() {
    let site = serve().await;
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return;
    };
    let bare = ["--no-sandbox".to_owned()];
    let browser = Browser::start(&exe, policy(&site), &bare, None).await.unwrap();
    let err = browser.context().await.map(drop).unwrap_err();
    assert_eq!(err.code(), Code::BrowserFailed);
    assert!(err.message().contains("not sandboxed"), "{err}");
    assert!(err.hint_text().unwrap().contains("chromium-sandbox"));
    let settings = BrowserSettings { args: bare.to_vec(), ..BrowserSettings::default() };
    let err = Browser::launch_with(&exe, policy(&site), &settings).await.map(drop).unwrap_err();
    assert_eq!(err.code(), Code::SettingsInvalid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_finds_nothing_that_another_left() {
    let site = serve().await;
    let Some(browser) = start(&site).await else {
        return;
    };
    let visit = async |context: &mut Context| {
        let steps = "- wait_for: {text: found}";
        let recording = context.record(&plan("http://shop.test/state", steps)).await.unwrap();
        recording.page.visible_text.trim().to_owned()
    };
    let clean = "found [\"\",0,0,\"\",0]";
    let mut first = browser.context().await.unwrap();
    assert_eq!(visit(&mut first).await, clean);
    // What is left is really left.
    assert_eq!(visit(&mut first).await, "found [\"left=1\",1,1,\"left\",1]");
    // While it lives, and after it.
    let mut second = browser.context().await.unwrap();
    assert_eq!(visit(&mut second).await, clean);
    first.dispose().await.unwrap();
    second.dispose().await.unwrap();
    let mut third = browser.context().await.unwrap();
    assert_eq!(visit(&mut third).await, clean);
    // No visit was served from a cache, not even within one task.
    let asked = site.log.lock().unwrap().iter().filter(|it| it.ends_with("/cached")).count();
    assert_eq!(asked, 4);
    browser.close().await.unwrap();
}

/// Sends back what it hears, over a WebSocket, and serves the page that asks. Whoever asks `/asks` is asked who it is, as a proxy
/// asks; its answers are kept.
async fn echo(told: Arc<Mutex<Vec<axum::http::HeaderMap>>>) -> std::net::SocketAddr {
    use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
    async fn hears(mut socket: WebSocket) {
        while let Some(Ok(Message::Text(it))) = socket.recv().await {
            let _ = socket.send(Message::Text(format!("heard {it}").into())).await;
        }
    }
    const PAGE: &str = "<p id=out>waiting</p><script>
const socket = new WebSocket('ws://' + location.host + '/feed');
socket.onopen = () => socket.send('hello');
socket.onmessage = it => out.textContent = it.data;
</script>";
    let app = axum::Router::new()
        .route("/", axum::routing::get(|| async { axum::response::Html(PAGE) }))
        .route("/feed", axum::routing::any(async |it: WebSocketUpgrade| it.on_upgrade(hears)))
        .route(
            "/asks",
            axum::routing::get(async move |headers: axum::http::HeaderMap| {
                told.lock().unwrap().push(headers);
                let asks = [("proxy-authenticate", "Basic realm=\"x\"")];
                (axum::http::StatusCode::PROXY_AUTHENTICATION_REQUIRED, asks)
            }),
        );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, app).await.unwrap() });
    addr
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_tells_the_proxy_who_it_is_for_every_kind_of_connection() {
    use tokio::io::AsyncReadExt as _;
    let builds = [find_chromium(None), find_visible_chromium(None)];
    let mut builds: Vec<_> = builds.into_iter().flatten().collect();
    builds.dedup();
    for exe in builds {
        let told = Arc::default();
        let secure = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let hosts = vec![
            format!("echo.test={}", echo(Arc::clone(&told)).await),
            format!("secure.test={}", secure.local_addr().unwrap()),
        ];
        let settings = EgressSettings { test_hosts: hosts, ..EgressSettings::default() };
        let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
        let browser = Browser::launch(&exe, policy).await.unwrap();
        // A context's first connection is the one that is asked: through a tunnel, then by plain http.
        let mut context = browser.context().await.unwrap();
        let hello = tokio::spawn(async move {
            let (mut stream, _) = secure.accept().await.unwrap();
            stream.read_u8().await.unwrap()
        });
        let gone = context.open("https://secure.test/", Duration::from_secs(20)).await;
        assert_eq!(gone.unwrap_err().code(), Code::ConnectFailed);
        // A TLS handshake record: the tunnel stood.
        assert_eq!(hello.await.unwrap(), 22, "{}", exe.display());
        let mut context = browser.context().await.unwrap();
        let steps = "- wait_for: {text: heard hello}";
        let recording = context.record(&plan("http://echo.test/", steps)).await.unwrap();
        let page = exchange(&recording, "echo.test/");
        assert_eq!(page.status, Some(200), "{:#?}", urls(&recording));
        // Neither the question nor the answer to it is a part of what was recorded.
        let mut headers = recording
            .exchanges
            .iter()
            .flat_map(|it| it.request_headers.iter().chain(&it.response_headers));
        assert!(!headers.any(|it| it.0.to_ascii_lowercase().starts_with("proxy-")));
        let all = urls(&recording);
        assert_eq!(all.iter().filter(|it| it.contains("echo.test/ ")).count(), 1, "{all:#?}");
        assert!(all.iter().any(|it| it.contains("/feed Some(101)")), "{all:#?}");
        // A server is not told, however it asks.
        let _ = context.open("http://echo.test/asks", Duration::from_secs(20)).await;
        let told: Vec<axum::http::HeaderMap> = std::mem::take(&mut *told.lock().unwrap());
        assert_eq!(told.len(), 1, "{}", exe.display());
        let is_told = |name: &str| told[0].contains_key(name);
        assert!(!is_told("proxy-authorization") && !is_told("authorization"));
        browser.close().await.unwrap();
    }
}
