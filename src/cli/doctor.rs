//! `commis doctor`

use std::sync::Arc;

use serde::Serialize;

use super::{Global, context};
use commis_base::{
    error::{Error, Result},
    files,
    settings::{AgentSettings, BrowserSettings, Display, ModelSettings, has_variable},
};
use commis_browser::{Browser, SANDBOX, find_chromium, find_visible_chromium};
use commis_model::{Client, Model as _};
use commis_net::egress::EgressPolicy;

/// Check this machine: what is missing, and how to get it
///
/// With --json: a list of {what, ok, found, hint}.
#[derive(clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    what: &'static str,
    ok: bool,
    found: String,
    hint: Option<String>,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = context::open(global).await?;
    let mut checks = Vec::new();
    for (what, dir) in
        [("recipes folder", &place.home.recipes), ("artifacts folder", &place.home.artifacts)]
    {
        let made = files::ensure_private_dir(dir);
        checks.push(Check {
            what,
            ok: made.is_ok(),
            found: made.as_ref().map_or_else(ToString::to_string, |()| dir.display().to_string()),
            hint: made.err().and_then(|it| it.hint_text().map(str::to_owned)),
        });
    }
    checks.push(Check {
        what: "settings",
        ok: true,
        found: place.home.config.display().to_string(),
        hint: None,
    });
    checks.push(model(&place.settings.model));
    checks.extend(channels(&place.settings.agent));
    match find_chromium(place.settings.browser.path.as_deref()) {
        Err(err) => checks.push(Check {
            what: "Chromium",
            ok: false,
            found: err.to_string(),
            hint: err.hint_text().map(str::to_owned),
        }),
        Ok(exe) => {
            checks.push(Check {
                what: "Chromium",
                ok: true,
                found: exe.display().to_string(),
                hint: None,
            });
            let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
            checks.extend(launch(&exe, policy, &place.settings.browser).await);
        }
    }
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    checks.push(by_hand(policy, &place.settings.browser).await);
    let ok = checks.iter().all(|it| it.ok);
    if args.json {
        context::out(&checks);
    } else {
        for it in &checks {
            context::line(&format!(
                "{} {}: {}",
                match it.ok {
                    true if it.found.starts_with(NOT_HERE) => "-      ",
                    true => "ok     ",
                    false => "missing",
                },
                it.what,
                it.found
            ));
            if let Some(hint) = &it.hint {
                context::line(&format!("        {hint}"));
            }
        }
    }
    Ok(u8::from(!ok))
}

/// Whether one is configured and its key is there; the key itself is not shown, and nothing is sent.
fn model(settings: &ModelSettings) -> Check {
    let said = |ok, found: String, hint| Check { what: "model", ok, found, hint };
    match Client::new(settings) {
        Ok(None) => {
            said(true, "none configured; close calls end as needs_selection".to_owned(), None)
        }
        Ok(Some(it)) => {
            let key = match settings.key_variable() {
                Some(variable) => format!("key in {variable}"),
                None => "no key is sent".to_owned(),
            };
            said(true, format!("{} at {}, {key}", it.name(), it.endpoint()), None)
        }
        Err(err) => said(false, err.to_string(), err.hint_text().map(str::to_owned)),
    }
}

/// Who is told of requests that wait, and whether the variables for that are there; nothing is sent.
fn channels(settings: &AgentSettings) -> Vec<Check> {
    let mut out = Vec::new();
    if let Some(why) = &settings.channels_refused {
        let found = format!("the settings for it do not count: {why}");
        out.push(Check { what: "approvals elsewhere", ok: false, found, hint: None });
    }
    let webhook = settings.webhook.as_ref().map(|it| ("webhook", &it.secret_env));
    let telegram = settings.telegram.as_ref().map(|it| ("Telegram", &it.token_env));
    for (what, variable) in webhook.into_iter().chain(telegram) {
        let ok = has_variable(variable);
        let found = format!("{variable} is {}set here", if ok { "" } else { "not " });
        let hint =
            "the daemon has the environment that it was started with: `commis daemon restart`";
        out.push(Check { what, ok, found, hint: (!ok).then(|| hint.to_owned()) });
    }
    out
}

/// What is not possible on this machine, and not needed either.
const NOT_HERE: &str = "not here";

/// Whether a window could be opened; none is. On a machine without a desktop nothing is missing.
async fn by_hand(policy: Arc<EgressPolicy>, settings: &BrowserSettings) -> Check {
    let launched = async {
        let display = Display::find()?;
        let exe = find_visible_chromium(settings.path.as_deref())?;
        let browser = Browser::launch_visible(&exe, policy, settings, &display).await?;
        // It was only looked at.
        let _ = browser.close().await;
        Ok(exe)
    };
    let (found, hint) = match launched.await {
        Ok(exe) => (format!("possible, with {}", exe.display()), None),
        Err(err) => {
            let err: Error = err;
            (format!("{NOT_HERE}: {err}"), err.hint_text().map(str::to_owned))
        }
    };
    Check { what: "recording by hand", ok: true, found, hint }
}

/// Starts it, asks its version, and looks whether a renderer is really sandboxed.
async fn launch(
    exe: &std::path::Path,
    policy: Arc<EgressPolicy>,
    settings: &BrowserSettings,
) -> Vec<Check> {
    let browser = match Browser::launch_with(exe, policy, settings).await {
        Ok(it) => it,
        Err(err) => {
            return vec![Check {
                what: "browser start",
                ok: false,
                found: err.to_string(),
                hint: err.hint_text().map(str::to_owned),
            }];
        }
    };
    let mut out = vec![Check {
        what: "browser start",
        ok: true,
        found: browser.version().to_owned(),
        hint: None,
    }];
    let context = browser.context().await;
    let sandboxed = browser.sandboxed().await;
    out.push(Check {
        what: "sandbox",
        // Where nobody tells, the context says whether one could be made.
        ok: sandboxed != Some(false) && context.is_ok(),
        found: match (sandboxed, &context) {
            (_, Err(err)) => err.to_string(),
            (Some(true), _) => "renderers run under seccomp".to_owned(),
            (Some(false), _) => "renderers are not sandboxed".to_owned(),
            (None, _) => "cannot tell on this system".to_owned(),
        },
        hint: (sandboxed == Some(false) || context.is_err()).then(|| SANDBOX.to_owned()),
    });
    if let Ok(context) = context {
        let _ = context.dispose().await;
    }
    // It was only looked at.
    let _ = browser.close().await;
    out
}
