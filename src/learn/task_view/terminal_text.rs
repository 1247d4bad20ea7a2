//! Strangers' text in lines that a terminal can hold.

use serde_json::Value;

use commis_report::plain;

/// Harmless, on one line, of at most so many characters.
pub fn cut(text: &str, most: usize) -> String {
    let mut out: String = plain(text).replace('\n', " ");
    if let Some((at, _)) = out.char_indices().nth(most) {
        out.truncate(at);
        out.push('…');
    }
    out
}

/// A text as it is, anything else as JSON.
pub fn value(it: &Value) -> String {
    match it {
        Value::String(it) => cut(it, 80),
        other => cut(&other.to_string(), 80),
    }
}

/// The first of them, and how many more there are.
pub fn bounded(lines: impl ExactSizeIterator<Item = String>, most: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    let mut out: Vec<String> = lines.take(most).collect();
    if more > 0 {
        out.push(format!("and {more} more"));
    }
    out
}

pub fn str_of(it: &Value, key: &str) -> String {
    cut(it.get(key).and_then(Value::as_str).unwrap_or(""), 300)
}

pub fn array<'a>(it: &'a Value, key: &str) -> &'a [Value] {
    it.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Texts of a list, with commas.
pub fn join(it: Option<&Value>) -> String {
    let items = it.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    cut(&items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "), 300)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fits_a_line() {
        assert_eq!(cut("a\u{1b}[2J\nb", 99), "a\u{fffd}[2J b");
        assert_eq!(cut("ääää", 4), "ääää");
        assert_eq!(cut("äääää", 4), "ääää…");
        let lines = || ["a", "b", "c"].into_iter().map(str::to_owned);
        assert_eq!(bounded(lines(), 3), ["a", "b", "c"]);
        assert_eq!(bounded(lines(), 1), ["a", "and 2 more"]);
    }
}
