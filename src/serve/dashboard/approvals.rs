//! What waits for a person: requests that may change something, each as it would be sent, and tasks that stopped.

use maud::{Markup, html};
use serde_json::json;

use super::{
    DashboardContext, PageResult, format,
    layout::{self, NavItem},
    tasks,
};
use crate::task_database::TaskState;
use commis_agent::{ApprovalRequest, heavy};

/// Settled ones that are shown.
const SETTLED: usize = 20;

pub async fn page(cx: DashboardContext) -> PageResult {
    let after = layout::after(&cx).await;
    let all = cx.daemon.database.tasks(Some(TaskState::WaitingForApproval), None, 200).await?;
    let requests = cx.daemon.suspended_runs.approvals.list(None, cx.now_ms)?;
    let (open, settled): (Vec<&ApprovalRequest>, Vec<&ApprovalRequest>) =
        requests.iter().rev().partition(|it| it.state.is_open());
    let body = html! {
        h1 { "Approvals" }
        section #approvals data-live aria-label="What waits for you" {
            @if all.is_empty() && open.is_empty() {
                (format::empty("Nothing waits for you.", &html! {
                    p { "A request that may change something, and a task that must not go on without a person, wait here." }
                }))
            }
            @for it in &open { (request(it, cx.now_ms)) }
            @if !all.is_empty() { (tasks::table(&all, cx.now_ms)) }
        }
        @if !settled.is_empty() {
            section #settled data-live aria-label="What was decided" {
                h2 { "Decided" }
                ul { @for it in settled.iter().take(SETTLED) { li {
                    (it.state.word())
                    @if let Some(by) = it.state.by() { ", decided by " (by.who) " " (by.channel.word()) }
                    ": " code { (it.request.method) " " (it.request.origin) (it.request.path) }
                } } }
            }
        }
    };
    Ok(layout::page(&cx, NavItem::Approvals, "Approvals", after, &body))
}

/// One request: its bytes as they would be sent, and the two answers. What a page or a model says of it stands in quotes.
fn request(it: &ApprovalRequest, now_ms: i64) -> Markup {
    let path = format!("/api/approvals/{}", it.id);
    let body = json!({ "digest": it.request.digest }).to_string();
    let minutes = (it.expires_ms - now_ms).max(0) / 60_000;
    html! {
        article aria-label={ "Request " (it.id) } {
            h2 { (it.request.method) " " (it.request.origin) (it.request.path) }
            pre.code tabindex="0" { code { (it.text()) } }
            p.soft {
                "It waits for " (minutes) " more minutes; then it is never sent."
                @if let Some(why) = heavy(it) { " It is more than a small change: " (why) "." }
            }
            p.notice hidden role="alert" data-trouble {}
            div.buttons {
                button.danger type="button" data-post={ (path) "/approve" } data-body=(body) { "Send this request once" }
                button type="button" data-post={ (path) "/reject" } { "Never send it" }
            }
            noscript { p.soft { "That needs this page's script; or " code { "commis approve " (it.id) } "." } }
        }
    }
}
