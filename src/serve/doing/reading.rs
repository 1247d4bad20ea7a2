//! Hands that only read: nothing that may change something leaves or waits, hosts are not hurried, and pages that were seen are kept.

use std::{path::PathBuf, sync::Arc};

use futures::future::BoxFuture;
use url::Url;

use super::hands::OwnHands;
use crate::{Daemon, principal::Principal};
use commis_agent::{Act, Did, Hands, Seen};
use commis_artifacts::store::now;
use commis_base::error::{Code, Error, Result};
use commis_browser::held::{Judge, Judged};
use commis_model::Tool;
use commis_net::egress::limits::Turn;

/// Pages of one question that are remembered; the oldest go.
const PAGES: usize = 24;
/// Actions after which a page may ask its host for something.
const ASKS: &[&str] = &["goto", "back", "click", "press", "select"];

/// A page as it was seen.
#[derive(Clone, Debug)]
pub struct Page {
    pub seen: Seen,
    /// RFC 3339.
    pub at: String,
}

pub struct Reading {
    inner: OwnHands,
    daemon: Arc<Daemon>,
    pub pages: Vec<Page>,
}

/// What would wait for a person does not leave.
fn reads(judge: Judge) -> Judge {
    Arc::new(move |it| match judge(it) {
        Judged::Hold(why) => Judged::Refuse(why),
        it => it,
    })
}

impl Reading {
    pub fn new(
        daemon: &Arc<Daemon>,
        who: &Principal,
        context: &str,
        judge: Judge,
        folder: PathBuf,
    ) -> Self {
        let (of, who) = (Arc::clone(daemon), who.clone());
        let inner = OwnHands::new(of, who, context.to_owned(), reads(judge), folder);
        Self { inner, daemon: Arc::clone(daemon), pages: Vec::new() }
    }

    fn saw(&mut self, seen: &Seen) {
        if self.pages.iter().any(|it| it.seen == *seen) {
            return;
        }
        if self.pages.len() >= PAGES {
            self.pages.remove(0);
        }
        self.pages.push(Page { seen: seen.clone(), at: now() });
    }

    /// Waits for a turn at the host that the action leads to. Fails with `RATE_LIMITED`, which the model is told.
    async fn turn(&self, act: &Act, on: &str) -> Result<()> {
        if !ASKS.contains(&act.name.as_str()) {
            return Ok(());
        }
        let url = Url::parse(act.text("url").unwrap_or(on)).ok();
        let Some(host) = url.as_ref().and_then(Url::host_str) else { return Ok(()) };
        match self.daemon.world().caller.limits().take(host).await? {
            Turn::After(wait) => tokio::time::sleep(wait).await,
            Turn::Refused(wait) => {
                let what =
                    format!("{host:?} was asked too often; it rests for {} s", wait.as_secs());
                return Err(
                    Error::new(Code::RateLimited, what).hint("see `limits` in the settings")
                );
            }
        }
        Ok(())
    }
}

impl Hands for Reading {
    fn tools(&self) -> Vec<Tool> {
        self.inner.tools()
    }

    fn act<'a>(&'a mut self, act: &'a Act, on: &'a str) -> BoxFuture<'a, Result<Did>> {
        Box::pin(async move {
            self.turn(act, on).await?;
            let did = self.inner.act(act, on).await?;
            if act.name == "text"
                && let Some(it) = self.pages.last()
            {
                let seen = Seen { content: did.text.clone(), ..it.seen.clone() };
                self.saw(&seen);
            }
            Ok(did)
        })
    }

    fn look(&mut self) -> BoxFuture<'_, Result<Seen>> {
        Box::pin(async move {
            let seen = self.inner.look().await?;
            self.saw(&seen);
            Ok(seen)
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
    use commis_browser::held::Going;

    #[test]
    fn what_would_wait_does_not_leave() {
        for (judged, expected) in [
            (Judged::Go, Judged::Go),
            (Judged::Hold("it orders".into()), Judged::Refuse("it orders".into())),
            (Judged::Refuse("elsewhere".into()), Judged::Refuse("elsewhere".into())),
        ] {
            let judge = reads(Arc::new(move |_| judged.clone()));
            let going = Going {
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
