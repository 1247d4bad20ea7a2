//! Driving a task's steps in a browser with one example, and keeping what was seen where one of them fails.

use super::{learn::Cx, task::Task};
use crate::{
    artifacts::{
        failure::Failure,
        store::{TaskFolder, now},
    },
    browser::{Context, Plan, Step, Told},
    error::{Code, Error, Result},
    redact::{self, raw::RawRecording},
    settings::RedactSettings,
};

/// What to do with an example of the task. Fails with `NETWORK_DISABLED`.
pub fn plan(task: &Task, url: &str, steps: &[Step], example: usize, cx: &Cx) -> Result<Plan> {
    if cx.settings.egress.no_network {
        return Err(Error::new(Code::NetworkDisabled, "a live recording needs the network")
            .hint("leave out --no-network, or learn from a HAR"));
    }
    let values = task.example(example);
    let opened = Step::Navigate(url.to_owned()).substitute(&values);
    let mut steps: Vec<_> = steps.iter().map(|it| it.substitute(&values)).collect();
    // The page is opened anyway.
    if steps.first() == Some(&opened) {
        steps.remove(0);
    }
    let Step::Navigate(url) = opened else {
        return Err(Error::new(Code::Internal, "a page to open became another step"));
    };
    Ok(Plan { task: task.filled(&values), url, typed: values, steps, timeout: task.timeout })
}

/// Driving ended before the last step.
pub struct Stopped {
    pub err: Error,
    /// What was seen then, and a picture where there may be one.
    pub seen: Option<Box<(Failure, Option<Vec<u8>>)>>,
}

impl From<Error> for Stopped {
    fn from(err: Error) -> Self {
        Self { err, seen: None }
    }
}

impl Stopped {
    /// Keeps what was seen with the task. Losing it loses an explanation and nothing else, so it fails nothing.
    pub fn keep(self, folder: &TaskFolder) -> Error {
        if let Some(it) = &self.seen
            && let Err(err) = folder.put_failure(&it.0, it.1.as_deref())
        {
            tracing::warn!(error = %err, "what a failing step saw was not kept");
        }
        self.err
    }
}

/// Records the plan, which is of that example, in a context; each step is `told`, and `stepped` called when all are done.
///
/// Fails as [`Context::record_then`].
pub async fn drive(
    context: &mut Context,
    (plan, example): (&Plan, usize),
    settings: &RedactSettings,
    told: &mut (dyn FnMut(Told) + Send),
    stepped: impl FnOnce(),
) -> Result<RawRecording, Stopped> {
    let err = match context.record_told(plan, told, stepped).await {
        Ok(it) => return Ok(it),
        Err(err) => err,
    };
    let seen = context.failure().map(|raw| {
        let (failure, picture) = redact::failure(*raw, settings);
        Box::new((Failure { at: now(), example: example as u32 + 1, ..failure }, picture))
    });
    Err(Stopped { err, seen })
}
