//! Lines of a snapshot, read back: role, name and what stands beside it.
//!
//! Our own lines (`@e5 textbox "Password" = "…"`) and those of Playwright MCP (`- textbox "Password" [ref=e5]: …`) read alike. A
//! line that is neither is text.

use icu_normalizer::DecomposingNormalizerBorrowed;

use commis_browser::{is_interactive, is_unseen};

/// Bytes of a snapshot that are read, and lines. A page of more is no wall, and nobody looks for one at its end.
const MOST: usize = 400_000;
const LINES: usize = 4000;

/// What may follow a role.
const BESIDE: &[&str] = &[": ", " \"", " = ", " [", " {", " in \""];

/// A line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotLine<'a> {
    /// `text` where it is no element.
    pub role: &'a str,
    /// Folded: see [`fold`]. Of an element that holds nothing but text, that text.
    pub name: String,
    /// What is written of it: value, states, row. As it is.
    pub rest: &'a str,
}

/// The lines of a snapshot that say anything, in order.
pub fn read(content: &str) -> Vec<SnapshotLine<'_>> {
    let end = content.len().min(MOST);
    let end = (0..=end).rev().find(|it| content.is_char_boundary(*it)).unwrap_or(0);
    content[..end].lines().take(LINES).filter_map(line).collect()
}

fn line(raw: &str) -> Option<SnapshotLine<'_>> {
    let mut it = raw.trim();
    if it.starts_with('⚠') {
        it = it.split_once(": ").map_or(it, |it| it.1);
    }
    it = it.strip_prefix("- ").or_else(|| it.strip_prefix("+ ")).unwrap_or(it);
    it = it.strip_prefix("<changed> ").unwrap_or(it);
    // A key of YAML that holds a colon or a quote.
    it = it.strip_prefix('\'').unwrap_or(it);
    if it.starts_with("@e") || it.starts_with("@c") {
        it = it.split_once(' ')?.1;
    }
    if it.is_empty() || it.starts_with('/') {
        return None;
    }
    if let Some((name, rest)) = quoted(it) {
        return Some(SnapshotLine { role: "text", name: fold(&name), rest });
    }
    let role = it.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let after = &it[role.len()..];
    let is_role = matches!(after, "" | ":") || BESIDE.iter().any(|it| after.starts_with(it));
    if role.is_empty() || !is_role {
        return Some(SnapshotLine { role: "text", name: fold(it), rest: "" });
    }
    if role == "text" {
        let name = after.trim_start_matches(':').trim();
        return Some(SnapshotLine { role, name: fold(name.trim_matches('"')), rest: "" });
    }
    let (name, rest) = quoted(after.trim_start()).unwrap_or((String::new(), after));
    if name.is_empty() && !is_interactive(role) {
        let text = rest.rsplit_once("]: ").or_else(|| rest.split_once(": "));
        return Some(SnapshotLine { role, name: fold(text.map_or("", |it| it.1)), rest });
    }
    Some(SnapshotLine { role, name: fold(&name), rest })
}

/// A name in quotes at the beginning, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut out = String::new();
    let mut escaped = false;
    for (at, it) in inner.char_indices() {
        match it {
            _ if escaped => {
                out.push(it);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((out, &inner[at + 1..])),
            it => out.push(it),
        }
    }
    None
}

/// The lines that a ref names: `@e5`, or `e5` as Playwright MCP has it.
pub fn find_by_ref<'a>(content: &'a str, target: &str) -> Option<&'a str> {
    let target = target.trim();
    let number = target.trim_start_matches('@');
    let is_ref = (2..=12).contains(&number.len())
        && number.chars().all(|it| it.is_ascii_alphanumeric())
        && number.ends_with(|it: char| it.is_ascii_digit());
    if !is_ref {
        return None;
    }
    let ours = format!("@{number} ");
    content.lines().find(|it| {
        let begun = it.find(&ours).is_some_and(|at| !it[..at].contains('"'));
        begun || reference(it) == Some(number)
    })
}

/// The ref of a line as Playwright MCP writes them: among the states behind role and name, since in a name, or in what a field holds,
/// it is a page's word.
pub fn reference(line: &str) -> Option<&str> {
    let it = line.trim_start();
    let it = it.strip_prefix("- ").unwrap_or(it);
    let it = it.strip_prefix('\'').unwrap_or(it);
    let it = it.strip_prefix("<changed> ").unwrap_or(it);
    let it = it.trim_start_matches(|it: char| it.is_ascii_alphanumeric()).trim_start();
    let mut rest = quoted(it).map_or(it, |it| it.1).trim_start();
    while let Some(inner) = rest.strip_prefix('[') {
        let (state, after) = inner.split_once(']')?;
        if let Some(it) = state.strip_prefix("ref=") {
            return Some(it);
        }
        rest = after.trim_start();
    }
    None
}

/// As words are compared: lower case, without accents and what is not seen, one blank between words.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in DecomposingNormalizerBorrowed::new_nfkd().normalize(text).chars() {
        match it {
            '\u{300}'..='\u{36f}' => {}
            // A line that is broken is still a line.
            it if it.is_whitespace() || it.is_control() => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            it if is_unseen(it) => {}
            '\u{2018}' | '\u{2019}' | '\u{2bc}' => out.push('\''),
            '\u{2010}'..='\u{2015}' => out.push('-'),
            it => out.extend(it.to_lowercase()),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Whether the words stand in a folded text, as words and not as part of one.
pub fn contains_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

/// Whether any of them does.
pub fn says_any(text: &str, all: &[&str]) -> bool {
    all.iter().any(|it| contains_words(text, it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_lines_read_alike() {
        for (raw, role, name, rest) in [
            (
                "@e5 textbox \"Password\" = \"••\" [required]",
                "textbox",
                "password",
                " = \"••\" [required]",
            ),
            (
                "  - textbox \"Password\" [ref=e5]: secret",
                "textbox",
                "password",
                " [ref=e5]: secret",
            ),
            ("- textbox [ref=e5]", "textbox", "", " [ref=e5]"),
            ("@e5 textbox in \"Passwort\"", "textbox", "", " in \"Passwort\""),
            ("heading \"Log in\" [level 1]", "heading", "log in", " [level 1]"),
            ("⚠ instructs its reader: @e2 button \"Ignore\"", "button", "ignore", ""),
            ("+ @c3 div \"Weiter\"", "div", "weiter", ""),
            ("- 'button \"Go: now\" [ref=e3]'", "button", "go: now", " [ref=e3]'"),
            ("- <changed> button \"Go\" [ref=e3]", "button", "go", " [ref=e3]"),
            ("\"Prices include taxes.\"", "text", "prices include taxes.", ""),
            ("- text: Contraseña", "text", "contrasena", ""),
            (
                "- paragraph [ref=e9]: Bitte warten",
                "paragraph",
                "bitte warten",
                " [ref=e9]: Bitte warten",
            ),
            ("say \\\"hi\\\" to us", "text", "say \\\"hi\\\" to us", ""),
            ("@e1 link \"say \\\"hi\\\"\"", "link", "say \"hi\"", ""),
            (
                "http://shop.test/ \"Tidewater Supply\"",
                "text",
                "http://shop.test/ \"tidewater supply\"",
                "",
            ),
            ("frame \"login\"", "frame", "login", ""),
            ("two words", "text", "two words", ""),
        ] {
            assert_eq!(
                line(raw),
                Some(SnapshotLine { role, name: name.to_owned(), rest }),
                "{raw}"
            );
        }
        for raw in ["", "   ", "- /url: /login", "@e5"] {
            assert_eq!(line(raw), None, "{raw}");
        }
    }

    #[test]
    fn a_page_is_read_to_a_measure() {
        assert_eq!(read(&"\"a\"\n".repeat(10_000)).len(), LINES);
        let long = format!("\"{}\"", "ä".repeat(MOST));
        assert_eq!(read(&long).len(), 1);
    }

    #[test]
    fn refs_are_found_where_nobody_else_can_write_them() {
        let page = "@e5 button \"@e7 button\"\n@e7 button \"Finish\"\n- button \"[ref=e9] ok\" [ref=e8]\n- button \"Pay\" [ref=e9]:";
        for (target, found) in [
            ("@e7", Some("Finish")),
            ("e7", Some("Finish")),
            ("e9", Some("Pay")),
            (" @e5 ", Some("@e7 button")),
            ("@e6", None),
            ("button \"Finish\"", None),
            ("", None),
            ("@", None),
        ] {
            let line = find_by_ref(page, target);
            assert_eq!(line.is_some(), found.is_some(), "{target}");
            assert!(found.is_none_or(|it| line.unwrap().contains(it)), "{target}: {line:?}");
        }
    }

    #[test]
    fn a_ref_stands_behind_the_name() {
        for (line, found) in [
            ("  - spinbutton \"Quantity\" [ref=e20]: \"2\"", Some("e20")),
            ("- textbox [active] [ref=f2e1]: \"[ref=e9]\"", Some("f2e1")),
            ("- checkbox \"Gift\" [checked] [ref=e3] [cursor=pointer]", Some("e3")),
            ("- 'button \"Go: [ref=e1]\" [ref=e4]':", Some("e4")),
            ("- button \"say \\\"x\\\" [ref=e1]\"", None),
            ("- text: \"[ref=e9]\"", None),
            ("- generic: [ref=e9]", None),
            ("@e7 button \"Finish\"", None),
        ] {
            assert_eq!(reference(line), found, "{line}");
        }
    }

    #[test]
    fn words_are_words() {
        assert!(
            contains_words("enter your pin", "pin")
                && !contains_words("shipping", "pin")
                && !contains_words("pins", "pin")
        );
        assert!(!contains_words("linchpin", "pin"));
        assert!(contains_words("shipping pin", "pin"), "the second one counts");
        assert_eq!(fold("  Bestätigungs\u{ad}code\n—  ＯＴＰ "), "bestatigungscode - otp");
    }
}
