//! A conversation through the client: turns and tools in the client crate's words, its answer in ours.

use std::mem::take;

use futures::future::BoxFuture;
use genai::chat::{
    ChatMessage, ChatRequest, ChatResponse, ChatRole, ContentPart, MessageContent, Tool as Offered,
    ToolCall, ToolResponse,
};
use serde_json::{Map, Value};

use super::{
    Answer, Call, ChatModel, ChatReply, Client, FailedCall, Model, Tool, Turn, client::answer,
};

impl ChatModel for Client {
    fn name(&self) -> &str {
        Model::name(self)
    }

    fn reply<'a>(
        &'a self,
        system: &'a str,
        turns: &'a [Turn],
        tools: &'a [Tool],
    ) -> BoxFuture<'a, Result<ChatReply, FailedCall>> {
        Box::pin(
            async move { Ok(to_chat_reply(&self.converse(request(system, turns, tools)).await?)) },
        )
    }
}

fn request(system: &str, turns: &[Turn], tools: &[Tool]) -> ChatRequest {
    let mut out = ChatRequest::from_system(system);
    for turn in turns {
        match turn {
            Turn::User { text } => out.messages.push(ChatMessage::user(text.as_str())),
            Turn::Model { text, calls } => {
                let parts = model_parts(text, calls);
                // Every provider refuses a message with nothing in it.
                if !parts.is_empty() {
                    out.messages.push(ChatMessage::assistant(MessageContent::from_parts(parts)));
                }
            }
            Turn::Tool { id, name, text } => {
                let came = ToolResponse::new(id, text).with_fn_name(name);
                // What came of calls that were made at once goes back at once.
                match out.messages.last_mut().filter(|it| it.role == ChatRole::Tool) {
                    Some(last) => last.content.push(came),
                    None => out.messages.push(came.into()),
                }
            }
        }
    }
    // An empty list is refused where none is not.
    if tools.is_empty() { out } else { out.with_tools(tools.iter().map(to_genai_tool)) }
}

/// A turn of the model as it was, but for arguments that are no object: servers that look into them fail at those.
fn model_parts(text: &str, calls: &[Call]) -> Vec<ContentPart> {
    let mut out = Vec::new();
    if !text.is_empty() {
        out.push(ContentPart::from_text(text));
    }
    for call in calls {
        out.extend(call.kept.iter().filter_map(|it| restore_part(it)));
        let arguments = if call.arguments.is_object() {
            call.arguments.clone()
        } else {
            Value::Object(Map::new())
        };
        out.push(ContentPart::ToolCall(ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: arguments,
            thought_signatures: None,
        }));
    }
    out
}

fn to_genai_tool(tool: &Tool) -> Offered {
    Offered::new(tool.name.as_str())
        .with_description(tool.help.as_str())
        .with_schema(tool.input.clone())
}

fn to_chat_reply(reply: &ChatResponse) -> ChatReply {
    let mut calls = Vec::new();
    let mut kept = Vec::new();
    // Some formats have it beside the content.
    if !reply.content.contains_reasoning_content()
        && let Some(it) = &reply.reasoning_content
    {
        kept.extend(kept_part(&ContentPart::ReasoningContent(it.clone())));
    }
    for part in reply.content.parts() {
        match part {
            ContentPart::ToolCall(it) => calls.push(Call {
                id: it.call_id.clone(),
                name: it.fn_name.clone(),
                arguments: it.fn_arguments.clone(),
                kept: take(&mut kept),
            }),
            _ => kept.extend(kept_part(part)),
        }
    }
    let Answer { text, end, stop, tokens_in, tokens_out } = answer(reply);
    ChatReply { text, calls, end, stop, tokens_in, tokens_out }
}

/// What a provider wants back before a call, as text: signatures of thoughts, thoughts, and what the client crate has no name for.
fn kept_part(part: &ContentPart) -> Option<String> {
    let nameless;
    let part = match part {
        // Whose it is does not read back.
        ContentPart::Custom(it) => {
            nameless = ContentPart::from_custom(it.data.clone(), None);
            &nameless
        }
        it => it,
    };
    is_kept_part(part).then(|| serde_json::to_string(part).ok()).flatten()
}

fn restore_part(kept: &str) -> Option<ContentPart> {
    serde_json::from_str(kept).ok().filter(is_kept_part)
}

/// Text and calls are none of it: those stand in the turn for all to see.
fn is_kept_part(part: &ContentPart) -> bool {
    matches!(
        part,
        ContentPart::ThoughtSignature(_)
            | ContentPart::ReasoningContent(_)
            | ContentPart::Custom(_)
    )
}
