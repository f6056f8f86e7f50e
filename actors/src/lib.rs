//! Order and bounds: each merchant's mutations, one after the other; what follows from them; what comes due.

pub mod acquirer;
mod bounds;
mod bulk;
pub mod clock;
mod effects;
mod engine;
mod followups;
mod merchant;
mod named_tasks;
mod pause;
mod registry;
mod reply;
pub mod security_codes;
mod store;
mod sweeper;
mod sweeping;
mod swept;
mod timers;

pub use bulk::{BulkLoader, BulkMerchant, BulkMode};
pub use effects::Acquirers;
pub use engine::{Engine, EngineOptions, Foundations, Silent, StartError};
pub use merchant::Secret;
pub use registry::Limits;
pub use reply::{Answered, Denied, FailedOutcome, Reply};
pub use store::Store;
pub use sweeping::SWEEP_PAUSE;
pub use swept::SweptRows;
