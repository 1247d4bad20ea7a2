//! Tables for people: fitted to the terminal, and to a page's width where there is none.

use std::io::IsTerminal as _;

use comfy_table::{Cell, ContentArrangement, Table, presets::UTF8_BORDERS_ONLY};

/// Columns where the output is no terminal: what mails and logs of CI show.
const PIPED: u16 = 100;
const PIPED_WIDE: u16 = 160;

/// An empty table with these headings.
pub fn ruled<T: Into<Cell>>(headings: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    // Whether the terminal has colour is decided where the text is written.
    table.enforce_styling();
    if !std::io::stdout().is_terminal() {
        table.set_width(PIPED);
    }
    table.set_header(headings.into_iter().map(Into::into).collect::<Vec<Cell>>());
    table
}

/// The same for rows that hold addresses, which are of use whole.
pub fn ruled_wide<T: Into<Cell>>(headings: impl IntoIterator<Item = T>) -> Table {
    let mut table = ruled(headings);
    if !std::io::stdout().is_terminal() {
        table.set_width(PIPED_WIDE);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped() {
        // Tests have no terminal.
        let mut it = ruled(["name", "task"]);
        it.add_row(["a", &"word ".repeat(60)]);
        let widest = it.to_string().lines().map(|it| it.chars().count()).max();
        assert!(widest.is_some_and(|it| it <= usize::from(PIPED)), "{widest:?}");
    }
}
