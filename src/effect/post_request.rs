//! Whether a request by POST reads: what speaks for a change is looked for first, then what speaks for reading.

use url::Url;

use super::{
    Call, RequestContext, UNKNOWN,
    address::{self, Segment},
    body::{Body, Question},
    conventions::{self, CalledOperation},
    evidence::Evidence,
    headers::HeaderEvidence,
    names::{self, NameMeaning},
    path_operation::{self, PathPurpose},
    verbs::{self, ALSO, is_in_lists},
};

/// A request by POST that is neither GraphQL nor a batch, taken apart.
pub struct PostRequest<'a> {
    call: &'a Call<'a>,
    url: &'a Url,
    known: &'a RequestContext<'a>,
    segments: &'a [Segment],
    body: &'a Body<'a>,
    /// What it calls by name, in its address, its body and its headers.
    called: Vec<CalledOperation>,
    question: Question,
    purpose: PathPurpose,
    path: NameMeaning,
    is_endpoint: bool,
    /// It asks for the rows of a table.
    is_grid: bool,
    /// The server is told to take it for a GET, or to check it alone.
    is_get: bool,
    /// A header of the page's own is not known.
    is_strange: bool,
}

/// Of these the path is the name that is called.
fn is_grpc(call: &Call<'_>) -> bool {
    call.header("content-type").is_some_and(|it| it.starts_with("application/grpc"))
}

impl<'a> PostRequest<'a> {
    pub fn new(
        call: &'a Call<'a>,
        url: &'a Url,
        known: &'a RequestContext<'a>,
        segments: &'a [Segment],
        body: &'a Body<'a>,
        heads: HeaderEvidence,
    ) -> Self {
        let mut called = conventions::find_calls(call, url, segments, body);
        called.extend(heads.called);
        let overridden = body.value("_method").is_some_and(|it| it.eq_ignore_ascii_case("get"));
        Self {
            call,
            url,
            known,
            segments,
            body,
            called,
            question: body.question(),
            purpose: path_operation::path_purpose(segments),
            path: address::path_meaning(segments, known.answer.is_some()),
            is_endpoint: address::is_endpoint(segments),
            is_grid: body.is_grid(),
            is_get: heads.is_get || overridden,
            is_strange: heads.is_strange,
        }
    }

    /// Why it reads, or why it may change something. `change`: a verb in its address; `done`: the pressed control and the task.
    pub fn weigh(
        &self,
        change: Option<&str>,
        (pressed, task): (&NameMeaning, &NameMeaning),
    ) -> Result<&'static str, String> {
        let is_submitted = self.is_submitted(pressed);
        if let Some(why) = self.change_reason(change, is_submitted, (pressed, task)) {
            return Err(why);
        }
        let evidence = self.evidence(pressed, is_submitted);
        let found = match &self.known.answer {
            None => evidence.reason_without_answer(),
            Some(it) => evidence.reason_with_answer(*it),
        };
        found.ok_or_else(|| {
            let nameless = self.called.iter().find(|it| it.says == NameMeaning::Nothing);
            match nameless.map(CalledOperation::describe) {
                Some(name) => format!("calls `{name}`, which is not known to read"),
                None => UNKNOWN.to_owned(),
            }
        })
    }

    /// Everything that it calls asks by its name.
    fn calls_questions(&self) -> bool {
        !self.called.is_empty() && self.called.iter().all(|it| it.says == NameMeaning::Reads)
    }

    /// The button's own name stands in the form that it sends, and asks.
    fn is_submitted(&self, pressed: &NameMeaning) -> bool {
        let control = self.known.pressed.filter(|it| it.role == "button");
        *pressed == NameMeaning::Reads && control.is_some_and(|it| self.body.has_button(&it.name))
    }

    /// What speaks for a change.
    fn change_reason(
        &self,
        change: Option<&str>,
        is_submitted: bool,
        (pressed, task): (&NameMeaning, &NameMeaning),
    ) -> Option<String> {
        let asks = self.calls_questions();
        let word = match &self.path {
            NameMeaning::Changes(word) => Some(word.as_str()),
            _ => change,
        };
        if let Some(word) = word.filter(|it| !self.is_incidental(it, is_submitted)) {
            return Some(format!("is about `{word}`"));
        }
        for it in &self.called {
            if let NameMeaning::Changes(word) = &it.says {
                return Some(format!("calls `{}`, which is about `{word}`", it.describe()));
            }
        }
        if let Some(why) = self.body.change_reason() {
            return Some(why);
        }
        if let NameMeaning::Changes(word) = pressed {
            return Some(format!("was caused by pressing something about `{word}`"));
        }
        let control = self.known.pressed;
        let is_typed = control.is_some_and(|it| matches!(&*it.role, "textbox" | "combobox"));
        let is_turned = self.purpose == PathPurpose::Turns && self.question > Question::Thing;
        // "Clear pictures of Oslo", of what asks by its path and its body.
        let is_adjective = |word: &str| {
            is_in_lists(word, &[ALSO])
                && self.purpose >= PathPurpose::Verb
                && self.question >= Question::Bound
                && self.known.answer.is_some_and(|it| it.is_list)
        };
        if let NameMeaning::Changes(word) = task
            && !(asks && (is_typed || self.is_endpoint)
                || is_turned
                || self.is_get
                || is_adjective(word))
        {
            return Some(format!("was made by a task about `{word}`"));
        }
        None
    }

    /// A verb of the address is outweighed. What is called says more than where; so does a table that asks for its rows.
    fn is_incidental(&self, word: &str, is_submitted: bool) -> bool {
        let is_answered = self.known.answer.is_some();
        let asks = self.calls_questions();
        let is_strong = verbs::is_strong(word);
        asks && self.is_endpoint && !is_strong
            || word == "update"
                && (is_answered && (asks || self.question == Question::List) || self.is_grid)
            || self.purpose == PathPurpose::Turns && self.question > Question::One && !is_strong
            // The page of a form: `/node/add`.
            || is_submitted && matches!(word, "add" | "create" | "edit" | "new" | "reply" | "update")
    }

    fn evidence(&self, pressed: &NameMeaning, is_submitted: bool) -> Evidence {
        let &Self { segments, body, .. } = self;
        let is_asked =
            self.path == NameMeaning::Reads || self.purpose != PathPurpose::No || self.is_endpoint;
        let is_statement = body.is_statement(is_asked);
        let is_hidden = body.is_hidden(self.call) && !is_statement;
        let calls = |meaning| self.called.iter().any(|it| it.says == meaning);
        let is_dispatched = self.is_endpoint
            || is_grpc(self.call)
            || self.is_grid
            || self.is_get
            || conventions::is_rpc_protocol(self.call, self.url, body);
        Evidence {
            names: calls(NameMeaning::Reads)
                || conventions::is_dry_run(self.url, body)
                || self.is_get
                || self.is_grid,
            path: self.path == NameMeaning::Reads,
            is_get: self.is_get,
            is_dispatched,
            is_called: is_dispatched || address::path_meaning(segments, true) == NameMeaning::Reads,
            asked: self.purpose,
            is_statement,
            is_tab: self.known.pressed.is_some_and(|it| it.role == "tab"),
            is_listing: body.is_listing(),
            lists_identifiers: body.lists_identifiers(),
            is_submitted,
            is_of_one: path_operation::is_on_one_item(segments),
            may_mark: self.question == Question::One && path_operation::is_marking(segments),
            is_plural: path_operation::is_plural(segments),
            is_opaque: calls(NameMeaning::Nothing) || is_hidden,
            question: self.question,
            is_strange: self.is_strange,
            pressed: *pressed == NameMeaning::Reads,
            wanted: self.known.task.is_some_and(names::asks_for_data),
            is_empty: body.is_empty(),
            is_words: body.is_words,
            keeps: body.has_stored_text(),
            fills: body.has_filled_text(),
            is_kept: address::is_stored_collection(segments),
        }
    }
}
