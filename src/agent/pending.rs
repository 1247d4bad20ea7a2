//! A request that waits for a person: what is shown of it, and every state that it goes through.
//!
//!     waiting ─► approved ─► releasing ─► sent | failed | perhaps_sent
//!        └─► rejected            an approved one that is not let go yet may still become
//!        └─► expired, stale, lost   these three
//!
//! `releasing` is on disk before the request may go, so whoever finds it after a crash knows that it may be out, and nobody lets it go
//! again. No state leads back.

use std::{fmt::Write as _, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{display_value, money_amounts::Amount, render::RenderedRequest};
use commis_base::error::{Code, Error, Result};
use commis_browser::{cut, plain};

pub const VERSION: u32 = 1;
/// How long somebody has to decide.
pub const LASTS_MS: i64 = 15 * 60 * 1000;

const SLACK_MS: i64 = 60 * 1000;

const HISTORY: usize = 100;
const TEXT: usize = 300;

/// A request that waits, or waited, as it is on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRequest {
    pub version: u32,
    pub id: String,
    /// Whose task it is.
    pub principal: String,
    /// The run that wants to send it.
    pub run: String,
    /// The process that has the page, by the name of its lock.
    pub holder: String,
    /// All that is said of the request itself; with the digest that is approved.
    pub request: RenderedRequest,
    pub page: PageInfo,
    pub element: Option<Element>,
    /// Amounts in the request and on its page.
    pub amounts: Vec<Amount>,
    pub picture: Option<PathBuf>,
    /// What was done before, a line an action.
    pub history: Vec<String>,
    pub created_ms: i64,
    pub expires_ms: i64,
    pub state: ApprovalState,
}

/// The page that the request comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageInfo {
    pub url: String,
    pub title: String,
    /// Over what of it matters, as whoever drives the page sees it.
    pub digest: String,
}

/// What was pressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Element {
    pub role: String,
    pub name: String,
}

/// What is to wait. There is no way to make one of a request that could not be shown.
#[derive(Clone, Debug)]
pub struct ApprovalDraft {
    pub principal: String,
    pub run: String,
    pub request: RenderedRequest,
    pub page: PageInfo,
    pub element: Option<Element>,
    pub amounts: Vec<Amount>,
    pub picture: Option<PathBuf>,
    pub history: Vec<String>,
}

impl ApprovalDraft {
    pub(super) fn into_pending(self, id: String, holder: String, now_ms: i64) -> ApprovalRequest {
        let skip = self.history.len().saturating_sub(HISTORY);
        ApprovalRequest {
            version: VERSION,
            id,
            principal: self.principal,
            run: self.run,
            holder,
            request: self.request,
            page: self.page.sanitize(),
            element: self.element.map(Element::sanitize),
            amounts: self.amounts,
            picture: self.picture,
            history: self.history.iter().skip(skip).map(|it| redact_line(it)).collect(),
            created_ms: now_ms,
            expires_ms: now_ms.saturating_add(LASTS_MS),
            state: ApprovalState::Waiting,
        }
    }
}

impl PageInfo {
    /// As it is kept, and compared.
    #[must_use]
    pub fn sanitize(self) -> Self {
        // A digest looks like a secret, and is none.
        let digest: String =
            self.digest.chars().filter(char::is_ascii_alphanumeric).take(TEXT).collect();
        Self { url: redact_line(&self.url), title: redact_line(&self.title), digest }
    }
}

impl Element {
    #[must_use]
    pub fn sanitize(self) -> Self {
        Self { role: redact_line(&self.role), name: redact_line(&self.name) }
    }
}

/// Words of pages and models, on one line, without secrets.
fn redact_line(text: &str) -> String {
    cut(&display_value::without_secrets(&plain(text)), TEXT)
}

impl ApprovalRequest {
    /// Whether its time is over. A clock that was set back before it began is no more to be relied on; whoever looks may have read it a
    /// little before.
    pub(super) const fn is_over(&self, now_ms: i64) -> bool {
        now_ms >= self.expires_ms || now_ms < self.created_ms.saturating_sub(SLACK_MS)
    }

    /// The request and nothing else: of its bytes alone, with no word of a page or a model outside of quotes.
    pub fn request(&self) -> String {
        let RenderedRequest { digest, .. } = &self.request;
        format!("one request, sent once:\n\n{}\n\ndigest {digest}", self.request.text())
    }

    /// What a person decides about, the same in every channel that has room. The first lines are the request; words of the page and of
    /// the model stand in quotes, after it.
    pub fn text(&self) -> String {
        let quoted = |it: &str| display_value::quoted(it.as_bytes());
        let mut out = self.request();
        if !self.amounts.is_empty() {
            let all: Vec<String> = self.amounts.iter().map(ToString::to_string).collect();
            _ = write!(out, "\namounts {}", all.join(", "));
        }
        _ = write!(out, "\npage {} {}", quoted(&self.page.url), quoted(&self.page.title));
        if let Some(it) = &self.element {
            _ = write!(out, "\npressed {} {}", quoted(&it.role), quoted(&it.name));
        }
        if !self.history.is_empty() {
            out.push_str("\nbefore that");
        }
        for it in &self.history {
            _ = write!(out, "\n  {}", quoted(it));
        }
        out
    }
}

/// Who decided, and by which way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decider {
    pub who: String,
    pub channel: Channel,
    pub at_ms: i64,
}

/// Where a person decides. None of them is a tool that a model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Terminal,
    Dashboard,
    Rest,
    /// A question that the client puts to its user.
    Mcp,
    Webhook,
    Telegram,
}

impl Channel {
    /// As people call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Terminal => "in a terminal",
            Self::Dashboard => "in the dashboard",
            Self::Rest => "by REST",
            Self::Mcp => "asked by an MCP client",
            Self::Webhook => "by a webhook",
            Self::Telegram => "in Telegram",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum ApprovalState {
    Waiting,
    Approved {
        by: Decider,
    },
    /// It may go, or has gone.
    Releasing {
        by: Decider,
    },
    /// It was answered.
    Sent {
        by: Decider,
        status: u16,
    },
    /// It did not leave.
    Failed {
        by: Decider,
        reason: String,
    },
    /// Nobody knows whether it left.
    PerhapsSent {
        by: Decider,
    },
    Rejected {
        by: Decider,
    },
    Expired {
        approved: Option<Decider>,
    },
    /// The page or the request was another by then.
    Stale {
        why: String,
        approved: Option<Decider>,
    },
    /// Whoever had the page is gone.
    Lost {
        approved: Option<Decider>,
    },
}

/// What happens to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalEvent {
    Approve(Decider),
    Reject(Decider),
    /// The time is over.
    Expire,
    /// What is there now is not what was shown. What changed.
    Change(String),
    /// The request may go from here on.
    Release,
    Answered(u16),
    /// It is certain that it did not leave. Why not.
    Failed(String),
    /// It was let go, and nothing is known.
    Unclear,
    /// Whoever had the page is gone.
    Gone,
}

impl ApprovalState {
    /// A person can still decide, or what they decided is still to be done.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Waiting | Self::Approved { .. })
    }

    /// Nothing more will happen to it.
    pub const fn is_settled(&self) -> bool {
        !self.is_open() && !matches!(self, Self::Releasing { .. })
    }

    /// In words of ours, without who and why.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved { .. } => "approved",
            Self::Releasing { .. } => "being sent",
            Self::Sent { .. } => "sent",
            Self::Failed { .. } => "not sent, it failed",
            Self::PerhapsSent { .. } => "perhaps sent",
            Self::Rejected { .. } => "rejected",
            Self::Expired { .. } => "expired",
            Self::Stale { .. } => "out of date",
            Self::Lost { .. } => "lost",
        }
    }

    /// Who decided, where somebody did.
    pub const fn by(&self) -> Option<&Decider> {
        match self {
            Self::Waiting => None,
            Self::Approved { by }
            | Self::Releasing { by }
            | Self::Sent { by, .. }
            | Self::Failed { by, .. }
            | Self::PerhapsSent { by }
            | Self::Rejected { by } => Some(by),
            Self::Expired { approved } | Self::Stale { approved, .. } | Self::Lost { approved } => {
                approved.as_ref()
            }
        }
    }

    fn approved(self) -> Option<Decider> {
        match self {
            Self::Approved { by } => Some(by),
            _ => None,
        }
    }
}

/// The next state. Fails with `APPROVAL_SETTLED` where it was decided, `APPROVAL_EXPIRED` and `APPROVAL_STALE` where it can no longer be,
/// `FORBIDDEN` where nobody approved it, and `INTERNAL` where an end is told of what was not let go.
pub fn step(state: ApprovalState, event: ApprovalEvent) -> Result<ApprovalState> {
    Ok(match (state, event) {
        (ApprovalState::Waiting, ApprovalEvent::Approve(by)) => ApprovalState::Approved { by },
        (ApprovalState::Waiting, ApprovalEvent::Reject(by)) => ApprovalState::Rejected { by },
        (it, ApprovalEvent::Expire) if it.is_open() => {
            ApprovalState::Expired { approved: it.approved() }
        }
        (it, ApprovalEvent::Change(why)) if it.is_open() => {
            ApprovalState::Stale { why: redact_line(&why), approved: it.approved() }
        }
        (it, ApprovalEvent::Gone) if it.is_open() => {
            ApprovalState::Lost { approved: it.approved() }
        }
        (ApprovalState::Approved { by }, ApprovalEvent::Release) => ApprovalState::Releasing { by },
        (ApprovalState::Releasing { by }, ApprovalEvent::Answered(status)) => {
            ApprovalState::Sent { by, status }
        }
        (ApprovalState::Releasing { by }, ApprovalEvent::Failed(reason)) => {
            ApprovalState::Failed { by, reason: redact_line(&reason) }
        }
        (ApprovalState::Releasing { by }, ApprovalEvent::Unclear | ApprovalEvent::Gone) => {
            ApprovalState::PerhapsSent { by }
        }
        (ApprovalState::Waiting, ApprovalEvent::Release) => {
            return Err(Error::new(Code::Forbidden, "the request is not approved")
                .hint("`commis approve` shows what waits"));
        }
        (it, ApprovalEvent::Answered(_) | ApprovalEvent::Failed(_) | ApprovalEvent::Unclear)
            if it.is_open() =>
        {
            return Err(Error::new(Code::Internal, "a held request ended before it was approved"));
        }
        (it, _) => return Err(refusal_error(&it)),
    })
}

/// Why nothing more can be done about it.
fn refusal_error(state: &ApprovalState) -> Error {
    let again = "the request was not sent; run the task again for a new approval";
    match state {
        ApprovalState::Expired { .. } => {
            Error::new(Code::ApprovalExpired, "the approval has expired").hint(again)
        }
        ApprovalState::Stale { why, .. } => {
            Error::new(Code::ApprovalStale, format!("the request is no longer valid: {why}"))
                .hint(again)
        }
        ApprovalState::Lost { .. } => Error::new(
            Code::ApprovalStale,
            "the process that held the page has ended, and the request is lost",
        )
        .hint(again),
        it => Error::new(
            Code::ApprovalSettled,
            format!("the request was decided before: it is {}", it.word()),
        )
        .hint("each request can be decided once"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by() -> Decider {
        Decider { who: "ann".to_owned(), channel: Channel::Terminal, at_ms: 5 }
    }

    fn states() -> Vec<(&'static str, ApprovalState)> {
        vec![
            ("waiting", ApprovalState::Waiting),
            ("approved", ApprovalState::Approved { by: by() }),
            ("releasing", ApprovalState::Releasing { by: by() }),
            ("sent", ApprovalState::Sent { by: by(), status: 200 }),
            ("failed", ApprovalState::Failed { by: by(), reason: "r".to_owned() }),
            ("perhaps_sent", ApprovalState::PerhapsSent { by: by() }),
            ("rejected", ApprovalState::Rejected { by: by() }),
            ("expired", ApprovalState::Expired { approved: None }),
            ("stale", ApprovalState::Stale { why: "w".to_owned(), approved: None }),
            ("lost", ApprovalState::Lost { approved: None }),
        ]
    }

    fn events() -> Vec<ApprovalEvent> {
        let other = Decider { who: "bob".to_owned(), channel: Channel::Dashboard, at_ms: 6 };
        vec![
            ApprovalEvent::Approve(other.clone()),
            ApprovalEvent::Reject(other),
            ApprovalEvent::Expire,
            ApprovalEvent::Change("w".to_owned()),
            ApprovalEvent::Release,
            ApprovalEvent::Answered(303),
            ApprovalEvent::Failed("f".to_owned()),
            ApprovalEvent::Unclear,
            ApprovalEvent::Gone,
        ]
    }

    #[test]
    fn every_state_and_every_event() {
        const SETTLED: &str = "APPROVAL_SETTLED";
        const EXPIRED: &str = "APPROVAL_EXPIRED";
        const STALE: &str = "APPROVAL_STALE";
        // Approve, Reject, Expire, Change, Release, Answered, Failed, Unclear, Gone
        #[rustfmt::skip]
        let table = [
            ["approved", "rejected", "expired", "stale", "FORBIDDEN", "INTERNAL", "INTERNAL", "INTERNAL", "lost"],
            [SETTLED, SETTLED, "expired", "stale", "releasing", "INTERNAL", "INTERNAL", "INTERNAL", "lost"],
            [SETTLED, SETTLED, SETTLED, SETTLED, SETTLED, "sent", "failed", "perhaps_sent", "perhaps_sent"],
            [SETTLED; 9],
            [SETTLED; 9],
            [SETTLED; 9],
            [SETTLED; 9],
            [EXPIRED; 9],
            [STALE; 9],
            [STALE; 9],
        ];
        for ((name, state), row) in states().into_iter().zip(table) {
            for (event, expected) in events().into_iter().zip(row) {
                let end = match step(state.clone(), event.clone()) {
                    Ok(it) => serde_json::to_value(&it).unwrap()["is"].as_str().unwrap().to_owned(),
                    Err(err) => err.code().as_str().to_owned(),
                };
                assert_eq!(end, expected, "{name} {event:?}");
            }
        }
    }

    #[test]
    fn who_approved_stays_known() {
        let approved = step(ApprovalState::Waiting, ApprovalEvent::Approve(by())).unwrap();
        for event in
            [ApprovalEvent::Expire, ApprovalEvent::Change("w".to_owned()), ApprovalEvent::Gone]
        {
            let it = step(approved.clone(), event).unwrap();
            assert_eq!(serde_json::to_value(&it).unwrap()["approved"]["who"], "ann");
        }
        let mut it = step(approved, ApprovalEvent::Release).unwrap();
        assert_eq!(it, ApprovalState::Releasing { by: by() });
        it = step(it, ApprovalEvent::Answered(200)).unwrap();
        assert_eq!(it, ApprovalState::Sent { by: by(), status: 200 });
    }

    /// From no state that is not waiting does any number of events lead to one from which a request may go a second time.
    #[test]
    fn nothing_goes_twice() {
        let mut seen = vec![(ApprovalState::Waiting, 0)];
        let mut at = 0;
        while let Some((state, released)) = seen.get(at).cloned() {
            at += 1;
            for event in events() {
                let Ok(next) = step(state.clone(), event.clone()) else { continue };
                let released = released + u32::from(event == ApprovalEvent::Release);
                assert!(released <= 1, "{state:?} {event:?}");
                assert!(next != ApprovalState::Waiting);
                if !seen.contains(&(next.clone(), released)) {
                    seen.push((next, released));
                }
            }
        }
        assert!(seen.len() >= 13, "{}", seen.len());
    }

    #[test]
    fn words_of_pages_are_on_one_line() {
        assert_eq!(redact_line("Pay\u{202e}\n\n now \u{1b}[2J"), "Pay now [2J");
        assert_eq!(redact_line(&"x".repeat(400)).chars().count(), TEXT + 1);
        assert!(!redact_line("password=correct-horse-9").contains("correct-horse"));
    }
}
