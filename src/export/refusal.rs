//! Why a form does not hold a recipe: a code for programs, and a sentence for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of reason it is. Programs branch on it; sentences may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefusalCode {
    /// The recipe was put out of service.
    Deprecated,
    /// It needs a login, or the cookies of a browser's session.
    NeedsSession,
    /// Its task asks for all items of a list, and the form asks for one page.
    AllPages,
    /// It makes several requests, in a way that the form has no words for.
    SeveralRequests,
    /// Its request takes a value of an earlier answer, in a way that the form has no words for.
    EarlierValue,
    /// The form cannot read its answer.
    UnreadableAnswer,
    /// The form has no words for an expression of it.
    UnknownExpression,
    /// The form cannot send its request as a run sends it: the place of its key, its encoding, a header that may be left out.
    UnsendableRequest,
    /// A parameter has no example, and no value was given, or the value cannot be sent.
    NoExample,
}

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: RefusalCode,
    pub why: String,
}

impl Refusal {
    pub fn new(code: RefusalCode, why: impl Into<String>) -> Self {
        Self { code, why: why.into() }
    }
}
