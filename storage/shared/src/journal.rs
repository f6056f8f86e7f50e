//! The log in the database, as the server sees it.

use std::sync::Arc;

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::commit::Histogram;
use till_storage::family::Family;
use till_storage::first_commit::{FirstCommit, FirstVerdict, LogElsewhere, WriteRows};
use till_storage::journal::{Append, CommitNumber, EncodedRecord, Head, JournalError, Sequence, following, record};

use crate::counts::{Counts, SharedJournalStats};
use crate::error::SharedJournalError;
use crate::followed::{Followed, Lacking};
use crate::lane::Lane;
use crate::notes;
use crate::reading::JournalReader;
use crate::schema::Format;
use crate::settings::JournalSettings;
use crate::shard::shard_of;
use crate::status::status;

/// Called when another process has claimed what this one held.
pub type OnFenced = Arc<dyn Fn() + Send + Sync>;

/// The log in the database. All shards are claimed by this process when it opens.
pub struct SharedJournal {
    format: Format,
    lane: Mutex<Lane>,
    reader: JournalReader,
    followed: Arc<Followed>,
    counts: Arc<Counts>,
    on_fenced: OnFenced,
}

/// Bytes of the identity in front of a note.
const IDENTITY_LEN: usize = 16;

/// The owner of rows of the vault that belong to the store as a whole.
pub(crate) const NO_MERCHANT: MerchantId = MerchantId::from_bytes([0; 16]);

/// Records that are fetched at once.
pub(crate) const RECORDS: u32 = 1_000;

impl SharedJournal {
    /// Claims the log for this process. `on_fenced` is called once another process has claimed a part of it.
    ///
    /// # Errors
    /// [`SharedJournalError`]: the database cannot be reached, or the log is none that this program can use.
    pub fn open(settings: &JournalSettings, on_fenced: OnFenced) -> Result<SharedJournal, SharedJournalError> {
        let (lane, format) = Lane::of_logs(settings.clone())?;
        let (counts, followed) = (lane.counts(), lane.followed());
        let reader = JournalReader::new(settings.clone());
        let journal = SharedJournal { format, lane: Mutex::new(lane), reader, followed, counts, on_fenced };
        journal.look();
        Ok(journal)
    }

    /// The highest epoch of its claims.
    #[must_use]
    pub fn claim(&self) -> u64 {
        self.lane.lock().epoch()
    }

    /// Compares the log with the note that the local store has of it, which [`LogElsewhere::position`] made. Merchants of
    /// which the store may lack something are compared one by one before they are claimed. Returns true when there are
    /// some: rows of the directory may be missing then.
    ///
    /// # Errors
    /// [`SharedJournalError`]: the merchants cannot be read.
    pub fn compare(&self, noted: &[u8]) -> Result<bool, SharedJournalError> {
        let (counts, _) = noted.get(IDENTITY_LEN..).unwrap_or_default().as_chunks();
        let counts: Vec<i64> = counts.iter().map(|bytes| i64::from_be_bytes(*bytes)).collect();
        let behind = self.lane.lock().compare(&counts);
        if behind.is_empty() {
            return Ok(false);
        }
        for merchant_id in self.reader.merchants()? {
            if behind.contains(&shard_of(merchant_id, self.format.shards)) {
                self.followed.note_lacking(merchant_id);
            }
        }
        Ok(true)
    }

    /// Passes on what belongs to no single merchant: the directory, and the key ring.
    ///
    /// # Errors
    /// Fails when they cannot be read, and with the errors of `write`.
    pub fn each_row_of_all(&self, write: &mut WriteRows<'_>) -> Result<(), JournalError> {
        each_row_of_all(&self.reader, write)
    }

    /// The merchants of which the local store may lack something.
    #[must_use]
    pub fn unfollowed(&self) -> Vec<MerchantId> {
        self.followed.merchants()
    }

    /// A small note of the server's beside the log; none when there is none under the name.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn note(&self, name: &str) -> Result<Option<Vec<u8>>, SharedJournalError> {
        self.reader.read(async |client| notes::read(client, self.reader.schema(), name).await)
    }

    /// Keeps a note, or removes it.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn keep_note(&self, name: &str, value: Option<&[u8]>) -> Result<(), SharedJournalError> {
        self.reader.read(async |client| notes::write(client, self.reader.schema(), name, value).await)
    }

    /// Reads of the log.
    #[must_use]
    pub const fn reader(&self) -> &JournalReader {
        &self.reader
    }

    /// Looks at the state of the database, for the figures. Waits for its answer.
    pub fn look(&self) {
        let state = status(self.reader.settings());
        if let Err(error) = &state {
            tracing::warn!(%error, "the state of the database of the log cannot be read");
        }
        self.counts.stats.lock().database = state.ok();
    }

    /// Figures for metrics.
    #[must_use]
    pub fn stats(&self) -> SharedJournalStats {
        self.counts.stats.lock().clone()
    }

    /// The times of the statements that append.
    #[must_use]
    pub fn round_trips(&self) -> &Histogram {
        &self.counts.round_trips
    }
}

impl FirstCommit for SharedJournal {
    fn commit(&self, batches: &[(CommitNumber, &Append)], _: CommitNumber) -> Vec<FirstVerdict> {
        let verdicts = self.lane.lock().append(batches);
        if verdicts.contains(&FirstVerdict::Fenced) {
            (self.on_fenced)();
        }
        verdicts
    }
}

impl LogElsewhere for SharedJournal {
    fn may_be_ahead(&self, merchant_id: MerchantId) -> bool {
        self.followed.may_lack(merchant_id)
    }

    fn records_after(&self, merchant_id: MerchantId, head: Head) -> Result<Vec<EncodedRecord>, JournalError> {
        self.lane.lock().check_held(merchant_id)?;
        stored_after(&self.reader, merchant_id, head, RECORDS)?.ok_or_else(|| {
            self.lane.lock().lose_log(merchant_id);
            SharedJournalError::Lost.into()
        })
    }

    fn each_of_its_rows(&self, merchant_id: MerchantId, write: &mut WriteRows<'_>) -> Result<(), JournalError> {
        let Lacking { whole_vault, rows } = self.followed.lacking(merchant_id);
        if whole_vault {
            each_row_of_vault(&self.reader, merchant_id, write)?;
        }
        for (family, key) in rows {
            let end = [key.as_slice(), &[0]].concat();
            self.reader.each_page(family, (key, end), write)?;
        }
        Ok(())
    }

    fn note_followed(&self, merchant_id: MerchantId) {
        self.followed.note_followed(merchant_id);
    }

    fn position(&self) -> Vec<u8> {
        note_of(&self.format, &self.lane.lock().complete())
    }
}

/// The note of a store that has everything of each shard up to these numbers of commits.
pub(crate) fn note_of(format: &Format, counts: &[i64]) -> Vec<u8> {
    format.identity.into_iter().chain(counts.iter().flat_map(|count| count.to_be_bytes())).collect()
}

/// At most `max` records after a head. None when the log does not have the record that the head names.
pub(crate) fn stored_after(
    reader: &JournalReader,
    merchant_id: MerchantId,
    head: Head,
    max: u32,
) -> Result<Option<Vec<EncodedRecord>>, JournalError> {
    let mut stored = reader.records(merchant_id, head.sequence.max(Sequence(1)), max)?.into_iter();
    let is_head = |bytes: Vec<u8>| record::decode(&bytes).is_ok_and(|last| last.head() == head);
    if head != Head::EMPTY && !stored.next().is_some_and(is_head) {
        return Ok(None);
    }
    following(merchant_id, head, stored).map(Some)
}

/// Passes on what belongs to no single merchant: the directory, and the key ring.
pub(crate) fn each_row_of_all(reader: &JournalReader, write: &mut WriteRows<'_>) -> Result<(), JournalError> {
    reader.each_page(Family::Directory, (Vec::new(), vec![u8::MAX; 128]), write)?;
    each_row_of_vault(reader, NO_MERCHANT, write)
}

/// Passes a merchant's rows of the vault on.
pub(crate) fn each_row_of_vault(
    reader: &JournalReader,
    merchant_id: MerchantId,
    write: &mut WriteRows<'_>,
) -> Result<(), JournalError> {
    // Their keys begin with its id. One that is all ones has no successor of its length.
    let lower = merchant_id.to_bytes();
    let upper = u128::from_be_bytes(lower).checked_add(1).map_or(vec![u8::MAX; 17], |next| next.to_be_bytes().to_vec());
    reader.each_page(Family::Vault, (lower.to_vec(), upper), write)
}
