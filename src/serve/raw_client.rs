//! Requests to a daemon in their caller's own words, such as those of MCP.

use reqwest::{Method, RequestBuilder};
use zeroize::Zeroizing;

use commis_client::state_file::StateFile;

/// Sends what its caller builds, with the token of the daemon.
pub struct RawClient {
    http: reqwest::Client,
    url: String,
    token: Zeroizing<String>,
}

impl RawClient {
    /// For the daemon of that file: one that was found alive, so that no other is sent the token.
    pub fn new(it: &StateFile) -> Self {
        // Loopback speaks no TLS, but the client wants to know how it would. One that is chosen already does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Without a proxy, whatever the environment says: this is loopback.
        let http =
            reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        // And without certificates, which take longer to read than a command takes.
        let http = http.connect_timeout(std::time::Duration::from_secs(2)).tls_certs_only([]);
        let http = http.build().unwrap_or_default();
        Self { http, url: it.url(), token: Zeroizing::new(it.token.clone()) }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&*self.token)
    }
}
