//! A task whose request waits for a person: the client is asked to put the question to its user, in both eras, and else the answer says
//! where a person can decide.
//!
//! The question is rendered from the request's bytes, and what comes back is an answer to that question and to nothing else: in sessions it
//! belongs to a request of ours, without them to a sealed state that holds approval and digest, for one caller, one call and one use. No
//! argument of a tool says anything about it. A client may answer by itself, so what hangs more on is not asked about (`agent/request_risk.rs`),
//! unless the settings say so.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ElicitRequest,
    ElicitRequestParams, ElicitationAction, InputRequest, InputRequests, InputRequiredResult,
    JsonObject, ProtocolVersion,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::session::{McpContext, McpHandler, McpResult};
use crate::{
    agent_runs::owner_filter,
    answer::{Answer, ApiError},
    channels::{dashboard, scope::refusal_reason},
    operations::{Operation, find},
    principal::{AccessRequirement, AccessRight, Area, Principal},
    queue::{CallOptions, PerformOutcome, Queue},
};
use commis_agent::{ApprovalRequest, Channel};
use commis_base::{
    error::{Code, Error},
    settings::ApprovalScope,
};
use commis_state::now_ms;

/// Of one call. People who are asked more often say yes to everything.
const QUESTIONS: usize = 5;
/// By which the answer is found among those that a client brings.
const NAME: &str = "approve";
/// Less is left of the time to decide than a question takes.
const TOO_LATE_MS: i64 = 5_000;

/// What a question was about, as the client carries it.
#[derive(Serialize, Deserialize)]
struct ApprovalReference {
    id: String,
    digest: String,
}

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    SendOnce,
    No,
    /// Nothing that counts: it goes on waiting.
    Nothing,
}

type PerformResult = Result<PerformOutcome, Box<ApiError>>;

/// Whether the client can ask its user for something.
pub(super) fn can_ask(context: &McpContext) -> bool {
    context
        .client_capabilities()
        .and_then(|it: ClientCapabilities| it.elicitation)
        .is_some_and(|it| it.form.is_some() || it.url.is_none())
}

/// Whether it speaks the revision without sessions.
pub(super) fn is_modern(context: &McpContext) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl McpHandler {
    /// Does a task, or goes on with one that waits where the client brings an answer to what it was asked.
    pub(super) async fn run(
        &self,
        principal: &Principal,
        row: &'static Operation,
        (args, options): (JsonObject, CallOptions),
        request: &CallToolRequestParams,
        context: &McpContext,
    ) -> McpResult<CallToolResponse> {
        let given = request.arguments.clone().unwrap_or_default();
        let bound = format!("{}\0{}", request.name, Value::Object(given));
        // With a state nothing is begun, whatever the state is worth.
        let mut came = match request.request_state.as_deref().filter(|_| is_modern(context)) {
            Some(state) => {
                let about = self.open_state(principal, &bound, state).await?;
                let about = serde_json::from_value(about)
                    .map_err(|err| rmcp::ErrorData::internal_error(err.to_string(), None))?;
                let said = request.input_responses.as_ref().and_then(|it| it.get(NAME));
                self.decided(principal, &about, said_by(said)).await
            }
            None => {
                Queue::perform(&self.daemon, row, Value::Object(args), principal.clone(), options)
                    .await
            }
        };
        for _ in 0..QUESTIONS {
            let answer = match self.wait_for_answer(came, context).await {
                Ok(it) => it,
                Err(it) => return Ok(it),
            };
            let Some(pending) = self.question(principal, &answer, context) else {
                return Ok(Self::answer_result(answer).into());
            };
            let params = self.form(&pending, context)?;
            let about = ApprovalReference {
                id: pending.id.clone(),
                digest: pending.request.digest.clone(),
            };
            if is_modern(context) {
                let all: InputRequests =
                    [(NAME.to_owned(), InputRequest::Elicitation(ElicitRequest::new(params)))]
                        .into_iter()
                        .collect();
                let state = self.sealed(principal, &bound, json!(about))?;
                return Ok(InputRequiredResult::new(Some(all), Some(state)).into());
            }
            let left = u64::try_from(pending.expires_ms - now_ms()).unwrap_or_default();
            let said = tokio::select! {
                it = context.peer.create_elicitation(params) => match it {
                    Ok(it) if it.action == ElicitationAction::Accept => read_decision(it.content.as_ref()),
                    Ok(it) if it.action == ElicitationAction::Decline => Decision::No,
                    _ => Decision::Nothing,
                },
                () = tokio::time::sleep(Duration::from_millis(left)) => Decision::Nothing,
                () = context.ct.cancelled() => Decision::Nothing,
            };
            if said == Decision::Nothing {
                return Ok(Self::answer_result(self.with_pending(principal, answer)).into());
            }
            came = self.decided(principal, &about, said).await;
        }
        Ok(match self.wait_for_answer(came, context).await {
            Ok(it) => Self::answer_result(it).into(),
            Err(it) => it,
        })
    }

    /// Whether this call is kept open though the client knows tasks: a question can only be put while it is.
    pub(super) fn keeps_open(
        &self,
        row: &Operation,
        args: &JsonObject,
        context: &McpContext,
    ) -> bool {
        row.spec.name == "run"
            && args.get("allow_submit") == Some(&Value::Bool(true))
            && self.asks(context)
    }

    fn asks(&self, context: &McpContext) -> bool {
        let settings = self.daemon.runtime();
        settings.settings.agent.elicitation != ApprovalScope::Off && can_ask(context)
    }

    /// What is to be asked after that answer: where one request waits, the client can ask and who calls may decide about it.
    fn question(
        &self,
        principal: &Principal,
        answer: &Answer,
        context: &McpContext,
    ) -> Option<ApprovalRequest> {
        let ids = waiting_approvals(&answer.data)?;
        let [id] = ids.as_slice() else { return None };
        let may = principal.may(AccessRequirement::May(Area::Approvals, AccessRight::Write), None);
        if !may || !self.asks(context) {
            return None;
        }
        let pending =
            self.daemon.suspended_runs.approvals.get(id, owner_filter(principal), now_ms()).ok()?;
        let approves = self.daemon.runtime().settings.agent.elicitation;
        let is_open = pending.state.word() == "waiting"
            && pending.expires_ms - now_ms() > TOO_LATE_MS
            && refusal_reason(approves, &pending).is_none();
        is_open.then_some(pending)
    }

    /// The question as every client knows it: what would be sent, and two answers.
    fn form(&self, it: &ApprovalRequest, context: &McpContext) -> McpResult<ElicitRequestParams> {
        let version = context.protocol_version();
        let titled =
            version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2025_11_25.as_str());
        let decision = if titled {
            json!({"type": "string", "oneOf": [
                {"const": "send_once", "title": "Send it once"},
                {"const": "no", "title": "Never send it"},
            ]})
        } else {
            json!({"type": "string", "enum": ["send_once", "no"]})
        };
        let schema = json!({
            "type": "object", "properties": {"decision": decision}, "required": ["decision"],
        });
        Ok(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!(
                "{}\n\nMay it be sent? The same is at {}",
                it.request(),
                dashboard(&self.daemon)
            ),
            requested_schema: serde_json::from_value(schema)
                .map_err(|err| rmcp::ErrorData::internal_error(err.to_string(), None))?,
        })
    }

    /// Approves or rejects, as who calls.
    async fn decided(
        &self,
        principal: &Principal,
        about: &ApprovalReference,
        said: Decision,
    ) -> PerformResult {
        let approvals = &self.daemon.suspended_runs.approvals;
        let (name, args) = match said {
            Decision::SendOnce => {
                // The settings may be others by now.
                let pending = approvals.get(&about.id, owner_filter(principal), now_ms())?;
                let approves = self.daemon.runtime().settings.agent.elicitation;
                if let Some(why) = refusal_reason(approves, &pending) {
                    let err =
                        Error::new(Code::Forbidden, format!("a client may not approve it: {why}"));
                    return Err(err.hint(place(&self.daemon, &about.id)).into());
                }
                ("approval_approve", json!({"id": about.id, "digest": about.digest}))
            }
            Decision::No => ("approval_reject", json!({"id": about.id})),
            Decision::Nothing => {
                let err = Error::new(Code::Forbidden, "the request was not approved and not sent");
                return Err(err.hint(place(&self.daemon, &about.id)).into());
            }
        };
        let row =
            find(name).ok_or_else(|| Error::new(Code::Internal, "there is no such operation"))?;
        let by_way = Some((Channel::Mcp, principal.id.clone()));
        let by = Principal { by_way, ..principal.clone() };
        let came = Queue::perform(&self.daemon, row, args, by, CallOptions::default()).await;
        if said == Decision::No {
            came?;
            let err =
                Error::new(Code::Cancelled, "a person rejected the request; it is never sent");
            return Err(err.into());
        }
        came
    }

    /// The same answer, saying what became of what waits and where it can be decided about.
    fn with_pending(&self, principal: &Principal, mut answer: Answer) -> Answer {
        let Some(id) = waiting_approvals(&answer.data).and_then(|it| it.into_iter().next()) else {
            return answer;
        };
        let now = self.daemon.suspended_runs.approvals.get(&id, owner_filter(principal), now_ms());
        let state = now.map_or("gone", |it| it.state.word());
        answer.data["detail"] = format!("it is {state}; {}", place(&self.daemon, &id)).into();
        answer
    }
}

fn place(daemon: &crate::Daemon, id: &str) -> String {
    format!("a person decides at {} or with `commis approve {id}`", dashboard(daemon))
}

/// Approvals that a task waits for.
fn waiting_approvals(data: &Value) -> Option<Vec<String>> {
    if data["status"] != "waiting_for_approval" {
        return None;
    }
    let all = data["model"]["approvals"].as_array()?;
    Some(all.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect())
}

/// What an answer that a client brought says.
fn said_by(it: Option<&Value>) -> Decision {
    let Some(it) = it else { return Decision::Nothing };
    match it["action"].as_str() {
        Some("accept") => read_decision(it.get("content")),
        Some("decline") => Decision::No,
        _ => Decision::Nothing,
    }
}

/// Only the very word sends.
fn read_decision(content: Option<&Value>) -> Decision {
    match content.and_then(|it| it["decision"].as_str()) {
        Some("send_once") => Decision::SendOnce,
        Some("no") => Decision::No,
        _ => Decision::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_word_sends() {
        let check = |it: Value, said: Decision| assert_eq!(said_by(Some(&it)), said, "{it}");
        let of = |action: &str, content: Value| json!({"action": action, "content": content});
        check(of("accept", json!({"decision": "send_once"})), Decision::SendOnce);
        check(of("accept", json!({"decision": "no"})), Decision::No);
        check(of("decline", json!({"decision": "send_once"})), Decision::No);
        check(of("decline", Value::Null), Decision::No);
        for it in [
            of("cancel", json!({"decision": "send_once"})),
            of("ACCEPT", json!({"decision": "send_once"})),
            of("accept", json!({"decision": "Send it once"})),
            of("accept", json!({"decision": true})),
            of("accept", json!({"decision": ["send_once"]})),
            of("accept", json!({"choice": "send_once"})),
            of("accept", json!({})),
            of("accept", json!("send_once")),
            json!({"content": {"decision": "send_once"}}),
            json!("accept"),
            Value::Null,
        ] {
            check(it, Decision::Nothing);
        }
        assert_eq!(said_by(None), Decision::Nothing);
    }

    #[test]
    fn what_waits_is_read_off_the_status() {
        let of = |status: &str| json!({"status": status, "model": {"approvals": ["a", "b"]}});
        assert_eq!(waiting_approvals(&of("waiting_for_approval")).unwrap(), ["a", "b"]);
        assert_eq!(waiting_approvals(&of("done")), None);
        assert_eq!(waiting_approvals(&json!({"status": "waiting_for_approval"})), None);
    }
}
