//! The netting of captures on hold with the debits that belong to them: `available` and `pending` as the contract
//! defines them, computed from the transactions.

use crate::invariants;
use crate::random::Random;
use crate::words::*;
use crate::world::ScenarioWorld;
use std::collections::BTreeMap;
use till_domain::dispute::DisputeOutcome;
use till_domain::ids::PaymentId;
use till_domain::ledger::{Direction, EntryStatus};
use till_domain::merchant::{PaymentMethod, SETTLEMENT_DELAY_DEFAULT_SECONDS};
use till_domain::money::AMOUNT_MAX_MINOR;
use till_domain::records::{Disputes, Payments, Refunds, Transactions};
use till_domain::refusal::Refusal;
use till_domain::session::InterestBearer;

/// A world in which instalments cost a fixed fee, at most their amount, and 3 % interest.
fn with_instalment_fee(fixed_minor: u64) -> ScenarioWorld {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Installment, with_fee(0, fixed_minor)));
    world
}

/// A captured payment by instalments whose interest the merchant bears.
fn by_instalments(world: &mut ScenarioWorld, minor: u64) -> PaymentId {
    let session = world.session(select_installment(InterestBearer::Merchant).money(thb(minor)));
    world.captured(initiate(session).money(thb(minor)).bearer(InterestBearer::Merchant))
}

fn settle_all(world: &mut ScenarioWorld) {
    world.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
    world.fire_all();
}

#[test]
fn the_excess_of_a_captures_costs_is_not_available_at_once() {
    let mut world = with_instalment_fee(500);
    world.given(topup(100));
    by_instalments(&mut world, 500);
    assert_eq!(world.balance(), (85, 0));
    world.when(payout(100)).refused(Refusal::InsufficientBalance { available_minor: 85 });
    world.when(payout(85)).takes_effect();
    settle_all(&mut world);
    assert_eq!(world.balance(), (0, 0));
}

#[test]
fn the_excess_of_a_captures_costs_uses_up_no_other_capture() {
    let mut world = with_instalment_fee(5_000);
    world.held();
    let id = by_instalments(&mut world, 5_000);
    assert_eq!(world.balance(), (-150, 10_000));
    world.given(reverse(id));
    world.given(reversal_done(id));
    assert_eq!(world.balance(), (0, 10_000));
}

/// `available` and `pending` by the contract's definition, from the transactions.
fn defined_balance(world: &ScenarioWorld) -> (i64, i64) {
    let mut captures: BTreeMap<PaymentId, i64> = BTreeMap::new();
    let mut available: i64 = 0;
    let transactions = world.all::<Transactions>();
    for capture in transactions.iter().filter(|transaction| transaction.is_held_capture()) {
        captures.extend(capture.cause.payment_id().map(|payment_id| (payment_id, 0)));
    }
    for transaction in transactions.iter().filter(|transaction| transaction.status != EntryStatus::Canceled) {
        let side = |direction| i64::try_from(transaction.balance_minor(direction)).expect("small sums");
        let net = side(Direction::Credit) - side(Direction::Debit);
        let held = transaction.status == EntryStatus::OnHold;
        let payment_id = transaction.cause.payment_id().filter(|_| held);
        match payment_id.and_then(|payment_id| captures.get_mut(&payment_id)) {
            Some(left) => *left += net,
            None => available += net,
        }
    }
    let missing: i64 = captures.values().filter(|left| **left < 0).sum();
    (available + missing, captures.values().filter(|left| **left > 0).sum())
}

/// A random command about one of the payments.
fn random_ask(world: &ScenarioWorld, random: &mut Random) -> Option<Ask> {
    let payments = world.all::<Payments>();
    let id = random.pick(&payments)?.id;
    let refund_id = random.pick(&world.all::<Refunds>()).map(|refund| refund.id);
    let dispute_id = random.pick(&world.all::<Disputes>()).map(|dispute| dispute.id);
    let part = 1 + random.below(400);
    let result = if random.once_in(3) { refused() } else { succeeded() };
    let outcomes = [DisputeOutcome::Won, DisputeOutcome::Lost];
    match random.below(12) {
        0..=2 => Some(refund(id).part(part).into()),
        3 | 4 => refund_id.map(|refund_id| refund_answered(refund_id, result)),
        5 => Some(dispute_part(id, part)),
        6 => dispute_id.map(|dispute_id| close(dispute_id, random.pick(&outcomes).expect("there are two"))),
        7 => Some(reverse(id)),
        8 => Some(reversal_done(id)),
        9 => Some(payout(part)),
        10 => Some(topup(part)),
        _ => Some(fire(world.timers())),
    }
}

fn random_payment(world: &mut ScenarioWorld, random: &mut Random) {
    let fee = with_fee(0, random.below(900));
    _ = world.step(&configure(PaymentMethod::Installment, fee));
    by_instalments(world, 100 + random.below(500));
}

#[test]
fn random_walks_keep_the_balance_as_it_is_defined() {
    for seed in 1..=24 {
        let mut random = Random::seeded(seed);
        let mut world = ScenarioWorld::open();
        world.given(topup(300));
        for step in 0..120 {
            world.after_seconds(random.below(7_200));
            match random_ask(&world, &mut random).filter(|_| step % 8 != 0) {
                Some(ask) => _ = world.step(&ask),
                None => random_payment(&mut world, &mut random),
            }
            assert_eq!(world.balance(), defined_balance(&world), "seed {seed}, step {step}");
        }
        invariants::check(&world);
    }
}

#[test]
fn the_room_for_fee_and_interest_is_reserved_at_initiation() {
    let mut world = with_instalment_fee(1_000);
    world.given(invoice(AMOUNT_MAX_MINOR - 1_029));
    let session = world.session(select_installment(InterestBearer::Merchant).money(thb(1_000)));
    let ask = initiate(session).money(thb(1_000)).bearer(InterestBearer::Merchant);
    world.when(ask).refused(Refusal::TotalTooLarge);
    let session = world.session(select_installment(InterestBearer::Merchant).money(thb(999)));
    let id = world.payment(initiate(session).money(thb(999)).bearer(InterestBearer::Merchant));
    assert_eq!(world.state.reserved_minor, 1_029);
    world.when(invoice(1)).refused(Refusal::TotalTooLarge);
    world.given(result(id, declined()));
    assert_eq!(world.state.reserved_minor, 0);
}
