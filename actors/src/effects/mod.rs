//! Effects: open calls to acquirers, carried out at least once, and their results recorded.

mod call;
mod runner;

pub use call::Acquirers;
pub(crate) use call::Caller;
pub(crate) use runner::EffectRunner;
