//! A file that exists in the data directory while a server runs on it. It reveals a plain copy of such a directory,
//! whose files may be of different times, and whose server would call the acquirer in parallel with the original.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of the file. Its content is the number of its own inode, which differs for a copy.
const FILE: &str = "running";

/// The file of a running server. It remains when the server is killed.
pub(crate) struct RunningMark {
    file: PathBuf,
}

impl RunningMark {
    /// True when a data directory is a copy of one on which a server was running or had been killed.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn is_of_a_copy(data: &Path) -> io::Result<bool> {
        let file = data.join(FILE);
        let inode = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        Ok(!inode.is_empty() && inode != file.metadata()?.ino().to_string())
    }

    /// Creates the file of this server.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn make(data: &Path) -> io::Result<RunningMark> {
        let path = data.join(FILE);
        let mut file = File::create(&path)?;
        let inode = file.metadata()?.ino();
        write!(file, "{inode}")?;
        file.sync_all()?;
        Ok(RunningMark { file: path })
    }

    /// Removes the file, once the store is closed.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn remove(self) -> io::Result<()> {
        fs::remove_file(self.file)
    }
}
