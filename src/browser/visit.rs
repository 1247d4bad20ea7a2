//! Whose context it is: at a host of the user's own, or, like nearly all, at none. Decided once, before its first page.
//!
//! What makes a context at such a host safe is what is not in it: every document, the page itself and each frame, is of that
//! host. So whoever asks for anything there, by whatever way (a fetch, a worker, a WebSocket that interception never sees), is a
//! document of that host. Public hosts may be asked for all else, and may not redirect back.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use crate::{
    artifacts::recording::TargetKind,
    egress::{EgressPolicy, SafeUrl},
    error::{Code, Error, Result},
};

/// Ids of requests that are kept; a page that makes more of them is no longer redirected.
const MAX_KNOWN: usize = 10_000;

pub struct Visit {
    policy: Arc<EgressPolicy>,
    at: OnceLock<EgressPolicy>,
    /// Paused requests to the host that were let go: what they redirect to at the host is the host's own word.
    known: Mutex<BTreeSet<String>>,
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
        Self { policy, at: OnceLock::new(), known: Mutex::default() }
    }

    /// Decides it, unless it is decided.
    pub fn begin(&self, own: Option<&str>) {
        self.at.get_or_init(|| self.policy.visiting(own));
    }

    /// The host of the user's own, when a page that the user names is at one.
    pub fn begin_at(&self, url: &str) {
        self.begin(self.policy.own_host(url).as_deref());
    }

    /// What everything in this context is judged by.
    pub fn policy(&self) -> &EgressPolicy {
        self.at.get().unwrap_or(&self.policy)
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
        if asked.redirected_from.is_some_and(|it| !known.contains(it)) {
            return refused("a redirect from another site leads to a host of your own");
        }
        if known.len() < MAX_KNOWN {
            known.insert(asked.id.to_owned());
        }
        Ok(())
    }
}
