//! How the server is found, started and ended, with programs that play one.

use super::*;
use commis_base::settings::EgressSettings;
use commis_browser::paused_requests::RequestDecision;
use commis_net::egress::EgressPolicy;
use std::os::unix::fs::PermissionsExt as _;

/// A server that answers as one does: `tools` are those that it has, and what it does when one is called.
pub const ANSWERS: &str = r#"while read -r line; do
id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
case "$line" in
*'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"Fake","version":"1"}}}\n' "$id" ;;
*'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[TOOLS]}}\n' "$id" ;;
*'"tools/call"'*) CALLED ;;
esac
done"#;

pub fn tool(name: &str) -> String {
    format!(
        r#"{{"name":"{name}","description":"x","inputSchema":{{"type":"object","properties":{{"target":{{"type":"string"}},"url":{{"type":"string"}}}}}}}}"#
    )
}

/// A program that runs this script, whatever it is given behind it.
pub fn script(text: &str) -> PlaywrightOptions {
    PlaywrightOptions {
        command: vec!["/bin/sh".into(), "-c".into(), text.into(), "sh".into()],
        environment: BTreeMap::from([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]),
        browser: "/nope".into(),
        arguments: Vec::new(),
        profile: None,
    }
}

async fn gateway() -> Gateway {
    let policy = EgressPolicy::new(&EgressSettings::default()).unwrap();
    Gateway::start(&policy, Arc::new(|_| RequestDecision::Go)).await.unwrap()
}

async fn fails(text: &str) -> Error {
    Server::start(&script(text), &gateway().await).await.map(drop).unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn ac_1_3_a_server_that_cannot_be_reached_says_what_to_do() {
    let mut missing = script("");
    missing.command = vec!["/nope/playwright-mcp".into()];
    let missing = Server::start(&missing, &gateway().await).await.map(drop).unwrap_err();
    for (err, says) in [
        (missing, "/nope/playwright-mcp"),
        (
            fails("echo 'Error: Cannot find module \u{1b}[31mx' >&2; exit 1").await,
            "its last words: Error: Cannot find module [31mx",
        ),
        (fails("echo '{\"not\": \"it\"}'").await, "no connection to Playwright's server"),
        (fails("exit 0").await, "no connection to Playwright's server"),
    ] {
        assert_eq!(err.code(), Code::McpFailed, "{err}");
        assert_eq!(err.code().class().exit_code(), 3);
        assert!(err.to_string().contains(says), "{err}");
        let hint = err.hint_text().unwrap();
        assert!(hint.contains("npx --yes @playwright/mcp@") && hint.contains("Node.js"), "{hint}");
    }
}

#[tokio::test(start_paused = true)]
async fn ac_1_1_a_server_that_says_nothing_is_given_up_after_ten_seconds() {
    let begun = tokio::time::Instant::now();
    let err = fails("sleep 60").await;
    assert!(err.message().contains("did not answer within 10 s"), "{err}");
    assert!((10..12).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}

/// What is alive of those, waited for as long as the criterion gives.
async fn alive(all: &[Pid]) -> bool {
    for _ in 0..100 {
        if all.iter().all(|it| test_kill_process(*it).is_err() || processes::has_ended(*it)) {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn ac_1_4_what_it_started_ends_with_it() {
    // It does not end when its input does, and has a child in a group of its own that does not end at all.
    let text = ANSWERS.replace("TOOLS", "").replace("CALLED", ":");
    let text = format!(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM HUP; sleep 300; :' & sleep 300 & {text}; sleep 300"
    );
    let server = Server::start(&script(&text), &gateway().await).await.unwrap();
    let all = processes::descendants(server.pid().unwrap());
    assert!(all.len() >= 3, "{all:?}");
    let folder = server.folder.as_ref().unwrap().path().to_owned();
    assert!(folder.join("settings.json").is_file());
    drop(server);
    assert!(!alive(&all).await, "still there 5 s later: {all:?}");
    // The limit only ends a test that would hang.
    for _ in 0..3000 {
        if !folder.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} is left", folder.display());
}

#[tokio::test]
async fn ac_1_5_node_is_looked_for_first() {
    let folder = tempfile::tempdir().unwrap();
    let node = folder.path().join("node");
    let mut how = script("");
    how.command = vec!["npx".into()];
    how.environment = BTreeMap::from([("PATH".into(), folder.path().to_owned())]);
    let err = how.check_node().await.unwrap_err();
    assert!(err.message().contains("needs Node.js, and `node` does not run"), "{err}");
    for (version, says) in [
        ("v16.20.2", Some("needs Node.js 18 or later, and `node` is v16.20.2")),
        ("v8.1.0", Some("is v8.1.0")),
        ("nothing", Some("does not run")),
        ("v18.0.0", None),
        ("v20.20.2", None),
        ("v118.0.0-nightly", None),
    ] {
        #[expect(clippy::disallowed_methods, reason = "a program as somebody else installed it")]
        std::fs::write(&node, format!("#!/bin/sh\necho {version}\n")).unwrap();
        std::fs::set_permissions(&node, std::fs::Permissions::from_mode(0o755)).unwrap();
        match (how.check_node().await, says) {
            (Ok(()), None) => {}
            (Err(err), Some(says)) => {
                assert_eq!(
                    (err.code(), err.code().class().exit_code()),
                    (Code::SettingsInvalid, 2)
                );
                assert!(err.message().contains(says), "{err}");
                assert!(err.hint_text().unwrap().contains("apt-get install nodejs"), "{err}");
            }
            (it, _) => panic!("{version}: {it:?}"),
        }
    }
    // A Node of one's own is asked itself.
    how.command = vec![node.display().to_string(), "cli.js".into()];
    how.environment.clear();
    how.check_node().await.unwrap();
}

#[tokio::test]
async fn ac_7_1_a_profile_stays_where_it_is_asked_for() {
    let gateway = gateway().await;
    let mut how = script("");
    how.arguments = vec!["--lang=nb".into()];
    let it = how.settings(&gateway, Path::new("/run"));
    assert_eq!(
        (&it["browser"]["isolated"], &it["browser"]["userDataDir"]),
        (&json!(true), &Value::Null)
    );
    how.profile = Some("/home/x/playwright".into());
    let it = how.settings(&gateway, Path::new("/run"));
    assert_eq!(it["browser"]["isolated"], false);
    assert_eq!(it["browser"]["userDataDir"], "/home/x/playwright");
    let launch = &it["browser"]["launchOptions"];
    assert_eq!((&launch["chromiumSandbox"], &launch["headless"]), (&json!(true), &json!(true)));
    assert_eq!(launch["proxy"]["server"], gateway.url());
    let arguments = launch["args"].to_string();
    for it in ["--lang=nb", "--disable-quic", "--ignore-certificate-errors-spki-list="] {
        assert!(arguments.contains(it), "{arguments}");
    }
    assert!(!arguments.contains("no-sandbox"));
}

#[test]
fn versions_of_node() {
    for (text, expected) in [
        ("v20.20.2", Some(20)),
        ("v18.0.0", Some(18)),
        ("18.0.0", None),
        ("v", None),
        ("", None),
        ("vx.1", None),
    ] {
        assert_eq!(major(text), expected, "{text}");
    }
}
