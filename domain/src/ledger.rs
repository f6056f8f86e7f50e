//! The ledger: double entry over a merchant's accounts.

use crate::ids::{DisputeId, EntryId, InvoiceId, PaymentId, PayoutId, RefundId, TopupId, TransactionId};
use crate::money::{AMOUNT_MAX_MINOR, AmountMinor, Currency};
use crate::text::{Description, ExternalId};
use crate::time::Millis;

word_enum! {
    /// An account of a merchant.
    pub enum Account {
        /// The default balance, whose entries `balance-history` lists.
        Balance,
        /// The debt of the acquirer.
        AcquirerClearing,
        /// The money that the bank moved.
        BankClearing,
        /// The earnings of the service.
        Fees,
        /// Invoices of the service.
        Invoices,
        /// Interest of instalments.
        Interest,
    }

    /// The side of an account that an entry is on.
    pub enum Direction: name {
        /// In favour of the account's owner.
        Credit => "CREDIT",
        /// At its expense.
        Debit => "DEBIT",
    }
}

impl Direction {
    /// The other side.
    #[must_use]
    pub const fn opposite(self) -> Direction {
        match self {
            Direction::Credit => Direction::Debit,
            Direction::Debit => Direction::Credit,
        }
    }
}

word_enum! {
    /// The purpose of an entry. Statements list entries of one purpose under its title.
    pub enum EntryType: name, title {
        /// A top-up.
        AddPrefund => "ADD_PREFUND" | "Top-ups",
        /// A captured payment, gross.
        Payment => "PAYMENT" | "Payments",
        /// The fee of a captured payment.
        PaymentFee => "PAYMENT_FEE" | "Fees of payments",
        /// Money of a captured payment that is refunded.
        Refund => "REFUND" | "Refunds",
        /// An invoice of the service.
        Invoice => "INVOICE" | "Invoices",
        /// Money that is paid out to the merchant.
        PayOut => "PAY_OUT" | "Payouts",
        /// Money of a captured payment that is in dispute or charged back.
        Dispute => "DISPUTE" | "Disputes",
        /// The interest of a payment by instalments that the merchant bears.
        Interest => "INTEREST" | "Interest of instalments",
    }

    /// The status of an entry. It changes once, from on hold to one of the others.
    pub enum EntryStatus: name {
        /// Reserved: not counted yet.
        OnHold => "ON_HOLD",
        /// Counted.
        Effective => "EFFECTIVE",
        /// Canceled before it counted.
        Canceled => "CANCELED",
    }
}

/// One side of a transaction on one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    /// The entry's id.
    pub entry_id: EntryId,
    /// The account.
    pub account: Account,
    /// The side of the account.
    pub direction: Direction,
    /// The purpose.
    pub entry_type: EntryType,
    /// The amount, never zero.
    pub amount: AmountMinor,
}

/// The object that a transaction is linked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A top-up.
    Topup(TopupId),
    /// The capture of a payment.
    Capture(PaymentId),
    /// A refund of a payment.
    Refund(PaymentId, RefundId),
    /// An invoice.
    Invoice(InvoiceId),
    /// A payout.
    Payout(PayoutId),
    /// A dispute of a payment.
    Dispute(PaymentId, DisputeId),
}

impl Cause {
    /// The id of the object, as text.
    #[must_use]
    pub fn id_text(self) -> String {
        match self {
            Cause::Topup(id) => id.to_string(),
            Cause::Capture(id) => id.to_string(),
            Cause::Refund(_, id) => id.to_string(),
            Cause::Invoice(id) => id.to_string(),
            Cause::Payout(id) => id.to_string(),
            Cause::Dispute(_, id) => id.to_string(),
        }
    }

    /// True for a refund and a dispute, which become effective no earlier than their capture.
    #[must_use]
    pub const fn takes_back(self) -> bool {
        match self {
            Cause::Refund(_, _) | Cause::Dispute(_, _) => true,
            Cause::Capture(_) | Cause::Topup(_) | Cause::Invoice(_) | Cause::Payout(_) => false,
        }
    }

    /// The payment: `payment_id` of an entry.
    #[must_use]
    pub const fn payment_id(self) -> Option<PaymentId> {
        match self {
            Cause::Topup(_) | Cause::Invoice(_) | Cause::Payout(_) => None,
            Cause::Capture(payment_id) | Cause::Refund(payment_id, _) | Cause::Dispute(payment_id, _) => {
                Some(payment_id)
            }
        }
    }

    /// The refund: `refund_id` of an entry.
    #[must_use]
    pub const fn refund_id(self) -> Option<RefundId> {
        match self {
            Cause::Topup(_) | Cause::Capture(_) | Cause::Invoice(_) | Cause::Payout(_) | Cause::Dispute(_, _) => None,
            Cause::Refund(_, refund_id) => Some(refund_id),
        }
    }

    /// The top-up: `topup_id` of an entry.
    #[must_use]
    pub const fn topup_id(self) -> Option<TopupId> {
        match self {
            Cause::Topup(topup_id) => Some(topup_id),
            Cause::Capture(_) | Cause::Refund(_, _) | Cause::Invoice(_) | Cause::Payout(_) | Cause::Dispute(_, _) => {
                None
            }
        }
    }

    /// The invoice: `invoice_id` of an entry.
    #[must_use]
    pub const fn invoice_id(self) -> Option<InvoiceId> {
        match self {
            Cause::Invoice(invoice_id) => Some(invoice_id),
            Cause::Topup(_) | Cause::Capture(_) | Cause::Refund(_, _) | Cause::Payout(_) | Cause::Dispute(_, _) => None,
        }
    }

    /// The payout: `payout_id` of an entry.
    #[must_use]
    pub const fn payout_id(self) -> Option<PayoutId> {
        match self {
            Cause::Payout(payout_id) => Some(payout_id),
            Cause::Topup(_) | Cause::Capture(_) | Cause::Refund(_, _) | Cause::Invoice(_) | Cause::Dispute(_, _) => {
                None
            }
        }
    }

    /// The dispute: `dispute_id` of an entry.
    #[must_use]
    pub const fn dispute_id(self) -> Option<DisputeId> {
        match self {
            Cause::Dispute(_, dispute_id) => Some(dispute_id),
            Cause::Topup(_) | Cause::Capture(_) | Cause::Refund(_, _) | Cause::Invoice(_) | Cause::Payout(_) => None,
        }
    }

    /// The payment in dispute: `parent_id` of an entry.
    #[must_use]
    pub const fn disputed_payment_id(self) -> Option<PaymentId> {
        match self {
            Cause::Dispute(payment_id, _) => Some(payment_id),
            Cause::Topup(_) | Cause::Capture(_) | Cause::Refund(_, _) | Cause::Invoice(_) | Cause::Payout(_) => None,
        }
    }
}

/// A transaction: entries over accounts that sum to zero and change status together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Its id.
    pub id: TransactionId,
    /// The object that it was posted for.
    pub cause: Cause,
    /// The currency of its entries.
    pub currency: Currency,
    /// Its entries, those of the balance first.
    pub legs: Vec<Leg>,
    /// The status of its entries.
    pub status: EntryStatus,
    /// The time at which it was posted.
    pub created_at: Millis,
    /// The instant at which it becomes effective by itself, while on hold.
    pub settles_at: Option<Millis>,
    /// The time at which it became effective.
    pub effective_at: Option<Millis>,
    /// The time at which it was canceled.
    pub canceled_at: Option<Millis>,
}

impl Transaction {
    /// Returns true when credits and debits over all accounts are equal.
    #[must_use]
    pub fn is_balanced(&self) -> bool {
        let sum = |side: Direction| -> u128 {
            let legs = self.legs.iter().filter(|leg| leg.direction == side);
            legs.map(|leg| u128::from(leg.amount.get())).sum()
        };
        sum(Direction::Credit) == sum(Direction::Debit)
    }

    /// Returns true for the transaction of a capture while it is on hold.
    #[must_use]
    pub const fn is_held_capture(&self) -> bool {
        matches!((self.cause, self.status), (Cause::Capture(_), EntryStatus::OnHold))
    }

    /// The entries on the balance as they are listed.
    pub fn balance_entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.legs.iter().filter(|leg| leg.account == Account::Balance).map(|leg| Entry {
            id: leg.entry_id,
            transaction_id: self.id,
            direction: leg.direction,
            entry_type: leg.entry_type,
            amount: leg.amount,
            currency: self.currency,
            status: self.status,
            cause: self.cause,
            created_at: self.created_at,
            effective_at: self.effective_at,
            canceled_at: self.canceled_at,
        })
    }

    /// The sum of its entries on one side of the balance, in minor units.
    #[must_use]
    pub fn balance_minor(&self, direction: Direction) -> u64 {
        let legs = self.legs.iter();
        let on_side = legs.filter(|leg| leg.account == Account::Balance && leg.direction == direction);
        on_side.fold(0, |sum, leg| sum.saturating_add(leg.amount.get()))
    }

    /// Of a capture: the amount by which its own debits, together with the given refunded or disputed amount, exceed
    /// it.
    #[must_use]
    pub fn missing_minor(&self, taken_back_minor: u64) -> u64 {
        let debits = self.balance_minor(Direction::Debit).saturating_add(taken_back_minor);
        debits.saturating_sub(self.balance_minor(Direction::Credit))
    }

    /// Of a capture: the amount that its own debits, together with the given refunded or disputed amount, leave of it.
    #[must_use]
    pub fn left_minor(&self, taken_back_minor: u64) -> u64 {
        let debits = self.balance_minor(Direction::Debit).saturating_add(taken_back_minor);
        self.balance_minor(Direction::Credit).saturating_sub(debits)
    }

    /// The transaction as effective.
    #[must_use]
    pub fn settled(mut self, at: Millis) -> Transaction {
        self.status = EntryStatus::Effective;
        self.effective_at = Some(at);
        self.settles_at = None;
        self
    }

    /// The transaction as canceled before it was effective.
    #[must_use]
    pub fn canceled(mut self, at: Millis) -> Transaction {
        self.status = EntryStatus::Canceled;
        self.canceled_at = Some(at);
        self.settles_at = None;
        self
    }
}

/// An entry on the balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// Its transaction.
    pub transaction_id: TransactionId,
    /// The side of the balance.
    pub direction: Direction,
    /// The purpose.
    pub entry_type: EntryType,
    /// The amount.
    pub amount: AmountMinor,
    /// The currency of the amount.
    pub currency: Currency,
    /// Its status.
    pub status: EntryStatus,
    /// The object that it is linked to.
    pub cause: Cause,
    /// The time at which it was posted.
    pub created_at: Millis,
    /// The time at which it became effective.
    pub effective_at: Option<Millis>,
    /// The time at which it was canceled.
    pub canceled_at: Option<Millis>,
}

/// A top-up of the balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topup {
    /// Its id.
    pub id: TopupId,
    /// The operator's reference, unique among the merchant's top-ups.
    pub external_id: Option<ExternalId>,
    /// The amount.
    pub amount: AmountMinor,
    /// Its transaction.
    pub transaction_id: TransactionId,
    /// The time at which it was added.
    pub created_at: Millis,
}

/// An invoice of the service that was charged to the balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoice {
    /// Its id.
    pub id: InvoiceId,
    /// The operator's reference, unique among the merchant's invoices.
    pub external_id: Option<ExternalId>,
    /// The amount.
    pub amount: AmountMinor,
    /// Its purpose.
    pub description: Option<Description>,
    /// Its transaction.
    pub transaction_id: TransactionId,
    /// The time at which it was charged.
    pub created_at: Millis,
}

/// Sums of the entries on the balance, in minor units.
///
/// A capture on hold is first netted with the debits on hold that belong to it: its fee, interest, refunds and
/// disputes. The rest of the capture is pending; the excess of the debits, and every other debit on hold, reduces the
/// available balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BalanceTotals {
    /// Effective credits.
    pub effective_credit_minor: u64,
    /// Effective debits.
    pub effective_debit_minor: u64,
    /// Credits on hold.
    pub held_credit_minor: u64,
    /// Debits on hold.
    pub held_debit_minor: u64,
    /// Debits on hold that no capture on hold covers.
    pub uncovered_debit_minor: u64,
}

impl BalanceTotals {
    /// Effective credits less effective debits and less the debits on hold that no capture on hold covers: the amount
    /// that can be paid out. It may be negative.
    #[must_use]
    pub fn available_minor(&self) -> i64 {
        let debits = self.effective_debit_minor.saturating_add(self.uncovered_debit_minor);
        difference(self.effective_credit_minor, debits)
    }

    /// The rest of the captures on hold, which settles later.
    #[must_use]
    pub fn pending_minor(&self) -> i64 {
        difference(self.held_credit_minor, self.held_debit_minor.saturating_sub(self.uncovered_debit_minor))
    }

    /// Returns true when `more_minor` of credit, beside `reserved_minor`, keeps the credits within
    /// [`AMOUNT_MAX_MINOR`].
    #[must_use]
    pub fn has_room_for_credit(&self, more_minor: u64, reserved_minor: u64) -> bool {
        let parts = [self.effective_credit_minor, self.held_credit_minor, reserved_minor, more_minor];
        parts.into_iter().map(u128::from).sum::<u128>() <= u128::from(AMOUNT_MAX_MINOR)
    }

    /// Returns true when `more_minor` of debit keeps the debits within [`AMOUNT_MAX_MINOR`], beside what captures on
    /// hold may still cost and what is reserved for payments.
    #[must_use]
    pub fn has_room_for_debit(&self, more_minor: u64, reserved_minor: u64) -> bool {
        let debits = [self.effective_debit_minor, self.held_debit_minor, more_minor];
        let parts = debits.into_iter().chain([self.held_credit_minor, reserved_minor]);
        parts.map(u128::from).sum::<u128>() <= u128::from(AMOUNT_MAX_MINOR)
    }

    /// The totals with the balance entries of a posted transaction. Of a capture on hold, the excess of its costs is
    /// uncovered; any other debit on hold is covered at first.
    #[must_use]
    pub fn with_posted(mut self, transaction: &Transaction) -> BalanceTotals {
        if transaction.is_held_capture() {
            self = self.with_uncovered(transaction.missing_minor(0));
        }
        for entry in transaction.balance_entries() {
            let total = match (entry.status, entry.direction) {
                (EntryStatus::OnHold, Direction::Credit) => &mut self.held_credit_minor,
                (EntryStatus::OnHold, Direction::Debit) => &mut self.held_debit_minor,
                (EntryStatus::Effective, Direction::Credit) => &mut self.effective_credit_minor,
                (EntryStatus::Effective, Direction::Debit) => &mut self.effective_debit_minor,
                (EntryStatus::Canceled, Direction::Credit | Direction::Debit) => continue,
            };
            *total = total.saturating_add(entry.amount.get());
        }
        self
    }

    /// The totals after a transaction on hold with these sums on the balance became effective.
    #[must_use]
    pub fn with_settled(mut self, credit_minor: u64, debit_minor: u64) -> BalanceTotals {
        self = self.with_canceled(credit_minor, debit_minor);
        self.effective_credit_minor = self.effective_credit_minor.saturating_add(credit_minor);
        self.effective_debit_minor = self.effective_debit_minor.saturating_add(debit_minor);
        self
    }

    /// The totals after a transaction on hold with these sums on the balance was canceled.
    #[must_use]
    pub fn with_canceled(mut self, credit_minor: u64, debit_minor: u64) -> BalanceTotals {
        self.held_credit_minor = self.held_credit_minor.saturating_sub(credit_minor);
        self.held_debit_minor = self.held_debit_minor.saturating_sub(debit_minor);
        self
    }

    /// The totals after a capture on hold with these sums became effective, with the excess of its costs.
    #[must_use]
    pub fn with_settled_capture(self, credit_minor: u64, debit_minor: u64) -> BalanceTotals {
        self.with_settled(credit_minor, debit_minor).with_covered(debit_minor.saturating_sub(credit_minor))
    }

    /// The totals after a capture on hold with these sums was canceled, with the excess of its costs.
    #[must_use]
    pub fn with_canceled_capture(self, credit_minor: u64, debit_minor: u64) -> BalanceTotals {
        self.with_canceled(credit_minor, debit_minor).with_covered(debit_minor.saturating_sub(credit_minor))
    }

    /// The totals when this amount of the debits on hold ceases to be covered.
    #[must_use]
    pub fn with_uncovered(mut self, debit_minor: u64) -> BalanceTotals {
        self.uncovered_debit_minor = self.uncovered_debit_minor.saturating_add(debit_minor);
        self
    }

    /// The totals when this amount of the uncovered debits on hold becomes covered, or is on hold no longer.
    #[must_use]
    pub fn with_covered(mut self, debit_minor: u64) -> BalanceTotals {
        self.uncovered_debit_minor = self.uncovered_debit_minor.saturating_sub(debit_minor);
        self
    }
}

fn difference(plus: u64, minus: u64) -> i64 {
    // Totals are at most 2^53 - 1 when decided, so both fit.
    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    signed(plus).saturating_sub(signed(minus))
}
