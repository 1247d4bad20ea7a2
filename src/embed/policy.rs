//! The egress policy with settings of its own.

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};

use commis_base::{error::Result, settings::EgressSettings};
use commis_net::egress::{self, PinnedUrl, SafeUrl};

/// Where bytes may go: public addresses of the web, and nowhere else.
///
/// A URL is judged by its text ([`check`](Self::check)), then its name is looked up once and every answer judged
/// ([`pin`](Self::pin)); who connects, connects to the addresses of a [`PinnedUrl`] and never asks the name again. Cheap to clone.
#[derive(Clone)]
pub struct EgressPolicy(pub(super) Arc<egress::EgressPolicy>);

/// What an [`EgressPolicy`] allows beside ports 80 and 443 of the public web.
#[derive(Clone, Debug, Default)]
pub struct EgressPolicyBuilder {
    test_hosts: Vec<String>,
    test_ca: Option<PathBuf>,
    ports: BTreeSet<u16>,
    nameserver: Option<SocketAddr>,
    offline: bool,
}

impl EgressPolicy {
    /// The public web on its usual ports, by the system's name servers.
    ///
    /// Fails with `SETTINGS_INVALID` where the system's TLS or DNS settings cannot be used.
    pub fn public() -> Result<Self> {
        Self::builder().build()
    }

    /// A builder that begins with the policy of [`public`](Self::public).
    pub fn builder() -> EgressPolicyBuilder {
        EgressPolicyBuilder::default()
    }

    /// Everything that can be said of a URL without DNS: scheme, port, host names and literal addresses that are not public.
    ///
    /// Fails with `URL_INVALID`, `URL_BLOCKED`, or `NETWORK_DISABLED` where the policy is offline.
    pub fn check(&self, url: &str) -> Result<SafeUrl> {
        self.0.check(url)
    }

    /// Looks the host up once and refuses it whole if one of its addresses is not public. Answers are kept for 5 s.
    ///
    /// Fails with `DNS_FAILED`, `DNS_BLOCKED` or `NETWORK_DISABLED`.
    pub async fn pin(&self, url: &SafeUrl) -> Result<PinnedUrl> {
        self.0.pin(url).await
    }
}

impl EgressPolicyBuilder {
    /// Pins a host under `.test`, or `*.test` for all of them, to a loopback address, for tests of yours.
    #[must_use]
    pub fn test_host(mut self, name: &str, loopback: SocketAddr) -> Self {
        self.test_hosts.push(format!("{name}={loopback}"));
        self
    }

    /// Who signs certificates of test hosts, a PEM file; for test hosts alone.
    #[must_use]
    pub fn test_ca(mut self, pem: impl Into<PathBuf>) -> Self {
        self.test_ca = Some(pem.into());
        self
    }

    /// One more port. Those that the Fetch standard refuses to browsers cannot be allowed.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.ports.insert(port);
        self
    }

    /// Asks this name server, at port 53, instead of the system's.
    #[must_use]
    pub fn nameserver(mut self, address: IpAddr) -> Self {
        self.nameserver = Some(SocketAddr::new(address, 53));
        self
    }

    /// Every attempt to send ends in `NETWORK_DISABLED`.
    #[must_use]
    pub fn offline(mut self) -> Self {
        self.offline = true;
        self
    }

    /// Fails with `SETTINGS_INVALID`.
    pub fn build(self) -> Result<EgressPolicy> {
        let settings = EgressSettings {
            test_hosts: self.test_hosts,
            test_ca: self.test_ca,
            allowed_ports: self.ports.into_iter().collect(),
            nameserver: self.nameserver,
            no_network: self.offline,
            ..EgressSettings::default()
        };
        Ok(EgressPolicy(Arc::new(egress::EgressPolicy::new(&settings)?)))
    }
}
