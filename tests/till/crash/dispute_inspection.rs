//! Compares the disputes that a server shows with the expected ones.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::Shop;

use super::dispute::{End, LOSING, WINNING};
use super::dispute_reckoning::of_payment;
use super::inspection::{assert_same, eventually};
use super::truth::{Disputed, Truth};

/// Seconds in which evidence must be submitted.
const EVIDENCE_SECONDS: u64 = 7 * 86_400;

/// The statuses by which disputes are listed.
const STATUSES: [&str; 6] = ["OPEN", "CHALLENGED", "ESCALATED", "WON", "LOST", "CONCEDED"];

/// Checks all disputes, once the acquirer has decided those with decisive evidence.
pub(super) fn inspect(shop: &Shop, truth: &Truth) {
    let waits = |dispute: &Value| {
        let decides = dispute["evidence"] == WINNING || dispute["evidence"] == LOSING;
        decides && dispute["closed_at"].is_null()
    };
    let list = || shop.all("list-disputes");
    let disputes = eventually("the decision by evidence", list, |disputes| !disputes.iter().any(waits));
    disputes.iter().for_each(check_times);
    let mut found: Vec<String> = disputes.iter().map(as_text).collect();
    found.sort();
    let mut expected: Vec<String> = truth.disputes().map(|it| as_text(&expected_of(it))).collect();
    expected.sort();
    assert_same("disputes", &found, &expected);
    check_selections(shop, truth);
}

fn check_times(dispute: &Value) {
    let seconds = |name: &str| dispute[name].as_u64();
    let due = seconds("created_at").map(|created_at| created_at + EVIDENCE_SECONDS);
    assert_eq!(seconds("evidence_due_at"), due, "{dispute}");
    let is_over = matches!(dispute["status"].as_str(), Some("WON" | "LOST" | "CONCEDED"));
    assert_eq!(seconds("closed_at").is_some(), is_over, "{dispute}");
}

fn expected_of(Disputed { payment_id, payment, id, dispute }: Disputed<'_>) -> Value {
    let opening = dispute.opening();
    json!({
        "dispute_id": id, "payment_id": payment_id, "external_id": payment.sale.external_id, "status": dispute.status(),
        "reason": opening.reason, "amount": opening.minor, "currency": "THB", "evidence": dispute.evidence(),
    })
}

fn as_text(dispute: &Value) -> String {
    let members = ["dispute_id", "payment_id", "external_id", "status", "reason", "amount", "currency", "evidence"];
    members.map(|member| format!("{member} {}", dispute[member])).join(", ")
}

/// Each dispute is listed under its status and under its payment, and nowhere else.
fn check_selections(shop: &Shop, truth: &Truth) {
    for status in STATUSES {
        let with_status = truth.disputes().filter(|disputed| disputed.dispute.status() == status);
        let expected = sorted(with_status.map(|disputed| disputed.id.to_owned()));
        let found = ids(&shop.all_of("list-disputes", &json!({ "status": status })));
        assert_same(&format!("disputes that are {status}"), &found, &expected);
    }
    for (payment_id, payment) in truth.payments.iter().filter(|(_, payment)| !payment.disputes.is_empty()) {
        let expected = sorted(payment.disputes.keys().cloned());
        assert_same(&format!("disputes of {payment_id}"), &ids(&of_payment(shop, payment_id)), &expected);
    }
}

fn ids(disputes: &[Value]) -> Vec<String> {
    sorted(disputes.iter().map(|dispute| dispute["dispute_id"].as_str().expect("an id").to_owned()))
}

fn sorted(ids: impl Iterator<Item = String>) -> Vec<String> {
    let mut ids: Vec<String> = ids.collect();
    ids.sort();
    ids
}

/// True for the entry of an undecided dispute, which is on hold until the decision.
pub(super) fn is_undecided(entry: &Value, truth: &Truth) -> bool {
    let undecided = |it: Disputed<'_>| entry["dispute_id"] == *it.id && it.dispute.end().is_none();
    entry["type"] == "DISPUTE" && truth.disputes().any(undecided)
}

/// One entry for each dispute: on hold, canceled, or charged back, and then on hold or effective with its capture.
pub(super) fn check_entries(entries: &[Value], truth: &Truth) {
    let captures: BTreeMap<&str, &Value> = entries
        .iter()
        .filter(|entry| entry["type"] == "PAYMENT")
        .map(|entry| (text(entry, "payment_id"), entry))
        .collect();
    let posted: Vec<&Value> = entries.iter().filter(|entry| entry["type"] == "DISPUTE").collect();
    let mut found: Vec<String> = posted.iter().map(|entry| entry_as_text(entry)).collect();
    found.sort();
    let entry = |Disputed { payment_id, payment, id, dispute }: Disputed<'_>| {
        let capture = captures.get(payment_id).unwrap_or_else(|| panic!("no capture of {id}: {payment:?}"));
        let status = match dispute.end() {
            None => "ON_HOLD",
            Some(End::Won) => "CANCELED",
            Some(End::Lost | End::Conceded) => text(capture, "status"),
        };
        entry_as_text(&json!({
            "direction": "DEBIT", "dispute_id": id, "payment_id": payment_id, "parent_id": payment_id,
            "parent_type": "PAYMENT", "amount": dispute.opening().minor, "status": status,
        }))
    };
    let mut expected: Vec<String> = truth.disputes().map(entry).collect();
    expected.sort();
    assert_same("disputes in the ledger", &found, &expected);
    for entry in posted.into_iter().filter(|entry| entry["status"] == "EFFECTIVE") {
        let capture = captures[text(entry, "payment_id")];
        assert!(capture["effective_at"].as_u64() <= entry["effective_at"].as_u64(), "{entry} before {capture}");
    }
}

fn entry_as_text(entry: &Value) -> String {
    let members = ["dispute_id", "direction", "payment_id", "parent_id", "parent_type", "amount", "status"];
    members.map(|member| format!("{member} {}", entry[member])).join(", ")
}

fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry[name].as_str().unwrap_or_else(|| panic!("no {name} in {entry}"))
}
