//! The page of a batch that a person reads in the morning: one file, no network. Without its script all is there, unfiltered.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use maud::{Markup, html};
use url::Url;

use super::report::{Line, Report};
use crate::{
    artifacts::failure::Failure,
    error::Result,
    ids::TaskId,
    state::{Span, Status, TaskRow},
};

mod timeline;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/filter.js");
/// Up to so many tasks have a bar of their own in the timeline.
const MAX_BARS: usize = 120;
/// Tasks in the list of those that were tried again.
const MAX_AGAIN: usize = 100;
/// Of each list of what a failing step saw.
const MAX_LINES: usize = 8;
/// Hosts and tasks in the lists of the slowest.
const SLOWEST: usize = 10;

/// A task as the database and its line of the report tell it.
struct Told {
    row: TaskRow,
    line: Line,
    spans: Vec<Span>,
    /// What a failing step saw, and its picture.
    seen: Option<(Failure, Option<PathBuf>)>,
}

impl Told {
    /// Milliseconds at work, all attempts together.
    fn work_ms(&self) -> i64 {
        self.spans.iter().map(|it| it.ended_ms - it.began_ms).sum()
    }

    fn took_ms(&self) -> i64 {
        let first = self.spans.iter().map(|it| it.began_ms).min();
        let last = self.spans.iter().map(|it| it.ended_ms).max();
        first.zip(last).map_or(0, |(a, b)| b - a)
    }
}

/// Writes the page. Fails with `ARTIFACT_IO` where the database cannot be read.
pub fn page(report: &Report) -> Result<String> {
    let mut spans: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    for it in report.state.spans(&report.totals.manifest)? {
        spans.entry(it.task_id.clone()).or_default().push(it);
    }
    let mut rows: BTreeMap<String, TaskRow> =
        report.state.tasks()?.into_iter().map(|it| (it.task_id.clone(), it)).collect();
    let mut tasks = Vec::new();
    for line in report.lines() {
        let line = line?;
        let spans = spans.remove(&line.task_id).unwrap_or_default();
        if let Some(row) = rows.remove(&line.task_id) {
            let seen =
                if row.status == Status::Failed { seen(report, &line.task_id) } else { None };
            tasks.push(Told { row, line, spans, seen });
        }
    }
    Ok(whole(report, &tasks))
}

/// A folder that cannot be read says nothing here: the page is about the batch.
fn seen(report: &Report, task: &str) -> Option<(Failure, Option<PathBuf>)> {
    let folder = report.store.peek(&TaskId::parse(task).ok()?).ok()??;
    folder.failure().ok()?
}

/// [`page`] into a file that is being written.
pub fn write(report: &Report, to: &mut dyn io::Write) -> io::Result<()> {
    to.write_all(page(report).map_err(io::Error::other)?.as_bytes())
}

fn whole(report: &Report, tasks: &[Told]) -> String {
    let it = &report.totals;
    let body = html! {
        h1 { "Batch " (it.manifest) }
        p.soft { (headline(report, tasks)) }
        (tiles(report))
        @if let Some(code) = it.stopped_by {
            p { b { "The batch was stopped by " code { (code) } "." } " The same command with --resume goes on." }
        }
        h2 { "Why tasks did not end in a verified recipe" }
        div.wide { (reasons(report)) }
        h2 { "Timeline" }
        @if tasks.iter().any(|it| !it.spans.is_empty()) { div.wide { (timeline::timeline(tasks)) } } @else { p.soft { "Nothing was done." } }
        h2 { "Slowest hosts" }
        div.wide { (hosts(tasks)) }
        h2 { "Slowest tasks" }
        div.wide { (slowest(tasks)) }
        @let again: Vec<&Told> = tasks.iter().filter(|it| it.row.attempts > 1).collect();
        @if !again.is_empty() {
            h2 { "Tried again" }
            div.wide { (again_table(&again)) }
        }
        h2 #all { "All tasks" }
        @let is_open = tasks.len() <= MAX_BARS;
        details #tasks open[is_open] {
            summary { (tasks.len()) " tasks, in the order of the manifest" }
            (filter())
            @for it in tasks { (task(it)) }
        }
    };
    crate::page::page(&format!("commis: {}", it.manifest), STYLE, Some(SCRIPT), &body)
}

fn headline(report: &Report, tasks: &[Told]) -> String {
    let began = tasks.iter().flat_map(|it| &it.spans).map(|it| it.began_ms).min();
    let ended = tasks.iter().flat_map(|it| &it.spans).map(|it| it.ended_ms).max();
    let when = began
        .and_then(|it| jiff::Timestamp::from_millisecond(it).ok())
        .map(|it| it.strftime("%Y-%m-%d %H:%M UTC").to_string())
        .unwrap_or_default();
    let took =
        began.zip(ended).map(|(a, b)| format!(", {} from the first to the last", time(b - a)));
    let state = if report.totals.interrupted { "; interrupted" } else { "" };
    format!("{when}{}{state}", took.unwrap_or_default())
}

fn tiles(report: &Report) -> Markup {
    let it = &report.totals;
    html! {
        ul.tiles {
            @for status in Status::ALL.iter().filter(|status| it.count(**status) > 0) {
                li class=(status.as_str()) { b { (it.count(*status)) } (status.told()) }
            }
            @if it.not_started > 0 { li { b { (it.not_started) } "not started" } }
            @if it.retries > 0 { li { b { (it.retries) } "tried again" } }
            @if it.model.calls > 0 { li { b { (it.model.calls) } "calls of a model" } }
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
    html! {
        @if all.is_empty() { p.soft { "All did." } } @else {
            table {
                tr { th.n { "tasks" } th { "status" } th { "reason or error code" } }
                @for (status, why, n) in all {
                    tr {
                        td.n { (n) }
                        td { (dot(status)) (status.as_str()) }
                        td { a href="#all" data-why=(why) data-status=(status.as_str()) { code { (why) } } }
                    }
                }
            }
        }
    }
}

fn hosts(tasks: &[Told]) -> Markup {
    let mut by: BTreeMap<&str, (usize, i64, usize)> = BTreeMap::new();
    for it in tasks.iter().filter(|it| !it.spans.is_empty()) {
        let at = by.entry(it.row.host.as_deref().unwrap_or("from a HAR")).or_default();
        at.0 += 1;
        at.1 += it.work_ms();
        at.2 += usize::from(it.row.status == Status::Failed);
    }
    let mut all: Vec<_> = by.into_iter().collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.1.1 / it.1.0.max(1) as i64));
    html! {
        table {
            tr { th { "host" } th.n { "tasks" } th.n { "for each" } th.n { "together" } th.n { "failed" } }
            @for (host, (n, ms, failed)) in all.into_iter().take(SLOWEST) {
                tr { td { (host) } td.n { (n) } td.n { (time(ms / n.max(1) as i64)) } td.n { (time(ms)) } td.n { (failed) } }
            }
        }
    }
}

fn slowest(tasks: &[Told]) -> Markup {
    let mut all: Vec<&Told> = tasks.iter().filter(|it| !it.spans.is_empty()).collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.took_ms()));
    let longest = |it: &Told| {
        it.spans
            .iter()
            .max_by_key(|it| it.ended_ms - it.began_ms)
            .map(|it| format!("{} ({})", it.stage, time(it.ended_ms - it.began_ms)))
            .unwrap_or_default()
    };
    html! {
        table {
            tr { th { "task" } th.n { "took" } th { "longest stage" } th { "ended" } }
            @for it in all.into_iter().take(SLOWEST) {
                tr { td { (name(it)) } td.n { (time(it.took_ms())) } td { (longest(it)) } td { (ending(it)) } }
            }
        }
    }
}

fn filter() -> Markup {
    html! {
        p.filter {
            input #text type="search" placeholder="name, reason, text" aria-label="text in a task";
            select #status aria-label="how tasks ended" {
                option value="" { "all" }
                @for it in Status::ALL { option value=(it.as_str()) { (it.told()) } }
            }
            button #reset type="button" { "show all" }
            span #count.soft {}
        }
    }
}

/// A line that opens: why it ended so, where its time went, and how to look closer.
fn task(it: &Told) -> Markup {
    let line = &it.line;
    let why = line.error_code.as_deref().or(line.reason.as_deref()).unwrap_or_default();
    let told = line.error.as_deref().or(line.detail.as_deref());
    let last = it.spans.iter().map(|it| it.attempt).max();
    let stages = it.spans.iter().filter(|it| Some(it.attempt) == last);
    html! {
        details.task id=(anchor(line)) data-status=(it.row.status.as_str()) data-why=(why) {
            summary {
                span.name { (line.name) }
                span { (ending(it)) }
                span { code { (why) } }
                span.n { @if it.spans.is_empty() { span.soft { "earlier" } } @else { (time(it.took_ms())) } }
            }
            @if let Some(text) = told { p { (text) } }
            @if let Some(hint) = &line.hint { p.soft { (hint) } }
            @if let Some((failure, picture)) = &it.seen { (what_was_seen(failure, picture.as_deref())) }
            @if line.live_values_lost { p.soft { "recorded again: LIVE_VALUES_LOST" } }
            dl {
                @if let Some(host) = &it.row.host { dt { "host" } dd { (host) } }
                @if let Some(by) = &line.transport { dt { "transport" } dd { (by) } }
                @if !it.spans.is_empty() {
                    dt { "stages" }
                    dd {
                        @for (i, span) in stages.enumerate() {
                            @if i > 0 { ", " }
                            (span.stage) " " (time(span.ended_ms - span.began_ms))
                        }
                    }
                }
                dt { "closer" } dd { code { "commis recipe debug --task-id " (line.task_id) } }
                @if let Some(folder) = &line.artifacts { dt { "artifacts" } dd { code { (folder.display()) } } }
            }
        }
    }
}

fn what_was_seen(failure: &Failure, picture: Option<&Path>) -> Markup {
    let picture = picture.and_then(|it| Url::from_file_path(it).ok());
    html! {
        @if let Some(url) = picture { p { a href=(url) { "picture of the page" } } }
        details {
            summary { "what step " (failure.step) " of " (failure.steps) " saw" }
            @for (head, lines) in failure.told(MAX_LINES) {
                b { (head) }
                ul { @for it in lines { li { (it) } } }
            }
            @if let Some(why) = &failure.no_picture { p.soft { "no picture: " (why) } }
        }
    }
}

/// Each attempt that failed, and in which stage.
fn again_table(tasks: &[&Told]) -> Markup {
    html! {
        table {
            tr { th { "task" } th.n { "attempts" } th { "those that failed" } th { "ended" } }
            @for it in tasks.iter().take(MAX_AGAIN) {
                tr {
                    td { (name(it)) }
                    td.n { (it.row.attempts) }
                    td {
                        @for (i, span) in it.spans.iter().filter(|it| it.failed.is_some()).enumerate() {
                            @if i > 0 { ", " }
                            code { (span.failed.as_deref().unwrap_or_default()) }
                            " in " (span.stage) " after " (time(span.ended_ms - span.began_ms))
                        }
                    }
                    td { (ending(it)) }
                }
            }
            @if tasks.len() > MAX_AGAIN {
                tr { td.soft colspan="4" { "and " (tasks.len() - MAX_AGAIN) " more" } }
            }
        }
    }
}

/// The task's name, which leads to its line.
fn name(it: &Told) -> Markup {
    let id = anchor(&it.line);
    html! { a href={ "#" (id) } data-task=(id) { (it.line.name) } }
}

fn anchor(line: &Line) -> String {
    format!("task-{}", line.task_id)
}

fn ending(it: &Told) -> Markup {
    html! { span.ending { (dot(it.row.status)) (it.row.status.as_str()) } }
}

fn dot(status: Status) -> Markup {
    html! { span class={ "dot " (status.as_str()) } {} }
}

/// `340 ms`, `12.5 s`, `3 min 20 s`, `2 h 5 min`
fn time(ms: i64) -> String {
    match ms {
        ..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{:.1} s", ms as f64 / 1000.0),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
    // A number stays with its unit.
    .replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_do() {
        for (ms, text) in
            [(340, "340 ms"), (12_500, "12.5 s"), (200_000, "3 min 20 s"), (7_500_000, "2 h 5 min")]
        {
            assert_eq!(time(ms).replace('\u{a0}', " "), text);
        }
    }
}
