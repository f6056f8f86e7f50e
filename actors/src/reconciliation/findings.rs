//! What a reconciliation is about, and what it finds.

use std::collections::BTreeMap;

use till_domain::acquirer::AcquirerRef;
use till_domain::ids::{MerchantId, PaymentId, RefundId};
use till_domain::money::Currency;
use till_domain::time::Millis;

/// The maximum number of differences that are kept; all are counted.
pub const DIFFERENCES_MAX: usize = 1_000;

/// The time before the range in which the acquirer may have listed what Till has recorded in it, in milliseconds: a
/// day, for captures whose answer was lost.
const LISTED_EARLIER_MS: u64 = 86_400_000;
/// The time after the range in which it may list what Till has recorded in it, in milliseconds: two hours.
const LISTED_LATER_MS: u64 = 2 * 3_600_000;
/// The time within which nothing is a difference, in milliseconds: 15 minutes.
const UNDER_WAY_MS: u64 = 15 * 60_000;

till_domain::word_enum! {
    /// The kind of a difference.
    pub enum DifferenceKind: name {
        /// Till has it, and the acquirer does not list it.
        MissingAtAcquirer => "missing_at_acquirer",
        /// The acquirer lists it, and Till does not have it.
        UnknownToTill => "unknown_to_till",
        /// The amounts differ.
        Amount => "amount",
        /// The currencies differ.
        Currency => "currency",
        /// The acquirer moved money for something that is not done for Till, or it came back there and not here.
        Status => "status",
        /// The acquirer moved it twice.
        Twice => "twice",
    }
}

/// The number of differences of each kind of which there are any.
pub type DifferenceCounts = BTreeMap<DifferenceKind, u64>;

/// What is compared: an account, and a time.
#[derive(Debug, Clone, Copy)]
pub struct ReconciledRange {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// Its account.
    pub account: AcquirerRef,
    /// Its currency.
    pub currency: Currency,
    /// The first instant.
    pub from: Millis,
    /// The instant after the last.
    pub until: Millis,
    /// The time of the comparison.
    pub now: Millis,
}

impl ReconciledRange {
    pub(super) fn has(&self, at: Millis) -> bool {
        (self.from..self.until).contains(&at)
    }

    /// The instants between which the acquirer's list is read: what was recorded at one end of the range may be listed
    /// on the other side of it.
    pub(super) fn listed(&self) -> (Millis, Millis) {
        let before = self.until.0.saturating_add(LISTED_LATER_MS).min(self.now.0.saturating_add(LISTED_LATER_MS));
        (Millis(self.from.0.saturating_sub(LISTED_EARLIER_MS)), Millis(before))
    }

    /// True for an instant so short ago that the other side need not know of it.
    pub(super) fn is_under_way(&self, at: Millis) -> bool {
        at.0.saturating_add(UNDER_WAY_MS) > self.now.0
    }
}

/// The result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reconciliation {
    /// What both sides have alike.
    pub compared: Compared,
    /// The number of captures and refunds that differ and are no difference: their calls are open, or they are of the
    /// last 15 minutes.
    pub under_way: u64,
    /// The acquirer's fees of all that it lists in the range in the merchant's currency, in minor units.
    pub acquirer_fees_minor: i64,
    /// The number of all differences by kind.
    pub counts: DifferenceCounts,
    /// The first of them: at most [`DIFFERENCES_MAX`].
    pub differences: Vec<Difference>,
}

/// Captures and refunds that both sides have alike, by the acquirer's list. Captures of payments that were over, and
/// what gave them back, are among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compared {
    /// The number of captures.
    pub captures: u64,
    /// Their sum, in minor units.
    pub captured_minor: u64,
    /// The number of refunds and reversals.
    pub refunds: u64,
    /// Their sum, in minor units.
    pub refunded_minor: u64,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its kind.
    pub kind: DifferenceKind,
    /// The payment, as Till has it or as the reference at the acquirer names it.
    pub payment_id: Option<PaymentId>,
    /// The refund, likewise.
    pub refund_id: Option<RefundId>,
    /// The acquirer's own id of what moved the money; of what it does not list, that of the payment.
    pub acquirer_reference: Option<String>,
    /// The acquirer's word for the kind of the change.
    pub word: Option<String>,
    /// The amount by Till, in minor units.
    pub amount_minor: Option<u64>,
    /// The amount by the acquirer, in minor units; negative when the balance becomes less.
    pub acquirer_amount_minor: Option<i64>,
    /// The code of the currency: the acquirer's, for what it lists.
    pub currency: String,
    /// The time: the acquirer's, for what it lists.
    pub at: Millis,
}

impl Reconciliation {
    /// The number of all differences.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }
}
