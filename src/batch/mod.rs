//! Many tasks: manifest, scheduling, pacing, interruption, report.

pub mod manifest;
mod report;

use std::sync::Arc;

use tokio::task::JoinSet;

pub use manifest::{check_task, load};
pub use report::{Entry, Report};

use crate::{
    error::{Class, Code, Error, Result},
    pipeline::{self, Cx, Learned, Task},
};

/// Called as a task ends.
pub type OnEnd = Box<dyn Fn(&Task, &Result<Learned>) + Send + Sync>;

/// How a batch is run.
pub struct Options {
    pub jobs: usize,
    /// Told as each task ends.
    pub on_end: OnEnd,
}

/// Refuses to start over finished work by accident. Fails with [`Code::Usage`].
pub fn refuse_if_begun(tasks: &[Task], cx: &Cx) -> Result<()> {
    for task in tasks {
        let folder = cx.store.peek(&task.id)?;
        let begun = folder.is_some_and(|it| it.path(pipeline::STAGES[0].writes).exists());
        if begun {
            return Err(Error::new(
                Code::Usage,
                format!("task {} has been begun already", task.id),
            )
            .hint("--resume goes on where it stopped, --force starts again"));
        }
    }
    Ok(())
}

/// Learns all tasks, `jobs` at a time. A task's failure touches no other; a failure of the machine stops the batch, and so
/// does Ctrl-C. Whatever was finished stays finished.
pub async fn run(manifest: &str, tasks: Vec<Task>, cx: Arc<Cx>, options: Options) -> Report {
    let mut report = Report::new(manifest);
    let total = tasks.len();
    let options = Arc::new(options);
    let mut waiting = tasks.into_iter().enumerate();
    let mut running = JoinSet::new();
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let mut stop = false;
    loop {
        while !stop && running.len() < options.jobs {
            let Some((i, task)) = waiting.next() else {
                break;
            };
            let (cx, options) = (Arc::clone(&cx), Arc::clone(&options));
            running.spawn(async move {
                let end = pipeline::learn(&task, &cx).await;
                (options.on_end)(&task, &end);
                (i, task, end)
            });
        }
        tokio::select! {
            biased;
            _ = &mut interrupt, if !report.interrupted => {
                // What is in flight is dropped: its stages either wrote their artifact or did not.
                report.interrupted = true;
                running.shutdown().await;
                break;
            }
            ended = running.join_next() => match ended {
                None => break,
                Some(Ok((i, task, end))) => {
                    if let Err(err) = &end
                        && matches!(err.code().class(), Class::Environment | Class::Bug)
                    {
                        stop = true;
                        report.stopped_by = Some(err.code());
                    }
                    report.add(i, Entry::new(&task, end));
                }
                Some(Err(panic)) => {
                    stop = true;
                    report.stopped_by = Some(Code::Internal);
                    report.trouble = Some(crate::redact::message(&panic.to_string()));
                }
            },
        }
    }
    report.not_started = total - report.entries.len();
    report
}
