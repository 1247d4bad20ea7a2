//! Hands that only read: nothing that may change something leaves or waits, hosts are not hurried, and pages that were seen are kept.

use std::{path::PathBuf, sync::Arc};

use futures::future::BoxFuture;
use url::Url;

use super::local_driver::LocalDriver;
use crate::{Daemon, principal::Principal};
use commis_agent::{Action, ActionResult, BrowserDriver, PageView};
use commis_artifacts::store::now;
use commis_base::error::{Code, Error, Result};
use commis_browser::paused_requests::{RequestDecision, RequestJudge};
use commis_model::Tool;
use commis_net::egress::limits::RateDecision;

/// Pages of one question that are remembered; the oldest go.
const PAGES: usize = 24;
/// Actions after which a page may ask its host for something.
const ASKS: &[&str] = &["goto", "back", "click", "press", "select"];

/// A page as it was seen.
#[derive(Clone, Debug)]
pub struct VisitedPage {
    pub view: PageView,
    /// RFC 3339.
    pub at: String,
}

pub struct ReadOnlyDriver {
    inner: LocalDriver,
    daemon: Arc<Daemon>,
    pub pages: Vec<VisitedPage>,
}

/// What would wait for a person does not leave.
fn reads(judge: RequestJudge) -> RequestJudge {
    Arc::new(move |it| match judge(it) {
        RequestDecision::Hold(why) => RequestDecision::Refuse(why),
        it => it,
    })
}

impl ReadOnlyDriver {
    pub fn new(
        daemon: &Arc<Daemon>,
        principal: &Principal,
        context: &str,
        judge: RequestJudge,
        folder: PathBuf,
    ) -> Self {
        let (of, principal) = (Arc::clone(daemon), principal.clone());
        let inner = LocalDriver::new(of, principal, context.to_owned(), reads(judge), folder);
        Self { inner, daemon: Arc::clone(daemon), pages: Vec::new() }
    }

    fn record_page(&mut self, view: &PageView) {
        if self.pages.iter().any(|it| it.view == *view) {
            return;
        }
        if self.pages.len() >= PAGES {
            self.pages.remove(0);
        }
        self.pages.push(VisitedPage { view: view.clone(), at: now() });
    }

    /// Waits for a turn at the host that the action leads to. Fails with `RATE_LIMITED`, which the model is told.
    async fn turn(&self, act: &Action, on: &str) -> Result<()> {
        if !ASKS.contains(&act.name.as_str()) {
            return Ok(());
        }
        let url = Url::parse(act.text("url").unwrap_or(on)).ok();
        let Some(host) = url.as_ref().and_then(Url::host_str) else { return Ok(()) };
        match self.daemon.runtime().caller.limits().take(host).await? {
            RateDecision::After(wait) => tokio::time::sleep(wait).await,
            RateDecision::Refused(wait) => {
                let what = format!(
                    "too many requests to {host:?}; the next is allowed in {} s",
                    wait.as_secs()
                );
                return Err(
                    Error::new(Code::RateLimited, what).hint("see [limits] in the settings")
                );
            }
        }
        Ok(())
    }
}

impl BrowserDriver for ReadOnlyDriver {
    fn tools(&self) -> Vec<Tool> {
        self.inner.tools()
    }

    fn act<'a>(&'a mut self, act: &'a Action, on: &'a str) -> BoxFuture<'a, Result<ActionResult>> {
        Box::pin(async move {
            self.turn(act, on).await?;
            let did = self.inner.act(act, on).await?;
            if act.name == "text"
                && let Some(it) = self.pages.last()
            {
                let view = PageView { content: did.text.clone(), ..it.view.clone() };
                self.record_page(&view);
            }
            Ok(did)
        })
    }

    fn snapshot(&mut self) -> BoxFuture<'_, Result<PageView>> {
        Box::pin(async move {
            let view = self.inner.snapshot().await?;
            self.record_page(&view);
            Ok(view)
        })
    }

    fn drawn(&mut self) -> BoxFuture<'_, Result<Option<String>>> {
        self.inner.drawn()
    }

    fn picture(&mut self) -> BoxFuture<'_, Result<Option<PathBuf>>> {
        // Nobody is asked anything.
        Box::pin(std::future::ready(Ok(None)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_browser::paused_requests::OutgoingRequest;

    #[test]
    fn what_would_wait_does_not_leave() {
        for (judged, expected) in [
            (RequestDecision::Go, RequestDecision::Go),
            (
                RequestDecision::Hold("it orders".into()),
                RequestDecision::Refuse("it orders".into()),
            ),
            (
                RequestDecision::Refuse("elsewhere".into()),
                RequestDecision::Refuse("elsewhere".into()),
            ),
        ] {
            let judge = reads(Arc::new(move |_| judged.clone()));
            let going = OutgoingRequest {
                method: "POST",
                url: "http://shop.test/orders",
                headers: &[],
                body: None,
                is_opaque: false,
                is_page: false,
                at: None,
                kind: "Fetch",
                follows_act: true,
                pressed: None,
                has_person: false,
            };
            assert_eq!(judge(&going), expected);
        }
    }
}
