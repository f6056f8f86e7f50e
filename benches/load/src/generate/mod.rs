//! `till-bench generate`: fills a data directory with merchants that have long been in business, through the
//! engine that serves.
//!
//! Nothing is made up beside the rules: every record is a decision on a command, every call to the sandbox stands in
//! its book, every timer has fired that was due. `till verify` finds nothing to say about it.

mod plan;
mod rounds;
mod clock;
mod market;
mod shop;
mod team;
mod trade;
mod progress;
mod run;

pub use plan::{Plan, Share};
pub use progress::Summary;
pub use run::generate;
