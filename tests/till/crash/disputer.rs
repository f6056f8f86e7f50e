//! Chooses a caller's calls about disputes: those that the merchant makes, and those that the operator makes in the
//! place of the provider.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Shop, TestDice, merged};

use super::call_record::{CallEffect, LoadCall};
use super::object_kind::DISPUTE;
use super::recent_payments::RecentPayments;
use super::shown::{LOSING, WINNING};

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
    pub(super) fn next(&mut self, shop: &Shop, dice: &mut TestDice) -> Option<LoadCall> {
        self.number += 1;
        let step = if dice.in_hundred(35) { None } else { self.step(shop, dice) };
        let mut call = step.or_else(|| self.open(shop, dice))?;
        call.key = dice.in_hundred(50).then(|| self.fresh("argue"));
        Some(call)
    }

    fn open(&self, shop: &Shop, dice: &mut TestDice) -> Option<LoadCall> {
        let (payment_id, sale) = self.payments.pick(dice)?;
        let minor = dice.in_hundred(60).then(|| dice.between(1, sale.minor / 2 + 2));
        let body = json!({
            "merchant_id": shop.merchant_id, "payment_id": sale.name(&payment_id, dice), "amount": minor,
            "reason": self.fresh("dispute"),
        });
        Some(LoadCall::new("/admin/open-dispute", body, CallEffect::Creates(&DISPUTE)))
    }

    /// Mostly a step that the dispute permits. Any caller may have opened the dispute.
    fn step(&self, shop: &Shop, dice: &mut TestDice) -> Option<LoadCall> {
        let listed = shop.call("list-disputes", &json!({ "per_page": RECENT_MAX })).body;
        let recent: Vec<&Value> = listed["page"].as_array()?.iter().collect();
        let is_over = |dispute: &&Value| !dispute["closed_at"].is_null();
        let (over, undecided): (Vec<&Value>, Vec<&Value>) = recent.into_iter().partition(is_over);
        let chosen = if dice.in_hundred(10) { over } else { undecided };
        let dispute_id = chosen.get(dice.index(chosen.len().max(1)))?["dispute_id"].as_str()?;
        let (path, arguments, attributes) = self.choose(shop, dice);
        let effect = CallEffect::Changes(&DISPUTE, dispute_id.to_owned(), attributes);
        Some(LoadCall::new(path, merged(&json!({ "dispute_id": dispute_id }), &arguments), effect))
    }

    /// A step with its arguments, and the attributes that the dispute has afterwards.
    fn choose(&self, shop: &Shop, dice: &mut TestDice) -> (&'static str, Value, Value) {
        let merchant_id = &shop.merchant_id;
        match dice.between(0, 100) {
            0..45 => {
                let other = self.fresh("Signed for on 3 March, page");
                let evidence = json!({ "evidence": dice.pick(&[WINNING, LOSING, &other]) });
                ("/merchants/challenge-dispute", evidence.clone(), evidence)
            }
            45..60 => ("/admin/escalate-dispute", json!({ "merchant_id": merchant_id }), json!({})),
            60..78 => ("/merchants/concede-dispute", json!({}), json!({ "status": "CONCEDED" })),
            _ => {
                let outcome = dice.pick(&["WON", "LOST"]);
                let arguments = json!({ "merchant_id": merchant_id, "outcome": outcome });
                ("/admin/close-dispute", arguments, json!({ "status": outcome }))
            }
        }
    }

    fn fresh(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.name, self.number)
    }
}
