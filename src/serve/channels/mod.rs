//! Who is told, away from here, that a request waits: a webhook, and a chat where a person may press a button.
//!
//! Both begin when a request waits and never hold a run up. What comes back of a webhook approves nothing; a button is an approval like
//! any other, with its digest, once, by somebody who is listed, and for what hangs little on (`agent/weight.rs`).

mod bot;
mod telegram;
pub mod webhook;

pub use bot::Bot;

use std::sync::Arc;

use tokio::sync::Notify;

use super::Daemon;
use commis_agent::{ApprovalRequest, heavy};
use commis_base::{
    error::Result,
    settings::{ApprovalScope, Settings},
};
use commis_net::egress::EgressPolicy;

#[derive(Default)]
pub struct Channels {
    telegram: telegram::OpenQuestions,
    /// Told when something was decided.
    changed: Notify,
}

impl Channels {
    /// Something that waited was decided, by whatever way.
    pub fn decided(&self) {
        self.changed.notify_one();
    }
}

/// Whether what the settings say of channels can be used. Fails with `SETTINGS_INVALID`; a host that the policy refuses with its codes.
pub fn check(settings: &Settings, policy: &EgressPolicy) -> Result<()> {
    let (agent, watch) = (&settings.agent, &settings.watch);
    if let Some(why) = &agent.channels_refused {
        tracing::warn!(why, "nobody is told of approvals elsewhere, though the settings say so");
    }
    if let Some(why) = &watch.refused {
        tracing::warn!(
            why,
            "no webhook and no program is told of changes, though the settings say so"
        );
    }
    let mut webhooks = agent.webhook.iter().chain(&watch.webhook);
    webhooks.try_for_each(|it| webhook::check(it, policy))
}

/// Tells whoever is to be told that this waits, and returns at once.
pub fn notify(daemon: &Arc<Daemon>, it: &ApprovalRequest) {
    let settings = daemon.world().settings.agent.clone();
    if let Some(to) = settings.webhook {
        apart(daemon, webhook::notify(Arc::clone(daemon), to, it.clone()));
    }
    if let Some(to) = settings.telegram {
        apart(daemon, telegram::send_question(Arc::clone(daemon), to, it.clone()));
    }
}

/// Work that ends with the daemon, whatever it waits for.
fn apart(daemon: &Arc<Daemon>, work: impl Future<Output = ()> + Send + 'static) {
    let stop = daemon.stop.clone();
    tokio::spawn(async move { stop.run_until_cancelled(work).await });
}

/// Where the dashboard shows what waits. There is no code in it: who opens it has to be let in already.
pub fn dashboard(daemon: &Daemon) -> String {
    format!("http://{}/approvals", daemon.addr)
}

/// Why this may not be approved by a way that proves no person; `None` where it may.
pub fn not_here(approves: ApprovalScope, it: &ApprovalRequest) -> Option<String> {
    match approves {
        ApprovalScope::All => None,
        ApprovalScope::Off => Some("the settings say so".to_owned()),
        ApprovalScope::Reversible => heavy(it),
    }
}
