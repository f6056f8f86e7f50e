//! A new data directory that is filled at bulk speed: nothing that is written to it is logged or synced, and all of it
//! lasts once the store is closed. As long as a file says so, nobody else opens it: what a broken-off filling leaves is
//! no store.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::copy::refuse_unfit;
use super::refusal::OpenError;

/// The file that stands in a data directory as long as it is being filled.
pub const FILLING_FILE: &str = "generate-in-progress";

/// What the file says to whoever opens it.
const NOTE: &[u8] = b"till-bench generate is filling this directory, or broke off: then remove the directory\n";

/// A directory that is being filled. Dropping it leaves the file, and with it a directory that nothing opens.
#[derive(Debug)]
pub struct Filling {
    directory: PathBuf,
}

impl Filling {
    /// Marks a directory that holds no store yet, and makes it when it is missing.
    ///
    /// # Errors
    /// [`OpenError::NotNew`], and what [`refuse_unfit`] says: one that is being filled already, for example.
    pub fn begin(directory: &Path) -> Result<Filling, OpenError> {
        refuse_unfit(directory)?;
        if !is_new(directory) {
            return Err(OpenError::NotNew { directory: directory.to_owned() });
        }
        let marker = directory.join(FILLING_FILE);
        let made = fs::create_dir_all(directory).and_then(|()| write_new(&marker, NOTE));
        let made = made.and_then(|()| sync(directory));
        made.map_err(|source| OpenError::Files { attempt: "write", path: marker, source })?;
        Ok(Filling { directory: directory.to_owned() })
    }

    /// Everything is closed, and lasts: from now on it is a data directory like any other.
    ///
    /// # Errors
    /// [`OpenError::Files`]: then it may be refused for ever, and must be made again.
    pub fn end(&self) -> Result<(), OpenError> {
        let marker = self.directory.join(FILLING_FILE);
        let removed = fs::remove_file(&marker).and_then(|()| sync(&self.directory));
        removed.map_err(|source| OpenError::Files { attempt: "remove", path: marker, source })
    }
}

/// Whether nothing is in a directory that a store would leave.
#[must_use]
pub fn is_new(directory: &Path) -> bool {
    ["db", "high-water"].iter().all(|name| !directory.join(name).exists())
}

/// Refuses a directory whose filling is under way, or was broken off.
pub(super) fn refuse_unfilled(directory: &Path) -> Result<(), OpenError> {
    let is_marked = directory.join(FILLING_FILE).exists();
    if is_marked { Err(OpenError::GenerateUnfinished { directory: directory.to_owned() }) } else { Ok(()) }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the entries of a directory durable.
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
