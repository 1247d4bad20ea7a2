//! https to hosts whose authority Chromium cannot be taught to trust for them alone: test hosts, and hosts of the user's own.
//!
//! Chromium's one flag for that counts for every host, and for every fault of a certificate; of the machine's own authorities
//! it knows nothing. So what it is told to trust is a key that was made for this browser and never leaves this process. At the
//! proxy, a tunnel to such a host is answered under that key once the host itself was checked as our own client checks it: a
//! pinned test host against the test CA, a host of the user's own against the machine's authorities. What flows then is carried
//! over as it is, with the protocol that both sides agreed on. Tunnels to all other hosts stay Chromium's.

use std::sync::{Arc, Mutex, PoisonError};

use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::{CertificateParams, KeyPair, PublicKeyData};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName},
    server::Acceptor,
};
use rustls_platform_verifier::BuilderVerifierExt as _;
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{LazyConfigAcceptor, TlsConnector, client::TlsStream};

use commis_base::error::{Code, Error, Result};
use commis_net::transport::tls;

/// The first byte of a TLS record that holds a handshake (RFC 8446, 5.1).
pub(super) const HANDSHAKE: u8 = 0x16;

/// Whom a host is checked against.
pub enum Authorities {
    Given(Vec<CertificateDer<'static>>),
    /// Those that this machine trusts, as our own client has them.
    Machine,
}

/// The key of one browser.
pub struct TlsTrust {
    key: KeyPair,
    provider: Arc<CryptoProvider>,
    /// Certificates that were made under it, by host.
    made: Mutex<std::collections::BTreeMap<String, CertificateDer<'static>>>,
}

impl TlsTrust {
    /// Fails with [`Code::BrowserFailed`].
    pub fn new() -> Result<Self> {
        let key = KeyPair::generate().map_err(setup_error)?;
        Ok(Self { key, provider: Arc::new(ring::default_provider()), made: Mutex::default() })
    }

    /// The argument that makes Chromium trust the key.
    pub fn argument(&self) -> String {
        let hash = STANDARD.encode(Sha256::digest(self.key.subject_public_key_info()));
        format!("--ignore-certificate-errors-spki-list={hash}")
    }

    fn certificate(&self, host: &str) -> Result<CertificateDer<'static>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(it) = made.get(host) {
            return Ok(it.clone());
        }
        let params = CertificateParams::new(vec![host.to_owned()]).map_err(setup_error)?;
        let der = CertificateDer::from(params.self_signed(&self.key).map_err(setup_error)?);
        made.insert(host.to_owned(), der.clone());
        Ok(der)
    }

    /// Checks `host` at `upstream`, and carries over what flows until either side ends. What begins without a handshake, as a
    /// WebSocket in the clear does, is carried over unchecked.
    ///
    /// Fails with `TLS_FAILED` when the host does not check out, `CONNECT_FAILED` when there is no handshake.
    pub async fn carry(
        &self,
        client: impl AsyncRead + AsyncWrite + Unpin,
        mut upstream: TcpStream,
        host: &str,
        authorities: Authorities,
    ) -> Result<()> {
        let cut = |err| cut(host, err);
        let (mut reader, writer) = tokio::io::split(client);
        let mut first = [0];
        let read = reader.read(&mut first).await.map_err(cut)?;
        let mut client = tokio::io::join(first.get(..read).unwrap_or(&[]).chain(reader), writer);
        if first != [HANDSHAKE] {
            // Either side may end as it likes, here and below.
            let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
            return Ok(());
        }
        let hello = LazyConfigAcceptor::new(Acceptor::default(), client).await.map_err(cut)?;
        // What the browser speaks: the server chooses for both.
        let offered = hello.client_hello().alpn().into_iter().flatten();
        let offered = offered.map(<[u8]>::to_vec).collect();
        let mut upstream = self.reached(upstream, host, authorities, offered).await?;
        let agreed = upstream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        let config = self.answering(host, agreed.into_iter().collect())?;
        let mut client = hello.into_stream(config).await.map_err(cut)?;
        let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
        Ok(())
    }

    /// A connection to `host` that was checked, with one of these protocols (none: as TLS begins). Fails with `TLS_FAILED` and
    /// `CONNECT_FAILED`.
    pub(super) async fn reached(
        &self,
        upstream: TcpStream,
        host: &str,
        authorities: Authorities,
        protocols: Vec<Vec<u8>>,
    ) -> Result<TlsStream<TcpStream>> {
        let config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(setup_error)?;
        let config = match authorities {
            Authorities::Given(ca) => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(ca);
                config.with_root_certificates(roots)
            }
            Authorities::Machine => config.with_platform_verifier().map_err(setup_error)?,
        };
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = protocols;
        let name = ServerName::try_from(host.to_owned()).map_err(setup_error)?;
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(name, upstream).await.map_err(|err| cut(host, err))
    }

    /// How a browser that trusts the key is answered for `host`.
    pub(super) fn answering(
        &self,
        host: &str,
        protocols: Vec<Vec<u8>>,
    ) -> Result<Arc<ServerConfig>> {
        let secret = PrivatePkcs8KeyDer::from(self.key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(setup_error)?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate(host)?], PrivateKeyDer::from(secret))
            .map_err(setup_error)?;
        config.alpn_protocols = protocols;
        Ok(Arc::new(config))
    }
}

fn cut(host: &str, err: std::io::Error) -> Error {
    let refused = tls::tls_error(host, &err);
    let cut = || Error::new(Code::ConnectFailed, format!("no TLS handshake with {host}"));
    refused.unwrap_or_else(cut).source(err)
}

fn setup_error(err: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(Code::BrowserFailed, "cannot set up TLS for a host that Chromium does not trust")
        .source(err)
}
