//! Checks checkpoints.

use std::io;
use std::path::Path;

use till_storage::engine::StoppedStore;

use crate::durable;

use super::checksum::{self, FileFault, FileWrong};
use super::manifest::{Manifest, ManifestFault};
use super::{CheckpointError, HEADS_FILE, MANIFEST_FILE, UNFINISHED_SUFFIX, heads};

/// Reads the manifest of a checkpoint.
///
/// # Errors
/// [`CheckpointError`]: it is not a checkpoint, unfinished, newer, or its manifest is damaged.
pub fn read_manifest(directory: &Path) -> Result<Manifest, CheckpointError> {
    let unfinished = directory.as_os_str().to_string_lossy().trim_end_matches('/').ends_with(UNFINISHED_SUFFIX);
    if unfinished && directory.is_dir() {
        return Err(CheckpointError::Unfinished { directory: directory.to_owned() });
    }
    let file = directory.join(MANIFEST_FILE);
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(CheckpointError::NoManifest { directory: directory.to_owned() });
        }
        Err(source) => return Err(CheckpointError::Files { attempt: "read", path: file, source }),
    };
    Manifest::decode(&bytes).map_err(|fault| match fault {
        ManifestFault::Newer(found) => CheckpointError::FormatTooNew { found },
        ManifestFault::Damaged(what) => CheckpointError::ManifestDamaged { file, what },
    })
}

/// Reads every file of a checkpoint and compares it with the manifest; `tell` is called with each file's bytes.
///
/// # Errors
/// [`CheckpointError::Damaged`] with every fault; an error of the system when the directory cannot be listed.
pub fn check_files(directory: &Path, manifest: &Manifest, tell: &mut dyn FnMut(u64)) -> Result<(), CheckpointError> {
    let mut faults = Vec::new();
    for entry in &manifest.files {
        faults.extend(checksum::fault(directory, entry));
        tell(entry.bytes);
    }
    let there = durable::files(directory).map_err(CheckpointError::files("list", directory))?;
    let listed = |path: &Path| manifest.files.binary_search_by(|entry| entry.path.as_path().cmp(path)).is_ok();
    let unlisted = there.into_iter().filter(|path| path != Path::new(MANIFEST_FILE) && !listed(path));
    faults.extend(unlisted.map(|path| FileFault { path, wrong: FileWrong::Unlisted }));
    match faults.is_empty() {
        true => Ok(()),
        false => Err(CheckpointError::Damaged { directory: directory.to_owned(), faults }),
    }
}

/// Compares the heads of the logs in a checkpoint's store with those that were noted, and returns the first that
/// differs.
///
/// # Errors
/// An error when the store or the list cannot be read.
pub fn compare_heads(directory: &Path, store: &StoppedStore) -> Result<Option<String>, CheckpointError> {
    heads::first_difference(store, &directory.join(HEADS_FILE))
}
