//! Rate limits of callers, and the caller that a call counts against.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;

use till_domain::command::Caller;
use till_protocol::api_error::ApiError;
use till_protocol::connection::{ShareOf, address_group};
use till_protocol::declaration::Package;
use till_protocol::dispatch::{AdmissionGate, Arrival, CallsPerSecond};

use super::MerchantCaller;

/// Limits the rates of the public listener's callers.
pub(crate) struct PublicGate {
    per_caller: Option<CallsPerSecond<Caller>>,
    per_address: Option<CallsPerSecond<IpAddr>>,
}

impl PublicGate {
    /// A gate with the limits of calls a second for one API key or member, and for one address that calls the SDK's
    /// functions for any installation; None for no limit.
    #[must_use]
    pub(crate) fn new(of_key: Option<NonZeroU32>, of_address: Option<NonZeroU32>) -> PublicGate {
        PublicGate {
            per_caller: of_key.map(|calls| CallsPerSecond::new(calls, "one API key or member")),
            per_address: of_address.map(|calls| CallsPerSecond::new(calls, "one address")),
        }
    }
}

fn group(peer: Option<IpAddr>) -> IpAddr {
    address_group(peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

impl AdmissionGate<MerchantCaller> for PublicGate {
    fn count(&self, arrival: &Arrival<'_, MerchantCaller>) -> Result<(), ApiError> {
        match (arrival.caller, &self.per_caller, &self.per_address) {
            (Some(caller), Some(limit), _) => limit.count(&caller.as_domain()),
            (None, _, Some(limit)) if arrival.declaration.package == Package::Sdk => limit.count(&group(arrival.peer)),
            (Some(_), None, _) | (None, _, _) => Ok(()),
        }
    }

    fn share_of(&self, arrival: &Arrival<'_, MerchantCaller>) -> ShareOf {
        match arrival.caller {
            Some(caller) => ShareOf::Merchant(caller.merchant_id.to_bytes()),
            None => ShareOf::Address(group(arrival.peer)),
        }
    }
}
