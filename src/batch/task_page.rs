//! The page of one task, instead of its folder: what it came to, the request and the recipe side by side, what was weighed, what was
//! replayed, where the time went, what the page showed. One file, no network; all of it comes from artifacts, which are redacted.

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use commis_artifacts::{
    kinds::Kind,
    store::{Envelope, TaskFolder},
};
use commis_base::{error::Result, files, ids::TaskId, settings::Settings};
use commis_learn::{
    StoredTask, Task,
    fresh::Freshness,
    task_view::{
        StageRow, load_stages,
        request_view::{self, PartTrial},
        terminal_text::{array, join, str_of},
    },
};
use commis_report::{
    Page, clip, format_duration, head,
    plot::{Fill, LegendKey, legend, mark, stack},
    request_charts::{ScoredCandidate, TimedRequest, percent, score_bars, waterfall},
    scrollable,
};
use commis_stages::{Stage, WEIGHTS};
use commis_state::{StageSpan, State};

const STYLE: &str = include_str!("page/task.css");
/// Rows of each table.
const MAX_ROWS: usize = 200;
/// Of a value in a cell, and of a sentence.
const MAX_CELL: usize = 240;
const MAX_TEXT: usize = 1000;
/// Of the recipe's text.
const MAX_RECIPE: usize = 60_000;
/// Of a picture, and of a recording.
const MAX_PICTURE: u64 = 8 << 20;
const MAX_FILE: usize = 128 << 20;
/// Blocks of the page, their rows, and texts in one.
const BLOCKS: usize = 3;
const BLOCK_ROWS: usize = 8;
const BLOCK_CELLS: usize = 8;

/// The task that is looked at.
pub struct TaskLocation<'a> {
    pub folder: &'a TaskFolder,
    pub id: &'a TaskId,
    /// Where recipes are kept.
    pub recipes: &'a Path,
}

/// Writes the page; `task` is today's manifest entry, where it is known. Fails with `ARTIFACT_IO`.
pub fn page(
    seen: &TaskLocation<'_>,
    settings: &Settings,
    task: Option<Task>,
    state: Option<&State>,
) -> Result<String> {
    let rows = load_stages(seen.folder, seen.id, settings, task)?;
    // What only adds to the page leaves it out where it cannot be read.
    let spans = state.and_then(|it| it.spans_of(seen.id.as_str()).ok()).unwrap_or_default();
    let asked = StoredTask::read(seen.folder, seen.id).ok().flatten();
    let asked = asked.and_then(|it| serde_json::to_value(it).ok()).unwrap_or_default();
    let recording = recorded(seen.folder).unwrap_or_default();
    let name = seen.id.as_str().rsplit_once('-').map_or(seen.id.as_str(), |it| it.0);
    let body = html! {
        p.crumbs.soft { "task " code { (seen.id) } }
        h1 { (name) " " (task_outcome(&rows, seen)) }
        (facts(&rows, &asked["entry"]))
        (failure(seen.folder))
        (side_by_side(&rows))
        (candidates(&rows))
        (replays(&rows))
        (trials(&rows))
        (stages(&rows, &spans))
        (sent_requests(&rows, &recording))
        (shown_blocks(&rows))
        (recipe(seen.recipes, name))
        p.soft { "All of it, to the field: " code { "commis recipe debug --task-id " (seen.id) " --json" } }
    };
    let title = format!("{name}, a task");
    Ok(Page { title: &title, style: STYLE, pictures: true, ..Page::default() }.render(&body))
}

fn completed_payload(rows: &[StageRow], kind: Kind) -> Option<&Value> {
    rows.iter().find(|it| it.spec.writes == kind)?.product()
}

/// What it came to, in a word.
fn task_outcome(rows: &[StageRow], seen: &TaskLocation<'_>) -> Markup {
    let verified =
        completed_payload(rows, Kind::VerificationReport).map(|it| it["verified"] == true);
    let rejected = rows.iter().find_map(StageRow::rejected);
    let failed = seen.folder.failure().ok().flatten().is_some();
    let (class, state, text) = match (verified, rejected) {
        (Some(true), _) => ("good", "verified", "verified"),
        (Some(false), _) => ("warn", "draft", "not verified"),
        (None, Some(it)) if it["reason"] == "ambiguous" => {
            ("warn", "needs_selection", "needs a selection")
        }
        (None, Some(_)) => ("", "non_recipeable", "not recipeable"),
        _ if failed => ("bad", "failed", "failed"),
        _ => ("", "pending", "not finished"),
    };
    html! { span class={ "badge " (class) } { (mark(state)) (text) } }
}

fn facts(rows: &[StageRow], asked: &Value) -> Markup {
    let live = &asked["source"]["live"];
    let report = completed_payload(rows, Kind::VerificationReport);
    let rejected =
        rows.iter().find_map(|it| it.rejected().map(|why| (it.spec.stage.as_str(), why)));
    html! {
        dl.facts {
            @if asked["task"].is_string() { dt { "Task" } dd { (clip(&str_of(asked, "task"), MAX_TEXT)) } }
            @if live["url"].is_string() { dt { "Begins at" } dd { code { (str_of(live, "url")) } } }
            @for (i, it) in array(asked, "examples").iter().take(4).enumerate() {
                dt { "Example " (i + 1) } dd { (pairs(it)) }
            }
            @if let Some((stage, why)) = rejected {
                dt { "Ended in" } dd { (stage) ": " b { (str_of(why, "reason")) } " " (str_of(why, "detail")) }
            }
            @if let Some(it) = report {
                dt { "By" } dd { (str_of(it, "transport")) @if it["requires_session"] == true { ", with a session" } }
                dt { "Parameters that change the data" } dd { (join(it.get("effective"))) }
                @if it["reason"].is_string() { dt { "Why not verified" } dd { (str_of(it, "reason")) } }
                @for (i, it) in array(it, "coverage").iter().take(4).enumerate() {
                    dt { "Of what page " (i + 1) " showed" } dd { (it["held"]) " of " (it["shown"]) " items, " (it["fields_held"]) " of " (it["fields"]) " columns" }
                }
            }
        }
    }
}

fn pairs(it: &Value) -> Markup {
    html! {
        @for (i, (name, value)) in it.as_object().into_iter().flatten().take(20).enumerate() {
            @if i > 0 { ", " }
            (clip(name, 60)) " = " code { (clip(&value_text(value), MAX_CELL)) }
        }
    }
}

fn value_text(it: &Value) -> String {
    it.as_str().map_or_else(|| it.to_string(), str::to_owned)
}

/// What a failing step saw, with its picture.
fn failure(folder: &TaskFolder) -> Markup {
    let Some((it, picture)) = folder.failure().ok().flatten() else { return html! {} };
    let picture = picture.and_then(|it| files::read_bounded(&it, MAX_PICTURE).ok());
    let picture = picture.filter(|it| it.starts_with(b"\x89PNG\r\n\x1a\n"));
    html! {
        section {
            h2 { "Where it failed" }
            @if let Some(bytes) = picture {
                img.seen alt={ "The page when step " (it.step) " failed" } src={ "data:image/png;base64," (STANDARD.encode(bytes)) };
            } @else if let Some(why) = &it.no_picture { p.soft { "no picture: " (clip(why, MAX_CELL)) } }
            @for (head, lines) in it.describe_lines(12) {
                h3 { (head) }
                ul.plain { @for it in lines { li { (clip(&it, MAX_TEXT)) } } }
            }
        }
    }
}

/// The request as it was recorded, beside what of it the recipe sends.
fn side_by_side(rows: &[StageRow]) -> Markup {
    let all = request_view::parts(rows);
    if all.is_empty() {
        return html! {};
    }
    let settled = all.iter().any(|it| it.minimized.is_some());
    let last = completed_payload(rows, Kind::RecipeDraftMinimized);
    let line = |it: &PartTrial| {
        let before = it.recorded.as_deref().unwrap_or_default();
        let after = it.last.as_deref().or(it.minimized.as_deref());
        let (state, told) = match after {
            None if settled => ("dropped", None),
            None => ("recorded", None),
            Some(after) if after == before => ("kept", Some(after)),
            Some(after) => ("from outside", Some(after)),
        };
        html! {
            tr class=(state.split(' ').next().unwrap_or_default()) {
                th scope="row" { (clip(&it.part, 80)) }
                td { code { (clip(before, MAX_CELL)) } }
                td { @match told { Some(it) => code { (clip(it, MAX_CELL)) }, None => span.soft { (if settled { "– not sent" } else { "" }) } } }
                td { b { (state) } @if !it.why.is_empty() { br; small { (clip(&it.why, MAX_CELL)) } } }
            }
        }
    };
    let table = html! {
        table.beside {
            (head(&["part", "as the page sent it", "as the recipe sends it", "what became of it"]))
            tbody { @for it in all.iter().take(MAX_ROWS) { (line(it)) } }
        }
    };
    html! {
        section {
            h2 { "The request and the recipe" }
            (scrollable("The request and the recipe", &table))
            @if all.len() > MAX_ROWS { p.soft { "and " (all.len() - MAX_ROWS) " more" } }
            @if let Some(it) = last {
                @let inputs = request_view::inputs(it);
                @if !inputs.is_empty() {
                    h3 { "What a caller gives, and what is looked up" }
                    ul { @for it in inputs.iter().take(MAX_ROWS) { li { (clip(it, MAX_TEXT)) } } }
                }
            }
        }
    }
}

fn candidates(rows: &[StageRow]) -> Markup {
    let Some(set) = completed_payload(rows, Kind::CandidateSet) else { return html! {} };
    let analysis = completed_payload(rows, Kind::RecipeAnalysis);
    let chosen = analysis.map(|it| &it["chosen"]["exchange"]);
    let of = |it: &Value| ScoredCandidate {
        request: format!("{} {}", str_of(it, "method"), str_of(it, "url_summary")),
        more: Some(format!("{} {}", str_of(it, "operation"), str_of(it, "content_type"))),
        score_bp: it["score_bp"].as_i64().unwrap_or(0),
        confidence_bp: it["confidence_bp"].as_u64().unwrap_or(0),
        features: it["features"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, share)| (name.clone(), share.as_i64().unwrap_or(0)))
            .collect(),
        badge: (chosen == Some(&it["exchange"])).then_some("chosen"),
    };
    let all: Vec<ScoredCandidate> =
        array(set, "candidates").iter().take(MAX_ROWS).map(of).collect();
    let aside: u64 =
        set["set_aside"].as_object().into_iter().flatten().filter_map(|it| it.1.as_u64()).sum();
    html! {
        section {
            h2 { "What was weighed" }
            p.soft {
                (set["scored"]) " requests were weighed"
                @if aside > 0 { ", " (aside) " left out before" }
                @if let Some(it) = analysis { "; chosen by " (str_of(it, "by")) }
                "."
            }
            @if let Some(it) = set["doubt"].as_str() { p.notice.warn { "Doubt about the first: " (clip(it, MAX_CELL)) } }
            (score_bars(&all, WEIGHTS))
        }
    }
}

/// Every request that was sent to prove it, in order.
fn replays(rows: &[StageRow]) -> Markup {
    let of_stage = |it| array(it, "replays").iter();
    let all: Vec<(&str, &Value)> = rows
        .iter()
        .filter_map(|row| Some((row.spec.stage.as_str(), row.product()?)))
        .flat_map(|(stage, it)| {
            let trials = array(it, "trials").iter().map(|it| &it["replay"]);
            of_stage(it).chain(trials.filter(|it| !it.is_null())).map(move |it| (stage, it))
        })
        .collect();
    if all.is_empty() {
        return html! {};
    }
    let table = html! {
        table {
            (head(&["stage", "what", "by", ">status", ">items", ">alike", "data", "verdict"]))
            tbody {
                @for (stage, it) in all.iter().take(MAX_ROWS) {
                    tr {
                        td { (stage) }
                        td { (str_of(it, "what")) }
                        td { (str_of(it, "transport")) }
                        td.n { (number(&it["status"])) }
                        td.n { (number(&it["items"])) }
                        td.n { @if let Some(bp) = it["similarity_bp"].as_u64() { (percent(bp)) } @else { "–" } }
                        td { code { (it["data_sha256"].as_str().map_or("–".to_owned(), |it| clip(it, 8))) } }
                        td {
                            @match it["code"].as_str() {
                                None => span.state { (mark("verified")) "answered" },
                                Some(code) => { span.state { (mark("failed")) code { (clip(code, 60)) } } },
                            }
                            @if it["detail"].is_string() { br; small { (str_of(it, "detail")) } }
                        }
                    }
                }
            }
        }
    };
    html! {
        section {
            h2 { "What was replayed" }
            p.soft { "Equal data have the same digest." }
            (scrollable("What was replayed", &table))
            @if all.len() > MAX_ROWS { p.soft { "and " (all.len() - MAX_ROWS) " more" } }
        }
    }
}

fn number(it: &Value) -> String {
    it.as_u64().map_or("–".to_owned(), |it| it.to_string())
}

fn trials(rows: &[StageRow]) -> Markup {
    let all =
        completed_payload(rows, Kind::MinimizationReport).map_or(&[][..], |it| array(it, "trials"));
    if all.is_empty() {
        return html! {};
    }
    let table = html! {
        table {
            (head(&["without", "verdict", "why"]))
            tbody {
                @for it in all.iter().take(MAX_ROWS) {
                    tr { td { code { (join(it.get("without"))) } } td { b { (if it["dropped"] == true { "dropped" } else { "kept" }) } } td { (str_of(it, "why")) } }
                }
            }
        }
    };
    html! {
        section {
            h2 { "What can be left out" }
            (scrollable("What can be left out", &table))
            @if all.len() > MAX_ROWS { p.soft { "and " (all.len() - MAX_ROWS) " more" } }
        }
    }
}

/// Where the time went, and whether what was written still holds.
fn stages(rows: &[StageRow], spans: &[StageSpan]) -> Markup {
    let last = spans.iter().map(|it| it.attempt).max();
    let of = |stage: Stage| -> Option<i64> {
        let mine = spans.iter().filter(|it| Some(it.attempt) == last && it.stage == stage.as_str());
        mine.map(|it| it.ended_ms - it.began_ms).reduce(|a, b| a + b)
    };
    let times: Vec<(Fill, f64, String)> = rows
        .iter()
        .enumerate()
        .filter_map(|(i, it)| Some((i, it.spec.stage, of(it.spec.stage)?)))
        .map(|(i, stage, ms)| {
            (Fill::nth(i), ms as f64, format!("{}: {}", stage.as_str(), format_duration(ms)))
        })
        .collect();
    let keys: Vec<(LegendKey, &str)> =
        times.iter().map(|it| (LegendKey::Piece(it.0), it.2.as_str())).collect();
    let table = html! {
        table {
            (head(&["stage", ">took", "still holds", "written", ">bytes"]))
            tbody {
                @for row in rows {
                    tr {
                        td { (row.spec.stage.as_str()) @if let Some(it) = row.rejected() { " " span.badge.warn { (str_of(it, "reason")) } } }
                        td.n { (of(row.spec.stage).map_or("–".to_owned(), format_duration)) }
                        td {
                            @if matches!(row.freshness, Freshness::Fresh(_)) { (mark("verified")) } @else { (mark("needs_selection")) }
                            (clip(&row.freshness.describe(), MAX_CELL))
                        }
                        td { (row.envelope.as_ref().map(|it| clip(&it.created_at, 40)).unwrap_or_default()) }
                        td.n { (row.size.map_or("–".to_owned(), |it| it.to_string())) }
                    }
                }
            }
        }
    };
    html! {
        section {
            h2 { "Stages" }
            @if !times.is_empty() {
                div.time { (stack(&times, "time by stage")) }
                (legend(&keys))
            }
            (scrollable("Stages", &table))
        }
    }
}

/// What of a recording is drawn here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordingView {
    exchanges: Vec<Exchange>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Exchange {
    id: u64,
    method: String,
    url: String,
    status: Option<u64>,
    resource_type: String,
    timing: Timing,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Timing {
    start_ms: u64,
    total_ms: Option<u64>,
}

/// Read field by field: a recording may hold tens of thousands. Whether it is intact is told beside its stage.
fn recorded(folder: &TaskFolder) -> Option<RecordingView> {
    let bytes = folder.dir().read(Kind::SessionRecording.file(), MAX_FILE).ok()??;
    let it: Envelope<&RawValue> = serde_json::from_slice(&bytes).ok()?;
    serde_json::from_str(it.payload.get()).ok()
}

fn sent_requests(rows: &[StageRow], recording: &RecordingView) -> Markup {
    let all = &recording.exchanges;
    if all.is_empty() {
        return html! {};
    }
    let chosen = completed_payload(rows, Kind::RecipeAnalysis)
        .and_then(|it| it["chosen"]["exchange"].as_u64());
    // Of many, those around the chosen one.
    let at = all.iter().position(|it| Some(it.id) == chosen).unwrap_or(0);
    let from = at.saturating_sub(MAX_ROWS / 2).min(all.len().saturating_sub(MAX_ROWS));
    let of = |it: &Exchange| TimedRequest {
        line: format!("{} {}", it.method, it.url),
        kind: it.resource_type.clone(),
        status: it.status,
        start_ms: it.timing.start_ms,
        total_ms: it.timing.total_ms.unwrap_or(0),
        badge: (Some(it.id) == chosen).then_some("chosen"),
    };
    let some: Vec<TimedRequest> = all.iter().skip(from).take(MAX_ROWS).map(of).collect();
    html! {
        section {
            h2 { "What the page asked for" }
            @if all.len() > some.len() { p.soft { (some.len()) " of " (all.len()) " requests, from the " (from + 1) ". on" } }
            details open[all.len() <= 60] { summary { (some.len()) " requests" } (waterfall(&some)) }
        }
    }
}

/// The lists and records that the drawn page held: a picture of it in words.
fn shown_blocks(rows: &[StageRow]) -> Markup {
    let Some(it) = completed_payload(rows, Kind::SessionRecording) else { return html! {} };
    let page = &it["page"];
    let blocks = array(page, "shown");
    if blocks.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "What the page showed" }
            @for it in blocks.iter().take(BLOCKS) {
                @let rows = array(it, "rows");
                h3 { (str_of(it, "heading")) " " span.soft { (it["count"]) @if it["is_record"] == true { " record" } @else { " items" } } }
                (scrollable("What the page showed", &html! {
                    table {
                        tbody {
                            @for row in rows.iter().take(BLOCK_ROWS) {
                                tr { @for cell in row.as_array().into_iter().flatten().take(BLOCK_CELLS) { td { (clip(&value_text(cell), MAX_CELL)) } } }
                            }
                        }
                    }
                }))
                @if rows.len() > BLOCK_ROWS { p.soft { "and " (rows.len() - BLOCK_ROWS) " more" } }
            }
            @if blocks.len() > BLOCKS { p.soft { "and " (blocks.len() - BLOCKS) " more blocks" } }
        }
    }
}

/// As it stands now: a later task of that name may have written it.
fn recipe(folder: &Path, name: &str) -> Markup {
    let path = folder.join(format!("{name}.yaml"));
    let Ok(Some(bytes)) = files::read_if_exists(&path, MAX_FILE as u64) else { return html! {} };
    let text = String::from_utf8_lossy(&bytes);
    let cut = text.len() > MAX_RECIPE;
    html! {
        section {
            h2 { "The recipe" }
            p.soft { "As it stands now in " code { (path.display()) } "." }
            details { summary { (text.lines().count()) " lines" } pre.code tabindex="0" role="group" aria-label="The recipe" { code { (clip(&text, MAX_RECIPE)) } } }
            @if cut { p.soft { "That is the beginning." } }
        }
    }
}
