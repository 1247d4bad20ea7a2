//! A DNS server on loopback whose names resolve to addresses that the egress policy must refuse.

use std::future::Future;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hickory_server::Server;
use hickory_server::net::runtime::Time;
use hickory_server::proto::op::{Header, HeaderCounts, Metadata, ResponseCode};
use hickory_server::proto::rr::rdata::{A, AAAA, CNAME, SOA};
use hickory_server::proto::rr::{Name, RData, Record, RecordType};
use hickory_server::server::{Request, RequestHandler, ResponseHandler, ResponseInfo};
use hickory_server::zone_handler::MessageResponseBuilder;
use tokio::net::{TcpListener, UdpSocket};

/// How often to look for a port that is free for both UDP and TCP.
const TRIES: u32 = 16;

/// A running DNS server. It stops when dropped.
pub struct Dns {
    addr: SocketAddr,
    queries: Arc<AtomicU64>,
    server: Server<Zone>,
}

impl Dns {
    /// Binds UDP and TCP on 127.0.0.1:`port` (0 = any port free for both).
    pub async fn start(port: u16) -> std::io::Result<Dns> {
        let (udp, tcp) = bind(port).await?;
        let addr = udp.local_addr()?;
        let queries = Arc::new(AtomicU64::new(0));
        let zone = Zone { queries: Arc::clone(&queries), rebinds: AtomicU64::new(0) };
        let mut server = Server::new(zone);
        server.register_socket(udp);
        server.register_listener(tcp, Duration::from_secs(5), 4096);
        Ok(Dns { addr, queries, server })
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Questions answered so far, of any type and name.
    pub fn queries(&self) -> u64 {
        self.queries.load(Ordering::SeqCst)
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.server.shutdown_token().cancel();
    }
}

/// A port that UDP found free may be taken on TCP, so with port 0 this tries again.
async fn bind(port: u16) -> std::io::Result<(UdpSocket, TcpListener)> {
    let mut tries = 1;
    loop {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).await?;
        match TcpListener::bind(udp.local_addr()?).await {
            Ok(tcp) => return Ok((udp, tcp)),
            Err(e) if port != 0 || tries == TRIES => return Err(e),
            Err(_) => tries += 1,
        }
    }
}

struct Zone {
    queries: Arc<AtomicU64>,
    /// Address look-ups of `rebind.example.com.` so far.
    rebinds: AtomicU64,
}

/// What there is to say about a name.
enum LookupResult {
    /// Records under the name that was asked, and after it under others.
    Records(Vec<RData>, Vec<(&'static str, RData)>, u32),
    Failure(ResponseCode),
    /// No answer at all.
    Silence,
}

impl Zone {
    fn look_up(&self, name: &str, kind: RecordType) -> LookupResult {
        let (v4, v6) = (kind == RecordType::A, kind == RecordType::AAAA);
        let mut ttl = 60;
        let a = |it: [u8; 4]| RData::A(A(Ipv4Addr::from(it)));
        let aaaa = |it: [u16; 8]| RData::AAAA(AAAA(Ipv6Addr::from(it)));
        let mut behind = Vec::new();
        let found: Vec<RData> = match name {
            "intranet.example.com." => vec![a([10, 0, 0, 7])],
            "mixed.example.com." => vec![a([203, 0, 113, 5]), a([10, 0, 0, 7])],
            "metadata.example.com." => vec![a([169, 254, 169, 254])],
            "loop.example.com." => vec![a([127, 0, 0, 1])],
            "rebind.example.com." => {
                ttl = 0;
                let first = !v4 || self.rebinds.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
                vec![a(if first { [203, 0, 113, 9] } else { [127, 0, 0, 1] })]
            }
            "unique-local.example.com." => {
                vec![a([203, 0, 113, 5]), aaaa([0xfd00, 0, 0, 0, 0, 0, 0, 7])]
            }
            "mapped.example.com." => vec![aaaa([0, 0, 0, 0, 0, 0xffff, 0x7f00, 1])],
            "alias.example.com." => {
                behind.push(("intranet.example.com.", a([10, 0, 0, 7])));
                vec![cname("intranet.example.com.")]
            }
            "alias-circle.example.com." => vec![cname("alias-circle.example.com.")],
            "empty.example.com." => vec![],
            "broken.example.com." => return LookupResult::Failure(ResponseCode::ServFail),
            "refused.example.com." => return LookupResult::Failure(ResponseCode::Refused),
            "silent.example.com." => return LookupResult::Silence,
            _ => return LookupResult::Failure(ResponseCode::NXDomain),
        };
        let fits = |it: &RData| match it {
            RData::A(_) => v4,
            RData::AAAA(_) => v6,
            _ => true,
        };
        behind.retain(|it| fits(&it.1));
        LookupResult::Records(found.into_iter().filter(fits).collect(), behind, ttl)
    }
}

fn cname(target: &str) -> RData {
    RData::CNAME(CNAME(Name::from_ascii(target).unwrap_or_else(|_| Name::root())))
}

impl RequestHandler for Zone {
    // What `#[async_trait]` makes of the trait's `async fn`, written out to spare the dependency.
    fn handle_request<'zone, 'request, 'answer, R, T>(
        &'zone self,
        request: &'request Request,
        mut out: R,
    ) -> Pin<Box<dyn Future<Output = ResponseInfo> + Send + 'answer>>
    where
        'zone: 'answer,
        'request: 'answer,
        R: ResponseHandler + 'answer,
        T: Time + 'answer,
    {
        Box::pin(async move {
            self.queries.fetch_add(1, Ordering::SeqCst);
            let mut metadata = Metadata::response_from_request(&request.metadata);
            metadata.recursion_available = true;
            let mut answers = Vec::new();
            match request.request_info() {
                Ok(info) => {
                    let name: Name = info.query.name().into();
                    let asked = name.to_ascii().to_lowercase();
                    match self.look_up(&asked, info.query.query_type()) {
                        LookupResult::Records(found, behind, ttl) => {
                            let own = found.into_iter().map(|it| (name.clone(), it));
                            let others = behind
                                .into_iter()
                                .filter_map(|(name, it)| Some((Name::from_ascii(name).ok()?, it)));
                            answers.extend(
                                own.chain(others)
                                    .map(|(name, it)| Record::from_rdata(name, ttl, it)),
                            );
                        }
                        LookupResult::Failure(code) => metadata.response_code = code,
                        LookupResult::Silence => {
                            let counts = HeaderCounts::default();
                            return ResponseInfo::from(Header { metadata, counts });
                        }
                    }
                }
                Err(_) => metadata.response_code = ResponseCode::FormErr,
            }
            // RFC 2308: an answer without records carries the SOA, which says how long to believe it.
            let soa = if answers.is_empty() { vec![authority()] } else { vec![] };
            let none = || std::iter::empty::<&Record>();
            let response = MessageResponseBuilder::from_message_request(request).build(
                metadata,
                answers.iter(),
                none(),
                soa.iter(),
                none(),
            );
            // The asker went away; the return value is only for the server's log.
            out.send_response(response).await.unwrap_or_else(|_| {
                ResponseInfo::from(Header { metadata, counts: HeaderCounts::default() })
            })
        })
    }
}

fn authority() -> Record {
    let name = |label: &str| Name::from_ascii(label).unwrap_or_else(|_| Name::root());
    let soa = SOA::new(name("ns.example.com."), name("hostmaster.example.com."), 1, 60, 60, 60, 30);
    Record::from_rdata(name("example.com."), 30, RData::SOA(soa))
}

#[cfg(test)]
mod tests {
    use hickory_server::proto::op::{Message, Query};

    use super::*;

    /// Response code and addresses.
    async fn look_up(
        server: SocketAddr,
        name: &str,
        kind: RecordType,
    ) -> (ResponseCode, Vec<String>) {
        let mut question = Message::query();
        question.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
        let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(&question.to_vec().unwrap(), server).await.unwrap();
        let mut bytes = [0; 512];
        let size = socket.recv(&mut bytes).await.unwrap();
        let answer = Message::from_vec(&bytes[..size]).unwrap();
        assert_eq!(answer.authorities.is_empty(), !answer.answers.is_empty(), "{name} {kind}: SOA");
        (answer.metadata.response_code, answer.answers.iter().map(|r| r.data.to_string()).collect())
    }

    #[tokio::test]
    async fn dns_answers_with_forbidden_addresses() {
        use RecordType::{A, AAAA};
        use ResponseCode::{NXDomain, NoError, Refused, ServFail};
        let dns = Dns::start(0).await.unwrap();
        let cases: &[(&str, RecordType, ResponseCode, &[&str])] = &[
            ("intranet.example.com.", A, NoError, &["10.0.0.7"]),
            ("INTRANET.Example.com.", A, NoError, &["10.0.0.7"]),
            ("mixed.example.com.", A, NoError, &["203.0.113.5", "10.0.0.7"]),
            ("metadata.example.com.", A, NoError, &["169.254.169.254"]),
            ("loop.example.com.", A, NoError, &["127.0.0.1"]),
            ("rebind.example.com.", A, NoError, &["203.0.113.9"]),
            ("rebind.example.com.", AAAA, NoError, &[]),
            ("rebind.example.com.", A, NoError, &["127.0.0.1"]),
            ("rebind.example.com.", A, NoError, &["203.0.113.9"]),
            ("intranet.example.com.", AAAA, NoError, &[]),
            ("shop.test.", A, NXDomain, &[]),
            ("unique-local.example.com.", A, NoError, &["203.0.113.5"]),
            ("unique-local.example.com.", AAAA, NoError, &["fd00::7"]),
            ("mapped.example.com.", AAAA, NoError, &["::ffff:127.0.0.1"]),
            ("alias.example.com.", A, NoError, &["intranet.example.com.", "10.0.0.7"]),
            ("alias.example.com.", AAAA, NoError, &["intranet.example.com."]),
            ("empty.example.com.", A, NoError, &[]),
            ("broken.example.com.", A, ServFail, &[]),
            ("refused.example.com.", A, Refused, &[]),
        ];
        for (name, kind, code, addresses) in cases {
            let expected = (*code, addresses.iter().map(|&ip| ip.to_owned()).collect());
            assert_eq!(look_up(dns.addr(), name, *kind).await, expected, "{name} {kind}");
        }
        assert_eq!(dns.queries(), cases.len() as u64);
    }
}
