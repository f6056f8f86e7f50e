//! Payments at real acquirers: the server beside the fake of Stripe, each a process that a test may kill.

pub(crate) mod fake;
pub(crate) mod account;
mod numbers;
mod customers;
mod declines;
mod bad_answers;
mod restarts;
mod guide;
mod silence;
mod restore;
mod campaign;
mod memory;
