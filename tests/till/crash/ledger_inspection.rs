//! Compares a merchant's ledger with the objects that moved its money, and the balance with the entries.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::Shop;

use super::inspection::assert_same;
use super::object_kind::{DISPUTE, ENTRY, INVOICE, ObjectKind, PAYMENT, PAYOUT, REFUND, TOPUP};
use super::shown::{Shown, amount, text};
use super::truth::Truth;

/// The path of the call that cancels the entries of a payment.
const REVERSES: &str = "/merchants/reverse-payment";

/// An entry: type, object, amount, and true when it was canceled.
type Posted<'a> = (&'a str, &'a str, u64, bool);

/// The types of the entries of objects, with the attribute that has their amount, and the status with which an object
/// has none of the money.
static POSTED: [(&str, &ObjectKind, &str); 3] =
    [("REFUND", &REFUND, "FAILED"), ("PAY_OUT", &PAYOUT, "FAILED"), ("DISPUTE", &DISPUTE, "WON")];

/// Checks that each movement of money is in the ledger once, and no other, and that the balance follows from them.
pub(super) fn check(shop: &Shop, shown: &Shown, truth: &Truth) {
    let entries: Vec<&Value> = shown.objects(&ENTRY).collect();
    let mut found: Vec<Posted<'_>> = entries.iter().map(|entry| summarize(entry)).collect();
    found.sort_unstable();
    let mut expected: Vec<Posted<'_>> =
        shown.objects(&PAYMENT).flat_map(|payment| of_payment(payment, truth)).collect();
    expected.extend(
        shown.objects(&TOPUP).map(|topup| ("ADD_PREFUND", text(topup, TOPUP.id), amount(topup, "amount"), false)),
    );
    for (entry_type, kind, lost) in POSTED {
        let entry = |object| (entry_type, text(object, kind.id), amount(object, "amount"), object["status"] == lost);
        expected.extend(shown.objects(kind).map(entry));
    }
    // An invoice is shown by its entry alone: the object that was made is compared with it elsewhere.
    let invoices = shown.objects(&INVOICE);
    expected.extend(invoices.map(|entry| ("INVOICE", text(entry, INVOICE.id), amount(entry, "amount"), false)));
    expected.sort_unstable();
    assert_same("movements of money in the ledger", &found, &expected);
    check_balance(shop, &entries);
}

fn of_payment<'a>(payment: &'a Value, truth: &Truth) -> Vec<Posted<'a>> {
    let id = text(payment, PAYMENT.id);
    let is_canceled = truth.times_done(REVERSES, id) > 0;
    let captured = Some(("PAYMENT", id, amount(payment, "amount_captured"), is_canceled)).filter(|it| it.2 > 0);
    let fees = payment["fees"].as_array().expect("a list of fees").iter();
    captured.into_iter().chain(fees.map(|fee| (text(fee, "type"), id, amount(fee, "amount"), is_canceled))).collect()
}

/// The entry, with the object that it was posted for.
fn summarize(entry: &Value) -> Posted<'_> {
    let objects = [&TOPUP, &INVOICE, &PAYOUT, &REFUND, &DISPUTE, &PAYMENT];
    let object = objects.iter().find_map(|kind| entry[kind.id].as_str());
    let object = object.unwrap_or_else(|| panic!("an entry for nothing: {entry}"));
    (text(entry, "type"), object, amount(entry, "amount"), entry["status"] == "CANCELED")
}

/// Checks that the balance follows from these entries, or from those that there are now: a hold may have ended since.
pub(super) fn check_balance(shop: &Shop, entries: &[&Value]) {
    let shown = || {
        let balance = shop.balance();
        let shown = |name: &str| i128::from(balance[name].as_i64().expect("an integer"));
        (shown("available"), shown("pending"))
    };
    if balance_of(entries) == shown() {
        return;
    }
    let newer = shop.all("balance-history");
    assert_eq!(shown(), balance_of(&newer.iter().collect::<Vec<_>>()), "{newer:?}");
}

/// What is available and pending. A capture on hold is netted with the debits that belong to it: a positive rest is
/// pending, a negative one reduces the available balance, as every other debit on hold does.
fn balance_of(entries: &[&Value]) -> (i128, i128) {
    let is_held = |entry: &&&Value| entry["status"] == "ON_HOLD";
    let captures = entries.iter().filter(is_held).filter(|entry| entry["type"] == "PAYMENT");
    let mut held: BTreeMap<&str, i128> = captures.map(|entry| (text(entry, PAYMENT.id), 0)).collect();
    let mut available: i128 = 0;
    for entry in entries.iter().filter(|entry| entry["status"] != "CANCELED") {
        let amount = i128::from(amount(entry, "amount"));
        let signed = if entry["direction"] == "CREDIT" { amount } else { -amount };
        let capture = entry[PAYMENT.id].as_str().and_then(|id| held.get_mut(id));
        *capture.filter(|_| is_held(&entry)).unwrap_or(&mut available) += signed;
    }
    let pending: i128 = held.values().map(|left| *left.max(&0)).sum();
    available += held.values().map(|left| *left.min(&0)).sum::<i128>();
    (available, pending)
}
