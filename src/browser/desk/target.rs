//! What a command acts on, as it is written: `@e17`, `@c3`, `button "Add to cart"`, `css=#go`.

use std::str::FromStr;

use crate::error::{Code, Error};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Of a snapshot.
    Ref(u32),
    /// Of a snapshot of what can be clicked and has no role.
    Click(u32),
    Named {
        role: String,
        name: String,
    },
    Css(String),
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::new(Code::ParamInvalid, format!("{text:?} names no element"))
                .hint("give @e17 of a snapshot, @c3 of one with -C, a role and a name such as 'button \"Add to cart\"', or css=SELECTOR")
        };
        let text = text.trim();
        if let Some(n) = text.strip_prefix("@e") {
            return n.parse().map(Self::Ref).map_err(|_| wrong());
        }
        if let Some(n) = text.strip_prefix("@c") {
            return n.parse().map(Self::Click).map_err(|_| wrong());
        }
        if let Some(css) = text.strip_prefix("css=").filter(|it| !it.is_empty()) {
            return Ok(Self::Css(css.to_owned()));
        }
        let (role, name) = text.split_once(' ').ok_or_else(wrong)?;
        let name = name.trim();
        let quoted = name.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        let name = quoted
            .map_or_else(|| name.to_owned(), |it| it.replace("\\\"", "\"").replace("\\\\", "\\"));
        let is_role = role.len() > 1 && role.bytes().all(|it| it.is_ascii_alphabetic());
        if !is_role || name.is_empty() {
            return Err(wrong());
        }
        Ok(Self::Named { role: role.to_owned(), name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_write_them() {
        let named = |role: &str, name: &str| Target::Named { role: role.into(), name: name.into() };
        for (text, expected) in [
            ("@e17", Some(Target::Ref(17))),
            (" @c3 ", Some(Target::Click(3))),
            ("button \"Add to cart\"", Some(named("button", "Add to cart"))),
            ("button Search", Some(named("button", "Search"))),
            ("link \"say \\\"x\\\"\"", Some(named("link", "say \"x\""))),
            ("css=#go > a", Some(Target::Css("#go > a".into()))),
            ("@e", None),
            ("@x1", None),
            ("css=", None),
            ("button", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<Target>().ok(), expected, "{text}");
        }
    }
}
