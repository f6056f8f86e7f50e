//! What an acquirer's own list says of the money of an account.

use till_domain::time::Millis;

/// A change of the balance of an account, as the acquirer lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalanceChange {
    /// The acquirer's own id of it.
    pub id: String,
    /// The acquirer's word for its kind.
    pub kind: String,
    /// The amount, in minor units; negative when the balance becomes less.
    pub amount_minor: i64,
    /// The acquirer's fee, in minor units, which is not in the amount.
    pub fee_minor: i64,
    /// The code of the currency, in upper case.
    pub currency: String,
    /// The instant.
    pub at: Millis,
    /// The acquirer's own id of the charge, the refund or whatever changed it.
    pub source: Option<String>,
    /// The acquirer's own id of the payment.
    pub payment: Option<String>,
    /// Till's reference, when Till made it: of a charge, that of the authorization.
    pub reference: Option<String>,
}

/// The part of a list that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedBalance {
    /// The first instant, of whole seconds.
    pub from: Millis,
    /// The instant, of whole seconds, before which the last change was.
    pub before: Millis,
    /// The id after which the page begins; none for the first page.
    pub after: Option<String>,
}

/// A page of changes of a balance, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalancePage {
    /// The changes: at most 100.
    pub changes: Vec<BalanceChange>,
    /// The id after which the next page begins; none after the last page.
    pub next: Option<String>,
}
