//! An operation that must happen once happens once, even when several callers ask for it at the same time.

use std::collections::BTreeSet;
use till_domain::event::Answer;
use till_domain::ids::PaymentId;
use till_domain::records::PaymentsByExternalId;
use till_domain::refusal::Refusal;
use till_domain::text::ExternalId;

use crate::shop::{initiate, named};
use crate::world::{EngineWorld, all, assert_refused};

const AT_ONCE: usize = 200;

fn payment_id(answer: Answer) -> PaymentId {
    let Answer::Payment(id) = answer else { panic!("{answer:?} is no payment") };
    id
}

#[actix_rt::test]
async fn of_200_concurrent_payments_with_one_external_id_one_is_made() {
    let (world, shop) = EngineWorld::with_shop().await;
    let sessions = world.sessions(&shop, AT_ONCE).await;
    let ask = |session_id: &_| world.send(shop.merchant_id, initiate(*session_id).external_id("inv_1").by(&shop));
    let replies = all(sessions.iter().map(ask).collect::<Vec<_>>()).await;
    let made: Vec<_> = replies.iter().filter_map(|reply| reply.as_ref().ok()).collect();
    assert_eq!(made.len(), 1);
    let payment_id = payment_id(made[0].answer);
    for refused in replies.iter().filter(|reply| reply.is_err()) {
        assert_refused(refused, Refusal::ExternalIdTaken { payment_id: Some(payment_id), checkout_id: None });
    }
    let external_id = ExternalId::new("inv_1").expect("of proper form");
    assert_eq!(world.find::<PaymentsByExternalId>(&shop, external_id), Some(payment_id));
}

#[actix_rt::test]
async fn of_200_payments_of_one_session_at_once_exactly_one_is_made() {
    let (world, shop) = EngineWorld::with_shop().await;
    let session_id = world.session(&shop).await;
    let sent: Vec<_> = (0..AT_ONCE).map(|_| world.send(shop.merchant_id, initiate(session_id).by(&shop))).collect();
    let replies = all(sent).await;
    let made: Vec<_> = replies.iter().filter_map(|reply| reply.as_ref().ok()).collect();
    assert_eq!(made.len(), 1);
    let used_by = Some(payment_id(made[0].answer));
    for refused in replies.iter().filter(|reply| reply.is_err()) {
        assert_refused(refused, Refusal::SessionNotActive { payment_id: used_by });
    }
}

#[actix_rt::test]
async fn concurrent_calls_with_one_idempotency_key_make_one_payment() {
    let (world, shop) = EngineWorld::with_shop().await;
    let session_id = world.session(&shop).await;
    let request = || named(initiate(session_id).by(&shop), "order-7");
    let replies = all((0..100).map(|_| world.send(shop.merchant_id, request())).collect::<Vec<_>>()).await;
    let answered: Vec<_> = replies.into_iter().map(|reply| reply.expect("none is refused")).collect();
    let different: BTreeSet<_> = answered.iter().map(|answered| payment_id(answered.answer)).collect();
    assert_eq!(different.len(), 1);
    assert_eq!(answered.iter().filter(|answered| answered.replayed).count(), 99);
    let world = world.restart();
    let again = world.submit(shop.merchant_id, request()).await.expect("a replay");
    assert!(again.replayed, "across restarts too");
    assert_eq!(again.answer, answered[0].answer);
}
