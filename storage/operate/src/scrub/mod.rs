//! Tables at rest are read from the disk, slowly, while the server runs: damage in a table that nothing reads is found while
//! the checkpoints and archives are kept that can replace it.

mod position;
mod progress;
mod scrubber;
mod table_reader;

pub use scrubber::{ScrubSettings, ScrubStats, Scrubber};
