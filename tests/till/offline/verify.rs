//! `till verify --json`, and the members that locate a fault.

use serde_json::{Value, json};
use till_domain::ids::MerchantId;
use till_storage::family::Family;

use super::store::{Tampering, ends};
use crate::harness::Server;

fn report(server: &Server, code: i32) -> Value {
    let output = server.command().args(["verify", "--json"]).output().expect("the binary can be started");
    assert_eq!(output.status.code(), Some(code));
    serde_json::from_slice(&output.stdout).expect("the report is one JSON object")
}

/// The key of a merchant's record.
fn record(merchant_id: &str, sequence: u64) -> Vec<u8> {
    let merchant: MerchantId = merchant_id.parse().expect("a merchant's id");
    [merchant.to_bytes().as_slice(), &sequence.to_be_bytes()].concat()
}

#[test]
fn a_json_report_names_the_record_and_row_of_every_fault() {
    let (mut server, shop, other) = Server::with_shops();
    let payment = shop.pay(100);
    other.pay(200);
    assert!(server.stop());
    let clean = report(&server, 0);
    assert_eq!((&clean["clean"], &clean["merchants"], &clean["faults"]), (&json!(true), &json!(2), &json!([])));
    let tampering = Tampering::with(server.data());
    let merchant: MerchantId = shop.merchant_id.parse().expect("a merchant's id");
    let payments = tampering.rows(Family::Rows, &[merchant.to_bytes().as_slice(), &[8]].concat());
    tampering.delete(Family::Rows, &payments[0].0);
    let damaged = record(&other.merchant_id, 3);
    let mut value = tampering.rows(Family::Journal, &damaged).remove(0).1;
    *value.last_mut().expect("it has a body") ^= 1;
    tampering.put(Family::Journal, &damaged, &value);
    drop(tampering);
    let faulty = report(&server, 1);
    assert_eq!((&faulty["clean"], &faulty["fault_count"]), (&json!(false), &json!(2)), "{faulty:#}");
    let faults = faulty["faults"].as_array().expect("an array");
    let row = json!({ "kind": "row", "family": "rows", "row": format!("Payments({payment})") });
    let of = |merchant_id: &str| faults.iter().find(|fault| fault["merchant_id"] == merchant_id).expect("it is named");
    assert_eq!((&of(&shop.merchant_id)["place"], &of(&shop.merchant_id)["fault"]), (&row, &json!("missing")));
    let place = json!({ "kind": "records", "first": 3, "last": 3 });
    assert_eq!((&of(&other.merchant_id)["place"], &of(&other.merchant_id)["fault"]), (&place, &json!("record")));
    let text = ends(&server, &["verify"], 1);
    for fault in faults {
        assert!(text.contains(fault["message"].as_str().expect("a text")), "{fault} is not in {text}");
    }
}
