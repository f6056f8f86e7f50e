//! Makes a data directory from a checkpoint. Files are copied, never linked.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::durable;

use super::checksum::{self, FileFault, FileWrong};
use super::manifest::{Manifest, ManifestEntry};
use super::{CheckpointError, HEADS_FILE, PAUSED_FILE, RESTORING_FILE};

/// The progress of copying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// Bytes copied.
    pub bytes: u64,
    /// Bytes in all.
    pub bytes_total: u64,
}

/// A data directory that must not be used before it is verified: a file in it says so, and no server starts on it.
#[derive(Debug)]
pub struct Restoring {
    directory: PathBuf,
}

impl Restoring {
    /// Checks that a directory can be restored to: it is missing, or empty.
    ///
    /// # Errors
    /// [`CheckpointError::InUse`], [`CheckpointError::NotEmpty`].
    pub fn check_target(to: &Path) -> Result<(), CheckpointError> {
        let is_empty = match fs::read_dir(to) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(source) => return Err(CheckpointError::Files { attempt: "list", path: to.to_owned(), source }),
        };
        if is_empty {
            return Ok(());
        }
        let mark = File::open(to.join("high-water"));
        if mark.is_ok_and(|mark| matches!(mark.try_lock(), Err(TryLockError::WouldBlock))) {
            return Err(CheckpointError::InUse { directory: to.to_owned() });
        }
        Err(CheckpointError::NotEmpty { directory: to.to_owned() })
    }

    /// Begins a restore of a new store, from an archive alone.
    ///
    /// # Errors
    /// An error of the system.
    pub fn of_new_store(archive: &Path, to: &Path) -> Result<Restoring, CheckpointError> {
        begin(archive, to).map_err(CheckpointError::files("begin to restore to", to))?;
        Ok(Restoring { directory: to.to_owned() })
    }

    /// Copies the files of a checkpoint that a data directory needs, and syncs them. Every checksum is compared on the
    /// way.
    ///
    /// # Errors
    /// The errors of [`Restoring::check_target`]; [`CheckpointError::Damaged`] for a file that is not what was written.
    /// Files that were copied by then stay, and no server starts on them.
    pub fn copy(
        from: &Path,
        manifest: &Manifest,
        to: &Path,
        tell: &mut dyn FnMut(CopyProgress),
    ) -> Result<Restoring, CheckpointError> {
        Restoring::check_target(to)?;
        begin(from, to).map_err(CheckpointError::files("begin to restore to", to))?;
        let mut progress = CopyProgress { bytes: 0, bytes_total: manifest.byte_count() };
        for entry in manifest.files.iter().filter(|entry| entry.path != Path::new(HEADS_FILE)) {
            copy_file(from, entry, to)?;
            progress.bytes = progress.bytes.saturating_add(entry.bytes);
            tell(progress);
        }
        durable::sync_tree(to).map_err(CheckpointError::files("sync", to))?;
        Ok(Restoring { directory: to.to_owned() })
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Notes that it was verified: a server may start on it from now on.
    ///
    /// # Errors
    /// An error of the system.
    pub fn finish(self) -> Result<(), CheckpointError> {
        let marker = self.directory.join(RESTORING_FILE);
        let finished = fs::remove_file(&marker).and_then(|()| durable::sync_directory(&self.directory));
        finished.map_err(CheckpointError::files("remove", &marker))
    }
}

/// Creates the directory, and before anything else in it the file that says that it must not be used yet. Another file
/// stays: it keeps effects and timers paused.
fn begin(from: &Path, to: &Path) -> io::Result<()> {
    let is_ours = !to.exists();
    durable::make_directory(to)?;
    if is_ours {
        fs::set_permissions(to, Permissions::from_mode(0o700))?; // The logs are private to the owner.
    }
    durable::write_new(&to.join(RESTORING_FILE), format!("{}\n", from.display()).as_bytes())?;
    durable::write_new(&to.join(PAUSED_FILE), b"")?;
    durable::sync_directory(to)
}

fn copy_file(from: &Path, entry: &ManifestEntry, to: &Path) -> Result<(), CheckpointError> {
    let (source, target) = (from.join(&entry.path), to.join(&entry.path));
    let copied = || {
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        let mut file = File::create_new(&target)?;
        let copied = checksum::of(File::open(&source)?, &mut file)?;
        file.sync_all()?;
        Ok(copied)
    };
    let (bytes, hash) = copied().map_err(CheckpointError::files("copy", &source))?;
    if (bytes, hash) == (entry.bytes, entry.hash) {
        return Ok(());
    }
    let faults = vec![FileFault { path: entry.path.clone(), wrong: FileWrong::Checksum }];
    Err(CheckpointError::Damaged { directory: from.to_owned(), faults })
}
