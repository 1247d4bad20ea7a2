//! Where bytes may go: the one policy that every sender asks.
//!
//! `check` (text, no DNS) makes a [`SafeUrl`], `pin` (one look-up) makes a [`PinnedUrl`], and a transport connects to nothing
//! but a `PinnedUrl`'s addresses. There is no second classifier anywhere, and no way to build either type elsewhere. There are
//! two ways inside, both by name and port: a host under `.test` (RFC 6761: never resolvable in the real world) may be pinned to
//! a loopback address by settings, and a host of the user's own is open to what goes on there (`private_hosts.rs`).

mod address;
pub mod limits;
mod names;
mod private_hosts;
mod resolve;
pub mod send_lease;
#[cfg(any(test, feature = "test-support"))]
pub mod stub;
mod test_ca;
mod url;

#[cfg(test)]
mod conformance_tests;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc};

use rustls::pki_types::CertificateDer;

pub use self::private_hosts::parse_own_hosts as check_own;
pub use self::url::{SafeUrl, is_public_suffix, site_of};
use self::{
    resolve::{Cache, Dns, Lookup, LookupResult},
    test_ca::TestCa,
};
use commis_base::{
    error::{Code, Error, Result},
    settings::{BrowserMode, EgressSettings},
};

/// The rules, the resolver and its cache. Cheap to clone.
#[derive(Clone)]
pub struct EgressPolicy {
    inner: Arc<Inner>,
    /// The host of the user's own, as `host:port`, that it judges for.
    at: Option<Arc<str>>,
}

struct Inner {
    /// Canonical names under `.test`; `*` for all others.
    pins: BTreeMap<String, SocketAddr>,
    test_ca: TestCa,
    own: private_hosts::OwnHosts,
    /// Why lines of the settings file do not count.
    own_refused: Option<String>,
    /// Where the user writes settings; for hints.
    file: Option<PathBuf>,
    allowed_ports: Vec<u16>,
    no_network: bool,
    leave: send_lease::TaskLeases,
    browser_mode: BrowserMode,
    dns: Box<dyn Lookup>,
    cache: Cache,
    /// Where connections lead instead, after everything was judged.
    #[cfg(any(test, feature = "test-support"))]
    stand_ins: Option<stub::StubServers>,
}

/// A URL and the addresses that were found for it and checked; connect to these and no others.
#[derive(Clone, Debug)]
pub struct PinnedUrl {
    url: SafeUrl,
    addrs: Vec<SocketAddr>,
}

impl PinnedUrl {
    pub fn url(&self) -> &SafeUrl {
        &self.url
    }

    /// At least one, sorted, with the port to connect to (for a test host not the URL's).
    pub fn addrs(&self) -> &[SocketAddr] {
        &self.addrs
    }
}

impl EgressPolicy {
    /// Fails with `SETTINGS_INVALID` for a test host that is not `NAME.test` or `*.test` at a loopback address and port, for a
    /// host of one's own that may not be one, for an allowed port that is on the list of ports refused always, and for a test
    /// CA that cannot be read.
    pub fn new(settings: &EgressSettings) -> Result<Self> {
        Self::with_lookup(settings, Box::new(Dns::new(settings.nameserver)))
    }

    fn with_lookup(settings: &EgressSettings, dns: Box<dyn Lookup>) -> Result<Self> {
        let mut pins = BTreeMap::new();
        for entry in &settings.test_hosts {
            let (name, addr) = parse_test_host(entry)?;
            if pins.insert(name, addr).is_some_and(|it| it != addr) {
                return Err(Error::new(
                    Code::SettingsInvalid,
                    format!("test host `{}` is given twice", url::display_text(entry)),
                ));
            }
        }
        if let Some(port) = settings.allowed_ports.iter().find(|it| names::is_bad_port(**it)) {
            return Err(Error::new(
                Code::SettingsInvalid,
                format!("port {port} cannot be allowed"),
            )
            .hint("it belongs to another protocol: see \"bad ports\" in the Fetch standard"));
        }
        let inner = Inner {
            pins,
            test_ca: TestCa::read(settings)?,
            own: private_hosts::parse_own_hosts(settings)?,
            own_refused: settings.own_refused.clone(),
            file: settings.file.clone(),
            allowed_ports: settings.allowed_ports.clone(),
            no_network: settings.no_network,
            leave: send_lease::TaskLeases::default(),
            browser_mode: settings.browser_mode,
            dns,
            cache: Cache::default(),
            #[cfg(any(test, feature = "test-support"))]
            stand_ins: None,
        };
        Ok(Self { inner: Arc::new(inner), at: None })
    }

    /// What this process has leave to ask for, where an engine gives it tasks.
    pub fn task_leases(&self) -> &send_lease::TaskLeases {
        &self.inner.leave
    }

    /// When a page's requests are resolved.
    pub fn browser_mode(&self) -> BrowserMode {
        self.inner.browser_mode
    }

    /// Everything that can be said without DNS. `https://host:port/` serves where there is no path (CONNECT).
    ///
    /// Fails with `NETWORK_DISABLED`, `URL_INVALID` or `URL_BLOCKED`, with `TASK_BUSY` when this process was taken over.
    pub fn check(&self, url: &str) -> Result<SafeUrl> {
        self.check_online()?;
        self.judge(url)
    }

    /// [`check`](Self::check) for stages that only read the URL and send nothing: works without a network.
    ///
    /// Fails with `URL_INVALID` or `URL_BLOCKED`.
    pub fn judge(&self, url: &str) -> Result<SafeUrl> {
        let text = url;
        let url = url::parse(text)?;
        if let Some(verdict) = self.check_own_url(text, &url) {
            return verdict.map(|()| url);
        }
        if names::is_metadata(url.host()) {
            return Err(blocked_error(&url, "a cloud's metadata service"));
        }
        let pin = self.configured_pin(url.host());
        let denied = match url.literal() {
            Some(address) => address::denial_reason(address),
            None if is_under_test(url.host()) => {
                if pin.is_none() {
                    return Err(blocked_error(&url, "this .test name is not pinned")
                        .hint("give --test-host NAME=127.0.0.1:PORT"));
                }
                None
            }
            None => names::name_denial_reason(url.host()).map(str::to_owned),
        };
        if let Some(why) = denied {
            return Err(self.with_own_host_hint(blocked_error(&url, &why), &url, None));
        }
        self.check_port(&url, pin)?;
        Ok(url)
    }

    /// Resolves once, judges every answer, and refuses them all if one is denied. Answers are kept for 5 s, failures 2 s.
    ///
    /// Fails with `DNS_FAILED`, `DNS_BLOCKED` or `NETWORK_DISABLED`, with `URL_BLOCKED` for a host of one's own that this
    /// policy is not at.
    pub async fn pin(&self, url: &SafeUrl) -> Result<PinnedUrl> {
        let cached = self.inner.cache.get(url.host());
        self.pin_with(url, cached).await
    }

    /// [`pin`](Self::pin) past the cache: what a retry uses.
    pub async fn pin_fresh(&self, url: &SafeUrl) -> Result<PinnedUrl> {
        self.pin_with(url, None).await
    }

    async fn pin_with(&self, url: &SafeUrl, cached: Option<LookupResult>) -> Result<PinnedUrl> {
        self.check_online()?;
        if let Some(addr) = self.configured_pin(url.host()) {
            return Ok(PinnedUrl { url: url.clone(), addrs: vec![addr] });
        }
        let pinned = |addrs: Vec<SocketAddr>| {
            #[cfg(any(test, feature = "test-support"))]
            let addrs = match &self.inner.stand_ins {
                Some(all) => addrs.into_iter().map(|it| all.listen_for(it)).collect(),
                None => addrs,
            };
            PinnedUrl { url: url.clone(), addrs }
        };
        if let Some(address) = self.find_own_address(url)?.or(url.literal()) {
            return Ok(pinned(vec![SocketAddr::new(address, url.port())]));
        }
        let answer = if let Some(answer) = cached {
            answer
        } else {
            let answer = self.inner.dns.lookup(url.host()).await;
            self.inner.cache.put(url.host(), &answer);
            answer
        };
        let failed = |why: &str| {
            Error::new(
                Code::DnsFailed,
                format!("cannot resolve `{}`: {why}", url::display_text(url.host())),
            )
        };
        let mut answer = answer.map_err(|why| failed(&why))?;
        if answer.is_empty() {
            return Err(failed("the name has no address"));
        }
        for address in &answer {
            if let Some(why) = address::denial_reason(*address) {
                let shown = url::display_text(url.host());
                let message = format!("`{shown}` resolves to {address}: {why}");
                let err = Error::new(Code::DnsBlocked, message);
                return Err(self.with_own_host_hint(err, url, Some(*address)));
            }
        }
        answer.sort_unstable();
        answer.dedup();
        Ok(pinned(answer.into_iter().map(|it| SocketAddr::new(it, url.port())).collect()))
    }

    /// Where a redirect may lead: resolved against `from`, checked like any URL, same scheme, and the same host unless
    /// `allowed_domains` (canonical names) holds the new one.
    ///
    /// Fails with `REDIRECT_BLOCKED` (the policy's own error is its source) or `NETWORK_DISABLED`.
    pub fn redirect(
        &self,
        from: &SafeUrl,
        location: &str,
        allowed_domains: &[String],
    ) -> Result<SafeUrl> {
        self.check_online()?;
        let refused = |why: String| {
            Error::new(
                Code::RedirectBlocked,
                format!("redirect from `{}` {why}", url::display_text(from.host())),
            )
        };
        if location.chars().any(|it| it.is_control() || it == ' ')
            || location.split(['?', '#']).next().is_some_and(|it| it.contains('\\'))
        {
            return Err(refused("has a control character, space or backslash".to_owned()));
        }
        let joined =
            from.url().join(location).map_err(|err| refused(format!("does not parse: {err}")))?;
        let to = self.check(joined.as_str()).map_err(|err| {
            refused("leads where the policy does not allow".to_owned()).source(err)
        })?;
        if self.is_at_own_host(&to) && !self.is_at_own_host(from) {
            return Err(refused("leads to a host of your own".to_owned()));
        }
        if to.scheme() != from.scheme() {
            return Err(refused(format!(
                "changes the scheme to {}",
                url::display_text(to.scheme())
            )));
        }
        if to.host() != from.host()
            && !allowed_domains
                .iter()
                .any(|it| it.trim_end_matches('.').eq_ignore_ascii_case(to.host()))
        {
            return Err(refused(format!(
                "leads to another host, `{}`",
                url::display_text(to.host())
            ))
            .hint("list the host in the recipe's allowed_domains if that is intended"));
        }
        Ok(to)
    }

    /// Whether the host is pinned by settings: pacing and rate limits do not apply to it.
    pub fn is_test_host(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        self.configured_pin(&host).is_some()
    }

    /// Whether the settings name the canonical host, at whatever port, as one of the user's own.
    pub fn is_own_host(&self, host: &str) -> bool {
        let name = |place: &str| place.rsplit_once(':').map_or("", |it| it.0) == host;
        self.inner.own.keys().any(|it| name(it))
    }

    /// What vouches for a host: certificates for a pinned test host where a test CA was given, and `None`, which means the
    /// system's roots, for every other host.
    pub fn test_ca(&self, host: &str) -> Option<&[CertificateDer<'static>]> {
        let given = &self.inner.test_ca.0;
        (!given.is_empty() && self.is_test_host(host)).then_some(given)
    }

    /// Whether there are hosts that a browser cannot be taught to trust for them alone: pinned ones that a test CA vouches for,
    /// and hosts of the user's own.
    pub fn has_vouched_hosts(&self) -> bool {
        let test = !self.inner.test_ca.0.is_empty() && !self.inner.pins.is_empty();
        test || !self.inner.own.is_empty()
    }

    fn check_online(&self) -> Result<()> {
        if self.inner.no_network {
            return Err(Error::new(Code::NetworkDisabled, "the network is off")
                .hint("run without --no-network"));
        }
        self.inner.leave.check()
    }

    /// An exact name wins over `*.test`, which matches at any depth.
    fn configured_pin(&self, host: &str) -> Option<SocketAddr> {
        if !is_under_test(host) {
            return None;
        }
        let pins = &self.inner.pins;
        pins.get(host).or_else(|| pins.get("*")).copied()
    }

    /// 80 and 443, those in settings, and for a test host the port that it is pinned to. Whatever port the URL of a test
    /// host names, the connection goes to its pinned address and port.
    fn check_port(&self, url: &SafeUrl, pin: Option<SocketAddr>) -> Result<()> {
        let port = url.port();
        let allowed = matches!(port, 80 | 443)
            || self.inner.allowed_ports.contains(&port)
            || pin.is_some_and(|it| it.port() == port);
        if allowed && !names::is_bad_port(port) {
            return Ok(());
        }
        Err(blocked_error(url, &format!("port {port} is not allowed"))
            .hint("allow it with egress.allowed_ports if the site is yours"))
    }
}

fn is_under_test(host: &str) -> bool {
    host.rsplit_once('.').is_some_and(|(_, last)| last == "test")
}

fn blocked_error(url: &SafeUrl, why: &str) -> Error {
    Error::new(Code::UrlBlocked, format!("`{}` is blocked: {why}", url::display_text(url.host())))
}

/// `NAME.test=IP:PORT` with a loopback IP. Returns the canonical name, `*` for the wildcard.
fn parse_test_host(entry: &str) -> Result<(String, SocketAddr)> {
    let invalid = |why: &str| {
        Error::new(
            Code::SettingsInvalid,
            format!("`{}` is not a test host: {why}", url::display_text(entry)),
        )
        .hint("expected NAME.test=127.0.0.1:PORT or *.test=127.0.0.1:PORT")
    };
    let (name, addr) = entry.split_once('=').ok_or_else(|| invalid("`=` is missing"))?;
    let name = name.trim().to_ascii_lowercase();
    let addr: SocketAddr =
        addr.trim().parse().map_err(|_| invalid("the address is not IP:PORT"))?;
    if !addr.ip().is_loopback() {
        return Err(invalid("the address is not loopback"));
    }
    if addr.port() == 0 {
        return Err(invalid("the port is 0"));
    }
    let label = |it: &str| {
        (1..=63).contains(&it.len())
            && it.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    match name.strip_suffix(".test") {
        Some("*") => Ok(("*".to_owned(), addr)),
        Some(rest) if rest.split('.').all(label) && name.len() <= 253 => Ok((name, addr)),
        _ => Err(invalid("only names under .test can be pinned")),
    }
}
