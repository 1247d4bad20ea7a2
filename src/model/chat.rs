//! A conversation with a model that calls tools: what was said so far, what it may call, what it says next.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::EndReason;
use commis_base::error::Error;

/// Something that goes on with a conversation.
pub trait ChatModel: Send + Sync {
    /// `provider/name`.
    fn name(&self) -> &str;

    /// One call. `system` stands before all turns. Fails with `MODEL_FAILED` when there was no answer, and with what that took; one
    /// that calls no tool, or one that there is not, is no failure.
    fn reply<'a>(
        &'a self,
        system: &'a str,
        turns: &'a [Turn],
        tools: &'a [Tool],
    ) -> BoxFuture<'a, Result<ChatReply, FailedCall>>;
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum Turn {
    User {
        text: String,
    },
    Model {
        text: String,
        calls: Vec<Call>,
    },
    /// What came of a call.
    Tool {
        id: String,
        name: String,
        text: String,
    },
}

/// A tool that the model called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    pub name: String,
    /// An object, or whatever the model made of it.
    pub arguments: Value,
    /// What the provider wants back with it as it came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

/// A tool that it may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub name: String,
    pub help: String,
    /// JSON Schema of the arguments, an object.
    pub input: Value,
}

/// What came back, unchecked.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatReply {
    pub text: String,
    pub calls: Vec<Call>,
    pub end: EndReason,
    /// The provider's word for it.
    pub stop: String,
    pub tokens_in: u64,
    pub tokens_out: u64,
}

/// A call that came to nothing, and what it took all the same: the tokens that the provider counted.
#[derive(Debug)]
pub struct FailedCall {
    pub error: Error,
    pub tokens_in: u64,
    pub tokens_out: u64,
}

impl From<Error> for FailedCall {
    fn from(error: Error) -> Self {
        Self { error, tokens_in: 0, tokens_out: 0 }
    }
}

impl From<FailedCall> for Error {
    fn from(it: FailedCall) -> Self {
        it.error
    }
}
