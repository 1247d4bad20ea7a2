//! When a playbook has shown that it works: two of its last three runs passed. It loses that the same way.

use schemars::JsonSchema;
use serde::Serialize;

use super::{PlaybookRef, RunRecord, RunStatus};
use commis_base::error::{Class, Code};

/// Runs that are looked back on, and how many of them have to have passed.
const LAST: usize = 3;
const PASSED: u32 = 2;

/// How a playbook stands by its kept runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Graduation {
    /// Two of its last three runs passed.
    pub graduated: bool,
    /// How many of its last runs passed.
    pub passed: u32,
    /// How many there are, three at most.
    pub of: u32,
}

/// Whether a run says something of its playbook: whether it passed. What a person, a model that could not be reached or a dry run
/// ended says nothing; a run that died did not pass, since nobody saw it pass.
fn passed(it: &RunRecord) -> Option<bool> {
    let reason = it.reason.as_deref().unwrap_or_default();
    match it.status {
        RunStatus::Done => Some(true),
        RunStatus::NotDone => {
            (!matches!(reason, "human_rejected" | "approval_expired" | "llm_error" | "mcp_error"))
                .then_some(false)
        }
        RunStatus::NeedsPerson | RunStatus::Died => Some(false),
        // Of errors, those of the site are the playbook's.
        RunStatus::Failed => Code::from_wire(reason)
            .filter(|it| it.class() == Class::Task && *it != Code::Cancelled)
            .map(|_| false),
        RunStatus::DryRun | RunStatus::Working | RunStatus::WaitingForApproval => None,
    }
}

/// How that playbook, as that text, stands. `runs` are newest first, each once.
pub fn graduation<'a>(
    book: &PlaybookRef,
    runs: impl IntoIterator<Item = &'a RunRecord>,
) -> Graduation {
    let of_it = runs.into_iter().filter(|it| it.playbook.as_ref() == Some(book));
    let last: Vec<bool> = of_it.filter_map(passed).take(LAST).collect();
    let passed = last.iter().filter(|it| **it).count() as u32;
    Graduation { graduated: passed >= PASSED, passed, of: last.len() as u32 }
}
