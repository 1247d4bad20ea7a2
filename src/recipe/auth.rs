//! Keys by reference: which variable a recipe may name, and where its value may go. Pure: nothing here reads a value.
//!
//! A recipe comes from a stranger, who wants to know what is in somebody's environment and owns a host. So a variable is bound
//! to hosts by its owner, in one of two ways, and a recipe can only send it there:
//! - by its name: `COMMIS_AUTH_API_EXAMPLE_COM` goes to `api.example.com` and nowhere else;
//! - by the settings: `[auth.allow]` lists the only hosts of a variable, whatever it is called.
//!
//! A name that merely begins with `COMMIS_AUTH_` is bound to nothing and is refused, else one recipe could name another's key.

use url::Url;

use super::{
    headers::{is_forbidden, is_token},
    model::{Auth, AuthKind, Recipe},
};
use commis_base::{
    error::{Code, Error, Result},
    settings::AuthSettings,
};

const PREFIX: &str = "COMMIS_AUTH_";
const MAX_NAME: usize = 128;
/// Headers that a redirect may carry to another origin, or that mean something else: some of them servers repeat in links.
const OTHERS: &[&str] = &[
    "accept",
    "accept-language",
    "content-disposition",
    "content-type",
    "forwarded",
    "if-match",
    "if-none-match",
    "origin",
    "range",
    "referer",
    "user-agent",
    "x-http-method-override",
];

/// The rules of the language. Fails with `RECIPE_INVALID`.
pub fn check(auth: &Auth, recipe: &Recipe) -> Result<()> {
    let invalid =
        |why: String| Error::new(Code::RecipeInvalid, format!("`auth` is invalid: {why}"));
    let first = |it: u8| it.is_ascii_alphabetic() || it == b'_';
    if !auth.env.bytes().next().is_some_and(first)
        || !auth.env.bytes().all(|it| first(it) || it.is_ascii_digit())
        || auth.env.len() > MAX_NAME
    {
        let shown: String = auth.env.escape_debug().take(60).collect();
        return Err(invalid(format!("`{shown}` is not the name of a variable"))
            .hint("a recipe names the variable, never the value"));
    }
    match (auth.kind, &auth.header, &auth.query) {
        (AuthKind::Bearer | AuthKind::Basic, None, None) => {}
        (AuthKind::Bearer | AuthKind::Basic, ..) => {
            return Err(invalid("bearer and basic name neither header nor query".to_owned()));
        }
        (AuthKind::ApiKey, Some(name), None) => {
            let fits = is_token(name)
                && !OTHERS.contains(&name.as_str())
                && !name.starts_with("x-forwarded-");
            if !fits || is_forbidden(name) && name != "authorization" {
                let shown: String = name.escape_debug().take(60).collect();
                return Err(invalid(format!("`{shown}` is not a header for a key")));
            }
            if recipe.requests().any(|it| it.headers.contains_key(name)) {
                return Err(invalid(format!("the request has a header `{name}` itself")));
            }
        }
        (AuthKind::ApiKey, None, Some(name)) => {
            if name.is_empty() || name.len() > 64 || name.chars().any(char::is_control) {
                return Err(invalid("`query` is not the name of a parameter".to_owned()));
            }
            if recipe.requests().any(|it| it.query.iter().any(|it| it.name == *name)) {
                return Err(invalid(format!("the request has a parameter `{name}` itself")));
            }
        }
        (AuthKind::ApiKey, ..) => {
            return Err(invalid("api_key needs either `header` or `query`".to_owned()));
        }
    }
    // A redirect may repeat the query, or a header's value in its target: there must be nobody else to tell.
    let domains = &recipe.request.allowed_domains;
    if domains.len() > 1
        || recipe.steps_before().iter().any(|it| it.request.allowed_domains != *domains)
    {
        return Err(invalid(
            "a recipe with a key reaches the host of its request alone".to_owned(),
        )
        .hint("list that host, and no other, in allowed_domains"));
    }
    let url = Url::parse(&recipe.request.url).ok();
    if !url.as_ref().is_some_and(|it| it.scheme() == "https" || is_test(it)) {
        return Err(invalid("a key is sent over https only".to_owned()));
    }
    let proven = recipe.verification.as_ref();
    if recipe.requests().any(|it| it.headers.contains_key("authorization")) {
        return Err(invalid("a recipe with a key writes no `authorization` itself".to_owned())
            .hint("the key is sent there, or in the header that `auth` names"));
    }
    if recipe.login.is_some()
        || recipe.slots.iter().any(|it| it.from.needs_session())
        || proven.is_some_and(|it| it.requires_session || it.transport.sends_cookies())
    {
        return Err(invalid("a recipe with `auth` cannot use a session or a login".to_owned())
            .hint("a page could read the key; remove `auth`, or the slots and the login"));
    }
    Ok(())
}

/// A host under `.test` is reachable only where it is pinned to loopback.
fn is_test(url: &Url) -> bool {
    url.host_str().is_some_and(|it| it.trim_end_matches('.').rsplit('.').next() == Some("test"))
}

/// Whether the variable of a recipe may go to this canonical host. Fails with `AUTH_NOT_ALLOWED`.
pub fn check_auth_host(auth: &Auth, host: &str, settings: &AuthSettings) -> Result<()> {
    check_variable_host(&auth.env, host, settings)
}

/// Whether a variable may go to this canonical host. Fails with `AUTH_NOT_ALLOWED`.
pub fn check_variable_host(name: &str, host: &str, settings: &AuthSettings) -> Result<()> {
    let own = variable_for_host(host);
    let allowed = match settings.allow.get(name) {
        Some(hosts) => hosts.iter().any(|it| it.eq_ignore_ascii_case(host)),
        None => own.as_deref() == Some(name),
    };
    if allowed {
        return Ok(());
    }
    let bound = format!("[auth.allow] {name} = [\"{host}\"]");
    let hint = own.map_or_else(String::new, |own| format!("keep a key for `{host}` in {own}; "));
    Err(Error::new(Code::AuthNotAllowed, format!("${name} may not be sent to `{host}`"))
        .hint(format!("{hint}if `{host}` may know this value, write {bound} in config.toml")))
}

/// The variable that is bound to a host by its name: upper case, `_` for a dot, `__` for a hyphen. No two hosts share one, so
/// a host of another shape (with `_`, or a label that a hyphen begins or ends) has none.
pub fn variable_for_host(host: &str) -> Option<String> {
    let label = |it: &str| {
        !it.is_empty()
            && !it.starts_with('-')
            && !it.ends_with('-')
            && it.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    host.split('.').all(label).then(|| {
        format!("{PREFIX}{}", host.replace('-', "__").replace('.', "_").to_ascii_uppercase())
    })
}

/// What stands in for the value where a request is shown.
pub fn placeholder(auth: &Auth) -> String {
    format!("[from ${}]", auth.env)
}

#[cfg(test)]
#[path = "auth_tests.rs"]
mod tests;
