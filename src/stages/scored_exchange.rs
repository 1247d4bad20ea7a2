//! An exchange and the share of each signal, before weighing.

use commis_artifacts::recording::Exchange;
use std::collections::BTreeMap;

/// One exchange that could have carried the data, and the share of every signal, before weighing.
pub struct ScoredExchange<'a> {
    pub exchange: &'a Exchange,
    pub endpoint_key: String,
    pub shares: BTreeMap<&'static str, i32>,
    pub(super) second_exchange: Option<u32>,
}
