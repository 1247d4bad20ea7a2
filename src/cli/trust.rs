//! `commis recipe trust`

use super::{
    Global,
    context::{self, clean},
    names,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_learn::words;
use commis_net::egress::site_of;
use commis_recipe::{
    model::{Recipe, Status},
    registry::{RegisteredRecipe, Source},
    trust::digest,
};

/// Digits of a digest that are typed or given at least.
const TYPED: usize = 12;

/// Trust a recipe that somebody else wrote and proved
///
/// A recipe that was not learned or proven here is a draft, whatever its file says. If you know who proved it, this command
/// makes its status count. It shows the method, the address, the hosts and the fetched values, and asks. Any change of the file
/// revokes this. A trusted recipe is never retried and never called read-only; `recipe verify` proves more.
///
/// Without a terminal, give the digest that was shown: --digest. Without a digest nothing is stored, and the exit code is 2.
///
/// Example: commis recipe trust shop-search
#[derive(clap::Args)]
pub struct Args {
    /// The recipe's name: `commis list` has them
    #[arg(add = names::recipes())]
    name: String,
    /// The recipe's digest, as this command shows it: at least 12 digits
    #[arg(long, value_name = "DIGITS")]
    digest: Option<String>,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, _) = context::read(global)?;
    let registry = context::registry(&home)?;
    let name = RecipeName::new(args.name)?;
    let recipe = registry.read_user_file(&name)?;
    if recipe.status == Status::Draft {
        return Err(Error::new(Code::RecipeNotVerified, format!("`{name}` is a draft"))
            .hint(format!("a draft has no proof; make one with `commis recipe verify {name}`")));
    }
    let sha256 = digest(&recipe)?;
    for it in facts(&recipe) {
        context::say(&clean(&it));
    }
    context::say(&format!("digest: {sha256}"));
    let fits = |it: &str| it.len() >= TYPED && sha256.starts_with(it);
    match args.digest.as_deref() {
        Some(it) if fits(it) => {}
        Some(_) => {
            return Err(Error::new(Code::Usage, "the digest is not that of this recipe")
                .hint("compare it with the digest above; the recipe may have changed"));
        }
        None if !context::is_someone_there() => {
            return Err(Error::new(Code::Usage, "trusting a recipe needs a terminal")
                .hint(format!("check the recipe above, then give --digest {}", &sha256[..TYPED])));
        }
        None if context::confirmed("trust this recipe as it is written?") => {}
        None => return Err(Error::new(Code::Forbidden, format!("`{name}` was not trusted"))),
    }
    registry.trust(&name, &sha256)?;
    context::line(&format!("{name}: {}", recipe.status.as_str()));
    Ok(0)
}

/// What a person looks at: lines that quote what a stranger wrote.
pub fn facts(recipe: &Recipe) -> Vec<String> {
    let mut out =
        words(&RegisteredRecipe { recipe: recipe.clone(), source: Source::User, shadows: false });
    let other = if site_of(&recipe.source_url) == site_of(&recipe.request.url) {
        ""
    } else {
        ", which is of another site than what is asked"
    };
    out.push(format!("page: {}{other}", recipe.source_url));
    out
}
