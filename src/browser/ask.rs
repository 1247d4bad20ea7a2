//! What a login needs that no plan holds: a code that a person types when the page asks for it, and the name and password of HTTP
//! Basic (RFC 7617), which the browser asks for and no page.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::plan::{Fill, Step};
use commis_base::error::Result;
use commis_net::egress::site_of;

/// Asks a person for what the label says. Fails as the person does.
pub type Ask = Box<dyn Fn(String) -> BoxFuture<'static, Result<Zeroizing<String>>> + Send + Sync>;

/// Before the label of a value that is asked for. No keyboard types it.
const MARK: &str = "\u{0}ask:";

/// The value of a field that a person is asked for, once the field is there.
pub fn asked_value(label: &str) -> String {
    format!("{MARK}{label}")
}

/// The label, where a step's value is one that a person is asked for.
pub(super) fn label(step: &Step) -> Option<(&Fill, &str)> {
    let Step::Fill(it) = step else { return None };
    it.value.strip_prefix(MARK).map(|label| (it, label))
}

/// Name and password for the servers of one site.
pub struct Basic {
    site: String,
    name: Zeroizing<String>,
    password: Zeroizing<String>,
    /// Requests that were answered. What is asked again was wrong.
    answered: BTreeSet<String>,
}

impl Basic {
    pub fn new(url: &str, name: Zeroizing<String>, password: Zeroizing<String>) -> Self {
        Self { site: site_of(url), name, password, answered: BTreeSet::new() }
    }

    /// The answer to a server's question, once for each request; `None` for other sites' servers.
    pub fn answer(&mut self, request: &str, origin: &str) -> Option<Value> {
        if site_of(origin) != self.site || !self.answered.insert(request.to_owned()) {
            return None;
        }
        Some(json!({
            "response": "ProvideCredentials", "username": self.name.as_str(), "password": self.password.as_str(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_goes_to_its_site_alone_and_once_a_request() {
        let text = |it: &str| Zeroizing::new(it.to_owned());
        let mut basic = Basic::new("http://wiki.test/login", text("mira"), text("heron-41"));
        assert!(basic.answer("1", "http://other.test").is_none());
        assert_eq!(basic.answer("1", "http://wiki.test").unwrap()["username"], "mira");
        assert!(basic.answer("1", "http://wiki.test").is_none(), "it was wrong");
        assert!(basic.answer("2", "http://wiki.test").is_some());
    }
}
