//! Runs that wait for a person's approval: their page stays open with the request held in it; one approval lets that one request go.

use std::{sync::Arc, time::Duration};

use sha2::{Digest as _, Sha256};

use super::{OperationOutput, TaskResult, drivers::RunDriver, suspended::SuspendedRun};
use crate::{Daemon, channels, operations::OperationContext, principal::Principal};
use commis_agent::{
    Action, ApprovalDraft, ApprovalRequest, Became, BrowserDriver as _, Channel, Decider, Element,
    LASTS_MS, PageInfo, PageView, PausedRequest, ReleaseSnapshot, RenderOutcome, amounts, digest,
    find_by_ref, lines, render, runs::RunStatus,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::hex,
};
use commis_state::now_ms;

/// Roles of what a person fills in or sets.
const FIELDS: &[&str] = &[
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "radio",
    "spinbutton",
    "slider",
    "switch",
    "listbox",
];

/// What waits in a page that is gone is told to be gone, before anybody approves it.
pub fn drop_gone_runs(daemon: &Daemon) {
    let gone: Vec<SuspendedRun> = {
        let mut all = daemon.suspended_runs.lock();
        let is_there = |it: &SuspendedRun| {
            let paused = |number: u64| {
                daemon.page_sessions.has_held_request(&it.principal, &it.context, number)
            };
            it.external_browser.is_some() || it.waits.iter().all(|it| paused(it.1))
        };
        all.extract_if(.., |it| !is_there(it)).collect()
    };
    for it in gone {
        for (id, _) in &it.waits {
            // Where it was settled meanwhile, that stands.
            let _ = daemon.suspended_runs.approvals.stale(id, "the page was closed", now_ms());
        }
        it.journal.closes(RunStatus::NotDone, "approval_stale");
        close(daemon, &it);
    }
}

/// Whose approvals they may see: their own, or all.
pub fn owner_filter(principal: &Principal) -> Option<&str> {
    principal.scopes.is_some().then_some(principal.id.as_str())
}

fn decider(principal: &Principal) -> Decider {
    let channel = match (principal.is_dashboard, &principal.scopes) {
        (true, _) => Channel::Dashboard,
        (false, None) => Channel::Terminal,
        (false, Some(_)) => Channel::Rest,
    };
    let (channel, name) = principal.by_way.clone().unwrap_or((channel, principal.id.clone()));
    Decider { who: name, channel, at_ms: now_ms() }
}

/// What of a page must be as it was shown when its request is let go: amounts, what is filled in, headings. A clock may go on.
fn matters(it: &PageView) -> String {
    let mut hash = Sha256::new();
    for raw in it.content.lines() {
        let Some(line) = lines(raw).into_iter().next() else { continue };
        let is_field = FIELDS.contains(&line.role);
        if is_field || line.role == "heading" || !amounts(raw).is_empty() {
            // A ref may be given anew.
            let told =
                format!("{} {:?} {}", line.role, line.name, if is_field { line.rest } else { "" });
            hash.update((told.len() as u64).to_be_bytes());
            hash.update(told.as_bytes());
        }
    }
    hex(&hash.finalize())
}

fn page(it: &PageView) -> PageInfo {
    PageInfo { url: it.url.clone(), title: it.title.clone(), digest: matters(it) }
}

/// What an act was done to, as the page called it.
fn element(act: &Action, view: &PageView) -> Option<Element> {
    let target = act.text("target").or_else(|| act.text("ref"))?;
    let line = find_by_ref(&view.content, target).unwrap_or(target);
    let line = lines(line).into_iter().next().filter(|it| it.role != "text")?;
    Some(Element { role: line.role.to_owned(), name: line.name })
}

/// Lets a run wait with its requests. The approvals that they wait for, and what is wrong with those that nobody can approve.
pub async fn suspend(
    daemon: &Arc<Daemon>,
    mut driver: RunDriver,
    inner: SuspendedRun,
    paused: Vec<PausedRequest>,
) -> Result<(Vec<ApprovalRequest>, Vec<String>)> {
    let SuspendedRun { agent_run, principal, run, .. } = &inner;
    let view = driver.snapshot().await.map_err(|err| {
        Error::new(Code::ApprovalStale, "the page of the request does not respond").source(err)
    })?;
    let picture = driver.picture().await.unwrap_or_default();
    let pressed = agent_run.last().and_then(|(act, view)| element(act, view));
    let (mut out, mut unfit, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for mut it in paused {
        // As late as may be: pages write cookies while they settle.
        let number = it.id.parse().unwrap_or_default();
        if let Ok(Some(now)) = driver.held_request(daemon, &inner, number).await {
            it.cookies = now.cookies;
        }
        let told = format!("{} {}", it.method, it.url);
        let request = match render(&it, Some(agent_run.task_policy().origins())) {
            RenderOutcome::Whole(shown) => shown,
            RenderOutcome::TooLarge(what) | RenderOutcome::Opaque(what) => {
                unfit.push(format!(
                    "{told} cannot be approved, because it cannot be shown completely: {what}"
                ));
                continue;
            }
        };
        let mut sums = amounts(&request.text());
        if let Err(why) = agent_run.task_policy().permits(&it, &sums, inner.sent) {
            unfit.push(format!("{told} cannot be approved: {why}"));
            continue;
        }
        sums.extend(amounts(&view.content));
        sums.dedup();
        sums.truncate(20);
        let draft = ApprovalDraft {
            principal: principal.id.clone(),
            run: run.clone(),
            request,
            page: page(&view),
            element: pressed.clone(),
            amounts: sums,
            picture: picture.clone(),
            history: agent_run.log().to_vec(),
        };
        let pending = daemon.suspended_runs.approvals.add(draft, now_ms())?;
        waits.push((pending.id.clone(), it.id.parse().unwrap_or_default()));
        out.push(pending);
    }
    if out.is_empty() {
        return Ok((out, unfit));
    }
    let external_browser = driver.left_open();
    // Nobody waits for it longer than it can be approved.
    let (of, id) = (Arc::clone(daemon), waits[0].0.clone());
    daemon.suspended_runs.lock().push(SuspendedRun { waits, external_browser, ..inner });
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(LASTS_MS as u64)).await;
        if let Some(it) = of.suspended_runs.take(&id) {
            it.journal.closes(RunStatus::NotDone, "approval_expired");
            close(&of, &it);
        }
        // What is on disk says so by itself.
        let _ = of.suspended_runs.approvals.recover(now_ms());
        of.channels.decided();
    });
    // Whoever is told may answer at once.
    for it in &out {
        channels::notify(daemon, it);
    }
    Ok((out, unfit))
}

/// The page goes, and what it holds with it.
fn close(daemon: &Daemon, it: &SuspendedRun) {
    daemon.page_sessions.close(&it.principal, &it.context);
}

/// A person said no. Fails as [`Approvals::reject`] does.
pub fn reject(cx: &OperationContext, id: &str) -> Result<ApprovalRequest> {
    let daemon = &cx.daemon;
    let it = daemon.suspended_runs.approvals.reject(
        id,
        owner_filter(&cx.principal),
        decider(&cx.principal),
    )?;
    if let Some(parked) = daemon.suspended_runs.take(id) {
        for (other, _) in parked.waits.iter().filter(|it| it.0 != id) {
            // They were of the same page, which goes.
            let _ = daemon.suspended_runs.approvals.stale(other, "the page was closed", now_ms());
        }
        parked.journal.closes(RunStatus::NotDone, "human_rejected");
        close(daemon, &parked);
    }
    daemon.channels.decided();
    Ok(it)
}

/// A person approves what they were shown, by its digest; that one request goes, and the run goes on. Fails with `APPROVAL_NOT_FOUND`,
/// `APPROVAL_STALE`, `APPROVAL_EXPIRED`, `APPROVAL_SETTLED`.
pub async fn approve(cx: &OperationContext, id: &str, shown: &str) -> OperationOutput<TaskResult> {
    let daemon = &cx.daemon;
    let approvals = &daemon.suspended_runs.approvals;
    approvals.approve(id, shown, owner_filter(&cx.principal), decider(&cx.principal))?;
    let gone = || Error::new(Code::ApprovalStale, "the run of the request has ended");
    let Some(mut inner) = daemon.suspended_runs.take(id) else {
        daemon.channels.decided();
        approvals.stale(id, "the run of the request has ended", now_ms())?;
        return Err(gone().into());
    };
    let number = inner.waits.iter().find(|it| it.0 == id).map(|it| it.1).unwrap_or_default();
    for (other, _) in inner.waits.iter().filter(|it| it.0 != id) {
        let _ = approvals.stale(other, "another request of its page was sent", now_ms());
    }
    let mut driver = RunDriver::reattach(daemon, &mut inner);
    let told = release(daemon, &mut driver, &inner, (id, number)).await;
    daemon.channels.decided();
    let told =
        told.inspect_err(|err| inner.journal.closes(RunStatus::NotDone, err.code().as_str()))?;
    // Neither the model nor the page goes on while something else waits.
    let more = driver.all_waiting(daemon, &inner).await;
    super::goes_on(cx, driver, inner, &told, more).await
}

/// Looks once more, writes down that it goes, and lets it go. What became of it, in words for the model.
async fn release(
    daemon: &Arc<Daemon>,
    driver: &mut RunDriver,
    inner: &SuspendedRun,
    (id, number): (&str, u64),
) -> Result<String> {
    let approvals = &daemon.suspended_runs.approvals;
    let view = driver.snapshot().await.inspect_err(|_| {
        let _ = approvals.stale(id, "the page does not answer", now_ms());
    })?;
    let now = driver.held_request(daemon, inner, number).await?;
    let Some(now) = now else {
        approvals.stale(id, "the request no longer waits", now_ms())?;
        return Err(Error::new(Code::ApprovalStale, "the request no longer waits"));
    };
    // The act that led to it was done on the page before.
    let pressed = inner.agent_run.last().and_then(|(act, view)| element(act, view));
    let again = ReleaseSnapshot { digest: digest(&now), page: page(&view), element: pressed };
    approvals.releasing(id, again, now_ms())?;
    let left = driver.let_leave(daemon, inner, number).await;
    let (became, told) = match left {
        Ok((told, status)) => (status.map_or(Became::Unclear, Became::Answered), told),
        Err(err) if err.code() == Code::ApprovalStale => {
            approvals.settled(id, Became::Failed(err.to_string()), now_ms())?;
            return Err(err);
        }
        Err(err) => (Became::Unclear, err.to_string()),
    };
    approvals.settled(id, became, now_ms())?;
    Ok(format!("A person approved the request and it was sent once. {told}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn view(content: &str) -> PageView {
        PageView { url: "http://a.test/".into(), title: "T".into(), content: content.into() }
    }

    #[test]
    fn what_was_pressed_is_told_as_the_page_calls_it() {
        let page = view(
            "heading \"Order\"\n@e4 textbox \"Quantity\" = \"2\"\n  @e12 button \"Place order\" in \"Kettle\"",
        );
        let act = |target: &str| Action {
            name: "click".into(),
            arguments: Map::from_iter([("target".to_owned(), json!(target))]),
        };
        let told = |target: &str| element(&act(target), &page).map(|it| (it.role, it.name));
        let order = Some(("button".to_owned(), "place order".to_owned()));
        assert_eq!(told("@e12"), order);
        assert_eq!(told("button \"Place order\""), order);
        assert_eq!(told("@e1"), None);
    }

    #[test]
    fn a_clock_may_go_on_and_a_total_may_not() {
        let page = |total: &str, time: &str, quantity: &str| {
            matters(&view(&format!(
                "heading \"Order\"\ntext \"{time}\"\n@e4 textbox \"Quantity\" = \"{quantity}\"\ntext \"Total {total}\""
            )))
        };
        let was = page("€34.94", "12:01:07", "2");
        assert_eq!(was, page("€34.94", "12:01:08", "2"));
        assert_ne!(was, page("€94.34", "12:01:07", "2"));
        assert_ne!(was, page("€34.94", "12:01:07", "3"));
        assert_ne!(page("10.00 EUR", "", "2"), page("999.00 EUR", "", "2"));
    }
}
