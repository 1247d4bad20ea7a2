//! Carrying out scripted steps as a person would: by role and name, key by key, with the mouse.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    context::Shared,
    keys,
    lookup::{self, Found},
    page::{self, Remote},
    plan::{Step, Wait},
};
use crate::{
    artifacts::recording::ActionKind,
    error::{Code, Error, Result},
};

const PATIENCE: Duration = Duration::from_secs(5);
/// How often a page is laid out to say what is visible, and its frames are looked for whatever was told of them.
const LOOK_WELL: Duration = Duration::from_millis(100);
/// Makes an element ready to be typed into, its content selected. For a `<select>` it chooses the value at once.
const PREPARE: &str = "function (value) {
  if (this instanceof HTMLSelectElement) {
    const option = Array.from(this.options).find(it => it.value === value || it.label.trim() === value);
    if (!option) return 'no option';
    this.value = option.value;
    this.dispatchEvent(new Event('input', { bubbles: true }));
    this.dispatchEvent(new Event('change', { bubbles: true }));
    return 'chosen';
  }
  if (this.disabled || this.readOnly) return 'disabled';
  this.focus();
  if (typeof this.select === 'function') this.select();
  else if (this.isContentEditable) this.ownerDocument.getSelection().selectAllChildren(this);
  else return 'not a field';
  const content = 'value' in this ? this.value : this.textContent;
  return content ? 'filled' : 'empty';
}";

/// Carries out one step and notes it in the recording. Fails with `STEP_FAILED`, with `DOWNLOAD_BLOCKED` when a download began
/// instead of what the step needs, or, for `navigate`, with the policy's codes.
pub async fn perform(shared: &Arc<Shared>, step: &Step, timeout: Duration) -> Result<()> {
    let done = attempt(shared, step, timeout).await;
    done.map_err(|err| match shared.lock().download.take() {
        Some(url) if err.code() == Code::StepFailed => {
            let message = format!("{}, and {url} is a download", err.message());
            Error::new(Code::DownloadBlocked, message)
                .hint("files are not saved; leave out the step that asks for one")
        }
        _ => err,
    })
}

async fn attempt(shared: &Arc<Shared>, step: &Step, timeout: Duration) -> Result<()> {
    let deadline = Instant::now() + timeout;
    match step {
        Step::Navigate(url) => {
            shared.act(ActionKind::Navigate, None, Some(url));
            shared.navigate(url, timeout).await
        }
        Step::Fill(it) => {
            let element = Some((&*it.role, &*it.name));
            let found = seek(shared, step, &it.role, &it.name, deadline).await?;
            shared.act(ActionKind::Fill, element, Some(&it.value));
            fill(shared, step, &found, &it.value).await
        }
        Step::Press(key) => {
            let Some(events) = keys::named(key) else {
                let hint = format!("keys are {}", keys::names());
                return Err(failed(step, "no such key").hint(hint));
            };
            shared.act(ActionKind::Press, None, Some(key));
            let session = shared.page()?.session;
            type_events(shared, &session, events).await
        }
        Step::Click(it) => {
            let element = Some((&*it.role, &*it.name));
            let found = seek(shared, step, &it.role, &it.name, deadline).await?;
            click(shared, step, &found, element, deadline).await
        }
        Step::WaitFor(wait) => {
            wait_for(shared, step, wait, deadline).await?;
            // Noted when it is over: what the page sent meanwhile belongs to the action before.
            let (Wait::Text(it) | Wait::Selector(it) | Wait::Request(it)) = wait;
            shared.act(ActionKind::WaitFor, None, Some(it));
            Ok(())
        }
    }
}

fn failed(step: &Step, why: &str) -> Error {
    Error::new(Code::StepFailed, format!("{}: {why}", step.describe()))
}

/// Polls: the first pause is short, since most elements are there at once.
struct Poll {
    pause: Duration,
    longest: Duration,
    deadline: Instant,
}

impl Poll {
    fn until(deadline: Instant) -> Self {
        Self { pause: Duration::from_millis(15), longest: Duration::from_millis(100), deadline }
    }

    /// For what costs the page little to be asked.
    fn closely(deadline: Instant) -> Self {
        Self { longest: Duration::from_millis(30), ..Self::until(deadline) }
    }

    /// False when time is up.
    async fn again(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 3 / 2).min(self.longest);
        true
    }
}

async fn seek(
    shared: &Shared,
    step: &Step,
    role: &str,
    name: &str,
    deadline: Instant,
) -> Result<Found> {
    let mut poll = Poll::until(deadline);
    loop {
        let frames = shared.frames().await?;
        if let Some(found) = lookup::find(shared, &frames, role, name).await {
            return Ok(found);
        }
        if !poll.again().await {
            let hint = match lookup::visible(shared, &frames).await {
                it if it.is_empty() => "the page shows no interactive elements".to_owned(),
                it => format!("the page shows {it}"),
            };
            return Err(failed(step, "no such element").hint(hint));
        }
    }
}

async fn fill(shared: &Shared, step: &Step, found: &Found, value: &str) -> Result<()> {
    let Found { session, backend } = found;
    let object =
        resolve(shared, found).await?.ok_or_else(|| failed(step, "the element went away"))?;
    let scroll = json!({ "backendNodeId": backend });
    shared.cdp.post(Some(session), "DOM.scrollIntoViewIfNeeded", scroll);
    let arguments = [value.into()];
    let prepared: String =
        page::call_on_object(&shared.cdp, session, &object, PREPARE, &arguments).await?;
    match &*prepared {
        "chosen" => return Ok(()),
        "filled" => {
            // Selected above, so that one key empties it and its listeners hear of it.
            if let Some(events) = keys::named("Backspace") {
                type_events(shared, session, events).await?;
            }
        }
        "empty" => {}
        "no option" => return Err(failed(step, "the list has no such option")),
        "disabled" => return Err(failed(step, "the field is disabled or read-only")),
        _ => return Err(failed(step, "the element is not a field")),
    }
    for it in value.chars() {
        if let Some(events) = keys::character(it) {
            type_events(shared, session, events).await?;
        } else {
            let params = json!({ "text": it.to_string() });
            shared.cdp.run(Some(session), "Input.insertText", params).await?;
        }
    }
    Ok(())
}

async fn type_events(shared: &Shared, session: &str, events: [Value; 2]) -> Result<()> {
    let method = "Input.dispatchKeyEvent";
    let [down, up] = events.map(|it| shared.cdp.send(Some(session), method, it));
    down.raw(PATIENCE).await?;
    // Enter may have navigated the page away from under the second one.
    let _ = up.raw(PATIENCE).await;
    Ok(())
}

async fn resolve(shared: &Shared, found: &Found) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct Resolved {
        object: Remote,
    }
    let params = json!({ "backendNodeId": found.backend });
    let reply = shared.cdp.send(Some(&found.session), "DOM.resolveNode", params);
    let resolved: Resolved = reply.read(PATIENCE).await?;
    Ok(resolved.object.object_id)
}

async fn click(
    shared: &Shared,
    step: &Step,
    found: &Found,
    element: Option<(&str, &str)>,
    deadline: Instant,
) -> Result<()> {
    let Found { session, backend } = found;
    let mut poll = Poll::until(deadline);
    let (x, y) = loop {
        let target = json!({ "backendNodeId": backend });
        shared.cdp.post(Some(session), "DOM.scrollIntoViewIfNeeded", target.clone());
        let reply = shared.cdp.send(Some(session), "DOM.getContentQuads", target);
        let quads = reply.read::<Quads>(PATIENCE).await.unwrap_or_default();
        if let Some(centre) = quads.quads.iter().find_map(|it| centre(it)) {
            break centre;
        }
        if !poll.again().await {
            return Err(failed(step, "the element is not visible"));
        }
    };
    shared.act(ActionKind::Click, element, None);
    let mouse = |kind: &str, buttons: u8| {
        let params = json!({
            "type": kind, "x": x, "y": y, "buttons": buttons,
            "button": if kind == "mouseMoved" { "none" } else { "left" },
            "clickCount": u8::from(kind != "mouseMoved"),
        });
        shared.cdp.send(Some(session), "Input.dispatchMouseEvent", params)
    };
    mouse("mouseMoved", 0).raw(PATIENCE).await?;
    mouse("mousePressed", 1).raw(PATIENCE).await?;
    // The page may be gone before it answers.
    let _ = mouse("mouseReleased", 0).raw(PATIENCE).await;
    Ok(())
}

#[derive(Deserialize, Default)]
struct Quads {
    quads: Vec<Vec<f64>>,
}

/// Of a quad with an area, given as four points.
fn centre(quad: &[f64]) -> Option<(f64, f64)> {
    let [ax, ay, bx, by, cx, cy, dx, dy] = *quad else {
        return None;
    };
    let area =
        ((ax * by - bx * ay) + (bx * cy - cx * by) + (cx * dy - dx * cy) + (dx * ay - ax * dy))
            / 2.0;
    (area.abs() >= 1.0).then_some(((ax + bx + cx + dx) / 4.0, (ay + by + cy + dy) / 4.0))
}

async fn wait_for(shared: &Shared, step: &Step, wait: &Wait, deadline: Instant) -> Result<()> {
    let mut poll = Poll::closely(deadline);
    let mut look_well = Instant::now();
    let mut frames = Vec::new();
    let mut known = None;
    loop {
        let sure = Instant::now() >= look_well;
        let changed = shared.lock().frames;
        // A page that is busy loading is asked no more often than needed.
        if !matches!(wait, Wait::Request(_)) && (sure || known != Some(changed)) {
            (frames, known) = (shared.frames().await?, Some(changed));
        }
        let _ = shared.page()?;
        let there = match wait {
            Wait::Text(it) => page::any_has_text(&shared.cdp, &frames, it, sure).await,
            Wait::Selector(it) => page::any_has_selector(&shared.cdp, &frames, it).await,
            Wait::Request(it) => {
                let state = shared.lock();
                state.recorder.as_ref().is_some_and(|recorder| recorder.has_finished(it))
            }
        };
        if sure {
            look_well = Instant::now() + LOOK_WELL;
        }
        if there {
            return Ok(());
        }
        if !poll.again().await {
            let err = failed(step, "it did not happen in time");
            return Err(match shared.lock().popup.take() {
                Some(url) => {
                    err.hint(format!("a popup to {url} was closed; navigate there instead"))
                }
                None => err,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quads_without_area_are_not_clicked() {
        let flat = vec![0.0, 0.0, 10.0, 0.0, 10.0, 0.0, 0.0, 0.0];
        let square = vec![0.0, 0.0, 10.0, 0.0, 10.0, 20.0, 0.0, 20.0];
        assert_eq!(centre(&flat), None);
        assert_eq!(centre(&square), Some((5.0, 10.0)));
    }
}
