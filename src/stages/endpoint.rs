//! Which endpoint a request asks: its key, its operation, and whether it asks for a further page.

use commis_artifacts::recording::{BodyStatus, Exchange, RequestBody, ResourceType};
use serde_json::Value;
use std::collections::BTreeSet;
use url::Url;

/// Query names that choose a part of a list: requests that differ in these are one endpoint.
const PAGING: &[&str] = &[
    "page",
    "offset",
    "start",
    "startindex",
    "skip",
    "limit",
    "rows",
    "size",
    "pagesize",
    "per_page",
    "perpage",
    "hitsperpage",
    "count",
    "cursor",
    "after",
    "before",
    "page_token",
    "pagetoken",
    "_",
];

/// Equal keys are one endpoint: method, host, path, sorted query names, operation (seed 1.3). An operation that says which
/// data is meant is part of the key, or all of GraphQL would be one endpoint.
pub fn endpoint_key(exchange: &Exchange) -> String {
    let Ok(url) = Url::parse(&exchange.url) else {
        return exchange.url.clone();
    };
    let mut names: Vec<String> = url
        .query_pairs()
        .map(|it| it.0.into_owned())
        .filter(|it| !PAGING.contains(&it.to_lowercase().as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    let operation = operation(exchange).map(|it| format!(" #{it}")).unwrap_or_default();
    let body = body_names(exchange);
    format!(
        "{} {}{}?{}{body}{operation}",
        exchange.method,
        url.host_str().unwrap_or(""),
        url.path(),
        names.join("&")
    )
}

/// GraphQL `operationName` (or the query's first field), persisted-query hash, or JSON-RPC `method`.
pub fn operation(exchange: &Exchange) -> Option<String> {
    let from_query = || {
        let url = Url::parse(&exchange.url).ok()?;
        url.query_pairs().find(|it| it.0 == "operationName").map(|it| it.1.into_owned())
    };
    let Some(RequestBody::Json(body)) = &exchange.request_body else {
        return from_query();
    };
    // Of a batch, the call that carries what was typed.
    let call = exchange
        .measures
        .typed_in_request
        .iter()
        .find_map(|it| it.key.strip_prefix('/')?.split('/').next()?.parse::<usize>().ok());
    let body = body.get(call.unwrap_or(0)).unwrap_or(body);
    let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    text("operationName")
        .or_else(|| body.get("jsonrpc").and_then(|_| text("method")))
        .or_else(|| {
            let query = text("query").filter(|it| it.contains('{'))?;
            let inner = query.split_once('{')?.1;
            let name: String = inner
                .trim_start()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            (!name.is_empty()).then_some(name)
        })
        .or_else(from_query)
}

/// Whether a request has a paging parameter that the other does not have.
pub fn is_further_page(it: &Exchange, first: &Exchange) -> bool {
    let pages = |it: &Exchange| -> BTreeSet<String> {
        let url = Url::parse(&it.url).ok();
        let names = url.iter().flat_map(Url::query_pairs).map(|it| it.0.to_lowercase());
        names.filter(|it| PAGING.contains(&it.as_str())).collect()
    };
    !pages(it).is_subset(&pages(first))
}

/// Data was asked for, and what came was not kept: HARs often lack the last answer, since the recording ended while it came.
pub fn is_answer_lost(it: &Exchange) -> bool {
    let asks_for_data = matches!(
        it.resource_type,
        ResourceType::Xhr | ResourceType::Fetch | ResourceType::Document | ResourceType::Script
    );
    let is_lost = matches!(
        it.body_status,
        BodyStatus::Absent
            | BodyStatus::Evicted
            | BodyStatus::TooLarge
            | BodyStatus::Inflight
            | BodyStatus::Failed
    );
    asks_for_data && is_lost && it.status.is_none_or(|it| (200..300).contains(&it))
}

/// Names of the body's fields: of JSON only those at the top, for the rest is data.
pub fn body_names(exchange: &Exchange) -> String {
    let mut names: Vec<&str> = match &exchange.request_body {
        Some(RequestBody::Json(Value::Object(it))) => it.keys().map(String::as_str).collect(),
        Some(RequestBody::Form(it) | RequestBody::Multipart(it)) => {
            it.iter().map(|it| it.name.as_str()).collect()
        }
        _ => return String::new(),
    };
    names.sort_unstable();
    names.dedup();
    format!(" {{{}}}", names.join(","))
}
