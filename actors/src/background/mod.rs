//! Work in the background: a queue of subjects that have something due, and a scheduler that serves a few at a time and
//! repeats failed attempts.

mod in_flight;
mod pause;
mod queue;
mod rows;
mod scheduler;
mod throttle;

pub(crate) use in_flight::{InFlight, Permit};
pub(crate) use pause::Pause;
pub(crate) use queue::{AT_ONCE, Lanes, Retry, WorkQueue};
pub(crate) use rows::BackgroundRows;
pub(crate) use scheduler::{BackgroundWork, Scheduler, Served, WorkError};
pub(crate) use throttle::ScanThrottle;
