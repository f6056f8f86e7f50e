//! Order and bounds: the mutations of each merchant, one after the other; the effects that follow from them; timers.

pub mod acquirer;
mod background;
mod bounds;
mod calendar;
pub mod clock;
mod effects;
mod engine;
mod erasure;
mod expiry;
mod merchant;
mod metadata_garbage;
mod outbox;
mod overdrawn;
mod pause;
mod payment_outcomes;
mod registry;
mod removed_rows;
mod reply;
pub mod security_codes;
mod store;
mod test_clock;
mod timers;
pub mod webhooks;

pub use effects::{AGES_SECONDS, Acquirers, OpenEffects};
pub use engine::{Dependencies, Engine, EngineOptions, Silent, StartError};
pub use expiry::EXPIRY_PAUSE;
pub use merchant::Secret;
pub use payment_outcomes::{FAILURE_CODES, PaymentCounts};
pub use removed_rows::RemovedRows;
pub use reply::{Answered, Denied, FailedOutcome, Reply};
pub use store::Store;
pub use test_clock::MerchantClocks;
