//! Where the mouse reaches an element, looked at right before it acts, and what a press reached.
//!
//! The page may move under the mouse. So the first press of a click is judged once more when it arrives: one that would reach
//! another element is stopped before the page hears of it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    context_state::ContextInner,
    lookup::{self, FoundElement},
    page,
};
use commis_base::error::Result;

/// For each question to the page.
const PATIENCE: Duration = Duration::from_secs(5);
/// See the file. Of a press that is watched also how the element's document stands then: what changes from there on is seen by the watch.
const AIM: &str = concat!(
    "function (points, x, y, arm) {
  const out = (",
    include_str!("aim.js"),
    ").call(this, points, x, y, arm);
  return arm ? { ...out, stands: (",
    page::stands!(),
    ")() } : out;
}"
);
/// What a press came to. For `turn`, once what it sets off at once has begun, as `turn` of `page.rs` has it.
const VERDICT: &str = concat!(
    "function (ask) {
  const aim = globalThis.commisAim;
  if (!aim) return null;
  if (ask === 'peek') return aim.said();
  if (ask === 'end') return aim.end();
  const end = () => ({ ...aim.end(), stands: (",
    page::stands!(),
    ")() });
  return new Promise(done => (",
    page::turn!(),
    ")(aim.hasEffect(), () => done(end())));
}"
);
/// Brings it to the middle or an edge of what scrolls, where what lies over an edge leaves it free.
const ALIGN: &str = "function (block) {
  (this instanceof Element ? this : this.parentElement)?.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' });
  return true;
}";

/// Why no point of an element can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnreachableReason {
    #[serde(rename = "")]
    None,
    /// It is no longer in the document.
    Gone,
    /// It has no box.
    Unseen,
    /// It lies outside of the window, and nothing scrolls it there.
    Outside,
    /// An ancestor cuts it off.
    Clipped,
    /// Its style says that it takes no events of the mouse.
    Inert,
    /// Another element lies over it.
    Covered,
}

/// What a look at an element's points came to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HitTestResult {
    /// The point that reaches it, by its place among those given; negative where none does.
    pub at: i64,
    pub why: UnreachableReason,
    /// What is hit instead.
    pub over: String,
    /// A list that opened over it.
    pub popup: bool,
    pub disabled: bool,
    /// It is in a frame.
    pub framed: bool,
    /// `checked`, `not pressed`, `expanded`; empty for what is neither on nor off.
    pub state: String,
    /// How its document stands, where the press is watched.
    #[serde(default)]
    pub stands: Option<page::RawDocumentState>,
}

/// A point of an element, and the element as an object of its frame.
#[derive(Clone, Debug)]
pub struct PointerTarget {
    pub at: (f64, f64),
    pub object: String,
    /// As [`HitTestResult::state`].
    pub state: String,
    /// How its document stood when the press began to be watched.
    pub stands: Option<page::DocumentState>,
    /// It had to be scrolled to, or it moved meanwhile.
    pub moved: bool,
    pub framed: bool,
}

/// What a press came to.
#[derive(Debug, Default, Deserialize)]
pub struct PressResult {
    /// What it would have reached instead; nothing was done then.
    pub over: Option<String>,
    /// How the element's document stands then, for [`PressCheck::Turn`].
    #[serde(default)]
    pub stands: Option<page::RawDocumentState>,
}

/// Whether the press that follows is watched, and what counts as another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressWatch {
    No,
    /// Numbers in it may go on.
    Loosely,
    Strictly,
}

impl PressWatch {
    fn argument(self) -> Value {
        match self {
            Self::No => "".into(),
            Self::Loosely => "loose".into(),
            Self::Strictly => "strict".into(),
        }
    }
}

/// Looks at points of an element. `first`: where its first box begins. `None` where the element's document is going away.
pub async fn hit_test(
    shared: &ContextInner,
    (session, object): (&str, &str),
    points: &[[f64; 2]],
    first: [f64; 2],
    arm: PressWatch,
) -> Option<HitTestResult> {
    let arguments = [json!(points), first[0].into(), first[1].into(), arm.argument()];
    page::call_on_object(&shared.cdp, session, object, AIM, &arguments).await.ok()
}

/// When a press is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressCheck {
    /// Now, while the button is still held.
    Peek,
    /// Now; it is watched no more.
    End,
    /// Once what it sets off at once has begun; it is watched no more.
    Turn,
}

impl PressCheck {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Peek => "peek",
            Self::End => "end",
            Self::Turn => "turn",
        }
    }
}

/// What came of the press that was watched; `None` where the page has gone on, or is busy for longer than `patience`.
pub async fn verdict(
    shared: &ContextInner,
    found: &FoundElement,
    aim: &PointerTarget,
    ask: PressCheck,
    patience: Duration,
) -> Option<PressResult> {
    let arguments = [ask.as_str().into()];
    let said = page::call_on_object::<Option<PressResult>>(
        &shared.cdp,
        &found.session,
        &aim.object,
        VERDICT,
        &arguments,
    );
    tokio::time::timeout(patience, said).await.ok()?.ok()?
}

/// What an element that is on or off is now, as [`HitTestResult::state`]; `None` where it is gone.
pub async fn state(
    shared: &ContextInner,
    found: &FoundElement,
    aim: &PointerTarget,
) -> Option<String> {
    let now =
        hit_test(shared, (&found.session, &aim.object), &[], [0.0, 0.0], PressWatch::No).await?;
    (now.why != UnreachableReason::Gone).then_some(now.state).filter(|it| !it.is_empty())
}

/// Scrolls it to the `center`, `start` or `end` of what scrolls.
pub async fn align(shared: &ContextInner, session: &str, object: &str, block: &str) {
    let _: Result<bool> =
        page::call_on_object(&shared.cdp, session, object, ALIGN, &[block.into()]).await;
}

/// Whether a point of a frame is that frame's in the whole page: what lies over the frame there is named.
pub async fn in_frames(
    shared: &ContextInner,
    found: &FoundElement,
    at: (f64, f64),
) -> Result<Option<String>> {
    let frames = shared.frames().await?;
    let own = frames.iter().find(|it| it.session == found.session && it.world == found.world);
    let Some(own) = own else { return Ok(None) };
    let sessions = shared.frame_sessions()?;
    let (mut session, mut id) = (own.session.clone(), own.id.clone());
    let (mut x, mut y) = at;
    let mut owner = None;
    // Each process' own part, then the one around it.
    for _ in 0..sessions.len() {
        let hit = node_at(shared, &session, (x, y)).await?;
        let fits = match (&hit, owner) {
            (Some(hit), Some(owner)) => hit.backend_node_id == owner,
            (Some(hit), None) => hit.frame_id == id,
            (None, _) => false,
        };
        if !fits {
            let Some(hit) = hit else { return Ok(Some("the edge of the window".to_owned())) };
            let node = json!({ "backendNodeId": hit.backend_node_id });
            let called = lookup::describe(shared, &session, node).await;
            let (role, name, _) = called.unwrap_or_default();
            return Ok(Some(format!("{role} {name:?}")));
        }
        if session == sessions[0] {
            return Ok(None);
        }
        // The frame that this process draws is an element of another's.
        let Some(root) = frames.iter().find(|it| it.session == session) else { return Ok(None) };
        id.clone_from(&root.id);
        let mut above = None;
        for it in sessions.iter().filter(|it| **it != session) {
            let params = json!({ "frameId": id });
            let reply = shared.cdp.send(Some(it), "DOM.getFrameOwner", params);
            if let Ok(FrameOwner { backend_node_id }) = reply.read(PATIENCE).await {
                above = Some((it.clone(), backend_node_id));
                break;
            }
        }
        let Some((outer, element)) = above else { return Ok(None) };
        let params = json!({ "backendNodeId": element });
        let reply = shared.cdp.send(Some(&outer), "DOM.getBoxModel", params);
        let Ok(BoxModelResult { model }) = reply.read(PATIENCE).await else { return Ok(None) };
        let &[left, top, ..] = model.content.as_slice() else { return Ok(None) };
        (x, y) = (x + left, y + top);
        (session, owner) = (outer, Some(element));
    }
    Ok(None)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameOwner {
    backend_node_id: i64,
}

#[derive(Deserialize)]
struct BoxModelResult {
    model: BoxModel,
}

#[derive(Deserialize)]
struct BoxModel {
    content: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HitNode {
    backend_node_id: i64,
    frame_id: String,
}

/// The node that a point of a session's window hits; frames of the same process are looked into.
async fn node_at(
    shared: &ContextInner,
    session: &str,
    (x, y): (f64, f64),
) -> Result<Option<HitNode>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metrics {
        css_layout_viewport: Viewport,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Viewport {
        page_x: f64,
        page_y: f64,
    }
    let metrics: Metrics =
        shared.cdp.call(Some(session), "Page.getLayoutMetrics", json!({})).await?;
    let Viewport { page_x, page_y } = metrics.css_layout_viewport;
    let whole = |it: f64| Value::from(it.round() as i64);
    let params = json!({ "x": whole(x + page_x), "y": whole(y + page_y) });
    let reply = shared.cdp.send(Some(session), "DOM.getNodeForLocation", params);
    Ok(reply.read::<HitNode>(PATIENCE).await.ok())
}
