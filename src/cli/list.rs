//! `commis recipe list`

use std::path::Path;

use serde::Serialize;

use super::{Global, context, table::ruled};
use commis_base::{
    error::{Code, Result},
    ids::RecipeName,
};
use commis_recipe::{
    model::{Demotion, Parameter, Status},
    registry::{Entry, Source},
};
use commis_state::{Health, State};

/// List recipes
///
/// It lists your own recipes and verified ones of the library; --source library lists its drafts, too. JSON has all of them.
///
/// With --json: a list of {name, status, task, category, parameters, path, source, shadows, demotion, health}; for a file that does
/// not parse, `error_code` and `error` in place of the recipe's fields.
#[derive(clap::Args)]
pub struct Args {
    /// Only your own, or only the library's
    #[arg(long, value_enum)]
    source: Option<SourceFilter>,
    /// Only recipes with this status
    #[arg(long, value_enum)]
    status: Option<StatusFilter>,
    /// Only this category
    #[arg(long)]
    category: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum SourceFilter {
    User,
    Library,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StatusFilter {
    Verified,
    Draft,
    /// Out of service
    Deprecated,
    /// Its file cannot be read
    Broken,
}

impl StatusFilter {
    fn of(it: &Entry) -> Self {
        match it.recipe.as_ref().map(|it| it.status) {
            Ok(Status::Verified) => Self::Verified,
            Ok(Status::Draft) => Self::Draft,
            Ok(Status::Deprecated) => Self::Deprecated,
            Err(_) => Self::Broken,
        }
    }
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
    let (home, _) = context::read(global)?;
    let mut entries = context::registry(&home)?.list()?;
    entries.retain(|it| match args.source {
        None => true,
        Some(SourceFilter::User) => it.source == Source::User,
        Some(SourceFilter::Library) => it.source == Source::Library,
    });
    if let Some(wanted) = &args.category {
        entries
            .retain(|it| it.recipe.as_ref().is_ok_and(|it| it.category.as_ref() == Some(wanted)));
    }
    if let Some(wanted) = args.status {
        entries.retain(|it| StatusFilter::of(it) == wanted);
    }
    let known = State::open_existing(&home.artifacts)
        .and_then(|it| it.all_health().ok())
        .unwrap_or_default();
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
        context::out(&rows);
        return Ok(0);
    }
    // Nobody here has proven them, and they are many; whoever asks for some of them gets them.
    let chosen = args.source.is_some() || args.status.is_some() || args.category.is_some();
    let all = entries.len();
    entries.retain(|it| chosen || it.source == Source::User || it.is_verified());
    let apart = all - entries.len();
    let mut table = ruled(["name", "status", "parameters", "task", "runs", "last ok"]);
    for entry in &entries {
        let source = match (entry.source, entry.shadows) {
            (Source::Library, _) => ", library",
            (Source::User, false) => "",
            (Source::User, true) => ", over the library's",
        };
        match &entry.recipe {
            Ok(it) => {
                let health = health(&entry.name, entry.source);
                let names: Vec<&str> = it.parameters.iter().map(|it| it.name.as_str()).collect();
                table.add_row([
                    it.name.to_string(),
                    format!("{}{source}", it.status.as_str()),
                    names.join(", "),
                    context::clean(&it.task),
                    health.map(runs).unwrap_or_default(),
                    health.and_then(|it| it.last_ok_ms).map(context::moment).unwrap_or_default(),
                ])
            }
            Err(err) => table.add_row([
                context::clean(&entry.name),
                context::clean(&format!("broken{source}: {err}")),
            ]),
        };
    }
    if entries.is_empty() {
        context::say(if chosen {
            "no such recipes"
        } else {
            "no recipes yet: `commis tour` shows how one is learned, `commis learn` learns yours"
        });
    } else {
        context::line(&table.to_string());
    }
    if apart > 0 {
        context::say(&format!("{apart} drafts of the library: commis list --source library"));
    }
    Ok(0)
}

/// `12 (3 failed)`
fn runs(it: &Health) -> String {
    let failed = if it.failed > 0 { format!(" ({} failed)", it.failed) } else { String::new() };
    format!("{}{failed}", it.runs)
}
