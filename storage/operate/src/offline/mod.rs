//! What operators read of a store that no server uses, and how it is shown: a data directory, or a checkpoint.

// Where it is read from.
mod source;

// How what happened is shown.
mod parts;
mod event;
mod log_record;

// What is made of it.
mod export;
mod inspect;

pub use export::{ApiShapes, Export, ExportSummary, What};
pub use inspect::{Inspect, Selection};
pub use log_record::kinds_of;
pub use source::{OpenKeyring, Source};
