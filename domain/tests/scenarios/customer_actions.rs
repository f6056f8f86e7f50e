//! The customer's part of a payment: the action, its deadline to the millisecond, giving up, voids meanwhile, and
//! approvals that come after the end.

use crate::words::*;
use crate::world::ScenarioWorld;
use till_domain::activity::ActivityType;
use till_domain::command::{AuthenticationResult, AuthorizationResult, Selection};
use till_domain::customer_action::{ActionStage, AuthenticationFlow, AuthenticationStatus, AuthenticationVersion};
use till_domain::effect::{EffectId, EffectKind};
use till_domain::event::Answer;
use till_domain::failure::FailureCode;
use till_domain::ids::PaymentId;
use till_domain::merchant::PaymentMethod;
use till_domain::payment::{OperationKind, PaymentAction, PaymentStatus};
use till_domain::records::{Activities, CustomerActions, Effects, Sessions, Timers, Transactions};
use till_domain::refusal::Refusal;
use till_domain::webhook::WebhookEventKind;

const CHANGED: Answer = Answer::Changed(true);
const UNCHANGED: Answer = Answer::Changed(false);

const PASSED: AuthenticationResult = AuthenticationResult {
    flow: AuthenticationFlow::Challenge,
    status: AuthenticationStatus::Authenticated,
    eci: Some(5),
    version: Some(AuthenticationVersion::V2_1_0),
};

/// A payment whose customer must act.
fn waiting(required: AuthorizationResult) -> (ScenarioWorld, PaymentId) {
    let mut world = ScenarioWorld::open();
    let session = world.card_session();
    let id = world.payment(initiate(session));
    world.when(result(id, required)).answers(CHANGED);
    (world, id)
}

fn open_call(world: &ScenarioWorld, id: PaymentId) -> Option<EffectKind> {
    world.find::<Effects>(EffectId::operation(id)).map(|effect| effect.kind)
}

fn kinds_of_events(world: &ScenarioWorld) -> Vec<WebhookEventKind> {
    world.all::<till_domain::records::WebhookEvents>().into_iter().map(|event| event.kind).collect()
}

/// Nothing is left of an action but that there was one.
fn check_closed(world: &ScenarioWorld, id: PaymentId) {
    assert_eq!(world.payment_row(id).action, Some(ActionStage::Over));
    assert_eq!(world.find::<CustomerActions>(id), None);
    assert!(world.all::<Timers>().is_empty(), "the timer of an action that is over");
}

#[test]
fn an_action_is_recorded_once_with_its_deadline() {
    let (mut world, id) = waiting(challenge_required());
    let action = world.look_up::<CustomerActions>(id);
    assert_eq!(action.expires_at, world.clock.plus_seconds(600));
    let payment = world.payment_row(id);
    assert_eq!(payment.open_action_until(), Some(action.expires_at));
    assert_eq!(payment.authentication.map(|it| it.status), Some(AuthenticationStatus::Challenged));
    assert_eq!(kinds_of_events(&world), [WebhookEventKind::PaymentActionRequired]);
    world.after_seconds(5);
    world.when(result(id, challenge_required())).changes_nothing(UNCHANGED);
    world.given(result(id, AuthorizationResult::Processing));
    world.when(result(id, scan_required())).changes_nothing(UNCHANGED);
}

#[test]
fn the_deadline_is_at_most_that_of_the_payment() {
    let mut world = ScenarioWorld::open();
    let session = world.card_session();
    let id = world.payment(initiate(session));
    let expires_at = world.clock.plus_seconds(3_600);
    world.after_seconds(3_000);
    world.given(result(id, scan_required()));
    assert_eq!(world.look_up::<CustomerActions>(id).expires_at, expires_at);
}

#[test]
fn a_passed_challenge_captures_and_keeps_its_authentication() {
    let (mut world, id) = waiting(challenge_required());
    world.when(result(id, AuthorizationResult::Processing)).answers(CHANGED);
    check_closed(&world, id);
    world.when(result(id, AuthorizationResult::Processing)).changes_nothing(UNCHANGED);
    world.given(result(id, authenticated_as(approved_and_captured(), PASSED)));
    let payment = world.payment_row(id);
    assert_eq!(payment.status, PaymentStatus::Successful);
    let authentication = payment.authentication.expect("the card was authenticated");
    assert_eq!((authentication.status, authentication.eci), (AuthenticationStatus::Authenticated, Some(5)));
    assert_eq!(authentication.at, Some(world.clock));
    assert_eq!(world.all::<Activities>().len(), 1);
}

#[test]
fn an_action_that_is_left_alone_expires_to_the_millisecond() {
    let (mut world, id) = waiting(challenge_required());
    world.clock.0 += 600_000 - 1;
    let timers = world.timers();
    world.when(fire(timers.clone())).changes_nothing(UNCHANGED);
    world.clock.0 += 1;
    world.when(fire(timers)).answers(CHANGED);
    let payment = world.payment_row(id);
    assert_eq!(payment.status, PaymentStatus::Expired);
    assert_eq!(payment.failure, Some(FailureCode::CustomerActionTimedOut.into()));
    assert_eq!(payment.authentication.map(|it| it.status), Some(AuthenticationStatus::NotAuthenticated));
    check_closed(&world, id);
    assert_eq!((open_call(&world, id), world.state.reserved_minor), (Some(EffectKind::CancelAction), 0));
    world.when(result(id, declined())).changes_nothing(UNCHANGED);
    world.when(action_canceled(id)).answers(CHANGED);
    assert_eq!(open_call(&world, id), None);
}

#[test]
fn nobody_gives_up_or_voids_at_the_deadline_though_its_timer_has_not_fired() {
    let (mut world, id) = waiting(scan_required());
    let session = world.payment_row(id).session_id;
    let deadline = world.look_up::<CustomerActions>(id).expires_at;
    world.clock = deadline;
    assert!(!world.payment_row(id).allows(PaymentAction::Void, deadline));
    world.when(void(id)).refused(Refusal::InvalidState { status: PaymentStatus::Pending, operation: None });
    world.when(cancel_session(session)).changes_nothing(UNCHANGED);
    world.given(fire(world.timers()));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Expired);
}

#[test]
fn a_customer_who_gives_up_fails_the_payment_and_cancels_the_action() {
    let (mut world, id) = waiting(challenge_required());
    let session = world.payment_row(id).session_id;
    world.when(cancel_session(session)).answers(CHANGED);
    let payment = world.payment_row(id);
    assert_eq!(payment.status, PaymentStatus::Failed);
    assert_eq!(payment.failure, Some(FailureCode::CanceledByCustomer.into()));
    check_closed(&world, id);
    assert_eq!((open_call(&world, id), world.state.reserved_minor), (Some(EffectKind::CancelAction), 0));
    world.when(cancel_session(session)).changes_nothing(UNCHANGED);
    world.when(action_canceled(id)).answers(CHANGED);
    assert_eq!((open_call(&world, id), world.payment_row(id).late_success), (None, None));
    world.when(action_canceled(id)).changes_nothing(UNCHANGED);
    let events = [WebhookEventKind::PaymentActionRequired, WebhookEventKind::PaymentCompleted];
    assert_eq!(kinds_of_events(&world), events);
}

#[test]
fn a_customer_who_has_acted_cannot_give_up() {
    let (mut world, id) = waiting(challenge_required());
    world.given(result(id, AuthorizationResult::Processing));
    let session = world.payment_row(id).session_id;
    world.when(cancel_session(session)).changes_nothing(UNCHANGED);
    let refusal = Refusal::InvalidState { status: PaymentStatus::Pending, operation: None };
    world.when(void(id)).refused(refusal);
}

#[test]
fn giving_up_ends_a_session_that_no_payment_used() {
    let mut world = ScenarioWorld::open();
    let session = world.card_session();
    world.when(cancel_session(session)).answers(CHANGED);
    assert_eq!(world.look_up::<Sessions>(session).expires_at, world.clock);
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: None });
    world.when(cancel_session(session)).changes_nothing(UNCHANGED);
}

#[test]
fn a_merchant_voids_a_payment_only_while_its_customer_must_act() {
    let mut world = ScenarioWorld::open();
    let session = world.card_session();
    let id = world.payment(initiate(session));
    let refusal = Refusal::InvalidState { status: PaymentStatus::Pending, operation: None };
    world.when(void(id)).refused(refusal);
    world.given(result(id, scan_required()));
    assert!(world.payment_row(id).allows(PaymentAction::Void, world.clock));
    world.when(void(id)).answers(CHANGED);
    let payment = world.payment_row(id);
    assert_eq!((payment.status, payment.failure, payment.authentication), (PaymentStatus::Voided, None, None));
    check_closed(&world, id);
    assert_eq!(open_call(&world, id), Some(EffectKind::CancelAction));
    let activity = world.all::<Activities>().pop().expect("the void is in the activity log");
    assert_eq!(activity.activity_type, ActivityType::PaymentVoided);
    let events = [WebhookEventKind::PaymentActionRequired, WebhookEventKind::PaymentVoided];
    assert_eq!(kinds_of_events(&world), events);
}

/// Payments that are over, by the way in which they ended: given up, voided, left alone.
fn ended_in_every_way() -> Vec<(ScenarioWorld, PaymentId)> {
    (0..3)
        .map(|way| {
            let (mut world, id) = waiting(challenge_required());
            match way {
                0 => _ = world.given(cancel_session(world.payment_row(id).session_id)),
                1 => _ = world.given(void(id)),
                _ => {
                    world.after_seconds(600);
                    world.given(fire(world.timers()));
                }
            }
            (world, id)
        })
        .collect()
}

#[test]
fn a_success_after_the_end_is_given_back_and_told() {
    for (mut world, id) in ended_in_every_way() {
        let (status, activities) = (world.payment_row(id).status, world.all::<Activities>().len());
        world.when(result(id, approved_and_captured())).answers(CHANGED);
        let received_at = world.clock;
        assert_eq!(open_call(&world, id), Some(EffectKind::RefundLate), "{status:?}");
        world.when(action_canceled(id)).changes_nothing(UNCHANGED);
        world.after_seconds(1);
        world.when(given_back(id, succeeded())).answers(CHANGED);
        let payment = world.payment_row(id);
        let late = payment.late_success.expect("the payment was paid late");
        assert_eq!((payment.status, late.received_at), (status, received_at));
        assert_eq!(late.returned_at, Some(world.clock));
        assert_eq!(kinds_of_events(&world).last(), Some(&WebhookEventKind::PaymentReturned), "{status:?}");
        assert_eq!((world.all::<Transactions>().len(), world.all::<Activities>().len()), (0, activities));
        world.when(result(id, approved_and_captured())).changes_nothing(UNCHANGED);
    }
}

#[test]
fn a_cancellation_that_comes_too_late_gives_the_money_back() {
    let (mut world, id) = waiting(scan_required());
    world.given(void(id));
    world.when(canceled_too_late(id, approved_and_captured())).answers(CHANGED);
    assert_eq!(open_call(&world, id), Some(EffectKind::RefundLate));
    world.given(given_back(id, succeeded()));
    assert!(world.payment_row(id).late_success.is_some_and(|late| late.returned_at.is_some()));
}

#[test]
fn a_refusal_keeps_what_the_issuer_told() {
    let told = AuthenticationResult {
        flow: AuthenticationFlow::Frictionless,
        status: AuthenticationStatus::Rejected,
        eci: None,
        version: None,
    };
    let mut world = ScenarioWorld::open();
    let session = world.card_session();
    let id = world.payment(initiate(session));
    world.given(result(id, authenticated_as(declined(), told)));
    let payment = world.payment_row(id);
    assert_eq!(payment.authentication.map(|it| (it.status, it.at)), Some((told.status, Some(world.clock))));
    assert_eq!(payment.action, None, "no action was asked for");
}

#[test]
fn methods_that_are_paid_at_once_are_never_only_authorized() {
    for (method, selection) in
        [(PaymentMethod::PromptPay, Selection::PromptPay), (PaymentMethod::MobileBanking, Selection::MobileBanking)]
    {
        let mut world = ScenarioWorld::open();
        world.when(select(selection.clone())).refused(Refusal::MethodNotEnabled);
        world.given(configure(method, with_fee(0, 0)));
        let session = world.session(select(selection));
        world.when(initiate(session).authorize_only()).refused(Refusal::AuthorizationOnlyNotSupported);
        let id = world.payment(initiate(session));
        world.given(result(id, scan_required()));
        world.given(result(id, approved_and_captured()));
        assert_eq!(world.payment_row(id).status, PaymentStatus::Successful);
        assert_eq!(world.payment_row(id).instrument.method(), method);
    }
}

#[test]
fn a_suspended_merchants_customer_may_give_up() {
    let (mut world, id) = waiting(challenge_required());
    world.given(suspend());
    world.when(cancel_session(world.payment_row(id).session_id)).answers(CHANGED);
    assert_eq!(world.payment_row(id).status, PaymentStatus::Failed);
}

#[test]
fn no_operation_is_open_while_the_customer_must_act() {
    let (mut world, id) = waiting(challenge_required());
    for ask in [capture(id), reverse(id)] {
        world.when(ask).refused(Refusal::InvalidState { status: PaymentStatus::Pending, operation: None });
    }
    assert_eq!(world.payment_row(id).operation.map(|operation| operation.kind), None::<OperationKind>);
}
