//! Typing into a field, key by key.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    cdp::Reply,
    context_state::ContextInner,
    controls,
    input_events::type_events,
    keys,
    lookup::{self, FoundElement},
    page, paused_requests,
    plan::Step,
};
use commis_base::error::Result;

/// For each question to the page.
const PATIENCE: Duration = Duration::from_secs(5);
/// Halves of keys that are sent before the first of them was answered.
const AHEAD: usize = 64;
/// What a page does to a value by a timer is most often done by then.
const REACTS: Duration = Duration::from_millis(60);
/// What is asked for at once has begun by then, on a page that is not busy.
const SETTLES: Duration = Duration::from_millis(500);
/// An editor has drawn what it was given by then.
const DRAWN: Duration = Duration::from_millis(80);
/// Makes an element ready to be typed into, its content selected. For fields that browsers show widgets of their own for, it chooses
/// the value at once. While keys are typed, those that would reach no field are stopped: the page has shortcuts.
const PREPARE: &str = "function (value) {
  const kind = String(this.type ?? '').slice(0, 40);
  const as = state => ({ state, kind });
  globalThis.commisTyping?.end();
  if (this instanceof HTMLSelectElement) return as('list');
  if (this.disabled || this.readOnly) return as('disabled');
  const whole = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];
  if (this instanceof HTMLInputElement && whole.includes(this.type)) {
    this.focus();
    this.value = value;
    if (this.value !== value && Number(this.value) !== Number(value)) return as('no value of ' + this.type);
    this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    this.dispatchEvent(new Event('change', { bubbles: true }));
    return as('chosen');
  }
  this.focus();
  const edits = this.isContentEditable || !!this.editContext;
  if (typeof this.select === 'function') this.select();
  else if (edits) this.ownerDocument.getSelection().selectAllChildren(this);
  else return as('not a field');
  const lost = { keys: 0 };
  // Changes of the document until the page hears of the last key.
  const seen = () => globalThis.commisStill?.changes ?? 0;
  let before = Infinity;
  const takes = it => !!it && (it.isContentEditable || !!it.editContext || it.matches('input, textarea, select'));
  const hear = event => {
    if (!event.isTrusted) return;
    if (event.type === 'keydown') before = seen();
    if (this.getRootNode().activeElement === this) return;
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    if (takes(at)) return;
    lost.keys += event.type === 'keydown';
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const kinds = ['keydown', 'keypress', 'keyup'];
  for (const kind of kinds) addEventListener(kind, hear, { capture: true });
  globalThis.commisTyping = {
    end() {
      for (const kind of kinds) removeEventListener(kind, hear, { capture: true });
      if (globalThis.commisTyping === this) delete globalThis.commisTyping;
      return { lost: lost.keys, hasEffect: seen() > before };
    },
  };
  if (this.editContext) return as('context');
  const content = 'value' in this ? this.value : this.textContent;
  const suggests = !!this.list || this.hasAttribute('aria-autocomplete') || this.hasAttribute('aria-controls') ||
    this.getAttribute('role') === 'combobox' || this.maxLength >= 0 && this.maxLength < 8;
  return { ...as((edits ? 'editor ' : '') + (content ? 'filled' : 'empty')), suggests };
}";
/// What stands in a field; of an editor what it shows, which may be a part. With `turn`, once what the last key sets off at once has begun,
/// as `turn` of `page.rs` has it.
const HELD: &str = concat!(
    "function (max, turn) {
  const { lost, hasEffect } = globalThis.commisTyping?.end() ?? { lost: 0, hasEffect: false };
  const read = () => {
    const field = 'value' in this && typeof this.value === 'string';
    let part = !!this.editContext;
    if (!field) for (let it = this; it; it = it.parentElement ?? it.getRootNode().host) part ||= it.scrollHeight > it.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(it).overflowY);
    const text = field ? this.value : this.editContext ? this.editContext.text || this.textContent : this.innerText ?? this.textContent ?? '';
    return {
      text: String(text).slice(0, max).toWellFormed(), editor: !field, part, lost, gone: !this.isConnected,
      bad: this.validity?.badInput === true, most: field && this.maxLength >= 0 && this.maxLength < 100000 ? this.maxLength : null,
      stands: turn ? (",
    page::stands!(),
    ")() : null,
    };
  };
  return turn ? new Promise(done => (",
    page::turn!(),
    ")(hasEffect, () => done(read()))) : read();
}"
);
/// Gives an editor a text as a paste does; whether it took it.
const PASTE: &str = "function (text) {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const it = this.ownerDocument.activeElement === this || !this.contains(this.ownerDocument.activeElement) ? this : this.ownerDocument.activeElement;
  return !it.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true }));
}";
/// Characters of what stands in a field that are read.
const MAX_HELD: usize = 256 * 1024;

/// What stands in a field after it was typed into.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldContent {
    pub text: String,
    /// No field of a form.
    pub editor: bool,
    /// Of an editor: it may hold more than it shows.
    pub part: bool,
    /// Keys that would have reached no field.
    pub lost: u32,
    /// The page has taken it away.
    pub gone: bool,
    /// A form would not take what was typed.
    pub bad: bool,
    /// Characters that it takes at most.
    pub most: Option<u32>,
    /// How the field's document stood, where what the keys set off was waited for.
    pub stands: Option<page::RawDocumentState>,
    /// It was given all but the last character at once.
    #[serde(skip)]
    pub at_once: bool,
    /// What the keys set off at once has begun.
    #[serde(skip)]
    pub settled: bool,
    /// Scripts listen to it: what they do a moment later is done by then.
    #[serde(skip)]
    pub reacts_until: Option<Instant>,
}

impl FieldContent {
    /// Whether it is what was to stand there. Editors show line breaks as paragraphs and blanks as they like.
    pub fn fits(&self, wanted: &str) -> bool {
        let wanted = wanted.replace("\r\n", "\n");
        if !self.editor {
            return self.text == wanted;
        }
        let plain = |text: &str| {
            let seen = text.chars().filter(|it| !matches!(it, '\u{200b}' | '\u{feff}' | '\r'));
            let seen: String = seen.map(|it| if it == '\u{a0}' { ' ' } else { it }).collect();
            let lines = seen.lines().map(str::trim_end).filter(|it| !it.is_empty());
            lines.collect::<Vec<_>>().join("\n")
        };
        let (has, wanted) = (plain(&self.text), plain(&wanted));
        has == wanted || self.part && !has.is_empty() && wanted.contains(&has)
    }
}

/// Ways of giving a text of several lines to an editor: pages hear of each in another way.
#[derive(Clone, Copy, Debug)]
enum EditorInput {
    /// As an input method would, all at once.
    Whole,
    Paste,
    /// Letter by letter; line breaks as an input method would.
    Keys,
}

/// A field that is ready to be typed into.
pub struct PreparedField {
    object: String,
    /// What it is ready for, in the words of [`PREPARE`].
    state: String,
    /// Its `type`.
    pub kind: String,
    /// Scripts of the page listen to it.
    heard: bool,
    /// It shows suggestions while it is typed into, or takes few characters, and may go on to the next field by itself.
    suggests: bool,
}

impl PreparedField {
    /// Whether the page learns from one text what it would learn from each of its keys: as far as can be seen nobody waits for those. A
    /// line break is a key of its own.
    fn takes_at_once(&self, value: &str) -> bool {
        !self.heard && !self.suggests && !value.contains(char::is_control)
    }
}

/// Gives the field the focus and selects what it holds, and asks who listens to it. One that browsers show a widget of their own for has
/// the value then. `object`: the field, where it was looked up, and `heard`: as [`has_listeners`], where that was asked. Fails with
/// `STEP_FAILED` where it is gone.
pub async fn prepare_field(
    shared: &ContextInner,
    step: &Step,
    found: &FoundElement,
    (object, heard): (Option<String>, Option<bool>),
    value: &str,
) -> Result<PreparedField> {
    let session = &*found.session;
    let object = match object {
        Some(it) => it,
        None => lookup::resolve(shared, session, found.world, found.backend)
            .await?
            .ok_or_else(|| step.lost())?,
    };
    paused_requests::may_type(shared, session).await?;
    let scroll = json!({ "backendNodeId": found.backend });
    shared.cdp.post(Some(session), "DOM.scrollIntoViewIfNeeded", scroll);
    let heard = async {
        match heard {
            Some(it) => it,
            None => has_listeners(shared, session, found.backend).await,
        }
    };
    let (heard, prepared) = tokio::join!(heard, prepare(shared, session, &object, value));
    let Prepared { state, kind, suggests } = prepared?;
    Ok(PreparedField { object, state, kind, heard, suggests })
}

/// Empties the field and types; what stands in it then. Fails with `STEP_FAILED` where that is no field.
pub async fn fill(
    shared: &ContextInner,
    step: &Step,
    found: &FoundElement,
    value: &str,
) -> Result<FieldContent> {
    let field = prepare_field(shared, step, found, (None, None), value).await?;
    fill_prepared(shared, step, found, &field, value, false).await
}

/// Empties a field that is ready and types; what stands in it then, with `settle` once the page has made of it what it makes at once.
/// Fails with `STEP_FAILED` where that is no field.
pub async fn fill_prepared(
    shared: &ContextInner,
    step: &Step,
    found: &FoundElement,
    field: &PreparedField,
    value: &str,
    settle: bool,
) -> Result<FieldContent> {
    let session = &*found.session;
    let PreparedField { object, state, heard, .. } = field;
    let backspace = || keys::named_key_events("Backspace");
    let at_once = settle && field.takes_at_once(value) && shared.lock().holding.is_none();
    match &**state {
        "chosen" => {}
        "list" => controls::select(shared, step, found, value, Instant::now()).await?,
        "filled" | "empty" if at_once && value.chars().nth(1).is_some() => {
            inserted(shared, session, value).await?;
        }
        // Selected above, so that one key empties it and its listeners hear of it.
        "filled" => typed(shared, session, backspace(), value).await?,
        "empty" => text(shared, session, value).await?,
        "editor filled" => return edited(shared, found, object, true, value).await,
        "editor empty" => return edited(shared, found, object, false, value).await,
        "context" => return edited_by_context(shared, found, object, value).await,
        it if it.starts_with("no value of ") => {
            let kind = it.trim_start_matches("no value of ");
            let err = step.failed_error(&format!("this is not a value for a field of type {kind}"));
            return Err(err.hint("write dates as 2016-03-05 and times as 13:05"));
        }
        "disabled" => return Err(step.failed_error("the field is disabled or read-only")),
        _ => {
            let err = step.failed_error("the element is not a field");
            return Err(err
                .hint("name the text box inside it (see a snapshot), or click it and use `type`"));
        }
    }
    // A page that has gone on holds nothing any more, and one that is busy is not waited for. What listens has its time from here on.
    let since = Instant::now();
    let turn = settle && !heard;
    let arguments = [MAX_HELD.into(), turn.into()];
    let held = page::call_on_object(&shared.cdp, session, object, HELD, &arguments);
    let held = match tokio::time::timeout(SETTLES, held).await {
        Ok(Ok(it)) => FieldContent { settled: turn, at_once, ..it },
        _ => FieldContent { text: value.to_owned(), ..FieldContent::default() },
    };
    Ok(FieldContent { reacts_until: heard.then(|| since + REACTS), ..held })
}

/// What stands in a field that was filled; `None` where the page has gone on.
pub async fn read_field(shared: &ContextInner, found: &FoundElement) -> Option<FieldContent> {
    let FoundElement { session, world, backend, .. } = found;
    let object = lookup::resolve(shared, session, *world, *backend).await.ok()??;
    held_in(shared, session, &object).await
}

async fn held_in(shared: &ContextInner, session: &str, object: &str) -> Option<FieldContent> {
    page::call_on_object(&shared.cdp, session, object, HELD, &[MAX_HELD.into(), false.into()])
        .await
        .ok()
}

/// What [`PREPARE`] says.
#[derive(Deserialize)]
struct Prepared {
    state: String,
    kind: String,
    #[serde(default)]
    suggests: bool,
}

async fn prepare(
    shared: &ContextInner,
    session: &str,
    object: &str,
    value: &str,
) -> Result<Prepared> {
    page::call_on_object(&shared.cdp, session, object, PREPARE, &[value.into()]).await
}

/// Fills an editor that is ready. Where it does not show the text then, it is given to it in another way.
async fn edited(
    shared: &ContextInner,
    found: &FoundElement,
    object: &str,
    filled: bool,
    value: &str,
) -> Result<FieldContent> {
    let session = &*found.session;
    let several = value.contains('\n');
    let ways: &[EditorInput] = if several {
        &[EditorInput::Whole, EditorInput::Paste, EditorInput::Keys]
    } else {
        &[EditorInput::Keys]
    };
    let mut out = FieldContent::default();
    let mut filled = filled;
    for (n, way) in ways.iter().enumerate() {
        if n > 0 {
            prepare(shared, session, object, value).await?;
        }
        if filled {
            // An editor that draws a part of its text selects all of it by the key alone.
            if n > 0
                && let Some(events) = keys::chord("Control+a")
            {
                type_events(shared, session, events).await?;
            }
            if let Some(events) = keys::named_key_events("Backspace") {
                type_events(shared, session, events).await?;
            }
        }
        match way {
            EditorInput::Keys => text(shared, session, value).await?,
            EditorInput::Whole => {
                paused_requests::may_type(shared, session).await?;
                shared.mark(session, Some(value)).await;
                let params = json!({ "text": value });
                shared.cdp.send(Some(session), "Input.insertText", params).wait(PATIENCE).await?;
            }
            EditorInput::Paste => {
                paused_requests::may_type(shared, session).await?;
                shared.mark(session, Some(value)).await;
                let took: Result<bool> =
                    page::call_on_object(&shared.cdp, session, object, PASTE, &[value.into()])
                        .await;
                if !matches!(took, Ok(true)) {
                    filled = false;
                    continue;
                }
            }
        }
        if several {
            tokio::time::sleep(DRAWN).await;
        }
        let Some(now) = held_in(shared, session, object).await else { break };
        out = now;
        if out.fits(value) || out.gone {
            break;
        }
        filled = !out.text.trim().is_empty();
    }
    Ok(out)
}

/// Fills an editor that draws itself what it holds: what is selected by its own key is what it tells, so that all of it is once
/// more when it was given the text.
async fn edited_by_context(
    shared: &ContextInner,
    found: &FoundElement,
    object: &str,
    value: &str,
) -> Result<FieldContent> {
    let session = &*found.session;
    let press = async |key: &str| match keys::chord(key) {
        Some(events) => type_events(shared, session, events).await,
        None => Ok(()),
    };
    let mut out = FieldContent::default();
    for way in [EditorInput::Paste, EditorInput::Keys] {
        press("Control+a").await?;
        press("Backspace").await?;
        paused_requests::may_type(shared, session).await?;
        match way {
            EditorInput::Keys => text(shared, session, value).await?,
            EditorInput::Paste | EditorInput::Whole => {
                shared.mark(session, Some(value)).await;
                let arguments = [value.into()];
                let _: bool =
                    page::call_on_object(&shared.cdp, session, object, PASTE, &arguments).await?;
            }
        }
        tokio::time::sleep(DRAWN).await;
        press("Control+a").await?;
        tokio::time::sleep(DRAWN).await;
        let Some(now) = held_in(shared, session, object).await else { break };
        press("ArrowRight").await?;
        out = now;
        if out.fits(value) || out.gone {
            break;
        }
    }
    Ok(out)
}

/// Whether scripts of the page listen to a field: what they make of a value may come a moment later. Asked in the page's own world,
/// whose listeners they are; nothing of it is called.
pub async fn has_listeners(shared: &ContextInner, session: &str, backend: i64) -> bool {
    #[derive(Deserialize)]
    struct ResolveNodeResult {
        object: page::RemoteObject,
    }
    #[derive(Deserialize)]
    struct Listeners {
        listeners: Vec<Listener>,
    }
    #[derive(Deserialize)]
    struct Listener {
        #[serde(rename = "type")]
        kind: String,
    }
    let params = json!({ "backendNodeId": backend, "objectGroup": page::OBJECTS });
    let reply = shared.cdp.send(Some(session), "DOM.resolveNode", params);
    let object = reply.read::<ResolveNodeResult>(PATIENCE).await;
    let Some(object) = object.ok().and_then(|it| it.object.object_id) else { return false };
    let params = json!({ "objectId": object });
    let reply = shared.cdp.send(Some(session), "DOMDebugger.getEventListeners", params);
    let kinds = ["input", "beforeinput", "change", "keydown", "keypress", "keyup", "paste"];
    let all = reply.read::<Listeners>(PATIENCE).await.map(|it| it.listeners);
    all.is_ok_and(|all| all.iter().any(|it| kinds.contains(&&*it.kind)))
}

/// Types where the focus is, key by key.
pub async fn text(shared: &ContextInner, session: &str, value: &str) -> Result<()> {
    typed(shared, session, None, value).await
}

/// Gives the field that has the focus a text in place of what is selected: all but the last character at once, and that by its key.
/// The browser does one after the other, so the key is on its way before the text is there.
async fn inserted(shared: &ContextInner, session: &str, value: &str) -> Result<()> {
    let last = value.char_indices().next_back().map_or(0, |it| it.0);
    paused_requests::may_type(shared, session).await?;
    // What is sent for the whole value is meant; nothing that listens to the field sends one for a part of it.
    shared.mark(session, Some(value)).await;
    let insert =
        |text: &str| shared.cdp.send(Some(session), "Input.insertText", json!({ "text": text }));
    let text = insert(&value[..last]);
    let key = match value[last..].chars().next().and_then(keys::character) {
        Some(events) => type_events(shared, session, events).await,
        None => insert(&value[last..]).wait(PATIENCE).await,
    };
    text.wait(PATIENCE).await.and(key)
}

/// Keys that are on their way to the page: the browser does one after the other, so that none waits for the answer to the one before.
struct KeyQueue {
    keys: VecDeque<Reply>,
    ahead: usize,
}

impl KeyQueue {
    async fn add(&mut self, it: Reply) -> Result<()> {
        self.keys.push_back(it);
        if self.keys.len() <= self.ahead {
            return Ok(());
        }
        match self.keys.pop_front() {
            Some(it) => it.raw(PATIENCE).await.map(drop),
            None => Ok(()),
        }
    }

    /// Waits until all of them were done.
    async fn drain(&mut self) -> Result<()> {
        for it in self.keys.drain(..) {
            it.raw(PATIENCE).await?;
        }
        Ok(())
    }
}

async fn typed(
    shared: &ContextInner,
    session: &str,
    first: Option<[Value; 2]>,
    value: &str,
) -> Result<()> {
    let key = |it| shared.cdp.send(Some(session), "Input.dispatchKeyEvent", it);
    // Where it is held what leaves, the page may be one that turns into another for the rest of a value.
    let holds = shared.lock().holding.is_some();
    let ahead = if holds { 0 } else { AHEAD };
    let mut keys = KeyQueue { keys: VecDeque::new(), ahead };
    paused_requests::may_type(shared, session).await?;
    for it in first.into_iter().flatten() {
        keys.add(key(it)).await?;
    }
    let mut all = value.chars().peekable();
    while let Some(it) = all.next() {
        if holds {
            paused_requests::may_type(shared, session).await?;
        }
        let is_last = all.peek().is_none();
        if is_last {
            keys.drain().await?;
            // A search as one types sends one for each key: the last one's is meant.
            shared.mark(session, Some(value)).await;
        }
        match keys::character(it) {
            // What it sets off may take the page away from under its second half.
            Some(events) if is_last => type_events(shared, session, events).await?,
            Some(events) => {
                for it in events {
                    keys.add(key(it)).await?;
                }
            }
            None => {
                let params = json!({ "text": it.to_string() });
                keys.add(shared.cdp.send(Some(session), "Input.insertText", params)).await?;
            }
        }
    }
    keys.drain().await
}
