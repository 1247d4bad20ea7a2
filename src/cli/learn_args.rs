//! The arguments of `commis recipe learn`, and what they ask for.

use super::{Global, context, names, progress::Progress};
use commis_base::error::{Code, Error, Result};
use commis_learn::{LearnContext, RedoScope, Task};
use commis_stages::{STAGES, Stage};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

const EXAMPLES: &str = "Examples:
  commis recipe learn --har session.har --task \"Search the shop for {query}\" -p query=lantern
  commis recipe learn --url 'http://shop.test/api/search?q={query}' --task \"Search for {query}\" -p query=lantern --second query=hose
  commis recipe learn --url http://shop.test/ --steps steps.yaml \\
    --task \"Search for {query}\" -p query=lantern --second query=hose
  commis recipe learn --manual http://shop.test/ --task \"Search for {query}\" --second query=hose";

/// Learn one task from a HAR file, from a page driven by scripted steps, or from what you do in a window
///
/// Give the typed values with -p and a second example with --second; without one, the recipe stays a draft. With --manual, a
/// {name} of the task is the value that you typed into the field of that name; give -p only if this is not clear. Passwords
/// that you type are not recorded.
///
/// With --json: {task_id, name, outcome, reason, detail, recipe, artifacts, ran, reused, live_values_lost, skipped_entries, browser_ms,
/// transport, model}; `outcome` is verified, saved_draft, needs_selection or non_recipeable.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Learn from this recording
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    pub har: Option<PathBuf>,
    /// Learn from this page: driven by --steps, or with {name} in the address where a value goes
    #[arg(long)]
    pub url: Option<String>,
    /// Open a window on this page, record your actions until you close it, and learn from them
    #[arg(long, value_name = "URL", conflicts_with_all = ["har", "url", "steps"])]
    pub manual: Option<String>,
    /// Write your actions as scripted steps, for --steps or a manifest
    #[arg(long, value_name = "FILE", requires = "manual")]
    pub save_steps: Option<PathBuf>,
    /// Scripted steps for --url, `-` for stdin (YAML list, as in a manifest's `record`); env:NAME in them is typed only at hosts that [auth.allow] binds it to
    #[arg(long, value_name = "FILE", conflicts_with = "har")]
    pub steps: Option<PathBuf>,
    /// What the session was for, with {name} where typed values go
    #[arg(long, default_value = "", hide_default_value = true)]
    pub task: String,
    /// A typed value; env:NAME reads a secret from that variable, and its value is not stored
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub param: Vec<String>,
    /// A value of the second example
    #[arg(long, value_name = "NAME=VALUE")]
    pub second: Vec<String>,
    /// Open the pages with this login of the vault, and use it to prove what a HAR holds: `commis session login` makes one
    #[arg(add = names::logins(), long, value_name = "NAME", conflicts_with = "manual")]
    pub login: Option<String>,
    /// The login of another account, which must be refused or get other data
    #[arg(add = names::logins(), long, value_name = "NAME", requires = "login")]
    pub second_login: Option<String>,
    /// Name of the recipe (default: from the task)
    #[arg(long)]
    pub name: Option<String>,
    /// Let this model choose if the heuristics cannot decide (default: [model] in the settings) [env: COMMIS_MODEL]
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub model: Option<String>,
    /// Send nothing: use the captured answer, and leave the recipe a draft
    #[arg(long)]
    pub no_network: bool,
    /// Reuse finished stages of an earlier run
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Run this stage and all after it again: record, rank, analyze, validate, minimize, verify, …
    #[arg(long, value_name = "STAGE", value_parser = stage, conflicts_with = "force")]
    pub resume_from: Option<Stage>,
    /// Learn again from the start
    #[arg(long)]
    pub force: bool,
    /// Accept a task that seems to hold a secret; the secret is used, and stored redacted
    #[arg(long)]
    pub allow_task_secrets: bool,
    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

impl Args {
    /// Fails with [`Code::Usage`] where there is nothing to learn from, or no task.
    pub(super) fn check(&self) -> Result<()> {
        if self.har.is_none() && self.url.is_none() && self.manual.is_none() {
            return Err(nothing_to_learn());
        }
        if self.task.is_empty() {
            return Err(Error::new(
                Code::Usage,
                "--task is missing: describe what the session was for",
            )
            .hint(
                "such as --task \"Search the shop for {query}\", with {name} for a typed value",
            ));
        }
        Ok(())
    }

    /// What learning that task needs; the test web serves as long as the place is kept. Fails with [`Code::Usage`] when it has been begun, and nothing says to go on with it.
    pub async fn prepare(
        &self,
        task: &Task,
        global: &Global,
    ) -> Result<(Arc<LearnContext>, Progress, context::Environment)> {
        let mut place = context::open(global).await?;
        place.settings.egress.no_network = self.no_network;
        if let Some(model) = &self.model {
            place.settings.model.choose(model)?;
        }
        let redo =
            if self.force { Some(RedoScope::All) } else { self.resume_from.map(RedoScope::From) };
        let progress = Progress::new(1);
        let stages = progress.clone();
        let cx = context::learning(
            &place,
            redo,
            Duration::ZERO,
            Box::new(move |task, stage| stages.stage(task, stage)),
        )?;
        if !self.resume && redo.is_none() {
            commis_batch::refuse_if_begun(std::slice::from_ref(task), &cx)?;
        }
        Ok((cx, progress, place))
    }
}

/// A stage by its name.
pub fn stage(text: &str) -> std::result::Result<Stage, String> {
    let known = || STAGES.iter().map(|it| it.stage);
    known().find(|it| it.as_str() == text).ok_or_else(|| {
        let names: Vec<&str> = known().map(Stage::as_str).collect();
        format!("stages are {}", names.join(", "))
    })
}

/// The ways to learn.
pub(super) fn nothing_to_learn() -> Error {
    Error::new(Code::Usage, "give a page (--url), a HAR (--har), or a page to use in a window (--manual)").hint(
        "one of these:
    commis learn --url 'https://example.org/search?q={query}' --task \"Search for {query}\" -p query=lantern --second query=hose
    commis learn --url URL --steps steps.yaml --task \"Search for {query}\" -p query=lantern --second query=hose
    commis learn --har session.har --task \"Search for {query}\" -p query=lantern --second query=hose
    commis learn --manual URL --task \"Search for {query}\" --second query=hose
  `commis recipe steps URL` lists what a page has, ready to paste into steps.yaml; `commis tour` shows all of it",
    )
}

/// `name=value` arguments. Fails with [`Code::Usage`].
pub fn pairs(args: &[String]) -> Result<BTreeMap<String, String>> {
    args.iter()
        .map(|it| match it.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(Error::new(Code::Usage, "a parameter must have the form NAME=VALUE")
                .hint("for example -p query=rust")),
        })
        .collect()
}
