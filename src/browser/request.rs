//! `context_request`: our client with a context's cookies. The page is opened for the session, and then left alone.
//!
//! Cookies live in Chromium: it is asked for each hop what applies there, and keeps what an answer sets.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use url::Url;

use super::{context_state::ContextInner, cookies, page};
use commis_base::error::{Code, Error, Result};
use commis_net::{
    egress::{SafeUrl, site_of},
    transport::{PreparedRequest, Reply, Session, Transport, public_http::PublicHttp},
};
use commis_recipe::model::TransportKind;

/// Implements [`Transport`] beside a context's page, which must be open on the site.
#[derive(Clone)]
pub struct ContextRequest {
    shared: Arc<ContextInner>,
    /// The context's own, so that no connection is shared with another session.
    http: Arc<PublicHttp>,
    user_agent: String,
}

impl ContextRequest {
    pub(super) fn new(
        shared: Arc<ContextInner>,
        http: Arc<PublicHttp>,
        user_agent: String,
    ) -> Self {
        Self { shared, http, user_agent }
    }

    /// With a client of other caps.
    #[must_use]
    #[cfg(test)]
    pub fn with_caps(mut self, caps: commis_net::transport::TransportLimits) -> Self {
        let http = PublicHttp::with_limits(Arc::new(self.shared.policy().clone()), caps);
        self.http = Arc::new(http.expect("TLS is set up"));
        self
    }

    async fn request(&self, request: &PreparedRequest) -> Result<Reply> {
        // What is refused is refused before the page is asked anything.
        self.shared.policy().for_own_host(request.own_host.as_deref()).check(&request.url)?;
        let page = self.page().await.map_err(|err| self.page_failed(err))?;
        self.http.call(request, Some(&ContextSession { sender: self, page })).await
    }

    async fn page(&self) -> Result<Url> {
        let frame = self.shared.main_frame().await?;
        let url = page::url(&self.shared.cdp, &frame).await?;
        Url::parse(&url)
            .map_err(|err| Error::new(Code::BrowserFailed, "the page has no URL").source(err))
    }

    /// While the browser lives, this page's failure is this task's.
    fn page_failed(&self, err: Error) -> Error {
        if self.shared.cdp.is_closed() {
            return err;
        }
        Error::new(Code::ConnectFailed, "the page provides no session").source(err)
    }
}

impl Transport for ContextRequest {
    fn kind(&self) -> TransportKind {
        TransportKind::ContextRequest
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        self.request(request).boxed()
    }
}

struct ContextSession<'a> {
    sender: &'a ContextRequest,
    /// Where the page was when the call began.
    page: Url,
}

impl ContextSession<'_> {
    /// Schemeful same-site (RFC 6265bis, 5.2).
    fn same_site(&self, url: &SafeUrl) -> bool {
        self.page.scheme() == url.scheme() && site_of(self.page.as_str()) == site_of(url.as_str())
    }
}

/// By `strict-origin-when-cross-origin`, which browsers follow unless told otherwise.
fn referer(page: &Url, url: &Url) -> Option<String> {
    if !matches!(page.scheme(), "http" | "https") {
        return None;
    }
    if page.origin() == url.origin() {
        let mut page = page.clone();
        page.set_fragment(None);
        return Some(page.into());
    }
    let downgrade = page.scheme() == "https" && url.scheme() == "http";
    (!downgrade).then(|| format!("{}/", page.origin().ascii_serialization()))
}

impl Session for ContextSession<'_> {
    fn identity_headers(&self, url: &SafeUrl) -> Vec<(&'static str, String)> {
        let headers = [
            ("user-agent", Some(self.sender.user_agent.clone())),
            ("accept-language", self.sender.shared.lock().accept_language.clone()),
            ("referer", referer(&self.page, url.url())),
        ];
        headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn cookies<'a>(&'a self, url: &'a SafeUrl) -> BoxFuture<'a, Result<Option<String>>> {
        let shared = &self.sender.shared;
        async move {
            let session = shared.page()?.session;
            let top = site_of(self.page.as_str());
            cookies::header(&shared.cdp, &session, url, self.same_site(url), &top).await
        }
        .map(|it| it.map_err(|err| self.sender.page_failed(err)))
        .boxed()
    }

    fn store_cookies<'a>(
        &'a self,
        url: &'a SafeUrl,
        set: Vec<String>,
    ) -> BoxFuture<'a, Result<()>> {
        let shared = &self.sender.shared;
        async move {
            let session = shared.page()?.session;
            cookies::keep(&shared.cdp, &session, url, self.same_site(url), &set).await;
            Ok(())
        }
        .map(|it: Result<()>| it.map_err(|err| self.sender.page_failed(err)))
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn referers() {
        let check = |page: &str, url: &str, expected: Option<&str>| {
            let parse = |it: &str| Url::parse(it).unwrap();
            assert_eq!(referer(&parse(page), &parse(url)).as_deref(), expected, "{page} {url}");
        };
        check("https://a.test/x?y#z", "https://a.test/api", Some("https://a.test/x?y"));
        check("https://a.test/x", "https://b.test/api", Some("https://a.test/"));
        check("https://a.test/x", "http://b.test/api", None);
        check("http://a.test/x", "https://a.test/api", Some("http://a.test/"));
        check("about:blank", "https://a.test/api", None);
    }
}
