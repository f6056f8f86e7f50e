//! The log in the database as it is read without a claim, and copied into a store that becomes one of its own.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::disk_store::{Deployment, DiskStore};
use till_storage::engine::{Engine, ReplicatedLog};
use till_storage::family::Family;
use till_storage::journal::first_commit::{FirstCommit, FirstVerdict, RemoteLog, WriteRows};
use till_storage::journal::{Append, CommitNumber, EncodedRecord, Head, Journal, JournalError};
use till_storage::vault::VaultKey;

use crate::append::number_of;
use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::journal::{RECORDS, each_row_of_all, each_row_of_vault, note_of, stored_after};
use crate::reading::JournalReader;
use crate::schema::{Format, usable_format};
use crate::settings::JournalSettings;

/// The log as it is read, without a claim.
pub struct JournalCopy {
    format: Format,
    /// The highest epoch of its shards.
    epoch: u64,
    is_empty: bool,
    reader: JournalReader,
    copied: Mutex<HashSet<MerchantId>>,
}

impl JournalCopy {
    /// Looks for the log.
    ///
    /// # Errors
    /// [`SharedJournalError`]: the database cannot be reached, or the log is none that this program can use.
    pub fn open(settings: &JournalSettings) -> Result<JournalCopy, SharedJournalError> {
        let mut connection = Connection::open(settings)?;
        let format = usable_format(&mut connection, &settings.schema)?;
        let query = "select (select max(epoch) from {schema}.shard where shard >= 0),
             not exists (select 1 from {schema}.record) and not exists (select 1 from {schema}.row)";
        let query = query.replace("{schema}", &settings.schema);
        let row = connection.read(async |client| client.query_one(&query, &[]).await)?;
        let (epoch, reader) = (u64::try_from(row.get::<_, i64>(0)), JournalReader::new(settings.clone()));
        let (epoch, is_empty) = (epoch.unwrap_or_default(), row.get(1));
        Ok(JournalCopy { format, epoch, is_empty, reader, copied: Mutex::default() })
    }

    /// The log, for the options of a store that repeats it. The number of the claim is that of the next one.
    #[must_use]
    pub const fn replicated_log(&self) -> ReplicatedLog {
        ReplicatedLog { identity: self.format.identity, claim: self.epoch + 1 }
    }

    /// True when it has neither records nor rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// The key ring of the log; none in an empty one.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn keyring(&self) -> Result<Option<Vec<u8>>, SharedJournalError> {
        let key = VaultKey::Keyring.encode().to_vec();
        let end = [key.as_slice(), &[0]].concat();
        Ok(self.reader.numbered_rows(number_of(Family::Vault), &(key, end), 1)?.pop().map(|(_, keyring)| keyring))
    }

    /// Copies everything into an empty store that repeats the log, and makes it a store of its own. Its rows lag behind
    /// until they are derived. `progress` is told the number of merchants that are copied.
    ///
    /// # Errors
    /// Fails when the database cannot be read, or the store not be written.
    pub fn copy_to(self, engine: &Arc<Engine>, progress: &mut dyn FnMut(u64)) -> Result<(), JournalError> {
        let log = Arc::new(self);
        let store = DiskStore::new(Arc::clone(engine), Deployment::Journal(Arc::clone(&log) as _))?;
        each_row_of_all(&log.reader, &mut |rows| engine.replace_rows(&rows))?;
        for (merchant_id, done) in log.reader.merchants()?.into_iter().zip(1..) {
            let claim = store.claim(merchant_id)?;
            store.release(merchant_id, claim.epoch);
            progress(done);
        }
        engine.end_replicating()
    }
}

impl FirstCommit for JournalCopy {
    fn commit(&self, batches: &[(CommitNumber, &Append)], _: CommitNumber) -> Vec<FirstVerdict> {
        vec![FirstVerdict::Unavailable("the log is only read".to_owned()); batches.len()]
    }
}

impl RemoteLog for JournalCopy {
    fn may_be_ahead(&self, merchant_id: MerchantId) -> bool {
        !self.copied.lock().contains(&merchant_id)
    }

    fn may_have_told_more(&self, merchant_id: MerchantId) -> bool {
        self.may_be_ahead(merchant_id)
    }

    fn records_after(&self, merchant_id: MerchantId, head: Head) -> Result<Vec<EncodedRecord>, JournalError> {
        let parted = || JournalError::from(SharedJournalError::Lost);
        stored_after(&self.reader, merchant_id, head, RECORDS)?.ok_or_else(parted)
    }

    fn read_underived_rows(&self, merchant_id: MerchantId, write: &mut WriteRows<'_>) -> Result<(), JournalError> {
        each_row_of_vault(&self.reader, merchant_id, write)
    }

    fn note_caught_up(&self, merchant_id: MerchantId) {
        self.copied.lock().insert(merchant_id);
    }

    fn position(&self) -> Vec<u8> {
        note_of(&self.format, &[])
    }
}
