//! Callers: the installation that a call of an SDK names, and the time of each key's last use.

mod installation;
mod last_used;

pub use installation::{NamedInstallation, SdkCaller};
pub use last_used::LastUsed;
