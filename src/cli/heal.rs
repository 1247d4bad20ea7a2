//! `commis recipe heal`

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use comfy_table::{ContentArrangement, Table, presets::UTF8_BORDERS_ONLY};
use serde::Serialize;

use super::{
    Global,
    progress::Progress,
    run, verify,
    wire::{self, Place, clean},
};
use crate::{
    artifacts::store::Store,
    error::{Class, Code, Error, Result},
    ids::RecipeName,
    pipeline::{self, Redo, Source, StoredTask, Task},
    recipe::{
        model::{Recipe, Status},
        registry::{self, Registry},
    },
    runner::call::Caller,
};

/// Learn recipes again that a site's change broke, by the steps that they were learned from
///
/// A recipe that works is left alone: it is first proven again on its examples, as by `recipe verify`. Where it fails, its task
/// is recorded and learned anew, as by `recipe learn-batch --force`, with nothing sent that the first learning would not have
/// sent. What is verified then replaces the recipe if it means the same: parameters of the same names, and the fields that it
/// gave. The old one is kept beside, in `old/`. What means something else is written as `NAME-changed`, a draft, for you to look at.
///
/// Recipes from a HAR or by hand cannot be learned again unasked, and neither can those whose task held a secret. Exit code 1
/// when one does not work in the end.
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
    let mut rows = Vec::new();
    for name in names {
        let end = tokio::select! {
            it = heal.one(&name) => it,
            () = wire::interrupted() => Err(Error::new(Code::Interrupted, "interrupted").hint("what was healed is kept")),
        };
        rows.push(match end {
            Ok(it) => it,
            Err(err)
                if matches!(
                    err.code().class(),
                    Class::Environment | Class::Bug | Class::Interrupted
                ) =>
            {
                return Err(err);
            }
            Err(err) => Row {
                name,
                verdict: Verdict::Broken,
                error_code: Some(err.code().as_str()),
                why: Some(crate::redact::message(&err.to_string())),
            },
        });
    }
    if args.json {
        wire::out(&rows);
    } else if !rows.is_empty() {
        table(&rows);
    }
    let works = |it: &Row| matches!(it.verdict, Verdict::Works | Verdict::Healed);
    Ok(u8::from(!rows.iter().all(works)))
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
            Ok((it, _)) if it.retryable => return Ok(row(Verdict::Broken, it.reason)),
            Ok((it, _)) => it.reason.unwrap_or_default(),
            Err(err) if err.code() == Code::RecipeNotVerified => err.to_string(),
            Err(err) => return Err(err),
        };
        wire::say(&clean(&format!("{name}: learned again, because {why}")));
        let task = self.task(&held)?;
        let new = self.learned(&task).await?;
        let Some(mut new) = new.0 else {
            return Ok(row(Verdict::Broken, Some(format!("{why}; learning it again: {}", new.1))));
        };
        if let Some(other) = difference(&held, &new) {
            new.name = RecipeName::new(format!("{name}-changed"))?;
            new.refused = Some(format!("it means something else than `{name}` did: {other}"));
            new.status = Status::Draft;
            let path = self.registry.save(&new)?;
            return Ok(row(Verdict::Changed, Some(format!("{other}; see {}", path.display()))));
        }
        Registry::open(&self.place.home.recipes.join("old")).save(&held)?;
        new.name = name.clone();
        self.registry.save(&new)?;
        Ok(row(Verdict::Healed, Some(why)))
    }

    /// The task that the recipe was learned from. Fails with [`Code::TaskNotFound`] when it cannot be recorded again from here.
    fn task(&self, recipe: &Recipe) -> Result<Task> {
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
            let task = stored.task().ok_or_else(|| {
                none("its task held a secret, which was not kept")
                    .hint("learn it from its manifest, with --force")
            })?;
            return match task.source {
                Source::Live { by_hand: false, .. } => Ok(task),
                _ => Err(none("it was not learned by steps").hint("record it anew")),
            };
        }
        Err(none("what it was learned from is not kept").hint("learn it from its manifest"))
    }

    /// What the task comes to now, published nowhere; why, where it is not verified.
    async fn learned(&self, task: &Task) -> Result<(Option<Recipe>, String)> {
        let progress = Progress::new(1);
        let stages = progress.clone();
        let mut cx = wire::learning(
            &self.place,
            Some(Redo::All),
            Duration::ZERO,
            Box::new(move |task, stage| stages.stage(task, stage)),
        )?;
        let folder = self.place.home.recipes.join("new");
        if let Some(cx) = Arc::get_mut(&mut cx) {
            cx.recipes = Registry::open(&folder);
        }
        let end = pipeline::learn(task, &cx).await;
        progress.end(task, &end);
        progress.finish();
        cx.browser.close().await;
        let end = end?;
        let why = [end.reason, end.detail].into_iter().flatten().collect::<Vec<_>>().join(", ");
        if end.recipe.is_none() {
            return Ok((None, format!("{} {why}", end.outcome.as_str())));
        }
        let new = cx.recipes.own(&task.name)?;
        cx.recipes.delete(&task.name)?;
        Ok((new.filter(|it| it.status == Status::Verified), why))
    }
}

/// What the new recipe does otherwise than the old one, for a caller; `None` where it means the same.
fn difference(old: &Recipe, new: &Recipe) -> Option<String> {
    let needed = |it: &Recipe| -> BTreeSet<String> {
        let all = it.parameters.iter().filter(|it| it.required && it.default.is_none());
        all.map(|it| it.name.clone()).collect()
    };
    let (was, is) = (needed(old), needed(new));
    if was != is {
        return Some(format!("it takes {is:?} where it took {was:?}"));
    }
    let fields = |it: &Recipe| -> BTreeSet<String> {
        let shape = it.verification.iter().flat_map(|it| &it.shape);
        shape.filter_map(|it| it.split(':').next()?.rsplit('.').next()).map(str::to_owned).collect()
    };
    let (was, is) = (fields(old), fields(new));
    let kept = was.intersection(&is).count();
    (kept * 2 < was.len()).then(|| {
        let gone: Vec<&String> = was.difference(&is).take(8).collect();
        format!("fields are gone: {gone:?}")
    })
}

fn table(rows: &[Row]) {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["recipe", "verdict", "why"]);
    for it in rows {
        let verdict = match it.verdict {
            Verdict::Works => "works",
            Verdict::Healed => "healed",
            Verdict::Changed => "changed",
            Verdict::Broken => "broken",
        };
        table.add_row([
            it.name.to_string(),
            verdict.to_owned(),
            clean(it.why.as_deref().unwrap_or("")),
        ]);
    }
    wire::line(&table.to_string());
}
