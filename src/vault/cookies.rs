//! The cookie rules of RFC 6265bis over the cookies of one login: which ones a URL gets, and what a `Set-Cookie` changes.
//!
//! `cookie_store` parses, and matches domains and paths. Its store is not used, because it does not wipe values and knows no partitions.

use cookie_store::{CookieDomain, CookieExpiration, CookiePath};
use zeroize::Zeroizing;

use super::{Cookie, LoginData, StorageItem};
use commis_net::egress::{SafeUrl, is_public_suffix, site_of};

/// Bytes of a name and its value together (RFC 6265bis, 5.6).
const MAX_PAIR: usize = 4096;
/// Seconds by which the end of a cookie may move without a write to disk.
const SLACK: i64 = 60;

/// The cookie that a `Set-Cookie` header makes, which is over where it is to be forgotten; `None` when a browser does not keep it
/// (RFC 6265bis, 5.7). `same_site`: the page that asks is of the URL's site.
pub fn parse_set_cookie(text: &str, url: &SafeUrl, same_site: bool, now_ms: i64) -> Option<Cookie> {
    // Refuses a Domain that the host is not in.
    let cookie = cookie_store::Cookie::parse(text, url.url()).ok()?;
    let secure = cookie.secure().unwrap_or(false);
    let crosses = cookie.same_site().is_some_and(|it| it.is_none());
    let https = url.scheme() == "https";
    if (secure && !https) || (crosses && !secure) || (!same_site && !crosses) {
        return None;
    }
    if cookie.name().len() + cookie.value().len() > MAX_PAIR {
        return None;
    }
    let domain = match &cookie.domain {
        // A host that is a public suffix itself may keep one, for itself alone; so may an address.
        CookieDomain::Suffix(it) if is_public_suffix(it) || url.literal().is_some() => {
            if it != url.host() {
                return None;
            }
            None
        }
        CookieDomain::Suffix(it) => Some(it),
        _ => None,
    };
    let path: &str = &cookie.path;
    let host_prefix = has_prefix(cookie.name(), "__Host-");
    if (host_prefix && (!secure || domain.is_some() || path != "/"))
        || (has_prefix(cookie.name(), "__Secure-") && !secure)
    {
        return None;
    }
    let ends = match cookie.expires {
        _ if cookie.is_expired() => Some(0),
        CookieExpiration::AtUtc(at) => Some(at.unix_timestamp()),
        CookieExpiration::SessionEnd => None,
    };
    let partitioned = cookie.partitioned().unwrap_or(false);
    Some(Cookie {
        name: cookie.name().to_owned(),
        value: Zeroizing::new(cookie.value().to_owned()),
        domain: domain.map_or_else(|| url.host().to_owned(), |it| format!(".{it}")),
        path: path.to_owned(),
        ends,
        secure,
        http_only: cookie.http_only().unwrap_or(false),
        same_site: cookie.same_site().map(|it| it.to_string()),
        partition: partitioned.then(|| format!("{}://{}", url.scheme(), site_of(url.as_str()))),
        set_ms: now_ms,
    })
}

fn has_prefix(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|it| it.eq_ignore_ascii_case(prefix))
}

impl Cookie {
    /// Whether a request of its own site to this URL carries it (RFC 6265bis, 5.8.3).
    pub fn goes_to(&self, url: &SafeUrl, now_ms: i64) -> bool {
        let host = self.domain.strip_prefix('.');
        let domain = host.map_or_else(
            || CookieDomain::HostOnly(self.domain.clone()),
            |it| CookieDomain::Suffix(it.to_owned()),
        );
        !self.has_expired(now_ms)
            && (!self.secure || url.scheme() == "https")
            && domain.matches(url.url())
            && CookiePath::parse(&self.path).is_some_and(|it| it.matches(url.url()))
    }

    fn replaces(&self, old: &Self) -> bool {
        self.name == old.name
            && self.domain == old.domain
            && self.path == old.path
            && self.partition == old.partition
    }

    /// Whether writing this one in the place of `old` makes a difference to later requests.
    fn differs_from(&self, old: &Self) -> bool {
        let moved = match (self.ends, old.ends) {
            (Some(a), Some(b)) => a.abs_diff(b) > SLACK.unsigned_abs(),
            (a, b) => a != b,
        };
        moved
            || *self.value != *old.value
            || (self.secure, self.http_only, &self.same_site)
                != (old.secure, old.http_only, &old.same_site)
    }
}

impl LoginData {
    /// The `Cookie` header for a request to this URL, longer paths first (RFC 6265bis, 5.8.3); `None` for another site than the
    /// login's, and where no cookie goes along.
    pub fn cookie_header(&self, url: &SafeUrl, now_ms: i64) -> Option<Zeroizing<String>> {
        if url.host() != self.site() && site_of(url.as_str()) != self.site() {
            return None;
        }
        let mut all: Vec<&Cookie> =
            self.cookies().iter().filter(|it| it.goes_to(url, now_ms)).collect();
        // When each was made, which comes next, is not known of cookies that a browser gave.
        all.sort_by(|a, b| (b.path.len(), &a.name).cmp(&(a.path.len(), &b.name)));
        let pairs: Vec<Zeroizing<String>> = all
            .iter()
            .map(|it| {
                let pair = match &*it.name {
                    "" => it.value.to_string(),
                    name => format!("{name}={}", *it.value),
                };
                Zeroizing::new(pair)
            })
            .collect();
        let pairs: Vec<&str> = pairs.iter().map(|it| it.as_str()).collect();
        (!pairs.is_empty()).then(|| Zeroizing::new(pairs.join("; ")))
    }

    /// The cookies that an answer of this URL sets and that change this login.
    pub fn changes_of(&self, url: &SafeUrl, set: &[String], now_ms: i64) -> Vec<Cookie> {
        if set.is_empty() || site_of(url.as_str()) != self.site() {
            return Vec::new();
        }
        let parsed = set.iter().filter_map(|it| parse_set_cookie(it, url, true, now_ms));
        let may_replace = |new: &Cookie| {
            // RFC 6265bis, 5.7: what came in the clear does not take the place of a secure cookie.
            let shadows =
                |old: &Cookie| old.secure && old.name == new.name && old.site() == new.site();
            new.secure || url.scheme() == "https" || !self.cookies().iter().any(shadows)
        };
        let changes = |new: &Cookie| match self.cookies().iter().find(|old| new.replaces(old)) {
            Some(old) => new.has_expired(now_ms) || new.differs_from(old),
            None => !new.has_expired(now_ms),
        };
        parsed.filter(may_replace).filter(changes).collect()
    }

    /// The cookies that a browser's context holds in another way than this login. One that is missing there was perhaps not taken by
    /// the browser, and stays.
    pub(super) fn cookies_changed_in(&self, seen: &Self, now_ms: i64) -> Vec<Cookie> {
        if seen.site() != self.site() {
            return Vec::new();
        }
        let own = |new: &Cookie| self.cookies().iter().find(|old| new.replaces(old));
        let changed = |new: &&Cookie| own(new).is_none_or(|old| new.differs_from(old));
        let set = seen.cookies().iter().filter(changed);
        set.map(|it| Cookie { set_ms: now_ms, ..it.clone() }).collect()
    }

    /// What pages of a browser's context stored in another way than this login says. What is new there is no part of the login.
    pub(super) fn stored_changed_in(&self, seen: &Self, now_ms: i64) -> Vec<StorageItem> {
        if seen.site() != self.site() {
            return Vec::new();
        }
        let is_new = |new: &&StorageItem| {
            let old = self.stored().iter().find(|old| new.replaces(old));
            old.is_some_and(|old| *old.value != *new.value)
        };
        seen.stored()
            .iter()
            .filter(is_new)
            .map(|it| StorageItem { set_ms: now_ms, ..it.clone() })
            .collect()
    }

    /// Puts a stored value in; nothing where a newer one is there.
    pub(super) fn set_stored(&mut self, new: &StorageItem) -> bool {
        let at = self.stored().iter().position(|old| new.replaces(old));
        let stored = self.stored_mut();
        match at {
            Some(at) if stored[at].set_ms > new.set_ms || *stored[at].value == *new.value => false,
            Some(at) => {
                stored[at] = new.clone();
                true
            }
            None => {
                stored.push(new.clone());
                true
            }
        }
    }

    /// Puts a changed cookie in, or takes out the one that it ends. Nothing where a newer one is there; whether it was put in.
    pub(super) fn set_cookie(&mut self, new: &Cookie, now_ms: i64) -> bool {
        let at = self.cookies().iter().position(|old| new.replaces(old));
        let cookies = self.cookies_mut();
        match at {
            Some(at) if cookies[at].set_ms > new.set_ms => return false,
            Some(at) if new.has_expired(now_ms) => _ = cookies.remove(at),
            Some(at) => cookies[at] = new.clone(),
            None if new.has_expired(now_ms) => return false,
            None => cookies.push(new.clone()),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::settings::EgressSettings;
    use commis_net::egress::EgressPolicy;
    use commis_state::now_ms;

    fn safe(url: &str) -> SafeUrl {
        let settings = EgressSettings {
            test_hosts: vec!["*.test=127.0.0.1:80".to_owned()],
            ..EgressSettings::default()
        };
        EgressPolicy::new(&settings).unwrap().check(url).unwrap()
    }

    fn login(set: &[&str], url: &str) -> LoginData {
        let parsed = set.iter().map(|it| parse_set_cookie(it, &safe(url), true, 1).unwrap());
        LoginData::new(url, "form", parsed.collect(), Vec::new()).unwrap()
    }

    #[test]
    fn which_cookies_a_url_gets() {
        let held = login(
            &[
                "host=1; Path=/",
                "domain=2; Domain=shop.com; Path=/",
                "deep=3; Path=/account",
                "secure=4; Path=/; Secure",
                "__Host-h=5; Path=/; Secure",
                "strict=6; Path=/; SameSite=Strict",
                "later=7; Path=/; Max-Age=9999999999",
            ],
            "https://www.shop.com/account/x",
        );
        let check = |url: &str, expected: &str| {
            let header = held.cookie_header(&safe(url), now_ms());
            assert_eq!(header.as_ref().map_or("", |it| it.as_str()), expected, "{url}");
        };
        let own = "__Host-h=5; domain=2; host=1; later=7; secure=4; strict=6";
        check("https://www.shop.com/", own);
        check("https://www.shop.com/account", &format!("deep=3; {own}"));
        check("https://www.shop.com/account/orders?x", &format!("deep=3; {own}"));
        check("https://www.shop.com/accounts", own);
        check("http://www.shop.com/", "domain=2; host=1; later=7; strict=6");
        check("https://shop.com/", "domain=2");
        check("https://a.www.shop.com/", "domain=2");
        for other in ["https://www.shop.com.evil.com/", "https://notshop.com/", "https://www.com/"]
        {
            check(other, "");
        }
        let ended = held.cookie_header(&safe("https://www.shop.com/"), i64::MAX);
        assert!(!ended.unwrap().contains("later"));
    }

    #[test]
    fn what_an_answer_changes() {
        let held = login(
            &[
                "sid=old; Path=/; HttpOnly; Secure",
                "end=x; Path=/; Max-Age=1000",
                "plain=1; Path=/",
            ],
            "https://shop.com/",
        );
        let check = |set: &str, url: &str, expected: usize| {
            let changed = held.changes_of(&safe(url), &[set.to_owned()], now_ms());
            assert_eq!(changed.len(), expected, "{set} {url}");
        };
        let here = "https://shop.com/a";
        check("sid=new; Path=/; HttpOnly; Secure", here, 1);
        check("sid=old; Path=/; HttpOnly; Secure", here, 0);
        check("sid=; Path=/; Max-Age=0", here, 1);
        check("none=; Path=/; Max-Age=0", here, 0);
        check("end=x; Path=/; Max-Age=1010", here, 0);
        check("end=x; Path=/; Max-Age=5000", here, 1);
        check("end=x; Path=/", here, 1);
        check("sid=other; Path=/a", here, 1);
        check("sid=clear; Path=/", "http://shop.com/", 0);
        check("plain=2; Path=/", "http://shop.com/", 1);
        check("sid=x; Domain=com", here, 0);
        check("sid=x; Domain=other.com", here, 0);
        check("sid=x; Path=/", "https://other.com/", 0);
        check(&format!("big={}", "x".repeat(4096)), here, 0);
    }

    #[test]
    fn an_older_value_never_replaces_a_newer_one() {
        let mut held = login(&["sid=a; Path=/"], "https://shop.com/");
        let at = |value: &str, ms: i64| {
            let text = format!("sid={value}; Path=/");
            parse_set_cookie(&text, &safe("https://shop.com/"), true, ms).unwrap()
        };
        assert!(held.set_cookie(&at("new", 20), now_ms()));
        assert!(!held.set_cookie(&at("old", 10), now_ms()));
        assert_eq!(held.cookies()[0].value.as_str(), "new");
        assert!(held.set_cookie(&Cookie { ends: Some(0), ..at("", 30) }, now_ms()));
        assert!(held.is_empty());
    }
}
