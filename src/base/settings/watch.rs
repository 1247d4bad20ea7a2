//! How the daemon runs recipes on a schedule, and who is told of what changed.

use std::{collections::BTreeMap, ffi::OsString};

use serde::{Deserialize, Serialize};

use super::WebhookSettings;
use crate::error::{Code, Error, Result};

/// Watches: recipes that the daemon runs on a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WatchSettings {
    /// Watches at most.
    pub most: u32,
    /// The shortest interval, seconds.
    pub least_seconds: u32,
    /// Scheduled runs at once.
    pub at_once: u32,
    /// Days that history is kept; 0: only `watch.changes` limits it.
    pub retention_days: u32,
    /// Changes that are kept of one watch; the oldest are removed first.
    pub changes: u32,
    /// `22:00-07:00`, in the machine's time zone: notifications wait until these hours end. Runs continue.
    pub quiet_hours: Option<String>,
    /// Channels of a watch without its own: `desktop`, `webhook`, `telegram`, `command:NAME`.
    pub notify: Vec<String>,
    /// A signed POST for each notification.
    pub webhook: Option<WebhookSettings>,
    /// Programs that receive a notification as JSON on stdin, by name: program and arguments, without a shell.
    pub commands: BTreeMap<String, Vec<String>>,
    /// Why `webhook` and `commands` do not count, where the file is not the user's own word.
    #[serde(skip)]
    pub refused: Option<String>,
}

impl Default for WatchSettings {
    fn default() -> Self {
        Self {
            most: 2000,
            least_seconds: 60,
            at_once: 4,
            retention_days: 90,
            changes: 10_000,
            quiet_hours: None,
            notify: vec!["desktop".to_owned()],
            webhook: None,
            commands: BTreeMap::new(),
            refused: None,
        }
    }
}

/// Minutes of a day, from and to; where the first is later, the hours go over midnight.
pub type QuietHours = (u16, u16);

/// Reads `22:00-07:00`. Fails with `SETTINGS_INVALID`.
pub fn quiet_hours(text: &str) -> Result<QuietHours> {
    let minute = |it: &str| -> Option<u16> {
        let (hours, minutes) = it.trim().split_once(':')?;
        let of = |it: &str, most: u16| it.parse::<u16>().ok().filter(|it| *it < most);
        Some(of(hours, 24)? * 60 + of(minutes, 60)?)
    };
    text.split_once('-')
        .and_then(|(from, to)| Some((minute(from)?, minute(to)?)))
        .filter(|(from, to)| from != to)
        .ok_or_else(|| Error::new(Code::SettingsInvalid, "quiet hours are written as 22:00-07:00"))
}

impl WatchSettings {
    /// Fails with `SETTINGS_INVALID`.
    pub(super) fn check(&self) -> Result<()> {
        let invalid = |what: String| {
            Error::new(Code::SettingsInvalid, format!("[watch]: {what}"))
                .hint("see docs/how-to/watch.md")
        };
        if let Some(it) = &self.quiet_hours {
            quiet_hours(it).map_err(|err| invalid(err.message().to_owned()))?;
        }
        if let Some(it) = &self.webhook {
            it.check().map_err(|err| invalid(err.message().to_owned()))?;
        }
        for (name, argv) in &self.commands {
            let known = |it: u8| it.is_ascii_alphanumeric() || b"_-".contains(&it);
            if name.is_empty() || name.len() > 40 || !name.bytes().all(known) {
                return Err(invalid("a command's name has letters, digits, _ and -".to_owned()));
            }
            if argv.first().is_none_or(String::is_empty) {
                return Err(invalid(format!("commands.{name} names no program")));
            }
        }
        for it in &self.notify {
            self.channel(it).map_err(|err| invalid(err.message().to_owned()))?;
        }
        Ok(())
    }

    /// Whether that is a channel, and one that the settings set up. Fails with `PARAM_INVALID`.
    pub fn channel(&self, name: &str) -> Result<()> {
        let missing = |what: &str, how: &str| {
            Err(Error::new(Code::ParamInvalid, what.to_owned()).hint(how.to_owned()))
        };
        let is_theirs = name == "webhook" || name.starts_with("command:");
        if let Some(why) = self.refused.as_ref().filter(|_| is_theirs) {
            let what = format!("webhooks and programs of the settings are not used: {why}");
            return Err(Error::new(Code::ParamInvalid, what).hint(
                "name the folder of the settings with --home, and remove the write permission of others",
            ));
        }
        match name.split_once(':') {
            None if matches!(name, "desktop" | "telegram") => Ok(()),
            None if name == "webhook" && self.webhook.is_some() => Ok(()),
            None if name == "webhook" => {
                missing("no webhook is set up", "name one in the settings: [watch.webhook]")
            }
            Some(("command", it)) if self.commands.contains_key(it) => Ok(()),
            Some(("command", _)) => {
                missing("there is no such command", "name it in the settings: [watch.commands]")
            }
            _ => missing(
                "this is not a channel",
                "use desktop, webhook, telegram or command:NAME; see docs/how-to/watch.md",
            ),
        }
    }

    /// The same where the file is not the user's own word: nothing is started, and no other host is told.
    pub(super) fn without_channels(&mut self, why: String) {
        self.refused = Some(why);
        self.webhook = None;
        self.commands.clear();
        self.notify.retain(|it| it == "desktop");
    }

    pub(super) fn has_channels(&self) -> bool {
        self.webhook.is_some() || !self.commands.is_empty()
    }
}

/// Variables that a program needs to find its files and the desktop, and no others: others may hold secrets.
#[expect(clippy::disallowed_methods, reason = "the only reader of the environment")]
pub fn desktop_environment() -> Vec<(&'static str, OsString)> {
    const NAMES: &[&str] = &[
        "PATH",
        "HOME",
        "LANG",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS",
    ];
    NAMES.iter().filter_map(|it| Some((*it, std::env::var_os(it)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::Settings, *};

    #[test]
    fn quiet_hours_and_channels_are_checked() {
        assert_eq!(quiet_hours("22:00-07:30").unwrap(), (1320, 450));
        for bad in ["22-7", "24:00-07:00", "22:00", "07:60-08:00", "07:00-07:00", ""] {
            assert!(quiet_hours(bad).is_err(), "{bad}");
        }
        let good = "[watch]\nquiet_hours = \"22:00-07:00\"\nnotify = [\"desktop\", \"command:say\"]\n[watch.commands]\nsay = [\"/bin/cat\"]\n";
        let it = Settings::parse(good).unwrap().watch;
        assert!(it.channel("command:say").is_ok() && it.channel("telegram").is_ok());
        assert!(it.channel("webhook").is_err() && it.channel("command:other").is_err());
        for (from, to) in [
            ("22:00-07:00", "late"),
            ("command:say", "command:none"),
            ("[\"/bin/cat\"]", "[]"),
            ("say = ", "\"a b\" = "),
            ("notify", "notifies"),
        ] {
            let text = good.replacen(from, to, 1);
            assert_eq!(Settings::parse(&text).unwrap_err().code(), Code::SettingsInvalid, "{to}");
        }
        let mut it = it;
        it.without_channels("others can write it".to_owned());
        assert!(it.commands.is_empty() && it.channel("command:say").is_err());
        assert_eq!(it.notify, ["desktop"]);
    }
}
