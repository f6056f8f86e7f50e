//! Effects: calls to acquirers that must happen. Each is looked up before it is made again, and its result is recorded.

mod account_lane;
mod account_lanes;
mod acquirers;
mod call_statistics;
mod calls;
mod caller;
mod decided_calls;
mod late_answers;
mod open;
mod runner;
mod times;

pub use account_lane::AccountStanding;
pub use account_lanes::AccountLanes;
pub use acquirers::Acquirers;
pub use call_statistics::CallStatistics;
pub(crate) use caller::AcquirerCaller;
pub(crate) use calls::CallSources;
pub use calls::call_kinds;
pub use decided_calls::DecidedCalls;
pub(crate) use late_answers::{LATE_ANSWERS_WAITING_MAX, record_late_answers};
pub use open::{AGES_SECONDS, OldestOpen, OpenEffects};
pub(crate) use runner::EffectRunner;
pub use times::CallTimes;
