//! A recipe's data as people pass it on: JSON, a line an item, or rows of a table.

use std::{collections::BTreeSet, io::IsTerminal as _, path::Path};

use serde_json::Value;

use super::context;
use commis_base::error::{Code, Error, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One document
    #[default]
    Json,
    /// A line of JSON for each item
    Ndjson,
    /// RFC 4180, with a line of headings
    Csv,
    /// CSV as spreadsheets take it for UTF-8: with a byte order mark and CRLF
    Excel,
}

impl Format {
    /// The format that a file's name says.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// The data as a file holds it. Fails as [`print`].
pub fn text(data: &Value, format: Format) -> Result<String> {
    Ok(match format {
        Format::Json => {
            let text = serde_json::to_string_pretty(data);
            text.map_err(|err| {
                Error::new(Code::Internal, "cannot write the data as JSON").source(err)
            })? + "\n"
        }
        Format::Ndjson => {
            items(data).iter().fold(String::new(), |out, it| out + &it.to_string() + "\n")
        }
        Format::Csv => csv(items(data), csv::Terminator::Any(b'\n'))?,
        Format::Excel => format!("\u{feff}{}", csv(items(data), csv::Terminator::CRLF)?),
    })
}

/// Prints it on stdout. Fails with `USAGE` where rows are asked for and there is no way to make some.
pub fn print(data: &Value, format: Format) -> Result<()> {
    match format {
        Format::Json => context::out(data),
        Format::Ndjson => items(data).iter().for_each(|it| context::event(&it.to_string())),
        Format::Csv | Format::Excel => {
            let text = text(data, format)?;
            // CSV has no escapes for what a terminal would obey; a file gets what the site said.
            if std::io::stdout().is_terminal() {
                context::line(&context::clean(text.trim_end_matches('\n')));
            } else {
                context::data(text.as_bytes());
            }
        }
    }
    Ok(())
}

/// Those of a list; all else is one item.
fn items(data: &Value) -> &[Value] {
    match data {
        Value::Array(all) => all,
        one => std::slice::from_ref(one),
    }
}

fn csv(items: &[Value], end: csv::Terminator) -> Result<String> {
    let failed = |err: csv::Error| {
        Error::new(Code::Usage, "the data cannot be written as CSV")
            .hint("--format json")
            .source(err)
    };
    let mut seen = BTreeSet::new();
    let keys = items.iter().filter_map(Value::as_object).flat_map(|it| it.keys());
    let keys: Vec<&String> = keys.filter(|it| seen.insert(it.as_str())).collect();
    let mut out = csv::WriterBuilder::new().terminator(end).from_writer(Vec::new());
    if keys.is_empty() {
        if !items.is_empty() {
            out.write_record(["value"]).map_err(failed)?;
        }
        for it in items {
            out.write_record([cell(it)]).map_err(failed)?;
        }
    } else {
        out.write_record(keys.iter().map(|it| harmless(it))).map_err(failed)?;
        for it in items {
            out.write_record(keys.iter().map(|key| it.get(key).map(cell).unwrap_or_default()))
                .map_err(failed)?;
        }
    }
    let bytes = out.into_inner().map_err(|err| failed(err.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(it) => harmless(it),
        other => other.to_string(),
    }
}

/// A site's text as no program that shows tables takes it for a formula: with a quotation mark in front where it begins like one
/// (OWASP, CSV injection). Numbers with a sign stay as they are.
fn harmless(text: &str) -> String {
    // Blanks in front are passed over by some of them.
    let begun = text.trim_start_matches([' ', '\u{a0}', '\u{feff}']);
    let is_formula = begun.starts_with([
        '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '|',
        '%',
    ]);
    let is_number = begun.trim_start_matches(['+', '-']).parse::<f64>().is_ok_and(f64::is_finite)
        && !begun.chars().any(char::is_alphabetic);
    if is_formula && !is_number { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_have_a_column_for_each_key() {
        for (data, text) in [
            (
                json!([{"a": 1, "b": "x, \"y\""}, {"a": null, "c": [1]}]),
                "a,b,c\n1,\"x, \"\"y\"\"\",\n,,[1]\n",
            ),
            (json!({"name": "two\nlines", "n": 1.5}), "name,n\n\"two\nlines\",1.5\n"),
            (json!(["a", 2, null]), "value\na\n2\n\"\"\n"),
            (json!([]), ""),
            (json!(["-5", "+1.5", "a=b", "1-2"]), "value\n-5\n+1.5\na=b\n1-2\n"),
            (
                json!([{"=1+1": "=cmd|' /C calc'!A0"}, {"=1+1": "@SUM(A1)"}, {"=1+1": " +1+1"}, {"=1+1": "-inf"}]),
                "'=1+1\n'=cmd|' /C calc'!A0\n'@SUM(A1)\n' +1+1\n'-inf\n",
            ),
            (json!([{"a": 1}, 5]), "a\n1\n\"\"\n"),
        ] {
            assert_eq!(self::text(&data, Format::Csv).unwrap(), text, "{data}");
        }
    }

    #[test]
    fn files_have_the_format_that_their_name_says() {
        let data = json!([{"a": "ü"}, {"a": "=1"}]);
        for (name, expected) in [
            ("x.csv", "a\nü\n'=1\n"),
            ("x.JSONL", "{\"a\":\"ü\"}\n{\"a\":\"=1\"}\n"),
            ("x.json", "[\n  {\n    \"a\": \"ü\"\n  },\n  {\n    \"a\": \"=1\"\n  }\n]\n"),
        ] {
            let format = Format::of(Path::new(name)).unwrap();
            assert_eq!(text(&data, format).unwrap(), expected, "{name}");
        }
        assert_eq!(text(&data, Format::Excel).unwrap(), "\u{feff}a\r\nü\r\n'=1\r\n");
        assert!(Format::of(Path::new("x")).is_none());
    }
}
