//! The contract of a store of deliveries.

use std::path::{Path, PathBuf};

use till_domain::ids::{DeliveryId, MerchantId, WebhookEventId, WebhookId};
use till_domain::time::Millis;

use super::delivery::{Delivery, DeliveryStatus, WebhookProgress};
use crate::rows::Beside;
use till_domain::cursor::Cursor;

/// Changes that are written together: all of them or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryBatch {
    /// Deliveries that are new, or replace those with the same ids. If two have the same id, the later one counts.
    pub deliveries: Vec<Delivery>,
    /// The progress of one webhook.
    pub progress: Option<(WebhookId, WebhookProgress)>,
}

/// A filter of deliveries: a list contains those that match every field that is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Those to this webhook.
    pub webhook_id: Option<WebhookId>,
    /// Those of this event.
    pub event_id: Option<WebhookEventId>,
    /// Those with this status.
    pub status: Option<DeliveryStatus>,
}

impl DeliveryFilter {
    /// Returns true for a delivery that is in the list.
    #[must_use]
    pub fn admits(&self, delivery: &Delivery) -> bool {
        self.webhook_id.is_none_or(|webhook_id| webhook_id == delivery.webhook_id)
            && self.event_id.is_none_or(|event_id| event_id == delivery.event_id)
            && self.status.is_none_or(|status| status == delivery.status)
    }
}

/// Deliveries newest first, and the directions in which the list has more.
pub type DeliveryPage = (Vec<Delivery>, Beside);

/// Keeps deliveries and the progress of webhooks. Every write is visible to the next read of any thread.
///
/// # Errors
/// Every method fails with [`DeliveriesError::Broken`] when the store cannot be used, and, when it reads, with
/// [`DeliveriesError::Damaged`] or [`DeliveriesError::UnknownFormat`] when a row is damaged or unknown.
pub trait Deliveries: Send + Sync {
    /// Writes a batch, all or nothing.
    ///
    /// # Errors
    /// Also [`DeliveriesError::NotWritten`]: nothing was written, and a later write may succeed.
    fn write(&self, merchant_id: MerchantId, batch: &DeliveryBatch) -> Result<(), DeliveriesError>;

    /// Checks that a delivery can be written now.
    ///
    /// # Errors
    /// Also [`DeliveriesError::NotWritten`]: the disk has no more room than its reserve.
    fn check_room(&self) -> Result<(), DeliveriesError>;

    /// The progress of a webhook; none when it never had an event.
    fn progress(
        &self,
        merchant_id: MerchantId,
        webhook_id: WebhookId,
    ) -> Result<Option<WebhookProgress>, DeliveriesError>;

    /// At most `limit` deliveries to a webhook that are due at `now`, the earliest first.
    fn due_deliveries(
        &self,
        merchant_id: MerchantId,
        webhook_id: WebhookId,
        now: Millis,
        limit: usize,
    ) -> Result<Vec<Delivery>, DeliveriesError>;

    /// The number of pending deliveries to a webhook, counted up to `limit`.
    fn pending(&self, merchant_id: MerchantId, webhook_id: WebhookId, limit: usize) -> Result<usize, DeliveriesError>;

    /// The instant at which the first pending delivery to a webhook is due.
    fn next_due(&self, merchant_id: MerchantId, webhook_id: WebhookId) -> Result<Option<Millis>, DeliveriesError>;

    /// One delivery.
    fn delivery(&self, merchant_id: MerchantId, delivery_id: DeliveryId) -> Result<Option<Delivery>, DeliveriesError>;

    /// All deliveries of an event, newest first: one for each webhook, and one for each time it was delivered again.
    fn of_event(&self, merchant_id: MerchantId, event_id: WebhookEventId) -> Result<Vec<Delivery>, DeliveriesError>;

    /// The page at a cursor, or the newest one, of a list; newest first. An id that names no delivery represents its
    /// position in time.
    fn page(
        &self,
        merchant_id: MerchantId,
        filter: &DeliveryFilter,
        size: usize,
        cursor: Option<Cursor<DeliveryId>>,
    ) -> Result<DeliveryPage, DeliveriesError>;

    /// Ends every pending delivery to a webhook as failed, and returns their number. They are written in groups: after
    /// a crash in between the others are still pending, and the call is repeated.
    ///
    /// # Errors
    /// Also [`DeliveriesError::NotWritten`]: some deliveries may have ended.
    fn end_pending(&self, merchant_id: MerchantId, webhook_id: WebhookId) -> Result<usize, DeliveriesError>;

    /// Removes at most `limit` deliveries of a merchant that were made before an instant, pending ones too and the
    /// oldest first, and returns their number: when it is the limit, there may be more.
    ///
    /// # Errors
    /// Also [`DeliveriesError::NotWritten`]: none was removed.
    fn remove_created_before(
        &self,
        merchant_id: MerchantId,
        instant: Millis,
        limit: usize,
    ) -> Result<usize, DeliveriesError>;

    /// The first merchant with a delivery, after the given one or of all.
    fn next_merchant(&self, after: Option<MerchantId>) -> Result<Option<MerchantId>, DeliveriesError>;

    /// Every webhook with a pending delivery, with its merchant.
    fn pending_webhooks(&self) -> Result<Vec<(MerchantId, WebhookId)>, DeliveriesError>;
}

/// The reason for which the store did not carry out a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveriesError {
    /// It does not open.
    #[error(
        "the deliveries of webhooks in {} cannot be opened: {reason}; {}", directory.display(), remedy(directory)
    )]
    Unopened {
        /// Its directory.
        directory: PathBuf,
        /// The message of its database.
        reason: String,
    },
    /// It cannot be written to now; nothing was written.
    #[error("deliveries of webhooks cannot be written now: {reason}")]
    NotWritten {
        /// The reason.
        reason: String,
    },
    /// Its database failed.
    #[error("the deliveries of webhooks cannot be used: {reason}")]
    Broken {
        /// The message of the database.
        reason: String,
    },
    /// The bytes of a row are damaged.
    #[error("a row among the deliveries of webhooks is damaged: {reason}")]
    Damaged {
        /// The row, and the part of it that is wrong.
        reason: String,
    },
    /// A later version of the program wrote a row: upgrade the program.
    #[error("the {what} has format {found}, which this program does not know: upgrade the program")]
    UnknownFormat {
        /// The row that was read.
        what: &'static str,
        /// The format byte.
        found: u8,
    },
}

impl DeliveriesError {
    /// The message for an operator whose store is in this directory, with the remedy where there is one.
    #[must_use]
    pub fn advice(&self, directory: &Path) -> String {
        match self {
            DeliveriesError::Broken { .. } | DeliveriesError::Damaged { .. } => {
                format!("{self}; {}", remedy(directory))
            }
            DeliveriesError::Unopened { .. }
            | DeliveriesError::NotWritten { .. }
            | DeliveriesError::UnknownFormat { .. } => self.to_string(),
        }
    }
}

fn remedy(directory: &Path) -> String {
    let directory = directory.display();
    format!(
        "if they are damaged, they can be moved away, and the server starts with none and delivers the events of the \
         last 30 days again: mv {directory} {directory}.damaged"
    )
}
