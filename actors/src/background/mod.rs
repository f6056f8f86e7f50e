//! Work in the background: a queue of subjects that have something due, and a scheduler that serves a few at a time and
//! repeats failed attempts.

mod queue;
mod scheduler;

pub(crate) use queue::{AT_ONCE, Queue, Retry};
pub(crate) use scheduler::{Failure, Scheduler, Served, Work};
