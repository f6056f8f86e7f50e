//! The check for a watchdog that the engine answers.

use std::time::Duration;
use till_actors::{OpenEffects, Silent};

use crate::shop::{initiate, topup};
use crate::world::{EngineWorld, done, eventually};

/// Longer than any thread takes that is not stuck.
const PATIENCE: Duration = Duration::from_secs(30);

#[actix_rt::test]
async fn a_stuck_commit_thread_is_reported_until_it_continues() {
    let (world, shop) = EngineWorld::with_shop().await;
    assert_eq!(world.engine.check_answers(PATIENCE), Ok(()));
    world.store.hold_appends();
    let held = world.send(shop.merchant_id, topup(1));
    let stats = world.engine.commit_stats();
    eventually("the record is with the journal", || stats.staged_records() == 1 && stats.queued() == 0).await;
    assert_eq!(world.engine.check_answers(Duration::from_millis(20)), Err(Silent::CommitThread));
    world.store.resume_appends();
    done(held.await.expect("it was not given up"));
    assert_eq!(world.engine.check_answers(PATIENCE), Ok(()));
    assert_eq!(stats.staged_records(), 0);
    assert_eq!(
        stats.commit_micros().counts().iter().sum::<u64>(),
        stats.batches(),
        "each batch was timed once, since somebody waited for each"
    );
}

#[actix_rt::test]
async fn an_effect_without_a_result_counts_until_it_has_one() {
    let (world, shop) = EngineWorld::with_shop().await;
    let session = world.sessions(&shop, 1).await.remove(0);
    assert_eq!(world.engine.open_effects(), OpenEffects::default());
    world.script.do_not_answer(Some(shop.merchant_id));
    done(world.submit(shop.merchant_id, initiate(session).by(&shop)).await);
    let engine = &world.engine;
    eventually("it was asked for, and is open", || world.script.calls() > 0 && engine.open_effects().count == 1).await;
    assert!(engine.open_effects().oldest > Duration::ZERO, "and it grows older");
    world.script.do_not_answer(None);
    eventually("it has a result", || engine.open_effects() == OpenEffects::default()).await;
    assert!(world.script.calls() >= 2, "it was asked for again");
}
