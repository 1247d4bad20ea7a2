//! What a command acts on, as it is written: `@e17`, `@c3`, `button "Add to cart"`, `button "Add to cart" in "Rake"`, `css=#go`,
//! and a point of it: `css=canvas at 120,80`.

use std::str::FromStr;

use commis_base::error::{Code, Error};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Of a snapshot.
    Ref(u32),
    /// The same, or what is called so now.
    Like(u32),
    /// Of a snapshot of what can be clicked and has no role.
    Click(u32),
    Named {
        role: String,
        name: String,
        /// What it stands in.
        row: Option<String>,
    },
    Css(String),
    /// A point of an element: pixels from its upper left corner.
    At(Box<Target>, (u32, u32)),
}

impl Target {
    pub fn is_css(&self) -> bool {
        match self {
            Self::Css(_) => true,
            Self::At(it, _) => it.is_css(),
            _ => false,
        }
    }

    /// The point that is meant, from the upper left corner; `None` for the middle.
    pub fn offset(&self) -> Option<(f64, f64)> {
        match self {
            Self::At(_, (x, y)) => Some((f64::from(*x), f64::from(*y))),
            _ => None,
        }
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::new(Code::ParamInvalid, format!("{text:?} is not a valid way to name an element"))
                .hint("use a ref of a snapshot (@e17, or @c3 with -C), a role and a name such as 'button \"Add to cart\"' (with 'in \"…\"' as in a snapshot), or css=SELECTOR; add 'at X,Y' for a point in the element")
        };
        let text = text.trim();
        if let Some((rest, point)) = text.rsplit_once(" at ")
            && let Some((x, y)) = point.split_once(',')
            && let (Ok(x), Ok(y)) = (x.trim().parse(), y.trim().parse())
            && (rest.starts_with(['@']) || rest.starts_with("css=") || rest.ends_with('"'))
        {
            return Ok(Self::At(Box::new(rest.parse()?), (x, y)));
        }
        if let Some(n) = text.strip_prefix("@e").and_then(|it| it.strip_suffix('~')) {
            return n.parse().map(Self::Like).map_err(|_| wrong());
        }
        if let Some(n) = text.strip_prefix("@e") {
            return n.parse().map(Self::Ref).map_err(|_| wrong());
        }
        if let Some(n) = text.strip_prefix("@c") {
            return n.parse().map(Self::Click).map_err(|_| wrong());
        }
        if let Some(css) = text.strip_prefix("css=").filter(|it| !it.is_empty()) {
            return Ok(Self::Css(css.to_owned()));
        }
        let (role, rest) = text.split_once(' ').ok_or_else(wrong)?;
        let (name, row) = match quoted(rest.trim()) {
            Some((name, "")) => (name, None),
            Some((name, rest)) => {
                let row = rest.trim().strip_prefix("in ").and_then(|it| quoted(it.trim()));
                let (row, _) = row.filter(|it| it.1.is_empty()).ok_or_else(wrong)?;
                (name, Some(row))
            }
            None => (rest.trim().to_owned(), None),
        };
        let is_role = role.len() > 1 && role.bytes().all(|it| it.is_ascii_alphabetic());
        if !is_role || name.is_empty() {
            return Err(wrong());
        }
        Ok(Self::Named { role: role.to_owned(), name, row })
    }
}

/// A text in quotes at the beginning, as lines of a snapshot write it, and what comes after.
fn quoted(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('"')?;
    let (mut out, mut escaped) = (String::new(), false);
    for (at, it) in text.char_indices() {
        match it {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return Some((out, &text[at + 1..])),
            it => {
                out.push(it);
                escaped = false;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_write_them() {
        let within = |role: &str, name: &str, row: Option<&str>| Target::Named {
            role: role.into(),
            name: name.into(),
            row: row.map(str::to_owned),
        };
        let named = |role: &str, name: &str| within(role, name, None);
        for (text, expected) in [
            ("@e17", Some(Target::Ref(17))),
            ("@e17~", Some(Target::Like(17))),
            ("@c3~", None),
            (" @c3 ", Some(Target::Click(3))),
            ("button \"Add to cart\"", Some(named("button", "Add to cart"))),
            ("button Search", Some(named("button", "Search"))),
            ("link \"say \\\"x\\\"\"", Some(named("link", "say \"x\""))),
            ("button \"Add\" in \"Rake \\\\ 2\"", Some(within("button", "Add", Some("Rake \\ 2")))),
            ("button \"Add\" in Rake", None),
            ("button \"Add", Some(named("button", "\"Add"))),
            ("css=#go > a", Some(Target::Css("#go > a".into()))),
            ("@e", None),
            ("@x1", None),
            ("css=", None),
            (
                "css=canvas at 120, 80",
                Some(Target::At(Box::new(Target::Css("canvas".into())), (120, 80))),
            ),
            ("button \"Go\" at 3,4", Some(Target::At(Box::new(named("button", "Go")), (3, 4)))),
            ("button meet at 3,4", Some(named("button", "meet at 3,4"))),
            ("css=canvas at 1,-2", Some(Target::Css("canvas at 1,-2".into()))),
            ("button", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<Target>().ok(), expected, "{text}");
        }
    }
}
