//! How often callers may call, and how many calls are worked on at once, lists and look-ups included. What changes
//! something is bounded again, per merchant and in all, where its actor is.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use till_actors::Engine;
use till_domain::ids::{KeyId, MerchantId};

use super::MerchantCaller;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::Package;
use crate::protocol::dispatch::{
    Arrival, CallsInFlightPerKey, CallsPerSecond, CommitsSoFar, Gate, Permit, PlaceOf, Places, address_group,
};

/// What the gate of the public listener lets in.
#[derive(Debug, Clone, Copy)]
pub struct GateLimits {
    /// Calls worked on at once, at most.
    pub in_flight: usize,
    /// The same of one merchant's programs.
    pub in_flight_per_merchant: usize,
    /// Calls a second of one API key; any number when absent.
    pub key_calls_per_second: Option<NonZeroU32>,
    /// SDK calls a second of one address, for whichever installation; any number when absent.
    pub sdk_calls_per_second_per_address: Option<NonZeroU32>,
}

/// Bounds the calls of the public listener.
pub struct PublicGate {
    places: Places,
    per_merchant: CallsInFlightPerKey<MerchantId>,
    per_key: Option<CallsPerSecond<KeyId>>,
    per_address: Option<CallsPerSecond<IpAddr>>,
}

impl PublicGate {
    /// A gate with these limits, that learns from the engine how long calls take and how long they may.
    #[must_use]
    pub fn new(limits: &GateLimits, engine: &Engine) -> PublicGate {
        PublicGate {
            places: Places::new(limits.in_flight, commits_of(engine)),
            per_merchant: CallsInFlightPerKey::new(limits.in_flight_per_merchant),
            per_key: limits.key_calls_per_second.map(|calls| CallsPerSecond::new(calls, "one API key")),
            per_address: limits.sdk_calls_per_second_per_address.map(|calls| CallsPerSecond::new(calls, "one address")),
        }
    }

    /// The places, for the operator's tools.
    #[must_use]
    pub fn places(&self) -> Places {
        self.places.clone()
    }

    fn count_address(&self, peer: Option<IpAddr>) -> Result<(), ApiError> {
        let address = address_group(peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)));
        self.per_address.as_ref().map_or(Ok(()), |limit| limit.count(&address))
    }

    async fn enter(&self, merchant: Option<MerchantId>) -> Result<Permit, ApiError> {
        match self.permit(merchant).await {
            Some(permit) => Ok(permit),
            None => Err(self.places.refuse().await), // It holds nothing any more that another call of the merchant's could use.
        }
    }

    async fn permit(&self, merchant: Option<MerchantId>) -> Option<Permit> {
        let of_merchant = merchant.map(|merchant| self.per_merchant.enter(merchant)).transpose().ok()?;
        let place = self.places.enter(of_merchant.as_ref().map(PlaceOf::standing)).await?;
        Some(Permit::holding((place, of_merchant)))
    }
}

/// An engine's commits so far, and how long they took.
fn commits_of(engine: &Engine) -> CommitsSoFar {
    let stats = engine.commit_stats();
    Box::new(move || (stats.groups(), Duration::from_micros(stats.append_micros().sum())))
}

impl Gate<MerchantCaller> for PublicGate {
    fn count(&self, arrival: &Arrival<'_, MerchantCaller>) -> Result<(), ApiError> {
        match (arrival.caller, &self.per_key) {
            (Some(caller), Some(limit)) => limit.count(&caller.key_id),
            (None, _) if arrival.declaration.package == Package::Sdk => self.count_address(arrival.peer),
            (Some(_), None) | (None, _) => Ok(()),
        }
    }

    fn admit<'a>(&'a self, arrival: &'a Arrival<'a, MerchantCaller>) -> LocalBoxFuture<'a, Result<Permit, ApiError>> {
        self.enter(arrival.caller.map(|caller| caller.merchant_id)).boxed_local()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MERCHANT: MerchantId = MerchantId::from_bytes([7; 16]);

    /// A gate with one place, and one call of each merchant at once.
    fn narrow_gate() -> PublicGate {
        PublicGate {
            places: Places::new(1, Box::new(|| (0, Duration::ZERO))),
            per_merchant: CallsInFlightPerKey::new(1),
            per_key: None,
            per_address: None,
        }
    }

    #[tokio::test]
    async fn a_call_that_waits_for_its_refusal_holds_nothing_of_its_merchants_bound() {
        let gate = narrow_gate();
        let _held = gate.places.enter(None).await;
        let mut call = Box::pin(gate.enter(Some(MERCHANT)));
        assert!((&mut call).now_or_never().is_none() && gate.per_merchant.enter(MERCHANT).is_err(), "it has hope");
        while gate.per_merchant.enter(MERCHANT).is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
            assert!((&mut call).now_or_never().is_none(), "it is refused later than it gives up");
        }
        assert!(call.await.is_err_and(|refused| refused.is_overload()));
    }

    #[tokio::test]
    async fn a_merchant_above_its_bound_is_refused_and_others_are_let_in() {
        let gate = narrow_gate();
        let held = gate.per_merchant.enter(MERCHANT);
        assert!(gate.enter(Some(MERCHANT)).await.is_err_and(|refused| refused.is_overload()));
        let other = MerchantId::from_bytes([8; 16]);
        assert!(gate.enter(Some(other)).await.is_ok() && gate.enter(None).await.is_ok());
        drop(held);
        assert!(gate.enter(Some(MERCHANT)).await.is_ok());
    }
}
