//! The page of an eval that a person reads: one file, no network, nothing that the data says is trusted.
//!
//! Everything is escaped where it is written. The policy in the page allows its own style sheet and its own script by their
//! hashes and nothing else, not even a style attribute: bars are SVG.

use maud::{Markup, html};

use super::{Bin, CaseResult, Contender, Detail, Difference, Evaluation, Request, Tally, Verdict};
use crate::stages::WEIGHTS;

const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/filter.js");
/// Colours of signals in the style sheet.
const COLOURS: usize = 24;

/// The page as HTML; `title` is the corpus's name.
pub fn page(done: &Evaluation, title: &str) -> String {
    let nothing = Tally::default();
    let all = done.tallies.get("(all)").unwrap_or(&nothing);
    let body = html! {
        h1 { "How well commis learns: " (title) }
        p.soft {
            (done.cases.len()) " cases, run in memory over recorded answers; nothing was sent anywhere."
        }
        (tiles(done, all))
        @if let Some(differences) = &done.differences { (changes(differences, &done.forgotten)) }
        h2 { "By kind" }
        (kinds(done))
        div.pair {
            div { h2 { "Where tasks ended" } (rejections(done)) }
            div { h2 { "Confidence and truth" } (calibration(&done.calibration)) }
        }
        h2 { "Cases" }
        div.filter {
            input #text type="search" placeholder="Filter by name, kind, request, outcome …" aria-label="Filter";
            select #verdict aria-label="Verdict" {
                option value="" { "all verdicts" }
                @for it in [Verdict::Wrong, Verdict::Abstained, Verdict::Right] {
                    option value=(it.as_str()) { (it.as_str()) }
                }
                @if done.differences.is_some() { option value="changed" { "changed since the baseline" } }
            }
            span #count .soft {}
        }
        @for it in &done.cases { (case(it, done.differences.as_deref())) }
    };
    crate::page::page(&format!("commis eval: {title}"), STYLE, Some(SCRIPT), &body)
}

fn tiles(done: &Evaluation, all: &Tally) -> Markup {
    let count = |verdict: Verdict| done.cases.iter().filter(|it| it.verdict == verdict).count();
    let (right, wrong, abstained) =
        (count(Verdict::Right), count(Verdict::Wrong), count(Verdict::Abstained));
    let tile = |class: &str, figure: String, what: &str| {
        html! { div class={ "tile " (class) } { b { (figure) } span { (what) } } }
    };
    let of = |n: u32, whole: u32| if whole == 0 { "–".to_owned() } else { share(n, whole) };
    html! {
        div.tiles {
            (tile("good", right.to_string(), "right"))
            (tile(if wrong > 0 { "bad" } else { "" }, wrong.to_string(), "wrong"))
            (tile(if abstained > 0 { "warn" } else { "" }, abstained.to_string(), "abstained"))
            (tile(if all.false_verified > 0 { "bad" } else { "good" }, all.false_verified.to_string(), "falsely verified"))
            (tile("", of(all.rank_1, all.recipeable), "right request first"))
            (tile("", of(all.rank_8, all.recipeable), "right request among eight"))
            @if all.saved > 0 {
                (tile("", of(all.endpoint_right, all.saved), "right endpoint"))
                (tile("", of(all.parameters_right, all.saved), "right parameters"))
                (tile("", of(all.extraction_right, all.saved), "right extraction"))
                (tile("", of(all.complete, all.judged_whole), "complete"))
            }
            (tile("", done.model_calls.to_string(), "model calls"))
        }
    }
}

fn changes(differences: &[Difference], forgotten: &[String]) -> Markup {
    html! {
        h2 { "Since the baseline" }
        @for it in forgotten { p.no { (it) } }
        @if differences.is_empty() {
            p { span.yes { "✓" } " Every stage answers every case as before." }
        } @else {
            table {
                tr { th { "case" } th { "stage" } th { "what" } }
                @for it in differences {
                    tr { td.mono { (it.case) } td { (it.stage.as_deref().unwrap_or("")) } td { (it.what) } }
                }
            }
        }
    }
}

fn kinds(done: &Evaluation) -> Markup {
    html! {
        table {
            tr {
                th { "kind" } th.n { "cases" } th { "right, abstained, wrong" }
                th.n { "right first" } th.n { "verified" } th.n { "falsely" }
            }
            @for (kind, it) in &done.tallies {
                @let cases = it.recipeable + it.nothing;
                @let right = it.right + it.nothing_right;
                @let wrong = it.wrong + it.nothing_chosen;
                tr {
                    td { (kind) }
                    td.n { (cases) }
                    td { (verdicts(right, cases.saturating_sub(right + wrong), wrong, 240)) }
                    td.n { @if it.recipeable > 0 { (it.rank_1) " of " (it.recipeable) } }
                    td.n { (it.verified) }
                    td.n { @if it.false_verified > 0 { span.no { (it.false_verified) } } @else { "0" } }
                }
            }
        }
    }
}

/// One bar, so many pixels wide.
fn verdicts(right: u32, abstained: u32, wrong: u32, width: u32) -> Markup {
    let whole = (right + abstained + wrong).max(1);
    let wide = |n: u32| n * width / whole;
    html! {
        svg width=(width) height="14" role="img" aria-label=(format!("{right} right, {abstained} abstained, {wrong} wrong")) {
            title { (right) " right, " (abstained) " abstained, " (wrong) " wrong" }
            rect.bar-right x="0" y="2" width=(wide(right)) height="10" {}
            rect.bar-abstained x=(wide(right)) y="2" width=(wide(abstained)) height="10" {}
            rect.bar-wrong x=(wide(right) + wide(abstained)) y="2" width=(wide(wrong)) height="10" {}
        }
    }
}

fn rejections(done: &Evaluation) -> Markup {
    html! {
        @if done.rejections.is_empty() { p.soft { "Every task came to a verified recipe." } }
        @else {
            table {
                tr { th { "stage and reason" } th.n { "cases" } }
                @for (what, n) in &done.rejections { tr { td { (what) } td.n { (n) } } }
            }
        }
    }
}

/// How often the best candidate is the right one, by its confidence. Where the two columns of figures agree, it is honest.
fn calibration(bins: &[Bin]) -> Markup {
    html! {
        table {
            tr {
                th { "confidence" } th.n { "mean" } th.n { "is right" } th.n { "cases" }
                th { "right, wrong" }
            }
            @for it in bins.iter().rev() {
                tr {
                    td.mono { (percent(it.from_bp)) " to " (percent(it.to_bp)) }
                    td.n { (percent(it.mean_bp)) }
                    td.n { (share(it.right, it.cases)) }
                    td.n { (it.cases) }
                    td { (verdicts(it.right, 0, it.cases.saturating_sub(it.right), 120)) }
                }
            }
        }
    }
}

fn case(it: &CaseResult, differences: Option<&[Difference]>) -> Markup {
    let changed: Vec<&Difference> =
        differences.unwrap_or_default().iter().filter(|other| other.case == it.id).collect();
    let ending = format!("{} {}", it.outcome.as_str(), it.why().unwrap_or(""));
    let request = it.chosen.as_deref().or(it.top.as_ref().map(|it| it.request.as_str()));
    let about = format!("{} {} {ending} {}", it.id, it.kind, request.unwrap_or("")).to_lowercase();
    html! {
        details data-verdict=(it.verdict.as_str()) data-about=(about)
            data-changed=(if changed.is_empty() { "no" } else { "yes" })
        {
            summary {
                span class={ "badge " (it.verdict.as_str()) } { (it.verdict.as_str()) }
                b { (it.id) }
                span.soft { (it.kind) }
                span { (clip(&ending, 80)) }
            }
            div.inside {
                (facts(it))
                @if !changed.is_empty() {
                    h3 { "Changed since the baseline" }
                    @for it in changed {
                        p { @if let Some(stage) = &it.stage { b { (stage) } " " } (it.what) }
                    }
                }
                @match &it.detail {
                    Some(detail) => {
                        h3 { "Candidates" }
                        (contenders(&detail.candidates))
                        h3 { "Recording" }
                        (waterfall(&detail.requests))
                    }
                    None => {
                        @if let Some(top) = &it.top {
                            h3 { "Best candidate" }
                            (contenders(&[Contender {
                                request: top.request.clone(),
                                operation: None,
                                score_bp: top.score_bp,
                                confidence_bp: top.confidence_bp,
                                features: top.features.clone(),
                                right: it.right_rank == Some(1),
                            }]))
                        }
                    }
                }
                h3 { "Stages" }
                p.mono.soft {
                    @for (i, (stage, it)) in it.stages.iter().enumerate() {
                        @if i > 0 { " · " }
                        (stage) " v" (it.version) " " (clip(&it.payload_sha256, 8))
                    }
                }
            }
        }
    }
}

fn facts(it: &CaseResult) -> Markup {
    html! {
        dl.facts {
            @if let Some(detail) = &it.detail { (asked(detail)) }
            @if let Some(expected) = it.expected {
                dt { "right is" }
                dd { (expected.as_str()) @if let Some(it) = it.expected_reason { " (" (it) ")" } }
            }
            dt { "came to" }
            dd {
                (it.outcome.as_str())
                @if let Some(why) = it.why() { " (" (why) ")" }
                @if it.false_verified { " " span.no { "falsely verified" } }
            }
            @if let Some(rejected) = &it.rejected {
                dt { "because" } dd { (rejected.stage) ": " (rejected.detail) }
            }
            @if let Some(doubt) = it.top.as_ref().and_then(|it| it.doubt.as_ref()) {
                dt { "doubt" } dd { (doubt) }
            }
            @if let Some(chosen) = &it.chosen { dt { "chose" } dd.mono { (chosen) } }
            dt { "right request" }
            dd { @match it.right_rank { Some(n) => { "rank " (n) } None => "not among the candidates" } }
            @if let Some(checks) = it.checks {
                dt { "recipe" }
                dd {
                    @for (what, good) in [("endpoint", checks.endpoint), ("parameters", checks.parameters), ("extraction", checks.extraction), ("completeness", checks.complete != Some(false))] {
                        span class=(if good { "yes" } else { "no" }) { (if good { "✓ " } else { "✗ " }) (what) } " "
                    }
                }
            }
            @if it.expected.is_some() { dt { "replays" } dd { (it.replays) } }
        }
    }
}

fn asked(detail: &Detail) -> Markup {
    html! {
        dt { "task" } dd { (detail.task) }
        @if !detail.typed.is_empty() {
            dt { "typed" }
            dd { @for (i, (name, value)) in detail.typed.iter().enumerate() {
                @if i > 0 { ", " } (name) " = " span.mono { (value) }
            } }
        }
        @if !detail.notes.is_empty() { dt { "notes" } dd { (detail.notes) } }
    }
}

/// One bar a candidate, its score by signal; beside it how sure it is.
fn contenders(all: &[Contender]) -> Markup {
    if all.is_empty() {
        return html! { p.soft { "none" } };
    }
    let used = |name: &str, good: bool| {
        all.iter().any(|it| it.features.get(name).is_some_and(|it| (*it > 0) == good))
    };
    html! {
        @for it in all {
            svg width="1080" height="40" viewBox="0 0 1080 40" role="img" {
                text.mark x="0" y="12" { @if it.right { "▸" } }
                text x="14" y="12" {
                    (clip(&it.request, 100)) @if let Some(operation) = &it.operation { " · " (clip(operation, 40)) }
                }
                text.faint.end x="1080" y="12" { "score " (it.score_bp) }
                rect.track x="14" y="19" width="1000" height="13" rx="2" {}
                @let bars = bars(it);
                @for (name, share, at, wide) in &bars {
                    rect class=(if *share < 0 { "minus".to_owned() } else { colour_of(name) }) x=(at) y="19" width=(wide) height="13" {
                        title { (name) " " (share) }
                    }
                }
                text.strong.end x="1080" y="30" { (percent(it.confidence_bp)) }
            }
        }
        div.legend {
            @for (name, _) in WEIGHTS.iter().filter(|it| used(it.0, true)) {
                span {
                    svg width="10" height="10" { rect class=(colour_of(name)) width="10" height="10" rx="2" {} }
                    (name.replace('_', " "))
                }
            }
            @let against: Vec<String> = WEIGHTS.iter().filter(|it| used(it.0, false)).map(|it| it.0.replace('_', " ")).collect();
            @if !against.is_empty() {
                span {
                    svg width="10" height="10" { rect.minus width="10" height="10" rx="2" {} }
                    "against: " (against.join(", "))
                }
            }
        }
    }
}

/// Name, share, start and width of each signal's piece; what a signal takes away is drawn back from the end.
fn bars(it: &Contender) -> Vec<(&str, i32, i32, i32)> {
    let mut sorted: Vec<(&String, &i32)> = it.features.iter().collect();
    sorted.sort_by_key(|it| std::cmp::Reverse(*it.1));
    let mut end = 14;
    let mut out = Vec::new();
    for (name, share) in sorted {
        let wide = (share.abs() / 10).min(1000);
        if *share < 0 {
            end -= wide;
            out.push((name.as_str(), *share, end.max(14), wide));
        } else {
            out.push((name.as_str(), *share, end, wide));
            end += wide;
        }
    }
    out
}

fn waterfall(all: &[Request]) -> Markup {
    let end = all.iter().map(|it| it.start_ms + it.total_ms).max().unwrap_or(0).max(1);
    let place = |ms: u64| (ms * 460 / end) as u32;
    let height = all.len() * 17 + 4;
    html! {
        svg width="1080" height=(height) viewBox={ "0 0 1080 " (height) } role="img" aria-label="requests over time" {
            @for (i, it) in all.iter().enumerate() {
                @let y = i * 17;
                text.mark x="0" y=(y + 12) { @if it.right { "▸" } }
                text x="14" y=(y + 12) { (clip(&it.line, 74)) }
                text.faint x="560" y=(y + 12) { (it.status.map_or("–".to_owned(), |it| it.to_string())) }
                rect class=(colour(it)) x=(590 + place(it.start_ms)) y=(y + 4) width=(place(it.total_ms).max(2)) height="9" rx="1" {
                    title { (it.kind) ", from " (it.start_ms) " ms, " (it.total_ms) " ms" }
                }
            }
        }
        div.legend {
            @for (class, what) in [("w-right", "the right request"), ("w-data", "xhr, fetch"), ("w-document", "document"), ("w-code", "script, style"), ("w-other", "other")] {
                span { svg width="10" height="10" { rect class=(class) width="10" height="10" rx="2" {} } (what) }
            }
            span { "over " (end) " ms" }
        }
    }
}

fn colour(it: &Request) -> &'static str {
    match it.kind {
        _ if it.right => "w-right",
        "xhr" | "fetch" => "w-data",
        "document" | "iframe" => "w-document",
        "script" | "stylesheet" => "w-code",
        _ => "w-other",
    }
}

/// A colour for every signal, the same in all cases.
fn colour_of(signal: &str) -> String {
    let at = WEIGHTS.iter().position(|it| it.0 == signal).unwrap_or(0);
    format!("f{}", at % COLOURS)
}

fn percent(bp: u32) -> String {
    format!("{:.0}\u{a0}%", f64::from(bp) / 100.0)
}

fn share(n: u32, whole: u32) -> String {
    format!("{:.0} %", 100.0 * f64::from(n) / f64::from(whole))
}

fn clip(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use base64::{Engine, engine::general_purpose::STANDARD};
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::artifacts::payloads::Outcome;

    #[test]
    fn what_the_data_says_is_text() {
        let hostile = "</svg><script>alert(1)</script>\"'&";
        let case = CaseResult {
            id: hostile.to_owned(),
            kind: hostile.to_owned(),
            recipeable: true,
            outcome: Outcome::Verified,
            verdict: Verdict::Right,
            right_rank: Some(1),
            rejected: None,
            top: None,
            expected: Some(Outcome::Verified),
            expected_reason: None,
            unproven: None,
            chosen: Some(hostile.to_owned()),
            checks: None,
            false_verified: false,
            replays: 3,
            input_sha256: String::new(),
            stages: BTreeMap::new(),
            detail: Some(Detail {
                task: hostile.to_owned(),
                typed: vec![(hostile.to_owned(), hostile.to_owned())],
                notes: hostile.to_owned(),
                candidates: vec![Contender {
                    request: hostile.to_owned(),
                    operation: Some(hostile.to_owned()),
                    score_bp: 7000,
                    confidence_bp: 9000,
                    features: BTreeMap::from([("a".to_owned(), 8000), ("b".to_owned(), -1000)]),
                    right: true,
                }],
                requests: vec![Request {
                    line: hostile.to_owned(),
                    kind: "fetch",
                    status: Some(200),
                    start_ms: 3,
                    total_ms: 4,
                    right: true,
                }],
            }),
        };
        let text = page(&Evaluation::new(vec![case], Vec::new()), hostile);
        assert_eq!(text.matches("<script>").count(), 1);
        assert_eq!(text.matches("</script>").count(), 1);
        assert!(!text.contains("alert(1)</"));
        assert!(
            !text.contains("style=") && !text.contains("http://") && !text.contains("https://")
        );
        // The policy names exactly what is there.
        let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
        for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
            let inner = text.split_once(open).unwrap().1.split_once(close).unwrap().0;
            assert!(text.contains(&hash(inner)), "{open}");
        }
    }

    #[test]
    fn what_a_signal_takes_is_drawn_back() {
        let it = Contender {
            request: String::new(),
            operation: None,
            confidence_bp: 9000,
            score_bp: 7000,
            features: BTreeMap::from([
                ("a".to_owned(), 5000),
                ("b".to_owned(), 3000),
                ("c".to_owned(), -1000),
            ]),
            right: false,
        };
        assert_eq!(
            bars(&it),
            [("a", 5000, 14, 500), ("b", 3000, 514, 300), ("c", -1000, 714, 100)]
        );
    }
}
