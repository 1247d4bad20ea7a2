//! Replay of what a page sends with values of the moment, and of pages that tell others of what is done.

use super::*;
use crate::{
    page_session::{Command, PageController, ReplayOptions, ReplayOutcome, ReplayedAction},
    sessions::{SessionAction, SessionStore},
};

/// A list whose buttons send a ticket of the page, a time, a random number and the number of the row, and tell others first. What is
/// another here and there stands in `globalThis`, which is set before the page.
const PAGE: &str = "<!doctype html><title>Stall</title><h1>Stall</h1><script>
const changed = globalThis.changed ?? {};
const fresh = () => 'x1y' + Array.from(crypto.getRandomValues(new Uint8Array(12)), it => it.toString(16).padStart(2, '0')).join('');
addEventListener('DOMContentLoaded', () => {
  const frame = changed.framed ? document.body.appendChild(document.createElement('iframe')) : null;
  const at = frame ? frame.contentDocument : document;
  const part = at.body.appendChild(at.createElement('main'));
  part.innerHTML = '<form><input type=hidden name=ticket></form><ul></ul><p></p>' ;
  const [ticket, list, out] = ['input', 'ul', 'p'].map(it => part.querySelector(it));
  ticket.value = fresh();
  for (const it of ['Rake', 'Hose', 'Lantern'])
    list.insertAdjacentHTML('beforeend', `<li><h3>${it}</h3><button>Add</button></li>`);
  list.onclick = async e => {
    if (e.target.tagName !== 'BUTTON') return;
    if (!changed.quiet) navigator.sendBeacon('/post', 'seen=1');
    fetch('http://partner.test/open?r=' + Math.random(), { mode: 'no-cors' });
    const row = e.target.closest('li').querySelector('h3').textContent;
    const variables = { row: changed.row ?? row, first: 3, trace: changed.trace ?? fresh() };
    const body = { ticket: ticket.value, ops: [{ variables }] };
    await fetch('/post?at=' + Date.now() + '&r=' + Math.random(), { method: 'POST', body: JSON.stringify(body) });
    out.textContent = 'added ' + row;
  };
});
</script>";

fn address() -> String {
    let mut url = url::Url::parse("http://stall.test/html").unwrap();
    url.query_pairs_mut().append_pair("html", PAGE);
    url.into()
}

async fn desk(browser: &Browser) -> PageController {
    PageController::new(browser.context().await.unwrap(), Duration::from_secs(5), None).unwrap()
}

/// The last act again, on a page that was changed so.
async fn replayed(browser: &Browser, lines: &[SessionAction], changed: &str) -> ReplayedAction {
    let mut desk = desk(browser).await;
    let shared = desk.shared();
    let session = shared.page().unwrap().session;
    let script = serde_json::json!({ "source": format!("globalThis.changed = {changed}") });
    shared.cdp.run(Some(&session), "Page.addScriptToEvaluateOnNewDocument", script).await.unwrap();
    let how =
        ReplayOptions { allow: lines.iter().map(|it| it.n).collect(), ..ReplayOptions::default() };
    desk.replay(lines, &how).await.unwrap().pop().unwrap()
}

/// A session in which a lantern is added.
async fn recorded(browser: &Browser, all: &SessionStore) -> Vec<SessionAction> {
    let mut desk = desk(browser).await;
    let url = address();
    desk.record(all.record("moments", "", &url, "").unwrap(), &url).await.unwrap();
    let on = "button \"Add\" in \"Lantern\"".parse().unwrap();
    desk.run(Command::Click(on)).await.unwrap();
    let id = desk.end().await.unwrap().id;
    all.load(&id).unwrap().1
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_another_each_time_is_told_from_what_is_asked_for() {
    let site = serve().await;
    let Some(browser) = super::start(&site).await else { return };
    let home = tempfile::tempdir().unwrap();
    let all = SessionStore::new(home.path());
    let lines = recorded(&browser, &all).await;
    // Chromium sends it beside the page's own, before them or after.
    let requests = &lines[1].requests;
    assert!(requests.iter().any(|it| it.beacon), "{requests:?}");
    // The last moved into a frame, which alone changes.
    for changed in ["{}", "{ quiet: true }", "{ framed: true }"] {
        let done = replayed(&browser, &lines, changed).await;
        assert_eq!(done.outcome, ReplayOutcome::Same, "{changed}: {done:?}");
    }
    // Another row is asked for, or what the page sends is no value of the moment.
    for (changed, named) in [
        ("{ row: 'Rake' }", "another `ops[0].variables.row`"),
        ("{ trace: 'yes' }", "another `ops[0].variables.trace`"),
    ] {
        let done = replayed(&browser, &lines, changed).await;
        assert_eq!(done.outcome, ReplayOutcome::Differs, "{changed}: {done:?}");
        assert!(done.why.as_ref().unwrap().contains(named), "{done:?}");
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_leads_to_another_of_its_pages_stops_nothing() {
    let site = serve().await;
    let Some(browser) = super::start(&site).await else { return };
    let home = tempfile::tempdir().unwrap();
    let all = SessionStore::new(home.path());
    let lines = recorded(&browser, &all).await;
    // As if it had led there when it was recorded.
    let led_to = |origin: &str| -> Vec<SessionAction> {
        let mut lines = lines.clone();
        let url = format!("{origin}/welcome");
        lines[0].url_after.clone_from(&url);
        (lines[1].url_before, lines[1].url_after) = (url.clone(), url);
        for it in lines[1].requests.iter_mut().filter(|it| it.origin.contains("stall")) {
            origin.clone_into(&mut it.origin);
        }
        lines
    };
    for origin in ["http://stall.test", "http://www.stall.test"] {
        let done = replayed(&browser, &led_to(origin), "{}").await;
        assert_eq!((done.n, done.outcome), (2, ReplayOutcome::Same), "{origin}: {done:?}");
    }
    let done = replayed(&browser, &led_to("http://elsewhere.test"), "{}").await;
    assert_eq!((done.n, done.outcome), (1, ReplayOutcome::Differs), "{done:?}");
    // Where nothing comes after it, nothing tells that it is the page.
    let done = replayed(&browser, &led_to("http://stall.test")[..1], "{}").await;
    assert_eq!((done.n, done.outcome), (1, ReplayOutcome::Differs), "{done:?}");
    browser.close().await.unwrap();
}
