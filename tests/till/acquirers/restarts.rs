//! Both processes are killed while a payment is under way.

use serde_json::json;

use super::account::AtStripe;
use crate::harness::{CARD, PATIENCE, wait_until};

const CONFIRM: (&str, &str) = ("POST", "/v1/payment_intents/*/confirm");
const LOOK_UP: (&str, &str) = ("GET", "/v1/payment_intents/pi_*");
const REFUND: (&str, &str) = ("POST", "/v1/refunds");
const MINOR: u64 = 20_000;

impl AtStripe {
    /// Kills both, and starts them again without faults.
    fn restart(&mut self) {
        self.server.kill();
        self.fake.restart();
        self.fake.end_faults();
        self.server.restart();
        self.account = self.account.on(&self.server);
    }

    fn wait_for_fault(&self, fault: &str, call: (&str, &str)) {
        wait_until(PATIENCE, "nothing is lost", || self.fake.faults_of(fault, call) > 0);
    }
}

#[test]
fn a_payment_under_way_is_carried_out_once_after_a_kill_of_both() {
    let mut at = AtStripe::by_number();
    let kept = at.account.pay(CARD, MINOR, &json!({}));
    // One is carried out and its answer lost, the other does not arrive; neither is found before the kill.
    for fault in ["lost_answer", "lost_request"] {
        at.fake.plan(fault, CONFIRM, &json!({}));
        at.fake.plan("error_500", LOOK_UP, &json!({ "times": 1_000_000 }));
        let payment = at.account.begin(CARD, MINOR, &json!({}));
        at.wait_for_fault(fault, ("POST", "/v1/payment_intents/{id}/confirm"));
        at.restart();
        let paid = at.account.shop.settled(&payment);
        assert_eq!(paid["status"], "SUCCESSFUL", "{fault}: {paid}");
        at.charge_of(&paid);
    }
    let id = kept["payment_id"].as_str().expect("an id");
    assert_eq!(at.account.shop.payment(id), kept);
    assert_eq!(at.fake.all("charges").len(), 3);
}

#[test]
fn a_refund_under_way_is_given_back_once_after_a_kill_and_the_end_of_its_key() {
    let mut at = AtStripe::by_number();
    let payment = at.account.pay(CARD, MINOR, &json!({}));
    at.fake.plan("lost_answer", REFUND, &json!({}));
    at.fake.plan("error_500", ("GET", "/v1/refunds"), &json!({ "times": 1_000_000 }));
    let body = json!({ "payment_id": payment["payment_id"], "amount": MINOR });
    let refund = at.account.shop.call("refund-payment", &body).id();
    at.wait_for_fault("lost_answer", ("POST", "/v1/refunds"));
    at.fake.control("DELETE", "keys", &json!({}));
    at.restart();
    assert_eq!(at.account.refunded(&refund)["status"], "SUCCESSFUL");
    assert_eq!(at.fake.all("refunds").len(), 1);
}
