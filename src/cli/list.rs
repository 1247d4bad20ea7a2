//! `commis recipe list`

use std::path::Path;

use serde::Serialize;

use super::{Global, table::ruled, wire};
use commis_base::{
    error::{Code, Result},
    ids::RecipeName,
};
use commis_recipe::{
    model::{Demotion, Parameter, Status},
    registry::Source,
};
use commis_state::{Health, State};

/// List recipes: your own, and the library's that come with the program
///
/// With --json: a list of {name, status, task, category, parameters, path, source, shadows, demotion, health}; of a file that does not
/// parse `error_code` and `error` in place of what it would say.
#[derive(clap::Args)]
pub struct Args {
    /// Only your own, or only the library's
    #[arg(long, value_enum)]
    source: Option<Only>,
    /// Only this category
    #[arg(long)]
    category: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Only {
    User,
    Library,
}

/// What a file holds, or why it cannot be read.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Row<'a> {
    Read {
        name: &'a RecipeName,
        status: Status,
        task: &'a str,
        category: Option<&'a str>,
        parameters: &'a [Parameter],
        path: Option<&'a Path>,
        source: Source,
        /// It takes the place of the library's of that name.
        shadows: bool,
        demotion: Option<&'a Demotion>,
        health: Option<&'a Health>,
    },
    Broken {
        name: &'a str,
        path: Option<&'a Path>,
        source: Source,
        shadows: bool,
        #[cfg_attr(test, schemars(with = "String"))]
        error_code: Code,
        error: String,
    },
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = wire::read(global)?;
    let mut entries = wire::registry(&home)?.list()?;
    entries.retain(|it| match args.source {
        None => true,
        Some(Only::User) => it.source == Source::User,
        Some(Only::Library) => it.source == Source::Library,
    });
    if let Some(wanted) = &args.category {
        entries
            .retain(|it| it.recipe.as_ref().is_ok_and(|it| it.category.as_ref() == Some(wanted)));
    }
    let known =
        State::look(&home.artifacts).and_then(|it| it.all_health().ok()).unwrap_or_default();
    let health = |name: &str, source: Source| -> Option<&Health> {
        known.iter().find(|it| it.name == name && it.source == source.as_str())
    };
    if args.json {
        let rows: Vec<_> = entries
            .iter()
            .map(|it| match &it.recipe {
                Ok(recipe) => Row::Read {
                    name: &recipe.name,
                    status: recipe.status,
                    task: &recipe.task,
                    category: recipe.category.as_deref(),
                    parameters: &recipe.parameters,
                    path: it.path.as_deref(),
                    source: it.source,
                    shadows: it.shadows,
                    demotion: recipe.demotion.as_ref(),
                    health: health(&it.name, it.source),
                },
                Err(err) => Row::Broken {
                    name: &it.name,
                    path: it.path.as_deref(),
                    source: it.source,
                    shadows: it.shadows,
                    error_code: err.code(),
                    error: err.to_string(),
                },
            })
            .collect();
        wire::out(&rows);
        return Ok(0);
    }
    let mut table =
        ruled(["name", "source", "status", "category", "parameters", "task", "runs", "last ok"]);
    for entry in &entries {
        let source = match (entry.source, entry.shadows) {
            (Source::Library, _) => "library",
            (Source::User, false) => "user",
            (Source::User, true) => "user, over the library's",
        };
        match &entry.recipe {
            Ok(it) => {
                let health = health(&entry.name, entry.source);
                let names: Vec<&str> = it.parameters.iter().map(|it| it.name.as_str()).collect();
                table.add_row([
                    it.name.to_string(),
                    source.to_owned(),
                    it.status.as_str().to_owned(),
                    wire::clean(it.category.as_deref().unwrap_or_default()),
                    names.join(", "),
                    wire::clean(&it.task),
                    health.map(runs).unwrap_or_default(),
                    health.and_then(|it| it.last_ok_ms).map(wire::moment).unwrap_or_default(),
                ])
            }
            Err(err) => table.add_row([
                wire::clean(&entry.name),
                source.to_owned(),
                wire::clean(&format!("broken: {err}")),
            ]),
        };
    }
    if entries.is_empty() {
        wire::say(
            "no such recipes; `commis recipe learn-batch` or `commis recipe learn` makes some",
        );
    } else {
        wire::line(&table.to_string());
    }
    Ok(0)
}

/// `12 (3 failed)`
fn runs(it: &Health) -> String {
    let failed = if it.failed > 0 { format!(" ({} failed)", it.failed) } else { String::new() };
    format!("{}{failed}", it.runs)
}
