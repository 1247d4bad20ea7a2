//! Opening a page: the policy first, then the browser, then until there is something to work with.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::{bodies, cdp_network::pairs, context_state::ContextInner, proxy, recorder::Recorder};
use commis_base::error::{Code, Error, Result};
use commis_net::{egress::SafeUrl, transport::tls};

/// How long a parsed page may go on loading before the next step.
const LOAD: Duration = Duration::from_secs(3);

impl ContextInner {
    /// Opens a URL that the policy allows, and waits until the document is parsed and, for a moment, for what it embeds.
    ///
    /// Fails with the policy's codes, `CONNECT_FAILED`, `TIMEOUT`, `DOWNLOAD_BLOCKED`.
    pub async fn navigate(self: &Arc<Self>, url: &str, timeout: Duration) -> Result<()> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct NavigateResult {
            loader_id: Option<String>,
            error_text: Option<String>,
        }
        // Who said nothing is at no host of the user's own.
        self.visit.begin(None);
        let safe = self.policy().check(url)?;
        self.policy().pin(&safe).await?;
        let deadline = Instant::now() + timeout;
        let page = self.page()?;
        let (parsed, loads, downloads, dialogs) = {
            let state = self.lock();
            (state.parsed, state.loads, state.downloads, state.dialogs_told)
        };
        let refused = self.blocked().len();
        // The policy's reading of the URL, with its fragment, which is the page's business.
        let mut target = safe.url().clone();
        if let Ok(given) = Url::parse(url) {
            target.set_fragment(given.fragment());
        }
        bodies::read_waiting(self);
        let params = json!({ "url": target.as_str() });
        let reply = self.cdp.send(Some(&page.session), "Page.navigate", params);
        let navigated: NavigateResult = reply.read(timeout).await.map_err(|err| {
            if Instant::now() < deadline || self.cdp.is_closed() {
                return err;
            }
            self.cdp.post(Some(&page.session), "Page.stopLoading", json!({}));
            Error::new(Code::Timeout, format!("{} did not answer in time", safe.as_str()))
        })?;
        if let Some(text) = navigated.error_text.filter(|it| !it.is_empty()) {
            if self.lock().dialogs_told != dialogs && self.lock().stays() {
                let why = "the page asked before it is left (beforeunload), and the dialog was dismissed, so it stays";
                return Err(Error::new(Code::StepFailed, why)
                    .hint("run `goto` again without `dialog dismiss` before it"));
            }
            return Err(self.navigation_failed(&safe, &text, downloads, refused).await);
        }
        if navigated.loader_id.is_none() {
            return Ok(());
        }
        self.until(deadline, |it| it.parsed != parsed).await?;
        self.site_is_up()?;
        // Scripts attach their listeners by then, on most pages; one slow picture must not hold up the steps.
        let deadline = deadline.min(Instant::now() + LOAD);
        self.until(deadline, |it| it.loads != loads).await?;
        Ok(())
    }

    /// What the site answered, where the page's document was asked for last.
    fn status_of(&self, url: &str) -> Option<u16> {
        let state = self.lock();
        let hop = state.recorder.as_ref().and_then(Recorder::document)?;
        (hop.url.as_str() == url).then(|| hop.response.as_ref().map(|it| it.status)).flatten()
    }

    /// Fails where what was loaded is no page of the site's: nobody has to look for an element on it.
    fn site_is_up(&self) -> Result<()> {
        let (status, refusal, url) = {
            let state = self.lock();
            let Some(hop) = state.recorder.as_ref().and_then(Recorder::document) else {
                return Ok(());
            };
            let Some(response) = &hop.response else { return Ok(()) };
            // The proxy takes these from what servers send, and speaks http alone.
            let ours = |it: &(String, String)| {
                let name = it.0.to_ascii_lowercase();
                name == proxy::ERROR_HEADER || name == proxy::BLOCKED_HEADER
            };
            let refusal = pairs(&response.headers).into_iter().find(ours).map(|it| it.1);
            (response.status, refusal.filter(|_| hop.url.scheme() == "http"), hop.url.clone())
        };
        let host = url.host_str().unwrap_or_default();
        if let Some(code) = refusal.as_deref().and_then(Code::from_wire) {
            let blocked = self.blocked().into_iter().rfind(|it| it.url == url.as_str());
            let why = blocked.map(|it| it.reason).or_else(|| Some(self.proxy.trouble(host)?.1));
            let why = why.unwrap_or_else(|| code.as_str().to_owned());
            return Err(down(code, &format!("cannot open {url}: {why}")));
        }
        match status {
            429 => Err(down(Code::RateLimited, &format!("{url} answered 429: too many requests"))),
            500.. => {
                Err(down(Code::ServerError, &format!("the site is down: {url} answered {status}")))
            }
            _ => Ok(()),
        }
    }

    /// `downloads` and `refused` count what had happened before.
    async fn navigation_failed(
        &self,
        safe: &SafeUrl,
        text: &str,
        downloads: u64,
        refused: usize,
    ) -> Error {
        let url = safe.as_str();
        if let Some(err) = tls::chromium_tls_error(safe.host(), text) {
            return err;
        }
        if text.contains("ERR_ABORTED") {
            // What aborted it is told a moment later.
            let deadline = Instant::now() + Duration::from_millis(200);
            let _ = self.until(deadline, |it| it.downloads != downloads).await;
        }
        if self.lock().downloads > downloads {
            let message = format!("{url} is a download, which is not saved");
            return Error::new(Code::DownloadBlocked, message)
                .hint("save it with `commis browse download URL`");
        }
        if text.contains("ERR_ABORTED")
            && let Some(status @ (204 | 205)) = self.status_of(url)
        {
            let message =
                format!("{url} answered {status}, which has no page: the one before stays");
            return Error::new(Code::StepFailed, message)
                .hint("the request was sent; go to another address, or reload");
        }
        // A redirect to a forbidden place: say which.
        if let Some(it) = self.blocked().get(refused) {
            let code = Code::ALL.iter().find(|code| code.as_str() == it.code);
            let message = format!("{}: {}", it.url, it.reason);
            return Error::new(code.copied().unwrap_or(Code::UrlBlocked), message);
        }
        if let Some(err) = self.distrusted(safe).await {
            return err;
        }
        // The browser knows only that the proxy made no tunnel.
        if text.contains("TUNNEL")
            && let Some((code, why)) = self.proxy.trouble(safe.host())
        {
            return down(code, &format!("cannot open {url}: {why}"));
        }
        let code = if text.contains("TIMED_OUT") { Code::Timeout } else { Code::ConnectFailed };
        let why = match text {
            it if it.contains("ERR_CERT") => "its certificate is not accepted",
            it if it.contains("ERR_SSL") => "it does not speak TLS as it should",
            it if it.contains("ERR_EMPTY_RESPONSE") => "it answered nothing",
            it if it.contains("TOO_MANY_REDIRECTS") => "it redirects for ever",
            _ => "the browser gave up",
        };
        down(code, &format!("cannot open {url}: {why} ({text})"))
    }
}

fn down(code: Code, message: &str) -> Error {
    let hint =
        "no step after it was tried; open the address in a browser to see whether the site is up";
    Error::new(code, message).hint(hint)
}
