//! Reads of the log: merchants, records, and rows.

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::journal::first_commit::{RemoteRows, WriteRows};
use till_storage::journal::record::HEADER_LEN;
use till_storage::journal::{JournalError, Sequence};
use till_storage::keys::KeyRange;
use till_storage::rows::RowPair;
use tokio_postgres::{Client, Error};
use uuid::Uuid;

use crate::append::{merchant_uuid, number_of};
use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::settings::JournalSettings;

/// Rows that are read at once.
pub(crate) const PAGE: u32 = 1_000;

/// Bytes after which no further record is read at once: 1 MiB, so that a load takes what docs/limits.md says of it.
const RECORD_BYTES: i64 = 1 << 20;

/// Reads of the log, on as many connections as are used at the same time.
pub struct JournalReader {
    settings: JournalSettings,
    idle: Mutex<Vec<Connection>>,
}

impl JournalReader {
    /// Reads with these settings, on connections of its own.
    #[must_use]
    pub const fn new(settings: JournalSettings) -> JournalReader {
        JournalReader { settings, idle: Mutex::new(Vec::new()) }
    }

    /// Reads on an idle connection, or on a new one. A connection that has failed is dropped.
    pub(crate) fn read<T>(
        &self,
        query: impl AsyncFnOnce(&mut Client) -> Result<T, Error>,
    ) -> Result<T, SharedJournalError> {
        let mut idle = self.idle.lock().pop();
        if idle.as_mut().is_some_and(Connection::is_closed) {
            idle = None;
        }
        let mut connection = idle.map_or_else(|| Connection::open(&self.settings), Ok)?;
        let answer = connection.read(query)?;
        self.idle.lock().push(connection);
        Ok(answer)
    }

    pub(crate) const fn settings(&self) -> &JournalSettings {
        &self.settings
    }

    pub(crate) fn schema(&self) -> &str {
        &self.settings.schema
    }

    /// Every merchant that has a record.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn merchants(&self) -> Result<Vec<MerchantId>, SharedJournalError> {
        // One step of the index for each merchant, instead of one for each record.
        let schema = self.schema();
        let query = format!(
            "with recursive m as (
                 (select merchant_id from {schema}.record where merchant_id > $1 order by merchant_id limit 1)
                 union all
                 select (select r.merchant_id from {schema}.record r where r.merchant_id > m.merchant_id
                         order by r.merchant_id limit 1)
                 from m where m.merchant_id is not null)
             select merchant_id from m where merchant_id is not null limit $2"
        );
        let (mut merchants, mut after) = (Vec::new(), Uuid::nil());
        loop {
            let rows = self.read(async |client| client.query(&query, &[&after, &i64::from(PAGE)]).await)?;
            let page = rows.iter().map(|row| row.get::<_, Uuid>(0));
            after = page.clone().last().unwrap_or(after);
            merchants.extend(page.map(|id| MerchantId::from_bytes(id.into_bytes())));
            if rows.len() < PAGE as usize {
                return Ok(merchants);
            }
        }
    }

    /// Passes on the end of each log: the number of its last record, and that record's header.
    ///
    /// # Errors
    /// Fails when they cannot be read, and with the errors of `visit`.
    pub(crate) fn each_end<E: From<SharedJournalError>>(
        &self,
        visit: &mut dyn FnMut(MerchantId, Sequence, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let query = format!(
            "select m.id, r.sequence, r.header from unnest($1::uuid[]) m(id)
             cross join lateral (select sequence, substring(bytes from 1 for {HEADER_LEN}) header from {}.record
                                 where merchant_id = m.id order by sequence desc limit 1) r",
            self.schema()
        );
        for merchants in self.merchants()?.chunks(PAGE as usize) {
            let ids: Vec<Uuid> = merchants.iter().copied().map(merchant_uuid).collect();
            for row in self.read(async |client| client.query(&query, &[&ids]).await)? {
                let merchant_id = MerchantId::from_bytes(row.get::<_, Uuid>(0).into_bytes());
                let sequence = u64::try_from(row.get::<_, i64>(1)).unwrap_or_default();
                visit(merchant_id, Sequence(sequence), row.get(2))?;
            }
        }
        Ok(())
    }

    /// Records of a merchant's log from `from` on, in order: at most `max`, and after the first two none that begins
    /// beyond [`RECORD_BYTES`]. Two, so that a caller who has the first gets further, however large they are.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn records(
        &self,
        merchant_id: MerchantId,
        from: Sequence,
        max: u32,
    ) -> Result<Vec<Vec<u8>>, SharedJournalError> {
        // The length of a value that stands apart from its row is known without reading it.
        let query = format!(
            "select bytes from (
                 select sequence, bytes, row_number() over w as number, sum(octet_length(bytes)) over w as bytes_to_end
                 from {}.record where merchant_id = $1 and sequence >= $2
                 window w as (order by sequence rows unbounded preceding) limit $3) r
             where number <= 2 or bytes_to_end - octet_length(bytes) < {RECORD_BYTES} order by sequence",
            self.schema()
        );
        let (merchant, from) = (merchant_uuid(merchant_id), i64::try_from(from.0).unwrap_or(i64::MAX));
        let rows = self.read(async |client| client.query(&query, &[&merchant, &from, &i64::from(max)]).await)?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// At most `max` rows of the family with this number in a range of keys, in the order of their keys.
    pub(crate) fn numbered_rows(
        &self,
        family: i16,
        range: &KeyRange,
        max: u32,
    ) -> Result<Vec<RowPair>, SharedJournalError> {
        let query = format!(
            "select key, value from {}.row where family = $1 and key >= $2 and key < $3 order by key limit $4",
            self.schema()
        );
        let (lower, upper) = range;
        let rows = self.read(async |client| client.query(&query, &[&family, lower, upper, &i64::from(max)]).await)?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Passes the rows of a family in a range of keys on, page by page.
    ///
    /// # Errors
    /// Fails when they cannot be read, and with the errors of `write`.
    pub fn each_page(&self, family: Family, range: KeyRange, write: &mut WriteRows<'_>) -> Result<(), JournalError> {
        self.each_numbered_page(number_of(family), range, &mut |range, rows| write(RemoteRows { family, range, rows }))
    }

    /// The same by the number of the family in the table.
    pub(crate) fn each_numbered_page<E: From<SharedJournalError>>(
        &self,
        family: i16,
        range: KeyRange,
        write: &mut dyn FnMut(KeyRange, Vec<RowPair>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut lower, upper) = range;
        loop {
            let rows = self.numbered_rows(family, &(lower.clone(), upper.clone()), PAGE)?;
            let is_last = rows.len() < PAGE as usize;
            let last = rows.last().filter(|_| !is_last).map(|(key, _)| [key.as_slice(), &[0]].concat());
            let end = last.unwrap_or_else(|| upper.clone());
            write((lower, end.clone()), rows)?;
            if is_last {
                return Ok(());
            }
            lower = end;
        }
    }
}
