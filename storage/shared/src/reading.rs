//! Reads of the log: the ends of merchants' logs, records, and rows.

use parking_lot::Mutex;
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::journal::Sequence;
use tokio_postgres::{Client, Error, Row};
use uuid::Uuid;

use crate::append::{merchant_uuid, number_of};
use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::settings::JournalSettings;

/// The end of a merchant's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MerchantLog {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The last record, as the local store has it.
    pub last_record: Vec<u8>,
}

/// A row that is not derived.
#[derive(Clone, PartialEq, Eq)]
pub struct JournalRow {
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Vec<u8>,
}

/// Reads of the log, on as many connections as are used at the same time.
pub struct JournalReader {
    settings: JournalSettings,
    idle: Mutex<Vec<Connection>>,
}

impl JournalReader {
    pub(crate) const fn new(settings: JournalSettings) -> JournalReader {
        JournalReader { settings, idle: Mutex::new(Vec::new()) }
    }

    /// Reads on an idle connection, or on a new one. A connection that has failed is dropped.
    fn read<T>(&self, query: impl AsyncFnOnce(&mut Client) -> Result<T, Error>) -> Result<T, SharedJournalError> {
        let mut idle = self.idle.lock().pop();
        if idle.as_mut().is_some_and(Connection::is_closed) {
            idle = None;
        }
        let mut connection = idle.map_or_else(|| Connection::open(&self.settings), Ok)?;
        let answer = connection.run(query)?;
        self.idle.lock().push(connection);
        Ok(answer)
    }

    fn schema(&self) -> &str {
        &self.settings.schema
    }

    /// The ends of at most `max` merchants' logs, in the order of their ids, after `after`.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn logs(&self, after: Option<MerchantId>, max: u32) -> Result<Vec<MerchantLog>, SharedJournalError> {
        // One step of the index for each merchant, instead of one for each record.
        let schema = self.schema();
        let query = format!(
            "with recursive m as (
                 (select merchant_id from {schema}.record where merchant_id > $1 order by merchant_id limit 1)
                 union all
                 select (select r.merchant_id from {schema}.record r where r.merchant_id > m.merchant_id
                         order by r.merchant_id limit 1)
                 from m where m.merchant_id is not null)
             select m.merchant_id, l.bytes from m, lateral (
                 select bytes from {schema}.record r where r.merchant_id = m.merchant_id order by sequence desc limit 1) l
             where m.merchant_id is not null limit $2"
        );
        let after = after.map_or(Uuid::nil(), merchant_uuid);
        let rows = self.read(async |client| client.query(&query, &[&after, &i64::from(max)]).await)?;
        let log = |row: &Row| MerchantLog {
            merchant_id: MerchantId::from_bytes(row.get::<_, Uuid>(0).into_bytes()),
            last_record: row.get(1),
        };
        Ok(rows.iter().map(log).collect())
    }

    /// The end of one merchant's log; none when it has no record.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn last_record(&self, merchant_id: MerchantId) -> Result<Option<Vec<u8>>, SharedJournalError> {
        let query =
            format!("select bytes from {}.record where merchant_id = $1 order by sequence desc limit 1", self.schema());
        let merchant = merchant_uuid(merchant_id);
        let row = self.read(async |client| client.query_opt(&query, &[&merchant]).await)?;
        Ok(row.map(|row| row.get(0)))
    }

    /// At most `max` records of a merchant's log, from `from` on, in order.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn records(
        &self,
        merchant_id: MerchantId,
        from: Sequence,
        max: u32,
    ) -> Result<Vec<Vec<u8>>, SharedJournalError> {
        let query = format!(
            "select bytes from {}.record where merchant_id = $1 and sequence >= $2 order by sequence limit $3",
            self.schema()
        );
        let (merchant, from) = (merchant_uuid(merchant_id), i64::try_from(from.0).unwrap_or(i64::MAX));
        let rows = self.read(async |client| client.query(&query, &[&merchant, &from, &i64::from(max)]).await)?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// At most `max` rows of a family whose keys begin with `prefix`, after the key `after`, in the order of their keys.
    ///
    /// # Errors
    /// [`SharedJournalError`].
    pub fn rows(
        &self,
        family: Family,
        prefix: &[u8],
        after: Option<&[u8]>,
        max: u32,
    ) -> Result<Vec<JournalRow>, SharedJournalError> {
        let query = format!(
            "select key, value from {}.row where family = $1 and key >= $2 and ($3::bytea is null or key > $3)
             and substring(key from 1 for $4) = $2 order by key limit $5",
            self.schema()
        );
        let length = i32::try_from(prefix.len()).unwrap_or(i32::MAX);
        let rows = self.read(async |client| {
            client.query(&query, &[&number_of(family), &prefix, &after, &length, &i64::from(max)]).await
        })?;
        Ok(rows.iter().map(|row| JournalRow { key: row.get(0), value: row.get(1) }).collect())
    }
}
