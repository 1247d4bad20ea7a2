//! The requests of a recording, and those that were weighed against each other, as eval's page and a task's page draw them.

use maud::{Markup, html};

use super::{
    clip, format_duration, head,
    plot::{Fill, LegendKey, legend, piece},
    scrollable,
};

/// Signals that are written out on each side.
const SIGNALS: usize = 8;
/// Of a request's line.
const MAX_LINE: usize = 300;

/// A candidate and its score by signal, basis points.
pub struct ScoredCandidate {
    pub request: String,
    pub more: Option<String>,
    pub score_bp: i64,
    pub confidence_bp: u64,
    pub features: Vec<(String, i64)>,
    /// Why it stands out: `chosen`, `right`.
    pub badge: Option<&'static str>,
}

/// One bar a candidate, its score by signal, of which `names` are all; beside it how sure it is, below it the signals in words.
pub fn score_bars(all: &[ScoredCandidate], names: &[(&str, i32)]) -> Markup {
    if all.is_empty() {
        return html! { p.soft { "none" } };
    }
    html! {
        ol.weighed {
            @for it in all {
                li {
                    p {
                        code { (clip(&it.request, MAX_LINE)) }
                        @if let Some(more) = &it.more { " " span.soft { (clip(more, 80)) } }
                        @if let Some(badge) = it.badge { " " span.badge.good { (badge) } }
                    }
                    p.soft { "sure: " b { (percent(it.confidence_bp)) } ", score " (it.score_bp) }
                    svg.bars viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true" {
                        rect.track width="1000" height="14" {}
                        @for (name, share, at, width) in pieces(&it.features) {
                            @let fill = if share < 0 { Fill("red", 1) } else { fill_of(name, names) };
                            (piece(fill, [at as f64, 0.0, (width as f64 - 1.5).max(1.0), 14.0], &format!("{} {share}", clip(&spaced_name(name), 60))))
                        }
                    }
                    (side("for", &it.features, names, |it| it > 0))
                    (side("against", &it.features, names, |it| it < 0))
                }
            }
        }
    }
}

/// A look for every signal, the same on all pages.
fn fill_of(signal: &str, names: &[(&str, i32)]) -> Fill {
    Fill::nth(names.iter().position(|it| it.0 == signal).unwrap_or(0))
}

/// The weightiest signals of one sign, each with what it looks like.
fn side(name: &str, all: &[(String, i64)], names: &[(&str, i32)], of: fn(i64) -> bool) -> Markup {
    let mut all: Vec<&(String, i64)> = all.iter().filter(|it| of(it.1)).collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.1.abs()));
    let more = all.len().saturating_sub(SIGNALS);
    let told = |it: &&(String, i64)| {
        let fill = if it.1 < 0 { Fill("red", 1) } else { fill_of(&it.0, names) };
        (LegendKey::Piece(fill), format!("{} {:+}", clip(&spaced_name(&it.0), 60), it.1))
    };
    let keys: Vec<(LegendKey, String)> = all.iter().take(SIGNALS).map(told).collect();
    html! {
        @if !keys.is_empty() {
            div.side { span.soft { (name) ":" } (legend(&keys)) @if more > 0 { span.soft { "and " (more) " more" } } }
        }
    }
}

fn spaced_name(name: &str) -> String {
    name.replace('_', " ")
}

/// Name, share, start and width of each signal's piece, thousandths; what a signal takes away is drawn back from the end.
fn pieces(features: &[(String, i64)]) -> Vec<(&str, i64, i64, i64)> {
    let mut sorted: Vec<&(String, i64)> = features.iter().collect();
    sorted.sort_by_key(|it| std::cmp::Reverse(it.1));
    let mut end = 0;
    let mut out = Vec::new();
    for (name, share) in sorted {
        let wide = (share.abs() / 10).min(1000);
        if *share < 0 {
            end -= wide;
            out.push((name.as_str(), *share, end.max(0), wide));
        } else {
            out.push((name.as_str(), *share, end, wide));
            end += wide;
        }
    }
    out
}

/// A request of a recording; times in milliseconds from its beginning.
pub struct TimedRequest {
    pub line: String,
    pub kind: String,
    pub status: Option<u64>,
    pub start_ms: u64,
    pub total_ms: u64,
    pub badge: Option<&'static str>,
}

const KINDS: [(Fill, &str); 4] = [
    (Fill("blue", 0), "xhr, fetch"),
    (Fill("purple", 2), "document"),
    (Fill("orange", 1), "script, style"),
    (Fill("grey", 3), "other"),
];

fn kind_fill(it: &str) -> Fill {
    match it {
        "xhr" | "fetch" => KINDS[0].0,
        "document" | "iframe" => KINDS[1].0,
        "script" | "stylesheet" => KINDS[2].0,
        _ => KINDS[3].0,
    }
}

/// When each was sent and how long it took.
pub fn waterfall(all: &[TimedRequest]) -> Markup {
    let end =
        all.iter().map(|it| it.start_ms.saturating_add(it.total_ms)).max().unwrap_or(0).max(1);
    let place = |ms: u64| ms as f64 * 200.0 / end as f64;
    let table = html! {
        table.requests {
            (head(&["request", ">status", ">began", ">took", "when"]))
            tbody {
                @for it in all {
                    tr class=[it.badge.map(|_| "marked")] {
                        td { code { (clip(&it.line, MAX_LINE)) } @if let Some(badge) = it.badge { " " span.badge.good { (badge) } } }
                        td.n { (it.status.map_or("–".to_owned(), |it| it.to_string())) }
                        td.n { (format_duration(it.start_ms.try_into().unwrap_or(i64::MAX))) }
                        td.n { (format_duration(it.total_ms.try_into().unwrap_or(i64::MAX))) }
                        td {
                            svg.bars viewBox="0 0 200 10" preserveAspectRatio="none" aria-hidden="true" {
                                (piece(kind_fill(&it.kind), [place(it.start_ms), 0.0, place(it.total_ms).max(1.5), 10.0], &it.kind))
                            }
                        }
                    }
                }
            }
        }
    };
    let keys: Vec<(LegendKey, &str)> =
        KINDS.iter().map(|(fill, what)| (LegendKey::Piece(*fill), *what)).collect();
    html! {
        (scrollable("Requests", &table))
        (legend(&keys))
    }
}

pub fn percent(bp: u64) -> String {
    format!("{:.0}\u{a0}%", bp as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_signal_takes_is_drawn_back() {
        let of = |it: &[(&str, i64)]| -> Vec<(String, i64)> {
            it.iter().map(|it| (it.0.to_owned(), it.1)).collect()
        };
        let it = of(&[("a", 5000), ("b", 3000), ("c", -1000)]);
        assert_eq!(
            pieces(&it),
            [("a", 5000, 0, 500), ("b", 3000, 500, 300), ("c", -1000, 700, 100)]
        );
        assert_eq!(pieces(&of(&[("a", -3000)])), [("a", -3000, 0, 300)]);
        assert_eq!(pieces(&of(&[("a", i64::from(i32::MAX))]))[0].3, 1000);
    }

    #[test]
    fn a_request_is_text() {
        let hostile = "</code><script>\"'&".repeat(100);
        let it = ScoredCandidate {
            request: hostile.clone(),
            more: Some(hostile.clone()),
            score_bp: 1,
            confidence_bp: 9000,
            features: vec![(hostile.clone(), 10), (hostile.clone(), -10)],
            badge: Some("chosen"),
        };
        let sent = TimedRequest {
            line: hostile,
            kind: "<b>".to_owned(),
            status: None,
            start_ms: u64::MAX,
            total_ms: u64::MAX,
            badge: None,
        };
        let text = score_bars(&[it], &[]).0 + &waterfall(&[sent]).0;
        assert!(
            !text.contains("<script") && !text.contains("<b>\"") && text.len() < 12_000,
            "{}",
            text.len()
        );
    }
}
