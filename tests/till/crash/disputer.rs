//! Chooses a caller's calls about disputes.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Shop, TestDice, merged};

use super::dispute::{DisputeStep, End, LOSING, WINNING};
use super::dispute_call::{DisputeCall, DisputeCallKind};
use super::recent_payments::RecentPayments;

/// The number of recent disputes in which callers take steps: so few that several calls at once are about the same one.
const RECENT_MAX: u64 = 12;

/// The choice of a thread's calls about disputes of its merchant's payments.
pub(super) struct Disputer {
    /// The prefix of its names, which no other caller has.
    name: String,
    number: u64,
    payments: Arc<RecentPayments>,
}

impl Disputer {
    pub(super) fn new(name: &str, payments: Arc<RecentPayments>) -> Disputer {
        Disputer { name: name.to_owned(), number: 0, payments }
    }

    /// The next call; None when there is nothing to dispute, or no answer.
    pub(super) fn next(&mut self, shop: &Shop, dice: &mut TestDice) -> Option<DisputeCall> {
        self.number += 1;
        if dice.in_hundred(35) {
            self.open(shop, dice)
        } else {
            self.step(shop, dice).or_else(|| self.open(shop, dice))
        }
    }

    fn open(&self, shop: &Shop, dice: &mut TestDice) -> Option<DisputeCall> {
        let (payment_id, sale) = self.payments.pick(dice)?;
        let minor = dice.in_hundred(60).then(|| dice.between(1, sale.minor / 2 + 2));
        let reason = self.fresh("dispute");
        let by_external_id = sale.external_id.filter(|_| dice.in_hundred(30));
        let body = json!({
            "merchant_id": shop.merchant_id, "payment_id": by_external_id.as_ref().unwrap_or(&payment_id),
            "amount": minor, "reason": reason,
        });
        let key = self.key(dice);
        Some(DisputeCall { payment_id, kind: DisputeCallKind::Open { minor, reason }, key, body })
    }

    /// Mostly a step that the dispute permits. Any caller may have opened the dispute.
    fn step(&self, shop: &Shop, dice: &mut TestDice) -> Option<DisputeCall> {
        let listed = shop.call("list-disputes", &json!({ "per_page": RECENT_MAX })).body;
        let recent: Vec<&Value> = listed["page"].as_array()?.iter().collect();
        let is_over = |dispute: &&Value| !dispute["closed_at"].is_null();
        let (over, undecided): (Vec<&Value>, Vec<&Value>) = recent.into_iter().partition(is_over);
        let chosen = if dice.in_hundred(10) { over } else { undecided };
        let dispute = *chosen.get(dice.index(chosen.len().max(1)))?;
        let text = |name: &str| dispute[name].as_str().map(str::to_owned);
        let (dispute_id, payment_id) = (text("dispute_id")?, text("payment_id")?);
        let (step, arguments) = self.choose(shop, dice);
        let body = merged(&json!({ "dispute_id": dispute_id }), &arguments);
        Some(DisputeCall { payment_id, kind: DisputeCallKind::Step(dispute_id, step), key: self.key(dice), body })
    }

    fn choose(&self, shop: &Shop, dice: &mut TestDice) -> (DisputeStep, Value) {
        let merchant_id = &shop.merchant_id;
        match dice.between(0, 100) {
            0..45 => {
                let other = self.fresh("Signed for on 3 March, page");
                let evidence = dice.pick(&[WINNING, LOSING, &other]).to_owned();
                (DisputeStep::Challenge(evidence.clone()), json!({ "evidence": evidence }))
            }
            45..60 => (DisputeStep::Escalate, json!({ "merchant_id": merchant_id })),
            60..78 => (DisputeStep::End(End::Conceded), json!({})),
            _ => {
                let end = dice.pick(&[End::Won, End::Lost]);
                (DisputeStep::End(end), json!({ "merchant_id": merchant_id, "outcome": end.status() }))
            }
        }
    }

    fn key(&self, dice: &mut TestDice) -> Option<String> {
        dice.in_hundred(50).then(|| self.fresh("argue"))
    }

    fn fresh(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.name, self.number)
    }
}
