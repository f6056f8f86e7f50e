//! The settings of the archive: its directory, its segments, and how far it may lag behind the store.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use till_operate::archive;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveSettings {
    /// The archive's directory; nothing is archived when absent.
    pub directory: Option<PathBuf>,
    /// A segment is closed once it has this many bytes.
    pub segment_bytes: NonZeroU64,
    /// A segment is closed once it is this old.
    pub segment_age: Duration,
    /// The interval at which the archiver looks for new commits.
    pub every: Duration,
    /// True when commits are archived before they are acknowledged.
    pub before_acknowledged: bool,
}

impl ArchiveSettings {
    /// The settings in the store's form; None when nothing is archived.
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
