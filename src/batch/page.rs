//! The page of a batch: while it runs and in the morning; one file, no network. Without its script all is there, unfiltered.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use maud::{Markup, html};
use url::Url;

use super::{
    progress::BatchSnapshot,
    report::{Report, ReportLine},
};
use commis_artifacts::failure::Failure;
use commis_base::{error::Result, ids::TaskId};
use commis_report::{Page, clip, format_duration, head, plot::mark, scrollable};
use commis_state::{StageSpan, Status, TaskRow};

mod timeline;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/filter.js");
const LIVE: &str = concat!(include_str!("page/filter.js"), include_str!("page/live.js"));
/// Up to so many tasks have a bar of their own in the timeline.
const MAX_BARS: usize = 120;
/// Tasks in the list of those that were tried again.
const MAX_AGAIN: usize = 100;
/// Of each list of what a failing step saw.
const MAX_LINES: usize = 8;
/// Hosts and tasks in the lists of the slowest.
const SLOWEST: usize = 10;
/// While it runs, of more tasks than this only those that ended last are listed: the page is made again and again.
const MAX_LISTED: usize = 500;
const LISTED: usize = 100;
/// Of a text that is not ours, on a line.
const MAX_TEXT: usize = 600;
/// Seconds until the page is read again.
const AGAIN_S: u32 = 2;
/// The page that a task's folder holds, beside its artifacts.
pub const TASK_PAGE: &str = "page.html";

/// A task as the database and its line of the report tell it.
struct TaskSummary {
    row: TaskRow,
    /// Where it has ended.
    line: Option<ReportLine>,
    spans: Vec<StageSpan>,
    /// What a failing step saw, and its picture.
    seen: Option<(Failure, Option<PathBuf>)>,
    /// The way to its own page.
    page: Option<String>,
}

impl TaskSummary {
    /// Milliseconds at work, all attempts together.
    fn work_ms(&self) -> i64 {
        self.spans.iter().map(|it| it.ended_ms - it.began_ms).sum()
    }

    fn total_ms(&self) -> i64 {
        let first = self.spans.iter().map(|it| it.began_ms).min();
        let last = self.spans.iter().map(|it| it.ended_ms).max();
        first.zip(last).map_or(0, |(a, b)| b - a)
    }

    /// Where no line says how it ended, it waits, whatever a run that was killed has left in the database.
    fn status(&self) -> Status {
        if self.line.is_some() { self.row.status } else { Status::Pending }
    }
}

/// Writes the page, for the folder that it will stand in; `going`: what goes on, while it does. Fails with `ARTIFACT_IO` where
/// the database cannot be read.
pub fn render(report: &Report, going: Option<&BatchSnapshot>, folder: &Path) -> Result<String> {
    let mut spans: BTreeMap<String, Vec<StageSpan>> = BTreeMap::new();
    for it in report.state.spans(&report.totals.manifest)? {
        spans.entry(it.task_id.clone()).or_default().push(it);
    }
    let mut rows: BTreeMap<String, TaskRow> =
        report.state.tasks()?.into_iter().map(|it| (it.task_id.clone(), it)).collect();
    let base = std::path::absolute(folder).ok().and_then(|it| Url::from_directory_path(it).ok());
    let mut tasks = Vec::new();
    for id in report.order.iter() {
        let Some(row) = rows.remove(id.as_str()) else { continue };
        let line = report.line(id)?;
        let mut spans = spans.remove(id.as_str()).unwrap_or_default();
        if let Some(it) = going.and_then(|it| it.running.get(id.as_str()).map(|task| (it, task))) {
            spans.extend(it.1.spans(id, it.0.at_ms));
        }
        let (mut seen, mut page) = (None, None);
        if line.is_some()
            && let Some(it) = report.store.peek(id)?
        {
            // A folder that cannot be read says nothing here: the page is about the batch.
            seen = (row.status == Status::Failed).then(|| it.failure().ok().flatten()).flatten();
            let is_there = it.dir().stat(TASK_PAGE).ok().flatten().is_some();
            page = base
                .as_ref()
                .filter(|_| is_there)
                .and_then(|it| relative_task_page(it, report, id));
        }
        tasks.push(TaskSummary { row, line, spans, seen, page });
    }
    Ok(render_document(report, &tasks, going))
}

/// From the page's folder to the task's page: both may be moved together.
fn relative_task_page(base: &Url, report: &Report, id: &TaskId) -> Option<String> {
    let to = std::path::absolute(report.store.root().join(id.as_str()).join(TASK_PAGE)).ok()?;
    base.make_relative(&Url::from_file_path(to).ok()?)
}

/// [`page`] of a batch that has ended, into a file that is being written.
pub fn write(report: &Report, folder: &Path, to: &mut dyn io::Write) -> io::Result<()> {
    to.write_all(render(report, None, folder).map_err(io::Error::other)?.as_bytes())
}

fn render_document(
    report: &Report,
    tasks: &[TaskSummary],
    going: Option<&BatchSnapshot>,
) -> String {
    let it = &report.totals;
    let few = going.is_none() || tasks.len() <= MAX_LISTED;
    let body = html! {
        h1 { "Batch " (clip(&it.manifest, 120)) " " (batch_state(report, going)) }
        p.lead { (headline(tasks, going)) }
        @if let Some(it) = going { (render_progress(it, tasks)) }
        (tiles(report, tasks, going))
        @if let Some(code) = it.stopped_by {
            p.notice.bad { b { "The batch was stopped by " code { (code) } "." } " The same command with --resume goes on." }
        } @else if it.interrupted {
            p.notice.warn { b { "The batch was interrupted." } " The same command with --resume goes on." }
        }
        @if let Some(it) = going { (running_tasks(it)) }
        h2 { "Why tasks did not end in a verified recipe" }
        (reasons(report))
        h2 { "Timeline" }
        @if tasks.iter().any(|it| !it.spans.is_empty()) { (timeline::timeline(tasks, going.map(|it| it.at_ms))) } @else { p.soft { "Nothing was done." } }
        @if going.is_none() {
            h2 { "Slowest hosts" }
            (hosts(tasks))
            h2 { "Slowest tasks" }
            (slowest(tasks))
        }
        @let again: Vec<&TaskSummary> = tasks.iter().filter(|it| it.row.attempts > 1 && it.line.is_some()).collect();
        @if !again.is_empty() {
            h2 { "Tried again" }
            (retry_table(&again))
        }
        h2 #all { @if few { "All tasks" } @else { "The last that ended" } }
        @if !few { p.soft { "All " (tasks.len()) " are listed when the batch has ended." } }
        @let listed = listed_tasks(tasks, few);
        details #tasks open[listed.len() <= MAX_BARS.max(LISTED)] {
            summary { (listed.len()) " tasks, " @if few { "in the order of the manifest" } @else { "the last one first" } }
            (filter())
            @for it in listed { (task_details(it, going)) }
        }
    };
    Page {
        title: &format!("{}{}", if going.is_some() { "… " } else { "" }, clip(&it.manifest, 120)),
        style: STYLE,
        script: Some(if going.is_some() { LIVE } else { SCRIPT }),
        again_s: going.map(|_| AGAIN_S),
        ..Page::default()
    }
    .render(&body)
}

fn listed_tasks(tasks: &[TaskSummary], all: bool) -> Vec<&TaskSummary> {
    if all {
        return tasks.iter().collect();
    }
    let mut out: Vec<&TaskSummary> = tasks.iter().filter(|it| it.line.is_some()).collect();
    out.sort_by_key(|it| std::cmp::Reverse(it.row.ended_ms));
    out.truncate(LISTED);
    out
}

fn batch_state(report: &Report, going: Option<&BatchSnapshot>) -> Markup {
    let (class, text) = match (&report.totals, going) {
        (_, Some(_)) => ("now", "running"),
        (it, _) if it.stopped_by.is_some() => ("bad", "stopped"),
        (it, _) if it.interrupted => ("warn", "interrupted"),
        (it, _) if it.not_started > 0 => ("warn", "ended early"),
        _ => ("good", "ended"),
    };
    html! { span #state class={ "badge " (class) } { (text) } }
}

fn format_time(at_ms: i64, form: &str) -> String {
    jiff::Timestamp::from_millisecond(at_ms)
        .map(|it| it.strftime(form).to_string())
        .unwrap_or_default()
}

fn headline(tasks: &[TaskSummary], going: Option<&BatchSnapshot>) -> String {
    let began = tasks.iter().flat_map(|it| &it.spans).map(|it| it.began_ms).min();
    let ended = tasks.iter().flat_map(|it| &it.spans).map(|it| it.ended_ms).max();
    let began = going.map(|it| it.began_ms).or(began);
    let mut out = began.map(|it| format_time(it, "%Y-%m-%d %H:%M UTC")).unwrap_or_default();
    match (began.zip(ended), going) {
        (_, Some(it)) => {
            out = format!("since {out}, {}", format_duration(it.at_ms - it.began_ms));
            if let Some(left) = it.remaining_ms() {
                let until = format_time(it.at_ms + left, "%H:%M:%S UTC");
                out = format!("{out}; about {} left, until {until}", format_duration(left));
            }
        }
        (Some((a, b)), None) => {
            out = format!("{out}, {} from the first to the last", format_duration(b - a));
        }
        (None, None) => {}
    }
    out
}

/// How far it is, as of when, and what to think if that was long ago.
fn render_progress(it: &BatchSnapshot, tasks: &[TaskSummary]) -> Markup {
    let ended = tasks.iter().filter(|it| it.line.is_some()).count();
    html! {
        progress max=(tasks.len()) value=(ended) aria-label="tasks that ended" {}
        p #now.soft data-at=(it.at_ms) data-stale=(it.stale_ms) {
            (ended) " of " (tasks.len()) " tasks ended, as of " (format_time(it.at_ms, "%H:%M:%S UTC"))
            noscript { ". Where that is longer ago than " (format_duration(it.stale_ms)) ", the batch was interrupted; the same command with --resume goes on" }
            "."
        }
        p #stale.notice.warn hidden role="status" {
            b { "Interrupted." } " Nothing was written here for " span #silent {} ": the batch was killed, or the machine slept. The same command with --resume goes on, and so does this page."
        }
    }
}

fn running_tasks(it: &BatchSnapshot) -> Markup {
    html! {
        h2 { "Running now" }
        @if it.running.is_empty() { p.soft { "Nothing at this moment." } } @else {
            (scrollable("Running now", &html! {
                table {
                    (head(&["task", "stage", ">for", ">together", ">attempt"]))
                    tbody {
                        @for task in it.running.values() {
                            tr {
                                td.name { (mark("now")) (clip(&task.name, 120)) }
                                @match &task.stage {
                                    Some((stage, since)) => { td { (stage) } td.n data-since=(since) { (format_duration(it.at_ms - since)) } },
                                    None => { td.soft { "begins" } td.n {} },
                                }
                                td.n data-since=(task.began_ms) { (format_duration(it.at_ms - task.began_ms)) }
                                td.n { (task.attempt) }
                            }
                        }
                    }
                }
            }))
        }
    }
}

fn tile(state: &str, n: usize, what: &str) -> Markup {
    html! { li { div { b { (n) } span.state { (mark(state)) (what) } } } }
}

fn tiles(report: &Report, tasks: &[TaskSummary], going: Option<&BatchSnapshot>) -> Markup {
    let it = &report.totals;
    let waiting = tasks.iter().filter(|it| it.line.is_none()).count();
    let running = going.map_or(0, |it| it.running.len());
    html! {
        ul.tiles {
            @for status in Status::ALL.iter().filter(|status| it.count(**status) > 0) {
                (tile(status.as_str(), it.count(*status), status.describe()))
            }
            @if going.is_some() {
                (tile("now", running, "running"))
                (tile("pending", waiting.saturating_sub(running), "waiting"))
            }
            @if it.not_started > 0 { (tile("pending", it.not_started, "not started")) }
            @if it.retries > 0 { li { div { b { (it.retries) } span { "tried again" } } } }
            @if it.model.calls > 0 { li { div { b { (it.model.calls) } span { "calls of a model" } } } }
        }
    }
}

fn reasons(report: &Report) -> Markup {
    let mut all: Vec<(Status, &String, usize)> = report
        .totals
        .outcomes
        .iter()
        .flat_map(|(status, by)| by.iter().map(|(why, n)| (*status, why, *n)))
        .filter(|it| it.0 != Status::Verified)
        .collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.2));
    if all.is_empty() {
        return html! { p.soft { "All that ended did." } };
    }
    scrollable(
        "Reasons",
        &html! {
            table {
                (head(&[">tasks", "status", "reason or error code"]))
                tbody {
                    @for (status, why, n) in all {
                        tr {
                            td.n { (n) }
                            td { (status_label(status)) }
                            td { a href="#all" data-why=(why) data-status=(status.as_str()) { code { (why) } } }
                        }
                    }
                }
            }
        },
    )
}

fn hosts(tasks: &[TaskSummary]) -> Markup {
    let mut by: BTreeMap<&str, (usize, i64, usize)> = BTreeMap::new();
    for it in tasks.iter().filter(|it| !it.spans.is_empty()) {
        let at = by.entry(it.row.host.as_deref().unwrap_or("from a HAR")).or_default();
        at.0 += 1;
        at.1 += it.work_ms();
        at.2 += usize::from(it.row.status == Status::Failed);
    }
    let mut all: Vec<_> = by.into_iter().collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.1.1 / it.1.0.max(1) as i64));
    scrollable(
        "Slowest hosts",
        &html! {
            table {
                (head(&["host", ">tasks", ">for each", ">together", ">failed"]))
                tbody {
                    @for (host, (n, ms, failed)) in all.into_iter().take(SLOWEST) {
                        tr { td { (host) } td.n { (n) } td.n { (format_duration(ms / n.max(1) as i64)) } td.n { (format_duration(ms)) } td.n { (failed) } }
                    }
                }
            }
        },
    )
}

fn slowest(tasks: &[TaskSummary]) -> Markup {
    let mut all: Vec<&TaskSummary> = tasks.iter().filter(|it| !it.spans.is_empty()).collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.total_ms()));
    let longest = |it: &TaskSummary| {
        it.spans
            .iter()
            .max_by_key(|it| it.ended_ms - it.began_ms)
            .map(|it| format!("{} ({})", it.stage, format_duration(it.ended_ms - it.began_ms)))
            .unwrap_or_default()
    };
    scrollable(
        "Slowest tasks",
        &html! {
            table {
                (head(&["task", ">took", "longest stage", "ended"]))
                tbody {
                    @for it in all.into_iter().take(SLOWEST) {
                        tr { td { (task_link(it)) } td.n { (format_duration(it.total_ms())) } td { (longest(it)) } td { (status_label(it.status())) } }
                    }
                }
            }
        },
    )
}

fn filter() -> Markup {
    html! {
        p.filter {
            input #text type="search" placeholder="name, reason, text" aria-label="text in a task";
            select #status aria-label="how tasks ended" {
                option value="" { "all" }
                @for it in Status::ALL.iter().filter(|it| !it.is_under_way()) { option value=(it.as_str()) { (it.describe()) } }
            }
            button #reset type="button" { "show all" }
            span #count.soft {}
        }
    }
}

/// A line that opens: why it ended so, where its time went, and how to look closer.
fn task_details(it: &TaskSummary, going: Option<&BatchSnapshot>) -> Markup {
    let id = &it.row.task_id;
    let Some(line) = &it.line else {
        let runs = going.is_some_and(|it| it.running.contains_key(id));
        let (state, text) = match going {
            Some(_) if runs => ("now", "running"),
            Some(_) => ("pending", "waiting"),
            None => ("pending", "not started"),
        };
        return html! {
            details.task id=(anchor(id)) data-status="pending" data-why="" {
                summary { span.name { (clip(&it.row.name, 120)) } span.state { (mark(state)) (text) } span {} span.n {} }
                @if let Some(host) = &it.row.host { p.soft { (host) } }
            }
        };
    };
    let why = line.error_code.as_deref().or(line.reason.as_deref()).unwrap_or_default();
    let told = line.error.as_deref().or(line.detail.as_deref());
    let last = it.spans.iter().map(|it| it.attempt).max();
    let stages = it.spans.iter().filter(|it| Some(it.attempt) == last);
    html! {
        details.task id=(anchor(id)) data-status=(it.row.status.as_str()) data-why=(why) {
            summary {
                span.name { (clip(&line.name, 120)) }
                span { (status_label(it.row.status)) }
                span { code { (why) } }
                span.n { @if it.spans.is_empty() { span.soft { "earlier" } } @else { (format_duration(it.total_ms())) } }
            }
            @if let Some(way) = &it.page { p { a href=(way) { "its page: candidates, replays, the request and the recipe" } } }
            @if let Some(text) = told { p { (clip(text, MAX_TEXT)) } }
            @if let Some(hint) = &line.hint { p.soft { (clip(hint, MAX_TEXT)) } }
            @if let Some((failure, picture)) = &it.seen { (failure_details(failure, picture.as_deref())) }
            @if line.live_values_lost { p.soft { "recorded again: LIVE_VALUES_LOST" } }
            dl.facts {
                @if let Some(host) = &it.row.host { dt { "host" } dd { (host) } }
                @if let Some(by) = &line.transport { dt { "transport" } dd { (by) } }
                @if !it.spans.is_empty() {
                    dt { "stages" }
                    dd {
                        @for (i, span) in stages.enumerate() {
                            @if i > 0 { ", " }
                            (span.stage) " " (format_duration(span.ended_ms - span.began_ms))
                        }
                    }
                }
                dt { "closer" } dd { code { "commis recipe debug --task-id " (id) } }
                @if let Some(folder) = &line.artifacts { dt { "artifacts" } dd { code { (folder.display()) } } }
            }
        }
    }
}

fn failure_details(failure: &Failure, picture: Option<&Path>) -> Markup {
    let picture = picture.and_then(|it| Url::from_file_path(it).ok());
    html! {
        @if let Some(url) = picture { p { a href=(url) { "picture of the page" } } }
        details {
            summary { "what step " (failure.step) " of " (failure.steps) " saw" }
            @for (head, lines) in failure.describe_lines(MAX_LINES) {
                b { (head) }
                ul { @for it in lines { li { (clip(&it, MAX_TEXT)) } } }
            }
            @if let Some(why) = &failure.no_picture { p.soft { "no picture: " (clip(why, MAX_TEXT)) } }
        }
    }
}

/// Each attempt that failed, and in which stage.
fn retry_table(tasks: &[&TaskSummary]) -> Markup {
    scrollable(
        "Tried again",
        &html! {
            table {
                (head(&["task", ">attempts", "those that failed", "ended"]))
                tbody {
                    @for it in tasks.iter().take(MAX_AGAIN) {
                        tr {
                            td { (task_link(it)) }
                            td.n { (it.row.attempts) }
                            td {
                                @for (i, span) in it.spans.iter().filter(|it| it.failed.is_some()).enumerate() {
                                    @if i > 0 { ", " }
                                    code { (span.failed.as_deref().unwrap_or_default()) }
                                    " in " (span.stage) " after " (format_duration(span.ended_ms - span.began_ms))
                                }
                            }
                            td { (status_label(it.status())) }
                        }
                    }
                    @if tasks.len() > MAX_AGAIN {
                        tr { td.soft colspan="4" { "and " (tasks.len() - MAX_AGAIN) " more" } }
                    }
                }
            }
        },
    )
}

/// The task's name, which leads to its line.
fn task_link(it: &TaskSummary) -> Markup {
    let id = anchor(&it.row.task_id);
    html! { a href={ "#" (id) } data-task=(id) { (clip(&it.row.name, 120)) } }
}

fn anchor(task: &str) -> String {
    format!("task-{task}")
}

fn status_label(status: Status) -> Markup {
    html! { span.state { (mark(status.as_str())) (status.as_str()) } }
}
