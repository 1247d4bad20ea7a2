//! Where a value comes from: what the user said, what was read on which site, or out of nowhere.
//!
//! What was read on one site does not leave to another, in whatever coding. Codings are not undone here, there is no end of them:
//! once something else was read, a value that is neither the user's nor the site's own goes nowhere. So a value must be what it is
//! said to be to the letter, or in words as anybody would write them; capitals, blanks and marks between words can carry a message, too.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::OnceLock,
};

use icu_normalizer::ComposingNormalizerBorrowed;
use rust_stemmers::{Algorithm, Stemmer};
use serde::{Deserialize, Serialize};
use url::Url;

use commis_base::error::{Code, Error, Result};
use commis_browser::is_unseen;
use commis_net::egress::site_of;
use commis_recipe::shape::display_forms::{NormalizedValue, normalize_text, readings};

/// Bytes that are remembered of each site, and of what the user said. The oldest is forgotten first, which can cost a question, and
/// lets nothing go.
const TEXT: usize = 256 * 1024;
/// Bytes of one reading.
const READING: usize = 128 * 1024;
/// Sites whose text is remembered.
const SITES: usize = 16;
/// A longer value is nobody's but to the letter.
const VALUE: usize = 4 * 1024;

/// Blanks too many that a value may have.
const BLANKS: usize = 2;

/// Words that say nothing by themselves.
const LINKING: &[&str] = &[
    "a", "an", "the", "of", "for", "in", "on", "at", "to", "and", "or", "with", "by", "from",
    "about", "near", "der", "die", "das", "und", "oder", "mit", "von", "für", "in", "zu",
];
/// As many of them as there are others, and no more than these.
const LINKS: usize = 3;

/// Words that addresses are made of anywhere.
const ROUTES: &[&str] = &[
    "search",
    "find",
    "query",
    "q",
    "s",
    "k",
    "results",
    "result",
    "list",
    "browse",
    "index",
    "home",
    "html",
    "htm",
    "php",
    "en",
    "de",
    "www",
    "m",
    "wiki",
    "w",
    "title",
    "page",
    "p",
    "login",
    "account",
    "orders",
    "order",
    "cart",
    "products",
    "product",
    "items",
    "item",
    "category",
    "categories",
    "catalogsearch",
    "help",
    "contact",
    "about",
    "sort",
    "type",
    "lang",
    "keyword",
    "keywords",
    "term",
    "text",
    "dir",
    "dashboard",
    "settings",
    "profile",
    "users",
    "user",
    "api",
    "v1",
    "v2",
];
/// Of one address.
const ROUTED: usize = 6;

/// Digits as words, which a form wants as digits.
const NUMBERS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueOrigin {
    /// The task and its parameters.
    User,
    /// A site (eTLD+1), where it was read.
    Seen(String),
    /// Nobody said it, and it was not read. It may be made of what was.
    Invented,
}

/// What was said and read in one run. In memory only.
#[derive(Default)]
pub struct Provenance {
    user: BoundedText,
    /// By site.
    sites: BTreeMap<String, BoundedText>,
    hosts: BTreeSet<String>,
    /// More sites were read than are remembered.
    more: bool,
    /// Of the user's words, how often each stands there.
    stems: BTreeMap<String, usize>,
    stemmer: OnceLock<Stemmer>,
    /// Dates, numbers and amounts of the user's.
    normal: BTreeSet<NormalizedValue>,
}

impl std::fmt::Debug for Provenance {
    /// What was read is for nobody's eyes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Origins").field("sites", &self.sites.keys()).finish_non_exhaustive()
    }
}

impl Provenance {
    /// Notes what the user said: the task, a parameter, an answer.
    pub fn add_user_text(&mut self, text: &str) {
        let text = head(text, READING);
        let new = self.user.add(text);
        if !new {
            return;
        }
        for it in words(text) {
            if let Some(digits) = NUMBERS.iter().position(|number| *number == it) {
                *self.stems.entry(digits.to_string()).or_default() += 1;
            }
            let stem = self.stem(&it);
            *self.stems.entry(stem).or_default() += 1;
        }
        let telling = |it: &NormalizedValue| {
            matches!(
                it,
                NormalizedValue::Number(_)
                    | NormalizedValue::Money(_)
                    | NormalizedValue::Percent(_)
                    | NormalizedValue::Date { .. }
                    | NormalizedValue::Time(_)
            )
        };
        self.normal.extend(normalize_text(text).into_iter().filter(telling).take(200));
    }

    /// Notes what was read on the site of an address: a page's text, an answer. What a model is shown, and nothing less.
    pub fn add_page_text(&mut self, url: &str, text: &str) {
        let site = site_of(url);
        if text.trim().is_empty() {
            return;
        }
        if self.hosts.len() < 8 * SITES
            && let Some(host) = Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned))
        {
            self.hosts.insert(host);
        }
        if self.sites.len() >= SITES && !self.sites.contains_key(&site) {
            self.more = true;
            return;
        }
        self.sites.entry(site).or_default().add(head(text, READING));
    }

    /// Where a value comes from that is to go to the site of that address.
    pub fn origin_of(&self, value: &str, url: &str) -> ValueOrigin {
        let site = site_of(url);
        let value = value.trim();
        let found = Value::new(value);
        if self.is_users(&found) {
            return ValueOrigin::User;
        }
        let here = self.sites.get(&site);
        if here.is_some_and(|it| it.contains(&found) || self.is_mixed(it, &found)) {
            return ValueOrigin::Seen(site);
        }
        let others = || self.sites.iter().filter(|it| *it.0 != site);
        let whole = others().find(|it| it.1.holds_in_any_form(&found));
        let part = || {
            let tells = |it: &&String| {
                let digits = it.bytes().any(|it| it.is_ascii_digit());
                (it.chars().count() >= 4 || (digits && it.len() >= 3)) && !self.has_stem(it)
            };
            let told: Vec<&String> = found.words.iter().filter(tells).collect();
            others().find(|it| told.iter().any(|word| it.1.phrase(std::slice::from_ref(*word))))
        };
        match whole.or_else(part) {
            Some((other, _)) => ValueOrigin::Seen(other.clone()),
            None => ValueOrigin::Invented,
        }
    }

    /// Whether a value may go to the site of that address. Fails with `VALUE_FROM_ELSEWHERE`.
    pub fn check_destination(&self, value: &str, url: &str) -> Result<()> {
        let site = site_of(url);
        let refused =
            |why: String, hint: String| Err(Error::new(Code::ValueFromElsewhere, why).hint(hint));
        match self.origin_of(value, url) {
            ValueOrigin::User => Ok(()),
            ValueOrigin::Seen(it) if it == site => Ok(()),
            ValueOrigin::Seen(it) => refused(
                format!("a value for {} was read on {}", site_label(&site), site_label(&it)),
                "a value that was read on one site is not sent to another unless the user gives it"
                    .to_owned(),
            ),
            ValueOrigin::Invented => match self.read_beside(&site) {
                None => Ok(()),
                Some(it) => refused(
                    format!(
                        "a value for {} is neither the user's nor of that site",
                        site_label(&site)
                    ),
                    format!(
                        "it may be derived from text of {}; use words of the task or of the present page",
                        site_label(it)
                    ),
                ),
            },
        }
    }

    /// The same for each part of an address that is to be opened. Fails with `VALUE_FROM_ELSEWHERE`.
    pub fn allowed_address(&self, url: &str) -> Result<()> {
        let site = site_of(url);
        let Ok(parsed) = Url::parse(url) else { return self.check_destination(url, url) };
        let whole = Value::new(url);
        if self.user.contains(&whole) || self.sites.get(&site).is_some_and(|it| it.contains(&whole))
        {
            return Ok(());
        }
        let host = parsed.host_str().unwrap_or_default();
        let mut parts: Vec<String> = vec![parsed.username().to_owned()];
        parts.extend(parsed.password().map(str::to_owned));
        if !self.hosts.contains(host) {
            let labels = host.strip_suffix(&*site).unwrap_or_default();
            parts.extend(labels.split('.').filter(|it| !it.is_empty()).map(str::to_owned));
        }
        for it in parsed.path_segments().into_iter().flatten().chain(parsed.fragment()) {
            parts.push(percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned());
        }
        let (mut routed, mut names) = (0, Vec::new());
        let mut values = Vec::new();
        for (name, value) in parsed.query_pairs() {
            names.push(name.into_owned());
            values.push(value.into_owned());
        }
        // Letters and digits have no need to be coded: that they are may say something.
        if needlessly_coded(url) {
            values.push(url.to_owned());
        }
        for it in parts.iter().chain(&names) {
            let plain = Value::new(it);
            let count = plain.words.len();
            if plain.tidy
                && plain.words.iter().all(|it| ROUTES.contains(&it.as_str()))
                && routed + count <= ROUTED
            {
                routed += count;
                continue;
            }
            self.check_destination(it, url)?;
        }
        values.iter().try_for_each(|it| self.check_destination(it, url))
    }

    /// A site that was read, and is another.
    fn read_beside(&self, site: &str) -> Option<&str> {
        let other = self.sites.keys().find(|it| *it != site).map(String::as_str);
        other.or_else(|| self.more.then_some("another site"))
    }

    fn stem(&self, word: &str) -> String {
        let stemmer = self.stemmer.get_or_init(|| Stemmer::create(Algorithm::English));
        if word.is_ascii() { stemmer.stem(word).into_owned() } else { word.to_owned() }
    }

    fn has_stem(&self, word: &str) -> bool {
        self.stems.contains_key(&self.stem(word))
    }

    fn is_users(&self, value: &Value) -> bool {
        if value.text.is_empty() || self.user.contains(value) {
            return true;
        }
        if self.is_in_other_form(&value.text) {
            return true;
        }
        if !value.tidy || value.text.len() > VALUE {
            return false;
        }
        let mut left = self.stems.clone();
        let (mut links, mut own) = (0, 0);
        for it in &value.words {
            match left.get_mut(&self.stem(it)) {
                // Each word as often as it was said: how often could be a message.
                Some(n) if *n > 0 => {
                    *n -= 1;
                    own += 1;
                }
                _ if LINKING.contains(&it.as_str()) => links += 1,
                _ => return false,
            }
        }
        own > 0 && links <= own.min(LINKS)
    }

    /// A number, an amount or a date of the user's, written otherwise. As a whole, and no finer than anybody says it.
    fn is_in_other_form(&self, text: &str) -> bool {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let plain =
            text.len() <= 12 && (1..=8).contains(&digits) && !text.chars().any(char::is_alphabetic);
        plain
            && readings(&serde_json::Value::from(text)).iter().any(|it| match it {
                // A year that was not said is whichever it is.
                NormalizedValue::Date { month, day, .. } => {
                    let yearless = NormalizedValue::Date { year: None, month: *month, day: *day };
                    self.normal.contains(it) || self.normal.contains(&yearless)
                }
                NormalizedValue::Number(_)
                | NormalizedValue::Money(_)
                | NormalizedValue::Percent(_)
                | NormalizedValue::Time(_) => self.normal.contains(it),
                _ => false,
            })
    }

    /// The user's words, and one passage of the site's.
    fn is_mixed(&self, here: &BoundedText, value: &Value) -> bool {
        let theirs = |it: &String| self.has_stem(it) || LINKING.contains(&it.as_str());
        let first = value.words.iter().position(|it| !theirs(it));
        let last = value.words.iter().rposition(|it| !theirs(it));
        let (Some(first), Some(last)) = (first, last) else { return false };
        let around = [&value.words[..first], &value.words[last + 1..]].concat();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for it in &around {
            *counts.entry(self.stem(it)).or_default() += 1;
        }
        let said = |it: (&String, &usize)| {
            let said = self.stems.get(it.0).copied().unwrap_or_default();
            *it.1 <= said.max(usize::from(LINKING.contains(&it.0.as_str())))
        };
        value.tidy
            && value.text.len() <= VALUE
            && counts.iter().all(said)
            && here.phrase(&value.words[first..=last])
    }
}

fn site_label(site: &str) -> &str {
    if site.is_empty() { "a page without a site" } else { site }
}

/// A value taken apart.
struct Value {
    text: String,
    words: Vec<String>,
    /// Written as anybody would: one mark or blank between words, always the same, and plain capitals.
    tidy: bool,
}

impl Value {
    fn new(text: &str) -> Self {
        let text = text.trim();
        let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
        let text = match &decoded {
            Ok(it) if !needlessly_coded(text) => it,
            _ => text,
        };
        let mut text = ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned();
        let single = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.len() <= single.len() + BLANKS {
            text = single;
        }
        let text = text.as_str();
        Self { text: text.to_owned(), words: words(head(text, READING)), tidy: is_tidy(text) }
    }
}

fn is_tidy(text: &str) -> bool {
    const MARKS: &[&str] = &["", " ", "-", "_", "+", "/", ".", ",", ":", "@"];
    let inner = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(text);
    let inner = inner.strip_suffix(['.', '?', '!']).unwrap_or(inner);
    let mut between: Option<&str> = None;
    let mut rest = inner;
    while !rest.is_empty() {
        let end = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let until = after.find(char::is_alphanumeric).unwrap_or(after.len());
        let (mark, next) = after.split_at(until);
        let same = mark.is_empty() || *between.get_or_insert(mark) == mark;
        if word.is_empty() || !same || !MARKS.contains(&mark) || !has_plain_capitals(word) {
            return false;
        }
        rest = next;
    }
    true
}

/// `rust`, `Rust`, `RUST`, and not `rUsT`.
fn has_plain_capitals(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next();
    !chars.as_str().chars().any(char::is_uppercase) || !word.chars().any(char::is_lowercase)
}

/// Words in small letters, percent-encoding undone once. Scripts that write no blanks have a word a letter.
fn words(text: &str) -> Vec<String> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    let text = decoded.unwrap_or(std::borrow::Cow::Borrowed(text));
    let text = ComposingNormalizerBorrowed::new_nfkc().normalize(&text);
    let (mut out, mut word) = (Vec::new(), String::new());
    for it in text.chars().filter(|it| !is_unseen(*it)) {
        if !it.is_alphanumeric() || is_close(it) {
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            if is_close(it) {
                out.push(it.to_string());
            }
            continue;
        }
        word.extend(it.to_lowercase());
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// Of a script that puts no blanks between words.
const fn is_close(it: char) -> bool {
    matches!(it, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// `%61` where `a` would do.
fn needlessly_coded(url: &str) -> bool {
    url.match_indices('%').any(|(at, _)| {
        let digits = url.get(at + 1..at + 3).unwrap_or_default();
        u8::from_str_radix(digits, 16).is_ok_and(|it| it.is_ascii_alphanumeric())
    })
}

fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// What was read, bounded.
#[derive(Default)]
struct BoundedText {
    chunks: VecDeque<Chunk>,
    bytes: usize,
}

struct Chunk {
    /// White space as single blanks.
    raw: String,
    /// Blank, word, blank, word, blank.
    words: String,
}

impl BoundedText {
    /// False where it is known already.
    fn add(&mut self, text: &str) -> bool {
        let raw = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.chunks.iter().any(|it| it.raw == raw) {
            return false;
        }
        let words = joined(&words(text));
        self.bytes += raw.len() + words.len();
        self.chunks.push_back(Chunk { raw, words });
        while self.bytes > 2 * TEXT
            && self.chunks.len() > 1
            && let Some(it) = self.chunks.pop_front()
        {
            self.bytes -= it.raw.len() + it.words.len();
        }
        true
    }

    /// To the letter, or in words as anybody would write them.
    fn contains(&self, value: &Value) -> bool {
        self.chunks.iter().any(|it| contains_whole(&it.raw, &value.text))
            || (value.tidy && value.text.len() <= VALUE && self.phrase(&value.words))
    }

    /// The same where it counts against the value.
    fn holds_in_any_form(&self, value: &Value) -> bool {
        self.contains(value) || self.phrase(&value.words)
    }

    fn phrase(&self, words: &[String]) -> bool {
        !words.is_empty() && {
            let phrase = joined(words);
            self.chunks.iter().any(|it| it.words.contains(&phrase))
        }
    }
}

fn joined(words: &[String]) -> String {
    let mut out = String::from(" ");
    for it in words {
        out.push_str(it);
        out.push(' ');
    }
    out
}

/// Whether a text stands there and is no part of a word.
fn contains_whole(text: &str, value: &str) -> bool {
    let joins = |one: Option<char>, other: Option<char>| {
        let inside = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() && !is_close(it));
        inside(one) && inside(other)
    };
    !value.is_empty()
        && text.match_indices(value).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + value.len()..]);
            !joins(before.chars().next_back(), value.chars().next())
                && !joins(value.chars().next_back(), after.chars().next())
        })
}

#[cfg(test)]
#[path = "provenance_tests.rs"]
mod tests;
