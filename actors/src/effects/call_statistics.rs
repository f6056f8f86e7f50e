//! Counts and times of calls to acquirers, by the words for acquirer, request and result. A request makes a call, makes
//! it ready (`prepare`), looks it up, or lists the money of an account.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;
use till_domain::failure::FailureCode;
use till_storage::commit::Histogram;

use super::account_lane::Heard;
use crate::acquirer::{
    AcquirerCall, AcquirerUnavailable, BalancePage, CallAnswer, LookedUp, Prepared, UnansweredOutcome,
};

/// Counts since the start.
#[derive(Debug, Default)]
pub struct CallStatistics {
    of: Mutex<BTreeMap<[&'static str; 2], CountsOfCall>>,
    mismatches: AtomicU64,
}

#[derive(Debug, Default)]
struct CountsOfCall {
    results: BTreeMap<&'static str, u64>,
    micros: Arc<Histogram>,
}

impl CallStatistics {
    /// The calls that there were, by acquirer, request and result.
    pub fn calls(&self) -> Vec<([&'static str; 3], u64)> {
        let of = self.of.lock();
        let each = of.iter().flat_map(|([acquirer, request], counts)| {
            counts.results.iter().map(|(result, count)| ([*acquirer, *request, *result], *count))
        });
        each.collect()
    }

    /// The times of the calls that there were, in microseconds, by acquirer and request.
    pub fn micros(&self) -> Vec<([&'static str; 2], Arc<Histogram>)> {
        self.of.lock().iter().map(|(of, counts)| (*of, Arc::clone(&counts.micros))).collect()
    }

    /// The answers that were about another amount, currency, reference or mode than their call.
    #[must_use]
    pub fn mismatches(&self) -> u64 {
        self.mismatches.load(Relaxed)
    }

    pub(super) fn count(&self, of: [&'static str; 2], result: &'static str, took: Duration) {
        let mut all = self.of.lock();
        let counts = all.entry(of).or_default();
        *counts.results.entry(result).or_default() += 1;
        counts.micros.record_micros(took);
    }

    pub(super) fn count_mismatch(&self) {
        self.mismatches.fetch_add(1, Relaxed);
    }
}

/// The word for a request that makes this call.
pub(super) const fn word_of(call: &AcquirerCall) -> &'static str {
    match call {
        AcquirerCall::Authorize(_) => "authorize",
        AcquirerCall::Cancel(_) => "cancel",
        AcquirerCall::Capture(_) => "capture",
        AcquirerCall::Void(_) => "void",
        AcquirerCall::Refund(_) => "refund",
        AcquirerCall::Payout(_) => "payout",
        AcquirerCall::Evidence(_) => "evidence",
    }
}

/// An answer of an acquirer, as it is counted and as its account's lane hears it.
pub(super) trait CountedAnswer {
    /// The word for its result, and what the lane hears; none when nothing was asked.
    fn counted(&self) -> Option<(&'static str, Heard)>;
}

impl CountedAnswer for Prepared {
    fn counted(&self) -> Option<(&'static str, Heard)> {
        match self {
            Prepared::Nothing => None,
            Prepared::Ready(_) => Some(("done", Heard::Answer)),
            Prepared::Declined(failure) => Some(("declined", heard_of(failure.code))),
        }
    }
}

impl CountedAnswer for CallAnswer {
    fn counted(&self) -> Option<(&'static str, Heard)> {
        Some(match self {
            CallAnswer::Done(_) => ("done", Heard::Answer),
            CallAnswer::Declined { failure, authentication: _ } => ("declined", heard_of(failure.code)),
            CallAnswer::NeedsAction(_) | CallAnswer::Pending(_) => ("pending", Heard::Answer),
        })
    }
}

impl CountedAnswer for BalancePage {
    fn counted(&self) -> Option<(&'static str, Heard)> {
        Some(("done", Heard::Answer))
    }
}

impl CountedAnswer for LookedUp {
    fn counted(&self) -> Option<(&'static str, Heard)> {
        match self {
            LookedUp::Found(answer) => answer.counted(),
            LookedUp::NotDone => Some(("not_done", Heard::Answer)),
        }
    }
}

impl<T: CountedAnswer> CountedAnswer for Result<T, AcquirerUnavailable> {
    fn counted(&self) -> Option<(&'static str, Heard)> {
        match self.as_ref().map_err(|error| error.outcome) {
            Ok(answer) => answer.counted(),
            Err(UnansweredOutcome::Unknown) => Some(("unknown", Heard::Silence)),
            Err(UnansweredOutcome::Mismatch) => Some(("unknown", Heard::Answer)),
            Err(UnansweredOutcome::NotSent) => Some(("not_sent", Heard::Silence)),
            Err(UnansweredOutcome::CredentialsRefused) => Some(("not_sent", Heard::CredentialsRefused)),
            Err(UnansweredOutcome::Limited) => Some(("limited", Heard::Limited)),
        }
    }
}

fn heard_of(code: FailureCode) -> Heard {
    if code == FailureCode::AcquirerRefusedCardNumbers { Heard::CardNumberRefused } else { Heard::Answer }
}
