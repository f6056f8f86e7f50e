//! Payments: the record, and the one table that defines the effect of every action in every status.

use crate::acquirer::AcquirerRef;
use crate::activity::Actor;
use crate::card::SaveCard;
use crate::customer::Contact;
use crate::customer_action::{ActionStage, Authentication, LateSuccess};
use crate::dispute::OpenDispute;
use crate::effect::{Effect, EffectKind};
use crate::failure::Failure;
use crate::ids::{CheckoutId, CustomerId, IdOrExternalId, PaymentId, SessionId, TransactionId};
use crate::money::{AmountMinor, Money};
use crate::session::Instrument;
use crate::text::{ExternalId, ReturnUrl};
use crate::time::{DAY_MILLIS, Millis};

/// The time for which a payment may wait for the acquirer's answer before it expires: an hour.
pub const PENDING_LIFETIME_SECONDS: u64 = 3_600;

/// The time after which an authorization lapses: seven days, as card schemes allow.
pub const AUTHORIZATION_LIFETIME_SECONDS: u64 = 7 * 86_400;

/// The time after which a refused void of a lapsed authorization is requested again: a day.
pub const LAPSE_REPEATED_AFTER_SECONDS: u64 = 86_400;

/// The lifetimes of payments that wait. Records keep the instants that were computed from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Seconds after which a pending payment expires.
    pub pending_seconds: u64,
    /// Seconds after which an authorization that was not captured lapses.
    pub authorization_seconds: u64,
}

impl Default for Lifetimes {
    fn default() -> Lifetimes {
        Lifetimes { pending_seconds: PENDING_LIFETIME_SECONDS, authorization_seconds: AUTHORIZATION_LIFETIME_SECONDS }
    }
}

word_enum! {
    /// The status of a payment.
    pub enum PaymentStatus: name {
        /// The acquirer was asked and has not answered yet.
        Pending => "PENDING",
        /// Authorized, not captured.
        Authorized => "AUTHORIZED",
        /// Captured.
        Successful => "SUCCESSFUL",
        /// Declined.
        Failed => "FAILED",
        /// Not completed in time.
        Expired => "EXPIRED",
        /// Voided after authorization.
        Voided => "VOIDED",
        /// Reversed after capture and before settlement, or charged back.
        Reversed => "REVERSED",
        /// Refunded in part.
        PartiallyRefunded => "PARTIALLY_REFUNDED",
        /// Refunded in full.
        Refunded => "REFUNDED",
        /// Disputed by the customer.
        Disputed => "DISPUTED",
    }

    /// A call or an event that concerns a payment: the rows of the table.
    pub enum PaymentAction {
        /// Capture the authorized amount, or a part of it.
        Capture,
        /// Void the authorization.
        Void,
        /// Reverse a capture before it settles.
        Reverse,
        /// Refund money.
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
        /// The payment was not completed in time.
        Expire,
        /// The acquirer says that it authorized, in time or late.
        Succeed,
        /// The acquirer says that it declined, in time or late.
        Fail,
        /// The acquirer says that the customer must act.
        RequireAction,
        /// The customer gives up instead of acting.
        GiveUp,
    }
}

/// The effect of an action on a payment in one status: a cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// The action is refused.
    Refused,
    /// Nothing happens.
    Nothing,
    /// The action is accepted, and the status stays.
    Stays,
    /// The action is accepted, and leads to this status once it is done.
    Becomes(PaymentStatus),
    /// The payment becomes authorized, or successful when it is captured with the authorization.
    Authorizes,
    /// The action is accepted, and the status follows from the remaining amount of the payment.
    WorkedOut,
    /// The status stays, and the acquirer is told to give the money back.
    GivenBack,
}

impl Ruling {
    /// Returns true when the action is accepted.
    #[must_use]
    pub const fn is_taken(self) -> bool {
        match self {
            Ruling::Stays | Ruling::Becomes(_) | Ruling::Authorizes | Ruling::WorkedOut | Ruling::GivenBack => true,
            Ruling::Refused | Ruling::Nothing => false,
        }
    }
}

impl PaymentStatus {
    /// The effect of `action` on a payment in this status. This is the one table of the payment's life.
    ///
    /// The conditions that a status alone does not tell are in [`Payment::allows`]: a pending payment is voided, or
    /// given up, only while its customer must act. A reversed payment settles only after a charge-back: the entries
    /// that `reverse-payment` takes back are canceled before they settle.
    #[must_use]
    pub const fn ruling(self, action: PaymentAction) -> Ruling {
        use PaymentAction as Action;
        use PaymentStatus as Status;
        use Ruling::{
            Authorizes as Auth, Becomes, GivenBack as Back, Nothing as No, Refused as X, Stays, WorkedOut as New,
        };
        const CAPTURED: Ruling = Becomes(Status::Successful);
        const DISPUTED: Ruling = Becomes(Status::Disputed);
        const EXPIRED: Ruling = Becomes(Status::Expired);
        const FAILED: Ruling = Becomes(Status::Failed);
        const REVERSED: Ruling = Becomes(Status::Reversed);
        const VOIDED: Ruling = Becomes(Status::Voided);
        #[rustfmt::skip]
        let row = match action {
            //                                                                                             failed,
            //                                                            partially             reversed,  expired,
            //                           pending    authorized successful refunded   disputed   refunded   voided
            Action::Capture =>          [X,         CAPTURED,  X,         X,         X,         X,         X],
            Action::Void =>             [VOIDED,    VOIDED,    X,         X,         X,         X,         X],
            Action::Reverse =>          [X,         X,         REVERSED,  X,         X,         X,         X],
            Action::Refund =>           [X,         X,         New,       New,       New,       X,         X],
            Action::OpenDispute =>      [X,         X,         DISPUTED,  DISPUTED,  X,         X,         X],
            Action::ChallengeDispute => [X,         X,         X,         X,         Stays,     X,         X],
            Action::ConcedeDispute =>   [X,         X,         X,         X,         New,       X,         X],
            Action::CloseDispute =>     [X,         X,         X,         X,         New,       X,         X],
            Action::Settle =>           [No,        No,        Stays,     Stays,     Stays,     Stays,     No],
            Action::Expire =>           [EXPIRED,   VOIDED,    No,        No,        No,        No,        No],
            Action::Succeed =>          [Auth,      No,        No,        No,        No,        No,        Back],
            Action::Fail =>             [FAILED,    No,        No,        No,        No,        No,        No],
            Action::RequireAction =>    [Stays,     No,        No,        No,        No,        No,        No],
            Action::GiveUp =>           [FAILED,    No,        No,        No,        No,        No,        No],
        };
        match self {
            Status::Pending => row[0],
            Status::Authorized => row[1],
            Status::Successful => row[2],
            Status::PartiallyRefunded => row[3],
            Status::Disputed => row[4],
            Status::Reversed | Status::Refunded => row[5],
            Status::Failed | Status::Expired | Status::Voided => row[6],
        }
    }
}

word_enum! {
    /// A call that the acquirer can be asked for about a payment, one at a time.
    pub enum OperationKind: name {
        /// Capture the authorized amount, or a part of it.
        Capture => "CAPTURE",
        /// Void the authorization.
        Void => "VOID",
        /// Reverse the capture: a full refund at the acquirer.
        Reverse => "REVERSE",
    }
}

impl OperationKind {
    /// Its row of the table.
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

/// A requested operation that the acquirer has not answered yet: `operation` of `find-payment`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The kind of the operation.
    pub kind: OperationKind,
    /// The amount that is captured, voided or reversed.
    pub amount: AmountMinor,
    /// The actor that asked for it, for the activity log.
    pub requested_by: Actor,
    /// The time at which it was asked for.
    pub requested_at: Millis,
    /// The number of the operation among those of the payment, from 1. The acquirer's reference contains it, so that an
    /// operation that was refused can be requested again.
    pub attempt: u32,
}

impl Operation {
    /// The call to the acquirer that carries it out.
    #[must_use]
    pub const fn effect(&self, payment_id: PaymentId) -> Effect {
        Effect { payment_id, kind: self.kind.effect_kind(), opened_at: self.requested_at }
    }
}

/// An operation that the acquirer refused, and that changed nothing: `last_operation` of `find-payment`, whose status
/// is FAILED.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedOperation {
    /// The kind of the operation.
    pub kind: OperationKind,
    /// The reason for the refusal.
    pub failure: Failure,
    /// The time at which the refusal was recorded.
    pub at: Millis,
    /// The number of the operation among those of the payment.
    pub attempt: u32,
}

/// The reference by which a call names a payment.
pub type PaymentRef = IdOrExternalId<PaymentId>;

word_enum! {
    /// The mode that tells if an authorization is captured automatically.
    pub enum CaptureMode: name {
        /// Captured on authorization.
        Automatic => "automatic",
        /// Only authorized, for later capture.
        Manual => "manual",
    }
}

/// A capture that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// The amount, in minor units.
    pub amount_minor: u64,
    /// The fee, fixed at capture, in minor units.
    pub fee_minor: u64,
    /// Its ledger transaction.
    pub transaction_id: TransactionId,
    /// The time at which it happened.
    pub at: Millis,
    /// The time at which its entries are effective.
    pub settles_at: Millis,
}

/// The time within which a capture counts as one at once, in milliseconds: a minute after the payment was made.
pub const CAPTURED_AT_ONCE_MS: u64 = 60_000;

/// The time of a capture, rounded to what the index of captures distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaptureTime {
    /// At most [`CAPTURED_AT_ONCE_MS`] after the payment was made, so that the payment's id tells the time.
    AtOnce,
    /// Later, on a day of UTC, counted from 1970-01-01.
    Day(u32),
}

impl CaptureTime {
    /// The time of a capture of a payment that was made at `created_at`.
    #[must_use]
    pub fn of(created_at: Millis, captured_at: Millis) -> CaptureTime {
        let is_at_once = captured_at.0.saturating_sub(created_at.0) <= CAPTURED_AT_ONCE_MS;
        if is_at_once { CaptureTime::AtOnce } else { CaptureTime::day_of(captured_at) }
    }

    /// The day of an instant, at most the last one that has a number.
    #[must_use]
    pub fn day_of(at: Millis) -> CaptureTime {
        CaptureTime::Day(u32::try_from(at.0 / DAY_MILLIS).unwrap_or(u32::MAX))
    }
}

/// An authorization that the acquirer gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// The acquirer's own reference.
    pub acquirer_reference: String,
    /// The time at which it was recorded.
    pub at: Millis,
    /// The instant at which it lapses, unless it was captured at once.
    pub lapses_at: Option<Millis>,
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// The merchant's own reference, unique among its payments. Of the payments of a checkout the newest has it.
    pub external_id: Option<ExternalId>,
    /// The checkout that it was made of.
    pub checkout_id: Option<CheckoutId>,
    /// The session that it was made from.
    pub session_id: SessionId,
    /// Its status.
    pub status: PaymentStatus,
    /// The amount that was asked for.
    pub money: Money,
    /// The instrument that pays. It is never [`Instrument::UnnamedCard`].
    pub instrument: Instrument,
    /// The acquirer that processes it.
    pub acquirer: AcquirerRef,
    /// The mode of its capture.
    pub capture_mode: CaptureMode,
    /// The address to which the customer is sent afterwards.
    pub return_url: ReturnUrl,
    /// The customer who pays, when one is known.
    pub customer_id: Option<CustomerId>,
    /// The contact of that person, as given with the payment, else as known of the customer.
    pub contact: Contact,
    /// The instruction to save the card, if there is one.
    pub save_card: Option<SaveCard>,
    /// The time at which it was initiated.
    pub created_at: Millis,
    /// The authorization, once given.
    pub authorization: Option<Authorization>,
    /// The capture, once done.
    pub capture: Option<Capture>,
    /// The reason for which it failed.
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
    /// The stage of its customer's action; none for a payment that never asked its customer.
    pub action: Option<ActionStage>,
    /// The authentication of its card, once something is known of it.
    pub authentication: Option<Authentication>,
    /// An approval that came after its end.
    pub late_success: Option<LateSuccess>,
}

impl Payment {
    /// A payment that was just made of a session: it is captured as soon as it is authorized, and has nothing optional.
    #[must_use]
    pub fn of_session(
        id: PaymentId,
        (session_id, money, instrument): (SessionId, Money, Instrument),
        acquirer: AcquirerRef,
        return_url: ReturnUrl,
        created_at: Millis,
    ) -> Payment {
        Payment {
            id,
            external_id: None,
            checkout_id: None,
            session_id,
            status: PaymentStatus::Pending,
            money,
            instrument,
            acquirer,
            capture_mode: CaptureMode::Automatic,
            return_url,
            customer_id: None,
            contact: Contact::default(),
            save_card: None,
            created_at,
            authorization: None,
            capture: None,
            failure: None,
            refunded_minor: 0,
            confirmed_refund_minor: 0,
            charged_back_minor: 0,
            open_dispute: None,
            operation: None,
            last_operation: None,
            action: None,
            authentication: None,
            late_success: None,
        }
    }

    /// Returns true when a call for `action` would be accepted now, as far as the payment tells: the table allows it,
    /// no operation is open, a reversal comes before the settlement and before any refund or dispute, and for a refund
    /// or a dispute some of the money is left.
    #[must_use]
    pub fn allows(&self, action: PaymentAction, now: Millis) -> bool {
        let has_what_it_takes = match action {
            PaymentAction::Reverse => {
                self.taken_back_minor() == 0 && self.capture.is_some_and(|it| now < it.settles_at)
            }
            PaymentAction::Refund | PaymentAction::OpenDispute => self.refundable_minor() > 0,
            PaymentAction::Void => self.status != PaymentStatus::Pending || self.customer_must_act(now),
            PaymentAction::GiveUp => self.customer_must_act(now),
            PaymentAction::RequireAction => self.action.is_none(),
            PaymentAction::Capture
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

    /// True while the acquirer may be called for it or for a refund of it, as far as the payment tells: a call may also
    /// be open for a payment that is over.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.status, PaymentStatus::Pending | PaymentStatus::Authorized)
            || self.operation.is_some()
            || self.open_dispute.is_some()
            || self.refunded_minor > self.confirmed_refund_minor
    }

    /// True while the customer must act, and still can.
    #[must_use]
    pub fn customer_must_act(&self, now: Millis) -> bool {
        self.open_action_until().is_some_and(|until| now < until)
    }

    /// The instant until which the customer must act; none when the payment does not wait for its customer.
    #[must_use]
    pub const fn open_action_until(&self) -> Option<Millis> {
        match (self.status, self.action) {
            (PaymentStatus::Pending, Some(ActionStage::Open(until))) => Some(until),
            (_, Some(ActionStage::Open(_) | ActionStage::Over) | None) => None,
        }
    }

    /// The room that the payment has in the totals of the balance until it is captured or over: its amount, which is
    /// the most that its fee can be, and the interest of all of it.
    #[must_use]
    pub fn reserved_minor(&self) -> u64 {
        let amount = self.money.amount;
        amount.get().saturating_add(self.instrument.interest_rate().fee_minor(amount))
    }

    /// The interest that the merchant bears, fixed at capture, in minor units.
    #[must_use]
    pub fn interest_minor(&self) -> u64 {
        let captured = AmountMinor::new(self.captured_minor());
        captured.map_or(0, |amount| self.instrument.interest_rate().fee_minor(amount))
    }

    /// The captured amount, in minor units.
    #[must_use]
    pub fn captured_minor(&self) -> u64 {
        self.capture.map_or(0, |capture| capture.amount_minor)
    }

    /// The amount that can still be refunded or disputed: captured less accepted refunds, less what is charged back or
    /// in dispute.
    #[must_use]
    pub fn refundable_minor(&self) -> u64 {
        self.captured_minor().saturating_sub(self.taken_back_minor())
    }

    /// The amount that is taken back from the capture, or may be: accepted refunds, charge-backs, and the amount in
    /// dispute.
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

    /// The status of a captured payment without an open dispute that has this much of confirmed refunds and
    /// charge-backs.
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
        PENDING            - VOIDED - - - - - - . EXPIRED AUTHORIZED/SUCCESSFUL FAILED yes FAILED
        AUTHORIZED         SUCCESSFUL VOIDED - - - - - - . VOIDED . . . .
        SUCCESSFUL         - - REVERSED = DISPUTED - - - yes . . . . .
        FAILED             - - - - - - - - . . back . . .
        EXPIRED            - - - - - - - - . . back . . .
        VOIDED             - - - - - - - - . . back . . .
        REVERSED           - - - - - - - - yes . . . . .
        PARTIALLY_REFUNDED - - - = DISPUTED - - - yes . . . . .
        REFUNDED           - - - - - - - - yes . . . . .
        DISPUTED           - - - = - yes = = yes . . . . .
    ";

    const fn draw_ruling(ruling: Ruling) -> &'static str {
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
    fn the_table_of_a_payments_life_equals_the_contracts() {
        let rows: Vec<&str> = DRAWN.lines().filter(|line| !line.trim().is_empty()).collect();
        assert_eq!(rows.len(), PaymentStatus::ALL.len(), "a status without a row");
        for (status, row) in PaymentStatus::ALL.into_iter().zip(rows) {
            let mut cells = row.split_whitespace();
            assert_eq!(cells.next(), Some(status.name()));
            let cells: Vec<&str> = cells.collect();
            let rulings = PaymentAction::ALL.map(|action| draw_ruling(status.ruling(action)));
            assert_eq!(cells, rulings, "{status:?}");
        }
    }

    #[test]
    fn the_columns_are_in_the_order_of_the_actions() {
        for (column, action) in PaymentAction::ALL.into_iter().enumerate() {
            assert_eq!(action as usize, column, "{action:?}");
        }
    }
}
