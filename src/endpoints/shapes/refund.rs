//! The JSON of a refund: contract, section 9.1a.

use till_domain::failure::FailureCode;
use till_domain::ids::{PaymentId, RefundId};
use till_domain::refund::{Refund, RefundStatus};

use super::object::object;

object! {
    /// A refund.
    pub(crate) REFUND "refund" as RefundShape<'a> of (refund: &'a Refund) {
        refund_id: Id(RefundId::PREFIX) = refund.id, "The refund's id (`rfn_...`).";
        external_id: STRING or null = refund.external_id, "The merchant's own reference.", such_as("refund-1001");
        payment_id: Id(PaymentId::PREFIX) = refund.payment_id, "The payment whose money is paid back.";
        status: words_of(RefundStatus) = refund.status, "The status.", such_as("SUCCESSFUL");
        amount: MINOR_UNITS = refund.money.amount, "The amount that is paid back, in minor units.", such_as("4000");
        currency: STRING = refund.money.currency, "The ISO 4217 code.", such_as("THB");
        full: BOOLEAN = refund.is_full, "True when it alone refunds the whole payment.", such_as("false");
        reason: STRING or null = refund.reason, "The reason of the refund.", such_as("The lamp arrived broken.");
        failure_code: words_of(FailureCode) or null = refund.failure.as_ref().map(|failure| failure.code),
            "The reason of the failure, for programs.";
        failure_message: STRING or null = refund.failure.as_ref().map(|failure| failure.code.message()),
            "The reason of the failure, for a person.";
        acquirer_reference: STRING or null = refund.acquirer_reference,
            "The acquirer's own id of the refund; null before it has confirmed it.",
            such_as("sandbox:pay_01jz0000000000000000000001/refund/01jz0000000000000000000003");
        acquirer_code: STRING or null = refund.failure.as_ref().and_then(|failure| failure.acquirer_code.as_ref()),
            "The acquirer's own word for the failure, where it has told one.";
        created_at: TIMESTAMP = refund.created_at, "The time at which it was accepted.";
        refunded_at: TIMESTAMP or null = refund.refunded_at,
            "The time at which the acquirer confirmed it.", such_as("1767225601");
    }
}
