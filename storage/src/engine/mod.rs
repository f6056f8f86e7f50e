//! The local bytes of a store: RocksDB, opened so that acknowledged commits cannot go missing silently.

mod auxiliary;
mod batch;
mod copy;
mod disk;
mod file_watch;
mod replica;
mod format;
pub mod high_water;
mod identity;
mod local;
mod manifest;
mod mark_keeper;
mod noting;
mod open;
mod options;
mod read;
mod record_headers;
mod refusal;
mod settings;
mod stopped;
pub mod table_damage;
mod time_limit;
mod unlogged;
mod statistics;

pub use auxiliary::{
    AuxiliaryDatabase, POSITION_KEY, RowReplica, TakeRows, auxiliary_database_options, check_synced_logs, link_database,
};
pub use copy::{
    BEFORE_DIRECTORY, MANIFEST_FILE, REPAIRED_DIRECTORY, RESTORING_FILE, is_repair_unfinished, mark_copy, refuse_unfit,
};
pub use disk::{DiskReserve, free_bytes};
pub use file_watch::{FileWatch, OnFileGone};
pub use format::{FORMAT, ROW_FORMAT};
pub use identity::StoreIdentity;
pub use local::Engine;
pub use open::is_new;
pub use options::{EngineOptions, ReplicatedLog};
pub(crate) use read::walk;
pub use refusal::{CloseError, OpenError};
pub use stopped::{HeldDirectory, StoppedStore};
pub use time_limit::{NoResult, run_within};
pub use unlogged::{Unlogged, UnloggedWrite};
