//! Refunds: whole, in parts, several at once, before and after settlement.

use crate::words::*;
use crate::world::{ScenarioWorld, assert_legs};
use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor};
use till_domain::effect::{EffectId, EffectKind, Timer, TimerKind};
use till_domain::event::Answer;
use till_domain::ids::{PaymentId, RefundId};
use till_domain::ledger::{Account, Cause, Direction, EntryStatus, EntryType};
use till_domain::merchant::SETTLEMENT_DELAY_DEFAULT_SECONDS;
use till_domain::payment::PaymentStatus;
use till_domain::records::{Activities, Effects, RefundsByExternalId, Transactions};
use till_domain::refund::RefundStatus;
use till_domain::refusal::Refusal;

const CHANGED: Answer = Answer::Changed(true);
const UNCHANGED: Answer = Answer::Changed(false);

/// The available and the pending balance.
fn entry_status(world: &ScenarioWorld, id: RefundId) -> EntryStatus {
    world.look_up::<Transactions>(world.refund_row(id).transaction_id).status
}

fn not_covered(available_minor: i64, pending_minor: i64, is_reversible: bool) -> Refusal {
    Refusal::RefundNotCovered { available_minor, pending_minor, is_reversible }
}

fn not_refundable(status: PaymentStatus) -> Refusal {
    Refusal::NotRefundable { status, operation: None }
}

#[test]
fn an_accepted_refund_is_on_hold_and_sent_to_the_acquirer() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    world.after_seconds(1);
    let refund_id = world.refund(refund(id).part(4_000).external_id("back-1").because("too small"));
    let refund = world.refund_row(refund_id);
    assert_eq!((refund.payment_id, refund.status, refund.money), (id, RefundStatus::Pending, thb(4_000)));
    assert_eq!((refund.is_full, refund.created_at, refund.refunded_at), (false, world.clock, None));
    assert_eq!(refund.reason.as_ref().map(|reason| reason.as_str()), Some("too small"));
    assert_eq!(world.find::<RefundsByExternalId>(external("back-1")), Some(refund_id));
    let effect = world.look_up::<Effects>(EffectId { payment_id: id, refund_id: Some(refund_id) });
    assert_eq!((effect.kind, effect.opened_at), (EffectKind::Refund(refund_id), world.clock));
    let transaction = world.look_up::<Transactions>(refund.transaction_id);
    assert_eq!((transaction.cause, transaction.status), (Cause::Refund(id, refund_id), EntryStatus::OnHold));
    assert_legs(
        &transaction,
        &[
            (Account::Balance, Direction::Debit, EntryType::Refund, 4_000),
            (Account::AcquirerClearing, Direction::Credit, EntryType::Refund, 4_000),
        ],
    );
    assert_eq!((world.balance(), world.payment_row(id).refunded_minor), ((6_000, 0), 4_000));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Successful, "the status moves on confirmation");
}

#[test]
fn a_refund_is_an_activity_of_its_caller_below_its_payment() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let refund_id = world.refund(refund(id).part(1));
    let Activity { activity_type, actor, object, parent, .. } = world.all::<Activities>().pop().expect("the refund");
    assert_eq!((activity_type, actor), (ActivityType::RefundCreated, Actor::ApiKey(world.first_key())));
    assert_eq!((object, parent), (ActivityObject::Refund(refund_id), Some(id)));
}

#[test]
fn a_confirmed_refund_of_settled_money_is_effective_at_once() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let refund_id = world.refund(refund(id).part(4_000));
    world.after_seconds(9);
    world.when(refund_done(refund_id)).answers(CHANGED);
    let refund = world.refund_row(refund_id);
    assert_eq!((refund.status, refund.refunded_at), (RefundStatus::Successful, Some(world.clock)));
    assert_eq!(refund.acquirer_reference.as_deref(), Some("acquirer:1"));
    assert_eq!((entry_status(&world, refund_id), world.balance()), (EntryStatus::Effective, (6_000, 0)));
    assert_eq!(world.payment_row(id).status, PaymentStatus::PartiallyRefunded);
    assert_eq!(world.find::<Effects>(refund.effect().id()), None);
}

#[test]
fn a_confirmed_refund_of_held_money_settles_with_its_capture() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let settles_at = world.timers()[0].due;
    let refund_id = world.refund(refund(id).part(4_000));
    assert_eq!(world.balance(), (0, 5_900));
    world.given(refund_done(refund_id));
    assert_eq!((entry_status(&world, refund_id), world.balance()), (EntryStatus::OnHold, (0, 5_900)));
    let timer = Timer { due: settles_at, kind: TimerKind::Settle(world.refund_row(refund_id).transaction_id) };
    assert!(world.timers().contains(&timer));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    assert_eq!((entry_status(&world, refund_id), world.balance()), (EntryStatus::Effective, (5_900, 0)));
    assert_eq!(world.timers_of_payments(), []);
}

#[test]
fn a_refund_whose_timer_fires_alone_waits_for_its_capture() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let refund_id = world.refund(refund(id).part(4_000));
    world.given(refund_done(refund_id));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    let of_refund = TimerKind::Settle(world.refund_row(refund_id).transaction_id);
    let alone: Vec<Timer> = world.timers().into_iter().filter(|timer| timer.kind == of_refund).collect();
    world.when(fire(alone)).changes_nothing(UNCHANGED);
    world.fire_all();
    assert_eq!((entry_status(&world, refund_id), world.balance()), (EntryStatus::Effective, (5_900, 0)));
}

#[test]
fn a_refund_pending_at_settlement_counts_meanwhile() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let refund_id = world.refund(refund(id).part(4_000));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    assert_eq!((entry_status(&world, refund_id), world.balance()), (EntryStatus::OnHold, (5_900, 0)));
    world.given(refund_done(refund_id));
    assert_eq!((entry_status(&world, refund_id), world.balance()), (EntryStatus::Effective, (5_900, 0)));
}

#[test]
fn a_failed_refund_returns_its_money_and_can_be_requested_again() {
    for settles in [false, true] {
        let mut world = ScenarioWorld::with_fees();
        let id = if settles { world.settled() } else { world.held() };
        let before = world.balance();
        let refund_id = world.refund(refund(id).part(4_000));
        world.when(refund_answered(refund_id, refused())).answers(CHANGED);
        let row = world.refund_row(refund_id);
        assert_eq!((row.status, row.failure), (RefundStatus::Failed, Some(refusal_by_acquirer())));
        assert_eq!((entry_status(&world, refund_id), world.balance()), (EntryStatus::Canceled, before));
        assert_eq!(
            (world.payment_row(id).refunded_minor, world.payment_row(id).status),
            (0, PaymentStatus::Successful)
        );
        world.when(refund(id).part(9_900)).takes_effect();
    }
}

#[test]
fn a_refund_that_fails_after_settlement_returns_its_amount() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let refund_id = world.refund(refund(id).part(9_900));
    assert_eq!(world.balance(), (0, 0));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    assert_eq!(world.balance(), (0, 0));
    world.given(refund_answered(refund_id, refused()));
    assert_eq!(world.balance(), (9_900, 0));
}

#[test]
fn the_last_refund_reverses_the_payment_for_its_caller() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let first = world.refund(refund(id).part(4_000));
    let rest = world.refund(Ask::from(refund(id)).by(TestCaller::Operator));
    assert_eq!(world.refund_row(rest).money, thb(6_000), "all that is left");
    world.given(refund_done(rest));
    assert_eq!(world.payment_row(id).status, PaymentStatus::PartiallyRefunded);
    world.given(refund_done(first));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Refunded);
    let Activity { activity_type, actor, object, .. } = world.all::<Activities>().pop().expect("the reversal");
    assert_eq!((activity_type, actor), (ActivityType::PaymentReversed, Actor::ApiKey(world.first_key())));
    assert_eq!(object, ActivityObject::Payment(id));
}

#[test]
fn a_refund_of_the_whole_capture_is_full_and_two_halves_are_not() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture_part(id, 4_000));
    world.given(capture_done(id));
    let whole = world.refund(refund(id));
    assert!(world.refund_row(whole).is_full, "of what was captured, not of what was authorized");
    let id = world.settled();
    let halves = [world.refund(refund(id).part(5_000)), world.refund(refund(id))];
    assert!(halves.iter().all(|half| !world.refund_row(*half).is_full));
}

#[test]
fn refunds_never_exceed_the_rest_of_the_capture() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    world.given(refund(id).part(4_000));
    world.when(refund(id).part(6_001)).refused(Refusal::AmountExceedsPayment { limit_minor: 6_000 });
    let taken = (0..100).filter(|_| world.step(&refund(id).part(100).into()).is_ok()).count();
    assert_eq!(taken, 60);
    world.when(refund(id)).refused(not_refundable(PaymentStatus::Successful));
    world.when(refund(id).part(1)).refused(not_refundable(PaymentStatus::Successful));
}

#[test]
fn a_refund_that_is_not_confirmed_counts_as_refunded() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let open = world.refund(refund(id));
    world.when(refund(id)).refused(not_refundable(PaymentStatus::Successful));
    world.given(refund_done(open));
    world.when(refund(id)).refused(not_refundable(PaymentStatus::Refunded));
}

#[test]
fn a_refund_of_held_money_needs_the_balance_only_for_the_excess() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let reversible = |available_minor| not_covered(available_minor, 9_900, true);
    world.when(refund(id)).refused(reversible(0));
    world.when(refund(id).part(9_901)).refused(reversible(0));
    world.given(topup(99));
    world.when(refund(id)).refused(reversible(99));
    world.given(topup(1));
    world.when(refund(id)).takes_effect();
    assert_eq!(world.balance(), (0, 0));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    assert_eq!(world.balance(), (0, 0));
}

#[test]
fn the_excess_of_a_refund_is_covered_by_other_captures_on_hold() {
    let mut world = ScenarioWorld::with_fees();
    let (id, _other) = (world.held(), world.held());
    world.when(refund(id)).takes_effect();
    assert_eq!(world.balance(), (-100, 9_900));
    world.when(payout(1)).refused(Refusal::InsufficientBalance { available_minor: -100 });
    settle_all(&mut world);
    assert_eq!(world.balance(), (9_800, 0));
}

#[test]
fn a_refund_of_settled_money_is_covered_by_captures_on_hold() {
    let (mut world, settled) = ScenarioWorld::open_with(ScenarioWorld::settled);
    world.given(payout(10_000));
    world.when(refund(settled).part(1)).refused(not_covered(0, 0, false));
    let held = world.held();
    world.given(refund(held).part(4_000));
    world.when(refund(settled).part(6_001)).refused(not_covered(0, 6_000, false));
    world.when(refund(settled).part(6_000)).takes_effect();
    assert_eq!(world.balance(), (-6_000, 6_000));
    world.when(refund(settled).part(1)).refused(not_covered(-6_000, 6_000, false));
    world.when(refund(held).part(6_000)).takes_effect();
    assert_eq!(world.balance(), (-6_000, 0), "what is left of its own capture needs no balance");
}

#[test]
fn a_refund_that_is_not_covered_says_when_a_reversal_is_possible() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    world.when(refund(id)).refused(not_covered(0, 9_900, true));
    world.given(refund(id).part(1));
    world.when(refund(id)).refused(not_covered(0, 9_899, false));
}

fn settle_all(world: &mut ScenarioWorld) {
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
}

#[test]
fn a_refund_of_settled_money_needs_the_balance() {
    let mut world = ScenarioWorld::with_fees();
    let id = world.settled();
    world.when(refund(id)).refused(not_covered(9_900, 0, false));
    world.when(refund(id).part(9_900)).takes_effect();
    world.when(refund(id)).refused(not_covered(0, 0, false));
}

#[test]
fn a_refund_is_judged_in_the_order_of_the_contract() {
    let mut world = ScenarioWorld::with_fees();
    let (pending, id) = (world.authorized_payment(), world.settled());
    let first = world.refund(refund(id).part(1).external_id("back-1"));
    let taken = Refusal::RefundExternalIdTaken { refund_id: first };
    let unknown = crate::world::raw_id(9, PaymentId::from_raw);
    world.when(refund(unknown).external_id("back-1")).refused(Refusal::PaymentNotFound);
    world.when(refund(pending).part(99_999).external_id("back-1")).refused(taken);
    world.when(refund(pending).part(99_999)).refused(not_refundable(PaymentStatus::Authorized));
    world.when(refund(id).part(99_999)).refused(Refusal::AmountExceedsPayment { limit_minor: 9_999 });
    world.when(refund(id).part(9_999)).refused(not_covered(9_899, 0, false));
}

#[test]
fn a_refunds_external_id_is_taken_even_when_the_refund_failed() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let refund_id = world.refund(refund(id).part(1).external_id("back-1"));
    world.given(refund_answered(refund_id, refused()));
    world.when(refund(id).part(1).external_id("back-1")).refused(Refusal::RefundExternalIdTaken { refund_id });
    world.when(refund(id).part(1).external_id("back-2")).takes_effect();
}

#[test]
fn a_payment_is_refunded_by_the_merchants_own_reference() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.captured(initiate(session).external_id("order-1"));
    let refund_id = world.refund(refund(crate::world::raw_id(9, PaymentId::from_raw)).of_payment_known_as("order-1"));
    assert_eq!(world.refund_row(refund_id).payment_id, id);
}

#[test]
fn an_answer_to_a_refund_that_has_ended_changes_nothing() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let (done, failed) = (world.refund(refund(id).part(1)), world.refund(refund(id).part(2)));
    world.given(refund_done(done));
    world.given(refund_answered(failed, refused()));
    for refund_id in [done, failed, crate::world::raw_id(9, RefundId::from_raw)] {
        world.when(refund_done(refund_id)).changes_nothing(UNCHANGED);
        world.when(refund_answered(refund_id, refused())).changes_nothing(UNCHANGED);
    }
}

#[test]
fn a_suspended_merchant_refunds() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    world.given(suspend());
    world.when(refund(id)).takes_effect();
}

#[test]
fn a_named_refund_is_made_once() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let ask = Ask::from(refund(id).part(1)).named("call-1");
    let refund_id = world.refund(ask.clone());
    world.given(refund_answered(refund_id, refused()));
    world.when(ask).replays(Answer::Refund(refund_id));
}
