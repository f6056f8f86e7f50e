//! The measurement of a command, from its plan to its results.

mod bench;
mod feed;
mod measure;
mod progress;
mod result;
mod search;
mod worker;

pub use bench::{Bench, BenchResult, SearchResult, Tried};
pub use feed::Feed;
pub use progress::RunProgress;
pub use result::{Point, StepLatency};
