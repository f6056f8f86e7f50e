//! Payouts: contract, sections 7, 9.1a, 10 and 11.

use crate::words::*;
use crate::world::{ScenarioWorld, assert_legs};
use till_domain::activity::{ActivityObject, ActivityType, Actor};
use till_domain::command::Expired;
use till_domain::event::Answer;
use till_domain::ids::PayoutId;
use till_domain::ledger::{Account, Cause, Direction, EntryStatus, EntryType};
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::records::{Activities, OpenPayouts, Payouts, Transactions, WebhookEvents, WebhookEventsByPayment};
use till_domain::refusal::Refusal;
use till_domain::webhook::{EVENT_KEPT_SECONDS, WebhookEvent, WebhookEventKind, WebhookObject};

/// A merchant with this amount on its balance.
fn with_balance(minor: u64) -> ScenarioWorld {
    let mut world = ScenarioWorld::open();
    world.given(topup(minor));
    world
}

fn row(world: &ScenarioWorld, id: PayoutId) -> Payout {
    world.look_up::<Payouts>(id)
}

fn available(world: &ScenarioWorld) -> i64 {
    world.totals().available_minor()
}

fn newest_event(world: &ScenarioWorld) -> WebhookEvent {
    world.all::<WebhookEvents>().pop().expect("an event")
}

#[test]
fn an_accepted_payout_is_on_hold_until_it_is_answered() {
    let mut world = with_balance(1_000);
    let id = world.payout(payout_known_as(400, "out-1"));
    let payout = row(&world, id);
    assert_eq!((payout.status, payout.money), (PayoutStatus::Pending, thb(400)));
    assert_eq!(payout.external_id, Some(external("out-1")));
    assert!(world.find::<OpenPayouts>(id).is_some());
    let transaction = world.look_up::<Transactions>(payout.transaction_id);
    assert_eq!((transaction.cause, transaction.status), (Cause::Payout(id), EntryStatus::OnHold));
    assert_legs(
        &transaction,
        &[
            (Account::Balance, Direction::Debit, EntryType::PayOut, 400),
            (Account::BankClearing, Direction::Credit, EntryType::PayOut, 400),
        ],
    );
    assert_eq!((available(&world), world.totals().pending_minor()), (600, 0));
}

#[test]
fn a_paid_payout_is_effective_and_says_when_it_was_paid() {
    let mut world = with_balance(1_000);
    let id = world.payout(payout(400));
    world.after_seconds(60);
    world.when(payout_done(id)).answers(Answer::Changed(true));
    let payout = row(&world, id);
    assert_eq!((payout.status, payout.paid_at), (PayoutStatus::Successful, Some(world.clock)));
    let transaction = world.look_up::<Transactions>(payout.transaction_id);
    assert_eq!((transaction.status, transaction.effective_at), (EntryStatus::Effective, Some(world.clock)));
    assert_eq!(available(&world), 600);
    assert!(world.find::<OpenPayouts>(id).is_none());
}

#[test]
fn a_failed_payout_gives_its_amount_back_and_says_why() {
    let mut world = with_balance(1_000);
    let id = world.payout(payout(400));
    world.given(payout_answered(id, refused()));
    let payout = row(&world, id);
    assert_eq!(
        (payout.status, payout.failure, payout.paid_at),
        (PayoutStatus::Failed, Some(refusal_by_acquirer()), None)
    );
    let transaction = world.look_up::<Transactions>(payout.transaction_id);
    assert_eq!((transaction.status, transaction.canceled_at), (EntryStatus::Canceled, Some(world.clock)));
    assert_eq!(available(&world), 1_000);
}

#[test]
fn a_second_answer_to_a_payout_changes_nothing() {
    let mut world = with_balance(1_000);
    let (paid, failed) = (world.payout(payout(400)), world.payout(payout(500)));
    world.given(payout_done(paid));
    world.given(payout_answered(failed, refused()));
    for id in [paid, failed, PayoutId::from_bytes([9; 16])] {
        world.when(payout_done(id)).changes_nothing(Answer::Changed(false));
        world.when(payout_answered(id, refused())).changes_nothing(Answer::Changed(false));
    }
    assert_eq!(available(&world), 600);
}

#[test]
fn a_payout_needs_available_money_and_not_pending_money() {
    let mut world = ScenarioWorld::open();
    world.when(payout(1)).refused(Refusal::InsufficientBalance { available_minor: 0 });
    world.held();
    world.given(topup(500));
    world.when(payout(501)).refused(Refusal::InsufficientBalance { available_minor: 500 });
    world.given(payout(300));
    world.when(payout(201)).refused(Refusal::InsufficientBalance { available_minor: 200 });
    world.given(payout(200));
    world.given(invoice(50));
    world.when(payout(1)).refused(Refusal::InsufficientBalance { available_minor: -50 });
}

#[test]
fn a_payout_is_judged_by_its_external_id_before_the_balance() {
    let mut world = with_balance(100);
    let payout_id = world.payout(payout_known_as(100, "out-1"));
    world.when(payout_known_as(1, "out-1")).refused(Refusal::PayoutExternalIdTaken { payout_id });
    world.when(payout_known_as(1, "out-2")).refused(Refusal::InsufficientBalance { available_minor: 0 });
    world.given(payout_answered(payout_id, refused()));
    world.when(payout_known_as(1, "out-1")).refused(Refusal::PayoutExternalIdTaken { payout_id });
}

#[test]
fn a_suspended_merchant_sends_no_payout_and_open_ones_end() {
    let mut world = with_balance(100);
    let id = world.payout(payout(60));
    world.given(suspend());
    world.when(payout(1)).refused(Refusal::MerchantSuspended);
    world.given(payout_done(id));
    assert_eq!(row(&world, id).status, PayoutStatus::Successful);
}

#[test]
fn an_accepted_payout_is_an_activity_and_its_end_is_not() {
    let mut world = with_balance(100);
    let id = world.payout(payout(60));
    world.given(payout_done(id));
    let activities = world.all::<Activities>();
    let [activity] = activities.as_slice() else { panic!("{activities:?}") };
    assert_eq!((activity.activity_type, activity.object), (ActivityType::PayoutCreated, ActivityObject::Payout(id)));
    assert_eq!((&activity.actor, activity.parent), (&Actor::ApiKey(world.first_key()), None));
}

#[test]
fn a_payout_has_an_event_when_it_has_ended() {
    let mut world = with_balance(1_000);
    let (paid, failed) = (world.payout(payout(400)), world.payout(payout(500)));
    assert!(world.all::<WebhookEvents>().is_empty(), "both are under way");
    for (id, result, status) in
        [(paid, succeeded(), PayoutStatus::Successful), (failed, refused(), PayoutStatus::Failed)]
    {
        world.given(payout_answered(id, result));
        let event = newest_event(&world);
        assert_eq!((event.kind, event.payment_id), (WebhookEventKind::PayoutCompleted, None));
        assert_eq!(event.object, WebhookObject::Payout(id, status));
        assert_eq!(event.amount_minor, row(&world, id).money.amount.get());
    }
    assert!(world.all::<WebhookEventsByPayment>().is_empty());
    world.after_seconds(EVENT_KEPT_SECONDS);
    let all: Vec<_> = world.all::<WebhookEvents>().iter().map(|event| Expired::WebhookEvent(event.id)).collect();
    world.given(sweep(all));
    assert!(world.all::<WebhookEvents>().is_empty());
}

#[test]
fn a_named_payout_is_sent_once() {
    let mut world = with_balance(1_000);
    let answer = world.given(payout(400).named("call-1"));
    world.when(payout(400).named("call-1")).replays(answer);
    assert_eq!((world.all::<Payouts>().len(), available(&world)), (1, 600));
}
