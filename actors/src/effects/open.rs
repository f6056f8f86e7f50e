//! Numbers of open effects, for metrics.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use till_domain::ids::RawId;
use till_domain::open_call::OpenCall;
use till_domain::time::Millis;

use super::decided_calls::DecidedCalls;

/// The ages, in seconds, by which open effects are counted.
pub const AGES_SECONDS: [u64; 5] = [1, 10, 60, 600, 3_600];

/// Calls to acquirers that have no result yet, those that wait included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenEffects {
    /// All of them.
    pub count: usize,
    /// Those that are older than each of [`AGES_SECONDS`].
    pub older_than: [usize; AGES_SECONDS.len()],
    /// The age of the oldest that ends by itself. Those of an earlier process count from the start.
    pub oldest: Duration,
    /// Authorizations that wait for their customers, or for the acquirer's answer after the customer has acted.
    pub awaiting_customers: usize,
    /// The others by kind, as far as there are any.
    pub decided: BTreeMap<DecidedCalls, OldestOpen>,
}

/// The open calls of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OldestOpen {
    /// Their number.
    pub count: usize,
    /// The time since the oldest of them was asked for.
    pub age: Duration,
}

impl OpenEffects {
    /// The open calls of a kind.
    #[must_use]
    pub fn of(&self, kind: DecidedCalls) -> OldestOpen {
        self.decided.get(&kind).copied().unwrap_or_default()
    }

    /// Counts a call that was queued at `since`.
    pub(crate) fn add(&mut self, call: OpenCall, since: Instant, awaits_customer: bool, now: Millis) {
        if awaits_customer {
            self.count += 1;
            self.awaiting_customers += 1;
            return;
        }
        let age = match DecidedCalls::of(call) {
            Some((kind, id)) => {
                let (age, open) = (age_of(id, now), self.decided.entry(kind).or_default());
                *open = OldestOpen { count: open.count + 1, age: open.age.max(age) };
                age
            }
            None => {
                let age = since.elapsed();
                self.oldest = self.oldest.max(age);
                age
            }
        };
        self.count += 1;
        for (older, seconds) in self.older_than.iter_mut().zip(AGES_SECONDS) {
            *older += usize::from(age > Duration::from_secs(seconds));
        }
    }
}

/// The time since an id was made, which a restart does not change.
fn age_of(id: RawId, now: Millis) -> Duration {
    Duration::from_millis(now.0.saturating_sub(id.position().millis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_domain::effect::EffectId;
    use till_domain::ids::{IdPosition, PaymentId, PayoutId, RefundId};

    #[test]
    fn refunds_and_payouts_are_as_old_as_their_ids() {
        let id = |millis| RawId::new(IdPosition { millis, counter: 0 }, 0);
        let (refund, payout) = (RefundId::from_raw(id(1_000_000)), PayoutId::from_raw(id(999_000)));
        let payment_id = PaymentId::from_bytes([2; 16]);
        let effect = |refund_id| OpenCall::Payment(EffectId { payment_id, refund_id });
        let (mut open, now) = (OpenEffects::default(), Millis(1_061_000));
        for call in [effect(Some(refund)), effect(None), OpenCall::Payout(payout)] {
            open.add(call, Instant::now(), false, now);
        }
        open.add(effect(None), Instant::now(), true, now);
        assert_eq!((open.count, open.awaiting_customers, open.older_than), (4, 1, [2, 2, 2, 0, 0]));
        let oldest = |seconds| OldestOpen { count: 1, age: Duration::from_secs(seconds) };
        assert_eq!(open.decided, [(DecidedCalls::Refunds, oldest(61)), (DecidedCalls::Payouts, oldest(62))].into());
        assert!(open.oldest < Duration::from_secs(60), "{:?}", open.oldest);
    }
}
