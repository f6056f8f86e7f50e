//! Reports to the service manager: that the server is ready, lives or stops.

mod notifier;
mod watchdog;

pub(crate) use notifier::Notifier;
pub(crate) use watchdog::Watchdog;
