//! How the words of a task relate to one exchange, in any language: by equal and inflected words, abbreviations, dates, and
//! the pairs of letters of scripts that do not part words.
//!
//! No word list says what a task is about. The lists here name what stands in every address (`api`, `get`) and what begins
//! nearly every sentence.

use std::collections::BTreeSet;

use rust_stemmers::{Algorithm, Stemmer};
use serde_json::Value;
use url::Url;

use super::{
    dates::TaskDates,
    endpoint::operation,
    folding::{fold, is_sign, parts},
    terms::{self, cut},
};
use commis_artifacts::recording::{Excerpt, Exchange, RequestBody};

/// Values of an answer that are read; what stands later is of the same kind.
const MAX_VALUES: usize = 1500;
/// Distinct keys of an answer that are read.
const MAX_KEYS: usize = 300;
/// Bytes of a text that are read.
const MAX_TEXT: usize = 40_000;
/// Values of an answer from which more say nothing further.
const MANY_VALUES: f64 = 400.0;
/// Words of a task, names left out, of which one says what is asked for.
const HEADS: i32 = 2;
/// Words of a task that may be what a path ends in.
const EARLY: i32 = 4;
/// The last letter of the Latin script.
const LATIN: char = '\u{24f}';
/// Dates of an answer from which it is said that it is of another time.
const SEVERAL: usize = 3;

/// Segments and identifiers that stand in addresses of every kind.
#[rustfmt::skip]
const GENERAL: &[&str] = &[
    "admin", "ajax", "all", "api", "asp", "aspx", "cgi", "data", "do", "fetch", "find", "get", "graphql", "html", "index",
    "items", "json", "jsp", "list", "lookup", "php", "public", "query", "rest", "result", "results", "rpc", "search", "service",
    "services", "show", "view", "wp", "xml",
];

/// Words that say what to do with the data and not which.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "browse", "can", "did", "display", "does", "fetch", "find", "get", "give", "has", "have", "had", "been", "look", "many",
    "much", "one", "our", "open", "read", "search", "see", "show", "take", "tell", "took", "view", "you", "your",
];

/// A word of the task.
struct Word {
    text: String,
    stem: String,
    /// A number, or a name: written with a capital within the sentence.
    is_value: bool,
    /// Of another script, and so written as it sounds.
    is_foreign: bool,
}

/// A task, taken apart once.
pub struct TaskWording {
    words: Vec<Word>,
    /// Pairs of neighbouring letters of scripts that do not part words.
    pairs: Vec<String>,
    times: TaskDates,
    /// All of it, folded.
    text: String,
    typed: Vec<String>,
    stemmer: Stemmer,
}

/// Thousandths of what the task says that an exchange holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relevance {
    /// Words in the path, the names and the values of the request.
    pub words_in_request: i32,
    /// Words among the keys of the answer.
    pub words_in_keys: i32,
    /// Words among the values of the answer.
    pub words_in_answer: i32,
    /// Words in any of these.
    pub words_anywhere: i32,
    /// Names and numbers of the task that what was typed does not hold: in the request, in the answer.
    pub names_in_request: i32,
    pub names_in_answer: i32,
    /// Its other words, among keys and values of the answer.
    pub things_in_answer: i32,
    /// How well the best word of what the path ends in is one of the task's.
    pub tail_named: i32,
    /// The same, less for words that the task says later: what is asked for is named first.
    pub tail_early: i32,
    /// What is asked for, by the first words of the task, is neither in the request nor among the keys of the answer.
    pub head_missing: i32,
    /// A key of the answer ends in one of the first words of the task that nobody typed: `close_price` names a price, `price_band` a
    /// band.
    pub head_in_keys: i32,
    /// The request is for one of the things of which the task asks for all or many: `pair=BCHEUR` where pairs are asked for.
    pub one_of_many: i32,
    /// How much of what the path ends in the task's words make up.
    pub tail_covered: i32,
    /// The path ends in a word that the task does not say.
    pub tail_unnamed: i32,
    /// The request names things that the task does not.
    pub unasked_values: i32,
    /// A part of the request abbreviates words of the task: `btc`, `aud`.
    pub abbreviated: i32,
    /// How many of the days that the task names stand in the request.
    pub dates_in_request: i32,
    /// A date of the answer is of the time that the task names.
    pub dates_in_answer: i32,
    /// Request or answer are of another time.
    pub other_dates: i32,
    /// Pairs of letters in the answer.
    pub pairs_in_answer: i32,
    /// How much the answer says.
    pub answer_values: i32,
}

/// What an exchange says, folded.
#[derive(Default)]
struct ExchangeText {
    /// Words of the path, of the names in query and body, and of the operation.
    names: BTreeSet<String>,
    /// Values of query and body.
    values: Vec<String>,
    /// Words of the values.
    value_words: BTreeSet<String>,
    /// Pairs of the query, as they are.
    query: Vec<(String, String)>,
    /// Words of the keys that hold something.
    keys: BTreeSet<String>,
    /// The last word of each of these keys: what its value is.
    key_heads: BTreeSet<String>,
    answer: BTreeSet<String>,
    /// The answer's values, counted.
    count: usize,
    /// The answer's text.
    text: String,
    is_json: bool,
}

impl TaskWording {
    pub fn new<'t>(task: &str, typed: impl IntoIterator<Item = &'t str>) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut words: Vec<Word> = Vec::new();
        for (i, raw) in task.split(|it: char| !it.is_alphanumeric()).enumerate() {
            let text = fold(raw);
            let says = text.chars().nth(1).is_some()
                && !raw.chars().any(is_sign)
                && !ASKING.contains(&text.as_str())
                && !terms::STOP_WORDS.contains(&text.as_str());
            if !says || words.iter().any(|it| it.text == text) {
                continue;
            }
            let is_value = text.bytes().any(|it| it.is_ascii_digit())
                || i > 0 && raw.chars().next().is_some_and(char::is_uppercase);
            let is_foreign = raw.chars().any(|it| it.is_alphabetic() && it > LATIN);
            words.push(Word { stem: stemmer.stem(&text).into_owned(), text, is_value, is_foreign });
        }
        Self {
            words,
            pairs: pairs(task),
            times: TaskDates::from_task(task),
            text: fold(task),
            typed: typed.into_iter().map(fold).filter(|it| !it.is_empty()).collect(),
            stemmer,
        }
    }

    /// The words of the task that do not name the site.
    fn words_without(&self, brands: &BTreeSet<String>) -> Vec<&Word> {
        let is_brand = |it: &Word| {
            brands
                .iter()
                .any(|brand| brand == &it.text || it.text.len() >= 4 && brand.contains(&it.text))
        };
        self.words.iter().filter(|it| !is_brand(it)).collect()
    }

    /// How well a word is one by which the task names things, in thousandths. `capitals`: also one that it writes as a name.
    pub(super) fn names_thing(&self, word: &str, brands: &BTreeSet<String>, capitals: bool) -> i32 {
        let is_typed = |it: &Word| self.typed.iter().any(|typed| typed.contains(&it.text));
        let things = self.words_without(brands).into_iter();
        let things = things.filter(|it| !is_typed(it) && (capitals || !it.is_value));
        let stem = self.stemmer.stem(word);
        let inside = |it: &Word| it.stem.len() >= 4 && stem.ends_with(it.stem.as_str());
        things
            .map(|it| self.likeness(it, word).max(if inside(it) { 800 } else { 0 }))
            .max()
            .unwrap_or(0)
    }

    /// Words that are names, typed ones too, without numbers.
    pub(super) fn names_of_things(&self, brands: &BTreeSet<String>) -> Vec<String> {
        let is_typed = |it: &Word| self.typed.iter().any(|typed| typed.contains(&it.text));
        let names = self.words_without(brands).into_iter();
        names.filter(|it| it.is_value || is_typed(it)).map(|it| it.text.clone()).collect()
    }

    pub(super) fn has_number(&self) -> bool {
        self.words.iter().any(|it| it.is_value && it.text.bytes().any(|it| it.is_ascii_digit()))
    }

    /// A number of the task stands in the request or the answer.
    pub(super) fn is_number_in(&self, exchange: &Exchange) -> bool {
        let said = ExchangeText::new(exchange);
        let mut numbers =
            self.words.iter().filter(|it| it.text.bytes().any(|it| it.is_ascii_digit()));
        numbers.any(|it| {
            exchange.url.contains(&it.text)
                || said.text.contains(&it.text)
                || said.values.iter().any(|value| value.contains(&it.text))
        })
    }

    /// What an address says of itself alone: [`Relevance::tail_named`], [`Relevance::tail_early`], [`Relevance::tail_unnamed`].
    pub fn tail(&self, url: &str, brands: &BTreeSet<String>) -> Relevance {
        let mut out = Relevance::default();
        self.read_tail(url, &self.words_without(brands), &mut out);
        out
    }

    /// `brands` are the words of the page's own host name, which say which site is meant and not which data.
    pub fn relevance(&self, exchange: &Exchange, brands: &BTreeSet<String>) -> Relevance {
        let said = ExchangeText::new(exchange);
        let words = self.words_without(brands);
        let mut out = Relevance::default();
        let (mut whole, mut sums) = (0, [0; 4]);
        let mut kinds = [[0; 3]; 2];
        let mut heads = 0;
        let mut named = 0;
        let is_typed = |it: &Word| self.typed.iter().any(|typed| typed.contains(&it.text));
        let things = words.iter().filter(|it| !it.is_value && !is_typed(it));
        let held = things
            .take(HEADS as usize)
            .flat_map(|it| said.key_heads.iter().map(|word| self.likeness(it, word)));
        out.head_in_keys = held.max().unwrap_or(0);
        for it in &words {
            let weight = if it.is_value { 6 } else { 5 };
            let best = |all: &BTreeSet<String>| {
                all.iter().map(|word| self.likeness(it, word)).max().unwrap_or(0)
            };
            let request = best(&said.names).max(best(&said.value_words));
            let (keys, answer) = (best(&said.keys), best(&said.answer));
            if !it.is_value && heads < HEADS {
                heads += 1;
                named = best(&said.names).max(keys).max(named);
            }
            whole += weight;
            if !is_typed(it) {
                let kind = &mut kinds[usize::from(it.is_value)];
                kind[0] += 1;
                kind[1] += request;
                kind[2] += keys.max(answer);
            }
            for (sum, share) in
                sums.iter_mut().zip([request, keys, answer, request.max(keys).max(answer)])
            {
                *sum += weight * share;
            }
        }
        let share = |sum: i32| sum.checked_div(whole).unwrap_or(0);
        [out.words_in_request, out.words_in_keys, out.words_in_answer, out.words_anywhere] =
            sums.map(share);
        let [things, names] =
            kinds.map(|it| [1, 2].map(|at| it[at].checked_div(it[0]).unwrap_or(0)));
        out.things_in_answer = things[1];
        [out.names_in_request, out.names_in_answer] = names;
        out.head_missing = if heads > 0 { 1000 - named } else { 0 };
        self.read_tail(&exchange.url, &words, &mut out);
        let unasked: i32 = said.values.iter().map(|it| self.unrelated_name_penalty(it)).sum();
        out.unasked_values = unasked.min(2000) / 2;
        out.abbreviated = self.abbreviated(exchange, &said);
        if out.abbreviated == 0 && said.query.iter().any(|it| self.narrows(&words, it)) {
            out.one_of_many = 1000;
        }
        if !self.times.is_empty() {
            let request = format!("{} {}", exchange.url, said.values.join(" "));
            let asked = self.times.agreement(&request);
            let told = self.times.agreement(&said.text);
            out.dates_in_request = asked.ends;
            out.dates_in_answer = 1000 * i32::from(told.inside);
            out.other_dates = 1000
                * i32::from(
                    !asked.inside && asked.dates > 0 || !told.inside && told.dates >= SEVERAL,
                );
        }
        if !self.pairs.is_empty() {
            let held = self.pairs.iter().filter(|it| said.text.contains(it.as_str())).count();
            out.pairs_in_answer = (1000 * held / self.pairs.len()) as i32;
        }
        if said.is_json {
            let much = (1.0 + said.count as f64).ln() / (1.0 + MANY_VALUES).ln();
            out.answer_values = (1000.0 * much.min(1.0)) as i32;
        }
        out
    }

    /// How alike a word of the task and another are, in thousandths: equal, inflected, or begun.
    fn likeness(&self, word: &Word, other: &str) -> i32 {
        if word.text == other {
            return 1000;
        }
        let shared = if word.is_foreign {
            phonetic_letters(&word.text)
                .zip(phonetic_letters(other))
                .take_while(|(a, b)| a == b)
                .count()
        } else {
            common_prefix(&word.text, other)
        };
        if shared < 3 {
            return 0;
        }
        let (short, long) = {
            let (a, b) = (word.text.chars().count(), other.chars().count());
            (a.min(b), a.max(b))
        };
        if word.text.is_ascii() && self.stemmer.stem(other) == word.stem {
            1000
        } else if shared >= 4 && (shared == short || 10 * shared >= 7 * long) {
            700
        } else if shared == short && other.len() < word.text.len() && word.text.len() >= 5 {
            500
        } else {
            0
        }
    }

    /// The last segment of the path that is a word: what is asked for, as addresses say it.
    fn read_tail(&self, url: &str, words: &[&Word], out: &mut Relevance) {
        let Ok(url) = Url::parse(url) else { return };
        let segments: Vec<String> = url
            .path_segments()
            .into_iter()
            .flatten()
            .map(|it| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned())
            .collect();
        let tail = segments.iter().rev().find_map(|it| {
            let bare = without_extension(it);
            let is_id = bare.bytes().any(|it| it.is_ascii_digit()) || bare.len() > 40;
            if is_id || self.is_value(it) {
                return None;
            }
            let words: Vec<String> = parts(bare)
                .into_iter()
                .filter(|it| it.len() >= 2 && !GENERAL.contains(&it.as_str()))
                .collect();
            (!words.is_empty()).then_some(words)
        });
        let Some(tail) = tail else { return };
        let alike = |it: &Word, part: &String| {
            let inside = it.stem.len() >= 4 && part.contains(&it.stem);
            self.likeness(it, part).max(if inside { 800 } else { 0 })
        };
        let best = |part: &String| words.iter().map(|it| alike(it, part)).max().unwrap_or(0);
        let all: Vec<i32> = tail.iter().map(best).collect();
        out.tail_named = all.iter().copied().max().unwrap_or(0);
        let early = words.iter().zip(0..EARLY).map(|(it, place)| {
            let named = tail.iter().map(|part| alike(it, part)).max().unwrap_or(0);
            named * (EARLY - place) / EARLY
        });
        out.tail_early = early.max().unwrap_or(0);
        out.tail_covered = all.iter().sum::<i32>() / all.len() as i32;
        out.tail_unnamed = 1000 - out.tail_named;
    }

    /// What was typed, a name such as `example.org` that the task holds as it is, or words that the task writes as names or that
    /// abbreviate it.
    fn is_value(&self, segment: &str) -> bool {
        let folded = fold(segment);
        let is_named = |part: &String| {
            self.words.iter().any(|it| it.is_value && it.text == *part)
                || self.abbreviates(part) >= 1000
        };
        self.typed.iter().any(|it| *it == folded || *it == fold(without_extension(segment)))
            || folded.contains('.') && self.text.contains(&folded)
            || parts(segment).iter().all(is_named)
    }

    /// The request asks for one thing of a kind of which the task asks for many. A number may be a date or a size.
    fn narrows(&self, words: &[&Word], (name, value): &(String, String)) -> bool {
        let parts = parts(name);
        let Some(kind) = parts.last() else { return false };
        // The task has another form of the name: `pairs` where the request says `pair`.
        let asks_for_many = words
            .iter()
            .any(|it| !it.is_value && it.text != *kind && self.likeness(it, kind) == 1000);
        // `BCHEUR` and `bch-1` name things; `desc` and `active` are options.
        let is_name = value.chars().any(char::is_alphabetic)
            && value.chars().any(|it| it.is_uppercase() || it.is_ascii_digit())
            && !["ASC", "DESC"].contains(&value.as_str());
        asks_for_many && is_name && !self.names(value)
    }

    /// Thousandths by which a value of a request names something that the task does not.
    fn unrelated_name_penalty(&self, value: &str) -> i32 {
        let has_digit = value.bytes().any(|it| it.is_ascii_digit());
        let is_name = (4..=40).contains(&value.len())
            && value.chars().all(|it| it.is_alphabetic() || matches!(it, '_' | '.' | '-'));
        let is_number = has_digit && value.len() >= 4;
        if !(is_name || is_number) || self.names(value) {
            return 0;
        }
        if is_name { 1000 } else { 500 }
    }

    /// The task says this value, or a word of it, or what it abbreviates.
    pub(super) fn names(&self, value: &str) -> bool {
        let value = fold(value);
        self.text.contains(&value)
            || self.typed.iter().any(|it| it.contains(&value) || value.contains(it.as_str()))
            || parts(&value).iter().any(|part| {
                self.words.iter().any(|it| it.text == *part) || self.abbreviates(part) > 0
            })
    }

    /// How well the best part of the request abbreviates words of the task.
    fn abbreviated(&self, exchange: &Exchange, said: &ExchangeText) -> i32 {
        let path = Url::parse(&exchange.url).map(|it| it.path().to_owned()).unwrap_or_default();
        let is_code = |it: &str| it.bytes().all(|it| it.is_ascii_uppercase());
        let codes: BTreeSet<String> = path
            .split(|it: char| !it.is_ascii_alphanumeric())
            .filter(|it| is_code(it))
            .map(str::to_ascii_lowercase)
            .collect();
        let known = |it: &str| {
            GENERAL.contains(&it)
                || terms::STOP_WORDS.contains(&it)
                || self.words.iter().any(|word| word.text == it)
        };
        let in_path = parts(&fold(&path)).into_iter();
        let in_values: BTreeSet<String> = said.values.iter().flat_map(|it| parts(it)).collect();
        let parts: BTreeSet<String> =
            in_path.chain(in_values.iter().cloned()).filter(|it| !known(it)).collect();
        // Half of a pair is one only where a code stands, and no word.
        let abbreviates = |it: &String| {
            let all = self.abbreviates(it);
            if all < 1000 && !codes.contains(it) && !in_values.contains(it) { 0 } else { all }
        };
        parts.iter().map(abbreviates).max().unwrap_or(0)
    }

    /// Thousandths: the whole part is an abbreviation, or of two that are written as one (`btcusd`) one is.
    fn abbreviates(&self, part: &str) -> i32 {
        let is_word = self.words.iter().any(|it| it.text == part || it.stem == part);
        if is_word || !part.bytes().all(|it| it.is_ascii_lowercase()) {
            return 0;
        }
        let is = |it: &str| (0..self.words.len()).any(|at| self.begins(it.as_bytes(), at));
        match part.len() {
            3 | 4 if is(part) => 1000,
            6..=8 => {
                let halves = [3, 4].into_iter().filter(|at| (3..=4).contains(&(part.len() - at)));
                let found =
                    |at: usize| 500 * (i32::from(is(&part[..at])) + i32::from(is(&part[at..])));
                halves.map(found).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// The letters begin this word and go on in it, or with the beginning of the next: `aud` for "Australian dollars". Of one
    /// word alone they are its beginning, or its consonants in order.
    fn begins(&self, letters: &[u8], at: usize) -> bool {
        let Some(word) = self.words.get(at).map(|it| it.text.as_bytes()) else { return false };
        let is_foreign = self.words[at].is_foreign;
        let same = |a: &u8, b: &u8| a == b || is_foreign && matches!((a, b), (b'c', b'k'));
        if letters.first() != word.first() || word.len() < 3 {
            return false;
        }
        if word.len() > letters.len() && letters.iter().zip(word).all(|(a, b)| same(a, b)) {
            return true;
        }
        if word.len() >= 5
            && skeleton(word).zip(letters).filter(|(own, it)| same(it, own)).count()
                == letters.len()
        {
            return true;
        }
        // A part of this word, then the next.
        (1..letters.len()).any(|cut| {
            word.starts_with(&letters[..cut])
                && self.words.get(at + 1).is_some_and(|next| {
                    let next = next.text.as_bytes();
                    let mut rest = next.iter().skip(1);
                    next.first() == Some(&letters[cut])
                        && letters[cut + 1..].iter().all(|it| rest.any(|own| own == it))
                })
        })
    }
}

impl ExchangeText {
    fn new(exchange: &Exchange) -> Self {
        let mut out = Self::default();
        if let Ok(url) = Url::parse(&exchange.url) {
            let path =
                percent_encoding::percent_decode_str(url.path()).decode_utf8_lossy().into_owned();
            out.names.extend(parts(&path));
            for (name, value) in url.query_pairs() {
                out.pair(&name, &value);
                out.query.push((name.into_owned(), value.into_owned()));
            }
        }
        if let Some(it) = operation(exchange) {
            out.names.extend(parts(&it));
        }
        match &exchange.request_body {
            Some(RequestBody::Json(it)) => out.body(it),
            Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
                for it in fields {
                    out.pair(&it.name, &it.value);
                }
            }
            Some(RequestBody::Text(it)) => out.value(it),
            _ => {}
        }
        match &exchange.excerpt {
            Some(Excerpt::Json(it)) => {
                out.is_json = true;
                out.answer(it);
            }
            Some(Excerpt::Html(it) | Excerpt::Text(it)) => out.read(cut(it, MAX_TEXT)),
            None => {}
        }
        out
    }

    fn pair(&mut self, name: &str, value: &str) {
        self.names.extend(parts(name));
        self.value(value);
    }

    fn value(&mut self, value: &str) {
        let value = cut(value, 200);
        self.value_words.extend(parts(value));
        self.values.push(fold(value));
    }

    fn body(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, it) in fields {
                    self.names.extend(parts(key));
                    self.body(it);
                }
            }
            Value::Array(items) => items.iter().for_each(|it| self.body(it)),
            Value::String(it) => self.value(it),
            Value::Number(it) => self.value(&it.to_string()),
            _ => {}
        }
    }

    fn answer(&mut self, value: &Value) {
        if self.count >= MAX_VALUES {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (key, it) in fields {
                    // A key that holds nothing answers nothing.
                    if self.keys.len() < MAX_KEYS && has_content(it) {
                        let parts = parts(key);
                        self.key_heads.extend(parts.last().cloned());
                        self.keys.extend(parts);
                    }
                    if key.starts_with(|it: char| it.is_ascii_digit()) {
                        self.read(key);
                    }
                    self.answer(it);
                }
            }
            Value::Array(items) => items.iter().take(60).for_each(|it| self.answer(it)),
            Value::String(it) => {
                self.count += 1;
                self.read(cut(it, 300));
            }
            Value::Number(it) => {
                self.count += 1;
                self.read(&it.to_string());
            }
            _ => {}
        }
    }

    fn read(&mut self, text: &str) {
        if self.text.len() < MAX_TEXT {
            self.answer.extend(parts(text));
            self.text.push_str(text);
            self.text.push(' ');
        }
    }
}

fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(it) => !it.is_empty(),
        Value::Array(it) => !it.is_empty(),
        Value::Object(it) => !it.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

fn without_extension(segment: &str) -> &str {
    match segment.rsplit_once('.') {
        Some((name, end)) if end.len() <= 4 && end.bytes().all(|it| it.is_ascii_lowercase()) => {
            name
        }
        _ => segment,
    }
}

/// The first letter of a word and the consonants after it, a double one once: `btcn` of `bitcoin`.
fn skeleton(word: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut before = None;
    word.iter().enumerate().filter_map(move |(i, it)| {
        let is_again = before.replace(*it) == Some(*it);
        (i == 0 || !is_again && !b"aeiou".contains(it)).then_some(*it)
    })
}

/// The letters of a word, those that sound alike as one.
fn phonetic_letters(word: &str) -> impl Iterator<Item = char> + '_ {
    word.chars().map(|it| if it == 'c' { 'k' } else { it })
}

fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Han, kana and Hangul: scripts in which a word is two or three letters, and nothing parts it from its neighbours' endings.
fn is_unparted(it: char) -> bool {
    matches!(it, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn pairs(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters
        .windows(2)
        .filter(|it| it.iter().all(|it| is_unparted(*it)))
        .map(|it| it.iter().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wording(task: &str) -> TaskWording {
        TaskWording::new(task, [])
    }

    #[test]
    fn abbreviations_are_of_one_word_or_of_two() {
        let it = wording(
            "What ether trades in Australian dollars took place, and of Bitcoin Cash against the euro?",
        );
        for part in ["eth", "aud", "bch", "eur", "btc", "ethaud", "bcheur"] {
            assert_eq!(it.abbreviates(part), 1000, "{part}");
        }
        assert_eq!(it.abbreviates("btcxyz"), 500);
        for part in ["xrp", "gbp", "usd", "order"] {
            assert_eq!(it.abbreviates(part), 0, "{part}");
        }
    }

    #[test]
    fn words_are_alike_when_inflected_or_accented() {
        let it = wording("Qual foi a cotação das moedas");
        let alike = |word: &str, other: &str| {
            let word = it.words.iter().find(|it| it.text == fold(word)).unwrap();
            it.likeness(word, &fold(other))
        };
        assert_eq!(alike("cotação", "Cotacao"), 1000);
        assert!(alike("moedas", "moeda") >= 700);
        assert_eq!(alike("moedas", "model"), 0);
    }

    #[test]
    fn a_path_ends_in_the_last_word_that_is_no_value() {
        let tail = |task: &str, typed: &[&str], url: &str| {
            let wording = TaskWording::new(task, typed.iter().copied());
            let words: Vec<&Word> = wording.words.iter().collect();
            let mut out = Relevance::default();
            wording.read_tail(url, &words, &mut out);
            (out.tail_named, out.tail_unnamed)
        };
        let records = "List the DNS records of example.org";
        assert_eq!(
            tail(records, &["example.org"], "https://a.test/domains/example.org"),
            (0, 1000)
        );
        assert_eq!(tail(records, &[], "https://a.test/domains/example.org/records"), (1000, 0));
        assert_eq!(
            tail("List the subtitles of Grimsburg", &[], "https://a.test/shows/search/Grimsburg"),
            (0, 1000)
        );
        assert_eq!(tail("List the tickets", &[], "https://a.test/api/v2/tickets.json"), (1000, 0));
        assert_eq!(tail("Trades of bitcoin", &[], "https://a.test/tradehistory/btc"), (800, 200));
    }

    #[test]
    fn a_key_names_what_its_last_word_says_where_it_holds_something() {
        let task = wording("Prices of all contracts");
        let held = |answer: Value| {
            let mut it = crate::pages::tests::exchange(0, "", None);
            it.excerpt = Some(Excerpt::Json(answer));
            task.relevance(&it, &BTreeSet::new()).head_in_keys
        };
        assert_eq!(held(json!([{"close_price": 7, "size": 1}])), 1000);
        assert_eq!(held(json!([{"price_band": 7, "contract_type": "x"}])), 0);
        assert_eq!(held(json!([{"strike_price": null, "prices": []}])), 0);
    }

    #[test]
    fn a_request_for_one_thing_is_narrower_than_a_task_that_asks_for_all() {
        let one_of_many = |task: &str, query: &str| {
            let it = crate::pages::tests::exchange(0, query, None);
            wording(task).relevance(&it, &BTreeSet::new()).one_of_many
        };
        let all = "Which pairs can be traded?";
        assert_eq!(one_of_many(all, "pair=BCHEUR"), 1000);
        assert_eq!(one_of_many(all, "pair=7"), 0, "a number may be a size");
        assert_eq!(one_of_many("List my orders", "order=desc"), 0, "an option");
        assert_eq!(one_of_many("Trades of the pair with the highest volume", "pair=BTCUSD"), 0);
        assert_eq!(one_of_many(all, "lang=BCHEUR"), 0);
        assert_eq!(one_of_many("Trades of the pair BCHEUR", "pair=BCHEUR"), 0);
        assert_eq!(one_of_many("Trades of pairs of bitcoin cash in euros", "pair=BCHEUR"), 0);
    }

    #[test]
    fn scripts_without_spaces_are_read_in_pairs() {
        assert_eq!(pairs("코인 목록"), ["코인", "목록"]);
        assert_eq!(pairs("為替レート now"), ["為替", "替レ", "レー", "ート"]);
    }
}
