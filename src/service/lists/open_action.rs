//! The action that the customer of a payment is asked for, and what the acquirer prepared for it.

use till_domain::acquirer::AcquirerRef;
use till_domain::customer_action::{CustomerAction, CustomerStep};
use till_domain::payment::Payment;
use till_domain::records::{CustomerActions, Preparations, Rows};
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;

use crate::service::submission::Reader;

/// The action that the customer must take at `now`; none when the payment does not wait for its customer, or the time
/// is over. The acquirer's page is shown by its address, from the preparation, as any other address.
///
/// # Errors
/// `UNAVAILABLE` when the row cannot be read.
pub(crate) fn open_action(
    reader: &Reader<'_>,
    payment: &Payment,
    now: Millis,
) -> Result<Option<CustomerAction>, ApiError> {
    if !payment.customer_must_act(now) {
        return Ok(None);
    }
    let Some(action) = reader.get::<CustomerActions>(payment.id)? else { return Ok(None) };
    if action.step != CustomerStep::AcquirerPage {
        return Ok(Some(action));
    }
    let page = reader.get::<Preparations>(payment.id)?.and_then(|prepared| prepared.page);
    Ok(page.map(|page| CustomerAction { step: CustomerStep::Redirect(page), ..action }))
}

/// The acquirer's id of what it prepared for a payment that it has not authorized.
///
/// # Errors
/// `UNAVAILABLE` when the row cannot be read.
pub(crate) fn prepared_reference(reader: &Reader<'_>, payment: &Payment) -> Result<Option<String>, ApiError> {
    if payment.acquirer == AcquirerRef::Sandbox || payment.authorization.is_some() {
        return Ok(None);
    }
    Ok(reader.get::<Preparations>(payment.id)?.map(|prepared| prepared.acquirer_reference))
}
