//! How many calls are worked on at once, lists and look-ups included. What changes something is bounded again,
//! per merchant and in all, where its actor is.

use till_domain::ids::MerchantId;

use super::MerchantCaller;
use crate::protocol::api_error::ApiError;
use crate::protocol::dispatch::{Arrival, CallsInFlight, CallsInFlightPerKey, Gate, Permit};

/// Bounds the calls of the public listener.
pub struct PublicGate {
    all: CallsInFlight,
    per_merchant: CallsInFlightPerKey<MerchantId>,
}

impl PublicGate {
    /// At most `all` calls at once, and `per_merchant` of one merchant's programs.
    #[must_use]
    pub fn new(all: usize, per_merchant: usize) -> PublicGate {
        PublicGate { all: CallsInFlight::new(all), per_merchant: CallsInFlightPerKey::new(per_merchant) }
    }
}

impl Gate<MerchantCaller> for PublicGate {
    fn admit(&self, arrival: &Arrival<'_, MerchantCaller>) -> Result<Permit, ApiError> {
        let place = self.all.enter()?;
        match arrival.caller {
            Some(caller) => Ok(Permit::holding((place, self.per_merchant.enter(caller.merchant_id)?))),
            None => Ok(place),
        }
    }
}
