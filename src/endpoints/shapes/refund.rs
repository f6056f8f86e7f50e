//! The JSON of a refund: contract, section 9.1a.

use serde::Serialize;
use till_domain::ids::{PaymentId, RefundId};
use till_domain::refund::{Refund, RefundStatus};

use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

pub(in crate::endpoints) static REFUND: ObjectType = ObjectType {
    name: "refund",
    attributes: &[
        Attribute::always("refund_id", ValueType::Id(RefundId::PREFIX), "The refund's id (`rfn_...`)."),
        Attribute::nullable("external_id", ValueType::STRING, "The merchant's own reference.").such_as("refund-1001"),
        Attribute::always("payment_id", ValueType::Id(PaymentId::PREFIX), "The payment whose money is paid back."),
        Attribute::always("status", words_of!(RefundStatus), "The status.").such_as("SUCCESSFUL"),
        Attribute::always("amount", ValueType::INTEGER, "The amount that is paid back, in minor units.")
            .such_as("4000"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::always("full", ValueType::BOOLEAN, "True when it alone refunds the whole payment.").such_as("false"),
        Attribute::nullable("reason", ValueType::STRING, "The reason of the refund.")
            .such_as("The lamp arrived broken."),
        Attribute::nullable("failure_code", ValueType::STRING, "The reason of the failure, for programs."),
        Attribute::nullable("failure_message", ValueType::STRING, "The reason of the failure, for a person."),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was accepted."),
        Attribute::nullable("refunded_at", ValueType::TIMESTAMP, "The time at which the acquirer confirmed it.")
            .such_as("1767225601"),
    ],
};

#[derive(Serialize)]
pub(crate) struct RefundShape {
    refund_id: String,
    external_id: Option<String>,
    payment_id: String,
    status: &'static str,
    amount: u64,
    currency: String,
    full: bool,
    reason: Option<String>,
    failure_code: Option<String>,
    failure_message: Option<String>,
    created_at: u64,
    refunded_at: Option<u64>,
}

impl RefundShape {
    /// The object for a refund.
    pub(crate) fn new(refund: &Refund) -> RefundShape {
        let failure = refund.failure.as_ref();
        RefundShape {
            refund_id: refund.id.to_string(),
            external_id: refund.external_id.as_ref().map(|external_id| external_id.as_str().to_owned()),
            payment_id: refund.payment_id.to_string(),
            status: refund.status.name(),
            amount: refund.money.amount.get(),
            currency: refund.money.currency.to_string(),
            full: refund.is_full,
            reason: refund.reason.as_ref().map(|reason| reason.as_str().to_owned()),
            failure_code: failure.map(|failure| failure.code.clone()),
            failure_message: failure.map(|failure| failure.message.clone()),
            created_at: refund.created_at.unix_seconds(),
            refunded_at: refund.refunded_at.map(|at| at.unix_seconds()),
        }
    }
}
