//! Numbers of open effects, for metrics.

use std::time::{Duration, Instant};
use till_domain::time::Millis;

use crate::outbox::OpenEffect;

/// The ages, in seconds, that open effects are counted by.
pub const AGES_SECONDS: [u64; 5] = [1, 10, 60, 600, 3_600];

/// Calls to acquirers that have no result yet, those that wait included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenEffects {
    /// All of them.
    pub count: usize,
    /// Those that are older than each of [`AGES_SECONDS`].
    pub older_than: [usize; AGES_SECONDS.len()],
    /// The age of the oldest that is no refund. Those of an earlier process count from the start.
    pub oldest: Duration,
    /// Refunds that have not ended.
    pub refunds: usize,
    /// The time since the oldest of them was asked for.
    pub oldest_refund: Duration,
}

impl OpenEffects {
    /// Counts an effect that was queued at `since`.
    pub(crate) fn add(&mut self, effect: OpenEffect, since: Instant, now: Millis) {
        let age = match effect.effect_id.refund_id {
            // Its id has the time, which a restart does not change.
            Some(id) => Duration::from_millis(now.0.saturating_sub(id.raw().position().millis)),
            None => since.elapsed(),
        };
        self.count += 1;
        for (older, seconds) in self.older_than.iter_mut().zip(AGES_SECONDS) {
            *older += usize::from(age > Duration::from_secs(seconds));
        }
        if effect.effect_id.refund_id.is_some() {
            self.refunds += 1;
            self.oldest_refund = self.oldest_refund.max(age);
        } else {
            self.oldest = self.oldest.max(age);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_domain::effect::EffectId;
    use till_domain::ids::{IdPosition, MerchantId, PaymentId, RawId, RefundId};

    #[test]
    fn a_refund_is_as_old_as_its_id_and_any_other_as_its_place_in_the_queue() {
        let refund = RefundId::from_raw(RawId::new(IdPosition { millis: 1_000_000, counter: 0 }, 0));
        let effect = |refund_id| OpenEffect {
            merchant_id: MerchantId::from_bytes([1; 16]),
            effect_id: EffectId { payment_id: PaymentId::from_bytes([2; 16]), refund_id },
        };
        let (mut open, now) = (OpenEffects::default(), Millis(1_061_000));
        open.add(effect(Some(refund)), Instant::now(), now);
        open.add(effect(None), Instant::now(), now);
        assert_eq!((open.count, open.refunds, open.older_than), (2, 1, [1, 1, 1, 0, 0]));
        assert_eq!(open.oldest_refund, Duration::from_secs(61));
        assert!(open.oldest < Duration::from_secs(60), "{:?}", open.oldest);
    }
}
