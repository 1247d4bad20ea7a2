//! Who is told, away from here, that a request waits: a webhook, and a chat where a person may press a button.
//!
//! Both begin when a request waits and never hold a run up. What comes back of a webhook approves nothing; a button is an approval like
//! any other, with its digest, once, by somebody who is listed, and for what hangs little on (`agent/request_risk.rs`).

mod approval_webhook;
mod bot;
pub mod pending;
pub mod scope;
pub mod settings;
mod telegram;
pub mod webhook;

pub use bot::Bot;

use std::sync::Arc;

use super::Daemon;
use commis_agent::ApprovalRequest;

/// Tells whoever is to be told that this waits, and returns at once.
pub fn notify(daemon: &Arc<Daemon>, it: &ApprovalRequest) {
    let settings = daemon.runtime().settings.agent.clone();
    if let Some(to) = settings.webhook {
        spawn_until_stop(daemon, approval_webhook::notify(Arc::clone(daemon), to, it.clone()));
    }
    if let Some(to) = settings.telegram {
        spawn_until_stop(daemon, telegram::send_question(Arc::clone(daemon), to, it.clone()));
    }
}

/// Work that ends with the daemon, whatever it waits for.
fn spawn_until_stop(daemon: &Arc<Daemon>, work: impl Future<Output = ()> + Send + 'static) {
    let stop = daemon.stop.clone();
    tokio::spawn(async move { stop.run_until_cancelled(work).await });
}

/// Where the dashboard shows what waits. There is no code in it: who opens it has to be let in already.
pub fn dashboard(daemon: &Daemon) -> String {
    format!("http://{}/approvals", daemon.addr)
}
