//! The JSON of a dispute: contract, section 9.1a.

use serde::Serialize;
use till_domain::dispute::{Dispute, DisputeStatus};
use till_domain::ids::{DisputeId, PaymentId};
use till_domain::text::ExternalId;

use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

pub(in crate::endpoints) static DISPUTE: ObjectType = ObjectType {
    name: "dispute",
    attributes: &[
        Attribute::always("dispute_id", ValueType::Id(DisputeId::PREFIX), "The dispute's id (`dsp_...`)."),
        Attribute::always("payment_id", ValueType::Id(PaymentId::PREFIX), "The payment whose money is in dispute."),
        Attribute::nullable("external_id", ValueType::STRING, "The merchant's own reference of that payment.")
            .such_as("order-1001"),
        Attribute::always("status", words_of!(DisputeStatus), "Its status.").such_as("OPEN"),
        Attribute::nullable("reason", ValueType::STRING, "The reason that the provider gives.").such_as("fraudulent"),
        Attribute::always("amount", ValueType::INTEGER, "The amount in dispute, in minor units.").such_as("10000"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::nullable("evidence", ValueType::STRING, "The evidence that the merchant gave."),
        Attribute::always(
            "evidence_due_at",
            ValueType::TIMESTAMP,
            "The deadline for evidence, at which a dispute without evidence is lost.",
        )
        .such_as("1767830400"),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was opened."),
        Attribute::nullable("closed_at", ValueType::TIMESTAMP, "The time at which it was won, lost or conceded."),
    ],
};

#[derive(Serialize)]
pub(crate) struct DisputeShape {
    dispute_id: String,
    payment_id: String,
    external_id: Option<String>,
    status: &'static str,
    reason: Option<String>,
    amount: u64,
    currency: String,
    evidence: Option<String>,
    evidence_due_at: u64,
    created_at: u64,
    closed_at: Option<u64>,
}

impl DisputeShape {
    /// The object for a dispute of the payment that has this reference of the merchant's.
    pub(crate) fn new(dispute: &Dispute, external_id: Option<ExternalId>) -> DisputeShape {
        DisputeShape {
            dispute_id: dispute.id.to_string(),
            payment_id: dispute.payment_id.to_string(),
            external_id: external_id.map(|external_id| external_id.as_str().to_owned()),
            status: dispute.status.name(),
            reason: dispute.reason.as_ref().map(|reason| reason.as_str().to_owned()),
            amount: dispute.money.amount.get(),
            currency: dispute.money.currency.to_string(),
            evidence: dispute.evidence.as_ref().map(|evidence| evidence.as_str().to_owned()),
            evidence_due_at: dispute.evidence_due_at.unix_seconds(),
            created_at: dispute.created_at.unix_seconds(),
            closed_at: dispute.closed_at.map(|at| at.unix_seconds()),
        }
    }
}
