//! What each stage after record writes. Pure payloads hold no clock, duration or float: scores are basis points.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    kinds::{Artifact, Kind},
    recording::{SessionRecording, ShownBlock},
};
use commis_recipe::{
    column_types::ColumnType,
    model::{
        EmptyAnswer, ExampleAnswer, FirstPage, HtmlSpec, LoginProof, PageInfo, Parameter,
        RequestTemplate, ResponseSpec, Slot, StrangerAnswer, TransportKind,
    },
    paging::Pages,
    shape::profile::Profile,
    steps::{Assembly, Step},
};

/// A stage's answer: its product, or why the task cannot be learned. Both are results and both are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judged<T> {
    Done(T),
    Rejected(Reject),
}

/// Why a task ends here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reject {
    pub reason: Reason,
    /// One sentence for a person, free of secrets.
    pub detail: String,
}

impl Reject {
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    NoDataRequest,
    SeveralCalls,
    NeedsLogin,
    AntiBot,
    Mutation,
    /// Several candidates are about equally good, or none is good enough: a person or a model must choose.
    Ambiguous,
    /// No candidate could be replayed.
    ReplayFailed,
    /// What was typed makes no difference to the answer.
    NoEffect,
}

impl Reason {
    /// How a task ends that is rejected for this reason.
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::Ambiguous | Self::ReplayFailed => Outcome::NeedsSelection,
            _ => Outcome::NonRecipeable,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoDataRequest => "no_data_request",
            Self::SeveralCalls => "several_calls",
            Self::NeedsLogin => "needs_login",
            Self::AntiBot => "anti_bot",
            Self::Mutation => "mutation",
            Self::Ambiguous => "ambiguous",
            Self::ReplayFailed => "replay_failed",
            Self::NoEffect => "no_effect",
        }
    }
}

/// The four ends of a task.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Verified,
    SavedDraft,
    NeedsSelection,
    NonRecipeable,
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::SavedDraft => "saved_draft",
            Self::NeedsSelection => "needs_selection",
            Self::NonRecipeable => "non_recipeable",
        }
    }
}

/// `01b`: the second example driven in the browser; empty when there is none or the driver cannot drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecondRecording {
    pub recording: Option<SessionRecording>,
    /// The second example's values, whether driven or not.
    pub values: BTreeMap<String, String>,
    /// The first example driven with the second login; absent where the task has none, or its pages do not lead there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_login: Option<SessionRecording>,
}

/// `02`: at most eight, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CandidateSet {
    pub candidates: Vec<Candidate>,
    /// Exchanges that were scored.
    pub scored: u32,
    /// Exchanges left out before scoring, by why.
    pub set_aside: BTreeMap<String, u32>,
    /// Why the best may not be chosen without being asked about, however high it scores.
    pub doubt: Option<String>,
    /// Which of the page's `shown` the task was about: what only this example's page said.
    #[serde(default)]
    pub main: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Id of the exchange in `01_session_recording`.
    pub exchange: u32,
    pub rank: u32,
    /// Sum of `features`, within 0 and 10,000.
    pub score_bp: i32,
    /// How sure it is that this one carried the data, against all others and against none, basis points.
    pub confidence_bp: u32,
    /// What each signal added or took, basis points; zero shares are left out.
    pub features: BTreeMap<String, i32>,
    pub method: String,
    /// URL with values shortened, redacted.
    pub url_summary: String,
    pub content_type: String,
    /// Method, host, path, sorted query names and operation: equal keys are one endpoint.
    pub endpoint_key: String,
    /// GraphQL operation or JSON-RPC method.
    pub operation: Option<String>,
    pub source: DataSource,
    /// The exchange of the same endpoint in the second recording, if there was one.
    pub second_exchange: Option<u32>,
}

/// Where in the answer the data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataSource {
    Json,
    /// JSON inside a script element of an HTML page.
    EmbeddedJson,
    Html,
    Text,
}

/// `02a`: what a model or a person may see of each candidate, at most 4 KB each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CandidateSummary {
    pub summaries: Vec<Summary>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub exchange: u32,
    /// `GET /path?…`, the line a model chooses by.
    pub request_line: String,
    pub status: Option<u16>,
    pub content_type: String,
    pub bytes: Option<u64>,
    /// Up to 24 typed paths.
    pub shape: Vec<String>,
    /// Lists that could be the data, best first, at most 6.
    pub paths: Vec<ListPath>,
    /// Names of typed values the request carries.
    pub carries: Vec<String>,
}

/// A list of an answer that could be the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPath {
    /// JMESPath.
    pub path: String,
    /// Within -10,000 and 10,000.
    pub score_bp: i32,
    /// What spoke for and against it.
    pub reason: String,
}

/// `02b`: what a model was asked and what came of it. Empty when nobody was asked: no model, or the heuristics knew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelAnswer {
    pub consultation: Option<Consultation>,
}

/// One question to a model, with every answer it gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Consultation {
    /// `provider/name`.
    pub model: String,
    pub prompt_version: u32,
    /// Of question, schema, prompt version and model: equal digests are one question.
    pub digest: String,
    /// Instructions, question and schema together.
    pub prompt_bytes: u32,
    /// As sent first, made of redacted values only; the instructions before it are fixed by `prompt_version`.
    pub question: String,
    /// To the question, and, where a candidate was chosen, to the same question with the candidates in reverse order.
    pub attempts: Vec<Attempt>,
    pub verdict: Verdict,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// Redacted, the first 1,000 characters.
    pub answer: String,
    /// Why the model stopped, in its provider's word.
    pub stop: String,
    /// Why the answer was not accepted, in fixed words.
    pub refused: Option<String>,
    pub tokens_in: u64,
    pub tokens_out: u64,
}

/// What the answers came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One of the candidates that were offered, and one of its paths, or the computed one.
    Chosen { exchange: u32, path: Option<String> },
    /// The model says that none of them holds the data.
    NoneFits,
    /// The model chose another one, or none, when the candidates were in reverse order.
    Inconsistent,
    /// No answer could be accepted.
    Unusable,
}

/// `03`: the choice and the path, without scores, so that an equal choice stops a cascade.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeAnalysis {
    pub chosen: Choice,
    pub by: Analyst,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub exchange: u32,
    pub second_exchange: Option<u32>,
    pub source: DataSource,
    pub response: ResponseSpec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Analyst {
    Heuristic,
    Model,
    /// A person named the candidate.
    Person,
}

/// `04`: a canonical request that was replayed once and answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeDraft {
    pub exchange: u32,
    pub second_exchange: Option<u32>,
    pub request: RequestTemplate,
    pub slots: Vec<Slot>,
    pub response: ResponseSpec,
    /// The least risky transport that answered like the recording.
    pub transport: TransportKind,
    /// Two equal replays gave equal data: later stages may compare data, not only shape.
    pub deterministic: bool,
    /// Nothing was sent: the captured answer itself stood in.
    pub captured_only: bool,
    /// Of a recorded session that was logged in, what a stranger is not answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_login: bool,
    /// Parts that carry what was typed (`query:q`, `json:/a`, `form:q`, `path:2`): never left out.
    pub carries: Vec<String>,
    /// The first replay was compared with what the recording holds of the answer.
    pub compared: bool,
    /// Shape and items of the first good answer.
    pub shape: Vec<String>,
    pub items: Option<u64>,
    pub replays: Vec<Replay>,
}

/// One real exchange made while learning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// Counts from 1 within the stage.
    pub n: u32,
    /// What was tried: `as recorded`, `without header x`, `A`, `B`, …
    pub what: String,
    pub transport: TransportKind,
    pub status: Option<u16>,
    /// Items extracted, where the answer is a list.
    pub items: Option<u64>,
    /// Similarity of the answer's shape to what it is compared with, basis points.
    pub similarity_bp: Option<u32>,
    /// SHA-256 of the extracted data.
    pub data_sha256: Option<String>,
    /// A `Code` when it failed.
    pub code: Option<String>,
    /// Why, for a person.
    pub detail: Option<String>,
}

impl Replay {
    /// Answered, parsed, extracted.
    pub fn ok(&self) -> bool {
        self.code.is_none()
    }
}

/// `05`: what later answers are compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineFingerprint {
    pub fingerprint_version: u32,
    pub fingerprint_sha256: String,
    /// Typed paths (JSON) or selector lines (HTML), sorted.
    pub shape: Vec<String>,
    pub items: Option<u64>,
}

/// `06`: which parts of the request the answer needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinimizationReport {
    pub trials: Vec<Trial>,
    pub request: RequestTemplate,
    pub slots: Vec<Slot>,
    /// The budget ended before every part was tried; what was not tried is kept.
    pub budget_exhausted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The parts left out: `header:x-request-id`, `query:_t`, `json:/a/b`, `form:source`.
    pub without: Vec<String>,
    pub dropped: bool,
    pub why: String,
    /// Absent where nothing could be sent: then only what defeats caches by its form is dropped.
    pub replay: Option<Replay>,
}

/// `07`: the request with typed parameters, and the values to verify it with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeDraftMinimized {
    pub request: RequestTemplate,
    pub parameters: Vec<Parameter>,
    pub slots: Vec<Slot>,
    /// What is asked for before the request, which takes values of their answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What those values were in the first example, by their names in templates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub taken: BTreeMap<String, String>,
    /// The request is sent once for each item of one of the steps, or its answer is one of several; `response` is then what that
    /// gives together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembly: Option<Assembly>,
    pub response: ResponseSpec,
    pub transport: TransportKind,
    pub captured_only: bool,
    /// Of a recorded session that was logged in, what a stranger is not answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_login: bool,
    /// Why each parameter is one.
    pub evidence: BTreeMap<String, String>,
    /// Values of the recorded example.
    pub first: BTreeMap<String, String>,
    /// Values of the second example, for the same parameters.
    pub second: Option<BTreeMap<String, String>>,
    /// Lines that the second page showed and the first did not, without what was typed. B's data must hold some of it.
    /// Empty: not checked.
    pub second_seen: Vec<String>,
    /// `key=leaf` lines of both captured answers after extraction, at most 60 each. A replay of B must hold most of B's,
    /// where one of A holds most of A's.
    pub captured: Option<Captured>,
    /// The first replay was compared with what the recording holds of the answer.
    pub compared: bool,
    /// The part of the request that holds the time of the recording, so that its answer is about that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<String>,
    /// The part of the request that a page of the login gave, and that may name its account, as far as one account tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_part: Option<String>,
    /// What the page showed the second login, asked for the first example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_login_shown: Option<ShownBlock>,
    /// What the page of each example showed of the data, the second absent where it was not driven.
    #[serde(default)]
    pub witness: Option<Witness>,
    /// How long the list is, as far as the task and the first page say.
    #[serde(default, skip_serializing_if = "ListLength::is_unknown")]
    pub list: ListLength,
}

/// What is said of the length of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLength {
    /// The task asks for all items.
    #[serde(default)]
    pub asked_for_all: bool,
    /// Items that there are, as the first page states.
    #[serde(default)]
    pub total: Option<u64>,
    /// What of the first page says that the list goes on.
    #[serde(default)]
    pub next: Option<String>,
    /// What a later call of the recording changed to go on with the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Moved>,
    /// Items of later calls of the recording that are none of the first page.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further: u32,
    /// The part of the request by which the recording asked for two parts of the list, where nothing says which is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// Whole numbers beside the items of the first page that are greater than their count, at most eight.
    #[serde(default)]
    pub numbers: Vec<u64>,
}

/// A part of a request that moved from one page of a list to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The name of a pair of query or form; `body/…` for a leaf of a JSON body.
    pub name: String,
    /// Its value in the first call; absent where the first call has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its value in the later call.
    pub to: String,
    /// Where in the lists of the first answer that value stood, as JMESPath: the likelier place first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
}

impl ListLength {
    /// Nothing is said.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// What an answer must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    pub task: String,
    pub first: ShownBlock,
    pub second: Option<ShownBlock>,
    /// Another list of the first page, of which the task speaks and not of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<ShownBlock>,
    /// Items at the end of the first page's list that came by calls which went on with it: the answer is its first page.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(it: &u32) -> bool {
    *it == 0
}

/// How much of what a page showed an answer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Items of the page's block, and how many of them have one of their own in the answer. A record is one.
    pub shown: u32,
    pub held: u32,
    /// Columns of the block that say something, and how many of them stand in the items of the answer.
    pub fields: u32,
    pub fields_held: u32,
    /// Names of those that do not.
    pub left_out: Vec<String>,
    /// The first item that is not in the answer.
    pub missing: Option<String>,
    /// The task asks for one of `left_out`.
    pub asked_for: bool,
    /// The items stand in the answer in another order than on the page.
    #[serde(default)]
    pub reordered: bool,
}

impl Coverage {
    /// Every item, and every column that the task speaks of.
    pub fn is_whole(&self) -> bool {
        self.held >= self.shown && !self.asked_for
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Captured {
    pub first: Vec<String>,
    pub second: Vec<String>,
}

/// `08`: whether it answers on inputs it was not learned from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationReport {
    pub verified: bool,
    /// A `Code` or a reason when it was not verified.
    pub reason: Option<String>,
    pub transport: TransportKind,
    pub requires_session: bool,
    /// Parameters shown to change the data.
    pub effective: Vec<String>,
    /// Optional parameters without a visible effect: published as constants.
    pub frozen: Vec<String>,
    /// Steps that the answers do not need: what the first example took of them is published as constants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needless: Vec<String>,
    /// Of a request that is sent for items: the shape of what the answers give together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<String>>,
    pub replays: Vec<Replay>,
    /// The same transport, one level riskier, was needed.
    pub fell_back: bool,
    /// How much of what the page of each example showed its answer holds, A first; empty where no page was seen.
    #[serde(default)]
    pub coverage: Vec<Coverage>,
    /// How an answer without items looks, where one was asked for.
    #[serde(default)]
    pub empty: Option<EmptyAnswer>,
    /// The values that were held against the first example's, where the second example's found nothing, or the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<BTreeMap<String, String>>,
    /// What the data of all good answers had in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// What the examples were answered, as far as it was the same each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ExampleAnswer>,
    /// The answer to a word that nobody uses, if it had items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substitute: Option<ExampleAnswer>,
    /// What answers say that they were asked for, by parameter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub echo: BTreeMap<String, String>,
    /// How answers say how long their list is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_info: Option<PageInfo>,
    /// The first answer is only the first page of its list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_page: Option<FirstPage>,
    /// How further pages are asked for, where that was proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
    /// How the page is read, where the second example's answer showed more than the first one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<HtmlSpec>,
    /// What the texts of a page's fields are, by the answers to both examples.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, ColumnType>,
    /// How the login was proven to be needed; absent where none was used, or a stranger got the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<LoginProof>,
    /// What a stranger got then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stranger: Option<StrangerAnswer>,
    /// SHA-256 of the data of an answer that had items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stranger_sha256: Option<String>,
}

/// [`VerificationReport::reason`] where the second example gave what the first did.
pub const NO_EFFECT: &str = "the second example gives the same data: the parameters have no effect";

impl VerificationReport {
    /// What it says of the task itself, where that is more than "not proven".
    pub fn reject(&self) -> Option<Reject> {
        let no_effect = !self.verified && self.reason.as_deref() == Some(NO_EFFECT);
        no_effect.then(|| Reject::new(Reason::NoEffect, NO_EFFECT))
    }
}

macro_rules! artifact {
    ($($payload:ty => $kind:ident),* $(,)?) => {
        $(impl Artifact for $payload { const KIND: Kind = Kind::$kind; })*
    };
}

artifact! {
    SessionRecording => SessionRecording,
    SecondRecording => SecondRecording,
    Judged<CandidateSet> => CandidateSet,
    CandidateSummary => CandidateSummary,
    ModelAnswer => ModelAnswer,
    Judged<RecipeAnalysis> => RecipeAnalysis,
    Judged<RecipeDraft> => RecipeDraft,
    BaselineFingerprint => BaselineFingerprint,
    MinimizationReport => MinimizationReport,
    Judged<RecipeDraftMinimized> => RecipeDraftMinimized,
    VerificationReport => VerificationReport,
}
