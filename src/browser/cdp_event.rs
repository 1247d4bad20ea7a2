//! What the browser reports.

use std::{sync::Arc, time::Instant};

use serde::Deserialize;
#[cfg(test)]
use serde_json::Value;
use serde_json::value::RawValue;

/// See [`Event::here`].
pub const HERE: &str = "commis.here";

/// Something the browser reported. Each queue holds its events in the order of the pipe.
pub struct Event {
    /// When it was read off the pipe.
    pub at: Instant,
    /// `None` for the browser's own session.
    pub session: Option<Arc<str>>,
    pub method: Box<str>,
    pub params: Box<RawValue>,
}

impl Event {
    /// The fields a caller wants, or `None` when the event does not have them.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(self.params.get()).ok()
    }

    /// One that the browser did not report: whoever reads a queue has come to where it was put.
    pub fn here() -> Self {
        Self { at: Instant::now(), session: None, method: HERE.into(), params: Box::default() }
    }
}

#[cfg(test)]
impl Event {
    pub fn literal(session: &str, method: &str, params: &Value) -> Self {
        Self {
            at: Instant::now(),
            session: Some(session.into()),
            method: method.into(),
            params: serde_json::value::to_raw_value(params).unwrap(),
        }
    }
}
