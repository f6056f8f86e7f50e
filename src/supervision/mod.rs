//! Reports to the service manager: that the server is ready, lives or stops.

mod notifier;
mod pulse;
mod watchdog;

pub use notifier::Notifier;
pub use pulse::Pulse;
pub use watchdog::Watchdog;
