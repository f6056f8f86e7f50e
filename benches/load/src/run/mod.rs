//! The measurement of a command, from its plan to its results.

mod bench;
mod measure;
mod progress;
mod result;
mod search;
mod worker;

pub use bench::{Bench, BenchResult, Miss, SearchResult, Tried};
pub use progress::RunProgress;
pub use result::{Point, StepLatency, Wrong};
