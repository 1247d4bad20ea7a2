//! `commis recipe check`

use std::{collections::BTreeMap, io::IsTerminal as _};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::{
    Global, run,
    table::ruled,
    wire::{self, Place, clean},
};
use crate::{
    artifacts::store::now,
    error::{Code, Error, Result},
    ids::RecipeName,
    pipeline::{Fallback, call_alone, note, refused},
    recipe::{
        model::{DemotionReason, Status},
        registry::{Held, Registry, Source},
    },
    runner::{RecipeRunResult, call::Caller},
    state::{Blame, State},
};

/// Run verified recipes once each and say which still work, for cron and CI
///
/// Each is called once with its defaults and first examples, within the limits of runs, and its answer is compared with the
/// shape that was verified. Drift puts a recipe out of service at once, as in a run, and so does the fifth failure in a row by
/// its own fault; `recipe verify` proves it again. A check counts as a run.
///
/// Exit code 0: all of them work. 1: at least one drifted or failed. 3: none did, but of some nobody knows, because of the
/// network, a limit, a missing key, or an example that the recipe does not have.
///
/// With --json: a list of {name, source, verdict, demoted, blame, error_code, error, similarity_bp, items, total_ms}.
#[derive(clap::Args)]
pub struct Args {
    #[arg(required_unless_present = "all")]
    names: Vec<String>,
    /// Every verified recipe, your own and the library's
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Verdict {
    Ok,
    Drifted,
    Failed,
    /// It could not be asked: that says nothing about it.
    Unknown,
}

/// What a check of one recipe showed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    name: RecipeName,
    source: Option<Source>,
    verdict: Verdict,
    /// Put out of service by this check.
    demoted: Option<DemotionReason>,
    blame: Option<Blame>,
    error_code: Option<&'static str>,
    error: Option<String>,
    similarity_bp: Option<u32>,
    items: Option<u64>,
    /// Milliseconds.
    total_ms: Option<f64>,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = wire::open(global).await?;
    let registry = Registry::open(&place.home.recipes);
    let names: Vec<RecipeName> = if args.all {
        // A file that cannot be read is not known to be well.
        let wanted = registry.list()?.into_iter().filter(|it| {
            it.recipe.as_ref().map_or(true, |recipe| recipe.status == Status::Verified)
        });
        wanted.filter_map(|it| RecipeName::new(it.name).ok()).collect()
    } else {
        args.names.into_iter().map(RecipeName::new).collect::<Result<_>>()?
    };
    if names.is_empty() {
        wire::say("there are no verified recipes");
    }
    let check = Check {
        caller: run::caller(&place)?,
        state: State::open(&place.home.artifacts),
        registry,
        place,
    };
    let work = move || async move {
        let progress = Progress::new(names.len());
        let rows = check.all(names, &progress).await;
        progress.finish();
        rows
    };
    let rows = wire::apart("what was seen is noted", work).await?;
    if args.json {
        wire::out(&rows);
    } else if !rows.is_empty() {
        table(&rows);
    }
    Ok(exit_code(rows.iter().map(|it| it.verdict)))
}

fn exit_code(verdicts: impl Iterator<Item = Verdict>) -> u8 {
    verdicts.fold(0, |code, it| match (code, it) {
        (1, _) | (_, Verdict::Drifted | Verdict::Failed) => 1,
        (_, Verdict::Unknown) => 3,
        (code, Verdict::Ok) => code,
    })
}

struct Check {
    caller: Caller,
    state: Result<State>,
    registry: Registry,
    place: Place,
}

impl Check {
    /// Hosts side by side, the recipes of one host one after the other: none waits for its turn at a host longer than it must.
    async fn all(&self, names: Vec<RecipeName>, progress: &Progress) -> Result<Vec<Row>> {
        let mut hosts: BTreeMap<String, Vec<(usize, RecipeName)>> = BTreeMap::new();
        for (i, name) in names.into_iter().enumerate() {
            let url = self.registry.get(&name).ok().map(|it| it.recipe.request.url);
            let host = url.and_then(|it| url::Url::parse(&it).ok()?.host_str().map(str::to_owned));
            hosts.entry(host.unwrap_or_default()).or_default().push((i, name));
        }
        let at_once = self.place.settings.limits.runs as usize;
        let mut rows: Vec<(usize, Row)> = stream::iter(hosts.into_values())
            .map(|names| async move {
                let mut rows = Vec::with_capacity(names.len());
                for (i, name) in names {
                    progress.begin(&name);
                    rows.push((i, self.one(&name, progress).await?));
                    progress.end();
                }
                Ok(rows)
            })
            .buffer_unordered(at_once)
            .try_concat()
            .await?;
        rows.sort_by_key(|it| it.0);
        Ok(rows.into_iter().map(|it| it.1).collect())
    }

    /// Fails with what concerns all of them: settings, folders, a bug.
    async fn one(&self, name: &RecipeName, progress: &Progress) -> Result<Row> {
        let held = match self.registry.get(name) {
            Ok(it) => it,
            Err(err) if err.code() == Code::ArtifactIo => return Err(err),
            Err(err) => return Ok(Row::of(name, None, Verdict::Failed).because(&err)),
        };
        let row = |verdict| Row::of(name, Some(held.source), verdict);
        if held.recipe.status != Status::Verified {
            return Ok(row(Verdict::Failed).because(&refused(&held.recipe)));
        }
        let Some(values) = held.recipe.example() else {
            let err = Error::new(Code::ParamInvalid, "a required parameter has no example");
            return Ok(row(Verdict::Unknown).because(&err));
        };
        // No browser that it would not need: where the network fails, nobody knows.
        let browser = &self.place.settings.browser;
        let mut ended =
            call_alone(&held.recipe, &values, (&self.caller, browser, &run::told), Fallback::Never)
                .await;
        // Nothing for an input that had something is no rightly empty answer.
        if let Ok(it) = &mut ended
            && it.success
            && it.items == Some(0)
            && held.recipe.had_items()
        {
            it.success = false;
            it.error_code = Some(Code::ShapeDrift.as_str());
            it.error =
                Some("no items for an example that had some when it was verified".to_owned());
        }
        Ok(self.judged(name, &held, ended, progress))
    }

    fn judged(
        &self,
        name: &RecipeName,
        held: &Held,
        ended: Result<RecipeRunResult>,
        progress: &Progress,
    ) -> Row {
        let noted = note(
            &self.registry,
            run::borrowed(&self.state),
            (&held.recipe, held.source),
            ended.as_ref().map_err(Error::code),
            &now(),
        );
        progress.aside(|| {
            run::tell_demotion(name, &noted);
            if let Some(err) = &noted.not_counted {
                wire::say(&clean(&format!("warning: the check of {name} was not counted: {err}")));
            }
        });
        let verdict = match (noted.blame, ended.as_ref().ok().and_then(|it| it.error_code)) {
            (None, _) => Verdict::Ok,
            (Some(Blame::Recipe), Some(code)) if code == Code::ShapeDrift.as_str() => {
                Verdict::Drifted
            }
            (Some(Blame::Recipe), _) => Verdict::Failed,
            (Some(_), _) => Verdict::Unknown,
        };
        let row = Row::of(name, Some(held.source), verdict);
        let row = Row { demoted: noted.demoted, blame: noted.blame, ..row };
        match ended {
            Ok(it) => Row {
                error_code: it.error_code,
                error: it.error,
                similarity_bp: it.similarity_bp,
                items: it.items,
                total_ms: Some(it.timings_ms.total),
                ..row
            },
            Err(err) => row.because(&err),
        }
    }
}

impl Row {
    fn of(name: &RecipeName, source: Option<Source>, verdict: Verdict) -> Self {
        Self {
            name: name.clone(),
            source,
            verdict,
            demoted: None,
            blame: None,
            error_code: None,
            error: None,
            similarity_bp: None,
            items: None,
            total_ms: None,
        }
    }

    fn because(self, err: &Error) -> Self {
        let error = crate::redact::message(&err.to_string());
        Self { error_code: Some(err.code().as_str()), error: Some(error), ..self }
    }
}

/// A bar on a terminal, plain lines otherwise.
struct Progress(Option<ProgressBar>);

impl Progress {
    fn new(total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(total as u64));
        let style = ProgressStyle::with_template("{bar:30.cyan/dim} {pos}/{len} {elapsed} {msg}");
        if let (Some(bar), Ok(style)) = (&bar, style) {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn begin(&self, name: &RecipeName) {
        match &self.0 {
            None => wire::say(&format!("{name}: check")),
            Some(bar) => bar.set_message(name.to_string()),
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }

    /// Lines that the bar must not run through.
    fn aside(&self, say: impl FnOnce()) {
        match &self.0 {
            None => say(),
            Some(bar) => bar.suspend(say),
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn table(rows: &[Row]) {
    let mut table = ruled(["recipe", "verdict", "why", "alike", "items", "ms"]);
    for it in rows {
        let verdict = match (it.verdict, it.demoted) {
            (Verdict::Ok, _) => "ok",
            (Verdict::Drifted, Some(_)) => "drifted, deprecated",
            (Verdict::Drifted, None) => "drifted",
            (Verdict::Failed, Some(_)) => "failed, deprecated",
            (Verdict::Failed, None) => "failed",
            (Verdict::Unknown, _) => "could not tell",
        };
        let why = it.error_code.map_or(String::new(), |code| {
            format!("{} [{code}]", it.error.as_deref().unwrap_or_default())
        });
        let alike = it.similarity_bp;
        table.add_row([
            it.name.to_string(),
            verdict.to_owned(),
            clean(&why),
            alike.map(|it| format!("{}.{:02} %", it / 100, it % 100)).unwrap_or_default(),
            it.items.map(|it| it.to_string()).unwrap_or_default(),
            it.total_ms.map(|it| format!("{it:.1}")).unwrap_or_default(),
        ]);
    }
    wire::line(&table.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_failure_and_no_success() {
        use Verdict::{Drifted, Failed, Ok, Unknown};
        for (verdicts, code) in [
            (&[][..], 0),
            (&[Ok, Ok], 0),
            (&[Ok, Unknown, Ok], 3),
            (&[Unknown, Drifted, Ok], 1),
            (&[Failed, Unknown], 1),
        ] {
            assert_eq!(exit_code(verdicts.iter().copied()), code);
        }
    }
}
