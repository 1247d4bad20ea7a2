//! The hands over Playwright's server: with programs that play it where it fails, and with the real one where that is installed.
//!
//! The real one is named by `COMMIS_PLAYWRIGHT_MCP`, a command such as `node …/@playwright/mcp/cli.js`.

use std::sync::Arc;

use super::{
    server::tests::{ANSWERS, script, tool},
    *,
};
use crate::{TaskPolicy, playbook};
use commis_base::settings::{self, EgressSettings};
use commis_browser::find_chromium;
use commis_testbed::Testbed;

fn act(name: &str, arguments: Value) -> Action {
    let Value::Object(arguments) = arguments else { panic!("no object") };
    Action { name: name.into(), arguments }
}

async fn fake(called: &str) -> Result<Playwright> {
    let tools: Vec<String> = tools::NEEDED.iter().map(|it| tool(it)).collect();
    let text = ANSWERS.replace("TOOLS", &tools.join(",")).replace("CALLED", called);
    let policy = EgressPolicy::new(&EgressSettings::default()).unwrap();
    let task_policy = TaskPolicy::new("http://a.test/", &[], None, &[]).unwrap();
    let gateway = Gateway::start(&policy, task_policy.judge()).await?;
    let how = script(&text);
    let server = Server::start(&how, &gateway).await?;
    let tools = tools::offered(&server.tools)?;
    let pictures = (PathBuf::from("/nope"), "x".to_owned(), 0);
    Ok(Playwright {
        how,
        gateway,
        server,
        tools,
        view: PageView::default(),
        acting: None,
        pressed: None,
        again: false,
        pictures,
    })
}

/// A script's line that answers a call with that text.
fn says(text: &str, is_error: bool) -> String {
    let text = serde_json::to_string(text).unwrap().replace('\\', "\\\\").replace('\'', "");
    format!(
        "printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"isError\":{is_error}}}}}\\n' \"$id\""
    )
}

const PAGE: &str = "### Page\n- Page URL: http://a.test/\n- Page Title: A\n### Snapshot\n```yaml\n- button \"Go\" [ref=e1]\n```";

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_lost_is_made_once_more() {
    // Ends when something is clicked.
    let mut it =
        fake(&format!("case \"$line\" in *click*) exit 0 ;; *) {} ;; esac", says(PAGE, false)))
            .await
            .unwrap();
    assert_eq!(it.snapshot().await.unwrap().content, "- button \"Go\" [ref=e1]\n");
    let click = act("browser_click", json!({"target": "button \"Go\""}));
    let err = it.act(&click, "http://a.test/").await.unwrap_err();
    // Told to the model: nobody knows how far it got, so it is not done again by itself.
    assert_eq!(err.code(), Code::StepFailed, "{err}");
    assert!(err.message().contains("ended during browser_click and was started again"), "{err}");
    assert!(err.hint_text().unwrap().contains("http://a.test/"), "{err}");
    assert_eq!(it.snapshot().await.unwrap().title, "A");
    let err = it.act(&click, "http://a.test/").await.unwrap_err();
    assert_eq!(err.code(), Code::McpFailed);
    assert!(err.message().contains("lost twice"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_is_repeated_when_the_connection_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mark = folder.path().join("ended");
    let once = format!(
        "if [ -e {0} ]; then {1}; else : > {0}; exit 0; fi",
        mark.display(),
        says(PAGE, false)
    );
    let mut it = fake(&once).await.unwrap();
    assert_eq!(it.snapshot().await.unwrap().url, "http://a.test/");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_says_is_told_as_it_is_meant() {
    let mut it = fake(&says("### Error\nError: Ref e7 not found", true)).await.unwrap();
    let open = act("goto", json!({"url": "http://a.test/"}));
    let err = it.act(&open, "http://a.test/").await.unwrap_err();
    assert_eq!((err.code(), err.message()), (Code::StepFailed, "Ref e7 not found"));
    assert_eq!(it.snapshot().await.unwrap_err().code(), Code::StepFailed);

    let mut it =
        fake(&says("### Modal state\n- [confirm dialog with message Sure?]", false)).await.unwrap();
    let view = it.snapshot().await.unwrap();
    assert!(
        view.content.starts_with("- alertdialog \"") && view.content.contains("Sure?"),
        "{}",
        view.content
    );

    let mut it = fake(&says("hello", false)).await.unwrap();
    assert_eq!(it.snapshot().await.unwrap_err().code(), Code::ParseError);
}

#[tokio::test(flavor = "multi_thread")]
async fn ac_1_2_a_server_without_the_tools_is_none() {
    let text = ANSWERS.replace("TOOLS", &tool("browser_click")).replace("CALLED", ":");
    let policy = EgressPolicy::new(&EgressSettings::default()).unwrap();
    let judge = TaskPolicy::new("http://a.test/", &[], None, &[]).unwrap().judge();
    let gateway = Gateway::start(&policy, judge).await.unwrap();
    let server = Server::start(&script(&text), &gateway).await.unwrap();
    let err = tools::offered(&server.tools).unwrap_err();
    assert_eq!(err.code(), Code::McpFailed);
    assert!(err.message().contains("browser_snapshot, browser_navigate, browser_type"), "{err}");
}

#[test]
fn the_command_is_the_users_or_a_version_that_was_tried() {
    assert_eq!(command(None).unwrap(), ["npx", "--yes", PINNED]);
    assert_eq!(command(Some("node '/a b/cli.js' --x")).unwrap(), ["node", "/a b/cli.js", "--x"]);
    for bad in ["", "  ", "node 'x"] {
        assert_eq!(command(Some(bad)).unwrap_err().code(), Code::SettingsInvalid, "{bad}");
    }
    assert!(HOW.contains(PINNED));
}

// With the real server.

struct PlaywrightFixture {
    web: Testbed,
    driver: Playwright,
    _folder: tempfile::TempDir,
}

/// `None` where it is not installed. `profile`: where its browser keeps logins.
async fn real(
    url: &str,
    book: Option<&str>,
    profile: Option<PathBuf>,
) -> Option<PlaywrightFixture> {
    let Some(named) = settings::secret("COMMIS_PLAYWRIGHT_MCP") else {
        println!("COMMIS_PLAYWRIGHT_MCP names no server of Playwright's: not tested");
        return None;
    };
    let Ok(browser) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return None;
    };
    let web = Testbed::start(0).await.unwrap();
    let test_hosts = vec![format!("*.test={}", web.addr())];
    let test_ca_pem = Some(commis_testbed::authority_pem());
    let egress = EgressSettings { test_hosts, test_ca_pem, ..EgressSettings::default() };
    let policy = EgressPolicy::new(&egress).unwrap();
    let home = settings::Home::find(Some(std::path::Path::new("/nope"))).unwrap();
    let book = book.map(|it| Arc::new(playbook::load(&home, it).unwrap()));
    let task_policy = TaskPolicy::new(url, &[], book, &[]).unwrap();
    let how = PlaywrightOptions {
        command: command(Some(&named)).unwrap(),
        environment: settings::child_environment(),
        browser,
        arguments: Vec::new(),
        profile,
    };
    let folder = tempfile::tempdir().unwrap();
    let pictures = (folder.path().to_owned(), "p".to_owned());
    let driver = Playwright::start(how, &policy, task_policy.judge(), pictures).await.unwrap();
    Some(PlaywrightFixture { web, driver, _folder: folder })
}

impl PlaywrightFixture {
    async fn act(&mut self, name: &str, arguments: Value) -> Result<ActionResult> {
        let on = self.driver.view.url.clone();
        let done = self.driver.act(&act(name, arguments), &on).await;
        println!("{name}: {done:?}");
        // As the loop does.
        let _ = self.driver.snapshot().await;
        done
    }

    fn hits(&self, of: &str) -> u64 {
        self.web.hits().iter().filter(|it| it.0.contains(of)).map(|it| *it.1).sum()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ac_1_1_ac_1_2_ac_5_7_the_real_server_is_spoken_to() {
    // It would have been given up after ten seconds.
    let Some(mut it) = real("http://reorder.test/", Some("order-again"), None).await else {
        return;
    };
    let names: Vec<String> = it.driver.tools().into_iter().map(|it| it.name).collect();
    for needed in tools::NEEDED {
        assert!(names.iter().any(|it| it == needed), "{names:?}");
    }
    for bad in [
        "evaluate",
        "run_code",
        "upload",
        "install",
        "network",
        "console",
        "screenshot",
        "close",
        "drop",
    ] {
        assert!(!names.iter().any(|it| it.contains(bad)), "{names:?}");
    }
    let blank = it.driver.snapshot().await.unwrap();
    assert_eq!((blank.url.as_str(), blank.title.as_str()), ("about:blank", ""));
    it.act("goto", json!({"url": "http://reorder.test/"})).await.unwrap();
    let view = it.driver.snapshot().await.unwrap();
    assert_eq!((view.url.as_str(), view.title.as_str()), ("http://reorder.test/", "Pantry & Post"));
    assert!(view.content.contains("cell \"R-0913\""), "{}", view.content);
    it.act("browser_click", json!({"target": "link \"Order again\" in \"R-0913\""})).await.unwrap();
    let view = it.driver.snapshot().await.unwrap();
    assert_eq!(view.url, "http://reorder.test/again?order=R-0913");
    it.act("browser_type", json!({"target": "spinbutton \"Quantity\"", "text": "2"}))
        .await
        .unwrap();
    let view = it.driver.snapshot().await.unwrap();
    assert!(
        tools::resolve_ref("spinbutton \"Quantity\"", &view.content).is_ok(),
        "{}",
        view.content
    );
    assert!(view.content.contains("\"2\""), "{}", view.content);
    // The last step is held, looked at, and let go once.
    let did = it.act("browser_click", json!({"target": "button \"Place order\""})).await.unwrap();
    assert_eq!(did.held.len(), 1, "{did:?}");
    assert_eq!(
        (did.held[0].method.as_str(), did.held[0].url.as_str()),
        ("POST", "http://reorder.test/orders")
    );
    assert!(
        String::from_utf8_lossy(did.held[0].body.as_deref().unwrap()).contains("\"quantity\":2")
    );
    assert_eq!(it.hits("/orders"), 0, "{:?}", it.web.hits());
    let one = it.driver.snapshot().await.unwrap();
    assert_eq!(one, it.driver.snapshot().await.unwrap(), "a page that waits is as it was");
    let picture = it.driver.picture().await.unwrap().unwrap();
    assert!(std::fs::read(picture).unwrap().starts_with(b"\x89PNG"));
    let number = did.held[0].id.parse().unwrap();
    assert_eq!(it.driver.held_request(number).as_ref(), Some(&did.held[0]));
    let (told, status) = it.driver.let_leave(number).await.unwrap();
    assert!(status.is_some_and(|it| it < 400), "{told} {status:?}");
    assert_eq!(it.hits("/orders"), 1, "{:?}", it.web.hits());
    let view = it.driver.snapshot().await.unwrap();
    assert!(view.content.contains("Order placed: R-"), "{}", view.content);
    assert_eq!(it.driver.let_leave(number).await.unwrap_err().code(), Code::ApprovalStale);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_server_stays_at_the_tasks_sites() {
    let Some(mut it) = real("http://club.test/account", Some("cancel-membership"), None).await
    else {
        return;
    };
    it.act("goto", json!({"url": "http://club.test/account"})).await.unwrap();
    // The contract stops this before; whatever opens a page, it does not come.
    let err = it.act("browser_navigate", json!({"url": "http://almanac.test/"})).await.unwrap_err();
    assert!(err.message().contains("refused: http://almanac.test/"), "{err}");
    assert_eq!(it.driver.snapshot().await.unwrap().url, "http://club.test/account");
    assert_eq!(it.hits("almanac.test"), 0);
    for target in
        ["link \"Cancel membership\"", "link \"Continue to cancel\"", "link \"Continue to cancel\""]
    {
        let did = it.act("browser_click", json!({"target": target})).await.unwrap();
        assert!(did.held.is_empty(), "{did:?}");
    }
    // A form of the page itself: the document waits, and the page can still be looked at.
    let did =
        it.act("browser_click", json!({"target": "button \"Finish cancellation\""})).await.unwrap();
    assert_eq!(did.held.len(), 1, "{did:?}");
    assert!(did.held[0].url.starts_with("http://club.test/account/cancel/confirm"), "{did:?}");
    let view = it.driver.snapshot().await.unwrap();
    assert!(view.content.contains("Finish cancellation"), "{}", view.content);
    let number = did.held[0].id.parse().unwrap();
    let (told, status) = it.driver.let_leave(number).await.unwrap();
    println!("{told} {status:?}");
    let view = it.driver.snapshot().await.unwrap();
    assert!(
        view.content.to_lowercase().contains("your membership ends on"),
        "{} {}",
        view.url,
        view.content
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_server_speaks_https_through_the_gateway() {
    let Some(mut it) = real("https://vault.test/", None, None).await else { return };
    it.act("goto", json!({"url": "https://vault.test/"})).await.unwrap();
    let view = it.driver.snapshot().await.unwrap();
    assert_eq!(view.url, "https://vault.test/");
    it.act(
        "browser_type",
        json!({"target": "searchbox \"Search boxes\"", "text": "silver", "submit": true}),
    )
    .await
    .unwrap();
    it.act("browser_wait_for", json!({"text": "results for silver"})).await.unwrap();
    assert!(it.driver.snapshot().await.unwrap().content.contains("results for silver"));
    assert!(it.web.protocols().keys().all(|it| *it == "https/1.1"), "{:?}", it.web.protocols());
}

#[tokio::test(flavor = "multi_thread")]
async fn ac_1_4_ac_7_1_the_real_server_ends_and_its_profile_stays() {
    let home = tempfile::tempdir().unwrap();
    // The browser's user, who is another one for root, has to get there.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.path(), open).unwrap();
    let profile = home.path().join("playwright");
    let Some(mut it) = real("http://club.test/account", None, Some(profile.clone())).await else {
        return;
    };
    it.act("goto", json!({"url": "http://club.test/account"})).await.unwrap();
    let all = commis_base::processes::descendants(it.driver.server.pid().unwrap());
    assert!(all.len() > 3, "a server and a browser of several processes: {all:?}");
    let begun = std::time::Instant::now();
    drop(it);
    while all.iter().any(|it| {
        rustix::process::test_kill_process(*it).is_ok() && !commis_base::processes::has_ended(*it)
    }) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{all:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("all ended after {:?}", begun.elapsed());
    assert!(
        profile.join("Default").is_dir(),
        "{:?}",
        std::fs::read_dir(&profile).map(Iterator::count)
    );
}
