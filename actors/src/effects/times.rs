//! The times of calls to acquirers.

use std::time::Duration;

/// The time between two look-ups of an authorization that waits for its customer.
const CUSTOMER_ASKED_AGAIN: Duration = Duration::from_secs(30);

/// The times of calls to acquirers; as a rule [`CallTimes::default`], which has those of the contract.
#[derive(Debug, Clone, Copy)]
pub struct CallTimes {
    /// The time without an answer after which it is unknown whether a call was carried out: 30 s.
    pub call: Duration,
    /// The time without an answer after which a look-up has failed: 10 s.
    pub look_up: Duration,
    /// The time after a call without an answer in which its request may still be on its way, so that the call is not
    /// made again: 60 s. An acquirer in this process has none.
    pub on_its_way: Duration,
    /// The time after which a pending call is looked up first: 60 s. It doubles from look-up to look-up.
    pub pending_first: Duration,
    /// Limit of that time: an hour.
    pub pending_max: Duration,
    /// The time between two look-ups of an authorization that waits for its customer, or for the result of a customer's
    /// action: 30 s.
    pub customer_asked_again: Duration,
}

impl Default for CallTimes {
    fn default() -> CallTimes {
        CallTimes {
            call: Duration::from_secs(30),
            look_up: Duration::from_secs(10),
            on_its_way: Duration::from_secs(60),
            pending_first: Duration::from_secs(60),
            pending_max: Duration::from_secs(3_600),
            customer_asked_again: CUSTOMER_ASKED_AGAIN,
        }
    }
}

impl CallTimes {
    /// The time after which a pending call is looked up, when it was looked up after `last` before.
    pub(super) fn next_pending(&self, last: Option<Duration>) -> Duration {
        last.map_or(self.pending_first, |last| last.saturating_mul(2).min(self.pending_max))
    }
}
