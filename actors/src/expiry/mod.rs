//! Expiry: expired rows are found among the committed ones, and their merchant is asked to remove them.
//!
//! Nothing but rows decides: what is remembered between two looks only saves looking again. The rules look once
//! more at whatever is named to them, so that a wrong guess removes nothing.

mod pace;
mod remover;
mod walk;

pub(crate) use pace::Pace;
pub use remover::EXPIRY_PAUSE;
pub(crate) use remover::Remover;
pub(crate) use walk::Walk;
