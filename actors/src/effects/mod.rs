//! Effects: open calls to acquirers, carried out at least once, and their results recorded.

mod backlog;
mod call;
mod runner;

pub(crate) use backlog::Backlog;
pub use call::Acquirers;
pub(crate) use call::{Caller, NoResult};
pub(crate) use runner::{CALLS_MAX, EffectRunner};
