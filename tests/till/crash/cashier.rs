//! Chooses a caller's captures, voids, reversals and refunds.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{TestDice, merged};

use super::call_record::{CallEffect, LoadCall};
use super::object_kind::{PAYMENT, REFUND};
use super::recent_payments::{RecentPayments, Sale};

/// The choice of a thread's operations on its merchant's payments.
pub(super) struct Cashier {
    /// The prefix of its names, which no other caller has.
    name: String,
    number: u64,
    payments: Arc<RecentPayments>,
}

impl Cashier {
    pub(super) fn new(name: &str, payments: Arc<RecentPayments>) -> Cashier {
        Cashier { name: name.to_owned(), number: 0, payments }
    }

    /// Records an acknowledged payment.
    pub(super) fn note(&self, payment_id: &str, sale: &Sale) {
        self.payments.add(payment_id, sale);
    }

    /// The next call; None when there is no payment yet. Only an Idempotency-Key, or the external id of a refund, shows
    /// the result of a call whose answer is lost.
    pub(super) fn next(&mut self, dice: &mut TestDice) -> Option<LoadCall> {
        let (payment_id, sale) = self.payments.pick(dice)?;
        self.number += 1;
        let mut call = self.choose(&payment_id, &sale, dice);
        call.body = merged(&json!({ "payment_id": sale.name(&payment_id, dice) }), &call.body);
        let needs_key = call.text("external_id").is_none();
        call.key = (needs_key || dice.in_hundred(50)).then(|| self.fresh("move"));
        Some(call)
    }

    /// Mostly an operation that the payment permits, unless a call of another thread has changed it.
    fn choose(&self, payment_id: &str, sale: &Sale, dice: &mut TestDice) -> LoadCall {
        let changed = |attributes| CallEffect::Changes(&PAYMENT, payment_id.to_owned(), attributes);
        let capture = |minor: u64, arguments| {
            let refused = CallEffect::RefusedCapture(payment_id.to_owned());
            let effect = if sale.refuses_captures { refused } else { changed(json!({ "amount_captured": minor })) };
            LoadCall::new("/merchants/capture-payment", arguments, effect)
        };
        let is_captured_later = !sale.is_captured_at_once() && dice.in_hundred(60);
        match (is_captured_later, dice.between(0, 100)) {
            (true, 0..35) => capture(sale.minor, json!({})),
            (true, 35..70) => {
                let minor = dice.between(1, sale.minor + 1);
                capture(minor, json!({ "amount": minor }))
            }
            (true, _) => LoadCall::new("/merchants/void-payment", json!({}), changed(json!({ "status": "VOIDED" }))),
            (false, 0..15) => {
                LoadCall::new("/merchants/reverse-payment", json!({}), changed(json!({ "status": "REVERSED" })))
            }
            (false, 15..25) => self.refund(&Value::Null, dice),
            (false, _) => self.refund(&json!(dice.between(1, sale.minor / 3 + 2)), dice),
        }
    }

    /// A refund; without an amount, of the whole rest.
    fn refund(&self, minor: &Value, dice: &mut TestDice) -> LoadCall {
        let external_id = dice.in_hundred(50).then(|| self.fresh("return"));
        let reason = dice.in_hundred(20).then_some("damaged on arrival");
        let arguments = json!({ "amount": minor, "external_id": external_id, "reason": reason });
        LoadCall::new("/merchants/refund-payment", arguments, CallEffect::Creates(&REFUND))
    }

    fn fresh(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.name, self.number)
    }
}
