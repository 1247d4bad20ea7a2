//! The page of a batch that a person reads in the morning: one file, no network, no script.
//!
//! The policy in the page allows its own style sheet by its hash and nothing else. Links lead to folders on this machine.

use std::{collections::BTreeMap, io};

use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::report::{Line, Report};
use crate::{
    error::Result,
    state::{Span, Status, TaskRow},
};

const STYLE: &str = include_str!("page/style.css");
/// Up to so many tasks have a bar of their own in the timeline.
const MAX_BARS: usize = 120;
/// Hosts and tasks in the lists of the slowest.
const SLOWEST: usize = 10;
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 190.0;

/// A task as the database and its line of the report tell it.
struct Told {
    row: TaskRow,
    line: Line,
    spans: Vec<Span>,
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
            tasks.push(Told { row, line, spans });
        }
    }
    Ok(whole(report, &tasks).into_string())
}

/// [`page`] into a file that is being written.
pub fn write(report: &Report, to: &mut dyn io::Write) -> io::Result<()> {
    to.write_all(page(report).map_err(io::Error::other)?.as_bytes())
}

fn whole(report: &Report, tasks: &[Told]) -> Markup {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{hash}'"
    );
    let it = &report.totals;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "commis: " (it.manifest) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Batch " (it.manifest) }
                p.soft { (headline(report, tasks)) }
                (tiles(report))
                @if let Some(code) = it.stopped_by {
                    p { b { "The batch was stopped by " code { (code) } "." } " The same command with --resume goes on." }
                }
                h2 { "Why tasks did not end in a verified recipe" }
                (reasons(report))
                h2 { "Timeline" }
                @if tasks.iter().any(|it| !it.spans.is_empty()) { (timeline(tasks)) } @else { p.soft { "Nothing was done." } }
                h2 { "Slowest hosts" }
                (hosts(tasks))
                h2 { "Slowest tasks" }
                (slowest(tasks))
                @let again: Vec<&Told> = tasks.iter().filter(|it| it.row.attempts > 1).collect();
                @if !again.is_empty() {
                    h2 { "Tried again" }
                    table {
                        tr { th { "task" } th.n { "attempts" } th { "ended" } }
                        @for it in again.iter().take(100) {
                            tr { td { (name(it)) } td.n { (it.row.attempts) } td { (ending(it)) } }
                        }
                    }
                }
                h2 { "All tasks" }
                @let is_open = tasks.len() <= MAX_BARS;
                details open[is_open] {
                    summary { (tasks.len()) " tasks, in the order of the manifest" }
                    div.wide { (all(tasks)) }
                }
            }
        }
    }
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
                    tr { td.n { (n) } td { (dot(status)) (status.as_str()) } td { code { (why) } } }
                }
            }
        }
    }
}

/// What a stage spends its time on.
fn class_of(stage: &str) -> &'static str {
    match stage {
        "record" | "record_second" => "f-record",
        "validate" | "minimize" | "verify" => "f-replay",
        _ => "f-think",
    }
}

fn timeline(tasks: &[Told]) -> Markup {
    let from = tasks.iter().flat_map(|it| &it.spans).map(|it| it.began_ms).min().unwrap_or(0);
    let to = tasks.iter().flat_map(|it| &it.spans).map(|it| it.ended_ms).max().unwrap_or(1);
    let worked: Vec<&Told> = tasks.iter().filter(|it| !it.spans.is_empty()).collect();
    let keys = [("f-record", "recording"), ("f-replay", "replaying"), ("f-think", "deciding")];
    html! {
        @if worked.len() <= MAX_BARS {
            p { @for (class, what) in keys { (key(class, what)) } }
            (bars(&worked, from, to))
        } @else {
            p { @for it in Status::ALL.iter().skip(3) { (key(&format!("f-{}", it.as_str()), it.told())) } }
            (ends(&worked, from, to))
        }
    }
}

fn key(class: &str, what: &str) -> Markup {
    html! { span.key { svg.swatch viewBox="0 0 10 10" { rect class=(class) width="10" height="10" {} } (what) } }
}

/// A bar for each task.
fn bars(tasks: &[&Told], from: i64, to: i64) -> Markup {
    const ROW: f64 = 16.0;
    let height = tasks.len() as f64 * ROW + 24.0;
    let x = |at: i64| LEFT + (at - from) as f64 / (to - from).max(1) as f64 * (WIDTH - LEFT - 30.0);
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="when each task was worked on" {
            (axis(from, to, height, &x))
            @for (i, it) in tasks.iter().enumerate() {
                @let y = i as f64 * ROW + 4.0;
                text.end x=(LEFT - 8.0) y=(y + 9.0) { (it.line.name.chars().take(30).collect::<String>()) }
                @for span in &it.spans {
                    rect class=(class_of(&span.stage)) x=(rounded(x(span.began_ms))) y=(y)
                        width=(rounded((x(span.ended_ms) - x(span.began_ms)).max(1.0))) height="10" {
                        title { (it.line.name) ": " (span.stage) ", " (time(span.ended_ms - span.began_ms)) }
                    }
                }
            }
        }
    }
}

/// How many tasks ended in each hundredth of the time, by how.
fn ends(tasks: &[&Told], from: i64, to: i64) -> Markup {
    const PARTS: usize = 100;
    const HEIGHT: f64 = 200.0;
    let mut parts = vec![BTreeMap::<Status, usize>::new(); PARTS];
    for it in tasks {
        let ended = it.spans.iter().map(|it| it.ended_ms).max().unwrap_or(from);
        let part = ((ended - from) as f64 / (to - from).max(1) as f64 * PARTS as f64) as usize;
        *parts[part.min(PARTS - 1)].entry(it.row.status).or_default() += 1;
    }
    let most = parts.iter().map(|it| it.values().sum::<usize>()).max().unwrap_or(1).max(1);
    let left = 40.0;
    let x = |at: i64| left + (at - from) as f64 / (to - from).max(1) as f64 * (WIDTH - left - 30.0);
    let wide = (WIDTH - left - 30.0) / PARTS as f64;
    let tall = HEIGHT - 40.0;
    let mut stacks = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let mut top = HEIGHT - 24.0;
        for (status, n) in part {
            let height = *n as f64 / most as f64 * tall;
            top -= height;
            stacks.push((status, left + i as f64 * wide, top, height));
        }
    }
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="when tasks ended" {
            (axis(from, to, HEIGHT, &x))
            text.end x=(left - 6.0) y="20" { (most) }
            @for (status, x, y, height) in stacks {
                rect class=(format!("f-{}", status.as_str())) x=(rounded(x)) y=(rounded(y)) width=(rounded(wide - 1.0)) height=(rounded(height)) {}
            }
        }
    }
}

fn axis(from: i64, to: i64, height: f64, x: &dyn Fn(i64) -> f64) -> Markup {
    let step = step(to - from);
    let marks = (0..=((to - from) / step)).map(|it| it * step);
    html! {
        @for at in marks {
            line.grid x1=(rounded(x(from + at))) x2=(rounded(x(from + at))) y1="0" y2=(height - 20.0) {}
            text.mid x=(rounded(x(from + at))) y=(height - 6.0) { (time(at)) }
        }
    }
}

/// Between two marks, so that there are at most ten.
fn step(span_ms: i64) -> i64 {
    const STEPS: &[i64] = &[100, 500, 1000, 5000, 15_000, 60_000, 300_000, 900_000, 3_600_000];
    STEPS.iter().copied().find(|it| span_ms / it <= 10).unwrap_or((span_ms / 10).max(1))
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

fn all(tasks: &[Told]) -> Markup {
    html! {
        table {
            tr { th { "task" } th { "ended" } th { "why" } th.n { "took" } th { "transport" } }
            @for it in tasks {
                tr {
                    td { (name(it)) }
                    td { (ending(it)) }
                    td.why {
                        @if let Some(code) = &it.line.error_code { code { (code) } " " (it.line.error.as_deref().unwrap_or_default()) }
                        @if let Some(reason) = &it.line.reason { code { (reason) } " " (it.line.detail.as_deref().unwrap_or_default()) }
                        @if let Some(hint) = &it.line.hint { br; span.soft { (hint) } }
                        @if it.line.live_values_lost { br; span.soft { "recorded again: LIVE_VALUES_LOST" } }
                    }
                    td.n { @if it.spans.is_empty() { span.soft { "earlier" } } @else { (time(it.took_ms())) } }
                    td { (it.line.transport.as_deref().unwrap_or_default()) }
                }
            }
        }
    }
}

/// The task's name, a link to its artifacts where there are some.
fn name(it: &Told) -> Markup {
    let link = it.line.artifacts.as_ref().and_then(|it| Url::from_directory_path(it).ok());
    html! {
        @match link {
            Some(url) => a href=(url) { (it.line.name) },
            None => (it.line.name),
        }
    }
}

fn ending(it: &Told) -> Markup {
    html! { (dot(it.row.status)) (it.row.status.as_str()) }
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
}

fn rounded(it: f64) -> f64 {
    (it * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_do() {
        for (ms, text) in
            [(340, "340 ms"), (12_500, "12.5 s"), (200_000, "3 min 20 s"), (7_500_000, "2 h 5 min")]
        {
            assert_eq!(time(ms), text);
        }
    }

    #[test]
    fn an_axis_has_a_few_marks() {
        for span in [1, 900, 12_000, 70_000, 3_000_000, 80_000_000] {
            assert!((0..=10).contains(&(span / step(span))), "{span}");
        }
    }
}
