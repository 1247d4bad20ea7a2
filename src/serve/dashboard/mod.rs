//! The dashboard: pages made here, one script, one style, no build step. It shows what the other faces answer, and what a page
//! changes it asks of them, with the proof that the guard wants of it.
//!
//! All that others wrote is text. The markup escapes it where it is written, and a whole page loses what turns its
//! surroundings around or cannot be seen (`layout.rs`), so nobody has to think of it.

mod approvals;
mod browser;
mod candidate_table;
mod chart;
mod curve;
mod format;
mod layout;
mod learn;
mod logins;
mod overview;
mod pager;
mod recipe;
mod recipes;
mod runs;
mod task;
mod tasks;
mod watches;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use axum::{
    Router,
    extract::{FromRequestParts, Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse as _, Response},
    routing::get,
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    Daemon, answer::ApiError, dashboard_auth::CsrfToken, principal::Principal, refusal::answer_with,
};
use commis_base::error::{Code, Error};
use commis_state::now_ms;

pub use self::browser::{not_watched, watched};

const SCRIPT: &str = include_str!("app.js");
/// The dashboard's own rules follow those that all our pages share.
static STYLE: LazyLock<String> =
    LazyLock::new(|| commis_report::STYLE.to_owned() + include_str!("app.css"));
const ICON: &str = include_str!("icon.svg");

pub fn routes() -> Router<Arc<Daemon>> {
    Router::new()
        .route("/", get(start))
        .route("/bootstrap", get(bootstrap))
        .route("/tasks", get(tasks::page))
        .route("/tasks/{task_id}", get(task::page))
        .route("/learn", get(learn::page))
        .route("/recipes", get(recipes::page))
        .route("/recipes/{name}", get(recipe::page))
        .route("/watches", get(watches::page))
        .route("/watches/{watch}", get(watches::one))
        .route("/runs", get(runs::page))
        .route("/runs/{id}", get(runs::run_page))
        .route("/approvals", get(approvals::page))
        .route("/browser", get(browser::page))
        .route("/browser/live", get(browser::live))
        .route("/browser/sessions/{id}", get(browser::session))
        .route("/assets/app.js", get(|| async { asset("text/javascript; charset=utf-8", SCRIPT) }))
        .route("/assets/app.css", get(|| async { asset("text/css; charset=utf-8", &STYLE) }))
        .route("/assets/icon.svg", get(|| async { asset("image/svg+xml", ICON) }))
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response()
}

/// Who looks at a page, and what of it they may be shown.
pub struct DashboardContext {
    pub daemon: Arc<Daemon>,
    csrf: Option<String>,
    /// Of its address; of a name that is given twice, the last.
    pub query: BTreeMap<String, String>,
    pub now_ms: i64,
}

impl FromRequestParts<Arc<Daemon>> for DashboardContext {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, daemon: &Arc<Daemon>) -> Result<Self, Response> {
        let principal = parts.extensions.get::<Principal>();
        if principal.is_none_or(|it| it.scopes.is_some()) {
            return Err(layout::access_page(StatusCode::FORBIDDEN));
        }
        let query = url::form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes());
        Ok(Self {
            daemon: Arc::clone(daemon),
            csrf: parts.extensions.get::<CsrfToken>().map(|it| it.0.clone()),
            query: query.into_owned().collect(),
            now_ms: now_ms(),
        })
    }
}

impl DashboardContext {
    /// What was written into a field of a form in the address; `None` when nothing was.
    fn query_value(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(|it| it.trim()).filter(|it| !it.is_empty())
    }
}

/// That a page cannot be shown, and why.
pub struct PageError(Error);

impl From<Error> for PageError {
    fn from(it: Error) -> Self {
        Self(it)
    }
}

type PageResult = Result<Response, PageError>;

impl axum::response::IntoResponse for PageError {
    fn into_response(self) -> Response {
        let it = ApiError::from_error(&self.0);
        let body: Markup = html! {
            h1 { "This cannot be shown" }
            p { (it.message) " " span.soft { code { (it.error_code) } } }
            @if let Some(hint) = &it.hint { p.soft { (hint) } }
            p { a href="/" { "Back to the overview" } }
        };
        layout::error_page(it.status(), "Not shown", &body)
    }
}

#[derive(Deserialize)]
struct BootstrapQuery {
    #[serde(default)]
    code: String,
}

/// Trades a code for a cookie that can look for half an hour.
async fn bootstrap(
    State(daemon): State<Arc<Daemon>>,
    headers: HeaderMap,
    Query(it): Query<BootstrapQuery>,
) -> Response {
    let Some(cookie) =
        daemon.dashboard_auth.trade(&it.code).and_then(|it| HeaderValue::from_str(&it).ok())
    else {
        if wants_page(&headers) {
            return layout::access_page(StatusCode::UNAUTHORIZED);
        }
        let err = Error::new(
            Code::Unauthorized,
            "the code for the dashboard is unknown, used or expired",
        )
        .hint("a code works once, within a minute; make a new one with `commis dashboard`");
        return answer_with(StatusCode::UNAUTHORIZED, ApiError::from_error(&err));
    };
    let mut out = (StatusCode::SEE_OTHER, [(header::LOCATION, "/")]).into_response();
    out.headers_mut().insert(header::SET_COOKIE, cookie);
    out
}

async fn start(State(daemon): State<Arc<Daemon>>, request: axum::extract::Request) -> Response {
    let (mut parts, _) = request.into_parts();
    match DashboardContext::from_request_parts(&mut parts, &daemon).await {
        Ok(cx) => overview::page(cx).await.into_response(),
        // Nothing is wrong with asking here first.
        Err(_) => layout::access_page(StatusCode::OK),
    }
}

fn wants_page(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|it| it.to_str().ok())
        .is_some_and(|it| it.contains("text/html"))
}

/// What a person is shown instead of a refusal, where a page was asked for without a cookie that holds, or too often.
pub fn instead(refusal: Response, uri: &Uri, headers: &HeaderMap) -> Response {
    let is_page = !uri.path().starts_with("/api") && !uri.path().starts_with("/mcp");
    if !is_page || !wants_page(headers) {
        return refusal;
    }
    match refusal.status() {
        StatusCode::UNAUTHORIZED => layout::access_page(StatusCode::UNAUTHORIZED),
        StatusCode::TOO_MANY_REQUESTS => {
            let body = html! {
                h1 { "Too many pages at once" }
                p { "Wait a few seconds, and load this one again." }
            };
            let mut out =
                layout::error_page(StatusCode::TOO_MANY_REQUESTS, "Too many pages", &body);
            if let Some(it) = refusal.headers().get(header::RETRY_AFTER) {
                out.headers_mut().insert(header::RETRY_AFTER, it.clone());
            }
            out
        }
        _ => refusal,
    }
}
