//! What stands literally in a file of Hurl: each text in its place, and JSONPath.

use std::fmt::Write as _;

use jmespath::ast::Ast;
use serde_json::Value;

/// JSONPath of an expression, from `before` on; `None` for more than names and places.
pub fn walk(node: &Ast, before: &str) -> Option<String> {
    Some(match node {
        Ast::Identity { .. } => before.to_owned(),
        Ast::Field { name, .. } => {
            let is_plain = !name.contains(['\'', '\\', '"']) && !name.chars().any(char::is_control);
            is_plain.then(|| format!("{before}['{name}']"))?
        }
        Ast::Index { idx, .. } if *idx >= 0 => format!("{before}[{idx}]"),
        Ast::Subexpr { lhs, rhs, .. } => walk(rhs, &walk(lhs, before)?)?,
        _ => return None,
    })
}

/// What stands between the quotes of a string of JSON.
pub fn json_string_body(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The inside of a string of JSON, in which no variable begins.
pub fn escape_json(text: &str) -> String {
    let mut out = String::new();
    for it in json_string_body(text).chars() {
        match it {
            '{' | '}' => _ = write!(out, "\\u{:04x}", u32::from(it)),
            it if commis_base::ids::is_unsafe_char(it) => {
                for unit in it.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            it => out.push(it),
        }
    }
    out
}

/// An address stands to the end of its line; what it cannot hold is encoded already.
pub fn escape_url(url: &str) -> String {
    url.replace('{', "%7B").replace('}', "%7D").replace('#', "%23").replace(' ', "%20")
}

/// A name before a colon.
pub fn key(name: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-.".contains(it);
    name.chars().map(|it| if plain(it) { it.to_string() } else { escape_char(it) }).collect()
}

/// A value to the end of its line.
pub fn escape_unquoted(text: &str) -> String {
    let odd = |it: char| commis_base::ids::is_unsafe_char(it) || "#\\{}".contains(it);
    text.chars().map(|it| if odd(it) { escape_char(it) } else { it.to_string() }).collect()
}

/// Blanks at the ends are no part of a value that has no quotes.
pub fn escape_edges(value: String) -> String {
    let inner = value.trim_matches(' ');
    if inner.len() == value.len() {
        return value;
    }
    let (start, _) = value.split_at(value.len() - value.trim_start_matches(' ').len());
    if inner.is_empty() {
        return start.replace(' ', "\\u{20}");
    }
    let end = &value[start.len() + inner.len()..];
    format!("{}{inner}{}", start.replace(' ', "\\u{20}"), end.replace(' ', "\\u{20}"))
}

pub fn quote(text: &str) -> String {
    let odd = |it: char| commis_base::ids::is_unsafe_char(it) || "\"\\{}".contains(it);
    let inner: String =
        text.chars().map(|it| if odd(it) { escape_char(it) } else { it.to_string() }).collect();
    format!("\"{inner}\"")
}

/// Between backquotes.
pub fn quote_inline(text: &str) -> String {
    let odd = |it: char| commis_base::ids::is_unsafe_char(it) || "`\\{}".contains(it);
    text.chars().map(|it| if odd(it) { escape_char(it) } else { it.to_string() }).collect()
}

pub fn escape_char(it: char) -> String {
    format!("\\u{{{:x}}}", u32::from(it))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_keep_their_ends() {
        assert_eq!(escape_edges(" a b  ".to_owned()), "\\u{20}a b\\u{20}\\u{20}");
        assert_eq!(key("f[]: #"), "f\\u{5b}\\u{5d}\\u{3a}\\u{20}\\u{23}");
        assert_eq!(quote("a\"{{b}}\\\n"), "\"a\\u{22}\\u{7b}\\u{7b}b\\u{7d}\\u{7d}\\u{5c}\\u{a}\"");
    }

    /// As the form's grammar reads it.
    fn read(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("\\u{") {
            out.push_str(&rest[..at]);
            let (code, after) = rest[at + 3..].split_once('}').unwrap();
            out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
            rest = after;
        }
        out + rest
    }

    proptest! {
        #[test]
        fn whatever_it_is_it_stays_in_its_place(text in any::<String>()) {
            let it = quote(&text);
            let inner = &it[1..it.len() - 1];
            prop_assert!(!inner.contains(['"', '\n', '\r']) && !inner.contains("{{"));
            prop_assert_eq!(read(inner), text.clone());
            for it in [escape_edges(escape_unquoted(&text)), key(&text)] {
                prop_assert!(!it.contains(['#', '\n', '\r']) && !it.contains("{{"));
                prop_assert!(it.trim_matches(' ') == it);
                prop_assert_eq!(read(&it), text.clone());
            }
            let json: String = serde_json::from_str(&format!("\"{}\"", escape_json(&text))).unwrap();
            prop_assert_eq!(json, text.clone());
            prop_assert!(!escape_json(&text).contains("{{"));
        }
    }
}
