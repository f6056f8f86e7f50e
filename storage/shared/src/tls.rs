//! TLS to the database.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{SharedJournalError, words};

/// A connector that trusts nobody, for connections without TLS.
pub(crate) fn no_connector() -> Result<MakeRustlsConnect, SharedJournalError> {
    trusting(RootCertStore::empty())
}

/// A connector that trusts the authorities of a file, or those of the system. It checks the name of the host.
pub(crate) fn connector(ca_file: Option<&Path>) -> Result<MakeRustlsConnect, SharedJournalError> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        Some(path) => {
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))? {
                let certificate = certificate.map_err(|error| unusable(&error))?;
                roots.add(certificate).map_err(|error| unusable(&error))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    trusting(roots)
}

fn trusting(roots: RootCertStore) -> Result<MakeRustlsConnect, SharedJournalError> {
    let builder =
        ClientConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
    let config = builder.map_err(|error| unusable(&error))?.with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn unusable(error: &dyn std::error::Error) -> SharedJournalError {
    SharedJournalError::Unreachable(format!("TLS: {}", words(error)))
}
