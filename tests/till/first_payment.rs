//! The main path: a customer pays, and every list and balance shows the payment.

use serde_json::json;

use crate::harness::Server;

#[test]
fn a_captured_payment_shows_in_the_ledger_and_the_activity() {
    let (_server, shop) = Server::with_shop();
    let payment_id = shop.initiate(&shop.session(10_000), 10_000, &json!({ "external_id": "order-1" })).id();
    let payment = shop.settled(&payment_id);
    assert_eq!(payment["status"], "SUCCESSFUL");
    assert_eq!(payment["amount_captured"], 10_000);
    let activity = shop.call("list-activity-logs", &json!({})).ok();
    assert_eq!(activity["page"][0]["activity_type"], "PAYMENT_CAPTURED");
    assert_eq!(activity["page"][0]["actor_type"], "SYSTEM");
    assert_eq!(activity["page"][0]["object_id"], payment_id);
    let history = shop.call("balance-history", &json!({})).ok();
    assert_eq!(history["page"][0]["amount"], 10_000);
    assert_eq!(history["page"][0]["status"], "ON_HOLD");
    assert_eq!(
        shop.call("get-balance", &json!({})).ok(),
        json!({ "currency": "THB", "available": 0, "pending": 10_000 })
    );
    assert_eq!(shop.call("find-payment", &json!({ "payment_id": "order-1" })).ok(), payment);
}
