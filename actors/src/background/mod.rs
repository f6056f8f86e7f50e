//! Work in the background: what is due of whom, served a few at a time, and tried again when it fails.

mod queue;
mod scheduler;

pub(crate) use queue::{AT_ONCE, Queue, Retry};
pub(crate) use scheduler::{Scheduler, Served, Work};
