//! What a failing step saw.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{BOLD, DIM, YELLOW, text::cut};
use crate::wire;
use commis_artifacts::failure::Failure;

/// Lines of each list.
const MOST: usize = 12;

pub fn print(failure: &Failure, picture: Option<&Path>) {
    for (head, lines) in failure.describe_lines(MOST) {
        let style = if head == "failed" { YELLOW.bold() } else { BOLD };
        wire::line(&format!("\n{style}{head}{style:#}"));
        for it in lines {
            wire::line(&format!("  {}", cut(&it, 240)));
        }
    }
    let why = failure.no_picture.as_deref().unwrap_or("it is gone");
    match picture {
        Some(path) => wire::line(&format!("\n{BOLD}picture{BOLD:#}\n  {}", path.display())),
        None => wire::line(&format!("\n{DIM}no picture: {}{DIM:#}", cut(why, 200))),
    }
}

pub fn as_json((failure, picture): &(Failure, Option<PathBuf>)) -> Value {
    let mut out = json!(failure);
    out["picture"] = json!(picture);
    out
}
