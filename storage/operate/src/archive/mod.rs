//! The archive: a directory, on another disk, that every commit is streamed to, so that a store can be rebuilt from a
//! checkpoint and what came after it, up to any moment.
//!
//! An archive is a chain of segments. Each names the store that it belongs to and carries the checksum of the one
//! before, so that a missing one is noticed. The last is open: commits are added to it and synced; it is closed when it
//! is large or old enough. A segment holds the data that cannot be derived: records and rows of the vault. Format:
//! `docs/storage-format.md`, "The archive".

mod agreement;
mod archiver;
mod commit;
mod fold;
mod forgetting;
mod revoked;
mod gate;
mod chain;
mod prune;
mod queue;
mod reading;
mod refusal;
mod replay;
mod segment;
mod snapshots;
mod target;
mod from_first;
mod writer;

pub use archiver::{ArchiveSettings, ArchiveStats, Archiver};
pub use chain::{SegmentChain, SegmentInfo, SegmentState};
pub use commit::ArchivedCommit;
pub use from_first::{archived_keyring, begin_with_first};
pub use prune::prune;
pub use reading::{ArchiveCheck, check_chain, each_commit};
pub use refusal::ArchiveError;
pub use replay::{Restored, begin_anew, restore_to};
pub use segment::FORMAT;
pub use target::{Until, check_reach, earliest_moment};
pub use writer::check_place;
