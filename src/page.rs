//! A report that a person opens from disk: one file, no network.

use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

pub use crate::ids::is_strange;

/// The whole page. Its policy allows its own style sheet and script by their hashes, and nothing else.
pub fn page(title: &str, style: &str, script: Option<&str>, body: &Markup) -> String {
    let source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}",
        source(style),
        script.map_or("'none'".to_owned(), source)
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                (body)
                @if let Some(it) = script { script { (PreEscaped(it)) } }
            }
        }
    }
    .into_string()
}
