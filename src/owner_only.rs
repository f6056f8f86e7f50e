//! Protection against other users of the machine: files, and the memory of the process.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, geteuid, setrlimit, umask};

use crate::configuration::Configuration;

/// The mode bits that give access to anybody but the owner.
const OTHERS: u32 = 0o077;

/// Files and directories that earlier versions created in the data directory with modes by the umask, so that other
/// users could read them. All files are created for the owner alone now, so this list does not grow.
const MADE_BEFORE: [&str; 12] = [
    "db",
    "sandbox",
    "checkpoints",
    "checkpoint-staging",
    "db-before-repair",
    "high-water",
    "keys-last-used",
    "archive-known",
    "checkpoints-known",
    "effects-paused",
    "table-damaged",
    "shelf.lock",
];

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

/// Removes other users' access to files that earlier versions created in the data directory: a user who can open the
/// high-water mark can lock it, and so keep the server from starting. Warns of directories that other users can still
/// list.
///
/// # Errors
/// Fails when a mode cannot be changed.
pub fn close_to_others(configuration: &Configuration) -> anyhow::Result<()> {
    for name in MADE_BEFORE {
        let path = configuration.data.join(name);
        if tighten(&path)
            .with_context(|| format!("failed to withdraw the permissions of other users from {}", path.display()))?
        {
            tracing::warn!(path = %path.display(), "other users could read this; now only its owner can");
        }
    }
    for directory in directories(configuration) {
        if let Some(mode) = open_mode(&directory) {
            let (path, mode) = (directory.display(), format!("{mode:04o}"));
            tracing::warn!(%path, mode, "other users can read this directory: chmod -R go-rwx {path}");
        }
    }
    Ok(())
}

/// Removes other users' access to a file or directory, if it exists and belongs to this user. True when they had
/// access.
fn tighten(path: &Path) -> io::Result<bool> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(false) };
    let is_ours = metadata.uid() == geteuid().as_raw();
    if metadata.is_symlink() || !is_ours || !is_open_to_others(&metadata) {
        return Ok(false);
    }
    fs::set_permissions(path, Permissions::from_mode(metadata.mode() & 0o7777 & !OTHERS))?;
    Ok(true)
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

    #[test]
    fn access_of_others_is_removed_and_links_are_not_followed() {
        let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let (file, link) = (directory.path().join("high-water"), directory.path().join("db"));
        assert!(fs::write(&file, "mark").is_ok() && std::os::unix::fs::symlink(&file, &link).is_ok());
        assert!(fs::set_permissions(&file, Permissions::from_mode(0o664)).is_ok());
        assert_eq!(tighten(&link).ok(), Some(false));
        assert_eq!(fs::metadata(&file).map(|found| found.mode() & 0o777).ok(), Some(0o664));
        assert_eq!(tighten(&file).ok(), Some(true));
        assert_eq!(fs::metadata(&file).map(|found| found.mode() & 0o777).ok(), Some(0o600));
        assert_eq!((tighten(&file).ok(), tighten(&directory.path().join("none")).ok()), (Some(false), Some(false)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_goes_into_no_core_file() {
        use rustix::process::{DumpableBehavior, dumpable_behavior, getrlimit};
        assert!(keep_memory_to_the_process().is_ok());
        assert_eq!(dumpable_behavior().ok(), Some(DumpableBehavior::NotDumpable));
        assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
    }
}
