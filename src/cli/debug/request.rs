//! A draft's request part by part, in a table.

use crate::{context, table::ruled};
pub use commis_learn::task_view::request_view::{inputs, parts, split};
use commis_learn::task_view::{request_view::PartTrial, terminal_text::cut};

/// Rows of the table that a terminal gets.
const MOST: usize = 60;

/// The table, and what follows it.
pub fn print(parts: &[PartTrial]) {
    if parts.is_empty() {
        return;
    }
    let mut table = ruled(["part", "recorded", "minimized", "with parameters", "why"]);
    let minimized = parts.iter().any(|it| it.minimized.is_some());
    for it in parts.iter().take(MOST) {
        let recorded = it.recorded.as_deref().unwrap_or_default();
        let after = match &it.minimized {
            _ if !minimized => "",
            None => "dropped",
            Some(it) if it == recorded => "kept",
            Some(it) => it,
        };
        let last = it.last.as_deref().filter(|it| *it != recorded).unwrap_or_default();
        table.add_row([
            cut(&it.part, 60),
            cut(recorded, 60),
            cut(after, 60),
            cut(last, 60),
            cut(&it.why, 60),
        ]);
    }
    context::line(&table.to_string());
    if parts.len() > MOST {
        context::line(&format!("  and {} more", parts.len() - MOST));
    }
}
