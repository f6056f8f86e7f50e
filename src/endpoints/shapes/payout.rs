//! The JSON of a payout: contract, section 9.1a.

use serde::Serialize;
use till_domain::ids::PayoutId;
use till_domain::payout::{Payout, PayoutStatus};

use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

pub(in crate::endpoints) static PAYOUT: ObjectType = ObjectType {
    name: "payout",
    attributes: &[
        Attribute::always("payout_id", ValueType::Id(PayoutId::PREFIX), "The payout's id (`pyo_...`)."),
        Attribute::nullable("external_id", ValueType::STRING, "The merchant's own reference.").such_as("payout-1001"),
        Attribute::always("status", words_of!(PayoutStatus), "The status.").such_as("SUCCESSFUL"),
        Attribute::always("amount", ValueType::INTEGER, "The amount that is paid out, in minor units.")
            .such_as("10000"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::nullable("description", ValueType::STRING, "The merchant's description."),
        Attribute::nullable("failure_code", ValueType::STRING, "The reason of the failure, for programs."),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was accepted."),
        Attribute::nullable("paid_at", ValueType::TIMESTAMP, "The time at which the acquirer confirmed it.")
            .such_as("1767225601"),
    ],
};

#[derive(Serialize)]
pub(crate) struct PayoutShape {
    payout_id: String,
    external_id: Option<String>,
    status: &'static str,
    amount: u64,
    currency: String,
    description: Option<String>,
    failure_code: Option<String>,
    created_at: u64,
    paid_at: Option<u64>,
}

impl PayoutShape {
    /// The object for a payout.
    pub(crate) fn new(payout: &Payout) -> PayoutShape {
        PayoutShape {
            payout_id: payout.id.to_string(),
            external_id: payout.external_id.as_ref().map(|external_id| external_id.as_str().to_owned()),
            status: payout.status.name(),
            amount: payout.money.amount.get(),
            currency: payout.money.currency.to_string(),
            description: payout.description.as_ref().map(|description| description.as_str().to_owned()),
            failure_code: payout.failure.as_ref().map(|failure| failure.code.clone()),
            created_at: payout.created_at.unix_seconds(),
            paid_at: payout.paid_at.map(|at| at.unix_seconds()),
        }
    }
}
