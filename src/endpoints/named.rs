//! Refunds and payouts as calls name them: by Till's id or by the merchant's own identifier.

use till_domain::ids::{PayoutId, RefundId};
use till_domain::payout::Payout;
use till_domain::records::{Payouts, PayoutsByExternalId, Refunds, RefundsByExternalId, Rows};
use till_domain::refund::Refund;
use till_domain::refusal::Refusal;

use super::arguments::IdOrExternalId;
use crate::protocol::api_error::ApiError;
use crate::service::{Reader, refused};

/// The refund that a call names.
pub(super) fn refund(reader: &Reader<'_>, named: IdOrExternalId<RefundId>) -> Result<Refund, ApiError> {
    let id = match named {
        IdOrExternalId::Id(id) => Some(id),
        IdOrExternalId::ExternalId(external_id) => reader.get::<RefundsByExternalId>(external_id)?,
    };
    let found = id.map_or(Ok(None), |id| reader.get::<Refunds>(id))?;
    found.ok_or_else(|| refused(&Refusal::RefundNotFound))
}

/// The payout that a call names.
pub(super) fn payout(reader: &Reader<'_>, named: IdOrExternalId<PayoutId>) -> Result<Payout, ApiError> {
    let id = match named {
        IdOrExternalId::Id(id) => Some(id),
        IdOrExternalId::ExternalId(external_id) => reader.get::<PayoutsByExternalId>(external_id)?,
    };
    let found = id.map_or(Ok(None), |id| reader.get::<Payouts>(id))?;
    found.ok_or_else(|| refused(&Refusal::PayoutNotFound))
}
