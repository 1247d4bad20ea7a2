//! Which login a run is made with: one that the token's scope names, and no other.

use super::OperationContext;
use crate::principal::{AccessRequirement, Scope};
use commis_base::error::{Code, Error, Result};
use commis_learn::may_use;
use commis_recipe::model::Recipe;
use commis_vault::{Login, LoginName};

/// The named login; without a name, the only one of the recipe's site that the token's scope names, where the recipe needs one.
/// Fails with `FORBIDDEN` for a login that the scope does not name, with `LOGIN_REQUIRED` where there are several, with
/// `PARAM_INVALID` for one that is not there, and as `may_use`.
pub fn login(cx: &OperationContext, recipe: &Recipe, named: Option<&str>) -> Result<Option<Login>> {
    let open = |name: &LoginName| cx.daemon.logins.get(name);
    let login = if let Some(name) = named {
        // Before anything is told of whether there is one.
        cx.principal.must(AccessRequirement::Login, Some(name)).map_err(|err| {
            err.hint("make a token for it: `commis token create --can vault:NAME,run:RECIPE`")
        })?;
        open(&name.parse()?)?
    } else {
        let Some(need) = &recipe.login else { return Ok(None) };
        let scopes = cx.principal.scopes.iter().flatten();
        let names = scopes.filter_map(|it| match it {
            Scope::Vault(name) => Some(name),
            _ => None,
        });
        let mut of_site: Vec<Login> =
            names.filter_map(|it| open(it).ok()).filter(|it| it.site() == need.site).collect();
        match (of_site.pop(), of_site.pop()) {
            (None, _) => return Ok(None),
            (Some(it), None) => it,
            (Some(_), Some(_)) => {
                let why = format!("the token names several logins of {}", need.site);
                return Err(Error::new(Code::LoginRequired, why)
                    .hint("select one with `login`, an argument of `commis_run`"));
            }
        }
    };
    may_use(recipe, &login)?;
    Ok(Some(login))
}
