//! The query that names an open page.

use super::{
    operations::FIRST,
    page_sessions::{PageKey, key},
    principal::{AccessRequirement, AccessRight, Area, Principal, forbidden, page_name},
};
use commis_base::error::Result;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    context: Option<String>,
    /// Whose, where whoever owns the machine asks.
    of: Option<String>,
    /// So that no cache answers for it.
    #[serde(default, rename = "n")]
    _n: Option<String>,
}

impl PageQuery {
    /// The page that is meant. Fails with `PARAM_INVALID`, `FORBIDDEN`.
    pub fn key(&self, principal: &Principal) -> Result<PageKey> {
        let name = page_name(self.context.as_deref().unwrap_or(FIRST))?;
        principal.must_at(
            AccessRequirement::May(Area::Browse, AccessRight::Read),
            None,
            Some(name),
        )?;
        match &self.of {
            None => Ok(key(principal, name)),
            Some(of) if principal.scopes.is_none() => Ok((of.clone(), name.to_owned())),
            Some(_) => Err(forbidden()),
        }
    }
}
