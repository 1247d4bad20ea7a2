//! `commis recipe delete`

use super::{Global, context, names};
use commis_base::{error::Result, ids::RecipeName};
use commis_recipe::registry::Source;
use commis_state::State;

/// Delete one of your own recipes; its artifacts stay
#[derive(clap::Args)]
pub struct Args {
    /// The recipe's name: `commis list` has them
    #[arg(add = names::recipes())]
    name: String,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = context::read(global)?;
    let name = RecipeName::new(args.name)?;
    context::registry(&home)?.delete(&name)?;
    // Counters of a recipe that is gone mislead nobody; they go when they can.
    if let Some(state) = State::open_existing(&home.artifacts) {
        let _ = state.forget_health(name.as_str(), Source::User.as_str());
    }
    context::say(&format!("deleted {name}"));
    Ok(0)
}
