//! What one segment of a path is by itself: a word of the interface, or a value that stands for one thing among many.
//!
//! A wrong template merges two endpoints into one, so what may be a word is a word here; words that vary are found by what they
//! answer ([`super::paths`]).

use std::borrow::Cow;

use super::string_formats::{is_date, is_email, is_redacted, is_uuid};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Word,
    /// Digits.
    Number,
    Uuid,
    Date,
    /// Numbers with commas.
    Place,
    Email,
    /// Made up by a program: hashes, random ids.
    Random,
    /// Letters and a number: `Q42`, `tt0111161`, `some-title-12345`.
    Numbered,
    /// A secret stood there.
    Hidden,
    /// Spaces, an encoded slash, or longer than any name.
    Text,
}

/// Longer is no name.
const MAX_NAME: usize = 60;
/// File endings that say in which form the answer comes.
const ENDINGS: &[&str] = &[
    ".json", ".xml", ".csv", ".geojson", ".jsonld", ".ndjson", ".yaml", ".rss", ".atom", ".html",
    ".php", ".aspx",
];

/// A segment without what it is called in, and that: `12` and `.json`.
pub fn split_ending(segment: &str) -> (&str, &str) {
    let lower = segment.to_ascii_lowercase();
    let found = ENDINGS.iter().find(|it| lower.ends_with(**it) && lower.len() > it.len());
    segment.split_at(segment.len() - found.map_or(0, |it| it.len()))
}

/// A set and a key in brackets (OData): `Customers(`, `4`, `)`.
pub fn split_key(segment: &str) -> Option<(&str, &str, &str)> {
    let inner = segment.strip_suffix(')')?;
    let at = inner.find('(')?;
    let set = &inner[..at];
    let is_name = !set.is_empty() && set.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let key = &inner[at + 1..];
    (is_name && !key.is_empty() && !key.contains('(')).then(|| (&segment[..=at], key, ")"))
}

/// A segment that names procedures, behind a word that says so: `/api/method/frappe.client.get_count`, `/trpc/user.me,cart.count`.
pub fn is_procedure(before: Option<&str>, segment: &str) -> bool {
    const CALLS: &[&str] =
        &["method", "methods", "rpc", "trpc", "xrpc", "call", "invoke", "procedure", "procedures"];
    let is_identifier = |it: &str| {
        it.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && it.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let text = decode(segment);
    before.is_some_and(|it| CALLS.contains(&it.to_ascii_lowercase().as_str()))
        && text.split(',').all(|it| it.split('.').all(is_identifier))
}

pub fn decode(segment: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(segment).decode_utf8_lossy()
}

/// What a segment is, as it is written in the path.
pub fn classify(segment: &str) -> Class {
    let text = &*decode(segment);
    let bytes = text.as_bytes();
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let plain = bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-~.=".contains(b));
    if text.is_empty() {
        Class::Word
    } else if is_redacted(text) {
        Class::Hidden
    } else if digits == text.len() {
        Class::Number
    } else if is_uuid(text) || (digits > 0 && letters > 0 && text.len() == 32 && is_hex(text)) {
        Class::Uuid
    } else if is_date(text) {
        Class::Date
    } else if is_place(text) {
        Class::Place
    } else if is_email(text) {
        Class::Email
    } else if text.contains(['/', ' ', '\u{fffd}', '"', '{', '|'])
        || text.chars().count() > MAX_NAME
    {
        Class::Text
    } else if !plain || digits == 0 {
        Class::Word
    } else if is_random(text) {
        Class::Random
    } else if is_numbered(text) {
        Class::Numbered
    } else {
        Class::Word
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `37.82,-122.42`
fn is_place(text: &str) -> bool {
    let number = |it: &str| {
        let it = it.strip_prefix('-').unwrap_or(it);
        !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    text.contains([',', ';']) && text.split([',', ';']).all(number)
}

/// Letters and digits without order. Fitted on paths of recorded sites: `6ps7aNoynLdM4x37WbmpGj`, `z-6ZEcSbP`, `01kmp8wffk` are,
/// `OAuth2Callback`, `h264`, `GetSupportedAPIList2`, `x86_64` are not.
fn is_random(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let upper = text.bytes().any(|b| b.is_ascii_uppercase());
    let lower = text.bytes().any(|b| b.is_ascii_lowercase());
    let groups = count_runs(text, u8::is_ascii_digit);
    if is_hex(text) && upper != lower {
        return text.len() >= 8 && digits >= 2 && (groups >= 2 || text.len() >= 16);
    }
    // Words joined by hyphens.
    let longest = text.split(['-', '_', '.']).map(str::len).max().unwrap_or(0);
    if upper && lower {
        return text.len() >= 8
            && longest >= 5
            && (groups >= 3
                || longest_consonant_run(text) >= 4
                || (text.len() >= 20 && groups >= 2));
    }
    longest >= 10 && digits >= 3 && groups >= 2
}

/// How many runs there are.
fn count_runs(text: &str, of: impl Fn(&u8) -> bool) -> usize {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(|i| of(&bytes[*i]) && (*i == 0 || !of(&bytes[i - 1]))).count()
}

/// The longest run of letters without a vowel.
fn longest_consonant_run(text: &str) -> usize {
    let runs = text.split(|c: char| !c.is_ascii_alphabetic() || "aeiouyAEIOUY".contains(c));
    runs.map(str::len).max().unwrap_or(0)
}

fn is_numbered(text: &str) -> bool {
    let front = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - front.len();
    let name = front.trim_end_matches(['-', '_', '.']);
    let is_apart = name.len() < front.len();
    let letters = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic());
    let upper = letters && name.bytes().all(|b| b.is_ascii_uppercase());
    if upper && name.len() <= 10 && digits >= 1 {
        // `Q42`, `PROJ-12`, but not `V2`.
        return is_apart || (digits >= 2 && name != "V" && name.len() <= 3);
    }
    // `cus_123`, `tt0111161`, `some-title-12345`
    (letters && name.len() <= 4 && digits >= 4) || (is_apart && digits >= 3)
}

/// Whether a word is of the kind that people and editors make up for one thing: `my-great-post`, `lodash.merge`, `@angular`.
pub fn is_made_up(word: &str) -> bool {
    let text = &*decode(word);
    let apart = text.bytes().filter(|b| b"-_.:~@+'".contains(b)).count();
    apart >= 2
        || !text.is_ascii()
        || text.starts_with('@')
        || text.len() > 24
        || text.bytes().any(|b| b.is_ascii_digit())
}

/// Words that stand where ids do, and are part of the interface.
pub fn is_interface_word(word: &str) -> bool {
    const FIXED: &[&str] = &[
        "me",
        "self",
        "current",
        "mine",
        "my",
        "all",
        "any",
        "new",
        "latest",
        "recent",
        "popular",
        "trending",
        "top",
        "random",
        "search",
        "find",
        "count",
        "counts",
        "stats",
        "summary",
        "status",
        "info",
        "index",
        "list",
        "lookup",
        "suggest",
        "autocomplete",
        "batch",
        "bulk",
        "export",
        "import",
        "login",
        "logout",
        "session",
        "token",
        "refresh",
        "config",
        "settings",
        "health",
        "version",
        "graphql",
        "rpc",
        "api",
        "query",
        "feed",
        "default",
        "validate",
        "upload",
        "download",
        "public",
        "private",
        "admin",
        "default",
        "schema",
        "metadata",
        "meta",
        "types",
        "categories",
        "tags",
        "history",
    ];
    FIXED.contains(&word.to_ascii_lowercase().as_str())
}

/// A name for what stands after `before`, which no other of the same path has.
pub fn parameter_name(
    before: Option<&str>,
    class: Class,
    values: &[&str],
    used: &[String],
) -> String {
    let year = |it: &&str| it.len() == 4 && (it.starts_with("19") || it.starts_with("20"));
    let last = used.last().map(String::as_str);
    let base = before
        .map(|it| to_singular(&to_snake_case(split_ending(it).0)))
        .filter(|it| !it.is_empty());
    let name = match class {
        Class::Number if values.iter().all(year) && base.as_deref() != Some("user") => {
            "year".to_owned()
        }
        Class::Number if last == Some("year") && before.is_none() => "month".to_owned(),
        Class::Number if last == Some("month") && before.is_none() => "day".to_owned(),
        Class::Date => "date".to_owned(),
        Class::Place => "coordinates".to_owned(),
        Class::Email => "email".to_owned(),
        Class::Word | Class::Text => base.unwrap_or_else(|| "name".to_owned()),
        _ => base.map_or_else(|| "id".to_owned(), |it| format!("{it}_id")),
    };
    if !used.contains(&name) {
        return name;
    }
    let more = (2..).map(|i| format!("{name}_{i}"));
    more.into_iter().find(|it| !used.contains(it)).unwrap_or(name)
}

/// Lower case with underscores.
fn to_snake_case(word: &str) -> String {
    let mut out = String::new();
    let mut was_lower = false;
    for c in decode(word).chars().take(40) {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && was_lower {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    let out = out.trim_end_matches('_');
    if out.starts_with(|c: char| c.is_ascii_digit()) { String::new() } else { out.to_owned() }
}

pub fn to_singular(word: &str) -> String {
    let same = ["news", "series", "species", "status", "address", "analysis"];
    if same.iter().any(|it| word.ends_with(it)) {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|it| it.len() > 1) {
        return format!("{stem}y");
    }
    for end in ["sses", "xes", "ches", "shes"] {
        if word.ends_with(end) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 1 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// Whether a word names many things.
pub fn is_plural(word: &str) -> bool {
    word.len() > 3 && to_singular(word) != word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        for (segment, expected) in [
            ("users", Class::Word),
            ("v2", Class::Word),
            ("2.0", Class::Word),
            ("h264", Class::Word),
            ("oauth2", Class::Word),
            ("OAuth2Callback", Class::Word),
            ("x86_64", Class::Word),
            ("i18n", Class::Word),
            ("s3", Class::Word),
            ("base64", Class::Word),
            ("facade", Class::Word),
            ("GetSupportedAPIList", Class::Word),
            ("getITISTermsFromScientificName", Class::Word),
            ("bcsearch_public_api", Class::Word),
            ("find-by-status", Class::Word),
            ("messages:batchGet", Class::Word),
            ("", Class::Word),
            ("12", Class::Number),
            ("550e8400-e29b-41d4-a716-446655440000", Class::Uuid),
            ("550e8400e29b41d4a716446655440000", Class::Uuid),
            ("2024-05-01", Class::Date),
            ("37.8267,-122.423", Class::Place),
            ("a%40b.test", Class::Email),
            ("6ps7aNoynLdM4x37WbmpGj", Class::Random),
            ("z-6ZEcSbP", Class::Random),
            ("01kmp8wffk", Class::Random),
            ("cjld2cjxh0000qzrmn831i7rn", Class::Random),
            ("9f86d081884c7d65", Class::Random),
            ("Q42", Class::Numbered),
            ("PROJ-12", Class::Numbered),
            ("tt0111161", Class::Numbered),
            ("cus_1234", Class::Numbered),
            ("some-title-12345", Class::Numbered),
            ("CVE-2021-44228", Class::Numbered),
            ("ase%2Fase", Class::Text),
            ("New%20York", Class::Text),
            ("%5BREDACTED:token%5D", Class::Hidden),
        ] {
            assert_eq!(classify(segment), expected, "{segment}");
        }
    }

    #[test]
    fn names() {
        let check = |before: Option<&str>, class: Class, used: &[&str], expected: &str| {
            let used: Vec<String> = used.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(parameter_name(before, class, &["7"], &used), expected);
        };
        check(Some("users"), Class::Number, &[], "user_id");
        check(Some("categories"), Class::Uuid, &[], "category_id");
        check(Some("orderItems"), Class::Number, &[], "order_item_id");
        check(Some("status"), Class::Number, &[], "status_id");
        check(Some("boxes"), Class::Number, &[], "box_id");
        check(Some("pokemon"), Class::Word, &[], "pokemon");
        check(None, Class::Word, &[], "name");
        check(None, Class::Random, &["id"], "id_2");
        check(None, Class::Number, &["year"], "month");
        check(None, Class::Number, &["year", "month"], "day");
        check(Some("2024"), Class::Number, &[], "id");
        check(Some("users"), Class::Date, &[], "date");
    }

    #[test]
    fn endings() {
        assert_eq!(split_ending("12.json"), ("12", ".json"));
        assert_eq!(split_ending(".json"), (".json", ""));
        assert_eq!(split_ending("lodash.merge"), ("lodash.merge", ""));
    }
}
