//! The certificates by which a server with TLS is trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
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

impl Trust {
    /// Begins connections with TLS 1.2 or 1.3 to servers that these certificates vouch for.
    pub(super) fn connector(&self) -> anyhow::Result<TlsConnector> {
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

fn system_roots() -> anyhow::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    ensure!(added > 0, "the system trusts no certificate: name those to trust the server by with --ca-file FILE");
    Ok(roots)
}

fn roots_in(file: &Path) -> anyhow::Result<RootCertStore> {
    let unread = || format!("{}: holds no certificates in PEM form that can be read", file.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).with_context(unread)? {
        roots.add(certificate.with_context(unread)?).with_context(unread)?;
    }
    ensure!(!roots.is_empty(), "{}: there is none", unread());
    Ok(roots)
}
