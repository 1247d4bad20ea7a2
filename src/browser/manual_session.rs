//! A session that a person makes in a visible window: watched until the window is closed.
//!
//! The window may close at any time and takes everything with it that was not read. So bodies are read as they finish, the page
//! is read whenever it has come to rest, and each document tells what it showed as it goes.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    Context, bodies,
    context_state::ContextInner,
    page,
    recorder::Recorder,
    steps, typed_secrets,
    user_action_events::set_up,
    user_actions::{ActionWatcher, UserAction},
};
use commis_artifacts::recording::{Action, ActionKind, Driver};
use commis_base::error::{Code, Error, Result};
use commis_redact::raw::{RawPage, RawRecording};

/// A window that nobody closes must not be recorded for ever.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// Without news for so long, the page has come to rest; it is read once more later, for what it draws late.
const REST: Duration = Duration::from_millis(300);
const LATE: Duration = Duration::from_secs(2);
/// A page that is never at rest is read this often.
const RESTLESS: Duration = Duration::from_secs(3);

/// What was done by hand, as recorded, and what was typed where.
pub struct ManualRecording {
    pub recording: RawRecording,
    /// Fields that were typed in, in order, passwords left out.
    pub typed: Vec<FieldEdit>,
}

/// One edit of one field.
pub struct FieldEdit {
    /// Its accessible name, else its name in the form.
    pub field: String,
    pub value: String,
}

/// The page as it was read last.
struct PageReading {
    page: RawPage,
    at: Instant,
    late: bool,
}

impl Context {
    /// Opens the URL and watches until the window is closed, for half an hour at most. `told` gets a line for each thing done,
    /// for a terminal, not redacted but for passwords.
    ///
    /// Fails with the codes of [`Context::open`], with `STEP_FAILED` when the page crashed or a password was typed that is too
    /// short to be masked, and with `BROWSER_FAILED` when the browser ended before its window was closed.
    pub async fn watch(
        &mut self,
        task: &str,
        url: &str,
        timeout: Duration,
        told: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<ManualRecording> {
        let shared = Arc::clone(self.shared());
        let page = shared.page()?;
        let begun = Instant::now();
        {
            let mut state = shared.lock();
            state.blocked.clear();
            (state.download, state.popup) = (None, None);
            let mut recorder = Recorder::new(begun, &page.target);
            // Nothing waits to be read.
            recorder.hurry();
            state.recorder = Some(recorder);
            state.watch = Some(ActionWatcher::new());
        }
        set_up(&shared, &page.session);
        shared.visit.begin_at(url);
        let opened = shared.navigate(url, timeout).await;
        // A window that is closed while it loads has been closed; whatever else went wrong is an error.
        if let Err(err) = opened
            && shared.lock().page.is_some()
        {
            return Err(err);
        }
        if let Some(watch) = &mut shared.lock().watch {
            watch.ready(url, begun);
        }
        let seen = self.until_closed(&shared, begun, told).await?;
        let duration_ms = begun.elapsed().as_millis() as u64;
        read_out(&shared).await;
        let cookies = page::cookies(&shared.cdp, &shared.id).await;
        let (watch, recorder) = {
            let mut state = shared.lock();
            (state.watch.take(), state.recorder.take())
        };
        let (Some(mut watch), Some(mut recorder)) = (watch, recorder) else {
            return Err(Error::new(Code::Internal, "a recording by hand lost its recorder"));
        };
        for line in watch.lines(true) {
            told(&line);
        }
        let mut page = last_page(seen, &mut watch, &recorder);
        if let Ok(all) = cookies {
            page.cookies = all.into_iter().map(|it| (it.name, it.value)).collect();
        }
        let Some((done, passwords)) = watch.finish() else {
            return Err(Error::new(
                Code::StepFailed,
                "a password of fewer than four characters was typed, which cannot be distinguished from data",
            )
            .hint("nothing was stored; record again without this password"));
        };
        let mut typed = Vec::new();
        for it in done {
            if let Some(it) = FieldEdit::from_action(&it) {
                typed.push(it);
            }
            let UserAction { at, kind, role, name, value, secret, control, .. } = it;
            let value = if secret { Some(steps::MASK.to_owned()) } else { value };
            recorder.acted(Action { role, name, value, control, ..Action::new(kind, None) }, at);
        }
        let (actions, exchanges) = recorder.finish();
        let mut secrets = passwords.whole;
        secrets.extend(
            passwords.parts.into_iter().filter(|it| typed_secrets::is_sent(&exchanges, it)),
        );
        let recording = RawRecording {
            task: task.to_owned(),
            url: url.to_owned(),
            driver: Driver::Steps,
            typed: std::collections::BTreeMap::new(),
            actions,
            final_answer: None,
            page,
            exchanges,
            blocked: shared.blocked(),
            secrets,
            notes: Vec::new(),
            duration_ms,
            producer: self.producer().to_owned(),
        };
        Ok(ManualRecording { recording, typed })
    }

    async fn until_closed(
        &self,
        shared: &Arc<ContextInner>,
        begun: Instant,
        told: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Option<PageReading>> {
        let mut seen: Option<PageReading> = None;
        loop {
            let mut news = pin!(shared.news.notified());
            news.as_mut().enable();
            let (lines, full) = {
                let mut state = shared.lock();
                if state.page.is_none() {
                    return Ok(seen);
                }
                if state.crashed {
                    return Err(Error::new(Code::StepFailed, "the page crashed"));
                }
                state.watch.as_mut().map_or_else(Default::default, |it| {
                    ([it.lines(false), it.refusals()].concat(), it.is_full())
                })
            };
            if shared.cdp.is_closed() {
                return Err(shared.cdp.ended());
            }
            for it in &lines {
                told(it);
            }
            if full || begun.elapsed() >= LONGEST {
                told("that is as much as can be recorded at once: the window is closed");
                return Ok(seen);
            }
            if let Some(late) = due(shared, seen.as_ref()) {
                let at = Instant::now();
                let Ok(frames) = shared.frames().await else { continue };
                let page = page::summary(&shared.cdp, &frames).await;
                let requests = shared.lock().recorder.as_ref().map_or(0, Recorder::requests);
                if !late {
                    told(&format!("page read: {:?}, {requests} requests so far", page.title));
                }
                seen = Some(PageReading { page, at, late });
                continue;
            }
            let _ = tokio::time::timeout(Duration::from_millis(100), news).await;
        }
    }
}

/// Whether the page should be read now, and if so whether it is the late look.
fn due(shared: &ContextInner, seen: Option<&PageReading>) -> Option<bool> {
    let state = shared.lock();
    let (recorder, watch) = (state.recorder.as_ref()?, state.watch.as_ref()?);
    let now = Instant::now();
    let changed = recorder.changed().max(watch.last()?);
    let rests = now.saturating_duration_since(changed) >= REST
        && recorder.idle_in(REST, now) == Some(Duration::ZERO);
    match seen {
        None => rests.then_some(false),
        Some(it) if it.at < changed => {
            let restless = now.saturating_duration_since(it.at) >= RESTLESS;
            (rests || restless).then_some(false)
        }
        Some(it) => (!it.late && now.saturating_duration_since(changed) >= LATE).then_some(true),
    }
}

/// Waits for what is being read; what went with the window says so at once.
async fn read_out(shared: &ContextInner) {
    let deadline = Instant::now() + bodies::READ_TIMEOUT;
    loop {
        let mut news = pin!(shared.news.notified());
        news.as_mut().enable();
        if shared.lock().recorder.as_ref().is_none_or(Recorder::has_read_all) {
            return;
        }
        if tokio::time::timeout_at(deadline.into(), news).await.is_err() {
            return;
        }
    }
}

/// As it was read, unless something happened since and its document told more as it went.
fn last_page(seen: Option<PageReading>, watch: &mut ActionWatcher, recorder: &Recorder) -> RawPage {
    let changed = watch.last().into_iter().chain([recorder.changed()]).max();
    let seen = seen.filter(|it| watch.came().is_none_or(|came| it.at > came));
    if let Some(it) = &seen
        && changed.is_none_or(|changed| it.at > changed)
    {
        return seen.map(|it| it.page).unwrap_or_default();
    }
    let left = watch.documents_left();
    if left.is_empty() {
        return seen.map(|it| it.page).unwrap_or_default();
    }
    page::joined(left.into_iter().map(Some).collect())
}

impl FieldEdit {
    fn from_action(it: &UserAction) -> Option<Self> {
        let value = it.value.clone().filter(|value| !value.trim().is_empty())?;
        let named = it.name.clone().filter(|name| !name.is_empty());
        let field = named.unwrap_or_else(|| it.field.clone());
        let is_typed = matches!(it.kind, ActionKind::Fill | ActionKind::Select);
        (is_typed && !it.secret).then_some(Self { field, value })
    }
}
