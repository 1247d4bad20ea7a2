//! What a command means on the page as it is now: by a ref, by role and name, by a selector; and where the mouse reaches it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde_json::Value;

use super::{
    PageController, PreActState, QUIET, Target, single_element, snapshot,
    text_sanitizer::quoted,
    tree::{FrameTree, Item, ItemKind},
    volatile_text,
};
use crate::{
    aim::{PointerTarget, PressWatch},
    element::{Element, Locator},
    lookup::{self, FindResult, FoundElement},
    page::{self, Frame},
    plan::Step,
    pointer,
};
use commis_base::error::{Code, Error, Result};

/// An element that is named and not there is waited for so long, while the page is still being built,
const COMES: Duration = Duration::from_secs(3);
/// that is, until nothing has changed for so long; and looked for so often.
const BUILT: Duration = Duration::from_millis(300);
const AGAIN: Duration = Duration::from_millis(50);
/// Nodes of an accessibility tree from which on one of them is looked at alone.
const LARGE: usize = 1500;
/// Frames of a page of which each is asked whether anything of it has changed; and how long that may take.
pub(super) const STILL_FRAMES: usize = 8;
const STILL_PATIENCE: Duration = Duration::from_millis(250);
/// How often an element is looked at again before the mouse acts on it.
const LOOKS: usize = 4;

/// An element that a command means.
pub(super) struct ResolvedTarget {
    pub found: FoundElement,
    /// As the trail names it; `None` where nothing lasting does.
    pub element: Option<Element>,
    pub told: String,
    /// The element as an object of its frame, where it was looked up as one.
    pub object: Option<String>,
}

/// An element that the mouse is about to act on.
pub(super) struct ReachableTarget {
    pub meant: ResolvedTarget,
    pub step: Step,
    pub aim: PointerTarget,
    pub before: PreActState,
}

impl PageController {
    /// The element of a ref, where it is what it was; else the page says what became of it.
    pub(super) async fn unchanged(&self, n: u32) -> Result<Option<ResolvedTarget>> {
        let shared = self.shared();
        // Its document is most often still there.
        let (frames, object) = tokio::join!(shared.frames(), self.object_of(n));
        let frames = frames?;
        let resolved = |at: usize, item: &Item, nth: u32| {
            let nth = Some(nth).filter(|it| *it > 0);
            ResolvedTarget::new(&frames[at], item, nth, Some(format!("@e{n}")))
        };
        if let Some((at, item, nth)) = self.numbered_item(n, &frames, object.as_deref()).await {
            return Ok(Some(ResolvedTarget { object, ..resolved(at, item, nth) }));
        }
        let Some((at, item)) = self.unchanged_item(n, &frames).await else { return Ok(None) };
        let nth = if is_name(&item.name) {
            single_element::nth(&shared, &frames, &item).await
        } else {
            Some(0)
        };
        Ok(nth.map(|nth| resolved(at, &item, nth)))
    }

    /// Whether a ref's element is what it was when it was numbered. `false` says nothing of other targets.
    async fn is_still(&self, target: &Target) -> Result<bool> {
        let Target::Ref(n) = target else { return Ok(false) };
        let shared = self.shared();
        let (frames, object) = tokio::join!(shared.frames(), self.object_of(*n));
        let frames = frames?;
        Ok(self.numbered_item(*n, &frames, object.as_deref()).await.is_some()
            || self.unchanged_item(*n, &frames).await.is_some())
    }

    /// A ref's element as an object of the document in which it was found; `None` where that is gone.
    async fn object_of(&self, n: u32) -> Option<String> {
        let (session, world, backend) = self.refs.place(n)?;
        lookup::resolve(&self.shared(), &session, world, backend).await.ok()?
    }

    /// The frame and the element of a ref, and which of those that are called alike it is, as they were numbered: nothing of the page
    /// has changed since. `object`: the element, as [`Self::object_of`] found it.
    async fn numbered_item(
        &self,
        n: u32,
        frames: &[Frame],
        object: Option<&str>,
    ) -> Option<(usize, &Item, u32)> {
        let (item, nth, since) = self.refs.numbered(n).filter(|_| frames.len() <= STILL_FRAMES)?;
        let (at, _) = self.refs.at(n, frames)?;
        let (shared, frame, object) = (self.shared(), &frames[at], object?);
        let others = frames.iter().enumerate().filter(|(i, _)| *i != at);
        let others = join_all(others.map(|(_, it)| page::still_for(&shared.cdp, it)));
        let still = page::still_around(&shared.cdp, &frame.session, object, &item.name);
        let still = async { tokio::join!(still, others) };
        // A frame that is slow to answer is read with the rest.
        let (still, others) = tokio::time::timeout(STILL_PATIENCE, still).await.ok()?;
        // Taken after it was asked: what changed while it was asked counts.
        let since = since.elapsed();
        (still > since && others.into_iter().all(|it| it > since)).then_some((at, item, nth))
    }

    /// The frame and the element of a ref, where it is what it was; nothing else of the page is read. A small page is read whole as
    /// quickly.
    async fn unchanged_item(&self, n: u32, frames: &[Frame]) -> Option<(usize, Item)> {
        if self.nodes < LARGE {
            return None;
        }
        let (at, backend) = self.refs.at(n, frames)?;
        let item = single_element::item(&self.shared(), &frames[at], at, backend).await?;
        self.refs.is_unchanged(n, &item).then_some((at, item))
    }

    /// The element that is meant, noted where the act is kept.
    pub(super) async fn resolve_for_act(&mut self, target: &Target) -> Result<ResolvedTarget> {
        let meant = self.wait_for_target(target).await?;
        if let Some(it) = &mut self.shared().lock().holding {
            it.presses(meant.found.called.clone());
        }
        if self.keep.is_some() && self.touched.is_none() {
            self.touched = self.fingerprint_of(&meant.found).await?;
        }
        Ok(meant)
    }

    /// The element that is meant, as it is now. One that is named may come yet, where the page is still being built.
    pub(super) async fn wait_for_target(&mut self, target: &Target) -> Result<ResolvedTarget> {
        let until = Instant::now() + COMES;
        let mut built = false;
        loop {
            match self.sought(target).await? {
                Ok(it) => return Ok(it),
                Err(absent) if built || Instant::now() >= until => return Err(absent),
                Err(_) => built = self.is_built().await,
            }
            if !built {
                tokio::time::sleep(AGAIN).await;
            }
        }
    }

    /// Nothing is on its way to the page, and nothing of it has changed for a moment.
    pub(super) async fn is_built(&self) -> bool {
        let shared = self.shared();
        let idle = shared.is_held()
            || shared
                .lock()
                .recorder
                .as_ref()
                .is_none_or(|it| it.idle_in(QUIET, Instant::now()) == Some(Duration::ZERO));
        idle && shared.read_document_state().await.is_ok_and(|it| it.1.still >= BUILT)
    }

    /// The element that is meant, if the page has it now; the inner error says that nothing on it is called so.
    pub(super) async fn sought(
        &mut self,
        target: &Target,
    ) -> Result<std::result::Result<ResolvedTarget, Error>> {
        let meant = match target {
            Target::Ref(n) => {
                if let Some(it) = self.unchanged(*n).await? {
                    return Ok(Ok(it));
                }
                let (read, items) = self.read_items(false).await?;
                let item = self.refs.resolve(*n, &read, &items)?;
                resolved_from_item(&read, &items, item, Some(format!("@e{n}")))
            }
            Target::Like(n) => self.like(*n).await?,
            Target::At(it, _) => {
                let mut out = Box::pin(self.sought(it)).await?;
                if let Ok(it) = &mut out {
                    // A step names an element and no point of it.
                    it.element = None;
                }
                return Ok(out);
            }
            Target::Click(n) => {
                let (read, items) = self.read_items(true).await?;
                let item = self.clicks.resolve(*n, &read, &items)?;
                let mut out = resolved_from_item(&read, &items, item, Some(format!("@c{n}")));
                out.element = None;
                out
            }
            Target::Named { role, name, row } => {
                return self.resolve_named(role, name, row.as_ref()).await;
            }
            Target::Css(css) => return self.selected(css).await,
        };
        Ok(Ok(meant))
    }

    /// The one control of that role and name. As [`Self::sought`].
    async fn resolve_named(
        &mut self,
        role: &str,
        name: &str,
        row: Option<&String>,
    ) -> Result<std::result::Result<ResolvedTarget, Error>> {
        let (read, items) = self.read_items(false).await?;
        let fits = |it: &&Item| {
            it.what == ItemKind::Control
                && it.role.eq_ignore_ascii_case(role)
                && it.name == name
                && row.is_none_or(|row| it.row.as_ref() == Some(row))
        };
        let mut all: Vec<&Item> = items.iter().filter(fits).collect();
        if all.is_empty() {
            // As it was told, where a countdown or a price has gone on since.
            let same = |it: &&Item| {
                it.what == ItemKind::Control
                    && it.role.eq_ignore_ascii_case(role)
                    && volatile_text::same(name, &it.name)
                    && row.is_none_or(|row| {
                        it.row.as_ref().is_some_and(|now| volatile_text::same(row, now))
                    })
            };
            all.extend(items.iter().filter(same));
            all.retain(|it| volatile_text::is_alone(it, &items));
        }
        match all.as_slice() {
            [one] => Ok(Ok(resolved_from_item(&read, &items, one, None))),
            several => {
                let near =
                    |it: &&Item| it.what == ItemKind::Control && it.role.eq_ignore_ascii_case(role);
                let others: Vec<&Item> = items.iter().filter(near).collect();
                let listed = if several.is_empty() { &others[..] } else { several };
                let lines: Vec<String> = listed
                    .iter()
                    .take(8)
                    .map(|it| snapshot::line(it, self.refs.ref_of(&read, it), true))
                    .collect();
                let row = row.map(|it| format!(" in {}", quoted(it)));
                let told = format!("{role} {}{}", quoted(name), row.unwrap_or_default());
                let why = match several.len() {
                    0 => format!("nothing on the page is {told}"),
                    n => format!("{n} elements are {told}"),
                };
                let hint =
                    if lines.is_empty() { "take a snapshot".to_owned() } else { lines.join("; ") };
                let err = Error::new(Code::StepFailed, why).hint(hint);
                if several.is_empty() { Ok(Err(err)) } else { Err(err) }
            }
        }
    }

    /// The one element of that selector. As [`Self::sought`].
    async fn selected(&mut self, css: &str) -> Result<std::result::Result<ResolvedTarget, Error>> {
        let shared = self.shared();
        let frames = shared.frames().await?;
        let element = Element { by: Locator::Css(css.to_owned()), nth: None };
        match lookup::find(&shared, &frames, &element, &[]).await? {
            FindResult::Found(found) => {
                let told = format!("css={css}");
                Ok(Ok(ResolvedTarget { found, told, element: Some(element), object: None }))
            }
            FindResult::Several(lines) => {
                let why = format!("{} elements match {css:?}", lines.len());
                Err(Error::new(Code::StepFailed, why).hint("give a selector that only one matches"))
            }
            FindResult::Nothing => {
                let why = format!("{css:?} matches nothing");
                Ok(Err(Error::new(Code::StepFailed, why)))
            }
        }
    }

    /// The ref's element, or where that is another now the only one that is called as it was. The answer says so.
    pub(super) async fn like(&mut self, n: u32) -> Result<ResolvedTarget> {
        if let Some(it) = self.unchanged(n).await? {
            return Ok(it);
        }
        let (read, items) = self.read_items(false).await?;
        let stale = match self.refs.resolve(n, &read, &items) {
            Ok(item) => return Ok(resolved_from_item(&read, &items, item, Some(format!("@e{n}")))),
            Err(err) => err,
        };
        let Some(item) = self.refs.like(n, &items) else { return Err(stale) };
        let now = self.refs.ref_of(&read, item);
        Ok(resolved_from_item(&read, &items, item, Some(format!("@e{now} in place of @e{n},"))))
    }

    pub(super) async fn call<T: serde::de::DeserializeOwned>(
        &self,
        found: &FoundElement,
        snippet: &'static str,
        arguments: &[Value],
    ) -> Result<T> {
        let shared = self.shared();
        let object = lookup::resolve(&shared, &found.session, found.world, found.backend).await?;
        let object =
            object.ok_or_else(|| Error::new(Code::StepFailed, "the page removed the element"))?;
        page::call_on_object(&shared.cdp, &found.session, &object, snippet, arguments).await
    }

    /// Where the mouse reaches what is meant. Lists put other contents into their nodes where they are scrolled, and pages go on
    /// while they are slow: what is meant is looked at again then, and has to be the same element. From there on the press itself
    /// is watched.
    pub(super) async fn reached(
        &mut self,
        target: &Target,
        step: fn(Element) -> Step,
        arm: PressWatch,
    ) -> Result<ReachableTarget> {
        let deadline = Instant::now() + self.timeout;
        let mut looked = Instant::now();
        let mut meant = self.resolve_for_act(target).await?;
        for _ in 0..LOOKS {
            let step = step(meant.to_element());
            let how = (target.offset(), arm);
            let shared = self.shared();
            let mut aim = pointer::reach(&shared, &step, &meant.found, how, deadline).await?;
            let (before, still) = match aim.stands.take().filter(|_| !aim.framed) {
                Some(it) => (self.before_as(meant.found.world, &it), it.still),
                None => self.before_still().await?,
            };
            let is_fresh = !aim.moved && !aim.framed && still > looked.elapsed();
            if target.is_css() || is_fresh {
                return Ok(ReachableTarget { meant, step, aim, before });
            }
            looked = Instant::now();
            if self.is_still(target).await? {
                return Ok(ReachableTarget { meant, step, aim, before });
            }
            let now = self.resolve_for_act(target).await?;
            if now.is_same_element(&meant) {
                return Ok(ReachableTarget { meant: now, step, aim, before });
            }
            meant = now;
            if Instant::now() >= deadline {
                break;
            }
        }
        Err(Error::new(
            Code::StepFailed,
            format!("{} matches another element at each attempt", meant.told),
        )
        .hint("wait until the page stops moving"))
    }
}

/// One that was cut is no name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.ends_with('…')
}

pub(super) fn resolved_from_item(
    read: &[FrameTree],
    items: &[Item],
    item: &Item,
    by: Option<String>,
) -> ResolvedTarget {
    let alike =
        |it: &&Item| it.what == ItemKind::Control && it.role == item.role && it.name == item.name;
    let all: Vec<&Item> = items.iter().filter(alike).collect();
    let nth = all.iter().position(|it| it.backend == item.backend && it.frame == item.frame);
    let nth = nth.filter(|_| all.len() > 1).and_then(|it| u32::try_from(it + 1).ok());
    ResolvedTarget::new(&read[item.frame].frame, item, nth, by)
}

impl ResolvedTarget {
    /// For a step on it.
    pub(super) fn to_element(&self) -> Element {
        self.element.clone().unwrap_or_else(|| Element::with_name("element", &self.told))
    }

    /// Whether it is the same element.
    pub(super) fn is_same_element(&self, other: &Self) -> bool {
        let at = |it: &FoundElement| (Arc::clone(&it.session), it.world, it.backend);
        at(&self.found) == at(&other.found)
    }

    /// `nth`: where others are called alike.
    pub(super) fn new(frame: &Frame, item: &Item, nth: Option<u32>, by: Option<String>) -> Self {
        let element = is_name(&item.name)
            .then(|| Element { nth, ..Element::with_name(&item.role, &item.name) });
        let named = commis_redact::message(&snapshot::role_and_name(item));
        let told = by.map_or_else(|| named.clone(), |by| format!("{by} {named}"));
        let found = FoundElement {
            session: Arc::clone(&frame.session),
            world: frame.world,
            backend: item.backend,
            role: Some(item.role.clone()),
            name: Some(item.name.clone()),
            called: Some((item.role.clone(), item.name.clone())),
        };
        Self { found, element, told, object: None }
    }
}
