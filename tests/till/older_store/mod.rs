//! A store that an earlier version of the program wrote opens, shows all of its contents, and continues.
//!
//! `store.zip` is the data directory of the program as of commit 3205e7c: its rows have formats 1 and 2, the sandbox's
//! book has format 1. `till serve --demo` ran with the tests' secrets under a clock that was set to January 2040 (a
//! preloaded `clock_gettime`), since authorizations lapse after seven days: a merchant's time is never before its last
//! event, so that what was authorized then stands until then. Over HTTP it was asked for the payments named below, a
//! top-up, metadata, an invitation and a key, and was killed right after several payments were answered, so that their
//! calls to the acquirer are open and much is only in logs. RocksDB's files `LOG*`, `OPTIONS*` and `LOCK`, without
//! which it opens, were left out, as they name paths of the machine that made them.

use std::fs::{self, File};
use std::io::{Cursor, copy};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use till_domain::ids::MerchantId;
use till_sandbox::book::{RocksBook, totals_by_merchant};
use zip::ZipArchive;

use crate::harness::{Server, Shop, Start, merged};

static STORE: &[u8] = include_bytes!("store.zip");

/// The time that the acquirer may take to answer before the test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Payments whose calls to the acquirer were open.
const PENDING: [(&str, u64); 2] = [("order-pending-1", 601), ("order-pending-2", 602)];

/// The store, unpacked into a directory of its own.
struct Unpacked {
    _directory: TempDir,
    data: PathBuf,
}

impl Unpacked {
    fn new() -> Unpacked {
        let directory = TempDir::new().expect("a temporary directory can be made");
        let data = directory.path().join("data");
        let mut archive = ZipArchive::new(Cursor::new(STORE)).expect("it is a ZIP archive");
        for index in 0..archive.len() {
            let mut packed = archive.by_index(index).expect("it is whole");
            let file = data.join(packed.enclosed_name().expect("a path below the directory"));
            fs::create_dir_all(file.parent().expect("it has a parent")).expect("a directory can be made");
            copy(&mut packed, &mut File::create(file).expect("a file can be made")).expect("it is whole");
        }
        Unpacked { _directory: directory, data }
    }

    fn start(&self) -> Server {
        Start::default().server_in(&self.data)
    }
}

fn verify(data: &Path) -> Value {
    let output = Start::default().command(data).args(["verify", "--json"]).output();
    serde_json::from_slice(&output.expect("the binary can be started").stdout).expect("the report is one JSON object")
}

/// Reads the payment until `is_so` holds.
fn eventually(shop: &Shop, payment: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = shop.payment(payment);
        if is_so(&found) {
            return found;
        }
        assert!(Instant::now() < until, "still not so: {found}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Makes a call that is accepted, and returns the payment with this status.
fn operate(shop: &Shop, endpoint: &str, payment: &str, more: &Value, status: &str) -> Value {
    shop.call(endpoint, &merged(&json!({ "payment_id": payment }), more)).ok();
    eventually(shop, payment, |found| found["status"] == status && found["operation"].is_null())
}

#[test]
fn a_store_of_an_earlier_version_has_no_faults() {
    let unpacked = Unpacked::new();
    let before = verify(&unpacked.data);
    assert_eq!((&before["clean"], &before["faults"]), (&json!(true), &json!([])), "{before:#}");
    let mut server = unpacked.start();
    let shop = Shop::of_demo(&server);
    PENDING.iter().for_each(|(order, _)| drop(shop.settled(order)));
    assert!(server.stop());
    let after = verify(&unpacked.data);
    assert_eq!((&after["clean"], &after["faults"]), (&json!(true), &json!([])), "{after:#}");
    assert!(after["records"].as_u64() > before["records"].as_u64(), "what was open is recorded: {after:#}");
}

#[test]
fn a_store_of_an_earlier_version_shows_its_contents() {
    let unpacked = Unpacked::new();
    let server = unpacked.start();
    let shop = Shop::of_demo(&server);
    for (order, status, captured) in [
        ("order-lapsed", "VOIDED", 0),
        ("order-settled", "SUCCESSFUL", 10_000),
        ("order-at-once", "SUCCESSFUL", 5_000),
        ("order-held-1", "AUTHORIZED", 0),
        ("order-held-2", "AUTHORIZED", 0),
        ("order-held-3", "AUTHORIZED", 0),
        ("order-declined", "FAILED", 0),
        ("order-instalments", "SUCCESSFUL", 4_500),
        ("order-captured", "SUCCESSFUL", 8_000),
    ] {
        let found = shop.payment(order);
        assert_eq!((&found["status"], &found["amount_captured"]), (&json!(status), &json!(captured)), "{order}");
        assert_eq!(
            (&found["operation"], &found["last_operation"], &found["amount_refunded"]),
            (&Value::Null, &Value::Null, &json!(0))
        );
    }
    for (order, minor) in PENDING {
        let found = shop.settled(order);
        assert_eq!((&found["status"], &found["amount_captured"]), (&json!("SUCCESSFUL"), &json!(minor)), "{order}");
    }
    check_ledger(&shop);
    check_the_rest(&shop);
}

/// Entries of every kind, and a balance that is their sum.
fn check_ledger(shop: &Shop) {
    let entries = shop.all("balance-history");
    let sum = |kind: &str, status: &str| -> u64 {
        let of_kind = entries.iter().filter(|entry| entry["type"] == kind && entry["status"] == status);
        of_kind.map(|entry| entry["amount"].as_u64().expect("an amount")).sum()
    };
    let effective = sum("PAYMENT", "EFFECTIVE") + sum("ADD_PREFUND", "EFFECTIVE") - sum("PAYMENT_FEE", "EFFECTIVE");
    let held = sum("PAYMENT", "ON_HOLD") - sum("PAYMENT_FEE", "ON_HOLD");
    assert_eq!((sum("PAYMENT", "EFFECTIVE"), sum("ADD_PREFUND", "EFFECTIVE")), (19_500, 250_000));
    assert!(sum("PAYMENT", "ON_HOLD") >= 8_000 && sum("PAYMENT_FEE", "EFFECTIVE") > 0, "{entries:?}");
    assert_eq!(shop.balance(), json!({ "currency": "USD", "available": effective, "pending": held }));
}

fn check_the_rest(shop: &Shop) {
    let article = shop.call("retrieve-metadata", &json!({ "key": "article-1" })).ok();
    assert_eq!(article["metadata"], json!({ "tags": { "all": ["red", "green", { "size": [1, 2.5] }] } }));
    let article = shop.call("retrieve-metadata", &json!({ "key": "article-2" })).ok();
    assert_eq!((&article["metadata"], &article["version"]), (&json!({ "name": "Tea", "price": "100" }), &json!(1)));
    let customer = shop.contact(shop.payment("order-at-once")["customer_id"].as_str().expect("a customer"));
    assert_eq!((&customer["email"], &customer["name"]), (&json!("ada@example.com"), &json!("Ada Example")));
    let cards = shop.all_of("list-cards", &json!({ "contact_id": customer["contact_id"] }));
    let listed: Vec<&Value> = cards.iter().map(|card| &card["card_id"]).collect();
    assert_eq!(listed, [&customer["default_card_id"]], "the start lists what an earlier version saved");
    assert_eq!(shop.all("list-user-invitations")[0]["email"], "grace@example.com");
    assert_eq!(shop.all("list-keys").len(), 2);
    let voided = |entry: &&Value| entry["activity_type"] == "PAYMENT_VOIDED" && entry["actor_type"] == "SYSTEM";
    assert_eq!(shop.all("list-activity-logs").iter().filter(voided).count(), 1);
}

#[test]
fn payments_of_an_earlier_version_can_be_operated_on() {
    let unpacked = Unpacked::new();
    let mut server = unpacked.start();
    let shop = Shop::of_demo(&server);
    PENDING.iter().for_each(|(order, _)| drop(shop.settled(order)));
    assert_eq!(operate(&shop, "capture-payment", "order-held-1", &json!({}), "SUCCESSFUL")["amount_captured"], 3_001);
    let part = operate(&shop, "capture-payment", "order-held-2", &json!({ "amount": 2_000 }), "SUCCESSFUL");
    assert_eq!(part["amount_captured"], 2_000);
    operate(&shop, "void-payment", "order-held-3", &json!({}), "VOIDED");
    operate(&shop, "reverse-payment", "order-pending-1", &json!({}), "REVERSED");
    operate(&shop, "refund-payment", "order-settled", &json!({ "amount": 4_000 }), "PARTIALLY_REFUNDED");
    operate(&shop, "refund-payment", "order-at-once", &json!({}), "REFUNDED");
    operate(&shop, "refund-payment", "order-captured", &json!({}), "REFUNDED");
    operate(&shop, "refund-payment", "order-held-2", &json!({ "amount": 500 }), "PARTIALLY_REFUNDED");
    pay_with_what_was_saved(&shop);
    assert!(server.stop());
    check_book(&unpacked.data, &shop);
    let report = verify(&unpacked.data);
    assert_eq!((&report["clean"], &report["faults"]), (&json!(true), &json!([])), "{report:#}");
}

/// Pays with the card that the earlier version sealed, and repeats a call whose answer it stored under an
/// Idempotency-Key.
fn pay_with_what_was_saved(shop: &Shop) {
    let paid = shop.payment("order-captured");
    let answered = json!({
        "external_id": "order-captured", "amount": "8000", "currency": "USD", "capture": true,
        "payment_session_id": paid["payment_session_id"], "return_url": "https://shop.example/done",
        "customer_id": "customer-1", "customer_email": "grace@example.com",
    });
    let again = shop.client().idempotency_key("pay order-captured").post("/merchants/initiate-payment-flow", &answered);
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &paid["payment_id"]));
    let owner = shop.contact(shop.payment("order-at-once")["customer_id"].as_str().expect("a customer"));
    let card_id = owner["default_card_id"].as_str().expect("a saved card");
    let session = json!({ "amount": "900", "currency": "USD", "payment_method": "CARD", "card_id": card_id });
    let session = shop.sdk("select-payment-method", &session).id();
    let body = json!({
        "payment_session_id": session, "amount": "900", "currency": "USD", "capture": true,
        "return_url": "https://shop.example/done", "customer_id": owner["contact_id"],
    });
    let payment = shop.call("initiate-payment-flow", &body).id();
    assert_eq!(shop.settled(&payment)["status"], "SUCCESSFUL");
}

/// The sandbox's book is consistent, and agrees with the payments.
fn check_book(data: &Path, shop: &Shop) {
    let book = RocksBook::open_read_only(&data.join("sandbox")).expect("the book opens");
    let id: MerchantId = shop.merchant_id.parse().expect("a merchant's id");
    let totals = totals_by_merchant(&book).expect("the book agrees with itself")[&id];
    assert_eq!((totals.declined, totals.follow_ups_declined), (1, 0), "{totals:?}");
    // The authorization that lapsed and the one that was voided; the reversal and the four refunds.
    assert_eq!((totals.voided_minor, totals.refunded_minor), (2_000 + 3_003, 601 + 4_000 + 5_000 + 8_000 + 500));
}
