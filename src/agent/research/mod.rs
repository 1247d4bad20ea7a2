//! Research: a topic becomes questions, each is answered by what was fetched, and a report says only what stands there.
//!
//! Here is what can be decided from data: the plan that is accepted, whether a sentence stands in the sources that it names, the report
//! as text; and the two conversations with the model, the files, and the purse that all of it is paid from. What fetches is above.

mod budget;
mod citation_check;
mod markdown;
mod numbers;
mod plan;
mod report;
mod store;

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    budget::{Budget, BudgetTracker, MeteredModel},
    citation_check::SourceText,
    markdown::markdown,
    plan::{Offer, plan},
    report::{SourceDocument, write},
    store::{ResearchStore, ResearchUsage, StoredReport},
};
use super::spelling::normalize_text;
use commis_base::{error::Result, ids};
use commis_browser::INSTRUCTS;
use commis_model::{ChatModel, ChatReply, Tool, Turn};

/// Characters of a topic and of a question.
pub const SENTENCE: usize = 400;
/// Bytes of a source that are kept.
const KEPT: usize = 256 * 1024;
/// Characters of a title.
const TITLE: usize = 200;
/// Pauses before another try at the model, as the loop makes them.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

/// What was asked for, kept as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResearchRequest {
    pub topic: String,
    /// The user's own questions; none: the model makes them.
    pub questions: Vec<String>,
    pub most: u32,
    /// Where browsing begins.
    pub urls: Vec<String>,
    /// Other hosts where pages may be opened.
    pub hosts: Vec<String>,
    pub model: Option<String>,
    /// Calls of the model for one question that is browsed for.
    pub turns: u32,
    /// Who asked.
    pub who: String,
}

/// One question of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub text: String,
    /// Values of a recipe's parameters.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
    /// Where browsing begins.
    pub url: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionStatus {
    Answered,
    /// Looked for, and there is no source for it.
    NotFound,
    /// Something went wrong; `--resume` tries again.
    Failed,
    /// Time or money were up; `--resume` goes on.
    NotDone,
}

impl QuestionStatus {
    /// Whether it is not to be done again.
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Answered | Self::NotFound)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMethod {
    Recipe,
    Model,
}

/// What a question came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionResult {
    /// From 1.
    pub n: usize,
    pub text: String,
    pub status: QuestionStatus,
    pub by: Option<AnswerMethod>,
    pub recipe: Option<String>,
    /// The transcript of who browsed.
    pub run: Option<String>,
    /// What whoever browsed says that the pages say, and was seen there.
    pub answer: Option<Value>,
    pub why: Option<String>,
    /// How it was chosen who answers.
    pub trace: Vec<String>,
    pub sources: Vec<Source>,
    pub ms: u64,
}

impl QuestionResult {
    /// One that came to nothing.
    pub fn nothing(n: usize, text: &str, status: QuestionStatus, why: impl Into<String>) -> Self {
        Self {
            n,
            text: text.to_owned(),
            status,
            by: None,
            recipe: None,
            run: None,
            answer: None,
            why: Some(why.into()),
            trace: Vec::new(),
            sources: Vec::new(),
            ms: 0,
        }
    }
}

/// Something that was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// `2.1`: the first of question 2.
    pub id: String,
    pub url: String,
    pub title: String,
    /// Of what was fetched, as it is kept: the text of `file`.
    pub sha256: String,
    /// RFC 3339.
    pub fetched_at: String,
    /// In the folder of this research.
    pub file: String,
    pub bytes: u64,
}

/// What research came to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResearchReport {
    /// By which it is resumed.
    pub id: String,
    pub topic: String,
    pub status: ResearchStatus,
    /// Why it is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub reason: Option<String>,
    pub questions: Vec<QuestionSummary>,
    pub report: Vec<Sentence>,
    pub sources: Vec<Source>,
    pub left_out: Vec<RejectedSentence>,
    pub usage: ResearchUsage,
    /// In the currency of the model's prices in the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub cost: Option<f64>,
    /// Of this run; what was done before it was resumed is not in it.
    pub ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResearchStatus {
    /// Every question was looked into, and the report is made.
    Done,
    /// It can be resumed.
    Partial,
    /// Every question was looked into, and nothing was found.
    Nothing,
}

/// A question, and what it came to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionSummary {
    pub n: usize,
    pub text: String,
    pub status: QuestionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub by: Option<AnswerMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub recipe: Option<String>,
    /// Its transcript is `runs/ID.ndjson`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default)]
    pub why: Option<String>,
    pub trace: Vec<String>,
    /// Ids.
    pub sources: Vec<String>,
    pub ms: u64,
}

impl From<&QuestionResult> for QuestionSummary {
    fn from(it: &QuestionResult) -> Self {
        Self {
            n: it.n,
            text: it.text.clone(),
            status: it.status,
            by: it.by,
            recipe: it.recipe.clone(),
            run: it.run.clone(),
            why: it.why.clone(),
            trace: it.trace.clone(),
            sources: it.sources.iter().map(|it| it.id.clone()).collect(),
            ms: it.ms,
        }
    }
}

/// A sentence of the report; it stands in each of its sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sentence {
    pub sentence: String,
    /// Ids.
    pub sources: Vec<String>,
}

/// A sentence of the model's that is not in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedSentence {
    pub sentence: String,
    pub sources: Vec<String>,
    pub why: String,
}

/// A name for research that nobody gave. Fails with `INTERNAL`.
pub fn new_id() -> Result<String> {
    Ok(format!("s{}", ids::random_token()?.get(..12).unwrap_or_default()))
}

/// Text of a stranger, as it is kept, shown to the model and looked into: without secrets, without what cannot be seen, and not longer
/// than is kept.
pub fn sanitize(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(KEPT));
    for line in text.lines() {
        let line: String = line
            .chars()
            .map(|it| if commis_report::is_unsafe_char(it) { ' ' } else { it })
            .collect();
        let line = commis_redact::redact_written(&line);
        if out.len() + line.len() >= KEPT {
            out.push_str("(the rest was left out)\n");
            break;
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// What of a kept text may speak for something: lines that instruct their reader do not.
pub fn speaks(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|it| !it.trim_start().starts_with(INSTRUCTS.trim_end()))
}

/// Whether a page says that text, as claims are held to pages.
pub fn page_contains(content: &str, text: &str) -> bool {
    let text = normalize_text(text);
    !text.is_empty() && normalize_text(content).contains(&text)
}

/// A text of one line, of at most so many characters, without what cannot be seen.
pub fn line(text: &str, most: usize) -> String {
    let seen: String =
        text.chars().map(|it| if commis_report::is_unsafe_char(it) { ' ' } else { it }).collect();
    let words = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(most).collect()
}

/// A title as it is kept.
pub fn title(text: &str) -> String {
    commis_redact::redact_written(&line(text, TITLE))
}

/// One call, three tries. Fails as the model does.
async fn patiently(
    chat_model: &dyn ChatModel,
    system: &str,
    turns: &[Turn],
    tools: &[Tool],
) -> Result<ChatReply> {
    let mut pauses = PAUSES.iter();
    loop {
        match chat_model.reply(system, turns, tools).await {
            Err(failed) if failed.error.retryable() => match pauses.next() {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => return Err(failed.error),
            },
            it => return Ok(it?),
        }
    }
}
