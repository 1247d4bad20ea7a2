//! `commis recipe explain`

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::{
    Global,
    context::{self, clean},
    learn_args::pairs,
    names,
};
use commis_base::{error::Result, ids::RecipeName};
use commis_learn::{render, told_health, words};
use commis_net::egress::EgressPolicy;
use commis_recipe::{json_schema, model::Status, registry::Source};
use commis_state::{Health, State};

/// Explain a recipe in words: its requests, the sources of its values, its status and proof
///
/// With --json: {name, status, source, shadows, path, words, health, request, input_schema, output_schema, answer_schema};
/// `words` are the lines. `request` is the method and URL of the request with these parameters, or null. The schemas are JSON Schema:
/// of the parameters, of the data, and of the whole answer. A schema is null if the value is not JSON.
#[derive(clap::Args)]
pub struct Args {
    /// The recipe's name: `commis list` has them
    #[arg(add = names::recipes())]
    name: String,
    /// A parameter of the recipe; with all required ones, the request is shown
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplainReport {
    name: RecipeName,
    status: Status,
    source: Source,
    /// It takes the place of the library's of that name.
    shadows: bool,
    path: Option<PathBuf>,
    /// The lines that a person is shown.
    words: Vec<String>,
    health: Option<Health>,
    /// What would be sent with these parameters.
    request: Option<RequestLine>,
    /// JSON Schema of the parameters.
    input_schema: Value,
    /// Of the data.
    output_schema: Value,
    /// Of the whole answer that the data is taken from, where it is JSON.
    answer_schema: Option<Value>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RequestLine {
    method: String,
    url: String,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    // Started, when asked for, so that its hosts are judged as a run would judge them.
    let place = context::open(global).await?;
    let registry = context::registry(&place.home)?;
    let held = registry.get(&RecipeName::new(args.name)?)?;
    let state = State::open_existing(&place.home.artifacts);
    let known = state
        .and_then(|it| it.health(held.recipe.name.as_str(), held.source.as_str()).ok())
        .flatten();
    let path = (held.source == Source::User).then(|| registry.path(&held.recipe.name));
    let request = if args.param.is_empty() {
        None
    } else {
        let policy = EgressPolicy::new(&place.settings.egress)?;
        Some(render(&held.recipe, &pairs(&args.param)?, &policy, &place.settings)?)
    };
    if args.json {
        context::out(&ExplainReport {
            words: words(&held),
            input_schema: json_schema::input_schema(&held.recipe),
            output_schema: json_schema::data_schema(&held.recipe, None),
            answer_schema: json_schema::answer_schema(&held.recipe).ok().map(|it| it.schema),
            name: held.recipe.name,
            status: held.recipe.status,
            source: held.source,
            shadows: held.shadows,
            path,
            health: known,
            request: request.map(|it| RequestLine { method: it.method, url: it.url }),
        });
        return Ok(0);
    }
    for line in words(&held) {
        context::line(&clean(&line));
    }
    if let Some(it) = &known {
        context::line(&clean(&told_health(it)));
    }
    if let Some(it) = path {
        context::line(&clean(&format!("file: {}", it.display())));
    }
    if let Some(it) = request {
        context::line(&clean(&format!("with these values: {} {}", it.method, it.url)));
    }
    Ok(0)
}
