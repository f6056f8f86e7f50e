//! The JSON of a dispute: contract, section 9.1a.

use till_domain::dispute::{Dispute, DisputeStatus};
use till_domain::ids::{DisputeId, PaymentId};
use till_domain::text::ExternalId;

use super::object::object;

object! {
    /// A dispute of the payment that has this reference of the merchant's.
    pub(crate) DISPUTE "dispute" as DisputeShape<'a> of (dispute: &'a Dispute, external_id: Option<ExternalId>) {
        dispute_id: Id(DisputeId::PREFIX) = dispute.id, "The dispute's id (`dsp_...`).";
        payment_id: Id(PaymentId::PREFIX) = dispute.payment_id, "The payment whose money is in dispute.";
        external_id: STRING or null = external_id,
            "The merchant's own reference of that payment.", such_as("order-1001");
        status: words_of(DisputeStatus) = dispute.status, "Its status.", such_as("OPEN");
        reason: STRING or null = dispute.reason, "The reason that the provider gives.", such_as("fraudulent");
        amount: MINOR_UNITS = dispute.money.amount, "The amount in dispute, in minor units.", such_as("10000");
        currency: STRING = dispute.money.currency, "The ISO 4217 code.", such_as("THB");
        evidence: STRING or null = dispute.evidence, "The evidence that the merchant gave.";
        evidence_due_at: TIMESTAMP = dispute.evidence_due_at,
            "The deadline for evidence, at which a dispute without evidence is lost.", such_as("1767830400");
        created_at: TIMESTAMP = dispute.created_at, "The time at which it was opened.";
        closed_at: TIMESTAMP or null = dispute.closed_at, "The time at which it was won, lost or conceded.";
    }
}
