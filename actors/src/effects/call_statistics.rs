//! Counts and times of calls to acquirers, by acquirer, call and result.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use till_domain::acquirer::AcquirerName;
use till_domain::failure::FailureCode;
use till_storage::commit::Histogram;

use super::account_lane::Heard;
use crate::acquirer::{
    AcquirerCall, AcquirerUnavailable, BalancePage, CallAnswer, LookedUp, Prepared, UnansweredOutcome,
};

till_domain::word_enum! {
    /// A request to an acquirer.
    pub(super) enum CallWord: name {
        /// Something is made ready for an authorization.
        Prepare => "prepare",
        /// What has become of a call is looked up.
        LookUp => "look_up",
        /// The money of an account is listed.
        List => "list",
        /// Money is reserved.
        Authorize => "authorize",
        /// The customer's action is canceled.
        Cancel => "cancel",
        /// Reserved money is captured.
        Capture => "capture",
        /// Reserved money is released.
        Void => "void",
        /// Money is given back.
        Refund => "refund",
        /// Money is paid out.
        Payout => "payout",
        /// Evidence is submitted.
        Evidence => "evidence",
    }

    /// The result of a request to an acquirer.
    pub(super) enum CallOutcome: name {
        /// It is done.
        Done => "done",
        /// It is declined.
        Declined => "declined",
        /// It is under way at the acquirer, or waits for the customer.
        Pending => "pending",
        /// A look-up found that it was not done.
        NotDone => "not_done",
        /// There is no clear answer.
        Unknown => "unknown",
        /// It was surely not carried out.
        NotSent => "not_sent",
        /// There were too many.
        Limited => "limited",
    }
}

const WORDS: usize = CallWord::ALL.len();
const OUTCOMES: usize = CallOutcome::ALL.len();

/// Counts since the start.
#[derive(Debug, Default)]
pub struct CallStatistics {
    of: [[CountsOfCall; WORDS]; AcquirerName::ALL.len()],
    mismatches: AtomicU64,
}

#[derive(Debug, Default)]
struct CountsOfCall {
    outcomes: [AtomicU64; OUTCOMES],
    micros: Histogram,
}

impl CallStatistics {
    /// The calls that there were, by acquirer, request and result.
    pub fn calls(&self) -> impl Iterator<Item = ([&'static str; 3], u64)> {
        let counts = self.each().flat_map(|(acquirer, word, counts)| {
            let outcome =
                move |(of, count): (CallOutcome, &AtomicU64)| ([acquirer, word, of.name()], count.load(Relaxed));
            CallOutcome::ALL.into_iter().zip(&counts.outcomes).map(outcome)
        });
        counts.filter(|(_, count)| *count > 0)
    }

    /// The times of the calls that there were, in microseconds, by acquirer and request.
    pub fn micros(&self) -> impl Iterator<Item = ([&'static str; 2], &Histogram)> {
        let was_called = |counts: &CountsOfCall| counts.outcomes.iter().any(|count| count.load(Relaxed) > 0);
        let each = self.each().filter(move |(_, _, counts)| was_called(counts));
        each.map(|(acquirer, word, counts)| ([acquirer, word], &counts.micros))
    }

    /// The answers that were about another amount, currency, reference or mode than their call.
    #[must_use]
    pub fn mismatches(&self) -> u64 {
        self.mismatches.load(Relaxed)
    }

    fn each(&self) -> impl Iterator<Item = (&'static str, &'static str, &CountsOfCall)> {
        AcquirerName::ALL.into_iter().zip(&self.of).flat_map(|(acquirer, words)| {
            CallWord::ALL.into_iter().zip(words).map(move |(word, counts)| (acquirer.name(), word.name(), counts))
        })
    }

    pub(super) fn count(&self, acquirer: AcquirerName, word: CallWord, outcome: CallOutcome, took: Duration) {
        let counts = &self.of[acquirer as usize][word as usize];
        counts.outcomes[outcome as usize].fetch_add(1, Relaxed);
        counts.micros.record_micros(took);
    }

    pub(super) fn count_mismatch(&self) {
        self.mismatches.fetch_add(1, Relaxed);
    }
}

impl From<&AcquirerCall> for CallWord {
    fn from(call: &AcquirerCall) -> CallWord {
        match call {
            AcquirerCall::Authorize(_) => CallWord::Authorize,
            AcquirerCall::Cancel(_) => CallWord::Cancel,
            AcquirerCall::Capture(_) => CallWord::Capture,
            AcquirerCall::Void(_) => CallWord::Void,
            AcquirerCall::Refund(_) => CallWord::Refund,
            AcquirerCall::Payout(_) => CallWord::Payout,
            AcquirerCall::Evidence(_) => CallWord::Evidence,
        }
    }
}

/// An answer of an acquirer, as it is counted and as its account's lane hears it.
pub(super) trait CountedAnswer {
    /// Its result, and what the lane hears; none when nothing was asked.
    fn counted(&self) -> Option<(CallOutcome, Heard)>;
}

impl CountedAnswer for Prepared {
    fn counted(&self) -> Option<(CallOutcome, Heard)> {
        match self {
            Prepared::Nothing => None,
            Prepared::Ready(_) => Some((CallOutcome::Done, Heard::Answer)),
            Prepared::Declined(failure) => Some((CallOutcome::Declined, heard_of(failure.code))),
        }
    }
}

impl CountedAnswer for CallAnswer {
    fn counted(&self) -> Option<(CallOutcome, Heard)> {
        Some(match self {
            CallAnswer::Done(_) => (CallOutcome::Done, Heard::Answer),
            CallAnswer::Declined { failure, authentication: _ } => (CallOutcome::Declined, heard_of(failure.code)),
            CallAnswer::NeedsAction(_) | CallAnswer::Pending(_) => (CallOutcome::Pending, Heard::Answer),
        })
    }
}

impl CountedAnswer for BalancePage {
    fn counted(&self) -> Option<(CallOutcome, Heard)> {
        Some((CallOutcome::Done, Heard::Answer))
    }
}

impl CountedAnswer for LookedUp {
    fn counted(&self) -> Option<(CallOutcome, Heard)> {
        match self {
            LookedUp::Found(answer) => answer.counted(),
            LookedUp::NotDone => Some((CallOutcome::NotDone, Heard::Answer)),
        }
    }
}

impl<T: CountedAnswer> CountedAnswer for Result<T, AcquirerUnavailable> {
    fn counted(&self) -> Option<(CallOutcome, Heard)> {
        let outcome = match self {
            Ok(answer) => return answer.counted(),
            Err(error) => error.outcome,
        };
        Some(match outcome {
            UnansweredOutcome::Unknown => (CallOutcome::Unknown, Heard::Silence),
            UnansweredOutcome::Mismatch => (CallOutcome::Unknown, Heard::Answer),
            UnansweredOutcome::NotSent => (CallOutcome::NotSent, Heard::Silence),
            UnansweredOutcome::CredentialsRefused => (CallOutcome::NotSent, Heard::CredentialsRefused),
            UnansweredOutcome::Limited => (CallOutcome::Limited, Heard::Limited),
        })
    }
}

fn heard_of(code: FailureCode) -> Heard {
    if code == FailureCode::AcquirerRefusedCardNumbers { Heard::CardNumberRefused } else { Heard::Answer }
}
