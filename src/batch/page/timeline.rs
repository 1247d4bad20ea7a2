//! When what was done: a bar for each task, or, where they are too many for that, how many were at work and how many ended.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{MAX_BARS, TaskSummary};
use commis_base::error::Code;
use commis_report::{
    clip, format_duration, plain,
    plot::{Fill, LegendKey, Scale, axis, legend, piece, round_tenth, times},
    scrollable,
};
use commis_state::{StageSpan, Status};

const WIDTH: f64 = 1000.0;
const RIGHT: f64 = 970.0;
/// Where the bars begin; their names stand before them.
const BARS: f64 = 190.0;
/// Where the parts begin; their scale stands before them.
const STACKS: f64 = 40.0;
const PARTS: usize = 100;

const RECORD: Fill = Fill("blue", 0);
const REPLAY: Fill = Fill("orange", 1);
const THINK: Fill = Fill("purple", 2);

/// What a stage spends its time on.
fn stage_fill(stage: &str) -> Fill {
    match stage {
        "record" | "record_second" => RECORD,
        "validate" | "minimize" | "verify" => REPLAY,
        _ => THINK,
    }
}

fn status_fill(status: Status) -> Fill {
    match status {
        Status::Verified => Fill("green", 0),
        Status::Draft => Fill("blue", 1),
        Status::NeedsSelection => Fill("orange", 2),
        Status::NonRecipeable => Fill("grey", 3),
        Status::Failed => Fill("red", 0),
        Status::Pending | Status::Recording | Status::Analyzing => Fill("navy", 0),
    }
}

fn scale(from: i64, to: i64, left: f64) -> Scale {
    Scale { from: from as f64, to: to as f64, left, right: RIGHT }
}

/// `now` is the end of what is still going on.
pub fn timeline(tasks: &[TaskSummary], now: Option<i64>) -> Markup {
    let spans = || tasks.iter().flat_map(|it| &it.spans);
    let from = spans().map(|it| it.began_ms).min().unwrap_or(0);
    let to = spans().map(|it| it.ended_ms).max().unwrap_or(1).max(now.unwrap_or(0));
    let worked: Vec<&TaskSummary> = tasks.iter().filter(|it| !it.spans.is_empty()).collect();
    let few = worked.len() <= MAX_BARS;
    let mut keys: Vec<(LegendKey, &str)> = Vec::new();
    if few {
        for (fill, what) in [(RECORD, "recording"), (REPLAY, "replaying"), (THINK, "deciding")] {
            keys.push((LegendKey::Piece(fill), what));
        }
        if spans().any(|it| it.failed.is_some()) {
            keys.push((LegendKey::Mark("failed"), "attempt that failed"));
        }
    } else {
        for it in Status::ALL.iter().filter(|it| worked.iter().any(|task| task.status() == **it)) {
            keys.push((LegendKey::Piece(status_fill(*it)), it.describe()));
        }
        keys.push((LegendKey::Course("course ink"), "tasks at work"));
    }
    if spans().any(is_broken) {
        keys.push((LegendKey::Course("course red d2"), "browser ended"));
    }
    let plot = if few {
        bars(&worked, &scale(from, to, BARS))
    } else {
        end_bars(&worked, &scale(from, to, STACKS))
    };
    html! {
        (scrollable("When what was done", &plot))
        (legend(&keys))
    }
}

/// The browser ended in the middle of it.
fn is_broken(span: &StageSpan) -> bool {
    span.failed.as_deref() == Some(Code::BrowserFailed.as_str())
}

/// Words below the plot, counted from its beginning.
fn marks(scale: &Scale, height: f64) -> Markup {
    let at = times((scale.to - scale.from) as i64)
        .map(|it| (scale.from + it as f64, format_duration(it)));
    axis(scale, at, 0.0, height - 20.0)
}

/// A line down through the plot wherever the browser ended; tasks that it took along make one.
fn breaks(tasks: &[&TaskSummary], scale: &Scale, height: f64) -> Markup {
    let broken = tasks.iter().flat_map(|it| &it.spans).filter(|it| is_broken(it));
    let after = |it: &StageSpan| it.ended_ms - scale.from as i64;
    let moments: BTreeMap<i64, i64> = broken.map(|it| (after(it) / 1000, after(it))).collect();
    html! {
        @for at in moments.into_values() {
            @let x = scale.x(scale.from + at as f64);
            line.course.red.d2 x1=(x) x2=(x) y1="0" y2=(height - 20.0) { title { "the browser ended after " (format_duration(at)) } }
        }
    }
}

/// A bar for each task.
fn bars(tasks: &[&TaskSummary], scale: &Scale) -> Markup {
    const ROW: f64 = 16.0;
    let height = tasks.len() as f64 * ROW + 24.0;
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="when each task was worked on" {
            (marks(scale, height))
            (breaks(tasks, scale, height))
            @for (i, it) in tasks.iter().enumerate() {
                @let y = i as f64 * ROW + 4.0;
                text.end x=(scale.left - 8.0) y=(y + 9.0) { (clip(&plain(&it.row.name), 30)) }
                @for span in &it.spans {
                    @let (from, to) = (scale.x(span.began_ms as f64), scale.x(span.ended_ms as f64));
                    @let title = format!("{}: {}, {}", it.row.name, span.stage, format_duration(span.ended_ms - span.began_ms));
                    (piece(stage_fill(&span.stage), [from, y, (to - from - 0.6).max(0.8), 10.0], &title))
                    @if let Some(code) = &span.failed {
                        path.course.red d=(format!("M{} {}l8 8m0 -8l-8 8", round_tenth(to - 4.0), y + 1.0)) { title { (code) } }
                    }
                }
            }
        }
    }
}

/// For each hundredth of the time: how many tasks ended in it and how, and how many were at work.
fn end_bars(tasks: &[&TaskSummary], scale: &Scale) -> Markup {
    const HEIGHT: f64 = 200.0;
    let mut parts = vec![BTreeMap::<Status, usize>::new(); PARTS];
    for it in tasks.iter().filter(|it| it.line.is_some()) {
        let at = it.spans.iter().map(|it| it.ended_ms).max().unwrap_or_default();
        *parts[scale.part(at as f64, PARTS)].entry(it.status()).or_default() += 1;
    }
    let most = parts.iter().map(|it| it.values().sum::<usize>()).max().unwrap_or(1).max(1);
    let wide = (scale.right - scale.left) / PARTS as f64;
    let tall = HEIGHT - 40.0;
    let mut stacks = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let mut top = HEIGHT - 24.0;
        for (status, n) in part {
            let height = *n as f64 / most as f64 * tall;
            top -= height;
            let title = format!("{n} {}", status.describe());
            stacks.push((
                status_fill(*status),
                [scale.left + i as f64 * wide, top, wide - 1.0, (height - 0.6).max(0.6)],
                title,
            ));
        }
    }
    let work = running_counts(tasks.iter().flat_map(|it| &it.spans), scale);
    let busiest = work.iter().copied().fold(0.0, f64::max).max(1e-9);
    let line = work.iter().enumerate().map(|(i, n)| {
        let x = scale.left + (i as f64 + 0.5) * wide;
        format!("{},{}", round_tenth(x), round_tenth(HEIGHT - 24.0 - n / busiest * tall))
    });
    let line = line.collect::<Vec<_>>().join(" ");
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="when tasks ended, and how many were at work" {
            (marks(scale, HEIGHT))
            text.end x=(scale.left - 6.0) y="20" { (most) }
            @for (fill, place, title) in stacks { (piece(fill, place, &title)) }
            (breaks(tasks, scale, HEIGHT))
            polyline.course.ink points=(line) {}
            text x=(RIGHT + 4.0) y="20" { (format!("{busiest:.1}")) }
        }
    }
}

/// Tasks at work at once in each part of the time, on average.
fn running_counts<'a>(spans: impl Iterator<Item = &'a StageSpan>, scale: &Scale) -> Vec<f64> {
    let each = (scale.to - scale.from).max(1.0) / PARTS as f64;
    let mut out = vec![0.0; PARTS];
    for span in spans {
        let (began, ended) = (span.began_ms as f64, span.ended_ms as f64);
        let first = scale.part(began, PARTS);
        for (i, n) in (first..).zip(&mut out[first..=scale.part(ended, PARTS)]) {
            let (from, to) = (i as f64 * each, (i + 1) as f64 * each);
            let (began, ended) = ((began - scale.from).max(from), (ended - scale.from).min(to));
            *n += (ended - began).max(0.0) / each;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_where_it_was_done() {
        let span = |began_ms, ended_ms| StageSpan {
            task_id: "a-00000000".to_owned(),
            attempt: 1,
            stage: "record".to_owned(),
            began_ms,
            ended_ms,
            failed: None,
        };
        let scale = scale(1000, 2000, STACKS);
        let spans = [span(1000, 2000), span(1500, 2000), span(1005, 1010)];
        let work = running_counts(spans.iter(), &scale);
        assert!((work[0] - 1.5).abs() < 1e-9 && (work[49] - 1.0).abs() < 1e-9, "{work:?}");
        assert!((work[50] - 2.0).abs() < 1e-9 && (work[99] - 2.0).abs() < 1e-9, "{work:?}");
    }
}
