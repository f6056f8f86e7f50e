//! After a crash: an acknowledged call has moved its money once, and a call that was not acknowledged is repeated until
//! its result is known.

use serde_json::json;

use crate::harness::Shop;

use super::call_record::answer_text;
use super::movement::{Movement, MovementKind};
use super::payment::{Accepted, Refund};
use super::reckoning::{assert_replays, find, is_replay, taken_by};
use super::truth::Fact;

/// The result of a repeated call.
pub(super) struct RepeatedMovement {
    pub(super) fact: Option<Fact>,
    /// True when the first call had been carried out.
    pub(super) was_done: bool,
}

/// The same key gives the same answer again.
pub(super) fn acknowledged(shop: &Shop, movement: &Movement, answered: &str) -> Fact {
    if movement.key.is_some() {
        assert_replays(&movement.ask(&shop.client()), answered);
    }
    accepted(shop, movement, answered)
}

/// Repeats the call until its result is known.
pub(super) fn unknown(shop: &Shop, movement: &Movement) -> RepeatedMovement {
    let before = movement.external_id().and_then(|external_id| find(shop, "refund", external_id));
    let first = movement.ask(&shop.client());
    if movement.is_refused_by(&first) {
        assert_eq!(before, None, "a refund that is there is answered: {movement:?}");
        return RepeatedMovement { fact: not_accepted(movement), was_done: false };
    }
    let (answered, was_done) = match &movement.key {
        Some(_) => (answer_text(&first.clone().ok()), is_replay(&first)),
        None if first.status == 200 => (first.clone().id(), false),
        None => (taken_by(&first, "refund_id"), true),
    };
    if movement.external_id().is_some() {
        assert_eq!(before, was_done.then(|| answered.clone()), "by external id and asked again: {movement:?}");
    }
    match &movement.key {
        Some(_) => assert_replays(&movement.ask(&shop.client()), &answered),
        None => assert_eq!(
            taken_by(&movement.ask(&shop.client()), "refund_id"),
            answered,
            "asked a third time: {movement:?}"
        ),
    }
    RepeatedMovement { fact: Some(accepted(shop, movement, &answered)), was_done }
}

/// A call that was not done: its external id is free.
pub(super) fn not_accepted(movement: &Movement) -> Option<Fact> {
    movement.external_id().cloned().map(Fact::NoRefund)
}

fn accepted(shop: &Shop, movement: &Movement, answered: &str) -> Fact {
    let accepted = match &movement.kind {
        MovementKind::Capture { minor } => Accepted::Capture(*minor),
        MovementKind::Void => Accepted::Void,
        MovementKind::Reverse => Accepted::Reversal,
        MovementKind::Refund { minor, external_id } => {
            let refund =
                Refund { minor: minor.unwrap_or_else(|| amount(shop, answered)), external_id: external_id.clone() };
            Accepted::Refund(answered.to_owned(), refund)
        }
    };
    let is_refund = matches!(accepted, Accepted::Refund(..));
    assert!(is_refund || answered == "true", "{movement:?} was answered {answered}");
    Fact::Accepted(movement.payment_id.clone(), accepted)
}

/// The amount of a refund that was asked for without one.
fn amount(shop: &Shop, refund_id: &str) -> u64 {
    let refund = shop.call("find-refund", &json!({ "refund_id": refund_id })).ok();
    refund["amount"].as_u64().expect("an amount")
}
