//! Effects: calls to acquirers that must happen. Each is made at least once, and its result is recorded.

mod call;
mod decided_calls;
mod late_answers;
mod open;
mod runner;

pub(crate) use call::AcquirerCaller;
pub use call::Acquirers;
pub use decided_calls::DecidedCalls;
pub(crate) use decided_calls::decided_call;
pub(crate) use late_answers::{LATE_ANSWERS_WAITING_MAX, record_late_answers};
pub use open::{AGES_SECONDS, OldestOpen, OpenEffects};
pub(crate) use runner::EffectRunner;
