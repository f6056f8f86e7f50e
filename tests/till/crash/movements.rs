//! Counts the operations that moved money, for a round's report.

use std::fmt;

use super::dispute::{Dispute, End};
use super::payment::KnownPayment;
use super::truth::Truth;

/// The number of operations beyond automatic captures, for a round's report.
#[derive(Debug, Default)]
pub(super) struct Movements {
    captures: usize,
    refused_captures: usize,
    voids: usize,
    reversals: usize,
    refunds: usize,
    failed_refunds: usize,
    payouts: usize,
    failed_payouts: usize,
    invoices: usize,
    disputes: Disputes,
    /// Captures of instalments whose interest the merchant bears.
    with_interest: usize,
}

/// The number of disputes, and of steps in them.
#[derive(Debug, Default)]
struct Disputes {
    of_cards: usize,
    of_the_operator: usize,
    challenged: usize,
    escalated: usize,
    won: usize,
    lost: usize,
    conceded: usize,
}

impl Movements {
    /// The numbers of all merchants.
    pub(super) fn of(truths: &[Truth]) -> Movements {
        let mut movements = Movements::default();
        truths.iter().flat_map(|truth| truth.payments.values()).for_each(|payment| movements.add(payment));
        let payouts = truths.iter().flat_map(|truth| truth.payouts.values());
        let (failed, paid): (Vec<_>, Vec<_>) = payouts.partition(|payout| payout.failure().is_some());
        (movements.payouts, movements.failed_payouts) = (paid.len(), failed.len());
        let disputes = truths.iter().flat_map(Truth::disputes);
        disputes.for_each(|disputed| movements.disputes.add(disputed.dispute));
        movements.invoices = truths.iter().map(|truth| truth.invoices.len()).sum();
        movements
    }

    fn add(&mut self, payment: &KnownPayment) {
        let took = payment.captured_minor() > 0;
        let captures = if took { &mut self.captures } else { &mut self.refused_captures };
        *captures += payment.captures.len();
        self.with_interest += usize::from(took && payment.sale.is_with_interest());
        self.voids += usize::from(payment.status() == "VOIDED");
        self.reversals += usize::from(payment.is_reversed());
        let fails = payment.sale.fate.refund_failure().is_some();
        let refunds = if fails { &mut self.failed_refunds } else { &mut self.refunds };
        *refunds += payment.refunds.len();
    }
}

impl fmt::Display for Movements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Movements { captures, refused_captures, voids, reversals, refunds, failed_refunds, .. } = self;
        let Movements { payouts, failed_payouts, invoices, with_interest, disputes, .. } = self;
        write!(
            f,
            "{captures} captures and {refused_captures} refused ones, {with_interest} with interest, {voids} voids, \
                {reversals} reversals, {refunds} refunds and {failed_refunds} failed ones, {payouts} payouts and \
                {failed_payouts} failed ones, {invoices} invoices, {disputes}"
        )
    }
}

impl Disputes {
    fn add(&mut self, dispute: &Dispute) {
        let opened = if dispute.is_of_its_card() { &mut self.of_cards } else { &mut self.of_the_operator };
        *opened += 1;
        self.challenged += usize::from(dispute.evidence().is_some());
        self.escalated += usize::from(dispute.is_escalated());
        let ended = dispute.end().map(|end| match end {
            End::Won => &mut self.won,
            End::Lost => &mut self.lost,
            End::Conceded => &mut self.conceded,
        });
        ended.into_iter().for_each(|ended| *ended += 1);
    }
}

impl fmt::Display for Disputes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Disputes { of_cards, of_the_operator, challenged, escalated, won, lost, conceded } = self;
        write!(
            f,
            "{of_cards} disputes of cards and {of_the_operator} of the operator, of which {challenged} were \
                challenged, {escalated} escalated, {won} won, {lost} lost, {conceded} conceded"
        )
    }
}
