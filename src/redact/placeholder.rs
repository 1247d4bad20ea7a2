//! The form of a placeholder, and the names in it.

/// Stands in a placeholder where there is no name to show.
pub const NAMELESS: &str = "value";

/// How a placeholder opens and closes, in a text and in an address.
pub const ENDS: [(&str, &str); 2] = [("[REDACTED:", "]"), ("%5BREDACTED%3A", "%5D")];

/// Whether the text is a placeholder as one is written here. A page may write `[REDACTED:` as well: that alone says nothing.
pub fn is_placeholder(text: &str) -> bool {
    let within = |(open, close): (&str, &str)| text.strip_prefix(open)?.strip_suffix(close);
    let inner = ENDS.into_iter().find_map(within).map(|it| it.replace("%23", "#"));
    inner.is_some_and(|it| {
        let (name, n) = it.split_once('#').unwrap_or((&it, "2"));
        n.parse::<u32>().is_ok() && label(name) == name
    })
}

/// A name fit for a placeholder. Names that look like values themselves are not repeated.
pub fn label(name: &str) -> String {
    let name = name.rsplit(['[', '/']).find(|it| it.trim_matches(']').len() > 1).unwrap_or(name);
    let out: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    let out = out.trim_matches('-');
    if out.is_empty() || name.len() > 60 || super::randomness::erratic(name) && name.len() >= 12 {
        NAMELESS.to_owned()
    } else {
        out.to_owned()
    }
}
