//! Disputes: opened, challenged, escalated, conceded, won and lost, in parts, beside refunds, before and after
//! settlement.

use crate::words::*;
use crate::world::{ScenarioWorld, assert_legs, raw_id};
use till_domain::activity::{ActivityObject, ActivityType, Actor};
use till_domain::command::EvidenceResult;
use till_domain::dispute::{Dispute, DisputeOutcome, DisputeStatus, EVIDENCE_SECONDS};
use till_domain::effect::{Timer, TimerKind};
use till_domain::event::Answer;
use till_domain::ids::{DisputeId, PaymentId};
use till_domain::ledger::{Account, Cause, Direction, EntryStatus, EntryType};
use till_domain::merchant::{PaymentMethod, SETTLEMENT_DELAY_DEFAULT_SECONDS};
use till_domain::payment::PaymentStatus;
use till_domain::records::{Activities, Disputes, OpenEvidence, Transactions, WebhookEvents};
use till_domain::refusal::Refusal;
use till_domain::session::InterestBearer;

const CHANGED: Answer = Answer::Changed(true);
const UNCHANGED: Answer = Answer::Changed(false);

/// The available and the pending balance.
fn row(world: &ScenarioWorld, id: DisputeId) -> Dispute {
    world.look_up::<Disputes>(id)
}

fn entry_status(world: &ScenarioWorld, id: DisputeId) -> EntryStatus {
    world.look_up::<Transactions>(row(world, id).transaction_id).status
}

fn status(world: &ScenarioWorld, id: PaymentId) -> PaymentStatus {
    world.payment_row(id).status
}

/// The types of the activities, oldest first, without the capture's.
fn logged(world: &ScenarioWorld) -> Vec<(ActivityType, Actor)> {
    let activities = world.all::<Activities>().into_iter();
    let others = activities.filter(|activity| activity.activity_type != ActivityType::PaymentCaptured);
    others.map(|activity| (activity.activity_type, activity.actor)).collect()
}

/// The names and the statuses of the webhook events, oldest first, without the payment's completion.
fn webhook_events(world: &ScenarioWorld) -> Vec<(&'static str, &'static str)> {
    let events = world.all::<WebhookEvents>().into_iter();
    events.map(|event| (event.kind.name(), event.object.status())).skip(1).collect()
}

fn refused_as(status: DisputeStatus) -> Refusal {
    Refusal::DisputeState { status, has_evidence: false }
}

#[test]
fn a_dispute_holds_its_amount_and_may_overdraw_the_balance() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    world.given(payout(9_000));
    let dispute_id = world.dispute(dispute(id));
    let dispute = row(&world, dispute_id);
    assert_eq!((dispute.payment_id, dispute.status, dispute.money), (id, DisputeStatus::Open, thb(10_000)));
    assert_eq!(dispute.reason.as_ref().map(|reason| reason.as_str()), Some("goods not received"));
    assert_eq!(dispute.evidence_due_at, world.clock.plus_seconds(EVIDENCE_SECONDS));
    assert_eq!((dispute.evidence, dispute.closed_at), (None, None));
    let transaction = world.look_up::<Transactions>(dispute.transaction_id);
    assert_eq!((transaction.cause, transaction.status), (Cause::Dispute(id, dispute_id), EntryStatus::OnHold));
    assert_legs(
        &transaction,
        &[
            (Account::Balance, Direction::Debit, EntryType::Dispute, 10_000),
            (Account::AcquirerClearing, Direction::Credit, EntryType::Dispute, 10_000),
        ],
    );
    assert_eq!((status(&world, id), world.balance()), (PaymentStatus::Disputed, (-9_000, 0)));
    assert_eq!(webhook_events(&world), [("DISPUTE_OPENED", "OPEN")]);
    assert_eq!(logged(&world).len(), 1, "the payout alone: no type of activity is for an opened dispute");
}

#[test]
fn a_dispute_of_money_on_hold_nets_out_with_its_capture_first() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    world.given(topup(500));
    world.given(payout(300));
    assert_eq!(world.balance(), (200, 9_900));
    let dispute_id = world.dispute(dispute(id));
    assert_eq!(world.balance(), (100, 0), "the fee of 100 is missing of the capture");
    world.given(close(dispute_id, DisputeOutcome::Won));
    assert_eq!((entry_status(&world, dispute_id), world.balance()), (EntryStatus::Canceled, (200, 9_900)));
    assert_eq!(status(&world, id), PaymentStatus::Successful);
    assert_eq!(webhook_events(&world), [("DISPUTE_OPENED", "OPEN"), ("DISPUTE_CLOSED", "WON")]);
    assert_eq!(logged(&world).len(), 1, "the payout alone");
}

#[test]
fn a_dispute_lost_on_hold_is_charged_back_with_its_capture() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let dispute_id = world.dispute(dispute_part(id, 4_000));
    world.given(close(dispute_id, DisputeOutcome::Lost));
    assert_eq!((entry_status(&world, dispute_id), world.balance()), (EntryStatus::OnHold, (0, 5_900)));
    assert_eq!((status(&world, id), world.payment_row(id).charged_back_minor), (PaymentStatus::Successful, 4_000));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    assert_eq!((entry_status(&world, dispute_id), world.balance()), (EntryStatus::Effective, (5_900, 0)));
    assert_eq!(world.timers_of_payments(), []);
}

#[test]
fn a_capture_that_settles_covers_an_open_dispute_no_longer() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let dispute_id = world.dispute(dispute_part(id, 4_000));
    assert_eq!(world.balance(), (0, 5_900));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    assert_eq!((entry_status(&world, dispute_id), world.balance()), (EntryStatus::OnHold, (5_900, 0)));
    world.given(close(dispute_id, DisputeOutcome::Won));
    assert_eq!((entry_status(&world, dispute_id), world.balance()), (EntryStatus::Canceled, (9_900, 0)));
}

#[test]
fn a_payment_that_is_lost_as_a_whole_is_reversed_by_the_system() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let dispute_id = world.dispute(dispute(id));
    world.after_seconds(5);
    world.given(close(dispute_id, DisputeOutcome::Lost));
    let closed = row(&world, dispute_id);
    assert_eq!((closed.status, closed.closed_at), (DisputeStatus::Lost, Some(world.clock)));
    assert_eq!((entry_status(&world, dispute_id), world.balance()), (EntryStatus::Effective, (0, 0)));
    assert_eq!((status(&world, id), world.payment_row(id).captured_minor()), (PaymentStatus::Reversed, 10_000));
    assert_eq!(logged(&world), [(ActivityType::PaymentReversed, Actor::System)]);
    let expected = [("DISPUTE_OPENED", "OPEN"), ("DISPUTE_CLOSED", "LOST"), ("PAYMENT_REVERSED", "REVERSED")];
    assert_eq!(webhook_events(&world), expected);
}

#[test]
fn a_reversed_payment_on_hold_settles_with_its_charge_back() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    let dispute_id = world.dispute(dispute(id));
    world.given(close(dispute_id, DisputeOutcome::Lost));
    assert_eq!((status(&world, id), world.balance()), (PaymentStatus::Reversed, (0, 0)));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    assert_eq!(world.fire_all(), CHANGED);
    assert_eq!(world.transaction_of(id).status, EntryStatus::Effective);
    assert_eq!((entry_status(&world, dispute_id), world.balance()), (EntryStatus::Effective, (0, 0)));
}

#[test]
fn a_full_concession_is_logged_before_its_reversal() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let dispute_id = world.dispute(dispute(id));
    world.when(concede(dispute_id)).answers(CHANGED);
    let key = Actor::ApiKey(world.first_key());
    let expected = [(ActivityType::DisputeConceded, key.clone()), (ActivityType::PaymentReversed, key)];
    assert_eq!((logged(&world), status(&world, id)), (expected.to_vec(), PaymentStatus::Reversed));
    let conceded = world.all::<Activities>().into_iter().find(|it| it.activity_type == ActivityType::DisputeConceded);
    let conceded = conceded.expect("it is logged");
    assert_eq!((conceded.object, conceded.parent), (ActivityObject::Dispute(dispute_id), Some(id)));
    assert_eq!(row(&world, dispute_id).status, DisputeStatus::Conceded);
    world.when(concede(dispute_id)).refused(refused_as(DisputeStatus::Conceded));
    world.when(close(dispute_id, DisputeOutcome::Won)).refused(refused_as(DisputeStatus::Conceded));
    world.when(escalate(dispute_id)).refused(refused_as(DisputeStatus::Conceded));
}

#[test]
fn evidence_is_given_once_and_sent_to_the_acquirer() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    let dispute_id = world.dispute(dispute(id));
    world.when(challenge(dispute_id, "signed\nby hand")).answers(CHANGED);
    let dispute = row(&world, dispute_id);
    assert_eq!(dispute.evidence.as_ref().map(|evidence| evidence.as_str()), Some("signed\nby hand"));
    assert_eq!((dispute.status, world.find::<OpenEvidence>(dispute_id).is_some()), (DisputeStatus::Challenged, true));
    assert_eq!(logged(&world), [(ActivityType::DisputeChallenged, Actor::ApiKey(world.first_key()))]);
    let has_evidence = Refusal::DisputeState { status: DisputeStatus::Challenged, has_evidence: true };
    world.when(challenge(dispute_id, "more")).refused(has_evidence);
    world.when(evidence_answered(dispute_id, EvidenceResult::Taken)).answers(CHANGED);
    assert_eq!(world.find::<OpenEvidence>(dispute_id), None);
    world.when(evidence_answered(dispute_id, EvidenceResult::Won)).changes_nothing(UNCHANGED);
    world.after_seconds(EVIDENCE_SECONDS);
    world.fire_all();
    assert_eq!(status(&world, id), PaymentStatus::Disputed, "evidence that was given is due no more");
}

#[test]
fn evidence_that_decides_closes_the_dispute() {
    for (result, outcome, expected) in [
        (EvidenceResult::Won, DisputeStatus::Won, PaymentStatus::Successful),
        (EvidenceResult::Lost, DisputeStatus::Lost, PaymentStatus::Reversed),
    ] {
        let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
        let dispute_id = world.dispute(dispute(id));
        world.given(challenge(dispute_id, "it was delivered"));
        world.given(evidence_answered(dispute_id, result));
        assert_eq!((row(&world, dispute_id).status, status(&world, id)), (outcome, expected));
        assert_eq!(world.find::<OpenEvidence>(dispute_id), None);
    }
}

#[test]
fn a_dispute_that_ends_early_ends_the_call_of_its_evidence() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    let dispute_id = world.dispute(dispute(id));
    world.given(challenge(dispute_id, "it was delivered"));
    world.given(close(dispute_id, DisputeOutcome::Lost));
    assert_eq!(world.find::<OpenEvidence>(dispute_id), None);
    world.when(evidence_answered(dispute_id, EvidenceResult::Won)).changes_nothing(UNCHANGED);
}

#[test]
fn evidence_that_is_not_given_in_time_loses_the_dispute() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let dispute_id = world.dispute(dispute(id));
    let due = row(&world, dispute_id).evidence_due_at;
    assert_eq!(world.timers_of_payments(), [Timer { due, kind: TimerKind::EvidenceDue(dispute_id) }]);
    world.after_seconds(EVIDENCE_SECONDS - 1);
    world.fire_all();
    assert_eq!(row(&world, dispute_id).status, DisputeStatus::Open);
    world.after_seconds(1);
    world.fire_all();
    assert_eq!((row(&world, dispute_id).status, status(&world, id)), (DisputeStatus::Lost, PaymentStatus::Reversed));
    assert_eq!(logged(&world), [(ActivityType::PaymentReversed, Actor::System)]);
}

#[test]
fn a_late_timer_loses_a_dispute_and_settles_its_capture() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let dispute_id = world.dispute(dispute_part(id, 4_000));
    world.after_seconds(EVIDENCE_SECONDS + SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    world.fire_all();
    assert_eq!((entry_status(&world, dispute_id), world.balance()), (EntryStatus::Effective, (5_900, 0)));
    assert_eq!(world.timers_of_payments(), []);
}

#[test]
fn an_escalation_is_logged_for_the_system_and_allows_evidence() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    let dispute_id = world.dispute(dispute(id));
    world.when(escalate(dispute_id)).answers(CHANGED);
    assert_eq!(row(&world, dispute_id).status, DisputeStatus::Escalated);
    assert_eq!(logged(&world), [(ActivityType::DisputeEscalated, Actor::System)]);
    world.when(escalate(dispute_id)).refused(refused_as(DisputeStatus::Escalated));
    world.given(challenge(dispute_id, "it was delivered"));
    assert_eq!(row(&world, dispute_id).status, DisputeStatus::Escalated);
    world.given(concede(dispute_id));
    assert_eq!(status(&world, id), PaymentStatus::Reversed);
}

#[test]
fn a_refund_can_use_money_that_is_not_in_dispute() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let dispute_id = world.dispute(dispute_part(id, 7_000));
    world.when(refund(id).part(3_001)).refused(Refusal::AmountExceedsPayment { limit_minor: 3_000 });
    let refund_id = world.refund(refund(id));
    assert_eq!(world.refund_row(refund_id).money, thb(3_000));
    let whole = Refusal::NotRefundable { status: PaymentStatus::Disputed, operation: None };
    world.when(refund(id)).refused(whole);
    world.given(refund_done(refund_id));
    assert_eq!(status(&world, id), PaymentStatus::Disputed);
    world.given(close(dispute_id, DisputeOutcome::Won));
    assert_eq!(status(&world, id), PaymentStatus::PartiallyRefunded);
}

#[test]
fn the_last_refund_after_a_charge_back_reverses_the_payment() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    let refund_id = world.refund(refund(id).part(4_000));
    let dispute_id = world.dispute(dispute(id));
    assert_eq!(row(&world, dispute_id).money, thb(6_000), "all that is left");
    world.given(close(dispute_id, DisputeOutcome::Lost));
    assert_eq!(status(&world, id), PaymentStatus::Successful, "the refund is not confirmed");
    world.given(refund_done(refund_id));
    assert_eq!(status(&world, id), PaymentStatus::Reversed);
    let last: Vec<_> = webhook_events(&world).into_iter().skip(2).collect();
    assert_eq!(last, [("REFUND_COMPLETED", "SUCCESSFUL"), ("PAYMENT_REVERSED", "REVERSED")]);
}

#[test]
fn a_failed_refund_beside_a_dispute_returns_its_money() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    let refund_id = world.refund(refund(id).part(4_000));
    let dispute_id = world.dispute(dispute_part(id, 6_000));
    assert_eq!(world.balance(), (-100, 0));
    world.given(refund_answered(refund_id, refused()));
    assert_eq!(world.balance(), (0, 3_900));
    world.given(close(dispute_id, DisputeOutcome::Lost));
    assert_eq!((status(&world, id), world.balance()), (PaymentStatus::Successful, (0, 3_900)));
}

#[test]
fn a_payment_has_one_open_dispute_about_the_rest_of_it() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::settled);
    world.when(dispute_part(id, 10_001)).refused(Refusal::AmountExceedsPayment { limit_minor: 10_000 });
    let first = world.dispute(dispute_part(id, 4_000));
    let disputed = Refusal::InvalidState { status: PaymentStatus::Disputed, operation: None };
    world.when(dispute_part(id, 1)).refused(disputed);
    world.given(close(first, DisputeOutcome::Lost));
    world.when(dispute_part(id, 6_001)).refused(Refusal::AmountExceedsPayment { limit_minor: 6_000 });
    let second = world.dispute(dispute(id));
    world.given(concede(second));
    let over = Refusal::InvalidState { status: PaymentStatus::Reversed, operation: None };
    world.when(dispute(id)).refused(over);
}

#[test]
fn a_payment_with_a_charge_back_cannot_be_reversed_as_a_whole() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    let dispute_id = world.dispute(dispute_part(id, 1));
    world.given(close(dispute_id, DisputeOutcome::Lost));
    let refusal = Refusal::InvalidState { status: PaymentStatus::Successful, operation: None };
    world.when(reverse(id)).refused(refusal);
}

#[test]
fn a_dispute_that_there_is_not_is_not_found() {
    let mut world = ScenarioWorld::open();
    let id = raw_id(9, DisputeId::from_raw);
    world.when(challenge(id, "it was delivered")).refused(Refusal::DisputeNotFound);
    world.when(concede(id)).refused(Refusal::DisputeNotFound);
    world.when(escalate(id)).refused(Refusal::DisputeNotFound);
    world.when(close(id, DisputeOutcome::Won)).refused(Refusal::DisputeNotFound);
}

#[test]
fn a_suspended_merchant_may_challenge_and_concede() {
    let mut world = ScenarioWorld::open();
    let (first, second) = (world.held(), world.held());
    let (first, second) = (world.dispute(dispute(first)), world.dispute(dispute(second)));
    world.given(suspend());
    world.when(challenge(first, "it was delivered")).answers(CHANGED);
    world.when(concede(second)).answers(CHANGED);
}

#[test]
fn a_card_may_be_disputed_as_soon_as_it_is_captured() {
    let mut world = ScenarioWorld::with_fees();
    let session = world.card_session();
    let id = world.payment(initiate(session));
    world.given(result(id, approved_captured_and_disputed()));
    let dispute = world.all::<Disputes>().pop().expect("the dispute");
    assert_eq!((dispute.payment_id, dispute.money, dispute.reason), (id, thb(10_000), None));
    assert_eq!((status(&world, id), world.balance()), (PaymentStatus::Disputed, (-100, 0)));
    assert_eq!(webhook_events(&world), [("DISPUTE_OPENED", "OPEN")], "after the completion");
}

/// A captured payment of 10,000 by instalments.
fn by_instalments(world: &mut ScenarioWorld, bearer: InterestBearer) -> PaymentId {
    let session = world.session(select_installment(bearer));
    world.captured(initiate(session).bearer(bearer))
}

#[test]
fn the_merchant_pays_the_interest_that_it_bears_at_capture() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Installment, with_fee(100, 0)));
    let id = by_instalments(&mut world, InterestBearer::Merchant);
    let transaction = world.transaction_of(id);
    assert_legs(
        &transaction,
        &[
            (Account::Balance, Direction::Credit, EntryType::Payment, 10_000),
            (Account::Balance, Direction::Debit, EntryType::PaymentFee, 100),
            (Account::Balance, Direction::Debit, EntryType::Interest, 300),
            (Account::AcquirerClearing, Direction::Debit, EntryType::Payment, 10_000),
            (Account::Fees, Direction::Credit, EntryType::PaymentFee, 100),
            (Account::Interest, Direction::Credit, EntryType::Interest, 300),
        ],
    );
    assert_eq!(world.balance(), (0, 9_600));
    let refund_id = world.refund(refund(id).part(9_600));
    world.given(refund_done(refund_id));
    assert_eq!(world.balance(), (0, 0), "fee, interest and refund net out with the capture");
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
    assert_eq!(world.balance(), (0, 0));
}

#[test]
fn a_reversal_cancels_the_interest_too() {
    let (mut world, id) = ScenarioWorld::open_with(|world| by_instalments(world, InterestBearer::Merchant));
    world.given(reverse(id));
    world.given(reversal_done(id));
    assert_eq!((world.balance(), world.totals().held_debit_minor), ((0, 0), 0));
}

#[test]
fn interest_that_the_customer_bears_posts_nothing() {
    let (world, id) = ScenarioWorld::open_with(|world| by_instalments(world, InterestBearer::Customer));
    assert!(world.transaction_of(id).legs.iter().all(|leg| leg.entry_type != EntryType::Interest));
    assert_eq!(world.balance(), (0, 10_000));
}
