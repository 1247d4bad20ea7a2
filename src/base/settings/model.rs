//! Which model is asked, where, and with whose key.

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};

/// The model that may choose if the heuristics cannot decide. Off unless `provider` and `name` are set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// The provider, and so the wire format.
    pub provider: Option<Provider>,
    /// The provider's name of the model.
    pub name: Option<String>,
    /// Base URL of the API: https, or http to a loopback address. Absent: the provider's own.
    pub endpoint: Option<String>,
    /// Name of the environment variable that holds the key. Absent: the provider's usual one at its own endpoint, and no
    /// key at another endpoint.
    pub api_key_env: Option<String>,
    /// Let the model see recordings that were made behind a login. They hold what the account saw.
    pub behind_login: bool,
    /// Seconds for one call, with connecting.
    pub timeout_s: u32,
    /// Tokens of one answer, at most.
    pub max_tokens: u32,
    /// Price of a million tokens, in any currency; only reports use it.
    pub price_in_per_mtok: Option<f64>,
    /// Price of a million tokens of answers.
    pub price_out_per_mtok: Option<f64>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            provider: None,
            name: None,
            endpoint: None,
            api_key_env: None,
            behind_login: false,
            timeout_s: 60,
            max_tokens: 1024,
            price_in_per_mtok: None,
            price_out_per_mtok: None,
        }
    }
}

/// A wire format. `openai` is also what Ollama, llama.cpp, vLLM and many gateways speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    Anthropic,
    Openai,
    Gemini,
}

impl Provider {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
            Self::Gemini => "gemini",
        }
    }
}

impl ModelSettings {
    /// Provider and name, when both are set.
    pub fn provider_and_name(&self) -> Option<(Provider, &str)> {
        Some((self.provider?, self.name.as_deref()?))
    }

    /// Takes `PROVIDER/NAME`, or a name that says whose it is: `claude-…`, `gpt-…`, `o3`, `gemini-…`. Endpoint, key and prices
    /// that were set for another provider are forgotten: a key must not reach somebody else. Fails with
    /// [`Code::SettingsInvalid`].
    pub fn choose(&mut self, text: &str) -> Result<()> {
        let (provider, name) = parse_model(text).ok_or_else(|| {
            let shown: String = text.chars().filter(|it| !it.is_control()).take(80).collect();
            Error::new(Code::SettingsInvalid, format!("unsupported model: {shown}")).hint(
                "give PROVIDER/NAME; providers are anthropic, openai (and compatible servers) and gemini. Names that begin with claude-, gpt-, o1, o3, o4 or gemini- need no provider",
            )
        })?;
        if self.provider.is_some_and(|it| it != provider) {
            let (timeout_s, max_tokens) = (self.timeout_s, self.max_tokens);
            *self = Self { timeout_s, max_tokens, ..Self::default() };
        }
        self.provider = Some(provider);
        self.name = Some(name.to_owned());
        Ok(())
    }

    /// Name of the variable that the key is read from; `None` when no key is sent.
    pub fn key_variable(&self) -> Option<&str> {
        match (&self.api_key_env, &self.endpoint) {
            (Some(it), _) => Some(it),
            (None, Some(_)) => None,
            (None, None) => Some(match self.provider? {
                Provider::Anthropic => "ANTHROPIC_API_KEY",
                Provider::Openai => "OPENAI_API_KEY",
                Provider::Gemini => "GEMINI_API_KEY",
            }),
        }
    }
}

/// Whose model, and which.
fn parse_model(text: &str) -> Option<(Provider, &str)> {
    if let Some((provider, name)) = text.split_once('/') {
        let known = [Provider::Anthropic, Provider::Openai, Provider::Gemini];
        let provider = known.into_iter().find(|it| it.as_str() == provider)?;
        return (!name.is_empty()).then_some((provider, name));
    }
    let begins = |all: &[&str]| all.iter().any(|it| text.starts_with(it));
    let provider = if begins(&["claude-"]) {
        Provider::Anthropic
    } else if begins(&["gpt-", "o1-", "o3-", "o4-"]) || ["o1", "o3", "o4"].contains(&text) {
        Provider::Openai
    } else if begins(&["gemini-"]) {
        Provider::Gemini
    } else {
        return None;
    };
    Some((provider, text))
}

#[cfg(test)]
mod tests {
    use super::{super::Settings, *};

    #[test]
    fn ac_2_4_a_model_that_nobody_serves_is_refused_and_a_flag_goes_before_the_environment() {
        let check = |text: &str, provider: Provider, name: &str| {
            let mut it = ModelSettings::default();
            it.choose(text).unwrap();
            assert_eq!(it.provider_and_name(), Some((provider, name)), "{text}");
        };
        for name in ["claude-opus-4-1", "claude-of-next-year"] {
            check(name, Provider::Anthropic, name);
        }
        for name in ["gpt-5", "gpt-4o-mini", "o1", "o3-mini", "o4-mini"] {
            check(name, Provider::Openai, name);
        }
        check("gemini-2.5-flash", Provider::Gemini, "gemini-2.5-flash");
        check("openai/claude-alike", Provider::Openai, "claude-alike");
        check("openai/vendor/gpt-oss", Provider::Openai, "vendor/gpt-oss");
        for name in [
            "llama3",
            "gpt4",
            "claude",
            "o10",
            "o2-mini",
            "Claude-3",
            "vendor/gpt-4",
            "openai/",
            "/gpt-4",
            "",
        ] {
            let mut it = ModelSettings { timeout_s: 7, ..ModelSettings::default() };
            let before = it.clone();
            let err = it.choose(name).unwrap_err();
            assert_eq!(err.code(), Code::SettingsInvalid);
            assert_eq!(err.message(), format!("unsupported model: {name}"));
            assert_eq!(it, before, "nothing is half chosen");
        }
        let err = ModelSettings::default().choose(&format!("a\u{1b}[2J{}", "x".repeat(500)));
        let shown = err.unwrap_err().message().to_owned();
        assert!(shown.len() < 120 && !shown.contains('\u{1b}'), "{shown}");

        let file = "[model]\nprovider = \"openai\"\nname = \"of-the-file\"\nendpoint = \"https://models.example/\"\n";
        let mut it = Settings::parse(file).unwrap();
        it.apply_environment(&|_| None).unwrap();
        assert_eq!(it.model.provider_and_name(), Some((Provider::Openai, "of-the-file")));
        it.apply_environment(&|name| {
            (name == "COMMIS_MODEL").then(|| "claude-of-the-environment".into())
        })
        .unwrap();
        assert_eq!(
            it.model.provider_and_name(),
            Some((Provider::Anthropic, "claude-of-the-environment"))
        );
        assert_eq!(it.model.endpoint, None, "it was another provider's");
        it.model.choose("gemini-of-the-flag").unwrap();
        assert_eq!(it.model.provider_and_name(), Some((Provider::Gemini, "gemini-of-the-flag")));
        let err = it
            .apply_environment(&|name| (name == "COMMIS_MODEL").then(|| "small".into()))
            .unwrap_err();
        assert_eq!(err.message(), "unsupported model: small");
    }
}
