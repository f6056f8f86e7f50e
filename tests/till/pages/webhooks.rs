//! The webhooks of a customer's part: contract, section 11.

use serde_json::{Value, json};

use super::browser::{Browser, challenged};
use crate::harness::{EventReceiver, Manner, PATIENCE, Start, first_answer};

#[test]
fn a_shop_is_told_once_that_its_customer_must_act_and_that_money_was_returned() {
    let server = Start::default().with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").server();
    let (shop, receiver) = (server.shop(), EventReceiver::start(Manner::Healthy));
    let events = json!(["PAYMENT_ACTION_REQUIRED", "PAYMENT_RETURNED"]);
    let body = json!({ "name": "shop", "destination_url": receiver.url(), "events": events });
    shop.call("connect-webhook", &body).ok();
    let (paid, given_up) = (challenged(&shop, &json!({ "external_id": "order-1" })), challenged(&shop, &json!({})));
    assert_eq!(Browser::of(&server).post(&paid.step, "outcome=succeed").status, 303);
    shop.sdk("cancel-payment-session", &json!({ "payment_session_id": given_up.session })).ok();
    let body = json!({ "merchant_id": shop.merchant_id, "payment_id": given_up.payment, "outcome": "SUCCEEDED" });
    server.admin("complete-action", &body).ok();
    let taken = || receiver.taken().into_values().collect::<Vec<Value>>();
    let is_all = |taken: &Vec<Value>| taken.iter().any(|event| event["event"] == "payment_returned");
    let taken = first_answer(PATIENCE, "not every event was delivered", taken, is_all);
    let mut told: Vec<[&Value; 5]> = taken
        .iter()
        .map(|event| ["event", "status", "payment_id", "external_id", "checkout_id"].map(|member| &event[member]))
        .collect();
    told.sort_by_key(|members| (members[0].to_string(), members[2].to_string()));
    let (required, returned) = (json!("payment_action_required"), json!("payment_returned"));
    let (pending, failed, order, none) = (json!("PENDING"), json!("FAILED"), json!("order-1"), Value::Null);
    let (first, second) = (json!(paid.payment), json!(given_up.payment));
    assert_eq!(
        told,
        [
            [&required, &pending, &first, &order, &none],
            [&required, &pending, &second, &none, &none],
            [&returned, &failed, &second, &none, &none],
        ]
    );
    assert_eq!(receiver.requests(), 3, "each is delivered once");
}
