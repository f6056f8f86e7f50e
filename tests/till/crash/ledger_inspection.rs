//! Compares a merchant's ledger with the expected state: its entries, and the balance that follows from them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::Shop;

use super::inspection::{assert_same, eventually};
use super::merchants::LoadedMerchant;
use super::truth::Truth;
use super::{dispute_inspection, invoice, payout};

/// An entry: type, direction, payment, refund, amount, and true when it was canceled.
type Posted = (String, String, String, String, u64, bool);

/// Checks all entries; of a merchant that settles soon, once no entry is on hold any more.
pub(super) fn inspect(shop: &Shop, merchant: &LoadedMerchant, truth: &Truth) {
    let is_due = |entry: &Value| entry["status"] == "ON_HOLD" && !dispute_inspection::is_undecided(entry, truth);
    let settled = |entries: &Vec<Value>| !entries.iter().any(is_due);
    let is_ready = |entries: &Vec<Value>| !merchant.settles_soon || settled(entries);
    let entries = eventually("the settlement of what is due", || shop.all("balance-history"), is_ready);
    let ids: Vec<&str> = entries.iter().map(|entry| text(entry, "entry_id")).collect();
    assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "entries come newest first, each once");
    check_payments(&entries, merchant, truth);
    check_refunds_follow_captures(&entries);
    check_topups(&entries, truth);
    payout::check_entries(&entries, truth);
    invoice::check_entries(&entries, truth);
    dispute_inspection::check_entries(&entries, truth);
    check_balance(shop, &entries);
}

/// The types of entries that have checks of their own.
const CHECKED_APART: [&str; 4] = ["ADD_PREFUND", "PAY_OUT", "INVOICE", "DISPUTE"];

/// One entry for each capture, fee, interest and refund, and no other of payments except disputes. Those of reversed
/// payments and failed refunds are canceled.
fn check_payments(entries: &[Value], merchant: &LoadedMerchant, truth: &Truth) {
    let mut expected: Vec<Posted> = Vec::new();
    for (id, payment) in &truth.payments {
        let mut post = |kind: &str, direction: &str, refund: &str, minor: u64, is_canceled: bool| {
            if minor > 0 {
                expected.push((
                    kind.to_owned(),
                    direction.to_owned(),
                    id.clone(),
                    refund.to_owned(),
                    minor,
                    is_canceled,
                ));
            }
        };
        let captured = payment.captured_minor();
        post("PAYMENT", "CREDIT", "", captured, payment.is_reversed());
        post("PAYMENT_FEE", "DEBIT", "", merchant.fee_minor(captured), payment.is_reversed());
        post("INTEREST", "DEBIT", "", payment.sale.interest_minor(captured), payment.is_reversed());
        let fails = payment.sale.fate.refund_failure().is_some();
        payment.refunds.iter().for_each(|(id, refund)| post("REFUND", "DEBIT", id, refund.minor, fails));
    }
    expected.sort();
    let others = entries.iter().filter(|entry| !CHECKED_APART.contains(&text(entry, "type")));
    let mut found: Vec<Posted> = others.map(posted).collect();
    found.sort();
    assert_same("captures, fees, interest and refunds in the ledger", &found, &expected);
}

fn posted(entry: &Value) -> Posted {
    let own = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    let is_canceled = entry["status"] == "CANCELED";
    (own("type"), own("direction"), own("payment_id"), own("refund_id"), amount(entry), is_canceled)
}

/// A refund that the acquirer confirmed is on hold as long as its capture, and becomes effective with it.
fn check_refunds_follow_captures(entries: &[Value]) {
    let captures: BTreeMap<&str, &Value> = entries
        .iter()
        .filter(|entry| entry["type"] == "PAYMENT")
        .map(|entry| (text(entry, "payment_id"), &entry["status"]))
        .collect();
    for refund in entries.iter().filter(|entry| entry["type"] == "REFUND" && entry["status"] != "CANCELED") {
        assert_eq!(captures.get(text(refund, "payment_id")), Some(&&refund["status"]), "{refund}");
    }
}

/// Each known top-up is there once, and beside them only those that may be there, once.
fn check_topups(entries: &[Value], truth: &Truth) {
    let topups = entries.iter().filter(|entry| entry["type"] == "ADD_PREFUND");
    let pairs: Vec<(String, u64)> = topups.map(|entry| (text(entry, "topup_id").to_owned(), amount(entry))).collect();
    let found: BTreeMap<String, u64> = pairs.iter().cloned().collect();
    assert_eq!(found.len(), pairs.len(), "a top-up is posted once");
    for (id, minor) in &truth.topups {
        assert_eq!(found.get(id), Some(minor), "top-up {id} of {minor}");
    }
    let mut maybe = truth.maybe_topups.clone();
    for (id, minor) in found.iter().filter(|(id, _)| !truth.topups.contains_key(*id)) {
        let at = maybe.iter().position(|maybe| maybe == minor);
        maybe.swap_remove(at.unwrap_or_else(|| panic!("nobody asked for top-up {id} of {minor}, or once only")));
    }
}

/// A capture on hold is netted with the debits that belong to it: a positive rest is pending, a negative one reduces
/// the available balance, as every other debit on hold does.
fn check_balance(shop: &Shop, entries: &[Value]) {
    let is_held = |entry: &&Value| entry["status"] == "ON_HOLD";
    let captures = entries.iter().filter(is_held).filter(|entry| entry["type"] == "PAYMENT");
    let mut held: BTreeMap<&str, i128> = captures.map(|entry| (text(entry, "payment_id"), 0)).collect();
    let mut available: i128 = 0;
    for entry in entries.iter().filter(|entry| entry["status"] != "CANCELED") {
        let amount = i128::from(amount(entry));
        let signed = if entry["direction"] == "CREDIT" { amount } else { -amount };
        let capture = entry["payment_id"].as_str().and_then(|id| held.get_mut(id));
        *capture.filter(|_| is_held(&entry)).unwrap_or(&mut available) += signed;
    }
    let pending: i128 = held.values().map(|left| *left.max(&0)).sum();
    available += held.values().map(|left| *left.min(&0)).sum::<i128>();
    let balance = shop.balance();
    let shown = |name: &str| i128::from(balance[name].as_i64().expect("an integer"));
    assert_eq!((shown("available"), shown("pending")), (available, pending), "{balance}");
}

fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry[name].as_str().unwrap_or_else(|| panic!("no {name} in {entry}"))
}

fn amount(entry: &Value) -> u64 {
    entry["amount"].as_u64().expect("an amount")
}
