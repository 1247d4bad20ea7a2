//! The recipe that an earlier run of the same task published: what it is worth beside what was learned now.

use super::{
    context::{LearnContext, LearnResult},
    task::Task,
};
use commis_artifacts::recording::SessionRecording;
use commis_base::{error::Result, ids::RecipeName};
use commis_recipe::{
    model::{Recipe, Status},
    status::RecipeEvent,
};

/// Less than what was proven takes nothing away.
pub fn keep_published(out: &mut LearnResult, held: &Recipe, cx: &LearnContext) {
    let at = held.verification.as_ref().and_then(|it| it.verified_at.as_deref());
    let note = format!(
        "the recipe verified{} stays in service",
        at.map_or(String::new(), |it| format!(" at {it}"))
    );
    out.detail = out.detail.take().into_iter().chain([note]).reduce(|a, b| format!("{a}; {b}"));
    out.recipe = Some(cx.recipes.path(&held.name));
}

/// Whether a recipe is of this task.
pub fn is_ours(recipe: &Recipe, task: &Task, recording: &SessionRecording) -> bool {
    recipe.source_url == recording.url
        && recipe.task == commis_redact::redact_written(&task.sentence)
}

/// The same recipe, but verified, while what was learned is only a draft of it.
pub fn proven_since(held: &Recipe, draft: &Recipe) -> bool {
    let mut unproven = held.clone();
    unproven.status = draft.status;
    unproven.trust = draft.trust;
    unproven.verification.clone_from(&draft.verification);
    held.status == Status::Verified && draft.status == Status::Draft && unproven == *draft
}

/// The same recipe, but demoted after it was proven: artifacts that are older than that are no reason to run it again.
pub fn demoted_since(held: &Recipe, learned: &Recipe) -> bool {
    let proven = learned.verification.as_ref().and_then(|it| it.verified_at.as_deref());
    // Both as `store::now` writes them, so their order is that of the text.
    held.demotion.as_ref().is_some_and(|it| proven.is_some_and(|proven| proven <= it.at.as_str()))
        && held.request == learned.request
        && held.response == learned.response
}

/// A recipe that an earlier run of this task published is no longer proven.
pub fn demote(
    name: &RecipeName,
    task: &Task,
    cx: &LearnContext,
    recording: &SessionRecording,
) -> Result<()> {
    let Ok(Some(mut recipe)) = cx.recipes.user_recipe(name) else { return Ok(()) };
    let standing = recipe.state().apply(RecipeEvent::TakenBack);
    if is_ours(&recipe, task, recording) && standing != recipe.state() {
        recipe.set_state(standing, "");
        cx.recipes.save(&recipe)?;
    }
    Ok(())
}
