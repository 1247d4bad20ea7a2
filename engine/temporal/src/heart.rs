//! What the engine hears of a task, and what a task may do as long as it does.
//!
//! A task that the engine has not heard of for [`LOST`] is another machine's. So leave to ask its site, and to put into the store
//! what was seen there, lasts [`SURE`] from the moment at which a beat was sent that the engine answered, and no longer: also
//! when this process was stopped, or cut off, and does not know it.

use std::time::Duration;

use commis_cli::TaskWorker;
use commis_net::egress::send_lease::{TaskLease, boot_clock};
use temporalio_client::{ActivityIdentifier, Client, RpcOptions, errors::AsyncActivityError};
use temporalio_sdk::activities::ActivityContext;
use tokio::sync::watch;

/// A machine is taken for lost when a task of it was not heard of for so long.
pub const LOST: Duration = Duration::from_secs(20);
/// Shorter by what two clocks may differ, and by what a request takes to leave.
const SURE: Duration = Duration::from_secs(16);
const BEAT: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_secs(1);
const ANSWER: Duration = Duration::from_secs(5);
/// What is waited for after a task was stopped, for its page to be gone, before this machine asks anything again.
pub const GRACE: Duration = Duration::from_secs(2);

/// Of one task.
pub struct Heart {
    client: Client,
    token: Vec<u8>,
    hold: TaskLease,
    stop: watch::Sender<bool>,
}

enum Answer {
    Heard,
    /// It is another one's, or nobody's any more.
    Gone,
    Nothing,
}

impl Heart {
    /// `None` when the engine does not answer, or says that the task is not this machine's.
    pub async fn begin(ctx: &ActivityContext, station: &TaskWorker) -> Option<Self> {
        let (client, token) = (ctx.client(), ctx.info().task_token.clone());
        let hold = station.hold(boot_clock() + SURE).await;
        let it = Self { client, token, hold, stop: watch::Sender::new(false) };
        let sent = boot_clock();
        let heard = matches!(it.send("").await, Answer::Heard) && it.hold.renew(sent + SURE);
        heard.then_some(it)
    }

    /// Whether the engine still has the task here.
    pub fn holds(&self) -> bool {
        self.hold.is_valid() && !*self.stop.borrow()
    }

    /// Waits until it does not.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut told = self.stop.subscribe();
        async move {
            // Who would tell is gone.
            let _ = told.wait_for(|it| *it).await;
        }
    }

    /// Beats until the task is not this machine's any more.
    pub async fn beat(&self, ctx: &ActivityContext, station: &TaskWorker, id: &str) {
        let mut due = boot_clock() + BEAT;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = ctx.cancelled() => break,
            }
            if !self.hold.is_valid() {
                break;
            }
            if boot_clock() < due {
                continue;
            }
            let sent = boot_clock();
            due = sent + BEAT;
            // The SDK ends what it has not heard of, too.
            let _ = ctx.record_heartbeat(()).await;
            match self.send(station.stage_of(id).unwrap_or_default()).await {
                Answer::Heard if self.hold.renew(sent + SURE) => {}
                Answer::Nothing => {}
                Answer::Heard | Answer::Gone => break,
            }
        }
        self.stop.send_replace(true);
    }

    async fn send(&self, stage: &str) -> Answer {
        let token = ActivityIdentifier::from_task_token(self.token.clone().into());
        let task = self.client.get_async_activity_handle(token);
        let beat = task.heartbeat(Some(stage.to_owned()), RpcOptions::default());
        match tokio::time::timeout(ANSWER, beat).await {
            Ok(Ok(it)) if it.cancel_requested || it.activity_paused => Answer::Gone,
            Ok(Ok(_)) => Answer::Heard,
            Ok(Err(AsyncActivityError::NotFound(_))) => Answer::Gone,
            Ok(Err(_)) | Err(_) => Answer::Nothing,
        }
    }
}
