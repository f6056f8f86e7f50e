//! The rates of calls that write without a key: of one address, and of all addresses for one installation.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, CARD, Server, Shop, Start, Wire, merged, thb};

/// The time for which strangers write, and their pause after each call.
const FLOOD: Duration = Duration::from_secs(6);
const PAUSE: Duration = Duration::from_millis(20);

/// The writes a second for an installation in the flood: few enough for a busy machine.
const RATE: u64 = 60;

fn selection(shop: &Shop) -> Value {
    shop.named(&merged(&thb(100), &json!({ "payment_method": "CARD" })))
}

fn card(shop: &Shop) -> Value {
    shop.named(&json!({
        "number": CARD, "name": "Ada Example", "expiration_date": "12/49", "security_code": "123", "usage": "SINGLE",
    }))
}

/// Makes a call from an address of this machine.
fn send(wire: &Wire, endpoint: &str, body: &Value) -> ApiAnswer {
    wire.send("POST", &format!("/sdk/{endpoint}"), &[("Content-Type", "application/json")], body.to_string().as_bytes())
}

/// The rates by default.
fn with_default_rates() -> Server {
    let by_address = Start::default().without("TILL_SDK_WRITES_PER_SECOND_PER_ADDRESS");
    by_address.without("TILL_SDK_WRITES_PER_SECOND_PER_INSTALLATION").server()
}

#[test]
fn an_address_writes_five_times_a_second_and_fifty_times_after_a_pause() {
    let server = with_default_rates();
    let (shop, other) = (server.shop(), server.shop());
    let (stranger, began) = (Wire::to(&server).from(2), Instant::now());
    let calls = |turn: usize| match turn % 2 {
        0 => send(&stranger, "tokenize-card", &card(&shop)),
        _ => send(&stranger, "select-payment-method", &selection(&other)),
    };
    let answers: Vec<ApiAnswer> = (0..400).map(calls).take_while(|answer| answer.status == 200).collect();
    let let_in = u64::try_from(answers.len()).expect("a count fits");
    let at_most = 51 + 5 * (began.elapsed().as_secs() + 1);
    assert!((50..=at_most).contains(&let_in), "{let_in} within {:?}", began.elapsed());
    let refused = (0..20).map(calls).find(|answer| answer.status == 429).expect("a call is turned away");
    assert_eq!((refused.code(), refused.details()), ("RATE_LIMITED", json!({ "limit_per_second": 5 })));
    assert!(refused.message().contains("by one address are limited to 5 a second"), "{}", refused.message());
    assert_eq!(refused.header("retry-after"), Some("1"));
    for _ in 0..100 {
        assert_eq!(send(&stranger, "retrieve-installation-settings", &shop.named(&json!({}))).status, 200);
    }
    assert_eq!(send(&stranger.from(3), "tokenize-card", &card(&shop)).status, 200, "another address");
    thread::sleep(Duration::from_secs(1));
    assert_eq!(send(&stranger, "tokenize-card", &card(&shop)).status, 200, "after the seconds that it was told");
}

#[test]
fn a_refused_write_has_done_nothing() {
    let (server, shop) = Start::default().with("TILL_SDK_WRITES_PER_SECOND_PER_ADDRESS", "1").server_with_shop();
    let stranger = Wire::to(&server).from(2);
    let faulty = merged(&selection(&shop), &json!({ "amount": 0 }));
    for _ in 0..30 {
        assert_eq!(send(&stranger, "select-payment-method", &faulty).status, 400, "what writes nothing is not counted");
    }
    let committed = "till_commit_batches_total{verdict=\"committed\"} ";
    let batches = || {
        let metrics = server.metrics();
        let count = metrics.lines().find_map(|line| line.strip_prefix(committed)?.parse::<f64>().ok());
        count.expect("it is counted")
    };
    let before = batches();
    let statuses: Vec<u16> =
        (0..100).map(|_| send(&stranger, "select-payment-method", &selection(&shop)).status).collect();
    let let_in = statuses.iter().filter(|status| **status == 200).count();
    assert!(let_in < 100, "each call was let in");
    assert_eq!(batches().to_string(), (before + f64::from(u8::try_from(let_in).expect("few"))).to_string());
}

/// Has an address write again and again until then, and returns the statuses of the answers.
fn stranger(wire: &Wire, body: &Value, until: Instant) -> Vec<u16> {
    let mut statuses = Vec::new();
    while Instant::now() < until {
        statuses.push(send(wire, "select-payment-method", body).status);
        thread::sleep(PAUSE);
    }
    statuses
}

#[test]
fn a_customer_pays_while_strangers_use_up_an_installations_rate() {
    let start = Start::default().without("TILL_SDK_WRITES_PER_SECOND_PER_ADDRESS");
    let (server, shop) =
        start.with("TILL_SDK_WRITES_PER_SECOND_PER_INSTALLATION", &RATE.to_string()).server_with_shop();
    let (wire, began) = (Wire::to(&server), Instant::now());
    let body = selection(&shop);
    let statuses = thread::scope(|scope| {
        let flood: Vec<_> = (2..102)
            .map(|last| wire.from(last))
            .map(|wire| {
                scope.spawn({
                    let body = &body;
                    move || stranger(&wire, body, began + FLOOD)
                })
            })
            .collect();
        let customer = wire.from(102);
        thread::sleep(FLOOD / 3);
        let token = send(&customer, "tokenize-card", &card(&shop)).id();
        let body = merged(&selection(&shop), &json!({ "token": token }));
        let session = send(&customer, "select-payment-method", &body).id();
        shop.initiate(&session, 100, &json!({})).ok();
        assert!(began.elapsed() < FLOOD, "the strangers have ended before");
        flood.into_iter().flat_map(|stranger| stranger.join().expect("each call is answered")).collect::<Vec<u16>>()
    });
    let count = |status: u16| statuses.iter().filter(|found| **found == status).count() as u64;
    let (let_in, refused, all) = (count(200), count(429), statuses.len() as u64);
    println!("{let_in} let in, {refused} refused");
    assert_eq!(all, let_in + refused, "others than 200 and 429");
    let at_most = RATE * (10 + began.elapsed().as_secs() + 1);
    assert!(let_in <= at_most && refused > 100, "{let_in} let in of at most {at_most}, {refused} refused");
}
