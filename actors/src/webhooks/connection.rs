//! A connection to an endpoint: its name is resolved, every address is judged, and only then it is called.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use till_domain::ids::MerchantId;
use tokio::net::TcpStream;
use url::Url;

use super::address_policy::{AddressPolicy, RefusedAddress};
use super::failure::FailureReason;
use super::names::ResolveNames;
use crate::outgoing::{self, ADDRESSES_TRIED_MAX, RequestFailure, Scheme, addresses_of};

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
    let port = url.port_or_known_default().ok_or(RequestFailure::Unsendable)?;
    let found = addresses_of(url, |name| names.addresses_of(merchant_id, name)).await?;
    let permitted = permitted(found, |address| policy.check_for(scheme, address))?;
    let judge_port = |address| {
        let may_call = policy.allows_port(address, port);
        may_call.then_some(SocketAddr::new(address, port)).ok_or(FailureReason::RefusedPort)
    };
    outgoing::connect(permitted.into_iter().map(judge_port), time_limit).await
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
