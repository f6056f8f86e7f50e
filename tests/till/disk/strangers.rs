//! The bytes that callers without a key write, at the rates that an address has by default.

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

/// The bytes that one address may fill in a day.
const BYTES_A_DAY_MAX: u64 = 1_000_000_000;

type Body = fn(&mut TestDice) -> Value;

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

/// The longest selection that counts as one call, with its key of 255 bytes.
fn short_selection(dice: &mut TestDice) -> Value {
    merged(&thb(100_000), &json!({ "payment_method": "CARD", "customer_id": letters(dice, 180) }))
}

/// The bytes that a call of this kind leaves.
fn bytes_a_call(server: &Server, shop: &Shop, (name, endpoint): (&str, &str), body: Body) -> u64 {
    let before = stored(server, &format!("before-{name}"));
    thread::scope(|scope| {
        for seed in 0..CONNECTIONS {
            scope.spawn(move || {
                let mut dice = TestDice::new(seed + 100 * before);
                for _ in 0..CALLS / CONNECTIONS {
                    let client = server.client().idempotency_key(&letters(&mut dice, 255));
                    client.post(&format!("/sdk/{endpoint}"), &shop.named(&body(&mut dice))).ok();
                }
            });
        }
    });
    (stored(server, &format!("after-{name}")) - before) / CALLS
}

#[test]
fn one_stranger_s_address_fills_less_than_a_gigabyte_a_day() {
    let (server, shop) = Server::with_shop();
    // Of the texts of a call, its key included, each 512 bytes count as one call more.
    for (name, endpoint, body, counted) in [
        ("longest", "select-payment-method", selection as Body, 4),
        ("short", "select-payment-method", short_selection as Body, 1),
        ("card", "tokenize-card", card as Body, 3),
    ] {
        let bytes = bytes_a_call(&server, &shop, (name, endpoint), body);
        let a_day = bytes * CALLS_A_DAY / counted;
        println!("{endpoint}, {name}: {bytes} bytes a call, {} MB a day", a_day / 1_000_000);
        assert!(bytes > 300, "{endpoint} leaves {bytes} bytes: nothing was measured");
        assert!(a_day < BYTES_A_DAY_MAX, "{endpoint}, {name}, leaves {bytes} bytes a call");
    }
}
