//! A database that has lost commits that it acknowledged.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Shop, directory, holds_within, merged};

use super::postgres::Postgres;
use super::proxy::Proxy;
use super::{over, succeeds};

/// Whether a change of the merchant is refused, with nothing done.
fn is_stopped(shop: &Shop, email: &str) -> bool {
    let answer = shop.call("invite-user", &json!({ "email": email }));
    answer.status == 503 && answer.body["error"]["outcome"] != "unknown"
}

/// A standby without the last commits is promoted: whoever had one of them is told no from then on, by this server and
/// by the next one, until the operator goes on without them.
#[test]
fn a_standby_without_the_last_commits_stops_their_shards() {
    let primary = Postgres::start();
    let proxy = Proxy::before(primary.port());
    let start = over(proxy.port).with("TILL_JOURNAL_SECONDS_MAX", "1");
    let directory_of_files = directory();
    succeeds(start.command(directory_of_files.path()), &["journal", "migrate"]);
    let mut server = start.server();
    let (shop, other) = (server.shop(), server.shop());
    shop.pay(1_000);
    let standby = primary.standby();
    let caught_up =
        || primary.sql("select count(*) from pg_stat_replication where replay_lsn = pg_current_wal_lsn()") == "1";
    assert!(holds_within(Duration::from_secs(20), caught_up));
    standby.stop("immediate");
    shop.call("invite-user", &json!({ "email": "lost@example.com" })).ok();
    let body = merged(&shop.initiation(&shop.session(700), 700), &json!({ "external_id": "=order, \"7\"" }));
    let lost_payment = shop.call("initiate-payment-flow", &body).id();
    shop.settled(&lost_payment);
    primary.stop("immediate");
    standby.run();
    standby.promote();
    proxy.lead_to(standby.port());
    assert!(holds_within(Duration::from_secs(20), || server.metric("till_journal_shards_lost") == Some(1.0) || {
        is_stopped(&shop, "ada@example.com");
        false
    }));
    assert!(is_stopped(&shop, "ada@example.com"));
    other.call("invite-user", &json!({ "email": "kept@example.com" })).ok();
    server.kill();
    server.restart();
    assert_eq!(server.metric("till_journal_shards_lost"), Some(1.0), "a restart changes nothing");
    assert!(is_stopped(&shop.on(&server), "ada@example.com"));
    other.on(&server).pay(500);
    server.stop();
    let file = directory_of_files.path().join("lost");
    let text = file.to_str().expect("ASCII");
    let named = succeeds(start.command(server.data()), &["journal", "accept-loss"]);
    let named: Value = serde_json::from_str(named.trim()).expect("one line");
    assert!(named["merchant_id"] == shop.merchant_id && named["first"].as_u64() < named["last"].as_u64(), "{named}");
    succeeds(start.command(server.data()), &["journal", "accept-loss", "--yes", "--to", text]);
    let lost = std::fs::read_to_string(&file).expect("it was written");
    assert!(lost.lines().count() > 3, "{lost}");
    let payments = std::fs::read_to_string(file.with_extension("payments.csv")).expect("it was written");
    let merchant_id = &shop.merchant_id;
    let line = format!("{merchant_id},{lost_payment},\"'=order, \"\"7\"\"\",700,THB,SUCCESSFUL\n");
    assert_eq!(payments, format!("merchant_id,payment_id,external_id,amount,currency,status\n{line}"));
    let said = super::fails(start.command(server.data()), &["serve"]);
    assert!(said.contains("repeats another log"), "{said}");
    std::fs::remove_dir_all(server.data()).expect("it can be removed");
    server.restart();
    assert_eq!(server.metric("till_effects_paused"), Some(1.0));
    server.admin("resume-effects", &json!({})).ok();
    shop.on(&server).call("invite-user", &json!({ "email": "lost@example.com" })).ok();
    shop.on(&server).pay(500);
}
