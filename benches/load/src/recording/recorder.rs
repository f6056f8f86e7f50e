//! The results of one thread.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use till_domain::ids::PaymentId;

use super::interval::Interval;
use super::latency;
use super::step::{MeasuredStep, Trouble};
use super::tally::{MadeObject, RunTally};

/// The time in which a run is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// The begin; calls that were meant to be made before belong to the warm-up.
    pub(crate) start: Instant,
    /// The end.
    pub(crate) end: Instant,
    /// The length of its intervals.
    pub(crate) interval: Duration,
}

/// Records the results of one thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    window: Window,
    tally: RunTally,
    current: Interval,
    intervals: Sender<Interval>,
    /// The time at which the last counted operation ended.
    last: Instant,
    silence: Option<Silence>,
}

/// The consecutive calls without an answer since the last call that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Silence {
    /// The time at which the first of them ended.
    pub(crate) since: Instant,
    /// The number of these calls.
    pub(crate) calls: usize,
    /// The reason that the last of them has no answer.
    pub(crate) reason: String,
}

impl Recorder {
    /// A recorder that sends each interval to `intervals` as soon as it is over.
    pub(crate) fn new(window: Window, intervals: Sender<Interval>) -> Recorder {
        Recorder {
            window,
            tally: RunTally::new(),
            current: Interval::new(0),
            intervals,
            last: window.start,
            silence: None,
        }
    }

    /// Records the end of an operation that was meant to begin at `intended`.
    pub(crate) fn record_end(&mut self, intended: Instant, now: Instant, outcome: Result<MeasuredStep, Trouble>) {
        let is_counted = intended >= self.window.start;
        self.listen(now, &outcome);
        match outcome {
            Ok(step) if is_counted => self.add(step, now - intended, now),
            Ok(_) => {}
            Err(Trouble::Wrong(example)) => self.tally.add_wrong(example),
            Err(Trouble::NothingLeft) => {}
            Err(Trouble::Failed { code, excerpt }) => {
                self.tally.uncertain += 1;
                if is_counted {
                    self.turn_to(now);
                    self.current.failures += 1;
                    if !code.starts_with('(') {
                        latency::record(&mut self.tally.refused, now - intended);
                    }
                    self.tally.add_failure(code, excerpt);
                }
            }
        }
    }

    fn listen(&mut self, now: Instant, outcome: &Result<MeasuredStep, Trouble>) {
        self.silence = outcome.as_ref().err().and_then(Trouble::unanswered).map(|reason| {
            let (since, calls) = self.silence.as_ref().map_or((now, 0), |silence| (silence.since, silence.calls));
            Silence { since, calls: calls + 1, reason: reason.to_owned() }
        });
    }

    /// The consecutive calls without an answer; None when the last call was answered.
    pub(crate) const fn silence(&self) -> Option<&Silence> {
        self.silence.as_ref()
    }

    fn add(&mut self, step: MeasuredStep, latency: Duration, now: Instant) {
        self.turn_to(now);
        latency::record(&mut self.current.latencies, latency);
        latency::record(&mut self.tally.latencies, latency);
        self.step(step, latency);
        self.last = now;
    }

    /// Records the latency of a step.
    pub(crate) fn step(&mut self, step: MeasuredStep, latency: Duration) {
        latency::record(self.tally.steps.entry(step).or_insert_with(latency::of_a_run), latency);
    }

    /// Records an object with its amount, and returns true when it was not known before.
    pub(crate) fn record_made(&mut self, object: MadeObject, id: [u8; 16], amount_minor: u64) -> bool {
        self.tally.add_made(object, id, amount_minor)
    }

    /// Records a payment whose money arrives, and returns true when it was not known before.
    pub(crate) fn payment(&mut self, payment: PaymentId, amount_minor: u64) -> bool {
        self.record_made(MadeObject::Payment, payment.to_bytes(), amount_minor)
    }

    /// Records that a payment asks its customer.
    pub(crate) fn asked(&mut self) {
        self.tally.customers.asked += 1;
    }

    /// Records that a customer has paid: the money arrives.
    pub(crate) fn paid(&mut self, amount_minor: u64) {
        self.tally.paid_minor += amount_minor;
    }

    /// Records that a payment was successful after its customer had acted.
    pub(crate) fn completed(&mut self, now: Instant) {
        self.tally.customers.completed += 1;
        self.tally.last_customer = Some(now);
    }

    /// Records an amount that a failed call may have paid out or refunded.
    pub(crate) fn doubtful(&mut self, amount_minor: u64) {
        self.tally.given_minor += amount_minor;
    }

    /// True when an operation that is meant to begin at `intended` is measured.
    pub(crate) fn counts(&self, intended: Instant) -> bool {
        intended >= self.window.start
    }

    /// Sends the interval when it is over.
    fn turn_to(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.window.start).as_nanos();
        let index = u64::try_from(passed / self.window.interval.as_nanos()).expect("a run has few intervals");
        if index > self.current.index {
            let over = std::mem::replace(&mut self.current, Interval::new(index));
            let _ = self.intervals.send(over); // The receiver may have ended.
        }
    }

    /// All results, with the time at which the last counted operation ended.
    pub(crate) fn finish(self) -> (RunTally, Instant) {
        let _ = self.intervals.send(self.current);
        (self.tally, self.last)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn recorder() -> (Recorder, std::sync::mpsc::Receiver<Interval>, Instant) {
        let start = Instant::now();
        let window = Window { start, end: start + Duration::from_secs(1), interval: Duration::from_millis(100) };
        let (sender, receiver) = channel();
        (Recorder::new(window, sender), receiver, start)
    }

    #[test]
    fn latency_is_counted_from_when_a_call_was_meant_to_be_made() {
        let (mut recorder, _receiver, start) = recorder();
        let millis = |millis| start + Duration::from_millis(millis);
        recorder.record_end(millis(10), millis(510), Ok(MeasuredStep::InitiatePaymentFlow));
        let (tally, last) = recorder.finish();
        assert_eq!((tally.latencies.len(), last), (1, millis(510)));
        assert!((499_000..=501_000).contains(&tally.latencies.max()), "{}", tally.latencies.max());
    }

    #[test]
    fn the_warm_up_is_not_counted_but_its_wrong_answers_are() {
        let (mut recorder, _receiver, start) = recorder();
        let before = start.checked_sub(Duration::from_millis(1)).expect("there was a millisecond before");
        recorder.record_end(before, start, Ok(MeasuredStep::InitiatePaymentFlow));
        recorder.record_end(before, start, Err(Trouble::Failed { code: "X".to_owned(), excerpt: String::new() }));
        recorder.record_end(before, start, Err(Trouble::Wrong("y".to_owned())));
        let (tally, _) = recorder.finish();
        assert_eq!((tally.latencies.len(), tally.failures.len(), tally.wrong.count), (0, 0, 1));
    }

    #[test]
    fn refusals_have_their_own_latency_and_lost_calls_have_none() {
        let (mut recorder, _receiver, start) = recorder();
        for code in ["UNAVAILABLE", "(connection closed)"] {
            let failed = Trouble::Failed { code: code.to_owned(), excerpt: String::new() };
            recorder.record_end(start, start + Duration::from_millis(100), Err(failed));
        }
        let (tally, _) = recorder.finish();
        assert_eq!((tally.latencies.len(), tally.refused.len()), (0, 1));
        assert!((99_000..=101_000).contains(&tally.refused.max()));
    }

    #[test]
    fn silence_lasts_from_an_unanswered_call_to_any_answer() {
        let (mut recorder, _receiver, start) = recorder();
        let failed = |code: &str| Err(Trouble::Failed { code: code.to_owned(), excerpt: format!("as {code}") });
        let millis = |millis| start + Duration::from_millis(millis);
        recorder.record_end(start, millis(10), failed("(connection closed)"));
        recorder.record_end(start, millis(20), failed("(connection refused)"));
        let silence = Silence { since: millis(10), calls: 2, reason: "as (connection refused)".to_owned() };
        assert_eq!(recorder.silence(), Some(&silence));
        for answered in [failed("CONFLICT"), failed("(HTTP 502)"), Ok(MeasuredStep::GetBalance)] {
            recorder.record_end(start, millis(30), failed("(no answer in time)"));
            assert!(recorder.silence().is_some());
            recorder.record_end(start, millis(40), answered);
            assert_eq!(recorder.silence(), None);
        }
    }

    #[test]
    fn an_interval_is_passed_on_once_it_is_over() {
        let (mut recorder, receiver, start) = recorder();
        for at in [50, 60, 250] {
            let now = start + Duration::from_millis(at);
            recorder.record_end(now, now, Ok(MeasuredStep::GetBalance));
        }
        assert_eq!(receiver.try_recv().map(|interval| (interval.index, interval.latencies.len())), Ok((0, 2)));
        assert!(receiver.try_recv().is_err());
        recorder.finish();
        assert_eq!(receiver.try_recv().map(|interval| (interval.index, interval.latencies.len())), Ok((2, 1)));
    }

    #[test]
    fn an_id_that_was_answered_before_is_noticed_and_counts_once() {
        let (mut recorder, _receiver, _) = recorder();
        for (object, amount_minor) in [(MadeObject::Payment, 100), (MadeObject::Refund, 40), (MadeObject::Payout, 300)]
        {
            assert!(
                recorder.record_made(object, [7; 16], amount_minor)
                    && !recorder.record_made(object, [7; 16], amount_minor)
            );
        }
        recorder.doubtful(7);
        let (tally, _) = recorder.finish();
        assert_eq!((tally.paid_minor, tally.given_minor), (100, 347));
    }
}
