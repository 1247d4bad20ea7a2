//! What a session looks like when one of its steps fails: what is around, a picture, and what would explain it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::json;

use super::{
    bodies,
    context_state::{ContextInner, ContextState},
    locator_diagnostics, page,
    plan::{Plan, Step, Wait},
    recorder::Recorder,
    typed_secrets,
};
use commis_artifacts::recording::{BodyStatus, Driver};
use commis_base::error::{Code, Error};
use commis_redact::raw::{RawBody, RawExchange, RawFailure, RawPage, RawRecording};

/// A page that answers no more is not waited for longer, all questions together.
const PATIENCE: Duration = Duration::from_secs(12);
/// For bodies that are still being read; what they hold tells secrets in what the page shows.
const READ: Duration = Duration::from_secs(1);
/// For what the browser kept of the console to be told.
const CONSOLE: Duration = Duration::from_millis(150);
const PICTURE: Duration = Duration::from_secs(5);
/// Of a window of 800 by 600 pixels, a picture is far below.
const MAX_PICTURE: usize = 4 << 20;

/// Blackens fields for secrets, for a page that is done with. How many there were.
const MASK: &str = "function () {
  const roots = [document];
  for (let i = 0; i < roots.length; i++)
    for (const it of roots[i].querySelectorAll('*')) if (it.shadowRoot && roots.length < 5000) roots.push(it.shadowRoot);
  const secret = it => it.type === 'password' || /password|one-time-code|cc-/i.test(it.autocomplete ?? '')
    || /passw|pwd|secret|token|otp|api.?key|cvc|cvv|\\bpin\\b/i.test([it.name, it.id, it.getAttribute('aria-label'), it.placeholder].join(' '));
  const black = { filter: 'brightness(0)', background: '#000', color: '#000', '-webkit-text-fill-color': '#000', 'text-shadow': 'none', transition: 'none' };
  const all = roots.flatMap(it => Array.from(it.querySelectorAll('input,textarea'))).filter(secret);
  for (const it of all) for (const [name, value] of Object.entries(black)) it.style.setProperty(name, value, 'important');
  return all.length;
}";

/// The step that failed.
pub struct FailedStep<'a> {
    pub plan: &'a Plan,
    /// Its place, from 1; 0 is the page being opened.
    pub n: usize,
    pub step: &'a Step,
    pub waited: Duration,
    pub begun: Instant,
}

/// Looks at everything, for a dozen seconds at most, and takes the recorder. Of a page that is gone there is what was recorded.
pub async fn see(
    shared: &Arc<ContextInner>,
    failed: FailedStep<'_>,
    error: &Error,
    producer: &str,
) -> RawFailure {
    let FailedStep { plan, n, step, waited, begun } = failed;
    let deadline = (Instant::now() + PATIENCE).into();
    bodies::hurry(shared);
    let around = shared.lock().around.take();
    let looked = async {
        let around = match around {
            Some(it) => it,
            None => locator_diagnostics::around(shared, step).await,
        };
        let read = |it: &ContextState| it.recorder.as_ref().is_none_or(Recorder::has_read_all);
        let _ = shared.until(Instant::now() + READ, read).await;
        around
    };
    let around = tokio::time::timeout_at(deadline, looked).await.unwrap_or_default();
    let console = tokio::time::timeout_at(deadline, console(shared)).await.unwrap_or_default();
    let page = tokio::time::timeout_at(deadline, read_page(shared)).await.unwrap_or_default();
    let picture = tokio::time::timeout_at(deadline, picture(shared)).await;
    let picture = picture.unwrap_or_else(|_| Err("the page does not answer".to_owned()));
    let (recorder, dialogs, popup, asked) = {
        let mut state = shared.lock();
        (state.recorder.take(), state.dialogs.clone(), state.popup.clone(), state.asked.clone())
    };
    let status =
        recorder.as_ref().and_then(|it| it.document()?.response.as_ref().map(|it| it.status));
    let (actions, exchanges) = recorder.map(Recorder::finish).unwrap_or_default();
    let blocked = shared.blocked();
    let mut causes = around.causes;
    causes.extend(elsewhere(asked.as_deref(), &page));
    if let Step::WaitFor(Wait::Text(wanted)) = step
        && let Some(it) = locator_diagnostics::line(wanted, &page.visible_text)
    {
        causes.push(format!("the page shows {it:?}, which is nearly that"));
    }
    // Else the error itself says so, or the answer is the proxy's.
    let loaded = error.code() == Code::StepFailed;
    if let Some(status) = status.filter(|it| *it >= 400 && loaded) {
        causes.push(format!("the page itself was answered with {status}"));
    }
    causes.extend(dialogs.iter().filter(|it| it.ends_with("dismissed")).map(|it| {
        format!("the page asked in a dialog: {it}; `dialog: accept` before the step that causes it answers otherwise")
    }));
    if let Some(url) = popup {
        causes.push(format!("a popup to {url} was closed; navigate there instead"));
    }
    if let Some(it) = blocked.first() {
        let more = blocked.len() - 1;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        causes.push(format!("the policy refused {} ({}: {}){more}", it.url, it.code, it.reason));
    }
    causes.extend(exchanges.iter().filter(|_| loaded).filter_map(trouble).take(3));
    if let Some(it) = console.iter().find(|it| it.starts_with("exception: ")) {
        causes.push(format!("a script of the page failed: {it}"));
    }
    let secrets = typed_secrets::sent_parts(&plan.secrets, &exchanges);
    let session = RawRecording {
        task: plan.task.clone(),
        url: plan.url.clone(),
        driver: Driver::Steps,
        typed: plan.typed.clone(),
        actions,
        final_answer: None,
        page,
        exchanges,
        blocked,
        secrets,
        notes: Vec::new(),
        duration_ms: begun.elapsed().as_millis() as u64,
        producer: producer.to_owned(),
    };
    RawFailure {
        session,
        step: n as u32,
        steps: plan.steps.len() as u32,
        what: step.describe(),
        waited_ms: waited.as_millis() as u64,
        code: error.code(),
        error: error.to_string(),
        hint: error.hint_text().map(str::to_owned),
        causes,
        elements: around.elements,
        console,
        dialogs,
        drawn: around.drawn,
        picture,
    }
}

/// The page as it is, and the context's cookies; empty where it cannot be read.
pub async fn read_page(shared: &ContextInner) -> RawPage {
    let frames = shared.frames().await.unwrap_or_default();
    let cookies = page::cookies(&shared.cdp, &shared.id);
    let (mut page, cookies) = tokio::join!(page::summary(&shared.cdp, &frames), cookies);
    let cookies = cookies.unwrap_or_default().into_iter();
    page.cookies = cookies.map(|it| (it.name, it.value)).collect();
    page
}

/// The browser keeps what pages write, and tells it to whoever begins to listen: so nobody listens while all is well.
pub async fn console(shared: &ContextInner) -> Vec<String> {
    shared.lock().console = Some(Vec::new());
    let sessions = shared.frame_sessions().unwrap_or_default();
    let each = |method: &'static str| {
        let send = |it: &Arc<str>| shared.cdp.send(Some(it), method, json!({}));
        sessions.iter().map(send).collect::<Vec<_>>()
    };
    for reply in each("Runtime.enable").into_iter().chain(each("Log.enable")) {
        let _ = reply.raw(page::PATIENCE).await;
    }
    let _ = shared.until(Instant::now() + CONSOLE, |_| false).await;
    drop((each("Runtime.disable"), each("Log.disable")));
    shared.lock().console.take().unwrap_or_default()
}

/// The page's window as a PNG, or why there is none.
async fn picture(shared: &ContextInner) -> Result<Vec<u8>, String> {
    #[derive(Deserialize)]
    struct CaptureScreenshotResult {
        data: String,
    }
    if shared.lock().typed_secret {
        return Err("a secret was typed in this session".to_owned());
    }
    let gone = |_: Error| "the page does not answer".to_owned();
    let page = shared.page().map_err(gone)?;
    for frame in shared.frames().await.map_err(gone)? {
        let masked = page::call::<u32>(&shared.cdp, &frame, MASK, &[], page::PATIENCE).await;
        masked
            .map_err(|_| "fields for secrets could not be blackened in every frame".to_owned())?;
    }
    let params = json!({ "format": "png", "captureBeyondViewport": false });
    let reply = shared.cdp.send(Some(&page.session), "Page.captureScreenshot", params);
    let captured: CaptureScreenshotResult = reply.read(PICTURE).await.map_err(gone)?;
    let png =
        STANDARD.decode(captured.data).map_err(|_| "the browser sent no picture".to_owned())?;
    if png.len() > MAX_PICTURE {
        return Err(format!("it would be {} bytes", png.len()));
    }
    Ok(png)
}

/// The page is not the one that was asked for.
fn elsewhere(asked: Option<&str>, page: &RawPage) -> Option<String> {
    let asked = url::Url::parse(asked?).ok()?;
    let now = url::Url::parse(&page.url).ok()?;
    let moved = (asked.host_str(), asked.path()) != (now.host_str(), now.path());
    let login = "asks for a password: it may want a login";
    match (moved, page.has_password_field) {
        (true, true) => {
            Some(format!("the page is {now}, where {asked} was opened last, and {login}"))
        }
        (true, false) => Some(format!("the page is {now}, where {asked} was opened last")),
        (false, true) => Some(format!("the page {login}")),
        (false, false) => None,
    }
}

/// A request that did not come to its end, or that its server refused.
fn trouble(it: &RawExchange) -> Option<String> {
    let how = match (&it.body, it.status) {
        (_, Some(status)) if status >= 400 => format!("was answered with {status}"),
        (RawBody::Missing(BodyStatus::Inflight), _) => "has not ended".to_owned(),
        (RawBody::Missing(BodyStatus::Failed), None) => "failed".to_owned(),
        _ => return None,
    };
    Some(format!("{} {} {how}", it.method, it.url))
}
