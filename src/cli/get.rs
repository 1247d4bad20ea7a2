//! `commis recipe get`

use super::{Global, context, names};
use commis_base::{error::Result, ids::RecipeName};
use commis_recipe::yaml;

/// Print a recipe as YAML
///
/// With --json: the same document as JSON.
#[derive(clap::Args)]
pub struct Args {
    /// The recipe's name: `commis list` has them
    #[arg(add = names::recipes())]
    name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = context::read(global)?;
    let held = context::registry(&home)?.get(&RecipeName::new(args.name)?)?;
    if args.json {
        context::out(&held.recipe);
        return Ok(0);
    }
    let yaml = yaml::to_yaml(&held.recipe)?;
    if yaml.chars().any(|it| context::is_unsafe_char(it) && it != '\n') {
        // JSON is YAML, too, and there they can be escaped wherever they stand.
        context::out(&held.recipe);
    } else {
        context::line(yaml.trim_end());
    }
    Ok(0)
}
