//! The client: `genai` for the wire formats, our own hop for the traffic.

use std::{net::IpAddr, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use genai::{
    ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatOptions, ChatRequest, ChatResponse, JsonSpec, StopReason},
    resolver::{AuthData, Endpoint},
};
use reqwest::Url;
use url::Host;
use zeroize::Zeroizing;

use super::{
    Answer, EndReason, FailedCall, Model, Question,
    relay::{Relay, Upstream},
};
use commis_base::{
    error::{Code, Error, Result},
    settings::{ModelSettings, Provider, secret},
};

const CONNECT: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(2);
/// Bytes of a request: a prompt with its wrapping is well below.
const MAX_QUESTION: usize = 128 * 1024;
/// Of one with a conversation and its tools in it, about as many as a model of 128,000 tokens can read.
const MAX_TALK: usize = 512 * 1024;

/// A model behind one of the three wire formats.
pub struct Client {
    name: String,
    iden: ModelIden,
    genai: genai::Client,
    options: ChatOptions,
    upstream: Arc<Upstream>,
    timeout: Duration,
}

impl Client {
    /// Reads the key from the environment; `None` when no model is configured. Fails with `SETTINGS_INVALID`,
    /// `MODEL_KEY_MISSING`, or `INTERNAL` when the TLS library cannot be set up.
    pub fn new(settings: &ModelSettings) -> Result<Option<Self>> {
        let Some((provider, name)) = checked_model(settings)? else { return Ok(None) };
        let key = match settings.key_variable() {
            None => None,
            Some(variable) => Some(secret(variable).ok_or_else(|| key_missing(variable))?),
        };
        Self::with_key(settings, provider, name, key).map(Some)
    }

    /// The same with a key that is known already.
    pub(super) fn with_key(
        settings: &ModelSettings,
        provider: Provider,
        name: &str,
        key: Option<Zeroizing<String>>,
    ) -> Result<Self> {
        let base = endpoint(settings)?;
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Another thread may win; then its provider is the same one.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let timeout = Duration::from_secs(u64::from(settings.timeout_s));
        let plain = || {
            reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .referer(false)
                .no_gzip()
                .no_brotli()
                .no_zstd()
        };
        let no_client =
            |err| Error::new(Code::Internal, "the HTTP client cannot be set up").source(err);
        let http = plain()
            .connect_timeout(CONNECT)
            .timeout(timeout)
            .https_only(base.scheme() == "https")
            .user_agent(concat!("commis/", env!("CARGO_PKG_VERSION")))
            // Whatever the hosts file says.
            .resolve("localhost", ([127, 0, 0, 1], 0).into())
            .build()
            .map_err(no_client)?;
        let genai = genai::Client::builder()
            .with_reqwest(plain().build().map_err(no_client)?)
            .build()
            .map_err(|_| Error::new(Code::Internal, "the model client cannot be set up"))?;
        let kind = match provider {
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::Openai => AdapterKind::OpenAI,
            Provider::Gemini => AdapterKind::Gemini,
        };
        Ok(Self {
            name: format!("{}/{name}", provider.as_str()),
            iden: ModelIden::new(kind, name),
            genai,
            options: ChatOptions::default().with_max_tokens(settings.max_tokens),
            upstream: Arc::new(Upstream { http, base, key }),
            timeout,
        })
    }

    async fn call(&self, question: &Question) -> Result<Answer> {
        let chat = ChatRequest::from_system(question.instructions)
            .append_message(ChatMessage::user(question.text.as_str()));
        let format = JsonSpec::new("choice", question.schema.clone());
        let options = self.options.clone().with_response_format(format);
        Ok(self.exchange(chat, &options, MAX_QUESTION).await.map(|it| answer(&it))?)
    }

    /// The same without a form for the answer.
    pub(super) async fn converse(&self, chat: ChatRequest) -> Result<ChatResponse, FailedCall> {
        self.exchange(chat, &self.options, MAX_TALK).await
    }

    /// One call, of at most so many bytes. Fails with `MODEL_FAILED` without an answer, and with the tokens that it took.
    async fn exchange(
        &self,
        chat: ChatRequest,
        options: &ChatOptions,
        most: usize,
    ) -> Result<ChatResponse, FailedCall> {
        let relay = Relay::open(Arc::clone(&self.upstream), most).await?;
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(relay.base()),
            auth: AuthData::from_single(relay.placeholder_key()),
            model: self.iden.clone(),
        };
        let asked = self.genai.exec_chat(target, chat, Some(options));
        // The hop gives up first and knows why.
        let error = match tokio::time::timeout(self.timeout + GRACE, asked).await {
            Err(_) => Error::new(Code::ModelFailed, "the model did not answer in time")
                .hint("raise `timeout_s` under [model], then try again (learning: with --resume)"),
            Ok(Ok(it)) => return Ok(it),
            // The crate's own errors hold request and answer: they are not shown.
            Ok(Err(_)) => relay.take_error().unwrap_or_else(|| {
                Error::new(Code::ModelFailed, "the answer of the model's server cannot be read")
                    .hint("check that `provider` under [model] fits the endpoint")
            }),
        };
        let (tokens_in, tokens_out) = relay.token_counts();
        Err(FailedCall { error, tokens_in, tokens_out })
    }
}

impl Model for Client {
    fn name(&self) -> &str {
        &self.name
    }

    fn endpoint(&self) -> &str {
        self.upstream.base.as_str()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(self.call(question))
    }
}

/// What it says and how it ended; what it calls is not in it.
pub(super) fn answer(reply: &ChatResponse) -> Answer {
    let count = |it: Option<i32>| it.and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
    let end = match &reply.stop_reason {
        Some(StopReason::MaxTokens(_)) => EndReason::Cut,
        Some(StopReason::ContentFilter(_)) => EndReason::Refused,
        _ => EndReason::Complete,
    };
    Answer {
        text: reply.texts().concat(),
        end,
        stop: reply.stop_reason.as_ref().map(|it| cut(it.raw())).unwrap_or_default(),
        tokens_in: count(reply.usage.prompt_tokens),
        tokens_out: count(reply.usage.completion_tokens),
    }
}

fn cut(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).take(40).collect()
}

/// Provider and name, checked; `None` when no model is configured. Fails with `SETTINGS_INVALID`.
fn checked_model(settings: &ModelSettings) -> Result<Option<(Provider, &str)>> {
    let Some((provider, name)) = settings.provider_and_name() else {
        if settings.provider.is_some() || settings.name.is_some() {
            return Err(invalid("provider and name belong together".to_owned()));
        }
        return Ok(None);
    };
    // It stands in a URL for Gemini, and `::` means something to the client crate.
    let plain = |it: char| it.is_ascii_alphanumeric() || "._-:/@+".contains(it);
    if name.len() > 200 || !name.chars().all(plain) || name.contains("..") || name.contains("::") {
        return Err(invalid("that is not a model's name".to_owned()));
    }
    if !(1..=600).contains(&settings.timeout_s) || !(16..=65_536).contains(&settings.max_tokens) {
        return Err(invalid("timeout_s is from 1 to 600, max_tokens from 16 to 65536".to_owned()));
    }
    let price = |it: &Option<f64>| it.is_none_or(|it| (0.0..=1e6).contains(&it));
    if !price(&settings.price_in_per_mtok) || !price(&settings.price_out_per_mtok) {
        return Err(invalid("a price is from 0 to a million".to_owned()));
    }
    Ok(Some((provider, name)))
}

/// The API's base URL, ending in `/`. Fails with `SETTINGS_INVALID` unless it is https, or http to loopback, without user,
/// query and fragment.
pub(super) fn endpoint(settings: &ModelSettings) -> Result<Url> {
    let text = match (&settings.endpoint, settings.provider) {
        (Some(it), _) => it.as_str(),
        (None, Some(Provider::Anthropic)) => "https://api.anthropic.com/v1/",
        (None, Some(Provider::Gemini)) => "https://generativelanguage.googleapis.com/v1beta/",
        (None, _) => "https://api.openai.com/v1/",
    };
    let mut url =
        Url::parse(text).map_err(|err| invalid(format!("endpoint is not a URL: {err}")))?;
    let loopback = match url.host() {
        Some(Host::Domain(it)) => it == "localhost",
        Some(Host::Ipv4(it)) => IpAddr::V4(it).is_loopback(),
        Some(Host::Ipv6(it)) => IpAddr::V6(it).is_loopback(),
        None => false,
    };
    if !(url.scheme() == "https" || url.scheme() == "http" && loopback) {
        return Err(invalid("endpoint must be https, or http to a loopback address".to_owned()));
    }
    let bare = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !bare {
        return Err(invalid("endpoint holds a user, a query or a fragment".to_owned())
            .hint("keys come from the environment only: set api_key_env"));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

fn key_missing(variable: &str) -> Error {
    // A key pasted here by mistake is not shown.
    let name = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    let shown = if variable.len() <= 64 && variable.chars().all(name) { variable } else { "…" };
    Error::new(
        Code::ModelKeyMissing,
        format!("the environment variable `{shown}`, which should hold the model's key, is empty"),
    )
    .hint("set it, or name another variable as api_key_env under [model]")
}

fn invalid(what: String) -> Error {
    Error::new(Code::SettingsInvalid, format!("[model]: {what}")).hint("see docs/how-to/model.md")
}
