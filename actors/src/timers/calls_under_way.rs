//! The calls to acquirers that a merchant's clock waits for, before it advances any further.

use std::collections::BTreeSet;
use std::sync::Arc;
use till_domain::ids::MerchantId;
use till_domain::open_call::OpenCall;
use till_storage::shapes::open_calls;
use tokio::runtime::Handle;

use crate::acquirer::{Awaited, CallAnswer};
use crate::background::WorkError;
use crate::effects::AcquirerCaller;
use crate::store::Store;

/// The open calls of one merchant, while its clock is advanced.
pub(super) struct CallsUnderWay<'a> {
    pub(super) merchant_id: MerchantId,
    pub(super) store: &'a Arc<dyn Store>,
    pub(super) caller: &'a Arc<AcquirerCaller>,
    /// The runtime of calls to acquirers.
    pub(super) runtime: &'a Handle,
    /// Calls that end when a person decides, which may be never: the clock does not wait for them.
    pub(super) await_decision: BTreeSet<OpenCall>,
}

impl CallsUnderWay<'_> {
    /// True when a call is open that ends by itself.
    ///
    /// # Errors
    /// An error when a row cannot be read.
    pub(super) async fn are_some(&mut self) -> Result<bool, WorkError> {
        let store = Arc::clone(self.store);
        for open in open_calls(&*store, Some(self.merchant_id)) {
            let (_, call) = open?;
            if !self.awaits_decision(call).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True when the acquirer says of a call that a person must decide its result. That stays so until it has ended.
    async fn awaits_decision(&mut self, call: OpenCall) -> Result<bool, WorkError> {
        if self.await_decision.contains(&call) {
            return Ok(true);
        }
        let (caller, merchant) = (Arc::clone(self.caller), self.merchant_id);
        // An acquirer that says nothing is asked again.
        match self.runtime.spawn(async move { caller.ask_about(merchant, call).await }).await?? {
            Some(CallAnswer::Pending(Awaited::Decision)) => {
                self.await_decision.insert(call);
                Ok(true)
            }
            // Once the customer has acted, the call ends by itself.
            Some(CallAnswer::NeedsAction(_)) => Ok(true),
            Some(CallAnswer::Pending(Awaited::Time) | CallAnswer::Done(_) | CallAnswer::Declined { .. }) | None => {
                Ok(false)
            }
        }
    }
}
