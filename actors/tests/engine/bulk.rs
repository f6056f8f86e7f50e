//! Filling a store in bulk: what an actor does, without waiting for each command.

use std::sync::Arc;
use till_actors::clock::Clock;
use till_actors::{Acquirers, BulkLoader, BulkMerchant, BulkMode};
use till_domain::card::TokenUsage;
use till_domain::event::Answer;
use till_domain::ids::SessionId;
use till_domain::merchant::AcquirerName;
use till_domain::payment::PaymentStatus;
use till_domain::refusal::Refusal;
use till_domain::time::Millis;
use till_sandbox::SandboxAcquirer;
use till_storage::family::Family;
use till_storage::memory::AppendFault;

use crate::shop::{PRICE_MINOR, SETTLEMENT_DELAY_SECONDS, Shop, initiate, topup};
use crate::world::{World, assert_not_done, done};

/// More than a load replays, and than wait to be durable at a time.
const MANY: u64 = 6_000;

const MODES: [BulkMode; 2] = [BulkMode::Durable, BulkMode::AllOrNothing];

/// Fills a merchant on a thread where one may wait.
fn fill<T: Send>(world: &World, shop: &Shop, mode: BulkMode, fill: impl FnOnce(BulkMerchant<'_>) -> T + Send) -> T {
    let fill = || {
        let bulk = loader(world, mode);
        fill(bulk.merchant(shop.merchant_id).expect("it loads"))
    };
    std::thread::scope(|scope| scope.spawn(fill).join().expect("it does not panic"))
}

fn loader(world: &World, mode: BulkMode) -> BulkLoader {
    let sandbox = SandboxAcquirer::start(world.book.clone()).expect("a thread can be started");
    let acquirers = Acquirers::from([(AcquirerName::Sandbox, Arc::new(sandbox) as _)]);
    BulkLoader::start(Arc::clone(&world.store) as _, Arc::clone(&world.keyring), acquirers, mode).expect("threads")
}

fn pay(merchant: &mut BulkMerchant<'_>, shop: &Shop, session_id: SessionId, at: Millis) -> Answer {
    merchant.carry_out(at, &initiate(session_id).by(shop), None).expect("it is taken")
}

#[actix_rt::test]
async fn the_engine_goes_on_with_what_was_filled_in_bulk() {
    for mode in MODES {
        let world = World::start();
        let shop = world.open_shop().await;
        let at = world.clock.now();
        fill(&world, &shop, mode, |mut merchant| {
            for _ in 0..MANY {
                merchant.carry_out(at, &topup(2), None).expect("it is taken");
            }
            merchant.wait_until_durable().expect("it is written");
        });
        let world = world.restart();
        done(world.submit(shop.merchant_id, topup(1)).await);
        assert_eq!(world.totals(&shop).effective_credit_minor, 2 * MANY + 1);
    }
}

#[actix_rt::test]
async fn calls_are_made_and_timers_fire_when_they_are_asked_for() {
    for mode in MODES {
        let world = World::start();
        let shop = world.open_shop().await;
        let token_id = world.token(&shop, TokenUsage::Multiple).await;
        let sessions = [world.session_of(&shop, token_id).await, world.session_of(&shop, token_id).await];
        let at = world.clock.now();
        let paid = fill(&world, &shop, mode, |mut merchant| {
            let paid = sessions.map(|session_id| pay(&mut merchant, &shop, session_id, at));
            merchant.make_calls(at.plus_seconds(1)).expect("the sandbox answers");
            merchant.fire_timers(at.plus_seconds(1)).expect("nothing is due");
            merchant.wait_until_durable().expect("it is written");
            assert_eq!(world.count(Family::Timers, &shop), 2);
            merchant.fire_timers(at.plus_seconds(SETTLEMENT_DELAY_SECONDS + 2)).expect("it is taken");
            merchant.wait_until_durable().expect("it is written");
            paid
        });
        let captured = paid.map(|answer| world.payment(&shop, answer));
        assert!(captured.iter().all(|payment| payment.status == PaymentStatus::Successful), "{captured:?}");
        let taken = captured.map(|payment| payment.capture.map(|capture| capture.at.0 - at.0));
        assert_eq!(taken, [Some(1_000), Some(1_001)]);
        world.assert_book_equals_ledger(&shop);
        assert_eq!(
            (world.totals(&shop).effective_credit_minor, world.count(Family::Timers, &shop)),
            (2 * PRICE_MINOR, 0)
        );
    }
}

#[actix_rt::test]
async fn what_is_refused_changes_nothing_and_the_next_is_taken() {
    for mode in MODES {
        let world = World::start();
        let shop = world.open_shop().await;
        let session_id = world.session(&shop).await;
        let at = world.clock.now();
        fill(&world, &shop, mode, |mut merchant| {
            let Answer::Payment(payment_id) = pay(&mut merchant, &shop, session_id, at) else {
                panic!("it is a payment")
            };
            let again = merchant.carry_out(at, &initiate(session_id).by(&shop), None);
            assert_eq!(again, Err(Refusal::SessionNotActive { payment_id: Some(payment_id) }.into()));
            merchant.carry_out(at, &topup(1), None).expect("it is taken");
            merchant.wait_until_durable().expect("it is written");
        });
        assert_eq!(world.totals(&shop).effective_credit_minor, 1);
    }
}

#[actix_rt::test]
async fn after_a_write_that_failed_nothing_more_is_taken() {
    for mode in MODES {
        let world = World::start();
        let shop = world.open_shop().await;
        let at = world.clock.now();
        fill(&world, &shop, mode, |mut merchant| {
            world.store.fail_append(0, AppendFault::Unavailable);
            merchant.carry_out(at, &topup(1), None).expect("it is taken");
            assert_not_done(&merchant.wait_until_durable().map(|()| unreachable!("it was not written")));
            assert_not_done(&merchant.carry_out(at, &topup(1), None).map(|_| unreachable!("nothing more is taken")));
        });
        fill(&world, &shop, mode, |mut merchant| {
            merchant.carry_out(at, &topup(5), None).expect("it is taken");
            merchant.wait_until_durable().expect("it is written");
        });
        assert_eq!(world.totals(&shop).effective_credit_minor, 5);
    }
}
