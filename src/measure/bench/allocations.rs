//! Allocations of the calling thread, in a build with the feature `count-allocations`; others are not slowed by a counter.

use serde::Serialize;

/// Of one run of each arm.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Allocations {
    pub floor: Count,
    pub parse: Count,
    pub run: Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Count {
    pub allocations: u64,
    pub bytes: u64,
}

/// What the work allocates; `None`, and nothing is done, where that is not counted.
#[cfg(feature = "count-allocations")]
pub fn count(work: impl FnOnce()) -> Option<Count> {
    let all = allocation_counter::measure(work);
    Some(Count { allocations: all.count_total, bytes: all.bytes_total })
}

#[cfg(not(feature = "count-allocations"))]
pub fn count(_: impl FnOnce()) -> Option<Count> {
    None
}
