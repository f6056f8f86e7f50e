//! The certificates by which a server with TLS is trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

/// The certificates that vouch for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Those that the system trusts.
    System,
    /// Those in a file, in PEM form, and no others.
    File(PathBuf),
}

/// The reason why there are no certificates to verify a server with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustFault {
    /// The file cannot be read, or holds no certificate.
    #[error("{}: holds no certificates in PEM form that can be read: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The system has none.
    #[error("the system trusts no certificate: name those to trust the server by with --ca-file FILE")]
    NoneOfTheSystem,
}

impl Trust {
    /// Begins connections with TLS 1.2 or 1.3 to servers that these certificates vouch for.
    pub(super) fn connector(&self) -> Result<TlsConnector, TrustFault> {
        let roots = match self {
            Trust::System => system_roots()?,
            Trust::File(file) => roots_in(file)?,
        };
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider knows TLS 1.2 and 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

fn system_roots() -> Result<RootCertStore, TrustFault> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 { Err(TrustFault::NoneOfTheSystem) } else { Ok(roots) }
}

fn roots_in(file: &Path) -> Result<RootCertStore, TrustFault> {
    let fault = |reason: String| TrustFault::File { file: file.to_owned(), reason };
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| fault(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| fault(error.to_string()))?;
        roots.add(certificate).map_err(|error| fault(error.to_string()))?;
    }
    if roots.is_empty() { Err(fault("there is none".to_owned())) } else { Ok(roots) }
}
