//! References to payments in calls: by Till's id or by the merchant's own identifier.

use till_domain::ids::PaymentId;
use till_domain::payment::PaymentRef;
use till_domain::records::{PaymentsByExternalId, Rows};

use crate::endpoints::prelude::*;

/// The id of the payment; None when no payment has the merchant's identifier.
pub(super) fn id(reader: &Reader<'_>, payment: &PaymentRef) -> Result<Option<PaymentId>, ApiError> {
    match payment {
        PaymentRef::Own(id) => Ok(Some(*id)),
        PaymentRef::External(external_id) => Ok(reader.get::<PaymentsByExternalId>(external_id.clone())?),
    }
}

/// The reference to a payment as text.
pub(super) fn text(payment: &PaymentRef) -> String {
    match payment {
        PaymentRef::Own(id) => id.to_string(),
        PaymentRef::External(external_id) => external_id.as_str().to_owned(),
    }
}
