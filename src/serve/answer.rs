//! What every face answers with: `{ok, data, meta}` or `{ok: false, error}`, and the status that goes with a code.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use commis_base::error::{Class, Code, Error};
use commis_runner::RecipeRunResult;

/// What an operation came to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer<T = Value> {
    /// Always true.
    pub ok: bool,
    pub data: T,
    pub meta: Meta,
}

/// That it came to nothing, and why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ErrorResponse {
    /// Always false.
    pub ok: bool,
    pub error: ApiError,
}

/// One failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApiError {
    /// A stable code, such as `RECIPE_NOT_FOUND`.
    pub error_code: String,
    /// For a person.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same call may succeed later without anything being changed.
    pub retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_sec: Option<u64>,
    /// The stage of learning that it happened in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Why, in words for a program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reason_codes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The site answered so; false where nothing came from it.
    #[serde(skip)]
    pub by_site: bool,
}

/// How an answer came about.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Meta {
    /// The task that it came of, where it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// How a recipe's request was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport_used: Option<String>,
    /// Milliseconds by part of the work.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub timings_ms: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_hops: Option<u32>,
    /// Items that do not fit `where`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filtered: Option<u64>,
    /// Items that the site has, where its answer says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether the data holds all of them: false where the list goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Pages that were followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// Where the list goes on: a later call with the same values takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continue_from: Option<String>,
    /// Why the data may not be what was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The bytes of an answer that is a file, in base64, where they are at most 1 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How alike the answer's shape is to the one that was verified, basis points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity_bp: Option<u32>,
    /// The answer does not fit the schema that the recipe's tool declares; as a tool's, it stands in `other` then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub off_schema: bool,
}

impl Answer {
    pub fn new(data: Value) -> Self {
        Self { ok: true, data, meta: Meta::default() }
    }
}

impl ApiError {
    /// Redacted, because messages quote what strangers sent.
    pub fn from_error(err: &Error) -> Self {
        Self {
            error_code: err.code().as_str().to_owned(),
            message: redact_text(&err.to_string()),
            hint: err.hint_text().map(redact_text),
            retryable: err.retryable(),
            retry_after_sec: None,
            stage: None,
            reason_codes: Vec::new(),
            task_id: None,
            by_site: false,
        }
    }

    /// The failure of a run; whether the site was asked decides its status.
    pub fn from_run(ran: RecipeRunResult) -> Self {
        let by_site = ran.status_code.is_some();
        let code = ran.error_code.and_then(Code::from_wire).unwrap_or(Code::Internal);
        let mut err = Error::new(code, ran.error.unwrap_or_default());
        if let Some(hint) = ran.hint {
            err = err.hint(hint);
        }
        Self {
            retryable: ran.retryable,
            retry_after_sec: ran.retry_after_sec,
            by_site,
            ..Self::from_error(&err)
        }
    }

    pub fn into_response_body(self) -> ErrorResponse {
        ErrorResponse { ok: false, error: self }
    }

    pub fn status(&self) -> StatusCode {
        Code::from_wire(&self.error_code).map_or(StatusCode::INTERNAL_SERVER_ERROR, status)
    }
}

/// Redacted, on lines of its own, without control characters.
pub fn redact_text(text: &str) -> String {
    commis_redact::message(text).chars().filter(|it| *it == '\n' || !it.is_control()).collect()
}

/// 5xx is for what is wrong with us. That a site did not answer as it should is 424: what was asked for depends on it.
pub fn status(code: Code) -> StatusCode {
    match code {
        Code::RecipeNotFound
        | Code::TaskNotFound
        | Code::ApprovalNotFound
        | Code::PlaybookNotFound
        | Code::WatchNotFound
        | Code::NoSuchAddress => StatusCode::NOT_FOUND,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::Forbidden | Code::RecipeReadOnly => StatusCode::FORBIDDEN,
        Code::QueueFull | Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::RecipeExists
        | Code::WatchExists
        | Code::RecipeNotVerified
        | Code::TaskBusy
        | Code::TaskNotDone
        | Code::KeyReused
        | Code::PageHandedOff
        | Code::ApprovalStale
        | Code::ApprovalExpired
        | Code::ApprovalSettled
        | Code::RefStale => StatusCode::CONFLICT,
        Code::Cancelled => StatusCode::GONE,
        Code::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal | Code::ArtifactIo => StatusCode::INTERNAL_SERVER_ERROR,
        Code::SecretInTask | Code::Usage | Code::ParamInvalid => StatusCode::BAD_REQUEST,
        _ if code.class() == Class::Usage => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::FAILED_DEPENDENCY,
    }
}

impl From<Error> for Box<ApiError> {
    fn from(err: Error) -> Self {
        Self::new(ApiError::from_error(&err))
    }
}
