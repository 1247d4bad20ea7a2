//! The words of a parameter's name, also where nothing separates them.

use super::{keys::vocabulary, services::service};

/// Lower-case words of a name; digits separate and are dropped. A word that is made of known ones is taken apart, since
/// headers and cookies come in lower case: `credentialsid`, `appointeddkey`.
pub fn words(key: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in marked(key) {
        let known = |it: &str| vocabulary(it);
        if word.len() < 6 || known(&word) || service(&word) == Some(word.len()) {
            out.push(word);
        } else if let Some((name, rest)) = service(&word).map(|it| word.split_at(it))
            && name.len() >= 5
            && let Some(parts) = pieces(rest, &known)
        {
            out.push(name.to_owned());
            out.extend(parts.into_iter().map(str::to_owned));
        } else if let Some(parts) = pieces(&word, &known) {
            out.extend(parts.into_iter().map(str::to_owned));
        } else if let Some(front) = word.strip_suffix("key")
            && front.len() >= 4
            && !ENDS_IN_KEY.contains(&word.as_str())
        {
            out.extend([front.to_owned(), "key".to_owned()]);
        } else {
            out.push(word);
        }
    }
    out
}

const ENDS_IN_KEY: &[&str] =
    &["whiskey", "malarkey", "flunkey", "latchkey", "passkey", "turnkey", "blockey", "cockney"];

/// A word as a row of known ones, the longest first; `None` if it is not.
pub fn pieces<'a>(word: &'a str, known: &dyn Fn(&str) -> bool) -> Option<Vec<&'a str>> {
    if word.is_empty() {
        return Some(Vec::new());
    }
    if word.len() > 48 {
        return None;
    }
    (2..=word.len()).rev().filter(|it| word.is_char_boundary(*it)).find_map(|end| {
        let (front, rest) = word.split_at(end);
        if !known(front) {
            return None;
        }
        let mut out = pieces(rest, known)?;
        out.insert(0, front);
        Some(out)
    })
}

/// Words as case, digits and signs mark them.
fn marked(key: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = key.chars().take(200).collect();
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|it| chars[it]);
        let starts = c.is_uppercase()
            && before.is_some_and(|it| {
                it.is_lowercase()
                    || (it.is_uppercase()
                        && chars.get(i + 1).is_some_and(|next| next.is_lowercase()))
            });
        if (!c.is_alphabetic() || starts) && !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}
