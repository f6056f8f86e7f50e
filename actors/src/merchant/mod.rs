//! The merchant actor: it orders a merchant's mutations, and nothing else.

mod actor;
mod watermark;
mod load;
mod staged;
mod staging;
mod submission;
mod vault_writes;

pub(crate) use actor::{MerchantActor, Retire, SharedContext};
pub(crate) use staged::Changes;
pub use submission::Secret;
pub(crate) use submission::{Held, Requester, Submit};
