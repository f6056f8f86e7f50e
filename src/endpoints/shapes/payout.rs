//! The JSON of a payout: contract, section 9.1a.

use till_domain::failure::FailureCode;
use till_domain::ids::PayoutId;
use till_domain::payout::{Payout, PayoutStatus};

use super::object::object;

object! {
    /// A payout.
    pub(crate) PAYOUT "payout" as PayoutShape<'a> of (payout: &'a Payout) {
        payout_id: Id(PayoutId::PREFIX) = payout.id, "The payout's id (`pyo_...`).";
        external_id: STRING or null = payout.external_id, "The merchant's own reference.", such_as("payout-1001");
        status: words_of(PayoutStatus) = payout.status, "The status.", such_as("SUCCESSFUL");
        amount: MINOR_UNITS = payout.money.amount, "The amount that is paid out, in minor units.", such_as("10000");
        currency: STRING = payout.money.currency, "The ISO 4217 code.", such_as("THB");
        description: STRING or null = payout.description, "The merchant's description.";
        failure_code: words_of(FailureCode) or null = payout.failure.as_ref().map(|failure| failure.code),
            "The reason of the failure, for programs.";
        created_at: TIMESTAMP = payout.created_at, "The time at which it was accepted.";
        paid_at: TIMESTAMP or null = payout.paid_at,
            "The time at which the acquirer confirmed it.", such_as("1767225601");
    }
}
