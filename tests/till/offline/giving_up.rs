//! Giving up commits, step by step as in `docs/repair.md`.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::store::ends;
use crate::harness::{Server, Shop, Start, text};

const TOPUPS: u64 = 40;
const SETTING: &str = "TILL_ACCEPT_LOSS_UP_TO";

/// A killed server with a flipped bit in the middle of its log, whose last record belongs to a payment.
fn damaged() -> (Server, Shop) {
    let (mut server, shop) = Server::with_shop();
    (0..TOPUPS).for_each(|_| drop(topup(&server, &shop).ok()));
    shop.pay(100);
    server.kill();
    let files = fs::read_dir(server.data().join("db")).expect("readable").map(|file| file.expect("it lists").path());
    let log = files.filter(|file| file.extension().is_some_and(|end| end == "log")).max().expect("a log");
    let mut bytes = fs::read(&log).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(log, bytes).expect("writable");
    (server, shop)
}

fn topup(server: &Server, shop: &Shop) -> crate::harness::ApiAnswer {
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 1 }))
}

/// The first and the last of the commits that a start misses.
#[track_caller]
fn missing(start: &Start, data: &Path) -> (u64, u64) {
    let printed = start.try_server_on(data, None).err().expect("acknowledged commits are missing");
    let numbers = printed.split_once("acknowledged commits ").map(|(_, numbers)| numbers.split_whitespace());
    let mut numbers = numbers.unwrap_or_else(|| panic!("{printed}")).filter_map(|word| word.parse().ok());
    (numbers.next().expect("the first"), numbers.next().expect("the last"))
}

#[test]
fn damaged_commits_are_given_up_by_number_and_the_server_runs() {
    let (mut server, shop) = damaged();
    let data = server.data().to_owned();
    let (first, last) = missing(&Start::default(), &data);
    assert!(first <= last, "{first} to {last}");
    let with = |commit: u64| Start::default().with(SETTING, &commit.to_string());
    assert_eq!(missing(&with(last - 1), &data), (first, last), "a lower number is refused again");
    let log = data.with_extension("log");
    let mut accepting = with(last).with("TILL_LOG_FORMAT", "json").recording(&log).server_in(&data);
    let there = shop.on(&accepting).balance()["available"].as_u64().expect("a number");
    assert!((1..TOPUPS).contains(&there), "what was committed before is there, and no more: {there}");
    assert_eq!(topup(&accepting, &shop).status, 200, "it goes on");
    assert!(accepting.stop());
    let printed = fs::read_to_string(log).expect("it is written");
    let words = ["given up".to_owned(), format!(r#""first":"{first}""#), format!(r#""last":"{last}""#)];
    assert!(words.iter().all(|word| printed.contains(word)), "{words:?}: {printed}");
    server.restart();
    assert_eq!(shop.on(&server).balance()["available"], there + 1, "without the setting");
    assert!(server.stop());
    let faults = ends(&server, &["verify"], 1);
    assert!(faults.contains("the sandbox's book"), "the sandbox knows of the payment: {faults}");
    server.restart();
    server.admin("create-checkpoint", &json!({ "name": "later" })).ok();
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    let (from, to) = (data.join("checkpoints/later"), place.path().join("restored"));
    let printed = ends(&server, &["restore", "--from", text(&from), "--to", text(&to)], 0);
    assert!(printed.contains("the sandbox's book") && printed.contains("a server runs with them"), "{printed}");
    let restored = Start::default().try_server_on(&to, None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shop.on(&restored).balance()["available"], there + 1, "what a server runs with can be restored");
}
