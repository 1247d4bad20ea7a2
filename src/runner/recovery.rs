//! What a person can do about 401, 403, and login pages. Nothing is done by itself: a login is not a recipe's business.

use std::sync::LazyLock;

use scraper::Selector;
use serde::Serialize;

use commis_base::error::{Code, Error};
use commis_net::transport::Reply;
use commis_recipe::{
    auth, blocks,
    model::{Recipe, ResponseType},
};

/// Schemes of the IANA registry "HTTP Authentication Schemes" (2026). What a site calls otherwise is not repeated.
const SCHEMES: &[&str] = &[
    "Basic",
    "Bearer",
    "Concealed",
    "Digest",
    "DPoP",
    "GNAP",
    "HOBA",
    "Mutual",
    "Negotiate",
    "OAuth",
    "PrivateToken",
    "SCRAM-SHA-1",
    "SCRAM-SHA-256",
    "vapid",
];

/// That the site wants to know who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AuthRecovery {
    /// 401 or 403.
    pub status: u16,
    /// The first scheme of `WWW-Authenticate`, if it is a registered one.
    pub scheme: Option<&'static str>,
    /// For a person.
    pub next: String,
}

/// What an answer to this recipe asks for; `None` unless it is 401 or 403.
pub fn auth_recovery(recipe: &Recipe, host: &str, reply: &Reply) -> Option<AuthRecovery> {
    if !matches!(reply.status, 401 | 403) {
        return None;
    }
    let scheme = reply.header("www-authenticate").and_then(scheme);
    let next = match (&recipe.auth, scheme, auth::variable_for_host(host)) {
        (Some(it), ..) => {
            format!(
                "the site does not accept what ${} holds: set a key that is valid there",
                it.env
            )
        }
        (None, ..) if recipe.verification.as_ref().is_some_and(|it| it.requires_session) => {
            "a fresh session is not enough: the site wants a login, which a recipe cannot do"
                .to_owned()
        }
        (None, Some("Bearer" | "Basic"), Some(variable)) => format!(
            "get a key from the site, put it into {variable}, and add `auth: {{ type: {}, env: {variable} }}` to the recipe",
            if scheme == Some("Basic") { "basic" } else { "bearer" }
        ),
        _ => format!(
            "open {} in a browser: if it asks for a login, a recipe cannot do that; else learn the recipe again",
            recipe.source_url
        ),
    };
    Some(AuthRecovery { status: reply.status, scheme, next })
}

/// The error of an answer without the data; `AUTH_REQUIRED` where that answer is a page that asks for a password.
pub fn blame_login_page(err: Error, recipe: &Recipe, reply: &Reply) -> Error {
    let lacks_data = matches!(err.code(), Code::ParseError | Code::ExtractEmpty | Code::ShapeDrift);
    if !lacks_data || !is_login_page(recipe.response.kind == ResponseType::Html, reply) {
        return err;
    }
    Error::new(Code::AuthRequired, "the site answered with a login page").hint(format!(
        "open {} in a browser: if it asks for a login, save one with `commis session login` and learn the recipe with `--login`",
        recipe.source_url
    ))
}

/// Whether the answer is a page with a password field. Many pages with data have such a field in their header: where a page is
/// what the recipe reads, it counts only after a redirect or without another form.
fn is_login_page(reads_pages: bool, reply: &Reply) -> bool {
    static PASSWORD: LazyLock<Selector> = LazyLock::new(|| parse("input[type=password i]"));
    static FORM: LazyLock<Selector> = LazyLock::new(|| parse("form"));
    let text = String::from_utf8_lossy(&reply.body);
    if !text.trim_start().starts_with('<') || !text.contains("assword") && !text.contains("ASSWORD")
    {
        return false;
    }
    let Some(page) = blocks::parse_bounded(&text) else { return false };
    if page.select(&PASSWORD).next().is_none() {
        return false;
    }
    !reads_pages
        || reply.hops > 0
        || page.select(&FORM).all(|form| form.select(&PASSWORD).next().is_some())
}

/// A selector of this file.
fn parse(selector: &str) -> Selector {
    Selector::parse(selector).expect("a valid selector")
}

fn scheme(challenges: &str) -> Option<&'static str> {
    let first = challenges.split([' ', ',']).next()?;
    SCHEMES.iter().copied().find(|it| it.eq_ignore_ascii_case(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_net::transport::Timings;
    use commis_recipe::yaml;

    fn reply(status: u16, challenge: Option<&str>) -> Reply {
        let header = challenge.map(|it| ("www-authenticate".to_owned(), it.to_owned()));
        Reply {
            status,
            headers: header.into_iter().collect(),
            body: Vec::new(),
            url: String::new(),
            hops: 0,
            timings: Timings::default(),
        }
    }

    fn recipe(more: &str) -> Recipe {
        yaml::parse(&format!(
            "{{version: 1, name: x, task: t, status: draft, source_url: 'https://a.com/', {more} \
             request: {{method: GET, url: 'https://a.com/', allowed_domains: [a.com]}}, response: {{type: json}}}}"
        ))
        .unwrap()
    }

    #[test]
    fn what_a_refusal_asks_for() {
        let keyed = "auth: {type: bearer, env: MY_KEY},";
        let session = "verification: {fingerprint_version: 1, fingerprint_sha256: '', transport: in_page_fetch, requires_session: true},";
        for (more, status, challenge, scheme, words) in [
            (
                "",
                401,
                Some("Bearer realm=\"x\""),
                Some("Bearer"),
                "type: bearer, env: COMMIS_AUTH_A_COM",
            ),
            (
                "",
                401,
                Some("basic realm=\"x\", Digest y"),
                Some("Basic"),
                "type: basic, env: COMMIS_AUTH_A_COM",
            ),
            (
                "",
                401,
                Some("Digest realm=\"x\""),
                Some("Digest"),
                "open https://a.com/ in a browser",
            ),
            ("", 401, Some("\u{1b}[2J{evil} Basic"), None, "open https://a.com/"),
            ("", 403, None, None, "open https://a.com/"),
            (keyed, 403, None, None, "does not accept what $MY_KEY holds"),
            (session, 401, None, None, "wants a login"),
        ] {
            let it = auth_recovery(&recipe(more), "a.com", &reply(status, challenge)).unwrap();
            assert_eq!((it.status, it.scheme), (status, scheme), "{it:?}");
            assert!(it.next.contains(words), "{it:?}");
        }
        assert_eq!(auth_recovery(&recipe(""), "a.com", &reply(407, Some("Basic"))), None);
    }

    #[test]
    fn a_login_page_in_place_of_data() {
        let login = "<!doctype html><form><input name=u><input type=Password name=p></form>";
        let header = "<form><input type=password></form><form><input name=q></form><p>Nothing</p>";
        let html = "text/html";
        for (reads_pages, hops, mime, body, expected) in [
            (false, 0, html, login, true),
            (false, 0, html, header, true),
            (true, 0, html, login, true),
            (true, 0, html, header, false),
            (true, 1, html, header, true),
            (false, 0, html, "<p>the password is not asked for</p>", false),
            (false, 0, "application/json", r#"{"html": "<input type=password>"}"#, false),
        ] {
            let mut reply = reply(200, None);
            reply.headers = vec![("content-type".to_owned(), mime.to_owned())];
            (reply.body, reply.hops) = (body.as_bytes().to_vec(), hops);
            assert_eq!(is_login_page(reads_pages, &reply), expected, "{body}");
        }
        let reply = Reply { body: login.as_bytes().to_vec(), ..reply(200, None) };
        let given = |code| blame_login_page(Error::new(code, "x"), &recipe(""), &reply).code();
        assert_eq!(given(Code::ParseError), Code::AuthRequired);
        assert_eq!(given(Code::WorkLimit), Code::WorkLimit);
    }
}
