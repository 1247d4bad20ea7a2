//! What a login needs that no plan holds: a code that a person types when the page asks for it, and the name and password of HTTP
//! Basic (RFC 7617), which the browser asks for and no page.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::plan::{Fill, Step};
use commis_base::error::Result;
use commis_net::egress::site_of;
use commis_vault::BasicAuth;

/// Asks a person for what the label says. Fails as the person does.
pub type Prompt =
    Box<dyn Fn(String) -> BoxFuture<'static, Result<Zeroizing<String>>> + Send + Sync>;

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
pub struct BasicAuthResponder {
    site: String,
    auth: BasicAuth,
    /// Requests that were answered. What is asked again was wrong.
    answered: BTreeSet<String>,
    /// Those that did not take it.
    refused: BTreeSet<String>,
}

impl BasicAuthResponder {
    pub fn new(url: &str, name: Zeroizing<String>, password: Zeroizing<String>) -> Self {
        Self::from_auth(url, BasicAuth { origins: BTreeSet::new(), name, password })
    }

    /// The one of a login of the URL's site.
    pub fn from_auth(url: &str, auth: BasicAuth) -> Self {
        let (answered, refused) = (BTreeSet::new(), BTreeSet::new());
        Self { site: site_of(url), auth, answered, refused }
    }

    /// The answer to a server's question, once for each request; `None` for other sites' servers.
    pub fn answer(&mut self, request: &str, origin: &str) -> Option<Value> {
        if site_of(origin) != self.site {
            return None;
        }
        let origin = origin.trim_end_matches('/').to_owned();
        if !self.answered.insert(request.to_owned()) {
            self.refused.insert(origin);
            return None;
        }
        self.auth.origins.insert(origin);
        Some(json!({
            "response": "ProvideCredentials", "username": self.auth.name.as_str(), "password": self.auth.password.as_str(),
        }))
    }

    /// Name and password with the servers that asked for them and took them.
    pub fn accepted_auth(&self) -> BasicAuth {
        let mut out = self.auth.clone();
        out.origins.retain(|it| !self.refused.contains(it));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_goes_to_its_site_alone_and_once_a_request() {
        let text = |it: &str| Zeroizing::new(it.to_owned());
        let mut basic =
            BasicAuthResponder::new("http://wiki.test/login", text("mira"), text("heron-41"));
        assert!(basic.answer("1", "http://other.test").is_none());
        assert_eq!(basic.answer("1", "http://wiki.test").unwrap()["username"], "mira");
        assert!(basic.answer("1", "http://wiki.test").is_none(), "it was wrong");
        assert!(basic.answer("2", "http://api.wiki.test").is_some());
        let taken: Vec<String> = basic.accepted_auth().origins.into_iter().collect();
        assert_eq!(taken, ["http://api.wiki.test"]);
    }
}
