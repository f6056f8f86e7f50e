//! Test clocks: contract, section 9.1a.

use crate::words::*;
use crate::world::ScenarioWorld;
use till_domain::command::Expired;
use till_domain::decide::Outcome;
use till_domain::effect::{EffectId, EffectKind};
use till_domain::event::Answer;
use till_domain::ids::Id;
use till_domain::ledger::EntryStatus;
use till_domain::merchant::{ADVANCE_MAX_SECONDS, SETTLEMENT_DELAY_DEFAULT_SECONDS, TestClock};
use till_domain::payment::AUTHORIZATION_LIFETIME_SECONDS;
use till_domain::records::{ApiKeys, Effects, Payments, TestClocks, WebhookEvents, Webhooks};
use till_domain::refusal::Refusal;
use till_domain::time::Millis;
use till_domain::webhook::EVENT_KEPT_SECONDS;

const DAY_SECONDS: u64 = 86_400;
const CHANGED: Answer = Answer::Changed(true);

#[test]
fn a_new_test_clock_shows_the_wall_clock() {
    let world = ScenarioWorld::on_test_clock();
    assert_eq!(world.find::<TestClocks>(world.merchant_id), Some(TestClock { offset_ms: 0 }));
    assert_eq!(ScenarioWorld::open().state.test_clock, None);
}

#[test]
fn an_advanced_clock_stays_ahead_of_the_wall_clock_by_as_much() {
    let mut world = ScenarioWorld::on_test_clock();
    let to = world.clock.plus_seconds(30 * DAY_SECONDS);
    world.when(advance_clock(world.merchant_id, to)).answers(CHANGED);
    assert_eq!((world.state.last_at, world.merchant_now()), (to, to));
    world.after_seconds(60);
    world.given(open_balance());
    assert_eq!(world.state.last_at, to.plus_seconds(60));
    world.given(advance_clock(world.merchant_id, to.plus_seconds(DAY_SECONDS)));
    assert_eq!(world.merchant_now(), to.plus_seconds(DAY_SECONDS));
}

#[test]
fn an_advance_goes_forward_and_by_400_days_at_most() {
    let mut world = ScenarioWorld::on_test_clock();
    let (id, now) = (world.merchant_id, world.clock);
    let latest = now.plus_seconds(ADVANCE_MAX_SECONDS);
    for to in [Millis(0), Millis(now.0 - 1), now] {
        world.when(judge_advance(id, to)).refused(Refusal::ClockNotForward { now });
    }
    world.when(judge_advance(id, Millis(latest.0 + 1))).refused(Refusal::ClockTooFar { latest });
    for to in [Millis(now.0 + 1), latest] {
        world.when(judge_advance(id, to)).changes_nothing(CHANGED);
    }
}

#[test]
fn a_merchant_without_a_test_clock_is_not_advanced() {
    let mut world = ScenarioWorld::open();
    let (id, to) = (world.merchant_id, world.clock.plus_seconds(1));
    for ask in [judge_advance(id, to), advance_clock(id, to), step_clock(id, to, Vec::new())] {
        world.when(ask).refused(Refusal::NoTestClock);
    }
}

#[test]
fn a_call_that_is_only_judged_keeps_no_answer() {
    let mut world = ScenarioWorld::on_test_clock();
    let (id, to) = (world.merchant_id, world.clock.plus_seconds(DAY_SECONDS));
    world.when(judge_advance(id, to).named("a")).changes_nothing(CHANGED);
    let named = advance_clock(id, to).named("a");
    world.when(named.clone()).answers(CHANGED);
    assert!(matches!(world.step(&named), Ok(Outcome::Replayed(CHANGED))));
}

#[test]
fn an_instant_that_has_passed_leaves_the_clock_as_it_is() {
    let mut world = ScenarioWorld::on_test_clock();
    let to = world.clock.plus_seconds(5);
    world.after_seconds(6);
    world.when(advance_clock(world.merchant_id, to)).changes_nothing(CHANGED);
    world.when(step_clock(world.merchant_id, to, Vec::new())).changes_nothing(Answer::Changed(false));
}

#[test]
fn captures_settle_each_at_its_own_instant() {
    let mut world = ScenarioWorld::on_test_clock();
    let first = world.held();
    world.after_seconds(3_600);
    let second = world.held();
    let timers = world.timers_of_payments();
    assert_eq!(timers.len(), 2);
    for timer in &timers {
        world.when(step_clock(world.merchant_id, timer.due, vec![*timer])).answers(CHANGED);
        world.clock.0 += 250; // The wall clock goes on between two steps.
    }
    let effective = [first, second].map(|id| world.transaction_of(id).effective_at);
    assert_eq!(effective, [Some(timers[0].due), Some(timers[1].due)]);
    assert_eq!(timers[0].due.plus_seconds(3_600), timers[1].due);
    assert_eq!(world.transaction_of(second).status, EntryStatus::Effective);
}

#[test]
fn a_step_leaves_timers_of_later_instants_alone() {
    let mut world = ScenarioWorld::on_test_clock();
    world.held();
    world.after_seconds(3_600);
    world.held();
    let timers = world.timers();
    world.given(step_clock(world.merchant_id, timers[0].due, timers.clone()));
    assert_eq!(world.timers(), timers[1..]);
}

#[test]
fn an_authorization_lapses_in_a_step() {
    let mut world = ScenarioWorld::on_test_clock();
    let id = world.authorized_payment();
    let (now, timers) = (world.merchant_now(), world.timers());
    assert_eq!(timers[0].due, now.plus_seconds(AUTHORIZATION_LIFETIME_SECONDS));
    world.given(step_clock(world.merchant_id, timers[0].due, timers));
    let effect = world.look_up::<Effects>(EffectId::operation(id));
    assert_eq!((effect.kind, effect.opened_at), (EffectKind::Void, world.merchant_now()));
}

#[test]
fn keys_sessions_and_ids_use_the_merchants_time() {
    let mut world = ScenarioWorld::on_test_clock();
    let expires_at = world.clock.plus_seconds(DAY_SECONDS);
    let key = world.key(generate_key(world.merchant_id, 2, Some(expires_at)));
    let session = world.card_session();
    world.given(advance_clock(world.merchant_id, expires_at));
    assert!(!world.look_up::<ApiKeys>(key).is_live(world.merchant_now()));
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: None });
    let session = world.card_session();
    let payment = world.payment(initiate(session));
    assert_eq!(payment.to_raw().position().millis, expires_at.0);
    assert_eq!(world.look_up::<Payments>(payment).created_at, expires_at);
}

#[test]
fn entries_on_hold_settle_by_the_merchants_advanced_time() {
    let mut world = ScenarioWorld::on_test_clock();
    world.given(advance_clock(world.merchant_id, world.clock.plus_seconds(DAY_SECONDS)));
    world.held();
    let due = world.timers()[0].due;
    assert_eq!(due, world.clock.plus_seconds(DAY_SECONDS + SETTLEMENT_DELAY_DEFAULT_SECONDS));
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    assert_eq!(world.fire_all(), CHANGED);
}

#[test]
fn a_replaced_webhook_secret_signs_for_a_day_of_the_wall_clock() {
    let mut world = ScenarioWorld::on_test_clock();
    world.given(advance_clock(world.merchant_id, world.clock.plus_seconds(9 * DAY_SECONDS)));
    let Answer::Webhook(id) = world.given(connect_webhook(&[])) else { panic!("no webhook") };
    world.given(rotate_webhook_secret(id));
    let webhook = world.look_up::<Webhooks>(id);
    assert_eq!(webhook.previous_secrets[0].until, world.clock.plus_seconds(DAY_SECONDS));
    assert_eq!(webhook.created_at, world.merchant_now());
}

#[test]
fn a_webhook_event_is_kept_for_30_days_of_the_wall_clock() {
    let mut world = ScenarioWorld::on_test_clock();
    world.given(advance_clock(world.merchant_id, world.clock.plus_seconds(90 * DAY_SECONDS)));
    world.held();
    let event = world.all::<WebhookEvents>().pop().expect("an authorization is an event");
    assert_eq!(event.created_at, world.merchant_now());
    world.given(advance_clock(world.merchant_id, world.merchant_now().plus_seconds(90 * DAY_SECONDS)));
    world.after_seconds(EVENT_KEPT_SECONDS - 1);
    world.when(sweep([Expired::WebhookEvent(event.id)])).changes_nothing(Answer::Changed(false));
    world.after_seconds(1);
    world.when(sweep([Expired::WebhookEvent(event.id)])).answers(CHANGED);
    assert_eq!(world.find::<WebhookEvents>(event.id), None);
}

#[test]
fn a_merchants_time_stays_when_the_wall_clock_steps_back() {
    let mut world = ScenarioWorld::on_test_clock();
    world.given(open_balance());
    let last = world.state.last_at;
    world.clock.0 -= 3_600_000;
    world.when(judge_advance(world.merchant_id, last)).refused(Refusal::ClockNotForward { now: last });
    let to = last.plus_seconds(DAY_SECONDS);
    world.given(advance_clock(world.merchant_id, to));
    assert_eq!((world.state.last_at, world.state.clock_offset_ms()), (to, DAY_SECONDS * 1_000));
}
