//! The data that a script assigns to names: texts, JSON, and tables packed into one text (`NRB:Norby|KAL:Kalvik`).
//!
//! The recording and the runner both ask here, so that what was measured is what a run reads. Nothing is executed.

use serde_json::{Map, Value};

use super::inline_script_json::{name_before, parse_json_prefix};

/// Assignments that are looked at in one script.
const MAX_TRIED: usize = 2_000;
/// A longer text is read as a table or not at all.
const MAX_TEXT: usize = 4_096;
/// Fewer rows are no table.
const MIN_ROWS: usize = 3;
/// Signs between rows, and between the columns of a row: the first that fit all rows are the ones.
const ROWS: [char; 5] = ['\n', '|', ';', '~', ','];
const COLUMNS: [char; 7] = [':', '=', '\t', '|', ',', ';', '~'];

/// What it assigns by name, the first of two of one name; `None` where that is nothing.
pub fn read(script: &str) -> Option<Value> {
    let mut out = Map::new();
    let mut at = 0;
    for _ in 0..MAX_TRIED {
        let Some(sign) = script[at..].find('=').map(|it| it + at) else { break };
        at = sign + 1;
        let name = name_before(&script[..sign]);
        let after = script[at..].trim_start();
        let begin = script.len() - after.len();
        let Some((value, len)) = text(after).or_else(|| parse_json_prefix(after)) else { continue };
        at = begin + len;
        if !name.is_empty() {
            out.entry(name.to_owned()).or_insert(value);
        }
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

/// A script that assigns these values.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    for (name, it) in value.as_object().into_iter().flatten() {
        out.extend([name, " = ", &it.to_string(), ";\n"]);
    }
    out
}

/// The quoted text at the beginning, as the table that it is or as it stands, and its length in the script.
fn text(script: &str) -> Option<(Value, usize)> {
    let quote = script.chars().next().filter(|it| matches!(it, '"' | '\'' | '`'))?;
    let mut out = String::new();
    let mut chars = script.char_indices().skip(1);
    while let Some((at, it)) = chars.next() {
        match it {
            _ if it == quote => {
                let value = match table(&out) {
                    Some(it) => it,
                    None if out.len() <= MAX_TEXT => out.into(),
                    None => return None,
                };
                return Some((value, at + 1));
            }
            // A template with holes in it is a program.
            '$' if quote == '`' && script[at..].starts_with("${") => return None,
            '\n' if quote != '`' => return None,
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'u' => {
                    let digits: String = chars.by_ref().take(4).map(|it| it.1).collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                '\n' => {}
                it @ ('"' | '\'' | '`' | '\\' | '/' | '$' | '|') => out.push(it),
                _ => return None,
            },
            it => out.push(it),
        }
    }
    None
}

/// Rows of columns that a text packs, each row with as many columns.
fn table(text: &str) -> Option<Value> {
    for row in ROWS {
        let rows: Vec<&str> = text.trim_matches(row).split(row).collect();
        if rows.len() < MIN_ROWS {
            continue;
        }
        for column in COLUMNS.into_iter().filter(|it| *it != row) {
            let width = rows[0].split(column).count();
            if width < 2 || rows.iter().any(|it| it.split(column).count() != width) {
                continue;
            }
            let cells = |it: &&str| it.split(column).map(|it| Value::from(it.trim())).collect();
            return Some(rows.iter().map(cells).map(Value::Array).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_scripts_assign() {
        for (script, expected) in [
            (
                "window.ports = 'NRB:Norby|KAL:Kalvik|NOR:Nor';",
                json!({"window.ports": [["NRB", "Norby"], ["KAL", "Kalvik"], ["NOR", "Nor"]]}),
            ),
            (
                r#"const v = "a\"b"; let n = 3; x = {"k": [1]}"#,
                json!({"v": "a\"b", "x": {"k": [1]}}),
            ),
            ("t = `1,a\n2,b\n3,c`", json!({"t": [["1", "a"], ["2", "b"], ["3", "c"]]})),
            // Two rows, and rows of different widths, are text.
            ("t = 'a:b|c:d'", json!({"t": "a:b|c:d"})),
            ("t = 'a:b|c:d|e'", json!({"t": "a:b|c:d|e"})),
            ("a = 'x'; a = 'y'", json!({"a": "x"})),
        ] {
            let value = read(script).unwrap();
            assert_eq!(value, expected, "{script}");
            assert_eq!(read(&write(&value)), Some(value), "{script}");
        }
        for nothing in ["if (a == 'b') {}", "x => 'y'", "t = `a${b}`", "t = 'open", ""] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
    }
}
