//! What a failing step saw.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{BOLD, DIM, YELLOW, terminal_text::cut};
use crate::context;
use commis_artifacts::failure::Failure;

/// Lines of each list.
const MOST: usize = 12;

pub fn print(failure: &Failure, picture: Option<&Path>) {
    for (head, lines) in failure.describe_lines(MOST) {
        let style = if head == "failed" { YELLOW.bold() } else { BOLD };
        context::line(&format!("\n{style}{head}{style:#}"));
        for it in lines {
            context::line(&format!("  {}", cut(&it, 240)));
        }
    }
    let why = failure.no_picture.as_deref().unwrap_or("it is gone");
    match picture {
        Some(path) => context::line(&format!("\n{BOLD}picture{BOLD:#}\n  {}", path.display())),
        None => context::line(&format!("\n{DIM}no picture: {}{DIM:#}", cut(why, 200))),
    }
}

pub fn as_json((failure, picture): &(Failure, Option<PathBuf>)) -> Value {
    let mut out = json!(failure);
    out["picture"] = json!(picture);
    out
}
