//! `commis recipe list`

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};
use serde_json::json;

use super::{Global, wire};
use crate::{error::Result, recipe::registry::Registry};

/// List the recipes of the user store
#[derive(clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = wire::read(global)?;
    let entries = Registry::open(&home.recipes).list()?;
    if args.json {
        let rows: Vec<_> = entries
            .iter()
            .map(|it| match &it.recipe {
                Ok(recipe) => json!({
                    "name": recipe.name, "status": recipe.status, "task": recipe.task, "category": recipe.category,
                    "parameters": recipe.parameters.iter().map(|it| &it.name).collect::<Vec<_>>(), "path": it.path,
                }),
                Err(err) => json!({"name": it.name, "path": it.path, "error_code": err.code(), "error": err.to_string()}),
            })
            .collect();
        wire::out(&rows);
        return Ok(0);
    }
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY);
    table.set_header(["name", "status", "parameters", "transport", "task"]);
    for entry in &entries {
        match &entry.recipe {
            Ok(it) => {
                let names: Vec<&str> = it.parameters.iter().map(|it| it.name.as_str()).collect();
                table.add_row([
                    it.name.to_string(),
                    format!("{:?}", it.status).to_lowercase(),
                    names.join(", "),
                    it.verification.as_ref().map_or("", |it| it.transport.as_str()).to_owned(),
                    it.task.clone(),
                ])
            }
            Err(err) => table.add_row([entry.name.clone(), format!("broken: {err}")]),
        };
    }
    if entries.is_empty() {
        wire::say(
            "no recipes yet; `commis recipe learn-batch` or `commis recipe learn` makes some",
        );
    } else {
        wire::line(&table.to_string());
    }
    Ok(0)
}
