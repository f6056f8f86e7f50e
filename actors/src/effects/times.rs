//! The times of calls to acquirers.

use std::num::NonZeroU32;
use std::time::Duration;

use till_domain::acquirer::AccountMode;
use till_domain::time::Millis;

use crate::acquirer::{AcquirerAnswer, AcquirerUnavailable};

/// The time between two look-ups of an authorization that waits for its customer.
const CUSTOMER_ASKED_AGAIN: Duration = Duration::from_secs(30);

/// The least time between two look-ups of a call that somebody asks for.
const BETWEEN_LOOK_UPS: Duration = Duration::from_secs(2);

/// The times of calls to acquirers; as a rule [`CallTimes::default`], which has those of the contract.
#[derive(Debug, Clone, Copy)]
pub struct CallTimes {
    /// The time without an answer after which it is unknown whether a call was carried out: 30 s. Also the longest
    /// pause before a call without a result is tried again.
    pub call: Duration,
    /// The time without an answer after which a look-up has failed: 10 s.
    pub look_up: Duration,
    /// The time after a call without an answer in which its request may still be on its way, so that the call is not
    /// made again: 60 s. An acquirer in this process has none.
    pub on_its_way: Duration,
    /// The time for which an authorization may wait until it is sent: 60 s. Its payment fails then.
    pub unsent: Duration,
    /// The longest pause before an authorization that could not be sent is tried again, so that it fails in time: 5 s.
    pub unsent_pause_max: Duration,
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
    /// The least time between two look-ups of a call that somebody asks for: 2 s.
    pub between_look_ups: Duration,
    /// The time between two calls of an account of real money, on average: 80 of them a second.
    pub between_live_calls: Duration,
    /// The same of an account of play money: 20 a second.
    pub between_test_calls: Duration,
    /// The time for which an account has half of its rate after the acquirer refused a call since there were too many:
    /// 10 s.
    pub limited: Duration,
    /// The time after which one call asks an acquirer again that gives an account no answer or refuses its secret: 5 s.
    /// It doubles from call to call.
    pub probe_first: Duration,
    /// Limit of that time: 60 s.
    pub probe_max: Duration,
}

impl Default for CallTimes {
    fn default() -> CallTimes {
        CallTimes {
            call: Duration::from_secs(30),
            look_up: Duration::from_secs(10),
            on_its_way: Duration::from_secs(60),
            unsent: Duration::from_secs(60),
            unsent_pause_max: Duration::from_secs(5),
            pending_first: Duration::from_secs(60),
            pending_max: Duration::from_secs(3_600),
            customer_asked_again: CUSTOMER_ASKED_AGAIN,
            customer_asked_again_with_notices: Duration::from_secs(300),
            notices_trusted: Duration::from_secs(3_600),
            between_look_ups: BETWEEN_LOOK_UPS,
            between_live_calls: Duration::from_secs(1) / 80,
            between_test_calls: Duration::from_secs(1) / 20,
            limited: Duration::from_secs(10),
            probe_first: Duration::from_secs(5),
            probe_max: Duration::from_secs(60),
        }
    }
}

impl CallTimes {
    /// All times divided by a number, for tests against an acquirer that is played.
    #[must_use]
    pub fn divided_by(self, divisor: NonZeroU32) -> CallTimes {
        let divisor = divisor.get();
        CallTimes {
            call: self.call / divisor,
            look_up: self.look_up / divisor,
            on_its_way: self.on_its_way / divisor,
            unsent: self.unsent / divisor,
            unsent_pause_max: self.unsent_pause_max / divisor,
            pending_first: self.pending_first / divisor,
            pending_max: self.pending_max / divisor,
            customer_asked_again: self.customer_asked_again / divisor,
            customer_asked_again_with_notices: self.customer_asked_again_with_notices / divisor,
            notices_trusted: self.notices_trusted / divisor,
            between_look_ups: self.between_look_ups / divisor,
            between_live_calls: self.between_live_calls / divisor,
            between_test_calls: self.between_test_calls / divisor,
            limited: self.limited / divisor,
            probe_first: self.probe_first / divisor,
            probe_max: self.probe_max / divisor,
        }
    }

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

    /// The time between two calls of an account.
    pub(super) const fn between_calls(&self, mode: AccountMode) -> Duration {
        match mode {
            AccountMode::Test => self.between_test_calls,
            AccountMode::Live => self.between_live_calls,
        }
    }
}

/// The instant `pause` later, at most the largest instant.
pub(super) fn plus_pause(instant: Millis, pause: Duration) -> Millis {
    Millis(instant.0.saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)))
}

/// The answer of an acquirer, unless it takes too long.
pub(super) async fn in_time<T>(time: Duration, answer: AcquirerAnswer<'_, T>) -> Result<T, AcquirerUnavailable> {
    let timed_out = |_| AcquirerUnavailable::unknown("it took too long");
    tokio::time::timeout(time, answer).await.map_err(timed_out)?
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
