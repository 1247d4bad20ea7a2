//! How many event streams may be open at once.

use axum::response::sse::KeepAlive;
use commis_base::error::{Code, Error, Result};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Streams that are open.
pub struct StreamLimiter {
    open: Arc<AtomicUsize>,
    /// Of these, those of tokens with scopes.
    scoped: Arc<AtomicUsize>,
    most: usize,
}

/// Of the streams that may be open at once, so many are never a scoped token's.
const OURS: usize = 2;

/// One of the streams that may be open at once.
pub struct StreamPermit(Vec<Arc<AtomicUsize>>);

impl StreamPermit {
    /// One of each, if that is not too many.
    fn take(all: &[(&Arc<AtomicUsize>, usize)]) -> Option<Self> {
        let mut out = Self(Vec::new());
        for (open, most) in all {
            let taken = open.fetch_add(1, Ordering::Relaxed);
            out.0.push(Arc::clone(open));
            if taken >= *most {
                return None;
            }
        }
        Some(out)
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        for it in &self.0 {
            it.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl StreamLimiter {
    pub fn new(most: usize) -> Self {
        Self { open: Arc::default(), scoped: Arc::default(), most }
    }

    /// Fails with `RATE_LIMITED`.
    pub fn place(&self, is_scoped: bool) -> Result<StreamPermit> {
        let all = [(&self.open, self.most), (&self.scoped, self.most.saturating_sub(OURS).max(1))];
        StreamPermit::take(if is_scoped { &all } else { &all[..1] }).ok_or_else(|| {
            Error::new(Code::RateLimited, "too many streams of events are open already")
                .hint("close one, or raise serve.streams")
        })
    }

    pub fn keep_alive() -> KeepAlive {
        KeepAlive::new().interval(KEEP_ALIVE).text("here")
    }
}
