//! `commis recipe verify`

use std::time::{Duration, Instant};

use serde_json::json;

use super::{
    Global,
    run::{self, Fallback},
    table::ruled,
    wire::{self, clean},
};
use crate::{
    artifacts::store::now,
    error::{Class, Code, Error, Result},
    ids::RecipeName,
    pipeline::{Noted, Reverified, reverify},
    recipe::{
        registry::{Entry, Held, Registry, Source},
        standing::Event,
    },
    runner::call::Caller,
    settings::Settings,
};

/// Prove recipes on the examples of their parameters
///
/// Each is called with its first examples, its second ones and its first again: the answers must have one shape, and the data
/// must change with the input. Your own recipe that passes becomes verified, also one that runs had put out of service. For one
/// of the library that is noted beside your recipes; the recipe itself is not changed. A verified one whose answer has another
/// shape than before is put out of service. Exit code 1 when one does not pass.
#[derive(clap::Args)]
pub struct Args {
    #[arg(required_unless_present_any = ["library", "all"])]
    names: Vec<String>,
    /// Every recipe of the library
    #[arg(long)]
    library: bool,
    /// Every recipe there is
    #[arg(long, conflicts_with = "library")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = wire::open(global).await?;
    let registry = Registry::open(&place.home.recipes);
    let names: Vec<RecipeName> = if args.library || args.all {
        let wanted = |it: &Entry| args.all || it.source == Source::Library;
        let all = registry.list()?.into_iter().filter(wanted);
        // A file whose name is none is listed as broken by `list`; there is nothing to call.
        all.filter_map(|it| RecipeName::new(it.name).ok()).collect()
    } else {
        args.names.into_iter().map(RecipeName::new).collect::<Result<_>>()?
    };
    let caller = run::caller(&place)?;
    let work = move || async move {
        let mut rows = Vec::new();
        for name in names {
            wire::say(&format!("{name}: verify"));
            match one(&registry, &name, &caller, &place.settings).await {
                // A recipe that is broken or refused does not keep the others from their turn.
                Err(err) if matches!(err.code().class(), Class::Environment | Class::Bug) => {
                    return Err(err);
                }
                end => rows.push((name, end)),
            }
            tokio::task::yield_now().await;
        }
        Ok(rows)
    };
    let rows = wire::apart("what was verified is kept", work).await?;
    let failed = rows.iter().any(|it| !it.1.as_ref().is_ok_and(|it| it.0.verified));
    if args.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, end)| match end {
                Ok((it, source)) => json!({"name": name, "source": source, "result": it}),
                Err(err) => json!({"name": name, "error_code": err.code().as_str(), "error": err.to_string()}),
            })
            .collect();
        wire::out(&rows);
    } else {
        table(&rows);
    }
    Ok(u8::from(failed))
}

/// Proves one recipe and notes that it was. Fails with what reading and compiling it fails with, and with `BROWSER_*`.
pub async fn one(
    registry: &Registry,
    name: &RecipeName,
    caller: &Caller,
    settings: &Settings,
) -> Result<(Reverified, Source)> {
    let Held { mut recipe, source, .. } = registry.get(name)?;
    // It may have been taken back because the request changes something: nothing is sent to find out.
    if !recipe.standing().may_be_proven() {
        return Err(Error::new(
            Code::RecipeNotVerified,
            format!("`{name}` was taken back when its task was learned again"),
        )
        .hint("learn the task again; `recipe debug` says why it was taken back"));
    }
    // The page that spoke against it is not here to be asked again.
    if let Some(why) = &recipe.refused {
        return Err(Error::new(
            Code::RecipeNotVerified,
            format!("`{name}` was refused when it was learned: {why}"),
        )
        .hint(
            "examples alone cannot prove it; learn the task again, or choose another candidate",
        ));
    }
    let compiled = caller.compiled(&recipe)?;
    let gap = if caller.policy().is_test_host(compiled.host()) {
        Duration::ZERO
    } else {
        Duration::from_millis(settings.learning.pace_ms)
    };
    let mut last: Option<Instant> = None;
    let out = reverify(&recipe, async |values| {
        if let Some(last) = last {
            tokio::time::sleep(gap.saturating_sub(last.elapsed())).await;
        }
        last = Some(Instant::now());
        run::call(&recipe, values, caller, &settings.browser, Fallback::Never).await
    })
    .await?;
    if out.verified {
        let proof = out.prove(&recipe, now());
        if source == Source::Library {
            registry.record(name, &proof)?;
        } else {
            recipe.stand(recipe.standing().after(Event::Proven), "");
            recipe.verification = Some(proof);
            registry.save(&recipe)?;
        }
    } else if out.drifted {
        let demoted = registry.demote(&recipe, source, Event::Drifted, &now())?;
        run::tell_demotion(name, &Noted { demoted, ..Noted::default() });
    }
    Ok((out, source))
}

fn table(rows: &[(RecipeName, Result<(Reverified, Source)>)]) {
    let mut table =
        ruled(["recipe", "verdict", "why", "calls", "items", "parameters with an effect"]);
    for (name, end) in rows {
        match end {
            Ok((it, _)) => {
                let verdict = match (it.verified, it.retryable) {
                    (true, _) => "verified",
                    (false, true) => "could not tell",
                    (false, false) => "failed",
                };
                let mut effective = it.effective.join(", ");
                if !it.without_effect.is_empty() {
                    effective =
                        format!("{effective} (none seen: {})", it.without_effect.join(", "));
                }
                table.add_row([
                    name.to_string(),
                    verdict.to_owned(),
                    clean(it.reason.as_deref().unwrap_or("")),
                    it.calls.to_string(),
                    it.items.map(|it| it.to_string()).unwrap_or_default(),
                    effective,
                ])
            }
            Err(err) => table.add_row([
                name.to_string(),
                "failed".to_owned(),
                clean(&format!("{err} [{}]", err.code())),
            ]),
        };
    }
    wire::line(&table.to_string());
}
