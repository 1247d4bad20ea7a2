//! What the browser keeps apart: tasks from each other, pages from the machine, and itself from the network.

use std::{collections::BTreeSet, fs};

use super::*;
use crate::{settings::BrowserMode, testbed::Dns};

#[tokio::test(flavor = "multi_thread")]
async fn strict_mode_asks_the_resolver_before_the_proxy_hears_of_it() {
    let site = serve().await;
    let Ok(exe) = find_chromium(None) else {
        println!("no Chromium here: not tested");
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
        println!("no Chromium here: not tested");
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
