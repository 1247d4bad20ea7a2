//! Two runs beside one another, and two sets of runs by task: what differs, where they part, which was better and why.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{RunRecord, RunStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    First,
    Second,
}

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    pub what: String,
    pub first: Value,
    pub second: Value,
}

/// What both did at a place, or what each did there instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionPair {
    pub same: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<String>,
}

/// Two runs beside one another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    pub differs: Vec<Difference>,
    pub actions: Vec<ActionPair>,
    /// The first place in `actions` where they part, from 1; absent where they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_at: Option<usize>,
    /// Absent where neither was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Side>,
    /// In a sentence.
    pub why: String,
}

/// What a run did, an action each; one that failed or was refused says so.
fn actions(lines: &[Value]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut turn = Value::Null;
    for what in lines.iter().map(|it| &it["what"]) {
        let marked = match what["kind"].as_str().unwrap_or_default() {
            "act" => {
                turn = what["turn"].clone();
                out.extend(what["act"].as_str().map(str::to_owned));
                continue;
            }
            "did" if what["failed"] == true => " (failed)",
            "refused" => " (refused)",
            "claim" if what["verified"] == false => " (not verified)",
            _ => continue,
        };
        if what["turn"] == turn
            && let Some(last) = out.last_mut()
        {
            last.push_str(marked);
        }
    }
    out
}

/// Each run is its record and what happened.
pub fn compare(first: (&RunRecord, &[Value]), second: (&RunRecord, &[Value])) -> Comparison {
    let (a, b) = (first.0, second.0);
    let fields = |it: &RunRecord| {
        let book = it.playbook.as_ref();
        [
            ("task", json!(it.task)),
            ("playbook", json!(book.map(|it| &it.name))),
            ("playbook's text", json!(book.map(|it| &it.digest))),
            ("model", json!(it.model)),
            ("backend", json!(it.backend)),
            ("status", json!(it.status)),
            ("reason", json!(it.reason)),
            ("detail", json!(it.detail)),
            ("last action", json!(it.last_action)),
            ("page", json!(it.page)),
            ("turns", json!(it.turns)),
            ("actions", json!(it.actions)),
            ("tokens", json!(it.tokens())),
            ("cost", json!(it.cost)),
            ("ms", json!(it.ms)),
            ("answer", json!(it.answer)),
        ]
    };
    let differs = fields(a).into_iter().zip(fields(b));
    let differs = differs
        .filter(|(a, b)| a.1 != b.1)
        .map(|((what, first), (_, second))| Difference { what: what.to_owned(), first, second });
    let (one, other) = (actions(first.1), actions(second.1));
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &one, &other) {
        let (from, to) = (&one[op.old_range()], &other[op.new_range()]);
        let same = matches!(op, DiffOp::Equal { .. });
        for n in 0..from.len().max(to.len()) {
            pairs.push(ActionPair {
                same,
                first: from.get(n).cloned(),
                second: to.get(n).cloned(),
            });
        }
    }
    let part_at = pairs.iter().position(|it| !it.same).map(|it| it + 1);
    let (better, why) = verdict(a, b);
    Comparison { differs: differs.collect(), actions: pairs, part_at, better, why }
}

/// How far a run got; the more the better.
const fn rank(it: RunStatus) -> u8 {
    match it {
        RunStatus::Done => 4,
        // Both did all that they may without a person.
        RunStatus::WaitingForApproval | RunStatus::DryRun => 3,
        RunStatus::NeedsPerson => 2,
        RunStatus::Working => 1,
        RunStatus::NotDone | RunStatus::Failed | RunStatus::Died => 0,
    }
}

/// What a status says in a sentence.
fn came_to(it: &RunRecord) -> String {
    let why = it.reason.as_deref().filter(|it| *it != "completed").unwrap_or_default();
    let at = it.last_action.as_deref().map(|it| format!(", at {it}")).unwrap_or_default();
    match it.status {
        RunStatus::Done => "was done".to_owned(),
        RunStatus::Working => "is still at work".to_owned(),
        RunStatus::WaitingForApproval => "waits for approval".to_owned(),
        RunStatus::DryRun => "was a dry run".to_owned(),
        RunStatus::NeedsPerson => format!("needs a person{at}"),
        RunStatus::NotDone => format!("was not done ({why}{at})"),
        RunStatus::Failed => format!("failed ({why}{at})"),
        RunStatus::Died => format!("died{at}"),
    }
}

fn verdict(a: &RunRecord, b: &RunRecord) -> (Option<Side>, String) {
    if a.task != b.task {
        return (None, "they are of two tasks, so neither was better".to_owned());
    }
    if rank(a.status) != rank(b.status) {
        let (side, word, better, worse) = if rank(a.status) > rank(b.status) {
            (Side::First, "first", a, b)
        } else {
            (Side::Second, "second", b, a)
        };
        let why =
            format!("the {word} was better: it {}, the other {}", came_to(better), came_to(worse));
        return (Some(side), why);
    }
    if rank(a.status) < rank(RunStatus::DryRun) {
        return (
            None,
            format!("neither was better: the first {}, the second {}", came_to(a), came_to(b)),
        );
    }
    // Turns and tokens cost and repeat; a time is one of this machine's.
    let measures = [
        ("turns", u64::from(a.turns), u64::from(b.turns)),
        ("tokens", a.tokens(), b.tokens()),
        ("ms", a.ms, b.ms),
    ];
    let Some((what, one, other)) = measures.into_iter().find(|it| it.1 != it.2) else {
        return (None, "they are alike".to_owned());
    };
    let (side, word) = if one < other { (Side::First, "first") } else { (Side::Second, "second") };
    let (less, more) = (one.min(other), one.max(other));
    let answers = if a.answer == b.answer { "" } else { ", but they answer differently" };
    let why = format!(
        "the {word} was better: both got as far, it took {less} {what} instead of {more}{answers}"
    );
    (Some(side), why)
}

/// What runs came to together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunTotals {
    pub runs: u32,
    pub done: u32,
    pub not_done: u32,
    pub died: u32,
    /// On average, of those that are over.
    pub turns: f64,
    pub tokens: f64,
    pub ms: f64,
    /// Of all together, where prices were known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

pub fn totals<'a>(runs: impl IntoIterator<Item = &'a RunRecord>) -> RunTotals {
    let mut out = RunTotals::default();
    let (mut over, mut turns, mut tokens, mut ms) = (0_u32, 0_u64, 0_u64, 0_u64);
    for it in runs {
        out.runs += 1;
        match it.status {
            RunStatus::Done => out.done += 1,
            RunStatus::NotDone | RunStatus::NeedsPerson | RunStatus::Failed => out.not_done += 1,
            RunStatus::Died => out.died += 1,
            RunStatus::DryRun | RunStatus::Working | RunStatus::WaitingForApproval => {}
        }
        if !it.status.is_open() {
            over += 1;
            turns += u64::from(it.turns);
            tokens += it.tokens();
            ms += it.ms;
        }
        if let Some(cost) = it.cost {
            out.cost = Some(out.cost.unwrap_or_default() + cost);
        }
    }
    let mean = |sum: u64| if over == 0 { 0.0 } else { sum as f64 / f64::from(over) };
    RunTotals { turns: mean(turns), tokens: mean(tokens), ms: mean(ms), ..out }
}

/// One task in two sets of runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TaskComparison {
    pub task: String,
    pub before: RunTotals,
    pub since: RunTotals,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Side>,
    pub why: String,
}

/// Runs before a moment and since then, by task; only tasks that both have.
pub fn apart(runs: &[RunRecord], since_ms: i64) -> Vec<TaskComparison> {
    let mut all: BTreeMap<&str, (Vec<&RunRecord>, Vec<&RunRecord>)> = BTreeMap::new();
    for it in runs {
        let sets = all.entry(&it.task).or_default();
        let set = if it.begun_ms < since_ms { &mut sets.0 } else { &mut sets.1 };
        set.push(it);
    }
    all.into_iter()
        .filter(|(_, it)| !it.0.is_empty() && !it.1.is_empty())
        .map(|(task, (before, since))| {
            let (before, since) = (totals(before), totals(since));
            let (better, why) = compare_totals(&before, &since);
            TaskComparison { task: task.to_owned(), before, since, better, why }
        })
        .collect()
}

fn compare_totals(before: &RunTotals, since: &RunTotals) -> (Option<Side>, String) {
    let share = |it: &RunTotals| f64::from(it.done) / f64::from(it.runs.max(1));
    let told = |it: &RunTotals| format!("{} of {} done", it.done, it.runs);
    let (was, is) = (share(before), share(since));
    if (was - is).abs() > f64::EPSILON {
        let (side, word) = if is > was { (Side::Second, "better") } else { (Side::First, "worse") };
        return (Some(side), format!("{word} since: {} instead of {}", told(since), told(before)));
    }
    for (what, was, is) in
        [("turns", before.turns, since.turns), ("tokens", before.tokens, since.tokens)]
    {
        // On average less than a twentieth is nothing.
        if (was - is).abs() > was.max(is) / 20.0 {
            let (side, word) =
                if is < was { (Side::Second, "better") } else { (Side::First, "worse") };
            let why = format!("{word} since: as many done, in {is:.1} {what} instead of {was:.1}");
            return (Some(side), why);
        }
    }
    (None, "as before".to_owned())
}
