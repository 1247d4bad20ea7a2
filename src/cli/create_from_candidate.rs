//! `commis recipe create-from-candidate`

use std::{sync::Arc, time::Duration};

use super::{
    Global, debug, learn,
    progress::Progress,
    wire::{self, clean},
};
use crate::{
    artifacts::store::Store,
    error::{Code, Error, Result},
    ids::RecipeName,
    pipeline::{self, Wish, choose},
    recipe::registry::Registry,
};

/// Go on with a candidate that you choose, where learning could not choose by itself
///
/// The candidates are listed by `recipe learn` and `recipe debug`. From the chosen one on, everything is done as usual: it is
/// replayed, minimized and verified, and a recipe is saved. The choice is kept when the task is learned again, until --force.
/// A request that may change something is refused.
#[derive(clap::Args)]
pub struct Args {
    /// As printed by learn and learn-batch; a recipe's name is enough where it is unique
    #[arg(long, value_name = "ID")]
    task_id: String,
    /// Number of the candidate, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    candidate: u32,
    /// Name of the recipe (default: the task's)
    #[arg(long)]
    name: Option<String>,
    /// JMESPath of the data in the answer, instead of the list that would be taken
    #[arg(long, value_name = "JMESPATH")]
    extract: Option<String>,
    /// Send nothing: the captured answer stands in, the recipe stays a draft
    #[arg(long)]
    no_network: bool,
    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let mut place = wire::open(global).await?;
    place.settings.egress.no_network = args.no_network;
    let store = Store::new(place.home.artifacts.clone());
    let id = debug::find(&store, &args.task_id)?;
    let wish = Wish {
        candidate: args.candidate,
        extract: args.extract,
        name: args.name.map(RecipeName::new).transpose()?,
    };
    let choice = match choose(&store, &Registry::open(&place.home.recipes), &id, wish)? {
        Ok(it) => it,
        Err(reject) => {
            let reason = reject.reason.as_str();
            if args.json {
                wire::out(&serde_json::json!({
                    "task_id": id.as_str(), "outcome": "refused", "reason": reason, "detail": reject.detail,
                }));
            }
            wire::say(&clean(&format!(
                "refused: candidate {} cannot be chosen ({reason}): {}",
                args.candidate, reject.detail
            )));
            return Ok(1);
        }
    };
    wire::say(&clean(&format!("{} {}", choice.candidate.method, choice.candidate.url_summary)));
    for name in &choice.not_carried {
        wire::say(&format!(
            "warning: its request does not carry what was typed as `{name}`: a recipe of it cannot follow that input"
        ));
    }
    let task = choice.task;
    let progress = Progress::new(1);
    let stages = progress.clone();
    let cx = wire::learning(
        &place,
        None,
        Duration::ZERO,
        Box::new(move |task, stage| stages.stage(task, stage)),
    )?;
    let task = Arc::new(task);
    let (own, its) = (Arc::clone(&task), Arc::clone(&cx));
    let stop = async {
        wire::interrupted().await;
        Error::new(Code::Interrupted, "interrupted").hint("the same command goes on")
    };
    let end = pipeline::apart(move || async move { pipeline::learn(&own, &its).await }, stop).await;
    progress.end(&task, &end);
    progress.finish();
    cx.browser.close().await;
    learn::conclude(&end?, &cx, &task, args.json)
}
