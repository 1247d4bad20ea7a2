//! What waits for a person.

use maud::html;

use super::{
    Looking, Shown,
    frame::{self, Here},
    show, tasks,
};
use crate::serve::book::TaskState;

pub async fn page(looking: Looking) -> Shown {
    let after = frame::after(&looking).await;
    let all = looking.daemon.book.tasks(Some(TaskState::WaitingForApproval), None, 200).await?;
    let body = html! {
        h1 { "Approvals" }
        section #approvals data-live aria-label="Tasks that wait for you" {
            @if all.is_empty() {
                (show::empty("Nothing waits for you.", &html! {
                    p { "A task that must not go on without a person stops and is listed here." }
                }))
            } @else {
                (tasks::table(&all, looking.now_ms))
            }
        }
    };
    Ok(frame::page(&looking, Here::Approvals, "Approvals", after, &body))
}
