//! Words of a page on their way to a terminal or a model: on one line, and nothing in them that acts on either.

/// White space as single blanks; what is not seen, or would turn what is seen around, left out.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        if it.is_whitespace() || it.is_control() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !is_unseen(it) {
            out.push(it);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Zero-width characters, directions, tags, variation selectors beyond the usual, and the like.
pub fn is_unseen(it: char) -> bool {
    matches!(it,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// At most so many characters.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// In quotes, so that no name can look like a line of ours.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        if matches!(it, '"' | '\\') {
            out.push('\\');
        }
        out.push(it);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_or_is_not_seen_is_left_out() {
        assert_eq!(plain(" a\u{1b}[31m\n\tb \u{202e}c\u{200b}d\u{e0041}\u{9b}x "), "a [31m b cd x");
        assert_eq!(quoted("say \"@e5\""), "\"say \\\"@e5\\\"\"");
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äö", 2), "äö");
    }
}
