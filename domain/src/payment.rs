//! Payments: the record, and the one table that says which command is legal in which status.

use crate::card::SaveCard;
use crate::customer::Contact;
use crate::ids::{CustomerId, PaymentId, SessionId, TransactionId};
use crate::merchant::AcquirerName;
use crate::money::Money;
use crate::session::Instrument;
use crate::text::{ExternalId, ReturnUrl};
use crate::time::Millis;

/// How long an authorization stands before it lapses: seven days, as card schemes allow.
pub const AUTHORIZATION_LIFETIME_SECONDS: u64 = 7 * 86_400;

/// Where a payment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentStatus {
    /// The acquirer was asked and has not answered yet.
    Pending,
    /// Authorized, not captured.
    Authorized,
    /// Captured.
    Successful,
    /// Declined.
    Failed,
    /// Not completed in time.
    Expired,
    /// Given up after authorization.
    Voided,
    /// Taken back after capture and before settlement.
    Reversed,
    /// Refunded in part.
    PartiallyRefunded,
    /// Refunded in full.
    Refunded,
    /// Disputed by the customer.
    Disputed,
}

impl PaymentStatus {
    /// Every status, in the order of the documents.
    pub const ALL: [PaymentStatus; 10] = [
        PaymentStatus::Pending,
        PaymentStatus::Authorized,
        PaymentStatus::Successful,
        PaymentStatus::Failed,
        PaymentStatus::Expired,
        PaymentStatus::Voided,
        PaymentStatus::Reversed,
        PaymentStatus::PartiallyRefunded,
        PaymentStatus::Refunded,
        PaymentStatus::Disputed,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PaymentStatus::Pending => "PENDING",
            PaymentStatus::Authorized => "AUTHORIZED",
            PaymentStatus::Successful => "SUCCESSFUL",
            PaymentStatus::Failed => "FAILED",
            PaymentStatus::Expired => "EXPIRED",
            PaymentStatus::Voided => "VOIDED",
            PaymentStatus::Reversed => "REVERSED",
            PaymentStatus::PartiallyRefunded => "PARTIALLY_REFUNDED",
            PaymentStatus::Refunded => "REFUNDED",
            PaymentStatus::Disputed => "DISPUTED",
        }
    }
}

/// What can be done to a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentAction {
    /// Record how the acquirer answered the authorization.
    RecordAuthorization,
    /// Capture what is authorized.
    Capture,
    /// Give the authorization up, on the merchant's word or because it lapsed.
    Void,
    /// Take a capture back before it settles.
    Reverse,
    /// Pay money back.
    Refund,
}

impl PaymentAction {
    /// Every action.
    pub const ALL: [PaymentAction; 5] = [
        PaymentAction::RecordAuthorization,
        PaymentAction::Capture,
        PaymentAction::Void,
        PaymentAction::Reverse,
        PaymentAction::Refund,
    ];

    /// Whether the action is legal for a payment in `status`. The one table of the payment's life.
    #[must_use]
    pub const fn is_legal_in(self, status: PaymentStatus) -> bool {
        use PaymentStatus::{
            Authorized, Disputed, Expired, Failed, PartiallyRefunded, Pending, Refunded, Reversed, Successful, Voided,
        };
        match (self, status) {
            (PaymentAction::RecordAuthorization, Pending)
            | (PaymentAction::Capture | PaymentAction::Void, Authorized)
            | (PaymentAction::Reverse, Successful)
            | (PaymentAction::Refund, Successful | PartiallyRefunded) => true,
            (
                PaymentAction::RecordAuthorization,
                Authorized | Successful | Failed | Expired | Voided | Reversed | PartiallyRefunded | Refunded
                | Disputed,
            )
            | (
                PaymentAction::Capture | PaymentAction::Void,
                Pending | Successful | Failed | Expired | Voided | Reversed | PartiallyRefunded | Refunded | Disputed,
            )
            | (
                PaymentAction::Reverse,
                Pending | Authorized | Failed | Expired | Voided | Reversed | PartiallyRefunded | Refunded | Disputed,
            )
            | (
                PaymentAction::Refund,
                Pending | Authorized | Failed | Expired | Voided | Reversed | Refunded | Disputed,
            ) => false,
        }
    }
}

/// Whether an authorization is captured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaptureMode {
    /// Captured on authorization.
    Automatic,
    /// Only authorized, for later capture.
    Manual,
}

impl CaptureMode {
    /// Both modes.
    pub const ALL: [CaptureMode; 2] = [CaptureMode::Automatic, CaptureMode::Manual];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CaptureMode::Automatic => "automatic",
            CaptureMode::Manual => "manual",
        }
    }
}

/// Why an acquirer did not authorize.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A word that programs branch on, such as `insufficient_funds`.
    pub code: String,
    /// A sentence for a person.
    pub message: String,
}

/// A capture that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// How much, in minor units.
    pub amount_minor: u64,
    /// The fee, fixed at capture, in minor units.
    pub fee_minor: u64,
    /// Its ledger transaction.
    pub transaction_id: TransactionId,
    /// When it happened.
    pub at: Millis,
    /// When its entries are effective.
    pub settles_at: Millis,
}

/// An authorization that the acquirer gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// The acquirer's own reference.
    pub acquirer_reference: String,
    /// When it was recorded.
    pub at: Millis,
    /// When it lapses, unless captured with it.
    pub lapses_at: Option<Millis>,
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// The merchant's own reference, unique among its payments.
    pub external_id: Option<ExternalId>,
    /// The session that it was made from.
    pub session_id: SessionId,
    /// Where it stands.
    pub status: PaymentStatus,
    /// How much was asked for.
    pub money: Money,
    /// With what it is paid. Never [`Instrument::UnnamedCard`].
    pub instrument: Instrument,
    /// Who carries it out.
    pub acquirer: AcquirerName,
    /// Whether it is captured by itself.
    pub capture_mode: CaptureMode,
    /// Where the customer is sent afterwards.
    pub return_url: ReturnUrl,
    /// Whose payment it is, when a customer is known.
    pub customer_id: Option<CustomerId>,
    /// How to reach that person, as given with the payment, else as known of the customer.
    pub contact: Contact,
    /// What is to become of the card.
    pub save_card: Option<SaveCard>,
    /// When it was initiated.
    pub created_at: Millis,
    /// The authorization, once given.
    pub authorization: Option<Authorization>,
    /// The capture, once done.
    pub capture: Option<Capture>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Accepted refunds less those that failed, in minor units.
    pub refunded_minor: u64,
}

impl Payment {
    /// Whether `action` may be done to it now.
    #[must_use]
    pub fn allows(&self, action: PaymentAction, now: Millis) -> bool {
        let unsettled = self.capture.is_none_or(|capture| now < capture.settles_at);
        action.is_legal_in(self.status) && (action != PaymentAction::Reverse || unsettled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_legal_exactly_where_the_payment_life_says_so() {
        // Columns in the order of PaymentStatus::ALL.
        let table = [
            (PaymentAction::RecordAuthorization, "x---------"),
            (PaymentAction::Capture, "-x--------"),
            (PaymentAction::Void, "-x--------"),
            (PaymentAction::Reverse, "--x-------"),
            (PaymentAction::Refund, "--x----x--"),
        ];
        assert_eq!(table.map(|(action, _)| action), PaymentAction::ALL);
        for (action, row) in table {
            for (status, cell) in PaymentStatus::ALL.into_iter().zip(row.chars()) {
                assert_eq!(action.is_legal_in(status), cell == 'x', "{action:?} in {status:?}");
            }
        }
    }
}
