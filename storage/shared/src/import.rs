//! A store's log, copied into an empty log in the database.

use std::sync::Arc;

use till_domain::ids::MerchantId;
use till_storage::engine::{Engine, RowReplica};
use till_storage::family::Family;
use till_storage::journal::first_commit::{FirstRows, FirstVerdict};
use till_storage::journal::layout::{each_log, read_records};
use till_storage::journal::{Append, CommitNumber, Epoch, Head, JournalError, chained_records};
use till_storage::rows::{RowPair, RowRange, RowReader, RowWrite, RowWrites};

use crate::connection::Connection;
use crate::copying::JournalCopy;
use crate::error::SharedJournalError;
use crate::journal::{NO_MERCHANT, note_of};
use crate::lane::{Claimed, Lane};
use crate::notes::{IMPORT_UNDER_WAY, set_note};
use crate::settings::JournalSettings;
use crate::shared_rows::{RowsOf, SharedRows};

/// Records and rows that are read at once.
const PAGE: usize = 1_000;

/// Bytes of batches that are sent in one statement.
const GROUP_BYTES: usize = 4 * 1024 * 1024;

/// The reason for which a log was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The database, or the log in it.
    #[error(transparent)]
    Database(#[from] SharedJournalError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] JournalError),
    /// A database beside the store cannot be read, or its rows not be written.
    #[error("{0}")]
    Beside(String),
}

/// Copies the log of a store that nobody else uses, its vault and directory, the rows of the databases beside it and
/// the server's notes into an empty log. The bytes of records are not changed. Afterwards the store repeats the log:
/// only a server that uses the log can open it.
///
/// `progress` is told the number of records that are copied.
///
/// # Errors
/// [`ImportError`]; then the store is unchanged, and the log is not usable: its schema is to be dropped.
pub fn import(
    settings: &JournalSettings,
    store: &Engine,
    beside: &[(RowsOf, &dyn RowReplica)],
    notes: &[(&str, Vec<u8>)],
    progress: &mut dyn FnMut(u64),
) -> Result<u64, ImportError> {
    let mut connection = Connection::open(settings)?;
    begin(&mut connection, settings, store)?;
    let (lane, Claimed { format, .. }) = Lane::of_logs(settings.clone(), Arc::default(), Arc::new(|| {}))?;
    let open = |(of, _): &(RowsOf, _)| SharedRows::open(settings, *of, Arc::new(|| {}));
    let rows_beside: Vec<SharedRows> = beside.iter().map(open).collect::<Result<_, _>>()?;
    set_note(&mut connection, &settings.schema, IMPORT_UNDER_WAY, Some(&[]))?;
    for (name, note) in notes {
        set_note(&mut connection, &settings.schema, name, Some(note))?;
    }
    let mut groups = Groups { lane, pending: Vec::new(), byte_count: 0 };
    let records = groups.add_logs(store, progress)?;
    groups.add_rows(store, Family::Vault)?;
    groups.add_rows(store, Family::Directory)?;
    groups.send()?;
    for ((_, database), rows) in beside.iter().zip(&rows_beside) {
        let mut copy = |page: Vec<RowPair>| rows.write(&page, &[]).map(drop);
        let (is_sent, database) = (|key: &[u8]| database.is_sent(key), database.database());
        database.each_page(is_sent, PAGE, &mut copy).map_err(ImportError::Beside)?;
        database.note_position(&rows.position()).map_err(ImportError::Beside)?;
    }
    set_note(&mut connection, &settings.schema, IMPORT_UNDER_WAY, None)?;
    let complete = groups.lane.standing().complete(groups.lane.incarnation());
    store.begin_replicating(&note_of(&format, &complete))?;
    Ok(records)
}

/// Checks that the log is empty, and raises its epochs above those of the store.
fn begin(connection: &mut Connection, settings: &JournalSettings, store: &Engine) -> Result<(), ImportError> {
    let schema = &settings.schema;
    if !JournalCopy::open(settings)?.is_empty() {
        let reason = format!("the log in the schema {schema} is not empty: import into a new one (journal_schema)");
        return Err(SharedJournalError::Schema(reason).into());
    }
    let starts = i64::try_from(store.starts()).unwrap_or(i64::MAX);
    let raise = format!("update {schema}.shard set epoch = greatest(epoch, $1)");
    connection.write(async |client| client.execute(&raise, &[&starts]).await)?;
    Ok(())
}

/// Batches on their way into the log.
struct Groups {
    lane: Lane,
    pending: Vec<Append>,
    byte_count: usize,
}

impl Groups {
    fn add_logs(&mut self, store: &Engine, progress: &mut dyn FnMut(u64)) -> Result<u64, ImportError> {
        let mut count = 0;
        each_log(store, &mut |merchant_id, end: Head| {
            let mut head = Head::EMPTY;
            while head.sequence < end.sequence {
                let stored = read_records(store, merchant_id, head.sequence.next(), PAGE)?;
                let records = chained_records(merchant_id, head, stored.into_iter().map(|stored| stored.bytes))?;
                let Some(last) = records.last() else { break };
                head = last.head();
                count += records.len() as u64;
                self.add(Append { records, ..nothing(merchant_id) })?;
                progress(count);
            }
            let parted = ImportError::Beside(format!("the log of {merchant_id} does not end where its head says"));
            if head == end { Ok(()) } else { Err(parted) }
        })?;
        Ok(count)
    }

    /// Adds rows of the vault, each in the shard of its merchant, or of the directory, in the shard of no merchant.
    fn add_rows(&mut self, store: &Engine, family: Family) -> Result<(), ImportError> {
        let (mut lower, upper, is_vault) = (Vec::new(), vec![u8::MAX; 128], family == Family::Vault);
        let merchant = |key: &[u8]| key.first_chunk().filter(|_| is_vault).copied().map(MerchantId::from_bytes);
        loop {
            let rows = store.scan(RowRange::forward(family, &lower, &upper), PAGE).map_err(JournalError::from)?;
            for rows in rows.chunk_by(|(one, _), (other, _)| merchant(one) == merchant(other)) {
                let writes: RowWrites =
                    rows.iter().map(|(key, value)| RowWrite { family, key, value: Some(value) }).collect();
                let nothing = nothing(merchant(&rows[0].0).unwrap_or(NO_MERCHANT));
                self.add(match is_vault {
                    true => Append { vault: writes, ..nothing },
                    false => Append { derived: writes, ..nothing },
                })?;
            }
            let Some((last, _)) = rows.last() else { return Ok(()) };
            lower = [last.as_slice(), &[0]].concat();
        }
    }

    fn add(&mut self, append: Append) -> Result<(), ImportError> {
        self.byte_count += append.byte_count();
        self.pending.push(append);
        if self.byte_count >= GROUP_BYTES { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), ImportError> {
        let batches: Vec<(CommitNumber, &Append)> =
            self.pending.iter().map(|append| (CommitNumber(0), append)).collect();
        let verdicts = self.lane.append(&batches);
        if let Some(verdict) = verdicts.into_iter().find(|verdict| *verdict != FirstVerdict::Written) {
            return Err(ImportError::Beside(format!("the log was not written: {verdict:?}")));
        }
        self.pending.clear();
        self.byte_count = 0;
        Ok(())
    }
}

/// A batch that writes nothing. Its claim is not looked at.
fn nothing(merchant_id: MerchantId) -> Append {
    Append::nothing(merchant_id, Epoch::default(), Head::EMPTY)
}
