//! The action that the customer of a payment is asked for.

use till_domain::customer_action::CustomerAction;
use till_domain::payment::Payment;
use till_domain::records::{CustomerActions, Rows};
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;

use crate::service::submission::Reader;

/// The action that the customer must take at `now`; none when the payment does not wait for its customer, or the time
/// is over.
///
/// # Errors
/// `UNAVAILABLE` when the row cannot be read.
pub(crate) fn open_action(
    reader: &Reader<'_>,
    payment: &Payment,
    now: Millis,
) -> Result<Option<CustomerAction>, ApiError> {
    if payment.customer_must_act(now) { Ok(reader.get::<CustomerActions>(payment.id)?) } else { Ok(None) }
}
