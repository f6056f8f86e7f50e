//! A connection to an endpoint: its name is resolved, every address is judged, and only then it is called.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use till_domain::ids::MerchantId;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::{Host, Url};

use super::address_policy::{AddressPolicy, RefusedAddress};
use super::destination::Scheme;
use super::failure::FailureReason;
use super::names::ResolveNames;

/// Addresses of one name that are tried in an attempt, at most.
pub(super) const ADDRESSES_TRIED_MAX: u32 = 3;

/// Connects for a merchant to the host of a URL, at the first of its addresses that accepts within `time_limit`.
///
/// # Errors
/// [`FailureReason`] when the host has no address that may be called by this scheme and at this port, or none of them
/// accepts.
pub(super) async fn connect(
    (merchant_id, url): (MerchantId, &Url),
    scheme: Scheme,
    names: &dyn ResolveNames,
    policy: &AddressPolicy,
    time_limit: Duration,
) -> Result<TcpStream, FailureReason> {
    let port = url.port_or_known_default().ok_or(FailureReason::Unsendable)?;
    let found = addresses_of(merchant_id, url, names).await?;
    let mut failure = FailureReason::NameNotFound;
    for address in permitted(found, |address| policy.check_for(scheme, address))? {
        if !policy.allows_port(address, port) {
            failure = FailureReason::RefusedPort;
            continue;
        }
        match timeout(time_limit, TcpStream::connect(SocketAddr::new(address, port))).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = FailureReason::NotConnected(error.kind()),
            Err(_) => failure = FailureReason::NotConnected(io::ErrorKind::TimedOut),
        }
    }
    Err(failure)
}

/// Begins TLS, and checks that the certificate is the host's.
///
/// # Errors
/// [`FailureReason::Tls`].
pub(super) async fn begin_tls(
    stream: TcpStream,
    url: &Url,
    tls: &TlsConnector,
) -> Result<TlsStream<TcpStream>, FailureReason> {
    let name = server_name(url).ok_or(FailureReason::Unsendable)?;
    tls.connect(name, stream).await.map_err(|error| FailureReason::Tls(error.to_string()))
}

/// TLS 1.2 and 1.3 to endpoints whose certificates these roots vouch for.
pub(super) fn tls_trusting(roots: RootCertStore) -> TlsConnector {
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
pub(super) fn system_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    for error in &found.errors {
        tracing::warn!(%error, "failed to read certificates that the system trusts");
    }
    if added == 0 {
        tracing::warn!("the system trusts no certificate: every delivery by https will fail");
    }
    roots
}

async fn addresses_of(
    merchant_id: MerchantId,
    url: &Url,
    names: &dyn ResolveNames,
) -> Result<Vec<IpAddr>, FailureReason> {
    match url.host().ok_or(FailureReason::Unsendable)? {
        Host::Ipv4(address) => Ok(vec![IpAddr::V4(address)]),
        Host::Ipv6(address) => Ok(vec![IpAddr::V6(address)]),
        Host::Domain(name) => names.addresses_of(merchant_id, name).await.map_err(|_| FailureReason::NameNotFound),
    }
}

/// The first addresses that are not refused.
fn permitted(
    addresses: Vec<IpAddr>,
    check: impl Fn(IpAddr) -> Result<(), RefusedAddress>,
) -> Result<Vec<IpAddr>, FailureReason> {
    let mut refused = None;
    let mut is_permitted = |address: &IpAddr| check(*address).map_err(|reason| refused = Some(reason)).is_ok();
    let permitted: Vec<IpAddr> =
        addresses.into_iter().filter(|address| is_permitted(address)).take(ADDRESSES_TRIED_MAX as usize).collect();
    match refused {
        Some(reason) if permitted.is_empty() => Err(FailureReason::Refused(reason)),
        _ => Ok(permitted),
    }
}

fn server_name(url: &Url) -> Option<ServerName<'static>> {
    match url.host()? {
        Host::Ipv4(address) => Some(ServerName::from(IpAddr::V4(address))),
        Host::Ipv6(address) => Some(ServerName::from(IpAddr::V6(address))),
        Host::Domain(name) => ServerName::try_from(name.to_owned()).ok(),
    }
}
