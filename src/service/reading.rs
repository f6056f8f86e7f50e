//! Reads of one merchant's committed rows.

use std::ops::ControlFlow;
use std::sync::Arc;

use till_actors::Store;
use till_domain::activity::Activity;
use till_domain::ids::{ActivityId, MerchantId};
use till_domain::records::{AnyKey, Rows, Table};
use till_domain::text::Email;
use till_domain::time::Millis;
use till_storage::journal::record;
use till_storage::rows::{Direction, RowReader};
use till_storage::shapes::{
    ActivityIndex, KeyError, KeyParts, MerchantReader, StoredTable, TableKind, decode_key, decode_row_of, table_range,
};

use super::activity_log::{Addresses, Search, Selection, decode_activity};
use super::page::Page;
use super::shared::{Service, unreadable};
use crate::protocol::api_error::ApiError;
use crate::protocol::field::PageRequest;

/// Addresses of users who acted that are looked for: each costs a place in the index.
const ACTING_MAX: usize = 8;

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
        self.rows().get::<T>(key).map_err(|error| unreadable(&error))
    }

    /// Reads that all see one moment.
    pub(super) fn view(&self) -> Box<dyn RowReader + 'a> {
        self.service.store.view()
    }

    /// The row under a key at one moment.
    pub(super) fn get_at<T: Table>(&self, view: &dyn RowReader, key: T::Key) -> Result<Option<T::Row>, ApiError> {
        let rows = MerchantReader::new(self.merchant_id, Some(Arc::clone(&self.service.keyring)), view);
        rows.get::<T>(key).map_err(|error| unreadable(&error))
    }

    /// A row of a table from its bytes.
    pub(super) fn decode_of<T: StoredTable>(&self, bytes: &[u8]) -> Result<T::Row, ApiError> {
        let row = decode_row_of(T::KIND, bytes, &self.rows()).map_err(|error| unreadable(&error))?;
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

    /// A page of the activity log.
    ///
    /// # Errors
    /// `UNAVAILABLE` when a row cannot be read.
    pub async fn search(
        &self,
        selection: &Selection,
        request: PageRequest<ActivityId>,
    ) -> Result<Page<Activity>, ApiError> {
        let personal = self.rows();
        let decode = |bytes: &[u8]| decode_activity(bytes, &personal);
        let view = self.view();
        let window = Search::new(view.as_ref(), self.merchant_id, &decode, selection).page(request).await?;
        Ok(Page::found(request, window.entries, |entry| entry.id, window.beside))
    }

    /// The distinct addresses of the activity log that have a text, in lower case, in them, and how many there are.
    ///
    /// # Errors
    /// `UNAVAILABLE` when they cannot be read.
    pub fn activity_emails_with(&self, text: &str) -> Result<Addresses, ApiError> {
        let (table, mut emails, mut all) = (TableKind::ActivityEmails, Vec::new(), 0);
        let (lower, upper) = table_range(self.merchant_id, table);
        self.view()
            .visit(table.family(), &lower, &upper, Direction::Forward, &mut |key, _| {
                all += 1;
                // The key ends in the address: most are passed over as they stand.
                if contains(key, text.as_bytes()) {
                    emails.push(decode_key(table.family(), key));
                }
                ControlFlow::Continue(())
            })
            .map_err(|error| unreadable(&error))?;
        let email = |decoded: Result<(_, KeyParts), KeyError>| match decoded.map_err(|error| unreadable(&error))? {
            (_, KeyParts::Row(AnyKey::ActivityEmails(email))) => Ok(email),
            (_, _) => Err(ApiError::unhandled()),
        };
        let mut matching = emails.into_iter().map(email).collect::<Result<Vec<Email>, ApiError>>()?;
        matching.retain(|email| email.as_str().contains(text));
        Ok(Addresses { matching, all })
    }

    /// The distinct addresses of users who acted; nothing when they are more than [`ACTING_MAX`].
    ///
    /// # Errors
    /// `UNAVAILABLE` when they cannot be read.
    pub fn acting_emails(&self) -> Result<Option<Vec<Email>>, ApiError> {
        let (table, view, mut emails) = (TableKind::ActivitiesByActorEmail, self.view(), Vec::new());
        let (mut lower, upper) = table_range(self.merchant_id, table);
        while emails.len() <= ACTING_MAX {
            let first = view.scan(table.family(), &lower, &upper, Direction::Forward, 1);
            let Some((key, _)) = first.map_err(|error| unreadable(&error))?.pop() else { return Ok(Some(emails)) };
            let decoded = decode_key(table.family(), &key).map_err(|error| unreadable(&error))?;
            let (_, KeyParts::Row(AnyKey::ActivitiesByActorEmail((email, _)))) = decoded else {
                return Err(ApiError::unhandled());
            };
            let last = ActivityId::from_bytes([u8::MAX; 16]);
            (_, (_, lower)) = ActivityIndex::ActorEmail(email.clone()).range(self.merchant_id, last, last);
            emails.push(email);
        }
        Ok(None)
    }

    fn rows(&self) -> MerchantReader<&dyn Store> {
        MerchantReader::new(self.merchant_id, Some(Arc::clone(&self.service.keyring)), &*self.service.store)
    }
}

/// Whether bytes have others in them.
fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len().max(1)).any(|window| window == part)
}
