//! The times of calls to acquirers.

use std::num::NonZeroU32;
use std::time::Duration;

use till_domain::time::Millis;

use crate::acquirer::{AcquirerAnswer, AcquirerUnavailable};

/// Declares the times, each with the length that the contract gives it.
macro_rules! call_times {
    ($($(#[$about:meta])* $name:ident = $time:expr;)+) => {
        /// The times of calls to acquirers; as a rule [`CallTimes::default`], which has those of the contract.
        #[derive(Debug, Clone, Copy)]
        pub struct CallTimes {
            $($(#[$about])* pub $name: Duration,)+
        }

        impl Default for CallTimes {
            fn default() -> CallTimes {
                CallTimes { $($name: $time,)+ }
            }
        }

        impl CallTimes {
            /// All times divided by a number, for tests against an acquirer that is played.
            #[must_use]
            pub fn divided_by(self, divisor: NonZeroU32) -> CallTimes {
                CallTimes { $($name: self.$name / divisor.get(),)+ }
            }
        }
    };
}

const SECOND: Duration = Duration::from_secs(1);
const CUSTOMER_ASKED_AGAIN: Duration = Duration::from_secs(30);
const BETWEEN_LOOK_UPS: Duration = Duration::from_secs(2);

call_times! {
    /// The time without an answer after which it is unknown whether a call was carried out. Also the longest pause
    /// before a call without a result is tried again.
    call = 30 * SECOND;
    /// The time without an answer after which a look-up has failed.
    look_up = 10 * SECOND;
    /// The time after a call without an answer in which its request may still be on its way, so that the call is not
    /// made again. An acquirer in this process has none.
    on_its_way = 60 * SECOND;
    /// The time for which an authorization may wait until it is sent. Its payment fails then.
    unsent = 60 * SECOND;
    /// The longest pause before an authorization that could not be sent is tried again, so that it fails in time.
    unsent_pause_max = 5 * SECOND;
    /// The time after which a pending call is looked up first. It doubles from look-up to look-up.
    pending_first = 60 * SECOND;
    /// Limit of that time.
    pending_max = 3_600 * SECOND;
    /// The time between two look-ups of an authorization that waits for its customer, or for the result of a customer's
    /// action.
    customer_asked_again = CUSTOMER_ASKED_AGAIN;
    /// The same while a genuine notice of the account came within [`CallTimes::notices_trusted`].
    customer_asked_again_with_notices = 300 * SECOND;
    /// The time for which a genuine notice says that the account's notices come.
    notices_trusted = 3_600 * SECOND;
    /// The least time between two look-ups of a call that somebody asks for.
    between_look_ups = BETWEEN_LOOK_UPS;
    /// The time between two calls of an account of real money, on average.
    between_live_calls = SECOND / 80;
    /// The same of an account of play money.
    between_test_calls = SECOND / 20;
    /// The time for which an account has half of its rate after the acquirer refused a call since there were too many.
    limited = 10 * SECOND;
    /// The time after which one call asks an acquirer again that gives an account no answer or refuses its secret. It
    /// doubles from call to call.
    probe_first = 5 * SECOND;
    /// Limit of that time.
    probe_max = 60 * SECOND;
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
