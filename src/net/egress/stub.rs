//! For tests: look-ups from a table, and connections that lead to stand-ins on loopback, so that a test of what may be
//! reached can see every attempt and reaches nothing.

#![allow(clippy::unwrap_used, reason = "tests alone compile it")]

use std::{
    collections::{BTreeMap, VecDeque},
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{EgressPolicy, Lookup, LookupResult};
use commis_base::settings::EgressSettings;

/// Places inside that vectors try, as hosts of the user's own.
pub const OWN: &[(&str, &str)] = &[
    ("localhost:80", "127.0.0.1"),
    ("127.0.0.1:80", "127.0.0.1"),
    ("127.0.0.1:443", "127.0.0.1"),
    ("10.0.0.1:80", "10.0.0.1"),
    ("[::1]:80", "::1"),
];

/// What a name that no table lists resolves to: the policy must refuse by itself, not because a name is unknown.
pub const ANY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(93, 184, 216, 34));

/// By name, the answers of the first look-up, of the second, and so on.
pub type DnsRows = BTreeMap<String, Vec<Vec<String>>>;

/// Answers from a table, the n-th look-up of a name with its n-th row.
#[derive(Clone, Default)]
pub struct DnsTable {
    rows: Arc<Mutex<DnsRows>>,
    pub asked: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl DnsTable {
    pub fn new(rows: DnsRows) -> Self {
        Self { rows: Arc::new(Mutex::new(rows)), ..Self::default() }
    }
}

impl Lookup for DnsTable {
    fn lookup<'a>(&'a self, name: &'a str) -> BoxFuture<'a, LookupResult> {
        Box::pin(async move {
            let mut asked = self.asked.lock().unwrap();
            let n = asked.entry(name.to_owned()).or_default();
            *n += 1;
            let rows = self.rows.lock().unwrap();
            let Some(rows) = rows.get(name) else {
                return Ok(vec![ANY]);
            };
            let row = &rows[(*n - 1).min(rows.len() - 1)];
            Ok(row.iter().filter_map(|it| it.parse().ok()).collect())
        })
    }
}

/// A connection as it was meant, and the head of what came over it (empty for TLS).
#[derive(Clone, Debug)]
pub struct StubConnection {
    pub meant: SocketAddr,
    pub head: String,
}

/// Stands in for every address there is.
#[derive(Clone, Default)]
pub struct StubServers(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// By the address that was meant, where its stand-in listens.
    listening: Mutex<BTreeMap<SocketAddr, SocketAddr>>,
    connects: Mutex<Vec<StubConnection>>,
    script: Mutex<Script>,
}

#[derive(Default)]
struct Script {
    hops: VecDeque<(u64, String)>,
    /// A request that comes again is answered as before, so that a loop loops.
    given: BTreeMap<String, (u64, String)>,
}

impl StubServers {
    /// The stand-in for an address, listening from now on. Needs a runtime.
    pub fn listen_for(&self, meant: SocketAddr) -> SocketAddr {
        let mut all = self.0.listening.lock().unwrap();
        *all.entry(meant).or_insert_with(|| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            let addr = listener.local_addr().unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let inner = Arc::downgrade(&self.0);
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let Some(inner) = inner.upgrade() else { return };
                    let at = {
                        let mut all = inner.connects.lock().unwrap();
                        all.push(StubConnection { meant, head: String::new() });
                        all.len() - 1
                    };
                    tokio::spawn(async move { inner.serve(stream, at).await });
                }
            });
            addr
        })
    }

    /// From now on connections that mean one address lead to another, which sees them alone.
    pub fn forward(&self, meant: SocketAddr, to: SocketAddr) {
        self.0.listening.lock().unwrap().insert(meant, to);
    }

    /// Redirects that the next requests get, each once; whatever comes after them is answered with 200.
    pub fn queue_redirects(&self, hops: Vec<(u64, String)>) {
        *self.0.script.lock().unwrap() = Script { hops: hops.into(), given: BTreeMap::new() };
    }

    /// Connections since this was last asked.
    pub fn take(&self) -> Vec<StubConnection> {
        std::mem::take(&mut *self.0.connects.lock().unwrap())
    }
}

impl Inner {
    async fn serve(&self, mut stream: tokio::net::TcpStream, at: usize) {
        let mut bytes = Vec::new();
        let whole = async {
            while !bytes.windows(4).any(|it| it == b"\r\n\r\n") {
                // 22 starts a TLS record: that it came is all there is to see.
                if !matches!(stream.read_buf(&mut bytes).await, Ok(n) if n > 0) || bytes[0] == 22 {
                    return false;
                }
            }
            true
        };
        if !tokio::time::timeout(Duration::from_secs(5), whole).await.unwrap_or(false) {
            return;
        }
        let head = String::from_utf8_lossy(&bytes).into_owned();
        let mut lines = head.lines();
        let first = lines.next().unwrap_or("");
        let host = lines.find(|it| it.to_ascii_lowercase().starts_with("host:")).unwrap_or("");
        let url = format!("{first} {host}");
        let (status, location) = {
            let mut script = self.script.lock().unwrap();
            let next = script.given.get(&url).cloned().or_else(|| script.hops.pop_front());
            next.map_or((200, None), |it| {
                script.given.insert(url, it.clone());
                (it.0, Some(it.1))
            })
        };
        if let Some(it) = self.connects.lock().unwrap().get_mut(at) {
            it.head = head;
        }
        let location = location.map(|it| format!("location: {it}\r\n")).unwrap_or_default();
        let length = if status == 304 { "" } else { "content-length: 2\r\n\r\nok" };
        let answer = format!(
            "HTTP/1.1 {status} X\r\nconnection: close\r\naccess-control-allow-origin: *\r\n\
             content-type: text/plain\r\n{location}{length}"
        );
        let answer = if length.is_empty() { answer + "\r\n" } else { answer };
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    }
}

impl EgressPolicy {
    /// A policy that judges as always, resolves by the table, and whose pins lead to stand-ins. Pinned test hosts stay where
    /// they are.
    pub fn with_stubs(settings: &EgressSettings, table: DnsTable, stand_ins: StubServers) -> Self {
        let mut policy = Self::with_lookup(settings, Box::new(table)).unwrap();
        Arc::get_mut(&mut policy.inner).unwrap().stand_ins = Some(stand_ins);
        policy
    }

    /// From now on the table's names resolve so, and nothing was ever asked.
    pub fn reset_stubs(&self, table: &DnsTable, rows: DnsRows) {
        *table.rows.lock().unwrap() = rows;
        table.asked.lock().unwrap().clear();
        self.inner.cache.clear();
    }
}

impl EgressPolicy {
    /// For tests of senders: each look-up of the name gets the next of these addresses, the last one for good. The second
    /// value counts look-ups by name.
    pub fn with_answers(
        name: &str,
        answers: &[&str],
    ) -> (Self, Arc<Mutex<BTreeMap<String, usize>>>) {
        let rows = answers.iter().map(|it| vec![(*it).to_owned()]).collect();
        let table = DnsTable::new([(name.to_owned(), rows)].into());
        let asked = Arc::clone(&table.asked);
        (Self::with_lookup(&EgressSettings::default(), Box::new(table)).unwrap(), asked)
    }
}

/// Shared test vectors, which are not part of the repository.
pub fn vectors(name: &str) -> Option<Value> {
    let path = commis_base::testing::shared(&format!("vectors/{name}"))?;
    Some(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

/// Whether the shared list of special-purpose blocks lets the address be reached: what says so is not what is tested.
pub fn is_public(address: IpAddr) -> bool {
    let Some(blocks) = vectors("iana_special_purpose.json") else { return false };
    let blocks = blocks.as_array().unwrap().iter().filter_map(|it| {
        let net: ipnet::IpNet = it["block"].as_str()?.parse().ok()?;
        net.contains(&address).then(|| (net.prefix_len(), it["policy"] == "allow"))
    });
    let global = match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(it) => it.segments()[0] >> 13 == 1,
    };
    blocks.max_by_key(|it| it.0).map_or(global, |it| it.1)
}

/// One of the shared SSRF vectors (`vectors/ssrf.md`).
#[derive(Clone, Debug, serde::Deserialize)]
pub struct SsrfVector {
    pub id: String,
    pub input: String,
    pub expect: String,
    /// What has to tell: the parser, the address, the name, …
    pub layer: String,
    #[serde(default)]
    pub dns: DnsRows,
    #[serde(default)]
    pub hops: Vec<(u64, String)>,
    pub whatwg_host: Option<String>,
}

impl SsrfVector {
    /// All of them; none, with a line saying so, where they are not.
    pub fn all() -> Vec<Self> {
        vectors("ssrf.json").map_or_else(Vec::new, |it| {
            let all: Vec<Self> = serde_json::from_value(it).unwrap();
            assert!(!all.is_empty());
            all
        })
    }

    pub fn is_allowed(&self) -> bool {
        self.expect == "allowed"
    }

    /// A host of one label is local, whatever else a vector wants: two of one kind can not end differently.
    pub fn is_local_name(&self) -> bool {
        let host = self.whatwg_host.as_deref().unwrap_or("");
        !host.is_empty() && !host.contains(['.', ':'])
    }

    /// Where the first URL's host may be reached: the table's first row, or the address that it is.
    pub fn first_addresses(&self) -> Vec<IpAddr> {
        let host = self.whatwg_host.as_deref().unwrap_or("").trim_end_matches('.');
        if let Ok(literal) = host.trim_matches(['[', ']']).parse() {
            return vec![literal];
        }
        match self.dns.get(host) {
            Some(rows) => rows[0].iter().filter_map(|it| it.parse().ok()).collect(),
            None => vec![ANY],
        }
    }

    /// With http for https and the other way round, so that a chain of redirects can be spoken without TLS. What a change of
    /// scheme is stays one.
    #[must_use]
    pub fn with_schemes_swapped(&self) -> Self {
        let swap = |text: &str| {
            text.replace("https://", "\u{0}")
                .replace("http://", "https://")
                .replace('\u{0}', "http://")
        };
        Self {
            input: swap(&self.input),
            hops: self.hops.iter().map(|it| (it.0, swap(&it.1))).collect(),
            ..self.clone()
        }
    }
}
