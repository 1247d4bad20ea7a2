//! The page of a bench that a person reads: one file, no network, no script.
//!
//! The policy in the page allows its own style sheet by its hash and nothing else, not even a style attribute.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::{
    Benchmark, Regression, ScenarioResult,
    stats::{Quantiles, Sample, Stages},
};
use commis_report::{
    Page, head,
    plot::{Fill, LegendKey, Scale, axis, legend, round_tenth, stack},
    scrollable,
};

const STYLE: &str = include_str!("report/style.css");
const STAGES: [&str; 8] =
    ["validate", "dns", "connect", "ttfb", "download", "extract", "shape", "rest"];

/// Class and words of each arm's line.
const ARMS: [(&str, &str); 3] = [
    ("course ink d2", "floor"),
    ("course blue d1", "floor and one parse"),
    ("course orange", "recipe"),
];

/// The page as HTML.
pub fn page(done: &Benchmark) -> String {
    let keys: Vec<_> =
        STAGES.iter().enumerate().map(|(i, it)| (LegendKey::Piece(Fill::nth(i)), *it)).collect();
    let body = html! {
        h1 { "What a run costs beside its floor" }
        p.soft {
            "commis " (done.version) ", " (done.profile) " build. The floor is the same bytes through the same pooled \
             client with no policy, no template and no extraction; the arms took turns."
        }
        @if let Some(slower) = &done.slower { (changes(slower)) }
        h2 { "Figures" }
        (figures(&done.scenarios))
        h2 { "How long runs took" }
        p.soft { "The share of runs that took at most so long; the further left a line is, the faster." }
        (legend(&ARMS.map(|(class, what)| (LegendKey::Course(class), what))))
        div.plots { @for it in &done.scenarios { (plot(it)) } }
        h2 { "Where a run's time goes" }
        (legend(&keys))
        (stages(&done.scenarios))
    };
    Page { title: "commis bench", style: STYLE, ..Page::default() }.render(&body)
}

fn changes(slower: &[Regression]) -> Markup {
    html! {
        h2 { "Beside the baseline" }
        @if slower.is_empty() {
            p { span.yes { "✓" } " Nothing is slower than the baseline and its tolerance allow." }
        } @else {
            (scrollable("Beside the baseline", &html! {
                table {
                    (head(&["scenario", "what", ">was", ">now", ">allowed"]))
                    tbody {
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
            }))
        }
    }
}

fn figures(all: &[ScenarioResult]) -> Markup {
    let three = |it: Quantiles| format!("{:.0} / {:.0} / {:.0}", it.p50, it.p95, it.p99);
    scrollable(
        "Figures",
        &html! {
            table {
                (head(&[
                    "scenario", ">runs", ">recipe, µs: p50 / p95 / p99", ">floor", ">floor and parse", ">to floor", ">to both",
                    ">CPU, µs: recipe, floor", ">allocations",
                ]))
                tbody {
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
        },
    )
}

/// The share of runs that took at most so long, by arm, over a logarithmic axis.
fn plot(it: &ScenarioResult) -> Markup {
    const WIDTH: f64 = 560.0;
    const HEIGHT: f64 = 190.0;
    const LEFT: f64 = 36.0;
    let arms = [&it.figures.floor, &it.figures.parse, &it.figures.run].map(|it| sorted(it));
    let ends = arms.iter().flat_map(|all| [all.first(), all.last()]).flatten();
    let (low, high) = ends.fold((f64::MAX, 1.0_f64), |(a, b), it| (a.min(*it), b.max(*it)));
    let scale = Scale {
        from: low.max(1.0).log10().min(6.0),
        to: high.log10().max(low.max(1.0).log10().min(6.0) + 0.01),
        left: LEFT,
        right: WIDTH - 12.0,
    };
    let y = |share: f64| 12.0 + (1.0 - share) * (HEIGHT - 36.0);
    let marks = (0..8).flat_map(|tens| [1.0, 2.0, 5.0].map(|it| it * 10_f64.powi(tens)));
    let marks = marks.filter(|it| (low..=high).contains(it)).map(|us| (us.log10(), time(us)));
    html! {
        figure {
            figcaption { b { (it.scenario) } " " span.soft { (it.what) } }
            svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("{}: recipe {} µs at p50", it.scenario, it.wall_us.run.p50)) {
                @for share in [0.0, 0.5, 0.95] {
                    line.grid x1=(LEFT) x2=(WIDTH) y1=(round_tenth(y(share))) y2=(round_tenth(y(share))) {}
                    text.end x=(LEFT - 6.0) y=(round_tenth(y(share) + 4.0)) { (format!("{:.0}%", share * 100.0)) }
                }
                (axis(&scale, marks, 12.0, y(0.0)))
                @for ((class, _), all) in ARMS.iter().zip(&arms) { polyline class=(class) points=(line(all, &scale, &y)) {} }
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
fn line(all: &[f64], scale: &Scale, y: &dyn Fn(f64) -> f64) -> String {
    let step = all.len().div_ceil(100).max(1);
    let mut out = String::new();
    for (i, us) in all.iter().enumerate() {
        if i % step == 0 || i + 1 == all.len() {
            let share = (i + 1) as f64 / all.len() as f64;
            // Writing to a string does not fail.
            let _ = write!(out, "{},{} ", scale.x(us.max(1.0).log10()), round_tenth(y(share)));
        }
    }
    out
}

fn stages(all: &[ScenarioResult]) -> Markup {
    let mut names = vec!["scenario".to_owned(), "share".to_owned()];
    names.extend(STAGES.iter().map(|it| format!(">{it}, µs")));
    names.extend([">reused connections".to_owned(), ">compiled before".to_owned()]);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    scrollable(
        "Where a run's time goes",
        &html! {
            table {
                (head(&names))
                tbody {
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
        },
    )
}

fn parts(it: Stages) -> [f64; 8] {
    [it.validate, it.dns, it.connect, it.ttfb, it.download, it.extract, it.shape, it.rest]
}

fn bar(parts: &[f64; 8]) -> Markup {
    let named = parts.iter().zip(STAGES).enumerate();
    let parts: Vec<_> =
        named.map(|(i, (us, name))| (Fill::nth(i), *us, format!("{name}: {us:.1} µs"))).collect();
    stack(&parts, "share of each stage")
}

fn time(us: f64) -> String {
    if us < 1000.0 { format!("{us:.0}µs") } else { format!("{:.0}ms", us / 1000.0) }
}
