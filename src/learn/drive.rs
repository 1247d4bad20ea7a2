//! Driving a task's steps in a browser with one example, and keeping what was seen where one of them fails.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{context::LearnContext, task::Task};
use commis_artifacts::{
    failure::Failure,
    recording::{Exchange, SessionRecording},
    store::{TaskFolder, now},
};
use commis_base::{
    error::{Code, Error, Result},
    settings::{AuthSettings, RedactSettings},
};
use commis_browser::{
    BoundSecret, Context, Plan, RecordingEvent, Step,
    paused_requests::{RequestDecision, RequestJudge},
};
use commis_recipe::auth::check_variable_host;
use commis_redact::raw::RawRecording;
use commis_stages::effect::{Call, PressedControl, judge_before_send};

/// Where a site that was asked too much does not say how long to wait, and the most that is waited.
const USUAL_PAUSE_SEC: u64 = 2;
const MAX_PAUSE_SEC: u64 = 10;

/// What to do with an example of the task, its secrets read. Fails with `NETWORK_DISABLED` and `AUTH_ENV_*`.
pub fn plan(
    task: &Task,
    url: &str,
    steps: &[Step],
    example: usize,
    cx: &LearnContext,
) -> Result<Plan> {
    if cx.settings.egress.no_network {
        return Err(Error::new(Code::NetworkDisabled, "a live recording needs the network")
            .hint("leave out --no-network, or learn from a HAR"));
    }
    // Before any value is read: the addresses that the file names say nothing of it.
    let addresses = steps.iter().filter_map(|it| match it {
        Step::Navigate(it) => Some(it.as_str()),
        _ => None,
    });
    let bound = bound(task, std::iter::once(url).chain(addresses), &cx.settings.auth)?;
    let opened = task.example_with_secrets(example)?;
    let page = Step::Navigate(url.to_owned()).substitute(&opened);
    let mut steps = steps
        .iter()
        .map(|step| match step.value().map(|it| task.secrets.value(it)) {
            Some(Err(err)) => Err(err),
            Some(Ok(Some(secret))) => {
                step.clone().try_map_value(|_| Ok(secret.as_str().to_owned()))
            }
            Some(Ok(None)) | None => Ok(step.substitute(&opened)),
        })
        .collect::<Result<Vec<_>>>()?;
    // The page is opened anyway.
    if steps.first() == Some(&page) {
        steps.remove(0);
    }
    let Step::Navigate(url) = page else {
        return Err(Error::new(Code::Internal, "the step that opens the page became another step"));
    };
    Ok(Plan {
        task: task.filled_sentence(example),
        url,
        typed: task.example(example),
        steps,
        secrets: task.secrets.values()?,
        bound: bound
            .into_iter()
            .filter_map(|(variable, hosts)| {
                let value = task.secrets.value(&format!("env:{variable}"));
                Some(value.transpose()?.map(|value| BoundSecret { variable, value, hosts }))
            })
            .collect::<Result<_>>()?,
        timeout: task.timeout,
    })
}

/// Variables that a file names, and the hosts that their owner bound them to: every address that is opened is among those. Fails with
/// `AUTH_NOT_ALLOWED`.
fn bound<'a>(
    task: &Task,
    addresses: impl Iterator<Item = &'a str>,
    settings: &AuthSettings,
) -> Result<Vec<(String, BTreeSet<String>)>> {
    let named = task.secrets.named_by_a_file();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    // Values stand in the path or the query; one that makes the host is no host that anybody bound.
    let host = |it: &str| {
        let url = url::Url::parse(it).ok()?;
        url.host_str().map(str::to_owned)
    };
    let hosts: BTreeSet<String> =
        addresses.map(|it| host(it).unwrap_or_else(|| "{host}".to_owned())).collect();
    let all = named.into_iter().map(|name| {
        for host in &hosts {
            check_variable_host(name, host, settings)?;
        }
        let others = settings.allow.get(name).into_iter().flatten();
        let others = others.map(|it| it.to_ascii_lowercase());
        Ok((name.to_owned(), hosts.iter().cloned().chain(others).collect()))
    });
    all.collect()
}

/// Lets nothing leave that is not known to read, whoever asks for it: nobody is there to be asked.
pub fn only_reads() -> RequestJudge {
    Arc::new(|it| {
        let call = Call::from_outgoing((it.method, it.url), it.headers, it.body, it.is_opaque);
        let effect = judge_before_send(&call, it.pressed.map(PressedControl::from).as_ref());
        effect.into_result().map_or_else(RequestDecision::Refuse, |()| RequestDecision::Go)
    })
}

/// Driving ended before the last step.
pub struct DriveError {
    pub err: Error,
    /// What was seen then, and a picture where there may be one.
    pub seen: Option<Box<(Failure, Option<Vec<u8>>)>>,
}

impl From<Error> for DriveError {
    fn from(err: Error) -> Self {
        Self { err, seen: None }
    }
}

impl DriveError {
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
    told: &mut (dyn FnMut(RecordingEvent) + Send),
    stepped: impl FnOnce(),
) -> Result<RawRecording, DriveError> {
    let err = match context.record_told(plan, told, stepped).await {
        Ok(it) => return Ok(it),
        Err(err) => err,
    };
    let seen = context.failure().map(|raw| {
        let (failure, picture) = commis_redact::failure(*raw, settings);
        Box::new((Failure { at: now(), example: example as u32 + 1, ..failure }, picture))
    });
    Err(DriveError { err, seen })
}

/// How long the site wants to be left alone, where it refused requests of the recording as too many: that page is not whole.
pub fn asks_for_pause(recording: &SessionRecording) -> Option<Duration> {
    let refused = recording.exchanges.iter().filter(|it| it.status == Some(429));
    let pause = |it: &Exchange| {
        let header = it.response_headers.iter().find(|it| it.name == "retry-after");
        header.and_then(|it| it.value.parse().ok()).unwrap_or(USUAL_PAUSE_SEC).min(MAX_PAUSE_SEC)
    };
    refused.map(pause).max().map(Duration::from_secs)
}
