//! `list-events` and `find-event`, which section 11 of the contract describes.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Server, Shop, id_of_nothing, ids_of};

/// Waits until the merchant has `count` events, and returns them, the oldest first.
fn events(shop: &Shop, count: usize) -> Vec<Value> {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let mut events = shop.all("list-events");
        events.reverse();
        if events.len() >= count || Instant::now() >= until {
            assert_eq!(events.len(), count, "{events:?}");
            return events;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn names(events: &[Value]) -> Vec<(&str, &str)> {
    let text = |value: &Value| -> &'static str { Box::leak(value.as_str().expect("a text").to_owned().into()) };
    events.iter().map(|event| (text(&event["event"]), text(&event["status"]))).collect()
}

#[test]
fn events_are_numbered_without_gaps_and_found_by_id() {
    let (_server, shop, other) = Server::with_shops();
    let paid = shop.pay(500);
    other.pay(100);
    let held = shop.initiate(&shop.session(300), 300, &json!({ "capture": false, "external_id": "order-1" })).id();
    shop.settled(&held);
    shop.call("void-payment", &json!({ "payment_id": held })).ok();
    events(&shop, 3);
    shop.call("refund-payment", &json!({ "payment_id": paid, "amount": 200 })).ok();
    let events = events(&shop, 4);
    assert_eq!(
        names(&events),
        [
            ("payment_completed", "SUCCESSFUL"),
            ("payment_authorized", "AUTHORIZED"),
            ("payment_voided", "VOIDED"),
            ("refund_completed", "SUCCESSFUL"),
        ]
    );
    let numbers: Vec<&Value> = events.iter().map(|event| &event["sequence"]).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!((&events[1]["external_id"], &events[1]["amount"]), (&json!("order-1"), &json!(300)));
    let refund = &events[3];
    assert_eq!(
        (&refund["payment_id"], &refund["amount"], &refund["currency"]),
        (&json!(paid), &json!(200), &json!("THB"))
    );
    for event in &events {
        let members: Vec<&String> = event.as_object().expect("an object").keys().collect();
        assert_eq!(members.len(), 14, "every event has all 14 members: {members:?}");
        assert_eq!(shop.call("find-event", &json!({ "event_id": event["event_id"] })).ok(), *event);
        let theirs = other.call("find-event", &json!({ "event_id": event["event_id"] })).refused("NOT_FOUND");
        assert_eq!(theirs, json!({ "argument": "event_id" }));
    }
    let nothing = id_of_nothing(events[0]["event_id"].as_str().expect("an id"));
    shop.call("find-event", &json!({ "event_id": nothing })).refused("NOT_FOUND");
}

#[test]
fn events_are_filtered_and_further_pages_keep_the_filters() {
    let (_server, shop) = Server::with_shop();
    let paid: Vec<String> = (1..=5).map(|minor| shop.pay(minor)).collect();
    let ids = |page: &Value| ids_of(page, "payment_id");
    let list = |body: &Value| shop.call("list-events", body).ok();
    let one = list(&json!({ "payment_id": paid[2] }));
    assert_eq!(ids(&one), [json!(paid[2])]);
    assert_eq!(list(&json!({ "event": "PAYMENT_VOIDED" }))["page"], json!([]));
    assert_eq!(list(&json!({ "created_at": "yesterday" }))["page"], json!([]));
    assert_eq!(list(&json!({ "payment_id": "order-of-nobody" }))["page"], json!([]));
    let first = list(&json!({ "event": "PAYMENT_COMPLETED", "created_at": "today", "per_page": 2 }));
    assert_eq!(ids(&first), [json!(paid[4]), json!(paid[3])]);
    assert_eq!((&first["next"]["event"], &first["previous"]), (&json!("PAYMENT_COMPLETED"), &Value::Null));
    let second = list(&first["next"]);
    let third = list(&second["next"]);
    assert_eq!([ids(&second), ids(&third)].concat(), [json!(paid[2]), json!(paid[1]), json!(paid[0])]);
    assert_eq!((&third["next"], ids(&list(&third["previous"]))), (&Value::Null, ids(&second)));
    assert_eq!(ids(&list(&second["previous"])), ids(&first));
    let in_lower_case = list(&json!({ "event": "payment_completed", "created_at": "today", "per_page": 2 }));
    assert_eq!(in_lower_case, first, "as events write it");
    for event in ["Payment_Completed", "test", "*"] {
        assert_eq!(shop.call("list-events", &json!({ "event": event })).faults(), ["invalid event"]);
    }
}
