//! A session that a person makes in a visible window: watched until the window is closed.
//!
//! The window may close at any time and takes everything with it that was not read. So bodies are read as they finish, the page
//! is read whenever it has come to rest, and each document tells what it showed as it goes.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::json;
use zeroize::Zeroizing;

use super::{
    Context,
    cdp::Event,
    context::Shared,
    controls,
    element::Element,
    guard,
    lookup::{self, Sought},
    page::{self, Remote},
    recorder::Recorder,
    steps,
    watch::{self, Called, Done, Key, Watch},
};
use crate::{
    artifacts::recording::{Action, ActionKind, Control, Driver},
    error::{Code, Error, Result},
    redact::raw::{RawExchange, RawPage, RawRecording},
};

/// A window that nobody closes must not be recorded for ever.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// Without news for so long, the page has come to rest; it is read once more later, for what it draws late.
const REST: Duration = Duration::from_millis(300);
const LATE: Duration = Duration::from_secs(2);
/// A page that is never at rest is read this often.
const RESTLESS: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(3);

/// Looks an element up by its number in the script's world.
const ELEMENT: &str = "function (n) { return globalThis.commisElement(n); }";

const IS_THERE: &str = "function () { return this.isConnected; }";

/// What was done by hand, as recorded, and what was typed where.
pub struct ByHand {
    pub recording: RawRecording,
    /// Fields that were typed in, in order, passwords left out.
    pub typed: Vec<Typed>,
}

/// One edit of one field.
pub struct Typed {
    /// Its accessible name, else its name in the form.
    pub field: String,
    pub value: String,
}

/// Commands that let the script of [`watch`] run in every document of a session.
pub fn set_up(shared: &Shared, session: &str) {
    // Without it, calls of the binding are not told.
    shared.cdp.post(Some(session), "Runtime.enable", json!({}));
    let binding = json!({ "name": watch::BINDING, "executionContextName": watch::WORLD });
    shared.cdp.post(Some(session), "Runtime.addBinding", binding);
    let script = json!({ "source": watch::SCRIPT, "worldName": watch::WORLD });
    shared.cdp.post(Some(session), "Page.addScriptToEvaluateOnNewDocument", script);
}

/// A message of the script.
pub fn called(shared: &Arc<Shared>, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Call {
        name: String,
        payload: String,
        execution_context_id: i64,
    }
    let (Some(session), Some(call)) = (&event.session, event.read::<Call>()) else { return };
    let key = {
        let mut state = shared.lock();
        let ours = call.name == watch::BINDING && state.targets.contains_key(session);
        let Some(watch) = state.watch.as_mut().filter(|_| ours) else { return };
        watch.take(session, call.execution_context_id, &call.payload, event.at)
    };
    if let Some(key) = key {
        tokio::spawn(ask(Arc::clone(shared), key));
    }
}

/// Asks the browser what it calls an element, and whether steps would find this one by it.
async fn ask(shared: Arc<Shared>, key: Key) {
    let (called, control) = describe(&shared, &key).await.unwrap_or((Called::Unknown, None));
    if let Some(watch) = &mut shared.lock().watch {
        watch.call(&key, called, control);
    }
    shared.news.notify_waiters();
}

async fn describe(
    shared: &Shared,
    (session, world, number): &Key,
) -> Option<(Called, Option<Control>)> {
    #[derive(Deserialize)]
    struct Got {
        result: Remote,
    }
    let params = json!({
        "functionDeclaration": ELEMENT,
        "executionContextId": world,
        "arguments": [{ "value": number }],
    });
    let reply = shared.cdp.send(Some(session), "Runtime.callFunctionOn", params);
    let object = reply.read::<Got>(PATIENCE).await.ok()?.result.object_id?;
    let control = controls::read_object(shared, session, &object).await;
    let node = json!({ "objectId": object });
    let (role, name, backend) = lookup::describe(shared, session, node).await?;
    let name: String = name.chars().take(200).collect();
    if name.is_empty() && !lookup::is_interactive(&role) {
        return Some((Called::Unknown, control));
    }
    if matches!(&*role, "" | "none" | "generic" | "RootWebArea") {
        return Some((Called::Unsure { name }, control));
    }
    let frames = shared.frames().await.ok()?;
    let found = lookup::find(shared, &frames, &Element::named(&role, &name), &[]).await.ok()?;
    let another = match found {
        Sought::Found(it) => it.backend != backend || it.session != *session,
        Sought::Several(_) => true,
        Sought::Nothing => false,
    };
    // In a page that has gone on meanwhile, who else is called so says nothing.
    let other = another
        && page::call_on_object(&shared.cdp, session, &object, IS_THERE, &[])
            .await
            .unwrap_or(false);
    let params = json!({ "objectId": object });
    shared.cdp.post(Some(session), "Runtime.releaseObject", params);
    let called = if other { Called::Unsure { name } } else { Called::Named { role, name } };
    Some((called, control))
}

/// The page is about to go somewhere, by itself or by the address bar.
pub fn navigating(shared: &Shared, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Going {
        frame_id: String,
        url: String,
        navigation_type: Option<String>,
    }
    let mut state = shared.lock();
    let Some(going) = event.read::<Going>() else { return };
    if state.page.as_ref().is_none_or(|it| it.target != going.frame_id) {
        return;
    }
    let Some(watch) = &mut state.watch else { return };
    match going.navigation_type {
        Some(kind) => watch.navigating(&going.url, &kind, event.at),
        None => watch.asked(going.url),
    }
}

/// The page has another document, or calls this one something else.
pub fn navigated(shared: &Shared, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Navigated {
        frame: Option<Frame>,
        frame_id: Option<String>,
        url: Option<String>,
    }
    #[derive(Deserialize)]
    struct Frame {
        id: String,
        url: String,
    }
    let Some(it) = event.read::<Navigated>() else { return };
    let (id, url, anew) = match (it.frame, it.frame_id, it.url) {
        (Some(frame), ..) => (frame.id, frame.url, true),
        (None, Some(id), Some(url)) => (id, url, false),
        _ => return,
    };
    let mut state = shared.lock();
    let main = state.page.as_ref().is_some_and(|it| it.target == id);
    if let Some(watch) = state.watch.as_mut().filter(|_| main) {
        watch.navigated(url, anew, event.at);
    }
}

/// The page as it was read last.
struct Seen {
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
    ) -> Result<ByHand> {
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
            state.watch = Some(Watch::new());
        }
        set_up(&shared, &page.session);
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
                "a password of fewer than four characters was typed, which cannot be told from data",
            )
            .hint("nothing was kept; record again without it"));
        };
        let mut typed = Vec::new();
        for it in done {
            if let Some(it) = Typed::of(&it) {
                typed.push(it);
            }
            let Done { at, kind, role, name, value, secret, control, .. } = it;
            let value = if secret { Some(steps::MASK.to_owned()) } else { value };
            recorder.acted(Action { role, name, value, control, ..Action::new(kind, None) }, at);
        }
        let (actions, exchanges) = recorder.finish();
        let mut secrets = passwords.whole;
        secrets.extend(passwords.parts.into_iter().filter(|it| is_sent(&exchanges, it)));
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
        Ok(ByHand { recording, typed })
    }

    async fn until_closed(
        &self,
        shared: &Arc<Shared>,
        begun: Instant,
        told: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Option<Seen>> {
        let mut seen: Option<Seen> = None;
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
                return Err(shared.cdp.gone());
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
                seen = Some(Seen { page, at, late });
                continue;
            }
            let _ = tokio::time::timeout(Duration::from_millis(100), news).await;
        }
    }
}

/// Whether the page should be read now, and if so whether it is the late look.
fn due(shared: &Shared, seen: Option<&Seen>) -> Option<bool> {
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

/// Secrets as they are looked for in a recording: whole, and as far as they were typed when a request was sent.
pub fn sent(secrets: &[Zeroizing<String>], exchanges: &[RawExchange]) -> Vec<Zeroizing<String>> {
    let mut out = secrets.to_vec();
    for it in secrets {
        let ends = it.char_indices().map(|it| it.0).filter(|it| *it >= watch::MIN_SECRET);
        let parts = ends.map(|end| Zeroizing::new(it[..end].to_owned()));
        out.extend(parts.filter(|it| is_sent(exchanges, it)));
    }
    out
}

/// Some request carries it as it is, not as the beginning of something longer.
fn is_sent(exchanges: &[RawExchange], part: &str) -> bool {
    let holds = |text: &str| {
        text.match_indices(part).any(|(at, _)| {
            let next = text[at + part.len()..].chars().next();
            !next.is_some_and(char::is_alphanumeric)
        })
    };
    exchanges.iter().any(|it| {
        let body = it.request_body.as_deref().map(String::from_utf8_lossy);
        body.is_some_and(|it| holds(&it)) || it.url.query_pairs().any(|it| holds(&it.1))
    })
}

/// Waits for what is being read; what went with the window says so at once.
async fn read_out(shared: &Shared) {
    let deadline = Instant::now() + guard::READ_TIMEOUT;
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
fn last_page(seen: Option<Seen>, watch: &mut Watch, recorder: &Recorder) -> RawPage {
    let changed = watch.last().into_iter().chain([recorder.changed()]).max();
    let seen = seen.filter(|it| watch.came().is_none_or(|came| it.at > came));
    if let Some(it) = &seen
        && changed.is_none_or(|changed| it.at > changed)
    {
        return seen.map(|it| it.page).unwrap_or_default();
    }
    let left = watch.left();
    if left.is_empty() {
        return seen.map(|it| it.page).unwrap_or_default();
    }
    page::joined(left.into_iter().map(Some).collect())
}

impl Typed {
    fn of(it: &Done) -> Option<Self> {
        let value = it.value.clone().filter(|value| !value.trim().is_empty())?;
        let named = it.name.clone().filter(|name| !name.is_empty());
        let field = named.unwrap_or_else(|| it.field.clone());
        let is_typed = matches!(it.kind, ActionKind::Fill | ActionKind::Select);
        (is_typed && !it.secret).then_some(Self { field, value })
    }
}
