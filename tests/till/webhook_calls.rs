//! Calls that a merchant makes by hand for a webhook: tests, repeated deliveries, rotations. Contract, section 11.

use std::thread;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, EventReceiver, Manner, PATIENCE, Server, Shop, Start, merged, wait_until};

fn start() -> Server {
    Start::default().with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").server()
}

fn connect(shop: &Shop, receiver: &EventReceiver) -> Value {
    let body = json!({ "name": "shop", "destination_url": receiver.url(), "events": ["*"] });
    json!({ "webhook_id": shop.call("connect-webhook", &body).ok()["webhook_id"] })
}

fn keyed(shop: &Shop, endpoint: &str, body: &Value) -> ApiAnswer {
    shop.client().idempotency_key("by-hand").post(&format!("/merchants/{endpoint}"), body)
}

/// The number of deliveries to a webhook that have succeeded.
fn successes(shop: &Shop, webhook: &Value) -> usize {
    let deliveries = shop.all_of("list-webhook-deliveries", webhook);
    deliveries.iter().filter(|delivery| delivery["status"] == "SUCCESSFUL").count()
}

#[test]
fn a_repeated_redelivery_is_answered_and_not_done_again() {
    let server = start();
    let (shop, receiver) = (server.shop(), EventReceiver::start(Manner::Healthy));
    let webhook = connect(&shop, &receiver);
    shop.pay(500);
    wait_until(PATIENCE, "it is delivered", || successes(&shop, &webhook) == 1);
    let all = merged(&webhook, &json!({ "since": 0 }));
    assert_eq!(keyed(&shop, "redeliver-webhook", &all).ok(), 1);
    wait_until(PATIENCE, "it is delivered again", || successes(&shop, &webhook) == 2);
    let repeated = keyed(&shop, "redeliver-webhook", &all);
    assert_eq!((repeated.header("idempotent-replayed"), repeated.clone().ok()), (Some("true"), json!(1)));
    let other = merged(&webhook, &json!({ "since": 1 }));
    keyed(&shop, "redeliver-webhook", &other).refused("IDEMPOTENCY_KEY_REUSED");
    shop.call("test-webhook", &webhook).ok();
    assert_eq!(receiver.requests(), 3, "the event twice, and the test");
}

#[test]
fn a_webhook_has_one_order_at_a_time_and_none_while_suspended() {
    let server = start();
    let (shop, receiver) = (server.shop(), EventReceiver::start(Manner::Slow));
    let webhook = connect(&shop, &receiver);
    shop.pay(500);
    wait_until(PATIENCE, "it is delivered", || successes(&shop, &webhook) == 1);
    let all = merged(&webhook, &json!({ "since": 0 }));
    assert_eq!(shop.call("redeliver-webhook", &all).ok(), 1);
    let refused = shop.call("redeliver-webhook", &all);
    assert_eq!((refused.status, refused.code()), (429, "RATE_LIMITED"), "{}", refused.body);
    assert_eq!(refused.header("retry-after"), Some("30"));
    wait_until(PATIENCE, "the order ends", || shop.call("redeliver-webhook", &all).status == 200);
    wait_until(PATIENCE, "it is delivered twice again", || successes(&shop, &webhook) == 3);
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    shop.call("redeliver-webhook", &all).refused("MERCHANT_SUSPENDED");
    shop.call("test-webhook", &webhook).refused("MERCHANT_SUSPENDED");
}

#[test]
fn an_order_goes_on_after_a_kill_where_it_was() {
    const EVENTS: usize = 32;
    /// Attempts that are made once more: the 8 under way at the kill, and those that ended before an earlier one did.
    const MADE_AGAIN_MAX: usize = 16;
    let mut server = start();
    let (shop, receiver) = (server.shop(), EventReceiver::start(Manner::Slow));
    let webhook = connect(&shop, &receiver);
    (0..EVENTS).for_each(|_| _ = shop.pay(500));
    wait_until(PATIENCE, "they are delivered", || successes(&shop, &webhook) == EVENTS);
    let requests = receiver.requests();
    assert_eq!(shop.call("redeliver-webhook", &merged(&webhook, &json!({ "since": 0 }))).ok(), EVENTS);
    wait_until(PATIENCE, "half of them are delivered again", || successes(&shop, &webhook) >= EVENTS + EVENTS / 2);
    let shop = server.restart_with(&shop);
    let none = merged(&webhook, &json!({ "since": 9_000_000_000_u64 }));
    wait_until(PATIENCE, "the order ends", || shop.call("redeliver-webhook", &none).status == 200);
    for event in shop.all("list-events") {
        let of_event = merged(&webhook, &json!({ "event_id": event["event_id"] }));
        assert!(successes(&shop, &of_event) >= 2, "{event}");
    }
    let again = receiver.requests() - requests;
    assert!((EVENTS..=EVENTS + MADE_AGAIN_MAX).contains(&again), "{again} attempts for {EVENTS} events");
}

#[test]
fn a_repeated_test_is_answered_with_the_first_attempt() {
    let server = start();
    let (shop, receiver) = (server.shop(), EventReceiver::start(Manner::Slow));
    let webhook = connect(&shop, &receiver);
    // Of two at the same time the second waits for the first.
    let both = thread::scope(|scope| {
        let calls = [(); 2].map(|()| scope.spawn(|| keyed(&shop, "test-webhook", &webhook)));
        calls.map(|call| call.join().expect("no call panics"))
    });
    let repeated = keyed(&shop, "test-webhook", &webhook);
    let replayed = |answer: &ApiAnswer| answer.header("idempotent-replayed") == Some("true");
    assert_eq!(both.iter().filter(|answer| replayed(answer)).count(), 1);
    assert!(replayed(&repeated) && receiver.requests() == 1);
    let [first, second] = both.map(ApiAnswer::ok);
    assert_eq!((&first, &first), (&second, &repeated.ok()));
    assert_eq!((&first["status"], &first["response_status"]), (&json!("SUCCESSFUL"), &json!(204)));
    let unknown = json!({ "webhook_id": "whe_01h2e8kqvbfwea724h75qc655w" });
    keyed(&shop, "test-webhook", &unknown).refused("IDEMPOTENCY_KEY_REUSED");
}

#[test]
fn a_fourth_replaced_secret_is_refused_until_they_are_ended() {
    let server = start();
    let shop = server.shop();
    let webhook = connect(&shop, &EventReceiver::start(Manner::Healthy));
    let rotate = |more: Value| shop.call("rotate-webhook-secret", &merged(&webhook, &more));
    for _ in 0..3 {
        assert!(rotate(json!({})).ok()["previous_expires_at"].is_u64());
    }
    assert_eq!(rotate(json!({})).refused("CONFLICT"), json!({ "limit": 3 }));
    assert_eq!(rotate(json!({ "end_previous": true })).ok()["previous_expires_at"], Value::Null);
    assert!(rotate(json!({ "end_previous": false })).ok()["previous_expires_at"].is_u64());
}
