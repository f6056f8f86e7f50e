//! A store that is a replica of a log elsewhere: the note of how much of it the store has, and the replacement of rows
//! by those of the other place.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::family::Family;
use crate::journal::JournalError;
use crate::journal::first_commit::RemoteRows;
use crate::journal::layout::WriteSink;
use crate::keys::MetaKey;
use crate::rows::{RowError, RowRange, RowReader};

use super::Engine;

impl Engine {
    /// The note of how much of the log elsewhere this store has, which begins with the identity of that log; empty when
    /// it is no replica.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn note_of_log(&self) -> Result<Vec<u8>, RowError> {
        Ok(self.get(Family::Meta, &MetaKey::RemoteLog.encode())?.unwrap_or_default())
    }

    /// Notes that this store is a replica of a log elsewhere, which has everything that it has. From then on only what
    /// that log has may be written to it. The note is synced when the store was not opened as a replica.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn begin_replicating(&self, note: &[u8]) -> Result<(), JournalError> {
        self.write_apart(|sink| {
            sink.put(Family::Meta, &MetaKey::RemoteLog.encode(), note);
            Ok(None)
        })
    }

    /// Makes a replica of a log elsewhere a store of its own, durably.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn end_replicating(&self) -> Result<(), JournalError> {
        self.write_apart(|sink| {
            sink.delete(Family::Meta, &MetaKey::RemoteLog.encode());
            Ok(None)
        })?;
        self.write_out().map_err(|reason| JournalError::Stopped { reason })?;
        let marked = self.mark().advance(self.last_commit()).and_then(|()| self.mark().sync());
        marked.map_err(|error| JournalError::Stopped { reason: error.to_string() })
    }

    /// Makes the rows of a range those of another place.
    ///
    /// # Errors
    /// Fails when the store cannot be read or written.
    pub fn replace_rows(&self, there: &RemoteRows) -> Result<(), JournalError> {
        let RemoteRows { family, range: (lower, upper), rows } = there;
        let kept: HashSet<&[u8]> = rows.iter().map(|(key, _)| key.as_slice()).collect();
        self.write_apart(|sink| {
            self.visit(RowRange::forward(*family, lower, upper), &mut |key, _| {
                if !kept.contains(key) {
                    sink.delete(*family, key);
                }
                ControlFlow::Continue(())
            })?;
            rows.iter().for_each(|(key, value)| sink.put(*family, key, value));
            Ok(None)
        })
    }
}
