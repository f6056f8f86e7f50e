//! Numbers of open effects, for metrics.

use std::time::{Duration, Instant};
use till_domain::effect::OpenCall;
use till_domain::ids::Id;
use till_domain::time::Millis;

use crate::outbox::OpenEffect;

/// The ages, in seconds, by which open effects are counted.
pub const AGES_SECONDS: [u64; 5] = [1, 10, 60, 600, 3_600];

/// Calls to acquirers that have no result yet, those that wait included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenEffects {
    /// All of them.
    pub count: usize,
    /// Those that are older than each of [`AGES_SECONDS`].
    pub older_than: [usize; AGES_SECONDS.len()],
    /// The age of the oldest that is neither a refund nor a payout. Those of an earlier process count from the start.
    pub oldest: Duration,
    /// Refunds that have not ended.
    pub refunds: usize,
    /// The time since the oldest of them was asked for.
    pub oldest_refund: Duration,
    /// Payouts that have not ended.
    pub payouts: usize,
    /// The time since the oldest of them was asked for.
    pub oldest_payout: Duration,
}

impl OpenEffects {
    /// Counts an effect that was queued at `since`.
    pub(crate) fn add(&mut self, effect: OpenEffect, since: Instant, now: Millis) {
        let age = match effect.call {
            OpenCall::Payment(effect_id) => match effect_id.refund_id {
                Some(id) => {
                    let age = age_of(id, now);
                    self.refunds += 1;
                    self.oldest_refund = self.oldest_refund.max(age);
                    age
                }
                None => {
                    let age = since.elapsed();
                    self.oldest = self.oldest.max(age);
                    age
                }
            },
            OpenCall::Evidence(_) => {
                let age = since.elapsed();
                self.oldest = self.oldest.max(age);
                age
            }
            OpenCall::Payout(id) => {
                let age = age_of(id, now);
                self.payouts += 1;
                self.oldest_payout = self.oldest_payout.max(age);
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
fn age_of(id: impl Id, now: Millis) -> Duration {
    Duration::from_millis(now.0.saturating_sub(id.to_raw().position().millis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_domain::effect::EffectId;
    use till_domain::ids::{IdPosition, MerchantId, PaymentId, PayoutId, RawId, RefundId};

    #[test]
    fn refunds_and_payouts_are_as_old_as_their_ids() {
        let id = |millis| RawId::new(IdPosition { millis, counter: 0 }, 0);
        let (refund, payout) = (RefundId::from_raw(id(1_000_000)), PayoutId::from_raw(id(999_000)));
        let open_call = |call| OpenEffect { merchant_id: MerchantId::from_bytes([1; 16]), call };
        let effect = |refund_id| {
            open_call(OpenCall::Payment(EffectId { payment_id: PaymentId::from_bytes([2; 16]), refund_id }))
        };
        let (mut open, now) = (OpenEffects::default(), Millis(1_061_000));
        open.add(effect(Some(refund)), Instant::now(), now);
        open.add(effect(None), Instant::now(), now);
        open.add(open_call(OpenCall::Payout(payout)), Instant::now(), now);
        assert_eq!((open.count, open.refunds, open.payouts, open.older_than), (3, 1, 1, [2, 2, 2, 0, 0]));
        assert_eq!(open.oldest_payout, Duration::from_secs(62));
        assert_eq!(open.oldest_refund, Duration::from_secs(61));
        assert!(open.oldest < Duration::from_secs(60), "{:?}", open.oldest);
    }
}
