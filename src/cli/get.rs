//! `commis recipe get`

use super::{Global, wire};
use crate::{
    error::Result,
    ids::RecipeName,
    recipe::{registry::Registry, yaml},
};

/// Print a recipe as YAML
#[derive(clap::Args)]
pub struct Args {
    name: String,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = wire::read(global)?;
    let held = Registry::open(&home.recipes).get(&RecipeName::new(args.name)?)?;
    wire::line(yaml::to_yaml(&held.recipe)?.trim_end());
    Ok(0)
}
