//! Acting on a page that stays: each act says what it did.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::{
    Desk, Said, Target, Until, Way,
    words::{cut, plain, quoted},
};
use crate::{
    controls,
    element::{Choice, Element, Fill, Tick},
    keys, page,
    plan::{Step, Wait},
    pointer,
    shared::Shared,
    steps::MASK,
    typing,
    visit::Visit,
    waiting,
};
use commis_base::error::{Code, Error, Result};

/// A page that is being left is asked so often whether it still answers.
const ASKED: Duration = Duration::from_secs(1);
const FOCUS: &str = "function () { this.focus(); return true; }";
const KIND: &str = "function () { return String(this.type ?? '').slice(0, 40); }";
const SCROLL: &str = "function (to) {
  const it = document.scrollingElement ?? document.documentElement;
  if (!it) return true;
  const by = Math.round(innerHeight * 0.8);
  if (to === 'top') it.scrollTo({ top: 0, behavior: 'instant' });
  else it.scrollBy({ top: to === 'up' ? -by : by, behavior: 'instant' });
  return true;
}";

/// What to do where a context is at a host of the user's own and the page is elsewhere, or the other way round.
fn apart(visit: &Visit, url: &str, err: Error) -> Error {
    if err.code() == Code::UrlBlocked && visit.is_elsewhere(url) {
        return err.hint("a host of your own has a context to itself: give another --context");
    }
    err
}

/// Returns where the page answers nothing any more before another document takes its place: it keeps that one from coming, too.
async fn hangs(shared: &Shared) {
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

impl Desk {
    pub(super) async fn press(&mut self, target: Target, times: u8) -> Result<Said> {
        let (meant, at) = self.reached(&target, Step::Click).await?;
        let before = self.before().await?;
        let shared = self.shared();
        pointer::press(&shared, &meant.found.session, at).await?;
        if times == 2 {
            pointer::press_again(&shared, &meant.found.session, at).await?;
            self.lost.push(format!("double click on {}", meant.told));
        } else {
            self.noted(&meant, Step::Click);
        }
        let did = if times == 2 { "double-clicked" } else { "clicked" };
        self.acted(before, format!("{did} {}", meant.told)).await
    }

    pub(super) async fn hover(&mut self, target: Target) -> Result<Said> {
        let (meant, at) = self.reached(&target, Step::Hover).await?;
        let before = self.before().await?;
        pointer::hover(&self.shared(), &meant.found.session, at).await?;
        self.noted(&meant, Step::Hover);
        self.acted(before, format!("hovers over {}", meant.told)).await
    }

    pub(super) async fn drag(&mut self, from: Target, to: Target) -> Result<Said> {
        let (from, start) = self.reached(&from, Step::Hover).await?;
        let to = self.meant(&to).await?;
        let named = to.element.clone().unwrap_or_else(|| Element::named("element", &to.told));
        let end = pointer::middle(&self.shared(), &Step::Hover(named), &to.found).await?;
        let before = self.before().await?;
        pointer::drag(&self.shared(), &from.found.session, start, end).await?;
        self.lost.push(format!("drag of {}", from.told));
        self.acted(before, format!("dragged {} to {}", from.told, to.told)).await
    }

    pub(super) async fn fill(&mut self, target: Target, value: String) -> Result<Said> {
        let meant = self.meant(&target).await?;
        let shared = self.shared();
        let (kind, before) = tokio::join!(self.call(&meant.found, KIND, &[]), self.before());
        let (kind, before): (String, _) = (kind?, before?);
        let element =
            meant.element.clone().unwrap_or_else(|| Element::named("textbox", &meant.told));
        let step = Step::Fill(Fill { element, value: value.clone() });
        typing::fill(&shared, &step, &meant.found, &value).await?;
        let secret = kind == "password"
            || commis_redact::typed_secret(meant.found.name.as_deref().unwrap_or(""), &value)
                .is_some();
        if secret {
            shared.lock().secrets.push(value.clone().into());
            self.lost.push(format!("what was typed into {}, which is a secret", meant.told));
        } else {
            self.noted(&meant, |element| Step::Fill(Fill { element, value: value.clone() }));
        }
        let shown = if secret {
            MASK.to_owned()
        } else {
            quoted(&cut(&plain(&commis_redact::message(&value)), 80))
        };
        self.acted(before, format!("filled {} with {shown}", meant.told)).await
    }

    pub(super) async fn keys(&mut self, text: String) -> Result<Said> {
        let before = self.before().await?;
        let shared = self.shared();
        let session = shared.page()?.session;
        typing::text(&shared, &session, &text).await?;
        self.lost.push("keys that were typed without a field".to_owned());
        self.acted(before, format!("typed {} characters", text.chars().count())).await
    }

    pub(super) async fn key(&mut self, key: String) -> Result<Said> {
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
        typing::type_events(&shared, &session, events).await?;
        if keys::is_named(&key) {
            self.note(Step::Press(key.clone()));
        } else {
            self.lost.push(format!("key {key}"));
        }
        self.acted(before, format!("pressed {key}")).await
    }

    pub(super) async fn select(&mut self, target: Target, value: String) -> Result<Said> {
        let meant = self.meant(&target).await?;
        let before = self.before().await?;
        let element =
            meant.element.clone().unwrap_or_else(|| Element::named("combobox", &meant.told));
        let step = Step::Select(Choice { element, value: value.clone() });
        let deadline = Instant::now() + self.timeout;
        controls::select(&self.shared(), &step, &meant.found, &value, deadline).await?;
        self.noted(&meant, |element| Step::Select(Choice { element, value: value.clone() }));
        self.acted(
            before,
            format!("selected {} in {}", quoted(&cut(&plain(&value), 80)), meant.told),
        )
        .await
    }

    pub(super) async fn tick(&mut self, target: Target, on: bool) -> Result<Said> {
        let meant = self.meant(&target).await?;
        let before = self.before().await?;
        let element =
            meant.element.clone().unwrap_or_else(|| Element::named("checkbox", &meant.told));
        let step = if on { Step::Check(Tick(element)) } else { Step::Uncheck(Tick(element)) };
        let deadline = Instant::now() + self.timeout;
        controls::tick(&self.shared(), &step, &meant.found, on, deadline).await?;
        self.noted(&meant, |it| if on { Step::Check(Tick(it)) } else { Step::Uncheck(Tick(it)) });
        self.acted(before, format!("{} {}", if on { "checked" } else { "unchecked" }, meant.told))
            .await
    }

    pub(super) async fn focus(&mut self, target: Target) -> Result<Said> {
        let meant = self.meant(&target).await?;
        let before = self.before().await?;
        let _: bool = self.call(&meant.found, FOCUS, &[]).await?;
        self.acted(before, format!("focused {}", meant.told)).await
    }

    pub(super) async fn scroll_to(&mut self, target: Target) -> Result<Said> {
        let meant = self.meant(&target).await?;
        let before = self.before().await?;
        pointer::scroll_into_view(&self.shared(), &meant.found).await?;
        self.acted(before, format!("scrolled to {}", meant.told)).await
    }

    pub(super) async fn scroll(&mut self, way: Way) -> Result<Said> {
        let before = self.before().await?;
        let shared = self.shared();
        let frame = shared.main_frame().await?;
        let to = match way {
            Way::Bottom => {
                pointer::scroll_to_bottom(&shared, &frame).await?;
                return self.acted(before, "scrolled to the bottom".to_owned()).await;
            }
            Way::Top => "top",
            Way::Up => "up",
            Way::Down => "down",
        };
        let _: bool = page::call(&shared.cdp, &frame, SCROLL, &[to.into()], page::PATIENCE).await?;
        self.acted(before, format!("scrolled {to}")).await
    }

    pub(super) async fn wait(&mut self, until: Until) -> Result<Said> {
        let begun = Instant::now();
        let wait = match until {
            Until::Passed(it) => {
                tokio::time::sleep(it.min(self.timeout)).await;
                return Ok("waited".to_owned().into());
            }
            Until::Text(it) => Wait::Text(it),
            Until::Selector(it) => Wait::Selector(it),
        };
        let step = Step::WaitFor(wait.clone());
        waiting::wait_for(&self.shared(), &step, &wait, begun + self.timeout).await?;
        self.note(step);
        Ok(format!("it was there after {} ms", begun.elapsed().as_millis()).into())
    }

    pub(super) async fn goto(&mut self, url: &str) -> Result<Said> {
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
        let closed =
            if hung { "; the page before it did not answer any more and was closed" } else { "" };
        Ok(Said {
            text: format!("{at} {}{closed}", quoted(&title)),
            effect: Some(effect),
            ..Said::default()
        })
    }

    pub(super) async fn history(&mut self, by: i64) -> Result<Said> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct History {
            current_index: i64,
            entries: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            id: i64,
            url: String,
        }
        let shared = self.shared();
        let session = shared.page()?.session;
        let history: History =
            shared.cdp.call(Some(&session), "Page.getNavigationHistory", json!({})).await?;
        let to =
            usize::try_from(history.current_index + by).ok().and_then(|it| history.entries.get(it));
        let Some(to) = to.filter(|it| it.url != "about:blank") else {
            return Err(Error::new(
                Code::StepFailed,
                "there is no such page in this context's history",
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

    pub(super) async fn reload(&mut self) -> Result<Said> {
        let shared = self.shared();
        let before = self.before().await?;
        let session = shared.page()?.session;
        let loads = before.loads;
        shared.cdp.run(Some(&session), "Page.reload", json!({})).await?;
        shared.until(Instant::now() + self.timeout, |it| it.loads != loads).await?;
        self.acted(before, "reloaded".to_owned()).await
    }
}
