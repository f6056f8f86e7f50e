//! Payments: the record, and the one table that says what becomes of it in which status by which command.

use crate::activity::Actor;
use crate::card::SaveCard;
use crate::customer::Contact;
use crate::dispute::OpenDispute;
use crate::effect::{Effect, EffectKind};
use crate::ids::{CustomerId, PaymentId, SessionId, TransactionId};
use crate::merchant::AcquirerName;
use crate::money::{AmountMinor, Money};
use crate::session::Instrument;
use crate::text::{ExternalId, ReturnUrl};
use crate::time::Millis;

/// How long a payment may wait for the acquirer's answer before it is given up: an hour.
pub const PENDING_LIFETIME_SECONDS: u64 = 3_600;

/// How long an authorization stands before it lapses: seven days, as card schemes allow.
pub const AUTHORIZATION_LIFETIME_SECONDS: u64 = 7 * 86_400;

/// How long after a refused void of a lapsed authorization the acquirer is asked for it again: a day.
pub const LAPSE_REPEATED_AFTER_SECONDS: u64 = 86_400;

/// How long payments wait. What is recorded keeps the instants that followed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Seconds after which a pending payment expires.
    pub pending_seconds: u64,
    /// Seconds after which an authorization that nobody captured lapses.
    pub authorization_seconds: u64,
}

impl Default for Lifetimes {
    fn default() -> Lifetimes {
        Lifetimes { pending_seconds: PENDING_LIFETIME_SECONDS, authorization_seconds: AUTHORIZATION_LIFETIME_SECONDS }
    }
}

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

/// What can be asked of a payment, or happen to it: the columns of its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentAction {
    /// Capture what is authorized, or a part of it.
    Capture,
    /// Give the authorization up.
    Void,
    /// Take a capture back before it settles.
    Reverse,
    /// Pay money back.
    Refund,
    /// A dispute is opened.
    OpenDispute,
    /// The merchant challenges its dispute.
    ChallengeDispute,
    /// The merchant concedes its dispute.
    ConcedeDispute,
    /// The provider closes its dispute.
    CloseDispute,
    /// The captured money becomes effective.
    Settle,
    /// It was not completed in time.
    Expire,
    /// The acquirer says that it authorized, in time or late.
    Succeed,
    /// The acquirer says that it declined, in time or late.
    Fail,
}

impl PaymentAction {
    /// Every action, in the order of the table's columns.
    pub const ALL: [PaymentAction; 12] = [
        PaymentAction::Capture,
        PaymentAction::Void,
        PaymentAction::Reverse,
        PaymentAction::Refund,
        PaymentAction::OpenDispute,
        PaymentAction::ChallengeDispute,
        PaymentAction::ConcedeDispute,
        PaymentAction::CloseDispute,
        PaymentAction::Settle,
        PaymentAction::Expire,
        PaymentAction::Succeed,
        PaymentAction::Fail,
    ];
}

/// What becomes of a payment in one status by one action: a cell of the table of its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// The action is refused.
    Refused,
    /// Nothing happens.
    Nothing,
    /// The action is taken, and the status stays.
    Stays,
    /// The action is taken, and leads to this status once it is done.
    Becomes(PaymentStatus),
    /// The payment becomes authorized, or successful where it is captured with it.
    Authorizes,
    /// The action is taken, and the status follows from what is left of the payment.
    WorkedOut,
    /// The status stays, and the acquirer is told to give the money back.
    GivenBack,
}

impl Ruling {
    /// True when the action is taken.
    #[must_use]
    pub const fn is_taken(self) -> bool {
        match self {
            Ruling::Stays | Ruling::Becomes(_) | Ruling::Authorizes | Ruling::WorkedOut | Ruling::GivenBack => true,
            Ruling::Refused | Ruling::Nothing => false,
        }
    }
}

impl PaymentStatus {
    /// What becomes of a payment in this status by `action`. The one table of the payment's life.
    ///
    /// The conditions that a status alone does not tell stand in [`Payment::allows`]. A reversed payment settles after a
    /// charge-back only: what `reverse-payment` takes back is cancelled before it settles.
    #[must_use]
    pub const fn ruling(self, action: PaymentAction) -> Ruling {
        use PaymentStatus::{Authorized as Auth, Disputed, Expired, Failed, Pending, Reversed, Successful, Voided};
        use Ruling::{Authorizes, Becomes, GivenBack as Back, Nothing as No, Refused as X, Stays, WorkedOut as New};
        #[rustfmt::skip]
        let row = match self {
            //                               capture              void             reverse            refund  open               challenge concede close  settle expire            succeed     fail
            Pending =>                      [X,                   X,               X,                 X,      X,                 X,        X,      X,     No,    Becomes(Expired), Authorizes, Becomes(Failed)],
            Auth =>                         [Becomes(Successful), Becomes(Voided), X,                 X,      X,                 X,        X,      X,     No,    Becomes(Voided),  No,         No],
            Successful =>                   [X,                   X,               Becomes(Reversed), New,    Becomes(Disputed), X,        X,      X,     Stays, No,               No,         No],
            Failed | Expired =>             [X,                   X,               X,                 X,      X,                 X,        X,      X,     No,    No,               Back,       No],
            Voided =>                       [X,                   X,               X,                 X,      X,                 X,        X,      X,     No,    No,               No,         No],
            Reversed | PaymentStatus::Refunded =>
                                            [X,                   X,               X,                 X,      X,                 X,        X,      X,     Stays, No,               No,         No],
            PaymentStatus::PartiallyRefunded =>
                                            [X,                   X,               X,                 New,    Becomes(Disputed), X,        X,      X,     Stays, No,               No,         No],
            Disputed =>                     [X,                   X,               X,                 New,    X,                 Stays,    New,    New,   Stays, No,               No,         No],
        };
        row[action as usize]
    }
}

/// What the acquirer can be asked to do to a payment, one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    /// Capture what is authorized, or a part of it.
    Capture,
    /// Give the authorization up.
    Void,
    /// Take the capture back: a full refund at the acquirer.
    Reverse,
}

impl OperationKind {
    /// Every kind.
    pub const ALL: [OperationKind; 3] = [OperationKind::Capture, OperationKind::Void, OperationKind::Reverse];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            OperationKind::Capture => "CAPTURE",
            OperationKind::Void => "VOID",
            OperationKind::Reverse => "REVERSE",
        }
    }

    /// The column of the table that it stands in.
    #[must_use]
    pub const fn action(self) -> PaymentAction {
        match self {
            OperationKind::Capture => PaymentAction::Capture,
            OperationKind::Void => PaymentAction::Void,
            OperationKind::Reverse => PaymentAction::Reverse,
        }
    }

    /// The call to the acquirer that carries it out.
    #[must_use]
    pub const fn effect_kind(self) -> EffectKind {
        match self {
            OperationKind::Capture => EffectKind::Capture,
            OperationKind::Void => EffectKind::Void,
            OperationKind::Reverse => EffectKind::Reverse,
        }
    }
}

/// An operation that the acquirer was asked for and has not answered yet: `operation` of `find-payment`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// What is to be done.
    pub kind: OperationKind,
    /// How much is captured, given up or taken back.
    pub amount: AmountMinor,
    /// Who asked, for the activity log.
    pub requested_by: Actor,
    /// When it was asked for.
    pub requested_at: Millis,
    /// The number of the operation among those of the payment, from 1. The acquirer's reference has it, so that an
    /// operation that was refused can be asked for again.
    pub attempt: u32,
}

impl Operation {
    /// The call to the acquirer that carries it out.
    #[must_use]
    pub const fn effect(&self, payment_id: PaymentId) -> Effect {
        Effect { payment_id, kind: self.kind.effect_kind(), opened_at: self.requested_at }
    }
}

/// An operation that the acquirer refused, and that changed nothing: `last_operation` of `find-payment`, whose status is
/// FAILED.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedOperation {
    /// What was to be done.
    pub kind: OperationKind,
    /// Why it was not.
    pub failure: Failure,
    /// When the refusal was recorded.
    pub at: Millis,
    /// The number of the operation among those of the payment.
    pub attempt: u32,
}

/// How a call names a payment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaymentRef {
    /// By Till's id.
    Own(PaymentId),
    /// By the merchant's reference.
    External(ExternalId),
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

/// Why an acquirer refused what it was asked for.
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
    /// Refunds that the acquirer confirmed, in minor units.
    pub confirmed_refund_minor: u64,
    /// Lost and conceded disputes, in minor units.
    pub charged_back_minor: u64,
    /// The dispute that is not decided.
    pub open_dispute: Option<OpenDispute>,
    /// The operation that the acquirer has not answered yet.
    pub operation: Option<Operation>,
    /// The last operation that the acquirer refused.
    pub last_operation: Option<RefusedOperation>,
}

impl Payment {
    /// True when a call for `action` would be taken now, as far as the payment tells: the table allows it, no operation
    /// is open, a reversal comes before the settlement and finds nothing taken back, a refund or a dispute finds something left.
    #[must_use]
    pub fn allows(&self, action: PaymentAction, now: Millis) -> bool {
        let has_what_it_takes = match action {
            PaymentAction::Reverse => {
                self.taken_back_minor() == 0 && self.capture.is_some_and(|it| now < it.settles_at)
            }
            PaymentAction::Refund | PaymentAction::OpenDispute => self.refundable_minor() > 0,
            PaymentAction::Capture
            | PaymentAction::Void
            | PaymentAction::ChallengeDispute
            | PaymentAction::ConcedeDispute
            | PaymentAction::CloseDispute
            | PaymentAction::Settle
            | PaymentAction::Expire
            | PaymentAction::Succeed
            | PaymentAction::Fail => true,
        };
        self.status.ruling(action).is_taken() && self.operation.is_none() && has_what_it_takes
    }

    /// How much was captured, in minor units.
    #[must_use]
    pub fn captured_minor(&self) -> u64 {
        self.capture.map_or(0, |capture| capture.amount_minor)
    }

    /// The amount that can still be refunded or disputed: captured less accepted refunds, less what is charged back or in
    /// dispute.
    #[must_use]
    pub fn refundable_minor(&self) -> u64 {
        self.captured_minor().saturating_sub(self.taken_back_minor())
    }

    /// The amount that is taken back from the capture, or may be: accepted refunds, charge-backs, and what is in dispute.
    #[must_use]
    pub fn taken_back_minor(&self) -> u64 {
        let disputed_minor = self.open_dispute.map_or(0, |dispute| dispute.amount_minor);
        self.refunded_minor.saturating_add(self.charged_back_minor).saturating_add(disputed_minor)
    }

    /// The status of a captured payment that has this much of confirmed refunds.
    #[must_use]
    pub fn status_with_refunds(&self, confirmed_refund_minor: u64) -> PaymentStatus {
        if self.open_dispute.is_some() {
            return PaymentStatus::Disputed;
        }
        self.status_without_dispute(confirmed_refund_minor, self.charged_back_minor)
    }

    /// The status of a captured payment without an open dispute that has this much of confirmed refunds and charge-backs.
    #[must_use]
    pub fn status_without_dispute(&self, confirmed_refund_minor: u64, charged_back_minor: u64) -> PaymentStatus {
        let is_all_gone = confirmed_refund_minor.saturating_add(charged_back_minor) >= self.captured_minor();
        match (is_all_gone, charged_back_minor > 0, confirmed_refund_minor > 0) {
            (true, true, _) => PaymentStatus::Reversed,
            (true, false, _) => PaymentStatus::Refunded,
            (false, _, true) => PaymentStatus::PartiallyRefunded,
            (false, _, false) => PaymentStatus::Successful,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the contract. Columns in the order of [`PaymentAction::ALL`].
    const DRAWN: &str = "
        PENDING            - - - - - - - - . EXPIRED AUTHORIZED/SUCCESSFUL FAILED
        AUTHORIZED         SUCCESSFUL VOIDED - - - - - - . VOIDED . .
        SUCCESSFUL         - - REVERSED = DISPUTED - - - yes . . .
        FAILED             - - - - - - - - . . back .
        EXPIRED            - - - - - - - - . . back .
        VOIDED             - - - - - - - - . . . .
        REVERSED           - - - - - - - - yes . . .
        PARTIALLY_REFUNDED - - - = DISPUTED - - - yes . . .
        REFUNDED           - - - - - - - - yes . . .
        DISPUTED           - - - = - yes = = yes . . .
    ";

    const fn drawn(ruling: Ruling) -> &'static str {
        match ruling {
            Ruling::Refused => "-",
            Ruling::Nothing => ".",
            Ruling::Stays => "yes",
            Ruling::Becomes(status) => status.name(),
            Ruling::Authorizes => "AUTHORIZED/SUCCESSFUL",
            Ruling::WorkedOut => "=",
            Ruling::GivenBack => "back",
        }
    }

    #[test]
    fn every_cell_of_the_life_of_a_payment_is_the_drawn_one_and_none_is_missing() {
        let rows: Vec<&str> = DRAWN.lines().filter(|line| !line.trim().is_empty()).collect();
        assert_eq!(rows.len(), PaymentStatus::ALL.len(), "a status without a row");
        for (status, row) in PaymentStatus::ALL.into_iter().zip(rows) {
            let mut cells = row.split_whitespace();
            assert_eq!(cells.next(), Some(status.name()));
            let cells: Vec<&str> = cells.collect();
            let rulings = PaymentAction::ALL.map(|action| drawn(status.ruling(action)));
            assert_eq!(cells, rulings, "{status:?}");
        }
    }

    #[test]
    fn the_columns_stand_in_the_order_of_the_actions() {
        for (column, action) in PaymentAction::ALL.into_iter().enumerate() {
            assert_eq!(action as usize, column, "{action:?}");
        }
    }
}
