//! The only road from a raw recording to a stored one.
//!
//! Two passes. The first learns the recording's secret values from names, formats and entropy; the second writes a stable
//! placeholder wherever one of them stands, in whatever encoding, measures the whole answers and cuts them to size.
//! Response bodies are redacted by the same rules, which leave ordinary data (ids, hashes, slugs, URLs, cursors) alone.

mod account_ids;
mod announced_secrets;
mod assignments;
mod body;
mod build_ids;
mod byte_classes;
mod cache;
pub mod choice_spelling;
mod class;
mod commands;
mod configs;
mod dates;
mod detector;
mod domain_nouns;
mod elements;
mod encode;
mod exchange;
mod failure;
mod fields;
mod formats;
mod forms;
pub mod har;
mod headers;
mod html;
mod identifiers;
mod json;
mod keys;
pub mod known_secrets;
mod labels;
mod lexicon;
mod links;
mod live;
mod log_filter;
pub mod markup;
mod matcher;
mod measures;
mod message_spans;
mod messages;
mod named_runs;
mod names;
mod origins;
mod page_blocks;
mod page_text_index;
mod password_fields;
mod placeholder;
mod placeholders;
mod randomness;
pub mod raw;
mod rows;
mod rpc_arguments;
mod rules;
mod scan;
mod scripts;
mod services;
mod session_secrets;
mod share;
mod stand_in;
mod step_counter;
mod tables;
mod text_kind;
mod texts;
mod triggers;
mod typed_values;
mod urls;
mod value_flags;
mod vocabulary;
mod walk;
mod word_split;

pub use account_ids::AccountIds;
pub use body::{JsonFrame, essence, parts};
pub use class::Place;
pub use failure::failure;
pub use live::LiveValues;
pub use log_filter::{hide, hide_all};
pub use placeholder::is_placeholder;
pub use rules::RedactRules;
pub use session_secrets::{RecordingSecrets, count};
pub use share::{Redactor, RemovalCounts};
pub use texts::{lines, message, redact_written, text};

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use rayon::prelude::*;
use serde_json::Value;
use zeroize::Zeroizing;

use self::{
    body::{ParsedBody, cut, parse, parse_bytes},
    build_ids::BuildIds,
    class::{KeyClass, SecretReason},
    exchange::Answer,
    measures::{BodyMeasures, Meter, weigh},
    origins::{OriginIndex, ValuePlace},
    page_text_index::{VisibleWords, words_of},
    placeholders::{SecretIndex, holds_placeholder},
    raw::{RawBody, RawExchange, RawRecording, ReleasedBody},
    rules::{SecretSink, Walk},
    text_kind::TextKind,
    typed_values::TypedValues,
};
use commis_artifacts::recording::{
    Action, BlockedRequest, BodyStatus, Control, Excerpt, Exchange, FinalPage, Origin,
    SessionRecording, ValueOrigin,
};
use commis_base::{settings::RedactSettings, work};
use commis_recipe::blocks::{Block, asks_for_one};

const MAX_VISIBLE: usize = 32 * 1024;
/// Bytes of bodies that one thread is done with before another has woken.
const LITTLE: usize = 64 * 1024;

/// A storable recording, and the values that only this process may know.
pub struct RedactedRecording {
    pub recording: SessionRecording,
    pub live: LiveValues,
}

/// Redacts, measures and cuts a recording.
pub fn redact(raw: RawRecording, settings: &RedactSettings) -> RedactedRecording {
    let (recording, sealed) = sealed(raw, settings);
    RedactedRecording { recording, live: sealed.into_live() }
}

/// Without a recording nothing is known.
pub fn nothing() -> RecordingSecrets {
    let mut vault = SecretIndex::default();
    vault.seal(Vec::new());
    RecordingSecrets(vault)
}

/// The same, with its secrets ready to be found elsewhere.
pub fn sealed(
    mut raw: RawRecording,
    settings: &RedactSettings,
) -> (SessionRecording, RecordingSecrets) {
    let inputs: Vec<String> = raw.typed.values().cloned().collect();
    let texts: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let charsets = forms::all_to_utf8(&mut raw.exchanges, &texts);
    let rules = rules(settings, &raw.task, &raw.typed);
    let least = least(&raw.exchanges);
    // Its threads share the budget of who asks.
    let budget = work::share();
    let all = raw.exchanges.par_iter().with_min_len(least);
    let mut parsed: Vec<ParsedBody> = all.map(|it| budget.run(|| parse(it))).collect();
    // Text is what was asked for where one thing was, by its name.
    let prose = asks_for_one(&raw.task) && !raw.typed.is_empty();
    let shown = page_blocks::blocks(&raw.page, prose);
    let mut vault = SecretIndex::default();
    let mut judged = learn(&mut raw, &parsed, &shown, &rules, &mut vault);
    vault.seal(harmless_inputs(&raw));
    let typed_texts: Vec<String> =
        inputs.iter().map(|it| it.trim().to_lowercase()).filter(|it| it.len() > 1).collect();

    let answer = raw.final_answer.as_deref().unwrap_or("");
    let visible = VisibleWords::new(&[&raw.page.visible_text, answer]).with_blocks(&shown);
    let typed_words = typed_words(&raw);
    let typed = TypedValues::new(&raw.typed, &raw.actions);

    // Requests first: what they hold decides which sources are looked for.
    let mut writer = Writer::new(&mut vault);
    let requests =
        raw.exchanges.iter().zip(charsets).enumerate().map(|(i, (exchange, charset))| {
            let (mut stored, used) = exchange::request(i, exchange, &rules, &mut writer, &typed);
            stored.charset = charset.map(str::to_owned);
            (stored, used)
        });
    let (mut exchanges, places): (Vec<_>, Vec<Vec<(String, String)>>) = requests.unzip();
    let mut values: Vec<String> =
        places.iter().flatten().filter_map(|it| vault.value(&it.0).map(str::to_owned)).collect();
    values.sort();
    values.dedup();
    let urls: Vec<String> = exchanges.iter().map(|it| it.url.clone()).collect();
    let mut sources = OriginIndex::new(&values, &raw.exchanges, &raw.page, &raw.url);
    let known: Vec<&str> = [raw.url.as_str(), raw.page.url.as_str()]
        .into_iter()
        .chain(raw.typed.values().map(String::as_str))
        .collect();
    let mut builds = BuildIds::new(&raw.exchanges, &known);

    let share = body::share(&raw.exchanges);
    let mut measured: Vec<Option<BodyMeasures>> = Vec::with_capacity(exchanges.len());
    for row in rows(&raw.exchanges) {
        // Side by side what needs no writer, then in order what does.
        let opened: Vec<OpenedAnswer> = raw.exchanges[row.clone()]
            .par_iter()
            .zip(&mut parsed[row.clone()])
            .with_min_len(least)
            .map(|(exchange, parsed)| {
                let parsed = take_parsed(exchange, parsed);
                let sources = sources.in_answer(exchange, &parsed, &vault);
                let meter = Meter::new(&visible, &typed_words, &inputs);
                let opened =
                    || exchange::open_answer(exchange, parsed, (share, &typed_texts), meter, prose);
                let (answer, measured) = budget.run(opened);
                OpenedAnswer { answer, sources, measured }
            })
            .collect();
        let mut writer = Writer::new(&mut vault);
        let mut long = Vec::new();
        for (i, mut it) in row.zip(opened) {
            sources.add(i, it.sources, &urls);
            let mut walk = Walk::new(&rules, &mut writer);
            walk.judged = Some(std::mem::take(&mut judged[i]));
            let (stored, exchange) = (&mut exchanges[i], &raw.exchanges[i]);
            if let Answer::Html(page, _) = &it.answer {
                builds.find_in_page(i, page, exchange, stored);
            }
            let json = exchange::response(stored, exchange, it.answer, it.measured.as_mut(), walk);
            long.extend(json.map(|it| (i, it)));
            measured.push(it.measured);
        }
        store_excerpts(&mut exchanges, long, least, budget);
    }
    weigh(&mut measured);
    for (i, used) in places.into_iter().enumerate() {
        let origin = |(placeholder, at): (String, String)| ValueOrigin {
            origin: vault.value(&placeholder).and_then(|value| sources.origin(value, i, &urls)),
            placeholder,
            at,
        };
        exchanges[i].origins = used.into_iter().map(origin).collect();
    }
    builds.trace(&mut exchanges, &urls);
    drop(sources);
    zeroize::Zeroize::zeroize(&mut values);

    let mut writer = Writer::new(&mut vault);
    for (stored, measured) in exchanges.iter_mut().zip(measured) {
        finish(stored, measured, &mut writer);
    }
    let recording = assemble(raw, exchanges, shown, Walk::new(&rules, &mut writer));
    (recording, RecordingSecrets(vault))
}

/// Writes what is kept of long JSON answers, by exchange. One that fits whole is captured.
fn store_excerpts(
    exchanges: &mut [Exchange],
    long: Vec<(usize, exchange::PrunedJson)>,
    least: usize,
    budget: work::SharedBudget,
) {
    let excerpt = |(i, it): (usize, exchange::PrunedJson)| (i, budget.run(|| it.excerpt()));
    let excerpts: Vec<(usize, (Excerpt, bool))> =
        long.into_par_iter().with_min_len(least).map(excerpt).collect();
    for (i, (excerpt, is_whole)) in excerpts {
        exchanges[i].excerpt = Some(excerpt);
        if is_whole {
            exchanges[i].body_status = BodyStatus::Captured;
        }
    }
}

/// What was typed, in lower case, under names that are not of secrets.
fn harmless_inputs(raw: &RawRecording) -> Vec<String> {
    let harmless = raw.typed.iter().filter(|(name, _)| !names_secret(name));
    harmless.map(|it| it.1.to_lowercase()).collect()
}

/// The words of each value of two characters or more that was typed, by its name.
fn typed_words(raw: &RawRecording) -> Vec<(String, Vec<u64>)> {
    let long = raw.typed.iter().filter(|it| it.1.chars().count() >= 2);
    long.map(|(name, value)| (name.clone(), words_of(value))).collect()
}

/// The answer as it was parsed; one that lies in a file is read and parsed now.
fn take_parsed(exchange: &RawExchange, parsed: &mut ParsedBody) -> ParsedBody {
    match &exchange.body {
        RawBody::Elsewhere(_) => {
            exchange.body.bytes().map_or(ParsedBody::None, |bytes| parse_bytes(exchange, &bytes))
        }
        RawBody::Captured(_) | RawBody::Missing(_) => std::mem::replace(parsed, ParsedBody::None),
    }
}

/// Adds the measures of the answer, and takes secrets out of names and places.
fn finish(stored: &mut Exchange, measured: Option<BodyMeasures>, writer: &mut Writer<'_>) {
    if let Some(measured) = measured {
        let typed_in_request = std::mem::take(&mut stored.measures.typed_in_request);
        stored.measures = measured.measures;
        stored.measures.typed_in_request = typed_in_request;
    }
    // Keys can be secrets too, as where sessions are listed by their token.
    for it in stored.measures.names_mut() {
        if let Some(new) = writer.replace_known(it) {
            *it = new;
        }
    }
    for it in &mut stored.origins {
        if let Some(new) = writer.replace_known(&it.at) {
            it.at = new;
        }
        let told: &[&String] = match &it.origin {
            Some(Origin::Response { path, .. }) => &[path],
            Some(Origin::Storage { key, path: Some(path), .. }) => &[key, path],
            Some(Origin::Storage { key, .. }) => &[key],
            _ => &[],
        };
        if told.iter().any(|it| writer.replace_known(it).is_some()) {
            it.origin = None;
        }
    }
}

/// The recording around its exchanges, all its texts redacted.
fn assemble(
    raw: RawRecording,
    exchanges: Vec<Exchange>,
    shown: Vec<Block>,
    mut walk: Walk<'_>,
) -> SessionRecording {
    SessionRecording {
        login_site: None,
        task: spoken(&mut walk, &raw.task),
        url: address(&mut walk, &raw.url),
        driver: raw.driver,
        typed: raw
            .typed
            .iter()
            .map(|(name, value)| {
                (name.clone(), walk.leaf(name, value, Place::Form).unwrap_or_else(|| value.clone()))
            })
            .collect(),
        actions: raw.actions.into_iter().map(|it| action(&mut walk, it)).collect(),
        final_answer: raw.final_answer.as_deref().map(|it| spoken(&mut walk, it)),
        page: FinalPage {
            url: address(&mut walk, &raw.page.url),
            title: cut(&spoken(&mut walk, &raw.page.title), 1024).to_owned(),
            visible_text: cut(
                &shown_text(&mut walk, &raw.page.visible_text)
                    .unwrap_or_else(|| raw.page.visible_text.clone()),
                MAX_VISIBLE,
            )
            .to_owned(),
            has_password_field: raw.page.has_password_field,
            next: page_blocks::next(&raw.page),
            shown: page_blocks::redact_blocks(shown, &mut walk),
        },
        exchanges,
        blocked: raw
            .blocked
            .into_iter()
            .map(|it| BlockedRequest {
                url: address(&mut walk, &it.url),
                code: it.code,
                reason: spoken(&mut walk, &it.reason),
            })
            .collect(),
        notes: raw.notes,
        duration_ms: raw.duration_ms,
        producer: words(&mut walk, &raw.producer),
    }
}

/// What one answer comes to before anything is written.
struct OpenedAnswer {
    answer: Answer,
    sources: Vec<(String, ValuePlace)>,
    measured: Option<BodyMeasures>,
}

/// Exchanges whose answers are opened at once: of those that were let go, about a megabyte.
fn rows(exchanges: &[RawExchange]) -> Vec<Range<usize>> {
    const BYTES: usize = 1 << 20;
    let (mut out, mut from, mut bytes) = (Vec::new(), 0, 0);
    for (i, it) in exchanges.iter().enumerate() {
        if let RawBody::Elsewhere(it) = &it.body {
            bytes += if it.is_binary { 0 } else { it.len };
        }
        if bytes > BYTES {
            out.push(from..i + 1);
            (from, bytes) = (i + 1, 0);
        }
    }
    out.push(from..exchanges.len());
    out
}

/// The answer's JSON and what stood around it, as a recording reads it; `None` where it holds none that is data.
pub fn json_of(raw: &RawExchange) -> Option<(Value, JsonFrame)> {
    match parse(raw) {
        ParsedBody::Json(value, frame) => Some((value, frame)),
        _ => None,
    }
}

/// How values of a recording are judged.
pub fn rules(
    settings: &RedactSettings,
    task: &str,
    typed: &BTreeMap<String, String>,
) -> RedactRules {
    RedactRules::new(&settings.allow, typed.values().map(String::as_str).chain([task]))
}

/// Takes the exchange through the first pass at once and lets its body go, to be read `again` for the second.
pub fn let_go(
    raw: &mut RawExchange,
    rules: &RedactRules,
    again: Box<dyn Fn() -> Option<Vec<u8>> + Send + Sync>,
) {
    let RawBody::Captured(bytes) = &raw.body else { return };
    let (len, parsed) = (bytes.len(), parse(raw));
    let noted = exchange::learn(raw, &parsed, rules);
    let is_binary = matches!(parsed, ParsedBody::Binary);
    raw.body = RawBody::Elsewhere(ReleasedBody { noted, len, is_binary, again });
}

/// Why a task or a typed value probably holds a secret: for `SECRET_IN_TASK`. Words, names, numbers and dates never do.
pub fn probable_secret(text: &str) -> Option<&'static str> {
    struct FirstSecret(Option<SecretReason>);
    impl SecretSink for FirstSecret {
        fn secret(&mut self, _: &str, value: &str, why: SecretReason) -> Option<String> {
            if why != SecretReason::Entropy || !numbers_a_thing(value) {
                self.0 = self.0.or(Some(why));
            }
            None
        }
        fn replace_known(&mut self, _: &str) -> Option<String> {
            None
        }
    }
    let rules = RedactRules::new(&[], std::iter::empty());
    let mut found = FirstSecret(None);
    let mut walk = Walk::new(&rules, &mut found);
    walk.text(text, TextKind::Spoken);
    for word in text
        .split(|c: char| c.is_whitespace() || "\"'`,;()<>".contains(c))
        .filter(|it| it.len() >= 4)
    {
        let word = word.trim_end_matches(['.', '!', '?', ':']);
        walk.leaf("", word, Place::Json);
        // `password=letmein`: no one writes that of a harmless word.
        if let Some((name, value)) = word.split_once('=')
            && keys::classify(name, Place::Json) == KeyClass::Always
            && value.len() >= 4
        {
            walk.sink.secret(name, value, SecretReason::Key);
        }
        // Long hexadecimal runs are hashes in answers; in a task they are keys.
        if word.len() >= 32 && randomness::is_hex(word) {
            walk.sink.secret("", word, SecretReason::Entropy);
        }
    }
    found.0.map(|why| match why {
        SecretReason::Password
        | SecretReason::Header
        | SecretReason::Cookie
        | SecretReason::Key
        | SecretReason::Context => "a value after a name such as password or token",
        SecretReason::Format => "the format of a known kind of key",
        SecretReason::Container => "a secret inside an encoded value",
        SecretReason::Entropy => "a long random value",
    })
}

/// As makers number parts and registries what they list, however random it looks: fewer than 24 capitals and digits, or
/// hyphens around no more than five characters each.
fn numbers_a_thing(value: &str) -> bool {
    let few = value.bytes().filter(u8::is_ascii_alphanumeric).count() < 24;
    let plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./+#".contains(&b));
    let grouped = value.contains('-') && value.split('-').all(|it| it.len() <= 5);
    few && plain && (grouped || !value.bytes().any(|b| b.is_ascii_lowercase()))
}

/// [`probable_secret`] of a value that was typed under a name: a parameter's, or a field's on the page.
pub fn typed_secret(name: &str, value: &str) -> Option<&'static str> {
    let class = keys::classify(name, Place::Form);
    let told = matches!(class, KeyClass::Always | KeyClass::Likely)
        && detector::verdict(class, value).is_some();
    told.then_some("a value under a name such as password or token")
        .or_else(|| probable_secret(value))
}

/// The name is one of a secret.
pub fn names_secret(name: &str) -> bool {
    matches!(keys::classify(name, Place::Form), KeyClass::Always | KeyClass::Likely)
}

/// How many exchanges a thread takes at least: where all are little work, waking others costs more than they would save.
fn least(exchanges: &[RawExchange]) -> usize {
    let all: usize = exchanges.iter().map(|it| it.body.len()).sum();
    if all < LITTLE { usize::MAX } else { 1 }
}

/// The first pass. For each exchange, the texts of its answer in which a rule found a secret.
fn learn(
    raw: &mut RawRecording,
    parsed: &[ParsedBody],
    shown: &[Block],
    rules: &RedactRules,
    vault: &mut SecretIndex,
) -> Vec<BTreeSet<u64>> {
    let least = least(&raw.exchanges);
    let budget = work::share();
    let mut notes: Vec<ExchangeSecrets> = raw
        .exchanges
        .par_iter_mut()
        .zip(parsed)
        .with_min_len(least)
        .map_with(rules.clone(), |rules, (exchange, parsed)| match &mut exchange.body {
            RawBody::Elsewhere(it) => std::mem::take(&mut it.noted),
            _ => budget.run(|| exchange::learn(exchange, parsed, rules)),
        })
        .collect();
    let judged = notes.iter_mut().map(|it| std::mem::take(&mut it.suspects)).collect();
    let sent = password_fields::sent_passwords(&raw.exchanges);
    for it in raw.secrets.iter().chain(&sent) {
        vault.learn("password", it, SecretReason::Password);
    }
    let mut learner = Learner(vault);
    for it in notes {
        it.apply_to(&mut learner);
    }
    let mut walk = Walk::new(rules, &mut learner);
    for (name, value) in &raw.page.cookies {
        exchange::cookie(name, value, &mut walk);
    }
    for (name, value) in &raw.page.metas {
        walk.leaf(name, value, Place::Json);
    }
    for (name, value) in &raw.typed {
        walk.leaf(name, value, Place::Form);
    }
    for it in &raw.actions {
        if let Some(value) = &it.value {
            walk.leaf(it.name.as_deref().unwrap_or(""), value, Place::Form);
        }
        if let Some(it) = &it.control {
            for option in &it.options {
                walk.text(&option.label, TextKind::Spoken);
                walk.leaf(&it.name, &option.value, Place::Form);
            }
            for text in [&it.pattern, &it.placeholder].into_iter().flatten() {
                walk.text(text, TextKind::Spoken);
            }
        }
    }
    for it in [&raw.url, &raw.page.url].into_iter().chain(raw.blocked.iter().map(|it| &it.url)) {
        walk.leaf("", it, Place::Query);
    }
    for it in [&raw.task, &raw.page.title].into_iter().chain(&raw.final_answer) {
        walk.text(it, TextKind::Spoken);
    }
    shown_text(&mut walk, &raw.page.visible_text);
    words(&mut walk, &raw.producer);
    // Shadow roots show what is no part of the page's text.
    for it in shown.iter().flat_map(|it| &it.rows).flatten().flatten() {
        walk.text(it, TextKind::Spoken);
    }
    judged
}

/// What a page shows: a browser shows JSON as it came.
fn shown_text(walk: &mut Walk<'_>, text: &str) -> Option<String> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let opened = if is_json { walk.open("", text.trim(), Place::Answer, 0) } else { None };
    opened.or_else(|| walk.text(text, TextKind::Spoken))
}

fn spoken(walk: &mut Walk<'_>, text: &str) -> String {
    walk.text(text, TextKind::Spoken).unwrap_or_else(|| text.to_owned())
}

/// Words of which each may be a secret by itself.
fn words(walk: &mut Walk<'_>, text: &str) -> String {
    let mut out = spoken(walk, text);
    for word in text.split_whitespace() {
        if let Some(new) = walk.leaf("", word, Place::Json) {
            out = out.replace(word, &new);
        }
    }
    out
}

fn address(walk: &mut Walk<'_>, text: &str) -> String {
    walk.leaf("", text, Place::Query).unwrap_or_else(|| text.to_owned())
}

fn action(walk: &mut Walk<'_>, it: Action) -> Action {
    let key = it.name.clone().unwrap_or_default();
    Action {
        kind: it.kind,
        role: it.role,
        value: it.value.map(|value| walk.leaf(&key, &value, Place::Form).unwrap_or(value)),
        name: it.name.map(|name| spoken(walk, &name)),
        at_ms: it.at_ms,
        control: it.control.map(|it| control(walk, it)),
    }
}

/// Options are what a form sends under the control's name.
fn control(walk: &mut Walk<'_>, it: Control) -> Control {
    let mut options = it.options;
    for option in &mut options {
        option.label = spoken(walk, &option.label);
        if let Some(new) = walk.leaf(&it.name, &option.value, Place::Form) {
            option.value = new;
        }
    }
    let mut told = |it: Option<String>| it.map(|it| spoken(walk, &it));
    Control {
        label: told(Some(it.label)).unwrap_or_default(),
        min: told(it.min),
        max: told(it.max),
        step: told(it.step),
        pattern: told(it.pattern),
        placeholder: told(it.placeholder),
        options,
        ..Control { kind: it.kind, name: it.name, required: it.required, ..Control::default() }
    }
}

/// Pass one: keeps every secret, replaces nothing.
struct Learner<'a>(&'a mut SecretIndex);

impl SecretSink for Learner<'_> {
    fn secret(&mut self, name: &str, value: &str, why: SecretReason) -> Option<String> {
        if !holds_placeholder(value) {
            self.0.learn(name, value, why);
        }
        None
    }

    fn identifier(&mut self, value: &str) {
        self.0.identify(value);
    }

    fn replace_known(&mut self, _: &str) -> Option<String> {
        None
    }
}

/// What the first pass finds in one exchange: they are looked through side by side, and learned from in order.
#[derive(Default)]
pub struct ExchangeSecrets {
    secrets: Vec<(String, Zeroizing<String>, SecretReason)>,
    identifiers: Vec<String>,
    /// Marks of the texts of a JSON answer in which a rule found a secret.
    suspects: BTreeSet<u64>,
    /// How many secrets there were before the text that is looked at.
    seen: usize,
}

impl ExchangeSecrets {
    fn apply_to(self, learner: &mut Learner<'_>) {
        for it in &self.identifiers {
            learner.identifier(it);
        }
        for (name, value, why) in &self.secrets {
            learner.secret(name, value, *why);
        }
    }
}

impl SecretSink for ExchangeSecrets {
    fn secret(&mut self, name: &str, value: &str, why: SecretReason) -> Option<String> {
        if !holds_placeholder(value) {
            self.secrets.push((name.to_owned(), Zeroizing::new(value.to_owned()), why));
        }
        None
    }

    fn identifier(&mut self, value: &str) {
        if self.identifiers.len() < placeholders::MAX_IDENTIFIERS {
            self.identifiers.push(value.to_owned());
        }
    }

    fn finish_value(&mut self, value: &str) -> bool {
        let found = self.secrets.len() > self.seen;
        if found {
            self.seen = self.secrets.len();
            self.suspects.insert(walk::mark(value));
        }
        found
    }

    fn replace_known(&mut self, _: &str) -> Option<String> {
        None
    }
}

/// Pass two: answers with placeholders and notes which were written where.
struct Writer<'a> {
    vault: &'a mut SecretIndex,
    used: Vec<String>,
    /// Placeholder and place, in order; and the same to ask.
    places: Vec<(String, String)>,
    known: BTreeSet<(String, String)>,
}

impl<'a> Writer<'a> {
    fn new(vault: &'a mut SecretIndex) -> Self {
        Self { vault, used: Vec::new(), places: Vec::new(), known: BTreeSet::new() }
    }

    fn take_places(&mut self) -> Vec<(String, String)> {
        self.known.clear();
        std::mem::take(&mut self.places)
    }

    /// Forgets what was written since the last place.
    fn forget(&mut self) {
        self.used.clear();
    }
}

impl SecretSink for Writer<'_> {
    fn secret(&mut self, name: &str, value: &str, why: SecretReason) -> Option<String> {
        if holds_placeholder(value) {
            return None;
        }
        let placeholder = self.vault.placeholder(name, value, why)?;
        self.used.push(placeholder.clone());
        Some(placeholder)
    }

    fn replace_known(&mut self, text: &str) -> Option<String> {
        let used = &mut self.used;
        self.vault.propagate(text, |placeholder| used.push(placeholder.to_owned()))
    }

    fn stands_at(&mut self, place: &str) {
        for placeholder in self.used.drain(..) {
            let here = (placeholder, place.to_owned());
            if self.known.insert(here.clone()) {
                self.places.push(here);
            }
        }
    }
}

#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod leaks_tests;
#[cfg(test)]
mod linear_tests;
#[cfg(test)]
mod meaning_tests;
#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tasks_tests;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod vectors_tests;
