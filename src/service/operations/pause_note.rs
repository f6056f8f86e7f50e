//! A restored server starts paused, since effects that were open at the time of its checkpoint may have been carried
//! out since. A note in the data directory, or beside the log in a database, records the pause until the operator ends it.

use std::io;
use std::sync::Arc;

use till_operate::checkpoint::PAUSED_FILE;

use super::notes::Notes;

/// The note which records that effects and timers are paused.
pub struct PauseNote {
    notes: Arc<dyn Notes>,
}

impl PauseNote {
    /// The note among these.
    #[must_use]
    pub fn among(notes: Arc<dyn Notes>) -> PauseNote {
        PauseNote { notes }
    }

    /// True when there is a note.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_there(&self) -> io::Result<bool> {
        Ok(self.notes.read(PAUSED_FILE)?.is_some())
    }

    /// Makes the note, durably.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn make(&self) -> io::Result<()> {
        self.notes.keep(PAUSED_FILE, &[])
    }

    /// Removes the note, durably. It may be missing already.
    ///
    /// # Errors
    /// It cannot be removed. The next start is then paused, too.
    pub fn remove(&self) -> io::Result<()> {
        self.notes.remove(PAUSED_FILE)
    }
}
