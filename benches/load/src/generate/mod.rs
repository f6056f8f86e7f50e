//! `till-bench generate`: fills a data directory with merchants that have long been in business, through the
//! engine that serves.
//!
//! Everything follows the rules: every record is a decision on a command, every call to the sandbox is in its book,
//! every timer that was due has fired. `till verify` finds no fault in the result.

mod plan;
mod rounds;
mod clock;
mod market;
mod shop;
mod team;
mod trade;
mod progress;
mod run;

pub use plan::GenerationPlan;
pub use progress::Summary;
pub use run::generate;
