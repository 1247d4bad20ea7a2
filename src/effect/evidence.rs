//! What speaks for reading in a request by POST against which nothing speaks.

use super::{Answer, body::Question, path_operation::PathPurpose};

/// What speaks for reading, when nothing speaks against it.
#[derive(Debug)]
pub struct Evidence {
    /// The name of what is called asks.
    pub names: bool,
    /// A word of the path asks.
    pub path: bool,
    /// The path is one at which things are called by name, or lists are asked for. Any other may do something by itself, whatever a
    /// page puts into the body.
    pub is_called: bool,
    /// The server is told to take it for a GET, or to check it alone.
    pub is_get: bool,
    /// By a protocol everything is called by its name here.
    pub is_dispatched: bool,
    /// How the path asks, where the operation stands.
    pub asked: PathPurpose,
    /// The body is a statement of a query language that asks.
    pub is_statement: bool,
    /// A tab of the page was opened.
    pub is_tab: bool,
    /// The body says how much of a list is wanted, and from where on or in which order.
    pub is_listing: bool,
    /// The body lists identifiers, which may be set as well as asked for.
    pub lists_identifiers: bool,
    /// The button's own name stands in the form that it sends, and asks.
    pub is_submitted: bool,
    /// The path ends in a word behind the number of one thing.
    pub is_of_one: bool,
    /// Things are named alone, and the path ends in a word by which they may be marked: `/view`, `/read`.
    pub may_mark: bool,
    /// The path ends in what many things are called.
    pub is_plural: bool,
    /// Something is called by a name that says nothing.
    pub is_opaque: bool,
    pub question: Question,
    /// A header of the page's own is not known.
    pub is_strange: bool,
    /// A control that asks was used.
    pub pressed: bool,
    /// The task asks to see something.
    pub wanted: bool,
    pub is_empty: bool,
    /// The body is a word or a few as plain text: a question where what was pressed asks, a text to be kept elsewhere.
    pub is_words: bool,
    /// A text stands where one that is kept would.
    pub keeps: bool,
    /// The same in a field of a form, and not of a list of things.
    pub fills: bool,
    /// The path ends at a collection in which what is posted is kept.
    pub is_kept: bool,
}

impl Evidence {
    /// Before there is an answer.
    pub fn reason_without_answer(&self) -> Option<&'static str> {
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
    pub fn reason_with_answer(&self, answer: Answer) -> Option<&'static str> {
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
