//! `commis recipe validate`

use std::path::Path;

use serde::Serialize;

use super::{
    Global,
    context::{self, clean},
    learn_args::pairs,
};
use commis_base::{
    error::{Error, Result},
    files::read_bounded,
    ids::RecipeName,
};
use commis_learn::{Finding, inspect, is_finding};
use commis_net::egress::EgressPolicy;
use commis_recipe::{model::Recipe, registry::Registry, yaml};

/// Check a recipe without sending anything
///
/// An error makes a run fail. A warning makes it less safe or less useful. With values, the request that they make is checked, too.
/// Exit code 1 if there are errors.
///
/// With --json: {valid, errors, warnings}, each of these with `code`, `message` and `hint`.
#[derive(clap::Args)]
pub struct Args {
    /// A recipe's name, or a file (with a slash, or ending in .yaml)
    recipe: String,
    /// A parameter of the recipe
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValidateReport<'a> {
    valid: bool,
    errors: &'a [Finding],
    warnings: &'a [Finding],
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    // Started, when asked for, so that its hosts are judged as a run would judge them.
    let place = context::open(global).await?;
    let params = pairs(&args.param)?;
    let policy = EgressPolicy::new(&place.settings.egress)?;
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    let recipe = match read(&args.recipe, &context::registry(&place.home)?) {
        Ok(it) => Some(it),
        Err(err) if is_finding(&err) => {
            errors.push(Finding::from_error(&err));
            None
        }
        Err(err) => return Err(err),
    };
    if let Some(it) = &recipe {
        let found = inspect(it, &params, &policy, &place.settings);
        errors.extend(found.errors);
        warnings = found.warnings;
    }
    if args.json {
        context::out(&ValidateReport {
            valid: errors.is_empty(),
            errors: &errors,
            warnings: &warnings,
        });
    } else {
        for (kind, all) in [("error", &errors), ("warning", &warnings)] {
            for it in all {
                context::line(&clean(&format!("{kind}: {} [{}]", it.message, it.code)));
                if let Some(hint) = &it.hint {
                    context::line(&clean(&format!("  hint: {hint}")));
                }
            }
        }
        if errors.is_empty() {
            context::line(&format!("{}: valid, {} warnings", clean(&args.recipe), warnings.len()));
        }
    }
    Ok(u8::from(!errors.is_empty()))
}

fn read(what: &str, registry: &Registry) -> Result<Recipe> {
    let is_file = what.contains('/') || Path::new(what).extension().is_some_and(|it| it == "yaml");
    if !is_file {
        return Ok(registry.get(&RecipeName::new(what)?)?.recipe);
    }
    let bytes = read_bounded(Path::new(what), yaml::MAX_LEN as u64)?;
    let text = String::from_utf8_lossy(&bytes);
    yaml::parse(&text).map_err(|err| {
        if !text.lines().any(|it| it.starts_with("recipes:")) {
            return err;
        }
        Error::new(err.code(), format!("{what} is a manifest of tasks, and no recipe")).hint(
            format!("this is a manifest: learn its tasks with `commis recipe learn-batch --manifest {what}`"),
        )
    })
}
