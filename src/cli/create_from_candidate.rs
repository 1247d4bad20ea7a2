//! `commis recipe create-from-candidate`

use std::{sync::Arc, time::Duration};

use super::{
    Global,
    context::{self, clean},
    debug, learn_result,
    progress::Progress,
};
use commis_artifacts::store::Store;
use commis_base::{error::Result, ids::RecipeName};
use commis_learn::{ChoiceRequest, choose};

/// Choose a candidate if learning could not decide, and continue with it
///
/// `recipe learn` and `recipe debug` list the candidates. commis replays, minimizes and verifies the chosen one as usual and
/// saves a recipe. It keeps your choice when the task is learned again, until --force. A request that may change something is
/// refused.
///
/// With --json: as `recipe learn`; where it is refused {task_id, outcome, reason, detail}.
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
    /// JMESPath of the data in the answer, instead of the list that commis would choose
    #[arg(long, value_name = "JMESPATH")]
    extract: Option<String>,
    /// Send nothing: use the captured answer, and leave the recipe a draft
    #[arg(long)]
    no_network: bool,
    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let mut place = context::open(global).await?;
    place.settings.egress.no_network = args.no_network;
    let store = Store::new(place.home.artifacts.clone());
    let id = debug::find(&store, &args.task_id)?;
    let wish = ChoiceRequest {
        candidate: args.candidate,
        extract: args.extract,
        name: args.name.map(RecipeName::new).transpose()?,
    };
    let registry = context::registry(&place.home)?;
    let progress = Progress::new(1);
    let stages = progress.clone();
    let cx = context::learning(
        &place,
        None,
        Duration::ZERO,
        Box::new(move |task, stage| stages.stage(task, stage)),
    )?;
    let (own, its) = (id.clone(), Arc::clone(&cx));
    let work = move || async move {
        let choice = match choose(&store, &registry, &own, wish)? {
            Ok(it) => it,
            Err(reject) => return Ok(Err(reject)),
        };
        context::say(&clean(&format!(
            "{} {}",
            choice.candidate.method, choice.candidate.url_summary
        )));
        for name in &choice.not_carried {
            context::say(&format!(
                "warning: its request does not carry what was typed as `{name}`: a recipe of it cannot follow that input"
            ));
        }
        tokio::task::yield_now().await; // a choice that was taken down late does not begin to learn
        let end = commis_learn::learn(&choice.task, &its).await;
        Ok(Ok((choice.task, end?)))
    };
    let end = context::run_interruptible("the same command goes on", work).await;
    progress.finish();
    cx.browser.close().await;
    match end? {
        Ok((task, learned)) => learn_result::conclude(&learned, &cx, &task, args.json),
        Err(reject) => {
            let reason = reject.reason.as_str();
            if args.json {
                context::out(&serde_json::json!({
                    "task_id": id.as_str(), "outcome": "refused", "reason": reason, "detail": reject.detail,
                }));
            }
            context::say(&clean(&format!(
                "refused: candidate {} cannot be chosen ({reason}): {}",
                args.candidate, reject.detail
            )));
            Ok(1)
        }
    }
}
