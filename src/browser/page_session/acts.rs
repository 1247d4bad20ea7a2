//! Acting on a page that stays: each act says what it did.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::{
    CommandOutput, PageController, ReachableTarget, ResolvedTarget, ScrollDirection, Target,
    WaitCondition,
    text_sanitizer::{self, cut, plain, quoted},
};
use crate::{
    aim::PressWatch,
    context_state::{ContextInner, ContextState},
    controls, drag,
    element::{Choice, Element, Fill, Tick},
    input_events, keys,
    own_host_scope::ContextPolicy,
    page,
    plan::{Step, Wait},
    pointer,
    recorder::Recorder,
    steps::MASK,
    typing::{self, FieldContent},
    waiting::{self, Beside},
};
use commis_base::error::{Code, Error, Result};

/// A page that is being left is asked so often whether it still answers.
const ASKED: Duration = Duration::from_secs(1);
const FOCUS: &str = "function () { this.focus(); return true; }";
/// Scrolls what scrolls: of an element itself, the largest part in it, or what it stands in; of a page the document, or its largest
/// part. What that was, how far it went, where it is now and how far it could go.
const SCROLL: &str = "function (to) {
  const across = to === 'left' || to === 'right';
  const room = it => across ? it.scrollWidth - it.clientWidth : it.scrollHeight - it.clientHeight;
  const area = it => it.clientHeight * it.clientWidth;
  const root = document.scrollingElement ?? document.documentElement;
  const style = it => { const { overflowX, overflowY } = getComputedStyle(it); return across ? overflowX : overflowY; };
  const scrolls = it => room(it) > 1 && (it === root ? !/hidden|clip/.test(style(it)) : /auto|scroll/.test(style(it)));
  const inner = of => {
    const roots = [of];
    for (let i = 0; i < roots.length; i++)
      for (const it of roots[i].querySelectorAll('*')) if (it.shadowRoot && roots.length < 5000) roots.push(it.shadowRoot);
    return roots.flatMap(it => Array.from(it.querySelectorAll('*'))).filter(it => it !== root && scrolls(it)).sort((a, b) => area(b) - area(a))[0];
  };
  const own = this instanceof Element;
  let it = null;
  if (own) {
    it = scrolls(this) ? this : inner(this);
    for (let at = this; !it && at; at = at.assignedSlot ?? at.parentElement ?? at.getRootNode().host) if (at !== root && scrolls(at)) it = at;
  } else it = root && (scrolls(root) ? root : inner(document) ?? root);
  if (!it) return { what: '', by: 0, at: 0, room: 0 };
  const place = () => across ? it.scrollLeft : it.scrollTop;
  const was = place();
  const by = Math.round((it === root ? (across ? innerWidth : innerHeight) : (across ? it.clientWidth : it.clientHeight)) * 0.8);
  const behavior = 'instant';
  if (to === 'top') it.scrollTo({ top: 0, behavior });
  else if (to === 'bottom') it.scrollTo({ top: it.scrollHeight, behavior });
  else if (across) it.scrollBy({ left: to === 'left' ? -by : by, behavior });
  else it.scrollBy({ top: to === 'up' ? -by : by, behavior });
  const role = it.getAttribute('role') ?? it.tagName.toLowerCase();
  const name = (it.getAttribute('aria-label') ?? (it.id ? '#' + it.id : '')).slice(0, 60).toWellFormed();
  return { what: it === root ? 'the page' : name ? role + ' ' + name : role, by: place() - was, at: place(), room: room(it) };
}";
/// Pixels that are no way.
const NEAR: f64 = 1.0;

/// What to do where a context is at a host of the user's own and the page is elsewhere, or the other way round.
fn apart(visit: &ContextPolicy, url: &str, err: Error) -> Error {
    if err.code() == Code::UrlBlocked && visit.is_elsewhere(url) {
        return err.hint("a host of your own needs its own context: give another --context");
    }
    err
}

/// Returns where the page answers nothing any more before another document takes its place: it keeps that one from coming, too.
async fn hangs(shared: &ContextInner) {
    let frames = shared.lock().frames;
    let stays = || shared.lock().frames == frames;
    loop {
        tokio::time::sleep(ASKED).await;
        if !stays() {
            return std::future::pending().await;
        }
        if shared.main_frame().await.is_err() && stays() {
            return;
        }
    }
}

/// Words of the page or of the caller, cut, in quotes.
fn quote_text(text: &str) -> String {
    quoted(&cut(&plain(&commis_redact::message(text)), 80))
}

/// What stands in a field, where that is not what was typed.
fn describe_mismatch(held: &FieldContent, secret: bool) -> String {
    let how = if held.editor { "shows" } else { "holds" };
    let most = held.most.map(|it| format!(" (it takes {it} characters)")).unwrap_or_default();
    match held.text.chars().count() {
        0 => "it is empty now".to_owned(),
        n if secret => format!("it {how} another text now, of {n} characters{most}"),
        _ => format!("it {how} {} now{most}", quote_text(&held.text)),
    }
}

impl PageController {
    pub(super) async fn press(&mut self, target: Target, times: u8) -> Result<CommandOutput> {
        let deadline = Instant::now() + self.timeout;
        for tries in 1.. {
            let arm =
                if tries < pointer::TRIES - 1 { PressWatch::Strictly } else { PressWatch::Loosely };
            let ReachableTarget { meant, step, aim, before } =
                self.reached(&target, Step::Click, arm).await?;
            let shared = self.shared();
            pointer::press(&shared, &meant.found.session, aim.at).await?;
            if times == 2 {
                pointer::press_again(&shared, &meant.found.session, aim.at).await?;
            }
            // Before what it opens, which is noted, too.
            let noted = (self.steps.len(), self.lost.len());
            if times == 2 {
                self.lost.push(format!("double click on {}", meant.told));
            } else {
                self.record_element_step(&meant, Step::Click);
            }
            let effect = match self.after_press(before, &meant, &aim).await? {
                Ok(it) => it,
                Err(over) => {
                    // The page has not heard of it.
                    self.steps.truncate(noted.0);
                    self.lost.truncate(noted.1);
                    if tries == pointer::TRIES || Instant::now() >= deadline {
                        return Err(pointer::slipped(&step, &over));
                    }
                    continue;
                }
            };
            let did = if times == 2 { "double-clicked" } else { "clicked" };
            return Ok(CommandOutput::from_effect(&format!("{did} {}", meant.told), effect));
        }
        Err(Error::new(Code::Internal, "the click ended without a result"))
    }

    pub(super) async fn hover(&mut self, target: Target) -> Result<CommandOutput> {
        let ReachableTarget { meant, aim, before, .. } =
            self.reached(&target, Step::Hover, PressWatch::No).await?;
        pointer::hover(&self.shared(), &meant.found.session, aim.at).await?;
        self.record_element_step(&meant, Step::Hover);
        self.acted(before, format!("hovers over {}", meant.told)).await
    }

    pub(super) async fn drag(&mut self, from: Target, to: Target) -> Result<CommandOutput> {
        let deadline = Instant::now() + self.timeout;
        let (start, end) = (self.resolve_for_act(&from).await?, self.resolve_for_act(&to).await?);
        let shared = self.shared();
        // What is not dropped has the words of a click that fails.
        let step = Step::Hover(start.to_element());
        let ends = [
            drag::DragEnd { found: &start.found, offset: from.offset() },
            drag::DragEnd { found: &end.found, offset: to.offset() },
        ];
        let ready = drag::prepare(&shared, &step, &ends[0], &ends[1], deadline).await?;
        if ready.aim.moved {
            self.still(&from, &start).await?;
            self.still(&to, &end).await?;
        }
        let before = self.before().await?;
        let at = drag::carry(&shared, &step, &ends[0], &ends[1], &ready).await?;
        if ready.is_far
            && let Err(err) = self.still(&to, &end).await
        {
            drag::give_up(&shared, &start.found.session).await;
            return Err(err);
        }
        drag::drop_at(&shared, &start.found.session, at).await;
        self.lost.push(format!("drag of {}", start.told));
        self.acted(before, format!("dragged {} to {}", start.told, end.told)).await
    }

    /// Fails with `REF_STALE` where what is meant is another element now: lists put other contents into their nodes as they scroll.
    async fn still(&mut self, target: &Target, was: &ResolvedTarget) -> Result<()> {
        if target.is_css() || self.resolve_for_act(target).await?.is_same_element(was) {
            return Ok(());
        }
        let why = format!("{} became another element as the page was scrolled", was.told);
        Err(Error::new(Code::RefStale, why).hint("take a new snapshot"))
    }

    pub(super) async fn fill(&mut self, target: Target, value: String) -> Result<CommandOutput> {
        let shared = self.shared();
        // A ref's node is known before the page says whether it is still what it was.
        let place = match target {
            Target::Ref(n) => self.refs.place(n),
            _ => None,
        };
        let heard = async {
            let (session, _, backend) = place.as_ref()?;
            Some((*backend, typing::has_listeners(&shared, session, *backend).await))
        };
        let (meant, heard) = tokio::join!(self.resolve_for_act(&target), heard);
        let meant = meant?;
        let heard = heard.filter(|it| it.0 == meant.found.backend).map(|it| it.1);
        let element =
            meant.element.clone().unwrap_or_else(|| Element::with_name("textbox", &meant.told));
        let step = Step::Fill(Fill { element, value: value.clone() });
        // Sent in this order: the page is looked at before the field has the focus.
        let known = (meant.object.clone(), heard);
        let (before, field) = tokio::join!(
            self.before(),
            typing::prepare_field(&shared, &step, &meant.found, known, &value)
        );
        let (before, field) = (before?, field?);
        let kind = &*field.kind;
        let secret = kind == "password"
            || commis_redact::typed_secret(meant.found.name.as_deref().unwrap_or(""), &value)
                .is_some();
        if secret {
            shared.lock().secrets.push(value.clone().into());
        }
        let mut held =
            typing::fill_prepared(&shared, &step, &meant.found, &field, &value, true).await?;
        let mut meant = meant;
        // Some pages put another field in its place at the first key. A name means that one, too; a ref does not.
        if (held.gone || held.lost > 0)
            && !matches!(target, Target::Ref(_) | Target::Like(_) | Target::Click(_))
            && let Ok(again) = self.resolve_for_act(&target).await
            && !again.is_same_element(&meant)
        {
            held = typing::fill(&shared, &step, &again.found, &value).await?;
            meant = again;
        } else if held.at_once && held.lost == 0 && !held.gone && !held.fits(&value) {
            // The page may make something else of it key by key.
            held = typing::fill(&shared, &step, &meant.found, &value).await?;
        }
        if held.gone || held.lost > 0 {
            let why = "the page took the field away while it was typed into";
            return Err(step.failed_error(why).hint("take a new snapshot and use its refs"));
        }
        if secret {
            self.lost.push(format!("what was typed into {}, which is a secret", meant.told));
        } else {
            self.record_element_step(&meant, |element| {
                Step::Fill(Fill { element, value: value.clone() })
            });
        }
        let shown = if secret { MASK.to_owned() } else { quote_text(&value) };
        let changes = held.stands.as_ref().map(|it| it.2).filter(|_| held.settled);
        let mut effect = if held.settled {
            let is_main = meant.found.world == before.world
                && shared.page().is_ok_and(|it| it.session == meant.found.session);
            let stands = held.stands.take().filter(|_| is_main);
            self.settled(before, stands.map(page::DocumentState::from)).await?
        } else {
            self.after(before).await?
        };
        let reacts = changes != Some(effect.changes) || !effect.requests.is_empty();
        if effect.navigated.is_none() && reacts {
            // What the page made of it in the meantime.
            if let Some(until) = held.reacts_until {
                tokio::time::sleep_until(until.into()).await;
            }
            held = typing::read_field(&shared, &meant.found).await.unwrap_or(held);
        }
        let list = matches!(kind, "select-one" | "select-multiple");
        if held.bad && held.text.is_empty() && !value.is_empty() {
            let err = step.failed_error("the field takes no such value, and is empty");
            return Err(err.hint("the field accepts only numbers or dates"));
        }
        if !list && !held.gone && effect.navigated.is_none() && !held.fits(&value) {
            effect.state = Some(describe_mismatch(&held, secret));
        }
        Ok(CommandOutput::from_effect(&format!("filled {} with {shown}", meant.told), effect))
    }

    pub(super) async fn keys(&mut self, text: String) -> Result<CommandOutput> {
        let before = self.before().await?;
        let shared = self.shared();
        let session = shared.page()?.session;
        typing::text(&shared, &session, &text).await?;
        self.lost.push("keys that were typed without a field".to_owned());
        self.acted(before, format!("typed {} characters", text.chars().count())).await
    }

    pub(super) async fn key(&mut self, key: String) -> Result<CommandOutput> {
        let Some(events) = keys::chord(&key) else {
            let hint = format!(
                "keys are {}, a character, and with Control+, Shift+, Alt+, Meta+ before it",
                keys::names()
            );
            return Err(Error::new(Code::ParamInvalid, "no such key").hint(hint));
        };
        let before = self.before().await?;
        let shared = self.shared();
        let session = shared.page()?.session;
        input_events::type_events(&shared, &session, events).await?;
        if keys::is_named(keys::proper(&key)) {
            self.note(Step::Press(keys::proper(&key).to_owned()));
        } else {
            self.lost.push(format!("key {key}"));
        }
        self.acted(before, format!("pressed {key}")).await
    }

    /// Chooses an option, or takes it back.
    pub(super) async fn select(
        &mut self,
        target: Target,
        value: String,
        on: bool,
    ) -> Result<CommandOutput> {
        let meant = self.resolve_for_act(&target).await?;
        let before = self.before().await?;
        let element =
            meant.element.clone().unwrap_or_else(|| Element::with_name("combobox", &meant.told));
        let step = Step::Select(Choice { element, value: value.clone() });
        let deadline = Instant::now() + self.timeout;
        let shared = self.shared();
        controls::choose(&shared, &step, &meant.found, (&value, on), deadline).await?;
        if on {
            self.record_element_step(&meant, |element| {
                Step::Select(Choice { element, value: value.clone() })
            });
        } else {
            self.lost.push(format!("an option of {} that was taken back", meant.told));
        }
        let mut effect = self.after(before).await?;
        if effect.navigated.is_none()
            && let Some((several, now)) = controls::selected_options(&shared, &meant.found).await
        {
            let all: Vec<String> = now.iter().map(|it| quote_text(it)).collect();
            let is_told = now.len() == 1
                && on
                && text_sanitizer::plain(&now[0]) == text_sanitizer::plain(&value);
            if several || !is_told {
                let all = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
                effect.state = Some(format!("chosen: {all}"));
            }
        }
        let did = if on { "selected" } else { "unselected" };
        let told = format!("{did} {} in {}", quote_text(&value), meant.told);
        Ok(CommandOutput::from_effect(&told, effect))
    }

    pub(super) async fn tick(&mut self, target: Target, on: bool) -> Result<CommandOutput> {
        let meant = self.resolve_for_act(&target).await?;
        let before = self.before().await?;
        let element =
            meant.element.clone().unwrap_or_else(|| Element::with_name("checkbox", &meant.told));
        let step = if on { Step::Check(Tick(element)) } else { Step::Uncheck(Tick(element)) };
        let deadline = Instant::now() + self.timeout;
        controls::tick(&self.shared(), &step, &meant.found, on, deadline).await?;
        self.record_element_step(&meant, |it| {
            if on { Step::Check(Tick(it)) } else { Step::Uncheck(Tick(it)) }
        });
        self.acted(before, format!("{} {}", if on { "checked" } else { "unchecked" }, meant.told))
            .await
    }

    pub(super) async fn focus(&mut self, target: Target) -> Result<CommandOutput> {
        let meant = self.resolve_for_act(&target).await?;
        let before = self.before().await?;
        let _: bool = self.call(&meant.found, FOCUS, &[]).await?;
        self.acted(before, format!("focused {}", meant.told)).await
    }

    pub(super) async fn scroll_to(&mut self, target: Target) -> Result<CommandOutput> {
        let meant = self.resolve_for_act(&target).await?;
        let before = self.before().await?;
        pointer::scroll_into_view(&self.shared(), &meant.found).await?;
        self.acted(before, format!("scrolled to {}", meant.told)).await
    }

    /// Scrolls the page, or what scrolls of an element.
    pub(super) async fn scroll(
        &mut self,
        of: Option<Target>,
        way: ScrollDirection,
    ) -> Result<CommandOutput> {
        #[derive(Deserialize)]
        struct ScrollResult {
            what: String,
            by: f64,
            at: f64,
            room: f64,
        }
        let meant = match &of {
            Some(it) => Some(self.resolve_for_act(it).await?),
            None => None,
        };
        let before = self.before().await?;
        let shared = self.shared();
        let to = way.as_str();
        let it: ScrollResult = if let Some(it) = &meant {
            self.call(&it.found, SCROLL, &[to.into()]).await?
        } else {
            let frame = shared.main_frame().await?;
            page::call(&shared.cdp, &frame, SCROLL, &[to.into()], page::PATIENCE).await?
        };
        if it.what.is_empty()
            && let Some(meant) = &meant
        {
            let why = format!("nothing of {} scrolls that way", meant.told);
            return Err(Error::new(Code::StepFailed, why).hint("leave out --in to scroll the page"));
        }
        let what = if it.what == "the page" { it.what } else { quote_text(&it.what) };
        let told = if it.by.abs() < NEAR {
            let end = if it.room < NEAR { "it cannot scroll further" } else { "it is at its end" };
            format!("scrolled nothing: {what}, {end}")
        } else {
            format!("scrolled {to}: {what}, at {:.0} of {:.0} pixels", it.at, it.room)
        };
        self.acted(before, told).await
    }

    pub(super) async fn wait(&mut self, until: WaitCondition) -> Result<CommandOutput> {
        let begun = Instant::now();
        let wait = match until {
            WaitCondition::Passed(it) => {
                tokio::time::sleep(it.min(self.timeout)).await;
                return Ok("waited".to_owned().into());
            }
            WaitCondition::Text(it) => Wait::Text(it),
            WaitCondition::Selector(it) => Wait::Selector(it),
        };
        let step = Step::WaitFor(wait.clone());
        let until = (begun + self.timeout, Beside::Somebody);
        waiting::wait_for(&self.shared(), &step, &wait, until).await?;
        self.note(step);
        Ok(format!("it was there after {} ms", begun.elapsed().as_millis()).into())
    }

    pub(super) async fn goto(&mut self, url: &str) -> Result<CommandOutput> {
        let shared = self.shared();
        let mut hung = false;
        let mut before = match self.before().await {
            // Whoever wants to go elsewhere need not wait for a page that hangs.
            Err(err) if err.code() == Code::BrowserFailed && self.is_alive() => {
                hung = Box::pin(self.leave_behind()).await.is_ok();
                if hung { self.before().await? } else { return Err(err) }
            }
            it => it?,
        };
        // The first page says whether this context is at a host of the user's own; from then on it is, or never.
        shared.visit.begin_at(url);
        let gone = tokio::select! {
            it = shared.navigate(url, self.timeout) => Some(it),
            () = hangs(&shared), if !hung => None,
        };
        let gone = if let Some(it) = gone {
            it
        } else {
            hung = true;
            Box::pin(self.leave_behind()).await?;
            before = self.before().await?;
            shared.navigate(url, self.timeout).await
        };
        gone.map_err(|err| apart(&shared.visit, url, err))?;
        if self.steps.is_empty() || self.begun_at.is_none() {
            (self.steps, self.lost) = (Vec::new(), Vec::new());
            self.begun_at = Some(url.to_owned());
        } else {
            self.note(Step::Navigate(url.to_owned()));
        }
        let effect = self.after(before).await?;
        let (at, title) = self.head().await?;
        let mut all = vec![format!("{at} {}", quoted(&title))];
        let status = self.status_of_page().filter(|it| *it != 200);
        all.extend(status.map(|it| format!("the site answered {it}")));
        all.extend(effect.dialogs.iter().chain(&effect.refused).cloned());
        if hung {
            all.push("the page before it stopped responding and was closed".to_owned());
        }
        let text = all.join("; ");
        Ok(CommandOutput { text, effect: Some(effect), ..CommandOutput::default() })
    }

    /// What the site answered for the page's document.
    fn status_of_page(&self) -> Option<u16> {
        let shared = self.shared();
        let state = shared.lock();
        let document = state.recorder.as_ref().and_then(Recorder::document)?;
        Some(document.response.as_ref()?.status)
    }

    pub(super) async fn history(&mut self, by: i64) -> Result<CommandOutput> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct NavigationHistory {
            current_index: i64,
            entries: Vec<HistoryEntry>,
        }
        #[derive(Deserialize)]
        struct HistoryEntry {
            id: i64,
            url: String,
        }
        let shared = self.shared();
        let session = shared.page()?.session;
        let history: NavigationHistory =
            shared.cdp.call(Some(&session), "Page.getNavigationHistory", json!({})).await?;
        let to =
            usize::try_from(history.current_index + by).ok().and_then(|it| history.entries.get(it));
        let Some(to) = to.filter(|it| it.url != "about:blank") else {
            return Err(Error::new(
                Code::StepFailed,
                "the history of this context has no such page",
            ));
        };
        let before = self.before().await?;
        shared
            .cdp
            .run(Some(&session), "Page.navigateToHistoryEntry", json!({ "entryId": to.id }))
            .await?;
        let url = to.url.clone();
        self.note(Step::Navigate(url));
        self.acted(before, if by < 0 { "went back" } else { "went forward" }.to_owned()).await
    }

    pub(super) async fn reload(&mut self) -> Result<CommandOutput> {
        let shared = self.shared();
        let before = self.before().await?;
        let session = shared.page()?.session;
        let loads = before.loads;
        shared.cdp.run(Some(&session), "Page.reload", json!({})).await?;
        let told = before.dialogs;
        let stays = |it: &ContextState| it.dialogs_told != told && it.stays();
        shared.until(Instant::now() + self.timeout, |it| it.loads != loads || stays(it)).await?;
        let did = if stays(&shared.lock()) { "did not reload" } else { "reloaded" };
        self.acted(before, did.to_owned()).await
    }
}
