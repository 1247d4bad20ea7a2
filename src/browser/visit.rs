//! Whose context it is: at a host of the user's own, or, like nearly all, at none. Decided once, before its first page.
//!
//! What makes a context at such a host safe is what is not in it: every document, the page itself and each frame, is of that
//! host. So whoever asks for anything there, by whatever way (a fetch, a worker, a WebSocket that interception never sees), is a
//! document of that host. Public hosts may be asked for all else, and may not redirect back.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    artifacts::recording::TargetKind,
    egress::{EgressPolicy, SafeUrl},
    error::{Code, Error, Result},
};

/// Ids of requests that are kept, the last ones.
const MAX_KNOWN: usize = 10_000;

pub struct Visit {
    policy: Arc<EgressPolicy>,
    at: OnceLock<EgressPolicy>,
    /// Paused requests to the host that were let go: what they redirect to at the host is the host's own word.
    known: Mutex<VecDeque<String>>,
    /// Nothing leaves that interception does not see.
    seen_alone: AtomicBool,
}

/// A request that interception has paused.
pub struct Asked<'a> {
    pub id: &'a str,
    pub redirected_from: Option<&'a str>,
    pub document: bool,
    pub from: TargetKind,
}

impl Visit {
    pub fn new(policy: Arc<EgressPolicy>) -> Self {
        Self {
            policy,
            at: OnceLock::new(),
            known: Mutex::default(),
            seen_alone: AtomicBool::new(false),
        }
    }

    /// Decides it, unless it is decided.
    pub fn begin(&self, own: Option<&str>) {
        self.at.get_or_init(|| self.policy.visiting(own));
    }

    /// The host of the user's own, when a page that the user names is at one.
    pub fn begin_at(&self, url: &str) {
        self.begin(self.policy.own_host(url).as_deref());
    }

    /// Whether that page is at another host of the user's own than this context, or only one of them is at any.
    pub fn is_elsewhere(&self, url: &str) -> bool {
        let at = self.policy().at().map(str::to_owned);
        at != self.policy.own_host(url)
    }

    /// What everything in this context is judged by.
    pub fn policy(&self) -> &EgressPolicy {
        self.at.get().unwrap_or(&self.policy)
    }

    /// From here on nothing leaves that interception does not see: WebSockets, and what the browser reads ahead.
    pub fn see_alone(&self) {
        self.seen_alone.store(true, Ordering::Relaxed);
    }

    pub fn is_seen_alone(&self) -> bool {
        self.seen_alone.load(Ordering::Relaxed)
    }

    /// Whether this context may ask for a URL that its policy allows. Fails with `URL_BLOCKED`.
    pub fn admit(&self, url: &SafeUrl, asked: &Asked<'_>) -> Result<()> {
        let policy = self.policy();
        let Some(own) = policy.at() else { return Ok(()) };
        let refused = |why: &str| {
            Err(Error::new(Code::UrlBlocked, format!("`{}` is blocked: {why}", url.host())))
        };
        let here = policy.is_at(url);
        if asked.document && !here {
            return refused(&format!(
                "beside pages of {own}, a host of your own, no others are opened"
            ));
        }
        if asked.document || !here {
            return Ok(());
        }
        // No frame of another site is opened; this one is the host's, and sandboxed, or it is none that we know.
        if asked.from == TargetKind::Iframe {
            return refused("a frame apart asks for a host of your own");
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.redirected_from.is_some_and(|it| !known.iter().any(|known| known == it)) {
            return refused("a redirect from another site leads to a host of your own");
        }
        if known.len() == MAX_KNOWN {
            known.pop_front();
        }
        known.push_back(asked.id.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::EgressSettings;

    #[test]
    fn a_page_that_has_asked_for_much_is_still_redirected() {
        let own = [("localhost:8001".to_owned(), "127.0.0.1".to_owned())];
        let settings = EgressSettings { own: own.into(), ..EgressSettings::default() };
        let visit = Visit::new(Arc::new(EgressPolicy::new(&settings).unwrap()));
        visit.begin_at("http://localhost:8001/");
        let url = visit.policy().check("http://localhost:8001/x").unwrap();
        let admit = |id: &str, from: Option<&str>| {
            let asked =
                Asked { id, redirected_from: from, document: false, from: TargetKind::Page };
            visit.admit(&url, &asked).is_ok()
        };
        for n in 0..MAX_KNOWN + 5 {
            assert!(admit(&n.to_string(), None));
        }
        assert!(admit("next", Some(&(MAX_KNOWN + 4).to_string())));
        assert!(!admit("other", Some("of another site")));
    }
}
