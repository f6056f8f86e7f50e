//! The attempts by hand that test webhooks, and the limits on those of one merchant.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_protocol::api_error::ApiError;
use tokio::sync::watch;

/// Attempts of one merchant at the same time.
const AT_ONCE_MAX: usize = 2;
/// Calls that wait for the end of one attempt, since they have the same key: each keeps its body.
const WAITING_MAX: usize = 2;
/// Attempts of one merchant that begin within a [`MINUTE`].
const PER_MINUTE_MAX: usize = 30;
const MINUTE: Duration = Duration::from_secs(60);
/// The advised delay before a retry while [`AT_ONCE_MAX`] attempts are under way, in seconds.
const RETRY_AFTER_SECONDS: u32 = 5;

/// The attempts of all merchants.
#[derive(Debug, Default)]
pub(crate) struct WebhookTests(Mutex<BTreeMap<MerchantId, TestsOfMerchant>>);

#[derive(Debug, Default)]
struct TestsOfMerchant {
    under_way: Vec<TestUnderWay>,
    /// The number of the last attempt.
    last: u64,
    /// The times at which attempts began, within the last minute.
    begun: VecDeque<Instant>,
}

#[derive(Debug)]
struct TestUnderWay {
    number: u64,
    /// The `Idempotency-Key` of its call.
    key: Option<String>,
    /// Dropped at its end.
    end: watch::Sender<()>,
}

/// The turn of a call that tests a webhook.
#[derive(Debug)]
pub(crate) enum TestTurn {
    /// It makes the attempt. Dropping this ends it.
    Attempt(TestPermit),
    /// An attempt of a call with the same `Idempotency-Key` is under way.
    SameKey(TestEnd),
}

/// The right to make an attempt.
#[derive(Debug)]
pub(crate) struct TestPermit {
    tests: Arc<WebhookTests>,
    merchant_id: MerchantId,
    number: u64,
}

/// The end of another call's attempt.
#[derive(Debug)]
pub(crate) struct TestEnd(watch::Receiver<()>);

impl WebhookTests {
    /// Begins an attempt of a merchant, unless one with the same key is under way.
    ///
    /// # Errors
    /// `RATE_LIMITED` when the merchant has the limit of attempts under way, of those within a minute, or of calls that
    /// wait for this attempt.
    pub(crate) fn begin(
        self: &Arc<Self>,
        merchant_id: MerchantId,
        key: Option<&str>,
        now: Instant,
    ) -> Result<TestTurn, ApiError> {
        let mut all = self.0.lock();
        all.retain(|_, of_merchant| of_merchant.is_remembered(now));
        let of_merchant = all.entry(merchant_id).or_default();
        if let Some(test) = of_merchant.under_way.iter().find(|test| key.is_some() && test.key.as_deref() == key) {
            let has_room = test.end.receiver_count() < WAITING_MAX;
            return if has_room {
                Ok(TestTurn::SameKey(TestEnd(test.end.subscribe())))
            } else {
                Err(too_many_at_once())
            };
        }
        of_merchant.check_limits(now)?;
        of_merchant.last = of_merchant.last.wrapping_add(1);
        let number = of_merchant.last;
        of_merchant.begun.push_back(now);
        let (key, end) = (key.map(str::to_owned), watch::Sender::new(()));
        of_merchant.under_way.push(TestUnderWay { number, key, end });
        Ok(TestTurn::Attempt(TestPermit { tests: Arc::clone(self), merchant_id, number }))
    }
}

fn too_many_at_once() -> ApiError {
    let message = format!("{AT_ONCE_MAX} tests of webhooks of this merchant are under way. Wait for their answers.");
    ApiError::too_many(message, RETRY_AFTER_SECONDS)
}

impl TestsOfMerchant {
    /// Drops times that are over. Returns true while something is left.
    fn is_remembered(&mut self, now: Instant) -> bool {
        while self.begun.front().is_some_and(|begun| now.duration_since(*begun) >= MINUTE) {
            self.begun.pop_front();
        }
        !self.begun.is_empty() || !self.under_way.is_empty()
    }

    fn check_limits(&self, now: Instant) -> Result<(), ApiError> {
        if self.under_way.len() >= AT_ONCE_MAX {
            return Err(too_many_at_once());
        }
        let Some(first) = self.begun.front().filter(|_| self.begun.len() >= PER_MINUTE_MAX) else { return Ok(()) };
        let message = format!(
            "The tests of webhooks of this merchant are limited to {PER_MINUTE_MAX} a minute. Continue after the \
                seconds in Retry-After."
        );
        let wait = MINUTE.saturating_sub(now.duration_since(*first));
        let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        Err(ApiError::too_many(message, seconds))
    }
}

impl TestEnd {
    /// Waits for it.
    pub(crate) async fn wait(mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

impl Drop for TestPermit {
    fn drop(&mut self) {
        if let Some(of_merchant) = self.tests.0.lock().get_mut(&self.merchant_id) {
            of_merchant.under_way.retain(|test| test.number != self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use till_protocol::api_error::Code;

    use super::*;

    const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);
    const OTHER: MerchantId = MerchantId::from_bytes([2; 16]);

    fn attempt(turn: Result<TestTurn, ApiError>) -> TestPermit {
        match turn {
            Ok(TestTurn::Attempt(permit)) => permit,
            other => panic!("no attempt: {other:?}"),
        }
    }

    #[track_caller]
    fn assert_refused_for(turn: Result<TestTurn, ApiError>, seconds: u32) {
        let error = turn.expect_err("a refusal");
        assert_eq!((error.code(), error.retry_after_seconds()), (Code::RateLimited, Some(seconds)));
    }

    #[test]
    fn a_merchant_has_two_attempts_at_a_time() {
        let (tests, now) = (Arc::<WebhookTests>::default(), Instant::now());
        let first = attempt(tests.begin(MERCHANT, None, now));
        let _second = attempt(tests.begin(MERCHANT, None, now));
        assert_refused_for(tests.begin(MERCHANT, None, now), RETRY_AFTER_SECONDS);
        attempt(tests.begin(OTHER, None, now));
        drop(first);
        attempt(tests.begin(MERCHANT, None, now));
    }

    #[test]
    fn thirty_attempts_begin_within_a_minute_of_any_kind() {
        let (tests, begun) = (Arc::<WebhookTests>::default(), Instant::now());
        for second in 0..30 {
            drop(attempt(tests.begin(MERCHANT, None, begun + Duration::from_secs(second))));
        }
        let later = begun + Duration::from_secs(45);
        assert_refused_for(tests.begin(MERCHANT, None, later), 16);
        attempt(tests.begin(OTHER, None, later));
        attempt(tests.begin(MERCHANT, None, begun + MINUTE));
        assert_refused_for(tests.begin(MERCHANT, None, begun + MINUTE), 2);
        attempt(tests.begin(OTHER, None, begun + 9 * MINUTE));
        assert_eq!(tests.0.lock().len(), 1, "nothing is kept of merchants without attempts");
    }

    #[tokio::test]
    async fn a_call_with_the_same_key_waits_for_the_first() {
        let (tests, now) = (Arc::<WebhookTests>::default(), Instant::now());
        let first = attempt(tests.begin(MERCHANT, Some("a"), now));
        let Ok(TestTurn::SameKey(end)) = tests.begin(MERCHANT, Some("a"), now) else { panic!("it does not wait") };
        let another = tests.begin(MERCHANT, Some("a"), now);
        assert!(matches!(another, Ok(TestTurn::SameKey(_))), "{another:?}");
        assert_refused_for(tests.begin(MERCHANT, Some("a"), now), RETRY_AFTER_SECONDS);
        let _other = attempt(tests.begin(MERCHANT, Some("b"), now));
        let mut end = Box::pin(end.wait());
        assert!((&mut end).now_or_never().is_none());
        drop(first);
        assert!(end.now_or_never().is_some());
        attempt(tests.begin(MERCHANT, Some("a"), now));
    }
}
