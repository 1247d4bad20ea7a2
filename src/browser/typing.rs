//! Typing into a field, key by key.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    keys,
    lookup::{self, Found},
    page,
    plan::Step,
    shared::Shared,
};
use crate::error::Result;

/// For each question to the page.
const PATIENCE: Duration = Duration::from_secs(5);
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
    let last = value.chars().count().saturating_sub(1);
    for (i, it) in value.chars().enumerate() {
        if i == last {
            // A search as one types sends one for each key: the last one's is meant.
            shared.mark(session, Some(value)).await;
        }
        if let Some(events) = keys::character(it) {
            type_events(shared, session, events).await?;
        } else {
            let params = json!({ "text": it.to_string() });
            shared.cdp.run(Some(session), "Input.insertText", params).await?;
        }
    }
    Ok(())
}

/// One key, down and up.
pub async fn type_events(shared: &Shared, session: &str, events: [Value; 2]) -> Result<()> {
    let method = "Input.dispatchKeyEvent";
    let [down, up] = events.map(|it| shared.cdp.send(Some(session), method, it));
    down.raw(PATIENCE).await?;
    // Enter may have navigated the page away from under the second one.
    let _ = up.raw(PATIENCE).await;
    Ok(())
}
