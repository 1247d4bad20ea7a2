//! Who is told that something changed: a desktop notification, a signed webhook, a chat, a program of the user's.
//!
//! Notifications are written down with the run that they tell of, and sent from there, so none is lost when the daemon ends between. One
//! that cannot be sent is tried again, with the same id. Programs and addresses come from the settings alone.

use std::{process::Stdio, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, process::Command};

use super::{
    diff,
    schedule::quiet_until,
    store::{Finished, Outcome, Waiting, Watch},
};
use crate::{
    Daemon,
    channels::{Bot, webhook},
};
use commis_base::{
    error::{Code, Error, Result},
    settings::{QuietHours, WatchSettings, desktop_environment, quiet_hours, secret},
};
use commis_state::now_ms;

/// One program, and how often a notification is tried: the last time is about five minutes after the first.
const PATIENCE: Duration = Duration::from_secs(30);
const TRIES: u32 = 6;
const FIRST_MS: i64 = 2000;
/// Where nothing waits, the table is looked at again after this time.
const LOOK: Duration = Duration::from_secs(60);
/// Characters of a notification's text.
const MAX_TEXT: usize = 1500;

/// The notifications of a run: channel, when it may be sent, and what.
pub fn due(
    daemon: &Daemon,
    watch: &Watch,
    it: &Finished,
    began_ms: i64,
) -> Vec<(String, i64, String)> {
    if it.outcome != Outcome::Changed && !is_told(watch, it) {
        return Vec::new();
    }
    let settings = &daemon.runtime().settings.watch;
    let hours = watch.request.quiet_hours.as_ref().or(settings.quiet_hours.as_ref());
    let hours: Option<QuietHours> = hours.and_then(|it| quiet_hours(it).ok());
    let now = now_ms();
    let at = hours.and_then(|it| quiet_until(it, minute(now), now)).unwrap_or(now);
    let body = event_body(watch, it, began_ms).to_string();
    watch.request.notify.iter().map(|channel| (channel.clone(), at, body.clone())).collect()
}

/// The minute of the day in the machine's time zone.
fn minute(now_ms: i64) -> u16 {
    let zone = jiff::tz::TimeZone::system();
    let at = jiff::Timestamp::from_millisecond(now_ms).map(|it| it.to_zoned(zone));
    at.map_or(0, |it| it.hour() as u16 * 60 + it.minute() as u16)
}

/// Sends what waits, one after the other, until the daemon ends.
pub async fn deliver(daemon: Arc<Daemon>) {
    loop {
        let more = daemon.watches.to_send.notified();
        let now = now_ms();
        let pause = match daemon.watches.store.to_send(now).await {
            Ok((Some(it), _)) => {
                send(&daemon, it).await;
                continue;
            }
            Ok((None, Some(at))) => Duration::from_millis((at - now).max(1) as u64).min(LOOK),
            Ok((None, None)) => LOOK,
            Err(err) => {
                tracing::error!(error = %err, "notifications that wait cannot be read");
                LOOK
            }
        };
        tokio::select! {
            () = more => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn send(daemon: &Arc<Daemon>, it: Waiting) {
    let sent = by_channel(daemon, &it).await;
    let again = match &sent {
        Ok(()) => None,
        Err(err) if it.tries + 1 < TRIES && may_pass(err) => {
            Some(now_ms() + FIRST_MS * 3_i64.pow(it.tries))
        }
        Err(err) => {
            tracing::error!(watch = it.watch, channel = it.channel, error = %err, "a notification was not sent");
            None
        }
    };
    if let Err(err) = daemon.watches.store.record_sent(it.id, again).await {
        tracing::error!(error = %err, "a notification is not taken off the list");
        // It would be sent again at once.
        tokio::time::sleep(LOOK).await;
    }
}

fn may_pass(err: &Error) -> bool {
    err.code() == Code::HttpStatus || err.code().retryable()
}

async fn by_channel(daemon: &Arc<Daemon>, it: &Waiting) -> Result<()> {
    let runtime = daemon.runtime();
    let settings: &WatchSettings = &runtime.settings.watch;
    // As the settings are now.
    settings.channel(&it.channel)?;
    match it.channel.split_once(':') {
        Some((_, name)) => match settings.commands.get(name) {
            Some(argv) => program(argv, it.body.as_bytes()).await,
            None => Ok(()),
        },
        None if it.channel == "webhook" => match &settings.webhook {
            Some(to) => {
                let id = format!("msg_watch_{}", it.id);
                webhook::post(runtime.policy(), to, &id, it.body.as_bytes()).await
            }
            None => Ok(()),
        },
        None if it.channel == "telegram" => {
            let Some(to) = &runtime.settings.agent.telegram else {
                return Err(Error::new(Code::SettingsInvalid, "no Telegram chat is configured")
                    .hint("set it in [agent.telegram]; see docs/how-to/approve.md"));
            };
            Bot::new(to)?.say(&text(&it.body), &[]).await.map(drop)
        }
        None => desktop(&it.body).await,
    }
}

/// A desktop notification, where there is a desktop.
async fn desktop(body: &str) -> Result<()> {
    const BUSES: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"];
    if BUSES.iter().all(|it| secret(it).is_none()) {
        tracing::debug!("there is no desktop to notify");
        return Ok(());
    }
    let text = text(body);
    let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
    // The text of a notification is markup.
    let rest = rest.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let argv = ["notify-send", "--app-name=commis", "--", title, &rest].map(str::to_owned);
    match program(&argv, &[]).await {
        Err(err) if err.code() == Code::SettingsInvalid => {
            tracing::debug!(error = %err, "there is no desktop to notify");
            Ok(())
        }
        it => it,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program that the user's settings name, and the desktop's own"
)]
fn command(program: &str) -> Command {
    Command::new(program)
}

/// Runs it with the bytes on stdin, without a shell, and without what else the environment holds. Fails with `SETTINGS_INVALID` where
/// it cannot be started, and with `TIMEOUT` or `HTTP_STATUS` where it fails.
async fn program(argv: &[String], stdin: &[u8]) -> Result<()> {
    let Some((program, arguments)) = argv.split_first() else { return Ok(()) };
    let mut child = command(program)
        .args(arguments)
        .env_clear()
        .envs(desktop_environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|err| {
            Error::new(Code::SettingsInvalid, "a program of [watch.commands] cannot be started")
                .source(err)
        })?;
    let ended = async {
        if let Some(mut to) = child.stdin.take() {
            // One that reads nothing is told all the same.
            let _ = to.write_all(stdin).await;
        }
        child.wait().await
    };
    match tokio::time::timeout(PATIENCE, ended).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => {
            Err(Error::new(Code::HttpStatus, format!("the program ended with {status}")))
        }
        Ok(Err(err)) => {
            Err(Error::new(Code::HttpStatus, "the exit status of the program is unknown")
                .source(err))
        }
        Err(_) => Err(Error::new(Code::Timeout, "the program took more than 30 s")),
    }
}

/// A notification for a person: a title, and a line for each change.
fn text(body: &str) -> String {
    let it: Value = serde_json::from_str(body).unwrap_or_default();
    let data = &it["data"];
    let word = |it: &Value| -> String {
        let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        text.chars().filter(|it| !it.is_control()).take(80).collect()
    };
    let name = word(&data["watch"]);
    if it["type"] == "watch.failing" {
        return format!("{name} fails\n{}", word(&data["error_code"]));
    }
    let counts: Vec<String> = ["added", "removed", "changed"]
        .iter()
        .filter(|it| data[**it].as_u64().is_some_and(|it| it > 0))
        .map(|it| format!("{} {it}", data[*it]))
        .collect();
    let mut out = format!("{name}: {}", counts.join(", "));
    for it in data["changes"].as_array().into_iter().flatten() {
        let line = match it["kind"].as_str() {
            Some("changed") => format!(
                "{}: {} {} → {}",
                word(&it["item"]),
                word(&it["path"]),
                word(&it["old"]),
                word(&it["new"])
            ),
            Some(kind) => format!("{kind}: {}", word(&it["item"])),
            None => continue,
        };
        if out.len() + line.len() > MAX_TEXT {
            break;
        }
        out = format!("{out}\n{line}");
    }
    out
}

/// Failures in a row after which somebody is told.
const TOLD_AFTER: u32 = 3;

/// Whether somebody is told that it fails: once, after some failures in a row.
pub fn is_told(watch: &Watch, it: &Finished) -> bool {
    it.outcome == Outcome::Failed && watch.failures + 1 == TOLD_AFTER
}

/// What a notification says of a run.
pub fn event_body(watch: &Watch, it: &Finished, began_ms: i64) -> Value {
    /// Changes in one notification.
    const SHOWN: usize = 20;
    let count = |kind: diff::Kind| it.differences.iter().filter(|d| d.kind == kind).count();
    // Values of an account stay here.
    let shown = it.differences.iter().filter(|_| !watch.private).take(SHOWN).map(
        |d| json!({"kind": d.kind, "item": d.key, "path": d.path, "old": d.old, "new": d.new}),
    );
    let at = jiff::Timestamp::from_millisecond(began_ms).map(|it| it.to_string());
    json!({
        "type": if it.outcome == Outcome::Failed { "watch.failing" } else { "watch.changed" },
        "timestamp": at.unwrap_or_default(),
        "data": {
            "watch": watch.watch,
            "recipe": watch.request.recipe,
            "private": watch.private,
            "items": it.items,
            "added": count(diff::Kind::Added),
            "removed": count(diff::Kind::Removed),
            "changed": count(diff::Kind::Changed),
            "changes": shown.collect::<Vec<Value>>(),
            "error_code": it.failure.as_ref().map(|it| it.0.as_str()),
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_notification_reads_well() {
        let body = json!({"type": "watch.changed", "data": {
            "watch": "lamps", "added": 1, "removed": 0, "changed": 1,
            "changes": [{"kind": "added", "item": "Rug", "new": {}},
                {"kind": "changed", "item": "Lamp\u{7}", "path": "price", "old": 5, "new": "£4"}],
        }});
        assert_eq!(
            text(&body.to_string()),
            "lamps: 1 added, 1 changed\nadded: Rug\nLamp: price 5 → £4"
        );
        let failing =
            json!({"type": "watch.failing", "data": {"watch": "lamps", "error_code": "TIMEOUT"}});
        assert_eq!(text(&failing.to_string()), "lamps fails\nTIMEOUT");
    }

    #[tokio::test]
    async fn a_program_gets_the_notification_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        let script = format!("cat > {0}; env | cut -d= -f1 | sort >> {0}", file.display());
        let argv = ["/bin/sh".to_owned(), "-c".to_owned(), script];
        program(&argv, b"{\"a\":1}\n").await.unwrap();
        let said = std::fs::read_to_string(&file).unwrap();
        assert!(said.starts_with("{\"a\":1}\n") && said.contains("PATH"), "{said}");
        assert!(!said.contains("CARGO"), "{said}");
        let none = program(&["/nowhere/at/all".to_owned()], b"").await.unwrap_err();
        assert_eq!(none.code(), Code::SettingsInvalid);
        let bad = program(&["/bin/false".to_owned()], b"").await.unwrap_err();
        assert!(may_pass(&bad));
    }
}
