//! The page of a HAR: its URL, and what it showed as far as its HTML tells.

use commis_base::work;
use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::entry::{MAX_URL, text};
use crate::{
    markup,
    raw::{RawExchange, RawPage},
};
use commis_artifacts::recording::ResourceType;

const MAX_VISIBLE: usize = 256 * 1024;

/// URLs of `log.pages` by id. Chrome, Safari and Playwright put the URL into the title.
pub struct PageUrls(BTreeMap<String, String>);

impl PageUrls {
    pub fn new(pages: Option<&Value>) -> Self {
        let all = pages.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Self(
            all.iter()
                .take(10_000)
                .filter_map(|it| {
                    let url = text(it, "_URL").or_else(|| text(it, "title"))?;
                    let url = Some(url).filter(|it| it.len() <= MAX_URL)?;
                    let url = Url::parse(url)
                        .ok()
                        .filter(|it| matches!(it.scheme(), "http" | "https"))?;
                    Some((text(it, "id")?.to_owned(), url.to_string()))
                })
                .collect(),
        )
    }

    pub fn url(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

/// The last HTML document of the site that the recording is about; without any, the start URL alone.
pub fn last(exchanges: &[RawExchange], start: &str) -> RawPage {
    let site = |url: &Url| url.host_str().map(|it| psl::domain_str(it).unwrap_or(it).to_owned());
    let home = Url::parse(start).ok().as_ref().and_then(site);
    let own = exchanges.iter().rev().find(|it| {
        it.resource_type == ResourceType::Document
            && it.mime.contains("html")
            && it.body.len() > 0
            && site(&it.url) == home
    });
    let Some((document, bytes)) = own.and_then(|it| Some((it, it.body.bytes()?))) else {
        return RawPage { url: start.to_owned(), ..RawPage::default() };
    };
    let html = String::from_utf8_lossy(&bytes);
    let metas = || {
        let mut out = Vec::new();
        markup::named_values(&html, |element, name, value| {
            if element == "meta" && out.len() < 256 {
                out.push((name.to_owned(), value.to_owned()));
            }
        });
        out
    };
    let budget = work::share();
    let text = || budget.run(|| markup::visible_text(&html, MAX_VISIBLE));
    let (visible_text, metas) = rayon::join(text, || budget.run(metas));
    let password = ["type=\"password\"", "type='password'", "type=password"];
    RawPage {
        url: document.url.to_string(),
        title: markup::title(&html).unwrap_or_default(),
        visible_text,
        has_password_field: password.iter().any(|it| html.contains(it)),
        documents: Vec::new(),
        documents_before: Vec::new(),
        grows: false,
        drawn_ms: 0.0,
        metas,
        stored: Vec::new(),
        cookies: Vec::new(),
    }
}
