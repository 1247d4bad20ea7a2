//! Who may look at one page that stays, and at nothing else: a code for one use, and the cookie that it is traded for.
//!
//! Nothing here knows of tokens or of the dashboard, so nothing that is made here can be either. What a cookie opens lies below
//! [`PATH`], where browsers send it and nowhere else, and none of it acts.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, header::COOKIE};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::page_sessions::PageKey;
use commis_base::{
    error::{Code, Error, Result},
    ids,
};

pub const PATH: &str = "/watch";
pub const LASTS: Duration = Duration::from_secs(30 * 60);
pub const CODE: Duration = Duration::from_secs(60);
/// Codes, and cookies, at once.
const MOST: usize = 64;

/// What may be looked at, and for how long.
#[derive(Clone)]
pub struct ViewGrant {
    pub page: PageKey,
    pub until: Instant,
    /// Cancelled where whoever gave it may look no longer.
    pub over: CancellationToken,
}

impl ViewGrant {
    fn is_valid(&self) -> bool {
        self.until > Instant::now() && !self.over.is_cancelled()
    }
}

pub struct Viewers {
    /// Cookies know no ports: each daemon has its own.
    cookie: String,
    /// By digest.
    codes: Mutex<BTreeMap<String, ViewGrant>>,
    cookies: Mutex<BTreeMap<String, ViewGrant>>,
}

pub fn digest(word: &str) -> String {
    ids::hex(&Sha256::digest(word.as_bytes()))
}

/// Fails with `RATE_LIMITED` where there are as many as may be.
fn keep(all: &Mutex<BTreeMap<String, ViewGrant>>, word: &str, view: ViewGrant) -> Result<()> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|_, it| it.is_valid());
    if all.len() >= MOST {
        return Err(Error::new(Code::RateLimited, "too many viewers are connected already"));
    }
    all.insert(digest(word), view);
    Ok(())
}

impl Viewers {
    pub fn new(port: u16) -> Self {
        let cookie = format!("commis-watch-{port}");
        Self { cookie, codes: Mutex::default(), cookies: Mutex::default() }
    }

    /// A code that lets somebody look at that page, to be used once within a minute; and what ends that. Fails with
    /// `RATE_LIMITED`, `INTERNAL`.
    pub fn new_code(&self, page: PageKey) -> Result<(String, CancellationToken)> {
        let (code, over) = (ids::random_token()?, CancellationToken::new());
        let view = ViewGrant { page, until: Instant::now() + CODE, over: over.clone() };
        keep(&self.codes, &code, view)?;
        Ok((code, over))
    }

    /// The cookie for a code, which is used up by it.
    pub fn trade(&self, code: &str) -> Option<String> {
        let view = {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            codes.remove(&digest(code)).filter(ViewGrant::is_valid)?
        };
        let cookie = ids::random_token().ok()?;
        keep(&self.cookies, &cookie, ViewGrant { until: Instant::now() + LASTS, ..view }).ok()?;
        let (name, age) = (&self.cookie, LASTS.as_secs());
        Some(format!("{name}={cookie}; HttpOnly; SameSite=Strict; Path={PATH}; Max-Age={age}"))
    }

    /// What the cookie of a request opens.
    pub fn view(&self, headers: &HeaderMap) -> Option<ViewGrant> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let value = cookies
            .flat_map(|it| it.split(';'))
            .find_map(|it| it.trim().strip_prefix(&*self.cookie)?.strip_prefix('='))?;
        let all = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&digest(value)).filter(|it| it.is_valid()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_for_one_use_and_a_cookie_for_one_page() {
        let viewers = Viewers::new(7);
        let page = (String::new(), "shop".to_owned());
        let (code, over) = viewers.new_code(page.clone()).unwrap();
        assert!(viewers.trade("0123").is_none());
        let cookie = viewers.trade(&code).unwrap();
        assert!(viewers.trade(&code).is_none());
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/watch; Max-Age=1800"));
        let headers = |cookie: &str| {
            let mut out = HeaderMap::new();
            out.insert(COOKIE, cookie.split(';').next().unwrap().parse().unwrap());
            out
        };
        assert_eq!(viewers.view(&headers(&cookie)).unwrap().page, page);
        // Another daemon's, a code, nothing.
        for other in [cookie.replace("-7=", "-8="), format!("commis-watch-7={code}"), "a=b".into()]
        {
            assert!(viewers.view(&headers(&other)).is_none(), "{other}");
        }
        over.cancel();
        assert!(viewers.view(&headers(&cookie)).is_none());
        for _ in 0..MOST {
            viewers.new_code(page.clone()).unwrap();
        }
        assert_eq!(viewers.new_code(page).unwrap_err().code(), Code::RateLimited);
    }

    #[test]
    fn what_lets_somebody_look_knows_no_tokens() {
        let text = include_str!("viewer_access.rs").split("#[cfg(test)]").next().unwrap();
        let used = text.lines().filter(|it| !it.starts_with("//!"));
        for word in ["principal", "guard", "Scope", "task_database", "daemon"] {
            assert!(used.clone().all(|it| !it.contains(&format!("{word}::"))), "{word}");
        }
    }
}
