//! Small notes that the server keeps for its next start: files of the data directory, or rows beside a log in a
//! database.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use till_operate::checkpoint::PAUSED_FILE;
use till_shared::SharedJournal;

/// The names of all notes. A server starts paused with the first, since calls that were open at the time of its
/// checkpoint may have been made since; it is there until the operator resumes.
pub(crate) const NOTES: [&str; 2] = [PAUSED_FILE, LAST_USED_NOTE];

/// The name of the note of the last use of keys.
pub(in crate::service) const LAST_USED_NOTE: &str = "keys-last-used";

/// A place of small notes, each under a name.
pub trait Notes: Send + Sync {
    /// The note; none when there is none under the name.
    ///
    /// # Errors
    /// The place cannot be read.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Keeps a note, durably and as a whole, or removes it, which may be missing already.
    ///
    /// # Errors
    /// The place cannot be written to.
    fn keep(&self, name: &str, value: Option<&[u8]>) -> io::Result<()>;
}

/// Files of a data directory.
#[derive(Debug)]
pub struct NoteFiles(pub PathBuf);

impl Notes for NoteFiles {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.0.join(name)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn keep(&self, name: &str, value: Option<&[u8]>) -> io::Result<()> {
        let (file, unfinished) = (self.0.join(name), self.0.join(name).with_extension("unfinished"));
        match value {
            Some(value) => {
                fs::write(&unfinished, value)?;
                File::open(&unfinished)?.sync_all()?;
                fs::rename(unfinished, file)?;
            }
            None => match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            },
        }
        File::open(&self.0)?.sync_all()
    }
}

impl Notes for SharedJournal {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.note(name).map_err(io::Error::other)
    }

    fn keep(&self, name: &str, value: Option<&[u8]>) -> io::Result<()> {
        self.keep_note(name, value).map_err(io::Error::other)
    }
}
