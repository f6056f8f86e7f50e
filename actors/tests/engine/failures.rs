//! Failed writes, and requests that panic: nothing missing is acknowledged, and nothing undone stays staged.

use std::collections::BTreeSet;
use std::sync::Arc;
use till_actors::{Denied, FailedOutcome};
use till_domain::card::{CardFingerprint, TokenUsage};
use till_domain::event::Answer;
use till_domain::ids::{CardId, CustomerId, TokenId};
use till_domain::payment::PaymentStatus;
use till_domain::records::{AnyKey, CardsByFingerprint, Customers, Tokens, TopupsByExternalId};
use till_domain::text::ExternalId;
use till_storage::family::Family;
use till_storage::memory::AppendFault;
use till_storage::vault::{CardNumberOf, VaultKey};

use crate::acquirer::CallTreatment;
use crate::shop::{TestShop, generate_key, initiate, key_text, named, topup, topup_known_as};
use crate::world::{EngineWorld, all, assert_not_done, assert_unknown, done, eventually, is_pending};

fn is_there(world: &EngineWorld, shop: &TestShop, external_id: &str) -> bool {
    let external_id = ExternalId::new(external_id).expect("of proper form");
    world.find::<TopupsByExternalId>(shop, external_id).is_some()
}

#[actix_rt::test]
async fn a_failed_append_undoes_everything_staged_and_keeps_the_rest() {
    let (world, shop) = EngineWorld::with_shop().await;
    done(world.submit(shop.merchant_id, topup(5)).await);
    world.store.hold_appends();
    world.store.fail_append(0, AppendFault::Unavailable);
    let sent: Vec<_> = (0..10).map(|_| world.send(shop.merchant_id, topup_known_as("bank-1"))).collect();
    world.handled(&shop).await;
    world.store.resume_appends();
    for reply in all(sent).await {
        assert_not_done(&reply);
    }
    assert_eq!(world.totals(&shop).effective_credit_minor, 5);
    done(world.submit(shop.merchant_id, topup_known_as("bank-1")).await);
    assert_eq!(world.totals(&shop).effective_credit_minor, 6);
    assert_eq!(world.fatal_calls(), 0);
}

#[actix_rt::test]
async fn a_refusal_whose_basis_fails_is_not_done_instead_of_refused() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.store.hold_appends();
    world.store.fail_append(0, AppendFault::Unavailable);
    let first = world.send(shop.merchant_id, topup_known_as("bank-1"));
    let refused = world.send(shop.merchant_id, topup_known_as("bank-1"));
    world.handled(&shop).await;
    world.store.resume_appends();
    for reply in all([first, refused]).await {
        assert_not_done(&reply);
    }
}

#[actix_rt::test]
async fn a_replay_whose_basis_fails_is_unknown() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.store.hold_appends();
    world.store.fail_append(0, AppendFault::Unavailable);
    let first = world.send(shop.merchant_id, named(topup(1), "call-1"));
    let replay = world.send(shop.merchant_id, named(topup(1), "call-1"));
    world.handled(&shop).await;
    world.store.resume_appends();
    let replies = all([first, replay]).await;
    assert_not_done(&replies[0]);
    assert_unknown(&replies[1]);
    done(world.submit(shop.merchant_id, named(topup(1), "call-1")).await);
}

#[actix_rt::test]
async fn an_uncertain_append_ends_the_engine_and_is_reported_once() {
    for fault in [AppendFault::AmbiguousLost, AppendFault::AmbiguousWritten] {
        let world = EngineWorld::start();
        let (shop, other) = (world.open_shop().await, world.open_shop().await);
        world.store.hold_appends();
        world.store.fail_append(0, fault);
        let first = world.send(shop.merchant_id, topup(1));
        world.handled(&shop).await;
        let later = world.send(shop.merchant_id, topup(1));
        let others = world.send(other.merchant_id, topup(1));
        world.handled(&other).await;
        world.store.resume_appends();
        let replies = all([first, later, others]).await;
        assert_unknown(&replies[0]);
        // Commits in the same group are uncertain, too; later ones were never written.
        assert!(replies[1..].iter().all(|reply| matches!(reply, Err(Denied::Unavailable { .. }))), "{replies:?}");
        assert_not_done(&world.submit(shop.merchant_id, topup(1)).await);
        assert_not_done(&world.submit(other.merchant_id, topup(1)).await);
        eventually("it is said", || world.fatal_calls() > 0).await;
        world.engine.stop(std::time::Duration::ZERO);
        assert_eq!(world.fatal_calls(), 1, "{fault:?}");
        let world = world.restart();
        done(world.submit(shop.merchant_id, topup(1)).await);
    }
}

#[actix_rt::test]
async fn a_replay_after_an_uncertain_append_is_unknown() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.store.hold_appends();
    world.store.fail_append(0, AppendFault::AmbiguousWritten);
    let mut first = world.send(shop.merchant_id, named(topup(1), "call-1"));
    assert!(is_pending(&mut first).await, "by now it is being written, in a group of its own");
    let replay = world.send(shop.merchant_id, named(topup(1), "call-1"));
    world.handled(&shop).await;
    world.store.resume_appends();
    for reply in all([first, replay]).await {
        assert_unknown(&reply);
    }
    let world = world.restart();
    let replay = world.submit(shop.merchant_id, named(topup(1), "call-1")).await.expect("it had landed");
    assert!(replay.replayed);
}

#[actix_rt::test]
async fn only_acknowledged_commits_exist_after_failed_appends() {
    let world = EngineWorld::start();
    let shops = [world.open_shop().await, world.open_shop().await];
    let (mut acknowledged, mut not_done) = (BTreeSet::new(), 0);
    for round in 0..60 {
        for skipped in [0, 2] {
            world.store.fail_append(skipped, AppendFault::Unavailable);
        }
        let name = |number: usize| format!("{round}-{number}");
        let sent: Vec<_> =
            (0..20).map(|number| world.send(shops[number % 2].merchant_id, topup_known_as(&name(number)))).collect();
        for (number, reply) in all(sent).await.into_iter().enumerate() {
            let there = is_there(&world, &shops[number % 2], &name(number));
            match reply {
                Ok(_) => assert!(there && acknowledged.insert(name(number)), "{}", name(number)),
                Err(Denied::Unavailable { outcome: FailedOutcome::NotDone, .. }) => {
                    assert!(!there, "{} is there though not done", name(number));
                    not_done += 1;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    let total: u64 = shops.iter().map(|shop| world.totals(shop).effective_credit_minor).sum();
    assert_eq!(total, u64::try_from(acknowledged.len()).expect("a small number"));
    assert!(not_done > 60 && acknowledged.len() > 60, "{not_done} not done, {} done", acknowledged.len());
}

#[actix_rt::test]
async fn a_request_that_panics_is_unknown_and_the_actor_survives() {
    let (world, shop) = EngineWorld::with_shop().await;
    done(world.submit(shop.merchant_id, topup(1)).await);
    world.clock.panic_next(2);
    for _ in 0..2 {
        assert_unknown(&world.submit(shop.merchant_id, topup(1)).await);
    }
    assert_eq!((world.engine.in_flight(), world.engine.live_actors()), (0, 1));
    done(world.submit(shop.merchant_id, topup(1)).await);
    assert_eq!(world.totals(&shop).effective_credit_minor, 2);
}

#[actix_rt::test]
async fn requests_staged_before_a_panic_get_their_real_outcome() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.store.hold_appends();
    let staged: Vec<_> = (0..10).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    world.handled(&shop).await;
    world.clock.panic_next(1);
    let panicked = world.send(shop.merchant_id, topup(1));
    assert_unknown(&panicked.await.expect("the caller does not panic"));
    world.store.resume_appends();
    let done = all(staged).await.iter().filter(|reply| reply.is_ok()).count();
    assert_eq!(world.totals(&shop).effective_credit_minor, u64::try_from(done).expect("a small number"));
}

#[actix_rt::test]
async fn a_decision_too_large_for_a_record_leaves_nothing_staged() {
    let (world, shop) = EngineWorld::with_shop().await;
    let before = crate::world::derived(&world.store);
    let too_long = generate_key(shop.merchant_id, 2, "x".repeat(9 * 1024 * 1024));
    assert_not_done(&world.engine.submit(shop.merchant_id, too_long, key_text()).await);
    assert_eq!(crate::world::derived(&world.store), before);
    // The same digest again: a key would have it if it had been staged.
    let key = done(
        world.engine.submit(shop.merchant_id, generate_key(shop.merchant_id, 2, "sk_1".to_owned()), key_text()).await,
    );
    let Answer::Key { key_id, created_at: _ } = key else { panic!("{key:?}") };
    assert!(world.find::<till_domain::records::ApiKeys>(&shop, key_id).is_some());
}

#[actix_rt::test]
async fn a_personal_key_of_an_unwritten_decision_is_not_reused() {
    let (world, shop) = EngineWorld::with_shop().await;
    let session_id = world.session(&shop).await;
    let vault = world.store.dump(Family::Vault);
    let too_large = initiate(session_id).email("somchai@example.com").much_too_large().by(&shop);
    assert_not_done(&world.submit(shop.merchant_id, too_large).await);
    assert_eq!(world.store.dump(Family::Vault), vault);
    let answer =
        done(world.submit(shop.merchant_id, initiate(session_id).email("somchai@example.com").by(&shop)).await);
    assert_eq!(world.store.dump(Family::Vault).len(), vault.len() + 1, "the key of one customer, who exists");
    let world = world.restart();
    let payment = world.settles_down_as(&shop, answer, PaymentStatus::Successful).await;
    assert_eq!(payment.contact.email.expect("it opens").as_str(), "somchai@example.com");
    let customer_id = payment.customer_id.expect("an address names a customer");
    let customer = world.find::<Customers>(&shop, customer_id).expect("it is there");
    assert_eq!(customer.email.expect("it opens").as_str(), "somchai@example.com");
}

#[actix_rt::test]
async fn a_personal_key_of_a_failed_append_is_not_reused() {
    let (world, shop) = EngineWorld::with_shop().await;
    let session_id = world.session(&shop).await;
    world.store.fail_append(0, AppendFault::Unavailable);
    let request = || initiate(session_id).email("somchai@example.com").by(&shop);
    assert_not_done(&world.submit(shop.merchant_id, request()).await);
    let answer = done(world.submit(shop.merchant_id, request()).await);
    let world = world.restart();
    let payment = world.payment(&shop, answer);
    assert_eq!(payment.contact.email.expect("it opens").as_str(), "somchai@example.com");
}

#[actix_rt::test]
async fn an_unreadable_row_fails_only_the_commands_that_need_it() {
    let (world, shop) = EngineWorld::with_shop().await;
    let (damaged, sound) = (world.session(&shop).await, world.session(&shop).await);
    let world = world.restart();
    world.fail_reads_of::<till_domain::records::Sessions>(&shop, damaged);
    assert_not_done(&world.submit(shop.merchant_id, initiate(damaged).by(&shop)).await);
    let paid = done(world.submit(shop.merchant_id, initiate(sound).by(&shop)).await);
    world.settles_down_as(&shop, paid, PaymentStatus::Successful).await;
    assert_not_done(&world.submit(shop.merchant_id, initiate(damaged).by(&shop)).await);
    world.store.heal_reads();
    done(world.submit(shop.merchant_id, initiate(damaged).by(&shop)).await);
}

/// A payment with a card that is to be saved, which the acquirer has not taken yet, and an actor that has read nothing.
struct Saving {
    world: EngineWorld,
    shop: TestShop,
    payment: Answer,
    customer_id: CustomerId,
    token_id: TokenId,
    fingerprint: CardFingerprint,
}

impl Saving {
    async fn begin() -> Saving {
        let world = EngineWorld::start();
        let shop = world.open_shop().await;
        world.script.do_not_answer(Some(shop.merchant_id));
        let token_id = world.token(&shop, TokenUsage::Multiple).await;
        let session_id = world.session_of(&shop, token_id).await;
        let request = initiate(session_id).email("somchai@example.com").save_card().by(&shop);
        let payment = done(world.submit(shop.merchant_id, request).await);
        let world = world.restart_paused();
        let customer_id = world.payment(&shop, payment).customer_id.expect("an address names a customer");
        let fingerprint = world.find::<Tokens>(&shop, token_id).expect("it is there").card.fingerprint;
        Saving { world, shop, payment, customer_id, token_id, fingerprint }
    }

    /// Checks that the payment succeeds though this row cannot be read any more once the acquirer has taken the money.
    async fn succeeds_without(&self, (family, key): (Family, Vec<u8>)) {
        let Saving { world, shop, .. } = self;
        let store = Arc::clone(&world.store);
        world.script.next([CallTreatment::After(Box::new(move || store.fail_reads(family, &key)))]);
        assert!(world.engine.resume());
        world.settles_down_as(shop, self.payment, PaymentStatus::Successful).await;
        world.store.heal_reads();
        world.assert_book_equals_ledger(shop);
    }

    fn saved_card(&self) -> Option<CardId> {
        self.world.find::<CardsByFingerprint>(&self.shop, (self.customer_id, self.fingerprint))
    }
}

#[actix_rt::test]
async fn an_unreadable_row_fails_the_saved_card_and_not_the_payment() {
    let rows: [fn(&Saving) -> AnyKey; 2] = [
        |saving| AnyKey::CardsByFingerprint((saving.customer_id, saving.fingerprint)),
        |saving| AnyKey::Customers(saving.customer_id),
    ];
    for row in rows {
        let saving = Saving::begin().await;
        saving.succeeds_without(saving.world.family_and_key(&saving.shop, &row(&saving))).await;
        assert_eq!(saving.saved_card(), None, "{:?}", row(&saving));
    }
}

#[actix_rt::test]
async fn an_unreadable_number_does_not_fail_the_payment() {
    let saving = Saving::begin().await;
    let number = |of| VaultKey::CardNumber { merchant: saving.shop.merchant_id, of }.encode().to_vec();
    saving.succeeds_without((Family::Vault, number(CardNumberOf::Token(saving.token_id)))).await;
    let card_id = saving.saved_card().expect("it was saved");
    let copy = number(CardNumberOf::Card(card_id));
    assert!(saving.world.store.dump(Family::Vault).iter().all(|(key, _)| *key != copy));
}
