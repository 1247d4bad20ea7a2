//! What the daemon knows of browsers that show the dashboard: one-time codes, cookies, proofs of its own pages.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{
    HeaderMap, HeaderValue, Method, StatusCode, Uri,
    header::{COOKIE, HOST, ORIGIN},
    uri::Authority,
};

use super::principal::digest;
use commis_base::{error::Result, ids};

const COOKIE_NAME: &str = "commis";

const SESSION: Duration = Duration::from_secs(30 * 60);

const CODE: Duration = Duration::from_secs(60);

/// What is known of browsers that look at the dashboard.
pub struct DashboardAuth {
    /// Cookies know no ports: each daemon has its own.
    cookie: String,
    authorities: [String; 3],
    origins: [String; 3],
    /// Digests of codes that open the dashboard once.
    codes: Mutex<BTreeMap<String, Instant>>,
    /// Digests of cookies to what proves that a request was made by the dashboard's own page.
    sessions: Mutex<BTreeMap<String, DashboardSession>>,
}

#[derive(Clone)]
pub(super) struct DashboardSession {
    pub(super) id: String,
    pub(super) csrf: String,
    pub(super) until: Instant,
}

/// The proof that a browser's own page gives; in its request's extensions.
#[derive(Clone)]
pub struct CsrfToken(pub String);

/// When what a browser may look at is over; in its request's extensions.
#[derive(Clone, Copy)]
pub struct AccessDeadline(pub Instant);

impl DashboardAuth {
    pub fn new(port: u16) -> Self {
        let authorities = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        let origins = authorities.clone().map(|it| format!("http://{it}"));
        Self {
            cookie: format!("{COOKIE_NAME}-{port}"),
            authorities,
            origins,
            codes: Mutex::default(),
            sessions: Mutex::default(),
        }
    }

    /// A code that opens the dashboard once. Fails with `INTERNAL`.
    pub fn new_code(&self) -> Result<String> {
        let code = ids::random_token()?;
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|_, until| *until > Instant::now());
        codes.insert(digest(&code), Instant::now() + CODE);
        Ok(code)
    }

    /// The cookie for a code, which is used up by it.
    pub fn trade(&self, code: &str) -> Option<String> {
        let until = {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            codes.remove(&digest(code))?
        };
        if until < Instant::now() {
            return None;
        }
        let (cookie, csrf, id) =
            (ids::random_token().ok()?, ids::random_token().ok()?, ids::random_token().ok()?);
        let id = id.get(..8)?.to_owned();
        let session = DashboardSession { id, csrf, until: Instant::now() + SESSION };
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, it| it.until > Instant::now());
        sessions.insert(digest(&cookie), session);
        let age = SESSION.as_secs();
        let name = &self.cookie;
        Some(format!("{name}={cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age}"))
    }

    pub(super) fn session(&self, headers: &HeaderMap) -> Option<DashboardSession> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let value = cookies
            .flat_map(|it| it.split(';'))
            .find_map(|it| it.trim().strip_prefix(&*self.cookie)?.strip_prefix('='))?;
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&digest(value)).filter(|it| it.until > Instant::now()).cloned()
    }

    /// Whose address is asked, as the request names it.
    pub(super) fn is_ours(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        let wrong = |why| Err((StatusCode::BAD_REQUEST, why));
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return wrong("exactly one Host header is required");
        };
        let Ok(host) = host.to_str() else { return wrong("the Host header is not text") };
        // An absolute target stands before the header (RFC 9112, 3.2.2); ours has to be both.
        for it in [Some(host), uri.authority().map(Authority::as_str)].into_iter().flatten() {
            let plain = |it: u8| it.is_ascii_alphanumeric() || b".-_:[]".contains(&it);
            if it.is_empty() || !it.bytes().all(plain) || it.parse::<Authority>().is_err() {
                return wrong("the Host header is not a valid host");
            }
            if !self.authorities.iter().any(|own| own.eq_ignore_ascii_case(it)) {
                return Err((
                    StatusCode::FORBIDDEN,
                    "the Host header is not that of this listener",
                ));
            }
        }
        Ok(())
    }

    /// Where it comes from, as a browser tells; other programs say nothing.
    pub(super) fn comes_from_us(&self, method: &Method, headers: &HeaderMap) -> bool {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = match (origins.next(), origins.next()) {
            (None, _) => true,
            (Some(it), None) => self.origins.iter().any(|own| own.as_bytes() == it.as_bytes()),
            _ => false,
        };
        let mut sites = headers.get_all("sec-fetch-site").iter();
        let site = match (sites.next().map(HeaderValue::as_bytes), sites.next()) {
            (None, _) | (Some(b"same-origin"), None) => true,
            // Typed by a person.
            (Some(b"none"), None) => is_safe(method),
            _ => false,
        };
        origin && site
    }
}

pub(super) fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}
