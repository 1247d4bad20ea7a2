//! Parts of a page that are no page: rows that a script puts into a table that is there.

use std::borrow::Cow;

/// Elements that the parser drops outside of a table.
const OF_TABLE: &[&str] =
    &["caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"];

/// The text as it is parsed: in a table where it begins with a part of one, behind white space and comments.
pub fn with_table_context(text: &str) -> Cow<'_, str> {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(comment) = rest.strip_prefix("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { break };
        rest = after.trim_start();
    }
    let Some(tag) = rest.strip_prefix('<') else { return Cow::Borrowed(text) };
    let ends = tag.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tag.len());
    let is_part = OF_TABLE.iter().any(|it| it.eq_ignore_ascii_case(&tag[..ends]))
        && tag[ends..].starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/'));
    if is_part { Cow::Owned(format!("<table>{rest}")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_tables_stand_in_one() {
        for text in
            ["<tr><td>a", " \n<!-- rows --> <TD class=x>a", "\u{feff}<tbody\n><tr>", "<col/>"]
        {
            assert!(with_table_context(text).starts_with("<table><"), "{text}");
        }
        for text in
            ["<table><tr>", "<track>", "<thing>", "a <tr>", "<!-- <tr>", "<!doctype html><tr>", ""]
        {
            assert_eq!(with_table_context(text), text);
        }
    }
}
