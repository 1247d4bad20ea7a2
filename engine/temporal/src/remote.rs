//! `learn-batch --engine temporal`: hands tasks to the workflows of their hosts, and asks those what became of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, SystemTime},
};

use commis_base::error::{Code, Error, Result};
use commis_batch::remote::{Engine, EngineEvent, TaskOutcome, TaskRef, WorkRequest};
use futures::{
    StreamExt as _, TryStreamExt as _,
    future::{BoxFuture, FutureExt as _},
    stream,
};
use temporalio_client::{
    Client, WorkflowGetResultOptions, WorkflowHandle, WorkflowQueryOptions, WorkflowStartOptions,
    errors::{WorkflowGetResultError, WorkflowQueryError},
};
use tokio::{
    sync::mpsc::UnboundedSender,
    time::{Instant, timeout},
};

use crate::{
    engine,
    hosts::{self, Host, HostJob, Part, StatusQuery},
    worker,
};

/// Tasks that visit no host are handed out in parts of so many, and of a part so many at once.
const PART: usize = 500;
const PART_AT_ONCE: u32 = 16;
/// What is signalled at once may be no larger than 2 MB, and a reference takes some 200 bytes; nor may what a host's workflow keeps.
const AT_A_TIME: usize = 1_000;
/// Workflows that are asked at the same time, and all of them so often a second.
const AT_ONCE: usize = 16;
const A_SECOND: u32 = 50;
const LEAST: Duration = Duration::from_secs(2);
/// A server that does not answer for so long is gone.
const PATIENCE: Duration = Duration::from_secs(600);
/// What a workflow came to is waited for so long: while it goes on there is nothing to be had, and the others are not asked meanwhile.
const RESULT: Duration = Duration::from_secs(5);

/// What `--engine temporal[:QUEUE]` names.
pub fn open(name: &str, queue: Option<&str>) -> Option<Result<Arc<dyn Engine>>> {
    (name == "temporal")
        .then(|| Ok(Arc::new(Temporal { queue: queue.unwrap_or(worker::QUEUE).to_owned() }) as _))
}

struct Temporal {
    queue: String,
}

/// A workflow that has tasks of ours.
struct SubmittedPart {
    place: String,
    handle: WorkflowHandle<Client, hosts::HostRun>,
    part: Part,
    /// Those that have not ended.
    tasks: BTreeSet<String>,
    /// Handed in when these have.
    then: Vec<TaskRef>,
    /// Those that were told of as begun.
    begun: BTreeSet<String>,
    /// Ends that were heard.
    heard: usize,
    answered: Instant,
}

impl Engine for Temporal {
    fn learn(
        &self,
        all: WorkRequest,
        tell: UnboundedSender<EngineEvent>,
    ) -> BoxFuture<'_, Result<()>> {
        self.all(all, tell).boxed()
    }
}

impl Temporal {
    async fn all(&self, all: WorkRequest, tell: UnboundedSender<EngineEvent>) -> Result<()> {
        let client = worker::client().await?;
        let batch = batch(&all.name);
        let mut asked: Vec<SubmittedPart> =
            stream::iter(places(all.tasks, &batch, all.per_host as u32))
                .map(|(place, parallel, tasks)| {
                    let part = Part {
                        batch: batch.clone(),
                        tasks: Vec::new(),
                        queue: self.queue.clone(),
                        parallel,
                        deadline_s: all.deadline.as_secs(),
                        retries: all.retries,
                    };
                    hand_in(&client, place, part, tasks)
                })
                .buffer_unordered(AT_ONCE)
                .try_collect()
                .await?;
        while !asked.is_empty() {
            // However many there are, the server has other things to do.
            let next =
                Instant::now() + LEAST.max(Duration::from_secs(1) * asked.len() as u32 / A_SECOND);
            let ask = async |mut it: SubmittedPart| {
                if it.ask(&client, &tell).await? {
                    return Ok(Some(it));
                }
                if it.then.is_empty() {
                    return Ok(None);
                }
                hand_in(&client, it.place, it.part, it.then).await.map(Some)
            };
            let left = stream::iter(asked).map(ask).buffer_unordered(AT_ONCE);
            asked = left.try_filter_map(|it| async { Ok(it) }).try_collect().await?;
            if !asked.is_empty() {
                tokio::time::sleep_until(next).await;
            }
        }
        Ok(())
    }
}

/// Begins with the time.
fn batch(name: &str) -> String {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("{:016x}-{:x}-{name}", now.as_nanos(), std::process::id())
}

/// Workflow, tasks at once, tasks. A host's workflow is the same for everybody.
fn places(tasks: Vec<TaskRef>, batch: &str, per_host: u32) -> Vec<(String, u32, Vec<TaskRef>)> {
    let (mut hosts, mut files): (BTreeMap<String, Vec<TaskRef>>, Vec<TaskRef>) = Default::default();
    for it in tasks {
        match &it.host {
            Some(host) => hosts.entry(host.clone()).or_default().push(it),
            None => files.push(it),
        }
    }
    let hosts = hosts.into_iter().map(|(host, all)| (format!("commis/host/{host}"), per_host, all));
    let files = files
        .chunks(PART)
        .enumerate()
        .map(|(i, part)| (format!("commis/files/{batch}/{i}"), PART_AT_ONCE, part.to_vec()));
    hosts.chain(files).collect()
}

/// As many of the tasks as go at once, as a batch of their own.
async fn hand_in(
    client: &Client,
    place: String,
    mut part: Part,
    mut tasks: Vec<TaskRef>,
) -> Result<SubmittedPart> {
    let then = tasks.split_off(tasks.len().min(AT_A_TIME));
    part.batch = format!("{}.", part.batch);
    part.tasks = tasks;
    let tasks = part.tasks.iter().map(|it| it.id.clone()).collect();
    let options = WorkflowStartOptions::new(hosts::QUEUE, place.clone()).build();
    let (start, signal) = (Host::run, Host::enlist);
    let job = HostJob::default();
    let begun = client.signal_with_start_workflow(start, job, signal, part.clone(), options).await;
    let handle = begun.map_err(|err| engine(&format!("cannot hand tasks to {place}"), err))?;
    part.tasks.clear();
    let (begun, answered) = (BTreeSet::new(), Instant::now());
    Ok(SubmittedPart { place, handle, part, tasks, then, begun, heard: 0, answered })
}

impl SubmittedPart {
    /// Tells what is new; false when all have ended.
    async fn ask(&mut self, client: &Client, tell: &UnboundedSender<EngineEvent>) -> Result<bool> {
        // Whichever run is the last: it knows what earlier ones came to.
        let latest = client.get_workflow_handle::<hosts::HostRun>(&*self.place);
        let ask = StatusQuery { batch: self.part.batch.clone(), since: self.heard };
        let seen = match latest.query(Host::seen, ask, WorkflowQueryOptions::default()).await {
            Ok(it) => it,
            Err(WorkflowQueryError::NotFound(_)) => None,
            // No worker has looked at it yet.
            Err(err) => return self.not_answered(err),
        };
        let ended = match seen {
            Some(it) => {
                let mut say = |id: String| {
                    if self.begun.insert(id.clone()) {
                        let _ = tell.send(EngineEvent::Began { id });
                    }
                };
                it.running.into_iter().for_each(&mut say);
                it.ended
            }
            // The run that had them is over, or one that goes on has not looked at them yet.
            None => match timeout(RESULT, self.result()).await {
                Ok(Ok(it)) => it,
                Ok(Err(err)) => return self.not_answered(err),
                Err(_) => {
                    self.answered = Instant::now();
                    return Ok(true);
                }
            },
        };
        self.answered = Instant::now();
        self.heard += ended.len();
        for it in ended {
            if self.tasks.remove(&it.id) {
                let _ = tell.send(EngineEvent::Ended(it));
            }
        }
        Ok(!self.tasks.is_empty())
    }

    /// It is asked again, for the server may be begun again and goes on where it was; unless it has been silent too long.
    fn not_answered(&self, err: impl std::error::Error + Send + Sync + 'static) -> Result<bool> {
        if self.answered.elapsed() > PATIENCE {
            return Err(engine(&format!("{} does not answer", self.place), err));
        }
        Ok(true)
    }

    /// What the workflow came to; whoever was left when it was ended from outside has failed. Fails when nobody answers.
    async fn result(&self) -> Result<Vec<TaskOutcome>, WorkflowGetResultError> {
        let why = match self.handle.get_result(WorkflowGetResultOptions::default()).await {
            Ok(mut it) => {
                let all = it.remove(&self.part.batch).unwrap_or_default();
                let new = all.get(self.heard..).unwrap_or_default().to_vec();
                if new.len() >= self.tasks.len() {
                    return Ok(new);
                }
                let why = "the workflow knows nothing of the task any more".to_owned();
                return Ok(new.into_iter().chain(self.lost(&why)).collect());
            }
            Err(err @ WorkflowGetResultError::Rpc(_)) => return Err(err),
            Err(err) => err.to_string(),
        };
        Ok(self.lost(&why))
    }

    fn lost(&self, why: &str) -> Vec<TaskOutcome> {
        let err =
            Error::new(Code::TaskBusy, format!("{} ended before the task: {why}", self.place))
                .hint("the same command with --resume hands it in again");
        self.tasks.iter().map(|id| TaskOutcome::from_error(id, 0, &err)).collect()
    }
}
