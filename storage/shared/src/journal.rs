//! The log in the database, as the server sees it.

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::commit::Histogram;
use till_storage::first_commit::{FirstCommit, FirstVerdict};
use till_storage::journal::{Append, CommitNumber};

use crate::counts::{Counts, SharedJournalStats};
use crate::error::SharedJournalError;
use crate::lane::Lane;
use crate::reading::JournalReader;
use crate::schema::Format;
use crate::settings::JournalSettings;

/// The log in the database. All shards are claimed by this process when it opens.
pub struct SharedJournal {
    format: Format,
    lane: Mutex<Lane>,
    reader: JournalReader,
    counts: Counts,
}

impl SharedJournal {
    /// Claims the log for this process.
    ///
    /// # Errors
    /// [`SharedJournalError`]: the database cannot be reached, or the log is none that this program can use.
    pub fn open(settings: &JournalSettings) -> Result<SharedJournal, SharedJournalError> {
        let (lane, format) = Lane::open(settings.clone())?;
        let counts = Counts::default();
        counts.note_shards(usize::from(format.shards), 0);
        Ok(SharedJournal { format, lane: Mutex::new(lane), reader: JournalReader::new(settings.clone()), counts })
    }

    /// The identity of the log, drawn at random when it was made.
    #[must_use]
    pub const fn identity(&self) -> [u8; 16] {
        self.format.identity
    }

    /// The number of shards.
    #[must_use]
    pub const fn shards(&self) -> u16 {
        self.format.shards
    }

    /// True when a merchant's log may have records that the local store does not have. It is to be called before the log
    /// is claimed; unknown outcomes are found out first.
    ///
    /// # Errors
    /// [`SharedJournalError`]: an outcome cannot be found out now.
    pub fn may_be_ahead(&self, merchant_id: MerchantId) -> Result<bool, SharedJournalError> {
        self.lane.lock().take_unsure(merchant_id)
    }

    /// Says that a merchant's log must be compared once more, since it could not be.
    pub fn must_be_compared(&self, merchant_id: MerchantId) {
        self.lane.lock().note_unsure(merchant_id);
    }

    /// Reads of the log.
    #[must_use]
    pub const fn reader(&self) -> &JournalReader {
        &self.reader
    }

    /// Figures for metrics.
    #[must_use]
    pub fn stats(&self) -> SharedJournalStats {
        self.counts.figures()
    }

    /// The times of the statements that append.
    #[must_use]
    pub const fn round_trips(&self) -> &Histogram {
        self.counts.round_trips()
    }
}

impl FirstCommit for SharedJournal {
    fn commit(&self, batches: &[(CommitNumber, &Append)], _: CommitNumber) -> Vec<FirstVerdict> {
        self.lane.lock().append(batches, &self.counts)
    }

    fn confirm(&self, _: CommitNumber) {}
}
