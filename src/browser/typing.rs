//! Typing into a field, key by key.

use std::{collections::VecDeque, time::Duration};

use serde_json::{Value, json};

use super::{
    cdp::Reply,
    held, keys,
    lookup::{self, Found},
    page,
    plan::Step,
    shared::Shared,
};
use commis_base::error::Result;

/// For each question to the page.
const PATIENCE: Duration = Duration::from_secs(5);
/// Halves of keys that are sent before the first of them was answered.
const AHEAD: usize = 64;
/// Makes an element ready to be typed into, its content selected. For a `<select>`, and
/// for fields that browsers show widgets of their own for, it chooses the value at once.
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
  const whole = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];
  if (this instanceof HTMLInputElement && whole.includes(this.type)) {
    this.focus();
    this.value = value;
    if (this.value !== value && Number(this.value) !== Number(value)) return 'no value of ' + this.type;
    this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    this.dispatchEvent(new Event('change', { bubbles: true }));
    return 'chosen';
  }
  this.focus();
  if (typeof this.select === 'function') this.select();
  else if (this.isContentEditable) this.ownerDocument.getSelection().selectAllChildren(this);
  else return 'not a field';
  const content = 'value' in this ? this.value : this.textContent;
  return content ? 'filled' : 'empty';
}";

/// Empties the field and types. Fails with `STEP_FAILED` where that is no field.
pub async fn fill(shared: &Shared, step: &Step, found: &Found, value: &str) -> Result<()> {
    let Found { session, world, backend, .. } = found;
    let object = lookup::resolve(shared, session, *world, *backend).await?;
    let object = object.ok_or_else(|| step.lost())?;
    held::may_type(shared, session).await?;
    let scroll = json!({ "backendNodeId": backend });
    shared.cdp.post(Some(session), "DOM.scrollIntoViewIfNeeded", scroll);
    let arguments = [value.into()];
    let prepared: String =
        page::call_on_object(&shared.cdp, session, &object, PREPARE, &arguments).await?;
    match &*prepared {
        "chosen" => return Ok(()),
        // Selected above, so that one key empties it and its listeners hear of it.
        "filled" => return typed(shared, session, keys::named("Backspace"), value).await,
        "empty" => {}
        it if it.starts_with("no value of ") => {
            let kind = it.trim_start_matches("no value of ");
            let err = step.failed(&format!("this is no value for a field of the kind {kind}"));
            return Err(err.hint("dates are 2016-03-05, times 13:05, as HTML has them"));
        }
        "no option" => return Err(step.failed("the list has no such option")),
        "disabled" => return Err(step.failed("the field is disabled or read-only")),
        _ => return Err(step.failed("the element is not a field")),
    }
    text(shared, session, value).await
}

/// Types where the focus is, key by key.
pub async fn text(shared: &Shared, session: &str, value: &str) -> Result<()> {
    typed(shared, session, None, value).await
}

/// Keys that are on their way to the page: the browser does one after the other, so that none waits for the answer to the one before.
struct OnTheWay {
    keys: VecDeque<Reply>,
    ahead: usize,
}

impl OnTheWay {
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
    async fn done(&mut self) -> Result<()> {
        for it in self.keys.drain(..) {
            it.raw(PATIENCE).await?;
        }
        Ok(())
    }
}

async fn typed(
    shared: &Shared,
    session: &str,
    first: Option<[Value; 2]>,
    value: &str,
) -> Result<()> {
    let key = |it| shared.cdp.send(Some(session), "Input.dispatchKeyEvent", it);
    // Where it is held what leaves, the page may be one that turns into another for the rest of a value.
    let holds = shared.lock().holding.is_some();
    let ahead = if holds { 0 } else { AHEAD };
    let mut keys = OnTheWay { keys: VecDeque::new(), ahead };
    held::may_type(shared, session).await?;
    for it in first.into_iter().flatten() {
        keys.add(key(it)).await?;
    }
    let mut all = value.chars().peekable();
    while let Some(it) = all.next() {
        if holds {
            held::may_type(shared, session).await?;
        }
        let is_last = all.peek().is_none();
        if is_last {
            keys.done().await?;
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
    keys.done().await
}

/// One key, down and up.
pub async fn type_events(shared: &Shared, session: &str, events: [Value; 2]) -> Result<()> {
    let method = "Input.dispatchKeyEvent";
    let [down, up] = events.map(|it| shared.cdp.send(Some(session), method, it));
    down.done(PATIENCE).await?;
    // Enter may have navigated the page away from under the second one.
    let _ = up.raw(PATIENCE).await;
    Ok(())
}
