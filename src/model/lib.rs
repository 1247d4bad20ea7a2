//! Asking a model: the trait, the question, the check of the answer, the client.
//!
//! A model may only choose, and only from a list; `stages/model_options.rs` says which choices there are and checks again. What
//! it is told is redacted already, what it says is a stranger's text, and no error of its server's is ever shown: some
//! servers repeat the key.

mod answer;
mod cache;
mod chat;
mod chat_client;
mod client;
mod prompt;
mod relay;
mod tool_call_repair;

use futures::future::BoxFuture;
use serde_json::Value;

pub use answer::parse_verdict;
pub use cache::Cache;
pub use chat::{Call, ChatModel, ChatReply, FailedCall, Tool, Turn};
pub use client::Client;
pub use prompt::{PROMPT_VERSION, question, retry_question};

use commis_base::error::Result;

/// Something that answers a question with text.
pub trait Model: Send + Sync {
    /// `provider/name`.
    fn name(&self) -> &str;

    /// What else an answer depends on, for digests: the endpoint.
    fn endpoint(&self) -> &str;

    /// One call. Fails with `MODEL_FAILED` when there was no answer; a bad one is not a failure.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer>>;
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Ours, constant.
    pub instructions: &'static str,
    pub text: String,
    /// JSON Schema of the answer.
    pub schema: Value,
}

impl Question {
    /// Instructions, text and schema, bytes.
    pub fn bytes(&self) -> usize {
        self.instructions.len() + self.text.len() + self.schema.to_string().len()
    }
}

/// What came back, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub end: EndReason,
    /// The provider's word for it.
    pub stop: String,
    pub tokens_in: u64,
    pub tokens_out: u64,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    Complete,
    /// At the token limit.
    Cut,
    /// The model or a filter would not answer.
    Refused,
}

#[cfg(test)]
mod tests;
