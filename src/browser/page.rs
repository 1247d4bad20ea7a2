//! Reading the page: frames, and a fixed set of snippets that get their data as arguments.
//!
//! Snippets run in an isolated world, where the page's own scripts cannot have replaced anything. No script ever comes
//! from a recipe or is put together from text.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    cdp::{Cdp, Reply},
    tabs::Page,
};
use commis_base::error::{Code, Error, Result};
use commis_recipe::model::StorageArea;
use commis_redact::raw::{RawPage, RawStorageEntry};
use commis_vault::StorageItem;

/// The browser keeps elements that it named to us until this group of them is released, also those that are no longer on the page.
pub const OBJECTS: &str = "commis";
/// Of our snippets in each frame.
const WORLD: &str = "commis";
/// A frame that hangs must not hold up the others for long.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of visible text kept of the page and its frames together.
const MAX_TEXT: usize = 64 * 1024;
/// Characters of one document's markup as it is drawn; of a larger one nothing is known.
const MAX_DRAWN: usize = 4 << 20;

/// What open shadow roots show beside what their documents do: `innerText` leaves it out.
macro_rules! with_shadows {
    ($function:literal) => {
        concat!(
            "function (...given) {
  const roots = [document];
  for (let i = 0; i < roots.length; i++)
    for (const it of roots[i].querySelectorAll('*')) if (it.shadowRoot && roots.length < 5000) roots.push(it.shadowRoot);
  roots.shift();
  const shown = it => {
    if (it instanceof Text) return it.data;
    if (!(it instanceof HTMLElement) || /^(STYLE|SCRIPT|TEMPLATE|NOSCRIPT)$/.test(it.tagName)) return '';
    const { display } = getComputedStyle(it);
    if (display === 'none') return '';
    return display === 'contents' ? Array.from(it.childNodes, shown).join('') : it.innerText;
  };
  const shadows = () => roots.filter(it => it.host.getClientRects().length || getComputedStyle(it.host).display === 'contents')
    .map(it => Array.from(it.childNodes, shown).filter(it => it.trim()).join('\\n')).filter(it => it);
  return (",
            $function,
            ")(...given);
}"
        )
    };
}

/// Case and white space are the style sheet's business. What is visible takes a layout to say, so that it is asked only where
/// the text stands in the document at all, or where `sure` is wanted: a style sheet may change letters, too.
const HAS_TEXT: &str = "function (text) {
  const body = document.body;
  const letters = it => it.replace(/\\s+/g, '').toUpperCase();
  const plain = it => it.replace(/\\s+/g, ' ').trim().toLowerCase();
  return !!body && letters(body.textContent).includes(letters(text)) && plain(body.innerText).includes(plain(text));
}";
const SURELY_HAS_TEXT: &str = with_shadows!(
    "text => {
    const plain = it => it.replace(/\\s+/g, ' ').trim().toLowerCase();
    const has = it => plain(it).includes(plain(text));
    return has(document.body?.innerText ?? '') || shadows().some(has);
  }"
);
const HAS_SELECTOR: &str = "function (selector) { return !!document.querySelector(selector); }";
const SURELY_HAS_SELECTOR: &str = with_shadows!(
    "selector => !!document.querySelector(selector) || roots.some(it => it.querySelector(selector))"
);
const META: &str = "function (name) {
  const it = document.querySelector('meta[name=\"' + CSS.escape(name) + '\"]');
  return it ? it.content.slice(0, 65536).toWellFormed() : null;
}";
const SUMMARY: &str = with_shadows!(
    "max => {
  const body = document.body;
  const password = it => it.querySelector('input[type=password]');
  return {
    url: location.href,
    title: document.title.slice(0, 4096).toWellFormed(),
    text: [body ? body.innerText : '', ...shadows()].join('\\n').slice(0, max).toWellFormed(),
    password: !!password(document) || roots.some(password),
    metas: Array.from(document.querySelectorAll('meta[name][content]'), it => [it.name.slice(0, 256).toWellFormed(), it.content.slice(0, 4096).toWellFormed()]).slice(0, 200),
  };
}"
);
/// See the file.
const DRAWN: &str = include_str!("drawn.js");
/// Its time is the browser's: a frame that is not drawn may have none to spare.
const SPARE_TIME: &str = "function (ms) {
  return new Promise(done => requestIdleCallback(() => done(true), { timeout: ms }));
}";
/// Timers of the page that are due by then have run: they share its thread, however busy the machine is.
const TIMERS: &str = "function (ms) {
  return new Promise(done => setTimeout(() => requestIdleCallback(() => done(true), { timeout: 200 }), ms));
}";
/// How fast the clock of a page runs that is answered from an archive.
pub const CLOCK_SPEED: u32 = 4;
/// In the page's own world. Whoever compares the clock before and after a timer finds that its time has passed. [`TIMERS_DUE`] asks for
/// the timers.
const SPEED_UP: &str = "function (speed) {
  const { now } = Date, begun = now();
  const fast = () => begun + Math.round((now() - begun) * speed);
  globalThis.Date = new Proxy(Date, {
    construct: (date, given, target) => Reflect.construct(date, given.length ? given : [fast()], target),
    apply: date => new date(fast()).toString(),
    get: (date, name) => name === 'now' ? fast : Reflect.get(date, name),
  });
  const due = new Map(), clock = performance.now.bind(performance);
  let unseen = false;
  for (const name of ['setTimeout', 'setInterval']) {
    const own = globalThis[name];
    globalThis[name] = (run, ms, ...given) => {
      const wait = ms / speed, id = own(run, wait, ...given);
      due.set(id, [clock() + (wait || 0), name === 'setInterval' ? wait || 0 : undefined]);
      return id;
    };
  }
  for (const name of ['clearTimeout', 'clearInterval']) {
    const own = globalThis[name];
    globalThis[name] = id => { due.delete(id); return own(id); };
  }
  for (const name of ['Worker', 'SharedWorker']) {
    globalThis[name] &&= new Proxy(globalThis[name], {
      construct: (own, given, target) => { unseen = true; return Reflect.construct(own, given, target); },
    });
  }
  Object.defineProperty(globalThis, Symbol.for('commis.timersDue'), { value: within => {
    if (unseen || document.querySelector('iframe,frame')) return within;
    let last = 0;
    for (const [id, [at, period]] of due) {
      const left = at - clock();
      if (period !== undefined) last = Math.max(last, period <= within ? within : 0);
      else if (left < 0) due.delete(id);
      else if (left <= within) last = Math.max(last, left);
    }
    return last;
  } });
}";
/// Milliseconds until the last timer of a page of [`SPEED_UP`] has run that runs within so many. Where that cannot be known, all of them.
const TIMERS_DUE: &str = "globalThis[Symbol.for('commis.timersDue')]?.";
/// The text of [`STILL`].
macro_rules! still {
    () => {
        "function () {
  const watch = globalThis.commisStill ??= { at: performance.now(), changes: 0, seen: new WeakSet() };
  const changed = all => {
    watch.at = performance.now();
    watch.changes += 1;
    if (!Array.isArray(all) || !all.every(it => it.target.nodeName === 'TITLE' && it.target.parentNode === document.head)) watch.shownAt = watch.at;
  };
  watch.observer ??= new MutationObserver(changed);
  const roots = [document];
  for (let i = 0; i < roots.length; i++)
    for (const it of roots[i].querySelectorAll('*')) if (it.shadowRoot && roots.length < 5000) roots.push(it.shadowRoot);
  for (const it of roots.filter(it => !watch.seen.has(it))) {
    watch.seen.add(it);
    changed();
    watch.observer.observe(it, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  const moves = document.getAnimations().some(it => it.playState === 'running' && Number.isFinite(it.effect?.getComputedTiming().endTime));
  const waits = document.querySelector('[aria-busy=true],progress:not([value]),[role=progressbar]:not([aria-valuenow]),meta[http-equiv=refresh i]');
  return document.readyState !== 'complete' || moves || waits ? 0 : performance.now() - watch.at;
}"
    };
}
/// Milliseconds since something of the document changed, counted from the first call on, by the page's own clock: timers of it that
/// were due by then have run. 0 while it is loading, moving, or says that it is busy.
const STILL: &str = still!();
/// The text of [`STANDS`].
macro_rules! stands {
    () => {
        concat!(
            "function () {
  let still = 0;
  try { still = (",
            $crate::page::still!(),
            ")(); } catch {}
  return [location.href, still, globalThis.commisStill?.changes ?? 0];
}"
        )
    };
}
/// Calls `done` once what an act sets off at once has begun. Where the act has changed something, that is after the messages that scripts
/// of the page have sent themselves: frameworks put off their work so. Else it is after the next frame. Timers are no measure, because
/// the browser runs them after that frame. A page that is not drawn has no frames, so that it ends after 60 ms in any case.
macro_rules! turn {
    () => {
        "function (hasEffect, done) {
  const late = setTimeout(done, 60);
  const end = () => { clearTimeout(late); done(); };
  if (hasEffect) {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); end(); };
    port2.postMessage(0);
  } else requestAnimationFrame(() => setTimeout(end, 0));
}"
    };
}
pub(super) use {stands, still, turn};
/// The address, [`STILL`] (0 where that fails), and how many changes were seen so far.
const STANDS: &str = stands!();
/// [`STILL`] of what is drawn around an element of that name: the document's title is not. 0 where it may change unseen: in a closed
/// root, or by a property, which the name of a button of a form is where it is not what it was.
const STILL_AROUND: &str = concat!(
    "function (name) {
  for (let root = this.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) if (root.mode === 'closed') return 0;
  if (this instanceof HTMLInputElement && /^(button|submit|reset)$/.test(this.type) && this.value !== name) return 0;
  const still = (",
    still!(),
    ")();
  return still && performance.now() - globalThis.commisStill.shownAt;
}"
);
const URL: &str = "function () { return location.href; }";
/// The address and the title.
const HEAD: &str =
    "function () { return [location.href, document.title.slice(0, 1000).toWellFormed()]; }";

/// One document: the page, or a frame of this or another process.
pub struct Frame {
    pub session: Arc<str>,
    /// Execution context of our isolated world in it.
    pub world: i64,
    pub id: String,
    pub name: String,
    pub url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame_tree: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    frame: NodeFrame,
    #[serde(default)]
    child_frames: Vec<Node>,
}

#[derive(Clone, Deserialize)]
struct NodeFrame {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

/// A page's own document, with our last world in one of that page, which is most often in the same.
pub struct MainDocument<'a> {
    pub session: &'a Arc<str>,
    pub frame: &'a str,
    pub last: Option<i64>,
}

/// A page's own document.
pub async fn main_frame(cdp: &Cdp, session: &Arc<str>, frame: &str) -> Result<Frame> {
    let reply = cdp.send(Some(session), "Page.createIsolatedWorld", isolated(frame));
    Ok(main_of(session, frame, reply.read(PATIENCE).await?))
}

fn main_of(session: &Arc<str>, frame: &str, world: World) -> Frame {
    Frame {
        session: Arc::clone(session),
        world: world.execution_context_id,
        id: frame.to_owned(),
        name: String::new(),
        url: String::new(),
    }
}

/// Calls a snippet in a page's own document. It is sent to the last one at once, which is one way to the browser and not two where
/// that is still there; its answer counts only then.
pub async fn call_main<T: DeserializeOwned>(
    cdp: &Cdp,
    MainDocument { session, frame, last }: MainDocument<'_>,
    snippet: &'static str,
    timeout: Duration,
) -> Result<(Frame, T)> {
    let send = |world: i64| {
        let params = called(json!({ "executionContextId": world }), snippet, &[]);
        cdp.send(Some(session), "Runtime.callFunctionOn", params)
    };
    let world = cdp.send(Some(session), "Page.createIsolatedWorld", isolated(frame));
    let early = last.map(|it| (it, send(it)));
    let frame = main_of(session, frame, world.read(PATIENCE).await?);
    let reply = match early {
        Some((world, reply)) if world == frame.world => reply,
        _ => send(frame.world),
    };
    let said = read_call_result(reply, timeout).await?;
    Ok((frame, said))
}

/// The same world each time, until the frame navigates.
fn isolated(frame: &str) -> Value {
    json!({ "frameId": frame, "worldName": WORLD })
}

/// Documents that were asked for.
pub struct PendingFrames {
    trees: Vec<(Arc<str>, Reply)>,
    main: Reply,
}

/// Asks for the documents of these sessions, the page's own first, which is `main`.
pub fn ask_frames(cdp: &Cdp, sessions: Vec<Arc<str>>, main: &Page) -> PendingFrames {
    let ask = |it: Arc<str>| {
        let reply = cdp.send(Some(&it), "Page.getFrameTree", json!({}));
        (it, reply)
    };
    let trees = sessions.into_iter().map(ask).collect();
    let main = cdp.send(Some(&main.session), "Page.createIsolatedWorld", isolated(&main.target));
    PendingFrames { trees, main }
}

impl PendingFrames {
    /// Each session's main document first. Frames that are going away are left out.
    pub async fn read(self, cdp: &Cdp, main: &Page) -> Vec<Frame> {
        let mut known = Some(self.main);
        let mut worlds = Vec::new();
        for (session, reply) in self.trees {
            let Ok(Tree { frame_tree }) = reply.read(PATIENCE).await else {
                continue;
            };
            let mut all = Vec::new();
            collect(frame_tree, &mut all);
            for it in all {
                let is_main = session == main.session && it.id == main.target;
                let reply = known.take_if(|_| is_main).unwrap_or_else(|| {
                    cdp.send(Some(&session), "Page.createIsolatedWorld", isolated(&it.id))
                });
                worlds.push((Arc::clone(&session), it, reply));
            }
        }
        let mut frames = Vec::new();
        for (session, NodeFrame { id, name, url }, reply) in worlds {
            if let Ok(world) = reply.read::<World>(PATIENCE).await {
                frames.push(Frame { session, world: world.execution_context_id, id, name, url });
            }
        }
        frames
    }
}

/// Depth first; a page with thousands of frames is not read whole.
fn collect(node: Node, all: &mut Vec<NodeFrame>) {
    if all.len() < 64 {
        all.push(node.frame);
        for child in node.child_frames {
            collect(child, all);
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFunctionResult {
    #[serde(default)]
    result: RemoteObject,
    exception_details: Option<ExceptionDetails>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct RemoteObject {
    pub value: Value,
    pub object_id: Option<String>,
}

#[derive(Deserialize)]
struct ExceptionDetails {
    #[serde(default)]
    text: String,
}

/// Calls a snippet in a frame and reads what it returns (by value, promises awaited).
pub async fn call<T: DeserializeOwned>(
    cdp: &Cdp,
    frame: &Frame,
    snippet: &'static str,
    arguments: &[Value],
    timeout: Duration,
) -> Result<T> {
    let target = json!({ "executionContextId": frame.world });
    call_on(cdp, &frame.session, target, snippet, arguments, timeout).await
}

/// Calls a snippet with an element as `this`.
pub async fn call_on_object<T: DeserializeOwned>(
    cdp: &Cdp,
    session: &str,
    object_id: &str,
    snippet: &'static str,
    arguments: &[Value],
) -> Result<T> {
    let target = json!({ "objectId": object_id });
    call_on(cdp, session, target, snippet, arguments, PATIENCE).await
}

async fn call_on<T: DeserializeOwned>(
    cdp: &Cdp,
    session: &str,
    target: Value,
    snippet: &'static str,
    arguments: &[Value],
    timeout: Duration,
) -> Result<T> {
    let params = called(target, snippet, arguments);
    read_call_result(cdp.send(Some(session), "Runtime.callFunctionOn", params), timeout).await
}

fn called(mut params: Value, snippet: &'static str, arguments: &[Value]) -> Value {
    params["functionDeclaration"] = snippet.into();
    params["arguments"] = arguments.iter().map(|it| json!({ "value": it })).collect();
    params["returnByValue"] = true.into();
    params["awaitPromise"] = true.into();
    params["userGesture"] = true.into();
    params
}

/// What a snippet returned.
async fn read_call_result<T: DeserializeOwned>(reply: Reply, timeout: Duration) -> Result<T> {
    let called: CallFunctionResult = reply.read(timeout).await?;
    if let Some(exception) = called.exception_details {
        let message = format!("snippet failed in the page: {}", exception.text);
        return Err(Error::new(Code::BrowserFailed, message));
    }
    serde_json::from_value(called.result.value).map_err(|err| {
        Error::new(Code::BrowserFailed, "a script of commis returned an unexpected value")
            .source(err)
    })
}

/// Object id of the frame's `document`.
pub async fn document(cdp: &Cdp, frame: &Frame) -> Option<String> {
    let params =
        json!({ "expression": "document", "contextId": frame.world, "objectGroup": OBJECTS });
    let reply = cdp.send(Some(&frame.session), "Runtime.evaluate", params);
    reply.read::<CallFunctionResult>(PATIENCE).await.ok()?.result.object_id
}

/// A frame that is navigating counts as not having it. Without `sure`, it may be missed where a style sheet changes letters, and
/// in shadow roots.
pub async fn any_has_text(cdp: &Cdp, frames: &[Frame], text: &str, sure: bool) -> bool {
    let snippet = if sure { SURELY_HAS_TEXT } else { HAS_TEXT };
    any(cdp, frames, snippet, &[text.into()]).await
}

/// Without `sure`, it may be missed in shadow roots.
pub async fn any_has_selector(cdp: &Cdp, frames: &[Frame], selector: &str, sure: bool) -> bool {
    let snippet = if sure { SURELY_HAS_SELECTOR } else { HAS_SELECTOR };
    any(cdp, frames, snippet, &[selector.into()]).await
}

async fn any(cdp: &Cdp, frames: &[Frame], snippet: &'static str, arguments: &[Value]) -> bool {
    for frame in frames {
        let found = call(cdp, frame, snippet, arguments, PATIENCE).await;
        if found.unwrap_or(false) {
            return true;
        }
    }
    false
}

pub async fn meta(cdp: &Cdp, frame: &Frame, name: &str) -> Result<Option<String>> {
    call(cdp, frame, META, &[name.into()], PATIENCE).await
}

/// Waits until the frame's thread has nothing to do, for a moment at most.
pub async fn spare_time(cdp: &Cdp, frame: &Frame) {
    // A frame that goes away is done, too.
    let _ = call::<bool>(cdp, frame, SPARE_TIME, &[200.into()], PATIENCE).await;
}

/// Waits until timers that the page set for so long, or less, have run.
pub async fn timers(cdp: &Cdp, frame: &Frame, within: Duration) {
    let ms = within.as_millis() as u64;
    let _ = call::<bool>(cdp, frame, TIMERS, &[ms.into()], PATIENCE).await;
}

/// How long it is until the last timer has run that the page set for so long or less, of a page whose clock was sped up; `within` where
/// that cannot be known.
pub async fn timers_due(cdp: &Cdp, session: &str, within: Duration) -> Duration {
    let ms = within.as_millis();
    let params = json!({ "expression": format!("{TIMERS_DUE}({ms})"), "returnByValue": true });
    let reply = cdp.send(Some(session), "Runtime.evaluate", params).read(PATIENCE).await;
    let left = reply.ok().and_then(|it: Value| it["result"]["value"].as_f64());
    left.map_or(within, |it| millis(it.ceil()).min(within))
}

/// From here on, the clock and the timers of each document of a session run [`CLOCK_SPEED`] times as fast: of a page that is answered
/// from an archive, nothing but its own pauses is left to wait for.
pub fn speed_up_clock(cdp: &Cdp, session: &str) {
    let script = json!({ "source": format!("({SPEED_UP})({CLOCK_SPEED})") });
    cdp.post(Some(session), "Page.addScriptToEvaluateOnNewDocument", script);
}

/// From here on, each document of a session is watched for [`still_for`] from its first moment.
pub fn watch_documents(cdp: &Cdp, session: &str) {
    let script = json!({ "source": format!("({STILL})()"), "worldName": WORLD });
    cdp.post(Some(session), "Page.addScriptToEvaluateOnNewDocument", script);
}

/// From here on, a frame's document is watched for [`still_for`]; nobody waits for that.
pub fn watch_document(cdp: &Cdp, frame: &Frame) {
    let params = called(json!({ "executionContextId": frame.world }), STILL, &[]);
    cdp.post(Some(&frame.session), "Runtime.callFunctionOn", params);
}

/// For how long nothing of a frame's document has changed, as far as it was watched. One that is going away is not at rest.
pub async fn still_for(cdp: &Cdp, frame: &Frame) -> Duration {
    millis(call::<f64>(cdp, frame, STILL, &[], PATIENCE).await.unwrap_or_default())
}

/// For how long nothing of what is drawn around an element of that name has changed, as far as it was watched; zero where that cannot
/// be known.
pub async fn still_around(cdp: &Cdp, session: &str, object: &str, name: &str) -> Duration {
    let still = call_on_object::<f64>(cdp, session, object, STILL_AROUND, &[name.into()]).await;
    millis(still.unwrap_or_default())
}

fn millis(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

/// What [`STANDS`] returns.
pub type RawDocumentState = (String, f64, u64);

/// How a document stands.
#[derive(Clone, Debug)]
pub struct DocumentState {
    pub url: String,
    /// For how long nothing of it has changed, as far as it was watched; zero while it is loading, moving, or says that it is busy.
    pub still: Duration,
    /// How many changes of it were seen so far, the first look at it included. Another number means a change, however long the
    /// browser took to answer.
    pub changes: u64,
}

/// How many changes of a document were seen so far, which is watched from the first call on; `None` where it does not answer.
pub async fn changes(cdp: &Cdp, frame: &Frame) -> Option<u64> {
    call::<RawDocumentState>(cdp, frame, STANDS, &[], PATIENCE).await.ok().map(|it| it.2)
}

/// The page's own document, and how it stands.
pub async fn read_document_state(
    cdp: &Cdp,
    main: MainDocument<'_>,
) -> Result<(Frame, DocumentState)> {
    let (frame, state) = call_main::<RawDocumentState>(cdp, main, STANDS, PATIENCE).await?;
    Ok((frame, state.into()))
}

impl From<RawDocumentState> for DocumentState {
    fn from((url, still, changes): RawDocumentState) -> Self {
        Self { url, still: millis(still), changes }
    }
}

/// The page's own document, its address and its title.
pub async fn head(cdp: &Cdp, main: MainDocument<'_>) -> Result<(Frame, (String, String))> {
    call_main(cdp, main, HEAD, PATIENCE).await
}

pub async fn url(cdp: &Cdp, frame: &Frame) -> Result<String> {
    call(cdp, frame, URL, &[], PATIENCE).await
}

/// What one document shows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub url: String,
    title: String,
    text: String,
    password: bool,
    metas: Vec<(String, String)>,
    /// As markup, where it was read with the rest.
    #[serde(default)]
    drawn: String,
}

/// What a person sees in the end. The first frame is the page itself; `cookies` is left empty.
pub async fn summary(cdp: &Cdp, frames: &[Frame]) -> RawPage {
    let mut read = Vec::new();
    for frame in frames {
        read.push(call(cdp, frame, SUMMARY, &[MAX_TEXT.into()], PATIENCE).await.ok());
    }
    let mut page = joined(read);
    if let Some(frame) = frames.first() {
        let stored = stored_in(cdp, frame).await;
        let raw =
            |it: StorageItem| RawStorageEntry { area: it.area, key: it.name, value: it.value };
        page.stored = stored.into_iter().flat_map(|it| it.1).map(raw).collect();
    }
    let begun = Instant::now();
    for frame in frames {
        let drawn = call::<String>(cdp, frame, DRAWN, &[MAX_DRAWN.into()], PATIENCE).await;
        page.documents.extend(drawn.ok().filter(|it| !it.is_empty()));
    }
    page.drawn_ms = begun.elapsed().as_secs_f64() * 1000.0;
    page
}

/// The page itself first, then its frames; `None` is one that could not be read.
pub fn joined(documents: Vec<Option<Summary>>) -> RawPage {
    let mut page = RawPage::default();
    for (i, read) in documents.into_iter().enumerate() {
        let Some(Summary { url, title, text, password, metas, drawn }) = read else {
            continue;
        };
        if !drawn.is_empty() {
            page.documents.push(drawn);
        }
        if i == 0 {
            page.url = url;
            page.title = title;
            page.metas = metas;
        }
        page.has_password_field |= password;
        if !text.trim().is_empty() {
            if !page.visible_text.is_empty() {
                page.visible_text.push('\n');
            }
            page.visible_text.push_str(&text);
        }
    }
    let mut end = page.visible_text.len().min(MAX_TEXT);
    while !page.visible_text.is_char_boundary(end) {
        end -= 1;
    }
    page.visible_text.truncate(end);
    page
}

/// A cookie of a context, `HttpOnly` ones included.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    pub name: String,
    pub value: String,
    pub domain: String,
    /// Seconds since 1970; negative for one that ends with its context.
    #[serde(default)]
    pub expires: f64,
    #[serde(default)]
    pub http_only: bool,
    #[serde(default)]
    pub secure: bool,
    pub same_site: Option<String>,
}

pub async fn cookies(cdp: &Cdp, context: &str) -> Result<Vec<Cookie>> {
    #[derive(Deserialize)]
    struct Cookies {
        cookies: Vec<Cookie>,
    }
    let params = json!({ "browserContextId": context });
    let all: Cookies = cdp.call(None, "Storage.getCookies", params).await?;
    Ok(all.cookies)
}

/// Items that are read from the storage of one origin.
const MAX_STORED: u32 = 3000;

/// Storage may be forbidden to a document.
const STORED: &str = "function (most) {
  const out = [];
  try {
    for (const [area, of] of [['local', localStorage], ['session', sessionStorage]]) {
      for (let i = 0; i < of.length && out.length < most; i++) {
        const name = of.key(i);
        out.push([area, name.toWellFormed(), (of.getItem(name) ?? '').toWellFormed()]);
      }
    }
  } catch { return [location.origin, null]; }
  return [location.origin, out];
}";

/// What one document stored: its origin, and each item. `None` where that may not be read.
pub async fn stored_in(cdp: &Cdp, frame: &Frame) -> Option<(String, Vec<StorageItem>)> {
    type StorageDump = (String, Option<Vec<(StorageArea, String, String)>>);
    let read: Result<StorageDump> = call(cdp, frame, STORED, &[MAX_STORED.into()], PATIENCE).await;
    let (origin, all) = read.ok()?;
    let item = |(area, name, value): (StorageArea, String, String)| StorageItem {
        origin: origin.clone(),
        area,
        name,
        value: value.into(),
        set_ms: 0,
    };
    let items = all?.into_iter().map(item).collect();
    Some((origin, items))
}
