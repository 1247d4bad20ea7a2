//! A report that a person opens from disk: one file, no network.

use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

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

/// Control characters, and format characters of Unicode that change how their surroundings are read. Joiners (U+200C, U+200D)
/// belong to words and pictures and stay.
pub fn is_strange(it: char) -> bool {
    it.is_control()
        || matches!(it,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
