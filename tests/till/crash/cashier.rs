//! Chooses a caller's captures, voids, reversals and refunds.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{TestDice, merged};

use super::call_record::Sale;
use super::movement::{Movement, MovementKind};
use super::recent_payments::RecentPayments;

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

    /// The next call; None when there is no payment yet.
    pub(super) fn next(&mut self, dice: &mut TestDice) -> Option<Movement> {
        let (payment_id, sale) = self.payments.pick(dice)?;
        self.number += 1;
        let (kind, arguments) = self.kind(&sale, dice);
        let key = (kind.needs_key() || dice.in_hundred(50)).then(|| self.fresh("move"));
        let by_external_id = sale.external_id.filter(|_| dice.in_hundred(30));
        let named = json!({ "payment_id": by_external_id.unwrap_or_else(|| payment_id.clone()) });
        Some(Movement { payment_id, kind, key, body: merged(&named, &arguments) })
    }

    /// Mostly an operation that the payment permits, unless a call of another thread has changed it.
    fn kind(&self, sale: &Sale, dice: &mut TestDice) -> (MovementKind, Value) {
        let is_captured_later = !sale.capture && dice.in_hundred(60);
        match (is_captured_later, dice.between(0, 100)) {
            (true, 0..35) => (MovementKind::Capture { minor: sale.minor }, json!({})),
            (true, 35..70) => {
                let minor = dice.between(1, sale.minor + 1);
                (MovementKind::Capture { minor }, json!({ "amount": minor }))
            }
            (true, _) => (MovementKind::Void, json!({})),
            (false, 0..15) => (MovementKind::Reverse, json!({})),
            (false, 15..25) => self.refund(None, dice),
            (false, _) => self.refund(Some(dice.between(1, sale.minor / 3 + 2)), dice),
        }
    }

    fn refund(&self, minor: Option<u64>, dice: &mut TestDice) -> (MovementKind, Value) {
        let external_id = dice.in_hundred(50).then(|| self.fresh("return"));
        let reason = dice.in_hundred(20).then_some("damaged on arrival");
        let arguments = json!({ "amount": minor, "external_id": external_id, "reason": reason });
        (MovementKind::Refund { minor, external_id }, arguments)
    }

    fn fresh(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.name, self.number)
    }
}

impl MovementKind {
    /// True when only an Idempotency-Key shows the result of a call whose answer is lost.
    const fn needs_key(&self) -> bool {
        !matches!(self, MovementKind::Refund { external_id: Some(_), .. })
    }
}
