//! The state of a delivery after an attempt.

use std::time::Duration;

use till_domain::time::Millis;
use till_storage::deliveries::{Delivery, DeliveryStatus};

use super::retry_schedule::{DeliveryVerdict, RetrySchedule};
use super::sender::{Attempt, AttemptResult};

/// Limit of the characters that are kept of the reason for a failure: some libraries write long ones.
const FAILURE_CHARACTERS_MAX: usize = 200;

/// A delivery after an attempt, and the verdict of the endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AttemptOutcome {
    pub(super) delivery: Delivery,
    pub(super) verdict: DeliveryVerdict,
}

impl AttemptOutcome {
    /// The outcome of an attempt that was made at `now`. `chance` spreads the retries.
    pub(super) fn of(
        delivery: Delivery,
        attempt: Attempt,
        schedule: &RetrySchedule,
        chance: u64,
        now: Millis,
    ) -> AttemptOutcome {
        let Attempt { latency, result } = attempt;
        let (verdict, response_status, response_excerpt, failure, asked) = match result {
            AttemptResult::Answered(answer) => {
                let verdict = DeliveryVerdict::of_status(answer.status);
                (verdict, Some(answer.status), Some(answer.excerpt), None, answer.retry_after)
            }
            AttemptResult::Failed(reason) => {
                (DeliveryVerdict::Failed, None, None, Some(shortened(&reason.to_string())), None)
            }
        };
        let made = delivery.attempt.saturating_add(1);
        let (status, next_attempt_at) = match verdict {
            DeliveryVerdict::Succeeded => (DeliveryStatus::Successful, None),
            DeliveryVerdict::Gone => (DeliveryStatus::Failed, None),
            DeliveryVerdict::Failed => match delay(schedule, made, chance, asked) {
                Some(delay) => (DeliveryStatus::Pending, Some(instant_after(now, delay))),
                None => (DeliveryStatus::Failed, None),
            },
        };
        let delivery = Delivery {
            status,
            attempt: made,
            response_status,
            response_excerpt,
            failure,
            latency_ms: Some(u64::try_from(latency.as_millis()).unwrap_or(u64::MAX)),
            attempted_at: Some(now),
            next_attempt_at,
            ..delivery
        };
        AttemptOutcome { delivery, verdict }
    }

    /// The outcome without a further attempt, whatever the schedule says.
    pub(super) fn without_retry(self) -> AttemptOutcome {
        let status = match self.verdict {
            DeliveryVerdict::Succeeded => DeliveryStatus::Successful,
            DeliveryVerdict::Failed | DeliveryVerdict::Gone => DeliveryStatus::Failed,
        };
        AttemptOutcome { delivery: Delivery { status, next_attempt_at: None, ..self.delivery }, ..self }
    }
}

/// A delivery that ends without a further attempt.
pub(super) fn given_up(delivery: Delivery, reason: &str) -> Delivery {
    let failure = Some(reason.to_owned());
    Delivery { status: DeliveryStatus::Failed, failure, next_attempt_at: None, ..delivery }
}

fn delay(schedule: &RetrySchedule, made: u32, chance: u64, asked: Option<Duration>) -> Option<Duration> {
    schedule.delay_after(usize::try_from(made).unwrap_or(usize::MAX), chance, asked)
}

fn instant_after(now: Millis, delay: Duration) -> Millis {
    Millis(now.0.saturating_add(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)))
}

fn shortened(text: &str) -> String {
    text.chars().take(FAILURE_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::super::EndpointAnswer;
    use super::*;
    use crate::outgoing::RequestFailure;
    use till_domain::ids::{DeliveryId, WebhookEventId, WebhookId};

    const NOW: Millis = Millis(1_000_000);

    fn fresh() -> Delivery {
        Delivery {
            id: DeliveryId::from_bytes([1; 16]),
            webhook_id: WebhookId::from_bytes([2; 16]),
            event_id: WebhookEventId::from_bytes([3; 16]),
            kind: None,
            status: DeliveryStatus::Pending,
            attempt: 0,
            response_status: None,
            response_excerpt: None,
            failure: None,
            latency_ms: None,
            attempted_at: None,
            next_attempt_at: None,
            created_at: NOW,
        }
    }

    fn answered_attempt(status: u16, retry_after: Option<Duration>) -> Attempt {
        let answer = EndpointAnswer { status, excerpt: "ok".to_owned(), retry_after };
        Attempt { latency: Duration::from_millis(7), result: AttemptResult::Answered(answer) }
    }

    fn outcome(delivery: Delivery, attempt: Attempt) -> AttemptOutcome {
        let schedule: RetrySchedule = "10,20".parse().expect("a schedule");
        AttemptOutcome::of(delivery, attempt, &schedule, 2_000, NOW)
    }

    #[test]
    fn a_success_ends_the_delivery_and_keeps_the_answer() {
        let AttemptOutcome { delivery, verdict } = outcome(fresh(), answered_attempt(204, None));
        assert_eq!(
            (delivery.status, delivery.attempt, verdict),
            (DeliveryStatus::Successful, 1, DeliveryVerdict::Succeeded)
        );
        assert_eq!((delivery.response_status, delivery.latency_ms), (Some(204), Some(7)));
        assert_eq!((delivery.attempted_at, delivery.next_attempt_at), (Some(NOW), None));
    }

    #[test]
    fn a_failure_is_tried_again_by_the_schedule_until_that_ends() {
        let first = outcome(fresh(), answered_attempt(500, None)).delivery;
        assert_eq!((first.status, first.next_attempt_at), (DeliveryStatus::Pending, Some(Millis(NOW.0 + 10_000))));
        let second = outcome(first, answered_attempt(500, Some(Duration::from_secs(60)))).delivery;
        assert_eq!(second.next_attempt_at, Some(Millis(NOW.0 + 60_000)), "the endpoint asked for a minute");
        let third = outcome(second, answered_attempt(500, None)).delivery;
        assert_eq!((third.status, third.attempt, third.next_attempt_at), (DeliveryStatus::Failed, 3, None));
    }

    #[test]
    fn an_endpoint_that_answers_410_is_not_called_again() {
        let AttemptOutcome { delivery, verdict } = outcome(fresh(), answered_attempt(410, None));
        assert_eq!(
            (delivery.status, delivery.next_attempt_at, verdict),
            (DeliveryStatus::Failed, None, DeliveryVerdict::Gone)
        );
    }

    #[test]
    fn an_attempt_without_an_answer_says_why_in_a_few_words() {
        let long = RequestFailure::Tls("x".repeat(5_000));
        let attempt = Attempt { latency: Duration::ZERO, result: AttemptResult::Failed(long.into()) };
        let delivery = outcome(fresh(), attempt).delivery;
        assert_eq!(delivery.response_status, None);
        assert_eq!(delivery.failure.map(|text| text.chars().count()), Some(FAILURE_CHARACTERS_MAX));
    }

    #[test]
    fn an_attempt_by_hand_is_not_tried_again() {
        let delivery = outcome(fresh(), answered_attempt(500, None)).without_retry().delivery;
        assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Failed, None));
    }
}
