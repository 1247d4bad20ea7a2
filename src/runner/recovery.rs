//! What a person can do about 401 and 403. Nothing is done by itself: a login is not a recipe's business.

use serde::Serialize;

use commis_net::transport::Reply;
use commis_recipe::{auth, model::Recipe};

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
}
