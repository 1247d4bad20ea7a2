//! Live sessions: a source page that is kept open, shared by the runs of one process until it is too old.
//!
//! A session lives in memory alone, in a context of its own; nothing of it is ever stored. Proofs do not share one: see
//! [`World`](super::World).

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use tokio::sync::Mutex;

use super::BrowserPool;
use commis_base::{
    error::{Code, Error, Result},
    ids::hex,
};
use commis_browser::Context;
use commis_net::{egress::site_of, transport::Transport};
use commis_recipe::model::{Recipe, SlotSource, TransportKind};
use commis_runner::slots::{cookie_text, stored_text};
use commis_stages::effect::recipe_effect;
use commis_vault::Login;

/// How long a source page may take to come up.
const OPEN: Duration = Duration::from_secs(30);

/// The sessions of a process, one for each source page.
pub struct Sessions {
    pool: BrowserPool,
    ttl: Duration,
    live: Arc<SessionMap>,
    /// What pages of its site are opened with.
    login: Option<Login>,
}

/// By source page, and the host of the user's own that it is opened at.
type SessionMap = Mutex<BTreeMap<(String, Option<String>), Arc<Session>>>;

/// A source page that is open. Its context is closed when it is too old and nobody uses it any more.
pub struct Session {
    /// 32 hexadecimal digits that mean nothing.
    pub id: String,
    /// The page that established it.
    pub source_url: String,
    created: Instant,
    ttl: Duration,
    context: Context,
}

impl Sessions {
    /// None yet; each will live for `ttl`.
    pub fn new(pool: BrowserPool, ttl: Duration) -> Self {
        Self { pool, ttl, live: Arc::default(), login: None }
    }

    /// From here on, pages of that login's site are opened with it.
    #[must_use]
    pub fn logged_in(self, login: Login) -> Self {
        Self { login: Some(login), ..self }
    }

    /// The login that pages of its site are opened with.
    pub fn login(&self) -> Option<&Login> {
        self.login.as_ref()
    }

    /// Whether pages of that site are opened with a login.
    pub fn has_login(&self, site: &str) -> bool {
        self.login.as_ref().is_some_and(|it| it.site() == site)
    }

    /// With a login, whether all that the recipe reaches is of its site. Fails with `LOGIN_NOT_ALLOWED`.
    pub fn allow(&self, recipe: &Recipe) -> Result<()> {
        self.login.as_ref().map_or(Ok(()), |it| stays_at(recipe, &it.site()))
    }

    /// The live session of that page, or a new one, at the host `own` of the user's own. Fails with `BROWSER_*` and what opening
    /// the page fails with.
    pub async fn get_or_open(&self, source_url: &str, own: Option<&str>) -> Result<Arc<Session>> {
        let key = (source_url.to_owned(), own.map(str::to_owned));
        let mut live = self.live.lock().await;
        live.retain(|_, it| it.is_live());
        if let Some(it) = live.get(&key) {
            return Ok(Arc::clone(it));
        }
        let mut context = self.pool.context().await?;
        context.visit(own);
        if let Some(it) = self.login.as_ref().filter(|it| it.site() == site_of(source_url)) {
            it.reload()?;
            context.mount(&it.contents()).await?;
        }
        context.open(source_url, OPEN).await?;
        let session = Arc::new(Session {
            id: random_id()?,
            source_url: source_url.to_owned(),
            created: Instant::now(),
            ttl: self.ttl,
            context,
        });
        live.insert(key, Arc::clone(&session));
        tokio::spawn(end(Arc::downgrade(&self.live), Arc::downgrade(&session)));
        Ok(session)
    }

    /// Forgets one session, which ends when nobody uses it any more.
    pub async fn discard(&self, session: &Arc<Session>) {
        self.live.lock().await.retain(|_, it| !Arc::ptr_eq(it, session));
    }

    /// Forgets all sessions; each ends when nobody uses it any more.
    pub async fn forget(&self) {
        self.live.lock().await.clear();
    }

    /// Closes all sessions and the browser.
    pub async fn close(self) {
        self.live.lock().await.clear();
        self.pool.close().await;
    }
}

/// Whether a recipe may be run with that login. Fails with `PARAM_INVALID` where the recipe has no use for one, with
/// `LOGIN_NOT_ALLOWED` where it reaches another site, and with `RECIPE_MAY_CHANGE` where a stranger's may change something.
pub fn may_use(recipe: &Recipe, login: &Login) -> Result<()> {
    if !recipe.transport().sends_cookies() {
        let why = format!("{} needs no session, so it cannot use a login", recipe.name);
        return Err(Error::new(Code::ParamInvalid, why));
    }
    stays_at(recipe, &login.site())?;
    // What nobody here stands for acts in nobody's name.
    if recipe.trust.is_untrusted()
        && let Err(why) = recipe_effect(recipe, false).into_result()
    {
        let why = format!("`{}` was not learned here, and {why}", recipe.name);
        return Err(Error::new(Code::RecipeMayChange, why)
            .hint("run it without a login, or prove it first: `commis recipe verify`"));
    }
    Ok(())
}

/// Whether page, request, slots and redirects of a recipe are of that site: what a login shows goes nowhere else. Fails with
/// `LOGIN_NOT_ALLOWED`.
pub fn stays_at(recipe: &Recipe, site: &str) -> Result<()> {
    let slots = recipe.slots.iter().filter_map(|it| match &it.from {
        SlotSource::Response { url, .. } | SlotSource::Document { url, .. } => {
            Some((format!("its slot `{}`", it.name), url.clone()))
        }
        _ => None,
    });
    let hosts = recipe.requests().flat_map(|it| &it.allowed_domains);
    let requests = recipe.requests().map(|it| ("its request".to_owned(), it.url.clone()));
    let page = ("its page".to_owned(), recipe.source_url.clone());
    let mut all = std::iter::once(page)
        .chain(requests)
        .chain(slots)
        .chain(hosts.map(|it| ("a host that it may reach".to_owned(), format!("https://{it}/"))));
    let Some((what, other)) = all.find(|it| !is_at(&it.1, site)) else { return Ok(()) };
    let other = site_of(&other);
    let why = format!("the login is one of {site}, and {what} of `{}` is of {other}", recipe.name);
    Err(Error::new(Code::LoginNotAllowed, why).hint(
        "with a login, page, request, slots and allowed_domains must be of the login's site; or run it without a login",
    ))
}

/// Whether an address is of that site; one that says the site itself, and nothing beside it, needs no parsing.
fn is_at(url: &str, site: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.and_then(|it| it.split('/').next()) == Some(site) || site_of(url) == site
}

/// Forgets a session when its time is up, so that its cookies do not wait for the next run.
async fn end(live: Weak<SessionMap>, session: Weak<Session>) {
    let Some(ttl) = session.upgrade().map(|it| it.ttl) else { return };
    tokio::time::sleep(ttl).await;
    if let (Some(live), Some(session)) = (live.upgrade(), session.upgrade()) {
        live.lock().await.retain(|_, it| !Arc::ptr_eq(it, &session));
    }
}

impl Session {
    fn is_live(&self) -> bool {
        self.created.elapsed() < self.ttl && self.context.is_alive()
    }

    /// Whether it was opened after that moment.
    pub fn is_newer(&self, moment: Instant) -> bool {
        self.created >= moment
    }

    /// The transport of that kind in this session.
    pub fn transport(&self, kind: TransportKind) -> Box<dyn Transport> {
        self.context.transport(kind)
    }

    /// Writes back what its requests changed in the login that it was opened with.
    pub async fn keep_cookies(&self, login: &Login) -> Result<()> {
        let held = login.contents();
        if site_of(&self.source_url) != held.site() {
            return Ok(());
        }
        login.absorb(&self.context.capture_login(Some(held.url()), "context").await?).await
    }

    /// Values of the recipe's slots that the page and its cookies hold. Fails with `SESSION_REQUIRED` for one that is missing.
    pub async fn slots(&self, recipe: &Recipe) -> Result<BTreeMap<String, String>> {
        let mut out = BTreeMap::new();
        for slot in &recipe.slots {
            let (value, what) = match &slot.from {
                SlotSource::Cookie { name, decoded } => {
                    let value = self.context.cookie(name, &recipe.request.url).await?;
                    (value.map(|it| cookie_text(it, *decoded)), format!("cookie `{name}`"))
                }
                SlotSource::Meta { name } => {
                    (self.context.meta(name).await?, format!("meta `{name}`"))
                }
                SlotSource::Storage { area, key, path } => {
                    let value = self.context.storage_item(*area, key).await?;
                    let value = match value {
                        Some(it) => stored_text(&it, path.as_deref())?,
                        None => None,
                    };
                    (value, format!("stored `{key}`"))
                }
                _ => continue,
            };
            let value = value.ok_or_else(|| {
                Error::new(Code::SessionRequired, format!("{} has no {what}", self.source_url))
                    .hint("the site may ask for a login, or it changed; learn the recipe again")
            })?;
            out.insert(slot.name.clone(), value);
        }
        Ok(out)
    }
}

fn random_id() -> Result<String> {
    let mut bytes = [0; 16];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| Error::new(Code::Internal, "the system provides no random bytes"))?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::settings::{BrowserSettings, EgressSettings};
    use commis_browser::find_chromium;
    use commis_net::{egress::EgressPolicy, transport::PreparedRequest};
    use commis_testbed::Testbed;

    #[tokio::test(flavor = "multi_thread")]
    async fn runs_of_one_source_share_a_session_until_its_time_is_up() {
        if find_chromium(None).is_err() {
            commis_base::testing::skip_without("Chromium");
            return;
        }
        let web = Testbed::start(0).await.unwrap();
        let settings = EgressSettings {
            test_hosts: vec![format!("*.test={}", web.addr())],
            ..EgressSettings::default()
        };
        let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
        let sessions = |ttl| {
            let pool = BrowserPool::new(Arc::clone(&policy), BrowserSettings::default());
            Sessions::new(pool, ttl)
        };
        let asked = async |session: &Session| {
            let request = PreparedRequest {
                method: "GET".to_owned(),
                url: "http://forum.test/api/threads?q=gearbox".to_owned(),
                headers: Vec::new(),
                body: None,
                allowed_domains: Vec::new(),
                own_host: None,
            };
            session.transport(TransportKind::ContextRequest).send(&request).await
        };
        let (forum, shop) = ("http://forum.test/", "http://shop.test/");
        let all = sessions(Duration::from_secs(600));
        let first = all.get_or_open(forum, None).await.unwrap();
        assert_eq!(asked(&first).await.unwrap().status, 200);
        assert_eq!(all.get_or_open(forum, None).await.unwrap().id, first.id);
        let other = all.get_or_open(shop, None).await.unwrap();
        assert_ne!(other.id, first.id);
        // One source's cookies are not another's.
        assert_eq!(asked(&other).await.unwrap().status, 401);
        assert!(first.id.len() == 32 && first.id.bytes().all(|it| it.is_ascii_hexdigit()));
        all.close().await;
        assert!(asked(&first).await.is_err());

        let all = sessions(Duration::from_millis(300));
        let first = all.get_or_open(forum, None).await.unwrap();
        let old = first.id.clone();
        let gone = Arc::downgrade(&first);
        drop(first);
        // By itself, without a further run.
        let begun = Instant::now();
        while gone.upgrade().is_some() {
            assert!(begun.elapsed() < Duration::from_secs(120), "the session stays");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_ne!(all.get_or_open(forum, None).await.unwrap().id, old);
        all.close().await;
    }

    #[test]
    fn what_a_login_shows_stays_at_its_site() {
        let of = |page: &str, host: &str, more: &str| {
            let text = format!(
                "{{version: 1, name: x, task: t, status: draft, source_url: 'https://{page}/', \
                 request: {{method: GET, url: 'https://{host}/{{s}}', allowed_domains: [{more}]}}, \
                 slots: [{{name: s, from: {{document: {{url: 'https://{}/', after: a, until: b}}}}}}], response: {{type: json}}}}",
                more.split(", ").last().unwrap()
            );
            stays_at(&commis_recipe::yaml::parse(&text).unwrap(), "bank.test")
                .map_err(|it| it.code())
        };
        assert_eq!(of("www.bank.test", "api.bank.test", "api.bank.test, bank.test"), Ok(()));
        for (page, host, more) in [
            ("evil.test", "bank.test", "bank.test"),
            ("bank.test", "evil.test", "evil.test"),
            ("bank.test", "evil.test", "evil.test, bank.test"),
            ("bank.test", "bank.test", "bank.test, evil.test"),
            ("bank.test", "bank.test", "evil.test, bank.test"),
            ("bank.test", "bank.test.evil.test", "bank.test.evil.test"),
            ("bank.test", "notbank.test", "notbank.test"),
        ] {
            assert_eq!(of(page, host, more), Err(Code::LoginNotAllowed), "{page} {host} {more}");
        }
    }
}
