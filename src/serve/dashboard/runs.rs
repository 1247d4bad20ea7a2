//! Runs with a model: where each is, what it came to, what happened in one; and how playbooks stand by theirs.

use axum::extract::Path;
use maud::{Markup, html};

use super::{
    DashboardContext, PageResult, format,
    layout::{self, NavItem},
    pager::Pager,
};
use crate::{
    agent_runs::standings,
    operations::runs::{all, find_run},
};
use commis_agent::{
    playbook,
    runs::{Graduation, PlaybookRef, RunListing, RunRecord, RunStatus, StoredRun, UnreadableFile},
};

/// Runs that are listed, and lines of one that are shown.
const SHOWN: usize = 100;
const LINES: usize = 500;
/// Bytes of a line.
const LINE: usize = 2000;

pub async fn page(cx: DashboardContext) -> PageResult {
    let RunListing { runs, unread } = all(&cx.daemon)?;
    let books = books(&cx)?;
    let mut pager = Pager::new(&cx, SHOWN);
    let part = pager.part(&runs);
    let body = html! {
        p.crumbs { a href="/tasks" { "Tasks" } }
        h1 { "Runs with a model" }
        section #runs data-live aria-label="Runs, newest first" {
            @if runs.is_empty() {
                (format::empty("No run is kept.", &html! { p { code { "commis do" } " with an address or a playbook makes one." } }))
            } @else {
                (table(part, cx.now_ms))
                (pager.links(&cx, "/runs", part.len(), pager.skip() + part.len() < runs.len(), Some(runs.len())))
            }
            (unreadable(&unread))
        }
        section #playbooks data-live aria-labelledby="playbooks-head" {
            h2 #playbooks-head { "Playbooks" }
            table.rows {
                thead { tr { th scope="col" { "Playbook" } th scope="col" { "Stands" } } }
                tbody { @for (name, it) in &books {
                    tr { th scope="row" { code { (name) } } td { (graduation_badge(*it)) } }
                } }
            }
        }
    };
    Ok(layout::kept_up(&cx, NavItem::Tasks, "Runs", &body))
}

/// Playbooks by name, as their texts are now.
fn books(cx: &DashboardContext) -> commis_base::error::Result<Vec<(String, Graduation)>> {
    let all = playbook::all(&cx.daemon.home)?;
    let texts: Vec<PlaybookRef> = all
        .iter()
        .filter_map(|it| {
            let digest = it.playbook.as_ref().ok()?.digest();
            Some(PlaybookRef { name: it.name.clone(), digest })
        })
        .collect();
    let stand = standings(&cx.daemon, &texts);
    Ok(texts.into_iter().map(|it| it.name).zip(stand).collect())
}

fn graduation_badge(it: Graduation) -> Markup {
    let (class, text) = match (it.graduated, it.of) {
        (_, 0) => return html! { span.soft { "no run of it says anything yet" } },
        (true, _) => ("badge good", "graduated"),
        (false, _) => ("badge", "not graduated"),
    };
    html! { span class=(class) { (text) } " " (it.passed) " of its last " (it.of) " runs passed" }
}

fn badge(it: RunStatus) -> Markup {
    let class = match it {
        RunStatus::Working => "now",
        RunStatus::Done => "good",
        RunStatus::NotDone | RunStatus::Failed | RunStatus::Died => "bad",
        RunStatus::WaitingForApproval | RunStatus::NeedsPerson => "warn",
        RunStatus::DryRun => "",
    };
    html! { span class={ "badge " (class) } { (it.as_str().replace('_', " ")) } }
}

fn table(all: &[RunRecord], now_ms: i64) -> Markup {
    html! {
        table.rows {
            thead {
                tr {
                    th scope="col" { "Task" }
                    th scope="col" { "State" }
                    th.wide.n scope="col" { "Turns" }
                    th.wide.n scope="col" { "Tokens" }
                    th.wide.n scope="col" { "Took" }
                    th.n scope="col" { "When" }
                }
            }
            tbody {
                @for it in all {
                    tr {
                        th scope="row" {
                            a href={ "/runs/" (it.run) } { span.said { (format::clip(&it.task, 120)) } }
                            @if it.status.is_open() { " " span.soft.said { (format::clip(&it.now, 120)) } }
                        }
                        td { (badge(it.status)) }
                        td.wide.n { (it.turns) }
                        td.wide.n { (it.tokens()) }
                        td.wide.n { (format::format_duration(it.ms as i64)) }
                        td.n { (format::ago(it.begun_ms, now_ms)) }
                    }
                }
            }
        }
    }
}

fn unreadable(all: &[UnreadableFile]) -> Markup {
    html! {
        @if !all.is_empty() {
            h2 { "Could not be read" }
            ul { @for it in all { li { code { (it.file) } ": " (it.why) } } }
        }
    }
}

pub async fn run_page(Path(id): Path<String>, cx: DashboardContext) -> PageResult {
    let StoredRun { record: it, lines, unread } = find_run(&cx.daemon, &id)?;
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    let facts = [
        ("Reason", text(&it.reason)),
        ("Detail", text(&it.detail)),
        ("Now", if it.status.is_open() { it.now.clone() } else { String::new() }),
        ("Last action", text(&it.last_action)),
        ("Model", it.model.clone()),
        ("Playbook", it.playbook.as_ref().map(|it| it.name.clone()).unwrap_or_default()),
        ("Answer", it.answer.as_ref().map(ToString::to_string).unwrap_or_default()),
    ];
    let body = html! {
        p.crumbs { a href="/tasks" { "Tasks" } " / " a href="/runs" { "Runs" } }
        h1 { span.said { (format::clip(&it.task, 200)) } }
        section #run data-live aria-label="What it came to" {
            dl.facts {
                dt { "Run" } dd { code { (id) } }
                dt { "State" } dd { (badge(it.status)) }
                @for (name, value) in facts.iter().filter(|it| !it.1.is_empty()) {
                    dt { (name) } dd { span.said { (format::clip(value, 1000)) } }
                }
                dt { "Page" } dd { (format::link(&it.page)) }
                dt { "Took" } dd { (it.turns) " turns, " (it.tokens()) " tokens, " (format::format_duration(it.ms as i64)) }
            }
            (unreadable(&unread))
        }
        section #happened data-live aria-labelledby="happened-head" {
            h2 #happened-head { "What happened" }
            @let text: Vec<String> = lines.iter().take(LINES).map(|it| format::clip(&it["what"].to_string(), LINE)).collect();
            (format::code_box("What happened, a line each", &text.join("\n")))
            @if lines.len() > LINES { p.soft { code { "commis do --log " (id) } " shows all." } }
        }
    };
    Ok(layout::kept_up(&cx, NavItem::Tasks, "Run", &body))
}
