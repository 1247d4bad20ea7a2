//! Doing a task that nobody has recorded: a model chooses, one action a turn; what may change something waits for a person.
//!
//! Nothing here rests on what the model says of itself. What it may do is what hands offer, what leaves is what the page's egress
//! lets go, what is done is what the page shows.

mod actions;
mod approvals;
mod blockers;
mod body_fields;
mod completion_check;
mod display_value;
mod driver;
mod history;
mod human_input;
mod money_amounts;
mod page_view;
mod pending;
pub mod playbook;
pub mod playwright;
mod policy;
mod provenance;
mod recipe_match;
mod render;
mod request_risk;
pub mod research;
mod run;
pub mod runs;
mod snapshot_parser;
mod spelling;
mod ticks;
mod transcript;
mod typed_values;

#[cfg(test)]
mod sites_tests;
#[cfg(test)]
mod tests;

pub use self::{
    approvals::{Approvals, ReleaseSnapshot, SendOutcome as Became},
    driver::{ActionResult, BrowserDriver, PausedRequest},
    human_input::{HumanInput, HumanPrompt, NoHumanInput, Reply},
    money_amounts::{Amount, amounts},
    page_view::{Action, PageView},
    pending::{
        ApprovalDraft, ApprovalRequest, ApprovalState, Channel, Decider, Element, LASTS_MS,
        PageInfo,
    },
    policy::TaskPolicy,
    recipe_match::{OFFERED, Offer, choose_recipe, parameters, values},
    render::{RenderOutcome, digest, render},
    request_risk::heavy,
    run::{AgentRun, Goal, Limits, RunContext, RunEvent, RunOutcome, Usage},
    snapshot_parser::{find_by_ref, read as lines},
    transcript::Transcript,
};
