//! Looking on: the stream of what happens at a page that stays, and pictures of it. With a token or from the dashboard below
//! `/api/browse` and `/browser`, with a cookie that is for nothing else below `/watch`.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Extension, Router,
    body::Bytes,
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response, Sse, sse::Event as Line},
    routing::get,
};
use futures::{StreamExt as _, stream};
use serde::Deserialize;

use super::{
    Daemon,
    dashboard::{self, DashboardContext},
    dashboard_auth::AccessDeadline,
    guard::unauthorized,
    page_query::PageQuery,
    page_sessions::PageKey,
    principal::Principal,
    refusal::refuse,
    stream_limiter::StreamLimiter,
    viewer_access::PATH,
};
use commis_base::error::{Code, Error, Result};

pub fn routes() -> Router<Arc<Daemon>> {
    Router::new()
        .route("/api/browse/events", get(events))
        .route("/browser/picture", get(picture))
        .route(PATH, get(page))
        .route("/watch/in", get(enter))
        .route("/watch/events", get(seen_events))
        .route("/watch/picture", get(seen_picture))
}

fn not_open() -> Error {
    Error::new(Code::TaskNotFound, "no page is open in this context")
        .hint("`browse goto` opens one; it is closed after half an hour without a command")
}

async fn events(
    State(daemon): State<Arc<Daemon>>,
    Extension(principal): Extension<Principal>,
    until: Option<Extension<AccessDeadline>>,
    which: std::result::Result<Query<PageQuery>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let wrong = || Error::new(Code::ParamInvalid, "the query may hold `context` alone");
    let key = which.map_err(|_| wrong()).and_then(|it| it.key(&principal));
    let over = async move {
        match until {
            Some(Extension(AccessDeadline(it))) => tokio::time::sleep_until(it.into()).await,
            None => std::future::pending().await,
        }
    };
    match key.and_then(|it| streamed(&daemon, (&it, principal.scopes.is_some()), &headers, over)) {
        Ok(it) => it,
        Err(err) => refuse(&err),
    }
}

/// The stream of a page's events; it ends with the page, the daemon, and `over`. Fails with `TASK_NOT_FOUND`, `RATE_LIMITED`,
/// `PARAM_INVALID`.
fn streamed(
    daemon: &Arc<Daemon>,
    (key, is_scoped): (&PageKey, bool),
    headers: &HeaderMap,
    over: impl Future<Output = ()> + Send + 'static,
) -> Result<Response> {
    let after =
        headers.get("last-event-id").map(|it| it.to_str().ok().and_then(|it| it.parse().ok()));
    if after == Some(None) {
        return Err(Error::new(Code::ParamInvalid, "Last-Event-ID is not the id of an event"));
    }
    let feed = daemon.page_sessions.feed(key).ok_or_else(not_open)?;
    let place = daemon.events.place(is_scoped)?;
    let told =
        stream::unfold((feed.listen(after.flatten()), place), |(mut listener, place)| async {
            let it = listener.next().await?;
            let data = serde_json::to_string(&it).unwrap_or_default();
            let line = Line::default().id(it.id.to_string()).event(it.kind.as_str()).data(data);
            Some((Ok::<_, Infallible>(line), (listener, place)))
        });
    let stop = daemon.stop.clone();
    let over = async move {
        tokio::select! {
            () = stop.cancelled_owned() => {}
            () = over => {}
        }
    };
    Ok(Sse::new(told.take_until(Box::pin(over)))
        .keep_alive(StreamLimiter::keep_alive())
        .into_response())
}

fn pictured(it: Option<Bytes>) -> Response {
    match it {
        Some(it) => {
            ([(header::CONTENT_TYPE, HeaderValue::from_static("image/jpeg"))], it).into_response()
        }
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn picture(looking: DashboardContext, Query(which): Query<PageQuery>) -> Response {
    match which.key(&Principal::root()) {
        Ok(it) => pictured(looking.daemon.page_sessions.picture(&it).await),
        Err(err) => refuse(&err),
    }
}

#[derive(Deserialize)]
struct EnterQuery {
    #[serde(default)]
    code: String,
}

/// Trades a code for a cookie that can look at one page for half an hour.
async fn enter(State(daemon): State<Arc<Daemon>>, Query(it): Query<EnterQuery>) -> Response {
    let cookie = daemon.viewers.trade(&it.code).and_then(|it| HeaderValue::from_str(&it).ok());
    let Some(cookie) = cookie else { return dashboard::not_watched(StatusCode::UNAUTHORIZED) };
    let mut out = (StatusCode::SEE_OTHER, [(header::LOCATION, PATH)]).into_response();
    out.headers_mut().insert(header::SET_COOKIE, cookie);
    out
}

async fn page(State(daemon): State<Arc<Daemon>>, headers: HeaderMap) -> Response {
    match daemon.viewers.view(&headers) {
        Some(it) => dashboard::watched(&daemon, &it.page),
        // Nothing is wrong with asking here first: the code stands in the address.
        None => dashboard::not_watched(StatusCode::OK),
    }
}

async fn seen_events(
    State(daemon): State<Arc<Daemon>>,
    uri: axum::http::Uri,
    headers: HeaderMap,
) -> Response {
    let Some(view) = daemon.viewers.view(&headers) else {
        return unauthorized(&daemon, &uri, "what lets somebody look is over");
    };
    let over = async move {
        tokio::select! {
            () = view.over.cancelled() => {}
            () = tokio::time::sleep_until(view.until.into()) => {}
        }
    };
    streamed(&daemon, (&view.page, true), &headers, over).unwrap_or_else(|err| refuse(&err))
}

async fn seen_picture(
    State(daemon): State<Arc<Daemon>>,
    uri: axum::http::Uri,
    headers: HeaderMap,
) -> Response {
    match daemon.viewers.view(&headers) {
        Some(it) => pictured(daemon.page_sessions.picture(&it.page).await),
        None => unauthorized(&daemon, &uri, "what lets somebody look is over"),
    }
}
