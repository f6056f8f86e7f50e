//! The start of the program: the data directory is checked, the store is opened, and everything above it is put
//! together.

mod assembly;
mod beside;
mod bootstrap;
mod data_directory;
mod ending;
mod log_place;
mod opening;
mod running_mark;
mod shared_log;
mod stored_keyring;
mod vault_keys;

pub(crate) use assembly::{Assembly, assemble};
pub(crate) use beside::{SANDBOX_DIRECTORY, WEBHOOKS_DIRECTORY};
pub use ending::abort_with_message;
pub use opening::{Buffers, Opened, check_directory, open_with};
pub(crate) use vault_keys::{open_keyring, open_stored_keyring};
