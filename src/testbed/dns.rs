//! A DNS server on loopback whose names resolve to addresses that the egress policy must refuse.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hickory_server::Server;
use hickory_server::net::runtime::Time;
use hickory_server::proto::op::{Header, HeaderCounts, Metadata, ResponseCode};
use hickory_server::proto::rr::rdata::{A, SOA};
use hickory_server::proto::rr::{Name, RData, Record, RecordType};
use hickory_server::server::{Request, RequestHandler, ResponseHandler, ResponseInfo};
use hickory_server::zone_handler::MessageResponseBuilder;
use tokio::net::{TcpListener, UdpSocket};

/// How often to look for a port that is free for both UDP and TCP.
const TRIES: u32 = 16;

/// A running DNS server. It stops when dropped.
pub struct Dns {
    addr: SocketAddr,
    #[cfg(test)]
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
        Ok(Dns {
            addr,
            #[cfg(test)]
            queries,
            server,
        })
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Questions answered so far, of any type and name.
    #[cfg(test)]
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

impl Zone {
    /// Addresses and TTL of a name, `None` if there is no such name.
    fn look_up(&self, name: &str, kind: RecordType) -> Option<(Vec<[u8; 4]>, u32)> {
        let found = match name {
            "intranet.example.com." => (vec![[10, 0, 0, 7]], 60),
            "mixed.example.com." => (vec![[203, 0, 113, 5], [10, 0, 0, 7]], 60),
            "metadata.example.com." => (vec![[169, 254, 169, 254]], 60),
            "loop.example.com." => (vec![[127, 0, 0, 1]], 60),
            "rebind.example.com." if kind == RecordType::A => {
                let first = self.rebinds.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
                (vec![if first { [203, 0, 113, 9] } else { [127, 0, 0, 1] }], 0)
            }
            "rebind.example.com." => (vec![], 0),
            _ => return None,
        };
        Some(if kind == RecordType::A { found } else { (vec![], 60) })
    }
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
                        Some((addresses, ttl)) => answers.extend(addresses.into_iter().map(|ip| {
                            Record::from_rdata(name.clone(), ttl, RData::A(A(Ipv4Addr::from(ip))))
                        })),
                        None => metadata.response_code = ResponseCode::NXDomain,
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
        use ResponseCode::{NXDomain, NoError};
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
        ];
        for (name, kind, code, addresses) in cases {
            let expected = (*code, addresses.iter().map(|&ip| ip.to_owned()).collect());
            assert_eq!(look_up(dns.addr(), name, *kind).await, expected, "{name} {kind}");
        }
        assert_eq!(dns.queries(), cases.len() as u64);
    }
}
