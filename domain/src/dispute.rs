//! Disputes: the customer's bank takes money of a captured payment back until it is decided who keeps it.

use crate::ids::{DisputeId, PaymentId, TransactionId};
use crate::money::Money;
use crate::text::{Evidence, Reason};
use crate::time::Millis;

/// The time in which evidence must be given: seven days.
pub const EVIDENCE_SECONDS: u64 = 7 * 86_400;

word_enum! {
    /// The status of a dispute.
    pub enum DisputeStatus: name {
        /// It was opened, and nothing was done about it.
        Open => "OPEN",
        /// It was opened, and nothing has been done about it.
        Challenged => "CHALLENGED",
        /// The card scheme decides it.
        Escalated => "ESCALATED",
        /// It was decided for the merchant.
        Won => "WON",
        /// It was decided for the customer.
        Lost => "LOST",
        /// The merchant gave it up.
        Conceded => "CONCEDED",
    }
}

impl DisputeStatus {
    /// True while it is not decided.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            DisputeStatus::Open | DisputeStatus::Challenged | DisputeStatus::Escalated => true,
            DisputeStatus::Won | DisputeStatus::Lost | DisputeStatus::Conceded => false,
        }
    }
}

word_enum! {
    /// The decision that ends a dispute.
    pub enum DisputeOutcome {
        /// For the merchant, who keeps the money.
        Won,
        /// For the customer: the money is charged back.
        Lost,
        /// The merchant gave it up: the money is charged back.
        Conceded,
    }
}

impl DisputeOutcome {
    /// The status of a dispute that ended so.
    #[must_use]
    pub const fn status(self) -> DisputeStatus {
        match self {
            DisputeOutcome::Won => DisputeStatus::Won,
            DisputeOutcome::Lost => DisputeStatus::Lost,
            DisputeOutcome::Conceded => DisputeStatus::Conceded,
        }
    }

    /// True when the money is charged back.
    #[must_use]
    pub const fn is_charge_back(self) -> bool {
        match self {
            DisputeOutcome::Lost | DisputeOutcome::Conceded => true,
            DisputeOutcome::Won => false,
        }
    }
}

/// A dispute. At most one of a payment is open at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    /// Its id.
    pub id: DisputeId,
    /// The payment whose money is in dispute.
    pub payment_id: PaymentId,
    /// Its status.
    pub status: DisputeStatus,
    /// The reason that the provider gives.
    pub reason: Option<Reason>,
    /// The amount in dispute.
    pub money: Money,
    /// The evidence that the merchant gave, once.
    pub evidence: Option<Evidence>,
    /// The time by which evidence must be given; without it the dispute is lost then.
    pub evidence_due_at: Millis,
    /// Its ledger transaction.
    pub transaction_id: TransactionId,
    /// The time at which it was opened.
    pub created_at: Millis,
    /// The time at which it was decided.
    pub closed_at: Option<Millis>,
}

impl Dispute {
    /// True when the merchant may give evidence: it is not decided, and none was given.
    #[must_use]
    pub const fn takes_evidence(&self) -> bool {
        self.status.is_open() && self.evidence.is_none()
    }

    /// The status once evidence was given: a dispute that was escalated stays so.
    #[must_use]
    pub const fn status_with_evidence(&self) -> DisputeStatus {
        match self.status {
            DisputeStatus::Open => DisputeStatus::Challenged,
            status @ (DisputeStatus::Challenged
            | DisputeStatus::Escalated
            | DisputeStatus::Won
            | DisputeStatus::Lost
            | DisputeStatus::Conceded) => status,
        }
    }
}

/// The dispute of a payment that is not decided, as the payment keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenDispute {
    /// Its id.
    pub id: DisputeId,
    /// The amount in dispute, in minor units.
    pub amount_minor: u64,
}
