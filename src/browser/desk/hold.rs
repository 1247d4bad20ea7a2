//! A page that stays, whose changes wait: what is held is told, let go one by one, or taken back.

use std::time::Instant;

use super::{Command, Desk, Said};
use crate::{
    browser::held::{Judge, Waiting},
    error::{Code, Error, Result},
};

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
                | Self::Check(_)
                | Self::Uncheck(_)
                | Self::Focus(_)
                | Self::Hover(_)
        )
    }
}

impl Desk {
    /// From here on, what a page asks for is judged before it leaves.
    pub fn hold(&mut self, judge: Judge) {
        self.shared().hold(judge);
    }

    /// What waits.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.shared().waiting()
    }

    /// Lets one request go, and says what followed, and how it was answered. Fails with `APPROVAL_STALE`, where it is not sent; any
    /// other failure leaves open whether it was.
    pub async fn let_leave(&mut self, number: u64) -> Result<(Said, Option<u16>)> {
        let shared = self.shared();
        // Others that wait keep the page from going on.
        for it in shared.waiting().iter().filter(|it| it.number != number) {
            shared.take_back(it.number);
        }
        let before = self.before().await?;
        shared.lock().holding.iter_mut().for_each(|it| it.begins(true));
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

    /// Does once more what led to a request that was given up.
    async fn redo(&mut self) -> Result<Said> {
        match self.acting.clone() {
            Some(it) => self.obey(it).await,
            None => Err(Error::new(Code::ApprovalStale, "it is not known what led to the request")),
        }
    }
}
