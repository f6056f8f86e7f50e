//! Copies of all data of a running server, and restores from them.
//!
//! A checkpoint is a directory of the same shape as a data directory, without secrets: `db/`, the directories of books
//! beside the store, and `high-water`, with the heads of all logs (`heads`) and a list of every file with its checksum
//! (`checkpoint-manifest`). It is made under another name and renamed when all of it is durable, so that a directory
//! with the right name is complete. Format: `docs/storage-format.md`, "Checkpoints".

mod beside;
mod checksum;
mod copying;
mod create;
mod heads;
pub mod manifest;
mod throttle;
mod log_wait;
mod read;
mod reading;
mod refusal;
mod restore;
mod shelf;
mod stage;

pub use till_storage::engine::{MANIFEST_FILE, RESTORING_FILE};

pub use beside::BookBeside;
pub use checksum::{FileFault, FileWrong};
pub use create::{CheckpointRequest, Checkpointer, TakenCheckpoint};
pub use manifest::Manifest;
pub use read::{check_files, compare_heads, read_manifest};
pub use reading::Reading;
pub use refusal::CheckpointError;
pub use restore::{CopyProgress, Restoring};
pub use shelf::{CheckpointStatus, KeptCheckpoint, Shelf};
pub use stage::CheckpointStage;

/// File in a restored data directory that exists until the operator lets effects and timers are resumed.
pub const PAUSED_FILE: &str = "effects-paused";

/// Suffix of a checkpoint's directory while it is being made.
const UNFINISHED_SUFFIX: &str = ".in-progress";

/// Directory inside a data directory for the links of a checkpoint that is being made.
const STAGING_DIRECTORY: &str = "checkpoint-staging";

/// The database, below a data directory and a checkpoint.
const DATABASE_DIRECTORY: &str = "db";

/// The heads of all logs, below a checkpoint.
const HEADS_FILE: &str = "heads";
