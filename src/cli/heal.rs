//! `commis recipe heal`

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::Serialize;

use super::{
    Global,
    progress::Progress,
    run,
    table::ruled,
    verify,
    wire::{self, Place, clean},
};
use crate::{
    artifacts::{payloads::Outcome, store::Store},
    error::{Class, Code, Error, Result},
    ids::RecipeName,
    pipeline::{self, Chosen, Source, StoredTask, Task},
    recipe::{
        model::{Parameter, Recipe, Status},
        registry::{self, Registry},
    },
    runner::call::Caller,
};

/// Learn recipes again that a site's change broke, by the steps that they were learned from
///
/// A recipe that works is left alone: it is first proven again on its examples, as by `recipe verify`. Where it fails, its task
/// is recorded and learned anew beside what is kept of it, with nothing sent that the first learning would not have sent. What is
/// verified then replaces the recipe if it means the same: the same parameters, and nearly all fields that it gave. The old one
/// is kept in `old/`. What means something else is written as a draft, NAME-changed, for you to look at.
///
/// Recipes from a HAR or by hand cannot be learned again unasked, and neither can those whose task held a secret, or changes
/// something. Exit code 1: at least one does not work in the end. 3: all others do, and of some nobody knows, because of the
/// network or a limit.
#[derive(clap::Args)]
pub struct Args {
    #[arg(required_unless_present = "all")]
    names: Vec<String>,
    /// Every recipe of your own that is verified or out of service
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// It answers as it did.
    Works,
    /// Learned anew, with the same meaning.
    Healed,
    /// What was learned anew means something else.
    Changed,
    /// It does not work, and could not be learned anew.
    Broken,
    /// It could not be asked: that says nothing about it.
    Unknown,
}

#[derive(Serialize)]
struct Row {
    name: RecipeName,
    verdict: Verdict,
    error_code: Option<&'static str>,
    why: Option<String>,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = wire::open(global).await?;
    let registry = Registry::open(&place.home.recipes);
    let names: Vec<RecipeName> = if args.all {
        let own = registry.list()?.into_iter().filter(|it| it.source == registry::Source::User);
        let wanted = own.filter(|it| {
            it.recipe
                .as_ref()
                .is_ok_and(|it| it.status == Status::Verified || it.demotion.is_some())
        });
        wanted.filter_map(|it| RecipeName::new(it.name).ok()).collect()
    } else {
        args.names.into_iter().map(RecipeName::new).collect::<Result<_>>()?
    };
    let heal = Heal { caller: run::caller(&place)?, registry, place };
    let work = move || async move {
        let mut rows = Vec::new();
        for name in names {
            rows.push(match heal.one(&name).await {
                Ok(it) => it,
                Err(err) if matches!(err.code().class(), Class::Environment | Class::Bug) => {
                    return Err(err);
                }
                Err(err) => Row {
                    name,
                    verdict: Verdict::Broken,
                    error_code: Some(err.code().as_str()),
                    why: Some(crate::redact::message(&err.to_string())),
                },
            });
            tokio::task::yield_now().await;
        }
        Ok(rows)
    };
    let rows = wire::apart("what was healed is kept", work).await?;
    if args.json {
        wire::out(&rows);
    } else if !rows.is_empty() {
        table(&rows);
    }
    Ok(rows.iter().fold(0, |code, it| match (code, it.verdict) {
        (1, _) | (_, Verdict::Changed | Verdict::Broken) => 1,
        (_, Verdict::Unknown) => 3,
        (code, Verdict::Works | Verdict::Healed) => code,
    }))
}

struct Heal {
    caller: Caller,
    registry: Registry,
    place: Place,
}

impl Heal {
    async fn one(&self, name: &RecipeName) -> Result<Row> {
        let Some(held) = self.registry.own(name)? else {
            return Err(Error::new(Code::RecipeNotFound, format!("you have no recipe `{name}`"))
                .hint("one of the library is not learned: `recipe fork` makes a copy to work on"));
        };
        // It may have been taken back because the request changes something: nothing is sent to find out.
        if !held.standing().may_be_proven() {
            return Err(Error::new(
                Code::RecipeNotVerified,
                format!("`{name}` was taken back when its task was learned again"),
            )
            .hint("`recipe debug` says why"));
        }
        wire::say(&format!("{name}: does it work?"));
        let row = |verdict, why: Option<String>| Row {
            name: name.clone(),
            verdict,
            error_code: None,
            why,
        };
        let proven = verify::one(&self.registry, name, &self.caller, &self.place.settings).await;
        let why = match proven {
            Ok((it, _)) if it.verified => return Ok(row(Verdict::Works, None)),
            // Trouble of the network says nothing of the recipe.
            Ok((it, _)) if it.retryable => return Ok(row(Verdict::Unknown, it.reason)),
            Ok((it, _)) => it.reason.unwrap_or_default(),
            Err(err) if err.code() == Code::RecipeNotVerified => err.to_string(),
            Err(err) => return Err(err),
        };
        wire::say(&clean(&format!("{name}: learned again, because {why}")));
        let (task, choice) = self.task(&held)?;
        let new = self.learned((&task, choice)).await?;
        let Some(mut new) = new.0 else {
            return Ok(row(Verdict::Broken, Some(format!("{why}; learning it again: {}", new.1))));
        };
        if let Some(other) = difference(&held, &new) {
            new.name = free(&self.registry, name, "changed")?;
            new.refused = Some(format!("it means something else than `{name}` did: {other}"));
            new.status = Status::Draft;
            let path = self.registry.save(&new)?;
            return Ok(row(Verdict::Changed, Some(format!("{other}; see {}", path.display()))));
        }
        let old = Registry::open(&self.place.home.recipes.join("old"));
        let kept = Recipe { name: free(&old, name, "old")?, ..held };
        old.save(&kept)?;
        new.name = name.clone();
        self.registry.save(&new)?;
        Ok(row(Verdict::Healed, Some(why)))
    }

    /// The task that the recipe was learned from. Fails with [`Code::TaskNotFound`] when it cannot be recorded again from here.
    fn task(&self, recipe: &Recipe) -> Result<(Task, Option<Chosen>)> {
        let store = Store::new(self.place.home.artifacts.clone());
        let none = |why: &str| {
            Error::new(
                Code::TaskNotFound,
                format!("`{}` cannot be learned again: {why}", recipe.name),
            )
        };
        for id in store.tasks()? {
            let Some(folder) = store.peek(&id)? else { continue };
            let Ok(Some(stored)) = StoredTask::read(&folder, &id) else { continue };
            if !stored.is_about(&recipe.task) || *stored.name() != recipe.name {
                continue;
            }
            let choice = stored.choice.clone();
            let task = stored.task().ok_or_else(|| {
                none("its task held a secret, which was not kept")
                    .hint("learn it from its manifest, with --force")
            })?;
            return match task.source {
                Source::Live { by_hand: false, .. } => Ok((task, choice)),
                _ => Err(none("it was not learned by steps").hint("record it anew")),
            };
        }
        Err(none("what it was learned from is not kept").hint("learn it from its manifest"))
    }

    /// What the task comes to now, with artifacts and recipe in a folder of their own; why, where it is not verified.
    async fn learned(
        &self,
        (task, choice): (&Task, Option<Chosen>),
    ) -> Result<(Option<Recipe>, String)> {
        let folder = Aside::new(&self.place.home.recipes.join("healing"))?;
        let progress = Progress::new(1);
        let stages = progress.clone();
        let on_stage = Box::new(move |task: &Task, stage| stages.stage(task, stage));
        let mut cx = wire::learning(&self.place, None, Duration::ZERO, on_stage)?;
        let own = Arc::get_mut(&mut cx)
            .ok_or_else(|| Error::new(Code::Internal, "what learns is in use before it begins"))?;
        own.recipes = Registry::open(&folder.0);
        own.store = Store::new(folder.0.join("artifacts"));
        StoredTask::new(task, choice)?.write(&own.store.task(&task.id)?)?;
        let end = pipeline::learn(task, &cx).await;
        progress.end(task, &end);
        progress.finish();
        cx.browser.close().await;
        let end = end?;
        let why = [end.reason, end.detail].into_iter().flatten().collect::<Vec<_>>().join(", ");
        Ok(match (end.outcome, end.recipe) {
            (Outcome::Verified, Some(_)) => (cx.recipes.own(&task.name)?, why),
            (outcome, _) => (None, format!("{} {why}", outcome.as_str())),
        })
    }
}

/// A folder that is empty at first and gone in the end.
struct Aside(PathBuf);

impl Aside {
    fn new(path: &Path) -> Result<Self> {
        let out = Self(path.to_owned());
        out.clear().map_err(|err| {
            Error::new(Code::ArtifactIo, format!("{} cannot be cleared", path.display()))
                .source(err)
        })?;
        Ok(out)
    }

    fn clear(&self) -> std::io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(err),
            _ => Ok(()),
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // The next one clears it, too.
        let _ = self.clear();
    }
}

/// `NAME-changed`, or with a number that no recipe has there.
fn free(registry: &Registry, name: &RecipeName, what: &str) -> Result<RecipeName> {
    let start: String = name.as_str().chars().take(48).collect();
    let start = start.trim_end_matches('-');
    for n in 1..1000 {
        let number = if n > 1 { format!("-{n}") } else { String::new() };
        let name = RecipeName::new(format!("{start}-{what}{number}"))?;
        if registry.own(&name).is_ok_and(|it| it.is_none()) {
            return Ok(name);
        }
    }
    Err(Error::new(Code::Usage, format!("there are a thousand of `{name}-{what}`")))
}

/// What the new recipe does otherwise than the old one, for a caller; `None` where it means the same.
fn difference(old: &Recipe, new: &Recipe) -> Option<String> {
    /// Per cent of the old one's fields that have to be there, by name.
    const SAME: usize = 80;
    if old.auth.is_some() {
        return Some("it asks with a key, which was not learned".to_owned());
    }
    let names = |it: &Recipe, required: bool| -> BTreeSet<String> {
        let needed = |it: &&Parameter| (it.required && it.default.is_none()) == required;
        it.parameters.iter().filter(needed).map(|it| it.name.clone()).collect()
    };
    let (was, is) = (names(old, true), names(new, true));
    if was != is {
        return Some(format!("it takes {is:?} where it took {was:?}"));
    }
    let optional = names(new, false);
    if let Some(gone) = names(old, false).difference(&optional).next() {
        return Some(format!("it no longer takes `{gone}`"));
    }
    let fields = |it: &Recipe| -> BTreeSet<String> {
        let shape = it.verification.iter().flat_map(|it| &it.shape);
        shape.filter_map(|it| it.split(':').next()?.rsplit('.').next()).map(str::to_owned).collect()
    };
    let (was, is) = (fields(old), fields(new));
    let gone: Vec<&String> = was.difference(&is).collect();
    if was.is_empty() || (was.len() - gone.len()) * 100 < was.len() * SAME {
        return Some(format!("fields are gone: {gone:?}"));
    }
    let is_list = |it: &Recipe| it.response.html.as_ref().map(|it| it.single);
    (is_list(old) == Some(true) && is_list(new) == Some(false)
        || is_list(old) == Some(false) && is_list(new) == Some(true))
    .then(|| "one is a list, the other a single thing".to_owned())
}

fn table(rows: &[Row]) {
    let mut table = ruled(["recipe", "verdict", "why"]);
    for it in rows {
        let verdict = match it.verdict {
            Verdict::Works => "works",
            Verdict::Healed => "healed",
            Verdict::Changed => "changed",
            Verdict::Broken => "broken",
            Verdict::Unknown => "could not tell",
        };
        table.add_row([
            it.name.to_string(),
            verdict.to_owned(),
            clean(it.why.as_deref().unwrap_or("")),
        ]);
    }
    wire::line(&table.to_string());
}
