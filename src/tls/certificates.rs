//! The certificates of a listener, which can be replaced while the listener runs.
//!
//! Existing connections keep the certificates with which they began. A listener supports TLS 1.2 and 1.3 with the
//! ciphers that rustls considers safe, and HTTP/1.1 only.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

use super::validity::end_of;
use crate::configuration::TlsFiles;

/// A reason why certificates cannot be used. No message shows a part of a key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file does not have the expected content.
    #[error("{} holds no {what} in PEM form", path.display())]
    Missing {
        path: PathBuf,
        /// The name of the expected content.
        what: &'static str,
    },
    /// The certificate and the key do not match, or one of them is of an unsupported kind.
    #[error("{} and {} cannot be used together: {reason}", certificate.display(), key.display())]
    Unfit {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        reason: String,
    },
}

/// The certificates of one listener.
pub(crate) struct Certificates {
    files: TlsFiles,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificates {
    /// Reads the certificates and their private key from the files.
    ///
    /// # Errors
    /// [`TlsError`] when a file cannot be read or has other content, or when the certificates and the key do not match.
    pub(crate) fn read(files: &TlsFiles) -> Result<Arc<Certificates>, TlsError> {
        let current = RwLock::new(Arc::new(certified(files)?));
        Ok(Arc::new(Certificates { files: files.clone(), current }))
    }

    /// Reads the files again. Connections that begin after this call use the new certificates.
    ///
    /// # Errors
    /// The errors of [`Certificates::read`]. After an error the previous certificates remain in use.
    pub(crate) fn read_anew(&self) -> Result<(), TlsError> {
        let read = Arc::new(certified(&self.files)?);
        *self.current.write() = read;
        Ok(())
    }

    /// The earliest time at which one of the certificates in use expires, in Unix seconds. None when no time is known.
    #[must_use]
    pub(crate) fn end_seconds(&self) -> Option<u64> {
        let current = self.current.read();
        current.cert.iter().filter_map(|certificate| end_of(certificate)).min()
    }

    /// The TLS settings of a listener with these certificates.
    ///
    /// # Panics
    /// Never: the built-in cryptography supports both versions of TLS.
    #[must_use]
    pub(crate) fn server_config(self: &Arc<Certificates>) -> ServerConfig {
        ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider knows TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as _)
    }
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Certificates").field("files", &self.files).finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read()))
    }
}

fn certified(files: &TlsFiles) -> Result<CertifiedKey, TlsError> {
    let (chain, key) = (certificates(&files.certificate)?, private_key(&files.key)?);
    CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|error| TlsError::Unfit {
        certificate: files.certificate.clone(),
        key: files.key.clone(),
        reason: error.to_string(),
    })
}

/// Reads the certificates in a file. A file without any certificate is an error.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let missing = || TlsError::Missing { path: path.to_owned(), what: "certificate" };
    found.ok().filter(|found| !found.is_empty()).ok_or_else(missing)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let bytes = read(path)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| TlsError::Missing { path: path.to_owned(), what: "private key" })
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, TlsError> {
    fs::read(path).map(Zeroizing::new).map_err(|source| TlsError::Read { path: path.to_owned(), source })
}
