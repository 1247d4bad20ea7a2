//! What a login is made of. In memory, wiped when it goes; written by [`LoginData::to_bytes`] alone, which only sealing calls.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize};
use zeroize::Zeroizing;

use super::{LoginCheckRecord, LoginName, LoginSummary};
use commis_base::error::{Code, Error, Result};
use commis_net::egress::{SafeUrl, is_public_suffix, site_of};
use commis_recipe::model::{RequestTemplate, Slot, StorageArea};
use commis_state::now_ms;

/// Of one login.
const MOST: usize = 3000;
/// Bytes of one value, and of all.
const LONGEST: usize = 1 << 20;
const WHOLE: usize = 16 << 20;

/// The cookies and stored values of one site; neither `Debug` nor `Serialize`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoginData {
    site: String,
    url: String,
    from: String,
    taken_ms: i64,
    cookies: Vec<Cookie>,
    stored: Vec<StorageItem>,
    /// How the site's pages renew it, where that was seen.
    #[serde(default)]
    refresh: Option<Refresh>,
    /// What its servers asked for by HTTP Basic.
    #[serde(default)]
    basic: Option<BasicAuth>,
}

/// The name and password that servers of the site ask for themselves (RFC 7617).
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BasicAuth {
    /// Those that asked, and no others are told.
    pub origins: BTreeSet<String>,
    #[serde(deserialize_with = "secret")]
    pub name: Zeroizing<String>,
    #[serde(deserialize_with = "secret")]
    pub password: Zeroizing<String>,
}

impl BasicAuth {
    /// The value of `Authorization`.
    fn header(&self) -> Zeroizing<String> {
        let both = Zeroizing::new(format!("{}:{}", *self.name, *self.password));
        Zeroizing::new(format!("Basic {}", STANDARD.encode(both.as_bytes())))
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cookie {
    pub name: String,
    #[serde(deserialize_with = "secret")]
    pub value: Zeroizing<String>,
    /// With a leading dot for the domain and all below it, else of that host alone.
    pub domain: String,
    pub path: String,
    /// Seconds since 1970; absent where it ends with its context.
    pub ends: Option<i64>,
    pub secure: bool,
    pub http_only: bool,
    /// `Strict`, `Lax` or `None`.
    pub same_site: Option<String>,
    /// The site that it is kept apart for.
    pub partition: Option<String>,
    /// When an answer set it, milliseconds since 1970; 0 where it came with the login itself.
    #[serde(default)]
    pub set_ms: i64,
}

/// Something that a page stored.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageItem {
    pub origin: String,
    #[serde(default)]
    pub area: StorageArea,
    pub name: String,
    #[serde(deserialize_with = "secret")]
    pub value: Zeroizing<String>,
    /// When a run changed it, milliseconds since 1970; 0 where it came with the login itself.
    #[serde(default)]
    pub set_ms: i64,
}

impl StorageItem {
    pub(super) fn replaces(&self, old: &Self) -> bool {
        self.origin == old.origin && self.area == old.area && self.name == old.name
    }
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Zeroizing<String>, D::Error> {
    String::deserialize(from).map(Zeroizing::new)
}

/// As it is written; borrows, so that nothing is copied but into the buffer that is encrypted.
#[derive(Serialize)]
struct LoginRecord<'a> {
    site: &'a str,
    url: &'a str,
    from: &'a str,
    taken_ms: i64,
    cookies: Vec<CookieRecord<'a>>,
    stored: Vec<ItemRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<&'a Refresh>,
    #[serde(skip_serializing_if = "Option::is_none")]
    basic: Option<BasicRecord<'a>>,
}

#[derive(Serialize)]
struct BasicRecord<'a> {
    origins: &'a BTreeSet<String>,
    name: &'a str,
    password: &'a str,
}

#[derive(Serialize)]
struct CookieRecord<'a> {
    name: &'a str,
    value: &'a str,
    domain: &'a str,
    path: &'a str,
    ends: Option<i64>,
    secure: bool,
    http_only: bool,
    same_site: Option<&'a str>,
    partition: Option<&'a str>,
    #[serde(skip_serializing_if = "is_zero")]
    set_ms: i64,
}

#[derive(Serialize)]
struct ItemRecord<'a> {
    origin: &'a str,
    #[serde(skip_serializing_if = "is_local")]
    area: StorageArea,
    name: &'a str,
    value: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    set_ms: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(it: &i64) -> bool {
    *it == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_local(it: &StorageArea) -> bool {
    *it == StorageArea::Local
}

impl Cookie {
    /// Whether its time is up.
    pub fn has_expired(&self, now_ms: i64) -> bool {
        self.ends.is_some_and(|it| it.saturating_mul(1000) <= now_ms)
    }

    /// The site that its domain is of; empty for one that spans a public suffix.
    pub fn site(&self) -> String {
        let host = self.domain.trim_start_matches('.');
        if self.domain.starts_with('.') && is_public_suffix(host) {
            return String::new();
        }
        site_of(&format!("https://{host}/"))
    }

    fn is_of(&self, site: &str) -> bool {
        let partition = self.partition.as_deref().is_none_or(|it| site_of(it) == site);
        self.site() == site && partition
    }
}

impl LoginData {
    /// What of it is of the URL's site and has not ended; the rest is left out. `url` is where a check looks, without what stands
    /// behind its path. Fails with `URL_INVALID`, and with `PARAM_INVALID` for more than a login is.
    pub fn new(
        url: &str,
        from: &str,
        cookies: Vec<Cookie>,
        stored: Vec<StorageItem>,
    ) -> Result<Self> {
        let mut at = url::Url::parse(url).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
        if let Some(it) = &mut at {
            it.set_query(None);
            it.set_fragment(None);
        }
        let site = site_of(url);
        let at = at.filter(|_| !site.is_empty()).ok_or_else(|| {
            Error::new(Code::UrlInvalid, "the address is not that of a web page")
                .hint("give an address that begins with http:// or https://")
        })?;
        let mut out = Self {
            site,
            url: at.into(),
            from: from.to_owned(),
            taken_ms: now_ms(),
            cookies,
            stored,
            refresh: None,
            basic: None,
        };
        let (site, now) = (out.site.clone(), out.taken_ms);
        out.cookies.retain(|it| it.is_of(&site) && !it.has_expired(now));
        out.stored.retain(|it| site_of(&it.origin) == site);
        out.check_bounds()?;
        Ok(out)
    }

    /// Fails with `PARAM_INVALID` for more than a login is.
    pub(super) fn check_bounds(&self) -> Result<()> {
        let values = || {
            let cookies = self.cookies.iter().map(|it| it.name.len() + it.value.len());
            cookies.chain(self.stored.iter().map(|it| it.name.len() + it.value.len()))
        };
        let many = self.cookies.len() > MOST || self.stored.len() > MOST;
        if many || values().any(|it| it > LONGEST) || values().sum::<usize>() > WHOLE {
            return Err(Error::new(
                Code::ParamInvalid,
                format!(
                    "{} stores more than a login may hold: {MOST} cookies and values, 1 MiB each, 16 MiB in all",
                    self.site
                ),
            ));
        }
        Ok(())
    }

    /// What was sealed. Fails with `ARTIFACT_CORRUPT`, also for what is not of its site.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let strange = || {
            Error::new(Code::ArtifactCorrupt, "a login was sealed by another version of commis")
                .hint("log in again with --force")
        };
        // What went wrong would be told with what stands there.
        let out: Self = serde_json::from_slice(bytes).map_err(|_| strange())?;
        let own = out.cookies.iter().all(|it| it.is_of(&out.site))
            && out.stored.iter().all(|it| site_of(&it.origin) == out.site)
            && out.basic.iter().flat_map(|it| &it.origins).all(|it| site_of(it) == out.site)
            && site_of(&out.url) == out.site;
        if !own || out.check_bounds().is_err() {
            return Err(strange());
        }
        Ok(out)
    }

    pub(super) fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        let cookies = self.cookies.iter().map(|it| CookieRecord {
            name: &it.name,
            value: &it.value,
            domain: &it.domain,
            path: &it.path,
            ends: it.ends,
            secure: it.secure,
            http_only: it.http_only,
            same_site: it.same_site.as_deref(),
            partition: it.partition.as_deref(),
            set_ms: it.set_ms,
        });
        let stored = self.stored.iter().map(|it| ItemRecord {
            origin: &it.origin,
            area: it.area,
            name: &it.name,
            value: &it.value,
            set_ms: it.set_ms,
        });
        let basic = self.basic.as_ref().map(|it| BasicRecord {
            origins: &it.origins,
            name: &it.name,
            password: &it.password,
        });
        let it = LoginRecord {
            site: &self.site,
            url: &self.url,
            from: &self.from,
            taken_ms: self.taken_ms,
            cookies: cookies.collect(),
            stored: stored.collect(),
            refresh: self.refresh.as_ref(),
            basic,
        };
        // As long as it can become, so that no copy is left behind where it grows.
        let long = |name: &str, value: &str| 6 * (name.len() + value.len()) + 600;
        let most = self.cookies.iter().map(|it| long(&it.name, &it.value) + 6 * it.path.len());
        let most =
            most.chain(self.stored.iter().map(|it| long(&it.name, &it.value))).sum::<usize>();
        let most = most + if self.refresh.is_some() { 64 << 10 } else { 0 };
        let basic = |it: &BasicAuth| {
            long(&it.name, &it.password) + it.origins.iter().map(|it| 6 * it.len()).sum::<usize>()
        };
        let most = most + self.basic.as_ref().map_or(0, basic);
        let mut out = Zeroizing::new(Vec::with_capacity(most + 4096));
        serde_json::to_writer(&mut *out, &it)
            .map_err(|err| Error::new(Code::Internal, "a login cannot be written").source(err))?;
        Ok(out)
    }

    pub fn site(&self) -> &str {
        &self.site
    }

    /// Where to look whether it still holds.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn cookies(&self) -> &[Cookie] {
        &self.cookies
    }

    /// How the site's pages renew it, where that was seen.
    pub fn refresh(&self) -> Option<&Refresh> {
        self.refresh.as_ref()
    }

    pub(super) fn set_refresh(&mut self, it: Option<Refresh>) {
        self.refresh = it;
    }

    /// The same without the cookies of that name.
    #[must_use]
    pub fn without_cookie(&self, name: &str) -> Self {
        let mut out = self.clone();
        out.cookies.retain(|it| it.name != name);
        out
    }

    /// The same with what servers of its site asked for by HTTP Basic; what others asked for is left out.
    #[must_use]
    pub fn with_basic(mut self, mut basic: BasicAuth) -> Self {
        basic.origins.retain(|it| site_of(it) == self.site);
        self.basic = (!basic.origins.is_empty()).then_some(basic);
        self
    }

    pub fn basic(&self) -> Option<&BasicAuth> {
        self.basic.as_ref()
    }

    /// The `Authorization` header of a request to `url`, where its server asks for one by HTTP Basic.
    pub fn authorization(&self, url: &SafeUrl) -> Option<Zeroizing<String>> {
        let basic = self.basic.as_ref()?;
        let origin = url.url().origin().ascii_serialization();
        basic.origins.contains(&origin).then(|| basic.header())
    }

    /// The same with other values in the place of stored ones.
    #[must_use]
    pub fn with_stored(&self, items: Vec<StorageItem>) -> Self {
        let mut out = self.clone();
        for it in items {
            out.stored.retain(|old| !it.replaces(old));
            out.stored.push(it);
        }
        out
    }

    /// What pages of that origin stored under a key.
    pub fn stored_at(&self, origin: &str, area: StorageArea, key: &str) -> Option<&StorageItem> {
        let is_it = |it: &&StorageItem| it.origin == origin && it.area == area && it.name == key;
        self.stored.iter().find(is_it)
    }

    pub(super) fn stored_mut(&mut self) -> &mut Vec<StorageItem> {
        &mut self.stored
    }

    pub(super) fn cookies_mut(&mut self) -> &mut Vec<Cookie> {
        &mut self.cookies
    }

    /// When the person logged in, milliseconds since 1970. What answers set later belongs to this login alone.
    pub fn taken_ms(&self) -> i64 {
        self.taken_ms
    }

    pub fn stored(&self) -> &[StorageItem] {
        &self.stored
    }

    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty() && self.stored.is_empty() && self.basic.is_none()
    }

    /// Whether it has cookies, and all of them have ended.
    pub fn has_expired(&self) -> bool {
        let now = now_ms();
        self.basic.is_none()
            && !self.cookies.is_empty()
            && self.cookies.iter().all(|it| it.has_expired(now))
    }

    /// Values that nothing may repeat: of cookies that pages do not see, and what else is long and looks like no word of a page,
    /// also in what is stored as JSON. Hiding a language or a town would hide it wherever a page says it.
    pub fn secrets(&self) -> Vec<Zeroizing<String>> {
        fn keep(it: &str, out: &mut Vec<Zeroizing<String>>) {
            let has = |of: fn(&u8) -> bool| it.as_bytes().iter().any(of);
            let is_word = has(u8::is_ascii_whitespace)
                || !has(u8::is_ascii_digit)
                || !has(u8::is_ascii_alphabetic);
            if it.len() >= 16 && !is_word {
                out.push(Zeroizing::new(it.to_owned()));
            }
        }
        fn texts(it: &serde_json::Value, out: &mut Vec<Zeroizing<String>>) {
            match it {
                serde_json::Value::String(it) => keep(it, out),
                serde_json::Value::Array(all) => all.iter().for_each(|it| texts(it, out)),
                serde_json::Value::Object(all) => all.values().for_each(|it| texts(it, out)),
                _ => {}
            }
        }
        let mut out = Vec::new();
        if let Some(it) = &self.basic {
            let header = it.header();
            out.extend(header.strip_prefix("Basic ").map(|it| Zeroizing::new(it.to_owned())));
            out.push(it.password.clone());
        }
        for it in &self.cookies {
            if it.http_only && it.value.len() >= 8 {
                out.push(it.value.clone());
            } else {
                keep(&it.value, &mut out);
            }
        }
        for it in &self.stored {
            match serde_json::from_str(&it.value) {
                Ok(read) => texts(&read, &mut out),
                Err(_) => keep(&it.value, &mut out),
            }
        }
        out.truncate(MOST);
        out
    }

    /// Whether a later state may take the place of this one. Fails with `PARAM_INVALID`.
    pub(super) fn check_successor(
        &self,
        later: &Self,
        name: &LoginName,
        force: bool,
    ) -> Result<()> {
        if later.site != self.site {
            return Err(Error::new(
                Code::ParamInvalid,
                format!("the login `{name}` is for {}, not for {}", self.site, later.site),
            )
            .hint("give another name, or remove it first"));
        }
        let now = now_ms();
        let living = |it: &Self| {
            let all = it.cookies.iter().filter(|it| !it.has_expired(now));
            let session = all.clone().filter(|it| it.ends.is_none()).count();
            (all.count(), session)
        };
        let ((was, was_session), (is, is_session)) = (living(self), living(later));
        let emptied = later.stored.is_empty() && !self.stored.is_empty();
        if force || (is >= was && is_session >= was_session && !emptied) {
            return Ok(());
        }
        let what = if emptied && is >= was && is_session >= was_session {
            "nothing is stored, and there was something".to_owned()
        } else {
            format!(
                "fewer cookies: {is} ({is_session} of the session), and there were {was} ({was_session})"
            )
        };
        Err(Error::new(Code::ParamInvalid, format!("the login `{name}` was not replaced: {what}"))
            .hint("check that you are logged in; replace it with --force"))
    }

    pub(super) fn summary(
        &self,
        name: &LoginName,
        checked: Option<LoginCheckRecord>,
    ) -> LoginSummary {
        let ends =
            || self.cookies.iter().filter_map(|it| it.ends).map(|it| it.saturating_mul(1000));
        let set = self.cookies.iter().map(|it| it.set_ms);
        let set = set.chain(self.stored.iter().map(|it| it.set_ms));
        let session_cookies = self.cookies.iter().filter(|it| it.ends.is_none()).count();
        LoginSummary {
            name: name.to_string(),
            site: self.site.clone(),
            cookies: self.cookies.len(),
            session_cookies,
            stored: self.stored.len(),
            first_ends_ms: ends().min(),
            last_ends_ms: ends().max().filter(|_| session_cookies == 0),
            taken_ms: self.taken_ms,
            renewed_ms: set.max().filter(|it| *it > 0),
            renewable: self.refresh.is_some(),
            basic: self.basic.is_some(),
            from: self.from.clone(),
            checked,
            trouble: None,
        }
    }
}

/// How a site's pages renew a login. Holds no value of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    /// The origin whose pages stored what it takes and gives.
    pub origin: String,
    pub request: RequestTemplate,
    /// Of the kind `storage`; none where cookies alone say whose login it is.
    pub slots: Vec<Slot>,
    /// What its JSON answer gives.
    pub gives: Vec<TokenMapping>,
    /// Names of the cookies that it sets anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cookies: Vec<String>,
}

/// A leaf of the answer, and the stored value that it replaces.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenMapping {
    /// JSON pointer into the answer.
    pub from: String,
    pub area: StorageArea,
    pub key: String,
    /// JMESPath within a stored value that is JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}
