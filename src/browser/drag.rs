//! Dragging one element to another, which may be so far away that a window never shows both.
//!
//! The button goes down on the element that was named, or nothing is dragged. Where the other is not in the window then, it is
//! scrolled to with the button held; the mouse follows until nothing scrolls any more.

use std::time::{Duration, Instant};

use serde::Deserialize;

use super::{
    aim::{self, PointerTarget, PressCheck, PressWatch, UnreachableReason},
    context_state::ContextInner,
    input_events, keys,
    lookup::{self, FoundElement},
    page,
    plan::Step,
    pointer::{self, Quads, mouse},
};
use commis_base::error::Result;

/// For each question to the page.
const PATIENCE: Duration = Duration::from_secs(5);
/// Small steps, as pages expect of a hand.
const STEPS: u8 = 8;
/// Pixels after which every page takes it for a drag.
const BEGINS: f64 = 12.0;
/// What scrolls by itself while something is held at its edge comes to its end by then.
const SCROLLS: Duration = Duration::from_secs(5);
/// Two looks at whether it still scrolls.
const FRAME: Duration = Duration::from_millis(60);

/// Whether a point of the window lies on the element, whatever is carried over it, and how far all around it has scrolled.
const PLACE: &str = "function (x, y, left, top) {
  const it = this instanceof Element ? this : this.parentElement;
  const box = it?.getClientRects()[0];
  if (!box) return { under: false, scrolled: 0 };
  const [dx, dy] = [box.x - left, box.y - top];
  const up = it => it.assignedSlot ?? it.parentElement ?? it.getRootNode().host ?? null;
  let scrolled = it.ownerDocument.scrollingElement ? scrollX + scrollY : 0;
  for (let at = it; at; at = up(at)) scrolled += at.scrollTop + at.scrollLeft;
  const root = it.getRootNode();
  const under = root.elementsFromPoint(x + dx, y + dy).some(by => { for (; by; by = up(by)) if (by === it) return true; return false; });
  return { under, scrolled };
}";

#[derive(Deserialize)]
struct DropState {
    under: bool,
    scrolled: f64,
}

/// An element, and the point of it that is meant, from its upper left corner; else its middle.
pub struct DragEnd<'a> {
    pub found: &'a FoundElement,
    pub offset: Option<(f64, f64)>,
}

impl DragEnd<'_> {
    /// Where it is now: the point, and where its first box begins.
    async fn point(&self, shared: &ContextInner, step: &Step) -> Result<([f64; 2], [f64; 2])> {
        let quads = Quads::query(shared, self.found).await;
        let unseen = || step.failed_error("where it is to be dragged to is not visible");
        let first = quads.first().ok_or_else(unseen)?;
        let point = match self.offset {
            Some(it) => quads.at(it).map_err(|why| step.failed_error(&why))?,
            None => quads.points().first().copied().ok_or_else(unseen)?,
        };
        Ok((point, first))
    }

    async fn object(&self, shared: &ContextInner, step: &Step) -> Result<String> {
        let FoundElement { session, world, backend, .. } = self.found;
        let object = lookup::resolve(shared, session, *world, *backend).await?;
        object.ok_or_else(|| step.lost())
    }
}

/// What is ready to be dragged.
pub struct PreparedDrag {
    pub aim: PointerTarget,
    /// The window does not show the other end.
    pub is_far: bool,
    target: String,
}

/// Brings both ends into the window, or the first alone. Fails with `STEP_FAILED`; nothing was done then.
pub async fn prepare(
    shared: &ContextInner,
    step: &Step,
    from: &DragEnd<'_>,
    to: &DragEnd<'_>,
    deadline: Instant,
) -> Result<PreparedDrag> {
    let session = &from.found.session;
    if *session != to.found.session {
        let err = step.failed_error("the two elements are in frames of different sites");
        return Err(err.hint("drag within one frame"));
    }
    let target = to.object(shared, step).await?;
    let _ = pointer::scroll_into_view(shared, to.found).await;
    let mut aim =
        pointer::reach(shared, step, from.found, (from.offset, PressWatch::Loosely), deadline)
            .await?;
    let mut far = blocked(shared, step, to, &target).await?;
    if far == Some(UnreachableReason::Outside) {
        // All of the room is beside it.
        let (end, _) = to.point(shared, step).await?;
        let block = if end[1] > aim.at.1 { "start" } else { "end" };
        aim::align(shared, session, &aim.object, block).await;
        aim =
            pointer::reach(shared, step, from.found, (from.offset, PressWatch::Loosely), deadline)
                .await?;
        aim.moved = true;
        far = blocked(shared, step, to, &target).await?;
    }
    Ok(PreparedDrag { aim, is_far: far.is_some(), target })
}

/// Presses the button on what was named and carries it to the other end; where the mouse holds it then. Fails with `STEP_FAILED`;
/// nothing was dropped on anything then.
pub async fn carry(
    shared: &ContextInner,
    step: &Step,
    from: &DragEnd<'_>,
    to: &DragEnd<'_>,
    PreparedDrag { aim, is_far, target }: &PreparedDrag,
) -> Result<(f64, f64)> {
    let session = &*from.found.session;
    mouse(shared, session, "mouseMoved", aim.at, 0).raw(PATIENCE).await?;
    mouse(shared, session, "mousePressed", aim.at, 1).raw(PATIENCE).await?;
    let peeked = aim::verdict(shared, from.found, aim, PressCheck::Peek, PATIENCE).await;
    if let Some(over) = peeked.and_then(|it| it.over) {
        // What is stopped stays so until the button is up.
        let _ = mouse(shared, session, "mouseReleased", aim.at, 1).raw(PATIENCE).await;
        aim::verdict(shared, from.found, aim, PressCheck::End, PATIENCE).await;
        return Err(pointer::slipped(step, &over));
    }
    aim::verdict(shared, from.found, aim, PressCheck::End, PATIENCE).await;
    let hand = MouseDrag { shared, session };
    let done = if *is_far {
        hand.carry_far(step, aim.at, to, target).await
    } else {
        match to.point(shared, step).await {
            Ok(([x, y], _)) => {
                hand.carry(aim.at, (x, y), STEPS).await;
                hand.rest((x, y)).await;
                Ok((x, y))
            }
            Err(err) => Err(err),
        }
    };
    if done.is_err() {
        give_up(shared, session).await;
    }
    done
}

/// Lets go of it there.
pub async fn drop_at(shared: &ContextInner, session: &str, at: (f64, f64)) {
    // The page may be gone before it answers.
    let _ = mouse(shared, session, "mouseReleased", at, 1).raw(PATIENCE).await;
}

/// Lets go where nothing is: Escape first, which most pages take as a wish to leave things as they were.
pub async fn give_up(shared: &ContextInner, session: &str) {
    if let Some(events) = keys::named_key_events("Escape") {
        let _ = input_events::type_events(shared, session, events).await;
    }
    let nowhere = (-20.0, -20.0);
    let _ = mouse(shared, session, "mouseDragged", nowhere, 1).raw(PATIENCE).await;
    drop_at(shared, session, nowhere).await;
}

/// Why the other end cannot be dropped on where it is; `None` where it can. Fails where something lies over it.
async fn blocked(
    shared: &ContextInner,
    step: &Step,
    to: &DragEnd<'_>,
    target: &str,
) -> Result<Option<UnreachableReason>> {
    let (point, first) = to.point(shared, step).await?;
    let session = &to.found.session;
    let Some(look) =
        aim::hit_test(shared, (session, target), &[point], first, PressWatch::No).await
    else {
        return Err(step.lost());
    };
    Ok((look.at < 0).then_some(look.why).filter(|it| *it != UnreachableReason::Inert))
}

/// The mouse with its button held.
struct MouseDrag<'a> {
    shared: &'a ContextInner,
    session: &'a str,
}

impl MouseDrag<'_> {
    async fn carry(&self, from: (f64, f64), to: (f64, f64), steps: u8) {
        for i in 1..=steps {
            let part = f64::from(i) / f64::from(steps);
            let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            let _ = mouse(self.shared, self.session, "mouseDragged", at, 1).raw(PATIENCE).await;
        }
    }

    /// Holds it there for a moment, as a hand does: what makes place for it moves there first.
    async fn rest(&self, (x, y): (f64, f64)) {
        for by in [1.0, 0.0, 1.0, 0.0] {
            tokio::time::sleep(FRAME).await;
            let at = (x + by, y);
            let _ = mouse(self.shared, self.session, "mouseDragged", at, 1).raw(PATIENCE).await;
        }
    }

    /// Carries it to what the window does not show yet. Where the mouse is then.
    async fn carry_far(
        &self,
        step: &Step,
        from: (f64, f64),
        to: &DragEnd<'_>,
        target: &str,
    ) -> Result<(f64, f64)> {
        let mut at = (from.0, from.1 + BEGINS);
        self.carry(from, at, 3).await;
        let until = Instant::now() + SCROLLS;
        aim::align(self.shared, self.session, target, "center").await;
        let mut before = f64::NAN;
        loop {
            let ([x, y], first) = to.point(self.shared, step).await?;
            self.carry(at, (x, y), if before.is_nan() { STEPS } else { 2 }).await;
            at = (x, y);
            tokio::time::sleep(FRAME).await;
            let (_, now) = to.point(self.shared, step).await.unwrap_or(([x, y], first));
            let arguments = [x, y, now[0], now[1]].map(Into::into);
            let place: DropState =
                page::call_on_object(&self.shared.cdp, self.session, target, PLACE, &arguments)
                    .await?;
            let stands = (place.scrolled - before).abs() < 1.0;
            before = place.scrolled;
            if stands && place.under {
                self.rest(at).await;
                return Ok(at);
            }
            if Instant::now() >= until {
                let err =
                    step.failed_error("where it is to be dragged to does not come under the mouse");
                return Err(err.hint(
                    "nothing was dropped; enlarge the window with `viewport` until it shows both",
                ));
            }
        }
    }
}
