//! A restored server starts paused, since effects that were open at the time of its checkpoint may have been carried
//! out since. A file in the data directory records the pause until the operator ends it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use till_operate::checkpoint::PAUSED_FILE;

/// The file which records that a data directory's effects and timers are paused.
#[derive(Debug)]
pub struct PauseNote {
    directory: PathBuf,
}

impl PauseNote {
    /// The file of a data directory.
    #[must_use]
    pub fn of(directory: &Path) -> PauseNote {
        PauseNote { directory: directory.to_owned() }
    }

    /// True when the file exists.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.directory.join(PAUSED_FILE).exists()
    }

    /// Creates the file, durably.
    ///
    /// # Errors
    /// An error of the system.
    pub fn make(&self) -> io::Result<()> {
        File::create(self.directory.join(PAUSED_FILE))?.sync_all()?;
        File::open(&self.directory)?.sync_all()
    }

    /// Removes the file, durably. It may be missing already.
    ///
    /// # Errors
    /// An error of the system. The next start is then paused, too.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(self.directory.join(PAUSED_FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => File::open(&self.directory)?.sync_all(),
        }
    }
}
