//! Pages whose changes wait, in real Chromium: what goes away takes nothing with it, and what is typed stays where it is typed.

use super::*;
use crate::{
    hold_state::{OutgoingRequest, RequestDecision},
    page_session::{Command, CommandOutput, PageController},
};

/// Everything but POST goes.
async fn desk(browser: &Browser) -> PageController {
    let context = browser.context().await.unwrap();
    let mut desk = PageController::new(context, Duration::from_secs(20), None).unwrap();
    desk.hold(Arc::new(|it: &OutgoingRequest<'_>| match it.method {
        "POST" => RequestDecision::Hold("it posts".to_owned()),
        _ => RequestDecision::Go,
    }));
    desk
}

fn page(host: &str, html: &str) -> String {
    let mut url = url::Url::parse(&format!("http://{host}/html")).unwrap();
    url.query_pairs_mut().append_pair("html", html);
    url.into()
}

async fn run(desk: &mut PageController, command: Command) -> Result<CommandOutput> {
    desk.run(command).await
}

fn posts(site: &Site) -> usize {
    site.log.lock().unwrap().iter().filter(|it| it.contains("/post")).count()
}

/// A frame in a sandbox asks for something that outlives it, and is removed a moment later.
#[tokio::test(flavor = "multi_thread")]
async fn what_outlives_its_frame_is_held_too() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<title>T</title><button>Go</button><p id=out></p><script>let n = 0;
document.querySelector('button').onclick = () => {
  const f = document.createElement('iframe'); f.sandbox = 'allow-scripts';
  f.srcdoc = '<script>fetch(\"http://shop.test/post\", {method: \"POST\", mode: \"no-cors\", keepalive: true, body: \"left\"}); parent.postMessage(1, \"*\")<\\/script>';
  onmessage = () => setTimeout(() => { f.remove(); out.textContent = ++n; }, [0, 5, 20, 50][n % 4]);
  document.body.append(f);
};</script>";
    run(&mut desk, Command::Goto(page("shop.test", html))).await.unwrap();
    for _ in 0..8 {
        run(&mut desk, Command::Click("button Go".parse().unwrap())).await.unwrap();
        for it in desk.held_requests() {
            desk.shared().take_back(it.number);
        }
    }
    assert_eq!(posts(&site), 0);
    // What is let go leaves, once.
    let html = "<button onclick=\"fetch('/post', {method: 'POST', body: 'a', keepalive: true})\">Send</button>";
    run(&mut desk, Command::Goto(page("shop.test", html))).await.unwrap();
    run(&mut desk, Command::Click("button Send".parse().unwrap())).await.unwrap();
    // One of a frame that is gone may have come late.
    let mut waiting = desk.held_requests();
    waiting.retain(|it| it.body.as_deref() == Some(b"a"));
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_eq!(posts(&site), 0);
    desk.let_leave(waiting[0].number).await.unwrap();
    assert_eq!(posts(&site), 1);
    // Other contexts are as they were.
    let context = browser.context().await.unwrap();
    let mut other = PageController::new(context, Duration::from_secs(20), None).unwrap();
    run(&mut other, Command::Goto(page("shop.test", html))).await.unwrap();
    run(&mut other, Command::Click("button Send".parse().unwrap())).await.unwrap();
    assert_eq!(posts(&site), 2);
    browser.close().await.unwrap();
}

/// The page's own timer sends nothing; what a press of the mouse sets off leaves.
#[tokio::test(flavor = "multi_thread")]
async fn while_a_person_has_the_page_only_what_they_do_leaves() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let mut desk = desk(&browser).await;
    let html = "<title>T</title><button style='position:fixed;inset:0' onclick=\"fetch('/post?by=hand', {method: 'POST'})\">Pay</button>
<script>setInterval(() => { fetch('/post?by=page', {method: 'POST'}); document.querySelector('button').click() }, 100)</script>";
    run(&mut desk, Command::Goto(page("shop.test", html))).await.unwrap();
    desk.hand_off("pay").await.unwrap();
    let shared = desk.shared();
    let refused = || shared.lock().refused.iter().any(|it| it.1.contains("while a person has it"));
    wait_until("refusal of what the page does by itself", refused).await;
    assert_eq!(posts(&site), 0);
    let session = shared.page().unwrap().session;
    for kind in ["mousePressed", "mouseReleased"] {
        let at = json!({"type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1});
        shared.cdp.run(Some(&session), "Input.dispatchMouseEvent", at).await.unwrap();
    }
    let by_hand = || site.log.lock().unwrap().iter().any(|it| it.contains("by=hand"));
    wait_until("request of the person", by_hand).await;
    desk.resume().await.unwrap();
    browser.close().await.unwrap();
}

/// By its own wish, begun before or meanwhile, or by whoever opened it.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_turns_into_another_gets_none_of_what_is_typed() {
    let site = serve().await;
    let Some(browser) = start(&site).await else { return };
    let value = "a secret of this site, ".repeat(8);
    let takes = "<input autofocus oninput=\"fetch('/taken?q=' + encodeURIComponent(value))\">";
    let there = page("other.test", takes);
    let turns = format!("location = {}", serde_json::to_string(&there).unwrap());
    for when in [
        // At the first letter.
        format!("i.oninput = () => {{ i.oninput = null; {turns} }}"),
        // A moment after it has the focus, again and again.
        format!("i.onfocus = () => setInterval(() => {{ {turns} }}, 7)"),
        // Before it is typed in; the answer comes while it is.
        format!("setTimeout(() => {{ {turns} }}, 200)").replace("/html?", "/html?ms=300&"),
    ] {
        let mut desk = desk(&browser).await;
        let html = format!("<title>T</title><input id=i aria-label=Name><script>{when}</script>");
        run(&mut desk, Command::Goto(page("shop.test", &html))).await.unwrap();
        let filled =
            run(&mut desk, Command::Fill("textbox Name".parse().unwrap(), value.clone())).await;
        if let Err(err) = &filled {
            assert_eq!(err.code(), Code::RefStale, "{when}: {err}");
        }
        let taken: Vec<String> =
            site.log.lock().unwrap().iter().filter(|it| it.contains("/taken?")).cloned().collect();
        assert!(taken.is_empty(), "{when}: {filled:?} {taken:?}");
    }
    browser.close().await.unwrap();
}
