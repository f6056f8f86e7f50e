//! Reports to the service manager: that the server is ready, lives or stops.

mod notifier;
mod watchdog;

pub use notifier::Notifier;
pub use watchdog::Watchdog;
