//! `commis recipe explain`

use serde_json::json;

use super::{
    Global,
    learn::pairs,
    wire::{self, clean},
};
use crate::{
    egress::EgressPolicy,
    error::Result,
    ids::RecipeName,
    pipeline::{render, told_health, words},
    recipe::{
        json_schema,
        registry::{Registry, Source},
    },
    state::State,
};

/// Say in words what a recipe does: what is sent where, where values come from, and what is known about it
///
/// With --json: {name, status, source, shadows, path, words, health, request, input_schema, output_schema, answer_schema};
/// `words` are the lines, `request` the method and URL of what would be sent with these parameters, else null. The schemas are
/// JSON Schema of the parameters, of the data and of the whole answer that it is taken from, null where it is not JSON.
#[derive(clap::Args)]
pub struct Args {
    name: String,
    /// A parameter of the recipe: with all that are required, the request is shown
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    // Started, when asked for, so that its hosts are judged as a run would judge them.
    let place = wire::open(global).await?;
    let registry = Registry::open(&place.home.recipes);
    let held = registry.get(&RecipeName::new(args.name)?)?;
    let state = State::look(&place.home.artifacts);
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
        wire::out(&json!({
            "name": held.recipe.name, "status": held.recipe.status, "source": held.source,
            "shadows": held.shadows, "path": path, "words": words(&held), "health": known,
            "request": request.map(|it| json!({"method": it.method, "url": it.url})),
            "input_schema": json_schema::input_schema(&held.recipe),
            "output_schema": json_schema::data_schema(&held.recipe, None),
            "answer_schema": json_schema::answer_schema(&held.recipe).ok().map(|it| it.schema),
        }));
        return Ok(0);
    }
    for line in words(&held) {
        wire::line(&clean(&line));
    }
    if let Some(it) = &known {
        wire::line(&clean(&told_health(it)));
    }
    if let Some(it) = path {
        wire::line(&clean(&format!("file: {}", it.display())));
    }
    if let Some(it) = request {
        wire::line(&clean(&format!("with these values: {} {}", it.method, it.url)));
    }
    Ok(0)
}
