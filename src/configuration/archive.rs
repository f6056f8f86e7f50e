//! Where commits are archived, and how far that may fall behind.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use till_operate::archive;

/// How the store is archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveSettings {
    /// Where to; nowhere when absent.
    pub directory: Option<PathBuf>,
    /// Bytes from which a segment is closed.
    pub segment_bytes: NonZeroU64,
    /// Age from which one is closed.
    pub segment_age: Duration,
    /// Time between two looks for commits to archive.
    pub every: Duration,
    /// Whether commits are archived before they are acknowledged.
    pub before_acknowledged: bool,
}

impl ArchiveSettings {
    /// As the store takes them; none when nothing is archived.
    #[must_use]
    pub fn of_store(&self) -> Option<archive::ArchiveSettings> {
        Some(archive::ArchiveSettings {
            directory: self.directory.clone()?,
            segment_bytes: self.segment_bytes.get(),
            segment_age: self.segment_age,
            every: self.every,
            before_acknowledged: self.before_acknowledged,
        })
    }
}
