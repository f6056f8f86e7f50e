//! Sweeping: what has expired is found in the committed rows, and its merchant is asked to remove it.
//!
//! Nothing but rows decides: what is remembered between two looks only saves looking again. The rules look once
//! more at whatever is named to them, so that a wrong guess removes nothing.

mod pace;
mod sweeper;
mod walk;

pub use sweeper::SWEEP_PAUSE;
pub(crate) use sweeper::Sweeper;
pub(crate) use walk::Walk;
