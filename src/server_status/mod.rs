//! The state of the server as an operator asks for it: what it does now, the last minute, and conditions of alerts.

mod conditions;
mod last_minute;
mod status;

pub use conditions::conditions;
pub use last_minute::LastMinute;
pub use status::{ServerState, ServerStatus};
