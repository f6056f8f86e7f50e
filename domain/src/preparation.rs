//! Preparations: what acquirers make ready for payments before any money can move.

use crate::ids::PaymentId;
use crate::text::ActionAddress;

/// What an acquirer made ready for a payment, as it tells it and as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    /// The payment.
    pub payment_id: PaymentId,
    /// The acquirer's own id of what it made ready: at most 255 printable ASCII bytes.
    pub acquirer_reference: String,
    /// The address of the acquirer's page, on which whoever has it may pay; none for a payment without a page. It is
    /// sealed under a key of its own, which is deleted as soon as the payment is no longer pending. Then there is none,
    /// so it does not tell what the reference names.
    pub page: Option<ActionAddress>,
}
