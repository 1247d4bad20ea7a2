//! Whether a login still holds, as far as a page tells.

use url::Url;

use super::LoginData;
use commis_net::egress::site_of;

/// What came up where a login was looked at.
pub struct LoginProbe {
    pub url: String,
    /// It asks for a password.
    pub password: bool,
    /// Of the document.
    pub status: Option<u16>,
}

/// Parts of a path that pages which ask for a login have.
const LOGIN: &[&str] = &[
    "login",
    "signin",
    "sign-in",
    "sign_in",
    "logon",
    "log-in",
    "log_in",
    "auth",
    "sso",
    "authenticate",
];

fn is_login_url(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let mut parts = url.path_segments().into_iter().flatten();
    parts.any(|it| {
        let it = it.to_ascii_lowercase();
        LOGIN.contains(&it.split('.').next().unwrap_or_default())
    })
}

/// Whether it holds, and why.
pub fn judge_probe(held: &LoginData, seen: &LoginProbe) -> (bool, &'static str) {
    if matches!(seen.status, Some(401 | 403)) {
        return (false, "its page refuses the login");
    }
    if site_of(&seen.url) != held.site() {
        return (false, "its page leads to another site");
    }
    if is_login_url(&seen.url) && !is_login_url(held.url()) {
        return (false, "its page leads to one where one logs in");
    }
    if seen.password {
        return (false, "its page asks for a password");
    }
    (true, "its page loaded and does not ask for a password")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_says_of_a_login() {
        let held =
            LoginData::new("https://shop.test/account", "form", Vec::new(), Vec::new()).unwrap();
        let check = |url: &str, password: bool, status: u16, holds: bool| {
            let seen = LoginProbe { url: url.to_owned(), password, status: Some(status) };
            assert_eq!(judge_probe(&held, &seen).0, holds, "{url} {password} {status}");
        };
        check("https://shop.test/account", false, 200, true);
        check("https://www.shop.test/account/orders", false, 200, true);
        check("https://shop.test/account", false, 403, false);
        check("https://shop.test/account", true, 200, false);
        check("https://shop.test/users/sign_in?next=/account", false, 200, false);
        check("https://shop.test/Login.aspx", false, 200, false);
        check("https://id.city.test/", false, 200, false);
        check("https://shop.test/loginov", false, 200, true);
    }
}
