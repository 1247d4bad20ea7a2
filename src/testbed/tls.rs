//! TLS on the same port as plain HTTP: a connection whose first byte is that of a handshake gets a certificate made for the
//! host that it names.
//!
//! The authority is made when the process first needs it, and its key never leaves memory. A few hosts under `wrong.test`
//! get certificates, or a version of TLS, that no client may accept.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    server::Acceptor,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{LazyConfigAcceptor, StartHandshake, server::TlsStream};

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    Expired,
    NotYetValid,
    OtherName,
    SelfSigned,
    UnknownAuthority,
    /// The server answers in TLS 1.0, which no client offers.
    OldVersion,
    /// The server refuses the versions that are offered.
    VersionAlert,
}

/// Hosts with wrong certificates.
pub const WRONG: &[(&str, CertificateFault)] = &[
    ("expired.wrong.test", CertificateFault::Expired),
    ("not-yet.wrong.test", CertificateFault::NotYetValid),
    ("other-name.wrong.test", CertificateFault::OtherName),
    ("self-signed.wrong.test", CertificateFault::SelfSigned),
    ("unknown-authority.wrong.test", CertificateFault::UnknownAuthority),
    ("old-version.wrong.test", CertificateFault::OldVersion),
    ("version-alert.wrong.test", CertificateFault::VersionAlert),
];

const PATIENCE: Duration = Duration::from_secs(10);
/// The first byte of a TLS record that holds a handshake (RFC 8446, 5.1).
const HANDSHAKE: u8 = 0x16;
/// TLS 1.0, `TLS_RSA_WITH_AES_128_CBC_SHA`: the head of a record, of a ServerHello, and after 32 bytes of random its end.
const OLD_HELLO: (&[u8], &[u8]) = (&[22, 3, 1, 0, 42, 2, 0, 0, 38, 3, 1], &[0, 0, 0x2f, 0]);
/// Fatal, `protocol_version`.
const OLD_ALERT: &[u8] = &[21, 3, 1, 0, 2, 2, 70];

/// Signs for every host, in this process.
struct Authority {
    issuer: Option<CertifiedIssuer<'static, KeyPair>>,
    configs: Mutex<Configs>,
}

/// By host and what it speaks.
type Configs = BTreeMap<(String, Vec<&'static str>), Arc<ServerConfig>>;

static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| Authority {
    issuer: issuer("commis test web").ok(),
    configs: Mutex::default(),
});

/// The certificate of the authority, as `--test-ca` wants it; empty where none can be made.
pub fn authority_pem() -> String {
    AUTHORITY.issuer.as_ref().map(CertifiedIssuer::pem).unwrap_or_default()
}

fn issuer(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn wrong(host: &str) -> Option<CertificateFault> {
    WRONG.iter().find(|it| it.0 == host).map(|it| it.1)
}

fn certified(host: &str) -> Result<(CertificateDer<'static>, KeyPair), rcgen::Error> {
    let key = KeyPair::generate()?;
    let wrong = wrong(host);
    let name = if wrong == Some(CertificateFault::OtherName) { "other.test" } else { host };
    let mut params = CertificateParams::new(vec![name.to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) = match wrong {
        Some(CertificateFault::Expired) => (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1)),
        Some(CertificateFault::NotYetValid) => {
            (date_time_ymd(2999, 1, 1), date_time_ymd(3000, 1, 1))
        }
        _ => (date_time_ymd(2020, 1, 1), date_time_ymd(2999, 1, 1)),
    };
    let certificate = match (wrong, &AUTHORITY.issuer) {
        (Some(CertificateFault::SelfSigned), _) => params.self_signed(&key)?,
        (Some(CertificateFault::UnknownAuthority), _) => {
            params.signed_by(&key, &*issuer("nobody's")?)?
        }
        (_, Some(issuer)) => params.signed_by(&key, issuer)?,
        (_, None) => return Err(rcgen::Error::CouldNotParseCertificate),
    };
    Ok((certificate.into(), key))
}

fn config(host: &str, protocols: &[&'static str]) -> io::Result<Arc<ServerConfig>> {
    let key = (host.to_owned(), protocols.to_vec());
    let mut configs = AUTHORITY.configs.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(it) = configs.get(&key) {
        return Ok(Arc::clone(it));
    }
    let (certificate, secret) = certified(host).map_err(io::Error::other)?;
    let secret = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(secret.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], secret)
        .map_err(io::Error::other)?;
    config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
    let config = Arc::new(config);
    configs.insert(key, Arc::clone(&config));
    Ok(config)
}

/// A connection, with TLS or without.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {
    /// It ends with RST instead of FIN.
    fn set_reset(&self) -> io::Result<()>;
}

impl Connection for TcpStream {
    fn set_reset(&self) -> io::Result<()> {
        self.set_zero_linger()
    }
}

impl Connection for TlsStream<TcpStream> {
    fn set_reset(&self) -> io::Result<()> {
        self.get_ref().0.set_zero_linger()
    }
}

/// How a connection came.
pub struct AcceptedConnection {
    pub stream: Box<dyn Connection>,
    /// Over TLS.
    pub secure: bool,
    /// HTTP/2 was agreed on.
    pub h2: bool,
}

/// Looks at the first byte, and shakes hands where it asks for that. `protocols` says which a host speaks, the best first.
pub async fn arrive(
    stream: TcpStream,
    protocols: fn(&str) -> &'static [&'static str],
) -> io::Result<AcceptedConnection> {
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    let mut first = [0];
    // Browsers open connections ahead.
    let wait = PATIENCE * 6;
    let n = tokio::time::timeout(wait, stream.peek(&mut first)).await.map_err(late)??;
    if n == 0 || first[0] != HANDSHAKE {
        return Ok(AcceptedConnection { stream: Box::new(stream), secure: false, h2: false });
    }
    let hello = LazyConfigAcceptor::new(Acceptor::default(), stream);
    let hello = tokio::time::timeout(PATIENCE, hello).await.map_err(late)??;
    let host = hello.client_hello().server_name().unwrap_or_default().to_ascii_lowercase();
    if matches!(wrong(&host), Some(CertificateFault::OldVersion | CertificateFault::VersionAlert)) {
        return answer_as_of_old(hello, &host).await;
    }
    let accept = hello.into_stream(config(&host, protocols(&host))?);
    let stream = tokio::time::timeout(PATIENCE, accept).await.map_err(late)??;
    let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    Ok(AcceptedConnection { stream: Box::new(stream), secure: true, h2 })
}

async fn answer_as_of_old(
    mut hello: StartHandshake<TcpStream>,
    host: &str,
) -> io::Result<AcceptedConnection> {
    let answer = match wrong(host) {
        Some(CertificateFault::VersionAlert) => OLD_ALERT.to_vec(),
        _ => [OLD_HELLO.0, &[7; 32], OLD_HELLO.1].concat(),
    };
    hello.io.write_all(&answer).await?;
    hello.io.shutdown().await?;
    Err(io::Error::from(io::ErrorKind::ConnectionAborted))
}
