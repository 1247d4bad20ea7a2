//! `commis recipe fork`

use super::{Global, context, names};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_recipe::model::Status;

/// Copy a recipe under another name, to change the copy
///
/// The copy is your own and a draft, since you mean to change it. `recipe validate` checks it, `recipe verify` proves it.
#[derive(clap::Args)]
pub struct Args {
    /// The recipe to copy
    #[arg(add = names::recipes())]
    name: String,
    /// May be the name of a library recipe; yours then takes precedence
    new_name: String,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = context::read(global)?;
    let registry = context::registry(&home)?;
    let mut recipe = registry.get(&RecipeName::new(args.name)?)?.recipe;
    let name = RecipeName::new(args.new_name)?;
    if registry.path(&name).symlink_metadata().is_ok() {
        return Err(Error::new(Code::RecipeExists, format!("you have a recipe `{name}` already"))
            .hint("give another name, or delete that one first"));
    }
    recipe.name = name;
    recipe.status = Status::Draft;
    recipe.demotion = None;
    recipe.trust = recipe.trust.for_copy();
    let path = registry.save(&recipe)?;
    context::line(&path.display().to_string());
    Ok(0)
}
