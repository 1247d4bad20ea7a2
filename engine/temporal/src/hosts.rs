//! One workflow a host: what keeps a site from being asked by two machines at once, and too soon, however many there are.
//!
//! Only ids and keys pass through the engine. A task is one activity: its stages are committed one by one in the store, so
//! another machine goes on where a lost one stopped, and what a session knows stays with the process that recorded it.

use std::{sync::Arc, time::Duration};

use commis::{Enlisted, Station};
use serde::{Deserialize, Serialize};
use temporalio_common::RetryPolicy;
use temporalio_macros::{activities, workflow, workflow_methods};
use temporalio_sdk::{
    ActivityOptions, ApplicationFailure, ContinueAsNewOptions, WorkflowContext, WorkflowResult,
    activities::{ActivityContext, ActivityError},
};

/// A machine is taken for lost when it was not heard of for so long.
const LOST: Duration = Duration::from_secs(20);
const BEAT: Duration = Duration::from_secs(4);
/// Tasks of one run of a workflow. A task leaves some 12 events, and 10,240 are too many.
const AT_A_TIME: usize = 100;

/// What a workflow is started with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostJob {
    pub tasks: Vec<Enlisted>,
    /// Tasks at once.
    pub parallel: u32,
    /// Between the end of one and the start of the next, milliseconds.
    pub gap_ms: u64,
    /// A task may take so long.
    pub deadline_s: u64,
    pub attempts: u32,
    /// What earlier runs came to.
    pub ended: Vec<Ended>,
}

/// How a task ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ended {
    pub id: String,
    /// `verified`, `saved_draft`, `needs_selection`, `non_recipeable`; absent when it failed.
    pub outcome: Option<String>,
    /// The reason of an outcome, or the code of an error.
    pub why: Option<String>,
    pub error: Option<String>,
    /// Stages that this run made.
    pub made: u32,
}

#[workflow]
#[derive(Default)]
pub struct Host {
    busy: u32,
}

#[workflow_methods]
impl Host {
    #[run]
    pub async fn run(ctx: &mut WorkflowContext<Self>, job: HostJob) -> WorkflowResult<Vec<Ended>> {
        let ctx = &*ctx;
        let now = job.tasks.len().min(AT_A_TIME);
        let all = job.tasks[..now].iter().map(|task| one(ctx, &job, task));
        let mut ended = job.ended.clone();
        ended.extend(temporalio_sdk::workflows::join_all(all).await);
        if now < job.tasks.len() {
            let rest = HostJob { tasks: job.tasks[now..].to_vec(), ended, ..job };
            match ctx.continue_as_new(rest, ContinueAsNewOptions::default())? {}
        }
        Ok(ended)
    }
}

/// Waits its turn, has the task done, and keeps the next waiting for as long as the site is to be left alone.
async fn one(ctx: &WorkflowContext<Host>, job: &HostJob, task: &Enlisted) -> Ended {
    let failed = |why: &str, error: String| Ended {
        id: task.id.clone(),
        outcome: None,
        why: Some(why.to_owned()),
        error: Some(error),
        made: 0,
    };
    if let Err(err) = ctx.wait_condition(|it| it.busy < job.parallel).await {
        return failed("CANCELLED", err.to_string());
    }
    ctx.state_mut(|it| it.busy += 1);
    let options = ActivityOptions::with_start_to_close_timeout(Duration::from_secs(job.deadline_s))
        .heartbeat_timeout(LOST)
        .activity_id(task.id.clone())
        // Another machine has a slot, too.
        .do_not_eagerly_execute(true)
        .retry_policy(
            RetryPolicy::builder()
                .initial_interval(Duration::from_secs(1))
                .maximum_attempts(job.attempts as _)
                .build(),
        )
        .build();
    let end = ctx.execute_activity(Tasks::learn, task.clone(), options).await;
    if job.gap_ms > 0 {
        ctx.timer(Duration::from_millis(job.gap_ms)).await;
    }
    ctx.state_mut(|it| it.busy -= 1);
    end.unwrap_or_else(|err| failed("ENGINE", err.to_string()))
}

/// What this machine can do.
pub struct Tasks {
    pub station: Arc<Station>,
}

#[activities]
impl Tasks {
    #[activity]
    pub async fn learn(
        self: Arc<Self>,
        ctx: ActivityContext,
        task: Enlisted,
    ) -> Result<Ended, ActivityError> {
        let ctx = Arc::new(ctx);
        let watched = Arc::clone(&ctx);
        let stop = async move { watched.cancelled().await };
        let mut work = std::pin::pin!(self.station.run(&task, stop));
        let end = loop {
            tokio::select! {
                end = &mut work => break end,
                () = tokio::time::sleep(BEAT) => ctx.record_heartbeat(()).await?,
            }
        };
        if ctx.is_cancelled() {
            return Err(ActivityError::cancelled());
        }
        let id = task.id.clone();
        match end {
            Ok(it) => {
                let text = |it: &serde_json::Value| it.as_str().map(str::to_owned);
                let decided = &it["decided"];
                let stages = it["stages"].as_array().map_or(&[][..], Vec::as_slice);
                let made = stages.iter().filter(|it| it["how"] == "made").count() as u32;
                let (outcome, why) = (text(&decided["outcome"]), text(&decided["reason"]));
                Ok(Ended { id, outcome, why, error: None, made })
            }
            // The engine tries it again, here or elsewhere.
            Err(err) if err.retryable() && err.code() != commis::Code::Interrupted => {
                let message = format!("{}: {err}", err.code());
                Err(ActivityError::Application(Box::new(ApplicationFailure::new(message))))
            }
            Err(err) => {
                let (why, error) = (Some(err.code().to_string()), Some(err.to_string()));
                Ok(Ended { id, outcome: None, why, error, made: 0 })
            }
        }
    }
}
