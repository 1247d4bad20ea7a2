//! `login_http`: our client with a login of the vault. No browser takes part.
//!
//! Cookies go by the rules of RFC 6265bis to the login's site alone, and are chosen anew for each hop; a redirect to another origin
//! ends the session, as it does for `context_request`. What an answer sets is sealed before the answer is read.

use futures::future::BoxFuture;

use super::{Changes, Login};
use commis_base::error::Result;
use commis_net::{
    egress::SafeUrl,
    transport::{PreparedRequest, Reply, Session, Transport, public_http::PublicHttp},
};
use commis_recipe::model::TransportKind;
use commis_state::now_ms;

/// Sends requests as whoever is logged in, with the login as it was read last: see [`Login::reload`].
pub struct LoginHttp<'a> {
    http: &'a PublicHttp,
    /// Without one it sends as a stranger.
    login: Option<&'a Login>,
}

impl<'a> LoginHttp<'a> {
    pub fn new(http: &'a PublicHttp, login: Option<&'a Login>) -> Self {
        Self { http, login }
    }

    async fn request(&self, request: &PreparedRequest) -> Result<Reply> {
        self.http.call(request, self.login.map(|it| it as &dyn Session)).await
    }
}

impl Transport for LoginHttp<'_> {
    fn kind(&self) -> TransportKind {
        TransportKind::LoginHttp
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(self.request(request))
    }
}

impl Session for Login {
    fn identity_headers(&self, url: &SafeUrl) -> Vec<(&'static str, String)> {
        let basic = self.contents().authorization(url);
        basic.map(|it| ("authorization", it.to_string())).into_iter().collect()
    }

    fn cookies<'a>(&'a self, url: &'a SafeUrl) -> BoxFuture<'a, Result<Option<String>>> {
        let header = self.contents().cookie_header(url, now_ms());
        Box::pin(std::future::ready(Ok(header.map(|it| it.to_string()))))
    }

    fn store_cookies<'a>(
        &'a self,
        url: &'a SafeUrl,
        set: Vec<String>,
    ) -> BoxFuture<'a, Result<()>> {
        let changes = self.contents().changes_of(url, &set, now_ms());
        Box::pin(Login::save_changes(self, Changes { cookies: changes, stored: Vec::new() }))
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;
    use crate::{LoginData, Vault, parse_set_cookie};
    use commis_base::settings::{EgressSettings, Home};
    use commis_net::{
        egress::{
            EgressPolicy,
            stub::{DnsTable, OWN, SsrfVector, StubServers},
        },
        transport::TransportLimits,
    };

    /// A login of the vector's own site, whatever that is.
    fn login(home: &std::path::Path, policy: &EgressPolicy, url: &str) -> Option<Login> {
        let url = policy.check(url).ok()?;
        let cookie = parse_set_cookie("sid=canary-of-a-login", &url, true, 0)?;
        let held = LoginData::new(url.as_str(), "form", vec![cookie], Vec::new()).ok()?;
        let vault = Vault::new(&Home::find(Some(home)).unwrap());
        let name = "one".parse().unwrap();
        vault.seal(&name, &held, true).ok()?;
        Login::open(vault, &name).ok()
    }

    async fn judge(vector: &SsrfVector, own: &[(&str, &str)]) -> Option<String> {
        let stand_ins = StubServers::default();
        stand_ins.queue_redirects(vector.hops.clone());
        let settings = EgressSettings {
            allowed_ports: vec![8443],
            own: own.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
            ..EgressSettings::default()
        };
        let table = DnsTable::new(vector.dns.clone());
        let policy = Arc::new(EgressPolicy::with_stubs(&settings, table, stand_ins.clone()));
        let home = tempfile::tempdir().unwrap();
        let login = login(home.path(), &policy, &vector.input);
        let caps = TransportLimits { total: Duration::from_secs(10), ..TransportLimits::DEFAULT };
        let http = PublicHttp::with_limits(policy, caps).unwrap();
        let host = vector.whatwg_host.as_deref().unwrap_or("").trim_end_matches('.').to_owned();
        let request = PreparedRequest {
            method: "GET".to_owned(),
            url: vector.input.clone(),
            headers: Vec::new(),
            body: None,
            allowed_domains: vector.dns.keys().cloned().chain([host.clone()]).collect(),
            own_host: None,
        };
        let result = LoginHttp::new(&http, login.as_ref()).send(&request).await;
        let connects = stand_ins.take();
        let wrong = |why: &str| {
            let end = result.as_ref().map_or_else(ToString::to_string, |it| it.status.to_string());
            Some(format!("{} {}: {why}; {end}, {connects:?}", vector.id, vector.input))
        };
        let first = |head: &str| head.to_ascii_lowercase().contains(&format!("host: {host}"));
        if connects.iter().any(|it| it.head.contains("canary") && !first(&it.head)) {
            return wrong("the login went to another origin");
        }
        let here = vector.first_addresses();
        if vector.is_allowed() {
            return None;
        }
        let strays =
            connects.iter().any(|it| vector.hops.is_empty() || !here.contains(&it.meant.ip()));
        let data = result.as_ref().is_ok_and(|it| it.status < 300);
        if strays || data { wrong("not blocked") } else { None }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn ssrf_vectors_reach_nothing_that_is_denied() {
        let mut wrong = Vec::new();
        for it in &SsrfVector::all() {
            for own in [&[][..], OWN] {
                wrong.extend(judge(it, own).await);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
