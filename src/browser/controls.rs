//! A form's controls: what their page declares of them, and using those that are not typed into.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::{
    aim::PressWatch,
    context_state::ContextInner,
    lookup::{self, FoundElement},
    page,
    plan::Step,
    pointer,
    waiting::Poll,
};
use commis_artifacts::recording::{Control, ControlOption};
use commis_base::error::Result;
use commis_redact::choice_spelling::is_spelled;

/// Of a list's options, and of each text.
const MAX_OPTIONS: usize = 500;
const MAX_TEXT: usize = 200;
/// Options may come after the list.
const OPTIONS: Duration = Duration::from_secs(3);
/// How long a page may take to show that something was ticked.
const TICKED: Duration = Duration::from_secs(1);

/// Nothing of what stands in a control, and of one for passwords not even its hints.
pub const CONTROL: &str = "function (options, max) {
  let it = this instanceof Element ? this : this.parentElement;
  if (it instanceof HTMLOptionElement) it = it.closest('select');
  if (it instanceof HTMLLabelElement) it = it.control;
  if (!(it instanceof HTMLSelectElement || it instanceof HTMLTextAreaElement || it instanceof HTMLInputElement)) return null;
  const cut = it => String(it ?? '').replace(/\\s+/g, ' ').trim().slice(0, max).toWellFormed();
  const words = it => Array.from(it.childNodes, it => it instanceof Text ? it.data
    : it instanceof Element && !it.matches('select,textarea,button,input,script,style') ? words(it) : '').join(' ');
  const label = it => cut(it.getAttribute('aria-label') || Array.from(it.labels ?? [], words).join(' '));
  const kind = it instanceof HTMLSelectElement ? 'select' : it instanceof HTMLTextAreaElement ? 'textarea' : it.type;
  if (['submit', 'button', 'reset', 'image', 'file', 'hidden'].includes(kind)) return null;
  const out = { kind, name: cut(it.name), label: label(it), options: [] };
  if (kind === 'password') return out;
  const option = (label, value) => ({ label: cut(label), value: String(value) });
  if (kind === 'select') out.options = Array.from(it.options, it => option(it.label, it.value));
  else if (kind === 'radio' || kind === 'checkbox') {
    const all = it.name ? Array.from((it.form ?? it.getRootNode()).querySelectorAll('input')) : [it];
    out.options = all.filter(other => other.type === kind && other.name === it.name).map(it => option(label(it), it.value));
  } else if (it.list) out.options = Array.from(it.list.options, it => option(it.label || it.value, it.value));
  out.options = out.options.filter(it => it.value.length <= max && it.value.isWellFormed()).slice(0, options);
  for (const key of ['min', 'max', 'step', 'pattern', 'placeholder']) if (it.getAttribute(key)) out[key] = cut(it.getAttribute(key));
  if (it.required) out.required = true;
  return out;
}";

/// Links beside the one that is clicked that go to the same place but for one value: a choice, by their texts.
const LINKS: &str = "function (options, max) {
  const own = (this instanceof Element ? this : this.parentElement)?.closest('a[href]');
  if (!own) return null;
  const cut = it => String(it ?? '').replace(/\\s+/g, ' ').trim().slice(0, max).toWellFormed();
  const read = it => { try { return decodeURIComponent(it); } catch { return it; } };
  const parts = it => {
    const url = new URL(it.href), path = it => it.split('/').map(it => ['', read(it)]);
    const [hash, query] = url.hash.slice(1).split('?', 2);
    return [['//', url.host], ...path(url.pathname), ...url.searchParams, ['', '#'], ...path(hash), ...new URLSearchParams(query ?? '')];
  };
  const all = Array.from(document.links).slice(0, 2000).filter(it => /^https?:$/.test(it.protocol) && cut(it.innerText));
  const read_all = all.map(it => [cut(it.innerText), parts(it), it]), mine = parts(own);
  const levels = it => { let n = 0, at = own; while (at && !at.contains(it)) n++, at = at.parentElement; return n; };
  let found = null;
  mine.forEach(([name], at) => {
    const others = read_all.filter(([, it]) => it.length === mine.length
      && it.every(([key, value], n) => key === mine[n][0] && (n === at) === (value !== mine[n][1])));
    const near = Math.min(...others.map(it => levels(it[2]))), many = new Set(others.map(it => it[0])).size;
    const is_better = !found || many > found.many || many === found.many && near < found.near;
    if (others.length && many < 100 && is_better) found = { at, name, others, near, many };
  });
  if (!found) return null;
  const option = ([label, it]) => ({ label, value: cut(it[found.at][1]) });
  const all_options = [[cut(own.innerText), mine], ...found.others].map(option);
  const list = all_options.filter((it, at) => all_options.findIndex(other => other.label === it.label && other.value === it.value) === at);
  return { kind: 'link', name: cut(found.name), label: '', options: list.slice(0, options) };
}";

/// Buttons and tabs beside the one that is clicked that carry another value in one `data-` attribute, or as their own value: a
/// choice, by their texts.
const BUTTONS: &str = "function (options, max) {
  const KINDS = 'button,input[type=button],[role=tab],[role=button],[role=radio],[role=option],[role=menuitem],[role=menuitemradio]';
  const own = (this instanceof Element ? this : this.parentElement)?.closest(KINDS);
  if (!own) return null;
  const cut = it => String(it ?? '').replace(/\\s+/g, ' ').trim().slice(0, max).toWellFormed();
  const label = it => cut(it.innerText || it.getAttribute('aria-label') || it.value);
  const values = it => new Map([...Object.entries(it.dataset), ...it.hasAttribute('value') ? [['', it.value]] : []]);
  const mine = values(own), role = own.getAttribute('role');
  const is_alike = it => it.tagName === own.tagName && it.getAttribute('role') === role && label(it);
  const all = Array.from(document.querySelectorAll(KINDS)).slice(0, 2000).filter(is_alike);
  const levels = it => { let n = 0, at = own; while (at && !at.contains(it)) n++, at = at.parentElement; return n; };
  const others = all.filter(it => it !== own);
  const near = Math.min(...others.map(levels));
  const group = [own, ...others.filter(it => levels(it) === near)];
  if (group.length < 2 || group.length > 100) return null;
  for (const key of mine.keys()) {
    const list = group.map(it => ({ label: label(it), value: values(it).get(key) ?? '' }));
    const is_choice = list.every(it => it.value && it.value.length <= max) && new Set(list.map(it => it.value)).size === list.length;
    if (is_choice) return { kind: 'button', name: cut(key), label: '', options: list.slice(0, options) };
  }
  return null;
}";

/// Chooses an option by what a reader sees, its label, alone or behind its group's; by the value that the form sends; or takes it
/// back. What fits several options chooses none.
const CHOOSE: &str = "function (wanted, on) {
  const no = (why, hint = '', waits = false) => ({ why, hint, waits});
  if (!(this instanceof HTMLSelectElement)) return no('not a list');
  const all = Array.from(this.options);
  const plain = it => it.replace(/\\s+/g, ' ').trim();
  const group = it => it.parentElement instanceof HTMLOptGroupElement ? plain(it.parentElement.label) : '';
  const off = it => this.disabled || it.disabled || it.parentElement.disabled === true;
  const text = plain(wanted), lower = text.toLowerCase();
  const label = it => plain(it.label);
  const grouped = it => group(it) && group(it) + ' > ' + label(it);
  const valued = it => label(it) + ' (value=' + it.value + ')';
  const ways = [
    it => label(it) === text,
    it => it.value === wanted,
    it => grouped(it) === text || valued(it) === text || grouped(it) && grouped(it) + ' (value=' + it.value + ')' === text,
    it => 'value=' + it.value === wanted || 'index=' + (it.index + 1) === text,
    it => label(it).toLowerCase() === lower,
  ];
  let found = [];
  for (const way of ways) if ((found = all.filter(way)).length) break;
  const cut = it => it.slice(0, 60).toWellFormed();
  if (!found.length) return no('has no such option; it has ' + all.slice(0, 20).map(it => JSON.stringify(cut(label(it)))).join(', '), '', true);
  const able = found.filter(it => !off(it));
  if (!able.length) return no('cannot be chosen from: ' + (this.disabled ? 'it' : 'that option') + ' is disabled', '', true);
  if (able.length > 1) {
    const values = able.map(it => it.value);
    const told = it => (grouped(it) ? JSON.stringify(cut(grouped(it))) + ' or ' : '')
      + (values.filter(value => value === it.value).length > 1 ? 'index=' + (it.index + 1) : 'value=' + cut(it.value));
    return no('has ' + able.length + ' options ' + JSON.stringify(cut(text)), 'say which: ' + able.slice(0, 8).map(told).join('; '));
  }
  const option = able[0];
  if (!on && !this.multiple) return no('takes one option, which stays chosen', 'select another one');
  this.focus();
  if (!this.multiple) this.selectedIndex = option.index;
  else if (option.selected !== on) option.selected = on;
  else return { why: '', hint: '', waits: false };
  this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return { why: '', hint: '', waits: false };
}";
/// What is chosen in a list, and whether several may be.
const CHOSEN: &str = "function () {
  const cut = it => it.label.replace(/\\s+/g, ' ').trim().slice(0, 60).toWellFormed();
  return this instanceof HTMLSelectElement ? [this.multiple, Array.from(this.selectedOptions, cut).slice(0, 20)] : null;
}";
/// Options of a list as [`CHOOSE`] takes them: what tells those apart that are called alike stands beside them.
const TELL_APART: &str = "function (max) {
  if (!(this instanceof HTMLSelectElement)) return [];
  const plain = it => it.replace(/\\s+/g, ' ').trim();
  const all = Array.from(this.options).slice(0, 500);
  const group = it => it.parentElement instanceof HTMLOptGroupElement ? plain(it.parentElement.label) : '';
  const text = it => (group(it) ? group(it) + ' > ' : '') + plain(it.label);
  const often = new Map();
  for (const it of all) often.set(text(it), (often.get(text(it)) ?? 0) + 1);
  return all.slice(0, max).map(it => (often.get(text(it)) > 1 ? text(it) + ' (value=' + it.value + ')' : text(it)).slice(0, 120).toWellFormed());
}";

/// `true`, `false`, or `null` where it is neither.
const IS_ON: &str = "function () {
  if (this instanceof HTMLInputElement && ['checkbox', 'radio'].includes(this.type)) return this.checked;
  const said = this.getAttribute?.('aria-checked');
  return said === 'true' ? true : said === 'false' || said === 'mixed' ? false : null;
}";

/// A box that its page has hidden behind its label is ticked as a label does it.
const BY_LABEL: &str = "function () {
  const box = Array.from(this.getClientRects()).some(it => it.width > 1 && it.height > 1);
  if (box && getComputedStyle(this).visibility === 'visible' && getComputedStyle(this).opacity !== '0') return false;
  const label = this.labels?.[0];
  (label ?? this).click();
  return true;
}";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawControl {
    kind: String,
    name: String,
    label: String,
    options: Vec<ControlOption>,
    min: Option<String>,
    max: Option<String>,
    step: Option<String>,
    pattern: Option<String>,
    placeholder: Option<String>,
    #[serde(default)]
    required: bool,
}

/// What the page declares of a control; `None` for what is none, or has gone.
pub async fn read(shared: &ContextInner, found: &FoundElement) -> Option<Control> {
    let FoundElement { session, world, backend, .. } = found;
    let object = lookup::resolve(shared, session, *world, *backend).await.ok()??;
    read_object(shared, session, &object).await
}

/// The same of an object of the session.
pub async fn read_object(shared: &ContextInner, session: &str, object: &str) -> Option<Control> {
    let arguments = [MAX_OPTIONS.into(), MAX_TEXT.into()];
    let read = page::call_on_object(&shared.cdp, session, object, CONTROL, &arguments).await;
    read.ok().flatten().map(bounded)
}

/// What a link, button or tab is one choice of; `None` for what is none, or stands alone.
pub async fn choice(shared: &ContextInner, found: &FoundElement) -> Option<Control> {
    let FoundElement { session, world, backend, .. } = found;
    let object = lookup::resolve(shared, session, *world, *backend).await.ok()??;
    for script in [LINKS, BUTTONS] {
        let arguments = [MAX_OPTIONS.into(), MAX_TEXT.into()];
        let read = page::call_on_object(&shared.cdp, session, &object, script, &arguments).await;
        if let Some(it) = read.ok().flatten() {
            return Some(bounded(it)).filter(|it| !is_spelled(it));
        }
    }
    None
}

/// A renderer that was taken over answers as it likes.
fn bounded(it: RawControl) -> Control {
    let cut = |it: String| it.chars().take(MAX_TEXT).collect::<String>();
    let mut options = it.options;
    options.truncate(MAX_OPTIONS);
    options.retain(|it| it.value.chars().count() <= MAX_TEXT);
    for option in &mut options {
        option.label = cut(std::mem::take(&mut option.label));
    }
    Control {
        kind: cut(it.kind),
        name: cut(it.name),
        label: cut(it.label),
        options,
        min: it.min.map(cut),
        max: it.max.map(cut),
        step: it.step.map(cut),
        pattern: it.pattern.map(cut),
        placeholder: it.placeholder.map(cut),
        required: it.required,
    }
}

#[derive(Deserialize)]
struct ChooseResult {
    why: String,
    hint: String,
    /// What is wanted may come yet.
    waits: bool,
}

/// Chooses an option by its label, or by what the form sends for it; `on` is false to take it back from a list that takes several.
/// Fails with `STEP_FAILED`, also where several options are called so.
pub async fn choose(
    shared: &ContextInner,
    step: &Step,
    found: &FoundElement,
    (value, on): (&str, bool),
    deadline: Instant,
) -> Result<()> {
    let object = object(shared, step, found).await?;
    let mut poll = Poll::until(deadline.min(Instant::now() + OPTIONS));
    loop {
        let arguments = [value.into(), on.into()];
        let ChooseResult { why, hint, waits } =
            page::call_on_object(&shared.cdp, &found.session, &object, CHOOSE, &arguments).await?;
        if why.is_empty() {
            return Ok(());
        }
        if why == "not a list" {
            let err = step.failed_error("the element is not a list of a form");
            return Err(err.hint("click it, then click the option"));
        }
        if !waits || !poll.pause().await {
            let err = step.failed_error(&format!("the list {why}"));
            return Err(if hint.is_empty() { err } else { err.hint(hint) });
        }
    }
}

/// [`choose`] that chooses.
pub async fn select(
    shared: &ContextInner,
    step: &Step,
    found: &FoundElement,
    value: &str,
    deadline: Instant,
) -> Result<()> {
    choose(shared, step, found, (value, true), deadline).await
}

/// What is chosen in a list that takes several, or in one by its label; `None` where it is gone, or no list.
pub async fn selected_options(
    shared: &ContextInner,
    found: &FoundElement,
) -> Option<(bool, Vec<String>)> {
    let FoundElement { session, world, backend, .. } = found;
    let object = lookup::resolve(shared, session, *world, *backend).await.ok()??;
    page::call_on_object(&shared.cdp, session, &object, CHOSEN, &[]).await.ok()?
}

/// Options of a list, at most so many, told apart where they are called alike.
pub async fn told_apart(
    shared: &ContextInner,
    session: &str,
    world: i64,
    backend: i64,
    most: usize,
) -> Option<Vec<String>> {
    let object = lookup::resolve(shared, session, world, backend).await.ok()??;
    page::call_on_object(&shared.cdp, session, &object, TELL_APART, &[most.into()]).await.ok()
}

/// Ticks a box or a radio button, or takes the tick away; one that stands so already stays. Fails with `STEP_FAILED`.
pub async fn tick(
    shared: &Arc<ContextInner>,
    step: &Step,
    found: &FoundElement,
    on: bool,
    deadline: Instant,
) -> Result<()> {
    let session = &*found.session;
    let object = object(shared, step, found).await?;
    let is_on = || page::call_on_object(&shared.cdp, session, &object, IS_ON, &[]);
    match is_on().await? {
        None => return Err(step.failed_error("the element cannot be ticked")),
        Some(it) if it == on => return Ok(()),
        Some(_) => {}
    }
    let done: bool = page::call_on_object(&shared.cdp, session, &object, BY_LABEL, &[]).await?;
    if !done {
        let aim =
            pointer::reach(shared, step, found, (None, PressWatch::Loosely), deadline).await?;
        pointer::click(shared, step, found, aim, deadline).await?;
    }
    let mut poll = Poll::until(Instant::now() + TICKED);
    loop {
        // Where the page has gone on, it heard of it.
        let now: Result<Option<bool>> = is_on().await;
        if now.is_err() || matches!(now, Ok(Some(it)) if it == on) {
            return Ok(());
        }
        if !poll.pause().await {
            let err = step.failed_error("it was clicked, and stays as it was");
            return Err(err.hint("check another radio button of its group instead"));
        }
    }
}

async fn object(shared: &ContextInner, step: &Step, found: &FoundElement) -> Result<String> {
    let FoundElement { session, world, backend, .. } = found;
    let object = lookup::resolve(shared, session, *world, *backend).await?;
    object.ok_or_else(|| step.lost())
}
