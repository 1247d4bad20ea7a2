//! What an address says of what a request does.
//!
//! A GET reads unless its address says in a verb that something is done: sites that change by GET do say so, and those that do not are
//! told from no other link. The verb has to stand where verbs stand: `/orders/17/delete` and not `/tags/delete`, `?action=remove` and
//! not `?q=remove`. Forms that a GET shows (`/issues/new`, `?action=edit`) read, unless they carry what would be filled in. A false
//! question costs a look and a false "reads" may cost money: so tools that are called by their verb (`/remove-background`) are asked about.
//!
//! What stays untold: what is done behind a noun (`/order?id=7`, `/rate?id=7&stars=5`, `/led/on`) where no control spoke of it, in a
//! value (`?id=7&state=gone`), by a number (`?action=5`), in short (`/x7?k=9`) or in a language that is not listed; verbs that are a
//! thing as well, before its number (`/block/17`, `/archive/17`), and to watch (`/watch?id=7`); a verb behind what holds titles, with
//! nothing named (`/posts/delete-all`); a GET of GraphQL that names its text by a hash alone, which its protocol forbids to change; a
//! program that deletes on being looked at.

use url::Url;

use super::{
    names::{NameMeaning, operation_meaning as operation_says},
    verbs::{
        ABOUT, ACTIONS, AHEAD, ALSO, ASKS, ASSETS, BEHIND, BOTH, BUTTONS, BUYING, BUYS, CALLED,
        CALLS, CARTS, CHANGING, COMPOUNDS, COUNTED, COUNTS, EMPTIES, ENDPOINTS, FILES, FORMS,
        IN_CARTS, LEAVING, LOOSE, MADE, MONEY, NAMED, NAMESPACES, ONE, ORDERS, PAGES, PATHS, PAYS,
        PREFIXES, PRESSED, PROGRAMS, PROOFS, READING, REPORTS, SHOWS, SLUGGED, SOCIAL, STATES,
        STATIC, STORES, THINGS, TITLED, TOLD, VERBS, WRITES, is_in_lists, is_strong, is_thing,
        operation_verb, split_verb, statement_verb, words,
    },
};

/// Of a path; one with more is not looked through.
const SEGMENTS: usize = 60;

/// Whether a path has more segments than are looked through.
pub fn is_deep(url: &Url) -> bool {
    decode_fully(url.path()).matches(DIVIDES).count() > SEGMENTS
}

/// Method and path for a person: without secrets, not too long.
pub fn describe(method: &str, url: &Url) -> String {
    let mut path = commis_redact::message(url.path());
    if let Some((at, _)) = path.char_indices().nth(120) {
        path.truncate(at);
        path.push('…');
    }
    format!("{method} {path}")
}

/// The verb by which an address says that something is done. `is_safe`: by a method that should change nothing.
pub fn change_verb(url: &Url, is_safe: bool) -> Option<String> {
    let query = pairs(url);
    let segments = segments(url.path());
    let carries = query.iter().any(|it| !is_subject_name(&it.0));
    let host = url.host_str().and_then(|it| it.split('.').next()).unwrap_or_default();
    let told = TOLD.contains(&host);
    verb_in_path(&segments, &query, carries, told)
        .or_else(|| verb_in_query(&segments, &query, carries, is_safe))
}

/// What parts a path.
const DIVIDES: [char; 2] = ['/', '\\'];

/// Until there is nothing left to decode: a server behind another decodes again.
fn decode_fully(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..4 {
        let next = percent_encoding::percent_decode_str(&text).decode_utf8_lossy().into_owned();
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Names and values of a query; also where `;` parts them, and those of a path: `/list;do=delete`.
fn pairs(url: &Url) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut take = |text: &str| {
        let all = url::form_urlencoded::parse(text.as_bytes());
        out.extend(all.map(|(name, value)| (decode_fully(&name), decode_fully(&value))));
    };
    let query = url.query().unwrap_or_default();
    take(query);
    for piece in query.split('&').filter(|it| it.contains(';') && it.contains('=')) {
        piece.split(';').filter(|it| it.contains('=')).for_each(&mut take);
    }
    for piece in decode_fully(url.path()).split(DIVIDES) {
        piece.split(';').skip(1).for_each(&mut take);
    }
    out
}

/// The last part of a name: `action` of `form[action][]`, `/body/action`, `form.action` and `action.x`, where a picture was clicked.
pub fn key(name: &str) -> &str {
    let mut it = name.strip_suffix(".x").or_else(|| name.strip_suffix(".y")).unwrap_or(name);
    while let Some((before, inside)) = it.strip_suffix(']').and_then(|it| it.rsplit_once('[')) {
        let is_number = inside.bytes().all(|it| it.is_ascii_digit());
        it = if is_number { before } else { inside };
        if !is_number {
            break;
        }
    }
    let is_name = |it: &&str| !it.bytes().all(|it| it.is_ascii_digit());
    it.rsplit(['/', '.', '$', ':']).find(is_name).unwrap_or_default()
}

pub struct Segment {
    /// As it stands there, and without its extension.
    pub text: String,
    pub stem: String,
    /// In small letters.
    pub raw: String,
    /// The same without an extension and marks.
    pub plain: String,
    pub words: Vec<String>,
    /// Behind the last point.
    pub extension: String,
    /// As functions are called: `removeItem`.
    is_camel: bool,
    /// What stands around the last mark, where some say what is to be done: `/users/7:delete`, `/users/7!delete`, `/api/chat.delete`.
    pub marked: Option<(String, Vec<String>)>,
}

impl Segment {
    fn new(text: &str) -> Self {
        let text = text.split(';').next().unwrap_or_default();
        let (stem, extension) = match text.rsplit_once('.') {
            Some((stem, end)) if !stem.is_empty() && is_extension(&end.to_ascii_lowercase()) => {
                (stem, end.to_ascii_lowercase())
            }
            _ => (text, String::new()),
        };
        let words = words(stem);
        let is_camel = stem.starts_with(|it: char| it.is_ascii_lowercase())
            && stem.bytes().any(|it| it.is_ascii_uppercase());
        // `trait.Write.html` is a page.
        let is_page = !extension.is_empty() && !PROGRAMS.contains(&extension.as_str());
        let marks = |it: char| matches!(it, ':' | '!') || it == '.' && !is_page;
        let marked = stem.rfind(marks).map(|at| {
            let (before, behind) = stem.split_at(at);
            (before.to_lowercase(), self::words(behind))
        });
        Self {
            text: text.to_owned(),
            stem: stem.to_owned(),
            raw: text.to_lowercase(),
            plain: words.concat(),
            words,
            extension,
            is_camel,
            marked,
        }
    }

    fn is_program(&self) -> bool {
        PROGRAMS.contains(&self.extension.as_str())
    }

    /// A page that posts to itself, or a program that is called for everything.
    fn is_page(&self) -> bool {
        matches!(&*self.extension, "ashx" | "asmx" | "aspx" | "jsf" | "svc" | "xhtml")
            || self.is_program() && self.is(&["ajax", "adminajax", "api", "index", "rpc"])
    }

    pub fn is(&self, list: &[&str]) -> bool {
        list.contains(&self.plain.as_str())
    }

    /// The verb behind its mark. `Help:Move` is a title.
    fn verb_behind_mark(&self) -> Option<String> {
        let (before, all) = self.marked.as_ref()?;
        let is_title = NAMESPACES.contains(&before.as_str());
        if before.is_empty() || before.ends_with('.') || is_title {
            return None;
        }
        let all =
            if all.len() > 1 && is_in_lists(&all[0], &[PREFIXES]) { &all[1..] } else { &all[..] };
        let first = all.first().filter(|it| is_in_lists(it, &[VERBS, LOOSE, BEHIND, FORMS]))?;
        // Firestore's `documents:runQuery` asks.
        if first == "run" && all.get(1).is_some_and(|it| is_in_lists(it, &[ASKS, REPORTS])) {
            return None;
        }
        // `/de:install` is a page in German.
        let is_page = is_language(before) && !is_strong(first);
        (all.len() <= 4 && !is_page).then(|| first.clone())
    }

    /// A number, or a word as machines make them. A year is none.
    pub fn is_id(&self) -> bool {
        let digits = self.plain.bytes().filter(u8::is_ascii_digit).count();
        let all = digits == self.plain.len() && digits > 0;
        // `4.32.0` is a version.
        let version = self.raw.matches('.').count() > 1;
        !version && ((all && !self.is_year()) || (digits >= 2 && self.plain.len() >= 8))
    }

    fn is_year(&self) -> bool {
        self.plain.len() == 4
            && self.plain.bytes().all(|it| it.is_ascii_digit())
            && (self.plain.starts_with("19") || self.plain.starts_with("20"))
    }
}

fn is_extension(end: &str) -> bool {
    (end.len() <= 5 || PROGRAMS.contains(&end))
        && (PROGRAMS.contains(&end)
            || ![VERBS, LOOSE, FORMS, BEHIND, ASKS, SHOWS, READING, CHANGING, BOTH, CALLED, STATES]
                .iter()
                .any(|it| it.contains(&end)))
}

fn is_language(text: &str) -> bool {
    let it = text.as_bytes();
    matches!(it.len(), 2 | 5)
        && it[..2].iter().all(u8::is_ascii_lowercase)
        && (it.len() == 2
            || matches!(it[2], b'-' | b'_') && it[3..].iter().all(u8::is_ascii_alphabetic))
}

/// Segments of a path, a language at its beginning left out.
pub fn segments(path: &str) -> Vec<Segment> {
    let path = decode_fully(path);
    let all: Vec<&str> = path.split(DIVIDES).filter(|it| !it.is_empty()).collect();
    let skip = usize::from(all.len() > 1 && is_language(all[0]) && !VERBS.contains(&all[0]));
    all.iter().skip(skip).take(SEGMENTS).map(|it| Segment::new(it)).collect()
}

fn verb_in_path(
    segments: &[Segment],
    query: &[(String, String)],
    carries: bool,
    told: bool,
) -> Option<String> {
    let named = query.iter().any(|it| names_one(&it.0, &it.1));
    let by_id = query.iter().any(|it| is_id_name(&it.0));
    let ending = segments.last().map_or("", |it| it.extension.as_str());
    let is_api = segments.first().is_some_and(|it| {
        it.is(&["api"]) || it.raw.strip_prefix('v').is_some_and(|it| it.parse::<u8>().is_ok())
    });
    let is_asset = ASSETS.contains(&ending);
    let (mut is_title, mut has_title, mut has_slug, mut ids) = (false, told, told, 0);
    for (at, it) in segments.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| &segments[at]);
        let next_id = segments.get(at + 1).is_some_and(Segment::is_id);
        let is_last = at + 1 == segments.len();
        let in_cart = before.is_some_and(|it| it.is(CARTS));
        // Part of a page, but for scripts that are answers: `/cart/add.js`.
        let part = is_last || STATIC.contains(&it.raw.as_str());
        if is_asset && part && !in_cart {
            return None;
        }
        // A file's path; `/my/account/history/clear` and `/my/account/history/17/delete` are none.
        let next_number = segments
            .get(at + 1)
            .is_some_and(|it| it.is_id() && it.plain.bytes().all(|it| it.is_ascii_digit()));
        let is_file =
            at + 2 < segments.len() && !named || at + 1 < segments.len() && !ending.is_empty();
        if at >= 2 && it.is(FILES) && is_file && !next_number {
            return None;
        }
        let place = SegmentContext {
            before,
            at,
            ids,
            is_last,
            next_id,
            named,
            by_id,
            carries,
            has_title,
            has_slug,
        };
        // A title says nothing, unless something is named that it could be done to.
        let is_special = it.words.first().is_some_and(|it| it == "special");
        let of_id = it.marked.as_ref().is_some_and(|it| is_api || Segment::new(&it.0).is_id());
        let is_done = is_special || of_id || named || carries || next_id;
        let exempt = is_title && !is_done;
        let is_form = it.is(&["add"]) && is_last && !carries && segments[0].is(&["admin"]);
        if let Some(word) = verb_of(it, &place).filter(|_| !exempt && !is_form) {
            return Some(word);
        }
        has_slug |= it.is(SLUGGED) || it.is_year();
        if it.is_id() {
            ids += 1;
            is_title = false;
        } else if it.is(TITLED) {
            (is_title, has_title) = (true, true);
        }
    }
    None
}

/// What stands around a segment.
struct SegmentContext<'a> {
    before: Option<&'a Segment>,
    at: usize,
    /// How many before it are numbers.
    ids: u32,
    is_last: bool,
    next_id: bool,
    /// The query names one thing.
    named: bool,
    /// By its number.
    by_id: bool,
    /// The query says more than what a page is about.
    carries: bool,
    has_title: bool,
    /// It may be what a thing is called.
    has_slug: bool,
}

fn verb_of(it: &Segment, around: &SegmentContext<'_>) -> Option<String> {
    let marked = it.verb_behind_mark().filter(|_| around.is_last);
    let found = marked.or_else(|| is_lone_verb(it, around).then(|| it.plain.clone()));
    found.or_else(|| {
        if it.words.len() < 2 { joined_verb(it, around) } else { verb_in_words(it, around) }
    })
}

/// Whether a segment is a verb, and stands where one does.
fn is_lone_verb(it: &Segment, around: &SegmentContext<'_>) -> bool {
    let SegmentContext { before, at, ids, is_last, next_id, named, by_id: _, carries, .. } =
        *around;
    let behind = |list: &[&str]| before.is_some_and(|it| it.is(list));
    // `/collections/drop`
    let is_name = around.has_slug && it.is(ALSO) && !(named || carries || next_id);
    if it.is(VERBS) && !is_name || it.is(IN_CARTS) && behind(CARTS) {
        return true;
    }
    if it.is(BUYS) && behind(BUYING) && (is_last || next_id) || it.is(AHEAD) && next_id {
        return true;
    }
    if it.is(BEHIND) && is_last {
        let of_id = before.is_some_and(Segment::is_id) || ids > 0;
        let of_name = it.is(SOCIAL) && at >= 2;
        // `/watch?v=17` shows something.
        if at > 0 && (of_id || of_name) || named && !(at == 0 && it.is(&["watch"])) {
            return true;
        }
    }
    it.is(LOOSE) && (next_id || is_last && (ids > 0 || named || carries))
        || it.is(FORMS) && (next_id || is_last && carries)
}

/// A verb and its thing in one word: `/addtocart`, `/deluser.php`.
fn joined_verb(it: &Segment, around: &SegmentContext<'_>) -> Option<String> {
    let lists: &[&[&str]] = if around.named || it.is_program() {
        &[VERBS, LOOSE, BEHIND, PAYS]
    } else {
        &[VERBS, PAYS]
    };
    let found = split_verb(&it.plain, lists).filter(|_| !around.has_title && !around.has_slug)?;
    (around.named || it.is_program() || !is_in_lists(found, &[ALSO])).then(|| found.to_owned())
}

/// The verb of a segment of two words or more.
fn verb_in_words(it: &Segment, around: &SegmentContext<'_>) -> Option<String> {
    let (first, last) = (it.words.first()?, it.words.last()?);
    let count = it.words.len();
    if is_in_lists(last, &[LEAVING]) && count <= 3 {
        return Some(last.clone());
    }
    let called = it.is_camel || it.is_program();
    let named = around.named;
    let most = if called { 8 } else { 4 + 2 * usize::from(named) };
    let is_name = COMPOUNDS.contains(&format!("{first}{}", it.words[1]).as_str());
    // `/questions/17/remove-item` is a title.
    if count > most || is_name || around.has_title && !called {
        return None;
    }
    let found = |word: &String| Some(word.clone());
    let slug = around.has_slug && !called;
    let second = &it.words[1];
    let runs = matches!(first.as_str(), "exec" | "execute" | "run");
    if runs && count == 2 && (is_in_lists(second, &[ASKS]) || second == "read") {
        return None;
    }
    let does = is_strong(second)
        || matches!(first.as_str(), "do" | "perform")
            && is_in_lists(second, &[VERBS, LOOSE, BEHIND, FORMS]);
    let is_short = called || it.raw.contains('_') || count == 2;
    if is_in_lists(first, &[PREFIXES])
        && !slug
        && is_short
        && (does || called && is_in_lists(second, &[BEHIND, LOOSE]))
    {
        return found(second);
    }
    // `/cancel-reasons`, `/delete-requests`.
    if !named
        && matches!(
            last.as_str(),
            "fee"
                | "fees"
                | "policies"
                | "policy"
                | "rate"
                | "rates"
                | "reason"
                | "reasons"
                | "requests"
                | "stats"
                | "status"
        )
    {
        return None;
    }
    // `/delete-by-id`, whatever it is done to; behind what is called as it likes, `/products/add-to-cart` alone.
    if is_strong(first) && (!slug || is_thing(last) || around.by_id) {
        return found(first);
    }
    let thing = |word: &String| is_in_lists(word, &[THINGS, CARTS]);
    if !slug {
        let made = matches!(first.as_str(), "place" | "post") && second != "by";
        let also = is_in_lists(first, &[ALSO]) && is_thing(last) && !last.ends_with('s');
        let loose = is_in_lists(first, &[VERBS, LOOSE, BEHIND])
            || around.carries && is_in_lists(first, &[FORMS]);
        let of_money = is_in_lists(first, &[PAYS]) && is_in_lists(last, &[MONEY]);
        let empties = matches!(first.as_str(), "clear" | "empty") && is_in_lists(last, &[EMPTIES]);
        let buys =
            is_in_lists(first, &[BUYS]) && is_in_lists(last, &[BUYING]) && !last.ends_with('s');
        let on_one = named
            && (loose && first != "watch"
                || is_in_lists(first, &[ORDERS]) && last == "now"
                || first == "make" && is_in_lists(last, &[BUYING]));
        if also
            || of_money
            || empties
            || buys
            || on_one
            || (made || loose) && (thing(last) || called && !made)
        {
            return found(first);
        }
    }
    let asks = is_in_lists(first, &[ASKS, SHOWS]);
    let ends = is_strong(last) && (count == 2 && is_thing(first) || called && !asks || named)
        || count == 2 && is_in_lists(last, &[ALSO]) && thing(first) && !slug;
    (ends && (!slug || is_thing(first))).then(|| last.clone())
}

fn verb_in_query(
    segments: &[Segment],
    query: &[(String, String)],
    carries: bool,
    is_safe: bool,
) -> Option<String> {
    let named = query.iter().any(|it| names_one(&it.0, &it.1));
    let by_id = query.iter().any(|it| is_id_name(&it.0));
    let is_statement =
        segments.iter().any(|it| it.words.iter().any(|it| is_in_lists(it, &[STORES])));
    for (name, value) in query {
        let key = name.to_ascii_lowercase();
        // A POST carries them whatever it does.
        if is_safe
            && PROOFS.contains(&key.as_str())
            && !query.iter().any(|it| it.0 == "_wp_http_referer")
        {
            return Some(key);
        }
        let asked = key == "q" && segments.iter().any(|it| !it.is_program());
        let is_path = value.bytes().all(|it| it.is_ascii_alphanumeric() || b"/_.-".contains(&it))
            && (value.contains('/') || PAGES.contains(&key.as_str()));
        let is_special = key == "title" && value.starts_with("Special:");
        if (PATHS.contains(&key.as_str()) && is_path && !asked) || is_special {
            let found = verb_in_path(&self::segments(value), &[], carries, false);
            if found.is_some() {
                return found;
            }
        } else if PATHS.contains(&key.as_str()) && key != "q" {
            let all = words(value);
            let first = all.first().filter(|it| by_id && is_strong(it) && all.len() <= 3);
            let leaves = all.first().filter(|it| all.len() == 1 && is_in_lists(it, &[LEAVING]));
            if let Some(word) = first.or(leaves) {
                return Some(word.clone());
            }
        }
        let searches = matches!(key.as_str(), "q" | "query");
        if (!searches || is_statement || key == "query" && segments.is_empty())
            && let Some(word) = statement_verb(self::key(name), value, searches)
        {
            return Some(word);
        }
        if let Some(word) = verb_in_pair(name, value, carries, named) {
            return Some(word);
        }
    }
    None
}

/// The verb that a name and its value say.
pub fn verb_in_pair(name: &str, value: &str, carries: bool, named: bool) -> Option<String> {
    let key = key(name);
    let lower = key.to_ascii_lowercase();
    if matches!(&*lower, "_method" | "_httpmethod" | "x-http-method-override" | "x-http-method") {
        let method = value.trim().to_ascii_uppercase();
        return (!matches!(&*method, "" | "GET" | "HEAD" | "POST"))
            .then(|| method.to_ascii_lowercase());
    }
    let is_off = matches!(value.trim().to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off");
    let turns =
        matches!(&*lower, "turn" | "power" | "toggle") && matches!(value, "on" | "off" | "toggle");
    if turns {
        return Some(lower);
    }
    let found = verb_in_action(lower.trim_start_matches('_'), value, carries, named);
    if found.is_some() || is_off {
        return found;
    }
    let all = words(key);
    let prefixed = all.len() > 1 && is_in_lists(&all[0], &[PREFIXES]);
    let all = if prefixed { &all[1..] } else { &all[..] };
    let (first, last) = (all.first()?, all.last()?);
    if all.len() == 1 {
        return NAMED.contains(&first.as_str()).then(|| first.clone());
    }
    let of_id = matches!(last.as_str(), "id" | "ids") && is_strong(first);
    let does = NAMED.contains(&first.as_str()) && (of_id || is_thing(last))
        || matches!(first.as_str(), "clear" | "empty") && is_in_lists(last, &[EMPTIES]);
    if does && all.len() <= 4 {
        return Some(first.clone());
    }
    let done =
        all.len() == 2 && is_thing(first) && is_strong(last) && NAMED.contains(&last.as_str());
    (done || LEAVING.contains(&last.as_str()) && all.len() <= 3).then(|| last.clone())
}

/// The verb that is a parameter's value, where its name says that it is one.
fn verb_in_action(key: &str, value: &str, carries: bool, named: bool) -> Option<String> {
    let is_button = BUTTONS.contains(&key);
    if !is_button && !ACTIONS.contains(&key) {
        return None;
    }
    let all = words(value);
    let (first, last) = (all.first()?, all.last()?);
    if all.len() > 5 {
        return None;
    }
    if is_button {
        let also = is_in_lists(first, &[ALSO]) && (named || all.len() > 1 && is_thing(last));
        let does = is_strong(first)
            || also
            || is_in_lists(first, &[LOOSE, PRESSED])
            || named && key == "a" && is_in_lists(first, &[BEHIND]);
        return does.then(|| first.clone());
    }
    // `findAndDelete` does.
    let asks =
        is_in_lists(first, &[ASKS, SHOWS]) && !all.iter().any(|it| it == "and" || it == "or");
    let anywhere = all.iter().find(|it| !asks && is_in_lists(it, &[VERBS, LOOSE]));
    let at_an_end = [first, last]
        .into_iter()
        .find(|it| is_in_lists(it, &[BEHIND]) || carries && is_in_lists(it, &[FORMS]));
    let parted = || split_verb(&all.concat(), &[VERBS, LOOSE, BEHIND]).filter(|_| !asks);
    anywhere.or(at_an_end).cloned().or_else(|| parted().map(ToOwned::to_owned))
}

/// What some call an order in a body: `{"type": "delete", "args": …}`.
pub fn typed_command(key: &str, value: &str) -> Option<String> {
    let all = words(value);
    let first = all
        .first()
        .filter(|it| is_in_lists(it, &[VERBS, WRITES, STATES, &["bulk", "run", "set"]]))?;
    (key.eq_ignore_ascii_case("type") && all.len() <= 3).then(|| first.clone())
}

fn is_id_name(name: &str) -> bool {
    let name = key(name);
    let lower = name.to_ascii_lowercase();
    let ends = |it: &str| matches!(it, "id" | "ids") || it.ends_with("_id") || it.ends_with("_ids");
    ends(&lower) || ["Id", "ID", "Ids", "IDs"].iter().any(|it| name.ends_with(it))
}

/// Whether a parameter names one thing that something could be done to.
fn names_one(name: &str, value: &str) -> bool {
    let lower = key(name).to_ascii_lowercase();
    if COUNTS.contains(&lower.as_str()) || lower.starts_with("utm_") {
        // To whom or where to; otherwise until when.
        return lower == "to" && value.starts_with(char::is_alphabetic);
    }
    let is_number = !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
    !value.is_empty() && (is_id_name(name) || ONE.contains(&lower.as_str()) || is_number)
}

/// Whether a parameter says no more than what a page is about.
fn is_subject_name(name: &str) -> bool {
    let lower = key(name).to_ascii_lowercase();
    let bare = lower.trim_start_matches('_');
    is_in_lists(&lower, &[ABOUT])
        || is_in_lists(bare, &[ACTIONS])
        || is_id_name(name)
        || lower.starts_with("utm_")
}

/// What a path says, by its last segment that says anything: a word that asks, or a verb. Behind a word that asks may stand what is
/// made there: `POST /search/alerts`. `is_answered`: where an answer speaks for it as well, more words ask; `POST /filter`, `/list`,
/// `/view` and `/notifications/read` may make, count or mark something.
pub fn path_meaning(segments: &[Segment], is_answered: bool) -> NameMeaning {
    // Algolia's; elsewhere a plural is what is made.
    if segments.iter().any(|it| it.is(&["indexes"]))
        && segments.last().is_some_and(|it| it.is(&["queries"]))
    {
        return NameMeaning::Reads;
    }
    for (at, it) in segments.iter().enumerate().rev().filter(|it| !it.1.is_id()) {
        let text = if it.extension.is_empty() { &it.text } else { &it.stem };
        let made = it.words.iter().find(|it| is_in_lists(it, &[MADE]));
        match operation_says(text) {
            // `/results/like`: nobody knows what is done there.
            NameMeaning::Nothing if it.words.len() == 1 && it.is(BOTH) => {
                return NameMeaning::Nothing;
            }
            NameMeaning::Nothing => {}
            // `/query-history`: what was asked is kept there.
            NameMeaning::Reads if is_record_of_questions(it) => {
                return NameMeaning::Changes(it.words[it.words.len() - 1].clone());
            }
            NameMeaning::Reads
                if it.words.len() == 1
                    && !it.is(ASKS)
                    && !(is_answered && it.is(CALLED) && !is_ticked(segments, at)) => {}
            // `/block-renderer`, `/order_book`.
            NameMeaning::Changes(word) if is_in_lists(&word, &[BOTH]) && it.words.len() > 1 => {}
            said => return said,
        }
        let before = &segments[..at];
        if let Some(word) = made
            .filter(|_| before.iter().any(|it| it.words.iter().any(|it| is_in_lists(it, &[ASKS]))))
        {
            return NameMeaning::Changes(word.clone());
        }
    }
    NameMeaning::Nothing
}

/// Whether the segment is `check` behind the number of a thing: `/tasks/17/check` ticks it off.
fn is_ticked(segments: &[Segment], at: usize) -> bool {
    segments[at].is(&["check"]) && at > 0 && segments[at - 1].is_id()
}

/// Whether a segment names what is kept of questions: `/query-history`, `/search_alerts`, and not `/get-history`.
pub fn is_record_of_questions(it: &Segment) -> bool {
    let is = |at: Option<&String>, list: &[&str]| at.is_some_and(|it| is_in_lists(it, &[list]));
    it.words.len() == 2
        && is(it.words.first(), &["browse", "lookup", "query", "search"])
        && is(it.words.last(), MADE)
}

/// Whether a path ends at a collection in which what is posted is kept (`/orders`, `/cart`), or where a site is told something.
pub fn is_stored_collection(segments: &[Segment]) -> bool {
    let one = |it: &str| it.strip_suffix('s').unwrap_or(it).to_owned();
    let told = |it: &Segment| it.words.iter().any(|it| is_in_lists(&one(it), &[COUNTED]));
    let last = segments.iter().rev().find(|it| !it.is_id());
    let kept =
        |it: &Segment| it.words.len() == 1 && is_in_lists(&one(&it.plain), &[BOTH, BUYING, CARTS]);
    last.is_some_and(kept) || segments.iter().any(told)
}

/// Whether a path is one at which everything is called by its name in the request, so that it says nothing itself.
pub fn is_endpoint(segments: &[Segment]) -> bool {
    let is = |it: &Segment| {
        let of_words = it
            .words
            .last()
            .is_some_and(|it| is_in_lists(it, &[&["ajax", "jsonrpc", "rpc", "xmlrpc"]]));
        it.is(ENDPOINTS)
            || of_words
            || it.raw.strip_prefix('v').is_some_and(|it| it.parse::<u8>().is_ok())
    };
    match segments {
        [] => true,
        // Before the name itself, or the framework's own way to say so.
        [.., before, last] => {
            let framework = |it: &Segment| it.is(&["livewire", "trpc", "callkw"]);
            let is_named = last.raw.rfind(':').is_some_and(|at| at > 0);
            is(last)
                || last.is_page()
                || before.is_page()
                || is_named
                || segments.iter().any(framework)
        }
        [last] => is(last) || last.is_page(),
    }
}

/// What a procedure of that name makes, where values go to it by the query: `/dns.zone_record_create?name=www`. A page with a form
/// has a name like that as well; it is no data.
pub fn creating_procedure(url: &Url, segments: &[Segment]) -> Option<String> {
    let last = segments.iter().rev().find(|it| !it.is_id())?;
    let word = last.words.last().filter(|_| last.words.len() > 1 && url.query().is_some())?;
    is_in_lists(word, &[FORMS, &["add", "change", "edit"]]).then(|| word.clone())
}

/// What of an address goes on with what a control or a task said that is done: `/order?sku=7` after "Order".
pub fn matching_address_part(url: &Url, segments: &[Segment], verb: &str) -> Option<String> {
    // A GET shows a form.
    if is_in_lists(verb, &[FORMS, &["edit", "add", "change"]]) {
        return None;
    }
    let query = pairs(url);
    let stem = verb.trim_end_matches('e');
    let of_verb = |it: &String| it.starts_with(stem) && it.len() <= verb.len() + 3;
    // A key alone is a call: `?3-1.-table-rows-4-delete`.
    let mut calls = query.iter().filter(|it| it.1.is_empty());
    if let Some(it) = calls.find(|it| words(&it.0).iter().any(of_verb)) {
        return Some(it.0.clone());
    }
    // `?mark=forums` after "Mark forums read".
    let is_verb = !is_in_lists(verb, &[BOTH]);
    if let Some(it) =
        query.iter().find(|it| is_verb && words(key(&it.0)).first() == Some(&verb.to_owned()))
    {
        return Some(it.0.clone());
    }
    let named = query.iter().any(|it| names_one(&it.0, &it.1));
    if let Some(it) = query.iter().find(|it| is_strong(verb) && names_one(&it.0, &it.1)) {
        return Some(it.0.clone());
    }
    let amount = query.iter().find(|it| {
        matches!(
            &*key(&it.0).to_ascii_lowercase(),
            "qty" | "quantity" | "amount" | "count" | "stars" | "value"
        )
    });
    let says = segments.iter().flat_map(|it| &it.words).find(|it| of_verb(it));
    if let Some(word) =
        says.filter(|_| named || amount.is_some() || segments.iter().any(Segment::is_id))
    {
        return Some(word.clone());
    }
    amount.filter(|_| named).map(|it| it.0.clone())
}

/// Why a GET of GraphQL may change something. By its protocol none may, but not every server holds to that.
pub fn graphql_by_get(url: &Url, segments: &[Segment]) -> Option<String> {
    let is = |it: &Segment| it.words.iter().any(|it| is_in_lists(it, &[&["graphql", "gql"]]));
    let at = segments
        .iter()
        .position(is)
        .or_else(|| segments.len().checked_sub(1).filter(|it| segments[*it].is(&["graph"])));
    for (name, value) in pairs(url) {
        let key = key(&name).to_ascii_lowercase();
        let says = value.to_ascii_lowercase().contains("mutation") || value.contains("\\u00");
        if says && (value.contains('{') || at.is_some() && is_in_lists(&key, &[CALLS])) {
            return Some("is a GraphQL mutation".to_owned());
        }
        let called =
            at.and_then(|_| operation_verb(&value)).filter(|_| is_in_lists(&key, &[CALLS]));
        if let Some(word) = called.filter(|_| !value.contains('{')) {
            return Some(format!("calls an operation about `{word}`"));
        }
    }
    let is_title = segments.iter().any(|it| it.is(TITLED));
    let behind = segments.iter().skip(at? + 1).filter(|it| !is_title && !it.raw.contains('-'));
    let found = behind.map(|it| it.words.join(" ")).find_map(|it| operation_verb(&it))?;
    Some(format!("calls an operation about `{found}`"))
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
