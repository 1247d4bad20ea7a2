//! What stands in the body of a POST: whether it is a question.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    Call, Effect,
    address::{key, typed_command, verb_in_pair},
    criteria, fields,
    names::{NameMeaning, adjusts_view, operation_meaning},
    verbs::{
        ABOUT, ACTIONS, AMOUNTS, BOTH, CHANGING, COUNTS, LEADS, LISTED, ONE, QUESTIONS, SEARCHED,
        STATED, STATES, TECHNICAL, TEXTS, is_action, is_in_lists, is_strong, statement_verb, words,
        words_within,
    },
};

/// A body, as it is known where the request is judged.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    None,
    Bytes(Cow<'a, [u8]>),
    Json(&'a Value),
    /// Names and values of a form, decoded.
    Form(Vec<(&'a str, &'a str)>),
    /// There is one that cannot be seen.
    Opaque,
}

/// How much of a body is a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// It names how much of what, or one thing beside what is not known, or cannot be taken apart.
    Thing,
    /// It names things by their number, and nothing else.
    One,
    /// It is not known what it says.
    Other,
    Empty,
    /// It says which ones, and nothing else.
    Bound,
    /// A question stands beside what is not known.
    Some,
    /// All of it asks.
    Whole,
    /// It asks for a part of a list.
    List,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Question,
    Paging,
    Bound,
    Technical,
    Amount,
    One,
    Other,
}

/// A body taken apart.
pub struct Body<'a> {
    /// It is nothing but a word or a few, sent as plain text.
    pub is_words: bool,
    /// `None` where it cannot be taken apart.
    pub fields: Option<Vec<(String, String)>>,
    /// Documents of JSON in it: one, or one a line.
    pub json: Vec<Cow<'a, Value>>,
    pub text: Option<Cow<'a, str>>,
    empty: bool,
}

impl<'a> Body<'a> {
    /// `None` where there is one that nobody can see.
    pub fn parse(call: &'a Call<'_>) -> Option<Self> {
        let kind = call.header("content-type").unwrap_or_default();
        Some(match &call.content {
            Content::None => Self {
                fields: Some(Vec::new()),
                json: Vec::new(),
                text: None,
                empty: true,
                is_words: false,
            },
            Content::Bytes(bytes) if bytes.is_empty() => Self {
                fields: Some(Vec::new()),
                json: Vec::new(),
                text: None,
                empty: true,
                is_words: false,
            },
            Content::Bytes(bytes) => {
                let text = std::str::from_utf8(bytes).ok().map(Cow::Borrowed);
                let json = text.as_deref().map(fields::parse_documents).unwrap_or_default();
                let is_words = kind.starts_with("text/plain")
                    && json.is_empty()
                    && text.as_deref().is_some_and(is_few_words);
                let json = json.into_iter().map(Cow::Owned).collect();
                Self {
                    fields: fields::parse_fields(kind, bytes),
                    json,
                    text,
                    empty: false,
                    is_words,
                }
            }
            Content::Json(value) => {
                let fields = fields::json_fields(value);
                Self {
                    fields,
                    json: vec![Cow::Borrowed(*value)],
                    text: None,
                    empty: false,
                    is_words: false,
                }
            }
            Content::Form(all) => {
                let own = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
                let fields = Some(all.iter().map(own).collect::<Vec<_>>());
                Self {
                    fields,
                    json: Vec::new(),
                    text: None,
                    empty: all.is_empty(),
                    is_words: false,
                }
            }
            Content::Opaque => return None,
        })
    }

    /// It is nothing that can be taken apart, and no call in a coding of its own either.
    pub fn is_hidden(&self, call: &Call<'_>) -> bool {
        let kind = call.header("content-type").unwrap_or_default();
        let is_call = ["grpc", "proto", "xml", "connect+"].iter().any(|it| kind.contains(it));
        let is_query = self.text.as_deref().is_some_and(|it| {
            it.starts_with(['<', '$'])
                || it.contains("-methodName=")
                || call.header("x-gwt-permutation").is_some()
        });
        self.fields.is_none() && !is_call && !is_query && !self.is_words
    }

    /// Nothing is said in it: `{}` is empty, too.
    pub fn is_empty(&self) -> bool {
        self.empty || self.fields.as_ref().is_some_and(|it| it.iter().all(|it| it.1.is_empty()))
    }

    pub fn pairs(&self) -> &[(String, String)] {
        self.fields.as_deref().unwrap_or_default()
    }

    /// The value of a form's field or of a member of the whole.
    pub fn value(&self, name: &str) -> Option<&str> {
        let is = |it: &&(String, String)| it.0.trim_start_matches('/').eq_ignore_ascii_case(name);
        self.pairs().iter().find(is).map(|it| it.1.as_str())
    }

    /// Whether a button of that name stands in it, as a form sends the one that was pressed.
    pub fn has_button(&self, label: &str) -> bool {
        let is_short = |name: &str| !name.contains('/') && name.len() <= 30;
        self.json.is_empty() && self.pairs().iter().any(|it| it.1 == label && is_short(&it.0))
    }

    /// What of it says that something is done.
    pub fn change_reason(&self) -> Option<String> {
        for (name, value) in self.pairs() {
            let key = key(name);
            // What is called is judged by its name elsewhere.
            let said = Some(())
                .filter(|()| !is_action(name))
                .and_then(|()| verb_in_pair(name, value, true, true))
                .or_else(|| statement_verb(key, value, false))
                .or_else(|| typed_command(key, value));
            if let Some(word) = said.or_else(|| change_verb_in_field(name, value)) {
                return Some(format!("is about `{word}`"));
            }
        }
        None
    }

    /// Whether a text stands in it that would be kept.
    pub fn has_stored_text(&self) -> bool {
        self.pairs().iter().any(|(name, value)| {
            // `indexName` names what is searched.
            is_text_field(name) && !value.trim().is_empty() && !is_program(value)
        })
    }

    /// Whether it does in a field by itself: `{"elements": [{"name": "x"}]}` names what is asked for.
    pub fn has_filled_text(&self) -> bool {
        self.pairs().iter().any(|(name, value)| {
            let mut parts = name.split('/').rev().skip(1);
            let is_listed =
                parts.any(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
            is_text_field(name) && !value.trim().is_empty() && !is_listed && !is_program(value)
        })
    }

    pub fn question(&self) -> Question {
        let Some(fields) = &self.fields else { return Question::Thing };
        let mut has = [false; 7];
        // Conditions ask, whatever they compare and whatever they are called.
        let conditions: Vec<String> =
            self.json.iter().flat_map(|it| criteria::find_conditions(it)).collect();
        let is_condition = |name: &str| {
            conditions.iter().any(|it| {
                name.strip_prefix(it.as_str())
                    .is_some_and(|it| it.is_empty() || it.starts_with('/'))
            }) || criteria::is_comparing_field(name)
        };
        for (name, value) in fields {
            let kind = if is_condition(name) { Kind::Question } else { kind(name, value) };
            has[kind as usize] |= !value.is_empty() || kind == Kind::Question;
        }
        let is = |it: Kind| has[it as usize];
        let asks = is(Kind::Question) || is(Kind::Paging);
        if is(Kind::One) && !asks && !is(Kind::Amount) && !is(Kind::Other) {
            return Question::One;
        }
        if is(Kind::Amount) || is(Kind::One) && !asks {
            return Question::Thing;
        }
        match (is(Kind::Other) || is(Kind::One), asks) {
            (true, true) => Question::Some,
            (true, false) => Question::Other,
            (false, true) if is(Kind::Paging) && is(Kind::Question) || self.is_listed() => {
                Question::List
            }
            (false, true) => Question::Whole,
            (false, false) if is(Kind::Bound) => Question::Bound,
            (false, false) => Question::Empty,
        }
    }

    /// Whether it is one statement of a query language or more, each of which asks, and says nothing else of weight. `is_asked`: the
    /// address asks, so that clauses of a language that is not known are a question and no prose.
    pub fn is_statement(&self, is_asked: bool) -> bool {
        if let Some(text) = self.text.as_deref().filter(|_| self.fields.is_none()) {
            return is_reading_statement(text, is_asked);
        }
        let mut found = false;
        for (name, value) in self.pairs() {
            let is_stated =
                words(key(name)).iter().any(|it| is_in_lists(it, &[STATED, &["query"]]));
            if is_stated && value.contains(char::is_whitespace) {
                if !is_reading_statement(value, is_asked) {
                    return false;
                }
                found = true;
            } else if !name.contains("param")
                && !matches!(kind(name, value), Kind::Technical | Kind::Paging | Kind::Bound)
            {
                return false;
            }
        }
        found
    }

    /// Whether it asks for the rows of a table as components for tables do: where a part begins and how long it is, with a counter of
    /// requests, the columns or the order.
    pub fn is_grid(&self) -> bool {
        let named: Vec<String> = self
            .pairs()
            .iter()
            .map(|it| it.0.trim_start_matches('/').to_ascii_lowercase())
            .collect();
        let has = |it: &str| named.iter().any(|name| name == it);
        let begins = |it: &str| named.iter().any(|name| name.starts_with(it));
        let tables = has("draw") && has("start") && has("length");
        let jq = has("rows") && has("page") && has("sidx") && has("sord");
        let adaptor = has("skip") && has("take") && (begins("sort") || has("requirescounts"));
        let rest = |it: &(String, String)| {
            let kind = kind(&it.0, &it.1);
            matches!(kind, Kind::Amount) || is_action(&it.0)
        };
        (tables || jq || adaptor) && !self.pairs().iter().any(rest)
    }

    /// Whether identifiers are listed in it: they may be set as well as asked for.
    pub fn lists_identifiers(&self) -> bool {
        self.pairs().iter().any(|it| is_listed_identifier(&it.0, &it.1))
    }

    /// Whether it says how much is wanted, and from where on or in which order: nobody says so of what is to be done.
    pub fn is_listing(&self) -> bool {
        const HOW_MUCH: &[&str] =
            &["count", "hitsperpage", "limit", "pagesize", "perpage", "size", "take", "top"];
        const WHERE: &[&str] = &[
            "after",
            "before",
            "continuation",
            "cursor",
            "from",
            "marker",
            "maxid",
            "minid",
            "nexttoken",
            "offset",
            "p",
            "page",
            "pageindex",
            "pageno",
            "pagenumber",
            "pagetoken",
            "sinceid",
            "skip",
            "start",
            "startafter",
            "startingafter",
            "untilid",
        ];
        let plain = |it: &str| key(it).to_ascii_lowercase().replace(['-', '_'], "");
        let sorts = |it: &str| {
            it.to_ascii_lowercase().contains("sort")
                || plain(it).starts_with("orderby")
                || is_in_lists(&plain(it), &[WHERE])
        };
        self.pairs().iter().any(|it| sorts(&it.0))
            && self.pairs().iter().any(|it| is_in_lists(&plain(&it.0), &[HOW_MUCH]))
    }

    /// Two values of paging at least: where a part begins, and how long it is.
    fn is_listed(&self) -> bool {
        let all = self.pairs().iter();
        let numbers = all.filter(|it| {
            kind(&it.0, &it.1) == Kind::Paging && it.1.bytes().all(|it| it.is_ascii_digit())
        });
        numbers.count() >= 2
    }
}

/// Of a line that names something: letters, digits and what joins words.
fn is_few_words(text: &str) -> bool {
    const MOST: usize = 80;
    let plain = |it: char| it.is_alphanumeric() || matches!(it, ' ' | '-' | '\'' | '.' | '_');
    let text = text.trim();
    !text.is_empty() && text.len() <= MOST && text.chars().all(plain) && words(text).len() <= 5
}

/// Clauses of query languages. A text with several of them, marks between them and no word of a change asks.
#[rustfmt::skip]
const CLAUSES: &[&str] = &[
    "aggregate", "asc", "by", "count", "desc", "distinct", "extend", "fields", "filter", "find", "from", "group", "groupby", "having", "include", "join", "limit", "match",
    "mean", "offset", "order", "orderby", "out", "project", "range", "return", "search", "select", "skip", "sort", "stats", "sum", "summarize", "take", "top", "union", "where",
];

/// Bytes of a statement that is judged. A longer one may change something behind them.
const LONGEST_STATEMENT: usize = 20_000;

/// Whether a text is a question in any query language: two clauses or more, and marks as such languages have.
fn is_clauses(text: &str, all: &[String]) -> bool {
    const MARKS: &[char] = &['|', '(', '=', '<', '>', '[', '{', ';', '*', '~'];
    const MORE: &[&str] = &[
        "copy", "detach", "foreach", "into", "kill", "load", "put", "save", "set", "store", "stop",
        "to", "write",
    ];
    let mut clauses: Vec<&String> = all.iter().filter(|it| is_in_lists(it, &[CLAUSES])).collect();
    clauses.sort_unstable();
    clauses.dedup();
    let marks = text.matches(MARKS).count();
    clauses.len() >= 2
        && marks >= 2
        && !text.trim_start().starts_with(['.', '<'])
        && !all.iter().any(|it| is_in_lists(it, &[STATES, CHANGING, MORE]) || is_strong(it))
}

/// Whether a text is a statement of a query language that asks: `SELECT …`, `MATCH … RETURN …`.
fn is_reading_statement(text: &str, is_asked: bool) -> bool {
    if text.len() > LONGEST_STATEMENT {
        return false;
    }
    let all = words_within(text, LONGEST_STATEMENT);
    if is_asked && is_clauses(text, &all) {
        return true;
    }
    let begins = all.first().is_some_and(|it| is_in_lists(it, &[LEADS, &["ask", "describe"]]));
    let asks = all.iter().any(|it| matches!(it.as_str(), "select" | "return" | "ask" | "describe"));
    let is_prose =
        !text.contains(['{', '(', '*', '=', '?', '.', ',']) && !all.iter().any(|it| it == "from");
    begins
        && asks
        && !is_prose
        && !all.iter().any(|it| {
            is_in_lists(it, &[STATES, &["copy", "detach", "foreach", "into", "load", "set"]])
        })
}

/// The verb that a field's name is, or its value as programs write them.
fn change_verb_in_field(name: &str, value: &str) -> Option<String> {
    if kind(name, value) != Kind::Other || name.contains(".faces.") {
        return None;
    }
    let is_off = matches!(value, "" | "0" | "false" | "no" | "off");
    let all = words(key(name));
    if adjusts_view(&all, true) {
        return None;
    }
    // The day of `checkIn` is when something is meant for.
    let is_day = value.as_bytes().get(..10).is_some_and(|day| {
        let dash = |at: usize| matches!(at, 4 | 7);
        day.iter().enumerate().all(|(at, it)| dash(at) == (*it == b'-'))
            && day.iter().all(|it| it.is_ascii_digit() || *it == b'-')
    });
    let does =
        |it: &&String| is_strong(it) || is_in_lists(it, &[CHANGING]) && !(is_day && all.len() == 1);
    if let Some(word) = all.first().filter(does).filter(|_| !is_off) {
        return Some(word.clone());
    }
    let is_name = value.len() <= 40
        && value.bytes().all(|it| it.is_ascii_alphabetic() || b"_.:".contains(&it))
        && words(value).len() > 1;
    match operation_meaning(value) {
        NameMeaning::Changes(word) if is_name && !is_in_lists(&word, &[BOTH]) => Some(word),
        _ => None,
    }
}

fn kind(name: &str, value: &str) -> Kind {
    let parts: Vec<&str> = name.split(['/', '[', ']', '.']).filter(|it| !it.is_empty()).collect();
    let named: Vec<String> = parts
        .iter()
        .filter(|it| !it.bytes().all(|it| it.is_ascii_digit()))
        .map(|it| it.to_ascii_lowercase().replace(['-', '_'], ""))
        .collect();
    let Some(last) = named.last() else { return Kind::Other };
    let has = |list: &[&str]| named.iter().any(|it| is_in_lists(it, &[list]));
    let is_name = |it: &&&str| !it.bytes().all(|it| it.is_ascii_digit());
    let all = words(parts.iter().rev().find(is_name).copied().unwrap_or_default());
    let says = |list: &[&str]| all.iter().any(|it| is_in_lists(it, &[list]));
    if is_in_lists(last, &[TECHNICAL]) || says(TECHNICAL) {
        return Kind::Technical;
    }
    let flag = matches!(value, "true" | "false" | "0" | "1")
        && all.first().is_some_and(|it| {
            matches!(it.as_str(), "include" | "with" | "show" | "return" | "is" | "has" | "only")
        });
    if flag {
        return Kind::Bound;
    }
    // A question in a coding of its own: `{"params": "query=x&hitsPerPage=10"}`.
    let inner = last == "params" && (value.contains("query=") || value.contains("hitsPerPage="));
    // `searchword`, `searchString`.
    let is_asked = has(QUESTIONS) || says(QUESTIONS) || inner || last.starts_with("search");
    if !is_asked && (is_in_lists(last, &[AMOUNTS]) || says(AMOUNTS)) {
        return Kind::Amount;
    }
    if is_asked {
        return Kind::Question;
    }
    // `{"properties": ["email"]}` says what of each is wanted, and `{"properties": {"email": "x"}}` sets it.
    let is_chosen = parts.last().is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
        && is_in_lists(last, &[CHOSEN])
        && !value.contains(char::is_whitespace);
    if is_chosen || has(LISTED) || says(LISTED) || last.starts_with("sort") {
        return Kind::Paging;
    }
    if is_in_lists(last, &[COUNTS])
        || says(BOUNDS)
        || is_in_lists(last, &[ABOUT]) && !is_in_lists(last, &[ACTIONS])
    {
        return Kind::Bound;
    }
    let ends = |it: &str| matches!(it, "id" | "ids" | "key");
    if is_in_lists(last, &[ONE]) || all.last().is_some_and(|it| ends(it)) {
        return Kind::One;
    }
    if is_listed_identifier(name, value) { Kind::Bound } else { Kind::Other }
}

/// Whether a member is one of a list of identifiers: `{"collections": ["a", "b"]}` says which ones.
fn is_listed_identifier(name: &str, value: &str) -> bool {
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let parts: Vec<&str> = name.split(['/', '[', ']', '.']).filter(|it| !it.is_empty()).collect();
    let Some(list) = parts.iter().rev().find(|it| !is_number(it)) else { return false };
    let list = list.to_ascii_lowercase().replace(['-', '_'], "");
    let is_item =
        parts.len() > 1 && parts.last().is_some_and(|it| is_number(it)) && name.starts_with('/');
    let is_identifier = !value.is_empty()
        && value.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.:".contains(&it));
    is_item && is_identifier && list.ends_with('s') && !is_in_lists(&list, &[ACTIONS])
}

/// What says which ones of many.
#[rustfmt::skip]
const BOUNDS: &[&str] = &[
    "arrival", "brand", "category", "categories", "city", "country", "currency", "date", "departure",
    "destination", "from", "genre", "language", "lat", "latitude", "lng", "lon", "longitude", "max", "min",
    "month", "origin", "passengers", "period", "radius", "range", "region", "since", "state", "status", "tags",
    "to", "type", "types", "until", "when", "year", "zip",
];

/// Lists of what is wanted of each.
const CHOSEN: &[&str] = &["attributes", "expand", "include", "includes", "properties", "select"];

/// Whether a field is one in which a question stands.
#[cfg(test)]
pub fn is_question_field(name: &str) -> bool {
    kind(name, "x") == Kind::Question
}

/// A value that names what a program is to look up: `getManager`.
pub fn is_program(value: &str) -> bool {
    value.bytes().all(|it| it.is_ascii_alphanumeric())
        && value.starts_with(|it: char| it.is_ascii_lowercase())
        && words(value).len() > 1
        && operation_meaning(value) == NameMeaning::Reads
}

/// Whether a field is one in which a text to be kept stands.
pub fn is_text_field(name: &str) -> bool {
    let all = words(key(name));
    let is = all.last().is_some_and(|it| is_in_lists(it, &[TEXTS]));
    is && !is_in_lists(&all[0], &[SEARCHED]) && kind(name, "x") != Kind::Question
}

/// Whether every request of a batch reads; `None` where it is none, or cannot be taken apart.
pub fn judge_batch_parts(
    body: &Body<'_>,
    base: &url::Url,
    each: impl Fn(&Call<'_>) -> Effect,
) -> Option<Result<(), String>> {
    let mut all: Vec<(String, String, Option<Value>)> = Vec::new();
    for it in body.json.iter().filter_map(|it| it.get("requests").and_then(Value::as_array)) {
        for one in it {
            let method = one.get("method").and_then(Value::as_str)?;
            let url =
                ["url", "path", "relative_url"].iter().find_map(|it| one.get(it)?.as_str())?;
            all.push((method.to_ascii_uppercase(), url.to_owned(), one.get("body").cloned()));
        }
    }
    if let Some(text) = body.text.as_deref().filter(|_| body.json.is_empty()) {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            if let (Some(method), Some(url), Some(version)) =
                (words.next(), words.next(), words.next())
                && version.starts_with("HTTP/")
            {
                all.push((method.to_owned(), url.to_owned(), None));
            }
        }
    }
    if all.is_empty() {
        return None;
    }
    for (method, url, inner) in &all {
        let Ok(url) = base.join(url) else {
            return Some(Err("holds an address that is none".to_owned()));
        };
        let content = inner.as_ref().map_or(Content::None, Content::Json);
        let call = Call { method, url: url.as_str(), headers: Vec::new(), content };
        if let Effect::MayChange(why) = each(&call) {
            return Some(Err(format!("is a batch in which {why}")));
        }
    }
    Some(Ok(()))
}
