//! A page that stays, whose changes wait: what is held is told, let go one by one, or taken back.

use std::{
    convert::Infallible,
    time::{Duration, Instant},
};

use super::{Command, CommandOutput, PageController, TURN};
use crate::{
    cdp,
    context_state::{ContextInner, ContextState},
    hold_state::{HeldRequest, HoldState, RequestJudge},
};
use commis_base::error::{Code, Error, Result};

/// A page that does not answer for so long stands still.
const STANDS: Duration = Duration::from_secs(1);
/// Longer than any command takes.
const LONG: Duration = Duration::from_secs(600);

impl Command {
    /// Whether what it sets off may be what a person would have wanted it for. What a page asks for while it is opened or looked at
    /// is its own wish.
    pub(super) fn acts(&self) -> bool {
        matches!(
            self,
            Self::Click(_)
                | Self::DoubleClick(_)
                | Self::Drag(..)
                | Self::Upload(..)
                | Self::Fill(..)
                | Self::Type(_)
                | Self::Press(_)
                | Self::Select(..)
                | Self::Unselect(..)
                | Self::Check(_)
                | Self::Uncheck(_)
                | Self::Focus(_)
                | Self::Hover(_)
        )
    }

    /// Whether it types a value.
    pub(super) fn types(&self) -> bool {
        matches!(self, Self::Fill(..) | Self::Type(_))
    }
}

impl PageController {
    /// From here on, what a page asks for is judged before it leaves.
    pub fn hold(&mut self, judge: RequestJudge) {
        self.shared().hold(judge);
    }

    /// What is done next is meant for a page of that site: where it has turned into another, nothing is typed.
    pub fn keep_to(&mut self, site: String) {
        self.shared().lock().holding.iter_mut().for_each(|it| it.keeps_to(site.clone()));
    }

    /// Whether it is judged here what may leave.
    pub fn is_holding(&self) -> bool {
        self.shared().is_holding()
    }

    /// What waits.
    pub fn held_requests(&self) -> Vec<HeldRequest> {
        self.shared().held_requests()
    }

    /// The same, with the cookies that would go with it now and that scripts can write. Fails with `BROWSER_FAILED`.
    pub async fn waiting_now(&self) -> Result<Vec<HeldRequest>> {
        self.shared().waiting_now().await
    }

    /// Lets one request go, and says what followed, and how it was answered. Fails with `APPROVAL_STALE`, where it is not sent; any
    /// other failure leaves open whether it was.
    pub async fn let_leave(&mut self, number: u64) -> Result<(CommandOutput, Option<u16>)> {
        let shared = self.shared();
        // Others that wait keep the page from going on.
        for it in shared.held_requests().iter().filter(|it| it.number != number) {
            shared.take_back(it.number);
        }
        let before = self.before().await?;
        shared.lock().holding.iter_mut().for_each(|it| it.begins(true, false));
        let done = match shared.let_leave(number).await {
            Ok(true) => self.acted(before, "let the request go".to_owned()).await,
            Ok(false) => self.redo().await,
            Err(err) => Err(err),
        };
        shared.lock().holding.iter_mut().for_each(|it| it.ends(Instant::now()));
        let (left, status) = shared.settled();
        match done {
            Ok(said) if left => Ok((said, status)),
            Err(err) if left => Err(err),
            // What was made in its place waits, and is none that anybody approved.
            Ok(_) | Err(_) => {
                shared.take_all_back();
                Err(Error::new(Code::ApprovalStale, "the page would send another request now"))
            }
        }
    }

    /// Until a page that asks for something synchronously, which is held, stands still for it: it would, until it was decided about.
    /// Such a request is given up, again and again.
    pub(super) async fn unblock(shared: &ContextInner) -> Infallible {
        loop {
            let waits = |it: &ContextState| it.holding.as_ref().is_some_and(HoldState::blocks);
            let found = shared.until(Instant::now() + LONG, waits).await;
            match shared.ask::<bool>(TURN, STANDS).await {
                Err(err) if !cdp::is_gone(&err) && matches!(found, Ok(true)) => shared.give_up(),
                _ => tokio::time::sleep(STANDS).await,
            }
        }
    }

    /// Does once more what led to a request that was given up.
    async fn redo(&mut self) -> Result<CommandOutput> {
        match self.acting.clone() {
            Some(it) => self.obey(it).await,
            None => {
                Err(Error::new(Code::ApprovalStale, "no action is known that caused the request"))
            }
        }
    }
}
