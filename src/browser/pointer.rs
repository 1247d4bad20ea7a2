//! The mouse: where an element can be reached, what lies over it, and pressing it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::json;

use super::{
    aim::{self, HitTestResult, PointerTarget, PressCheck, PressWatch, UnreachableReason},
    cdp::Reply,
    context_state::ContextInner,
    input_events, keys,
    lookup::{self, FoundElement},
    page::{self, Frame},
    plan::Step,
    recorder::Recorder,
    waiting::Poll,
};
use commis_base::error::{Error, Result};

/// For each question to the page.
const PATIENCE: Duration = Duration::from_secs(5);
/// What lies over an element may be on its way out, and what lies outside of the window on its way in.
const COVERED: Duration = Duration::from_secs(3);
/// How often a press is tried that something else came under.
pub const TRIES: usize = 5;

/// Leaves the field that is being typed into, which closes what opened below it.
const BLUR: &str = "function () {
  let it = document.activeElement;
  while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
  const leaves = !!it && it !== document.body;
  if (leaves) it.blur();
  return leaves;
}";

const TO_BOTTOM: &str = "function () {
  const room = it => it.scrollHeight - it.clientHeight;
  const area = it => it.clientHeight * it.clientWidth;
  let it = document.scrollingElement ?? document.documentElement;
  if (!it) return true;
  if (room(it) < 2) {
    const scrolls = it => room(it) > 1 && /auto|scroll/.test(getComputedStyle(it).overflowY);
    const inner = Array.from(document.querySelectorAll('*')).filter(scrolls).sort((a, b) => area(b) - area(a));
    it = inner[0] ?? it;
  }
  it.scrollTo({ top: it.scrollHeight, behavior: 'instant' });
  return true;
}";

#[derive(Deserialize, Default)]
pub struct Quads {
    quads: Vec<Vec<f64>>,
}

impl Quads {
    /// Where an element is in its session's window, as it is now.
    pub async fn query(shared: &ContextInner, found: &FoundElement) -> Self {
        let target = json!({ "backendNodeId": found.backend });
        let reply = shared.cdp.send(Some(&found.session), "DOM.getContentQuads", target);
        reply.read(PATIENCE).await.unwrap_or_default()
    }

    /// Points to try, the middle first.
    pub fn points(&self) -> Vec<[f64; 2]> {
        self.quads.iter().flat_map(|it| points(it)).collect()
    }

    /// Where the box around the first one begins.
    pub fn first(&self) -> Option<[f64; 2]> {
        self.quads.first().and_then(|it| corner(it))
    }

    /// The point that lies so far from where the element begins.
    pub fn at(&self, (x, y): (f64, f64)) -> std::result::Result<[f64; 2], String> {
        let quad = self.quads.first().map(Vec::as_slice).unwrap_or_default();
        let [left, top] = corner(quad).unwrap_or_default();
        let reach = |from: usize| {
            quad.iter().skip(from).step_by(2).copied().fold(f64::NEG_INFINITY, f64::max)
        };
        let (width, height) = (reach(0) - left, reach(1) - top);
        if x < 0.0 || y < 0.0 || x >= width || y >= height {
            return Err(format!(
                "{x},{y} is outside the element, which is {width:.0} by {height:.0} pixels"
            ));
        }
        Ok([left + x, top + y])
    }
}

/// Brings an element into view; the point at which the mouse reaches it. What lies over it is waited out, and a list that typing
/// has opened is closed. `offset`: that point alone, from the element's upper left corner. `arm`: the press that follows is watched,
/// and [`aim::verdict`] says what it came to.
///
/// Fails with `STEP_FAILED`, naming what lies over it, or why the mouse never gets there.
pub async fn reach(
    shared: &ContextInner,
    step: &Step,
    found: &FoundElement,
    (offset, arm): (Option<(f64, f64)>, PressWatch),
    deadline: Instant,
) -> Result<PointerTarget> {
    let FoundElement { session, world, backend, .. } = found;
    let hovers = matches!(step, Step::Hover(_));
    let mut poll = Poll::until(deadline);
    let mut since: Option<Instant> = None;
    let mut closed = 0;
    let mut aligned = ["center", "end", "start"].iter().cycle();
    let mut moved = false;
    loop {
        let target = json!({ "backendNodeId": backend });
        let ask = || shared.cdp.send(Some(session), "DOM.getContentQuads", target.clone());
        let before = ask();
        shared.cdp.post(Some(session), "DOM.scrollIntoViewIfNeeded", target.clone());
        let after = ask();
        let object = lookup::resolve(shared, session, *world, *backend);
        let (before, quads, object) =
            tokio::join!(before.read::<Quads>(PATIENCE), after.read::<Quads>(PATIENCE), object);
        let (quads, object) = (quads.unwrap_or_default(), object.ok().flatten());
        let was = before.unwrap_or_default().first();
        let Some(object) = object else { return Err(step.lost()) };
        if let Some(first) = quads.first() {
            moved |= was.is_none_or(|it| it.iter().zip(first).any(|(a, b)| (a - b).abs() > 1.0));
            let points = match offset {
                Some(offset) => vec![quads.at(offset).map_err(|why| step.failed_error(&why))?],
                None => quads.points(),
            };
            let mut look = aim::hit_test(shared, (session, &object), &points, first, arm).await;
            if let Some(it) = look.as_mut().filter(|it| it.framed)
                && let Some([x, y]) = usize::try_from(it.at).ok().and_then(|at| points.get(at))
                && let Some(over) = aim::in_frames(shared, found, (*x, *y)).await?
            {
                (it.at, it.why, it.over) = (-1, UnreachableReason::Covered, over);
            }
            let Some(look) = look else { return Err(step.lost()) };
            let off = look.disabled && !hovers;
            if let Some([x, y]) = usize::try_from(look.at).ok().and_then(|at| points.get(at))
                && !off
            {
                let HitTestResult { state, framed, stands, .. } = look;
                let (at, stands) = ((*x, *y), stands.map(Into::into));
                return Ok(PointerTarget { at, object, state, stands, moved, framed });
            }
            let since = *since.get_or_insert_with(Instant::now);
            let over = since.elapsed() >= COVERED || Instant::now() >= deadline;
            if off {
                // A form may be waiting for its server's opinion.
                let idle = shared.lock().recorder.as_ref().is_none_or(Recorder::is_idle);
                if over && (idle || Instant::now() >= deadline) {
                    let hint = "a step before it has to fill or choose what the page still wants";
                    return Err(step.failed_error("the element is disabled").hint(hint));
                }
            } else if look.why == UnreachableReason::Gone {
                return Err(step.lost());
            } else if look.why == UnreachableReason::Covered && look.popup && closed < 2 {
                close_popup(shared, session, *world, closed == 1).await?;
                closed += 1;
            } else if over {
                return Err(unreachable(step, &look));
            } else if matches!(
                look.why,
                UnreachableReason::Covered
                    | UnreachableReason::Clipped
                    | UnreachableReason::Outside
            ) && let Some(block) = aligned.next()
            {
                aim::align(shared, session, &object, block).await;
                moved = true;
            }
        }
        if !poll.pause().await {
            return Err(step.failed_error("the element is not visible"));
        }
    }
}

/// What keeps the mouse from an element.
fn unreachable(step: &Step, look: &HitTestResult) -> Error {
    let (why, hint) = match look.why {
        UnreachableReason::Outside => (
            "the element is outside the window and cannot be scrolled into view".to_owned(),
            "open what holds it first, such as a drawer or a menu, or make the window larger",
        ),
        UnreachableReason::Clipped => (
            format!("{} cuts the element off", look.over),
            "show it first: turn to its slide, or open what holds it",
        ),
        UnreachableReason::Inert => (
            "the element takes no clicks (its style has pointer-events: none)".to_owned(),
            "a step before it has to enable it, or another element takes its clicks",
        ),
        _ if look.popup => (
            format!("{} covers the element", look.over),
            "press Enter in the field, choose an option, or close the list",
        ),
        UnreachableReason::Covered => (
            format!("{} covers the element", look.over),
            "a step before it has to close that, or press Enter in the form instead",
        ),
        _ => ("the element is not visible".to_owned(), "show it first"),
    };
    step.failed_error(&why).hint(hint)
}

/// Clicks what was aimed at. A press that something else came under is stopped, and tried again. Fails with `STEP_FAILED`.
pub async fn click(
    shared: &ContextInner,
    step: &Step,
    found: &FoundElement,
    mut aim: PointerTarget,
    deadline: Instant,
) -> Result<()> {
    let mut tries = 1;
    loop {
        press(shared, &found.session, aim.at).await?;
        let verdict = aim::verdict(shared, found, &aim, PressCheck::End, PATIENCE).await;
        let Some(over) = verdict.and_then(|it| it.over) else { return Ok(()) };
        if tries == TRIES || Instant::now() >= deadline {
            return Err(slipped(step, &over));
        }
        tries += 1;
        aim = reach(shared, step, found, (None, PressWatch::Loosely), deadline).await?;
    }
}

/// Something else was under the mouse each time.
pub fn slipped(step: &Step, over: &str) -> Error {
    step.failed_error(&format!(
        "{over} moved under the mouse instead of the element; nothing was clicked"
    ))
    .hint("wait until the page stops moving")
}

/// By leaving the field, and if that was not enough by Escape, which a field for searching would take as a wish to be emptied.
async fn close_popup(
    shared: &ContextInner,
    session: &Arc<str>,
    world: i64,
    press: bool,
) -> Result<()> {
    hover(shared, session, (1.0, 1.0)).await?;
    let frame = Frame {
        session: Arc::clone(session),
        world,
        id: String::new(),
        name: String::new(),
        url: String::new(),
    };
    let left: Result<bool> = page::call(&shared.cdp, &frame, BLUR, &[], PATIENCE).await;
    if press
        && left.is_ok()
        && let Some(events) = keys::named_key_events("Escape")
    {
        input_events::type_events(shared, session, events).await?;
    }
    // Lists go a moment after their field was left, so that a click on them still counts.
    tokio::time::sleep(Duration::from_millis(200)).await;
    Ok(())
}

/// Moves the mouse there.
pub async fn hover(shared: &ContextInner, session: &str, (x, y): (f64, f64)) -> Result<()> {
    let params = json!({ "type": "mouseMoved", "x": x, "y": y, "buttons": 0, "button": "none", "clickCount": 0 });
    shared.cdp.run(Some(session), "Input.dispatchMouseEvent", params).await
}

/// Moves the mouse there and clicks.
pub async fn press(shared: &ContextInner, session: &str, at: (f64, f64)) -> Result<()> {
    // All sent at once: the browser does one after the other.
    let moved = mouse(shared, session, "mouseMoved", at, 0);
    let clicked = clicked(shared, session, at, 1);
    moved.wait(PATIENCE).await?;
    clicked.await
}

/// Clicks where the mouse is that has just clicked there: the second half of a double click.
pub async fn press_again(shared: &ContextInner, session: &str, at: (f64, f64)) -> Result<()> {
    clicked(shared, session, at, 2).await
}

/// Sent at once; what is awaited is that it was done.
fn clicked(
    shared: &ContextInner,
    session: &str,
    at: (f64, f64),
    count: u8,
) -> impl Future<Output = Result<()>> + use<> {
    let down = mouse(shared, session, "mousePressed", at, count);
    let up = mouse(shared, session, "mouseReleased", at, count);
    async move {
        down.wait(PATIENCE).await?;
        // The page may be gone before it answers.
        let _ = up.raw(PATIENCE).await;
        Ok(())
    }
}

/// `kind` as the protocol has it, and `mouseDragged`: moved with the button held.
pub fn mouse(
    shared: &ContextInner,
    session: &str,
    kind: &str,
    (x, y): (f64, f64),
    count: u8,
) -> Reply {
    let (kind, held) = match kind {
        "mouseDragged" => ("mouseMoved", true),
        it => (it, it == "mousePressed"),
    };
    let params = json!({
        "type": kind, "x": x, "y": y, "buttons": u8::from(held),
        "button": if count == 0 { "none" } else { "left" },
        "clickCount": count,
    });
    shared.cdp.send(Some(session), "Input.dispatchMouseEvent", params)
}

pub async fn scroll_into_view(shared: &ContextInner, found: &FoundElement) -> Result<()> {
    let target = json!({ "backendNodeId": found.backend });
    shared.cdp.run(Some(&found.session), "DOM.scrollIntoViewIfNeeded", target).await
}

/// Of the document, or of the largest part of it that scrolls.
pub async fn scroll_to_bottom(shared: &ContextInner, frame: &Frame) -> Result<()> {
    page::call::<bool>(&shared.cdp, frame, TO_BOTTOM, &[], PATIENCE).await.map(drop)
}

/// The centre of a quad with an area, given as four points, and then near its corners.
fn points(quad: &[f64]) -> Vec<[f64; 2]> {
    let [ax, ay, bx, by, cx, cy, dx, dy] = *quad else {
        return Vec::new();
    };
    let area =
        ((ax * by - bx * ay) + (bx * cy - cx * by) + (cx * dy - dx * cy) + (dx * ay - ax * dy))
            / 2.0;
    if area.abs() < 1.0 {
        return Vec::new();
    }
    let (x, y) = ((ax + bx + cx + dx) / 4.0, (ay + by + cy + dy) / 4.0);
    let inside = |of: f64, centre: f64| centre + (of - centre) * 0.8;
    let near = |px: f64, py: f64| [inside(px, x), inside(py, y)];
    vec![[x, y], near(ax, ay), near(bx, by), near(cx, cy), near(dx, dy)]
}

/// Where the box around a quad begins.
fn corner(quad: &[f64]) -> Option<[f64; 2]> {
    let of = |from: usize| quad.iter().skip(from).step_by(2).copied().reduce(f64::min);
    Some([of(0)?, of(1)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quads_without_area_are_not_clicked() {
        let flat = vec![0.0, 0.0, 10.0, 0.0, 10.0, 0.0, 0.0, 0.0];
        let square = vec![0.0, 0.0, 10.0, 0.0, 10.0, 20.0, 0.0, 20.0];
        assert_eq!(points(&flat), [] as [[f64; 2]; 0]);
        assert_eq!(points(&square)[..2], [[5.0, 10.0], [1.0, 2.0]]);
        assert_eq!(corner(&square), Some([0.0, 0.0]));
    }
}
