//! https to test hosts whose authority Chromium cannot be taught to trust for them alone.
//!
//! Chromium's one flag for that counts for every host, and for every fault of a certificate. So what it is told to trust is
//! a key that was made for this browser and never leaves this process. At the proxy, a tunnel to a pinned test host is
//! answered under that key once the host itself was checked against the test CA, as our own client checks it; what flows
//! then is carried over as it is, with the protocol that both sides agreed on. Tunnels to all other hosts stay Chromium's.

use std::sync::{Arc, Mutex, PoisonError};

use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::{CertificateParams, KeyPair, PublicKeyData};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName},
    server::Acceptor,
};
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{LazyConfigAcceptor, TlsConnector};

use crate::{
    error::{Code, Error, Result},
    transport::tls,
};

/// The key of one browser.
pub struct TestTls {
    key: KeyPair,
    provider: Arc<CryptoProvider>,
    /// Certificates that were made under it, by host.
    made: Mutex<std::collections::BTreeMap<String, CertificateDer<'static>>>,
}

impl TestTls {
    /// Fails with [`Code::BrowserFailed`].
    pub fn new() -> Result<Self> {
        let key = KeyPair::generate().map_err(failed)?;
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
        let params = CertificateParams::new(vec![host.to_owned()]).map_err(failed)?;
        let der = CertificateDer::from(params.self_signed(&self.key).map_err(failed)?);
        made.insert(host.to_owned(), der.clone());
        Ok(der)
    }

    /// Checks `host` at `upstream` against the CA, and carries over what flows until either side ends.
    ///
    /// Fails with `TLS_FAILED` when the host does not check out, `CONNECT_FAILED` when there is no handshake.
    pub async fn carry(
        &self,
        client: impl AsyncRead + AsyncWrite + Unpin,
        upstream: TcpStream,
        host: &str,
        ca: &[CertificateDer<'static>],
    ) -> Result<()> {
        let cut = |err: std::io::Error| {
            let refused = tls::refusal(host, &err);
            let cut = || Error::new(Code::ConnectFailed, format!("no TLS handshake with {host}"));
            refused.unwrap_or_else(cut).source(err)
        };
        let hello = LazyConfigAcceptor::new(Acceptor::default(), client).await.map_err(cut)?;
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(ca.iter().cloned());
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        // What the browser speaks: the server chooses for both.
        let offered = hello.client_hello().alpn().into_iter().flatten();
        config.alpn_protocols = offered.map(<[u8]>::to_vec).collect();
        let name = ServerName::try_from(host.to_owned()).map_err(failed)?;
        let mut upstream =
            TlsConnector::from(Arc::new(config)).connect(name, upstream).await.map_err(cut)?;
        let secret = PrivatePkcs8KeyDer::from(self.key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate(host)?], PrivateKeyDer::from(secret))
            .map_err(failed)?;
        let agreed = upstream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        config.alpn_protocols = agreed.into_iter().collect();
        let mut client = hello.into_stream(Arc::new(config)).await.map_err(cut)?;
        // Either side may end as it likes.
        let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
        Ok(())
    }
}

fn failed(err: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(Code::BrowserFailed, "set up TLS for test hosts").source(err)
}
