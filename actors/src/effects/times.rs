//! The times of calls to acquirers.

use std::time::Duration;

use till_domain::time::Millis;

/// The time between two look-ups of an authorization that waits for its customer.
const CUSTOMER_ASKED_AGAIN: Duration = Duration::from_secs(30);

/// The least time between two look-ups of a call that notices ask for.
const BETWEEN_LOOK_UPS: Duration = Duration::from_secs(2);

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
    /// The same while a genuine notice of the account came within [`CallTimes::notices_trusted`]: 5 min.
    pub customer_asked_again_with_notices: Duration,
    /// The time for which a genuine notice says that the account's notices come: an hour.
    pub notices_trusted: Duration,
    /// The least time between two look-ups of a call that notices ask for: 2 s.
    pub between_look_ups: Duration,
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
            customer_asked_again_with_notices: Duration::from_secs(300),
            notices_trusted: Duration::from_secs(3_600),
            between_look_ups: BETWEEN_LOOK_UPS,
        }
    }
}

impl CallTimes {
    /// The time after which a call that waits for its customer is looked up, when the account's last genuine notice
    /// came at some time.
    pub(super) fn next_of_customer(&self, last_notice_at: Option<Millis>, now: Millis) -> Duration {
        let age = last_notice_at.map(|at| Duration::from_millis(now.0.saturating_sub(at.0)));
        let is_told = age.is_some_and(|age| age < self.notices_trusted);
        if is_told { self.customer_asked_again_with_notices } else { self.customer_asked_again }
    }

    /// The time after which a pending call is looked up, when it was looked up after `last` before.
    pub(super) fn next_pending(&self, last: Option<Duration>) -> Duration {
        last.map_or(self.pending_first, |last| last.saturating_mul(2).min(self.pending_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn customers_are_asked_for_seldom_for_an_hour_after_a_genuine_notice() {
        let (times, noticed_at) = (CallTimes::default(), Millis(1_000));
        let seconds = |last, now| times.next_of_customer(last, Millis(now)).as_secs();
        assert_eq!((seconds(None, 1_000), seconds(Some(noticed_at), 1_000)), (30, 300));
        assert_eq!((seconds(Some(noticed_at), 3_600_999), seconds(Some(noticed_at), 3_601_000)), (300, 30));
    }
}
