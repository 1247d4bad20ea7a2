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

use tokio::task::AbortHandle;

use commis_artifacts::recording::TargetKind;
use commis_base::error::{Code, Error, Result};
use commis_net::egress::{EgressPolicy, SafeUrl};

/// Ids of requests that are kept, the last ones.
const MAX_KNOWN: usize = 10_000;

pub struct ContextPolicy {
    policy: Arc<EgressPolicy>,
    at: OnceLock<EgressPolicy>,
    /// Paused requests to the host that were let go: what they redirect to at the host is the host's own word.
    known: Mutex<VecDeque<String>>,
    /// Nothing leaves that interception does not see.
    seen_alone: AtomicBool,
    /// Nothing leaves at all.
    offline: AtomicBool,
    /// Tunnels of this context's proxy, by host.
    tunnels: Mutex<Vec<(String, AbortHandle)>>,
}

/// A request that interception has paused.
pub struct InterceptedRequest<'a> {
    pub id: &'a str,
    pub redirected_from: Option<&'a str>,
    pub document: bool,
    pub from: TargetKind,
}

impl ContextPolicy {
    pub fn new(policy: Arc<EgressPolicy>) -> Self {
        Self {
            policy,
            at: OnceLock::new(),
            known: Mutex::default(),
            seen_alone: AtomicBool::new(false),
            offline: AtomicBool::new(false),
            tunnels: Mutex::default(),
        }
    }

    /// Decides it, unless it is decided.
    pub fn begin(&self, own: Option<&str>) {
        self.at.get_or_init(|| self.policy.for_own_host(own));
    }

    /// The host of the user's own, when a page that the user names is at one.
    pub fn begin_at(&self, url: &str) {
        self.begin(self.policy.find_own_host(url).as_deref());
    }

    /// Whether that page is at another host of the user's own than this context, or only one of them is at any.
    pub fn is_elsewhere(&self, url: &str) -> bool {
        let at = self.policy().current_own_host().map(str::to_owned);
        at != self.policy.find_own_host(url)
    }

    /// What everything in this context is judged by.
    pub fn policy(&self) -> &EgressPolicy {
        self.at.get().unwrap_or(&self.policy)
    }

    /// From here on nothing leaves that interception does not see: WebSockets, and what the browser reads ahead.
    pub fn see_alone(&self) {
        self.seen_alone.store(true, Ordering::Relaxed);
    }

    /// From here on nothing leaves, whatever asks.
    pub fn go_offline(&self) {
        self.offline.store(true, Ordering::Relaxed);
    }

    pub fn is_offline(&self) -> bool {
        self.offline.load(Ordering::Relaxed)
    }

    pub fn is_seen_alone(&self) -> bool {
        self.seen_alone.load(Ordering::Relaxed)
    }

    /// A tunnel to that host is open until its task ends.
    pub(super) fn track_tunnel(&self, host: &str, task: AbortHandle) {
        let mut tunnels = self.tunnels.lock().unwrap_or_else(PoisonError::into_inner);
        tunnels.retain(|it| !it.1.is_finished());
        tunnels.push((host.to_owned(), task));
    }

    /// Ends all tunnels to the host of that URL. Over a connection that was in use before, the browser sends a request a second time, of
    /// whatever method, when the server hangs up without an answer, and tells nobody; over a new one it does not.
    pub(super) fn hang_up(&self, url: &str) {
        let url = url::Url::parse(url).ok();
        let Some(host) = url.as_ref().and_then(url::Url::host_str) else { return };
        let host = host.trim_end_matches('.');
        let mut tunnels = self.tunnels.lock().unwrap_or_else(PoisonError::into_inner);
        for it in tunnels.extract_if(.., |it| it.0 == host) {
            it.1.abort();
        }
    }

    /// Whether this context may ask for a URL that its policy allows. Fails with `URL_BLOCKED`.
    pub fn admit(&self, url: &SafeUrl, asked: &InterceptedRequest<'_>) -> Result<()> {
        let policy = self.policy();
        let Some(own) = policy.current_own_host() else { return Ok(()) };
        let refused = |why: &str| {
            Err(Error::new(Code::UrlBlocked, format!("`{}` is blocked: {why}", url.host())))
        };
        let here = policy.is_at_own_host(url);
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
            return refused("a frame of another site requests a host of your own");
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
    use commis_base::settings::EgressSettings;

    #[test]
    fn a_page_that_has_asked_for_much_is_still_redirected() {
        let own = [("localhost:8001".to_owned(), "127.0.0.1".to_owned())];
        let settings = EgressSettings { own: own.into(), ..EgressSettings::default() };
        let visit = ContextPolicy::new(Arc::new(EgressPolicy::new(&settings).unwrap()));
        visit.begin_at("http://localhost:8001/");
        let url = visit.policy().check("http://localhost:8001/x").unwrap();
        let admit = |id: &str, from: Option<&str>| {
            let asked = InterceptedRequest {
                id,
                redirected_from: from,
                document: false,
                from: TargetKind::Page,
            };
            visit.admit(&url, &asked).is_ok()
        };
        for n in 0..MAX_KNOWN + 5 {
            assert!(admit(&n.to_string(), None));
        }
        assert!(admit("next", Some(&(MAX_KNOWN + 4).to_string())));
        assert!(!admit("other", Some("of another site")));
    }

    #[tokio::test]
    async fn tunnels_to_one_host_are_hung_up() {
        let policy = EgressPolicy::new(&EgressSettings::default()).unwrap();
        let visit = ContextPolicy::new(Arc::new(policy));
        let tunnel = |host: &str| {
            let task = tokio::spawn(std::future::pending::<()>());
            visit.track_tunnel(host, task.abort_handle());
            task
        };
        let (here, also, other) = (tunnel("a.test"), tunnel("a.test"), tunnel("b.test"));
        visit.hang_up("https://A.test:8443/orders?x=1");
        assert!(here.await.unwrap_err().is_cancelled());
        assert!(also.await.unwrap_err().is_cancelled());
        assert!(!other.is_finished());
        let again = tunnel("a.test");
        visit.hang_up("https://b.test/");
        assert!(other.await.unwrap_err().is_cancelled());
        assert!(!again.is_finished());
    }
}
