//! The comparison, without waiting: what the acquirer lists, the newest first, looked up in Till's rows; then Till's
//! captures and refunds of the range, looked up in what was listed.

use std::collections::BTreeSet;

use till_domain::effect::EffectId;
use till_domain::ids::{PaymentId, RefundId};
use till_domain::money::{AmountMinor, Money};
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::records::{Effects, Payments, Refunds, Rows, Unreadable};
use till_domain::refund::{Refund, RefundStatus};
use till_domain::time::Millis;

use super::findings::{DIFFERENCES_MAX, Difference, DifferenceKind, ReconciledRange, Reconciliation};
use crate::acquirer::{BalanceChange, NamedCall, PaymentStep};

/// Money that the acquirer moves once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Movement {
    Capture(PaymentId),
    /// The return of all of a capture: a reversal, or of a payment that was over.
    Reversal(PaymentId),
    Refund(PaymentId, RefundId),
}

/// What Till knows of a movement.
enum Known {
    Nothing,
    CallIsOpen,
    NotDone,
    Done,
    /// It is done by another payment of the acquirer's.
    DoneElsewhere,
}

/// A comparison under way. It holds some 45 bytes for each movement that is listed.
pub(super) struct BalanceComparison {
    pub(super) range: ReconciledRange,
    pub(super) found: Reconciliation,
    listed: BTreeSet<Movement>,
    /// Movements whose money came back to the account.
    returned: BTreeSet<Movement>,
}

impl BalanceComparison {
    pub(super) fn new(range: ReconciledRange) -> BalanceComparison {
        let (found, listed, returned) = Default::default();
        BalanceComparison { range, found, listed, returned }
    }

    /// Takes a change that the acquirer lists, at or near the range, the newest first.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub(super) fn list(&mut self, change: &BalanceChange, rows: &impl Rows) -> Result<(), Unreadable> {
        let is_in_range = self.range.has(change.at);
        if is_in_range && change.currency == self.range.currency.code() {
            self.found.acquirer_fees_minor = self.found.acquirer_fees_minor.saturating_add(change.fee_minor);
        }
        let Some((movement, is_return)) = movement_of(change) else {
            if is_in_range {
                self.differ(DifferenceKind::UnknownToTill, change, None, None);
            }
            return Ok(());
        };
        let is_new = if is_return { self.returned.insert(movement) } else { self.listed.insert(movement) };
        if is_new && !is_in_range {
            return Ok(());
        }
        let (known, money) = self.look_up(movement, change, rows)?;
        let kind = match known {
            _ if !is_new => Some(DifferenceKind::Twice),
            Known::DoneElsewhere => {
                self.listed.remove(&movement);
                Some(DifferenceKind::Twice)
            }
            Known::Nothing => Some(DifferenceKind::UnknownToTill),
            Known::CallIsOpen => {
                self.found.under_way += 1;
                None
            }
            Known::NotDone if self.returned.contains(&movement) => None,
            Known::Done if !is_return => money.and_then(|money| self.compare(change, money)),
            Known::NotDone | Known::Done => Some(DifferenceKind::Status),
        };
        if let Some(kind) = kind {
            self.differ(kind, change, Some(movement), money);
        }
        Ok(())
    }

    /// Takes a payment of Till's, after all changes: a capture in the range must be listed, and its reversal. One that
    /// is reversed without a charge-back was reversed by a call, before its money was settled.
    pub(super) fn capture(&mut self, payment: &Payment) {
        let Some(capture) = payment.capture.filter(|capture| self.range.has(capture.at)) else { return };
        if payment.acquirer == self.range.account {
            let money = captured_of(payment);
            self.expect(Movement::Capture(payment.id), payment, (money, capture.at));
            if payment.status == PaymentStatus::Reversed && payment.charged_back_minor == 0 {
                self.expect(Movement::Reversal(payment.id), payment, (money, capture.settles_at));
            }
        }
    }

    /// Takes a refund of Till's that was made in the range, after all changes: one that is confirmed must be listed.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub(super) fn refund(&mut self, refund: &Refund, rows: &impl Rows) -> Result<(), Unreadable> {
        if let Some(at) = refund.refunded_at
            && let Some(payment) = self.payment(refund.payment_id, rows)?
        {
            self.expect(Movement::Refund(payment.id, refund.id), &payment, (refund.money, at));
        }
        Ok(())
    }

    /// What Till knows of a movement, and what its amount is or would be.
    fn look_up(
        &mut self,
        movement: Movement,
        change: &BalanceChange,
        rows: &impl Rows,
    ) -> Result<(Known, Option<Money>), Unreadable> {
        let id = match movement {
            Movement::Refund(_, refund_id) => {
                let refund = rows.get::<Refunds>(refund_id)?;
                let known = refund.as_ref().map_or(Known::Nothing, |refund| match refund.status {
                    RefundStatus::Pending => Known::CallIsOpen,
                    RefundStatus::Successful => Known::Done,
                    RefundStatus::Failed => Known::NotDone,
                });
                return Ok((known, refund.map(|refund| refund.money)));
            }
            Movement::Capture(id) | Movement::Reversal(id) => id,
        };
        let Some(payment) = self.payment(id, rows)? else { return Ok((Known::Nothing, None)) };
        let (money, given_back_at) = (captured_of(&payment), payment.late_success.and_then(|late| late.returned_at));
        let is_capture = movement == Movement::Capture(id);
        let is_moved = if is_capture { payment.capture.is_some() } else { payment.status == PaymentStatus::Reversed };
        let (own, listed) = (acquirer_reference(&payment), change.payment.as_deref());
        let known = if is_capture && is_moved && own.zip(listed).is_some_and(|(own, listed)| own != listed) {
            Known::DoneElsewhere
        } else if is_moved || given_back_at.is_some() {
            Known::Done
        } else if rows.get::<Effects>(EffectId::operation(id))?.is_some() {
            Known::CallIsOpen
        } else {
            Known::NotDone
        };
        if let Some(at) = given_back_at.filter(|_| is_capture) {
            self.expect(Movement::Reversal(id), &payment, (money, at));
        }
        Ok((known, Some(money)))
    }

    /// A payment of the account.
    fn payment(&self, id: PaymentId, rows: &impl Rows) -> Result<Option<Payment>, Unreadable> {
        Ok(rows.get::<Payments>(id)?.filter(|payment| payment.acquirer == self.range.account))
    }

    /// Compares what both sides have.
    fn compare(&mut self, change: &BalanceChange, money: Money) -> Option<DifferenceKind> {
        let minor = money.amount.get();
        if change.currency != money.currency.code() {
            return Some(DifferenceKind::Currency);
        }
        if change.amount_minor.unsigned_abs() != minor {
            return Some(DifferenceKind::Amount);
        }
        let compared = &mut self.found.compared;
        let (count, sum) = match change.amount_minor {
            1.. => (&mut compared.captures, &mut compared.captured_minor),
            _ => (&mut compared.refunds, &mut compared.refunded_minor),
        };
        (*count, *sum) = (*count + 1, sum.saturating_add(minor));
        None
    }

    /// A movement that was done before some time must have been listed, unless that is later than the list goes.
    fn expect(&mut self, movement: Movement, payment: &Payment, (money, at): (Money, Millis)) {
        if at >= self.range.listed().1 || self.listed.contains(&movement) {
            return;
        }
        let (payment_id, refund_id) = movement.ids();
        self.add(Difference {
            kind: DifferenceKind::MissingAtAcquirer,
            payment_id: Some(payment_id),
            refund_id,
            acquirer_reference: acquirer_reference(payment).map(str::to_owned),
            word: None,
            amount_minor: Some(money.amount.get()),
            acquirer_amount_minor: None,
            currency: money.currency.code().to_owned(),
            at,
        });
    }

    fn differ(
        &mut self,
        kind: DifferenceKind,
        change: &BalanceChange,
        movement: Option<Movement>,
        money: Option<Money>,
    ) {
        let ids = movement.map(Movement::ids);
        self.add(Difference {
            kind,
            payment_id: ids.map(|(payment_id, _)| payment_id),
            refund_id: ids.and_then(|(_, refund_id)| refund_id),
            acquirer_reference: Some(change.source.as_ref().unwrap_or(&change.id).clone()),
            word: Some(change.kind.clone()),
            amount_minor: money.map(|money| money.amount.get()),
            acquirer_amount_minor: Some(change.amount_minor),
            currency: change.currency.clone(),
            at: change.at,
        });
    }

    fn add(&mut self, difference: Difference) {
        if self.range.is_under_way(difference.at) {
            self.found.under_way += 1;
            return;
        }
        *self.found.counts.entry(difference.kind).or_default() += 1;
        if self.found.differences.len() < DIFFERENCES_MAX {
            self.found.differences.push(difference);
        }
    }
}

impl Movement {
    const fn ids(self) -> (PaymentId, Option<RefundId>) {
        match self {
            Movement::Capture(payment_id) | Movement::Reversal(payment_id) => (payment_id, None),
            Movement::Refund(payment_id, refund_id) => (payment_id, Some(refund_id)),
        }
    }
}

/// The movement that a change is, by Till's reference; and true when its money came back to the account.
fn movement_of(change: &BalanceChange) -> Option<(Movement, bool)> {
    let named = change.reference.as_deref()?.parse().ok()?;
    let NamedCall::Payment { payment, step, attempt: _ } = named else { return None };
    let is_more = change.amount_minor > 0;
    match step {
        PaymentStep::Authorize => is_more.then_some((Movement::Capture(payment), false)),
        PaymentStep::Reverse => Some((Movement::Reversal(payment), is_more)),
        PaymentStep::Refund(refund) => Some((Movement::Refund(payment, refund), is_more)),
        PaymentStep::Capture | PaymentStep::Void | PaymentStep::Cancel => None,
    }
}

/// What was captured of a payment, or would have been.
fn captured_of(payment: &Payment) -> Money {
    let captured = payment.capture.and_then(|capture| AmountMinor::new(capture.amount_minor));
    Money { amount: captured.unwrap_or(payment.money.amount), ..payment.money }
}

/// The acquirer's own id of a payment.
fn acquirer_reference(payment: &Payment) -> Option<&str> {
    Some(&payment.authorization.as_ref()?.acquirer_reference)
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
