//! What a caller of a merchant's actor is told.

use till_domain::event::Answer;
use till_domain::refusal::Refusal;

/// A command that took effect, or had done so before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// What is answered.
    pub answer: Answer,
    /// Whether it is the kept answer of an earlier call.
    pub replayed: bool,
}

/// Whether a call that failed may have taken effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedOutcome {
    /// It changed nothing.
    NotDone,
    /// It may have: ask again under the same Idempotency-Key.
    Unknown,
}

/// Why a command was not answered with success.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The rules refuse it; nothing changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The service could not carry it out now.
    #[error("the service cannot carry it out now: {reason}")]
    Unavailable {
        /// Whether it may have taken effect.
        outcome: FailedOutcome,
        /// For the operator's log.
        reason: String,
    },
}

impl Denied {
    /// Nothing was done.
    pub fn not_done(reason: impl Into<String>) -> Denied {
        Denied::Unavailable { outcome: FailedOutcome::NotDone, reason: reason.into() }
    }

    /// It may have been done.
    pub fn unknown(reason: impl Into<String>) -> Denied {
        Denied::Unavailable { outcome: FailedOutcome::Unknown, reason: reason.into() }
    }
}

/// What a caller is told.
pub type Reply = Result<Answered, Denied>;
