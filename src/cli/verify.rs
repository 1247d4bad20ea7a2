//! `commis recipe verify`

use serde::Serialize;

use super::{
    Global,
    context::{self, clean},
    names, run,
    table::ruled,
    trust,
};
use commis_base::{
    error::{Class, Result},
    ids::RecipeName,
};
use commis_learn::{ReverifyResult, prove};
use commis_recipe::{
    model::Recipe,
    registry::{Entry, Source},
};
use commis_vault::{Login, Vault};

/// Prove recipes on the examples of their parameters
///
/// Each recipe is called with its first examples, its second ones and its first again. The answers must have one shape, and the
/// data must follow the input. A recipe of yours that passes becomes verified, also if it was out of service. A recipe that was
/// not learned here and may change something is sent only after you confirm it at a terminal; otherwise it is
/// RECIPE_MAY_CHANGE. The proof of a library recipe is stored beside your recipes; the recipe itself is not changed. A verified recipe whose answer has another
/// shape is put out of service. Exit code 1 if one does not pass.
///
/// With --json: a list of {name, source, result}, where the result has `verified`, `reason`, `retryable`, `drifted`, `calls`, `items`,
/// `effective` and `without_effect`. If a recipe could not be called, it has `error_code` and `error` instead of a result.
#[derive(clap::Args)]
pub struct Args {
    /// Names of recipes: `commis list` has them
    #[arg(add = names::recipes(), required_unless_present_any = ["library", "all"])]
    names: Vec<String>,
    /// Every recipe of the library
    #[arg(long)]
    library: bool,
    /// Every recipe there is
    #[arg(long, conflicts_with = "library")]
    all: bool,
    /// Prove the recipes that need a login with this one; give the login that they were learned with
    #[arg(add = names::logins(), long = "as", value_name = "LOGIN")]
    login: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What proving one showed, or why it could not be asked.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Row<'a> {
    Asked { name: &'a RecipeName, source: Source, result: &'a ReverifyResult },
    NotAsked { name: &'a RecipeName, error_code: &'static str, error: String },
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = context::open(global).await?;
    let registry = context::registry(&place.home)?;
    let names: Vec<RecipeName> = if args.library || args.all {
        let wanted = |it: &Entry| args.all || it.source == Source::Library;
        let all = registry.list()?.into_iter().filter(wanted);
        // A file whose name is none is listed as broken by `list`; there is nothing to call.
        all.filter_map(|it| RecipeName::new(it.name).ok()).collect()
    } else {
        args.names.into_iter().map(RecipeName::new).collect::<Result<_>>()?
    };
    let login = match &args.login {
        Some(name) => Some(Login::open(Vault::new(&place.home), &name.parse()?)?),
        None => None,
    };
    let caller = run::caller(&place)?;
    let work = move || async move {
        let mut rows = Vec::new();
        for name in names {
            context::say(&format!("{name}: verify"));
            let with = (&caller, &place.settings, &run::print_notice as &commis_learn::OnProgress);
            // One that needs none is proven as anybody calls it.
            let needs_login = registry.get(&name).is_ok_and(|it| it.recipe.login.is_some());
            let login = login.as_ref().filter(|_| needs_login);
            match prove(&registry, &name, with, (&consent, login)).await {
                // A recipe that is broken or refused does not keep the others from their turn.
                Err(err) if matches!(err.code().class(), Class::Environment | Class::Bug) => {
                    return Err(err);
                }
                Ok((proof, source, noted)) => {
                    run::tell_demotion(&name, &noted);
                    rows.push((name, Ok((proof, source))));
                }
                Err(err) => rows.push((name, Err(err))),
            }
            tokio::task::yield_now().await;
        }
        Ok(rows)
    };
    let rows = context::run_interruptible("what was verified is kept", work).await?;
    let failed = rows.iter().any(|it| !it.1.as_ref().is_ok_and(|it| it.0.verified));
    if args.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, end)| match end {
                Ok((it, source)) => Row::Asked { name, source: *source, result: it },
                Err(err) => {
                    Row::NotAsked { name, error_code: err.code().as_str(), error: err.to_string() }
                }
            })
            .collect();
        context::out(&rows);
    } else {
        table(&rows);
    }
    Ok(u8::from(failed))
}

/// Asks at the terminal; nobody is asked elsewhere.
fn consent(recipe: &Recipe, why: &str) -> bool {
    if !context::is_someone_there() {
        return false;
    }
    let name = &recipe.name;
    context::say(&clean(&format!("{name} was not learned here, and {why}.")));
    for line in trust::facts(recipe) {
        context::say(&clean(&format!("  {line}")));
    }
    context::confirmed("send this three times, with its examples?")
}

fn table(rows: &[(RecipeName, Result<(ReverifyResult, Source)>)]) {
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
                for how in &it.changed {
                    context::say(&clean(&format!("warning: {name}: not as it was: {how}")));
                }
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
    context::line(&table.to_string());
}
