//! The JSON of a top-up: contract, section 9.1a.

use serde::Serialize;
use till_domain::ids::TopupId;
use till_domain::ledger::Topup;
use till_domain::money::Currency;

use crate::protocol::declaration::{Attribute, ObjectType, ValueType};

/// The only status: a top-up is recorded once its money has arrived.
const SUCCESSFUL: &str = "SUCCESSFUL";

pub(in crate::endpoints) static TOPUP: ObjectType = ObjectType {
    name: "topup",
    attributes: &[
        Attribute::always("topup_id", ValueType::Id(TopupId::PREFIX), "The top-up's id (`tup_...`)."),
        Attribute::nullable("external_id", ValueType::STRING, "The operator's own reference.").such_as("wire-1001"),
        Attribute::always(
            "status",
            ValueType::words(&[SUCCESSFUL]),
            "A top-up is recorded once its money has arrived.",
        ),
        Attribute::always("amount", ValueType::INTEGER, "The amount that was added, in minor units.")
            .such_as("5000000"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was added."),
    ],
};

#[derive(Serialize)]
pub(crate) struct TopupShape {
    topup_id: String,
    external_id: Option<String>,
    status: &'static str,
    amount: u64,
    currency: String,
    created_at: u64,
}

impl TopupShape {
    /// The object for a top-up of a merchant with this currency.
    pub(crate) fn new(topup: &Topup, currency: Currency) -> TopupShape {
        TopupShape {
            topup_id: topup.id.to_string(),
            external_id: topup.external_id.as_ref().map(|external_id| external_id.as_str().to_owned()),
            status: SUCCESSFUL,
            amount: topup.amount.get(),
            currency: currency.to_string(),
            created_at: topup.created_at.unix_seconds(),
        }
    }
}
