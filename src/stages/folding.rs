//! Words in one form: lower case, without accents, in Latin letters.

use deunicode::deunicode_char;
use icu_normalizer::ComposingNormalizerBorrowed;

/// Lower case, without accents, in Latin letters where a script has letters: `биткоина` is `bitkoina`.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let is_mark = |it: &char| ('\u{300}'..='\u{36f}').contains(it);
    let lower = text.to_lowercase();
    let composed = ComposingNormalizerBorrowed::new_nfkc().normalize(&lower);
    let mut out = String::with_capacity(composed.len());
    for it in composed.chars().filter(|it| !is_mark(it)) {
        match deunicode_char(it) {
            Some(latin) if it.is_alphabetic() && !is_sign(it) => {
                out.extend(
                    latin
                        .chars()
                        .filter(|it| !it.is_whitespace())
                        .map(|it| it.to_ascii_lowercase()),
                );
            }
            _ => out.push(it),
        }
    }
    out
}

/// The words of a text, folded; camel case, digits and punctuation part them.
pub(super) fn parts(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for it in text.chars() {
        let splits = before.is_lowercase() && it.is_uppercase()
            || before.is_numeric() != it.is_numeric()
                && before.is_alphanumeric()
                && it.is_alphanumeric();
        if (splits || !it.is_alphanumeric()) && !word.is_empty() {
            out.push(fold(&word));
            word.clear();
        }
        if it.is_alphanumeric() {
            word.push(it);
        }
        before = it;
    }
    if !word.is_empty() {
        out.push(fold(&word));
    }
    out
}

/// Han and kana, whose signs are no letters of a word.
pub fn is_sign(it: char) -> bool {
    matches!(it, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}
