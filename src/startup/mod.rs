//! The start of the program: the data directory is checked, the store is opened, and everything above it is put
//! together.

mod assembly;
mod bootstrap;
mod data_directory;
mod running_mark;
mod shared_log;
mod vault_keys;

pub(crate) use assembly::{Assembly, assemble};
pub use bootstrap::{Buffers, Opened, abort_with_message, check_directory, open_with};
pub(crate) use bootstrap::{SANDBOX_DIRECTORY, WEBHOOKS_DIRECTORY};
pub(crate) use vault_keys::{open_keyring, open_stored_keyring};
