//! Templates: text in which `{name}` stands for a value and `{{`, `}}` for braces.
//!
//! Parsed once into segments. What a value may do where it lands (path, query, header, JSON) is `request`'s business; a
//! template itself never interprets values.

use crate::error::{Code, Error, Result};

/// Names of parameters and slots.
const MAX_NAME: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Name(String),
}

impl Template {
    /// Fails with `RECIPE_INVALID` for a brace without a partner and for a name that is none.
    pub fn parse(text: &str) -> Result<Self> {
        let invalid = |why: &str| {
            let shown: String = text.chars().take(80).collect();
            Error::new(Code::RecipeInvalid, format!("template `{}`: {why}", shown.escape_debug()))
                .hint("write {name} for a value and {{ or }} for a brace")
        };
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(invalid("`}` without `{`"));
            }
            let end = rest.find('}').ok_or_else(|| invalid("`{` is never closed"))?;
            let name = &rest[..end];
            if !is_name(name) {
                return Err(invalid("a name is a-z, 0-9 and _, at most 40 characters"));
            }
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Name(name.to_owned()));
            rest = &rest[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// The names in it, in order, with repetitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|it| match it {
            Part::Name(name) => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// The name when the template is that name and nothing else.
    pub fn exact(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Name(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether no value can change it.
    pub fn is_literal(&self) -> bool {
        self.names().next().is_none()
    }

    /// The text with every name replaced by what `value` returns for it; its first error otherwise.
    pub fn render<E>(&self, mut value: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Name(name) => out.push_str(&value(name)?),
            }
        }
        Ok(out)
    }
}

/// `[a-z_][a-z0-9_]*`, at most 40 characters.
pub fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// A literal as template text: braces doubled.
pub fn escape(literal: &str) -> String {
    literal.replace('{', "{{").replace('}', "}}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn render(text: &str) -> String {
        match Template::parse(text) {
            Ok(it) => it.render(|name| Ok::<_, Error>(format!("<{name}>"))).unwrap(),
            Err(err) => err.code().to_string(),
        }
    }

    #[test]
    fn templates() {
        for (text, want) in [
            ("", ""),
            ("plain", "plain"),
            ("{q}", "<q>"),
            ("a{q}b{r_2}c", "a<q>b<r_2>c"),
            ("{{q}}", "{q}"),
            ("{{{q}}}", "{<q>}"),
            ("{{}}", "{}"),
            ("{q}}}", "<q>}"),
            ("{q", "RECIPE_INVALID"),
            ("q}", "RECIPE_INVALID"),
            ("{}", "RECIPE_INVALID"),
            ("{Q}", "RECIPE_INVALID"),
            ("{2q}", "RECIPE_INVALID"),
            ("{a b}", "RECIPE_INVALID"),
            ("{a.b}", "RECIPE_INVALID"),
            ("{a{b}}", "RECIPE_INVALID"),
            ("{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}", "RECIPE_INVALID"),
        ] {
            assert_eq!(render(text), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn escaped_literals_stay_themselves(text in ".*") {
            let template = Template::parse(&escape(&text)).unwrap();
            prop_assert!(template.is_literal());
            let back = template.render(|_| Err::<String, ()>(())).unwrap();
            prop_assert_eq!(back, text);
        }

        #[test]
        fn any_text_parses_or_is_refused(text in "[{}a-z]{0,30}") {
            let _ = Template::parse(&text);
        }
    }
}
