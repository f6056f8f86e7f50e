//! What an acquirer prepares before money can move: recorded once, canceled when its payment ended meanwhile, and the
//! address of a page forgotten with the payment's end.

use crate::words::*;
use crate::world::ScenarioWorld;
use till_domain::command::AuthorizationResult;
use till_domain::customer_action::CustomerStep;
use till_domain::effect::{EffectId, EffectKind};
use till_domain::event::{Answer, Event};
use till_domain::ids::PaymentId;
use till_domain::payment::{PENDING_LIFETIME_SECONDS, PaymentStatus};
use till_domain::records::{CustomerActions, Effects, Preparations};
use till_domain::time::Millis;

const CHANGED: Answer = Answer::Changed(true);
const UNCHANGED: Answer = Answer::Changed(false);

/// A payment whose authorization is open.
fn initiated() -> (ScenarioWorld, PaymentId) {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.payment(initiate(session));
    (world, id)
}

/// A payment for which the acquirer has prepared a page.
fn prepared() -> (ScenarioWorld, PaymentId) {
    let (mut world, id) = initiated();
    world.when(prepared_with_page(id, "cs_1")).answers(CHANGED);
    (world, id)
}

/// The same, whose customer has been asked to pay there.
fn asked() -> (ScenarioWorld, PaymentId) {
    let (mut world, id) = prepared();
    world.when(result(id, page_required())).answers(CHANGED);
    (world, id)
}

fn open_call(world: &ScenarioWorld, id: PaymentId) -> Option<EffectKind> {
    world.find::<Effects>(EffectId::operation(id)).map(|effect| effect.kind)
}

fn keeps_address(world: &ScenarioWorld, id: PaymentId) -> bool {
    world.pages.contains(&id)
}

#[test]
fn the_first_preparation_of_a_payment_counts() {
    let (mut world, id) = prepared();
    assert_eq!(open_call(&world, id), Some(EffectKind::AuthorizePrepared));
    world.when(prepared_with_page(id, "cs_2")).changes_nothing(UNCHANGED);
    world.when(prepared_without_page(id, "pi_2")).changes_nothing(UNCHANGED);
    world.given(result(id, approved_and_captured()));
    let kept = world.look_up::<Preparations>(id);
    assert_eq!((kept.acquirer_reference.as_str(), keeps_address(&world, id)), ("cs_1", false), "the id is kept");
}

#[test]
fn the_address_of_the_page_is_in_no_action() {
    let (world, id) = asked();
    assert_eq!(world.look_up::<CustomerActions>(id).step, CustomerStep::AcquirerPage);
    let asked = world.log.iter().flat_map(|mutation| &mutation.events);
    let is_plain = |event: &Event| !matches!(event, Event::CallPrepared(_)) && format!("{event:?}").contains("/pay/");
    assert!(!asked.into_iter().any(is_plain), "sealed is what the preparation has, and nothing else");
}

#[test]
fn an_action_elsewhere_than_on_a_page_keeps_its_address() {
    let (mut world, id) = initiated();
    world.given(prepared_without_page(id, "pi_1"));
    world.given(result(id, challenge_required()));
    assert!(matches!(world.look_up::<CustomerActions>(id).step, CustomerStep::Redirect(_)));
}

#[test]
fn the_address_is_forgotten_in_every_way_in_which_the_payment_ends() {
    type End = fn(&mut ScenarioWorld, PaymentId);
    let ends: [(&str, End); 6] = [
        ("approved", |world, id| _ = world.given(result(id, approved()))),
        ("declined", |world, id| _ = world.given(result(id, declined()))),
        ("voided", |world, id| _ = world.given(void(id))),
        ("given up", |world, id| _ = world.given(cancel_session(world.payment_row(id).session_id))),
        ("left alone", |world, _| {
            world.after_seconds(1_800);
            world.given(fire(world.timers()));
        }),
        ("processed for too long", |world, id| {
            world.given(result(id, AuthorizationResult::Processing));
            assert!(keeps_address(world, id), "the payment is pending");
            world.after_seconds(PENDING_LIFETIME_SECONDS);
            world.given(expire(id));
        }),
    ];
    for (way, end) in ends {
        let (mut world, id) = asked();
        assert!(keeps_address(&world, id), "{way}");
        end(&mut world, id);
        assert!(!keeps_address(&world, id) && world.payment_row(id).status != PaymentStatus::Pending, "{way}");
    }
}

#[test]
fn what_was_prepared_is_canceled_when_its_payment_expires_before_anybody_was_asked() {
    let (mut world, id) = prepared();
    world.after_seconds(PENDING_LIFETIME_SECONDS);
    world.given(expire(id));
    assert_eq!((open_call(&world, id), keeps_address(&world, id)), (Some(EffectKind::CancelAction), false));
    world.when(result(id, page_required())).changes_nothing(UNCHANGED);
    world.given(action_canceled(id));
    assert_eq!((open_call(&world, id), world.payment_row(id).status), (None, PaymentStatus::Expired));
}

#[test]
fn a_preparation_that_comes_after_the_end_is_kept_and_canceled() {
    let (mut expired, id) = initiated();
    expired.after_seconds(PENDING_LIFETIME_SECONDS);
    expired.given(expire(id));
    let (mut failed, other) = initiated();
    failed.given(result(other, declined()));
    for (mut world, id) in [(expired, id), (failed, other)] {
        let status = world.payment_row(id).status;
        world.when(prepared_with_page(id, "cs_1")).answers(CHANGED);
        assert_eq!((world.payment_row(id).status, open_call(&world, id)), (status, Some(EffectKind::CancelAction)));
        assert_eq!(world.look_up::<Preparations>(id).page, None, "nobody opens it");
        world.given(action_canceled(id));
        assert_eq!(open_call(&world, id), None);
        world.when(prepared_with_page(id, "cs_2")).changes_nothing(UNCHANGED);
    }
}

#[test]
fn a_preparation_during_a_cancellation_is_kept_for_it() {
    let (mut world, id) = initiated();
    world.given(result(id, challenge_required()));
    world.given(void(id));
    world.when(prepared_with_page(id, "cs_1")).answers(CHANGED);
    assert_eq!(open_call(&world, id), Some(EffectKind::CancelAction));
    world.given(canceled_too_late(id, approved_and_captured()));
    assert_eq!(open_call(&world, id), Some(EffectKind::RefundLate));
}

#[test]
fn a_payment_that_was_authorized_without_a_preparation_needs_none() {
    let (mut world, id) = initiated();
    world.given(result(id, approved()));
    world.when(prepared_with_page(id, "cs_1")).changes_nothing(UNCHANGED);
    assert_eq!(world.find::<Preparations>(id), None);
}

#[test]
fn an_authorization_that_was_not_sent_fails_when_it_is_as_old_as_told() {
    let (mut world, id) = initiated();
    let opened_at = world.clock;
    world.clock.0 += 60_000;
    world.when(unsent(id, Millis(opened_at.0 - 1))).changes_nothing(UNCHANGED);
    world.when(unsent(id, opened_at)).answers(CHANGED);
    let payment = world.payment_row(id);
    assert_eq!(payment.failure.map(|failure| failure.code.name()), Some("acquirer_refused_credentials"));
    let reserved_minor = world.state.reserved_minor;
    assert_eq!((payment.status, open_call(&world, id), reserved_minor), (PaymentStatus::Failed, None, 0));
    world.when(unsent(id, world.clock)).changes_nothing(UNCHANGED);
}

#[test]
fn what_was_prepared_for_an_authorization_that_was_not_sent_is_canceled() {
    let (mut world, id) = prepared();
    world.given(unsent(id, world.clock));
    assert_eq!((open_call(&world, id), keeps_address(&world, id)), (Some(EffectKind::CancelAction), false));
}

#[test]
fn a_payment_whose_customer_was_asked_does_not_fail_as_unsent() {
    let (mut world, id) = asked();
    world.when(unsent(id, world.clock)).changes_nothing(UNCHANGED);
}
