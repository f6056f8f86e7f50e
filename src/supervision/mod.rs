//! Telling the service manager how the process is doing: that it is ready, that it lives, that it stops.

mod notifier;
mod pulse;
mod watchdog;

pub use notifier::Notifier;
pub use pulse::Pulse;
pub use watchdog::Watchdog;
