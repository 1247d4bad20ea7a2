//! Whether a page goes on with its list as one scrolls.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    archive::Archive,
    bodies,
    context_state::{ContextInner, ContextState},
    page::{self, Frame},
    recorder::Recorder,
};

const PATIENCE: Duration = Duration::from_secs(5);
/// Pages that ask for more by a scroll do so within two frames, or by a timer of up to a fifth of a second.
const REACTS: Duration = Duration::from_millis(300);
/// Two frames, and such timers where the page's clock runs faster.
const TIMERS: Duration = Duration::from_millis(40 + 200 / page::CLOCK_SPEED as u64);
/// How long the answer to such a request may take.
const ANSWERS: Duration = Duration::from_secs(3);
/// Scrolls the largest part that has more below, which is the document itself on most pages, to its end. Whether there is one.
const TO_THE_END: &str = "function () {
  const top = document.scrollingElement ?? document.documentElement;
  const scrolls = it => it === top || /auto|scroll/.test(getComputedStyle(it).overflowY);
  const more = it => it.clientHeight > 100 && it.scrollHeight > it.clientHeight + 8;
  const size = it => it.clientWidth * it.clientHeight;
  let best = more(top) ? top : null;
  for (const it of document.querySelectorAll('main, section, div, ul, ol, table, tbody')) {
    if (more(it) && (!best || size(it) > size(best)) && scrolls(it)) best = it;
  }
  if (!best) return false;
  globalThis.commisScrolled = [best, best.scrollTop];
  best.scrollTop = best.scrollHeight;
  return true;
}";
/// Scrolls that part back: of lists that draw what is in sight alone, a later reading would see the last items.
const BACK: &str = "function () {
  const [part, top] = globalThis.commisScrolled ?? [];
  if (part) part.scrollTop = top;
}";

/// Scrolls to the end of the page; whether it then asks an endpoint again that it had asked before. The first such request stays in
/// the recording, because it shows how the list goes on; nothing else that the scroll provoked does.
pub async fn asks_for_more(shared: &Arc<ContextInner>, frame: &Frame) -> bool {
    let Some(before) = shared.lock().recorder.as_ref().map(Recorder::requests) else {
        return false;
    };
    if !scroll_to_end(shared, frame).await {
        return false;
    }
    let repeat =
        |state: &ContextState| state.recorder.as_ref().and_then(|it| it.first_repeat_after(before));
    let repeats = |state: &ContextState| state.recorder.is_none() || repeat(state).is_some();
    let more = shared.until(Instant::now() + REACTS, repeats).await.unwrap_or(false);
    let kept = repeat(&shared.lock());
    if let Some(index) = kept {
        bodies::hurry(shared);
        let read =
            |state: &ContextState| state.recorder.as_ref().is_none_or(|it| it.has_read(index));
        // An answer that does not come is no reason to wait for long.
        let _ = shared.until(Instant::now() + ANSWERS, read).await;
    }
    if let Some(it) = shared.lock().recorder.as_mut() {
        it.forget_after(before, kept.filter(|index| it.has_read(*index)));
    }
    scroll_back(shared, frame).await;
    more
}

/// The same of a page that is answered from an archive.
pub async fn asks_archive_for_more(
    shared: &ContextInner,
    frame: &Frame,
    archive: &Archive,
) -> bool {
    let before = archive.count_requests();
    if !scroll_to_end(shared, frame).await {
        return false;
    }
    // By the page's clock: on a busy machine its timers run late.
    let more = tokio::select! {
        () = archive.repeat_after(before) => true,
        () = page::timers(&shared.cdp, frame, TIMERS) => false,
    };
    scroll_back(shared, frame).await;
    more
}

/// Whether there is a part that has more below.
async fn scroll_to_end(shared: &ContextInner, frame: &Frame) -> bool {
    page::call::<bool>(&shared.cdp, frame, TO_THE_END, &[], PATIENCE).await.unwrap_or(false)
}

async fn scroll_back(shared: &ContextInner, frame: &Frame) {
    let _ = page::call::<serde_json::Value>(&shared.cdp, frame, BACK, &[], PATIENCE).await;
}
