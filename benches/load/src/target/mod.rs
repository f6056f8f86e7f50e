//! The server that is measured: one that runs, or one of our own.

mod address;
mod own_server;
mod server;
mod trust;

pub use address::{ServerAddress, server_address};
#[cfg(target_os = "linux")]
pub use own_server::become_server;
pub use own_server::{BECOME_SERVER, OwnServer, ServerSetting};
pub use server::{Access, ExistingMerchant, OperatorAccess, TargetServer};
pub use trust::Trust;
