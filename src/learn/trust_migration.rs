//! Homes of an earlier commis, which believed what recipes' files say: which of those were learned there is read from artifacts.

use std::collections::BTreeMap;

use super::task_file::StoredTask;
use commis_artifacts::{
    payloads::{BaselineFingerprint, Judged, RecipeDraftMinimized, VerificationReport},
    recording::SessionRecording,
    store::{Store, TaskFolder},
};
use commis_base::{
    error::Result,
    ids::{RecipeName, TaskId},
    settings::Home,
};
use commis_recipe::{
    model::{Recipe, Status},
    registry::{Registry, Source},
    trust::Trust,
};
use commis_stages::{
    publish::{RecipeInfo, publish},
    verify::Expectation,
};
use commis_state::State;

/// Once in a home's life: recipes whose definition their task's own artifacts prove go on as they were, all others are drafts until
/// they are proven. From here on what counts is what is noted. Fails with `ARTIFACT_IO`.
pub fn trust_what_was_learned(home: &Home) -> Result<()> {
    let registry = Registry::for_home(home);
    // A home without recipes has none to believe.
    if !registry.is_new() || home.recipes.symlink_metadata().is_err() {
        return Ok(());
    }
    let store = Store::new(home.artifacts.clone());
    let mut tasks: BTreeMap<RecipeName, Vec<TaskId>> = BTreeMap::new();
    for id in store.tasks()? {
        let Ok(Some(folder)) = store.peek(&id) else { continue };
        if let Ok(Some(it)) = StoredTask::read(&folder, &id) {
            tasks.entry(it.recipe_name().clone()).or_default().push(id);
        }
    }
    let state = State::open_existing(&home.artifacts);
    let ran = |name: &RecipeName| {
        let health =
            state.as_ref().and_then(|it| it.health(name.as_str(), Source::Library.as_str()).ok());
        health.flatten().is_some_and(|it| it.ok > 0)
    };
    let known = |recipe: &Recipe| {
        let learned = |id: &TaskId| learned_from(recipe, &store, id);
        tasks.get(&recipe.name)?.iter().find_map(learned)
    };
    registry.initialize_trust(known, ran)
}

/// What the artifacts of that task say of the recipe; `None` where it is another one than they came to.
fn learned_from(recipe: &Recipe, store: &Store, id: &TaskId) -> Option<Trust> {
    let folder: TaskFolder = store.peek(id).ok()??;
    let stored = StoredTask::read(&folder, id).ok()??;
    let recording: SessionRecording = folder.get().ok()?;
    let Ok(Judged::Done(draft)) = folder.get::<Judged<RecipeDraftMinimized>>() else { return None };
    let baseline: BaselineFingerprint = folder.get().ok()?;
    let report: VerificationReport = folder.get().ok()?;
    let (sentence, category) = stored.about();
    let expect = Expectation::default();
    let about = RecipeInfo { name: &recipe.name, sentence, category, expect: &expect };
    let made = publish(&about, &recording, &draft, &baseline, &report, "");
    let same = made.task == recipe.task
        && made.source_url == recipe.source_url
        && made.parameters == recipe.parameters
        && made.request == recipe.request
        && made.chain == recipe.chain
        && made.slots == recipe.slots
        && recipe.auth.is_none();
    let how =
        if report.verified || recipe.status == Status::Draft { made.trust } else { return None };
    tracing::info!(recipe = %recipe.name, task = %id, same, "evidence of a recipe");
    same.then_some(how)
}
