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
    let transaction_id = context.mint();
    let legs = pair(EntryType::AddPrefund, Direction::Credit, money.amount, Account::BankClearing, context);
    effective(transaction_id, Cause::Topup(id), money.currency, legs, context)
}

/// An invoice: effective at once.
pub(super) fn invoice(id: InvoiceId, money: Money, context: &mut Context<'_>) -> Transaction {
    let transaction_id = context.mint();
    let legs = pair(EntryType::Invoice, Direction::Debit, money.amount, Account::Invoices, context);
    effective(transaction_id, Cause::Invoice(id), money.currency, legs, context)
}

/// A transaction that is effective at once.
fn effective(
    id: TransactionId,
    cause: Cause,
    currency: Currency,
    legs: [Leg; 2],
    context: &Context<'_>,
) -> Transaction {
    Transaction {
        id,
        cause,
        currency,
        legs: legs.to_vec(),
        status: EntryStatus::Effective,
        created_at: context.now,
        settles_at: None,
        effective_at: Some(context.now),
        canceled_at: None,
    }
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
    Transaction {
        id: transaction_id,
        cause: Cause::Capture(payment_id),
        currency,
        legs,
        status: if held { EntryStatus::OnHold } else { EntryStatus::Effective },
        created_at: context.now,
        settles_at: held.then_some(settles_at),
        effective_at: (!held).then_some(context.now),
        canceled_at: None,
    }
}

/// A refund: on hold until the acquirer confirms it.
pub(super) fn refund(payment_id: PaymentId, id: RefundId, money: Money, context: &mut Context<'_>) -> Transaction {
    let transaction_id = context.mint();
    let legs = pair(EntryType::Refund, Direction::Debit, money.amount, Account::AcquirerClearing, context);
    on_hold(transaction_id, Cause::Refund(payment_id, id), money.currency, legs, context)
}

/// A dispute: on hold until it is decided.
pub(super) fn dispute(payment_id: PaymentId, id: DisputeId, money: Money, context: &mut Context<'_>) -> Transaction {
    let transaction_id = context.mint();
    let legs = pair(EntryType::Dispute, Direction::Debit, money.amount, Account::AcquirerClearing, context);
    on_hold(transaction_id, Cause::Dispute(payment_id, id), money.currency, legs, context)
}

/// A payout: on hold until the acquirer has paid it.
pub(super) fn payout(id: PayoutId, money: Money, context: &mut Context<'_>) -> Transaction {
    let transaction_id = context.mint();
    let legs = pair(EntryType::PayOut, Direction::Debit, money.amount, Account::BankClearing, context);
    on_hold(transaction_id, Cause::Payout(id), money.currency, legs, context)
}

/// A transaction that is on hold until an outside decision.
fn on_hold(id: TransactionId, cause: Cause, currency: Currency, legs: [Leg; 2], context: &Context<'_>) -> Transaction {
    Transaction {
        id,
        cause,
        currency,
        legs: legs.to_vec(),
        status: EntryStatus::OnHold,
        created_at: context.now,
        settles_at: None,
        effective_at: None,
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
