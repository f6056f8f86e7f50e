//! Postings: the transactions of the ledger, each balanced over the accounts.

use super::context::Context;
use crate::ids::{DisputeId, InvoiceId, PaymentId, PayoutId, RefundId, TopupId, TransactionId};
use crate::ledger::{Account, Cause, Direction, EntryStatus, EntryType, Leg, Transaction};
use crate::money::{AmountMinor, Currency, Money};
use crate::payment::{Payment, PaymentAction};
use crate::records::MerchantState;
use crate::refusal::Refusal;
use crate::time::Millis;

/// Refuses a credit that would bring the credits above their limit.
pub(super) fn check_room_for_credit(state: &MerchantState, amount_minor: u64) -> Result<(), Refusal> {
    let totals = state.balance.unwrap_or_default();
    if totals.has_room_for_credit(amount_minor, state.reserved_minor) { Ok(()) } else { Err(Refusal::TotalTooLarge) }
}

/// Refuses a debit that could bring the debits above their limit.
pub(super) fn check_room_for_debit(state: &MerchantState, amount_minor: u64) -> Result<(), Refusal> {
    let totals = state.balance.unwrap_or_default();
    if totals.has_room_for_debit(amount_minor, state.reserved_minor) { Ok(()) } else { Err(Refusal::TotalTooLarge) }
}

/// Refuses a payout that would overdraw the available balance.
pub(super) fn check_available(state: &MerchantState, amount: AmountMinor) -> Result<(), Refusal> {
    let available_minor = state.balance.unwrap_or_default().available_minor();
    let is_covered = signed(amount.get()) <= available_minor;
    if is_covered { Ok(()) } else { Err(Refusal::InsufficientBalance { available_minor }) }
}

/// Refuses a refund whose excess over its own capture is more than what is available and what is left of other captures
/// on hold.
pub(super) fn check_refund(
    state: &MerchantState,
    payment: &Payment,
    held: Option<&Transaction>,
    amount: AmountMinor,
    now: Millis,
) -> Result<(), Refusal> {
    let totals = state.balance.unwrap_or_default();
    let (available_minor, pending_minor) = (totals.available_minor(), totals.pending_minor());
    let own_minor = held.map_or(0, |held| held.left_minor(payment.taken_back_minor()));
    let others_minor = pending_minor.saturating_sub(signed(own_minor));
    let excess_minor = amount.get().saturating_sub(own_minor);
    if excess_minor == 0 || signed(excess_minor) <= available_minor.saturating_add(others_minor) {
        return Ok(());
    }
    let is_reversible = payment.allows(PaymentAction::Reverse, now);
    Err(Refusal::RefundNotCovered { available_minor, pending_minor, is_reversible })
}

fn signed(minor: u64) -> i64 {
    i64::try_from(minor).unwrap_or(i64::MAX)
}

/// A top-up: effective at once, against the bank account.
pub(super) fn topup(id: TopupId, money: Money, context: &mut Context<'_>) -> Transaction {
    let entry = (EntryType::AddPrefund, Direction::Credit, Account::BankClearing);
    of_one_entry(Cause::Topup(id), entry, money, EntryStatus::Effective, context)
}

/// An invoice: effective at once.
pub(super) fn invoice(id: InvoiceId, money: Money, context: &mut Context<'_>) -> Transaction {
    let entry = (EntryType::Invoice, Direction::Debit, Account::Invoices);
    of_one_entry(Cause::Invoice(id), entry, money, EntryStatus::Effective, context)
}

/// The costs of a capture to the merchant, in minor units. One of zero posts nothing.
pub(super) struct CaptureCosts {
    pub(super) fee_minor: u64,
    /// The part of the interest of instalments that the merchant bears.
    pub(super) interest_minor: u64,
}

/// A capture with its costs: on hold until `settles_at`, or effective at once when that is not in the future.
pub(super) fn capture(
    payment_id: PaymentId,
    amount: AmountMinor,
    costs: CaptureCosts,
    currency: Currency,
    settles_at: Millis,
    context: &mut Context<'_>,
) -> Transaction {
    let transaction_id = context.mint();
    let gross = pair(EntryType::Payment, Direction::Credit, amount, Account::AcquirerClearing, context);
    let mut legs = gross.to_vec();
    if let Some(fee) = AmountMinor::new(costs.fee_minor) {
        legs.extend(pair(EntryType::PaymentFee, Direction::Debit, fee, Account::Fees, context));
    }
    if let Some(interest) = AmountMinor::new(costs.interest_minor) {
        legs.extend(pair(EntryType::Interest, Direction::Debit, interest, Account::Interest, context));
    }
    legs.sort_by_key(|leg| leg.account != Account::Balance);
    let held = settles_at > context.now;
    let status = if held { EntryStatus::OnHold } else { EntryStatus::Effective };
    let posted = transaction(transaction_id, Cause::Capture(payment_id), currency, legs, status, context);
    Transaction { settles_at: held.then_some(settles_at), ..posted }
}

/// A refund: on hold until the acquirer confirms it.
pub(super) fn refund(payment_id: PaymentId, id: RefundId, money: Money, context: &mut Context<'_>) -> Transaction {
    let entry = (EntryType::Refund, Direction::Debit, Account::AcquirerClearing);
    of_one_entry(Cause::Refund(payment_id, id), entry, money, EntryStatus::OnHold, context)
}

/// A dispute: on hold until it is decided.
pub(super) fn dispute(payment_id: PaymentId, id: DisputeId, money: Money, context: &mut Context<'_>) -> Transaction {
    let entry = (EntryType::Dispute, Direction::Debit, Account::AcquirerClearing);
    of_one_entry(Cause::Dispute(payment_id, id), entry, money, EntryStatus::OnHold, context)
}

/// A payout: on hold until the acquirer has paid it.
pub(super) fn payout(id: PayoutId, money: Money, context: &mut Context<'_>) -> Transaction {
    let entry = (EntryType::PayOut, Direction::Debit, Account::BankClearing);
    of_one_entry(Cause::Payout(id), entry, money, EntryStatus::OnHold, context)
}

/// A transaction of one entry on the balance, with its purpose, its side and the other account.
fn of_one_entry(
    cause: Cause,
    (entry_type, direction, other): (EntryType, Direction, Account),
    money: Money,
    status: EntryStatus,
    context: &mut Context<'_>,
) -> Transaction {
    let id = context.mint();
    let legs = pair(entry_type, direction, money.amount, other, context).to_vec();
    transaction(id, cause, money.currency, legs, status, context)
}

/// A transaction that is effective now, or on hold until an outside decision.
fn transaction(
    id: TransactionId,
    cause: Cause,
    currency: Currency,
    legs: Vec<Leg>,
    status: EntryStatus,
    context: &Context<'_>,
) -> Transaction {
    Transaction {
        id,
        cause,
        currency,
        legs,
        status,
        created_at: context.now,
        settles_at: None,
        effective_at: (status == EntryStatus::Effective).then_some(context.now),
        canceled_at: None,
    }
}

/// An entry on the balance and its counterpart of the same amount.
fn pair(
    entry_type: EntryType,
    direction: Direction,
    amount: AmountMinor,
    other: Account,
    context: &mut Context<'_>,
) -> [Leg; 2] {
    let balance = Leg { entry_id: context.mint(), account: Account::Balance, direction, entry_type, amount };
    let opposite = direction.opposite();
    [balance, Leg { entry_id: context.mint(), account: other, direction: opposite, entry_type, amount }]
}
