//! The reserve of a disk that is really full.

use serde_json::{Value, json};

use crate::harness::{Start, Volume};

use super::MIB;
use super::filler::Filler;
use super::load::verify;
use super::reserve::{done, writes_are_refused};

#[test]
fn a_full_disk_refuses_writes_only_until_there_is_space() {
    let disk = Volume::made(256 * MIB);
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
        let of_shop = json!({ "merchant_id": shop.merchant_id });
        assert_eq!(done(|| server.admin("suspend-merchant", &of_shop)), true, "there are 8 MiB for the operator");
        assert_eq!(done(|| server.admin("resume-merchant", &of_shop)), true);
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
fn a_stop_on_a_disk_that_is_full_ends_with_0_and_loses_nothing() {
    let disk = Volume::made(128 * MIB);
    let data = disk.path().join("data");
    let start = Start::default().with("TILL_DISK_RESERVE_BYTES", &MIB.to_string());
    let mut server = start.server_in(&data);
    let shop = server.shop();
    let payment = shop.pay(100);
    (0..50).for_each(|_| drop(shop.pay(100)));
    let filler = Filler::leaving(&disk.path(), 0);
    assert!(server.stop(), "everything acknowledged is on the disk");
    drop(filler);
    let mut server = start.server_in(&data);
    assert_eq!(shop.on(&server).settled(&payment)["status"], "SUCCESSFUL");
    verify(&mut server);
}
