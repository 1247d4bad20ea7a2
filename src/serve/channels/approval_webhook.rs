//! Tells a webhook of a request that waits for approval.

use std::{sync::Arc, time::Duration};

use backon::{ExponentialBuilder, Retryable};
use serde_json::json;

use super::{dashboard, webhook::post};
use crate::Daemon;
use commis_agent::{ApprovalRequest, heavy};
use commis_base::{
    error::{Code, Result},
    settings::WebhookSettings,
};
use commis_state::now_ms;

const FIRST: Duration = Duration::from_secs(2);

/// With six tries the last is a little over five minutes after the first.
const FACTOR: f32 = 3.0;

const TRIES: usize = 6;

/// Tells it; that it could not be told is in the log.
pub async fn notify(daemon: Arc<Daemon>, settings: WebhookSettings, it: ApprovalRequest) {
    let host = url::Url::parse(&settings.url).ok();
    let host = host.as_ref().and_then(|it| it.host_str()).unwrap_or_default().to_owned();
    if let Err(err) = post_notification(&daemon, &settings, &it).await {
        tracing::error!(id = it.id, host, error = %err, "the webhook was not told of a request that waits");
    }
}

async fn post_notification(
    daemon: &Daemon,
    settings: &WebhookSettings,
    it: &ApprovalRequest,
) -> Result<()> {
    let policy = Arc::clone(daemon.runtime().policy());
    let body = body(it, &dashboard(daemon)).into_bytes();
    let id = format!("msg_{}", it.id);
    let send = || post(&policy, settings, &id, &body);
    let again = ExponentialBuilder::default()
        .with_min_delay(FIRST)
        .with_factor(FACTOR)
        .with_max_delay(Duration::from_secs(300))
        .with_max_times(TRIES - 1)
        .with_jitter();
    send.retry(again)
        .when(|err| {
            let may_pass = err.code() == Code::HttpStatus || err.code().retryable();
            let waits = daemon.suspended_runs.approvals.get(&it.id, None, now_ms());
            may_pass && waits.is_ok_and(|it| it.state.is_open())
        })
        .await
}

/// What it is told: nothing but what every channel shows.
fn body(it: &ApprovalRequest, dashboard: &str) -> String {
    let time = |ms: i64| {
        jiff::Timestamp::from_millisecond(ms).map(|it| it.to_string()).unwrap_or_default()
    };
    json!({
        "type": "approval.waiting",
        "timestamp": time(it.created_ms),
        "data": {
            "id": it.id,
            "method": it.request.method,
            "host": it.request.origin,
            "amounts": it.amounts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "text": it.request(),
            "digest": it.request.digest,
            "more_than_small": heavy(it),
            "expires": time(it.expires_ms),
            "dashboard": dashboard,
            "command": format!("commis approve {}", it.id),
        }
    })
    .to_string()
}
