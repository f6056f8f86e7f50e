//! The rules: what a command would change, or why it is refused.

mod acquirer;
mod customer;
mod envelope;
mod initiate;
mod operator;
mod posting;
mod sdk;
mod sweeping;
mod timers;

pub use envelope::{Context, Decision, Outcome, decide};
