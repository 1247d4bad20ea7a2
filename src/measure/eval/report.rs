//! The page of an eval that a person reads: one file, no network, nothing that the data says is trusted.
//!
//! Everything is escaped where it is written. The policy in the page allows its own style sheet and its own script by their
//! hashes and nothing else, not even a style attribute: bars are SVG.

use maud::{Markup, html};

use super::{Bin, CaseResult, Contender, Detail, Difference, Evaluation, Request, Tally, Verdict};
use commis_report::{
    Page, clip, head,
    plot::{Fill, mark, stack},
    request_charts::{ScoredCandidate, TimedRequest, percent, score_bars, waterfall},
    scrollable,
};
use commis_stages::WEIGHTS;

const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/filter.js");

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
    let title = format!("commis eval: {title}");
    Page { title: &title, style: STYLE, script: Some(SCRIPT), ..Page::default() }.render(&body)
}

fn tiles(done: &Evaluation, all: &Tally) -> Markup {
    let count = |verdict: Verdict| done.cases.iter().filter(|it| it.verdict == verdict).count();
    let (right, wrong, abstained) =
        (count(Verdict::Right), count(Verdict::Wrong), count(Verdict::Abstained));
    let tile = |class: &str, figure: String, what: &str| {
        html! { li { div class=(class) { b { (figure) } span { (what) } } } }
    };
    let of = |n: u32, whole: u32| if whole == 0 { "–".to_owned() } else { share(n, whole) };
    html! {
        ul.tiles {
            @for (it, n) in [(Verdict::Right, right), (Verdict::Wrong, wrong), (Verdict::Abstained, abstained)] {
                li { div { b { (n) } span.state { (mark(it.as_str())) (it.as_str()) } } }
            }
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
            (scrollable("Since the baseline", &html! {
                table {
                    (head(&["case", "stage", "what"]))
                    tbody {
                        @for it in differences {
                            tr { td { code { (it.case) } } td { (it.stage.as_deref().unwrap_or("")) } td { (it.what) } }
                        }
                    }
                }
            }))
        }
    }
}

fn kinds(done: &Evaluation) -> Markup {
    scrollable(
        "By kind",
        &html! {
            table {
                (head(&["kind", ">cases", "right, abstained, wrong", ">right first", ">verified", ">falsely"]))
                tbody {
                    @for (kind, it) in &done.tallies {
                        @let cases = it.recipeable + it.nothing;
                        @let right = it.right + it.nothing_right;
                        @let wrong = it.wrong + it.nothing_chosen;
                        tr {
                            td { (kind) }
                            td.n { (cases) }
                            td { (verdicts(right, cases.saturating_sub(right + wrong), wrong)) }
                            td.n { @if it.recipeable > 0 { (it.rank_1) " of " (it.recipeable) } }
                            td.n { (it.verified) }
                            td.n { @if it.false_verified > 0 { span.no { (it.false_verified) } } @else { "0" } }
                        }
                    }
                }
            }
        },
    )
}

/// A bar and its figures.
fn verdicts(right: u32, abstained: u32, wrong: u32) -> Markup {
    let parts = [
        (Fill("green", 0), right, "right"),
        (Fill("orange", 2), abstained, "abstained"),
        (Fill("red", 1), wrong, "wrong"),
    ];
    let parts = parts.map(|(fill, n, what)| (fill, f64::from(n), format!("{n} {what}")));
    html! {
        span.share {
            (stack(&parts, &format!("{right} right, {abstained} abstained, {wrong} wrong")))
            small { (right) ", " (abstained) ", " (wrong) }
        }
    }
}

fn rejections(done: &Evaluation) -> Markup {
    if done.rejections.is_empty() {
        return html! { p.soft { "Every task came to a verified recipe." } };
    }
    scrollable(
        "Where tasks ended",
        &html! {
            table {
                (head(&["stage and reason", ">cases"]))
                tbody { @for (what, n) in &done.rejections { tr { td { (what) } td.n { (n) } } } }
            }
        },
    )
}

/// How often the best candidate is the right one, by its confidence. Where the two columns of figures agree, it is honest.
fn calibration(bins: &[Bin]) -> Markup {
    scrollable(
        "Confidence and truth",
        &html! {
            table {
                (head(&["confidence", ">mean", ">is right", ">cases", "right, abstained, wrong"]))
                tbody {
                    @for it in bins.iter().rev() {
                        tr {
                            td { (percent(it.from_bp.into())) " to " (percent(it.to_bp.into())) }
                            td.n { (percent(it.mean_bp.into())) }
                            td.n { (share(it.right, it.cases)) }
                            td.n { (it.cases) }
                            td { (verdicts(it.right, 0, it.cases.saturating_sub(it.right))) }
                        }
                    }
                }
            }
        },
    )
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
                span.state { (mark(it.verdict.as_str())) (it.verdict.as_str()) }
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
                        (requests(&detail.requests))
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
                p.soft {
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
            @if let Some(detail) = &it.detail { (task_facts(detail)) }
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
            @if let Some(chosen) = &it.chosen { dt { "chose" } dd { code { (chosen) } } }
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

fn task_facts(detail: &Detail) -> Markup {
    html! {
        dt { "task" } dd { (detail.task) }
        @if !detail.typed.is_empty() {
            dt { "typed" }
            dd { @for (i, (name, value)) in detail.typed.iter().enumerate() {
                @if i > 0 { ", " } (name) " = " code { (value) }
            } }
        }
        @if !detail.notes.is_empty() { dt { "notes" } dd { (detail.notes) } }
    }
}

fn contenders(all: &[Contender]) -> Markup {
    let of = |it: &Contender| ScoredCandidate {
        request: it.request.clone(),
        more: it.operation.clone(),
        score_bp: it.score_bp.into(),
        confidence_bp: it.confidence_bp.into(),
        features: it.features.iter().map(|it| (it.0.clone(), i64::from(*it.1))).collect(),
        badge: it.right.then_some("right"),
    };
    score_bars(&all.iter().map(of).collect::<Vec<_>>(), WEIGHTS)
}

fn requests(all: &[Request]) -> Markup {
    let of = |it: &Request| TimedRequest {
        line: it.line.clone(),
        kind: it.kind.to_owned(),
        status: it.status.map(u64::from),
        start_ms: it.start_ms,
        total_ms: it.total_ms,
        badge: it.right.then_some("right"),
    };
    waterfall(&all.iter().map(of).collect::<Vec<_>>())
}

fn share(n: u32, whole: u32) -> String {
    format!("{:.0} %", 100.0 * f64::from(n) / f64::from(whole))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use base64::{Engine, engine::general_purpose::STANDARD};
    use sha2::{Digest as _, Sha256};

    use super::*;
    use commis_artifacts::payloads::Outcome;

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
}
