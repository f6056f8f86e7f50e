//! Preparations: what acquirers make ready for payments before any money can move.

use crate::ids::PaymentId;
use crate::text::ActionAddress;

/// What an acquirer made ready for a payment before any money can move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    /// The acquirer's own id: at most 255 printable ASCII bytes.
    pub acquirer_reference: String,
    /// The address of the acquirer's page, for a payment that is made there. It is not kept after the end of the
    /// payment, so it does not tell then what the reference names.
    pub page: Option<ActionAddress>,
}

/// The preparation of a payment, as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedPayment {
    /// The payment.
    pub payment_id: PaymentId,
    /// The acquirer's own id of what it made ready.
    pub acquirer_reference: String,
    /// The address of the acquirer's page, on which whoever has it may pay. It is sealed under a key of its own, which
    /// is deleted as soon as the payment is no longer pending: then there is none.
    pub page: Option<ActionAddress>,
}

impl PreparedPayment {
    /// What the acquirer made ready, as far as it is still known.
    #[must_use]
    pub fn into_preparation(self) -> Preparation {
        Preparation { acquirer_reference: self.acquirer_reference, page: self.page }
    }
}
