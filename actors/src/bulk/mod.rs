//! Many commands at full speed, for filling a store that nobody serves: decided, folded, recorded and written as
//! an actor's are, and waited for in hundreds instead of one by one.

mod loader;
mod merchant;
mod writer;
mod written;

pub use loader::{BulkLoader, BulkMode};
pub use merchant::BulkMerchant;
