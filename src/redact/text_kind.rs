//! Whether a text was written by people or for machines.

/// Whether a text was written by people or for machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    Spoken,
    /// A program, a style sheet.
    Code,
    /// A page, XML: what people read stands between tags.
    Markup,
}

impl TextKind {
    /// Of a body that is text, by its type and by how it begins.
    pub fn detect(text: &str, mime: &str) -> Self {
        let kind = mime.to_ascii_lowercase();
        if ["javascript", "ecmascript", "css"].iter().any(|it| kind.contains(it)) {
            Self::Code
        } else if is_tagged(text) {
            Self::Markup
        } else {
            Self::Spoken
        }
    }
}

/// Whether a text is one with tags: it begins with one, or ends some.
pub fn is_tagged(text: &str) -> bool {
    let begins = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).strip_prefix('<');
    begins.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_alphabetic() || "!?".contains(c)))
        || text.contains("</")
}
