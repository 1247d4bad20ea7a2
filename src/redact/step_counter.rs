//! How far scans look, counted against the budget of the computation, and in tests: a hostile text must make none of them look
//! over and over at the same bytes.

#[cfg(test)]
thread_local!(static SEEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });

/// So many bytes were looked at.
#[inline]
pub fn record_bytes(bytes: usize) {
    #[cfg(test)]
    SEEN.with(|it| it.set(it.get() + bytes as u64));
    commis_base::work::step(bytes / 32);
}

/// What `work` looks at on this thread.
#[cfg(test)]
pub fn count(work: impl FnOnce()) -> u64 {
    let before = SEEN.with(std::cell::Cell::get);
    work();
    SEEN.with(std::cell::Cell::get) - before
}
