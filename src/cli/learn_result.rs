//! Prints the outcome of learning.

use super::{candidates, context};
use commis_artifacts::payloads::{CandidateSet, Judged, Outcome};
use commis_base::error::Result;
use commis_learn::{LearnContext, LearnResult, Task};

/// Prints the outcome of a task. Returns 1 if no recipe was saved.
pub fn conclude(learned: &LearnResult, cx: &LearnContext, task: &Task, json: bool) -> Result<u8> {
    if json {
        context::out(learned);
    } else {
        describe(learned, cx, task)?;
    }
    Ok(exit_code(learned.outcome))
}

/// 1 if no recipe was saved.
pub fn exit_code(outcome: Outcome) -> u8 {
    u8::from(matches!(outcome, Outcome::NeedsSelection | Outcome::NonRecipeable))
}

fn describe(learned: &LearnResult, cx: &LearnContext, task: &Task) -> Result<()> {
    context::line(&format!("{}: {}", learned.name, learned.outcome.as_str()));
    let why: Vec<&str> =
        [&learned.reason, &learned.detail].into_iter().flatten().map(String::as_str).collect();
    if !why.is_empty() {
        context::line(&context::clean(&format!("  why: {}", why.join(", "))));
    }
    if let Some(path) = &learned.recipe {
        context::line(&format!("  recipe: {}", path.display()));
    }
    if let Some(it) = &learned.model {
        let used = context::model_use(it.calls, it.tokens_in, it.tokens_out, it.cost_micros);
        context::line(&format!("  model: {}, {used}", it.name));
    }
    if learned.skipped_entries > 0 {
        context::say(&format!(
            "  {} entries of the HAR were no requests and were skipped",
            learned.skipped_entries
        ));
    }
    context::line(&format!("  artifacts: {}", learned.artifacts.display()));
    let Some(folder) = cx.store.peek(&task.id)? else { return Ok(()) };
    if learned.outcome == Outcome::NeedsSelection {
        candidates::print(&folder, &task.id)?;
    } else if let Ok(Judged::Done(set)) = folder.get::<Judged<CandidateSet>>() {
        for it in set.candidates.iter().take(3) {
            context::line(&format!(
                "  {}. {:>5} {} {}",
                it.rank, it.score_bp, it.method, it.url_summary
            ));
        }
    }
    for it in next_steps(&learned.name, learned.outcome) {
        context::say(&format!("  {it}"));
    }
    context::say(&format!(
        "commis recipe debug --task-id {} shows every decision",
        learned.task_id
    ));
    Ok(())
}

/// What to do with what was learned under that name, a line each.
pub fn next_steps(name: &str, outcome: Outcome) -> Vec<String> {
    match outcome {
        Outcome::Verified => vec![format!("commis run {name} runs it; commis recipe explain {name} says what is sent and how it was proven")],
        Outcome::SavedDraft => vec![
            format!("commis run {name} --draft runs it as it is"),
            "the same command with --force and --second NAME=VALUE, a value with another answer, proves it".to_owned(),
        ],
        Outcome::NeedsSelection | Outcome::NonRecipeable => Vec::new(),
    }
}
