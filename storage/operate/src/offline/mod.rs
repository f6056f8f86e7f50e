//! Reads a store that no server uses, a data directory or a checkpoint, and shows it to operators.

// Sources.
mod source;

// Parts of records and rows as JSON.
mod parts;
mod event;
mod log_record;

// Tools for operators.
mod export;
mod inspect;
mod payments_of;

pub use export::{ApiObject, Export, ExportFile, ExportSummary};
pub use inspect::{Inspect, RecordSelection};
pub use payments_of::payments_of;
pub use source::{OpenKeyring, Source};
