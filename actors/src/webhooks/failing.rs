//! The time for which an endpoint has failed since its last success. Hours count while attempts are made: those in
//! which the server was down, or the merchant suspended, do not.

use till_domain::time::Millis;
use till_storage::deliveries::WebhookProgress;

/// The time without one success after which an endpoint is disabled: five days.
const DISABLED_AFTER_MS: u64 = 5 * 86_400_000;
/// Limit of the time that counts between two attempts: the longest pause of the usual schedule, a day and a fifth.
const PAUSE_MAX_MS: u64 = 86_400_000 / 5 * 6;

/// The time for which an endpoint has failed since its last success.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FailingTime {
    /// The time in milliseconds.
    pub(super) counted_ms: u64,
    /// The last attempt, when the time after it counts.
    pub(super) up_to: Option<Millis>,
}

impl FailingTime {
    /// The time that was recorded.
    pub(super) fn of(progress: Option<WebhookProgress>) -> FailingTime {
        progress.map_or_else(FailingTime::default, |progress| FailingTime {
            counted_ms: progress.failing_ms,
            up_to: progress.failed_at,
        })
    }

    /// Counts the time before an attempt that failed, from the start of the process at the earliest.
    pub(super) fn with_failure(self, now: Millis, started_at: Millis) -> FailingTime {
        let pause_ms = self.up_to.map_or(0, |up_to| now.0.saturating_sub(up_to.max(started_at).0));
        FailingTime { counted_ms: self.counted_ms.saturating_add(pause_ms.min(PAUSE_MAX_MS)), up_to: Some(now) }
    }

    /// The same time after an attempt that failed while the merchant was suspended.
    pub(super) const fn with_suspended_failure(self) -> FailingTime {
        FailingTime { up_to: None, ..self }
    }

    /// True when the endpoint is to be disabled.
    pub(super) const fn is_too_long(self) -> bool {
        self.counted_ms >= DISABLED_AFTER_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: u64 = 86_400_000;
    const START: Millis = Millis(1_000_000_000_000);

    fn day(days: u64) -> Millis {
        Millis(START.0 + days * DAY_MS)
    }

    #[test]
    fn the_time_between_failed_attempts_adds_up_to_five_days() {
        let after = |days| (0..=days).fold(FailingTime::default(), |time, at| time.with_failure(day(at), START));
        assert_eq!((after(0).counted_ms, after(4).counted_ms), (0, 4 * DAY_MS));
        assert_eq!((after(4).is_too_long(), after(5).is_too_long()), (false, true));
    }

    #[test]
    fn hours_before_the_start_of_the_process_do_not_count() {
        let failed = FailingTime::default().with_failure(day(0), START);
        assert_eq!(failed.with_failure(day(3), Millis(day(3).0 - 7)).counted_ms, 7);
    }

    #[test]
    fn hours_after_an_attempt_during_a_suspension_do_not_count() {
        let failed = FailingTime::default().with_failure(day(0), START).with_failure(day(1), START);
        let suspended = failed.with_suspended_failure();
        assert_eq!(suspended.with_failure(day(2), START).counted_ms, DAY_MS);
        assert_eq!(suspended.with_failure(day(2), START).with_failure(day(3), START).counted_ms, 2 * DAY_MS);
    }

    #[test]
    fn a_long_pause_without_attempts_counts_as_a_day_and_a_fifth() {
        let failed = FailingTime::default().with_failure(day(0), START);
        assert_eq!(failed.with_failure(day(10), START).counted_ms, DAY_MS / 5 * 6);
        assert_eq!(failed.with_failure(Millis(5), START).counted_ms, 0, "the clock went back");
    }
}
