//! A login put into a fresh context, and taken out of one: cookies by the browser itself, what pages store in documents of their own.
//!
//! What pages store is set in an empty document of its origin that comes from no network: interception answers it (`stand_in`). So
//! it is there before the first script of the site, and no other origin's process ever hears of it.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{
    Context,
    ask::BasicAuthResponder,
    context_state::ContextInner,
    page::{self, stored_in},
    recorder::Recorder,
};
use commis_base::error::{Code, Error, Result};
use commis_net::egress::site_of;
use commis_recipe::model::StorageArea;
use commis_vault::{Cookie, LoginData, LoginProbe, StorageItem};

const PATIENCE: Duration = Duration::from_secs(10);
/// A window that nobody closes.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// How often a window is read: what it stores goes with it.
const OFTEN: Duration = Duration::from_millis(400);
/// Without news for so long a page has come to rest, in so long at most.
const REST: Duration = Duration::from_millis(300);
const SETTLE: Duration = Duration::from_secs(4);

const STORE: &str = "function (all) {
  for (const [area, name, value] of all)
    (area === 'session' ? sessionStorage : localStorage).setItem(name, value);
  return localStorage.length;
}";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredCookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    #[serde(default)]
    expires: f64,
    #[serde(default)]
    session: bool,
    #[serde(default)]
    http_only: bool,
    #[serde(default)]
    secure: bool,
    same_site: Option<String>,
    partition_key: Option<PartitionKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartitionKey {
    top_level_site: String,
    #[serde(default)]
    has_cross_site_ancestor: bool,
}

impl From<StoredCookie> for Cookie {
    fn from(it: StoredCookie) -> Self {
        Self {
            name: it.name,
            value: it.value.into(),
            domain: it.domain,
            path: it.path,
            ends: (!it.session && it.expires > 0.0).then_some(it.expires as i64),
            secure: it.secure,
            http_only: it.http_only,
            same_site: it.same_site,
            partition: it.partition_key.map(|it| it.top_level_site),
            set_ms: 0,
        }
    }
}

/// As the browser takes it. A cookie of one host alone is named by an address, never by a domain.
fn set_cookie_params(it: &Cookie) -> Value {
    let host = it.domain.trim_start_matches('.');
    let scheme = if it.secure { "https" } else { "http" };
    let mut out = json!({
        "name": it.name,
        "value": it.value.as_str(),
        "url": format!("{scheme}://{host}/"),
        "path": it.path,
        "secure": it.secure,
        "httpOnly": it.http_only,
    });
    if it.domain.starts_with('.') {
        out["domain"] = it.domain.as_str().into();
    }
    if let Some(ends) = it.ends {
        out["expires"] = ends.into();
    }
    if let Some(same_site) = &it.same_site {
        out["sameSite"] = same_site.as_str().into();
    }
    if let Some(top) = &it.partition {
        out["partitionKey"] = json!({ "topLevelSite": top, "hasCrossSiteAncestor": false });
    }
    out
}

impl Context {
    /// Whether nothing was done in it yet: no page was opened, and nobody's cookie is in it.
    pub(super) async fn is_fresh(&self) -> Result<bool> {
        let shared = self.shared();
        let frame = shared.main_frame().await?;
        let url = page::url(&shared.cdp, &frame).await?;
        let tabs = shared.lock().tabs.as_ref().map_or(1, |it| it.last);
        Ok(url == "about:blank" && tabs == 1 && all_cookies(shared).await?.is_empty())
    }

    /// Answers the servers of the address' site that ask for a name and a password (HTTP Basic), until the context goes.
    pub fn answer_basic(&self, url: &str, name: Zeroizing<String>, password: Zeroizing<String>) {
        self.shared().lock().basic = Some(BasicAuthResponder::new(url, name, password));
    }

    /// Puts a login into this context, which has to be fresh; how many of its cookies the browser did not take. Fails with
    /// `BROWSER_FAILED`.
    pub async fn mount(&self, held: &LoginData) -> Result<usize> {
        let shared = self.shared();
        let secrets = held.secrets();
        commis_redact::hide_all(&secrets);
        {
            let mut state = shared.lock();
            state.secrets.extend(secrets);
            state.basic =
                held.basic().map(|it| BasicAuthResponder::from_auth(held.url(), it.clone()));
        }
        let mut refused = 0;
        let replies: Vec<_> = held
            .cookies()
            .iter()
            .map(|it| {
                let params =
                    json!({ "cookies": [set_cookie_params(it)], "browserContextId": shared.id });
                shared.cdp.send(None, "Storage.setCookies", params)
            })
            .collect();
        for reply in replies {
            refused += usize::from(reply.raw(PATIENCE).await.is_err());
        }
        let mut origins: BTreeMap<&str, Vec<&StorageItem>> = BTreeMap::new();
        for it in held.stored().iter().filter(|it| it.area != StorageArea::Memory) {
            origins.entry(&it.origin).or_default().push(it);
        }
        let any = !origins.is_empty();
        for (origin, items) in origins {
            self.store(origin, &items).await?;
        }
        if any {
            self.blank().await?;
        }
        Ok(refused)
    }

    /// Sets what pages of that origin stored.
    async fn store(&self, origin: &str, items: &[&StorageItem]) -> Result<()> {
        let shared = self.shared();
        let url = format!("{origin}/");
        shared.lock().stand_in = Some(url.clone());
        let opened = self.goes_to(&url).await;
        shared.lock().stand_in = None;
        opened?;
        let frame = shared.main_frame().await?;
        let all: Value =
            items.iter().map(|it| json!([it.area, it.name, it.value.as_str()])).collect();
        page::call::<u32>(&shared.cdp, &frame, STORE, &[all], page::PATIENCE).await.map(drop)
    }

    /// As it was before.
    async fn blank(&self) -> Result<()> {
        self.goes_to("about:blank").await?;
        let session = self.shared().page()?.session;
        self.shared().cdp.run(Some(&session), "Page.resetNavigationHistory", json!({})).await
    }

    async fn goes_to(&self, url: &str) -> Result<()> {
        let shared = self.shared();
        let session = shared.page()?.session;
        let parsed = shared.lock().parsed;
        shared.cdp.run(Some(&session), "Page.navigate", json!({ "url": url })).await?;
        let deadline = Instant::now() + PATIENCE;
        if shared.until(deadline, |it| it.parsed != parsed).await? {
            return Ok(());
        }
        Err(Error::new(Code::BrowserFailed, "the browser did not open an empty page"))
    }

    /// What this context holds of a site: that of the page, or of `url` where the page is another's. Fails with `BROWSER_FAILED`,
    /// and as [`LoginData::new`].
    pub async fn capture_login(&self, url: Option<&str>, from: &str) -> Result<LoginData> {
        let shared = self.shared();
        let frame = shared.main_frame().await?;
        let at = page::url(&shared.cdp, &frame).await?;
        let elsewhere = |it: &&str| site_of(it) != site_of(&at);
        let at = url.filter(elsewhere).map_or(at.clone(), str::to_owned);
        let mut stored = BTreeMap::new();
        read_stored(shared, &mut stored).await;
        self.sealed_as(&at, from, stored).await
    }

    async fn sealed_as(
        &self,
        url: &str,
        from: &str,
        stored: BTreeMap<String, Vec<StorageItem>>,
    ) -> Result<LoginData> {
        let cookies = all_cookies(self.shared()).await?;
        let mut held =
            LoginData::new(url, from, cookies, stored.into_values().flatten().collect())?;
        if let Some(it) = &self.shared().lock().basic {
            held = held.with_basic(it.accepted_auth());
        }
        commis_redact::hide_all(&held.secrets());
        Ok(held)
    }

    /// Opens the URL in a window, and takes what its site holds when the window is closed or `done` comes. `told` gets a line for
    /// each page, for a terminal. Fails with the codes of [`Context::open`] and as [`LoginData::new`].
    pub async fn log_in(
        &mut self,
        url: &str,
        timeout: Duration,
        told: &(dyn Fn(&str) + Send + Sync),
        done: impl Future<Output = ()>,
    ) -> Result<LoginData> {
        let shared = Arc::clone(self.shared());
        shared.visit.begin_at(url);
        // The site of a login may ask for it in a window of its own.
        self.keep_tabs()?;
        let opened = shared.navigate(url, timeout).await;
        // A window that is closed while it loads has been closed.
        if let Err(err) = opened
            && shared.lock().page.is_some()
        {
            return Err(err);
        }
        let begun = Instant::now();
        let (mut at, mut seen, mut stored) = (url.to_owned(), String::new(), BTreeMap::new());
        let mut done = pin!(done);
        let mut over = false;
        while !over && shared.lock().page.is_some() {
            if shared.cdp.is_closed() {
                return Err(shared.cdp.ended());
            }
            if begun.elapsed() >= LONGEST {
                return Err(Error::new(Code::Timeout, "nobody closed the window for half an hour")
                    .hint("no login was stored; log in again"));
            }
            read_stored(&shared, &mut stored).await;
            if let Ok(frame) = shared.main_frame().await
                && let Ok(now) = page::url(&shared.cdp, &frame).await
            {
                // What stands behind a path may be a secret of its own.
                let shown = now.split(['?', '#']).next().unwrap_or_default();
                if shown != seen {
                    // The page before may have stored something and gone on; whoever reads this may close the window.
                    read_stored(&shared, &mut stored).await;
                    told(&format!("the window is at {shown}"));
                    shown.clone_into(&mut seen);
                }
                if site_of(&now) == site_of(url) {
                    at = now;
                }
            }
            tokio::select! {
                () = &mut done => over = true,
                () = tokio::time::sleep(OFTEN) => {}
            }
        }
        if over {
            read_stored(&shared, &mut stored).await;
        }
        self.sealed_as(&at, "window", stored).await
    }

    /// Opens the page of a login that was mounted, and says what came up when it has come to rest. Fails with the codes of
    /// [`Context::open`].
    pub async fn look_in(&mut self, url: &str, timeout: Duration) -> Result<LoginProbe> {
        let shared = Arc::clone(self.shared());
        shared.visit.begin_at(url);
        self.listen()?;
        shared.navigate(url, timeout).await?;
        self.silence(REST, Instant::now() + SETTLE).await;
        let frames = shared.frames().await?;
        let seen = page::summary(&shared.cdp, &frames).await;
        let state = shared.lock();
        let document = state.recorder.as_ref().and_then(Recorder::document);
        let status = document.and_then(|it| it.response.as_ref()).map(|it| it.status);
        Ok(LoginProbe { url: seen.url, password: seen.has_password_field, status })
    }
}

async fn all_cookies(shared: &ContextInner) -> Result<Vec<Cookie>> {
    #[derive(Deserialize)]
    struct Cookies {
        cookies: Vec<StoredCookie>,
    }
    let params = json!({ "browserContextId": shared.id });
    let all: Cookies = shared.cdp.call(None, "Storage.getCookies", params).await?;
    // What a frame of another site has there is not the login of this one.
    let own =
        |it: &StoredCookie| !it.partition_key.as_ref().is_some_and(|it| it.has_cross_site_ancestor);
    Ok(all.cookies.into_iter().filter(own).map(Cookie::from).collect())
}

/// What the documents that are open stored, by origin; one that goes away is left as it was read last.
async fn read_stored(shared: &ContextInner, out: &mut BTreeMap<String, Vec<StorageItem>>) {
    let mut frames = shared.frames().await.unwrap_or_default();
    let others: Vec<_> = {
        let state = shared.lock();
        let now = state.tab();
        let tabs = state.tabs.iter().flat_map(|it| &it.all).filter(|it| it.number != now);
        tabs.map(|it| it.page.clone()).collect()
    };
    for it in others {
        frames.extend(page::main_frame(&shared.cdp, &it.session, &it.target).await.ok());
    }
    for frame in frames {
        let Some((origin, items)) = stored_in(&shared.cdp, &frame).await else { continue };
        out.insert(origin, items);
    }
}
