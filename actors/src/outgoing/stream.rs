//! A stream to a host, at one of its addresses, and the certificates that TLS trusts.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use super::failure::RequestFailure;

/// Addresses of one name that are tried for a request, at most.
pub(crate) const ADDRESSES_TRIED_MAX: u32 = 3;

/// The protocol by which a URL is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// With TLS.
    Https,
    /// Without.
    Http,
}

impl Scheme {
    /// The scheme of a URL, unless it is another one.
    pub(crate) fn of(url: &Url) -> Option<Scheme> {
        match url.scheme() {
            "https" => Some(Scheme::Https),
            "http" => Some(Scheme::Http),
            _ => None,
        }
    }
}

/// The addresses of a URL's host: the address that it is, or those that `look_up` finds for its name.
///
/// # Errors
/// [`RequestFailure::NameNotFound`] when the look-up fails.
pub(crate) async fn addresses_of<'u, F>(
    url: &'u Url,
    look_up: impl FnOnce(&'u str) -> F,
) -> Result<Vec<IpAddr>, RequestFailure>
where
    F: Future<Output = io::Result<Vec<IpAddr>>>,
{
    match url.host().ok_or(RequestFailure::Unsendable)? {
        Host::Ipv4(address) => Ok(vec![IpAddr::V4(address)]),
        Host::Ipv6(address) => Ok(vec![IpAddr::V6(address)]),
        Host::Domain(name) => look_up(name).await.map_err(|_| RequestFailure::NameNotFound),
    }
}

/// Connects to the first of these addresses that accepts within `time_limit`. The caller has judged them: one that must
/// not be called is the reason for that.
///
/// # Errors
/// The reason of the last address when none of them accepts; [`RequestFailure::NameNotFound`] when there is none.
pub(crate) async fn connect<E: From<RequestFailure>>(
    judged: impl IntoIterator<Item = Result<SocketAddr, E>>,
    time_limit: Duration,
) -> Result<TcpStream, E> {
    let mut failure = E::from(RequestFailure::NameNotFound);
    for address in judged {
        let connected = match address {
            Ok(address) => connect_to(address, time_limit).await.map_err(E::from),
            Err(reason) => Err(reason),
        };
        match connected {
            Ok(stream) => return Ok(stream),
            Err(reason) => failure = reason,
        }
    }
    Err(failure)
}

async fn connect_to(address: SocketAddr, time_limit: Duration) -> Result<TcpStream, RequestFailure> {
    let connected = timeout(time_limit, TcpStream::connect(address)).await;
    let connected = connected.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)));
    connected.map_err(|error| RequestFailure::NotConnected(error.kind()))
}

/// TLS 1.2 and 1.3 to hosts whose certificates these roots vouch for.
pub(crate) fn tls_trusting(roots: RootCertStore) -> TlsConnector {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider knows TLS 1.2 and 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// The certificates that the system trusts; or those in the file that the variable `SSL_CERT_FILE` names, or in the
/// directories of `SSL_CERT_DIR`.
pub(crate) fn system_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    for error in &found.errors {
        tracing::warn!(%error, "failed to read certificates that the system trusts");
    }
    if added == 0 {
        tracing::warn!("the system trusts no certificate: every call by https will fail");
    }
    roots
}
