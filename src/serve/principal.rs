//! Who asks, and what they may: the root token, or one that somebody made for a purpose.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use commis_agent::Channel;
use commis_base::{
    error::{Code, Error, Result},
    ids::{RecipeName, hex},
};

/// What an operation wants of who asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRequirement {
    /// Any token.
    Any,
    /// This area may be read or changed.
    May(Area, AccessRight),
    /// To run that recipe; its name is an argument.
    Run,
    /// Sessions, of which the operation itself tells apart whose they are.
    Sessions(AccessRight),
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
    /// Requests that wait for a person.
    Approvals,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessRight {
    Read,
    Write,
}

/// One thing that a token may do: `run:NAME`, `run:*`, `vault:NAME`, `recipes:read`, `tasks:write`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// `None`: every recipe.
    Run(Option<RecipeName>),
    /// One login of the vault. There is no scope for all: each is named by who makes the token.
    Vault(commis_vault::LoginName),
    /// The right to write is one to read.
    In(Area, AccessRight),
    /// The page of that name of whoever owns the machine, and sessions that were recorded at it.
    Page(String, AccessRight),
}

const AREAS: [(&str, Area); 5] = [
    ("recipes", Area::Recipes),
    ("tasks", Area::Tasks),
    ("learn", Area::Learn),
    ("browse", Area::Browse),
    ("approvals", Area::Approvals),
];

impl Scope {
    /// Fails with `USAGE`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::new(Code::Usage, "a scope must have the form AREA:RIGHT").hint(
                "run:NAME or run:*; vault:NAME; recipes, tasks, learn, browse or approvals with :read or :write; browse:read:NAME or browse:write:NAME",
            )
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
        let (right, page) = match right.split_once(':') {
            Some((right, page)) => (right, Some(page)),
            None => (right, None),
        };
        let right = match right {
            "read" => AccessRight::Read,
            "write" => AccessRight::Write,
            _ => return Err(wrong()),
        };
        match page {
            None => Ok(Self::In(area, right)),
            Some(it) if area == Area::Browse => Ok(Self::Page(page_name(it)?.to_owned(), right)),
            Some(_) => Err(wrong()),
        }
    }
}

/// Fails with `PARAM_INVALID`.
pub fn page_name(name: &str) -> Result<&str> {
    let known = |it: u8| it.is_ascii_alphanumeric() || b"_-".contains(&it);
    if name.is_empty() || name.len() > 40 || !name.bytes().all(known) {
        let why = "a context's name has letters, digits, _ and -, 40 at most";
        return Err(Error::new(Code::ParamInvalid, why));
    }
    Ok(name)
}

const fn word(right: AccessRight) -> &'static str {
    match right {
        AccessRight::Read => "read",
        AccessRight::Write => "write",
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
                write!(f, "{area}:{}", word(*right))
            }
            Self::Page(name, right) => write!(f, "browse:{}:{name}", word(*right)),
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
    /// Where a person decides by a way that is no face of its own: which, and who it is there.
    pub by_way: Option<(Channel, String)>,
}

const ROOT: &str = "root";
const DASHBOARD: &str = "dashboard-";

/// Whether whoever is called so may not do everything, also where the token is gone.
pub fn has_scopes(id: &str) -> bool {
    id != ROOT && !id.starts_with(DASHBOARD)
}

impl Principal {
    pub fn root() -> Self {
        Self { id: ROOT.to_owned(), scopes: None, is_dashboard: false, by_way: None }
    }

    /// The person at the dashboard; what it may change, it may with the proof that its own page asks.
    pub fn dashboard(id: &str) -> Self {
        Self { id: format!("{DASHBOARD}{id}"), scopes: None, is_dashboard: true, by_way: None }
    }

    /// Whether they may; `recipe` is the one that is to be run, or the login that is to be used.
    pub fn may(&self, need: AccessRequirement, recipe: Option<&str>) -> bool {
        let Some(scopes) = &self.scopes else {
            return !matches!(need, AccessRequirement::Root | AccessRequirement::Login)
                || !self.is_dashboard;
        };
        match need {
            AccessRequirement::Any => true,
            AccessRequirement::Root => false,
            AccessRequirement::Run => scopes.iter().any(|it| match it {
                Scope::Run(None) => true,
                Scope::Run(Some(name)) => recipe == Some(name.as_str()),
                Scope::In(..) | Scope::Page(..) | Scope::Vault(_) => false,
            }),
            // Without a name: whether there is one that they may use.
            AccessRequirement::Login => scopes.iter().any(|it| {
                matches!(it, Scope::Vault(name) if recipe.is_none_or(|it| it == name.as_str()))
            }),
            AccessRequirement::Sessions(right) => {
                self.may(AccessRequirement::May(Area::Browse, right), None)
                    || scopes.iter().any(|it| matches!(it, Scope::Page(_, r) if *r >= right))
            }
            AccessRequirement::May(area, right) => {
                scopes.iter().any(|it| matches!(it, Scope::In(a, r) if *a == area && *r >= right))
            }
        }
    }

    /// Whether a scope names that page: then it is the owner's that is meant, and no other scope says what they may do there.
    pub fn is_granted(&self, page: &str) -> bool {
        let scopes = self.scopes.as_deref().unwrap_or_default();
        scopes.iter().any(|it| matches!(it, Scope::Page(name, _) if name == page))
    }

    /// Whose the page of that name is that they mean; empty for who owns the machine.
    pub fn owner_of(&self, page: &str) -> &str {
        if self.scopes.is_none() || self.is_granted(page) { "" } else { &self.id }
    }

    /// Whether they may look at that page, or act on it.
    pub fn may_at(&self, page: &str, right: AccessRight) -> bool {
        if !self.is_granted(page) {
            return self.may(AccessRequirement::May(Area::Browse, right), None);
        }
        let scopes = self.scopes.as_deref().unwrap_or_default();
        scopes.iter().any(|it| matches!(it, Scope::Page(name, r) if name == page && *r >= right))
    }

    /// [`Self::must`] of what is about one page. Fails with `FORBIDDEN`.
    pub fn must_at(
        &self,
        need: AccessRequirement,
        recipe: Option<&str>,
        page: Option<&str>,
    ) -> Result<()> {
        match (need, page) {
            (AccessRequirement::May(Area::Browse, right), Some(page))
                if self.may_at(page, right) =>
            {
                Ok(())
            }
            (AccessRequirement::May(Area::Browse, _), Some(_)) => Err(forbidden()),
            // A login goes where they may act.
            (AccessRequirement::Login, Some(page)) if !self.may_at(page, AccessRight::Write) => {
                Err(forbidden())
            }
            _ => self.must(need, recipe),
        }
    }

    /// Whether a recipe is theirs to see: to run, or to read about.
    pub fn sees(&self, recipe: &str) -> bool {
        self.may(AccessRequirement::May(Area::Recipes, AccessRight::Read), None)
            || self.may(AccessRequirement::Run, Some(recipe))
    }

    /// Fails with `FORBIDDEN`.
    pub fn must(&self, need: AccessRequirement, recipe: Option<&str>) -> Result<()> {
        if self.may(need, recipe) {
            return Ok(());
        }
        Err(forbidden())
    }
}

pub fn forbidden() -> Error {
    Error::new(Code::Forbidden, "the scopes of this token do not allow that")
        .hint("make one with `commis token create --can …`")
}

/// What is kept of a token, and compared: SHA-256 in hexadecimal. Tokens are random, so no salt makes that harder.
pub fn digest(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

/// Whether two digests are alike, in a time that says nothing of where they differ.
pub fn is_equal_constant_time(a: &str, b: &str) -> bool {
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
            "browse:read",
            "browse:read:shop",
            "browse:write:My_shop-2",
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
            "browse:read:",
            "browse:read:a:b",
            "browse:read:*",
            "browse:own:shop",
            "browse::shop",
            "recipes:read:shop",
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
            by_way: None,
        };
        let read = AccessRequirement::May(Area::Recipes, AccessRight::Read);
        let write = AccessRequirement::May(Area::Recipes, AccessRight::Write);
        let one = of(&["run:a"]);
        assert!(
            one.may(AccessRequirement::Run, Some("a")) && one.may(AccessRequirement::Any, None)
        );
        assert!(
            !one.may(AccessRequirement::Run, Some("b"))
                && !one.may(AccessRequirement::Run, None)
                && !one.may(read, None)
        );
        assert!(
            of(&["run:*"]).may(AccessRequirement::Run, Some("b"))
                && !of(&["run:*"]).may(AccessRequirement::Root, None)
        );
        assert!(of(&["recipes:write"]).may(read, None) && !of(&["recipes:read"]).may(write, None));
        assert!(!of(&["tasks:write"]).may(read, None) && !of(&[]).may(read, None));
        let shop = of(&["browse:read:shop"]);
        let (look, act) = (
            AccessRequirement::May(Area::Browse, AccessRight::Read),
            AccessRequirement::May(Area::Browse, AccessRight::Write),
        );
        assert!(shop.must_at(look, None, Some("shop")).is_ok());
        for (need, page) in [(act, Some("shop")), (look, Some("default")), (look, None)] {
            assert!(shop.must_at(need, None, page).is_err(), "{page:?}");
        }
        assert!(shop.may(AccessRequirement::Sessions(AccessRight::Read), None));
        assert!(
            !shop.may(AccessRequirement::Sessions(AccessRight::Write), None)
                && !shop.may(look, None)
        );
        assert_eq!((shop.owner_of("shop"), shop.owner_of("other")), ("", "t"));
        // What is meant by a name that is granted is the owner's, whatever else may be done elsewhere.
        let both = of(&["browse:write", "browse:read:shop"]);
        assert!(both.must_at(act, None, Some("shop")).is_err());
        assert!(both.must_at(act, None, Some("other")).is_ok());
        assert!(Principal::root().may_at("shop", AccessRight::Write));
        let login = of(&["vault:shop", "browse:write"]);
        assert!(
            login.may(AccessRequirement::Login, Some("shop"))
                && !login.may(AccessRequirement::Login, Some("bank"))
        );
        assert!(
            login.may(AccessRequirement::Login, None)
                && !of(&["browse:write"]).may(AccessRequirement::Login, None)
        );
        let aside = of(&["vault:shop", "browse:read:mine"]);
        assert!(aside.must_at(AccessRequirement::Login, Some("shop"), Some("mine")).is_err());
        assert!(login.must_at(AccessRequirement::Login, Some("shop"), Some("mine")).is_ok());
        assert!(!of(&["run:*"]).may(AccessRequirement::Login, Some("shop")));
        assert!(Principal::root().may(AccessRequirement::Login, Some("shop")));
        assert!(!Principal::dashboard("x").may(AccessRequirement::Login, Some("shop")));
        assert!(Principal::root().may(AccessRequirement::Root, None));
        assert!(!Principal::dashboard("x").may(AccessRequirement::Root, None));
        assert!(
            is_equal_constant_time(&digest("a"), &digest("a"))
                && !is_equal_constant_time(&digest("a"), &digest("ab"))
        );
    }
}
