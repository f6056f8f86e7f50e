//! Certificates for tests, and connections that trust them.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};
use tempfile::TempDir;

use super::server::Start;
use super::waiting::PATIENCE;

/// A connection with TLS.
pub(crate) type Secured = StreamOwned<ClientConnection, TcpStream>;

/// A directory with a certificate and its key, which can be replaced.
pub(crate) struct Pair {
    directory: TempDir,
}

impl Pair {
    /// A new pair for the names of this machine.
    pub(crate) fn new() -> Pair {
        let pair = Pair { directory: TempDir::new().expect("a temporary directory can be made") };
        pair.renew();
        pair
    }

    /// The file of the certificate.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.directory.path().join("certificate.pem")
    }

    /// The file of its key.
    pub(crate) fn key(&self) -> PathBuf {
        self.directory.path().join("key.pem")
    }

    /// Writes another certificate with another key.
    pub(crate) fn renew(&self) {
        self.renew_until(2400);
    }

    /// Writes a certificate that expires at the end of February of this year.
    pub(crate) fn renew_until(&self, year: i32) {
        let key = KeyPair::generate().expect("randomness");
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut parameters = CertificateParams::new(names).expect("these are names");
        parameters.not_after = date_time_ymd(year, 3, 1);
        let certificate = parameters.self_signed(&key).expect("it is signed");
        fs::write(self.certificate(), certificate.pem()).expect("a file can be written");
        fs::write(self.key(), key.serialize_pem()).expect("a file can be written");
    }

    /// The certificate.
    pub(crate) fn der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_file(self.certificate()).expect("a certificate")
    }

    /// The start of a server whose listeners both use the pair.
    pub(crate) fn start(&self) -> Start {
        let (certificate, key) = (self.certificate().display().to_string(), self.key().display().to_string());
        Start::default()
            .with("TILL_TLS_CERTIFICATE_FILE", &certificate)
            .with("TILL_TLS_KEY_FILE", &key)
            .with("TILL_ADMIN_TLS_CERTIFICATE_FILE", &certificate)
            .with("TILL_ADMIN_TLS_KEY_FILE", &key)
            .trusting(&self.certificate())
    }
}

/// Host and port of a base address with TLS.
pub(crate) fn host(base: &str) -> &str {
    base.strip_prefix("https://").expect("it says that it speaks TLS")
}

/// Connects to a server with one of these certificates. The handshake is done with the first bytes.
pub(crate) fn connect(
    base: &str,
    trusted: &[CertificateDer<'static>],
    versions: &[&'static SupportedProtocolVersion],
) -> Secured {
    let mut roots = RootCertStore::empty();
    trusted.iter().for_each(|one| roots.add(one.clone()).expect("a certificate can be trusted"));
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .expect("the provider knows them")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = TcpStream::connect(host(base)).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit can be set");
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).expect("a client"), stream)
}
