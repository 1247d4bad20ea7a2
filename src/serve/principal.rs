//! Who asks, and what they may: the root token, or one that somebody made for a purpose.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::{
    error::{Code, Error, Result},
    ids::{RecipeName, hex},
    vault,
};

/// What an operation wants of who asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Any token.
    Any,
    /// This area may be read or changed.
    May(Area, Right),
    /// To run that recipe; its name is an argument.
    Run,
    /// To use that login of the vault; its name is an argument.
    Login,
    /// The root token, on the local listener.
    Root,
}

/// What a scope is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    Recipes,
    Tasks,
    Learn,
    /// Pages that stay.
    Browse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    Read,
    Write,
}

/// One thing that a token may do: `run:NAME`, `run:*`, `vault:NAME`, `recipes:read`, `tasks:write`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// `None`: every recipe.
    Run(Option<RecipeName>),
    /// One login of the vault. There is no scope for all: each is named by who makes the token.
    Vault(vault::Name),
    /// The right to write is one to read.
    In(Area, Right),
}

const AREAS: [(&str, Area); 4] = [
    ("recipes", Area::Recipes),
    ("tasks", Area::Tasks),
    ("learn", Area::Learn),
    ("browse", Area::Browse),
];

impl Scope {
    /// Fails with `USAGE`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::new(Code::Usage, "a scope is AREA:RIGHT")
                .hint("run:NAME or run:*; vault:NAME; recipes, tasks, learn or browse with :read or :write")
        };
        let (area, right) = text.split_once(':').ok_or_else(wrong)?;
        if area == "run" {
            let name = (right != "*").then(|| RecipeName::new(right)).transpose()?;
            return Ok(Self::Run(name));
        }
        if area == "vault" {
            return right.parse().map(Self::Vault);
        }
        let area = AREAS.iter().find(|it| it.0 == area).ok_or_else(wrong)?.1;
        match right {
            "read" => Ok(Self::In(area, Right::Read)),
            "write" => Ok(Self::In(area, Right::Write)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(None) => f.write_str("run:*"),
            Self::Run(Some(name)) => write!(f, "run:{name}"),
            Self::Vault(name) => write!(f, "vault:{name}"),
            Self::In(area, right) => {
                let area = AREAS.iter().find(|it| it.1 == *area).map_or("", |it| it.0);
                let right = if *right == Right::Read { "read" } else { "write" };
                write!(f, "{area}:{right}")
            }
        }
    }
}

/// Who asks. `id` is what is written down of them; it is no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub id: String,
    /// `None`: everything.
    pub scopes: Option<Vec<Scope>>,
    /// A browser with the dashboard's cookie.
    pub is_dashboard: bool,
}

const ROOT: &str = "root";
const DASHBOARD: &str = "dashboard-";

/// Whether whoever is called so may not do everything, also where the token is gone.
pub fn has_scopes(id: &str) -> bool {
    id != ROOT && !id.starts_with(DASHBOARD)
}

impl Principal {
    pub fn root() -> Self {
        Self { id: ROOT.to_owned(), scopes: None, is_dashboard: false }
    }

    /// The person at the dashboard; what it may change, it may with the proof that its own page asks.
    pub fn dashboard(id: &str) -> Self {
        Self { id: format!("{DASHBOARD}{id}"), scopes: None, is_dashboard: true }
    }

    /// Whether they may; `recipe` is the one that is to be run, or the login that is to be used.
    pub fn may(&self, need: Need, recipe: Option<&str>) -> bool {
        let Some(scopes) = &self.scopes else {
            return !matches!(need, Need::Root | Need::Login) || !self.is_dashboard;
        };
        match need {
            Need::Any => true,
            Need::Root => false,
            Need::Run => scopes.iter().any(|it| match it {
                Scope::Run(None) => true,
                Scope::Run(Some(name)) => recipe == Some(name.as_str()),
                Scope::In(..) | Scope::Vault(_) => false,
            }),
            // Without a name: whether there is one that they may use.
            Need::Login => scopes.iter().any(|it| {
                matches!(it, Scope::Vault(name) if recipe.is_none_or(|it| it == name.as_str()))
            }),
            Need::May(area, right) => {
                scopes.iter().any(|it| matches!(it, Scope::In(a, r) if *a == area && *r >= right))
            }
        }
    }

    /// Whether a recipe is theirs to see: to run, or to read about.
    pub fn sees(&self, recipe: &str) -> bool {
        self.may(Need::May(Area::Recipes, Right::Read), None) || self.may(Need::Run, Some(recipe))
    }

    /// Fails with `FORBIDDEN`.
    pub fn must(&self, need: Need, recipe: Option<&str>) -> Result<()> {
        if self.may(need, recipe) {
            return Ok(());
        }
        Err(Error::new(Code::Forbidden, "this token may not do that")
            .hint("`commis token create --can …` makes one that may"))
    }
}

/// What is kept of a token, and compared: SHA-256 in hexadecimal. Tokens are random, so no salt makes that harder.
pub fn digest(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

/// Whether two digests are alike, in a time that says nothing of where they differ.
pub fn same(a: &str, b: &str) -> bool {
    bool::from(a.as_bytes().ct_eq(b.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_and_written_alike() {
        for text in [
            "run:*",
            "run:shop-search",
            "vault:shop.test",
            "recipes:read",
            "tasks:write",
            "learn:write",
        ] {
            assert_eq!(Scope::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "run",
            "run:",
            "run:A B",
            "all:read",
            "recipes:",
            "recipes:own",
            "browse",
            "vault:",
            "vault:*",
            "vault:../a",
        ] {
            assert!(Scope::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_scope_is_what_it_says_and_no_more() {
        let of = |scopes: &[&str]| Principal {
            id: "t".to_owned(),
            scopes: Some(scopes.iter().map(|it| Scope::parse(it).unwrap()).collect()),
            is_dashboard: false,
        };
        let read = Need::May(Area::Recipes, Right::Read);
        let write = Need::May(Area::Recipes, Right::Write);
        let one = of(&["run:a"]);
        assert!(one.may(Need::Run, Some("a")) && one.may(Need::Any, None));
        assert!(
            !one.may(Need::Run, Some("b")) && !one.may(Need::Run, None) && !one.may(read, None)
        );
        assert!(of(&["run:*"]).may(Need::Run, Some("b")) && !of(&["run:*"]).may(Need::Root, None));
        assert!(of(&["recipes:write"]).may(read, None) && !of(&["recipes:read"]).may(write, None));
        assert!(!of(&["tasks:write"]).may(read, None) && !of(&[]).may(read, None));
        let login = of(&["vault:shop", "browse:write"]);
        assert!(login.may(Need::Login, Some("shop")) && !login.may(Need::Login, Some("bank")));
        assert!(login.may(Need::Login, None) && !of(&["browse:write"]).may(Need::Login, None));
        assert!(!of(&["run:*"]).may(Need::Login, Some("shop")));
        assert!(Principal::root().may(Need::Login, Some("shop")));
        assert!(!Principal::dashboard("x").may(Need::Login, Some("shop")));
        assert!(Principal::root().may(Need::Root, None));
        assert!(!Principal::dashboard("x").may(Need::Root, None));
        assert!(same(&digest("a"), &digest("a")) && !same(&digest("a"), &digest("ab")));
    }
}
