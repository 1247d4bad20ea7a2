//! Which requests a channel that proves no person may approve.

use commis_agent::{ApprovalRequest, heavy};
use commis_base::settings::ApprovalScope;

/// Why this may not be approved by a way that proves no person; `None` where it may.
pub fn refusal_reason(approves: ApprovalScope, it: &ApprovalRequest) -> Option<String> {
    match approves {
        ApprovalScope::All => None,
        ApprovalScope::Off => Some("the settings say so".to_owned()),
        ApprovalScope::Reversible => heavy(it),
    }
}
