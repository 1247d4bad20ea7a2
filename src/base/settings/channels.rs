//! By which ways a person is asked whether a held request may go, besides terminal, dashboard and REST.

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::AgentSettings;
use crate::error::{Code, Error, Result};

/// What may be approved by a way that proves no person: a question that a client puts, a button in a chat.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalScope {
    /// Nothing.
    Off,
    /// What is known to be small: see `agent/request_risk.rs`.
    #[default]
    Reversible,
    /// Whatever can be shown.
    All,
}

/// Who is told, by a signed POST, that a request waits. Its answer approves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// https; http only to a host of your own (`[egress.own]`) or of the test web.
    pub url: String,
    /// Name of the environment variable with the signing secret: `whsec_` and base64.
    pub secret_env: String,
}

/// A bot that asks in a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelegramSettings {
    /// Name of the environment variable with the bot's token.
    pub token_env: String,
    /// The chat in which it asks.
    pub chat: i64,
    /// Numbers of the accounts whose buttons count. Others in the chat can only read.
    pub senders: Vec<u64>,
    /// What a button may approve.
    #[serde(default)]
    pub approves: ApprovalScope,
    /// Base URL of the Bot API: https, or http to a loopback address.
    #[serde(default = "telegram")]
    pub api: String,
}

fn telegram() -> String {
    "https://api.telegram.org".to_owned()
}

impl TelegramSettings {
    /// Where the API is, ending in `/`. Fails with `SETTINGS_INVALID`.
    pub fn base(&self) -> Result<Url> {
        let invalid = |what: &str| invalid(&format!("telegram.api {what}"));
        let mut url = Url::parse(&self.api).map_err(|_| invalid("is not a URL"))?;
        let loopback = match url.host() {
            Some(Host::Domain(it)) => it == "localhost",
            Some(Host::Ipv4(it)) => it.is_loopback(),
            Some(Host::Ipv6(it)) => it.is_loopback(),
            None => false,
        };
        if !(url.scheme() == "https" || url.scheme() == "http" && loopback) {
            return Err(invalid("must be https, or http to a loopback address"));
        }
        if !is_bare(&url) || url.query().is_some() {
            return Err(invalid("holds a user, a query or a fragment"));
        }
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(url)
    }
}

impl WebhookSettings {
    /// Fails with `SETTINGS_INVALID`.
    pub(super) fn check(&self) -> Result<()> {
        check_variable_name("webhook.secret_env", &self.secret_env)?;
        let url = Url::parse(&self.url).map_err(|_| invalid("webhook.url is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") || !is_bare(&url) {
            return Err(invalid("webhook.url is an https address without a user"));
        }
        Ok(())
    }
}

impl AgentSettings {
    /// Fails with `SETTINGS_INVALID`.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(it) = &self.webhook {
            it.check()?;
        }
        if let Some(it) = &self.telegram {
            check_variable_name("telegram.token_env", &it.token_env)?;
            it.base()?;
            if it.senders.is_empty() {
                return Err(invalid("telegram.senders is empty")
                    .hint("list the numbers of the accounts whose buttons count"));
            }
        }
        Ok(())
    }

    /// The same where the file is not the user's own word: nobody else is told, and nothing approves but what always does.
    pub(super) fn without_channels(&mut self, why: String) {
        self.channels_refused = Some(why);
        (self.webhook, self.telegram) = (None, None);
        self.elicitation = ApprovalScope::default();
    }

    pub(super) fn has_channels(&self) -> bool {
        self.webhook.is_some() || self.telegram.is_some() || self.elicitation == ApprovalScope::All
    }
}

fn is_bare(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none() && url.fragment().is_none()
}

/// A secret that was written there by mistake is not shown.
fn check_variable_name(what: &str, name: &str) -> Result<()> {
    let known = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    if (1..=64).contains(&name.len()) && name.bytes().all(known) {
        return Ok(());
    }
    Err(invalid(&format!("{what} is not the name of an environment variable"))
        .hint("put the secret into an environment variable and its name into this file"))
}

fn invalid(what: &str) -> Error {
    Error::new(Code::SettingsInvalid, format!("[agent]: {what}")).hint("see docs/how-to/approve.md")
}

#[cfg(test)]
mod tests {
    use super::{super::Settings, *};

    #[test]
    fn channels_are_told_whole_and_hold_no_secret() {
        let good = "[agent]\nelicitation = \"all\"\n[agent.webhook]\nurl = \"https://hooks.example/in\"\nsecret_env = \"HOOK_SECRET\"\n[agent.telegram]\ntoken_env = \"BOT_TOKEN\"\nchat = -100123\nsenders = [7, 8]\n";
        let it = Settings::parse(good).unwrap().agent;
        assert_eq!(it.elicitation, ApprovalScope::All);
        let telegram = it.telegram.unwrap();
        assert_eq!(telegram.approves, ApprovalScope::Reversible);
        assert_eq!(telegram.base().unwrap().as_str(), "https://api.telegram.org/");
        assert_eq!(Settings::parse("").unwrap().agent.elicitation, ApprovalScope::Reversible);
        for (from, to, part) in [
            ("\"all\"", "\"yes\"", "unknown variant"),
            ("https://hooks.example/in", "hooks.example", "webhook.url"),
            ("https://hooks.example/in", "file:///x", "webhook.url"),
            ("https://hooks", "https://a:b@hooks", "webhook.url"),
            ("HOOK_SECRET", "whsec_c2VjcmV0+", "webhook.secret_env"),
            ("BOT_TOKEN", "123:abc", "telegram.token_env"),
            ("[7, 8]", "[]", "telegram.senders"),
            ("[7, 8]", "[-7]", "invalid"),
            ("senders", "sender", "unknown field"),
            ("chat = -100123", "api = \"http://api.example\"\nchat = 1", "telegram.api"),
            ("chat = -100123", "api = \"http://127.0.0.1:9/?x=1\"\nchat = 1", "telegram.api"),
        ] {
            let text = good.replace(from, to);
            assert_ne!(text, good);
            let err = Settings::parse(&text).unwrap_err();
            assert_eq!(err.code(), Code::SettingsInvalid);
            assert!(err.message().contains(part), "{to}: {err}");
            assert!(!err.message().contains("c2VjcmV0") && !err.message().contains("123:abc"));
        }
        let local = good.replace("chat = -100123", "api = \"http://127.0.0.1:9\"\nchat = 1");
        let it = Settings::parse(&local).unwrap().agent.telegram.unwrap();
        assert_eq!(it.base().unwrap().as_str(), "http://127.0.0.1:9/");
    }
}
