//! Deliveries to webhooks by the server itself, which is killed meanwhile: contract, section 11.
//!
//! `TILL_WEBHOOK_PAYMENTS` sets the number of payments: 10000 is the campaign, some minutes long.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{EventReceiver, Manner, Server, Shop, Start, dead_url, from_environment, holds_within};

/// The number of kills.
const KILLS: usize = 5;
/// Threads that pay.
const PAYERS: usize = 4;

fn start() -> Server {
    Start::default()
        .with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8")
        .with("TILL_WEBHOOK_RETRY_SECONDS", "1,1,2,2,5,5,10,10")
        .server()
}

fn connect(shop: &Shop, url: &str) -> String {
    let body = json!({ "name": "shop", "destination_url": url, "events": ["*"] });
    let webhook = shop.call("connect-webhook", &body).ok();
    webhook["webhook_id"].as_str().expect("an id").to_owned()
}

/// All events of a merchant by their ids, as `list-events` answers them.
fn listed(shop: &Shop) -> BTreeMap<String, Value> {
    let events = shop.all("list-events").into_iter();
    events.map(|event| (event["event_id"].as_str().expect("an id").to_owned(), event)).collect()
}

/// Waits until `receiver` has accepted exactly these events.
fn taken_by(receiver: &EventReceiver, events: &BTreeMap<String, Value>, patience: Duration) {
    holds_within(patience, || receiver.taken().len() >= events.len());
    let taken = receiver.taken();
    let missing: Vec<&String> = events.keys().filter(|id| !taken.contains_key(*id)).collect();
    assert!(missing.is_empty(), "{} of {} events did not arrive: {missing:?}", missing.len(), events.len());
    for (id, body) in taken {
        let mut expected = events.get(&id).unwrap_or_else(|| panic!("{id} was invented: {body}")).clone();
        assert!(body["delivered_at"].is_u64(), "{body}");
        expected["delivered_at"] = body["delivered_at"].clone();
        assert_eq!(body, expected, "it is delivered as it is listed");
    }
}

/// Pays until `wanted` payments were accepted in all, or the server no longer answers.
fn pay(shop: &Shop, accepted: &AtomicUsize, minor: &AtomicU64, wanted: usize) {
    while accepted.load(Ordering::Relaxed) < wanted {
        let amount = 1 + minor.fetch_add(1, Ordering::Relaxed) % 100_000;
        let session = json!({
            "merchant_id": shop.merchant_id, "installation_id": shop.installation_id, "amount": amount,
            "currency": "THB", "payment_method": "INSTALLMENT", "installment_plan_id": "sandbox_3_months",
            "interest_bearer": "merchant",
        });
        let session = shop.client().post("/sdk/select-payment-method", &session);
        let (200, Some(session)) = (session.status, session.body.as_str().map(str::to_owned)) else { return };
        let mut body = shop.initiation(&session, amount);
        body["interest_bearer"] = json!("merchant");
        if shop.client().post("/merchants/initiate-payment-flow", &body).status != 200 {
            return;
        }
        accepted.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn every_event_arrives_over_kills_beside_a_dead_endpoint() {
    let wanted: usize = from_environment("TILL_WEBHOOK_PAYMENTS", 240);
    let mut server = start();
    let shop = server.shop();
    let (healthy, flaky) = (EventReceiver::start(Manner::Healthy), EventReceiver::start(Manner::RefusesFirst));
    for url in [healthy.url(), flaky.url(), dead_url()] {
        connect(&shop, &url);
    }
    let (accepted, minor) = (AtomicUsize::new(0), AtomicU64::new(0));
    for part in 1..=KILLS + 1 {
        let (shop, until) = (shop.on(&server), wanted * part / (KILLS + 1));
        thread::scope(|scope| {
            for _ in 0..PAYERS {
                scope.spawn(|| pay(&shop, &accepted, &minor, wanted));
            }
            while accepted.load(Ordering::Relaxed) < until {
                thread::sleep(Duration::from_millis(1));
            }
            if part <= KILLS {
                server.kill();
            }
        });
        if part <= KILLS {
            server.restart();
        }
    }
    let shop = shop.on(&server);
    let patience = Duration::from_secs(60 + u64::try_from(wanted / 50).expect("small"));
    let until = Instant::now() + patience;
    // A payment that was not acknowledged before a kill may be PENDING still, and its event comes with its end.
    let is_any_pending = || !shop.all_of("list-payments", &json!({ "status": "PENDING" })).is_empty();
    while (listed(&shop).len() < wanted || is_any_pending()) && Instant::now() < until {
        thread::sleep(Duration::from_millis(100));
    }
    let events = listed(&shop);
    let mut sequences: Vec<u64> = events.values().filter_map(|event| event["sequence"].as_u64()).collect();
    sequences.sort_unstable();
    let last = u64::try_from(sequences.len()).expect("small");
    assert_eq!(sequences, (1..=last).collect::<Vec<_>>(), "there is no gap");
    assert!(events.len() >= wanted, "{} events of {wanted} payments", events.len());
    taken_by(&healthy, &events, patience);
    taken_by(&flaky, &events, patience);
    println!(
        "{wanted} payments, {} events; healthy: {} requests, flaky: {}",
        events.len(),
        healthy.requests(),
        flaky.requests()
    );
    assert!(server.stop(), "it ends well beside a dead endpoint");
}

#[test]
fn a_webhook_is_tested_and_its_deliveries_are_repeated() {
    let server = start();
    let (shop, other) = (server.shop(), server.shop());
    let (healthy, dead) = (EventReceiver::start(Manner::Healthy), dead_url());
    let (works, broken) = (connect(&shop, &healthy.url()), connect(&shop, &dead));
    let tested = shop.call("test-webhook", &json!({ "webhook_id": works })).ok();
    assert_eq!((&tested["status"], &tested["response_status"]), (&json!("SUCCESSFUL"), &json!(204)));
    let failed = shop.call("test-webhook", &json!({ "webhook_id": broken })).ok();
    assert_eq!((&failed["status"], &failed["response_status"]), (&json!("FAILED"), &Value::Null));
    shop.pay(500);
    let event = shop.all("list-events").remove(0)["event_id"].clone();
    let list = |body: &Value| shop.call("list-webhook-deliveries", body).ok()["page"].clone();
    let to_works = || list(&json!({ "webhook_id": works, "status": "SUCCESSFUL", "event_id": event }));
    holds_within(Duration::from_secs(20), || !to_works().as_array().expect("a page").is_empty());
    let delivered = to_works()[0].clone();
    assert_eq!((&delivered["event"], &delivered["attempt"]), (&json!("payment_completed"), &json!(1)));
    let waiting = || list(&json!({ "webhook_id": broken, "status": "PENDING" }));
    holds_within(Duration::from_secs(20), || waiting()[0]["next_attempt_at"].is_u64());
    let waiting = waiting();
    assert!(waiting[0]["failure_message"].as_str().is_some_and(|text| text.contains("connection")), "{waiting}");
    let again = shop.call("redeliver-webhook", &json!({ "webhook_id": works, "event_id": event })).ok();
    assert_eq!(again, 1);
    holds_within(Duration::from_secs(20), || to_works().as_array().expect("a page").len() >= 2);
    assert_eq!(to_works().as_array().expect("a page").len(), 2);
    let both = json!({ "webhook_id": works, "event_id": event, "since": 0 });
    assert_eq!(shop.call("redeliver-webhook", &both).faults(), ["invalid since"]);
    assert_eq!(shop.call("redeliver-webhook", &json!({ "webhook_id": works })).faults(), ["missing event_id"]);
    for endpoint in ["test-webhook", "redeliver-webhook"] {
        let body = json!({ "webhook_id": works, "since": 0 });
        let body = if endpoint == "test-webhook" { json!({ "webhook_id": works }) } else { body };
        assert_eq!(other.call(endpoint, &body).refused("NOT_FOUND"), json!({ "argument": "webhook_id" }));
    }
    assert_eq!(other.call("list-webhook-deliveries", &json!({ "webhook_id": works })).ok()["page"], json!([]));
    shop.call("disconnect-webhook", &json!({ "webhook_id": works })).ok();
    let refused = shop.call("redeliver-webhook", &json!({ "webhook_id": works, "since": 0 }));
    assert_eq!(refused.refused("INVALID_STATE"), json!({ "status": "DISCONNECTED" }));
}

#[test]
fn a_webhook_lives_over_http_and_shows_its_secret_once() {
    let (_server, shop, other) = Server::with_shops();
    let body =
        json!({ "name": "shop", "destination_url": "https://shop.example/events", "events": ["REFUND_COMPLETED"] });
    let connect = || shop.client().idempotency_key("connect").post("/merchants/connect-webhook", &body);
    let made = connect().ok();
    let id = &made["webhook_id"];
    assert!(made["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")), "{made}");
    assert!(made["public_key"].as_str().is_some_and(|key| key.starts_with("whpk_")), "{made}");
    let again = connect();
    assert_eq!((again.header("idempotent-replayed"), again.clone().ok()), (Some("true"), made.clone()));
    let found = shop.call("find-webhook", &json!({ "webhook_id": id })).ok();
    assert_eq!(
        (&found["events"], &found["signature_header"]),
        (&json!(["REFUND_COMPLETED"]), &json!("X-Webhook-Signature"))
    );
    assert!(!found.to_string().contains("whsec_"), "{found}");
    assert_eq!(shop.call("list-webhooks", &json!({})).ok()["page"], json!([found]));
    let change = json!({ "webhook_id": id, "name": "other", "events": ["*"], "signature_header": "X-Shop" });
    assert_eq!(shop.call("update-webhook", &change).ok(), true);
    assert_eq!(shop.call("update-webhook", &change).ok(), false);
    let rotated = shop.call("rotate-webhook-secret", &json!({ "webhook_id": id })).ok();
    assert!(rotated["secret"] != made["secret"] && rotated["previous_expires_at"].is_u64(), "{rotated}");
    for endpoint in ["disconnect-webhook", "reconnect-webhook"] {
        assert_eq!(shop.call(endpoint, &json!({ "webhook_id": id })).ok(), true, "{endpoint}");
        assert_eq!(shop.call(endpoint, &json!({ "webhook_id": id })).ok(), false, "{endpoint}");
    }
    let found = shop.call("find-webhook", &json!({ "webhook_id": id })).ok();
    assert_eq!(
        (&found["name"], &found["events"], &found["status"]),
        (&json!("other"), &json!(["*"]), &json!("CONNECTED"))
    );
    for endpoint in
        ["find-webhook", "update-webhook", "disconnect-webhook", "reconnect-webhook", "rotate-webhook-secret"]
    {
        let theirs = other.call(endpoint, &json!({ "webhook_id": id })).refused("NOT_FOUND");
        assert_eq!(theirs, json!({ "argument": "webhook_id" }), "{endpoint}");
    }
}

#[test]
fn private_addresses_are_refused_for_a_webhook() {
    let (_server, shop) = Server::with_shop();
    let faults = |more: Value| {
        let body = json!({ "name": "shop", "destination_url": "https://shop.example", "events": ["*"] });
        shop.call("connect-webhook", &crate::harness::merged(&body, &more)).faults()
    };
    for url in [
        "http://shop.example/events",
        "https://127.0.0.1/events",
        "https://localhost/events",
        "https://10.0.0.1/events",
        "https://192.168.1.1/events",
        "https://169.254.169.254/latest",
        "https://[::1]/events",
        "https://[fe80::1]/events",
        "https://[fd00::1]/events",
        "https://[::ffff:10.0.0.1]/events",
        "https://0x7f000001/events",
        "https://user:word@shop.example/",
        "ftp://shop.example/",
        "shop.example",
    ] {
        assert_eq!(faults(json!({ "destination_url": url })), ["invalid destination_url"], "{url}");
    }
    for events in
        [json!([]), json!(["*", "PAYMENT_VOIDED"]), json!(["PAYMENT_VOIDED", "PAYMENT_VOIDED"]), json!(["TEST"])]
    {
        assert_eq!(faults(json!({ "events": events })), ["invalid events"], "{events}");
    }
    for header in ["Content-Type", "webhook-signature", "Host", "a b", ""] {
        assert_eq!(faults(json!({ "signature_header": header })), ["invalid signature_header"], "{header}");
    }
    assert_eq!(faults(json!({ "api_version": "2020-01-01" })), ["invalid api_version"]);
}
