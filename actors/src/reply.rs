//! The replies of a merchant's actor.

use till_domain::event::Answer;
use till_domain::refusal::Refusal;

/// A command that took effect, now or in an earlier call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// True when it is the kept answer of an earlier call.
    pub replayed: bool,
}

/// The outcome of a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedOutcome {
    /// It changed nothing.
    NotDone,
    /// It may have taken effect: repeat the call under the same Idempotency-Key.
    Unknown,
}

/// The reason that a command was not answered with success.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The rules refuse it; nothing changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The service could not carry it out now.
    #[error("the service cannot carry it out now: {reason}")]
    Unavailable {
        /// Not done, or unknown.
        outcome: FailedOutcome,
        /// For the operator's log.
        reason: String,
    },
}

impl Denied {
    /// A failure in which nothing was done.
    pub fn not_done(reason: impl Into<String>) -> Denied {
        Denied::Unavailable { outcome: FailedOutcome::NotDone, reason: reason.into() }
    }

    /// A failure after which the outcome is unknown.
    pub fn unknown(reason: impl Into<String>) -> Denied {
        Denied::Unavailable { outcome: FailedOutcome::Unknown, reason: reason.into() }
    }
}

/// The reply to a caller.
pub type Reply = Result<Answered, Denied>;
