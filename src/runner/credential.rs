//! A recipe's key, read from the environment and put into a request at the last moment.
//!
//! Nothing above [`SigningTransport`] ever sees the value: requests get it inside, and answers come out with the value hidden. It goes
//! to the origin of the recipe's request alone; `public_http` drops the header when a redirect leaves that origin. A key in
//! the query is not put into the target of a redirect.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::future::BoxFuture;
use url::Url;
use zeroize::{Zeroize as _, Zeroizing};

use commis_base::{
    error::{Code, Error, Result},
    settings::{self, AuthSettings},
};
use commis_net::transport::{PreparedRequest, Reply, Transport};
use commis_recipe::{
    auth,
    model::{Auth, AuthKind, TransportKind},
};
use commis_redact::known_secrets::SecretFilter;

/// Shorter values stand in every answer by chance, and could not be hidden.
const MIN: usize = 4;
const MAX: usize = 4096;

/// The value of a variable, and where it goes.
pub struct Credential {
    name: CredentialPlace,
    /// As it is sent.
    value: Zeroizing<String>,
    origin: url::Origin,
    known: SecretFilter,
}

enum CredentialPlace {
    Header(String),
    Query(String),
}

impl Credential {
    /// Reads the variable, if it may go to the host of `url`.
    ///
    /// Fails with `AUTH_NOT_ALLOWED`, `AUTH_ENV_MISSING` or `AUTH_ENV_INVALID`. No message holds the value.
    pub fn read(it: &Auth, url: &str, settings: &AuthSettings) -> Result<Self> {
        let url = Url::parse(url).map_err(|err| {
            Error::new(Code::RecipeInvalid, format!("the request URL is invalid: {err}"))
        })?;
        auth::check_auth_host(it, url.host_str().unwrap_or_default(), settings)?;
        let value = settings::secret(&it.env).ok_or_else(|| {
            Error::new(Code::AuthEnvMissing, format!("${} is not set", it.env))
                .hint(format!("set it to the key: export {}=…", it.env))
        })?;
        Self::new(it, &url, value)
    }

    fn new(it: &Auth, url: &Url, value: Zeroizing<String>) -> Result<Self> {
        let unusable = |why: String| {
            Error::new(Code::AuthEnvInvalid, format!("the value of ${} {why}", it.env))
        };
        if !(MIN..=MAX).contains(&value.len()) {
            return Err(unusable(format!("does not have {MIN} to {MAX} bytes")));
        }
        if value.chars().any(char::is_control) {
            return Err(unusable("has a line break or another control character".to_owned())
                .hint("remove a line break at the end, as $(cat FILE) does"));
        }
        if it.query.is_none() && it.kind != AuthKind::Basic && !is_header_text(&value) {
            return Err(unusable("is not plain ASCII, or has spaces around it".to_owned()));
        }
        let (name, sent) = match it.kind {
            AuthKind::Bearer => (None, Zeroizing::new(format!("Bearer {}", *value))),
            AuthKind::Basic => {
                (None, Zeroizing::new(format!("Basic {}", STANDARD.encode(&*value))))
            }
            AuthKind::ApiKey => (it.header.clone(), value.clone()),
        };
        let mut secrets = vec![value.as_str()];
        if it.kind == AuthKind::Basic {
            let Some((_, password)) = value.split_once(':').filter(|it| it.1.len() >= MIN) else {
                return Err(unusable(format!("is not USER:PASSWORD, {MIN} bytes after the colon")));
            };
            secrets.extend([password, &sent["Basic ".len()..]]);
        }
        let known = SecretFilter::new(format!("[REDACTED:{}]", it.env), &secrets);
        Ok(Self {
            name: match &it.query {
                Some(name) => CredentialPlace::Query(name.clone()),
                None => CredentialPlace::Header(name.unwrap_or_else(|| "authorization".to_owned())),
            },
            value: sent,
            origin: url.origin(),
            known,
        })
    }

    /// What its value is replaced with wherever it comes back.
    pub fn secret_filter(&self) -> &SecretFilter {
        &self.known
    }

    /// The request with the value in it; as it was, for another origin.
    fn sign(&self, request: &PreparedRequest) -> Result<PreparedRequest> {
        let mut out = request.clone();
        let mut url = Url::parse(&out.url).map_err(|err| {
            Error::new(Code::UrlInvalid, format!("the request URL is invalid: {err}"))
        })?;
        if url.origin() != self.origin {
            return Ok(out);
        }
        match &self.name {
            CredentialPlace::Header(name) => {
                out.headers.push((name.clone(), self.value.to_string()));
            }
            CredentialPlace::Query(name) => {
                url.query_pairs_mut().append_pair(name, &self.value);
                out.url = url.into();
            }
        }
        Ok(out)
    }
}

fn is_header_text(value: &str) -> bool {
    value.bytes().all(|it| matches!(it, b' '..=b'~')) && value.trim() == value
}

/// Sends through another transport, with a key.
pub struct SigningTransport<'a> {
    inner: &'a dyn Transport,
    credential: &'a Credential,
}

impl<'a> SigningTransport<'a> {
    /// Fails with `RECIPE_INVALID` for a transport that shows the page what it sends.
    pub fn new(inner: &'a dyn Transport, credential: &'a Credential) -> Result<Self> {
        if inner.kind() == TransportKind::InPageFetch {
            return Err(Error::new(
                Code::RecipeInvalid,
                "a key cannot be sent by a page, because the page could read it",
            ));
        }
        Ok(Self { inner, credential })
    }
}

impl Transport for SigningTransport<'_> {
    fn kind(&self) -> TransportKind {
        self.inner.kind()
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let mut signed = self.credential.sign(request)?;
            let reply = self.inner.send(&signed).await;
            signed.headers.iter_mut().for_each(|it| it.1.zeroize());
            signed.url.zeroize();
            Ok(hide_credential(&self.credential.known, reply?))
        })
    }
}

fn hide_credential(known: &SecretFilter, mut reply: Reply) -> Reply {
    if let Some(body) = known.hide_body(&reply.body) {
        reply.body = body;
    }
    for (_, value) in &mut reply.headers {
        *value = known.hide(value).into_owned();
    }
    reply.url = known.hide(&reply.url).into_owned();
    reply
}

#[cfg(test)]
#[path = "credential_tests.rs"]
mod tests;
