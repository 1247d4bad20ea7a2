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
mod evidence;
mod fields;
mod graphql;
mod headers;
mod names;
mod path_operation;
mod post_request;
mod recorded_effect;
mod template;
mod verbs;

use url::Url;

use address::describe;
use body::Body;
use headers::HeaderEvidence;
use names::NameMeaning;
use post_request::PostRequest;

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
        return weigh_safe(call, url, known, [&pressed, &task], &heads);
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
    PostRequest::new(call, url, known, &segments, &body, heads)
        .weigh(change.as_deref(), (&pressed, &task))
}

/// The same of a request whose method is safe and whose address names no change. `done`: the pressed control and the task.
fn weigh_safe(
    call: &Call<'_>,
    url: &Url,
    known: &RequestContext<'_>,
    done: [&NameMeaning; 2],
    heads: &HeaderEvidence,
) -> Result<&'static str, String> {
    let segments = address::segments(url.path());
    if let Some(why) = address::graphql_by_get(url, &segments) {
        return Err(why);
    }
    if !matches!(call.content, Content::None) {
        return Err(UNKNOWN.to_owned());
    }
    if let Some((it, word)) =
        heads.called.iter().find_map(|it| it.says.verb().map(|word| (it, word)))
    {
        return Err(format!("calls `{}`, which is about `{word}`", it.describe()));
    }
    for said in done {
        if let NameMeaning::Changes(word) = said
            && let Some(what) = address::matching_address_part(url, &segments, word)
        {
            return Err(format!("is about `{what}`, and what was done is about `{word}`"));
        }
    }
    let answer = known.answer.unwrap_or_default();
    let acted = done.into_iter().find_map(NameMeaning::verb);
    if let Some(word) = acted.filter(|_| answer.is_done || answer.is_empty_success) {
        return Err(format!("was answered that it is done, after something about `{word}`"));
    }
    if let Some(word) =
        address::creating_procedure(url, &segments).filter(|_| answer.is_data && !answer.is_page)
    {
        return Err(format!("is about `{word}`"));
    }
    if answer.is_nothing && url.query().is_some() {
        return Err("tells something, and is answered with nothing".to_owned());
    }
    Ok("is a question by its method")
}

#[cfg(test)]
mod tests;
