//! The queue of open calls to acquirers.

use std::sync::Arc;
use std::time::Instant;
use till_domain::acquirer::AcquirerRef;
use till_domain::effect::Effect;
use till_domain::ids::MerchantId;
use till_domain::open_call::OpenCall;
use till_domain::payment::Payment;

use super::made_calls::MadeCalls;
use crate::background::{AT_ONCE, InFlight, Lanes, Permit, WorkQueue};

/// Limit of the effects that wait in memory with all that their call needs. Others are read in their turn.
const PREPARED_CALLS_MAX: usize = 8_192;

/// Limit of the calls of one merchant to the sandbox that are under way at once. Further ones wait, and hold up no
/// other merchant's.
const CALLS_OF_MERCHANT_MAX: usize = 256;

/// The effect and its payment.
pub(crate) type CallRows = (Arc<Effect>, Arc<Payment>);

/// The rows that the call of an effect needs, as they were when the effect was opened: nothing changes them before the
/// call.
#[derive(Debug)]
pub(crate) struct PreparedCall {
    rows: CallRows,
    /// Its permit for memory.
    permit: Permit,
}

impl PreparedCall {
    /// Returns the rows, and releases the permit.
    pub(crate) fn into_rows(self) -> CallRows {
        drop(self.permit);
        self.rows
    }
}

/// Open calls that wait or are being made.
pub(crate) struct EffectQueue {
    pub(crate) calls: Arc<WorkQueue<(MerchantId, OpenCall), PreparedCall>>,
    /// Those of them that were made, or may have been.
    pub(crate) made: MadeCalls,
    prepared: Arc<InFlight>,
}

impl EffectQueue {
    /// An empty queue.
    pub(crate) fn new() -> EffectQueue {
        let lanes = Lanes { lane_of: |(merchant_id, _): (_, _)| merchant_id, served_max: CALLS_OF_MERCHANT_MAX };
        let calls = Arc::new(WorkQueue::with_lanes(lanes));
        EffectQueue { calls, made: MadeCalls::default(), prepared: InFlight::new(PREPARED_CALLS_MAX) }
    }

    /// Adds an open call that was read from the log, so that an earlier process may have made it.
    pub(crate) fn add_from_log(&self, merchant_id: MerchantId, call: OpenCall) {
        self.made.note_from_log((merchant_id, call));
        self.add(merchant_id, call, None);
    }

    /// Adds an open call, with the rows that it needs when they are at hand. The lanes here are those of the sandbox: a
    /// call of an account waits for the lane of its account.
    pub(crate) fn add(&self, merchant_id: MerchantId, call: OpenCall, rows: Option<CallRows>) {
        let is_of_account = rows.as_ref().is_some_and(|(_, payment)| payment.acquirer != AcquirerRef::Sandbox);
        let prepared = rows.and_then(|rows| self.prepared.enter().map(|permit| PreparedCall { rows, permit }));
        if is_of_account {
            self.calls.add_outside_lanes((merchant_id, call), AT_ONCE, prepared);
        } else {
            self.calls.add((merchant_id, call), AT_ONCE, prepared);
        }
    }

    /// Calls `see` with every open call, the instant at which it was queued, and true for one that waits for a
    /// customer.
    pub(crate) fn each(&self, mut see: impl FnMut(OpenCall, Instant, bool)) {
        self.calls.each(|key, since| see(key.1, since, self.made.awaits_customer(key)));
    }
}
