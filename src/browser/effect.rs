//! What an act did: whether the page went on, what it asked for, whether anything on it changed.

use serde::Serialize;
use url::Url;

use super::{
    recorder::RequestSummary,
    text_sanitizer::{cut, plain},
};

/// What is on or off, and stays so.
pub const STILL: &str = "still ";
/// Requests that are told one by one.
const TOLD: usize = 8;
const PATH: usize = 100;

/// A request that an act caused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RequestEffect {
    /// As `network` numbers them.
    pub id: u64,
    pub method: String,
    /// Path and query at the page's own origin, the whole address elsewhere; secrets left out.
    pub path: String,
    /// Absent where there is no answer, or none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Effect {
    /// The address, where it is another than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub navigated: Option<String>,
    /// The tab that is the page from here on, where it is another than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab: Option<u32>,
    /// What stands in the field afterwards, where that is not what it was to hold; or whether what was clicked is on or off, where
    /// it is one of the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Documents and what scripts asked for; no pictures, styles or scripts.
    pub requests: Vec<RequestEffect>,
    /// Requests of those kinds that are not listed.
    pub more_requests: usize,
    /// Whether the document changed.
    pub dom_changed: bool,
    /// Changes of the document that were seen so far.
    #[serde(skip)]
    pub changes: u64,
    /// What dialogs said, and how they were answered.
    pub dialogs: Vec<String>,
    /// What the page wanted and did not get: popups, downloads, what the policy forbids.
    pub refused: Vec<String>,
}

impl Effect {
    pub fn requests(&mut self, all: Vec<RequestSummary>, page: &str) {
        let data: Vec<RequestSummary> = all.into_iter().filter(|it| it.is_data).collect();
        self.more_requests = data.len().saturating_sub(TOLD);
        self.requests = data.into_iter().take(TOLD).map(|it| request(it, page)).collect();
    }

    /// In one line.
    pub fn describe(&self) -> String {
        let mut out: Vec<String> = Vec::new();
        out.extend(self.tab.map(|it| format!("now in tab {it}")));
        out.extend(self.navigated.as_ref().map(|it| format!("now at {it}")));
        out.extend(self.requests.iter().map(|it| match it.status {
            Some(status) => format!("{} {} {status}", it.method, it.path),
            None => format!("{} {} without an answer", it.method, it.path),
        }));
        if self.more_requests > 0 {
            out.push(format!("{} requests more", self.more_requests));
        }
        out.extend(self.dialogs.iter().cloned());
        out.extend(self.refused.iter().cloned());
        if self.dom_changed && self.navigated.is_none() {
            out.push("the page changed".to_owned());
        }
        let stays = self.state.as_ref().is_none_or(|it| it.starts_with(STILL));
        if out.is_empty() && stays {
            out.push("nothing happened".to_owned());
        }
        out.splice(0..0, self.state.clone());
        out.join("; ")
    }
}

/// A request as it is told on the page of that address.
pub fn request(it: RequestSummary, page: &str) -> RequestEffect {
    let own = Url::parse(page).ok();
    let path = match Url::parse(&it.url) {
        Ok(url) if own.as_ref().is_some_and(|own| own.origin() == url.origin()) => {
            let query = url.query().map(|it| format!("?{it}")).unwrap_or_default();
            format!("{}{query}", url.path())
        }
        _ => it.url,
    };
    RequestEffect {
        id: it.id,
        method: it.method,
        path: cut(&plain(&commis_redact::message(&path)), PATH),
        status: it.status,
    }
}
