//! What a request does: does it only read, or may it change something?
//!
//! One judgement for everything that sends or repeats a request: learning, verification, healing, replay, what leaves a browser that
//! holds requests back, and what is said of a recipe to others. It takes what is known at that place: before a request leaves, the
//! request and what was pressed ([`judge_before_send`]); of a recording, the answer and the task as well ([`judge_recorded`]); of a
//! recipe, its template ([`recipe_effect`]).
//!
//! - Evidence of a change ends it: a method, an override, a verb where verbs stand (address, header, field, operation, control), an
//!   action of a framework, a statement, a text that is kept.
//! - What is not known to read may change something. A GET, HEAD or OPTIONS is known to read by its definition; a POST by a GraphQL
//!   document without a mutation, or by two kinds of evidence that agree: the name of what is called (a word of the path is one), a body
//!   that is a question, an answer that is data, a control that asks.
//! - Nouns are no verbs: `order_book` is neither. A word of a path alone is no evidence that a POST reads.
//!
//! What no rule can tell is in [`address`].

mod address;
mod answers;
mod body;
mod conventions;
mod criteria;
mod fields;
mod graphql;
mod headers;
mod names;
mod path_operation;
mod recorded_effect;
mod template;
mod verbs;

use url::Url;

use address::describe;
use body::{Body, Question};
use conventions::CalledOperation;
use names::NameMeaning;
use path_operation::PathPurpose;
use verbs::{ALSO, is_in_lists};

pub use body::Content;
pub use names::is_read_task;
pub use recorded_effect::{judge_recorded, judge_recorded_alone};
pub use template::recipe_effect;

/// What a request does, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is known to read.
    Reads(String),
    /// It changes something, or nobody knows that it does not.
    MayChange(String),
}

impl Effect {
    fn reads(why: impl Into<String>) -> Self {
        Self::Reads(why.into())
    }

    /// Whether it only reads.
    pub const fn is_read(&self) -> bool {
        matches!(self, Self::Reads(_))
    }

    /// `Err` says why it may change something.
    pub fn into_result(self) -> Result<(), String> {
        match self {
            Self::Reads(_) => Ok(()),
            Self::MayChange(why) => Err(why),
        }
    }
}

/// A request that is judged.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub method: &'a str,
    pub url: &'a str,
    /// As the page or the recipe makes them; what a browser adds by itself may be missing.
    pub headers: Vec<(&'a str, &'a str)>,
    pub content: Content<'a>,
}

impl<'a> Call<'a> {
    /// A request without headers of its own and without a body.
    pub const fn get(url: &'a str) -> Self {
        Self { method: "GET", url, headers: Vec::new(), content: Content::None }
    }

    /// A request that is about to leave a browser, with headers as its page made them. `is_opaque`: not all of its body can be seen.
    pub fn from_outgoing(
        (method, url): (&'a str, &'a str),
        headers: &'a [(String, String)],
        body: Option<&'a [u8]>,
        is_opaque: bool,
    ) -> Self {
        let content = match body.filter(|it| !it.is_empty()) {
            _ if is_opaque => Content::Opaque,
            None => Content::None,
            Some(it) => Content::Bytes(it.into()),
        };
        let headers = headers.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
        Self { method, url, headers, content }
    }

    fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1)
    }
}

/// A control that was used just before a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PressedControl {
    /// The accessible role, such as `button`; empty where it is not known.
    pub role: String,
    /// The accessible name.
    pub name: String,
}

impl From<&(String, String)> for PressedControl {
    fn from((role, name): &(String, String)) -> Self {
        Self { role: role.clone(), name: name.clone() }
    }
}

/// What is known beside the request itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestContext<'a> {
    pub pressed: Option<&'a PressedControl>,
    /// The task sentence, where it says what was wanted.
    pub task: Option<&'a str>,
    /// How it was answered, where it was.
    pub answer: Option<Answer>,
}

/// What is known of a recorded answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// It has a list of objects, or is a page.
    pub is_list: bool,
    /// It is a page.
    pub is_page: bool,
    /// It has a list of objects, and says which part of a longer one that is.
    pub is_page_of_list: bool,
    /// It has data of any kind, and is no mere receipt.
    pub is_data: bool,
    /// The page, or the task, has something of it.
    pub is_shown: bool,
    /// It says that something was done.
    pub is_done: bool,
    /// There is nothing in it.
    pub is_nothing: bool,
    /// It went well, and has no body.
    pub is_empty_success: bool,
    /// Its items hold what was typed, each in a text of its own: they were looked for by it.
    pub is_filtered: bool,
    /// A value that was typed stands in the request where a question does.
    pub asks: bool,
    /// A value that was typed stands where a text to be kept would.
    pub keeps: bool,
}

/// How an answer's status stands to data: created, taken for later, nothing, something else first.
const fn is_data_status(status: u16) -> bool {
    matches!(status, 200 | 203 | 206)
}

impl Answer {
    /// Of an answer's text, or the beginning of it.
    #[cfg(test)]
    fn from_response(status: u16, content_type: &str, text: &str) -> Self {
        let text = text.trim();
        if !(200..300).contains(&status) || text.is_empty() {
            let is_nothing =
                status == 204 || (200..300).contains(&status) && content_type.contains("image/gif");
            let is_empty_success = (200..300).contains(&status) && text.is_empty();
            return Self { is_nothing, is_empty_success, ..Self::default() };
        }
        let is_json = content_type.contains("json");
        let is_page = content_type.contains("html") || content_type.contains("xml");
        let json = serde_json::from_str(text).ok().filter(|_| is_json);
        let is_receipt = json.as_ref().map_or_else(|| answers::is_done(text), answers::is_receipt);
        let is_list = (is_json && answers::has_list(text) || is_page) && !is_receipt;
        let is_done = !is_json && answers::is_done(text);
        let is_data = (is_data_status(status) || status == 202 && is_list) && !is_receipt;
        let is_page_of_list = json.as_ref().is_some_and(answers::has_part_of_list) && is_data;
        Self { is_list, is_page, is_page_of_list, is_data, is_done, ..Self::default() }
    }
}

/// Whether the address of a request by GET says in a verb that something is done.
pub fn names_change(url: &Url) -> bool {
    address::change_verb(url, true).is_some()
}

/// Of a request that is about to leave. `pressed`: the control that led to it.
pub fn judge_before_send(call: &Call<'_>, pressed: Option<&PressedControl>) -> Effect {
    judge(call, &RequestContext { pressed, ..RequestContext::default() })
}

/// Of a request, by everything that is known of it.
pub fn judge(call: &Call<'_>, known: &RequestContext<'_>) -> Effect {
    let parsed = Url::parse(call.url).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
    let Some(url) = parsed else {
        return Effect::MayChange(format!("{} goes to no address of the web", call.method));
    };
    let line = describe(call.method, &url);
    match weigh(call, &url, known) {
        Ok(why) => Effect::reads(format!("{line} {why}")),
        Err(why) => Effect::MayChange(format!("{line} {why}")),
    }
}

/// Of these the path is the name that is called.
fn is_grpc(call: &Call<'_>) -> bool {
    call.header("content-type").is_some_and(|it| it.starts_with("application/grpc"))
}

const UNKNOWN: &str = "shows no evidence that it only reads";

/// Why it reads, or why it may change something.
fn weigh(call: &Call<'_>, url: &Url, known: &RequestContext<'_>) -> Result<&'static str, String> {
    let unknown = || Err(UNKNOWN.to_owned());
    let is_safe = matches!(call.method, "GET" | "HEAD" | "OPTIONS");
    // Safe by the registry of methods, with a body that is the question: WebDAV's, and those of calendars.
    let is_asking = matches!(call.method, "PROPFIND" | "QUERY" | "REPORT" | "SEARCH");
    if address::is_deep(url) || !is_safe && !is_asking && call.method != "POST" {
        return unknown();
    }
    let change = address::change_verb(url, is_safe);
    if let Some(word) = change.as_ref().filter(|_| is_safe) {
        return Err(format!("is about `{word}`"));
    }
    let segments = address::segments(url.path());
    let pressed =
        known.pressed.map_or(NameMeaning::Nothing, |it| names::control_meaning(&it.role, &it.name));
    let task = known.task.map_or(NameMeaning::Nothing, names::task_meaning);
    let heads = headers::inspect_headers(call, url)?;
    if is_asking && change.is_none() {
        return Ok("is a question by its method");
    }
    if is_safe {
        if let Some(why) = address::graphql_by_get(url, &segments) {
            return Err(why);
        }
        if !matches!(call.content, Content::None) {
            return unknown();
        }
        if let Some((it, word)) =
            heads.called.iter().find_map(|it| it.says.verb().map(|word| (it, word)))
        {
            return Err(format!("calls `{}`, which is about `{word}`", it.describe()));
        }
        for said in [&pressed, &task] {
            if let NameMeaning::Changes(word) = said
                && let Some(what) = address::matching_address_part(url, &segments, word)
            {
                return Err(format!("is about `{what}`, and what was done is about `{word}`"));
            }
        }
        let answer = known.answer.unwrap_or_default();
        let acted = [&pressed, &task].into_iter().find_map(|it| it.verb());
        if let Some(word) = acted.filter(|_| answer.is_done || answer.is_empty_success) {
            return Err(format!("was answered that it is done, after something about `{word}`"));
        }
        if let Some(word) = address::creating_procedure(url, &segments)
            .filter(|_| answer.is_data && !answer.is_page)
        {
            return Err(format!("is about `{word}`"));
        }
        if answer.is_nothing && url.query().is_some() {
            return Err("tells something, and is answered with nothing".to_owned());
        }
        return Ok("is a question by its method");
    }
    let Some(body) = Body::parse(call) else { return unknown() };
    // A document says itself what it does; everything else is named.
    if graphql::is_graphql(url, &segments, &body, known.answer.is_some_and(|it| it.is_data)) {
        return graphql::judge(url, &segments, &body, (&pressed, &task), known.answer.is_some());
    }
    if let Some(each) = conventions::judge_batch(url, &body) {
        each?;
        return Ok("is a batch of questions");
    }
    let mut called = conventions::find_calls(call, url, &segments, &body);
    called.extend(heads.called);
    let question = body.question();
    // What is called says more than where; so does a table that asks for its rows.
    let is_told = !called.is_empty() && called.iter().all(|it| it.says == NameMeaning::Reads);
    let path = address::path_meaning(&segments, known.answer.is_some());
    let word = match &path {
        NameMeaning::Changes(word) => Some(word),
        _ => change.as_ref(),
    };
    let is_endpoint = address::is_endpoint(&segments);
    let is_submitted = pressed == NameMeaning::Reads
        && known.pressed.is_some_and(|it| it.role == "button" && body.has_button(&it.name));
    let asked = path_operation::path_purpose(&segments);
    let is_grid = body.is_grid();
    let is_get =
        heads.is_get || body.value("_method").is_some_and(|it| it.eq_ignore_ascii_case("get"));
    let is_answered = known.answer.is_some();
    let is_aside = |word: &str| {
        is_told && is_endpoint && !verbs::is_strong(word)
            || word == "update" && (is_answered && (is_told || question == Question::List) || is_grid)
            || asked == PathPurpose::Turns && question > Question::One && !verbs::is_strong(word)
            // The page of a form: `/node/add`.
            || is_submitted && matches!(word, "add" | "create" | "edit" | "new" | "reply" | "update")
    };
    if let Some(word) = word.filter(|it| !is_aside(it)) {
        return Err(format!("is about `{word}`"));
    }
    for it in &called {
        if let NameMeaning::Changes(word) = &it.says {
            return Err(format!("calls `{}`, which is about `{word}`", it.describe()));
        }
    }
    if let Some(why) = body.change_reason() {
        return Err(why);
    }
    if let NameMeaning::Changes(word) = &pressed {
        return Err(format!("was caused by pressing something about `{word}`"));
    }
    let is_typed = known.pressed.is_some_and(|it| matches!(&*it.role, "textbox" | "combobox"));
    let is_turned = asked == PathPurpose::Turns && question > Question::Thing || is_get;
    // "Clear pictures of Oslo", of what asks by its path and its body.
    let is_adjective = |word: &str| {
        is_in_lists(word, &[ALSO])
            && asked >= PathPurpose::Verb
            && question >= Question::Bound
            && known.answer.is_some_and(|it| it.is_list)
    };
    if let NameMeaning::Changes(word) = &task
        && !(is_told && (is_typed || is_endpoint) || is_turned || is_adjective(word))
    {
        return Err(format!("was made by a task about `{word}`"));
    }
    let names = called.iter().any(|it| matches!(it.says, NameMeaning::Reads))
        || conventions::is_dry_run(url, &body)
        || is_get
        || is_grid;
    let is_asked = path == NameMeaning::Reads || asked != PathPurpose::No || is_endpoint;
    let is_statement = body.is_statement(is_asked);
    let is_hidden = body.is_hidden(call) && !is_statement;
    let is_opaque = called.iter().any(|it| it.says == NameMeaning::Nothing) || is_hidden;
    let is_dispatched = is_endpoint
        || is_grpc(call)
        || is_grid
        || is_get
        || conventions::is_rpc_protocol(call, url, &body);
    let evidence = Evidence {
        names,
        path: path == NameMeaning::Reads,
        is_get,
        is_dispatched,
        is_called: is_dispatched || address::path_meaning(&segments, true) == NameMeaning::Reads,
        asked,
        is_statement,
        is_tab: known.pressed.is_some_and(|it| it.role == "tab"),
        is_listing: body.is_listing(),
        lists_identifiers: body.lists_identifiers(),
        is_submitted,
        is_of_one: path_operation::is_on_one_item(&segments),
        may_mark: question == Question::One && path_operation::is_marking(&segments),
        is_plural: path_operation::is_plural(&segments),
        is_opaque,
        question,
        is_strange: heads.is_strange,
        pressed: pressed == NameMeaning::Reads,
        wanted: known.task.is_some_and(names::asks_for_data),
        is_empty: body.is_empty(),
        is_words: body.is_words,
        keeps: body.has_stored_text(),
        fills: body.has_filled_text(),
        is_kept: address::is_stored_collection(&segments),
    };
    let found = match &known.answer {
        None => evidence.reason_without_answer(),
        Some(it) => evidence.reason_with_answer(*it),
    };
    found.ok_or_else(|| {
        let first =
            called.iter().find(|it| it.says == NameMeaning::Nothing).map(CalledOperation::describe);
        match first {
            Some(name) => format!("calls `{name}`, which is not known to read"),
            None => UNKNOWN.to_owned(),
        }
    })
}

/// What speaks for reading, when nothing speaks against it.
#[derive(Debug)]
struct Evidence {
    /// The name of what is called asks.
    names: bool,
    /// A word of the path asks.
    path: bool,
    /// The path is one at which things are called by name, or lists are asked for. Any other may do something by itself, whatever a
    /// page puts into the body.
    is_called: bool,
    /// The server is told to take it for a GET, or to check it alone.
    is_get: bool,
    /// By a protocol everything is called by its name here.
    is_dispatched: bool,
    /// How the path asks, where the operation stands.
    asked: PathPurpose,
    /// The body is a statement of a query language that asks.
    is_statement: bool,
    /// A tab of the page was opened.
    is_tab: bool,
    /// The body says how much of a list is wanted, and from where on or in which order.
    is_listing: bool,
    /// The body lists identifiers, which may be set as well as asked for.
    lists_identifiers: bool,
    /// The button's own name stands in the form that it sends, and asks.
    is_submitted: bool,
    /// The path ends in a word behind the number of one thing.
    is_of_one: bool,
    /// Things are named alone, and the path ends in a word by which they may be marked: `/view`, `/read`.
    may_mark: bool,
    /// The path ends in what many things are called.
    is_plural: bool,
    /// Something is called by a name that says nothing.
    is_opaque: bool,
    question: Question,
    /// A header of the page's own is not known.
    is_strange: bool,
    /// A control that asks was used.
    pressed: bool,
    /// The task asks to see something.
    wanted: bool,
    is_empty: bool,
    /// The body is a word or a few as plain text: a question where what was pressed asks, a text to be kept elsewhere.
    is_words: bool,
    /// A text stands where one that is kept would.
    keeps: bool,
    /// The same in a field of a form, and not of a list of things.
    fills: bool,
    /// The path ends at a collection in which what is posted is kept.
    is_kept: bool,
}

impl Evidence {
    /// Before there is an answer.
    fn reason_without_answer(&self) -> Option<&'static str> {
        if self.is_opaque {
            return None;
        }
        let asks = self.question >= Question::Some;
        if self.is_strange {
            return (self.is_called && (self.names || self.path) && asks)
                .then_some("asks by its name and its body");
        }
        if self.is_submitted {
            return Some("is what a button that asks sends with its form");
        }
        if self.names && self.is_called {
            return Some("calls what asks by its name");
        }
        if self.is_statement && !self.is_kept {
            return Some("is a statement that asks");
        }
        let agrees = self.pressed && (self.question > Question::Thing || self.is_words);
        // What is only turned into something may be a text.
        if matches!(self.asked, PathPurpose::Turns | PathPurpose::Verb) && agrees {
            return Some("asks by its path and by what was pressed");
        }
        if self.path && self.pressed && self.is_words && !self.is_kept && !self.is_of_one {
            return Some("asks by its path and by what was pressed");
        }
        if self.keeps {
            return None;
        }
        // Who asks is said, and nothing else.
        let is_told = self.question == Question::Empty && !self.is_empty;
        let is_known = match self.asked {
            PathPurpose::Operation | PathPurpose::Verb if is_told => true,
            PathPurpose::Operation => !matches!(self.question, Question::Thing | Question::Empty),
            PathPurpose::Compound => self.question >= Question::Bound,
            PathPurpose::Verb => self.question >= Question::Bound || self.question == Question::One,
            PathPurpose::Turns => {
                self.question >= Question::Bound || self.question == Question::Other
            }
            PathPurpose::Word => {
                self.question >= Question::Bound || self.pressed && self.question > Question::Thing
            }
            PathPurpose::Noun => {
                self.question >= Question::Bound
                    && self.question != Question::Some
                    && !self.lists_identifiers
            }
            PathPurpose::No => false,
        };
        if is_known {
            return Some("asks by its path and its body");
        }
        if self.question == Question::List && (self.is_listing || self.is_plural && !self.is_kept) {
            return Some("asks for a part of a list");
        }
        if (self.is_dispatched || self.is_tab) && agrees && self.question >= Question::Some {
            return Some("asks by its body and by what was pressed");
        }
        if self.path
            && self.asked != PathPurpose::Noun
            && (self.question >= Question::Bound || self.pressed && self.question > Question::One)
        {
            return Some("asks by its path and its body");
        }
        if self.question == Question::List && self.is_called {
            return Some("asks for a part of a list");
        }
        (self.is_called && self.pressed && self.question == Question::Whole)
            .then_some("asks by its body and by what was pressed")
    }

    /// Where the answer is known: what is known to read without it does, unless the answer says that something was done.
    fn reason_with_answer(&self, answer: Answer) -> Option<&'static str> {
        let is_contrary = !self.is_get && (answer.is_done || answer.is_nothing || answer.keeps);
        self.reason_from_answer(answer)
            .or_else(|| self.reason_without_answer().filter(|_| !is_contrary))
    }

    fn reason_from_answer(&self, answer: Answer) -> Option<&'static str> {
        const FITS: &str = "is answered with what was asked for";
        if self.may_mark && !answer.is_list {
            return None;
        }
        let asks = answer.asks || self.question >= Question::Whole;
        let fits = answer.is_data && (answer.is_list || answer.is_shown);
        if (self.names || self.path) && (answer.asks || answer.is_list) {
            return Some(FITS);
        }
        if self.is_listing && self.question >= Question::Some && answer.is_list && answer.is_data {
            return Some(FITS);
        }
        // A request that selects items, answered with one page of a list: a change is not answered so.
        let is_chosen = self.question >= Question::Bound || self.names || self.path || self.pressed;
        if answer.is_page_of_list && answer.is_data && is_chosen && !answer.keeps && !self.is_kept {
            return Some(FITS);
        }
        // What is done to one thing by a verb that is not known.
        let is_unknown = self.asked == PathPurpose::No && !self.names && !self.pressed;
        if self.is_of_one && is_unknown && self.question < Question::Some {
            return None;
        }
        if self.is_kept && !self.names && !self.path && self.question < Question::Some {
            return None;
        }
        if answer.is_filtered && answer.is_data && !answer.keeps && !self.is_kept {
            return Some(FITS);
        }
        if self.is_opaque || self.is_strange {
            return ((self.wanted || self.pressed) && fits && !answer.keeps).then_some(FITS);
        }
        if self.asked == PathPurpose::Turns && answer.is_data && self.question > Question::Thing {
            return Some(FITS);
        }
        if self.names && self.wanted && (answer.is_data || self.is_called) {
            return Some(FITS);
        }
        if self.pressed && answer.is_data && (self.names || self.question >= Question::Some) {
            return Some(FITS);
        }
        // `/templates/info` with a name: the verb at the end says what is wanted of it.
        let is_asked = matches!(self.asked, PathPurpose::Verb | PathPurpose::Operation);
        if is_asked && self.wanted && answer.is_data && answer.is_shown && !self.is_kept {
            return Some(FITS);
        }
        if (asks || self.is_empty && self.pressed) && answer.is_list && !answer.keeps {
            return Some(FITS);
        }
        let named = self.names || self.path || self.pressed || self.question >= Question::Some;
        let keeps = answer.keeps || self.fills && !self.names && !self.path && !self.pressed;
        (self.wanted && answer.is_data && (fits || named) && !keeps).then_some(FITS)
    }
}

#[cfg(test)]
mod tests;
