//! Checks what the settings say of channels.

use super::webhook;
use commis_base::{error::Result, settings::Settings};
use commis_net::egress::EgressPolicy;

/// Whether what the settings say of channels can be used. Fails with `SETTINGS_INVALID`; a host that the policy refuses with its codes.
pub fn check_channels(settings: &Settings, policy: &EgressPolicy) -> Result<()> {
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
