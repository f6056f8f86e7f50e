//! The state of the server as an operator asks for it: what it does now, the last minute, and conditions of alerts.

mod conditions;
mod last_minute;
mod observation;
mod status;

pub(crate) use observation::{Calls, EngineObservation, Observation};
pub(crate) use status::{ServerState, ServerStatus};
