//! Names of parameters that say where in a list to begin.

/// Last words of names that say where in a list to begin, as APIs of all kinds call them.
const POSITIONS: &[&str] = &[
    "after",
    "continuation",
    "cursor",
    "from",
    "offset",
    "page",
    "pageindex",
    "pageno",
    "pagenumber",
    "pagetoken",
    "skip",
    "start",
    "startindex",
    "token",
];
/// Names that are positions only as a whole.
const SHORT: &[&str] = &["p", "pg", "pn", "_p"];

/// The name is one of a position in a list: a page, an offset, a cursor. A path such as `body/paging/page` counts by its last part.
pub fn is_position(name: &str) -> bool {
    let whole = name.rsplit('/').next().unwrap_or(name);
    let lower = whole.to_ascii_lowercase();
    let plain: String = lower.chars().filter(char::is_ascii_alphanumeric).collect();
    if SHORT.contains(&lower.as_str()) || POSITIONS.contains(&plain.as_str()) {
        return true;
    }
    // A size.
    if plain.contains("perpage") {
        return false;
    }
    let capital = whole.rfind(|c: char| c.is_ascii_uppercase()).unwrap_or(0);
    let last = lower[capital..].rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
    // `access_token` is no position, `next_token` is one.
    last.is_some_and(|it| it != "token" && POSITIONS.contains(&it))
        || plain.ends_with("nexttoken")
        || plain.ends_with("pagetoken")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_positions() {
        for name in ["page", "p", "pageNumber", "start_index", "body/paging/page", "next_token"] {
            assert!(is_position(name), "{name}");
        }
        for name in ["q", "access_token", "pages", "per_page", "startDate"] {
            assert!(!is_position(name), "{name}");
        }
    }
}
