//! The reserve: writes are refused while there is one byte less.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, Start, Volume};

use super::MIB;
use super::filler::Filler;
use super::load::verify;

#[track_caller]
fn is_not_done(answer: &ApiAnswer) {
    assert_eq!((answer.status, answer.code()), (503, "UNAVAILABLE"), "{}", answer.body);
    assert_eq!(answer.details(), json!({ "outcome": "not_done" }));
    assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()));
}

/// Checks that nothing can be changed, and everything can be read.
#[track_caller]
fn writes_are_refused(server: &Server, shop: &Shop, session: &str, payment: &str) {
    let before = shop.picture(&[payment, session]);
    is_not_done(&shop.initiate(session, 100, &json!({})));
    is_not_done(&shop.call("invite-user", &json!({ "email": "ada@shop.example" })));
    is_not_done(
        &shop.sdk("select-payment-method", &json!({ "amount": 1, "currency": "THB", "payment_method": "CARD" })),
    );
    is_not_done(&server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })));
    assert_eq!(shop.picture(&[payment, session]), before);
    assert_ne!(server.admin("create-checkpoint", &json!({})).status, 200, "the reserve is not for copies");
}

#[test]
fn while_the_reserve_is_used_up_writes_fail_and_reads_succeed() {
    let mut server = Server::start();
    let shop = server.shop();
    let (payment, session) = (shop.pay(100), shop.session(100));
    assert!(server.stop());
    let data = server.data().to_owned();
    let without_space = Start::default().with("TILL_DISK_RESERVE_BYTES", &u64::MAX.to_string());
    let mut full = without_space.server_in(&data);
    writes_are_refused(&full, &shop.on(&full), &session, &payment);
    assert!(full.stop(), "it can be stopped without space");
    let server = Start::default().server_in(&data);
    let shop = shop.on(&server);
    let paid = shop.initiate(&session, 100, &json!({})).id();
    assert_eq!(shop.settled(&paid)["status"], "SUCCESSFUL");
}

#[test]
fn a_full_disk_refuses_writes_only_until_there_is_space() {
    let Some(disk) = Volume::if_possible(256 * MIB) else { return };
    let start = Start::default().with("TILL_DISK_RESERVE_BYTES", &(64 * MIB).to_string());
    let mut server = start.server_in(&disk.path().join("data"));
    let shop = server.shop();
    let (payment, session) = (shop.pay(100), shop.session(100));
    for round in 0..3 {
        let filler = Filler::leaving(&disk.path(), 32 * MIB);
        // The measurement of the free space may be a moment old, so some writes may still be done.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while shop.call("add-to-metadata-set", &json!({ "key": "a", "value": round })).status == 200 {
            assert!(std::time::Instant::now() < until, "nothing is refused");
            shop.call("remove-from-metadata-set", &json!({ "key": "a", "value": round }));
        }
        writes_are_refused(&server, &shop, &session, &payment);
        drop(filler);
        let again = || shop.call("add-to-metadata-set", &json!({ "key": "b", "value": round }));
        while again().status == 503 {
            assert!(std::time::Instant::now() < until, "it is refused for ever");
        }
        assert_eq!(again().ok(), Value::Bool(false), "it was added");
    }
    assert_eq!(shop.settled(&shop.initiate(&session, 100, &json!({})).id())["status"], "SUCCESSFUL");
    verify(&mut server);
}

#[test]
fn a_stop_on_a_disk_that_is_full_loses_nothing_and_says_so() {
    let Some(disk) = Volume::if_possible(128 * MIB) else { return };
    let (data, record) = (disk.path().join("data"), disk.path().with_file_name("said"));
    let start = Start::default().with("TILL_DISK_RESERVE_BYTES", &MIB.to_string()).recording(&record);
    let mut server = start.server_in(&data);
    let shop = server.shop();
    let payment = shop.pay(100);
    (0..50).for_each(|_| drop(shop.pay(100)));
    let filler = Filler::leaving(&disk.path(), 0);
    assert!(server.stop(), "everything acknowledged is on the disk");
    let said = std::fs::read_to_string(&record).expect("it was recorded");
    assert!(said.contains("were not written to tables"), "{said}");
    drop(filler);
    let mut server = start.server_in(&data);
    assert_eq!(shop.on(&server).settled(&payment)["status"], "SUCCESSFUL");
    verify(&mut server);
}
