//! What pages that stay say, ask for and are asked, as the guard hears it: raw, until somebody takes it in (`event_log.rs`).

use std::collections::VecDeque;

use super::recorder::RequestSummary;
use commis_state::now_ms;

/// Of each kind.
pub const MOST: usize = 50_000;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    Console,
    Network,
    Dialogs,
}

/// As the guard heard it, raw.
#[derive(Debug)]
pub struct LogLine {
    pub of: LogKind,
    pub at_ms: i64,
    /// Of a request: its number, and whether it was a document or data.
    pub request: Option<(u64, bool)>,
    pub text: String,
}

/// What was heard and nobody has taken in yet.
#[derive(Debug, Default)]
pub struct LogBuffer {
    pub lines: VecDeque<LogLine>,
    /// Those that nobody took in in time.
    pub lost: u64,
}

impl LogBuffer {
    pub fn add(&mut self, of: LogKind, text: String) {
        self.push(LogLine { of, at_ms: now_ms(), request: None, text });
    }

    /// A request that has ended.
    pub fn add_request(&mut self, it: &RequestSummary) {
        let status = it.status.map_or_else(|| "-".to_owned(), |it| it.to_string());
        let text = format!("{status} {} {}", it.method, it.url);
        self.push(LogLine {
            of: LogKind::Network,
            at_ms: now_ms(),
            request: Some((it.id, it.is_data)),
            text,
        });
    }

    fn push(&mut self, it: LogLine) {
        if self.lines.len() == MOST {
            self.lines.pop_front();
            self.lost += 1;
        }
        self.lines.push_back(it);
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}
