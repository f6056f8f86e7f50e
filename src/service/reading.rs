//! Reads of one merchant's committed rows.

use std::sync::Arc;

use till_actors::StoreReader;
use till_domain::ids::MerchantId;
use till_domain::records::{Rows, Table};
use till_storage::rows::RowReader;
use till_storage::shapes::{ReadPersonal, TypedRows, decode_row_of};

use super::page::ListedRow;
use super::shared::{Service, unreadable};
use crate::protocol::api_error::ApiError;

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

    /// A listed row from its bytes.
    pub(super) fn decode<T: ListedRow>(&self, bytes: &[u8]) -> Result<T, ApiError> {
        let reader = StoreReader(Arc::clone(&self.service.store));
        let row = decode_row_of(T::TABLE, bytes, &self.personal(&reader)).map_err(|error| unreadable(&error))?;
        T::from_any(row).ok_or_else(ApiError::unhandled)
    }

    fn personal<'r>(&self, reader: &'r StoreReader) -> ReadPersonal<&'r StoreReader> {
        ReadPersonal::new(self.merchant_id, Arc::clone(&self.service.keyring), reader)
    }
}
