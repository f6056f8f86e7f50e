//! The replies of a merchant's actor.

use till_domain::event::Answer;
use till_domain::refusal::Refusal;

/// The reply to a command that took effect, now or in an earlier call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// True when the answer is the kept answer of an earlier call.
    pub replayed: bool,
}

/// The outcome of a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedOutcome {
    /// The call changed nothing.
    NotDone,
    /// The call may have taken effect. The caller should repeat it under the same Idempotency-Key.
    Unknown,
}

/// The reason why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The rules of the domain refuse the command. Nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The service could not carry out the command now.
    #[error("the service cannot carry it out now: {reason}")]
    Unavailable {
        /// The outcome of the call: not done, or unknown.
        outcome: FailedOutcome,
        /// The reason, for the operator's log.
        reason: String,
    },
}

impl Denied {
    /// The failure of a call that changed nothing.
    pub fn not_done(reason: impl Into<String>) -> Denied {
        Denied::Unavailable { outcome: FailedOutcome::NotDone, reason: reason.into() }
    }

    /// The failure of a call whose outcome is unknown.
    pub fn unknown(reason: impl Into<String>) -> Denied {
        Denied::Unavailable { outcome: FailedOutcome::Unknown, reason: reason.into() }
    }
}

/// The reply to a caller.
pub type Reply = Result<Answered, Denied>;
