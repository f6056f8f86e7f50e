//! Invoices under load and after a crash: each acknowledged invoice is charged once, whatever the balance is.

use serde_json::Value;

use crate::harness::{ApiAnswer, Client, TestDice};

use super::call_record::CreationCall;
use super::caller::post;
use super::inspection::assert_same;
use super::reckoning::{assert_replays, is_replay, taken_by};
use super::truth::{Fact, Truth};

/// An amount below those of top-ups, so that payouts are still accepted.
pub(super) fn amount(dice: &mut TestDice) -> u64 {
    dice.between(1, 1_000_000_000)
}

/// Makes the call, for the first time or again.
pub(super) fn ask(operator: &Client, asked: &CreationCall) -> ApiAnswer {
    post(operator, "/admin/charge-invoice", &asked.body, asked.key.as_deref())
}

/// The same key gives the same answer again.
pub(super) fn acknowledged(operator: &Client, asked: &CreationCall, id: &str) -> Fact {
    if asked.key.is_some() {
        assert_replays(&ask(operator, asked), id);
    }
    Fact::Invoice(id.to_owned(), asked.minor)
}

/// Repeats the call until the invoice is there once; true when the first call had taken effect.
pub(super) fn unknown(operator: &Client, asked: &CreationCall) -> (Fact, bool) {
    let first = ask(operator, asked);
    let (id, was_done) = match first.status {
        200 => (first.clone().id(), is_replay(&first)),
        _ => (taken_by(&first, "invoice_id"), true),
    };
    match &asked.key {
        Some(_) => assert_replays(&ask(operator, asked), &id),
        None => assert_eq!(taken_by(&ask(operator, asked), "invoice_id"), id, "asked a third time: {asked:?}"),
    }
    (Fact::Invoice(id, asked.minor), was_done)
}

/// One entry for each invoice, which is effective at once.
pub(super) fn check_entries(entries: &[Value], truth: &Truth) {
    let posted = entries.iter().filter(|entry| entry["type"] == "INVOICE");
    let own = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        (text("invoice_id"), entry["amount"].as_u64(), text("direction"), text("status"))
    };
    let mut found: Vec<_> = posted.map(own).collect();
    found.sort();
    let entry = |(id, minor): (&String, &u64)| (id.clone(), Some(*minor), "DEBIT".to_owned(), "EFFECTIVE".to_owned());
    assert_same("invoices in the ledger", &found, &truth.invoices.iter().map(entry).collect::<Vec<_>>());
}
