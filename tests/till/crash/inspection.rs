//! Compares everything that a server shows of its merchants with the expected state.

use std::collections::BTreeSet;
use std::fmt::Debug;

use serde_json::{Value, json};

use crate::harness::{PATIENCE, Server, Shop, first_answer};

use super::merchants::LoadedMerchant;
use super::payment::KnownPayment;
use super::reckoning::in_parallel;
use super::truth::Truth;
use super::{affairs_inspection, dispute_inspection, ledger_inspection, payout, refund_inspection};

/// Checks every merchant: refunds and captures last, because they take some time.
pub(super) fn inspect(server: &Server, merchants: &[LoadedMerchant], truths: &[Truth]) {
    for (merchant, truth) in merchants.iter().zip(truths) {
        check_absent(server, merchant, truth);
        check_sessions(server, merchant, truth);
        affairs_inspection::inspect(server, merchant, &truth.affairs);
    }
    for (merchant, truth) in merchants.iter().zip(truths) {
        let shop = merchant.shop.on(server);
        refund_inspection::inspect(server, merchant, truth);
        payout::inspect(&shop, truth);
        dispute_inspection::inspect(&shop, truth);
        check_payments(server, merchant, truth);
        check_activity(&shop, truth);
        ledger_inspection::inspect(&shop, merchant, truth);
    }
    let open = || server.metric("till_effects_open");
    eventually("an answer to every call to the acquirer", open, |open| *open == Some(0.0));
}

/// The first answer of `ask` for which `is_ready` holds.
pub(super) fn eventually<T: Debug>(what: &str, ask: impl FnMut() -> T, is_ready: impl Fn(&T) -> bool) -> T {
    first_answer(PATIENCE, &format!("{what} did not come about"), ask, is_ready)
}

/// Each payment is found by its id and by its external id, once no operation is open, and is as it was asked for.
fn check_payments(server: &Server, merchant: &LoadedMerchant, truth: &Truth) {
    let payments: Vec<(&String, &KnownPayment)> = truth.payments.iter().collect();
    let customers = in_parallel(&payments, |payments| {
        let shop = merchant.shop.on(server);
        let customers = payments.iter().map(|(id, payment)| {
            payment.assert_possible(id);
            let is_over = |found: &Value| found["status"] != "PENDING" && found["operation"].is_null();
            let found = eventually("an answer of the acquirer", || shop.payment(id), is_over);
            check_payment(&found, id, payment, merchant);
            if let Some(external_id) = &payment.sale.external_id {
                assert_eq!(shop.payment(external_id)["payment_id"], **id, "by external id {external_id}");
            }
            (payment.sale.customer.clone(), found["customer_id"].as_str().map(str::to_owned))
        });
        customers.collect()
    });
    check_customers(customers);
}

fn check_payment(found: &Value, id: &str, payment: &KnownPayment, merchant: &LoadedMerchant) {
    let (sale, status, captured) = (&payment.sale, payment.status(), payment.captured_minor());
    let costs = [("PAYMENT_FEE", merchant.fee_minor(captured)), ("INTEREST", sale.interest_minor(captured))];
    let costs = costs.into_iter().filter(|(_, minor)| *minor > 0);
    let fees: Vec<Value> =
        costs.map(|(kind, minor)| json!({ "type": kind, "amount": minor, "currency": "THB" })).collect();
    let expected = json!({
        "payment_id": id, "external_id": sale.external_id, "payment_session_id": sale.session, "amount": sale.minor,
        "status": status, "amount_captured": captured, "amount_refunded": payment.refunded_minor(),
        "amount_charged_back": payment.charged_back_minor(), "fees": fees,
        "failure_code": payment.failure(), "operation": null,
        "capturable": status == "AUTHORIZED", "voidable": status == "AUTHORIZED",
        "refundable": payment.is_refundable(),
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&found[name], value, "{name} of {found}: {payment:?}");
    }
    let refused = payment.refused_capture().map(|code| (json!("CAPTURE"), json!(code)));
    let last = &found["last_operation"];
    let shown = last.is_object().then(|| (last["kind"].clone(), last["failure_code"].clone()));
    assert_eq!(shown, refused, "last_operation of {found}: {payment:?}");
}

/// One customer for each of the merchant's identifiers, and one identifier for each customer.
fn check_customers(seen: Vec<(Option<String>, Option<String>)>) {
    let pairs: BTreeSet<(Option<String>, Option<String>)> = seen.into_iter().collect();
    let named: BTreeSet<&Option<String>> = pairs.iter().map(|(external_id, _)| external_id).collect();
    let own: BTreeSet<&Option<String>> = pairs.iter().map(|(_, own)| own).collect();
    assert_eq!((named.len(), own.len()), (pairs.len(), pairs.len()), "customers made twice or mixed up: {pairs:?}");
    assert!(pairs.iter().all(|(external_id, own)| external_id.is_some() == own.is_some()), "{pairs:?}");
}

fn check_absent(server: &Server, merchant: &LoadedMerchant, truth: &Truth) {
    let absent: Vec<&String> = truth.absent.iter().collect();
    in_parallel(&absent, |absent| {
        let shop = merchant.shop.on(server);
        for external_id in absent {
            shop.call("find-payment", &json!({ "payment_id": external_id })).refused("NOT_FOUND");
        }
        Vec::<()>::new()
    });
}

/// Sessions that no payment used are still active: a refused call has changed nothing.
fn check_sessions(server: &Server, merchant: &LoadedMerchant, truth: &Truth) {
    in_parallel(&truth.idle_sessions(), |sessions| {
        let shop = merchant.shop.on(server);
        for (id, minor) in sessions {
            let session = shop.sdk("retrieve-payment-session", &json!({ "payment_session_id": id })).ok();
            assert_eq!((&session["status"], &session["amount"]), (&json!("ACTIVE"), &json!(minor)), "{session}");
        }
        Vec::<()>::new()
    });
}

/// One entry for each operation on payments, refunds and disputes and for each change of team and plan, and no other.
fn check_activity(shop: &Shop, truth: &Truth) {
    let is_of_payment =
        |activity: &Value| matches!(activity["object_type"].as_str(), Some("PAYMENT" | "REFUND" | "DISPUTE"));
    let (found, others): (Vec<Value>, Vec<Value>) = shop.all("list-activity-logs").into_iter().partition(is_of_payment);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut found: Vec<(Option<String>, Option<String>, Option<String>)> = found
        .iter()
        .map(|entry| (text(&entry["activity_type"]), text(&entry["object_id"]), text(&entry["parent_id"])))
        .collect();
    found.sort();
    assert_same("payments, refunds and disputes in the activity log", &found, &expected_activity(truth));
    let (payouts, others): (Vec<Value>, Vec<Value>) =
        others.into_iter().partition(|activity| activity["object_type"] == "PAYOUT");
    payout::check_activity(&payouts, truth);
    affairs_inspection::check_activity(&others, &truth.affairs);
}

/// Type, object and parent of the expected entries, sorted.
fn expected_activity(truth: &Truth) -> Vec<(Option<String>, Option<String>, Option<String>)> {
    let mut expected = Vec::new();
    for (id, payment) in &truth.payments {
        let mut note = |activity: &str, object: &String, parent: Option<&String>| {
            expected.push((Some(activity.to_owned()), Some(object.clone()), parent.cloned()));
        };
        if payment.captured_minor() > 0 {
            note("PAYMENT_CAPTURED", id, None);
        }
        match payment.status() {
            "VOIDED" => note("PAYMENT_VOIDED", id, None),
            "REVERSED" | "REFUNDED" => note("PAYMENT_REVERSED", id, None),
            _ => {}
        }
        payment.refunds.keys().for_each(|refund_id| note("REFUND_CREATED", refund_id, Some(id)));
        for (dispute_id, dispute) in &payment.disputes {
            dispute.activities().into_iter().for_each(|activity| note(activity, dispute_id, Some(id)));
        }
    }
    expected.sort();
    expected
}

/// Compares two sorted lists; a failure names only the entries that are missing and those that are too much.
#[track_caller]
pub(super) fn assert_same<T: Ord + std::fmt::Debug>(what: &str, found: &[T], expected: &[T]) {
    if found != expected {
        let missing: Vec<&T> = expected.iter().filter(|item| found.binary_search(item).is_err()).take(5).collect();
        let too_much: Vec<&T> = found.iter().filter(|item| expected.binary_search(item).is_err()).take(5).collect();
        let (found, expected) = (found.len(), expected.len());
        panic!("{what}: {found} found, {expected} expected; missing {missing:?}, too much {too_much:?}");
    }
}
