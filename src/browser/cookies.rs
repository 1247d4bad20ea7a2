//! Cookies of a context for requests that Chromium does not make itself: which ones a URL gets, and keeping new ones.
//!
//! Domain and path are matched by Chromium; SameSite is judged here, because the protocol asks as if every request came
//! from the site itself. No value ever reaches a message.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::cdp::Cdp;
use commis_base::{error::Result, ids::hex};
use commis_net::egress::{SafeUrl, site_of};
use commis_state::now_ms;
use commis_vault::parse_set_cookie;

const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredCookie {
    name: String,
    value: String,
    path: String,
    secure: bool,
    same_site: Option<String>,
    partition_key: Option<PartitionKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartitionKey {
    top_level_site: String,
}

/// The `Cookie` header for a URL. `same_site`: the page belongs to the URL's site; `top`: the page's site.
///
/// Fails with `BROWSER_FAILED`.
pub async fn header(
    cdp: &Cdp,
    session: &str,
    url: &SafeUrl,
    same_site: bool,
    top: &str,
) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct Cookies {
        cookies: Vec<StoredCookie>,
    }
    let params = json!({ "urls": [url.as_str()] });
    let mut found: Cookies =
        cdp.send(Some(session), "Network.getCookies", params).read(PATIENCE).await?;
    // RFC 6265, 5.4: longer paths first. When each was made, which comes next, is not told.
    found.cookies.sort_by(|a, b| (b.path.len(), &a.name).cmp(&(a.path.len(), &b.name)));
    let pairs: Vec<String> = found
        .cookies
        .iter()
        .filter(|it| goes_to(it, url.scheme() == "https", same_site, top))
        .map(|it| {
            if it.name.is_empty() { it.value.clone() } else { format!("{}={}", it.name, it.value) }
        })
        .collect();
    Ok((!pairs.is_empty()).then(|| pairs.join("; ")))
}

/// Names of the cookies that a URL gets and that scripts of its pages can write, with digests of their values, in order.
///
/// Fails with `BROWSER_FAILED`.
pub async fn writable(cdp: &Cdp, session: &str, url: &str) -> Result<Vec<(String, String)>> {
    #[derive(Deserialize)]
    struct Cookies {
        cookies: Vec<Cookie>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cookie {
        name: String,
        value: String,
        #[serde(default)]
        domain: String,
        path: String,
        #[serde(default)]
        http_only: bool,
    }
    let params = json!({ "urls": [url] });
    let found: Cookies =
        cdp.send(Some(session), "Network.getCookies", params).read(PATIENCE).await?;
    let own = found.cookies.into_iter().filter(|it| !it.http_only);
    let mut out: Vec<(String, String)> =
        own.map(|it| (it.name, digest(&[&it.domain, &it.path, &it.value]))).collect();
    out.sort();
    Ok(out)
}

/// SHA-256, in hexadecimal digits, of texts with their lengths.
pub fn digest(all: &[&str]) -> String {
    let mut hash = Sha256::new();
    for it in all {
        hash.update((it.len() as u64).to_be_bytes());
        hash.update(it.as_bytes());
    }
    hex(&hash.finalize())
}

fn goes_to(cookie: &StoredCookie, https: bool, same_site: bool, top: &str) -> bool {
    // Absent is Lax, which a request that is no navigation gets from its own site only.
    let crosses = cookie.same_site.as_deref() == Some("None");
    let here = |it: &PartitionKey| site_of(&it.top_level_site) == top;
    (https || !cookie.secure)
        && (same_site || crosses)
        && cookie.partition_key.as_ref().is_none_or(here)
}

/// Puts cookies that an answer set into the context. What a browser would not keep is left out, as is what Chromium refuses.
pub async fn keep(cdp: &Cdp, session: &str, url: &SafeUrl, same_site: bool, set: &[String]) {
    let allowed = set.iter().filter_map(|it| cookie_command(it, url, same_site));
    // All are on their way before the first answer is awaited.
    let replies: Vec<_> = allowed.map(|(method, it)| cdp.send(Some(session), method, it)).collect();
    for reply in replies {
        let _ = reply.raw(PATIENCE).await;
    }
}

/// The command that keeps this cookie, or forgets it where it has expired; `None` when a browser would not keep it.
fn cookie_command(text: &str, url: &SafeUrl, same_site: bool) -> Option<(&'static str, Value)> {
    let now = now_ms();
    let cookie = parse_set_cookie(text, url, same_site, now)?;
    let mut params = json!({ "name": cookie.name, "url": url.as_str(), "path": cookie.path });
    if cookie.domain.starts_with('.') {
        params["domain"] = cookie.domain.as_str().into();
    }
    if cookie.has_expired(now) {
        return Some(("Network.deleteCookies", params));
    }
    params["value"] = cookie.value.as_str().into();
    params["secure"] = cookie.secure.into();
    params["httpOnly"] = cookie.http_only.into();
    if let Some(it) = cookie.same_site {
        params["sameSite"] = it.into();
    }
    if let Some(at) = cookie.ends {
        params["expires"] = at.into();
    }
    Some(("Network.setCookie", params))
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::settings::EgressSettings;
    use commis_net::egress::EgressPolicy;

    fn safe(url: &str) -> SafeUrl {
        let settings = EgressSettings {
            test_hosts: vec!["*.test=127.0.0.1:80".to_owned()],
            ..EgressSettings::default()
        };
        EgressPolicy::new(&settings).unwrap().check(url).unwrap()
    }

    #[test]
    fn which_cookies_go_along() {
        let check = |json: Value, https: bool, same_site: bool, expected: bool| {
            let mut cookie = json!({ "name": "a", "value": "b", "path": "/", "secure": false });
            cookie.as_object_mut().unwrap().extend(json.as_object().unwrap().clone());
            let stored: StoredCookie = serde_json::from_value(cookie.clone()).unwrap();
            assert_eq!(goes_to(&stored, https, same_site, "a.test"), expected, "{cookie}");
        };
        for strict in ["Strict", "Lax"] {
            check(json!({ "sameSite": strict }), false, true, true);
            check(json!({ "sameSite": strict }), true, false, false);
        }
        check(json!({}), false, true, true);
        check(json!({}), true, false, false);
        check(json!({ "sameSite": "None", "secure": true }), true, false, true);
        check(json!({ "secure": true }), false, true, false);
        let partition = |top: &str| json!({ "partitionKey": { "topLevelSite": top } });
        check(partition("http://a.test"), true, true, true);
        check(partition("http://b.test"), true, true, false);
    }

    #[test]
    fn which_cookies_are_kept() {
        let check = |text: &str, url: &str, same_site: bool, expected: Option<&str>| {
            let found = cookie_command(text, &safe(url), same_site);
            assert_eq!(found.map(|it| it.0), expected, "{text} {url} {same_site}");
        };
        let (keep, forget) = (Some("Network.setCookie"), Some("Network.deleteCookies"));
        let https = "https://www.shop.com/a/b";
        check("a=b", https, true, keep);
        check("a=b; Domain=.shop.com", https, true, keep);
        check("a=b; Domain=com", https, true, None);
        check("a=b; Domain=hop.com", https, true, None);
        check("a=b; Domain=x.www.shop.com", https, true, None);
        check("a=b; Domain=github.io", "https://x.github.io/", true, None);
        check("a=b; Domain=github.io", "https://github.io/", true, keep);
        check("a=b; Secure", https, true, keep);
        check("a=b; Secure", "http://www.shop.com/", true, None);
        check("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", https, true, forget);
        check("__Host-a=b; Secure; Path=/", https, true, keep);
        check("__Host-a=b; Secure", https, true, None);
        check("__host-a=b; Secure; Path=/; Domain=shop.com", https, true, None);
        check("__Secure-a=b", https, true, None);
        // From another site than the page's only what was made for that.
        check("a=b", https, false, None);
        check("a=b; SameSite=None", https, false, None);
        check("a=b; SameSite=None; Secure", https, false, keep);
        check("", https, true, None);
        let host =
            |text: &str| cookie_command(text, &safe(https), true).unwrap().1["domain"].clone();
        assert_eq!(host("a=b"), Value::Null);
        assert_eq!(host("a=b; Domain=shop.com"), ".shop.com");
    }
}
