//! `till repair drop-tail`

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::store::{contents, ends};
use crate::harness::{Server, Shop, Start};

/// A killed server with two merchants: everything is in the log, and the last write is a top-up of the second.
fn killed() -> (Server, [Shop; 2]) {
    let mut server = Server::start();
    let shops = [server.shop(), server.shop()];
    shops[0].pay(100);
    for number in 0..5 {
        add_topup(&server, &shops[1], number);
    }
    server.kill();
    (server, shops)
}

fn add_topup(server: &Server, shop: &Shop, number: u64) {
    let topup = json!({ "merchant_id": shop.merchant_id, "amount": 1_000 + number });
    server.admin("add-topup", &topup).ok();
}

fn log(server: &Server) -> PathBuf {
    let files = fs::read_dir(server.data().join("db")).expect("readable").map(|file| file.expect("it lists").path());
    files.filter(|file| file.extension().is_some_and(|end| end == "log")).max().expect("a log")
}

fn change(file: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(file).expect("readable");
    change(&mut bytes);
    fs::write(file, bytes).expect("writable");
}

fn refusal(server: &Server) -> String {
    Start::default().try_server_on(server.data(), None).err().expect("acknowledged commits are missing")
}

fn available(server: &Server, shop: &Shop) -> u64 {
    shop.on(server).call("get-balance", &json!({})).ok()["available"].as_u64().expect("a number")
}

#[test]
fn a_torn_write_is_dropped_after_its_loss_is_named() {
    let (mut server, [first, second]) = killed();
    change(&log(&server), |bytes| *bytes.last_mut().expect("it has bytes") ^= 1);
    assert!(refusal(&server).contains("acknowledged commits"));
    let before = contents(server.data());
    let printed = ends(&server, &["repair", "drop-tail"], 1);
    assert_eq!(contents(server.data()), before, "nothing is changed before it is asked for");
    assert!(printed.contains("nothing was changed"), "{printed}");
    let lost: Vec<&str> = printed.lines().filter(|line| line.starts_with("lost: ")).collect();
    assert_eq!(lost.len(), 1, "{printed}");
    let words = [second.merchant_id.as_str(), "record ", "commit ", "topup_added"];
    assert!(words.iter().all(|word| lost[0].contains(word)), "{printed}");
    let done = ends(&server, &["repair", "drop-tail", "--yes"], 0);
    assert!(done.contains(lost[0]) && done.contains("no faults"), "{done}");
    server.restart();
    assert_eq!(available(&server, &second), 1_000 + 1_001 + 1_002 + 1_003, "the last top-up is lost, and only that");
    first.on(&server).pay(100);
    add_topup(&server, &second, 9);
    assert!(server.stop());
    assert!(ends(&server, &["repair", "drop-tail"], 0).contains("nothing to drop"));
}

#[test]
fn a_truncated_log_names_the_commits_that_are_unknown() {
    let (mut server, [_, second]) = killed();
    change(&log(&server), |bytes| bytes.truncate(bytes.len() - 700));
    let printed = ends(&server, &["repair", "drop-tail", "--dry-run"], 1);
    assert!(printed.contains("lost: acknowledged commits of which nothing can be told any more: "), "{printed}");
    ends(&server, &["repair", "drop-tail", "--yes"], 0);
    server.restart();
    assert_eq!(available(&server, &second), 1_000 + 1_001 + 1_002 + 1_003);
}

#[test]
fn a_log_damaged_in_the_middle_is_not_truncated() {
    let (server, _) = killed();
    change(&log(&server), |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    let before = contents(server.data());
    for arguments in
        [["repair", "drop-tail"].as_slice(), &["repair", "drop-tail", "--yes"], &["repair", "rows", "--yes"]]
    {
        let printed = ends(&server, arguments, 1);
        assert!(printed.contains("damaged in the middle") && printed.contains("restore"), "{printed}");
    }
    assert_eq!(contents(server.data()), before);
}

#[test]
fn a_store_with_an_intact_log_has_nothing_to_drop() {
    let (mut server, [first, _]) = killed();
    let before = contents(server.data());
    let printed = ends(&server, &["repair", "drop-tail", "--yes"], 0);
    assert!(printed.contains("nothing to drop"), "{printed}");
    assert_eq!(contents(server.data()), before, "nothing is touched");
    server.restart();
    first.on(&server).pay(1);
}

#[test]
fn a_torn_write_after_the_last_acknowledged_one_loses_nothing() {
    let (mut server, [_, second]) = killed();
    change(&log(&server), |bytes| bytes.extend([7; 20]));
    let printed = ends(&server, &["repair", "drop-tail"], 1);
    assert!(printed.contains("nothing that was acknowledged is lost"), "{printed}");
    assert!(!printed.lines().any(|line| line.starts_with("lost: ")), "{printed}");
    ends(&server, &["repair", "drop-tail", "--yes"], 0);
    server.restart();
    assert_eq!(available(&server, &second), 1_000 + 1_001 + 1_002 + 1_003 + 1_004);
}
