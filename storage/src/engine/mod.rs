//! The store on disk: RocksDB, opened so that nothing acknowledged can be missing without a word.

mod copy;
mod disk;
mod endless;
mod format;
pub mod high_water;
pub mod log_scan;
mod manifest;
mod mark_keeper;
mod open;
mod options;
mod read;
mod refusal;
mod settings;
mod stopped;
mod store;
pub mod table_damage;
mod time_limit;

pub(crate) use copy::mark_copy;
pub use copy::refuse_unfit;
pub use format::{FORMAT, ROW_FORMAT};
pub use options::EngineOptions;
pub use refusal::{CloseError, OpenError, Place};
pub use stopped::StoppedStore;
pub use store::Engine;
