//! The words of a parameter's name, also where nothing separates them.

use std::{collections::BTreeSet, sync::LazyLock};

use super::{
    services::service,
    vocabulary::{PASSWORDS_ELSEWHERE, vocabulary},
    word_split::pieces,
};

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

/// Whether a name says password in another language than English: by one of its words, or by some that follow one another.
pub fn is_password_elsewhere(words: &[String]) -> bool {
    static NAMES: LazyLock<BTreeSet<String>> =
        LazyLock::new(|| PASSWORDS_ELSEWHERE.iter().map(|it| marked(it).concat()).collect());
    (0..words.len()).any(|from| {
        let mut phrase = String::new();
        words[from..].iter().take(4).any(|it| {
            phrase.push_str(it);
            NAMES.contains(&phrase)
        })
    })
}

/// Whether a name is one of codes that log in: for once, or when a device is lost. `security_code` is a share's, too, and
/// `confirmation_code` an order's.
pub fn is_code(words: &[String]) -> bool {
    let is = |it: &str| words.iter().any(|word| word == it);
    let any = |list: &[&str]| list.iter().any(|it| is(it));
    let last = words.last().map_or("", String::as_str);
    let joined = words.concat();
    let lost = ["backup", "recovery", "scratch", "emergency", "rescue"];
    match last {
        "codes" if any(&lost) => true,
        "code" | "codes" => {
            any(&lost)
                || any(&[
                    "otp",
                    "totp",
                    "mfa",
                    "tfa",
                    "sms",
                    "login",
                    "signin",
                    "twofactor",
                    "passcode",
                    "pairing",
                    "invitation",
                    "invite",
                ])
                // Of a door, as messages call it.
                || any(&["access", "unlock", "door"]) && words.len() == 2
                || is("verification") && words.len() <= 3
                || is("user") && words.len() == 2
                || is("fa") && words.len() == 2
                || is("one") && is("time")
                || is("onetime")
                || is("auth") && words.len() == 2
                || is("authentication") && words.len() == 2
        }
        "keys" | "key" => any(&["recovery", "scratch", "emergency", "rescue"]) && words.len() == 2,
        "pin" => words.len() == 1,
        _ => matches!(
            joined.as_str(),
            "otp"
                | "totp"
                | "onetimepassword"
                | "onetimepasscode"
                | "usercode"
                | "backupcodes"
                | "recoverycodes"
        ),
    }
}
