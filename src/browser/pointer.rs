//! The mouse: where an element can be reached, what lies over it, and pressing it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::json;

use super::{
    cdp::Reply,
    keys,
    lookup::{self, Found},
    page::{self, Frame},
    plan::Step,
    recorder::Recorder,
    shared::Shared,
    typing,
    waiting::Poll,
};
use commis_base::error::Result;

/// For each question to the page.
const PATIENCE: Duration = Duration::from_secs(5);
/// What lies over an element may be on its way out.
const COVERED: Duration = Duration::from_secs(3);

/// Which of the points, given as they stand in the page's window, hits the element and not something over it. `x` and `y`: where
/// the element's first box begins, so that a frame's own places are known.
const HIT: &str = "function (points, x, y) {
  const it = this instanceof Element ? this : this.parentElement;
  const box = it?.getClientRects()[0];
  if (!box) return { at: 0, over: '', popup: false, disabled: false };
  const disabled = it.matches(':disabled') || !!it.closest('[aria-disabled=true]');
  const dx = box.x - x, dy = box.y - y;
  const hit = (x, y) => {
    let root = it.ownerDocument, found = null;
    for (;;) {
      const next = root.elementFromPoint(x, y);
      if (!next || next === found) return found;
      found = next;
      if (!found.shadowRoot) return found;
      root = found.shadowRoot;
    }
  };
  const up = it => it.assignedSlot ?? it.parentElement ?? it.getRootNode().host ?? null;
  const within = (it, of) => { for (; it; it = up(it)) if (it === of) return true; return false; };
  const labels = Array.from(it.labels ?? []);
  const reaches = by => !by || within(by, it) || within(it, by) || labels.some(label => within(by, label));
  const hits = points.map(([x, y]) => hit(x + dx, y + dy));
  const at = hits.findIndex(reaches);
  if (at >= 0) return { at, over: '', popup: false, disabled };
  const by = hits[0];
  const lists = '[role=listbox],[role=option],[role=menu],[role=grid],[role=tree]';
  let popup = false, named = by;
  for (let it = by; it; it = up(it)) {
    if (it.matches(lists) || /suggest|autocomplete|typeahead|dropdown/i.test(it.id + ' ' + it.getAttribute('class'))) popup = true;
    if (popup && named === by) named = it;
  }
  const role = named.getAttribute('role') ?? named.tagName.toLowerCase();
  const text = (named.getAttribute('aria-label') ?? named.innerText ?? '').replace(/\\s+/g, ' ').trim().slice(0, 60);
  return { at: -1, over: (role + ' \"' + text + '\"').toWellFormed(), popup, disabled };
}";

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

#[derive(Deserialize)]
struct Hit {
    at: i64,
    over: String,
    popup: bool,
    disabled: bool,
}

#[derive(Deserialize, Default)]
struct Quads {
    quads: Vec<Vec<f64>>,
}

/// Brings an element into view; the point at which the mouse reaches it. What lies over it is waited out, and a list that typing
/// has opened is closed.
///
/// Fails with `STEP_FAILED`, naming what lies over it.
pub async fn reach(
    shared: &Shared,
    step: &Step,
    found: &Found,
    deadline: Instant,
) -> Result<(f64, f64)> {
    let Found { session, world, backend, .. } = found;
    let mut poll = Poll::until(deadline);
    let mut covered: Option<Instant> = None;
    let mut closed = 0;
    loop {
        let target = json!({ "backendNodeId": backend });
        shared.cdp.post(Some(session), "DOM.scrollIntoViewIfNeeded", target.clone());
        let reply = shared.cdp.send(Some(session), "DOM.getContentQuads", target);
        let object = lookup::resolve(shared, session, *world, *backend);
        let (quads, object) = tokio::join!(reply.read::<Quads>(PATIENCE), object);
        let (quads, object) = (quads.unwrap_or_default(), object.ok().flatten());
        let points: Vec<[f64; 2]> = quads.quads.iter().flat_map(|it| points(it)).collect();
        let first = quads.quads.first().and_then(|it| corner(it));
        if let (Some([x, y]), Some(first)) = (points.first().copied(), first) {
            let hit = match object {
                Some(it) => hit(shared, session, &it, &points, first).await,
                None => None,
            };
            let Some(hit) = hit else { return Ok((x, y)) };
            let off = hit.disabled && !matches!(step, Step::Hover(_));
            if let Ok(at) = usize::try_from(hit.at)
                && !off
            {
                let [x, y] = points.get(at).copied().unwrap_or([x, y]);
                return Ok((x, y));
            }
            let since = *covered.get_or_insert_with(Instant::now);
            if off {
                // A form may be waiting for its server's opinion.
                let idle = shared.lock().recorder.as_ref().is_none_or(Recorder::is_idle);
                if since.elapsed() >= COVERED && idle || Instant::now() >= deadline {
                    let hint = "a step before it has to fill or choose what the page still wants";
                    return Err(step.failed("the element is disabled").hint(hint));
                }
            } else if hit.popup && closed < 2 {
                close_popup(shared, session, *world, closed == 1).await?;
                closed += 1;
            } else if since.elapsed() >= COVERED || Instant::now() >= deadline {
                let hint = if hit.popup {
                    "press Enter in the field, choose an option, or close the list"
                } else {
                    "a step before it has to close that, or press Enter in the form instead"
                };
                let why = format!("{} lies over the element", hit.over);
                return Err(step.failed(&why).hint(hint));
            }
        }
        if !poll.again().await {
            return Err(step.failed("the element is not visible"));
        }
    }
}

/// Brings an element into view; its middle, whatever lies over it.
pub async fn middle(shared: &Shared, step: &Step, found: &Found) -> Result<(f64, f64)> {
    let target = json!({ "backendNodeId": found.backend });
    shared.cdp.post(Some(&found.session), "DOM.scrollIntoViewIfNeeded", target.clone());
    let reply = shared.cdp.send(Some(&found.session), "DOM.getContentQuads", target);
    let quads = reply.read::<Quads>(PATIENCE).await.unwrap_or_default();
    let first = quads.quads.iter().find_map(|it| points(it).first().copied());
    let [x, y] = first.ok_or_else(|| step.failed("the element is not visible"))?;
    Ok((x, y))
}

async fn hit(
    shared: &Shared,
    session: &str,
    object: &str,
    points: &[[f64; 2]],
    first: [f64; 2],
) -> Option<Hit> {
    let arguments = [json!(points), first[0].into(), first[1].into()];
    page::call_on_object(&shared.cdp, session, object, HIT, &arguments).await.ok()
}

/// By leaving the field, and if that was not enough by Escape, which a field for searching would take as a wish to be emptied.
async fn close_popup(shared: &Shared, session: &Arc<str>, world: i64, press: bool) -> Result<()> {
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
        && let Some(events) = keys::named("Escape")
    {
        typing::type_events(shared, session, events).await?;
    }
    // Lists go a moment after their field was left, so that a click on them still counts.
    tokio::time::sleep(Duration::from_millis(200)).await;
    Ok(())
}

/// Moves the mouse there.
pub async fn hover(shared: &Shared, session: &str, (x, y): (f64, f64)) -> Result<()> {
    let params = json!({ "type": "mouseMoved", "x": x, "y": y, "buttons": 0, "button": "none", "clickCount": 0 });
    shared.cdp.run(Some(session), "Input.dispatchMouseEvent", params).await
}

/// Moves the mouse there and clicks.
pub async fn press(shared: &Shared, session: &str, at: (f64, f64)) -> Result<()> {
    // All sent at once: the browser does one after the other.
    let moved = mouse(shared, session, "mouseMoved", at, 0);
    let clicked = clicked(shared, session, at, 1);
    moved.done(PATIENCE).await?;
    clicked.await
}

/// Clicks where the mouse is that has just clicked there: the second half of a double click.
pub async fn press_again(shared: &Shared, session: &str, at: (f64, f64)) -> Result<()> {
    clicked(shared, session, at, 2).await
}

/// Sent at once; what is awaited is that it was done.
fn clicked(
    shared: &Shared,
    session: &str,
    at: (f64, f64),
    count: u8,
) -> impl Future<Output = Result<()>> + use<> {
    let down = mouse(shared, session, "mousePressed", at, count);
    let up = mouse(shared, session, "mouseReleased", at, count);
    async move {
        down.done(PATIENCE).await?;
        // The page may be gone before it answers.
        let _ = up.raw(PATIENCE).await;
        Ok(())
    }
}

/// Moves something from here to there, in small steps, as pages expect of a hand.
pub async fn drag(shared: &Shared, session: &str, from: (f64, f64), to: (f64, f64)) -> Result<()> {
    const STEPS: u8 = 8;
    mouse(shared, session, "mouseMoved", from, 0).raw(PATIENCE).await?;
    mouse(shared, session, "mousePressed", from, 1).raw(PATIENCE).await?;
    for i in 1..=STEPS {
        let part = f64::from(i) / f64::from(STEPS);
        let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
        mouse(shared, session, "mouseDragged", at, 1).raw(PATIENCE).await?;
    }
    let _ = mouse(shared, session, "mouseReleased", to, 1).raw(PATIENCE).await;
    Ok(())
}

/// `kind` as the protocol has it, and `mouseDragged`: moved with the button held.
fn mouse(shared: &Shared, session: &str, kind: &str, (x, y): (f64, f64), count: u8) -> Reply {
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

pub async fn scroll_into_view(shared: &Shared, found: &Found) -> Result<()> {
    let target = json!({ "backendNodeId": found.backend });
    shared.cdp.run(Some(&found.session), "DOM.scrollIntoViewIfNeeded", target).await
}

/// Of the document, or of the largest part of it that scrolls.
pub async fn scroll_to_bottom(shared: &Shared, frame: &Frame) -> Result<()> {
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
