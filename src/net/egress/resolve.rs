//! Names to addresses: one look-up, every answer seen, kept for seconds only.
//!
//! The hosts file is not read: `127.0.0.1 db.example.com` there would be denied anyway, and a public address there would
//! be an opinion that DNS does not share. The resolver's own cache is off; ours is bounded and can be bypassed.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use hickory_resolver::{
    Resolver, TokioResolver,
    config::{LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig},
    net::runtime::TokioRuntimeProvider,
};

/// `security.md`, "Egress": 256 entries, 5 s, negative 2 s.
const ENTRIES: usize = 256;
const POSITIVE: Duration = Duration::from_secs(5);
const NEGATIVE: Duration = Duration::from_secs(2);
const TOTAL: Duration = Duration::from_secs(5);

/// What a look-up found; the text says why it failed, in words for the user.
pub(super) type LookupResult = Result<Vec<IpAddr>, String>;

/// Asks for the addresses of an absolute name. An empty answer is a failure.
pub(super) trait Lookup: Send + Sync {
    fn lookup<'a>(&'a self, name: &'a str) -> BoxFuture<'a, LookupResult>;
}

/// The system's name servers, or the one that settings name. Built at the first look-up: it needs a runtime, and a machine
/// without name servers can still work on test hosts.
pub(super) struct Dns {
    nameserver: Option<SocketAddr>,
    built: OnceLock<Result<TokioResolver, String>>,
}

impl Dns {
    pub(super) fn new(nameserver: Option<SocketAddr>) -> Self {
        Self { nameserver, built: OnceLock::new() }
    }

    fn build(&self) -> Result<TokioResolver, String> {
        let provider = TokioRuntimeProvider::default();
        let mut builder = if let Some(server) = self.nameserver {
            let mut config = NameServerConfig::udp_and_tcp(server.ip());
            for connection in &mut config.connections {
                connection.port = server.port();
            }
            let config = ResolverConfig::from_parts(None, vec![], vec![config]);
            Resolver::builder_with_config(config, provider)
        } else {
            Resolver::builder(provider)
                .map_err(|err| format!("no name server is configured: {err}"))?
        };
        let options = builder.options_mut();
        options.cache_size = 0;
        options.ndots = 0;
        options.attempts = 2;
        options.timeout = Duration::from_secs(2);
        options.use_hosts_file = ResolveHosts::Never;
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        builder.build().map_err(|err| err.to_string())
    }
}

impl Lookup for Dns {
    fn lookup<'a>(&'a self, name: &'a str) -> BoxFuture<'a, LookupResult> {
        Box::pin(async move {
            let resolver =
                self.built.get_or_init(|| self.build()).as_ref().map_err(Clone::clone)?;
            // The final dot keeps search domains out.
            let found = tokio::time::timeout(TOTAL, resolver.lookup_ip(format!("{name}.")))
                .await
                .map_err(|_| "no answer from DNS within 5 s".to_owned())?;
            match found {
                Ok(found) => Ok(found.iter().collect()),
                Err(err) if err.is_nx_domain() => Err("the name does not exist".to_owned()),
                Err(err) if err.is_no_records_found() => Err("the name has no address".to_owned()),
                Err(err) => Err(err.to_string()),
            }
        })
    }
}

#[derive(Default)]
pub(super) struct Cache {
    entries: Mutex<BTreeMap<String, (Instant, LookupResult)>>,
}

impl Cache {
    pub(super) fn get(&self, name: &str) -> Option<LookupResult> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, answer) = entries.get(name)?;
        (*until > Instant::now()).then(|| answer.clone())
    }

    #[cfg(any(test, feature = "test-support"))]
    pub(super) fn clear(&self) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn put(&self, name: &str, answer: &LookupResult) {
        let now = Instant::now();
        let keep = if answer.is_ok() { POSITIVE } else { NEGATIVE };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ENTRIES && !entries.contains_key(name) {
            entries.retain(|_, (until, _)| *until > now);
        }
        if entries.len() >= ENTRIES && !entries.contains_key(name) {
            let soonest =
                entries.iter().min_by_key(|(_, (until, _))| *until).map(|(name, _)| name.clone());
            if let Some(soonest) = soonest {
                entries.remove(&soonest);
            }
        }
        entries.insert(name.to_owned(), (now + keep, answer.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded() {
        let cache = Cache::default();
        for i in 0..1000 {
            cache.put(&format!("h{i}.com"), &Ok(vec![]));
        }
        assert_eq!(cache.entries.lock().unwrap().len(), ENTRIES);
        assert!(cache.get("h999.com").is_some());
        assert!(cache.get("h0.com").is_none());
    }
}
