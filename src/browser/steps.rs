//! Carrying out scripted steps as a person would: by role and name, key by key, with the mouse.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    aim::PressWatch,
    context_state::ContextInner,
    controls,
    element::Element,
    input_events, keys, locator_diagnostics,
    lookup::{self, FindResult, FoundElement},
    page,
    plan::{DialogAnswer, FrameLocator, FrameTarget, Scroll, Step, Wait},
    pointer,
    recorder::Recorder,
    typing,
    waiting::{self, Beside, IdleDetector, Poll},
};
use commis_artifacts::recording::{Action, ActionKind, Control};
use commis_base::error::{Code, Error, Result};

const AT_REST: &str = "no such element, and nothing has happened on the page for 8 s; where it needs longer, a wait_for before the step gives it time";
/// Several elements may fit for a moment, while a page makes place for the next.
const UNCLEAR: Duration = Duration::from_secs(1);
/// Stands for a secret that was typed.
pub const MASK: &str = "[REDACTED:password]";
/// What `select` looks among, where no role is given.
const LISTS: &[&str] = &["combobox", "listbox"];
const TICKS: &[&str] = &["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"];

/// Carries out one step and notes it in the recording. Fails with `STEP_FAILED`, with `DOWNLOAD_BLOCKED` when a download began
/// instead of what the step needs, or, for `navigate`, with the policy's codes.
pub async fn perform(shared: &Arc<ContextInner>, step: &Step, timeout: Duration) -> Result<()> {
    let done = attempt(shared, step, timeout).await;
    // A page of which a part did not come may do better another time.
    let shaky = || shared.lock().recorder.as_ref().is_some_and(Recorder::is_shaky);
    let done = done.map_err(|err| {
        let passes = err.code() == Code::StepFailed && shaky();
        if passes { err.lasting(false) } else { err }
    });
    done.map_err(|err| match shared.lock().download.take() {
        Some(url) if err.code() == Code::StepFailed => {
            let message = format!("{}, and {url} is a download", err.message());
            Error::new(Code::DownloadBlocked, message).hint("remove the step that downloads a file")
        }
        _ => err,
    })
}

/// The host of the document that an element is in; empty where it has none.
const HOST: &str = "function () { return this.ownerDocument.location?.hostname ?? ''; }";

/// Fails with `AUTH_NOT_ALLOWED` where the value is a variable's that may not be typed at the host of the element's document.
async fn may_be_typed(
    shared: &ContextInner,
    step: &Step,
    found: &FoundElement,
    value: &str,
) -> Result<()> {
    let bound: Vec<_> = {
        let state = shared.lock();
        state.bound.iter().filter(|it| value.contains(it.value.as_str())).cloned().collect()
    };
    if bound.is_empty() {
        return Ok(());
    }
    let object = lookup::resolve(shared, &found.session, found.world, found.backend).await?;
    let object = object.ok_or_else(|| step.lost())?;
    let host: String = page::call_on_object(&shared.cdp, &found.session, &object, HOST, &[])
        .await
        .map_err(|_| step.lost())?;
    let Some(it) = bound.iter().find(|it| !it.hosts.contains(&host)) else { return Ok(()) };
    let why = format!("{}: ${} may not be typed at `{host}`", step.describe(), it.variable);
    Err(Error::new(Code::AuthNotAllowed, why).hint(
        "bind the variable to the host in [auth.allow] of config.toml, or give the value with -p on the command line",
    ))
}

async fn attempt(shared: &Arc<ContextInner>, step: &Step, timeout: Duration) -> Result<()> {
    let deadline = Instant::now() + timeout;
    match step {
        Step::Navigate(url) => {
            {
                let mut state = shared.lock();
                (state.within, state.asked) = (None, Some(url.clone()));
            }
            shared.act(Action::new(ActionKind::Navigate, Some(url)));
            shared.navigate(url, timeout).await
        }
        Step::Fill(it) => {
            let found = seek(shared, step, &it.element, &[], deadline).await?;
            let control = controls::read(shared, &found).await;
            let named = found.called.as_ref().map_or("", |it| &it.1);
            let is_secret = shared.lock().secrets.iter().any(|secret| **secret == it.value);
            let for_secrets = control.as_ref().is_some_and(|it| it.kind == "password");
            if for_secrets && !is_secret && !it.value.is_empty() {
                let why = format!(
                    "{}: a password field takes only a secret of the task",
                    step.describe()
                );
                return Err(Error::new(Code::SecretInTask, why).hint(
                    "write env:NAME in its place: the value of that variable is typed and not stored",
                ));
            }
            may_be_typed(shared, step, &found, &it.value).await?;
            shared.lock().typed_secret |=
                is_secret || commis_redact::typed_secret(named, &it.value).is_some();
            let told = if is_secret { MASK } else { it.value.as_str() };
            shared.act(action(ActionKind::Fill, &found, control, Some(told)));
            typing::fill(shared, step, &found, &it.value).await.map(drop)
        }
        Step::Press(key) => {
            let Some(events) = keys::named_key_events(key) else {
                let hint = format!("keys are {}", keys::names());
                return Err(step.failed_error("no such key").hint(hint));
            };
            let session = shared.page()?.session;
            shared.mark(&session, None).await;
            shared.act(Action::new(ActionKind::Press, Some(key)));
            input_events::type_events(shared, &session, events).await
        }
        Step::Click(it) => {
            let found = seek(shared, step, it, &[], deadline).await?;
            let aim =
                pointer::reach(shared, step, &found, (None, PressWatch::Loosely), deadline).await?;
            let control = match controls::read(shared, &found).await {
                Some(it) => Some(it),
                None => controls::choice(shared, &found).await,
            };
            shared.act(action(ActionKind::Click, &found, control, None));
            pointer::click(shared, step, &found, aim, deadline).await
        }
        Step::Select(it) => {
            let found = seek(shared, step, &it.element, LISTS, deadline).await?;
            let control = controls::read(shared, &found).await;
            shared.act(action(ActionKind::Select, &found, control, Some(&it.value)));
            controls::select(shared, step, &found, &it.value, deadline).await
        }
        Step::Check(it) => tick(shared, step, &it.0, true, deadline).await,
        Step::Uncheck(it) => tick(shared, step, &it.0, false, deadline).await,
        Step::Hover(it) => {
            let found = seek(shared, step, it, &[], deadline).await?;
            let aim =
                pointer::reach(shared, step, &found, (None, PressWatch::No), deadline).await?;
            shared.act(action(ActionKind::Hover, &found, None, None));
            pointer::hover(shared, &found.session, aim.at).await
        }
        Step::Scroll(Scroll::Into(it)) => {
            let found = seek(shared, step, it, &[], deadline).await?;
            shared.mark(&found.session, None).await;
            shared.act(action(ActionKind::Scroll, &found, None, None));
            pointer::scroll_into_view(shared, &found).await
        }
        Step::Scroll(Scroll::To(_)) => {
            let frames = shared.frames_within().await?;
            let frame =
                frames.first().ok_or_else(|| step.failed_error("the frame is not there"))?;
            shared.mark(&frame.session, None).await;
            shared.act(Action::new(ActionKind::Scroll, Some("bottom")));
            pointer::scroll_to_bottom(shared, frame).await
        }
        Step::Dialog(it) => {
            shared.lock().dialog = Some((*it == DialogAnswer::Accept, None));
            Ok(())
        }
        Step::Frame(it) => within(shared, step, it, deadline).await,
        Step::WaitFor(wait) => {
            waiting::wait_for(shared, step, wait, (deadline, Beside::Nobody)).await?;
            // Noted when it is over: what the page sent meanwhile belongs to the action before.
            let (Wait::Text(it) | Wait::Selector(it) | Wait::Request(it)) = wait;
            shared.act(Action::new(ActionKind::WaitFor, Some(it)));
            Ok(())
        }
    }
}

fn action(
    kind: ActionKind,
    found: &FoundElement,
    control: Option<Control>,
    value: Option<&str>,
) -> Action {
    let (role, name) = (found.role.clone(), found.name.clone());
    Action { role, name, control, ..Action::new(kind, value) }
}

async fn tick(
    shared: &Arc<ContextInner>,
    step: &Step,
    element: &Element,
    on: bool,
    deadline: Instant,
) -> Result<()> {
    let found = seek(shared, step, element, TICKS, deadline).await?;
    let control = controls::read(shared, &found).await;
    // As a form names it; what it says to a person is the element's name.
    let kind = if on { ActionKind::Check } else { ActionKind::Uncheck };
    shared.mark(&found.session, None).await;
    shared.act(action(kind, &found, control, None));
    controls::tick(shared, step, &found, on, deadline).await
}

async fn seek(
    shared: &ContextInner,
    step: &Step,
    element: &Element,
    roles: &[&str],
    deadline: Instant,
) -> Result<FoundElement> {
    let mut poll = Poll::until(deadline);
    let mut rest = IdleDetector::from_now();
    let mut unclear: Option<Instant> = None;
    loop {
        let frames = shared.frames_within().await?;
        let sought = lookup::find(shared, &frames, element, roles).await;
        match sought.map_err(|err| step.failed_error(err.message()))? {
            FindResult::Found(it) => {
                let called = it.called.as_ref().map(|(role, name)| format!("{role} {name:?}"));
                shared.lock().took = called;
                return Ok(it);
            }
            FindResult::Several(lines) => {
                let since = *unclear.get_or_insert_with(Instant::now);
                if since.elapsed() >= UNCLEAR || Instant::now() >= deadline {
                    let why = format!("{} elements fit equally well", lines.len());
                    let shown = lines.iter().take(8).cloned().collect::<Vec<_>>().join("; ");
                    let hint = format!("choose one with nth, from 1 — {shown}");
                    return Err(step.failed_error(&why).hint(hint));
                }
            }
            FindResult::Nothing => unclear = None,
        }
        let rests = unclear.is_none() && rest.lasts(shared).await;
        if rests || !poll.pause().await {
            let around = locator_diagnostics::around(shared, step).await;
            let hint = around.hint();
            shared.lock().around = Some(around);
            let why = if rests { AT_REST } else { "no such element" };
            return Err(step.failed_error(why).hint(hint));
        }
    }
}

async fn within(
    shared: &ContextInner,
    step: &Step,
    to: &FrameTarget,
    deadline: Instant,
) -> Result<()> {
    let FrameTarget::One(by) = to else {
        shared.lock().within = None;
        return Ok(());
    };
    let mut poll = Poll::until(deadline);
    let mut rest = IdleDetector::from_now();
    loop {
        let frames = shared.frames().await?;
        // The first is the page itself.
        let others = || frames.iter().skip(1);
        let found: Vec<String> = match by {
            FrameLocator::Name(name) => {
                others().filter(|it| it.name == *name).map(|it| it.id.clone()).collect()
            }
            FrameLocator::Url(part) => {
                others().filter(|it| it.url.contains(part)).map(|it| it.id.clone()).collect()
            }
            FrameLocator::Css(css) => {
                let all = lookup::frame_ids(shared, &frames, css).await;
                let all = all.map_err(|err| step.failed_error(err.message()))?;
                all.into_iter().filter(|id| others().any(|it| it.id == *id)).collect()
            }
        };
        let shown = || {
            let line = |it: &super::page::Frame| format!("{:?} at {}", it.name, it.url);
            others().take(8).map(line).collect::<Vec<_>>().join(", ")
        };
        match found.as_slice() {
            [one] => {
                shared.lock().within = Some(one.clone());
                return Ok(());
            }
            [] => {}
            several => {
                let why = format!("{} frames fit", several.len());
                return Err(step.failed_error(&why).hint(format!("the page has {}", shown())));
            }
        }
        if rest.lasts(shared).await || !poll.pause().await {
            let hint = match shown() {
                it if it.is_empty() => "the page has no frames".to_owned(),
                it => format!("the page has {it}"),
            };
            return Err(step.failed_error("no such frame").hint(hint));
        }
    }
}
