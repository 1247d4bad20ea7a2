//! The last look at a request, nearest to the network.
//!
//! A frame, a popup or a worker that goes away takes its interception with it, and Chromium lets go what waited there: a request that
//! is to outlive its page (`keepalive`, a beacon, a report) leaves. The browser's own session has an interception that goes away
//! with nothing. Where something is held, only what was let go in a session leaves there, or what is of another context.

use std::collections::{BTreeSet, VecDeque};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::cdp_event::Event;

/// Requests let go that did not come by yet; most never do, being of other kinds.
const MOST: usize = 10_000;

/// What can outlive its page. All else ends with it.
pub fn patterns() -> Value {
    let kinds = ["Fetch", "Ping", "CSPViolationReport", "Other"];
    let all: Vec<Value> =
        kinds.iter().map(|it| json!({ "urlPattern": "*", "resourceType": it })).collect();
    json!({ "patterns": all })
}

/// A request as the browser's own session says it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPaused {
    pub request_id: String,
    network_id: Option<String>,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    method: String,
}

type Queue = mpsc::UnboundedSender<Event>;

/// Contexts that hold, and what was let go.
#[derive(Default)]
pub struct LateRequestGuard {
    begun: bool,
    holding: Vec<Queue>,
    let_go: BTreeSet<String>,
    order: VecDeque<String>,
}

impl LateRequestGuard {
    /// Whether any context holds, or held: what it asked for may come by late.
    pub fn is_on(&self) -> bool {
        self.begun
    }

    /// The context of that queue holds from here on.
    pub fn begin(&mut self, queue: &Queue) {
        self.begun = true;
        if !self.holding.iter().any(|it| it.same_channel(queue)) {
            self.holding.push(queue.clone());
        }
    }

    /// It is closed.
    pub fn end(&mut self, queue: &Queue) {
        self.holding.retain(|it| !it.same_channel(queue));
    }

    /// That request was let go where it was asked for.
    pub fn let_go(&mut self, network: &str) {
        if self.order.len() >= MOST
            && let Some(it) = self.order.pop_front()
        {
            self.let_go.remove(&it);
        }
        if self.let_go.insert(network.to_owned()) {
            self.order.push_back(network.to_owned());
        }
    }

    /// Whether it leaves. `of`: the queue of the context that its frame is in, where that is known.
    pub fn admits(&mut self, it: &RequestPaused, of: Option<&Queue>) -> bool {
        if it.network_id.as_ref().is_some_and(|id| self.let_go.contains(id)) || !self.is_on() {
            return true;
        }
        match of {
            Some(queue) => !self.holding.iter().any(|it| it.same_channel(queue)),
            None => matches!(&*it.request.method, "GET" | "HEAD" | "OPTIONS"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_leaves_only_after_it_was_let_go() {
        let (held, _a) = mpsc::unbounded_channel();
        let (other, _b) = mpsc::unbounded_channel();
        let of = |method: &str, network: &str| -> RequestPaused {
            let request = json!({ "method": method });
            serde_json::from_value(
                json!({ "requestId": "1", "networkId": network, "request": request }),
            )
            .unwrap()
        };
        let mut it = LateRequestGuard::default();
        assert!(it.admits(&of("POST", "a"), None), "nothing holds");
        it.begin(&held);
        for (method, queue, expected) in [
            ("POST", Some(&held), false),
            ("GET", Some(&held), false),
            ("POST", Some(&other), true),
            ("GET", Some(&other), true),
            ("POST", None, false),
            ("GET", None, true),
        ] {
            assert_eq!(it.admits(&of(method, "a"), queue), expected, "{method}");
        }
        it.let_go("a");
        assert!(it.admits(&of("POST", "a"), Some(&held)));
        assert!(it.admits(&of("POST", "a"), Some(&held)), "a redirect of it was let go, too");
        assert!(!it.admits(&of("POST", "b"), Some(&held)));
        for n in 0..MOST {
            it.let_go(&n.to_string());
        }
        assert!(!it.admits(&of("POST", "a"), Some(&held)), "it is forgotten");
        it.end(&held);
        assert!(!it.admits(&of("POST", "b"), None), "its routes are gone");
    }
}
