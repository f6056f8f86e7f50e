//! Merchants' actors: each orders its merchant's mutations, and nothing else; the registry starts them on demand.

mod reply;
mod actor;
mod loaded;
mod loader;
mod rows_at_hand;
mod context;
mod watermark;
mod load;
mod staged;
mod staging;
mod submission;
mod vault_writes;
mod registry;

pub(crate) use context::SharedContext;
pub(crate) use loader::{Loader, LoaderThreads};
pub(crate) use registry::{Admission, Registry};
pub use reply::{Answered, Denied, FailedOutcome, Reply};
pub use submission::Secret;
