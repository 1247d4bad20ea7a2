//! `commis recipe learn --manual`: from what a person does in a window.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Global, context,
    learn_args::{Args, pairs},
    learn_result::conclude,
    redact::write,
};
use commis_artifacts::recording::SessionRecording;
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_learn::{LearnContext, LearnResult, Source, Task, learn_from, manual};
use commis_redact::{LiveValues, RedactedRecording};

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let given = pairs(&args.param)?;
    let second = pairs(&args.second)?;
    let name =
        args.name.clone().map_or_else(|| Ok(RecipeName::slug(&args.task)), RecipeName::new)?;
    let url = args.manual.clone().unwrap_or_default();
    let source = Source::Live { url, steps: Vec::new(), by_hand: true };
    let mut task = Task::new(name, args.task.clone(), source, Vec::new());
    let names = commis_batch::parameter_names(&task.sentence);
    // What can be said before anybody takes the trouble.
    let mut first = given.clone();
    for it in &names {
        first.entry(it.clone()).or_insert_with(|| "typed".to_owned());
    }
    task.examples = examples(first, &second);
    commis_batch::check_task(&mut task, &BTreeSet::new(), args.allow_task_secrets)?;
    if !task.secrets.is_empty() {
        let message = "a secret cannot be a parameter of what is done in a window";
        return Err(Error::new(Code::SecretInTask, message)
            .hint("leave it out; commis does not store what you type into password fields"));
    }
    task.examples = examples(given.clone(), &BTreeMap::new());

    let (cx, progress, _place) = args.prepare(&task, global).await?;
    let (json, its) = (args.json, Arc::clone(&cx));
    let work = move || async move {
        let end = all(&mut task, &its, &args, (given, second), &names).await;
        Ok((task, end?))
    };
    let end = context::run_interruptible(
        "what was recorded to the end is kept: the same command with --resume goes on, and records where nothing is",
        work,
    )
    .await;
    progress.finish();
    cx.browser.close().await;
    let (task, learned) = end?;
    conclude(&learned, &cx, &task, json)
}

/// Records where nothing is, and learns from it; the task is completed on the way.
async fn all(
    task: &mut Task,
    cx: &LearnContext,
    args: &Args,
    (given, second): (BTreeMap<String, String>, BTreeMap<String, String>),
    names: &[String],
) -> Result<LearnResult> {
    let recorded = ManualRecording::get(task, cx, args.force).await?;
    let ready = ready(task, &recorded.recording, args, names, &second);
    // Whoever did it should not have to do it again, unless nothing was done.
    let recording = match ready {
        Err(err) if recorded.live.is_some() && !recorded.recording.typed.is_empty() => {
            task.examples = examples(given, &BTreeMap::new());
            manual::keep(task, cx, &recorded.recording)?;
            return Err(err);
        }
        other => other?,
    };
    learn(task, cx, recorded, recording).await
}

/// Completes the task with what was typed; the recording with its parameters.
fn ready(
    task: &mut Task,
    recording: &SessionRecording,
    args: &Args,
    names: &[String],
    second: &BTreeMap<String, String>,
) -> Result<SessionRecording> {
    let (recording, values) = manual::assign(recording, &args.task, names, &pairs(&args.param)?)?;
    task.examples = examples(values, second);
    commis_batch::check_task(task, &BTreeSet::new(), args.allow_task_secrets)?;
    if let Some(path) = &args.save_steps {
        let yaml = serde_saphyr::to_string(&manual::steps(&recording)?)
            .map_err(|err| Error::new(Code::Internal, "steps cannot be written").source(err))?;
        write(path, yaml.as_bytes())?;
    }
    Ok(recording)
}

fn examples(
    first: BTreeMap<String, String>,
    second: &BTreeMap<String, String>,
) -> Vec<BTreeMap<String, String>> {
    let second = Some(second.clone()).filter(|it| !it.is_empty());
    std::iter::once(first).chain(second).collect()
}

/// A recording, made now (then with the values that only this process knows), or kept by an earlier run.
struct ManualRecording {
    recording: SessionRecording,
    live: Option<LiveValues>,
}

impl ManualRecording {
    async fn get(task: &Task, cx: &LearnContext, anew: bool) -> Result<Self> {
        if !anew && let Some(recording) = manual::load_recording(task, cx)? {
            return Ok(Self { recording, live: None });
        }
        let told = |line: &str| context::say(&context::clean(&commis_redact::message(line)));
        let RedactedRecording { recording, live } = manual::watch(task, cx, &told).await?;
        Ok(Self { recording, live: Some(live) })
    }
}

/// What is stored already, as the answer to what is asked now, need not be stored again.
async fn learn(
    task: &Task,
    cx: &LearnContext,
    was: ManualRecording,
    recording: SessionRecording,
) -> Result<LearnResult> {
    if was.live.is_none() && manual::is_stored(task, cx, &recording)? {
        return commis_learn::learn(task, cx).await;
    }
    let live = was.live.unwrap_or_default();
    learn_from(task, cx, Some(RedactedRecording { recording, live })).await
}
