//! Small notes that the server keeps for its next start: files of the data directory, or rows beside a log in a database.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use till_operate::checkpoint::PAUSED_FILE;
use till_shared::SharedJournal;

/// The names of all notes.
pub const NOTES: [&str; 2] = [PAUSED_FILE, LAST_USED_NOTE];

/// The name of the note of the last use of keys.
pub(in crate::service) const LAST_USED_NOTE: &str = "keys-last-used";

/// A place of small notes, each under a name.
pub trait Notes: Send + Sync {
    /// The note; none when there is none under the name.
    ///
    /// # Errors
    /// The place cannot be read.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Keeps a note, durably and as a whole.
    ///
    /// # Errors
    /// The place cannot be written to.
    fn keep(&self, name: &str, value: &[u8]) -> io::Result<()>;

    /// Removes a note, durably. It may be missing already.
    ///
    /// # Errors
    /// The place cannot be written to.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// Files of a data directory.
#[derive(Debug)]
pub struct NoteFiles(pub PathBuf);

impl NoteFiles {
    fn sync(&self) -> io::Result<()> {
        File::open(&self.0)?.sync_all()
    }
}

impl Notes for NoteFiles {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.0.join(name)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn keep(&self, name: &str, value: &[u8]) -> io::Result<()> {
        let (file, unfinished) = (self.0.join(name), self.0.join(name).with_extension("unfinished"));
        fs::write(&unfinished, value)?;
        File::open(&unfinished)?.sync_all()?;
        fs::rename(unfinished, file)?;
        self.sync()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => self.sync(),
        }
    }
}

impl Notes for SharedJournal {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.note(name).map_err(io::Error::other)
    }

    fn keep(&self, name: &str, value: &[u8]) -> io::Result<()> {
        self.keep_note(name, Some(value)).map_err(io::Error::other)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.keep_note(name, None).map_err(io::Error::other)
    }
}
