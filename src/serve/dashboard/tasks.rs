//! The list of tasks.

use maud::{Markup, html};

use super::{
    DashboardContext, PageResult, format,
    layout::{self, NavItem},
    pager::Pager,
};
use crate::task_database::{TaskState, TaskView};

/// Tasks of a part of the list.
const SHOWN: usize = 50;

const STATES: &[TaskState] = &[
    TaskState::Running,
    TaskState::Queued,
    TaskState::WaitingForApproval,
    TaskState::Done,
    TaskState::Failed,
    TaskState::Cancelled,
    TaskState::Interrupted,
];

pub async fn page(cx: DashboardContext) -> PageResult {
    let state =
        cx.query_value("state").and_then(|it| STATES.iter().copied().find(|s| s.as_str() == it));
    let pager = Pager::new(&cx, SHOWN);
    let after = layout::after(&cx).await;
    let skip = u32::try_from(pager.skip()).unwrap_or(u32::MAX);
    let all = cx.daemon.database.tasks_from(state, None, SHOWN as u32 + 1, skip).await?;
    let (shown, more) = (&all[..all.len().min(SHOWN)], all.len() > SHOWN);
    let body = html! {
        h1 { "Tasks" }
        nav.chips aria-label="Only of a state" {
            a href="/tasks" aria-current=[state.is_none().then_some("true")] { "all" }
            @for it in STATES {
                a href={ "/tasks?state=" (it.as_str()) } aria-current=[(state == Some(*it)).then_some("true")] { (format::state_text(*it)) }
            }
        }
        section #tasks data-live aria-label="Tasks, newest first" {
            @if shown.is_empty() { (nothing(state)) } @else { (table(shown, cx.now_ms)) }
            (pager.links(&cx, "/tasks", shown.len(), more, None))
        }
        p.soft { "A task that ended is kept for a week. " a href="/runs" { "Runs with a model" } " are kept longer." }
    };
    Ok(layout::page(&cx, NavItem::Tasks, "Tasks", after, &body))
}

fn nothing(state: Option<TaskState>) -> Markup {
    match state {
        Some(it) => format::empty(
            &format!("No task is {}.", format::state_text(it)),
            &html! { p { a href="/tasks" { "Look at all of them" } } },
        ),
        None => format::empty(
            "There are no tasks yet.",
            &html! { p { "Learning a recipe is one, and so is a run that takes longer than two seconds. Begin " a href="/learn" { "here" } ", with " code { "commis recipe learn" } " or from an agent." } },
        ),
    }
}

/// Tasks in the order given.
pub fn table(all: &[TaskView], now_ms: i64) -> Markup {
    html! {
        table.rows {
            thead {
                tr {
                    th scope="col" { "Task" }
                    th scope="col" { "State" }
                    th.wide scope="col" { "Asked by" }
                    th.wide.n scope="col" { "Took" }
                    th.n scope="col" { "When" }
                }
            }
            tbody {
                @for it in all {
                    tr data-task=(it.task_id) {
                        th scope="row" {
                            a href={ "/tasks/" (it.task_id) } { (format::doing(it)) " " span.said { (format::about(it)) } }
                            @if let Some(code) = it.error.as_ref().and_then(|it| it["error_code"].as_str()).filter(|_| it.state == TaskState::Failed) {
                                " " code.soft.wide { (code) }
                            }
                        }
                        td { (format::state(it.state)) }
                        td.wide { (requester(it)) }
                        td.wide.n { (took(it, now_ms)) }
                        td.n { (format::ago(it.created_ms, now_ms)) }
                    }
                }
            }
        }
    }
}

/// Who asked, in words.
pub fn requester(it: &TaskView) -> &str {
    match it.principal.as_str() {
        "root" => "this machine",
        it if it.starts_with("dashboard-") => "the dashboard",
        it => it,
    }
}

pub fn took(it: &TaskView, now_ms: i64) -> String {
    let Some(began) = it.began_ms else { return "–".to_owned() };
    format::format_duration(it.ended_ms.unwrap_or(now_ms) - began)
}
