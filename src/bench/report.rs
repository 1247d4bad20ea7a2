//! The page of a bench that a person reads: one file, no network, no script.
//!
//! The policy in the page allows its own style sheet by its hash and nothing else, not even a style attribute.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::{
    Benchmark, Measured, Slower,
    figures::{Quantiles, Sample, Stages},
};

const STYLE: &str = include_str!("report/style.css");
const STAGES: [&str; 8] =
    ["validate", "dns", "connect", "ttfb", "download", "extract", "shape", "rest"];

/// The page as HTML.
pub fn page(done: &Benchmark) -> String {
    let body = html! {
        h1 { "What a run costs beside its floor" }
        p.soft {
            "commis " (done.version) ", " (done.profile) " build. The floor is the same bytes through the same pooled \
             client with no policy, no template and no extraction; the arms took turns."
        }
        @if let Some(slower) = &done.slower { (changes(slower)) }
        h2 { "Figures" }
        div.wide { (figures(&done.scenarios)) }
        h2 { "How long runs took" }
        p {
            @for (class, what) in [("floor", "floor"), ("parse", "floor and one parse"), ("run", "recipe")] {
                span.key { svg viewBox="0 0 22 6" { line class=(class) x1="0" y1="3" x2="22" y2="3" {} } (what) }
            }
        }
        div.plots { @for it in &done.scenarios { (plot(it)) } }
        h2 { "Where a run's time goes" }
        p {
            @for (i, name) in STAGES.iter().enumerate() {
                span.key { svg.swatch viewBox="0 0 10 10" { rect class={ "s" (i) } width="10" height="10" {} } (name) }
            }
        }
        div.wide { (stages(&done.scenarios)) }
    };
    crate::page::page("commis bench", STYLE, None, &body)
}

fn changes(slower: &[Slower]) -> Markup {
    html! {
        h2 { "Beside the baseline" }
        @if slower.is_empty() {
            p { span.yes { "✓" } " Nothing is slower than the baseline and its tolerance allow." }
        } @else {
            table {
                tr { th { "scenario" } th { "what" } th.n { "was" } th.n { "now" } th.n { "allowed" } }
                @for it in slower {
                    tr {
                        td { (it.scenario) }
                        td { (it.what) }
                        td.n { @if let Some(was) = it.was { (format!("{was:.2}")) } }
                        td.n { span.no { (format!("{:.2}", it.now)) } }
                        td.n { (format!("{:.2}", it.allowed)) }
                    }
                }
            }
        }
    }
}

fn figures(all: &[Measured]) -> Markup {
    let three = |it: Quantiles| format!("{:.0} / {:.0} / {:.0}", it.p50, it.p95, it.p99);
    html! {
        table {
            tr {
                th { "scenario" } th.n { "runs" } th.n { "recipe, µs: p50 / p95 / p99" } th.n { "floor" } th.n { "floor and parse" }
                th.n { "to floor" } th.n { "to both" } th.n { "CPU, µs: recipe, floor" } th.n { "allocations" }
            }
            @for it in all {
                tr {
                    td { (it.scenario) }
                    td.n { (it.runs) }
                    td.n { (three(it.wall_us.run)) }
                    td.n { (three(it.wall_us.floor)) }
                    td.n { (three(it.wall_us.parse)) }
                    td.n { (format!("{:.2}", it.to_floor.p50)) }
                    td.n { (format!("{:.2}", it.to_parse.p50)) }
                    td.n { (format!("{:.0}, {:.0}", it.cpu_us.run.p50, it.cpu_us.floor.p50)) }
                    td.n {
                        @if let Some(it) = it.allocations { (it.run.allocations) ", " (it.floor.allocations) } @else { "–" }
                    }
                }
            }
        }
    }
}

/// The share of runs that took at most so long, by arm, over a logarithmic axis.
fn plot(it: &Measured) -> Markup {
    const WIDTH: f64 = 560.0;
    const HEIGHT: f64 = 190.0;
    const LEFT: f64 = 36.0;
    let arms = [
        ("floor", sorted(&it.figures.floor)),
        ("parse", sorted(&it.figures.parse)),
        ("run", sorted(&it.figures.run)),
    ];
    let ends = arms.iter().flat_map(|(_, all)| [all.first(), all.last()]).flatten();
    let (low, high) = ends.fold((f64::MAX, 1.0_f64), |(a, b), it| (a.min(*it), b.max(*it)));
    let (from, to) = (low.max(1.0).log10().min(6.0), high.log10());
    let x = |us: f64| {
        LEFT + (us.max(1.0).log10() - from) / (to - from).max(0.01) * (WIDTH - LEFT - 12.0)
    };
    let y = |share: f64| 12.0 + (1.0 - share) * (HEIGHT - 36.0);
    let marks = (0..8).flat_map(|tens| [1.0, 2.0, 5.0].map(|it| it * 10_f64.powi(tens)));
    html! {
        figure {
            figcaption { b { (it.scenario) } " " span.soft { (it.what) } }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("{}: recipe {} µs at p50", it.scenario, it.wall_us.run.p50)) {
                @for share in [0.0, 0.5, 0.95] {
                    line.grid x1=(LEFT) x2=(WIDTH) y1=(y(share)) y2=(y(share)) {}
                    text.end x=(LEFT - 6.0) y=(y(share) + 4.0) { (format!("{:.0}%", share * 100.0)) }
                }
                @for us in marks.filter(|it| (low..=high).contains(it)) {
                    line.grid x1=(rounded(x(us))) x2=(rounded(x(us))) y1="12" y2=(y(0.0)) {}
                    text.mid x=(rounded(x(us))) y=(HEIGHT - 8.0) { (time(us)) }
                }
                @for (class, all) in &arms { polyline class=(class) points=(line(all, &x, &y)) {} }
            }
        }
    }
}

fn sorted(samples: &[Sample]) -> Vec<f64> {
    let mut out: Vec<f64> = samples.iter().map(|it| it.wall_ns as f64 / 1000.0).collect();
    out.sort_unstable_by(f64::total_cmp);
    out
}

/// At most a hundred points.
fn line(all: &[f64], x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
    let step = all.len().div_ceil(100).max(1);
    let mut out = String::new();
    for (i, us) in all.iter().enumerate() {
        if i % step == 0 || i + 1 == all.len() {
            let share = (i + 1) as f64 / all.len() as f64;
            // Writing to a string does not fail.
            let _ = write!(out, "{},{} ", rounded(x(*us)), rounded(y(share)));
        }
    }
    out
}

fn stages(all: &[Measured]) -> Markup {
    html! {
        table {
            tr { th { "scenario" } th { "share" } @for name in STAGES { th.n { (name) ", µs" } } th.n { "reused connections" } th.n { "compiled before" } }
            @for it in all {
                @let parts = parts(it.stages_us);
                tr {
                    td { (it.scenario) }
                    td { (bar(&parts)) }
                    @for us in parts { td.n { (format!("{us:.1}")) } }
                    td.n { (it.reused_connections) " of " (it.runs) }
                    td.n { (it.compiled_before) " of " (it.runs) }
                }
            }
        }
    }
}

fn parts(it: Stages) -> [f64; 8] {
    [it.validate, it.dns, it.connect, it.ttfb, it.download, it.extract, it.shape, it.rest]
}

fn bar(parts: &[f64; 8]) -> Markup {
    let whole: f64 = parts.iter().map(|it| it.max(0.0)).sum();
    let mut at = 0.0;
    let mut spans = Vec::new();
    for us in parts {
        let wide = us.max(0.0) / whole.max(0.001) * 200.0;
        spans.push((at, wide));
        at += wide;
    }
    html! {
        svg viewBox="0 0 200 12" role="img" aria-label="share of each stage" {
            @for (i, (at, wide)) in spans.into_iter().enumerate() {
                rect class={ "s" (i) } x=(rounded(at)) y="1" width=(rounded(wide)) height="10" {}
            }
        }
    }
}

fn time(us: f64) -> String {
    if us < 1000.0 { format!("{us:.0}µs") } else { format!("{:.0}ms", us / 1000.0) }
}

fn rounded(it: f64) -> f64 {
    (it * 10.0).round() / 10.0
}
