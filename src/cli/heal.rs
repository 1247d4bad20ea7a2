//! `commis recipe heal`

use std::time::Duration;

use serde::Serialize;

use super::{
    Global,
    context::{self, clean},
    names,
    progress::Progress,
    run,
    table::ruled,
};
use commis_artifacts::store::Store;
use commis_base::{
    error::{Class, Result},
    ids::RecipeName,
};
use commis_learn::{Healer, Task, Verdict};
use commis_recipe::{model::Status, registry};

/// Learn broken recipes again, by the steps that they were learned from
///
/// It first proves the recipe again on its examples, as `recipe verify` does, and leaves a working one alone. Otherwise it
/// records and learns the task again beside the stored artifacts, and sends nothing that the first learning would not have
/// sent. A new verified recipe replaces the old one if it means the same: the same parameters, and nearly all of its fields.
/// The old one is kept in `old/`. A recipe of another meaning becomes a draft, NAME-changed.
///
/// It cannot learn recipes again that came from a HAR or by hand, or whose task holds a secret or changes something. Exit code
/// 1: at least one does not work in the end. 3: the others work, and some are unknown, because of the network or a limit.
///
/// With --json: a list of {name, verdict, error_code, why}.
#[derive(clap::Args)]
pub struct Args {
    /// Names of recipes: `commis list` has them
    #[arg(add = names::recipes(), required_unless_present = "all")]
    names: Vec<String>,
    /// Every recipe of your own that is verified or out of service
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    name: RecipeName,
    verdict: Verdict,
    error_code: Option<&'static str>,
    why: Option<String>,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = context::open(global).await?;
    let registry = context::registry(&place.home)?;
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
    let (caller, store) = (run::caller(&place)?, Store::new(place.home.artifacts.clone()));
    let work = move || async move {
        let with = Healer {
            caller: &caller,
            registry: &registry,
            store: &store,
            tell: &run::print_notice,
        };
        let mut rows = Vec::new();
        for name in names {
            let progress = Progress::new(1);
            let stages = progress.clone();
            let on_stage = Box::new(move |task: &Task, stage| stages.stage(task, stage));
            let cx = context::learning(&place, None, Duration::ZERO, on_stage)?;
            let browser = cx.browser.clone();
            let healed = with.heal(&name, cx).await;
            progress.finish();
            browser.close().await;
            rows.push(match healed {
                Ok(it) => {
                    run::tell_demotion(&name, &it.noted);
                    Row { name, verdict: it.verdict, error_code: None, why: it.why }
                }
                Err(err) if matches!(err.code().class(), Class::Environment | Class::Bug) => {
                    return Err(err);
                }
                Err(err) => Row {
                    name,
                    verdict: Verdict::Broken,
                    error_code: Some(err.code().as_str()),
                    why: Some(commis_redact::message(&err.to_string())),
                },
            });
            tokio::task::yield_now().await;
        }
        Ok(rows)
    };
    let rows = context::run_interruptible("what was healed is kept", work).await?;
    if args.json {
        context::out(&rows);
    } else if !rows.is_empty() {
        table(&rows);
    }
    Ok(rows.iter().fold(0, |code, it| match (code, it.verdict) {
        (1, _) | (_, Verdict::Changed | Verdict::Broken) => 1,
        (_, Verdict::Unknown) => 3,
        (code, Verdict::Works | Verdict::Healed) => code,
    }))
}

fn table(rows: &[Row]) {
    let mut table = ruled(["recipe", "verdict", "why"]);
    for it in rows {
        let verdict = match it.verdict {
            Verdict::Unknown => "could not tell",
            it => it.as_str(),
        };
        table.add_row([
            it.name.to_string(),
            verdict.to_owned(),
            clean(it.why.as_deref().unwrap_or("")),
        ]);
    }
    context::line(&table.to_string());
}
