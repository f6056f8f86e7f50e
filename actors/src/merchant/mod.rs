//! Merchants' actors: each orders its merchant's mutations, and nothing else; the registry starts them on demand.

mod in_flight;
mod reply;
mod actor;
mod watermark;
mod load;
mod staged;
mod staging;
mod submission;
mod vault_writes;
mod registry;

pub(crate) use actor::SharedContext;
pub(crate) use in_flight::{InFlight, Permit};
pub(crate) use registry::{Admission, Registry};
pub use reply::{Answered, Denied, FailedOutcome, Reply};
pub(crate) use staged::Changes;
pub use submission::Secret;
