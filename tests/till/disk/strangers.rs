//! What callers without a key write, at the rates that an address has by default.

use std::fs;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{CARD, Server, Shop, TestDice, merged, thb};

/// Calls of a kind that are measured.
const CALLS: u64 = 2_000;

/// Connections that make them.
const CONNECTIONS: u64 = 4;

/// The calls of one address in a day: a burst, and then five a second.
const CALLS_A_DAY: u64 = 50 + 5 * 86_400;

/// What one address may fill in a day.
const BYTES_A_DAY_MAX: u64 = 1_000_000_000;

/// The bytes of everything in a directory.
fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).expect("readable").map(|entry| entry.expect("it lists").path());
    entries.map(|path| if path.is_dir() { bytes_below(&path) } else { fs::metadata(&path).expect("there").len() }).sum()
}

/// The bytes of the store, written out: a checkpoint has each row once, in tables.
fn stored(server: &Server, name: &str) -> u64 {
    server.admin("create-checkpoint", &json!({ "name": name })).ok();
    bytes_below(&server.data().join("checkpoints").join(name))
}

/// A text that does not compress.
fn letters(dice: &mut TestDice, count: usize) -> String {
    (0..count).map(|_| char::from(dice.pick(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"))).collect()
}

/// The longest name: 255 letters of four bytes.
fn name(dice: &mut TestDice) -> String {
    (0..255)
        .map(|_| char::from_u32(0x2_0000 + u32::try_from(dice.between(0, 40_000)).expect("small")).expect("a letter"))
        .collect()
}

/// The longest selection.
fn selection(dice: &mut TestDice) -> Value {
    let domain = [63, 63, 54].map(|count| letters(dice, count).replace(['-', '_'], "a")).join(".");
    let customer = json!({
        "customer_id": letters(dice, 255), "customer_name": name(dice), "payment_method": "CARD",
        "customer_email": format!("{}@{domain}.com", letters(dice, 64).replace('-', "b")),
        "customer_mobile": format!("+668{}", dice.between(10_000_000, 99_999_999)),
    });
    merged(&thb(100_000), &customer)
}

/// The longest card.
fn card(dice: &mut TestDice) -> Value {
    json!({
        "number": CARD, "name": name(dice), "expiration_date": "12/49", "security_code": "123", "usage": "MULTIPLE",
    })
}

/// The bytes that a call of this kind leaves.
fn bytes_a_call(server: &Server, shop: &Shop, endpoint: &str, body: fn(&mut TestDice) -> Value) -> u64 {
    let before = stored(server, &format!("before-{endpoint}"));
    thread::scope(|scope| {
        for seed in 0..CONNECTIONS {
            scope.spawn(move || {
                let mut dice = TestDice::new(seed);
                for _ in 0..CALLS / CONNECTIONS {
                    let client = server.client().idempotency_key(&letters(&mut dice, 255));
                    client.post(&format!("/sdk/{endpoint}"), &shop.named(&body(&mut dice))).ok();
                }
            });
        }
    });
    (stored(server, &format!("after-{endpoint}")) - before) / CALLS
}

#[test]
fn one_stranger_s_address_fills_less_than_a_gigabyte_a_day() {
    let (server, shop) = Server::with_shop();
    type Body = fn(&mut TestDice) -> Value;
    for (endpoint, body) in [("select-payment-method", selection as Body), ("tokenize-card", card as Body)] {
        let bytes = bytes_a_call(&server, &shop, endpoint, body);
        println!("{endpoint}: {bytes} bytes a call, {} MB a day", bytes * CALLS_A_DAY / 1_000_000);
        assert!(bytes > 300, "{endpoint} leaves {bytes} bytes: nothing was measured");
        assert!(bytes * CALLS_A_DAY < BYTES_A_DAY_MAX, "{endpoint} leaves {bytes} bytes a call");
    }
}
