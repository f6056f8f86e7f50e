//! Protects a checkpoint from being pruned while it is read.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::MANIFEST_FILE;

/// Protects a checkpoint from being pruned as long as it lives. There may be any number for one checkpoint.
#[derive(Debug)]
pub struct Reading(#[expect(dead_code, reason = "its lock goes with it")] Option<File>);

impl Reading {
    /// Begins to read the checkpoint in a directory. A file system without locks gives no protection.
    #[must_use]
    pub fn begin(directory: &Path) -> Reading {
        let locked = || -> io::Result<File> {
            let manifest = File::open(directory.join(MANIFEST_FILE))?;
            manifest.lock_shared()?;
            Ok(manifest)
        };
        Reading(locked().ok())
    }
}

/// True when a checkpoint is being read.
pub(super) fn is_read(directory: &Path) -> bool {
    let manifest = File::open(directory.join(MANIFEST_FILE));
    manifest.is_ok_and(|manifest| matches!(manifest.try_lock(), Err(TryLockError::WouldBlock)))
}
