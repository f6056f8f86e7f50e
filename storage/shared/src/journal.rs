//! The log in the database, as the server sees it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::commit::Histogram;
use till_storage::family::Family;
use till_storage::journal::first_commit::{FirstCommit, FirstVerdict, RemoteLog, WriteRows};
use till_storage::journal::{
    Append, CommitNumber, EncodedRecord, Head, JournalError, Sequence, chained_records, layout, record,
};
use till_storage::rows::RowReader;
use uuid::Uuid;

use crate::claim;
use crate::connection::Connection;
use crate::counts::SharedJournalStats;
use crate::error::SharedJournalError;
use crate::lane::{Claimed, HeldBefore, Lane, OnRefusing};
use crate::local_replica::{Complete, MissingRows};
use crate::notes;
use crate::reading::JournalReader;
use crate::schema::Format;
use crate::settings::JournalSettings;
use crate::shard::{Hold, Shard, shard_of};
use crate::shared_rows::{RowsOf, SharedRows};
use crate::standing::{OnFenced, Standing};
use crate::status::status;

/// The log in the database. All shards are claimed by this process when it opens.
pub struct SharedJournal {
    format: Format,
    /// The highest epoch of its claims when it opened.
    claim: u64,
    incarnation: Uuid,
    held_before: HeldBefore,
    lane: Mutex<Lane>,
    standing: Arc<Standing>,
    reader: JournalReader,
    on_refusing: Arc<OnceLock<OnRefusing>>,
}

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
        let (lane, claimed) = Lane::of_logs(settings.clone(), Arc::default(), on_fenced)?;
        let Claimed { format, held_before } = claimed;
        let (standing, on_refusing) = (lane.standing(), lane.on_refusing());
        let epochs = standing.holds().into_values().map(|hold| u64::try_from(hold.epoch).unwrap_or_default());
        let journal = SharedJournal {
            format,
            claim: epochs.max().unwrap_or_default(),
            incarnation: lane.incarnation(),
            held_before,
            lane: Mutex::new(lane),
            standing,
            reader: JournalReader::new(settings.clone()),
            on_refusing,
        };
        journal.look();
        Ok(journal)
    }

    /// Claims rows that belong to no log, as [`SharedRows::open`] does, and counts what they lose.
    ///
    /// # Errors
    /// As there.
    pub fn open_rows(&self, of: RowsOf, on_fenced: OnFenced) -> Result<SharedRows, SharedJournalError> {
        SharedRows::open_counted(self.reader.settings(), of, Arc::clone(&self.standing.counts), on_fenced)
    }

    /// The highest epoch of its claims when it opened.
    #[must_use]
    pub const fn claim(&self) -> u64 {
        self.claim
    }

    /// Sets the function that is called with the reason, once, when the database has not answered for its patience:
    /// changes that wait are to be refused then.
    pub fn when_refusing(&self, refuse: OnRefusing) {
        drop(self.on_refusing.set(refuse)); // The first one stays.
    }

    /// Compares the log with a store, by the note that the store has of it, which [`RemoteLog::position`] made.
    /// Merchants of which the store may lack something are compared one by one before they are claimed. Returns true
    /// when there are some: rows of the directory may be missing then.
    ///
    /// # Errors
    /// The log or the store cannot be read.
    pub fn compare(&self, noted: &[u8], store: &impl RowReader) -> Result<bool, JournalError> {
        let behind = self.compare_counts(&noted_by(noted));
        if !behind.is_empty() {
            self.compare_ends(&behind, store)?;
        }
        Ok(!behind.is_empty())
    }

    /// The shards of which the store may lack commits: its number is another, or was counted under another holder.
    fn compare_counts(&self, noted: &[Complete]) -> BTreeSet<Shard> {
        self.standing.replica.begin_at(noted);
        let mut behind = BTreeSet::new();
        for (shard, Hold { commits, .. }) in self.standing.holds() {
            let stored = usize::try_from(shard).ok().and_then(|shard| noted.get(shard)).copied().unwrap_or_default();
            let holder = self.held_before.get(&shard).copied().flatten().unwrap_or_default();
            if stored.holder == holder && stored.commits > commits {
                self.standing.stop(shard, stored.commits, commits);
            } else if stored != (Complete { holder, commits }) && commits.max(stored.commits) > 0 {
                behind.insert(shard);
            }
        }
        behind
    }

    /// Compares the ends of the logs of some shards. A log that is behind here is fetched later; one that is behind
    /// there, or ends otherwise, has lost commits.
    fn compare_ends(&self, behind: &BTreeSet<Shard>, store: &impl RowReader) -> Result<(), JournalError> {
        let (mut there, mut records) = (HashSet::new(), BTreeMap::new());
        self.reader.each_end(&mut |merchant_id, end, header| {
            let shard = self.shard_of(merchant_id);
            if !behind.contains(&shard) {
                return Ok(());
            }
            there.insert(merchant_id);
            *records.entry(shard).or_insert(0) += i64::try_from(end.0).unwrap_or(i64::MAX);
            let here = layout::read_head(store, merchant_id)?.sequence;
            if here < end {
                self.standing.replica.note_lacking(merchant_id);
                return Ok(());
            }
            let stored = layout::read_record(store, merchant_id, here)?;
            if here > end || !stored.is_some_and(|stored| stored.bytes.starts_with(&header)) {
                self.lose_log(merchant_id);
            }
            Ok::<_, JournalError>(())
        })?;
        layout::each_log(store, &mut |merchant_id, _| {
            if behind.contains(&self.shard_of(merchant_id)) && !there.contains(&merchant_id) {
                self.lose_log(merchant_id);
            }
            Ok::<_, JournalError>(())
        })?;
        self.note_missing_records(behind, &records)?;
        Ok(())
    }

    /// Logs which shards have fewer records than were written to them: the newest records of some logs are lost. Which
    /// logs these are is logged by a store that has the records.
    fn note_missing_records(
        &self,
        behind: &BTreeSet<Shard>,
        present: &BTreeMap<Shard, i64>,
    ) -> Result<(), SharedJournalError> {
        let query = format!("select shard, records from {}.shard where shard = any($1)", self.reader.schema());
        let shards: Vec<Shard> = behind.iter().copied().collect();
        for row in self.reader.read(async |client| client.query(&query, &[&shards]).await)? {
            let (shard, written): (Shard, i64) = (row.get(0), row.get(1));
            let missing = written - present.get(&shard).copied().unwrap_or(0);
            if missing > 0 {
                tracing::error!(shard, missing, "the newest records of logs are missing in the database of the log");
                self.standing.counts.stats.lock().losses += 1;
            }
        }
        Ok(())
    }

    fn shard_of(&self, merchant_id: MerchantId) -> Shard {
        shard_of(merchant_id, self.format.shards)
    }

    /// Stops the shard of a log that does not go on where the store's ends.
    fn lose_log(&self, merchant_id: MerchantId) {
        let shard = self.shard_of(merchant_id);
        if let Some(hold) = self.standing.hold(shard) {
            tracing::error!(%merchant_id, "the database of the log does not have the record that this store ends with");
            self.standing.stop(shard, hold.commits, hold.commits);
        }
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
    pub fn lagging_merchants(&self) -> Vec<MerchantId> {
        self.standing.replica.merchants()
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
        let mut connection = Connection::open(self.reader.settings())?;
        notes::set_note(&mut connection, self.reader.schema(), name, value)
    }

    /// Reads of the log.
    #[must_use]
    pub const fn reader(&self) -> &JournalReader {
        &self.reader
    }

    /// Looks at the state of the database, for the figures, and if another process has claimed the log. Waits for its
    /// answer.
    pub fn look(&self) {
        let state = status(self.reader.settings()).and_then(|state| {
            let foreign =
                claim::foreign(&mut Connection::open(self.reader.settings())?, self.reader.schema(), self.incarnation)?;
            foreign.into_iter().for_each(|(shard, there)| self.standing.judge_foreign(shard, there));
            Ok(state)
        });
        if let Err(error) = &state {
            tracing::warn!(%error, "the state of the database of the log cannot be read");
        }
        self.standing.counts.stats.lock().database = state.ok();
    }

    /// Figures for metrics.
    #[must_use]
    pub fn stats(&self) -> SharedJournalStats {
        self.standing.counts.stats.lock().clone()
    }

    /// The times of the statements that append.
    #[must_use]
    pub fn round_trips(&self) -> &Histogram {
        &self.standing.counts.round_trips
    }
}

impl FirstCommit for SharedJournal {
    fn commit(&self, batches: &[(CommitNumber, &Append)], _: CommitNumber) -> Vec<FirstVerdict> {
        self.lane.lock().append(batches)
    }

    fn refusal(&self) -> Option<String> {
        self.standing.refusal()
    }
}

impl RemoteLog for SharedJournal {
    fn may_be_ahead(&self, merchant_id: MerchantId) -> bool {
        self.standing.replica.may_lack(merchant_id)
    }

    fn may_have_told_more(&self, merchant_id: MerchantId) -> bool {
        self.standing.replica.may_lack_what_was_told(merchant_id)
    }

    fn records_after(&self, merchant_id: MerchantId, head: Head) -> Result<Vec<EncodedRecord>, JournalError> {
        self.standing.check_held(self.shard_of(merchant_id))?;
        stored_after(&self.reader, merchant_id, head, RECORDS)?.ok_or_else(|| {
            self.lose_log(merchant_id);
            SharedJournalError::Lost.into()
        })
    }

    fn read_underived_rows(&self, merchant_id: MerchantId, write: &mut WriteRows<'_>) -> Result<(), JournalError> {
        let MissingRows { whole_vault, rows } = self.standing.replica.lacking(merchant_id);
        if whole_vault {
            each_row_of_vault(&self.reader, merchant_id, write)?;
        }
        for (family, key) in rows {
            let end = [key.as_slice(), &[0]].concat();
            self.reader.each_page(family, (key, end), write)?;
        }
        Ok(())
    }

    fn note_caught_up(&self, merchant_id: MerchantId) {
        self.standing.replica.note_caught_up(merchant_id);
    }

    fn position(&self) -> Vec<u8> {
        note_of(&self.format, &self.standing.complete(self.incarnation))
    }
}

/// Bytes of the identity in front of a note.
const IDENTITY_LEN: usize = 16;

/// Bytes of a shard in a note: its holder, and its number of commits.
const COMPLETE_LEN: usize = 24;

/// The note of a store that has everything of each shard up to these numbers of commits.
pub(crate) fn note_of(format: &Format, complete: &[Complete]) -> Vec<u8> {
    let shards = complete
        .iter()
        .flat_map(|Complete { holder, commits }| holder.into_bytes().into_iter().chain(commits.to_be_bytes()));
    format.identity.into_iter().chain(shards).collect()
}

/// The entries of a note, one for each shard.
fn noted_by(note: &[u8]) -> Vec<Complete> {
    let (shards, _) = note.get(IDENTITY_LEN..).unwrap_or_default().as_chunks::<COMPLETE_LEN>();
    let complete = |shard: &[u8; COMPLETE_LEN]| {
        let (holder, commits) = shard.split_first_chunk()?;
        Some(Complete { holder: Uuid::from_bytes(*holder), commits: i64::from_be_bytes(commits.try_into().ok()?) })
    };
    shards.iter().filter_map(complete).collect()
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
    chained_records(merchant_id, head, stored).map(Some)
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
