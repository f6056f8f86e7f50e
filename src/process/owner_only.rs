//! Protection against other users of the machine: files, and the memory of the process.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit, umask};

use crate::configuration::Configuration;

/// The mode bits that give access to anybody but the owner.
const OTHERS: u32 = 0o077;

/// Makes all files and directories that the process creates from now on accessible to their owner alone, whatever the
/// umask was.
pub fn make_files_for_the_owner_only() {
    umask(Mode::RWXG | Mode::RWXO);
}

/// Protects the memory of the process, with its keys and card numbers, from other processes of the same user and from
/// core files.
///
/// # Errors
/// Fails when the system refuses.
pub fn keep_memory_to_the_process() -> anyhow::Result<()> {
    // A service manager may forbid this call. Its own limit applies then, and the next call is sufficient by itself.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
        .context("failed to keep the process's memory out of core files")?;
    Ok(())
}

/// Warns of directories that other users can list.
pub(crate) fn warn_of_open_directories(configuration: &Configuration) {
    for directory in directories(configuration) {
        if let Some(mode) = open_mode(&directory) {
            let (path, mode) = (directory.display(), format!("{mode:04o}"));
            tracing::warn!(%path, mode, "other users can read this directory: chmod -R go-rwx {path}");
        }
    }
}

/// The directories named in the configuration.
fn directories(configuration: &Configuration) -> Vec<PathBuf> {
    let named = [
        Some(&configuration.data),
        Some(&configuration.checkpoints.directory),
        configuration.archive.directory.as_ref(),
    ];
    named.into_iter().flatten().cloned().collect()
}

/// The mode of a directory that other users can list.
fn open_mode(directory: &Path) -> Option<u32> {
    let metadata = fs::metadata(directory).ok()?;
    is_open_to_others(&metadata).then_some(metadata.mode() & 0o7777)
}

fn is_open_to_others(metadata: &Metadata) -> bool {
    metadata.mode() & OTHERS != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_goes_into_no_core_file() {
        use rustix::process::{DumpableBehavior, dumpable_behavior, getrlimit};
        assert!(keep_memory_to_the_process().is_ok());
        assert_eq!(dumpable_behavior().ok(), Some(DumpableBehavior::NotDumpable));
        assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
    }
}
