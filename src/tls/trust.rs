//! The certificates by which the operator's commands trust a server.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use super::TlsError;
use super::certificates::certificates;

/// Trusts the certificates in this file, and those that they have signed; no others.
///
/// # Errors
/// Fails when the file cannot be read or contains none.
pub fn trusting(file: &Path) -> Result<TlsConfig, TlsError> {
    let trusted = certificates(file)?.iter().map(|one| Certificate::from_der(one.as_ref()).to_owned()).collect();
    let config = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(trusted)));
    Ok(config.build())
}
