//! Webhooks and the events that are delivered to them.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::command::Expired;
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::{DeliveryId, PaymentId, WebhookId};
use till_domain::payment::{OperationKind, PaymentStatus};
use till_domain::records::{WebhookDirectory, WebhookEvents, WebhookEventsByPayment, Webhooks};
use till_domain::refund::RefundStatus;
use till_domain::refusal::Refusal;
use till_domain::webhook::{
    EVENT_KEPT_SECONDS, PREVIOUS_SECRET_SECONDS, PREVIOUS_SECRETS_MAX, SecretSlot, WEBHOOKS_MAX, WebhookEvent,
    WebhookEventKind, WebhookObject, WebhookStatus, WebhookTest,
};

const CHANGED: Answer = Answer::Changed(true);
const UNCHANGED: Answer = Answer::Changed(false);

/// The kinds of events about a payment, with the statuses of their objects, oldest first.
fn webhook_events(world: &ScenarioWorld, id: PaymentId) -> Vec<(WebhookEventKind, &'static str)> {
    let events = world.all::<WebhookEvents>().into_iter().filter(|event| event.payment_id == Some(id));
    events.map(|event| (event.kind, event.object.status())).collect()
}

fn newest(world: &ScenarioWorld) -> WebhookEvent {
    world.all::<WebhookEvents>().pop().expect("an event")
}

fn connected(world: &mut ScenarioWorld) -> WebhookId {
    let Answer::Webhook(id) = world.given(connect_webhook(&[])) else { panic!("no webhook was made") };
    id
}

#[test]
fn a_payment_captured_at_once_has_one_event_its_completion() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let id = world.captured(initiate(session));
    assert_eq!(webhook_events(&world, id), [(WebhookEventKind::PaymentCompleted, "SUCCESSFUL")]);
    let event = newest(&world);
    let price = world.payment_row(id).money.amount.get();
    assert_eq!((event.sequence, event.amount_minor, event.created_at), (1, price, world.clock));
    assert_eq!(event.object, WebhookObject::Payment(PaymentStatus::Successful));
    assert!(world.find::<WebhookEventsByPayment>((id, event.id)).is_some());
    assert_eq!(world.state.webhook_events, 1);
}

#[test]
fn each_step_of_a_manually_captured_payment_has_an_event() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::authorized_payment);
    world.given(capture(id));
    world.given(operation_answered(id, OperationKind::Capture, 1, refused()));
    world.given(capture(id));
    world.given(operation_answered(id, OperationKind::Capture, 2, succeeded()));
    let expected = [
        (WebhookEventKind::PaymentAuthorized, "AUTHORIZED"),
        (WebhookEventKind::PaymentOperationFailed, "AUTHORIZED"),
        (WebhookEventKind::PaymentCompleted, "SUCCESSFUL"),
    ];
    assert_eq!(webhook_events(&world, id), expected);
    let voided = world.authorized_payment();
    world.given(void(voided));
    world.given(void_done(voided));
    assert_eq!(webhook_events(&world, voided)[1..], [(WebhookEventKind::PaymentVoided, "VOIDED")]);
    let reversed = world.held();
    world.given(reverse(reversed));
    world.given(reversal_done(reversed));
    assert_eq!(webhook_events(&world, reversed).last(), Some(&(WebhookEventKind::PaymentReversed, "REVERSED")));
}

#[test]
fn failures_and_expiries_have_events_and_late_successes_do_not() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let failed = world.payment(initiate(session));
    world.given(result(failed, declined()));
    assert_eq!(webhook_events(&world, failed), [(WebhookEventKind::PaymentCompleted, "FAILED")]);
    let session = world.card_session();
    let expired = world.payment(initiate(session));
    world.after_seconds(3_601);
    world.given(expire(expired));
    world.given(result(expired, approved_and_captured()));
    assert_eq!(webhook_events(&world, expired), [(WebhookEventKind::PaymentExpired, "EXPIRED")]);
}

#[test]
fn a_refund_has_an_event_when_it_has_ended() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    let before = webhook_events(&world, id).len();
    let (paid, refused_one) = (world.refund(refund(id).part(40)), world.refund(refund(id).part(50)));
    assert_eq!(webhook_events(&world, id).len(), before, "it is under way");
    world.given(refund_done(paid));
    assert_eq!(newest(&world).object, WebhookObject::Refund(paid, RefundStatus::Successful));
    assert_eq!(newest(&world).amount_minor, 40);
    world.given(refund_answered(refused_one, refused()));
    assert_eq!(newest(&world).object, WebhookObject::Refund(refused_one, RefundStatus::Failed));
}

#[test]
fn a_webhook_is_connected_changed_stopped_and_connected_again() {
    let mut world = ScenarioWorld::open();
    let (answer, written) = world.when(connect_webhook(&[WebhookEventKind::RefundCompleted])).writes_to_the_vault();
    let Answer::Webhook(id) = answer else { panic!("no webhook was made") };
    assert_eq!(written, [VaultWrite::KeepWebhookSecret(id, SecretSlot::First)]);
    let first = world.look_up::<Webhooks>(id);
    assert_eq!(first.status, WebhookStatus::Connected);
    assert!(first.subscription.includes(WebhookEventKind::RefundCompleted));
    assert!(!first.subscription.includes(WebhookEventKind::PaymentCompleted));
    let directory = |world: &ScenarioWorld| world.find::<WebhookDirectory>((world.merchant_id, id)).is_some();
    assert!(directory(&world));
    world.when(rename_webhook(id, "till")).answers(CHANGED);
    world.when(rename_webhook(id, "till")).changes_nothing(UNCHANGED);
    world.when(disconnect_webhook(id)).answers(CHANGED);
    world.when(disconnect_webhook(id)).changes_nothing(UNCHANGED);
    assert!(!directory(&world));
    assert!(world.state.connected_webhooks.is_empty());
    world.when(disable_webhook(id)).changes_nothing(UNCHANGED);
    world.when(reconnect_webhook(id)).answers(CHANGED);
    let again = world.look_up::<Webhooks>(id);
    assert!(again.connected_after > first.connected_after, "it is sent what happens from now on");
    assert!(directory(&world));
}

#[test]
fn a_failing_webhook_is_disabled_until_it_is_connected_again() {
    let (mut world, id) = ScenarioWorld::open_with(connected);
    world.when(disable_webhook(id)).answers(CHANGED);
    let disabled = world.look_up::<Webhooks>(id);
    assert_eq!((disabled.status, disabled.disabled_at), (WebhookStatus::Disabled, Some(world.clock)));
    world.given(reconnect_webhook(id));
    let again = world.look_up::<Webhooks>(id);
    assert_eq!((again.status, again.disabled_at), (WebhookStatus::Connected, None));
}

/// The slots of the secrets that were replaced and still sign, with the seconds that they have left.
fn previous(world: &ScenarioWorld, id: WebhookId) -> Vec<(SecretSlot, u64)> {
    let left = |until: till_domain::time::Millis| until.unix_seconds() - world.clock.unix_seconds();
    world.look_up::<Webhooks>(id).previous_secrets.iter().map(|secret| (secret.slot, left(secret.until))).collect()
}

#[test]
fn each_replaced_secret_signs_until_its_own_day_is_over() {
    let (mut world, id) = ScenarioWorld::open_with(connected);
    let (answer, written) = world.when(rotate_webhook_secret(id)).writes_to_the_vault();
    assert_eq!(answer, Answer::Webhook(id));
    assert_eq!(written, [VaultWrite::KeepWebhookSecret(id, SecretSlot::Second)]);
    world.after_seconds(100);
    world.given(rotate_webhook_secret(id));
    let first = (SecretSlot::First, PREVIOUS_SECRET_SECONDS - 100);
    assert_eq!(previous(&world, id), [first, (SecretSlot::Second, PREVIOUS_SECRET_SECONDS)]);
    world.given(rotate_webhook_secret(id));
    world.when(rotate_webhook_secret(id)).refused(Refusal::TooManySecrets { limit: PREVIOUS_SECRETS_MAX });
    world.after_seconds(PREVIOUS_SECRET_SECONDS - 100);
    let (_, written) = world.when(rotate_webhook_secret(id)).writes_to_the_vault();
    assert_eq!(written, [VaultWrite::KeepWebhookSecret(id, SecretSlot::First)], "its slot is free again");
    assert_eq!(previous(&world, id).len(), PREVIOUS_SECRETS_MAX);
}

#[test]
fn a_rotation_after_a_leak_ends_all_replaced_secrets_at_once() {
    let (mut world, id) = ScenarioWorld::open_with(connected);
    for _ in 0..PREVIOUS_SECRETS_MAX {
        world.given(rotate_webhook_secret(id));
    }
    let (_, written) = world.when(end_webhook_secrets(id)).writes_to_the_vault();
    let forgotten = [SecretSlot::Second, SecretSlot::Third, SecretSlot::Fourth];
    assert_eq!(written[0], VaultWrite::KeepWebhookSecret(id, SecretSlot::First));
    assert_eq!(written[1..], forgotten.map(|slot| VaultWrite::ForgetWebhookSecret(id, slot)));
    assert!(previous(&world, id).is_empty());
    world.given(rotate_webhook_secret(id));
}

/// A connected webhook, and three events after that.
fn with_events(world: &mut ScenarioWorld) -> (WebhookId, [WebhookEvent; 3]) {
    let id = connected(world);
    let events = [(); 3].map(|()| {
        world.held();
        newest(world)
    });
    (id, events)
}

#[test]
fn an_order_counts_its_events_by_sequence_and_excludes_another() {
    let mut world = ScenarioWorld::open();
    let (id, [first, _, last]) = with_events(&mut world);
    world.when(redeliver_webhook(id, first, last)).answers(Answer::Redelivery { events: 3 });
    let order = world.look_up::<Webhooks>(id).redelivery.expect("an order");
    assert_eq!((order.first, order.last), (first.id, last.id));
    world.when(redeliver_webhook(id, last, last)).refused(Refusal::RedeliveryUnderWay);
    world.when(redeliver_event(id, Some(last))).refused(Refusal::RedeliveryUnderWay);
    world.when(end_redelivery(id, last.id)).changes_nothing(UNCHANGED);
    world.when(end_redelivery(id, order.ordered_after)).answers(CHANGED);
    world.when(redeliver_event(id, Some(first))).answers(Answer::Redelivery { events: 1 });
    let next = world.look_up::<Webhooks>(id).redelivery.expect("an order");
    assert!(next.ordered_after > order.ordered_after);
    world.when(end_redelivery(id, order.ordered_after)).changes_nothing(UNCHANGED);
}

#[test]
fn an_order_without_events_is_not_recorded() {
    let mut world = ScenarioWorld::open();
    let (_, [event, ..]) = with_events(&mut world);
    let Answer::Webhook(refunds) = world.given(connect_webhook(&[WebhookEventKind::RefundCompleted])) else {
        panic!("no webhook was made")
    };
    world.when(redeliver_event(refunds, Some(event))).changes_nothing(Answer::Redelivery { events: 0 });
    world.when(redeliver_events(refunds, None)).changes_nothing(Answer::Redelivery { events: 0 });
    assert_eq!(world.look_up::<Webhooks>(refunds).redelivery, None);
}

#[test]
fn an_order_ends_when_its_webhook_is_stopped() {
    let mut world = ScenarioWorld::open();
    let (id, [first, _, last]) = with_events(&mut world);
    for stop in [disconnect_webhook, disable_webhook] {
        world.given(redeliver_webhook(id, first, last));
        world.given(stop(id));
        assert_eq!(world.look_up::<Webhooks>(id).redelivery, None);
        let status = world.look_up::<Webhooks>(id).status;
        world.when(redeliver_event(id, Some(last))).refused(Refusal::WebhookNotConnected { status });
        world.given(reconnect_webhook(id));
    }
}

#[test]
fn an_unknown_event_and_a_suspended_merchant_get_no_order() {
    let mut world = ScenarioWorld::open();
    let (id, [first, _, last]) = with_events(&mut world);
    world.when(redeliver_event(id, None)).refused(Refusal::WebhookEventNotFound);
    world.given(redeliver_webhook(id, first, last).named("again"));
    world.given(suspend());
    world.when(redeliver_webhook(id, first, last).named("again")).replays(Answer::Redelivery { events: 3 });
    world.when(redeliver_event(id, Some(last))).refused(Refusal::MerchantSuspended);
    assert!(world.look_up::<Webhooks>(id).redelivery.is_some(), "an accepted order rests");
}

#[test]
fn a_test_is_judged_before_its_attempt_and_kept_after_it() {
    let (mut world, id) = ScenarioWorld::open_with(connected);
    let unknown = raw_id(9, WebhookId::from_raw);
    world.when(judge_webhook_test(unknown)).refused(Refusal::WebhookNotFound);
    world.when(judge_webhook_test(id).named("judged")).changes_nothing(UNCHANGED);
    world.when(judge_webhook_test(id).named("judged")).changes_nothing(UNCHANGED);
    let delivery_id = raw_id(9, DeliveryId::from_raw);
    let result = WebhookTest { delivery_id, is_successful: false, response_status: Some(500), latency_ms: Some(7) };
    world.given(suspend());
    world.when(record_webhook_test(result).named("test")).answers(Answer::WebhookTested(result));
    world.when(record_webhook_test(result).named("test")).replays(Answer::WebhookTested(result));
    world.when(judge_webhook_test(id)).refused(Refusal::MerchantSuspended);
}

#[test]
fn webhooks_have_a_limit_that_excludes_stopped_ones() {
    let (mut world, first) = ScenarioWorld::open_with(connected);
    for _ in 1..WEBHOOKS_MAX {
        connected(&mut world);
    }
    let too_many = Refusal::TooMany { kind: "webhooks", limit: WEBHOOKS_MAX };
    world.when(connect_webhook(&[])).refused(too_many);
    world.given(disconnect_webhook(first));
    connected(&mut world);
    world.when(reconnect_webhook(first)).refused(too_many);
}

#[test]
fn a_webhook_that_is_not_there_is_not_found() {
    let mut world = ScenarioWorld::open();
    let unknown = raw_id(9, WebhookId::from_raw);
    let asks = [
        rename_webhook(unknown, "a"),
        disconnect_webhook(unknown),
        reconnect_webhook(unknown),
        disable_webhook(unknown),
    ];
    for ask in asks.into_iter().chain([rotate_webhook_secret(unknown)]) {
        world.when(ask).refused(Refusal::WebhookNotFound);
    }
}

#[test]
fn a_suspended_merchant_can_stop_webhooks_and_rotate_secrets() {
    let (mut world, id) = ScenarioWorld::open_with(connected);
    world.given(suspend());
    world.when(connect_webhook(&[])).refused(Refusal::MerchantSuspended);
    world.when(rename_webhook(id, "a")).refused(Refusal::MerchantSuspended);
    world.given(rotate_webhook_secret(id));
    world.given(disconnect_webhook(id));
    world.when(reconnect_webhook(id)).refused(Refusal::MerchantSuspended);
}

#[test]
fn an_event_is_removed_after_30_days_and_numbering_continues() {
    let (mut world, id) = ScenarioWorld::open_with(ScenarioWorld::held);
    let event = newest(&world);
    world.after_seconds(EVENT_KEPT_SECONDS - 1);
    world.when(sweep([Expired::WebhookEvent(event.id)])).changes_nothing(UNCHANGED);
    world.after_seconds(1);
    world.when(sweep([Expired::WebhookEvent(event.id)])).answers(CHANGED);
    assert_eq!(world.find::<WebhookEvents>(event.id), None);
    assert!(world.find::<WebhookEventsByPayment>((id, event.id)).is_none());
    world.held();
    assert_eq!(newest(&world).sequence, world.state.webhook_events);
    assert!(newest(&world).sequence > event.sequence);
}
