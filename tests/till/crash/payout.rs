//! Payouts under load and after a crash: each accepted payout is there once, and its amount determines its end.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Shop, TestDice};

use super::call_record::{CallOutcome, CreationCall};
use super::caller::post;
use super::inspection::{assert_same, eventually};
use super::reckoning::{assert_replays, find, is_replay, taken_by};
use super::truth::{Fact, Truth};

/// The last two digits of amounts whose payouts fail, and of those that wait for the operator.
const FAILS: u64 = 99;
const WAITS: u64 = 98;

/// An accepted payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payout {
    pub(super) minor: u64,
    pub(super) external_id: Option<String>,
}

impl Payout {
    /// The code with which the payout fails; None when it succeeds.
    pub(super) const fn failure(&self) -> Option<&'static str> {
        if self.minor % 100 == FAILS { Some("payout_failed") } else { None }
    }
}

/// An amount whose payout does not wait for the operator, and fails one time in five.
pub(super) fn amount(dice: &mut TestDice) -> u64 {
    let minor = dice.between(1, 1_000_000_000);
    if minor % 100 == WAITS || dice.in_hundred(20) { minor - minor % 100 + FAILS } else { minor }
}

/// Makes the call, for the first time or again.
pub(super) fn ask(shop: &Shop, asked: &CreationCall) -> ApiAnswer {
    post(&shop.client(), "/merchants/send-payout", &asked.body, asked.key.as_deref())
}

/// Reads the answer. The balance may not cover the payout.
#[track_caller]
pub(super) fn outcome(answer: &ApiAnswer) -> CallOutcome {
    if is_refused(answer) { CallOutcome::NotDone } else { CallOutcome::of(answer) }
}

fn is_refused(answer: &ApiAnswer) -> bool {
    answer.status == 400 && answer.code() == "INSUFFICIENT_BALANCE"
}

/// The same key gives the same answer again.
pub(super) fn acknowledged(shop: &Shop, asked: &CreationCall, id: &str) -> Fact {
    if asked.key.is_some() {
        assert_replays(&ask(shop, asked), id);
    }
    fact(asked, id)
}

/// Repeats the call until its result is known; true when the first call had taken effect.
pub(super) fn unknown(shop: &Shop, asked: &CreationCall) -> (Option<Fact>, bool) {
    let before = asked.external_id.as_deref().and_then(|external_id| find(shop, "payout", external_id));
    let first = ask(shop, asked);
    if is_refused(&first) {
        assert_eq!(before, None, "a payout that is there is answered: {asked:?}");
        return (not_done(asked), false);
    }
    let (id, was_done) = match first.status {
        200 => (first.clone().id(), is_replay(&first)),
        _ => (taken_by(&first, "payout_id"), true),
    };
    if asked.external_id.is_some() {
        assert_eq!(before, was_done.then(|| id.clone()), "by external id and asked again: {asked:?}");
    }
    match &asked.key {
        Some(_) => assert_replays(&ask(shop, asked), &id),
        None => assert_eq!(taken_by(&ask(shop, asked), "payout_id"), id, "asked a third time: {asked:?}"),
    }
    (Some(fact(asked, &id)), was_done)
}

/// A call that was not done: its external id is free.
pub(super) fn not_done(asked: &CreationCall) -> Option<Fact> {
    asked.external_id.clone().map(Fact::NoPayout)
}

fn fact(asked: &CreationCall, id: &str) -> Fact {
    Fact::Payout(id.to_owned(), Payout { minor: asked.minor, external_id: asked.external_id.clone() })
}

/// Checks all payouts of a merchant, once the acquirer has answered: the accepted ones as they were asked for, and no
/// other.
pub(super) fn inspect(shop: &Shop, truth: &Truth) {
    let pending = || shop.call("list-payouts", &json!({ "status": "PENDING" })).ok();
    eventually("the end of every payout", pending, |page| page["page"] == json!([]));
    let mut found: Vec<String> = shop.all("list-payouts").iter().map(as_text).collect();
    found.sort();
    let mut expected: Vec<String> =
        truth.payouts.iter().map(|(id, payout)| as_text(&expected_of(id, payout))).collect();
    expected.sort();
    assert_same("payouts", &found, &expected);
    for (id, payout) in &truth.payouts {
        let name = payout.external_id.as_deref().unwrap_or(id);
        assert_eq!(shop.call("find-payout", &json!({ "payout_id": name })).ok()["payout_id"], *id);
    }
    for external_id in &truth.absent_payouts {
        shop.call("find-payout", &json!({ "payout_id": external_id })).refused("NOT_FOUND");
    }
}

fn expected_of(id: &str, payout: &Payout) -> Value {
    let failure = payout.failure();
    json!({
        "payout_id": id, "external_id": payout.external_id, "amount": payout.minor,
        "status": if failure.is_some() { "FAILED" } else { "SUCCESSFUL" }, "failure_code": failure,
    })
}

/// The members of a payout that its call and its end determine.
fn as_text(payout: &Value) -> String {
    let members = ["payout_id", "external_id", "amount", "status", "failure_code"];
    members.map(|member| format!("{member} {}", payout[member])).join(", ")
}

/// One entry for each payout, which is canceled where the payout failed.
pub(super) fn check_entries(entries: &[Value], truth: &Truth) {
    let posted = entries.iter().filter(|entry| entry["type"] == "PAY_OUT");
    let own = |entry: &Value| {
        let id = entry["payout_id"].as_str().unwrap_or_default().to_owned();
        (id, entry["amount"].as_u64(), entry["status"].as_str().unwrap_or_default().to_owned())
    };
    let mut found: Vec<_> = posted.map(own).collect();
    found.sort();
    let status = |payout: &Payout| if payout.failure().is_some() { "CANCELED" } else { "EFFECTIVE" };
    let expected = truth.payouts.iter().map(|(id, payout)| (id.clone(), Some(payout.minor), status(payout).to_owned()));
    assert_same("payouts in the ledger", &found, &expected.collect::<Vec<_>>());
}

/// One entry of the activity log for each payout.
pub(super) fn check_activity(activity: &[Value], truth: &Truth) {
    let mut found: Vec<&str> = activity.iter().map(|entry| entry["object_id"].as_str().expect("an id")).collect();
    found.sort_unstable();
    let expected: Vec<&str> = truth.payouts.keys().map(String::as_str).collect();
    assert_same("payouts in the activity log", &found, &expected);
    assert!(activity.iter().all(|entry| entry["activity_type"] == "PAYOUT_CREATED"), "{activity:?}");
}
