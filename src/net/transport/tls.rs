//! What went wrong with TLS, in one code and in words, whoever found it: our client, the proxy for test hosts, or Chromium.
//!
//! Only what asking again would not mend is `TLS_FAILED`: a certificate that does not check out, and versions of TLS that
//! are not spoken any more. A handshake that was cut short stays `CONNECT_FAILED`.

use std::error::Error as StdError;

use rustls::{AlertDescription, CertificateError};

use commis_base::error::{Code, Error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TlsFault {
    Expired,
    NotYetValid,
    /// Chromium does not say which of the two.
    Date,
    OtherName,
    UnknownIssuer,
    Revoked,
    Weak,
    Other,
    Version,
}

impl TlsFault {
    const fn describe(self) -> &'static str {
        match self {
            Self::Expired => "its certificate has expired",
            Self::NotYetValid => "its certificate is not valid yet",
            Self::Date => "its certificate has expired, or is not valid yet",
            Self::OtherName => "its certificate is for another name",
            Self::UnknownIssuer => "no trusted authority signed its certificate",
            Self::Revoked => "its certificate was revoked",
            Self::Weak => "its certificate has a weak key or a signature that does not hold",
            Self::Other => "its certificate does not check out",
            Self::Version => "it speaks no version of TLS that is safe (1.2 or newer)",
        }
    }

    fn hint(self, host: &str) -> &'static str {
        match self {
            Self::UnknownIssuer if host.rsplit('.').next() == Some("test") => {
                "give the certificate of your test CA with --test-ca FILE"
            }
            Self::UnknownIssuer => {
                "commis trusts the authorities that this machine does, or those in the file that SSL_CERT_FILE names; \
                 somebody else may be answering"
            }
            Self::Expired | Self::NotYetValid | Self::Date => {
                "look at this machine's clock; if it is right, the site has to get a new certificate"
            }
            Self::OtherName => "look at the host's spelling; somebody else may be answering",
            Self::Version => "the site has to be brought up to date",
            Self::Revoked | Self::Weak | Self::Other => {
                "there is no way round it: the site has to get a new certificate"
            }
        }
    }

    fn error(self, host: &str) -> Error {
        Error::new(
            Code::TlsFailed,
            format!("`{host}` has no valid certificate or TLS: {}", self.describe()),
        )
        .hint(self.hint(host))
    }
}

/// `TLS_FAILED` where a rustls error among the causes says so.
pub fn tls_error(host: &str, err: &(dyn StdError + 'static)) -> Option<Error> {
    let mut cause = Some(err);
    while let Some(it) = cause {
        // An I/O error passes over what it carries.
        let carried = it.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let found = it
            .downcast_ref::<rustls::Error>()
            .or_else(|| carried.and_then(|it| it.downcast_ref::<rustls::Error>()));
        if let Some(found) = found {
            return classify(found).map(|it| it.error(host));
        }
        cause = match carried {
            Some(it) => Some(it as &(dyn StdError + 'static)),
            None => it.source(),
        };
    }
    None
}

fn classify(err: &rustls::Error) -> Option<TlsFault> {
    use CertificateError as C;
    Some(match err {
        rustls::Error::InvalidCertificate(it) => match it {
            C::Expired | C::ExpiredContext { .. } => TlsFault::Expired,
            C::NotValidYet | C::NotValidYetContext { .. } => TlsFault::NotYetValid,
            C::NotValidForName | C::NotValidForNameContext { .. } => TlsFault::OtherName,
            C::UnknownIssuer => TlsFault::UnknownIssuer,
            C::Revoked => TlsFault::Revoked,
            C::BadSignature
            | C::UnsupportedSignatureAlgorithmContext { .. }
            | C::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => TlsFault::Weak,
            _ => TlsFault::Other,
        },
        rustls::Error::PeerIncompatible(_)
        | rustls::Error::AlertReceived(
            AlertDescription::ProtocolVersion
            | AlertDescription::HandshakeFailure
            | AlertDescription::InsufficientSecurity,
        ) => TlsFault::Version,
        rustls::Error::NoCertificatesPresented => TlsFault::Other,
        _ => return None,
    })
}

/// `TLS_FAILED` where Chromium's name of a network error says so (`net/base/net_error_list.h`).
pub fn chromium_tls_error(host: &str, net_error: &str) -> Option<Error> {
    let name = net_error.strip_prefix("net::").unwrap_or(net_error);
    let why = match name {
        "ERR_CERT_DATE_INVALID" => TlsFault::Date,
        "ERR_CERT_COMMON_NAME_INVALID" => TlsFault::OtherName,
        "ERR_CERT_AUTHORITY_INVALID" | "ERR_CERT_KNOWN_INTERCEPTION_BLOCKED" => {
            TlsFault::UnknownIssuer
        }
        "ERR_CERT_REVOKED" => TlsFault::Revoked,
        "ERR_CERT_WEAK_KEY" | "ERR_CERT_WEAK_SIGNATURE_ALGORITHM" => TlsFault::Weak,
        "ERR_SSL_VERSION_OR_CIPHER_MISMATCH" | "ERR_SSL_OBSOLETE_VERSION" => TlsFault::Version,
        it if it.starts_with("ERR_CERT_") => TlsFault::Other,
        "ERR_SSL_SERVER_CERT_BAD_FORMAT" | "ERR_SSL_PINNED_KEY_NOT_IN_CERT_CHAIN" => {
            TlsFault::Other
        }
        _ => return None,
    };
    Some(why.error(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chromiums_words_become_ours() {
        for (text, words) in [
            ("net::ERR_CERT_DATE_INVALID", Some("expired")),
            ("net::ERR_CERT_COMMON_NAME_INVALID", Some("another name")),
            ("net::ERR_CERT_AUTHORITY_INVALID", Some("no trusted authority")),
            ("net::ERR_CERT_WEAK_KEY", Some("weak key")),
            ("net::ERR_CERT_REVOKED", Some("revoked")),
            ("net::ERR_CERT_SOMETHING_NEW", Some("does not check out")),
            ("net::ERR_SSL_VERSION_OR_CIPHER_MISMATCH", Some("no version of TLS")),
            ("net::ERR_SSL_PROTOCOL_ERROR", None),
            ("net::ERR_CONNECTION_CLOSED", None),
            ("net::ERR_ABORTED", None),
        ] {
            let found = chromium_tls_error("a.test", text);
            assert_eq!(found.is_some(), words.is_some(), "{text}");
            if let (Some(found), Some(words)) = (found, words) {
                assert!(found.message().contains(words), "{found}");
                assert!(found.hint_text().is_some());
                assert!(!found.code().retryable());
            }
        }
    }

    #[test]
    fn causes_are_found_inside_io_errors() {
        let expired = rustls::Error::InvalidCertificate(CertificateError::Expired);
        let once = std::io::Error::other(expired);
        let twice = std::io::Error::other(once);
        assert!(tls_error("a.test", &twice).unwrap().message().contains("expired"));
        let cut = std::io::Error::other(rustls::Error::InvalidMessage(
            rustls::InvalidMessage::MessageTooShort,
        ));
        assert!(tls_error("a.test", &cut).is_none());
    }
}
