//! The certificate authority that test hosts are held to, and no other host.

use std::{fmt, path::Path};

use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

use commis_base::{
    error::{Code, Error, Result},
    files,
    settings::EgressSettings,
};

/// A file of a few certificates.
const MAX: u64 = 256 * 1024;

/// Certificates that answers of pinned `.test` hosts are checked with, instead of the system's; empty where none were given.
#[derive(Clone, Default)]
pub(super) struct TestCa(pub(super) Vec<CertificateDer<'static>>);

impl fmt::Debug for TestCa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestCa({})", self.0.len())
    }
}

impl TestCa {
    /// Fails with `SETTINGS_INVALID` for a file that cannot be read or holds no certificate of an authority.
    pub(super) fn read(settings: &EgressSettings) -> Result<Self> {
        let (pem, shown) = match (&settings.test_ca_pem, &settings.test_ca) {
            (Some(pem), _) => (pem.clone().into_bytes(), "of the test web".to_owned()),
            (None, Some(path)) => (read_file(path)?, path.display().to_string()),
            (None, None) => return Ok(Self::default()),
        };
        let invalid = |why: &str| {
            Error::new(Code::SettingsInvalid, format!("cannot use the test CA {shown}: {why}"))
                .hint("expected a PEM file with the certificate of the authority that signs your test hosts")
        };
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let found = found.map_err(|err| invalid("it is not a PEM file").source(err))?;
        if found.is_empty() {
            return Err(invalid("it has no certificate"));
        }
        let mut roots = RootCertStore::empty();
        for it in &found {
            roots.add(it.clone()).map_err(|err| invalid("it cannot be a root").source(err))?;
        }
        Ok(Self(found))
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    files::read_bounded(path, MAX).map_err(|err| {
        Error::new(Code::SettingsInvalid, format!("cannot use the test CA: {err}"))
            .hint("give the file that `commis testbed serve --ca FILE` wrote, or your own CA's certificate")
    })
}
