//! The JSON of a top-up: contract, section 9.1a.

use till_domain::ids::TopupId;
use till_domain::ledger::Topup;
use till_domain::money::Currency;

use super::object::object;

/// The only status: a top-up is recorded once its money has arrived.
const SUCCESSFUL: &str = "SUCCESSFUL";

object! {
    /// A top-up of a merchant with this currency.
    pub(in crate::endpoints) TOPUP "topup" as TopupShape<'a> of (topup: &'a Topup, currency: Currency) {
        topup_id: Id(TopupId::PREFIX) = topup.id, "The top-up's id (`tup_...`).";
        external_id: STRING or null = topup.external_id, "The operator's own reference.", such_as("wire-1001");
        status: words(&[SUCCESSFUL]) = SUCCESSFUL, "A top-up is recorded once its money has arrived.";
        amount: MINOR_UNITS = topup.amount, "The amount that was added, in minor units.", such_as("5000000");
        currency: STRING = currency, "The ISO 4217 code.", such_as("THB");
        created_at: TIMESTAMP = topup.created_at, "The time at which it was added.";
    }
}
