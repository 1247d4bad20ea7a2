//! Doing a task that nobody has recorded: a model chooses, one action a turn; what may change something waits for a person.
//!
//! Nothing here rests on what the model says of itself. What it may do is what hands offer, what leaves is what the page's egress
//! lets go, what is done is what the page shows.

mod actions;
mod amounts;
mod approvals;
mod bodies;
mod choose;
mod claims;
mod contract;
mod hands;
mod history;
mod lines;
mod origins;
mod pending;
mod people;
pub mod playbook;
pub mod playwright;
mod render;
pub mod research;
mod run;
pub mod runs;
mod seen;
mod spelling;
mod ticks;
mod transcript;
mod typed;
mod visible;
mod walls;
mod weight;

#[cfg(test)]
mod sites_tests;
#[cfg(test)]
mod tests;

pub use self::{
    amounts::{Amount, amounts},
    approvals::{Approvals, ReleaseSnapshot, SendOutcome as Became},
    choose::{OFFERED, Offer, chosen, parameters, values},
    contract::TaskPolicy,
    hands::{ActionResult, BrowserDriver, PausedRequest},
    lines::{find_by_ref, read as lines},
    pending::{
        ApprovalDraft, ApprovalRequest, ApprovalState, Channel, Decider, Element, LASTS_MS,
        PageInfo,
    },
    people::{HumanInput, HumanPrompt, NoHumanInput, Reply},
    render::{RenderOutcome, digest, render},
    run::{AgentRun, Goal, Limits, RunContext, RunEvent, RunOutcome, Usage},
    seen::{Action, PageView},
    transcript::Transcript,
    weight::heavy,
};
