//! Timers: settlement, and authorizations that lapse.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::activity::{ActivityObject, ActivityType, Actor};
use till_domain::effect::{EffectId, EffectKind, Timer, TimerKind};
use till_domain::event::Answer;
use till_domain::ids::{PaymentId, TransactionId};
use till_domain::ledger::EntryStatus;
use till_domain::merchant::{PaymentMethod, SETTLEMENT_DELAY_DEFAULT_SECONDS};
use till_domain::payment::{AUTHORIZATION_LIFETIME_SECONDS, PaymentStatus};
use till_domain::records::{Activities, Effects, Entries};

const UNCHANGED: Answer = Answer::Changed(false);

/// A captured payment of 10,000 with a fee of 100.
fn captured(world: &mut ScenarioWorld) -> PaymentId {
    world.given(configure(PaymentMethod::Card, with_fee(100, 0)));
    let session = world.card_session();
    world.captured(initiate(session))
}

fn authorized(world: &mut ScenarioWorld) -> PaymentId {
    let session = world.card_session();
    world.authorized(initiate(session))
}

#[test]
fn a_capture_settles_with_all_its_entries_after_the_delay() {
    let (mut world, id) = ScenarioWorld::open_with(captured);
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    assert_eq!(world.fire_all(), Answer::Changed(true));
    assert_eq!(world.balance(), (9_900, 0));
    assert_eq!(world.transaction_of(id).status, EntryStatus::Effective);
    for entry in world.all::<Entries>() {
        assert_eq!((entry.status, entry.effective_at), (EntryStatus::Effective, Some(world.clock)));
    }
    assert_eq!(world.timers_of_payments(), []);
}

#[test]
fn a_timer_changes_nothing_before_its_exact_millisecond() {
    let mut world = ScenarioWorld::open();
    captured(&mut world);
    let timers = world.timers();
    world.clock.0 = timers[0].due.0 - 1;
    world.when(fire(timers.clone())).changes_nothing(UNCHANGED);
    world.clock = timers[0].due;
    world.when(fire(timers)).answers(Answer::Changed(true));
}

#[test]
fn a_timer_that_fires_again_changes_nothing() {
    let mut world = ScenarioWorld::open();
    captured(&mut world);
    let timers = world.timers();
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.given(fire(timers.clone()));
    world.when(fire(timers)).changes_nothing(UNCHANGED);
}

#[test]
fn a_timer_named_twice_in_one_call_fires_once() {
    let mut world = ScenarioWorld::open();
    captured(&mut world);
    let timer = world.timers()[0];
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.given(fire([timer, timer]));
    assert_eq!(world.totals().available_minor(), 9_900);
}

#[test]
fn a_timer_that_was_never_set_changes_nothing() {
    let (mut world, id) = ScenarioWorld::open_with(captured);
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    let due = world.clock;
    let strangers = [
        Timer { due, kind: TimerKind::Settle(raw_id(9, TransactionId::from_raw)) },
        Timer { due: till_domain::time::Millis(due.0 - 1), kind: TimerKind::Settle(world.transaction_of(id).id) },
        Timer { due, kind: TimerKind::Lapse(id) },
        Timer { due, kind: TimerKind::Lapse(raw_id(9, PaymentId::from_raw)) },
    ];
    world.when(fire(strangers)).changes_nothing(UNCHANGED);
    world.when(fire([])).changes_nothing(UNCHANGED);
}

#[test]
fn only_the_due_ones_of_several_timers_fire() {
    let mut world = ScenarioWorld::open();
    captured(&mut world);
    world.after_seconds(10);
    captured(&mut world);
    let timers = world.timers();
    world.clock = timers[0].due;
    world.given(fire(timers));
    assert_eq!(world.balance(), (9_900, 9_900));
}

#[test]
fn several_due_timers_fire_in_one_step() {
    let mut world = ScenarioWorld::open();
    captured(&mut world);
    captured(&mut world);
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    let records = world.log.len();
    world.fire_all();
    assert_eq!(world.log.len(), records + 1);
    assert_eq!(world.totals().available_minor(), 19_800);
}

#[test]
fn a_suspended_merchants_captures_settle() {
    let mut world = ScenarioWorld::open();
    captured(&mut world);
    world.given(suspend());
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    assert_eq!(world.fire_all(), Answer::Changed(true));
}

#[test]
fn an_authorization_that_lapses_is_voided_at_the_acquirer_first() {
    let (mut world, id) = ScenarioWorld::open_with(authorized);
    world.after_seconds(AUTHORIZATION_LIFETIME_SECONDS);
    assert_eq!(world.fire_all(), Answer::Changed(true));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Authorized);
    let effect = world.look_up::<Effects>(EffectId::operation(id));
    assert_eq!((effect.kind, effect.opened_at), (EffectKind::Void, world.clock));
    assert_eq!(world.timers(), []);
    assert_eq!(world.all::<Activities>().len(), 0);
}

#[test]
fn a_lapsed_authorization_is_voided_once_the_acquirer_confirms() {
    let (mut world, id) = ScenarioWorld::open_with(authorized);
    world.after_seconds(AUTHORIZATION_LIFETIME_SECONDS);
    world.fire_all();
    world.after_seconds(1);
    world.when(void_done(id)).answers(Answer::Changed(true));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Voided);
    assert_eq!(world.find::<Effects>(EffectId::operation(id)), None);
    let activities = world.all::<Activities>();
    assert_eq!(activities.len(), 1);
    assert_eq!((activities[0].activity_type, &activities[0].actor), (ActivityType::PaymentVoided, &Actor::System));
    assert_eq!((activities[0].object, activities[0].at), (ActivityObject::Payment(id), world.clock));
    world.when(void_done(id)).changes_nothing(UNCHANGED);
}

#[test]
fn an_authorization_result_during_an_open_void_changes_nothing() {
    let (mut world, id) = ScenarioWorld::open_with(authorized);
    world.after_seconds(AUTHORIZATION_LIFETIME_SECONDS);
    world.fire_all();
    world.when(result(id, approved_and_captured())).changes_nothing(UNCHANGED);
    world.when(result(id, declined())).changes_nothing(UNCHANGED);
    world.when(void_done(id)).answers(Answer::Changed(true));
}

#[test]
fn a_pending_payment_has_no_timer() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.payment(initiate(session));
    assert_eq!(world.timers(), []);
}
