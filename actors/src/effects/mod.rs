//! Effects: calls to acquirers that must happen. Each is made at least once, and its result is recorded.

mod call;
mod late_answers;
mod open;
mod runner;

pub(crate) use call::AcquirerCaller;
pub use call::Acquirers;
pub(crate) use late_answers::{LATE_ANSWERS_WAITING_MAX, record_late_answers};
pub use open::{AGES_SECONDS, OpenEffects};
pub(crate) use runner::EffectRunner;
