//! A restored server begins paused: what was open at the moment of its checkpoint may have been done elsewhere
//! since. A file in the data directory says so until the operator has it go on.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use till_operate::checkpoint::PAUSED_FILE;

/// The file that says that a data directory's effects and timers are paused.
#[derive(Debug)]
pub struct PauseNote {
    directory: PathBuf,
}

impl PauseNote {
    /// That of a data directory.
    #[must_use]
    pub fn of(directory: &Path) -> PauseNote {
        PauseNote { directory: directory.to_owned() }
    }

    /// Whether it is there.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.directory.join(PAUSED_FILE).exists()
    }

    /// Makes it, durably.
    ///
    /// # Errors
    /// The system's.
    pub fn make(&self) -> io::Result<()> {
        File::create(self.directory.join(PAUSED_FILE))?.sync_all()?;
        File::open(&self.directory)?.sync_all()
    }

    /// Takes it away, durably; it may be gone already.
    ///
    /// # Errors
    /// The system's: then it counts at the next start.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(self.directory.join(PAUSED_FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => File::open(&self.directory)?.sync_all(),
        }
    }
}
