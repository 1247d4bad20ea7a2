//! CSS selectors of HTML recipes: compiled, bounded, with the `@attr` that picks an attribute.

use super::matching::Selector;
use commis_base::error::{Code, Error, Result};

const MAX_LEN: usize = 512;

/// What one field takes from an item.
#[derive(Clone, Debug)]
pub struct Field {
    pub place: FieldSource,
    /// `None`: the place itself.
    pub selector: Option<Selector>,
    /// Which of the elements that match, from 1; `None`: all of them, as a list.
    pub nth: Option<usize>,
    /// `None`: the text.
    pub attribute: Option<String>,
}

/// What one field takes from an item, with the CSS as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldText<'a> {
    pub place: FieldSource,
    /// `None`: the place itself.
    pub css: Option<&'a str>,
    /// Which of the elements that match, from 1; `None`: all of them, as a list.
    pub nth: Option<usize>,
    /// `None`: the text.
    pub attribute: Option<String>,
}

/// Where in an item a field is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldSource {
    Item,
    /// The cell of the item's row under this title.
    Title(String),
    /// The cell of the item's row in this column, from 0.
    Column(usize),
    /// What stands beside this label.
    Label(String),
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

/// `CSS`, `CSS@attr`, `@attr` or nothing. Before it may stand `:column("Title")` or `:column(2)` for a cell of a row, or
/// `:labelled("Label")` for what stands beside a label; after the CSS `:nth-match(2)` for the second element that matches, or
/// `[]` for all of them. Fails with `RECIPE_INVALID`.
pub fn compile_field(text: &str) -> Result<Field> {
    let FieldText { place, css, nth, attribute } = split_field(text)?;
    let selector = css.map(compile).transpose()?;
    Ok(Field { place, selector, nth, attribute })
}

/// A field in its parts, as [`compile_field`] reads it, with its CSS as text. Fails with `RECIPE_INVALID`.
pub fn split_field(text: &str) -> Result<FieldText<'_>> {
    let (place, rest) = parse_source(text)?;
    let (css, attribute) = match rest.rsplit_once('@') {
        Some((css, name)) if is_attribute(name) => (css, Some(name.to_ascii_lowercase())),
        _ => (rest, None),
    };
    let css = css.trim();
    let (css, nth) = match css.strip_suffix("[]") {
        Some(css) => (css, None),
        None => match css.rsplit_once(":nth-match(").and_then(|(css, n)| {
            let n: usize = n.strip_suffix(')')?.trim().parse().ok()?;
            (1..=1_000).contains(&n).then_some((css, n))
        }) {
            Some((css, n)) => (css, Some(n)),
            None => (css, Some(1)),
        },
    };
    let css = Some(css.trim()).filter(|it| !it.is_empty());
    Ok(FieldText { place, css, nth, attribute })
}

/// What stands before the CSS, and the rest.
fn parse_source(text: &str) -> Result<(FieldSource, &str)> {
    let text = text.trim_start();
    let bad = || {
        Error::new(
            Code::RecipeInvalid,
            format!("field `{}` does not parse", text.chars().take(80).collect::<String>()),
        )
    };
    if let Some(rest) = text.strip_prefix(":labelled(") {
        let (label, rest) = parse_quoted(rest).ok_or_else(bad)?;
        return Ok((FieldSource::Label(label), rest));
    }
    let Some(rest) = text.strip_prefix(":column(") else { return Ok((FieldSource::Item, text)) };
    if let Some((title, rest)) = parse_quoted(rest) {
        return Ok((FieldSource::Title(title), rest));
    }
    let (n, rest) = rest.split_once(')').ok_or_else(bad)?;
    let n: usize = n.trim().parse().map_err(|_| bad())?;
    let at = n.checked_sub(1).filter(|it| *it < 1_000).ok_or_else(bad)?;
    Ok((FieldSource::Column(at), rest))
}

/// A string of CSS up to the closing parenthesis, and what follows.
fn parse_quoted(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('"')?.char_indices();
    let mut out = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => out.push(chars.next()?.1),
            '"' => return Some((out, text[1 + at + 1..].strip_prefix(')')?)),
            c => out.push(c),
        }
    }
    None
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
        let check = |text: &str, place: FieldSource, nth: Option<usize>, has_css: bool| {
            let got = compile_field(text).unwrap();
            assert_eq!(
                (&got.place, got.nth, got.selector.is_some()),
                (&place, nth, has_css),
                "{text}"
            );
        };
        check(
            ":column(\"Unit \\\"price\\\"\")",
            FieldSource::Title("Unit \"price\"".into()),
            Some(1),
            false,
        );
        check(":column(2) a@href", FieldSource::Column(1), Some(1), true);
        check(
            ":labelled(\"Built (year)\")",
            FieldSource::Label("Built (year)".into()),
            Some(1),
            false,
        );
        check("dd:nth-match(2)", FieldSource::Item, Some(2), true);
        check("a.tag[]@href", FieldSource::Item, None, true);
        for bad in [
            "a[",
            "::",
            "a@",
            ">",
            ":column()",
            ":column(0)",
            ":column(\"x)",
            ":labelled(x)",
            "a:nth-match(0)",
        ] {
            assert!(compile_field(bad).is_err(), "{bad}");
        }
        assert!(compile(&"a ".repeat(300)).is_err());
    }
}
