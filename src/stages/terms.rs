//! What a task asks for, as weighted terms, and how much of it a request or an answer holds.
//!
//! A term weighs more the fewer requests of the session hold it: "users" tells one endpoint from its siblings, "api" tells
//! nothing. Verbs weigh little and match their synonyms; words that occur in the page's own host name the site, not the data.

use std::collections::BTreeSet;

use rust_stemmers::{Algorithm, Stemmer};
use serde_json::Value;
use url::Url;

use super::endpoint::operation;
use commis_artifacts::recording::{Excerpt, Exchange, RequestBody};
use commis_recipe::blocks::asks_for_fact;

/// Words of a task that say nothing about which request it is.
pub(super) const STOP_WORDS: &[&str] = &[
    "the", "a", "an", "and", "or", "for", "with", "from", "to", "of", "in", "on", "at", "by", "is",
    "are", "was", "its", "it", "into", "about", "that", "this", "what", "which", "who", "any",
    "all", "their", "my", "me", "page", "site", "website", "www", "com", "org", "net", "http",
    "https", "result", "called", "named", "when", "where", "how", "as", "per", "only", "more",
    "most", "than", "then", "there", "these", "those", "every", "each", "using", "via", "id",
    "test",
];

/// What tasks do, each with the words that endpoints use for it. The first few are verbs that nearly every task begins with.
const VERBS: &[&[&str]] = &[
    &["search", "find", "query", "lookup", "look"],
    &["list", "show", "get", "see", "fetch", "display", "open", "view", "read", "give", "browse"],
    &[
        "autocomplete",
        "suggest",
        "suggestion",
        "typeahead",
        "complete",
        "completion",
        "autosuggest",
    ],
    &["count", "number", "total", "amount"],
    &["trending", "trends", "top", "popular", "charts", "hot", "featured", "feature"],
    &["comments", "replies", "discussion", "thread"],
    &["recommend", "recommendations", "recommended", "related", "similar"],
    &["detail", "info", "information", "metadata", "summary"],
    &["weather", "forecast", "climate"],
    &["price", "quote", "rate"],
    &["newest", "latest", "recent", "new"],
    &["user", "people", "person", "member", "author", "profile"],
    &["photo", "image", "picture"],
    &["movie", "film"],
    &["talk", "event", "session"],
    &["song", "track"],
];
/// The groups above that stand for nothing but "give me", and the one that asks for a number.
const PLAIN_VERBS: usize = 2;
const COUNTING: usize = 3;
/// What is asked for is one number.
const AMOUNTS: &[&str] = &["price", "cost", "worth"];

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Bytes of an answer that are read for words.
const ANSWER: usize = 16 * 1024;

/// One word of the task.
struct TaskTerm {
    /// Stem.
    word: String,
    /// Stems of other words for the same.
    also: Vec<String>,
    /// Parts of a thousand before rarity.
    base: u32,
    kind: TermKind,
    /// It names the site.
    is_brand: bool,
    /// "species and ecosystems": a request that names one of them only answers another question.
    joined: Option<usize>,
    in_requests: u32,
    in_answers: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TermKind {
    /// What is to be done.
    Verb,
    /// What kind of thing is asked for.
    Noun,
    /// Which one: it holds a digit, or is written as a name within the sentence.
    Value,
}

/// The task's terms, weighed by how rare they are among the session's exchanges.
pub struct Terms {
    list: Vec<TaskTerm>,
    wanted: WantedStems,
    /// The task's words in order, unstemmed, for finding values; and its dates as numbers.
    sequences: Vec<Vec<String>>,
    counts: bool,
    endpoints: u32,
}

/// Stems of the task's words and of their synonyms: no others are looked for.
struct WantedStems {
    stemmer: Stemmer,
    stems: BTreeSet<String>,
    /// A bit for each [`head`] of one.
    heads: Vec<u64>,
}

impl WantedStems {
    fn new(terms: &[TaskTerm]) -> Self {
        let mut it = Self {
            stemmer: Stemmer::create(Algorithm::English),
            stems: BTreeSet::new(),
            heads: vec![0; 1024],
        };
        for stem in terms.iter().flat_map(|it| it.also.iter().chain([&it.word])) {
            let head = head(stem);
            it.heads[head >> 6] |= 1 << (head & 63);
            it.stems.insert(stem.clone());
        }
        it
    }

    /// The wanted stems of a text's words.
    fn collect(&self, text: &str, out: &mut BTreeSet<String>) {
        each_word(text, |word| {
            let head = head(word);
            if self.heads[head >> 6] >> (head & 63) & 1 == 1 {
                let stem = self.stemmer.stem(word);
                if self.stems.contains(&*stem) && !out.contains(&*stem) {
                    out.insert(stem.into_owned());
                }
            }
        });
    }
}

/// The first two bytes of a word, which are those of its stem (but for `dying`).
fn head(word: &str) -> usize {
    let mut bytes = word.bytes();
    let (first, second) = (bytes.next().unwrap_or(0), bytes.next().unwrap_or(0));
    let second = if second == b'y' { b'i' } else { second };
    usize::from(first) << 8 | usize::from(second)
}

/// The texts of one exchange, cut into what terms are looked for in. Of words, the wanted ones alone.
pub struct ExchangeWords {
    host: BTreeSet<String>,
    /// Path, query names, body keys, operation.
    names: BTreeSet<String>,
    /// The last path segment, or the one before an id, if it is one plural word.
    collection: Option<String>,
    /// The same as one lower-case line: compound words hold a term inside.
    names_line: String,
    /// Path segments and values of query and body, as words in order.
    values: Vec<Vec<String>>,
    value_words: BTreeSet<String>,
    keys: BTreeSet<String>,
    answer: BTreeSet<String>,
}

/// How much of the task an exchange holds, parts of a thousand each.
#[derive(Clone, Copy, Debug, Default)]
pub struct TermShares {
    /// Whole values of the request that the task sentence holds word for word.
    pub by_value: i32,
    /// Words in path, names and operation.
    pub by_name: i32,
    /// Words in the host.
    pub by_host: i32,
    /// Words among the keys of the answer.
    pub by_keys: i32,
    /// Words among the values of the answer.
    pub by_answer: i32,
    /// Kinds of things that the task names and the request does not.
    pub nouns_off: i32,
    /// Of two things that the task joins by "and" the request names one.
    pub is_half: bool,
}

impl Terms {
    pub fn new(task: &str, typed: &[&str]) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let typed: BTreeSet<String> = typed.iter().flat_map(|it| words(it)).collect();
        let mut seen = BTreeSet::new();
        let mut terms = Vec::new();
        let mut counts = asks_for_fact(task);
        let sites = site_words(task);
        for (i, raw) in task.split(|c: char| !c.is_alphanumeric()).enumerate() {
            let plain = raw.to_lowercase();
            if plain.chars().count() < 3 || STOP_WORDS.contains(&plain.as_str()) {
                continue;
            }
            let word = stem(&plain, &stemmer);
            if !seen.insert(word.clone()) {
                continue;
            }
            let stems = |group: &[&str]| -> Vec<String> {
                group.iter().map(|it| stem(it, &stemmer)).collect()
            };
            let group = VERBS.iter().position(|it| stems(it).contains(&word));
            counts |= group == Some(COUNTING) || AMOUNTS.contains(&plain.as_str());
            let is_name = plain.bytes().any(|it| it.is_ascii_digit())
                || i > 0 && raw.chars().next().is_some_and(char::is_uppercase)
                || typed.contains(&word);
            let kind = match group {
                Some(i) if i < PLAIN_VERBS => TermKind::Verb,
                _ if is_name => TermKind::Value,
                _ => TermKind::Noun,
            };
            terms.push(TaskTerm {
                base: match (kind, group) {
                    (TermKind::Verb, _) => 150,
                    (TermKind::Value, _) => 1200,
                    (TermKind::Noun, Some(_)) => 800,
                    (TermKind::Noun, None) => 1000,
                },
                also: group.map(|i| stems(VERBS[i])).unwrap_or_default(),
                kind,
                is_brand: sites.contains(&plain),
                joined: None,
                word,
                in_requests: 0,
                in_answers: 0,
            });
        }
        join(&mut terms, task, &stemmer);
        let mut sequences = vec![sequence(task)];
        sequences.extend(dates(&sequences[0]));
        Self { wanted: WantedStems::new(&terms), list: terms, sequences, counts, endpoints: 0 }
    }

    /// The task asks for a number or a fact, so that a list is no better an answer.
    pub fn counts(&self) -> bool {
        self.counts
    }

    /// Counts one endpoint's texts towards rarity.
    pub fn learn(&mut self, texts: &ExchangeWords) {
        self.endpoints += 1;
        for term in &mut self.list {
            term.is_brand |= texts.in_host(term);
            term.in_requests += u32::from(texts.in_request(term) > 0);
            term.in_answers +=
                u32::from(texts.keys.contains(&term.word) || texts.answer.contains(&term.word));
        }
    }

    pub fn term_shares(&self, texts: &ExchangeWords) -> TermShares {
        let mut held = [0_u64; 5];
        let mut of = [0_u64; 5];
        let covered = self.covered(texts);
        let mut is_half = false;
        for term in self.list.iter().filter(|it| !it.is_brand) {
            let asked = u64::from(self.weight(term, term.in_requests));
            let told = u64::from(self.weight(term, term.in_answers));
            let half = term.joined.is_some_and(|it| texts.in_request(&self.list[it]) == 0);
            is_half |= half && texts.in_request(term) > 0;
            let by_name = if half { 0 } else { texts.in_names(term) };
            let by_value = if half {
                0
            } else if covered.contains(&term.word) {
                1000
            } else {
                600 * u64::from(texts.value_words.contains(&term.word))
            };
            let in_keys = texts.keys.contains(&term.word)
                || term.also.iter().any(|it| texts.keys.contains(it));
            let in_answer = texts.answer.contains(&term.word);
            let off = 1000 * u64::from(by_name.max(by_value) == 0);
            let mut add = |i: usize, weight: u64, share: u64| {
                held[i] += weight * share;
                of[i] += weight;
            };
            add(0, asked, by_value);
            add(1, asked, by_name);
            add(2, told, 1000 * u64::from(in_keys));
            add(3, told, 1000 * u64::from(in_answer));
            match term.kind {
                TermKind::Noun => add(4, u64::from(term.base), off),
                TermKind::Value | TermKind::Verb => {}
            }
        }
        let share = |i: usize| held[i].checked_div(of[i]).unwrap_or(0) as i32;
        TermShares {
            by_value: share(0),
            by_name: share(1),
            by_host: if self.list.iter().any(|it| texts.in_host(it)) { 1000 } else { 0 },
            by_keys: share(2),
            by_answer: share(3),
            nouns_off: share(4),
            is_half,
        }
    }

    /// The request names a collection, as REST does in the plural, that the task does not ask for, and nothing that it does:
    /// `/search/tracks` when users were asked for. Or what it names is not what is asked for in the first place: in
    /// `issues of a repository` the repository.
    pub fn other_collection(&self, texts: &ExchangeWords) -> bool {
        /// Whatever is asked for may be called so.
        const GENERAL: &[&str] =
            &["items", "entries", "records", "results", "nodes", "objects", "resources", "values"];
        let mut nouns = self.list.iter().filter(|it| it.kind == TermKind::Noun && !it.is_brand);
        let Some(collection) = &texts.collection else { return false };
        let Some(first) = nouns.next() else { return false };
        let of_rest = nouns.clone().any(|it| texts.in_request(it) > 0);
        texts.in_request(first) == 0
            && !self.ask_for(collection)
            && !(of_rest && GENERAL.contains(&collection.as_str()))
    }

    /// The task says what kind of thing is wanted.
    pub fn names_a_kind(&self) -> bool {
        self.list.iter().any(|it| it.kind == TermKind::Noun && !it.is_brand)
    }

    /// The task names this word, or a synonym of it.
    pub fn ask_for(&self, word: &str) -> bool {
        let stem = stem(word, &Stemmer::create(Algorithm::English));
        self.list.iter().any(|it| it.word == stem || it.also.contains(&stem))
    }

    /// Rare terms weigh whole, those that every endpoint holds a fifth.
    fn weight(&self, term: &TaskTerm, holders: u32) -> u32 {
        let all = f64::from(self.endpoints + 1);
        let rarity = (all / f64::from(holders + 1)).ln() / all.ln().max(0.1);
        // What nobody holds tells nobody from anybody.
        let known = if term.in_requests + term.in_answers > 0 { 1.0 } else { 0.4 };
        (f64::from(term.base) * rarity.clamp(0.2, 1.0) * known) as u32
    }

    /// Stems of the task's words that whole values of the request spell out in order.
    fn covered(&self, texts: &ExchangeWords) -> BTreeSet<String> {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut out = BTreeSet::new();
        for value in &texts.values {
            let chars: usize = value.iter().map(String::len).sum();
            let digits = value.iter().all(|it| it.bytes().all(|b| b.is_ascii_digit()));
            if chars < 2 || digits && chars < 3 && value.len() < 2 {
                continue;
            }
            for (i, known) in self.sequences.iter().enumerate() {
                if known
                    .windows(value.len().min(known.len()).max(1))
                    .any(|it| it == value.as_slice())
                {
                    out.extend(value.iter().map(|it| stem(it, &stemmer)));
                } else if i > 0 && value.starts_with(known) {
                    // A date with a time after it, or a day after the month.
                    out.extend(
                        self.sequences[0]
                            .iter()
                            .filter(|it| is_of_date(it))
                            .map(|it| stem(it, &stemmer)),
                    );
                }
            }
        }
        out
    }
}

/// One word that ends like an English plural; `news` and `status` do not.
fn is_plural(segment: &str) -> bool {
    segment.len() >= 4
        && segment.bytes().all(|it| it.is_ascii_alphabetic())
        && segment.ends_with('s')
        && !["ss", "us", "is", "ews", "ics"].iter().any(|it| segment.ends_with(it))
        && !["pages", "queries", "results", "indexes", "services"].contains(&segment)
}

/// Words of the host names in a task ("on sourcegraph.com").
fn site_words(task: &str) -> BTreeSet<String> {
    task.split_whitespace()
        .map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|it| {
            it.contains('.') && psl::domain(it.as_bytes()).is_some_and(|it| it.suffix().is_known())
        })
        .filter(|it| !it.contains('/'))
        .flat_map(|it| it.split('.').map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Marks the nouns on both sides of an "and".
fn join(terms: &mut [TaskTerm], task: &str, stemmer: &Stemmer) {
    let words: Vec<String> = sequence(task).iter().map(|it| stem(it, stemmer)).collect();
    for three in words.windows(3).filter(|it| it[1] == "and") {
        let at = |word: &String| {
            terms.iter().position(|it| it.word == *word && it.kind == TermKind::Noun)
        };
        if let (Some(a), Some(b)) = (at(&three[0]), at(&three[2])) {
            terms[a].joined = Some(b);
            terms[b].joined = Some(a);
        }
    }
}

fn is_of_date(word: &str) -> bool {
    MONTHS.contains(&word) || (word.len() == 4 && word.bytes().all(|it| it.is_ascii_digit()))
}

/// `May 2010`, `May 3 2010` and `3 May 2010` as endpoints write them: year, month, day.
pub(super) fn dates(words: &[String]) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    let year = |it: Option<&String>| {
        it.filter(|it| it.len() == 4 && it.bytes().all(|b| b.is_ascii_digit())).cloned()
    };
    let day = |it: Option<&String>| {
        it.and_then(|it| it.parse::<u8>().ok()).filter(|it| (1..=31).contains(it))
    };
    for (i, word) in words.iter().enumerate() {
        let Some(month) = MONTHS.iter().position(|it| it == word) else { continue };
        let month = format!("{:02}", month + 1);
        let before = i.checked_sub(1).and_then(|i| words.get(i));
        if let Some(year) = year(words.get(i + 1)) {
            match day(before) {
                Some(day) => out.push(vec![year, month, format!("{day:02}")]),
                None => out.push(vec![year, month]),
            }
        } else if let (Some(day), Some(year)) = (day(words.get(i + 1)), year(words.get(i + 2))) {
            out.push(vec![year, month, format!("{day:02}")]);
        }
    }
    out
}

impl ExchangeWords {
    /// Thousandths of these words that stand in what was answered.
    pub fn share_in_answer(&self, words: &BTreeSet<String>) -> i32 {
        let held = words.iter().filter(|it| self.answer.contains(*it)).count();
        (held * 1000).checked_div(words.len()).unwrap_or(0) as i32
    }

    pub fn new(exchange: &Exchange, terms: &Terms) -> Self {
        let wanted = &terms.wanted;
        let mut out = Self {
            host: BTreeSet::new(),
            names: BTreeSet::new(),
            collection: None,
            names_line: String::new(),
            values: Vec::new(),
            value_words: BTreeSet::new(),
            keys: BTreeSet::new(),
            answer: BTreeSet::new(),
        };
        if let Ok(url) = Url::parse(&exchange.url) {
            let host = split(url.host_str().unwrap_or(""));
            out.host = host.iter().map(|it| stem(it, &wanted.stemmer)).collect();
            for segment in url.path_segments().into_iter().flatten() {
                let text = percent_encoding::percent_decode_str(segment).decode_utf8_lossy();
                out.name(&text, wanted);
                let without = text.rsplit_once('.').map_or(&*text, |it| it.0);
                out.value(without, wanted);
                let is_id = text.bytes().any(|it| it.is_ascii_digit() || it == b'-');
                out.collection = match out.collection.take() {
                    _ if is_plural(&text) => Some(text.to_lowercase()),
                    Some(it) if is_id => Some(it),
                    _ => None,
                };
            }
            for (name, value) in url.query_pairs() {
                out.name(&name, wanted);
                // What is left out of the answer is not asked for.
                if !["exclude", "omit", "without"].iter().any(|it| name.starts_with(it)) {
                    out.value(&value, wanted);
                }
            }
        }
        if let Some(it) = operation(exchange) {
            out.name(&it, wanted);
        }
        match &exchange.request_body {
            Some(RequestBody::Json(it)) => out.json(it, wanted),
            Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
                for it in fields {
                    out.name(&it.name, wanted);
                    out.value(&it.value, wanted);
                }
            }
            Some(RequestBody::Text(it)) => out.value(it, wanted),
            _ => {}
        }
        out.read_answer(exchange, wanted);
        out
    }

    fn name(&mut self, text: &str, wanted: &WantedStems) {
        wanted.collect(text, &mut self.names);
        self.names_line.push_str(&text.to_lowercase());
        self.names_line.push(' ');
    }

    fn value(&mut self, text: &str, wanted: &WantedStems) {
        if text.starts_with(['{', '['])
            && let Ok(inner) = serde_json::from_str::<Value>(text)
        {
            self.json(&inner, wanted);
            return;
        }
        // A GraphQL document says what is asked, not for which value.
        if text.contains('{') && text.len() > 200 {
            wanted.collect(cut(text, 4096), &mut self.names);
            return;
        }
        let text = cut(text, 2048);
        wanted.collect(text, &mut self.value_words);
        self.values.push(sequence(text));
    }

    fn json(&mut self, value: &Value, wanted: &WantedStems) {
        match value {
            Value::Object(fields) => {
                for (key, item) in fields {
                    self.name(key, wanted);
                    self.json(item, wanted);
                }
            }
            Value::Array(items) => items.iter().for_each(|it| self.json(it, wanted)),
            Value::String(text) => self.value(text, wanted),
            Value::Number(number) => self.value(&number.to_string(), wanted),
            _ => {}
        }
    }

    fn read_answer(&mut self, exchange: &Exchange, wanted: &WantedStems) {
        let measures = &exchange.measures;
        let keys = measures.top_keys.iter().chain(measures.lists.iter().flat_map(|it| &it.keys));
        for it in keys.chain(measures.lists.iter().map(|it| &it.path)) {
            wanted.collect(it, &mut self.keys);
        }
        let mut text = String::new();
        match &exchange.excerpt {
            Some(Excerpt::Json(it)) => append_leaves(it, &mut text),
            Some(Excerpt::Html(it) | Excerpt::Text(it)) => text.push_str(cut(it, ANSWER)),
            None => {}
        }
        wanted.collect(&text, &mut self.answer);
    }

    fn in_host(&self, term: &TaskTerm) -> bool {
        self.host.contains(&term.word)
            || (term.word.len() >= 4 && self.host.iter().any(|it| it.contains(&term.word)))
    }

    /// Parts of a thousand: the word itself, within a compound word, or a synonym.
    fn in_names(&self, term: &TaskTerm) -> u64 {
        if self.names.contains(&term.word) {
            1000
        } else if term.also.iter().any(|it| self.names.contains(it)) {
            800
        } else if term.word.len() >= 5 && self.names_line.contains(&term.word) {
            700
        } else {
            0
        }
    }

    fn in_request(&self, term: &TaskTerm) -> u64 {
        self.in_names(term).max(u64::from(self.value_words.contains(&term.word)))
    }
}

/// Text of the scalars, at most [`ANSWER`] bytes.
fn append_leaves(value: &Value, out: &mut String) {
    if out.len() >= ANSWER {
        return;
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|it| append_leaves(it, out)),
        Value::Array(items) => items.iter().for_each(|it| append_leaves(it, out)),
        Value::String(text) => {
            out.push_str(cut(text, ANSWER - out.len()));
            out.push(' ');
        }
        Value::Number(number) => {
            out.push_str(&number.to_string());
            out.push(' ');
        }
        _ => {}
    }
}

pub(super) fn cut(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Distinct lower-case words of three characters or more, without a plural's s.
pub fn words(text: &str) -> BTreeSet<String> {
    split(text)
        .into_iter()
        .map(|it| match it.strip_suffix('s') {
            Some(short) if short.len() >= 3 && !short.ends_with('s') => short.to_owned(),
            _ => it,
        })
        .collect()
}

/// Lower-case words of three characters or more, in order; camel case and punctuation separate.
pub fn split(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    each_word(text, |it| out.push(it.to_owned()));
    out
}

fn each_word(text: &str, mut found: impl FnMut(&str)) {
    // Ranking, choosing and explaining read texts through this: their work ends with the budget of the stage.
    commis_base::work::step(text.len() / 32 + 1);
    let mut word = String::new();
    let mut was_lower = false;
    let mut flush = |word: &mut String| {
        if word.chars().nth(2).is_some() {
            found(word);
        }
        word.clear();
    };
    for c in text.chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            was_lower = !c.is_ascii_digit();
            word.push(c);
        } else if c.is_alphanumeric() {
            if c.is_uppercase() && was_lower {
                flush(&mut word);
            }
            was_lower = c.is_lowercase();
            word.extend(c.to_lowercase());
        } else {
            flush(&mut word);
            was_lower = false;
        }
    }
    flush(&mut word);
}

fn stem(word: &str, stemmer: &Stemmer) -> String {
    stemmer.stem(word).into_owned()
}

/// Lower-case words in order, as they are.
fn sequence(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::work::{Budget, run_bounded};

    #[test]
    fn reading_ends_with_the_budget() {
        let text = "lamp shop ".repeat(10_000);
        let budget = Budget::new(std::time::Duration::from_secs(60)).with_steps(100);
        assert!(run_bounded(budget, || words(&text[..40])).is_ok());
        assert!(run_bounded(budget, || words(&text)).is_err());
    }

    #[test]
    fn a_stem_begins_as_its_word() {
        let stemmer = Stemmer::create(Algorithm::English);
        let text = concat!(
            include_str!("../../README.md"),
            include_str!("../../SECURITY.md"),
            "dying lying tying skis skies idly gently ugly early only singly dyes ties its yes yoga",
            "Über Änderung naïve éclairs ñandús"
        );
        for word in split(text) {
            assert_eq!(head(&stem(&word, &stemmer)), head(&word), "{word}");
        }
    }

    #[test]
    fn words_are_stemmed_and_split() {
        let got = words("searchProducts?q=Red-Shoes&v=2");
        assert_eq!(got.into_iter().collect::<Vec<_>>(), ["product", "red", "search", "shoe"]);
    }
}
