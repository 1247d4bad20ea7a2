//! `commis recipe delete`

use super::{Global, wire};
use crate::{error::Result, ids::RecipeName, recipe::registry::Registry};

/// Delete one of your own recipes; its artifacts stay
#[derive(clap::Args)]
pub struct Args {
    name: String,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = wire::read(global)?;
    let name = RecipeName::new(args.name)?;
    Registry::open(&home.recipes).delete(&name)?;
    wire::say(&format!("deleted {name}"));
    Ok(0)
}
