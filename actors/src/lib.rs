//! Order and bounds: the mutations of each merchant, one after the other; the effects that follow from them; timers.

pub mod acquirer;
mod background;
mod changes;
pub mod clock;
mod counts;
mod effects;
mod engine;
mod merchant;
mod outbox;
pub mod outgoing;
pub mod reconciliation;
mod removal;
mod store;
mod timers;
pub mod webhooks;

pub use acquirer::security_codes;
pub use clock::MerchantClocks;
pub use counts::{ActionStep, Counts, PaymentCounts, RecordCounts, RemovedRows};
pub use effects::{
    AGES_SECONDS, AccountLanes, AccountStanding, Acquirers, CallStatistics, CallTimes, DecidedCalls, OldestOpen,
    OpenEffects, call_kinds,
};
pub use engine::{Dependencies, Engine, EngineOptions, Silent, StartError, name_thread};
pub use merchant::{Answered, Denied, FailedOutcome, Reply, Secret};
pub use removal::EXPIRY_PAUSE;
pub use store::Store;
