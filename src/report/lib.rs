//! What all pages have in common: those that a person opens from disk (one file, no network), and the dashboard's.

pub mod plot;
pub mod request_charts;

use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

pub use commis_base::ids::{is_unsafe_char, plain};

/// The look of every page; a page's own rules come after it.
pub const STYLE: &str = include_str!("base.css");

/// A page that a person opens from disk.
#[derive(Default)]
pub struct Page<'a> {
    pub title: &'a str,
    /// Its own rules.
    pub style: &'a str,
    pub script: Option<&'a str>,
    /// Pictures stand in it as data.
    pub pictures: bool,
    /// Read again after so many seconds; with a script that is the script's business.
    pub again_s: Option<u32>,
}

impl Page<'_> {
    /// The whole page. Its policy allows its own style sheet and script by their hashes, and nothing else. What is strange in a text
    /// shows as such, wherever it came from.
    pub fn render(&self, body: &Markup) -> String {
        let source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let style = format!("{STYLE}{}", self.style);
        let policy = format!(
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}; img-src {}",
            source(&style),
            self.script.map_or("'none'".to_owned(), source),
            if self.pictures { "data:" } else { "'none'" },
        );
        let again = self.again_s.map(|it| html! { meta http-equiv="refresh" content=(it); });
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    @if let Some(it) = again { @if self.script.is_some() { noscript { (it) } } @else { (it) } }
                    title { (plain(self.title)) }
                    style { (PreEscaped(style)) }
                }
                body {
                    main.report { (PreEscaped(plain(&body.0))) }
                    @if let Some(it) = self.script { script { (PreEscaped(it)) } }
                }
            }
        }
        .into_string()
    }
}

/// A table's first row; `>` before a name: figures stand below it.
pub fn head(names: &[&str]) -> Markup {
    html! {
        thead {
            tr {
                @for it in names {
                    @match it.strip_prefix('>') {
                        Some(it) => th.n scope="col" { (it) },
                        None => th scope="col" { (it) },
                    }
                }
            }
        }
    }
}

/// What may be wider than the page, with a name for who does not see it.
pub fn scrollable(label: &str, inner: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="group" aria-label=(label) { (inner) } }
}

/// `340 ms`, `12.5 s`, `3 min 20 s`, `2 h 5 min`; a number stays with its unit.
pub fn format_duration(ms: i64) -> String {
    match ms {
        ..1000 => format!("{} ms", ms.max(0)),
        1000..60_000 => format!("{:.1} s", ms as f64 / 1000.0),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
    .replace(' ', "\u{a0}")
}

/// At most so many characters, the last of which says that there were more.
pub fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod colours;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_what_is_there_and_nothing_else() {
        let body = html! { p { "<script>\u{202e}x\u{1b}\ny" } };
        let it = Page { title: "a\u{7}<b>", style: ".x{}", script: Some("1"), ..Page::default() };
        let text = it.render(&body);
        assert!(text.contains("<title>a\u{fffd}&lt;b&gt;</title>"), "{text}");
        assert!(text.contains("&lt;script&gt;\u{fffd}x\u{fffd}\ny"), "{text}");
        assert!(text.contains("img-src 'none'") && !text.contains("refresh"));
        for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
            let inner = text.split_once(open).unwrap().1.split_once(close).unwrap().0;
            assert!(text.contains(&STANDARD.encode(Sha256::digest(inner))), "{open}");
        }
    }

    #[test]
    fn a_page_that_is_read_again_says_so_to_who_runs_no_script() {
        let again = r#"<meta http-equiv="refresh" content="3">"#;
        let it = Page { again_s: Some(3), ..Page::default() };
        assert!(it.render(&html! {}).contains(again));
        let it = Page { script: Some("1"), ..it };
        assert!(it.render(&html! {}).contains(&format!("<noscript>{again}</noscript>")));
    }

    #[test]
    fn times_are_told_as_people_do() {
        for (ms, text) in [
            (-5, "0 ms"),
            (340, "340 ms"),
            (12_500, "12.5 s"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
        ] {
            assert_eq!(format_duration(ms).replace('\u{a0}', " "), text);
        }
    }

    #[test]
    fn a_text_that_is_cut_says_so() {
        for (text, max, out) in
            [("abcdef", 4, "abc…"), ("abcd", 4, "abcd"), ("äöü", 2, "ä…"), ("", 0, "")]
        {
            assert_eq!(clip(text, max), out);
        }
    }
}
