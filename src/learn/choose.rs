//! A person's choice among a task's candidates, taken down. The pipeline then goes on from there as with any other.

use super::{
    task::Task,
    task_file::{StoredChoice, StoredTask},
};
use commis_artifacts::{
    payloads::{Candidate, CandidateSet, Judged, Reject},
    recording::SessionRecording,
    store::Store,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::{RecipeName, TaskId},
};
use commis_recipe::{expression::Query, registry::Registry};
use commis_stages::select::{Selection, select};

/// What a person asks for.
pub struct ChoiceRequest {
    /// Rank, from 1.
    pub candidate: u32,
    /// JMESPath instead of the one that would be chosen.
    pub extract: Option<String>,
    /// The recipe's name instead of the task's.
    pub name: Option<RecipeName>,
}

/// A choice that was taken down.
pub struct Choice {
    pub task: Task,
    pub candidate: Candidate,
    /// Names of typed values that its request does not carry.
    pub not_carried: Vec<String>,
}

/// Judges the wish and writes it into the task's folder; a wish that cannot be granted (a mutation) leaves the folder as it is.
///
/// Fails with `TASK_NOT_FOUND`, `ARTIFACT_*`, `TASK_BUSY`, `RECIPE_INVALID` for the JMESPath, `RECIPE_EXISTS` for the name,
/// `USAGE` for a candidate that is not there, and `SECRET_IN_TASK` when the task is stored redacted (the choice is kept).
pub fn choose(
    store: &Store,
    recipes: &Registry,
    id: &TaskId,
    wish: ChoiceRequest,
) -> Result<std::result::Result<Choice, Reject>> {
    let missing = || {
        Error::new(Code::TaskNotFound, format!("there is no task {id}"))
            .hint("`commis recipe debug` lists the tasks")
    };
    if let Some(text) = &wish.extract {
        Query::compile(text)?;
    }
    // Looked at before it is opened for work: opening makes a folder.
    store.peek(id)?.ok_or_else(missing)?;
    let folder = store.task(id)?;
    let set = match folder.get::<Judged<CandidateSet>>()? {
        Judged::Done(it) => it,
        Judged::Rejected(it) => {
            return Err(Error::new(
                Code::Usage,
                format!("task {id} has no candidates to choose from: {}", it.detail),
            )
            .hint("record it again, or learn it from another recording"));
        }
    };
    let recording: SessionRecording = folder.get()?;
    let candidate =
        set.candidates.iter().find(|it| it.rank == wish.candidate).ok_or_else(|| {
            Error::new(Code::Usage, format!("task {id} has no candidate {}", wish.candidate))
                .hint(format!("it has 1 to {}", set.candidates.len()))
        })?;
    let selection =
        Selection { endpoint_key: candidate.endpoint_key.clone(), extract: wish.extract };
    if let Judged::Rejected(reject) = select(&recording, &set, &selection)? {
        return Ok(Err(reject));
    }
    let mut stored = StoredTask::read(&folder, id)?.ok_or_else(|| {
        Error::new(Code::ArtifactMissing, format!("task {id} has no stored question"))
            .hint("run the command that learned it with --resume once")
    })?;
    if let Some(name) = &wish.name
        && let Some(held) = recipes.user_recipe(name)?
        && !(held.source_url == recording.url && stored.is_about(&held.task))
    {
        return Err(Error::new(Code::RecipeExists, format!("`{name}` is another task's recipe"))
            .hint("give another --name, or delete that recipe first"));
    }
    let exchange = recording.exchange(candidate.exchange)?;
    let carried =
        |name: &&String| exchange.measures.typed_in_request.iter().any(|hit| hit.name == **name);
    let not_carried = recording.typed.keys().filter(|it| !carried(it)).cloned().collect();
    stored.choice = Some(StoredChoice { selection, name: wish.name });
    stored.write(&folder)?;
    folder.sync()?;
    let task = stored.task().ok_or_else(|| {
        Error::new(
            Code::SecretInTask,
            "the stored task has a redacted value, so it cannot run".to_owned(),
        )
        .hint("the choice is stored: continue with the command that learned the task and --resume")
    })?;
    Ok(Ok(Choice { task, candidate: candidate.clone(), not_carried }))
}
