//! The answer that refuses a request.

use std::time::Duration;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::answer::{ApiError, ErrorResponse};
use commis_base::error::{Code, Error};

/// An answer that refuses.
pub fn refuse(err: &Error) -> Response {
    let trouble = ApiError::from_error(err);
    answer_with(trouble.status(), trouble)
}

pub fn answer_with(status: StatusCode, trouble: ApiError) -> Response {
    let after = trouble.retry_after_sec;
    let refusal: ErrorResponse = trouble.into_response_body();
    let mut out = (status, axum::Json(refusal)).into_response();
    if let Some(it) = after
        && let Ok(it) = HeaderValue::from_str(&it.to_string())
    {
        out.headers_mut().insert(header::RETRY_AFTER, it);
    }
    out
}

/// That somebody asks too often.
pub fn rate_limit_error(wait: Duration) -> Box<ApiError> {
    let seconds = wait.as_secs() + 1;
    let err = Error::new(Code::RateLimited, "too many requests")
        .hint(format!("try again in {seconds} s; the limits are serve.*_per_minute"));
    let mut out = ApiError::from_error(&err);
    out.retry_after_sec = Some(seconds);
    Box::new(out)
}
