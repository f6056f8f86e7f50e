//! Checkouts: an amount with an address at which a customer pays it, and the one table that defines the effect of every
//! action in every stage.

use crate::customer::CustomerFields;
use crate::ids::{CheckoutId, IdOrExternalId, InstallationId, PaymentId};
use crate::merchant::PaymentMethod;
use crate::money::Money;
use crate::payment::CaptureMode;
use crate::session::InterestBearer;
use crate::text::{ExternalId, Name, ReturnUrl};
use crate::time::Millis;

/// The shortest time for which a checkout can be paid: a minute.
pub const CHECKOUT_LIFETIME_MIN_SECONDS: u64 = 60;

/// The longest time for which a checkout can be paid, and that of one for which none is given: a day.
pub const CHECKOUT_LIFETIME_MAX_SECONDS: u64 = 86_400;

/// The maximum number of payments that are made of one checkout.
pub const CHECKOUT_PAYMENTS_MAX: usize = 10;

/// The maximum number of lines of a checkout.
pub const CHECKOUT_LINES_MAX: usize = 100;

/// The maximum number of a merchant's checkouts that are open.
pub const OPEN_CHECKOUTS_MAX: u64 = 100_000;

/// The maximum number of open checkouts from which the removal of a customer erases the person: they are one record.
pub const CHECKOUTS_ERASED_MAX: usize = 1_000;

/// The time for which the customer fields of a checkout are kept after its end: a day and an hour, as those of a
/// session.
pub const CHECKOUT_CUSTOMER_KEPT_SECONDS: u64 = 25 * 3_600;

word_enum! {
    /// The status of a checkout.
    pub enum CheckoutStatus: name {
        /// It can be paid, or a payment of it has no outcome yet.
        Open => "OPEN",
        /// A payment of it was authorized or captured.
        Completed => "COMPLETED",
        /// It was not paid in time, or was ended before.
        Expired => "EXPIRED",
    }

    /// A language of the pages for customers, with its name in itself and the direction in which it is written.
    pub enum Locale: name, own_name, direction {
        /// English.
        English => "en" | "English" | "ltr",
        /// Thai.
        Thai => "th" | "ไทย" | "ltr",
        /// Japanese.
        Japanese => "ja" | "日本語" | "ltr",
        /// German.
        German => "de" | "Deutsch" | "ltr",
        /// Arabic.
        Arabic => "ar" | "العربية" | "rtl",
    }

    /// The stage of a checkout: the rows of the table.
    pub enum CheckoutStage {
        /// Open, and no payment is in progress.
        Waiting,
        /// Open, and a payment is in progress.
        InProgress,
        /// Completed.
        Completed,
        /// Expired.
        Expired,
    }

    /// A call or an event that concerns a checkout: the columns of the table.
    pub enum CheckoutAction {
        /// The customer pays.
        Pay,
        /// A payment of it succeeds, or is authorized.
        PaymentSucceeds,
        /// A payment of it fails, expires, or is voided while it is pending.
        PaymentEnds,
        /// The merchant ends it, or its time is over.
        Expire,
    }
}

/// The effect of an action on a checkout in one stage: a cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutRuling {
    /// The action is refused.
    Refused,
    /// Nothing happens, or nothing can.
    Nothing,
    /// A payment is made.
    NewPayment,
    /// The payment that is there is the answer.
    SamePayment,
    /// The checkout is completed.
    Completes,
    /// It can be paid again, unless it takes no new payment: then it expires.
    Reopens,
    /// It expires.
    Expires,
    /// It stays open and takes no new payment.
    Closes,
}

impl CheckoutStage {
    /// The effect of `action` on a checkout in this stage. This is the one table of the checkout's life.
    #[must_use]
    pub const fn ruling(self, action: CheckoutAction) -> CheckoutRuling {
        use CheckoutRuling::{Closes, Completes, Expires, NewPayment, Nothing, Refused, Reopens, SamePayment};
        #[rustfmt::skip]
        let row = match self {
            //                            pay          succeeds   ends     expire
            CheckoutStage::Waiting =>    [NewPayment,  Nothing,   Nothing, Expires],
            CheckoutStage::InProgress => [SamePayment, Completes, Reopens, Closes],
            CheckoutStage::Completed =>  [SamePayment, Nothing,   Nothing, Nothing],
            CheckoutStage::Expired =>    [Refused,     Nothing,   Nothing, Nothing],
        };
        row[action as usize]
    }
}

/// The reference by which a call names a checkout.
pub type CheckoutRef = IdOrExternalId<CheckoutId>;

/// A line of the order that a checkout shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutLine {
    /// The name that the customer reads.
    pub name: Name,
    /// The amount of one in minor units, negative for a discount and never zero; its size is at most that of an amount.
    pub amount_minor: i64,
    /// The number of them, at least 1.
    pub quantity: u64,
}

impl CheckoutLine {
    /// The sum of some lines in minor units. A hundred lines of any amount and quantity do not overflow it.
    #[must_use]
    pub fn sum_minor(lines: &[CheckoutLine]) -> i128 {
        let total = |line: &CheckoutLine| i128::from(line.amount_minor).saturating_mul(i128::from(line.quantity));
        lines.iter().map(total).fold(0, i128::saturating_add)
    }
}

/// A checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Its id, which opens nothing: its address ends in a secret, too.
    pub id: CheckoutId,
    /// The merchant's own reference. Its newest payment has it, too.
    pub external_id: Option<ExternalId>,
    /// The installation whose calls pay it.
    pub installation_id: InstallationId,
    /// The amount to be paid.
    pub money: Money,
    /// The lines of the order; none when only the amount is shown.
    pub lines: Vec<CheckoutLine>,
    /// The mode in which its payments are captured.
    pub capture_mode: CaptureMode,
    /// The methods among which the customer chooses, as far as they are enabled.
    pub methods: Vec<PaymentMethod>,
    /// The party that bears the interest of instalments.
    pub interest_bearer: InterestBearer,
    /// The language of its page, when the merchant chose one.
    pub locale: Option<Locale>,
    /// The address to which the customer is sent after the payment.
    pub return_url: ReturnUrl,
    /// The address to which a customer goes who gives up, when it is another one.
    pub cancel_url: Option<ReturnUrl>,
    /// The page of the shop that shows it in a frame.
    pub page_url: Option<ReturnUrl>,
    /// The customer fields of its payments, as they were given.
    pub customer: CustomerFields,
    /// True when the customer is offered saved cards, and to save one.
    pub offers_saved_cards: bool,
    /// Its status.
    pub status: CheckoutStatus,
    /// Its payments, the oldest first, at most [`CHECKOUT_PAYMENTS_MAX`].
    pub payments: Vec<PaymentId>,
    /// True while the newest payment has no outcome.
    pub in_progress: bool,
    /// True when the merchant ended it while a payment was in progress: it takes no new one.
    pub closes: bool,
    /// The time at which it was started.
    pub created_at: Millis,
    /// The instant until which new payments can be made of it.
    pub expires_at: Millis,
    /// The instant at which it was completed or expired.
    pub ended_at: Option<Millis>,
}

impl Checkout {
    /// Its row of the table.
    #[must_use]
    pub const fn stage(&self) -> CheckoutStage {
        match (self.status, self.in_progress) {
            (CheckoutStatus::Open, false) => CheckoutStage::Waiting,
            (CheckoutStatus::Open, true) => CheckoutStage::InProgress,
            (CheckoutStatus::Completed, _) => CheckoutStage::Completed,
            (CheckoutStatus::Expired, _) => CheckoutStage::Expired,
        }
    }

    /// Returns true when another payment can be made of it, once none is in progress.
    #[must_use]
    pub fn takes_payments(&self, now: Millis) -> bool {
        self.status == CheckoutStatus::Open
            && !self.closes
            && now < self.expires_at
            && self.payments.len() < CHECKOUT_PAYMENTS_MAX
    }

    /// Its newest payment.
    #[must_use]
    pub fn newest_payment(&self) -> Option<PaymentId> {
        self.payments.last().copied()
    }

    /// The status that a caller is told: a checkout whose time is over and that waits for no payment has expired, also
    /// before that is recorded.
    #[must_use]
    pub fn status_at(&self, now: Millis) -> CheckoutStatus {
        match self.stage() {
            CheckoutStage::Waiting if self.expires_at <= now => CheckoutStatus::Expired,
            CheckoutStage::Waiting | CheckoutStage::InProgress => CheckoutStatus::Open,
            CheckoutStage::Completed => CheckoutStatus::Completed,
            CheckoutStage::Expired => CheckoutStatus::Expired,
        }
    }

    /// The address to which a customer goes who gives up.
    #[must_use]
    pub fn given_up_url(&self) -> &ReturnUrl {
        self.cancel_url.as_ref().unwrap_or(&self.return_url)
    }

    /// The instant at which something is due: its expiry while it is open, then the erasure of its customer fields.
    #[must_use]
    pub fn due_at(&self) -> Millis {
        self.ended_at.map_or(self.expires_at, |at| at.plus_seconds(CHECKOUT_CUSTOMER_KEPT_SECONDS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the contract. Columns in the order of [`CheckoutAction::ALL`].
    const DRAWN: &str = "
        new     .         .       EXPIRED
        that    COMPLETED reopens closes
        that    .         .       .
        refused .         .       .
    ";

    const fn draw_ruling(ruling: CheckoutRuling) -> &'static str {
        match ruling {
            CheckoutRuling::Refused => "refused",
            CheckoutRuling::Nothing => ".",
            CheckoutRuling::NewPayment => "new",
            CheckoutRuling::SamePayment => "that",
            CheckoutRuling::Completes => "COMPLETED",
            CheckoutRuling::Reopens => "reopens",
            CheckoutRuling::Expires => "EXPIRED",
            CheckoutRuling::Closes => "closes",
        }
    }

    #[test]
    fn the_table_of_a_checkouts_life_equals_the_contracts() {
        let rows: Vec<&str> = DRAWN.lines().filter(|line| !line.trim().is_empty()).collect();
        assert_eq!(rows.len(), CheckoutStage::ALL.len(), "a stage without a row");
        for (stage, row) in CheckoutStage::ALL.into_iter().zip(rows) {
            let cells: Vec<&str> = row.split_whitespace().collect();
            assert_eq!(cells, CheckoutAction::ALL.map(|action| draw_ruling(stage.ruling(action))), "{stage:?}");
        }
    }

    #[test]
    fn the_columns_are_in_the_order_of_the_actions() {
        for (column, action) in CheckoutAction::ALL.into_iter().enumerate() {
            assert_eq!(action as usize, column, "{action:?}");
        }
    }

    #[test]
    fn lines_are_summed_up_without_overflow() {
        let line =
            |amount, quantity| CheckoutLine { name: Name::new("Tea").expect("a name"), amount_minor: amount, quantity };
        assert_eq!(CheckoutLine::sum_minor(&[line(250, 2), line(1, 3), line(-3, 1)]), 500);
        assert_eq!(CheckoutLine::sum_minor(&[]), 0);
        let largest = line(i64::MAX, u64::MAX);
        assert_eq!(CheckoutLine::sum_minor(&[largest.clone(), largest]), i128::MAX);
    }
}
