//! When what was done: a bar for each task, or, where they are too many for that, how many were at work and how many ended.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{MAX_BARS, Told, time};
use crate::{
    error::Code,
    state::{Span, Status},
};

const WIDTH: f64 = 1000.0;
const RIGHT: f64 = 30.0;
/// Where the bars begin; their names stand before them.
const BARS: f64 = 190.0;
/// Where the parts begin; their scale stands before them.
const STACKS: f64 = 40.0;
const PARTS: usize = 100;

/// The time that is shown, and where it lies in the plot.
struct Scale {
    from: i64,
    to: i64,
    left: f64,
}

impl Scale {
    fn x(&self, at: i64) -> f64 {
        let part = (at - self.from) as f64 / (self.to - self.from).max(1) as f64;
        self.left + part * (WIDTH - self.left - RIGHT)
    }

    /// The part that a moment falls into.
    fn part(&self, at: i64) -> usize {
        let part = (at - self.from) as f64 / (self.to - self.from).max(1) as f64;
        ((part * PARTS as f64) as usize).min(PARTS - 1)
    }

    fn part_ms(&self) -> f64 {
        (self.to - self.from).max(1) as f64 / PARTS as f64
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

pub fn timeline(tasks: &[Told]) -> Markup {
    let spans = || tasks.iter().flat_map(|it| &it.spans);
    let from = spans().map(|it| it.began_ms).min().unwrap_or(0);
    let to = spans().map(|it| it.ended_ms).max().unwrap_or(1);
    let worked: Vec<&Told> = tasks.iter().filter(|it| !it.spans.is_empty()).collect();
    let keys = [("f-record", "recording"), ("f-replay", "replaying"), ("f-think", "deciding")];
    let broke = spans().any(is_broken);
    html! {
        p {
            @if worked.len() <= MAX_BARS {
                @for (class, what) in keys { (key(class, what)) }
                (key("f-failed", "attempt that failed"))
            } @else {
                @for it in Status::ALL.iter().filter(|it| worked.iter().any(|task| task.row.status == **it)) { (key(&format!("f-{}", it.as_str()), it.told())) }
                (key("f-work", "tasks at work"))
            }
            @if broke { (key("f-broke", "browser ended")) }
        }
        @if worked.len() <= MAX_BARS {
            (bars(&worked, &Scale { from, to, left: BARS }))
        } @else {
            (ends(&worked, &Scale { from, to, left: STACKS }))
        }
    }
}

fn key(class: &str, what: &str) -> Markup {
    html! { span.key { svg.swatch viewBox="0 0 10 10" { rect class=(class) width="10" height="10" {} } (what) } }
}

/// The browser ended in the middle of it.
fn is_broken(span: &Span) -> bool {
    span.failed.as_deref() == Some(Code::BrowserFailed.as_str())
}

/// A line down through the plot wherever the browser ended; tasks that it took along make one.
fn breaks(tasks: &[&Told], scale: &Scale, height: f64) -> Markup {
    let broken = tasks.iter().flat_map(|it| &it.spans).filter(|it| is_broken(it));
    let moments: BTreeMap<i64, i64> =
        broken.map(|it| ((it.ended_ms - scale.from) / 1000, it.ended_ms)).collect();
    html! {
        @for at in moments.into_values() {
            rect.f-broke x=(rounded(scale.x(at))) y="0" width="1.5" height=(height - 20.0) {
                title { "the browser ended after " (time(at - scale.from)) }
            }
        }
    }
}

/// A bar for each task.
fn bars(tasks: &[&Told], scale: &Scale) -> Markup {
    const ROW: f64 = 16.0;
    let height = tasks.len() as f64 * ROW + 24.0;
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="when each task was worked on" {
            (axis(scale, height))
            (breaks(tasks, scale, height))
            @for (i, it) in tasks.iter().enumerate() {
                @let y = i as f64 * ROW + 4.0;
                text.end x=(scale.left - 8.0) y=(y + 9.0) { (it.line.name.chars().take(30).collect::<String>()) }
                @for span in &it.spans {
                    @let (from, to) = (scale.x(span.began_ms), scale.x(span.ended_ms));
                    rect class=(class_of(&span.stage)) x=(rounded(from)) y=(y) width=(rounded((to - from).max(1.0))) height="10" {
                        title { (it.line.name) ": " (span.stage) ", " (time(span.ended_ms - span.began_ms)) }
                    }
                    @if let Some(code) = &span.failed {
                        rect.f-failed x=(rounded(to - 2.0)) y=(y - 2.0) width="3" height="14" { title { (code) } }
                    }
                }
            }
        }
    }
}

/// For each hundredth of the time: how many tasks ended in it and how, and how many were at work.
fn ends(tasks: &[&Told], scale: &Scale) -> Markup {
    const HEIGHT: f64 = 200.0;
    let mut parts = vec![BTreeMap::<Status, usize>::new(); PARTS];
    for it in tasks {
        let ended = it.spans.iter().map(|it| it.ended_ms).max().unwrap_or(scale.from);
        *parts[scale.part(ended)].entry(it.row.status).or_default() += 1;
    }
    let most = parts.iter().map(|it| it.values().sum::<usize>()).max().unwrap_or(1).max(1);
    let wide = (WIDTH - scale.left - RIGHT) / PARTS as f64;
    let tall = HEIGHT - 40.0;
    let mut stacks = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let mut top = HEIGHT - 24.0;
        for (status, n) in part {
            let height = *n as f64 / most as f64 * tall;
            top -= height;
            stacks.push((status, scale.left + i as f64 * wide, top, height));
        }
    }
    let work = at_work(tasks.iter().flat_map(|it| &it.spans), scale);
    let busiest = work.iter().copied().fold(0.0, f64::max).max(1e-9);
    let line = work.iter().enumerate().map(|(i, n)| {
        let x = scale.left + (i as f64 + 0.5) * wide;
        format!("{},{}", rounded(x), rounded(HEIGHT - 24.0 - n / busiest * tall))
    });
    let line = line.collect::<Vec<_>>().join(" ");
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="when tasks ended, and how many were at work" {
            (axis(scale, HEIGHT))
            text.end x=(scale.left - 6.0) y="20" { (most) }
            @for (status, x, y, height) in stacks {
                rect class=(format!("f-{}", status.as_str())) x=(rounded(x)) y=(rounded(y)) width=(rounded(wide - 1.0)) height=(rounded(height)) {}
            }
            (breaks(tasks, scale, HEIGHT))
            polyline.work points=(line) {}
            text x=(WIDTH - RIGHT + 4.0) y="20" { (format!("{busiest:.1}")) }
        }
    }
}

/// Tasks at work at once in each part of the time, on average.
fn at_work<'a>(spans: impl Iterator<Item = &'a Span>, scale: &Scale) -> Vec<f64> {
    let each = scale.part_ms();
    let mut out = vec![0.0; PARTS];
    for span in spans {
        for (i, n) in (scale.part(span.began_ms)..)
            .zip(&mut out[scale.part(span.began_ms)..=scale.part(span.ended_ms)])
        {
            let (from, to) = (i as f64 * each, (i + 1) as f64 * each);
            let began = ((span.began_ms - scale.from) as f64).max(from);
            let ended = ((span.ended_ms - scale.from) as f64).min(to);
            *n += (ended - began).max(0.0) / each;
        }
    }
    out
}

fn axis(scale: &Scale, height: f64) -> Markup {
    let span = scale.to - scale.from;
    let step = step(span);
    let marks = (0..=(span / step)).map(|it| it * step);
    html! {
        @for at in marks {
            @let x = rounded(scale.x(scale.from + at));
            line.grid x1=(x) x2=(x) y1="0" y2=(height - 20.0) {}
            text.mid x=(x) y=(height - 6.0) { (time(at)) }
        }
    }
}

/// Between two marks, so that there are at most ten.
fn step(span_ms: i64) -> i64 {
    const STEPS: &[i64] = &[100, 500, 1000, 5000, 15_000, 60_000, 300_000, 900_000, 3_600_000];
    STEPS.iter().copied().find(|it| span_ms / it <= 10).unwrap_or((span_ms / 10).max(1))
}

fn rounded(it: f64) -> f64 {
    (it * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_few_marks() {
        for span in [1, 900, 12_000, 70_000, 3_000_000, 80_000_000] {
            assert!((0..=10).contains(&(span / step(span))), "{span}");
        }
    }

    #[test]
    fn work_is_counted_where_it_was_done() {
        let span = |began_ms, ended_ms| Span {
            task_id: "a-00000000".to_owned(),
            attempt: 1,
            stage: "record".to_owned(),
            began_ms,
            ended_ms,
            failed: None,
        };
        let scale = Scale { from: 1000, to: 2000, left: STACKS };
        let spans = [span(1000, 2000), span(1500, 2000), span(1005, 1010)];
        let work = at_work(spans.iter(), &scale);
        assert!((work[0] - 1.5).abs() < 1e-9 && (work[49] - 1.0).abs() < 1e-9, "{work:?}");
        assert!((work[50] - 2.0).abs() < 1e-9 && (work[99] - 2.0).abs() < 1e-9, "{work:?}");
    }
}
