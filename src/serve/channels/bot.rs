//! The Bot API of Telegram, as far as it is needed: say, change what was said, hear which buttons were pressed.
//!
//! The token stands in every address, so no error of the client below is shown or kept. What is sent has the types of `frankenstein`;
//! of what comes back a few fields are read, one update at a time, so that nobody's newer or odder message costs the next one.

use std::time::Duration;

use frankenstein::{
    methods::{
        AnswerCallbackQueryParams, EditMessageTextParams, GetUpdatesParams, SendMessageParams,
    },
    types::{
        AllowedUpdate, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions,
        MessageEntity, MessageEntityType, ReplyMarkup,
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use zeroize::Zeroizing;

use commis_base::{
    error::{Code, Error, Result},
    settings::{TelegramSettings, secret},
};

/// Characters of a message, as Telegram counts them: in UTF-16.
pub const MESSAGE: usize = 4096;
/// Bytes of what a button brings back.
pub const DATA: usize = 64;
const CONNECT: Duration = Duration::from_secs(10);
const CALL: Duration = Duration::from_secs(20);
const REPLY: usize = 1024 * 1024;

/// One bot in one chat.
pub struct Bot {
    http: reqwest::Client,
    settings: TelegramSettings,
}

/// A button that somebody pressed.
#[derive(Debug, Deserialize)]
pub struct ButtonPress {
    pub id: String,
    pub from: PressSender,
    #[serde(default)]
    pub data: String,
}

#[derive(Debug, Deserialize)]
pub struct PressSender {
    pub id: u64,
    #[serde(default)]
    pub is_bot: bool,
}

#[derive(Deserialize)]
struct ApiReply<T> {
    ok: bool,
    result: Option<T>,
    error_code: Option<u64>,
    parameters: Option<ReplyParameters>,
}

#[derive(Deserialize)]
struct ReplyParameters {
    retry_after: Option<u64>,
}

impl Bot {
    /// Fails with `SETTINGS_INVALID`, and `INTERNAL` when the client cannot be set up.
    pub fn new(settings: &TelegramSettings) -> Result<Self> {
        let base = settings.base()?;
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Another thread may win; then its provider is the same one.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT)
            .https_only(base.scheme() == "https")
            .user_agent(concat!("commis/", env!("CARGO_PKG_VERSION")))
            // Whatever the hosts file says.
            .resolve("localhost", ([127, 0, 0, 1], 0).into())
            .build()
            .map_err(|_| Error::new(Code::Internal, "the HTTP client cannot be set up"))?;
        Ok(Self { http, settings: settings.clone() })
    }

    /// Says something, with buttons where there are some: text and what is brought back. The message's number.
    pub async fn say(&self, text: &str, buttons: &[(&str, String)]) -> Result<i32> {
        let buttons = buttons.iter().map(|(text, data)| {
            InlineKeyboardButton::builder().text(*text).callback_data(data.as_str()).build()
        });
        let row: Vec<InlineKeyboardButton> = buttons.collect();
        let keyboard = (!row.is_empty()).then(|| {
            let all = InlineKeyboardMarkup::builder().inline_keyboard(vec![row]).build();
            ReplyMarkup::InlineKeyboardMarkup(all)
        });
        let said = SendMessageParams::builder()
            .chat_id(self.settings.chat)
            .text(text)
            .entities(vec![as_it_is(text)])
            .link_preview_options(LinkPreviewOptions::DISABLED)
            .protect_content(true)
            .maybe_reply_markup(keyboard)
            .build();
        let it: Value = self.call("sendMessage", &said, CALL).await?;
        let number = it["message_id"].as_i64().and_then(|it| i32::try_from(it).ok());
        number.ok_or_else(|| telegram_error("said nothing of the message"))
    }

    /// Puts another text there, without buttons.
    pub async fn change(&self, message: i32, text: &str) -> Result<()> {
        let said = EditMessageTextParams::builder()
            .chat_id(self.settings.chat)
            .message_id(message)
            .text(text)
            .entities(vec![as_it_is(text)])
            .link_preview_options(LinkPreviewOptions::DISABLED)
            .build();
        self.call::<Value>("editMessageText", &said, CALL).await.map(drop)
    }

    /// Tells whoever pressed a button, and nobody else.
    pub async fn answer(&self, press: &ButtonPress, text: &str) -> Result<()> {
        let said = AnswerCallbackQueryParams::builder()
            .callback_query_id(press.id.as_str())
            .text(text.chars().take(200).collect::<String>())
            .show_alert(true)
            .build();
        self.call::<Value>("answerCallbackQuery", &said, CALL).await.map(drop)
    }

    /// Buttons that were pressed since, each with the offset behind it; waits so long for the first.
    pub async fn pressed(
        &self,
        offset: Option<i64>,
        timeout: Duration,
    ) -> Result<Vec<(i64, Option<ButtonPress>)>> {
        let asked = GetUpdatesParams::builder()
            .maybe_offset(offset)
            .limit(20_u32)
            .timeout(timeout.as_secs() as u32)
            .allowed_updates(vec![AllowedUpdate::CallbackQuery])
            .build();
        let all: Vec<Value> = self.call("getUpdates", &asked, timeout + CALL).await?;
        let read = |mut it: Value| {
            let number = it["update_id"].as_i64()?;
            Some((number + 1, serde_json::from_value(it["callback_query"].take()).ok()))
        };
        Ok(all.into_iter().filter_map(read).collect())
    }

    /// One call. Fails with `CONNECT_FAILED`, `RATE_LIMITED`, `TIMEOUT`, `RESPONSE_TOO_LARGE`, `HTTP_STATUS` for what is refused, and
    /// `SETTINGS_INVALID` without a token.
    async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        timeout: Duration,
    ) -> Result<T> {
        let body = serde_json::to_vec(params)
            .map_err(|_| Error::new(Code::Internal, "cannot write the call of the bot as JSON"))?;
        let url = self.address(method)?;
        let sent = self
            .http
            .post(url.as_str())
            .timeout(timeout)
            .header("content-type", "application/json")
            .body(body);
        let broken = |err: reqwest::Error| {
            let (code, what) = match () {
                () if err.is_timeout() => (Code::Timeout, "did not answer in time"),
                () if err.is_connect() => (Code::ConnectFailed, "cannot be reached"),
                () => (Code::ConnectFailed, "broke the connection"),
            };
            Error::new(code, format!("the Telegram Bot API {what}"))
        };
        let mut reply = sent.send().await.map_err(broken)?;
        let status = reply.status().as_u16();
        let mut out = Vec::new();
        while let Some(chunk) = reply.chunk().await.map_err(broken)? {
            if out.len() + chunk.len() > REPLY {
                return Err(Error::new(
                    Code::ResponseTooLarge,
                    "the answer of the Telegram Bot API is too large",
                ));
            }
            out.extend_from_slice(&chunk);
        }
        let it: ApiReply<T> = match serde_json::from_slice(&out) {
            Ok(it) => it,
            Err(_) => {
                return Err(telegram_error(&format!(
                    "answered with status {status}, and no JSON of its kind"
                )));
            }
        };
        if it.ok {
            // Where it is null, null is read.
            let result = it.result.map_or_else(|| serde_json::from_value(Value::Null).ok(), Some);
            return result.ok_or_else(|| telegram_error("gave no result"));
        }
        // Its description may repeat what was asked.
        let code = it.error_code.unwrap_or_default();
        Err(match (code, it.parameters.and_then(|it| it.retry_after)) {
            (_, Some(seconds)) => Error::new(
                Code::RateLimited,
                format!("the Telegram Bot API asks for a pause of {seconds} s"),
            ),
            (401 | 404, _) => telegram_error("does not know the token")
                .hint("check the variable in telegram.token_env"),
            (403, _) => telegram_error("may not speak in that chat").hint("check telegram.chat"),
            (409, _) => telegram_error("has another reader of its updates, or a webhook"),
            (code, _) => telegram_error(&format!("refused `{method}` with {code}")),
        })
    }

    fn address(&self, method: &str) -> Result<Zeroizing<String>> {
        let variable = &self.settings.token_env;
        let no_token = |what: &str| {
            Error::new(
                Code::SettingsInvalid,
                format!("the environment variable `{variable}` {what}"),
            )
            .hint("a bot's token; `commis daemon restart` gives the daemon a new environment")
        };
        let token = secret(variable).ok_or_else(|| no_token("holds no token"))?;
        // Anything else would be another address.
        let known = |it: u8| it.is_ascii_alphanumeric() || b":_-".contains(&it);
        if token.len() > 200 || !token.bytes().all(known) {
            return Err(no_token("holds no token of a bot's form"));
        }
        Ok(Zeroizing::new(format!("{}bot{}/{method}", self.settings.base()?, *token)))
    }
}

/// How many characters a text has for Telegram.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The whole text as it is: nothing in it becomes a link, a name or a command.
fn as_it_is(text: &str) -> MessageEntity {
    MessageEntity::builder()
        .type_field(MessageEntityType::Pre)
        .offset(0_u16)
        .length(length(text) as u16)
        .build()
}

fn telegram_error(what: &str) -> Error {
    Error::new(Code::HttpStatus, format!("the Telegram Bot API {what}"))
}
