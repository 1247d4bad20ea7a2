//! Templates: text in which `{name}` stands for a value and `{{`, `}}` for braces.
//!
//! `{name|filter}` spells the value as the place needs it: `slug`, `lower`, `upper`, and `json` and `url` inside a value that
//! is JSON or a form itself; several apply from left to right. Parsed once into segments. What a value may do where it lands (path, query, header, JSON) is `request`'s business; a
//! template itself never interprets values.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::{Code, Error, Result};

/// Names of parameters and slots.
const MAX_NAME: usize = 40;
const MAX_FILTERS: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Name(String, Vec<Filter>),
}

/// How a value is spelled where it lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Lower case, everything but letters and digits as single hyphens: `new-york` of `New York`.
    Slug,
    Lower,
    Upper,
    /// The inside of a JSON string.
    Json,
    /// Percent-encoded but for RFC 3986 "unreserved".
    Url,
}

/// Everything but RFC 3986 "unreserved".
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Filter {
    const ALL: [(&'static str, Self); 5] = [
        ("slug", Self::Slug),
        ("lower", Self::Lower),
        ("upper", Self::Upper),
        ("json", Self::Json),
        ("url", Self::Url),
    ];

    /// As it is written in a template.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }

    pub fn apply(self, value: &str) -> String {
        match self {
            Self::Slug => {
                let words = value.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
                words.collect::<Vec<_>>().join("-").to_lowercase()
            }
            Self::Lower => value.to_lowercase(),
            Self::Upper => value.to_uppercase(),
            Self::Json => {
                let quoted = serde_json::Value::from(value).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            }
            Self::Url => utf8_percent_encode(value, RESERVED).to_string(),
        }
    }
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
            let mut parts_of = rest[..end].split('|');
            let name = parts_of.next().unwrap_or_default();
            let filters: Option<Vec<Filter>> = parts_of
                .map(|it| Filter::ALL.iter().find(|known| known.0 == it).map(|it| it.1))
                .collect();
            let filters = filters
                .filter(|it| it.len() <= MAX_FILTERS)
                .ok_or_else(|| invalid("the filters are slug, lower, upper, json and url"))?;
            if !is_name(name) {
                return Err(invalid("a name is a-z, 0-9 and _, at most 40 characters"));
            }
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Name(name.to_owned(), filters));
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
            Part::Name(name, _) => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// The name when the template is that name and nothing else.
    pub fn exact(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Name(name, filters)] if filters.is_empty() => Some(name),
            _ => None,
        }
    }

    /// Whether some value is spelled by a filter.
    pub fn has_filters(&self) -> bool {
        self.parts.iter().any(|it| matches!(it, Part::Name(_, filters) if !filters.is_empty()))
    }

    /// Whether no value can change it.
    pub fn is_literal(&self) -> bool {
        self.names().next().is_none()
    }

    /// The text with every name replaced by what `value` returns for it; its first error otherwise.
    pub fn render<E>(&self, value: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
        self.render_encoded(value, |it| it)
    }

    /// [`Self::render`], each value encoded for its place after its filters; the literal text stands as it is.
    pub fn render_encoded<E>(
        &self,
        mut value: impl FnMut(&str) -> Result<String, E>,
        encode: impl Fn(String) -> String,
    ) -> Result<String, E> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Name(name, filters) => {
                    let spelled = filters.iter().fold(value(name)?, |it, filter| filter.apply(&it));
                    out.push_str(&encode(spelled));
                }
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
            ("{q|upper}", "<Q>"),
            ("{q|json|url}", "%3Cq%3E"),
            ("{q|other}", "RECIPE_INVALID"),
            ("{q|}", "RECIPE_INVALID"),
            ("{q|url|url|url|url|url}", "RECIPE_INVALID"),
            ("{a{b}}", "RECIPE_INVALID"),
            ("{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}", "RECIPE_INVALID"),
        ] {
            assert_eq!(render(text), want, "{text}");
        }
    }

    #[test]
    fn filters() {
        for (filter, value, want) in [
            (Filter::Slug, "New  York, NY!", "new-york-ny"),
            (Filter::Slug, "Ærø", "ærø"),
            (Filter::Lower, "RUST", "rust"),
            (Filter::Json, "a \"b\" \\ \u{7}", r#"a \"b\" \\ \u0007"#),
            (Filter::Url, "a b&c=d/é", "a%20b%26c%3Dd%2F%C3%A9"),
        ] {
            assert_eq!(filter.apply(value), want, "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_value_cannot_leave_its_string(value in ".*") {
            let inner = Filter::Json.apply(&value);
            prop_assert_eq!(serde_json::from_str::<String>(&format!("\"{inner}\"")).unwrap(), value.clone());
            let pair = format!("a={}&b=1", Filter::Url.apply(&value));
            let pairs: Vec<_> = url::form_urlencoded::parse(pair.as_bytes()).into_owned().collect();
            prop_assert_eq!(pairs, [("a".to_owned(), value), ("b".to_owned(), "1".to_owned())]);
        }

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
