//! Holds all that a server shows of its merchants against what must be there.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Server, Shop};

use super::affairs_inspection;
use super::deed::{Fate, Sale};
use super::merchants::Merchant;
use super::reckoning::in_parallel;
use super::truth::Truth;

/// How long timers may take to make captures effective that are due.
const SETTLEMENT_PATIENCE: Duration = Duration::from_secs(20);

/// Checks every merchant.
pub(super) fn inspect(server: &Server, merchants: &[Merchant], truths: &[Truth]) {
    for (merchant, truth) in merchants.iter().zip(truths) {
        check_payments(server, merchant, truth);
        check_absent(server, merchant, truth);
        check_sessions(server, merchant, truth);
        let shop = merchant.shop.on(server);
        affairs_inspection::inspect(server, merchant, &truth.affairs);
        check_activity(&shop, truth);
        let entries = entries(&shop, merchant);
        check_ledger(&entries, merchant, truth);
        check_balance(&shop, &entries);
    }
}

/// Each one by its id and by its external id, settled, and as it was asked for.
fn check_payments(server: &Server, merchant: &Merchant, truth: &Truth) {
    let payments: Vec<(&String, &Sale)> = truth.payments.iter().collect();
    let customers = in_parallel(&payments, |payments| {
        let shop = merchant.shop.on(server);
        let customers = payments.iter().map(|(id, sale)| {
            let payment = shop.settled(id);
            check_payment(&payment, id, sale, merchant);
            if let Some(external_id) = &sale.external_id {
                let found = shop.call("find-payment", &json!({ "payment_id": external_id })).ok();
                assert_eq!(found["payment_id"], **id, "by external id {external_id}");
            }
            (sale.customer.clone(), payment["customer_id"].as_str().map(str::to_owned))
        });
        customers.collect()
    });
    check_customers(customers);
}

fn check_payment(payment: &Value, id: &str, sale: &Sale, merchant: &Merchant) {
    let captured = if sale.is_captured() { sale.minor } else { 0 };
    let fee = if sale.is_captured() { merchant.fee_minor(sale.minor) } else { 0 };
    let fees = if fee == 0 { json!([]) } else { json!([{ "type": "PAYMENT_FEE", "amount": fee, "currency": "THB" }]) };
    let failure = match sale.fate {
        Fate::Approved => Value::Null,
        Fate::Declined(code) => json!(code),
    };
    let expected = json!({
        "payment_id": id, "external_id": sale.external_id, "payment_session_id": sale.session, "amount": sale.minor,
        "status": sale.status(), "amount_captured": captured, "fees": fees, "failure_code": failure,
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&payment[name], value, "{name} of {payment}");
    }
}

/// One customer for each of the merchant's identifiers, and one identifier for each customer.
fn check_customers(seen: Vec<(Option<String>, Option<String>)>) {
    let pairs: BTreeSet<(Option<String>, Option<String>)> = seen.into_iter().collect();
    let named: BTreeSet<&Option<String>> = pairs.iter().map(|(external_id, _)| external_id).collect();
    let own: BTreeSet<&Option<String>> = pairs.iter().map(|(_, own)| own).collect();
    assert_eq!((named.len(), own.len()), (pairs.len(), pairs.len()), "customers made twice or mixed up: {pairs:?}");
    assert!(pairs.iter().all(|(external_id, own)| external_id.is_some() == own.is_some()), "{pairs:?}");
}

fn check_absent(server: &Server, merchant: &Merchant, truth: &Truth) {
    let absent: Vec<&String> = truth.absent.iter().collect();
    in_parallel(&absent, |absent| {
        let shop = merchant.shop.on(server);
        for external_id in absent {
            shop.call("find-payment", &json!({ "payment_id": external_id })).refused("NOT_FOUND");
        }
        Vec::<()>::new()
    });
}

/// Those that no payment used are there and still active: a refused call has changed nothing.
fn check_sessions(server: &Server, merchant: &Merchant, truth: &Truth) {
    in_parallel(&truth.idle_sessions(), |sessions| {
        let shop = merchant.shop.on(server);
        for (id, minor) in sessions {
            let session = shop.sdk("retrieve-payment-session", &json!({ "payment_session_id": id })).ok();
            assert_eq!((&session["status"], &session["amount"]), (&json!("ACTIVE"), &json!(minor)), "{session}");
        }
        Vec::<()>::new()
    });
}

/// One PAYMENT_CAPTURED for each captured payment, one entry for each change of team and plan, and nothing else.
fn check_activity(shop: &Shop, truth: &Truth) {
    let captured = truth.payments.iter().filter(|(_, sale)| sale.is_captured()).map(|(id, _)| id.clone());
    let expected: Vec<String> = captured.collect();
    let is_capture = |activity: &Value| activity["activity_type"] == "PAYMENT_CAPTURED";
    let (captures, others): (Vec<Value>, Vec<Value>) = shop.all("list-activity-logs").into_iter().partition(is_capture);
    let object = |activity: &Value| activity["object_id"].as_str().expect("a captured payment").to_owned();
    let mut found: Vec<String> = captures.iter().map(object).collect();
    found.sort();
    assert_same("captured payments in the activity log", &found, &expected);
    affairs_inspection::check_activity(&others, &truth.affairs);
}

/// All entries; of a merchant that settles soon, once nothing is held any more.
fn entries(shop: &Shop, merchant: &Merchant) -> Vec<Value> {
    let until = Instant::now() + SETTLEMENT_PATIENCE;
    loop {
        let entries = shop.all("balance-history");
        if !merchant.settles_soon || entries.iter().all(|entry| entry["status"] == "EFFECTIVE") {
            return entries;
        }
        assert!(Instant::now() < until, "captures that are due do not become effective");
        thread::sleep(Duration::from_millis(20));
    }
}

fn check_ledger(entries: &[Value], merchant: &Merchant, truth: &Truth) {
    let ids: Vec<&str> = entries.iter().map(|entry| entry["entry_id"].as_str().expect("an id")).collect();
    assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "entries come newest first, each once");
    let amounts = |kind: &str| {
        let of_kind = entries.iter().filter(|entry| entry["type"] == kind);
        let mut amounts: Vec<u64> = of_kind.map(amount).collect();
        amounts.sort_unstable();
        amounts
    };
    let captures = || truth.payments.values().filter(|sale| sale.is_captured()).map(|sale| sale.minor);
    let mut captured: Vec<u64> = captures().collect();
    captured.sort_unstable();
    let mut fees: Vec<u64> = captures().map(|minor| merchant.fee_minor(minor)).filter(|fee| *fee > 0).collect();
    fees.sort_unstable();
    assert_same("captures in the ledger", &amounts("PAYMENT"), &captured);
    assert_same("fees in the ledger", &amounts("PAYMENT_FEE"), &fees);
    let others = entries.len() - captured.len() - fees.len();
    assert_eq!(others, amounts("ADD_PREFUND").len(), "entries of another type");
    check_topups(entries, truth);
}

/// Each that is known once, and beyond them only what may be there, once.
fn check_topups(entries: &[Value], truth: &Truth) {
    let topups = entries.iter().filter(|entry| entry["type"] == "ADD_PREFUND");
    let pair = |entry: &Value| (entry["topup_id"].as_str().expect("a top-up").to_owned(), amount(entry));
    let pairs: Vec<(String, u64)> = topups.map(pair).collect();
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

/// available = effective credits - effective debits - held debits other than fees; pending = held credits - held fees.
fn check_balance(shop: &Shop, entries: &[Value]) {
    let sum = |status: &str, direction: &str, is_fee: bool| -> i128 {
        let wanted = |entry: &&Value| {
            let fee = entry["type"] == "PAYMENT_FEE";
            entry["status"] == status && entry["direction"] == direction && fee == is_fee
        };
        entries.iter().filter(wanted).map(|entry| i128::from(amount(entry))).sum()
    };
    let effective =
        sum("EFFECTIVE", "CREDIT", false) - sum("EFFECTIVE", "DEBIT", false) - sum("EFFECTIVE", "DEBIT", true);
    let available = effective - sum("ON_HOLD", "DEBIT", false);
    let pending = sum("ON_HOLD", "CREDIT", false) - sum("ON_HOLD", "DEBIT", true);
    let balance = shop.call("get-balance", &json!({})).ok();
    let shown = |name: &str| i128::from(balance[name].as_i64().expect("an integer"));
    assert_eq!((shown("available"), shown("pending")), (available, pending), "{balance}");
}

fn amount(entry: &Value) -> u64 {
    entry["amount"].as_u64().expect("an amount")
}

/// Both are sorted; says what is missing and what is too much, not everything.
#[track_caller]
pub(super) fn assert_same<T: Ord + std::fmt::Debug>(what: &str, found: &[T], expected: &[T]) {
    if found != expected {
        let missing: Vec<&T> = expected.iter().filter(|item| found.binary_search(item).is_err()).take(5).collect();
        let too_much: Vec<&T> = found.iter().filter(|item| expected.binary_search(item).is_err()).take(5).collect();
        let (found, expected) = (found.len(), expected.len());
        panic!("{what}: {found} found, {expected} expected; missing {missing:?}, too much {too_much:?}");
    }
}
