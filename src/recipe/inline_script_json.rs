//! JSON that a script in a page assigns to a name: `window.__STATE__ = {…};`, or the same through `JSON.parse("…")`.
//!
//! The recording and the runner both ask here. Nothing is executed: an object literal that is no JSON is passed over.

use serde_json::{Deserializer, Value};

/// Assignments that are looked at in one script.
const MAX_TRIED: usize = 256;
const MAX_NAME: usize = 64;

/// Objects and lists that the script assigns, with the names as written (`window.__STATE__`), in order. Names are empty where
/// what stands before the sign is none.
pub fn find_assignments(script: &str) -> impl Iterator<Item = (&str, Value)> {
    let mut at = 0;
    let mut tried = 0;
    std::iter::from_fn(move || {
        while let Some(sign) = script[at..].find('=').map(|it| it + at) {
            at = sign + 1;
            tried += 1;
            if tried > MAX_TRIED {
                return None;
            }
            let after = script[at..].trim_start();
            let begin = script.len() - after.len();
            let Some((value, len)) = parse_json_prefix(after) else { continue };
            at = begin + len;
            return Some((name_before(&script[..sign]), value));
        }
        None
    })
}

/// Whether it is a name as [`assigned`] gives it.
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_NAME
        && text.bytes().all(in_name)
        && !text.starts_with(|it: char| it.is_ascii_digit() || it == '.')
}

pub(super) fn name_before(text: &str) -> &str {
    let text = text.trim_end();
    let name = text.rsplit(|c: char| !u8::try_from(c).is_ok_and(in_name)).next().unwrap_or("");
    if is_name(name) { name } else { "" }
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$.".contains(&byte)
}

/// The object or list at the beginning of a text, and its length.
pub(super) fn parse_json_prefix(text: &str) -> Option<(Value, usize)> {
    if let Some(rest) = text.strip_prefix("JSON.parse(") {
        let mut strings = Deserializer::from_str(rest).into_iter::<String>();
        let inner = strings.next()?.ok()?;
        let value = serde_json::from_str(&inner).ok().filter(is_container)?;
        return Some((value, text.len() - rest.len() + strings.byte_offset()));
    }
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_script_assigns() {
        let check = |script: &str, expected: &[(&str, Value)]| {
            assert_eq!(find_assignments(script).collect::<Vec<_>>(), expected, "{script}");
        };
        check("window.__STATE__ = {\"a\":\"x=1\"};", &[("window.__STATE__", json!({"a": "x=1"}))]);
        check("var a=1, list = [2];b={}", &[("list", json!([2])), ("b", json!({}))]);
        check("window['x'] = [1]", &[("", json!([1]))]);
        check(
            r#"s = JSON.parse("{\"a\":[1]}");t=[2]"#,
            &[("s", json!({"a": [1]})), ("t", json!([2]))],
        );
        for nothing in [
            "a = {b: 1}",
            "if (a == 3) {}",
            "f = () => {",
            "a = JSON.parse('[1]')",
            "é = \"[\"",
            "=",
        ] {
            check(nothing, &[]);
        }
        check("ä = [1]", &[("", json!([1]))]);
        assert!(find_assignments(&format!("x={}", "[".repeat(5000))).next().is_none());
    }
}
