//! Reads of one merchant's committed rows.

use std::sync::Arc;

use till_actors::StoreReader;
use till_domain::activity::Activity;
use till_domain::ids::{ActivityId, MerchantId};
use till_domain::records::{AnyKey, Rows, Table};
use till_domain::text::Email;
use till_domain::time::Millis;
use till_storage::journal::record;
use till_storage::rows::{Direction, RowReader};
use till_storage::shapes::{
    KeyParts, ReadPersonal, StoredRows, TableKind, TypedRows, decode_key, decode_row_of, table_range,
};

use super::activity_log::{Search, Selection, decode_activity};
use super::page::{ListedRow, Page};
use super::shared::{Service, unreadable};
use crate::protocol::api_error::ApiError;
use crate::protocol::field::PageRequest;

/// Addresses that are read at a time.
const EMAILS_AT_A_TIME: usize = 1_024;

/// Reads of one merchant's rows. It holds committed rows only, and an answer is sent after its commit, so a
/// caller always reads its own writes.
pub struct Reader<'a> {
    service: &'a Service,
    /// Whose rows.
    pub merchant_id: MerchantId,
}

impl<'a> Reader<'a> {
    pub(super) fn new(service: &'a Service, merchant_id: MerchantId) -> Reader<'a> {
        Reader { service, merchant_id }
    }

    /// The row under a key.
    ///
    /// # Errors
    /// `UNAVAILABLE` when it cannot be read: a damaged row fails the reads that touch it, and only these.
    pub fn get<T: Table>(&self, key: T::Key) -> Result<Option<T::Row>, ApiError> {
        let reader = StoreReader(Arc::clone(&self.service.store));
        let personal = self.personal(&reader);
        let rows = TypedRows::new(&reader, &personal).of_merchant(self.merchant_id);
        rows.get::<T>(key).map_err(|error| unreadable(&error))
    }

    /// Reads that all see one moment.
    pub(super) fn view(&self) -> Box<dyn RowReader + 'a> {
        self.service.store.view()
    }

    /// The row under a key at one moment.
    pub(super) fn get_at<T: Table>(&self, view: &dyn RowReader, key: T::Key) -> Result<Option<T::Row>, ApiError> {
        let reader = StoreReader(Arc::clone(&self.service.store));
        let (bytes, personal) = (StoredRows(view), self.personal(&reader));
        let rows = TypedRows::new(&bytes, &personal).of_merchant(self.merchant_id);
        rows.get::<T>(key).map_err(|error| unreadable(&error))
    }

    /// A row of a table from its bytes.
    pub(super) fn decode_of<T: Table>(&self, table: TableKind, bytes: &[u8]) -> Result<T::Row, ApiError> {
        let reader = StoreReader(Arc::clone(&self.service.store));
        let row = decode_row_of(table, bytes, &self.personal(&reader)).map_err(|error| unreadable(&error))?;
        T::unwrap(row).ok_or_else(ApiError::unhandled)
    }

    /// The later of the clock and the merchant's last event: what expires is judged by it.
    ///
    /// # Errors
    /// `UNAVAILABLE` when the last record cannot be read.
    pub fn now(&self) -> Result<Millis, ApiError> {
        let head = self.service.store.head(self.merchant_id).map_err(|error| unreadable(&error))?;
        let last = self.service.store.read(self.merchant_id, head.sequence, 1).map_err(|error| unreadable(&error))?;
        let Some(stored) = last.first() else { return Ok(self.service.now()) };
        let last = record::decode(&stored.bytes).map_err(|error| unreadable(&error))?;
        Ok(self.service.now().max(Millis(last.header.at_ms)))
    }

    /// A listed row from its bytes.
    pub(super) fn decode<T: ListedRow>(&self, bytes: &[u8]) -> Result<T, ApiError> {
        let reader = StoreReader(Arc::clone(&self.service.store));
        let row = decode_row_of(T::TABLE, bytes, &self.personal(&reader)).map_err(|error| unreadable(&error))?;
        T::from_any(row).ok_or_else(ApiError::unhandled)
    }

    /// A page of the activity log.
    ///
    /// # Errors
    /// `UNAVAILABLE` when a row cannot be read.
    pub async fn search(
        &self,
        selection: &Selection,
        request: PageRequest<ActivityId>,
    ) -> Result<Page<Activity>, ApiError> {
        let reader = StoreReader(Arc::clone(&self.service.store));
        let personal = self.personal(&reader);
        let decode = |bytes: &[u8]| decode_activity(bytes, &personal);
        let view = self.view();
        let window = Search::new(view.as_ref(), self.merchant_id, &decode, selection).page(request).await?;
        Ok(Page::found(request, window.entries, |entry| entry.id, window.beside))
    }

    /// The distinct addresses of the activity log.
    ///
    /// # Errors
    /// `UNAVAILABLE` when they cannot be read.
    pub fn activity_emails(&self) -> Result<Vec<Email>, ApiError> {
        let table = TableKind::ActivityEmails;
        let (mut lower, upper) = table_range(self.merchant_id, table);
        let (view, mut emails) = (self.view(), Vec::new());
        loop {
            let pairs = view.scan(table.family(), &lower, &upper, Direction::Forward, EMAILS_AT_A_TIME);
            let pairs = pairs.map_err(|error| unreadable(&error))?;
            for (key, _) in &pairs {
                if let (_, KeyParts::Row(AnyKey::ActivityEmails(email))) =
                    decode_key(table.family(), key).map_err(|error| unreadable(&error))?
                {
                    emails.push(email);
                }
            }
            match pairs.into_iter().nth(EMAILS_AT_A_TIME - 1) {
                Some((last, _)) => lower = [last.as_slice(), &[0]].concat(),
                None => return Ok(emails),
            }
        }
    }

    fn personal<'r>(&self, reader: &'r StoreReader) -> ReadPersonal<&'r StoreReader> {
        ReadPersonal::new(self.merchant_id, Arc::clone(&self.service.keyring), reader)
    }
}
