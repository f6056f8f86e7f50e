//! Answers that are broken, or about something else: none of them approves or declines.

use serde_json::json;

use super::account::{Account, AtStripe};
use crate::harness::{CARD, PATIENCE, wait_until};

/// The faults, and whether the server tells of them.
const FAULTS: [(&str, bool); 9] = [
    ("huge_amount", true),
    ("smaller_amount", true),
    ("other_currency", true),
    ("other_reference", true),
    ("test_mode", true),
    ("half_json", false),
    ("html", false),
    ("huge_body", false),
    ("redirect", false),
];
const CONFIRM: (&str, &str) = ("POST", "/v1/payment_intents/*/confirm");
const LOOK_UP: (&str, &str) = ("GET", "/v1/payment_intents/pi_*");
/// The card that is declined for want of money.
const DECLINED: &str = "4000000000009995";
const MINOR: u64 = 20_000;
/// Look-ups that go wrong before the fault ends.
const LOOK_UPS: usize = 3;
/// Above the limit of an answer.
const HUGE_BYTES: u64 = 2 << 20;

#[test]
fn a_bad_answer_neither_approves_nor_declines() {
    let at = AtStripe::by_number();
    // Each at an account of its own.
    let begun = FAULTS.map(|(fault, _)| {
        let account = Account::open(&at.server, &at.fake, "NUMBER", &json!({}));
        let always = json!({ "account": account.name, "times": 1_000_000, "body_bytes": HUGE_BYTES });
        [CONFIRM, LOOK_UP].iter().for_each(|call| at.fake.plan(fault, *call, &always));
        let payments = [CARD, DECLINED].map(|number| account.begin(number, MINOR, &json!({})));
        (fault, account, payments)
    });
    for (fault, account, payments) in &begun {
        wait_until(PATIENCE, "it is not looked up", || {
            at.fake.faults_of(fault, ("GET", "/v1/payment_intents/{id}")) >= 2 * LOOK_UPS
        });
        for payment in payments {
            assert_eq!(account.shop.payment(payment)["status"], "PENDING", "{fault}");
        }
    }
    at.fake.end_faults();
    for (fault, account, payments) in &begun {
        let [paid, declined] = payments.each_ref().map(|payment| account.shop.settled(payment));
        assert_eq!((&paid["status"], &declined["status"]), (&json!("SUCCESSFUL"), &json!("FAILED")), "{fault}");
        assert_eq!(declined["failure_code"], "insufficient_funds", "{fault}");
        at.charge_of(&paid);
    }
    assert_eq!(at.fake.all("charges").len(), FAULTS.len());
    let told: f64 = FAULTS.iter().map(|(_, is_told)| f64::from(u8::from(*is_told))).sum();
    let mismatches = at.server.metric("till_acquirer_mismatches_total").expect("it is counted");
    assert!(mismatches >= 2.0 * told, "{mismatches} mismatches");
}
