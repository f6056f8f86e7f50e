//! The money of both sides after a campaign, by reference.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{Entry, Field};

/// Amounts by reference.
type Book = BTreeMap<String, u64>;

/// Money as one side has it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Money {
    /// Captured amounts.
    charges: Book,
    /// Amounts that were given back after a capture.
    refunds: Book,
}

/// Fails unless the charges of the fake are the captured payments, and its refunds the refunds.
pub(super) fn agree(field: &Field) {
    let (mut ours, mut theirs) = (Money::default(), of_fake(field));
    [Entry::Number, Entry::Page].iter().for_each(|entry| add_ours(field, *entry, &mut ours));
    assert!(!ours.charges.is_empty() && !ours.refunds.is_empty(), "something was paid and given back: {ours:?}");
    reconcile(field, &ours);
    leave_out_equal(&mut ours.charges, &mut theirs.charges);
    leave_out_equal(&mut ours.refunds, &mut theirs.refunds);
    assert_eq!((ours, theirs), Default::default(), "Till's, and the fake's");
}

/// Till itself finds the same, and no differences.
fn reconcile(field: &Field, ours: &Money) {
    let server = field.server.lock().expect("no panic");
    let found = [Entry::Number, Entry::Page].map(|entry| field.account(entry).reconciled(&server));
    let sum = |member: &str| found.iter().filter_map(|one| one["compared"][member].as_u64()).sum::<u64>();
    assert!(found.iter().all(|one| one["count"] == 0 && one["under_way"] == 0), "{found:?}");
    let compared = ["captures", "captured_amount", "refunds", "refunded_amount"].map(sum);
    let [charges, refunds] = [&ours.charges, &ours.refunds].map(|book| (book.len() as u64, book.values().sum()));
    assert_eq!(compared, [charges.0, charges.1, refunds.0, refunds.1], "{found:?}");
}

/// What differs is shown alone.
fn leave_out_equal(ours: &mut Book, theirs: &mut Book) {
    let both: Vec<String> = ours.keys().filter(|key| theirs.get(*key) == ours.get(*key)).cloned().collect();
    for key in both {
        ours.remove(&key);
        theirs.remove(&key);
    }
}

fn add_ours(field: &Field, entry: Entry, money: &mut Money) {
    let shop = field.account(entry).shop;
    for payment in shop.all("list-payments") {
        assert!(payment["status"] != "PENDING" && payment["operation"].is_null(), "it has no end: {payment}");
        let id = text(&payment, "payment_id");
        let late = &payment["late_success"];
        assert!(late.is_null() || late["returned_at"].is_u64(), "it is not given back: {payment}");
        // A late hold is released.
        let is_late = !late.is_null() && payment["capture"] == "automatic";
        let minor = if is_late { &payment["amount"] } else { &payment["amount_captured"] };
        if minor != 0 {
            enter(&mut money.charges, format!("{id}/authorize"), minor);
        }
        if is_late || payment["status"] == "REVERSED" {
            enter(&mut money.refunds, format!("{id}/reverse"), minor);
        }
    }
    for refund in shop.all("list-refunds") {
        assert_eq!(refund["status"], "SUCCESSFUL", "{refund}");
        let raw = text(&refund, "refund_id").replacen("rfn_", "", 1);
        enter(&mut money.refunds, format!("{}/refund/{raw}", text(&refund, "payment_id")), &refund["amount"]);
    }
}

/// Money that was only held is not among it.
fn of_fake(field: &Field) -> Money {
    let fake = field.fake.lock().expect("no panic");
    let mut money = Money::default();
    for charge in fake.all("charges") {
        let held = charge["amount"].as_u64() != charge["amount_refunded"].as_u64();
        assert!(charge["captured"] == true || !held, "money is still held: {charge}");
        if charge["captured"] == true {
            enter(&mut money.charges, text(&charge, "reference"), &charge["amount_captured"]);
        }
    }
    for refund in fake.all("refunds") {
        if refund["reference"].is_string() {
            assert_eq!(refund["status"], "succeeded", "{refund}");
            enter(&mut money.refunds, text(&refund, "reference"), &refund["amount"]);
        }
    }
    money
}

/// A reference that was entered before is one that was charged or given back twice.
#[track_caller]
fn enter(book: &mut Book, reference: String, minor: &Value) {
    let minor = minor.as_u64().expect("an amount");
    let before = book.insert(reference.clone(), minor);
    assert_eq!(before, None, "{reference} is entered twice");
}

fn text(object: &Value, member: &str) -> String {
    object[member].as_str().unwrap_or_else(|| panic!("no {member}: {object}")).to_owned()
}
