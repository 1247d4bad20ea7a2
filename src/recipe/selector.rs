//! CSS selectors of HTML recipes: compiled, bounded, with the `@attr` that picks an attribute.

use scraper::Selector;

use crate::error::{Code, Error, Result};

const MAX_LEN: usize = 512;

/// What one field takes from an item.
#[derive(Clone, Debug)]
pub struct Field {
    /// `None`: the item itself.
    pub selector: Option<Selector>,
    /// `None`: the text.
    pub attribute: Option<String>,
}

/// Fails with `RECIPE_INVALID`.
pub fn compile(text: &str) -> Result<Selector> {
    let shown = || text.chars().take(80).collect::<String>();
    if text.len() > MAX_LEN {
        return Err(Error::new(
            Code::RecipeInvalid,
            format!("selector `{}…` is longer than {MAX_LEN} bytes", shown()),
        ));
    }
    Selector::parse(text).map_err(|err| {
        Error::new(Code::RecipeInvalid, format!("selector `{}` does not parse: {err}", shown()))
    })
}

/// `CSS`, `CSS@attr`, `@attr` or nothing. Fails with `RECIPE_INVALID`.
pub fn compile_field(text: &str) -> Result<Field> {
    let (css, attribute) = match text.rsplit_once('@') {
        Some((css, name)) if is_attribute(name) => (css, Some(name.to_ascii_lowercase())),
        _ => (text, None),
    };
    let css = css.trim();
    let selector = if css.is_empty() { None } else { Some(compile(css)?) };
    Ok(Field { selector, attribute })
}

fn is_attribute(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        for (text, has_css, attribute) in [
            ("h2.title", true, None),
            ("a@href", true, Some("href")),
            ("a @data-Id", true, Some("data-id")),
            ("@title", false, Some("title")),
            ("", false, None),
            ("a[href*=\"@\"]", true, None),
            ("a[href*='x@y']@href", true, Some("href")),
        ] {
            let got = compile_field(text).unwrap();
            assert_eq!(got.selector.is_some(), has_css, "{text}");
            assert_eq!(got.attribute.as_deref(), attribute, "{text}");
        }
        for bad in ["a[", "::", "a@", ">"] {
            assert!(compile_field(bad).is_err(), "{bad}");
        }
        assert!(compile(&"a ".repeat(300)).is_err());
    }
}
