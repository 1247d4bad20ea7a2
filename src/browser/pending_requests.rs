//! Which requests a recording still waits for: those that the last action made, and those that carry what was typed.
//!
//! A page sends requests before anything is typed, and a search as one types sends one for each key. So what counts began after the
//! last key, and has ended. A page that waits for a pause in the typing sends it some time later: where something typed is in no
//! request yet, that pause is granted.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::request_hop::{Hop, HopEnd, plain};

/// Pages wait for so long after a key for the next; 250 and 300 ms are usual.
pub const PAUSE: Duration = Duration::from_millis(500);
/// An answer in flight that brings nothing for so long is one that nobody reads.
pub const UNREAD: Duration = Duration::from_millis(400);
/// Shorter texts stand in any URL.
const MIN_TYPED: usize = 2;

/// What was done last, and what is typed in the whole recording.
pub struct ActionTracker {
    /// Requests of the last action begin after it.
    since: Instant,
    /// The text that it typed, to be compared.
    typed_last: Option<String>,
    typed: Vec<String>,
}

/// How far a request of the last action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestProgress {
    Ended,
    /// One has ended, but not one that carries what was typed: the page may not have sent that one yet.
    Untyped,
    No,
}

/// Why the end of a recording is put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingReason {
    /// A request that carries what was typed is on its way.
    InFlight,
    /// The page gave up the last such request, and has sent no other.
    GivenUp,
    /// What was typed last is in no request.
    Unsent,
}

impl ActionTracker {
    pub fn new(begun: Instant) -> Self {
        Self { since: begun, typed_last: None, typed: Vec::new() }
    }

    pub fn types<'a>(&mut self, values: impl Iterator<Item = &'a String>) {
        self.typed = values.filter_map(|it| comparable(it)).collect();
    }

    pub fn mark(&mut self, typed: Option<&str>, at: Instant) {
        self.since = at;
        self.typed_last = typed.and_then(comparable);
    }

    pub fn request_progress(
        &self,
        seen: &[Hop],
        last: &BTreeMap<String, usize>,
        part: &str,
    ) -> RequestProgress {
        let mut found = RequestProgress::No;
        for it in own(seen, part).filter(|it| self.is_own(seen, it)) {
            let end = last.get(&it.id).and_then(|at| seen.get(*at)).unwrap_or(it);
            if end.ended_at.is_none() || end.end != HopEnd::Well {
                continue;
            }
            match &self.typed_last {
                Some(typed) if !it.carries(typed) => found = RequestProgress::Untyped,
                _ => return RequestProgress::Ended,
            }
        }
        let coming = |it: &Hop| {
            it.ended_at.is_none() && self.typed_last.as_ref().is_some_and(|typed| it.carries(typed))
        };
        let more = own(seen, part).any(|it| self.is_own(seen, it) && coming(it));
        if more { RequestProgress::No } else { found }
    }

    /// It, or the request that was redirected to it, began after the last action.
    fn is_own(&self, seen: &[Hop], it: &Hop) -> bool {
        let mut first = it;
        while let Some(before) = first.redirected_from.and_then(|at| seen.get(at)) {
            first = before;
        }
        first.arrived >= self.since
    }

    pub fn describe(&self, seen: &[Hop], last: &BTreeMap<String, usize>, part: &str) -> String {
        let line = |it: &Hop| {
            let end = last.get(&it.id).and_then(|at| seen.get(*at)).unwrap_or(it);
            let what = match end.end {
                _ if !self.is_own(seen, it) => "began before the last step",
                HopEnd::Failed => "failed",
                HopEnd::GivenUp => "was given up by the page",
                HopEnd::Well if end.ended_at.is_none() => "has not ended",
                HopEnd::Well => "ended",
            };
            let url: String = it.sent.request.url.chars().take(200).collect();
            format!("{} {url} {what}", it.sent.request.method)
        };
        let lines: Vec<String> = own(seen, part).map(line).collect();
        let older = lines.len().saturating_sub(3);
        if lines.is_empty() {
            let all = seen.iter().filter(|it| self.is_own(seen, it)).count();
            return format!(
                "no request has that in its URL; since the last step there were {all} others"
            );
        }
        lines[older..].join("; ")
    }

    /// `quiet` says how long nothing was heard of any request.
    pub fn owed(&self, seen: &[Hop], quiet: Duration) -> Option<PendingReason> {
        let carries =
            |it: &&Hop| it.may_hold_data() && self.typed.iter().any(|typed| it.carries(typed));
        let open = |it: &&Hop| it.ended_at.is_none() && (it.response.is_none() || quiet < UNREAD);
        if seen.iter().filter(open).any(|it| carries(&it)) {
            return Some(PendingReason::InFlight);
        }
        if let Some(it) = seen.iter().rfind(carries)
            && it.end == HopEnd::GivenUp
        {
            return Some(PendingReason::GivenUp);
        }
        let typed = self.typed_last.as_ref()?;
        let sent = seen.iter().any(|it| it.arrived >= self.since && it.carries(typed));
        (!sent && self.typed.contains(typed)).then_some(PendingReason::Unsent)
    }
}

/// Those that were meant; a browser asks for leave under the same URL.
fn own<'a>(seen: &'a [Hop], part: &'a str) -> impl Iterator<Item = &'a Hop> {
    seen.iter().filter(move |it| !it.is_preflight() && has_part(&it.sent.request.url, part))
}

/// The URL contains it as it was sent, or with its escapes read: a step writes `Größe`, and the browser sends `Gr%C3%B6%C3%9Fe`.
fn has_part(url: &str, part: &str) -> bool {
    let read = || percent_encoding::percent_decode_str(url).decode_utf8_lossy();
    url.contains(part) || {
        let read = read();
        read.contains(part) || (part.contains(' ') && read.replace('+', " ").contains(part))
    }
}

fn comparable(text: &str) -> Option<String> {
    Some(plain(text)).filter(|it| it.chars().count() >= MIN_TYPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_addresses() {
        let url = "https://a.test/find?q=Gr%C3%B6%C3%9Fe+S&tag=a%2Fb";
        for part in ["/find?q=", "q=Gr%C3%B6", "q=Größe", "q=Größe S", "tag=a/b"] {
            assert!(has_part(url, part), "{part}");
        }
        assert!(!has_part(url, "q=Grosse") && !has_part(url, "q=größe"));
    }
}
