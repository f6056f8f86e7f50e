//! The archive as the commit thread sees it when a commit is archived before it is written, and so before it is
//! acknowledged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_storage::archive_queue::vault_of;
use till_storage::journal::first_commit::{FirstCommit, FirstVerdict};
use till_storage::journal::{Append, CommitNumber};

use super::ArchiveError;
use super::commit::{ArchivedCommit, GroupPosition};
use super::writer::Writer;

/// Time between two lines of the log about the same failure.
const LOGGED_EVERY: Duration = Duration::from_secs(60);

/// A failure to write to the archive, and the time at which it was logged last.
struct ArchiveFailure {
    reason: String,
    logged_at: Instant,
}

/// The archive of a running store, shared by all threads.
pub(super) struct ArchiveGate {
    /// None before the archive is open, and after it is closed.
    writer: Mutex<Option<Writer>>,
    /// Every commit up to here is archived, or will never be.
    covered: AtomicU64,
    /// No commit up to here is in the queue.
    unqueued: AtomicU64,
    failure: Mutex<Option<ArchiveFailure>>,
    failures: AtomicU64,
    segments_closed: AtomicU64,
    caught_up: Mutex<Instant>,
}

impl ArchiveGate {
    /// For a store whose commits up to `covered` need no archiving any more. The archive is not open yet.
    pub(super) fn new(covered: CommitNumber) -> ArchiveGate {
        ArchiveGate {
            covered: AtomicU64::new(covered.0),
            unqueued: AtomicU64::default(),
            segments_closed: AtomicU64::new(0),
            writer: Mutex::default(),
            failure: Mutex::default(),
            failures: AtomicU64::new(0),
            caught_up: Mutex::new(Instant::now()),
        }
    }

    /// Calls `act` with the open archive, under its lock.
    pub(super) fn with_writer<T>(
        &self,
        act: impl FnOnce(&mut Writer) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        let mut writer = self.writer.lock();
        let writer = writer.as_mut().ok_or(ArchiveError::Closed)?;
        let result = act(writer);
        self.segments_closed.store(writer.segments_closed(), Ordering::Relaxed);
        result
    }

    /// Opens the archive unless it is open.
    pub(super) fn open(&self, open: impl FnOnce() -> Result<Writer, ArchiveError>) -> Result<(), ArchiveError> {
        let mut writer = self.writer.lock();
        if writer.is_none() {
            let opened = open()?;
            self.covered.store(opened.last().0, Ordering::Release);
            *writer = Some(opened);
        }
        Ok(())
    }

    /// Closes the archive: later commits are not archived, and they are not written when they must be archived first.
    pub(super) fn close(&self) {
        drop(self.writer.lock().take());
    }

    pub(super) fn segments_closed(&self) -> u64 {
        self.segments_closed.load(Ordering::Relaxed)
    }

    pub(super) fn covered(&self) -> CommitNumber {
        CommitNumber(self.covered.load(Ordering::Acquire))
    }

    pub(super) fn cover(&self, last: CommitNumber) {
        self.covered.fetch_max(last.0, Ordering::AcqRel);
    }

    /// Calls `remove_archived` to remove from the queue the commits after its argument, up to `archived`. Commits that
    /// remain after an error are removed by a later call.
    pub(super) fn unqueue(
        &self,
        archived: CommitNumber,
        remove_archived: impl FnOnce(CommitNumber) -> Result<(), ArchiveError>,
    ) {
        let unqueued = CommitNumber(self.unqueued.load(Ordering::Acquire));
        if archived <= unqueued {
            return;
        }
        match remove_archived(unqueued) {
            Ok(()) => {
                self.unqueued.fetch_max(archived.0, Ordering::AcqRel);
            }
            // If the cause is more than that, the next commit reports it and ends the process.
            Err(error) => {
                tracing::warn!(error = error.chain(), "archived commits could not be removed from the queue yet");
            }
        }
    }

    /// Notes that the archive has everything that the store had at this instant.
    pub(super) fn note_caught_up(&self, then: Instant) {
        *self.caught_up.lock() = then;
    }

    /// Time for which the archive has been behind.
    pub(super) fn lag(&self) -> Duration {
        self.caught_up.lock().elapsed()
    }

    /// Notes a failure, and logs it unless it was logged just now. An archive that is not in its place is opened anew
    /// once it is back, with all checks of a start.
    pub(super) fn fail(&self, error: &ArchiveError) {
        if matches!(error, ArchiveError::Replaced { .. }) {
            self.close();
        }
        self.failures.fetch_add(1, Ordering::Relaxed);
        let reason = error.chain();
        let mut failure = self.failure.lock();
        let was_logged =
            |failure: &ArchiveFailure| failure.reason == reason && failure.logged_at.elapsed() < LOGGED_EVERY;
        if failure.as_ref().is_some_and(was_logged) {
            return;
        }
        let covered = self.covered();
        tracing::error!(%reason, %covered, "the archive cannot be written to; it is tried again");
        *failure = Some(ArchiveFailure { reason, logged_at: Instant::now() });
    }

    /// Notes that the archive can be written to.
    pub(super) fn recover(&self) {
        if self.failure.lock().take().is_some() {
            tracing::info!(covered = %self.covered(), "writing to the archive works again");
        }
    }

    pub(super) fn failing(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.as_ref().map(|failure| failure.reason.clone())
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}

impl ArchiveGate {
    /// Archives batches before the store writes them.
    fn archive_first(&self, batches: &[(CommitNumber, &Append)], stored: CommitNumber) -> Result<(), String> {
        if let Some(reason) = self.failing() {
            return Err(format!("the archive cannot be written to: {reason}"));
        }
        if self.covered() < stored {
            return Err(format!("the archive is behind: it has commits up to {} of {stored}", self.covered()));
        }
        let mut commits: Vec<ArchivedCommit> =
            batches.iter().map(|(commit, append)| entry(*commit, append, stored)).collect();
        let written = self.with_writer(|writer| writer.write(&mut commits));
        written.map_err(|error| {
            self.fail(&error);
            format!("the archive cannot be written to: {}", error.chain())
        })
    }
}

/// The archive takes a group whole, or nothing of it.
impl FirstCommit for ArchiveGate {
    fn commit(&self, batches: &[(CommitNumber, &Append)], stored: CommitNumber) -> Vec<FirstVerdict> {
        let archived = self.archive_first(batches, stored);
        vec![archived.map_or_else(FirstVerdict::Unavailable, |()| FirstVerdict::Written); batches.len()]
    }

    fn confirm(&self, last: CommitNumber) {
        self.cover(last);
        self.note_caught_up(Instant::now());
    }
}

fn entry(commit: CommitNumber, append: &Append, stored: CommitNumber) -> ArchivedCommit {
    ArchivedCommit {
        commit,
        before: CommitNumber::default(),
        stored,
        position: GroupPosition::default(),
        merchant_id: append.merchant_id,
        records: append.records.iter().map(|record| record.bytes.clone()).collect(),
        vault: vault_of(append),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_left_in_the_queue_are_removed_with_the_next_ones() {
        let gate = ArchiveGate::new(CommitNumber(0));
        let mut asked = Vec::new();
        for (archived, is_done) in [(3, true), (5, false), (5, true), (5, true), (9, true)] {
            gate.unqueue(CommitNumber(archived), |after| {
                asked.push((after.0, archived));
                if is_done { Ok(()) } else { Err(ArchiveError::store("the disk is full")) }
            });
        }
        assert_eq!(asked, [(0, 3), (3, 5), (3, 5), (5, 9)]);
    }
}
