//! Who reads a checkpoint keeps it from being pruned meanwhile.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::MANIFEST_FILE;

/// The checkpoint is not pruned as long as it lives. Any number may read one at once.
#[derive(Debug)]
pub struct Reading(#[expect(dead_code, reason = "its lock goes with it")] Option<File>);

impl Reading {
    /// Reads the checkpoint in a directory. Where its file system has no locks nobody is kept from pruning it.
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

/// Whether somebody reads a checkpoint now.
pub(super) fn is_read(directory: &Path) -> bool {
    let manifest = File::open(directory.join(MANIFEST_FILE));
    manifest.is_ok_and(|manifest| matches!(manifest.try_lock(), Err(TryLockError::WouldBlock)))
}
