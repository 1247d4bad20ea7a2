//! A draft's request part by part, in a table.

use crate::{table::ruled, wire};
pub use commis_learn::look::parts::{inputs, parts, split};
use commis_learn::look::{parts::PartTrial, text::cut};

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
    wire::line(&table.to_string());
    if parts.len() > MOST {
        wire::line(&format!("  and {} more", parts.len() - MOST));
    }
}
