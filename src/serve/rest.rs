//! REST: a route for each row of the table, streams of events, the document that says so.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::{
        DefaultBodyLimit, MatchedPath, Path, Query, RawPathParams, State,
        rejection::{PathRejection, QueryRejection, RawPathParamsRejection},
    },
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware,
    response::{IntoResponse as _, Response, Sse},
    routing::{MethodFilter, get, on, post},
};
use futures::StreamExt as _;
use serde_json::{Map, Value, json};

use super::{
    Daemon,
    answer::{Answer, ApiError, Meta},
    dashboard,
    dashboard_auth::AccessDeadline,
    events::stream,
    guard::guard,
    har_uploads, live_view, mcp, openapi,
    operations::{HttpMethod, Operation, OperationContext, TABLE, coerced, find_visible_task},
    principal::{AccessRequirement, AccessRight, Area, Principal},
    queue::{CallOptions, PerformOutcome, Queue},
    refusal::{answer_with, refuse},
    stream_limiter::StreamLimiter,
    upload::upload,
};
use commis_base::error::{Code, Error};

/// Everything that is served on the local listener.
pub fn router(daemon: &Arc<Daemon>) -> Router {
    operations(Router::new())
        .route("/health", get(|| async { Json(json!({"ok": true})) }))
        .route("/api/openapi.json", get(|| async { Json(openapi::document()) }))
        .route("/api/events", get(all_events))
        .route(
            har_uploads::PATH,
            post(upload).layer(DefaultBodyLimit::max(har_uploads::MAX_UPLOAD)),
        )
        .merge(dashboard::routes())
        .merge(live_view::routes())
        .route_service("/mcp", mcp::service(daemon))
        .fallback(|| async {
            refuse(
                &Error::new(Code::NoSuchAddress, "no operation has this address")
                    .hint("see /api/openapi.json for all addresses"),
            )
        })
        .method_not_allowed_fallback(not_so)
        .layer(middleware::from_fn_with_state(Arc::clone(daemon), guard))
        .with_state(Arc::clone(daemon))
}

/// That an address is asked in a way that it is not asked in, and how it is.
async fn not_so(path: Option<MatchedPath>) -> Response {
    let err = Error::new(Code::MethodNotAllowed, "method not allowed");
    let mut out = answer_with(StatusCode::METHOD_NOT_ALLOWED, ApiError::from_error(&err));
    let path = path.as_ref().map_or("", MatchedPath::as_str);
    let routes = TABLE.iter().flat_map(|it| it.spec.routes).filter(|it| it.1 == path);
    let mut verbs: Vec<&str> = routes
        .flat_map(|it| match it.0 {
            HttpMethod::Get => &["GET", "HEAD"][..],
            HttpMethod::Post => &["POST"],
            HttpMethod::Delete => &["DELETE"],
        })
        .copied()
        .collect();
    if path == har_uploads::PATH {
        verbs = vec!["POST"];
    } else if verbs.is_empty() {
        verbs = vec!["GET", "HEAD"];
    }
    if let Ok(it) = HeaderValue::from_str(&verbs.join(", ")) {
        out.headers_mut().insert(header::ALLOW, it);
    }
    out
}

/// A route for each row of the table, and the events of tasks.
pub fn operations(mut out: Router<Arc<Daemon>>) -> Router<Arc<Daemon>> {
    for row in TABLE.iter() {
        for (verb, path) in row.spec.routes {
            let filter = match verb {
                HttpMethod::Get => MethodFilter::GET,
                HttpMethod::Post => MethodFilter::POST,
                HttpMethod::Delete => MethodFilter::DELETE,
            };
            let (verb, row): (HttpMethod, &'static Operation) = (*verb, row);
            let handler = move |state: State<Arc<Daemon>>,
                                principal: Extension<Principal>,
                                path: Result<RawPathParams, RawPathParamsRejection>,
                                query: Result<Query<Vec<(String, String)>>, QueryRejection>,
                                headers: HeaderMap,
                                body: Bytes| async move {
                let Ok(path) = path else { return no_text() };
                let query = query.map(|it| it.0).ok();
                let given = RequestInput { path: &path, query, headers: &headers, body };
                operation(row, verb, &state.0, principal.0, given).await
            };
            out = out.route(path, on(filter, handler));
        }
    }
    out.route("/api/tasks/{task_id}/events", get(task_events))
}

/// That what stands in the path is no UTF-8.
fn no_text() -> Response {
    refuse(&Error::new(Code::ParamInvalid, "the path is not valid UTF-8"))
}

/// What a request gives to its operation.
struct RequestInput<'a> {
    path: &'a RawPathParams,
    query: Option<Vec<(String, String)>>,
    headers: &'a HeaderMap,
    body: Bytes,
}

impl RequestInput<'_> {
    /// Path and query, or path and body. Fails with `PARAM_INVALID`.
    fn args(&self, row: &Operation, verb: HttpMethod) -> commis_base::error::Result<Value> {
        let wrong = |what: &str| Error::new(Code::ParamInvalid, what);
        let path = self.path.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let query = self.query.clone().ok_or_else(|| wrong("the query cannot be read"))?;
        if verb != HttpMethod::Post {
            if !self.body.is_empty() {
                return Err(wrong("this request takes no body"));
            }
            return coerced(row, path.chain(query));
        }
        if !query.is_empty() {
            return Err(wrong("arguments must be in the body"));
        }
        let mut args: Map<String, Value> = if self.body.is_empty() {
            Map::new()
        } else {
            serde_json::from_slice(&self.body).map_err(|err| {
                let said: String = err.to_string().chars().take(200).collect();
                Error::new(Code::ParamInvalid, format!("the body is not a JSON object: {said}"))
            })?
        };
        let Value::Object(path) = coerced(row, path)? else { return Ok(Value::Object(args)) };
        for (name, value) in path {
            if args.insert(name, value).is_some() {
                return Err(wrong("an argument of the path is also in the body"));
            }
        }
        Ok(Value::Object(args))
    }

    fn options(&self) -> commis_base::error::Result<CallOptions> {
        let key = self.headers.get("idempotency-key").map(|it| it.to_str().map(str::to_owned));
        let key = match key {
            None => None,
            Some(Ok(it)) if (1..=200).contains(&it.len()) => Some(it),
            Some(_) => {
                return Err(Error::new(
                    Code::ParamInvalid,
                    "Idempotency-Key has 1 to 200 characters",
                ));
            }
        };
        let prefer = self.headers.get("prefer").and_then(|it| it.to_str().ok());
        Ok(CallOptions { key, apart: prefer.is_some_and(|it| it.contains("respond-async")) })
    }
}

async fn operation(
    row: &'static Operation,
    verb: HttpMethod,
    daemon: &Arc<Daemon>,
    principal: Principal,
    given: RequestInput<'_>,
) -> Response {
    let parsed = given.args(row, verb).and_then(|args| Ok((args, given.options()?)));
    let (args, options) = match parsed {
        Ok(it) => it,
        Err(err) => return refuse(&err),
    };
    match Queue::perform(daemon, row, args, principal, options).await {
        Ok(PerformOutcome::Done(answer)) => Json(answer).into_response(),
        Ok(PerformOutcome::Accepted(task)) => {
            let place = format!("/api/tasks/{}", task.task_id);
            let meta = Meta { task_id: Some(task.task_id.clone()), ..Meta::default() };
            let mut out =
                (StatusCode::ACCEPTED, Json(Answer { ok: true, data: task, meta })).into_response();
            if let Ok(it) = HeaderValue::from_str(&place) {
                out.headers_mut().insert(header::LOCATION, it);
            }
            out
        }
        Err(trouble) => answer_with(trouble.status(), *trouble),
    }
}

async fn all_events(
    State(daemon): State<Arc<Daemon>>,
    Extension(principal): Extension<Principal>,
    until: Option<Extension<AccessDeadline>>,
    headers: HeaderMap,
) -> Response {
    // Of all there is: no token with scopes may see that.
    if principal.scopes.is_some() {
        return refuse(&Error::new(Code::Forbidden, "this token may follow only its own tasks"));
    }
    events(&daemon, (false, None), &headers, until.map(|it| it.0)).await
}

async fn task_events(
    State(daemon): State<Arc<Daemon>>,
    Extension(principal): Extension<Principal>,
    id: Result<Path<String>, PathRejection>,
    until: Option<Extension<AccessDeadline>>,
    headers: HeaderMap,
) -> Response {
    if let Err(err) = principal.must(AccessRequirement::May(Area::Tasks, AccessRight::Read), None) {
        return refuse(&err);
    }
    let is_scoped = principal.scopes.is_some();
    let Ok(Path(id)) = id else { return no_text() };
    let cx = OperationContext { daemon: Arc::clone(&daemon), principal, job: None };
    match find_visible_task(&cx, &id).await {
        Ok(task) => {
            let of = (is_scoped, Some(task.task_id));
            events(&daemon, of, &headers, until.map(|it| it.0)).await
        }
        Err(err) => refuse(&err),
    }
}

/// A stream that a browser opened ends when what it may look at is over.
async fn events(
    daemon: &Arc<Daemon>,
    (is_scoped, task): (bool, Option<String>),
    headers: &HeaderMap,
    until: Option<AccessDeadline>,
) -> Response {
    let after =
        headers.get("last-event-id").map(|it| it.to_str().ok().and_then(|it| it.parse().ok()));
    let after = match after {
        Some(None) => {
            return refuse(&Error::new(
                Code::ParamInvalid,
                "Last-Event-ID is not the id of an event",
            ));
        }
        it => it.flatten(),
    };
    let over = async move {
        match until {
            Some(AccessDeadline(it)) => tokio::time::sleep_until(it.into()).await,
            None => std::future::pending().await,
        }
    };
    match stream(daemon, is_scoped, task, after).await {
        Ok(it) => {
            Sse::new(it.take_until(over)).keep_alive(StreamLimiter::keep_alive()).into_response()
        }
        Err(err) => refuse(&err),
    }
}
