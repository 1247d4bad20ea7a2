//! What the script of [`user_actions`] and the browser tell of a page that a person is at.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::json;

use super::{
    cdp_event::Event,
    context_state::ContextInner,
    controls,
    element::Element,
    lookup::{self, FindResult},
    page::{self, RemoteObject},
    user_actions::{self, ElementKey, NameStatus},
};
use commis_artifacts::recording::Control;

const PATIENCE: Duration = Duration::from_secs(3);

/// Looks an element up by its number in the script's world.
const ELEMENT: &str = "function (n) { return globalThis.commisElement(n); }";

const IS_THERE: &str = "function () { return this.isConnected; }";

/// Commands that let the script of [`user_actions`] run in every document of a session.
pub fn set_up(shared: &ContextInner, session: &str) {
    // Without it, calls of the binding are not told.
    shared.cdp.post(Some(session), "Runtime.enable", json!({}));
    let binding =
        json!({ "name": user_actions::BINDING, "executionContextName": user_actions::WORLD });
    shared.cdp.post(Some(session), "Runtime.addBinding", binding);
    let script = json!({ "source": user_actions::SCRIPT, "worldName": user_actions::WORLD });
    shared.cdp.post(Some(session), "Page.addScriptToEvaluateOnNewDocument", script);
}

/// A message of the script.
pub fn called(shared: &Arc<ContextInner>, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct BindingCalled {
        name: String,
        payload: String,
        execution_context_id: i64,
    }
    let (Some(session), Some(call)) = (&event.session, event.read::<BindingCalled>()) else {
        return;
    };
    let key = {
        let mut state = shared.lock();
        let ours = call.name == user_actions::BINDING && state.targets.contains_key(session);
        let Some(watch) = state.watch.as_mut().filter(|_| ours) else { return };
        watch.take(session, call.execution_context_id, &call.payload, event.at)
    };
    if let Some(key) = key {
        tokio::spawn(read_name(Arc::clone(shared), key));
    }
}

/// Asks the browser what it calls an element, and whether steps would find this one by it.
async fn read_name(shared: Arc<ContextInner>, key: ElementKey) {
    let (called, control) = describe(&shared, &key).await.unwrap_or((NameStatus::Unknown, None));
    if let Some(watch) = &mut shared.lock().watch {
        watch.call(&key, called, control);
    }
    shared.news.notify_waiters();
}

async fn describe(
    shared: &ContextInner,
    (session, world, number): &ElementKey,
) -> Option<(NameStatus, Option<Control>)> {
    #[derive(Deserialize)]
    struct CallFunctionResult {
        result: RemoteObject,
    }
    let params = json!({
        "functionDeclaration": ELEMENT,
        "executionContextId": world,
        "arguments": [{ "value": number }],
    });
    let reply = shared.cdp.send(Some(session), "Runtime.callFunctionOn", params);
    let object = reply.read::<CallFunctionResult>(PATIENCE).await.ok()?.result.object_id?;
    let control = controls::read_object(shared, session, &object).await;
    let node = json!({ "objectId": object });
    let (role, name, backend) = lookup::describe(shared, session, node).await?;
    let name: String = name.chars().take(200).collect();
    if name.is_empty() && !lookup::is_interactive(&role) {
        return Some((NameStatus::Unknown, control));
    }
    if matches!(&*role, "" | "none" | "generic" | "RootWebArea") {
        return Some((NameStatus::Unsure { name }, control));
    }
    let frames = shared.frames().await.ok()?;
    let found = lookup::find(shared, &frames, &Element::with_name(&role, &name), &[]).await.ok()?;
    let another = match found {
        FindResult::Found(it) => it.backend != backend || it.session != *session,
        FindResult::Several(_) => true,
        FindResult::Nothing => false,
    };
    // In a page that has gone on meanwhile, who else is called so says nothing.
    let other = another
        && page::call_on_object(&shared.cdp, session, &object, IS_THERE, &[])
            .await
            .unwrap_or(false);
    let params = json!({ "objectId": object });
    shared.cdp.post(Some(session), "Runtime.releaseObject", params);
    let called = if other { NameStatus::Unsure { name } } else { NameStatus::Named { role, name } };
    Some((called, control))
}

/// The page is about to go somewhere, by itself or by the address bar.
pub fn navigating(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct FrameStartedNavigating {
        frame_id: String,
        url: String,
        navigation_type: Option<String>,
    }
    let mut state = shared.lock();
    let Some(going) = event.read::<FrameStartedNavigating>() else { return };
    if state.page.as_ref().is_none_or(|it| it.target != going.frame_id) {
        return;
    }
    let Some(watch) = &mut state.watch else { return };
    match going.navigation_type {
        Some(kind) => watch.navigating(&going.url, &kind, event.at),
        None => watch.note_page_navigation(going.url),
    }
}

/// The page has another document, or calls this one something else.
pub fn navigated(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NavigationEvent {
        frame: Option<Frame>,
        frame_id: Option<String>,
        url: Option<String>,
    }
    #[derive(Deserialize)]
    struct Frame {
        id: String,
        url: String,
    }
    let Some(it) = event.read::<NavigationEvent>() else { return };
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
