//! The calls to acquirers that a merchant's clock waits for, before it advances any further.

use std::collections::BTreeSet;
use std::sync::Arc;
use till_domain::command::AuthorizationResult;
use till_domain::ids::MerchantId;
use till_domain::open_call::OpenCall;
use till_storage::shapes::{MerchantReader, open_calls};

use crate::acquirer::{Awaited, Completion, FoundCall};
use crate::background::WorkError;
use crate::effects::{Acquirers, decided_call};
use crate::store::Store;

/// The open calls of one merchant, while its clock is advanced.
pub(super) struct CallsUnderWay<'a> {
    pub(super) merchant_id: MerchantId,
    pub(super) store: &'a Arc<dyn Store>,
    pub(super) acquirers: &'a Acquirers,
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
        let decided = decided_call(&MerchantReader::new(self.merchant_id, None, &**self.store), call)?;
        let Some((acquirer, reference)) = decided else { return Ok(false) };
        let Some(acquirer) = self.acquirers.get(&acquirer) else { return Ok(false) };
        // An acquirer that gives no answer is asked again.
        let found = acquirer.find(self.merchant_id, reference).await.ok().flatten();
        if matches!(found, Some(FoundCall::Authorization(AuthorizationResult::NeedsAction(_)))) {
            return Ok(true); // Once the customer has acted, the call ends by itself.
        }
        let awaits = found == Some(FoundCall::Completion(Completion::Pending(Awaited::Decision)));
        if awaits {
            self.await_decision.insert(call);
        }
        Ok(awaits)
    }
}
