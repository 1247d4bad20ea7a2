//! A client's session, who it is, and what it is answered.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResult, ContentBlock, JsonObject},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::selection::ToolSelection;
use crate::{Daemon, answer::ApiError, principal::Principal};
use commis_base::error::Error;

/// A session, or a request without one.
#[derive(Clone)]
pub struct McpHandler {
    pub daemon: Arc<Daemon>,
}

pub(super) type McpContext = RequestContext<RoleServer>;

pub(super) type McpResult<T> = Result<T, ErrorData>;

impl McpHandler {
    /// What `?tools=` of the address says that the client was given; without it, or where it cannot be read, the settings.
    pub fn tool_selection(&self, context: &McpContext) -> ToolSelection {
        let query = context.extensions.get::<http::request::Parts>().and_then(|it| it.uri.query());
        let asked = query.and_then(|it| {
            url::form_urlencoded::parse(it.as_bytes()).find(|it| it.0 == "tools").map(|it| it.1)
        });
        asked
            .and_then(|it| ToolSelection::parse(&it).ok())
            .unwrap_or_else(|| self.daemon.runtime().tools.clone())
    }
}

/// Who asks: the guard has put them beside the request.
pub(super) fn principal(context: &McpContext) -> McpResult<Principal> {
    context
        .extensions
        .get::<http::request::Parts>()
        .and_then(|it| it.extensions.get::<Principal>())
        .cloned()
        .ok_or_else(|| ErrorData::internal_error("the request has no principal", None))
}

pub fn internal(err: &Error) -> ErrorData {
    ErrorData::internal_error(ApiError::from_error(err).message, None)
}

pub(super) fn object(it: Value) -> JsonObject {
    match it {
        Value::Object(it) => it,
        _ => JsonObject::new(),
    }
}

/// A failure that a model reads: it is the tool's, not the protocol's.
pub(super) fn refusal(trouble: &ApiError) -> CallToolResult {
    let hint = trouble.hint.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
    let text = format!("{}: {}{hint}", trouble.error_code, trouble.message);
    let mut out = CallToolResult::error(vec![ContentBlock::text(text)]);
    out.structured_content = Some(json!({"ok": false, "error": trouble}));
    out
}
