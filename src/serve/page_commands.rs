//! Commands at pages that stay: each in its turn, within its time.

use std::time::Duration;

use super::{
    Daemon,
    page_sessions::{PageSessions, TIMEOUT, key},
    principal::{Principal, page_name},
};
use commis_base::error::{Code, Error, Result};
use commis_browser::page_session::{Command, CommandOutput, PageController};

/// Beyond the time for one command, for the browser to say that it is over.
const GRACE: Duration = Duration::from_secs(15);

impl PageSessions {
    /// Does something at the page of that name, which is opened if it is not there. Fails with `PARAM_INVALID`, `TASK_BUSY`,
    /// `QUEUE_FULL`, `BROWSER_FAILED` and with what the command fails with.
    pub async fn with<T>(
        daemon: &Daemon,
        of: (&Principal, &str),
        what: impl AsyncFnOnce(&mut PageController) -> Result<T>,
    ) -> Result<T> {
        Self::within(daemon, of, TIMEOUT, what).await
    }

    /// The same for what takes as long as several commands.
    pub async fn within<T>(
        daemon: &Daemon,
        (principal, name): (&Principal, &str),
        limit: Duration,
        what: impl AsyncFnOnce(&mut PageController) -> Result<T>,
    ) -> Result<T> {
        page_name(name)?;
        let key = key(principal, name);
        let slot = daemon.page_sessions.slot(&key)?;
        let Ok(mut held) = tokio::time::timeout(TIMEOUT, slot.controller.lock()).await else {
            return Err(Error::new(
                Code::TaskBusy,
                "another command of this page is still running",
            )
            .hint("wait until it ends"));
        };
        if held.as_ref().is_some_and(|it| !it.is_alive()) {
            *held = None;
            daemon.page_sessions.lock().remove(&key);
            return Err(Error::new(
                Code::BrowserFailed,
                "the page was closed: it crashed, or its browser ended",
            )
            .hint("open an address with `browse goto`"));
        }
        let controller = match &mut *held {
            Some(it) => it,
            empty => {
                let context = daemon.runtime().browser.context().await?;
                // A token's id and a context's name are both plain words.
                let folder = daemon.home.rings.join(format!("{}.{}", key.0, key.1));
                let mut controller = PageController::new(context, TIMEOUT, Some(&folder))?;
                controller.told_to(slot.feed.clone());
                empty.insert(controller)
            }
        };
        // Enforced from here: a page that hangs is closed alone.
        let Ok(done) = tokio::time::timeout(limit + GRACE, what(controller)).await else {
            *held = None;
            daemon.page_sessions.lock().remove(&key);
            let err = Error::new(Code::Timeout, "the page stopped responding and was closed");
            return Err(err.hint("open an address again with `browse goto`"));
        };
        done
    }

    /// Gives the page of that name to a person, in a window, where it moves if it has none.
    pub async fn hand_off(
        daemon: &Daemon,
        of: (&Principal, &str),
        note: &str,
    ) -> Result<CommandOutput> {
        Self::in_window(daemon, of, async |controller: &mut PageController| {
            controller.hand_off(note).await
        })
        .await
    }

    /// Does something at the page of that name, in a window.
    pub async fn in_window<T>(
        daemon: &Daemon,
        of: (&Principal, &str),
        what: impl AsyncFnOnce(&mut PageController) -> Result<T>,
    ) -> Result<T> {
        // A browser is started, and a page opened in it.
        Self::within(daemon, of, 2 * TIMEOUT, async |controller: &mut PageController| {
            if !controller.is_visible() {
                controller.move_to(daemon.runtime().window().await?).await?;
            }
            what(controller).await
        })
        .await
    }

    /// One command.
    pub async fn run(
        daemon: &Daemon,
        of: (&Principal, &str),
        command: Command,
    ) -> Result<CommandOutput> {
        Self::with(daemon, of, async |controller: &mut PageController| {
            controller.run(command).await
        })
        .await
    }
}
