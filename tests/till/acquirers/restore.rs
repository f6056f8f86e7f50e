//! A restored checkpoint beside an acquirer that went on.

use serde_json::{Value, json};

use super::account::{AtStripe, DIVISOR, start};
use crate::harness::{CARD, PATIENCE, directory, run_command, text, wait_until};

const CONFIRM: (&str, &str) = ("POST", "/v1/payment_intents/*/confirm");
const REFUND: (&str, &str) = ("POST", "/v1/refunds");
const LOOK_UPS: [(&str, &str); 2] = [("GET", "/v1/payment_intents/pi_*"), ("GET", "/v1/refunds")];
/// The same as the fake lists them.
const LOOKED_UP: [(&str, &str); 2] = [("GET", "/v1/payment_intents/{id}"), ("GET", "/v1/refunds")];
const MINOR: u64 = 20_000;

/// What is compared of the differences that were found, in order.
fn told(found: &Value) -> Vec<Value> {
    let tell = |one: &Value| json!([one["kind"], one["type"], one["payment_id"], one["acquirer_amount"]]);
    let mut told: Vec<Value> = found["differences"].as_array().expect("a list").iter().map(tell).collect();
    told.sort_by_key(Value::to_string);
    told
}

#[test]
fn a_restored_server_lists_what_it_lost_and_repeats_nothing() {
    let mut at = AtStripe::by_number();
    at.fake.be_an_hour_late();
    let [kept, given_back] = [MINOR, 2 * MINOR].map(|minor| at.account.pay(CARD, minor, &json!({})));
    assert_eq!(at.account.reconciled(&at.server)["differences"], json!([]));
    // Both are under way in the checkpoint, and are carried out after it.
    [CONFIRM, REFUND].iter().for_each(|call| at.fake.plan("lost_request", *call, &json!({})));
    LOOK_UPS.iter().for_each(|call| at.fake.plan("error_500", *call, &json!({ "times": 1_000_000 })));
    let charged_later = at.account.begin(CARD, 3 * MINOR, &json!({}));
    let body = json!({ "payment_id": given_back["payment_id"], "amount": MINOR });
    let given_back_later = at.account.shop.call("refund-payment", &body).id();
    let lost = |call: &(&str, &str)| at.fake.faults_of("error_500", *call) > 0;
    wait_until(PATIENCE, "nothing is lost", || LOOKED_UP.iter().all(lost));
    at.server.admin("create-checkpoint", &json!({ "name": "before" })).ok();
    assert_eq!(at.account.shop.payment(&charged_later)["status"], "PENDING");
    at.fake.end_faults();
    assert_eq!(at.account.shop.settled(&charged_later)["status"], "SUCCESSFUL");
    assert_eq!(at.account.refunded(&given_back_later)["status"], "SUCCESSFUL");
    let lost = at.account.pay(CARD, 4 * MINOR, &json!({}));
    at.account.refund(&kept, MINOR / 4);
    let (charges, refunds) = (at.fake.all("charges"), at.fake.all("refunds"));
    at.fake.control("DELETE", "keys", &json!({}));
    let place = directory();
    let (from, to) = (at.server.data().join("checkpoints/before"), place.path().join("restored"));
    let (code, _, errors) = run_command(at.server.command(), &["restore", "--from", text(&from), "--to", text(&to)]);
    assert_eq!(code, Some(0), "{errors}");
    at.server.kill();
    let copy = start(&at.fake, DIVISOR).try_server_on(&to, None).expect("it starts");
    let account = at.account.on(&copy);
    let expected = [
        json!(["unknown_to_till", "charge", lost["payment_id"], 4 * MINOR]),
        json!(["unknown_to_till", "refund", kept["payment_id"], -i64::try_from(MINOR / 4).expect("it is small")]),
    ];
    assert_eq!(told(&account.reconciled(&copy)), expected);
    let (code, output, errors) = run_command(copy.command(), &["resume"]);
    assert_eq!((code, output.lines().last()), (Some(0), Some("true")), "{output}{errors}");
    assert!(format!("{output}{errors}").contains(&account.acquirer_id), "it names the account: {output}{errors}");
    assert_eq!(account.shop.settled(&charged_later)["status"], "SUCCESSFUL");
    assert_eq!(account.refunded(&given_back_later)["status"], "SUCCESSFUL");
    assert_eq!((at.fake.all("charges"), at.fake.all("refunds")), (charges, refunds));
    assert_eq!(told(&account.reconciled(&copy)), expected);
}
