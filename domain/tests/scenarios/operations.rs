//! Captures, voids and reversals, and the acquirer's answers to them.

use crate::words::*;
use crate::world::ScenarioWorld;
use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor};
use till_domain::card::TokenUsage;
use till_domain::command::{AuthorizationResult, CallResult, MovedMoney};
use till_domain::effect::{EffectId, EffectKind, Timer, TimerKind};
use till_domain::event::{Answer, Event, Mutation};
use till_domain::failure::FailureCode;
use till_domain::ids::PaymentId;
use till_domain::ledger::EntryStatus;
use till_domain::merchant::{PaymentMethod, SETTLEMENT_DELAY_DEFAULT_SECONDS};
use till_domain::payment::{
    AUTHORIZATION_LIFETIME_SECONDS, LAPSE_REPEATED_AFTER_SECONDS, Operation, OperationKind, PENDING_LIFETIME_SECONDS,
    PaymentStatus,
};
use till_domain::records::{Activities, Effects, Entries, Transactions};
use till_domain::refusal::Refusal;

const CHANGED: Answer = Answer::Changed(true);
const UNCHANGED: Answer = Answer::Changed(false);

fn not_permitted(status: PaymentStatus, operation: Option<OperationKind>) -> Refusal {
    Refusal::InvalidState { status, operation }
}

fn effect_of(world: &ScenarioWorld, id: PaymentId) -> Option<EffectKind> {
    world.find::<Effects>(EffectId::operation(id)).map(|effect| effect.kind)
}

/// An answer to the operation with this number.
fn answered(id: PaymentId, kind: OperationKind, attempt: u32, result: CallResult) -> Ask {
    operation_answered(id, kind, attempt, result)
}

/// The last entry of the activity log.
fn last_activity(world: &ScenarioWorld) -> Activity {
    world.all::<Activities>().pop().expect("something was done")
}

#[test]
fn a_capture_is_an_operation_until_the_acquirer_confirms_it() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.after_seconds(5);
    world.when(capture(id)).answers(CHANGED);
    let payment = world.payment_row(id);
    let operation = Operation {
        kind: OperationKind::Capture,
        amount: amount(PRICE_MINOR),
        requested_by: Actor::ApiKey(world.first_key()),
        requested_at: world.clock,
        attempt: 1,
    };
    assert_eq!((payment.status, payment.operation), (PaymentStatus::Authorized, Some(operation)));
    assert_eq!((effect_of(&world, id), world.timers()), (Some(EffectKind::Capture), vec![]));
    assert_eq!(world.all::<Activities>().len(), 0, "activity is recorded when the acquirer confirms");
    world.after_seconds(5);
    world.when(capture_done(id)).answers(CHANGED);
    let payment = world.payment_row(id);
    assert_eq!(
        (payment.status, payment.operation.clone(), payment.captured_minor()),
        (PaymentStatus::Successful, None, PRICE_MINOR)
    );
    assert_eq!(effect_of(&world, id), None);
}

#[test]
fn a_capture_a_void_and_a_reversal_are_activities_of_who_asked() {
    let mut world = ScenarioWorld::open();
    let key = Actor::ApiKey(world.first_key());
    let of = |activity: Activity| (activity.activity_type, activity.actor, activity.object);
    let id = world.authorized_payment();
    world.given(capture(id));
    world.given(capture_done(id));
    assert_eq!(of(last_activity(&world)), (ActivityType::PaymentCaptured, key.clone(), ActivityObject::Payment(id)));
    world.given(reverse(id).by(TestCaller::Operator));
    world.given(reversal_done(id));
    let operator = Actor::User { email: None };
    assert_eq!(of(last_activity(&world)), (ActivityType::PaymentReversed, operator, ActivityObject::Payment(id)));
    let id = world.authorized_payment();
    world.given(void(id));
    world.given(void_done(id));
    assert_eq!(of(last_activity(&world)), (ActivityType::PaymentVoided, key, ActivityObject::Payment(id)));
}

#[test]
fn a_part_is_captured_with_its_own_fee_and_the_rest_is_released() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Card, with_fee(100, 7)));
    let id = world.authorized_payment();
    world.given(capture_part(id, 4_000));
    assert_eq!(world.state.reserved_minor, PRICE_MINOR);
    world.given(capture_done(id));
    let capture = world.payment_row(id).capture.expect("it was captured");
    assert_eq!((capture.amount_minor, capture.fee_minor), (4_000, 47));
    assert_eq!((world.state.reserved_minor, world.totals().pending_minor()), (0, 3_953));
    world.when(capture_part(id, 1)).refused(not_permitted(PaymentStatus::Successful, None));
}

#[test]
fn the_refusal_of_a_too_large_capture_names_the_limit() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.when(capture_part(id, PRICE_MINOR + 1)).refused(Refusal::AmountExceedsPayment { limit_minor: PRICE_MINOR });
    world.when(capture_part(id, PRICE_MINOR)).answers(CHANGED);
}

#[test]
fn an_open_operation_refuses_every_other_call_and_clears_flags() {
    for (kind, ask) in [(OperationKind::Capture, capture as fn(PaymentId) -> Ask), (OperationKind::Void, void)] {
        let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
        world.given(ask(id));
        for other in [capture(id), void(id), reverse(id)] {
            world.when(other).refused(not_permitted(PaymentStatus::Authorized, Some(kind)));
        }
        let (status, operation) = (PaymentStatus::Authorized, Some(kind));
        world.when(refund(id)).refused(Refusal::NotRefundable { status, operation });
        let payment = world.payment_row(id);
        for action in OperationKind::ALL.map(OperationKind::action) {
            assert!(!payment.allows(action, world.clock), "{action:?}");
        }
    }
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    world.given(reverse(id));
    let (status, operation) = (PaymentStatus::Successful, Some(OperationKind::Reverse));
    world.when(reverse(id)).refused(not_permitted(status, operation));
    world.when(refund(id).part(1)).refused(Refusal::NotRefundable { status, operation });
}

#[test]
fn a_refused_capture_leaves_the_payment_authorized_and_says_why() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    let timers = world.timers();
    world.given(capture(id));
    world.after_seconds(3);
    world.when(answered(id, OperationKind::Capture, 1, refused())).answers(CHANGED);
    let payment = world.payment_row(id);
    assert_eq!((payment.status, payment.operation, payment.failure), (PaymentStatus::Authorized, None, None));
    let last = payment.last_operation.expect("the acquirer refused it");
    assert_eq!((last.kind, last.failure, last.at), (OperationKind::Capture, refusal_by_acquirer(), world.clock));
    assert_eq!((world.timers(), world.all::<Transactions>().len()), (timers, 0));
    assert_eq!(world.state.reserved_minor, PRICE_MINOR, "it may still be captured");
}

#[test]
fn a_refused_operation_is_asked_for_again_under_the_next_number() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture(id));
    world.given(answered(id, OperationKind::Capture, 1, refused()));
    world.given(void(id));
    assert_eq!(world.payment_row(id).operation.map(|operation| operation.attempt), Some(2));
    world.given(answered(id, OperationKind::Void, 2, refused()));
    world.given(capture(id));
    world.when(answered(id, OperationKind::Capture, 1, succeeded())).changes_nothing(UNCHANGED);
    world.when(answered(id, OperationKind::Void, 3, succeeded())).changes_nothing(UNCHANGED);
    world.when(answered(id, OperationKind::Capture, 3, succeeded())).answers(CHANGED);
    assert_eq!(world.payment_row(id).last_operation, None, "what was refused before was done in the end");
}

#[test]
fn an_answer_that_comes_twice_changes_nothing_the_second_time() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture(id));
    world.given(capture_done(id));
    for again in [succeeded(), refused()] {
        world.when(answered(id, OperationKind::Capture, 1, again)).changes_nothing(UNCHANGED);
    }
    world.when(void_done(id)).changes_nothing(UNCHANGED);
    world.when(reversal_done(id)).changes_nothing(UNCHANGED);
}

#[test]
fn a_refused_void_leaves_the_payment_authorized_and_no_activity() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(void(id));
    world.when(answered(id, OperationKind::Void, 1, refused())).answers(CHANGED);
    let payment = world.payment_row(id);
    assert_eq!(payment.status, PaymentStatus::Authorized);
    assert_eq!(payment.last_operation.map(|last| last.kind), Some(OperationKind::Void));
    assert_eq!((world.all::<Activities>().len(), world.state.reserved_minor), (0, PRICE_MINOR));
    world.when(capture(id)).answers(CHANGED);
}

#[test]
fn a_reversal_cancels_the_entries_and_the_fee() {
    let (mut world, id) = ScenarioWorld::held_with_fees();
    world.given(reverse(id));
    assert_eq!(world.totals().pending_minor(), 9_900, "nothing moves before the acquirer confirms");
    world.after_seconds(1);
    world.given(reversal_done(id));
    let payment = world.payment_row(id);
    assert_eq!((payment.status, payment.captured_minor()), (PaymentStatus::Reversed, PRICE_MINOR));
    assert_eq!((world.totals().pending_minor(), world.totals().available_minor()), (0, 0));
    for entry in world.all::<Entries>() {
        assert_eq!((entry.status, entry.canceled_at), (EntryStatus::Canceled, Some(world.clock)));
        assert_eq!((entry.cause.payment_id(), entry.cause.refund_id()), (Some(id), None));
    }
}

#[test]
fn a_settled_capture_is_not_reversed() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.when(reverse(id)).refused(not_permitted(PaymentStatus::Successful, None));
    world.fire_all();
    world.when(reverse(id)).refused(not_permitted(PaymentStatus::Successful, None));
}

#[test]
fn a_capture_with_an_accepted_refund_is_not_reversed() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    let refund = world.refund(refund(id).part(1));
    world.when(reverse(id)).refused(not_permitted(PaymentStatus::Successful, None));
    world.given(refund_answered(refund, refused()));
    world.when(reverse(id)).answers(CHANGED);
}

#[test]
fn settlement_waits_for_an_open_reversal_to_be_refused() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    world.given(reverse(id));
    assert_eq!(world.timers_of_payments(), [], "nothing settles meanwhile");
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS + 1);
    world.given(answered(id, OperationKind::Reverse, 1, refused()));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Successful);
    assert_eq!(world.fire_all(), CHANGED);
    assert_eq!(world.totals().available_minor(), 10_000);
}

#[test]
fn a_lapse_waits_for_an_open_capture_to_be_refused() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture(id));
    world.after_seconds(AUTHORIZATION_LIFETIME_SECONDS + 1);
    assert_eq!(world.timers(), []);
    world.given(answered(id, OperationKind::Capture, 1, refused()));
    assert_eq!(world.fire_all(), CHANGED);
    assert_eq!(effect_of(&world, id), Some(EffectKind::Void));
}

#[test]
fn a_capture_confirmed_after_the_time_of_the_lapse_counts() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture(id));
    world.after_seconds(AUTHORIZATION_LIFETIME_SECONDS + 1);
    world.when(capture_done(id)).answers(CHANGED);
    assert_eq!(world.payment_row(id).status, PaymentStatus::Successful);
}

#[test]
fn a_refused_void_of_a_lapse_is_requested_again_a_day_later() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.after_seconds(AUTHORIZATION_LIFETIME_SECONDS);
    world.fire_all();
    world.when(capture(id)).refused(not_permitted(PaymentStatus::Authorized, Some(OperationKind::Void)));
    world.given(answered(id, OperationKind::Void, 1, refused()));
    let due = world.clock.plus_seconds(LAPSE_REPEATED_AFTER_SECONDS);
    assert_eq!(world.timers(), [Timer { due, kind: TimerKind::Lapse(id) }]);
    let authorization = world.payment_row(id).authorization.expect("it is authorized");
    assert_eq!(authorization.lapses_at, Some(due));
    world.clock = due;
    world.fire_all();
    world.given(answered(id, OperationKind::Void, 2, succeeded()));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Voided);
}

#[test]
fn till_captures_an_approval_without_the_requested_capture() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.payment(initiate(session));
    world.given(result(id, approved()));
    let operation = world.payment_row(id).operation.expect("a capture is asked for");
    assert_eq!((operation.kind, operation.requested_by), (OperationKind::Capture, Actor::System));
    assert_eq!(effect_of(&world, id), Some(EffectKind::Capture));
    world.given(capture_done(id));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Successful);
    assert_eq!(last_activity(&world).actor, Actor::System);
}

#[test]
fn a_refused_automatic_capture_voids_and_fails_the_payment() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.payment(initiate(session));
    world.given(result(id, approved()));
    world.when(answered(id, OperationKind::Capture, 1, refused())).answers(CHANGED);
    let payment = world.payment_row(id);
    assert_eq!((payment.status, payment.failure), (PaymentStatus::Authorized, Some(refusal_by_acquirer())));
    assert_eq!(effect_of(&world, id), Some(EffectKind::Void));
    world.given(answered(id, OperationKind::Void, 2, succeeded()));
    let payment = world.payment_row(id);
    assert_eq!((payment.status, payment.failure), (PaymentStatus::Failed, Some(refusal_by_acquirer())));
    assert_eq!((world.all::<Activities>().len(), world.state.reserved_minor), (0, 0));
    world.when(result(id, approved())).changes_nothing(UNCHANGED);
}

#[test]
fn a_capture_of_what_lapsed_at_the_acquirer_voids_the_payment() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture(id));
    let lapsed = CallResult::Declined(FailureCode::AuthorizationExpired.into());
    world.when(answered(id, OperationKind::Capture, 1, lapsed)).answers(CHANGED);
    let payment = world.payment_row(id);
    let operation = payment.operation.expect("a void is asked for");
    assert_eq!((operation.kind, operation.requested_by), (OperationKind::Void, Actor::System));
    assert_eq!((effect_of(&world, id), world.timers()), (Some(EffectKind::Void), vec![]));
    world.given(answered(id, OperationKind::Void, 2, succeeded()));
    let payment = world.payment_row(id);
    assert_eq!((payment.status, payment.failure, world.state.reserved_minor), (PaymentStatus::Voided, None, 0));
    assert_eq!(last_activity(&world).actor, Actor::System);
}

#[test]
fn an_unanswered_payment_expires_after_exactly_an_hour() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.payment(initiate(session));
    world.clock.0 += PENDING_LIFETIME_SECONDS * 1_000 - 1;
    world.when(expire(id)).changes_nothing(UNCHANGED);
    world.clock.0 += 1;
    world.when(expire(id)).answers(CHANGED);
    assert_eq!((world.payment_row(id).status, world.state.reserved_minor), (PaymentStatus::Expired, 0));
    assert_eq!(effect_of(&world, id), Some(EffectKind::Authorize), "the acquirer is asked until it answers");
    world.when(expire(id)).changes_nothing(UNCHANGED);
}

/// An expired payment, and the call that gives its money back when the acquirer says late that it authorized.
fn given_back_late(late: AuthorizationResult) -> (ScenarioWorld, PaymentId, Option<EffectKind>) {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.payment(initiate(session));
    world.after_seconds(PENDING_LIFETIME_SECONDS);
    world.given(expire(id));
    world.given(result(id, late.clone()));
    let open = effect_of(&world, id);
    world.when(result(id, late)).changes_nothing(UNCHANGED);
    (world, id, open)
}

#[test]
fn a_late_success_is_given_back_and_posts_nothing() {
    for (late, effect) in [(approved(), EffectKind::VoidLate), (approved_and_captured(), EffectKind::RefundLate)] {
        let (mut world, id, open) = given_back_late(late);
        assert_eq!(open, Some(effect));
        world.when(given_back(id, succeeded())).answers(CHANGED);
        assert_eq!((world.payment_row(id).status, effect_of(&world, id)), (PaymentStatus::Expired, None));
        assert_eq!((world.all::<Transactions>().len(), world.all::<Activities>().len()), (0, 0));
        world.when(given_back(id, succeeded())).changes_nothing(UNCHANGED);
    }
}

#[test]
fn a_refused_late_void_or_refund_ends_with_its_reason() {
    let (mut world, id, _) = given_back_late(approved());
    world.given(given_back(id, refused()));
    let ended = Event::LateCallEnded { payment_id: id, failure: Some(refusal_by_acquirer()), returned_at: None };
    assert_eq!(world.log.last().map(|mutation| mutation.events.clone()), Some(vec![ended]));
}

#[test]
fn a_late_failure_of_an_expired_payment_only_ends_its_call() {
    let (world, id, open) = given_back_late(declined());
    assert_eq!((open, world.payment_row(id).status), (None, PaymentStatus::Expired));
    assert_eq!(world.payment_row(id).failure, None);
}

#[test]
fn a_capture_may_settle_at_once() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture(id));
    let moved = MovedMoney { settles_at_once: true, ..MovedMoney::of("acquirer:1") };
    world.given(operation_answered(id, OperationKind::Capture, 1, CallResult::Done(moved)));
    assert_eq!(world.totals().available_minor(), 10_000);
}

#[test]
fn a_suspended_merchant_voids_and_reverses_and_captures_nothing() {
    let mut world = ScenarioWorld::open();
    let (standing, other, held) = (world.authorized_payment(), world.authorized_payment(), world.held());
    world.given(suspend());
    world.when(capture(standing)).refused(Refusal::MerchantSuspended);
    world.when(void(other)).answers(CHANGED);
    world.when(reverse(held)).answers(CHANGED);
    world.when(capture_done(standing)).changes_nothing(UNCHANGED);
}

#[test]
fn a_payment_that_is_not_there_is_not_found_under_any_name() {
    let mut world = ScenarioWorld::open();
    let id = crate::world::raw_id(9, PaymentId::from_raw);
    for ask in [capture(id), void(id), reverse(id)] {
        world.when(ask).refused(Refusal::PaymentNotFound);
    }
    world.when(refund(id)).refused(Refusal::PaymentNotFound);
    world.when(refund(id).of_payment_known_as("order-1")).refused(Refusal::PaymentNotFound);
}

#[test]
fn an_answer_is_kept_when_the_acquirer_refuses_later() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture(id).named("call-1"));
    world.given(answered(id, OperationKind::Capture, 1, refused()));
    world.when(capture(id).named("call-1")).replays(CHANGED);
    world.when(capture(id).named("call-2")).answers(CHANGED);
}

#[test]
fn a_hundred_captures_of_one_payment_at_once_take_effect_once() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    let session = world.session(select_token(token));
    let id = world.authorized(initiate(session));
    let taken = (0..100).filter(|_| world.step(&capture_part(id, 100)).is_ok()).count();
    assert_eq!(taken, 1);
    let recorded: Vec<&Mutation> = world.log.iter().filter(|mutation| !mutation.events.is_empty()).collect();
    let requests = recorded.iter().flat_map(|mutation| &mutation.events);
    assert_eq!(requests.filter(|event| matches!(event, Event::OperationRequested { .. })).count(), 1);
}
