//! A recipe that a site's change broke is learned again, by the steps that it was learned from.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Consent, HealthUpdate, LearnContext, OnProgress, Source, StoredChoice, StoredTask, Task, learn,
    nobody_consents, prove,
};
use commis_artifacts::{payloads::Outcome, store::Store};
use commis_base::{
    error::{Code, Error, Result},
    files,
    ids::RecipeName,
};
use commis_recipe::{
    model::{Parameter, Recipe, Status},
    registry::Registry,
    trust::Trust,
};
use commis_runner::call::Caller;
use commis_vault::{Login, Vault};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
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

impl Verdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Healed => "healed",
            Self::Changed => "changed",
            Self::Broken => "broken",
            Self::Unknown => "unknown",
        }
    }
}

/// What became of a recipe.
#[derive(Debug, Serialize)]
pub struct HealResult {
    pub verdict: Verdict,
    pub why: Option<String>,
    /// The draft that was learned anew, where it means something else.
    pub draft: Option<RecipeName>,
    /// What was noted of it when it was proven.
    #[serde(skip)]
    pub noted: HealthUpdate,
}

/// What healing works with.
pub struct Healer<'a> {
    pub caller: &'a Caller,
    pub registry: &'a Registry,
    /// Where the tasks are that recipes were learned from.
    pub store: &'a Store,
    pub tell: &'a OnProgress,
}

impl Healer<'_> {
    /// Proves the recipe on its examples, and learns it again where that fails, with what `cx` has but in a folder beside.
    ///
    /// Fails with `RECIPE_NOT_FOUND`, `RECIPE_NOT_VERIFIED` for one that was taken back, `TASK_NOT_FOUND` for one that cannot be
    /// recorded again from here, `TASK_BUSY` while another is healed in this home, and as [`prove`] and [`learn`] do.
    pub async fn heal(&self, name: &RecipeName, cx: Arc<LearnContext>) -> Result<HealResult> {
        let Some(held) = self.registry.user_recipe(name)? else {
            return Err(Error::new(Code::RecipeNotFound, format!("you have no recipe `{name}`"))
                .hint(
                    "a recipe of the library cannot be learned again; copy it with `recipe fork`",
                ));
        };
        // It may have been taken back because the request changes something: nothing is sent to find out.
        if !held.state().may_be_proven() {
            return Err(Error::new(
                Code::RecipeNotVerified,
                format!("`{name}` was withdrawn when its task was learned again"),
            )
            .hint("`recipe debug` says why"));
        }
        (self.tell)(&format!("{name}: does it work?"));
        let mut out = HealResult {
            verdict: Verdict::Works,
            why: None,
            draft: None,
            noted: HealthUpdate::default(),
        };
        let with = (self.caller, &cx.settings, self.tell);
        let login = self.login(&held, &cx)?;
        let consent = (&nobody_consents as &Consent<'_>, login.as_ref());
        let why = match prove(self.registry, name, with, consent).await {
            Ok((it, ..)) if it.verified && it.changed.is_empty() => return Ok(out),
            // It answers, and not as it did: what is learned anew says whether the site has less.
            Ok((it, ..)) if it.verified => it.changed.join("; "),
            // Trouble of the network says nothing of the recipe, nor does a login that has ended.
            Ok((it, ..)) if it.retryable || is_about_login(it.reason.as_deref()) => {
                return Ok(HealResult { verdict: Verdict::Unknown, why: it.reason, ..out });
            }
            Ok((it, _, noted)) => {
                out.noted = noted;
                it.reason.unwrap_or_default()
            }
            Err(err) if err.code() == Code::RecipeNotVerified => err.to_string(),
            Err(err) if err.code() == Code::LoginRequired => {
                let why = Some(err.to_string());
                return Ok(HealResult { verdict: Verdict::Unknown, why, ..out });
            }
            Err(err) => return Err(err),
        };
        (self.tell)(&format!("{name}: learned again, because {why}"));
        let (task, choice) = self.task(&held).map_err(|err| err.context(&why))?;
        let (new, end) = self.relearn(&task, choice, cx).await?;
        let Some(mut new) = new else {
            let why = Some(format!("{why}; learning it again: {end}"));
            return Ok(HealResult { verdict: Verdict::Broken, why, ..out });
        };
        if let Some(other) = difference(&held, &new) {
            let draft = free(self.registry, name, "changed")?;
            new.name = draft.clone();
            new.refused = Some(format!("it means something else than `{name}` did: {other}"));
            (new.status, new.trust) = (Status::Draft, Trust::Learned);
            self.registry.save(&new)?;
            let why = Some(format!("{other}; see the draft `{draft}`"));
            return Ok(HealResult { verdict: Verdict::Changed, why, draft: Some(draft), ..out });
        }
        let old = Registry::open(&self.registry.folder().join("old"));
        let kept = Recipe { name: free(&old, name, "old")?, trust: Trust::Unknown, ..held };
        old.save(&kept)?;
        new.name = name.clone();
        self.registry.save(&new)?;
        Ok(HealResult { verdict: Verdict::Healed, why: Some(why), ..out })
    }

    /// The login that the recipe was learned with, where its proof had one: another account has other data.
    fn login(&self, recipe: &Recipe, cx: &LearnContext) -> Result<Option<Login>> {
        let proven = recipe.verification.as_ref().is_some_and(|it| it.proof.is_some());
        if recipe.login.is_none() || !proven {
            return Ok(None);
        }
        let Ok((task, _)) = self.task(recipe) else { return Ok(None) };
        let name = task.logins.first();
        name.map(|it| Login::open(Vault::clone(&cx.vault), it)).transpose()
    }

    /// The task that the recipe was learned from. Fails with [`Code::TaskNotFound`] when it cannot be recorded again from here.
    fn task(&self, recipe: &Recipe) -> Result<(Task, Option<StoredChoice>)> {
        let none = |why: &str| {
            Error::new(
                Code::TaskNotFound,
                format!("`{}` cannot be learned again: {why}", recipe.name),
            )
        };
        for id in self.store.tasks()? {
            let Some(folder) = self.store.peek(&id)? else { continue };
            let Ok(Some(stored)) = StoredTask::read(&folder, &id) else { continue };
            if !stored.is_about(&recipe.task) || *stored.name() != recipe.name {
                continue;
            }
            let choice = stored.choice.clone();
            let task = stored.task().ok_or_else(|| {
                none("its task held a secret, which is not stored")
                    .hint("learn it from its manifest, with --force")
            })?;
            return match task.source {
                Source::Live { by_hand: false, .. } => Ok((task, choice)),
                _ => Err(none("it was not learned by steps").hint("record it again")),
            };
        }
        Err(none("its recording is not stored").hint("learn it from its manifest"))
    }

    /// What the task comes to now, with artifacts and recipe in a folder of their own; why, where it is not verified.
    async fn relearn(
        &self,
        task: &Task,
        choice: Option<StoredChoice>,
        mut cx: Arc<LearnContext>,
    ) -> Result<(Option<Recipe>, String)> {
        let folder = files::open_or_create(&self.registry.folder().join("healing"))?;
        let _lock = folder.try_lock()?.ok_or_else(|| {
            Error::new(Code::TaskBusy, "another `heal` is running").hint("wait until it ends")
        })?;
        let aside = TemporaryFolder::new(self.registry.folder().join("healing/new"))?;
        let own = Arc::get_mut(&mut cx)
            .ok_or_else(|| Error::new(Code::Internal, "the learner is in use before it begins"))?;
        own.recipes = Registry::open(&aside.0.join("recipes"));
        own.store = Store::new(aside.0.join("artifacts"));
        StoredTask::new(task, choice)?.write(&own.store.task(&task.id)?)?;
        let end = learn(task, &cx).await?;
        let why = [end.reason, end.detail].into_iter().flatten().collect::<Vec<_>>().join(", ");
        Ok(match (end.outcome, end.recipe) {
            (Outcome::Verified, Some(_)) => (cx.recipes.user_recipe(&task.name)?, why),
            (outcome, _) => (None, format!("{} {why}", outcome.as_str())),
        })
    }
}

fn is_about_login(reason: Option<&str>) -> bool {
    reason.is_some_and(|it| it.contains(Code::LoginExpired.as_str()))
}

/// A folder that is empty at first and gone in the end.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new(path: PathBuf) -> Result<Self> {
        let out = Self(path);
        out.clear().map_err(|err| {
            Error::new(Code::ArtifactIo, format!("{} cannot be cleared", out.0.display()))
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

impl Drop for TemporaryFolder {
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
        if registry.user_recipe(&name).is_ok_and(|it| it.is_none()) {
            return Ok(name);
        }
    }
    Err(Error::new(Code::Usage, format!("a thousand files are named `{name}-{what}` already")))
}

/// What examples were answered otherwise than they are now.
fn other_answers(old: &Recipe, new: &Recipe) -> Option<String> {
    let of =
        |it: &Recipe| it.verification.as_ref().map(|it| it.examples.clone()).unwrap_or_default();
    let now = of(new);
    of(old).iter().find_map(|was| {
        let is = now.iter().find(|it| it.values == was.values)?;
        let how = was.difference(is)?;
        let values: Vec<String> = was.values.values().map(|it| format!("{it:?}")).collect();
        Some(format!("{}: {how}", values.join(", ")))
    })
}

/// What the new recipe does otherwise than the old one, for a caller; `None` where it means the same.
fn difference(old: &Recipe, new: &Recipe) -> Option<String> {
    /// Per cent of the old one's fields that have to be there, by name.
    const SAME: usize = 80;
    if old.auth.is_some() {
        return Some("it needs a key that was added by hand".to_owned());
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
        return Some(format!("fields are missing: {gone:?}"));
    }
    if let Some(other) = other_answers(old, new) {
        return Some(other);
    }
    let is_list = |it: &Recipe| it.response.html.as_ref().map(|it| it.single);
    (is_list(old) == Some(true) && is_list(new) == Some(false)
        || is_list(old) == Some(false) && is_list(new) == Some(true))
    .then(|| "one is a list, the other a single thing".to_owned())
}
