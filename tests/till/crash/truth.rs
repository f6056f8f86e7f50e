//! The expected state of each merchant, from acknowledged calls and repeated ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::harness::Shop;

use super::affairs::Affairs;
use super::call_record::Sale;
use super::change::Meaning;
use super::dispute::Dispute;
use super::payment::{Accepted, KnownPayment};
use super::payout::Payout;

/// A known fact.
#[derive(Debug)]
pub(super) enum Fact {
    /// A payment exists.
    Payment(String, Sale),
    /// A capture, a void, a reversal, a refund or a dispute of this payment was accepted.
    Accepted(String, Accepted),
    /// No refund has this external id.
    NoRefund(String),
    /// A payout exists.
    Payout(String, Payout),
    /// No payout has this external id.
    NoPayout(String),
    /// An invoice of this amount exists.
    Invoice(String, u64),
    /// A top-up exists.
    Topup(String, u64),
    /// A top-up of this amount may exist once: only the amount identifies it.
    MaybeTopup(u64),
    /// A session exists.
    Session(String, u64),
    /// A change of metadata, keys, team or plan has taken effect, with this answer.
    Changed(Meaning, String),
    /// No payment has this external id.
    Absent(String),
}

/// The expected state of one merchant.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// Payments by id.
    pub(super) payments: BTreeMap<String, KnownPayment>,
    /// Payouts by id.
    pub(super) payouts: BTreeMap<String, Payout>,
    /// Amounts of invoices by id.
    pub(super) invoices: BTreeMap<String, u64>,
    /// Amounts of top-ups by id.
    pub(super) topups: BTreeMap<String, u64>,
    /// Amounts of top-ups that may be there once.
    pub(super) maybe_topups: Vec<u64>,
    /// Amounts of sessions by id.
    pub(super) sessions: BTreeMap<String, u64>,
    /// Metadata, keys, team and plan.
    pub(super) affairs: Affairs,
    /// External ids that no payment has.
    pub(super) absent: BTreeSet<String>,
    /// External ids that no refund has.
    pub(super) absent_refunds: BTreeSet<String>,
    /// External ids that no payout has.
    pub(super) absent_payouts: BTreeSet<String>,
}

/// A dispute with its payment.
pub(super) struct Disputed<'a> {
    pub(super) payment_id: &'a str,
    pub(super) payment: &'a KnownPayment,
    pub(super) id: &'a str,
    pub(super) dispute: &'a Dispute,
}

impl Truth {
    /// The state of a new merchant.
    pub(super) fn of(shop: &Shop) -> Truth {
        let plan = shop.call("retrieve-current-plan", &json!({})).ok();
        let plan_id = plan["plan_id"].as_str().expect("an id").to_owned();
        Truth { affairs: Affairs::beginning_with(plan_id), ..Truth::default() }
    }

    /// Records a fact. An id is recorded once, and a payment before its accepted operations.
    pub(super) fn note(&mut self, fact: Fact) {
        match fact {
            Fact::Payment(id, sale) => {
                let before = self.payments.insert(id.clone(), KnownPayment::new(sale));
                assert!(before.is_none(), "{id} was answered to two calls: {before:?}, {:?}", self.payments[&id]);
            }
            Fact::Accepted(id, accepted) => {
                self.payments.get_mut(&id).unwrap_or_else(|| panic!("{id} is not known")).note(accepted);
            }
            Fact::NoRefund(external_id) => drop(self.absent_refunds.insert(external_id)),
            Fact::Payout(id, payout) => {
                assert!(self.payouts.insert(id.clone(), payout).is_none(), "{id} was answered to two calls");
            }
            Fact::NoPayout(external_id) => drop(self.absent_payouts.insert(external_id)),
            Fact::Invoice(id, minor) => {
                assert!(self.invoices.insert(id.clone(), minor).is_none(), "{id} was answered to two calls");
            }
            Fact::Topup(id, minor) => {
                assert!(self.topups.insert(id.clone(), minor).is_none(), "{id} was answered to two calls");
            }
            Fact::MaybeTopup(minor) => self.maybe_topups.push(minor),
            Fact::Session(id, minor) => {
                assert!(self.sessions.insert(id.clone(), minor).is_none(), "{id} was answered to two calls");
            }
            Fact::Changed(meaning, answered) => self.affairs.note(&meaning, &answered),
            Fact::Absent(external_id) => drop(self.absent.insert(external_id)),
        }
    }

    /// All disputes, by payment and by id.
    pub(super) fn disputes<'a>(&'a self) -> impl Iterator<Item = Disputed<'a>> {
        let of_payment = |(payment_id, payment): (&'a String, &'a KnownPayment)| {
            let disputes = payment.disputes.iter();
            disputes.map(move |(id, dispute)| Disputed { payment_id, payment, id, dispute })
        };
        self.payments.iter().flat_map(of_payment)
    }

    /// Sessions that no payment has used.
    pub(super) fn idle_sessions(&self) -> Vec<(String, u64)> {
        let used: BTreeSet<&str> = self.payments.values().map(|payment| payment.sale.session.as_str()).collect();
        let idle = self.sessions.iter().filter(|(id, _)| !used.contains(id.as_str()));
        idle.map(|(id, minor)| (id.clone(), *minor)).collect()
    }
}
